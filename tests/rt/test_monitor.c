#include "rt/monitor.h"

#include "rt/clock.h"
#include "rt/loop.h"
#include "rt/thread.h"
#include "tests/support/logged.h"
#include "unity.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tac_deadline *deadline;
static tac_monitor *monitor;
static tac_monitor_stats stats;
static char path[64];

void setUp(void)
{
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
	tac_deadline_def def = tac_deadline_def_default(TAC_NS_PER_MS);
	def.records = 64;
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&def, &deadline));
	TEST_ASSERT_GREATER_OR_EQUAL(TAC_OK, tac_deadline_attach(deadline));
}

void tearDown(void)
{
	tac_monitor_destroy(&monitor);
	tac_deadline_destroy(&deadline);
	tac_log_set(NULL, NULL);
}

static void start(const char *log_path, tac_trace *trace)
{
	const tac_monitor_def def = {.deadline = deadline, .log_path = log_path, .trace = trace};
	TEST_ASSERT_EQUAL(TAC_OK, tac_monitor_create(&def, &monitor));
}

// A tick that woke 5 µs late and ended `late_ns` after its deadline.
static void record(int64_t index, int64_t late_ns)
{
	tac_tick tick = {.index = index, .planned_ns = index * TAC_NS_PER_MS};
	tick.timer_ns = tick.planned_ns - 100000;
	tick.fired_ns = tick.timer_ns + 7000;
	tick.wake_ns = tick.planned_ns + 5000;
	tick.deadline_ns = tick.planned_ns + TAC_NS_PER_MS;
	tick.end_ns = tick.deadline_ns + late_ns;
	tick.phase_end_ns[TAC_PHASE_SCO] = tick.end_ns;
	tac_deadline_record(deadline, &tick, 1);
}

static void read_all(void)
{
	tac_monitor_drain(monitor);
	tac_monitor_read(monitor, &stats);
}

static void every_record_reaches_the_histograms_and_the_counts(void)
{
	start(NULL, NULL);
	for (int i = 0; i < 40; i++)
		record(i, i < 30 ? -900000 : 1000);
	read_all();
	TEST_ASSERT_EQUAL_INT64(40, stats.records);
	TEST_ASSERT_EQUAL_INT64(40, stats.totals.ticks);
	TEST_ASSERT_EQUAL_INT64(10, stats.totals.misses);
	TEST_ASSERT_EQUAL_UINT64(40, stats.wake.count);
	TEST_ASSERT_EQUAL_INT64(5000, stats.wake.max_ns);
	TEST_ASSERT_EQUAL_INT64(7000, stats.timer.max_ns);
	TEST_ASSERT_EQUAL_INT64(95000, stats.compute.min_ns);
	TEST_ASSERT_EQUAL_INT64(996000, stats.compute.max_ns);
	TEST_ASSERT_EQUAL_UINT64(40, stats.phases[TAC_PHASE_SCO].count);
	TEST_ASSERT_EQUAL_UINT64(0, stats.phases[TAC_PHASE_FORCE].count);
	int64_t by_cause = 0;
	for (int i = 0; i < TAC_CAUSE_COUNT; i++)
		by_cause += stats.misses_by_cause[i];
	TEST_ASSERT_EQUAL_INT64(10, by_cause);
	TEST_ASSERT_EQUAL_INT64(0, stats.misses_by_cause[TAC_CAUSE_NONE]);
}

static void the_worst_misses_are_kept_in_order(void)
{
	start(NULL, NULL);
	for (int i = 0; i < 50; i++)
		record(i, 1 + (i * 37) % 50); // every lateness from 1 to 50 ns once
	read_all();
	TEST_ASSERT_EQUAL(TAC_MONITOR_WORST, stats.worst_count);
	for (int i = 0; i < TAC_MONITOR_WORST; i++)
		TEST_ASSERT_EQUAL_INT64(50 - i, -tac_tick_slack_ns(&stats.worst[i]));
}

static void the_log_has_a_header_and_a_line_for_each_miss(void)
{
	snprintf(path, sizeof path, "/tmp/tactus-monitor-%d.csv", (int)getpid());
	start(path, NULL);
	for (int i = 0; i < 9; i++)
		record(i, i % 3 == 0 ? 100 + i : -1);
	tac_monitor_destroy(&monitor);
	FILE *file = fopen(path, "r");
	TEST_ASSERT_NOT_NULL(file);
	char line[512];
	TEST_ASSERT_NOT_NULL(fgets(line, sizeof line, file));
	TEST_ASSERT_EQUAL_STRING(
		"tick,planned_ns,wake_ns,compute_ns,late_ns,skipped,cause,phase,cpu_ns,run_delay_ns,"
		"others_ns,voluntary,involuntary,minor_faults,major_faults,window_ticks,cpu,migrations,rival,"
		"rival_ns\n",
		line);
	for (int i = 0; i < 9; i += 3) {
		char expected[128];
		snprintf(expected, sizeof expected, "%d,%lld,5000,%lld,%d,0,", i,
			 (long long)i * TAC_NS_PER_MS, 995100LL + i, 100 + i);
		TEST_ASSERT_NOT_NULL(fgets(line, sizeof line, file));
		TEST_ASSERT_EQUAL_STRING_LEN(expected, line, strlen(expected));
	}
	TEST_ASSERT_NULL(fgets(line, sizeof line, file));
	fclose(file);
	unlink(path);
}

// Ticks that met their deadline but not the threshold are counted apart, with a cause, and are in the log.
static void ticks_beyond_the_threshold_are_counted_beside_the_misses(void)
{
	tac_deadline_destroy(&deadline);
	tac_deadline_def def = tac_deadline_def_default(TAC_NS_PER_MS);
	def.records = 64;
	def.threshold_ns = 700000;
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&def, &deadline));
	tac_deadline_attach(deadline);
	snprintf(path, sizeof path, "/tmp/tactus-monitor-%d.csv", (int)getpid());
	start(path, NULL);
	record(0, -300001); // ends 699.999 µs after its plan
	record(1, -200000);
	record(2, -100000);
	record(3, 1);
	read_all();
	TEST_ASSERT_EQUAL_INT64(1, stats.totals.misses);
	TEST_ASSERT_EQUAL_INT64(2, stats.totals.late);
	int64_t late = 0, missed = 0;
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++) {
		late += stats.late_by_cause[i];
		missed += stats.misses_by_cause[i];
	}
	TEST_ASSERT_EQUAL_INT64(2, late);
	TEST_ASSERT_EQUAL_INT64(1, missed);
	TEST_ASSERT_EQUAL_INT(3, stats.worst_count);
	TEST_ASSERT_EQUAL_INT64(3, stats.worst[0].index);
	TEST_ASSERT_EQUAL_INT64(2, stats.worst[1].index);
	TEST_ASSERT_EQUAL_INT64(1000001, stats.response.max_ns);
	TEST_ASSERT_TRUE(stats.steal_ns >= -1);
	tac_monitor_destroy(&monitor);
	FILE *file = fopen(path, "r");
	TEST_ASSERT_NOT_NULL(file);
	char line[512];
	int lines = 0;
	while (fgets(line, sizeof line, file))
		lines++;
	fclose(file);
	unlink(path);
	TEST_ASSERT_EQUAL_INT(4, lines); // with the header
}

static void a_full_disk_loses_log_lines_and_is_reported_once(void)
{
	start("/dev/full", NULL);
	for (int i = 0; i < 5; i++)
		record(i, 100);
	read_all();
	TEST_ASSERT_EQUAL_INT64(5, stats.totals.misses);
	TEST_ASSERT_EQUAL_INT64(6, stats.log_unwritten); // the header, too
	TEST_ASSERT_EQUAL(ENOSPC, stats.log_error);
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "/dev/full"), logged);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "No space left"), logged);
}

static void a_closed_pipe_loses_log_lines_without_a_signal(void)
{
	int ends[2];
	TEST_ASSERT_EQUAL(0, pipe(ends));
	snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
	start(path, NULL);
	tac_monitor_drain(monitor);
	close(ends[0]);
	close(ends[1]);
	record(0, 100);
	read_all();
	TEST_ASSERT_EQUAL_INT64(1, stats.log_unwritten);
	TEST_ASSERT_EQUAL(EPIPE, stats.log_error);
	TEST_ASSERT_EQUAL_INT64(1, stats.totals.misses);
}

static void a_pipe_without_reader_does_not_stop_the_monitor(void)
{
	int ends[2];
	TEST_ASSERT_EQUAL(0, pipe(ends));
	snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
	start(path, NULL);
	for (int i = 0; i < 2000; i++) { // about 150 kB; a pipe holds 64
		record(i, 100);
		if (i % 32 == 0)
			tac_monitor_drain(monitor);
	}
	read_all();
	TEST_ASSERT_EQUAL_INT64(2000, stats.records);
	TEST_ASSERT_EQUAL_INT64(0, stats.totals.lost);
	TEST_ASSERT_GREATER_THAN_INT64(0, stats.log_unwritten);
	TEST_ASSERT_EQUAL(EAGAIN, stats.log_error);
	close(ends[0]);
	close(ends[1]);
}

static void count_tick(void *user, tac_tick *tick)
{
	(void)tick;
	++*(int64_t *)user;
}

#define TRACED_TICKS 600 // about 280 kB of trace: the pipe and the trace's buffer are full after half of them

typedef struct tracing {
	tac_loop *loop;
	int64_t ticks;
} tracing;

// Counts ticks, not periods: a busy machine may skip periods.
static void stop_after_traced_ticks(void *user, tac_tick *tick)
{
	(void)tick;
	tracing *t = user;
	if (++t->ticks == TRACED_TICKS)
		tac_loop_stop(t->loop);
}

// A trace blocks when its file blocks. The loop must not.
static void a_blocked_slow_thread_leaves_the_loop_on_time_and_the_losses_counted(void)
{
	int ends[2];
	TEST_ASSERT_EQUAL(0, pipe(ends));
	tac_trace_def trace_def = tac_trace_def_default();
	trace_def.fd = ends[1];
	tac_trace *trace;
	TEST_ASSERT_EQUAL(TAC_OK, tac_trace_create(&trace_def, &trace));
	tac_deadline_detach(deadline);
	start(NULL, trace);

	tac_loop_def loop_def = tac_loop_def_default();
	loop_def.deadline = deadline;
	tracing t = {0};
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&loop_def, &t.loop));
	int64_t begin_ns = tac_clock_now_ns();
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(t.loop, stop_after_traced_ticks, &t));
	int64_t took_ns = tac_clock_now_ns() - begin_ns;
	tac_loop_destroy(&t.loop);

	tac_deadline_totals totals = tac_deadline_read_totals(deadline);
	tac_monitor_read(monitor, &stats); // does not block
	int64_t read_while_blocked = stats.records;

	// A reader empties the pipe: the rest passes, and everything adds up. This comes before any check,
	// because after a failed one the monitor would never end.
	pid_t reader = fork();
	if (reader == 0) {
		char buffer[4096];
		close(ends[1]);
		while (read(ends[0], buffer, sizeof buffer) > 0) {
		}
		_exit(0);
	}
	close(ends[0]);
	read_all();
	tac_monitor_destroy(&monitor);
	TEST_ASSERT_EQUAL(TAC_OK, tac_trace_destroy(&trace, NULL));
	close(ends[1]);
	TEST_ASSERT_EQUAL_INT64(TRACED_TICKS, totals.ticks);
	TEST_ASSERT_GREATER_THAN_INT64(0, totals.lost);
	TEST_ASSERT_GREATER_THAN_INT64(0, read_while_blocked);
	TEST_ASSERT_LESS_THAN_INT64(stats.records, read_while_blocked);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(TRACED_TICKS * TAC_NS_PER_MS, took_ns);
	TEST_ASSERT_EQUAL_INT64(totals.ticks, stats.records + totals.lost);
}

// ---- two hands ----

typedef struct hand {
	tac_timer_kind timer;
	int64_t periods;
	int64_t period_ns;
	int64_t ticks;
	tac_monitor_stats stats;
	tac_result result;
} hand;

// A loop with its own account and monitor.
static void *run_hand(void *user)
{
	hand *h = user;
	tac_deadline_def deadline_def = tac_deadline_def_default(h->period_ns);
	tac_deadline *own_deadline = NULL;
	tac_monitor *own_monitor = NULL;
	tac_loop *loop = NULL;
	h->result = tac_deadline_create(&deadline_def, &own_deadline);
	const tac_monitor_def monitor_def = {.deadline = own_deadline};
	if (h->result == TAC_OK)
		h->result = tac_monitor_create(&monitor_def, &own_monitor);
	tac_loop_def loop_def = tac_loop_def_default();
	loop_def.timer = h->timer;
	loop_def.periods = h->periods;
	loop_def.period_ns = h->period_ns;
	loop_def.spin_ns = 0;
	loop_def.deadline = own_deadline;
	if (h->result == TAC_OK)
		h->result = tac_loop_create(&loop_def, &loop);
	if (h->result == TAC_OK)
		h->result = tac_loop_run(loop, count_tick, &h->ticks);
	if (h->result == TAC_OK) {
		tac_monitor_drain(own_monitor);
		tac_monitor_read(own_monitor, &h->stats);
	}
	tac_loop_destroy(&loop);
	tac_monitor_destroy(&own_monitor);
	tac_deadline_destroy(&own_deadline);
	return NULL;
}

static void two_loops_in_one_process_are_independent_with_every_timer(void)
{
	static hand hands[2];
	for (int kind = TAC_TIMER_NANOSLEEP; kind <= TAC_TIMER_FD; kind++) {
		memset(hands, 0, sizeof hands);
		pthread_t threads[2];
		for (int i = 0; i < 2; i++) {
			hands[i].timer = (tac_timer_kind)kind;
			hands[i].periods = 200 + 100 * i;
			hands[i].period_ns = TAC_NS_PER_MS * (1 + i);
			TEST_ASSERT_EQUAL(TAC_OK, tac_thread_start(&threads[i], run_hand, &hands[i]));
		}
		for (int i = 0; i < 2; i++) {
			const tac_monitor_stats *own = &hands[i].stats;
			TEST_ASSERT_EQUAL(0, pthread_join(threads[i], NULL));
			TEST_ASSERT_EQUAL(TAC_OK, hands[i].result);
			TEST_ASSERT_GREATER_THAN_INT64(0, hands[i].ticks);
			TEST_ASSERT_EQUAL_INT64(hands[i].ticks, own->totals.ticks);
			TEST_ASSERT_EQUAL_INT64(hands[i].ticks, own->records);
			// A late last tick skips periods beyond the end.
			TEST_ASSERT_GREATER_OR_EQUAL_INT64(hands[i].periods,
							   own->totals.ticks + own->totals.skipped);
		}
	}
}

static void a_log_that_cannot_be_opened_is_an_error_with_its_name(void)
{
	const tac_monitor_def def = {.deadline = deadline, .log_path = "/no/such/folder/log.csv"};
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_monitor_create(&def, &monitor));
	TEST_ASSERT_NULL(monitor);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "/no/such/folder/log.csv"), logged);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "No such file"), logged);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(every_record_reaches_the_histograms_and_the_counts);
	RUN_TEST(the_worst_misses_are_kept_in_order);
	RUN_TEST(the_log_has_a_header_and_a_line_for_each_miss);
	RUN_TEST(ticks_beyond_the_threshold_are_counted_beside_the_misses);
	RUN_TEST(a_full_disk_loses_log_lines_and_is_reported_once);
	RUN_TEST(a_closed_pipe_loses_log_lines_without_a_signal);
	RUN_TEST(a_pipe_without_reader_does_not_stop_the_monitor);
	RUN_TEST(a_blocked_slow_thread_leaves_the_loop_on_time_and_the_losses_counted);
	RUN_TEST(two_loops_in_one_process_are_independent_with_every_timer);
	RUN_TEST(a_log_that_cannot_be_opened_is_an_error_with_its_name);
	return UNITY_END();
}
