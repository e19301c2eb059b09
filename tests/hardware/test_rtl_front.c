// The front end of a board in gates, beside the virtual board around the model: the same packets to both,
// valid and broken messages, and the same answers byte for byte. With TAC_TEST_BOARD the gates are those of a
// whole board, with models of its FX2LP and its SDRAM (board_plugin.cpp).
#include "base/crc32.h"
#include "collision/chip_host.h"
#include "devices/board/board_protocol.h"
#include "devices/virtual_board.h"
#include "tests/support/chip_fixture.h"
#include "tests/support/limits.h"

#include <stdio.h>
#include <unity.h>

// tests/support/rtl_virtual_board.c under other names.
tac_result rtl_virtual_board_create(const tac_virtual_board_def *def, tac_virtual_model **out_model);
void rtl_virtual_board_destroy(tac_virtual_model **model);

#ifdef TAC_TEST_BOARD
#define MESSAGE_MAX  4096
#define MEMORY_BYTES (UINT32_C(1) << 25)
#define SRAM_WORDS   4096
#define HIT_CAPACITY 512
#define SERIAL       "U1"
#define CLOCK_HZ     40000000
#define STAGES       23
#define PENDING      6 // requests that fit into its buffers, with their answers
#else
#define MESSAGE_MAX  8192
#define MEMORY_BYTES (UINT32_C(1) << 19)
#define SRAM_WORDS   65536
#define HIT_CAPACITY 65536
#define SERIAL       "V1"
#define CLOCK_HZ     266000000
#define STAGES       6
#define PENDING      3
#endif
#define PACKET          512
#define CHUNK           4000                // bytes of a tree in a message
#define CLOCK_OFFSET    24                  // of the clock in CAPABILITIES
#define COUNTERS_OFFSET 12                  // of the counters in RESULT
#define TREE            (UINT32_C(1) << 18) // where the aligned tree lies
#define ANSWERS         PENDING

static tac_virtual_model *boards[2]; // model, gates
static tac_rng rng;
static uint32_t sequence;

typedef struct {
	uint8_t bytes[ANSWERS * MESSAGE_MAX];
	uint32_t count[ANSWERS];
	int answers;
} answers;

void setUp(void)
{
	rng = tac_rng_seed(3, 3);
	tac_virtual_board_def def = tac_virtual_board_def_default();
	def.memory_bytes = MEMORY_BYTES;
	def.sram_words = SRAM_WORDS;
	def.hit_capacity = HIT_CAPACITY;
	def.serial = SERIAL;
	def.message_max = MESSAGE_MAX;
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_board_create(&def, &boards[0]));
	TEST_ASSERT_EQUAL(TAC_OK, rtl_virtual_board_create(&def, &boards[1]));
}

void tearDown(void)
{
	tac_virtual_board_destroy(&boards[0]);
	rtl_virtual_board_destroy(&boards[1]);
}

// Sends the transfer in packets, as a host controller does.
static void send(tac_virtual_model *board, const uint8_t *bytes, uint32_t count)
{
	for (uint32_t at = 0;;) {
		uint32_t now = count - at < PACKET ? count - at : PACKET;
		while (board->out(board, TAC_BOARD_OUT_ENDPOINT, bytes + at, now, now < PACKET) ==
		       TAC_VIRTUAL_NAK)
			board->step(board, 0);
		at += now;
		if (now < PACKET)
			return;
	}
}

// Takes all answers until the board has nothing left to do.
static void receive(tac_virtual_model *board, answers *out)
{
	out->answers = 0;
	uint32_t at = 0;
	bool inside = false;
	for (int idle = 0; idle < 3;) {
		bool works = board->step(board, 0) != INT64_MAX;
		int got = board->in(board, TAC_BOARD_IN_ENDPOINT, out->bytes + at, PACKET);
		idle = works || got != TAC_VIRTUAL_NAK ? 0 : idle + 1;
		if (got == TAC_VIRTUAL_NAK)
			continue;
		TEST_ASSERT_LESS_THAN(ANSWERS, out->answers);
		if (!inside)
			out->count[out->answers] = 0;
		out->count[out->answers] += (uint32_t)got;
		at += (uint32_t)got;
		inside = got == PACKET;
		out->answers += !inside;
	}
}

// What the gates' counters are if the model has these: each list takes longer by the stages that their DOTADD
// unit has beyond the 6 of the paper, where the schedule is counted. In mode EQ5 a node counts 40 cycles.
static void deepen(uint8_t *result)
{
	uint64_t c[TAC_CHIP_COUNTER_COUNT];
	memcpy(c, result + COUNTERS_OFFSET, sizeof c);
	if (c[TAC_CHIP_CYCLES_XFORM] == 40 * c[TAC_CHIP_TUMBLED_NODES])
		return;
	c[TAC_CHIP_CYCLES_XFORM] += (STAGES - 6) * c[TAC_CHIP_LISTS];
	c[TAC_CHIP_CYCLES_TOTAL] += (STAGES - 6) * c[TAC_CHIP_LISTS];
	memcpy(result + COUNTERS_OFFSET, c, sizeof c);
}

static uint32_t answer_bytes; // of the last answer

// Returns the type of the last answer; both boards give the same. A refusal after the CRC repeats the
// sequence number as the protocol says; the model is less strict there.
static int exchange(const uint8_t *bytes, uint32_t count)
{
	static answers got[2];
	for (int b = 0; b < 2; b++) {
		send(boards[b], bytes, count);
		receive(boards[b], &got[b]);
	}
	TEST_ASSERT_EQUAL(1, got[0].answers);
	TEST_ASSERT_EQUAL(1, got[1].answers);
	TEST_ASSERT_EQUAL(got[0].count[0], got[1].count[0]);
	answer_bytes = got[1].count[0];
	tac_board_message message[2];
	for (int b = 0; b < 2; b++)
		TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_decode(got[b].bytes, got[b].count[0], &message[b]));
	TEST_ASSERT_EQUAL(message[0].type, message[1].type);
	if (message[0].type == TAC_BOARD_CAPABILITIES) { // the boards have different clocks
		uint32_t clock_Hz;
		memcpy(&clock_Hz, message[1].payload + CLOCK_OFFSET, sizeof clock_Hz);
		TEST_ASSERT_EQUAL_UINT32(CLOCK_HZ, clock_Hz);
		memcpy(got[1].bytes + TAC_BOARD_HEADER_BYTES + CLOCK_OFFSET,
		       message[0].payload + CLOCK_OFFSET, sizeof clock_Hz);
	}
	if (message[0].type == TAC_BOARD_RESULT)
		deepen(got[0].bytes + TAC_BOARD_HEADER_BYTES);
	if (message[0].payload_bytes > 0)
		TEST_ASSERT_EQUAL_MEMORY(message[0].payload, message[1].payload, message[0].payload_bytes);
	if (message[1].type == TAC_BOARD_REFUSED && message[0].sequence == 0)
		TEST_ASSERT_TRUE(message[1].sequence == 0 || message[1].payload[0] >= TAC_BOARD_BAD_TYPE);
	else
		TEST_ASSERT_EQUAL_HEX32(message[0].sequence, message[1].sequence);
	return message[1].type;
}

static uint8_t message[MESSAGE_MAX + 1024];

static void write_memory(uint32_t address, const void *bytes, uint32_t count)
{
	for (uint32_t at = 0; at < count;) {
		uint32_t now = count - at < CHUNK ? count - at : CHUNK;
		tac_board_chunk chunk = {
			.address = address + at, .count = now, .bytes = (const uint8_t *)bytes + at};
		size_t size = tac_board_chunk_encode(message, MESSAGE_MAX, ++sequence, &chunk);
		TEST_ASSERT_EQUAL(TAC_BOARD_MEMORY_WRITTEN, exchange(message, (uint32_t)size));
		at += now;
	}
	size_t size = tac_board_range_encode(message, MESSAGE_MAX, ++sequence, TAC_BOARD_MEMORY_CHECK,
					     (tac_board_range){address, count});
	TEST_ASSERT_EQUAL(TAC_BOARD_MEMORY_SUM, exchange(message, (uint32_t)size));
}

static size_t encode_query(uint32_t flags, uint64_t limit, uint32_t hits_max, const fix_tree *a,
			   const fix_tree *b)
{
	tac_dquat q = tac_rng_rotation_f64(&rng);
	tac_dmat3 r = tac_dmat3_from_quat(q);
	tac_chip_query query = {
		.root_tumbled = a->base, .root_aligned = b->base, .extent = a->extent, .flags = flags};
	for (int i = 0; i < 9; i++)
		query.motion.R.m[i / 3][i % 3] = (float)r.m[i / 3][i % 3];
	query.motion.t = tac_vec3_make((float)tac_rng_range_f64(&rng, -1, 1), 0, 0);
	tac_chip_batch batch;
	tac_chip_query_encode(&query, &batch);
	tac_board_query out = {.cycle_limit = limit, .hits_max = hits_max, .write_count = batch.count};
	for (uint32_t i = 0; i < batch.count; i++)
		out.writes[i] = (tac_board_write){batch.writes[i].offset, batch.writes[i].value};
	return tac_board_query_encode(message, MESSAGE_MAX, ++sequence, &out);
}

static fix_tree trees[2];

static void upload_trees(void)
{
	fix_triangle soup[40];
	for (uint32_t i = 0; i < 2; i++) {
		fix_soup(&rng, soup, 40, 0.8);
		trees[i] = fix_build(soup, 40, true, i * TREE, NULL);
		write_memory(trees[i].base, trees[i].words, trees[i].bytes);
	}
}

static void free_trees(void)
{
	fix_free(&trees[0]);
	fix_free(&trees[1]);
}

static void queries_give_the_same_status_counters_and_hits(void)
{
	upload_trees();
	TEST_ASSERT_EQUAL(TAC_BOARD_CAPABILITIES,
			  exchange(message, (uint32_t)tac_board_empty_encode(message, MESSAGE_MAX, ++sequence,
									     TAC_BOARD_HELLO)));
	for (int i = 0; i < test_rounds(120); i++) {
		uint32_t flags =
			(tac_rng_u32(&rng) & (TAC_CHIP_ALL_HITS | TAC_CHIP_CLOSED_TRI | TAC_CHIP_SCHED)) |
			(i % 8 == 7 ? 0 : TAC_CHIP_LAYOUT_R); // the wrong layout is an error of the chip
		size_t size = encode_query(flags, UINT64_MAX, i % 5 == 0 ? 3 : 1000, &trees[0], &trees[1]);
		TEST_ASSERT_EQUAL(TAC_BOARD_RESULT, exchange(message, (uint32_t)size));
		size = tac_board_empty_encode(message, MESSAGE_MAX, ++sequence, TAC_BOARD_ABORT);
		if (i % 10 == 0)
			TEST_ASSERT_EQUAL(TAC_BOARD_ABORTED, exchange(message, (uint32_t)size));
	}
	free_trees();
}

static void the_limit_of_clocks_and_abort_end_a_query_without_an_answer(void)
{
	upload_trees();
	const uint32_t flags = TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS | TAC_CHIP_SCHED;
	for (int by_abort = 0; by_abort < 2; by_abort++) {
		static answers got;
		send(boards[1], message,
		     (uint32_t)encode_query(flags, by_abort ? UINT64_MAX : 300, 10, &trees[0], &trees[0]));
		const uint32_t query = sequence;
		if (by_abort)
			send(boards[1], message,
			     (uint32_t)tac_board_empty_encode(message, MESSAGE_MAX, ++sequence,
							      TAC_BOARD_ABORT));
		receive(boards[1], &got);
		TEST_ASSERT_EQUAL(1 + by_abort, got.answers);
		tac_board_message m;
		TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_decode(got.bytes, got.count[0], &m));
		TEST_ASSERT_EQUAL(TAC_BOARD_RESULT, m.type);
		TEST_ASSERT_EQUAL_HEX32(query, m.sequence);
		TEST_ASSERT_EQUAL(0, m.payload[0] & (TAC_CHIP_BUSY | TAC_CHIP_DONE));
		if (by_abort) {
			TEST_ASSERT_EQUAL(TAC_BOARD_OK,
					  tac_board_decode(got.bytes + got.count[0], got.count[1], &m));
			TEST_ASSERT_EQUAL(TAC_BOARD_ABORTED, m.type);
			TEST_ASSERT_EQUAL_HEX32(sequence, m.sequence);
		}
	}
	free_trees();
}

// A changed byte, a changed byte under a right CRC, a cut or a longer message, and no message at all.
static void broken_messages_are_refused_for_the_same_reason(void)
{
	upload_trees();
	int refused = 0, rounds = test_rounds(1200);
	for (int i = 0; i < rounds; i++) {
		size_t size;
		tac_board_chunk chunk = {.address = tac_rng_below(&rng, 2 * MEMORY_BYTES),
					 .count = 1 + tac_rng_below(&rng, 900),
					 .bytes = message + 2000};
		switch (tac_rng_below(&rng, 4)) {
		case 0:
			size = tac_board_empty_encode(message, MESSAGE_MAX, ++sequence, TAC_BOARD_HELLO);
			break;
		case 1:
			size = tac_board_chunk_encode(message, MESSAGE_MAX, ++sequence, &chunk);
			break;
		case 2:
			size = tac_board_range_encode(message, MESSAGE_MAX, ++sequence,
						      TAC_BOARD_MEMORY_CHECK,
						      (tac_board_range){chunk.address, chunk.count});
			break;
		default:
			size = encode_query(TAC_CHIP_LAYOUT_R, UINT64_MAX, 3, &trees[0], &trees[1]);
			break;
		}
		uint32_t at = tac_rng_below(&rng, tac_rng_below(&rng, 2) == 0 ? 24 : (uint32_t)size);
		at = at < size ? at : 0;
		uint32_t kind = tac_rng_below(&rng, 6);
		if (kind == 0 || kind == 1)
			message[at] ^= (uint8_t)(1 << tac_rng_below(&rng, 8));
		if (kind == 1 && at < size - 4) {
			uint32_t crc = tac_crc32(0, message, size - 4);
			memcpy(message + size - 4, &crc, sizeof crc);
		}
		if (kind == 2)
			size = tac_rng_below(&rng, (uint32_t)size);
		if (kind == 3)
			size += 1 + tac_rng_below(&rng, 40);
		if (kind == 4 && i % 8 == 0)
			size = MESSAGE_MAX + tac_rng_below(&rng, 600);
		refused += exchange(message, (uint32_t)size) == TAC_BOARD_REFUSED;
	}
	TEST_ASSERT_GREATER_THAN(rounds / 3, refused);
	TEST_ASSERT_LESS_THAN(rounds, refused);
	free_trees();
}

static int exchange_signed(size_t size)
{
	uint32_t crc = tac_crc32(0, message, size - 4);
	memcpy(message + size - 4, &crc, sizeof crc);
	return exchange(message, (uint32_t)size);
}

// Whole messages under a right CRC: HELLO and ABORT with a payload, a query with a wrong number of writes.
static void payloads_of_the_wrong_form_are_refused(void)
{
	upload_trees();
	const uint8_t types[] = {TAC_BOARD_HELLO, TAC_BOARD_ABORT};
	for (size_t i = 0; i < sizeof types; i++) {
		size_t size = tac_board_range_encode(message, MESSAGE_MAX, ++sequence, TAC_BOARD_MEMORY_CHECK,
						     (tac_board_range){0, 256});
		message[5] = types[i];
		TEST_ASSERT_EQUAL(TAC_BOARD_REFUSED, exchange_signed(size));
	}
	size_t size = encode_query(TAC_CHIP_LAYOUT_R, UINT64_MAX, 3, &trees[0], &trees[1]);
	message[TAC_BOARD_HEADER_BYTES + 12]++;
	TEST_ASSERT_EQUAL(TAC_BOARD_REFUSED, exchange_signed(size));
	message[TAC_BOARD_HEADER_BYTES + 12]--;
	TEST_ASSERT_EQUAL(TAC_BOARD_RESULT, exchange_signed(size));
	free_trees();
}

// The host may send requests before it reads the answers: these wait, in order, and none is lost.
static void answers_wait_for_a_host_that_does_not_read(void)
{
	static answers got;
	const uint32_t first = sequence + 1;
	for (int i = 0; i < PENDING; i++)
		send(boards[1], message,
		     (uint32_t)tac_board_empty_encode(message, MESSAGE_MAX, ++sequence, TAC_BOARD_HELLO));
	for (int i = 0; i < 20; i++)
		boards[1]->step(boards[1], 0);
	receive(boards[1], &got);
	TEST_ASSERT_EQUAL(PENDING, got.answers);
	const uint8_t *at = got.bytes;
	for (uint32_t i = 0; i < PENDING; at += got.count[i++]) {
		tac_board_message m;
		TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_decode(at, got.count[i], &m));
		TEST_ASSERT_EQUAL(TAC_BOARD_CAPABILITIES, m.type);
		TEST_ASSERT_EQUAL_HEX32(first + i, m.sequence);
	}
}

// The same bytes twice, then others in their place: what was read for a check must not be remembered.
static void a_check_sees_what_was_written_since(void)
{
	uint8_t bytes[200];
	for (int i = 0; i < 6; i++) {
		memset(bytes, i / 2, sizeof bytes);
		write_memory(512, bytes, sizeof bytes);
	}
}

// With 36 hits a RESULT has 512 bytes, a whole packet, so an empty one follows.
static void an_answer_that_fills_its_packet_ends_with_an_empty_one(void)
{
	upload_trees();
	int whole = 0;
	for (int i = 0; i < 40; i++) {
		size_t size = encode_query(TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS, UINT64_MAX, 36, &trees[0],
					   &trees[0]);
		TEST_ASSERT_EQUAL(TAC_BOARD_RESULT, exchange(message, (uint32_t)size));
		whole += answer_bytes == PACKET;
	}
	TEST_ASSERT_GREATER_THAN(0, whole);
	free_trees();
}

// A root outside of the memory is an error of the chip, not what lies at the address modulo the memory's
// size.
static void a_root_outside_of_the_memory_is_the_same_error(void)
{
	upload_trees();
	fix_tree outside = trees[1];
	for (uint32_t at = MEMORY_BYTES; at != 0; at *= 2) {
		outside.base = at;
		size_t size = encode_query(TAC_CHIP_LAYOUT_R, UINT64_MAX, 3, &trees[0], &outside);
		TEST_ASSERT_EQUAL(TAC_BOARD_RESULT, exchange(message, (uint32_t)size));
		size = encode_query(TAC_CHIP_LAYOUT_R, UINT64_MAX, 3, &outside, &trees[1]);
		TEST_ASSERT_EQUAL(TAC_BOARD_RESULT, exchange(message, (uint32_t)size));
	}
	free_trees();
}

// A USB reset in the middle of a message, and of a query: nothing of it is answered, and the next message is.
static void a_reset_drops_what_has_begun(void)
{
	upload_trees();
	for (int whole = 0; whole < 2; whole++) {
		size_t size = encode_query(TAC_CHIP_LAYOUT_R | TAC_CHIP_ALL_HITS, UINT64_MAX, 10, &trees[0],
					   &trees[0]);
		TEST_ASSERT_GREATER_THAN(PACKET, size);
		for (int b = 0; b < 2; b++) {
			static answers got;
			if (whole)
				send(boards[b], message, (uint32_t)size);
			else
				boards[b]->out(boards[b], TAC_BOARD_OUT_ENDPOINT, message, PACKET, false);
			boards[b]->reset(boards[b]);
			receive(boards[b], &got);
			TEST_ASSERT_EQUAL(0, got.answers);
		}
		size = tac_board_empty_encode(message, MESSAGE_MAX, ++sequence, TAC_BOARD_HELLO);
		TEST_ASSERT_EQUAL(TAC_BOARD_CAPABILITIES, exchange(message, (uint32_t)size));
		write_memory(trees[0].base, trees[0].words, trees[0].bytes);
		size = encode_query(TAC_CHIP_LAYOUT_R, UINT64_MAX, 10, &trees[0], &trees[1]);
		TEST_ASSERT_EQUAL(TAC_BOARD_RESULT, exchange(message, (uint32_t)size));
	}
	free_trees();
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(queries_give_the_same_status_counters_and_hits);
	RUN_TEST(the_limit_of_clocks_and_abort_end_a_query_without_an_answer);
	RUN_TEST(broken_messages_are_refused_for_the_same_reason);
	RUN_TEST(payloads_of_the_wrong_form_are_refused);
	RUN_TEST(answers_wait_for_a_host_that_does_not_read);
	RUN_TEST(a_check_sees_what_was_written_since);
	RUN_TEST(an_answer_that_fills_its_packet_ends_with_an_empty_one);
	RUN_TEST(a_root_outside_of_the_memory_is_the_same_error);
	RUN_TEST(a_reset_drops_what_has_begun);
	return UNITY_END();
}
