// Derate: keeps the displayed stiffness within what device, rate and delay allow. It measures how long ticks
// take and how late forces arrive, computes the limits of such a loop with haptic/stability.h, and allows the
// smallest of them. Ticks of uneven length count by their effect: a held spring generates K v^2 T^2 / 2 in a
// tick, of which the device dissipates b v^2 T. A run of ticks is therefore equivalent to a constant period
// of sum(T^2) / sum(T), the average over time of the tick's length. Period and delay are averaged over
// `window_s`; a single stall lowers the stiffness for about that long.
//
// The allowed stiffness falls at once, because softening a spring generates no energy, and rises slowly,
// because stiffening a compressed spring adds energy to it.
#ifndef TAC_HAPTIC_DERATE_H
#define TAC_HAPTIC_DERATE_H

#include "base/api.h"
#include "haptic/stability.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The limit applied for rate and delay.
typedef enum tac_derate_rule {
	TAC_DERATE_HAND,    // `margin` times the critical stiffness with `hand`
	TAC_DERATE_PASSIVE, // the passive stiffness, which holds for every hand
} tac_derate_rule;

// What limits the allowed stiffness.
typedef enum tac_derate_reason {
	TAC_DERATE_BY_NOTHING,
	TAC_DERATE_BY_DEVICE, // the maximum recommended for it
	TAC_DERATE_BY_RATE,   // period, delay and damping
	TAC_DERATE_BY_SENSOR, // resolution of the position sensor, against the device's friction
	TAC_DERATE_REASON_COUNT,
} tac_derate_reason;

typedef struct tac_derate_def {
	tac_device_mechanics device;  // mass or damping 0: unknown, and the rate does not limit
	double max_stiffness_N_per_m; // recommended; 0: none
	double damping_N_s_per_m;     // of the wall
	double velocity_pole;
	tac_derate_rule rule;
	tac_stability_hand hand;
	double margin;     // 0 … 1
	int64_t period_ns; // initial, above 0
	int64_t delay_ns;  // initial
	double window_s;   // above 0
	double rise_per_s; // share of the limit by which the stiffness may rise in a second
} tac_derate_def;

// Caller-owned. The fields may be read and shown; tac_derate_step writes them.
typedef struct tac_derate {
	tac_derate_def def;
	double period_s;           // effective, measured
	double delay_s;            // mean, measured
	double allowed_N_per_m;    // now
	double limit_N_per_m;      // what it may rise to
	tac_derate_reason reason;  // of that limit
	tac_derate_reason held_by; // of `allowed_N_per_m`: while it rises, the limit that made it fall
	uint64_t computed;         // times the limits were computed
	double assumed_period_s;   // for which the limit was computed: slightly more than measured
	double assumed_delay_s;
} tac_derate;

// A device in a light hand (0.03 kg, 1.5 N s/m, 100 N/m), margin 0.7, window 0.25 s, rise 0.5 per second.
// Thread: any.
tac_derate_def tac_derate_def_default(const tac_device_info *info, int64_t period_ns);

// Thread: RT.
void tac_derate_init(tac_derate *derate, const tac_derate_def *def);

// Accounts for one tick: `elapsed_ns` since the previous one (ignored unless above 0) and `delay_ns` from its
// read to the effect of its force. Returns the stiffness allowed from now on, N/m. The limits are computed
// again only when period or delay have changed by a few percent; they hold for 2 % more lateness.
// Thread: RT.
double tac_derate_step(tac_derate *derate, int64_t elapsed_ns, int64_t delay_ns);

// "nothing", "device", "rate", "sensor". Never NULL.
// Thread: any.
TAC_API const char *tac_derate_reason_name(tac_derate_reason reason);

#ifdef __cplusplus
}
#endif

#endif
