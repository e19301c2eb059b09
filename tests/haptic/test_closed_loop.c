// The servo with the simulated device in contact: the stiffness at which it begins to oscillate, and the
// energy that it generates with the passivity controller. The limits are those of the reference set; the
// simulation accounts for the energy exactly.
#include "devices/sim.h"
#include "haptic/servo.h"
#include "tests/support/force_watch.h"
#include "tests/support/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

#define MS INT64_C(1000000)

// A simulated device whose first sample is 5 mm too high, so that the tool begins free of the floor.
typedef struct lifted {
	tac_device base;
	tac_device *sim;
	bool placed;
} lifted;

static tac_device_status lifted_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	lifted *l = (lifted *)device;
	const tac_device_status status = tac_device_read(l->sim, now_ns, out_state);
	if (!l->placed)
		out_state->T_base_tool.position.z += 0.005;
	l->placed = true;
	return status;
}

static tac_device_status lifted_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	return tac_device_write(((lifted *)device)->sim, now_ns, wrench);
}

typedef struct loop {
	tac_scene *scene;
	tac_world *world;
	lifted device;
	tac_servo *servo;
} loop;

static void loop_build(loop *l, tac_scene *scene, const tac_sim_def *sim, int64_t period_ns, bool lift,
		       bool controlled)
{
	memset(l, 0, sizeof *l);
	l->scene = scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &l->world));
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(sim, &l->device.sim));
	tac_device_enable(l->device.sim, true);
	l->device.base = *l->device.sim;
	l->device.base.read = lifted_read;
	l->device.base.write = lifted_write;
	l->device.base.set_gripper = NULL; // it would take the wrapper for the simulated device
	l->device.placed = !lift;
	// Without the device's mechanics the stiffness is not derated.
	l->device.base.info.linear.damping = 0;
	l->device.base.info.angular.damping = 0;
	l->device.base.info.linear.coulomb = l->device.base.info.angular.coulomb = 0;
	l->device.base.info.max_stiffness_N_per_m = 0;
	tac_servo_def def = tac_servo_def_default();
	def.world = l->world;
	def.device = &l->device.base;
	def.period_ns = period_ns;
	def.check = false;
	if (!controlled) // without its mass the controller adds no damping
		l->device.base.info.linear.mass = l->device.base.info.angular.mass = 0;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &l->servo));
}

static void loop_fini(loop *l)
{
	tac_servo_destroy(&l->servo);
	tac_device_destroy(&l->device.sim);
	tac_world_destroy(&l->world);
	tac_scene_destroy(&l->scene);
}

// ---- critical stiffness ----

typedef struct row {
	double m, b, mh, bh, kh, T, td, critical;
} row;

// A tool presses on a floor and is disturbed slightly. Returns the rate at which the energy of the
// disturbance grows, 1/s, over the last three quarters of 2,000 ticks.
static double growth(const row *r, double K)
{
	char text[512];
	snprintf(text, sizeof text,
		 "scene: t\ntools: [{name: box, axes: 3, "
		 "shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 1}]}]\n"
		 "materials: [{name: m, stiffness_N_per_m: %.17g}]\n"
		 "objects: [{name: o, material: m, position_m: [0, 0, -0.05], "
		 "shapes: [{kind: box, segments: 1}]}]\n",
		 K);
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "test", &scene));
	const double surface = 0.01, depth = 1e-3;
	const double nudge = 2e-5; // a fiftieth of the depth, so that contact is never lost
	const tac_sim_def sim = {
		.name = "wall",
		.linear = {r->m, r->b, 0, 0},
		.hand = {r->mh, r->bh, r->kh},
		.max_force_N = 1e6,
		.delay_ns = llround(r->td * 1e9),
		.start_m = {0, 0, surface - depth + nudge},
		.preload_N = {0, 0, -(K * depth + r->kh * nudge)},
	};
	const int64_t period_ns = llround(r->T * 1e9);
	loop l;
	loop_build(&l, scene, &sim, period_ns, true, false);
	const int ticks = 2000;
	double n = 0, st = 0, se = 0, stt = 0, ste = 0;
	for (int i = 0; i < ticks; i++) {
		tac_servo_step(l.servo, i * period_ns, NULL);
		if (i < ticks / 4)
			continue;
		const tac_sim_truth truth = tac_sim_read_truth(l.device.sim);
		const double x = truth.position_m.z - (surface - depth), v = truth.velocity_m_per_s.z;
		const double e = log(0.5 * (K + r->kh) * x * x + 0.5 * (r->m + r->mh) * v * v);
		const double t = i * r->T;
		n++;
		st += t;
		se += e;
		stt += t * t;
		ste += t * e;
	}
	loop_fini(&l);
	return (n * ste - st * se) / (n * stt - st * st);
}

// Reads the rows of a reference file whose wall has no damper. `hand`: the file has columns for the hand.
static int read_rows(const char *name, bool hand, row *out, int most)
{
	char path[512], line[512];
	snprintf(path, sizeof path, "%s/%s.csv", TACTUS_STABILITY_EXCERPT, name);
	FILE *file = fopen(path, "r");
	TEST_ASSERT_NOT_NULL_MESSAGE(file, path);
	int count = 0;
	while (count < most && fgets(line, sizeof line, file)) {
		row r = {0};
		double B;
		const int got = hand ? sscanf(line, "%*[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &r.mh,
					      &r.bh, &r.kh, &r.m, &r.b, &B, &r.T, &r.td, &r.critical)
				     : sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", &r.m, &r.b, &B, &r.T, &r.td,
					      &r.critical);
		r.T *= 1e-3;
		r.td *= 1e-3;
		if (got == (hand ? 9 : 6) && B == 0 && r.critical < 50000)
			out[count++] = r;
	}
	fclose(file);
	return count;
}

static void the_whole_tick_begins_to_oscillate_at_the_exact_stiffness(void)
{
	row rows[20];
	const int wanted = TAC_TEST_SANITIZED ? 2 : test_long() ? 20 : 8;
	int count = read_rows("kcrit_hand", true, rows, wanted / 2);
	count += read_rows("kcrit_grid", false, rows + count, wanted - count);
	TEST_ASSERT_EQUAL_INT(wanted, count);
	for (int i = 0; i < count; i++) {
		char text[160];
		snprintf(text, sizeof text, "m %g b %g hand %g %g %g T %g td %g K %g", rows[i].m, rows[i].b,
			 rows[i].mh, rows[i].bh, rows[i].kh, rows[i].T, rows[i].td, rows[i].critical);
		TEST_ASSERT_TRUE_MESSAGE(growth(&rows[i], 0.99 * rows[i].critical) < 0, text);
		TEST_ASSERT_TRUE_MESSAGE(growth(&rows[i], 1.01 * rows[i].critical) > 0, text);
	}
}

// ---- generated energy ----

typedef struct energy {
	double min_J;    // lowest absorbed energy, contact springs included
	double motion_J; // largest |force times motion| of a tick
	double force_N;
	int contact_ticks;
} energy;

// Properties left out of the simulated device.
enum {
	NOTHING,
	FRICTION = 1, // which would dissipate what the loop generates
	STEPS = 2,    // of the sensor, which make the observer inexact
};

// Makes the simulated hand follow the path of the scene's hand, in the device's frame; `path` is its memory.
static void follow_scene(tac_sim_def *sim, const tac_scene_tool *tool, tac_sim_waypoint *path)
{
	for (int32_t i = 0; i < tool->hand_count; i++)
		path[i] = (tac_sim_waypoint){
			llround(tool->hand[i].time_s * 1e9),
			tac_dvec3_scale(tool->hand[i].position_m, 1 / tool->mapping.workspace_scale),
			tool->hand[i].rotation_rad, 0, 0};
	sim->path = path;
	sim->waypoints = (uint32_t)tool->hand_count;
	sim->start_m = path[0].position_m;
}

// Runs a built-in scene with `factor` times its stiffness and 1 ms of delay, with a light hand that follows
// its path.
static energy run_scene(const char *name, const char *preset, double factor, int left_out, int ticks,
			bool controlled)
{
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin(name, &scene));
	for (int32_t i = 0; i < scene->material_count; i++) {
		scene->materials[i].stiffness_N_per_m *= factor;
		scene->materials[i].static_friction = scene->materials[i].dynamic_friction = 0;
		scene->materials[i].viscosity_N_s_per_m = 0;
	}
	tac_sim_def sim;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset(preset, "light", &sim));
	tac_sim_waypoint path[TAC_SCENE_PATH];
	follow_scene(&sim, &scene->tools[0], path);
	sim.delay_ns = MS;
	if (left_out & FRICTION)
		sim.linear.coulomb = sim.angular.coulomb = 0;
	if (left_out & STEPS)
		sim.linear.resolution = sim.angular.resolution = 0;
	loop l;
	loop_build(&l, scene, &sim, MS, false, controlled);
	energy e = {0};
	tac_sim_truth before = tac_sim_read_truth(l.device.sim);
	for (int i = 0; i < ticks; i++) {
		tac_servo_step(l.servo, i * MS, NULL);
		const tac_snapshot *s = tac_servo_snapshot(l.servo, 0);
		const tac_sim_truth truth = tac_sim_read_truth(l.device.sim);
		e.min_J = fmin(e.min_J, truth.absorbed_J);
		e.motion_J = fmax(e.motion_J, fabs(truth.absorbed_J - before.absorbed_J));
		e.force_N = fmax(e.force_N, tac_dvec3_length(s->sent.force_N));
		e.contact_ticks += s->contact_count > 0;
		before = truth;
	}
	loop_fini(&l);
	return e;
}

// A deficit is dissipated only after it is observed: with a delay of n ticks, it may reach the energy of n +
// 2 ticks. Without the device's friction the controller alone has to keep this bound; with the steps of the
// sensor the observer sees rounded motion.
static void with_the_controller_no_scene_generates_more_than_the_energy_of_three_ticks(void)
{
	static const struct {
		const char *scene, *preset;
		double factor;
	} runs[] = {{"sphere", "falcon", 1}, {"sphere", "falcon", 4}, {"sphere", "six", 4},
		    {"groove", "six", 1},    {"groove", "six", 3},    {"peg", "six", 1}};
	static const struct {
		const char *name;
		int left_out;
	} devices[] = {{"no friction, no steps", FRICTION | STEPS},
		       {"no friction", FRICTION},
		       {"unchanged", NOTHING}};
	const int ticks = TAC_TEST_SANITIZED ? 300 : 2500;
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
			const energy e = run_scene(runs[i].scene, runs[i].preset, runs[i].factor,
						   devices[d].left_out, ticks, true);
			printf("%s on %s, %g x, %s: minimum %.3f mJ, one tick %.3f mJ, force %.2f N, "
			       "%d ticks in contact\n",
			       runs[i].scene, runs[i].preset, runs[i].factor, devices[d].name, 1e3 * e.min_J,
			       1e3 * e.motion_J, e.force_N, e.contact_ticks);
			TEST_ASSERT_TRUE(e.min_J >= -3 * e.motion_J - 1e-5);
			TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || e.contact_ticks > 500);
		}
	}
	// Without the controller the same wall oscillates.
	if (!TAC_TEST_SANITIZED) {
		const energy e = run_scene("sphere", "six", 4, FRICTION | STEPS, ticks, false);
		printf("without the controller: minimum %.3f mJ, force %.2f N\n", 1e3 * e.min_J, e.force_N);
		TEST_ASSERT_TRUE(e.min_J < -1e-3);
	}
}

// ---- continuity ----

typedef struct continuity_run {
	const char *scene, *preset, *grip;
	double rate_Hz, seconds;
} continuity_run;

// A rough scene with the hand of its path: the force law's wrench keeps its bound, and what is sent neither
// jumps nor vanishes. Returns the energy that left the port beyond that of three ticks.
static double run_continuously(const continuity_run *r)
{
	char name[80];
	snprintf(name, sizeof name, "%s, %s, %s, %.0f Hz", r->scene, r->preset, r->grip, r->rate_Hz);
	tac_scene *scene;
	tac_sim_def sim;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin(r->scene, &scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset(r->preset, r->grip, &sim));
	for (int32_t m = 0; m < scene->material_count; m++) {
		scene->materials[m].static_friction = 0.6;
		scene->materials[m].dynamic_friction = 0.4;
		scene->materials[m].friction_stiffness_N_per_m = scene->materials[m].stiffness_N_per_m;
	}
	tac_sim_waypoint path[TAC_SCENE_PATH];
	follow_scene(&sim, &scene->tools[0], path);
	const int64_t period_ns = llround(1e9 / r->rate_Hz);
	loop l;
	loop_build(&l, scene, &sim, period_ns, false, true);
	force_watch watch = {0};
	int64_t contact_ticks = 0;
	double least_J = 0, motion_J = 0, before_J = 0;
	for (int k = 0; k < (int)(r->seconds * r->rate_Hz); k++) {
		tac_servo_step(l.servo, k * period_ns, NULL);
		tac_snapshot s = *tac_servo_snapshot(l.servo, 0);
		TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, s.feel.jumps + s.feel.dropouts, name);
		contact_ticks += s.contact_count > 0;
		s.sent = s.wanted; // before passivity and limit
		s.gain = 1;
		force_watch_step(&watch, l.world, &s);
		const double absorbed_J = tac_sim_read_truth(l.device.sim).absorbed_J;
		least_J = fmin(least_J, absorbed_J);
		motion_J = fmax(motion_J, fabs(absorbed_J - before_J));
		before_J = absorbed_J;
	}
	TEST_ASSERT_TRUE_MESSAGE(TAC_TEST_SANITIZED || contact_ticks > 0.05 * r->seconds * r->rate_Hz, name);
	loop_fini(&l);
	return fmax(-least_J - 3 * motion_J, 0);
}

// Every simulated device, at rates from 500 Hz to 10 kHz: 288 runs in a long test, 12 of them otherwise.
static void the_force_is_continuous_with_every_device_and_at_every_rate(void)
{
	static const char *const presets[] = {"falcon", "omega3", "omega7", "touch", "premium", "six"};
	static const char *const scenes[] = {"sphere", "groove", "tooth", "stylus"};
	static const char *const grips[] = {"light", "stylus", "wrist"};
	static const double rates[] = {500, 1000, 4000, 10000};
	int runs = 0;
	double worst_J = 0;
	for (int i = 0; i < 288; i++) {
		const int preset = i % 6, rate = i / 6 % 4, grip = i / 24 % 3, scene = i / 72;
		const bool usual = grip == 0 && scene < 2 && rate == (preset + scene) % 4;
		if (!test_long() && !usual)
			continue;
		// The hands of the last two scenes take longer to arrive.
		const continuity_run r = {scenes[scene], presets[preset], grips[grip], rates[rate],
					  TAC_TEST_SANITIZED ? 0.2
					  : scene < 2        ? 1.2
							     : 3};
		worst_J = fmax(worst_J, run_continuously(&r));
		runs++;
	}
	printf("continuity: %d runs, at most %.4f mJ beyond the energy of three ticks\n", runs,
	       1e3 * worst_J);
	TEST_ASSERT_TRUE(worst_J <= 1e-5);
}

// ---- an object that moves ----

// A plate rises 15 mm, pushes the hand and sinks. The work that it does on the hand is no energy that the
// loop has generated: once the hand is free, nothing damps it.
static void an_object_that_pushes_the_hand_is_not_taken_back(void)
{
	static const char text[] =
		"scene: t\ntools: [{name: tip, axes: 3, limits: {engage_s: 0.001}, "
		"shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n"
		"materials: [{name: m, stiffness_N_per_m: 1000}]\n"
		"objects: [{name: o, material: m, position_m: [0, 0, -0.01], path: [{time_s: 0}, "
		"{time_s: 0.2, position_m: [0, 0, 0.015]}, {time_s: 0.4}, {time_s: 1}], "
		"shapes: [{kind: box, size_m: [0.1, 0.1, 0.02], segments: 2}]}]\n";
	tac_scene *scene;
	tac_sim_def sim;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "test", &scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset("omega7", "light", &sim));
	sim.start_m = tac_dvec3_make(0.003, 0.002, 0.006);
	loop l;
	loop_build(&l, scene, &sim, MS, false, true);
	double most_N = 0, free_N = 0;
	for (int k = 0; k < 600; k++) {
		tac_servo_step(l.servo, k * MS, NULL);
		const tac_snapshot *s = tac_servo_snapshot(l.servo, 0);
		const double sent_N = tac_dvec3_length(s->sent.force_N);
		most_N = fmax(most_N, sent_N);
		if (k > 400 && tac_dvec3_length(s->wanted.force_N) == 0)
			free_N = fmax(free_N, sent_N);
	}
	loop_fini(&l);
	printf("pushed with up to %.2f N, afterwards %.3f N in free motion\n", most_N, free_N);
	TEST_ASSERT_TRUE(most_N > 0.3);
	TEST_ASSERT_TRUE(free_N < 0.05);
}

// ---- an adversary at a step of the sensor ----

// An operator who shakes over the edge between two steps of the sensor, up and down in two ticks, and
// extracts force times motion.
typedef struct shaker {
	tac_device base;
	double step_m, z, seen;
	bool started;
	tac_wrench acting;
} shaker;

static tac_device_status shaker_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	shaker *s = (shaker *)device;
	const double seen = s->step_m * floor(s->z / s->step_m + 0.5);
	*out_state = (tac_device_state){
		.time_ns = now_ns,
		.T_base_tool = tac_dpose_make(tac_dvec3_make(0, 0, seen), tac_dquat_identity())};
	out_state->velocity_m_per_s.z = s->started ? (seen - s->seen) * 1e3 : 0;
	s->seen = seen;
	s->started = true;
	return TAC_DEVICE_OK;
}

static tac_device_status shaker_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)now_ns;
	((shaker *)device)->acting = *wrench;
	return TAC_DEVICE_OK;
}

static void shaker_enable(tac_device *device, bool on)
{
	(void)device;
	(void)on;
}

#define EDGE_STEP  6e-5
#define EDGE_SHAKE 3e-5
#define EDGE_TICKS 4000
#define EDGE_MASS  0.1

// Approaches the surface, shakes for EDGE_TICKS and returns the energy extracted.
static double extract_at_edge(int axes, double K, double mass)
{
	char text[512];
	snprintf(text, sizeof text,
		 "scene: t\ntools: [{name: box, axes: %d, "
		 "shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 1}]}]\n"
		 "materials: [{name: m, stiffness_N_per_m: %.17g}]\n"
		 "objects: [{name: o, material: m, position_m: [0, 0, -0.05], "
		 "shapes: [{kind: box, segments: 1}]}]\n",
		 axes, K);
	tac_scene *scene;
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "test", &scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	shaker hand = {.base = {.info = {.name = "shaker",
					 .position_axes = 3,
					 .rotation_axes = 3,
					 .force_axes = 3,
					 .torque_axes = 3,
					 .linear = {.mass = mass},
					 .max_force_N = 100,
					 .max_torque_Nm = 10,
					 .period_ns = MS},
				.read = shaker_read,
				.write = shaker_write,
				.enable = shaker_enable},
		       .step_m = EDGE_STEP,
		       .z = 0.02};
	tac_servo_def def = tac_servo_def_default();
	def.world = world;
	def.device = &hand.base;
	tac_servo *servo;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &servo));
	const double edge = 0.01 - 10.5 * EDGE_STEP - fmod(0.01, EDGE_STEP);
	double extracted = 0;
	for (int k = 0; k <= 1000 + EDGE_TICKS; k++) {
		const double before = hand.z;
		hand.z =
			k < 1000 ? 0.02 + (edge - 0.02) * k / 1000 : edge + (k % 2 ? 0.5 : -0.5) * EDGE_SHAKE;
		if (k > 1000)
			extracted += hand.acting.force_N.z * (hand.z - before);
		tac_servo_step(servo, k * MS, NULL);
	}
	tac_servo_destroy(&servo);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	return extracted;
}

// The spring alone gives K times step times shake in two ticks. The controller cannot observe motion between
// two steps; it adds at most its power allowance and one stroke of its damping.
static void the_controller_does_not_feed_an_adversary_at_the_edge(void)
{
	const double K = 2000, spring_J = EDGE_TICKS / 2 * K * EDGE_STEP * EDGE_SHAKE;
	for (int axes = 3; axes <= 6; axes += 3) {
		const double alone = extract_at_edge(axes, K, 0),
			     controlled = extract_at_edge(axes, K, EDGE_MASS);
		printf("edge, %d axes, %d ticks: %.3f mJ from the spring (%.3f expected), "
		       "%.3f mJ with the controller\n",
		       axes, EDGE_TICKS, 1e3 * alone, 1e3 * spring_J, 1e3 * controlled);
		TEST_ASSERT_DOUBLE_WITHIN(1e-3 * spring_J, spring_J, alone);
		const double allowance = 1e-4 * EDGE_TICKS * 1e-3,
			     stroke = 0.2 * EDGE_MASS / 1e-3 * EDGE_STEP / 1e-3 * EDGE_STEP;
		TEST_ASSERT_TRUE(controlled <= spring_J + allowance + stroke);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_whole_tick_begins_to_oscillate_at_the_exact_stiffness);
	RUN_TEST(with_the_controller_no_scene_generates_more_than_the_energy_of_three_ticks);
	RUN_TEST(the_force_is_continuous_with_every_device_and_at_every_rate);
	RUN_TEST(an_object_that_pushes_the_hand_is_not_taken_back);
	RUN_TEST(the_controller_does_not_feed_an_adversary_at_the_edge);
	return UNITY_END();
}
