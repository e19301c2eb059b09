// Mesh: a welded, indexed triangle mesh with its surfaces and edges, read-only once built. Every collider is
// built from one. Lengths are metres; nothing is scaled. Triangles are counter-clockwise seen from outside.
//
// Building welds vertices of equal position (exact, with -0 equal to +0), drops vertices that no triangle
// uses and triangles without area, finds the edges with their neighbours, and divides the mesh into surfaces.
// Nothing is repaired beyond that: holes, non-manifold edges, flipped and repeated triangles stay, and are
// counted.
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

// The largest triangle and vertex count that a mesh may have: 3 edges a triangle still fit into int32_t.
#define TAC_MESH_MAX INT32_C(500000000)

// A triangle e1 = b - a, e2 = c - a is dropped when |e1 x e2| <= this times the square of its longest edge
// (dimensionless, computed in double): below it the inverse matrices of the triangle tests are noise.
#define TAC_MESH_DEGENERATE 1e-12

typedef struct tac_mesh_triangle {
	int32_t vertex[3];
} tac_mesh_triangle;

typedef struct tac_mesh_edge {
	int32_t vertex[2];      // the lower index first
	int32_t triangle[2];    // the neighbours in rising order; [1] is -1 at an open edge
	int32_t triangle_count; // 1: open, 2: ordinary, more: non-manifold, and only the first two are in
				// `triangle`
} tac_mesh_edge;

typedef struct tac_mesh_surface {
	const char *name; // never NULL; "" when the surface was found by the crease angle
	int32_t triangle_count;
} tac_mesh_surface;

// Read-only after the build; shared by any number of threads.
typedef struct tac_mesh {
	tac_vec3 *vertices; // metres
	int32_t vertex_count;
	tac_mesh_triangle *triangles; // in the order of the input, without those that were dropped
	int32_t triangle_count;
	int32_t *triangle_surface;         // surface of each triangle, 0 … surface_count - 1
	tac_mesh_triangle *triangle_edges; // edge k of a triangle joins its vertices k and (k + 1) % 3
	tac_mesh_surface *surfaces;        // numbered by their first triangle when found by the crease angle
	int32_t surface_count;
	tac_mesh_edge *edges; // sorted by their vertices
	int32_t edge_count;
	tac_vec3 bounds_min, bounds_max; // of the vertices in use; both 0 for an empty mesh

	int32_t open_edges;           // edges of one triangle
	int32_t non_manifold_edges;   // edges of three or more
	int32_t flipped_edges;        // edges of two triangles that disagree on which side is outside
	int32_t degenerate_triangles; // dropped: no area
	int32_t duplicate_triangles;  // kept: same three vertices as an earlier triangle, whichever way round
	int32_t welded_vertices;      // input vertices merged into an earlier one of equal position
	int32_t unused_vertices;      // positions dropped because no kept triangle uses them

	char *names; // storage of the surfaces' names
} tac_mesh;

typedef struct tac_mesh_def {
	const char *name; // what messages call this mesh, usually its file; NULL: "mesh"
	const tac_vec3 *vertices;
	int32_t vertex_count;
	const tac_mesh_triangle *triangles;
	int32_t triangle_count;
	const int32_t *triangle_surface;  // NULL: surfaces are found by the crease angle
	const char *const *surface_names; // surface_count of them, or NULL: all are called ""
	int32_t surface_count;            // used with triangle_surface
	// Without triangle_surface, two triangles belong to one surface when they share an ordinary edge and
	// their normals differ by at most this, rad. Default: 30 degrees.
	double crease_angle_rad;
} tac_mesh_def;

// A def without geometry. Thread: any.
tac_mesh_def tac_mesh_def_default(void);

// Builds a mesh from the arrays of `def`, which stay the caller's. An empty mesh is allowed. Refuses, with
// one log line that names the vertex or triangle: coordinates that are not finite, indices out of range (both
// TAC_ERROR_FORMAT), and counts out of range (TAC_ERROR_ARGUMENT). On success the caller owns *out_mesh; on
// failure it is NULL.
// Thread: setup.
tac_result tac_mesh_build(const tac_mesh_def *def, tac_mesh **out_mesh);

// Frees *mesh and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_mesh_destroy(tac_mesh **mesh);

// True when the mesh encloses a volume: it has triangles, and every edge is shared by exactly two that agree
// on which side is outside. (Self-intersection is not examined.) Thread: any.
bool tac_mesh_is_watertight(const tac_mesh *mesh);

// The sum of the triangles' areas, m^2.
// Thread: any.
double tac_mesh_area(const tac_mesh *mesh);

// The enclosed volume by the divergence theorem, m^3; negative when the mesh is inside out. Meaningful for a
// watertight mesh only.
// Thread: any.
double tac_mesh_volume(const tac_mesh *mesh);

#ifdef __cplusplus
}
#endif

#endif
