#include "apps/report/report.h"

#include "apps/report/report_page.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool report_init(report *r, const char *command)
{
	*r = (report){.command = command, .machine = machine_describe()};
	r->ticks = calloc(1, sizeof *r->ticks);
	if (!r->ticks) {
		tac_log(TAC_LOG_ERROR, "report: expected %zu bytes, found no memory", sizeof *r->ticks);
		return false;
	}
	r->ticks->channels = REPORT_TICK_CHANNELS;
	r->ticks->names[REPORT_TICK_WAKE] = "wake_s";
	r->ticks->names[REPORT_TICK_COMPUTE] = "compute_s";
	r->ticks->names[REPORT_TICK_MISSED] = "missed";
	return true;
}

void report_fini(report *r)
{
	free(r->ticks);
	r->ticks = NULL;
}

void report_fact_add(report *r, const char *name, const char *format, ...)
{
	if (r->fact_count == REPORT_FACTS)
		return;
	report_fact *fact = &r->facts[r->fact_count++];
	snprintf(fact->name, sizeof fact->name, "%s", name);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(fact->text, sizeof fact->text, format, arguments);
	va_end(arguments);
}

void report_forces_init(report_series *forces)
{
	static const char *const names[] = {"force_N", "torque_Nm", "contacts",
					    "depth_m", "energy_J",  "effects_N"};
	forces->channels = REPORT_FORCE_CHANNELS;
	for (int i = 0; i < REPORT_FORCE_CHANNELS; i++)
		forces->names[i] = names[i];
}

void report_add_tick(void *user, const tac_tick *tick)
{
	report *r = user;
	const double values[REPORT_TICK_CHANNELS] = {
		[REPORT_TICK_WAKE] = (double)tac_tick_wake_ns(tick) / 1e9,
		[REPORT_TICK_COMPUTE] = (double)tac_tick_compute_ns(tick) / 1e9,
		[REPORT_TICK_MISSED] = tac_tick_missed(tick),
	};
	report_series_add(r->ticks, tick->planned_ns, values);
}

bool report_write(const report *r, tac_output **output)
{
	report_page_write(tac_output_file(*output), r);
	return tac_output_commit(output) >= TAC_OK;
}
