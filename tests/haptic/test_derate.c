// Oracles: the limits of haptic/stability.h (tested separately), the arithmetic of the averages, and the
// simulated device, which rings with the requested stiffness and not with the allowed one.
#include "haptic/derate.h"

#include "base/rng.h"
#include "tests/support/wall.h"

#define MS INT64_C(1000000)

static tac_derate_def def;
static tac_derate derate;

void setUp(void)
{
	def = (tac_derate_def){.device = {.mass = 0.1, .damping = 1},
			       .rule = TAC_DERATE_PASSIVE,
			       .margin = 1,
			       .period_ns = MS,
			       .window_s = 0.25,
			       .rise_per_s = 0.5};
}

void tearDown(void)
{
}

static double settle(int ticks, int64_t period_ns, int64_t delay_ns)
{
	double allowed = 0;
	for (int i = 0; i < ticks; i++)
		allowed = tac_derate_step(&derate, period_ns, delay_ns);
	return allowed;
}

// Passive: K = b / (T/2 + td) for whole delays, so 2000 N/m at 1 kHz, and at most 6 % less because of the
// slack.
static void a_steady_loop_gets_its_limit_less_the_slack(void)
{
	tac_derate_init(&derate, &def);
	const double allowed = settle(100, MS, 0);
	TEST_ASSERT_TRUE(allowed <= 2000 && allowed >= 0.95 * 2000);
	TEST_ASSERT_EQUAL(TAC_DERATE_BY_RATE, derate.reason);
	TEST_ASSERT_EQUAL_UINT64(1, derate.computed);
}

static void a_longer_delay_lowers_the_stiffness_at_once_and_a_shorter_one_raises_it_slowly(void)
{
	tac_derate_init(&derate, &def);
	const double before = settle(100, MS, 0);
	const double first = tac_derate_step(&derate, MS, 2 * MS);
	TEST_ASSERT_TRUE(first <= before);
	const double low = settle(5000, MS, 2 * MS);
	TEST_ASSERT_TRUE(low <= 1 / 2.5e-3 && low >= 0.93 / 2.5e-3);
	TEST_ASSERT_TRUE(derate.computed < 200);
	double last = low;
	int ticks = 0;
	while (last < 0.94 * 2000 && ticks < 10000) {
		const double now = tac_derate_step(&derate, MS, 0);
		TEST_ASSERT_TRUE(now >= last && now - last <= 0.5e-3 * 2000 + 1e-9);
		last = now;
		ticks++;
	}
	// From 400 to 1880 at half of 2000 per second at most.
	TEST_ASSERT_TRUE(ticks >= 1480 && ticks < 6000);
}

static void a_delay_that_decays_is_not_computed_again_forever(void)
{
	def.delay_ns = 2 * MS;
	tac_derate_init(&derate, &def);
	settle(5000, MS, 0);
	const uint64_t computed = derate.computed;
	TEST_ASSERT_TRUE(computed < 60);
	settle(5000, MS, 0);
	TEST_ASSERT_EQUAL_UINT64(computed, derate.computed);
}

static void uneven_ticks_count_by_their_squares(void)
{
	def.window_s = 10;
	tac_derate_init(&derate, &def);
	// Alternating 1 ms and 3 ms: (1 + 9) / (1 + 3) = 2.5 ms.
	for (int i = 0; i < 60000; i++)
		tac_derate_step(&derate, i % 2 ? MS : 3 * MS, 0);
	TEST_ASSERT_DOUBLE_WITHIN(0.01e-3, 2.5e-3, derate.period_s);
}

static void one_stall_lowers_the_stiffness_for_about_the_window(void)
{
	tac_derate_init(&derate, &def);
	const double before = settle(1000, MS, 0);
	const double stalled = tac_derate_step(&derate, 20 * MS, 0);
	// 20 ms have the weight 1 - exp(-20 / 250): 1 + 19 * 0.0769 = 2.46 ms.
	TEST_ASSERT_DOUBLE_WITHIN(0.05 * before / 2.46, before / 2.46, stalled);
	def.rise_per_s = 1e9;
	derate.def.rise_per_s = 1e9;
	TEST_ASSERT_TRUE(settle(2500, MS, 0) > 0.98 * before);
}

static void the_smallest_limit_applies_and_is_named(void)
{
	def.max_stiffness_N_per_m = 700;
	tac_derate_init(&derate, &def);
	TEST_ASSERT_DOUBLE_WITHIN(0, 700, derate.allowed_N_per_m);
	TEST_ASSERT_EQUAL(TAC_DERATE_BY_DEVICE, derate.reason);
	def.device.coulomb = 0.01;
	def.device.resolution = 50e-6; // 400 N/m
	tac_derate_init(&derate, &def);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 400, derate.allowed_N_per_m);
	TEST_ASSERT_EQUAL_STRING("sensor", tac_derate_reason_name(derate.reason));
	def.delay_ns = 10 * MS; // below 100 N/m
	tac_derate_init(&derate, &def);
	TEST_ASSERT_TRUE(derate.allowed_N_per_m < 100);
	TEST_ASSERT_EQUAL_STRING("rate", tac_derate_reason_name(derate.reason));
	TEST_ASSERT_EQUAL_STRING("unknown reason", tac_derate_reason_name(TAC_DERATE_REASON_COUNT));
}

// After a stall the rate still holds the stiffness down, although the limit is again the device's maximum.
static void while_it_rises_the_stiffness_is_held_by_what_made_it_fall(void)
{
	def.max_stiffness_N_per_m = 1000;
	tac_derate_init(&derate, &def);
	TEST_ASSERT_EQUAL_DOUBLE(1000, settle(100, MS, 0));
	TEST_ASSERT_EQUAL(TAC_DERATE_BY_DEVICE, derate.held_by);
	TEST_ASSERT_TRUE(tac_derate_step(&derate, 100 * MS, 0) < 100);
	TEST_ASSERT_EQUAL(TAC_DERATE_BY_RATE, derate.held_by);
	int ticks = 0, limited_by_device = 0;
	while (tac_derate_step(&derate, MS, 0) < 1000 && ticks++ < 10000) {
		TEST_ASSERT_EQUAL(TAC_DERATE_BY_RATE, derate.held_by);
		limited_by_device += derate.reason == TAC_DERATE_BY_DEVICE;
	}
	TEST_ASSERT_TRUE(limited_by_device > 100 && ticks < 10000);
	TEST_ASSERT_EQUAL(TAC_DERATE_BY_DEVICE, derate.held_by);
}

static void an_unknown_device_is_limited_by_what_is_known_of_it(void)
{
	const tac_device_info info = {.max_stiffness_N_per_m = 3000};
	def = tac_derate_def_default(&info, MS);
	tac_derate_init(&derate, &def);
	TEST_ASSERT_DOUBLE_WITHIN(0, 3000, settle(10, MS, 0));
	const tac_device_info nothing = {0};
	def = tac_derate_def_default(&nothing, MS);
	tac_derate_init(&derate, &def);
	TEST_ASSERT_TRUE(isinf(settle(10, 20 * MS, MS)));
	TEST_ASSERT_EQUAL(TAC_DERATE_BY_NOTHING, derate.reason);
}

static void with_a_hand_the_limit_is_a_share_of_the_critical_stiffness(void)
{
	def.rule = TAC_DERATE_HAND;
	def.hand = (tac_stability_hand){0.05, 2, 300};
	def.margin = 0.7;
	tac_derate_init(&derate, &def);
	const tac_stability_loop loop = {.period_s = 1e-3};
	const double critical = tac_stability_critical(&def.device, &def.hand, &loop);
	TEST_ASSERT_TRUE(derate.allowed_N_per_m <= 0.7 * critical);
	TEST_ASSERT_TRUE(derate.allowed_N_per_m >= 0.95 * 0.7 * critical);
}

static void invalid_times_change_nothing(void)
{
	tac_derate_init(&derate, &def);
	const double before = settle(10, MS, 0);
	TEST_ASSERT_DOUBLE_WITHIN(0, before, tac_derate_step(&derate, 0, 0));
	TEST_ASSERT_DOUBLE_WITHIN(0, before, tac_derate_step(&derate, -MS, 0));
	TEST_ASSERT_DOUBLE_WITHIN(0, before, tac_derate_step(&derate, MS, -1));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, tac_derate_step(&derate, INT64_MAX, INT64_MAX));
	TEST_ASSERT_TRUE(tac_derate_step(&derate, MS, 0) >= 0);
}

// The amplitude that remains: the range of the device's motion in the last half second.
static double ringing(const wall *w)
{
	static wall_row rows[8000];
	wall_run(w, rows);
	double low = rows[7500].x, high = low;
	for (int k = 7500; k < 8000; k++) {
		low = fmin(low, rows[k].x);
		high = fmax(high, rows[k].x);
	}
	return high - low;
}

static void a_wall_that_would_ring_is_still_when_derated(void)
{
	for (int n = 0; n <= 2; n++) {
		wall w = {.m = 0.1,
			  .b = 1,
			  .T = 1e-3,
			  .td = n * 1e-3,
			  .K = 5000,
			  .Fmax = 10,
			  .mh = 0.05,
			  .bh = 0.5,
			  .kh = 200,
			  .xi0 = -0.01,
			  .x0 = -0.01,
			  .si = 0.1,
			  .tstop = 0.2,
			  .N = 8000};
		def.delay_ns = n * MS;
		tac_derate_init(&derate, &def);
		TEST_ASSERT_TRUE(ringing(&w) > 1e-3);
		w.K = fmin(w.K, settle(1000, MS, n * MS));
		TEST_ASSERT_TRUE(ringing(&w) < 1e-5);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_steady_loop_gets_its_limit_less_the_slack);
	RUN_TEST(a_longer_delay_lowers_the_stiffness_at_once_and_a_shorter_one_raises_it_slowly);
	RUN_TEST(a_delay_that_decays_is_not_computed_again_forever);
	RUN_TEST(uneven_ticks_count_by_their_squares);
	RUN_TEST(one_stall_lowers_the_stiffness_for_about_the_window);
	RUN_TEST(the_smallest_limit_applies_and_is_named);
	RUN_TEST(while_it_rises_the_stiffness_is_held_by_what_made_it_fall);
	RUN_TEST(an_unknown_device_is_limited_by_what_is_known_of_it);
	RUN_TEST(with_a_hand_the_limit_is_a_share_of_the_critical_stiffness);
	RUN_TEST(invalid_times_change_nothing);
	RUN_TEST(a_wall_that_would_ring_is_still_when_derated);
	return UNITY_END();
}
