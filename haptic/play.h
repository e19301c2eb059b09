// Play: runs the servos of one or two hands in a loop on a real-time thread, for programs whose other threads
// have work to do, such as drawing what the loop last published (tac_servo_snapshot). It keeps the account of
// the loop's deadlines.
#ifndef TAC_HAPTIC_PLAY_H
#define TAC_HAPTIC_PLAY_H

#include "base/api.h"
#include "haptic/servo.h"
#include "rt/loop.h"
#include "rt/monitor.h"
#include "rt/thread.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_play tac_play;

// The defs that it names need not outlive the call.
typedef struct tac_play_def {
	uint32_t struct_bytes; // set by tac_play_def_default (base/def.h)
	int32_t hand_count;
	const tac_servo_def *hands[TAC_SCENE_TOOLS]; // two: tools of one world, which feel each other
	const tac_loop_def
		*loop; // NULL: tac_loop_def_default. Without an account, one is kept (tac_play_timing)
	const tac_thread_def *thread; // NULL: tac_thread_def_default
} tac_play_def;

// Fills a def of `bytes` with the defaults.
// Thread: any.
TAC_API void tac_play_def_init(tac_play_def *out_def, size_t bytes);

// One hand, which is still to be named.
// Thread: any.
static inline tac_play_def tac_play_def_default(void)
{
	tac_play_def def;
	tac_play_def_init(&def, sizeof def);
	return def;
}

// Creates the servos, enables the forces of their devices and steps them on a new thread until
// tac_play_destroy, or for loop.periods; then disables the forces. What the kernel refuses of `thread` is in
// tac_play_report, and the loop runs nevertheless. TAC_ERROR_ARGUMENT with one log line if a servo's
// period_ns is not the loop's: its budgets and its damping would be those of another rate. Otherwise fails as
// tac_servo_create, tac_servo_join, tac_loop_create, tac_monitor_create and tac_thread_start do; then nothing
// runs and *out_play is NULL. Thread: setup.
TAC_API tac_result tac_play_start_hands(const tac_play_def *def, tac_play **out_play);

// The same for one hand; `loop` NULL: tac_loop_def_default.
// Thread: setup.
TAC_API tac_result tac_play_start(const tac_servo_def *def, const tac_loop_def *loop, tac_play **out_play);

// Waits until the loop has run all its periods or was stopped by a signal.
// Thread: setup, once.
TAC_API void tac_play_wait(tac_play *play);

// Stops the loop and waits for its thread, which disables the forces. Devices and world stay the caller's.
// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_play_destroy(tac_play **play);

// The servo of the first hand, for its snapshots, events and effects.
// Thread: any.
TAC_API tac_servo *tac_play_servo(const tac_play *play);

// The servo of hand `hand`, which is below hand_count.
// Thread: any.
TAC_API tac_servo *tac_play_hand(const tac_play *play, int32_t hand);

// Copies the account of the deadlines so far. False, and nothing is copied, if the loop's def has an account
// of the caller's. Thread: any but RT.
TAC_API bool tac_play_timing(tac_play *play, tac_monitor_stats *out_stats);

// What the thread was granted and what was refused; valid after tac_play_start.
// Thread: any.
TAC_API const tac_thread_report *tac_play_report(const tac_play *play);

#ifdef __cplusplus
}
#endif

#endif
