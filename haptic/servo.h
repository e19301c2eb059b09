// Servo: the tick. Read device, map, move SCO, effects, contacts, coupling, passivity, limit, write device,
// publish. haptic/servo/servo.c lists these stages in this order. What is only shown is computed by another
// thread (haptic/companion.h).
//
// One servo drives one tool with one device. Two tools are two servos stepped one after the other by the same
// thread. Each takes the other's SCO as an object at the pose where it was last proved free, so neither ever
// enters the other, and each hand feels the contact forces of the other.
//
// Threads: create and destroy belong to set-up. tac_servo_step belongs to one real-time thread. Any other
// thread reads snapshots, each under a different reader number, or stops the servo with tac_servo_stop.
#ifndef TAC_HAPTIC_SERVO_H
#define TAC_HAPTIC_SERVO_H

#include "base/result.h"
#include "devices/device.h"
#include "haptic/effect.h"
#include "haptic/event.h"
#include "haptic/limit.h"
#include "haptic/live.h"
#include "haptic/snapshot.h"
#include "haptic/task.h"
#include "haptic/world.h"
#include "rt/tick.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_servo tac_servo;

#define TAC_SERVO_READERS 4

typedef struct tac_servo_def {
	uint32_t struct_bytes;  // set by tac_servo_def_default (base/def.h)
	const tac_world *world; // outlives the servo; not needed with `live`
	tac_live *live;         // for a world that changes; NULL: it does not. Outlives the servo
	int32_t tool;
	tac_device *device; // stays the caller's, outlives the servo
	tac_sco_mover mover;
	bool check; // query the world's collider at the SCO's pose after every step; a hit is a fault
	int64_t period_ns;
	// Called each tick after the write with what was read, measured and written, on the real-time thread;
	// may be NULL.
	void (*record)(void *user, const tac_device_sample *sample);
	void *record_user;
	int32_t readers;              // of snapshots, 1 … TAC_SERVO_READERS; each costs one copy per tick
	uint32_t events;              // that may wait to be read, a power of two; 0: none are told
	tac_effect_callback callback; // a force of one's own, besides the scene's effects
	// There are no deadlines. Otherwise a query of an engine that simulates gates waits for the next tick
	// after the clocks that fit into 35 % of a period (tac_collider.node_ns).
	bool off_line;
} tac_servo_def;

// Fills a def of `bytes` with the defaults.
// Thread: any.
TAC_API void tac_servo_def_init(tac_servo_def *out_def, size_t bytes);

// 1 kHz, continuous mover, check on, one reader.
// Thread: any.
static inline tac_servo_def tac_servo_def_default(void)
{
	tac_servo_def def;
	tac_servo_def_init(&def, sizeof def);
	return def;
}

// Creates a servo without reading its device; the caller enables the forces. TAC_ERROR_ARGUMENT or
// TAC_ERROR_MEMORY with one log line; *out_servo is NULL then.
// Thread: setup.
TAC_API tac_result tac_servo_create(const tac_servo_def *def, tac_servo **out_servo);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_servo_destroy(tac_servo **servo);

// Joins two servos of one world to two hands, before the first step of either. The same thread steps them in
// turn. TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with one log line.
// Thread: setup.
TAC_API tac_result tac_servo_join(tac_servo *a, tac_servo *b);

// Tells the edits of the body that is drilled to a copy of it (tac_surface_edits of tissue/surface.h), from
// the first step on; NULL: to no one. Two hands have the same ring. Does nothing if the tool is not a drill.
// Thread: setup.
TAC_API void tac_servo_tell_edits(tac_servo *servo, tac_ring *edits);

// Runs one tick at `now_ns` on any monotonic clock. `tick` receives the ends of the phases; NULL: no clock is
// read.
// Thread: RT.
TAC_API void tac_servo_step(tac_servo *servo, int64_t now_ns, tac_tick *tick);

// Runs one tick of each servo in turn, as two hands need it. `tick` receives the sums of their phases; NULL:
// no clock is read. Thread: RT.
TAC_API void tac_servo_step_all(tac_servo *const *servos, int32_t count, int64_t now_ns, tac_tick *tick);

// Returns the newest snapshot, which stays unchanged until this reader's next read; NULL before the first
// tick. `reader` is below the def's readers. Wait-free.
// Thread: any, one for each reader.
TAC_API const tac_snapshot *tac_servo_snapshot(tac_servo *servo, int32_t reader);

// Copies the newest snapshot into the first `bytes` of *out_snapshot, which the caller passes as sizeof
// *out_snapshot: a program that was compiled for an older, shorter snapshot gets the part that it knows, and
// what this library does not know is zero. False before the first tick; *out_snapshot is zero then. Counts as
// a read of this reader, like tac_servo_snapshot.
// Thread: any, one for each reader.
TAC_API bool tac_servo_snapshot_read(tac_servo *servo, int32_t reader, tac_snapshot *out_snapshot,
				     size_t bytes);

// Takes the oldest event that waits. False: there is none. Wait-free.
// Thread: any, one.
TAC_API bool tac_servo_next_event(tac_servo *servo, tac_event *out_event);

// Events that were lost because tac_servo_def.events others waited.
// Thread: any.
TAC_API uint64_t tac_servo_events_lost(const tac_servo *servo);

// Sets effect `index`, 0 … TAC_EFFECT_COUNT - 1, from the next tick on; the force follows along the ramp. The
// scene's effects have the first indices. An effect that becomes enabled begins its envelope. Wait-free;
// several changes between two ticks act together. TAC_ERROR_ARGUMENT with one log line, and no change, if
// index or effect are invalid, or if the world is a live one, whose commands are recorded
// (tac_live_set_effect). The effect's `tool` is ignored: it acts on this servo's.
// Thread: any one besides RT, the same for all functions of effects.
TAC_API tac_result tac_servo_set_effect(tac_servo *servo, int32_t index, const tac_effect *effect);

// Switches an effect on or off. On always begins the envelope of a vibration anew. TAC_ERROR_ARGUMENT with
// one log line if there is no such effect. Wait-free.
// Thread: as tac_servo_set_effect.
TAC_API tac_result tac_servo_switch_effect(tac_servo *servo, int32_t index, bool on);

// Effect `index` as it was last set, in a live world as the scene has it; NULL: none. Valid until it is set
// again.
// Thread: as tac_servo_set_effect.
TAC_API const tac_effect *tac_servo_effect(const tac_servo *servo, int32_t index);

// The index of the effect with that name; -1: none has it.
// Thread: as tac_servo_set_effect.
TAC_API int32_t tac_servo_find_effect(const tac_servo *servo, const char *name);

// What remains of the body that is drilled (tissue/field.h), as the servo has it now; NULL: the scene has
// none. Thread: that of tac_servo_step, or any after the last step.
TAC_API const tac_field *tac_servo_field(const tac_servo *servo);

// What was done with the tool so far, in a live world since the last exchange.
// Thread: that of tac_servo_step, or any after the last step.
TAC_API const tac_task_figures *tac_servo_task(tac_servo *servo);

// Emergency stop: the force is zero from the next step on, until tac_servo_reset.
// Thread: any, signal handlers included.
TAC_API void tac_servo_stop(tac_servo *servo);

// Lowers the gain of everything that is sent to the device to `gain`, 0 … 1, for the rest of the servo's
// life. A value that is not below the present one changes nothing. Thread: any but RT.
TAC_API void tac_servo_lower_gain(tac_servo *servo, double gain);

// Ends an emergency stop; the force rises from zero.
// Thread: any.
TAC_API void tac_servo_reset(tac_servo *servo);

// The number of ticks in which the limit changed the force for `reason`.
// Thread: any.
TAC_API uint64_t tac_servo_limit_count(const tac_servo *servo, tac_limit_reason reason);

#ifdef __cplusplus
}
#endif

#endif
