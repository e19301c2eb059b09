// Board: a CollisionChip on a USB board as a collider. A shape's tree is uploaded when the shape is built,
// and verified by its CRC; a query is one message each way (docs/board-protocol.md). Any failure (no answer
// in time, a wrong CRC or sequence number, a short transfer, a stall, an unplugged board) makes that query
// unknown at once. A background thread, the supervisor, then reconnects, uploads every tree again and logs a
// line. Until then every query is unknown without delay.
//
// A query that is only late does not cost the connection: the host sends ABORT, and the next query waits for
// its answer. One query runs at a time; a query from a second thread meanwhile is unknown.
#ifndef TAC_DEVICES_BOARD_H
#define TAC_DEVICES_BOARD_H

#include "collision/chip_host.h"
#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_BOARD_VENDOR_ID  0x1209 // pid.codes, for tests: a real board has its own ids
#define TAC_BOARD_PRODUCT_ID 0x0001

typedef struct tac_board tac_board;

typedef struct tac_board_def {
	uint16_t vendor_id, product_id; // default: TAC_BOARD_VENDOR_ID, TAC_BOARD_PRODUCT_ID
	const char *serial;             // NULL: any; must stay valid
	int priority;                   // SCHED_FIFO priority of the I/O thread; 0 (default): ordinary
	int64_t connect_ns;             // how long building a shape waits for a board; default 3 s
	int64_t answer_ns;              // how long a query without a deadline waits; default 1 s
	int64_t abort_ns;               // an abort that takes longer ends the connection; default 100 ms
	uint32_t message_max;           // bytes; limits the hits of an answer; default 262144
} tac_board_def;

// The outcome of a query. All but ANSWERED make it unknown.
typedef enum tac_board_outcome {
	TAC_BOARD_ANSWERED,
	TAC_BOARD_NOT_CONNECTED, // no connection, or the trees are not loaded yet
	TAC_BOARD_BUSY,          // another query was running
	TAC_BOARD_LATE,          // not answered within its budget; ABORT was sent
	TAC_BOARD_UNRESPONSIVE,  // an abort was not answered either, or the board takes no more data
	TAC_BOARD_CHIP_ERROR,    // the chip stopped with an error or at its limit
	TAC_BOARD_TRUNCATED,     // more hits than the board, or a message, can hold
	TAC_BOARD_CORRUPT,       // a wrong CRC, or not a message
	TAC_BOARD_SHORT_ANSWER,  // a short transfer
	TAC_BOARD_OUT_OF_ORDER,  // a wrong sequence number, or an answer to another request
	TAC_BOARD_IMPOSSIBLE,    // well-formed, but wrong: triangles that do not exist, for example
	TAC_BOARD_DENIED,        // the board refused the request
	TAC_BOARD_STALLED,       // an endpoint halted
	TAC_BOARD_BUS_ERROR,
	TAC_BOARD_UNPLUGGED,
	TAC_BOARD_OUTCOME_COUNT,
} tac_board_outcome;

typedef struct tac_board_report {
	bool connected;
	uint64_t queries[TAC_BOARD_OUTCOME_COUNT]; // by outcome
	uint64_t connections;                      // that succeeded, uploads included
	uint64_t failed_connections;               // refused, or the uploaded trees had a wrong CRC
	uint64_t loaded_bytes;                     // of trees; reloads count again
} tac_board_report;

// Thread: any.
tac_board_def tac_board_def_default(void);

// Creates a board that connects when the first shape is built and disconnects with the last.
// TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with a log line. Thread: setup.
tac_result tac_board_create(const tac_board_def *def, tac_board **out_board);

// Frees *board and nulls the pointer; NULL in it is allowed. All its shapes must be destroyed (asserted).
// Thread: setup.
void tac_board_destroy(tac_board **board);

// The board as the engine "board": for tac_shape_build and tac_collider_query, or, after tac_collider_add,
// for tac_collider_find. Valid until tac_board_destroy. Thread: any.
const tac_collider *tac_board_collider(const tac_board *board);

// Thread: any.
tac_board_report tac_board_report_read(const tac_board *board);

// The chip's counters in the last answered query of `context`, which must have been a query of a board.
// Thread: RT.
void tac_board_chip_counters(const tac_context *context, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT]);

// A few English words for an outcome, never NULL.
// Thread: any.
const char *tac_board_outcome_name(tac_board_outcome outcome);

#ifdef __cplusplus
}
#endif

#endif
