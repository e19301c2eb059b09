// Arguments without area, length or radius, huge and tiny arguments, and touching.
#include "tests/support/primitives_fixture.h"

#include <fenv.h>

void setUp(void)
{
}

void tearDown(void)
{
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

// Numbers that coincide, vanish and span the documented range.
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

static void a_cylinder_along_the_normal_of_a_triangle_does_not_extend_beyond_its_ends(void)
{
	// The normal's component perpendicular to the axis is rounding here and must not lengthen the segment
	// between the cylinder's extreme points.
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

static void huge_and_tiny_scales_give_the_same_answers(void)
{
	const double factors[4] = {0x1p130, 0x1p-130, 0x1p40, 0x1p-40};
	for (kind k = 0; k < KINDS; k++) {
		tac_rng rng = tac_rng_seed(19, (uint64_t)k);
		for (int i = 0; i < pairs_over(5); i++) {
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

static void no_argument_divides_by_zero_or_makes_a_nan(void)
{
	tac_rng rng = tac_rng_seed(20, 0);
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_DIVBYZERO | FE_INVALID); // the first of these ends the test
	for (int i = 0; i < PAIRS; i++) {
		kind k = (kind)tac_rng_below(&rng, KINDS);
		solid s = {.kind = k};
		s.sphere = (tac_sphere){hostile_point(&rng), fabs(hostile_number(&rng))};
		s.upright = (tac_upright_cylinder){fabs(hostile_number(&rng)), fabs(hostile_number(&rng))};
		s.cylinder =
			(tac_cylinder){hostile_point(&rng), hostile_point(&rng), fabs(hostile_number(&rng))};
		s.cone = (tac_cone){fabs(hostile_number(&rng)), fabs(hostile_number(&rng)),
				    fabs(hostile_number(&rng))};
		double minor = fabs(hostile_number(&rng)), z0 = hostile_number(&rng),
		       z1 = hostile_number(&rng);
		z0 = fmax(-minor, fmin(minor, z0));
		z1 = fmax(-minor, fmin(minor, z1));
		s.toroid = (tac_toroid){fabs(hostile_number(&rng)), minor, fmin(z0, z1), fmax(z0, z1),
					k == CONCAVE};
		if (i % 4 == 0) {
			s.toroid.z_min = -minor;
			s.toroid.z_max = minor;
		}
		tac_triangle t = {hostile_point(&rng), hostile_point(&rng), hostile_point(&rng)};
		tac_triangle o = {hostile_point(&rng), hostile_point(&rng), hostile_point(&rng)};
		tac_segment e = {hostile_point(&rng), hostile_point(&rng)};
		double eps = i % 2 != 0 ? EPS : 0;
		tac_witness w[6] = {0};
		meets_segment(&s, &e, eps, &w[0]);
		meets_triangle(&s, &t, eps, &w[1]);
		tac_triangle_meets_segment(&t, &e, eps, &w[2]);
		tac_triangle_meets_triangle(&t, &o, eps);
		tac_cylinder_meets_sphere(&s.cylinder, &s.sphere, eps, &w[3]);
		tac_upright_cylinder_meets_sphere(&s.upright, &s.sphere, eps, &w[4]);
		tac_sphere ball = {e.a, s.upright.radius};
		tac_sphere_meets_sphere(&s.sphere, &ball, eps, &w[5]);
		tac_point2 p[5] = {
			{t.a.x, t.a.y}, {t.b.x, t.b.y}, {t.c.x, t.c.y}, {e.a.x, e.a.y}, {e.b.x, e.b.y}};
		tac_triangle2_contains(p[0], p[1], p[2], p[3], eps);
		tac_triangle2_meets_segment(p[0], p[1], p[2], p[3], p[4], eps);
		tac_circle2_meets_segment(p[0], s.sphere.radius, p[3], p[4], eps);
		tac_upright up = tac_upright_make(e.a, e.b);
		TEST_ASSERT_TRUE(tac_dvec3_finite(tac_upright_apply(&up, t.a)));
		TEST_ASSERT_TRUE(tac_dvec3_finite(tac_triangle_nearest(&t, e.a)));
		double at;
		TEST_ASSERT_TRUE(tac_dvec3_finite(tac_segment_nearest(&e, t.a, &at)) && at >= 0 && at <= 1);
		tac_segment f = {o.a, o.b};
		TEST_ASSERT_TRUE(tac_segment_distance_squared(&e, &f) >= 0);
		for (int n = 0; n < 6; n++)
			TEST_ASSERT_TRUE_MESSAGE(tac_dvec3_finite(w[n].point) && isfinite(w[n].t) &&
							 isfinite(w[n].depth),
						 kind_names[k]);
		if (fetestexcept(FE_DIVBYZERO | FE_INVALID) != 0)
			TEST_FAIL_MESSAGE(kind_names[k]);
	}
	fedisableexcept(FE_ALL_EXCEPT);
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

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_zero_cone_is_its_axis);
	RUN_TEST(a_triangle_without_area_is_its_longest_edge);
	RUN_TEST(a_cylinder_along_the_normal_of_a_triangle_does_not_extend_beyond_its_ends);
	RUN_TEST(huge_and_tiny_scales_give_the_same_answers);
	RUN_TEST(no_argument_divides_by_zero_or_makes_a_nan);
	RUN_TEST(touching_counts_without_and_with_tolerance);
	return UNITY_END();
}
