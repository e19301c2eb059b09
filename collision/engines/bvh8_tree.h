// Private to collision/engines/bvh8_engine: the tree in memory, and what the engine shares with its kernels.
#ifndef TAC_COLLISION_ENGINES_BVH8_TREE_H
#define TAC_COLLISION_ENGINES_BVH8_TREE_H

#include "base/simd.h"
#include "collision/collider.h"

// Largest |coordinate|, m. Beyond it, the bounds of lanes without a child could overlap something.
#define TAC_BVH8_EXTENT 1e15F
// Levels below the root. The builder cuts at the median from a third of them on, which bounds the depth.
#define TAC_BVH8_LEVELS 48
// Pairs of nodes taken off the stack together, so that the memory latency of one overlaps the others.
#define TAC_BVH8_CHUNK 4

// The bound of a node or leaf in its mesh's frame: a box, and the slab |normal·x − offset| ≤ half_width.
typedef struct tac_bvh8_bound {
	float centre[3], half[3];
	float normal[3], offset, half_width;
} tac_bvh8_bound;

// Eight bounds, lane by lane. Lanes without a child have half and half_width −1e30, which overlap nothing.
typedef struct tac_bvh8_node {
	float centre[3][8] __attribute__((aligned(64)));
	float half[3][8];
	float normal[3][8];
	float offset[8], half_width[8];
	int32_t child[8]; // a node, or ~leaf
	tac_bvh8_bound bound;
	int32_t unused[5];
} tac_bvh8_node;

// Triangles lane by lane: a vertex and the edges from it. Lanes beyond `count` repeat the first triangle.
typedef struct tac_bvh8_leaf {
	float vertex[3][8] __attribute__((aligned(64)));
	float edge[2][3][8];
	int32_t triangle[8];
	tac_bvh8_bound bound;
	float longest_edge; // rounded up, m
	int32_t count;
	int32_t unused[3];
} tac_bvh8_leaf;

typedef struct tac_bvh8_shape {
	tac_shape base;
	tac_bvh8_node *nodes; // 0 is the root
	tac_bvh8_leaf *leaves;
	int32_t node_count, leaf_count;
	float extent; // largest |coordinate|, m
	// Whether the slabs are thin enough beside the boxes to pay. They are not for axis-aligned surfaces.
	bool uses_slabs;
} tac_bvh8_shape;

// x' = rotation·x + translation, with |rotation| for half extents.
typedef struct tac_bvh8_frame {
	float rotation[3][3], absolute[3][3], translation[3];
} tac_bvh8_frame;

typedef struct tac_bvh8_query {
	tac_context *context;
	const tac_bvh8_shape *fixed, *moving;
	tac_bvh8_frame to_fixed, to_moving;
	// Margin of every test of two bounds, m: rounding, deviation of the matrix from a rotation, and the
	// distance of a tac_distance_within.
	float pad;
	float vertex_error; // of a coordinate of a moved vertex, m
	// Whether the gaps that the query finds are a clearance: the matrix keeps lengths to one part in a
	// hundred, and `pad` contains no distance.
	bool clearance_valid;
} tac_bvh8_query;

// Row m lists the lanes whose bits are set in m, then zeros: the permutation that packs these lanes. Filled
// by tac_bvh8_collider_of.
extern int32_t tac_bvh8_pack[256][8];

typedef tac_overlap tac_bvh8_run_fn(tac_bvh8_query *query, bool resume);
TAC_SIMD_DECLARE(tac_bvh8_run_fn, tac_bvh8_run);

#endif
