#include "rt/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unity.h>

#include "rt/clock.h"
#include "tests/support/catch_assert.h"
#include "tests/support/stamped.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_ring *create(uint32_t capacity, size_t element_bytes)
{
	tac_ring *ring = NULL;
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_ring_create(capacity, element_bytes, &ring));
	TEST_ASSERT_NOT_NULL(ring);
	TEST_ASSERT_EQUAL_UINT32(capacity, tac_ring_capacity(ring));
	TEST_ASSERT_EQUAL_UINT64(element_bytes, tac_ring_element_bytes(ring));
	return ring;
}

static void elements_leave_in_the_order_of_their_arrival(void)
{
	tac_ring *ring = create(4, sizeof(int));
	for (int i = 0; i < 4; i++)
		TEST_ASSERT_TRUE(tac_ring_push(ring, &i));
	for (int i = 0; i < 4; i++) {
		int popped = -1;
		TEST_ASSERT_TRUE(tac_ring_pop(ring, &popped));
		TEST_ASSERT_EQUAL_INT(i, popped);
	}
	tac_ring_destroy(&ring);
}

static void a_full_ring_refuses_and_counts_and_keeps_what_it_has(void)
{
	tac_ring *ring = create(2, sizeof(int));
	TEST_ASSERT_TRUE(tac_ring_push(ring, &(int){1}));
	TEST_ASSERT_TRUE(tac_ring_push(ring, &(int){2}));
	TEST_ASSERT_EQUAL_UINT64(0, tac_ring_refused(ring));
	TEST_ASSERT_FALSE(tac_ring_push(ring, &(int){3}));
	TEST_ASSERT_FALSE(tac_ring_push(ring, &(int){4}));
	TEST_ASSERT_EQUAL_UINT64(2, tac_ring_refused(ring));
	TEST_ASSERT_EQUAL_UINT32(2, tac_ring_count(ring));

	int popped = 0;
	TEST_ASSERT_TRUE(tac_ring_pop(ring, &popped));
	TEST_ASSERT_EQUAL_INT(1, popped);
	TEST_ASSERT_TRUE(tac_ring_push(ring, &(int){5}));
	TEST_ASSERT_TRUE(tac_ring_pop(ring, &popped));
	TEST_ASSERT_EQUAL_INT(2, popped);
	TEST_ASSERT_TRUE(tac_ring_pop(ring, &popped));
	TEST_ASSERT_EQUAL_INT(5, popped);
	TEST_ASSERT_EQUAL_UINT64(2, tac_ring_refused(ring));
	tac_ring_destroy(&ring);
}

static void popping_an_empty_ring_leaves_the_output_unchanged(void)
{
	tac_ring *ring = create(2, sizeof(int));
	int popped = 42;
	TEST_ASSERT_FALSE(tac_ring_pop(ring, &popped));
	TEST_ASSERT_EQUAL_INT(42, popped);
	tac_ring_push(ring, &(int){1});
	tac_ring_pop(ring, &popped);
	popped = 43;
	TEST_ASSERT_FALSE(tac_ring_pop(ring, &popped));
	TEST_ASSERT_EQUAL_INT(43, popped);
	tac_ring_destroy(&ring);
}

static void capacity_one_alternates(void)
{
	tac_ring *ring = create(1, sizeof(int));
	tac_ring_rebase(ring, UINT32_MAX - 3);
	for (int i = 0; i < 10; i++) {
		int popped = -1;
		TEST_ASSERT_TRUE(tac_ring_push(ring, &i));
		TEST_ASSERT_FALSE(tac_ring_push(ring, &(int){99}));
		TEST_ASSERT_EQUAL_UINT32(1, tac_ring_count(ring));
		TEST_ASSERT_TRUE(tac_ring_pop(ring, &popped));
		TEST_ASSERT_EQUAL_INT(i, popped);
		TEST_ASSERT_FALSE(tac_ring_pop(ring, &popped));
		TEST_ASSERT_EQUAL_UINT32(0, tac_ring_count(ring));
	}
	TEST_ASSERT_EQUAL_UINT64(10, tac_ring_refused(ring));
	tac_ring_destroy(&ring);
}

// The counters lie at the beginning of the producer's and the consumer's line.
static _Atomic uint32_t *counter(tac_ring *ring, bool of_consumer)
{
	return (_Atomic uint32_t *)((unsigned char *)ring + (of_consumer ? TAC_RING_ALIGN : 0));
}

static void an_end_does_not_follow_counters_that_are_impossible(void)
{
	tac_ring *ring = create(4, sizeof(int));
	tac_ring_end producer = tac_ring_join_producer(ring, 4, sizeof(int));
	tac_ring_end consumer = tac_ring_join_consumer(ring, 4, sizeof(int));
	int popped = -1;
	for (int i = 0; i < 3; i++)
		TEST_ASSERT_TRUE(tac_ring_push_from(ring, &producer, &i));
	*counter(ring, false) = 100; // the consumer drops what it cannot tell from garbage
	TEST_ASSERT_FALSE(tac_ring_pop_to(ring, &consumer, &popped));
	TEST_ASSERT_EQUAL_INT(-1, popped);
	TEST_ASSERT_EQUAL_UINT32(100, *counter(ring, true));
	for (int i = 0; i < 8; i++) // the producer refuses, and restores its counter
		if (!tac_ring_push_from(ring, &producer, &i))
			break;
	TEST_ASSERT_EQUAL_UINT64(1, tac_ring_end_refused(&producer));
	TEST_ASSERT_EQUAL_UINT32(4, *counter(ring, false));
	TEST_ASSERT_FALSE(tac_ring_pop_to(ring, &consumer, &popped));
	TEST_ASSERT_TRUE(tac_ring_push_from(ring, &producer, &(int){77}));
	TEST_ASSERT_TRUE(tac_ring_pop_to(ring, &consumer, &popped));
	TEST_ASSERT_EQUAL_INT(77, popped);
	tac_ring_destroy(&ring);
}

static void an_end_that_joins_goes_on_where_the_last_one_stopped(void)
{
	tac_ring *ring = create(4, sizeof(int));
	tac_ring_rebase(ring, UINT32_MAX - 5);
	int popped = -1;
	for (int i = 0; i < 20; i++) {
		tac_ring_end producer = tac_ring_join_producer(ring, 4, sizeof(int));
		TEST_ASSERT_TRUE(tac_ring_push_from(ring, &producer, &i));
		if (i % 2 == 0)
			continue;
		tac_ring_end consumer = tac_ring_join_consumer(ring, 4, sizeof(int));
		for (int k = i - 1; k <= i; k++) {
			TEST_ASSERT_TRUE(tac_ring_pop_to(ring, &consumer, &popped));
			TEST_ASSERT_EQUAL_INT(k, popped);
		}
	}
	tac_ring_destroy(&ring);
}

// Random pushes and pops, compared with the simplest queue: all accepted values in one long array.
static void check_against_array(uint32_t capacity, size_t element_bytes, uint32_t start)
{
	enum { STEPS = 4000, BYTES_MAX = 256 };
	static unsigned char accepted[STEPS][BYTES_MAX];
	size_t bytes = tac_ring_bytes(capacity, element_bytes);
	unsigned char *memory = aligned_alloc(TAC_RING_ALIGN, bytes + TAC_RING_ALIGN);
	memset(memory + bytes, 0xa5, TAC_RING_ALIGN);
	tac_ring *ring = tac_ring_init(memory, bytes, capacity, element_bytes);
	tac_ring_rebase(ring, start);

	uint32_t in = 0, out = 0, refused = 0, random = capacity * 2654435761u + start;
	for (int step = 0; step < STEPS; step++) {
		random = random * 1664525u + 1013904223u;
		// Long runs of either kind, so that the ring is often full and often empty.
		bool push = ((random >> 24) & 15u) < ((step / 64) % 2 ? 12u : 4u);
		unsigned char element[BYTES_MAX];
		if (push) {
			for (size_t i = 0; i < element_bytes; i++)
				element[i] = (unsigned char)((random >> 8) + i * 7);
			bool stored = tac_ring_push(ring, element);
			TEST_ASSERT_EQUAL(in - out < capacity, stored);
			if (stored)
				memcpy(accepted[in++], element, element_bytes);
			else
				refused++;
		} else {
			bool taken = tac_ring_pop(ring, element);
			TEST_ASSERT_EQUAL(in != out, taken);
			if (taken)
				TEST_ASSERT_EQUAL_MEMORY(accepted[out++], element, element_bytes);
		}
		TEST_ASSERT_EQUAL_UINT32(in - out, tac_ring_count(ring));
	}
	TEST_ASSERT_EQUAL_UINT64(refused, tac_ring_refused(ring));
	TEST_ASSERT_EACH_EQUAL_UINT8(0xa5, memory + bytes, TAC_RING_ALIGN);
	free(memory);
}

static void any_sequence_of_calls_equals_an_array_across_the_wrap(void)
{
	static const uint32_t capacities[] = {1, 2, 4, 64};
	static const size_t sizes[] = {1, 3, 8, 64, 200, 256};
	static const uint32_t starts[] = {0, UINT32_MAX - 100, UINT32_MAX, UINT32_C(1) << 31};
	for (size_t c = 0; c < 4; c++)
		for (size_t s = 0; s < 6; s++)
			for (size_t i = 0; i < 4; i++)
				check_against_array(capacities[c], sizes[s], starts[i]);
}

static void destroy_nulls_the_pointer(void)
{
	tac_ring *ring = create(2, 8);
	tac_ring_destroy(&ring);
	TEST_ASSERT_NULL(ring);
	tac_ring_destroy(&ring);
}

// Misuse.

static bool init_asserts(void *memory, size_t memory_bytes, uint32_t capacity, size_t element_bytes)
{
	tac_assert_set(catch_assert);
	bool asserted = setjmp(caught) != 0;
	if (!asserted)
		tac_ring_init(memory, memory_bytes, capacity, element_bytes);
	tac_assert_set(NULL);
	return asserted;
}

static void misuse_asserts(void)
{
#ifdef TAC_NO_ASSERT
	TEST_IGNORE_MESSAGE("built without assertions");
#endif
	static _Alignas(TAC_RING_ALIGN) unsigned char memory[4096];
	size_t bytes = tac_ring_bytes(4, 16);
	TEST_ASSERT_FALSE(init_asserts(memory, bytes, 4, 16));
	TEST_ASSERT_TRUE(init_asserts(memory, sizeof memory, 3, 16));
	TEST_ASSERT_TRUE(init_asserts(memory, sizeof memory, 0, 16));
	TEST_ASSERT_TRUE(init_asserts(memory, sizeof memory, 4, 0));
	TEST_ASSERT_TRUE(init_asserts(memory, SIZE_MAX, TAC_RING_CAPACITY_MAX, SIZE_MAX / 4));
	TEST_ASSERT_TRUE(init_asserts(memory, bytes - 1, 4, 16));
	TEST_ASSERT_TRUE(init_asserts(memory + 8, bytes, 4, 16));
	TEST_ASSERT_TRUE(init_asserts(NULL, bytes, 4, 16));
}

// Two threads. The number of a refused element is used again for the next one, so the consumer must see 1, 2,
// 3, … without a gap.

typedef struct stream {
	tac_ring *ring;
	_Atomic bool stop;
	uint64_t attempts, accepted; // by the producer, read after it was joined
} stream;

static void *push_until_stopped(void *arg)
{
	stream *s = arg;
	int refused_in_a_row = 0;
	while (!atomic_load(&s->stop)) {
		stamped element;
		stamped_fill(&element, s->accepted + 1);
		s->attempts++;
		bool stored = tac_ring_push(s->ring, &element);
		s->accepted += stored;
		refused_in_a_row = stored ? 0 : refused_in_a_row + 1;
		if (refused_in_a_row > 1000) // both threads may be on one core
			sched_yield();
	}
	return NULL;
}

static void stream_through(uint32_t capacity, int64_t duration_ns)
{
	enum {
		BEFORE_WRAP = 100
	}; // each element may take a turn of both threads on a core that others share
	stream s = {.ring = create(capacity, sizeof(stamped))};
	tac_ring_rebase(s.ring, UINT32_MAX - BEFORE_WRAP);
	pthread_t producer;
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&producer, NULL, push_until_stopped, &s));

	uint64_t popped = 0, wrong = 0, overfull = 0;
	int64_t begin_ns = tac_clock_now_ns();
	int empty_in_a_row = 0;
	bool producing = true;
	for (bool more = true; more || producing;) {
		stamped element;
		more = tac_ring_pop(s.ring, &element);
		if (more) {
			popped++;
			wrong += element.words[0] != popped || !stamped_whole(&element);
		}
		overfull += tac_ring_count(s.ring) > capacity;
		empty_in_a_row = more ? 0 : empty_in_a_row + 1;
		if (empty_in_a_row > 1000)
			sched_yield();
		// Long enough and past the wrap, with a time limit.
		int64_t age_ns = tac_clock_now_ns() - begin_ns;
		if (producing &&
		    ((age_ns > duration_ns && popped > 2 * BEFORE_WRAP) || age_ns > 120 * TAC_NS_PER_S)) {
			atomic_store(&s.stop, true);
			pthread_join(producer, NULL);
			producing = false;
			more = true; // drain the rest
		}
	}
	TEST_ASSERT_EQUAL_UINT64(0, wrong);
	TEST_ASSERT_EQUAL_UINT64(0, overfull);
	TEST_ASSERT_EQUAL_UINT64(s.accepted, popped);
	TEST_ASSERT_EQUAL_UINT64(s.attempts, s.accepted + tac_ring_refused(s.ring));
	TEST_ASSERT_EQUAL_UINT32(0, tac_ring_count(s.ring));
	TEST_ASSERT_GREATER_THAN_UINT64(BEFORE_WRAP, popped);
	tac_ring_destroy(&s.ring);
}

static void nothing_is_lost_or_torn_between_two_threads_across_the_wrap(void)
{
	stream_through(8, TAC_NS_PER_S);
}

static void nothing_is_lost_or_torn_with_one_slot(void)
{
	stream_through(1, TAC_NS_PER_S / 2);
}

static void nothing_is_lost_or_torn_with_many_slots(void)
{
	stream_through(1024, TAC_NS_PER_S / 2);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(elements_leave_in_the_order_of_their_arrival);
	RUN_TEST(a_full_ring_refuses_and_counts_and_keeps_what_it_has);
	RUN_TEST(popping_an_empty_ring_leaves_the_output_unchanged);
	RUN_TEST(capacity_one_alternates);
	RUN_TEST(an_end_does_not_follow_counters_that_are_impossible);
	RUN_TEST(an_end_that_joins_goes_on_where_the_last_one_stopped);
	RUN_TEST(any_sequence_of_calls_equals_an_array_across_the_wrap);
	RUN_TEST(destroy_nulls_the_pointer);
	RUN_TEST(misuse_asserts);
	RUN_TEST(nothing_is_lost_or_torn_between_two_threads_across_the_wrap);
	RUN_TEST(nothing_is_lost_or_torn_with_one_slot);
	RUN_TEST(nothing_is_lost_or_torn_with_many_slots);
	return UNITY_END();
}
