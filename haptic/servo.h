// Servo: the tick. device.read, pose, sco.step, contacts, coupling, friction, passivity, limit, device.write,
// and then what may be left out when time is short: haptic/servo.c is that line, from top to bottom.
//
// One servo drives one tool with one device. Two tools are two servos stepped one after the other by one
// thread: each takes the other's SCO for an object that stands where it was last proved free, so neither ever
// enters the other, and each hand feels what the other presses with.
//
// Threads: create and destroy belong to set-up. tac_servo_step belongs to one real-time thread. Everybody
// else reads snapshots, each thread with a number of its own, or stops it by tac_servo_stop.
#ifndef TAC_HAPTIC_SERVO_H
#define TAC_HAPTIC_SERVO_H

#include "base/result.h"
#include "devices/device.h"
#include "haptic/limit.h"
#include "haptic/snapshot.h"
#include "haptic/world.h"
#include "rt/tick.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_servo tac_servo;

#define TAC_SERVO_READERS 4

typedef struct tac_servo_def {
	const tac_world *world; // outlives the servo
	int32_t tool;
	tac_device *device; // stays the caller's, outlives the servo
	tac_sco_mover mover;
	bool check; // ask the world's collider for the SCO's pose at the end of every step (SPEC part E, step
		    // 4)
	int64_t period_ns;
	// Time from the beginning of a tick after which extras are left out. 0: the clock is not read and
	// nothing is left out, so that a replay gives the same bits.
	int64_t budget_ns;
	// Gets what the device said and was told, each tick, after the write; NULL: nobody does. On the
	// real-time thread.
	void (*record)(void *user, const tac_device_state *state, const tac_wrench *wrench,
		       tac_device_status status);
	void *record_user;
	int32_t readers; // of snapshots, 1 … TAC_SERVO_READERS; each costs a copy a tick
} tac_servo_def;

// 1 kHz, continuous mover, check on, extras left out after 600 us, one reader.
// Thread: any.
tac_servo_def tac_servo_def_default(void);

// A servo that has not read its device yet; forces must be enabled by the caller. TAC_ERROR_ARGUMENT or
// TAC_ERROR_MEMORY with one log line; *out_servo is NULL then.
// Thread: setup.
tac_result tac_servo_create(const tac_servo_def *def, tac_servo **out_servo);

// Nulls the pointer; NULL in it is allowed. Thread: setup.
void tac_servo_destroy(tac_servo **servo);

// Makes two servos of one world the two hands of one scene; they are stepped in turn by the same thread.
// Thread: setup.
tac_result tac_servo_join(tac_servo *a, tac_servo *b);

// One tick at `now_ns`, on any clock that never runs backwards. `tick` gets the ends of the phases; NULL: no
// clock is read.
// Thread: RT.
void tac_servo_step(tac_servo *servo, int64_t now_ns, tac_tick *tick);

// The newest snapshot, complete, unchanged until this reader's next read; NULL before the first tick.
// `reader` is below the def's readers. Thread: any, one for each reader; wait-free.
const tac_snapshot *tac_servo_snapshot(tac_servo *servo, int32_t reader);

// Emergency stop: from the next step on the force is zero, until reset.
// Thread: any, signal handlers included.
void tac_servo_stop(tac_servo *servo);
void tac_servo_reset(tac_servo *servo);

// Ticks in which the gate to the device stepped in for `reason`. Thread: any.
uint64_t tac_servo_limit_count(const tac_servo *servo, tac_limit_reason reason);

#ifdef __cplusplus
}
#endif

#endif
