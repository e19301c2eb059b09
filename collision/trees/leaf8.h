// Leaf8: the triangles of a leaf of an R-tree, lane by lane, as the SIMD kernels of surface detection and of
// solids read them.
#ifndef TAC_COLLISION_LEAF8_H
#define TAC_COLLISION_LEAF8_H

#include "collision/mesh.h"
#include "collision/rtree.h"

#ifdef __cplusplus
extern "C" {
#endif

// Lanes without a triangle repeat the first; the boxes that lead to a leaf overlap nothing there.
typedef struct tac_leaf8 {
	float v[3][3][TAC_RTREE_MAX] __attribute__((aligned(32))); // corner, coordinate, lane; m
	int32_t triangle[TAC_RTREE_MAX];                           // of the mesh
	float longest;                                             // edge, rounded up, m
	int32_t unused[7];
} tac_leaf8;

// The box of a triangle of the mesh.
// Thread: any.
tac_aabb tac_leaf8_box(const tac_mesh *mesh, int32_t triangle);

// Memory for the leaves of `trees` trees with `triangles` items altogether, or NULL; free() releases it.
// Thread: setup.
tac_leaf8 *tac_leaf8_alloc(size_t triangles, size_t trees);

// Makes the leaves of a tree whose item i is triangle ids[i] of the mesh (ids NULL: triangle i), from
// leaves[*count] on, and counts them. From then on a child of a leaf node is its leaf times TAC_RTREE_MAX,
// and its lane; those of one node lie in one leaf. `nodes` are the tree's, or a copy of them. Thread: setup.
void tac_leaf8_build(const tac_mesh *mesh, const int32_t *ids, tac_rtree_node *nodes, int32_t depth,
		     tac_leaf8 *leaves, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
