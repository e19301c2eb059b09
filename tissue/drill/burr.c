#include "tissue/burr.h"

#include <math.h>

// The unit vector along `v`, or `other` where `v` has no length.
static tac_dvec3 direction(tac_dvec3 v, double length, tac_dvec3 other)
{
	return length > 0 ? tac_dvec3_scale(v, 1 / length) : other;
}

static double round_distance(const tac_burr *burr, tac_dvec3 point, tac_dvec3 *out_normal)
{
	const tac_dvec3 core = tac_dvec3_sub(burr->b, burr->a), to = tac_dvec3_sub(point, burr->a);
	const double squared = tac_dvec3_dot(core, core);
	const double t = squared > 0 ? fmin(fmax(tac_dvec3_dot(to, core) / squared, 0), 1) : 0;
	const tac_dvec3 from_core = tac_dvec3_add_scaled(to, -t, core);
	const double length = tac_dvec3_length(from_core);
	*out_normal = direction(from_core, length, tac_dvec3_perpendicular(core));
	return length - burr->radius;
}

static double cylinder_distance(const tac_burr *burr, tac_dvec3 point, tac_dvec3 *out_normal)
{
	const tac_dvec3 core = tac_dvec3_sub(burr->b, burr->a), to = tac_dvec3_sub(point, burr->a);
	const double length = tac_dvec3_length(core);
	const tac_dvec3 axis = tac_dvec3_scale(core, 1 / length);
	const double along = tac_dvec3_dot(to, axis);
	const tac_dvec3 radial = tac_dvec3_add_scaled(to, -along, axis);
	const double from_axis = tac_dvec3_length(radial);
	const tac_dvec3 outwards = direction(radial, from_axis, tac_dvec3_perpendicular(axis));
	// Beyond the side, and beyond the nearer end.
	const bool upper = along > 0.5 * length;
	const double side = from_axis - burr->radius, end = upper ? along - length : -along;
	const tac_dvec3 end_normal = upper ? axis : tac_dvec3_scale(axis, -1);
	if (side > 0 && end > 0) { // the edge is nearest
		const double distance = sqrt(side * side + end * end);
		*out_normal = tac_dvec3_add(tac_dvec3_scale(outwards, side / distance),
					    tac_dvec3_scale(end_normal, end / distance));
		return distance;
	}
	*out_normal = side > end ? outwards : end_normal;
	return fmax(side, end);
}

double tac_burr_distance(const tac_burr *burr, tac_dvec3 point, tac_dvec3 *out_normal)
{
	return burr->kind == TAC_BURR_CYLINDER ? cylinder_distance(burr, point, out_normal)
					       : round_distance(burr, point, out_normal);
}

double tac_burr_segment_distance(const tac_burr *burr, tac_dvec3 p, tac_dvec3 q)
{
	// The distance is a convex function along the segment. Golden section: each step leaves 0.618 of it.
	const double part = 0.6180339887498949;
	tac_dvec3 normal;
	double low = 0, high = 1, s = 1 - part, t = part;
	double at_s = tac_burr_distance(burr, tac_dvec3_lerp(p, q, s), &normal);
	double at_t = tac_burr_distance(burr, tac_dvec3_lerp(p, q, t), &normal);
	double least = fmin(tac_burr_distance(burr, p, &normal), tac_burr_distance(burr, q, &normal));
	for (int i = 0; i < 44; i++) {
		least = fmin(least, fmin(at_s, at_t));
		if (at_s < at_t) {
			high = t;
			t = s;
			at_t = at_s;
			s = high - part * (high - low);
			at_s = tac_burr_distance(burr, tac_dvec3_lerp(p, q, s), &normal);
		} else {
			low = s;
			s = t;
			at_s = at_t;
			t = low + part * (high - low);
			at_t = tac_burr_distance(burr, tac_dvec3_lerp(p, q, t), &normal);
		}
	}
	return least;
}

tac_burr tac_burr_place(const tac_burr *burr, tac_dpose T_object_tool)
{
	return (tac_burr){burr->kind, tac_dpose_apply_point(T_object_tool, burr->a),
			  tac_dpose_apply_point(T_object_tool, burr->b), burr->radius};
}

double tac_burr_reach(const tac_burr *burr)
{
	const double ends = fmax(tac_dvec3_length(burr->a), tac_dvec3_length(burr->b));
	return burr->kind == TAC_BURR_CYLINDER ? sqrt(ends * ends + burr->radius * burr->radius)
					       : ends + burr->radius;
}
