#include "base/arena.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/rng.h"

#include <unity.h>

#include <setjmp.h>
#include <string.h>
#include <unistd.h>

static _Alignas(64) unsigned char block[4096];
static tac_arena arena;

void setUp(void)
{
	tac_arena_init(&arena, block, sizeof block);
}

void tearDown(void)
{
	tac_arena_fini(&arena);
	tac_assert_set(NULL);
	tac_log_set(NULL, NULL);
}

static void allocations_are_aligned_to_a_cache_line_and_do_not_overlap(void)
{
	tac_rng rng = tac_rng_seed(3, 3);
	unsigned char *p[64];
	size_t size[64];
	int count = 0;
	for (; count < 64; count++) {
		size[count] = 1 + tac_rng_below(&rng, 200);
		p[count] = tac_arena_alloc(&arena, size[count]);
		if (!p[count])
			break;
		TEST_ASSERT_EQUAL_UINT64(0, (uintptr_t)p[count] % 64);
		memset(p[count], count, size[count]);
	}
	TEST_ASSERT_GREATER_THAN(10, count);
	for (int i = 0; i < count; i++)
		for (size_t k = 0; k < size[i]; k++)
			TEST_ASSERT_EQUAL_UINT8(i, p[i][k]);
	TEST_ASSERT_TRUE(p[count - 1] + size[count - 1] <= block + sizeof block);
}

static void any_power_of_two_alignment_holds_in_memory_of_any_alignment(void)
{
	for (size_t offset = 0; offset < 70; offset++)
		for (size_t alignment = 1; alignment <= 1024; alignment *= 2) {
			tac_arena_init(&arena, block + offset, sizeof block - offset);
			TEST_ASSERT_NOT_NULL(tac_arena_alloc_aligned(&arena, 1, 1));
			unsigned char *p = tac_arena_alloc_aligned(&arena, 100, alignment);
			TEST_ASSERT_NOT_NULL(p);
			TEST_ASSERT_EQUAL_UINT64(0, (uintptr_t)p % alignment);
			TEST_ASSERT_TRUE(p > block + offset && p + 100 <= block + sizeof block);
			TEST_ASSERT_EQUAL_size_t((size_t)(p + 100 - (block + offset)), arena.used);
		}
}

static void full_arena_refuses_and_counts_without_changing(void)
{
	TEST_ASSERT_NOT_NULL(tac_arena_alloc(&arena, sizeof block));
	TEST_ASSERT_EQUAL_size_t(sizeof block, arena.used);
	TEST_ASSERT_NULL(tac_arena_alloc(&arena, 1));
	TEST_ASSERT_NULL(tac_arena_alloc_aligned(&arena, 0, 1));
	TEST_ASSERT_EQUAL_UINT64(2, arena.refused);
	TEST_ASSERT_EQUAL_size_t(sizeof block, arena.used);
	tac_arena_reset(&arena);
	TEST_ASSERT_NOT_NULL(tac_arena_alloc(&arena, 1));
	TEST_ASSERT_EQUAL_UINT64(2, arena.refused);
}

static void the_last_byte_can_be_allocated_and_no_more(void)
{
	TEST_ASSERT_NOT_NULL(tac_arena_alloc_aligned(&arena, sizeof block - 1, 1));
	TEST_ASSERT_NULL(tac_arena_alloc_aligned(&arena, 2, 1));
	TEST_ASSERT_EQUAL_PTR(block + sizeof block - 1, tac_arena_alloc_aligned(&arena, 1, 1));
	// One byte is left, but the next multiple of 64 is the end.
	tac_arena_reset(&arena);
	TEST_ASSERT_NOT_NULL(tac_arena_alloc(&arena, sizeof block - 1));
	TEST_ASSERT_NULL(tac_arena_alloc(&arena, 1));
}

static void sizes_near_the_limit_do_not_wrap_around(void)
{
	tac_arena_alloc(&arena, 100);
	for (size_t below = 0; below < 300; below++) {
		TEST_ASSERT_NULL(tac_arena_alloc(&arena, SIZE_MAX - below));
		TEST_ASSERT_NULL(tac_arena_alloc_aligned(&arena, SIZE_MAX - below, 1));
	}
	TEST_ASSERT_NULL(tac_arena_alloc_aligned(&arena, 1, SIZE_MAX / 2 + 1));
	TEST_ASSERT_NULL(tac_arena_alloc_array(&arena, SIZE_MAX / 2 + 2, 2)); // the product wraps to 2
	TEST_ASSERT_NULL(tac_arena_alloc_array(&arena, 2, SIZE_MAX / 2 + 2));
	TEST_ASSERT_EQUAL_UINT64(603, arena.refused);
	TEST_ASSERT_EQUAL_size_t(100, arena.used);
	TEST_ASSERT_NOT_NULL(tac_arena_alloc_array(&arena, 10, 12));
	TEST_ASSERT_EQUAL_size_t(128 + 120, arena.used);
}

static void zero_size_gives_distinct_pointers(void)
{
	void *a = tac_arena_alloc(&arena, 0), *b = tac_arena_alloc_array(&arena, 0, 8);
	void *c = tac_arena_alloc_array(&arena, 8, 0);
	TEST_ASSERT_NOT_NULL(a);
	TEST_ASSERT_NOT_NULL(b);
	TEST_ASSERT_NOT_NULL(c);
	TEST_ASSERT_TRUE(a != b && b != c);
}

static void empty_arena_refuses_everything(void)
{
	tac_arena_init(&arena, NULL, 0);
	TEST_ASSERT_NULL(tac_arena_alloc(&arena, 0));
	TEST_ASSERT_NULL(tac_arena_alloc_aligned(&arena, 1, 1));
	TEST_ASSERT_EQUAL_UINT64(2, arena.refused);
	tac_arena_init(&arena, block, sizeof block);
	tac_arena_fini(&arena);
	TEST_ASSERT_NULL(tac_arena_alloc(&arena, 1));
}

static void reset_to_a_mark_gives_back_what_came_after_it(void)
{
	void *kept = tac_arena_alloc(&arena, 10);
	tac_arena_mark mark = tac_arena_get_mark(&arena);
	void *first = tac_arena_alloc(&arena, 1000);
	tac_arena_alloc(&arena, 500);
	size_t high = arena.used;
	tac_arena_reset_to(&arena, mark);
	TEST_ASSERT_EQUAL_PTR(first, tac_arena_alloc(&arena, 20));
	TEST_ASSERT_EQUAL_size_t(high, arena.high_water);
	tac_arena_reset(&arena);
	TEST_ASSERT_EQUAL_PTR(kept, tac_arena_alloc(&arena, 1));
	TEST_ASSERT_EQUAL_size_t(high, arena.high_water);
}

#ifndef TAC_NO_ASSERT
static jmp_buf out_of_assert;

static void leave(const char *condition, const char *file, int line)
{
	(void)condition;
	(void)file;
	(void)line;
	longjmp(out_of_assert, 1);
}

static void a_later_mark_and_an_alignment_that_is_no_power_of_two_are_asserted(void)
{
	volatile int caught = 0;
	tac_arena_alloc(&arena, 100);
	tac_arena_mark mark = tac_arena_get_mark(&arena);
	tac_arena_reset(&arena);
	tac_assert_set(leave);
	if (setjmp(out_of_assert) == 0)
		tac_arena_reset_to(&arena, mark);
	else
		caught++;
	if (setjmp(out_of_assert) == 0)
		tac_arena_alloc_aligned(&arena, 1, 3);
	else
		caught++;
	if (setjmp(out_of_assert) == 0)
		tac_arena_alloc_aligned(&arena, 1, 0);
	else
		caught++;
	if (setjmp(out_of_assert) == 0)
		tac_arena_init(&arena, NULL, 1);
	else
		caught++;
	TEST_ASSERT_EQUAL(4, caught);
}
#endif

static void created_arena_begins_on_a_page_and_is_cleared_by_destroy(void)
{
	const size_t sizes[] = {0, 1, 4096, 100000};
	for (int i = 0; i < 8; i++) {
		tac_arena *created = NULL;
		size_t size = sizes[i / 2];
		TEST_ASSERT_EQUAL(TAC_OK, tac_arena_create(size, i % 2 != 0, &created));
		TEST_ASSERT_EQUAL_size_t(size, created->size);
		TEST_ASSERT_EQUAL_UINT64(0, (uintptr_t)created->memory % (uintptr_t)sysconf(_SC_PAGESIZE));
		unsigned char *p = tac_arena_alloc(created, size);
		TEST_ASSERT_EQUAL(size == 0, p == NULL);
		if (p)
			memset(p, 0xFF, size);
		tac_arena_destroy(&created);
		TEST_ASSERT_NULL(created);
		tac_arena_destroy(&created);
	}
}

static void count_error(void *user, tac_log_level level, const char *message)
{
	(void)message;
	*(int *)user += level == TAC_LOG_ERROR;
}

static void create_reports_when_there_is_not_enough_memory(void)
{
	int errors = 0;
	tac_arena *created = &arena;
	tac_log_set(count_error, &errors);
	TEST_ASSERT_EQUAL(TAC_ERROR_MEMORY, tac_arena_create(SIZE_MAX, false, &created));
	TEST_ASSERT_NULL(created);
	TEST_ASSERT_EQUAL(1, errors);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(allocations_are_aligned_to_a_cache_line_and_do_not_overlap);
	RUN_TEST(any_power_of_two_alignment_holds_in_memory_of_any_alignment);
	RUN_TEST(full_arena_refuses_and_counts_without_changing);
	RUN_TEST(the_last_byte_can_be_allocated_and_no_more);
	RUN_TEST(sizes_near_the_limit_do_not_wrap_around);
	RUN_TEST(zero_size_gives_distinct_pointers);
	RUN_TEST(empty_arena_refuses_everything);
	RUN_TEST(reset_to_a_mark_gives_back_what_came_after_it);
#ifndef TAC_NO_ASSERT
	RUN_TEST(a_later_mark_and_an_alignment_that_is_no_power_of_two_are_asserted);
#endif
	RUN_TEST(created_arena_begins_on_a_page_and_is_cleared_by_destroy);
	RUN_TEST(create_reports_when_there_is_not_enough_memory);
	return UNITY_END();
}
