#include "collision/collider.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/chip_collider.h"
#include "collision/scd_collider.h"
#include "collision/shape.h"
#include "collision/traverse.h"
#include "collision/tritri.h"
#include "collision/wide.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Kernels store eight pairs at once, so the arrays of pairs are that much longer than their capacity.
#define PAIR_SLACK 8

tac_context_def tac_context_def_default(void)
{
	return (tac_context_def){.pair_capacity = 65536, .scratch_bytes = (size_t)4 << 20};
}

tac_result tac_context_create(const tac_context_def *def, tac_context **out_context)
{
	TAC_ASSERT(def != NULL && out_context != NULL);
	*out_context = NULL;
	if (def->pair_capacity < 1 || def->pair_capacity > INT32_MAX || def->scratch_bytes < 4096) {
		tac_log(TAC_LOG_ERROR,
			"collider context: expected 1 to %d pairs and at least 4096 bytes of scratch, found "
			"%lld and %zu",
			INT32_MAX, (long long)def->pair_capacity, def->scratch_bytes);
		return TAC_ERROR_ARGUMENT;
	}
	int64_t slots = 16;
	while (slots < 2 * def->pair_capacity)
		slots *= 2;
	size_t ids = (size_t)(def->pair_capacity + PAIR_SLACK) * sizeof(int32_t);
	size_t scratch = (def->scratch_bytes + 63) / 64 * 64;

	tac_context *context = calloc(1, sizeof *context);
	if (context != NULL) {
		context->fixed_ids = malloc(ids);
		context->moving_ids = malloc(ids);
		context->seen = malloc((size_t)slots * sizeof *context->seen);
		context->seen_stamp = malloc((size_t)slots * sizeof *context->seen_stamp);
		context->scratch = aligned_alloc(64, scratch);
	}
	if (context == NULL || context->fixed_ids == NULL || context->moving_ids == NULL ||
	    context->seen == NULL || context->seen_stamp == NULL || context->scratch == NULL) {
		tac_context_destroy(&context);
		tac_log(TAC_LOG_ERROR, "collider context: no memory for %lld pairs and %zu bytes of scratch",
			(long long)def->pair_capacity, def->scratch_bytes);
		return TAC_ERROR_MEMORY;
	}
	// Touched here, so that no page fault is left for the real-time thread.
	memset(context->fixed_ids, 0, ids);
	memset(context->moving_ids, 0, ids);
	memset(context->seen, 0, (size_t)slots * sizeof *context->seen);
	memset(context->seen_stamp, 0, (size_t)slots * sizeof *context->seen_stamp);
	memset(context->scratch, 0, scratch);
	context->pair_capacity = def->pair_capacity;
	context->seen_mask = slots - 1;
	context->scratch_bytes = scratch;
	context->coherent = true;
	tac_context_forget(context);
	*out_context = context;
	return TAC_OK;
}

void tac_context_destroy(tac_context **context)
{
	if (*context == NULL)
		return;
	free((*context)->fixed_ids);
	free((*context)->moving_ids);
	free((*context)->seen);
	free((*context)->seen_stamp);
	free((*context)->scratch);
	free(*context);
	*context = NULL;
}

static const tac_collider *added[TAC_COLLIDERS_ADDED_MAX];
static int added_count;

static const tac_collider *built_in(int index)
{
	switch (index) {
	case 0:
		return tac_wide_collider();
	case 1:
		return tac_doptree_collider();
	case 2:
		return tac_classic_collider();
	case 3:
		return tac_scd_collider();
	case 4:
		return tac_chip_collider();
	case 5:
		return tac_solid_collider();
	default:
		return NULL;
	}
}

void tac_context_forget(tac_context *context)
{
	context->moving_serial = context->fixed_serial = 0;
	context->witness_fixed = context->witness_moving = -1;
	context->clearance = 0.0F;
}

const tac_collider *tac_collider_at(int index)
{
	int own = 0;
	while (own <= index && built_in(own) != NULL)
		++own;
	if (own > index)
		return built_in(index);
	return index - own < added_count ? added[index - own] : NULL;
}

tac_result tac_collider_add(const tac_collider *collider)
{
	if (tac_collider_find(collider->name) != NULL) {
		tac_log(TAC_LOG_ERROR, "collider: expected a new name, found %s, which is taken",
			collider->name);
		return TAC_ERROR_ARGUMENT;
	}
	if (added_count == TAC_COLLIDERS_ADDED_MAX) {
		tac_log(TAC_LOG_ERROR, "collider: no room for %s beside %d added ones", collider->name,
			added_count);
		return TAC_ERROR_MEMORY;
	}
	added[added_count++] = collider;
	return TAC_OK;
}

void tac_collider_remove(const tac_collider *collider)
{
	int kept = 0;
	for (int i = 0; i < added_count; ++i)
		if (added[i] != collider)
			added[kept++] = added[i];
	added_count = kept;
}

const tac_collider *tac_collider_find(const char *name)
{
	for (int i = 0; tac_collider_at(i) != NULL; ++i)
		if (strcmp(tac_collider_at(i)->name, name) == 0)
			return tac_collider_at(i);
	return NULL;
}

// A shape may be built where another was destroyed: what a context remembers goes by this.
static atomic_uint_fast64_t last_serial;

tac_result tac_shape_build(const tac_collider *collider, const tac_mesh *mesh, tac_shape **out_shape)
{
	TAC_ASSERT(collider != NULL && mesh != NULL && out_shape != NULL);
	*out_shape = NULL;
	tac_result result = collider->build(collider, mesh, out_shape);
	if (*out_shape != NULL)
		(*out_shape)->serial = atomic_fetch_add(&last_serial, 1) + 1;
	return result;
}

void tac_shape_destroy(tac_shape **shape)
{
	if (*shape == NULL)
		return;
	(*shape)->collider->destroy(*shape);
	*shape = NULL;
}

static tac_contact run(const tac_collider *collider, tac_context *context, tac_budget budget, bool resume)
{
	context->budget = budget;
	context->nodes_left = budget.nodes > 0 ? budget.nodes : INT64_MAX;
	context->pending = false;
	tac_contact contact = collider->run(collider, context, resume);
	TAC_ASSERT(!(context->pending && contact != TAC_CONTACT_UNKNOWN));
	return contact;
}

bool tac_motion_finite(const tac_motion *motion)
{
	float sum =
		motion->translation.x * 0.0F + motion->translation.y * 0.0F + motion->translation.z * 0.0F;
	for (int i = 0; i < 3; ++i)
		for (int j = 0; j < 3; ++j)
			sum += motion->rotation.m[i][j] * 0.0F;
	return sum == 0.0F; // NaN and infinities make it NaN
}

tac_contact tac_collider_query(const tac_collider *collider, tac_context *context, const tac_shape *moving,
			       const tac_shape *fixed, const tac_motion *motion, tac_query_mode mode,
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
	context->within = 0.0F;
	context->pair_count = 0;
	context->counters = (tac_counters){0};
	if (mode == TAC_QUERY_SURFACES && ++context->stamp == 0) {
		memset(context->seen_stamp, 0,
		       (size_t)(context->seen_mask + 1) * sizeof *context->seen_stamp);
		context->stamp = 1;
	}
	context->pending = false;
	if (!tac_motion_finite(motion))
		return TAC_CONTACT_UNKNOWN;
	if (moving->mesh->triangle_count == 0 || fixed->mesh->triangle_count == 0)
		return TAC_CONTACT_NONE;
	return run(collider, context, budget, false);
}

tac_contact tac_collider_resume(const tac_collider *collider, tac_context *context, tac_budget budget)
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
	++context->pair_count;
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
	// Twice as many slots as pairs that can be stored: the probe always ends at a free one.
	uint64_t slot = (uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20;
	for (;; ++slot) {
		uint64_t at = slot & (uint64_t)context->seen_mask;
		if (context->seen_stamp[at] != context->stamp) {
			if (context->pair_count < context->pair_capacity) {
				context->seen_stamp[at] = context->stamp;
				context->seen[at] = key;
			}
			break;
		}
		if (context->seen[at] == key)
			return;
	}
	store(context, fixed, moving);
}

bool tac_context_spent(const tac_context *context)
{
	if (context->nodes_left <= 0)
		return true;
	if (context->budget.deadline_ns == 0)
		return false;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec >= context->budget.deadline_ns;
}

bool tac_context_exact(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle)
{
	const tac_mesh *fixed = context->fixed->mesh, *moving = context->moving->mesh;
	tac_tri64 a, b;
	for (int k = 0; k < 3; ++k) {
		tac_vec3 p = fixed->vertices[fixed->triangles[fixed_triangle].vertex[k]];
		tac_vec3 q = moving->vertices[moving->triangles[moving_triangle].vertex[k]];
		a.v[k][0] = (double)p.x;
		a.v[k][1] = (double)p.y;
		a.v[k][2] = (double)p.z;
		for (int r = 0; r < 3; ++r) {
			const float *row = context->motion.rotation.m[r];
			b.v[k][r] = (double)row[0] * (double)q.x + (double)row[1] * (double)q.y +
				    (double)row[2] * (double)q.z +
				    (double)tac_vec3_get(context->motion.translation, r);
		}
	}
	return tac_tritri_closed(&a, &b);
}

float tac_motion_skew(const tac_motion *motion)
{
	double largest = 0.0;
	for (int i = 0; i < 3; ++i)
		for (int j = i; j < 3; ++j) {
			double dot = i == j ? -1.0 : 0.0;
			for (int r = 0; r < 3; ++r)
				dot += (double)motion->rotation.m[r][i] * (double)motion->rotation.m[r][j];
			largest = fmax(largest, fabs(dot));
		}
	return (float)largest;
}
