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

// Called with a position in the body's triangle array. False ends the descent.
typedef bool (*tac_ccd_round_visit)(void *user, int32_t triangle);

// Visits all triangles of the body that come within `around`, and some others, in the order of the tree. The
// visitor may make `around` smaller meanwhile. True when the visitor has not ended it.
typedef bool tac_ccd_round_descend_fn(const tac_ccd_body *body, const tac_ccd_round *around,
				      tac_ccd_round_visit visit, void *user);

TAC_SIMD_DECLARE(tac_ccd_round_descend_fn, tac_ccd_round_descend_kernel);

// With the variant that the body was built for.
tac_ccd_round_descend_fn tac_ccd_round_descend;

// Sets list->clears[i] to a lower bound of the distance of the listed triangle i from the segment a b on all
// its way by v. Every variant gives the same bits.
typedef void tac_ccd_round_measure_fn(tac_ccd_round_context *list, tac_dvec3 a, tac_dvec3 b, tac_dvec3 v);

TAC_SIMD_DECLARE(tac_ccd_round_measure_fn, tac_ccd_round_measure_kernel);

// Makes sure that the context lists all triangles of the body within `around`, in the order of the tree.
// False: they are more than fit.
bool tac_ccd_round_list(tac_ccd_round_context *context, const tac_ccd_body *body,
			const tac_ccd_round *around);

// The measure above, with the variant of the list's body.
tac_ccd_round_measure_fn tac_ccd_round_measure;

#ifdef __cplusplus
}
#endif

#endif
