// Passivity: an energy observer and controller for one axis of the port between runtime and hand (the series
// passivity controller of B. Hannaford and J.-H. Ryu, "Time-domain passivity control of haptic interfaces",
// IEEE Trans. Robotics and Automation 18(1), 2002), with the observer in sampled-data form. The classical
// observer sums force times velocity of the same tick, by which a held spring looks dissipative while in
// truth hold and delay feed energy to the hand; this one sums the force that acted between two samples, hold
// and delay included, times the motion between them. When the sum shows that more was given out than came in,
// it asks for a damping that repays the deficit.
//
// Damping is sampled and held, too: against a motion quicker than a quarter of the sampling rate (less with
// delay) it comes too late and feeds what it should brake. An operator who shakes over an edge of the
// position sensor in step with the sampling would get 2 damping / T times what the spring gives him. So it
// keeps an account of its own force and rests while that has given out more than it took, but for a trickle.
//
// Where an axis stands alone, use one for it. Where axes exchange energy, as on every slope that turns a push
// downwards into a push aside, one for each would see generation where there is none, and over a plain sum
// one could hide what another generates, as friction does. A port of six axes therefore watches the sum, and
// counts no more of what came in than the springs still hold: what was dissipated cannot be given back.
//
// It is a net, not a licence: stiffness has to respect haptic/stability.h first.
//
// For a torque, x is the running sum of the tool's turns about that axis, each tick's turn being log(R R'^-1)
// in the base frame: torque times that is energy. The components of the rotation vector of R itself are not.
#ifndef TAC_HAPTIC_PASSIVITY_H
#define TAC_HAPTIC_PASSIVITY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Sent forces remembered; a delay reaches back over so many ticks less one. Older ones count as the oldest
// known.
#define TAC_PASSIVITY_HISTORY 32

typedef struct tac_passivity_def {
	int64_t period_ns;            // nominal, above 0; the controller's gain
	int64_t delay_ns;             // from a tick's read to the force that follows from it
	double damping_max_N_s_per_m; // most that it adds: at most 0.2 mass / period, or it chatters
	double speed_min_m_per_s;     // it rests at and below this speed, where its damping would be noise
	double credit_J;              // energy it may give out beyond what came in; 0 is strict
	double own_power_W; // what its damping itself may give out on average; HUGE_VAL: not watched
	bool forget;        // out of contact, energy collected earlier is forgotten (never a deficit)
} tac_passivity_def;

// Caller-owned. The fields may be read; tac_passivity_step and tac_passivity_sent write them.
typedef struct tac_passivity {
	tac_passivity_def def;
	double energy_J;          // absorbed from the hand so far, credit included; below 0: a deficit
	double damping_N_s_per_m; // added in the last step
	uint64_t interventions;   // steps in which it added damping
	uint64_t saturated;       // steps in which damping_max was not enough
	uint64_t rested;          // steps in which it would have, but its own account forbade it
	double own_J;             // absorbed by its own damping
	double own_N;             // of the last step's force, its own
	double x;                 // of the last step
	int64_t time_ns;          // of the last step
	double sent_N[TAC_PASSIVITY_HISTORY]; // ring of forces sent, of which its own is…
	double sent_own_N[TAC_PASSIVITY_HISTORY];
	int64_t sent_ns[TAC_PASSIVITY_HISTORY]; // …in steps at these times
	uint32_t sent_count;
	bool started;
} tac_passivity;

// Period `period_ns`, no delay, damping up to 0.2 `mass_kg` / period, no credit, 0.1 mW of its own,
// forgetful. Thread: any.
tac_passivity_def tac_passivity_def_default(int64_t period_ns, double mass_kg);

// Begins with the credit and no force sent.
// Thread: RT.
void tac_passivity_init(tac_passivity *passivity, const tac_passivity_def *def);

// The force to send at `now_ns` instead of `force_N` (positive along x; on the hand), where the position is
// `x_m` and the speed `v_m_per_s`, both as measured by the device. `in_contact`: whether the runtime shows
// any force. Follow it by tac_passivity_sent in the same tick.
// Thread: RT.
double tac_passivity_step(tac_passivity *passivity, int64_t now_ns, double x_m, double v_m_per_s,
			  double force_N, bool in_contact);

// What really went to the device in this tick, after all limits: the observer must not believe what it asked
// for.
// Thread: RT.
void tac_passivity_sent(tac_passivity *passivity, double force_N);

// Six axes that share their energy: forces in x, y, z, then torques. Caller-owned; init the axes one by one.
#define TAC_PASSIVITY_AXES 6

typedef struct tac_passivity_port {
	tac_passivity axes[TAC_PASSIVITY_AXES];
	double energy_J; // absorbed and not yet given back or dissipated; below 0: a deficit
	double part;     // of the strongest damping, added in the last step
} tac_passivity_port;

// The forces and torques to send at `now_ns` instead of those in `force`, where the axes are at `x` with the
// speeds `v`. `stored_J`, 0 or more: what the springs of the runtime hold, the most that it may give back; 0
// out of contact. Follow it by tac_passivity_sent for each axis.
// Thread: RT.
void tac_passivity_step_port(tac_passivity_port *port, int64_t now_ns, const double *x, const double *v,
			     double *force, double stored_J);

// A delay measured anew; forces under way are taken to arrive by it.
// Thread: RT.
void tac_passivity_set_delay(tac_passivity *passivity, int64_t delay_ns);

#ifdef __cplusplus
}
#endif

#endif
