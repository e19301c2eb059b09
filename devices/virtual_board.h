// Virtual board: the model of a CollisionChip board as a USB device. The protocol (devices/board_protocol.h)
// in front of the chip's model (collision/chip.h), run by devices/virtual_usb.h. It does what
// docs/board-protocol.md asks of a board, and can be told to do it wrong.
#ifndef TAC_DEVICES_VIRTUAL_BOARD_H
#define TAC_DEVICES_VIRTUAL_BOARD_H

#include "devices/virtual_usb.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_virtual_board_def {
	uint16_t vendor_id, product_id; // default: those of devices/board_protocol.h
	const char *serial;             // up to 16 printable characters; default "V1"
	uint32_t memory_bytes; // hierarchy memory, a multiple of 256; default 256 MiB, used as needed
	uint32_t sram_words;   // stack memory; default 65536
	uint32_t hit_capacity; // hit FIFO, pairs; default 65536
	uint32_t message_max;  // largest message each way, bytes; default 262144
} tac_virtual_board_def;

// What a board can get wrong although every CRC is right.
typedef enum tac_virtual_board_lie {
	TAC_VIRTUAL_BOARD_HONEST,
	TAC_VIRTUAL_BOARD_SEQUENCE, // answers with another sequence number
	TAC_VIRTUAL_BOARD_REFUSAL,  // refuses what is right
	TAC_VIRTUAL_BOARD_HITS,     // names triangles that do not exist
	TAC_VIRTUAL_BOARD_VERDICT,  // says "no collision" beside a list of hits
	TAC_VIRTUAL_BOARD_MEMORY,   // loses a bit of what is written to its memory
	TAC_VIRTUAL_BOARD_SLEEP,    // takes a request and never answers it
	TAC_VIRTUAL_BOARD_LIE_COUNT,
} tac_virtual_board_lie;

// Thread: any.
tac_virtual_board_def tac_virtual_board_def_default(void);

// A board, for tac_virtual_usb_create. TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with a log line.
// Thread: setup.
tac_result tac_virtual_board_create(const tac_virtual_board_def *def, tac_virtual_model **out_model);

// Frees *model and nulls the pointer; NULL in it is allowed.
// Thread: setup, after the device that runs it is gone.
void tac_virtual_board_destroy(tac_virtual_model **model);

// The next answer to which it applies is false in this way; HONEST takes back what did not happen yet.
// Thread: any.
void tac_virtual_board_tell_lie(tac_virtual_model *model, tac_virtual_board_lie lie);

// How many lies were told.
// Thread: any.
uint64_t tac_virtual_board_lies(const tac_virtual_model *model);

#ifdef __cplusplus
}
#endif

#endif
