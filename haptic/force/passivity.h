// Passivity: an energy observer and controller for one axis of the port between runtime and hand (the series
// passivity controller of B. Hannaford and J.-H. Ryu, "Time-domain passivity control of haptic interfaces",
// IEEE Trans. Robotics and Automation 18(1), 2002), with the observer in sampled-data form. The classical
// observer sums force times velocity of the same tick; to it a held spring looks dissipative, while hold and
// delay in fact feed energy to the hand. This one sums the force that acted between two samples, hold and
// delay included, times the motion between them. When the sum shows that more energy went out than came in,
// the controller adds damping that dissipates the deficit.
//
// Damping is sampled and held, too. Against a motion faster than a quarter of the sampling rate (less with
// delay) it comes too late and feeds what it should brake: an operator who shakes over a step of the position
// sensor in phase with the sampling would get 2 damping / T times what the spring gives. The controller
// therefore keeps an account of its own damping force, and adds no damping while that has generated more than
// it dissipated, apart from a small allowance.
//
// An axis that exchanges no energy with others has its own observer. Axes that do exchange energy, as on
// every slope that turns a push downwards into a push sideways, need a common one: separate observers would
// see generation where there is none, and in a plain sum the dissipation of one axis, as by friction, could
// hide what another generates. A port of six axes therefore observes the sum, and counts at most the energy
// that the springs still hold: dissipated energy cannot be returned.
//
// The controller is a safety net. The stiffness must respect haptic/stability.h first.
//
// For a torque, x is the running sum of the tool's rotations about that axis, each tick's being log(R R'^-1)
// in the base frame: torque times its change is energy. The components of the rotation vector of R itself are
// not such a sum.
#ifndef TAC_HAPTIC_FORCE_PASSIVITY_H
#define TAC_HAPTIC_FORCE_PASSIVITY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Sent forces remembered. A delay may span one tick less; older forces count as the oldest remembered.
#define TAC_PASSIVITY_HISTORY 32

typedef struct tac_passivity_def {
	int64_t period_ns;            // nominal, above 0; sets the controller's gain
	int64_t delay_ns;             // from a tick's read to the effect of its force
	double damping_max_N_s_per_m; // above 0.2 mass / period it chatters
	double speed_min_m_per_s;     // no damping at or below this speed, where it would be noise
	double credit_J;              // energy that may go out beyond what came in; 0 is strict
	double damper_power_W;        // that its damping may generate on average; HUGE_VAL: not observed
	bool forget;                  // out of contact, stored energy is forgotten, but never a deficit
} tac_passivity_def;

// Caller-owned. The fields may be read; tac_passivity_step and tac_passivity_sent write them.
typedef struct tac_passivity {
	tac_passivity_def def;
	double energy_J;                      // absorbed from the hand, credit included; below 0: a deficit
	double damping_N_s_per_m;             // added in the last step
	uint64_t interventions;               // steps with damping
	uint64_t saturated;                   // steps in which damping_max_N_s_per_m was not enough
	uint64_t withheld;                    // steps whose damping the account of the damper forbade
	double damper_J;                      // absorbed by the damping
	double damper_N;                      // damping force of the last step
	double x;                             // of the last step
	int64_t time_ns;                      // of the last step
	double sent_N[TAC_PASSIVITY_HISTORY]; // ring of the forces sent
	double sent_damper_N[TAC_PASSIVITY_HISTORY]; // the damping force in each
	int64_t sent_ns[TAC_PASSIVITY_HISTORY];      // the time of its step
	uint32_t sent_count;
	bool started;
} tac_passivity;

// Period `period_ns`, no delay, damping up to 0.2 `mass_kg` / period, no credit, 0.1 mW for the damper,
// forgetting.
// Thread: any.
tac_passivity_def tac_passivity_def_default(int64_t period_ns, double mass_kg);

// Starts with the credit and without a force sent.
// Thread: RT.
void tac_passivity_init(tac_passivity *passivity, const tac_passivity_def *def);

// Returns the force on the hand to send at `now_ns` instead of `force_N` (positive along x). `x_m` and
// `v_m_per_s` are position and speed measured by the device. `in_contact`: the runtime displays a force. Call
// tac_passivity_sent in the same tick.
// Thread: RT.
double tac_passivity_step(tac_passivity *passivity, int64_t now_ns, double x_m, double v_m_per_s,
			  double force_N, bool in_contact);

// Reports the force that was in fact sent in this tick, after all limits.
// Thread: RT.
void tac_passivity_sent(tac_passivity *passivity, double force_N);

// Six axes that exchange energy: forces along x, y, z, then torques. Caller-owned; each axis is initialised
// by tac_passivity_init.
#define TAC_PASSIVITY_AXES 6

typedef struct tac_passivity_port {
	tac_passivity axes[TAC_PASSIVITY_AXES];
	double energy_J;      // absorbed and neither returned nor dissipated; below 0: a deficit
	double damping_share; // of the maximal damping, added in the last step
} tac_passivity_port;

// Replaces the forces and torques in `force` by those to send at `now_ns`. `x` and `v` are positions and
// speeds of the axes. `stored_J`, 0 or more, is the elastic energy of the runtime's springs, the most that
// may be returned; 0 out of contact. Call tac_passivity_sent for each axis in the same tick.
// Thread: RT.
void tac_passivity_step_port(tac_passivity_port *port, int64_t now_ns, const double *x, const double *v,
			     double *force, double stored_J);

// Sets a newly measured delay; it also applies to forces already sent.
// Thread: RT.
void tac_passivity_set_delay(tac_passivity *passivity, int64_t delay_ns);

#ifdef __cplusplus
}
#endif

#endif
