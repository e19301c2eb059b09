#include "collision/certificate.h"

#include "base/assert.h"
#include "collision/ccd_pairs.h"

#include <math.h>

#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross

#define DEPTH_MAX 12
// Rounding of a separation, as a part of the largest coordinate.
#define ROUNDING 1e-13
// Poses of a query that are kept: the ends of intervals after so many halvings.
#define POSES_DEPTH 5
#define POSES       ((1 << POSES_DEPTH) + 1)

typedef struct query {
	tac_ccd_pose start;
	tac_dvec3 v, w;
	double v_length, w_length;
	const tac_certificate_options *options;
	tac_ccd_context *context;
	tac_ccd_sweep sweep;
	tac_ccd_pair pair;
	tac_certificate result;
	uint64_t posed; // bit k: poses[k], at k / (POSES - 1) of the way, is there
	tac_ccd_pose poses[POSES];
} query;

// A pair of triangles and its constants.
typedef struct pair {
	query *q;
	const tac_dvec3 *b; // the fixed triangle
	double arm;         // largest distance of the moving triangle from its origin
	double reach;       // the fixed triangle's largest distance from the moving origin on its way
	tac_dvec3 remembered, found;
	bool has_remembered, has_found;
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

tac_ccd_pose tac_certificate_pose(const tac_ccd_pose *T, tac_dvec3 v, tac_dvec3 w, double s)
{
	tac_dmat3 turn = tac_dmat3_from_quat(tac_dquat_exp(tac_dvec3_scale(w, s)));
	tac_ccd_pose pose = {tac_dmat3_mul(turn, T->R), tac_dvec3_add_scaled(T->t, s, v)};
	return pose;
}

static tac_ccd_pose pose_at(query *q, double s)
{
	double at = s * (POSES - 1);
	int k = (int)at;
	if (k != at) // halved more often than the table is fine
		return tac_certificate_pose(&q->start, q->v, q->w, s);
	if (!(q->posed >> k & 1)) {
		q->poses[k] = tac_certificate_pose(&q->start, q->v, q->w, s);
		q->posed |= (uint64_t)1 << k;
	}
	return q->poses[k];
}

// Places the moving triangle at one end of the interval.
static void place(const pair *p, double s, interval *i, int end)
{
	const tac_ccd_triangle *t = p->q->pair.a.triangle;
	tac_ccd_pose T = pose_at(p->q, s);
	for (int k = 0; k < 3; k++)
		i->a[end][k] = tac_ccd_pose_apply(&T, tac_dvec3_from_vec3(t->vertex[k]));
	i->normal[end] = tac_dmat3_apply(T.R, t->normal);
}

static double least3(double a, double b, double c)
{
	double d = b < c ? b : c;
	return a < d ? a : d;
}

// How far `a` lies beyond `b` along n.
static double separation(tac_dvec3 n, const tac_dvec3 a[3], const tac_dvec3 b[3])
{
	// Differences first: the coordinates may be large and the separation small.
	double la = least3(0, dot(n, sub(a[1], a[0])), dot(n, sub(a[2], a[0])));
	double lb = least3(0, dot(n, sub(b[0], b[1])), dot(n, sub(b[0], b[2])));
	return dot(n, sub(a[0], b[0])) + la + lb;
}

static bool separates(tac_dvec3 n0, tac_dvec3 n1, const interval *i, const tac_dvec3 b[3], double needed)
{
	return separation(n0, i->a[0], b) >= needed && separation(n1, i->a[1], b) >= needed;
}

// A plane fixed in the world, of either direction: |a''| <= w^2 r.
static bool world_plane(pair *p, const interval *i, tac_dvec3 n, double needed)
{
	if (!separates(n, n, i, p->b, needed)) {
		n = tac_dvec3_neg(n);
		if (!separates(n, n, i, p->b, needed))
			return false;
	}
	p->found = n;
	p->has_found = true;
	return true;
}

// A plane carried by the body, given by its normals at both ends: n(s)·(p(s) - b) has the second derivative
// n''·(p - b) + 2 n'·v.
static bool carried_plane(const pair *p, const interval *i, tac_dvec3 n0, tac_dvec3 n1, double needed)
{
	return separates(n0, n1, i, p->b, needed) ||
	       separates(tac_dvec3_neg(n0), tac_dvec3_neg(n1), i, p->b, needed);
}

// The plane spanned by edge k of the moving triangle and edge j of the fixed one, not normalised: m = u x e
// with unit u and e, so |m| <= 1 and a product of at least the threshold is a distance of at least the
// threshold. (m·(a - b))'' = m''·(a - b) + 2 m'·a' + m·a''.
static bool edges_plane(const pair *p, const interval *i, int k, int j, double w, double v)
{
	tac_dvec3 e = tac_dvec3_normalize(sub(p->b[(j + 1) % 3], p->b[j]));
	tac_dvec3 m0 = cross(tac_dvec3_normalize(sub(i->a[0][(k + 1) % 3], i->a[0][k])), e);
	tac_dvec3 m1 = cross(tac_dvec3_normalize(sub(i->a[1][(k + 1) % 3], i->a[1][k])), e);
	double apart = 0;
	for (int n = 0; n < 9; n++)
		apart = fmax(apart, tac_dvec3_length(sub(i->a[0][n / 3], p->b[n % 3])));
	double way = v + w * p->arm;
	double bend = w * w * p->arm + 2 * w * way + w * w * (apart + way);
	return carried_plane(p, i, m0, m1, p->q->options->threshold + bend / 8);
}

// Planes across the closest points at one end of the interval.
static bool closest_plane(pair *p, const interval *i, int end, double world, double carried)
{
	const query *q = p->q;
	tac_ccd_work_add(q->context, TAC_CCD_WORK_CLOSEST);
	tac_ccd_closest c = tac_ccd_closest_of_triangles(i->a[end], p->b);
	if (c.distance < q->options->threshold)
		return false;
	tac_dvec3 n = tac_dvec3_normalize(sub(c.point, c.on_fixed));
	if (world_plane(p, i, n, world))
		return true;
	double h = i->s1 - i->s0;
	tac_dmat3 turn = tac_dmat3_from_quat(tac_dquat_exp(tac_dvec3_scale(q->w, h)));
	tac_dvec3 n0 = end ? tac_dmat3_transpose_apply(turn, n) : n, n1 = end ? n : tac_dmat3_apply(turn, n);
	if (carried_plane(p, i, n0, n1, carried))
		return true;
	return c.kind == TAC_CCD_EDGE_EDGE &&
	       edges_plane(p, i, c.moving, c.fixed, q->w_length * h, q->v_length * h);
}

static bool plane_exists(pair *p, const interval *i)
{
	const query *q = p->q;
	tac_ccd_work_add(q->context, TAC_CCD_WORK_PROOF);
	double h = i->s1 - i->s0, w = q->w_length * h, v = q->v_length * h;
	double threshold = q->options->threshold;
	double world = threshold + w * w * p->arm / 8;
	if (p->has_remembered && world_plane(p, i, p->remembered, world))
		return true;
	if (world_plane(p, i, q->pair.triangle->normal, world))
		return true;
	double carried = threshold + (w * w * p->reach + 2 * w * v) / 8;
	if (carried_plane(p, i, i->normal[0], i->normal[1], carried))
		return true;
	return closest_plane(p, i, 0, world, carried) || closest_plane(p, i, 1, world, carried);
}

// The end of the proved part of the interval. What lies beyond the fraction so far is of no interest.
static double prove(pair *p, const interval *i, int depth)
{
	if (i->s0 > p->q->result.fraction || plane_exists(p, i))
		return i->s1;
	if (depth == 0)
		return i->s0;
	interval first = *i, second = *i;
	first.s1 = second.s0 = 0.5 * (i->s0 + i->s1);
	place(p, first.s1, &first, 1);
	for (int k = 0; k < 3; k++)
		second.a[0][k] = first.a[1][k];
	second.normal[0] = first.normal[1];
	double end = prove(p, &first, depth - 1);
	return end < first.s1 ? end : prove(p, &second, depth - 1);
}

static uint32_t slot_of(int32_t moving, int32_t fixed)
{
	uint32_t hash = (uint32_t)moving * 2654435761u ^ (uint32_t)fixed * 2246822519u;
	return (hash >> 16 ^ hash) % TAC_CCD_PLANES_MAX;
}

// Proves the loaded pair; the end of the proved part of the motion.
static double prove_pair(query *q)
{
	const tac_ccd_moving *a = &q->pair.a;
	int32_t moving = a->triangle->id + 1, fixed = q->pair.triangle->id + 1;
	pair p = {.q = q, .b = q->pair.b};
	interval i = {.s0 = 0, .s1 = 1};
	double arm = 0, reach = 0;
	for (int k = 0; k < 3; k++) {
		arm = fmax(arm, tac_dvec3_length_squared(sub(a->start[k], q->start.t)));
		reach = fmax(reach, tac_dvec3_length_squared(sub(p.b[k], q->start.t)));
		i.a[0][k] = a->start[k];
		i.a[1][k] = a->end[k];
	}
	p.arm = sqrt(arm);
	p.reach = sqrt(reach) + q->v_length;
	i.normal[0] = a->normal;
	i.normal[1] = tac_dmat3_apply(q->sweep.end.R, a->triangle->normal);
	tac_ccd_context *context = q->context;
	uint32_t slot = slot_of(moving, fixed);
	if (context && context->planes[slot].moving == moving && context->planes[slot].fixed == fixed) {
		p.has_remembered = true;
		p.remembered = context->planes[slot].normal;
	}
	double proved = prove(&p, &i, q->options->depth);
	if (context && p.has_found) {
		context->planes[slot].moving = moving;
		context->planes[slot].fixed = fixed;
		context->planes[slot].normal = p.found;
	}
	// What no plane proves, the distance may: a pair that is further away than the motion is long. So it
	// does not matter how many such pairs the broad phase finds.
	if (proved < 1 && tac_ccd_closest_of_triangles(a->start, p.b).distance >
				  q->options->threshold + q->v_length + q->w_length * p.arm)
		return 1;
	return proved;
}

static bool visit_pair(query *q, int32_t moving, int32_t fixed)
{
	if (!tac_ccd_pair_load(&q->pair, &q->sweep, moving, fixed, q->options->threshold))
		return true;
	tac_certificate *r = &q->result;
	r->pairs++;
	if (q->options->pair_limit > 0 && r->pairs > q->options->pair_limit)
		return false;
	double proved = prove_pair(q);
	int32_t m = q->pair.a.triangle->id, f = q->pair.triangle->id;
	// Of equals the lowest, so that the answer does not depend on who came first.
	bool lower = m < r->moving_triangle || (m == r->moving_triangle && f < r->fixed_triangle);
	if (proved < r->fraction || (proved < 1 && proved == r->fraction && lower)) {
		r->fraction = proved;
		r->moving_triangle = m;
		r->fixed_triangle = f;
	}
	return true;
}

static bool visit(void *user, tac_ccd_near *pairs, int32_t count)
{
	query *q = user;
	for (int32_t i = 0; i < count; i++) {
		if (!visit_pair(q, pairs[i].moving, pairs[i].fixed) || tac_ccd_work_left(q->context) < 0)
			return false;
	}
	return true;
}

tac_certificate tac_certificate_check(const tac_ccd_body *moving, const tac_ccd_body *fixed,
				      const tac_ccd_pose *T, tac_dvec3 v, tac_dvec3 w,
				      const tac_certificate_options *options, tac_ccd_context *context)
{
	TAC_ASSERT(moving && fixed && T && options);
	TAC_ASSERT(options->depth >= 0 && options->depth <= DEPTH_MAX);
	tac_ccd_context_bind(context, moving, fixed);
	query q;
	q.start = *T;
	q.v = v;
	q.w = w;
	q.v_length = tac_dvec3_length(v);
	q.w_length = tac_dvec3_length(w);
	q.options = options;
	q.context = context;
	q.posed = 0;
	q.result = (tac_certificate){.fraction = 1, .moving_triangle = -1, .fixed_triangle = -1};
	double size = tac_dvec3_length(T->t) + moving->radius + q.v_length;
	if (!(q.w_length <= 1) || !(tac_dmat3_orthonormality_error(T->R) < 1e-3) ||
	    !(options->threshold > 0) || !(size * ROUNDING <= options->threshold)) {
		q.result.fraction = 0;
		q.result.flags = TAC_CCD_REFUSED | TAC_CCD_STOPPED;
		return q.result;
	}
	q.sweep = tac_ccd_sweep_make(*T, tac_certificate_pose(T, v, w, 1), q.w_length, moving->radius);
	q.pair = (tac_ccd_pair){.moving = moving, .fixed = fixed, .loaded = -1};
	double way = q.v_length + q.w_length * moving->radius;
	// Planes that separate by so much at both ends prove a motion: the bounds of plane_exists for any
	// pair.
	double w2 = q.w_length * q.w_length, reach = fixed->radius + tac_dvec3_length(T->t) + q.v_length;
	double by_fixed = options->threshold + w2 * moving->radius / 8;
	double by_moving = options->threshold + (w2 * reach + 2 * q.w_length * q.v_length) / 8;
	// What is to meet on the way is at most half of it apart in the middle.
	tac_ccd_pose middle = pose_at(&q, 0.5);
	tac_ccd_search search = {moving,   fixed,     &q.sweep, &middle, options->threshold + 0.5 * way,
				 by_fixed, by_moving, visit,    &q,      0};
	if (!tac_ccd_near_pairs(&search, context, NULL)) {
		q.result.flags |= TAC_CCD_BUDGET_SPENT;
		q.result.fraction = 0;
	}
	if (q.result.fraction < 1)
		q.result.flags |= TAC_CCD_STOPPED;
	return q.result;
}
