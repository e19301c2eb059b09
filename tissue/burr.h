// Burr: the exact shape of a tool that meets a drilled body (tissue/field.h): a ball, a capsule, or a
// cylinder with flat ends. All three are convex, so along a translation the signed distance of a point is a
// convex function of the way.
#ifndef TAC_TISSUE_BURR_H
#define TAC_TISSUE_BURR_H

#include "base/algebra.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_burr_kind {
	TAC_BURR_ROUND, // the points within `radius` of the segment from a to b: a capsule, a ball if a = b
	TAC_BURR_CYLINDER, // the cylinder about that segment, which has a length; it ends at a and b
} tac_burr_kind;

// In the tool's frame, metres.
typedef struct tac_burr {
	tac_burr_kind kind;
	tac_dvec3 a, b;
	double radius;
} tac_burr;

// The distance of `point` from the burr's surface, m, negative inside. *out_normal is its gradient, a unit
// vector from the burr to the point. Where the gradient is not unique it is one of the possible ones. Point
// and burr are in the same frame.
// Thread: RT.
double tac_burr_distance(const tac_burr *burr, tac_dvec3 point, tac_dvec3 *out_normal);

// The least distance of a point of the segment from `p` to `q` from the burr's surface, m, negative inside:
// to 1e-9 of the segment's length. Thread: RT.
double tac_burr_segment_distance(const tac_burr *burr, tac_dvec3 p, tac_dvec3 q);

// The burr at a pose of the tool.
// Thread: RT.
tac_burr tac_burr_place(const tac_burr *burr, tac_dpose T_object_tool);

// The largest distance of the burr's points from the tool's origin, m.
// Thread: any.
double tac_burr_reach(const tac_burr *burr);

#ifdef __cplusplus
}
#endif

#endif
