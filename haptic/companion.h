// Companion: computes what is only shown, on a thread of ordinary priority beside the loop: how far the tool
// is from the nearest object, and which surfaces the device's own pose penetrates. It reads the servo's
// snapshots under a reader number of its own, so the real-time thread does nothing for it but copy them.
#ifndef TAC_HAPTIC_COMPANION_H
#define TAC_HAPTIC_COMPANION_H

#include "base/result.h"
#include "haptic/servo.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_companion tac_companion;

// A surface of the tool and a surface of an object that intersect.
typedef struct tac_surface_pair {
	int32_t object, tool_surface, object_surface;
} tac_surface_pair;

#define TAC_SURROUNDINGS_PAIRS 16
// Objects farther away than this are not searched for.
#define TAC_SURROUNDINGS_REACH_M 0.02

// What surrounds the tool in one snapshot.
typedef struct tac_surroundings {
	int64_t tick;           // of the snapshot
	int32_t nearest_object; // of the scene, to the SCO; -1: none within reach, or the engine has no
				// distances
	double distance_m;      // to it; HUGE_VAL: none
	int32_t pair_count;     // surfaces that the device's pose penetrates: what the user pushes into
	tac_surface_pair pairs[TAC_SURROUNDINGS_PAIRS]; // the first of them
} tac_surroundings;

typedef struct tac_companion_def {
	uint32_t struct_bytes;  // set by tac_companion_def_default (base/def.h)
	const tac_world *world; // outlives the companion
	tac_servo *servo;       // of that world; outlives the companion
	int32_t tool;           // the servo's
	int32_t reader;         // of the servo's snapshots, used by nobody else
	int64_t pause_ns;       // between two searches
	int32_t world_number;   // of a live world (tac_snapshot_live.world): it rests while another is in use
} tac_companion_def;

// Fills a def of `bytes` with the defaults.
// Thread: any.
TAC_API void tac_companion_def_init(tac_companion_def *out_def, size_t bytes);

// No world, no servo, tool 0, reader 0, 10 ms.
// Thread: any.
static inline tac_companion_def tac_companion_def_default(void)
{
	tac_companion_def def;
	tac_companion_def_init(&def, sizeof def);
	return def;
}

// Starts the thread. TAC_ERROR_ARGUMENT, TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM with one log line;
// *out_companion is NULL then. With an engine that keeps its shapes in a device (TAC_COLLIDER_UPLOADS) the
// companion finds nothing: its queries would take the device from the loop.
// Thread: setup.
TAC_API tac_result tac_companion_create(const tac_companion_def *def, tac_companion **out_companion);

// Stops the thread. Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_companion_destroy(tac_companion **companion);

// The newest result, unchanged until the next read; NULL before the first. Wait-free.
// Thread: any, one at a time.
TAC_API const tac_surroundings *tac_companion_read(tac_companion *companion);

#ifdef __cplusplus
}
#endif

#endif
