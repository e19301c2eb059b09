// The force law: against closed forms, with hostile goals and reports, and through the whole tick on scenes
// that made the force of a list of contacts jump. step_to asserts the bound in every tick.
#include "haptic/force/law.h"

#include "base/rng.h"
#include "haptic/force/feel.h"
#include "tests/support/limits.h"
#include "tests/support/servo_fixture.h"

#include <stdlib.h>

void setUp(void)
{
}

void tearDown(void)
{
}

#define PI  3.14159265358979323846
#define ARM 0.03

static const tac_law_rates rates = {0.5, HUGE_VAL, HUGE_VAL};

// ---- the law alone ----

static tac_dvec3 random_vector(tac_rng *rng, double length)
{
	return tac_dvec3_scale(tac_rng_unit_f64(rng), length * tac_rng_range_f64(rng, 0, 1));
}

static void no_wish_however_hostile_makes_the_wrench_jump(void)
{
	tac_rng rng = tac_rng_seed(3, 1);
	for (int axes = 3; axes <= 6; axes += 3) {
		const double arm = axes == 3 ? 0 : ARM;
		tac_law law = {0};
		force_watch watch = {0};
		tac_dpose device = tac_dpose_identity();
		double stiffness = 0, last = 0;
		for (int k = 0; k < 20000; k++) {
			const double T = k % 100 < 50 ? 1e-3 : 1e-4, K = tac_rng_range_f64(&rng, 50, 4000);
			// While the wrench follows, the stiffest material since then counts.
			stiffness = law.follows ? fmax(stiffness, K) : fmax(last, K);
			last = K;
			device.position =
				tac_dvec3_add(device.position, random_vector(&rng, k % 7 ? 1e-4 : 0));
			if (axes == 6)
				device.rotation = tac_dquat_mul(tac_dquat_exp(random_vector(&rng, 1e-3)),
								device.rotation);
			const tac_wrench wish = {random_vector(&rng, k % 3 ? 20 : 0),
						 random_vector(&rng, axes == 3 ? 0 : 1)};
			tac_law_move(&law, device, axes == 3);
			const tac_wrench w = tac_law_follow(&law, wish, &rates, K, 0, arm, T);
			watch_step(&watch, device, w, stiffness, arm, T, 0.5, 0, "hostile");
			watch.vanished = false; // here the wish is what vanishes
		}
		// A wish that stays is met exactly.
		const tac_wrench wish = {{1, -2, 3}, {0, axes == 3 ? 0 : 0.1, 0}};
		for (int k = 0; k < 200; k++) {
			tac_law_move(&law, device, axes == 3);
			tac_law_follow(&law, wish, &rates, 1000, 0, arm, 1e-3);
		}
		TEST_ASSERT_FALSE(law.follows);
		assert_near(wish.force_N, law.wrench.force_N, 0);
		assert_near(wish.torque_Nm, law.wrench.torque_Nm, 0);
	}
}

// A force and a torque that end on a device that rests: each falls at the rate of its motors, 1 N and 1 mNm a
// tick, and neither waits for the other.
static void force_and_torque_fall_each_at_its_own_rate(void)
{
	const tac_law_rates slow = {1e3, 1000, 1};
	const tac_wrench pressed = {{0, 0, 4}, {0.1, 0, 0}};
	tac_law law = {.wrench = pressed};
	for (int k = 1; k <= 100; k++) {
		tac_law_move(&law, tac_dpose_identity(), false);
		const tac_wrench w =
			tac_law_follow(&law, (tac_wrench){{0, 0, 0}, {0, 0, 0}}, &slow, 1000, 0, ARM, 1e-3);
		assert_near(tac_dvec3_make(0, 0, fmax(4 - k, 0)), w.force_N, 1e-12);
		assert_near(tac_dvec3_make(0.1 - 1e-3 * k, 0, 0), w.torque_Nm, 1e-12);
	}
}

static tac_sco_report resting(tac_dpose sco, tac_dvec3 normal, double load_m)
{
	tac_sco_report r = {.T_world_sco = sco, .flags = TAC_SCO_CONTACT, .contact_count = 1};
	r.contacts[0] = (tac_sco_contact){.point_m = sco.position, .normal = normal, .load_m = load_m};
	return r;
}

static tac_wrench tick(tac_law *law, tac_dpose device, const tac_sco_report *r, double arm)
{
	tac_law_move(law, device, arm == 0);
	const tac_law_offset goal = tac_law_goal(law, r, TAC_COUPLING_CONSTRAINT, 1000, arm, 1e-3);
	const tac_wrench wish = {tac_dvec3_scale(goal.move_m, 1000),
				 tac_dvec3_scale(goal.turn_rad, 1000 * arm * arm)};
	return tac_law_follow(law, wish, &rates, 1000, 0, arm, 1e-3);
}

// The mover has nothing to say for half a second, and the SCO stays behind by 132 mm.
static void a_starved_mover_leaves_the_force_as_it_was_and_pressing_is_still_felt(void)
{
	const tac_dvec3 up = tac_dvec3_make(0, 0, 1);
	tac_law law = {0};
	tac_dpose device = tac_dpose_make(tac_dvec3_make(0, 0, -0.002), tac_dquat_identity());
	const tac_dpose sco = tac_dpose_identity();
	for (int k = 0; k < 20; k++) {
		const tac_sco_report r = resting(sco, up, 0.002);
		tick(&law, device, &r, ARM);
	}
	const tac_sco_report starved = {.T_world_sco = sco, .flags = TAC_SCO_BUDGET_SPENT};
	for (int k = 0; k < 500; k++) {
		device.position.x += 2.64e-4;
		assert_near(tac_dvec3_make(0, 0, 2), tick(&law, device, &starved, ARM).force_N, 1e-9);
	}
	device.position.z -= 0.0005;
	assert_near(tac_dvec3_make(0, 0, 2.5), tick(&law, device, &starved, ARM).force_N, 1e-9);
	device.position.z += 0.0025;
	assert_near(tac_dvec3_zero(), tick(&law, device, &starved, ARM).force_N, 1e-9);
	// The hand has left: what remains of the lag is not returned to it.
	device.position.z -= 0.002;
	assert_near(tac_dvec3_zero(), tick(&law, device, &starved, ARM).force_N, 1e-9);
}

// The SCO goes round an object at its slew limit and touches a facet on its way. The device is 14 mm deep
// there, but 0.4 N are felt: the goal begins to follow the reaction, and is not there at once.
static void contacts_on_a_long_way_are_not_met_at_once(void)
{
	const tac_dvec3 up = tac_dvec3_make(0, 0, 1), aside = tac_dvec3_make(0.6, 0, 0.8);
	tac_law law = {0};
	const tac_dpose device = tac_dpose_make(tac_dvec3_make(0, 0, -0.0004), tac_dquat_identity());
	tac_sco_report r = resting(tac_dpose_identity(), up, 0.0004);
	tick(&law, device, &r, ARM);
	tick(&law, device, &r, ARM);
	r = resting(tac_dpose_identity(), aside, 0.014);
	r.flags |= TAC_SCO_SLEWED;
	tick(&law, device, &r, ARM);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, (1 - exp(-1e-3 / 5e-3)) * 0.6 * 0.014, law.goal.move_m.x);
	// The reaction of a place that is felt as it is counts as any other.
	r = resting(tac_dpose_identity(), aside, 0.0004);
	r.flags |= TAC_SCO_SLEWED;
	for (int k = 0; k < 40; k++)
		tick(&law, device, &r, ARM);
	assert_near(tac_dvec3_make(0.24, 0, 0.32), law.wrench.force_N, 1e-9);
}

// Its list has one of two walls, now this one, now that one.
static void a_starved_mover_whose_list_changes_in_every_tick_is_felt_as_its_mean(void)
{
	tac_law law = {0};
	const tac_dpose device = tac_dpose_make(tac_dvec3_make(0, 0, -0.002), tac_dquat_identity());
	for (int k = 0; k < 200; k++) {
		const tac_dvec3 normal = tac_dvec3_make(k % 2 ? 0.6 : -0.6, 0, 0.8);
		tac_sco_report r = resting(tac_dpose_identity(), normal, 0.002);
		r.flags |= TAC_SCO_BUDGET_SPENT;
		const tac_wrench w = tick(&law, device, &r, ARM);
		if (k >= 50) {
			TEST_ASSERT_DOUBLE_WITHIN(0.15, 0, w.force_N.x);
			TEST_ASSERT_DOUBLE_WITHIN(0.05, 1.6, w.force_N.z);
		}
	}
	// A list that stays is met exactly.
	tac_sco_report r = resting(tac_dpose_identity(), tac_dvec3_make(0.6, 0, 0.8), 0.002);
	r.flags |= TAC_SCO_BUDGET_SPENT;
	for (int k = 0; k < 100; k++)
		tick(&law, device, &r, ARM);
	assert_near(tac_dvec3_make(1.2, 0, 1.6), law.wrench.force_N, 1e-6);
}

static void an_sco_under_way_in_free_space_exerts_no_drag(void)
{
	tac_law law = {0};
	tac_dpose device = tac_dpose_identity();
	for (int k = 0; k < 300; k++) {
		device.position.x += 1e-3;
		const tac_dpose behind = tac_dpose_make(tac_dvec3_make(0.5 * device.position.x, 0, 0.01),
							tac_dquat_exp(tac_dvec3_make(0, 0.3, 0)));
		const tac_sco_report r = {.T_world_sco = behind, .flags = TAC_SCO_LIMITED};
		const tac_wrench w = tick(&law, device, &r, ARM);
		assert_near(tac_dvec3_zero(), w.force_N, 0);
		assert_near(tac_dvec3_zero(), w.torque_Nm, 0);
	}
}

// ---- gaps ----

// `count` contacts with these normals hold a tool at the gap above planes; loads are those of a device
// `depth` below the corner of the planes along each normal.
static void gaps_are_taken_out_of_the_loads(void)
{
	static const tac_dvec3 normals[][3] = {{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
					       {{0, 0, 1}, {0.6, 0, 0.8}, {0, 0.6, 0.8}},
					       {{0.8, 0, 0.6}, {-0.8, 0, 0.6}, {0, 1, 0}}};
	const double gap = 1e-5;
	for (int set = 0; set < 3; set++) {
		for (int count = 1; count <= 3; count++) {
			tac_sco_report r = {.T_world_sco = tac_dpose_identity(), .contact_count = count};
			tac_dvec3 wanted = tac_dvec3_zero();
			double loads[3] = {3e-4, 2e-4, 1e-4};
			for (int i = 0; i < count; i++)
				wanted = tac_dvec3_add_scaled(wanted, loads[i], normals[set][i]);
			// A tool that is further up by u has u . n = gap for each: its offset is wanted + u.
			// By symmetry the loads grow by the solution of the same system; find it by
			// Gauss-Seidel sweeps, independently of the code under test.
			double more[3] = {0};
			for (int sweep = 0; sweep < 500; sweep++) {
				for (int i = 0; i < count; i++) {
					double rest = gap;
					for (int k = 0; k < count; k++)
						rest -= k == i ? 0
							       : more[k] * tac_dvec3_dot(normals[set][i],
											 normals[set][k]);
					more[i] = rest;
				}
			}
			for (int i = 0; i < count; i++)
				r.contacts[i] = (tac_sco_contact){.normal = normals[set][i],
								  .gap_m = gap,
								  .rest_gap_m = gap,
								  .load_m = loads[i] + more[i]};
			tac_law_remove_gaps(&r, -1, 0);
			tac_dvec3 found = tac_dvec3_zero();
			for (int i = 0; i < count; i++)
				found = tac_dvec3_add_scaled(found, r.contacts[i].load_m, normals[set][i]);
			// The ridge leaves a tenth of the gap where normals are close.
			assert_near(wanted, found, count == 1 ? 1e-12 : 0.1 * gap);
		}
	}
}

// ---- the monitor ----

static void jumps_dropouts_and_saturation_are_counted(void)
{
	static const struct {
		double force_N;
		bool saturated;
		uint64_t jumps, dropouts;
	} ticks[] = {{0, false, 0, 0},   {0.9, false, 0, 0}, {1.5, false, 0, 0}, {0, false, 1, 0},
		     {0.5, false, 1, 0}, {1.4, true, 1, 1},  {1.2, false, 1, 1}, {0.5, false, 1, 1},
		     {1.1, false, 1, 1}}; // the last one had not vanished
	tac_feel feel = {0};
	for (int i = 0; i < 9; i++) {
		tac_feel_step(&feel, tac_dvec3_make(0, ticks[i].force_N, 0), 1, ticks[i].saturated);
		TEST_ASSERT_EQUAL_UINT64(ticks[i].jumps, feel.feel.jumps);
		TEST_ASSERT_EQUAL_UINT64(ticks[i].dropouts, feel.feel.dropouts);
	}
	TEST_ASSERT_EQUAL_UINT64(1, feel.feel.saturated_ticks);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.5, feel.feel.largest_step_N);
	// A force that comes back after a while is a new contact.
	tac_feel_step(&feel, tac_dvec3_zero(), 2, false);
	for (int i = 0; i < 10; i++)
		tac_feel_step(&feel, tac_dvec3_zero(), 2, false);
	tac_feel_step(&feel, tac_dvec3_make(2, 0, 0), 2, false);
	TEST_ASSERT_EQUAL_UINT64(1, feel.feel.dropouts);
}

// ---- whole ticks ----

#define TIP(r) "scene: t\ntools: [{name: tip, axes: 3, shapes: [{kind: solids, solids: \"sphere:r=" r "\"}]"
#define END    "}]\n"
#define HARD   "materials: [{name: m, stiffness_N_per_m: 1000}]\n"
#define CUBE   "objects: [{name: o, material: m, shapes: [{kind: box, segments: 2}]}]\n"
#define ROUGH                                                                                                \
	"materials: [{name: m, stiffness_N_per_m: 1000, static_friction: 0.5, dynamic_friction: 0.3, "       \
	"friction_stiffness_N_per_m: 1000}]\n"

// Pushes a tip 9 mm into the top of a cube and pulls it over the edge. Returns the seconds from its largest
// force until the force is gone.
static double pop_over_the_edge(fixture *f, double rate)
{
	const int64_t period_ns = llround(1e9 / rate);
	const int down = (int)(0.18 * rate), along = (int)(0.4 * rate);
	int last = 0;
	for (int i = 0; i <= down + along; i++) {
		f->now_ns = i * period_ns;
		const double x = 0.03 + 0.1 * fmax(0, i - down) / rate;
		step_to(f, tac_dvec3_make(fmin(x, 0.06), 0.003, fmax(0.042, 0.06 - 0.1 * i / rate)));
		if (tac_dvec3_length(f->hand.wrench.force_N) > 8.9)
			last = i;
		if (i > down && last < i - 1 && tac_dvec3_length(f->hand.wrench.force_N) == 0)
			return (i - last) / rate;
	}
	return HUGE_VAL;
}

static void over_an_edge_the_force_fades_alike_at_every_rate(void)
{
	static const double every[] = {250, 500, 1000, 4000, 10000};
	for (int i = 0; i < 5; i++) {
		tac_servo_def def = tac_servo_def_default();
		def.period_ns = llround(1e9 / every[i]);
		fixture f;
		fixture_build(&f, TIP("0.001") END HARD CUBE, "wide", def);
		const double seconds = pop_over_the_edge(&f, every[i]);
		printf("%5.0f Hz: 9 N fade within %.1f ms, largest step %.3f N\n", every[i], 1e3 * seconds,
		       f.watch.largest_N);
		// 9 mm at 0.5 m/s and twice the device's 0.1 m/s, and the SCO on its way around the edge.
		TEST_ASSERT_TRUE(seconds > 0.011 && seconds < 0.045);
		TEST_ASSERT_TRUE(f.watch.largest_N <= 1000 * 0.8 / every[i] * 1.001);
		TEST_ASSERT_TRUE(tac_servo_snapshot(f.servo, 0)->feel.jumps == 0);
		fixture_fini(&f);
	}
}

static void the_law_full_keeps_the_stiffness_of_what_it_touched(void)
{
	fixture f;
	fixture_build(&f,
		      TIP("0.001") ", law: full" END "materials: [{name: soft, stiffness_N_per_m: 200}, "
				   "{name: m, stiffness_N_per_m: 1000}]\n" CUBE,
		      "wide", tac_servo_def_default());
	pop_over_the_edge(&f, 1000);
	TEST_ASSERT_TRUE(f.watch.largest_N < 0.801);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1000, tac_servo_snapshot(f.servo, 0)->stiffness_N_per_m);
	fixture_fini(&f);
}

// Strokes around a ball of 320 facets, 9 mm deep, where the SCO hops from facet to facet.
static void stroke_ball(fixture *f, const char *material)
{
	char text[1024];
	snprintf(text, sizeof text,
		 TIP("0.002") END "%sobjects: [{name: o, material: m, "
				  "shapes: [{kind: sphere, radius_m: 0.03, subdivisions: 2}]}]\n",
		 material);
	fixture_build(f, text, "wide", tac_servo_def_default());
	step_to(f, tac_dvec3_make(0, 0.042, -0.008));
	move_to(f, tac_dvec3_make(0, 0.0225, -0.0045), 300);
}

static tac_dvec3 on_stroke(int i)
{
	const double a = 4.35e-3 * i; // 0.1 m/s
	return tac_dvec3_make(-0.022 * sin(a), 0.0225 * cos(a), -0.0045 * cos(a) + 0.006 * sin(a));
}

static void over_the_facets_of_a_coarse_ball_the_force_neither_jumps_nor_vanishes(void)
{
	fixture f;
	stroke_ball(&f, HARD);
	double least = HUGE_VAL;
	for (int i = 0; i < 1500; i++) {
		step_to(&f, on_stroke(i));
		least = fmin(least, tac_dvec3_length(f.hand.wrench.force_N));
	}
	printf("ball: largest step %.3f N, least force %.2f N\n", f.watch.largest_N, least);
	TEST_ASSERT_TRUE(f.watch.largest_N <= 0.801);
	TEST_ASSERT_TRUE(least > 4);
	fixture_fini(&f);
}

// Between two places at which it rests the tool touches nothing; the bristle stays bent all the same.
static void friction_goes_on_through_a_hop(void)
{
	fixture f;
	stroke_ball(&f, ROUGH);
	int hops = 0;
	double before = 0;
	for (int i = 0; i < 1500; i++) {
		const tac_snapshot *s = step_to(&f, on_stroke(i));
		const double friction = tac_dvec3_length(s->friction.force_N);
		double load = 0;
		for (int32_t c = 0; c < s->contact_count; c++)
			load += tac_dvec3_length(s->contacts[c].force_N);
		hops += load == 0;
		if (i > 100) {
			TEST_ASSERT_TRUE(s->friction.touching);
			TEST_ASSERT_TRUE(friction > 0.25 * before && friction > 0.5);
		}
		before = friction;
	}
	printf("friction: %d ticks between two contacts\n", hops);
	TEST_ASSERT_TRUE(hops > 5);
	fixture_fini(&f);
}

static void a_receding_plate_is_felt_without_chatter(void)
{
	static const char *const tools[] = {TIP("0.002") END,
					    "scene: t\ntools: [{name: box, shapes: [{kind: box, size_m: "
					    "[0.01, 0.01, 0.01], segments: 1}]}]\n"};
	static const tac_dvec3 at[] = {{0.001, 0.002, 0.007}, {0.021, 0.002, 0.01}};
	for (int i = 0; i < 2; i++) {
		char text[1024];
		snprintf(text, sizeof text,
			 "%s" HARD "objects: [{name: o, material: m, position_m: [0, 0, -0.01], "
			 "path: [{time_s: 0}, {time_s: 0.5, position_m: [0, 0, 0.02]}, {time_s: 1}], "
			 "shapes: [{kind: box, size_m: [0.1, 0.1, 0.02], segments: 8}]}]\n",
			 tools[i]);
		fixture f;
		fixture_build(&f, text, "wide", tac_servo_def_default());
		for (int k = 0; k < 1000; k++) {
			step_to(&f, at[i]);
			// 40 mm/s of the plate, from when it reaches the tool to when it has left.
			const double surface = 0.04e-3 * (k <= 500 ? k : 1000 - k);
			const double depth = fmax(0, surface + 0.005 * (i ? 1 : 0.4) - at[i].z);
			assert_near(tac_dvec3_make(0, 0, 1000 * depth), f.hand.wrench.force_N, 0.09);
		}
		TEST_ASSERT_TRUE(f.watch.largest_N < 0.0405);
		fixture_fini(&f);
	}
}

static void a_box_slides_without_drag_at_any_speed(void)
{
	static const double speeds[] = {1e-3, 0.02, 0.1, 0.5, 1};
	for (int i = 0; i < 5; i++) {
		fixture f;
		fixture_build(&f,
			      "scene: t\ntools: [{name: box, limits: {max_speed_m_per_s: 100}, "
			      "shapes: [{kind: box, size_m: [0.01, 0.01, 0.01], segments: 1}]}]\n" HARD
			      "objects: [{name: o, material: m, position_m: [0, 0, -0.01], "
			      "shapes: [{kind: box, size_m: [2, 0.2, 0.02], segments: 4}]}]\n",
			      "wide", tac_servo_def_default());
		step_to(&f, tac_dvec3_make(-0.4, 0.001, 0.02));
		move_to(&f, tac_dvec3_make(-0.4, 0.001, 0.003), 200);
		for (int k = 1; k <= 600; k++) {
			step_to(&f, tac_dvec3_make(-0.4 + speeds[i] * 1e-3 * k, 0.001, 0.003));
			assert_near(tac_dvec3_make(0, 0, 2), f.hand.wrench.force_N, 0.01);
		}
		fixture_fini(&f);
	}
}

static void at_rest_the_force_is_the_exact_reaction(void)
{
	tac_rng rng = tac_rng_seed(12, 4);
	const double h = 0.05, r = 0.004;
	for (int i = 0; i < 60; i++) {
		// From above a face, past an edge or a vertex, to a place 0 to 3 mm below the surface of the
		// rounded cube.
		const tac_dvec3 outside = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.12);
		const tac_dvec3 surface = outside_cube(outside, h, r);
		const tac_dvec3 normal =
			tac_dvec3_normalize(tac_dvec3_sub(surface, outside_cube(surface, h, 0)));
		const double depth = tac_rng_range_f64(&rng, 0, 0.003);
		const tac_dvec3 device = tac_dvec3_add_scaled(surface, -depth, normal);
		fixture f;
		fixture_build(&f, TIP("0.004") END HARD CUBE, "wide", tac_servo_def_default());
		step_to(&f, outside);
		move_to(&f, surface, 50);
		move_to(&f, device, 30);
		move_to(&f, device, 60);
		assert_near(tac_dvec3_scale(tac_dvec3_sub(outside_cube(device, h, r), device), 1000),
			    f.hand.wrench.force_N, 2e-3);
		fixture_fini(&f);
	}
}

// Closed paths around an edge and a vertex of a cube, on which the SCO hops: the hand never gains.
static void work_along_closed_paths_is_never_positive(void)
{
	tac_rng rng = tac_rng_seed(21, 5);
	double largest = -HUGE_VAL;
	const int loops = test_rounds(80);
	for (int i = 0; i < loops; i++) {
		fixture f;
		fixture_build(&f, i % 2 ? TIP("0.001") END HARD CUBE : TIP("0.001") END ROUGH CUBE, "wide",
			      tac_servo_def_default());
		const tac_dvec3 start = tac_dvec3_make(0.07, 0.07, 0.07);
		tac_dvec3 at = start, corners[6];
		for (int k = 0; k < 5; k++)
			corners[k] = tac_dvec3_add(tac_dvec3_make(0.045, i % 4 < 2 ? 0 : 0.045, 0.045),
						   random_vector(&rng, 0.012));
		corners[5] = start;
		const double speed = tac_rng_range_f64(&rng, 0.02, 0.6) * 1e-3;
		double work = 0;
		step_to(&f, start);
		for (int lap = 0; lap < 2; lap++) {
			for (int k = 0; k < 6; k++) {
				const double length = tac_dvec3_length(tac_dvec3_sub(corners[k], at));
				const int ticks = (int)(length / speed) + 1;
				const tac_dvec3 from = at;
				for (int j = 1; j <= ticks; j++) {
					const tac_dvec3 force = f.hand.wrench.force_N, last = at;
					at = tac_dvec3_lerp(from, corners[k], (double)j / ticks);
					step_to(&f, at);
					work += 0.5 *
						tac_dvec3_dot(tac_dvec3_add(force, f.hand.wrench.force_N),
							      tac_dvec3_sub(at, last));
				}
			}
		}
		largest = fmax(largest, work);
		// The trapezoidal rule errs by up to K dx^2 / 8 where a contact begins or ends.
		TEST_ASSERT_TRUE(work <= 1000 * speed * speed);
		fixture_fini(&f);
	}
	printf("closed paths: the hand gains at most %.4f mJ\n", 1e3 * largest);
}

#define BUMPY                                                                                                \
	"objects: [{name: o, material: m, "                                                                  \
	"shapes: [{kind: body, radius_m: 0.04, bump_m: 0.004, subdivisions: 3}]}]\n"

// The work of a tick on the hand, by the trapezoidal rule.
static double work_to(fixture *f, tac_dvec3 at)
{
	const tac_dvec3 force = f->hand.wrench.force_N, last = f->hand.state.T_base_tool.position;
	step_to(f, at);
	return 0.5 * tac_dvec3_dot(tac_dvec3_add(force, f->hand.wrench.force_N), tac_dvec3_sub(at, last));
}

// Presses down beside the axis `n` until the device is `depth` below the place where it touched, goes around
// the axis, and back up. Returns the work on the hand; *out_held_J is the most that a spring held.
static double work_around_axis(fixture *f, tac_dvec3 n, tac_dvec3 x, tac_dvec3 y, double depth, int laps,
			       double *out_held_J)
{
	const double radius = 0.008, step = 1e-4;
	double high = 0.08, touched = 0, work = 0;
	*out_held_J = 0;
	step_to(f, tac_dvec3_add_scaled(tac_dvec3_scale(n, high), radius, x));
	while (high > 0.01 && touched - high < depth) {
		high -= step;
		work += work_to(f, tac_dvec3_add_scaled(tac_dvec3_scale(n, high), radius, x));
		if (tac_dvec3_length(f->hand.wrench.force_N) == 0)
			touched = high;
	}
	for (int i = 1; i <= 500 * laps; i++) {
		const double angle = 2 * PI * i / 500;
		const tac_dvec3 out = tac_dvec3_add(tac_dvec3_scale(x, radius * cos(angle)),
						    tac_dvec3_scale(y, radius * sin(angle)));
		work += work_to(f, tac_dvec3_add(tac_dvec3_scale(n, high), out));
		*out_held_J = fmax(*out_held_J, 0.5e-3 * tac_dvec3_length_squared(f->hand.wrench.force_N));
	}
	while (high < 0.08) {
		high += step;
		work += work_to(f, tac_dvec3_add_scaled(tac_dvec3_scale(n, high), radius, x));
	}
	return work;
}

// The interpolated normals of a smooth surface are not those of any surface: without the account the hand
// gains up to 2.6 mJ a lap.
static void on_smooth_surfaces_work_along_closed_paths_is_never_positive(void)
{
	double largest = -HUGE_VAL;
	const int loops = test_rounds(48);
	for (int i = 0; i < loops; i++) {
		tac_rng rng = tac_rng_seed((uint64_t)i, 9);
		fixture f;
		fixture_build(&f, TIP("0.002") END HARD BUMPY, "wide", tac_servo_def_default());
		const tac_dvec3 n = tac_rng_unit_f64(&rng);
		const tac_dvec3 x = tac_dvec3_normalize(tac_dvec3_cross(n, tac_rng_unit_f64(&rng)));
		const tac_dvec3 y = tac_dvec3_scale(tac_dvec3_cross(n, x), i % 2 ? -1 : 1);
		double held;
		const double work =
			work_around_axis(&f, n, x, y, tac_rng_range_f64(&rng, 0.002, 0.005), 4, &held);
		largest = fmax(largest, work);
		TEST_ASSERT_TRUE(held > 1e-4);
		// A hundredth of what the springs held; the trapezoidal rule errs as above.
		TEST_ASSERT_TRUE(work <= 0.01 * held + 1000 * 1e-8);
		fixture_fini(&f);
	}
	printf("closed paths on a smooth body: the hand gains at most %.4f mJ\n", 1e3 * largest);
}

// Presses on a soft plate, slides to a stiff one beside it and lifts: the stiff spring holds three times the
// energy that the hand has put into the soft one.
static void a_stiffer_material_gives_back_no_more_than_was_put_in(void)
{
	fixture f;
	fixture_build(
		&f,
		TIP("0.002") END
		"materials: [{name: a, stiffness_N_per_m: 400}, {name: b, stiffness_N_per_m: 1200}]\n"
		"objects: [{name: l, material: a, position_m: [-0.05, 0, -0.05], shapes: [{kind: box}]}, "
		"{name: r, material: b, position_m: [0.05, 0, -0.05], shapes: [{kind: box}]}]\n",
		"wide", tac_servo_def_default());
	double work = 0;
	step_to(&f, tac_dvec3_make(-0.02, 0.001, 0.01));
	for (int i = 0; i <= 120; i++)
		work += work_to(&f, tac_dvec3_make(-0.02, 0.001, fmax(0.01 - 1e-4 * i, -0.001)));
	for (int i = 1; i <= 500; i++)
		work += work_to(&f, tac_dvec3_make(-0.02 + 1e-4 * i, 0.001, -0.001));
	TEST_ASSERT_DOUBLE_WITHIN(0.01 * 3.6, 3.6, f.hand.wrench.force_N.z);
	for (int i = 0; i <= 120; i++)
		work += work_to(&f, tac_dvec3_make(0.03, 0.001, -0.001 + 1e-4 * i));
	printf("from soft to stiff: the hand gains %.3f mJ\n", 1e3 * work);
	// Without the account 3.6 mJ.
	TEST_ASSERT_TRUE(work < 1e-4);
	fixture_fini(&f);
}

// Slides from a rough plate to a smooth one beside it, which neither sticks nor slips.
static void the_slip_ends_where_the_friction_does(void)
{
	fixture f;
	fixture_build(
		&f,
		TIP("0.002") END
		"materials: [{name: a, static_friction: 0.5, dynamic_friction: 0.3}, {name: b, "
		"static_friction: 0, dynamic_friction: 0}]\n"
		"objects: [{name: l, material: a, position_m: [-0.05, 0, -0.05], shapes: [{kind: box}]}, "
		"{name: r, material: b, position_m: [0.05, 0, -0.05], shapes: [{kind: box}]}]\n",
		"wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(-0.02, 0.001, 0.01));
	move_to(&f, tac_dvec3_make(-0.02, 0.001, -0.001), 120);
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(-0.01, 0.001, -0.001), 100);
	TEST_ASSERT_TRUE(s->friction.touching && s->friction.slipping);
	s = move_to(&f, tac_dvec3_make(0.03, 0.001, -0.001), 400);
	TEST_ASSERT_TRUE(s->sent.force_N.z > 0.5);
	TEST_ASSERT_FALSE(s->friction.touching || s->friction.slipping);
	fixture_fini(&f);
}

// The bristle is a tenth as stiff as the wall, so that it holds ten times the energy of the same force. The
// hand gets it back: the force is the springs' own all the way, and when the tip is lifted.
static void a_soft_bristle_gives_back_all_that_it_holds(void)
{
	fixture f;
	fixture_build(&f,
		      TIP("0.002") END
		      "materials: [{name: m, stiffness_N_per_m: 1000, static_friction: 1, dynamic_friction: "
		      "1, friction_stiffness_N_per_m: 100}]\n" CUBE,
		      "wide", tac_servo_def_default());
	for (int k = 0; k <= 100; k++) // 2 mm deep
		step_to(&f, tac_dvec3_make(0, 0, 0.053 - 5e-5 * k));
	const double press = f.hand.wrench.force_N.z;
	TEST_ASSERT_TRUE(press > 1);
	for (int k = 0; k <= 300; k++) {
		const double x = 1e-4 * (k < 150 ? k : 300 - k) * 0.9;
		step_to(&f, tac_dvec3_make(x, 0, 0.048));
		TEST_ASSERT_DOUBLE_WITHIN(0.002, -100 * x, f.hand.wrench.force_N.x);
		TEST_ASSERT_DOUBLE_WITHIN(0.002, press, f.hand.wrench.force_N.z);
	}
	for (int k = 0; k < 60; k++) {
		step_to(&f, tac_dvec3_make(0, 0, 0.048 + 5e-5 * k));
		TEST_ASSERT_DOUBLE_WITHIN(0.002, fmax(press - 0.05 * k, 0), f.hand.wrench.force_N.z);
	}
	fixture_fini(&f);
}

// Twists a tip that presses lightly, presses it down until the patch is twice as wide, and twists it back:
// the wider patch holds the twist with four times the torque.
static void friction_of_a_patch_that_grows_gives_back_no_more_than_was_put_in(void)
{
	fixture f;
	fixture_build(
		&f,
		"scene: t\ntools: [{name: tip, shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n"
		"materials: [{name: m, stiffness_N_per_m: 1000, static_friction: 1, dynamic_friction: 1, "
		"friction_stiffness_N_per_m: 1000}]\n" CUBE,
		"wide", tac_servo_def_default());
	double work = 0;
	const double light = 0.0545, hard = 0.0505, twist = 0.3;
	for (int i = 0; i < 5 * 500; i++) {
		const int k = i % 500;
		const double down = fmin(fmax((k - 100) / 100.0, 0), 1) - fmin(fmax((k - 300) / 100.0, 0), 1);
		const double turn = fmin(k / 100.0, 1) - fmin(fmax((k - 200) / 100.0, 0), 1);
		const tac_wrench before = f.hand.wrench;
		const tac_dpose from = f.hand.state.T_base_tool;
		f.hand.state.T_base_tool.rotation = tac_dquat_exp(tac_dvec3_make(0, 0, twist * turn));
		step_to(&f, tac_dvec3_make(0.003, 0.002, i < 20 ? 0.06 : light + (hard - light) * down));
		if (i == 0)
			continue;
		const tac_dpose to = f.hand.state.T_base_tool;
		const tac_wrench now = f.hand.wrench;
		work += 0.5 * tac_dvec3_dot(tac_dvec3_add(before.force_N, now.force_N),
					    tac_dvec3_sub(to.position, from.position)) +
			0.5 * tac_dvec3_dot(tac_dvec3_add(before.torque_Nm, now.torque_Nm),
					    tac_dquat_log(tac_dquat_mul(to.rotation,
									tac_dquat_conjugate(from.rotation))));
		if (i == 499) // it was pressed on, and the first round is over
			work = 0;
	}
	printf("a patch that grows: the hand gains %.4f mJ in four rounds\n", 1e3 * work);
	// Without friction in the account 0.96 mJ.
	TEST_ASSERT_TRUE(work < 5e-5);
	fixture_fini(&f);
}

// However deep the device is, the force exceeds that of a spring to the SCO by at most the bulge of a facet:
// 1.4 mm where a facet of 7 mm turns by 1.2 rad.
static void a_smooth_surface_pushes_no_harder_than_the_spring(void)
{
	tac_rng rng = tac_rng_seed(5, 36);
	fixture f;
	fixture_build(&f,
		      TIP("0.008") ", limits: {max_force_N: 90}" END HARD
				   "objects: [{name: o, material: m, shapes: "
				   "[{kind: body, radius_m: 0.04, bump_m: 0.008, subdivisions: 3}]}]\n",
		      "wide", tac_servo_def_default());
	double most = -HUGE_VAL;
	step_to(&f, tac_dvec3_make(0, 0, 0.1));
	for (int i = 0; i < test_rounds(48); i++) {
		move_to(&f, tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0.01, 0.045)),
			100);
		const tac_snapshot *s = move_to(&f, f.hand.state.T_base_tool.position, 300);
		const double lag =
			tac_dvec3_length(tac_dvec3_sub(s->T_world_sco.position, s->T_world_device.position));
		most = fmax(most, tac_dvec3_length(f.hand.wrench.force_N) - 1000 * lag);
		TEST_ASSERT_TRUE(tac_dvec3_length(f.hand.wrench.force_N) <= 1000 * lag + 1.4);
	}
	printf("deep below a smooth body: at most %.3f N more than the spring\n", most);
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(no_wish_however_hostile_makes_the_wrench_jump);
	RUN_TEST(force_and_torque_fall_each_at_its_own_rate);
	RUN_TEST(a_starved_mover_leaves_the_force_as_it_was_and_pressing_is_still_felt);
	RUN_TEST(contacts_on_a_long_way_are_not_met_at_once);
	RUN_TEST(a_starved_mover_whose_list_changes_in_every_tick_is_felt_as_its_mean);
	RUN_TEST(an_sco_under_way_in_free_space_exerts_no_drag);
	RUN_TEST(gaps_are_taken_out_of_the_loads);
	RUN_TEST(jumps_dropouts_and_saturation_are_counted);
	RUN_TEST(over_an_edge_the_force_fades_alike_at_every_rate);
	RUN_TEST(the_law_full_keeps_the_stiffness_of_what_it_touched);
	RUN_TEST(over_the_facets_of_a_coarse_ball_the_force_neither_jumps_nor_vanishes);
	RUN_TEST(friction_goes_on_through_a_hop);
	RUN_TEST(a_receding_plate_is_felt_without_chatter);
	RUN_TEST(a_box_slides_without_drag_at_any_speed);
	RUN_TEST(at_rest_the_force_is_the_exact_reaction);
	RUN_TEST(work_along_closed_paths_is_never_positive);
	RUN_TEST(on_smooth_surfaces_work_along_closed_paths_is_never_positive);
	RUN_TEST(a_stiffer_material_gives_back_no_more_than_was_put_in);
	RUN_TEST(the_slip_ends_where_the_friction_does);
	RUN_TEST(a_soft_bristle_gives_back_all_that_it_holds);
	RUN_TEST(friction_of_a_patch_that_grows_gives_back_no_more_than_was_put_in);
	RUN_TEST(a_smooth_surface_pushes_no_harder_than_the_spring);
	return UNITY_END();
}
