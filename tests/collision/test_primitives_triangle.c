// Triangles and segments against exact arithmetic on integer grids and against second implementations.
#include "tests/support/integers.h"
#include "tests/support/primitives_fixture.h"

void setUp(void)
{
}

void tearDown(void)
{
}

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

// Whether a triangle with area and a triangle or segment are disjoint, by separating axes: their Minkowski
// difference is a polytope whose facets are normal to the axes below, or a polygon if the two are parallel.
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

// T. Möller, "A fast triangle-triangle intersection test", Journal of Graphics Tools 2(2), 1997: the
// triangles cut two intervals from the common line of their planes.
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
	tac_dvec3 ns = tac_dvec3_triangle_normal(s->a, s->b, s->c);
	tac_dvec3 nt = tac_dvec3_triangle_normal(t->a, t->b, t->c);
	tac_dvec3 line = tac_dvec3_normalize(tac_dvec3_cross(ns, nt));
	double ds[3] = {dot(nt, sub(s->a, t->a)), dot(nt, sub(s->b, t->a)), dot(nt, sub(s->c, t->a))};
	double dt[3] = {dot(ns, sub(t->a, s->a)), dot(ns, sub(t->b, s->a)), dot(ns, sub(t->c, s->a))};
	double a[2], b[2];
	return interval(s, ds, line, a) && interval(t, dt, line, b) && a[0] - grow <= b[1] &&
	       b[0] - grow <= a[1];
}

static void triangle_and_segment_in_the_plane_are_exact_on_a_grid(void)
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
			TEST_ASSERT_TRUE(distance_from_triangle(&x, w.point) <= 1e-8);
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

static void two_triangles_agree_with_intervals_on_the_common_line(void)
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

static void comparisons_are_true_on_both_sides_of_zero(void)
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

static void the_determinant_is_positive_to_the_left(void)
{
	TEST_ASSERT_EQUAL_DOUBLE(1,
				 tac_point2_det((tac_point2){0, 0}, (tac_point2){1, 0}, (tac_point2){0, 1}));
}

static void a_segment_through_a_triangle_reports_the_crossing(void)
{
	tac_triangle t = {vec(0, 0, 0), vec(1, 0, 0), vec(0, 1, 0)};
	tac_segment s = segment(.25, .25, 1, .25, .25, -1);
	tac_witness w;
	TEST_ASSERT_TRUE(tac_triangle_meets_segment(&t, &s, EPS, &w));
	TEST_ASSERT_EQUAL_DOUBLE(.5, w.t);
	TEST_ASSERT_EQUAL_DOUBLE(.25, w.point.x);
	TEST_ASSERT_EQUAL_DOUBLE(0, w.point.z);
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
	TEST_ASSERT_TRUE(lost > 100); // without the tolerance contacts are lost
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(triangle_and_segment_in_the_plane_are_exact_on_a_grid);
	RUN_TEST(triangle_and_segment_are_exact_on_a_grid);
	RUN_TEST(two_triangles_are_exact_on_a_grid);
	RUN_TEST(two_triangles_agree_with_intervals_on_the_common_line);
	RUN_TEST(triangle_and_segment_agree_with_barycentric_coordinates);
	RUN_TEST(comparisons_are_true_on_both_sides_of_zero);
	RUN_TEST(the_determinant_is_positive_to_the_left);
	RUN_TEST(a_segment_through_a_triangle_reports_the_crossing);
	RUN_TEST(a_triangle_inside_another_in_its_plane_hits);
	RUN_TEST(touching_survives_rounding_with_a_tolerance);
	return UNITY_END();
}
