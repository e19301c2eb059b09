// A virtual board, plugged in, a collider that talks to it through libusb, and two shapes with the expected
// answers of another engine.
#ifndef TAC_TESTS_SUPPORT_BOARD_FIXTURE_H
#define TAC_TESTS_SUPPORT_BOARD_FIXTURE_H

#include "collision/mesh_shapes.h"
#include "devices/board.h"
#include "devices/board/board_protocol.h"
#include "devices/virtual_board.h"
#include "rt/clock.h"
#include "tests/support/logged.h"
#include "tests/support/shapes.h"
#include "tests/support/usb_shim.h"

#define POSES       64
#define PATIENCE_NS (120 * TAC_NS_PER_S) // exceeded only if the board does not come back

// What a board answers within, how long a silence must last to end its connection, the torus (segments
// around its axis, twice those around its tube) whose hits exceed the shortest message, and the period of the
// loop and the tori (segments around the axes) of the chaos test. Gates are simulated at a few million clocks
// a second and take a clock for each byte of a tree, so they get more time and smaller trees; the driver
// waits 2 s for the checksum of a tree.
#ifdef TAC_TEST_GATES
#define WITHIN_NS       (200 * TAC_NS_PER_MS)
#define SILENCE_NS      (2 * TAC_NS_PER_S)
#define TORUS_SEGMENTS  48
#define CHAOS_PERIOD_NS (10 * TAC_NS_PER_MS)
#define CHAOS_SEGMENTS  8
#else
#define WITHIN_NS       (5 * TAC_NS_PER_MS)
#define SILENCE_NS      (500 * TAC_NS_PER_MS)
#define TORUS_SEGMENTS  80
#define CHAOS_PERIOD_NS TAC_NS_PER_MS
#define CHAOS_SEGMENTS  24
#endif

static tac_virtual_model *model;
static tac_virtual_usb *device;
static bool plugged;
static tac_board *board;
static const tac_collider *engine; // the board
static tac_mesh *mesh_a, *mesh_b;
static tac_shape *shape_a, *shape_b; // on the board
static tac_context *context;
static tac_rigid poses[POSES];
static tac_overlap expected[POSES];
static int64_t expected_pairs[POSES];

static inline void plug(void)
{
	usb_shim_plug(device);
	plugged = true;
}

static inline void unplug(void)
{
	usb_shim_unplug(device);
	plugged = false;
}

// The answers of `wide`, which test_collider.c compares with brute force.
static inline void find_expected(void)
{
	const tac_collider *wide = tac_collider_find("wide");
	tac_shape *a, *b;
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, mesh_a, &a));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, mesh_b, &b));
	tac_rng rng = tac_rng_seed(7, 7);
	int hits = 0;
	for (int i = 0; i < POSES; i++) {
		poses[i] = random_motion(&rng, 2.0F);
		expected[i] = tac_collider_query(wide, context, a, b, &poses[i], TAC_QUERY_PAIRS,
						 (tac_budget){0, 0});
		expected_pairs[i] = context->pair_count;
		hits += expected[i] == TAC_OVERLAP_HIT;
	}
	TEST_ASSERT_GREATER_THAN(POSES / 4, hits);
	TEST_ASSERT_LESS_THAN(3 * POSES / 4, hits);
	tac_shape_destroy(&a);
	tac_shape_destroy(&b);
}

// The tori are coarser if `segments`, around the axis of the larger one, is below 24.
static inline void set_up_board_with(const tac_virtual_board_def *virtual_def, const tac_board_def *def,
				     int segments)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_board_create(virtual_def, &model));
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_usb_create(model, &device));
	plug();
	TEST_ASSERT_EQUAL(TAC_OK, tac_board_create(def, &board));
	engine = tac_board_collider(board);
	tac_context_def context_def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context_def, &context));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1.0F, 0.3F, segments, segments / 2, &mesh_a));
	segments = segments * 5 / 6;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.7F, 0.3F, segments, segments / 2, &mesh_b));
}

static inline void set_up_board(const tac_virtual_board_def *virtual_def, const tac_board_def *def)
{
	set_up_board_with(virtual_def, def, 24);
}

static inline void build_shapes(void)
{
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_shape_build(engine, mesh_a, &shape_a), logged);
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_shape_build(engine, mesh_b, &shape_b), logged);
}

static inline void tear_down_board(void)
{
	tac_shape_destroy(&shape_a);
	tac_shape_destroy(&shape_b);
	tac_board_destroy(&board);
	if (plugged)
		unplug();
	tac_virtual_usb_destroy(&device);
	tac_virtual_board_destroy(&model);
	tac_mesh_destroy(&mesh_a);
	tac_mesh_destroy(&mesh_b);
	tac_context_destroy(&context);
	tac_log_set(NULL, NULL);
}

static inline tac_overlap query_pose(int pose, tac_query_mode mode, int64_t within_ns)
{
	tac_budget budget = {.deadline_ns = within_ns > 0 ? tac_clock_now_ns() + within_ns : 0};
	return tac_collider_query(engine, context, shape_a, shape_b, &poses[pose], mode, budget);
}

static inline uint64_t outcome_count(tac_board_outcome outcome)
{
	return tac_board_report_read(board).queries[outcome];
}

// Queries until the board answers; the answer must be the expected one. Returns the number of unknown answers
// before.
static inline int await_answer(int pose)
{
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	int unknown = 0;
	tac_overlap contact;
	while ((contact = query_pose(pose, TAC_QUERY_PAIRS, 0)) == TAC_OVERLAP_UNKNOWN) {
		TEST_ASSERT_TRUE_MESSAGE(tac_clock_now_ns() < end_ns, "the board does not come back");
		tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_NS_PER_MS);
		unknown++;
	}
	TEST_ASSERT_EQUAL(expected[pose], contact);
	TEST_ASSERT_EQUAL(expected_pairs[pose], context->pair_count);
	return unknown;
}

#endif
