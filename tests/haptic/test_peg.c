// Peg in hole through the whole tick, for several clearances: the peg's final pose, and the directions of
// force and torque. The block stands on a floor, so the hole has a bottom.
#include "tests/support/limits.h"
#include "tests/support/servo_fixture.h"

#include <stdio.h>

void setUp(void)
{
}

void tearDown(void)
{
}

#define K       1000.0 // N/m
#define ARM     0.03   // m: the angular stiffness is K times its square
#define RADIUS  0.01
#define LENGTH  0.06
#define CHAMFER 0.001
#define HEIGHT  0.04 // of the block, about z = 0
#define SIDES   32
#define HOLD    700 // ticks to settle: in a tight hole many triangles are close, and the mover's budget is short

// Heights of the peg's centre: standing on the floor, and with its lower end level with the block's top.
#define BOTTOM (-HEIGHT / 2 + LENGTH / 2 + HOLD_GAP_M)
#define MOUTH  (HEIGHT / 2 + LENGTH / 2)

static const double clearances[] = {1e-3, 0.5e-3, 0.2e-3, 0.1e-3, 0.05e-3}; // of the diameters
#define CLEARANCES (int)(sizeof clearances / sizeof *clearances)
#define STRIDE     (test_long() && !TAC_TEST_SANITIZED ? 1 : CLEARANCES - 1)

static void build(fixture *f, double clearance)
{
	char text[1024];
	snprintf(text, sizeof text,
		 "scene: t\nmaterials: [{name: m, stiffness_N_per_m: %g, smooth: false}]\n"
		 "tools: [{name: peg, turn_arm_m: %g, shapes: [{kind: peg, radius_m: %g, height_m: %g, "
		 "chamfer_m: %g, segments: %d, rings: 4}]}]\n"
		 "objects:\n"
		 "- {name: block, material: m, shapes: [{kind: block, radius_m: %g, clearance_m: %.9g, "
		 "size_m: [0.05, 0.05, %g], segments: %d, rings: 4}]}\n"
		 "- {name: floor, material: m, position_m: [0, 0, %g], "
		 "shapes: [{kind: box, size_m: [0.1, 0.1, 0.01], segments: 1}]}\n",
		 K, ARM, RADIUS, LENGTH, CHAMFER, SIDES, RADIUS, 0.5 * clearance, HEIGHT, SIDES,
		 -HEIGHT / 2 - 0.005);
	fixture_build(f, text, "wide", tac_servo_def_default());
}

// Moves the hand from above the hole to `to`, at most 0.1 mm per tick, rotated by `turn_rad`, and waits.
static const tac_snapshot *push(fixture *f, tac_dvec3 from, tac_dvec3 to, tac_dvec3 turn_rad)
{
	f->hand.state.T_base_tool.rotation = tac_dquat_exp(turn_rad);
	step_to(f, from);
	move_to(f, to, 1 + (int)(tac_dvec3_length(tac_dvec3_sub(to, from)) / 1e-4));
	return move_to(f, to, HOLD);
}

static void a_centred_peg_slides_to_the_bottom_without_side_force(void)
{
	for (int i = 0; i < CLEARANCES; i += STRIDE) {
		fixture f;
		build(&f, clearances[i]);
		step_to(&f, tac_dvec3_make(0, 0, 0.06));
		for (int k = 0; k < 1400; k++) {
			const double z = fmax(BOTTOM - 0.002, 0.06 - 4e-5 * k);
			const tac_snapshot *s = step_to(&f, tac_dvec3_make(0, 0, z));
			const tac_wrench w = f.hand.wrench;
			TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, hypot(w.force_N.x, w.force_N.y));
			TEST_ASSERT_DOUBLE_WITHIN(1e-8, 0, tac_dvec3_length(w.torque_Nm));
			// Only at the bottom is there a force along the axis.
			TEST_ASSERT_DOUBLE_WITHIN(1e-3, K * fmax(BOTTOM - HOLD_GAP_M - z, 0), w.force_N.z);
			TEST_ASSERT_DOUBLE_WITHIN(1e-6, fmax(BOTTOM, z), s->T_world_sco.position.z);
		}
		TEST_ASSERT_DOUBLE_WITHIN(1e-3, K * (0.002 - HOLD_GAP_M), f.hand.wrench.force_N.z);
		fixture_fini(&f);
	}
}

// How far the peg can move sideways in the direction of one of its corners, until the corner comes as close
// as `gap` to a flat of the hole.
static double side_play(double clearance, double gap)
{
	return (RADIUS + 0.5 * clearance - gap) / cos(3.14159265358979 / SIDES) - RADIUS;
}

static void an_offset_peg_slides_in_over_its_chamfer_and_is_pushed_back_to_the_axis(void)
{
	for (int i = 0; i < CLEARANCES; i += STRIDE) {
		for (int side = -1; side <= 1; side += 2) {
			fixture f;
			build(&f, clearances[i]);
			const double x = side * 0.8 * CHAMFER;
			const tac_snapshot *s = push(&f, tac_dvec3_make(x, 0, 0.06),
						     tac_dvec3_make(x, 0, 0.012), tac_dvec3_zero());
			const tac_dvec3 force = f.hand.wrench.force_N, torque = f.hand.wrench.torque_Nm;
			TEST_ASSERT_DOUBLE_WITHIN(1e-5, 0.012, s->T_world_sco.position.z);
			// The peg's centre is between the ends that the hole holds, so the peg does not tilt.
			const double aside = fmin(side_play(clearances[i], HOLD_GAP_M), 0.8 * CHAMFER);
			const double touch = fmin(side_play(clearances[i], 0), 0.8 * CHAMFER);
			TEST_ASSERT_DOUBLE_WITHIN(2e-6, side * aside, s->T_world_sco.position.x);
			TEST_ASSERT_DOUBLE_WITHIN(5e-3, -side * K * (0.8 * CHAMFER - touch), force.x);
			TEST_ASSERT_DOUBLE_WITHIN(5e-3, 0, force.y);
			TEST_ASSERT_DOUBLE_WITHIN(5e-3, 0, force.z);
			TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, tac_dvec3_length(torque));
			fixture_fini(&f);
		}
	}
}

// How far the peg can tilt about its centre, until it touches the rim above, and below with the end of its
// chamfer.
static double tilt_play(double clearance)
{
	return 2 * side_play(clearance, HOLD_GAP_M) / (HEIGHT - CHAMFER);
}

static void a_tilted_peg_slides_to_the_bottom_and_is_turned_back_upright(void)
{
	static const tac_dvec3 axes[] = {{1, 0, 0}, {0, -1, 0}};
	const double tilt = 0.06;
	for (int i = 0; i < CLEARANCES; i += STRIDE) {
		for (int axis = 0; axis < 2; axis++) {
			fixture f;
			build(&f, clearances[i]);
			const tac_snapshot *s =
				push(&f, tac_dvec3_make(0, 0, 0.07), tac_dvec3_make(0, 0, BOTTOM),
				     tac_dvec3_scale(axes[axis], tilt));
			const double turned =
				tac_dvec3_dot(tac_dquat_log(s->T_world_sco.rotation), axes[axis]);
			const tac_dvec3 torque = f.hand.wrench.torque_Nm;
			// Tilted, it stands on its lower edge, and its centre is slightly higher.
			TEST_ASSERT_DOUBLE_WITHIN(RADIUS * tilt_play(clearances[i]), BOTTOM,
						  s->T_world_sco.position.z);
			TEST_ASSERT_DOUBLE_WITHIN(0.02 * tilt_play(clearances[i]), tilt_play(clearances[i]),
						  turned);
			TEST_ASSERT_DOUBLE_WITHIN(0.02 * K * ARM * ARM * tilt,
						  -K * ARM * ARM * (tilt - tilt_play(clearances[i])),
						  tac_dvec3_dot(torque, axes[axis]));
			TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0,
						  tac_dvec3_length(tac_dvec3_cross(torque, axes[axis])));
			fixture_fini(&f);
		}
	}
}

static void an_offset_and_tilted_peg_slides_to_the_bottom(void)
{
	for (int i = 0; i < CLEARANCES; i += STRIDE) {
		fixture f;
		build(&f, clearances[i]);
		const double x = 0.0005, tilt = 0.02;
		const tac_snapshot *s =
			push(&f, tac_dvec3_make(x, 0, 0.06), tac_dvec3_make(x, 0, BOTTOM - 0.002),
			     tac_dvec3_make(0, tilt, 0));
		// Pressed flat onto the floor it is upright: torque and side force correspond to the whole
		// deviation.
		const double touch = fmin(side_play(clearances[i], 0), x);
		TEST_ASSERT_DOUBLE_WITHIN(2e-6, BOTTOM, s->T_world_sco.position.z);
		TEST_ASSERT_DOUBLE_WITHIN(5e-3, K * (0.002 - HOLD_GAP_M), f.hand.wrench.force_N.z);
		TEST_ASSERT_DOUBLE_WITHIN(5e-3, -K * (x - touch), f.hand.wrench.force_N.x);
		TEST_ASSERT_DOUBLE_WITHIN(0.02 * K * ARM * ARM * tilt, -K * ARM * ARM * tilt,
					  f.hand.wrench.torque_Nm.y);
		fixture_fini(&f);
	}
}

static void a_peg_offset_beyond_its_chamfer_stays_on_the_top(void)
{
	for (int i = 0; i < CLEARANCES; i += STRIDE) {
		fixture f;
		build(&f, clearances[i]);
		const double x = 3 * CHAMFER;
		const tac_snapshot *s = push(&f, tac_dvec3_make(x, 0, 0.06),
					     tac_dvec3_make(x, 0, MOUTH - 0.003), tac_dvec3_zero());
		TEST_ASSERT_DOUBLE_WITHIN(5e-5, MOUTH, s->T_world_sco.position.z);
		TEST_ASSERT_DOUBLE_WITHIN(0.05, 3, f.hand.wrench.force_N.z);
		// Over the hole nothing supports it: it tilts towards the hole, and the hand feels the
		// torque.
		TEST_ASSERT_TRUE(f.hand.wrench.torque_Nm.y < 0);
		fixture_fini(&f);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_centred_peg_slides_to_the_bottom_without_side_force);
	RUN_TEST(an_offset_peg_slides_in_over_its_chamfer_and_is_pushed_back_to_the_axis);
	RUN_TEST(a_tilted_peg_slides_to_the_bottom_and_is_turned_back_upright);
	RUN_TEST(an_offset_and_tilted_peg_slides_to_the_bottom);
	RUN_TEST(a_peg_offset_beyond_its_chamfer_stays_on_the_top);
	return UNITY_END();
}
