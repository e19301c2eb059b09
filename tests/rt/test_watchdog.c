#include "rt/watchdog.h"

#include "rt/clock.h"
#include "tests/support/eventually.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "unity.h"

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS TAC_NS_PER_MS

// Long enough that the pauses of a shared machine (about 20 ms) are not stalls.
#define STALL_PERIODS 100
#define STALL_NS      (400 * MS)

static tac_watchdog *watchdog;
static atomic_int hook_calls;

void setUp(void)
{
	atomic_store(&hook_calls, 0);
}

void tearDown(void)
{
}

static void on_stall(void *user)
{
	atomic_fetch_add((atomic_int *)user, 1);
}

static tac_loop *make_loop(int64_t periods)
{
	tac_loop_def def = tac_loop_def_default();
	def.periods = periods;
	tac_loop *loop;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
	return loop;
}

static void watch(const tac_loop *loop)
{
	tac_watchdog_def def = tac_watchdog_def_default(loop);
	def.periods = STALL_PERIODS;
	def.on_stall = on_stall;
	def.user = &hook_calls;
	TEST_ASSERT_GREATER_OR_EQUAL(TAC_OK, tac_watchdog_create(&def, &watchdog));
}

typedef struct stalls {
	int stalls_left;
	int calls_in_stall[2];
} stalls;

static void stall_twice(void *user, tac_tick *tick)
{
	stalls *s = user;
	if (tick->index < 20 * (3 - s->stalls_left) || s->stalls_left == 0)
		return;
	int before = atomic_load(&hook_calls);
	tac_clock_sleep_until_ns(tac_clock_now_ns() + STALL_NS);
	s->stalls_left--;
	s->calls_in_stall[s->stalls_left] = atomic_load(&hook_calls) - before;
}

static void the_hook_is_called_once_in_each_stall_and_the_loop_goes_on(void)
{
	// 400 ms are 400 periods: the second stall begins after tick 400.
	tac_loop *loop = make_loop(1000);
	watch(loop);
	stalls s = {.stalls_left = 2};
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, stall_twice, &s));
	TEST_ASSERT_EQUAL(0, s.stalls_left);
	TEST_ASSERT_EQUAL(1, s.calls_in_stall[0]);
	TEST_ASSERT_EQUAL(1, s.calls_in_stall[1]);
	TEST_ASSERT_EQUAL_UINT64((uint64_t)atomic_load(&hook_calls), tac_watchdog_stalls(watchdog));
	TEST_ASSERT_GREATER_THAN_UINT64(50, tac_loop_beats(loop));
	tac_watchdog_destroy(&watchdog);
	TEST_ASSERT_NULL(watchdog);
	tac_loop_destroy(&loop);
}

static void do_nothing(void *user, tac_tick *tick)
{
	(void)user;
	(void)tick;
}

static void pause_once(void *user, tac_tick *tick)
{
	if (tick->index < 5 || *(bool *)user)
		return;
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 6 * STALL_PERIODS * MS);
	*(bool *)user = true;
}

static void a_pause_shorter_than_the_limit_is_no_stall(void)
{
	tac_loop *loop = make_loop(700);
	tac_watchdog_def def = tac_watchdog_def_default(loop);
	def.periods = 10 * STALL_PERIODS;
	def.on_stall = on_stall;
	def.user = &hook_calls;
	TEST_ASSERT_GREATER_OR_EQUAL(TAC_OK, tac_watchdog_create(&def, &watchdog));
	bool paused = false;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, pause_once, &paused));
	TEST_ASSERT_TRUE(paused);
	TEST_ASSERT_EQUAL(0, atomic_load(&hook_calls));
	tac_watchdog_destroy(&watchdog);
	tac_loop_destroy(&loop);
}

static void note_planned(void *user, tac_tick *tick)
{
	*(int64_t *)user = tick->planned_ns;
}

static void a_loop_that_has_not_begun_or_has_ended_is_no_stall(void)
{
	tac_loop *loop = make_loop(20);
	watch(loop);
	tac_clock_sleep_until_ns(tac_clock_now_ns() + STALL_NS / 2);
	TEST_ASSERT_EQUAL(0, atomic_load(&hook_calls));
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, do_nothing, NULL));
	tac_clock_sleep_until_ns(tac_clock_now_ns() + STALL_NS / 2);
	TEST_ASSERT_EQUAL(0, atomic_load(&hook_calls));
	tac_watchdog_destroy(&watchdog);
	tac_loop_destroy(&loop);
}

static void waiting_for_a_distant_first_tick_is_no_stall(void)
{
	tac_loop_def def = tac_loop_def_default();
	def.first_ns = tac_clock_now_ns() + STALL_NS;
	def.periods = 1;
	tac_loop *loop;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
	watch(loop);
	int64_t begun_ns = 0;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, note_planned, &begun_ns));
	TEST_ASSERT_EQUAL_INT64(def.first_ns, begun_ns);
	TEST_ASSERT_EQUAL(0, atomic_load(&hook_calls));
	tac_watchdog_destroy(&watchdog);
	tac_loop_destroy(&loop);
}

// ---- a watchdog that is held up itself ----

#define SLEEPS 4 // within the limit

static atomic_bool gated;
static atomic_int at_gate;      // how often the watchdog has come to the gate
static _Atomic int64_t jump_ns; // of the watchdog's clock
static sem_t gate;
static pthread_t main_thread;

int64_t __real_tac_clock_now_ns(void);
int64_t __wrap_tac_clock_now_ns(void);
int64_t __wrap_tac_clock_now_ns(void)
{
	const bool ours = pthread_equal(pthread_self(), main_thread);
	return __real_tac_clock_now_ns() + (ours ? 0 : atomic_load(&jump_ns));
}

void __real_tac_clock_sleep_until_ns(int64_t time_ns);
void __wrap_tac_clock_sleep_until_ns(int64_t time_ns);
void __wrap_tac_clock_sleep_until_ns(int64_t time_ns)
{
	if (pthread_equal(pthread_self(), main_thread) || !atomic_load(&gated)) {
		__real_tac_clock_sleep_until_ns(time_ns);
		return;
	}
	atomic_fetch_add(&at_gate, 1);
	while (sem_wait(&gate) != 0) {
	}
}

// Lets the watchdog's sleep end after a second instead of 25 ms.
static void end_a_long_sleep(void)
{
	const int before = atomic_load(&at_gate);
	atomic_fetch_add(&jump_ns, TAC_NS_PER_S);
	sem_post(&gate);
	EVENTUALLY(atomic_load(&at_gate) > before);
}

static void hold_up_the_watchdog(void *user, tac_tick *tick)
{
	int *calls = user;
	if (tick->index < 5 || calls[0] >= 0) // a machine that is held up skips ticks
		return;
	atomic_store(&gated, true);
	EVENTUALLY(atomic_load(&at_gate) > 0);
	// It has slept once during this tick, at most.
	for (int i = 0; i < SLEEPS - 2; i++)
		end_a_long_sleep();
	calls[0] = atomic_load(&hook_calls);
	for (int i = 0; i < SLEEPS; i++)
		end_a_long_sleep();
	calls[1] = atomic_load(&hook_calls);
	atomic_store(&gated, false);
	atomic_store(&jump_ns, 0);
	sem_post(&gate);
}

static void a_watchdog_that_was_held_up_with_the_loop_waits_for_its_next_tick(void)
{
	int calls[2] = {-1, -1};
	sem_init(&gate, 0, 0);
	tac_loop *loop = make_loop(300);
	watch(loop);
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, hold_up_the_watchdog, calls));
	tac_watchdog_destroy(&watchdog);
	tac_loop_destroy(&loop);
	sem_destroy(&gate);
	TEST_ASSERT_EQUAL(0, calls[0]);
	TEST_ASSERT_EQUAL(1, calls[1]);
}

static void a_refusal_is_logged_with_its_item(void)
{
	tac_loop *loop = make_loop(1);
	tac_watchdog_def def = tac_watchdog_def_default(loop);
	def.thread = (tac_thread_def){.policy = TAC_POLICY_OTHER, .cpu = CPU_SETSIZE - 1};
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
	tac_result result = tac_watchdog_create(&def, &watchdog);
	tac_watchdog_destroy(&watchdog);
	tac_log_set(NULL, NULL);
	TEST_ASSERT_EQUAL(TAC_PARTIAL, result);
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "CPU 1023 alone: refused (EINVAL)"), logged);
	tac_loop_destroy(&loop);
}

// Runs in a child, because dropped privileges do not come back. Returns 0 or the number of the failed check.
static int unprivileged_child(void)
{
	drop_privileges();
	tac_loop *loop = make_loop(600);
	tac_watchdog_def def = tac_watchdog_def_default(loop);
	def.periods = STALL_PERIODS;
	def.on_stall = on_stall;
	def.user = &hook_calls;
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
	if (tac_watchdog_create(&def, &watchdog) != TAC_PARTIAL || !watchdog)
		return 1;
	if (!strstr(logged, "watchdog: SCHED_FIFO 90: refused (EPERM)"))
		return 2;
	stalls s = {.stalls_left = 1};
	if (tac_loop_run(loop, stall_twice, &s) != TAC_OK || s.calls_in_stall[0] != 1)
		return 3;
	tac_watchdog_destroy(&watchdog);
	tac_loop_destroy(&loop);
	return 0;
}

static void an_unprivileged_user_has_a_watchdog_without_priority(void)
{
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(unprivileged_child());
	int status;
	TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
	TEST_ASSERT_TRUE(WIFEXITED(status));
	TEST_ASSERT_EQUAL_MESSAGE(0, WEXITSTATUS(status), "the number of the check that failed in the child");
}

static void a_limit_of_one_period_is_refused(void)
{
	tac_loop *loop = make_loop(1);
	tac_watchdog_def def = tac_watchdog_def_default(loop);
	def.periods = 1;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_watchdog_create(&def, &watchdog));
	TEST_ASSERT_NULL(watchdog);
	def.periods = 2;
	def.thread.priority = 1000;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_watchdog_create(&def, &watchdog));
	TEST_ASSERT_NULL(watchdog);
	tac_loop_destroy(&loop);
}

int main(void)
{
	main_thread = pthread_self();
	UNITY_BEGIN();
	RUN_TEST(the_hook_is_called_once_in_each_stall_and_the_loop_goes_on);
	RUN_TEST(a_pause_shorter_than_the_limit_is_no_stall);
	RUN_TEST(a_loop_that_has_not_begun_or_has_ended_is_no_stall);
	RUN_TEST(waiting_for_a_distant_first_tick_is_no_stall);
	RUN_TEST(a_watchdog_that_was_held_up_with_the_loop_waits_for_its_next_tick);
	RUN_TEST(a_refusal_is_logged_with_its_item);
	RUN_TEST(an_unprivileged_user_has_a_watchdog_without_priority);
	RUN_TEST(a_limit_of_one_period_is_refused);
	return UNITY_END();
}
