// Sim: a simulated haptic device in a simulated hand, so that the loop closes without hardware. Each axis is
//	(m + mh) x'' + (b + bh) x' + fc sgn(x') = u + F0 + kh (xi - x) + bh xi'
// with the device's mass m, damping b and dry friction fc, the hand's mass mh, damping bh and stiffness kh (a
// passive second-order hand, N. Hogan 1989), the path xi that the hand wants to follow, its preload F0 and
// the motor force u. The motion is integrated exactly between the moments at which a force, a stick or slip,
// or a piece of the path begins: an Euler step, even of 10 us, would shift the stability limit by 1 %. A
// written force acts from `delay_ns` after the write until the next one does; positions are read through a
// quantiser; velocity is the filtered difference of what was read.
//
// Rotation, where there is any, uses the same axes on the components of the rotation vector r (the pose is
// exp r), as a wrist mechanism has constant inertia in its joint coordinates. A torque t becomes J(r)^T t and
// the rotation's speed J(r) r', with J the left Jacobian of the rotation group, so that power is conserved.
// The path keeps |r| below TAC_SIM_TURN_MAX_RAD, where J is still far from singular (2 pi).
//
// There are no end stops: a device that is let go and pushed flies on. The device is deterministic: the same
// reads and writes at the same times give the same bits.
#ifndef TAC_DEVICES_SIM_H
#define TAC_DEVICES_SIM_H

#include "base/result.h"
#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_SIM_TURN_MAX_RAD 3.0
#define TAC_SIM_COMMANDS     256                 // writes that may be under way at once
#define TAC_SIM_GAP_MAX_NS   INT64_C(100000000)  // more time than this between two reads is left out
#define TAC_SIM_DELAY_MAX_NS INT64_C(1000000000) // 1 s

// One point of the hand's path. Between two points the hand moves on a straight line at constant speed.
typedef struct tac_sim_waypoint {
	int64_t time_ns; // after the first read; ascending
	tac_dvec3 position_m;
	tac_dvec3 rotation_rad; // rotation vector
	uint32_t buttons;       // held from this point on
} tac_sim_waypoint;

// A hand: linear (kg, N s/m, N/m) or angular (kg m^2, N m s/rad, N m/rad). All 0: the device is let go.
typedef struct tac_sim_hand {
	double mass;
	double damping;
	double stiffness;
} tac_sim_hand;

typedef struct tac_sim_def {
	const char *name; // of the device, copied; "sim:" goes in front
	tac_device_mechanics linear;
	tac_device_mechanics angular; // mass 0: no rotation
	tac_sim_hand hand;
	tac_sim_hand hand_angular;
	double max_force_N;   // longer forces keep their direction; 0: none is applied
	double max_torque_Nm; // 0: none is applied
	double max_stiffness_N_per_m;
	double max_damping_N_s_per_m;
	double workspace_m;   // edge of the cube around the origin
	int64_t period_ns;    // the device's own cycle, for info alone
	int64_t delay_ns;     // from write to force: 0 … TAC_SIM_DELAY_MAX_NS
	int64_t hold_ns;      // a force that is not renewed ends after this; 0: never
	double velocity_pole; // 0 … below 1: v = pole v + (1 - pole) difference
	tac_dvec3 start_m;    // position and speed at the first read
	tac_dvec3 start_m_per_s;
	tac_dvec3 preload_N; // constant force of the hand
	uint32_t waypoints;
	const tac_sim_waypoint *path; // copied; none: the hand holds still at start_m
} tac_sim_def;

// A device in the table of presets and what is known of it.
typedef struct tac_sim_preset {
	const char *name; // "falcon"
	const char *device;
	const char *source; // where the numbers come from, and which are estimates
	tac_sim_def def;    // without hand and path
} tac_sim_preset;

typedef struct tac_sim_grip {
	const char *name; // "stylus"
	tac_sim_hand hand;
} tac_sim_grip;

// The presets and grips, in the order of their numbers from 0; NULL after the last.
// Thread: any.
const tac_sim_preset *tac_sim_preset_at(int index);
const tac_sim_grip *tac_sim_grip_at(int index);

// The device `preset` in the hand `grip` ("none": let go), at rest in the origin. TAC_ERROR_ARGUMENT with a
// log line that lists the names where one is not known.
// Thread: setup.
tac_result tac_sim_def_preset(const char *preset, const char *grip, tac_sim_def *out_def);

// TAC_ERROR_ARGUMENT (a value out of its range, waypoints out of order) or TAC_ERROR_MEMORY, with a log line.
// Thread: setup.
tac_result tac_sim_create(const tac_sim_def *def, tac_device **out_device);

// What only a simulation can tell.
typedef struct tac_sim_truth {
	tac_dvec3 position_m; // before the quantiser
	tac_dvec3 velocity_m_per_s;
	tac_dvec3 rotation_rad;
	tac_dvec3 rotation_rate_rad_per_s;
	tac_wrench applied;  // by the motors now
	double absorbed_J;   // by the motors so far, exactly: -sum of force times motion
	uint64_t dropped;    // writes that found TAC_SIM_COMMANDS others under way and replaced the last
	uint64_t skipped_ns; // time left out because of TAC_SIM_GAP_MAX_NS
	uint64_t saturated;  // writes above the maximal force or torque
} tac_sim_truth;

// `device` was made by tac_sim_create.
// Thread: RT, the owner.
tac_sim_truth tac_sim_read_truth(const tac_device *device);

// Pulls the plug: from now on reads and writes answer TAC_DEVICE_LOST and the motors are off.
// Thread: any.
void tac_sim_unplug(tac_device *device);

#ifdef __cplusplus
}
#endif

#endif
