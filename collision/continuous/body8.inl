// Private to the kernels of continuous collision: eight triangles of a body, a lane each.
#ifndef TAC_COLLISION_CONTINUOUS_BODY8_INL
#define TAC_COLLISION_CONTINUOUS_BODY8_INL

#include "base/simd/wide.h"
#include "collision/continuous/body_tree.h"

#include <stddef.h>

// Gathers the vertices and unit normals: out[3 k + i] is the coordinate i of vertex k, out[9 + i] that of the
// normal.
static inline void gather_triangles(const tac_body_triangle *triangles, const int32_t index[8],
				    tac_f32x8 out[12])
{
	// Twelve consecutive floats, four at a time.
	_Static_assert(offsetof(tac_body_triangle, vertex) == 0, "the vertices come first");
	_Static_assert(offsetof(tac_body_triangle, unit) == 9 * sizeof(float), "unit follows the vertices");
	for (int k = 0; k < 12; k += 4) {
		const float *from[8];
		for (int i = 0; i < 8; i++)
			from[i] = (const float *)&triangles[index[i]] + k;
		tac_f32x8_gather4(from, &out[k]);
	}
}

#endif
