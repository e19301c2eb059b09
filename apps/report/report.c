#include "apps/report.h"

#include "apps/plot.css.h"
#include "apps/plot.h"
#include "apps/report.css.h"
#include "apps/report.js.h"
#include "apps/report_plots.h"
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TICK_WAKE, TICK_COMPUTE, TICK_MISSED, TICK_CHANNELS };

bool report_init(report *r, const char *command)
{
	*r = (report){.command = command, .machine = machine_describe()};
	r->ticks = calloc(1, sizeof *r->ticks);
	if (!r->ticks) {
		tac_log(TAC_LOG_ERROR, "report: expected %zu bytes, found no memory", sizeof *r->ticks);
		return false;
	}
	r->ticks->channels = TICK_CHANNELS;
	r->ticks->names[TICK_WAKE] = "wake_s";
	r->ticks->names[TICK_COMPUTE] = "compute_s";
	r->ticks->names[TICK_MISSED] = "missed";
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

void report_tick(void *user, const tac_tick *tick)
{
	report *r = user;
	const double values[TICK_CHANNELS] = {
		[TICK_WAKE] = (double)tac_tick_wake_ns(tick) / 1e9,
		[TICK_COMPUTE] = (double)tac_tick_compute_ns(tick) / 1e9,
		[TICK_MISSED] = tac_tick_missed(tick),
	};
	report_series_add(r->ticks, tick->planned_ns, values);
}

// ---- parts of the page ----

static const char *time_text(int64_t ns, char *out, size_t size)
{
	return plot_number((double)ns / 1e9, "s", out, size);
}

static void card(FILE *f, const char *kind, const char *name, const char *value, const char *note)
{
	fprintf(f,
		"<div class=\"card %s\"><div class=\"name\">%s</div><div class=\"value\">%s</div>"
		"<div class=\"note\">%s</div></div>\n",
		kind, name, value, note);
}

static void write_cards(FILE *f, const report *r)
{
	const tac_monitor_stats *s = r->stats;
	char value[64], note[96];
	fputs("<div class=\"cards\">\n", f);
	snprintf(value, sizeof value, "%lld", (long long)s->totals.ticks);
	snprintf(note, sizeof note, "at %g Hz", 1e9 / (double)r->period_ns);
	card(f, "", "ticks", value, note);
	snprintf(value, sizeof value, "%lld", (long long)s->totals.misses);
	snprintf(note, sizeof note, "%lld periods skipped, %lld records lost", (long long)s->totals.skipped,
		 (long long)s->totals.lost);
	card(f, s->totals.misses ? "bad" : "good", "missed deadlines", value, note);
	card(f, "", "wake, p99", time_text(tac_histogram_percentile(&s->wake, 99), value, sizeof value),
	     "late by less, 99 of 100 times");
	card(f, "", "wake, longest", time_text(s->wake.max_ns, value, sizeof value), "after the spin");
	card(f, "", "compute, p99", time_text(tac_histogram_percentile(&s->compute, 99), value, sizeof value),
	     "the tick's own work");
	card(f, "", "compute, longest", time_text(s->compute.max_ns, value, sizeof value),
	     "preemption and theft included");
	fputs("</div>\n", f);
}

static void fact_row(FILE *f, const char *name, const char *text)
{
	fputs("<tr><th>", f);
	plot_escaped(f, name);
	fputs("</th><td>", f);
	plot_escaped(f, text);
	fputs("</td></tr>\n", f);
}

static void write_setup(FILE *f, const report *r)
{
	fputs("<h2>Machine and set-up</h2>\n<div class=\"columns\">\n<table id=\"facts\">\n", f);
	char text[256];
	snprintf(text, sizeof text, "%s, %d CPUs%s", r->machine.cpu, r->machine.cpu_count,
		 r->machine.hypervisor ? ", under a hypervisor" : "");
	fact_row(f, "processor", text);
	snprintf(text, sizeof text, "Linux %s, %s", r->machine.kernel,
		 r->machine.realtime ? "PREEMPT_RT" : "not PREEMPT_RT");
	fact_row(f, "kernel", text);
	for (int i = 0; i < r->fact_count; i++)
		fact_row(f, r->facts[i].name, r->facts[i].text);
	fputs("</table>\n<table id=\"setup\">\n", f);
	for (int i = 0; i < TAC_GRANT_COUNT; i++) {
		const char *state = tac_grant_state_name(r->thread->grants[i].state);
		char line[320];
		tac_thread_report_line(r->thread, (tac_grant_item)i, line, sizeof line);
		char *end = strrchr(line, ':');
		if (end && strcmp(end + 2, state) == 0) // the badge says it
			*end = '\0';
		fprintf(f, "<tr><td><span class=\"badge %s\">%s</span></td><td>",
			strcmp(state, "not asked") == 0 ? "not-asked" : state, state);
		plot_escaped(f, line);
		fputs("</td></tr>\n", f);
	}
	fputs("</table>\n</div>\n", f);
}

static void percentile_row(FILE *f, const char *name, const tac_histogram *h)
{
	static const double percents[] = {50, 90, 99, 99.9, 99.99, 100};
	fprintf(f, "<tr><th>%s</th>", name);
	for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
		char text[48];
		fprintf(f, "<td class=\"number\">%s</td>",
			time_text(tac_histogram_percentile(h, percents[i]), text, sizeof text));
	}
	fputs("</tr>\n", f);
}

static void write_distributions(FILE *f, const report *r)
{
	const tac_monitor_stats *s = r->stats;
	fputs("<h2>Distributions</h2>\n<div class=\"columns\">\n<figure>\n", f);
	report_plot_histogram(f, "wake", "Wake: how late a tick begins", 0, &s->wake);
	fputs("</figure>\n<figure>\n", f);
	report_plot_histogram(f, "compute", "Compute: how long a tick works", 1, &s->compute);
	fputs("</figure>\n</div>\n<figure>\n", f);
	report_plot_survival(f, s, r->period_ns);
	fputs("</figure>\n<div class=\"wide\"><table id=\"percentiles\">\n<tr><th></th><th "
	      "class=\"number\">p50</th>"
	      "<th class=\"number\">p90</th><th class=\"number\">p99</th><th class=\"number\">p99.9</th>"
	      "<th class=\"number\">p99.99</th><th class=\"number\">longest</th></tr>\n",
	      f);
	percentile_row(f, "timer and scheduler", &s->timer);
	percentile_row(f, "wake", &s->wake);
	if (r->wake_corrected)
		percentile_row(f, "wake, corrected for coordinated omission", r->wake_corrected);
	percentile_row(f, "compute", &s->compute);
	for (int i = 0; i < TAC_PHASE_COUNT; i++) {
		if (s->phases[i].count > 0) {
			char name[64];
			snprintf(name, sizeof name, "&nbsp;&nbsp;%s", tac_phase_name((tac_phase)i));
			percentile_row(f, name, &s->phases[i]);
		}
	}
	fputs("</table></div>\n", f);
}

static void worst_row(FILE *f, int place, const tac_tick *t)
{
	char late[48], wake[48], compute[48], cpu[48], delay[48] = "unknown";
	if (t->evidence.run_delay_ns >= 0)
		time_text(t->evidence.run_delay_ns, delay, sizeof delay);
	fprintf(f,
		"<tr><td class=\"number\">%d</td><td class=\"number\">%lld</td><td class=\"number\">%s</td>"
		"<td class=\"after\">%s%s%s</td><td class=\"number\">%s</td><td class=\"number\">%s</td>"
		"<td class=\"number\">%s</td><td class=\"number\">%s</td><td class=\"number\">%u+%u</td>"
		"<td class=\"number\">%u+%u</td></tr>\n",
		place, (long long)t->index, time_text(-tac_tick_slack_ns(t), late, sizeof late),
		tac_cause_name(t->cause), t->cause_phase == TAC_PHASE_NONE ? "" : " in ",
		t->cause_phase == TAC_PHASE_NONE ? "" : tac_phase_name(t->cause_phase),
		time_text(tac_tick_wake_ns(t), wake, sizeof wake),
		time_text(tac_tick_compute_ns(t), compute, sizeof compute),
		time_text(t->evidence.cpu_ns, cpu, sizeof cpu), delay, t->evidence.voluntary,
		t->evidence.involuntary, t->evidence.minor_faults, t->evidence.major_faults);
}

static void write_misses(FILE *f, const report *r)
{
	static const char *const meanings[TAC_CAUSE_COUNT] = {
		[TAC_CAUSE_LATE_WAKE] = "runnable, but the scheduler ran something else",
		[TAC_CAUSE_STOLEN] = "wall time passed without CPU time: hypervisor or firmware",
		[TAC_CAUSE_PREEMPTED] = "taken off the CPU in the middle of the tick",
		[TAC_CAUSE_PAGE_FAULT] = "memory that was not resident",
		[TAC_CAUSE_LONG_COMPUTE] = "the work itself took too long, in the phase named",
		[TAC_CAUSE_DEVICE_IO] = "the device answered late",
		[TAC_CAUSE_STOPPED] = "a signal or a debugger stopped the process",
		[TAC_CAUSE_UNDECIDED] = "the evidence allows more than one of these",
	};
	const tac_monitor_stats *s = r->stats;
	fputs("<h2>Missed deadlines</h2>\n", f);
	if (s->totals.misses == 0) {
		fputs("<p id=\"no-misses\">Every tick ended before its deadline.</p>\n", f);
		return;
	}
	fputs("<div class=\"columns\"><figure>\n", f);
	report_plot_causes(f, s);
	fputs("</figure>\n<table>\n", f);
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++)
		fact_row(f, tac_cause_name((tac_cause)i), meanings[i]);
	fputs("</table></div>\n<div class=\"wide\"><table id=\"worst\">\n<tr><th class=\"number\"></th><th "
	      "class=\"number\">tick</th><th class=\"number\">late by</th><th class=\"after\">cause</th><th "
	      "class=\"number\">wake</th>"
	      "<th class=\"number\">compute</th><th class=\"number\">CPU time</th><th class=\"number\">run "
	      "delay</th>"
	      "<th class=\"number\">switches</th><th class=\"number\">faults</th></tr>\n",
	      f);
	for (int i = 0; i < s->worst_count; i++)
		worst_row(f, i + 1, &s->worst[i]);
	fputs("</table></div>\n<p>Switches are voluntary + involuntary, faults minor + major, since the last "
	      "sample "
	      "of evidence.</p>\n",
	      f);
}

static void write_forces(FILE *f, const report *r)
{
	static const struct {
		const char *id, *title, *label, *unit;
		int colour;
	} plots[REPORT_FORCE_CHANNELS] = {
		[REPORT_FORCE] = {"force", "Force on the device", "", "N", 2},
		[REPORT_TORQUE] = {"torque", "Torque on the device", "", "Nm", 5},
		[REPORT_CONTACTS] = {"contacts", "Contacts", "", NULL, 4},
		[REPORT_DEPTH] = {"depth", "Device behind the surface: distance to the tool shown", "", "m",
				  3},
		[REPORT_ENERGY] = {"energy",
				   "Energy the observer has seen: put in by the hand, less given back; below "
				   "0 is a deficit",
				   "", "J", 1},
	};
	fputs("<h2>Forces and energy</h2>\n", f);
	for (int i = 0; i < REPORT_FORCE_CHANNELS; i++) {
		fputs("<figure>\n", f);
		report_plot_channel(f, plots[i].id, plots[i].title, plots[i].label, plots[i].unit,
				    plots[i].colour, r->forces, i);
		fputs("</figure>\n", f);
	}
}

static void write_device(FILE *f, const tac_device_info *d)
{
	char text[160];
	fputs("<h2>Device</h2>\n<table id=\"device\">\n", f);
	fact_row(f, "name", d->name);
	if (d->serial[0])
		fact_row(f, "serial", d->serial);
	snprintf(text, sizeof text, "%d positions, %d rotations in; %d forces, %d torques out; %u buttons",
		 d->position_axes, d->rotation_axes, d->force_axes, d->torque_axes, d->buttons);
	fact_row(f, "axes", text);
	snprintf(text, sizeof text, "%g N, %g Nm", d->max_force_N, d->max_torque_Nm);
	fact_row(f, "greatest force and torque", text);
	if (d->max_stiffness_N_per_m > 0) {
		snprintf(text, sizeof text, "%g N/m", d->max_stiffness_N_per_m);
		fact_row(f, "recommended stiffness", text);
	}
	const tac_dvec3 size = tac_dvec3_sub(d->workspace_max_m, d->workspace_min_m);
	snprintf(text, sizeof text, "%.0f x %.0f x %.0f mm", 1e3 * size.x, 1e3 * size.y, 1e3 * size.z);
	fact_row(f, "workspace", text);
	if (d->linear.mass > 0) {
		snprintf(text, sizeof text, "%g kg, %g N s/m, %g N of dry friction, %g um resolution",
			 d->linear.mass, d->linear.damping, d->linear.coulomb, 1e6 * d->linear.resolution);
		fact_row(f, "mechanics", text);
	}
	fputs("</table>\n", f);
}

// ---- the data ----

static void json_number(FILE *f, double value)
{
	if (isfinite(value))
		fprintf(f, "%.9g", value);
	else
		fputs("null", f);
}

static void json_series(FILE *f, const char *name, const report_series *s)
{
	fprintf(f, "{\"name\":\"%s\",\"columns\":[\"t_s\",\"samples\"", name);
	for (int c = 0; c < s->channels; c++)
		fprintf(f, ",\"%s_min\",\"%s_mean\",\"%s_max\"", s->names[c], s->names[c], s->names[c]);
	fputs("],\"rows\":[", f);
	const char *comma = "";
	for (int i = 0; i < s->count; i++) {
		if (s->samples[i] == 0)
			continue;
		fprintf(f, "%s[%.6f,%u", comma, report_series_time_s(s, i), s->samples[i]);
		for (int c = 0; c < s->channels; c++) {
			const double values[3] = {s->bins[i][c].min, s->bins[i][c].sum / s->samples[i],
						  s->bins[i][c].max};
			for (int k = 0; k < 3; k++) {
				fputc(',', f);
				json_number(f, values[k]);
			}
		}
		fputs("]", f);
		comma = ",\n";
	}
	fputs("]}", f);
}

static void json_histogram_rows(FILE *f, const char *name, const tac_histogram *h, const char **comma)
{
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++) {
		int64_t low_ns, high_ns;
		uint64_t count;
		tac_histogram_bucket(h, i, &low_ns, &high_ns, &count);
		if (count == 0)
			continue;
		fprintf(f, "%s[\"%s\",%lld,%lld,%llu]", *comma, name, (long long)low_ns, (long long)high_ns,
			(unsigned long long)count);
		*comma = ",\n";
	}
}

static void write_data(FILE *f, const report *r)
{
	fputs("<h2 class=\"screen\">Data</h2>\n<div id=\"downloads\"></div>\n"
	      "<script type=\"application/json\" id=\"data\">\n{\"tables\":[\n",
	      f);
	json_series(f, "ticks", r->ticks);
	if (r->forces) {
		fputs(",\n", f);
		json_series(f, "forces", r->forces);
	}
	fputs(",\n{\"name\":\"histograms\",\"columns\":[\"of\",\"low_ns\",\"high_ns\",\"count\"],\"rows\":[",
	      f);
	const char *comma = "";
	json_histogram_rows(f, "timer", &r->stats->timer, &comma);
	json_histogram_rows(f, "wake", &r->stats->wake, &comma);
	json_histogram_rows(f, "compute", &r->stats->compute, &comma);
	fputs("]},\n{\"name\":\"worst\",\"columns\":[\"tick\",\"late_ns\",\"cause\",\"phase\",\"wake_ns\","
	      "\"compute_ns\"],"
	      "\"rows\":[",
	      f);
	for (int i = 0; i < r->stats->worst_count; i++) {
		const tac_tick *t = &r->stats->worst[i];
		fprintf(f, "%s[%lld,%lld,\"%s\",\"%s\",%lld,%lld]", i ? ",\n" : "", (long long)t->index,
			(long long)-tac_tick_slack_ns(t), tac_cause_name(t->cause),
			tac_phase_name(t->cause_phase), (long long)tac_tick_wake_ns(t),
			(long long)tac_tick_compute_ns(t));
	}
	fprintf(f, "]}\n]}\n</script>\n<script>%.*s</script>\n", (int)sizeof report_js,
		(const char *)report_js);
}

static void write_page(FILE *f, const report *r)
{
	char when[64] = "";
	const time_t now = time(NULL);
	struct tm local;
	if (localtime_r(&now, &local))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M", &local);
	fprintf(f,
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s, %s</title>\n",
		r->command, when);
	fprintf(f, "<link rel=\"icon\" href=\"data:,\">\n<style>\n%.*s%.*s</style></head>\n<body>\n",
		(int)sizeof plot_css, (const char *)plot_css, (int)sizeof report_css,
		(const char *)report_css);
	fprintf(f,
		"<header><h1>%s</h1><span class=\"when\">%s</span>"
		"<button id=\"theme\">light / dark</button></header>\n",
		r->command, when);
	write_cards(f, r);
	write_setup(f, r);
	write_distributions(f, r);
	fputs("<h2>Over time</h2>\n<figure>\n", f);
	report_plot_ticks(f, r->ticks, r->period_ns);
	fputs("</figure>\n", f);
	write_misses(f, r);
	if (r->forces)
		write_forces(f, r);
	if (r->device)
		write_device(f, r->device);
	write_data(f, r);
	fprintf(f, "<footer>Tactus %s</footer>\n</body></html>\n", TACTUS_VERSION);
}

// Closes `file`, NULL where it could not be opened; whether all went well, and one line if not.
static bool close_page(FILE *file, const char *path)
{
	bool written = file && !ferror(file);
	written = file && fclose(file) == 0 && written;
	if (!written)
		tac_log(TAC_LOG_ERROR, "report: expected to write %s, found %s", path, strerror(errno));
	return written;
}

bool report_can_write(const char *path)
{
	return close_page(fopen(path, "a"), path);
}

bool report_write(const report *r, const char *path)
{
	FILE *file = fopen(path, "w");
	if (file)
		write_page(file, r);
	return close_page(file, path);
}
