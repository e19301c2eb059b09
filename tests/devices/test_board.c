// The board as a collider, over the real libusb and against a virtual board: its answers, everything that can
// go wrong with one query, and how it comes back.
#include "tests/board_fixture.h"

#include "collision/chip_collider.h"
#include "tests/allocations.h"

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
	find_truth();
}

void tearDown(void)
{
	tear_down_board();
}

// Another board, with other properties, in place of the first.
static void exchange_board(void)
{
	tear_down_board();
	set_up_board(&virtual_def, &def);
	find_truth();
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
	for (int i = 0; i < POSES; ++i)
		for (int m = 0; m < 3; ++m) {
			tac_query_mode mode = (tac_query_mode)m;
			tac_contact contact = ask(i, mode, 0);
			TEST_ASSERT_EQUAL(truth[i], contact);
			TEST_ASSERT_EQUAL(contact, tac_collider_query(chip, by_chip, chip_a, chip_b,
								      &poses[i], mode, unlimited));
			TEST_ASSERT_EQUAL(contact, tac_collider_query(doptree, by_tree, tree_a, tree_b,
								      &poses[i], mode, unlimited));
			// The same traversal: the same pairs in the same order, and every counter of the
			// chip.
			TEST_ASSERT_EQUAL(by_chip->pair_count, context->pair_count);
			TEST_ASSERT_EQUAL(by_tree->pair_count, context->pair_count);
			if (context->pair_count > 0) {
				TEST_ASSERT_EQUAL_INT32_ARRAY(by_chip->fixed_ids, context->fixed_ids,
							      (uint32_t)context->pair_count);
				TEST_ASSERT_EQUAL_INT32_ARRAY(by_chip->moving_ids, context->moving_ids,
							      (uint32_t)context->pair_count);
			}
			uint64_t on_board[TAC_BOARD_COUNTERS], in_model[TAC_CHIP_COUNTER_COUNT];
			tac_board_chip_counters(context, on_board);
			tac_chip_collider_counters(by_chip, in_model);
			TEST_ASSERT_EQUAL_UINT64_ARRAY(in_model, on_board, TAC_BOARD_COUNTERS);
			TEST_ASSERT_EQUAL_MEMORY(&by_chip->counters, &context->counters,
						 sizeof context->counters);
			TEST_ASSERT_EQUAL(by_tree->counters.overlap_tests, context->counters.overlap_tests);
			TEST_ASSERT_EQUAL(by_tree->counters.transforms, context->counters.transforms);
			pairs += m == TAC_QUERY_PAIRS ? context->pair_count : 0;
		}
	TEST_ASSERT_GREATER_THAN(1000, pairs);
	TEST_ASSERT_EQUAL(3 * POSES, outcomes(TAC_BOARD_ANSWERED));
	tac_shape_destroy(&chip_a);
	tac_shape_destroy(&chip_b);
	tac_shape_destroy(&tree_a);
	tac_shape_destroy(&tree_b);
	tac_context_destroy(&by_chip);
	tac_context_destroy(&by_tree);
}

// A pose in contact, with more than one pair.
static int touching_pose(void)
{
	int i = 0;
	while (i < POSES - 1 && truth_pairs[i] < 2)
		++i;
	TEST_ASSERT_GREATER_THAN(1, truth_pairs[i]);
	return i;
}

typedef struct fault_case {
	uint8_t endpoint;
	tac_virtual_fault fault;
	tac_virtual_board_lie lie;
	tac_board_outcome expected, or_else;
} fault_case;

#define OUT TAC_BOARD_OUT_ENDPOINT
#define IN  TAC_BOARD_IN_ENDPOINT

static const fault_case fault_cases[] = {
	{IN, TAC_VIRTUAL_STALLS, 0, TAC_BOARD_STALLED, TAC_BOARD_STALLED},
	{OUT, TAC_VIRTUAL_STALLS, 0, TAC_BOARD_STALLED, TAC_BOARD_STALLED},
	{IN, TAC_VIRTUAL_BREAKS, 0, TAC_BOARD_BROKEN, TAC_BOARD_BROKEN},
	{OUT, TAC_VIRTUAL_BREAKS, 0, TAC_BOARD_BROKEN, TAC_BOARD_BROKEN},
	{IN, TAC_VIRTUAL_SHORT, 0, TAC_BOARD_CUT, TAC_BOARD_CUT},
	{OUT, TAC_VIRTUAL_SHORT, 0, TAC_BOARD_DENIED, TAC_BOARD_DENIED},
	{IN, TAC_VIRTUAL_GARBAGE, 0, TAC_BOARD_GARBLED,
	 TAC_BOARD_CUT}, // a flipped bit of the length is a cut
	{OUT, TAC_VIRTUAL_GARBAGE, 0, TAC_BOARD_DENIED, TAC_BOARD_DENIED},
	{0, TAC_VIRTUAL_WORKS, TAC_VIRTUAL_BOARD_SEQUENCE, TAC_BOARD_ORDER, TAC_BOARD_ORDER},
	{0, TAC_VIRTUAL_WORKS, TAC_VIRTUAL_BOARD_REFUSAL, TAC_BOARD_DENIED, TAC_BOARD_DENIED},
	{0, TAC_VIRTUAL_WORKS, TAC_VIRTUAL_BOARD_HITS, TAC_BOARD_NONSENSE, TAC_BOARD_NONSENSE},
	{0, TAC_VIRTUAL_WORKS, TAC_VIRTUAL_BOARD_VERDICT, TAC_BOARD_NONSENSE, TAC_BOARD_NONSENSE},
};

static void every_fault_makes_its_query_unknown_is_counted_and_logged_and_overcome(void)
{
	build_shapes();
	const int pose = touching_pose();
	for (size_t i = 0; i < sizeof fault_cases / sizeof fault_cases[0]; ++i) {
		const fault_case *f = &fault_cases[i];
		char which[64];
		snprintf(which, sizeof which, "case %zu", i);
		const uint64_t connections = tac_board_report_read(board).connections;
		const uint64_t before = outcomes(f->expected) + outcomes(f->or_else);
		tac_contact contact = TAC_CONTACT_NONE;
		// Where this thread is held up between planting and asking, the keeper may notice first.
		for (int attempt = 0; attempt < 20; ++attempt) {
			await_answer(pose);
			if (f->endpoint != 0)
				tac_virtual_usb_inject(device, f->endpoint, f->fault, 0);
			else
				tac_virtual_board_tell_lie(model, f->lie);
			contact = ask(pose, TAC_QUERY_PAIRS, 0);
			if (outcomes(f->expected) + outcomes(f->or_else) > before)
				break;
			TEST_ASSERT_TRUE(contact == TAC_CONTACT_UNKNOWN || contact == truth[pose]);
		}
		TEST_ASSERT_EQUAL_MESSAGE(TAC_CONTACT_UNKNOWN, contact, which);
		const uint64_t after = outcomes(f->expected) + outcomes(f->or_else);
		TEST_ASSERT_EQUAL_MESSAGE(before + (f->expected == f->or_else ? 2 : 1), after, which);
		await_answer(pose);
		TEST_ASSERT_GREATER_THAN_MESSAGE(connections, tac_board_report_read(board).connections,
						 which);
	}
	TEST_ASSERT_GREATER_OR_EQUAL(8, tac_virtual_usb_struck(device));
	TEST_ASSERT_GREATER_OR_EQUAL(4, tac_virtual_board_lies(model));
}

static void a_lost_connection_is_two_log_lines(void)
{
	build_shapes();
	await_answer(0);
	logged_lines = 0;
	tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_STALLS, 0);
	TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN, ask(0, TAC_QUERY_PAIRS, 0));
	await_answer(0);
	TEST_ASSERT_EQUAL(2, logged_lines); // lost; connected again
	TEST_ASSERT_NOT_NULL(strstr(logged, "board: V1 connected again after "));
}

static void a_late_answer_is_unknown_and_costs_no_connection(void)
{
	build_shapes();
	const int pose = touching_pose();
	await_answer(pose);
	for (int i = 0; i < 5; ++i) {
		tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_SILENT, 80 * TAC_NS_PER_MS);
		TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN, ask(pose, TAC_QUERY_PAIRS, 2 * TAC_NS_PER_MS));
		await_answer(pose); // with all the time that the abort takes
	}
	TEST_ASSERT_EQUAL(5, outcomes(TAC_BOARD_LATE));
	TEST_ASSERT_EQUAL(1, tac_board_report_read(board).connections);
	TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN,
			  tac_collider_query(engine, context, shape_a, shape_b, &poses[pose], TAC_QUERY_PAIRS,
					     (tac_budget){.deadline_ns = 1}));
	TEST_ASSERT_EQUAL(6, outcomes(TAC_BOARD_LATE));
}

static void a_board_that_answers_nothing_any_more_is_connected_again(void)
{
	tac_virtual_board_lie lies[2] = {TAC_VIRTUAL_BOARD_SLEEP, TAC_VIRTUAL_BOARD_HONEST};
	build_shapes();
	const int pose = touching_pose();
	for (int i = 0; i < 2; ++i) {
		await_answer(pose);
		tac_virtual_board_tell_lie(model, lies[i]);
		if (lies[i] == TAC_VIRTUAL_BOARD_HONEST)
			tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_SILENT, 500 * TAC_NS_PER_MS);
		TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN, ask(pose, TAC_QUERY_PAIRS, 5 * TAC_NS_PER_MS));
		const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
		while (ask(pose, TAC_QUERY_PAIRS, 5 * TAC_NS_PER_MS) == TAC_CONTACT_UNKNOWN)
			TEST_ASSERT_TRUE(tac_clock_now_ns() < end_ns);
	}
	// The first slept over one query and answered the abort; the second answered nothing for 500 ms.
	TEST_ASSERT_GREATER_OR_EQUAL(1, outcomes(TAC_BOARD_STUCK));
	TEST_ASSERT_EQUAL(1 + outcomes(TAC_BOARD_STUCK), tac_board_report_read(board).connections);
}

static void *pull_out_and_put_back(void *unused)
{
	(void)unused;
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 20 * TAC_NS_PER_MS);
	unplug();
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 30 * TAC_NS_PER_MS);
	plug();
	return NULL;
}

static void a_board_that_is_pulled_out_in_the_middle_of_a_query_comes_back(void)
{
	build_shapes();
	for (int i = 0; i < 3; ++i) {
		await_answer(i);
		tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_SILENT, 300 * TAC_NS_PER_MS);
		pthread_t hand;
		pthread_create(&hand, NULL, pull_out_and_put_back, NULL);
		tac_contact contact = ask(i, TAC_QUERY_PAIRS, 0);
		TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN, contact);
		TEST_ASSERT_GREATER_THAN(0, await_answer(i)); // unknown as long as it is away
		pthread_join(hand, NULL);
	}
	TEST_ASSERT_GREATER_OR_EQUAL(1, outcomes(TAC_BOARD_GONE)); // or noticed before it was asked
	TEST_ASSERT_EQUAL(4, tac_board_report_read(board).connections);
}

static void a_board_pulled_out_between_queries_is_noticed(void)
{
	build_shapes();
	await_answer(0);
	unplug();
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	while (tac_board_report_read(board).connected)
		TEST_ASSERT_TRUE(tac_clock_now_ns() < end_ns);
	TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN, ask(0, TAC_QUERY_PAIRS, 0));
	TEST_ASSERT_EQUAL(1, outcomes(TAC_BOARD_ABSENT));
	plug();
	await_answer(0);
}

static void a_tree_that_arrives_damaged_is_loaded_again(void)
{
	tac_virtual_board_tell_lie(model, TAC_VIRTUAL_BOARD_MEMORY);
	build_shapes();
	TEST_ASSERT_EQUAL(1, tac_virtual_board_lies(model));
	TEST_ASSERT_EQUAL(1, tac_board_report_read(board).failed_connections);
	for (int i = 0; i < POSES; ++i)
		TEST_ASSERT_EQUAL(0, await_answer(i));
}

static void without_a_board_building_fails_with_a_line(void)
{
	def.connect_ns = 50 * TAC_NS_PER_MS;
	exchange_board();
	unplug();
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_shape_build(engine, mesh_a, &shape_a));
	TEST_ASSERT_NULL(shape_a);
	TEST_ASSERT_EQUAL_STRING("board: expected a board 1209:0001 to take a tree, found none for 50 ms",
				 logged);
	plug();
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	while (tac_shape_build(engine, mesh_a, &shape_a) != TAC_OK)
		TEST_ASSERT_TRUE(tac_clock_now_ns() < end_ns);
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(engine, mesh_b, &shape_b));
	await_answer(0);
}

static void a_tree_that_does_not_fit_the_memory_is_refused(void)
{
	virtual_def.memory_bytes = 4096;
	exchange_board();
	TEST_ASSERT_EQUAL(TAC_ERROR_MEMORY, tac_shape_build(engine, mesh_a, &shape_a));
	TEST_ASSERT_NOT_NULL(strstr(logged, "board: expected memory for a tree of "));
}

static void more_hits_than_a_message_holds_are_unknown(void)
{
	def.message_max = 4096;
	exchange_board();
	build_shapes();
	const int32_t most = (4096 - TAC_BOARD_OVERHEAD - TAC_BOARD_RESULT_HEAD) / 8;
	poses[0] = identity_motion(0.3F, 0, 0.01F);
	tac_mesh *mesh;
	tac_shape *fine;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1.0F, 0.3F, 80, 40, &mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(engine, mesh, &fine));
	tac_contact contact = tac_collider_query(engine, context, fine, fine, &poses[0], TAC_QUERY_PAIRS,
						 (tac_budget){0, 0});
	TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN, contact);
	TEST_ASSERT_EQUAL(1, outcomes(TAC_BOARD_TRUNCATED));
	TEST_ASSERT_EQUAL(most, context->pair_count);
	TEST_ASSERT_EQUAL(TAC_CONTACT_HIT, tac_collider_query(engine, context, fine, fine, &poses[0],
							      TAC_QUERY_FIRST, (tac_budget){0, 0}));
	TEST_ASSERT_EQUAL(1, tac_board_report_read(board).connections);
	tac_shape_destroy(&fine);
	tac_mesh_destroy(&mesh);
}

static void the_chips_own_errors_are_unknown(void)
{
	virtual_def.sram_words = 8;
	exchange_board();
	build_shapes();
	const int pose = touching_pose();
	TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN, ask(pose, TAC_QUERY_PAIRS, 0));
	TEST_ASSERT_EQUAL(1, outcomes(TAC_BOARD_CHIP));
	virtual_def.sram_words = 65536;
	virtual_def.hit_capacity = 1;
	exchange_board();
	build_shapes();
	TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN, ask(pose, TAC_QUERY_PAIRS, 0));
	TEST_ASSERT_EQUAL(1, outcomes(TAC_BOARD_CHIP));
}

static void a_budget_of_nodes_stops_the_chip(void)
{
	build_shapes();
	const int pose = touching_pose();
	tac_budget one = {.nodes = 1}, plenty = {.nodes = 1000000};
	TEST_ASSERT_EQUAL(TAC_CONTACT_UNKNOWN, tac_collider_query(engine, context, shape_a, shape_b,
								  &poses[pose], TAC_QUERY_PAIRS, one));
	TEST_ASSERT_FALSE(context->pending);
	TEST_ASSERT_EQUAL(1, outcomes(TAC_BOARD_CHIP));
	TEST_ASSERT_EQUAL(TAC_CONTACT_HIT, tac_collider_query(engine, context, shape_a, shape_b, &poses[pose],
							      TAC_QUERY_PAIRS, plenty));
}

static void *ask_often(void *user)
{
	tac_context *own = user;
	for (int i = 0; i < 200; ++i) {
		tac_contact contact = tac_collider_query(engine, own, shape_a, shape_b, &poses[i % POSES],
							 TAC_QUERY_PAIRS, (tac_budget){0, 0});
		if (contact != TAC_CONTACT_UNKNOWN && contact != truth[i % POSES])
			return own;
	}
	return NULL;
}

static void two_threads_get_the_truth_or_unknown(void)
{
	tac_context_def context_def = tac_context_def_default();
	tac_context *other;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context_def, &other));
	build_shapes();
	pthread_t thread;
	void *wrong;
	pthread_create(&thread, NULL, ask_often, other);
	TEST_ASSERT_NULL(ask_often(context));
	pthread_join(thread, &wrong);
	TEST_ASSERT_NULL(wrong);
	TEST_ASSERT_EQUAL(400, outcomes(TAC_BOARD_ANSWERED) + outcomes(TAC_BOARD_BUSY));
	tac_context_destroy(&other);
}

static void a_query_does_not_allocate(void)
{
	build_shapes();
	await_answer(0);
	const int before = allocations;
	for (int i = 0; i < 50; ++i)
		ask(i, TAC_QUERY_PAIRS, i % 2 == 0 ? 0 : 50 * TAC_NS_PER_US);
	tac_virtual_usb_inject(device, IN, TAC_VIRTUAL_STALLS, 0);
	ask(0, TAC_QUERY_PAIRS, 0);
	TEST_ASSERT_EQUAL(before, allocations);
}

static void shapes_come_and_go(void)
{
	build_shapes();
	await_answer(0);
	for (int i = 0; i < 5; ++i) {
		tac_shape_destroy(i % 2 == 0 ? &shape_a : &shape_b);
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(engine, i % 2 == 0 ? mesh_a : mesh_b,
							  i % 2 == 0 ? &shape_a : &shape_b));
		TEST_ASSERT_EQUAL(0, await_answer(i));
	}
	tac_shape_destroy(&shape_a);
	tac_shape_destroy(&shape_b); // with the last one the board is let go of
	TEST_ASSERT_FALSE(tac_board_report_read(board).connected);
	build_shapes();
	TEST_ASSERT_EQUAL(0, await_answer(0));
	TEST_ASSERT_EQUAL(2, tac_board_report_read(board).connections);
}

static void it_is_found_by_name_once_it_is_added(void)
{
	TEST_ASSERT_NULL(tac_collider_find("board"));
	TEST_ASSERT_EQUAL(TAC_OK, tac_collider_add(engine));
	TEST_ASSERT_EQUAL_PTR(engine, tac_collider_find("board"));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_collider_add(engine));
	int last = 0;
	while (tac_collider_at(last) != NULL)
		++last;
	TEST_ASSERT_EQUAL_PTR(engine, tac_collider_at(last - 1));
	tac_collider_remove(engine);
	TEST_ASSERT_NULL(tac_collider_find("board"));
	TEST_ASSERT_NULL(tac_collider_at(last - 1));
	TEST_ASSERT_NOT_NULL(tac_collider_find("wide"));
}

static void senseless_definitions_are_refused(void)
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
	RUN_TEST(every_fault_makes_its_query_unknown_is_counted_and_logged_and_overcome);
	RUN_TEST(a_lost_connection_is_two_log_lines);
	RUN_TEST(a_late_answer_is_unknown_and_costs_no_connection);
	RUN_TEST(a_board_that_answers_nothing_any_more_is_connected_again);
	RUN_TEST(a_board_that_is_pulled_out_in_the_middle_of_a_query_comes_back);
	RUN_TEST(a_board_pulled_out_between_queries_is_noticed);
	RUN_TEST(a_tree_that_arrives_damaged_is_loaded_again);
	RUN_TEST(without_a_board_building_fails_with_a_line);
	RUN_TEST(a_tree_that_does_not_fit_the_memory_is_refused);
	RUN_TEST(more_hits_than_a_message_holds_are_unknown);
	RUN_TEST(the_chips_own_errors_are_unknown);
	RUN_TEST(a_budget_of_nodes_stops_the_chip);
	RUN_TEST(two_threads_get_the_truth_or_unknown);
	RUN_TEST(a_query_does_not_allocate);
	RUN_TEST(shapes_come_and_go);
	RUN_TEST(it_is_found_by_name_once_it_is_added);
	RUN_TEST(senseless_definitions_are_refused);
	return UNITY_END();
}
