// Round tools: a sphere or a capsule translated against the triangles of a body, in closed form. Both are the
// points within a radius of a segment (a point, for the sphere), so the first contact is where the distance
// of that segment falls to the radius: over a face, beside an edge, at a vertex, or between two crossing
// edges. The distance of two convex sets is a convex function of a translation, hence what does not come
// closer at the start never does.
#ifndef TAC_COLLISION_CCD_ROUND_H
#define TAC_COLLISION_CCD_ROUND_H

#include "collision/ccd.h"

#ifdef __cplusplus
extern "C" {
#endif

// The points within `radius` (m, > 0) of the segment from a to b, in the fixed frame. a = b: a sphere.
typedef struct tac_ccd_round {
	tac_dvec3 a, b;
	double radius;
} tac_ccd_round;

// The safe fraction of the translation `v`: the tool stops `options->zone` before it touches. Result and
// flags are those of tac_ccd_translate; the moving feature is -1, the fixed one a triangle, the point lies on
// the tool. Budget: the pair limit counts triangles; when it is spent the fraction is 0. Thread: RT.
tac_ccd_result tac_ccd_round_translate(const tac_ccd_round *tool, const tac_ccd_body *fixed, tac_dvec3 v,
				       const tac_ccd_options *options);

#ifdef __cplusplus
}
#endif

#endif
