// Detail: a surface with fewer triangles, of which every point of the source is within a stated distance.
// What keeps that distance from it keeps clear of the source.
//
// Edges are collapsed in the order of their quadric error (M. Garland, P. S. Heckbert, "Surface
// simplification using quadric error metrics", 1997), each only with a proof of the distance (R. Klein, G.
// Liebich, W. Strasser, "Mesh reduction with error control", 1996): each triangle of the source that was near
// the changed triangles is divided into convex pieces, and all corners of each piece lie within the tolerance
// of one triangle of the new surface. The distance from a triangle is a convex function, so the whole piece
// does. The proof needs neither orientation nor closedness. Nothing is sampled.
//
// Topology, surfaces and their borders stay; vertices at faulty edges and triangles that the caller excludes
// do not change at all.
#ifndef TAC_COLLISION_GEOMETRY_DETAIL_H
#define TAC_COLLISION_GEOMETRY_DETAIL_H

#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_detail {
	const tac_mesh *source; // the caller's
	tac_mesh *mesh;         // the surfaces are those of the source
	double tolerance;       // no point of the source is further from `mesh`, m
	int32_t *same; // for each triangle of `mesh`: the triangle of the source that it is; -1: it is none
	// The triangles of the source near triangle t of `mesh`: near[first[t]] … near[first[t + 1] - 1].
	int32_t *first, *near;
} tac_detail;

// Simplifies `mesh` within `tolerance` (m, > 0). Triangles t with keep[t] stay as they are; `keep` may be
// NULL. *out_detail is NULL when that saves less than a quarter of the triangles; otherwise the caller owns
// it. TAC_ERROR_MEMORY without a log line. Thread: setup.
tac_result tac_detail_build(const tac_mesh *mesh, const uint8_t *keep, double tolerance,
			    tac_detail **out_detail);

// Nulls the pointer; NULL in it is allowed. Thread: setup.
void tac_detail_destroy(tac_detail **detail);

// The most triangles of the source that tac_detail_source looks at before it walks, and the most steps of the
// walk.
#define TAC_DETAIL_LOOKS 32
#define TAC_DETAIL_WALK  64

// The triangle of the source that is closest to `point` (m, in the mesh's frame, on or near `triangle` of the
// new mesh), or one close to it. Thread: RT.
int32_t tac_detail_source(const tac_detail *detail, int32_t triangle, tac_dvec3 point);

// --- inside: the proof (detail_cover.c) and the collapses (detail_collapse.c) ---

// A triangle of the new surface that may be near.
typedef struct tac_detail_face {
	tac_dvec3 v[3];
	int32_t id;
	bool used; // a piece was proved with it
} tac_detail_face;

#define TAC_DETAIL_FACES 64

// Whether every point of `triangle` is within `tolerance` of the face.
bool tac_detail_is_near(const tac_dvec3 triangle[3], double tolerance, const tac_detail_face *face);

// Proves that every point of `triangle` is within `tolerance` of one of `count` faces (at most
// TAC_DETAIL_FACES), and marks those that the proof uses.
bool tac_detail_cover(const tac_dvec3 triangle[3], double tolerance, tac_detail_face *faces, int count);

// Which triangles of the source are near a triangle of the new surface.
typedef struct tac_detail_link {
	int32_t source, triangle;
	int32_t next_of_triangle, next_of_source; // -1: the last
} tac_detail_link;

// The surface while it changes.
typedef struct tac_detail_surgery {
	const tac_mesh *mesh;
	double tolerance;
	tac_vec3 *vertices;
	tac_mesh_triangle *triangles; // vertex[0] is -1: removed
	int32_t triangle_count;       // that are left
	uint8_t *kinds;               // of the vertices
	tac_detail_link *links;
	int32_t link_count, link_room, free_link;
	int32_t *of_triangle, *of_source; // the first link
} tac_detail_surgery;

// Collapses what can be collapsed. The memory of the surgery is the caller's to free, also after
// TAC_ERROR_MEMORY. Thread: setup.
tac_result tac_detail_operate(tac_detail_surgery *surgery, const uint8_t *keep);

#ifdef __cplusplus
}
#endif

#endif
