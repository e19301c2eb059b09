// Tick: the record of one period of the loop. The real-time thread fills it with clock readings; the deadline
// account adds evidence and a cause if the tick was late. It goes by value through the ring to the slow
// thread, which makes histograms, logs and traces of it.
#ifndef TAC_RT_TICK_H
#define TAC_RT_TICK_H

#include "base/api.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The phases of a tick, in this order (docs/architecture.md). A loop need not have all of them.
typedef enum tac_phase {
	TAC_PHASE_DEVICE_READ,
	TAC_PHASE_SCO,
	TAC_PHASE_EFFECTS, // forces of the application
	TAC_PHASE_FORCE,
	TAC_PHASE_DEVICE_WRITE,
	TAC_PHASE_WORK, // of a loop that is not a servo
	TAC_PHASE_PUBLISH,
	TAC_PHASE_COUNT,
	TAC_PHASE_NONE = TAC_PHASE_COUNT, // outside the named phases
} tac_phase;

// Why a tick ended after its deadline, or after the threshold of its account. docs/realtime.md explains each
// cause and its remedy.
typedef enum tac_cause {
	TAC_CAUSE_NONE,       // it was on time
	TAC_CAUSE_LATE_WAKE,  // runnable, but the scheduler ran something else
	TAC_CAUSE_STOLEN,     // wall time passed, but no CPU time and no run_delay: hypervisor, SMI, firmware
	TAC_CAUSE_PREEMPTED,  // taken off the CPU in the middle of the tick
	TAC_CAUSE_PAGE_FAULT, // memory that was not resident
	TAC_CAUSE_LONG_COMPUTE, // the phase named in cause_phase took too long by itself
	TAC_CAUSE_BLOCKED,      // the phase named in cause_phase slept or waited: a lock, a file, a pipe
	TAC_CAUSE_DEVICE_IO,    // a device phase computed or waited too long
	TAC_CAUSE_EFFECT,       // a force of the application computed or waited too long
	TAC_CAUSE_STOPPED,      // the process was stopped by a signal or a debugger
	TAC_CAUSE_UNDECIDED,    // the evidence allows more than one of these
	TAC_CAUSE_COUNT,
} tac_cause;

// What the kernel recorded of the thread between two samples, as differences. A window of one tick is exact;
// a longer one also includes the on-time ticks since the last sample, whose share is bounded by `others_ns`.
typedef struct tac_evidence {
	int64_t cpu_ns;       // CPU time of the thread
	int64_t run_delay_ns; // runnable but waiting for a CPU (/proc/self/task/TID/schedstat); -1: unknown
	int64_t others_ns;    // wall time for which the window's other ticks were awake or overdue
	uint32_t voluntary;   // voluntary context switches, less the loop's own sleeps
	uint32_t involuntary; // involuntary context switches
	uint32_t minor_faults;
	uint32_t major_faults;
	uint32_t migrations;   // ticks that ended on another CPU than the one before
	uint32_t window_ticks; // 0: no evidence was taken
} tac_evidence;

// The thread that ran for the longest part of the time for which the loop waited for its CPU.
typedef struct tac_rival {
	int64_t ran_ns; // 0: unknown
	int32_t tid;    // 0: the idle thread
	char name[20];  // as the kernel lists it; "thread TID" if it has ended
} tac_rival;

typedef struct tac_tick {
	int64_t index;      // period number on the loop's grid; jumps where periods were skipped
	int64_t planned_ns; // when it should have begun, on tac_clock_now_ns
	int64_t timer_ns;   // when the timer should have fired: planned_ns less the spin tail
	int64_t fired_ns;   // when the timer woke the thread
	int64_t wake_ns;    // when it began: after the timer and the spin
	int64_t phase_end_ns[TAC_PHASE_COUNT]; // 0: the phase did not run
	int64_t end_ns;                        // when the tick's work was done
	int64_t deadline_ns;                   // when it was due
	int64_t lost_records;                  // records that the ring refused before this one
	tac_evidence evidence;                 // filled for late ticks
	tac_rival rival;                       // filled by the monitor, if it watches the scheduler
	int32_t cpu;                           // on which it ended
	uint32_t skipped;                      // whole periods skipped because this tick was late
	tac_cause cause;
	tac_phase cause_phase; // the longest phase of a late tick; TAC_PHASE_NONE: the loss was outside them
	// How the phase sco ended, and what it refused last, as numbers of the loop's own: a servo has those
	// of tac_sco_outcome. 0: nothing.
	int32_t sco_outcome, sco_refused;
} tac_tick;

// Marks the end of `phase` with the clock's time, and fires the probe phase_end.
// Thread: RT.
TAC_API void tac_tick_phase_end(tac_tick *tick, tac_phase phase);

// How late the tick began. Thread: RT.
static inline int64_t tac_tick_wake_ns(const tac_tick *tick)
{
	return tick->wake_ns - tick->planned_ns;
}

// How long its work took. Thread: RT.
static inline int64_t tac_tick_compute_ns(const tac_tick *tick)
{
	return tick->end_ns - tick->wake_ns;
}

// How much time was left; negative: by how much it was late. Thread: RT.
static inline int64_t tac_tick_slack_ns(const tac_tick *tick)
{
	return tick->deadline_ns - tick->end_ns;
}

// Whether it ended after its deadline. Thread: RT.
static inline bool tac_tick_missed(const tac_tick *tick)
{
	return tick->end_ns > tick->deadline_ns;
}

// When `phase` began: at the end of the last phase before it that ran, or at the wake. Thread: RT.
TAC_API int64_t tac_tick_phase_begin_ns(const tac_tick *tick, tac_phase phase);

// How long `phase` took; 0 if it did not run. Thread: RT.
TAC_API int64_t tac_tick_phase_ns(const tac_tick *tick, tac_phase phase);

// "device read", "sco", …; "late wake", "stolen", …. Never NULL. Thread: any.
TAC_API const char *tac_phase_name(tac_phase phase);
TAC_API const char *tac_cause_name(tac_cause cause);

#ifdef __cplusplus
}
#endif

#endif
