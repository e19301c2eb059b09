// Oracles: the closed-form solutions for weak, critical, strong and no damping.
#include "base/oscillator.h"

#include "base/rng.h"

#include <math.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static void follow(const tac_oscillator *o, double x, double v, double force, double rate, double h,
		   double *out_x, double *out_v)
{
	tac_oscillator_arc arc;
	tac_oscillator_arc_init(&arc, o, x, v, force, rate, h);
	*out_x = tac_oscillator_arc_x(&arc, 1);
	*out_v = tac_oscillator_arc_v(&arc, 1);
}

static void a_free_mass_moves_on_a_polynomial(void)
{
	const tac_oscillator o = {2, 0, 0};
	double x, v;
	follow(&o, 1, 3, 4, 6, 0.5, &x, &v); // a = 2 + 3 t
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1 + 1.5 + 0.25 + 0.0625, x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 3 + 1 + 0.375, v);
	TEST_ASSERT_TRUE(isinf(tac_oscillator_max_arc_s(&o)));
}

static void a_damped_mass_without_spring_approaches_its_final_speed(void)
{
	const tac_oscillator o = {0.1, 2, 0};
	const double h = tac_oscillator_max_arc_s(&o), l = 20;
	double x, v;
	follow(&o, 0.01, 0.3, 1, 0, h, &x, &v);
	TEST_ASSERT_DOUBLE_WITHIN(1e-16, 0.5 + (0.3 - 0.5) * exp(-l * h), v);
	TEST_ASSERT_DOUBLE_WITHIN(1e-16, 0.01 + 0.5 * h + (0.3 - 0.5) * (1 - exp(-l * h)) / l, x);
}

static void springs_oscillate_or_decay_according_to_their_damping(void)
{
	tac_rng rng = tac_rng_seed(3, 1);
	for (int i = 0; i < 2000; i++) {
		const double m = tac_rng_range_f64(&rng, 0.02, 2), k = tac_rng_range_f64(&rng, 1, 5000);
		// 0 … 3 times the critical damping, but not so close to it that the closed form loses digits.
		double ratio = tac_rng_range_f64(&rng, 0, 3);
		if (fabs(ratio - 1) < 0.05)
			ratio = 0;
		const tac_oscillator o = {m, ratio * 2 * sqrt(k * m), k};
		const double h = tac_oscillator_max_arc_s(&o), F = tac_rng_range_f64(&rng, -5, 5);
		const double R = tac_rng_range_f64(&rng, -50, 50), x0 = tac_rng_range_f64(&rng, -0.01, 0.01);
		const double v0 = tac_rng_range_f64(&rng, -1, 1);
		// The particular solution p + q t plus a homogeneous one, which oscillates or decays.
		const double q = R / k, p = (F - o.damping * q) / k, y0 = x0 - p, w0 = v0 - q;
		const double g = o.damping / (2 * m), d = k / m - g * g;
		double y, w;
		if (d > 0) {
			const double s = sqrt(d), c = (w0 + g * y0) / s;
			y = exp(-g * h) * (y0 * cos(s * h) + c * sin(s * h));
			w = exp(-g * h) * (s * (c * cos(s * h) - y0 * sin(s * h))) - g * y;
		} else {
			const double s = sqrt(-d), c = (w0 + g * y0) / s;
			y = exp(-g * h) * (y0 * cosh(s * h) + c * sinh(s * h));
			w = exp(-g * h) * (s * (c * cosh(s * h) + y0 * sinh(s * h))) - g * y;
		}
		double x, v;
		follow(&o, x0, v0, F, R, h, &x, &v);
		const double size = fabs(x0) + fabs(v0) * h + fabs(F) * h * h / m + fabs(p);
		TEST_ASSERT_DOUBLE_WITHIN(1e-14 * size, p + q * h + y, x);
		TEST_ASSERT_DOUBLE_WITHIN(2e-14 * size / h + 1e-14 * fabs(q), q + w, v);
	}
}

static void critical_damping_needs_no_special_case(void)
{
	const tac_oscillator o = {0.25, 10, 100}; // g = 20
	const double h = tac_oscillator_max_arc_s(&o);
	double x, v;
	follow(&o, 0.01, 0.5, 0, 0, h, &x, &v);
	TEST_ASSERT_DOUBLE_WITHIN(1e-17, exp(-20 * h) * (0.01 + 0.7 * h), x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, exp(-20 * h) * (0.7 - 20 * (0.01 + 0.7 * h)), v);
}

static void two_half_arcs_equal_a_whole_arc(void)
{
	const tac_oscillator o = {0.1, 3, 800};
	const double h = tac_oscillator_max_arc_s(&o);
	tac_oscillator_arc arc;
	tac_oscillator_arc_init(&arc, &o, 0.002, -0.1, 0.5, 20, h);
	double x, v;
	follow(&o, tac_oscillator_arc_x(&arc, 0.5), tac_oscillator_arc_v(&arc, 0.5), 0.5 + 20 * h / 2, 20,
	       h / 2, &x, &v);
	TEST_ASSERT_DOUBLE_WITHIN(1e-17, x, tac_oscillator_arc_x(&arc, 1));
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, v, tac_oscillator_arc_v(&arc, 1));
	TEST_ASSERT_DOUBLE_WITHIN(0, 0.002, tac_oscillator_arc_x(&arc, 0));
	TEST_ASSERT_DOUBLE_WITHIN(1e-16, -0.1, tac_oscillator_arc_v(&arc, 0));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_free_mass_moves_on_a_polynomial);
	RUN_TEST(a_damped_mass_without_spring_approaches_its_final_speed);
	RUN_TEST(springs_oscillate_or_decay_according_to_their_damping);
	RUN_TEST(critical_damping_needs_no_special_case);
	RUN_TEST(two_half_arcs_equal_a_whole_arc);
	return UNITY_END();
}
