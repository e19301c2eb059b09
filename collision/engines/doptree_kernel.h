// Private to collision/engines/doptree_engine: what the engine shares with its kernels.
#ifndef TAC_COLLISION_ENGINES_DOPTREE_KERNEL_H
#define TAC_COLLISION_ENGINES_DOPTREE_KERNEL_H

#include "base/simd.h"
#include "collision/collider.h"
#include "collision/trees/doptree.h"

typedef struct tac_doptree_shape {
	tac_shape base;
	tac_doptree *tree;
} tac_doptree_shape;

typedef struct tac_doptree_query {
	tac_context *context;
	const tac_doptree *fixed, *moving;
	tac_dop_motion rows;
	float vertex_error; // of a coordinate of a moved vertex, m
	int m;              // of Algorithm 2; below 0: Algorithm 1
	int32_t *trace;     // for tests: the tumbled nodes in the order of their transformation, or NULL
	int trace_count, trace_capacity;
} tac_doptree_query;

typedef tac_overlap tac_doptree_run_fn(tac_doptree_query *query, bool resume);
TAC_SIMD_DECLARE(tac_doptree_run_fn, tac_doptree_run);

// Prepares a query over two trees with the motion of the context. For the engines and their tests.
void tac_doptree_kernel_init(tac_doptree_query *out_query, tac_context *context, const tac_doptree *fixed,
			     const tac_doptree *moving, int m);

// Whether the triangles of two records meet, decided exactly.
bool tac_doptree_triangles_meet(const tac_doptree_query *query, const tac_doptree_node *fixed,
				const tac_doptree_node *moving);

#endif
