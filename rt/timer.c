#include "rt/timer.h"

#include "base/log.h"
#include "rt/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

// The signal of the thread's POSIX timer. It is blocked and consumed by sigwaitinfo, so it never runs a
// handler.
static int timer_signal(void)
{
	return SIGRTMIN + 1;
}

static sigset_t timer_signal_set(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, timer_signal());
	return set;
}

static int start_signal(tac_timer *timer, const struct itimerspec *grid)
{
	sigset_t set = timer_signal_set();
	int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (error != 0)
		return error;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = timer_signal()};
	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer->signal_timer) != 0)
		return errno;
	if (timer_settime(timer->signal_timer, TIMER_ABSTIME, grid, NULL) == 0)
		return 0;
	error = errno;
	timer_delete(timer->signal_timer);
	return error;
}

static int start_fd(tac_timer *timer, const struct itimerspec *grid)
{
	timer->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (timer->fd < 0)
		return errno;
	if (timerfd_settime(timer->fd, TFD_TIMER_ABSTIME, grid, NULL) == 0)
		return 0;
	int error = errno;
	close(timer->fd);
	return error;
}

tac_result tac_timer_init(tac_timer *timer, tac_timer_kind kind, int64_t first_ns, int64_t period_ns)
{
	*timer = (tac_timer){.kind = kind, .fd = -1, .period_ns = period_ns, .taken_ns = first_ns - 1};
	const struct itimerspec grid = {.it_value = tac_clock_timespec(first_ns),
					.it_interval = tac_clock_timespec(period_ns)};
	int error = 0;
	if (kind == TAC_TIMER_SIGNAL)
		error = start_signal(timer, &grid);
	else if (kind == TAC_TIMER_FD)
		error = start_fd(timer, &grid);
	if (error == 0)
		return TAC_OK;
	tac_log(TAC_LOG_ERROR, "timer: expected a %s timer, found %s", tac_timer_kind_name(kind),
		strerror(error));
	return TAC_ERROR_SYSTEM;
}

void tac_timer_fini(tac_timer *timer)
{
	if (timer->kind == TAC_TIMER_SIGNAL) {
		timer_delete(timer->signal_timer);
		// An expiry may still be queued; left there, it would wake the next timer early.
		sigset_t set = timer_signal_set();
		const struct timespec no_time = {0};
		while (sigtimedwait(&set, NULL, &no_time) > 0) {
		}
	} else if (timer->kind == TAC_TIMER_FD) {
		close(timer->fd);
	}
}

static void wait_once(const tac_timer *timer, int64_t until_ns)
{
	if (timer->kind == TAC_TIMER_SIGNAL) {
		sigset_t set = timer_signal_set();
		sigwaitinfo(&set, NULL);
	} else if (timer->kind == TAC_TIMER_FD) {
		uint64_t expiries;
		ssize_t length = read(timer->fd, &expiries, sizeof expiries);
		(void)length; // interrupted or not, the caller checks the clock
	} else {
		const struct timespec until = tac_clock_timespec(until_ns);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

// Whether a point of the grid has passed since the last wait: its expiry is pending, and a wait consumes it
// without sleeping.
static bool expiry_is_pending(const tac_timer *timer, int64_t now_ns, int64_t until_ns)
{
	if (timer->kind == TAC_TIMER_NANOSLEEP)
		return false;
	int64_t periods_ahead = (until_ns - now_ns + timer->period_ns - 1) / timer->period_ns;
	return until_ns - periods_ahead * timer->period_ns > timer->taken_ns;
}

uint32_t tac_timer_wait(tac_timer *timer, int64_t until_ns)
{
	uint32_t sleeps = 0;
	int64_t now_ns = tac_clock_now_ns();
	while (now_ns < until_ns) {
		sleeps += expiry_is_pending(timer, now_ns, until_ns) ? 0 : 1;
		wait_once(timer, until_ns);
		now_ns = timer->taken_ns = tac_clock_now_ns();
	}
	return sleeps;
}

const char *tac_timer_kind_name(tac_timer_kind kind)
{
	static const char *const names[] = {"nanosleep", "signal", "timerfd"};
	return (unsigned)kind <= TAC_TIMER_FD ? names[kind] : "unknown timer";
}
