// List: the triangles around a round tool, kept from query to query in a tac_ccd_round_context. They are
// those within a reach of a segment, somewhat further than the query that made it needed; as long as the tool
// stays inside of that, the tree is not descended. A pass in single precision, eight at once, then says how
// far each is at least; what is left, a few, is examined in double precision. Private to the library.
#ifndef TAC_COLLISION_CCD_ROUND_LIST_H
#define TAC_COLLISION_CCD_ROUND_LIST_H

#include "base/simd.h"
#include "collision/ccd_round.h"

#ifdef __cplusplus
extern "C" {
#endif

// What rounding may add to a height over a plane in float, as a part of the coordinates: 64 roundings.
#define TAC_CCD_ROUND_ROUNDING 0x1p-18f

// Called with a position in the body's triangle array. False ends the descent.
typedef bool (*tac_ccd_round_visit)(void *user, int32_t triangle);

// A tool on its way: the ends of its core go straight from a by va, and from b by vb meanwhile.
typedef struct tac_ccd_round_way {
	tac_dvec3 a, b, va, vb;
	double radius;
	double limit;   // what comes after this part of the way does not count, 0 to 1
	int64_t budget; // of triangles and nodes that may be looked at
	double proved;  // when it is spent: before this part of the way nothing is left out
	double enters;  // what is being visited does not come within the radius before this part
} tac_ccd_round_way;

// Visits all triangles of the body that come within the way, and some others; early ones mostly come first,
// and what they leave of the limit saves the late ones. Without motion all come at once, in an order that
// depends on the tree alone. False when the budget or the visitor ended it.
typedef bool tac_ccd_round_travel_fn(const tac_ccd_body *body, tac_ccd_round_way *way,
				     tac_ccd_round_visit visit, void *user);

TAC_SIMD_DECLARE(tac_ccd_round_travel_fn, tac_ccd_round_travel_kernel);

// With the variant that the body was built for.
tac_ccd_round_travel_fn tac_ccd_round_travel;

// Loads the corners of the listed triangles, and gives each the plane across its gap to the segment of the
// list.
typedef void tac_ccd_round_part_fn(tac_ccd_round_context *list);

TAC_SIMD_DECLARE(tac_ccd_round_part_fn, tac_ccd_round_part_kernel);

// Sets the `clears` of each listed triangle to a lower bound of its distance from the four points and what
// lies between them, the height over its plane; and `near` to where that is below the reach. Every variant
// gives the same bits.
typedef void tac_ccd_round_measure_fn(tac_ccd_round_context *list, const tac_dvec3 points[4], double reach);

TAC_SIMD_DECLARE(tac_ccd_round_measure_fn, tac_ccd_round_measure_kernel);

// Sets what is `left` of those that are near: the faces that p may be over, the edges and vertices in whose
// cones (collision/contacts.h) it may be. What is left out is not, for sure; every variant leaves out the
// same.
typedef void tac_ccd_round_sieve_fn(tac_ccd_round_context *list, tac_dvec3 p, double reach);

TAC_SIMD_DECLARE(tac_ccd_round_sieve_fn, tac_ccd_round_sieve_kernel);

// The same for what lies between a and b: the edges that may be closest to it between their ends, and the
// vertices that are beside it.
typedef void tac_ccd_round_sieve_core_fn(tac_ccd_round_context *list, tac_dvec3 a, tac_dvec3 b);

TAC_SIMD_DECLARE(tac_ccd_round_sieve_core_fn, tac_ccd_round_sieve_core_kernel);

// The bits of features: vertices first.
#define TAC_CCD_ROUND_EDGE 3 // + k, as the vertices before
#define TAC_CCD_ROUND_FACE 6
// How far outside of a cone, as a part of the distance, and how far beside a face, m, a point may be for the
// sieve.
#define TAC_CCD_ROUND_CONE   1e-3
#define TAC_CCD_ROUND_BESIDE 1e-10

// Whether the context lists all triangles of the body within `around`.
bool tac_ccd_round_covers(const tac_ccd_round_context *context, const tac_ccd_body *body,
			  const tac_ccd_round *around);

// Makes sure that the context lists all triangles of the body within `around`, in the order of the descent.
// False: they are more than fit.
bool tac_ccd_round_list(tac_ccd_round_context *context, const tac_ccd_body *body,
			const tac_ccd_round *around);

// Those above, with the variant of the list's body.
tac_ccd_round_measure_fn tac_ccd_round_measure;
tac_ccd_round_sieve_fn tac_ccd_round_sieve;
tac_ccd_round_sieve_core_fn tac_ccd_round_sieve_core;

static inline int32_t tac_ccd_round_blocks(const tac_ccd_round_context *list)
{
	return (list->count + TAC_CCD_WIDTH - 1) / TAC_CCD_WIDTH;
}

// Gives the triangle in a lane the plane across the gap of length `distance` (> 0), a vector from the
// triangle to the tool: from then on it clears what is beyond that.
void tac_ccd_round_turn_plane(tac_ccd_round_block *block, int lane, tac_dvec3 gap, double distance);

// The closest approach of the segment a b and a triangle.
typedef struct tac_ccd_round_closest {
	double distance;
	tac_dvec3 core, on;
} tac_ccd_round_closest;

tac_ccd_round_closest tac_ccd_round_closest_to(tac_dvec3 a, tac_dvec3 b, const tac_dvec3 triangle[3]);

#ifdef __cplusplus
}
#endif

#endif
