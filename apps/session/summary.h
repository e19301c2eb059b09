// Summary: prints the outcome of a run of the loop on standard output, as text and as JSON: the machine, the
// real-time set-up that was granted, the distributions of times, and the misses with their causes.
#ifndef TAC_APPS_SESSION_SUMMARY_H
#define TAC_APPS_SESSION_SUMMARY_H

#include "apps/session/interrupts.h"
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

// One sentence: whether the rate was held, and the rate that this machine sustains with this work. Returns
// `out`.
#define SUMMARY_VERDICT 256
const char *summary_verdict(const tac_monitor_stats *stats, int64_t period_ns, char out[SUMMARY_VERDICT]);

// One line: what interrupted the CPU on which the loop ran most, `seconds` long; nothing if it is not known.
void summary_print_interrupts(const interrupts *found, double seconds);

// The highest of the usual rates, Hz, at which every tick of the run would have met its deadline; 0: none.
double summary_sustained_Hz(const tac_monitor_stats *stats);

// Members of a JSON object. The output of all but the last ends with a comma.
void summary_json_machine(const machine *m);
void summary_json_setup(const tac_thread_report *report);
void summary_json_interrupts(const interrupts *found);
void summary_json(const tac_monitor_stats *stats, const tac_histogram *corrected);

#endif
