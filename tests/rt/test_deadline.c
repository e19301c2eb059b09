#include "rt/deadline.h"

#include "rt/clock.h"
#include "rt/loop.h"
#include "rt/thread.h"
#include "unity.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MS TAC_NS_PER_MS
#define US TAC_NS_PER_US

void setUp(void)
{
}

void tearDown(void)
{
}

// ---- classification of constructed ticks ----
// Planned at 10 ms, 100 µs of spin, deadline at 11 ms, 500 µs of compute budget.

#define PLANNED (10 * MS)
#define BUDGET  (500 * US)

typedef struct late_case {
	const char *what;
	int64_t timer_late_ns; // fired - timer
	int64_t spin_gap_ns;   // time lost in the spin after planned_ns
	int64_t phase_ns[TAC_PHASE_COUNT];
	int64_t outside_ns; // after the last phase
	tac_evidence evidence;
	tac_cause cause;
	tac_phase phase;
} late_case;

static tac_tick make_tick(const late_case *s)
{
	tac_tick tick = {.planned_ns = PLANNED, .timer_ns = PLANNED - 100 * US, .deadline_ns = PLANNED + MS};
	tick.fired_ns = tick.timer_ns + s->timer_late_ns;
	tick.wake_ns = tick.fired_ns > PLANNED ? tick.fired_ns : PLANNED + s->spin_gap_ns;
	int64_t now_ns = tick.wake_ns;
	for (int i = 0; i < TAC_PHASE_COUNT; i++) {
		now_ns += s->phase_ns[i];
		if (s->phase_ns[i] > 0)
			tick.phase_end_ns[i] = now_ns;
	}
	tick.end_ns = now_ns + s->outside_ns;
	tick.evidence = s->evidence;
	return tick;
}

static const late_case late_cases[] = {
	{.what = "on time", .phase_ns = {0, 200 * US}, .cause = TAC_CAUSE_NONE, .phase = TAC_PHASE_NONE},
	{.what = "the timer was 3 ms late and the thread was runnable all that time",
	 .timer_late_ns = 3 * MS,
	 .evidence = {.run_delay_ns = 3 * MS, .cpu_ns = 10 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_LATE_WAKE,
	 .phase = TAC_PHASE_NONE},
	{.what = "the timer was 3 ms late and the thread was not runnable",
	 .timer_late_ns = 3 * MS,
	 .evidence = {.run_delay_ns = 5 * US, .cpu_ns = 10 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_STOLEN,
	 .phase = TAC_PHASE_NONE},
	{.what = "the same with an extra voluntary switch",
	 .timer_late_ns = 3 * MS,
	 .evidence = {.run_delay_ns = 5 * US, .cpu_ns = 10 * US, .voluntary = 1, .window_ticks = 1},
	 .cause = TAC_CAUSE_STOPPED,
	 .phase = TAC_PHASE_NONE},
	{.what = "late wake, but the kernel does not report run_delay",
	 .timer_late_ns = 3 * MS,
	 .evidence = {.run_delay_ns = -1, .window_ticks = 1},
	 .cause = TAC_CAUSE_UNDECIDED,
	 .phase = TAC_PHASE_NONE},
	{.what = "a run delay that may belong to on-time ticks of the window",
	 .timer_late_ns = 3 * MS,
	 .evidence = {.run_delay_ns = 2 * MS, .others_ns = MS, .window_ticks = 4},
	 .cause = TAC_CAUSE_UNDECIDED,
	 .phase = TAC_PHASE_NONE},
	{.what = "a run delay longer than on-time ticks of the window can explain",
	 .timer_late_ns = 3 * MS,
	 .evidence = {.run_delay_ns = 3 * MS, .others_ns = MS, .window_ticks = 4},
	 .cause = TAC_CAUSE_LATE_WAKE,
	 .phase = TAC_PHASE_NONE},
	{.what = "off the CPU for 2 ms in the middle of the spin, runnable",
	 .timer_late_ns = 20 * US,
	 .spin_gap_ns = 2 * MS,
	 .evidence = {.run_delay_ns = 2 * MS, .involuntary = 1, .cpu_ns = 100 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_PREEMPTED,
	 .phase = TAC_PHASE_NONE},
	{.what = "off the CPU for 2 ms after the planned time, runnable for a little more than half of it",
	 .timer_late_ns = 20 * US,
	 .spin_gap_ns = 2 * MS,
	 .evidence = {.run_delay_ns = 1020 * US, .involuntary = 1, .cpu_ns = 100 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_PREEMPTED,
	 .phase = TAC_PHASE_NONE},
	{.what = "2 ms lost in the middle of the spin while on the CPU: "
		 "CPU time may include stolen time",
	 .timer_late_ns = 20 * US,
	 .spin_gap_ns = 2 * MS,
	 .evidence = {.run_delay_ns = 0, .cpu_ns = 2100 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_STOLEN,
	 .phase = TAC_PHASE_NONE},
	{.what = "3 ms of computing",
	 .phase_ns = {10 * US, 3 * MS, 5 * US},
	 .evidence = {.run_delay_ns = 2 * US, .cpu_ns = 3100 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_LONG_COMPUTE,
	 .phase = TAC_PHASE_SCO},
	{.what = "3 ms of computing outside the phases",
	 .phase_ns = {10 * US},
	 .outside_ns = 3 * MS,
	 .evidence = {.run_delay_ns = 2 * US, .cpu_ns = 3100 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_LONG_COMPUTE,
	 .phase = TAC_PHASE_NONE},
	{.what = "3 ms asleep in a phase",
	 .phase_ns = {10 * US, 5 * US, [TAC_PHASE_FORCE] = 3 * MS},
	 .evidence = {.run_delay_ns = 2 * US, .cpu_ns = 120 * US, .voluntary = 1, .window_ticks = 1},
	 .cause = TAC_CAUSE_BLOCKED,
	 .phase = TAC_PHASE_FORCE},
	{.what = "3 ms of computing in a force of the application",
	 .phase_ns = {10 * US, 5 * US, [TAC_PHASE_EFFECTS] = 3 * MS, [TAC_PHASE_FORCE] = 5 * US},
	 .evidence = {.run_delay_ns = 2 * US, .cpu_ns = 3100 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_EFFECT,
	 .phase = TAC_PHASE_EFFECTS},
	{.what = "3 ms asleep in a force of the application",
	 .phase_ns = {10 * US, 5 * US, [TAC_PHASE_EFFECTS] = 3 * MS, [TAC_PHASE_FORCE] = 5 * US},
	 .evidence = {.run_delay_ns = 2 * US, .cpu_ns = 120 * US, .voluntary = 1, .window_ticks = 1},
	 .cause = TAC_CAUSE_EFFECT,
	 .phase = TAC_PHASE_EFFECTS},
	{.what = "5 ms in a file's fsync, of which 1.1 ms on the CPU",
	 .phase_ns = {[TAC_PHASE_WORK] = 5 * MS},
	 .evidence = {.run_delay_ns = 2 * US, .cpu_ns = 1100 * US, .voluntary = 3, .window_ticks = 1},
	 .cause = TAC_CAUSE_BLOCKED,
	 .phase = TAC_PHASE_WORK},
	{.what = "3 ms asleep in the device",
	 .phase_ns = {3 * MS, 5 * US},
	 .evidence = {.run_delay_ns = 2 * US, .cpu_ns = 120 * US, .voluntary = 1, .window_ticks = 1},
	 .cause = TAC_CAUSE_DEVICE_IO,
	 .phase = TAC_PHASE_DEVICE_READ},
	{.what = "3 ms spent polling the device",
	 .phase_ns = {2 * US, 5 * US, 0, 5 * US, [TAC_PHASE_DEVICE_WRITE] = 3 * MS},
	 .evidence = {.run_delay_ns = 2 * US, .cpu_ns = 3100 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_DEVICE_IO,
	 .phase = TAC_PHASE_DEVICE_WRITE},
	{.what = "preempted for 3 ms in a phase",
	 .phase_ns = {2 * US, 3100 * US},
	 .evidence = {.run_delay_ns = 3 * MS, .cpu_ns = 200 * US, .involuntary = 1, .window_ticks = 1},
	 .cause = TAC_CAUSE_PREEMPTED,
	 .phase = TAC_PHASE_SCO},
	{.what = "stolen for 3 ms in a phase",
	 .phase_ns = {2 * US, 3100 * US},
	 .evidence = {.run_delay_ns = 0, .cpu_ns = 200 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_STOLEN,
	 .phase = TAC_PHASE_SCO},
	{.what = "more than half of the time beyond the budget stolen, the rest computing",
	 .phase_ns = {2 * US, 3100 * US},
	 .evidence = {.run_delay_ns = 0, .cpu_ns = 1500 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_STOLEN,
	 .phase = TAC_PHASE_SCO},
	{.what = "CPU time that suffices only together with the spin",
	 .phase_ns = {0, 1100 * US},
	 .evidence = {.run_delay_ns = 0, .cpu_ns = 890 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_UNDECIDED,
	 .phase = TAC_PHASE_SCO},
	{.what = "CPU time that suffices only together with that of on-time ticks of the window",
	 .phase_ns = {0, 1100 * US},
	 .evidence = {.run_delay_ns = 0, .cpu_ns = 990 * US, .others_ns = 100 * US, .window_ticks = 2},
	 .cause = TAC_CAUSE_UNDECIDED,
	 .phase = TAC_PHASE_SCO},
	{.what = "4000 minor faults in a phase of 4 ms",
	 .phase_ns = {2 * US, 4 * MS},
	 .evidence = {.cpu_ns = 4 * MS, .minor_faults = 4000, .window_ticks = 1},
	 .cause = TAC_CAUSE_PAGE_FAULT,
	 .phase = TAC_PHASE_SCO},
	{.what = "one page from the disk",
	 .phase_ns = {2 * US, 4 * MS},
	 .evidence = {.cpu_ns = 150 * US, .major_faults = 1, .voluntary = 1, .window_ticks = 1},
	 .cause = TAC_CAUSE_PAGE_FAULT,
	 .phase = TAC_PHASE_SCO},
	{.what = "a page from the disk, but the thread was on the CPU all that time",
	 .phase_ns = {2 * US, 4 * MS},
	 .evidence = {.cpu_ns = 4100 * US, .major_faults = 1, .window_ticks = 1},
	 .cause = TAC_CAUSE_LONG_COMPUTE,
	 .phase = TAC_PHASE_SCO},
	{.what = "30 minor faults do not explain 4 ms",
	 .phase_ns = {2 * US, 4 * MS},
	 .evidence = {.cpu_ns = 4100 * US, .minor_faults = 30, .window_ticks = 1},
	 .cause = TAC_CAUSE_LONG_COMPUTE,
	 .phase = TAC_PHASE_SCO},
	{.what = "compute of 95 % and a usual wake: the compute is the cause",
	 .timer_late_ns = 170 * US,
	 .phase_ns = {2 * US, 948 * US},
	 .evidence = {.run_delay_ns = 4 * US, .cpu_ns = 950 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_LONG_COMPUTE,
	 .phase = TAC_PHASE_SCO},
	{.what = "wake and compute each lost too little to be the cause alone",
	 .timer_late_ns = 1000 * US,
	 .phase_ns = {2 * US, 1300 * US},
	 .evidence = {.run_delay_ns = 900 * US, .cpu_ns = 1300 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_UNDECIDED,
	 .phase = TAC_PHASE_NONE},
	{.what = "off the CPU, half delayed, half stolen",
	 .phase_ns = {2 * US, 2500 * US},
	 .evidence = {.run_delay_ns = 1000 * US, .cpu_ns = 600 * US, .window_ticks = 1},
	 .cause = TAC_CAUSE_UNDECIDED,
	 .phase = TAC_PHASE_SCO},
};

static void each_kind_of_late_tick_gets_its_cause_and_phase(void)
{
	for (size_t i = 0; i < sizeof late_cases / sizeof late_cases[0]; i++) {
		tac_tick tick = make_tick(&late_cases[i]);
		TEST_ASSERT_EQUAL_MESSAGE(late_cases[i].cause != TAC_CAUSE_NONE, tac_tick_missed(&tick),
					  late_cases[i].what);
		tac_phase phase;
		tac_cause cause = tac_deadline_classify(&tick, BUDGET, &phase);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(tac_cause_name(late_cases[i].cause), tac_cause_name(cause),
						 late_cases[i].what);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(tac_phase_name(late_cases[i].phase), tac_phase_name(phase),
						 late_cases[i].what);
	}
}

// ---- the account ----

static tac_deadline *make_deadline(int64_t period_ns, uint32_t records)
{
	tac_deadline_def def = tac_deadline_def_default(period_ns);
	def.records = records;
	def.evidence_every = 1;
	tac_deadline *deadline;
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&def, &deadline));
	return deadline;
}

static void a_full_ring_loses_records_but_no_counts(void)
{
	tac_deadline *deadline = make_deadline(MS, 8);
	TEST_ASSERT_GREATER_OR_EQUAL(TAC_OK, tac_deadline_attach(deadline));
	for (int i = 0; i < 20; i++) {
		tac_tick tick = {.index = i, .deadline_ns = 1, .end_ns = i % 2 ? 2 : 0, .skipped = 3};
		tac_deadline_record(deadline, &tick, 1);
	}
	tac_deadline_totals totals = tac_deadline_read_totals(deadline);
	TEST_ASSERT_EQUAL_INT64(20, totals.ticks);
	TEST_ASSERT_EQUAL_INT64(10, totals.misses);
	TEST_ASSERT_EQUAL_INT64(60, totals.skipped);
	TEST_ASSERT_EQUAL_INT64(12, totals.lost);
	tac_tick tick;
	for (int i = 0; i < 8; i++) {
		TEST_ASSERT_TRUE(tac_deadline_read(deadline, &tick));
		TEST_ASSERT_EQUAL_INT64(i, tick.index);
	}
	TEST_ASSERT_FALSE(tac_deadline_read(deadline, &tick));
	tick = (tac_tick){.index = 20};
	tac_deadline_record(deadline, &tick, 1);
	TEST_ASSERT_TRUE(tac_deadline_read(deadline, &tick));
	TEST_ASSERT_EQUAL_INT64(12, tick.lost_records);
	tac_deadline_destroy(&deadline);
	TEST_ASSERT_NULL(deadline);
}

// Sleeps once, then records a tick of `awake_ns` from its timer to its end, with `waits` sleeps of the loop.
static tac_tick sleep_and_record(tac_deadline *deadline, int64_t awake_ns, uint32_t waits)
{
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 100 * US);
	tac_tick tick = {.wake_ns = 10 * US, .deadline_ns = MS, .end_ns = awake_ns};
	tac_deadline_record(deadline, &tick, waits);
	return tick;
}

static void evidence_covers_the_ticks_since_the_last_sample_and_no_others(void)
{
	tac_deadline_def def = tac_deadline_def_default(MS);
	def.evidence_every = 5;
	tac_deadline *deadline;
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&def, &deadline));
	TEST_ASSERT_GREATER_OR_EQUAL(TAC_OK, tac_deadline_attach(deadline));

	for (int i = 0; i < 3; i++)
		sleep_and_record(deadline, 20 * US, 1);
	tac_tick late = sleep_and_record(deadline, 2 * MS, 1);
	TEST_ASSERT_EQUAL_UINT32(4, late.evidence.window_ticks);
	TEST_ASSERT_EQUAL_INT64(60 * US, late.evidence.others_ns);
	TEST_ASSERT_EQUAL_UINT32(0, late.evidence.voluntary); // 4 sleeps, all the loop's own

	late = sleep_and_record(deadline, 2 * MS, 0); // the miss before it was sampled
	TEST_ASSERT_EQUAL_UINT32(1, late.evidence.window_ticks);
	TEST_ASSERT_EQUAL_INT64(0, late.evidence.others_ns);
	TEST_ASSERT_EQUAL_UINT32(1, late.evidence.voluntary);

	for (int i = 0; i < 5; i++) // the fifth is sampled
		sleep_and_record(deadline, 20 * US, 1);
	TEST_ASSERT_EQUAL_UINT32(1, sleep_and_record(deadline, 2 * MS, 1).evidence.window_ticks);

	sleep_and_record(deadline, 600 * US, 1); // beyond the budget: sampled at once
	TEST_ASSERT_EQUAL_UINT32(1, sleep_and_record(deadline, 2 * MS, 1).evidence.window_ticks);
	tac_deadline_destroy(&deadline);
}

// A tick is planned at 10 ms with its deadline at 11 ms; the threshold is 200 µs.
static void a_tick_beyond_the_threshold_gets_a_cause_and_is_no_miss(void)
{
	tac_deadline_def def = tac_deadline_def_default(MS);
	def.threshold_ns = 200 * US;
	def.evidence_every = 1;
	tac_deadline *deadline;
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&def, &deadline));
	TEST_ASSERT_GREATER_OR_EQUAL(TAC_OK, tac_deadline_attach(deadline));
	TEST_ASSERT_EQUAL_INT32(gettid(), tac_deadline_thread_id(deadline));
	const int64_t ends_ns[] = {200 * US, 201 * US, 900 * US, 1001 * US};
	for (size_t i = 0; i < sizeof ends_ns / sizeof ends_ns[0]; i++) {
		tac_tick tick = {.planned_ns = PLANNED,
				 .timer_ns = PLANNED,
				 .fired_ns = PLANNED,
				 .wake_ns = PLANNED,
				 .phase_end_ns = {[TAC_PHASE_WORK] = PLANNED + ends_ns[i]},
				 .end_ns = PLANNED + ends_ns[i],
				 .deadline_ns = PLANNED + MS};
		tac_deadline_record(deadline, &tick, 0);
		TEST_ASSERT_EQUAL_INT(i > 0, tick.cause != TAC_CAUSE_NONE);
		TEST_ASSERT_EQUAL_INT(i > 0, tick.evidence.window_ticks > 0);
		TEST_ASSERT_EQUAL(i > 0 ? TAC_PHASE_WORK : 0, tick.cause_phase);
		TEST_ASSERT_TRUE(tick.cpu >= 0);
	}
	const tac_deadline_totals totals = tac_deadline_read_totals(deadline);
	TEST_ASSERT_EQUAL_INT64(2, totals.late);
	TEST_ASSERT_EQUAL_INT64(1, totals.misses);
	tac_deadline_destroy(&deadline);
}

// A thread that is moved from CPU to CPU sees each move in its evidence.
static void migrations_are_evidence(void)
{
	cpu_set_t before, one;
	CPU_ZERO(&before);
	TEST_ASSERT_EQUAL_INT(0, sched_getaffinity(0, sizeof before, &before));
	if (CPU_COUNT(&before) < 2)
		TEST_IGNORE_MESSAGE("one CPU");
	tac_deadline_def def = tac_deadline_def_default(MS);
	def.evidence_every = 64;
	tac_deadline *deadline;
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&def, &deadline));
	tac_deadline_attach(deadline);
	tac_tick tick = {0};
	uint32_t moves = 0;
	for (size_t cpu = 0; cpu < CPU_SETSIZE && moves < 5; cpu = (cpu + 1) % CPU_SETSIZE) {
		if (!CPU_ISSET(cpu, &before))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		TEST_ASSERT_EQUAL_INT(0, sched_setaffinity(0, sizeof one, &one));
		tick = (tac_tick){.deadline_ns = MS, .end_ns = moves == 4 ? 2 * MS : 1};
		tac_deadline_record(deadline, &tick, 0);
		TEST_ASSERT_EQUAL_INT32((int32_t)cpu, tick.cpu);
		moves++;
	}
	TEST_ASSERT_EQUAL_INT(0, sched_setaffinity(0, sizeof before, &before));
	TEST_ASSERT_EQUAL_UINT32(4, tick.evidence.migrations); // the first tick has none before it
	tac_deadline_destroy(&deadline);
}

static void bad_definitions_are_refused(void)
{
	tac_deadline_def def = tac_deadline_def_default(MS);
	tac_deadline *deadline;
	def.records = 100;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_deadline_create(&def, &deadline));
	def = tac_deadline_def_default(0);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_deadline_create(&def, &deadline));
	def = tac_deadline_def_default(MS);
	def.evidence_every = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_deadline_create(&def, &deadline));
	def = tac_deadline_def_default(MS);
	def.threshold_ns = -1;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_deadline_create(&def, &deadline));
	TEST_ASSERT_NULL(deadline);
}

// ---- planted faults in a running loop ----

#define FAULTY_TICK 30
#define PAGES       8192

typedef struct fault {
	tac_phase phase;
	void (*plant)(void);
	tac_cause cause; // that must be reported
} fault;

static void tick_with_fault(void *user, tac_tick *tick)
{
	const fault *f = user;
	for (int i = 0; i < TAC_PHASE_COUNT; i++) {
		if (tick->index == FAULTY_TICK && f->phase == (tac_phase)i)
			f->plant();
		tac_tick_phase_end(tick, (tac_phase)i);
	}
}

// The record of the faulty tick. On a shared machine the loop may skip this tick, or the hypervisor or
// another process may take more of its time than the fault and is then correctly reported as the cause. In
// these cases it runs again.
static tac_tick run_with_fault(fault f)
{
	tac_tick tick = {.index = -1};
	for (int attempt = 0; attempt < 20 && (tick.index != FAULTY_TICK || tick.cause != f.cause);
	     attempt++) {
		tick.index = -1;
		tac_deadline *deadline = make_deadline(MS, 256);
		tac_loop_def def = tac_loop_def_default();
		def.periods = 60;
		def.deadline = deadline;
		tac_loop *loop;
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, tick_with_fault, &f));
		tac_loop_destroy(&loop);
		while (tick.index != FAULTY_TICK && tac_deadline_read(deadline, &tick)) {
		}
		tac_deadline_destroy(&deadline);
	}
	TEST_ASSERT_EQUAL_INT64(FAULTY_TICK, tick.index);
	return tick;
}

static void sleep_3_ms(void)
{
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 3 * MS);
}

static void compute_3_ms(void)
{
	int64_t end_ns = tac_clock_now_ns() + 3 * MS;
	while (tac_clock_now_ns() < end_ns) {
	}
}

static void touch_fresh_pages(void)
{
	const size_t page = 4096, bytes = PAGES * page;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += page)
		memory[i] = 1;
	munmap(memory, bytes);
}

static void expect_cause(const tac_tick *tick, tac_cause cause)
{
	char found[160];
	snprintf(found, sizeof found, "found %s: cpu %lld ns, run delay %lld ns, switches %u+%u, faults %u",
		 tac_cause_name(tick->cause), (long long)tick->evidence.cpu_ns,
		 (long long)tick->evidence.run_delay_ns, tick->evidence.voluntary, tick->evidence.involuntary,
		 tick->evidence.minor_faults);
	TEST_ASSERT_EQUAL_MESSAGE(cause, tick->cause, found);
}

static void a_phase_that_sleeps_3_ms_is_named(void)
{
	tac_tick tick = run_with_fault((fault){TAC_PHASE_FORCE, sleep_3_ms, TAC_CAUSE_BLOCKED});
	TEST_ASSERT_TRUE(tac_tick_missed(&tick));
	TEST_ASSERT_GREATER_OR_EQUAL_UINT32(2, tick.skipped);
	expect_cause(&tick, TAC_CAUSE_BLOCKED);
	TEST_ASSERT_EQUAL(TAC_PHASE_FORCE, tick.cause_phase);
	TEST_ASSERT_GREATER_OR_EQUAL_UINT32(1, tick.evidence.voluntary);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(3 * MS, tac_tick_phase_ns(&tick, TAC_PHASE_FORCE));
}

static void a_phase_that_computes_3_ms_is_named(void)
{
	tac_tick tick = run_with_fault((fault){TAC_PHASE_SCO, compute_3_ms, TAC_CAUSE_LONG_COMPUTE});
	expect_cause(&tick, TAC_CAUSE_LONG_COMPUTE);
	TEST_ASSERT_EQUAL(TAC_PHASE_SCO, tick.cause_phase);
}

static void a_force_of_the_application_that_overruns_is_blamed(void)
{
	tac_tick tick = run_with_fault((fault){TAC_PHASE_EFFECTS, sleep_3_ms, TAC_CAUSE_EFFECT});
	expect_cause(&tick, TAC_CAUSE_EFFECT);
	TEST_ASSERT_EQUAL(TAC_PHASE_EFFECTS, tick.cause_phase);
}

static void a_device_that_blocks_is_blamed(void)
{
	tac_tick tick = run_with_fault((fault){TAC_PHASE_DEVICE_READ, sleep_3_ms, TAC_CAUSE_DEVICE_IO});
	expect_cause(&tick, TAC_CAUSE_DEVICE_IO);
	TEST_ASSERT_EQUAL(TAC_PHASE_DEVICE_READ, tick.cause_phase);
}

static void block_in_the_device(void *user, tac_tick *tick)
{
	(void)user;
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 3 * MS / 2);
	tac_tick_phase_end(tick, TAC_PHASE_DEVICE_READ);
}

// Every tick is late, so each finds a pending expiry; consuming it is not a sleep of the loop.
static void a_device_that_blocks_in_every_tick_is_blamed_with_every_timer(void)
{
	for (int kind = TAC_TIMER_NANOSLEEP; kind <= TAC_TIMER_FD; kind++) {
		tac_deadline *deadline = make_deadline(MS, 256);
		tac_loop_def def = tac_loop_def_default();
		def.timer = (tac_timer_kind)kind;
		def.periods = 200;
		def.deadline = deadline;
		tac_loop *loop;
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, block_in_the_device, NULL));
		tac_loop_destroy(&loop);
		int64_t misses = tac_deadline_read_totals(deadline).misses, blamed = 0;
		tac_tick tick;
		while (tac_deadline_read(deadline, &tick))
			blamed += tick.cause == TAC_CAUSE_DEVICE_IO || tick.cause == TAC_CAUSE_PREEMPTED;
		tac_deadline_destroy(&deadline);
		TEST_ASSERT_GREATER_THAN_INT64(0, misses);
		TEST_ASSERT_GREATER_THAN_INT64_MESSAGE(misses / 2, blamed,
						       tac_timer_kind_name((tac_timer_kind)kind));
	}
}

static void memory_that_is_not_resident_is_blamed(void)
{
	tac_tick tick = run_with_fault((fault){TAC_PHASE_PUBLISH, touch_fresh_pages, TAC_CAUSE_PAGE_FAULT});
	TEST_ASSERT_GREATER_OR_EQUAL_UINT32(PAGES, tick.evidence.minor_faults);
	expect_cause(&tick, TAC_CAUSE_PAGE_FAULT);
	TEST_ASSERT_EQUAL(TAC_PHASE_PUBLISH, tick.cause_phase);
}

int main(void)
{
	// With this policy, other processes do not disturb the planted faults.
	const tac_thread_def def = {.policy = TAC_POLICY_FIFO, .priority = 30, .cpu = -1};
	tac_thread_report report;
	if (tac_thread_enter(&def, &report) != TAC_OK)
		puts("without SCHED_FIFO: preemption may disturb the planted faults");
	UNITY_BEGIN();
	RUN_TEST(each_kind_of_late_tick_gets_its_cause_and_phase);
	RUN_TEST(a_full_ring_loses_records_but_no_counts);
	RUN_TEST(evidence_covers_the_ticks_since_the_last_sample_and_no_others);
	RUN_TEST(a_tick_beyond_the_threshold_gets_a_cause_and_is_no_miss);
	RUN_TEST(migrations_are_evidence);
	RUN_TEST(bad_definitions_are_refused);
	RUN_TEST(a_phase_that_sleeps_3_ms_is_named);
	RUN_TEST(a_phase_that_computes_3_ms_is_named);
	RUN_TEST(a_force_of_the_application_that_overruns_is_blamed);
	RUN_TEST(a_device_that_blocks_is_blamed);
	RUN_TEST(a_device_that_blocks_in_every_tick_is_blamed_with_every_timer);
	RUN_TEST(memory_that_is_not_resident_is_blamed);
	return UNITY_END();
}
