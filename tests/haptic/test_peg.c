// A peg and its hole through the whole tick, by clearance: where the peg ends, and which way force and torque
// push. The block stands on a floor, so the hole has a bottom.
#include "tests/limits.h"
#include "tests/servo_fixture.h"

#include <stdio.h>

void setUp(void)
{
}

void tearDown(void)
{
}

#define K       1000.0 // N/m
#define ARM     0.03   // m: the turn stiffness is K times its square
#define RADIUS  0.01
#define LENGTH  0.06
#define CHAMFER 0.001
#define HEIGHT  0.04 // of the block, about z = 0
#define GAP     1e-5 // that the mover holds
#define SIDES   32
#define HOLD    700 // ticks: turned in a tight hole, many triangles are near, and the mover takes its time

// Where the middle of the peg is when it stands on the floor, and when its lower end is level with the top.
#define BOTTOM (-HEIGHT / 2 + LENGTH / 2 + GAP)
#define MOUTH  (HEIGHT / 2 + LENGTH / 2)

static const double clearances[] = {1e-3, 0.5e-3, 0.2e-3, 0.1e-3, 0.05e-3}; // of the diameters
#define CLEARANCES (int)(sizeof clearances / sizeof *clearances)
#define STRIDE     (TAC_TEST_SANITIZED ? 4 : 1)

static void build(fixture *f, double clearance)
{
	char text[1024];
	snprintf(text, sizeof text,
		 "scene: t\nmaterials: [{name: m, stiffness_N_per_m: %g}]\n"
		 "tools: [{name: peg, turn_arm_m: %g, shapes: [{kind: peg, radius_m: %g, height_m: %g, "
		 "chamfer_m: %g, segments: %d, rings: 4}]}]\n"
		 "objects:\n- {name: block, material: m, shapes: [{kind: block, radius_m: %g, clearance_m: "
		 "%.9g, size_m: [0.05, 0.05, %g], segments: %d, rings: 4}]}\n"
		 "- {name: floor, material: m, position_m: [0, 0, %g], shapes: [{kind: box, size_m: [0.1, "
		 "0.1, 0.01], segments: 1}]}\n",
		 K, ARM, RADIUS, LENGTH, CHAMFER, SIDES, RADIUS, 0.5 * clearance, HEIGHT, SIDES,
		 -HEIGHT / 2 - 0.005);
	tac_servo_def def = tac_servo_def_default();
	def.budget_ns = 0;
	fixture_build(f, text, "wide", def);
}

// From above the hole to `to`, in ticks of at most 0.1 mm, turned by `turn_rad` all the way.
static const tac_snapshot *push(fixture *f, tac_dvec3 from, tac_dvec3 to, tac_dvec3 turn_rad)
{
	f->hand.state.T_base_tool.rotation = tac_dquat_exp(turn_rad);
	step_to(f, from);
	move_to(f, to, 1 + (int)(tac_dvec3_length(tac_dvec3_sub(to, from)) / 1e-4));
	return move_to(f, to, HOLD);
}

static void straight_above_it_slides_to_the_bottom_without_a_side_force(void)
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
			// Once at the bottom, and not before, it pushes back along the axis.
			TEST_ASSERT_DOUBLE_WITHIN(1e-3, K * fmax(BOTTOM - z, 0), w.force_N.z);
			TEST_ASSERT_DOUBLE_WITHIN(1e-6, fmax(BOTTOM, z), s->T_world_sco.position.z);
		}
		TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2, f.hand.wrench.force_N.z);
		fixture_fini(&f);
	}
}

// Where the peg's corners meet the hole's flats, how far it can go aside in the direction of a corner.
static double play(double clearance)
{
	return (RADIUS + 0.5 * clearance - GAP) / cos(3.14159265358979 / SIDES) - RADIUS;
}

static void beside_the_axis_it_slides_in_over_its_chamfer_and_is_pushed_back_to_the_axis(void)
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
			// Its middle is between the ends that the hole holds, so it does not tilt.
			const double aside = fmin(play(clearances[i]), 0.8 * CHAMFER);
			TEST_ASSERT_DOUBLE_WITHIN(2e-6, side * aside, s->T_world_sco.position.x);
			TEST_ASSERT_DOUBLE_WITHIN(5e-3, -side * K * (0.8 * CHAMFER - aside), force.x);
			TEST_ASSERT_DOUBLE_WITHIN(5e-3, 0, force.y);
			TEST_ASSERT_DOUBLE_WITHIN(5e-3, 0, force.z);
			TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, tac_dvec3_length(torque));
			fixture_fini(&f);
		}
	}
}

// How far it can tilt about its middle: until it touches the rim above, and below with what the chamfer left.
static double slack(double clearance)
{
	return 2 * play(clearance) / (HEIGHT - CHAMFER);
}

static void tilted_it_slides_to_the_bottom_and_is_turned_back_upright(void)
{
	static const tac_dvec3 ways[] = {{1, 0, 0}, {0, -1, 0}};
	const double tilt = 0.06;
	for (int i = 0; i < CLEARANCES; i += STRIDE) {
		for (int way = 0; way < 2; way++) {
			fixture f;
			build(&f, clearances[i]);
			const tac_snapshot *s =
				push(&f, tac_dvec3_make(0, 0, 0.07), tac_dvec3_make(0, 0, BOTTOM),
				     tac_dvec3_scale(ways[way], tilt));
			const double turned =
				tac_dvec3_dot(tac_dquat_log(s->T_world_sco.rotation), ways[way]);
			const tac_dvec3 torque = f.hand.wrench.torque_Nm;
			// Tilted, its lower edge is on the floor, and its middle a little higher.
			TEST_ASSERT_DOUBLE_WITHIN(RADIUS * slack(clearances[i]), BOTTOM,
						  s->T_world_sco.position.z);
			TEST_ASSERT_DOUBLE_WITHIN(0.02 * slack(clearances[i]), slack(clearances[i]), turned);
			TEST_ASSERT_DOUBLE_WITHIN(0.02 * K * ARM * ARM * tilt,
						  -K * ARM * ARM * (tilt - slack(clearances[i])),
						  tac_dvec3_dot(torque, ways[way]));
			TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0,
						  tac_dvec3_length(tac_dvec3_cross(torque, ways[way])));
			fixture_fini(&f);
		}
	}
}

static void beside_the_axis_and_tilted_it_slides_to_the_bottom_all_the_same(void)
{
	for (int i = 0; i < CLEARANCES; i += STRIDE) {
		fixture f;
		build(&f, clearances[i]);
		const double x = 0.0005, tilt = 0.02;
		const tac_snapshot *s =
			push(&f, tac_dvec3_make(x, 0, 0.06), tac_dvec3_make(x, 0, BOTTOM - 0.002),
			     tac_dvec3_make(0, tilt, 0));
		// Pressed flat onto the floor it is upright: torque and side force are those of the whole way
		// back.
		const double aside = fmin(play(clearances[i]), x);
		TEST_ASSERT_DOUBLE_WITHIN(2e-6, BOTTOM, s->T_world_sco.position.z);
		TEST_ASSERT_DOUBLE_WITHIN(5e-3, 2, f.hand.wrench.force_N.z);
		TEST_ASSERT_DOUBLE_WITHIN(5e-3, -K * (x - aside), f.hand.wrench.force_N.x);
		TEST_ASSERT_DOUBLE_WITHIN(0.02 * K * ARM * ARM * tilt, -K * ARM * ARM * tilt,
					  f.hand.wrench.torque_Nm.y);
		fixture_fini(&f);
	}
}

static void beyond_its_chamfer_it_stays_on_the_top(void)
{
	for (int i = 0; i < CLEARANCES; i += STRIDE) {
		fixture f;
		build(&f, clearances[i]);
		const double x = 3 * CHAMFER;
		const tac_snapshot *s = push(&f, tac_dvec3_make(x, 0, 0.06),
					     tac_dvec3_make(x, 0, MOUTH - 0.003), tac_dvec3_zero());
		TEST_ASSERT_DOUBLE_WITHIN(5e-5, MOUTH, s->T_world_sco.position.z);
		TEST_ASSERT_DOUBLE_WITHIN(0.05, 3, f.hand.wrench.force_N.z);
		// Over the hole nothing holds it: it leans that way, and turns the hand with it.
		TEST_ASSERT_TRUE(f.hand.wrench.torque_Nm.y < 0);
		fixture_fini(&f);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(straight_above_it_slides_to_the_bottom_without_a_side_force);
	RUN_TEST(beside_the_axis_it_slides_in_over_its_chamfer_and_is_pushed_back_to_the_axis);
	RUN_TEST(tilted_it_slides_to_the_bottom_and_is_turned_back_upright);
	RUN_TEST(beside_the_axis_and_tilted_it_slides_to_the_bottom_all_the_same);
	RUN_TEST(beyond_its_chamfer_it_stays_on_the_top);
	return UNITY_END();
}
