// Deadline: the account of every tick, kept on the real-time thread. A tick on time costs a few additions and
// a copy into the ring. A late one also costs three system calls that read what the kernel recorded of the
// thread, and gets a cause.
//
// Time is lost before the tick begins (the wake) or inside it (the compute); the larger loss is examined, and
// the cause is what more than half of it went to. Inside a tick the first `compute_budget_ns` are no loss.
//   not runnable, neither CPU time nor run_delay -> stolen, or stopped if there was an extra voluntary switch
//   runnable but not running (run_delay)         -> late wake, preempted
//   waiting for memory                           -> page fault
//   on the CPU                                   -> long compute, device I/O, effect; with the phase
//   asleep voluntarily                           -> blocked, device I/O, effect; with the phase
// Evidence is a difference between samples. To limit its cost a sample is taken every `evidence_every` ticks,
// or sooner where ticks are long. The on-time ticks since the last sample add a known uncertainty
// (tac_evidence.others_ns, never above the compute budget). Where the cause depends on it, or where no single
// loss explains the lateness, the cause is undecided.
#ifndef TAC_RT_DEADLINE_H
#define TAC_RT_DEADLINE_H

#include "base/result.h"
#include "rt/tick.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_deadline tac_deadline;

typedef struct tac_deadline_def {
	int64_t compute_budget_ns; // compute beyond this counts as lost time
	// A tick that ends more than this after its planned time gets evidence and a cause even if it meets
	// its deadline; 0: only missed ticks do.
	int64_t threshold_ns;
	uint32_t records;        // capacity of the ring to the slow thread, a power of two
	uint32_t evidence_every; // ticks from sample to sample; 1: exact, at about 2 µs of slack a tick
} tac_deadline_def;

// Since create. All records are either read or lost: ticks = read + lost + still in the ring.
typedef struct tac_deadline_totals {
	int64_t ticks;   // that ran
	int64_t misses;  // that ended after their deadline
	int64_t late;    // that met their deadline, but not the threshold
	int64_t skipped; // periods in which no tick ran, because the one before was late
	int64_t lost;    // records that the ring refused because the slow thread was behind
} tac_deadline_totals;

// Half of the period as compute budget, no threshold, 4096 records, a sample every 8 ticks.
// Thread: any.
TAC_API tac_deadline_def tac_deadline_def_default(int64_t period_ns);

// TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with a log line.
// Thread: setup.
TAC_API tac_result tac_deadline_create(const tac_deadline_def *def, tac_deadline **out_deadline);

// Thread: setup, when neither the loop nor the reader runs.
TAC_API void tac_deadline_destroy(tac_deadline **deadline);

// Begins the account of the calling thread; tac_loop_run does it. TAC_PARTIAL with a log line if the kernel
// does not report run_delay: causes that need it are then undecided.
// Thread: setup, on the real-time thread.
TAC_API tac_result tac_deadline_attach(tac_deadline *deadline);

// Thread: setup, on the same thread.
TAC_API void tac_deadline_detach(tac_deadline *deadline);

// The attached thread, as the kernel numbers it; 0 before the first attach. Thread: any.
TAC_API int32_t tac_deadline_thread_id(const tac_deadline *deadline);

// Takes the finished tick: adds evidence and cause if it was late, counts it and hands a copy to the reader.
// `waits`: how often the loop itself slept before it.
// Thread: RT, the attached thread.
TAC_API void tac_deadline_record(tac_deadline *deadline, tac_tick *tick, uint32_t waits);

// The next record for the slow thread; false if there is none.
// Thread: any, one reader.
TAC_API bool tac_deadline_read(tac_deadline *deadline, tac_tick *out_tick);

// Thread: any.
TAC_API tac_deadline_totals tac_deadline_read_totals(const tac_deadline *deadline);

// The cause of a late tick, from its times and evidence alone. To explain a tick that met its deadline but
// not a threshold, pass a copy whose deadline is the threshold. *out_phase is the longest phase if the loss
// was inside the tick. TAC_CAUSE_NONE for a tick on time. Thread: RT.
TAC_API tac_cause tac_deadline_classify(const tac_tick *tick, int64_t compute_budget_ns,
					tac_phase *out_phase);

#ifdef __cplusplus
}
#endif

#endif
