// Account: how a run of the loop is told, to a person and to a program: the machine, what the thread was
// granted, the distributions, the misses with their causes. On standard output.
#ifndef TAC_APPS_ACCOUNT_H
#define TAC_APPS_ACCOUNT_H

#include "apps/machine.h"
#include "rt/monitor.h"
#include "rt/thread.h"

// Nanoseconds as microseconds.
double account_us(int64_t ns);

// Lines of ten columns of a word and the rest.
void account_print_machine(const machine *m);
void account_print_setup(const tac_thread_report *report);

// The table of times and the misses. `corrected`: the wake-up times corrected for coordinated omission.
void account_print(const machine *m, const tac_monitor_stats *stats, const tac_histogram *corrected);

// Members of a JSON object: the first two end with a comma, the last does not.
void account_json_machine(const machine *m);
void account_json_setup(const tac_thread_report *report);
void account_json(const tac_monitor_stats *stats, const tac_histogram *corrected);

#endif
