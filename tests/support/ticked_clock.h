// A clock that the test moves, for a test that is linked with --wrap=tac_clock_now_ns and
// --wrap=tac_clock_sleep_until_ns (tactus_ticked_clock in tests/CMakeLists.txt). While it is ticked, only the
// test's thread moves it, by sleeping: a loop that sleeps until its next tick keeps its rate exactly,
// whatever the machine does to the process. The other threads sleep for real and find the clock where the
// loop has moved it.
//
// Time limits that the kernel keeps (of libusb's transfers, a futex, a condition variable) stay real. The
// ticked clock is an hour ahead, so that a limit taken from it does not end such a wait: whoever waits must
// be woken, as by the next transfer.
#ifndef TAC_TESTS_SUPPORT_TICKED_CLOCK_H
#define TAC_TESTS_SUPPORT_TICKED_CLOCK_H

#include "rt/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static _Atomic int64_t ticked_ns; // 0: the real clock
static pthread_t ticking_thread;
static bool others_tick; // the other threads see the ticked clock as well
static bool ticks_wait;  // a tick also takes a millisecond of real time, so that other threads get theirs

int64_t __real_tac_clock_now_ns(void);
int64_t __wrap_tac_clock_now_ns(void);
void __real_tac_clock_sleep_until_ns(int64_t until_ns);
void __wrap_tac_clock_sleep_until_ns(int64_t until_ns);

static inline bool on_ticking_thread(void)
{
	return pthread_equal(pthread_self(), ticking_thread);
}

int64_t __wrap_tac_clock_now_ns(void)
{
	const int64_t now_ns = atomic_load(&ticked_ns);
	return now_ns && (others_tick || on_ticking_thread()) ? now_ns : __real_tac_clock_now_ns();
}

void __wrap_tac_clock_sleep_until_ns(int64_t until_ns)
{
	const int64_t now_ns = atomic_load(&ticked_ns);
	const bool ticks = now_ns && on_ticking_thread();
	if (!ticks && !(now_ns && others_tick)) {
		__real_tac_clock_sleep_until_ns(until_ns);
		return;
	}
	if (!ticks || ticks_wait)
		__real_tac_clock_sleep_until_ns(__real_tac_clock_now_ns() + TAC_NS_PER_MS);
	if (ticks && until_ns > now_ns)
		atomic_store(&ticked_ns, until_ns);
}

// Called by the thread whose sleeps move the clock. With `all` false the other threads keep the real clock.
static inline void tick_clock(bool all)
{
	ticking_thread = pthread_self();
	others_tick = all;
	ticks_wait = true;
	atomic_store(&ticked_ns, __real_tac_clock_now_ns() + 3600 * TAC_NS_PER_S);
}

static inline void use_real_clock(void)
{
	atomic_store(&ticked_ns, 0);
}

#endif
