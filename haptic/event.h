// Events: what happened to a tool between two looks at its snapshots: touch and release of objects, enter and
// leave of their surfaces by name, slip and stick, buttons, faults, limits, a device lost and back. A program
// that draws 60 times a second sees one snapshot of 16; of the events it misses none, however short.
//
// The servo compares each snapshot with the one before and pushes the differences into a ring
// (tac_servo_def.events). If the ring is full, events are lost and counted: the next one says how many
// (tac_event.lost), and tac_servo_events_lost counts all.
#ifndef TAC_HAPTIC_EVENT_H
#define TAC_HAPTIC_EVENT_H

#include "base/algebra.h"
#include "base/api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_event_kind {
	TAC_EVENT_TOUCH,    // `object` has its first contact
	TAC_EVENT_RELEASE,  // and has none any more
	TAC_EVENT_ENTER,    // the same for `surface` of `object`
	TAC_EVENT_LEAVE,    //
	TAC_EVENT_SLIP,     // friction gives way: the tool slides
	TAC_EVENT_STICK,    // it holds again, while the tool still touches
	TAC_EVENT_PRESS,    // button `number`
	TAC_EVENT_LET_GO,   //
	TAC_EVENT_FAULT,    // the SCO was put back to its last free pose, or began in contact
	TAC_EVENT_LIMIT,    // the limit begins to change the force for tac_limit_reason `number`
	TAC_EVENT_NO_LIMIT, // and stops doing so
	TAC_EVENT_LOST,     // the device is lost, or its recording has ended
	TAC_EVENT_BACK,     // it answers again
	TAC_EVENT_KIND_COUNT,
} tac_event_kind;

#define TAC_EVENT_NAME 32 // longer names are cut

typedef struct tac_event {
	int64_t tick;    // of the servo, as in its snapshot
	int64_t time_ns; // of the tick
	tac_event_kind kind;
	int32_t tool;    // of the scene
	int32_t object;  // of the scene, as in tac_snapshot_contact; -1: none
	int32_t surface; // of the object's mesh; -1: none
	int32_t number;  // of a button or tac_limit_reason; -1: none
	uint32_t lost;   // events lost between the one before and this one
	char object_name[TAC_EVENT_NAME];
	char surface_name[TAC_EVENT_NAME];
	// Of a touch or enter: a point of the contact on the tool, and the force of the surface on the tool
	// in this tick. Of a slip or stick: the centre of the patch and the friction. Otherwise zero.
	tac_dvec3 point_m, force_N;
} tac_event;

// "touch", "release", …. Never NULL.
// Thread: any.
TAC_API const char *tac_event_kind_name(tac_event_kind kind);

#ifdef __cplusplus
}
#endif

#endif
