// Play: a servo stepped by a loop on a real-time thread of its own, for programs whose other threads have
// something else to do, such as drawing what the loop last published (tac_servo_snapshot).
#ifndef TAC_HAPTIC_PLAY_H
#define TAC_HAPTIC_PLAY_H

#include "haptic/servo.h"
#include "rt/loop.h"
#include "rt/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_play tac_play;

// Creates a servo as `def` says, switches its device's forces on and steps it on a new thread until
// tac_play_destroy, or through `loop->periods`; then it switches them off. `loop` NULL: tac_loop_def_default.
// The thread asks for what tac_thread_def_default names; what was refused is in tac_play_report, and the loop
// runs all the same. As tac_servo_create, tac_loop_create and tac_thread_start; nothing is left running then.
// Thread: setup.
tac_result tac_play_start(const tac_servo_def *def, const tac_loop_def *loop, tac_play **out_play);

// Waits until the loop is through its periods or stopped by a signal. Thread: setup, once.
void tac_play_wait(tac_play *play);

// Stops the loop and waits for its thread, which switches the forces off. Device and world are the caller's.
// Nulls the pointer; NULL in it is allowed. Thread: setup.
void tac_play_destroy(tac_play **play);

// The servo, for its snapshots. Thread: any.
tac_servo *tac_play_servo(const tac_play *play);

// What the thread was granted and refused; valid from tac_play_start on. Thread: any.
const tac_thread_report *tac_play_report(const tac_play *play);

#ifdef __cplusplus
}
#endif

#endif
