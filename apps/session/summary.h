// Summary: prints the outcome of a run of the loop on standard output, as text and as JSON: the machine, the
// real-time set-up that was granted, the distributions of times, and the misses with their causes.
#ifndef TAC_APPS_SESSION_SUMMARY_H
#define TAC_APPS_SESSION_SUMMARY_H

#include "apps/session/machine.h"
#include "rt/monitor.h"
#include "rt/thread.h"

// Converts nanoseconds to microseconds.
double summary_us(int64_t ns);

// Lines that begin with a label of ten columns.
void summary_print_machine(const machine *m);
void summary_print_setup(const tac_thread_report *report);

// The table of times, then the misses. `corrected`: wake-up times corrected for coordinated omission.
void summary_print(const machine *m, const tac_monitor_stats *stats, const tac_histogram *corrected);

// Members of a JSON object. The output of the first two ends with a comma, that of the last does not.
void summary_json_machine(const machine *m);
void summary_json_setup(const tac_thread_report *report);
void summary_json(const tac_monitor_stats *stats, const tac_histogram *corrected);

#endif
