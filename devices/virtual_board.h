// Virtual board: a CollisionChip board as a model for devices/virtual_usb.h: the protocol of
// docs/board-protocol.md in front of the chip's model (collision/chip.h). For tests it can be made to answer
// wrongly.
#ifndef TAC_DEVICES_VIRTUAL_BOARD_H
#define TAC_DEVICES_VIRTUAL_BOARD_H

#include "devices/virtual_usb.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_virtual_board_def {
	uint16_t vendor_id, product_id; // default: those of devices/board.h
	const char *serial;             // up to 16 printable characters; default "V1"
	uint32_t memory_bytes; // hierarchy memory, a multiple of 256; default 256 MiB, allocated as needed
	uint32_t sram_words;   // stack memory; default 65536
	uint32_t hit_capacity; // hit FIFO, pairs; default 65536
	uint32_t message_max;  // largest message each way, bytes; default 262144
} tac_virtual_board_def;

// Wrong answers with a valid CRC.
typedef enum tac_virtual_board_fault {
	TAC_VIRTUAL_BOARD_NO_FAULT,
	TAC_VIRTUAL_BOARD_WRONG_SEQUENCE, // another sequence number
	TAC_VIRTUAL_BOARD_FALSE_REFUSAL,  // refuses a valid request
	TAC_VIRTUAL_BOARD_WRONG_HITS,     // triangles that do not exist
	TAC_VIRTUAL_BOARD_WRONG_STATUS,   // "no collision" together with a list of hits
	TAC_VIRTUAL_BOARD_MEMORY_ERROR,   // flips a bit of what is written to its memory
	TAC_VIRTUAL_BOARD_NO_ANSWER,      // takes a request and never answers it
	TAC_VIRTUAL_BOARD_FAULT_COUNT,
} tac_virtual_board_fault;

// Thread: any.
tac_virtual_board_def tac_virtual_board_def_default(void);

// A board, for tac_virtual_usb_create. TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with a log line.
// Thread: setup.
tac_result tac_virtual_board_create(const tac_virtual_board_def *def, tac_virtual_model **out_model);

// Frees *model and nulls the pointer; NULL in it is allowed.
// Thread: setup, after the device that runs it is destroyed.
void tac_virtual_board_destroy(tac_virtual_model **model);

// Makes the next answer to which the fault applies wrong. NO_FAULT cancels a fault that has not occurred yet.
// Thread: any.
void tac_virtual_board_inject(tac_virtual_model *model, tac_virtual_board_fault fault);

// The number of injected faults that have occurred. Thread: any.
uint64_t tac_virtual_board_fault_count(const tac_virtual_model *model);

#ifdef __cplusplus
}
#endif

#endif
