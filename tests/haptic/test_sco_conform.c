// Conforming contact: boxes and a disc on plates, a box in a corner, pegs in their holes, a cylinder in a
// half-pipe, a ball in a socket, fin filters and the assembly (bench/conforming.h), as they are and turned in
// space. With the work of the servo the SCO follows a hand within a millimetre of where the constraints put
// it and rests there within 5 µm, and the contacts bear what the springs pull.
#include "bench/conforming.h"
#include "tests/support/limits.h"

#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

// `units`: of work in a step; 0: those of the servo.
static void expect_close(conforming_make *make, bool turned, double speed, int64_t units)
{
	static conforming_run run;
	conforming_world w = conforming_world_make(make, turned, TAC_BODY_FLAT, 0);
	conforming_run_begin(&run, &w, speed, false);
	conforming_follow(&run, &w, units > 0 ? units : conforming_work_units(&w), NULL);
	double mean = 0, most = 0;
	for (int k = 0; k < run.ticks; k++) {
		mean += run.work[k] / run.ticks;
		most = fmax(most, run.work[k]);
	}
	printf("%s%s, %.1f m/s: lags %.1f um, at rest %.2f um, load %.4f mm, %.0f work units, %.0f at most\n",
	       w.c.name, turned ? ", turned" : "", speed, run.lag_m * 1e6, run.rest_m * 1e6, run.load_m * 1e3,
	       mean, most);
	TEST_ASSERT_TRUE_MESSAGE(run.lag_m < 1e-3, w.c.name);
	// Where spheres stand for facets, their thickness comes on top. Without a closed form the goal is one
	// of several poses that hold the tool; with little work it may come to another, as good a one: the
	// assembly has two, 13 um apart.
	const bool another = units > 0 && !w.c.goal && run.rest_m < 2e-5 && run.excess < 2e-4;
	TEST_ASSERT_TRUE_MESSAGE(run.rest_m < (w.c.curved ? 2e-5 : 5e-6) || another, w.c.name);
	TEST_ASSERT_TRUE_MESSAGE(mean < 280, w.c.name); // the limit of a large scene
	if (w.c.load_m > 0)
		TEST_ASSERT_DOUBLE_WITHIN(5e-6, w.c.load_m, run.load_m);
	conforming_world_free(&w);
}

static void follow_all(double speed, int64_t units)
{
	for (int i = 0; i < CONFORMING_COUNT; i++) {
		if (TAC_TEST_SANITIZED && i % 3 != (speed > 0.3))
			continue;
		expect_close(conforming_all[i], speed > 0.3, speed, units);
		if (test_long())
			expect_close(conforming_all[i], speed < 0.3, speed, units);
	}
}

static void conforming_tools_follow_a_slow_hand(void)
{
	follow_all(0.1, 0);
}

static void conforming_tools_follow_a_fast_hand_in_any_orientation(void)
{
	follow_all(0.5, 0);
}

// A step that lacks the work to land must not be repeated in vain.
static void with_the_work_of_a_large_scene_they_follow_a_slow_hand(void)
{
	follow_all(0.1, 280);
}

// While a peg rests, the pairs that its first motions need are listed in parts: the steps in which the hand
// sets off, slowly or fast, take hardly more work than those after them. A list at once takes 200 units more.
static void a_hand_that_sets_off_finds_its_list_made(void)
{
	static conforming_run run;
	for (int fast = 0; fast < 2; fast++) {
		conforming_world w = conforming_world_make(conforming_peg_96, true, TAC_BODY_FLAT, 0);
		conforming_run_begin(&run, &w, fast ? 0.5 : 0.1, false);
		conforming_follow(&run, &w, conforming_work_units(&w), NULL);
		const int first = CONFORMING_PRESS + CONFORMING_HOLD;
		TEST_ASSERT_LESS_THAN(50, run.work[first - 1]); // it rests
		for (int k = first + 1; k < first + 3; k++)
			TEST_ASSERT_LESS_THAN(220, run.work[k]);
		conforming_world_free(&w);
	}
}

// The work of a run, to and fro: of its dearest step, and the mean.
static double most_work(conforming_make *make, double speed, double *out_mean)
{
	static conforming_run run;
	conforming_world w = conforming_world_make(make, true, TAC_BODY_FLAT, 0);
	conforming_run_begin(&run, &w, speed, true);
	conforming_follow(&run, &w, conforming_work_units(&w), NULL);
	double most = 0;
	*out_mean = 0;
	for (int k = 0; k < run.ticks; k++) {
		most = fmax(most, run.work[k]);
		*out_mean += run.work[k] / run.ticks;
	}
	printf("%s, %.1f m/s, to and fro: %.0f work units, %.0f at most\n", w.c.name, speed, *out_mean, most);
	TEST_ASSERT_TRUE(run.lag_m < 1e-3);
	conforming_world_free(&w);
	return most;
}

// Short flights leave the work to substeps: where they may take all of it, the dearest step has 382 units at
// 0.5 m/s. A late step makes no short substep at its slew limit: with one the dearest has 190 at 0.1 m/s.
static void a_module_that_is_pulled_out_takes_no_long_step(void)
{
	double mean;
	TEST_ASSERT_LESS_THAN(290, most_work(conforming_assembly, 0.5, &mean));
	TEST_ASSERT_LESS_THAN(180, most_work(conforming_assembly, 0.1, &mean));
}

// A step that is late leaves the last micrometres: with them, the one in which the tilted peg lands has 413
// units. The list of a peg that turns is no wider than 45 pairs need: with 135 the mean is 188.
static void pegs_that_land_and_turn_take_no_long_step(void)
{
	double mean;
	TEST_ASSERT_LESS_THAN(380, most_work(conforming_peg_tilted, 0.1, &mean));
	most_work(conforming_peg_96_turning, 0.1, &mean);
	TEST_ASSERT_LESS_THAN(150, mean);
}

// An SCO with the limits of the servo and, besides the scene, a fine mesh at `at`.
static tac_sco *with_fine_mesh(const conforming_world *w, const tac_body *fine, tac_dvec3 at)
{
	tac_sco_object objects[CONFORMING_OBJECTS + 1];
	memcpy(objects, w->objects, sizeof w->objects);
	objects[w->c.objects] =
		(tac_sco_object){.body = fine, .T_world_object = tac_dpose_make(at, tac_dquat_identity())};
	tac_sco_def def = tac_sco_def_default();
	def.tool = w->tool;
	def.objects = objects;
	def.object_count = w->c.objects + 1;
	def.sparse_triangles = CONFORMING_FINE;
	def.sparse_work_units = 1500;
	tac_sco *sco;
	conforming_need(tac_sco_create(&def, &sco));
	TEST_ASSERT_TRUE(tac_sco_reset(sco, conforming_to_world(w, w->c.start), NULL));
	return sco;
}

// A fine mesh far away changes nothing, to the bit. Close by, it limits the steps.
static void a_fine_mesh_limits_only_what_is_near_it(void)
{
	conforming_world w = conforming_world_make(conforming_peg_96_turning, true, TAC_BODY_FLAT, 0);
	tac_mesh *ball;
	conforming_need(tac_mesh_build_icosphere(0.01F, 5, &ball));
	tac_body *fine = conforming_body(&ball, tac_dquat_identity(), 0, 0);
	// Beside the peg, which is much longer than wide: the spheres about it and about the ball overlap.
	const double beside = tac_body_radius(w.tool) + 0.008;
	tac_sco *far = with_fine_mesh(&w, fine, tac_dvec3_make(0.5, 0, 0)),
		*near = with_fine_mesh(&w, fine,
				       conforming_to_world(&w, conforming_at(beside, 0, 0)).position),
		*alone = conforming_sco(&w, 1500);
	static tac_sco_report report, other;
	int differ = 0;
	for (int k = 0; k < 150; k++) {
		const tac_dpose device = conforming_to_world(&w, conforming_device(&w.c, k, 40, 1));
		tac_sco_step(alone, device, NULL, &report);
		tac_sco_step(far, device, NULL, &other);
		TEST_ASSERT_EQUAL_MEMORY(&report.T_world_sco, &other.T_world_sco, sizeof(tac_dpose));
		TEST_ASSERT_EQUAL_INT64(report.work_units, other.work_units);
		tac_sco_step(near, device, NULL, &other);
		differ += memcmp(&report.T_world_sco, &other.T_world_sco, sizeof(tac_dpose)) != 0;
		TEST_ASSERT_TRUE(other.work_units <= 2 * 280 + 140); // and the QP of the report
	}
	TEST_ASSERT_GREATER_THAN(0, differ);
	tac_sco_destroy(&alone);
	tac_sco_destroy(&far);
	tac_sco_destroy(&near);
	tac_body_destroy(&fine);
	tac_mesh_destroy(&ball);
	conforming_world_free(&w);
}

// How far from its goal a tool with so little work comes to rest. `more`: starved steps may have more.
static double rest_of_starved(conforming_make *make, int64_t units, bool more)
{
	conforming_world w = conforming_world_make(make, true, TAC_BODY_FLAT, 0);
	tac_sco_def def = tac_sco_def_default();
	def.tool = w.tool;
	def.objects = w.objects;
	def.object_count = w.c.objects;
	def.sparse_work_units = units;
	def.sparse_triangles = CONFORMING_FINE;
	if (!more) { // a period for which 1,500 units a millisecond are no more than that
		def.period_s = 1e-3 * (double)units / 1500;
		def.slew_m_per_s *= 1e-3 / def.period_s;
	}
	tac_sco *starved, *free = conforming_sco(&w, 1000000);
	conforming_need(tac_sco_create(&def, &starved));
	TEST_ASSERT_TRUE(tac_sco_reset(starved, conforming_to_world(&w, w.c.start), NULL));
	static tac_sco_report report, goal;
	for (int k = 0; k < 4000; k++) {
		const tac_dpose device = conforming_to_world(&w, conforming_device(&w.c, k, 200, 1));
		tac_sco_step(starved, device, NULL, &report);
		if (k < 600)
			tac_sco_step(free, device, NULL, &goal);
	}
	const double far = conforming_apart(&w.c, report.T_world_sco, goal.T_world_sco);
	printf("%s with %d units a step: %.2f um from the goal\n", w.c.name, (int)units, far * 1e6);
	tac_sco_destroy(&starved);
	tac_sco_destroy(&free);
	conforming_world_free(&w);
	return far;
}

// With far too little work a tool among many pairs is late, but does not stay where it is for good.
static void a_starved_tool_arrives(void)
{
	TEST_ASSERT_TRUE(rest_of_starved(conforming_peg_96, 100, true) < 5e-6);
	TEST_ASSERT_TRUE(rest_of_starved(conforming_filters, 100, true) < 5e-6);
	TEST_ASSERT_TRUE(rest_of_starved(conforming_peg_96_turning, 80, false) < 5e-6);
	TEST_ASSERT_TRUE(rest_of_starved(conforming_filters, 180, false) < 5e-6);
}

// The closed form of the peg against a search over the points around it.
static void the_closed_form_of_the_peg_is_the_closest_point(void)
{
	conforming c = conforming_peg_96();
	for (int k = 0; k < 20; k++) {
		const tac_dpose device = conforming_turned_at(1e-3 * cos(k), 7e-4 * sin(3.0 * k), 0,
							      tac_dvec3_make(0, 0, 0.01 * k));
		const tac_dpose best = c.goal(&c, device);
		const double far = tac_dvec3_length(tac_dvec3_sub(best.position, device.position));
		for (int i = 0; i < 64; i++) {
			const double angle = 0.1 * i;
			tac_dpose beside = best;
			beside.position.x += 1e-6 * cos(angle);
			beside.position.y += 1e-6 * sin(angle);
			// A point that is free is its own closest one.
			const tac_dpose again = c.goal(&c, beside);
			const bool is_free =
				tac_dvec3_length(tac_dvec3_sub(again.position, beside.position)) < 1e-10;
			TEST_ASSERT_TRUE(!is_free || tac_dvec3_length(tac_dvec3_sub(
							     beside.position, device.position)) > far - 1e-9);
		}
	}
	conforming_free(&c);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_closed_form_of_the_peg_is_the_closest_point);
	RUN_TEST(a_fine_mesh_limits_only_what_is_near_it);
	RUN_TEST(a_starved_tool_arrives);
	RUN_TEST(a_hand_that_sets_off_finds_its_list_made);
	RUN_TEST(a_module_that_is_pulled_out_takes_no_long_step);
	RUN_TEST(pegs_that_land_and_turn_take_no_long_step);
	RUN_TEST(conforming_tools_follow_a_slow_hand);
	RUN_TEST(conforming_tools_follow_a_fast_hand_in_any_orientation);
	RUN_TEST(with_the_work_of_a_large_scene_they_follow_a_slow_hand);
	return UNITY_END();
}
