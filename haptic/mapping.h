// Mapping: the pose of the tool in the world for a pose of the device. The workspace is scaled, rotated and
// translated. While the clutch is held the tool stays where it is and the device moves alone, as when lifting
// a mouse. Forces are rotated but not scaled: the hand feels the stiffness multiplied by the workspace's
// scale, which haptic/servo/servo.c takes into account.
#ifndef TAC_HAPTIC_MAPPING_H
#define TAC_HAPTIC_MAPPING_H

#include "base/api.h"
#include "devices/device.h"
#include "haptic/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// Caller-owned; tac_mapping_step changes it.
typedef struct tac_mapping {
	double scale;
	tac_dvec3 position_m; // of the device's origin in the world; the clutch moves it
	tac_dquat rotation;   // of the device's frame in the world
	tac_dquat turned;     // rotation of the tool relative to the device, from the clutch
	int clutch_button;    // -1: none
	bool clutched;        // held in the last step
	tac_dpose T_world_tool;
} tac_mapping;

// A mapping in its initial state.
// Thread: any.
TAC_API tac_mapping tac_mapping_make(const tac_scene_mapping *def);

// Returns the tool's pose in the world for this state of the device.
// Thread: RT.
TAC_API tac_dpose tac_mapping_step(tac_mapping *mapping, const tac_device_state *state);

// Rotates a wrench from the world frame to the device's.
// Thread: RT.
TAC_API tac_wrench tac_mapping_wrench(const tac_mapping *mapping, tac_wrench wrench_world);

// Scales and rotates a velocity from the device's frame to the world.
// Thread: RT.
TAC_API tac_dvec3 tac_mapping_velocity(const tac_mapping *mapping, tac_dvec3 velocity_device);

// Returns the device's pose for a pose of the tool in the world, for scripted hands. Valid as long as the
// clutch has not been used.
// Thread: any.
TAC_API tac_dpose tac_mapping_inverse(const tac_mapping *mapping, tac_dpose T_world_tool);

#ifdef __cplusplus
}
#endif

#endif
