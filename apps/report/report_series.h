// Report series: quantities over time in fixed memory, for runs of any length. A bin holds minimum, maximum
// and sum of its samples. When all bins are used, neighbours are merged and each bin covers twice the time.
#ifndef TAC_APPS_REPORT_REPORT_SERIES_H
#define TAC_APPS_REPORT_REPORT_SERIES_H

#include <stdint.h>

#define REPORT_CHANNELS 8
#define REPORT_BINS     1024 // even

typedef struct report_bin {
	double min, max, sum;
} report_bin;

// About 200 KiB. Zero-initialised, except for channels and names, it is empty.
typedef struct report_series {
	int channels;
	const char *names[REPORT_CHANNELS]; // with the unit: "wake_s"
	int64_t bin_ns;                     // duration of a bin; 0: starts at 10 ms
	int64_t origin_ns;                  // of the first sample
	int count;                          // bins in use, including empty ones between them
	uint32_t samples[REPORT_BINS];
	report_bin bins[REPORT_BINS][REPORT_CHANNELS];
} report_series;

// Adds a sample with one value for each channel. A time before that of the first sample counts as the first.
void report_series_add(report_series *series, int64_t time_ns, const double *values);

// The largest value of a channel; 0: it is empty.
double report_series_max(const report_series *series, int channel);

// The centre of a bin, in s from the first sample.
double report_series_time_s(const report_series *series, int bin);

#endif
