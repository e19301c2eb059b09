// Private to collision/traverse: what the module and its kernels share.
#ifndef TAC_COLLISION_TRAVERSE_KERNEL_H
#define TAC_COLLISION_TRAVERSE_KERNEL_H

#include "base/simd.h"
#include "collision/doptree.h"

typedef struct tac_traverse_shape {
	tac_shape base;
	tac_doptree *tree;
} tac_traverse_shape;

typedef struct tac_traverse_query {
	tac_context *context;
	const tac_doptree *fixed, *moving;
	tac_dop_motion rows;
	float vertex;   // error of a coordinate of a moved vertex, m
	int m;          // of Algorithm 2; below 0: Algorithm 1
	int32_t *trace; // for tests: the tumbled nodes in the order of their transformation, or NULL
	int trace_count, trace_capacity;
} tac_traverse_query;

typedef tac_contact tac_traverse_run_fn(tac_traverse_query *query, bool resume);
TAC_SIMD_DECLARE(tac_traverse_run_fn, tac_traverse_run);

// Prepares a query of `m` over two trees; the context holds the motion. For the engines and their tests.
void tac_traverse_init(tac_traverse_query *out_query, tac_context *context, const tac_doptree *fixed,
		       const tac_doptree *moving, int m);

// Whether the triangles of two records meet, exactly.
bool tac_traverse_exact(const tac_traverse_query *query, const tac_doptree_node *fixed,
			const tac_doptree_node *moving);

#endif
