// Distance queries of the engine wide (collision/engines/bvh8_tree.h), and the distance of two triangles.
#ifndef TAC_COLLISION_ENGINES_BVH8_DISTANCE_H
#define TAC_COLLISION_ENGINES_BVH8_DISTANCE_H

#include "collision/distance.h"
#include "collision/geometry/tritri.h"

#ifdef __cplusplus
extern "C" {
#endif

// The distance of two triangles, m, and their nearest points. It is 0 exactly if they have a common point:
// tac_tritri_closed decides that without rounding error.
//
// tac_closest_of_triangles (collision/closest.h) serves continuous collision instead: it also names the
// closest features, prefers a vertex to an edge that is as near, and decides intersection in double
// precision. The two round differently: for a million random pairs of triangles of size 1, 28 % of the
// distances differ, by at most 1.3e-15. Neither can replace the other without changing recorded results. This
// one takes 0.3 to 0.6 us, the other 0.4 to 0.7 us.
// Thread: RT.
double tac_distance_triangles(const tac_tri64 *a, const tac_tri64 *b, tac_dvec3 *out_a, tac_dvec3 *out_b);

// For the kernels of wide: whether two triangles of the query are within tac_context::within_m.
// Thread: RT.
bool tac_distance_triangles_within(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle);

// The engine's tac_collider::nearest. Thread: RT.
tac_overlap tac_bvh8_nearest(const tac_collider *self, tac_context *context, tac_nearest *nearest,
			     bool resume);

#ifdef __cplusplus
}
#endif

#endif
