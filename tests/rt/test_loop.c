#include "rt/loop.h"

#include "rt/clock.h"
#include "rt/thread.h"
#include "tests/support/logged.h"
#include "unity.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- virtual time ----
// The linker wraps the clock and the timer, so that a test can run a million ticks in a moment and place a
// late tick exactly. Every reading of the clock takes 10 ns.

static bool virtual_time;
static int64_t virtual_ns;
static int64_t oversleep_ns; // delay of the virtual timer

int64_t __real_tac_clock_now_ns(void);
int64_t __wrap_tac_clock_now_ns(void);
uint32_t __real_tac_timer_wait(tac_timer *timer, int64_t until_ns);
uint32_t __wrap_tac_timer_wait(tac_timer *timer, int64_t until_ns);

int64_t __wrap_tac_clock_now_ns(void)
{
	return virtual_time ? virtual_ns += 10 : __real_tac_clock_now_ns();
}

uint32_t __wrap_tac_timer_wait(tac_timer *timer, int64_t until_ns)
{
	if (!virtual_time)
		return __real_tac_timer_wait(timer, until_ns);
	if (virtual_ns >= until_ns)
		return 0;
	virtual_ns = until_ns + oversleep_ns;
	return 1;
}

void setUp(void)
{
	virtual_time = false;
	virtual_ns = 1000000000;
	oversleep_ns = 0;
}

void tearDown(void)
{
}

static tac_loop *make_loop(tac_loop_def def)
{
	tac_loop *loop;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
	return loop;
}

#define LATE_TICK 5

typedef struct observed {
	tac_loop *loop;
	int64_t ticks;
	int64_t first_planned_ns;
	int64_t last_planned_ns;
	int64_t last_index;
	int64_t worst_wake_ns;
	int64_t fired_early;   // ticks whose timer fired before the planned time, so that the spin covers it
	int64_t late_by_ns;    // how long tick LATE_TICK computes
	int64_t after_late;    // index of the tick after it
	int64_t after_late_at; // when that began
	int64_t stop_at;       // stop in this tick; -1: never
} observed;

static void observe(void *user, tac_tick *tick)
{
	observed *o = user;
	if (o->ticks++ == 0)
		o->first_planned_ns = tick->planned_ns;
	else
		TEST_ASSERT_GREATER_THAN_INT64(o->last_index, tick->index);
	if (o->last_index == LATE_TICK) {
		o->after_late = tick->index;
		o->after_late_at = tick->wake_ns;
	}
	o->last_index = tick->index;
	o->last_planned_ns = tick->planned_ns;
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(tick->planned_ns, tick->wake_ns);
	TEST_ASSERT_EQUAL_INT64(tick->planned_ns + tac_loop_period_ns(o->loop), tick->deadline_ns);
	o->fired_early += tick->fired_ns < tick->planned_ns;
	if (tac_tick_wake_ns(tick) > o->worst_wake_ns)
		o->worst_wake_ns = tac_tick_wake_ns(tick);
	if (tick->index == LATE_TICK)
		virtual_ns += o->late_by_ns;
	if (tick->index == o->stop_at)
		tac_loop_stop(o->loop);
}

static observed run_virtually(tac_loop_def def, int64_t late_by_ns)
{
	observed o = {.loop = make_loop(def), .late_by_ns = late_by_ns, .stop_at = -1};
	virtual_time = true;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(o.loop, observe, &o));
	virtual_time = false;
	tac_loop_destroy(&o.loop);
	return o;
}

static void a_million_ticks_do_not_drift_by_a_nanosecond(void)
{
	tac_loop_def def = tac_loop_def_default();
	def.periods = 1000000;
	def.spin_ns = 200; // 20 readings of the virtual clock
	oversleep_ns = 137;
	observed o = run_virtually(def, 0);
	TEST_ASSERT_EQUAL_INT64(1000000, o.ticks);
	TEST_ASSERT_EQUAL_INT64(999999 * TAC_NS_PER_MS, o.last_planned_ns - o.first_planned_ns);
}

static void the_first_tick_is_planned_at_the_requested_time(void)
{
	tac_loop_def def = tac_loop_def_default();
	def.first_ns = virtual_ns + 12345678;
	def.periods = 3;
	TEST_ASSERT_EQUAL_INT64(def.first_ns, run_virtually(def, 0).first_planned_ns);
}

static void the_spin_hides_a_late_timer_and_without_it_the_wake_is_late(void)
{
	tac_loop_def def = tac_loop_def_default();
	def.periods = 1000;
	oversleep_ns = 60000; // within the 100 µs of spin
	TEST_ASSERT_LESS_OR_EQUAL_INT64(10, run_virtually(def, 0).worst_wake_ns);
	def.spin_ns = 0;
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(60000, run_virtually(def, 0).worst_wake_ns);
}

static void a_late_tick_is_followed_by_the_first_period_still_ahead(void)
{
	const struct {
		int64_t late_by_ns;
		int64_t next;
	} cases[] = {
		{500000, LATE_TICK + 1},  // on time
		{999990, LATE_TICK + 1},  // exactly: reading the clock adds 10 ns
		{1000000, LATE_TICK + 2}, // just late
		{1999990, LATE_TICK + 2}, // ends at the planned time of the second one, which still runs
		{2000000, LATE_TICK + 3}, {2400000, LATE_TICK + 3}, {50500000, LATE_TICK + 51},
	};
	tac_loop_def def = tac_loop_def_default();
	def.periods = 200;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		observed o = run_virtually(def, cases[i].late_by_ns);
		TEST_ASSERT_EQUAL_INT64(cases[i].next, o.after_late);
		// On the grid and not before it: skipped periods are not made up for.
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(o.first_planned_ns + cases[i].next * TAC_NS_PER_MS,
						   o.after_late_at);
		TEST_ASSERT_LESS_OR_EQUAL_INT64(o.first_planned_ns + cases[i].next * TAC_NS_PER_MS + 1000,
						o.after_late_at);
		TEST_ASSERT_EQUAL_INT64(200 - (cases[i].next - LATE_TICK - 1), o.ticks);
	}
}

static void ticks_and_skipped_periods_add_up_in_the_account(void)
{
	tac_deadline_def deadline_def = tac_deadline_def_default(TAC_NS_PER_MS);
	tac_deadline *deadline;
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&deadline_def, &deadline));
	tac_loop_def def = tac_loop_def_default();
	def.periods = 100;
	def.deadline = deadline;
	run_virtually(def, 7300000);
	tac_deadline_totals totals = tac_deadline_read_totals(deadline);
	TEST_ASSERT_EQUAL_INT64(7, totals.skipped);
	TEST_ASSERT_EQUAL_INT64(1, totals.misses);
	TEST_ASSERT_EQUAL_INT64(100, totals.ticks + totals.skipped);
	tac_deadline_destroy(&deadline);
}

static void a_late_last_tick_skips_nothing_beyond_the_end_of_the_loop(void)
{
	tac_deadline_def deadline_def = tac_deadline_def_default(TAC_NS_PER_MS);
	tac_deadline *deadline;
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&deadline_def, &deadline));
	tac_loop_def def = tac_loop_def_default();
	def.periods = LATE_TICK + 3;
	def.deadline = deadline;
	run_virtually(def, 50 * TAC_NS_PER_MS);
	tac_deadline_totals totals = tac_deadline_read_totals(deadline);
	TEST_ASSERT_EQUAL_INT64(LATE_TICK + 1, totals.ticks);
	TEST_ASSERT_EQUAL_INT64(2, totals.skipped);
	tac_deadline_destroy(&deadline);
}

static void a_phase_begins_where_the_last_one_that_ran_ended(void)
{
	tac_tick tick = {.wake_ns = 100};
	tick.phase_end_ns[TAC_PHASE_DEVICE_READ] = 130;
	tick.phase_end_ns[TAC_PHASE_DEVICE_WRITE] = 170;
	TEST_ASSERT_EQUAL_INT64(30, tac_tick_phase_ns(&tick, TAC_PHASE_DEVICE_READ));
	TEST_ASSERT_EQUAL_INT64(0, tac_tick_phase_ns(&tick, TAC_PHASE_SCO));
	TEST_ASSERT_EQUAL_INT64(130, tac_tick_phase_begin_ns(&tick, TAC_PHASE_DEVICE_WRITE));
	TEST_ASSERT_EQUAL_INT64(40, tac_tick_phase_ns(&tick, TAC_PHASE_DEVICE_WRITE));
	TEST_ASSERT_EQUAL_INT64(0, tac_tick_phase_ns(&tick, TAC_PHASE_NONE));
}

static void a_tick_that_ends_on_its_deadline_is_on_time(void)
{
	tac_tick tick = {.planned_ns = 1000, .wake_ns = 1000, .deadline_ns = 2000, .end_ns = 2000};
	TEST_ASSERT_FALSE(tac_tick_missed(&tick));
	tick.end_ns = 2001;
	TEST_ASSERT_TRUE(tac_tick_missed(&tick));
}

static void a_stop_inside_a_tick_makes_it_the_last(void)
{
	observed o = {.loop = make_loop(tac_loop_def_default()), .stop_at = 17};
	virtual_time = true;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(o.loop, observe, &o));
	virtual_time = false;
	TEST_ASSERT_EQUAL_INT64(18, o.ticks);
	TEST_ASSERT_FALSE(tac_loop_running(o.loop));
	tac_loop_destroy(&o.loop);
}

static void a_loop_stopped_before_it_runs_does_not_tick(void)
{
	observed o = {.loop = make_loop(tac_loop_def_default()), .stop_at = -1};
	tac_loop_stop(o.loop);
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(o.loop, observe, &o));
	TEST_ASSERT_EQUAL_INT64(0, o.ticks);
	tac_loop_destroy(&o.loop);
}

// ---- real time ----

static void every_timer_runs_the_loop_on_its_grid(void)
{
	for (int kind = TAC_TIMER_NANOSLEEP; kind <= TAC_TIMER_FD; kind++) {
		tac_loop_def def = tac_loop_def_default();
		def.timer = (tac_timer_kind)kind;
		def.periods = 200;
		def.spin_ns = def.period_ns / 2;
		observed o = {.loop = make_loop(def), .stop_at = -1};
		int64_t begin_ns = tac_clock_now_ns();
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(o.loop, observe, &o));
		int64_t took_ns = tac_clock_now_ns() - begin_ns;
		tac_loop_destroy(&o.loop);
		TEST_ASSERT_GREATER_THAN_INT64(0, o.ticks);
		TEST_ASSERT_GREATER_THAN_INT64(0, o.fired_early);
		TEST_ASSERT_LESS_OR_EQUAL_INT64(200, o.ticks);
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(o.last_index * TAC_NS_PER_MS, took_ns);
		TEST_ASSERT_EQUAL_INT64(o.last_index * TAC_NS_PER_MS, o.last_planned_ns - o.first_planned_ns);
	}
}

static void every_rate_from_100_to_10000_Hz_runs(void)
{
	const int64_t periods_ns[] = {TAC_LOOP_PERIOD_MAX_NS, 3333333, 100000};
	for (size_t i = 0; i < sizeof periods_ns / sizeof periods_ns[0]; i++) {
		tac_loop_def def = tac_loop_def_default();
		def.period_ns = periods_ns[i];
		def.spin_ns = periods_ns[i] / 2;
		def.periods = 20;
		observed o = {.loop = make_loop(def), .stop_at = -1};
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(o.loop, observe, &o));
		TEST_ASSERT_EQUAL_INT64(o.last_index * periods_ns[i], o.last_planned_ns - o.first_planned_ns);
		tac_loop_destroy(&o.loop);
	}
}

static atomic_llong beats;

static void count_beat(void *user, tac_tick *tick)
{
	(void)user;
	(void)tick;
	atomic_fetch_add(&beats, 1);
}

static void *run_loop(void *user)
{
	tac_loop_run(user, count_beat, NULL);
	return NULL;
}

static void wait_for_beats(long long wanted)
{
	while (atomic_load(&beats) < wanted)
		tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_NS_PER_MS);
}

static void another_thread_stops_the_loop(void)
{
	atomic_store(&beats, 0);
	tac_loop *loop = make_loop(tac_loop_def_default());
	pthread_t thread;
	TEST_ASSERT_EQUAL(TAC_OK, tac_thread_start(&thread, run_loop, loop));
	wait_for_beats(20);
	TEST_ASSERT_TRUE(tac_loop_running(loop));
	tac_loop_stop(loop);
	TEST_ASSERT_EQUAL(0, pthread_join(thread, NULL));
	TEST_ASSERT_EQUAL_UINT64((uint64_t)atomic_load(&beats), tac_loop_beats(loop));
	tac_loop_destroy(&loop);
}

// Runs a loop until a signal stops it. The child's exit code: 0 if the loop ended.
static int signalled_child(void)
{
	tac_loop_stop_on_signals();
	tac_loop *loop = make_loop(tac_loop_def_default());
	pthread_t thread;
	if (tac_thread_start(&thread, run_loop, loop) != TAC_OK)
		return 1;
	wait_for_beats(5);
	kill(getppid(), SIGUSR1); // ready
	pthread_join(thread, NULL);
	tac_loop_destroy(&loop);
	return tac_loop_signalled() ? 0 : 2;
}

static void sigint_and_sigterm_stop_the_loop_cleanly(void)
{
	const int signals[] = {SIGINT, SIGTERM};
	sigset_t ready, before;
	sigemptyset(&ready);
	sigaddset(&ready, SIGUSR1);
	sigprocmask(SIG_BLOCK, &ready, &before);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		atomic_store(&beats, 0);
		fflush(NULL);
		pid_t child = fork();
		if (child == 0)
			_exit(signalled_child());
		const struct timespec timeout = {.tv_sec = 120};
		int signal;
		while ((signal = sigtimedwait(&ready, NULL, &timeout)) < 0 && errno == EINTR) {
		} // this process was stopped and went on
		kill(child, signal == SIGUSR1 ? signals[i] : SIGKILL);
		TEST_ASSERT_EQUAL(SIGUSR1, signal);
		int status;
		TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
		TEST_ASSERT_TRUE(WIFEXITED(status));
		TEST_ASSERT_EQUAL(0, WEXITSTATUS(status));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

// ---- the caller's mistakes ----

static void expect_refused(tac_loop_def def, const char *message)
{
	tac_loop *loop;
	tac_log_set(keep_logged, NULL);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_loop_create(&def, &loop));
	tac_log_set(NULL, NULL);
	TEST_ASSERT_NULL(loop);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, message), logged);
}

static void values_out_of_range_are_refused_with_the_value_found(void)
{
	tac_loop_def def = tac_loop_def_default();
	def.period_ns = 0;
	expect_refused(def, "found 0 ns");
	def.period_ns = TAC_LOOP_PERIOD_MAX_NS + 1;
	expect_refused(def, "found 10000001 ns");
	def.period_ns = TAC_NS_PER_MS;
	def.spin_ns = 500001;
	expect_refused(def, "found 500001 ns");
	def.spin_ns = -1;
	expect_refused(def, "found -1 ns");
	def.spin_ns = 0;
	def.periods = -5;
	expect_refused(def, "found -5");
	def.periods = 0;
	def.timer = (tac_timer_kind)3;
	expect_refused(def, "found 3");
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_million_ticks_do_not_drift_by_a_nanosecond);
	RUN_TEST(the_first_tick_is_planned_at_the_requested_time);
	RUN_TEST(the_spin_hides_a_late_timer_and_without_it_the_wake_is_late);
	RUN_TEST(a_late_tick_is_followed_by_the_first_period_still_ahead);
	RUN_TEST(ticks_and_skipped_periods_add_up_in_the_account);
	RUN_TEST(a_late_last_tick_skips_nothing_beyond_the_end_of_the_loop);
	RUN_TEST(a_phase_begins_where_the_last_one_that_ran_ended);
	RUN_TEST(a_tick_that_ends_on_its_deadline_is_on_time);
	RUN_TEST(a_stop_inside_a_tick_makes_it_the_last);
	RUN_TEST(a_loop_stopped_before_it_runs_does_not_tick);
	RUN_TEST(every_timer_runs_the_loop_on_its_grid);
	RUN_TEST(every_rate_from_100_to_10000_Hz_runs);
	RUN_TEST(another_thread_stops_the_loop);
	RUN_TEST(sigint_and_sigterm_stop_the_loop_cleanly);
	RUN_TEST(values_out_of_range_are_refused_with_the_value_found);
	return UNITY_END();
}
