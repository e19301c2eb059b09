// Oracles: tables of the exact limits from another program (an excerpt in tests/data/stability, and the full
// set beside the source folder if present), closed forms, and the simulated device, whose oscillation grows
// or decays.
#include "haptic/stability.h"

#include "base/rng.h"
#include "tests/support/wall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static const tac_stability_hand no_hand;

static double critical(double m, double b, double B, double T, double td)
{
	const tac_device_mechanics device = {.mass = m, .damping = b};
	const tac_stability_loop loop = {.period_s = T, .delay_s = td, .damping_N_s_per_m = B};
	return tac_stability_critical(&device, &no_hand, &loop);
}

static double passive(double b, double B, double T, double td)
{
	const tac_stability_loop loop = {.period_s = T, .delay_s = td, .damping_N_s_per_m = B};
	return tac_stability_passive(b, &loop);
}

// Calls `row` with the numbers of each row of a table, without its first `words` columns; false: there is no
// such table.
static bool for_each_row(const char *folder, const char *name, int words,
			 void (*row)(const double *values, int number))
{
	char path[1024], line[1024];
	snprintf(path, sizeof path, "%s/%s.csv", folder, name);
	FILE *file = fopen(path, "r");
	if (!file)
		return false;
	TEST_ASSERT_NOT_NULL(fgets(line, sizeof line, file));
	int number = 0;
	while (fgets(line, sizeof line, file)) {
		double values[16] = {0};
		char *at = line;
		for (int i = 0; i < words; i++)
			at = strchr(at, ',') + 1;
		for (int i = 0; i < 16; i++) {
			values[i] = strtod(at, &at);
			if (*at != ',')
				break;
			at++;
		}
		row(values, number++);
	}
	fclose(file);
	TEST_ASSERT_GREATER_THAN(20, number);
	return true;
}

static double worst;

static void compare_critical(const double *v, int number)
{
	const double found = critical(v[0], v[1], v[2], v[3] / 1e3, v[4] / 1e3);
	worst = fmax(worst, fabs(found / v[5] - 1));
	char message[128];
	snprintf(message, sizeof message, "row %d: expected %.9g, found %.9g", number, v[5], found);
	TEST_ASSERT_TRUE_MESSAGE(fabs(found / v[5] - 1) < 1e-6, message);
}

static void compare_critical_hand(const double *v, int number)
{
	const tac_stability_hand hand = {v[0], v[1], v[2]};
	const tac_device_mechanics device = {.mass = v[3], .damping = v[4]};
	const tac_stability_loop loop = {
		.damping_N_s_per_m = v[5], .period_s = v[6] / 1e3, .delay_s = v[7] / 1e3};
	const double found = tac_stability_critical(&device, &hand, &loop);
	char message[128];
	snprintf(message, sizeof message, "row %d: expected %.9g, found %.9g", number, v[8], found);
	worst = fmax(worst, v[8] > 0 ? fabs(found / v[8] - 1) : 0);
	TEST_ASSERT_TRUE_MESSAGE(fabs(found - v[8]) <= 1e-6 * v[8], message);
}

// Columns of zwidth: m, b, T, td, pole, B, critical stiffness.
static void compare_filtered(const double *v, int number)
{
	const tac_device_mechanics device = {.mass = v[0], .damping = v[1]};
	const tac_stability_loop loop = {v[2] / 1e3, v[3] / 1e3, v[5], v[4]};
	const double found = tac_stability_critical(&device, &no_hand, &loop);
	char message[128];
	snprintf(message, sizeof message, "row %d: expected %.9g, found %.9g", number, v[6], found);
	TEST_ASSERT_TRUE_MESSAGE(fabs(found - v[6]) <= 2e-6 * v[6] + 5e-3, message);
}

static void compare_passive(const double *v, int number)
{
	const double found = passive(v[1], v[2], v[3] / 1e3, v[4] / 1e3);
	char message[128];
	snprintf(message, sizeof message, "row %d: expected %.9g, found %.9g", number, v[9], found);
	// Where nothing is passive the table has 0 or tiny numbers; the error of its grid is 2e-5.
	TEST_ASSERT_TRUE_MESSAGE(fabs(found - v[9]) <= 1e-4 * v[9] + 0.01, message);
}

static void the_critical_stiffness_matches_the_tables(void)
{
	worst = 0;
	TEST_ASSERT_TRUE(for_each_row(TACTUS_STABILITY_EXCERPT, "kcrit_grid", 0, compare_critical));
	for_each_row(TACTUS_STABILITY_DATA, "kcrit_grid", 0, compare_critical);
	printf("critical stiffness, device alone: largest relative difference %.1e\n", worst);
	worst = 0;
	TEST_ASSERT_TRUE(for_each_row(TACTUS_STABILITY_EXCERPT, "kcrit_hand", 1, compare_critical_hand));
	for_each_row(TACTUS_STABILITY_DATA, "kcrit_hand", 1, compare_critical_hand);
	// With a velocity filter, and with filter and hand: scenarios S03 and S12.
	compare_filtered((const double[]){0.1, 0.5, 1, 0.35, 0.3, 2, 2822.80}, -3);
	for_each_row(TACTUS_STABILITY_DATA, "zwidth", 0, compare_filtered);
	const tac_device_mechanics heavy = {.mass = 0.25, .damping = 2};
	const tac_stability_hand hand = {0.1, 2, 300};
	const tac_stability_loop filtered = {1e-3, 1.35e-3, 3, 0.5};
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 3688.13, tac_stability_critical(&heavy, &hand, &filtered));
	printf("critical stiffness, with a hand: largest relative difference %.1e\n", worst);
}

static void the_passive_stiffness_matches_the_table(void)
{
	TEST_ASSERT_TRUE(for_each_row(TACTUS_STABILITY_EXCERPT, "kcrit_grid", 0, compare_passive));
	for_each_row(TACTUS_STABILITY_DATA, "kcrit_grid", 0, compare_passive);
}

// Without delay and damper: K = b (1 - P) / (L - P T), P = exp(-b T / m), L = (1 - P) m / b.
static void without_delay_and_damper_the_critical_stiffness_is_the_closed_form(void)
{
	tac_rng rng = tac_rng_seed(5, 1);
	for (int i = 0; i < 500; i++) {
		const double m = tac_rng_range_f64(&rng, 0.05, 1), b = tac_rng_range_f64(&rng, 0.1, 10),
			     T = 1e-3;
		const double P = exp(-b * T / m), L = -expm1(-b * T / m) * m / b;
		const double expected = b * (1 - P) / (L - P * T);
		TEST_ASSERT_DOUBLE_WITHIN(1e-7 * expected, expected, critical(m, b, 0, T, 0));
	}
}

// Published limits of the pure damper: B T / m = 2, 1.14, 0.83, 0.54 for delays of 0, 0.5, 1, 2 periods.
static void too_much_virtual_damping_leaves_no_stiffness(void)
{
	const double limits[4][2] = {{0, 2.00}, {0.5, 1.14}, {1, 0.83}, {2, 0.54}};
	for (int i = 0; i < 4; i++) {
		const double td = limits[i][0] * 1e-3, B = limits[i][1] * 0.1 / 1e-3;
		TEST_ASSERT_TRUE(critical(0.1, 1e-3, 0.97 * B, 1e-3, td) > 0);
		TEST_ASSERT_DOUBLE_WITHIN(0, 0, critical(0.1, 1e-3, 1.03 * B, 1e-3, td));
	}
}

static void the_critical_stiffness_scales_with_mass_and_time(void)
{
	tac_rng rng = tac_rng_seed(6, 1);
	for (int i = 0; i < 200; i++) {
		const double m = tac_rng_range_f64(&rng, 0.05, 1), b = tac_rng_range_f64(&rng, 0.1, 5);
		const double B = tac_rng_range_f64(&rng, 0, 5), td = tac_rng_range_f64(&rng, 0, 3e-3);
		const double mass = tac_rng_range_f64(&rng, 0.1, 10), time = tac_rng_range_f64(&rng, 0.1, 10);
		const double here = critical(m, b, B, 1e-3, td);
		const double there =
			critical(m * mass, b * mass / time, B * mass / time, 1e-3 * time, td * time);
		TEST_ASSERT_DOUBLE_WITHIN(1e-6 * here, here, there * time * time / mass);
	}
}

static void a_delay_beyond_the_range_allows_nothing(void)
{
	TEST_ASSERT_TRUE(critical(0.1, 0.5, 0, 1e-3, 24.5e-3) > 0);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, critical(0.1, 0.5, 0, 1e-3, 25e-3));
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, critical(0.1, 0.5, 0, 1e-3, 1e9));
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, passive(0.5, 0, 1e-3, 1e9));
}

#define GROWTH_TICKS_MAX 120000

// The rate at which the energy of an oscillating device grows, 1/s, over the last three quarters of the run.
static double growth(const wall *w)
{
	static wall_row rows[GROWTH_TICKS_MAX];
	TEST_ASSERT_TRUE(w->N <= GROWTH_TICKS_MAX);
	wall_run(w, rows);
	double n = 0, t = 0, tt = 0, y = 0, ty = 0;
	for (int k = (int)w->N / 4; k < (int)w->N; k++) {
		const double at = k * w->T;
		const double energy = 0.5 * (w->K + w->kh) * rows[k].x * rows[k].x +
				      0.5 * (w->m + w->mh) * rows[k].v * rows[k].v;
		const double value = log(energy + 1e-300);
		n++;
		t += at;
		tt += at * at;
		y += value;
		ty += at * value;
	}
	return (n * ty - t * y) / (n * tt - t * t);
}

static int measured;

static void measure_row(const double *v, int number)
{
	wall w = {.m = v[0],
		  .b = v[1],
		  .B = v[2],
		  .T = v[3] / 1e3,
		  .td = v[4] / 1e3,
		  .bilateral = 1,
		  .x0 = 1e-3,
		  .N = 2000};
	const tac_device_mechanics device = {.mass = w.m, .damping = w.b};
	const tac_stability_loop loop = {.period_s = w.T, .delay_s = w.td, .damping_N_s_per_m = w.B};
	const double limit = tac_stability_critical(&device, &no_hand, &loop);
	// At least ten oscillations, so that the phase within one does not matter.
	w.N = fmax(2000, ceil(10 * 6.2832 * sqrt(w.m / limit) / w.T));
	char message[128];
	snprintf(message, sizeof message, "row %d, critical %.9g", number, limit);
	w.K = 0.995 * limit;
	TEST_ASSERT_TRUE_MESSAGE(growth(&w) < 0, message);
	w.K = 1.005 * limit;
	TEST_ASSERT_TRUE_MESSAGE(growth(&w) > 0, message);
	measured++;
}

// Measured 0.5 % below and above the limit.
static void the_simulated_device_oscillates_above_the_limit_and_decays_below(void)
{
	measured = 0;
	TEST_ASSERT_TRUE(for_each_row(TACTUS_STABILITY_EXCERPT, "kcrit_grid", 0, measure_row));
	TEST_ASSERT_GREATER_OR_EQUAL(20, measured);
	printf("%d rows of the grid measured on the simulated device, all within 0.5 %%\n", measured);
}

static void a_velocity_filter_and_a_hand_move_the_limit_as_measured(void)
{
	wall w = {.m = 0.1,
		  .b = 0.5,
		  .B = 2,
		  .a = 0.5,
		  .T = 1e-3,
		  .td = 1.35e-3,
		  .mh = 0.05,
		  .bh = 2,
		  .kh = 300,
		  .bilateral = 1,
		  .x0 = 1e-3,
		  .N = 2000};
	const tac_device_mechanics device = {.mass = w.m, .damping = w.b};
	const tac_stability_hand hand = {w.mh, w.bh, w.kh};
	const tac_stability_loop loop = {w.T, w.td, w.B, w.a};
	const double limit = tac_stability_critical(&device, &hand, &loop);
	w.K = 0.995 * limit;
	TEST_ASSERT_TRUE(growth(&w) < 0);
	w.K = 1.005 * limit;
	TEST_ASSERT_TRUE(growth(&w) > 0);
}

static void passivity_without_delay_is_colgates_condition(void)
{
	for (int i = 0; i <= 8; i++) {
		const double b = 1, B = 0.15 * i, T = 1e-3;
		TEST_ASSERT_DOUBLE_WITHIN(1e-3, fmax(0, (b - B) * 2 / T), passive(b, B, T, 0));
	}
}

// One period of delay: b = 3KT/2 - B for B <= KT/4, KT/2 + B + K^2 T^2 / (8 B) otherwise.
static void passivity_with_a_period_of_delay_is_the_closed_form(void)
{
	const double T = 1e-3;
	for (double K = 100; K <= 2000; K += 100) {
		for (double B = 0; B <= 0.5; B += 0.05) {
			const double b =
				B <= K * T / 4 ? 1.5 * K * T - B : K * T / 2 + B + K * K * T * T / (8 * B);
			TEST_ASSERT_DOUBLE_WITHIN(2e-6 * K, K, passive(b, B, T, T));
		}
	}
}

static void friction_dissipates_what_the_steps_of_the_sensor_generate(void)
{
	const tac_device_mechanics falcon = {0.25, 1.5, 0.4, 63.5e-6}, smooth = {0.25, 1.5, 0.4, 0};
	const tac_stability_loop plain = {.period_s = 1e-3},
				 damped = {.period_s = 1e-3, .damping_N_s_per_m = 3};
	const tac_stability_loop too_damped = {.period_s = 1e-3, .damping_N_s_per_m = 7};
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 12598.4251968504, tac_stability_quantised(&falcon, &plain));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 12598.4251968504 - 6000, tac_stability_quantised(&falcon, &damped));
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, tac_stability_quantised(&falcon, &too_damped));
	TEST_ASSERT_TRUE(isinf(tac_stability_quantised(&smooth, &plain)));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_critical_stiffness_matches_the_tables);
	RUN_TEST(the_passive_stiffness_matches_the_table);
	RUN_TEST(without_delay_and_damper_the_critical_stiffness_is_the_closed_form);
	RUN_TEST(too_much_virtual_damping_leaves_no_stiffness);
	RUN_TEST(the_critical_stiffness_scales_with_mass_and_time);
	RUN_TEST(a_delay_beyond_the_range_allows_nothing);
	RUN_TEST(the_simulated_device_oscillates_above_the_limit_and_decays_below);
	RUN_TEST(a_velocity_filter_and_a_hand_move_the_limit_as_measured);
	RUN_TEST(passivity_without_delay_is_colgates_condition);
	RUN_TEST(passivity_with_a_period_of_delay_is_the_closed_form);
	RUN_TEST(friction_dissipates_what_the_steps_of_the_sensor_generate);
	return UNITY_END();
}
