// The triangles around a round tool, kept from query to query in a tac_round_context. The list holds those
// within a region that is somewhat larger than the query that made it needed. As long as the tool stays
// inside of that region, the tree is not descended. A pass in single precision bounds the distances of eight
// triangles at a time; the few that remain are examined in double precision.
//
// Thread: RT, every function.
#ifndef TAC_COLLISION_CONTINUOUS_ROUND_ROUND_LIST_H
#define TAC_COLLISION_CONTINUOUS_ROUND_ROUND_LIST_H

#include "base/simd.h"
#include "collision/continuous/body_tree.h"
#include "collision/round.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rounding of a height over a plane in float, relative to the coordinates: 64 roundings.
#define TAC_ROUND_ROUNDING 0x1p-18f

// Eight listed triangles, lane by lane, in m and relative to the origin of the context.
typedef struct tac_round_block {
	float vertex[3][3][TAC_BODY_WIDTH]; // by vertex and coordinate
	// For each triangle a plane with the triangle behind it: the unit normal, and the height of the
	// triangle along it, rounded up.
	float normal[3][TAC_BODY_WIDTH], offset[TAC_BODY_WIDTH];
	// Results of the current query: lower bounds of the distances; the features to examine, bits as
	// below; the lanes whose bounds are within the reach, and those of them with features to examine.
	float clearance[TAC_BODY_WIDTH];
	int32_t candidates[TAC_BODY_WIDTH];
	uint8_t near_lanes, candidate_lanes;
	int32_t owned[TAC_BODY_WIDTH];    // the features that are examined at this triangle
	int32_t triangle[TAC_BODY_WIDTH]; // positions in the body's triangle array
} tac_round_block;

// Bits of features; vertex k is bit k.
#define TAC_ROUND_FEATURE_EDGE 3 // + k
#define TAC_ROUND_FEATURE_FACE 6
// How far beside a face a point may be and still count as over it, m.
#define TAC_ROUND_FACE_SLACK 1e-10

struct tac_round_context {
	const tac_body *fixed;
	tac_round region;       // the triangles within it are listed; radius 0: no list
	tac_vec3 origin;        // region.a in float, so that a vertex relative to it is rounded once
	double slack;           // how much larger than needed the region was made, m
	int32_t queries_served; // since the list was made
	int32_t count;
	tac_round_block blocks[TAC_ROUND_TRIANGLES_MAX / TAC_BODY_WIDTH];
};

static inline int32_t tac_round_list_block_count(const tac_round_context *list)
{
	return (list->count + TAC_BODY_WIDTH - 1) / TAC_BODY_WIDTH;
}

// Whether the context lists all triangles of the body within `region`.
bool tac_round_list_covers(const tac_round_context *list, const tac_body *body, const tac_round *region);

// Makes the context list all triangles of the body within `region`, in the order of the descent. False when
// they do not fit.
bool tac_round_list_update(tac_round_context *list, const tac_body *body, const tac_round *region);

// Loads the vertices of the listed triangles, and sets the plane of each across its gap to the segment of the
// region.
typedef void tac_round_list_make_planes_fn(tac_round_context *list);

TAC_SIMD_DECLARE(tac_round_list_make_planes_fn, tac_round_list_make_planes_kernel);

// Sets the clearance of each listed triangle to the height of the convex hull of the four points over its
// plane, a lower bound of their distance, and near_lanes to those below `reach` (m). Every variant gives the
// same bits.
typedef void tac_round_list_measure_fn(tac_round_context *list, const tac_dvec3 points[4], double reach);

TAC_SIMD_DECLARE(tac_round_list_measure_fn, tac_round_list_measure_kernel);

tac_round_list_measure_fn tac_round_list_measure;

// Sets the candidates of the near lanes for an end of the tool's segment at p: the faces that p may be over,
// and the edges and vertices in whose cones (collision/contacts.h) it may be. None is missed; every variant
// gives the same.
typedef void tac_round_list_cull_end_fn(tac_round_context *list, tac_dvec3 p, double reach);

TAC_SIMD_DECLARE(tac_round_list_cull_end_fn, tac_round_list_cull_end_kernel);

tac_round_list_cull_end_fn tac_round_list_cull_end;

// The same for the inside of the segment a b: the edges that may be closest to it between the ends of both,
// and the vertices beside it.
typedef void tac_round_list_cull_core_fn(tac_round_context *list, tac_dvec3 a, tac_dvec3 b);

TAC_SIMD_DECLARE(tac_round_list_cull_core_fn, tac_round_list_cull_core_kernel);

tac_round_list_cull_core_fn tac_round_list_cull_core;

// Sets the plane of the triangle in a lane across the gap of length `distance` (> 0), a vector from the
// triangle to the tool.
void tac_round_block_set_plane(tac_round_block *block, int lane, tac_dvec3 gap, double distance);

// --- long motions ---

// Called with a position in the body's triangle array. False ends the descent.
typedef bool (*tac_round_visitor)(void *user, int32_t triangle);

// A tool in motion: the ends of its segment move straight, from a by va and from b by vb.
typedef struct tac_round_path {
	tac_dvec3 a, b, va, vb;
	double radius;
	double limit;   // contacts after this fraction of the path do not matter, in [0, 1]
	int64_t budget; // triangles and nodes that may still be visited
	double proved;  // when the budget is spent: no triangle was left out before this fraction
	double enters;  // a lower bound of the fraction at which the visited triangle comes within the radius
} tac_round_path;

// Visits all triangles of the body that come within the radius of the path, and some others. Those that the
// tool meets early mostly come first; the visitor may lower the limit, which spares later ones. Without
// motion the order depends on the tree alone. False when the budget or the visitor ended it.
typedef bool tac_round_visit_path_fn(const tac_body *body, tac_round_path *path, tac_round_visitor visit,
				     void *user);

TAC_SIMD_DECLARE(tac_round_visit_path_fn, tac_round_visit_path_kernel);

tac_round_visit_path_fn tac_round_visit_path;

// The closest points of a segment and a triangle.
typedef struct tac_round_closest {
	double distance;
	tac_dvec3 core, on; // on the segment, and on the triangle
} tac_round_closest;

tac_round_closest tac_round_closest_to(tac_dvec3 a, tac_dvec3 b, const tac_dvec3 triangle[3]);

#ifdef __cplusplus
}
#endif

#endif
