// Rig: a loop on a thread of its own with all that watches it: deadline, monitor, trace, report. What `tactus
// run` and `tactus latency` have in common.
#ifndef TAC_APPS_RIG_H
#define TAC_APPS_RIG_H

#include "apps/machine.h"
#include "apps/report.h"
#include "rt/loop.h"
#include "rt/monitor.h"
#include "rt/thread.h"

#include <semaphore.h>
#include <stdbool.h>

typedef struct rig_def {
	const char *command; // "tactus run"
	const char *thread;  // its name
	double seconds, rate_Hz;
	double spin_us; // before each tick; NAN: what fits the period
	int timer;      // a tac_timer_kind
	int policy;     // a tac_policy
	int64_t priority, cpu;
	const char *log_path, *trace_path, *report_path; // NULL: none
	// The tick, on the real-time thread.
	void (*tick)(void *user, tac_tick *tick);
	void *user;
	// Every tick again, on the monitor's thread; NULL: nobody wants to know.
	void (*listen)(void *listener, const tac_tick *tick);
	void *listener;
} rig_def;

// The options that fill `def`, for the table of a command.
#define RIG_OPTIONS(def)                                                                                      \
	{"seconds", OPTION_NUMBER, &(def)->seconds, 0.001, 1e7, NULL, "N", "how long"},                       \
		{"rate",                                                                                      \
		 OPTION_NUMBER,                                                                               \
		 &(def)->rate_Hz,                                                                             \
		 100,                                                                                         \
		 10000,                                                                                       \
		 NULL,                                                                                        \
		 "HZ",                                                                                        \
		 "ticks a second, 100 to 10000"},                                                             \
		{"policy", OPTION_CHOICE, &(def)->policy, 0,                                                  \
		 0,        rig_policies,  NULL,           "how the loop's thread is scheduled"},              \
		{"priority",                                                                                  \
		 OPTION_INTEGER,                                                                              \
		 &(def)->priority,                                                                            \
		 1,                                                                                           \
		 99,                                                                                          \
		 NULL,                                                                                        \
		 "N",                                                                                         \
		 "of the policy fifo, 1 to 99"},                                                              \
		{"cpu",       OPTION_INTEGER, &(def)->cpu, -1,                                                \
		 RIG_CPU_MAX, NULL,           "N",         "run on this CPU; -1: on any"},                    \
		{"log", OPTION_TEXT, &(def)->log_path, 0, 0, NULL, "FILE.csv", "write a line for each miss"}, \
		{"trace", OPTION_TEXT, &(def)->trace_path, 0,                                                 \
		 0,       NULL,        "FILE.json",        "write a trace for ui.perfetto.dev"},              \
	{                                                                                                     \
		"report", OPTION_TEXT, &(def)->report_path, 0, 0, NULL, "FILE.html",                          \
			"write a report for the browser, in one file"                                         \
	}
#define RIG_CPU_MAX 1023
extern const char *const rig_policies[];

typedef struct rig {
	rig_def def;
	machine machine;
	tac_loop *loop;
	tac_deadline *deadline;
	tac_trace *trace;
	tac_monitor *monitor;
	tac_monitor_stats *stats; // as of the last rig_read, all of them after rig_end
	tac_histogram *corrected; // the wake-up times, for coordinated omission; after rig_end
	report report;            // with the facts of the loop; the command adds its own
	tac_thread_report granted;
	tac_thread_def thread;
	pthread_t handle;
	tac_result entered_result, loop_result;
	sem_t entered, finished;
} rig;

// Ten seconds of 1 kHz, policy fifo at 80, any CPU. Thread: any.
rig_def rig_def_default(const char *command, const char *thread);

// How long the loop spins before each tick, as the def says. Thread: any.
int64_t rig_spin_ns(const rig_def *def);

// Creates everything but the thread. False after one line; rig_close is due either way. Thread: setup.
bool rig_open(const rig_def *def, rig *out_rig);

// Starts the thread and returns when it has been granted what it is. False after one line. Thread: setup.
bool rig_start(rig *r);

// Waits for at most `ns`; true: the loop has ended. Thread: the one that started it.
bool rig_wait(rig *r, int64_t ns);

// The accounts so far, in r->stats. Thread: the one that started it.
void rig_read(rig *r);

// When the loop has ended: ends the thread, and the accounts are complete. False: it could not run, which was
// said. Thread: the one that started it.
bool rig_end(rig *r);

// Writes the report, if one is wanted. False after one line. Thread: setup, after rig_end.
bool rig_report(rig *r);

// Takes everything down. False after one line: the trace was not written whole. Thread: setup.
bool rig_close(rig *r);

#endif
