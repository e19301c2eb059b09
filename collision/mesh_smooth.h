// Smooth surface: the curved surface that the facets of a mesh approximate.
//
// It has a normal at each corner of each triangle: the mean of the normals around the vertex, each weighted
// with the sine of its angle there over the lengths of its two sides, which is exact for vertices on a sphere
// (N. Max, "Weights for computing vertex normals from facet normals", J. Graphics Tools 4(2), 1999). Only
// triangles that can be reached around the vertex without crossing a sharp
// edge take part. Edges are sharp where the facets' normals differ by more than the crease angle, and at the
// border of a mesh. Between the corners the normal is interpolated by area.
//
// Between the vertices the surface bulges out of the facet, by half the mean of the distances from the point
// to the tangent planes at the corners, along their normals (T. Boubekeur and M. Alexa, "Phong tessellation",
// ACM Trans. Graphics 27(5), 2008). For every surface of second order this is the exact height. Along an edge
// it depends on the two ends alone, so the surface has no gaps.
#ifndef TAC_COLLISION_MESH_SMOOTH_H
#define TAC_COLLISION_MESH_SMOOTH_H

#include "collision/mesh.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The default crease angle, that of tac_mesh_def: 30 degrees.
#define TAC_MESH_CREASE_RAD 0.5235987755982988

// Three of each for a triangle, in the order of its corners.
typedef struct tac_mesh_smooth {
	tac_vec3 *normals;  // unit
	bool *sharp_edge;   // the edge from corner k to (k + 1) % 3
	bool *sharp_vertex; // a sharp edge ends at corner k
} tac_mesh_smooth;

// Builds the smooth surface of `mesh`. `crease_rad` has an angle for each surface of the mesh, 0: its edges
// are all sharp; between two surfaces the smaller one counts. TAC_ERROR_MEMORY without a log line;
// *out_smooth is NULL then. The caller owns *out_smooth.
// Thread: setup.
tac_result tac_mesh_smooth_build(const tac_mesh *mesh, const double *crease_rad,
				 tac_mesh_smooth **out_smooth);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_mesh_smooth_destroy(tac_mesh_smooth **smooth);

// Where a point lies over the surface of a mesh.
typedef struct tac_mesh_location {
	int32_t triangle;
	tac_dvec3 facet_normal;  // unit, of the triangle
	tac_dvec3 smooth_normal; // unit, of the smooth surface; facet_normal without one
	tac_dvec3 bulge_m;       // from the facet to the smooth surface
	double height_m;         // of the point above the triangle's plane
} tac_mesh_location;

// Locates `point_m` (in the mesh's frame) over triangle `triangle` or, with `smooth`, over the triangle whose
// prism contains it. The search walks from neighbour to neighbour across smooth edges, at most TAC_MESH_WALK
// of them; a point beside the last triangle is interpolated on its border. `smooth` NULL: the triangle is
// kept.
// Thread: RT.
tac_mesh_location tac_mesh_locate(const tac_mesh *mesh, const tac_mesh_smooth *smooth, int32_t triangle,
				  tac_dvec3 point_m);

#define TAC_MESH_WALK 8

// The feature of a triangle on which a point lies.
typedef struct tac_mesh_feature {
	bool sharp;      // a sharp edge, or a vertex at which one ends
	int32_t other;   // the triangle across the edge; -1: a vertex, or an open edge
	tac_dvec3 along; // unit, of the edge; zero at a vertex
} tac_mesh_feature;

// The edge or vertex of `triangle` that is closest to `point_m`, a point on it.
// Thread: RT.
tac_mesh_feature tac_mesh_nearest_feature(const tac_mesh *mesh, const tac_mesh_smooth *smooth,
					  int32_t triangle, tac_dvec3 point_m);

// The largest curvature of the smooth surface over a triangle, 1/m.
// Thread: RT.
double tac_mesh_curvature(const tac_mesh *mesh, const tac_mesh_smooth *smooth, int32_t triangle);

#ifdef __cplusplus
}
#endif

#endif
