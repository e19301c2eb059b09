// Timer: three kernel mechanisms that wake a thread on a periodic grid of absolute times, behind one call, so
// that they can be compared: clock_nanosleep, a POSIX timer whose signal is aimed at the thread (timer_create
// with SIGEV_THREAD_ID), and timerfd.
#ifndef TAC_RT_TIMER_H
#define TAC_RT_TIMER_H

#include "base/result.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_timer_kind {
	TAC_TIMER_NANOSLEEP,
	TAC_TIMER_SIGNAL,
	TAC_TIMER_FD,
} tac_timer_kind;

typedef struct tac_timer {
	tac_timer_kind kind;
	void *signal_timer; // a timer_t, which <time.h> declares only with POSIX extensions
	int fd;
	int64_t period_ns;
	int64_t taken_ns; // expiries up to this time have been consumed
} tac_timer;

// Starts the grid first_ns, first_ns + period_ns, … on tac_clock_now_ns for the calling thread. On failure
// TAC_ERROR_SYSTEM and a log line; nothing needs fini then.
// Thread: setup, on the thread that will wait.
TAC_API tac_result tac_timer_init(tac_timer *timer, tac_timer_kind kind, int64_t first_ns, int64_t period_ns);

// Thread: setup, on the same thread.
TAC_API void tac_timer_fini(tac_timer *timer);

// Blocks until `until_ns`, which lies on the grid; returns at once if it has passed. Returns how often the
// thread slept: an expiry left over from a stall is consumed without sleep and does not count. Signals do not
// cut it short.
// Thread: RT.
TAC_API uint32_t tac_timer_wait(tac_timer *timer, int64_t until_ns);

TAC_API const char *tac_timer_kind_name(tac_timer_kind kind); // "nanosleep", "signal", "timerfd"

#ifdef __cplusplus
}
#endif

#endif
