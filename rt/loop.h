// Loop: calls a function once every period on the calling thread, from 100 Hz to 10 kHz. Deadlines are
// absolute, so there is no drift. The thread sleeps until `spin_ns` before the time and spins the rest, which
// trades CPU time for a wake error of a fraction of a microsecond. A late tick is followed by the next period
// that still lies ahead: whole periods are skipped and counted, never run in a burst, because a burst of
// stale forces kicks the user's hand.
#ifndef TAC_RT_LOOP_H
#define TAC_RT_LOOP_H

#include "base/result.h"
#include "rt/deadline.h"
#include "rt/tick.h"
#include "rt/timer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_LOOP_PERIOD_MIN_NS INT64_C(100000)   // 10 kHz
#define TAC_LOOP_PERIOD_MAX_NS INT64_C(10000000) // 100 Hz

typedef struct tac_loop tac_loop;

typedef struct tac_loop_def {
	uint32_t struct_bytes; // set by tac_loop_def_default (base/def.h)
	int64_t period_ns;     // TAC_LOOP_PERIOD_MIN_NS … TAC_LOOP_PERIOD_MAX_NS
	int64_t spin_ns;       // 0 … half of the period; 0: no spin
	int64_t first_ns; // planned time of the first tick, so that loops can share a grid; 0: run + period
	int64_t periods;  // stop after this many; 0: run until stopped
	tac_timer_kind timer;
	tac_deadline *deadline; // keeps the account of the ticks; NULL: none
} tac_loop_def;

// One tick. `tick` has its index and times so far; tac_tick_phase_end marks the phases in it.
typedef void (*tac_loop_fn)(void *user, tac_tick *tick);

// Fills a def of `bytes` with the defaults.
// Thread: any.
TAC_API void tac_loop_def_init(tac_loop_def *out_def, size_t bytes);

// 1 kHz, 100 µs of spin, clock_nanosleep, until stopped, no account.
// Thread: any.
static inline tac_loop_def tac_loop_def_default(void)
{
	tac_loop_def def;
	tac_loop_def_init(&def, sizeof def);
	return def;
}

// TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with a log line.
// Thread: setup.
TAC_API tac_result tac_loop_create(const tac_loop_def *def, tac_loop **out_loop);

// Thread: setup, when the loop does not run.
TAC_API void tac_loop_destroy(tac_loop **loop);

// Runs until stopped or through all its periods, then returns TAC_OK; TAC_ERROR_SYSTEM, before the first
// tick, if the timer cannot be created. Call tac_thread_enter first.
// Thread: the one that is to become real-time. `fn` runs on it.
TAC_API tac_result tac_loop_run(tac_loop *loop, tac_loop_fn fn, void *user);

// Makes tac_loop_run return before its next tick, also if it has not begun yet. A stopped loop cannot be
// restarted. Thread: any, RT and signal handlers included.
TAC_API void tac_loop_stop(tac_loop *loop);

// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT stop every loop of the process, including those made later;
// an ignored SIGHUP or SIGQUIT stays ignored (nohup). If the process has not ended when a further SIGINT,
// SIGTERM or SIGQUIT arrives, that one ends it after tac_release_now, with the exit status of the signal.
// SIGPIPE and SIGXFSZ no longer end the process: writing to a closed pipe fails with EPIPE, and beyond a
// limit on the size of files with EFBIG. Thread: setup.
TAC_API void tac_loop_stop_on_signals(void);

// Whether a signal has stopped the loops. Thread: any.
TAC_API bool tac_loop_signalled(void);

// Ticks begun so far: the heartbeat for a watchdog. Thread: any.
TAC_API uint64_t tac_loop_beats(const tac_loop *loop);

// Whether the loop is between its first and its last tick. Thread: any.
TAC_API bool tac_loop_running(const tac_loop *loop);

// As given at set-up. Thread: any.
TAC_API int64_t tac_loop_period_ns(const tac_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
