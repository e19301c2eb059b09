#include "haptic/mapping.h"

tac_mapping tac_mapping_make(const tac_scene_mapping *def)
{
	return (tac_mapping){
		.scale = def->workspace_scale,
		.position_m = def->position_m,
		.rotation = tac_dquat_exp(def->rotation_rad),
		.turned = tac_dquat_identity(),
		.clutch_button = (int)def->clutch_button,
		.T_world_tool = tac_dpose_identity(),
	};
}

tac_dpose tac_mapping_step(tac_mapping *mapping, const tac_device_state *state)
{
	const tac_dpose *device = &state->T_base_tool;
	const bool held = mapping->clutch_button >= 0 && (state->buttons >> mapping->clutch_button & 1u);
	const tac_dvec3 moved =
		tac_dquat_rotate(mapping->rotation, tac_dvec3_scale(device->position, mapping->scale));
	const tac_dquat turned = tac_dquat_mul(mapping->rotation, device->rotation);
	if (held || mapping->clutched) {
		// The tool stays. In the tick after the clutch is released the mapping continues from here.
		mapping->position_m = tac_dvec3_sub(mapping->T_world_tool.position, moved);
		mapping->turned = tac_dquat_normalize(
			tac_dquat_mul(tac_dquat_conjugate(turned), mapping->T_world_tool.rotation));
	} else {
		mapping->T_world_tool = tac_dpose_make(tac_dvec3_add(mapping->position_m, moved),
						       tac_dquat_mul(turned, mapping->turned));
	}
	mapping->clutched = held;
	return mapping->T_world_tool;
}

tac_wrench tac_mapping_wrench(const tac_mapping *mapping, tac_wrench wrench_world)
{
	const tac_dquat back = tac_dquat_conjugate(mapping->rotation);
	return (tac_wrench){tac_dquat_rotate(back, wrench_world.force_N),
			    tac_dquat_rotate(back, wrench_world.torque_Nm)};
}

tac_dvec3 tac_mapping_velocity(const tac_mapping *mapping, tac_dvec3 velocity_device)
{
	return tac_dquat_rotate(mapping->rotation, tac_dvec3_scale(velocity_device, mapping->scale));
}

tac_dpose tac_mapping_inverse(const tac_mapping *mapping, tac_dpose T_world_tool)
{
	const tac_dquat back = tac_dquat_conjugate(mapping->rotation);
	const tac_dvec3 offset = tac_dvec3_sub(T_world_tool.position, mapping->position_m);
	return tac_dpose_make(tac_dvec3_scale(tac_dquat_rotate(back, offset), 1 / mapping->scale),
			      tac_dquat_mul(back, T_world_tool.rotation));
}
