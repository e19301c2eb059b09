#include "rt/meter.h"

#include "base/log.h"
#include "rt/clock.h"
#include "rt/deadline.h"
#include "rt/trace.h"

#include <stdlib.h>

struct tac_meter {
	int64_t period_ns;
	tac_deadline *deadline;
	tac_trace *trace;
	tac_monitor *monitor;
	bool attached;
	int64_t count;     // of ticks begun
	int64_t last_plan; // of the tick before
	tac_tick tick;
};

tac_result tac_meter_create(const tac_meter_def *def, tac_meter **out_meter)
{
	*out_meter = NULL;
	tac_meter *meter = calloc(1, sizeof *meter);
	if (!meter) {
		tac_log(TAC_LOG_ERROR, "meter: expected %zu bytes, found no memory", sizeof *meter);
		return TAC_ERROR_MEMORY;
	}
	meter->period_ns = def->period_ns;
	tac_deadline_def deadline = tac_deadline_def_default(def->period_ns);
	deadline.threshold_ns = def->threshold_ns;
	tac_result result = tac_deadline_create(&deadline, &meter->deadline);
	if (result == TAC_OK && def->trace_path) {
		tac_trace_def trace = tac_trace_def_default();
		trace.path = def->trace_path;
		result = tac_trace_create(&trace, &meter->trace);
	}
	const tac_monitor_def monitor = {.deadline = meter->deadline,
					 .log_path = def->log_path,
					 .watch_rivals = def->watch_rivals,
					 .trace = meter->trace};
	if (result == TAC_OK)
		result = tac_monitor_create(&monitor, &meter->monitor);
	if (result == TAC_OK)
		*out_meter = meter;
	else
		tac_meter_destroy(&meter, NULL);
	return result;
}

void tac_meter_begin(tac_meter *meter, int64_t planned_ns)
{
	if (!meter->attached) {
		tac_deadline_attach(meter->deadline);
		meter->attached = true;
	}
	// Periods between two plans in which no tick ran were skipped by the tick before.
	const int64_t step = meter->count > 0 ? (planned_ns - meter->last_plan) / meter->period_ns : 0;
	meter->tick = (tac_tick){
		.index = meter->count > 0 ? meter->tick.index + (step > 1 ? step : 1) : 0,
		.planned_ns = planned_ns,
		.timer_ns = planned_ns,
		.deadline_ns = planned_ns + meter->period_ns,
		.cause_phase = TAC_PHASE_NONE,
	};
	meter->count++;
	meter->last_plan = planned_ns;
	meter->tick.fired_ns = meter->tick.wake_ns = tac_clock_now_ns();
}

void tac_meter_end(tac_meter *meter)
{
	tac_tick_phase_end(&meter->tick, TAC_PHASE_WORK);
	meter->tick.end_ns = meter->tick.phase_end_ns[TAC_PHASE_WORK];
	tac_deadline_record(meter->deadline, &meter->tick, 1); // the loop slept once for this tick
}

tac_result tac_meter_destroy(tac_meter **meter, tac_monitor_stats *out_stats)
{
	tac_meter *m = *meter;
	if (!m)
		return TAC_OK;
	if (m->monitor && out_stats) {
		tac_monitor_drain(m->monitor);
		tac_monitor_read(m->monitor, out_stats);
	}
	tac_monitor_destroy(&m->monitor);
	const tac_result result = tac_trace_destroy(&m->trace, NULL);
	tac_deadline_destroy(&m->deadline);
	free(m);
	*meter = NULL;
	return result;
}
