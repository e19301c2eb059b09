// The effects of a servo: what the tick keeps of them from step to step. haptic/effect.h states the promises;
// effects.c computes the sum, keeps it continuous, scales it to what is stable, and keeps its work out of the
// passivity account.
#ifndef TAC_HAPTIC_SERVO_EFFECTS_H
#define TAC_HAPTIC_SERVO_EFFECTS_H

#include "haptic/effect.h"
#include "haptic/servo.h"
#include "rt/latest.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the application hands over to the real-time thread, as a whole.
typedef struct tac_effect_set {
	tac_effect effects[TAC_EFFECT_COUNT];
	uint32_t switched_on[TAC_EFFECT_COUNT]; // times; each begins the envelope anew
} tac_effect_set;

// The sum of all effects for one motion.
typedef struct tac_effect_sum {
	tac_wrench field, damper, wave;                      // scaled
	double stiffness_N_per_m, turn_stiffness_Nm_per_rad; // in reach, not scaled
	double damping_N_s_per_m, turn_damping_Nm_s_per_rad;
	double bound_N;  // of the change of the force in this tick, without the ramp
	uint32_t active; // bit i: effect i acts here
} tac_effect_sum;

// The device's motion, from which all effects are computed.
typedef struct tac_effect_track {
	tac_dpose T_world_device;
	tac_dvec3 velocity_m_per_s, angular_velocity_rad_per_s; // filtered
	int64_t time_ns;
} tac_effect_track;

// The application's own function.
typedef struct tac_effect_own {
	tac_wrench wrench;        // after its slew
	double stiffness_N_per_m; // as it states
	double damping_N_s_per_m;
	double bound_N;        // of the change of its force in this tick
	int64_t rest_until_ns; // not called before
	int64_t took_ns;
	bool overran; // in this tick
	uint64_t overruns, invalid;
} tac_effect_own;

typedef struct tac_servo_effects {
	// Of the application's thread.
	tac_effect_set written;
	tac_latest *latest;

	// Of the real-time thread, from tick to tick.
	tac_effect_set commanded; // by the commands of a live world
	bool commands;            // there were some in this tick
	bool used;                // there has been an effect, or there is a callback
	tac_effect_set set;
	int64_t begin_ns[TAC_EFFECT_COUNT]; // when each was switched on
	tac_effect_track track;
	double ramp_N_per_s, ramp_Nm_per_s;
	bool allowed;                      // the tool neither waits nor is clutched
	double spring_scale, damper_scale; // 0 … 1
	double allowed_N_per_m;            // stiffness in the world, with the damping of the effects
	double reserved_N_per_m, reserved_Nm_per_rad; // of it for the effects
	tac_wrench lag; // of the force behind the effects' sum: goes to zero along the ramp
	tac_effect_own own;
	tac_wrench last_own; // its wrench in the last tick

	// Of this tick.
	tac_effect_sum sum;
	tac_wrench wrench; // on the tool, world frame: all of it
	double bound_N;    // of the change of the force

	// For the passivity account.
	tac_wrench source; // in the last tick, device frame: all whose work is not the observer's
	double sent_share; // of what was wanted, that the limit sent in the last tick
} tac_servo_effects;

// Takes over the scene's effects for this tool. TAC_ERROR_MEMORY with one log line.
// Thread: setup.
tac_result tac_servo_init_effects(tac_servo *servo);

// Computes the effects of this tick, after the SCO's step and before the coupling. Returns whether there are
// any. With `clocked` the callback's time is measured.
// Thread: RT.
bool tac_servo_step_effects(tac_servo *servo, int64_t now_ns, int64_t elapsed_ns, bool clocked);

// The stiffness that the effects leave to the contacts, in the world, of what is allowed there.
// Thread: RT.
double tac_servo_beside_effects(const tac_servo *servo, double allowed_N_per_m);

// What the passivity account must be credited with for the last tick, in which the device moved by `dx` (six
// axes) within `elapsed_s`: the work of the effects' sources, J.
// Thread: RT.
double tac_servo_effects_credit_J(tac_servo *servo, const double *dx, double elapsed_s);

// Notes what the limit left of the wrench, and returns the share of the vibrations in it, device frame.
// Thread: RT.
tac_wrench tac_servo_effects_sent(tac_servo *servo, tac_wrench wanted, tac_wrench sent);

#ifdef __cplusplus
}
#endif

#endif
