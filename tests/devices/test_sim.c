// Oracles: mechanics in closed form. The reference trajectories are compared in test_passivity, the stability
// limit in test_stability.
#include "devices/sim.h"

#include "base/rng.h"
#include "tests/support/logged.h"
#include "tests/support/wall.h"

#include <string.h>

#define MS INT64_C(1000000)

static tac_device *device;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
}

void tearDown(void)
{
	tac_device_destroy(&device);
	tac_log_set(NULL, NULL);
}

static tac_sim_def plain(double mass, double damping, double coulomb)
{
	return (tac_sim_def){.linear = {.mass = mass, .damping = damping, .coulomb = coulomb},
			     .max_force_N = 10,
			     .max_torque_Nm = 1};
}

static void create(const tac_sim_def *def)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(def, &device));
	tac_device_enable(device, true);
}

static tac_device_state read_at(int64_t now_ns)
{
	tac_device_state state;
	tac_device_read(device, now_ns, &state);
	return state;
}

static tac_device_status write_x(int64_t now_ns, double force_N)
{
	const tac_wrench wrench = {.force_N = {force_N, 0, 0}};
	return tac_device_write(device, now_ns, &wrench);
}

static double x_at(int64_t now_ns)
{
	read_at(now_ns);
	return tac_sim_read_truth(device).position_m.x;
}

// ---- mechanics ----

static void a_force_accelerates_the_mass_in_all_three_axes(void)
{
	const tac_sim_def def = plain(0.5, 0, 0);
	create(&def);
	read_at(0);
	const tac_wrench wrench = {.force_N = {1, -2, 3}};
	tac_device_write(device, 0, &wrench);
	read_at(10 * MS);
	const tac_sim_truth truth = tac_sim_read_truth(device);
	TEST_ASSERT_DOUBLE_WITHIN(1e-17, 0.5 * 2 * 1e-4, truth.position_m.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-17, -2 * 0.5 * 2 * 1e-4, truth.position_m.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-17, 3 * 0.5 * 2 * 1e-4, truth.position_m.z);
	// The motors' work is the kinetic energy, 1/2 m v^2.
	const double speed_squared = tac_dvec3_length_squared(truth.velocity_m_per_s);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, -0.25 * speed_squared, truth.absorbed_J);
}

static void a_device_that_nobody_holds_slides_until_friction_stops_it(void)
{
	tac_sim_def def = plain(0.2, 0, 0.5);
	def.start_m_per_s = tac_dvec3_make(0.3, 0, -0.1);
	create(&def);
	// v^2 m / 2 fc after v m / fc = 120 ms and 40 ms.
	for (int64_t t = 0; t <= 200; t++)
		read_at(t * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.3 * 0.3 * 0.2 / (2 * 0.5),
				  tac_sim_read_truth(device).position_m.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, -0.1 * 0.1 * 0.2 / (2 * 0.5),
				  tac_sim_read_truth(device).position_m.z);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, tac_sim_read_truth(device).velocity_m_per_s.x);
}

static void a_force_below_friction_moves_nothing_and_one_above_does(void)
{
	const tac_sim_def def = plain(0.2, 1, 0.5);
	create(&def);
	read_at(0);
	write_x(0, 0.499999);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, x_at(90 * MS));
	write_x(90 * MS, 0.7);
	// m v' = 0.2 - b v.
	const double t = 0.05, l = 1 / 0.2;
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.2 * (t - (1 - exp(-l * t)) / l), x_at(140 * MS));
}

static void a_moving_hand_pulls_the_stuck_device_when_its_spring_exceeds_friction(void)
{
	const tac_sim_waypoint path[2] = {{0}, {.time_ns = 3000 * MS, .position_m = {0.3, 0, 0}}};
	tac_sim_def def = plain(0.1, 0.5, 0.3);
	def.hand = (tac_sim_hand){0.05, 2, 200};
	def.path = path;
	def.waypoints = 2;
	create(&def);
	// bh v + kh v t = fc at t = (0.3 - 0.2) / 20 = 5 ms.
	TEST_ASSERT_DOUBLE_WITHIN(1e-30, 0, (read_at(0), x_at(5 * MS)));
	TEST_ASSERT_TRUE(x_at(6 * MS) > 0);
	for (int64_t t = 7; t <= 2900; t++)
		read_at(t * MS);
	// In steady motion the hand leads by (b v + fc) / kh.
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.29 - (0.5 * 0.1 + 0.3) / 200,
				  tac_sim_read_truth(device).position_m.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.1, tac_sim_read_truth(device).velocity_m_per_s.x);
}

static void without_losses_energy_is_conserved(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.hand = (tac_sim_hand){0.1, 0, 400};
	def.start_m = tac_dvec3_make(0.01, 0, 0);
	const tac_sim_waypoint rest = {0};
	def.path = &rest;
	def.waypoints = 1;
	create(&def);
	tac_rng rng = tac_rng_seed(1, 1);
	double initial = 0.5 * 400 * 1e-4;
	for (int64_t t = 0; t <= 5000; t++) {
		read_at(t * MS);
		const tac_sim_truth s = tac_sim_read_truth(device);
		const double energy = 0.5 * 0.2 * s.velocity_m_per_s.x * s.velocity_m_per_s.x +
				      0.5 * 400 * s.position_m.x * s.position_m.x + s.absorbed_J;
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, initial, energy);
		write_x(t * MS, tac_rng_range_f64(&rng, -1, 1));
	}
}

static void dry_friction_dissipates_force_times_distance(void)
{
	tac_sim_def def = plain(0.1, 0, 0.2);
	def.hand = (tac_sim_hand){0, 0, 100};
	def.start_m = tac_dvec3_make(0.02, 0, 0);
	const tac_sim_waypoint rest = {0};
	def.path = &rest;
	def.waypoints = 1;
	create(&def);
	// Each half cycle loses 2 fc / k = 4 mm of amplitude: 20, -16, 12, -8, 4, then 4 - 4 = 0. It sticks
	// where k x <= fc, which is within 2 mm.
	const double extrema[] = {0.02, -0.016, 0.012, -0.008, 0.004};
	const double half_s = 3.14159265358979323846 * sqrt(0.1 / 100);
	for (int i = 0; i < 5; i++)
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, extrema[i], x_at((int64_t)(i * half_s * 1e9)));
	for (int64_t t = 400; t < 1000; t++)
		read_at(t * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, x_at(1000 * MS));
}

// Reads between those of the loop do not change the motion.
static void the_motion_does_not_depend_on_when_it_is_read(void)
{
	const wall w = {.m = 0.25,
			.b = 2,
			.fc = 0.4,
			.td = 1.35e-3,
			.mh = 0.1,
			.bh = 2,
			.kh = 300,
			.xi0 = -0.01,
			.x0 = -0.01,
			.si = 0.1,
			.tstop = 0.15};
	tac_device *seldom = wall_device(&w), *often = wall_device(&w);
	tac_rng rng = tac_rng_seed(2, 1);
	tac_device_state state;
	for (int64_t k = 0; k < 1000; k++) {
		tac_device_read(seldom, k * MS, &state);
		for (int64_t i = k > 0 ? -9 : 0; i <= 0; i++)
			tac_device_read(often, k * MS + i * 100000, &state);
		const tac_sim_truth a = tac_sim_read_truth(seldom), b = tac_sim_read_truth(often);
		TEST_ASSERT_DOUBLE_WITHIN(1e-13, a.position_m.x, b.position_m.x);
		TEST_ASSERT_DOUBLE_WITHIN(1e-11, a.velocity_m_per_s.x, b.velocity_m_per_s.x);
		TEST_ASSERT_DOUBLE_WITHIN(1e-13, a.absorbed_J, b.absorbed_J);
		const tac_wrench wrench = {.force_N = {tac_rng_range_f64(&rng, -3, 3), 0, 0}};
		tac_device_write(seldom, k * MS, &wrench);
		tac_device_write(often, k * MS, &wrench);
	}
	tac_device_destroy(&seldom);
	tac_device_destroy(&often);
}

// The damping at which stiffness K is critical without a delay, and the frequency, rad/s, of its oscillation:
// the roots of z^2 - (1 + P - K n) z + 1 of the sampled mass, P = exp(-b T / m), n = (T - L) / b, L = (1 - P)
// m / b, where b solves K = b (1 - P) / (L - P T).
static double critical_damping(const wall *w, double *out_frequency)
{
	double low = 1e-3, high = w->K * w->T;
	for (int i = 0; i < 200; i++) {
		const double b = 0.5 * (low + high), P = exp(-b * w->T / w->m), L = (1 - P) * w->m / b;
		if (b * (1 - P) / (L - P * w->T) < w->K)
			low = b;
		else
			high = b;
	}
	const double P = exp(-low * w->T / w->m), L = (1 - P) * w->m / low;
	*out_frequency = acos((1 + P - w->K * (w->T - L) / low) / 2) / w->T;
	return low;
}

// Above the critical stiffness friction damps only small oscillations. The describing function gives the
// limit A* = 4 fc / (pi w (b_critical - b)), here tested to 1 %.
static void friction_damps_oscillations_below_the_unstable_limit_cycle_only(void)
{
	static wall_row rows[12000];
	const double cases[3][2] = {{0.5, 1500}, {0.5, 3000}, {2, 5000}}; // b, K
	for (int c = 0; c < 3; c++) {
		wall w = {.m = 0.1,
			  .b = cases[c][0],
			  .fc = 0.05,
			  .T = 1e-3,
			  .K = cases[c][1],
			  .bilateral = 1,
			  .N = 12000};
		double frequency;
		const double missing = critical_damping(&w, &frequency) - w.b;
		const double star = 4 * w.fc / (3.14159265358979323846 * frequency * missing);
		for (int above = 0; above <= 1; above++) {
			w.x0 = star * (above ? 1.01 : 0.99);
			wall_run(&w, rows);
			double late = 0;
			for (int k = 11600; k < 12000; k++)
				late = fmax(late, fabs(rows[k].x));
			TEST_ASSERT_TRUE(above ? late > 2 * w.x0 : late < 0.5 * w.x0);
		}
	}
}

// With fc below K D / 2 the quantiser keeps the device oscillating; above, it comes to rest.
static void friction_above_half_a_quantum_quenches_the_limit_cycle_of_the_sensor(void)
{
	static wall_row rows[20000];
	for (int above = 0; above <= 1; above++) {
		const double D = 6e-5;
		const wall w = {.m = 0.1,
				.b = 0.5,
				.fc = (above ? 1.02 : 0.98) * 500 * D / 2,
				.Delta = D,
				.T = 1e-3,
				.K = 500,
				.F0 = 500 * 20.5 * D,
				.x0 = 20.8 * D,
				.bilateral = 1,
				.N = 20000};
		wall_run(&w, rows);
		double low = 1, high = -1;
		for (int k = 16000; k < 20000; k++) {
			low = fmin(low, rows[k].x);
			high = fmax(high, rows[k].x);
		}
		TEST_ASSERT_TRUE(above ? high == low : high > low);
	}
}

// Between two counts the quantised spring is a relay: A / D = (2 / pi) K (T/2 + td) / b, within a factor of
// 0.7 … 2.0 because the switching locks to the sampling.
static void without_friction_the_quantiser_sustains_the_predicted_oscillation(void)
{
	static wall_row rows[16000];
	const double cases[4][3] = {{0.5, 200, 0}, {0.5, 200, 1e-3}, {2, 1000, 0}, {0.5, 400, 0}}; // b, K, td
	for (int c = 0; c < 4; c++) {
		const double b = cases[c][0], K = cases[c][1], td = cases[c][2], D = 6e-5;
		const wall w = {.m = 0.1,
				.b = b,
				.Delta = D,
				.T = 1e-3,
				.td = td,
				.K = K,
				.F0 = K * 20.5 * D,
				.x0 = 20.8 * D,
				.bilateral = 1,
				.N = 16000};
		wall_run(&w, rows);
		double low = 1, high = -1;
		for (int k = 12000; k < 16000; k++) {
			low = fmin(low, rows[k].x);
			high = fmax(high, rows[k].x);
		}
		const double ratio =
			0.5 * (high - low) / D / (2 / 3.14159265358979323846 * K * (0.5e-3 + td) / b);
		TEST_ASSERT_TRUE(ratio >= 0.7 && ratio <= 2.0);
	}
}

// ---- sensors, delay and limits ----

static void positions_are_read_through_the_quantiser(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.linear.resolution = 1e-4;
	def.start_m = tac_dvec3_make(2.4e-4, -2.6e-4, 2.5e-4);
	create(&def);
	const tac_dvec3 read = read_at(0).T_base_tool.position;
	TEST_ASSERT_DOUBLE_WITHIN(1e-18, 2e-4, read.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-18, -3e-4, read.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-18, 3e-4, read.z);
}

static void velocity_is_the_filtered_difference_of_positions_read(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.start_m_per_s = tac_dvec3_make(0.2, 0, 0);
	def.velocity_pole = 0.75;
	create(&def);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, read_at(0).velocity_m_per_s.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.2 * 0.25, read_at(MS).velocity_m_per_s.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.2 * (1 - 0.75 * 0.75), read_at(5 * MS).velocity_m_per_s.x); // late
}

static void a_force_acts_after_the_delay_to_the_nanosecond(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.delay_ns = 1234567;
	create(&def);
	read_at(0);
	write_x(0, 1);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, x_at(1234567));
	TEST_ASSERT_DOUBLE_WITHIN(1e-18, 0.5 * 10 * 1e-12, x_at(1234567 + 1000));
	write_x(1234567 + 1000, 0); // ends one delay later
	read_at(5 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 10 * (1234567 + 1000) * 1e-9,
				  tac_sim_read_truth(device).velocity_m_per_s.x);
}

static void a_force_that_is_not_renewed_ends_after_the_hold(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.hold_ns = 3 * MS;
	create(&def);
	read_at(0);
	write_x(0, 1);
	read_at(50 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 10 * 3e-3, tac_sim_read_truth(device).velocity_m_per_s.x);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, tac_sim_read_truth(device).applied.force_N.x);
}

static void forces_are_off_until_enabled_and_off_again_at_once(void)
{
	const tac_sim_def def = plain(0.1, 0, 0);
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&def, &device));
	read_at(0);
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, write_x(0, 1));
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, x_at(10 * MS));
	tac_device_enable(device, true);
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, write_x(10 * MS, 1));
	read_at(11 * MS);
	const double speed = tac_sim_read_truth(device).velocity_m_per_s.x;
	TEST_ASSERT_TRUE(speed > 0);
	tac_device_enable(device, false);
	read_at(20 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0, speed, tac_sim_read_truth(device).velocity_m_per_s.x);
}

static void too_large_a_force_keeps_its_direction(void)
{
	const tac_sim_def def = plain(0.1, 0, 0);
	create(&def);
	read_at(0);
	const tac_wrench wrench = {.force_N = {30, 40, 0}};
	tac_device_write(device, 0, &wrench);
	read_at(MS);
	const tac_sim_truth truth = tac_sim_read_truth(device);
	TEST_ASSERT_DOUBLE_WITHIN(1e-14, 6, truth.applied.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-14, 8, truth.applied.force_N.y);
	TEST_ASSERT_EQUAL_UINT64(1, truth.saturated);
}

static void an_unplugged_device_stays_lost_and_exerts_no_force(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.start_m = tac_dvec3_make(0.01, 0.02, 0.03);
	def.start_m_per_s = tac_dvec3_make(1, 0, 0);
	create(&def);
	const tac_device_state last = (read_at(0), read_at(MS));
	tac_sim_unplug(device);
	tac_device_state state;
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, tac_device_read(device, 2 * MS, &state));
	TEST_ASSERT_EQUAL_MEMORY(&last.T_base_tool, &state.T_base_tool, sizeof state.T_base_tool);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, state.velocity_m_per_s.x);
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, write_x(2 * MS, 1));
	tac_device_enable(device, true);
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, tac_device_read(device, 3 * MS, &state));
}

static void reading_twice_at_one_time_or_backwards_is_stale(void)
{
	const tac_sim_def def = plain(0.1, 0, 0);
	create(&def);
	tac_device_state a, b;
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 5 * MS, &a));
	TEST_ASSERT_EQUAL(TAC_DEVICE_STALE, tac_device_read(device, 5 * MS, &b));
	TEST_ASSERT_EQUAL(TAC_DEVICE_STALE, tac_device_read(device, 4 * MS, &b));
	TEST_ASSERT_EQUAL_INT64(a.time_ns, b.time_ns);
}

static void a_stall_of_the_program_stops_the_simulation(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.start_m_per_s = tac_dvec3_make(1, 0, 0);
	create(&def);
	read_at(0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.1, x_at(1000000 * MS)); // a quarter of an hour
	TEST_ASSERT_EQUAL_UINT64(1000000 * MS - 100 * MS, tac_sim_read_truth(device).skipped_ns);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.101, x_at(1000001 * MS));
}

static void writes_beyond_the_capacity_keep_the_newest(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.delay_ns = 50 * MS;
	create(&def);
	read_at(0);
	for (int i = 0; i < TAC_SIM_COMMANDS + 10; i++)
		TEST_ASSERT_EQUAL(TAC_DEVICE_OK, write_x(i, i));
	TEST_ASSERT_EQUAL_UINT64(10, tac_sim_read_truth(device).dropped);
	read_at(60 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0, 10, tac_sim_read_truth(device).applied.force_N.x);
}

static void delayed_writes_keep_their_order(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.delay_ns = MS;
	create(&def);
	read_at(0);
	write_x(5 * MS, 1);
	write_x(4 * MS, 2); // sent later, so it remains
	read_at(10 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0, 2, tac_sim_read_truth(device).applied.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 20 * 4e-3, tac_sim_read_truth(device).velocity_m_per_s.x);
}

static void buttons_follow_the_path(void)
{
	const tac_sim_waypoint path[3] = {
		{.time_ns = 2 * MS, .buttons = 1}, {.time_ns = 4 * MS, .buttons = 6}, {.time_ns = 5 * MS}};
	tac_sim_def def = plain(0.1, 0, 0);
	def.path = path;
	def.waypoints = 3;
	create(&def);
	const uint32_t expected[] = {0, 0, 1, 1, 6, 0, 0};
	for (int64_t t = 0; t < 7; t++)
		TEST_ASSERT_EQUAL_UINT32(expected[t], read_at(t * MS).buttons);
}

// A stiff hand without mass is where its path is. The path leads to 4 mm and back to 2 mm in 30 ms, and its
// second lap begins where the first has ended.
static void a_repeated_path_continues_where_it_ended(void)
{
	const tac_sim_waypoint path[3] = {{0},
					  {.time_ns = 10 * MS, .position_m = {0.004, 0, 0}, .buttons = 1},
					  {.time_ns = 30 * MS, .position_m = {0.002, 0, 0}}};
	tac_sim_def def = plain(1e-6, 0, 0);
	def.hand = (tac_sim_hand){.damping = 1, .stiffness = 1e6};
	def.path = path;
	def.waypoints = 3;
	def.repeat = true;
	create(&def);
	const struct {
		int64_t ms;
		double x_m;
		uint32_t buttons;
	} expected[] = {{5, 0.002, 0},  {20, 0.003, 1}, {35, 0.003, 0},
			{40, 0.004, 1}, {50, 0.003, 1}, {3005, 0.003, 0}};
	size_t next = 0;
	for (int64_t t = 0; next < sizeof expected / sizeof expected[0]; t++) {
		const tac_device_state state = read_at(t * MS);
		if (t < expected[next].ms)
			continue;
		TEST_ASSERT_DOUBLE_WITHIN(1e-5, expected[next].x_m, state.T_base_tool.position.x);
		TEST_ASSERT_EQUAL_UINT32(expected[next].buttons, state.buttons);
		next++;
	}
}

// ---- rotation ----

static tac_sim_def rotating(void)
{
	tac_sim_def def = plain(0.1, 0, 0);
	def.angular = (tac_device_mechanics){.mass = 1e-3};
	return def;
}

static void a_torque_turns_the_tool_about_its_axis(void)
{
	const tac_sim_def def = rotating();
	create(&def);
	read_at(0);
	const tac_wrench wrench = {.torque_Nm = {0, 0.1, 0}};
	tac_device_write(device, 0, &wrench);
	const tac_device_state state = (read_at(99 * MS), read_at(100 * MS)); // 1/2 100 rad/s^2 0.01 s^2
	const tac_dvec3 rotation = tac_dquat_log(state.T_base_tool.rotation);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, rotation.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, fabs(rotation.x) + fabs(rotation.z));
	TEST_ASSERT_DOUBLE_WITHIN(0.06, 10, state.angular_velocity_rad_per_s.y);
}

// Far from the identity rotations do not commute. The reported angular velocity is the rate of the reported
// rotation.
static void angular_velocity_is_the_rate_of_the_rotation(void)
{
	const tac_sim_waypoint path[2] = {{.rotation_rad = {1.5, -1, 0.5}},
					  {.time_ns = 1000 * MS, .rotation_rad = {0.5, 1, -2}}};
	tac_sim_def def = rotating();
	def.hand_angular = (tac_sim_hand){0, 0.05, 5};
	def.path = path;
	def.waypoints = 2;
	create(&def);
	read_at(0);
	tac_device_state before = read_at(400 * MS);
	for (int64_t t = 400001; t < 400050; t++) {
		const tac_device_state now = read_at(t * 1000);
		const tac_dquat step = tac_dquat_mul(now.T_base_tool.rotation,
						     tac_dquat_conjugate(before.T_base_tool.rotation));
		const tac_dvec3 rate = tac_dvec3_div(tac_dquat_log(step), 1e-6);
		TEST_ASSERT_DOUBLE_WITHIN(
			1e-4, 0, tac_dvec3_length(tac_dvec3_sub(rate, now.angular_velocity_rad_per_s)));
		before = now;
	}
}

// The work of the torque, computed from poses alone, is the energy of the motors.
static void torques_conserve_energy(void)
{
	const tac_sim_waypoint path[2] = {{.rotation_rad = {1.2, -1, 0.5}},
					  {.time_ns = 50 * MS, .rotation_rad = {0.2, 1, -1.5}}};
	tac_sim_def def = rotating();
	def.hand_angular = (tac_sim_hand){1e-4, 0.05, 5};
	def.path = path;
	def.waypoints = 2;
	create(&def);
	tac_device_state before = read_at(0);
	const tac_wrench wrench = {.torque_Nm = {0.3, -0.2, 0.4}};
	double work = 0;
	for (int64_t t = 1; t <= 5000; t++) { // 10 us steps
		tac_device_write(device, (t - 1) * 10000, &wrench);
		const tac_device_state now = read_at(t * 10000);
		const tac_dquat step = tac_dquat_mul(now.T_base_tool.rotation,
						     tac_dquat_conjugate(before.T_base_tool.rotation));
		work += tac_dvec3_dot(wrench.torque_Nm, tac_dquat_log(step));
		before = now;
	}
	TEST_ASSERT_TRUE(fabs(work) > 0.05);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * fabs(work), -work, tac_sim_read_truth(device).absorbed_J);
}

// A gripper that nobody holds: x = F t^2 / 2m while the motor pushes, cut to its maximum; it reads no less
// than 0.
static void a_force_opens_the_gripper(void)
{
	tac_sim_def def = plain(0.5, 0, 0);
	def.gripper = (tac_device_mechanics){.mass = 0.04};
	def.gripper_max_m = 0.03;
	def.max_gripper_N = 8;
	create(&def);
	TEST_ASSERT_EQUAL_DOUBLE(0.03, device->info.gripper_max_m);
	read_at(0);
	const tac_wrench none = {0};
	tac_device_set_gripper(device, 2);
	tac_device_write(device, 0, &none);
	tac_device_state state = read_at(10 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 2 * 1e-4 / (2 * 0.04), state.gripper_m);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(state.T_base_tool.position));
	const double speed = 2 * 10e-3 / 0.04, at = tac_sim_read_truth(device).gripper_m;
	tac_device_set_gripper(device, -100); // 8 N at most
	tac_device_write(device, 10 * MS, &none);
	state = read_at(14 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, at + speed * 4e-3 - 8 * 16e-6 / (2 * 0.04), state.gripper_m);
	TEST_ASSERT_EQUAL_DOUBLE(-8, tac_sim_read_truth(device).gripper_N);
	state = read_at(40 * MS);
	TEST_ASSERT_TRUE(tac_sim_read_truth(device).gripper_m < 0);
	TEST_ASSERT_EQUAL_DOUBLE(0, state.gripper_m);
	tac_device_enable(device, false);
	read_at(41 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_sim_read_truth(device).gripper_N);
}

// Fingers of 250 N/m that want 10 mm against a motor of 2 N rest at 10 mm + 2/250 m.
static void fingers_hold_the_gripper_on_their_path(void)
{
	tac_sim_def def = plain(0.5, 1, 0);
	const tac_sim_waypoint path[] = {{.gripper_m = 0.02}, {.time_ns = 100 * MS, .gripper_m = 0.01}};
	def.gripper = (tac_device_mechanics){.mass = 0.04, .damping = 1};
	def.fingers = (tac_sim_hand){0.006, 3, 250};
	def.max_gripper_N = 8;
	def.path = path;
	def.waypoints = 2;
	create(&def);
	const tac_wrench none = {0};
	TEST_ASSERT_EQUAL_DOUBLE(0.02, read_at(0).gripper_m);
	tac_device_set_gripper(device, 2);
	for (int i = 0; i < 2000; i++) {
		tac_device_write(device, i * MS, &none);
		read_at((i + 1) * MS);
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.01 + 2.0 / 250, tac_sim_read_truth(device).gripper_m);
}

static void a_device_without_rotation_does_not_rotate(void)
{
	const tac_sim_def def = plain(0.1, 0, 0);
	create(&def);
	read_at(0);
	const tac_wrench wrench = {.torque_Nm = {1, 1, 1}};
	tac_device_write(device, 0, &wrench);
	TEST_ASSERT_DOUBLE_WITHIN(0, 1, read_at(10 * MS).T_base_tool.rotation.w);
	TEST_ASSERT_EQUAL_INT(0, device->info.rotation_axes);
	TEST_ASSERT_EQUAL_INT(0, device->info.torque_axes);
}

// ---- set-up ----

static void every_preset_works_in_every_hand(void)
{
	int made = 0;
	for (int p = 0; tac_sim_preset_at(p); p++) {
		for (int g = 0; tac_sim_grip_at(g); g++) {
			tac_sim_def def;
			TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset(tac_sim_preset_at(p)->name,
								     tac_sim_grip_at(g)->name, &def));
			create(&def);
			for (int64_t t = 0; t < 100; t++) {
				const tac_device_state state = read_at(t * MS);
				TEST_ASSERT_TRUE(tac_dpose_finite(state.T_base_tool));
				write_x(t * MS, 100);
			}
			TEST_ASSERT_TRUE(tac_dvec3_length(tac_sim_read_truth(device).applied.force_N) <=
					 device->info.max_force_N * (1 + 1e-15));
			TEST_ASSERT_EQUAL_STRING_LEN("sim:", device->info.name, 4);
			tac_device_destroy(&device);
			made++;
		}
	}
	TEST_ASSERT_EQUAL_INT(36, made);
	TEST_ASSERT_NULL(tac_sim_preset_at(-1));
	TEST_ASSERT_NULL(tac_sim_grip_at(-1));
}

static void an_unknown_preset_or_grip_lists_the_valid_names(void)
{
	tac_sim_def def;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_sim_def_preset("phantom", "none", &def));
	TEST_ASSERT_EQUAL_STRING(
		"sim: expected a device of falcon, omega3, omega7, touch, premium, six, found \"phantom\"",
		logged);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_sim_def_preset("touch", "glove", &def));
	TEST_ASSERT_NOT_NULL(strstr(logged, "stylus"));
	TEST_ASSERT_EQUAL_INT(2, logged_lines);
}

static void refuse(const tac_sim_def *def)
{
	logged_lines = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_sim_create(def, &device));
	TEST_ASSERT_NULL(device);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
}

static void invalid_definitions_are_refused_with_one_log_line(void)
{
	const double nan = (double)NAN;
	tac_sim_def def = plain(0, 1, 1);
	refuse(&def);
	def = plain(nan, 1, 1);
	refuse(&def);
	def = plain(1, -1, 1);
	refuse(&def);
	def = plain(1, 1, HUGE_VAL);
	refuse(&def);
	def = plain(1, 1, 1);
	def.velocity_pole = 1;
	refuse(&def);
	def = plain(1, 1, 1);
	def.delay_ns = -1;
	refuse(&def);
	def = plain(1, 1, 1);
	def.max_force_N = nan;
	refuse(&def);
	def = plain(1, 1, 1);
	def.start_m.y = nan;
	refuse(&def);
	def = plain(1, 1, 1);
	def.angular.mass = -1;
	refuse(&def);
	const tac_sim_waypoint backwards[2] = {{.time_ns = 5}, {.time_ns = 5}};
	def = plain(1, 1, 1);
	def.path = backwards;
	def.waypoints = 2;
	refuse(&def);
	const tac_sim_waypoint far = {.rotation_rad = {4, 0, 0}};
	def.path = &far;
	def.waypoints = 1;
	refuse(&def);
}

static void statuses_have_names(void)
{
	TEST_ASSERT_EQUAL_STRING("lost", tac_device_status_name(TAC_DEVICE_LOST));
	for (int i = 0; i < TAC_DEVICE_STATUS_COUNT; i++)
		TEST_ASSERT_NOT_NULL(tac_device_status_name((tac_device_status)i));
	TEST_ASSERT_EQUAL_STRING("unknown status", tac_device_status_name(TAC_DEVICE_STATUS_COUNT));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_force_accelerates_the_mass_in_all_three_axes);
	RUN_TEST(a_device_that_nobody_holds_slides_until_friction_stops_it);
	RUN_TEST(a_force_below_friction_moves_nothing_and_one_above_does);
	RUN_TEST(a_moving_hand_pulls_the_stuck_device_when_its_spring_exceeds_friction);
	RUN_TEST(without_losses_energy_is_conserved);
	RUN_TEST(dry_friction_dissipates_force_times_distance);
	RUN_TEST(the_motion_does_not_depend_on_when_it_is_read);
	RUN_TEST(friction_damps_oscillations_below_the_unstable_limit_cycle_only);
	RUN_TEST(friction_above_half_a_quantum_quenches_the_limit_cycle_of_the_sensor);
	RUN_TEST(without_friction_the_quantiser_sustains_the_predicted_oscillation);
	RUN_TEST(positions_are_read_through_the_quantiser);
	RUN_TEST(velocity_is_the_filtered_difference_of_positions_read);
	RUN_TEST(a_force_acts_after_the_delay_to_the_nanosecond);
	RUN_TEST(a_force_that_is_not_renewed_ends_after_the_hold);
	RUN_TEST(forces_are_off_until_enabled_and_off_again_at_once);
	RUN_TEST(too_large_a_force_keeps_its_direction);
	RUN_TEST(an_unplugged_device_stays_lost_and_exerts_no_force);
	RUN_TEST(reading_twice_at_one_time_or_backwards_is_stale);
	RUN_TEST(a_stall_of_the_program_stops_the_simulation);
	RUN_TEST(writes_beyond_the_capacity_keep_the_newest);
	RUN_TEST(delayed_writes_keep_their_order);
	RUN_TEST(buttons_follow_the_path);
	RUN_TEST(a_repeated_path_continues_where_it_ended);
	RUN_TEST(a_torque_turns_the_tool_about_its_axis);
	RUN_TEST(angular_velocity_is_the_rate_of_the_rotation);
	RUN_TEST(torques_conserve_energy);
	RUN_TEST(a_force_opens_the_gripper);
	RUN_TEST(fingers_hold_the_gripper_on_their_path);
	RUN_TEST(a_device_without_rotation_does_not_rotate);
	RUN_TEST(every_preset_works_in_every_hand);
	RUN_TEST(an_unknown_preset_or_grip_lists_the_valid_names);
	RUN_TEST(invalid_definitions_are_refused_with_one_log_line);
	RUN_TEST(statuses_have_names);
	return UNITY_END();
}
