// Every way in which a signal or an assertion ends a process: the device's forces are switched off first, and
// the exit status is that of the signal. Each case runs in a child that records its device in shared memory.
#include "rt/release.h"

#include "base/assert.h"
#include "rt/clock.h"
#include "rt/loop.h"
#include "rt/thread.h"
#include "tests/support/eventually.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "unity.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS TAC_NS_PER_MS

// A device whose I/O thread sends what the loop wrote, or zero while forces are off.
typedef struct fake_device {
	atomic_bool enabled;
	atomic_int written; // by the loop, in newtons
	atomic_int motors;  // as last sent by the I/O thread
	atomic_int releases;
	atomic_int ready;
	atomic_int ended; // the loop
} fake_device;

static fake_device *device;

void setUp(void)
{
	device = mmap(NULL, sizeof *device, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	TEST_ASSERT_NOT_EQUAL(MAP_FAILED, device);
}

void tearDown(void)
{
	munmap(device, sizeof *device);
}

static void release_device(void *user)
{
	fake_device *d = user;
	atomic_store(&d->enabled, false);
	atomic_fetch_add(&d->releases, 1);
}

static void *send_forces(void *user)
{
	(void)user;
	for (;;) {
		atomic_store(&device->motors,
			     atomic_load(&device->enabled) ? atomic_load(&device->written) : 0);
		if (atomic_load(&device->motors) != 0)
			atomic_store(&device->ready, 1);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + 5 * MS);
	}
	return NULL;
}

static void write_force(void *user, tac_tick *tick)
{
	(void)tick;
	atomic_store(&device->written, 5);
	void (*in_tick)(void) = (void (*)(void))(uintptr_t)user;
	if (in_tick && atomic_load(&device->ready))
		in_tick();
}

typedef struct child_def {
	void (*in_tick)(void); // how the loop's thread ends the process; NULL: a signal from outside does
	bool hang;             // the loop does not end when it is stopped
	bool stuck_hook;
} child_def;

static child_def now_running;

static void *run_loop(void *user)
{
	tac_loop *loop;
	const tac_loop_def def = tac_loop_def_default();
	if (tac_loop_create(&def, &loop) == TAC_OK)
		tac_loop_run(loop, write_force, user);
	atomic_store(&device->ended, 1);
	while (now_running.hang)
		pause();
	return NULL;
}

static void never_return(void *user)
{
	(void)user;
	for (;;)
		pause();
}

// Drives the device until the process is ended. Exits with 7 after the ordinary end of the loop.
static void child(child_def def)
{
	const struct rlimit no_core = {0, 0};
	setrlimit(RLIMIT_CORE, &no_core);
	now_running = def;
	tac_loop_stop_on_signals();
	if (tac_release_add(release_device, device) != TAC_OK ||
	    (def.stuck_hook && tac_release_add(never_return, NULL) != TAC_OK))
		_exit(1);
	pthread_t io, loop;
	atomic_store(&device->enabled, true);
	if (tac_thread_start(&io, send_forces, NULL) != TAC_OK ||
	    tac_thread_start(&loop, run_loop, (void *)(uintptr_t)def.in_tick) != TAC_OK)
		_exit(2);
	pthread_join(loop, NULL);
	release_device(device);
	tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_RELEASE_SETTLE_NS);
	_exit(7);
}

static pid_t start_child(child_def def)
{
	memset(device, 0, sizeof *device);
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0)
		child(def);
	return pid;
}

static void wait_until_driving(void)
{
	const int64_t end_ns = tac_clock_now_ns() + 10000 * MS;
	while (!atomic_load(&device->ready) && tac_clock_now_ns() < end_ns)
		tac_clock_sleep_until_ns(tac_clock_now_ns() + MS);
	TEST_ASSERT_EQUAL(1, atomic_load(&device->ready));
}

// Returns the child's wait status after checking that it ended at zero force.
static int end_at_zero(pid_t pid, const char *name)
{
	int status;
	TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
	TEST_ASSERT_EQUAL_MESSAGE(1, atomic_load(&device->ready), name);
	TEST_ASSERT_EQUAL_MESSAGE(1, atomic_load(&device->releases), name);
	TEST_ASSERT_EQUAL_MESSAGE(0, atomic_load(&device->motors), name);
	return status;
}

static void expect_killed_by(int signal, int status, const char *name)
{
	TEST_ASSERT_TRUE_MESSAGE(WIFSIGNALED(status), name);
	TEST_ASSERT_EQUAL_MESSAGE(signal, WTERMSIG(status), name);
}

// ---- signals from outside ----

static void signals_that_ask_for_an_end_take_the_ordinary_way(void)
{
	const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		const pid_t pid = start_child((child_def){0});
		wait_until_driving();
		kill(pid, signals[i]);
		const int status = end_at_zero(pid, strsignal(signals[i]));
		TEST_ASSERT_TRUE(WIFEXITED(status));
		TEST_ASSERT_EQUAL(7, WEXITSTATUS(status));
	}
}

static void a_second_request_ends_a_hung_loop_after_the_release(void)
{
	const int pairs[][2] = {{SIGINT, SIGINT}, {SIGTERM, SIGTERM}, {SIGHUP, SIGTERM}, {SIGINT, SIGQUIT}};
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		const pid_t pid = start_child((child_def){.hang = true});
		wait_until_driving();
		kill(pid, pairs[i][0]);
		EVENTUALLY(atomic_load(&device->ended)); // otherwise two signals may become one
		TEST_ASSERT_EQUAL(0, atomic_load(&device->releases));
		kill(pid, pairs[i][1]);
		const char *name = strsignal(pairs[i][1]);
		expect_killed_by(pairs[i][1], end_at_zero(pid, name), name);
	}
}

static void signals_that_end_the_process_do_so_after_the_release(void)
{
	const int signals[] = {SIGABRT, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,
			       SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGPROF, SIGPWR,  SIGRTMAX};
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		const pid_t pid = start_child((child_def){0});
		wait_until_driving();
		kill(pid, signals[i]);
		const char *name = strsignal(signals[i]);
		const int status = end_at_zero(pid, name);
		// A sanitizer's own handlers of faults run after the release and exit with a report.
		if (!TAC_TEST_SANITIZED)
			expect_killed_by(signals[i], status, name);
	}
}

static void a_lost_output_and_ignored_signals_end_nothing(void)
{
	signal(SIGHUP, SIG_IGN);
	const pid_t pid = start_child((child_def){0});
	signal(SIGHUP, SIG_DFL);
	wait_until_driving();
	const int harmless[] = {SIGPIPE, SIGXFSZ, SIGHUP, SIGCHLD, SIGWINCH};
	for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
		kill(pid, harmless[i]);
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 50 * MS);
	TEST_ASSERT_EQUAL(0, waitpid(pid, NULL, WNOHANG));
	TEST_ASSERT_EQUAL(0, atomic_load(&device->releases));
	kill(pid, SIGTERM);
	TEST_ASSERT_EQUAL(7, WEXITSTATUS(end_at_zero(pid, "SIGTERM")));
}

// ---- crashes of the loop's thread ----

// Not NULL: a sanitizer checks for that and exits without a signal.
static void read_unmapped(void)
{
	volatile int *volatile nowhere = (volatile int *)(uintptr_t)16;
	atomic_store(&device->written, *nowhere);
}

static void call_abort(void)
{
	abort();
}

static void fail_an_assertion(void)
{
	TAC_ASSERT(device == NULL);
}

static void trap(void)
{
	__builtin_trap();
}

static volatile int depth_limit = 1 << 30;

__attribute__((noinline)) static int overflow(int depth)
{
	volatile char frame[4096];
	frame[0] = (char)depth;
	return depth < depth_limit ? overflow(depth + 1) + frame[0] : 0;
}

static void overflow_the_stack(void)
{
	atomic_store(&device->written, overflow(0));
}

static void a_crash_of_the_loop_ends_after_the_release_with_its_signal(void)
{
	const struct {
		const char *name;
		void (*crash)(void);
		int signals[2];
	} crashes[] = {
		{"unmapped address", read_unmapped, {SIGSEGV, SIGSEGV}},
		{"abort", call_abort, {SIGABRT, SIGABRT}},
		{"assertion", fail_an_assertion, {SIGABRT, SIGABRT}},
		{"trap", trap, {SIGILL, SIGTRAP}},
		{"stack overflow", overflow_the_stack, {SIGSEGV, SIGBUS}},
	};
	for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
		const int status =
			end_at_zero(start_child((child_def){.in_tick = crashes[i].crash}), crashes[i].name);
		if (TAC_TEST_SANITIZED)
			continue;
		TEST_ASSERT_TRUE_MESSAGE(WIFSIGNALED(status), crashes[i].name);
		TEST_ASSERT_TRUE_MESSAGE(WTERMSIG(status) == crashes[i].signals[0] ||
						 WTERMSIG(status) == crashes[i].signals[1],
					 crashes[i].name);
	}
}

static void a_hook_that_hangs_delays_the_end_by_a_bounded_time(void)
{
	const pid_t pid = start_child((child_def){.stuck_hook = true});
	wait_until_driving();
	const int64_t begin_ns = tac_clock_now_ns();
	kill(pid, SIGUSR1);
	expect_killed_by(SIGUSR1, end_at_zero(pid, "stuck hook"), "stuck hook");
	const int64_t took_ns = tac_clock_now_ns() - begin_ns;
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(TAC_RELEASE_LIMIT_NS, took_ns);
	TEST_ASSERT_LESS_THAN_INT64(TAC_RELEASE_LIMIT_NS + 2000 * MS, took_ns);
}

// ---- hooks ----

static void a_removed_hook_is_not_called_and_hooks_are_limited(void)
{
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		int added = 0;
		tac_log_set(keep_logged, NULL);
		while (tac_release_add(release_device, device) == TAC_OK)
			added++;
		if (added != TAC_RELEASE_HOOKS || !strstr(logged, "expected at most 8 hooks"))
			_exit(1);
		tac_release_remove(release_device, device);
		tac_release_remove(release_device, NULL); // not registered
		tac_release_now();
		if (atomic_load(&device->releases) != TAC_RELEASE_HOOKS - 1)
			_exit(2);
		const int64_t begin_ns = tac_clock_now_ns();
		tac_release_now(); // returns at once the second time
		_exit(tac_clock_now_ns() - begin_ns < TAC_RELEASE_SETTLE_NS ? 0 : 3);
	}
	int status;
	TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
	TEST_ASSERT_TRUE(WIFEXITED(status));
	TEST_ASSERT_EQUAL_MESSAGE(0, WEXITSTATUS(status), "the number of the check that failed in the child");
}

int main(void)
{
	// A shell starts what it runs in the background with these ignored.
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	UNITY_BEGIN();
	RUN_TEST(signals_that_ask_for_an_end_take_the_ordinary_way);
	RUN_TEST(a_second_request_ends_a_hung_loop_after_the_release);
	RUN_TEST(signals_that_end_the_process_do_so_after_the_release);
	RUN_TEST(a_lost_output_and_ignored_signals_end_nothing);
	RUN_TEST(a_crash_of_the_loop_ends_after_the_release_with_its_signal);
	RUN_TEST(a_hook_that_hangs_delays_the_end_by_a_bounded_time);
	RUN_TEST(a_removed_hook_is_not_called_and_hooks_are_limited);
	return UNITY_END();
}
