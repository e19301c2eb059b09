// What the servo remembers of the last tick to tell events (haptic/event.h).
#ifndef TAC_HAPTIC_SERVO_EVENTS_H
#define TAC_HAPTIC_SERVO_EVENTS_H

#include "haptic/event.h"
#include "haptic/servo.h"
#include "rt/ring.h"

#ifdef __cplusplus
extern "C" {
#endif

// A surface that is touched. The names are copies: the world may be another one when it is left.
typedef struct tac_servo_touched {
	int32_t object, surface;
	char object_name[TAC_EVENT_NAME], surface_name[TAC_EVENT_NAME];
	tac_dvec3 point_m, force_N;
} tac_servo_touched;

typedef struct tac_servo_events {
	tac_ring *ring; // NULL: nobody asks for events
	uint32_t lost;  // since the last event that found room

	// Of the last tick.
	tac_servo_touched touched[TAC_SCO_CONTACTS];
	int32_t touched_count;
	bool slipping, device_lost;
	uint32_t buttons, limits;
	uint64_t faults;
} tac_servo_events;

// Creates the ring if the def asks for one. TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with one log line.
// Thread: setup.
tac_result tac_servo_init_events(tac_servo *servo);

// Compares the servo's new snapshot with the last one.
// Thread: RT.
void tac_servo_tell_events(tac_servo *servo);

#ifdef __cplusplus
}
#endif

#endif
