#include "collision/certificate.h"

#include "base/assert.h"
#include "collision/ccd_pairs.h"

#include <math.h>

#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross

#define DEPTH_MAX 12

typedef struct query {
	tac_ccd_pose start;
	tac_dvec3 v, w;
	double v_length, w_length;
	double arm; // largest distance of the moving body from its origin
	const tac_certificate_options *options;
	tac_certificate_context *context;
	tac_ccd_sweep sweep;
	tac_certificate result;
} query;

// A pair of triangles and its constants.
typedef struct pair {
	const query *q;
	tac_dvec3 local[3]; // the moving triangle in its own frame
	tac_dvec3 b[3];
	double arm;   // of the moving triangle
	double reach; // the fixed triangle's largest distance from the moving origin on its way
	tac_dvec3 remembered, found;
	bool has_remembered, has_found;
} pair;

// An interval of the motion with the moving triangle at both ends.
typedef struct interval {
	double s0, s1;
	tac_dvec3 a[2][3];
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

static void place(const pair *p, double s, tac_dvec3 out_vertices[3])
{
	tac_ccd_pose T = tac_certificate_pose(&p->q->start, p->q->v, p->q->w, s);
	for (int k = 0; k < 3; k++)
		out_vertices[k] = tac_ccd_pose_apply(&T, p->local[k]);
}

static double least3(double a, double b, double c)
{
	return fmin(a, fmin(b, c));
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
	double h = i->s1 - i->s0, w = q->w_length * h, v = q->v_length * h;
	double threshold = q->options->threshold;
	double world = threshold + w * w * p->arm / 8;
	if (p->has_remembered && world_plane(p, i, p->remembered, world))
		return true;
	if (world_plane(p, i, tac_dvec3_normalize(cross(sub(p->b[1], p->b[0]), sub(p->b[2], p->b[0]))),
			world))
		return true;
	double carried = threshold + (w * w * p->reach + 2 * w * v) / 8;
	tac_dvec3 n0 = tac_dvec3_normalize(cross(sub(i->a[0][1], i->a[0][0]), sub(i->a[0][2], i->a[0][0])));
	tac_dvec3 n1 = tac_dvec3_normalize(cross(sub(i->a[1][1], i->a[1][0]), sub(i->a[1][2], i->a[1][0])));
	if (carried_plane(p, i, n0, n1, carried))
		return true;
	return closest_plane(p, i, 0, world, carried) || closest_plane(p, i, 1, world, carried);
}

// The end of the proved part of the interval.
static double prove(pair *p, const interval *i, int depth)
{
	if (plane_exists(p, i))
		return i->s1;
	if (depth == 0)
		return i->s0;
	interval first = *i, second = *i;
	first.s1 = second.s0 = 0.5 * (i->s0 + i->s1);
	place(p, first.s1, first.a[1]);
	for (int k = 0; k < 3; k++)
		second.a[0][k] = first.a[1][k];
	double end = prove(p, &first, depth - 1);
	return end < first.s1 ? end : prove(p, &second, depth - 1);
}

static uint32_t slot_of(int32_t moving, int32_t fixed)
{
	uint32_t hash = (uint32_t)moving * 2654435761u ^ (uint32_t)fixed * 2246822519u;
	return (hash >> 16 ^ hash) % TAC_CERTIFICATE_PLANES;
}

static bool visit(void *user, const tac_ccd_moving *moving, const tac_ccd_triangle *fixed,
		  const tac_dvec3 fixed_vertices[3])
{
	query *q = user;
	q->result.pairs++;
	if (q->options->pair_limit > 0 && q->result.pairs > q->options->pair_limit) {
		q->result.flags |= TAC_CCD_BUDGET_SPENT;
		q->result.fraction = 0;
		return false;
	}
	pair p = {.q = q};
	interval i = {.s0 = 0, .s1 = q->result.fraction};
	for (int k = 0; k < 3; k++) {
		p.local[k] = tac_dvec3_from_vec3(moving->triangle->vertex[k]);
		p.arm = fmax(p.arm, tac_dvec3_length(p.local[k]));
		p.b[k] = fixed_vertices[k];
		p.reach = fmax(p.reach, tac_dvec3_length(sub(p.b[k], q->start.t)) + q->v_length);
		i.a[0][k] = moving->start[k];
		i.a[1][k] = moving->end[k];
	}
	uint32_t slot = slot_of(moving->triangle->id, fixed->id);
	if (q->context && q->context->planes[slot].moving == moving->triangle->id + 1 &&
	    q->context->planes[slot].fixed == fixed->id + 1) {
		p.has_remembered = true;
		p.remembered = q->context->planes[slot].normal;
	}
	double proved = prove(&p, &i, q->options->depth);
	if (q->context && p.has_found) {
		q->context->planes[slot].moving = moving->triangle->id + 1;
		q->context->planes[slot].fixed = fixed->id + 1;
		q->context->planes[slot].normal = p.found;
	}
	if (proved >= q->result.fraction)
		return true;
	q->result.fraction = proved;
	q->result.moving_triangle = moving->triangle->id;
	q->result.fixed_triangle = fixed->id;
	// What follows need only be proved up to here.
	q->sweep = tac_ccd_sweep_make(q->start, tac_certificate_pose(&q->start, q->v, q->w, proved),
				      q->w_length * proved, q->arm);
	return proved > 0;
}

tac_certificate tac_certificate_check(const tac_ccd_body *moving, const tac_ccd_body *fixed,
				      const tac_ccd_pose *T, tac_dvec3 v, tac_dvec3 w,
				      const tac_certificate_options *options,
				      tac_certificate_context *context)
{
	TAC_ASSERT(moving && fixed && T && options);
	TAC_ASSERT(options->depth >= 0 && options->depth <= DEPTH_MAX);
	query q = {.start = *T, .v = v, .w = w, .options = options, .context = context};
	q.v_length = tac_dvec3_length(v);
	q.w_length = tac_dvec3_length(w);
	q.arm = moving->radius;
	q.result.fraction = 1;
	q.result.moving_triangle = q.result.fixed_triangle = -1;
	if (!(q.v_length < 1e30) || !(q.w_length <= 1) || !tac_dvec3_finite(T->t) ||
	    !tac_dmat3_finite(T->R) || !(options->threshold > 0)) {
		q.result.fraction = 0;
		q.result.flags = TAC_CCD_REFUSED | TAC_CCD_STOPPED;
		return q.result;
	}
	q.sweep = tac_ccd_sweep_make(*T, tac_certificate_pose(T, v, w, 1), q.w_length, q.arm);
	tac_ccd_pairs(moving, fixed, &q.sweep, &options->threshold, visit, &q);
	if (q.result.fraction < 1)
		q.result.flags |= TAC_CCD_STOPPED;
	return q.result;
}
