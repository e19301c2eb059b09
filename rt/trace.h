// Trace: ticks as a file that ui.perfetto.dev opens, in Chrome's trace event format (JSON). Each tick is a
// slice with its phases nested in it, each missed deadline an instant with its cause and evidence, and wake
// latency and compute time are counters.
//
// It is the format's array flavour, one event a line. Perfetto also opens it without the closing bracket, so
// the file of a crashed process is usable, except for up to 64 KiB not yet written. The object flavour, with
// its `displayTimeUnit`, would be refused then, and Perfetto ignores that field. About 1 KB a tick.
#ifndef TAC_RT_TRACE_H
#define TAC_RT_TRACE_H

#include <stdint.h>

#include "base/result.h"
#include "rt/tick.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_trace tac_trace;

typedef struct tac_trace_def {
	const char *path; // created or truncated; NULL: write to fd
	int fd;           // open for writing and blocking; stays the caller's. Used if path is NULL.
	// UTF-8, cut after 255 bytes; invalid bytes become U+FFFD. Copied.
	const char *process_name;
	const char *thread_name; // of the track with the ticks
	int64_t origin_ns;       // on tac_clock_now_ns: time 0 of the trace. Earlier times are moved to it.
	// The name of a tick's sco_outcome or sco_refused, any number but 0: at most 20 bytes are shown, and
	// what is not printable as '?'. NULL: the trace does not have them. Called by tac_trace_tick.
	const char *(*outcome_name)(int32_t outcome);
} tac_trace_def;

// The result of a trace. Every event counts in events_written or in events_lost.
typedef struct tac_trace_summary {
	int64_t ticks;
	int64_t misses;
	int64_t moved_ticks; // with times out of order, moved so that slices nest ("moved" in the trace)
	int64_t events_written;
	int64_t events_lost; // not written, because of `error`
	int error;           // errno of the first write that failed; 0: none
} tac_trace_summary;

// No path and no descriptor yet, names "tactus" and "loop", origin now.
// Thread: any.
TAC_API tac_trace_def tac_trace_def_default(void);

// Opens the file and writes the names. TAC_ERROR_IO if it cannot be opened, TAC_ERROR_MEMORY; *out_trace is
// NULL then. A failed write is reported by tac_trace_destroy, not here.
// Thread: setup.
TAC_API tac_result tac_trace_create(const tac_trace_def *def, tac_trace **out_trace);

// Adds a tick. Ticks are given in the order in which they ran; any content gives a valid trace. After the
// first failed write, events are only counted. A reader that closed its end (EPIPE) is such a failure and
// raises no SIGPIPE. Memory is fixed at create.
// Thread: any but RT, one at a time; blocks on the file.
TAC_API void tac_trace_tick(tac_trace *trace, const tac_tick *tick);

// Completes the array, closes the file if it was opened by path, frees the trace and nulls *trace; a NULL
// *trace is allowed. TAC_ERROR_IO, with a log line, if anything could not be written. `out_summary` may be
// NULL.
// Thread: any but RT.
TAC_API tac_result tac_trace_destroy(tac_trace **trace, tac_trace_summary *out_summary);

#ifdef __cplusplus
}
#endif

#endif
