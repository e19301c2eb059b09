// Derate: keeps the stiffness within what device, rate and delay can display now. It watches how long ticks
// really take and how late forces really arrive, asks haptic/stability.h for the limits of such a loop, and
// allows the least of them. Ticks of uneven length count by their effect: a held spring gives out K v^2 T^2 /
// 2 in a tick, of which the device eats b v^2 T, so a run of ticks is like one of the period sum(T^2) /
// sum(T), the average over time of the tick's length. It and the delay are averaged over `window_s`; a single
// stall lowers the stiffness for about that long.
//
// The allowed stiffness falls at once, because a softer spring gives energy back to nobody, and rises slowly,
// because stiffening a compressed spring feeds it.
#ifndef TAC_HAPTIC_DERATE_H
#define TAC_HAPTIC_DERATE_H

#include "haptic/stability.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Which limit holds for the rate and the delay.
typedef enum tac_derate_rule {
	TAC_DERATE_HAND,    // a part `margin` of the critical stiffness with `hand`
	TAC_DERATE_PASSIVE, // the passive stiffness, whatever the hand
} tac_derate_rule;

// What the allowed stiffness is limited by.
typedef enum tac_derate_reason {
	TAC_DERATE_BY_NOTHING,
	TAC_DERATE_BY_DEVICE, // the maximum that is recommended for it
	TAC_DERATE_BY_RATE,   // period, delay and damping
	TAC_DERATE_BY_SENSOR, // its steps and the device's friction
	TAC_DERATE_REASON_COUNT,
} tac_derate_reason;

typedef struct tac_derate_def {
	tac_device_mechanics device;  // mass or damping 0: not known, the rate is then no limit
	double max_stiffness_N_per_m; // recommended; 0: none is
	double damping_N_s_per_m;     // of the wall
	double velocity_pole;
	tac_derate_rule rule;
	tac_stability_hand hand;
	double margin;     // 0 … 1
	int64_t period_ns; // what to begin with, above 0
	int64_t delay_ns;
	double window_s;   // above 0
	double rise_per_s; // part of the limit by which the stiffness may grow in a second
} tac_derate_def;

// Caller-owned. The fields may be read and shown; tac_derate_step writes them.
typedef struct tac_derate {
	tac_derate_def def;
	double period_s;           // effective, as measured
	double delay_s;            // mean, as measured
	double allowed_N_per_m;    // now
	double limit_N_per_m;      // what it may rise to
	tac_derate_reason reason;  // of that limit
	tac_derate_reason held_by; // what allows no more now: while it rises, the limit that made it fall
	uint64_t computed;         // how often the limits were worked out anew
	double assumed_period_s;   // for which the limit was computed: a little more than measured
	double assumed_delay_s;
} tac_derate;

// For a device in a light hand (0.03 kg, 1.5 N s/m, 100 N/m) with margin 0.7, window 0.25 s, rise 0.5 a
// second.
// Thread: any.
tac_derate_def tac_derate_def_default(const tac_device_info *info, int64_t period_ns);

// Thread: RT.
void tac_derate_init(tac_derate *derate, const tac_derate_def *def);

// Takes one tick: `elapsed_ns` since the one before (above 0; others are left out) and `delay_ns` from its
// read to the effect of its force. Returns the stiffness allowed from now on, N/m. A new limit is worked out
// only where period or delay have changed by some percent; it is right for 2 % more lateness.
// Thread: RT.
double tac_derate_step(tac_derate *derate, int64_t elapsed_ns, int64_t delay_ns);

// "nothing", "device", "rate", "sensor". Never NULL. Thread: any.
const char *tac_derate_reason_name(tac_derate_reason reason);

#ifdef __cplusplus
}
#endif

#endif
