// Report plots: the plots of a report, each an svg element with an id.
#ifndef TAC_APPS_REPORT_REPORT_PLOTS_H
#define TAC_APPS_REPORT_REPORT_PLOTS_H

#include "apps/report/report.h"

#include <stdio.h>

// How often each time occurred, on logarithmic axes. The heights add up to the histogram's count.
void report_plot_histogram(FILE *file, const char *id, const char *title, int colour,
			   const tac_histogram *histogram);

// The fraction of ticks that took longer than a given time.
void report_plot_survival(FILE *file, const tac_monitor_stats *stats, int64_t period_ns);

// Wake and compute over time, with a dot for each missed deadline.
void report_plot_ticks(FILE *file, const report_series *ticks, int64_t period_ns);

// The count of misses for each cause.
void report_plot_causes(FILE *file, const tac_monitor_stats *stats);

// One channel of a series over time: range and mean.
void report_plot_channel(FILE *file, const char *id, const char *title, const char *unit, int colour,
			 const report_series *series, int channel);

// Distances to protected structures over time, below 0 inside: of each, range and mean, and `warn_m`, a
// dashed line, unless it is 0.
void report_plot_distances(FILE *file, const report_series *distances, const double *warn_m);

#endif
