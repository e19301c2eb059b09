// Mesh queries: whether a mesh encloses a point, and the smooth surface that its facets approximate.
//
// The winding number counts the triangles above a point, signed by the side that faces up. Ties are broken by
// simulation of simplicity (H. Edelsbrunner and E. P. Muecke, "Simulation of simplicity", ACM Trans. Graphics
// 9(1), 1990), so that a ray through an edge or a vertex counts once. It needs no tree: the caller splits the
// triangles into pieces of bounded work.
//
// The smooth surface has a normal at each corner of each triangle: the mean of the normals around the vertex,
// weighted by the angles there (G. Thuermer and C. A. Wuethrich, "Computing vertex normals from polygonal
// facets", J. Graphics Tools 3(1), 1998). Between the corners it is interpolated by area. Triangles of
// another surface of the mesh do not take part, so creases between surfaces stay sharp.
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

// Computes the smooth surface's unit normals, three for each triangle in the order of its vertices. The
// caller owns *out_normals and frees it with free(). TAC_ERROR_MEMORY without a log line; *out_normals is
// NULL then.
// Thread: setup.
tac_result tac_mesh_corner_normals_build(const tac_mesh *mesh, tac_vec3 **out_normals);

// Where a point lies over the surface of a mesh.
typedef struct tac_mesh_location {
	int32_t triangle;
	tac_dvec3 facet_normal;  // unit, of the triangle
	tac_dvec3 smooth_normal; // unit, of the smooth surface; facet_normal without corner normals
	double height_m;         // of the point above the triangle's plane
} tac_mesh_location;

// Locates `point_m` (in the mesh's frame) over triangle `triangle` or, with `corner_normals`, over the
// triangle of the same surface whose prism contains it. The search walks from neighbour to neighbour, at most
// TAC_MESH_WALK of them; a point beside the last triangle is interpolated on its border. `corner_normals` are
// those of tac_mesh_corner_normals_build, or NULL: the triangle is kept.
// Thread: RT.
tac_mesh_location tac_mesh_locate(const tac_mesh *mesh, const tac_vec3 *corner_normals, int32_t triangle,
				  tac_dvec3 point_m);

#define TAC_MESH_WALK 8

#ifdef __cplusplus
}
#endif

#endif
