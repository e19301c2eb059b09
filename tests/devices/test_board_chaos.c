// A 1 kHz loop on a board that a second thread stalls, silences, cuts short, corrupts, makes lie and pulls
// out at random. Every answer that is not unknown must be the truth; the board must come back after
// everything.
//	test_board_chaos [SECONDS]
#include "tests/board_fixture.h"

#include "rt/loop.h"
#include "tests/limits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int seconds = TAC_TEST_SANITIZED ? 2 : 4;
static atomic_bool over;
static atomic_int planted[TAC_VIRTUAL_FAULT_COUNT + TAC_VIRTUAL_BOARD_LIE_COUNT + 1];
static uint64_t answers[3], wrong, none_for_lost;

void setUp(void)
{
	tac_virtual_board_def virtual_def = tac_virtual_board_def_default();
	virtual_def.memory_bytes = UINT32_C(4) << 20;
	tac_board_def def = tac_board_def_default();
	def.connect_ns = PATIENCE_NS;
	def.abort_ns = 20 * TAC_NS_PER_MS;
	set_up_board(&virtual_def, &def);
	find_truth();
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

// Plants something every few milliseconds, mostly while the board works, sometimes while it is coming back.
static void *make_trouble(void *user)
{
	tac_rng rng = tac_rng_seed(11, 11);
	(void)user;
	while (!atomic_load(&over)) {
		const uint8_t endpoint =
			tac_rng_below(&rng, 2) == 0 ? TAC_BOARD_OUT_ENDPOINT : TAC_BOARD_IN_ENDPOINT;
		uint32_t what = tac_rng_below(&rng, 13);
		if (what == 12) {
			unplug();
			atomic_fetch_add(&planted[TAC_VIRTUAL_FAULT_COUNT + TAC_VIRTUAL_BOARD_LIE_COUNT], 1);
			sleep_ns(tac_rng_below(&rng, 30) * TAC_NS_PER_MS);
			plug();
		} else if (what < TAC_VIRTUAL_FAULT_COUNT) {
			tac_virtual_usb_inject(device, endpoint, (tac_virtual_fault)what,
					       (1 + tac_rng_below(&rng, 60)) * TAC_NS_PER_MS);
			atomic_fetch_add(&planted[what], 1);
		} else {
			what = 1 + tac_rng_below(&rng, TAC_VIRTUAL_BOARD_LIE_COUNT - 1);
			tac_virtual_board_tell_lie(model, (tac_virtual_board_lie)what);
			atomic_fetch_add(&planted[TAC_VIRTUAL_FAULT_COUNT + what], 1);
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
	const uint64_t lost = outcomes(TAC_BOARD_ANSWERED);
	tac_contact contact =
		tac_collider_query(engine, context, shape_a, shape_b, &poses[pose], TAC_QUERY_PAIRS,
				   (tac_budget){.deadline_ns = t->deadline_ns});
	++answers[contact];
	if (contact != TAC_CONTACT_UNKNOWN &&
	    (contact != truth[pose] || context->pair_count != truth_pairs[pose]))
		++wrong;
	// An answer is one that the board gave in this very query.
	if (contact == TAC_CONTACT_NONE && outcomes(TAC_BOARD_ANSWERED) != lost + 1)
		++none_for_lost;
}

static void whatever_happens_to_the_board_no_answer_is_wrong_and_it_comes_back(void)
{
	build_shapes();
	tac_loop_def def = tac_loop_def_default();
	def.spin_ns = 0;
	def.periods = seconds * 1000;
	tac_loop *loop;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
	pthread_t trouble;
	pthread_create(&trouble, NULL, make_trouble, NULL);
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, tick, NULL));
	atomic_store(&over, true);
	pthread_join(trouble, NULL);
	const uint64_t beats = tac_loop_beats(loop);
	tac_loop_destroy(&loop);

	// What is planted and has not struck yet goes; then it must answer again.
	tac_virtual_usb_inject(device, TAC_BOARD_IN_ENDPOINT, TAC_VIRTUAL_WORKS, 0);
	tac_virtual_usb_inject(device, TAC_BOARD_OUT_ENDPOINT, TAC_VIRTUAL_WORKS, 0);
	tac_virtual_board_tell_lie(model, TAC_VIRTUAL_BOARD_HONEST);
	for (int i = 0; i < POSES; ++i)
		await_answer(i);

	tac_board_report report = tac_board_report_read(board);
	printf("%d s: %llu ticks, %llu none, %llu hit, %llu unknown\n", seconds, (unsigned long long)beats,
	       (unsigned long long)answers[TAC_CONTACT_NONE], (unsigned long long)answers[TAC_CONTACT_HIT],
	       (unsigned long long)answers[TAC_CONTACT_UNKNOWN]);
	printf("struck: %llu faults, %llu lies, %d times pulled out; %llu connections, %llu failed ones\n",
	       (unsigned long long)tac_virtual_usb_struck(device),
	       (unsigned long long)tac_virtual_board_lies(model),
	       planted[TAC_VIRTUAL_FAULT_COUNT + TAC_VIRTUAL_BOARD_LIE_COUNT],
	       (unsigned long long)report.connections, (unsigned long long)report.failed_connections);
	for (int i = 0; i < TAC_BOARD_OUTCOME_COUNT; ++i)
		printf("  %8llu %s\n", (unsigned long long)report.queries[i],
		       tac_board_outcome_name((tac_board_outcome)i));
	TEST_ASSERT_EQUAL(0, wrong);
	TEST_ASSERT_EQUAL(0, none_for_lost);
	// That there was something to see; how much depends on the machine.
	TEST_ASSERT_GREATER_THAN(10, answers[TAC_CONTACT_NONE] + answers[TAC_CONTACT_HIT]);
	TEST_ASSERT_GREATER_THAN(10, answers[TAC_CONTACT_UNKNOWN]);
	TEST_ASSERT_GREATER_THAN(1, report.connections);
	TEST_ASSERT_GREATER_THAN(1, tac_virtual_usb_struck(device) + tac_virtual_board_lies(model));
}

int main(int argc, char **argv)
{
	if (argc > 1)
		seconds = atoi(argv[1]);
	UNITY_BEGIN();
	RUN_TEST(whatever_happens_to_the_board_no_answer_is_wrong_and_it_comes_back);
	return UNITY_END();
}
