#include "tissue/contact/tool.h"

#include <math.h>

// A point whose direction from the tool is less than this along `into` lies behind the tool: it is no
// contact. A loaded point comes here only where tissue would close over the tool.
#define BEHIND (-0.3)
// A point deeper than this part of the radius that is not along `into` has been passed.
#define PASSED_DEPTH 0.5
// A field knows distances up to two voxels: beyond this many its gradient means nothing.
#define KNOWN_VOXELS 1.8
// Steps of a voxel from a point inside a field to its surface.
#define MARCH 256

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
	tac_tool_gap g = {.straight = {0, 0, 0}};
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

static tac_tool_gap field_gap(const tac_tissue_tool *t, tac_dvec3 p, tac_dvec3 into)
{
	const double voxel = tac_field_size_of(t->field).voxel_m;
	const double d = tac_field_sample(t->field, p);
	const tac_dvec3 slope = gradient(t->field, p, 0.5 * voxel);
	const double length = tac_dvec3_length(slope);
	if (d >= KNOWN_VOXELS * voxel)
		return (tac_tool_gap){
			.gap_m = d, .normal = into, .foot_m = tac_dvec3_add_scaled(p, -d, into)};
	if (d > -KNOWN_VOXELS * voxel && length > 0 && tac_dvec3_dot(slope, into) > BEHIND * length) {
		const tac_dvec3 n = tac_dvec3_scale(slope, 1 / length);
		return (tac_tool_gap){.gap_m = d, .normal = n, .foot_m = tac_dvec3_add_scaled(p, -d, n)};
	}
	if (d > 0) // beside the tool, or behind it
		return (tac_tool_gap){.gap_m = HUGE_VAL, .normal = into, .foot_m = p};
	// Out of the tool along `into`, then back to where the distance is zero.
	tac_dvec3 out = p;
	double here = d, step = voxel;
	for (int k = 0; k < MARCH && here < 0; k++) {
		step = fmax(voxel, -here);
		out = tac_dvec3_add_scaled(out, step, into);
		here = tac_field_sample(t->field, out);
	}
	for (int k = 0; k < 40; k++) {
		step *= 0.5;
		out = tac_dvec3_add_scaled(out, here > 0 ? -step : step, into);
		here = tac_field_sample(t->field, out);
	}
	return (tac_tool_gap){
		.gap_m = tac_dvec3_dot(into, tac_dvec3_sub(p, out)), .normal = into, .foot_m = out};
}

tac_tool_gap tac_tool_gap_of(const tac_tissue_tool *tool, tac_dvec3 point_m, tac_dvec3 into)
{
	return tool->field ? field_gap(tool, point_m, into) : round_gap(tool, point_m, into);
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
