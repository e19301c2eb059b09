// Track: the path that a needle has cut, in the frame of its body. A polyline from the skin to the cut front;
// lengths along it are those of tac_axial.
#ifndef TAC_TISSUE_NEEDLE_TRACK_H
#define TAC_TISSUE_NEEDLE_TRACK_H

#include "tissue/needle/axial.h"
#include "tissue/needle/lateral.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_track {
	int32_t body; // -1: unused
	int32_t opened;
	double front; // length
	uint64_t age; // number of its beginning
	int32_t count;
	tac_dvec3 points[TAC_NEEDLE_POINTS]; // the last one is the front
	double s[TAC_NEEDLE_POINTS];         // their lengths
	tac_dvec3 tangent;                   // at the front
	double membranes[TAC_NEEDLE_LAYERS];
} tac_track;

// Depth of a point below the skin.
// Thread: RT.
static inline double tac_track_depth(const tac_needle_body *body, tac_dvec3 p)
{
	return tac_dvec3_dot(body->normal, tac_dvec3_sub(body->top_m, p));
}

// Begins a track at `entry` along `tangent`, cut as far as `front`.
// Thread: RT.
void tac_track_begin(tac_track *t, const tac_needle_body *body, tac_dvec3 entry, tac_dvec3 tangent,
		     double front, int32_t opened);

// Sets where the membranes that are still closed lie on the way of the front.
// Thread: RT.
void tac_track_expect(tac_track *t, const tac_needle_body *body);

// How far p lies beside the track; beyond its ends, beside its tangents.
// Thread: RT.
double tac_track_offset(const tac_track *t, tac_dvec3 p);

// How a front grows: a symmetric tip of a rigid needle cuts towards a point ahead of it, a bevel turns.
typedef struct tac_track_growth {
	tac_dvec3 towards_m; // the point that a rigid needle heads for
	bool rigid;
	tac_dvec3 bevel; // unit, towards which the track turns
	double curvature_per_m;
} tac_track_growth;

// Moves the front to the length `front`.
// Thread: RT.
void tac_track_grow(tac_track *t, const tac_track_growth *growth, double front, double spacing_m);

// Forgets the track beyond the length `s`; the front continues along `tangent`.
// Thread: RT.
void tac_track_cut_short(tac_track *t, double s, int32_t opened, tac_dvec3 tangent);

// The most parts of a track: each membrane splits one.
#define TAC_TRACK_PARTS (TAC_NEEDLE_POINTS + TAC_NEEDLE_LAYERS)

// The point at the length `s`, on the track.
// Thread: RT.
tac_dvec3 tac_track_point(const tac_track *t, double s);

// The direction at the length `s`.
// Thread: RT.
tac_dvec3 tac_track_direction(const tac_track *t, double s);

// How the parts see the undisplaced needle: its tip, a direction along it and two across, and how far its
// shaft leans from that direction for each metre behind the tip.
typedef struct tac_track_view {
	tac_dvec3 tip, along, across[2];
	double lean[2];
} tac_track_view;

// The parts of the track up to the length `reach`, beside the needle. Returns their number.
// Thread: RT.
int32_t tac_track_parts(const tac_track *t, const tac_needle_body *body, double reach,
			const tac_track_view *view, tac_lateral_part out[TAC_TRACK_PARTS]);

#ifdef __cplusplus
}
#endif

#endif
