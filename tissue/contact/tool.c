#include "tissue/contact/tool.h"

#include <math.h>

// A point whose direction from the tool is less than this along `into` lies behind the tool: it is no
// contact. A loaded point comes here only where tissue would close over the tool.
#define BEHIND (-0.3)
// A point deeper than this part of the radius that is not along `into` has been passed.
#define PASSED_DEPTH 0.5
// A field knows distances up to two voxels: beyond this many its gradient means nothing.
#define KNOWN_VOXELS 1.8
// Steps to the surface of a field, of two voxels at most, and how close to it they end.
#define TRACE        64
#define CLOSE_VOXELS 1e-4
// The edge of a tool is looked for this many radii of a point's disc above the point, or in the middle of a
// flat tool.
#define EDGE_ABOVE 1.5
// The pressure has a pole at a sharp edge, which the discs cut off or spread beyond it. Either is the force
// of a tool whose edge is this many radii of a disc further in or out, whatever the tool's size: squares side
// by side of the nodes cut it off, the wider spreads of coarser levels, which overlap, reach beyond it. With
// these constants the mean error of a flat punch on a half-space vanishes on each level.
static const double edge_shift[TAC_COMPLIANCE_LEVELS] = {0.160, -0.280, -0.261};
// It is looked for in this many directions, so many radii away: further away the disc is covered.
#define EDGE_DIRECTIONS 8
#define EDGE_NEAR       1.3
// A direction towards an edge is one if it is at least so much along the edge's normal.
#define LEAST_FACING 0.1
#define PI           3.14159265358979323846

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
	tac_tool_gap g = {.bend_per_m = 1 / t->radius_m, .cover = 1}; // as in contact
	const double along = tac_dvec3_dot(from, into);
	if (length > PASSED_DEPTH * t->radius_m || along > 0) {
		g.normal = tac_dvec3_scale(from, 1 / length);
		g.foot_m = tac_dvec3_add_scaled(core, t->radius_m, g.normal);
		g.gap_m = along > BEHIND * length ? length - t->radius_m : HUGE_VAL;
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

// How far the surface of a field is from a point along a direction (unit), from a first guess on: each step
// goes by the distance there, so that a face across the direction is met at once and a slanted one after some
// steps.
static double trace(const tac_field *field, tac_dvec3 from, tac_dvec3 along, double guess_m)
{
	const double close = CLOSE_VOXELS * tac_field_size_of(field).voxel_m;
	double way = guess_m;
	for (int k = 0; k < TRACE; k++) {
		const double d = tac_field_sample(field, tac_dvec3_add_scaled(from, way, along));
		way -= d;
		if (fabs(d) < close)
			break;
	}
	return way;
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
		g.gap_m = -trace(t->field, p, into, 0);
		g.foot_m = tac_dvec3_add_scaled(p, -g.gap_m, into);
	}
	return g;
}

// The part of a disc that a straight edge leaves, with its middle so many radii inside of the edge.
static double covered(double inside)
{
	const double x = fmin(fmax(inside, -1), 1);
	return 1 - (acos(x) - x * sqrt(1 - x * x)) / PI;
}

// The directions along a surface.
typedef struct compass {
	tac_dvec3 toward[EDGE_DIRECTIONS]; // unit
} compass;

static compass compass_about(tac_dvec3 normal)
{
	const tac_dvec3 least = fabs(normal.x) < 0.6 ? tac_dvec3_make(1, 0, 0) : tac_dvec3_make(0, 1, 0);
	const tac_dvec3 x = tac_dvec3_normalize(tac_dvec3_cross(normal, least)),
			y = tac_dvec3_cross(normal, x);
	const tac_dvec3 half = tac_dvec3_scale(x, sqrt(0.5));
	const tac_dvec3 u = tac_dvec3_add_scaled(half, sqrt(0.5), y),
			v = tac_dvec3_add_scaled(half, -sqrt(0.5), y);
	return (compass){
		{x, u, y, tac_dvec3_neg(v), tac_dvec3_neg(x), tac_dvec3_neg(u), tac_dvec3_neg(y), v}};
}

// How far inside of the tool's edge a point is that has the edge somewhere along a direction. Along the
// edge's own normal, so that a straight edge may lie aslant.
static double inside_of_edge(const tac_field *field, tac_dvec3 q, tac_dvec3 along, tac_dvec3 into,
			     double guess_m)
{
	const double way = trace(field, q, along, guess_m);
	const tac_dvec3 at = tac_dvec3_add_scaled(q, way, along);
	tac_dvec3 side = gradient(field, at, 0.5 * tac_field_size_of(field).voxel_m);
	side = tac_dvec3_add_scaled(side, -tac_dvec3_dot(side, into), into);
	const double length = tac_dvec3_length(side), facing = tac_dvec3_dot(side, along);
	return facing > LEAST_FACING * length ? way * facing / length : way;
}

// Where an edge is within `reach_m` of a point in the tool's material or beside it: the unit direction
// towards the outside. False: there is none; the tool is on all sides, or on none.
static bool find_edge(const tac_field *field, tac_dvec3 q, tac_dvec3 into, double reach_m,
		      tac_dvec3 *out_side)
{
	const compass c = compass_about(into);
	tac_dvec3 sum = tac_dvec3_zero();
	double least = HUGE_VAL, most = -HUGE_VAL;
	int outmost = 0;
	for (int k = 0; k < EDGE_DIRECTIONS; k++) {
		const double d = tac_field_sample(field, tac_dvec3_add_scaled(q, reach_m, c.toward[k]));
		sum = tac_dvec3_add_scaled(sum, d, c.toward[k]);
		outmost = d > most ? k : outmost;
		least = fmin(least, d);
		most = fmax(most, d);
	}
	const double length = tac_dvec3_length(sum);
	*out_side =
		length > LEAST_FACING * (most - least) ? tac_dvec3_scale(sum, 1 / length) : c.toward[outmost];
	return most > 0 && (least < 0 || tac_field_sample(field, q) < 0);
}

// A point near an edge: only the part of its disc that the tool covers is pressed, to where the tool is
// beside the edge.
static tac_tool_gap edge_gap(const tac_tissue_tool *t, tac_dvec3 p, tac_dvec3 into, tac_tool_disc disc)
{
	const double voxel = tac_field_size_of(t->field).voxel_m, r = disc.radius_m, reach = EDGE_NEAR * r;
	const double above = fmin(EDGE_ABOVE * r, t->half_m), shift = edge_shift[disc.level];
	const tac_dvec3 q = tac_dvec3_add_scaled(p, -above, into);
	tac_dvec3 side;
	if (!find_edge(t->field, q, into, reach, &side))
		return field_gap(t, p, into);
	const double inside = inside_of_edge(t->field, q, side, into, 0);
	double cover = covered(inside / r + shift);
	// A narrow tool has a second edge.
	if (tac_field_sample(t->field, tac_dvec3_add_scaled(q, -reach, side)) > 0 && inside > 0)
		cover += covered(inside_of_edge(t->field, q, tac_dvec3_neg(side), into, 0) / r + shift) - 1;
	tac_tool_gap g = {.gap_m = HUGE_VAL, .normal = into, .foot_m = p, .cover = 0};
	if (cover < TAC_TOOL_LEAST_COVER)
		return g;
	// The tool's face next to the edge.
	const tac_dvec3 top = tac_dvec3_add_scaled(q, fmin(inside - KNOWN_VOXELS * voxel, 0), side);
	if (!(tac_field_sample(t->field, top) < 0))
		return g;
	g.gap_m = above - trace(t->field, top, into, 0);
	g.foot_m = tac_dvec3_add_scaled(p, -g.gap_m, into);
	g.cover = cover;
	return g;
}

tac_tool_gap tac_tool_gap_of(const tac_tissue_tool *tool, tac_dvec3 point_m, tac_dvec3 into,
			     tac_tool_disc disc)
{
	if (!tool->field)
		return round_gap(tool, point_m, into);
	return tool->half_m > 0 ? edge_gap(tool, point_m, into, disc) : field_gap(tool, point_m, into);
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
