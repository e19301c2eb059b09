// Oracles: the guarantees of the header, checked on every step of random and hostile input, and ramps in
// closed form.
#include "haptic/limit.h"

#include "base/denormal.h"
#include "base/rng.h"
#include "tests/support/logged.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unity.h>

#define MS INT64_C(1000000)

static tac_limit *limit;
static tac_limit_def def;
static tac_limit_input input;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	const tac_device_info info = {.max_force_N = 8, .max_torque_Nm = 0.5, .full_force_s = 2e-3};
	def = tac_limit_def_default(&info);
	input = (tac_limit_input){.state.T_base_tool = tac_dpose_identity()};
}

void tearDown(void)
{
	tac_limit_destroy(&limit);
	tac_log_set(NULL, NULL);
}

static void create(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_limit_create(&def, &limit));
}

static tac_limit_output step(double force_N, bool in_contact)
{
	input.wrench.force_N = tac_dvec3_make(force_N, 0, 0);
	input.in_contact = in_contact;
	const tac_limit_output out = tac_limit_step(limit, &input);
	input.now_ns += MS;
	return out;
}

// Two ticks without contact, so that the gain is 1, then contact with `force_N` until all of it is sent.
static void engage(double force_N)
{
	create();
	step(0, false);
	step(0, false);
	tac_limit_output out = {0};
	for (int i = 0; i < 10; i++)
		out = step(force_N, true);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, force_N, out.wrench.force_N.x);
	TEST_ASSERT_EQUAL_UINT32(0, out.reasons);
}

static bool has(tac_limit_output out, tac_limit_reason reason)
{
	return out.reasons >> reason & 1u;
}

// ---- lowered gain ----

static void a_lowered_gain_falls_over_the_release_time_and_is_never_raised(void)
{
	engage(4);
	tac_limit_lower_gain(limit, 0.25);
	for (int i = 1; i <= 100; i++) {
		const tac_limit_output out = step(4, true);
		const double gain = fmax(0.25, 1 - i * 1e-3 / def.release_s);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, gain, out.gain);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4 * gain, out.wrench.force_N.x);
		TEST_ASSERT_EQUAL_UINT32(0, out.reasons);
	}
	tac_limit_lower_gain(limit, 0.5);
	tac_limit_lower_gain(limit, (double)NAN);
	step(0, false); // no force: the gain would be 1
	TEST_ASSERT_EQUAL_DOUBLE(0.25, step(4, true).gain);
	tac_limit_stop(limit);
	TEST_ASSERT_EQUAL_DOUBLE(0, step(4, true).gain);
	tac_limit_reset(limit);
	for (int i = 1; i <= 1000; i++)
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, fmin(0.25, i * 1e-3 / def.engage_s), step(4, true).gain);
	tac_limit_lower_gain(limit, -3);
	for (int i = 0; i < 100; i++)
		step(4, true);
	TEST_ASSERT_EQUAL_DOUBLE(0, step(4, true).wrench.force_N.x);
}

// ---- magnitude and slew ----

static void a_wrench_within_all_limits_passes_unchanged(void)
{
	engage(3);
	input.wrench.torque_Nm = tac_dvec3_make(0.1, 0.2, -0.3);
	for (int i = 0; i < 5; i++)
		step(3, true);
	const tac_limit_output out = step(3, true);
	TEST_ASSERT_EQUAL_MEMORY(&input.wrench, &out.wrench, sizeof out.wrench);
	TEST_ASSERT_EQUAL_UINT32(0, out.reasons);
}

static void an_excessive_force_is_scaled_down_and_keeps_its_direction(void)
{
	engage(0);
	input.wrench.force_N = tac_dvec3_make(30, 40, 0);
	input.wrench.torque_Nm = tac_dvec3_make(0, 0, -7);
	input.in_contact = true;
	tac_limit_output out = {0};
	for (int i = 0; i < 10; i++) {
		out = tac_limit_step(limit, &input);
		input.now_ns += MS;
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4.8, out.wrench.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 6.4, out.wrench.force_N.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.5, out.wrench.torque_Nm.z);
	TEST_ASSERT_EQUAL_UINT32(1u << TAC_LIMIT_FORCE | 1u << TAC_LIMIT_TORQUE, out.reasons);
	TEST_ASSERT_EQUAL_UINT64(10, tac_limit_count(limit, TAC_LIMIT_FORCE));
}

// 4 N within 2 ms: 2 N a tick, also after the gain has risen; NaN and the emergency stop give zero.
static void the_grippers_force_is_limited_like_any_other(void)
{
	def.max_gripper_N = 4;
	def.gripper_slew_N_per_s = 2000;
	engage(1);
	input.gripper_N = 3;
	tac_limit_output out = step(1, true);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2, out.gripper_N);
	TEST_ASSERT_TRUE(has(out, TAC_LIMIT_GRIPPER));
	out = step(1, true);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3, out.gripper_N);
	TEST_ASSERT_EQUAL_UINT32(0, out.reasons);
	input.gripper_N = -50;
	for (int i = 0; i < 9; i++)
		out = step(1, true);
	TEST_ASSERT_EQUAL_DOUBLE(-4, out.gripper_N);
	TEST_ASSERT_TRUE(has(out, TAC_LIMIT_GRIPPER));
	TEST_ASSERT_EQUAL_DOUBLE(1, out.wrench.force_N.x);
	tac_limit_stop(limit);
	TEST_ASSERT_EQUAL_DOUBLE(0, step(1, true).gripper_N);
	tac_limit_reset(limit);
	for (int i = 0; i < 1000; i++) {
		input.gripper_N = i % 3 ? (double)NAN : 1e300;
		out = step(1, true);
		TEST_ASSERT_TRUE(fabs(out.gripper_N) <= 4);
	}
	TEST_ASSERT_TRUE(has(out, TAC_LIMIT_GRIPPER) || has(out, TAC_LIMIT_NOT_FINITE));
}

// A gripper that is squeezed when the loop starts is pushed open gradually.
static void a_squeezed_gripper_engages_over_the_engage_time(void)
{
	def.max_gripper_N = 4;
	def.gripper_slew_N_per_s = 2000;
	create();
	input.gripper_N = 4;
	double last = 0;
	for (int i = 0; i < 501; i++) {
		const double now = step(0, false).gripper_N;
		TEST_ASSERT_TRUE(now - last <= 4 * 1e-3 / def.engage_s + 1e-12);
		last = now;
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 4, last);
}

static void a_jump_becomes_a_ramp(void)
{
	engage(0); // 8 N in 2 ms: 4 N per tick
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4, step(7, true).wrench.force_N.x);
	const tac_limit_output out = step(7, true);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 7, out.wrench.force_N.x);
	TEST_ASSERT_FALSE(has(out, TAC_LIMIT_FORCE_SLEW));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3, step(-7, true).wrench.force_N.x);
	TEST_ASSERT_EQUAL_UINT64(2, tac_limit_count(limit, TAC_LIMIT_FORCE_SLEW));
}

// 5 N must not turn round within a tick, and a scene that allows less force has it rise more slowly.
static void the_slew_is_the_devices_and_falls_with_the_maximum(void)
{
	const tac_device_info info = {.max_force_N = 8.9, .max_torque_Nm = 0.5};
	def = tac_limit_def_default(&info);
	engage(5);
	const tac_limit_output out = step(-3, true);
	TEST_ASSERT_TRUE(has(out, TAC_LIMIT_FORCE_SLEW));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 5 - 8.9 / 4, out.wrench.force_N.x);
	def.max_force_N = 2;
	def.max_torque_Nm = 0.1;
	tac_limit_def_set_slew(&def, &info);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2 / 4e-3, def.force_slew_N_per_s);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.1 / 4e-3, def.torque_slew_Nm_per_s);
	const tac_device_info nothing = {0};
	def = tac_limit_def_default(&nothing);
	TEST_ASSERT_TRUE(def.force_slew_N_per_s > 0 && def.torque_slew_Nm_per_s > 0);
}

static void a_limited_force_has_the_maximal_magnitude_in_every_direction(void)
{
	tac_rng rng = tac_rng_seed(8, 1);
	engage(0);
	for (int i = 0; i < 20000; i++) {
		input.wrench.force_N = tac_dvec3_scale(tac_rng_unit_f64(&rng), 100);
		input.now_ns += 5 * MS; // enough for the slew
		const double length = tac_dvec3_length(tac_limit_step(limit, &input).wrench.force_N);
		TEST_ASSERT_TRUE(length <= 8 && length > 8 * (1 - 1e-14));
	}
}

static void creeping_along_the_maximum_never_exceeds_it(void)
{
	tac_rng rng = tac_rng_seed(9, 1);
	def.force_slew_N_per_s = 1;
	engage(0);
	tac_dvec3 direction = tac_rng_unit_f64(&rng);
	int slewed = 0;
	for (int i = 0; i < 200000; i++) {
		// The rotation is so small that the chord lies within rounding of the sphere, and the slew
		// cuts it.
		if (i > 1000)
			direction = tac_dvec3_normalize(
				tac_dvec3_add_scaled(direction, 1e-8, tac_rng_unit_f64(&rng)));
		input.wrench.force_N = tac_dvec3_scale(direction, 100);
		input.now_ns += i < 1000 ? 9 * MS : 1 + tac_rng_below(&rng, 100);
		const tac_limit_output out = tac_limit_step(limit, &input);
		TEST_ASSERT_TRUE(tac_dvec3_length(out.wrench.force_N) <= 8);
		if (i > 1000) {
			TEST_ASSERT_TRUE(tac_dvec3_length(out.wrench.force_N) > 7.99999);
			slewed += has(out, TAC_LIMIT_FORCE_SLEW);
		}
	}
	TEST_ASSERT_GREATER_THAN(1000, slewed);
}

static void a_wrench_that_is_not_finite_counts_as_zero(void)
{
	const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
	for (int component = 0; component < 6; component++) {
		for (int i = 0; i < 3; i++) {
			engage(3);
			double wrench[6] = {3, 0, 0, 0, 0, 0};
			wrench[component] = bad[i];
			input.wrench = (tac_wrench){tac_dvec3_load(wrench), tac_dvec3_load(wrench + 3)};
			const tac_limit_output out = tac_limit_step(limit, &input);
			TEST_ASSERT_TRUE(has(out, TAC_LIMIT_NOT_FINITE));
			TEST_ASSERT_DOUBLE_WITHIN(0, 0,
						  out.wrench.force_N.x); // 3 N is within the slew of a tick
			input.wrench = tac_wrench_zero();
			tac_limit_destroy(&limit);
		}
	}
}

// ---- the gain ----

static void in_contact_from_the_start_the_force_rises_over_the_engage_time(void)
{
	create();
	step(4, true);
	for (int i = 1; i < 500; i++) {
		const tac_limit_output out = step(4, true);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 4 * i / 500.0, out.wrench.force_N.x);
		TEST_ASSERT_TRUE(has(out, TAC_LIMIT_ENGAGE));
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 4, step(4, true).wrench.force_N.x);
	TEST_ASSERT_FALSE(has(step(4, true), TAC_LIMIT_ENGAGE));
}

static void free_of_contact_the_gain_is_full_at_once(void)
{
	create();
	step(4, true);
	step(4, true);
	TEST_ASSERT_DOUBLE_WITHIN(0, 1, step(0, false).gain);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4, step(4, true).wrench.force_N.x);
}

static void a_force_in_free_space_rises_like_any_other(void)
{
	create();
	step(4, false);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4 / 500.0, step(4, false).wrench.force_N.x);
}

static void check_release(tac_limit_reason reason)
{
	// From gain 1 to 0 within 50 ms.
	for (int i = 1; i <= 60; i++) {
		const tac_limit_output out = step(4, true);
		TEST_ASSERT_TRUE(has(out, reason));
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 4 * fmax(0, 1 - i / 50.0), out.wrench.force_N.x);
	}
	TEST_ASSERT_EQUAL_UINT64(60, tac_limit_count(limit, reason));
}

static void releasing_the_dead_mans_button_releases_the_force(void)
{
	def.deadman_button = 31;
	input.state.buttons = 1u << 31;
	engage(4);
	input.state.buttons = ~(1u << 31);
	check_release(TAC_LIMIT_DEADMAN);
	input.state.buttons = 1u << 31;
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 4 / 500.0, step(4, true).wrench.force_N.x);
}

static void unknown_answers_of_the_collider_release_the_force(void)
{
	engage(4);
	input.unknown = true;
	check_release(TAC_LIMIT_UNKNOWN);
}

static void a_single_unknown_answer_costs_little(void)
{
	engage(4);
	input.unknown = true;
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 4 * 0.98, step(4, true).wrench.force_N.x);
	input.unknown = false;
	for (int i = 0; i < 11; i++)
		step(4, true);
	TEST_ASSERT_EQUAL_UINT32(0, step(4, true).reasons);
}

static void the_force_is_released_while_the_device_is_too_fast(void)
{
	engage(4);
	input.state.velocity_m_per_s = tac_dvec3_make(0, 2.01, 0);
	TEST_ASSERT_TRUE(has(step(4, true), TAC_LIMIT_SPEED));
	input.state.velocity_m_per_s.y = 1.5; // still above half
	TEST_ASSERT_TRUE(has(step(4, true), TAC_LIMIT_SPEED));
	input.state.velocity_m_per_s.y = 0.9;
	TEST_ASSERT_FALSE(has(step(4, true), TAC_LIMIT_SPEED));
	input.state.angular_velocity_rad_per_s = tac_dvec3_make(31, 0, 0);
	TEST_ASSERT_TRUE(has(step(4, true), TAC_LIMIT_SPEED));
	for (int i = 0; i < 2; i++) {
		input.state.velocity_m_per_s.y = input.state.angular_velocity_rad_per_s.x = 0;
		TEST_ASSERT_FALSE(has(step(4, true), TAC_LIMIT_SPEED));
		input.state.velocity_m_per_s.y = i == 0 ? (double)NAN : 0;
		input.state.angular_velocity_rad_per_s.x = i == 1 ? (double)NAN : 0;
		const tac_limit_output out = step(4, true);
		TEST_ASSERT_TRUE(has(out, TAC_LIMIT_SPEED) && has(out, TAC_LIMIT_NOT_FINITE));
	}
}

static void after_a_stall_the_gain_rises_from_zero(void)
{
	engage(4);
	input.now_ns += 20 * MS;
	tac_limit_output out = step(4, true);
	TEST_ASSERT_TRUE(has(out, TAC_LIMIT_STALL));
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, out.wrench.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 4 / 500.0, step(4, true).wrench.force_N.x);
	input.now_ns -= 50 * MS; // a clock that runs backwards counts as a stall
	out = step(4, true);
	TEST_ASSERT_TRUE(has(out, TAC_LIMIT_STALL));
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, out.gain);
	TEST_ASSERT_EQUAL_UINT64(2, tac_limit_count(limit, TAC_LIMIT_STALL));
}

static void stale_samples_are_tolerated_for_a_limited_time(void)
{
	engage(4);
	input.status = TAC_DEVICE_STALE;
	for (int i = 0; i < 5; i++)
		TEST_ASSERT_EQUAL_UINT32(0, step(4, true).reasons);
	const tac_limit_output out = step(4, true);
	TEST_ASSERT_TRUE(has(out, TAC_LIMIT_STALE));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 4 * 0.98, out.wrench.force_N.x);
}

static void after_the_device_was_lost_the_gain_rises_from_zero(void)
{
	const tac_device_status gone[] = {TAC_DEVICE_LOST, TAC_DEVICE_ENDED, TAC_DEVICE_DISABLED};
	for (int i = 0; i < 3; i++) {
		engage(3);
		input.status = gone[i];
		const tac_limit_output out = step(3, true);
		TEST_ASSERT_TRUE(has(out, TAC_LIMIT_LOST));
		TEST_ASSERT_DOUBLE_WITHIN(0, 0, out.wrench.force_N.x);
		input.status = TAC_DEVICE_OK;
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 3 / 500.0, step(3, true).wrench.force_N.x);
		tac_limit_destroy(&limit);
	}
}

// ---- emergency stop ----

static void the_emergency_stop_cuts_at_once_and_holds_until_reset(void)
{
	engage(8); // two ticks of slew
	tac_limit_stop(limit);
	tac_limit_output out = step(8, true);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, out.wrench.force_N.x);
	TEST_ASSERT_TRUE(has(out, TAC_LIMIT_STOPPED));
	for (int i = 0; i < 1000; i++)
		TEST_ASSERT_DOUBLE_WITHIN(0, 0, step(i % 2 ? 8 : 0, i % 2).wrench.force_N.x);
	tac_limit_reset(limit);
	out = step(8, true);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 8 / 500.0, out.wrench.force_N.x);
	TEST_ASSERT_EQUAL_UINT64(1001, tac_limit_count(limit, TAC_LIMIT_STOPPED));
}

static void a_stop_that_is_reset_before_the_next_tick_still_cuts(void)
{
	engage(8);
	tac_limit_stop(limit);
	tac_limit_reset(limit);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, step(8, true).wrench.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 8 / 500.0, step(8, true).wrench.force_N.x);
}

static atomic_bool stop_sent;

static void *stopper(void *user)
{
	tac_limit_stop(user);
	atomic_store(&stop_sent, true);
	return NULL;
}

static void the_emergency_stop_may_come_from_another_thread(void)
{
	engage(8);
	pthread_t thread;
	TEST_ASSERT_EQUAL(0, pthread_create(&thread, NULL, stopper, limit));
	bool stopped = false;
	for (int64_t i = 0; i < INT64_C(1000000000) && !stopped; i++) {
		const bool sent = atomic_load(&stop_sent);
		stopped = has(step(8, true), TAC_LIMIT_STOPPED);
		TEST_ASSERT_TRUE(stopped || !sent); // the first step after the stop is already zero
	}
	TEST_ASSERT_TRUE(stopped);
	pthread_join(thread, NULL);
}

// ---- properties ----

static double hostile(tac_rng *rng)
{
	static const double values[] = {0,       -0.0,     DBL_MIN,     5e-324, DBL_MAX, -DBL_MAX,
					DBL_MAX, HUGE_VAL, (double)NAN, 1e-300, 8,       8.000000000000002};
	const uint32_t kind = tac_rng_below(rng, 20);
	if (kind < 12 && tac_rng_below(rng, 4) == 0)
		return values[kind];
	if (kind == 12) { // any bits
		const uint64_t bits = tac_rng_u64(rng);
		double value;
		memcpy(&value, &bits, sizeof value);
		return value;
	}
	return tac_rng_range_f64(rng, -12, 12);
}

static tac_dvec3 hostile_vector(tac_rng *rng)
{
	const double x = hostile(rng), y = hostile(rng), z = hostile(rng);
	return tac_dvec3_make(x, y, z);
}

static int64_t hostile_time(tac_rng *rng, int64_t now_ns)
{
	switch (tac_rng_below(rng, 200)) {
	case 0:
		return (int64_t)tac_rng_u64(rng);
	case 1:
		return INT64_MIN;
	case 2:
		return INT64_MAX;
	case 3:
		return now_ns; // no time has passed
	default:
		if (now_ns > INT64_MAX / 2 || now_ns < INT64_MIN / 2)
			return 0;
		return now_ns + tac_rng_below(rng, 3000000);
	}
}

static void check_hostile_steps(int steps, uint64_t seed)
{
	tac_rng rng = tac_rng_seed(seed, 1);
	uint64_t counted[TAC_LIMIT_REASON_COUNT] = {0};
	def.max_force_N = seed % 3 == 0 ? tac_rng_range_f64(&rng, 0, 20) : 8;
	def.max_torque_Nm = seed % 5 == 0 ? 0 : 0.5;
	def.deadman_button = seed % 2 ? 3 : TAC_LIMIT_NO_BUTTON;
	def.max_gripper_N = 4;
	def.gripper_slew_N_per_s = 2000;
	double gripper_before = 0;
	create();
	tac_wrench before = tac_wrench_zero();
	int64_t before_ns = 0;
	bool stopped = false;
	for (int i = 0; i < steps; i++) {
		const uint32_t calm = tac_rng_below(&rng, 3);
		input.now_ns = hostile_time(&rng, input.now_ns);
		input.wrench.force_N = hostile_vector(&rng);
		input.wrench.torque_Nm = hostile_vector(&rng);
		input.gripper_N = hostile_vector(&rng).x;
		input.state.velocity_m_per_s = calm ? tac_dvec3_zero() : hostile_vector(&rng);
		input.state.angular_velocity_rad_per_s = calm ? tac_dvec3_zero() : hostile_vector(&rng);
		input.state.buttons = calm ? 8 : tac_rng_u32(&rng);
		input.status = calm ? TAC_DEVICE_OK : (tac_device_status)tac_rng_below(&rng, 7);
		input.in_contact = tac_rng_below(&rng, 2);
		input.unknown = tac_rng_below(&rng, 20) == 0;
		const uint32_t button = tac_rng_below(&rng, 500);
		if (button == 0) {
			tac_limit_stop(limit);
			stopped = true;
		} else if (button < 20) {
			tac_limit_reset(limit);
			stopped = false;
		}
		const tac_limit_output out = tac_limit_step(limit, &input);
		for (int r = 0; r < TAC_LIMIT_REASON_COUNT; r++)
			counted[r] += out.reasons >> r & 1u;
		TEST_ASSERT_TRUE(tac_dvec3_finite(out.wrench.force_N) &&
				 tac_dvec3_finite(out.wrench.torque_Nm));
		TEST_ASSERT_TRUE(tac_dvec3_length(out.wrench.force_N) <= def.max_force_N);
		TEST_ASSERT_TRUE(tac_dvec3_length(out.wrench.torque_Nm) <= def.max_torque_Nm);
		TEST_ASSERT_TRUE(fabs(out.gripper_N) <= def.max_gripper_N);
		TEST_ASSERT_TRUE(out.gain >= 0 && out.gain <= 1);
		if (stopped) {
			TEST_ASSERT_TRUE(has(out, TAC_LIMIT_STOPPED));
			TEST_ASSERT_TRUE(tac_dvec3_length(out.wrench.force_N) == 0 && out.gripper_N == 0);
		}
		if (!has(out, TAC_LIMIT_STOPPED)) {
			// After a stall, or with time running backwards, the slew is that of one stall time.
			const double dt_s = i == 0 ? 0
					    : has(out, TAC_LIMIT_STALL)
						    ? (double)def.stall_ns / 1e9
						    : (double)(input.now_ns - before_ns) / 1e9;
			const double force =
				tac_dvec3_length(tac_dvec3_sub(out.wrench.force_N, before.force_N));
			const double gripper = fabs(out.gripper_N - gripper_before);
			TEST_ASSERT_TRUE(gripper <= def.gripper_slew_N_per_s * dt_s * (1 + 1e-12) + 1e-14);
			const double torque =
				tac_dvec3_length(tac_dvec3_sub(out.wrench.torque_Nm, before.torque_Nm));
			TEST_ASSERT_TRUE(force <= def.force_slew_N_per_s * dt_s * (1 + 1e-12) + 1e-14);
			TEST_ASSERT_TRUE(torque <= def.torque_slew_Nm_per_s * dt_s * (1 + 1e-12) + 1e-14);
		}
		before = out.wrench;
		gripper_before = out.gripper_N;
		before_ns = input.now_ns;
	}
	for (int r = 0; r < TAC_LIMIT_REASON_COUNT; r++) {
		TEST_ASSERT_EQUAL_UINT64(counted[r], tac_limit_count(limit, (tac_limit_reason)r));
		const bool off = (r == TAC_LIMIT_DEADMAN && def.deadman_button == TAC_LIMIT_NO_BUTTON) ||
				 (r == TAC_LIMIT_TORQUE_SLEW && def.max_torque_Nm == 0);
		TEST_ASSERT_TRUE_MESSAGE(off || counted[r] > 0, tac_limit_reason_name((tac_limit_reason)r));
	}
	tac_limit_destroy(&limit);
}

static void hostile_input_never_exceeds_the_limits(void)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		setUp();
		check_hostile_steps(50000, seed);
	}
}

static void hostile_input_never_exceeds_the_limits_with_denormals_flushed(void)
{
	tac_denormal_flush(true);
	check_hostile_steps(50000, 99);
	tac_denormal_flush(false);
}

// ---- set-up ----

static void refuse(double *field, double value)
{
	const double keep = *field;
	*field = value;
	logged_lines = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_limit_create(&def, &limit));
	TEST_ASSERT_NULL(limit);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	*field = keep;
}

static void an_invalid_def_is_refused(void)
{
	double *const fields[] = {&def.max_force_N,        &def.max_torque_Nm,
				  &def.force_slew_N_per_s, &def.torque_slew_Nm_per_s,
				  &def.max_speed_m_per_s,  &def.max_turn_rad_per_s,
				  &def.engage_s,           &def.release_s};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		refuse(fields[i], (double)NAN);
		refuse(fields[i], HUGE_VAL);
		refuse(fields[i], -1);
	}
	refuse(&def.engage_s, 0);
	def.deadman_button = 32;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_limit_create(&def, &limit));
	def.deadman_button = TAC_LIMIT_NO_BUTTON;
	def.stall_ns = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_limit_create(&def, &limit));
}

static void reasons_have_names(void)
{
	for (int i = 0; i < TAC_LIMIT_REASON_COUNT; i++) {
		for (int j = 0; j < i; j++)
			TEST_ASSERT_TRUE(strcmp(tac_limit_reason_name((tac_limit_reason)i),
						tac_limit_reason_name((tac_limit_reason)j)) != 0);
	}
	TEST_ASSERT_EQUAL_STRING("unknown reason", tac_limit_reason_name(TAC_LIMIT_REASON_COUNT));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_lowered_gain_falls_over_the_release_time_and_is_never_raised);
	RUN_TEST(a_wrench_within_all_limits_passes_unchanged);
	RUN_TEST(an_excessive_force_is_scaled_down_and_keeps_its_direction);
	RUN_TEST(the_grippers_force_is_limited_like_any_other);
	RUN_TEST(a_squeezed_gripper_engages_over_the_engage_time);
	RUN_TEST(a_jump_becomes_a_ramp);
	RUN_TEST(the_slew_is_the_devices_and_falls_with_the_maximum);
	RUN_TEST(a_limited_force_has_the_maximal_magnitude_in_every_direction);
	RUN_TEST(creeping_along_the_maximum_never_exceeds_it);
	RUN_TEST(a_wrench_that_is_not_finite_counts_as_zero);
	RUN_TEST(in_contact_from_the_start_the_force_rises_over_the_engage_time);
	RUN_TEST(free_of_contact_the_gain_is_full_at_once);
	RUN_TEST(a_force_in_free_space_rises_like_any_other);
	RUN_TEST(releasing_the_dead_mans_button_releases_the_force);
	RUN_TEST(unknown_answers_of_the_collider_release_the_force);
	RUN_TEST(a_single_unknown_answer_costs_little);
	RUN_TEST(the_force_is_released_while_the_device_is_too_fast);
	RUN_TEST(after_a_stall_the_gain_rises_from_zero);
	RUN_TEST(stale_samples_are_tolerated_for_a_limited_time);
	RUN_TEST(after_the_device_was_lost_the_gain_rises_from_zero);
	RUN_TEST(the_emergency_stop_cuts_at_once_and_holds_until_reset);
	RUN_TEST(a_stop_that_is_reset_before_the_next_tick_still_cuts);
	RUN_TEST(the_emergency_stop_may_come_from_another_thread);
	RUN_TEST(hostile_input_never_exceeds_the_limits);
	RUN_TEST(hostile_input_never_exceeds_the_limits_with_denormals_flushed);
	RUN_TEST(an_invalid_def_is_refused);
	RUN_TEST(reasons_have_names);
	return UNITY_END();
}
