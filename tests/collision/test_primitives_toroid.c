// Toroids, and the roots of polynomials.
#include "tests/support/primitives_fixture.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static void segments_agree_with_subdivision(void)
{
	check_segments(CONVEX, CONCAVE);
}

static void triangles_agree_with_subdivision(void)
{
	check_triangles(CONVEX, CONCAVE);
}

static void a_line_through_the_centre_of_a_torus_crosses_it_four_times(void)
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

static void planted_roots_are_found(void)
{
	tac_rng rng = tac_rng_seed(16, 0);
	int counts[5] = {0};
	for (int i = 0; i < pairs_over(2); i++) {
		// Real roots inside [0, 1] and on both sides of it, at least 0.02 apart, and sometimes a
		// complex pair.
		double roots[4], c[5] = {tac_rng_range_f64(&rng, -3, 3), 0, 0, 0, 0};
		int real_count = tac_rng_below(&rng, 2) != 0 ? 4 : 2, expected = 0;
		double inside_roots[4];
		for (int k = 0; k < real_count; k++) {
			bool too_close;
			do {
				roots[k] = tac_rng_range_f64(&rng, -.5, 1.5);
				too_close = fabs(roots[k]) < .01 || fabs(roots[k] - 1) < .01;
				for (int j = 0; j < k; j++)
					too_close = too_close || fabs(roots[k] - roots[j]) < .02;
			} while (too_close);
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
		TEST_ASSERT_TRUE(counts[i] > pairs_over(2) / 500);
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

static void a_plane_that_cuts_a_cap_off_a_convex_toroid_hits(void)
{
	tac_toroid t = {.5, .5, -.4, .4, false};
	tac_triangle x = {vec(.99, -10, -10), vec(.99, 10, -10), vec(.99, 0, 10)};
	TEST_ASSERT_TRUE(tac_toroid_meets_triangle(&t, &x, EPS, NULL));
	x.a.x = x.b.x = x.c.x = 1.01;
	TEST_ASSERT_FALSE(tac_toroid_meets_triangle(&t, &x, EPS, NULL));
}

static void a_concave_toroid_has_a_waist(void)
{
	tac_toroid t = {1, .5, -.4, .4, true};
	tac_segment out = segment(-2, .52, 0, 2, .52, 0), in = segment(-2, .49, 0, 2, .49, 0);
	TEST_ASSERT_FALSE(tac_toroid_meets_segment(&t, &out, EPS, NULL));
	TEST_ASSERT_TRUE(tac_toroid_meets_segment(&t, &in, EPS, NULL));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(segments_agree_with_subdivision);
	RUN_TEST(triangles_agree_with_subdivision);
	RUN_TEST(a_line_through_the_centre_of_a_torus_crosses_it_four_times);
	RUN_TEST(planted_roots_are_found);
	RUN_TEST(a_touching_double_root_is_found);
	RUN_TEST(a_plane_that_cuts_a_cap_off_a_convex_toroid_hits);
	RUN_TEST(a_concave_toroid_has_a_waist);
	return UNITY_END();
}
