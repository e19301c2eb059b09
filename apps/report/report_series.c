#include "apps/report/report_series.h"

#include "rt/clock.h"

#include <math.h>
#include <string.h>

#define FIRST_BIN_NS (10 * TAC_NS_PER_MS)

static void merge_bin(report_series *s, int into, int from)
{
	if (s->samples[from] == 0)
		return;
	for (int c = 0; c < s->channels; c++) {
		report_bin *a = &s->bins[into][c];
		const report_bin *b = &s->bins[from][c];
		if (s->samples[into] == 0)
			*a = *b;
		else
			*a = (report_bin){fmin(a->min, b->min), fmax(a->max, b->max), a->sum + b->sum};
	}
	s->samples[into] += s->samples[from];
}

static void merge_neighbours(report_series *s)
{
	for (int i = 0; i < REPORT_BINS / 2; i++) {
		if (i > 0) {
			memcpy(s->bins[i], s->bins[2 * i], sizeof s->bins[i]);
			s->samples[i] = s->samples[2 * i];
		}
		merge_bin(s, i, 2 * i + 1);
	}
	memset(&s->samples[REPORT_BINS / 2], 0, sizeof s->samples / 2);
	s->count = (s->count + 1) / 2;
	s->bin_ns *= 2;
}

void report_series_add(report_series *s, int64_t time_ns, const double *values)
{
	if (s->count == 0)
		s->origin_ns = time_ns;
	if (s->bin_ns == 0)
		s->bin_ns = FIRST_BIN_NS;
	const int64_t elapsed_ns = time_ns > s->origin_ns ? time_ns - s->origin_ns : 0;
	while (elapsed_ns / s->bin_ns >= REPORT_BINS)
		merge_neighbours(s);
	const int bin = (int)(elapsed_ns / s->bin_ns);
	for (int c = 0; c < s->channels; c++) {
		report_bin *b = &s->bins[bin][c];
		if (s->samples[bin] == 0)
			*b = (report_bin){values[c], values[c], values[c]};
		else
			*b = (report_bin){fmin(b->min, values[c]), fmax(b->max, values[c]),
					  b->sum + values[c]};
	}
	s->samples[bin]++;
	if (bin >= s->count)
		s->count = bin + 1;
}

double report_series_time_s(const report_series *s, int bin)
{
	return ((double)bin + 0.5) * (double)s->bin_ns / 1e9;
}

double report_series_max(const report_series *series, int channel)
{
	double most = 0;
	for (int i = 0; i < series->count; i++) {
		if (series->samples[i] > 0)
			most = fmax(most, series->bins[i][channel].max);
	}
	return most;
}
