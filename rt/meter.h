// Meter: measures somebody else's loop with four calls. Deadline account, monitor, log and trace behind it
// are those of rt/loop.h, so every late tick gets a cause.
//	tac_meter_create(&def, &meter);
//	…                                   in the loop, once a period:
//	tac_meter_begin(meter, planned_ns);
//	…                                   the work
//	tac_meter_end(meter);
//	…
//	tac_meter_destroy(&meter, &stats);
#ifndef TAC_RT_METER_H
#define TAC_RT_METER_H

#include "base/result.h"
#include "rt/monitor.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_meter tac_meter;

typedef struct tac_meter_def {
	int64_t period_ns;      // of the loop; a tick that ends later than this after its plan is a miss
	int64_t threshold_ns;   // see tac_deadline_def; 0: none
	const char *log_path;   // see tac_monitor_def; NULL: none
	const char *trace_path; // for ui.perfetto.dev (rt/trace.h); NULL: none
	bool watch_rivals;      // see tac_monitor_def
} tac_meter_def;

// TAC_ERROR_ARGUMENT, TAC_ERROR_IO, TAC_ERROR_SYSTEM or TAC_ERROR_MEMORY with a log line; *out_meter is NULL
// then. Thread: setup.
TAC_API tac_result tac_meter_create(const tac_meter_def *def, tac_meter **out_meter);

// The loop has woken up for the tick that was planned for `planned_ns` (tac_clock_now_ns). The first call
// opens a file of /proc.
// Thread: RT, always the same.
TAC_API void tac_meter_begin(tac_meter *meter, int64_t planned_ns);

// The work of the tick is done. Thread: RT, the same.
TAC_API void tac_meter_end(tac_meter *meter);

// Waits until every tick has been counted, and frees the meter. `out_stats` may be NULL. TAC_ERROR_IO with a
// log line: the trace is incomplete. Nulls the pointer; NULL in it is allowed. Thread: setup, when the loop
// has ended; if it is another thread than the loop's, after joining that.
TAC_API tac_result tac_meter_destroy(tac_meter **meter, tac_monitor_stats *out_stats);

#ifdef __cplusplus
}
#endif

#endif
