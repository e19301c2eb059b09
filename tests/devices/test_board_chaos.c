// A 1 kHz loop (100 Hz on gates, which are simulated) on a board that a second thread stalls, silences,
// truncates, corrupts, makes answer wrongly and unplugs at random. Every answer that is not unknown must be
// right, and the board must recover from everything.
//	test_board_chaos [SECONDS]
#include "tests/support/board_fixture.h"

#include "rt/loop.h"
#include "tests/support/limits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define ENOUGH     10 // answers, and unknown ones; their numbers depend on the machine
#define ROUNDS_MAX 20

static int seconds;
static atomic_bool over;
static atomic_int injected[TAC_VIRTUAL_FAULT_COUNT + TAC_VIRTUAL_BOARD_FAULT_COUNT + 1];
static uint64_t answers[3], wrong, stale_answers;

void setUp(void)
{
	tac_virtual_board_def virtual_def = tac_virtual_board_def_default();
	virtual_def.memory_bytes = UINT32_C(4) << 20;
	tac_board_def def = tac_board_def_default();
	def.connect_ns = PATIENCE_NS;
	def.abort_ns = 20 * TAC_NS_PER_MS;
	set_up_board_with(&virtual_def, &def, CHAOS_SEGMENTS);
	find_expected();
}

void tearDown(void)
{
	tear_down_board();
}

static void sleep_ns(int64_t ns)
{
	tac_clock_sleep_until_ns(tac_clock_now_ns() + ns);
}

static bool wait_for_board(void)
{
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	while (!tac_board_report_read(board).connected && tac_clock_now_ns() < end_ns)
		sleep_ns(TAC_NS_PER_MS);
	return tac_board_report_read(board).connected;
}

// Injects a fault every few milliseconds, mostly while the board works, sometimes while it reconnects.
static void *inject_faults(void *user)
{
	tac_rng rng = tac_rng_seed(11, 11);
	(void)user;
	while (!atomic_load(&over)) {
		const uint8_t endpoint =
			tac_rng_below(&rng, 2) == 0 ? TAC_BOARD_OUT_ENDPOINT : TAC_BOARD_IN_ENDPOINT;
		uint32_t what = tac_rng_below(&rng, 13);
		if (what == 12) {
			unplug();
			atomic_fetch_add(&injected[TAC_VIRTUAL_FAULT_COUNT + TAC_VIRTUAL_BOARD_FAULT_COUNT],
					 1);
			sleep_ns(tac_rng_below(&rng, 30) * TAC_NS_PER_MS);
			plug();
		} else if (what < TAC_VIRTUAL_FAULT_COUNT) {
			tac_virtual_usb_inject(device, endpoint, (tac_virtual_fault)what,
					       (1 + tac_rng_below(&rng, 60)) * TAC_NS_PER_MS);
			atomic_fetch_add(&injected[what], 1);
		} else {
			what = 1 + tac_rng_below(&rng, TAC_VIRTUAL_BOARD_FAULT_COUNT - 1);
			tac_virtual_board_inject(model, (tac_virtual_board_fault)what);
			atomic_fetch_add(&injected[TAC_VIRTUAL_FAULT_COUNT + what], 1);
		}
		sleep_ns(tac_rng_below(&rng, 40) * TAC_NS_PER_MS);
		if (tac_rng_below(&rng, 4) != 0)
			wait_for_board();
	}
	return NULL;
}

static void tick(void *user, tac_tick *t)
{
	(void)user;
	const int pose = (int)(t->index % POSES);
	const uint64_t answered = outcome_count(TAC_BOARD_ANSWERED);
	tac_overlap contact =
		tac_collider_query(engine, context, shape_a, shape_b, &poses[pose], TAC_QUERY_PAIRS,
				   (tac_budget){.deadline_ns = t->deadline_ns});
	answers[contact]++;
	if (contact != TAC_OVERLAP_UNKNOWN &&
	    (contact != expected[pose] || context->pair_count != expected_pairs[pose]))
		wrong++;
	// An answer must come from this very query.
	if (contact == TAC_OVERLAP_NONE && outcome_count(TAC_BOARD_ANSWERED) != answered + 1)
		stale_answers++;
}

static bool has_met_enough(void)
{
	return answers[TAC_OVERLAP_NONE] + answers[TAC_OVERLAP_HIT] > ENOUGH &&
	       answers[TAC_OVERLAP_UNKNOWN] > ENOUGH;
}

static void no_fault_of_the_board_gives_a_wrong_answer_and_it_recovers(void)
{
	build_shapes();
	tac_loop_def def = tac_loop_def_default();
	def.spin_ns = 0;
	def.period_ns = CHAOS_PERIOD_NS;
	def.periods = seconds * TAC_NS_PER_S / CHAOS_PERIOD_NS;
	tac_loop *loop;
	pthread_t injector;
	uint64_t beats = 0;
	pthread_create(&injector, NULL, inject_faults, NULL);
	// A busy machine answers less often, so it gets more time.
	for (int round = 0; round < ROUNDS_MAX && !has_met_enough(); round++) {
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
		TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, tick, NULL));
		beats += tac_loop_beats(loop);
		tac_loop_destroy(&loop);
	}
	atomic_store(&over, true);
	pthread_join(injector, NULL);

	// Pending faults are cleared; then the board must answer again.
	tac_virtual_usb_inject(device, TAC_BOARD_IN_ENDPOINT, TAC_VIRTUAL_FAULT_NONE, 0);
	tac_virtual_usb_inject(device, TAC_BOARD_OUT_ENDPOINT, TAC_VIRTUAL_FAULT_NONE, 0);
	tac_virtual_board_inject(model, TAC_VIRTUAL_BOARD_NO_FAULT);
	for (int i = 0; i < POSES; i++)
		await_answer(i);

	tac_board_report report = tac_board_report_read(board);
	printf("%d s: %llu ticks, %llu none, %llu hit, %llu unknown\n", seconds, (unsigned long long)beats,
	       (unsigned long long)answers[TAC_OVERLAP_NONE], (unsigned long long)answers[TAC_OVERLAP_HIT],
	       (unsigned long long)answers[TAC_OVERLAP_UNKNOWN]);
	printf("%llu faults, %llu wrong answers, unplugged %d times; %llu connections, %llu failed\n",
	       (unsigned long long)tac_virtual_usb_fault_count(device),
	       (unsigned long long)tac_virtual_board_fault_count(model),
	       injected[TAC_VIRTUAL_FAULT_COUNT + TAC_VIRTUAL_BOARD_FAULT_COUNT],
	       (unsigned long long)report.connections, (unsigned long long)report.failed_connections);
	for (int i = 0; i < TAC_BOARD_OUTCOME_COUNT; i++)
		printf("  %8llu %s\n", (unsigned long long)report.queries[i],
		       tac_board_outcome_name((tac_board_outcome)i));
	TEST_ASSERT_EQUAL(0, wrong);
	TEST_ASSERT_EQUAL(0, stale_answers);
	// Faults did occur; their number depends on the machine.
	TEST_ASSERT_GREATER_THAN(ENOUGH, answers[TAC_OVERLAP_NONE] + answers[TAC_OVERLAP_HIT]);
	TEST_ASSERT_GREATER_THAN(ENOUGH, answers[TAC_OVERLAP_UNKNOWN]);
	TEST_ASSERT_GREATER_THAN(1, report.connections);
	TEST_ASSERT_GREATER_THAN(1,
				 tac_virtual_usb_fault_count(device) + tac_virtual_board_fault_count(model));
}

int main(int argc, char **argv)
{
	seconds = argc > 1 ? atoi(argv[1]) : test_long() ? 4 : 2;
	UNITY_BEGIN();
	RUN_TEST(no_fault_of_the_board_gives_a_wrong_answer_and_it_recovers);
	return UNITY_END();
}
