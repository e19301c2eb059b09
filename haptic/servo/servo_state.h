// Servo state: the servo's memory, and the functions that its files share. servo.c is the tick; setup.c
// creates and destroys; effects.c adds the application's forces; events.c tells what happened; two_tools.c
// couples two servos; hold_until_free.c holds a tool until it is free; needle_tool.c is for a tool that is a
// needle; pressing.c for soft tissue; gripper.c computes the force on the fingers.
#ifndef TAC_HAPTIC_SERVO_SERVO_STATE_H
#define TAC_HAPTIC_SERVO_SERVO_STATE_H

#include "haptic/derate.h"
#include "haptic/force/account.h"
#include "haptic/force/coupling.h"
#include "haptic/force/feel.h"
#include "haptic/force/law.h"
#include "haptic/force/material_effects.h"
#include "haptic/force/passivity.h"
#include "haptic/limit.h"
#include "haptic/mapping.h"
#include "haptic/sco.h"
#include "haptic/servo.h"
#include "haptic/servo/drilling.h"
#include "haptic/servo/effects.h"
#include "haptic/servo/events.h"
#include "haptic/servo/pressing.h"
#include "haptic/task.h"
#include "rt/latest.h"
#include "tissue/needle.h"

#ifdef __cplusplus
extern "C" {
#endif

// Share of the previous value in filtered velocities: 4 ms at 1 kHz.
#define TAC_SERVO_VELOCITY_POLE 0.8

// The winding of a solid about the probes of another body; it may take several ticks.
typedef struct tac_servo_winding {
	int32_t triangle;              // the next to be examined; 0 begins again
	int32_t sum[TAC_SCENE_SHAPES]; // for each probe, up to `triangle`
	bool inside;                   // after the last triangle: a probe is inside
} tac_servo_winding;

// The test whether a tool is outside all solids; it may take several ticks.
typedef struct tac_servo_release {
	bool active;
	bool tried;             // a test has been completed
	tac_dpose T_world_tool; // the pose under test
	int32_t object;
	tac_dpose T_object_tool; // taken before the object's first triangle, since the object may move
				 // meanwhile
	tac_servo_winding winding;
} tac_servo_release;

// The test whether a hidden object can be shown (live_tick.c).
typedef struct tac_servo_show {
	bool active;
	int32_t object;
	tac_dpose T_object_tool; // at the beginning
	double clearance_m;      // then
	int32_t side;            // 0: the tool in the object, 1: the object in the tool
	tac_servo_winding winding;
} tac_servo_show;

// Where commands have sent mapping and gain (live_tick.c).
typedef struct tac_servo_change {
	bool maps; // the mapping is on its way
	tac_mapping mapping;
	int64_t mapping_left_ns;
	double gain;
} tac_servo_change;

// Two hands. Without a partner all of it stays zero.
typedef struct tac_servo_hands {
	tac_servo *partner;
	tac_wrench reaction; // of the partner's contacts on this tool, about its origin, world frame
	// Poses before the SCO's step, for tac_servo_yield_to_partner.
	tac_dpose T_world_sco;
	tac_dpose T_world_objects[TAC_SCENE_OBJECTS];
} tac_servo_hands;

// A tool that is a needle. Without one all of it stays zero.
typedef struct tac_servo_needle {
	tac_needle *needle;
	int32_t objects[TAC_NEEDLE_BODIES]; // of the scene, for each body of the needle
	double skin_m[TAC_NEEDLE_BODIES];   // height of its skin along the normal of its layers
	int32_t count;
	tac_wrench wrench; // of the tissue on the tool, about its origin, world frame
} tac_servo_needle;

// The force on the fingers of the device's gripper. Without a motor there all of it stays zero.
typedef struct tac_servo_gripper {
	tac_derate derate;
	tac_passivity passivity;
	double opening_m, speed_m_per_s; // in the last tick; the speed is filtered
} tac_servo_gripper;

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
	tac_law_rates rates;               // of the force law
	double max_force_N, max_torque_Nm; // that the limit lets pass
	tac_limit *limit;
	tac_latest *latest[TAC_SERVO_READERS];

	// From tick to tick.
	int64_t ticks, begin_ns, last_ns;
	bool waiting; // the tool has not been free yet, or not since a fault
	tac_servo_release release;
	tac_servo_hands hands;
	tac_servo_needle needle;
	double clutch_gain; // of the force: 0 while the clutch is held, then up to 1
	double gain;        // of the force, by commands
	uint64_t hidden;    // bit i: the tool cannot touch object i of the scene
	tac_servo_show show;
	tac_servo_change change;
	tac_mapping mapping;
	tac_dvec3 offset_m, turn_rad; // from the device to the spring's end, in the last tick
	tac_dvec3 relative_velocity_m_per_s, relative_velocity_rad_per_s; // of the device, filtered
	tac_derate derate, turn_derate;
	tac_passivity_port port;                    // in the device's frame
	tac_dvec3 damper_m_per_s, damper_rad_per_s; // velocities for its damping, filtered
	tac_dquat device_rotation;                  // in the last tick
	tac_dvec3 device_turn_sum_rad;              // of all ticks
	tac_patch_memory patch_memory;
	tac_account account;
	tac_law law;
	tac_servo_effects effects;
	tac_servo_events events;
	tac_servo_drilling drilling;
	tac_servo_pressing pressing;
	tac_feel feel;
	tac_task *task;
	tac_servo_gripper gripper;
	double support_N;                  // of the tool's weight
	tac_dvec3 damper_N;                // of the passivity controller, in the last tick, device frame
	int64_t write_delay_ns;            // from the last tick's read to its write
	const tac_device_sample *recorded; // in a replay, of this tick; NULL: the tick is no replay
	tac_servo_totals totals;

	// Of this tick, in the order of its stages.
	tac_device_status status;
	tac_device_state device_state; // the newest valid sample
	bool sample_valid;             // it is of this tick
	tac_dpose T_world_device;
	tac_dpose T_world_aim; // what the SCO follows: the device, or where tissue holds the tool
	tac_dpose T_world_objects[TAC_SNAPSHOT_OBJECTS];
	tac_sco_report report;
	tac_patch patch;
	double material_N_per_m, allowed_N_per_m; // stiffness that the materials ask for; that is stable
	double contact_allowed_N_per_m;           // what the effects leave of it
	double turn_allowed_Nm_per_rad;
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

static inline tac_wrench tac_servo_wrench_scale(tac_wrench w, double s)
{
	return (tac_wrench){tac_dvec3_scale(w.force_N, s), tac_dvec3_scale(w.torque_Nm, s)};
}

static inline tac_wrench tac_servo_wrench_sub(tac_wrench a, tac_wrench b)
{
	return (tac_wrench){tac_dvec3_sub(a.force_N, b.force_N), tac_dvec3_sub(a.torque_Nm, b.torque_Nm)};
}

// Whether two poses differ by more than the rounding of the SCO's path, 1 pm or 1 prad.
static inline bool tac_servo_poses_differ(tac_dpose a, tac_dpose b)
{
	const double rounding = 1e-12;
	return tac_dvec3_length(tac_dvec3_sub(a.position, b.position)) >= rounding ||
	       tac_dquat_angle(tac_dquat_mul(a.rotation, tac_dquat_conjugate(b.rotation))) >= rounding;
}

// Runs a tick again that was recorded: what a clock and other threads told it then is taken from `sample`,
// which the servo's device delivers, too. Thread: as tac_servo_step.
void tac_servo_step_again(tac_servo *servo, const tac_device_sample *sample);

// The largest damping of an axis with these mechanics: sampled, held, filtered by TAC_SERVO_VELOCITY_POLE and
// delayed, it must not oscillate by itself, and a step of the sensor must not give more force than half of
// the dry friction takes up (effects.c).
// Thread: RT.
double tac_servo_most_damping(const tac_derate *derate, const tac_device_mechanics *mechanics);

// Creates the SCO again for the current objects (setup.c).
// Thread: setup.
tac_result tac_servo_create_sco(tac_servo *servo);

// Creates an SCO for another world, with the scene's hidden objects hidden; *out_round_m as in tac_servo
// (setup.c). It reads only what does not change while the servo runs.
// Thread: setup.
tac_result tac_servo_make_sco(const tac_servo *servo, const tac_world *world, tac_sco **out_sco,
			      double *out_round_m);

// The objects that the scene hides (setup.c).
// Thread: any.
uint64_t tac_servo_hidden_objects(const tac_scene *scene);

// How many of a count that suits a period of a millisecond suit the servo's: fewer in a shorter one.
static inline int32_t tac_servo_per_tick(const tac_servo *servo, int32_t count)
{
	const int64_t period_ns = servo->def.period_ns;
	return period_ns < 1000000 ? (int32_t)((int64_t)count * period_ns / 1000000) : count;
}

// Continues to sum up the winding of `solid` about the probes of `other`; *left is the number of triangles
// that may be examined, counted for each probe. False: it goes on in the next tick (hold_until_free.c).
// Thread: RT.
bool tac_servo_wind(tac_servo_winding *winding, const tac_world_body *solid, const tac_world_body *other,
		    tac_dpose T_solid_other, int32_t *left);

// Continues the test whether a tool of `world` is outside all solids but the hidden ones. False as long as
// *out_done is false (hold_until_free.c).
// Thread: RT.
bool tac_servo_outside_solids(tac_servo_release *test, const tac_world *world, int32_t tool,
			      const tac_dpose *T_world_objects, uint64_t hidden, int32_t *left,
			      bool *out_done);

// Takes the commands of a live world and moves mapping, gain and objects on (live_tick.c). Does nothing
// without one.
// Thread: RT.
void tac_servo_take_changes(tac_servo *servo, int64_t now_ns);

// Prepares the force on the gripper (gripper.c).
// Thread: setup.
void tac_servo_init_gripper(tac_servo *servo);

// The force on the fingers for this tick, N (gripper.c).
// Thread: RT.
double tac_servo_step_gripper(tac_servo *servo, int64_t now_ns, int64_t elapsed_ns);

// Sets the poses of objects and partner for this tick; with a live world, shows and hides objects
// (live_tick.c).
// Thread: RT.
void tac_servo_place_objects(tac_servo *servo, int64_t now_ns);

// Notes what became of the commands in this tick, for the next one and for the snapshot (live_tick.c).
// Thread: RT.
void tac_servo_note_changes(tac_servo *servo);

// Tests whether a waiting tool is free of all surfaces and outside all solids, and if so places the SCO there
// (hold_until_free.c).
// Thread: RT.
void tac_servo_try_release(tac_servo *servo);

// Places the SCO anew at a pose that was proved free. Where that takes more work than a tick has, the tool
// waits, and it goes on at the same pose in the next tick.
void tac_servo_place_again(tac_servo *servo, tac_dpose T_world_tool);

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

// Creates the needle of a tool that is one in `world` (needle_tool.c); else all of it is zero.
// Thread: setup.
tac_result tac_servo_make_needle(const tac_servo *servo, const tac_world *world,
				 tac_servo_needle *out_needle);

// Sets T_world_aim, and the wrench of the tissue on a needle (needle_tool.c).
// Thread: RT.
void tac_servo_solve_needle(tac_servo *servo, int64_t elapsed_ns);

// Moves the needle to the SCO's pose (needle_tool.c).
// Thread: RT.
void tac_servo_commit_needle(tac_servo *servo);

// Whether the tool is a needle that is in tissue or presses it (needle_tool.c).
// Thread: RT.
bool tac_servo_needle_in_tissue(const tac_servo *servo);

// The elastic energy of the tissue and of the coupling's share in it (needle_tool.c).
// Thread: RT.
double tac_servo_needle_energy_J(const tac_servo *servo);

// Lowers T_world_aim to where soft tissue holds the tool, and finds its loads (pressing.c).
// Thread: RT.
void tac_servo_solve_pressing(tac_servo *servo, int64_t elapsed_ns);

// Takes the SCO's pose: the wrench of the tissue with its friction (pressing.c).
// Thread: RT.
void tac_servo_commit_pressing(tac_servo *servo);

// The elastic energy of tissue, friction and of the coupling's share in them (pressing.c).
// Thread: RT.
double tac_servo_pressing_energy_J(const tac_servo *servo);

// Fills the needle's part of the snapshot (needle_tool.c).
// Thread: RT.
void tac_servo_fill_needle(const tac_servo *servo, tac_snapshot *out_snapshot);

#ifdef __cplusplus
}
#endif

#endif
