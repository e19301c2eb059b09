// Private to collision/wide: the tree in memory, and what the module and its kernels share.
#ifndef TAC_COLLISION_WIDE_TREE_H
#define TAC_COLLISION_WIDE_TREE_H

#include "base/simd.h"
#include "collision/collider.h"

// Largest |coordinate|, m: beyond, lanes without a child could overlap something.
#define TAC_WIDE_EXTENT 1e15F
// Levels below the root; the builder cuts at the median from half of them on, which halves at least.
#define TAC_WIDE_LEVELS 48
// Pairs of nodes taken off the stack together: enough to hide the latency of one behind the others.
#define TAC_WIDE_CHUNK 4

// The bound of a node or leaf in its mesh's frame: a box, and the slab |normal·x − offset| ≤ width.
typedef struct tac_wide_bound {
	float centre[3], half[3];
	float normal[3], offset, width;
} tac_wide_bound;

// Eight bounds, lane by lane. Lanes without a child have half and width −1e30, which overlap nothing.
typedef struct tac_wide_node {
	float centre[3][8] __attribute__((aligned(64)));
	float half[3][8];
	float normal[3][8];
	float offset[8], width[8];
	int32_t child[8]; // a node, or ~leaf
	tac_wide_bound bound;
	int32_t unused[5];
} tac_wide_node;

// Triangles lane by lane: a vertex and the edges from it. Lanes beyond `count` repeat the first triangle.
typedef struct tac_wide_leaf {
	float vertex[3][8] __attribute__((aligned(64)));
	float edge[2][3][8];
	int32_t triangle[8];
	tac_wide_bound bound;
	float longest; // edge, rounded up, m
	int32_t count;
	int32_t unused[3];
} tac_wide_leaf;

typedef struct tac_wide_shape {
	tac_shape base;
	tac_wide_node *nodes; // 0 is the root
	tac_wide_leaf *leaves;
	int32_t node_count, leaf_count;
	float extent; // largest |coordinate|, m
	bool slabs;   // whether the slabs are thinner than the boxes: not so for meshes of axis-aligned parts
} tac_wide_shape;

// x' = rotation·x + translation, with |rotation| for half extents.
typedef struct tac_wide_frame {
	float rotation[3][3], absolute[3][3], translation[3];
} tac_wide_frame;

typedef struct tac_wide_query {
	tac_context *context;
	const tac_wide_shape *fixed, *moving;
	tac_wide_frame to_fixed, to_moving;
	float pad;    // rounding of every bound's evaluation, and what the motion lacks to a rotation, m
	float vertex; // error of a coordinate of a moved vertex, m
	bool rigid;   // lengths are the same in both frames to one part in a hundred, and `pad` is rounding
} tac_wide_query;

// Row m lists the lanes whose bits are set in m, then 0: the index of a permutation that packs them. Filled
// by tac_wide_collider_of.
extern int32_t tac_wide_pack[256][8];

typedef tac_contact tac_wide_run_fn(tac_wide_query *query, bool resume);
TAC_SIMD_DECLARE(tac_wide_run_fn, tac_wide_run);

#endif
