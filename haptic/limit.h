// Limit: the one gate between the runtime and the device. Whatever the rest computes, what leaves here is
// finite, not longer than the maximal force and torque, and does not change faster than the slew rates (one
// exception: the emergency stop cuts to zero at once). On top of that lies a gain between 0 and 1. It goes
// down, over `release_s`, while something is wrong: the dead-man's button is not held, the device moves too
// fast or does not answer, the collider does not know, the loop has stalled. It comes up again over
// `engage_s`, or at once where the tool is free of contact and there is no force to come up.
//
// Every tick in which it changes something is counted under the name of the reason.
#ifndef TAC_HAPTIC_LIMIT_H
#define TAC_HAPTIC_LIMIT_H

#include "base/result.h"
#include "devices/device.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Why it stepped in. One bit each in tac_limit_output.reasons: 1u << TAC_LIMIT_….
typedef enum tac_limit_reason {
	TAC_LIMIT_NOT_FINITE, // the wrench or the speed had a NaN or an infinity: the wrench counts as zero
	TAC_LIMIT_FORCE,      // longer than max_force_N: shortened
	TAC_LIMIT_TORQUE,     // longer than max_torque_Nm: shortened
	TAC_LIMIT_FORCE_SLEW, // changed too fast: follows at the slew rate
	TAC_LIMIT_TORQUE_SLEW,
	TAC_LIMIT_SPEED,   // device faster than the maximum; until it is slower than half of it
	TAC_LIMIT_ENGAGE,  // coming up
	TAC_LIMIT_DEADMAN, // button not held
	TAC_LIMIT_STALL,   // no step for stall_ns, or time ran backwards: starts from gain 0
	TAC_LIMIT_UNKNOWN, // the collider did not know
	TAC_LIMIT_STALE,   // no new sample from the device for stale_ns
	TAC_LIMIT_LOST,    // device lost, ended or disabled: starts from gain 0
	TAC_LIMIT_STOPPED, // emergency stop, until reset: exactly zero
	TAC_LIMIT_REASON_COUNT,
} tac_limit_reason;

#define TAC_LIMIT_NO_BUTTON (-1)

typedef struct tac_limit_def {
	double max_force_N; // 0 or more
	double max_torque_Nm;
	double force_slew_N_per_s; // above 0
	double torque_slew_Nm_per_s;
	double max_speed_m_per_s; // above 0
	double max_turn_rad_per_s;
	double engage_s;    // from nothing to all; above 0
	double release_s;   // from all to nothing; above 0
	int deadman_button; // 0 … 31, or TAC_LIMIT_NO_BUTTON
	int64_t stall_ns;   // above 0
	int64_t stale_ns;   // 0 or more
} tac_limit_def;

typedef struct tac_limit_input {
	int64_t now_ns;
	tac_wrench wrench; // that the runtime wants
	tac_device_status status;
	tac_device_state state; // as read in this tick
	bool in_contact;        // whether the tool touches anything
	bool unknown;           // whether the collider could not tell
} tac_limit_input;

typedef struct tac_limit_output {
	tac_wrench wrench; // to write
	uint32_t reasons;
	double gain; // 0 … 1
} tac_limit_output;

typedef struct tac_limit tac_limit;

// The device's maxima, in full within 2 ms; 2 m/s, 30 rad/s; engage in 0.5 s, release in 50 ms; no button;
// stall 10 ms, stale 5 ms.
// Thread: any.
tac_limit_def tac_limit_def_default(const tac_device_info *info);

// TAC_ERROR_ARGUMENT (a value that is not finite or out of its range) or TAC_ERROR_MEMORY, with a log line.
// Thread: setup.
tac_result tac_limit_create(const tac_limit_def *def, tac_limit **out_limit);

// Thread: setup.
void tac_limit_destroy(tac_limit **limit);

// What may be written in this tick.
// Thread: RT.
tac_limit_output tac_limit_step(tac_limit *limit, const tac_limit_input *input);

// Emergency stop: from the next step on, and for at least one, the wrench is zero, until tac_limit_reset.
// Thread: any, signal handlers included.
void tac_limit_stop(tac_limit *limit);

// Ends an emergency stop; the force comes up from zero.
// Thread: any.
void tac_limit_reset(tac_limit *limit);

// Ticks in which it stepped in for `reason`, since create.
// Thread: any.
uint64_t tac_limit_count(const tac_limit *limit, tac_limit_reason reason);

// "not finite", "force", …. Never NULL. Thread: any.
const char *tac_limit_reason_name(tac_limit_reason reason);

#ifdef __cplusplus
}
#endif

#endif
