#include "rt/timer.h"

#include "rt/clock.h"
#include "unity.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <sys/timerfd.h>

#define MS TAC_NS_PER_MS

static tac_timer timer;

void setUp(void)
{
}

void tearDown(void)
{
}

static void start(int kind, int64_t first_ns, int64_t period_ns)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_timer_init(&timer, (tac_timer_kind)kind, first_ns, period_ns));
}

// The kernel's state of the timer; false if there is no such timer.
static bool read_kernel_timer(struct itimerspec *out)
{
	return timer.kind == TAC_TIMER_FD ? timerfd_gettime(timer.fd, out) == 0
					  : timer_gettime(timer.signal_timer, out) == 0;
}

static int64_t monotonic_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * TAC_NS_PER_S + t.tv_nsec;
}

// So steps of the wall clock do not reach the loop.
static void time_is_the_monotonic_clock(void)
{
	int64_t before_ns = monotonic_ns();
	int64_t now_ns = tac_clock_now_ns();
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(before_ns, now_ns);
	TEST_ASSERT_LESS_OR_EQUAL_INT64(monotonic_ns(), now_ns);
}

static void the_kernel_has_the_requested_grid(void)
{
	for (int kind = TAC_TIMER_SIGNAL; kind <= TAC_TIMER_FD; kind++) {
		int64_t first_ns = tac_clock_now_ns() + 1000 * TAC_NS_PER_S;
		start(kind, first_ns, 3 * MS);
		struct itimerspec grid;
		TEST_ASSERT_TRUE(read_kernel_timer(&grid));
		TEST_ASSERT_EQUAL_INT64(0, grid.it_interval.tv_sec);
		TEST_ASSERT_EQUAL_INT64(3 * MS, grid.it_interval.tv_nsec);
		TEST_ASSERT_INT64_WITHIN(100, 950, grid.it_value.tv_sec); // it counts down
		tac_timer_fini(&timer);
	}
}

static void a_finished_timer_leaves_no_descriptor_timer_or_signal(void)
{
	for (int kind = TAC_TIMER_SIGNAL; kind <= TAC_TIMER_FD; kind++) {
		start(kind, tac_clock_now_ns() + MS, MS);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + 5 * MS); // expiries are pending
		tac_timer_fini(&timer);
		if (kind == TAC_TIMER_FD)
			TEST_ASSERT_EQUAL(-1, fcntl(timer.fd, F_GETFD));
		else
			TEST_ASSERT_EQUAL(-1, timer_delete(timer.signal_timer));
		sigset_t pending;
		sigpending(&pending);
		TEST_ASSERT_EQUAL(0, sigismember(&pending, SIGRTMIN + 1));
	}
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

// A signal with a handler every millisecond.
static void enable_alarms(bool on)
{
	struct sigaction action = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &action, NULL);
	const struct timeval period = {.tv_usec = on ? 1000 : 0};
	setitimer(ITIMER_REAL, &(struct itimerval){.it_interval = period, .it_value = period}, NULL);
}

static void signals_do_not_cut_a_wait_short(void)
{
	enable_alarms(true);
	for (int kind = TAC_TIMER_NANOSLEEP; kind <= TAC_TIMER_FD; kind++) {
		alarms = 0;
		int64_t first_ns = tac_clock_now_ns() + 50 * MS;
		start(kind, first_ns, 50 * MS);
		tac_timer_wait(&timer, first_ns);
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(first_ns, tac_clock_now_ns());
		TEST_ASSERT_GREATER_THAN(0, alarms);
		tac_timer_fini(&timer);
	}
	alarms = 0;
	int64_t until_ns = tac_clock_now_ns() + 50 * MS;
	tac_clock_sleep_until_ns(until_ns);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(until_ns, tac_clock_now_ns());
	TEST_ASSERT_GREATER_THAN(0, alarms);
	enable_alarms(false);
}

static void a_pending_expiry_is_consumed_without_a_sleep(void)
{
	for (int kind = TAC_TIMER_NANOSLEEP; kind <= TAC_TIMER_FD; kind++) {
		int64_t first_ns = tac_clock_now_ns() + MS;
		start(kind, first_ns, 200 * MS);
		tac_clock_sleep_until_ns(first_ns + 5 * MS);
		// 1, or 0 if this machine was late for the next point of the grid, too.
		TEST_ASSERT_LESS_OR_EQUAL_UINT32(1, tac_timer_wait(&timer, first_ns + 200 * MS));
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(first_ns + 200 * MS, tac_clock_now_ns());
		TEST_ASSERT_EQUAL_UINT32(0, tac_timer_wait(&timer, first_ns)); // has passed
		tac_timer_fini(&timer);
	}
}

static void every_kind_has_its_name(void)
{
	TEST_ASSERT_EQUAL_STRING("nanosleep", tac_timer_kind_name(TAC_TIMER_NANOSLEEP));
	TEST_ASSERT_EQUAL_STRING("signal", tac_timer_kind_name(TAC_TIMER_SIGNAL));
	TEST_ASSERT_EQUAL_STRING("timerfd", tac_timer_kind_name(TAC_TIMER_FD));
	TEST_ASSERT_EQUAL_STRING("unknown timer", tac_timer_kind_name((tac_timer_kind)7));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(time_is_the_monotonic_clock);
	RUN_TEST(the_kernel_has_the_requested_grid);
	RUN_TEST(a_finished_timer_leaves_no_descriptor_timer_or_signal);
	RUN_TEST(signals_do_not_cut_a_wait_short);
	RUN_TEST(a_pending_expiry_is_consumed_without_a_sleep);
	RUN_TEST(every_kind_has_its_name);
	return UNITY_END();
}
