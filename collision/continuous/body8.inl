// Private to the kernels of continuous collision: triangles of a body, a lane each.
#ifndef TAC_COLLISION_CONTINUOUS_BODY8_INL
#define TAC_COLLISION_CONTINUOUS_BODY8_INL

#include "collision/continuous/body_tree.h"
#include "collision/continuous/lanes.inl"

#include <stddef.h>

// Gathers the vertices and unit normals of the triangles index[0], index[step], …: out[3 k + i] is the
// coordinate i of vertex k, out[9 + i] that of the normal.
static inline void gather_triangles(const tac_body_triangle *triangles, const int32_t *index, int step,
				    FLOATS out[12])
{
	_Static_assert(offsetof(tac_body_triangle, vertex) == 0, "the vertices come first");
	_Static_assert(offsetof(tac_body_triangle, unit) == 9 * sizeof(float), "unit follows the vertices");
	FLOATS_(gather_rows)
	(&triangles->vertex[0].x, sizeof *triangles / sizeof(float), index, step, 12, out);
}

#endif
