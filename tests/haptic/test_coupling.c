// Oracles: springs in closed form, and the gradient of the energy by finite differences.
#include "haptic/force/coupling.h"

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

static tac_coupling_body random_body(tac_rng *rng)
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

static void five_millimetres_at_500_newtons_per_metre_give_two_and_a_half_newtons(void)
{
	const tac_coupling_body device = at(0, 0, -0.005), sco = at(0, 0, 0);
	for (int i = 0; i < 2; i++) {
		const tac_wrench wrench = tac_coupling_wrench(&both_laws[i], &device, &sco);
		assert_near(tac_dvec3_make(0, 0, 2.5), wrench.force_N, 1e-14);
		assert_near(tac_dvec3_zero(), wrench.torque_Nm, 0);
	}
}

static void a_rotation_causes_a_torque_about_its_axis(void)
{
	tac_rng rng = tac_rng_seed(1, 1);
	for (int i = 0; i < 1000; i++) {
		const tac_dvec3 axis = tac_rng_unit_f64(&rng);
		const double angle = tac_rng_range_f64(&rng, 1e-9, 3.1);
		tac_coupling_body device = random_body(&rng), sco = device;
		sco.T_world_body.rotation =
			tac_dquat_mul(tac_dquat_from_axis_angle(axis, angle), device.T_world_body.rotation);
		for (int law = 0; law < 2; law++) {
			const tac_wrench wrench = tac_coupling_wrench(&both_laws[law], &device, &sco);
			assert_near(tac_dvec3_scale(axis, 3 * angle), wrench.torque_Nm, 1e-11);
			assert_near(tac_dvec3_zero(), wrench.force_N, 0);
		}
	}
}

static void where_device_and_sco_coincide_there_is_no_force_at_any_speed(void)
{
	tac_rng rng = tac_rng_seed(2, 1);
	for (int i = 0; i < 100; i++) {
		const tac_coupling_body body = random_body(&rng);
		for (int law = 0; law < 2; law++) {
			const tac_wrench wrench = tac_coupling_wrench(&both_laws[law], &body, &body);
			assert_near(tac_dvec3_zero(), wrench.force_N, 0);
			assert_near(tac_dvec3_zero(), wrench.torque_Nm, 1e-12);
		}
	}
}

static void sliding_along_a_surface_exerts_no_drag(void)
{
	tac_coupling_body device = at(0.1, 0, -0.004), sco = at(0.1, 0, 0);
	device.velocity_m_per_s = sco.velocity_m_per_s = tac_dvec3_make(0.3, -0.2, 0);
	for (int law = 0; law < 2; law++)
		assert_near(tac_dvec3_make(0, 0, 2),
			    tac_coupling_wrench(&both_laws[law], &device, &sco).force_N, 1e-14);
	// Without the SCO's velocity the constraint law still exerts no drag; the full law does.
	sco.velocity_m_per_s = tac_dvec3_zero();
	assert_near(tac_dvec3_make(0, 0, 2), tac_coupling_wrench(&both_laws[1], &device, &sco).force_N,
		    1e-14);
	assert_near(tac_dvec3_make(-0.6, 0.4, 2), tac_coupling_wrench(&both_laws[0], &device, &sco).force_N,
		    1e-14);
}

static void damping_resists_entering_and_the_constraint_law_never_pulls_in(void)
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

static void the_wrench_is_the_negative_gradient_of_the_energy(void)
{
	tac_rng rng = tac_rng_seed(3, 1);
	tac_coupling coupling = both_laws[0];
	coupling.damping_N_s_per_m = coupling.turn_damping_Nm_s_per_rad = 0;
	for (int i = 0; i < 300; i++) {
		const tac_coupling_body device = random_body(&rng), sco = random_body(&rng);
		const tac_wrench wrench = tac_coupling_wrench(&coupling, &device, &sco);
		const tac_dvec3 direction = tac_rng_unit_f64(&rng);
		const double h = 1e-5;
		double energy[2][2]; // translated, rotated; backwards, forwards
		for (int side = 0; side < 2; side++) {
			const tac_dvec3 step = tac_dvec3_scale(direction, side ? h : -h);
			tac_dpose moved = device.T_world_body, turned = moved;
			moved.position = tac_dvec3_add(moved.position, step);
			turned.rotation = tac_dquat_mul(tac_dquat_exp(step), turned.rotation);
			energy[0][side] = tac_coupling_energy_J(&coupling, moved, sco.T_world_body);
			energy[1][side] = tac_coupling_energy_J(&coupling, turned, sco.T_world_body);
		}
		const double force = -(energy[0][1] - energy[0][0]) / (2 * h);
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, force, tac_dvec3_dot(wrench.force_N, direction));
		if (tac_dvec3_length(wrench.torque_Nm) > 3 * 3.1) // at half a turn the energy has a kink
			continue;
		const double torque = -(energy[1][1] - energy[1][0]) / (2 * h);
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, torque, tac_dvec3_dot(wrench.torque_Nm, direction));
	}
}

static void at_exactly_half_a_turn_the_torque_is_finite_and_full(void)
{
	const tac_coupling_body device = at(0, 0, 0);
	tac_coupling_body sco = device;
	sco.T_world_body.rotation = tac_dquat_make(0, 1, 0, 0);
	const tac_wrench wrench = tac_coupling_wrench(&both_laws[0], &device, &sco);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3 * pi, tac_dvec3_length(wrench.torque_Nm));
}

static void the_wrench_does_not_depend_on_the_frame(void)
{
	tac_rng rng = tac_rng_seed(4, 1);
	for (int law = 0; law < 2; law++) {
		for (int i = 0; i < 300; i++) {
			tac_coupling_body a = random_body(&rng), b = random_body(&rng);
			const tac_wrench here = tac_coupling_wrench(&both_laws[law], &a, &b);
			const tac_dpose T = random_body(&rng).T_world_body;
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

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(five_millimetres_at_500_newtons_per_metre_give_two_and_a_half_newtons);
	RUN_TEST(a_rotation_causes_a_torque_about_its_axis);
	RUN_TEST(where_device_and_sco_coincide_there_is_no_force_at_any_speed);
	RUN_TEST(sliding_along_a_surface_exerts_no_drag);
	RUN_TEST(damping_resists_entering_and_the_constraint_law_never_pulls_in);
	RUN_TEST(the_wrench_is_the_negative_gradient_of_the_energy);
	RUN_TEST(at_exactly_half_a_turn_the_torque_is_finite_and_full);
	RUN_TEST(the_wrench_does_not_depend_on_the_frame);
	return UNITY_END();
}
