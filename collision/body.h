// Body: a mesh prepared for continuous collision. It classifies the edges and vertices that can be the first
// to touch, assigns each shared vertex and edge to one triangle, so that a query examines every feature once
// (S. Curtis, R. Tamstorf, D. Manocha, "Fast collision detection for deformable models using
// representative-triangles", 2008), and holds a tree of boxes over its triangles. A body is read-only once
// built; any number of threads may share it.
//
// Flat faces may be triangulated anew, so that a query costs what the faces cost, not their tessellation. The
// body then has a mesh of its own, which differs from that of the def by at most its tolerance. Proofs
// (collision/certificate.h, tac_round_prove) and the motions of sweeps account for it: they hold for the
// def's mesh.
#ifndef TAC_COLLISION_BODY_H
#define TAC_COLLISION_BODY_H

#include "base/result.h"
#include "collision/mesh.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_body tac_body;

typedef enum tac_body_edge {
	// Open, non-manifold and inconsistently oriented edges count as convex: they may touch anything.
	TAC_BODY_EDGE_CONVEX,
	TAC_BODY_EDGE_FLAT,
	TAC_BODY_EDGE_CONCAVE,
} tac_body_edge;

typedef struct tac_body_def {
	const tac_mesh *mesh; // the caller's; must outlive the body
	// The caller guarantees that nothing starts inside the mesh, which must be watertight. Concave edges
	// are then never the first to touch, and back faces can be culled. Default: false, faces have two
	// sides.
	bool solid;
	// For tests; the results are the same. Examine features at every triangle that has them, and
	// features inside of flat faces, too. Default: false.
	bool repeat_features;
	bool keep_internal;
	bool bsp; // also build the BSP for tac_sweep_options.bsp. Default: false
	// How far the vertices of a flat face may lie from its plane, m, where it is triangulated anew.
	// TAC_BODY_FLAT: as far as rounding to float moves them. 0: the body has the triangles of the mesh.
	// Default: 0.
	double flat_m;
	// How far the body may be from the mesh where that saves triangles, m: fewer, larger triangles stand
	// for curved surfaces; flat faces stay as they are. 0: only flat faces change. Default: 0.
	double detail_m;
	// Faces whose facets are within this of a sphere, m, count as spheres where one is inside another of
	// nearly the same radius, such as a ball in a socket: contacts and proofs are then those of the
	// spheres. 0: none. Default: 0.
	double sphere_m;
} tac_body_def;

// 5e-8 m for bodies up to 125 mm, less for tiny ones, at most 2.5e-7 m.
#define TAC_BODY_FLAT (-1.0)

// A def without a mesh. Thread: any.
TAC_API tac_body_def tac_body_def_default(void);

// Builds a body; the caller owns *out_body, NULL on failure. TAC_ERROR_ARGUMENT with one log line for a mesh
// without triangles and for a solid that is not watertight; TAC_ERROR_MEMORY with one log line.
// Thread: setup.
TAC_API tac_result tac_body_build(const tac_body_def *def, tac_body **out_body);

// Frees *body and nulls the pointer; NULL is allowed.
// Thread: setup.
TAC_API void tac_body_destroy(tac_body **body);

// The mesh whose triangles, edges and vertices queries name: that of the def or, with flat faces triangulated
// anew, the body's own, with the same surfaces. Thread: any.
TAC_API const tac_mesh *tac_body_mesh(const tac_body *body);

// How far the mesh of the body and that of the def are apart at most, m; 0: not at all. Thread: any.
TAC_API double tac_body_tolerance(const tac_body *body);

// The part of the tolerance that curved surfaces take, m: tac_body_def.detail_m, or 0 if they kept their
// triangles. A mover keeps this distance in addition. Thread: any.
TAC_API double tac_body_detail(const tac_body *body);

// The triangle of the def's mesh at `point` (m, in the mesh's frame) on `triangle` of the body's mesh, or one
// close to it. Thread: RT.
TAC_API int32_t tac_body_source_triangle(const tac_body *body, int32_t triangle, tac_dvec3 point);

// The largest distance of a vertex from the mesh's origin, m. Thread: any.
TAC_API double tac_body_radius(const tac_body *body);

// Whether the body was built as a solid. Thread: any.
TAC_API bool tac_body_is_solid(const tac_body *body);

// The kind of an edge, given by its index in the mesh. Thread: any.
TAC_API tac_body_edge tac_body_edge_kind(const tac_body *body, int32_t edge);

#ifdef __cplusplus
}
#endif

#endif
