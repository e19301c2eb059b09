// Inside of the board: what the real-time side (board.c) and the keeper (board_keeper.c) share.
#ifndef TAC_DEVICES_BOARD_PRIVATE_H
#define TAC_DEVICES_BOARD_PRIVATE_H

#include "collision/chip_host.h"
#include "devices/board.h"
#include "devices/usb.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

// Who may use the link. The keeper holds it while there is none.
enum { HOLDER_NOBODY, HOLDER_QUERY, HOLDER_KEEPER };

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
	pthread_mutex_t lock;   // of what set-up threads and the keeper share, down to `loading`
	pthread_cond_t changed; // a shape was loaded, or given up
	tac_chip_space space;
	int shapes; // with a tree
	pthread_t keeper;
	bool keeper_runs, loading;

	atomic_bool stop;
	sem_t call; // wakes the keeper
	atomic_int holder;

	// Of the holder.
	tac_usb *usb;
	tac_board_capabilities capabilities;
	uint32_t hits_fit; // in one answer
	uint32_t sequence;
	bool aborting; // waiting for ABORTED with the number abort_sequence
	uint32_t abort_sequence;
	int64_t abort_since_ns;
	atomic_int trouble; // a tac_board_outcome: why the link was given up; ANSWERED: it was not

	atomic_uint_fast32_t connection; // number of the present one; 0 before the first
	atomic_bool connected;
	atomic_uint_fast64_t queries[TAC_BOARD_OUTCOME_COUNT];
	atomic_uint_fast64_t connections, failed_connections, loaded_bytes;
};

// The outcome that a failing transfer means.
tac_board_outcome board_outcome_of(tac_usb_status status);

// Receives one message by `deadline_ns`: ANSWERED, LATE, or what is wrong with it. Thread: the holder.
tac_board_outcome board_receive(tac_board *board, int64_t deadline_ns, tac_board_message *out_message);

// Starts and stops the keeper. Thread: setup, with `setup` held; and with `lock` at the start.
tac_result board_keeper_start(tac_board *board);
void board_keeper_stop(tac_board *board);

#endif
