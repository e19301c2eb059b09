// Sim: a simulated haptic device in a simulated hand, which closes the loop without hardware. Each axis obeys
//	(m + mh) x'' + (b + bh) x' + fc sgn(x') = u + F0 + kh (xi - x) + bh xi'
// with the device's mass m, damping b and dry friction fc, the hand's mass mh, damping bh and stiffness kh (a
// passive second-order hand, N. Hogan 1989), the path xi that the hand follows, its preload F0 and the motor
// force u. The motion is integrated exactly between events (a new force, a stick or slip, a new segment of
// the path): an Euler step, even of 10 us, would shift the stability limit by 1 %. A written force acts from
// `delay_ns` after its write until the next one acts; positions are read through a quantiser; velocity is the
// filtered difference of the positions read.
//
// Rotation, if the device has it, uses the same equation for the components of the rotation vector r (the
// pose is exp r), since a wrist mechanism has constant inertia in its joint coordinates. A torque t becomes
// J(r)^T t and the angular velocity is J(r) r', with the left Jacobian J of the rotation group, so power is
// conserved. The path keeps |r| below TAC_SIM_TURN_MAX_RAD, where J is far from its singularity (2 pi).
//
// A gripper, if the device has one, is a seventh axis with the same equation; it reads no less than 0.
//
// There are no end stops: a device that nobody holds drifts on when it is pushed. The device is
// deterministic: the same reads and writes at the same times give the same bits.
#ifndef TAC_DEVICES_SIM_H
#define TAC_DEVICES_SIM_H

#include "base/result.h"
#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_SIM_TURN_MAX_RAD 3.0
#define TAC_SIM_COMMANDS     256                 // most writes that are delayed at once
#define TAC_SIM_GAP_MAX_NS   INT64_C(100000000)  // the simulation skips time beyond this between two reads
#define TAC_SIM_DELAY_MAX_NS INT64_C(1000000000) // 1 s

// A point of the hand's path. Between two points the hand moves on a straight line at constant speed.
typedef struct tac_sim_waypoint {
	int64_t time_ns; // after the first read; ascending
	tac_dvec3 position_m;
	tac_dvec3 rotation_rad; // rotation vector
	uint32_t buttons;       // held from this point on
	double gripper_m;       // where the fingers want the gripper
} tac_sim_waypoint;

// A hand: linear (kg, N s/m, N/m) or angular (kg m^2, N m s/rad, N m/rad). All 0: nobody holds the device.
typedef struct tac_sim_hand {
	double mass;
	double damping;
	double stiffness;
} tac_sim_hand;

typedef struct tac_sim_def {
	const char *name; // of the device, copied; info.name is "sim:" and this
	tac_device_mechanics linear;
	tac_device_mechanics angular; // mass 0: no rotation
	tac_sim_hand hand;
	tac_sim_hand hand_angular;
	tac_device_mechanics gripper; // mass 0: no gripper
	tac_sim_hand fingers;         // on the gripper
	double gripper_max_m;         // only reported in info
	double max_gripper_N;         // 0: the gripper has no motor
	double max_force_N;           // larger forces are shortened to it; 0: no force is applied
	double max_torque_Nm;         // 0: no torque is applied
	double max_stiffness_N_per_m;
	double max_damping_N_s_per_m;
	double workspace_m;   // edge of the cube around the origin
	int64_t period_ns;    // of the device's own cycle, only reported in info
	int64_t delay_ns;     // from write to force: 0 … TAC_SIM_DELAY_MAX_NS
	int64_t hold_ns;      // a force without a new write ends after this; 0: never
	double velocity_pole; // 0 … below 1: v = pole v + (1 - pole) difference
	tac_dvec3 start_m;    // position and velocity at the first read
	tac_dvec3 start_m_per_s;
	tac_dvec3 preload_N; // constant force of the hand
	uint32_t waypoints;
	const tac_sim_waypoint *path; // copied; without waypoints the hand holds still at start_m
	bool repeat; // after the last waypoint the path begins again, in a straight line to its next point
} tac_sim_def;

// A device in the table of presets.
typedef struct tac_sim_preset {
	const char *name; // "falcon"
	const char *device;
	const char *source; // of the numbers, and which of them are estimates
	tac_sim_def def;    // without hand and path
} tac_sim_preset;

typedef struct tac_sim_grip {
	const char *name; // "stylus"
	tac_sim_hand hand;
} tac_sim_grip;

// Preset or grip `index`, from 0; NULL after the last.
// Thread: any.
TAC_API const tac_sim_preset *tac_sim_preset_at(int index);
TAC_API const tac_sim_grip *tac_sim_grip_at(int index);

// The device `preset` in the hand `grip` ("none": nobody holds it), at rest at the origin. TAC_ERROR_ARGUMENT
// with a log line that lists the names if one is unknown. Thread: setup.
TAC_API tac_result tac_sim_def_preset(const char *preset, const char *grip, tac_sim_def *out_def);

// The mechanics of the simulated omega.7's gripper, an estimate for drivers whose grippers state none.
// Thread: any.
tac_device_mechanics tac_sim_gripper_estimate(void);

// TAC_ERROR_ARGUMENT (a value out of range, waypoints out of order) or TAC_ERROR_MEMORY with a log line.
// Thread: setup.
TAC_API tac_result tac_sim_create(const tac_sim_def *def, tac_device **out_device);

// The true state, which only a simulation has.
typedef struct tac_sim_truth {
	tac_dvec3 position_m; // before the quantiser
	tac_dvec3 velocity_m_per_s;
	tac_dvec3 rotation_rad;
	tac_dvec3 rotation_rate_rad_per_s;
	tac_wrench applied;          // by the motors now
	double gripper_m, gripper_N; // opening, and force applied by its motor now
	double absorbed_J; // energy that the motors have absorbed, exactly: -sum of force times displacement
	uint64_t dropped;  // writes beyond TAC_SIM_COMMANDS delayed ones; each replaced the last
	uint64_t skipped_ns; // time skipped because of TAC_SIM_GAP_MAX_NS
	uint64_t saturated;  // writes above the maximum force or torque
} tac_sim_truth;

// Of a device that tac_sim_create returned.
// Thread: RT, the owner.
TAC_API tac_sim_truth tac_sim_read_truth(const tac_device *device);

// Unplugs the device: from now on reads and writes return TAC_DEVICE_LOST and the motors are off.
// Thread: any.
TAC_API void tac_sim_unplug(tac_device *device);

#ifdef __cplusplus
}
#endif

#endif
