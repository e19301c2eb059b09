#include "tissue/contact/tool.h"

#include <math.h>

// A point whose direction from the tool is less than this along `into` lies behind the tool: it is no
// contact. A loaded point comes here only where tissue would close over the tool.
#define BEHIND (-0.3)
// A point deeper than this part of the radius that is not along `into` has been passed.
#define PASSED_DEPTH 0.5
// A field knows distances up to two voxels: beyond this many its gradient means nothing.
#define KNOWN_VOXELS 1.8
// Steps of a voxel from a point inside a field to its surface, and halvings of the last one.
#define MARCH  256
#define HALVES 20
// The edge of a tool is looked for this many radii of a point's disc above the point.
#define EDGE_ABOVE 1.5
// The pressure has a pole at a sharp edge, which the discs cut off or spread beyond it. Either is the force
// of a tool whose edge is this many spacings further in or out, whatever the tool's size: squares side by
// side of the nodes cut it off, the wider spreads of coarser levels, which overlap, reach beyond it. The
// constants are those with which the mean error of a flat punch vanishes.
#define EDGE_SHIFT_NODES  0.098
#define EDGE_SHIFT_SPREAD (-0.145)
// Less than this part covered: no contact.
#define LEAST_COVER 1e-3
#define PI          3.14159265358979323846

// The closest point of the core, and where on it, 0 … 1.
static tac_dvec3 core_point(const tac_tissue_tool *t, tac_dvec3 p, double *out_along)
{
	const tac_dvec3 way = tac_dvec3_sub(t->b, t->a);
	const double length2 = tac_dvec3_length_squared(way);
	const double s = length2 > 0 ? tac_dvec3_dot(tac_dvec3_sub(p, t->a), way) / length2 : 0;
	*out_along = fmin(fmax(s, 0), 1);
	return tac_dvec3_add_scaled(t->a, *out_along, way);
}

static tac_tool_gap round_gap(const tac_tissue_tool *t, tac_dvec3 p, tac_dvec3 into)
{
	double s;
	const tac_dvec3 core = core_point(t, p, &s), from = tac_dvec3_sub(p, core);
	const double length = tac_dvec3_length(from);
	tac_tool_gap g = {.cover = 1};
	const double along = tac_dvec3_dot(from, into);
	if (length > PASSED_DEPTH * t->radius_m || along > 0) {
		g.normal = tac_dvec3_scale(from, 1 / length);
		g.foot_m = tac_dvec3_add_scaled(core, t->radius_m, g.normal);
		g.gap_m = along > BEHIND * length ? length - t->radius_m : HUGE_VAL;
		g.bend_per_m = 1 / length;
		if (s > 0 && s < 1)
			g.straight = tac_dvec3_normalize(tac_dvec3_sub(t->b, t->a));
		return g;
	}
	g.normal = into;
	g.foot_m = tac_tool_support_m(t, into);
	g.gap_m = tac_dvec3_dot(into, tac_dvec3_sub(p, g.foot_m));
	return g;
}

static tac_dvec3 gradient(const tac_field *field, tac_dvec3 p, double h)
{
	return tac_dvec3_make(tac_field_sample(field, tac_dvec3_make(p.x + h, p.y, p.z)) -
				      tac_field_sample(field, tac_dvec3_make(p.x - h, p.y, p.z)),
			      tac_field_sample(field, tac_dvec3_make(p.x, p.y + h, p.z)) -
				      tac_field_sample(field, tac_dvec3_make(p.x, p.y - h, p.z)),
			      tac_field_sample(field, tac_dvec3_make(p.x, p.y, p.z + h)) -
				      tac_field_sample(field, tac_dvec3_make(p.x, p.y, p.z - h)));
}

// From a point inside a field along `into` to the surface.
static tac_dvec3 leave(const tac_field *field, tac_dvec3 p, tac_dvec3 into, double voxel)
{
	tac_dvec3 out = p;
	double here = tac_field_sample(field, p), step = voxel;
	for (int k = 0; k < MARCH && here < 0; k++) {
		step = fmax(voxel, -here);
		out = tac_dvec3_add_scaled(out, step, into);
		here = tac_field_sample(field, out);
	}
	for (int k = 0; k < HALVES; k++) {
		step *= 0.5;
		out = tac_dvec3_add_scaled(out, here > 0 ? -step : step, into);
		here = tac_field_sample(field, out);
	}
	return out;
}

static tac_tool_gap field_gap(const tac_tissue_tool *t, tac_dvec3 p, tac_dvec3 into)
{
	const double voxel = tac_field_size_of(t->field).voxel_m;
	const double d = tac_field_sample(t->field, p);
	const tac_dvec3 slope = gradient(t->field, p, 0.5 * voxel);
	const double length = tac_dvec3_length(slope);
	tac_tool_gap g = {.gap_m = d, .normal = into, .foot_m = p, .cover = 1};
	if (d >= KNOWN_VOXELS * voxel) {
		g.foot_m = tac_dvec3_add_scaled(p, -d, into);
	} else if (d > -KNOWN_VOXELS * voxel && length > 0 && tac_dvec3_dot(slope, into) > BEHIND * length) {
		g.normal = tac_dvec3_scale(slope, 1 / length);
		g.foot_m = tac_dvec3_add_scaled(p, -d, g.normal);
	} else if (d > 0) { // beside the tool, or behind it
		g.gap_m = HUGE_VAL;
	} else {
		g.foot_m = leave(t->field, p, into, voxel);
		g.gap_m = tac_dvec3_dot(into, tac_dvec3_sub(p, g.foot_m));
	}
	return g;
}

// The part of a disc that a straight edge leaves, with its middle `inside_m` inside of the edge.
static double covered(double inside_m, double radius_m)
{
	const double x = fmin(fmax(inside_m / radius_m, -1), 1);
	return 1 - (acos(x) - x * sqrt(1 - x * x)) / PI;
}

// A point near an edge: only the part of its disc that the tool covers is pressed, to where the tool is
// beside the edge.
static tac_tool_gap edge_gap(const tac_tissue_tool *t, tac_dvec3 p, tac_dvec3 into, tac_tool_disc disc)
{
	const tac_field *edge = t->edge[disc.level];
	const tac_dvec3 above = tac_dvec3_scale(into, -EDGE_ABOVE * disc.radius_m);
	const tac_dvec3 q = tac_dvec3_add(p, above);
	const double inside = -tac_field_sample(edge, q);
	const double shift = (disc.level == 0 ? EDGE_SHIFT_NODES : EDGE_SHIFT_SPREAD) * sqrt(PI);
	const double cover = covered(inside + shift * disc.radius_m, disc.radius_m);
	if (!(cover < 1))
		return field_gap(t, p, into);
	tac_tool_gap g = {.gap_m = HUGE_VAL, .normal = into, .foot_m = p, .cover = 0};
	const double voxel = tac_field_size_of(t->field).voxel_m;
	tac_dvec3 side = gradient(edge, q, 0.5 * tac_field_size_of(edge).voxel_m);
	side = tac_dvec3_add_scaled(side, -tac_dvec3_dot(side, into), into);
	const double length = tac_dvec3_length(side);
	if (cover < LEAST_COVER || !(length > 0))
		return g;
	// The tool's face next to the edge.
	const double back = inside < KNOWN_VOXELS * voxel ? KNOWN_VOXELS * voxel - inside : 0;
	const tac_dvec3 under = tac_dvec3_add_scaled(p, -back / length, side);
	const tac_dvec3 top = tac_dvec3_add(under, above);
	if (!(tac_field_sample(t->field, top) < 0))
		return g;
	g.gap_m = tac_dvec3_dot(into, tac_dvec3_sub(under, leave(t->field, top, into, voxel)));
	g.foot_m = tac_dvec3_add_scaled(p, -g.gap_m, into);
	g.cover = cover;
	return g;
}

tac_tool_gap tac_tool_gap_of(const tac_tissue_tool *tool, tac_dvec3 point_m, tac_dvec3 into,
			     tac_tool_disc disc)
{
	if (!tool->field)
		return round_gap(tool, point_m, into);
	return tool->edge[disc.level] ? edge_gap(tool, point_m, into, disc) : field_gap(tool, point_m, into);
}

double tac_tool_distance_m(const tac_tissue_tool *tool, tac_dvec3 point_m)
{
	if (tool->field)
		return tac_dvec3_length(point_m) - tool->reach_m;
	double s;
	return tac_dvec3_length(tac_dvec3_sub(point_m, core_point(tool, point_m, &s))) - tool->radius_m;
}

double tac_tool_stride_m(const tac_tissue_tool *tool)
{
	return tool->field ? tac_field_size_of(tool->field).voxel_m : 0.5 * tool->radius_m;
}

double tac_tool_depth_m(const tac_tissue_tool *tool)
{
	return tool->field ? 0.5 * tool->reach_m : tool->radius_m;
}

tac_dvec3 tac_tool_support_m(const tac_tissue_tool *tool, tac_dvec3 direction)
{
	if (tool->field)
		return tac_dvec3_scale(direction, tool->reach_m);
	const tac_dvec3 way = tac_dvec3_sub(tool->b, tool->a);
	return tac_dvec3_add_scaled(tac_dvec3_dot(way, direction) > 0 ? tool->b : tool->a, tool->radius_m,
				    direction);
}

double tac_tool_radius_m(const tac_tissue_tool *tool)
{
	if (tool->field)
		return tool->reach_m;
	return fmax(tac_dvec3_length(tool->a), tac_dvec3_length(tool->b)) + tool->radius_m;
}

void tac_tool_box(const tac_tissue_tool *tool, tac_dpose T_body_tool, tac_dvec3 *out_min, tac_dvec3 *out_max)
{
	const bool round = !tool->field;
	const tac_dvec3 a = round ? tac_dpose_apply_point(T_body_tool, tool->a) : T_body_tool.position;
	const tac_dvec3 b = round ? tac_dpose_apply_point(T_body_tool, tool->b) : T_body_tool.position;
	const tac_dvec3 r = tac_dvec3_splat(round ? tool->radius_m : tool->reach_m);
	*out_min = tac_dvec3_sub(tac_dvec3_min(a, b), r);
	*out_max = tac_dvec3_add(tac_dvec3_max(a, b), r);
}
