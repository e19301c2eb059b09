#include "rt/thread.h"

#include "rt/loop.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "unity.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void setUp(void)
{
}

void tearDown(void)
{
}

// Unity's assertions work on the main thread only: elsewhere a failed check ends the body with its line.
#define CHECK(condition)                                                                                     \
	if (!(condition))                                                                                    \
	return (void *)(intptr_t)__LINE__

// Runs `body` on a new thread, so that its requests to the kernel end with it.
static void on_a_thread(void *(*body)(void *))
{
	pthread_t thread;
	void *failed_line;
	TEST_ASSERT_EQUAL(TAC_OK, tac_thread_start(&thread, body, NULL));
	TEST_ASSERT_EQUAL(0, pthread_join(thread, &failed_line));
	TEST_ASSERT_EQUAL_MESSAGE(0, (intptr_t)failed_line,
				  "the line of the check that failed on the thread");
}

static void *request_fifo(void *user)
{
	(void)user;
	tac_thread_def def = {.policy = TAC_POLICY_FIFO, .priority = 7, .cpu = 0};
	tac_thread_report report;
	tac_result result = tac_thread_enter(&def, &report);
	bool granted = sched_getscheduler(0) == SCHED_FIFO;
	CHECK(report.grants[TAC_GRANT_POLICY].state == (granted ? TAC_GRANT_GRANTED : TAC_GRANT_REFUSED));
	CHECK(result == (granted ? TAC_OK : TAC_PARTIAL));
	if (granted) {
		struct sched_param param;
		sched_getparam(0, &param);
		CHECK(param.sched_priority == 7);
	}
	cpu_set_t set;
	sched_getaffinity(0, sizeof set, &set);
	CHECK(CPU_COUNT(&set) == 1);
	CHECK(CPU_ISSET(0, &set));
	CHECK(report.grants[TAC_GRANT_CPU].state == TAC_GRANT_GRANTED);
	CHECK(report.grants[TAC_GRANT_MEMORY].state == TAC_GRANT_NOT_ASKED);
	CHECK(report.grants[TAC_GRANT_CPU_AWAKE].state == TAC_GRANT_NOT_ASKED);
	CHECK(report.grants[TAC_GRANT_DENORMALS].state == TAC_GRANT_NOT_ASKED);
	return NULL;
}

static void the_report_agrees_with_the_kernel_on_priority_and_affinity(void)
{
	on_a_thread(request_fifo);
}

static void *request_deadline(void *user)
{
	(void)user;
	tac_thread_def def = {
		.policy = TAC_POLICY_DEADLINE, .period_ns = 10000000, .runtime_ns = 100000, .cpu = -1};
	tac_thread_report report;
	tac_result result = tac_thread_enter(&def, &report);
	bool granted = sched_getscheduler(0) == 6; // SCHED_DEADLINE
	CHECK(result == (granted ? TAC_OK : TAC_PARTIAL));
	CHECK(report.grants[TAC_GRANT_POLICY].state == (granted ? TAC_GRANT_GRANTED : TAC_GRANT_REFUSED));
	return NULL;
}

static void the_report_agrees_with_the_kernel_on_deadline_scheduling(void)
{
	on_a_thread(request_deadline);
}

// A denormal is the smallest normal number halved; flushed, it is zero.
static bool denormals_are_flushed(void)
{
	volatile float smallest = FLT_MIN, half = 0.5f;
	return smallest * half == 0.0f;
}

static void *request_flushed_denormals(void *user)
{
	(void)user;
	CHECK(!denormals_are_flushed());
	tac_thread_def def = {.policy = TAC_POLICY_OTHER, .cpu = -1, .flush_denormals = true};
	tac_thread_report report;
	CHECK(tac_thread_enter(&def, &report) == TAC_OK);
	CHECK(denormals_are_flushed());
	return NULL;
}

static void denormals_are_flushed_on_the_requesting_thread_only(void)
{
	on_a_thread(request_flushed_denormals);
	TEST_ASSERT_FALSE(denormals_are_flushed());
}

static void *check_signal_mask(void *user)
{
	(void)user;
	sigset_t mask;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	CHECK(sigismember(&mask, SIGINT) == 1);
	CHECK(sigismember(&mask, SIGPIPE) == 1);
	// The kernel ends a process without its handler if a fault is blocked.
	CHECK(sigismember(&mask, SIGSEGV) == 0 && sigismember(&mask, SIGBUS) == 0);
	CHECK(sigismember(&mask, SIGFPE) == 0 && sigismember(&mask, SIGILL) == 0);
	stack_t handlers;
	CHECK(sigaltstack(NULL, &handlers) == 0 && !(handlers.ss_flags & SS_DISABLE));
	return NULL;
}

static void a_started_thread_has_its_signals_blocked_and_its_parent_does_not(void)
{
	on_a_thread(check_signal_mask);
	sigset_t mask;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	TEST_ASSERT_EQUAL(0, sigismember(&mask, SIGINT));
}

static void *request_a_name_and_an_awake_cpu(void *user)
{
	(void)user;
	const tac_thread_def def = {
		.name = "a-name-cut-at-15", .policy = TAC_POLICY_OTHER, .cpu = -1, .hold_cpu_awake = true};
	tac_thread_report report;
	tac_result result = tac_thread_enter(&def, &report);
	char name[16];
	CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "a-name-cut-at-1") == 0);
	CHECK(prctl(PR_GET_TIMERSLACK) == 1);
	if (result == TAC_OK) { // reading the file returns the limit in force
		const int fd = report.cpu_awake_fd;
		int32_t latency_us = -1;
		CHECK(pread(fd, &latency_us, sizeof latency_us, 0) == sizeof latency_us && latency_us == 0);
		tac_thread_leave(&report);
		CHECK(report.cpu_awake_fd == -1 && fcntl(fd, F_GETFD) < 0);
	} else {
		CHECK(report.grants[TAC_GRANT_CPU_AWAKE].state == TAC_GRANT_REFUSED);
		CHECK(report.cpu_awake_fd == -1);
	}
	return NULL;
}

static void the_name_the_timer_slack_and_the_awake_cpu_are_as_requested(void)
{
	on_a_thread(request_a_name_and_an_awake_cpu);
}

// ---- without privileges ----

static void count_tick(void *user, tac_tick *tick)
{
	(void)tick;
	++*(int *)user;
}

// An unprivileged user gets refusals with a remedy, and a loop that works. Runs in a child, because dropped
// privileges do not come back. Returns 0 or the number of the failed check.
static int unprivileged_child(void)
{
	drop_privileges();
	tac_thread_def def = tac_thread_def_default();
	tac_thread_report report;
	if (tac_thread_enter(&def, &report) != TAC_PARTIAL)
		return 1;
	if (report.grants[TAC_GRANT_POLICY].state != TAC_GRANT_REFUSED ||
	    report.grants[TAC_GRANT_POLICY].error != EPERM || sched_getscheduler(0) != SCHED_OTHER)
		return 2;
	if (TAC_TEST_CAN_LOCK_MEMORY && report.grants[TAC_GRANT_MEMORY].state != TAC_GRANT_REFUSED)
		return 3;
	if (report.grants[TAC_GRANT_CPU_AWAKE].state != TAC_GRANT_REFUSED)
		return 4;
	if (report.grants[TAC_GRANT_DENORMALS].state != TAC_GRANT_GRANTED)
		return 5;

	char line[320];
	tac_thread_report_line(&report, TAC_GRANT_POLICY, line, sizeof line);
	if (!strstr(line, "SCHED_FIFO 80: refused (EPERM)") || !strstr(line, "limits.conf") ||
	    !strstr(line, "setcap"))
		return 6;
	tac_thread_report_line(&report, TAC_GRANT_MEMORY, line, sizeof line);
	if (TAC_TEST_CAN_LOCK_MEMORY && (!strstr(line, "refused") || !strstr(line, "memlock")))
		return 7;
	tac_thread_report_line(&report, TAC_GRANT_CPU_AWAKE, line, sizeof line);
	if (!strstr(line, "refused"))
		return 8;

	tac_loop_def loop_def = tac_loop_def_default();
	loop_def.periods = 50;
	tac_loop *loop;
	int ticks = 0;
	if (tac_loop_create(&loop_def, &loop) != TAC_OK || tac_loop_run(loop, count_tick, &ticks) != TAC_OK)
		return 9;
	tac_loop_destroy(&loop);
	return ticks > 0 ? 0 : 10;
}

static void an_unprivileged_user_gets_each_refusal_reported_and_a_working_loop(void)
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

static void *lock_and_measure(void *user)
{
	(void)user;
	tac_thread_def def = {.policy = TAC_POLICY_OTHER, .cpu = -1, .lock_memory = true};
	tac_thread_report report;
	tac_result result = tac_thread_enter(&def, &report);
	long locked_kB = 0;
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof line, status))
		sscanf(line, "VmLck: %ld", &locked_kB);
	if (status)
		fclose(status);
	CHECK((locked_kB > 0) == (result == TAC_OK));
	return NULL;
}

static void locked_memory_shows_in_the_status_of_the_process(void)
{
	if (!TAC_TEST_CAN_LOCK_MEMORY)
		TEST_IGNORE_MESSAGE("a sanitizer makes mlockall do nothing");
	on_a_thread(lock_and_measure);
}

// ---- small stacks ----

static void *lock_on_a_small_stack(void *user)
{
	tac_thread_def def = {.policy = TAC_POLICY_OTHER, .cpu = -1, .lock_memory = true};
	tac_thread_report *report = user;
	CHECK(tac_thread_enter(&def, report) == TAC_PARTIAL);
	return NULL;
}

static void a_stack_that_is_too_small_is_reported_and_not_overrun(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	void *failed_line;
	tac_thread_report report;
	pthread_attr_init(&attr);
	TEST_ASSERT_EQUAL(0, pthread_attr_setstacksize(&attr, TAC_THREAD_STACK_BYTES));
	TEST_ASSERT_EQUAL(0, pthread_create(&thread, &attr, lock_on_a_small_stack, &report));
	pthread_attr_destroy(&attr);
	TEST_ASSERT_EQUAL(0, pthread_join(thread, &failed_line));
	TEST_ASSERT_EQUAL(0, (intptr_t)failed_line);
	char line[320];
	tac_thread_report_line(&report, TAC_GRANT_MEMORY, line, sizeof line);
	if (report.grants[TAC_GRANT_MEMORY].error == EOVERFLOW) // otherwise the memory was not locked at all
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "smaller than 256 KiB: raise 'ulimit -s'"), line);
}

static void *measure_stack(void *user)
{
	(void)user;
	pthread_attr_t attr;
	size_t bytes = 0;
	CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
	CHECK(pthread_attr_getstacksize(&attr, &bytes) == 0);
	pthread_attr_destroy(&attr);
	CHECK(bytes + 65536 > TAC_THREAD_STACK_MIN_BYTES); // less the guard
	return TAC_TEST_CAN_LOCK_MEMORY ? lock_and_measure(NULL) : NULL;
}

// A small RLIMIT_STACK makes the default of new threads small.
static void a_started_thread_has_enough_stack_under_a_small_default(void)
{
	pthread_attr_t before, small;
	TEST_ASSERT_EQUAL(0, pthread_getattr_default_np(&before));
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, (size_t)128 * 1024);
	TEST_ASSERT_EQUAL(0, pthread_setattr_default_np(&small));
	on_a_thread(measure_stack);
	TEST_ASSERT_EQUAL(0, pthread_setattr_default_np(&before));
	pthread_attr_destroy(&before);
	pthread_attr_destroy(&small);
}

// ---- the caller's mistakes ----

static void expect_refused(tac_thread_def def, const char *message)
{
	tac_thread_report report;
	tac_log_set(keep_logged, NULL);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_thread_enter(&def, &report));
	tac_log_set(NULL, NULL);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, message), logged);
	TEST_ASSERT_EQUAL(TAC_GRANT_NOT_ASKED, report.grants[TAC_GRANT_POLICY].state);
}

// The limit that tac_thread_priority_permitted sees: only root could raise the real one. -1: the real one.
static int faked_limit = -1;

int __real_getrlimit(__rlimit_resource_t resource, struct rlimit *out_limit);
int __wrap_getrlimit(__rlimit_resource_t resource, struct rlimit *out_limit);
int __wrap_getrlimit(__rlimit_resource_t resource, struct rlimit *out_limit)
{
	if (resource != RLIMIT_RTPRIO || faked_limit < 0)
		return __real_getrlimit(resource, out_limit);
	*out_limit = (struct rlimit){(rlim_t)faked_limit, (rlim_t)faked_limit};
	return 0;
}

static void an_unprivileged_process_asks_for_no_more_than_its_limit(void)
{
	const pid_t child = fork();
	if (child == 0) {
		faked_limit = 5;
		drop_capabilities();
		const bool cut =
			tac_thread_priority_permitted(98) == 5 && tac_thread_priority_permitted(3) == 3;
		faked_limit = 0;
		_exit(!cut || tac_thread_priority_permitted(98) != 98);
	}
	int status = -1;
	TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
	TEST_ASSERT_EQUAL(0, status);
}

static void values_out_of_range_are_refused_before_anything_is_done(void)
{
	expect_refused((tac_thread_def){.policy = TAC_POLICY_FIFO, .priority = 0, .cpu = -1}, "found 0");
	expect_refused((tac_thread_def){.policy = TAC_POLICY_FIFO, .priority = 100, .cpu = -1}, "found 100");
	expect_refused((tac_thread_def){.policy = TAC_POLICY_OTHER, .cpu = -2}, "found -2");
	expect_refused((tac_thread_def){.policy = TAC_POLICY_OTHER, .cpu = CPU_SETSIZE}, "1024");
	expect_refused(
		(tac_thread_def){.policy = TAC_POLICY_DEADLINE, .runtime_ns = 2, .period_ns = 1, .cpu = -1},
		"2 ns in 1 ns");
}

static void a_missing_cpu_is_refused_with_a_remedy(void)
{
	tac_thread_def def = {.policy = TAC_POLICY_OTHER, .cpu = CPU_SETSIZE - 1};
	tac_thread_report report;
	TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_thread_enter(&def, &report));
	char line[320];
	tac_thread_report_line(&report, TAC_GRANT_CPU, line, sizeof line);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "CPU 1023 alone: refused (EINVAL): "), line);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "/sys/devices/system/cpu/online"), line);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_report_agrees_with_the_kernel_on_priority_and_affinity);
	RUN_TEST(the_report_agrees_with_the_kernel_on_deadline_scheduling);
	RUN_TEST(the_name_the_timer_slack_and_the_awake_cpu_are_as_requested);
	RUN_TEST(denormals_are_flushed_on_the_requesting_thread_only);
	RUN_TEST(a_started_thread_has_its_signals_blocked_and_its_parent_does_not);
	RUN_TEST(an_unprivileged_user_gets_each_refusal_reported_and_a_working_loop);
	RUN_TEST(an_unprivileged_process_asks_for_no_more_than_its_limit);
	RUN_TEST(values_out_of_range_are_refused_before_anything_is_done);
	RUN_TEST(a_missing_cpu_is_refused_with_a_remedy);
	RUN_TEST(locked_memory_shows_in_the_status_of_the_process);
	RUN_TEST(a_stack_that_is_too_small_is_reported_and_not_overrun);
	RUN_TEST(a_started_thread_has_enough_stack_under_a_small_default);
	return UNITY_END();
}
