// Messages: what a runtime, the guard and the keeper agree on when they start. The runtime starts tactus-keep
// as the guard, which starts tactus-keep again as the keeper; both inherit these descriptors. Messages on the
// socket go from the keeper to the runtime only, one per packet. The runtime sends nothing: its end of the
// socket, closed or shut down, tells the keeper to end.
#ifndef TAC_DEVICES_KEEPER_MESSAGES_H
#define TAC_DEVICES_KEEPER_MESSAGES_H

#include "base/result.h"
#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// Descriptors of the guard and the keeper.
#define TAC_KEEPER_SOCKET_FD 3
#define TAC_KEEPER_MEMORY_FD 4 // devices/keeper/channel.h
#define TAC_KEEPER_EVENT_FD  5 // eventfd: a new order, or forces switched on or off
#define TAC_KEEPER_LEASH_FD  6 // between guard and keeper; not of the runtime
#define TAC_KEEPER_FD_END    7

// Roles, as the first argument of tactus-keep; without one it is the guard. The others start with the
// selection of a device.
#define TAC_KEEPER_ROLE_KEEPER "--keeper"
// Sends zero to a device that has neither keeper nor guard left. Its exit status is EXIT_SUCCESS if zero was
// sent and EXIT_FAILURE if the device was not reached.
#define TAC_KEEPER_ROLE_LET_GO "--let-go"

// Names of the processes. They do not contain the name of the project, so that `pkill -9 tactus`, typed to
// end a runtime, does not end those that set the device to zero.
#define TAC_KEEPER_NAME "device-keeper"
#define TAC_GUARD_NAME  "device-guard"

// Without a new order for this long the keeper commands zero.
#define TAC_KEEPER_HOLD_NS INT64_C(20000000)

// Of the keeper, its thread for USB, and a guard that acts. A runaway thread of an application must not delay
// a zero; only the kernel's own threads are above.
#define TAC_KEEPER_PRIORITY 98

// How the guard ended, as its exit status.
typedef enum tac_guard_exit {
	TAC_GUARD_ORDERLY,     // the keeper closed the device, or the device was lost
	TAC_GUARD_LET_GO,      // the keeper died; zero was sent
	TAC_GUARD_NOT_REACHED, // the keeper died, and the device could not be reached
	TAC_GUARD_NOT_STARTED,
	// Above every exit status.
	TAC_GUARD_KILLED = 256,
	TAC_GUARD_UNKNOWN, // it has ended, but the application collects its children itself, or ignores them
} tac_guard_exit;

typedef enum tac_keeper_message_kind {
	TAC_KEEPER_STARTED, // the first, with a descriptor of the keeper's process (pidfd_open)
	TAC_KEEPER_LOG,     // a line of the log
	TAC_KEEPER_RESULT,  // of opening the device; the only one of its kind
} tac_keeper_message_kind;

#define TAC_KEEPER_SELECTION_BYTES 256

typedef struct tac_keeper_opened {
	tac_device_info info;
	// Reaches this very device again, even where the user's selection means "the first one".
	char selection[TAC_KEEPER_SELECTION_BYTES];
} tac_keeper_opened;

typedef struct tac_keeper_message {
	int32_t kind;  // tac_keeper_message_kind
	int32_t value; // tac_log_level or tac_result
	union {
		char text[1024]; // ends with a NUL
		tac_keeper_opened opened;
	} body;
} tac_keeper_message;

#ifdef __cplusplus
}
#endif

#endif
