// The board as a collider, over the real libusb and against a virtual board: its answers, every way in which
// a query can fail, and how it recovers.
#include "tests/support/board_fixture.h"

#include "collision/chip_collider.h"
#include "tests/support/allocations.h"

#include <pthread.h>
#include <string.h>

static tac_virtual_board_def virtual_def;
static tac_board_def def;

void setUp(void)
{
	virtual_def = tac_virtual_board_def_default();
	virtual_def.memory_bytes = UINT32_C(4) << 20;
	def = tac_board_def_default();
	def.connect_ns = PATIENCE_NS;
	set_up_board(&virtual_def, &def);
	find_expected();
}

void tearDown(void)
{
	tear_down_board();
}

// Replaces the board by one with other properties.
static void replace_board(void)
{
	tear_down_board();
	set_up_board(&virtual_def, &def);
	find_expected();
}

static void the_board_the_model_and_doptree_give_the_same_pairs_and_counts(void)
{
	const tac_collider *chip = tac_chip_collider(), *doptree = tac_collider_find("doptree");
	const tac_budget unlimited = {0, 0};
	tac_context_def context_def = tac_context_def_default();
	tac_context *by_chip, *by_tree;
	tac_shape *chip_a, *chip_b, *tree_a, *tree_b;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context_def, &by_chip));
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context_def, &by_tree));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(chip, mesh_a, &chip_a));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(chip, mesh_b, &chip_b));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(doptree, mesh_a, &tree_a));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(doptree, mesh_b, &tree_b));
	build_shapes();
	by_tree->coherent = false;
	int64_t pairs = 0;
	for (int i = 0; i < POSES; i++)
		for (int m = 0; m < 3; m++) {
			tac_query_mode mode = (tac_query_mode)m;
			tac_overlap contact = query_pose(i, mode, 0);
			TEST_ASSERT_EQUAL(expected[i], contact);
			TEST_ASSERT_EQUAL(contact, tac_collider_query(chip, by_chip, chip_a, chip_b,
								      &poses[i], mode, unlimited));
			TEST_ASSERT_EQUAL(contact, tac_collider_query(doptree, by_tree, tree_a, tree_b,
								      &poses[i], mode, unlimited));
			// The same traversal: the same pairs in the same order, and the same counters.
			TEST_ASSERT_EQUAL(by_chip->pair_count, context->pair_count);
			TEST_ASSERT_EQUAL(by_tree->pair_count, context->pair_count);
			if (context->pair_count > 0) {
				TEST_ASSERT_EQUAL_INT32_ARRAY(by_chip->fixed_ids, context->fixed_ids,
							      (uint32_t)context->pair_count);
				TEST_ASSERT_EQUAL_INT32_ARRAY(by_chip->moving_ids, context->moving_ids,
							      (uint32_t)context->pair_count);
			}
			uint64_t on_board[TAC_CHIP_COUNTER_COUNT], in_model[TAC_CHIP_COUNTER_COUNT];
			tac_board_chip_counters(context, on_board);
			tac_chip_collider_counters(by_chip, in_model);
			TEST_ASSERT_EQUAL_UINT64_ARRAY(in_model, on_board, TAC_CHIP_COUNTER_COUNT);
			TEST_ASSERT_EQUAL_MEMORY(&by_chip->counters, &context->counters,
						 sizeof context->counters);
			TEST_ASSERT_EQUAL(by_tree->counters.overlap_tests, context->counters.overlap_tests);
			TEST_ASSERT_EQUAL(by_tree->counters.transforms, context->counters.transforms);
			pairs += m == TAC_QUERY_PAIRS ? context->pair_count : 0;
		}
	TEST_ASSERT_GREATER_THAN(1000, pairs);
	TEST_ASSERT_EQUAL(3 * POSES, outcome_count(TAC_BOARD_ANSWERED));
	tac_shape_destroy(&chip_a);
	tac_shape_destroy(&chip_b);
	tac_shape_destroy(&tree_a);
	tac_shape_destroy(&tree_b);
	tac_context_destroy(&by_chip);
	tac_context_destroy(&by_tree);
}

// A pose in contact with more than one pair.
static int touching_pose(void)
{
	int i = 0;
	while (i < POSES - 1 && expected_pairs[i] < 2)
		i++;
	TEST_ASSERT_GREATER_THAN(1, expected_pairs[i]);
	return i;
}

typedef struct fault_case {
	uint8_t endpoint;
	tac_virtual_fault fault;
	tac_virtual_board_fault board_fault;
	tac_board_outcome outcome, alternative;
} fault_case;

#define OUT TAC_BOARD_OUT_ENDPOINT
#define IN  TAC_BOARD_IN_ENDPOINT

static const fault_case fault_cases[] = {
	{IN, TAC_VIRTUAL_FAULT_STALL, 0, TAC_BOARD_STALLED, TAC_BOARD_STALLED},
	{OUT, TAC_VIRTUAL_FAULT_STALL, 0, TAC_BOARD_STALLED, TAC_BOARD_STALLED},
	{IN, TAC_VIRTUAL_FAULT_BUS_ERROR, 0, TAC_BOARD_BUS_ERROR, TAC_BOARD_BUS_ERROR},
	{OUT, TAC_VIRTUAL_FAULT_BUS_ERROR, 0, TAC_BOARD_BUS_ERROR, TAC_BOARD_BUS_ERROR},
	{IN, TAC_VIRTUAL_FAULT_SHORT, 0, TAC_BOARD_SHORT_ANSWER, TAC_BOARD_SHORT_ANSWER},
	{OUT, TAC_VIRTUAL_FAULT_SHORT, 0, TAC_BOARD_DENIED, TAC_BOARD_DENIED},
	{IN, TAC_VIRTUAL_FAULT_CORRUPT, 0, TAC_BOARD_CORRUPT,
	 TAC_BOARD_SHORT_ANSWER}, // a flipped bit in the length makes it short
	{OUT, TAC_VIRTUAL_FAULT_CORRUPT, 0, TAC_BOARD_DENIED, TAC_BOARD_DENIED},
	{0, TAC_VIRTUAL_FAULT_NONE, TAC_VIRTUAL_BOARD_WRONG_SEQUENCE, TAC_BOARD_OUT_OF_ORDER,
	 TAC_BOARD_OUT_OF_ORDER},
	{0, TAC_VIRTUAL_FAULT_NONE, TAC_VIRTUAL_BOARD_FALSE_REFUSAL, TAC_BOARD_DENIED, TAC_BOARD_DENIED},
	{0, TAC_VIRTUAL_FAULT_NONE, TAC_VIRTUAL_BOARD_WRONG_HITS, TAC_BOARD_IMPOSSIBLE, TAC_BOARD_IMPOSSIBLE},
	{0, TAC_VIRTUAL_FAULT_NONE, TAC_VIRTUAL_BOARD_WRONG_STATUS, TAC_BOARD_IMPOSSIBLE,
	 TAC_BOARD_IMPOSSIBLE},
};

static void every_fault_makes_its_query_unknown_and_is_counted_and_recovered_from(void)
{
	build_shapes();
	const int pose = touching_pose();
	for (size_t i = 0; i < sizeof fault_cases / sizeof fault_cases[0]; i++) {
		const fault_case *f = &fault_cases[i];
		char which[64];
		snprintf(which, sizeof which, "case %zu", i);
		const uint64_t connections = tac_board_report_read(board).connections;
		const uint64_t before = outcome_count(f->outcome) + outcome_count(f->alternative);
		tac_overlap contact = TAC_OVERLAP_NONE;
		// If this thread is preempted between the injection and the query, the supervisor may notice
		// first.
		for (int attempt = 0; attempt < 20; attempt++) {
			await_answer(pose);
			if (f->endpoint != 0)
				tac_virtual_usb_inject(device, f->endpoint, f->fault, 0);
			else
				tac_virtual_board_inject(model, f->board_fault);
			contact = query_pose(pose, TAC_QUERY_PAIRS, 0);
			if (outcome_count(f->outcome) + outcome_count(f->alternative) > before)
				break;
			TEST_ASSERT_TRUE(contact == TAC_OVERLAP_UNKNOWN || contact == expected[pose]);
		}
		TEST_ASSERT_EQUAL_MESSAGE(TAC_OVERLAP_UNKNOWN, contact, which);
		const uint64_t after = outcome_count(f->outcome) + outcome_count(f->alternative);
		TEST_ASSERT_EQUAL_MESSAGE(before + (f->outcome == f->alternative ? 2 : 1), after, which);
		await_answer(pose);
		TEST_ASSERT_GREATER_THAN_MESSAGE(connections, tac_board_report_read(board).connections,
						 which);
	}
	TEST_ASSERT_GREATER_OR_EQUAL(8, tac_virtual_usb_fault_count(device));
	TEST_ASSERT_GREATER_OR_EQUAL(4, tac_virtual_board_fault_count(model));
}

static void a_lost_connection_is_two_log_lines(void)
{
	build_shapes();
	await_answer(0);
	logged_lines = 0;
	tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_FAULT_STALL, 0);
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, query_pose(0, TAC_QUERY_PAIRS, 0));
	await_answer(0);
	TEST_ASSERT_EQUAL(2, logged_lines); // lost; connected again
	TEST_ASSERT_NOT_NULL(strstr(logged, "board: V1 connected again after "));
}

// The limits of a connection are so long that no machine exceeds them: here only the deadlines of queries
// pass.
static void a_late_answer_is_unknown_and_costs_no_connection(void)
{
	def.answer_ns = def.abort_ns = PATIENCE_NS;
	replace_board();
	build_shapes();
	const int pose = touching_pose();
	await_answer(pose);
	for (int i = 0; i < 5; i++) {
		tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_FAULT_SILENCE, 0);
		TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, query_pose(pose, TAC_QUERY_PAIRS, 2 * TAC_NS_PER_MS));
		tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_FAULT_NONE, 0);
		await_answer(pose); // includes the time of the abort
	}
	TEST_ASSERT_EQUAL(5, outcome_count(TAC_BOARD_LATE));
	TEST_ASSERT_EQUAL(1, tac_board_report_read(board).connections);
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN,
			  tac_collider_query(engine, context, shape_a, shape_b, &poses[pose], TAC_QUERY_PAIRS,
					     (tac_budget){.deadline_ns = 1}));
	TEST_ASSERT_EQUAL(6, outcome_count(TAC_BOARD_LATE));
}

static void an_unresponsive_board_is_reconnected(void)
{
	tac_virtual_board_fault faults[2] = {TAC_VIRTUAL_BOARD_NO_ANSWER, TAC_VIRTUAL_BOARD_NO_FAULT};
	build_shapes();
	const int pose = touching_pose();
	for (int i = 0; i < 2; i++) {
		await_answer(pose);
		tac_virtual_board_inject(model, faults[i]);
		if (faults[i] == TAC_VIRTUAL_BOARD_NO_FAULT)
			tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_FAULT_SILENCE, SILENCE_NS);
		TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, query_pose(pose, TAC_QUERY_PAIRS, WITHIN_NS));
		const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
		while (query_pose(pose, TAC_QUERY_PAIRS, WITHIN_NS) == TAC_OVERLAP_UNKNOWN)
			TEST_ASSERT_TRUE(tac_clock_now_ns() < end_ns);
	}
	// In the first round the board ignored one query and answered the abort; in the second it was silent
	// for SILENCE_NS.
	TEST_ASSERT_GREATER_OR_EQUAL(1, outcome_count(TAC_BOARD_UNRESPONSIVE));
	TEST_ASSERT_EQUAL(1 + outcome_count(TAC_BOARD_UNRESPONSIVE),
			  tac_board_report_read(board).connections);
}

static void *replug(void *unused)
{
	(void)unused;
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 20 * TAC_NS_PER_MS);
	unplug();
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 30 * TAC_NS_PER_MS);
	plug();
	return NULL;
}

static void a_board_that_is_unplugged_during_a_query_comes_back(void)
{
	build_shapes();
	for (int i = 0; i < 3; i++) {
		await_answer(i);
		tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_FAULT_SILENCE, 300 * TAC_NS_PER_MS);
		pthread_t hand;
		pthread_create(&hand, NULL, replug, NULL);
		tac_overlap contact = query_pose(i, TAC_QUERY_PAIRS, 0);
		TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, contact);
		TEST_ASSERT_GREATER_THAN(0, await_answer(i)); // unknown while it is unplugged
		pthread_join(hand, NULL);
	}
	TEST_ASSERT_GREATER_OR_EQUAL(1, outcome_count(TAC_BOARD_UNPLUGGED)); // or noticed before the query
	TEST_ASSERT_EQUAL(4, tac_board_report_read(board).connections);
}

static void a_board_unplugged_between_queries_is_noticed(void)
{
	build_shapes();
	await_answer(0);
	unplug();
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	while (tac_board_report_read(board).connected)
		TEST_ASSERT_TRUE(tac_clock_now_ns() < end_ns);
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, query_pose(0, TAC_QUERY_PAIRS, 0));
	TEST_ASSERT_EQUAL(1, outcome_count(TAC_BOARD_NOT_CONNECTED));
	plug();
	await_answer(0);
}

static void a_tree_that_arrives_damaged_is_loaded_again(void)
{
	tac_virtual_board_inject(model, TAC_VIRTUAL_BOARD_MEMORY_ERROR);
	build_shapes();
	TEST_ASSERT_EQUAL(1, tac_virtual_board_fault_count(model));
	TEST_ASSERT_EQUAL(1, tac_board_report_read(board).failed_connections);
	for (int i = 0; i < POSES; i++)
		TEST_ASSERT_EQUAL(0, await_answer(i));
}

static void without_a_board_building_fails_with_a_log_line(void)
{
	def.connect_ns = 50 * TAC_NS_PER_MS;
	replace_board();
	unplug();
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_shape_build(engine, mesh_a, &shape_a));
	TEST_ASSERT_NULL(shape_a);
	TEST_ASSERT_EQUAL_STRING("board: expected a board 1209:0001 to take a tree, found none for 50 ms",
				 logged);
	plug();
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	while (tac_shape_build(engine, mesh_a, &shape_a) != TAC_OK)
		TEST_ASSERT_TRUE(tac_clock_now_ns() < end_ns);
	while (tac_shape_build(engine, mesh_b, &shape_b) != TAC_OK) // 50 ms may be too few for it
		TEST_ASSERT_TRUE(tac_clock_now_ns() < end_ns);
	await_answer(0);
}

// As an FX2LP has them: 2 (OUT) and 6 (IN).
static void a_board_with_other_endpoints_answers(void)
{
	unplug();
	tac_virtual_usb_destroy(&device);
	static uint8_t configuration[32];
	memcpy(configuration, model->configuration_descriptor, sizeof configuration);
	TEST_ASSERT_EQUAL_HEX8(OUT, configuration[20]);
	TEST_ASSERT_EQUAL_HEX8(IN, configuration[27]);
	configuration[20] = 0x02;
	configuration[27] = 0x86;
	model->configuration_descriptor = configuration;
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_usb_create(model, &device));
	plug();
	build_shapes();
	for (int i = 0; i < 4; i++)
		await_answer(i);
}

static void a_tree_that_does_not_fit_the_memory_is_refused(void)
{
	virtual_def.memory_bytes = 4096;
	replace_board();
	TEST_ASSERT_EQUAL(TAC_ERROR_MEMORY, tac_shape_build(engine, mesh_a, &shape_a));
	TEST_ASSERT_NOT_NULL(strstr(logged, "board: expected memory for a tree of "));
}

static void more_hits_than_a_message_holds_are_unknown(void)
{
	def.message_max = 4096;
	replace_board();
	build_shapes();
	const int32_t most = (4096 - TAC_BOARD_OVERHEAD - TAC_BOARD_RESULT_HEAD) / 8;
	poses[0] = identity_motion(0.3F, 0, 0.01F);
	tac_mesh *mesh;
	tac_shape *fine;
	TEST_ASSERT_EQUAL(TAC_OK,
			  tac_mesh_build_torus(1.0F, 0.3F, TORUS_SEGMENTS, TORUS_SEGMENTS / 2, &mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(engine, mesh, &fine));
	tac_overlap contact = tac_collider_query(engine, context, fine, fine, &poses[0], TAC_QUERY_PAIRS,
						 (tac_budget){0, 0});
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, contact);
	TEST_ASSERT_EQUAL(1, outcome_count(TAC_BOARD_TRUNCATED));
	TEST_ASSERT_EQUAL(most, context->pair_count);
	TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, tac_collider_query(engine, context, fine, fine, &poses[0],
							      TAC_QUERY_FIRST, (tac_budget){0, 0}));
	TEST_ASSERT_EQUAL(1, tac_board_report_read(board).connections);
	tac_shape_destroy(&fine);
	tac_mesh_destroy(&mesh);
}

static void errors_of_the_chip_are_unknown(void)
{
	virtual_def.sram_words = 8;
	replace_board();
	build_shapes();
	const int pose = touching_pose();
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, query_pose(pose, TAC_QUERY_PAIRS, 0));
	TEST_ASSERT_EQUAL(1, outcome_count(TAC_BOARD_CHIP_ERROR));
	virtual_def.sram_words = 65536;
	virtual_def.hit_capacity = 1;
	replace_board();
	build_shapes();
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, query_pose(pose, TAC_QUERY_PAIRS, 0));
	TEST_ASSERT_EQUAL(1, outcome_count(TAC_BOARD_CHIP_ERROR));
}

static void a_budget_of_nodes_stops_the_chip(void)
{
	build_shapes();
	const int pose = touching_pose();
	tac_budget one = {.nodes = 1}, plenty = {.nodes = 1000000};
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, tac_collider_query(engine, context, shape_a, shape_b,
								  &poses[pose], TAC_QUERY_PAIRS, one));
	TEST_ASSERT_FALSE(context->pending);
	TEST_ASSERT_EQUAL(1, outcome_count(TAC_BOARD_CHIP_ERROR));
	TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, tac_collider_query(engine, context, shape_a, shape_b, &poses[pose],
							      TAC_QUERY_PAIRS, plenty));
}

static void *query_often(void *user)
{
	tac_context *own = user;
	for (int i = 0; i < 200; i++) {
		tac_overlap contact = tac_collider_query(engine, own, shape_a, shape_b, &poses[i % POSES],
							 TAC_QUERY_PAIRS, (tac_budget){0, 0});
		if (contact != TAC_OVERLAP_UNKNOWN && contact != expected[i % POSES])
			return own;
	}
	return NULL;
}

static void two_threads_get_the_right_answer_or_unknown(void)
{
	tac_context_def context_def = tac_context_def_default();
	tac_context *other;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context_def, &other));
	build_shapes();
	pthread_t thread;
	void *wrong;
	pthread_create(&thread, NULL, query_often, other);
	TEST_ASSERT_NULL(query_often(context));
	pthread_join(thread, &wrong);
	TEST_ASSERT_NULL(wrong);
	TEST_ASSERT_EQUAL(400, outcome_count(TAC_BOARD_ANSWERED) + outcome_count(TAC_BOARD_BUSY));
	tac_context_destroy(&other);
}

static void a_query_does_not_allocate(void)
{
	build_shapes();
	await_answer(0);
	const int before = allocations;
	for (int i = 0; i < 50; i++)
		query_pose(i, TAC_QUERY_PAIRS, i % 2 == 0 ? 0 : 50 * TAC_NS_PER_US);
	tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_FAULT_STALL, 0);
	query_pose(0, TAC_QUERY_PAIRS, 0);
	TEST_ASSERT_EQUAL(before, allocations);
}

static void shapes_are_built_and_destroyed_in_any_order(void)
{
	build_shapes();
	await_answer(0);
	for (int i = 0; i < 5; i++) {
		tac_shape_destroy(i % 2 == 0 ? &shape_a : &shape_b);
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(engine, i % 2 == 0 ? mesh_a : mesh_b,
							  i % 2 == 0 ? &shape_a : &shape_b));
		TEST_ASSERT_EQUAL(0, await_answer(i));
	}
	tac_shape_destroy(&shape_a);
	tac_shape_destroy(&shape_b); // the last one disconnects the board
	TEST_ASSERT_FALSE(tac_board_report_read(board).connected);
	build_shapes();
	TEST_ASSERT_EQUAL(0, await_answer(0));
	TEST_ASSERT_EQUAL(2, tac_board_report_read(board).connections);
}

static void board_is_found_by_name_after_it_is_added(void)
{
	TEST_ASSERT_NULL(tac_collider_find("board"));
	TEST_ASSERT_EQUAL(TAC_OK, tac_collider_add(engine));
	TEST_ASSERT_EQUAL_PTR(engine, tac_collider_find("board"));
	TEST_ASSERT_EQUAL(TAC_OK, tac_collider_add(engine));
	const tac_collider namesake = *engine;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_collider_add(&namesake));
	int last = 0;
	while (tac_collider_at(last))
		last++;
	TEST_ASSERT_EQUAL_PTR(engine, tac_collider_at(last - 1));
	tac_collider_remove(engine);
	TEST_ASSERT_NULL(tac_collider_find("board"));
	TEST_ASSERT_NULL(tac_collider_at(last - 1));
	TEST_ASSERT_NOT_NULL(tac_collider_find("wide"));
}

static void invalid_definitions_are_refused(void)
{
	tac_board *none;
	tac_virtual_model *no_model;
	def.message_max = 100;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_board_create(&def, &none));
	TEST_ASSERT_NULL(none);
	virtual_def.serial = "with space";
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_virtual_board_create(&virtual_def, &no_model));
	TEST_ASSERT_NULL(no_model);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_board_the_model_and_doptree_give_the_same_pairs_and_counts);
	RUN_TEST(every_fault_makes_its_query_unknown_and_is_counted_and_recovered_from);
	RUN_TEST(a_lost_connection_is_two_log_lines);
	RUN_TEST(a_late_answer_is_unknown_and_costs_no_connection);
	RUN_TEST(an_unresponsive_board_is_reconnected);
	RUN_TEST(a_board_that_is_unplugged_during_a_query_comes_back);
	RUN_TEST(a_board_unplugged_between_queries_is_noticed);
	RUN_TEST(a_tree_that_arrives_damaged_is_loaded_again);
	RUN_TEST(without_a_board_building_fails_with_a_log_line);
	RUN_TEST(a_board_with_other_endpoints_answers);
	RUN_TEST(a_tree_that_does_not_fit_the_memory_is_refused);
	RUN_TEST(more_hits_than_a_message_holds_are_unknown);
	RUN_TEST(errors_of_the_chip_are_unknown);
	RUN_TEST(a_budget_of_nodes_stops_the_chip);
	RUN_TEST(two_threads_get_the_right_answer_or_unknown);
	RUN_TEST(a_query_does_not_allocate);
	RUN_TEST(shapes_are_built_and_destroyed_in_any_order);
	RUN_TEST(board_is_found_by_name_after_it_is_added);
	RUN_TEST(invalid_definitions_are_refused);
	return UNITY_END();
}
