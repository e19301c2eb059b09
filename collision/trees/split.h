// Split: how the trees of the engines divide their triangles. A set of triangles is cut in two by a plane
// across its centroids, chosen by the surface-area heuristic over 16 bins an axis (I. Wald, On fast
// construction of SAH-based bounding volume hierarchies, 2007): it costs one pass over the set and makes
// trees a third cheaper to query than the median. Where most of the surface is along the axes (plates, ribs,
// boxes), area alone cuts across parallel plates rather than between them; there a box costs its volume,
// widened by a quarter of the set's thinnest side. Interleaved stacks of plates then take a tenth of the
// nodes.
#ifndef TAC_COLLISION_SPLIT_H
#define TAC_COLLISION_SPLIT_H

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
	bool along_axes; // most of the surface
} tac_split;

// Reads the boxes of all triangles. The caller owns *out_split until fini.
// Thread: setup.
tac_result tac_split_init(const tac_mesh *mesh, tac_split *out_split);

// Thread: setup.
void tac_split_fini(tac_split *split);

// The box of the triangles begin … end - 1.
// Thread: setup.
tac_box tac_split_bounds(const tac_split *split, int32_t begin, int32_t end);

// Reorders begin … end - 1 (at least two) and returns the beginning of the second part; neither part is
// empty. `halves` cuts at the median of the longest axis instead, which bounds the depth. With the boxes of
// the parts. Thread: setup.
int32_t tac_split_cut(tac_split *split, int32_t begin, int32_t end, bool halves, tac_box out_boxes[2]);

// Half the surface area: what the heuristic takes as the chance of a visit.
// Thread: setup.
float tac_box_half_area(const tac_box *box);

#ifdef __cplusplus
}
#endif

#endif
