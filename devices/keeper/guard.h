// Guard: the parent of the keeper. It holds nothing but the leash, a socket to the keeper, so that hardly
// anything can go wrong with it. When the keeper dies, hangs or is stopped without having closed the device,
// the guard ends it, connects to the device and sends zero. When the guard dies or is stopped, the keeper
// notices through the leash, closes the device and ends.
#ifndef TAC_DEVICES_KEEPER_GUARD_H
#define TAC_DEVICES_KEEPER_GUARD_H

#include "devices/keeper/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the keeper sends on the leash: once, when the device is open or cannot be opened,
// TAC_KEEPER_SELECTION_BYTES with the selection that reaches it again; then one byte at a time, which says
// how long the next may take. The guard answers each byte with one of its own.
typedef enum tac_leash_byte {
	TAC_LEASH_OPENING = 'o', // the state before the selection; no limit, since there is no force yet
	TAC_LEASH_ALIVE = 'a',   // every 10 ms; a keeper silent for 100 ms is killed
	TAC_LEASH_AT_ZERO = 'z', // the device has confirmed zero; closing it may take 3 s
	TAC_LEASH_LOST = 'l',    // the device did not confirm zero: the guard sends it within 300 ms
	TAC_LEASH_GOODBYE = 'g', // closed, no force is left
} tac_leash_byte;

// Puts the calling process out of the reach of what ends or delays the runtime: own session, all signals
// ignored that can be, out-of-memory score as low as permitted, ordinary scheduling on every CPU, no core
// dump (which would delay its end). If it is stopped when its parent dies, it goes on.
// Thread: setup.
void tac_guard_isolate(const char *process_name);

// Starts the keeper, the same program with TAC_KEEPER_ROLE_KEEPER before its arguments, and waits for its
// end. Returns the exit status. Thread: setup.
tac_guard_exit tac_guard_run(int argc, char **argv);

// Sends zero to the device that `selection` names, after the process that held it has died: by the driver's
// `let_go` or, without one, by opening and closing the device. It tries again for about a second, since the
// kernel or a second runtime may still hold the device. False: the device was not reached. Thread: setup.
bool tac_guard_let_go(const char *selection);

#ifdef __cplusplus
}
#endif

#endif
