// The whole tick against closed forms: a puppet device whose pose the test sets, scenes as text.
#include "base/rng.h"
#include "tests/allocations.h"
#include "tests/servo_fixture.h"

#include <stdlib.h>

void setUp(void)
{
}

void tearDown(void)
{
}

#define BALL "scene: t\ntools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: \"sphere:r=0.01\"}]}]\n"
#define FLOOR                                                                                                \
	"objects: [{name: floor, material: m, position_m: [0, 0, -0.05], shapes: [{kind: box, size_m: "      \
	"[0.4, 0.4, "                                                                                        \
	"0.1], segments: 6}]}]\n"
#define PLAIN "materials: [{name: m, stiffness_N_per_m: 500}]\n"

static tac_servo_def offline(void)
{
	tac_servo_def def = tac_servo_def_default();
	def.budget_ns = 0;
	return def;
}

// The hold gap is part of the offset: the SCO stands 10 um above the surface.
#define GAP 1e-5

// SPEC E03.
static void in_free_motion_the_sco_is_the_device_and_there_is_no_force(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", offline());
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

// SPEC E04.
static void pushing_five_millimetres_into_a_plane_at_500_N_per_m_gives_two_and_a_half_newtons(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", offline());
	step_to(&f, tac_dvec3_make(0.003, 0.002, 0.03));
	move_to(&f, tac_dvec3_make(0.003, 0.002, 0.01), 100);
	move_to(&f, tac_dvec3_make(0.003, 0.002, 0.005), 50);
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0.003, 0.002, 0.005), 10);
	assert_near(tac_dvec3_make(0, 0, 2.5), f.hand.wrench.force_N, 0.01);
	assert_near(tac_dvec3_make(0, 0, 500 * (0.005 + GAP)), f.hand.wrench.force_N, 1e-4);
	assert_near(tac_dvec3_make(0.003, 0.002, 0.01 + GAP), s->T_world_sco.position, 1e-7);
	TEST_ASSERT_TRUE(s->contact_count >= 1);
	double sum = 0;
	for (int32_t i = 0; i < s->contact_count; i++)
		sum += s->contacts[i].force_N.z;
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 2.5, sum);
	fixture_fini(&f);
}

static void sliding_under_the_surface_drags_nothing_without_friction(void)
{
	fixture f;
	fixture_build(&f, BALL PLAIN FLOOR, "wide", offline());
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

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(in_free_motion_the_sco_is_the_device_and_there_is_no_force);
	RUN_TEST(pushing_five_millimetres_into_a_plane_at_500_N_per_m_gives_two_and_a_half_newtons);
	RUN_TEST(sliding_under_the_surface_drags_nothing_without_friction);
	return UNITY_END();
}
