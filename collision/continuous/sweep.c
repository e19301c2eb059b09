#include "collision/ccd.h"

#include "base/assert.h"
#include "collision/ccd_feature.h"
#include "collision/ccd_pairs.h"

#include <math.h>

#define add   tac_dvec3_add
#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross
#define mad   tac_dvec3_add_scaled

#define NEVER HUGE_VAL
// A slice of a motion turns by no more than this, rad, and moves no further than this part of the body's
// radius: boxes of longer ones hold much that is never near.
#define SLICE_ANGLE  0.05
#define SLICE_LENGTH 0.12
#define SLICE_MAX    256
// What the examination of a pair counts as work.
#define WORK_PAIR 30
// Rounding of a product of three coordinates, as a part of the largest coordinate.
#define ROUNDING 1e-13
// Steps of a vertex towards a triangle without area; when they do not suffice, it stops where it is.
#define CREEP_MAX 64
// Pairs that may push the stop back, one after the other; then the start is the answer.
#define RETREAT_MAX 32
#define BISECT_MAX  60
// Pairs of a slice that are listed, 48 KB of the stack; with more, each search descends the trees.
#define CANDIDATES 4096
// Pairs that are filtered at a time.
#define CHUNK 256
// How closely the stop approaches the zone, as a part of it.
#define STOP_ACCURACY 1e-8
// How much closer than the zone a pose may be and still count as outside, as a part of it: rounding.
#define ZONE_ROUNDING 1e-9

// The first contact of a pair of triangles. `time` is a fraction (translation) or r = tan(theta / 2)
// (rotation).
typedef struct contact {
	double time;
	tac_ccd_kind kind;
} contact;

static tac_dvec3 unit_normal(const tac_dvec3 t[3])
{
	return tac_dvec3_normalize(cross(sub(t[1], t[0]), sub(t[2], t[0])));
}

// The squared distance of x from the segment a b.
static double beside_segment(tac_dvec3 x, tac_dvec3 a, tac_dvec3 b)
{
	tac_dvec3 u = sub(b, a), d = sub(x, a);
	double along = dot(d, u), length = dot(u, u);
	d = along <= 0 ? d : along >= length ? sub(x, b) : mad(d, -along / length, u);
	return dot(d, d);
}

// True when x, a point of the plane of t, lies in t or no further than `slack` beside it.
static bool in_triangle(tac_dvec3 x, const tac_dvec3 t[3], tac_dvec3 normal, double slack)
{
	bool inside = true;
	for (int k = 0; k < 3; k++) {
		tac_dvec3 edge = sub(t[(k + 1) % 3], t[k]);
		double side = dot(cross(normal, edge), sub(x, t[k]));
		if (side < 0 && side * side > slack * slack * dot(edge, edge))
			return false;
		inside = inside && side >= 0;
	}
	// Beyond a sharp corner a point is near the lines of the edges and far from the triangle.
	for (int k = 0; k < 3 && !inside; k++)
		inside = beside_segment(x, t[k], t[(k + 1) % 3]) <= slack * slack;
	return inside;
}

// True when the points at parameters s of the edge u and t of the edge w lie on them, give or take `slack`.
static bool in_edges(double s, double t, tac_dvec3 u, tac_dvec3 w, double slack)
{
	double over_s = s < 0 ? -s : s > 1 ? s - 1 : 0, over_t = t < 0 ? -t : t > 1 ? t - 1 : 0;
	return over_s * over_s * dot(u, u) <= slack * slack && over_t * over_t * dot(w, w) <= slack * slack;
}

static void keep(contact *best, double time, tac_ccd_kind kind)
{
	if (time < best->time) {
		best->time = time;
		best->kind = kind;
	}
}

// --- translation ---

// A triangle without area has no plane; conservative advancement tells when a vertex comes to it.
static double creep_straight(tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 v, double slack, double end)
{
	double speed = tac_dvec3_length(v), time = 0;
	if (speed == 0)
		return NEVER;
	for (int i = 0; i < CREEP_MAX && time < end; i++) {
		int region;
		tac_dvec3 x = mad(p, time, v);
		double d = tac_dvec3_length(sub(x, tac_ccd_closest_on_triangle(x, t, &region)));
		if (d <= slack)
			return time;
		time += d / speed;
	}
	return time < end ? time : NEVER;
}

// A vertex that stays in the plane of the triangle meets its edges, not its face.
static double slide_straight(tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 n, tac_dvec3 v, double slack,
			     double end)
{
	if (tac_dvec3_length_squared(n) == 0)
		return creep_straight(p, t, v, slack, end);
	if (in_triangle(p, t, n, slack))
		return 0;
	double first = NEVER;
	for (int k = 0; k < 3; k++) {
		tac_dvec3 inwards = cross(n, sub(t[(k + 1) % 3], t[k]));
		double f = -dot(inwards, sub(p, t[k])) / dot(inwards, v);
		if (f >= 0 && f < end && f < first && in_triangle(mad(p, f, v), t, n, slack))
			first = f;
	}
	return first;
}

static double translate_vertex(tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 n, tac_dvec3 v, double slack,
			       bool front, double end)
{
	double alpha = dot(n, sub(p, t[0])), beta = dot(n, v);
	if (fabs(alpha) <= slack && fabs(alpha + beta) <= slack)
		return slide_straight(p, t, n, v, slack, end);
	if (alpha * beta > 0 || beta == 0 || (front && beta > 0))
		return NEVER;
	double f = -alpha / beta;
	return f < end && in_triangle(mad(p, f, v), t, n, slack) ? f : NEVER;
}

static double translate_edge(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 v, double slack,
			     double end)
{
	double f = tac_ccd_translate_edges(a, b, c, d, v);
	if (!(f >= 0 && f < end))
		return NEVER;
	tac_dvec3 u = sub(b, a), w = sub(d, c), n = cross(u, w), r = sub(c, mad(a, f, v));
	double nn = dot(n, n);
	// Parallel edges meet with their ends, which are vertices.
	if (nn <= 1e-20 * dot(u, u) * dot(w, w))
		return NEVER;
	return in_edges(dot(cross(r, w), n) / nn, dot(cross(r, u), n) / nn, u, w, slack) ? f : NEVER;
}

// Which features of the two triangles to examine.
typedef struct features {
	uint8_t moving_vertices, fixed_vertices, moving_edges, fixed_edges;
} features;

static void translate_pair(const tac_dvec3 a[3], tac_dvec3 na, const tac_dvec3 b[3], tac_dvec3 nb,
			   tac_dvec3 v, features which, double slack, bool front, contact *best)
{
	tac_dvec3 back = tac_dvec3_neg(v);
	for (int k = 0; k < 3; k++) {
		if (which.moving_vertices >> k & 1)
			keep(best, translate_vertex(a[k], b, nb, v, slack, front, best->time),
			     TAC_CCD_VERTEX_FACE);
		if (which.fixed_vertices >> k & 1)
			keep(best, translate_vertex(b[k], a, na, back, slack, front, best->time),
			     TAC_CCD_FACE_VERTEX);
		if (!(which.moving_edges >> k & 1))
			continue;
		for (int j = 0; j < 3; j++) {
			if (which.fixed_edges >> j & 1)
				keep(best,
				     translate_edge(a[k], a[(k + 1) % 3], b[j], b[(j + 1) % 3], v, slack,
						    best->time),
				     TAC_CCD_EDGE_EDGE);
		}
	}
}

// --- rotation, in the frame of its axis; `turn` is +1 for a moving vertex and -1 for a fixed one ---

static double creep_around(tac_dvec3 p, const tac_dvec3 t[3], double turn, double slack, double end)
{
	double speed = hypot(p.x, p.y), angle = 0, last = 2 * atan(end);
	if (speed == 0)
		return NEVER;
	for (int i = 0; i < CREEP_MAX && angle < last; i++) {
		int region;
		tac_dvec3 x = tac_ccd_turn(p, turn * tan(angle / 2));
		double d = tac_dvec3_length(sub(x, tac_ccd_closest_on_triangle(x, t, &region)));
		if (d <= slack)
			break;
		angle += d / speed;
	}
	return angle < last ? tan(angle / 2) : NEVER;
}

static double slide_around(tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 n, double turn, double slack,
			   double end)
{
	if (tac_dvec3_length_squared(n) == 0)
		return creep_around(p, t, turn, slack, end);
	if (in_triangle(p, t, n, slack))
		return 0;
	double first = NEVER;
	for (int k = 0; k < 3; k++) {
		tac_dvec3 inwards = cross(n, sub(t[(k + 1) % 3], t[k]));
		tac_ccd_arc arc = tac_ccd_arc_vertex(p, inwards, dot(inwards, sub(p, t[k])));
		arc.v1 *= turn;
		tac_ccd_roots roots = tac_ccd_arc_roots(arc);
		double r[2] = {roots.enter, roots.leave};
		for (int i = 0; i < 2 && roots.exist; i++) {
			if (r[i] >= 0 && r[i] < end && r[i] < first &&
			    in_triangle(tac_ccd_turn(p, turn * r[i]), t, n, slack))
				first = r[i];
		}
	}
	return first;
}

static double rotate_vertex(tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 n, double turn, double slack,
			    bool front, double end)
{
	tac_ccd_arc arc = tac_ccd_arc_vertex(p, n, dot(n, sub(p, t[0])));
	arc.v1 *= turn;
	if (fabs(arc.start) <= slack && fabs(arc.v1) + 2 * fabs(arc.v2) <= slack)
		return slide_around(p, t, n, turn, slack, end);
	tac_ccd_roots roots = tac_ccd_arc_roots(arc);
	if (!roots.exist)
		return NEVER;
	double first = fmin(roots.enter, roots.leave), second = fmax(roots.enter, roots.leave);
	if (front)
		first = second = roots.enter;
	if (first >= 0 && first < end && in_triangle(tac_ccd_turn(p, turn * first), t, n, slack))
		return first;
	if (second >= 0 && second < end && in_triangle(tac_ccd_turn(p, turn * second), t, n, slack))
		return second;
	return NEVER;
}

static bool edges_meet(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, double r, double slack)
{
	tac_dvec3 ar = tac_ccd_turn(a, r), br = tac_ccd_turn(b, r);
	tac_dvec3 u = sub(br, ar), w = sub(d, c), n = cross(u, w), x = sub(c, ar);
	double nn = dot(n, n);
	if (nn <= 1e-20 * dot(u, u) * dot(w, w))
		return false;
	return in_edges(dot(cross(x, w), n) / nn, dot(cross(x, u), n) / nn, u, w, slack);
}

static double rotate_edge(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, double slack, double end)
{
	tac_ccd_roots roots = tac_ccd_arc_roots(tac_ccd_arc_edge(a, b, c, d));
	if (!roots.exist)
		return NEVER;
	double first = fmin(roots.enter, roots.leave), second = fmax(roots.enter, roots.leave);
	if (first >= 0 && first < end && edges_meet(a, b, c, d, first, slack))
		return first;
	if (second >= 0 && second < end && edges_meet(a, b, c, d, second, slack))
		return second;
	return NEVER;
}

static void rotate_pair(const tac_dvec3 a[3], tac_dvec3 na, const tac_dvec3 b[3], tac_dvec3 nb,
			features which, double slack, bool front, contact *best)
{
	for (int k = 0; k < 3; k++) {
		if (which.moving_vertices >> k & 1)
			keep(best, rotate_vertex(a[k], b, nb, 1, slack, front, best->time),
			     TAC_CCD_VERTEX_FACE);
		if (which.fixed_vertices >> k & 1)
			keep(best, rotate_vertex(b[k], a, na, -1, slack, front, best->time),
			     TAC_CCD_FACE_VERTEX);
		if (!(which.moving_edges >> k & 1))
			continue;
		for (int j = 0; j < 3; j++) {
			if (which.fixed_edges >> j & 1)
				keep(best,
				     rotate_edge(a[k], a[(k + 1) % 3], b[j], b[(j + 1) % 3], slack,
						 best->time),
				     TAC_CCD_EDGE_EDGE);
		}
	}
}

static const features all_features = {7, 7, 7, 7};

static double magnitude(const tac_dvec3 a[3], const tac_dvec3 b[3])
{
	double m = 0;
	for (int k = 0; k < 3; k++)
		m = fmax(m, fmax(tac_dvec3_length(a[k]), tac_dvec3_length(b[k])));
	return m;
}

double tac_ccd_translate_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3], tac_dvec3 v)
{
	contact best = {nextafter(1, 2), TAC_CCD_NONE};
	translate_pair(moving, unit_normal(moving), fixed, unit_normal(fixed), v, all_features,
		       ROUNDING * magnitude(moving, fixed), false, &best);
	return best.kind == TAC_CCD_NONE ? 2 : best.time;
}

double tac_ccd_rotate_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3], double angle)
{
	contact best = {tan(angle / 2), TAC_CCD_NONE};
	rotate_pair(moving, unit_normal(moving), fixed, unit_normal(fixed), all_features,
		    ROUNDING * magnitude(moving, fixed), false, &best);
	return best.kind == TAC_CCD_NONE ? 2 : 2 * atan(best.time) / angle;
}

// --- bodies ---

// One motion: a translation, or a rotation about an axis. Everything in the frame of the fixed body.
typedef struct motion {
	tac_ccd_pose start;
	bool rotates;
	tac_dvec3 v;            // of a translation
	tac_dvec3 center, axis; // of a rotation; unit axis
	double angle;           // > 0
	double arm;             // largest distance of the moving body from the axis
	double length;          // bound of the path of any point
} motion;

typedef struct query {
	const tac_ccd_body *moving, *fixed;
	const tac_ccd_options *options;
	motion m;
	double slack;
	bool front;
	// The slice under examination.
	tac_ccd_pose from;
	double slice_start; // fraction of the motion
	double reach;       // pairs that come closer are listed
	tac_ccd_sweep sweep;
	tac_dvec3 slice_v;
	double slice_angle;
	double bow;        // how far a plane's clearance can sink between the ends of the slice, m
	tac_dmat3 to_axis; // fixed frame to that of the axis: z against the axis
	contact best;
	const tac_ccd_triangle *best_moving, *best_fixed;
	tac_ccd_context *context;
	tac_ccd_pair pair;
	int64_t pairs, limit;
	bool spent;
	// Pairs that may come within the zone in the slice under examination: found once, looked at several
	// times.
	bool listed; // the list is complete for the slice; else the trees are asked each time
	int candidate_count;
	tac_ccd_near candidates[CANDIDATES];
} query;

tac_ccd_options tac_ccd_options_default(void)
{
	tac_ccd_options options = {TAC_CCD_ZONE, 0, NULL, NULL, true, false};
	return options;
}

tac_ccd_pose tac_ccd_pose_from_dpose(tac_dpose T)
{
	tac_ccd_pose pose = {tac_dmat3_from_quat(T.rotation), T.position};
	return pose;
}

tac_ccd_pose tac_ccd_translated(const tac_ccd_pose *T, tac_dvec3 v, double fraction)
{
	tac_ccd_pose pose = {T->R, mad(T->t, fraction, v)};
	return pose;
}

tac_ccd_pose tac_ccd_rotated(const tac_ccd_pose *T, tac_dvec3 center, tac_dvec3 axis, double angle,
			     double fraction)
{
	if (fraction == 0)
		return *T;
	tac_dmat3 turn = tac_dmat3_from_axis_angle(tac_dvec3_normalize(axis), angle * fraction);
	tac_ccd_pose pose = {tac_dmat3_mul(turn, T->R),
			     add(center, tac_dmat3_apply(turn, sub(T->t, center)))};
	return pose;
}

static tac_ccd_pose pose_at(const motion *m, double fraction)
{
	return m->rotates ? tac_ccd_rotated(&m->start, m->center, m->axis, m->angle, fraction)
			  : tac_ccd_translated(&m->start, m->v, fraction);
}

// Counts a pair; true when the budget is spent.
static bool spend(query *q)
{
	q->pairs++;
	tac_ccd_work_add(q->context, WORK_PAIR);
	if ((q->limit > 0 && q->pairs > q->limit) ||
	    (q->options->expired && q->pairs % 64 == 0 && q->options->expired(q->options->user)))
		q->spent = true;
	return q->spent;
}

static features features_of(const tac_ccd_triangle *moving, const tac_ccd_triangle *fixed)
{
	features which = {moving->vertices, fixed->vertices, moving->edges, fixed->edges};
	return which;
}

// Examines the loaded pair over the slice; a contact shortens the rest of the search to the time before it.
static void examine(query *q)
{
	double before = q->best.time;
	const tac_ccd_moving *a = &q->pair.a;
	const tac_ccd_triangle *fixed = q->pair.triangle;
	features which = features_of(a->triangle, fixed);
	if (!q->m.rotates) {
		translate_pair(a->start, a->normal, q->pair.b, fixed->normal, q->slice_v, which, q->slack,
			       q->front, &q->best);
	} else {
		tac_dvec3 ra[3], rb[3];
		for (int k = 0; k < 3; k++) {
			ra[k] = tac_dmat3_apply(q->to_axis, sub(a->start[k], q->m.center));
			rb[k] = tac_dmat3_apply(q->to_axis, sub(q->pair.b[k], q->m.center));
		}
		rotate_pair(ra, tac_dmat3_apply(q->to_axis, a->normal), rb,
			    tac_dmat3_apply(q->to_axis, fixed->normal), which, q->slack, q->front, &q->best);
	}
	if (q->best.time >= before)
		return;
	q->best_moving = a->triangle;
	q->best_fixed = fixed;
	q->pair.loaded = -1;
	if (q->m.rotates) {
		double angle = 2 * atan(q->best.time);
		q->sweep = tac_ccd_sweep_make(q->from,
					      tac_ccd_rotated(&q->from, q->m.center, q->m.axis, angle, 1),
					      angle, q->m.arm);
	} else {
		q->sweep = tac_ccd_sweep_make(q->from, tac_ccd_translated(&q->from, q->slice_v, q->best.time),
					      0, 0);
	}
}

// True when a plane keeps the loaded pair apart all the way: that of the fixed triangle, or, as long as it
// does not turn, that of the moving one.
static bool plane_parts_ways(const query *q)
{
	const tac_ccd_moving *a = &q->pair.a;
	tac_dvec3 way[6] = {a->start[0], a->start[1], a->start[2], a->end[0], a->end[1], a->end[2]};
	if (tac_ccd_plane_clears(q->pair.triangle->normal, q->pair.b[0], way, 6) >
	    2 * q->slack + q->sweep.bend)
		return true;
	if (q->m.rotates)
		return false;
	tac_dvec3 v = sub(a->end[0], a->start[0]);
	for (int k = 0; k < 3; k++) {
		way[k] = q->pair.b[k];
		way[k + 3] = sub(q->pair.b[k], v);
	}
	return tac_ccd_plane_clears(a->normal, a->start[0], way, 6) > 2 * q->slack;
}

static bool visit_motion(void *user, int32_t moving, int32_t fixed)
{
	query *q = user;
	if (!tac_ccd_pair_load(&q->pair, &q->sweep, moving, fixed, q->slack))
		return true;
	if (spend(q))
		return false;
	if (!plane_parts_ways(q))
		examine(q);
	return true;
}

static bool visit_candidate(void *user, int32_t moving, int32_t fixed)
{
	query *q = user;
	if (q->candidate_count == CANDIDATES) {
		q->listed = false;
		return false;
	}
	q->candidates[q->candidate_count++] = (tac_ccd_near){moving, fixed, 0};
	// On their way from memory while the trees are descended: the filter needs them next.
	__builtin_prefetch(&q->moving->triangles[moving]);
	__builtin_prefetch(&q->moving->triangles[moving].normal.z);
	__builtin_prefetch(&q->fixed->triangles[fixed]);
	__builtin_prefetch(&q->fixed->triangles[fixed].normal.z);
	return true;
}

static bool visit_candidates(void *user, tac_ccd_near *pairs, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		if (!visit_candidate(user, pairs[i].moving, pairs[i].fixed))
			return false;
	}
	return true;
}

static void descend(query *q, const tac_ccd_sweep *sweep, const double *reach, tac_ccd_visit visit,
		    void *user)
{
	tac_ccd_pairs_fn *pairs = q->options->bsp ? tac_ccd_pairs_bsp : tac_ccd_pairs;
	pairs(q->moving, q->fixed, sweep, reach, visit, user, q->context);
	if (tac_ccd_work_left(q->context) <= 0) {
		q->spent = true;
		q->listed = false; // what there is of a list is not all
	}
}

// Enters slice k of n: its poses, and the pairs within reach.
static void enter_slice(query *q, int k, int n)
{
	q->slice_start = (double)k / n;
	q->from = pose_at(&q->m, q->slice_start);
	q->slice_v = tac_dvec3_scale(q->m.v, 1.0 / n);
	q->slice_angle = q->m.angle / n;
	q->sweep = tac_ccd_sweep_make(q->from, pose_at(&q->m, (double)(k + 1) / n),
				      q->m.rotates ? q->slice_angle : 0, q->m.arm);
	q->listed = true;
	q->candidate_count = 0;
	double way = q->m.length / n + q->reach, by_fixed = q->reach + q->sweep.bend;
	// Seen from the moving triangle the fixed one turns about the same axis, and no further from it.
	q->bow = q->m.rotates ? (q->m.arm + way) * q->slice_angle * q->slice_angle / 8 : 0;
	double by_moving = q->reach + q->bow;
	tac_ccd_search search = {q->moving, q->fixed,  &q->sweep,        &q->from, way,
				 by_fixed,  by_moving, visit_candidates, q,        0};
	if (!q->options->bsp && tac_ccd_list_covers(q->context, &q->from, way))
		tac_ccd_near_pairs(&search, q->context, NULL);
	else
		descend(q, &q->sweep, &q->reach, visit_candidate, q);
	if (q->listed)
		q->candidate_count = tac_ccd_filter(q->moving, q->fixed, &q->sweep, by_fixed, by_moving,
						    q->candidates, q->candidate_count);
}

// As tac_ccd_pairs, from the list where there is one.
static void each_pair(query *q, const tac_ccd_sweep *sweep, const double *reach, tac_ccd_visit visit,
		      void *user)
{
	q->pair.loaded = -1;
	if (!q->listed) {
		descend(q, sweep, reach, visit, user);
		return;
	}
	for (int32_t from = 0; from < q->candidate_count;) {
		tac_ccd_near chunk[CHUNK];
		int32_t count = 0;
		for (; from < q->candidate_count && count < CHUNK; from++) {
			if ((double)q->candidates[from].clears - q->bow <= *reach)
				chunk[count++] = q->candidates[from];
		}
		// The planes part more at one pose than on a whole way.
		if (sweep->still)
			count = tac_ccd_filter(q->moving, q->fixed, sweep, *reach, *reach, chunk, count);
		for (int32_t i = 0; i < count; i++) {
			if (!visit(user, chunk[i].moving, chunk[i].fixed))
				return;
		}
	}
}

// Searches slice k of n. The fraction of the whole motion up to which it is free of contact.
static double search_slice(query *q, int k, int n)
{
	q->best.kind = TAC_CCD_NONE;
	// The end itself belongs to the slice.
	q->best.time = nextafter(q->m.rotates ? tan(q->slice_angle / 2) : 1, HUGE_VAL);
	q->pair.loaded = -1;
	const tac_ccd_context *context = q->context;
	if (context && context->moving_index > 0) {
		tac_ccd_pair_load(&q->pair, &q->sweep, context->moving_index - 1, context->fixed_index - 1,
				  0);
		examine(q);
	}
	double touch = 2 * q->slack;
	each_pair(q, &q->sweep, &touch, visit_motion, q);
	if (q->spent)
		return (double)k / n;
	if (q->best.kind == TAC_CCD_NONE)
		return (double)(k + 1) / n;
	double part = q->m.rotates ? 2 * atan(q->best.time) / q->slice_angle : q->best.time;
	return fmin((k + part) / n, 1);
}

typedef struct distance_query {
	query *budget; // NULL: unlimited
	const tac_ccd_sweep *still;
	tac_ccd_pair pair;
	double least;
	tac_ccd_closest closest;
	const tac_ccd_triangle *moving, *fixed;
} distance_query;

static bool visit_distance(void *user, int32_t moving, int32_t fixed)
{
	distance_query *d = user;
	if (!tac_ccd_pair_load(&d->pair, d->still, moving, fixed, d->least))
		return true;
	if (d->budget && spend(d->budget))
		return false;
	if (tac_ccd_pair_clears(&d->pair) > d->least)
		return true;
	tac_ccd_closest closest = tac_ccd_closest_of_triangles(d->pair.a.start, d->pair.b);
	// Of equals the lowest, so that the answer does not depend on who came first.
	const tac_ccd_triangle *a = d->pair.a.triangle, *b = d->pair.triangle;
	bool lower = d->moving && closest.distance == d->least &&
		     (a->id != d->moving->id ? a->id < d->moving->id : b->id < d->fixed->id);
	if (closest.distance < d->least || lower) {
		d->least = closest.distance;
		d->closest = closest;
		d->moving = d->pair.a.triangle;
		d->fixed = d->pair.triangle;
	}
	return d->least > 0;
}

static distance_query find_distance(query *q, const tac_ccd_pose *T, double reach)
{
	tac_ccd_sweep still = tac_ccd_sweep_still(*T);
	distance_query d = {.budget = q, .still = &still, .least = reach};
	d.pair = (tac_ccd_pair){.moving = q->moving, .fixed = q->fixed, .loaded = -1};
	each_pair(q, &still, &d.least, visit_distance, &d);
	d.still = NULL;
	return d;
}

double tac_ccd_distance(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
			double reach, tac_ccd_closest *out_closest, int32_t *out_moving_triangle,
			int32_t *out_fixed_triangle)
{
	tac_ccd_sweep still = tac_ccd_sweep_still(*T);
	distance_query d = {.budget = NULL, .still = &still, .least = reach};
	d.pair = (tac_ccd_pair){.moving = moving, .fixed = fixed, .loaded = -1};
	tac_ccd_pairs(moving, fixed, &still, &d.least, visit_distance, &d, NULL);
	if (d.moving) {
		if (out_closest)
			*out_closest = d.closest;
		if (out_moving_triangle)
			*out_moving_triangle = d.moving->id;
		if (out_fixed_triangle)
			*out_fixed_triangle = d.fixed->id;
	}
	return d.least;
}

static tac_ccd_closest pair_at(const query *q, const tac_ccd_triangle *moving, const tac_ccd_triangle *fixed,
			       double fraction)
{
	tac_ccd_pose T = pose_at(&q->m, fraction);
	tac_dvec3 a[3], b[3];
	tac_ccd_triangle_load(moving, a);
	tac_ccd_triangle_load(fixed, b);
	for (int k = 0; k < 3; k++)
		a[k] = tac_ccd_pose_apply(&T, a[k]);
	return tac_ccd_closest_of_triangles(a, b);
}

// The last fraction before `fraction` at which the pair is `clear` apart, as closely as STOP_ACCURACY says.
static double retreat_pair(const query *q, const tac_ccd_triangle *moving, const tac_ccd_triangle *fixed,
			   double fraction, double clear)
{
	double high = fraction, low = fraction, step = clear / q->m.length;
	double over = 0, under = -clear; // distance less `clear`, at both
	while (low > 0) {
		low = fmax(0, fraction - step);
		over = pair_at(q, moving, fixed, low).distance - clear;
		if (over >= 0)
			break;
		high = low;
		under = over;
		step *= 2;
	}
	// False position: the distance is nearly straight. An end that stays counts half (Illinois), and none
	// is left out of reach, so that both close in.
	double width = STOP_ACCURACY * clear / q->m.length;
	int stayed = 0;
	for (int i = 0; i < BISECT_MAX && high - low > width; i++) {
		double at = low + (high - low) * over / (over - under);
		at = fmin(fmax(at, low + width / 4), high - width / 4);
		if (!(at > low && at < high)) // rounded to an end, and the other one may still be far
			at = 0.5 * (low + high);
		if (!(at > low && at < high))
			break;
		double here = pair_at(q, moving, fixed, at).distance - clear;
		if (here >= 0) {
			low = at;
			over = here;
			under *= stayed > 0 ? 0.5 : 1;
			stayed = 1;
		} else {
			high = at;
			under = here;
			over *= stayed < 0 ? 0.5 : 1;
			stayed = -1;
		}
	}
	return low;
}

// Steps back from `fraction`, up to which nothing touches, until every pair is `clear` apart. The pair in
// q->best_moving, if any, is the one that stops there; afterwards it is the closest one at the stop.
static double retreat(query *q, double fraction, double clear)
{
	if (q->best_moving)
		fraction = retreat_pair(q, q->best_moving, q->best_fixed, fraction, clear);
	for (int i = 0; i < RETREAT_MAX && fraction > 0; i++) {
		tac_ccd_pose T = pose_at(&q->m, fraction);
		// The reach takes in the pair that stops, so that ties are decided here and not by who came
		// first.
		q->listed = q->listed && fraction >= q->slice_start;
		distance_query d = find_distance(q, &T, clear * (1 + 4 * STOP_ACCURACY));
		if (q->spent)
			return 0;
		q->best_moving = d.moving ? d.moving : q->best_moving;
		q->best_fixed = d.moving ? d.fixed : q->best_fixed;
		if (d.least >= clear * (1 - ZONE_ROUNDING))
			return fraction;
		fraction = retreat_pair(q, d.moving, d.fixed, fraction, clear);
	}
	return 0;
}

static int32_t feature_of(const tac_ccd_body *body, int32_t triangle, tac_ccd_kind kind, bool is_moving,
			  int index)
{
	if (kind == TAC_CCD_EDGE_EDGE)
		return body->mesh->triangle_edges[triangle].vertex[index];
	bool is_vertex = (kind == TAC_CCD_VERTEX_FACE) == is_moving;
	return is_vertex ? body->mesh->triangles[triangle].vertex[index] : triangle;
}

static void describe(const query *q, tac_ccd_result *result)
{
	tac_ccd_closest closest = pair_at(q, q->best_moving, q->best_fixed, result->fraction);
	result->moving_triangle = q->best_moving->id;
	result->fixed_triangle = q->best_fixed->id;
	result->kind = closest.kind;
	result->moving_feature =
		feature_of(q->moving, q->best_moving->id, closest.kind, true, closest.moving);
	result->fixed_feature = feature_of(q->fixed, q->best_fixed->id, closest.kind, false, closest.fixed);
	result->point = closest.point;
	result->normal = tac_dvec3_normalize(sub(closest.point, closest.on_fixed));
	result->distance = closest.distance;
}

static tac_ccd_result result_make(double fraction, uint32_t flags, double zone)
{
	tac_ccd_result result = {
		.fraction = fraction, .flags = flags, .kind = TAC_CCD_NONE, .distance = zone};
	result.moving_feature = result.fixed_feature = result.moving_triangle = result.fixed_triangle = -1;
	return result;
}

static tac_ccd_result run(const tac_ccd_body *moving, const tac_ccd_body *fixed, const motion *m,
			  const tac_ccd_options *options, tac_ccd_context *context)
{
	double zone = options->zone;
	double size = tac_dvec3_length(m->start.t) + moving->radius + m->length;
	TAC_ASSERT(!options->bsp || fixed->bsp);
	bool valid = zone >= 0 && tac_dmat3_finite(m->start.R) && size < 1e30 &&
		     tac_dmat3_orthonormality_error(m->start.R) < 1e-3 && m->length >= 0;
	if (!valid || (zone > 0 && size * ROUNDING > zone))
		return result_make(0, TAC_CCD_REFUSED | TAC_CCD_STOPPED, zone);

	tac_ccd_context_bind(context, moving, fixed);
	int64_t work = context ? context->work : 0;
	query q;
	q.moving = moving;
	q.fixed = fixed;
	q.options = options;
	q.m = *m;
	q.limit = options->pair_limit;
	q.context = context;
	q.pair = (tac_ccd_pair){.moving = moving, .fixed = fixed, .loaded = -1};
	q.best_moving = q.best_fixed = NULL;
	q.pairs = 0;
	q.spent = false;
	if (m->rotates) {
		tac_dvec3 z = tac_dvec3_neg(m->axis), x = tac_dvec3_perpendicular(z);
		q.to_axis = tac_dmat3_from_rows(x, cross(z, x), z);
	}
	double slices = m->rotates ? m->angle / SLICE_ANGLE : m->length / (SLICE_LENGTH * moving->radius);
	int n = slices >= SLICE_MAX ? SLICE_MAX : slices <= 1 ? 1 : (int)ceil(slices);
	double near = fmax(zone, 1e-9 * moving->radius);
	q.reach = near * (1 + 1e-6);
	enter_slice(&q, 0, n);
	distance_query at_start = find_distance(&q, &m->start, near);
	if (q.spent)
		return result_make(0, TAC_CCD_BUDGET_SPENT | TAC_CCD_STOPPED, zone);
	if (at_start.least <= 0)
		return result_make(0, TAC_CCD_START_HIT | TAC_CCD_STOPPED, zone);
	tac_ccd_result result = result_make(1, at_start.least < zone ? TAC_CCD_START_ZONE : 0, zone);
	result.pairs = q.pairs;
	if (m->length == 0)
		return result;

	double clear = fmin(zone, at_start.least);
	// Wider than rounding, so that no path slips between two features, and narrower than the distance.
	q.slack = fmax(clear / 8, fmin(ROUNDING * size, at_start.least / 8));
	q.front = options->cull && moving->solid && fixed->solid;
	double fraction = 0;
	for (int k = 0; k < n; k++) {
		if (k > 0)
			enter_slice(&q, k, n);
		fraction = search_slice(&q, k, n);
		if (q.spent || q.best.kind != TAC_CCD_NONE)
			break;
	}
	if (q.spent) {
		// What is proved stays; to stand there, the pose must be clear too, and that has a budget of
		// its own.
		result.flags |= TAC_CCD_BUDGET_SPENT;
		q.spent = false;
		q.best_moving = NULL;
		if (q.limit > 0)
			q.limit = q.pairs + options->pair_limit;
		if (context && context->work_limit > 0)
			context->work_limit += context->work_limit - work;
	}
	if (zone > 0)
		fraction = retreat(&q, fraction, clear);
	if (q.spent)
		result.flags |= TAC_CCD_BUDGET_SPENT;
	result.fraction = fraction;
	result.pairs = q.pairs;
	if (fraction < 1)
		result.flags |= TAC_CCD_STOPPED;
	if (fraction < 1 && q.best_moving)
		describe(&q, &result);
	if (context && q.best_moving) {
		context->moving_index = (int32_t)(q.best_moving - moving->triangles) + 1;
		context->fixed_index = (int32_t)(q.best_fixed - fixed->triangles) + 1;
	}
	return result;
}

tac_ccd_result tac_ccd_translate(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
				 tac_dvec3 v, const tac_ccd_options *options, tac_ccd_context *context)
{
	TAC_ASSERT(moving && fixed && T && options);
	motion m = {.start = *T, .v = v, .length = tac_dvec3_length(v)};
	return run(moving, fixed, &m, options, context);
}

tac_ccd_result tac_ccd_rotate(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
			      tac_dvec3 center, tac_dvec3 axis, double angle, const tac_ccd_options *options,
			      tac_ccd_context *context)
{
	TAC_ASSERT(moving && fixed && T && options);
	tac_dvec3 unit = tac_dvec3_normalize(axis);
	bool turns = tac_dvec3_length_squared(unit) > 0;
	if (!(fabs(angle) <= TAC_CCD_ANGLE_MAX) || !tac_dvec3_finite(axis) || !tac_dvec3_finite(center) ||
	    (!turns && angle != 0))
		return result_make(0, TAC_CCD_REFUSED | TAC_CCD_STOPPED, options->zone);
	motion m = {.start = *T, .rotates = true, .center = center, .axis = unit, .angle = angle};
	if (angle < 0) {
		m.angle = -angle;
		m.axis = tac_dvec3_neg(unit);
	}
	tac_dvec3 offset = sub(T->t, center);
	m.arm = tac_dvec3_length(cross(offset, unit)) + moving->radius;
	m.length = m.angle * m.arm;
	return run(moving, fixed, &m, options, context);
}
