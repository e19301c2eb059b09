// Play: runs a servo in a loop on a real-time thread, for programs whose other threads have work to do, such
// as drawing what the loop last published (tac_servo_snapshot).
#ifndef TAC_HAPTIC_PLAY_H
#define TAC_HAPTIC_PLAY_H

#include "base/api.h"
#include "haptic/servo.h"
#include "rt/loop.h"
#include "rt/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_play tac_play;

// Creates a servo from `def`, enables the forces of its device and steps it on a new thread until
// tac_play_destroy, or for `loop->periods`; then disables the forces. `loop` NULL: tac_loop_def_default. The
// thread requests the scheduling of tac_thread_def_default; what is refused is in tac_play_report, and the
// loop runs nevertheless. Fails as tac_servo_create, tac_loop_create and tac_thread_start do; then nothing
// runs and *out_play is NULL.
// Thread: setup.
TAC_API tac_result tac_play_start(const tac_servo_def *def, const tac_loop_def *loop, tac_play **out_play);

// Waits until the loop has run all its periods or was stopped by a signal.
// Thread: setup, once.
TAC_API void tac_play_wait(tac_play *play);

// Stops the loop and waits for its thread, which disables the forces. Device and world stay the caller's.
// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_play_destroy(tac_play **play);

// The servo, for its snapshots.
// Thread: any.
TAC_API tac_servo *tac_play_servo(const tac_play *play);

// What the thread was granted and what was refused; valid after tac_play_start.
// Thread: any.
TAC_API const tac_thread_report *tac_play_report(const tac_play *play);

#ifdef __cplusplus
}
#endif

#endif
