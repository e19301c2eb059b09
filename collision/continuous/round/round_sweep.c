#include "collision/ccd_round.h"

#include "base/assert.h"
#include "collision/ccd_feature.h"
#include "collision/ccd_pairs.h"
#include "collision/ccd_round_list.h"

#include <math.h>

#define add   tac_dvec3_add
#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross
#define mad   tac_dvec3_add_scaled

#define NEVER HUGE_VAL
// Coordinates whose squares are numbers in float, m.
#define SIZE_MAX_M 1e15
// How far beside a face or an edge a contact may lie and still count, as a part of the coordinates.
#define ROUNDING 1e-13
// With a context, a list is made for ways that are not longer than this part of the tool's size; and when so
// much of one is left by a contact, the triangles behind it are cleared.
#define SHORT   0.25
#define SHORTER 0.7
// A slice of a rotation turns by no more than this, rad; how closely it approaches the zone, as a part of it.
#define SLICE_ANGLE 0.3
#define ACCURACY    1e-7
// A step this many times longer than the approach is along the surface.
#define GRAZING 1e3

typedef struct query {
	const tac_ccd_round *tool;
	const tac_ccd_body *fixed;
	int64_t limit, count; // of triangles
	tac_dvec3 v;
	tac_ccd_round_way way;  // under search
	tac_dvec3 center, axis; // of a rotation; unit axis
	double from, to;        // the slice of it, rad
	double arm;             // largest distance of the segment from the axis
	double accuracy;        // m
	double reach;           // radius and zone
	double slack;
	double best; // fraction, or angle
	const tac_ccd_triangle *stop;
	bool start_hit, start_zone, spent;
} query;

static void keep_closest(tac_ccd_round_closest *best, tac_dvec3 core, tac_dvec3 on)
{
	double d = tac_dvec3_length(sub(core, on));
	if (d < best->distance) {
		best->distance = d;
		best->core = core;
		best->on = on;
	}
}

tac_ccd_round_closest tac_ccd_round_closest_to(tac_dvec3 a, tac_dvec3 b, const tac_dvec3 t[3])
{
	tac_ccd_round_closest best = {HUGE_VAL, a, a};
	int region;
	keep_closest(&best, a, tac_ccd_closest_on_triangle(a, t, &region));
	if (tac_dvec3_length_squared(sub(b, a)) == 0)
		return best;
	keep_closest(&best, b, tac_ccd_closest_on_triangle(b, t, &region));
	for (int k = 0; k < 3; k++) {
		tac_dvec3 x, y;
		tac_ccd_closest_of_segments(a, b, t[k], t[(k + 1) % 3], &x, &y);
		keep_closest(&best, x, y);
	}
	// Through the face.
	tac_dvec3 n = cross(sub(t[1], t[0]), sub(t[2], t[0]));
	double da = dot(n, sub(a, t[0])), db = dot(n, sub(b, t[0]));
	if ((da < 0) != (db < 0)) {
		tac_dvec3 x = mad(a, da / (da - db), sub(b, a));
		keep_closest(&best, x, tac_ccd_closest_on_triangle(x, t, &region));
	}
	return best;
}

// When the point p + s v comes within r of the point c: the smaller root.
static double point_meets_point(tac_dvec3 p, tac_dvec3 v, tac_dvec3 c, double r)
{
	tac_dvec3 d = sub(p, c);
	double vv = dot(v, v), b = dot(d, v), outside = dot(d, d) - r * r,
	       discriminant = b * b - vv * outside;
	if (b >= 0 || discriminant < 0)
		return NEVER;
	// The root in the form that does not subtract equals.
	return fmax(0, outside / (-b + sqrt(discriminant)));
}

// When it comes within r of the inside of the segment c d.
static double point_meets_segment(tac_dvec3 p, tac_dvec3 v, tac_dvec3 c, tac_dvec3 d, double r)
{
	tac_dvec3 axis = tac_dvec3_normalize(sub(d, c)), from = sub(p, c);
	double along_v = dot(v, axis), along_p = dot(from, axis), length = dot(sub(d, c), axis);
	tac_dvec3 across_v = mad(v, -along_v, axis), across_p = mad(from, -along_p, axis);
	double s = point_meets_point(across_p, across_v, tac_dvec3_zero(), r);
	double at = along_p + s * along_v;
	return s < NEVER && at >= 0 && at <= length ? s : NEVER;
}

// When a gap on either side that changes at this rate falls to the reach.
static double falls_to_reach(const query *q, double gap, double rate)
{
	if (gap < 0) {
		gap = -gap;
		rate = -rate;
	}
	return rate < 0 && gap >= q->reach ? (gap - q->reach) / -rate : NEVER;
}

// When it comes within r of the plane of t, over t.
static double point_meets_face(const query *q, tac_dvec3 p, const tac_dvec3 t[3])
{
	tac_dvec3 n = tac_dvec3_normalize(cross(sub(t[1], t[0]), sub(t[2], t[0])));
	double height = dot(n, sub(p, t[0])), rate = dot(n, q->v);
	double s = falls_to_reach(q, height, rate);
	if (s == NEVER)
		return NEVER;
	tac_dvec3 x = mad(p, s, q->v);
	for (int k = 0; k < 3; k++) {
		tac_dvec3 edge = sub(t[(k + 1) % 3], t[k]);
		if (dot(cross(n, edge), sub(x, t[k])) < -q->slack * tac_dvec3_length(edge))
			return NEVER;
	}
	return s;
}

// When the moving segment a b and the fixed one c d cross at the distance r.
static double segments_meet(const query *q, tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d)
{
	tac_dvec3 u = sub(b, a), w = sub(d, c), n = cross(u, w);
	double nn = dot(n, n);
	if (nn <= 1e-20 * dot(u, u) * dot(w, w))
		return NEVER; // parallel: their ends say it
	double length = sqrt(nn), gap = dot(n, sub(a, c)) / length, rate = dot(n, q->v) / length;
	double s = falls_to_reach(q, gap, rate);
	if (s == NEVER)
		return NEVER;
	tac_dvec3 r = sub(c, mad(a, s, q->v));
	double on_ab = dot(cross(r, w), n) / nn, on_cd = dot(cross(r, u), n) / nn;
	return on_ab >= 0 && on_ab <= 1 && on_cd >= 0 && on_cd <= 1 ? s : NEVER;
}

static double first_contact(const query *q, const tac_dvec3 t[3])
{
	const tac_ccd_round *tool = q->tool;
	bool capsule = tac_dvec3_length_squared(sub(tool->b, tool->a)) > 0;
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

// Of two that stop it at the same place, the first in the tree is named.
static void stop_at(query *q, double at, const tac_ccd_triangle *triangle)
{
	if (at < q->best || (at == q->best && q->stop && triangle < q->stop)) {
		q->best = at;
		q->stop = triangle;
	}
}

static void examine_translation(query *q, const tac_ccd_triangle *triangle, bool may_start_near)
{
	tac_dvec3 t[3];
	tac_ccd_triangle_load(triangle, t);
	tac_ccd_round_closest c = {.distance = HUGE_VAL};
	if (may_start_near)
		c = tac_ccd_round_closest_to(q->tool->a, q->tool->b, t);
	double s = NEVER;
	if (c.distance <= q->tool->radius) {
		q->start_hit = true;
		s = 0;
	} else if (c.distance < q->reach) {
		q->start_zone = true;
		// Only what rounding may add counts as standing still.
		if (dot(sub(c.core, c.on), q->v) < -q->slack * c.distance)
			s = 0;
	} else {
		s = first_contact(q, t);
	}
	stop_at(q, s, triangle);
}

// A capsule that holds the way: around the way of the middle, or, when that is shorter, around the segment
// half-way.
static tac_ccd_round way_around(const query *q)
{
	tac_dvec3 a = q->tool->a, b = q->tool->b;
	double along = 0.5 * tac_dvec3_length(sub(b, a)), across = 0.5 * tac_dvec3_length(q->v);
	if (across < along)
		return (tac_ccd_round){mad(a, 0.5, q->v), mad(b, 0.5, q->v), q->reach + q->slack + across};
	tac_dvec3 middle = mad(a, 0.5, sub(b, a));
	return (tac_ccd_round){middle, add(middle, q->v), q->reach + q->slack + along};
}

// Of the triangles and nodes that the limit leaves.
static int64_t budget_of(const query *q)
{
	return q->limit > 0 ? q->limit - q->count : INT64_MAX;
}

static bool travel(query *q, tac_ccd_round_visit visit)
{
	int64_t budget = q->way.budget = budget_of(q);
	bool complete = tac_ccd_round_travel(q->fixed, &q->way, visit, q);
	q->count += budget - q->way.budget;
	return complete;
}

static bool visit_translation(void *user, int32_t triangle)
{
	query *q = user;
	examine_translation(q, &q->fixed->triangles[triangle], q->way.enters == 0);
	q->way.limit = fmin(q->best, 1);
	return true;
}

static void measure_way(const query *q, double to, tac_ccd_round_context *list)
{
	const tac_dvec3 points[4] = {q->tool->a, q->tool->b, mad(q->tool->a, to, q->v),
				     mad(q->tool->b, to, q->v)};
	tac_ccd_round_measure(list, points, q->reach + q->slack);
}

// True when all triangles of the list that are on the way were examined within the limit.
static bool search_list(query *q, tac_ccd_round_context *list)
{
	double to = 1;
	measure_way(q, to, list);
	int32_t blocks = tac_ccd_round_blocks(list);
	q->count += blocks;
	for (int32_t i = 0; i < blocks; i++) {
		const tac_ccd_round_block *block = &list->blocks[i];
		for (unsigned done = 0, left; (left = block->near & ~done) != 0;) {
			int lane = __builtin_ctz(left);
			done |= 2u * (1u << lane) - 1;
			if (budget_of(q) <= 0)
				return false;
			q->count++;
			examine_translation(q, &q->fixed->triangles[block->triangle[lane]], true);
			// A much shorter way clears many others.
			if (q->best < SHORTER * to) {
				to = q->best;
				measure_way(q, to, list);
			}
		}
	}
	return true;
}

// True when all triangles on the way were examined; else *out_proved is the part where they were.
static bool search_translation(query *q, tac_ccd_round_context *context, double *out_proved)
{
	tac_ccd_round around = way_around(q);
	double size = q->reach + tac_dvec3_length(sub(q->tool->b, q->tool->a));
	*out_proved = 0;
	if (context &&
	    (tac_dvec3_length(q->v) <= SHORT * size || tac_ccd_round_covers(context, q->fixed, &around)) &&
	    tac_ccd_round_list(context, q->fixed, &around))
		return search_list(q, context);
	q->way = (tac_ccd_round_way){.a = q->tool->a,
				     .b = q->tool->b,
				     .va = q->v,
				     .vb = q->v,
				     .radius = q->reach + q->slack,
				     .limit = 1};
	bool complete = travel(q, visit_translation);
	*out_proved = fmin(q->way.proved, q->best);
	return complete;
}

// --- rotation ---

static tac_dvec3 turned(const query *q, tac_dvec3 x, double angle)
{
	tac_dvec3 from = sub(x, q->center), along = tac_dvec3_scale(q->axis, dot(q->axis, from));
	tac_dvec3 across = sub(from, along);
	return add(add(q->center, along), add(tac_dvec3_scale(across, cos(angle)),
					      tac_dvec3_scale(cross(q->axis, across), sin(angle))));
}

// How far x can turn until its height over the plane through `on` falls to `least`.
static double turn_to_plane(const query *q, tac_dvec3 x, tac_dvec3 normal, tac_dvec3 on, double least)
{
	tac_dvec3 from = sub(x, q->center), across = mad(from, -dot(q->axis, from), q->axis);
	tac_ccd_arc arc = {dot(normal, sub(x, on)) - least, dot(normal, cross(q->axis, across)),
			   dot(normal, across)};
	tac_ccd_roots roots = tac_ccd_arc_roots(arc);
	return roots.exist && roots.enter >= 0 ? 2 * atan(roots.enter) : NEVER;
}

static void examine_rotation(query *q, const tac_ccd_triangle *triangle)
{
	tac_dvec3 t[3];
	tac_ccd_triangle_load(triangle, t);
	double angle = q->from, end = fmin(q->best, q->to), least = q->reach;
	for (int i = 0; i < TAC_CCD_ROUND_STEPS; i++) {
		tac_dvec3 a = turned(q, q->tool->a, angle), b = turned(q, q->tool->b, angle);
		tac_ccd_round_closest c = tac_ccd_round_closest_to(a, b, t);
		if (i == 0 && q->from == 0) {
			q->start_hit = q->start_hit || c.distance <= q->tool->radius;
			q->start_zone = q->start_zone || c.distance < q->reach;
		}
		// What starts in the zone may leave it and not come closer.
		least = fmin(least, c.distance);
		tac_dvec3 normal = tac_dvec3_scale(sub(c.core, c.on), 1 / fmax(c.distance, 1e-300));
		double step = q->start_hit ? 0
					   : fmin(turn_to_plane(q, a, normal, c.on, least - q->slack),
						  turn_to_plane(q, b, normal, c.on, least - q->slack));
		if (angle + step > end)
			return;
		angle += step;
		// There, unless it passes at a grazing angle.
		double way = step * q->arm;
		if (way <= q->slack || (c.distance - least <= q->accuracy && way <= GRAZING * q->accuracy))
			break;
		q->spent = q->spent || i == TAC_CCD_ROUND_STEPS - 1;
	}
	stop_at(q, angle, triangle);
}

static bool visit_rotation(void *user, int32_t triangle)
{
	query *q = user;
	examine_rotation(q, &q->fixed->triangles[triangle]);
	q->way.limit = fmin((q->best - q->from) / (q->to - q->from), 1);
	return true;
}

// True when all triangles on the way of the slice were examined; else the best is what is proved of it.
static bool search_slice(query *q)
{
	double half = 0.5 * (q->to - q->from);
	tac_dvec3 a = turned(q, q->tool->a, q->from), b = turned(q, q->tool->b, q->from);
	q->way = (tac_ccd_round_way){.a = a,
				     .b = b,
				     .va = sub(turned(q, q->tool->a, q->to), a),
				     .vb = sub(turned(q, q->tool->b, q->to), b),
				     .radius = q->reach + q->slack + q->arm * half * half / 2,
				     .limit = 1};
	if (travel(q, visit_rotation))
		return true;
	q->best = fmin(q->best, q->from + q->way.proved * (q->to - q->from));
	return false;
}

// What no motion has: coordinates, of `size` together, that are too large or no numbers; a zone below
// rounding.
static bool is_valid(const tac_ccd_round *tool, double size, const tac_ccd_options *options)
{
	return size < SIZE_MAX_M && tool->radius > 0 && options->zone >= 0 &&
	       (options->zone == 0 || size * ROUNDING <= options->zone);
}

static query query_make(const tac_ccd_round *tool, const tac_ccd_body *fixed, double size,
			const tac_ccd_options *options)
{
	return (query){.tool = tool,
		       .fixed = fixed,
		       .limit = options->pair_limit,
		       .reach = tool->radius + options->zone,
		       .slack = ROUNDING * size};
}

// Gives the query its axis, of unit length or zero.
static void set_axis(query *q, tac_dvec3 center, tac_dvec3 axis)
{
	q->center = center;
	q->axis = axis;
	q->arm = fmax(tac_dvec3_length(cross(axis, sub(q->tool->a, center))),
		      tac_dvec3_length(cross(axis, sub(q->tool->b, center))));
}

static tac_ccd_result result_make(const tac_ccd_options *options)
{
	tac_ccd_result r = {
		.flags = TAC_CCD_REFUSED | TAC_CCD_STOPPED, .kind = TAC_CCD_NONE, .distance = options->zone};
	r.moving_feature = r.fixed_feature = r.moving_triangle = r.fixed_triangle = -1;
	return r;
}

static void finish(const query *q, bool complete, double fraction, tac_ccd_result *r)
{
	r->pairs = q->count;
	r->fraction = fraction;
	r->flags = (q->start_zone ? TAC_CCD_START_ZONE : 0) | (q->start_hit ? TAC_CCD_START_HIT : 0) |
		   (complete && !q->spent ? 0 : TAC_CCD_BUDGET_SPENT) | (fraction < 1 ? TAC_CCD_STOPPED : 0);
}

static void describe(const tac_ccd_round *there, const tac_ccd_triangle *stop, tac_ccd_result *r)
{
	tac_dvec3 t[3];
	tac_ccd_triangle_load(stop, t);
	tac_ccd_round_closest c = tac_ccd_round_closest_to(there->a, there->b, t);
	r->kind = TAC_CCD_VERTEX_FACE;
	r->fixed_triangle = r->fixed_feature = stop->id;
	r->normal = tac_dvec3_normalize(sub(c.core, c.on));
	r->point = mad(c.core, -there->radius, r->normal);
	r->distance = fmax(0, c.distance - there->radius);
}

tac_ccd_result tac_ccd_round_translate(const tac_ccd_round *tool, const tac_ccd_body *fixed, tac_dvec3 v,
				       const tac_ccd_options *options, tac_ccd_round_context *context)
{
	TAC_ASSERT(tool && fixed && options);
	tac_ccd_result r = result_make(options);
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
		tac_ccd_round there = {mad(tool->a, r.fraction, v), mad(tool->b, r.fraction, v),
				       tool->radius};
		describe(&there, q.stop, &r);
	}
	return r;
}

tac_ccd_round tac_ccd_round_rotated(const tac_ccd_round *tool, tac_dvec3 center, tac_dvec3 axis, double angle,
				    double fraction)
{
	query q = {.center = center, .axis = tac_dvec3_normalize(axis)};
	tac_ccd_round there = {turned(&q, tool->a, angle * fraction), turned(&q, tool->b, angle * fraction),
			       tool->radius};
	return there;
}

tac_ccd_result tac_ccd_round_rotate(const tac_ccd_round *tool, const tac_ccd_body *fixed, tac_dvec3 center,
				    tac_dvec3 axis, double angle, const tac_ccd_options *options)
{
	TAC_ASSERT(tool && fixed && options);
	tac_ccd_result r = result_make(options);
	tac_dvec3 unit = tac_dvec3_normalize(axis);
	bool turns = tac_dvec3_length_squared(unit) > 0;
	double size = tac_dvec3_length(tool->a) + tac_dvec3_length(tool->b) + tac_dvec3_length(center) +
		      tool->radius;
	if (!is_valid(tool, size, options) || !(fabs(angle) <= TAC_CCD_ANGLE_MAX) ||
	    !tac_dvec3_finite(axis) || (!turns && angle != 0))
		return r;
	query q = query_make(tool, fixed, size, options);
	set_axis(&q, center, angle < 0 ? tac_dvec3_neg(unit) : unit);
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
		tac_ccd_round there = tac_ccd_round_rotated(tool, center, axis, angle, r.fraction);
		describe(&there, q.stop, &r);
	}
	return r;
}

// --- both at once ---

// The segment after `s` of the combined motion: its centre goes along the way.
static tac_ccd_round moved(const query *q, double s)
{
	return (tac_ccd_round){mad(turned(q, q->tool->a, s * q->to), s, q->v),
			       mad(turned(q, q->tool->b, s * q->to), s, q->v), q->tool->radius};
}

// How far a point of the segment strays from the chord of a part of its path.
static double bend_of(const query *q, double part)
{
	double turn = part * q->to;
	return q->arm * turn * turn / 8;
}

// Whether the plane across the gap at one pose keeps the triangle from both.
static bool parts(const tac_ccd_round *at, const tac_ccd_round *other, const tac_dvec3 t[3], double needed)
{
	tac_ccd_round_closest c = tac_ccd_round_closest_to(at->a, at->b, t);
	if (c.distance < needed)
		return false;
	tac_dvec3 n = tac_dvec3_scale(sub(c.core, c.on), 1 / c.distance);
	double top = fmax(dot(n, t[0]), fmax(dot(n, t[1]), dot(n, t[2])));
	double here = fmin(dot(n, at->a), dot(n, at->b)), there = fmin(dot(n, other->a), dot(n, other->b));
	return fmin(here, there) - top >= needed;
}

// How far the motion from `from` to `to` is proved to stay away from the triangle.
static double prove_triangle(const query *q, const tac_dvec3 t[3], double from, double to, int depth)
{
	tac_ccd_round start = moved(q, from), end = moved(q, to);
	double needed = q->reach + q->slack + bend_of(q, to - from);
	if (parts(&start, &end, t, needed) || parts(&end, &start, t, needed))
		return to;
	if (depth == 0)
		return from;
	double middle = 0.5 * (from + to), proved = prove_triangle(q, t, from, middle, depth - 1);
	return proved < middle ? proved : prove_triangle(q, t, middle, to, depth - 1);
}

static bool prove(query *q, tac_ccd_round_context *context)
{
	tac_ccd_round start = moved(q, 0), end = moved(q, 1), around = moved(q, 0.5);
	around.radius = q->reach + 2 * q->slack + 0.5 * (tac_dvec3_length(q->v) + q->to * q->arm);
	if (!tac_ccd_round_list(context, q->fixed, &around))
		return false;
	const tac_dvec3 points[4] = {start.a, start.b, end.a, end.b};
	tac_ccd_round_measure(context, points, q->reach + q->slack + bend_of(q, 1));
	q->count = tac_ccd_round_blocks(context);
	for (int32_t i = 0; i < tac_ccd_round_blocks(context); i++) {
		const tac_ccd_round_block *block = &context->blocks[i];
		for (unsigned lanes = block->near; lanes && q->best > 0; lanes &= lanes - 1) {
			if (q->limit > 0 && q->count >= q->limit)
				return false;
			q->count++;
			const tac_ccd_triangle *triangle =
				&q->fixed->triangles[block->triangle[__builtin_ctz(lanes)]];
			tac_dvec3 t[3];
			tac_ccd_triangle_load(triangle, t);
			double proved = prove_triangle(q, t, 0, q->best, TAC_CCD_ROUND_HALVINGS);
			if (proved < q->best) {
				q->best = proved;
				q->stop = triangle;
			}
		}
	}
	return true;
}

tac_ccd_result tac_ccd_round_prove(const tac_ccd_round *tool, const tac_ccd_body *fixed, tac_dvec3 center,
				   tac_dvec3 v, tac_dvec3 w, const tac_ccd_options *options,
				   tac_ccd_round_context *context)
{
	TAC_ASSERT(tool && fixed && options && context);
	tac_ccd_result r = result_make(options);
	double size = tac_dvec3_length(tool->a) + tac_dvec3_length(tool->b) + tac_dvec3_length(center) +
		      tac_dvec3_length(v) + tool->radius,
	       angle = tac_dvec3_length(w);
	if (!is_valid(tool, size, options) || !(angle <= TAC_CCD_ROUND_TURN_MAX))
		return r;
	query q = query_make(tool, fixed, size, options);
	set_axis(&q, center, angle > 0 ? tac_dvec3_scale(w, 1 / angle) : w);
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
	const tac_ccd_round *tool;
	const tac_ccd_body *fixed;
	double least;
	tac_ccd_box box;
} distance_query;

static tac_ccd_box box_around(const tac_ccd_round *tool, double by)
{
	tac_dvec3 r = tac_dvec3_splat(by);
	tac_ccd_box box = {sub(tac_dvec3_min(tool->a, tool->b), r), add(tac_dvec3_max(tool->a, tool->b), r)};
	return box;
}

static bool visit_distance(void *user, int32_t triangle)
{
	distance_query *q = user;
	tac_dvec3 t[3];
	tac_ccd_triangle_load(&q->fixed->triangles[triangle], t);
	q->least = fmin(q->least, tac_ccd_round_closest_to(q->tool->a, q->tool->b, t).distance);
	q->box = box_around(q->tool, q->least);
	return true;
}

double tac_ccd_round_distance(const tac_ccd_round *tool, const tac_ccd_body *fixed, double reach)
{
	TAC_ASSERT(tool && fixed && reach > 0);
	distance_query q = {tool, fixed, reach + tool->radius, box_around(tool, reach + tool->radius)};
	tac_ccd_near_box(fixed, &q.box, visit_distance, &q);
	return q.least - tool->radius;
}
