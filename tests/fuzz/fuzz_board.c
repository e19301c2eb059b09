// Fuzz target for the board protocol: arbitrary bytes as a message, and the same bytes as the payload of a
// message with a valid frame. A message that decodes must encode to the same bytes. With libFuzzer: cmake
// -DTACTUS_FUZZ=ON (clang); without it, replay.c runs the corpus as a test.
#include "base/assert.h"
#include "base/crc32.h"
#include "devices/board/board_protocol.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LARGEST 65536

static uint8_t encoded[LARGEST];

static size_t encode(const tac_board_message *m)
{
	static tac_board_hit hits[LARGEST / 8];
	switch (m->type) {
	case TAC_BOARD_HELLO:
	case TAC_BOARD_ABORT:
	case TAC_BOARD_ABORTED:
		return tac_board_empty_encode(encoded, sizeof encoded, m->sequence, m->type);
	case TAC_BOARD_CAPABILITIES: {
		tac_board_capabilities c;
		if (tac_board_capabilities_decode(m, &c) != TAC_BOARD_OK)
			return 0;
		TAC_ASSERT(strlen(c.serial) <= TAC_BOARD_SERIAL_BYTES);
		return tac_board_capabilities_encode(encoded, sizeof encoded, m->sequence, &c);
	}
	case TAC_BOARD_MEMORY_WRITE: {
		tac_board_chunk c;
		if (tac_board_chunk_decode(m, &c) != TAC_BOARD_OK)
			return 0;
		return tac_board_chunk_encode(encoded, sizeof encoded, m->sequence, &c);
	}
	case TAC_BOARD_MEMORY_CHECK:
	case TAC_BOARD_MEMORY_WRITTEN: {
		tac_board_range r;
		if (tac_board_range_decode(m, &r) != TAC_BOARD_OK)
			return 0;
		return tac_board_range_encode(encoded, sizeof encoded, m->sequence, m->type, r);
	}
	case TAC_BOARD_MEMORY_SUM: {
		tac_board_sum s;
		if (tac_board_sum_decode(m, &s) != TAC_BOARD_OK)
			return 0;
		return tac_board_sum_encode(encoded, sizeof encoded, m->sequence, &s);
	}
	case TAC_BOARD_QUERY: {
		tac_board_query q;
		if (tac_board_query_decode(m, &q) != TAC_BOARD_OK)
			return 0;
		return tac_board_query_encode(encoded, sizeof encoded, m->sequence, &q);
	}
	case TAC_BOARD_RESULT: {
		tac_board_result r;
		if (tac_board_result_decode(m, &r) != TAC_BOARD_OK)
			return 0;
		for (uint32_t i = 0; i < r.hit_count; i++)
			hits[i] = tac_board_result_hit(&r, i);
		return tac_board_result_encode(encoded, sizeof encoded, m->sequence, &r, hits);
	}
	case TAC_BOARD_REFUSED: {
		tac_board_verdict reason;
		if (tac_board_refused_decode(m, &reason) != TAC_BOARD_OK)
			return 0;
		return tac_board_refused_encode(encoded, sizeof encoded, m->sequence, reason);
	}
	}
	TAC_ASSERT(false);
	return 0;
}

static void check(const uint8_t *bytes, size_t size)
{
	tac_board_message m;
	tac_board_verdict verdict = tac_board_decode(bytes, size, &m);
	TAC_ASSERT(verdict < TAC_BOARD_VERDICT_COUNT && tac_board_verdict_name(verdict)[0] != 0);
	if (verdict != TAC_BOARD_OK)
		return;
	TAC_ASSERT(m.payload == bytes + TAC_BOARD_HEADER_BYTES &&
		   m.payload_bytes + TAC_BOARD_OVERHEAD == size);
	size_t count = encode(&m);
	TAC_ASSERT(count == 0 || (count == size && memcmp(encoded, bytes, size) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t framed[LARGEST];
	check(data, size);
	if (size == 0 || size + TAC_BOARD_OVERHEAD > sizeof framed)
		return 0;
	// The first byte selects the type, mostly a valid one; the rest is the payload.
	static const uint8_t types[16] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x81, 0x82, 0x83,
					  0x84, 0x85, 0xFF, 0x04, 0x84, 0x81, 0x00, 0x86};
	uint32_t payload = (uint32_t)size - 1;
	// clang-format off
	const uint8_t header[TAC_BOARD_HEADER_BYTES] = {
		'T', 'C', 'C', 'B', TAC_BOARD_VERSION, types[data[0] & 15], 0, 0, data[0], 1, 2, 3,
		(uint8_t)payload, (uint8_t)(payload >> 8), (uint8_t)(payload >> 16), 0,
	};
	// clang-format on
	memcpy(framed, header, sizeof header);
	memcpy(framed + sizeof header, data + 1, payload);
	uint32_t crc = tac_crc32(0, framed, sizeof header + payload);
	for (int i = 0; i < 4; i++)
		framed[sizeof header + payload + (size_t)i] = (uint8_t)(crc >> 8 * i);
	check(framed, TAC_BOARD_OVERHEAD + payload);
	return 0;
}
