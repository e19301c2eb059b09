// Mesh: a welded, indexed triangle mesh with its surfaces and edges, read-only once built. Every collider is
// built from one. Lengths are metres; nothing is scaled. Triangles are counter-clockwise seen from outside.
//
// Building welds vertices of equal position (exactly equal, -0 counts as +0), drops vertices that no triangle
// uses and triangles without area, finds the edges with their neighbours, and divides the mesh into surfaces.
// Nothing else is repaired: holes, non-manifold edges, flipped and repeated triangles stay and are counted.
#ifndef TAC_COLLISION_MESH_H
#define TAC_COLLISION_MESH_H

#include "base/algebra.h"
#include "base/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The largest number of triangles and of vertices in a mesh: three edges per triangle still fit an int32_t.
#define TAC_MESH_MAX INT32_C(500000000)

// A triangle with edges e1 = b - a, e2 = c - a is dropped when |e1 x e2| <= this times the square of its
// longest edge (dimensionless, computed in double): below it the inverse matrices of the triangle tests are
// noise.
#define TAC_MESH_DEGENERATE 1e-12

typedef struct tac_mesh_triangle {
	int32_t vertex[3];
} tac_mesh_triangle;

typedef struct tac_mesh_edge {
	int32_t vertex[2];   // the lower index first
	int32_t triangle[2]; // the neighbours in ascending order; [1] is -1 at an open edge
	// 1: open; 2: ordinary; more: non-manifold, and `triangle` holds only the first two.
	int32_t triangle_count;
} tac_mesh_edge;

typedef struct tac_mesh_surface {
	const char *name; // never NULL; "" if the crease angle determined the surface
	int32_t triangle_count;
} tac_mesh_surface;

// Read-only after the build; shared by any number of threads.
typedef struct tac_mesh {
	tac_vec3 *vertices; // metres
	int32_t vertex_count;
	tac_mesh_triangle *triangles; // in input order, without those that were dropped
	int32_t triangle_count;
	int32_t *triangle_surface;         // surface of each triangle, 0 … surface_count - 1
	tac_mesh_triangle *triangle_edges; // edge k of a triangle joins its vertices k and (k + 1) % 3
	tac_mesh_surface *surfaces;        // by crease angle: numbered in the order of their first triangles
	int32_t surface_count;
	tac_mesh_edge *edges; // sorted by their vertices
	int32_t edge_count;
	tac_vec3 bounds_min, bounds_max; // of the vertices in use; both 0 for an empty mesh

	int32_t open_edges;           // edges of one triangle
	int32_t non_manifold_edges;   // edges of three or more
	int32_t flipped_edges;        // edges of two triangles that disagree on which side is outside
	int32_t degenerate_triangles; // dropped: no area
	int32_t duplicate_triangles;  // kept: the same three vertices as an earlier triangle, in any order
	int32_t welded_vertices;      // input vertices merged into an earlier one of equal position
	int32_t unused_vertices;      // positions dropped because no remaining triangle uses them

	char *names; // storage of the surfaces' names
} tac_mesh;

typedef struct tac_mesh_def {
	const char *name; // of this mesh in messages, usually its file; NULL: "mesh"
	const tac_vec3 *vertices;
	int32_t vertex_count;
	const tac_mesh_triangle *triangles;
	int32_t triangle_count;
	const int32_t *triangle_surface;  // NULL: the crease angle determines the surfaces
	const char *const *surface_names; // surface_count of them, or NULL: all are ""
	int32_t surface_count;            // used with triangle_surface
	// Without triangle_surface, two triangles belong to one surface if they share an ordinary edge and
	// their normals differ by at most this angle, rad. Default: 30 degrees.
	double crease_angle_rad;
} tac_mesh_def;

// A def without geometry.
// Thread: any.
TAC_API tac_mesh_def tac_mesh_def_default(void);

// Builds a mesh from the arrays of `def`, which remain the caller's. An empty mesh is allowed. Fails with one
// log line that names the vertex or triangle: TAC_ERROR_FORMAT for coordinates that are not finite or indices
// out of range, TAC_ERROR_ARGUMENT for counts or a crease angle out of range, TAC_ERROR_MEMORY. On success
// the caller owns *out_mesh; on failure it is NULL.
// Thread: setup.
TAC_API tac_result tac_mesh_build(const tac_mesh_def *def, tac_mesh **out_mesh);

// Frees *mesh and nulls the pointer; NULL is allowed.
// Thread: setup.
TAC_API void tac_mesh_destroy(tac_mesh **mesh);

// Whether the mesh encloses a volume: it has triangles, and every edge is shared by exactly two that agree
// on which side is outside. Self-intersection is not checked.
// Thread: any.
TAC_API bool tac_mesh_is_watertight(const tac_mesh *mesh);

// The sum of the triangles' areas, m^2.
// Thread: any.
TAC_API double tac_mesh_area(const tac_mesh *mesh);

// The enclosed volume by the divergence theorem, m^3; negative if the mesh is inside out. Meaningful only for
// a watertight mesh.
// Thread: any.
TAC_API double tac_mesh_volume(const tac_mesh *mesh);

// The largest extent of the bounds, m.
// Thread: any.
TAC_API double tac_mesh_size(const tac_mesh *mesh);

// The largest distance of a vertex from the origin, m.
// Thread: any.
TAC_API double tac_mesh_radius(const tac_mesh *mesh);

// Mesh files do not state their unit, and metres are assumed. Returns what one should multiply a length of
// `size_m`, the largest extent of something to be touched, by: 1 from 1 mm to 1 m; 0.001 (the file has
// millimetres) above that up to 1 km; 1000 below down to 1 µm; otherwise what makes it 100 mm.
// Thread: any.
TAC_API double tac_mesh_plausible_scale(double size_m);

// Corner k (0 to 2) of a triangle, m, exact in double.
// Thread: RT.
static inline tac_dvec3 tac_mesh_corner(const tac_mesh *mesh, int32_t triangle, int k)
{
	return tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[triangle].vertex[k]]);
}

// (b - a) x (c - a) of the triangle's corners: along its outward normal, with twice its area as length, m^2.
// Thread: RT.
static inline tac_dvec3 tac_mesh_triangle_cross(const tac_mesh *mesh, int32_t triangle)
{
	return tac_dvec3_triangle_cross(tac_mesh_corner(mesh, triangle, 0),
					tac_mesh_corner(mesh, triangle, 1),
					tac_mesh_corner(mesh, triangle, 2));
}

// The outward unit normal of a triangle. A built mesh has no triangle without area, so it is never zero.
// Thread: RT.
static inline tac_dvec3 tac_mesh_triangle_normal(const tac_mesh *mesh, int32_t triangle)
{
	return tac_dvec3_normalize(tac_mesh_triangle_cross(mesh, triangle));
}

// The vertex of `triangle` that is not on its edge `edge`.
// Thread: RT.
static inline int32_t tac_mesh_third_vertex(const tac_mesh *mesh, int32_t triangle, const tac_mesh_edge *edge)
{
	const int32_t *v = mesh->triangles[triangle].vertex;
	return v[0] + v[1] + v[2] - edge->vertex[0] - edge->vertex[1];
}

#ifdef __cplusplus
}
#endif

#endif
