// The virtual board of devices/virtual_board.h with gateware inside: the packets of the bulk endpoints go to
// the front end in hardware/board as bytes, and its answers come back. Linked in front of the model, it makes
// the board's tests judge the gates. Faults change an answer on its way out, and get a new CRC.
#include "devices/virtual_board.h"

#include "base/crc32.h"
#include "base/log.h"
#include "devices/board/board_protocol.h"
#include "devices/virtual/board_shell.h"
#include "hardware/rtl.h"

#include <stdlib.h>
#include <string.h>

#define SLICE_CLOCKS 2000
#define MESSAGE_MAX  262144

typedef struct board {
	tac_board_shell shell;
	const tac_rtl_api *api;
	tac_rtl *rtl;
	tac_rtl_front front;
	uint8_t *answer; // whole, before its first packet is sent
	uint32_t answer_count, answer_sent;
	bool answer_whole;
	uint8_t out_type; // of the message that is arriving
	uint32_t out_count, out_address;
	bool broken; // a bit of its memory is to be flipped
} board;

static void sign(board *b)
{
	uint32_t crc = tac_crc32(0, b->answer, b->answer_count - 4);
	memcpy(b->answer + b->answer_count - 4, &crc, sizeof crc);
}

// The fault of a RESULT, if one is injected. False: there is no answer.
static bool spoil_result(board *b)
{
	tac_board_message message;
	if (tac_board_decode(b->answer, b->answer_count, &message) != TAC_BOARD_OK ||
	    message.type != TAC_BOARD_RESULT)
		return true;
	uint32_t hits;
	memcpy(&hits, message.payload + 8, sizeof hits);
	uint8_t *payload = b->answer + TAC_BOARD_HEADER_BYTES;
	const uint32_t none = 0x7FFFFFFF;
	if (hits > 0 && tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_WRONG_HITS))
		memcpy(payload + TAC_BOARD_RESULT_HEAD + 4, &none, sizeof none);
	if (hits > 0 && tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_WRONG_STATUS))
		payload[0] &= (uint8_t)~TAC_CHIP_HIT;
	if (tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_NO_ANSWER))
		return false;
	if (tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_WRONG_SEQUENCE))
		b->answer[8]++;
	if (tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_FALSE_REFUSAL))
		b->answer_count = (uint32_t)tac_board_refused_encode(b->answer, MESSAGE_MAX, message.sequence,
								     TAC_BOARD_BAD_PAYLOAD);
	sign(b);
	return true;
}

static int bulk_out(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
		    bool end)
{
	board *b = (board *)model;
	(void)endpoint;
	if (b->out_count == 0 && count >= 20) {
		b->out_type = bytes[5];
		memcpy(&b->out_address, bytes + 16, 4);
	}
	if (!b->api->front_put(b->rtl, bytes, count, end))
		return TAC_VIRTUAL_NAK;
	b->out_count += count;
	if (end) {
		b->broken = b->out_type == TAC_BOARD_MEMORY_WRITE &&
			    tac_board_shell_fault(&b->shell, TAC_VIRTUAL_BOARD_MEMORY_ERROR);
		b->out_count = 0;
	}
	return 0;
}

// Takes the next answer, unless one is still being sent.
static void gather(board *b)
{
	if (b->answer_whole)
		return;
	while (!b->answer_whole) {
		uint32_t count = b->api->front_get(b->rtl, b->answer + b->answer_count,
						   MESSAGE_MAX - b->answer_count, &b->answer_whole);
		b->answer_count += count;
		if (count == 0 && !b->answer_whole)
			return;
	}
	if (b->broken && b->out_address < b->front.memory_bytes)
		b->front.memory[b->out_address] ^= 1;
	b->broken = false;
	b->answer_sent = 0;
	if (!spoil_result(b)) {
		b->answer_whole = false;
		b->answer_count = 0;
	}
}

static int bulk_in(tac_virtual_model *model, uint8_t endpoint, uint8_t *packet, uint32_t capacity)
{
	board *b = (board *)model;
	(void)endpoint;
	if (!b->answer_whole)
		return TAC_VIRTUAL_NAK;
	uint32_t left = b->answer_count - b->answer_sent, now = left < capacity ? left : capacity;
	memcpy(packet, b->answer + b->answer_sent, now);
	b->answer_sent += now;
	if (now < capacity) {
		b->answer_whole = false;
		b->answer_count = b->answer_sent = 0;
	}
	return (int)now;
}

static int64_t step(tac_virtual_model *model, int64_t now_ns)
{
	board *b = (board *)model;
	bool works = b->api->front_clock(b->rtl, SLICE_CLOCKS);
	gather(b);
	return works && !b->answer_whole ? now_ns : INT64_MAX;
}

static void reset(tac_virtual_model *model)
{
	board *b = (board *)model;
	b->api->front_reset(b->rtl);
	memset(b->front.memory, 0xFF, 256);
	b->answer_whole = b->broken = false;
	b->answer_count = b->answer_sent = b->out_count = 0;
}

tac_result tac_virtual_board_create(const tac_virtual_board_def *def, tac_virtual_model **out_model)
{
	*out_model = NULL;
	if (def->sram_words > TAC_RTL_SRAM_WORDS_MAX || def->hit_capacity > TAC_RTL_HIT_CAPACITY_MAX) {
		tac_log(TAC_LOG_ERROR,
			"virtual board: expected at most %d words of stack and %d hits, found "
			"%u and %u",
			TAC_RTL_SRAM_WORDS_MAX, TAC_RTL_HIT_CAPACITY_MAX, def->sram_words, def->hit_capacity);
		return TAC_ERROR_ARGUMENT;
	}
	tac_board_shell *shell;
	tac_result result = tac_board_shell_create(def, MESSAGE_MAX, sizeof(board), &shell);
	if (result < 0)
		return result;
	board *b = (board *)shell;
	shell->base.out = bulk_out;
	shell->base.in = bulk_in;
	shell->base.step = step;
	shell->base.reset = reset;
	b->answer = malloc(MESSAGE_MAX);
	result = tac_rtl_load(&b->api);
	if (result == TAC_OK) {
		b->rtl = b->api->create(def->sram_words, def->hit_capacity);
		b->front = (tac_rtl_front){.memory = calloc(1, def->memory_bytes),
					   .memory_bytes = def->memory_bytes,
					   .message_max = def->message_max};
		memcpy(b->front.serial, shell->serial, strlen(shell->serial));
	}
	*out_model = &shell->base;
	if (result == TAC_OK && (!b->rtl || !b->front.memory || !b->answer))
		result = TAC_ERROR_MEMORY;
	if (result < 0)
		tac_virtual_board_destroy(out_model);
	else
		b->api->front_open(b->rtl, &b->front);
	return result;
}

void tac_virtual_board_destroy(tac_virtual_model **model)
{
	board *b = (board *)*model;
	if (!b)
		return;
	if (b->rtl)
		b->api->destroy(&b->rtl);
	free(b->front.memory);
	free(b->answer);
	free(b);
	*model = NULL;
}
