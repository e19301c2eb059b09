// Servo state: the servo's memory, and the functions that its files share. servo.c is the tick; setup.c
// creates and destroys; two_tools.c couples two servos; hold_until_free.c holds a tool until it is free.
#ifndef TAC_HAPTIC_SERVO_SERVO_STATE_H
#define TAC_HAPTIC_SERVO_SERVO_STATE_H

#include "haptic/derate.h"
#include "haptic/force/coupling.h"
#include "haptic/force/feel.h"
#include "haptic/force/law.h"
#include "haptic/force/material_effects.h"
#include "haptic/force/passivity.h"
#include "haptic/limit.h"
#include "haptic/mapping.h"
#include "haptic/sco.h"
#include "haptic/servo.h"
#include "rt/latest.h"

#ifdef __cplusplus
extern "C" {
#endif

// The test whether a waiting tool is outside all solids; it may take several ticks.
typedef struct tac_servo_release {
	bool active;
	bool tried;             // a test has been completed
	tac_dpose T_world_tool; // the pose under test
	int32_t object, triangle;
	tac_dpose T_object_tool; // taken before the object's first triangle, since the object may move
				 // meanwhile
	int32_t winding[TAC_SCENE_SHAPES]; // of the object about the tool's probes, summed up to `triangle`
} tac_servo_release;

// Two hands. Without a partner all of it stays zero.
typedef struct tac_servo_hands {
	tac_servo *partner;
	tac_wrench reaction; // of the partner's contacts on this tool, about its origin, world frame
	// Poses before the SCO's step, for tac_servo_yield_to_partner.
	tac_dpose T_world_sco;
	tac_dpose T_world_objects[TAC_SCENE_OBJECTS];
} tac_servo_hands;

// Counts since the start.
typedef struct tac_servo_totals {
	uint64_t faults, unknown_ticks, budget_spent_ticks, contact_ticks;
} tac_servo_totals;

struct tac_servo {
	tac_servo_def def;
	const tac_scene_tool *tool;
	int32_t object_count; // the scene's, and the partner's tool
	tac_sco *sco;
	double round_m; // radius of a sphere or capsule that the mover takes as exact; 0: the tool is a mesh
	tac_law_rates rates; // of the force law
	tac_limit *limit;
	tac_latest *latest[TAC_SERVO_READERS];

	// From tick to tick.
	int64_t ticks, begin_ns, last_ns;
	bool waiting; // the tool has not been free yet, or not since a fault
	tac_servo_release release;
	tac_servo_hands hands;
	double clutch_gain; // of the force: 0 while the clutch is held, then up to 1
	tac_mapping mapping;
	tac_dvec3 offset_m, turn_rad; // from the device to the spring's end, in the last tick
	tac_dvec3 relative_velocity_m_per_s, relative_velocity_rad_per_s; // of the device, filtered
	tac_derate derate, turn_derate;
	tac_passivity_port port;       // in the device's frame
	tac_dquat device_rotation;     // in the last tick
	tac_dvec3 device_turn_sum_rad; // of all ticks
	tac_patch_memory patch_memory;
	tac_law law;
	tac_feel feel;
	tac_dvec3 damper_N;     // of the passivity controller, in the last tick, device frame
	int64_t write_delay_ns; // from the last tick's read to its write
	tac_servo_totals totals;

	// Of this tick, in the order of its stages.
	tac_device_status status;
	tac_device_state device_state; // the newest valid sample
	bool sample_valid;             // it is of this tick
	tac_dpose T_world_device;
	tac_dpose T_world_objects[TAC_SNAPSHOT_OBJECTS];
	tac_sco_report report;
	tac_patch patch;
	double material_N_per_m, allowed_N_per_m; // stiffness that the materials ask for; that is stable
	tac_coupling coupling;
	tac_dpose T_world_spring; // the spring's other end
	tac_dvec3 friction_N;
	tac_wrench wanted; // on the tool, world frame
	tac_limit_output output;
	tac_wrench sent; // the output without the support of the device's weight, device frame
	tac_snapshot snapshot;
};

static inline tac_wrench tac_servo_wrench_add(tac_wrench a, tac_wrench b)
{
	return (tac_wrench){tac_dvec3_add(a.force_N, b.force_N), tac_dvec3_add(a.torque_Nm, b.torque_Nm)};
}

// Whether two poses differ by more than the rounding of the SCO's path, 1 pm or 1 prad.
static inline bool tac_servo_poses_differ(tac_dpose a, tac_dpose b)
{
	const double rounding = 1e-12;
	return tac_dvec3_length(tac_dvec3_sub(a.position, b.position)) >= rounding ||
	       tac_dquat_angle(tac_dquat_mul(a.rotation, tac_dquat_conjugate(b.rotation))) >= rounding;
}

// Creates the SCO again for the current objects (setup.c).
// Thread: setup.
tac_result tac_servo_create_sco(tac_servo *servo);

// Tests whether a waiting tool is free of all surfaces and outside all solids, and if so places the SCO there
// (hold_until_free.c).
// Thread: RT.
void tac_servo_try_release(tac_servo *servo);

// Takes the partner's SCO as this tool's last object (two_tools.c). Does nothing without a partner.
// Thread: RT.
void tac_servo_place_partner(tac_servo *servo);

// Remembers the poses before the SCO's step (two_tools.c).
// Thread: RT.
void tac_servo_keep_poses(tac_servo *servo);

// After an SCO's step in which an object had to wait: if that object is the partner's tool, puts SCO and
// objects back to the poses kept, and returns true (two_tools.c).
// Thread: RT.
bool tac_servo_yield_to_partner(tac_servo *servo);

// Sets the partner's reaction to this tool's contacts with it (two_tools.c). Does nothing without a partner.
// Thread: RT.
void tac_servo_push_partner(tac_servo *servo);

#ifdef __cplusplus
}
#endif

#endif
