// Rivals: which threads ran on a CPU while the loop waited for it. The kernel reports every context switch of
// every CPU through perf events (perf_event_open(2), PERF_RECORD_SWITCH_CPU_WIDE), which root or CAP_PERFMON
// may read. The real-time thread has no part in it: the kernel writes the records, the monitor's thread reads
// them.
#ifndef TAC_RT_RIVALS_H
#define TAC_RT_RIVALS_H

#include "base/result.h"
#include "rt/tick.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_rivals tac_rivals;

// Begins to watch all CPUs. TAC_ERROR_SYSTEM without a log line, with errno, if the kernel does not allow it
// (EACCES, EPERM: the permission is missing; ENOSYS, ENOENT: the kernel has no perf events), and
// TAC_ERROR_MEMORY with one.
// Thread: setup.
tac_result tac_rivals_create(tac_rivals **out_rivals);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_rivals_destroy(tac_rivals **rivals);

// Reads the records that have arrived. The kernel keeps a few thousand switches of each CPU, so this should
// be called every 10 ms or so; what does not fit is lost and makes tac_rivals_find less complete.
// Thread: any but RT, one at a time, also for tac_rivals_find.
void tac_rivals_read(tac_rivals *rivals);

// The thread, other than `self`, that ran longest on `cpu` between two times of tac_clock_now_ns. False: none
// did, or the records do not reach back that far.
bool tac_rivals_find(tac_rivals *rivals, int32_t cpu, int64_t from_ns, int64_t to_ns, int32_t self,
		     tac_rival *out_rival);

#ifdef __cplusplus
}
#endif

#endif
