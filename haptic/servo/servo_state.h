// Servo, inside: what haptic/servo.c (the tick), servo_setup.c and servo_extras.c share.
#ifndef TAC_HAPTIC_SERVO_PRIVATE_H
#define TAC_HAPTIC_SERVO_PRIVATE_H

#include "collision/distance.h"
#include "haptic/coupling.h"
#include "haptic/derate.h"
#include "haptic/limit.h"
#include "haptic/mapping.h"
#include "haptic/passivity.h"
#include "haptic/patch.h"
#include "haptic/sco.h"
#include "haptic/servo.h"
#include "rt/latest.h"

#ifdef __cplusplus
extern "C" {
#endif

// Nodes of the trees that an extra visits in a tick to begin with: 10 to 50 us.
#define TAC_SERVO_NODES 8

// A look whether the tool is inside of an object, over as many ticks as it takes.
typedef struct tac_servo_look {
	bool under_way;
	tac_dpose T_world_tool; // at which
	int32_t object, triangle;
	tac_dpose T_object_tool;           // when that object's first triangle was examined: it may move
	int32_t winding[TAC_SCENE_SHAPES]; // of that object round the tool's probes, so far
} tac_servo_look;

struct tac_servo {
	tac_servo_def def;
	const tac_scene_tool *tool;
	tac_sco *sco;
	double round_m; // radius of a tool that the mover takes as round; 0: as a mesh
	tac_limit *limit;
	tac_latest *latest[TAC_SERVO_READERS];
	tac_context *context;      // of the surfaces' queries
	tac_context *near_context; // of the proximity's, which lasts for several ticks
	tac_servo *partner;        // the other hand; NULL: there is none

	// From tick to tick.
	int64_t steps, begin_ns, last_ns;
	bool waiting; // for the tool to be free
	bool looked;  // whether it is; once at least
	tac_servo_look look;
	double grasp; // 0 while the clutch is held … 1
	tac_mapping mapping;
	tac_dvec3 offset_m, turn_rad;                 // from device to SCO in the last tick
	tac_dvec3 parting_m_per_s, parting_rad_per_s; // how they change, filtered
	tac_derate derate, turn_derate;
	tac_passivity_port port;   // in the device's frame
	tac_dquat device_rotation; // last read
	tac_dvec3 device_turned;   // sum of the device's turns
	tac_patch_memory memory;
	tac_wrench reaction;    // of what the other tool presses with, on this one, world
	int64_t write_delay_ns; // from the last tick's read to its write
	int64_t extra_cost_ns[TAC_SERVO_EXTRA_COUNT];
	int64_t extra_nodes[TAC_SERVO_EXTRA_COUNT]; // what each may visit in a tick
	int32_t near_object;                        // whose distance is being looked for
	tac_dpose T_object_tool;                    // where, when that began
	tac_nearest nearest;
	double near_m[TAC_SCENE_OBJECTS]; // lower bounds found

	// Of this tick.
	tac_device_state state;
	int32_t object_count;
	tac_dpose T_world_objects[TAC_SNAPSHOT_OBJECTS];
	tac_dpose T_world_device;
	tac_sco_report report;
	tac_patch patch;
	tac_snapshot now;
};

// A tool that waits: looks whether it is free of all surfaces and outside of all solids, and lets it go then
// (servo_wait.c). Thread: RT.
void tac_servo_look_round(tac_servo *servo);

// What may be left out: fills the extras of the snapshot, as far as the tick has time. Thread: RT.
void tac_servo_extras(tac_servo *servo, tac_tick *tick);

#ifdef __cplusplus
}
#endif

#endif
