// Leaf8: the triangles of an R-tree's leaf, lane by lane, for the SIMD kernels of surface collision detection
// and of solids.
#ifndef TAC_COLLISION_TREES_LEAF8_H
#define TAC_COLLISION_TREES_LEAF8_H

#include "collision/mesh.h"
#include "collision/trees/rtree.h"

#ifdef __cplusplus
extern "C" {
#endif

// Lanes without a triangle repeat the first; their boxes in the node above overlap nothing.
typedef struct tac_leaf8 {
	float v[3][3][TAC_RTREE_MAX] __attribute__((aligned(32))); // corner, coordinate, lane; m
	int32_t triangle[TAC_RTREE_MAX];                           // of the mesh
	float longest;                                             // the longest edge, rounded up, m
	int32_t unused[7];
} tac_leaf8;

// The box of a triangle of the mesh.
// Thread: any.
tac_aabb tac_leaf8_box(const tac_mesh *mesh, int32_t triangle);

// Memory for the leaves of `trees` trees with `triangles` items in total, or NULL; free() releases it.
// Thread: setup.
tac_leaf8 *tac_leaf8_alloc(size_t triangles, size_t trees);

// Builds the leaves of a tree whose item i is triangle ids[i] of the mesh (triangle i if ids is NULL), from
// leaves[*count] on, and advances *count. Afterwards child i of a leaf node is its leaf * TAC_RTREE_MAX + i,
// so the children of one node lie in one leaf. `nodes` are those of the tree, or a copy.
// Thread: setup.
void tac_leaf8_build(const tac_mesh *mesh, const int32_t *ids, tac_rtree_node *nodes, int32_t depth,
		     tac_leaf8 *leaves, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
