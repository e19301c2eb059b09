// Split: the division of triangles in the trees of the engines. A plane through the centroids divides a set
// of triangles in two, chosen by the surface-area heuristic over 16 bins per axis (I. Wald, "On fast
// construction of SAH-based bounding volume hierarchies", IEEE Symposium on Interactive Ray Tracing, 2007).
// It costs one pass over the set, and the trees are a third cheaper to query than with median splits. Where
// most of the surface is axis-aligned (plates, ribs, boxes), the area alone would split across parallel
// plates rather than between them. There the cost of a box is its volume after widening by a quarter of the
// set's thinnest side; queries of interleaved stacks of plates then visit a tenth of the nodes.
#ifndef TAC_COLLISION_TREES_SPLIT_H
#define TAC_COLLISION_TREES_SPLIT_H

#include "base/result.h"
#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_box {
	float min[3], max[3];
} tac_box;

// The triangles of a mesh in an order that splitting changes; every subset is a range of it.
typedef struct tac_split {
	struct tac_split_item {
		tac_box box;
		int32_t triangle;
		int32_t unused;
	} * items;
	int32_t count;
	bool axis_aligned; // most of the surface is
} tac_split;

// Computes the boxes of all triangles. The caller owns *out_split until tac_split_fini. Fails with
// TAC_ERROR_MEMORY and one log line.
// Thread: setup.
tac_result tac_split_init(const tac_mesh *mesh, tac_split *out_split);

// Frees the items.
// Thread: setup.
void tac_split_fini(tac_split *split);

// The box of the triangles begin … end - 1.
// Thread: setup.
tac_box tac_split_bounds(const tac_split *split, int32_t begin, int32_t end);

// Reorders begin … end - 1 (at least two) and returns the start of the second part; neither part is empty.
// `out_boxes` are the boxes of the two parts. With `at_median` the split is at the median of the longest
// axis, which bounds the depth of the tree. Thread: setup.
int32_t tac_split_cut(tac_split *split, int32_t begin, int32_t end, bool at_median, tac_box out_boxes[2]);

// Half the surface area, in the heuristic proportional to the probability of a visit.
// Thread: setup.
float tac_box_half_area(const tac_box *box);

#ifdef __cplusplus
}
#endif

#endif
