#include "apps/report/report_page.h"

#include "apps/report/plot.css.h"
#include "apps/report/plot.h"
#include "apps/report/report.css.h"
#include "apps/report/report.js.h"
#include "apps/report/report_data.h"
#include "apps/report/report_plots.h"
#include "apps/session/summary.h"
#include "apps/session/units.h"
#include "base/version.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const char *format_time(int64_t ns, char *out, size_t size)
{
	return plot_format_number((double)ns / 1e9, "s", out, size);
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
	snprintf(note, sizeof note, "%lld period%s skipped, %lld record%s lost", (long long)s->totals.skipped,
		 s->totals.skipped == 1 ? "" : "s", (long long)s->totals.lost,
		 s->totals.lost == 1 ? "" : "s");
	card(f, s->totals.misses ? "bad" : "good", "missed deadlines", value, note);
	card(f, "", "wake, p99", format_time(tac_histogram_percentile(&s->wake, 99), value, sizeof value),
	     "99 % of the ticks wake sooner");
	card(f, "", "wake, max", format_time(s->wake.max_ns, value, sizeof value), "after the spin");
	card(f, "", "compute, p99",
	     format_time(tac_histogram_percentile(&s->compute, 99), value, sizeof value),
	     "99 % of the ticks take less");
	card(f, "", "compute, max", format_time(s->compute.max_ns, value, sizeof value),
	     "includes preemption and stolen time");
	char verdict[SUMMARY_VERDICT];
	fprintf(f, "</div>\n<p id=\"verdict\">%s.</p>\n", summary_verdict(s, r->period_ns, verdict));
}

static void write_fact(FILE *f, const char *name, const char *text)
{
	fputs("<tr><th>", f);
	plot_write_escaped(f, name);
	fputs("</th><td>", f);
	plot_write_escaped(f, text);
	fputs("</td></tr>\n", f);
}

static void write_setup(FILE *f, const report *r)
{
	fputs("<h2>Machine and set-up</h2>\n<div class=\"columns\">\n<table id=\"facts\">\n", f);
	char text[256];
	snprintf(text, sizeof text, "%s, %d CPUs%s", r->machine.cpu, r->machine.cpu_count,
		 r->machine.hypervisor ? ", under a hypervisor" : "");
	write_fact(f, "processor", text);
	snprintf(text, sizeof text, "Linux %s, %s", r->machine.kernel,
		 r->machine.realtime ? "PREEMPT_RT" : "not PREEMPT_RT");
	write_fact(f, "kernel", text);
	for (int i = 0; i < r->fact_count; i++)
		write_fact(f, r->facts[i].name, r->facts[i].text);
	fputs("</table>\n<table id=\"setup\">\n", f);
	for (int i = 0; i < TAC_GRANT_COUNT; i++) {
		const char *state = tac_grant_state_name(r->thread->grants[i].state);
		char line[320];
		tac_thread_report_line(r->thread, (tac_grant_item)i, line, sizeof line);
		char *end = strrchr(line, ':');
		if (end && strcmp(end + 2, state) == 0) // the badge shows it
			*end = '\0';
		fprintf(f, "<tr><td><span class=\"badge %s\">%s</span></td><td>",
			strcmp(state, "not asked") == 0 ? "not-asked" : state, state);
		plot_write_escaped(f, line);
		fputs("</td></tr>\n", f);
	}
	fputs("</table>\n</div>\n", f);
}

static const char *const percentile_names[] = {"p50", "p90", "p99", "p99.9", "p99.99", "max"};

// Heads of columns that hold numbers.
static void write_heads(FILE *f, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(f, "<th class=\"number\">%s</th>", names[i]);
}

static void write_percentiles(FILE *f, const char *name, const tac_histogram *h)
{
	static const double percents[] = {50, 90, 99, 99.9, 99.99, 100};
	fprintf(f, "<tr><th>%s</th>", name);
	for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
		char text[48];
		fprintf(f, "<td class=\"number\">%s</td>",
			format_time(tac_histogram_percentile(h, percents[i]), text, sizeof text));
	}
	fputs("</tr>\n", f);
}

static void write_distributions(FILE *f, const report *r)
{
	const tac_monitor_stats *s = r->stats;
	fputs("<h2>Distributions</h2>\n<div class=\"columns\">\n<figure>\n", f);
	report_plot_histogram(f, "wake", "Wake: delay from the planned time to the start of a tick", 0,
			      &s->wake);
	fputs("</figure>\n<figure>\n", f);
	report_plot_histogram(f, "compute", "Compute: duration of a tick", 1, &s->compute);
	fputs("</figure>\n</div>\n<figure>\n", f);
	report_plot_survival(f, s, r->period_ns);
	fputs("</figure>\n<div class=\"wide\"><table id=\"percentiles\">\n<tr><th></th>", f);
	write_heads(f, percentile_names, sizeof percentile_names / sizeof percentile_names[0]);
	fputs("</tr>\n", f);
	write_percentiles(f, "timer and scheduler", &s->timer);
	write_percentiles(f, "wake", &s->wake);
	if (r->wake_corrected)
		write_percentiles(f, "wake, corrected for coordinated omission", r->wake_corrected);
	write_percentiles(f, "compute", &s->compute);
	for (int i = 0; i < TAC_PHASE_COUNT; i++) {
		if (s->phases[i].count > 0) {
			char name[64];
			snprintf(name, sizeof name, "&nbsp;&nbsp;%s", tac_phase_name((tac_phase)i));
			write_percentiles(f, name, &s->phases[i]);
		}
	}
	fputs("</table></div>\n", f);
}

static void write_worst(FILE *f, int rank, const tac_tick *t)
{
	char late[48], wake[48], compute[48], cpu[48], delay[48] = "unknown";
	if (t->evidence.run_delay_ns >= 0)
		format_time(t->evidence.run_delay_ns, delay, sizeof delay);
	fprintf(f,
		"<tr><td class=\"number\">%d</td><td class=\"number\">%lld</td><td class=\"number\">%s</td>"
		"<td class=\"after\">%s%s%s</td><td class=\"number\">%s</td><td class=\"number\">%s</td>"
		"<td class=\"number\">%s</td><td class=\"number\">%s</td><td class=\"number\">%u+%u</td>"
		"<td class=\"number\">%u+%u</td></tr>\n",
		rank, (long long)t->index, format_time(-tac_tick_slack_ns(t), late, sizeof late),
		tac_cause_name(t->cause), t->cause_phase == TAC_PHASE_NONE ? "" : " in ",
		t->cause_phase == TAC_PHASE_NONE ? "" : tac_phase_name(t->cause_phase),
		format_time(tac_tick_wake_ns(t), wake, sizeof wake),
		format_time(tac_tick_compute_ns(t), compute, sizeof compute),
		format_time(t->evidence.cpu_ns, cpu, sizeof cpu), delay, t->evidence.voluntary,
		t->evidence.involuntary, t->evidence.minor_faults, t->evidence.major_faults);
}

static void write_worst_ticks(FILE *f, const tac_monitor_stats *s)
{
	fputs("<div class=\"wide\"><table id=\"worst\">\n<tr>", f);
	write_heads(f, (const char *const[]){"", "tick", "late by"}, 3);
	fputs("<th class=\"after\">cause</th>", f);
	write_heads(f,
		    (const char *const[]){"wake", "compute", "CPU time", "run delay", "switches", "faults"},
		    6);
	fputs("</tr>\n", f);
	for (int i = 0; i < s->worst_count; i++)
		write_worst(f, i + 1, &s->worst[i]);
	fputs("</table></div>\n<p>Switches are voluntary + involuntary context switches, faults are minor + "
	      "major page faults, both since the evidence was last sampled.</p>\n",
	      f);
}

static void write_misses(FILE *f, const report *r)
{
	static const char *const meanings[TAC_CAUSE_COUNT] = {
		[TAC_CAUSE_LATE_WAKE] = "ready to run, but the scheduler ran another thread",
		[TAC_CAUSE_STOLEN] = "wall time passed without CPU time: hypervisor or firmware",
		[TAC_CAUSE_PREEMPTED] = "lost the CPU during the tick",
		[TAC_CAUSE_PAGE_FAULT] = "touched memory that was not resident",
		[TAC_CAUSE_LONG_COMPUTE] = "the work took too long, in the phase named",
		[TAC_CAUSE_BLOCKED] = "the phase named waited: a lock, a file, a pipe, a sleep",
		[TAC_CAUSE_DEVICE_IO] = "the device answered late",
		[TAC_CAUSE_EFFECT] = "a force of the application took too long",
		[TAC_CAUSE_STOPPED] = "a signal or a debugger stopped the process",
		[TAC_CAUSE_UNDECIDED] = "the evidence fits more than one of these",
	};
	const tac_monitor_stats *s = r->stats;
	fputs("<h2>Missed deadlines</h2>\n", f);
	if (s->totals.misses == 0)
		fputs("<p id=\"no-misses\">Every tick ended before its deadline.</p>\n", f);
	if (s->totals.late > 0)
		fprintf(f,
			"<p id=\"late\">%lld tick%s met the deadline, but not the threshold. In the table, "
			"they are late by a negative time.</p>\n",
			(long long)s->totals.late, s->totals.late == 1 ? "" : "s");
	if (s->worst_count == 0)
		return;
	fputs("<div class=\"columns\">", f);
	if (s->totals.misses > 0) {
		fputs("<figure>\n", f);
		report_plot_causes(f, s);
		fputs("</figure>", f);
	}
	fputs("\n<table>\n", f);
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++)
		write_fact(f, tac_cause_name((tac_cause)i), meanings[i]);
	fputs("</table></div>\n", f);
	write_worst_ticks(f, s);
}

static void write_forces(FILE *f, const report *r)
{
	static const struct {
		const char *id, *title, *unit;
		int colour;
	} plots[REPORT_FORCE_CHANNELS] = {
		[REPORT_FORCE] = {"force", "Force", "N", 2},
		[REPORT_TORQUE] = {"torque", "Torque", "Nm", 5},
		[REPORT_CONTACTS] = {"contacts", "Contacts", NULL, 4},
		[REPORT_DEPTH] = {"depth", "Depth: distance from the device to the tool on the surface", "m",
				  3},
		[REPORT_ENERGY] = {"energy",
				   "Passivity: energy the springs may still return; below 0 is a deficit",
				   "J", 1},
		[REPORT_EFFECTS] = {"effects",
				    "Effects: force of the application, before passivity and limit", "N", 2},
	};
	const tac_snapshot_feel *feel = &r->feel;
	char bound[UNITS_TEXT];
	fprintf(f,
		"<h2>Forces and energy</h2>\n<p id=\"feel\">Force: largest step %.2f N, %s, %llu "
		"dropouts, %llu jumps beyond the bound, saturated in %llu ticks.</p>\n",
		feel->largest_step_N, units_bound(feel->largest_bound_N, bound),
		(unsigned long long)feel->dropouts, (unsigned long long)feel->jumps,
		(unsigned long long)feel->saturated_ticks);
	for (int i = 0; i < REPORT_FORCE_CHANNELS; i++) {
		if (i == REPORT_EFFECTS && !(report_series_max(r->forces, i) > 0))
			continue; // most scenes have none
		fputs("<figure>\n", f);
		report_plot_channel(f, plots[i].id, plots[i].title, plots[i].unit, plots[i].colour, r->forces,
				    i);
		fputs("</figure>\n", f);
	}
}

static const char *unit_text(const char *unit)
{
	return strcmp(unit, "mm3") == 0 ? "mm³" : strcmp(unit, "deg") == 0 ? "°" : unit;
}

static void write_task_value(FILE *f, double value)
{
	if (isfinite(value))
		fprintf(f, "<td class=\"number\">%.4g</td>", value);
	else
		fputs("<td class=\"number\">never</td>", f);
}

static void write_task_row(FILE *f, const tac_task_row *row)
{
	char limit[48] = "";
	const bool yes_no = strcmp(row->unit, TAC_TASK_YES_NO) == 0;
	if (yes_no && isfinite(row->limit))
		snprintf(limit, sizeof limit, "%s", row->limit > 0 ? "yes" : "no");
	else if (isfinite(row->limit))
		snprintf(limit, sizeof limit, "%s %.4g", row->at_least ? "at least" : "at most", row->limit);
	fputs("<tr><th>", f);
	plot_write_escaped(f, row->name);
	fputs("</th>", f);
	if (yes_no)
		fprintf(f, "<td class=\"number\">%s</td>", row->value > 0 ? "yes" : "no");
	else
		write_task_value(f, row->value);
	fprintf(f, "<td>%s</td><td>%s</td><td>", yes_no ? "" : unit_text(row->unit), limit);
	if (row->exceeded)
		fprintf(f, "<span class=\"badge refused\">%s</span>", row->at_least ? "not met" : "exceeded");
	fputs("</td></tr>\n", f);
}

// The name of a row up to its colon: of the structure or the puncture that it describes.
static void write_subject(FILE *f, const tac_task_row *row)
{
	char name[sizeof row->name];
	snprintf(name, sizeof name, "%s", row->name);
	char *colon = strrchr(name, ':');
	if (colon)
		*colon = '\0';
	fputs("<th>", f);
	plot_write_escaped(f, name);
	fputs("</th>", f);
}

// A line for each protected structure. Its rows stand one after the other in the list: the distance first,
// the breaches last.
static void write_structures(FILE *f, const report *r)
{
	int32_t i = 0;
	while (i < r->task_count && r->task[i].structure == 0)
		i++;
	if (i == r->task_count)
		return;
	fputs("<h3>Protected structures</h3>\n<p>Distances from the tool; below 0 it was inside.</p>\n<div "
	      "class=\"wide\"><table id=\"structures\">\n<tr><th></th>"
	      "<th></th>",
	      f);
	for (int32_t k = i; k < r->task_count && r->task[k].structure == r->task[i].structure; k++) {
		const char *colon = strrchr(r->task[k].name, ':'), *unit = r->task[k].unit;
		fputs("<th class=\"number\">", f);
		plot_write_escaped(f, colon ? colon + 2 : r->task[k].name);
		fprintf(f, "%s%s</th>", *unit ? ", " : "", unit_text(unit));
	}
	fputs("</tr>\n", f);
	while (i < r->task_count && r->task[i].structure > 0) {
		int32_t end = i;
		while (end < r->task_count && r->task[end].structure == r->task[i].structure)
			end++;
		const bool breached = r->task[end - 1].exceeded, close = r->task[i].exceeded;
		fputs("<tr>", f);
		write_subject(f, &r->task[i]);
		char close_text[64];
		snprintf(close_text, sizeof close_text, "closer than %.4g mm", r->task[i].limit);
		fprintf(f, "<td><span class=\"badge %s\">%s</span></td>",
			breached ? "refused"
			: close  ? "warned"
				 : "granted",
			breached ? "damaged"
			: close  ? close_text
				 : "kept clear");
		for (; i < end; i++)
			write_task_value(f, r->task[i].value);
		fputs("</tr>\n", f);
	}
	fputs("</table></div>\n", f);
	if (r->distances && r->distances->count > 0) {
		fputs("<figure>\n", f);
		report_plot_distances(f, r->distances, r->warn_m);
		fputs("</figure>\n", f);
	}
}

// A line for each puncture: its four figures stand one after the other in the list.
static void write_punctures(FILE *f, const report *r)
{
	int32_t i = 0;
	while (i < r->task_count && r->task[i].puncture == 0)
		i++;
	if (i == r->task_count)
		return;
	fputs("<div class=\"wide\"><table id=\"punctures\">\n<tr><th></th>", f);
	write_heads(f, (const char *const[]){"force, N", "time, s", "depth, mm", "speed, mm/s"}, 4);
	for (; i < r->task_count; i++) {
		const tac_task_row *row = &r->task[i];
		if (row->puncture == 0)
			continue;
		if (row[-1].puncture != row->puncture) {
			fputs("</tr>\n<tr>", f);
			write_subject(f, row);
		}
		fprintf(f, "<td class=\"number\">%.4g</td>", row->value);
	}
	fputs("</tr>\n</table></div>\n", f);
}

static int32_t count_warnings(const report *r)
{
	int32_t warnings = 0; // distances that were not kept; a breach is more than that
	for (int32_t i = 0; i < r->task_count; i++)
		warnings += r->task[i].structure > 0 && r->task[i].at_least && r->task[i].exceeded;
	return warnings;
}

// What was done, first on the page: an instructor asks for it before the times of the loop.
static void write_task(FILE *f, const report *r)
{
	const int32_t warnings = count_warnings(r);
	fputs("<h2>Task", f);
	if (r->scene) {
		fputs(": ", f);
		plot_write_escaped(f, r->scene);
	}
	fprintf(f, "</h2>\n<p id=\"task-result\"><span class=\"badge %s\">%s</span> ",
		r->task_passed ? "granted" : "refused",
		r->task_passed ? "within all limits" : "not within all limits");
	if (r->task_passed && warnings > 0)
		fprintf(f, "<span class=\"badge warned\">%d warning%s</span> ", (int)warnings,
			warnings == 1 ? "" : "s");
	fputs("The figures describe this simulated run; they are no assessment of a person.</p>\n", f);
	write_structures(f, r);
	report_section_write(f, &r->section);
	fputs("<h3>What was done</h3>\n<div class=\"wide\"><table id=\"task\">\n<tr><th></th>", f);
	write_heads(f, (const char *const[]){"value"}, 1);
	fputs("<th></th><th>limit</th><th></th></tr>\n", f);
	for (int32_t i = 0; i < r->task_count; i++) {
		if (r->task[i].puncture == 0 && r->task[i].structure == 0)
			write_task_row(f, &r->task[i]);
	}
	fputs("</table></div>\n", f);
	write_punctures(f, r);
}

static void write_device(FILE *f, const tac_device_info *d)
{
	char text[160];
	fputs("<h2>Device</h2>\n<table id=\"device\">\n", f);
	write_fact(f, "name", d->name);
	if (d->serial[0])
		write_fact(f, "serial", d->serial);
	snprintf(text, sizeof text,
		 "%d positions and %d rotations in, %d forces and %d torques out, %u buttons",
		 d->position_axes, d->rotation_axes, d->force_axes, d->torque_axes, d->buttons);
	write_fact(f, "axes", text);
	if (d->force_axes > 0 || d->torque_axes > 0)
		snprintf(text, sizeof text, "%g N, %g Nm", d->max_force_N, d->max_torque_Nm);
	else
		snprintf(text, sizeof text, "no motors; displayed up to %g N, %g Nm", d->max_force_N,
			 d->max_torque_Nm);
	write_fact(f, "maximum force and torque", text);
	if (d->max_stiffness_N_per_m > 0) {
		snprintf(text, sizeof text, "%g N/m", d->max_stiffness_N_per_m);
		write_fact(f, "recommended stiffness", text);
	}
	const tac_dvec3 size = tac_dvec3_sub(d->workspace_max_m, d->workspace_min_m);
	snprintf(text, sizeof text, "%.0f x %.0f x %.0f mm", 1e3 * size.x, 1e3 * size.y, 1e3 * size.z);
	write_fact(f, "workspace", text);
	if (d->linear.mass > 0) {
		snprintf(text, sizeof text, "%g kg, %g N s/m, %g N dry friction, %g µm resolution",
			 d->linear.mass, d->linear.damping, d->linear.coulomb, 1e6 * d->linear.resolution);
		write_fact(f, "mechanics", text);
	}
	fputs("</table>\n", f);
}

void report_page_write(FILE *f, const report *r)
{
	char time_text[64] = "";
	const time_t now = time(NULL);
	struct tm local;
	if (localtime_r(&now, &local))
		strftime(time_text, sizeof time_text, "%Y-%m-%d %H:%M", &local);
	fprintf(f,
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s, %s</title>\n",
		r->command, time_text);
	fprintf(f, "<link rel=\"icon\" href=\"data:,\">\n<style>\n%.*s%.*s</style></head>\n<body>\n",
		(int)sizeof plot_css, (const char *)plot_css, (int)sizeof report_css,
		(const char *)report_css);
	fprintf(f,
		"<header><h1>%s</h1><span class=\"when\">%s</span>"
		"<button id=\"theme\">light / dark</button></header>\n",
		r->command, time_text);
	if (r->task_wanted)
		write_task(f, r);
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
	report_data_write(f, r);
	fprintf(f, "<script>%.*s</script>\n", (int)sizeof report_js, (const char *)report_js);
	fprintf(f, "<footer>Tactus %s</footer>\n</body></html>\n", tac_version());
}
