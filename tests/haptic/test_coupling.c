// Oracles: springs in closed form, and the gradient of the energy by finite differences.
#include "haptic/coupling.h"

#include "base/rng.h"

#include <unity.h>

static const double pi = 3.14159265358979323846;

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_coupling_body at(double x, double y, double z)
{
	return (tac_coupling_body){.T_world_body = {tac_dvec3_make(x, y, z), tac_dquat_identity()}};
}

static tac_coupling_body somewhere(tac_rng *rng)
{
	tac_coupling_body body = {.T_world_body.rotation = tac_rng_rotation_f64(rng)};
	body.T_world_body.position = tac_dvec3_scale(tac_rng_unit_f64(rng), 0.1);
	body.velocity_m_per_s = tac_rng_unit_f64(rng);
	body.angular_velocity_rad_per_s = tac_rng_unit_f64(rng);
	return body;
}

static void assert_near(tac_dvec3 expected, tac_dvec3 actual, double tolerance)
{
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, 0, tac_dvec3_length(tac_dvec3_sub(expected, actual)));
}

static const tac_coupling both_laws[2] = {{500, 2, 3, 0.05, TAC_COUPLING_FULL},
					  {500, 2, 3, 0.05, TAC_COUPLING_CONSTRAINT}};

static void five_millimetres_at_500_newtons_a_metre_are_two_and_a_half_newtons(void)
{
	const tac_coupling_body device = at(0, 0, -0.005), sco = at(0, 0, 0);
	for (int i = 0; i < 2; i++) {
		const tac_wrench wrench = tac_coupling_wrench(&both_laws[i], &device, &sco);
		assert_near(tac_dvec3_make(0, 0, 2.5), wrench.force_N, 1e-14);
		assert_near(tac_dvec3_zero(), wrench.torque_Nm, 0);
	}
}

static void a_turn_is_answered_by_a_torque_about_its_axis(void)
{
	tac_rng rng = tac_rng_seed(1, 1);
	for (int i = 0; i < 1000; i++) {
		const tac_dvec3 axis = tac_rng_unit_f64(&rng);
		const double angle = tac_rng_range_f64(&rng, 1e-9, 3.1);
		tac_coupling_body device = somewhere(&rng), sco = device;
		sco.T_world_body.rotation =
			tac_dquat_mul(tac_dquat_from_axis_angle(axis, angle), device.T_world_body.rotation);
		for (int law = 0; law < 2; law++) {
			const tac_wrench wrench = tac_coupling_wrench(&both_laws[law], &device, &sco);
			assert_near(tac_dvec3_scale(axis, 3 * angle), wrench.torque_Nm, 1e-11);
			assert_near(tac_dvec3_zero(), wrench.force_N, 0);
		}
	}
}

static void where_both_are_one_there_is_no_force_at_any_speed(void)
{
	tac_rng rng = tac_rng_seed(2, 1);
	for (int i = 0; i < 100; i++) {
		const tac_coupling_body body = somewhere(&rng);
		for (int law = 0; law < 2; law++) {
			const tac_wrench wrench = tac_coupling_wrench(&both_laws[law], &body, &body);
			assert_near(tac_dvec3_zero(), wrench.force_N, 0);
			assert_near(tac_dvec3_zero(), wrench.torque_Nm, 1e-12);
		}
	}
}

static void sliding_along_a_surface_is_not_dragged(void)
{
	tac_coupling_body device = at(0.1, 0, -0.004), sco = at(0.1, 0, 0);
	device.velocity_m_per_s = sco.velocity_m_per_s = tac_dvec3_make(0.3, -0.2, 0);
	for (int law = 0; law < 2; law++)
		assert_near(tac_dvec3_make(0, 0, 2),
			    tac_coupling_wrench(&both_laws[law], &device, &sco).force_N, 1e-14);
	// Even where the SCO's velocity is not known, the constraint law does not drag; the full one does.
	sco.velocity_m_per_s = tac_dvec3_zero();
	assert_near(tac_dvec3_make(0, 0, 2), tac_coupling_wrench(&both_laws[1], &device, &sco).force_N,
		    1e-14);
	assert_near(tac_dvec3_make(-0.6, 0.4, 2), tac_coupling_wrench(&both_laws[0], &device, &sco).force_N,
		    1e-14);
}

static void damping_resists_going_in_and_the_constraint_never_holds_back(void)
{
	tac_coupling_body device = at(0, 0, -0.001);
	const tac_coupling_body sco = at(0, 0, 0);
	device.velocity_m_per_s = tac_dvec3_make(0, 0, -0.1);
	for (int law = 0; law < 2; law++)
		assert_near(tac_dvec3_make(0, 0, 0.7),
			    tac_coupling_wrench(&both_laws[law], &device, &sco).force_N, 1e-14);
	device.velocity_m_per_s.z = 1; // out, faster than the spring pushes
	assert_near(tac_dvec3_make(0, 0, -1.5), tac_coupling_wrench(&both_laws[0], &device, &sco).force_N,
		    1e-14);
	assert_near(tac_dvec3_zero(), tac_coupling_wrench(&both_laws[1], &device, &sco).force_N, 0);
}

static void the_wrench_is_the_slope_of_the_energy(void)
{
	tac_rng rng = tac_rng_seed(3, 1);
	tac_coupling coupling = both_laws[0];
	coupling.damping_N_s_per_m = coupling.turn_damping_Nm_s_per_rad = 0;
	for (int i = 0; i < 300; i++) {
		const tac_coupling_body device = somewhere(&rng), sco = somewhere(&rng);
		const tac_wrench wrench = tac_coupling_wrench(&coupling, &device, &sco);
		const tac_dvec3 way = tac_rng_unit_f64(&rng);
		const double h = 1e-5;
		double energy[2][2]; // moved, turned; back, forth
		for (int side = 0; side < 2; side++) {
			const tac_dvec3 step = tac_dvec3_scale(way, side ? h : -h);
			tac_dpose moved = device.T_world_body, turned = moved;
			moved.position = tac_dvec3_add(moved.position, step);
			turned.rotation = tac_dquat_mul(tac_dquat_exp(step), turned.rotation);
			energy[0][side] = tac_coupling_energy_J(&coupling, moved, sco.T_world_body);
			energy[1][side] = tac_coupling_energy_J(&coupling, turned, sco.T_world_body);
		}
		const double force = -(energy[0][1] - energy[0][0]) / (2 * h);
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, force, tac_dvec3_dot(wrench.force_N, way));
		if (tac_dvec3_length(wrench.torque_Nm) > 3 * 3.1) // near half a turn the energy has an edge
			continue;
		const double torque = -(energy[1][1] - energy[1][0]) / (2 * h);
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, torque, tac_dvec3_dot(wrench.torque_Nm, way));
	}
}

static void exactly_half_a_turn_apart_the_torque_is_finite_and_full(void)
{
	const tac_coupling_body device = at(0, 0, 0);
	tac_coupling_body sco = device;
	sco.T_world_body.rotation = tac_dquat_make(0, 1, 0, 0);
	const tac_wrench wrench = tac_coupling_wrench(&both_laws[0], &device, &sco);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3 * pi, tac_dvec3_length(wrench.torque_Nm));
}

static void what_holds_does_not_depend_on_the_frame(void)
{
	tac_rng rng = tac_rng_seed(4, 1);
	for (int law = 0; law < 2; law++) {
		for (int i = 0; i < 300; i++) {
			tac_coupling_body a = somewhere(&rng), b = somewhere(&rng);
			const tac_wrench here = tac_coupling_wrench(&both_laws[law], &a, &b);
			const tac_dpose T = somewhere(&rng).T_world_body;
			tac_coupling_body *const bodies[2] = {&a, &b};
			for (int k = 0; k < 2; k++) {
				bodies[k]->T_world_body = tac_dpose_compose(T, bodies[k]->T_world_body);
				bodies[k]->velocity_m_per_s =
					tac_dpose_apply_vector(T, bodies[k]->velocity_m_per_s);
				bodies[k]->angular_velocity_rad_per_s =
					tac_dpose_apply_vector(T, bodies[k]->angular_velocity_rad_per_s);
			}
			const tac_wrench there = tac_coupling_wrench(&both_laws[law], &a, &b);
			assert_near(tac_dpose_apply_vector(T, here.force_N), there.force_N, 1e-11);
			assert_near(tac_dpose_apply_vector(T, here.torque_Nm), there.torque_Nm, 1e-11);
		}
	}
}

static void materials_blend_by_load_and_bow_to_what_is_allowed(void)
{
	const tac_coupling_share shares[3] = {{1000, 1}, {400, 2}, {100, 0}};
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 600, tac_coupling_stiffness(shares, 3, 50, 1e9));
	TEST_ASSERT_DOUBLE_WITHIN(0, 350, tac_coupling_stiffness(shares, 3, 50, 350));
	TEST_ASSERT_DOUBLE_WITHIN(0, 50, tac_coupling_stiffness(shares, 0, 50, 350));
	const tac_coupling_share unloaded[2] = {{1000, 0}, {400, 0}};
	TEST_ASSERT_DOUBLE_WITHIN(0, 700, tac_coupling_stiffness(unloaded, 2, 50, 1e9));
}

static void softening_keeps_time_constants_and_never_stiffens(void)
{
	const tac_coupling soft = tac_coupling_soften(both_laws[0], 250);
	TEST_ASSERT_DOUBLE_WITHIN(0, 250, soft.stiffness_N_per_m);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1, soft.damping_N_s_per_m);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.5, soft.turn_stiffness_Nm_per_rad);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.025, soft.turn_damping_Nm_s_per_rad);
	const tac_coupling same = tac_coupling_soften(both_laws[0], 900);
	TEST_ASSERT_EQUAL_MEMORY(&both_laws[0], &same, sizeof same);
	TEST_ASSERT_DOUBLE_WITHIN(0, 0, tac_coupling_soften(both_laws[0], 0).turn_stiffness_Nm_per_rad);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(five_millimetres_at_500_newtons_a_metre_are_two_and_a_half_newtons);
	RUN_TEST(a_turn_is_answered_by_a_torque_about_its_axis);
	RUN_TEST(where_both_are_one_there_is_no_force_at_any_speed);
	RUN_TEST(sliding_along_a_surface_is_not_dragged);
	RUN_TEST(damping_resists_going_in_and_the_constraint_never_holds_back);
	RUN_TEST(the_wrench_is_the_slope_of_the_energy);
	RUN_TEST(exactly_half_a_turn_apart_the_torque_is_finite_and_full);
	RUN_TEST(what_holds_does_not_depend_on_the_frame);
	RUN_TEST(materials_blend_by_load_and_bow_to_what_is_allowed);
	RUN_TEST(softening_keeps_time_constants_and_never_stiffens);
	return UNITY_END();
}
