// The whole tick against closed forms, with a device whose pose the test sets and scenes given as text.
#include "base/rng.h"
#include "collision/chip_host.h"
#include "devices/sim.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tests/support/servo_fixture.h"

#include <pthread.h>
#include <stdlib.h>

void setUp(void)
{
}

void tearDown(void)
{
}

#define BALL "scene: t\ntools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: \"sphere:r=0.01\"}]}]\n"
#define FLOOR                                                                                                \
	"objects: [{name: floor, material: m, position_m: [0, 0, -0.05], "                                   \
	"shapes: [{kind: box, size_m: [0.4, 0.4, 0.1], segments: 6}]}]\n"
#define PLAIN "materials: [{name: m, stiffness_N_per_m: 500}]\n"

static void in_free_motion_the_sco_follows_the_device_without_force(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", tac_servo_def_default());
	tac_rng rng = tac_rng_seed(1, 2);
	step_to(&f, tac_dvec3_make(0, 0, 0.1));
	for (int i = 0; i < 2000; i++) {
		const tac_dvec3 to =
			tac_dvec3_make(tac_rng_range_f64(&rng, -0.1, 0.1), tac_rng_range_f64(&rng, -0.1, 0.1),
				       tac_rng_range_f64(&rng, 0.02, 0.12));
		const tac_snapshot *s = step_to(&f, to);
		assert_near(to, s->T_world_sco.position, 0);
		assert_near(tac_dvec3_zero(), f.hand.wrench.force_N, 0);
		assert_near(tac_dvec3_zero(), f.hand.wrench.torque_Nm, 0);
	}
	fixture_fini(&f);
}

static void pushing_five_millimetres_into_a_plane_at_500_N_per_m_gives_two_and_a_half_newtons(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0.003, 0.002, 0.03));
	move_to(&f, tac_dvec3_make(0.003, 0.002, 0.01), 100);
	move_to(&f, tac_dvec3_make(0.003, 0.002, 0.005), 50);
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0.003, 0.002, 0.005), 10);
	assert_near(tac_dvec3_make(0, 0, 2.5), f.hand.wrench.force_N, 0.01);
	assert_near(tac_dvec3_make(0, 0, 500 * 0.005), f.hand.wrench.force_N, 500 * 0.01 * HOLD_GAP_M);
	assert_near(tac_dvec3_make(0.003, 0.002, 0.01 + HOLD_GAP_M), s->T_world_sco.position,
		    0.5 * HOLD_GAP_M);
	TEST_ASSERT_TRUE(s->contact_count >= 1);
	double sum = 0;
	for (int32_t i = 0; i < s->contact_count; i++)
		sum += s->contacts[i].force_N.z;
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 2.5, sum);
	fixture_fini(&f);
}

static void sliding_below_a_frictionless_surface_exerts_no_drag(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(-0.05, 0, 0.03));
	move_to(&f, tac_dvec3_make(-0.05, 0, 0.007), 200);
	for (int i = 0; i < 500; i++) {
		step_to(&f, tac_dvec3_make(-0.05 + 2e-4 * i, 1e-4 * i, 0.007));
		TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, f.hand.wrench.force_N.x);
		TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, f.hand.wrench.force_N.y);
		TEST_ASSERT_DOUBLE_WITHIN(0.01, 1.5, f.hand.wrench.force_N.z);
	}
	fixture_fini(&f);
}

// ---- gripper ----

static double recorded_gripper_N;

static void keep_gripper(void *user, const tac_device_sample *sample)
{
	(void)user;
	recorded_gripper_N = sample->gripper_N;
}

// Fingers of 250 N/m that want an opening of 4 mm, against a spring of 500 N/m that rests at 12 mm: they meet
// at (250 · 4 + 500 · 12) / 750 mm, where the spring pushes with 500 N/m · (12 mm - that). Dry friction may
// hold the gripper up to 0.05 N / (750 N/m) away.
static void a_squeezed_gripper_rests_where_fingers_and_spring_balance(void)
{
	fixture f;
	fixture_build(
		&f,
		"scene: t\ntools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: "
		"\"sphere:r=0.01\"}], "
		"gripper: {rest_m: 0.012, stiffness_N_per_m: 500, damping_N_s_per_m: 1}}]\n" PLAIN FLOOR,
		"wide", tac_servo_def_default());
	tac_servo_destroy(&f.servo);
	tac_sim_def sim;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset("omega7", "stylus", &sim));
	const tac_sim_waypoint path[] = {{.position_m = {0, 0, 0.05}, .gripper_m = 0.004}};
	sim.path = path;
	sim.waypoints = 1;
	sim.start_m = path[0].position_m;
	tac_device *device;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&sim, &device));
	tac_device_enable(device, true);
	tac_servo_def def = tac_servo_def_default();
	def.world = f.world;
	def.device = device;
	def.record = keep_gripper;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &f.servo));
	double before_N = 0;
	for (int i = 0; i < 3000; i++) {
		tac_servo_step(f.servo, i * MS, NULL);
		const tac_snapshot *s = tac_servo_snapshot(f.servo, 0);
		TEST_ASSERT_TRUE(s->gripper_N >= 0 && s->gripper_N <= 8);
		TEST_ASSERT_TRUE(fabs(s->gripper_N - before_N) <= 8 / TAC_DEVICE_FULL_FORCE_S * 1e-3 + 1e-12);
		TEST_ASSERT_EQUAL_DOUBLE(s->gripper_N, recorded_gripper_N);
		before_N = s->gripper_N;
	}
	const double rest_m = (250 * 0.004 + 500 * 0.012) / 750, slack_m = 0.05 / 750 + 6e-6;
	const tac_snapshot *s = tac_servo_snapshot(f.servo, 0);
	TEST_ASSERT_DOUBLE_WITHIN(slack_m, rest_m, s->gripper_m);
	TEST_ASSERT_DOUBLE_WITHIN(500 * slack_m, 500 * (0.012 - rest_m), s->gripper_N);
	TEST_ASSERT_EQUAL_DOUBLE(s->gripper_N, tac_sim_read_truth(device).gripper_N);
	tac_servo_destroy(&f.servo);
	tac_device_destroy(&device);
	fixture_fini(&f);
}

// ---- faults ----

// Damage in the chip's hierarchy memory: the type of the root of the floor's tree is invalid, or its first
// plane is NaN. The chip stops and reports the error in its status.
typedef struct damage {
	uint32_t *word;
	uint32_t good, bad;
	tac_chip_error error;
} damage;

static damage damage_make(const fixture *f, tac_chip_error error)
{
	uint32_t *root = ((tac_chip_shape *)f->world->objects[0].shape)->bytes;
	return error == TAC_CHIP_ERR_TYPE ? (damage){&root[24], root[24], 7, error}
					  : (damage){&root[0], root[0], 0x7fc00000, error};
}

static tac_chip_error query_chip_error(const fixture *f, tac_dpose T)
{
	tac_context *context;
	const tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
	const tac_pose P = tac_pose_from_dpose(tac_dpose_relative(tac_world_object_pose(f->world, 0, 0), T));
	const tac_rigid motion = {tac_mat3_from_quat(P.rotation), P.position};
	tac_collider_query(f->world->collider, context, f->world->tools[0].shape, f->world->objects[0].shape,
			   &motion, TAC_QUERY_FIRST, (tac_budget){0, 0});
	const uint32_t status = tac_chip_read(context->scratch, TAC_CHIP_STATUS);
	tac_context_destroy(&context);
	return (tac_chip_error)(status >> TAC_CHIP_ERR_SHIFT & 0xff);
}

// The pose is checked in every tick, also where it is the one of the last.
static void a_chip_error_is_noticed_while_the_tool_rests(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "chip", tac_servo_def_default());
	const damage d = damage_make(&f, TAC_CHIP_ERR_NAN);
	step_to(&f, tac_dvec3_make(0, 0, 0.03));
	move_to(&f, tac_dvec3_make(0, 0, 0.008), 200);
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0, 0, 0.008), 100);
	const tac_dvec3 rest = s->T_world_sco.position;
	const uint64_t unknown_ticks = s->unknown_ticks;
	s = step_to(&f, tac_dvec3_make(0, 0, 0.008));
	assert_near(rest, s->T_world_sco.position, 0);
	TEST_ASSERT_EQUAL_UINT64(unknown_ticks, s->unknown_ticks);
	*d.word = d.bad;
	s = step_to(&f, tac_dvec3_make(0, 0, 0.008));
	TEST_ASSERT_EQUAL_UINT64(unknown_ticks + 1, s->unknown_ticks);
	*d.word = d.good;
	fixture_fini(&f);
}

// An unknown answer counts as contact: the pose is held and the event is counted once.
static void a_chip_error_holds_the_pose_and_lowers_the_force(void)
{
	for (int which = 0; which < 4; which++) {
		fixture f;
		tac_servo_def def = tac_servo_def_default();
		def.mover = which & 1 ? TAC_SCO_REACTIVE : TAC_SCO_CONTINUOUS;
		fixture_build(&f, BALL PLAIN FLOOR, "chip", def);
		const damage d = damage_make(&f, which & 2 ? TAC_CHIP_ERR_NAN : TAC_CHIP_ERR_TYPE);
		step_to(&f, tac_dvec3_make(0, 0, 0.03));
		move_to(&f, tac_dvec3_make(0, 0, 0.008), 200);
		const tac_snapshot *s = move_to(&f, tac_dvec3_make(0, 0, 0.008), 20);
		const tac_dpose held = s->T_world_sco;
		const uint64_t faults = s->faults, unknown_ticks = s->unknown_ticks;
		TEST_ASSERT_TRUE(f.hand.wrench.force_N.z > 0.9);
		TEST_ASSERT_EQUAL(TAC_CHIP_ERR_NONE, query_chip_error(&f, held));
		*d.word = d.bad;
		TEST_ASSERT_EQUAL(d.error, query_chip_error(&f, held));
		s = step_to(&f, tac_dvec3_make(0.0001, 0, 0.008));
		*d.word = d.good;
		assert_near(held.position, s->T_world_sco.position, 0);
		TEST_ASSERT_EQUAL_UINT64(1, s->unknown_ticks - unknown_ticks);
		TEST_ASSERT_EQUAL_UINT64(def.mover == TAC_SCO_CONTINUOUS ? 1 : 0, s->faults - faults);
		TEST_ASSERT_TRUE(s->limits >> TAC_LIMIT_UNKNOWN & 1u);
		// A lasting error: the force decays, and comes back with the chip.
		*d.word = d.bad;
		for (int i = 0; i < 200; i++) // the reactive mover queries only when the device moves
			step_to(&f, tac_dvec3_make(i % 2 ? 1e-4 : 0, 0, 0.008));
		assert_near(tac_dvec3_zero(), f.hand.wrench.force_N, 0);
		*d.word = d.good;
		move_to(&f, tac_dvec3_make(0, 0, 0.03), 100);
		move_to(&f, tac_dvec3_make(0, 0, 0.008), 200);
		s = move_to(&f, tac_dvec3_make(0, 0, 0.008), 700);
		TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, s->state);
		TEST_ASSERT_DOUBLE_WITHIN(0.02, 1, f.hand.wrench.force_N.z);
		fixture_fini(&f);
	}
}

static void a_tool_that_begins_in_contact_waits_until_it_is_free(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", tac_servo_def_default());
	for (int i = 0; i < 100; i++) {
		const tac_snapshot *s = step_to(&f, tac_dvec3_make(0, 0, 0.005));
		TEST_ASSERT_EQUAL(TAC_SERVO_WAITING, s->state);
		assert_near(tac_dvec3_zero(), f.hand.wrench.force_N, 0);
		TEST_ASSERT_EQUAL_UINT64(1, s->faults);
	}
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0, 0, 0.02), 100);
	TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, s->state);
	move_to(&f, tac_dvec3_make(0, 0, 0.005), 200);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 2.5, f.hand.wrench.force_N.z);
	fixture_fini(&f);
}

// A free moment of one tick is enough.
static void a_waiting_tool_does_not_miss_a_short_free_moment(void)
{
	for (int phase = 0; phase < 10; phase++) {
		fixture f;
		fixture_build(&f, BALL PLAIN FLOOR, "wide", tac_servo_def_default());
		for (int i = 0; i < 11 + phase; i++)
			TEST_ASSERT_EQUAL(TAC_SERVO_WAITING, step_to(&f, tac_dvec3_make(0, 0, 0.009))->state);
		TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, step_to(&f, tac_dvec3_make(0, 0, 0.011))->state);
		move_to(&f, tac_dvec3_make(0, 0, 0.008), 3);
		move_to(&f, tac_dvec3_make(0, 0, 0.008), 600);
		assert_near(tac_dvec3_make(0, 0, 1), f.hand.wrench.force_N, 1e-3);
		fixture_fini(&f);
	}
}

// Inside a closed mesh a tool touches no surface, and would be shut in.
static void a_tool_that_begins_inside_a_solid_waits_until_it_is_outside(void)
{
	static const char *const tools[] = {
		BALL,
		"scene: t\ntools: [{name: box, "
		"shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 2}]}]\n",
	};
	for (int i = 0; i < 4; i++) {
		tac_servo_def def = tac_servo_def_default();
		def.mover = i % 2 ? TAC_SCO_REACTIVE : TAC_SCO_CONTINUOUS;
		char text[1024];
		snprintf(text, sizeof text, "%s%s", tools[i / 2], PLAIN FLOOR);
		fixture f;
		fixture_build(&f, text, "wide", def);
		step_to(&f, tac_dvec3_make(0, 0, -0.05));
		for (int k = 0; k < 300; k++) {
			const double z = -0.05 + 0.0004 * k; // up to 0.07
			const tac_snapshot *s = step_to(&f, tac_dvec3_make(0, 0, z));
			TEST_ASSERT_EQUAL_UINT64(1, s->faults);
			TEST_ASSERT_EQUAL_MESSAGE(z < 0.01 ? TAC_SERVO_WAITING : s->state, s->state, text);
			assert_near(tac_dvec3_zero(), f.hand.wrench.force_N, 0);
		}
		TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, tac_servo_snapshot(f.servo, 0)->state);
		move_to(&f, tac_dvec3_make(0, 0, 0.005), 300);
		assert_near(tac_dvec3_make(0, 0, 2.5), f.hand.wrench.force_N, 0.02);
		fixture_fini(&f);
	}
}

// The mesh is so large that the test takes three ticks, during which the tool moves.
static void the_release_test_of_a_large_mesh_is_spread_over_ticks(void)
{
	fixture f;
	fixture_build(&f,
		      BALL PLAIN "objects: [{name: o, material: m, position_m: [0, 0, -0.05], "
				 "shapes: [{kind: box, size_m: [0.4, 0.4, 0.1], segments: 100}]}]\n",
		      "wide", tac_servo_def_default());
	TEST_ASSERT_TRUE(f.world->objects[0].mesh->triangle_count > 100000);
	for (int i = 0; i < 10; i++) {
		const tac_dvec3 at = tac_dvec3_make(0, 0, 0.05 - 0.001 * i);
		const tac_snapshot *s = step_to(&f, at);
		TEST_ASSERT_EQUAL(i < 2 ? TAC_SERVO_WAITING : TAC_SERVO_RUNNING, s->state);
		TEST_ASSERT_EQUAL_UINT64(0, s->faults);
		assert_near(at, s->T_world_sco.position, 0);
	}
	fixture_fini(&f);
}

static void invalid_poses_are_refused_and_do_no_harm(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0, 0, 0.03));
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0, 0, 0.007), 200);
	const tac_dpose held = s->T_world_sco;
	const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e308};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		for (int axis = 0; axis < 3; axis++) {
			double at[3] = {0, 0, 0.007};
			at[axis] = bad[i];
			s = step_to(&f, tac_dvec3_load(at));
			TEST_ASSERT_TRUE(tac_dpose_finite(s->T_world_sco));
			TEST_ASSERT_TRUE(tac_dvec3_finite(f.hand.wrench.force_N));
			TEST_ASSERT_TRUE(tac_dvec3_length(f.hand.wrench.force_N) <= 100);
			step_to(&f, tac_dvec3_make(0, 0, 0.007));
		}
	}
	move_to(&f, tac_dvec3_make(0, 0, 0.03), 100);
	move_to(&f, tac_dvec3_make(0, 0, 0.007), 200);
	s = move_to(&f, tac_dvec3_make(0, 0, 0.007), 800);
	assert_near(held.position, s->T_world_sco.position, 1e-6);
	TEST_ASSERT_DOUBLE_WITHIN(0.02, 1.5, f.hand.wrench.force_N.z);
	fixture_fini(&f);
}

static void a_lost_device_gets_no_force_and_an_emergency_stop_cuts_at_once(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0, 0, 0.03));
	move_to(&f, tac_dvec3_make(0, 0, 0.007), 200);
	tac_servo_stop(f.servo);
	step_to(&f, tac_dvec3_make(0, 0, 0.007));
	assert_near(tac_dvec3_zero(), f.hand.wrench.force_N, 0);
	tac_servo_reset(f.servo);
	move_to(&f, tac_dvec3_make(0, 0, 0.007), 600);
	TEST_ASSERT_DOUBLE_WITHIN(0.02, 1.5, f.hand.wrench.force_N.z);
	f.hand.status = TAC_DEVICE_LOST;
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0, 0, 0.007), 10);
	TEST_ASSERT_EQUAL(TAC_SERVO_LOST, s->state);
	assert_near(tac_dvec3_zero(), f.hand.wrench.force_N, 0);
	fixture_fini(&f);
}

// A period with half a millisecond of jitter is no stall, and a sample one tick late is not stale.
static void a_loop_at_100_Hz_is_not_stalled(void)
{
	tac_servo_def def = tac_servo_def_default();
	def.period_ns = 10 * MS;
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", def);
	for (int i = 0; i < 200; i++) {
		f.now_ns = 10 * MS * i + i % 3 * MS / 4;
		f.hand.status = i % 7 == 3 ? TAC_DEVICE_STALE : TAC_DEVICE_OK;
		step_to(&f, tac_dvec3_make(0, 0, fmax(0.005, 0.03 - 0.0005 * i)));
	}
	TEST_ASSERT_EQUAL_UINT64(0, tac_servo_limit_count(f.servo, TAC_LIMIT_STALL));
	TEST_ASSERT_EQUAL_UINT64(0, tac_servo_limit_count(f.servo, TAC_LIMIT_STALE));
	assert_near(tac_dvec3_make(0, 0, 2.5), f.hand.wrench.force_N, 0.01);
	// Five periods are a stall.
	f.now_ns += 50 * MS;
	step_to(&f, tac_dvec3_make(0, 0, 0.005));
	TEST_ASSERT_EQUAL_UINT64(1, tac_servo_limit_count(f.servo, TAC_LIMIT_STALL));
	fixture_fini(&f);
}

// A press moves down onto a ball on the floor. It stops at the ball and is shown where it stopped.
static void an_object_blocked_by_the_tool_is_shown_where_it_stopped(void)
{
	fixture f;
	fixture_build(
		&f,
		BALL PLAIN
		"objects:\n"
		"- {name: floor, material: m, position_m: [0, 0, -0.05], "
		"shapes: [{kind: box, size_m: [0.4, 0.4, 0.1], segments: 4}]}\n"
		"- {name: press, material: m, "
		"shapes: [{kind: box, size_m: [0.1, 0.1, 0.02], segments: 3}], "
		"path: [{time_s: 0, position_m: [0, 0, 0.06]}, {time_s: 0.5, position_m: [0, 0, 0.012]}, "
		"{time_s: 1, position_m: [0, 0, 0.06]}]}\n",
		"wide", tac_servo_def_default());
	int blocked_ticks = 0;
	for (int i = 0; i < 1000; i++) {
		const tac_snapshot *s = step_to(&f, tac_dvec3_make(0, 0, 0.012));
		const double press_bottom = s->T_world_objects[1].position.z - 0.01;
		TEST_ASSERT_TRUE(press_bottom >= s->T_world_sco.position.z + 0.01);
		TEST_ASSERT_TRUE(s->T_world_sco.position.z >= 0.01);
		TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, s->state);
		TEST_ASSERT_EQUAL_UINT64(0, s->faults);
		const double path = tac_world_object_pose(f.world, 1, f.now_ns - MS).position.z;
		if (path < 0.029) {
			blocked_ticks++;
			TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0.03, s->T_world_objects[1].position.z);
		}
	}
	TEST_ASSERT_TRUE(blocked_ticks > 100);
	fixture_fini(&f);
}

// ---- the mapping ----

static void the_workspace_is_scaled_rotated_and_translated_and_the_force_rotated_back(void)
{
	fixture f;
	fixture_build(&f,
		      "scene: t\ntools: [{name: ball, axes: 3, "
		      "shapes: [{kind: solids, solids: \"sphere:r=0.01\"}], mapping: {workspace_scale: 2, "
		      "rotation_rad: [1.5707963267948966, 0, 0], position_m: [0.01, 0, 0]}}]\n" PLAIN FLOOR,
		      "wide", tac_servo_def_default());
	// The device's y is the world's z.
	step_to(&f, tac_dvec3_make(0, 0.02, 0));
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0.001, 0.0025, 0), 200);
	assert_near(tac_dvec3_make(0.012, 0, 0.005), s->T_world_device.position, 1e-12);
	assert_near(tac_dvec3_make(0, 2.505, 0), f.hand.wrench.force_N, 0.01);
	fixture_fini(&f);
}

static void while_the_clutch_is_held_the_tool_stays(void)
{
	fixture f;
	fixture_build(&f,
		      "scene: t\ntools: [{name: ball, axes: 3, "
		      "shapes: [{kind: solids, solids: \"sphere:r=0.01\"}], "
		      "mapping: {clutch_button: 1}}]\n" PLAIN FLOOR,
		      "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0, 0, 0.03));
	f.hand.state.buttons = 2;
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0.02, 0, -0.03), 50);
	assert_near(tac_dvec3_make(0, 0, 0.03), s->T_world_sco.position, 1e-12);
	assert_near(tac_dvec3_zero(), f.hand.wrench.force_N, 0);
	TEST_ASSERT_EQUAL(TAC_SERVO_CLUTCHED, s->state);
	f.hand.state.buttons = 0;
	step_to(&f, tac_dvec3_make(0.02, 0, -0.03));
	s = move_to(&f, tac_dvec3_make(0.021, 0, -0.029), 10);
	assert_near(tac_dvec3_make(0.001, 0, 0.031), s->T_world_sco.position, 1e-12);
	fixture_fini(&f);
}

// ---- repeatability ----

// A random path through free space and into the floor, with rotations.
static void wander(fixture *f, int ticks, tac_snapshot *out)
{
	tac_rng rng = tac_rng_seed(5, 6);
	tac_dvec3 v = tac_dvec3_zero(), w = tac_dvec3_zero();
	f->hand.state.T_base_tool = tac_dpose_make(tac_dvec3_make(0, 0, 0.04), tac_dquat_identity());
	for (int i = 0; i < ticks; i++) {
		tac_dpose *T = &f->hand.state.T_base_tool;
		v = tac_dvec3_scale(tac_dvec3_add_scaled(v, 3e-5, tac_rng_unit_f64(&rng)), 0.98);
		w = tac_dvec3_scale(tac_dvec3_add_scaled(w, 1e-3, tac_rng_unit_f64(&rng)), 0.98);
		v = tac_dvec3_add_scaled(v, -2e-3, tac_dvec3_sub(T->position, tac_dvec3_make(0, 0, 0.008)));
		T->rotation = tac_dquat_normalize(tac_dquat_mul(tac_dquat_exp(w), T->rotation));
		out[i] = *step_to(f, tac_dvec3_add(T->position, v));
	}
}

static void assert_same(const tac_snapshot *a, const tac_snapshot *b, int count)
{
	for (int i = 0; i < count; i++) {
		TEST_ASSERT_EQUAL_MEMORY(&a[i].T_world_sco, &b[i].T_world_sco, sizeof a[i].T_world_sco);
		TEST_ASSERT_EQUAL_MEMORY(&a[i].sent, &b[i].sent, sizeof a[i].sent);
		TEST_ASSERT_EQUAL_INT(a[i].contact_count, b[i].contact_count);
		TEST_ASSERT_EQUAL_UINT32(a[i].sco_flags, b[i].sco_flags);
	}
}

#define BRICK                                                                                                \
	"scene: t\ntools: [{name: brick, shapes: [{kind: box, size_m: [0.03, 0.02, 0.01], segments: 2}]}]\n"
#define ROUGH "materials: [{name: m, stiffness_N_per_m: 500, static_friction: 0.4, dynamic_friction: 0.3}]\n"
#define TICKS 400

typedef struct job {
	const tac_world *world;
	tac_snapshot *out;
} job;

static void *run_job(void *user)
{
	job *j = user;
	fixture f = {0};
	puppet_init(&f.hand);
	tac_servo_def def = tac_servo_def_default();
	def.world = j->world;
	def.device = &f.hand.base;
	if (tac_servo_create(&def, &f.servo) == TAC_OK)
		wander(&f, TICKS, j->out);
	tac_servo_destroy(&f.servo);
	return NULL;
}

static void a_replay_and_two_threads_on_one_world_give_the_same_bits(void)
{
	fixture f;
	tac_snapshot *out = calloc(3 * TICKS, sizeof *out);
	fixture_build(&f, BRICK ROUGH FLOOR, "wide", tac_servo_def_default());
	wander(&f, TICKS, out);
	int touching = 0;
	for (int i = 0; i < TICKS; i++)
		touching += out[i].contact_count > 0;
	TEST_ASSERT_TRUE(touching > TICKS / 10);
	job jobs[2] = {{f.world, out + TICKS}, {f.world, out + 2 * TICKS}};
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		TEST_ASSERT_EQUAL_INT(0, pthread_create(&threads[i], NULL, run_job, &jobs[i]));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_same(out, out + TICKS, TICKS);
	assert_same(out, out + 2 * TICKS, TICKS);
	free(out);
	fixture_fini(&f);
}

// The device jumps; the SCO may follow over several ticks.
static void a_rotation_of_two_radians_in_free_space_ends_at_the_device(void)
{
	fixture f;
	fixture_build(&f, BRICK PLAIN FLOOR, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0, 0, 0.1));
	f.hand.state.T_base_tool.rotation = tac_dquat_exp(tac_dvec3_make(1.2, -1.2, 1.0583));
	const tac_snapshot *s = NULL;
	for (int i = 0; i < 5; i++)
		s = step_to(&f, tac_dvec3_make(0.01, 0, 0.1));
	const tac_dquat difference = tac_dquat_mul(f.hand.state.T_base_tool.rotation,
						   tac_dquat_conjugate(s->T_world_sco.rotation));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, tac_dquat_angle(difference));
	assert_near(tac_dvec3_make(0.01, 0, 0.1), s->T_world_sco.position, 1e-9);
	fixture_fini(&f);
}

// A faceted tool would rest lower, by the sagitta of its facets, some hundredths of a millimetre, and by a
// different amount in each orientation.
static void a_sphere_and_a_capsule_are_exact_in_every_orientation(void)
{
	static const struct {
		const char *shape;
		double half_height_m;
	} tools[] = {
		{"{kind: solids, solids: \"sphere:r=0.01\"}", 0},
		{"{kind: solids, solids: \"capsule:r=0.01,h=0.04\"}", 0.02},
		{"{kind: sphere, radius_m: 0.01}", 0},
		{"{kind: capsule, radius_m: 0.01, height_m: 0.04}", 0.02},
	};
	for (int i = 0; i < 4; i++) {
		char text[1024];
		snprintf(text, sizeof text, "scene: t\ntools: [{name: ball, axes: 6, shapes: [%s]}]\n%s",
			 tools[i].shape, PLAIN FLOOR);
		fixture f;
		fixture_build(&f, text, "wide", tac_servo_def_default());
		tac_rng rng = tac_rng_seed(3, (uint64_t)i);
		for (int k = 0; k < 20; k++) {
			f.hand.state.T_base_tool.rotation = tac_dquat_exp(
				tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, 3)));
			move_to(&f, tac_dvec3_make(0, 0, 0.06), 40);
			const tac_snapshot *s = move_to(&f, tac_dvec3_make(0.01, 0, 0.005), 200);
			s = move_to(&f, tac_dvec3_make(0.01, 0, 0.005), 20);
			// From the origin to the centre of the capsule's lower end; the floor may have turned
			// it.
			const tac_dvec3 along = tac_dquat_rotate(
				s->T_world_sco.rotation, tac_dvec3_make(0, 0, tools[i].half_height_m));
			TEST_ASSERT_DOUBLE_WITHIN(0.5 * HOLD_GAP_M, 0.01 + HOLD_GAP_M,
						  s->T_world_sco.position.z - fabs(along.z));
			TEST_ASSERT_TRUE(s->contact_count >= 1);
		}
		fixture_fini(&f);
	}
}

// The meshes differ in resolution, on either side of the limit at which the mover's budget changes.
static void a_sphere_renders_the_same_forces_in_every_spelling(void)
{
	static const char *const shapes[] = {
		"{kind: solids, solids: \"sphere:r=0.01\", position_m: [0.002, 0, 0.003]}",
		"{kind: sphere, radius_m: 0.01, subdivisions: 2, position_m: [0.002, 0, 0.003]}",
		"{kind: sphere, radius_m: 0.01, subdivisions: 6, position_m: [0.002, 0, 0.003]}",
	};
	tac_snapshot *out = calloc(3 * TICKS, sizeof *out);
	for (int i = 0; i < 3; i++) {
		char text[1024];
		snprintf(text, sizeof text, "scene: t\ntools: [{name: ball, shapes: [%s]}]\n%s", shapes[i],
			 ROUGH FLOOR);
		fixture f;
		fixture_build(&f, text, "wide", tac_servo_def_default());
		wander(&f, TICKS, out + i * TICKS);
		fixture_fini(&f);
	}
	int touching = 0;
	for (int i = 0; i < TICKS; i++)
		touching += out[i].contact_count > 0;
	TEST_ASSERT_TRUE(touching > TICKS / 10);
	assert_same(out, out + TICKS, TICKS);
	assert_same(out, out + 2 * TICKS, TICKS);
	free(out);
}

static void a_tick_allocates_nothing(void)
{
	fixture f;
	static tac_snapshot out[TICKS];
	fixture_build(&f, BRICK ROUGH FLOOR, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0, 0, 0.04));
	const int before = allocations;
	wander(&f, TICKS, out);
	TEST_ASSERT_EQUAL_INT(before, allocations);
	void *volatile planted = malloc(1); // proves that allocations are counted
	free(planted);
	TEST_ASSERT_TRUE(allocations > before);
	fixture_fini(&f);
}

// ---- snapshots ----

typedef struct watcher {
	tac_servo *servo;
	_Atomic bool stop;
	int64_t seen, last, backwards, torn;
} watcher;

static void *watch(void *user)
{
	watcher *w = user;
	bool last;
	do { // once more after the writer has ended, even if this thread was held up until then
		last = w->stop;
		const tac_snapshot *s = tac_servo_snapshot(w->servo, 1);
		if (!s)
			continue;
		w->seen++;
		w->backwards += s->tick < w->last;
		w->last = s->tick;
		w->torn += s->time_ns != s->tick * MS;
	} while (!last);
	return NULL;
}

static void another_thread_reads_complete_snapshots_in_order(void)
{
	fixture f;
	static tac_snapshot out[TICKS];
	tac_servo_def def = tac_servo_def_default();
	def.readers = 2;
	fixture_build(&f, BRICK ROUGH FLOOR, "wide", def);
	watcher w = {.servo = f.servo};
	pthread_t thread;
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, watch, &w));
	wander(&f, TICKS, out);
	w.stop = true;
	pthread_join(thread, NULL);
	TEST_ASSERT_TRUE(w.seen > 0);
	TEST_ASSERT_EQUAL_INT64(0, w.backwards);
	TEST_ASSERT_EQUAL_INT64(0, w.torn);
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_replay_and_two_threads_on_one_world_give_the_same_bits);
	RUN_TEST(another_thread_reads_complete_snapshots_in_order);
	if (TAC_TEST_THREADS_ONLY)
		return UNITY_END();
	RUN_TEST(in_free_motion_the_sco_follows_the_device_without_force);
	RUN_TEST(pushing_five_millimetres_into_a_plane_at_500_N_per_m_gives_two_and_a_half_newtons);
	RUN_TEST(sliding_below_a_frictionless_surface_exerts_no_drag);
	RUN_TEST(a_squeezed_gripper_rests_where_fingers_and_spring_balance);
	RUN_TEST(a_chip_error_is_noticed_while_the_tool_rests);
	RUN_TEST(a_chip_error_holds_the_pose_and_lowers_the_force);
	RUN_TEST(a_tool_that_begins_in_contact_waits_until_it_is_free);
	RUN_TEST(a_waiting_tool_does_not_miss_a_short_free_moment);
	RUN_TEST(a_tool_that_begins_inside_a_solid_waits_until_it_is_outside);
	RUN_TEST(the_release_test_of_a_large_mesh_is_spread_over_ticks);
	RUN_TEST(invalid_poses_are_refused_and_do_no_harm);
	RUN_TEST(a_lost_device_gets_no_force_and_an_emergency_stop_cuts_at_once);
	RUN_TEST(a_loop_at_100_Hz_is_not_stalled);
	RUN_TEST(an_object_blocked_by_the_tool_is_shown_where_it_stopped);
	RUN_TEST(the_workspace_is_scaled_rotated_and_translated_and_the_force_rotated_back);
	RUN_TEST(while_the_clutch_is_held_the_tool_stays);
	RUN_TEST(a_rotation_of_two_radians_in_free_space_ends_at_the_device);
	RUN_TEST(a_sphere_and_a_capsule_are_exact_in_every_orientation);
	RUN_TEST(a_sphere_renders_the_same_forces_in_every_spelling);
	RUN_TEST(a_tick_allocates_nothing);
	return UNITY_END();
}
