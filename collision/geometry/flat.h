// Flat: the same surface with fewer triangles. Patches of triangles that lie in one plane are triangulated
// anew: their inner vertices go, and so do the vertices on a straight border between two patches. Vertices
// that stay keep their positions, surfaces stay apart, and nothing is opened or closed.
//
// A patch grows over ordinary edges within one surface, as long as every vertex stays within a tolerance of
// its plane. Vertices are removed one at a time, the hole is filled with the best triangles, and exact
// predicates decide on each of them, in a projection along a coordinate axis. A vertex that cannot be removed
// with certainty stays. So holes, borders that touch themselves, open and non-manifold edges need no special
// case. At the end edges are flipped towards a Delaunay triangulation (C. L. Lawson, 1977), so that few
// slivers are left.
#ifndef TAC_COLLISION_GEOMETRY_FLAT_H
#define TAC_COLLISION_GEOMETRY_FLAT_H

#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// A patch that was triangulated anew, to find the triangles of the source in it.
typedef struct tac_flat_patch {
	tac_dvec3 normal; // unit, outwards
	double offset;    // the plane is normal . x = offset
	int axis;         // the coordinate that `normal` has most of; the projection drops it
	// A grid of columns x rows cells over the other two coordinates: a triangle of the source in or near
	// each cell.
	double lo[2], cell;
	int32_t columns, rows, first; // cells[first + row columns + column]
} tac_flat_patch;

typedef struct tac_flat {
	const tac_mesh *source; // the caller's
	tac_mesh *mesh;         // the surfaces are those of the source; without patches it is the source
	// No point of the source is further from `mesh` than this, m, nor the other way round; 0: the
	// surfaces are the same, to rounding.
	double tolerance;
	// For each triangle of `mesh`: the triangle of the source that it is; ~p: a part of patch p.
	int32_t *source_triangle;
	// For each triangle of `mesh`: the flat face that it is a part of, triangulated anew or not; -1: it
	// is one by itself.
	int32_t *face;
	tac_flat_patch *patches; // those that were triangulated anew
	int32_t patch_count;
	int32_t *cells;
	int32_t *source_patch; // for each triangle of the source: its patch; -1: unchanged
} tac_flat;

// How far a vertex of `mesh` may lie from the plane of its patch and from the straight line of its border, m:
// what rounding to float, twice, does to a flat face. 5e-8 m for bodies up to 125 mm; less for tiny ones, and
// never more than 0.25 µm, so that the tolerance stays far below the hold gap of a mover.
// Thread: any.
double tac_flat_epsilon(const tac_mesh *mesh);

// Triangulates the flat patches of `mesh` anew, each within `epsilon` (m, >= 0) of a plane. *out_flat is NULL
// when that saves less than 1/64 of the triangles and less than a quarter of them are in patches; otherwise
// the caller owns it. TAC_ERROR_MEMORY without a log line. Thread: setup.
tac_result tac_flat_build(const tac_mesh *mesh, double epsilon, tac_flat **out_flat);

// Nulls the pointer; NULL in it is allowed. Thread: setup.
void tac_flat_destroy(tac_flat **flat);

// The most neighbours that tac_flat_source visits.
#define TAC_FLAT_WALK 64

// The triangle of the source at `point` (m, in the mesh's frame, on or near `triangle` of the new mesh), or
// one close to it. Thread: RT.
int32_t tac_flat_source(const tac_flat *flat, int32_t triangle, tac_dvec3 point);

// --- inside: growth (flat_patches.c) and removal (flat_remove.c) ---

// A patch while it is built.
typedef struct tac_flat_plane {
	tac_dvec3 normal;
	double offset, deviation; // deviation: the largest distance of a vertex from the plane, m
	int axis;
	int32_t triangles, removed; // removed: vertices
} tac_flat_plane;

typedef struct tac_flat_planes {
	int32_t *patch; // of each triangle; -1: alone
	tac_flat_plane *plane;
	int32_t count;
} tac_flat_planes;

// A vertex projected along the axis of a patch, so that counter-clockwise seen from outside is
// counter-clockwise. Exact.
static inline void tac_flat_project(const tac_flat_plane *plane, tac_vec3 v, double out[2])
{
	const double x[3] = {(double)v.x, (double)v.y, (double)v.z};
	const double n[3] = {plane->normal.x, plane->normal.y, plane->normal.z};
	const int i = (plane->axis + 1) % 3, j = (plane->axis + 2) % 3, flip = n[plane->axis] < 0;
	out[0] = x[flip ? j : i];
	out[1] = x[flip ? i : j];
}

// Finds the patches of two triangles or more. Free planes->patch and planes->plane with free(), also after
// TAC_ERROR_MEMORY. Thread: setup.
tac_result tac_flat_find_planes(const tac_mesh *mesh, double epsilon, tac_flat_planes *out_planes);

// Whether three vertices make a triangle that a patch may have: counter-clockwise in the exact projection,
// with an area, facing along the patch's normal.
bool tac_flat_is_triangle(const tac_flat_plane *plane, const tac_vec3 *vertices, int32_t a, int32_t b,
			  int32_t c);

// Triangles that change.
typedef struct tac_flat_surgery {
	const tac_mesh *mesh;
	tac_flat_planes *planes;
	double epsilon;
	double straightness;          // the largest distance of a removed vertex from its straight border, m
	tac_mesh_triangle *triangles; // vertex[0] is -1: removed
	int32_t triangle_count;       // that are left
	// The corners at each vertex, in a list: corner 3 t + k is vertex k of triangle t.
	int32_t *first, *next, *previous, *degree;
} tac_flat_surgery;

// Removes what can be removed and flips edges. TAC_ERROR_MEMORY. Thread: setup.
tac_result tac_flat_operate(tac_flat_surgery *surgery);

#ifdef __cplusplus
}
#endif

#endif
