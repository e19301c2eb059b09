// S-CD: which surfaces of two parts touch. A part is a set of surfaces, each with its own triangles; one
// R-tree holds the surfaces, one each their triangles, all in the part's own frame. The volume common to the
// boxes of both parts (OAABB) selects the surfaces and triangles of B that can touch; each of these is
// brought into A's frame, and its exact box there, cut to the same volume, selects surfaces and triangles of
// A. Source: M. Figueiredo, "Surface collision detection for virtual prototyping", with the volume in A's
// frame that its Figure 2 uses but never computes: AABB_A(A) and the box of the transformed OAABB_B.
//
// One step more than there: the same is done for each surface of B before its triangles. Its box in A's frame
// selects the surfaces of A near it, at which its triangles begin instead of at the root, and their box in
// B's frame selects its triangles. That takes two more updates a surface and saves 13 to 39 % of the box
// tests of all pairs on the assemblies of collision/assembly.h.
//
// Boxes are single precision, rounded outwards. Triangles are tested eight at a time in single precision with
// a bound of the rounding, and what that leaves open exactly (collision/tritri.h); the moving ones have their
// vertices rounded to double.
#ifndef TAC_COLLISION_SCD_H
#define TAC_COLLISION_SCD_H

#include "collision/mesh.h"
#include "collision/rtree.h"
#include "collision/tritri.h"

#ifdef __cplusplus
extern "C" {
#endif

// A part. Read-only once built; the mesh must outlive it.
typedef struct tac_scd tac_scd;

typedef enum tac_scd_mode {
	TAC_SCD_FIRST,     // stop at the first pair of triangles
	TAC_SCD_SURFACES,  // each pair of surfaces once, with one pair of triangles as its witness
	TAC_SCD_TRIANGLES, // every pair of triangles
} tac_scd_mode;

typedef struct tac_scd_hit {
	int32_t surface_a, surface_b;
	int32_t triangle_a, triangle_b;
} tac_scd_hit;

// The counts of the paper's Table 6.
typedef struct tac_scd_counters {
	int64_t aabb_tests;          // comparisons of two boxes, those in tree nodes included
	int64_t cover_updates;       // boxes of transformed boxes
	int64_t optimal_updates;     // boxes of transformed triangles
	int64_t triangle_transforms; // triangles of B brought into A's frame
	int64_t triangle_tests;
	int64_t exact_tests; // of these, pairs that single precision could not decide
} tac_scd_counters;

// One query: what is asked, the caller's memory for the answer, and the answer.
typedef struct tac_scd_query {
	tac_scd_mode mode;
	// Without the common volume: both pairs of trees are descended at once, each visited box of A covered
	// in B's frame. Slower; it is here to be measured against.
	bool without_oaabb;

	tac_scd_hit *hits; // the first `capacity` of them are written
	int64_t capacity;
	// Called for each hit instead of storing it, if not NULL.
	void (*report)(void *user, const tac_scd_hit *hit);
	// tac_scd_surface_count(a) numbers, used in mode surfaces. A query that goes on (skip > 0) needs them
	// as the stopped one left them, or reports pairs of surfaces again.
	int32_t *scratch;

	// Polled before each triangle of B but the first, if not NULL: true ends the query with `complete`
	// false. To go on, ask again with `skip` = `done`. (Not without the common volume.)
	bool (*stop)(void *user);
	void *user;
	int64_t skip; // triangles of B to leave out

	int64_t hit_count; // found, also beyond the capacity
	bool complete;     // false: stopped; what was not looked at may touch
	int64_t done;      // triangles of B looked at, with those left out
	tac_scd_counters counters;
} tac_scd_query;

// Mode triangles, with neither memory for hits nor callbacks.
// Thread: any.
tac_scd_query tac_scd_query_default(void);

// Builds the trees of a mesh with one of the two methods; collision/rtree.h compares them.
// The caller owns *out_scd, which is NULL on failure (TAC_ERROR_MEMORY, with a message). Thread: setup.
tac_result tac_scd_build(const tac_mesh *mesh, tac_rtree_method method, tac_scd **out_scd);

// Frees *scd and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_scd_destroy(tac_scd **scd);

// Thread: any.
const tac_mesh *tac_scd_mesh(const tac_scd *scd);
int32_t tac_scd_surface_count(const tac_scd *scd);
size_t tac_scd_bytes(const tac_scd *scd);

// Whether A and B touch, B placed in A's frame by x_A = rotation x_B + translation. Returns hit_count > 0.
// Hits come in the order of the trees; tac_scd_sort makes them comparable. Thread: RT.
bool tac_scd_collide(const tac_scd *a, const tac_scd *b, const tac_dmat3 *rotation, tac_dvec3 translation,
		     tac_scd_query *query);

// Sorts hits by surface A, surface B, triangle A, triangle B.
// Thread: any.
void tac_scd_sort(tac_scd_hit *hits, int64_t count);

// The box of the transformed box, rounded outwards.
// Thread: RT.
tac_aabb tac_scd_cover(const tac_dmat3 *rotation, tac_dvec3 translation, const tac_aabb *box);

// The box of a triangle, rounded outwards.
// Thread: RT.
tac_aabb tac_scd_optimal(const tac_tri64 *triangle);

// The common part of two boxes; min > max somewhere if there is none.
// Thread: RT.
tac_aabb tac_scd_common(const tac_aabb *a, const tac_aabb *b);

#ifdef __cplusplus
}
#endif

#endif
