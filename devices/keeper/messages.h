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

// Without a new order for this long the keeper commands zero.
#define TAC_KEEPER_HOLD_NS INT64_C(20000000)

// How the guard ended, as its exit status.
typedef enum tac_guard_exit {
	TAC_GUARD_ORDERLY,     // the keeper closed the device, or the device was lost
	TAC_GUARD_LET_GO,      // the keeper died; the guard sent zero
	TAC_GUARD_NOT_REACHED, // the keeper died, and the guard could not reach the device
	TAC_GUARD_NOT_STARTED,
} tac_guard_exit;

typedef enum tac_keeper_message_kind {
	TAC_KEEPER_LOG,    // a line of the log
	TAC_KEEPER_RESULT, // of opening the device; the first and last of its kind
} tac_keeper_message_kind;

typedef struct tac_keeper_message {
	int32_t kind;  // tac_keeper_message_kind
	int32_t value; // tac_log_level or tac_result
	union {
		char text[1024]; // ends with a NUL
		tac_device_info info;
	} body;
} tac_keeper_message;

#ifdef __cplusplus
}
#endif

#endif
