// The seam between a run and its bridge, with a bridge that is honest, dead, killed or hostile. The run's
// mapping lies between inaccessible pages, so that an access out of bounds ends the test.
#include "share/seam.h"
#include "share/station.h"

#include "base/rng.h"
#include "tests/support/allocations.h"
#include "tests/support/eventually.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unity.h>

#include <linux/seccomp.h>

static tac_seam *run, *bridge;
static tac_seam_info info;
static tac_snapshot snapshot;
static const tac_wrench none;

#define GUARD ((size_t)1 << 32) // bytes on either side of a mapping

void *__real_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);

// Places shared mappings between inaccessible pages. These stay when the mapping is removed.
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (fd < 0 || !(flags & MAP_SHARED))
		return __real_mmap(address, bytes, protection, flags, fd, offset);
	char *room = __real_mmap(NULL, bytes + 2 * GUARD, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return MAP_FAILED;
	return __real_mmap(room + GUARD, bytes, protection, flags | MAP_FIXED, fd, offset);
}

static void create(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_seam_create(&info, &run));
}

static void attach(void)
{
	tac_seam_destroy(&bridge);
	TEST_ASSERT_EQUAL(TAC_OK, tac_seam_attach(tac_seam_fd(run), &bridge));
}

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	info = (tac_seam_info){.run = 7, .period_ns = 1000000, .tool_count = 1};
	strcpy(info.scene, "sphere");
	snapshot = (tac_snapshot){.T_world_sco = tac_dpose_identity()};
}

void tearDown(void)
{
	tac_seam_destroy(&bridge);
	tac_seam_destroy(&run);
	tac_log_set(NULL, NULL);
}

static bool push(int64_t tick)
{
	snapshot.tick = tick;
	snapshot.sent.force_N.x = (double)tick;
	return tac_seam_push_tick(run, &snapshot, &none);
}

// ---- honest bridges ----

static void a_bridge_reads_what_the_run_wrote_and_the_run_what_the_bridge_ordered(void)
{
	create();
	attach();
	TEST_ASSERT_EQUAL_STRING("sphere", tac_seam_read_info(bridge)->scene);
	TEST_ASSERT_EQUAL_UINT64(7, tac_seam_read_info(bridge)->run);
	tac_seam_tick tick;
	TEST_ASSERT_FALSE(tac_seam_pop_tick(bridge, &tick));
	TEST_ASSERT_TRUE(push(41));
	TEST_ASSERT_TRUE(tac_seam_pop_tick(bridge, &tick));
	TEST_ASSERT_EQUAL_INT64(41, tick.tick);
	TEST_ASSERT_EQUAL_DOUBLE(41, tick.sent.force_N.x);
	TEST_ASSERT_EQUAL_UINT64(0, tick.number);
	static tac_seam_figures told = {.tool = 1, .count = 2, .passed = 1}, heard;
	strcpy(told.list[1].name, "largest force");
	told.list[1].value = 3.5;
	TEST_ASSERT_FALSE(tac_seam_pop_figures(bridge, &heard));
	TEST_ASSERT_TRUE(tac_seam_push_figures(run, &told));
	TEST_ASSERT_TRUE(tac_seam_pop_figures(bridge, &heard));
	TEST_ASSERT_EQUAL_MEMORY(&told, &heard, sizeof told);
	const tac_seam_order order = {.time_ns = 5, .tool = 1, .wrench.torque_Nm = {1, 2, 3}};
	TEST_ASSERT_TRUE(tac_seam_push_order(bridge, &order));
	tac_seam_order taken;
	TEST_ASSERT_TRUE(tac_seam_take_order(run, &taken));
	TEST_ASSERT_EQUAL_MEMORY(&order, &taken, sizeof order);
	TEST_ASSERT_FALSE(tac_seam_take_order(run, &taken));
}

static void orders_that_are_not_finite_or_name_no_tool_are_dropped(void)
{
	create();
	attach();
	const tac_seam_order bad[] = {{.tool = -1},
				      {.tool = TAC_SCENE_TOOLS},
				      {.wrench.force_N = {0, (double)NAN, 0}},
				      {.wrench.torque_Nm = {(double)INFINITY, 0, 0}}};
	tac_seam_order taken = {.tool = 99};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		TEST_ASSERT_TRUE(tac_seam_push_order(bridge, &bad[i]));
		TEST_ASSERT_FALSE(tac_seam_take_order(run, &taken));
	}
	TEST_ASSERT_EQUAL_INT64(99, taken.tool);
	TEST_ASSERT_TRUE(tac_seam_push_order(bridge, &(tac_seam_order){.tool = 0}));
	TEST_ASSERT_TRUE(tac_seam_take_order(run, &taken));
}

static void figures_that_are_out_of_range_are_dropped_and_texts_end(void)
{
	create();
	attach();
	static tac_seam_figures told, heard;
	const int32_t bad[][2] = {{-1, 0}, {TAC_SCENE_TOOLS, 0}, {0, -1}, {0, TAC_TASK_ROWS + 1}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		told.tool = bad[i][0];
		told.count = bad[i][1];
		TEST_ASSERT_TRUE(tac_seam_push_figures(run, &told));
		TEST_ASSERT_FALSE(tac_seam_pop_figures(bridge, &heard));
	}
	memset(&told, 'x', sizeof told);
	told.tool = 0;
	told.count = TAC_TASK_ROWS;
	for (int i = 0; i < TAC_SEAM_FIGURES; i++)
		TEST_ASSERT_TRUE(tac_seam_push_figures(run, &told));
	TEST_ASSERT_FALSE(tac_seam_push_figures(run, &told)); // full: dropped
	TEST_ASSERT_TRUE(tac_seam_pop_figures(bridge, &heard));
	TEST_ASSERT_EQUAL_INT(TAC_SEAM_NAME - 1, (int)strlen(heard.list[TAC_TASK_ROWS - 1].name));
	TEST_ASSERT_EQUAL_INT(TAC_SEAM_UNIT - 1, (int)strlen(heard.list[TAC_TASK_ROWS - 1].unit));
}

static void without_a_bridge_the_ring_fills_and_every_refusal_is_counted(void)
{
	create();
	const int all = TAC_SEAM_TICKS + 1000;
	for (int i = 0; i < all; i++)
		TEST_ASSERT_EQUAL(i < TAC_SEAM_TICKS, push(i));
	TEST_ASSERT_EQUAL_UINT64(TAC_SEAM_TICKS, tac_seam_pushed(run));
	TEST_ASSERT_EQUAL_UINT64(1000, tac_seam_refused(run));
	// A bridge that comes now gets what was kept, then what follows; the numbers tell how many are
	// missing.
	attach();
	tac_seam_tick tick;
	for (int i = 0; i < TAC_SEAM_TICKS; i++) {
		TEST_ASSERT_TRUE(tac_seam_pop_tick(bridge, &tick));
		TEST_ASSERT_EQUAL_INT64(i, tick.tick);
	}
	TEST_ASSERT_FALSE(tac_seam_pop_tick(bridge, &tick));
	TEST_ASSERT_TRUE(push(all));
	TEST_ASSERT_TRUE(tac_seam_pop_tick(bridge, &tick));
	TEST_ASSERT_EQUAL_UINT64(1000, tick.refused);
	TEST_ASSERT_EQUAL_UINT64((uint64_t)all, tick.number);
}

static void a_bridge_that_comes_back_goes_on_where_the_last_one_stopped(void)
{
	create();
	tac_rng rng = tac_rng_seed(1, 0);
	int64_t in = 0, out = 0;
	for (int round = 0; round < 200; round++) {
		attach();
		for (uint32_t i = tac_rng_u32(&rng) % 3000; i > 0; i--)
			in += push(in);
		tac_seam_tick tick;
		for (uint32_t i = tac_rng_u32(&rng) % 3000; i > 0 && tac_seam_pop_tick(bridge, &tick); i--)
			TEST_ASSERT_EQUAL_INT64(out++, tick.tick);
	}
	TEST_ASSERT_TRUE(out > 10000);
}

static void memory_that_is_no_seam_is_refused(void)
{
	const int fd = memfd_create("other", MFD_CLOEXEC);
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_seam_attach(fd, &bridge));
	TEST_ASSERT_NULL(bridge);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	close(fd);
	create();
	size_t bytes;
	memset(tac_seam_memory(run, &bytes), 0x5a, 8);
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_seam_attach(tac_seam_fd(run), &bridge));
	TEST_ASSERT_NULL(bridge);
}

static void the_memory_cannot_be_shrunk_under_the_run(void)
{
	create();
	TEST_ASSERT_EQUAL_INT(-1, ftruncate(tac_seam_fd(run), 4096));
	TEST_ASSERT_TRUE(push(0));
}

// ---- killed bridges ----

// Pops ticks for ever and writes their numbers to the pipe.
static void be_a_bridge(int to)
{
	tac_seam *seam;
	if (tac_seam_attach(tac_seam_fd(run), &seam) < TAC_OK)
		_exit(1);
	for (tac_seam_tick tick;;) {
		if (tac_seam_pop_tick(seam, &tick) && write(to, &tick.number, sizeof tick.number) < 0)
			_exit(1);
	}
}

// Whatever the moment of its death, a bridge loses at most the record that it had in its hands.
static void a_killed_bridge_loses_at_most_one_record(void)
{
	create();
	uint64_t expected = 0, missing = 0, got = 0;
	int kills = 0;
	for (; kills < test_rounds(100); kills++) {
		int ends[2];
		TEST_ASSERT_EQUAL_INT(0, pipe(ends));
		const pid_t child = fork();
		if (child == 0)
			be_a_bridge(ends[1]);
		close(ends[1]);
		uint64_t number;
		for (int i = 0; i < 500 + 37 * kills % 400; i++)
			push(i);
		for (int i = 0; i < 200 + 53 * kills % 200; i++) {
			TEST_ASSERT_EQUAL_INT(sizeof number, read(ends[0], &number, sizeof number));
			TEST_ASSERT_TRUE(number >= expected);
			missing += number - expected;
			expected = number + 1;
			got++;
		}
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		while (read(ends[0], &number, sizeof number) == sizeof number) {
			TEST_ASSERT_TRUE(number >= expected);
			missing += number - expected;
			expected = number + 1;
			got++;
		}
		close(ends[0]);
	}
	TEST_ASSERT_TRUE(missing <= (uint64_t)kills + tac_seam_refused(run));
	TEST_ASSERT_EQUAL_UINT64(expected, got + missing);
}

// ---- hostile bridges ----

// Overwrites a random place: mostly where counters and sizes lie, with values that are near valid ones.
static void write_anywhere(tac_rng *rng, unsigned char *memory, size_t bytes, size_t head)
{
	const uint32_t how = tac_rng_u32(rng);
	size_t at = tac_rng_u32(rng) % bytes;
	if (how % 4 == 0) // the head of a ring: within the first 256 bytes of it
		at = head + tac_rng_u32(rng) % 256;
	uint32_t value = tac_rng_u32(rng);
	if (how % 3 == 0)
		value %= 2 * TAC_SEAM_TICKS;
	if (how % 7 == 0)
		value = UINT32_MAX - value % 8;
	const size_t size = at + 4 <= bytes ? 4 : bytes - at;
	memcpy(memory + at, &value, size);
}

// Where a ring begins: found from its elements, not from the layout in the code.
static size_t find_bytes(const unsigned char *memory, size_t bytes, const void *what, size_t size)
{
	const unsigned char *at = memmem(memory, bytes, what, size);
	TEST_ASSERT_NOT_NULL(at);
	return (size_t)(at - memory);
}

static void random_bytes_in_the_memory_never_move_an_access_out_of_bounds(void)
{
	create();
	attach();
	size_t bytes;
	unsigned char *memory = tac_seam_memory(bridge, &bytes);
	const double mark = 6.02214076e23;
	snapshot.passivity_J = mark;
	push(0);
	const size_t ticks = find_bytes(memory, bytes, &mark, sizeof mark) / 64 * 64 - 512;
	tac_seam_push_order(bridge, &(tac_seam_order){.time_ns = INT64_C(0x1122334455667788)});
	const int64_t stamp = INT64_C(0x1122334455667788);
	const size_t orders = find_bytes(memory, bytes, &stamp, sizeof stamp) - 256;
	tac_rng rng = tac_rng_seed(23, 0);
	uint64_t calls = 1;
	tac_seam_order order;
	const int writes = test_rounds(10000000);
	for (int i = 0; i < writes; i++) {
		write_anywhere(&rng, memory, bytes, i % 2 ? ticks : orders);
		if (i % 8)
			continue;
		push(i);
		calls++;
		for (int k = 0; k < 8 && tac_seam_take_order(run, &order); k++) {
			TEST_ASSERT_TRUE(order.tool >= 0 && order.tool < TAC_SCENE_TOOLS);
			TEST_ASSERT_TRUE(isfinite(order.wrench.force_N.x + order.wrench.torque_Nm.z));
		}
		// The run's own account is not in that memory.
		TEST_ASSERT_EQUAL_UINT64(calls, tac_seam_pushed(run) + tac_seam_refused(run));
	}
	TEST_ASSERT_TRUE(tac_seam_pushed(run) > 1 && tac_seam_refused(run) > 0);
}

static void after_an_attack_ticks_and_orders_pass_again(void)
{
	create();
	tac_rng rng = tac_rng_seed(24, 0);
	size_t bytes;
	attach();
	unsigned char *memory = tac_seam_memory(bridge, &bytes);
	for (int round = 0; round < 200; round++) {
		for (size_t at = 4096; at + 4 <= bytes; at += 4) {
			if (tac_rng_u32(&rng) % 64 == 0 || round % 16 == 0) {
				const uint32_t value = tac_rng_u32(&rng);
				memcpy(memory + at, &value, 4);
			}
			if (round % 16) // all of it takes long
				at += 4 * (tac_rng_u32(&rng) % 64);
		}
		for (int i = 0; i < 4; i++) { // both sides heal what is theirs
			tac_seam_tick tick;
			tac_seam_order order;
			push(i);
			while (tac_seam_pop_tick(bridge, &tick))
				;
			tac_seam_push_order(bridge, &(tac_seam_order){.time_ns = 3});
			for (int k = 0; k < 2 * TAC_SEAM_ORDERS; k++)
				tac_seam_take_order(run, &order);
		}
		tac_seam_tick tick = {0};
		TEST_ASSERT_TRUE(push(1000 + round));
		TEST_ASSERT_TRUE(tac_seam_pop_tick(bridge, &tick));
		TEST_ASSERT_EQUAL_INT64(1000 + round, tick.tick);
		tac_seam_order order = {0};
		TEST_ASSERT_TRUE(tac_seam_push_order(bridge, &(tac_seam_order){.time_ns = 77 + round}));
		TEST_ASSERT_TRUE(tac_seam_take_order(run, &order));
		TEST_ASSERT_EQUAL_INT64(77 + round, order.time_ns);
	}
}

// ---- the run notices nothing ----

// In this mode the kernel kills a process for every system call but read, write and exit.
static void the_run_makes_no_system_call_and_causes_no_page_fault(void)
{
#if TAC_TEST_SANITIZED
	TEST_IGNORE_MESSAGE("a sanitizer makes system calls of its own");
#endif
	create();
	const pid_t reader = fork();
	if (reader == 0) {
		const int null = memfd_create("numbers", 0);
		be_a_bridge(null);
	}
	const pid_t child = fork();
	if (child == 0) {
		tac_seam_order order;
		struct rusage before, after;
		for (int i = 0; i < TAC_SEAM_TICKS; i++) // the child's own page tables
			push(i);
		tac_seam_take_order(run, &order);
		// As the loop does. Without it the kernel may take a page away, which is not the run's doing.
		const bool locked = mlockall(MCL_CURRENT) == 0;
		getrusage(RUSAGE_THREAD, &before);
		for (int i = 0; i < 100000; i++) {
			push(i);
			tac_seam_take_order(run, &order);
		}
		getrusage(RUSAGE_THREAD, &after);
		const bool faults =
			locked && after.ru_minflt + after.ru_majflt != before.ru_minflt + before.ru_majflt;
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		for (int i = 0; i < 100000; i++) {
			push(i);
			tac_seam_take_order(run, &order);
		}
		syscall(SYS_exit, faults);
	}
	int status;
	TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	TEST_ASSERT_TRUE_MESSAGE(WIFEXITED(status), "it made a system call");
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, WEXITSTATUS(status), "it caused a page fault");
}

static void the_run_allocates_nothing(void)
{
	create();
	attach();
	tac_seam_order order;
	const int before = allocations;
	for (int i = 0; i < 2 * TAC_SEAM_TICKS; i++) {
		push(i);
		tac_seam_take_order(run, &order);
	}
	TEST_ASSERT_EQUAL_INT(before, allocations);
}

// ---- station ----

static tac_station_command commands[16];
static _Atomic int command_count;

static bool obey(void *user, const tac_station_command *command)
{
	(void)user;
	commands[command_count] = *command;
	command_count++;
	return command->kind != TAC_STATION_END;
}

static tac_station_answer ask(int fd, tac_station_command command)
{
	tac_station_answer answer = {.done = -1};
	TEST_ASSERT_EQUAL_INT(sizeof command, send(fd, &command, sizeof command, MSG_NOSIGNAL));
	TEST_ASSERT_EQUAL_INT(sizeof answer, recv(fd, &answer, sizeof answer, 0));
	return answer;
}

static void a_station_hands_its_memory_over_and_obeys_valid_commands(void)
{
	create();
	push(5);
	char name[TAC_STATION_NAME];
	snprintf(name, sizeof name, "seam-%d", (int)getpid());
	TEST_ASSERT_EQUAL_INT(-1, tac_station_connect(name, &bridge));
	tac_station *station;
	TEST_ASSERT_EQUAL(TAC_OK, tac_station_create(name, run, obey, NULL, &station));
	tac_station *second;
	TEST_ASSERT_EQUAL(TAC_ERROR_SYSTEM, tac_station_create(name, run, obey, NULL, &second));
	TEST_ASSERT_NOT_NULL(strstr(logged, "another run on this machine has that name"));
	command_count = 0;
	for (uint32_t round = 1; round <= 3; round++) { // each bridge in its turn
		const int fd = tac_station_connect(name, &bridge);
		TEST_ASSERT_TRUE(fd >= 0);
		TEST_ASSERT_EQUAL_UINT32(round, tac_station_bridges(station));
		TEST_ASSERT_EQUAL_STRING("sphere", tac_seam_read_info(bridge)->scene);
		tac_station_answer answer =
			ask(fd, (tac_station_command){.kind = TAC_STATION_GAIN, .number = 8, .value = 0.5});
		TEST_ASSERT_TRUE(answer.done == 1 && answer.number == 8);
		const double bad[] = {-0.1, 1.1, (double)NAN, (double)INFINITY};
		for (int i = 0; i < 4; i++) {
			answer = ask(fd, (tac_station_command){.kind = TAC_STATION_GAIN, .value = bad[i]});
			TEST_ASSERT_EQUAL_INT(0, answer.done);
		}
		TEST_ASSERT_EQUAL_INT(0, ask(fd, (tac_station_command){.kind = -1}).done);
		TEST_ASSERT_EQUAL_INT(0,
				      ask(fd, (tac_station_command){.kind = TAC_STATION_COMMAND_COUNT}).done);
		TEST_ASSERT_EQUAL_INT((int)round, command_count);
		TEST_ASSERT_EQUAL_DOUBLE(0.5, commands[command_count - 1].value);
		close(fd);
		tac_seam_destroy(&bridge);
	}
	// What is no command ends the connection, and nothing else.
	const int fd = tac_station_connect(name, &bridge);
	char byte = 0;
	TEST_ASSERT_EQUAL_INT(1, send(fd, &byte, 1, MSG_NOSIGNAL));
	TEST_ASSERT_EQUAL_INT(0, recv(fd, &byte, 1, 0));
	close(fd);
	TEST_ASSERT_EQUAL_INT(3, command_count);
	tac_station_destroy(&station);
	tac_seam_destroy(&bridge);
	TEST_ASSERT_EQUAL_INT(-1, tac_station_connect(name, &bridge));
}

static void names_are_checked(void)
{
	const char *const good[] = {"a", "Station-7", "x_1", "abcdefghijklmnopqrstuvwxyz012345"};
	const char *const bad[] = {
		"", "7", "-a", "a b", "a/b", "\xc3\xa4", "abcdefghijklmnopqrstuvwxyz0123456"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		TEST_ASSERT_TRUE(tac_station_name_valid(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		TEST_ASSERT_FALSE(tac_station_name_valid(bad[i]));
	create();
	tac_station *station;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_station_create("a b", run, obey, NULL, &station));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_bridge_reads_what_the_run_wrote_and_the_run_what_the_bridge_ordered);
	RUN_TEST(orders_that_are_not_finite_or_name_no_tool_are_dropped);
	RUN_TEST(figures_that_are_out_of_range_are_dropped_and_texts_end);
	RUN_TEST(without_a_bridge_the_ring_fills_and_every_refusal_is_counted);
	RUN_TEST(a_bridge_that_comes_back_goes_on_where_the_last_one_stopped);
	RUN_TEST(memory_that_is_no_seam_is_refused);
	RUN_TEST(the_memory_cannot_be_shrunk_under_the_run);
	RUN_TEST(a_killed_bridge_loses_at_most_one_record);
	RUN_TEST(random_bytes_in_the_memory_never_move_an_access_out_of_bounds);
	RUN_TEST(after_an_attack_ticks_and_orders_pass_again);
	RUN_TEST(the_run_makes_no_system_call_and_causes_no_page_fault);
	RUN_TEST(the_run_allocates_nothing);
	RUN_TEST(a_station_hands_its_memory_over_and_obeys_valid_commands);
	RUN_TEST(names_are_checked);
	return UNITY_END();
}
