// Mesh queries: whether a mesh encloses a point.
//
// The winding number counts the triangles above a point, signed by the side that faces up. Ties are broken by
// simulation of simplicity (H. Edelsbrunner and E. P. Muecke, "Simulation of simplicity", ACM Trans. Graphics
// 9(1), 1990), so that a ray through an edge or a vertex counts once. It needs no tree: the caller splits the
// triangles into pieces of bounded work.
#ifndef TAC_COLLISION_MESH_QUERY_H
#define TAC_COLLISION_MESH_QUERY_H

#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// Adds to winding[k] the number of triangles from `begin` to `end` - 1 that lie above points[k] (m, in the
// mesh's frame), those that face down counted negative. The sum over all triangles of a closed mesh is its
// winding number about the point: 0 outside, 1 inside, more where the mesh overlaps itself. For a point on
// the surface the result is that of one of the two sides.
// Thread: RT.
void tac_mesh_winding_add(const tac_mesh *mesh, int32_t begin, int32_t end, const tac_dvec3 *points,
			  int32_t count, int32_t *winding);

#ifdef __cplusplus
}
#endif

#endif
