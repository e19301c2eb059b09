// Monitor: the slow thread behind the loop. It reads the ticks' records from the deadline account, keeps
// histograms, counts by cause and the worst misses, and writes the log of misses and the trace. Nothing it
// does can delay the loop: if it falls behind, the ring refuses records and the account counts them.
#ifndef TAC_RT_MONITOR_H
#define TAC_RT_MONITOR_H

#include "base/result.h"
#include "rt/deadline.h"
#include "rt/histogram.h"
#include "rt/trace.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_MONITOR_WORST 16

typedef struct tac_monitor tac_monitor;

typedef struct tac_monitor_def {
	tac_deadline *deadline;
	// CSV, a line for each tick that has a cause; created or truncated. The string must stay valid until
	// destroy. NULL: none.
	const char *log_path;
	// Find out who ran while the loop waited for its CPU (rt/rivals.h). If the kernel does not allow it,
	// stats.rivals_errno says so and nothing else changes.
	bool watch_rivals;
	tac_trace *trace; // receives every tick; stays the caller's; NULL: none
	// Called with every tick on the monitor's thread; may block, as the trace may. NULL: none.
	void (*on_tick)(void *user, const tac_tick *tick);
	void *user;
} tac_monitor_def;

// A thread that kept the loop from running.
typedef struct tac_monitor_rival {
	char name[20];
	int64_t count;  // of late wakes and preemptions
	int64_t ran_ns; // altogether
} tac_monitor_rival;

#define TAC_MONITOR_RIVALS 8

typedef struct tac_monitor_stats {
	tac_deadline_totals totals;
	int64_t records;                          // read so far
	int64_t misses_by_cause[TAC_CAUSE_COUNT]; // of the records read
	int64_t late_by_cause[TAC_CAUSE_COUNT]; // the same for ticks beyond the threshold that are no misses
	int64_t steal_ns; // stolen from all CPUs since create, as the kernel counts it in steps of 10 ms; -1:
			  // unknown
	int rivals_errno; // 0: rivals are watched, or were not asked for
	int rival_count;  // of more names, those that ran longest are kept
	tac_monitor_rival rivals[TAC_MONITOR_RIVALS];
	int64_t log_unwritten; // lines that did not get into the log file
	int log_error;         // errno of the first of them
	int worst_count;
	tac_tick worst[TAC_MONITOR_WORST]; // ticks with a cause, by lateness, worst first
	tac_histogram timer;               // fired_ns - timer_ns: delay of the kernel's timer and scheduler
	tac_histogram wake;                // wake_ns - planned_ns: what is left of it after the spin
	tac_histogram compute;             // end_ns - wake_ns
	tac_histogram response;            // end_ns - planned_ns
	tac_histogram phases[TAC_PHASE_COUNT];
} tac_monitor_stats;

// Opens the log and starts the thread. TAC_ERROR_IO, TAC_ERROR_SYSTEM or TAC_ERROR_MEMORY with a log line if
// the log cannot be opened, the thread cannot be started or there is no memory.
// Thread: setup.
TAC_API tac_result tac_monitor_create(const tac_monitor_def *def, tac_monitor **out_monitor);

// Reads what is still in the ring, then ends the thread.
// Thread: setup, after the loop has stopped.
TAC_API void tac_monitor_destroy(tac_monitor **monitor);

// Copies the present statistics (about 300 KiB). Does not wait for a thread that is blocked on its files.
// Thread: any but RT.
TAC_API void tac_monitor_read(tac_monitor *monitor, tac_monitor_stats *out_stats);

// Waits until every record that was in the ring at the call has been read.
// Thread: any but RT.
TAC_API void tac_monitor_drain(tac_monitor *monitor);

#ifdef __cplusplus
}
#endif

#endif
