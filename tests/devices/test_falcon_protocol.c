// Oracle: packets made by another program (Python, from the description of the packet), and the rule that a
// decoded packet encodes to the same bytes.
#include "devices/falcon/falcon_protocol.h"

#include "base/rng.h"

#include <string.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

// "".join(chr(0x41 + (v >> 4 * i & 15)) for v in (...) for i in range(4)), status and unknown + 0x41.
static const char golden_force[] = "<AAAABPPPEDCAFA>";
static const char golden_limit[] = "<AAABAAAPAAAAAA>";
static const char golden_report[] = "<PPPHAAAIMONKzA>";

static void command_is_encoded_as_by_another_program(void)
{
	uint8_t bytes[TAC_FALCON_PACKET_BYTES];
	const tac_falcon_command c = {.motor = {0, -15, 0x0234}, .leds = TAC_FALCON_LED_B, .home = true};
	tac_falcon_command_encode(&c, bytes);
	TEST_ASSERT_EQUAL_MEMORY(golden_force, bytes, sizeof bytes);
	tac_falcon_command back;
	TEST_ASSERT_TRUE(tac_falcon_command_decode(bytes, &back));
	TEST_ASSERT_EQUAL_MEMORY(c.motor, back.motor, sizeof c.motor);
	TEST_ASSERT_EQUAL(c.leds, back.leds);
	TEST_ASSERT_TRUE(back.home);
}

static void motor_values_saturate_and_never_wrap(void)
{
	for (int v = INT16_MIN; v <= INT16_MAX; v++) {
		uint8_t bytes[TAC_FALCON_PACKET_BYTES];
		const tac_falcon_command c = {.motor = {(int16_t)v, (int16_t)(v < 0 ? v + 1 : v), 0}};
		tac_falcon_command_encode(&c, bytes);
		tac_falcon_command back;
		TEST_ASSERT_TRUE(tac_falcon_command_decode(bytes, &back));
		const int expected = v > 4096 ? 4096 : v < -4096 ? -4096 : v;
		TEST_ASSERT_EQUAL_INT(expected, back.motor[0]);
		TEST_ASSERT_FALSE(back.home);
	}
	uint8_t bytes[TAC_FALCON_PACKET_BYTES];
	const tac_falcon_command c = {.motor = {INT16_MAX, INT16_MIN, 0}, .leds = 0xF1};
	tac_falcon_command_encode(&c, bytes);
	TEST_ASSERT_EQUAL_MEMORY(golden_limit, bytes, sizeof bytes);
}

static void report_of_another_program_is_decoded(void)
{
	tac_falcon_report r;
	TEST_ASSERT_TRUE(tac_falcon_report_decode((const uint8_t *)golden_report, &r));
	TEST_ASSERT_EQUAL_INT(INT16_MAX, r.encoder[0]);
	TEST_ASSERT_EQUAL_INT(INT16_MIN, r.encoder[1]);
	TEST_ASSERT_EQUAL_INT(-21012, r.encoder[2]); // 0xADEC
	TEST_ASSERT_EQUAL(9, r.buttons);
	TEST_ASSERT_EQUAL(3, r.homed);
}

static void every_report_survives_encoding_and_decoding(void)
{
	tac_rng rng = tac_rng_seed(1, 2);
	for (int k = 0; k < 200000; k++) {
		const tac_falcon_report r = {
			.encoder = {(int16_t)tac_rng_u32(&rng), (int16_t)tac_rng_u32(&rng),
				    (int16_t)tac_rng_u32(&rng)},
			.buttons = (uint8_t)tac_rng_below(&rng, 16),
			.homed = (uint8_t)tac_rng_below(&rng, 8),
		};
		uint8_t bytes[TAC_FALCON_PACKET_BYTES];
		tac_falcon_report_encode(&r, bytes);
		tac_falcon_report back;
		TEST_ASSERT_TRUE(tac_falcon_report_decode(bytes, &back));
		TEST_ASSERT_EQUAL_MEMORY(r.encoder, back.encoder, sizeof r.encoder);
		TEST_ASSERT_EQUAL(r.buttons, back.buttons);
		TEST_ASSERT_EQUAL(r.homed, back.homed);
	}
}

static void every_invalid_byte_of_a_packet_is_refused(void)
{
	int accepted = 0;
	for (int place = 0; place < TAC_FALCON_PACKET_BYTES; place++) {
		for (int value = 0; value < 256; value++) {
			uint8_t bytes[TAC_FALCON_PACKET_BYTES];
			memcpy(bytes, golden_force, sizeof bytes);
			bytes[place] = (uint8_t)value;
			tac_falcon_report r;
			accepted += tac_falcon_report_decode(bytes, &r);
		}
	}
	// Valid values: 1 for each bracket, 16 for a nibble, 128 for the status, all but the brackets for the
	// unknown byte.
	TEST_ASSERT_EQUAL_INT(2 * 1 + 12 * 16 + 128 + 254, accepted);
}

// Pushes bytes, counts the packets and keeps the last one.
static int push(tac_falcon_stream *stream, const char *bytes, size_t count, tac_falcon_report *out_last)
{
	int packets = 0;
	for (size_t i = 0; i < count; i++) {
		if (tac_falcon_stream_push(stream, (uint8_t)bytes[i])) {
			TEST_ASSERT_TRUE(tac_falcon_report_decode(stream->bytes, out_last));
			packets++;
		}
	}
	return packets;
}

static void stream_finds_packets_in_pieces_and_after_garbage(void)
{
	tac_falcon_stream stream = {0};
	tac_falcon_report r;
	TEST_ASSERT_EQUAL_INT(0, push(&stream, golden_force, 7, &r));
	TEST_ASSERT_EQUAL_INT(1, push(&stream, golden_force + 7, 9, &r));
	TEST_ASSERT_EQUAL_INT(0x0234, r.encoder[2]);
	TEST_ASSERT_EQUAL_UINT64(0, stream.dropped);
	// A truncated packet and a complete one; noise; two packets at once.
	TEST_ASSERT_EQUAL_INT(0, push(&stream, golden_report, 10, &r));
	TEST_ASSERT_EQUAL_INT(1, push(&stream, golden_report, 16, &r));
	TEST_ASSERT_EQUAL_UINT64(10, stream.dropped);
	TEST_ASSERT_EQUAL_INT(0, push(&stream, "\x01\xFFnoise>>", 9, &r));
	TEST_ASSERT_EQUAL_UINT64(19, stream.dropped);
	TEST_ASSERT_EQUAL_INT(2, push(&stream, "<AAAAAAAAAAAAAA><AAAAAAAAAAAAAA>", 32, &r));
	TEST_ASSERT_EQUAL_INT(0, push(&stream, "<AAAAAAAAAAAAAAA>", 17, &r));
	TEST_ASSERT_EQUAL_INT(1, push(&stream, golden_report, 16, &r));
}

// After any noise, the next complete packet is found.
static void stream_synchronises_again_after_any_loss(void)
{
	tac_rng rng = tac_rng_seed(5, 5);
	for (int k = 0; k < 20000; k++) {
		tac_falcon_stream stream = {0};
		tac_falcon_report r;
		char noise[64];
		const size_t count = tac_rng_below(&rng, sizeof noise);
		for (size_t i = 0; i < count; i++)
			noise[i] = (char)(tac_rng_below(&rng, 3) ? 0x3B + tac_rng_below(&rng, 24)
								 : tac_rng_u32(&rng));
		push(&stream, noise, count, &r);
		TEST_ASSERT_GREATER_OR_EQUAL_INT(1, push(&stream, golden_report, 16, &r));
		TEST_ASSERT_EQUAL_INT(-21012, r.encoder[2]);
		TEST_ASSERT_EQUAL_INT(1, push(&stream, golden_force, 16, &r));
		TEST_ASSERT_EQUAL_INT(0x0234, r.encoder[2]);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(command_is_encoded_as_by_another_program);
	RUN_TEST(motor_values_saturate_and_never_wrap);
	RUN_TEST(report_of_another_program_is_decoded);
	RUN_TEST(every_report_survives_encoding_and_decoding);
	RUN_TEST(every_invalid_byte_of_a_packet_is_refused);
	RUN_TEST(stream_finds_packets_in_pieces_and_after_garbage);
	RUN_TEST(stream_synchronises_again_after_any_loss);
	return UNITY_END();
}
