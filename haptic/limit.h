// Limit: the only gate between the runtime and the device. Whatever wrench it is given, the one that leaves
// is finite, within the maximal force and torque, and within the slew rates (with one exception: the
// emergency stop cuts to zero at once). A gain between 0 and 1 scales it. The gain falls over `release_s`
// while something is wrong: the dead-man's button is not held, the device is too fast or does not answer, a
// collider's answer is unknown, the loop has stalled. It rises again over `engage_s`, or at once where the
// tool is free of contact and there is no force to scale.
//
// Every tick in which the limit changes something is counted under its reason.
#ifndef TAC_HAPTIC_LIMIT_H
#define TAC_HAPTIC_LIMIT_H

#include "base/result.h"
#include "devices/device.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Why the limit changed the wrench; bit 1u << TAC_LIMIT_… of tac_limit_output.reasons.
typedef enum tac_limit_reason {
	TAC_LIMIT_NOT_FINITE, // wrench or speed is NaN or infinite; such a wrench counts as zero
	TAC_LIMIT_FORCE,      // above max_force_N: scaled down
	TAC_LIMIT_TORQUE,     // above max_torque_Nm: scaled down
	TAC_LIMIT_FORCE_SLEW, // changed too fast: follows at the slew rate
	TAC_LIMIT_TORQUE_SLEW,
	TAC_LIMIT_SPEED,  // the device is faster than the maximum; lasts until it is slower than half of that
	TAC_LIMIT_ENGAGE, // the gain is rising
	TAC_LIMIT_DEADMAN, // the button is not held
	TAC_LIMIT_STALL,   // no step for stall_ns, or time ran backwards: gain 0
	TAC_LIMIT_UNKNOWN, // a collider's answer is unknown
	TAC_LIMIT_STALE,   // no new sample from the device for stale_ns
	TAC_LIMIT_LOST,    // device lost, ended or disabled: gain 0
	TAC_LIMIT_STOPPED, // emergency stop: exactly zero until reset
	TAC_LIMIT_GRIPPER, // the gripper's force is above max_gripper_N, or changed too fast
	TAC_LIMIT_REASON_COUNT,
} tac_limit_reason;

#define TAC_LIMIT_NO_BUTTON (-1)

typedef struct tac_limit_def {
	double max_force_N; // 0 or more
	double max_torque_Nm;
	double force_slew_N_per_s; // above 0
	double torque_slew_Nm_per_s;
	double max_gripper_N; // 0 or more
	double gripper_slew_N_per_s;
	double max_speed_m_per_s; // above 0
	double max_turn_rad_per_s;
	double engage_s;    // from gain 0 to 1; above 0
	double release_s;   // from gain 1 to 0; above 0
	int deadman_button; // 0 … 31, or TAC_LIMIT_NO_BUTTON
	int64_t stall_ns;   // above 0
	int64_t stale_ns;   // 0 or more
} tac_limit_def;

typedef struct tac_limit_input {
	int64_t now_ns;
	tac_wrench wrench; // to be limited
	tac_device_status status;
	tac_device_state state; // read in this tick
	bool in_contact;        // the tool touches something
	bool unknown;           // a collider's answer is unknown
	double gripper_N;       // to be limited
} tac_limit_input;

typedef struct tac_limit_output {
	tac_wrench wrench; // to write
	uint32_t reasons;
	double gain;      // 0 … 1
	double gripper_N; // to write
} tac_limit_output;

typedef struct tac_limit tac_limit;

// The device's maxima, reached from 0 within its full_force_s; 2 m/s, 30 rad/s; engage in 0.5 s, release in
// 50 ms; no button; stall 10 ms, stale 5 ms. Thread: any.
tac_limit_def tac_limit_def_default(const tac_device_info *info);

// Sets the slew rates so that the maxima of `def` are reached from 0 within the device's full_force_s: lower
// maxima have lower rates.
// Thread: any.
void tac_limit_def_set_slew(tac_limit_def *def, const tac_device_info *info);

// TAC_ERROR_ARGUMENT (a value is not finite or out of its range) or TAC_ERROR_MEMORY, with a log line;
// *out_limit is NULL then. The caller owns *out_limit.
// Thread: setup.
tac_result tac_limit_create(const tac_limit_def *def, tac_limit **out_limit);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_limit_destroy(tac_limit **limit);

// Computes what may be written to the device in this tick.
// Thread: RT.
tac_limit_output tac_limit_step(tac_limit *limit, const tac_limit_input *input);

// Emergency stop: the wrench is zero from the next step on, for at least one step, until tac_limit_reset.
// Thread: any, signal handlers included.
void tac_limit_stop(tac_limit *limit);

// The gain that the next step may have at most. *out_goal is the one that it rises to while nothing is wrong,
// or falls to; the result is no more than that. Thread: RT.
double tac_limit_next_gain(const tac_limit *limit, double elapsed_s, double *out_goal);

// From the next step on the gain rises no higher than `gain`, and falls to it over `release_s`. A value that
// is not below the present one, 1 at first, changes nothing: nothing raises it again. Below 0 is 0.
// Thread: any but RT.
void tac_limit_lower_gain(tac_limit *limit, double gain);

// Ends an emergency stop; the gain rises from 0.
// Thread: any.
void tac_limit_reset(tac_limit *limit);

// The number of ticks with `reason` since create.
// Thread: any.
uint64_t tac_limit_count(const tac_limit *limit, tac_limit_reason reason);

// "not finite", "force", …. Never NULL.
// Thread: any.
TAC_API const char *tac_limit_reason_name(tac_limit_reason reason);

#ifdef __cplusplus
}
#endif

#endif
