// Faults that the machine can inject into a running loop: it takes the CPU away, stops the process, steps the
// wall clock. The loop keeps its grid, and the account reports the cause.
#include "rt/clock.h"
#include "rt/loop.h"
#include "rt/thread.h"
#include "unity.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS TAC_NS_PER_MS

void setUp(void)
{
}

void tearDown(void)
{
}

typedef struct outcome {
	int64_t ticks;
	int64_t skipped;
	int64_t by_cause[TAC_CAUSE_COUNT];
	int bad_order;   // ticks not after their predecessor on the grid
	int too_early;   // ticks that began before their planned time
	int wrong_phase; // late inside the tick, but reported with another phase than SCO
} outcome;

typedef struct session {
	int64_t periods;
	int64_t period_ns;
	int64_t compute_ns;
	tac_thread_def thread;
	tac_result setup;
	void (*in_first_tick)(void);
	outcome outcome;
} session;

static void tick(void *user, tac_tick *t)
{
	session *s = user;
	if (t->index == 0 && s->in_first_tick)
		s->in_first_tick();
	while (tac_clock_now_ns() < t->wake_ns + s->compute_ns) {
	}
	tac_tick_phase_end(t, TAC_PHASE_SCO);
}

static void *run_session(void *user)
{
	session *s = user;
	tac_thread_report report;
	s->setup = tac_thread_enter(&s->thread, &report);
	tac_deadline_def deadline_def = tac_deadline_def_default(s->period_ns);
	deadline_def.compute_budget_ns = s->period_ns * 9 / 10;
	tac_deadline *deadline = NULL;
	tac_loop *loop = NULL;
	tac_loop_def loop_def = tac_loop_def_default();
	loop_def.period_ns = s->period_ns;
	loop_def.periods = s->periods;
	if (s->setup < TAC_OK || tac_deadline_create(&deadline_def, &deadline) != TAC_OK)
		return NULL;
	loop_def.deadline = deadline;
	if (tac_loop_create(&loop_def, &loop) == TAC_OK)
		tac_loop_run(loop, tick, s);

	tac_tick t;
	int64_t last_index = -1;
	outcome *o = &s->outcome;
	while (tac_deadline_read(deadline, &t)) {
		o->ticks++;
		o->skipped += t.skipped;
		o->by_cause[t.cause]++;
		o->bad_order += t.index <= last_index;
		o->too_early += t.wake_ns < t.planned_ns;
		o->wrong_phase += t.cause == TAC_CAUSE_PREEMPTED && t.cause_phase != TAC_PHASE_SCO &&
				  tac_tick_wake_ns(&t) < MS;
		last_index = t.index;
	}
	tac_loop_destroy(&loop);
	tac_deadline_destroy(&deadline);
	tac_thread_leave(&report);
	return NULL;
}

// ---- the CPU is taken away ----

static atomic_bool hog_stop;

// Takes CPU 0 from everything of lower priority, for 8 ms out of every 40.
static void *hog_thread(void *user)
{
	const tac_thread_def def = {.policy = TAC_POLICY_FIFO, .priority = 60, .cpu = 0};
	tac_thread_report report;
	if (tac_thread_enter(&def, &report) != TAC_OK)
		return user;
	while (!atomic_load(&hog_stop)) {
		int64_t until_ns = tac_clock_now_ns() + 8 * MS;
		while (tac_clock_now_ns() < until_ns) {
		}
		tac_clock_sleep_until_ns(until_ns + 32 * MS);
	}
	return NULL;
}

static outcome run_beside_hog(int64_t compute_ns)
{
	session s = {
		.periods = 400,
		.period_ns = 2 * MS,
		.compute_ns = compute_ns,
		.thread = {.policy = TAC_POLICY_FIFO, .priority = 50, .cpu = 0},
	};
	pthread_t hog, loop;
	void *refused;
	atomic_store(&hog_stop, false);
	TEST_ASSERT_EQUAL(TAC_OK, tac_thread_start(&hog, hog_thread, &s));
	TEST_ASSERT_EQUAL(TAC_OK, tac_thread_start(&loop, run_session, &s));
	pthread_join(loop, NULL);
	atomic_store(&hog_stop, true);
	pthread_join(hog, &refused);
	if (refused || s.setup != TAC_OK)
		TEST_IGNORE_MESSAGE("needs SCHED_FIFO");
	TEST_ASSERT_EQUAL(0, s.outcome.bad_order);
	TEST_ASSERT_EQUAL(0, s.outcome.too_early);
	return s.outcome;
}

static void a_higher_priority_at_the_wake_is_a_late_wake(void)
{
	outcome o = run_beside_hog(0);
	// About 20 bursts, each long enough to miss 3 or 4 periods.
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(5, o.by_cause[TAC_CAUSE_LATE_WAKE]);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(15, o.skipped);
}

static void a_higher_priority_in_the_middle_of_a_tick_is_a_preemption(void)
{
	outcome o = {0};
	for (int i = 0; i < 3 && o.by_cause[TAC_CAUSE_PREEMPTED] < 5;
	     i++) {                                       // time that is stolen hides bursts
		o = run_beside_hog(1500 * TAC_NS_PER_US); // three quarters inside a tick
		TEST_ASSERT_EQUAL(0, o.wrong_phase);
	}
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(5, o.by_cause[TAC_CAUSE_PREEMPTED]);
}

// ---- the process is stopped ----

static void signal_ready(void)
{
	kill(getppid(), SIGUSR1);
}

// The child's exit code: 0, or the number of the failed check.
static int stopped_child(void)
{
	session s = {
		.periods = 600,
		.period_ns = MS,
		.thread = {.policy = TAC_POLICY_FIFO, .priority = 50, .cpu = -1},
		.in_first_tick = signal_ready,
	};
	run_session(&s);
	const outcome *o = &s.outcome;
	if (o->bad_order || o->too_early)
		return 1;
	if (o->ticks + o->skipped < 600) // every period ran or was counted
		return 2;
	if (o->skipped < 2 * 90) // two stops of 100 ms
		return 3;
	if (o->by_cause[TAC_CAUSE_STOPPED] < 1)
		return 4;
	return 0;
}

static void a_stopped_process_skips_the_periods_it_slept_through(void)
{
	sigset_t ready, before;
	sigemptyset(&ready);
	sigaddset(&ready, SIGUSR1);
	sigprocmask(SIG_BLOCK, &ready, &before);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(stopped_child());
	const struct timespec timeout = {.tv_sec = 30}, pause = {.tv_nsec = 100 * MS};
	TEST_ASSERT_EQUAL(SIGUSR1, sigtimedwait(&ready, NULL, &timeout));
	sigprocmask(SIG_SETMASK, &before, NULL);
	for (int i = 0; i < 2; i++) {
		nanosleep(&pause, NULL);
		kill(child, SIGSTOP);
		nanosleep(&pause, NULL);
		kill(child, SIGCONT);
	}
	int status;
	TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
	TEST_ASSERT_TRUE(WIFEXITED(status));
	TEST_ASSERT_EQUAL_MESSAGE(0, WEXITSTATUS(status), "the number of the check that failed in the child");
}

// ---- the wall clock is stepped ----

static int step_clock(int seconds)
{
	struct timex step = {.modes = ADJ_SETOFFSET, .time = {.tv_sec = seconds}};
	return clock_adjtime(CLOCK_REALTIME, &step) < 0 ? errno : 0;
}

static void *step_forward_and_back(void *user)
{
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 50 * MS);
	int error = step_clock(2);
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 50 * MS);
	*(int *)user = error ? error : step_clock(-2);
	return NULL;
}

static void a_step_of_the_wall_clock_does_not_reach_the_loop(void)
{
	if (!getenv("CI") && !getenv("TACTUS_STEP_CLOCK"))
		TEST_IGNORE_MESSAGE("would step this machine's clock by 2 s for 50 ms; "
				    "TACTUS_STEP_CLOCK=1 allows it");
	session s = {.periods = 200, .period_ns = MS, .thread = {.policy = TAC_POLICY_OTHER, .cpu = -1}};
	int error = -1;
	pthread_t stepper;
	int64_t begin_ns = tac_clock_now_ns();
	TEST_ASSERT_EQUAL(TAC_OK, tac_thread_start(&stepper, step_forward_and_back, &error));
	run_session(&s);
	int64_t took_ns = tac_clock_now_ns() - begin_ns;
	pthread_join(stepper, NULL);
	if (error)
		TEST_IGNORE_MESSAGE("stepping the clock is not permitted");
	TEST_ASSERT_EQUAL_INT64(0, s.outcome.bad_order + s.outcome.too_early);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(200, s.outcome.ticks + s.outcome.skipped);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(200 * MS, took_ns);
	TEST_ASSERT_LESS_THAN_INT64(1500 * MS, took_ns);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_higher_priority_at_the_wake_is_a_late_wake);
	RUN_TEST(a_higher_priority_in_the_middle_of_a_tick_is_a_preemption);
	RUN_TEST(a_stopped_process_skips_the_periods_it_slept_through);
	RUN_TEST(a_step_of_the_wall_clock_does_not_reach_the_loop);
	return UNITY_END();
}
