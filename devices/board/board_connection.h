// Board connection: the state that queries (board.c) and the supervisor (board_supervisor.c) share, and who
// may use the USB connection.
#ifndef TAC_DEVICES_BOARD_BOARD_CONNECTION_H
#define TAC_DEVICES_BOARD_BOARD_CONNECTION_H

#include "collision/chip_host.h"
#include "devices/board.h"
#include "devices/board/board_protocol.h"
#include "devices/usb/usb.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

// Who may use the connection. The supervisor holds it while the board is not connected.
enum { HOLDER_NOBODY, HOLDER_QUERY, HOLDER_SUPERVISOR };

// tac_chip_shape.loaded: the number of the connection in which it was uploaded, or one of these.
#define SHAPE_NOT_LOADED UINT32_C(0)
#define SHAPE_TOO_LARGE  UINT32_MAX

typedef struct board_engine {
	tac_collider base;
	tac_board *board;
} board_engine;

struct tac_board {
	board_engine engine;
	tac_board_def def;

	pthread_mutex_t setup;  // one shape is built or destroyed at a time
	pthread_mutex_t lock;   // of what set-up threads and the supervisor share, down to `loading`
	pthread_cond_t changed; // a shape was loaded, or the connection was released
	tac_chip_space space;
	int shapes; // with a tree
	pthread_t supervisor;
	bool supervisor_runs, loading;

	atomic_bool stop;
	sem_t wake; // wakes the supervisor
	atomic_int holder;

	// Of the holder.
	tac_usb *usb;
	tac_board_capabilities capabilities;
	uint32_t hits_max; // in one answer
	uint32_t sequence;
	bool aborting; // waiting for ABORTED with the number abort_sequence
	uint32_t abort_sequence;
	int64_t abort_since_ns;
	atomic_int failure; // a tac_board_outcome: why a query gave the connection up; ANSWERED: none did

	atomic_uint_fast32_t connection; // number of the present one; 0 before the first
	atomic_bool connected;
	atomic_uint_fast64_t queries[TAC_BOARD_OUTCOME_COUNT];
	atomic_uint_fast64_t connections, failed_connections, loaded_bytes;
};

// The outcome that a failed transfer means. Thread: any.
tac_board_outcome tac_board_outcome_of(tac_usb_status status);

// Receives one message by `deadline_ns`: ANSWERED, LATE, or what is wrong with it. Thread: the holder.
tac_board_outcome tac_board_receive(tac_board *board, int64_t deadline_ns, tac_board_message *out_message);

// Starts and stops the supervisor. Thread: setup, with `setup` held; to start also with `lock` held.
tac_result tac_board_supervisor_start(tac_board *board);
void tac_board_supervisor_stop(tac_board *board);

#endif
