// Distance: all pairs of triangles within a distance, and the nearest points of two shapes, for engines that
// compute distances (in this library: wide). Both queries have budgets and can be resumed like those of
// collision/collider.h. Distances of triangles are computed in double precision from vertices against faces
// and edges against edges (C. Ericson, Real-Time Collision Detection, 2005, chapter 5).
#ifndef TAC_COLLISION_DISTANCE_H
#define TAC_COLLISION_DISTANCE_H

#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_nearest {
	double distance;                         // m; INFINITY if one mesh is empty
	double lower_bound;                      // proved; equal to the distance unless the budget was spent
	tac_dvec3 fixed_point, moving_point;     // in the frame of the fixed shape
	int32_t fixed_triangle, moving_triangle; // -1: none found yet
} tac_nearest;

// In both queries a motion that is not finite answers unknown.

// Finds all pairs of triangles whose distance is at most `distance` (m, > 0) and leaves them in the context.
// Conservative: no nearer pair is missing, but a pair that is farther by rounding alone (1e-12 of the
// coordinates) may be included. Answers hit if there is a pair. Both shapes belong to one engine with
// TAC_COLLIDER_WITHIN (asserted). tac_collider_resume continues after a spent budget. Thread: RT.
tac_overlap tac_distance_within(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
				const tac_rigid *motion, float distance, tac_budget budget);

// The nearest points of two shapes of one engine with a `nearest` function (asserted), if they are nearer
// than `limit` (m; INFINITY: no limit). Otherwise out_nearest->distance is the limit and its triangles are
// -1. Hit: the shapes touch; none: they are apart; unknown: the budget was spent (context->pending), and
// out_nearest holds the best pair found and the lower bound proved. Thread: RT.
tac_overlap tac_distance_nearest(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
				 const tac_rigid *motion, double limit, tac_budget budget,
				 tac_nearest *out_nearest);

// Continues tac_distance_nearest after a spent budget; `nearest` is what the last call left.
// Thread: RT.
tac_overlap tac_distance_nearest_resume(tac_context *context, tac_budget budget, tac_nearest *nearest);

#ifdef __cplusplus
}
#endif

#endif
