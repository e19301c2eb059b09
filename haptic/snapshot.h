// Snapshot: one tick of a servo as it can be shown, by value. The real-time thread fills it and publishes it
// through a triple buffer (rt/latest.h); a viewer, a status line or a report reads the newest at any time
// without delaying the loop. Poses, points and forces are in the world frame unless a name states another.
#ifndef TAC_HAPTIC_SNAPSHOT_H
#define TAC_HAPTIC_SNAPSHOT_H

#include "base/api.h"
#include "devices/device.h"
#include "haptic/derate.h"
#include "haptic/scene.h"
#include "haptic/sco.h"
#include "tissue/contact.h"
#include "tissue/drill.h"
#include "tissue/needle.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_servo_state {
	TAC_SERVO_WAITING, // no force until the tool is free of contact: at the start and after some faults
	TAC_SERVO_RUNNING,
	TAC_SERVO_CLUTCHED, // the clutch is held: the tool stays while the device moves; no force
	TAC_SERVO_LOST,     // the device is lost or its recording has ended
	TAC_SERVO_STATE_COUNT,
} tac_servo_state;

typedef struct tac_snapshot_contact {
	tac_dvec3 point_m; // on the tool
	tac_dvec3 normal;  // unit, from the object to the tool; shaded where the material is smooth
	double gap_m;
	tac_dvec3 force_N; // on the tool, along the normal
	int32_t object;    // of the scene; with two tools, object_count - 1 is the other tool
	int32_t tool_surface, object_surface;   // of their meshes; -1 for a round tool, which has none
	int32_t tool_triangle, object_triangle; // of their meshes; -1: see tac_sco_contact
	int32_t material;                       // of the world
} tac_snapshot_contact;

// Friction of the patch of all contacts.
typedef struct tac_snapshot_friction {
	bool touching, slipping;
	tac_dvec3 point_m; // centre of the patch
	tac_dvec3 force_N; // on the tool
} tac_snapshot_friction;

// The force from tick to tick as the hand feels it, after all stages. Its change is bounded by K
// (slew_m_per_s T + 3 |dx|) (haptic/force/law.h), plus what texture, the passivity controller's damping and
// the limit's gain may add; docs/forces.md has the terms.
typedef struct tac_snapshot_feel {
	double step_N;  // change in this tick
	double bound_N; // of the change in this tick

	// Since the start.
	double largest_step_N, largest_bound_N; // the largest change, and its bound
	uint64_t jumps;                         // ticks with a change beyond the bound
	uint64_t dropouts; // times that the force was above 1 N, zero, and above 1 N again within 10 ticks
	uint64_t saturated_ticks; // more force or torque was wanted than the device may give
} tac_snapshot_feel;

// What became of the commands of haptic/live.h. Bit i stands for object i of the scene.
typedef struct tac_snapshot_live {
	int32_t world;     // the number of exchanges: 0 for the first world
	bool exchanging;   // another world waits until the tools have been tested in it
	uint64_t commands; // taken since the start
	uint64_t hidden;   // cannot be touched by this tool
	uint64_t waits;    // to be shown, but the tool is in it
	uint64_t moving;   // has not reached the pose that it was sent to
	uint64_t blocked;  // stopped in this tick because the tool could not yield
	double gain;       // of the contact forces
} tac_snapshot_live;

// The forces of the application (haptic/effect.h).
typedef struct tac_snapshot_effects {
	tac_wrench wrench;                           // on the tool, the sum of all; part of `wanted`
	uint32_t active;                             // bit i: the tool is where effect i acts
	double bound_N;                              // of the change of the force in this tick
	double stiffness_N_per_m, damping_N_s_per_m; // of all effects here, as displayed
	double spring_scale, damper_scale;           // 0 … 1, to what is stable; 1: as asked for
	int64_t callback_ns;        // taken by the callback in this tick; 0: no clock was read, or not called
	uint64_t callback_overruns; // calls beyond their budget
	uint64_t callback_invalid;  // calls whose result was not finite
} tac_snapshot_effects;

// Of the track in a snapshot.
#define TAC_SNAPSHOT_TRACK 64

// A tool that is a needle, in tissue.
typedef struct tac_snapshot_needle {
	bool present;             // the tool is a needle
	int32_t object;           // of the scene, which it presses or in which it is; -1: none
	double stiffness_N_per_m; // of the coupling when the wrench was found
	tac_wrench wrench;        // of the tissue on the tool, contained in `wanted`
	double skin_m;            // height of the object's skin along the normal of its layers, its frame
	tac_needle_state state;   // its body counts the needle's bodies; its tip is in the object's frame
	// World frame. The track from the skin to its front; the shape of a flexible needle from hub to tip.
	int32_t track_count, shape_count;
	tac_dvec3 track_m[TAC_SNAPSHOT_TRACK];
	tac_dvec3 shape_m[TAC_NEEDLE_NODES];
} tac_snapshot_needle;

// What a drill does, and has done since the start (tissue/drill.h); zero for other tools. Labels of materials
// are those of the body that is drilled: 0 is its own material, 1 + i that of inside[i] of the scene.
typedef struct tac_snapshot_drill {
	bool used; // the tool is a drill, and the scene has a body for it
	int32_t object;
	double vibration_N; // along the tool's x, of this tick; contained in `wanted`
	tac_drill_state state;
} tac_snapshot_drill;

// The forces that give one soft body its shape: a part of tac_snapshot_tissue.forces.
typedef struct tac_snapshot_dent {
	int32_t object; // of the scene
	int32_t first, count;
} tac_snapshot_dent;

// Soft tissue that the tool presses: of several bodies the one with the largest load, or the one before it.
// The state is in the frame of its object.
typedef struct tac_snapshot_tissue {
	bool present;         // the scene has a body that yields
	int32_t object;       // of the scene
	tac_wrench wrench;    // of all tissue on the tool, with friction, about its origin; part of `wanted`
	tac_dvec3 point_m;    // centre of the pressed patch
	tac_dvec3 friction_N; // contained in the wrench
	bool touching, slipping; // of the friction: without a coefficient it does neither
	tac_tissue_state state;
	// The shape of the bodies: forces on points of the world's compliance, in the frame of each, first
	// those of `object`. Where they do not fit, the last bodies lack some.
	tac_snapshot_dent dents[TAC_SCENE_SOFT];
	int32_t dent_count;
	int32_t force_count;
	tac_tissue_force forces[TAC_TISSUE_FORCES];
} tac_snapshot_tissue;

// The other tool is the last object, after those of the scene.
#define TAC_SNAPSHOT_OBJECTS (TAC_SCENE_OBJECTS + TAC_SCENE_TOOLS - 1)

typedef struct tac_snapshot {
	int64_t tick;    // number of the servo's step, from 0
	int64_t time_ns; // of the step
	int32_t tool;    // of the scene
	tac_servo_state state;

	tac_device_status status;
	uint32_t buttons;
	tac_dpose T_world_device; // the device's pose, mapped to the world
	tac_dpose T_world_sco;    // the tool's pose
	int32_t object_count;
	tac_dpose T_world_objects[TAC_SNAPSHOT_OBJECTS]; // as far as the tool let them move
	tac_snapshot_live live;

	uint32_t sco_flags; // tac_sco_flag
	double distance_m;  // lower bound of the distance to the nearest object; HUGE_VAL: unknown
	int32_t contact_count;
	tac_snapshot_contact contacts[TAC_SCO_CONTACTS];
	tac_snapshot_friction friction;

	tac_wrench wanted; // on the tool, effects included, before passivity and limit
	tac_wrench sent;   // on the tool, after them: what the hand feels
	uint32_t limits;   // bit r: the limit changed the wrench for tac_limit_reason r
	double gain;       // of the limit, 0 … 1
	tac_snapshot_feel feel;

	double stiffness_N_per_m; // of the coupling
	double allowed_N_per_m;   // by rate, delay and device
	tac_derate_reason derated_by;
	bool derated;               // the materials are stiffer than what is allowed
	double passivity_J;         // energy that the springs may still return; below 0: a deficit
	double passivity_N_s_per_m; // damping against the deficit, on a linear axis

	// Work and time.
	int64_t compute_ns; // from wake-up to the device's write; 0: no clock was read
	int64_t work_units; // of the mover in this tick

	// Totals since the start.
	uint64_t faults;             // the SCO was put back to its last free pose, or began in contact
	uint64_t unknown_ticks;      // a collider's answer was unknown
	uint64_t budget_spent_ticks; // the mover reached one of its limits
	uint64_t contact_ticks;      // the tool touched something, pressed tissue, or was a needle in it

	double gripper_m; // opening of the device's gripper; 0 where there is none
	double gripper_N; // sent to it, positive opens
	tac_snapshot_effects effects;

	tac_snapshot_needle needle;
	tac_snapshot_drill drill;
	tac_snapshot_tissue tissue;

	// How the last substep of the mover ended, and why the last refused one was: tac_sco_report.
	tac_sco_outcome sco_outcome, sco_refused;
} tac_snapshot;

// Whether the tool touches something, presses what yields or, if it is a needle, is in tissue or presses it.
// Neither a needle in tissue alone nor a tool on tissue alone has contacts.
// Thread: any.
TAC_API bool tac_snapshot_touching(const tac_snapshot *snapshot);

// "waiting", "running", … Never NULL.
// Thread: any.
TAC_API const char *tac_servo_state_name(tac_servo_state state);

#ifdef __cplusplus
}
#endif

#endif
