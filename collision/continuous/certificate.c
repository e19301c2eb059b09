#include "collision/certificate.h"

#include "base/assert.h"
#include "collision/continuous/nested.h"
#include "collision/continuous/pairs.h"

#include <math.h>

#define DEPTH_MAX 12
// Rounding of a separation, relative to the largest coordinate.
#define ROUNDING 1e-13
// The least squared sine between the direction of the closest points and the path for a plane along the path.
#define BESIDE_MIN 1e-6
// Pairs for which directions are sought in one call.
#define SEPARATED 64
// A proof may spend this share of the work that is left on its list; the rest is for the proof and for the
// contacts at its end. Larger: fewer motions are proved in part, and more not at all.
#define LIST_SHARE 0.4
// The least part of a motion that is proved for lack of a list.
#define LEAST_PART 0.0625
// So many pairs are proved one by one, in double precision. More are proved together, in single precision,
// which is too coarse where coordinates are more than so many times the threshold: 2 m by default.
#define FEW    2
#define COARSE 8e6
// Poses that a query computes once: the ends of the intervals of up to POSES_DEPTH halvings.
#define POSES_DEPTH 5
#define POSES       ((1 << POSES_DEPTH) + 1)

typedef struct query {
	tac_drigid start;
	tac_dvec3 v, w;
	double v_length, w_length;
	const tac_certificate_options *options;
	double threshold; // of the bodies: that of the meshes and both tolerances, m
	tac_sweep_context *context;
	tac_swept_motion sweep;
	tac_triangle_pair pair;
	tac_certificate result;
	bool all_found; // what is proved holds for all pairs, also where the work has ended since
	int32_t few;    // so many pairs are proved one by one
	uint64_t posed; // bit k: poses[k], at k / (POSES - 1) of the motion, is computed
	tac_drigid poses[POSES];
} query;

// A pair of triangles under proof.
typedef struct pair {
	query *q;
	const tac_dvec3 *b; // the fixed triangle
	double arm;         // largest distance of the moving triangle from the moving origin, m
	double reach;       // largest distance of the fixed triangle from the moving origin in motion, m
	// World planes: the one that the context remembers, and the last one that separated.
	tac_dvec3 remembered, separating;
	bool has_remembered, has_separating;
} pair;

// An interval of the motion with the moving triangle and its normal at both ends.
typedef struct interval {
	double s0, s1;
	tac_dvec3 a[2][3], normal[2];
} interval;

tac_certificate_options tac_certificate_options_default(void)
{
	tac_certificate_options options = {0.25e-6, 5, 0};
	return options;
}

tac_drigid tac_certificate_pose(const tac_drigid *T, tac_dvec3 v, tac_dvec3 w, double s)
{
	tac_dmat3 turn = tac_dmat3_from_quat(tac_dquat_exp(tac_dvec3_scale(w, s)));
	tac_drigid pose = {tac_dmat3_mul(turn, T->R), tac_dvec3_add_scaled(T->t, s, v)};
	return pose;
}

static tac_drigid pose_at(query *q, double s)
{
	double at = s * (POSES - 1);
	int k = (int)at;
	if (k != at) // between two entries of the table
		return tac_certificate_pose(&q->start, q->v, q->w, s);
	if (!(q->posed >> k & 1)) {
		q->poses[k] = tac_certificate_pose(&q->start, q->v, q->w, s);
		q->posed |= (uint64_t)1 << k;
	}
	return q->poses[k];
}

// Sets the moving triangle at one end of the interval.
static void place(const pair *p, double s, interval *i, int end)
{
	const tac_body_triangle *t = p->q->pair.a.triangle;
	tac_drigid T = pose_at(p->q, s);
	for (int k = 0; k < 3; k++)
		i->a[end][k] = tac_drigid_apply_point(&T, tac_dvec3_from_vec3(t->vertex[k]));
	i->normal[end] = tac_dmat3_apply(T.R, t->normal);
}

static double least3(double a, double b, double c)
{
	double d = b < c ? b : c;
	return a < d ? a : d;
}

// How far n separates `a` from `b`; negative when it does not.
static double separation(tac_dvec3 n, const tac_dvec3 a[3], const tac_dvec3 b[3])
{
	// Differences first: the coordinates may be large and the separation small.
	double la = least3(0, tac_dvec3_dot(n, tac_dvec3_sub(a[1], a[0])),
			   tac_dvec3_dot(n, tac_dvec3_sub(a[2], a[0])));
	double lb = least3(0, tac_dvec3_dot(n, tac_dvec3_sub(b[0], b[1])),
			   tac_dvec3_dot(n, tac_dvec3_sub(b[0], b[2])));
	return tac_dvec3_dot(n, tac_dvec3_sub(a[0], b[0])) + la + lb;
}

static bool separates(tac_dvec3 n0, tac_dvec3 n1, const interval *i, const tac_dvec3 b[3], double needed)
{
	return separation(n0, i->a[0], b) >= needed && separation(n1, i->a[1], b) >= needed;
}

// A plane fixed in the world, with either direction of its normal: |a''| <= w^2 r.
static bool world_plane(pair *p, const interval *i, tac_dvec3 n, double needed)
{
	if (!separates(n, n, i, p->b, needed)) {
		n = tac_dvec3_neg(n);
		if (!separates(n, n, i, p->b, needed))
			return false;
	}
	p->separating = n;
	p->has_separating = true;
	return true;
}

// A plane that moves with the body, given by its normals at both ends: n(s)·(p(s) - b) has the second
// derivative n''·(p - b) + 2 n'·v.
static bool carried_plane(const pair *p, const interval *i, tac_dvec3 n0, tac_dvec3 n1, double needed)
{
	return separates(n0, n1, i, p->b, needed) ||
	       separates(tac_dvec3_neg(n0), tac_dvec3_neg(n1), i, p->b, needed);
}

// The plane spanned by edge k of the moving triangle and edge j of the fixed one, not normalised: m = u x e
// with unit u and e. As |m| <= 1, a product of at least the threshold means a distance of at least the
// threshold. (m·(a - b))'' = m''·(a - b) + 2 m'·a' + m·a''.
static bool edges_plane(const pair *p, const interval *i, int k, int j, double w, double v)
{
	tac_dvec3 e = tac_dvec3_normalize(tac_dvec3_sub(p->b[(j + 1) % 3], p->b[j]));
	tac_dvec3 m0 =
		tac_dvec3_cross(tac_dvec3_normalize(tac_dvec3_sub(i->a[0][(k + 1) % 3], i->a[0][k])), e);
	tac_dvec3 m1 =
		tac_dvec3_cross(tac_dvec3_normalize(tac_dvec3_sub(i->a[1][(k + 1) % 3], i->a[1][k])), e);
	double apart = 0;
	for (int n = 0; n < 9; n++)
		apart = fmax(apart, tac_dvec3_length(tac_dvec3_sub(i->a[0][n / 3], p->b[n % 3])));
	double travel = v + w * p->arm;
	double bend = w * w * p->arm + 2 * w * travel + w * w * (apart + travel);
	return carried_plane(p, i, m0, m1, p->q->threshold + bend / 8);
}

static tac_closest closest_at(const pair *p, const interval *i, int end)
{
	tac_sweep_context_add_work(p->q->context, TAC_WORK_CLOSEST_POINTS);
	return tac_closest_of_triangles(i->a[end], p->b);
}

// Tries planes across the closest points at one end of the interval.
static bool closest_plane(pair *p, const interval *i, int end, tac_closest c, double world, double carried)
{
	const query *q = p->q;
	const tac_dvec3 n = tac_dvec3_normalize(tac_dvec3_sub(c.point, c.on_fixed));
	if (world_plane(p, i, n, world))
		return true;
	// A plane along the motion separates as far at the end as at the start.
	tac_dvec3 path = tac_dvec3_sub(i->a[1][0], i->a[0][0]);
	double length = tac_dvec3_length_squared(path);
	tac_dvec3 beside = length > 0 ? tac_dvec3_add_scaled(n, -tac_dvec3_dot(n, path) / length, path) : n;
	if (tac_dvec3_length_squared(beside) > BESIDE_MIN &&
	    world_plane(p, i, tac_dvec3_normalize(beside), world))
		return true;
	double h = i->s1 - i->s0;
	tac_dmat3 turn = tac_dmat3_from_quat(tac_dquat_exp(tac_dvec3_scale(q->w, h)));
	tac_dvec3 n0 = end ? tac_dmat3_transpose_apply(turn, n) : n, n1 = end ? n : tac_dmat3_apply(turn, n);
	if (carried_plane(p, i, n0, n1, carried))
		return true;
	return c.kind == TAC_FEATURES_EDGE_EDGE &&
	       edges_plane(p, i, c.moving, c.fixed, q->w_length * h, q->v_length * h);
}

static bool plane_exists(pair *p, const interval *i)
{
	const query *q = p->q;
	tac_sweep_context_add_work(q->context, TAC_WORK_TRY_PLANES);
	double h = i->s1 - i->s0, w = q->w_length * h, v = q->v_length * h;
	double threshold = q->threshold;
	double world = threshold + w * w * p->arm / 8;
	if (p->has_remembered && world_plane(p, i, p->remembered, world))
		return true;
	if (world_plane(p, i, q->pair.fixed_triangle->normal, world))
		return true;
	double carried = threshold + (w * w * p->reach + 2 * w * v) / 8;
	if (carried_plane(p, i, i->normal[0], i->normal[1], carried))
		return true;
	const tac_closest at_end = closest_at(p, i, 1);
	if (at_end.distance < threshold)
		return false; // where most motions are blocked
	const tac_closest at_start = closest_at(p, i, 0);
	return at_start.distance >= threshold && (closest_plane(p, i, 0, at_start, world, carried) ||
						  closest_plane(p, i, 1, at_end, world, carried));
}

// Proves a pair of triangles between s0 and s1. Without a plane, the distance proves one that is further
// apart than the whole motion is long, if `last`: the result then does not depend on how many such pairs the
// broad phase reports.
static bool prove_triangles(query *q, const tac_near_pair *at, double s0, double s1, bool last)
{
	if (!tac_triangle_pair_load(&q->pair, &q->sweep, at->moving, at->fixed, q->threshold))
		return true;
	q->result.pairs++;
	const tac_swept_triangle *a = &q->pair.a;
	pair p = {.q = q, .b = q->pair.b};
	interval i = {.s0 = s0, .s1 = s1};
	double arm = 0, reach = 0;
	for (int k = 0; k < 3; k++) {
		arm = fmax(arm, tac_dvec3_length_squared(tac_dvec3_sub(a->start[k], q->start.t)));
		reach = fmax(reach, tac_dvec3_length_squared(tac_dvec3_sub(p.b[k], q->start.t)));
	}
	p.arm = sqrt(arm);
	p.reach = sqrt(reach) + q->v_length;
	place(&p, s0, &i, 0);
	place(&p, s1, &i, 1);
	if (q->context)
		p.has_remembered = tac_sweep_context_recall(q->context, at->moving, at->fixed, &p.remembered);
	const bool proved = plane_exists(&p, &i);
	if (q->context && p.has_separating)
		tac_sweep_context_remember(q->context, at, p.separating);
	return proved || (last && tac_closest_of_triangles(a->start, p.b).distance >
					  q->threshold + q->v_length + q->w_length * p.arm);
}

// Proves a pair of faces. A plane that separates some of their triangles is no axis for the faces.
static bool prove_faces(query *q, const tac_near_pair *at, double s0, double s1, bool last)
{
	int32_t a[2], b[2];
	const int count_a = tac_body_face_triangles(q->pair.moving, at->moving, a),
		  count_b = tac_body_face_triangles(q->pair.fixed, at->fixed, b);
	const int32_t listed = count_a + count_b == 2 ? at->listed : 0;
	for (int i = 0; i < count_a * count_b; i++) {
		if (!prove_triangles(q, &(tac_near_pair){a[i / count_b], b[i % count_b], 0, listed}, s0, s1,
				     last))
			return false;
	}
	return true;
}

// How far a plane fixed in the world has to separate any pair at both ends of a `part` of the motion to prove
// it, m: the bound of plane_exists.
static double world_needed(const query *q, double part)
{
	const double w = part * q->w_length;
	return q->threshold + w * w * q->pair.moving->radius / 8;
}

// The same for a plane that turns with the body.
static double carried_needed(const query *q, double part)
{
	const double w = part * q->w_length, v = part * q->v_length,
		     reach = q->pair.fixed->radius + tac_dvec3_length(q->start.t) + q->v_length;
	return q->threshold + (w * w * reach + 2 * w * v) / 8;
}

// Whether no more work, or no more pairs, may be spent.
static bool is_spent(const query *q)
{
	const int64_t limit = q->options->pair_limit;
	return tac_sweep_context_work_left(q->context) < 0 || (limit > 0 && q->result.pairs > limit);
}

static void swap(tac_near_pair *a, tac_near_pair *b)
{
	const tac_near_pair held = *a;
	*a = *b;
	*b = held;
}

// Puts the pairs that no plane is found to separate between s0 and s1 first: eight or more are examined at a
// time. Planes fixed in the world are remembered. Returns how many they are, as far as the work goes.
static int32_t separate(query *q, double s0, double s1, tac_near_pair *pairs, int32_t count)
{
	const tac_body *moving = q->pair.moving, *fixed = q->pair.fixed;
	const double needed = world_needed(q, s1 - s0), turning = carried_needed(q, s1 - s0);
	const tac_swept_motion sweep = tac_swept_motion_make(pose_at(q, s0), pose_at(q, s1),
							     (s1 - s0) * q->w_length, moving->radius);
	int32_t kept = 0;
	for (int32_t at = 0; at < count && !is_spent(q); at += SEPARATED) {
		const int32_t n = count - at < SEPARATED ? count - at : SEPARATED;
		tac_vec3 direction[SEPARATED];
		const int32_t with_edges =
			tac_pairs_separate(moving, fixed, &sweep, needed, turning, &pairs[at], n, direction);
		tac_sweep_context_add_work(q->context,
					   2 * TAC_WORK_FIND_AXIS * n + TAC_WORK_CROSS_EDGES * with_edges);
		for (int32_t i = 0; i < n; i++) {
			const tac_dvec3 d = tac_dvec3_from_vec3(direction[i]);
			if ((double)pairs[at + i].clearance <= needed)
				swap(&pairs[kept++], &pairs[at + i]);
			else if (q->context && tac_dvec3_length_squared(d) > 0)
				tac_sweep_context_remember(q->context, &pairs[at + i],
							   tac_dvec3_normalize(d));
		}
	}
	return kept;
}

// Puts the pair that comes closest at an end of its motion first: it is the likeliest one to end the proof.
static void put_closest_first(tac_near_pair *pairs, int32_t count)
{
	int32_t closest = 0;
	for (int32_t i = 1; i < count; i++) {
		if (pairs[i].clearance < pairs[closest].clearance)
			closest = i;
	}
	if (count > 0)
		swap(&pairs[0], &pairs[closest]);
}

// Puts the pairs that are not proved one by one between s0 and s1 first. Of the `last` interval one of them
// is enough, and it is named. Returns how many they are, as far as the work goes.
static int32_t prove_each(query *q, double s0, double s1, bool last, tac_near_pair *pairs, int32_t count)
{
	int32_t left = 0;
	for (int32_t i = 0; i < count && !(last && left > 0); i++) {
		if (is_spent(q))
			break;
		if (!prove_faces(q, &pairs[i], s0, s1, last))
			swap(&pairs[left++], &pairs[i]);
	}
	if (last && left > 0) {
		q->result.moving_triangle = q->pair.a.triangle->id;
		q->result.fixed_triangle = q->pair.fixed_triangle->id;
	}
	return left;
}

// Proves the pairs between s0 and s1, all of them together: those that no plane separates are proved for the
// first half, then for the second one. What has been refuted need not be proved: an interval that extends
// beyond it is halved at once. Returns the end of the proved part; the pairs are reordered.
static double prove_pairs(query *q, double s0, double s1, int depth, tac_near_pair *pairs, int32_t count)
{
	const double limit = q->result.fraction;
	int32_t left = count;
	if (s0 > limit || (s0 == limit && limit < 1))
		return s1;
	if (s1 <= limit || depth == 0) {
		if (count > q->few)
			left = separate(q, s0, s1, pairs, count);
		if (depth == 0)
			put_closest_first(pairs, left);
		if (depth == 0 || count <= q->few)
			left = prove_each(q, s0, s1, depth == 0, pairs, left);
	}
	if (left == 0 && !is_spent(q))
		return s1;
	if (depth == 0 || is_spent(q))
		return s0;
	const double middle = 0.5 * (s0 + s1), end = prove_pairs(q, s0, middle, depth - 1, pairs, left);
	return end < middle ? end : prove_pairs(q, middle, s1, depth - 1, pairs, left);
}

static void prove_motion(query *q, tac_near_pair *pairs, int32_t count)
{
	if (count > 0 && !is_spent(q))
		q->result.fraction =
			fmin(q->result.fraction, prove_pairs(q, 0, 1, q->options->depth, pairs, count));
}

static bool visit(void *user, tac_near_pair *pairs, int32_t count)
{
	query *q = user;
	const double *proved = &q->result.fraction;
	int32_t first = 0, left = separate(q, 0, *proved, pairs, count);
	if (left > 1) {
		// Where the closest pair ends the proof, the others need to be proved no further.
		put_closest_first(pairs, left);
		prove_motion(q, pairs, 1);
		first = 1;
		left--;
		if (*proved > 0 && *proved < 1)
			left = separate(q, 0, *proved, &pairs[1], left);
	}
	q->all_found = !is_spent(q);
	prove_motion(q, &pairs[first], left);
	return !is_spent(q);
}

static tac_drigid nested_pose(const void *user, double s)
{
	const query *q = user;
	return tac_certificate_pose(&q->start, q->v, q->w, s);
}

// Proves the sphere faces that the search left out.
static void prove_nested(query *q)
{
	const tac_body *moving = q->pair.moving, *fixed = q->pair.fixed;
	for (int32_t k = 0; q->sweep.without >> k; k++) {
		const int32_t i = k / TAC_SPHERE_FACES_MAX, j = k % TAC_SPHERE_FACES_MAX;
		if (!(q->sweep.without >> k & 1))
			continue;
		const double arm = tac_dvec3_length(moving->spheres->faces[i].centre);
		const tac_nested_motion motion = {nested_pose, q, q->w_length,
						  q->v_length + q->w_length * arm};
		const double proved =
			tac_nested_prove(moving, i, fixed, j, &motion, q->threshold, q->context);
		if (proved < q->result.fraction) {
			q->result.fraction = proved;
			q->result.moving_triangle = q->result.fixed_triangle = -1;
		}
	}
}

// The first `part` of the motion from the pose T.
static tac_swept_motion sweep_of(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
				 tac_dvec3 v, tac_dvec3 w, double part)
{
	tac_swept_motion sweep = tac_swept_motion_make(*T, tac_certificate_pose(T, v, w, part),
						       part * tac_dvec3_length(w), moving->radius);
	sweep.without = tac_nested_find(moving, fixed, &sweep);
	return sweep;
}

// The part of a motion for which the context has a list of near pairs, with what a contact query at its end
// needs. It makes a list for all of the motion; the next motion goes on with one that takes too much work.
// 0: there is none, although the list has taken all of the work.
static double listed_part(const tac_body *moving, const tac_body *fixed, const tac_drigid *T, tac_dvec3 v,
			  tac_dvec3 w, double threshold, tac_sweep_context *context)
{
	const double reach = fmax(threshold, tac_sweep_context_end_reach(context));
	const tac_swept_motion whole = sweep_of(moving, fixed, T, v, w, 1);
	if (tac_sweep_context_extend(context, moving, fixed, &whole, reach, LIST_SHARE))
		return 1;
	for (double part = 0.5; part >= LEAST_PART; part *= 0.5) {
		const tac_swept_motion sweep = sweep_of(moving, fixed, T, v, w, part);
		if (tac_sweep_context_covers(context, &sweep, reach))
			return part;
	}
	return tac_sweep_context_extend(context, moving, fixed, &whole, reach, 1) ? 1 : 0;
}

tac_certificate tac_certificate_check(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
				      tac_dvec3 v, tac_dvec3 w, const tac_certificate_options *options,
				      tac_sweep_context *context)
{
	TAC_ASSERT(moving && fixed && T && options);
	TAC_ASSERT(options->depth >= 0 && options->depth <= DEPTH_MAX);
	tac_sweep_context_bind(context, moving, fixed);
	query q;
	q.start = *T;
	q.options = options;
	q.threshold = options->threshold + moving->tolerance + fixed->tolerance;
	q.context = context;
	q.few = tac_dvec3_length(T->t) + moving->radius + fixed->radius > COARSE * q.threshold ? INT32_MAX
											       : FEW;
	q.all_found = false;
	q.posed = 0;
	q.result = (tac_certificate){.fraction = 1, .moving_triangle = -1, .fixed_triangle = -1};
	double size = tac_dvec3_length(T->t) + moving->radius + tac_dvec3_length(v);
	if (!(tac_dvec3_length(w) <= 1) || !(tac_dmat3_orthonormality_error(T->R) < 1e-3) ||
	    !(options->threshold > 0) || !(size * ROUNDING <= options->threshold)) {
		q.result.fraction = 0;
		q.result.flags = TAC_SWEEP_REFUSED | TAC_SWEEP_STOPPED;
		return q.result;
	}
	const double part = context ? listed_part(moving, fixed, T, v, w, q.threshold, context) : 1;
	if (part < 1)
		q.result.flags = TAC_SWEEP_BUDGET_SPENT;
	q.v = tac_dvec3_scale(v, part);
	q.w = tac_dvec3_scale(w, part);
	q.v_length = tac_dvec3_length(q.v);
	q.w_length = tac_dvec3_length(q.w);
	q.sweep = sweep_of(moving, fixed, T, q.v, q.w, 1);
	q.pair = (tac_triangle_pair){.moving = moving, .fixed = fixed, .loaded = -1};
	tac_pair_search search = {
		.moving = moving,
		.fixed = fixed,
		.sweep = &q.sweep,
		.reach = q.threshold,
		.fixed_threshold = world_needed(&q, 1),
		.moving_threshold = carried_needed(&q, 1),
		.visit = visit,
		.user = &q,
	};
	if (part == 0 || !tac_pair_search_run(&search, context, NULL)) {
		q.result.flags |= TAC_SWEEP_BUDGET_SPENT;
		q.result.moving_triangle = q.result.fixed_triangle = -1;
		// Only a list gives all pairs at once. Those of a descent that ended early are not known.
		if (part == 0 || !q.all_found || !tac_sweep_context_covers(context, &q.sweep, q.threshold))
			q.result.fraction = 0;
	}
	prove_nested(&q);
	q.result.fraction *= part;
	if (q.result.fraction < 1)
		q.result.flags |= TAC_SWEEP_STOPPED;
	return q.result;
}
