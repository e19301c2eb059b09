#include "apps/report/report.h"

#include "apps/report/report_page.h"
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	static const char *const names[] = {"force_N", "torque_Nm", "contacts", "depth_m", "energy_J"};
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

// Closes `file`; NULL: it could not be opened. False after one log line: not everything was written.
static bool close_file(FILE *file, const char *path)
{
	bool written = file && !ferror(file);
	written = file && fclose(file) == 0 && written;
	if (!written)
		tac_log(TAC_LOG_ERROR, "report: expected to write %s, found %s", path, strerror(errno));
	return written;
}

bool report_can_write(const char *path)
{
	return close_file(fopen(path, "a"), path);
}

bool report_write(const report *r, const char *path)
{
	FILE *file = fopen(path, "w");
	if (file)
		report_page_write(file, r);
	return close_file(file, path);
}
