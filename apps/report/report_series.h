// Report series: quantities over time in fixed memory, however long the run: bins hold the least, the mean
// and the greatest value, and when they are full, neighbours are merged and a bin lasts twice as long.
#ifndef TAC_APPS_REPORT_SERIES_H
#define TAC_APPS_REPORT_SERIES_H

#include <stdint.h>

#define REPORT_CHANNELS 8
#define REPORT_BINS     1024 // even

typedef struct report_bin {
	double min, max, sum;
} report_bin;

// About 200 KiB. Empty where zero but for the names.
typedef struct report_series {
	int channels;
	const char *names[REPORT_CHANNELS]; // with the unit: "wake_s"
	int64_t bin_ns;                     // how long a bin lasts; 0: TAC_NS_PER_MS * 10 to begin with
	int64_t origin_ns;                  // of the first sample
	int count;                          // bins in use, empty ones between them included
	uint32_t samples[REPORT_BINS];
	report_bin bins[REPORT_BINS][REPORT_CHANNELS];
} report_series;

// Adds a sample, a value a channel. Times do not decrease; earlier ones count as the first.
void report_series_add(report_series *series, int64_t time_ns, const double *values);

// The middle of a bin, s from the first sample.
double report_series_time_s(const report_series *series, int bin);

#endif
