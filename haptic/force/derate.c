#include "haptic/derate.h"

#include "base/assert.h"

#include <math.h>

// A limit is computed for a loop that is later than measured by this share of its lateness. It is computed
// again when the loop gets later than that, or earlier by three times the share. Lateness is half a period
// plus the delay. If it were the delay alone, a delay that decays to 0 would cause computations forever.
#define SLACK 0.02

tac_derate_def tac_derate_def_default(const tac_device_info *info, int64_t period_ns)
{
	return (tac_derate_def){
		.device = info->linear,
		.max_stiffness_N_per_m = info->max_stiffness_N_per_m,
		.rule = TAC_DERATE_HAND,
		.hand = {0.03, 1.5, 100},
		.margin = 0.7,
		.period_ns = period_ns,
		.delay_ns = info->delay_ns,
		.window_s = 0.25,
		.rise_per_s = 0.5,
	};
}

static void take_smaller(tac_derate *d, double stiffness, tac_derate_reason reason)
{
	if (stiffness < d->limit_N_per_m) {
		d->limit_N_per_m = stiffness;
		d->reason = reason;
	}
}

static double lateness(const tac_derate *d)
{
	return 0.5 * d->period_s + d->delay_s;
}

static void compute(tac_derate *d)
{
	const tac_derate_def *def = &d->def;
	d->assumed_period_s = d->period_s + SLACK * lateness(d);
	d->assumed_delay_s = d->delay_s + 0.5 * SLACK * lateness(d);
	const tac_stability_loop loop = {d->assumed_period_s, d->assumed_delay_s, def->damping_N_s_per_m,
					 def->velocity_pole};
	d->limit_N_per_m = HUGE_VAL;
	d->reason = TAC_DERATE_BY_NOTHING;
	if (def->max_stiffness_N_per_m > 0)
		take_smaller(d, def->max_stiffness_N_per_m, TAC_DERATE_BY_DEVICE);
	if (def->device.mass > 0 && def->device.damping > 0)
		take_smaller(d,
			     def->rule == TAC_DERATE_PASSIVE
				     ? tac_stability_passive(def->device.damping, &loop)
				     : def->margin * tac_stability_critical(&def->device, &def->hand, &loop),
			     TAC_DERATE_BY_RATE);
	if (def->device.coulomb > 0)
		take_smaller(d, tac_stability_quantised(&def->device, &loop), TAC_DERATE_BY_SENSOR);
	d->computed++;
}

void tac_derate_init(tac_derate *derate, const tac_derate_def *def)
{
	TAC_ASSERT(def->period_ns > 0 && def->delay_ns >= 0 && def->window_s > 0);
	TAC_ASSERT(def->margin >= 0 && def->margin <= 1 && def->rise_per_s >= 0);
	*derate = (tac_derate){.def = *def};
	derate->period_s = (double)def->period_ns / 1e9;
	derate->delay_s = (double)def->delay_ns / 1e9;
	compute(derate);
	derate->allowed_N_per_m = derate->limit_N_per_m;
	derate->held_by = derate->reason;
}

// Whether the assumption still covers the measurement, and not by too much.
static bool fits(const tac_derate *d, double assumed_s, double measured_s)
{
	return measured_s <= assumed_s && assumed_s - measured_s <= 3 * SLACK * lateness(d);
}

double tac_derate_step(tac_derate *derate, int64_t elapsed_ns, int64_t delay_ns)
{
	tac_derate *d = derate;
	if (elapsed_ns <= 0 || delay_ns < 0)
		return d->allowed_N_per_m;
	const double elapsed_s = (double)elapsed_ns / 1e9;
	// An average over time: each tick is weighted by its length, which gives sum(T T) / sum(T).
	const double share = 1 - exp(-elapsed_s / d->def.window_s);
	d->period_s += share * (elapsed_s - d->period_s);
	d->delay_s += share * ((double)delay_ns / 1e9 - d->delay_s);
	if (!fits(d, d->assumed_period_s, d->period_s) || !fits(d, d->assumed_delay_s, d->delay_s))
		compute(d);
	if (d->limit_N_per_m <= d->allowed_N_per_m || !isfinite(d->limit_N_per_m))
		d->allowed_N_per_m = d->limit_N_per_m;
	else
		d->allowed_N_per_m =
			fmin(d->limit_N_per_m,
			     d->allowed_N_per_m + d->def.rise_per_s * elapsed_s * d->limit_N_per_m);
	if (d->allowed_N_per_m == d->limit_N_per_m)
		d->held_by = d->reason;
	return d->allowed_N_per_m;
}

const char *tac_derate_reason_name(tac_derate_reason reason)
{
	static const char *const names[TAC_DERATE_REASON_COUNT] = {
		[TAC_DERATE_BY_NOTHING] = "nothing",
		[TAC_DERATE_BY_DEVICE] = "device",
		[TAC_DERATE_BY_RATE] = "rate",
		[TAC_DERATE_BY_SENSOR] = "sensor",
	};
	return reason >= 0 && reason < TAC_DERATE_REASON_COUNT ? names[reason] : "unknown reason";
}
