// No way of ending or stopping a runtime, its keeper or its guard leaves a force in the motors. A virtual
// Falcon mirrors its motors into a file (tests/support/kept_falcon.h), which this test reads whatever has
// died.
#include "base/log.h"
#include "base/rng.h"
#include "devices/hotplug.h"
#include "devices/keeper/channel.h"
#include "devices/keeper/kept.h"
#include "devices/keeper/messages.h"
#include "rt/clock.h"
#include "tests/support/allocations.h"
#include "tests/support/eventually.h"
#include "tests/support/kept_falcon.h"
#include "tests/support/logged.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
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

#define MS       TAC_NS_PER_MS
#define LIMIT_MS 2000 // for zero force, on a machine under any load
#define FORCE_N  3

static kept_falcon_file *file;
static char file_name[64];

// ---- the process that plays the runtime ----

typedef enum action {
	GO_ON,
	EXIT,
	CALL_ABORT,
	SPOIL_MEMORY, // random bytes over the shared memory
	SPOIL_INDEX,  // the same over its first cache lines only
	SEND_NAN,
	SEND_TOO_LARGE,
	SWITCH_OFF,
	STOP_WRITING,
	CLOSE,
} action;

static void spoil(size_t bytes_max)
{
	char line[PATH_MAX];
	FILE *maps = fopen("/proc/self/maps", "r");
	tac_rng rng = tac_rng_seed((uint64_t)tac_clock_now_ns(), 1);
	while (maps && fgets(line, sizeof line, maps)) {
		unsigned long begin, end;
		if (strstr(line, "memfd:tactus-keeper") && sscanf(line, "%lx-%lx", &begin, &end) == 2) {
			unsigned char *bytes = (unsigned char *)begin; // NOLINT: an address in text
			for (size_t i = 0; i < end - begin && i < bytes_max; i++)
				bytes[i] = (unsigned char)tac_rng_below(&rng, 256);
		}
	}
	if (maps)
		fclose(maps);
}

static void act(action what, tac_device **device, tac_wrench *wrench)
{
	switch (what) {
	case EXIT:
		exit(0);
	case CALL_ABORT:
		abort();
	case SPOIL_MEMORY:
		spoil(SIZE_MAX);
		break;
	case SPOIL_INDEX:
		spoil(256);
		break;
	case SEND_NAN:
		wrench->force_N.y = NAN;
		break;
	case SEND_TOO_LARGE:
		(*device)->info.max_force_N = 1000; // the runtime's own limit has failed
		wrench->force_N.y = 8.1;
		break;
	case SWITCH_OFF:
		tac_device_enable(*device, false);
		break;
	case STOP_WRITING:
		for (;;)
			pause();
	case CLOSE:
		tac_device_destroy(device);
		atomic_store(&file->closed, 1);
		for (;;)
			pause();
	default:
		break;
	}
}

static void silent(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	(void)message;
}

static int play_runtime(void)
{
	const tac_open_def def = {.keeper = TACTUS_VIRTUAL_KEEP};
	const struct rlimit no_core = {0, 0};
	tac_device *device;
	setrlimit(RLIMIT_CORE, &no_core);
	tac_log_set(silent, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (tac_registry_open("falcon", &def, &device) < TAC_OK)
		return 1;
	tac_device_enable(device, true);
	int64_t next_ns = tac_clock_now_ns();
	action last = GO_ON;
	for (;;) {
		const int64_t now_ns = tac_clock_now_ns();
		const action now = (action)atomic_load(&file->action);
		tac_wrench wrench = {.force_N = {0, FORCE_N, 0}};
		tac_device_state state;
		if (now != last || now == SEND_NAN || now == SEND_TOO_LARGE)
			act(now, &device, &wrench);
		last = now;
		if (tac_device_read(device, now_ns, &state) == TAC_DEVICE_LOST)
			atomic_store(&file->lost, 1);
		device->write(device, now_ns, &wrench); // unchecked, as by a runtime that has gone wrong
		next_ns += MS;
		tac_clock_sleep_until_ns(next_ns);
	}
}

// ---- the test's side ----

static pid_t runtime;
static tac_rng rng;

void setUp(void)
{
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	if (runtime > 0)
		kill(runtime, SIGKILL);
	runtime = 0;
	tac_log_set(NULL, NULL);
}

static void open_file(void)
{
	snprintf(file_name, sizeof file_name, "/tmp/tactus-keeper-XXXXXX");
	const int fd = mkstemp(file_name);
	TEST_ASSERT_TRUE(fd >= 0 && ftruncate(fd, sizeof *file) == 0);
	file = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TEST_ASSERT_TRUE(file != MAP_FAILED);
	close(fd);
	setenv(KEPT_FALCON_VARIABLE, file_name, 1);
}

static void start_runtime(void)
{
	char name[] = "test_keeper", role[] = "runtime";
	char *const arguments[] = {name, role, file_name, NULL};
	memset(file, 0, sizeof *file);
	TEST_ASSERT_EQUAL_INT(0, posix_spawn(&runtime, "/proc/self/exe", NULL, NULL, arguments, environ));
}

static void sleep_ms(uint32_t ms)
{
	tac_clock_sleep_until_ns(tac_clock_now_ns() + ms * MS);
}

// Whether a process exists. Those that have ended are collected, also the children of a dead runtime.
static bool exists(pid_t pid)
{
	while (waitpid(-1, NULL, WNOHANG) > 0) {
	}
	return pid > 0 && kill(pid, 0) == 0;
}

static bool motors_are_zero(void)
{
	return atomic_load(&file->motors) == 0;
}

// A driver that misses reports on a busy machine commands zero for a tick or two: that is no end.
static bool motors_stay_at_zero(void)
{
	return motors_are_zero() && tac_clock_now_ns() - atomic_load(&file->zero_ns) > 30 * MS;
}

#define WITHIN_LIMIT(condition, name)                                                                        \
	do {                                                                                                 \
		const int64_t limit_ns = tac_clock_now_ns() + LIMIT_MS * MS;                                 \
		while (!(condition) && tac_clock_now_ns() < limit_ns)                                        \
			sleep_ms(1);                                                                         \
		TEST_ASSERT_TRUE_MESSAGE(condition, name);                                                   \
	} while (0)

// A way to end: an action of the runtime, or a signal to each process, in the order of the fields.
typedef struct way {
	const char *name;
	action action;
	int runtime_first, guard, keeper, runtime_last;
	bool must_lose; // the runtime, which lives on, must find the device lost
} way;

static const way ways[] = {
	{.name = "SIGHUP", .runtime_first = SIGHUP},
	{.name = "SIGINT", .runtime_first = SIGINT},
	{.name = "SIGQUIT", .runtime_first = SIGQUIT},
	{.name = "SIGILL", .runtime_first = SIGILL},
	{.name = "SIGABRT", .runtime_first = SIGABRT},
	{.name = "SIGBUS", .runtime_first = SIGBUS},
	{.name = "SIGFPE", .runtime_first = SIGFPE},
	{.name = "SIGKILL, as out of memory", .runtime_first = SIGKILL},
	{.name = "SIGSEGV", .runtime_first = SIGSEGV},
	{.name = "SIGPIPE", .runtime_first = SIGPIPE},
	{.name = "SIGALRM", .runtime_first = SIGALRM},
	{.name = "SIGTERM", .runtime_first = SIGTERM},
	{.name = "SIGUSR1", .runtime_first = SIGUSR1},
	{.name = "SIGSTOP", .runtime_first = SIGSTOP},
	{.name = "exit", .action = EXIT},
	{.name = "abort", .action = CALL_ABORT},
	{.name = "closed", .action = CLOSE},
	{.name = "switched off", .action = SWITCH_OFF},
	{.name = "no orders", .action = STOP_WRITING},
	{.name = "garbage over the shared memory", .action = SPOIL_MEMORY, .must_lose = true},
	{.name = "garbage over the index", .action = SPOIL_INDEX, .must_lose = true},
	{.name = "NaN", .action = SEND_NAN},
	{.name = "too large", .action = SEND_TOO_LARGE},
	{.name = "keeper killed", .keeper = SIGKILL, .must_lose = true},
	{.name = "keeper crashed", .keeper = SIGSEGV, .must_lose = true},
	{.name = "keeper stopped", .keeper = SIGSTOP, .must_lose = true},
	{.name = "guard killed", .guard = SIGKILL, .must_lose = true},
	{.name = "guard and keeper killed", .guard = SIGKILL, .keeper = SIGKILL, .must_lose = true},
	{.name = "runtime and keeper killed", .runtime_first = SIGKILL, .keeper = SIGKILL},
	{.name = "keeper and runtime killed", .keeper = SIGKILL, .runtime_last = SIGKILL},
	{.name = "runtime and guard killed", .runtime_first = SIGKILL, .guard = SIGKILL},
	{.name = "runtime stopped, keeper killed", .runtime_first = SIGSTOP, .keeper = SIGKILL},
};

#define WAYS       (int)(sizeof ways / sizeof *ways)
#define ROUNDS_MAX 64

static void signal_if(pid_t pid, int signal_number)
{
	if (signal_number)
		kill(pid, signal_number);
}

// Returns the time until the motors were at zero, ns.
static int64_t end_one_way(const way *w)
{
	start_runtime();
	// A machine under load may take long to start three programs and to home the device.
	EVENTUALLY(!motors_are_zero());
	sleep_ms(tac_rng_below(&rng, 30));
	const pid_t guard = atomic_load(&file->guard), keeper = atomic_load(&file->keeper);
	TEST_ASSERT_TRUE(exists(guard) && exists(keeper));
	const int64_t begin_ns = tac_clock_now_ns();
	atomic_store(&file->action, w->action);
	signal_if(runtime, w->runtime_first);
	signal_if(guard, w->guard);
	signal_if(keeper, w->keeper);
	if (w->runtime_last)
		sleep_ms(tac_rng_below(&rng, 3));
	signal_if(runtime, w->runtime_last);
	const int64_t end_ns = begin_ns + LIMIT_MS * MS;
	while (!motors_stay_at_zero() && tac_clock_now_ns() < end_ns)
		sleep_ms(1);
	if (!motors_stay_at_zero()) {
		char text[160];
		snprintf(text, sizeof text, "%s: motors %llx, %llu commands; runtime %s, guard %s, keeper %s",
			 w->name, (unsigned long long)atomic_load(&file->motors),
			 (unsigned long long)atomic_load(&file->commands), exists(runtime) ? "runs" : "ended",
			 exists(guard) ? "runs" : "ended", exists(keeper) ? "runs" : "ended");
		TEST_FAIL_MESSAGE(text);
	}
	const int64_t zero_ns = atomic_load(&file->zero_ns);
	if (w->must_lose)
		WITHIN_LIMIT(atomic_load(&file->lost), w->name);
	if (w->action == CLOSE)
		WITHIN_LIMIT(atomic_load(&file->closed), w->name);
	kill(runtime, SIGKILL);
	EVENTUALLY(!exists(runtime) && !exists(guard) && !exists(keeper)); // nothing is left behind
	runtime = 0;
	TEST_ASSERT_TRUE_MESSAGE(motors_are_zero(), w->name);
	return zero_ns > begin_ns ? zero_ns - begin_ns : 0;
}

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void no_way_of_ending_leaves_a_force_in_the_motors(void)
{
	static int64_t delays_ns[WAYS][ROUNDS_MAX];
	const bool longer = getenv("TACTUS_TEST_LONG") != NULL;
	const int rounds = longer ? 1 + 1000 / WAYS : 1;
	rng = tac_rng_seed(longer ? (uint64_t)tac_clock_now_ns() : 16, 3);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < WAYS; i++)
			delays_ns[i][round] = end_one_way(&ways[i]);
	}
	for (int i = 0; longer && i < WAYS; i++) {
		qsort(delays_ns[i], (size_t)rounds, sizeof **delays_ns, compare);
		printf("%-32s zero after %6.1f ms (median of %d), %6.1f ms at most\n", ways[i].name,
		       (double)delays_ns[i][rounds / 2] / 1e6, rounds,
		       (double)delays_ns[i][rounds - 1] / 1e6);
	}
}

static void runtime_that_dies_while_the_device_is_opened_leaves_nothing_behind(void)
{
	const int rounds = getenv("TACTUS_TEST_LONG") ? 100 : 5;
	rng = tac_rng_seed(17, 3);
	for (int i = 0; i < rounds; i++) {
		start_runtime();
		sleep_ms(tac_rng_below(&rng, 300));
		kill(runtime, SIGKILL);
		EVENTUALLY(!exists(runtime) && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
		TEST_ASSERT_TRUE(motors_are_zero());
	}
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
	memset(file, 0, sizeof *file);
	atomic_store(&file->never_homed, 1);
	const tac_open_def def = {.keeper = TACTUS_VIRTUAL_KEEP, .cancelled = cancel, .user = &calls};
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open("falcon", &def, &device));
	TEST_ASSERT_TRUE(calls > 2);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "cancelled"), logged); // the driver's line
	TEST_ASSERT_NULL(device);
	EVENTUALLY(!exists(atomic_load(&file->guard)) && !exists(atomic_load(&file->keeper)));
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

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "runtime") == 0) {
		const int fd = open(argv[2], O_RDWR | O_CLOEXEC);
		file = fd < 0 ? MAP_FAILED
			      : mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		return file == MAP_FAILED ? 1 : play_runtime();
	}
	UNITY_BEGIN();
	prctl(PR_SET_CHILD_SUBREAPER, 1); // orphans become children of this process
	open_file();
	RUN_TEST(channel_delivers_the_newest_value_once);
	RUN_TEST(channel_refuses_an_order_with_any_bit_flipped);
	RUN_TEST(channel_survives_any_garbage);
	RUN_TEST(missing_program_gets_one_log_line);
	RUN_TEST(program_that_is_no_keeper_gets_one_log_line);
	RUN_TEST(refusal_of_the_driver_is_passed_on);
	RUN_TEST(opening_can_be_cancelled);
	RUN_TEST(kept_device_reads_and_writes_without_allocation);
	RUN_TEST(runtime_that_dies_while_the_device_is_opened_leaves_nothing_behind);
	RUN_TEST(no_way_of_ending_leaves_a_force_in_the_motors);
	unlink(file_name);
	return UNITY_END();
}
