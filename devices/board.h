// Board: a CollisionChip on a USB board as a collider. Shapes are uploaded when they are built and checked by
// their sum; a query is one message each way. Whatever goes wrong on the way (no answer in time, a wrong CRC
// or sequence number, a short transfer, a stall, a board that is gone) makes that query unknown at once; a
// background thread, the keeper, then connects again, loads every tree again and logs a line. Until it has,
// queries are unknown without delay.
//
// A query that is merely late costs no connection: the board is told to abort it, and the next query waits
// for that. One query runs at a time; a second thread that asks meanwhile gets unknown.
#ifndef TAC_DEVICES_BOARD_H
#define TAC_DEVICES_BOARD_H

#include "collision/collider.h"
#include "devices/board_protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_board tac_board;

typedef struct tac_board_def {
	uint16_t vendor_id, product_id; // default: those of devices/board_protocol.h
	const char *serial;             // NULL: any; must stay valid
	int priority;                   // SCHED_FIFO priority of the I/O thread; 0 (default): ordinary
	int64_t connect_ns;             // how long building a shape waits for a board; default 3 s
	int64_t answer_ns;              // a query without a deadline waits so long; default 1 s
	int64_t abort_ns;               // an abort that takes longer means a dead board; default 100 ms
	uint32_t message_max;           // bytes; limits the hits of an answer; default 262144
} tac_board_def;

// What became of queries. Everything but ANSWERED made one unknown.
typedef enum tac_board_outcome {
	TAC_BOARD_ANSWERED,
	TAC_BOARD_ABSENT,    // no connection, or the trees are not loaded yet
	TAC_BOARD_BUSY,      // another query was under way
	TAC_BOARD_LATE,      // not answered within its budget; the board was told to abort
	TAC_BOARD_STUCK,     // an abort was not answered either
	TAC_BOARD_CHIP,      // the chip stopped with an error or at its limit
	TAC_BOARD_TRUNCATED, // more hits than the board, or a message, can hold
	TAC_BOARD_GARBLED,   // a wrong CRC, or not a message
	TAC_BOARD_CUT,       // a short transfer
	TAC_BOARD_ORDER,     // a wrong sequence number, or an answer to something else
	TAC_BOARD_NONSENSE,  // well-formed and impossible: triangles that do not exist, say
	TAC_BOARD_DENIED,    // the board refused the request
	TAC_BOARD_STALLED,   // an endpoint halted
	TAC_BOARD_BROKEN,    // a bus error
	TAC_BOARD_GONE,      // unplugged
	TAC_BOARD_OUTCOME_COUNT,
} tac_board_outcome;

typedef struct tac_board_report {
	bool connected;
	uint64_t queries[TAC_BOARD_OUTCOME_COUNT]; // by outcome
	uint64_t connections;                      // that came to be, uploads included
	uint64_t failed_connections;               // that did not: refused, or wrong sums of the memory
	uint64_t loaded_bytes;                     // of trees, those loaded again included
} tac_board_report;

// Thread: any.
tac_board_def tac_board_def_default(void);

// A board that is looked for when the first shape is built, and let go of with the last.
// Thread: setup.
tac_result tac_board_create(const tac_board_def *def, tac_board **out_board);

// Frees *board and nulls the pointer; NULL in it is allowed. All its shapes must be gone (asserted).
// Thread: setup.
void tac_board_destroy(tac_board **board);

// The board as an engine, named "board": for tac_shape_build and tac_collider_query, or, by tac_collider_add,
// for those who ask by name. Valid until tac_board_destroy. Thread: any.
const tac_collider *tac_board_collider(const tac_board *board);

// Thread: any.
tac_board_report tac_board_report_read(const tac_board *board);

// All counters of the chip in the last query of `context` that was answered; which must have been one of a
// board. Thread: RT.
void tac_board_chip_counters(const tac_context *context, uint64_t out_counters[TAC_BOARD_COUNTERS]);

// A few English words for an outcome, never NULL.
// Thread: any.
const char *tac_board_outcome_name(tac_board_outcome outcome);

#ifdef __cplusplus
}
#endif

#endif
