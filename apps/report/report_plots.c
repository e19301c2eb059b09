#include "apps/report/report_plots.h"

#include "apps/report/plot.h"

#include <math.h>

#define BINS_PER_DECADE 12   // a bin is a fifth wider than the previous one
#define MIN_S           1e-8 // shorter times are in the first bin
#define DECADES_MAX     11   // to 1000 s; longer times are in the last bin
#define BINS_MAX        (BINS_PER_DECADE * DECADES_MAX)

static double edge_s(int bin)
{
	return MIN_S * pow(10, (double)bin / BINS_PER_DECADE);
}

static int bin_of(double time_s)
{
	if (!(time_s > MIN_S))
		return 0;
	const int bin = (int)floor(log10(time_s / MIN_S) * BINS_PER_DECADE);
	return bin < BINS_MAX ? bin : BINS_MAX - 1;
}

// From 10 ns to the decade above the longest time.
static plot_axis time_axis(const char *label, double longest_s)
{
	const double range[2] = {MIN_S, fmax(longest_s, 1e-6)};
	return plot_axis_fit(label, "s", true, range, 2);
}

void report_plot_histogram(FILE *file, const char *id, const char *title, int colour, const tac_histogram *h)
{
	double heights[BINS_MAX] = {0}, edges[BINS_MAX + 1];
	for (int i = 0; i <= BINS_MAX; i++)
		edges[i] = edge_s(i);
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++) {
		int64_t low_ns, high_ns;
		uint64_t count;
		tac_histogram_bucket(h, i, &low_ns, &high_ns, &count);
		if (count > 0)
			heights[bin_of((double)(high_ns < h->max_ns ? high_ns : h->max_ns) / 1e9)] +=
				(double)count;
	}
	heights[0] += (double)h->below;
	heights[bin_of((double)h->max_ns / 1e9)] += (double)h->above;

	plot_def def = plot_def_default();
	def.width = 520;
	def.id = id;
	def.title = title;
	def.x = time_axis("", (double)h->max_ns / 1e9);
	const double counts[2] = {1, fmax((double)h->count, 10)};
	def.y = plot_axis_fit("ticks", "", true, counts, 2);
	plot p;
	plot_begin(&p, file, &def);
	plot_histogram(&p, NULL, colour, edges, heights, BINS_MAX);
	static const double percents[] = {50, 99, 99.9, 100};
	static const char *const names[] = {"p50", "p99", "p99.9", "max"};
	for (int i = 0; i < 4 && h->count > 0; i++) {
		const double value_s = (double)tac_histogram_percentile(h, percents[i]) / 1e9;
		char label[64], number[48];
		snprintf(label, sizeof label, "%s %s", names[i],
			 plot_format_number(value_s, "s", number, sizeof number));
		plot_rule_x(&p, value_s, label);
	}
	plot_end(&p);
}

static void survival_line(plot *p, const char *name, int colour, const tac_histogram *h)
{
	double x[BINS_MAX + 2], y[BINS_MAX + 2];
	int count = 0;
	for (int i = 0; i <= BINS_MAX && h->count > 0; i++) {
		const int64_t edge_ns = llround(edge_s(i) * 1e9);
		const uint64_t longer = h->count - tac_histogram_count_to(h, edge_ns);
		if (longer == 0)
			break;
		x[count] = edge_s(i);
		y[count++] = (double)longer / (double)h->count;
	}
	if (count > 0) { // the line ends at the longest tick
		x[count] = (double)h->max_ns / 1e9;
		y[count] = 1.0 / (double)h->count;
		count++;
	}
	plot_line(p, name, colour, x, y, count);
}

void report_plot_survival(FILE *file, const tac_monitor_stats *stats, int64_t period_ns)
{
	plot_def def = plot_def_default();
	def.width = 1040;
	def.id = "survival";
	def.title = "Fraction of ticks that took longer";
	const tac_histogram *all[] = {&stats->timer, &stats->wake, &stats->compute};
	double longest_s = (double)period_ns / 1e9;
	for (int i = 0; i < 3; i++)
		longest_s = fmax(longest_s, (double)all[i]->max_ns / 1e9);
	def.x = time_axis("time", longest_s);
	const double fractions[2] = {stats->wake.count > 0 ? 1.0 / (double)stats->wake.count : 0.1, 1};
	def.y = plot_axis_fit("fraction of ticks", "", true, fractions, 2);
	plot p;
	plot_begin(&p, file, &def);
	survival_line(&p, "timer and scheduler", 7, &stats->timer);
	survival_line(&p, "wake, after the spin", 0, &stats->wake);
	survival_line(&p, "compute", 1, &stats->compute);
	plot_rule_x(&p, (double)period_ns / 1e9, "period");
	plot_end(&p);
}

// ---- over time ----

typedef struct curve {
	int count;
	double x[REPORT_BINS], low[REPORT_BINS], mean[REPORT_BINS], high[REPORT_BINS];
} curve;

// Copies the bins of a channel that have samples.
static void extract(const report_series *s, int channel, curve *out)
{
	out->count = 0;
	for (int i = 0; i < s->count; i++) {
		if (s->samples[i] == 0)
			continue;
		const report_bin *b = &s->bins[i][channel];
		out->x[out->count] = report_series_time_s(s, i);
		out->low[out->count] = b->min;
		out->mean[out->count] = b->sum / s->samples[i];
		out->high[out->count++] = b->max;
	}
}

static plot_axis elapsed_axis(const report_series *s)
{
	plot_axis axis = {.label = "seconds since the first tick", .unit = NULL, .min = 0};
	axis.max = fmax((double)s->count * (double)s->bin_ns / 1e9, 0.01);
	return axis;
}

void report_plot_ticks(FILE *file, const report_series *s, int64_t period_ns)
{
	static curve points; // too large for the stack
	curve *const c = &points;
	plot_def def = plot_def_default();
	def.width = 1040;
	def.height = 320;
	def.id = "ticks";
	def.title = "Wake and compute over time";
	def.x = elapsed_axis(s);
	double longest_s = (double)period_ns / 1e9;
	for (int i = 0; i < s->count; i++) {
		if (s->samples[i] > 0)
			longest_s = fmax(longest_s, fmax(s->bins[i][REPORT_TICK_WAKE].max,
							 s->bins[i][REPORT_TICK_COMPUTE].max));
	}
	def.y = time_axis("", longest_s);
	plot p;
	plot_begin(&p, file, &def);
	for (int channel = REPORT_TICK_COMPUTE; channel >= REPORT_TICK_WAKE; channel--) {
		const char *name =
			channel == REPORT_TICK_WAKE ? "wake: range and mean" : "compute: range and mean";
		extract(s, channel, c);
		plot_band(&p, NULL, channel, c->x, c->low, c->high, c->count);
		plot_line(&p, name, channel, c->x, c->mean, c->count);
	}
	plot_rule_y(&p, (double)period_ns / 1e9, "period");
	extract(s, REPORT_TICK_MISSED, c);
	int misses = 0;
	for (int i = 0; i < c->count; i++) {
		if (c->high[i] > 0) {
			c->x[misses] = c->x[i];
			c->low[misses++] = (double)period_ns / 1e9;
		}
	}
	if (misses > 0)
		plot_dots(&p, "missed deadlines", 6, c->x, c->low, misses, NULL);
	plot_end(&p);
}

void report_plot_causes(FILE *file, const tac_monitor_stats *stats)
{
	const char *names[TAC_CAUSE_COUNT];
	int causes[TAC_CAUSE_COUNT], rows = 0;
	double max_count = 1;
	for (int i = TAC_CAUSE_COUNT - 1; i > TAC_CAUSE_NONE;
	     i--) { // rows go upwards: the first cause is on top
		names[rows] = tac_cause_name((tac_cause)i);
		causes[rows++] = i;
		max_count = fmax(max_count, (double)stats->misses_by_cause[i]);
	}
	plot_def def = plot_def_default();
	def.width = 520;
	def.height = 50 + 26 * rows;
	def.id = "causes";
	def.title = "Misses by cause";
	def.x = (plot_axis){.label = "", .unit = NULL, .min = 0, .max = 1.15 * max_count};
	def.y = (plot_axis){.label = "", .names = names, .name_count = rows, .min = -0.5, .max = rows - 0.5};
	plot p;
	plot_begin(&p, file, &def);
	for (int i = 0; i < rows; i++) {
		const int64_t count = stats->misses_by_cause[causes[i]];
		char text[32];
		snprintf(text, sizeof text, "%lld", (long long)count);
		if (count > 0)
			plot_bar(&p, 6, i, 0, 0.6, (double)count, text);
	}
	plot_end(&p);
}

void report_plot_channel(FILE *file, const char *id, const char *title, const char *unit, int colour,
			 const report_series *s, int channel)
{
	static curve points; // too large for the stack
	curve *const c = &points;
	extract(s, channel, c);
	plot_def def = plot_def_default();
	def.width = 1040;
	def.height = 230;
	def.id = id;
	def.title = title;
	def.x = elapsed_axis(s);
	double range[3] = {0, 0, 0};
	for (int i = 0; i < c->count; i++) {
		range[1] = fmin(range[1], c->low[i]);
		range[2] = fmax(range[2], c->high[i]);
	}
	def.y = plot_axis_fit("", unit, false, range, 3);
	plot p;
	plot_begin(&p, file, &def);
	plot_band(&p, NULL, colour, c->x, c->low, c->high, c->count);
	plot_line(&p, NULL, colour, c->x, c->mean, c->count);
	plot_end(&p);
}

void report_plot_distances(FILE *file, const report_series *s, const double *warn_m)
{
	static curve points; // too large for the stack
	curve *const c = &points;
	plot_def def = plot_def_default();
	def.width = 1040;
	def.height = 260;
	def.id = "distances";
	def.title = "Distance to protected structures; below 0 the tool is inside";
	def.x = elapsed_axis(s);
	double range[3] = {0, 0, 0};
	for (int channel = 0; channel < s->channels; channel++) {
		extract(s, channel, c);
		for (int i = 0; i < c->count; i++) {
			range[1] = fmin(range[1], c->low[i]);
			range[2] = fmax(range[2], c->high[i]);
		}
	}
	def.y = plot_axis_fit("", "m", false, range, 3);
	plot p;
	plot_begin(&p, file, &def);
	for (int channel = 0; channel < s->channels; channel++) {
		char text[96];
		snprintf(text, sizeof text, "%s: warning", s->names[channel]);
		extract(s, channel, c);
		plot_band(&p, NULL, channel, c->x, c->low, c->high, c->count);
		plot_line(&p, s->names[channel], channel, c->x, c->mean, c->count);
		if (warn_m[channel] > 0)
			plot_rule_y(&p, warn_m[channel], text);
	}
	if (range[1] < 0)
		plot_rule_y(&p, 0, "surface");
	plot_end(&p);
}
