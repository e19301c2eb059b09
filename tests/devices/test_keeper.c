// No way of ending or stopping a runtime, its keeper or its guard leaves a force in the motors. A virtual
// Falcon mirrors its motors into a file (tests/support/kept_falcon.c), which this test reads whatever has
// died.
#include "base/log.h"
#include "base/rng.h"
#include "devices/hotplug.h"
#include "devices/keeper/channel.h"
#include "devices/keeper/kept.h"
#include "devices/keeper/messages.h"
#include "rt/clock.h"
#include "tests/support/allocations.h"
#include "tests/support/ends.h"
#include "tests/support/eventually.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define MS TAC_NS_PER_MS

static end_bench bench = {.selection = "falcon", .keeper = TACTUS_VIRTUAL_KEEP};
static end_processes running;
static const char *only; // the ways whose name contains this

void setUp(void)
{
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	if (running.runtime > 0)
		kill(running.runtime, SIGKILL);
	running.runtime = 0;
	tac_log_set(NULL, NULL);
}

static bool exists(pid_t pid)
{
	while (waitpid(-1, NULL, WNOHANG) > 0) {
	}
	return pid > 0 && kill(pid, 0) == 0;
}

// ---- ends ----

static void require(const char *wrong, const char *what)
{
	char text[320];
	snprintf(text, sizeof text, "%s: %s", what, wrong ? wrong : "");
	TEST_ASSERT_NULL_MESSAGE(wrong, text);
}

#define ROUNDS 20

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

// The time until zero in each round of one way.
static void print_times(const char *name, int64_t *delays_ns, int rounds)
{
	qsort(delays_ns, (size_t)rounds, sizeof *delays_ns, compare);
	if (delays_ns[0] < 0)
		printf("%-32s not permitted here\n", name);
	else
		printf("%-32s zero after %6.1f ms (median of %d), %6.1f ms at most\n", name,
		       (double)delays_ns[rounds / 2] / 1e6, rounds, (double)delays_ns[rounds - 1] / 1e6);
}

static int rounds_of(const end_way *way)
{
	if (only)
		return strstr(way->name, only) ? ROUNDS : 0;
	return test_long() ? ROUNDS : !way->rarely;
}

static void no_way_of_ending_leaves_a_force_in_the_motors(void)
{
	tac_rng rng = tac_rng_seed(test_long() ? (uint64_t)tac_clock_now_ns() : 16, 3);
	for (const end_way *way = end_ways; way->name; way++) {
		int64_t delays_ns[ROUNDS];
		const int rounds = rounds_of(way);
		for (int round = 0; round < rounds; round++)
			require(end_one_way(&bench, way, &rng, &delays_ns[round]), way->name);
		if (rounds > 1)
			print_times(way->name, delays_ns, rounds);
	}
}

static void runtime_that_dies_while_the_device_is_opened_leaves_nothing_behind(void)
{
	const int rounds = test_long() ? 100 : 5;
	tac_rng rng = tac_rng_seed(17, 3);
	for (int i = 0; i < rounds; i++) {
		end_spawn_runtime(&bench, &running);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + tac_rng_below(&rng, 300) * MS);
		require(end_finish(&bench, &running), "killed while opening");
	}
}

// Of all processes of a device, `pkill -9 tactus` must end the runtime alone.
static void names_of_guard_and_keeper_do_not_contain_that_of_the_project(void)
{
	require(end_start(&bench, &running), "start");
	const pid_t both[] = {running.guard, running.keeper};
	const char *const files[] = {"comm", "cmdline"};
	for (int i = 0; i < 4; i++) {
		char path[64], text[256];
		snprintf(path, sizeof path, "/proc/%d/%s", (int)both[i / 2], files[i % 2]);
		FILE *file = fopen(path, "re");
		const size_t length = file ? fread(text, 1, sizeof text, file) : 0;
		if (file)
			fclose(file);
		TEST_ASSERT_TRUE(length > 0);
		TEST_ASSERT_NULL_MESSAGE(memmem(text, length, "tactus", 6), text);
	}
	require(end_finish(&bench, &running), "end");
}

static bool is_fatal_to_all(int signal_number)
{
	static const int fatal[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE,
				    SIGILL,  SIGABRT, SIGTRAP, SIGSYS};
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
		if (signal_number == fatal[i])
			return true;
	}
	return signal_number > 31 && signal_number < SIGRTMIN; // of the C library
}

// A busy machine may lose the device by itself, if the keeper is not permitted its priority. So these are
// repeated; what they look for would lose it every time.
#define TRIES 3

static bool is_lost(void)
{
	return atomic_load(&bench.file->lost) != 0;
}

static bool goes_on_after_every_signal(void)
{
	require(end_start(&bench, &running), "start");
	for (int s = 1; s <= SIGRTMAX; s++) {
		if (is_fatal_to_all(s))
			continue;
		kill(running.guard, s);
		kill(running.keeper, s);
	}
	const uint64_t forced = atomic_load(&bench.file->forced);
	EVENTUALLY(atomic_load(&bench.file->forced) > forced + 100 || is_lost()); // the force is still there
	const bool goes_on = exists(running.guard) && exists(running.keeper) && !is_lost();
	require(end_finish(&bench, &running), "end");
	return goes_on;
}

static void guard_and_keeper_ignore_every_signal_that_can_be_ignored(void)
{
	int tries = 1;
	while (!goes_on_after_every_signal())
		TEST_ASSERT_LESS_THAN_INT(TRIES, tries++);
}

static bool gets_its_force_back(void)
{
	require(end_start(&bench, &running), "start");
	kill(running.runtime, SIGSTOP);
	EVENTUALLY(atomic_load(&bench.file->motors) == 0);
	kill(running.runtime, SIGCONT);
	EVENTUALLY(atomic_load(&bench.file->motors) != 0 || is_lost());
	const bool has_force = !is_lost();
	require(end_finish(&bench, &running), "end");
	return has_force;
}

static void runtime_that_goes_on_gets_its_force_back(void)
{
	int tries = 1;
	while (!gets_its_force_back())
		TEST_ASSERT_LESS_THAN_INT(TRIES, tries++);
}

// ---- opening ----

static tac_device *device;

static void missing_program_gets_one_log_line(void)
{
	const tac_open_def def = {.keeper = "/no/such/program"};
	TEST_ASSERT_EQUAL(TAC_ERROR_UNSUPPORTED, tac_registry_open("falcon", &def, &device));
	TEST_ASSERT_NULL(device);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, "tactus-keep"));
}

static void program_that_is_no_keeper_gets_one_log_line(void)
{
	const tac_open_def def = {.keeper = "/bin/true"};
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open("falcon", &def, &device));
	TEST_ASSERT_NULL(device);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
}

static char first_line[256];

static void keep_first_line(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	if (!first_line[0])
		snprintf(first_line, sizeof first_line, "%s", message);
}

// Returns 0, or the number of what went wrong; 77: this system does not permit it.
static int open_as_first_process(void)
{
	const tac_open_def def = {.keeper = "/bin/true"};
	if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
		return 77;
	const pid_t first = fork();
	if (first == 0) {
		tac_log_set(keep_first_line, NULL);
		tac_registry_open("falcon", &def, &device);
		_exit(getpid() != 1 ? 1 : !strstr(first_line, "first of its container") ? 2 : 0);
	}
	int status = 0;
	return waitpid(first, &status, 0) == first && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static void first_process_of_a_container_is_warned(void)
{
	int status = 0;
	const pid_t child = fork();
	if (child == 0)
		_exit(open_as_first_process());
	TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
	if (WEXITSTATUS(status) == 77)
		TEST_IGNORE_MESSAGE("needs a PID namespace");
	TEST_ASSERT_EQUAL_INT(0, status);
}

static void refusal_of_the_driver_is_passed_on(void)
{
	const tac_open_def def = {.keeper = TACTUS_KEEP};
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_kept_open("sim:nosuch", &def, &device));
	TEST_ASSERT_NULL(device);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "nosuch"), logged);
}

static bool cancel(void *user)
{
	return ++*(int *)user > 2;
}

static void opening_can_be_cancelled(void)
{
	int calls = 0;
	memset(bench.file, 0, sizeof *bench.file);
	atomic_store(&bench.file->never_homed, 1);
	const tac_open_def def = {.keeper = TACTUS_VIRTUAL_KEEP, .cancelled = cancel, .user = &calls};
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open("falcon", &def, &device));
	TEST_ASSERT_TRUE(calls > 2);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "cancelled"), logged); // the driver's line
	TEST_ASSERT_NULL(device);
	EVENTUALLY(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); // nothing is left behind
}

// A vendor's library may hang while it moves the device. Nobody waits for it for ever, and zero is sent.
static void keeper_that_hangs_while_it_opens_the_device_is_ended(void)
{
	memset(bench.file, 0, sizeof *bench.file);
	atomic_store(&bench.file->hangs, MOTORS_FIRST);
	int calls = 0;
	const tac_open_def def = {.keeper = TACTUS_VIRTUAL_KEEP, .cancelled = cancel, .user = &calls};
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open("falcon", &def, &device));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "did not answer after it was cancelled"), logged);
	TEST_ASSERT_TRUE(atomic_load(&bench.file->commands) > 0); // by tactus-keep --let-go
	EVENTUALLY(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

// Two devices of a kind: "falcon" means the first, but the guard must reach the one that the keeper held.
static void device_is_reached_again_by_its_serial_number(void)
{
	const tac_open_def def = {.keeper = TACTUS_VIRTUAL_KEEP};
	memset(bench.file, 0, sizeof *bench.file);
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_registry_open("falcon", &def, &device), logged);
	const pid_t guard = end_child_of(getpid(), TAC_GUARD_NAME);
	kill(end_child_of(guard, TAC_KEEPER_NAME), SIGKILL);
	EVENTUALLY(tac_device_read(device, 0, &(tac_device_state){0}) == TAC_DEVICE_LOST);
	tac_device_destroy(&device);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "falcon:VF000001"), logged);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "set to zero"), logged);
}

// Runs tactus-keep --let-go as a person does. Returns its exit status; its message is in `logged`.
static int let_go_by_hand(const char *selection)
{
	int ends[2], status = 0;
	pid_t child;
	char name[] = "tactus-keep", role[] = TAC_KEEPER_ROLE_LET_GO, which[32];
	char *const arguments[] = {name, role, which, NULL};
	posix_spawn_file_actions_t files;
	snprintf(which, sizeof which, "%s", selection);
	TEST_ASSERT_EQUAL(0, pipe2(ends, O_CLOEXEC));
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
	TEST_ASSERT_EQUAL(0, posix_spawn(&child, TACTUS_VIRTUAL_KEEP, &files, NULL, arguments, environ));
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	const ssize_t got = read(ends[0], logged, sizeof logged - 1);
	logged[got > 0 ? got : 0] = '\0';
	close(ends[0]);
	TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void letting_go_by_hand_succeeds_with_exit_status_0_and_fails_with_1(void)
{
	memset(bench.file, 0, sizeof *bench.file);
	atomic_store(&bench.file->motors, 1); // left behind by a dead keeper
	TEST_ASSERT_EQUAL_INT(EXIT_SUCCESS, let_go_by_hand("falcon"));
	TEST_ASSERT_EQUAL_STRING("", logged);
	TEST_ASSERT_EQUAL_UINT64(0, atomic_load(&bench.file->motors));
	TEST_ASSERT_EQUAL_INT(EXIT_FAILURE, let_go_by_hand("nothing"));
	TEST_ASSERT_EQUAL_STRING("tactus-keep: expected to reach nothing, found no such device that answers; "
				 "switch it off\n",
				 logged);
}

static void kept_device_reads_and_writes_without_allocation(void)
{
	const tac_open_def def = {.keeper = TACTUS_KEEP};
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_kept_open("sim:omega3", &def, &device), logged);
	TEST_ASSERT_EQUAL_STRING("sim:omega3", device->info.name);
	tac_device_enable(device, true);
	const tac_wrench push = {.force_N = {0, 1, 0}};
	tac_device_state state;
	EVENTUALLY((tac_device_write(device, tac_clock_now_ns(), &push),
		    tac_device_read(device, tac_clock_now_ns(), &state) == TAC_DEVICE_OK));
	const int before = allocations;
	int ok = 0;
	double y = 0;
	for (int k = 0; k < 300; k++) {
		const int64_t now_ns = tac_clock_now_ns();
		ok += tac_device_read(device, now_ns, &state) == TAC_DEVICE_OK;
		y = state.T_base_tool.position.y;
		TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_write(device, now_ns, &push));
		tac_clock_sleep_until_ns(now_ns + MS);
	}
	TEST_ASSERT_EQUAL_INT_MESSAGE(before, allocations, "the real-time thread allocates");
	TEST_ASSERT_GREATER_THAN_INT(10, ok); // even on a busy machine
	TEST_ASSERT_TRUE(y > 1e-4);           // the force has arrived
	tac_device_enable(device, false);
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, tac_device_write(device, 0, &push));
	tac_device_destroy(&device);
}

// ---- the channel ----

static tac_channel ours, theirs;
static uint64_t *words; // of the shared memory
static size_t word_count;

static void open_channel(void)
{
	const int fd = tac_channel_create();
	TEST_ASSERT_TRUE(fd >= 0);
	TEST_ASSERT_TRUE(tac_channel_map(&ours, fd, TAC_CHANNEL_RUNTIME));
	TEST_ASSERT_TRUE(tac_channel_map(&theirs, fd, TAC_CHANNEL_KEEPER));
	const off_t size = lseek(fd, 0, SEEK_END);
	TEST_ASSERT_EQUAL_INT(-1, ftruncate(fd, 0)); // sealed
	TEST_ASSERT_EQUAL_INT(-1, ftruncate(fd, size + 1));
	words = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TEST_ASSERT_TRUE(words != MAP_FAILED);
	word_count = (size_t)size / 8;
	close(fd);
}

static void close_channel(void)
{
	tac_channel_unmap(&ours);
	tac_channel_unmap(&theirs);
	munmap(words, word_count * 8);
}

static void channel_delivers_the_newest_value_once(void)
{
	open_channel();
	tac_order order = {0}, taken = {0};
	tac_sample sample = {0}, seen = {0};
	TEST_ASSERT_EQUAL(TAC_CHANNEL_NOTHING, tac_channel_take_order(&theirs, &taken));
	TEST_ASSERT_FALSE(tac_channel_enabled(&theirs));
	for (int i = 1; i <= 100; i++) {
		order.time_ns = i;
		order.wrench.force_N.x = 0.5 * i;
		tac_channel_send_order(&ours, &order);
		sample.state.buttons = (uint32_t)i;
		tac_channel_send_sample(&theirs, &sample);
		if (i % 3 != 0)
			continue;
		TEST_ASSERT_EQUAL(TAC_CHANNEL_NEW, tac_channel_take_order(&theirs, &taken));
		TEST_ASSERT_EQUAL_MEMORY(&order, &taken, sizeof order);
		TEST_ASSERT_EQUAL(TAC_CHANNEL_NOTHING, tac_channel_take_order(&theirs, &taken));
		TEST_ASSERT_EQUAL(TAC_CHANNEL_NEW, tac_channel_take_sample(&ours, &seen));
		TEST_ASSERT_EQUAL_UINT(i, seen.state.buttons);
	}
	tac_channel_enable(&ours, true);
	TEST_ASSERT_TRUE(tac_channel_enabled(&theirs));
	tac_channel_enable(&ours, false);
	TEST_ASSERT_FALSE(tac_channel_enabled(&theirs));
	close_channel();
}

// Every bit of the memory, flipped between sending and taking: the order is the one that was sent, or it is
// refused.
static void channel_refuses_an_order_with_any_bit_flipped(void)
{
	open_channel();
	int refused = 0;
	const size_t bits = word_count * 64;
	for (size_t bit = 0; bit < bits; bit++) {
		close_channel();
		open_channel();
		tac_order order = {.time_ns = 5, .wrench = {.force_N = {1, 2, 3}}}, taken = {0};
		tac_channel_send_order(&ours, &order);
		words[bit / 64] ^= UINT64_C(1) << (bit % 64);
		const tac_channel_news news = tac_channel_take_order(&theirs, &taken);
		refused += news == TAC_CHANNEL_DAMAGED;
		if (news == TAC_CHANNEL_NEW)
			TEST_ASSERT_EQUAL_MEMORY(&order, &taken, sizeof order);
	}
	// The check, the sequence number and seven words of an order, and the index.
	TEST_ASSERT_TRUE(refused >= 9 * 64 + 31);
	close_channel();
}

static void channel_survives_any_garbage(void)
{
	open_channel();
	tac_rng random = tac_rng_seed(4, 4);
	for (int i = 0; i < 20000; i++) {
		tac_order order = {.time_ns = i}, taken = {.time_ns = -1};
		tac_sample sample = {0};
		for (int k = 0; k < 20; k++) {
			const uint64_t high = tac_rng_below(&random, UINT32_MAX);
			words[tac_rng_below(&random, (uint32_t)word_count)] =
				high << 32 | tac_rng_below(&random, k % 2 ? 8 : UINT32_MAX);
		}
		tac_channel_send_order(&ours, &order);
		tac_channel_send_sample(&theirs, &sample);
		if (tac_channel_take_order(&theirs, &taken) == TAC_CHANNEL_NEW)
			TEST_ASSERT_TRUE(taken.time_ns >= 0 && taken.time_ns <= i);
		tac_channel_take_sample(&ours, &sample);
	}
	close_channel();
}

// Last: of all starts above, hardly one may have lost the device before there was a force.
#define FAILED_STARTS_MAX 0.01

static void device_is_hardly_ever_lost_before_there_is_a_force(void)
{
	char text[64];
	snprintf(text, sizeof text, "%d of %d starts failed", bench.failed_starts,
		 bench.starts + bench.failed_starts);
	TEST_ASSERT_TRUE_MESSAGE(bench.failed_starts <= 1 + FAILED_STARTS_MAX * bench.starts, text);
}

int main(int argc, char **argv)
{
	if (end_is_runtime(argc, argv))
		return end_play_runtime(argv);
	UNITY_BEGIN();
	if (!end_bench_open(&bench, END_MEMORY_FOLDER))
		return EXIT_FAILURE;
	only = argc > 1 ? argv[1] : NULL;
	if (!only) {
		RUN_TEST(channel_delivers_the_newest_value_once);
		RUN_TEST(channel_refuses_an_order_with_any_bit_flipped);
		RUN_TEST(channel_survives_any_garbage);
		RUN_TEST(missing_program_gets_one_log_line);
		RUN_TEST(program_that_is_no_keeper_gets_one_log_line);
		RUN_TEST(first_process_of_a_container_is_warned);
		RUN_TEST(refusal_of_the_driver_is_passed_on);
		RUN_TEST(opening_can_be_cancelled);
		if (test_long()) // it takes 2 s
			RUN_TEST(keeper_that_hangs_while_it_opens_the_device_is_ended);
		RUN_TEST(device_is_reached_again_by_its_serial_number);
		RUN_TEST(letting_go_by_hand_succeeds_with_exit_status_0_and_fails_with_1);
		RUN_TEST(kept_device_reads_and_writes_without_allocation);
		RUN_TEST(names_of_guard_and_keeper_do_not_contain_that_of_the_project);
		RUN_TEST(guard_and_keeper_ignore_every_signal_that_can_be_ignored);
		RUN_TEST(runtime_that_goes_on_gets_its_force_back);
		RUN_TEST(runtime_that_dies_while_the_device_is_opened_leaves_nothing_behind);
	}
	RUN_TEST(no_way_of_ending_leaves_a_force_in_the_motors);
	RUN_TEST(device_is_hardly_ever_lost_before_there_is_a_force);
	end_bench_close(&bench);
	return UNITY_END();
}
