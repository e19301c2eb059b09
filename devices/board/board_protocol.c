#include "devices/board/board_protocol.h"

#include "base/crc32.h"

#include <string.h>

// ---- bytes, little-endian ----

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static uint8_t *put32(uint8_t *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> 8 * i);
	return p + 4;
}

static uint8_t *put64(uint8_t *p, uint64_t value)
{
	return put32(put32(p, (uint32_t)value), (uint32_t)(value >> 32));
}

const char *tac_board_verdict_name(tac_board_verdict verdict)
{
	static const char *const names[TAC_BOARD_VERDICT_COUNT] = {
		[TAC_BOARD_OK] = "ok",
		[TAC_BOARD_SHORT] = "a short transfer",
		[TAC_BOARD_LONG] = "a transfer longer than its message",
		[TAC_BOARD_BAD_MAGIC] = "not a message of a board",
		[TAC_BOARD_BAD_VERSION] = "another protocol version",
		[TAC_BOARD_BAD_CRC] = "a wrong CRC",
		[TAC_BOARD_BAD_TYPE] = "an unexpected message",
		[TAC_BOARD_BAD_PAYLOAD] = "a malformed payload",
	};
	return verdict < TAC_BOARD_VERDICT_COUNT ? names[verdict] : "an unknown verdict";
}

// Payload lengths, in bytes.
enum {
	CAPABILITIES_BYTES = 56,
	CHUNK_HEAD = 4,
	RANGE_BYTES = 8,
	SUM_BYTES = 12,
	QUERY_HEAD = 16,
	WRITE_BYTES = 8,
	RESULT_HEAD = TAC_BOARD_RESULT_HEAD,
	HIT_BYTES = 8,
	REFUSED_BYTES = 4,
};

// Whether a payload of this type may have this length.
static bool length_fits(tac_board_type type, uint32_t bytes)
{
	switch (type) {
	case TAC_BOARD_HELLO:
	case TAC_BOARD_ABORT:
	case TAC_BOARD_ABORTED:
		return bytes == 0;
	case TAC_BOARD_CAPABILITIES:
		return bytes == CAPABILITIES_BYTES;
	case TAC_BOARD_MEMORY_WRITE:
		return bytes > CHUNK_HEAD;
	case TAC_BOARD_MEMORY_WRITTEN:
	case TAC_BOARD_MEMORY_CHECK:
		return bytes == RANGE_BYTES;
	case TAC_BOARD_MEMORY_SUM:
		return bytes == SUM_BYTES;
	case TAC_BOARD_QUERY:
		return bytes >= QUERY_HEAD + WRITE_BYTES && (bytes - QUERY_HEAD) % WRITE_BYTES == 0 &&
		       (bytes - QUERY_HEAD) / WRITE_BYTES <= TAC_BOARD_WRITES_MAX;
	case TAC_BOARD_RESULT:
		return bytes >= RESULT_HEAD && (bytes - RESULT_HEAD) % HIT_BYTES == 0;
	case TAC_BOARD_REFUSED:
		return bytes == REFUSED_BYTES;
	}
	return false;
}

static bool is_type(uint32_t type)
{
	return (type >= TAC_BOARD_HELLO && type <= TAC_BOARD_ABORT) ||
	       (type >= TAC_BOARD_CAPABILITIES && type <= TAC_BOARD_ABORTED) || type == TAC_BOARD_REFUSED;
}

// Header: magic, version, type, two bytes 0, sequence, payload length.

tac_board_verdict tac_board_decode(const void *bytes, size_t count, tac_board_message *out_message)
{
	const uint8_t *p = bytes;
	if (count < TAC_BOARD_OVERHEAD)
		return TAC_BOARD_SHORT;
	if (get32(p) != TAC_BOARD_MAGIC)
		return TAC_BOARD_BAD_MAGIC;
	if (p[4] != TAC_BOARD_VERSION)
		return TAC_BOARD_BAD_VERSION;
	uint32_t payload = get32(p + 12);
	if (payload > TAC_BOARD_PAYLOAD_MAX)
		return TAC_BOARD_BAD_PAYLOAD;
	size_t whole = (size_t)payload + TAC_BOARD_OVERHEAD;
	if (count != whole)
		return count < whole ? TAC_BOARD_SHORT : TAC_BOARD_LONG;
	if (tac_crc32(0, p, whole - 4) != get32(p + whole - 4))
		return TAC_BOARD_BAD_CRC;
	if (!is_type(p[5]) || p[6] != 0 || p[7] != 0)
		return TAC_BOARD_BAD_TYPE;
	if (!length_fits((tac_board_type)p[5], payload))
		return TAC_BOARD_BAD_PAYLOAD;
	*out_message = (tac_board_message){
		.type = (tac_board_type)p[5],
		.sequence = get32(p + 8),
		.payload = p + TAC_BOARD_HEADER_BYTES,
		.payload_bytes = payload,
	};
	return TAC_BOARD_OK;
}

// Where the payload goes; NULL if the message does not fit.
static uint8_t *begin(void *out, size_t capacity, uint32_t sequence, tac_board_type type, size_t payload)
{
	if (payload > TAC_BOARD_PAYLOAD_MAX || payload + TAC_BOARD_OVERHEAD > capacity)
		return NULL;
	uint8_t *p = put32(out, TAC_BOARD_MAGIC);
	*p++ = TAC_BOARD_VERSION;
	*p++ = (uint8_t)type;
	*p++ = 0;
	*p++ = 0;
	return put32(put32(p, sequence), (uint32_t)payload);
}

static size_t end(void *out, const uint8_t *payload_end)
{
	size_t count = (size_t)(payload_end - (const uint8_t *)out);
	put32((uint8_t *)out + count, tac_crc32(0, out, count));
	return count + 4;
}

size_t tac_board_empty_encode(void *out, size_t capacity, uint32_t sequence, tac_board_type type)
{
	if (!length_fits(type, 0))
		return 0;
	uint8_t *p = begin(out, capacity, sequence, type, 0);
	return p ? end(out, p) : 0;
}

// A serial number is printable ASCII without spaces, padded with zeros.
static bool serial_fits(const char serial[TAC_BOARD_SERIAL_BYTES])
{
	int i = 0;
	while (i < TAC_BOARD_SERIAL_BYTES && serial[i] > ' ' && serial[i] <= '~')
		i++;
	while (i < TAC_BOARD_SERIAL_BYTES && serial[i] == 0)
		i++;
	return i == TAC_BOARD_SERIAL_BYTES;
}

static bool capabilities_fit(const tac_board_capabilities *c)
{
	return c->memory_bytes > 0 && c->memory_bytes <= UINT64_C(1) << 32 && c->memory_bytes % 256 == 0 &&
	       c->sram_words > 0 && c->hit_capacity > 0 && c->clock_hz > 0 &&
	       c->out_max >= TAC_BOARD_OVERHEAD + QUERY_HEAD + WRITE_BYTES * TAC_BOARD_WRITES_MAX &&
	       c->in_max >= TAC_BOARD_OVERHEAD + RESULT_HEAD && serial_fits(c->serial);
}

tac_board_verdict tac_board_capabilities_decode(const tac_board_message *message,
						tac_board_capabilities *out_capabilities)
{
	if (message->type != TAC_BOARD_CAPABILITIES)
		return TAC_BOARD_BAD_TYPE;
	const uint8_t *p = message->payload;
	tac_board_capabilities c = {
		.chip_id = get32(p),
		.chip_version = get32(p + 4),
		.memory_bytes = get64(p + 8),
		.sram_words = get32(p + 16),
		.hit_capacity = get32(p + 20),
		.clock_hz = get32(p + 24),
		.out_max = get32(p + 28),
		.in_max = get32(p + 32),
	};
	memcpy(c.serial, p + 40, TAC_BOARD_SERIAL_BYTES);
	if (get32(p + 36) != 0 || !capabilities_fit(&c))
		return TAC_BOARD_BAD_PAYLOAD;
	*out_capabilities = c;
	return TAC_BOARD_OK;
}

size_t tac_board_capabilities_encode(void *out, size_t capacity, uint32_t sequence,
				     const tac_board_capabilities *capabilities)
{
	uint8_t *p = begin(out, capacity, sequence, TAC_BOARD_CAPABILITIES, CAPABILITIES_BYTES);
	if (!p || !capabilities_fit(capabilities))
		return 0;
	p = put32(put32(p, capabilities->chip_id), capabilities->chip_version);
	p = put64(p, capabilities->memory_bytes);
	p = put32(put32(p, capabilities->sram_words), capabilities->hit_capacity);
	p = put32(p, capabilities->clock_hz);
	p = put32(put32(p, capabilities->out_max), capabilities->in_max);
	p = put32(p, 0);
	memcpy(p, capabilities->serial, TAC_BOARD_SERIAL_BYTES);
	return end(out, p + TAC_BOARD_SERIAL_BYTES);
}

tac_board_verdict tac_board_chunk_decode(const tac_board_message *message, tac_board_chunk *out_chunk)
{
	if (message->type != TAC_BOARD_MEMORY_WRITE)
		return TAC_BOARD_BAD_TYPE;
	*out_chunk = (tac_board_chunk){
		.address = get32(message->payload),
		.count = message->payload_bytes - CHUNK_HEAD,
		.bytes = message->payload + CHUNK_HEAD,
	};
	return TAC_BOARD_OK;
}

size_t tac_board_chunk_encode(void *out, size_t capacity, uint32_t sequence, const tac_board_chunk *chunk)
{
	uint8_t *p =
		begin(out, capacity, sequence, TAC_BOARD_MEMORY_WRITE, (size_t)CHUNK_HEAD + chunk->count);
	if (!p || chunk->count == 0)
		return 0;
	p = put32(p, chunk->address);
	memcpy(p, chunk->bytes, chunk->count);
	return end(out, p + chunk->count);
}

tac_board_verdict tac_board_range_decode(const tac_board_message *message, tac_board_range *out_range)
{
	if (message->type != TAC_BOARD_MEMORY_CHECK && message->type != TAC_BOARD_MEMORY_WRITTEN)
		return TAC_BOARD_BAD_TYPE;
	*out_range = (tac_board_range){get32(message->payload), get32(message->payload + 4)};
	return TAC_BOARD_OK;
}

size_t tac_board_range_encode(void *out, size_t capacity, uint32_t sequence, tac_board_type type,
			      tac_board_range range)
{
	uint8_t *p = begin(out, capacity, sequence, type, RANGE_BYTES);
	if (!p || (type != TAC_BOARD_MEMORY_CHECK && type != TAC_BOARD_MEMORY_WRITTEN))
		return 0;
	return end(out, put32(put32(p, range.address), range.count));
}

tac_board_verdict tac_board_sum_decode(const tac_board_message *message, tac_board_sum *out_sum)
{
	if (message->type != TAC_BOARD_MEMORY_SUM)
		return TAC_BOARD_BAD_TYPE;
	const uint8_t *p = message->payload;
	*out_sum = (tac_board_sum){.range = {get32(p), get32(p + 4)}, .crc = get32(p + 8)};
	return TAC_BOARD_OK;
}

size_t tac_board_sum_encode(void *out, size_t capacity, uint32_t sequence, const tac_board_sum *sum)
{
	uint8_t *p = begin(out, capacity, sequence, TAC_BOARD_MEMORY_SUM, SUM_BYTES);
	return p ? end(out, put32(put32(put32(p, sum->range.address), sum->range.count), sum->crc)) : 0;
}

tac_board_verdict tac_board_query_decode(const tac_board_message *message, tac_board_query *out_query)
{
	if (message->type != TAC_BOARD_QUERY)
		return TAC_BOARD_BAD_TYPE;
	const uint8_t *p = message->payload;
	uint32_t count = (message->payload_bytes - QUERY_HEAD) / WRITE_BYTES;
	if (get32(p + 12) != count)
		return TAC_BOARD_BAD_PAYLOAD;
	out_query->cycle_limit = get64(p);
	out_query->hits_max = get32(p + 8);
	out_query->write_count = count;
	p += QUERY_HEAD;
	for (uint32_t i = 0; i < count; i++, p += WRITE_BYTES) {
		out_query->writes[i] = (tac_board_write){get32(p), get32(p + 4)};
		if (out_query->writes[i].offset % 4 != 0)
			return TAC_BOARD_BAD_PAYLOAD;
	}
	return TAC_BOARD_OK;
}

size_t tac_board_query_encode(void *out, size_t capacity, uint32_t sequence, const tac_board_query *query)
{
	if (query->write_count == 0 || query->write_count > TAC_BOARD_WRITES_MAX)
		return 0;
	uint8_t *p = begin(out, capacity, sequence, TAC_BOARD_QUERY,
			   QUERY_HEAD + WRITE_BYTES * query->write_count);
	if (!p)
		return 0;
	p = put32(put32(put64(p, query->cycle_limit), query->hits_max), query->write_count);
	for (uint32_t i = 0; i < query->write_count; i++) {
		if (query->writes[i].offset % 4 != 0)
			return 0;
		p = put32(put32(p, query->writes[i].offset), query->writes[i].value);
	}
	return end(out, p);
}

tac_board_verdict tac_board_result_decode(const tac_board_message *message, tac_board_result *out_result)
{
	if (message->type != TAC_BOARD_RESULT)
		return TAC_BOARD_BAD_TYPE;
	const uint8_t *p = message->payload;
	uint32_t count = (message->payload_bytes - RESULT_HEAD) / HIT_BYTES;
	if (get32(p + 8) != count || get32(p + 4) < count)
		return TAC_BOARD_BAD_PAYLOAD;
	out_result->status = get32(p);
	out_result->hit_total = get32(p + 4);
	out_result->hit_count = count;
	p += 12;
	for (int i = 0; i < TAC_BOARD_COUNTERS; i++, p += 8)
		out_result->counters[i] = get64(p);
	out_result->hits = p;
	return TAC_BOARD_OK;
}

tac_board_hit tac_board_result_hit(const tac_board_result *result, uint32_t index)
{
	const uint8_t *p = result->hits + (size_t)index * HIT_BYTES;
	return (tac_board_hit){get32(p), get32(p + 4)};
}

size_t tac_board_result_encode(void *out, size_t capacity, uint32_t sequence, const tac_board_result *result,
			       const tac_board_hit *hits)
{
	if (result->hit_count > result->hit_total)
		return 0;
	uint8_t *p = begin(out, capacity, sequence, TAC_BOARD_RESULT,
			   RESULT_HEAD + (size_t)HIT_BYTES * result->hit_count);
	if (!p)
		return 0;
	p = put32(put32(put32(p, result->status), result->hit_total), result->hit_count);
	for (int i = 0; i < TAC_BOARD_COUNTERS; i++)
		p = put64(p, result->counters[i]);
	for (uint32_t i = 0; i < result->hit_count; i++)
		p = put32(put32(p, hits[i].tumbled), hits[i].aligned);
	return end(out, p);
}

tac_board_verdict tac_board_refused_decode(const tac_board_message *message, tac_board_verdict *out_reason)
{
	if (message->type != TAC_BOARD_REFUSED)
		return TAC_BOARD_BAD_TYPE;
	uint32_t reason = get32(message->payload);
	if (reason == TAC_BOARD_OK || reason >= TAC_BOARD_VERDICT_COUNT)
		return TAC_BOARD_BAD_PAYLOAD;
	*out_reason = (tac_board_verdict)reason;
	return TAC_BOARD_OK;
}

size_t tac_board_refused_encode(void *out, size_t capacity, uint32_t sequence, tac_board_verdict reason)
{
	uint8_t *p = begin(out, capacity, sequence, TAC_BOARD_REFUSED, REFUSED_BYTES);
	if (!p || reason == TAC_BOARD_OK || reason >= TAC_BOARD_VERDICT_COUNT)
		return 0;
	return end(out, put32(p, (uint32_t)reason));
}
