// DOP tree: a binary tree of 24-DOPs over the triangles of a mesh, in the memory layout of the CollisionChip
// (docs/collisionchip.md): nodes of 128 bytes, siblings adjacent on a 256-byte boundary, the root first with
// an empty sibling. Addresses in nodes are byte offsets from the root. In layout R a leaf keeps its DOP and
// points to a triangle record after the nodes; in layout P, the paper's, it stores the triangle in place of
// the DOP.
#ifndef TAC_COLLISION_TREES_DOPTREE_H
#define TAC_COLLISION_TREES_DOPTREE_H

#include "collision/geometry/tritri.h"
#include "collision/mesh.h"
#include "collision/trees/dop.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_DOPTREE_NODE_BYTES 128

typedef enum tac_doptree_layout {
	TAC_DOPTREE_R,
	TAC_DOPTREE_P,
} tac_doptree_layout;

typedef enum tac_doptree_type {
	TAC_DOPTREE_INNER = 0,
	TAC_DOPTREE_LEAF = 1,
	TAC_DOPTREE_EMPTY = 2, // overlaps nothing
} tac_doptree_type;

// A triangle and its map to the unit triangle.
typedef struct tac_doptree_triangle {
	tac_tri32 vertices;
	tac_unitmap map;
	float zero[3];
} tac_doptree_triangle;

typedef struct tac_doptree_node {
	union {
		tac_dop dop;
		tac_doptree_triangle triangle; // of a triangle record, and of a leaf in layout P
	};
	uint32_t type;
	// Inner: address of the child pair. Leaf R: address of the triangle record. Leaf P, record: index of
	// the triangle.
	uint32_t link;
	uint32_t owner; // inner, leaf R: address of the parent; leaf P, record: index of the surface
	uint32_t reserved[5];
} tac_doptree_node;

typedef struct tac_doptree {
	tac_doptree_node *nodes; // 256-byte aligned; nodes, then the triangle records of layout R
	int32_t node_count;      // even
	int32_t record_count;
	int32_t depth;   // edges from the root to the deepest leaf
	uint32_t layout; // tac_doptree_layout
	float extent;    // largest |d| of the root
} tac_doptree;

// Builds the tree of a mesh with at least one triangle, by the splits of collision/trees/split.h. The caller
// owns *out_tree. Fails with TAC_ERROR_UNSUPPORTED for more than 11 million triangles, whose addresses would
// not fit 32 bits, or with TAC_ERROR_MEMORY.
// Thread: setup.
tac_result tac_doptree_build(const tac_mesh *mesh, tac_doptree_layout layout, tac_doptree **out_tree);

// Frees *tree and nulls the pointer; *tree may be NULL.
// Thread: setup.
void tac_doptree_destroy(tac_doptree **tree);

#ifdef __cplusplus
}
#endif

#endif
