#include "rt/thread.h"

#include "rt/loop.h"
#include "tests/limits.h"
#include "tests/logged.h"
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

// Unity's assertions belong to the main thread: elsewhere a failed check ends the body with its line.
#define CHECK(condition)                                                                                     \
	if (!(condition))                                                                                    \
	return (void *)(intptr_t)__LINE__

// Runs `body` on a thread of its own, so that what it asks of the kernel ends with it.
static void on_a_thread(void *(*body)(void *))
{
	pthread_t thread;
	void *failed_line;
	TEST_ASSERT_EQUAL(TAC_OK, tac_thread_start(&thread, body, NULL));
	TEST_ASSERT_EQUAL(0, pthread_join(thread, &failed_line));
	TEST_ASSERT_EQUAL_MESSAGE(0, (intptr_t)failed_line,
				  "the line of the check that failed on the thread");
}

static void *ask_for_fifo(void *user)
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

static void the_report_agrees_with_what_the_kernel_says_of_priority_and_affinity(void)
{
	on_a_thread(ask_for_fifo);
}

static void *ask_for_deadline(void *user)
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

static void the_report_agrees_with_what_the_kernel_says_of_deadline_scheduling(void)
{
	on_a_thread(ask_for_deadline);
}

// A denormal is the smallest normal number halved; flushed, it is zero.
static bool denormals_are_flushed(void)
{
	volatile float smallest = FLT_MIN, half = 0.5f;
	return smallest * half == 0.0f;
}

static void *ask_for_flushed_denormals(void *user)
{
	(void)user;
	CHECK(!denormals_are_flushed());
	tac_thread_def def = {.policy = TAC_POLICY_OTHER, .cpu = -1, .flush_denormals = true};
	tac_thread_report report;
	CHECK(tac_thread_enter(&def, &report) == TAC_OK);
	CHECK(denormals_are_flushed());
	return NULL;
}

static void denormals_are_flushed_on_the_thread_that_asked_and_no_other(void)
{
	on_a_thread(ask_for_flushed_denormals);
	TEST_ASSERT_FALSE(denormals_are_flushed());
}

static void *check_signal_mask(void *user)
{
	(void)user;
	sigset_t mask;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	CHECK(sigismember(&mask, SIGINT) == 1);
	CHECK(sigismember(&mask, SIGPIPE) == 1);
	return NULL;
}

static void a_started_thread_has_its_signals_blocked_and_its_starter_has_not(void)
{
	on_a_thread(check_signal_mask);
	sigset_t mask;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	TEST_ASSERT_EQUAL(0, sigismember(&mask, SIGINT));
}

static void *ask_for_a_name_and_a_waking_cpu(void *user)
{
	(void)user;
	const tac_thread_def def = {
		.name = "a-name-cut-at-15", .policy = TAC_POLICY_OTHER, .cpu = -1, .hold_cpu_awake = true};
	tac_thread_report report;
	tac_result result = tac_thread_enter(&def, &report);
	char name[16];
	CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "a-name-cut-at-1") == 0);
	CHECK(prctl(PR_GET_TIMERSLACK) == 1);
	if (result == TAC_OK) { // the kernel tells the limit in force to who holds the file
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

static void the_name_the_timer_slack_and_the_waking_cpu_are_as_asked(void)
{
	on_a_thread(ask_for_a_name_and_a_waking_cpu);
}

// ---- without privileges ----

static void count_tick(void *user, tac_tick *tick)
{
	(void)tick;
	++*(int *)user;
}

// What an unprivileged user gets: refusals that say so, with a remedy, and a loop that works all the same.
// Runs in a child, because privileges do not come back. Returns 0 or the number of the failed check.
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

static void an_unprivileged_user_is_told_each_refusal_and_gets_a_working_loop(void)
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

// ---- the caller's mistakes ----

static void expect_refused(tac_thread_def def, const char *says)
{
	tac_thread_report report;
	tac_log_set(keep_logged, NULL);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_thread_enter(&def, &report));
	tac_log_set(NULL, NULL);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, says), logged);
	TEST_ASSERT_EQUAL(TAC_GRANT_NOT_ASKED, report.grants[TAC_GRANT_POLICY].state);
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

static void a_cpu_that_is_not_there_is_refused_with_a_remedy(void)
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
	RUN_TEST(the_report_agrees_with_what_the_kernel_says_of_priority_and_affinity);
	RUN_TEST(the_report_agrees_with_what_the_kernel_says_of_deadline_scheduling);
	RUN_TEST(the_name_the_timer_slack_and_the_waking_cpu_are_as_asked);
	RUN_TEST(denormals_are_flushed_on_the_thread_that_asked_and_no_other);
	RUN_TEST(a_started_thread_has_its_signals_blocked_and_its_starter_has_not);
	RUN_TEST(an_unprivileged_user_is_told_each_refusal_and_gets_a_working_loop);
	RUN_TEST(values_out_of_range_are_refused_before_anything_is_done);
	RUN_TEST(a_cpu_that_is_not_there_is_refused_with_a_remedy);
	RUN_TEST(locked_memory_shows_in_the_status_of_the_process);
	return UNITY_END();
}
