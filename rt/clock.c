#include "rt/clock.h"

#include <errno.h>

static int64_t read_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * TAC_NS_PER_S + t.tv_nsec;
}

int64_t tac_clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t tac_clock_thread_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

void tac_clock_sleep_until_ns(int64_t time_ns)
{
	const struct timespec until = tac_clock_timespec(time_ns);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
	}
}
