// Tool of a contact: its distance from a point, and where the point is pushed to.
#ifndef TAC_TISSUE_CONTACT_TOOL_H
#define TAC_TISSUE_CONTACT_TOOL_H

#include "tissue/contact.h"

#ifdef __cplusplus
extern "C" {
#endif

// Less than this part of a point's surroundings covered: no contact.
#define TAC_TOOL_LEAST_COVER 1e-3

typedef struct tac_tool_gap {
	double gap_m;     // negative inside
	tac_dvec3 normal; // unit, from the tool to the point
	tac_dvec3 foot_m; // on the tool: gap = normal . (point - foot)
	// How the gap bends around the point: by bend_per_m across the normal, but not along `straight`, the
	// axis of a capsule; zero: none.
	double bend_per_m;
	tac_dvec3 straight;
	double cover; // the part of the point's surroundings that the tool covers, 0 … 1
	// The mean gap of the point's surroundings when their first part touches, m; 0 for a node.
	double early_m;
} tac_tool_gap;

// How far a point's surroundings reach: a disc with this radius, which carries its load.
typedef struct tac_tool_disc {
	double radius_m;
	int32_t level; // of the point
} tac_tool_disc;

// The gap of a point, all in the tool's frame. `into` is the unit direction into the tissue at rest. A point
// that the tool has passed is pushed along it. Where an edge of the tool crosses the point's disc, the gap is
// that of the covered part.
// Thread: RT.
tac_tool_gap tac_tool_gap_of(const tac_tissue_tool *tool, tac_dvec3 point_m, tac_dvec3 into,
			     tac_tool_disc disc);

// A lower bound of the distance from a point to the tool, in the tool's frame.
// Thread: RT.
double tac_tool_distance_m(const tac_tissue_tool *tool, tac_dvec3 point_m);

// How far the tool may go in one tick without a point passing its middle.
// Thread: any.
double tac_tool_stride_m(const tac_tissue_tool *tool);

// The deepest that the tool may press, m.
// Thread: any.
double tac_tool_depth_m(const tac_tissue_tool *tool);

// The tool's furthest point in a direction (unit), in the tool's frame; of a field that of a ball around it.
// Thread: RT.
tac_dvec3 tac_tool_support_m(const tac_tissue_tool *tool, tac_dvec3 direction);

// The largest distance of the tool's points from its origin.
// Thread: any.
double tac_tool_radius_m(const tac_tissue_tool *tool);

// The corners of a box, aligned with the body's axes, that contains the tool at a pose.
// Thread: RT.
void tac_tool_box(const tac_tissue_tool *tool, tac_dpose T_body_tool, tac_dvec3 *out_min, tac_dvec3 *out_max);

#ifdef __cplusplus
}
#endif

#endif
