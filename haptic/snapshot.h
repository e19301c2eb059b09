// Snapshot: everything there is to show of one tick of a servo, by value. The real-time thread fills one and
// publishes it through a triple buffer (rt/latest.h); a viewer, a status line or a report reads the newest
// whenever it likes and never delays the loop. All poses, points and forces are in the world frame unless
// their name says otherwise.
#ifndef TAC_HAPTIC_SNAPSHOT_H
#define TAC_HAPTIC_SNAPSHOT_H

#include "devices/device.h"
#include "haptic/derate.h"
#include "haptic/scene.h"
#include "haptic/sco.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the servo is doing.
typedef enum tac_servo_state {
	TAC_SERVO_WAITING, // the tool has not been free of contact since the start, or since a fault: no
			   // force
	TAC_SERVO_RUNNING,
	TAC_SERVO_CLUTCHED, // the clutch is held: the tool stays while the device moves, no force
	TAC_SERVO_LOST,     // the device is gone or its recording is over
	TAC_SERVO_STATE_COUNT,
} tac_servo_state;

// Work that may be left out when a tick is short of time, in this order: SPEC part E's steps 6 and 5. What
// moves the SCO, checks it and writes the force is never left out.
typedef enum tac_servo_extra {
	TAC_SERVO_PROXIMITY, // how far the tool is from what it touches next
	TAC_SERVO_SURFACES,  // which surfaces the device itself is in
	TAC_SERVO_EXTRA_COUNT,
} tac_servo_extra;

typedef struct tac_snapshot_contact {
	tac_dvec3 point_m; // on the tool
	tac_dvec3 normal;  // unit, from the object to the tool; smooth where the material is
	double gap_m;
	tac_dvec3 force_N; // on the tool, along the normal
	int32_t object;    // of the scene; the other tool is object_count - 1 when there are two
	int32_t tool_surface, object_surface;   // of their meshes; -1: a round tool has none
	int32_t tool_triangle, object_triangle; // likewise
	int32_t material;                       // of the world
} tac_snapshot_contact;

// Friction where the tool touches: one for the patch of all contacts.
typedef struct tac_snapshot_friction {
	bool touching, slipping;
	tac_dvec3 point_m; // middle of the patch
	tac_dvec3 force_N; // on the tool
} tac_snapshot_friction;

// The other tool is one more object, behind those of the scene.
#define TAC_SNAPSHOT_OBJECTS (TAC_SCENE_OBJECTS + TAC_SCENE_TOOLS - 1)

typedef struct tac_snapshot {
	int64_t tick;    // number of the servo's step, from 0
	int64_t time_ns; // of the step
	int32_t tool;    // of the scene
	tac_servo_state state;

	tac_device_status status;
	uint32_t buttons;
	tac_dpose T_world_device; // where the tool would be if nothing were in its way
	tac_dpose T_world_sco;    // where it is
	int32_t object_count;
	tac_dpose T_world_objects[TAC_SNAPSHOT_OBJECTS];

	uint32_t sco_flags; // tac_sco_flag
	double distance_m;  // to the nearest object: a lower bound; HUGE_VAL: not known
	int32_t contact_count;
	tac_snapshot_contact contacts[TAC_SCO_CONTACTS];
	tac_snapshot_friction friction;

	tac_wrench wanted; // on the tool, before passivity and limits
	tac_wrench sent;   // on the tool, what the hand feels
	uint32_t limits;   // bit r: the gate stepped in for tac_limit_reason r
	double gain;       // of the gate, 0 … 1

	double stiffness_N_per_m; // shown in this tick
	double allowed_N_per_m;   // by rate, delay and device
	tac_derate_reason derated_by;
	bool derated;               // a material is stiffer than what is allowed
	double passivity_J;         // what the springs may still give back; below 0: a deficit
	double passivity_N_s_per_m; // damping that repays it, on a linear axis

	// Extras; those of the last tick that had time for them.
	uint32_t dropped;   // bit e: tac_servo_extra e was left out in this tick
	double proximity_m; // lower bound of the distance to all objects, when it was last found; HUGE_VAL:
			    // far
	int32_t surface_count; // surfaces that the device's own pose touches, as far as was looked
	struct {
		int32_t object, tool_surface, object_surface;
	} surfaces[16];

	// Work and time.
	int64_t compute_ns;   // from the wake to the device's write; 0 where no clock was read
	int64_t pairs;        // of triangles, in the SCO's step
	uint64_t faults;      // since the start: times the SCO was put back or began in contact
	uint64_t unknowns;    // ticks in which a collider did not know
	uint64_t spent_ticks; // in which the mover's limits were reached
	uint64_t contact_ticks;
	uint64_t dropped_ticks[TAC_SERVO_EXTRA_COUNT];
} tac_snapshot;

// "waiting", "running", …; "proximity", "surfaces". Never NULL. Thread: any.
const char *tac_servo_state_name(tac_servo_state state);
const char *tac_servo_extra_name(tac_servo_extra extra);

#ifdef __cplusplus
}
#endif

#endif
