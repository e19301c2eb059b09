// The units of the gates, one by one: arithmetic against the host's FPU, the others in lockstep with the
// functions of the model. Operands are directed crosses and random bits.
#include "base/rng.h"
#include "collision/chip/units.h"
#include "tests/hardware/units_interface.h"
#include "tests/support/limits.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unity.h>

static const units_api *units;
static tac_rng rng;
static tac_chip *chip;

void setUp(void)
{
	rng = tac_rng_seed(9, 9);
	tac_chip_def def = {.memory_bytes = 256, .sram_words = 64, .hit_capacity = 1};
	TEST_ASSERT_EQUAL(TAC_OK, tac_chip_create(&def, &chip));
}

void tearDown(void)
{
	tac_chip_destroy(&chip);
}

// ---- arithmetic ----

#define SPECIALS 340 // 17 exponents x 10 fractions x 2 signs
static uint32_t special[SPECIALS];

static void fill_specials(void)
{
	static const uint32_t exponents[17] = {0,   1,   2,   23,  24,  64,  100, 126, 127,
					       128, 150, 151, 152, 190, 253, 254, 255};
	static const uint32_t fractions[10] = {0,        1,        2,        3,        0x3FFFFF,
					       0x400000, 0x400001, 0x555555, 0x7FFFFE, 0x7FFFFF};
	for (int i = 0; i < SPECIALS; i++)
		special[i] = (uint32_t)(i % 2) << 31 | exponents[i / 20] << 23 | fractions[i / 2 % 10];
}

// Any bits, near 1, subnormal and just above, products near the smallest number, few bits (ties), special
// ones.
static uint32_t random_operand(void)
{
	uint32_t u = tac_rng_u32(&rng);
	switch (tac_rng_below(&rng, 6)) {
	case 0:
		return special[tac_rng_below(&rng, SPECIALS)];
	case 1:
		return (u & 0x807FFFFF) | (120 + u / 64 % 16) << 23;
	case 2:
		return (u & 0x80000000) | (u & 0x00FFFFFF);
	case 3:
		return (u & 0x8000FFFF) | (60 + u / 65536 % 8) << 23;
	case 4:
		return (u & 0xFFFF0000) ^ tac_rng_below(&rng, 3);
	default:
		return u;
	}
}

static void expect_arithmetic(const uint32_t v[7], uint32_t out[UNITS_ARITHMETIC])
{
	float x = tac_chip_float(v[0]), m = tac_chip_float(v[3]);
	const float line[4] = {m, tac_chip_float(v[4]), tac_chip_float(v[5]), tac_chip_float(v[6])};
	for (int i = 0; i < UNITS_ARITHMETIC; i++)
		out[i] = i < 4    ? tac_chip_bits(x * m)
			 : i < 10 ? tac_chip_bits(x + m)
				  : tac_chip_bits(tac_chip_dotadd(line, x, tac_chip_float(v[1]),
								  tac_chip_float(v[2])));
}

static void products_sums_and_dotadd_equal_the_host_s_in_every_depth(void)
{
	static const int depth[UNITS_ARITHMETIC] = {1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 6, 23};
	static uint32_t expected[32][UNITS_ARITHMETIC]; // a ring, longer than the pipelines
	static bool valid[32];
	int64_t crosses = SPECIALS * SPECIALS, halves = 64 * 16 * 3, rounds = test_long() ? 10000000 : 400000;
	int64_t checks = 0, nans = 0, subnormal = 0;
	for (int64_t i = 0; i < crosses + halves + rounds; i++) {
		uint32_t v[7], out[UNITS_ARITHMETIC];
		for (int k = 0; k < 7; k++)
			v[k] = random_operand();
		if (i < crosses) {
			v[0] = v[1] = special[i % SPECIALS];
			v[3] = v[4] = special[i / SPECIALS];
		}
		if (i >= crosses && i < crosses + halves) { // products next to half of the smallest number
			int64_t h = i - crosses;
			v[0] = 1 + (uint32_t)(h % 64);
			float half = ((float)(h / 64 % 16) + 0.5F) / (float)(1 + h % 64);
			v[3] = tac_chip_bits(half) + (uint32_t)(h / 1024) - 1;
		}
		valid[i % 32] = i < 100 || tac_rng_below(&rng, 8) != 0; // bubbles
		expect_arithmetic(v, expected[i % 32]);
		units->arithmetic(v, valid[i % 32], out);
		for (int k = 0; k < UNITS_ARITHMETIC; k++) {
			int64_t at = i - depth[k] + 1;
			if (at < 0 || !valid[at % 32])
				continue;
			uint32_t want = expected[at % 32][k];
			checks++;
			nans += tac_chip_is_nan(want);
			subnormal += (want & 0x7F800000) == 0 && (want & 0x007FFFFF) != 0;
			if (tac_chip_is_nan(want) ? out[k] != 0x7FC00000 : out[k] != want) {
				printf("unit %d: %08x, expected %08x\n", k, out[k], want);
				TEST_FAIL_MESSAGE("the arithmetic differs from the host's");
			}
		}
	}
	printf("%lld results, %lld of them NaN, %lld subnormal\n", (long long)checks, (long long)nans,
	       (long long)subnormal);
	TEST_ASSERT_GREATER_THAN(rounds / 100, nans);
	TEST_ASSERT_GREATER_THAN(rounds / 100, subnormal);
}

// ---- IT-Unit ----

// Coordinates on a small grid, so that vertices in the plane and in edges are frequent; sometimes huge or
// tiny.
static float coordinate(int kind)
{
	float grid = (float)((int)tac_rng_below(&rng, 5) - 2) * 0.5F;
	switch (kind) {
	case 0:
		return grid;
	case 1:
		return (float)tac_rng_range_f64(&rng, -1.5, 1.5);
	case 2:
		return tac_rng_below(&rng, 3) == 0 ? ldexpf(grid, (int)tac_rng_below(&rng, 250) - 125) : grid;
	default:
		return grid + ldexpf((float)tac_rng_range_f64(&rng, -1, 1), -19);
	}
}

static void the_it_unit_gives_the_model_s_verdict_and_counts(void)
{
	int verdicts[2][3] = {{0}};
	uint32_t most[2] = {0};
	for (int round = 0; round < test_rounds(400000); round++) {
		bool closed = round % 2 == 0;
		int kind = round / 2 % 4, flat = round / 8 % 4 == 0;
		uint32_t registers[24];
		uint8_t lines[15][2];
		for (int i = 0; i < 24; i++) {
			chip->dop[i] = flat && i % 3 == 2 ? 0.0F : coordinate(kind);
			registers[i] = tac_chip_bits(chip->dop[i]);
		}
		for (int e = 0; e < 3; e++) {
			int p = 3 * e, q = 3 * ((e + 1) % 3);
			const int pairs[5][2] = {
				{p, q + 2}, {q, p + 2}, {p + 1, q + 2}, {q + 1, p + 2}, {q + 2, p + 2}};
			for (int k = 0; k < 5; k++) {
				bool odd = round % 1000 == 0; // any lines
				int i = odd ? (int)tac_rng_below(&rng, 24) : pairs[k][0];
				int j = odd ? (int)tac_rng_below(&rng, 24) : pairs[k][1];
				chip->lines[TAC_CHIP_CORR_IT + 5 * e + k] =
					(tac_chip_line){.i = (uint8_t)i, .k = (uint8_t)j};
				lines[5 * e + k][0] = (uint8_t)i;
				lines[5 * e + k][1] = (uint8_t)j;
			}
		}
		float largest = kind == 2 ? 0x1p-130F : 1.5F;
		chip->master.ctrl = closed ? TAC_CHIP_CLOSED_TRI : 0;
		chip->counters[TAC_CHIP_IT_EDGES] = chip->counters[TAC_CHIP_IT_SKIPPED] = 0;
		tac_chip_verdict expected = tac_chip_it(chip, largest);
		units_it got =
			units->it(closed, tac_chip_bits(largest), registers, (const uint8_t(*)[2])lines);
		tac_chip_verdict verdict = got.hit     ? TAC_CHIP_IT_HIT
					   : got.apart ? TAC_CHIP_IT_APART
						       : TAC_CHIP_IT_MISS;
		TEST_ASSERT_EQUAL(expected, verdict);
		TEST_ASSERT_EQUAL(chip->counters[TAC_CHIP_IT_EDGES], got.edges);
		TEST_ASSERT_EQUAL(chip->counters[TAC_CHIP_IT_SKIPPED], got.skipped);
		verdicts[closed][verdict]++;
		bool coplanar = closed && got.edges == 0;
		most[coplanar] = got.clocks > most[coplanar] ? got.clocks : most[coplanar];
	}
	printf("printed test: %d misses, %d hits; closed: %d misses, %d hits, %d apart; at most %u clocks, "
	       "in the plane %u\n",
	       verdicts[0][0], verdicts[0][1], verdicts[1][0], verdicts[1][1], verdicts[1][2], most[0],
	       most[1]);
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_GREATER_THAN(test_rounds(4000), verdicts[i][TAC_CHIP_IT_MISS]);
		TEST_ASSERT_GREATER_THAN(test_rounds(4000), verdicts[i][TAC_CHIP_IT_HIT]);
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(4000), verdicts[1][TAC_CHIP_IT_APART]);
}

// ---- Results Register Bank and comparators ----

// Any bits; small whole numbers, with both zeros; special numbers.
static uint32_t bound(int kind)
{
	const float whole = (float)((int)tac_rng_below(&rng, 9) - 2);
	return kind == 0   ? tac_rng_u32(&rng)
	       : kind == 1 ? tac_chip_bits(whole) | (whole == 0.0F ? tac_rng_below(&rng, 2) << 31 : 0)
			   : special[tac_rng_below(&rng, SPECIALS)];
}

static void the_comparators_decide_as_the_model_does(void)
{
	int overlaps = 0, nans = 0;
	for (int round = 0; round < test_rounds(80000); round++) {
		int kind = tac_rng_below(&rng, 8) == 0 ? 0 : tac_rng_below(&rng, 16) == 0 ? 2 : 1;
		for (int sibling = 0; sibling < 2; sibling++)
			for (int i = 0; i < 24; i++) {
				uint32_t d = bound(kind);
				units->store(sibling, i, d);
				chip->results[sibling].limit[(i + 12) % 24] = tac_chip_key(d ^ 0x80000000);
			}
		for (int node = 0; node < 4; node++) {
			uint32_t e[24];
			for (int i = 0; i < 24; i++)
				e[i] = bound(kind);
			bool valid = tac_chip_load_e(chip, e);
			uint32_t expected = (uint32_t)tac_chip_overlap(chip, &chip->results[0]) |
					    (uint32_t)tac_chip_overlap(chip, &chip->results[1]) << 1 |
					    (uint32_t)!valid << 2;
			TEST_ASSERT_EQUAL_HEX32(expected, units->compare(e));
			overlaps += (expected & 3) != 0;
			nans += !valid;
		}
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(8000), overlaps);
	TEST_ASSERT_GREATER_THAN(test_rounds(8000), nans);
}

// ---- Address Generators: which schedules work ----

static void the_check_of_a_schedule_finds_what_stepping_the_generators_finds(void)
{
	int refused = 0, invalid = 0, rounds = test_rounds(40000);
	for (int round = 0; round < rounds; round++) {
		uint32_t lines[66] = {0};
		tac_chip_line rows[24];
		uint32_t delay =
			tac_rng_below(&rng, 4) == 0 ? tac_rng_below(&rng, 256) : tac_rng_below(&rng, 30);
		bool any = round % 8 == 0, exists = true;
		for (int l = 0; l < 66; l++) {
			uint32_t i = (uint32_t)l % 24, k = tac_rng_below(&rng, 24),
				 m = tac_rng_below(&rng, 24), n = 0;
			if (round % 2 != 0) { // sorted by one of the words, which is the last
				uint32_t last = (uint32_t)l % 24, which = (uint32_t)round / 2 % 3;
				k = which == 0 ? last : tac_rng_below(&rng, last + 1);
				m = which == 1 ? last : tac_rng_below(&rng, last + 1);
				n = which == 2 ? last : 0;
			}
			if (any && tac_rng_below(&rng, 100) == 0)
				i = tac_rng_below(&rng, 32);
			if (any && tac_rng_below(&rng, 100) == 0)
				n = tac_rng_below(&rng, 32);
			lines[l] = i | k << 5 | m << 10 | n << 15;
			if (l < 24)
				rows[l] = (tac_chip_line){
					.i = (uint8_t)i, .k = (uint8_t)k, .m = (uint8_t)m, .n = (uint8_t)n};
			exists = exists && i < 24 && n < 24;
		}
		uint32_t got = units->schedule(lines, delay);
		TEST_ASSERT_EQUAL(exists, (got & 2) == 0);
		invalid += !exists;
		if (!exists) // the chip does not start
			continue;
		tac_chip_schedule schedule = tac_chip_schedule_run(rows, (int)delay);
		bool works = schedule.early_reads == 0 && schedule.missing_results == 0;
		TEST_ASSERT_EQUAL(works, (got & 1) == 0);
		refused += !works;
	}
	TEST_ASSERT_GREATER_THAN(rounds / 50, invalid);
	TEST_ASSERT_GREATER_THAN(rounds / 10, refused);
	TEST_ASSERT_LESS_THAN(rounds - rounds / 5, refused);
}

// ---- Stack Engine ----

enum { RESET = 1, ROOT, FRAME, TARGETS, APPEND, FLIP, RELEASE, HOME, PUSH, CANCEL, RETURN };

static tac_chip_list source, target[2];

static void same_stack(const units_stack *s)
{
	TEST_ASSERT_EQUAL(chip->stack.used[0] + chip->stack.used[1], s->used);
	TEST_ASSERT_EQUAL(chip->stack.level, s->level);
}

// Compares the words of the source list.
static void same_source(uint32_t words)
{
	for (uint32_t i = 0; i < source.length; i++)
		TEST_ASSERT_EQUAL_HEX32(tac_chip_list_get(chip, &source, i), units->stack_get(words, i));
}

// One level: the frame, the new lists, for leaves one more scan, then down or up. False: the stack is full or
// empty.
static bool stack_level(uint32_t words)
{
	units_stack s = units->stack(words, FRAME, 0, 0, false);
	bool fits = tac_chip_frame_begin(chip);
	TEST_ASSERT_EQUAL(!fits, s.full);
	if (!fits)
		return false;
	units->stack(words, TARGETS, 0, 0, false);
	bool leaf[2];
	for (uint32_t x = 0; x < 2; x++) {
		target[x] = tac_chip_list_begin(&chip->stack, x);
		leaf[x] = tac_rng_below(&rng, 3) == 0;
	}
	same_source(words);
	for (uint32_t scan = 2, guard = 0; guard < 20; guard++) { // 2: both siblings
		for (uint32_t i = tac_rng_below(&rng, 5); i > 0; i--) {
			uint32_t x = scan == 2 ? tac_rng_below(&rng, 2) : scan, word = tac_rng_u32(&rng);
			s = units->stack(words, APPEND, (int)x, word, false);
			fits = tac_chip_list_append(chip, &target[x], word);
			TEST_ASSERT_EQUAL(!fits, s.full);
			if (!fits)
				return false;
			TEST_ASSERT_EQUAL(target[x].length, s.length[x]);
			same_stack(&s);
		}
		if (scan == 2) {
			scan = 0;
		} else {
			units->stack(words, RELEASE, 0, 0, false);
			tac_chip_list_release(&chip->stack, &source);
		}
		for (; scan < 2; scan++) {
			if (!leaf[scan])
				continue;
			if (target[scan].length > 0 && guard < 15) {
				source = target[scan];
				target[scan] = tac_chip_list_begin(&chip->stack, 1 - source.side);
				s = units->stack(words, FLIP, (int)scan, 0, false);
				TEST_ASSERT_EQUAL(source.length, s.source);
				same_source(words);
				break;
			}
			if (target[scan].length > 0)
				return false; // this leaf goes on and on
			target[scan] = tac_chip_list_begin(&chip->stack, scan);
			s = units->stack(words, HOME, (int)scan, 0, false);
			same_stack(&s);
		}
		if (scan == 2)
			break;
	}
	if (target[0].length > 0 || target[1].length > 0) {
		uint32_t x = target[0].length > 0 ? 0 : 1, pair = tac_rng_u32(&rng) & ~UINT32_C(255);
		s = units->stack(words, PUSH, (int)x, pair, x == 1);
		tac_chip_frame_push(chip, pair, x == 1, target);
		source = target[x];
		same_stack(&s);
		return true;
	}
	units->stack(words, CANCEL, 0, 0, false);
	tac_chip_frame_cancel(chip);
	uint32_t pair;
	s = units->stack(words, RETURN, 0, 0, false);
	bool found = tac_chip_frame_return(chip, &pair, &source);
	TEST_ASSERT_EQUAL(found, s.found);
	same_stack(&s);
	if (found)
		TEST_ASSERT_EQUAL_HEX32(pair, s.pair);
	return found;
}

static void the_stack_engine_follows_the_model_s_through_random_traversals(void)
{
	uint32_t deepest = 0;
	int emptied = 0;
	for (int round = 0; round < test_rounds(12000); round++) {
		uint32_t words = round % 3 == 0 ? tac_rng_below(&rng, 65) : 64;
		chip->status = TAC_CHIP_BUSY;
		tac_chip_stack_reset(&chip->stack, words);
		units->stack(words, RESET, 0, 0, false);
		source = tac_chip_list_begin(&chip->stack, 0);
		uint32_t word = tac_rng_u32(&rng);
		units_stack s = units->stack(words, ROOT, 0, word, false);
		bool fits = tac_chip_list_append(chip, &source, word);
		TEST_ASSERT_EQUAL(!fits, s.full);
		while (fits && stack_level(words))
			deepest = chip->stack.level > deepest ? chip->stack.level : deepest;
		emptied += fits && chip->stack.level == 0;
	}
	TEST_ASSERT_GREATER_THAN(3, deepest);
	TEST_ASSERT_GREATER_THAN(test_rounds(400), emptied);
}

int main(void)
{
	const char *other = getenv("TACTUS_RTL_UNITS"); // a mutant (mutate.py)
	void *library = dlopen(other ? other : TACTUS_RTL_UNITS, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	void *symbol = dlsym(library, "units_plugin");
	const units_api *(*plugin)(void);
	memcpy(&plugin, &symbol, sizeof plugin);
	units = plugin();
	fill_specials();
	UNITY_BEGIN();
	RUN_TEST(products_sums_and_dotadd_equal_the_host_s_in_every_depth);
	RUN_TEST(the_it_unit_gives_the_model_s_verdict_and_counts);
	RUN_TEST(the_comparators_decide_as_the_model_does);
	RUN_TEST(the_check_of_a_schedule_finds_what_stepping_the_generators_finds);
	RUN_TEST(the_stack_engine_follows_the_model_s_through_random_traversals);
	return UNITY_END();
}
