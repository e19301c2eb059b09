#include "collision/primitives.h"

#include "base/rng.h"
#include "tests/integers.h"

#include <fenv.h>
#include <stddef.h>
#include <stdint.h>
#include <unity.h>

// Pairs a comparison: as many as the paper speaks of, fewer where a sanitizer makes each ten times as slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PAIRS 10000
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PAIRS 10000
#endif
#endif
#ifndef PAIRS
#define PAIRS 200000
#endif

#define EPS 1e-9 // for the unit cube

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_dvec3 vec(double x, double y, double z)
{
	return tac_dvec3_make(x, y, z);
}

static tac_segment segment(double ax, double ay, double az, double bx, double by, double bz)
{
	return (tac_segment){vec(ax, ay, az), vec(bx, by, bz)};
}

static tac_dvec3 random_point(tac_rng *rng)
{
	double x = tac_rng_range_f64(rng, -0.5, 0.5), y = tac_rng_range_f64(rng, -0.5, 0.5);
	return vec(x, y, tac_rng_range_f64(rng, -0.5, 0.5));
}

static double dot(tac_dvec3 a, tac_dvec3 b)
{
	return tac_dvec3_dot(a, b);
}

static tac_dvec3 sub(tac_dvec3 a, tac_dvec3 b)
{
	return tac_dvec3_sub(a, b);
}

// ---- the solids, and how deep a point is in them ----

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

static bool meets_segment(const solid *s, const tac_segment *x, double eps, tac_witness *out)
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

static bool meets_triangle(const solid *s, const tac_triangle *x, double eps, tac_witness *out)
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

// Upright solids stand around the origin, where the segments and triangles are.
static solid random_solid(kind k, tac_rng *rng)
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

// Not positive exactly in the solid, and changing by no more than the distance moved: where it is above d,
// the ball of radius d is free of the solid.
static double outside(const solid *s, tac_dvec3 x)
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

// ---- the oracle: subdivision until every piece is proved free or a point is found inside ----

typedef enum verdict { FREE, HIT, OPEN } verdict;

#define MOST_PIECES 300 // thirty times that where convexity does not help on

static verdict search_segment(const solid *s, const tac_segment *x)
{
	double stack[64][2], length = tac_dvec3_length(sub(x->b, x->a));
	int depth = 0;
	stack[depth][0] = 0;
	stack[depth++][1] = 1;
	for (int pieces = 0; depth > 0; pieces++) {
		double a = stack[depth - 1][0], b = stack[depth - 1][1], middle = 0.5 * (a + b);
		depth--;
		double gap = outside(s, tac_dvec3_lerp(x->a, x->b, middle));
		if (gap <= 0)
			return HIT;
		if (gap > 0.5 * (b - a) * length)
			continue;
		if (pieces >= 30 * MOST_PIECES || depth + 2 > 64)
			return OPEN;
		stack[depth][0] = a;
		stack[depth++][1] = middle;
		stack[depth][0] = middle;
		stack[depth++][1] = b;
	}
	return FREE;
}

static tac_dvec3 middle_of(tac_dvec3 a, tac_dvec3 b)
{
	return tac_dvec3_scale(tac_dvec3_add(a, b), 0.5);
}

static verdict search_triangle(const solid *s, const tac_triangle *x)
{
	enum { DEEPEST = 40 };
	tac_triangle stack[3 * DEEPEST + 4];
	int depth = 0, most = s->kind == CONCAVE ? 30 * MOST_PIECES : MOST_PIECES;
	stack[depth++] = *x;
	for (int pieces = 0; depth > 0; pieces++) {
		tac_triangle t = stack[--depth];
		tac_dvec3 ab = middle_of(t.a, t.b), bc = middle_of(t.b, t.c), ca = middle_of(t.c, t.a);
		tac_dvec3 centre = tac_dvec3_scale(tac_dvec3_add(t.a, tac_dvec3_add(t.b, t.c)), 1.0 / 3);
		tac_dvec3 da = sub(t.a, centre), db = sub(t.b, centre), dc = sub(t.c, centre);
		double radius2 = fmax(dot(da, da), fmax(dot(db, db), dot(dc, dc)));
		double gap = outside(s, centre);
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

// `outside` is convex for every solid but the concave toroid: golden-section search finds its least value
// along a segment, and over a triangle as the least of the least values along the parallels to a side.
typedef struct search {
	const solid *s;
	const tac_segment *segment;
	const tac_triangle *triangle; // or NULL
} search;

static double value_at(const search *q, double t);

static double least_value(const search *q)
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

static double value_at(const search *q, double t)
{
	if (q->triangle == NULL)
		return outside(q->s, tac_dvec3_lerp(q->segment->a, q->segment->b, t));
	const tac_triangle *x = q->triangle;
	tac_segment parallel = {tac_dvec3_lerp(x->a, x->b, t), tac_dvec3_lerp(x->a, x->c, t)};
	search inner = {q->s, &parallel, NULL};
	return least_value(&inner);
}

static double least_along(const solid *s, const tac_segment *x)
{
	search q = {s, x, NULL};
	return least_value(&q);
}

static double least_over(const solid *s, const tac_triangle *x)
{
	search q = {s, NULL, x};
	return least_value(&q);
}

static void check_share(kind k, int pairs, int hits, int open)
{
	// A comparison that always says the same proves nothing; nor does one that leaves much open.
	TEST_ASSERT_TRUE_MESSAGE(hits > pairs / 50 && hits < pairs / 50 * 49, kind_names[k]);
	TEST_ASSERT_TRUE_MESSAGE(open <= (k == CONCAVE ? pairs / 30 : pairs / 10000), kind_names[k]);
}

static void segments_agree_with_subdivision(void)
{
	for (kind k = 0; k < KINDS; k++) {
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
				TEST_ASSERT_TRUE_MESSAGE(outside(&s, w.point) <= 4 * EPS, kind_names[k]);
			}
		}
		check_share(k, PAIRS, hits, open);
	}
}

static double off_triangle(const tac_triangle *t, tac_dvec3 p)
{
	tac_dvec3 n = tac_dvec3_normalize(tac_dvec3_cross(sub(t->b, t->a), sub(t->c, t->a)));
	double off = fabs(dot(n, sub(p, t->a)));
	const tac_dvec3 v[4] = {t->a, t->b, t->c, t->a};
	for (int i = 0; i < 3; i++) {
		tac_dvec3 inward = tac_dvec3_normalize(tac_dvec3_cross(n, sub(v[i + 1], v[i])));
		off = fmax(off, -dot(inward, sub(p, v[i])));
	}
	return off;
}

static void triangles_agree_with_subdivision(void)
{
	for (kind k = 0; k < KINDS; k++) {
		tac_rng rng = tac_rng_seed(2, (uint64_t)k);
		int hits = 0, open = 0;
		// Spheres and cylinders have second implementations below.
		int pairs = k < CONE ? PAIRS / 10 : k == CONCAVE ? PAIRS / 5 : PAIRS;
		for (int i = 0; i < pairs; i++) {
			solid s = random_solid(k, &rng);
			tac_triangle x = {random_point(&rng), random_point(&rng), random_point(&rng)};
			tac_witness w = {{0, 0, 0}, -1, -1};
			bool hit = meets_triangle(&s, &x, EPS, &w);
			TEST_ASSERT_EQUAL_MESSAGE(hit, meets_triangle(&s, &x, EPS, NULL), kind_names[k]);
			verdict v = search_triangle(&s, &x);
			hits += hit;
			open += v == OPEN;
			if (v != OPEN) {
				TEST_ASSERT_EQUAL_MESSAGE(v == HIT, hit, kind_names[k]);
			} else if (k != CONCAVE) {
				double gap = least_over(&s, &x);
				open -= fabs(gap) >= 10 * EPS;
				if (fabs(gap) >= 10 * EPS)
					TEST_ASSERT_EQUAL_MESSAGE(gap <= 0, hit, kind_names[k]);
			}
			if (hit) {
				TEST_ASSERT_TRUE_MESSAGE(off_triangle(&x, w.point) <= 1e-8, kind_names[k]);
				TEST_ASSERT_TRUE_MESSAGE(outside(&s, w.point) <= 4 * EPS, kind_names[k]);
			}
		}
		check_share(k, pairs, hits, open);
	}
}

// ---- second implementations, as the paper prints them where it is right ----

// The printed sphere test: squares of projections, no nearest point.
static double sphere_segment_gap(const tac_sphere *s, const tac_segment *x)
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

static void sphere_and_segment_agree_with_the_printed_squares(void)
{
	tac_rng rng = tac_rng_seed(3, 0);
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(SPHERE, &rng);
		tac_segment x = {random_point(&rng), random_point(&rng)};
		double gap = sphere_segment_gap(&s.sphere, &x);
		if (fabs(gap) >= 10 * EPS)
			TEST_ASSERT_EQUAL(gap <= 0, tac_sphere_meets_segment(&s.sphere, &x, EPS, NULL));
		tac_witness w;
		if (tac_sphere_meets_segment(&s.sphere, &x, EPS, &w))
			TEST_ASSERT_DOUBLE_WITHIN(1e-7, -gap, w.depth);
	}
}

// Edges first, then the plane by barycentric coordinates.
static double sphere_triangle_gap(const tac_sphere *s, const tac_triangle *x)
{
	tac_segment edges[3] = {{x->a, x->b}, {x->b, x->c}, {x->c, x->a}};
	double gap = HUGE_VAL;
	for (int i = 0; i < 3; i++)
		gap = fmin(gap, sphere_segment_gap(s, &edges[i]));
	tac_dvec3 e1 = sub(x->b, x->a), e2 = sub(x->c, x->a), ap = sub(s->centre, x->a);
	double d11 = dot(e1, e1), d12 = dot(e1, e2), d22 = dot(e2, e2), p1 = dot(e1, ap), p2 = dot(e2, ap);
	double det = d11 * d22 - d12 * d12, v = (d22 * p1 - d12 * p2) / det, w = (d11 * p2 - d12 * p1) / det;
	if (v >= 0 && w >= 0 && v + w <= 1) {
		tac_dvec3 n = tac_dvec3_normalize(tac_dvec3_cross(e1, e2));
		gap = fmin(gap, fabs(dot(n, ap)) - s->radius);
	}
	return gap;
}

static void sphere_and_triangle_agree_with_barycentric_coordinates(void)
{
	tac_rng rng = tac_rng_seed(4, 0);
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(SPHERE, &rng);
		tac_triangle x = {random_point(&rng), random_point(&rng), random_point(&rng)};
		double gap = sphere_triangle_gap(&s.sphere, &x);
		if (fabs(gap) >= 10 * EPS)
			TEST_ASSERT_EQUAL(gap <= 0, tac_sphere_meets_triangle(&s.sphere, &x, EPS, NULL));
		tac_witness w;
		if (tac_sphere_meets_triangle(&s.sphere, &x, EPS, &w))
			TEST_ASSERT_DOUBLE_WITHIN(1e-6, -gap, w.depth);
	}
}

// The printed cylinder test with the interval [0, 1] that it forgot; true where the answer is beyond doubt.
static bool printed_cylinder_segment(const tac_cylinder *c, const tac_segment *x, double radius)
{
	tac_dvec3 ab = sub(x->b, x->a), pq = sub(c->q, c->p), ap = sub(c->p, x->a), aq = sub(c->q, x->a);
	tac_dvec3 n = tac_dvec3_cross(ab, pq), m = tac_dvec3_cross(pq, n);
	double nn = dot(n, n), d = dot(ap, n) * dot(ap, n) / nn;
	if (d > radius * radius)
		return false;
	double middle = dot(tac_dvec3_cross(ap, pq), n) / nn;
	double half = sqrt(radius * radius - d) * sqrt(dot(m, m)) / fabs(dot(ab, m));
	double s3 = dot(pq, ap) / dot(pq, ab), s4 = dot(pq, aq) / dot(pq, ab);
	return fmax(fmax(middle - half, fmin(s3, s4)), 0) <= fmin(fmin(middle + half, fmax(s3, s4)), 1);
}

static void cylinder_and_segment_agree_with_the_printed_intervals_and_with_the_upright_test(void)
{
	tac_rng rng = tac_rng_seed(5, 0);
	int hits = 0;
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(CYLINDER, &rng);
		tac_cylinder c = s.cylinder;
		tac_segment x = {random_point(&rng), random_point(&rng)};
		bool hit = tac_cylinder_meets_segment(&c, &x, EPS, NULL);
		hits += hit;
		// A disagreement counts unless moving the radius by 10 eps changes the printed answer.
		bool less = printed_cylinder_segment(&c, &x, c.radius - 10 * EPS);
		bool more = printed_cylinder_segment(&c, &x, c.radius + 10 * EPS);
		if (less == more)
			TEST_ASSERT_EQUAL(less, hit);
		tac_upright u = tac_upright_make(c.p, c.q);
		tac_segment y = {tac_upright_apply(&u, x.a), tac_upright_apply(&u, x.b)};
		tac_upright_cylinder uc = {c.radius, u.height};
		if (hit != tac_upright_cylinder_meets_segment(&uc, &y, EPS, NULL))
			TEST_ASSERT_TRUE(tac_cylinder_meets_segment(&c, &x, 10 * EPS, NULL) &&
					 !tac_cylinder_meets_segment(&c, &x, 0, NULL));
	}
	TEST_ASSERT_TRUE(hits > PAIRS / 50);
}

static void cylinder_and_triangle_agree_with_the_upright_test(void)
{
	tac_rng rng = tac_rng_seed(6, 0);
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(CYLINDER, &rng);
		tac_triangle x = {random_point(&rng), random_point(&rng), random_point(&rng)};
		tac_upright u = tac_upright_make(s.cylinder.p, s.cylinder.q);
		tac_triangle y = tac_upright_apply_triangle(&u, &x);
		tac_upright_cylinder c = {s.cylinder.radius, u.height};
		bool hit = tac_cylinder_meets_triangle(&s.cylinder, &x, EPS, NULL);
		if (hit != tac_upright_cylinder_meets_triangle(&c, &y, EPS, NULL))
			TEST_ASSERT_TRUE(tac_cylinder_meets_triangle(&s.cylinder, &x, 10 * EPS, NULL) &&
					 !tac_cylinder_meets_triangle(&s.cylinder, &x, 0, NULL));
	}
}

// The printed test of a cylinder and a sphere: the sphere's radius in the end plane.
static bool printed_cylinder_sphere(const tac_cylinder *c, const tac_sphere *s, double radius)
{
	tac_dvec3 pq = sub(c->q, c->p), pa = sub(s->centre, c->p);
	double h = sqrt(dot(pq, pq)), T = dot(pq, pa);
	double d = T > h * h ? (T - h * h) / h : T < 0 ? -T / h : 0;
	if (d > radius)
		return false;
	double delta = sqrt(fmax(dot(pa, pa) - T * T / (h * h), 0));
	return delta <= c->radius + sqrt(radius * radius - d * d);
}

static void cylinder_and_sphere_agree_with_the_printed_test_and_upright(void)
{
	tac_rng rng = tac_rng_seed(7, 0);
	int hits = 0;
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(CYLINDER, &rng);
		tac_sphere ball = {random_point(&rng), tac_rng_range_f64(&rng, 0.02, 0.3)};
		tac_witness w, uw;
		bool hit = tac_cylinder_meets_sphere(&s.cylinder, &ball, EPS, &w);
		bool less = printed_cylinder_sphere(&s.cylinder, &ball, ball.radius - 10 * EPS);
		bool more = printed_cylinder_sphere(&s.cylinder, &ball, ball.radius + 10 * EPS);
		if (less == more)
			TEST_ASSERT_EQUAL(less, hit);
		tac_upright u = tac_upright_make(s.cylinder.p, s.cylinder.q);
		tac_upright_cylinder c = {s.cylinder.radius, u.height};
		tac_sphere stood = {tac_upright_apply(&u, ball.centre), ball.radius};
		bool upright_hit = tac_upright_cylinder_meets_sphere(&c, &stood, EPS, &uw);
		if (less == more)
			TEST_ASSERT_EQUAL(less, upright_hit);
		if (hit && upright_hit) {
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, w.depth, uw.depth);
			TEST_ASSERT_TRUE(outside(&s, w.point) <= 1e-12);
		}
		hits += hit;
	}
	TEST_ASSERT_TRUE(hits > PAIRS / 50 && hits < PAIRS / 50 * 49);
}

// The printed cone test: a central projection from the apex makes the cone a cylinder. Not near the apex.
static bool projected_cone_segment(const tac_cone *cone, const tac_segment *x, double grow)
{
	tac_segment s = *x;
	double low = 0, high = 1, h = cone->height, za = s.a.z, dz = s.b.z - s.a.z;
	double t0 = (0 - za) / dz, t1 = (h - za) / dz;
	low = fmax(low, fmin(t0, t1));
	high = fmin(high, fmax(t0, t1));
	if (low > high)
		return false;
	tac_dvec3 a = tac_dvec3_lerp(s.a, s.b, low), b = tac_dvec3_lerp(s.a, s.b, high);
	double ra = cone->bottom + (cone->top - cone->bottom) * a.z / h + grow;
	double rb = cone->bottom + (cone->top - cone->bottom) * b.z / h + grow;
	tac_segment flat = segment(a.x / ra, a.y / ra, 0, b.x / rb, b.y / rb, 0);
	tac_sphere unit = {vec(0, 0, 0), 1};
	return sphere_segment_gap(&unit, &flat) <= 0;
}

static void cone_and_segment_agree_with_the_projection(void)
{
	tac_rng rng = tac_rng_seed(8, 0);
	int judged = 0;
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(CONE, &rng);
		tac_segment x = {random_point(&rng), random_point(&rng)};
		if (fmin(s.cone.bottom, s.cone.top) < 1e-6)
			continue;
		bool hit = tac_cone_meets_segment(&s.cone, &x, EPS, NULL);
		bool less = projected_cone_segment(&s.cone, &x, -10 * EPS);
		bool more = projected_cone_segment(&s.cone, &x, 10 * EPS);
		if (less == more) {
			judged++;
			TEST_ASSERT_EQUAL(less, hit);
		}
	}
	TEST_ASSERT_TRUE(judged > PAIRS / 2);
}

static void convex_solids_and_segments_agree_with_golden_section_search(void)
{
	for (kind k = SPHERE; k <= CONVEX; k++) {
		tac_rng rng = tac_rng_seed(9, (uint64_t)k);
		for (int i = 0; i < PAIRS / 4; i++) {
			solid s = random_solid(k, &rng);
			tac_segment x = {random_point(&rng), random_point(&rng)};
			double gap = least_along(&s, &x);
			if (fabs(gap) >= 10 * EPS)
				TEST_ASSERT_EQUAL_MESSAGE(gap <= 0, meets_segment(&s, &x, EPS, NULL),
							  kind_names[k]);
		}
	}
}

// ---- exact arithmetic on integer grids ----

static bool izero(ivec a)
{
	return a.x == 0 && a.y == 0 && a.z == 0;
}

static bool separates(ivec axis, const ivec *a, int na, const ivec *b, int nb)
{
	int64_t amin = INT64_MAX, amax = INT64_MIN, bmin = INT64_MAX, bmax = INT64_MIN;
	for (int i = 0; i < na; i++) {
		int64_t d = idot(axis, a[i]);
		amin = d < amin ? d : amin;
		amax = d > amax ? d : amax;
	}
	for (int i = 0; i < nb; i++) {
		int64_t d = idot(axis, b[i]);
		bmin = d < bmin ? d : bmin;
		bmax = d > bmax ? d : bmax;
	}
	return amax < bmin || bmax < amin;
}

// Whether a triangle with area and a triangle or segment are disjoint: their difference is a polytope whose
// facets are normal to the candidates below, or a polygon in a plane if the two are parallel.
static bool disjoint(const ivec a[3], const ivec *b, int nb)
{
	ivec n = icross(isub(a[1], a[0]), isub(a[2], a[0]));
	if (separates(n, a, 3, b, nb))
		return true;
	int edges = nb == 2 ? 1 : 3;
	if (nb == 3 && separates(icross(isub(b[1], b[0]), isub(b[2], b[0])), a, 3, b, nb))
		return true;
	for (int i = 0; i < 3; i++) {
		ivec e = isub(a[(i + 1) % 3], a[i]);
		if (separates(icross(n, e), a, 3, b, nb))
			return true;
		for (int j = 0; j < edges; j++) {
			ivec f = isub(b[(j + 1) % nb], b[j]);
			if (separates(icross(e, f), a, 3, b, nb) || separates(icross(n, f), a, 3, b, nb))
				return true;
		}
	}
	return false;
}

static ivec grid_point(tac_rng *rng, uint32_t size)
{
	int64_t x = tac_rng_below(rng, size), y = tac_rng_below(rng, size);
	return (ivec){x, y, tac_rng_below(rng, size)};
}

static tac_dvec3 real(ivec v)
{
	return vec((double)v.x, (double)v.y, (double)v.z);
}

static void grid_triangle(tac_rng *rng, uint32_t size, ivec out[3])
{
	do {
		for (int i = 0; i < 3; i++)
			out[i] = grid_point(rng, size);
	} while (izero(icross(isub(out[1], out[0]), isub(out[2], out[0]))));
}

static void triangle_and_segment_in_the_plane_are_exact_on_a_grid(void) // C04
{
	tac_rng rng = tac_rng_seed(10, 0);
	int hits = 0;
	for (int i = 0; i < PAIRS; i++) {
		ivec t[3], s[2];
		grid_triangle(&rng, 5, t);
		for (int k = 0; k < 3; k++)
			t[k].z = 0;
		s[0] = grid_point(&rng, 5);
		s[1] = grid_point(&rng, 5);
		s[0].z = s[1].z = 0;
		int64_t area = icross(isub(t[1], t[0]), isub(t[2], t[0])).z;
		if (area == 0)
			continue;
		tac_point2 a = {(double)t[0].x, (double)t[0].y}, b = {(double)t[1].x, (double)t[1].y};
		tac_point2 c = {(double)t[2].x, (double)t[2].y}, p = {(double)s[0].x, (double)s[0].y};
		tac_point2 q = {(double)s[1].x, (double)s[1].y};
		bool expected = !disjoint(t, s, 2), point = !disjoint(t, (ivec[2]){s[0], s[0]}, 2);
		hits += expected;
		for (int tolerant = 0; tolerant < 2; tolerant++) {
			double eps = tolerant ? EPS : 0;
			TEST_ASSERT_EQUAL(expected,
					  area > 0 ? tac_triangle2_meets_segment(a, b, c, p, q, eps)
						   : tac_triangle2_meets_segment(a, c, b, p, q, eps));
			TEST_ASSERT_EQUAL(point, area > 0 ? tac_triangle2_contains(a, b, c, p, eps)
							  : tac_triangle2_contains(a, c, b, p, eps));
		}
	}
	TEST_ASSERT_TRUE(hits > PAIRS / 10 && hits < PAIRS / 10 * 9);
}

static void triangle_and_segment_are_exact_on_a_grid(void)
{
	tac_rng rng = tac_rng_seed(11, 0);
	int hits = 0;
	for (int i = 0; i < PAIRS; i++) {
		ivec t[3], s[2];
		grid_triangle(&rng, 4, t);
		s[0] = grid_point(&rng, 4);
		s[1] = grid_point(&rng, 4);
		tac_triangle x = {real(t[0]), real(t[1]), real(t[2])};
		tac_segment y = {real(s[0]), real(s[1])};
		bool expected = !disjoint(t, s, 2);
		hits += expected;
		TEST_ASSERT_EQUAL(expected, tac_triangle_meets_segment(&x, &y, 0, NULL));
		tac_witness w;
		TEST_ASSERT_EQUAL(expected, tac_triangle_meets_segment(&x, &y, EPS, &w));
		if (expected) {
			TEST_ASSERT_TRUE(off_triangle(&x, w.point) <= 1e-8);
			tac_dvec3 off = sub(tac_dvec3_lerp(y.a, y.b, w.t), w.point);
			TEST_ASSERT_TRUE(dot(off, off) <= 1e-18);
		}
	}
	TEST_ASSERT_TRUE(hits > PAIRS / 10 && hits < PAIRS / 10 * 9);
}

static void two_triangles_are_exact_on_a_grid(void)
{
	tac_rng rng = tac_rng_seed(12, 0);
	int hits = 0;
	for (int i = 0; i < PAIRS; i++) {
		ivec s[3], t[3];
		grid_triangle(&rng, 4, s);
		grid_triangle(&rng, 4, t);
		if (i % 4 == 0) { // one in four in a common plane
			for (int k = 0; k < 3; k++)
				s[k].z = t[k].z = 1;
			if (izero(icross(isub(s[1], s[0]), isub(s[2], s[0]))) ||
			    izero(icross(isub(t[1], t[0]), isub(t[2], t[0]))))
				continue;
		}
		tac_triangle x = {real(s[0]), real(s[1]), real(s[2])},
			     y = {real(t[0]), real(t[1]), real(t[2])};
		bool expected = !disjoint(s, t, 3);
		hits += expected;
		TEST_ASSERT_EQUAL(expected, tac_triangle_meets_triangle(&x, &y, EPS));
		TEST_ASSERT_EQUAL(expected, tac_triangle_meets_triangle(&y, &x, EPS));
	}
	TEST_ASSERT_TRUE(hits > PAIRS / 10 && hits < PAIRS / 10 * 9);
}

// T. Moeller's idea: on the line common to both planes the triangles cut two intervals.
static bool interval(const tac_triangle *t, const double d[3], tac_dvec3 line, double out[2])
{
	const tac_dvec3 v[3] = {t->a, t->b, t->c};
	int n = 0;
	double at[3];
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3;
		if ((d[i] < 0) != (d[j] < 0)) {
			double pi = dot(line, v[i]), pj = dot(line, v[j]);
			at[n++] = pi + (pj - pi) * d[i] / (d[i] - d[j]);
		}
	}
	if (n < 2)
		return false;
	out[0] = fmin(at[0], at[1]);
	out[1] = fmax(at[0], at[1]);
	return true;
}

static bool intervals_meet(const tac_triangle *s, const tac_triangle *t, double grow)
{
	tac_dvec3 ns = tac_dvec3_normalize(tac_dvec3_cross(sub(s->b, s->a), sub(s->c, s->a)));
	tac_dvec3 nt = tac_dvec3_normalize(tac_dvec3_cross(sub(t->b, t->a), sub(t->c, t->a)));
	tac_dvec3 line = tac_dvec3_normalize(tac_dvec3_cross(ns, nt));
	double ds[3] = {dot(nt, sub(s->a, t->a)), dot(nt, sub(s->b, t->a)), dot(nt, sub(s->c, t->a))};
	double dt[3] = {dot(ns, sub(t->a, s->a)), dot(ns, sub(t->b, s->a)), dot(ns, sub(t->c, s->a))};
	double a[2], b[2];
	return interval(s, ds, line, a) && interval(t, dt, line, b) && a[0] - grow <= b[1] &&
	       b[0] - grow <= a[1];
}

static void two_triangles_agree_with_intervals_on_the_common_line(void) // C05
{
	tac_rng rng = tac_rng_seed(13, 0);
	int hits = 0;
	for (int i = 0; i < PAIRS; i++) {
		tac_triangle x = {random_point(&rng), random_point(&rng), random_point(&rng)};
		tac_triangle y = {random_point(&rng), random_point(&rng), random_point(&rng)};
		bool less = intervals_meet(&x, &y, -10 * EPS), more = intervals_meet(&x, &y, 10 * EPS);
		bool hit = tac_triangle_meets_triangle(&x, &y, EPS);
		hits += hit;
		if (less == more)
			TEST_ASSERT_EQUAL(less, hit);
		TEST_ASSERT_EQUAL(hit, tac_triangle_meets_triangle(&y, &x, EPS));
	}
	TEST_ASSERT_TRUE(hits > PAIRS / 20);
}

static void triangle_and_segment_agree_with_barycentric_coordinates(void)
{
	tac_rng rng = tac_rng_seed(14, 0);
	for (int i = 0; i < PAIRS; i++) {
		tac_triangle x = {random_point(&rng), random_point(&rng), random_point(&rng)};
		tac_segment y = {random_point(&rng), random_point(&rng)};
		// a + v e1 + w e2 = p + t pq, by Cramer's rule.
		tac_dvec3 e1 = sub(x.b, x.a), e2 = sub(x.c, x.a), d = sub(y.a, y.b), ap = sub(y.a, x.a);
		double det = dot(e1, tac_dvec3_cross(e2, d));
		double v = dot(ap, tac_dvec3_cross(e2, d)) / det, w = dot(e1, tac_dvec3_cross(ap, d)) / det;
		double t = dot(e1, tac_dvec3_cross(e2, ap)) / det;
		double least = fmin(fmin(v, w), fmin(1 - v - w, fmin(t, 1 - t)));
		tac_witness witness;
		bool hit = tac_triangle_meets_segment(&x, &y, EPS, &witness);
		if (fabs(least) > 1e-6)
			TEST_ASSERT_EQUAL(least > 0, hit);
		if (least > 1e-6)
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, t, witness.t);
	}
}

// ---- known answers ----

static void comparisons_are_true_on_both_sides_of_zero(void) // C01
{
	const double e = 1e-9, x[3] = {-e, 0, e};
	for (int i = 0; i < 3; i++) {
		TEST_ASSERT_FALSE(tac_lt(x[i], e));
		TEST_ASSERT_TRUE(tac_le(x[i], e));
		TEST_ASSERT_FALSE(tac_gt(x[i], e));
		TEST_ASSERT_TRUE(tac_ge(x[i], e));
		TEST_ASSERT_TRUE(tac_eq(x[i], e));
	}
	TEST_ASSERT_TRUE(tac_lt(-2e-9, e) && tac_gt(2e-9, e) && !tac_eq(2e-9, e) && !tac_ge(-2e-9, e));
	TEST_ASSERT_TRUE(tac_lt(-1e-300, 0) && !tac_lt(0, 0) && tac_le(0, 0));
}

static void the_determinant_is_positive_to_the_left(void) // C02
{
	TEST_ASSERT_EQUAL_DOUBLE(1,
				 tac_point2_det((tac_point2){0, 0}, (tac_point2){1, 0}, (tac_point2){0, 1}));
}

static void a_segment_through_a_triangle_says_where(void) // C03
{
	tac_triangle t = {vec(0, 0, 0), vec(1, 0, 0), vec(0, 1, 0)};
	tac_segment s = segment(.25, .25, 1, .25, .25, -1);
	tac_witness w;
	TEST_ASSERT_TRUE(tac_triangle_meets_segment(&t, &s, EPS, &w));
	TEST_ASSERT_EQUAL_DOUBLE(.5, w.t);
	TEST_ASSERT_EQUAL_DOUBLE(.25, w.point.x);
	TEST_ASSERT_EQUAL_DOUBLE(0, w.point.z);
}

static void a_sphere_touches_a_tangent_and_no_line_beyond(void) // C06
{
	tac_sphere s = {vec(0, 0, 0), 1};
	tac_segment touching = segment(-2, 1, 0, 2, 1, 0), beyond = segment(-2, 1 + 1e-6, 0, 2, 1 + 1e-6, 0);
	TEST_ASSERT_TRUE(tac_sphere_meets_segment(&s, &touching, EPS, NULL));
	TEST_ASSERT_TRUE(tac_sphere_meets_segment(&s, &touching, 0, NULL));
	TEST_ASSERT_FALSE(tac_sphere_meets_segment(&s, &beyond, EPS, NULL));
}

static void a_sphere_over_a_large_triangle_reaches_its_radius(void) // C07
{
	tac_triangle t = {vec(-100, -100, 0), vec(100, -100, 0), vec(0, 100, 0)};
	tac_sphere low = {vec(0, 0, .9), 1}, high = {vec(0, 0, 1.1), 1};
	tac_witness w;
	TEST_ASSERT_TRUE(tac_sphere_meets_triangle(&low, &t, EPS, &w));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, .1, w.depth);
	TEST_ASSERT_FALSE(tac_sphere_meets_triangle(&high, &t, EPS, NULL));
}

static void a_segment_that_starts_outside_a_cylinder_and_leads_away_misses(void) // C08
{
	tac_cylinder c = {vec(0, 0, 0), vec(0, 0, 2), 1};
	tac_upright_cylinder u = {1, 2};
	tac_segment s = segment(1.5, 0, 1, 3.5, 0, 1.5);
	TEST_ASSERT_FALSE(tac_cylinder_meets_segment(&c, &s, EPS, NULL));
	TEST_ASSERT_FALSE(tac_upright_cylinder_meets_segment(&u, &s, EPS, NULL));
}

static void the_nearest_point_to_an_upright_axis_is_in_the_middle(void) // C09
{
	tac_upright_cylinder u = {1, 2};
	tac_segment s = segment(2, .5, 1, -2, .5, 1);
	tac_witness w;
	TEST_ASSERT_TRUE(tac_upright_cylinder_meets_segment(&u, &s, EPS, &w));
	TEST_ASSERT_EQUAL_DOUBLE(.5, w.t);
	TEST_ASSERT_TRUE(tac_circle2_meets_segment((tac_point2){0, 0}, 1, (tac_point2){2, .5},
						   (tac_point2){-2, .5}, 0));
	TEST_ASSERT_FALSE(tac_circle2_meets_segment((tac_point2){0, 0}, 1, (tac_point2){2, 1.1},
						    (tac_point2){-2, 1.1}, EPS));
}

static void upright_turns_every_axis_up(void) // C10
{
	tac_rng rng = tac_rng_seed(15, 0);
	for (int i = 0; i < 10000; i++) {
		tac_dvec3 p = random_point(&rng), q = random_point(&rng);
		if (i % 8 == 0)
			q = vec(p.x, p.y,
				p.z + (i % 16 == 0 ? 1 : -1) * tac_rng_f64(&rng)); // along z, up or down
		tac_upright u = tac_upright_make(p, q);
		tac_dvec3 image = tac_upright_apply(&u, q);
		double h = tac_dvec3_length(sub(q, p));
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, image.x);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, image.y);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, h, image.z);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, h, u.height);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, tac_dmat3_det(u.rotation));
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_dmat3_orthonormality_error(u.rotation));
	}
}

static void a_sphere_beside_the_rim_of_a_cylinder_needs_to_reach_it(void) // C13
{
	tac_cylinder c = {vec(0, 0, 0), vec(0, 0, 2), 1};
	tac_upright_cylinder u = {1, 2};
	tac_sphere small = {vec(1.5, 0, 2.5), .70}, large = {vec(1.5, 0, 2.5), .75};
	TEST_ASSERT_FALSE(tac_cylinder_meets_sphere(&c, &small, EPS, NULL));
	TEST_ASSERT_FALSE(tac_upright_cylinder_meets_sphere(&u, &small, EPS, NULL));
	tac_witness w;
	TEST_ASSERT_TRUE(tac_cylinder_meets_sphere(&c, &large, EPS, &w));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, .75 - sqrt(.5), w.depth);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, w.point.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2, w.point.z);
	TEST_ASSERT_TRUE(tac_upright_cylinder_meets_sphere(&u, &large, EPS, &w));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, .75 - sqrt(.5), w.depth);
}

static void a_cone_has_its_radius_half_way_up(void) // C14
{
	tac_cone c = {1, .5, 2};
	tac_segment in = segment(-3, .75, 1, 3, .75, 1), out = segment(-3, .76, 1, 3, .76, 1);
	TEST_ASSERT_TRUE(tac_cone_meets_segment(&c, &in, EPS, NULL));
	TEST_ASSERT_FALSE(tac_cone_meets_segment(&c, &out, EPS, NULL));
}

static void a_cone_ends_in_its_apex(void) // C15
{
	tac_cone c = {1, 0, 2};
	tac_segment in = segment(-1, 0, 2, 1, 0, 2), out = segment(-1, .01, 2, 1, .01, 2);
	TEST_ASSERT_TRUE(tac_cone_meets_segment(&c, &in, EPS, NULL));
	TEST_ASSERT_FALSE(tac_cone_meets_segment(&c, &out, EPS, NULL));
}

static void a_line_through_the_centre_of_a_torus_crosses_it_four_times(void) // C17
{
	tac_toroid t = {2, .5, -.5, .5, false};
	tac_segment s = segment(-3, 0, 0, 3, 0, 0);
	double c[5], roots[4];
	const double expected[4] = {.5 / 6, 1.5 / 6, 4.5 / 6, 5.5 / 6};
	tac_toroid_quartic(&t, &s, c);
	TEST_ASSERT_EQUAL(4, tac_polynomial_roots(c, 4, roots));
	for (int i = 0; i < 4; i++)
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected[i], roots[i]);
}

static void planted_roots_are_found(void) // C18
{
	tac_rng rng = tac_rng_seed(16, 0);
	int counts[5] = {0};
	for (int i = 0; i < PAIRS / 2; i++) {
		// Real roots on both sides of [0, 1] and in it, 0.02 apart, and sometimes a complex pair.
		double roots[4], c[5] = {tac_rng_range_f64(&rng, -3, 3), 0, 0, 0, 0};
		int real_count = tac_rng_below(&rng, 2) != 0 ? 4 : 2, expected = 0;
		double inside_roots[4];
		for (int k = 0; k < real_count; k++) {
			bool again;
			do {
				roots[k] = tac_rng_range_f64(&rng, -.5, 1.5);
				again = fabs(roots[k]) < .01 || fabs(roots[k] - 1) < .01;
				for (int j = 0; j < k; j++)
					again = again || fabs(roots[k] - roots[j]) < .02;
			} while (again);
			if (roots[k] > 0 && roots[k] < 1) {
				int at = expected++;
				for (; at > 0 && inside_roots[at - 1] > roots[k]; at--)
					inside_roots[at] = inside_roots[at - 1];
				inside_roots[at] = roots[k];
			}
			for (int n = k + 1; n > 0; n--)
				c[n] = c[n - 1] - roots[k] * c[n];
			c[0] *= -roots[k];
		}
		if (real_count == 2) {
			double re = tac_rng_range_f64(&rng, -.5, 1.5), im = tac_rng_range_f64(&rng, .05, 1);
			const double q[3] = {re * re + im * im, -2 * re, 1};
			double product[5] = {0};
			for (int n = 0; n < 3; n++)
				for (int m = 0; m < 3; m++)
					product[n + m] += c[n] * q[m];
			for (int n = 0; n < 5; n++)
				c[n] = product[n];
		}
		double found[4];
		TEST_ASSERT_EQUAL(expected, tac_polynomial_roots(c, 4, found));
		for (int k = 0; k < expected; k++)
			TEST_ASSERT_DOUBLE_WITHIN(1e-7, inside_roots[k], found[k]);
		counts[expected]++;
	}
	for (int i = 0; i < 5; i++)
		TEST_ASSERT_TRUE(counts[i] > PAIRS / 1000);
}

static void a_touching_double_root_is_found(void)
{
	// (t - .3)^2 (t^2 + 1)
	const double c[5] = {.09, -.6, 1.09, -.6, 1};
	double found[4];
	TEST_ASSERT_EQUAL(1, tac_polynomial_roots(c, 4, found));
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, .3, found[0]);
	const double zero[5] = {0, 0, 0, 0, 0}, line[5] = {-1, 4, 0, 0, 0};
	TEST_ASSERT_EQUAL(0, tac_polynomial_roots(zero, 4, found));
	TEST_ASSERT_EQUAL(1, tac_polynomial_roots(line, 4, found));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, .25, found[0]);
}

static void a_plane_that_cuts_a_cap_off_a_convex_toroid_hits(void) // C19
{
	tac_toroid t = {.5, .5, -.4, .4, false};
	tac_triangle x = {vec(.99, -10, -10), vec(.99, 10, -10), vec(.99, 0, 10)};
	TEST_ASSERT_TRUE(tac_toroid_meets_triangle(&t, &x, EPS, NULL));
	x.a.x = x.b.x = x.c.x = 1.01;
	TEST_ASSERT_FALSE(tac_toroid_meets_triangle(&t, &x, EPS, NULL));
}

static void a_concave_toroid_has_a_waist(void) // C20
{
	tac_toroid t = {1, .5, -.4, .4, true};
	tac_segment out = segment(-2, .52, 0, 2, .52, 0), in = segment(-2, .49, 0, 2, .49, 0);
	TEST_ASSERT_FALSE(tac_toroid_meets_segment(&t, &out, EPS, NULL));
	TEST_ASSERT_TRUE(tac_toroid_meets_segment(&t, &in, EPS, NULL));
}

static void two_spheres_touch(void) // C22
{
	tac_sphere a = {vec(0, 0, 0), 1}, b = {vec(2, 0, 0), 1}, c = {vec(2, 0, 0), .999};
	tac_witness w;
	TEST_ASSERT_TRUE(tac_sphere_meets_sphere(&a, &b, EPS, &w));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, w.depth);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, w.point.x);
	TEST_ASSERT_FALSE(tac_sphere_meets_sphere(&a, &c, EPS, NULL));
}

static void two_spheres_agree_with_the_distance_of_their_centres(void)
{
	tac_rng rng = tac_rng_seed(17, 0);
	for (int i = 0; i < PAIRS; i++) {
		tac_sphere a = {random_point(&rng), .3 * tac_rng_f64(&rng)};
		tac_sphere b = {random_point(&rng), .3 * tac_rng_f64(&rng)};
		tac_dvec3 d = sub(a.centre, b.centre);
		double gap = hypot(hypot(d.x, d.y), d.z) - a.radius - b.radius;
		tac_witness w;
		bool hit = tac_sphere_meets_sphere(&a, &b, EPS, &w);
		if (fabs(gap) >= 10 * EPS)
			TEST_ASSERT_EQUAL(gap <= 0, hit);
		if (hit) {
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, -gap, w.depth);
			tac_dvec3 off = sub(w.point, b.centre);
			TEST_ASSERT_TRUE(sqrt(dot(off, off)) <= b.radius + 1e-12);
		}
	}
}

// ---- degenerate and hostile arguments ----

static void a_zero_cone_is_its_axis(void)
{
	tac_cone c = {0, 0, 1};
	tac_segment through = segment(-1, 0, .5, 1, 0, .5), beside = segment(-1, 1e-3, .5, 1, 1e-3, .5);
	TEST_ASSERT_TRUE(tac_cone_meets_segment(&c, &through, EPS, NULL));
	TEST_ASSERT_FALSE(tac_cone_meets_segment(&c, &beside, EPS, NULL));
}

static void a_triangle_without_area_is_its_longest_edge(void)
{
	tac_triangle needle = {vec(0, 0, 0), vec(1, 1, 1), vec(.5, .5, .5)},
		     point = {vec(1, 1, 1), vec(1, 1, 1), vec(1, 1, 1)};
	tac_segment crossing = segment(.7, .7, -1, .7, .7, 2), missing = segment(.7, .71, -1, .7, .71, 2);
	TEST_ASSERT_TRUE(tac_triangle_meets_segment(&needle, &crossing, EPS, NULL));
	TEST_ASSERT_FALSE(tac_triangle_meets_segment(&needle, &missing, EPS, NULL));
	tac_triangle area = {vec(0, 0, .5), vec(2, 0, .5), vec(0, 2, .5)};
	TEST_ASSERT_TRUE(tac_triangle_meets_triangle(&needle, &area, EPS));
	TEST_ASSERT_TRUE(tac_triangle_meets_triangle(&area, &needle, EPS));
	TEST_ASSERT_TRUE(tac_triangle_meets_triangle(&needle, &point, EPS));
	TEST_ASSERT_FALSE(tac_triangle_meets_triangle(&area, &point, EPS));
	tac_sphere near = {vec(1, 1, 1.1), .11}, far = {vec(1, 1, 1.1), .09};
	TEST_ASSERT_TRUE(tac_sphere_meets_triangle(&near, &needle, EPS, NULL));
	TEST_ASSERT_FALSE(tac_sphere_meets_triangle(&far, &point, EPS, NULL));
	TEST_ASSERT_TRUE(tac_sphere_meets_triangle(&near, &point, EPS, NULL));
}

static void a_cylinder_along_the_normal_of_a_triangle_counts_no_further_than_its_ends(void)
{
	// The part of the normal across the axis is rounding here; it must not lengthen the decisive segment.
	tac_rng rng = tac_rng_seed(18, 0);
	for (int i = 0; i < 1000; i++) {
		tac_dvec3 n = tac_rng_unit_f64(&rng), u = tac_dvec3_perpendicular(n),
			  v = tac_dvec3_cross(n, u);
		tac_triangle t = {tac_dvec3_scale(u, 9),
				  tac_dvec3_add(tac_dvec3_scale(u, -5), tac_dvec3_scale(v, 8)),
				  tac_dvec3_add(tac_dvec3_scale(u, -5), tac_dvec3_scale(v, -8))};
		tac_cylinder over = {tac_dvec3_scale(n, 1e-6), tac_dvec3_scale(n, 1), .5};
		tac_cylinder in = {tac_dvec3_scale(n, -1e-6), tac_dvec3_scale(n, 1), .5};
		TEST_ASSERT_FALSE(tac_cylinder_meets_triangle(&over, &t, EPS, NULL));
		TEST_ASSERT_TRUE(tac_cylinder_meets_triangle(&in, &t, EPS, NULL));
	}
}

static solid scaled_solid(const solid *s, double f)
{
	solid r = *s;
	r.sphere = (tac_sphere){tac_dvec3_scale(s->sphere.centre, f), s->sphere.radius * f};
	r.upright = (tac_upright_cylinder){s->upright.radius * f, s->upright.height * f};
	r.cylinder = (tac_cylinder){tac_dvec3_scale(s->cylinder.p, f), tac_dvec3_scale(s->cylinder.q, f),
				    s->cylinder.radius * f};
	r.cone = (tac_cone){s->cone.bottom * f, s->cone.top * f, s->cone.height * f};
	r.toroid = (tac_toroid){s->toroid.major * f, s->toroid.minor * f, s->toroid.z_min * f,
				s->toroid.z_max * f, s->toroid.concave};
	return r;
}

static void huge_and_tiny_scales_give_the_same_answers(void)
{
	const double factors[4] = {0x1p130, 0x1p-130, 0x1p40, 0x1p-40};
	for (kind k = 0; k < KINDS; k++) {
		tac_rng rng = tac_rng_seed(19, (uint64_t)k);
		for (int i = 0; i < PAIRS / 20; i++) {
			double f = factors[i % 4];
			solid s = random_solid(k, &rng), s2 = scaled_solid(&s, f);
			tac_triangle t = {random_point(&rng), random_point(&rng), random_point(&rng)};
			tac_triangle t2 = {tac_dvec3_scale(t.a, f), tac_dvec3_scale(t.b, f),
					   tac_dvec3_scale(t.c, f)};
			tac_segment e = {t.a, t.b}, e2 = {t2.a, t2.b};
			TEST_ASSERT_EQUAL_MESSAGE(meets_segment(&s, &e, EPS, NULL),
						  meets_segment(&s2, &e2, EPS * f, NULL), kind_names[k]);
			TEST_ASSERT_EQUAL_MESSAGE(meets_triangle(&s, &t, EPS, NULL),
						  meets_triangle(&s2, &t2, EPS * f, NULL), kind_names[k]);
			tac_triangle o = {random_point(&rng), random_point(&rng), random_point(&rng)};
			tac_triangle o2 = {tac_dvec3_scale(o.a, f), tac_dvec3_scale(o.b, f),
					   tac_dvec3_scale(o.c, f)};
			TEST_ASSERT_EQUAL(tac_triangle_meets_triangle(&t, &o, EPS),
					  tac_triangle_meets_triangle(&t2, &o2, EPS * f));
			TEST_ASSERT_EQUAL(tac_triangle_meets_segment(&o, &e, EPS, NULL),
					  tac_triangle_meets_segment(&o2, &e2, EPS * f, NULL));
		}
	}
}

// Numbers that meet, vanish and differ by as much as the documented range allows.
static double hostile_number(tac_rng *rng)
{
	static const double numbers[] = {0,      0,    0,     1,    1,         -1,    .5, 1e-50,
					 -1e-50, 1e50, -1e50, 1e-9, 1 + 1e-15, 1e-17, 3};
	return numbers[tac_rng_below(rng, sizeof numbers / sizeof *numbers)];
}

static tac_dvec3 hostile_point(tac_rng *rng)
{
	double x = hostile_number(rng), y = hostile_number(rng);
	return vec(x, y, hostile_number(rng));
}

static void no_argument_divides_by_zero_or_makes_a_nan(void)
{
	tac_rng rng = tac_rng_seed(20, 0);
	feclearexcept(FE_ALL_EXCEPT);
	for (int i = 0; i < PAIRS; i++) {
		kind k = (kind)tac_rng_below(&rng, KINDS);
		solid s = {.kind = k};
		s.sphere = (tac_sphere){hostile_point(&rng), fabs(hostile_number(&rng))};
		s.upright = (tac_upright_cylinder){fabs(hostile_number(&rng)), fabs(hostile_number(&rng))};
		s.cylinder =
			(tac_cylinder){hostile_point(&rng), hostile_point(&rng), fabs(hostile_number(&rng))};
		s.cone = (tac_cone){fabs(hostile_number(&rng)), fabs(hostile_number(&rng)),
				    fabs(hostile_number(&rng))};
		double minor = fabs(hostile_number(&rng));
		s.toroid = (tac_toroid){fabs(hostile_number(&rng)), minor, -minor, minor, k == CONCAVE};
		tac_triangle t = {hostile_point(&rng), hostile_point(&rng), hostile_point(&rng)};
		tac_triangle o = {hostile_point(&rng), hostile_point(&rng), hostile_point(&rng)};
		tac_segment e = {hostile_point(&rng), hostile_point(&rng)};
		double eps = i % 2 != 0 ? EPS : 0;
		tac_witness w[5] = {0};
		meets_segment(&s, &e, eps, &w[0]);
		meets_triangle(&s, &t, eps, &w[1]);
		tac_triangle_meets_segment(&t, &e, eps, &w[2]);
		tac_triangle_meets_triangle(&t, &o, eps);
		tac_cylinder_meets_sphere(&s.cylinder, &s.sphere, eps, &w[3]);
		tac_upright_cylinder_meets_sphere(&s.upright, &s.sphere, eps, &w[4]);
		for (int n = 0; n < 5; n++)
			TEST_ASSERT_TRUE_MESSAGE(tac_dvec3_finite(w[n].point) && isfinite(w[n].t) &&
							 isfinite(w[n].depth),
						 kind_names[k]);
		if (fetestexcept(FE_DIVBYZERO | FE_INVALID) != 0)
			TEST_FAIL_MESSAGE(kind_names[k]);
	}
}

static void touching_counts_without_and_with_tolerance(void)
{
	tac_upright_cylinder c = {1, 2};
	tac_triangle lid = {vec(-5, -5, 2), vec(5, -5, 2), vec(0, 5, 2)},
		     above = {vec(-5, -5, 2.001), vec(5, -5, 2.001), vec(0, 5, 2.001)};
	TEST_ASSERT_TRUE(tac_upright_cylinder_meets_triangle(&c, &lid, 0, NULL));
	TEST_ASSERT_FALSE(tac_upright_cylinder_meets_triangle(&c, &above, EPS, NULL));
	TEST_ASSERT_TRUE(tac_upright_cylinder_meets_triangle(&c, &above, .002, NULL));
	tac_cone cone = {1, .5, 2};
	TEST_ASSERT_TRUE(tac_cone_meets_triangle(&cone, &lid, 0, NULL));
	tac_toroid t = {1, 2, -2, 2, false};
	TEST_ASSERT_TRUE(tac_toroid_meets_triangle(&t, &lid, 0, NULL));
	tac_segment inside_segment = segment(.1, .1, .5, .2, .2, 1);
	TEST_ASSERT_TRUE(tac_upright_cylinder_meets_segment(&c, &inside_segment, 0, NULL));
	TEST_ASSERT_TRUE(tac_toroid_meets_segment(&t, &inside_segment, 0, NULL));
}

static void a_triangle_inside_another_in_its_plane_hits(void)
{
	tac_triangle large = {vec(0, 0, 1), vec(8, 0, 1), vec(0, 8, 1)};
	tac_triangle small = {vec(1, 1, 1), vec(2, 1, 1), vec(1, 2, 1)}, turned = {small.a, small.c, small.b};
	tac_triangle beside = {vec(7, 7, 1), vec(8, 7, 1), vec(7, 8, 1)};
	TEST_ASSERT_TRUE(tac_triangle_meets_triangle(&large, &small, 0));
	TEST_ASSERT_TRUE(tac_triangle_meets_triangle(&small, &large, 0));
	TEST_ASSERT_TRUE(tac_triangle_meets_triangle(&large, &turned, EPS));
	TEST_ASSERT_TRUE(tac_triangle_meets_triangle(&turned, &large, EPS));
	TEST_ASSERT_FALSE(tac_triangle_meets_triangle(&large, &beside, EPS));
	TEST_ASSERT_FALSE(tac_triangle_meets_triangle(&beside, &large, EPS));
}

// Contact at a vertex and along an edge, in coordinates that a rotation has rounded.
static void touching_survives_rounding_with_a_tolerance(void)
{
	tac_rng rng = tac_rng_seed(21, 0);
	int lost = 0;
	for (int i = 0; i < 2000; i++) {
		tac_dmat3 r = tac_dmat3_from_quat(tac_rng_rotation_f64(&rng));
		double x = tac_rng_range_f64(&rng, -.2, .2), y = tac_rng_range_f64(&rng, -.2, .2);
		tac_triangle floor = {vec(-1, -1, 0), vec(1, -1, 0), vec(0, 1, 0)};
		tac_triangle over = {vec(x, y, 0), vec(.3, .1, 1), vec(-.3, .2, .8)};
		if (i % 2 != 0)
			over.b = vec(-y, x, 0);
		tac_dvec3 *points[6] = {&floor.a, &floor.b, &floor.c, &over.a, &over.b, &over.c};
		for (int k = 0; k < 6; k++)
			*points[k] = tac_dmat3_apply(r, *points[k]);
		tac_segment edge = {over.c, over.a};
		TEST_ASSERT_TRUE(tac_triangle_meets_triangle(&floor, &over, EPS));
		TEST_ASSERT_TRUE(tac_triangle_meets_triangle(&over, &floor, EPS));
		TEST_ASSERT_TRUE(tac_triangle_meets_segment(&floor, &edge, EPS, NULL));
		lost += !tac_triangle_meets_triangle(&floor, &over, 0);
	}
	TEST_ASSERT_TRUE(lost > 100); // what the tolerance is for
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(segments_agree_with_subdivision);
	RUN_TEST(triangles_agree_with_subdivision);
	RUN_TEST(sphere_and_segment_agree_with_the_printed_squares);
	RUN_TEST(sphere_and_triangle_agree_with_barycentric_coordinates);
	RUN_TEST(cylinder_and_segment_agree_with_the_printed_intervals_and_with_the_upright_test);
	RUN_TEST(cylinder_and_triangle_agree_with_the_upright_test);
	RUN_TEST(cylinder_and_sphere_agree_with_the_printed_test_and_upright);
	RUN_TEST(cone_and_segment_agree_with_the_projection);
	RUN_TEST(convex_solids_and_segments_agree_with_golden_section_search);
	RUN_TEST(triangle_and_segment_in_the_plane_are_exact_on_a_grid);
	RUN_TEST(triangle_and_segment_are_exact_on_a_grid);
	RUN_TEST(two_triangles_are_exact_on_a_grid);
	RUN_TEST(two_triangles_agree_with_intervals_on_the_common_line);
	RUN_TEST(triangle_and_segment_agree_with_barycentric_coordinates);
	RUN_TEST(comparisons_are_true_on_both_sides_of_zero);
	RUN_TEST(the_determinant_is_positive_to_the_left);
	RUN_TEST(a_segment_through_a_triangle_says_where);
	RUN_TEST(a_sphere_touches_a_tangent_and_no_line_beyond);
	RUN_TEST(a_sphere_over_a_large_triangle_reaches_its_radius);
	RUN_TEST(a_segment_that_starts_outside_a_cylinder_and_leads_away_misses);
	RUN_TEST(the_nearest_point_to_an_upright_axis_is_in_the_middle);
	RUN_TEST(upright_turns_every_axis_up);
	RUN_TEST(a_sphere_beside_the_rim_of_a_cylinder_needs_to_reach_it);
	RUN_TEST(a_cone_has_its_radius_half_way_up);
	RUN_TEST(a_cone_ends_in_its_apex);
	RUN_TEST(a_line_through_the_centre_of_a_torus_crosses_it_four_times);
	RUN_TEST(planted_roots_are_found);
	RUN_TEST(a_touching_double_root_is_found);
	RUN_TEST(a_plane_that_cuts_a_cap_off_a_convex_toroid_hits);
	RUN_TEST(a_concave_toroid_has_a_waist);
	RUN_TEST(two_spheres_touch);
	RUN_TEST(two_spheres_agree_with_the_distance_of_their_centres);
	RUN_TEST(a_zero_cone_is_its_axis);
	RUN_TEST(a_triangle_without_area_is_its_longest_edge);
	RUN_TEST(a_cylinder_along_the_normal_of_a_triangle_counts_no_further_than_its_ends);
	RUN_TEST(huge_and_tiny_scales_give_the_same_answers);
	RUN_TEST(no_argument_divides_by_zero_or_makes_a_nan);
	RUN_TEST(touching_counts_without_and_with_tolerance);
	RUN_TEST(a_triangle_inside_another_in_its_plane_hits);
	RUN_TEST(touching_survives_rounding_with_a_tolerance);
	return UNITY_END();
}
