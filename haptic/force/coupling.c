#include "haptic/force/coupling.h"

// Spring and damper, linear or angular. `offset` points from the device to the SCO; `velocity` is the
// device's relative to the SCO.
static tac_dvec3 spring_damper(tac_dvec3 offset, tac_dvec3 velocity, double stiffness, double damping,
			       tac_coupling_law law)
{
	if (law == TAC_COUPLING_FULL)
		return tac_dvec3_sub(tac_dvec3_scale(offset, stiffness), tac_dvec3_scale(velocity, damping));
	const tac_dvec3 along = tac_dvec3_normalize(offset);
	const double force = stiffness * tac_dvec3_length(offset) - damping * tac_dvec3_dot(velocity, along);
	return tac_dvec3_scale(along, force > 0 ? force : 0);
}

// The rotation vector from the device to the SCO, in the world frame.
static tac_dvec3 turn_between(tac_dquat device, tac_dquat sco)
{
	return tac_dquat_log(tac_dquat_mul(sco, tac_dquat_conjugate(device)));
}

tac_wrench tac_coupling_wrench(const tac_coupling *coupling, const tac_coupling_body *device,
			       const tac_coupling_body *sco)
{
	const tac_dpose *from = &device->T_world_body, *to = &sco->T_world_body;
	const tac_wrench wrench = {
		spring_damper(tac_dvec3_sub(to->position, from->position),
			      tac_dvec3_sub(device->velocity_m_per_s, sco->velocity_m_per_s),
			      coupling->stiffness_N_per_m, coupling->damping_N_s_per_m, coupling->law),
		spring_damper(
			turn_between(from->rotation, to->rotation),
			tac_dvec3_sub(device->angular_velocity_rad_per_s, sco->angular_velocity_rad_per_s),
			coupling->turn_stiffness_Nm_per_rad, coupling->turn_damping_Nm_s_per_rad,
			coupling->law),
	};
	return wrench;
}

double tac_coupling_energy_J(const tac_coupling *coupling, tac_dpose T_world_device, tac_dpose T_world_sco)
{
	const tac_dvec3 offset = tac_dvec3_sub(T_world_sco.position, T_world_device.position);
	const tac_dvec3 turn = turn_between(T_world_device.rotation, T_world_sco.rotation);
	return 0.5 * coupling->stiffness_N_per_m * tac_dvec3_length_squared(offset) +
	       0.5 * coupling->turn_stiffness_Nm_per_rad * tac_dvec3_length_squared(turn);
}
