// Board protocol: the messages between a CollisionChip board and its host over two USB bulk endpoints, as
// bytes and as structures. Encoding and decoding are pure functions, independent of USB.
// docs/board-protocol.md describes the protocol for those who build a board.
//
// A message is one transfer: a header of 16 bytes, a payload, and a CRC of both. The board answers each
// request of the host with one message of the same sequence number.
#ifndef TAC_DEVICES_BOARD_BOARD_PROTOCOL_H
#define TAC_DEVICES_BOARD_BOARD_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_BOARD_OUT_ENDPOINT 0x01 // bulk
#define TAC_BOARD_IN_ENDPOINT  0x81

#define TAC_BOARD_MAGIC   UINT32_C(0x42434354) // "TCCB"
#define TAC_BOARD_VERSION 1                    // both sides refuse any other version

#define TAC_BOARD_HEADER_BYTES 16
#define TAC_BOARD_OVERHEAD     (TAC_BOARD_HEADER_BYTES + 4) // of a message beyond its payload
#define TAC_BOARD_PAYLOAD_MAX  (UINT32_C(1) << 20)
#define TAC_BOARD_COUNTERS     24
#define TAC_BOARD_WRITES_MAX   256 // register writes of one query
#define TAC_BOARD_SERIAL_BYTES 16
#define TAC_BOARD_RESULT_HEAD  (12 + 8 * TAC_BOARD_COUNTERS) // payload of RESULT before its hits

typedef enum tac_board_type {
	TAC_BOARD_HELLO = 0x01,        // asks for CAPABILITIES
	TAC_BOARD_MEMORY_WRITE = 0x02, // bytes for the hierarchy memory
	TAC_BOARD_MEMORY_CHECK = 0x03, // asks for the CRC of a range of it
	TAC_BOARD_QUERY = 0x04,        // register writes, one of them START; the answer is RESULT
	TAC_BOARD_ABORT = 0x05,        // ends the running query

	TAC_BOARD_CAPABILITIES = 0x81,
	TAC_BOARD_MEMORY_WRITTEN = 0x82,
	TAC_BOARD_MEMORY_SUM = 0x83,
	TAC_BOARD_RESULT = 0x84,
	TAC_BOARD_ABORTED = 0x85,
	TAC_BOARD_REFUSED = 0xFF, // the request was invalid
} tac_board_type;

// The verdict of decoding. A message must not be used unless it is OK.
typedef enum tac_board_verdict {
	TAC_BOARD_OK,
	TAC_BOARD_SHORT,       // fewer bytes than the header promises
	TAC_BOARD_LONG,        // more
	TAC_BOARD_BAD_MAGIC,   // not a message
	TAC_BOARD_BAD_VERSION, // of another protocol version
	TAC_BOARD_BAD_CRC,
	TAC_BOARD_BAD_TYPE,    // an unknown type, or not the one that is decoded
	TAC_BOARD_BAD_PAYLOAD, // a wrong length, or a field out of range
	TAC_BOARD_VERDICT_COUNT,
} tac_board_verdict;

// A message with a valid frame. `payload` points into the bytes it was decoded from.
typedef struct tac_board_message {
	tac_board_type type;
	uint32_t sequence;
	const uint8_t *payload;
	uint32_t payload_bytes;
} tac_board_message;

typedef struct tac_board_capabilities {
	uint32_t chip_id, chip_version;          // registers ID and VERSION
	uint64_t memory_bytes;                   // hierarchy memory
	uint32_t sram_words;                     // stack memory
	uint32_t hit_capacity;                   // pairs in the hit FIFO
	uint32_t clock_hz;                       // of the chip
	uint32_t out_max, in_max;                // bytes: the largest messages to and from the board
	char serial[TAC_BOARD_SERIAL_BYTES + 1]; // printable ASCII
} tac_board_capabilities;

typedef struct tac_board_range {
	uint32_t address;
	uint32_t count; // bytes
} tac_board_range;

// MEMORY_WRITE. `bytes` points into the message when decoded.
typedef struct tac_board_chunk {
	uint32_t address;
	uint32_t count; // at least 1
	const uint8_t *bytes;
} tac_board_chunk;

typedef struct tac_board_sum {
	tac_board_range range;
	uint32_t crc;
} tac_board_sum;

typedef struct tac_board_write {
	uint32_t offset; // a multiple of 4
	uint32_t value;
} tac_board_write;

typedef struct tac_board_query {
	uint64_t cycle_limit; // the board aborts after this number of chip cycles
	uint32_t hits_max;    // the most pairs to send back
	uint32_t write_count; // 1 … TAC_BOARD_WRITES_MAX
	tac_board_write writes[TAC_BOARD_WRITES_MAX];
} tac_board_query;

// RESULT. `hits` points into the message when decoded: read it by tac_board_result_hit.
typedef struct tac_board_result {
	uint32_t status;    // register STATUS when the chip stopped
	uint32_t hit_total; // pairs found
	uint64_t counters[TAC_BOARD_COUNTERS];
	uint32_t hit_count; // pairs in this message, at most hit_total
	const uint8_t *hits;
} tac_board_result;

typedef struct tac_board_hit {
	uint32_t tumbled, aligned; // triangles
} tac_board_hit;

// A few English words for a verdict, never NULL.
// Thread: any.
const char *tac_board_verdict_name(tac_board_verdict verdict);

// Decodes one transfer; *out_message is valid only for TAC_BOARD_OK.
// Thread: RT.
tac_board_verdict tac_board_decode(const void *bytes, size_t count, tac_board_message *out_message);

// Decode the payloads. Each checks the type of the message and every field; out_ is valid only for
// TAC_BOARD_OK. HELLO, ABORT and ABORTED have no payload; tac_board_decode checks that. Thread: RT.
tac_board_verdict tac_board_capabilities_decode(const tac_board_message *message,
						tac_board_capabilities *out_capabilities);
tac_board_verdict tac_board_chunk_decode(const tac_board_message *message, tac_board_chunk *out_chunk);
// Of MEMORY_CHECK and MEMORY_WRITTEN.
tac_board_verdict tac_board_range_decode(const tac_board_message *message, tac_board_range *out_range);
tac_board_verdict tac_board_sum_decode(const tac_board_message *message, tac_board_sum *out_sum);
tac_board_verdict tac_board_query_decode(const tac_board_message *message, tac_board_query *out_query);
tac_board_verdict tac_board_result_decode(const tac_board_message *message, tac_board_result *out_result);
// The verdict that made the board refuse.
tac_board_verdict tac_board_refused_decode(const tac_board_message *message, tac_board_verdict *out_reason);

// Pair `index` < hit_count of a decoded result.
// Thread: RT.
tac_board_hit tac_board_result_hit(const tac_board_result *result, uint32_t index);

// Encode a whole message to `out` and return its length, or 0 when `capacity` is too small or a field is out
// of range
// (`out` is then undefined). What they encode decodes to the same values. Thread: RT.
size_t tac_board_empty_encode(void *out, size_t capacity, uint32_t sequence, tac_board_type type);
size_t tac_board_capabilities_encode(void *out, size_t capacity, uint32_t sequence,
				     const tac_board_capabilities *capabilities);
size_t tac_board_chunk_encode(void *out, size_t capacity, uint32_t sequence, const tac_board_chunk *chunk);
size_t tac_board_range_encode(void *out, size_t capacity, uint32_t sequence, tac_board_type type,
			      tac_board_range range);
size_t tac_board_sum_encode(void *out, size_t capacity, uint32_t sequence, const tac_board_sum *sum);
size_t tac_board_query_encode(void *out, size_t capacity, uint32_t sequence, const tac_board_query *query);
// `hits` are the pairs, hit_count of them; result->hits is not read.
size_t tac_board_result_encode(void *out, size_t capacity, uint32_t sequence, const tac_board_result *result,
			       const tac_board_hit *hits);
size_t tac_board_refused_encode(void *out, size_t capacity, uint32_t sequence, tac_board_verdict reason);

#ifdef __cplusplus
}
#endif

#endif
