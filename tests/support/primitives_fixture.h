// The fixture of the tests of collision/geometry/primitives.h: random solids, a bound of a point's distance
// from one, and two oracles that use only this bound: subdivision until every piece is proved free or a point
// is inside, and golden-section search where the solid is convex.
#ifndef TAC_TESTS_SUPPORT_PRIMITIVES_FIXTURE_H
#define TAC_TESTS_SUPPORT_PRIMITIVES_FIXTURE_H

#include "base/rng.h"
#include "collision/geometry/primitives.h"
#include "tests/support/limits.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unity.h>

#define EPS 1e-9 // for the unit cube

// The number of pairs in a comparison: TACTUS_PAIRS if it is set. Otherwise a fraction of the paper's
// 200,000, and fewer where the oracle is slow or a sanitizer slows it down.
static inline int pairs_over(int divisor)
{
	const char *text = getenv("TACTUS_PAIRS");
	const int requested = text ? atoi(text) : 0;
	return requested > 0 ? requested : (TAC_TEST_SANITIZED ? 10000 : 50000) / divisor;
}
#define PAIRS pairs_over(1)

static inline tac_dvec3 vec(double x, double y, double z)
{
	return tac_dvec3_make(x, y, z);
}

static inline tac_segment segment(double ax, double ay, double az, double bx, double by, double bz)
{
	return (tac_segment){vec(ax, ay, az), vec(bx, by, bz)};
}

static inline tac_dvec3 random_point(tac_rng *rng)
{
	double x = tac_rng_range_f64(rng, -0.5, 0.5), y = tac_rng_range_f64(rng, -0.5, 0.5);
	return vec(x, y, tac_rng_range_f64(rng, -0.5, 0.5));
}

static inline double dot(tac_dvec3 a, tac_dvec3 b)
{
	return tac_dvec3_dot(a, b);
}

static inline tac_dvec3 sub(tac_dvec3 a, tac_dvec3 b)
{
	return tac_dvec3_sub(a, b);
}

// ---- the solids, and the distance of a point from them ----

typedef enum kind { SPHERE, UPRIGHT, CYLINDER, CONE, CONVEX, CONCAVE, KINDS } kind;

static const char *const kind_names[KINDS] = {"sphere", "upright cylinder", "cylinder",
					      "cone",   "convex toroid",    "concave toroid"};

typedef struct solid {
	kind kind;
	tac_sphere sphere;
	tac_upright_cylinder upright;
	tac_cylinder cylinder;
	tac_cone cone;
	tac_toroid toroid;
} solid;

static inline bool meets_segment(const solid *s, const tac_segment *x, double eps, tac_witness *out)
{
	switch (s->kind) {
	case SPHERE:
		return tac_sphere_meets_segment(&s->sphere, x, eps, out);
	case UPRIGHT:
		return tac_upright_cylinder_meets_segment(&s->upright, x, eps, out);
	case CYLINDER:
		return tac_cylinder_meets_segment(&s->cylinder, x, eps, out);
	case CONE:
		return tac_cone_meets_segment(&s->cone, x, eps, out);
	default:
		return tac_toroid_meets_segment(&s->toroid, x, eps, out);
	}
}

static inline bool meets_triangle(const solid *s, const tac_triangle *x, double eps, tac_witness *out)
{
	switch (s->kind) {
	case SPHERE:
		return tac_sphere_meets_triangle(&s->sphere, x, eps, out);
	case UPRIGHT:
		return tac_upright_cylinder_meets_triangle(&s->upright, x, eps, out);
	case CYLINDER:
		return tac_cylinder_meets_triangle(&s->cylinder, x, eps, out);
	case CONE:
		return tac_cone_meets_triangle(&s->cone, x, eps, out);
	default:
		return tac_toroid_meets_triangle(&s->toroid, x, eps, out);
	}
}

// Upright solids are near the origin, as are the segments and triangles.
static inline solid random_solid(kind k, tac_rng *rng)
{
	solid s = {.kind = k};
	double a = tac_rng_f64(rng), b = tac_rng_f64(rng), c = tac_rng_f64(rng);
	s.sphere = (tac_sphere){random_point(rng), 0.02 + 0.4 * a};
	s.upright = (tac_upright_cylinder){0.02 + 0.4 * a, 0.5 * b};
	s.cylinder = (tac_cylinder){random_point(rng), random_point(rng), 0.02 + 0.3 * a};
	uint32_t shape = tac_rng_below(rng, 8);
	double bottom = 0.5 * a, top = shape == 0 ? 0 : shape == 1 ? 1e-3 * c : 0.5 * c;
	s.cone = tac_rng_below(rng, 2) != 0 ? (tac_cone){bottom, top, 0.05 + 0.5 * b}
					    : (tac_cone){top, bottom, 0.05 + 0.5 * b};
	double minor = 0.05 + 0.3 * b, major = k == CONCAVE ? minor + 0.2 * a : shape == 0 ? 0 : 0.3 * a;
	double z0 = tac_rng_range_f64(rng, -minor, minor), z1 = tac_rng_range_f64(rng, -minor, minor);
	s.toroid = (tac_toroid){major, minor, fmin(z0, z1), fmax(z0, z1), k == CONCAVE};
	return s;
}

// A lower bound of the distance from the solid, not positive exactly inside it, and Lipschitz-continuous with
// constant 1: where it is above d, the ball of radius d is free of the solid.
static inline double distance_bound(const solid *s, tac_dvec3 x)
{
	double r = hypot(x.x, x.y);
	switch (s->kind) {
	case SPHERE:
		return tac_dvec3_length(sub(x, s->sphere.centre)) - s->sphere.radius;
	case UPRIGHT:
		return fmax(r - s->upright.radius, fmax(-x.z, x.z - s->upright.height));
	case CYLINDER: {
		tac_dvec3 pq = sub(s->cylinder.q, s->cylinder.p), px = sub(x, s->cylinder.p);
		double h = sqrt(dot(pq, pq)), z = dot(pq, px) / h;
		tac_dvec3 off = sub(px, tac_dvec3_scale(pq, z / h));
		return fmax(sqrt(dot(off, off)) - s->cylinder.radius, fmax(-z, z - h));
	}
	case CONE: {
		double h = s->cone.height, d = s->cone.top - s->cone.bottom;
		double side = (r - (s->cone.bottom + d * x.z / h)) * h / hypot(h, d);
		return fmax(side, fmax(-x.z, x.z - h));
	}
	default: {
		const tac_toroid *t = &s->toroid;
		double tube = hypot(r - t->major, x.z) - t->minor,
		       slab = fmax(t->z_min - x.z, x.z - t->z_max);
		if (t->concave)
			return fmax(slab, fmax(-tube, r - t->major));
		return fmax(slab, r > t->major ? tube : fabs(x.z) - t->minor);
	}
	}
}

// ---- the oracles ----

typedef enum verdict { FREE, HIT, OPEN } verdict;

#define PIECES_MAX 300 // 1000 times as many where convexity does not help

static inline verdict search_segment(const solid *s, const tac_segment *x)
{
	double stack[64][2], length = tac_dvec3_length(sub(x->b, x->a));
	int depth = 0;
	stack[depth][0] = 0;
	stack[depth++][1] = 1;
	for (int pieces = 0; depth > 0; pieces++) {
		double a = stack[depth - 1][0], b = stack[depth - 1][1], middle = 0.5 * (a + b);
		depth--;
		double gap = distance_bound(s, tac_dvec3_lerp(x->a, x->b, middle));
		if (gap <= 0)
			return HIT;
		if (gap > 0.5 * (b - a) * length)
			continue;
		if (pieces >= 30 * PIECES_MAX || depth + 2 > 64)
			return OPEN;
		stack[depth][0] = a;
		stack[depth++][1] = middle;
		stack[depth][0] = middle;
		stack[depth++][1] = b;
	}
	return FREE;
}

static inline tac_dvec3 middle_of(tac_dvec3 a, tac_dvec3 b)
{
	return tac_dvec3_scale(tac_dvec3_add(a, b), 0.5);
}

static inline verdict search_triangle(const solid *s, const tac_triangle *x)
{
	enum { DEEPEST = 40 };
	tac_triangle stack[3 * DEEPEST + 4];
	int depth = 0, most = s->kind == CONCAVE ? 1000 * PIECES_MAX : PIECES_MAX;
	stack[depth++] = *x;
	for (int pieces = 0; depth > 0; pieces++) {
		tac_triangle t = stack[--depth];
		tac_dvec3 ab = middle_of(t.a, t.b), bc = middle_of(t.b, t.c), ca = middle_of(t.c, t.a);
		tac_dvec3 centre = tac_dvec3_scale(tac_dvec3_add(t.a, tac_dvec3_add(t.b, t.c)), 1.0 / 3);
		tac_dvec3 da = sub(t.a, centre), db = sub(t.b, centre), dc = sub(t.c, centre);
		double radius2 = fmax(dot(da, da), fmax(dot(db, db), dot(dc, dc)));
		double gap = distance_bound(s, centre);
		if (gap <= 0)
			return HIT;
		if (gap * gap > radius2)
			continue;
		if (pieces >= most || depth + 4 > 3 * DEEPEST + 4)
			return OPEN;
		stack[depth++] = (tac_triangle){t.a, ab, ca};
		stack[depth++] = (tac_triangle){ab, t.b, bc};
		stack[depth++] = (tac_triangle){ca, bc, t.c};
		stack[depth++] = (tac_triangle){ab, bc, ca};
	}
	return FREE;
}

// `distance_bound` is convex for every solid but the concave toroid: golden-section search finds its minimum
// along a segment, and its minimum over a triangle as that of the minima along the parallels to a side.
typedef struct search {
	const solid *s;
	const tac_segment *segment;
	const tac_triangle *triangle; // or NULL
} search;

static inline double value_at(const search *q, double t);

static inline double least_value(const search *q)
{
	const double ratio = 0.6180339887498949;
	double low = 0, high = 1, m = 1 - ratio, n = ratio, at_m = value_at(q, m), at_n = value_at(q, n);
	for (int i = 0; i < 44; i++) { // down to 1e-9 of the interval
		if (at_m < at_n) {
			high = n;
			n = m;
			at_n = at_m;
			m = high - ratio * (high - low);
			at_m = value_at(q, m);
		} else {
			low = m;
			m = n;
			at_m = at_n;
			n = low + ratio * (high - low);
			at_n = value_at(q, n);
		}
	}
	return fmin(fmin(at_m, at_n), fmin(value_at(q, 0), value_at(q, 1)));
}

static inline double value_at(const search *q, double t)
{
	if (!q->triangle)
		return distance_bound(q->s, tac_dvec3_lerp(q->segment->a, q->segment->b, t));
	const tac_triangle *x = q->triangle;
	tac_segment parallel = {tac_dvec3_lerp(x->a, x->b, t), tac_dvec3_lerp(x->a, x->c, t)};
	search inner = {q->s, &parallel, NULL};
	return least_value(&inner);
}

static inline double least_along(const solid *s, const tac_segment *x)
{
	search q = {s, x, NULL};
	return least_value(&q);
}

static inline double least_over(const solid *s, const tac_triangle *x)
{
	search q = {s, NULL, x};
	return least_value(&q);
}

static inline void check_share(kind k, int pairs, int hits, int open)
{
	// A comparison with only one outcome proves nothing, nor does one that leaves many pairs open.
	TEST_ASSERT_TRUE_MESSAGE(hits > pairs / 50 && hits < pairs / 50 * 49, kind_names[k]);
	TEST_ASSERT_TRUE_MESSAGE(open <= pairs / 10000, kind_names[k]);
	if (getenv("TACTUS_PAIRS"))
		printf("%s: %d pairs, %d hits, %d left open by the oracle\n", kind_names[k], pairs, hits,
		       open);
}

static inline double distance_from_triangle(const tac_triangle *t, tac_dvec3 p)
{
	tac_dvec3 n = tac_dvec3_triangle_normal(t->a, t->b, t->c);
	double off = fabs(dot(n, sub(p, t->a)));
	const tac_dvec3 v[4] = {t->a, t->b, t->c, t->a};
	for (int i = 0; i < 3; i++) {
		tac_dvec3 inward = tac_dvec3_normalize(tac_dvec3_cross(n, sub(v[i + 1], v[i])));
		off = fmax(off, -dot(inward, sub(p, v[i])));
	}
	return off;
}

// Compares random segments with random solids of these kinds.
static inline void check_segments(kind first, kind last)
{
	for (kind k = first; k <= last; k++) {
		tac_rng rng = tac_rng_seed(1, (uint64_t)k);
		int hits = 0, open = 0;
		for (int i = 0; i < PAIRS; i++) {
			solid s = random_solid(k, &rng);
			tac_segment x = {random_point(&rng), random_point(&rng)};
			tac_witness w = {{0, 0, 0}, -1, -1};
			bool hit = meets_segment(&s, &x, EPS, &w);
			TEST_ASSERT_EQUAL_MESSAGE(hit, meets_segment(&s, &x, EPS, NULL), kind_names[k]);
			verdict v = search_segment(&s, &x);
			hits += hit;
			open += v == OPEN;
			if (v != OPEN)
				TEST_ASSERT_EQUAL_MESSAGE(v == HIT, hit, kind_names[k]);
			if (hit) {
				TEST_ASSERT_TRUE_MESSAGE(w.t >= 0 && w.t <= 1, kind_names[k]);
				tac_dvec3 off = sub(tac_dvec3_lerp(x.a, x.b, w.t), w.point);
				TEST_ASSERT_TRUE_MESSAGE(dot(off, off) <= 16 * EPS * EPS, kind_names[k]);
				TEST_ASSERT_TRUE_MESSAGE(distance_bound(&s, w.point) <= 4 * EPS,
							 kind_names[k]);
			}
		}
		check_share(k, PAIRS, hits, open);
	}
}

// Compares random triangles with random solids of these kinds.
static inline void check_triangles(kind first, kind last)
{
	for (kind k = first; k <= last; k++) {
		tac_rng rng = tac_rng_seed(2, (uint64_t)k);
		int hits = 0, open = 0;
		// test_primitives_solid.c has second implementations for spheres and cylinders.
		int pairs = pairs_over(k < CONE ? 10 : k == CONCAVE ? 5 : 1);
		for (int i = 0; i < pairs; i++) {
			solid s = random_solid(k, &rng);
			tac_triangle x = {random_point(&rng), random_point(&rng), random_point(&rng)};
			tac_witness w = {{0, 0, 0}, -1, -1};
			bool hit = meets_triangle(&s, &x, EPS, &w);
			TEST_ASSERT_EQUAL_MESSAGE(hit, meets_triangle(&s, &x, EPS, NULL), kind_names[k]);
			verdict v = search_triangle(&s, &x);
			hits += hit;
			open += v == OPEN && !hit; // a hit is proved by its witness below
			if (v != OPEN) {
				TEST_ASSERT_EQUAL_MESSAGE(v == HIT, hit, kind_names[k]);
			} else if (k != CONCAVE) {
				double gap = least_over(&s, &x);
				open -= !hit && fabs(gap) >= 10 * EPS;
				if (fabs(gap) >= 10 * EPS)
					TEST_ASSERT_EQUAL_MESSAGE(gap <= 0, hit, kind_names[k]);
			}
			if (hit) {
				TEST_ASSERT_TRUE_MESSAGE(distance_from_triangle(&x, w.point) <= 1e-8,
							 kind_names[k]);
				TEST_ASSERT_TRUE_MESSAGE(distance_bound(&s, w.point) <= 4 * EPS,
							 kind_names[k]);
			}
		}
		check_share(k, pairs, hits, open);
	}
}

// The printed sphere test, by squares of projections instead of the nearest point.
static inline double sphere_segment_gap(const tac_sphere *s, const tac_segment *x)
{
	tac_dvec3 ab = sub(x->b, x->a), ap = sub(s->centre, x->a), bp = sub(s->centre, x->b);
	double p = dot(ab, ap), length2 = dot(ab, ab), distance2;
	if (p < 0)
		distance2 = dot(ap, ap);
	else if (p < length2)
		distance2 = dot(ap, ap) - p * p / length2;
	else
		distance2 = dot(bp, bp);
	return sqrt(fmax(distance2, 0)) - s->radius;
}

#endif
