#include "rt/watchdog.h"

#include "rt/clock.h"
#include "tests/support/eventually.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "unity.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS TAC_NS_PER_MS

#define STALL_PERIODS 100
#define SLEEPS        4 // within the limit

static tac_watchdog *watchdog;
static tac_loop *loop;
static atomic_int hook_calls;
static _Atomic uint64_t stalled_beat; // of the last call of the hook
static atomic_int repeated;           // calls in a stall that had one already

static void on_stall(void *user)
{
	const uint64_t beat = tac_loop_beats(user);
	if (atomic_fetch_add(&hook_calls, 1) > 0 && beat == atomic_load(&stalled_beat))
		atomic_fetch_add(&repeated, 1);
	atomic_store(&stalled_beat, beat);
}

static void make_loop(int64_t periods)
{
	tac_loop_def def = tac_loop_def_default();
	def.periods = periods;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
}

static void watch(void)
{
	tac_watchdog_def def = tac_watchdog_def_default(loop);
	def.periods = STALL_PERIODS;
	def.on_stall = on_stall;
	def.user = loop;
	TEST_ASSERT_GREATER_OR_EQUAL(TAC_OK, tac_watchdog_create(&def, &watchdog));
}

// ---- the watchdog's sleeps, which the test ends ----

// A busy machine holds up loop and watchdog as it likes. What the watchdog concludes depends only on its
// sleeps and the loop's ticks, so most tests let it sleep at a gate, and end its sleeps one by one.
static atomic_bool gated;
static atomic_int at_gate;          // how often the watchdog has come to the gate
static _Atomic int64_t asked_ns;    // how long it wanted to sleep
static _Atomic int64_t jump_ns;     // of the watchdog's clock
static _Atomic int64_t open_end_ns; // until then the gate is open, and a sleep takes 1 ms
static sem_t gate;
static pthread_t main_thread;

int64_t __real_tac_clock_now_ns(void);
int64_t __wrap_tac_clock_now_ns(void);
int64_t __wrap_tac_clock_now_ns(void)
{
	const bool ours = pthread_equal(pthread_self(), main_thread);
	if (!ours && atomic_load(&gated)) // it stands, except for the jumps
		return TAC_NS_PER_S + atomic_load(&jump_ns);
	return __real_tac_clock_now_ns();
}

void __real_tac_clock_sleep_until_ns(int64_t time_ns);
void __wrap_tac_clock_sleep_until_ns(int64_t time_ns);
void __wrap_tac_clock_sleep_until_ns(int64_t time_ns)
{
	if (pthread_equal(pthread_self(), main_thread) || !atomic_load(&gated)) {
		__real_tac_clock_sleep_until_ns(time_ns);
		return;
	}
	atomic_store(&asked_ns, time_ns - __wrap_tac_clock_now_ns());
	atomic_fetch_add(&at_gate, 1);
	const int64_t now_ns = __real_tac_clock_now_ns();
	if (now_ns < atomic_load(&open_end_ns)) {
		__real_tac_clock_sleep_until_ns(now_ns + MS);
		return;
	}
	while (sem_wait(&gate) != 0) {
	}
}

static void close_gate(void)
{
	atomic_store(&at_gate, 0);
	atomic_store(&jump_ns, 0);
	atomic_store(&open_end_ns, 0);
	atomic_store(&gated, true);
}

// Ends `count` sleeps, each after `lasts_ns`, and returns when the watchdog sleeps again.
static void end_sleeps(int count, int64_t lasts_ns)
{
	EVENTUALLY(atomic_load(&at_gate) > 0);
	for (int i = 0; i < count; i++) {
		const int before = atomic_load(&at_gate);
		atomic_fetch_add(&jump_ns, lasts_ns);
		sem_post(&gate);
		EVENTUALLY(atomic_load(&at_gate) > before);
	}
}

void setUp(void)
{
	atomic_store(&hook_calls, 0);
	atomic_store(&repeated, 0);
	atomic_store(&stalled_beat, 0);
	atomic_store(&at_gate, 0);
	atomic_store(&gated, false);
	sem_init(&gate, 0, 0);
}

void tearDown(void)
{
	atomic_store(&gated, false);
	sem_post(&gate);
	tac_watchdog_destroy(&watchdog);
	tac_loop_destroy(&loop);
	sem_destroy(&gate);
}

// ---- tests ----

// Two stalls, each until the watchdog has noticed it, on the real clock.
static void stall_twice(void *user, tac_tick *tick)
{
	int *stalls = user;
	if (tick->index < 5 || *stalls == 2)
		return;
	EVENTUALLY(atomic_load(&hook_calls) > 0 && atomic_load(&stalled_beat) == tac_loop_beats(loop));
	tac_clock_sleep_until_ns(tac_clock_now_ns() + STALL_PERIODS * MS / SLEEPS); // and a little longer
	if (++*stalls == 2)
		tac_loop_stop(loop);
}

static void the_hook_is_called_once_in_each_stall_and_the_loop_goes_on(void)
{
	make_loop(0);
	watch();
	int stalls = 0;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, stall_twice, &stalls));
	TEST_ASSERT_EQUAL(2, stalls);
	TEST_ASSERT_EQUAL(0, atomic_load(&repeated));
	TEST_ASSERT_EQUAL_UINT64((uint64_t)atomic_load(&hook_calls), tac_watchdog_stalls(watchdog));
	tac_watchdog_destroy(&watchdog);
	TEST_ASSERT_NULL(watchdog);
}

typedef struct pauses {
	int ticks;
	int calls[3]; // of the hook: after a pause, a stall, a long stall
} pauses;

static void pause_then_stall(void *user, tac_tick *tick)
{
	(void)tick;
	pauses *p = user;
	const int64_t sleep_ns = STALL_PERIODS * MS / SLEEPS;
	end_sleeps(1, sleep_ns); // it sees the tick
	end_sleeps(SLEEPS - 1, sleep_ns);
	if (p->ticks++ == 0)
		return;
	p->calls[0] = atomic_load(&hook_calls);
	end_sleeps(1, sleep_ns);
	p->calls[1] = atomic_load(&hook_calls);
	end_sleeps(3 * SLEEPS, sleep_ns);
	p->calls[2] = atomic_load(&hook_calls);
	tac_loop_stop(loop);
}

static void a_pause_shorter_than_the_limit_is_no_stall(void)
{
	close_gate();
	make_loop(0); // the first pause does not count towards the second
	watch();
	pauses p = {.calls = {-1, -1, -1}};
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, pause_then_stall, &p));
	TEST_ASSERT_EQUAL_INT64(STALL_PERIODS * MS / SLEEPS, atomic_load(&asked_ns));
	TEST_ASSERT_EQUAL(0, p.calls[0]);
	TEST_ASSERT_EQUAL(1, p.calls[1]);
	TEST_ASSERT_EQUAL(1, p.calls[2]);
	TEST_ASSERT_EQUAL_UINT64(1, tac_watchdog_stalls(watchdog));
}

static void do_nothing(void *user, tac_tick *tick)
{
	(void)user;
	(void)tick;
}

static void note_planned(void *user, tac_tick *tick)
{
	*(int64_t *)user = tick->planned_ns;
}

static void a_loop_that_has_not_begun_or_has_ended_is_no_stall(void)
{
	close_gate();
	make_loop(20);
	watch();
	end_sleeps(3 * SLEEPS, MS);
	TEST_ASSERT_EQUAL(0, atomic_load(&hook_calls));
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, do_nothing, NULL));
	end_sleeps(3 * SLEEPS, MS);
	TEST_ASSERT_EQUAL(0, atomic_load(&hook_calls));
}

// The watchdog must have slept often enough before the first tick; a machine that does not let it gets more
// time.
static void waiting_for_a_distant_first_tick_is_no_stall(void)
{
	for (int64_t delay_ns = 100 * MS; atomic_load(&at_gate) < 3 * SLEEPS; delay_ns *= 2) {
		TEST_ASSERT_TRUE_MESSAGE(delay_ns < EVENTUALLY_S * TAC_NS_PER_S, "the watchdog does not run");
		tac_watchdog_destroy(&watchdog);
		tac_loop_destroy(&loop);
		tac_loop_def def = tac_loop_def_default();
		def.first_ns = tac_clock_now_ns() + delay_ns;
		def.periods = 1;
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
		close_gate();
		atomic_store(&open_end_ns, def.first_ns - delay_ns / 2);
		watch();
		int64_t begun_ns = 0;
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, note_planned, &begun_ns));
		TEST_ASSERT_EQUAL_INT64(def.first_ns, begun_ns);
		TEST_ASSERT_EQUAL(0, atomic_load(&hook_calls));
		atomic_store(&gated, false);
		sem_post(&gate);
	}
}

static void hold_up_the_watchdog(void *user, tac_tick *tick)
{
	(void)tick;
	int *calls = user;
	end_sleeps(1, TAC_NS_PER_S); // it sees the tick
	end_sleeps(SLEEPS - 1, TAC_NS_PER_S);
	calls[0] = atomic_load(&hook_calls);
	end_sleeps(1, TAC_NS_PER_S);
	calls[1] = atomic_load(&hook_calls);
}

// Each sleep lasts a second instead of 25 ms.
static void a_watchdog_that_was_held_up_with_the_loop_waits_for_its_next_tick(void)
{
	int calls[2] = {-1, -1};
	close_gate();
	make_loop(1);
	watch();
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, hold_up_the_watchdog, calls));
	TEST_ASSERT_EQUAL(0, calls[0]);
	TEST_ASSERT_EQUAL(1, calls[1]);
}

static void a_refusal_is_logged_with_its_item(void)
{
	make_loop(1);
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
}

// Runs in a child, because dropped privileges do not come back. Returns 0 or the number of the failed check.
static int unprivileged_child(void)
{
	drop_privileges();
	make_loop(0);
	tac_watchdog_def def = tac_watchdog_def_default(loop);
	def.periods = STALL_PERIODS;
	def.on_stall = on_stall;
	def.user = loop;
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
	if (tac_watchdog_create(&def, &watchdog) != TAC_PARTIAL || !watchdog)
		return 1;
	if (!strstr(logged, "watchdog: SCHED_FIFO 90: refused (EPERM)"))
		return 2;
	int stalls = 0;
	if (tac_loop_run(loop, stall_twice, &stalls) != TAC_OK || stalls != 2 || atomic_load(&repeated) != 0)
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
	make_loop(1);
	tac_watchdog_def def = tac_watchdog_def_default(loop);
	def.periods = 1;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_watchdog_create(&def, &watchdog));
	TEST_ASSERT_NULL(watchdog);
	def.periods = 2;
	def.thread.priority = 1000;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_watchdog_create(&def, &watchdog));
	TEST_ASSERT_NULL(watchdog);
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
