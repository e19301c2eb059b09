#include "collision/collider.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/geometry/tritri.h"
#include "collision/solid.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Kernels store eight pairs at once, so the arrays of pairs have room for as many beyond their capacity.
#define PAIR_SLACK 8

tac_context_def tac_context_def_default(void)
{
	return (tac_context_def){.pair_capacity = 65536, .scratch_bytes = (size_t)4 << 20};
}

tac_result tac_context_create(const tac_context_def *def, tac_context **out_context)
{
	TAC_ASSERT(def && out_context);
	*out_context = NULL;
	if (def->pair_capacity < 1 || def->pair_capacity > INT32_MAX || def->scratch_bytes < 4096) {
		tac_log(TAC_LOG_ERROR,
			"collider context: expected 1 to %d pairs and at least 4096 bytes of scratch, "
			"found %lld and %zu",
			INT32_MAX, (long long)def->pair_capacity, def->scratch_bytes);
		return TAC_ERROR_ARGUMENT;
	}
	int64_t slots = 16;
	while (slots < 2 * def->pair_capacity)
		slots *= 2;
	size_t id_bytes = (size_t)(def->pair_capacity + PAIR_SLACK) * sizeof(int32_t);
	size_t scratch_bytes = (def->scratch_bytes + 63) / 64 * 64;

	tac_context *context = calloc(1, sizeof *context);
	if (context) {
		context->fixed_ids = malloc(id_bytes);
		context->moving_ids = malloc(id_bytes);
		context->surface_pairs = malloc((size_t)slots * sizeof *context->surface_pairs);
		context->surface_pair_stamps = malloc((size_t)slots * sizeof *context->surface_pair_stamps);
		context->scratch = aligned_alloc(64, scratch_bytes);
	}
	if (!context || !context->fixed_ids || !context->moving_ids || !context->surface_pairs ||
	    !context->surface_pair_stamps || !context->scratch) {
		tac_context_destroy(&context);
		tac_log(TAC_LOG_ERROR, "collider context: no memory for %lld pairs and %zu bytes of scratch",
			(long long)def->pair_capacity, def->scratch_bytes);
		return TAC_ERROR_MEMORY;
	}
	// Touch every page now, so that the real-time thread has no page fault.
	memset(context->fixed_ids, 0, id_bytes);
	memset(context->moving_ids, 0, id_bytes);
	memset(context->surface_pairs, 0, (size_t)slots * sizeof *context->surface_pairs);
	memset(context->surface_pair_stamps, 0, (size_t)slots * sizeof *context->surface_pair_stamps);
	memset(context->scratch, 0, scratch_bytes);
	context->pair_capacity = def->pair_capacity;
	context->surface_pair_mask = slots - 1;
	context->scratch_bytes = scratch_bytes;
	context->coherent = true;
	tac_context_forget(context);
	*out_context = context;
	return TAC_OK;
}

void tac_context_destroy(tac_context **context)
{
	if (!*context)
		return;
	free((*context)->fixed_ids);
	free((*context)->moving_ids);
	free((*context)->surface_pairs);
	free((*context)->surface_pair_stamps);
	free((*context)->scratch);
	free(*context);
	*context = NULL;
}

void tac_context_forget(tac_context *context)
{
	context->moving_serial = context->fixed_serial = 0;
	context->witness_fixed_leaf = context->witness_moving_leaf = -1;
	context->clearance_m = 0.0F;
}

// A shape may be built at the address of a destroyed one, so contexts identify shapes by this number.
static atomic_uint_fast64_t last_serial;

tac_result tac_shape_build(const tac_collider *collider, const tac_mesh *mesh, tac_shape **out_shape)
{
	TAC_ASSERT(collider && mesh && out_shape);
	*out_shape = NULL;
	tac_result result = collider->build(collider, mesh, out_shape);
	if (*out_shape)
		(*out_shape)->serial = atomic_fetch_add(&last_serial, 1) + 1;
	return result;
}

tac_result tac_shape_build_solids(const tac_collider *collider, const tac_solids *solids,
				  tac_shape **out_shape)
{
	TAC_ASSERT(collider && solids && out_shape);
	*out_shape = NULL;
	if (!collider->build_solids) {
		tac_log(TAC_LOG_ERROR, "collider: expected an engine that takes solids, found %s",
			collider->name);
		return TAC_ERROR_ARGUMENT;
	}
	tac_result result = collider->build_solids(collider, solids, out_shape);
	if (*out_shape)
		(*out_shape)->serial = atomic_fetch_add(&last_serial, 1) + 1;
	return result;
}

void tac_shape_destroy(tac_shape **shape)
{
	if (!*shape)
		return;
	(*shape)->collider->destroy(*shape);
	*shape = NULL;
}

static tac_overlap run(const tac_collider *collider, tac_context *context, tac_budget budget, bool resume)
{
	context->budget = budget;
	context->nodes_left = budget.nodes > 0 ? budget.nodes : INT64_MAX;
	context->pending = false;
	tac_overlap overlap = collider->run(collider, context, resume);
	TAC_ASSERT(!(context->pending && overlap != TAC_OVERLAP_UNKNOWN));
	return overlap;
}

tac_overlap tac_collider_query(const tac_collider *collider, tac_context *context, const tac_shape *moving,
			       const tac_shape *fixed, const tac_rigid *motion, tac_query_mode mode,
			       tac_budget budget)
{
	TAC_ASSERT(moving->collider == collider && fixed->collider == collider);
	if (context->moving_serial != moving->serial || context->fixed_serial != fixed->serial)
		tac_context_forget(context);
	context->moving_serial = moving->serial;
	context->fixed_serial = fixed->serial;
	context->moving = moving;
	context->fixed = fixed;
	context->motion = *motion;
	context->mode = mode;
	context->within_m = 0.0F;
	context->pair_count = 0;
	context->counters = (tac_counters){0};
	if (mode == TAC_QUERY_SURFACES && ++context->query_stamp == 0) {
		memset(context->surface_pair_stamps, 0,
		       (size_t)(context->surface_pair_mask + 1) * sizeof *context->surface_pair_stamps);
		context->query_stamp = 1;
	}
	context->pending = false;
	if (!tac_rigid_finite(motion))
		return TAC_OVERLAP_UNKNOWN;
	if (moving->mesh->triangle_count == 0 || fixed->mesh->triangle_count == 0)
		return TAC_OVERLAP_NONE;
	return run(collider, context, budget, false);
}

tac_overlap tac_collider_resume(const tac_collider *collider, tac_context *context, tac_budget budget)
{
	TAC_ASSERT(context->pending && context->moving->collider == collider);
	return run(collider, context, budget, true);
}

static void store(tac_context *context, int32_t fixed, int32_t moving)
{
	if (context->pair_count < context->pair_capacity) {
		context->fixed_ids[context->pair_count] = fixed;
		context->moving_ids[context->pair_count] = moving;
	}
	context->pair_count++;
}

void tac_context_report(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle)
{
	if (context->mode != TAC_QUERY_SURFACES) {
		store(context, fixed_triangle, moving_triangle);
		return;
	}
	int32_t fixed = context->fixed->mesh->triangle_surface[fixed_triangle];
	int32_t moving = context->moving->mesh->triangle_surface[moving_triangle];
	int64_t key = ((int64_t)fixed << 32) | moving;
	// There are at least twice as many slots as stored pairs, so the probe always ends at a free slot.
	uint64_t slot = (uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20;
	for (;; slot++) {
		uint64_t at = slot & (uint64_t)context->surface_pair_mask;
		if (context->surface_pair_stamps[at] != context->query_stamp) {
			if (context->pair_count < context->pair_capacity) {
				context->surface_pair_stamps[at] = context->query_stamp;
				context->surface_pairs[at] = key;
			}
			break;
		}
		if (context->surface_pairs[at] == key)
			return;
	}
	store(context, fixed, moving);
}

bool tac_context_budget_spent(const tac_context *context)
{
	if (context->nodes_left <= 0)
		return true;
	if (context->budget.deadline_ns == 0)
		return false;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec >= context->budget.deadline_ns;
}

bool tac_context_triangles_meet(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle)
{
	const tac_mesh *fixed = context->fixed->mesh, *moving = context->moving->mesh;
	tac_tri64 a, b;
	for (int k = 0; k < 3; k++) {
		tac_vec3 p = fixed->vertices[fixed->triangles[fixed_triangle].vertex[k]];
		tac_vec3 q = moving->vertices[moving->triangles[moving_triangle].vertex[k]];
		a.v[k][0] = (double)p.x;
		a.v[k][1] = (double)p.y;
		a.v[k][2] = (double)p.z;
		for (int r = 0; r < 3; r++) {
			const float *row = context->motion.R.m[r];
			b.v[k][r] = (double)row[0] * (double)q.x + (double)row[1] * (double)q.y +
				    (double)row[2] * (double)q.z + (double)tac_vec3_get(context->motion.t, r);
		}
	}
	return tac_tritri_closed(&a, &b);
}

float tac_rigid_skew(const tac_rigid *motion)
{
	double largest = 0.0;
	for (int i = 0; i < 3; i++)
		for (int j = i; j < 3; j++) {
			double dot = i == j ? -1.0 : 0.0;
			for (int r = 0; r < 3; r++)
				dot += (double)motion->R.m[r][i] * (double)motion->R.m[r][j];
			largest = fmax(largest, fabs(dot));
		}
	return (float)largest;
}
