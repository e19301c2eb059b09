// Mapping: where the device's tool is in the world. The workspace is scaled, turned and moved; while the
// clutch is held the tool stays and the device moves on alone, as one lifts a mouse. Forces are turned, not
// scaled: what the scale multiplies is the stiffness that the hand feels, which haptic/servo.c allows for.
#ifndef TAC_HAPTIC_MAPPING_H
#define TAC_HAPTIC_MAPPING_H

#include "devices/device.h"
#include "haptic/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// Caller-owned; tac_mapping_step changes it.
typedef struct tac_mapping {
	double scale;
	tac_dvec3 position_m; // of the device's origin in the world, as the clutch has moved it
	tac_dquat rotation;   // of the device's frame
	tac_dquat turned;     // of the tool against the device's, by the clutch
	int clutch_button;    // -1: none
	bool clutched;        // held in the last step
	tac_dpose T_world_tool;
} tac_mapping;

// Thread: any.
tac_mapping tac_mapping_make(const tac_scene_mapping *def);

// The tool's pose in the world for this state of the device.
// Thread: RT.
tac_dpose tac_mapping_step(tac_mapping *mapping, const tac_device_state *state);

// From the world to the device. Thread: RT.
tac_wrench tac_mapping_wrench(const tac_mapping *mapping, tac_wrench wrench_world);

// A velocity of the device, in the world. Thread: RT.
tac_dvec3 tac_mapping_velocity(const tac_mapping *mapping, tac_dvec3 velocity_device);

// The device's pose for a pose of the tool in the world, with the clutch never used: for scripted hands.
// Thread: any.
tac_dpose tac_mapping_inverse(const tac_mapping *mapping, tac_dpose T_world_tool);

#ifdef __cplusplus
}
#endif

#endif
