#include "collision/sweep.h"

#include "base/assert.h"
#include "collision/continuous/pairs.h"
#include "collision/continuous/triangle_sweep.h"

#include <math.h>

// Bounds of a slice of a motion: its rotation, rad, and its length, relative to the body's radius. The swept
// boxes of longer slices contain much that never comes near.
#define SLICE_ANGLE  0.05
#define SLICE_LENGTH 0.12
#define SLICES_MAX   256
// The work counted for the examination of a pair.
#define WORK_PAIR 30
// Pairs between two calls of options->expired.
#define EXPIRED_PAIRS 64
// Rounding of a product of three coordinates, relative to the largest coordinate.
#define ROUNDING 1e-13
// How many pairs, one after the other, may move the stop back; after that the fraction is 0.
#define RETREATS_MAX 32
// Steps of the search for the stop before one pair.
#define STOP_STEPS 60
// Candidate pairs of a slice, 48 KB of the stack. When there are more, each search descends the trees.
#define CANDIDATES 4096
// Pairs that are culled in one call.
#define CHUNK 256
// How closely the stop approaches the zone, relative to it.
#define STOP_ACCURACY 1e-8
// Steps of the proof that a pair stays further apart than the tolerance of the bodies.
#define KEEP_STEPS 64
// How much closer than the zone a pose may be, because of rounding, and still count as outside; relative.
#define ZONE_ROUNDING 1e-9

// A translation, or a rotation about an axis, in the fixed frame.
typedef struct motion {
	tac_drigid start;
	bool rotates;
	tac_dvec3 v;            // of a translation, m
	tac_dvec3 centre, axis; // of a rotation; unit axis
	double angle;           // > 0, rad
	double arm;             // largest distance of the moving body from the axis, m
	double length;          // bound of the path of any point, m
} motion;

typedef struct query {
	const tac_body *moving, *fixed;
	const tac_sweep_options *options;
	tac_sweep_context *context;
	motion m;
	double reach; // pairs that come closer are candidates, m
	double slack; // features that pass each other this closely touch, m
	double keep;  // the distance that all pairs keep along the motion, m: the tolerance of the bodies
	bool front;   // cull back faces
	tac_dmat3 to_axis; // fixed frame to that of the axis: z against the axis
	tac_triangle_pair pair;
	int64_t pairs, limit; // of triangles examined
	bool spent;           // the budget
	// The current slice.
	double slice_start; // fraction of the motion
	tac_drigid from;    // the pose there
	tac_dvec3 slice_v;
	double slice_angle;
	tac_swept_motion sweep; // up to the first contact found
	double bow;             // how far a clearance can sink between the ends of the slice, m
	// Pairs that may come within the zone during the slice: found once and examined several times.
	bool listed; // the candidates are complete; otherwise each search descends the trees
	int candidate_count;
	tac_near_pair candidates[CANDIDATES];
	// The first contact, then the closest pair at the stop.
	tac_sweep_contact first;
	const tac_body_triangle *first_moving, *first_fixed;
	double kept; // the fraction of the motion up to which all pairs keep the distance; <= 1
} query;

tac_sweep_options tac_sweep_options_default(void)
{
	tac_sweep_options options = {TAC_SWEEP_ZONE, 0, NULL, NULL, true, false};
	return options;
}

tac_drigid tac_sweep_translated(const tac_drigid *T, tac_dvec3 v, double fraction)
{
	tac_drigid pose = {T->R, tac_dvec3_add_scaled(T->t, fraction, v)};
	return pose;
}

tac_drigid tac_sweep_rotated(const tac_drigid *T, tac_dvec3 centre, tac_dvec3 axis, double angle,
			     double fraction)
{
	if (fraction == 0)
		return *T;
	tac_dmat3 turn = tac_dmat3_from_axis_angle(tac_dvec3_normalize(axis), angle * fraction);
	tac_drigid pose = {tac_dmat3_mul(turn, T->R),
			   tac_dvec3_add(centre, tac_dmat3_apply(turn, tac_dvec3_sub(T->t, centre)))};
	return pose;
}

static tac_drigid pose_at(const motion *m, double fraction)
{
	return m->rotates ? tac_sweep_rotated(&m->start, m->centre, m->axis, m->angle, fraction)
			  : tac_sweep_translated(&m->start, m->v, fraction);
}

// Counts a pair; true when the budget is spent.
static bool spend(query *q)
{
	q->pairs++;
	tac_sweep_context_add_work(q->context, WORK_PAIR);
	if ((q->limit > 0 && q->pairs > q->limit) || tac_sweep_context_work_left(q->context) < 0 ||
	    (q->options->expired && q->pairs % EXPIRED_PAIRS == 0 && q->options->expired(q->options->user)))
		q->spent = true;
	return q->spent;
}

// Examines the loaded pair over the slice. A contact shortens the sweep to the time before it.
static void examine(query *q)
{
	double before = q->first.time;
	const tac_swept_triangle *a = &q->pair.a;
	const tac_body_triangle *moving = a->triangle, *fixed = q->pair.fixed_triangle;
	tac_sweep_triangles t;
	t.features = (tac_feature_masks){moving->vertices, fixed->vertices, moving->edges, fixed->edges};
	t.slack = q->slack;
	t.front = q->front;
	tac_dvec3 turned_a[3], turned_b[3]; // in the frame of the axis
	if (q->m.rotates) {
		for (int k = 0; k < 3; k++) {
			turned_a[k] = tac_dmat3_apply(q->to_axis, tac_dvec3_sub(a->start[k], q->m.centre));
			turned_b[k] = tac_dmat3_apply(q->to_axis, tac_dvec3_sub(q->pair.b[k], q->m.centre));
		}
		t.moving = turned_a;
		t.fixed = turned_b;
		t.moving_normal = tac_dmat3_apply(q->to_axis, a->normal);
		t.fixed_normal = tac_dmat3_apply(q->to_axis, fixed->normal);
		tac_sweep_triangles_rotate(&t, &q->first);
	} else {
		t.moving = a->start;
		t.fixed = q->pair.b;
		t.moving_normal = a->normal;
		t.fixed_normal = fixed->normal;
		tac_sweep_triangles_translate(&t, q->slice_v, &q->first);
	}
	if (q->first.time >= before)
		return;
	q->first_moving = a->triangle;
	q->first_fixed = fixed;
	q->pair.loaded = -1;
	if (q->m.rotates) {
		double angle = 2 * atan(q->first.time);
		q->sweep = tac_swept_motion_make(
			q->from, tac_sweep_rotated(&q->from, q->m.centre, q->m.axis, angle, 1), angle,
			q->m.arm);
	} else {
		q->sweep = tac_swept_motion_make(
			q->from, tac_sweep_translated(&q->from, q->slice_v, q->first.time), 0, 0);
	}
}

// Whether a plane separates the loaded pair during the whole sweep: that of the fixed triangle, or, as long
// as it does not rotate, that of the moving one.
static bool separated_by_plane(const query *q)
{
	const tac_swept_triangle *a = &q->pair.a;
	tac_dvec3 ends[6] = {a->start[0], a->start[1], a->start[2], a->end[0], a->end[1], a->end[2]};
	if (tac_plane_clearance(q->pair.fixed_triangle->normal, q->pair.b[0], ends, 6) >
	    2 * q->slack + q->sweep.bend)
		return true;
	if (q->m.rotates)
		return false;
	tac_dvec3 v = tac_dvec3_sub(a->end[0], a->start[0]);
	for (int k = 0; k < 3; k++) {
		ends[k] = q->pair.b[k];
		ends[k + 3] = tac_dvec3_sub(q->pair.b[k], v);
	}
	return tac_plane_clearance(a->normal, a->start[0], ends, 6) > 2 * q->slack;
}

static bool visit_motion(void *user, int32_t moving, int32_t fixed)
{
	query *q = user;
	if (!tac_triangle_pair_load(&q->pair, &q->sweep, moving, fixed, q->slack))
		return true;
	if (spend(q))
		return false;
	if (!separated_by_plane(q))
		examine(q);
	return true;
}

static bool add_candidate(void *user, int32_t moving, int32_t fixed)
{
	query *q = user;
	if (q->candidate_count == CANDIDATES) {
		q->listed = false;
		return false;
	}
	q->candidates[q->candidate_count++] = (tac_near_pair){moving, fixed, 0, 0};
	// Culling reads them next; they arrive from memory while the trees are descended.
	__builtin_prefetch(&q->moving->triangles[moving]);
	__builtin_prefetch(&q->moving->triangles[moving].normal.z);
	__builtin_prefetch(&q->fixed->triangles[fixed]);
	__builtin_prefetch(&q->fixed->triangles[fixed].normal.z);
	return true;
}

static bool add_candidates(void *user, tac_near_pair *pairs, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		if (!add_candidate(user, pairs[i].moving, pairs[i].fixed))
			return false;
	}
	return true;
}

static void descend(query *q, const tac_swept_motion *sweep, const double *reach, tac_pair_visitor visit,
		    void *user)
{
	tac_pairs_visit_fn *pairs = q->options->bsp ? tac_pairs_visit_bsp : tac_pairs_visit;
	pairs(q->moving, q->fixed, sweep, reach, visit, user, q->context);
	if (tac_sweep_context_work_left(q->context) <= 0) {
		q->spent = true;
		q->listed = false; // the candidates are incomplete
	}
}

// Sets the query to slice k of n: its poses, and the pairs that come within reach.
static void enter_slice(query *q, int k, int n)
{
	q->slice_start = (double)k / n;
	q->from = pose_at(&q->m, q->slice_start);
	q->slice_v = tac_dvec3_scale(q->m.v, 1.0 / n);
	q->slice_angle = q->m.angle / n;
	q->sweep = tac_swept_motion_make(q->from, pose_at(&q->m, (double)(k + 1) / n),
					 q->m.rotates ? q->slice_angle : 0, q->m.arm);
	q->listed = true;
	q->candidate_count = 0;
	double reach = q->m.length / n + q->reach; // at the start of the slice
	// Relative to the moving triangle, the fixed one rotates about the same axis, at most this far from
	// it.
	q->bow = q->m.rotates ? (q->m.arm + reach) * q->slice_angle * q->slice_angle / 8 : 0;
	tac_pair_search search = {.moving = q->moving,
				  .fixed = q->fixed,
				  .sweep = &q->sweep,
				  .reach = q->reach,
				  .fixed_threshold = q->reach + q->sweep.bend,
				  .moving_threshold = q->reach + q->bow,
				  .visit = add_candidates,
				  .user = q};
	if (!q->options->bsp && tac_sweep_context_covers(q->context, &q->sweep, q->reach))
		tac_pair_search_run(&search, q->context, NULL);
	else
		descend(q, &q->sweep, &q->reach, add_candidate, q);
	if (q->listed)
		q->candidate_count =
			tac_pairs_cull_by_planes(q->moving, q->fixed, &q->sweep, search.fixed_threshold,
						 search.moving_threshold, q->candidates, q->candidate_count);
}

// As tac_pairs_visit, but visits the candidates when they are complete.
static void visit_pairs(query *q, const tac_swept_motion *sweep, const double *reach, tac_pair_visitor visit,
			void *user)
{
	q->pair.loaded = -1;
	if (!q->listed) {
		descend(q, sweep, reach, visit, user);
		return;
	}
	for (int32_t from = 0; from < q->candidate_count;) {
		tac_near_pair chunk[CHUNK];
		int32_t count = 0;
		for (; from < q->candidate_count && count < CHUNK; from++) {
			if ((double)q->candidates[from].clearance - q->bow <= *reach)
				chunk[count++] = q->candidates[from];
		}
		// The planes separate more pairs at a single pose than during the slice.
		if (sweep->stationary)
			count = tac_pairs_cull_by_planes(q->moving, q->fixed, sweep, *reach, *reach, chunk,
							 count);
		for (int32_t i = 0; i < count; i++) {
			if (!visit(user, chunk[i].moving, chunk[i].fixed))
				return;
		}
	}
}

// The closest points of a pair at a fraction of the motion, and the moving triangle there.
static tac_closest pair_at(const query *q, const tac_body_triangle *moving, const tac_body_triangle *fixed,
			   double fraction, tac_dvec3 out_moving[3])
{
	tac_drigid T = pose_at(&q->m, fraction);
	tac_dvec3 b[3];
	tac_body_triangle_load(moving, out_moving);
	tac_body_triangle_load(fixed, b);
	for (int k = 0; k < 3; k++)
		out_moving[k] = tac_drigid_apply_point(&T, out_moving[k]);
	return tac_closest_of_triangles(out_moving, b);
}

// How much of the motion the pair can make, from the pose of `c`, before a vertex of the moving triangle `a`
// comes closer than `keep` to the plane across the closest points, behind which the fixed triangle lies.
static double safe_step(const query *q, const tac_closest *c, const tac_dvec3 a[3])
{
	tac_dvec3 normal = tac_dvec3_scale(tac_dvec3_sub(c->point, c->on_fixed), 1 / c->distance);
	double step = HUGE_VAL;
	for (int k = 0; k < 3; k++) {
		double above = tac_dvec3_dot(normal, tac_dvec3_sub(a[k], c->on_fixed)) - q->keep;
		tac_dvec3 arm = tac_dvec3_sub(a[k], q->m.centre);
		tac_dvec3 v =
			q->m.rotates ? tac_dvec3_scale(tac_dvec3_cross(q->m.axis, arm), q->m.angle) : q->m.v;
		// above + rate s - bend s^2 is a lower bound; its root without cancellation.
		double rate = tac_dvec3_dot(normal, v),
		       bend = q->m.rotates ? 0.5 * q->m.angle * q->m.angle * q->m.arm : 0;
		double root = sqrt(rate * rate + 4 * bend * fmax(above, 0));
		double safe = rate >= 0 ? (bend > 0 ? (rate + root) / (2 * bend) : HUGE_VAL)
					: 2 * fmax(above, 0) / (root - rate);
		step = fmin(step, safe);
	}
	return step;
}

// Proves that a pair of the slice stays further apart than `keep`, up to the first contact, or shortens what
// is kept. Without a contact, triangles may come arbitrarily close on their way.
static bool visit_kept(void *user, int32_t moving, int32_t fixed)
{
	query *q = user;
	const tac_body_triangle *a = &q->moving->triangles[moving], *b = &q->fixed->triangles[fixed];
	double at = q->slice_start;
	for (int i = 0; i < KEEP_STEPS && at < q->kept; i++) {
		if (spend(q))
			return false;
		tac_dvec3 there[3];
		tac_closest c = pair_at(q, a, b, at, there);
		double step = c.distance > q->keep ? safe_step(q, &c, there) : 0;
		if (!(step * q->m.length > 1e-3 * q->keep))
			break;
		at += step;
	}
	if (at < q->kept) {
		q->kept = at;
		q->first_moving = a;
		q->first_fixed = b;
	}
	return true;
}

// Searches slice k of n. Returns the fraction of the whole motion up to which it is free of contact.
static double search_slice(query *q, int k, int n)
{
	q->first.kind = TAC_FEATURES_NONE;
	// The slice includes its end.
	q->first.time = nextafter(q->m.rotates ? tan(q->slice_angle / 2) : 1, HUGE_VAL);
	q->pair.loaded = -1;
	const tac_sweep_context *context = q->context;
	if (context && context->last_moving > 0) {
		tac_triangle_pair_load(&q->pair, &q->sweep, context->last_moving - 1, context->last_fixed - 1,
				       0);
		examine(q);
	}
	double touch = 2 * q->slack;
	visit_pairs(q, &q->sweep, &touch, visit_motion, q);
	if (q->spent)
		return (double)k / n;
	double fraction = 1;
	if (q->first.kind != TAC_FEATURES_NONE)
		fraction = q->m.rotates ? 2 * atan(q->first.time) / q->slice_angle : q->first.time;
	fraction = fmin((k + fraction) / n, 1);
	q->kept = fraction;
	if (q->keep > 0)
		visit_pairs(q, &q->sweep, &q->keep, visit_kept, q);
	return q->spent ? (double)k / n : q->kept;
}

typedef struct distance_query {
	query *budget; // NULL: unlimited
	const tac_swept_motion *pose;
	tac_triangle_pair pair;
	double least;
	tac_closest closest;
	const tac_body_triangle *moving, *fixed;
} distance_query;

static bool visit_distance(void *user, int32_t moving, int32_t fixed)
{
	distance_query *d = user;
	if (!tac_triangle_pair_load(&d->pair, d->pose, moving, fixed, d->least))
		return true;
	if (d->budget && spend(d->budget))
		return false;
	if (tac_triangle_pair_clearance(&d->pair) > d->least)
		return true;
	tac_closest closest = tac_closest_of_triangles(d->pair.a.start, d->pair.b);
	// Of equal distances the lowest indices, so that the result does not depend on the order of visits.
	const tac_body_triangle *a = d->pair.a.triangle, *b = d->pair.fixed_triangle;
	bool lower = d->moving && closest.distance == d->least &&
		     (a->id != d->moving->id ? a->id < d->moving->id : b->id < d->fixed->id);
	if (closest.distance < d->least || lower) {
		d->least = closest.distance;
		d->closest = closest;
		d->moving = d->pair.a.triangle;
		d->fixed = d->pair.fixed_triangle;
	}
	return d->least > 0;
}

static distance_query find_distance(query *q, const tac_drigid *T, double reach)
{
	tac_swept_motion pose = tac_swept_motion_stationary(*T);
	distance_query d = {.budget = q, .pose = &pose, .least = reach};
	d.pair = (tac_triangle_pair){.moving = q->moving, .fixed = q->fixed, .loaded = -1};
	visit_pairs(q, &pose, &d.least, visit_distance, &d);
	d.pose = NULL;
	return d;
}

double tac_body_distance(const tac_body *moving, const tac_body *fixed, const tac_drigid *T, double reach,
			 tac_closest *out_closest, int32_t *out_moving_triangle, int32_t *out_fixed_triangle)
{
	tac_swept_motion pose = tac_swept_motion_stationary(*T);
	distance_query d = {.budget = NULL, .pose = &pose, .least = reach};
	d.pair = (tac_triangle_pair){.moving = moving, .fixed = fixed, .loaded = -1};
	tac_pairs_visit(moving, fixed, &pose, &d.least, visit_distance, &d, NULL);
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

static double distance_at(const query *q, const tac_body_triangle *moving, const tac_body_triangle *fixed,
			  double fraction)
{
	tac_dvec3 a[3];
	return pair_at(q, moving, fixed, fraction, a).distance;
}

// The last fraction before `fraction` at which the distance of the pair is `clear` (m), to STOP_ACCURACY.
static double retreat_pair(const query *q, const tac_body_triangle *moving, const tac_body_triangle *fixed,
			   double fraction, double clear)
{
	double high = fraction, low = fraction, step = clear / q->m.length;
	double over = 0, under = -clear; // distance less `clear`, at `low` and at `high`
	while (low > 0) {
		low = fmax(0, fraction - step);
		over = distance_at(q, moving, fixed, low) - clear;
		if (over >= 0)
			break;
		high = low;
		under = over;
		step *= 2;
	}
	// False position, as the distance is nearly linear. The value at an end that stays is halved (the
	// Illinois variant), and each step keeps away from both ends, so that both converge.
	double width = STOP_ACCURACY * clear / q->m.length;
	int stayed = 0;
	for (int i = 0; i < STOP_STEPS && high - low > width; i++) {
		double at = low + (high - low) * over / (over - under);
		at = fmin(fmax(at, low + width / 4), high - width / 4);
		if (!(at > low && at < high)) // rounded to one end; the other may still be far away
			at = 0.5 * (low + high);
		if (!(at > low && at < high))
			break;
		double here = distance_at(q, moving, fixed, at) - clear;
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

// Steps back from `fraction`, up to which nothing touches, until the distance of every pair is `clear` (m).
// The first contact, if there is one, is replaced by the closest pair at the stop.
static double retreat(query *q, double fraction, double clear)
{
	if (q->first_moving)
		fraction = retreat_pair(q, q->first_moving, q->first_fixed, fraction, clear);
	for (int i = 0; i < RETREATS_MAX && fraction > 0; i++) {
		tac_drigid T = pose_at(&q->m, fraction);
		q->listed = q->listed && fraction >= q->slice_start;
		// The reach includes the pair that stops the motion, so that ties are resolved here and not
		// by the order of visits.
		distance_query d = find_distance(q, &T, clear * (1 + 4 * STOP_ACCURACY));
		if (q->spent)
			return 0;
		q->first_moving = d.moving ? d.moving : q->first_moving;
		q->first_fixed = d.moving ? d.fixed : q->first_fixed;
		if (d.least >= clear * (1 - ZONE_ROUNDING))
			return fraction;
		fraction = retreat_pair(q, d.moving, d.fixed, fraction, clear);
	}
	return 0;
}

static int32_t feature_of(const tac_body *body, int32_t triangle, tac_feature_pair kind, bool is_moving,
			  int index)
{
	if (kind == TAC_FEATURES_EDGE_EDGE)
		return body->mesh->triangle_edges[triangle].vertex[index];
	bool is_vertex = (kind == TAC_FEATURES_VERTEX_FACE) == is_moving;
	return is_vertex ? body->mesh->triangles[triangle].vertex[index] : triangle;
}

static void describe(const query *q, tac_sweep_result *result)
{
	tac_dvec3 moving[3];
	tac_closest closest = pair_at(q, q->first_moving, q->first_fixed, result->fraction, moving);
	result->moving_triangle = q->first_moving->id;
	result->fixed_triangle = q->first_fixed->id;
	result->kind = closest.kind;
	result->moving_feature =
		feature_of(q->moving, q->first_moving->id, closest.kind, true, closest.moving);
	result->fixed_feature = feature_of(q->fixed, q->first_fixed->id, closest.kind, false, closest.fixed);
	result->point = closest.point;
	result->normal = tac_dvec3_normalize(tac_dvec3_sub(closest.point, closest.on_fixed));
	result->distance = closest.distance;
}

static tac_sweep_result result_make(double fraction, uint32_t flags, double zone)
{
	tac_sweep_result result = {
		.fraction = fraction, .flags = flags, .kind = TAC_FEATURES_NONE, .distance = zone};
	result.moving_feature = result.fixed_feature = result.moving_triangle = result.fixed_triangle = -1;
	return result;
}

// A bound of the sum of all coordinates of a motion, m.
static double size_of(const tac_body *moving, const motion *m)
{
	return tac_dvec3_length(m->start.t) + moving->radius + m->length;
}

static bool is_valid(const tac_body *moving, const motion *m, double zone)
{
	double size = size_of(moving, m);
	return zone >= 0 && tac_dmat3_finite(m->start.R) && size < 1e30 &&
	       tac_dmat3_orthonormality_error(m->start.R) < 1e-3 && m->length >= 0 &&
	       !(zone > 0 && size * ROUNDING > zone);
}

// Not an initialiser, which would clear the candidates.
static void init_query(query *q, const tac_body *moving, const tac_body *fixed, const motion *m,
		       const tac_sweep_options *options, tac_sweep_context *context)
{
	q->moving = moving;
	q->fixed = fixed;
	q->options = options;
	q->m = *m;
	q->limit = options->pair_limit;
	q->context = context;
	q->pair = (tac_triangle_pair){.moving = moving, .fixed = fixed, .loaded = -1};
	q->first.kind = TAC_FEATURES_NONE;
	q->first_moving = q->first_fixed = NULL;
	q->pairs = 0;
	q->spent = false;
	q->keep = moving->tolerance + fixed->tolerance;
	// Where walls are thin, the sides of a simplified solid may pass through each other.
	q->front = options->cull && moving->solid && fixed->solid && !moving->detail && !fixed->detail;
	if (m->rotates) {
		tac_dvec3 z = tac_dvec3_neg(m->axis), x = tac_dvec3_perpendicular(z);
		q->to_axis = tac_dmat3_from_rows(x, tac_dvec3_cross(z, x), z);
	}
}

static int slices_of(const tac_body *moving, const motion *m)
{
	double slices = m->rotates ? m->angle / SLICE_ANGLE : m->length / (SLICE_LENGTH * moving->radius);
	return slices >= SLICES_MAX ? SLICES_MAX : slices <= 1 ? 1 : (int)ceil(slices);
}

// Searches the slices, of which the first is entered, in the order of time. Returns the fraction that is free
// of contact.
static double search_slices(query *q, int n)
{
	double fraction = 0;
	for (int k = 0; k < n; k++) {
		if (k > 0)
			enter_slice(q, k, n);
		q->spent |= tac_sweep_context_work_left(q->context) < 0;
		if (!q->spent)
			fraction = search_slice(q, k, n);
		if (q->spent || q->first.kind != TAC_FEATURES_NONE || q->kept < (double)(k + 1) / n)
			break;
	}
	return fraction;
}

// The proved fraction is kept when the budget is spent. To stop there, the pose must be clear; that search
// gets the same budget again. `work_before` is the work at the start of the query.
static void renew_budget(query *q, int64_t work_before)
{
	tac_sweep_context *context = q->context;
	q->spent = false;
	q->first_moving = NULL;
	if (q->limit > 0)
		q->limit = q->pairs + q->options->pair_limit;
	if (context && context->work_limit > 0)
		context->work_limit += context->work_limit - work_before;
}

static tac_sweep_result run(const tac_body *moving, const tac_body *fixed, const motion *m,
			    const tac_sweep_options *options, tac_sweep_context *context)
{
	TAC_ASSERT(!options->bsp || fixed->bsp);
	double zone = options->zone;
	if (!is_valid(moving, m, zone))
		return result_make(0, TAC_SWEEP_REFUSED | TAC_SWEEP_STOPPED, zone);
	tac_sweep_context_bind(context, moving, fixed);
	int64_t work_before = context ? context->work : 0;
	query q;
	init_query(&q, moving, fixed, m, options, context);
	double near = fmax(fmax(zone, 2 * q.keep), 1e-9 * moving->radius);
	q.reach = near * (1 + 1e-6);
	int n = slices_of(moving, m);
	enter_slice(&q, 0, n);
	distance_query at_start = find_distance(&q, &m->start, near);
	if (q.spent)
		return result_make(0, TAC_SWEEP_BUDGET_SPENT | TAC_SWEEP_STOPPED, zone);
	if (at_start.least <= 0)
		return result_make(0, TAC_SWEEP_START_HIT | TAC_SWEEP_STOPPED, zone);
	tac_sweep_result result = result_make(1, at_start.least < zone ? TAC_SWEEP_START_ZONE : 0, zone);
	result.pairs = q.pairs;
	if (m->length == 0)
		return result;

	double clear = fmin(zone, at_start.least);
	// Wider than rounding, so that no path slips between two features, and narrower than the distance.
	q.slack = fmax(clear / 8, fmin(ROUNDING * size_of(moving, m), at_start.least / 8));
	double fraction = search_slices(&q, n);
	if (q.spent) {
		result.flags |= TAC_SWEEP_BUDGET_SPENT;
		renew_budget(&q, work_before);
	}
	if (zone > 0)
		fraction = retreat(&q, fraction, clear);
	if (q.spent)
		result.flags |= TAC_SWEEP_BUDGET_SPENT;
	result.fraction = fraction;
	result.pairs = q.pairs;
	if (fraction < 1)
		result.flags |= TAC_SWEEP_STOPPED;
	if (fraction < 1 && q.first_moving)
		describe(&q, &result);
	if (context && q.first_moving) {
		context->last_moving = (int32_t)(q.first_moving - moving->triangles) + 1;
		context->last_fixed = (int32_t)(q.first_fixed - fixed->triangles) + 1;
	}
	return result;
}

tac_sweep_result tac_sweep_translate(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
				     tac_dvec3 v, const tac_sweep_options *options,
				     tac_sweep_context *context)
{
	TAC_ASSERT(moving && fixed && T && options);
	motion m = {.start = *T, .v = v, .length = tac_dvec3_length(v)};
	return run(moving, fixed, &m, options, context);
}

tac_sweep_result tac_sweep_rotate(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
				  tac_dvec3 centre, tac_dvec3 axis, double angle,
				  const tac_sweep_options *options, tac_sweep_context *context)
{
	TAC_ASSERT(moving && fixed && T && options);
	tac_dvec3 unit = tac_dvec3_normalize(axis);
	bool turns = tac_dvec3_length_squared(unit) > 0;
	if (!(fabs(angle) <= TAC_SWEEP_ANGLE_MAX) || !tac_dvec3_finite(axis) || !tac_dvec3_finite(centre) ||
	    (!turns && angle != 0))
		return result_make(0, TAC_SWEEP_REFUSED | TAC_SWEEP_STOPPED, options->zone);
	motion m = {.start = *T, .rotates = true, .centre = centre, .axis = unit, .angle = angle};
	if (angle < 0) {
		m.angle = -angle;
		m.axis = tac_dvec3_neg(unit);
	}
	tac_dvec3 offset = tac_dvec3_sub(T->t, centre);
	m.arm = tac_dvec3_length(tac_dvec3_cross(offset, unit)) + moving->radius;
	m.length = m.angle * m.arm;
	return run(moving, fixed, &m, options, context);
}
