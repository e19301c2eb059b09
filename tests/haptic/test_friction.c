// Oracles: Coulomb's laws in closed form, and the closed-form period of a stick-slip oscillator.
#include "haptic/force/friction.h"

#include "base/rng.h"

#include <unity.h>

static const double pi = 3.14159265358979323846;
static const tac_friction_material wood = {0.5, 0.3, 2000};
static const tac_dvec3 up = {0, 0, 1};
static tac_friction friction;

void setUp(void)
{
	friction = (tac_friction){0};
}

void tearDown(void)
{
}

static tac_dvec3 at(double x, double y, double load_N)
{
	return tac_friction_step(&friction, &wood, tac_dvec3_make(x, y, 0), up, load_N);
}

static void it_holds_up_to_the_static_cone_and_slips_at_the_dynamic_one(void)
{
	// 0.5 * 4 N at 2000 N/m: 1 mm.
	at(0, 0, 4);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1.9998, at(0.9999e-3, 0, 4).x);
	TEST_ASSERT_FALSE(friction.slipping);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1.2, at(1.0001e-3, 0, 4).x);
	TEST_ASSERT_TRUE(friction.slipping);
	for (int i = 1; i <= 100; i++)
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1.2, at((1 + i) * 1e-3, 0, 4).x);
}

static void a_surface_without_friction_neither_sticks_nor_slips(void)
{
	static const tac_friction_material ice = {0, 0, 2000};
	for (int i = 0; i < 10; i++) {
		const tac_dvec3 force =
			tac_friction_step(&friction, &ice, tac_dvec3_make(1e-3 * i, 0, 0), up, 4);
		TEST_ASSERT_DOUBLE_WITHIN(0, 0, tac_dvec3_length(force));
		TEST_ASSERT_FALSE(friction.touching);
		TEST_ASSERT_FALSE(friction.slipping);
	}
	// From there onto wood it begins where it is.
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, at(0.01, 0, 4).x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.2, at(0.0101, 0, 4).x);
}

static void a_stop_keeps_the_dynamic_force_and_a_reversal_sticks_again(void)
{
	at(0, 0, 4);
	at(0.01, 0, 4);
	for (int i = 0; i < 100; i++)
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1.2, at(0.01, 0, 4).x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1.0, at(0.0099, 0, 4).x);
	TEST_ASSERT_FALSE(friction.slipping);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1.998, at(0.010399, 0, 4).x); // the static limit counts again
	TEST_ASSERT_FALSE(friction.slipping);
}

static void shaking_below_the_limit_does_not_move_the_anchor_by_one_bit(void)
{
	tac_rng rng = tac_rng_seed(1, 1);
	at(0.3, -0.2, 4);
	for (int i = 0; i < 100000; i++) {
		const tac_dvec3 shake = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.7e-3);
		at(0.3 + shake.x, -0.2 + shake.y, tac_rng_range_f64(&rng, 3, 8));
	}
	TEST_ASSERT_DOUBLE_WITHIN(0, 0.3, friction.anchor_m.x);
	TEST_ASSERT_DOUBLE_WITHIN(0, -0.2, friction.anchor_m.y);
	const tac_dvec3 force = at(0.3, -0.2, 4);
	TEST_ASSERT_TRUE(tac_dvec3_length(force) == 0);
}

static void it_never_exceeds_the_cone_and_never_leaves_the_plane(void)
{
	tac_rng rng = tac_rng_seed(2, 1);
	tac_dvec3 position = tac_dvec3_zero();
	for (int i = 0; i < 100000; i++) {
		const tac_dvec3 normal = tac_rng_unit_f64(&rng);
		position = tac_dvec3_add_scaled(position, tac_rng_range_f64(&rng, 0, 2e-3),
						tac_rng_unit_f64(&rng));
		const double load = tac_rng_range_f64(&rng, -1, 8);
		const tac_dvec3 force = tac_friction_step(&friction, &wood, position, normal, load);
		TEST_ASSERT_TRUE(tac_dvec3_length(force) <= 0.5 * fmax(load, 0) * (1 + 1e-12));
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_dvec3_dot(force, normal));
	}
}

static void sliding_along_a_closed_path_takes_the_dynamic_force_times_its_length(void)
{
	// Three laps of a square of 0.2 m. Corners and the first deflection account for less than 0.2 %.
	const double corners[5][2] = {{0, 0}, {0.2, 0}, {0.2, 0.2}, {0, 0.2}, {0, 0}};
	double work = 0;
	tac_dvec3 force = at(0, 0, 4);
	double x = 0, y = 0;
	for (int lap = 0; lap < 3; lap++) {
		for (int side = 0; side < 4; side++) {
			for (int i = 1; i <= 10000; i++) {
				const double t = i / 10000.0;
				const double nx =
					corners[side][0] + t * (corners[side + 1][0] - corners[side][0]);
				const double ny =
					corners[side][1] + t * (corners[side + 1][1] - corners[side][1]);
				const tac_dvec3 next = at(nx, ny, 4);
				work += 0.5 * ((force.x + next.x) * (nx - x) + (force.y + next.y) * (ny - y));
				force = next;
				x = nx;
				y = ny;
			}
		}
	}
	TEST_ASSERT_DOUBLE_WITHIN(0.002 * 1.2 * 2.4, -1.2 * 2.4, work);
}

static void along_a_line_the_result_does_not_depend_on_the_sampling_rate(void)
{
	tac_dvec3 ends[2];
	for (int fine = 0; fine <= 1; fine++) {
		setUp();
		const int steps = fine ? 100000 : 7;
		for (int i = 0; i <= steps; i++)
			ends[fine] = at(0.03 * i / steps, 0.04 * i / steps, 4);
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, tac_dvec3_length(tac_dvec3_sub(ends[0], ends[1])));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -0.6 * 1.2, ends[0].x);
}

static void lifting_off_ends_the_contact(void)
{
	at(0, 0, 4);
	at(0.0005, 0, 4);
	TEST_ASSERT_TRUE(tac_dvec3_length(at(0.0005, 0, 0)) == 0);
	TEST_ASSERT_FALSE(friction.touching);
	TEST_ASSERT_TRUE(tac_dvec3_length(at(0.02, 0, 4)) == 0);
	TEST_ASSERT_TRUE(tac_dvec3_length(at((double)NAN, 0, 4)) == 0);
	TEST_ASSERT_TRUE(tac_dvec3_length(at(0.02, 0, (double)NAN)) == 0);
	TEST_ASSERT_FALSE(friction.touching);
}

static void a_lighter_load_lets_a_held_bristle_slip(void)
{
	at(0, 0, 4);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1.6, at(0.0008, 0, 4).x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.3, at(0.0008, 0, 1).x);
}

static void on_a_ball_the_force_opposes_the_motion_around_it(void)
{
	const double r = 0.05;
	for (int i = 0; i <= 1000; i++) {
		const double a = 2 * pi * i / 1000;
		const tac_dvec3 normal = tac_dvec3_make(cos(a), sin(a), 0);
		const tac_dvec3 force =
			tac_friction_step(&friction, &wood, tac_dvec3_scale(normal, r), normal, 4);
		if (i < 10)
			continue;
		const tac_dvec3 direction = tac_dvec3_make(-sin(a), cos(a), 0);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, -1.2, tac_dvec3_dot(force, direction));
	}
}

// A mass on a spring whose other end moves at V. It sticks until the spring has grown by 2 (Fs - Fd) / k
// since the end of the previous slip; the slip lasts (2 / w) (pi - atan((Fs - Fd) w / (k V))), w = sqrt(k /
// m).
static void a_mass_pulled_by_a_spring_sticks_and_slips_with_the_closed_form_period(void)
{
	const tac_friction_material glass = {0.5, 0.3, 2e5}; // stiff compared with the spring
	const double m = 0.2, k = 200, V = 0.02, load = 4, h = 2e-6;
	const double drop = 0.2 * load, w = sqrt(k / m);
	const double period = 2 * drop / (k * V) + 2 / w * (pi - atan(drop * w / (k * V)));
	double x = 0, v = 0, first = 0, last = 0;
	int slips = 0;
	bool before = false;
	for (int i = 0; slips < 6 && i < 3000000; i++) {
		const double t = i * h;
		const tac_dvec3 force =
			tac_friction_step(&friction, &glass, tac_dvec3_make(x, 0, 0), up, load);
		// The stuck bristle must not ring: add some damping.
		const double bristle_damping = friction.slipping ? 0 : -20 * v;
		v += h * (k * (V * t - x) + force.x + bristle_damping) / m;
		x += h * v;
		if (friction.slipping && !before) {
			first = slips == 1 ? t : first; // the first slip starts from rest and does not count
			last = t;
			slips++;
		}
		before = friction.slipping;
	}
	TEST_ASSERT_EQUAL_INT(6, slips);
	TEST_ASSERT_DOUBLE_WITHIN(0.03 * period, period, (last - first) / 4);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(it_holds_up_to_the_static_cone_and_slips_at_the_dynamic_one);
	RUN_TEST(a_surface_without_friction_neither_sticks_nor_slips);
	RUN_TEST(a_stop_keeps_the_dynamic_force_and_a_reversal_sticks_again);
	RUN_TEST(shaking_below_the_limit_does_not_move_the_anchor_by_one_bit);
	RUN_TEST(it_never_exceeds_the_cone_and_never_leaves_the_plane);
	RUN_TEST(sliding_along_a_closed_path_takes_the_dynamic_force_times_its_length);
	RUN_TEST(along_a_line_the_result_does_not_depend_on_the_sampling_rate);
	RUN_TEST(lifting_off_ends_the_contact);
	RUN_TEST(a_lighter_load_lets_a_held_bristle_slip);
	RUN_TEST(on_a_ball_the_force_opposes_the_motion_around_it);
	RUN_TEST(a_mass_pulled_by_a_spring_sticks_and_slips_with_the_closed_form_period);
	return UNITY_END();
}
