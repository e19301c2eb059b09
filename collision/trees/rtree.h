// R-tree: a tree of boxes with at most eight children per node and all leaves at one depth. Sources:
// A. Guttman, "R-trees: a dynamic index structure for spatial searching", SIGMOD 1984 (insertion with the
// quadratic split); Y. Garcia et al., "A greedy algorithm for bulk loading R-trees", ACM GIS 1998 (packing
// from the top), here with the boxes' areas as the cost. Both methods keep the same invariants: every node
// but the root has 3 to 8 children, the root has 2 to 8 unless it is a leaf (then 1 to 8), every item is in
// exactly one leaf, and a node's box is the union of its children's boxes. With packing, a query of a small
// box in a torus of 16,000 to a million triangles takes 2 to 4 times fewer box tests; surface detection of
// all pairs on the assemblies of collision/assembly.h takes 4 to 7 % fewer. Packing takes as long as
// insertion, about 5 us per box. The engines use packing.
#ifndef TAC_COLLISION_TREES_RTREE_H
#define TAC_COLLISION_TREES_RTREE_H

#include "base/result.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_RTREE_MAX 8
#define TAC_RTREE_MIN 3
// The most levels of a tree of 2^31 items: each has at least three times the nodes of the one above.
#define TAC_RTREE_LEVELS 21

// Closed: boxes that touch overlap. Metres.
typedef struct tac_aabb {
	float min[3], max[3];
} tac_aabb;

static inline bool tac_aabb_overlap(const tac_aabb *a, const tac_aabb *b)
{
	return a->min[0] <= b->max[0] && b->min[0] <= a->max[0] && a->min[1] <= b->max[1] &&
	       b->min[1] <= a->max[1] && a->min[2] <= b->max[2] && b->min[2] <= a->max[2];
}

// Children lane by lane. Lanes without a child have min > max and overlap nothing.
typedef struct tac_rtree_node {
	float min[3][TAC_RTREE_MAX];
	float max[3][TAC_RTREE_MAX];
	int32_t child[TAC_RTREE_MAX]; // a node; an item if this node is a leaf
	int32_t count;
} tac_rtree_node;

// Read-only once built. Node 0 is the root; a tree without items has an empty root.
typedef struct tac_rtree {
	tac_rtree_node *nodes;
	int32_t node_count;
	int32_t depth; // edges from the root to a leaf
	tac_aabb box;  // of all items; min > max if there are none
} tac_rtree;

typedef enum tac_rtree_method {
	TAC_RTREE_PACK,   // greedy splits from the top
	TAC_RTREE_INSERT, // Guttman
} tac_rtree_method;

// Builds the tree of `count` boxes, which remain the caller's; item k is boxes[k]. The caller owns *out_tree
// until tac_rtree_fini. Fails with TAC_ERROR_MEMORY, a message and an empty *out_tree.
// Thread: setup.
tac_result tac_rtree_build(const tac_aabb *boxes, int32_t count, tac_rtree_method method,
			   tac_rtree *out_tree);

// Frees the nodes.
// Thread: setup.
void tac_rtree_fini(tac_rtree *tree);

// Finds the items whose boxes overlap `box`, in the order of the tree. Returns their number and writes the
// first `capacity` to `out`. Adds the number of box tests to *tests unless that is NULL.
// Thread: RT.
int32_t tac_rtree_query(const tac_rtree *tree, const tac_aabb *box, int32_t *out, int32_t capacity,
			int64_t *tests);

// The children of a node that overlap the box, as bits: bit i is lane i.
// Thread: RT.
unsigned tac_rtree_node_overlap(const tac_rtree_node *node, const tac_aabb *box);

// The box of a child.
// Thread: RT.
tac_aabb tac_rtree_node_box(const tac_rtree_node *node, int lane);

#ifdef __cplusplus
}
#endif

#endif
