// Distance: the queries that the haptics need beside contact, over the trees of collision/wide: all pairs of
// triangles within a distance, and the nearest points of two shapes. Both are budgeted and resumable like the
// queries of collision/collider.h. Distances of triangles are evaluated in double: vertices against faces and
// edges against edges (C. Ericson, Real-Time Collision Detection, 2005, chapter 5).
#ifndef TAC_COLLISION_DISTANCE_H
#define TAC_COLLISION_DISTANCE_H

#include "collision/collider.h"
#include "collision/tritri.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_nearest {
	double distance;                         // m; INFINITY if one mesh is empty
	double lower_bound;                      // proved; equal to the distance unless the budget was spent
	tac_dvec3 fixed_point, moving_point;     // in the frame of the fixed shape
	int32_t fixed_triangle, moving_triangle; // -1: none found yet
} tac_nearest;

// A motion that is not finite answers unknown, in both queries.

// All pairs of triangles whose distance is at most `distance` > 0, in the context. Conservative: a pair that
// is farther by no more than rounding (1e-12 of the coordinates) may be among them, none that is nearer is
// missing. Answers hit if there is a pair. Shapes are of the engine wide. tac_collider_resume goes on after a
// spent budget. Thread: RT.
tac_contact tac_distance_within(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
				const tac_motion *motion, float distance, tac_budget budget);

// The nearest points of two shapes of the engine wide, if they are nearer than `limit` (INFINITY: in any
// case; otherwise out_nearest->distance is the limit and its triangles are -1). Hit: they touch; none: they
// are apart; unknown: the budget was spent (context->pending), and out_nearest has the best pair so far and
// what is proved. Thread: RT.
tac_contact tac_distance_nearest(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
				 const tac_motion *motion, double limit, tac_budget budget,
				 tac_nearest *out_nearest);

// Goes on with a spent tac_distance_nearest; `nearest` is what that left.
// Thread: RT.
tac_contact tac_distance_nearest_resume(tac_context *context, tac_budget budget, tac_nearest *nearest);

// The distance of two triangles and their nearest points; 0 if they meet.
// Thread: RT.
double tac_distance_triangles(const tac_tri64 *a, const tac_tri64 *b, tac_dvec3 *out_a, tac_dvec3 *out_b);

// For the kernels of wide: whether two triangles of the query are within the context's distance.
// Thread: RT.
bool tac_distance_near(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle);

#ifdef __cplusplus
}
#endif

#endif
