// Loop runner: a periodic loop on its own thread together with everything that observes it: deadline account,
// monitor, trace and report. `tactus run` and `tactus latency` share it.
#ifndef TAC_APPS_SESSION_LOOP_RUNNER_H
#define TAC_APPS_SESSION_LOOP_RUNNER_H

#include "apps/report/report.h"
#include "apps/session/interrupts.h"
#include "apps/session/machine.h"
#include "rt/loop.h"
#include "rt/monitor.h"
#include "rt/thread.h"

#include <semaphore.h>
#include <stdbool.h>

typedef struct loop_runner_def {
	const char *command;     // "tactus run"
	const char *thread_name; // as the kernel lists it
	double seconds;          // INFINITY: until it is stopped
	double rate_Hz;
	double spin_us; // before each tick; NAN: the default of tac_loop_def, at most half a period
	int timer;      // a tac_timer_kind
	int policy;     // a tac_policy
	int64_t priority, cpu;
	double threshold_us; // explain ticks that end later than this after their plan, too; 0: misses only
	bool rivals;         // name the threads that ran while the loop waited for its CPU
	const char *log_path, *trace_path, *report_path; // NULL: none
	// Computes a tick. Thread: RT.
	void (*tick)(void *user, tac_tick *tick);
	void *user;
	// Receives a copy of every tick, on the monitor's thread. NULL: nobody does.
	void (*observe)(void *observer, const tac_tick *tick);
	void *observer;
} loop_runner_def;

#define LOOP_RUNNER_CPU_MAX 1023

// The options that fill `def`, as rows of a command's option table. `seconds_help` describes --seconds.
// clang-format off
#define LOOP_RUNNER_OPTIONS(def, seconds_help)                                                             \
	{"seconds", OPTION_NUMBER, &(def)->seconds, 0.001, 1e7, NULL, "N", seconds_help},                  \
	{"rate", OPTION_NUMBER, &(def)->rate_Hz, 100, 10000, NULL, "HZ", "ticks per second, 100 to 10000"}, \
	{"policy", OPTION_CHOICE, &(def)->policy, 0, 0, loop_runner_policies, NULL,                        \
	 "scheduling policy of the loop's thread"},                                                        \
	{"priority", OPTION_INTEGER, &(def)->priority, 1, 99, NULL, "N", "for policy fifo, 1 to 99"},      \
	{"cpu", OPTION_INTEGER, &(def)->cpu, -1, LOOP_RUNNER_CPU_MAX, NULL, "N",                           \
	 "pin the loop to this CPU; -1: any"},                                                             \
	{"threshold", OPTION_NUMBER, &(def)->threshold_us, 0, 1e6, NULL, "US",                             \
	 "also find the cause of ticks that end more than US microseconds after their planned start; "     \
	 "0: of missed deadlines only"},                                                                   \
	{"rivals", OPTION_FLAG, &(def)->rivals, 0, 0, NULL, NULL,                                          \
	 "name the threads that ran while the loop waited for its CPU; needs root or CAP_PERFMON"},        \
	{"log", OPTION_TEXT, &(def)->log_path, 0, 0, NULL, "FILE.csv",                                     \
	 "write a line for each tick that has a cause"},                                                         \
	{"trace", OPTION_TEXT, &(def)->trace_path, 0, 0, NULL, "FILE.json",                                \
	 "write a trace for ui.perfetto.dev"},                                                             \
	{"report", OPTION_TEXT, &(def)->report_path, 0, 0, NULL, "FILE.html",                              \
	 "write a report for the browser, a single file"}
// clang-format on
extern const char *const loop_runner_policies[];

typedef struct loop_runner {
	loop_runner_def def;
	machine machine;
	tac_loop *loop;
	tac_deadline *deadline;
	tac_trace *trace;
	tac_monitor *monitor;
	tac_monitor_stats *stats;  // as of the last loop_runner_read; complete after loop_runner_end
	tac_histogram *corrected;  // wake-up times corrected for coordinated omission; after loop_runner_end
	tac_output *report_output; // NULL: no report, or it is written
	report report;             // holds the facts of the loop; the command adds its own
	tac_thread_report granted;
	tac_thread_def thread;
	pthread_t handle;
	tac_result enter_result, loop_result;
	char *interrupts_before;                       // /proc/interrupts at the start
	int64_t ticks_on_cpu[LOOP_RUNNER_CPU_MAX + 1]; // of the monitor's thread until loop_runner_end
	interrupts interrupts;                         // on the CPU with most ticks; after loop_runner_end
	sem_t entered, finished;
} loop_runner;

// Ten seconds at 1 kHz, policy fifo with priority 80, any CPU. Thread: any.
loop_runner_def loop_runner_def_default(const char *command, const char *thread_name);

// "for 10 s" or "until it is stopped". Thread: any.
const char *loop_runner_duration(const loop_runner_def *def, char out[32]);

// The spin before each tick that `def` results in. Thread: any.
int64_t loop_runner_spin_ns(const loop_runner_def *def);

// Creates everything except the thread. False after one log line; call loop_runner_close in either case.
// Thread: setup.
bool loop_runner_open(const loop_runner_def *def, loop_runner *out_runner);

// Starts the thread and waits until its real-time set-up has been granted or refused (`granted`).
// False after one log line. Thread: setup.
bool loop_runner_start(loop_runner *r);

// Waits for at most `ns`. True: the loop has ended. Thread: the one that started the loop.
bool loop_runner_wait(loop_runner *r, int64_t ns);

// Updates r->stats while the loop runs. Thread: the one that started the loop.
void loop_runner_read(loop_runner *r);

// Joins the thread of a loop that has ended, completes the statistics and ends the monitor: `observe` is not
// called any more. False after one log line: the loop could not run. Thread: the one that started the loop.
bool loop_runner_end(loop_runner *r);

// Writes the report if `def` has a path for it. False after one log line. Thread: setup, after
// loop_runner_end.
bool loop_runner_write_report(loop_runner *r);

// Frees everything. False after one log line: the trace or the log is incomplete. Thread: setup.
bool loop_runner_close(loop_runner *r);

#endif
