#include "collision/continuous/nested.h"

#include <math.h>

// The radius of the inner face is at least this fraction of that of the outer one: others do not conform.
#define CONFORMING 0.8
// The centres are at most this fraction of the outer radius apart. Beyond, the inner face is leaving.
#define APART_MAX 0.25
// Closer faces are left to their triangles, m: their facets may be apart where the spheres are not. It is
// below the threshold of certificates, so that a proved motion never ends there.
#define GAP_MIN 2e-7
// The largest angle between the planes of a pair, rad.
#define RING_MAX 1.0
#define RINGS    3
#define ON_RING  6
// Cones are wider by this, rad: more than rounding.
#define CONE_SLACK 1e-6
// A vector along another has less than this fraction of its length across it.
#define ALONG 1e-9
// How often an interval of a motion is halved.
#define DEPTH 8
// The work of one gap.
#define WORK_GAP 12

#define PI 3.14159265358979323846

typedef struct nest {
	const tac_sphere_face *moving, *fixed, *inner, *outer;
} nest;

// False if neither fits into the other, or does not conform.
static bool nest_of(const tac_body *moving, int32_t i, const tac_body *fixed, int32_t j, nest *out)
{
	const tac_sphere_face *a = &moving->spheres->faces[i], *b = &fixed->spheres->faces[j];
	const bool inside = a->outer < b->inner;
	*out = (nest){a, b, inside ? a : b, inside ? b : a};
	return out->inner->outer < out->outer->inner && out->inner->outer >= CONFORMING * out->outer->inner;
}

typedef struct cone {
	tac_dvec3 axis;
	double cosine;
} cone;

static cone widened(tac_dvec3 axis, double cosine, double by)
{
	const double angle = acos(fmax(-1, cosine)) + by + CONE_SLACK;
	return (cone){axis, cosine <= -1 || angle >= PI ? -1 : cos(angle)};
}

static bool contains(const cone *c, tac_dvec3 u)
{
	return c->cosine <= -1 || tac_dvec3_dot(c->axis, u) >= c->cosine;
}

// Takes u if it is further along d than *best.
static void offer(tac_dvec3 d, tac_dvec3 u, double *most, tac_dvec3 *best)
{
	if (tac_dvec3_dot(d, u) > *most) {
		*most = tac_dvec3_dot(d, u);
		*best = u;
	}
}

static tac_dvec3 across(tac_dvec3 v, tac_dvec3 axis)
{
	return tac_dvec3_add_scaled(v, -tac_dvec3_dot(v, axis), axis);
}

// The direction on the border of a cone that is furthest along d. Where all of the border is as far, the one
// closest to the axis of the other cone.
static tac_dvec3 on_border(const cone *c, tac_dvec3 d, tac_dvec3 other_axis)
{
	tac_dvec3 side = across(d, c->axis);
	if (!(tac_dvec3_length(side) > ALONG * tac_dvec3_length(d)))
		side = across(other_axis, c->axis);
	if (!(tac_dvec3_length(side) > ALONG))
		side = across(fabs(c->axis.x) < 0.5 ? tac_dvec3_make(1, 0, 0) : tac_dvec3_make(0, 1, 0),
			      c->axis);
	return tac_dvec3_add_scaled(tac_dvec3_scale(c->axis, c->cosine),
				    sqrt(fmax(0, 1 - c->cosine * c->cosine)), tac_dvec3_normalize(side));
}

// Whether no direction is in both cones.
static bool are_disjoint(const cone cones[2])
{
	if (cones[0].cosine <= -1 || cones[1].cosine <= -1)
		return false;
	const double between = tac_dvec3_dot(cones[0].axis, cones[1].axis);
	return acos(fmax(-1, fmin(1, between))) > acos(cones[0].cosine) + acos(cones[1].cosine);
}

// The direction furthest along d that is in both cones, which are not disjoint: d itself, or one on the
// border of a cone, or on both. Where rounding hides all of these, d: no direction is further.
static tac_dvec3 furthest(tac_dvec3 d, const cone cones[2])
{
	const double length = tac_dvec3_length(d);
	if (length == 0)
		return cones[1].axis;
	const tac_dvec3 along = tac_dvec3_scale(d, 1 / length);
	if (contains(&cones[0], along) && contains(&cones[1], along))
		return along;
	double most = -HUGE_VAL;
	tac_dvec3 best = along;
	for (int k = 0; k < 2; k++) {
		if (cones[k].cosine <= -1)
			continue;
		const tac_dvec3 u = on_border(&cones[k], d, cones[!k].axis);
		if (contains(&cones[!k], u))
			offer(d, u, &most, &best);
	}
	const double c = tac_dvec3_dot(cones[0].axis, cones[1].axis), square = 1 - c * c;
	if (cones[0].cosine <= -1 || cones[1].cosine <= -1 || !(square > ALONG))
		return best;
	const double a = (cones[0].cosine - c * cones[1].cosine) / square,
		     b = (cones[1].cosine - c * cones[0].cosine) / square;
	const tac_dvec3 in =
		tac_dvec3_add(tac_dvec3_scale(cones[0].axis, a), tac_dvec3_scale(cones[1].axis, b));
	const tac_dvec3 out_of = tac_dvec3_cross(cones[0].axis, cones[1].axis);
	const double rest = 1 - tac_dvec3_length_squared(in);
	for (int side = -1; side <= 1 && rest >= 0; side += 2)
		offer(d, tac_dvec3_add_scaled(in, side * sqrt(rest / square), out_of), &most, &best);
	return best;
}

// The faces at a pose, in the fixed frame.
typedef struct placed {
	bool inside;      // the moving face is the inner one
	tac_dvec3 centre; // of the moving face
	tac_dvec3 d;      // from the outer centre to the inner one
	double rho, r;    // inner radius of the outer face, outer radius of the inner one
	cone cones[2];    // of the inner and of the outer face
} placed;

// Directions of points of both faces that are within `reach` of each other are in both cones. With `turn` and
// `path`, so they are anywhere on a motion that passes the pose.
static placed place(const nest *n, const tac_drigid *T, double turn, double path, double reach)
{
	placed p = {.inside = n->inner == n->moving,
		    .centre = tac_drigid_apply_point(T, n->moving->centre),
		    .rho = n->outer->inner,
		    .r = n->inner->outer};
	const tac_dvec3 axis = tac_dmat3_apply(T->R, n->moving->axis), fixed = n->fixed->centre;
	p.d = p.inside ? tac_dvec3_sub(p.centre, fixed) : tac_dvec3_sub(fixed, p.centre);
	// Seen from their centres, two points within reach differ by at most this angle.
	const double between = asin(fmin(1, (tac_dvec3_length(p.d) + path + reach) / p.rho));
	p.cones[0] =
		widened(p.inside ? axis : n->fixed->axis, n->inner->cosine, between + (p.inside ? turn : 0));
	p.cones[1] = widened(p.inside ? n->fixed->axis : axis, n->outer->cosine, p.inside ? 0 : turn);
	return p;
}

// From the point of the outer face in the direction u to the inner centre.
static tac_dvec3 away_from(const placed *p, tac_dvec3 u)
{
	return tac_dvec3_add_scaled(p->d, -p->rho, u);
}

// The least distance of the faces, up to `reach`.
static double gap_of(const placed *p, double reach)
{
	if (are_disjoint(p->cones))
		return reach;
	return fmin(reach, tac_dvec3_length(away_from(p, furthest(p->d, p->cones))) - p->r);
}

static tac_nested_plane plane_at(const placed *p, const tac_drigid *T, tac_dvec3 u)
{
	const tac_dvec3 away = away_from(p, u);
	const double distance = tac_dvec3_length(away);
	const tac_dvec3 normal = tac_dvec3_scale(away, 1 / distance),
			on_moving = p->inside ? tac_dvec3_neg(normal) : u;
	return (tac_nested_plane){
		.gap = distance - p->r,
		.normal = p->inside ? normal : tac_dvec3_neg(normal),
		.point = tac_dvec3_add_scaled(p->centre, p->inside ? p->r : p->rho, on_moving),
		.on_moving = tac_dmat3_transpose_apply(T->R, on_moving),
		.on_fixed = p->inside ? u : tac_dvec3_neg(normal),
	};
}

int32_t tac_nested_planes_at(const tac_body *moving, int32_t i, const tac_body *fixed, int32_t j,
			     const tac_drigid *T, double margin, tac_nested_plane out[TAC_NESTED_PLANES])
{
	nest n;
	if (!nest_of(moving, i, fixed, j, &n))
		return 0;
	const placed p = place(&n, T, 0, 0, margin);
	if (are_disjoint(p.cones))
		return 0;
	const tac_dvec3 u = furthest(p.d, p.cones);
	out[0] = plane_at(&p, T, u);
	if (!(out[0].gap < margin))
		return 0;
	// Rings around it, as wide as the margin.
	static const double rings[RINGS] = {0.2, 0.5, 1};
	const double apart = tac_dvec3_length(p.d), rise = margin - out[0].gap;
	const double widest = rise < (1 - cos(RING_MAX)) * apart ? acos(1 - rise / apart) : RING_MAX;
	const tac_dvec3 x = tac_dvec3_normalize(across(
				fabs(u.x) < 0.5 ? tac_dvec3_make(1, 0, 0) : tac_dvec3_make(0, 1, 0), u)),
			y = tac_dvec3_cross(u, x);
	int32_t count = 1;
	for (int k = 0; k < RINGS * ON_RING; k++) {
		const double angle = rings[k / ON_RING] * widest,
			     around = (2 * (k % ON_RING) + k / ON_RING) * PI / ON_RING;
		const tac_dvec3 side =
			tac_dvec3_add(tac_dvec3_scale(x, cos(around)), tac_dvec3_scale(y, sin(around)));
		const tac_dvec3 v = tac_dvec3_add_scaled(tac_dvec3_scale(u, cos(angle)), sin(angle), side);
		if (!contains(&p.cones[0], v) || !contains(&p.cones[1], v))
			continue;
		out[count] = plane_at(&p, T, v);
		count += out[count].gap < margin;
	}
	return count;
}

static bool starts_free(const nest *n, const tac_drigid *T)
{
	const placed p = place(n, T, 0, 0, 2 * GAP_MIN);
	return gap_of(&p, 2 * GAP_MIN) > GAP_MIN;
}

uint16_t tac_nested_find(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep)
{
	uint16_t found = 0;
	if (!moving->spheres || !fixed->spheres)
		return 0;
	for (int32_t i = 0; i < moving->spheres->count; i++) {
		for (int32_t j = 0; j < fixed->spheres->count; j++) {
			nest n;
			if (!nest_of(moving, i, fixed, j, &n))
				continue;
			const tac_dvec3 a = tac_drigid_apply_point(&sweep->start, n.moving->centre),
					b = tac_drigid_apply_point(&sweep->end, n.moving->centre);
			const double apart = fmax(tac_dvec3_length(tac_dvec3_sub(a, n.fixed->centre)),
						  tac_dvec3_length(tac_dvec3_sub(b, n.fixed->centre))) +
					     sweep->bend;
			if (apart <= APART_MAX * n.outer->inner && starts_free(&n, &sweep->start))
				found |= tac_nested_bit(i, j);
		}
	}
	return found;
}

typedef struct proof {
	const nest *n;
	const tac_nested_motion *motion;
	double threshold, reach;
	tac_sweep_context *context;
} proof;

static double gap_during(const proof *p, double s)
{
	const tac_drigid T = p->motion->pose(p->motion->user, s);
	tac_sweep_context_add_work(p->context, WORK_GAP);
	const placed at = place(p->n, &T, p->motion->turn, p->motion->path, p->reach);
	return gap_of(&at, p->reach);
}

// The end of the proved part of an interval, given the gaps at its ends. Nowhere in between the gap is less
// than the mean of both by more than half of the path.
static double prove(const proof *p, double s0, double gap0, double s1, double gap1, int depth)
{
	if (0.5 * (gap0 + gap1 - (s1 - s0) * p->motion->path) >= p->threshold)
		return s1;
	if (depth == 0 || gap0 < p->threshold)
		return s0;
	const double middle = 0.5 * (s0 + s1), gap = gap_during(p, middle),
		     end = prove(p, s0, gap0, middle, gap, depth - 1);
	return end < middle ? end : prove(p, middle, gap, s1, gap1, depth - 1);
}

double tac_nested_prove(const tac_body *moving, int32_t i, const tac_body *fixed, int32_t j,
			const tac_nested_motion *motion, double threshold, tac_sweep_context *context)
{
	nest n;
	if (!nest_of(moving, i, fixed, j, &n))
		return 0;
	// Gaps beyond the reach need not be known.
	const proof p = {&n, motion, threshold, threshold + 2 * motion->path + GAP_MIN, context};
	return prove(&p, 0, gap_during(&p, 0), 1, gap_during(&p, 1), DEPTH);
}
