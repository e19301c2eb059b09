// S-CD: finds the touching surfaces of two parts. A part is a set of surfaces with their triangles. One
// R-tree holds the surfaces, and one for each surface its triangles, all in the part's frame. The volume
// common to the boxes of both parts (OAABB) selects the surfaces and triangles of B that can touch. Each of
// these is brought into A's frame, and its exact box there, clipped to the same volume, selects surfaces and
// triangles of A. Source: M. Figueiredo, "Surface collision detection for virtual prototyping". Its Figure 2
// uses the volume in A's frame without computing it; here it is the intersection of AABB_A(A) and the box of
// the transformed OAABB_B.
//
// One step goes beyond the paper: each surface of B is culled in the same way before its triangles. Its box
// in A's frame selects the nearby surfaces of A, at which its triangles start instead of at the root; their
// box in B's frame selects its triangles. This takes two more box updates a surface and saves 13 to 39 % of
// the box tests of all pairs on the assemblies of collision/assembly.h.
//
// Boxes are in single precision, rounded outwards. Triangles are tested eight at a time in single precision
// with a bound of the rounding error; undecided pairs are tested exactly (collision/geometry/tritri.h), with
// the vertices of the moving triangle rounded to double.
#ifndef TAC_COLLISION_ENGINES_SCD_H
#define TAC_COLLISION_ENGINES_SCD_H

#include "collision/geometry/tritri.h"
#include "collision/mesh.h"
#include "collision/trees/rtree.h"

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
	int64_t triangle_transforms; // triangles of B moved into A's frame
	int64_t triangle_tests;
	int64_t exact_tests; // of these, pairs that single precision could not decide
} tac_scd_counters;

// One query: its settings, the caller's memory for the answer, and the answer.
typedef struct tac_scd_query {
	tac_scd_mode mode;
	// Do without the common volume: descend both pairs of trees at once, covering each visited box of A
	// in B's frame. Slower; for comparison.
	bool without_oaabb;

	tac_scd_hit *hits; // receives the first `capacity` hits
	int64_t capacity;
	// Called for each hit instead of storing it, if not NULL.
	void (*report)(void *user, const tac_scd_hit *hit);
	// tac_scd_surface_count(a) numbers, used in mode surfaces. A query that continues another needs them
	// as the stopped query left them, or it reports pairs of surfaces again.
	int32_t *scratch;

	// Called before each triangle of B but the first, if not NULL: true ends the query with `complete`
	// false. To continue, query again with skip_triangles = triangles_done. (Not with without_oaabb.)
	bool (*stop)(void *user);
	void *user;
	int64_t skip_triangles; // of B

	int64_t hit_count;      // including those beyond the capacity
	bool complete;          // false: stopped, and the remaining triangles may touch
	int64_t triangles_done; // of B, including those skipped
	tac_scd_counters counters;
} tac_scd_query;

// Mode triangles, with neither memory for hits nor callbacks.
// Thread: any.
tac_scd_query tac_scd_query_default(void);

// Builds the trees of a mesh with one of two methods, which collision/trees/rtree.h compares.
// The caller owns *out_scd, which is NULL on failure (TAC_ERROR_MEMORY, with a message). Thread: setup.
tac_result tac_scd_build(const tac_mesh *mesh, tac_rtree_method method, tac_scd **out_scd);

// Frees *scd and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_scd_destroy(tac_scd **scd);

// Thread: any.
const tac_mesh *tac_scd_mesh(const tac_scd *scd);
int32_t tac_scd_surface_count(const tac_scd *scd);
size_t tac_scd_bytes(const tac_scd *scd);

// Finds where A and B touch, with B placed in A's frame by x_A = rotation x_B + translation. Returns
// hit_count > 0. Hits are in the order of the trees; tac_scd_sort makes them comparable. Thread: RT.
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

// The intersection of two boxes; if it is empty, min > max along an axis.
// Thread: RT.
tac_aabb tac_scd_intersection(const tac_aabb *a, const tac_aabb *b);

#ifdef __cplusplus
}
#endif

#endif
