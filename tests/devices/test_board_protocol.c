// The board protocol against messages made by another program (Python's struct and zlib), and against bytes
// that are no valid message.
#include "devices/board/board_protocol.h"

#include "base/crc32.h"

#include <string.h>
#include <unity.h>

static const uint8_t golden_hello[] = {0x54, 0x43, 0x43, 0x42, 0x01, 0x01, 0x00, 0x00, 0x44, 0x33,
				       0x22, 0x11, 0x00, 0x00, 0x00, 0x00, 0x00, 0xD2, 0xCF, 0xB2};
static const uint8_t golden_capabilities[] = {
	0x54, 0x43, 0x43, 0x42, 0x01, 0x81, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x38, 0x00, 0x00, 0x00,
	0x43, 0x48, 0x49, 0x50, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x80, 0xD6, 0xDA, 0x0F, 0x00, 0x10, 0x00, 0x00,
	0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x54, 0x42, 0x2D, 0x30, 0x30, 0x30, 0x31, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x35, 0x60, 0xBB, 0x98};
static const uint8_t golden_query[] = {0x54, 0x43, 0x43, 0x42, 0x01, 0x04, 0x00, 0x00, 0xFF, 0xFF, 0xFF,
				       0xFF, 0x20, 0x00, 0x00, 0x00, 0x40, 0x42, 0x0F, 0x00, 0x00, 0x00,
				       0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x10,
				       0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
				       0x59, 0x00, 0x00, 0x00, 0x26, 0x76, 0x66, 0xBB};
static const uint8_t golden_result[] = {
	0x54, 0x43, 0x43, 0x42, 0x01, 0x84, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xDC, 0x00, 0x00, 0x00,
	0x06, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
	0x00, 0x02, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
	0x00, 0x04, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00,
	0x00, 0x06, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
	0x00, 0x08, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x0A, 0x00, 0x00, 0x00,
	0x00, 0x0A, 0x00, 0x00, 0x0B, 0x00, 0x00, 0x00, 0x00, 0x0B, 0x00, 0x00, 0x0C, 0x00, 0x00, 0x00,
	0x00, 0x0C, 0x00, 0x00, 0x0D, 0x00, 0x00, 0x00, 0x00, 0x0D, 0x00, 0x00, 0x0E, 0x00, 0x00, 0x00,
	0x00, 0x0E, 0x00, 0x00, 0x0F, 0x00, 0x00, 0x00, 0x00, 0x0F, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
	0x00, 0x10, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x12, 0x00, 0x00, 0x00,
	0x00, 0x12, 0x00, 0x00, 0x13, 0x00, 0x00, 0x00, 0x00, 0x13, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00,
	0x00, 0x14, 0x00, 0x00, 0x15, 0x00, 0x00, 0x00, 0x00, 0x15, 0x00, 0x00, 0x16, 0x00, 0x00, 0x00,
	0x00, 0x16, 0x00, 0x00, 0x17, 0x00, 0x00, 0x00, 0x00, 0x17, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
	0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x42, 0x76, 0x9D, 0x2E};

void setUp(void)
{
}

void tearDown(void)
{
}

static uint8_t bytes[8192];

static tac_board_message decode(const uint8_t *data, size_t size)
{
	tac_board_message m = {0};
	TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_decode(data, size, &m));
	return m;
}

static tac_board_capabilities a_board(void)
{
	return (tac_board_capabilities){.chip_id = 0x50494843,
					.chip_version = 0x10000,
					.memory_bytes = UINT64_C(256) << 20,
					.sram_words = 65536,
					.hit_capacity = 65536,
					.clock_hz = 266000000,
					.out_max = 4096,
					.in_max = 16384,
					.serial = "TB-0001"};
}

static void the_crc_is_that_of_ieee_802_3(void)
{
	TEST_ASSERT_EQUAL_HEX32(0xCBF43926, tac_crc32(0, "123456789", 9));
	TEST_ASSERT_EQUAL_HEX32(0xCBF43926, tac_crc32(tac_crc32(0, "1234", 4), "56789", 5));
	TEST_ASSERT_EQUAL_HEX32(0, tac_crc32(0, "", 0));
}

static void messages_have_the_bytes_of_the_specification(void)
{
	TEST_ASSERT_EQUAL(sizeof golden_hello,
			  tac_board_empty_encode(bytes, sizeof bytes, 0x11223344, TAC_BOARD_HELLO));
	TEST_ASSERT_EQUAL_MEMORY(golden_hello, bytes, sizeof golden_hello);
	tac_board_capabilities board = a_board();
	TEST_ASSERT_EQUAL(sizeof golden_capabilities,
			  tac_board_capabilities_encode(bytes, sizeof bytes, 7, &board));
	TEST_ASSERT_EQUAL_MEMORY(golden_capabilities, bytes, sizeof golden_capabilities);
	tac_board_query query = {.cycle_limit = 1000000,
				 .hits_max = 8,
				 .write_count = 2,
				 .writes = {{0x10, 0x100}, {0x8, 0x59}}};
	TEST_ASSERT_EQUAL(sizeof golden_query,
			  tac_board_query_encode(bytes, sizeof bytes, UINT32_MAX, &query));
	TEST_ASSERT_EQUAL_MEMORY(golden_query, bytes, sizeof golden_query);
	tac_board_result result = {.status = 6, .hit_total = 3, .hit_count = 2};
	for (uint64_t i = 0; i < TAC_BOARD_COUNTERS; i++)
		result.counters[i] = (i << 40) + i;
	const tac_board_hit hits[2] = {{1, 2}, {3, 4}};
	TEST_ASSERT_EQUAL(sizeof golden_result,
			  tac_board_result_encode(bytes, sizeof bytes, UINT32_MAX, &result, hits));
	TEST_ASSERT_EQUAL_MEMORY(golden_result, bytes, sizeof golden_result);
}

static void bytes_of_another_program_decode_correctly(void)
{
	tac_board_message m = decode(golden_hello, sizeof golden_hello);
	TEST_ASSERT_EQUAL(TAC_BOARD_HELLO, m.type);
	TEST_ASSERT_EQUAL_HEX32(0x11223344, m.sequence);
	tac_board_capabilities board, expected = a_board();
	m = decode(golden_capabilities, sizeof golden_capabilities);
	TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_capabilities_decode(&m, &board));
	TEST_ASSERT_EQUAL_HEX32(expected.chip_id, board.chip_id);
	TEST_ASSERT_EQUAL_HEX32(expected.chip_version, board.chip_version);
	TEST_ASSERT_EQUAL_UINT64(expected.memory_bytes, board.memory_bytes);
	TEST_ASSERT_EQUAL(expected.sram_words, board.sram_words);
	TEST_ASSERT_EQUAL(expected.hit_capacity, board.hit_capacity);
	TEST_ASSERT_EQUAL(expected.clock_hz, board.clock_hz);
	TEST_ASSERT_EQUAL(expected.out_max, board.out_max);
	TEST_ASSERT_EQUAL(expected.in_max, board.in_max);
	TEST_ASSERT_EQUAL_STRING(expected.serial, board.serial);
	tac_board_query query;
	m = decode(golden_query, sizeof golden_query);
	TEST_ASSERT_EQUAL_HEX32(UINT32_MAX, m.sequence);
	TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_query_decode(&m, &query));
	TEST_ASSERT_EQUAL(1000000, query.cycle_limit);
	TEST_ASSERT_EQUAL(8, query.hits_max);
	TEST_ASSERT_EQUAL(2, query.write_count);
	TEST_ASSERT_EQUAL_HEX32(0x59, query.writes[1].value);
	tac_board_result result;
	m = decode(golden_result, sizeof golden_result);
	TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_result_decode(&m, &result));
	TEST_ASSERT_EQUAL(6, result.status);
	TEST_ASSERT_EQUAL(3, result.hit_total);
	TEST_ASSERT_EQUAL(2, result.hit_count);
	TEST_ASSERT_EQUAL(((uint64_t)23 << 40) + 23, result.counters[23]);
	TEST_ASSERT_EQUAL(3, tac_board_result_hit(&result, 1).tumbled);
	TEST_ASSERT_EQUAL(4, tac_board_result_hit(&result, 1).aligned);
}

static void small_messages_decode_to_what_was_encoded(void)
{
	uint8_t data[100];
	memset(data, 0xA5, sizeof data);
	tac_board_chunk chunk = {.address = 0x12345600, .count = sizeof data, .bytes = data}, chunk_back;
	tac_board_message m = decode(bytes, tac_board_chunk_encode(bytes, sizeof bytes, 1, &chunk));
	TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_chunk_decode(&m, &chunk_back));
	TEST_ASSERT_EQUAL_HEX32(chunk.address, chunk_back.address);
	TEST_ASSERT_EQUAL(sizeof data, chunk_back.count);
	TEST_ASSERT_EQUAL_MEMORY(data, chunk_back.bytes, sizeof data);

	tac_board_range range = {256, 512}, range_back;
	m = decode(bytes, tac_board_range_encode(bytes, sizeof bytes, 2, TAC_BOARD_MEMORY_CHECK, range));
	TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_range_decode(&m, &range_back));
	TEST_ASSERT_EQUAL_MEMORY(&range, &range_back, sizeof range);
	TEST_ASSERT_EQUAL(0, tac_board_range_encode(bytes, sizeof bytes, 2, TAC_BOARD_HELLO, range));

	tac_board_sum sum = {.range = range, .crc = 0xCAFE}, sum_back;
	m = decode(bytes, tac_board_sum_encode(bytes, sizeof bytes, 3, &sum));
	TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_sum_decode(&m, &sum_back));
	TEST_ASSERT_EQUAL_MEMORY(&sum, &sum_back, sizeof sum);

	tac_board_verdict reason;
	m = decode(bytes, tac_board_refused_encode(bytes, sizeof bytes, 4, TAC_BOARD_BAD_CRC));
	TEST_ASSERT_EQUAL(TAC_BOARD_OK, tac_board_refused_decode(&m, &reason));
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_CRC, reason);
	TEST_ASSERT_EQUAL(0, tac_board_refused_encode(bytes, sizeof bytes, 4, TAC_BOARD_OK));
	TEST_ASSERT_EQUAL(0, tac_board_empty_encode(bytes, sizeof bytes, 4, TAC_BOARD_QUERY));
}

static void every_flipped_bit_and_every_missing_or_added_byte_is_detected(void)
{
	uint8_t broken[sizeof golden_result + 8];
	tac_board_message m;
	for (size_t bit = 0; bit < 8 * sizeof golden_result; bit++) {
		memcpy(broken, golden_result, sizeof golden_result);
		broken[bit / 8] ^= (uint8_t)(1 << bit % 8);
		TEST_ASSERT_NOT_EQUAL(TAC_BOARD_OK, tac_board_decode(broken, sizeof golden_result, &m));
	}
	memset(broken, 0, sizeof broken);
	memcpy(broken, golden_result, sizeof golden_result);
	for (size_t size = 0; size < sizeof golden_result; size++)
		TEST_ASSERT_EQUAL(TAC_BOARD_SHORT, tac_board_decode(broken, size, &m));
	for (size_t more = 1; more < 8; more++)
		TEST_ASSERT_EQUAL(TAC_BOARD_LONG, tac_board_decode(broken, sizeof golden_result + more, &m));
}

// Recomputes the CRC of a message, so that the later checks are tested.
static size_t seal(size_t size)
{
	uint32_t crc = tac_crc32(0, bytes, size - 4);
	for (int i = 0; i < 4; i++)
		bytes[size - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
	return size;
}

// The golden query with the byte at `offset` replaced and a valid CRC.
static size_t changed_query(size_t offset, uint8_t value)
{
	memcpy(bytes, golden_query, sizeof golden_query);
	bytes[offset] = value;
	return seal(sizeof golden_query);
}

static void each_fault_has_its_verdict(void)
{
	tac_board_message m;
	tac_board_query query;
	tac_board_result result;
	size_t size = changed_query(0, golden_query[0] ^ 1);
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_MAGIC, tac_board_decode(bytes, size, &m));
	size = changed_query(4, 2);
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_VERSION, tac_board_decode(bytes, size, &m));
	size = changed_query(5, 0x77);
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_TYPE, tac_board_decode(bytes, size, &m));
	size = changed_query(7, 1);
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_TYPE, tac_board_decode(bytes, size, &m));
	size = changed_query(15, 0x80);
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_PAYLOAD, tac_board_decode(bytes, size, &m));
	m = decode(bytes, changed_query(16 + 12, 3)); // more writes than the payload has
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_PAYLOAD, tac_board_query_decode(&m, &query));
	m = decode(bytes, changed_query(16 + 16, golden_query[16 + 16] | 2)); // not a register
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_PAYLOAD, tac_board_query_decode(&m, &query));
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_TYPE, tac_board_result_decode(&m, &result));
	memcpy(bytes, golden_result, sizeof golden_result);
	bytes[16 + 4] = 1; // fewer pairs found than sent
	m = decode(bytes, seal(sizeof golden_result));
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_PAYLOAD, tac_board_result_decode(&m, &result));
	for (int v = 0; v <= TAC_BOARD_VERDICT_COUNT; v++)
		TEST_ASSERT_TRUE(tac_board_verdict_name((tac_board_verdict)v)[0] != 0);
}

static void impossible_capabilities_are_neither_encoded_nor_decoded(void)
{
	for (int fault = 0; fault < 10; fault++) {
		tac_board_capabilities board = a_board();
		switch (fault) {
		case 0:
			board.memory_bytes = 0;
			break;
		case 1:
			board.memory_bytes += 128;
			break;
		case 2:
			board.memory_bytes = (UINT64_C(1) << 32) + 256;
			break;
		case 3:
			board.sram_words = 0;
			break;
		case 4:
			board.hit_capacity = 0;
			break;
		case 5:
			board.clock_hz = 0;
			break;
		case 6:
			board.out_max = 1024; // a whole query must fit
			break;
		case 7:
			board.in_max = 200;
			break;
		case 8:
			board.serial[2] = '\n';
			break;
		default:
			board.serial[2] = 0; // a gap
			break;
		}
		TEST_ASSERT_EQUAL(0, tac_board_capabilities_encode(bytes, sizeof bytes, 1, &board));
	}
	tac_board_capabilities board;
	memcpy(bytes, golden_capabilities, sizeof golden_capabilities);
	bytes[16 + 40] = ' ';
	tac_board_message m = decode(bytes, seal(sizeof golden_capabilities));
	TEST_ASSERT_EQUAL(TAC_BOARD_BAD_PAYLOAD, tac_board_capabilities_decode(&m, &board));
}

static void encoders_never_write_beyond_their_capacity(void)
{
	static tac_board_query query = {.write_count = TAC_BOARD_WRITES_MAX};
	static const tac_board_hit hits[10];
	tac_board_result result = {.hit_total = 10, .hit_count = 10};
	size_t needed = tac_board_query_encode(bytes, sizeof bytes, 1, &query);
	TEST_ASSERT_EQUAL(20 + 16 + 8 * 256, needed);
	for (size_t capacity = 0; capacity < needed; capacity++) {
		memset(bytes, 0xEE, sizeof bytes);
		TEST_ASSERT_EQUAL(0, tac_board_query_encode(bytes, capacity, 1, &query));
		TEST_ASSERT_EQUAL_HEX8(0xEE, bytes[capacity]);
		if (capacity < 20 + 12 + 192 + 80)
			TEST_ASSERT_EQUAL(0, tac_board_result_encode(bytes, capacity, 1, &result, hits));
		TEST_ASSERT_EQUAL_HEX8(0xEE, bytes[capacity]);
	}
	query.write_count = TAC_BOARD_WRITES_MAX + 1;
	TEST_ASSERT_EQUAL(0, tac_board_query_encode(bytes, sizeof bytes, 1, &query));
	query.write_count = 0;
	TEST_ASSERT_EQUAL(0, tac_board_query_encode(bytes, sizeof bytes, 1, &query));
	result.hit_count = 11;
	TEST_ASSERT_EQUAL(0, tac_board_result_encode(bytes, sizeof bytes, 1, &result, hits));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_crc_is_that_of_ieee_802_3);
	RUN_TEST(messages_have_the_bytes_of_the_specification);
	RUN_TEST(bytes_of_another_program_decode_correctly);
	RUN_TEST(small_messages_decode_to_what_was_encoded);
	RUN_TEST(every_flipped_bit_and_every_missing_or_added_byte_is_detected);
	RUN_TEST(each_fault_has_its_verdict);
	RUN_TEST(impossible_capabilities_are_neither_encoded_nor_decoded);
	RUN_TEST(encoders_never_write_beyond_their_capacity);
	return UNITY_END();
}
