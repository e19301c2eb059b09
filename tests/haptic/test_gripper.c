// The force on a gripper in a closed loop with simulated fingers: the stiffness at which the axis begins to
// oscillate against the exact limit, the stiffness that is allowed, and the energy that the motor generates,
// which the simulation accounts for exactly.
#include "devices/sim.h"
#include "haptic/servo.h"
#include "haptic/stability.h"
#include "tests/support/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

// Under a sanitizer one delay and one rate stand for all of them.
#define FIRST_DELAY (TAC_TEST_SANITIZED ? 1 : 0)
#define DELAYS      (TAC_TEST_SANITIZED ? 2 : 3)
#define SHORTEST_NS (TAC_TEST_SANITIZED ? 1000000 : 500000)
#define LONGEST_NS  (TAC_TEST_SANITIZED ? 1000000 : 2000000)

// What the servo is told about the gripper's mechanics.
typedef enum knowledge {
	NOTHING,   // neither a limit nor damping by the controller
	MASS_ONLY, // the controller damps, no limit for the rate
	ALL,
} knowledge;

typedef struct trial {
	double stiffness_N_per_m, damping_N_s_per_m;
	tac_device_mechanics gripper;
	tac_sim_hand fingers;
	int64_t period_ns, delay_ns;
	knowledge known;
} trial;

typedef struct outcome {
	double swing_m;    // between the extremes of the last fifth
	double force_N;    // mean over it
	double least_J;    // of the energy that the motor has absorbed
	double motion_J;   // most in one tick
	double furthest_N; // largest force
} outcome;

// A simulated device of which the servo knows only what `known` says.
typedef struct veiled {
	tac_device base;
	tac_device *sim;
} veiled;

static tac_device_status veiled_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	return tac_device_read(((veiled *)device)->sim, now_ns, out_state);
}

static tac_device_status veiled_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	return tac_device_write(((veiled *)device)->sim, now_ns, wrench);
}

static void veiled_set_gripper(tac_device *device, double force_N)
{
	tac_device_set_gripper(((veiled *)device)->sim, force_N);
}

static void veil(veiled *v, knowledge known)
{
	v->base = *v->sim;
	v->base.read = veiled_read;
	v->base.write = veiled_write;
	v->base.set_gripper = veiled_set_gripper;
	if (known == NOTHING)
		v->base.info.gripper = (tac_device_mechanics){0};
	if (known == MASS_ONLY)
		v->base.info.gripper.damping = v->base.info.gripper.coulomb = 0;
}

// The fingers close slowly from 13 mm to 2 mm against jaws that meet at 12 mm, and hold on.
static outcome squeeze(const trial *t)
{
	char text[512];
	snprintf(text, sizeof text,
		 "scene: t\ntools: [{name: jaws, axes: 3, shapes: [{kind: solids, solids: "
		 "\"sphere:r=0.01\"}], "
		 "gripper: {rest_m: 0.012, stiffness_N_per_m: %.17g, damping_N_s_per_m: %.17g}}]\n",
		 t->stiffness_N_per_m, t->damping_N_s_per_m);
	tac_scene *scene;
	tac_world *world;
	tac_servo *servo;
	veiled device;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "test", &scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	const tac_sim_waypoint path[] = {{.gripper_m = 0.013}, {.time_ns = 1000000000, .gripper_m = 0.002}};
	const tac_sim_def sim = {.name = "jaws",
				 .linear = {0.3, 0.5, 0.15, 0},
				 .gripper = t->gripper,
				 .fingers = t->fingers,
				 .gripper_max_m = 0.027,
				 .max_gripper_N = 500, // far above what is felt, so that nothing saturates
				 .max_force_N = 12,
				 .delay_ns = t->delay_ns,
				 .waypoints = 2,
				 .path = path};
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&sim, &device.sim));
	tac_device_enable(device.sim, true);
	veil(&device, t->known);
	tac_servo_def def = tac_servo_def_default();
	def.world = world;
	def.device = &device.base;
	def.period_ns = t->period_ns;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &servo));
	const int ticks = (int)(INT64_C(4000000000) / t->period_ns);
	outcome o = {0};
	double low = HUGE_VAL, high = -HUGE_VAL, before_J = 0;
	for (int i = 0; i < ticks; i++) {
		tac_servo_step(servo, i * t->period_ns, NULL);
		const tac_sim_truth truth = tac_sim_read_truth(device.sim);
		o.least_J = fmin(o.least_J, truth.absorbed_J);
		o.motion_J = fmax(o.motion_J, fabs(truth.absorbed_J - before_J));
		before_J = truth.absorbed_J;
		o.furthest_N = fmax(o.furthest_N, fabs(tac_servo_snapshot(servo, 0)->gripper_N));
		if (i >= ticks * 4 / 5) {
			low = fmin(low, truth.gripper_m);
			high = fmax(high, truth.gripper_m);
			o.force_N += tac_servo_snapshot(servo, 0)->gripper_N / (ticks - ticks * 4 / 5);
		}
	}
	o.swing_m = high - low;
	tac_servo_destroy(&servo);
	tac_device_destroy(&device.sim);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	return o;
}

static void report(const char *name, const trial *t, const outcome *o)
{
	printf("%s, %.0f N/m, %.2g N s/m, %.1f ms late: swing %.1f um, mean %.2f N, at most %.1f N, least "
	       "%.3f mJ, "
	       "one tick %.3f mJ\n",
	       name, t->stiffness_N_per_m, t->damping_N_s_per_m, 1e-6 * (double)t->delay_ns, 1e6 * o->swing_m,
	       o->force_N, o->furthest_N, 1e3 * o->least_J, 1e3 * o->motion_J);
}

// Without friction and steps the axis is linear as long as the jaws touch: 10 % below the exact limit of the
// sampled spring and its filtered damper it settles, 10 % above it swings.
static void the_axis_begins_to_oscillate_at_the_exact_stiffness(void)
{
	for (int damped = 0; damped < 2; damped++) {
		for (int late = FIRST_DELAY; late < DELAYS; late++) {
			trial t = {.damping_N_s_per_m = damped ? 1 : 0,
				   .gripper = {0.04, 0.5, 0, 0},
				   .fingers = {0.003, 1, 100},
				   .period_ns = 1000000,
				   .delay_ns = late * 700000,
				   .known = NOTHING};
			const tac_stability_hand hand = {t.fingers.mass, t.fingers.damping,
							 t.fingers.stiffness};
			const tac_stability_loop loop = {1e-3, 0.7e-3 * late, t.damping_N_s_per_m, 0.8};
			const double critical = tac_stability_critical(&t.gripper, &hand, &loop);
			t.stiffness_N_per_m = 0.9 * critical;
			const outcome below = squeeze(&t);
			report("below", &t, &below);
			t.stiffness_N_per_m = 1.1 * critical;
			const outcome above = squeeze(&t);
			report("above", &t, &above);
			TEST_ASSERT_TRUE(below.swing_m < 2e-6);
			TEST_ASSERT_TRUE(above.swing_m > 50e-6);
		}
	}
}

// Whatever a scene asks for, fingers that hold the gripper lightly feel a force that rests.
static void a_stiffer_gripper_than_is_stable_is_softened(void)
{
	for (int late = FIRST_DELAY; late <= DELAYS - TAC_TEST_SANITIZED; late++) {
		for (int64_t period_ns = SHORTEST_NS; period_ns <= LONGEST_NS; period_ns *= 2) {
			trial t = {.stiffness_N_per_m = 5000,
				   .damping_N_s_per_m = late % 2 ? 100 : 0,
				   .gripper = tac_sim_gripper_estimate(),
				   .fingers = {0.004, 1.2, 150},
				   .period_ns = period_ns,
				   .delay_ns = late * 1000000,
				   .known = ALL};
			t.gripper.coulomb = 0; // which would stop the oscillation in its place
			t.gripper.resolution = 0;
			const outcome limited = squeeze(&t);
			report("limited", &t, &limited);
			TEST_ASSERT_TRUE(limited.swing_m < 5e-6);
			TEST_ASSERT_TRUE(limited.force_N > 0.4); // and is felt
			t.known = NOTHING;
			const outcome as_asked = squeeze(&t);
			report("as asked", &t, &as_asked);
			TEST_ASSERT_TRUE(period_ns < 1000000 || as_asked.swing_m > 100e-6);
		}
	}
}

// The controller alone, on a gripper whose damping nobody knows, at one and a half times the stiffness that
// is stable: a deficit is dissipated only after it is observed, with a delay of n ticks at most the energy of
// n + 2 ticks.
static void the_controller_keeps_the_gripper_passive(void)
{
	for (int late = FIRST_DELAY; late < DELAYS; late++) {
		trial t = {.gripper = {0.04, 0.5, 0, 0},
			   .fingers = {0.003, 1, 100},
			   .period_ns = 1000000,
			   .delay_ns = late * 1000000,
			   .known = MASS_ONLY};
		const tac_stability_loop loop = {1e-3, 1e-3 * late, 0, 0};
		t.stiffness_N_per_m =
			1.5 * tac_stability_critical(&t.gripper, &(tac_stability_hand){0.003, 1, 100}, &loop);
		const outcome kept = squeeze(&t);
		report("controlled", &t, &kept);
		t.known = NOTHING;
		const outcome free = squeeze(&t);
		report("not controlled", &t, &free);
		TEST_ASSERT_TRUE(kept.least_J >= -(late + 2) * kept.motion_J - 1e-5);
		TEST_ASSERT_TRUE(free.least_J < -1e-2);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_axis_begins_to_oscillate_at_the_exact_stiffness);
	RUN_TEST(a_stiffer_gripper_than_is_stable_is_softened);
	RUN_TEST(the_controller_keeps_the_gripper_passive);
	return UNITY_END();
}
