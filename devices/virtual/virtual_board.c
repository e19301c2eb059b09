#include "devices/virtual_board.h"

#include "base/crc32.h"
#include "base/log.h"
#include "collision/chip_host.h"
#include "devices/board/board_protocol.h"
#include "devices/virtual/board_shell.h"

#include <stdlib.h>
#include <string.h>

#define SLICE_CYCLES 4000 // between two checks for requests
#define CLOCK_HZ     266000000
#define ANSWERS      4 // answers that wait for the host

typedef struct answer {
	uint8_t *bytes;
	uint32_t count;
} answer;

typedef struct board {
	tac_board_shell shell;
	tac_chip *chip;
	tac_board_hit *hits;

	// The request that is arriving, or that waits to be handled once it is complete.
	uint8_t *request;
	uint32_t request_count;
	bool request_overflowed, request_complete;

	// The running query.
	tac_board_query query;
	bool busy;
	uint32_t sequence;
	uint64_t cycles;

	answer answers[ANSWERS]; // a ring
	int answers_first, answers_count;
	uint32_t answer_sent;
} board;

// ---- answers ----

static bool answers_full(const board *b)
{
	return b->answers_count >= ANSWERS - 1; // an ABORT adds two: RESULT and ABORTED
}

// Where the next answer is encoded.
static answer *next_answer(board *b)
{
	return &b->answers[(b->answers_first + b->answers_count) % ANSWERS];
}

static void push_answer(board *b, size_t count)
{
	next_answer(b)->count = (uint32_t)count;
	b->answers_count++;
}

static void refuse(board *b, uint32_t sequence, tac_board_verdict reason)
{
	push_answer(b, tac_board_refused_encode(next_answer(b)->bytes, b->shell.def.message_max, sequence,
						reason));
}

// ---- queries ----

static void send_result(board *b)
{
	tac_board_result result = {.status = tac_chip_read(b->chip, TAC_CHIP_STATUS)};
	tac_chip_counters_read(b->chip, result.counters);
	const uint32_t room = (b->shell.def.message_max - TAC_BOARD_OVERHEAD - TAC_BOARD_RESULT_HEAD) / 8;
	uint32_t count = tac_chip_read(b->chip, TAC_CHIP_HIT_COUNT);
	result.hit_total = (uint32_t)result.counters[TAC_CHIP_HITS];
	result.hit_total = result.hit_total > count ? result.hit_total : count;
	count = count < b->query.hits_max ? count : b->query.hits_max;
	result.hit_count = count < room ? count : room;
	for (uint32_t i = 0; i < result.hit_count; i++) {
		b->hits[i].tumbled = tac_chip_read(b->chip, TAC_CHIP_HIT_A);
		b->hits[i].aligned = tac_chip_read(b->chip, TAC_CHIP_HIT_B);
	}
	if (result.hit_count > 0 && tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_WRONG_HITS))
		b->hits[0].aligned = UINT32_C(0x7FFFFFFF);
	if (result.hit_count > 0 && tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_WRONG_STATUS))
		result.status &= ~TAC_CHIP_HIT;
	b->busy = false;
	if (tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_NO_ANSWER))
		return;
	uint32_t sequence =
		b->sequence + (tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_WRONG_SEQUENCE) ? 1 : 0);
	if (tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_FALSE_REFUSAL))
		refuse(b, sequence, TAC_BOARD_BAD_PAYLOAD);
	else
		push_answer(b, tac_board_result_encode(next_answer(b)->bytes, b->shell.def.message_max,
						       sequence, &result, b->hits));
}

static void abort_query(board *b)
{
	tac_chip_write(b->chip, TAC_CHIP_CTRL, TAC_CHIP_ABORT);
	send_result(b);
}

static void start_query(board *b, uint32_t sequence)
{
	const tac_board_query *query = &b->query;
	for (uint32_t i = 0; i < query->write_count; i++)
		tac_chip_write(b->chip, query->writes[i].offset, query->writes[i].value);
	b->busy = true;
	b->sequence = sequence;
	b->cycles = 0;
}

static void work_on_query(board *b)
{
	bool chip_busy = (tac_chip_read(b->chip, TAC_CHIP_STATUS) & TAC_CHIP_BUSY) != 0;
	uint64_t left = b->query.cycle_limit - b->cycles;
	if (chip_busy && left > 0) {
		uint64_t slice = left < SLICE_CYCLES ? left : SLICE_CYCLES;
		chip_busy = tac_chip_clock(b->chip, slice);
		b->cycles += slice;
	}
	if (!chip_busy)
		send_result(b);
	else if (b->cycles >= b->query.cycle_limit)
		abort_query(b);
}

// ---- requests ----

static bool has_memory(const board *b, uint32_t address, uint32_t count)
{
	return (uint64_t)address + count <= b->shell.def.memory_bytes;
}

// In parts: the memory may be too large to copy.
static uint32_t memory_crc(board *b, tac_board_range range)
{
	uint8_t part[4096];
	uint32_t crc = 0;
	while (range.count > 0) {
		uint32_t now = range.count < sizeof part ? range.count : (uint32_t)sizeof part;
		tac_chip_memory_read(b->chip, range.address, part, now);
		crc = tac_crc32(crc, part, now);
		range.address += now;
		range.count -= now;
	}
	return crc;
}

static void write_memory(board *b, const tac_board_chunk *chunk)
{
	tac_chip_memory_write(b->chip, chunk->address, chunk->bytes, chunk->count);
	if (tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_MEMORY_ERROR)) {
		uint8_t byte = chunk->bytes[chunk->count / 2] ^ 1;
		tac_chip_memory_write(b->chip, chunk->address + chunk->count / 2, &byte, 1);
	}
}

static void answer_message(board *b, const tac_board_message *m)
{
	uint8_t *out = next_answer(b)->bytes;
	const size_t capacity = b->shell.def.message_max;
	tac_board_chunk chunk;
	tac_board_range range;
	switch (m->type) {
	case TAC_BOARD_HELLO: {
		tac_board_capabilities c = {
			.chip_id = tac_chip_read(b->chip, TAC_CHIP_ID),
			.chip_version = tac_chip_read(b->chip, TAC_CHIP_VERSION),
			.memory_bytes = b->shell.def.memory_bytes,
			.sram_words = b->shell.def.sram_words,
			.hit_capacity = b->shell.def.hit_capacity,
			.clock_hz = CLOCK_HZ,
			.out_max = b->shell.def.message_max,
			.in_max = b->shell.def.message_max,
		};
		memcpy(c.serial, b->shell.serial, sizeof b->shell.serial);
		push_answer(b, tac_board_capabilities_encode(out, capacity, m->sequence, &c));
		return;
	}
	case TAC_BOARD_MEMORY_WRITE:
		if (tac_board_chunk_decode(m, &chunk) != TAC_BOARD_OK ||
		    !has_memory(b, chunk.address, chunk.count))
			break;
		write_memory(b, &chunk);
		push_answer(b, tac_board_range_encode(out, capacity, m->sequence, TAC_BOARD_MEMORY_WRITTEN,
						      (tac_board_range){chunk.address, chunk.count}));
		return;
	case TAC_BOARD_MEMORY_CHECK:
		if (tac_board_range_decode(m, &range) != TAC_BOARD_OK ||
		    !has_memory(b, range.address, range.count))
			break;
		push_answer(b, tac_board_sum_encode(
				       out, capacity, m->sequence,
				       &(tac_board_sum){.range = range, .crc = memory_crc(b, range)}));
		return;
	case TAC_BOARD_QUERY:
		if (tac_board_query_decode(m, &b->query) != TAC_BOARD_OK)
			break;
		start_query(b, m->sequence);
		return;
	case TAC_BOARD_ABORT:
		if (b->busy) {
			abort_query(b);
			out = next_answer(b)->bytes;
		}
		push_answer(b, tac_board_empty_encode(out, capacity, m->sequence, TAC_BOARD_ABORTED));
		return;
	case TAC_BOARD_CAPABILITIES:
	case TAC_BOARD_MEMORY_WRITTEN:
	case TAC_BOARD_MEMORY_SUM:
	case TAC_BOARD_RESULT:
	case TAC_BOARD_ABORTED:
	case TAC_BOARD_REFUSED: // answers, sent to a board
		refuse(b, m->sequence, TAC_BOARD_BAD_TYPE);
		return;
	}
	refuse(b, m->sequence, TAC_BOARD_BAD_PAYLOAD);
}

// A board checks the type before the payload, and to a board the type of an answer is wrong. A length beyond
// TAC_BOARD_PAYLOAD_MAX comes before both; no transfer has it.
static tac_board_verdict check_request(const board *b, tac_board_message *out_message)
{
	if (b->request_overflowed)
		return TAC_BOARD_LONG;
	const tac_board_verdict verdict = tac_board_decode(b->request, b->request_count, out_message);
	uint32_t payload = 0;
	if (verdict == TAC_BOARD_BAD_PAYLOAD)
		memcpy(&payload, b->request + 12, sizeof payload);
	const bool whole = verdict == TAC_BOARD_BAD_PAYLOAD && payload <= TAC_BOARD_PAYLOAD_MAX;
	return whole && b->request[5] > TAC_BOARD_ABORT ? TAC_BOARD_BAD_TYPE : verdict;
}

static void take_request(board *b)
{
	tac_board_message message;
	const tac_board_verdict verdict = check_request(b, &message);
	if (verdict == TAC_BOARD_OK)
		answer_message(b, &message);
	else
		refuse(b, 0, verdict); // the sequence number cannot be trusted either
	b->request_count = 0;
	b->request_overflowed = b->request_complete = false;
}

static bool is_abort(const board *b)
{
	tac_board_message message;
	return !b->request_overflowed &&
	       tac_board_decode(b->request, b->request_count, &message) == TAC_BOARD_OK &&
	       message.type == TAC_BOARD_ABORT;
}

// ---- the device ----

static int bulk_out(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
		    bool end)
{
	board *b = (board *)model;
	(void)endpoint;
	if (b->request_complete)
		return TAC_VIRTUAL_NAK;
	uint32_t room = b->shell.def.message_max - b->request_count;
	if (count > room)
		b->request_overflowed = true;
	else
		memcpy(b->request + b->request_count, bytes, count);
	b->request_count += count < room ? count : room;
	b->request_complete = end;
	return 0;
}

static int bulk_in(tac_virtual_model *model, uint8_t endpoint, uint8_t *packet, uint32_t capacity)
{
	board *b = (board *)model;
	(void)endpoint;
	if (b->answers_count == 0)
		return TAC_VIRTUAL_NAK;
	const answer *a = &b->answers[b->answers_first];
	uint32_t left = a->count - b->answer_sent, now = left < capacity ? left : capacity;
	memcpy(packet, a->bytes + b->answer_sent, now);
	b->answer_sent += now;
	if (now < capacity) { // the short or empty packet that ends a message
		b->answer_sent = 0;
		b->answers_first = (b->answers_first + 1) % ANSWERS;
		b->answers_count--;
	}
	return (int)now;
}

static int64_t step(tac_virtual_model *model, int64_t now_ns)
{
	board *b = (board *)model;
	if (b->request_complete && !answers_full(b) && (!b->busy || is_abort(b)))
		take_request(b);
	if (b->busy && !answers_full(b))
		work_on_query(b);
	return b->busy && !answers_full(b) ? now_ns : INT64_MAX;
}

static void reset(tac_virtual_model *model)
{
	board *b = (board *)model;
	tac_chip_write(b->chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	// Without power the memory is lost; overwriting the start of the first tree is enough.
	uint8_t noise[256];
	memset(noise, 0xFF, sizeof noise);
	tac_chip_memory_write(b->chip, 0, noise, sizeof noise);
	b->request_count = b->answer_sent = 0;
	b->request_overflowed = b->request_complete = b->busy = false;
	b->answers_first = b->answers_count = 0;
}

static bool make_buffers(board *b)
{
	const uint32_t bytes = b->shell.def.message_max;
	b->request = malloc(bytes);
	b->hits = malloc(bytes);
	bool ok = b->request && b->hits;
	for (int i = 0; i < ANSWERS; i++) {
		b->answers[i].bytes = malloc(bytes);
		ok = ok && b->answers[i].bytes;
	}
	return ok;
}

tac_result tac_virtual_board_create(const tac_virtual_board_def *def, tac_virtual_model **out_model)
{
	*out_model = NULL;
	tac_board_shell *shell;
	tac_result result = tac_board_shell_create(def, TAC_BOARD_PAYLOAD_MAX + TAC_BOARD_OVERHEAD,
						   sizeof(board), &shell);
	if (result < 0)
		return result;
	board *b = (board *)shell;
	shell->base.out = bulk_out;
	shell->base.in = bulk_in;
	shell->base.step = step;
	shell->base.reset = reset;
	tac_virtual_model *model = &shell->base;
	tac_chip_def chip = {.memory_bytes = def->memory_bytes,
			     .sram_words = def->sram_words,
			     .hit_capacity = def->hit_capacity};
	result = tac_chip_create(&chip, &b->chip);
	if (result == TAC_OK && !make_buffers(b)) {
		tac_log(TAC_LOG_ERROR, "virtual board: no memory for messages of %u bytes", def->message_max);
		result = TAC_ERROR_MEMORY;
	}
	if (result < 0)
		tac_virtual_board_destroy(&model);
	*out_model = model;
	return result;
}

void tac_virtual_board_destroy(tac_virtual_model **model)
{
	board *b = (board *)*model;
	if (!b)
		return;
	tac_chip_destroy(&b->chip);
	for (int i = 0; i < ANSWERS; i++)
		free(b->answers[i].bytes);
	free(b->request);
	free(b->hits);
	free(b);
	*model = NULL;
}
