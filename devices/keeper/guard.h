// Guard: the parent of the keeper. It holds nothing but the leash, a socket to the keeper, so that hardly
// anything can go wrong with it. When the keeper dies, or is stopped, without having closed the device, the
// guard connects to the device and sends zero. When the guard dies, the keeper sees the leash hang up, closes
// the device and ends.
#ifndef TAC_DEVICES_KEEPER_GUARD_H
#define TAC_DEVICES_KEEPER_GUARD_H

#include "devices/keeper/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the keeper sends on the leash, one byte each. It says how long the next byte may take.
typedef enum tac_leash_byte {
	TAC_LEASH_OPENING = 'o', // the state before the first byte; no limit, since there is no force yet
	TAC_LEASH_ALIVE = 'a',   // every 10 ms; a keeper silent for 100 ms is killed
	TAC_LEASH_CLOSING = 'c', // closing the device may take 3 s
	TAC_LEASH_LOST = 'l',    // closed, but the device did not confirm zero: it may still hold a force
	TAC_LEASH_GOODBYE = 'g', // closed, no force is left
} tac_leash_byte;

// Puts the calling process out of the reach of what ends the runtime: own session, all signals ignored that
// can be, out-of-memory score as low as permitted, no core dump (which would delay its end).
// Thread: setup.
void tac_guard_isolate(const char *process_name);

// Starts the keeper, the same program with `--keeper` before its arguments, and waits for its end. Returns
// the exit status. Thread: setup.
tac_guard_exit tac_guard_run(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
