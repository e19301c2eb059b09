#include "collision/engines/doptree_engine.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/engines/doptree_kernel.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
	tac_collider base;
	int m;
	tac_doptree_run_fn *run;
} engine;

static tac_doptree_run_fn *const runs[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_doptree_run);

static void destroy(tac_shape *base)
{
	tac_doptree_shape *shape = (tac_doptree_shape *)base;
	tac_doptree_destroy(&shape->tree);
	free(shape);
}

static tac_result build(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	tac_doptree_shape *shape = calloc(1, sizeof *shape);
	if (!shape) {
		tac_log(TAC_LOG_ERROR, "DOP tree: no memory");
		return TAC_ERROR_MEMORY;
	}
	shape->base = (tac_shape){.collider = self, .mesh = mesh, .bytes = sizeof *shape};
	if (mesh->triangle_count > 0) {
		tac_result result = tac_doptree_build(mesh, TAC_DOPTREE_R, &shape->tree);
		if (result < 0) {
			free(shape);
			return result;
		}
		shape->base.bytes +=
			sizeof *shape->tree + (size_t)(shape->tree->node_count + shape->tree->record_count) *
						      TAC_DOPTREE_NODE_BYTES;
	}
	*out_shape = &shape->base;
	return TAC_OK;
}

void tac_doptree_kernel_init(tac_doptree_query *out_query, tac_context *context, const tac_doptree *fixed,
			     const tac_doptree *moving, int m)
{
	out_query->context = context;
	out_query->fixed = fixed;
	out_query->moving = moving;
	out_query->m = m;
	out_query->trace = NULL;
	out_query->trace_count = out_query->trace_capacity = 0;
	tac_dop_motion_init(&out_query->rows, &context->motion, moving->extent);
	float t[3], reach = fixed->extent; // largest |coordinate| in the fixed frame
	tac_vec3_store(t, context->motion.t);
	for (int i = 0; i < 3; i++) {
		const float *row = context->motion.R.m[i];
		reach = fmaxf(reach,
			      (fabsf(row[0]) + fabsf(row[1]) + fabsf(row[2])) * moving->extent + fabsf(t[i]));
	}
	out_query->vertex_error = 5.0F * 0x1p-24F * reach; // three products and three sums
}

bool tac_doptree_triangles_meet(const tac_doptree_query *query, const tac_doptree_node *fixed,
				const tac_doptree_node *moving)
{
	const tac_rigid *motion = &query->context->motion;
	tac_tri64 a, b;
	float t[3];
	tac_vec3_store(t, motion->t);
	for (int k = 0; k < 3; k++) {
		const float *v = moving->triangle.vertices.v[k];
		for (int r = 0; r < 3; r++) {
			const float *row = motion->R.m[r];
			a.v[k][r] = (double)fixed->triangle.vertices.v[k][r];
			b.v[k][r] = (double)row[0] * (double)v[0] + (double)row[1] * (double)v[1] +
				    (double)row[2] * (double)v[2] + (double)t[r];
		}
	}
	return tac_tritri_closed(&a, &b);
}

static tac_overlap run(const tac_collider *base, tac_context *context, bool resume)
{
	const engine *self = (const engine *)base;
	tac_doptree_query query;
	tac_doptree_kernel_init(&query, context, ((const tac_doptree_shape *)context->fixed)->tree,
				((const tac_doptree_shape *)context->moving)->tree, self->m);
	return self->run(&query, resume);
}

static const tac_collider *engine_of(int m)
{
	static engine engines[4]; // m = -1 … 2
	TAC_ASSERT(m >= -1 && m <= 2);
	tac_simd simd = tac_simd_select();
	engine *e = &engines[m + 1];
	e->base = (tac_collider){
		.name = m < 0 ? "classic" : "doptree",
		.flags = TAC_COLLIDER_TRIANGLES,
		.variant = tac_simd_name(simd),
		.build = build,
		.destroy = destroy,
		.run = run,
	};
	e->m = m;
	e->run = runs[simd];
	tac_dop_faces();
	return &e->base;
}

const tac_collider *tac_classic_collider(void)
{
	return engine_of(-1);
}

const tac_collider *tac_doptree_collider(void)
{
	return engine_of(1);
}

const tac_collider *tac_doptree_collider_of(int m)
{
	return engine_of(m);
}
