#include "collision/round.h"

#include "base/assert.h"
#include "collision/continuous/feature.h"
#include "collision/continuous/pairs.h"
#include "collision/continuous/round/round_list.h"

#include <math.h>

#define NEVER HUGE_VAL
// The largest coordinate, m: squares of coordinates must be finite in float.
#define SIZE_MAX_M 1e15
// How far beside a face or an edge a contact may lie and still count, relative to the coordinates.
#define ROUNDING 1e-13
// A list is made for translations up to this length, relative to the tool's size.
#define SHORT_PATH 0.25
// When a contact shortens the path to this fraction, the listed triangles are culled again.
#define CULL_AGAIN 0.7
// The largest rotation of a slice, rad.
#define SLICE_ANGLE 0.3
// How closely a rotation approaches the zone, relative to it.
#define ACCURACY 1e-7
// A step this many times longer than the remaining approach runs along the surface.
#define GRAZING 1e3

typedef struct query {
	const tac_round *tool;
	const tac_body *fixed;
	int64_t limit, count; // of triangles, nodes and blocks examined
	tac_dvec3 v;
	tac_round_path path;    // under search
	tac_dvec3 centre, axis; // of a rotation; unit axis
	double from, to;        // the slice of the rotation, rad
	double arm;             // largest distance of the segment from the axis, m
	double accuracy;        // m
	double reach;           // radius and zone, m
	double slack;           // rounding of a distance, m
	double best;            // the first contact until now: a fraction, or an angle
	const tac_body_triangle *stop;
	bool start_hit, start_zone, spent;
} query;

static void keep_closest(tac_round_closest *best, tac_dvec3 core, tac_dvec3 on)
{
	double d = tac_dvec3_length(tac_dvec3_sub(core, on));
	if (d < best->distance) {
		best->distance = d;
		best->core = core;
		best->on = on;
	}
}

tac_round_closest tac_round_closest_to(tac_dvec3 a, tac_dvec3 b, const tac_dvec3 t[3])
{
	tac_round_closest best = {HUGE_VAL, a, a};
	int region;
	keep_closest(&best, a, tac_closest_on_triangle(a, t, &region));
	if (tac_dvec3_length_squared(tac_dvec3_sub(b, a)) == 0)
		return best;
	keep_closest(&best, b, tac_closest_on_triangle(b, t, &region));
	for (int k = 0; k < 3; k++) {
		tac_dvec3 x, y;
		tac_closest_of_segments(a, b, t[k], t[(k + 1) % 3], &x, &y);
		keep_closest(&best, x, y);
	}
	// The segment may pass through the face.
	tac_dvec3 n = tac_dvec3_triangle_cross(t[0], t[1], t[2]);
	double da = tac_dvec3_dot(n, tac_dvec3_sub(a, t[0])), db = tac_dvec3_dot(n, tac_dvec3_sub(b, t[0]));
	if ((da < 0) != (db < 0)) {
		tac_dvec3 x = tac_dvec3_add_scaled(a, da / (da - db), tac_dvec3_sub(b, a));
		keep_closest(&best, x, tac_closest_on_triangle(x, t, &region));
	}
	return best;
}

// The s at which the point p + s v comes within r of the point c.
static double point_meets_point(tac_dvec3 p, tac_dvec3 v, tac_dvec3 c, double r)
{
	tac_dvec3 d = tac_dvec3_sub(p, c);
	double vv = tac_dvec3_dot(v, v), b = tac_dvec3_dot(d, v), outside = tac_dvec3_dot(d, d) - r * r,
	       discriminant = b * b - vv * outside;
	if (b >= 0 || discriminant < 0)
		return NEVER;
	// The smaller root, in the form without cancellation.
	return fmax(0, outside / (-b + sqrt(discriminant)));
}

// The same for the inside of the segment c d.
static double point_meets_segment(tac_dvec3 p, tac_dvec3 v, tac_dvec3 c, tac_dvec3 d, double r)
{
	tac_dvec3 axis = tac_dvec3_normalize(tac_dvec3_sub(d, c)), from = tac_dvec3_sub(p, c);
	double along_v = tac_dvec3_dot(v, axis), along_p = tac_dvec3_dot(from, axis),
	       length = tac_dvec3_dot(tac_dvec3_sub(d, c), axis);
	tac_dvec3 across_v = tac_dvec3_add_scaled(v, -along_v, axis),
		  across_p = tac_dvec3_add_scaled(from, -along_p, axis);
	double s = point_meets_point(across_p, across_v, tac_dvec3_zero(), r);
	double at = along_p + s * along_v;
	return s < NEVER && at >= 0 && at <= length ? s : NEVER;
}

// When a gap, of either sign, falls to the reach.
static double gap_closes(const query *q, double gap, double rate)
{
	if (gap < 0) {
		gap = -gap;
		rate = -rate;
	}
	return rate < 0 && gap >= q->reach ? (gap - q->reach) / -rate : NEVER;
}

// When a point at p comes within reach of the triangle t, over its face.
static double point_meets_face(const query *q, tac_dvec3 p, const tac_dvec3 t[3])
{
	tac_dvec3 n = tac_dvec3_triangle_normal(t[0], t[1], t[2]);
	double height = tac_dvec3_dot(n, tac_dvec3_sub(p, t[0])), rate = tac_dvec3_dot(n, q->v);
	double s = gap_closes(q, height, rate);
	if (s == NEVER)
		return NEVER;
	tac_dvec3 x = tac_dvec3_add_scaled(p, s, q->v);
	for (int k = 0; k < 3; k++) {
		tac_dvec3 edge = tac_dvec3_sub(t[(k + 1) % 3], t[k]);
		if (tac_dvec3_dot(tac_dvec3_cross(n, edge), tac_dvec3_sub(x, t[k])) <
		    -q->slack * tac_dvec3_length(edge))
			return NEVER;
	}
	return s;
}

// When the moving segment a b and the fixed one c d come within reach between their ends.
static double segments_meet(const query *q, tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d)
{
	tac_dvec3 u = tac_dvec3_sub(b, a), w = tac_dvec3_sub(d, c), n = tac_dvec3_cross(u, w);
	double nn = tac_dvec3_dot(n, n);
	if (nn <= 1e-20 * tac_dvec3_dot(u, u) * tac_dvec3_dot(w, w))
		return NEVER; // parallel: an end is as close
	double length = sqrt(nn), gap = tac_dvec3_dot(n, tac_dvec3_sub(a, c)) / length,
	       rate = tac_dvec3_dot(n, q->v) / length;
	double s = gap_closes(q, gap, rate);
	if (s == NEVER)
		return NEVER;
	tac_dvec3 r = tac_dvec3_sub(c, tac_dvec3_add_scaled(a, s, q->v));
	double on_ab = tac_dvec3_dot(tac_dvec3_cross(r, w), n) / nn,
	       on_cd = tac_dvec3_dot(tac_dvec3_cross(r, u), n) / nn;
	return on_ab >= 0 && on_ab <= 1 && on_cd >= 0 && on_cd <= 1 ? s : NEVER;
}

static double first_contact(const query *q, const tac_dvec3 t[3])
{
	const tac_round *tool = q->tool;
	bool capsule = tac_dvec3_length_squared(tac_dvec3_sub(tool->b, tool->a)) > 0;
	tac_dvec3 back = tac_dvec3_neg(q->v);
	double first = point_meets_face(q, tool->a, t);
	if (capsule)
		first = fmin(first, point_meets_face(q, tool->b, t));
	for (int k = 0; k < 3; k++) {
		tac_dvec3 c = t[k], d = t[(k + 1) % 3];
		first = fmin(first, point_meets_point(tool->a, q->v, c, q->reach));
		first = fmin(first, point_meets_segment(tool->a, q->v, c, d, q->reach));
		if (!capsule)
			continue;
		first = fmin(first, point_meets_point(tool->b, q->v, c, q->reach));
		first = fmin(first, point_meets_segment(tool->b, q->v, c, d, q->reach));
		first = fmin(first, point_meets_segment(c, back, tool->a, tool->b, q->reach));
		first = fmin(first, segments_meet(q, tool->a, tool->b, c, d));
	}
	return first;
}

// Of two triangles that stop the tool at the same place, the first in the tree is reported.
static void stop_at(query *q, double at, const tac_body_triangle *triangle)
{
	if (at < q->best || (at == q->best && q->stop && triangle < q->stop)) {
		q->best = at;
		q->stop = triangle;
	}
}

static void examine_translation(query *q, const tac_body_triangle *triangle, bool may_start_near)
{
	tac_dvec3 t[3];
	tac_body_triangle_load(triangle, t);
	tac_round_closest c = {.distance = HUGE_VAL};
	if (may_start_near)
		c = tac_round_closest_to(q->tool->a, q->tool->b, t);
	double s = NEVER;
	if (c.distance <= q->tool->radius) {
		q->start_hit = true;
		s = 0;
	} else if (c.distance < q->reach) {
		q->start_zone = true;
		// An approach below rounding counts as none.
		if (tac_dvec3_dot(tac_dvec3_sub(c.core, c.on), q->v) < -q->slack * c.distance)
			s = 0;
	} else {
		s = first_contact(q, t);
	}
	stop_at(q, s, triangle);
}

// A capsule that contains the swept tool: around the path of its middle, or, if that is shorter, around its
// segment at half the translation.
static tac_round swept_capsule(const query *q)
{
	tac_dvec3 a = q->tool->a, b = q->tool->b;
	double along = 0.5 * tac_dvec3_length(tac_dvec3_sub(b, a)), across = 0.5 * tac_dvec3_length(q->v);
	if (across < along)
		return (tac_round){tac_dvec3_add_scaled(a, 0.5, q->v), tac_dvec3_add_scaled(b, 0.5, q->v),
				   q->reach + q->slack + across};
	tac_dvec3 middle = tac_dvec3_add_scaled(a, 0.5, tac_dvec3_sub(b, a));
	return (tac_round){middle, tac_dvec3_add(middle, q->v), q->reach + q->slack + along};
}

// How many triangles and nodes the limit still allows.
static int64_t budget_left(const query *q)
{
	return q->limit > 0 ? q->limit - q->count : INT64_MAX;
}

static bool visit_path(query *q, tac_round_visitor visit)
{
	int64_t budget = q->path.budget = budget_left(q);
	bool complete = tac_round_visit_path(q->fixed, &q->path, visit, q);
	q->count += budget - q->path.budget;
	return complete;
}

static bool visit_translation(void *user, int32_t triangle)
{
	query *q = user;
	examine_translation(q, &q->fixed->triangles[triangle], q->path.enters == 0);
	q->path.limit = fmin(q->best, 1);
	return true;
}

// Measures the distances of the listed triangles from the path up to the fraction `to`.
static void measure_path(const query *q, double to, tac_round_context *list)
{
	const tac_dvec3 points[4] = {q->tool->a, q->tool->b, tac_dvec3_add_scaled(q->tool->a, to, q->v),
				     tac_dvec3_add_scaled(q->tool->b, to, q->v)};
	tac_round_list_measure(list, points, q->reach + q->slack);
}

// True when all listed triangles on the path were examined within the limit.
static bool search_list(query *q, tac_round_context *list)
{
	double to = 1;
	measure_path(q, to, list);
	int32_t blocks = tac_round_list_block_count(list);
	q->count += blocks;
	for (int32_t i = 0; i < blocks; i++) {
		const tac_round_block *block = &list->blocks[i];
		for (unsigned done = 0, left; (left = block->near_lanes & ~done) != 0;) {
			int lane = __builtin_ctz(left);
			done |= 2u * (1u << lane) - 1;
			if (budget_left(q) <= 0)
				return false;
			q->count++;
			examine_translation(q, &q->fixed->triangles[block->triangle[lane]], true);
			if (q->best < CULL_AGAIN * to) {
				to = q->best;
				measure_path(q, to, list);
			}
		}
	}
	return true;
}

// True when all triangles on the path were examined; otherwise *out_proved is the fraction up to which they
// were.
static bool search_translation(query *q, tac_round_context *context, double *out_proved)
{
	tac_round region = swept_capsule(q);
	double size = q->reach + tac_dvec3_length(tac_dvec3_sub(q->tool->b, q->tool->a));
	*out_proved = 0;
	if (context &&
	    (tac_dvec3_length(q->v) <= SHORT_PATH * size ||
	     tac_round_list_covers(context, q->fixed, &region)) &&
	    tac_round_list_update(context, q->fixed, &region))
		return search_list(q, context);
	q->path = (tac_round_path){.a = q->tool->a,
				   .b = q->tool->b,
				   .va = q->v,
				   .vb = q->v,
				   .radius = q->reach + q->slack,
				   .limit = 1};
	bool complete = visit_path(q, visit_translation);
	*out_proved = fmin(q->path.proved, q->best);
	return complete;
}

// --- rotation ---

static tac_dvec3 turned(const query *q, tac_dvec3 x, double angle)
{
	tac_dvec3 from = tac_dvec3_sub(x, q->centre),
		  along = tac_dvec3_scale(q->axis, tac_dvec3_dot(q->axis, from));
	tac_dvec3 across = tac_dvec3_sub(from, along);
	return tac_dvec3_add(tac_dvec3_add(q->centre, along),
			     tac_dvec3_add(tac_dvec3_scale(across, cos(angle)),
					   tac_dvec3_scale(tac_dvec3_cross(q->axis, across), sin(angle))));
}

// The angle after which the height of x over the plane through `on` falls to `least`.
static double turn_to_plane(const query *q, tac_dvec3 x, tac_dvec3 normal, tac_dvec3 on, double least)
{
	tac_dvec3 from = tac_dvec3_sub(x, q->centre),
		  across = tac_dvec3_add_scaled(from, -tac_dvec3_dot(q->axis, from), q->axis);
	tac_feature_arc arc = {tac_dvec3_dot(normal, tac_dvec3_sub(x, on)) - least,
			       tac_dvec3_dot(normal, tac_dvec3_cross(q->axis, across)),
			       tac_dvec3_dot(normal, across)};
	tac_feature_roots roots = tac_feature_arc_roots(arc);
	return roots.exist && roots.enter >= 0 ? 2 * atan(roots.enter) : NEVER;
}

static void examine_rotation(query *q, const tac_body_triangle *triangle)
{
	tac_dvec3 t[3];
	tac_body_triangle_load(triangle, t);
	double angle = q->from, end = fmin(q->best, q->to), least = q->reach;
	for (int i = 0; i < TAC_ROUND_ROTATION_STEPS; i++) {
		tac_dvec3 a = turned(q, q->tool->a, angle), b = turned(q, q->tool->b, angle);
		tac_round_closest c = tac_round_closest_to(a, b, t);
		if (i == 0 && q->from == 0) {
			q->start_hit = q->start_hit || c.distance <= q->tool->radius;
			q->start_zone = q->start_zone || c.distance < q->reach;
		}
		// A tool that starts in the zone may leave it but not come closer.
		least = fmin(least, c.distance);
		tac_dvec3 normal = tac_dvec3_scale(tac_dvec3_sub(c.core, c.on), 1 / fmax(c.distance, 1e-300));
		double step = q->start_hit ? 0
					   : fmin(turn_to_plane(q, a, normal, c.on, least - q->slack),
						  turn_to_plane(q, b, normal, c.on, least - q->slack));
		if (angle + step > end)
			return;
		angle += step;
		// Arrived, unless the tool grazes the plane.
		double length = step * q->arm;
		if (length <= q->slack ||
		    (c.distance - least <= q->accuracy && length <= GRAZING * q->accuracy))
			break;
		q->spent = q->spent || i == TAC_ROUND_ROTATION_STEPS - 1;
	}
	stop_at(q, angle, triangle);
}

static bool visit_rotation(void *user, int32_t triangle)
{
	query *q = user;
	examine_rotation(q, &q->fixed->triangles[triangle]);
	q->path.limit = fmin((q->best - q->from) / (q->to - q->from), 1);
	return true;
}

// True when all triangles on the path of the slice were examined; otherwise q->best is what was proved of it.
static bool search_slice(query *q)
{
	double half = 0.5 * (q->to - q->from);
	tac_dvec3 a = turned(q, q->tool->a, q->from), b = turned(q, q->tool->b, q->from);
	q->path = (tac_round_path){.a = a,
				   .b = b,
				   .va = tac_dvec3_sub(turned(q, q->tool->a, q->to), a),
				   .vb = tac_dvec3_sub(turned(q, q->tool->b, q->to), b),
				   .radius = q->reach + q->slack + q->arm * half * half / 2,
				   .limit = 1};
	if (visit_path(q, visit_rotation))
		return true;
	q->best = fmin(q->best, q->from + q->path.proved * (q->to - q->from));
	return false;
}

// False for coordinates, `size` in total, that are too large or not finite, and for a zone below rounding.
static bool is_valid(const tac_round *tool, double size, const tac_sweep_options *options)
{
	return size < SIZE_MAX_M && tool->radius > 0 && options->zone >= 0 &&
	       (options->zone == 0 || size * ROUNDING <= options->zone);
}

static query query_make(const tac_round *tool, const tac_body *fixed, double size,
			const tac_sweep_options *options)
{
	return (query){.tool = tool,
		       .fixed = fixed,
		       .limit = options->pair_limit,
		       .reach = tool->radius + options->zone,
		       .slack = ROUNDING * size};
}

// `axis` has unit length, or is zero.
static void set_axis(query *q, tac_dvec3 centre, tac_dvec3 axis)
{
	q->centre = centre;
	q->axis = axis;
	q->arm = fmax(tac_dvec3_length(tac_dvec3_cross(axis, tac_dvec3_sub(q->tool->a, centre))),
		      tac_dvec3_length(tac_dvec3_cross(axis, tac_dvec3_sub(q->tool->b, centre))));
}

static tac_sweep_result result_make(const tac_sweep_options *options)
{
	tac_sweep_result r = {.flags = TAC_SWEEP_REFUSED | TAC_SWEEP_STOPPED,
			      .kind = TAC_FEATURES_NONE,
			      .distance = options->zone};
	r.moving_feature = r.fixed_feature = r.moving_triangle = r.fixed_triangle = -1;
	return r;
}

static void finish(const query *q, bool complete, double fraction, tac_sweep_result *r)
{
	r->pairs = q->count;
	r->fraction = fraction;
	r->flags = (q->start_zone ? TAC_SWEEP_START_ZONE : 0) | (q->start_hit ? TAC_SWEEP_START_HIT : 0) |
		   (complete && !q->spent ? 0 : TAC_SWEEP_BUDGET_SPENT) |
		   (fraction < 1 ? TAC_SWEEP_STOPPED : 0);
}

static void describe(const tac_round *there, const tac_body_triangle *stop, tac_sweep_result *r)
{
	tac_dvec3 t[3];
	tac_body_triangle_load(stop, t);
	tac_round_closest c = tac_round_closest_to(there->a, there->b, t);
	r->kind = TAC_FEATURES_VERTEX_FACE;
	r->fixed_triangle = r->fixed_feature = stop->id;
	r->normal = tac_dvec3_normalize(tac_dvec3_sub(c.core, c.on));
	r->point = tac_dvec3_add_scaled(c.core, -there->radius, r->normal);
	r->distance = fmax(0, c.distance - there->radius);
}

tac_sweep_result tac_round_translate(const tac_round *tool, const tac_body *fixed, tac_dvec3 v,
				     const tac_sweep_options *options, tac_round_context *context)
{
	TAC_ASSERT(tool && fixed && options);
	tac_sweep_result r = result_make(options);
	double size =
		tac_dvec3_length(tool->a) + tac_dvec3_length(tool->b) + tac_dvec3_length(v) + tool->radius;
	if (!is_valid(tool, size, options))
		return r;
	query q = query_make(tool, fixed, size, options);
	q.v = v;
	q.best = nextafter(1, 2);
	double proved;
	bool complete = search_translation(&q, context, &proved);
	finish(&q, complete, complete ? fmin(q.best, 1) : proved, &r);
	if (complete && q.stop && r.fraction < 1) {
		tac_round there = {tac_dvec3_add_scaled(tool->a, r.fraction, v),
				   tac_dvec3_add_scaled(tool->b, r.fraction, v), tool->radius};
		describe(&there, q.stop, &r);
	}
	return r;
}

tac_round tac_round_rotated(const tac_round *tool, tac_dvec3 centre, tac_dvec3 axis, double angle,
			    double fraction)
{
	query q = {.centre = centre, .axis = tac_dvec3_normalize(axis)};
	tac_round there = {turned(&q, tool->a, angle * fraction), turned(&q, tool->b, angle * fraction),
			   tool->radius};
	return there;
}

tac_sweep_result tac_round_rotate(const tac_round *tool, const tac_body *fixed, tac_dvec3 centre,
				  tac_dvec3 axis, double angle, const tac_sweep_options *options)
{
	TAC_ASSERT(tool && fixed && options);
	tac_sweep_result r = result_make(options);
	tac_dvec3 unit = tac_dvec3_normalize(axis);
	bool turns = tac_dvec3_length_squared(unit) > 0;
	double size = tac_dvec3_length(tool->a) + tac_dvec3_length(tool->b) + tac_dvec3_length(centre) +
		      tool->radius;
	if (!is_valid(tool, size, options) || !(fabs(angle) <= TAC_SWEEP_ANGLE_MAX) ||
	    !tac_dvec3_finite(axis) || (!turns && angle != 0))
		return r;
	query q = query_make(tool, fixed, size, options);
	set_axis(&q, centre, angle < 0 ? tac_dvec3_neg(unit) : unit);
	q.accuracy = fmax(ACCURACY * options->zone, q.slack);
	double whole = fabs(angle);
	q.best = nextafter(whole, HUGE_VAL);
	int slices = (int)ceil(fmax(1, whole / SLICE_ANGLE));
	bool complete = true;
	for (int k = 0; k < slices && complete && q.best > whole; k++) {
		q.from = whole * k / slices;
		q.to = nextafter(whole * (k + 1) / slices, HUGE_VAL);
		complete = search_slice(&q);
	}
	finish(&q, complete, q.start_hit ? 0 : whole > 0 ? fmin(q.best / whole, 1) : 1, &r);
	if (complete && q.stop && r.fraction < 1) {
		tac_round there = tac_round_rotated(tool, centre, axis, angle, r.fraction);
		describe(&there, q.stop, &r);
	}
	return r;
}

// --- combined motion ---

// The tool after the fraction `s` of the combined motion.
static tac_round moved(const query *q, double s)
{
	return (tac_round){tac_dvec3_add_scaled(turned(q, q->tool->a, s * q->to), s, q->v),
			   tac_dvec3_add_scaled(turned(q, q->tool->b, s * q->to), s, q->v), q->tool->radius};
}

// How far a point of the segment strays from its chord over a fraction of the motion.
static double bend_of(const query *q, double fraction)
{
	double turn = fraction * q->to;
	return q->arm * turn * turn / 8;
}

// Whether the plane across the gap at one pose separates the triangle from the tool at both poses.
static bool separates(const tac_round *at, const tac_round *other, const tac_dvec3 t[3], double needed)
{
	tac_round_closest c = tac_round_closest_to(at->a, at->b, t);
	if (c.distance < needed)
		return false;
	tac_dvec3 n = tac_dvec3_scale(tac_dvec3_sub(c.core, c.on), 1 / c.distance);
	double support = fmax(tac_dvec3_dot(n, t[0]), fmax(tac_dvec3_dot(n, t[1]), tac_dvec3_dot(n, t[2])));
	double here = fmin(tac_dvec3_dot(n, at->a), tac_dvec3_dot(n, at->b)),
	       there = fmin(tac_dvec3_dot(n, other->a), tac_dvec3_dot(n, other->b));
	return fmin(here, there) - support >= needed;
}

// The fraction up to which the motion from `from` to `to` is proved to stay clear of the triangle.
static double prove_triangle(const query *q, const tac_dvec3 t[3], double from, double to, int depth)
{
	tac_round start = moved(q, from), end = moved(q, to);
	double needed = q->reach + q->slack + bend_of(q, to - from);
	if (separates(&start, &end, t, needed) || separates(&end, &start, t, needed))
		return to;
	if (depth == 0)
		return from;
	double middle = 0.5 * (from + to), proved = prove_triangle(q, t, from, middle, depth - 1);
	return proved < middle ? proved : prove_triangle(q, t, middle, to, depth - 1);
}

static bool prove(query *q, tac_round_context *context)
{
	tac_round start = moved(q, 0), end = moved(q, 1), region = moved(q, 0.5);
	region.radius = q->reach + 2 * q->slack + 0.5 * (tac_dvec3_length(q->v) + q->to * q->arm);
	if (!tac_round_list_update(context, q->fixed, &region))
		return false;
	const tac_dvec3 points[4] = {start.a, start.b, end.a, end.b};
	tac_round_list_measure(context, points, q->reach + q->slack + bend_of(q, 1));
	q->count = tac_round_list_block_count(context);
	for (int32_t i = 0; i < tac_round_list_block_count(context); i++) {
		const tac_round_block *block = &context->blocks[i];
		for (unsigned lanes = block->near_lanes; lanes && q->best > 0; lanes &= lanes - 1) {
			if (q->limit > 0 && q->count >= q->limit)
				return false;
			q->count++;
			const tac_body_triangle *triangle =
				&q->fixed->triangles[block->triangle[__builtin_ctz(lanes)]];
			tac_dvec3 t[3];
			tac_body_triangle_load(triangle, t);
			double proved = prove_triangle(q, t, 0, q->best, TAC_ROUND_PROOF_DEPTH);
			if (proved < q->best) {
				q->best = proved;
				q->stop = triangle;
			}
		}
	}
	return true;
}

tac_sweep_result tac_round_prove(const tac_round *tool, const tac_body *fixed, tac_dvec3 centre, tac_dvec3 v,
				 tac_dvec3 w, const tac_sweep_options *options, tac_round_context *context)
{
	TAC_ASSERT(tool && fixed && options && context);
	tac_sweep_result r = result_make(options);
	double size = tac_dvec3_length(tool->a) + tac_dvec3_length(tool->b) + tac_dvec3_length(centre) +
		      tac_dvec3_length(v) + tool->radius,
	       angle = tac_dvec3_length(w);
	if (!is_valid(tool, size, options) || !(angle <= TAC_ROUND_TURN_MAX))
		return r;
	query q = query_make(tool, fixed, size, options);
	q.reach += fixed->tolerance;
	set_axis(&q, centre, angle > 0 ? tac_dvec3_scale(w, 1 / angle) : w);
	q.v = v;
	q.to = angle;
	q.best = 1;
	bool complete = prove(&q, context);
	finish(&q, complete, complete ? q.best : 0, &r);
	if (complete && q.stop)
		r.fixed_triangle = r.fixed_feature = q.stop->id;
	return r;
}

// --- distance ---

typedef struct distance_query {
	const tac_round *tool;
	const tac_body *fixed;
	double least;
	tac_dbox box;
} distance_query;

static tac_dbox box_around(const tac_round *tool, double margin)
{
	tac_dvec3 r = tac_dvec3_splat(margin);
	tac_dbox box = {tac_dvec3_sub(tac_dvec3_min(tool->a, tool->b), r),
			tac_dvec3_add(tac_dvec3_max(tool->a, tool->b), r)};
	return box;
}

static bool visit_distance(void *user, int32_t triangle)
{
	distance_query *q = user;
	tac_dvec3 t[3];
	tac_body_triangle_load(&q->fixed->triangles[triangle], t);
	q->least = fmin(q->least, tac_round_closest_to(q->tool->a, q->tool->b, t).distance);
	q->box = box_around(q->tool, q->least);
	return true;
}

double tac_round_distance(const tac_round *tool, const tac_body *fixed, double reach)
{
	TAC_ASSERT(tool && fixed && reach > 0);
	distance_query q = {tool, fixed, reach + tool->radius, box_around(tool, reach + tool->radius)};
	tac_body_visit_box(fixed, &q.box, visit_distance, &q);
	return q.least - tool->radius;
}
