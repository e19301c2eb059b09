#include "collision/engines/scd_engine.h"

#include "base/log.h"
#include "base/simd.h"
#include "collision/engines/scd.h"

#include <stdlib.h>

typedef struct scd_shape {
	tac_shape base;
	tac_scd *scd;
} scd_shape;

static tac_result build(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	scd_shape *shape = malloc(sizeof *shape);
	if (!shape) {
		tac_log(TAC_LOG_ERROR, "scd: no memory for a shape");
		return TAC_ERROR_MEMORY;
	}
	tac_result result = tac_scd_build(mesh, TAC_RTREE_PACK, &shape->scd);
	if (result < 0) {
		free(shape);
		return result;
	}
	shape->base = (tac_shape){
		.collider = self, .mesh = mesh, .bytes = sizeof *shape + tac_scd_bytes(shape->scd)};
	*out_shape = &shape->base;
	return TAC_OK;
}

static void destroy(tac_shape *shape)
{
	tac_scd_destroy(&((scd_shape *)shape)->scd);
	free(shape);
}

// A query and the context that it runs in.
typedef struct job {
	tac_context *context;
	tac_scd_query query;
	int64_t node_budget;
} job;

static void report(void *user, const tac_scd_hit *hit)
{
	tac_context_report(((job *)user)->context, hit->triangle_a, hit->triangle_b);
}

static bool stop(void *user)
{
	job *j = user;
	j->context->nodes_left = j->node_budget - j->query.counters.aabb_tests / TAC_RTREE_MAX;
	return tac_context_budget_spent(j->context);
}

// resume_state[0]: the triangles of the moving shape that are done.
static tac_overlap run_query(const tac_collider *self, tac_context *context, bool resume)
{
	(void)self;
	static const tac_scd_mode modes[] = {
		[TAC_QUERY_FIRST] = TAC_SCD_FIRST,
		[TAC_QUERY_PAIRS] = TAC_SCD_TRIANGLES,
		[TAC_QUERY_SURFACES] = TAC_SCD_SURFACES,
	};
	const tac_scd *fixed = ((const scd_shape *)context->fixed)->scd,
		      *moving = ((const scd_shape *)context->moving)->scd;
	job j = {.context = context, .query = tac_scd_query_default(), .node_budget = context->nodes_left};
	j.query.mode = modes[context->mode];
	// If the scratch memory cannot hold a number for each surface, all pairs of triangles give the same
	// pairs of surfaces.
	if (j.query.mode == TAC_SCD_SURFACES &&
	    (size_t)tac_scd_surface_count(fixed) > context->scratch_bytes / sizeof *j.query.scratch)
		j.query.mode = TAC_SCD_TRIANGLES;
	j.query.scratch = context->scratch;
	j.query.report = report;
	j.query.stop = stop;
	j.query.user = &j;
	j.query.skip_triangles = resume ? context->resume_state[0] : 0;

	tac_dmat3 rotation = tac_dmat3_from_mat3(context->motion.R);
	tac_scd_collide(fixed, moving, &rotation, tac_dvec3_from_vec3(context->motion.t), &j.query);
	context->counters.overlap_tests += j.query.counters.aabb_tests;
	context->counters.transforms += j.query.counters.cover_updates + j.query.counters.optimal_updates;
	context->counters.nodes += j.query.counters.aabb_tests / TAC_RTREE_MAX;
	context->counters.triangle_tests += j.query.counters.triangle_tests;
	context->counters.exact_tests += j.query.counters.exact_tests;
	if (!j.query.complete) {
		context->resume_state[0] = (int32_t)j.query.triangles_done;
		context->pending = true;
		return TAC_OVERLAP_UNKNOWN;
	}
	return context->pair_count > 0 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE;
}

const tac_collider *tac_scd_collider(void)
{
	static tac_collider collider = {.name = "scd",
					.flags = TAC_COLLIDER_TRIANGLES,
					.build = build,
					.destroy = destroy,
					.run = run_query};
	collider.variant = tac_simd_name(tac_simd_select()); // what tac_scd_build takes
	return &collider;
}
