// The model of the CollisionChip, tested through its registers and memory window: answers against brute
// force, counters, cycles, errors. The trees and motions come from chip_fixture.h, which is independent of
// the code under test.
#include "collision/chip.h"
#include "tests/support/chip_fixture.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"

#include <unity.h>

#define MIB (UINT32_C(1) << 20)

static tac_chip *chip;
static tac_rng rng;

void setUp(void)
{
	rng = tac_rng_seed(4, 0);
	tac_chip_def def = tac_chip_def_default();
	def.memory_bytes = 16 * MIB;
	TEST_ASSERT_EQUAL(TAC_OK, tac_chip_create(&def, &chip));
}

void tearDown(void)
{
	tac_chip_destroy(&chip);
	TEST_ASSERT_NULL(chip);
}

static uint64_t counter(tac_chip_counter c)
{
	uint32_t at = TAC_CHIP_COUNTERS + 8 * (uint32_t)c;
	return tac_chip_read(chip, at) | (uint64_t)tac_chip_read(chip, at + 4) << 32;
}

static uint32_t status(void)
{
	return tac_chip_read(chip, TAC_CHIP_STATUS);
}

static uint32_t error(void)
{
	return status() >> TAC_CHIP_ERR_SHIFT;
}

static void upload(const fix_tree *tree)
{
	tac_chip_memory_write(chip, tree->base, tree->words, tree->bytes);
}

static void start(uint32_t flags, uint32_t tumbled, uint32_t aligned)
{
	tac_chip_write(chip, TAC_CHIP_ROOT_TUMBLED, tumbled);
	tac_chip_write(chip, TAC_CHIP_ROOT_ALIGNED, aligned);
	tac_chip_write(chip, TAC_CHIP_CTRL, flags | TAC_CHIP_START);
}

// Runs a query to its end, at most 100 million cycles.
static void run(uint32_t flags, uint32_t tumbled, uint32_t aligned)
{
	start(flags, tumbled, aligned);
	TEST_ASSERT_FALSE(tac_chip_clock(chip, 100000000));
}

static fix_motion random_motion(double reach)
{
	tac_dquat q = tac_rng_rotation_f64(&rng);
	double x = tac_rng_range_f64(&rng, -reach, reach), y = tac_rng_range_f64(&rng, -reach, reach);
	return fix_motion_of(q, x, y, tac_rng_range_f64(&rng, -reach, reach));
}

// Two balanced trees of random triangles in the chip's memory, and the motion in its registers.
#define SOUP 64 // triangles
typedef struct {
	fix_triangle a[SOUP], b[SOUP];
	fix_tree tree_a, tree_b;
	fix_motion motion;
} scene;

static scene make_scene(bool layout_r, double reach)
{
	scene s;
	fix_soup(&rng, s.a, SOUP, 0.3);
	fix_soup(&rng, s.b, SOUP, 0.3);
	s.tree_a = fix_build(s.a, SOUP, layout_r, 0, NULL);
	s.tree_b = fix_build(s.b, SOUP, layout_r, MIB, NULL);
	s.motion = random_motion(reach);
	upload(&s.tree_a);
	upload(&s.tree_b);
	fix_load_motion(chip, &s.motion, s.tree_a.extent);
	return s;
}

static void free_scene(scene *s)
{
	fix_free(&s->tree_a);
	fix_free(&s->tree_b);
}

// ---- answers ----

#define TRIANGLES_MAX 60
static bool reported[TRIANGLES_MAX][TRIANGLES_MAX];

static int read_hits(bool table[TRIANGLES_MAX][TRIANGLES_MAX])
{
	memset(table, 0, sizeof reported);
	int count = 0;
	while (tac_chip_read(chip, TAC_CHIP_HIT_COUNT) > 0) {
		uint32_t a = tac_chip_read(chip, TAC_CHIP_HIT_A), b = tac_chip_read(chip, TAC_CHIP_HIT_B);
		TEST_ASSERT_LESS_THAN(TRIANGLES_MAX, a);
		TEST_ASSERT_LESS_THAN(TRIANGLES_MAX, b);
		TEST_ASSERT_FALSE_MESSAGE(table[a][b], "a pair reported twice");
		table[a][b] = true;
		count++;
	}
	return count;
}

// Single and double precision may differ if triangles miss or penetrate each other by less than this, in
// soups of size 2: a thousand roundings of single precision.
#define UNSURE 1e-4

static void hit_sets_equal_brute_force_in_both_layouts_and_both_triangle_modes(void)
{
	int64_t sure = 0, unsure = 0, misses = 0, disagreements = 0;
	for (int query = 0; query < test_rounds(1000); query++) {
		fix_triangle a[TRIANGLES_MAX], b[TRIANGLES_MAX];
		int count_a = 1 + (int)tac_rng_below(&rng, TRIANGLES_MAX),
		    count_b = 1 + (int)tac_rng_below(&rng, TRIANGLES_MAX);
		fix_soup(&rng, a, count_a, 0.8);
		fix_soup(&rng, b, count_b, 0.8);
		fix_motion motion = random_motion(1.5);
		static bool first_of_mode[2][TRIANGLES_MAX][TRIANGLES_MAX];
		for (int variant = 0; variant < 4; variant++) {
			bool layout_r = (variant & 1) != 0, closed = (variant & 2) != 0;
			tac_rng cuts = tac_rng_seed((uint64_t)query, 1);
			bool balanced = query % 3 == 0;
			fix_tree tree_a = fix_build(a, count_a, layout_r, 0, balanced ? NULL : &cuts);
			fix_tree tree_b = fix_build(b, count_b, layout_r, MIB, balanced ? NULL : &cuts);
			upload(&tree_a);
			upload(&tree_b);
			fix_load_motion(chip, &motion, tree_a.extent);
			uint32_t flags = (layout_r ? TAC_CHIP_LAYOUT_R : 0) |
					 (closed ? TAC_CHIP_CLOSED_TRI : 0) |
					 (query % 2 == 0 ? TAC_CHIP_SCHED : 0);
			run(flags | TAC_CHIP_ALL_HITS, tree_a.base, tree_b.base);
			uint32_t all = status();
			int hits = read_hits(reported);
			TEST_ASSERT_EQUAL_HEX32(hits > 0 ? TAC_CHIP_DONE | TAC_CHIP_HIT : TAC_CHIP_DONE, all);
			TEST_ASSERT_EQUAL(hits, counter(TAC_CHIP_HITS));
			TEST_ASSERT_EQUAL(24 * counter(TAC_CHIP_TUMBLED_NODES), counter(TAC_CHIP_DOTADD_OPS));
			TEST_ASSERT_EQUAL(256 * counter(TAC_CHIP_SDRAM_BURSTS),
					  counter(TAC_CHIP_SDRAM_BYTES));
			TEST_ASSERT_LESS_OR_EQUAL(2 * count_a - 1, counter(TAC_CHIP_TUMBLED_NODES));
			if (layout_r) // the layouts must agree to the bit
				TEST_ASSERT_EQUAL_MEMORY(first_of_mode[closed], reported, sizeof reported);
			else
				memcpy(first_of_mode[closed], reported, sizeof reported);
			for (int i = 0; layout_r && i < count_a; i++)
				for (int k = 0; k < count_b; k++) {
					double apart = fix_separation(&a[i], &b[k], &motion);
					if (fabs(apart) < UNSURE) {
						unsure++;
						continue;
					}
					(*(apart < 0 ? &sure : &misses))++;
					disagreements += (apart < 0) != reported[i][k];
				}
			run(flags, tree_a.base, tree_b.base);
			TEST_ASSERT_EQUAL_HEX32(all, status());
			TEST_ASSERT_EQUAL(hits > 0, read_hits(reported));
			fix_free(&tree_a);
			fix_free(&tree_b);
		}
	}
	printf("%d hits, %d misses, %d too close to call\n", (int)sure, (int)misses, (int)unsure);
	TEST_ASSERT_EQUAL(0, disagreements);
	TEST_ASSERT_GREATER_THAN(test_rounds(10000), sure);
	TEST_ASSERT_LESS_THAN(sure / 50, unsure);
}

// An edge of A ends in the plane of B.
static void closed_mode_finds_the_contact_that_the_printed_test_misses(void)
{
	fix_triangle a = {{{0, 0, 0}, {2, 0, 2}, {2, 0, -2}}}, b = {{{1, 0, 0}, {-1, -2, 0}, {-1, 2, 0}}};
	fix_tree tree_a = fix_build(&a, 1, true, 0, NULL), tree_b = fix_build(&b, 1, true, MIB, NULL);
	fix_motion none = fix_motion_of(tac_dquat_identity(), 0, 0, 0);
	upload(&tree_a);
	upload(&tree_b);
	fix_load_motion(chip, &none, tree_a.extent);
	run(TAC_CHIP_LAYOUT_R, 0, MIB);
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_DONE, status());
	run(TAC_CHIP_LAYOUT_R | TAC_CHIP_CLOSED_TRI, 0, MIB);
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_DONE | TAC_CHIP_HIT, status());
	fix_free(&tree_a);
	fix_free(&tree_b);
}

static void coplanar_triangles_meet_in_closed_mode_when_they_overlap_touch_or_nest(void)
{
	static const struct {
		double shift;
		float scale;
		bool hit;
	} cases[] = {{0.5, 1, true}, {1, 1, true}, {1.5, 1, false}, {0.125, 0.25F, true}, {-3, 1, false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		float s = cases[i].scale;
		fix_triangle a = {{{0, 0, 0}, {s, 0, 0}, {0, s, 0}}}, b = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
		fix_tree tree_a = fix_build(&a, 1, false, 0, NULL),
			 tree_b = fix_build(&b, 1, false, MIB, NULL);
		fix_motion motion = fix_motion_of(tac_dquat_identity(), cases[i].shift, 0, 0);
		upload(&tree_a);
		upload(&tree_b);
		fix_load_motion(chip, &motion, tree_a.extent);
		run(TAC_CHIP_CLOSED_TRI, 0, MIB);
		TEST_ASSERT_EQUAL(cases[i].hit, (status() & TAC_CHIP_HIT) != 0);
		TEST_ASSERT_EQUAL(0, error());
		fix_free(&tree_a);
		fix_free(&tree_b);
	}
}

// Two triangles that form a star: no vertex of one lies in the other.
static void coplanar_triangles_that_only_cross_meet_in_closed_mode(void)
{
	fix_triangle a = {{{4, 4, 0}, {-2, 4, 0}, {4, -2, 0}}}, b = {{{0, 0, 0}, {6, 0, 0}, {0, 6, 0}}};
	fix_tree tree_a = fix_build(&a, 1, true, 0, NULL), tree_b = fix_build(&b, 1, true, MIB, NULL);
	fix_motion none = fix_motion_of(tac_dquat_identity(), 0, 0, 0);
	upload(&tree_a);
	upload(&tree_b);
	fix_load_motion(chip, &none, tree_a.extent);
	run(TAC_CHIP_LAYOUT_R | TAC_CHIP_CLOSED_TRI, 0, MIB);
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_DONE | TAC_CHIP_HIT, status());
	fix_free(&tree_a);
	fix_free(&tree_b);
}

// ---- time ----

static void a_list_takes_88_cycles_plus_those_of_its_pairs(void)
{
	static const int expected[] = {0, 92, 100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200};
	int seen[13] = {0};
	for (int query = 0; query < 20; query++) {
		scene s = make_scene(true, 0.5);
		start(TAC_CHIP_LAYOUT_R | TAC_CHIP_SCHED | TAC_CHIP_ALL_HITS, s.tree_a.base, s.tree_b.base);
		uint64_t lists = 0, cycles = 0, pairs = 0;
		for (bool busy = true; busy;) {
			busy = tac_chip_clock(chip, 1);
			if (counter(TAC_CHIP_LISTS) == lists && busy)
				continue;
			// The first step of a new list already includes its transformation.
			uint64_t setup = busy ? 88 : 0;
			uint64_t now =
				counter(TAC_CHIP_CYCLES_XFORM) + counter(TAC_CHIP_CYCLES_COMPARE) - setup;
			uint64_t of_list = counter(TAC_CHIP_ALIGNED_PAIRS) - pairs;
			if (lists > 1 && of_list <= 12) {
				TEST_ASSERT_EQUAL(expected[of_list], now - cycles);
				seen[of_list]++;
			} else if (lists == 1) { // the roots: one node through the pipeline, one pair
				TEST_ASSERT_EQUAL(52 + 4, now);
			}
			if (lists == 0)
				now = 0;
			lists = counter(TAC_CHIP_LISTS);
			cycles = now;
			pairs = counter(TAC_CHIP_ALIGNED_PAIRS);
		}
		TEST_ASSERT_EQUAL(0, error());
		free_scene(&s);
	}
	TEST_ASSERT_GREATER_THAN(0, seen[1]);
	TEST_ASSERT_GREATER_THAN(0, seen[2]);
	TEST_ASSERT_GREATER_THAN(0, seen[3]);
	TEST_ASSERT_GREATER_THAN(0, seen[12]);
}

static void triangles_take_61_cycles_a_direction_beside_those_of_the_lists(void)
{
	scene s = make_scene(true, 0.2);
	run(TAC_CHIP_LAYOUT_R | TAC_CHIP_SCHED | TAC_CHIP_ALL_HITS, s.tree_a.base, s.tree_b.base);
	uint64_t directions = counter(TAC_CHIP_TRI_TESTS_FWD) + counter(TAC_CHIP_TRI_TESTS_REV);
	TEST_ASSERT_GREATER_THAN(0, directions);
	TEST_ASSERT_EQUAL(61 * directions, counter(TAC_CHIP_CYCLES_TRI));
	TEST_ASSERT_EQUAL(counter(TAC_CHIP_CYCLES_XFORM) + counter(TAC_CHIP_CYCLES_COMPARE) + 61 * directions,
			  counter(TAC_CHIP_CYCLES_TOTAL));
	TEST_ASSERT_LESS_OR_EQUAL(3 * directions, counter(TAC_CHIP_IT_EDGES));
	TEST_ASSERT_LESS_THAN(counter(TAC_CHIP_IT_EDGES), counter(TAC_CHIP_IT_SKIPPED));
	free_scene(&s);
}

static void equation_5_is_40_cycles_a_tumbled_node_and_2_and_a_half_an_overlap_test(void)
{
	scene s = make_scene(true, 0.2);
	run(TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS, s.tree_a.base, s.tree_b.base);
	double tumbled = (double)counter(TAC_CHIP_TUMBLED_NODES),
	       tests = (double)counter(TAC_CHIP_OVERLAP_TESTS);
	double alpha = tests / (2 * tumbled), lists = tumbled / 2;
	TEST_ASSERT_DOUBLE_WITHIN(1.0, (100 + (alpha - 2) * 10) * lists,
				  (double)counter(TAC_CHIP_CYCLES_TOTAL));
	TEST_ASSERT_EQUAL(0, counter(TAC_CHIP_CYCLES_TRI));
	// Below the roots both trees are full: each list has two nodes in the bank, each pair four tests.
	TEST_ASSERT_EQUAL(2 * counter(TAC_CHIP_LISTS) - 1, counter(TAC_CHIP_TUMBLED_NODES));
	TEST_ASSERT_EQUAL(4 * counter(TAC_CHIP_ALIGNED_PAIRS) - 3, counter(TAC_CHIP_OVERLAP_TESTS));
	free_scene(&s);
}

// Four banks, random addresses, a wait of 8 cycles if the bank repeats: 2 on average, as the paper assumes.
static void the_bank_model_waits_two_cycles_a_pair_on_average(void)
{
	uint64_t stall = 0, pairs = 0, lists = 0;
	for (int query = 0; query < 100; query++) {
		scene s = make_scene(false, 0.3);
		fix_scatter(&s.tree_b, &rng);
		upload(&s.tree_b);
		run(TAC_CHIP_SCHED | TAC_CHIP_ALL_HITS, s.tree_a.base, s.tree_b.base);
		stall += counter(TAC_CHIP_STALL_SDRAM);
		pairs += counter(TAC_CHIP_ALIGNED_PAIRS);
		lists += counter(TAC_CHIP_LISTS);
		TEST_ASSERT_EQUAL(0, error());
		free_scene(&s);
	}
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 2.0, (double)stall / (double)(pairs - 2 * lists));
}

// ---- registers and errors ----

static void the_register_files_have_33_and_66_lines_and_nothing_beyond(void)
{
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_ID_VALUE, tac_chip_read(chip, TAC_CHIP_ID));
	for (uint32_t line = 0; line < 33 * 4; line++)
		tac_chip_write(chip, TAC_CHIP_MATRIX + 4 * line, line * 0x01010101);
	for (uint32_t line = 0; line < 66; line++)
		tac_chip_write(chip, TAC_CHIP_CORR + 4 * line, line * 0x1111);
	for (uint32_t line = 0; line < 33 * 4; line++)
		TEST_ASSERT_EQUAL_HEX32(line * 0x01010101, tac_chip_read(chip, TAC_CHIP_MATRIX + 4 * line));
	for (uint32_t line = 0; line < 66; line++)
		TEST_ASSERT_EQUAL_HEX32(line * 0x1111, tac_chip_read(chip, TAC_CHIP_CORR + 4 * line));
	TEST_ASSERT_EQUAL(0, error());
	static const uint32_t beyond[] = {0x200 + 33 * 16, 0x500 + 66 * 4, 0x02C, 0x100,
					  0x4FC,           0x1000,         0x009, 0x201};
	for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
		tac_chip_write(chip, beyond[i], 1);
		TEST_ASSERT_EQUAL(TAC_CHIP_ERR_ADDRESS, error());
		tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
		TEST_ASSERT_EQUAL(0, status());
		TEST_ASSERT_EQUAL(0, tac_chip_read(chip, beyond[i]));
		TEST_ASSERT_EQUAL(TAC_CHIP_ERR_ADDRESS, error());
		tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_START); // no query before a reset
		TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_DONE | TAC_CHIP_ERR_ADDRESS << TAC_CHIP_ERR_SHIFT, status());
		tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	}
}

static void writes_while_busy_are_ignored_and_flagged(void)
{
	scene s = make_scene(true, 0.1);
	uint32_t flags = TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS | TAC_CHIP_IRQ_EN;
	run(flags, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_TRUE(tac_chip_interrupt(chip));
	uint64_t hits = counter(TAC_CHIP_HITS);
	TEST_ASSERT_GREATER_THAN(0, hits);
	start(flags, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_TRUE(tac_chip_clock(chip, 200));
	TEST_ASSERT_FALSE(tac_chip_interrupt(chip));
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_BUSY, status() & ~TAC_CHIP_HIT);
	uint32_t matrix = tac_chip_read(chip, TAC_CHIP_MATRIX), corr = tac_chip_read(chip, TAC_CHIP_CORR);
	tac_chip_write(chip, TAC_CHIP_MATRIX, 0x7FC00000);
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_BUSY | TAC_CHIP_LOCKED, status() & ~TAC_CHIP_HIT);
	tac_chip_write(chip, TAC_CHIP_CORR, 0);
	tac_chip_write(chip, TAC_CHIP_ROOT_TUMBLED, 0x80);
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_START);
	tac_chip_memory_write(chip, s.tree_a.base, "\xFF\xFF\xFF\xFF", 4);
	TEST_ASSERT_EQUAL_HEX32(matrix, tac_chip_read(chip, TAC_CHIP_MATRIX));
	TEST_ASSERT_EQUAL_HEX32(corr, tac_chip_read(chip, TAC_CHIP_CORR));
	TEST_ASSERT_EQUAL_HEX32(s.tree_a.base, tac_chip_read(chip, TAC_CHIP_ROOT_TUMBLED));
	TEST_ASSERT_FALSE(tac_chip_clock(chip, 100000000));
	TEST_ASSERT_EQUAL(hits, counter(TAC_CHIP_HITS));
	free_scene(&s);
}

static void abort_leaves_neither_busy_nor_done(void)
{
	scene s = make_scene(true, 0.1);
	start(TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_TRUE(tac_chip_clock(chip, 200));
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_ABORT);
	TEST_ASSERT_EQUAL_HEX32(0, status() & (TAC_CHIP_BUSY | TAC_CHIP_DONE));
	TEST_ASSERT_FALSE(tac_chip_clock(chip, 1000));
	TEST_ASSERT_EQUAL_HEX32(0, status() & (TAC_CHIP_BUSY | TAC_CHIP_DONE));
	run(TAC_CHIP_LAYOUT_R, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_DONE | TAC_CHIP_HIT, status());
	free_scene(&s);
}

static void a_query_in_slices_equals_the_query_at_once(void)
{
	scene s = make_scene(true, 0.3);
	uint64_t at_once[TAC_CHIP_COUNTER_COUNT];
	run(TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS | TAC_CHIP_SCHED, s.tree_a.base, s.tree_b.base);
	for (int c = 0; c < TAC_CHIP_COUNTER_COUNT; c++)
		at_once[c] = counter((tac_chip_counter)c);
	start(TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS | TAC_CHIP_SCHED, s.tree_a.base, s.tree_b.base);
	while (tac_chip_clock(chip, 1 + tac_rng_below(&rng, 300)))
		;
	for (int c = 0; c < TAC_CHIP_COUNTER_COUNT; c++)
		TEST_ASSERT_EQUAL(at_once[c], counter((tac_chip_counter)c));
	TEST_ASSERT_EQUAL(at_once[TAC_CHIP_HITS], tac_chip_read(chip, TAC_CHIP_HIT_COUNT));
	free_scene(&s);
}

static void a_stack_memory_that_is_too_small_is_an_error(void)
{
	scene s = make_scene(true, 0.1);
	uint32_t flags = TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS;
	run(flags, s.tree_a.base, s.tree_b.base);
	uint32_t needed = (uint32_t)counter(TAC_CHIP_MAX_SRAM_WORDS);
	uint64_t hits = counter(TAC_CHIP_HITS);
	tac_chip_write(chip, TAC_CHIP_SRAM_WORDS, 16);
	run(flags, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_STACK, error());
	TEST_ASSERT_LESS_THAN(hits, counter(TAC_CHIP_HITS));
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	for (uint32_t words = 0; words <= needed; words++) { // each size gives either all hits or the error
		tac_chip_write(chip, TAC_CHIP_SRAM_WORDS, words);
		run(flags, s.tree_a.base, s.tree_b.base);
		TEST_ASSERT_EQUAL(words < needed ? TAC_CHIP_ERR_STACK : 0, error());
		if (words == needed)
			TEST_ASSERT_EQUAL(hits, counter(TAC_CHIP_HITS));
		tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	}
	tac_chip_write(chip, TAC_CHIP_SRAM_WORDS, UINT32_MAX);
	TEST_ASSERT_EQUAL(65536, tac_chip_read(chip, TAC_CHIP_SRAM_WORDS));
	free_scene(&s);
}

static void a_full_hit_fifo_is_an_error_and_keeps_what_it_has(void)
{
	tac_chip_destroy(&chip);
	tac_chip_def def = {.memory_bytes = 4 * MIB, .sram_words = 4096, .hit_capacity = 3};
	TEST_ASSERT_EQUAL(TAC_OK, tac_chip_create(&def, &chip));
	scene s = make_scene(true, 0.1);
	run(TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_FIFO, error());
	TEST_ASSERT_EQUAL(3, tac_chip_read(chip, TAC_CHIP_HIT_COUNT));
	for (int i = 0; i < 3; i++) {
		TEST_ASSERT_LESS_THAN(SOUP, tac_chip_read(chip, TAC_CHIP_HIT_A));
		TEST_ASSERT_LESS_THAN(SOUP, tac_chip_read(chip, TAC_CHIP_HIT_B));
	}
	TEST_ASSERT_EQUAL_HEX32(UINT32_MAX, tac_chip_read(chip, TAC_CHIP_HIT_A));
	TEST_ASSERT_EQUAL_HEX32(UINT32_MAX, tac_chip_read(chip, TAC_CHIP_HIT_B));
	free_scene(&s);
}

static void expect_error(uint32_t address, uint32_t word, uint32_t expected, uint32_t flags, const scene *s)
{
	uint32_t kept;
	tac_chip_memory_read(chip, address, &kept, sizeof kept);
	tac_chip_memory_write(chip, address, &word, sizeof word);
	run(flags, s->tree_a.base, s->tree_b.base);
	TEST_ASSERT_EQUAL(expected, error());
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	tac_chip_memory_write(chip, address, &kept, sizeof kept);
}

static void damaged_nodes_are_errors_never_answers(void)
{
	scene s = make_scene(true, 0.1);
	uint32_t flags = TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS;
	const uint32_t nan = 0x7FC00000, huge = 0xFFFFFF00;
	uint32_t root_a = s.tree_a.base, root_b = s.tree_b.base;
	uint32_t kids_a = s.tree_a.words[25], kids_b = s.tree_b.words[25];
	expect_error(root_a + 24 * 4, 3, TAC_CHIP_ERR_TYPE, flags, &s);
	expect_error(root_b + 24 * 4, 77, TAC_CHIP_ERR_TYPE, flags, &s);
	expect_error(kids_b + 128 + 24 * 4, UINT32_MAX, TAC_CHIP_ERR_TYPE, flags, &s);
	expect_error(root_a + 5 * 4, nan, TAC_CHIP_ERR_NAN, flags, &s);
	expect_error(kids_a + 128 + 23 * 4, nan, TAC_CHIP_ERR_NAN, flags, &s);
	expect_error(kids_b + 7 * 4, nan | 0x80000000, TAC_CHIP_ERR_NAN, flags, &s);
	expect_error(root_a + 25 * 4, huge, TAC_CHIP_ERR_ADDRESS, flags, &s);
	expect_error(root_b + 25 * 4, huge, TAC_CHIP_ERR_ADDRESS, flags, &s);
	expect_error(root_b + 25 * 4, kids_b + 128, TAC_CHIP_ERR_ADDRESS, flags, &s);
	expect_error(root_a + 25 * 4, kids_a + 4, TAC_CHIP_ERR_ADDRESS, flags, &s);
	// All leaves of the tumbled tree, so that some pair reaches a damaged one.
	for (uint32_t at = 0; at < s.tree_a.bytes; at += 128) {
		uint32_t *node = s.tree_a.words + at / 4;
		if (node[24] == 1 && node[25] >= SOUP)
			node[25] = huge;
	}
	upload(&s.tree_a);
	run(flags, root_a, root_b);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_ADDRESS, error());
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	for (uint32_t at = 0; at < s.tree_a.bytes; at += 128) {
		uint32_t *node = s.tree_a.words + at / 4;
		if (node[25] == huge)
			node[25] = root_a; // an inner node in place of a triangle
	}
	upload(&s.tree_a);
	run(flags, root_a, root_b);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_TYPE, error());
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	run(flags, root_a + 4, root_b);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_ADDRESS, error());
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	run(flags, root_a, 16 * MIB);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_ADDRESS, error());
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	uint32_t bytes[2] = {1, 2};
	tac_chip_memory_write(chip, 16 * MIB - 4, bytes, sizeof bytes);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_ADDRESS, error());
	tac_chip_memory_read(chip, UINT32_MAX, bytes, sizeof bytes);
	TEST_ASSERT_EQUAL(0, bytes[0]);
	free_scene(&s);
}

static void nan_in_a_triangle_is_an_error_in_both_layouts(void)
{
	for (int layout_r = 0; layout_r < 2; layout_r++) {
		scene s = make_scene(layout_r != 0, 0.1);
		for (uint32_t at = 0; at < s.tree_b.bytes; at += 128) {
			uint32_t *node = s.tree_b.words + at / 4;
			if (node[24] == 1 && node[25] < SOUP)
				node[4] = 0x7F800001;
		}
		upload(&s.tree_b);
		run((layout_r ? TAC_CHIP_LAYOUT_R : 0) | TAC_CHIP_ALL_HITS, s.tree_a.base, s.tree_b.base);
		TEST_ASSERT_EQUAL(TAC_CHIP_ERR_NAN, error());
		tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
		free_scene(&s);
	}
}

static void a_schedule_that_reads_too_early_or_skips_a_row_is_refused(void)
{
	scene s = make_scene(true, 0.1);
	tac_chip_write(chip, TAC_CHIP_AG2_DELAY, 2);
	run(TAC_CHIP_LAYOUT_R, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_SCHEDULE, error());
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	tac_chip_write(chip, TAC_CHIP_AG2_DELAY, 30);
	run(TAC_CHIP_LAYOUT_R | TAC_CHIP_SCHED, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_EQUAL(0, error());
	tac_chip_write(chip, TAC_CHIP_CORR + 4 * 5, tac_chip_read(chip, TAC_CHIP_CORR + 4 * 6));
	run(TAC_CHIP_LAYOUT_R, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_SCHEDULE, error());
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	tac_chip_write(chip, TAC_CHIP_CORR + 4 * 60, 31);
	run(TAC_CHIP_LAYOUT_R, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_ADDRESS, error());
	free_scene(&s);
}

static void trees_with_cycles_end_by_the_clock_or_the_stack(void)
{
	scene s = make_scene(true, 0.1);
	uint32_t flags = TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS;
	// The aligned root is its own child, beside an empty node, so a single tumbled leaf meets it forever.
	fix_tree one = fix_build(s.a, 1, true, 2 * MIB, NULL);
	upload(&one);
	uint32_t ten = 0x41200000, self = s.tree_b.base;
	for (uint32_t i = 0; i < 24; i++)
		tac_chip_memory_write(chip, s.tree_b.base + 4 * i, &ten, sizeof ten);
	tac_chip_memory_write(chip, s.tree_b.base + 25 * 4, &self, sizeof self);
	start(flags, one.base, s.tree_b.base);
	TEST_ASSERT_TRUE(tac_chip_clock(chip, 1000000));
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_BUSY, status());
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	// A tumbled root that is its own child goes deeper until the stack is full.
	self = s.tree_a.base;
	tac_chip_memory_write(chip, s.tree_a.base + 25 * 4, &self, sizeof self);
	run(flags, s.tree_a.base, s.tree_b.base);
	TEST_ASSERT_EQUAL(TAC_CHIP_ERR_STACK, error());
	fix_free(&one);
	free_scene(&s);
}

// With any bytes in memory and registers the chip stays within its memories, and the status is consistent.
static void random_damage_never_leads_outside_the_memories(void)
{
	for (int round = 0; round < 400; round++) {
		scene s = make_scene(round % 2 == 0, 0.3);
		for (int hit = 0; hit < 40; hit++) {
			uint32_t word = round % 3 == 0 ? tac_rng_u32(&rng) : tac_rng_below(&rng, 64) * 128;
			const fix_tree *tree = tac_rng_below(&rng, 2) == 0 ? &s.tree_a : &s.tree_b;
			uint32_t node = tac_rng_below(&rng, tree->bytes / 128) * 128;
			uint32_t at = tac_rng_below(&rng, 4) == 0 ? tac_rng_below(&rng, 32)
								  : 24 + tac_rng_below(&rng, 2);
			tac_chip_memory_write(chip, tree->base + node + 4 * at, &word, sizeof word);
		}
		if (round % 5 == 0)
			for (uint32_t line = 0; line < 66; line++)
				tac_chip_write(chip, TAC_CHIP_CORR + 4 * line, tac_rng_u32(&rng));
		start(tac_rng_u32(&rng) & 0xF8, s.tree_a.base, s.tree_b.base);
		tac_chip_clock(chip, 2000000);
		if (error() != 0)
			TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_DONE, status() & (TAC_CHIP_DONE | TAC_CHIP_BUSY));
		tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
		free_scene(&s);
	}
}

static void the_trees_of_these_tests_have_the_layout_of_the_paper(void)
{
	scene s = make_scene(true, 0.1);
	int leaves = 0, records = 0;
	for (uint32_t at = 0; at < s.tree_a.bytes; at += 128) {
		const uint32_t *node = s.tree_a.words + at / 4;
		if (node[24] == 0 && node[25] != 0)
			TEST_ASSERT_EQUAL(0, node[25] % 256);
		if (node[24] == 1 && node[25] >= SOUP) {
			leaves++;
			const uint32_t *record = s.tree_a.words + node[25] / 4;
			TEST_ASSERT_EQUAL(1, record[24]);
			TEST_ASSERT_LESS_THAN(SOUP, record[25]);
			for (int w = 21; w < 24; w++) // 21 floats: 9 of the vertices, 12 of the map
				TEST_ASSERT_EQUAL_HEX32(0, record[w]);
			records++;
		}
	}
	TEST_ASSERT_EQUAL(SOUP, leaves);
	TEST_ASSERT_EQUAL(SOUP, records);
	free_scene(&s);
}

static void invalid_boards_are_refused(void)
{
	tac_chip_def def = tac_chip_def_default();
	tac_chip *other = NULL;
	tac_log_set(keep_logged, NULL);
	def.memory_bytes = 100;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_chip_create(&def, &other));
	TEST_ASSERT_NULL(other);
	def = tac_chip_def_default();
	def.sram_words = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_chip_create(&def, &other));
	TEST_ASSERT_EQUAL(2, logged_lines);
	tac_log_set(NULL, NULL);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(hit_sets_equal_brute_force_in_both_layouts_and_both_triangle_modes);
	RUN_TEST(closed_mode_finds_the_contact_that_the_printed_test_misses);
	RUN_TEST(coplanar_triangles_meet_in_closed_mode_when_they_overlap_touch_or_nest);
	RUN_TEST(coplanar_triangles_that_only_cross_meet_in_closed_mode);
	RUN_TEST(a_list_takes_88_cycles_plus_those_of_its_pairs);
	RUN_TEST(triangles_take_61_cycles_a_direction_beside_those_of_the_lists);
	RUN_TEST(equation_5_is_40_cycles_a_tumbled_node_and_2_and_a_half_an_overlap_test);
	RUN_TEST(the_bank_model_waits_two_cycles_a_pair_on_average);
	RUN_TEST(the_register_files_have_33_and_66_lines_and_nothing_beyond);
	RUN_TEST(writes_while_busy_are_ignored_and_flagged);
	RUN_TEST(abort_leaves_neither_busy_nor_done);
	RUN_TEST(a_query_in_slices_equals_the_query_at_once);
	RUN_TEST(a_stack_memory_that_is_too_small_is_an_error);
	RUN_TEST(a_full_hit_fifo_is_an_error_and_keeps_what_it_has);
	RUN_TEST(damaged_nodes_are_errors_never_answers);
	RUN_TEST(nan_in_a_triangle_is_an_error_in_both_layouts);
	RUN_TEST(a_schedule_that_reads_too_early_or_skips_a_row_is_refused);
	RUN_TEST(trees_with_cycles_end_by_the_clock_or_the_stack);
	RUN_TEST(random_damage_never_leads_outside_the_memories);
	RUN_TEST(the_trees_of_these_tests_have_the_layout_of_the_paper);
	RUN_TEST(invalid_boards_are_refused);
	return UNITY_END();
}
