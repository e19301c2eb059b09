#include "rt/latest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unity.h>

#include "rt/clock.h"
#include "tests/support/catch_assert.h"
#include "tests/support/stamped.h"

static tac_latest *latest;

void setUp(void)
{
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_latest_create(sizeof(stamped), &latest));
}

void tearDown(void)
{
	tac_latest_destroy(&latest);
}

static void publish(uint64_t sequence)
{
	stamped_fill(tac_latest_begin(latest), sequence);
	tac_latest_publish(latest);
}

static uint64_t sequence_of(const void *payload)
{
	return ((const stamped *)payload)->words[0];
}

static void nothing_to_read_before_the_first_publish(void)
{
	bool fresh = true;
	TEST_ASSERT_NULL(tac_latest_read(latest, &fresh));
	TEST_ASSERT_FALSE(fresh);

	stamped_fill(tac_latest_begin(latest), 7);
	TEST_ASSERT_NULL(tac_latest_read(latest, &fresh));
	TEST_ASSERT_FALSE(fresh);

	tac_latest_publish(latest);
	TEST_ASSERT_EQUAL_UINT64(7, sequence_of(tac_latest_read(latest, NULL)));
}

static void a_payload_is_fresh_once(void)
{
	bool fresh = false;
	publish(1);
	const void *first = tac_latest_read(latest, &fresh);
	TEST_ASSERT_TRUE(fresh);
	TEST_ASSERT_EQUAL_PTR(first, tac_latest_read(latest, &fresh));
	TEST_ASSERT_FALSE(fresh);
	TEST_ASSERT_EQUAL_UINT64(1, sequence_of(first));

	publish(1); // equal content is still a new payload
	tac_latest_read(latest, &fresh);
	TEST_ASSERT_TRUE(fresh);
}

static void the_reader_gets_the_newest_and_the_rest_is_counted(void)
{
	for (uint64_t i = 1; i <= 10; i++)
		publish(i);
	TEST_ASSERT_EQUAL_UINT64(9, tac_latest_overwritten(latest));
	TEST_ASSERT_EQUAL_UINT64(10, sequence_of(tac_latest_read(latest, NULL)));
	publish(11);
	TEST_ASSERT_EQUAL_UINT64(9, tac_latest_overwritten(latest));
	publish(12);
	TEST_ASSERT_EQUAL_UINT64(10, tac_latest_overwritten(latest));
}

static void the_readers_payload_stays_while_the_writer_publishes(void)
{
	publish(1);
	const stamped *held = tac_latest_read(latest, NULL);
	for (uint64_t i = 2; i < 20; i++) {
		publish(i);
		TEST_ASSERT_EQUAL_UINT64(1, held->words[0]);
		TEST_ASSERT_TRUE(stamped_whole(held));
	}
}

static void begin_returns_the_same_aligned_slot_until_publish(void)
{
	for (uint64_t i = 0; i < 6; i++) {
		void *slot = tac_latest_begin(latest);
		TEST_ASSERT_EQUAL_UINT64(0, (uintptr_t)slot % TAC_LATEST_ALIGN);
		TEST_ASSERT_EQUAL_PTR(slot, tac_latest_begin(latest));
		publish(i);
		TEST_ASSERT_TRUE(slot != tac_latest_begin(latest));
		if (i % 2)
			TEST_ASSERT_EQUAL_PTR(slot, tac_latest_read(latest, NULL));
	}
}

static void any_payload_size_fits_the_callers_memory(void)
{
	static const size_t sizes[] = {1, 7, 63, 64, 65, 200, 4096, 4097};
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		size_t bytes = tac_latest_bytes(sizes[s]);
		unsigned char *memory = aligned_alloc(TAC_LATEST_ALIGN, bytes + TAC_LATEST_ALIGN);
		unsigned char *payload = malloc(sizes[s]);
		memset(memory + bytes, 0xa5, TAC_LATEST_ALIGN);
		tac_latest *own = tac_latest_init(memory, bytes, sizes[s]);
		TEST_ASSERT_EQUAL_UINT64(sizes[s], tac_latest_payload_bytes(own));
		// Every slot is the writer's, the middle and the reader's once.
		for (int i = 1; i < 12; i++) {
			memset(payload, i, sizes[s]);
			tac_latest_write(own, payload);
			if (i % 3)
				TEST_ASSERT_EACH_EQUAL_UINT8(i, tac_latest_read(own, NULL), sizes[s]);
		}
		TEST_ASSERT_EACH_EQUAL_UINT8(0xa5, memory + bytes, TAC_LATEST_ALIGN);
		free(payload);
		free(memory);
	}
}

static void destroy_nulls_the_pointer(void)
{
	tac_latest *own = NULL;
	tac_latest_create(8, &own);
	TEST_ASSERT_NOT_NULL(own);
	tac_latest_destroy(&own);
	TEST_ASSERT_NULL(own);
	tac_latest_destroy(&own);
}

// Misuse.

static bool init_asserts(void *memory, size_t memory_bytes, size_t payload_bytes)
{
	tac_assert_set(catch_assert);
	bool asserted = setjmp(caught) != 0;
	if (!asserted)
		tac_latest_init(memory, memory_bytes, payload_bytes);
	tac_assert_set(NULL);
	return asserted;
}

static void misuse_asserts(void)
{
#ifdef TAC_NO_ASSERT
	TEST_IGNORE_MESSAGE("built without assertions");
#endif
	static _Alignas(TAC_LATEST_ALIGN) unsigned char memory[4096];
	size_t bytes = tac_latest_bytes(64);
	TEST_ASSERT_FALSE(init_asserts(memory, sizeof memory, 64));
	TEST_ASSERT_TRUE(init_asserts(memory, sizeof memory, 0));
	TEST_ASSERT_TRUE(init_asserts(memory, sizeof memory, SIZE_MAX));
	TEST_ASSERT_TRUE(init_asserts(memory, sizeof memory, SIZE_MAX / 3));
	TEST_ASSERT_TRUE(init_asserts(memory, bytes - 1, 64));
	TEST_ASSERT_TRUE(init_asserts(memory + 8, bytes, 64));
	TEST_ASSERT_TRUE(init_asserts(NULL, bytes, 64));
}

// Two threads. The harness is independent of what carries the payloads: the triple buffer, or as a control a
// copy word by word without a protocol. The control must tear, or the harness could not detect a tear.

typedef struct carrier {
	void (*write)(uint64_t sequence);
	const stamped *(*read)(bool *out_fresh); // NULL: nothing yet
} carrier;

typedef struct race {
	const carrier *carrier;
	_Atomic bool stop;
	uint64_t written; // by the writer, read after it was joined
} race;

typedef struct tally {
	uint64_t reads, fresh, torn, backwards, changed, wrong_fresh, last;
} tally;

static void *write_until_stopped(void *arg)
{
	race *r = arg;
	while (!atomic_load(&r->stop))
		r->carrier->write(++r->written);
	return NULL;
}

static void read_once(const carrier *via, tally *t, const stamped **held)
{
	// The payload of the last read is still unchanged.
	if (*held && (!stamped_whole(*held) || sequence_of(*held) != t->last))
		t->changed++;
	bool fresh;
	*held = via->read(&fresh);
	if (!*held)
		return;
	uint64_t sequence = sequence_of(*held);
	t->reads++;
	t->fresh += fresh;
	t->torn += !stamped_whole(*held);
	t->backwards += sequence < t->last;
	t->wrong_fresh += fresh == (sequence == t->last);
	t->last = sequence;
}

// Reads for `duration_ns`, or until the first tear with `until_torn`, while another thread writes.
static tally run_race(const carrier *via, int64_t duration_ns, bool until_torn, uint64_t *out_written)
{
	race r = {.carrier = via};
	tally t = {0};
	const stamped *held = NULL;
	pthread_t writer;
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&writer, NULL, write_until_stopped, &r));
	int64_t end_ns = tac_clock_now_ns() + duration_ns;
	do {
		for (int i = 0; i < 64; i++)
			read_once(via, &t, &held);
	} while (tac_clock_now_ns() < end_ns && !(until_torn && t.torn));
	atomic_store(&r.stop, true);
	pthread_join(writer, NULL);
	*out_written = r.written;
	read_once(via, &t, &held); // the last payload must be available now
	return t;
}

static const stamped *read_latest(bool *out_fresh)
{
	return tac_latest_read(latest, out_fresh);
}

static void a_reader_beside_a_writer_sees_whole_payloads_in_order(void)
{
	static const carrier triple_buffer = {publish, read_latest};
	uint64_t written;
	tally t = run_race(&triple_buffer, TAC_NS_PER_S, false, &written);
	TEST_ASSERT_EQUAL_UINT64(0, t.torn);
	TEST_ASSERT_EQUAL_UINT64(0, t.backwards);
	TEST_ASSERT_EQUAL_UINT64(0, t.changed);
	TEST_ASSERT_EQUAL_UINT64(0, t.wrong_fresh);
	TEST_ASSERT_EQUAL_UINT64(written, t.last);
	TEST_ASSERT_EQUAL_UINT64(written, t.fresh + tac_latest_overwritten(latest));
	TEST_ASSERT_GREATER_THAN_UINT64(0, t.fresh);
}

// Payloads of one word, so that the threads do little but swap: a slot with two owners shows in the order or
// in the counts.
static void write_number(uint64_t sequence)
{
	tac_latest_write(latest, &sequence);
}

static void swaps_back_to_back_keep_order_and_counts(void)
{
	tac_latest_destroy(&latest);
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_latest_create(sizeof(uint64_t), &latest));
	static const carrier numbers = {.write = write_number};
	race r = {.carrier = &numbers};
	pthread_t writer;
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&writer, NULL, write_until_stopped, &r));
	uint64_t fresh_reads = 0, wrong = 0, last = 0;
	int64_t end_ns = tac_clock_now_ns() + TAC_NS_PER_S / 2;
	bool writing = true;
	for (bool more = true; more || writing;) {
		const uint64_t *number = tac_latest_read(latest, &more);
		fresh_reads += more;
		wrong += number && (more ? *number <= last : *number != last);
		last = number ? *number : 0;
		if (writing && tac_clock_now_ns() > end_ns) {
			atomic_store(&r.stop, true);
			pthread_join(writer, NULL);
			writing = false;
			more = true; // fetch the last one
		}
	}
	TEST_ASSERT_EQUAL_UINT64(0, wrong);
	TEST_ASSERT_EQUAL_UINT64(r.written, last);
	TEST_ASSERT_EQUAL_UINT64(r.written, fresh_reads + tac_latest_overwritten(latest));
}

// The words are relaxed atomics: valid C, without any order between them.
static _Atomic uint64_t unprotected[STAMPED_WORDS];

static void write_unprotected(uint64_t sequence)
{
	stamped payload;
	stamped_fill(&payload, sequence);
	for (int i = 0; i < STAMPED_WORDS; i++)
		atomic_store_explicit(&unprotected[i], payload.words[i], memory_order_relaxed);
}

static const stamped *read_unprotected(bool *out_fresh)
{
	static stamped copy;
	for (int i = 0; i < STAMPED_WORDS; i++)
		copy.words[i] = atomic_load_explicit(&unprotected[i], memory_order_relaxed);
	*out_fresh = true;
	return copy.words[0] ? &copy : NULL;
}

static void the_same_race_tears_a_copy_without_the_protocol(void)
{
	static const carrier control = {write_unprotected, read_unprotected};
	uint64_t written;
	tally t = run_race(&control, 30 * TAC_NS_PER_S, true, &written);
	TEST_ASSERT_GREATER_THAN_UINT64(0, t.torn);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(nothing_to_read_before_the_first_publish);
	RUN_TEST(a_payload_is_fresh_once);
	RUN_TEST(the_reader_gets_the_newest_and_the_rest_is_counted);
	RUN_TEST(the_readers_payload_stays_while_the_writer_publishes);
	RUN_TEST(begin_returns_the_same_aligned_slot_until_publish);
	RUN_TEST(any_payload_size_fits_the_callers_memory);
	RUN_TEST(destroy_nulls_the_pointer);
	RUN_TEST(misuse_asserts);
	RUN_TEST(a_reader_beside_a_writer_sees_whole_payloads_in_order);
	RUN_TEST(swaps_back_to_back_keep_order_and_counts);
	RUN_TEST(the_same_race_tears_a_copy_without_the_protocol);
	return UNITY_END();
}
