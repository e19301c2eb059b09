// Live: changes a world while its servos run. One application thread sends commands: an object's pose, its
// material, whether it can be touched, a tool's mapping, the gain of its force, its effects, another world.
// Each call is wait-free; the real-time thread takes the commands at the beginning of its next tick, in their
// order. None of them lets the tool into an object or makes the force jump: the force law (docs/forces.md)
// bounds the change of the force whatever the world does.
//
// What became of the commands is in the snapshot (tac_snapshot_live), which has the poses that the objects
// really have: where the tool cannot yield, an object stops at it.
//
// Commands are plain numbers and can be recorded: replayed at the same ticks they give the same bits
// (tac_live_replay, tac_render_def.commands).
//
// Objects have the numbers of the scene (tac_scene_find_object). Those that an application adds later are in
// the scene from the start, hidden.
#ifndef TAC_HAPTIC_LIVE_H
#define TAC_HAPTIC_LIVE_H

#include "base/result.h"
#include "haptic/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_live tac_live;

typedef enum tac_live_kind {
	TAC_LIVE_MOVE,         // object `index`: T_world_object as position and quaternion x y z w
	TAC_LIVE_SHOW,         // object `index`: 1 or 0
	TAC_LIVE_MATERIAL,     // material `index` of the world: the numbers of its keys in a scene file
	TAC_LIVE_USE_MATERIAL, // object `index`: the number of a material of the world, 0 or 1 + a surface
	TAC_LIVE_MAPPING,      // tool `index`: scale, position, rotation vector, clutch button
	TAC_LIVE_GAIN,         // tool `index`: 0 … 1
	TAC_LIVE_EXCHANGE,     // the world with the number `index`
	TAC_LIVE_EFFECT,       // tool `index`: the number of an effect, then the numbers of its keys
	TAC_LIVE_SWITCH,       // tool `index`: the number of an effect, 1 or 0
	TAC_LIVE_KINDS,
} tac_live_kind;

#define TAC_LIVE_VALUES 32

typedef struct tac_live_command {
	int32_t kind; // a tac_live_kind
	int32_t index;
	int64_t over_ns; // move, mapping: within this time
	double values[TAC_LIVE_VALUES];
} tac_live_command;

// A command and the tick of the first servo that took it.
typedef struct tac_live_record {
	int64_t tick;
	tac_live_command command;
} tac_live_record;

typedef struct tac_live_def {
	uint32_t struct_bytes; // set by tac_live_def_default (base/def.h)
	tac_world *world;      // the first; the caller destroys it after the servos, or when it is given back
	uint32_t capacity; // commands that may wait, a power of two; a tick takes at most TAC_LIVE_PER_TICK
	// No point of an object is moved faster by commands, and no tool by a change of its mapping. What is
	// sent faster arrives later.
	double max_speed_m_per_s;
	// Called on the real-time thread for each command that is taken, with the number of the tick of the
	// first tool's servo; may be NULL.
	void (*record)(void *user, int64_t tick, const tac_live_command *command);
	void *record_user;
} tac_live_def;

#define TAC_LIVE_PER_TICK 64
#define TAC_LIVE_WORLDS   4 // that may wait to be taken or given back

// Fills a def of `bytes` with the defaults.
// Thread: any.
TAC_API void tac_live_def_init(tac_live_def *out_def, size_t bytes);

// 1024 commands, 1 m/s.
// Thread: any.
static inline tac_live_def tac_live_def_default(void)
{
	tac_live_def def;
	tac_live_def_init(&def, sizeof def);
	return def;
}

// Makes a world changeable. The servos of its tools are created afterwards with tac_servo_def.live, the one
// that is stepped first in each tick first, and destroyed before it. TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY
// with one log line; *out_live is NULL then.
// Thread: setup.
TAC_API tac_result tac_live_create(const tac_live_def *def, tac_live **out_live);

// Frees all but the worlds. Nulls the pointer; NULL in it is allowed.
// Thread: setup, when the servos are destroyed.
TAC_API void tac_live_destroy(tac_live **live);

// The functions below send a command. They return false, and nothing is changed, if too many commands wait
// (counted by tac_live_refused), or, with one log line, if an argument is out of range.

// Moves an object to a pose, straight and at constant speed, within `over_ns` from the tick that takes the
// command; 0: as fast as max_speed_m_per_s allows. It starts where the object is then; a new command replaces
// the last one. The object pushes the tool, as one on a path does. An object on a path leaves it for good. A
// hidden object is there at once.
// Thread: any, one at a time.
TAC_API bool tac_live_move(tac_live *live, int32_t object, tac_dpose T_world_object, int64_t over_ns);

// The same for a program that sends a pose in each of its frames, at any rate: within a little more than the
// time since its last call for this object, at most 50 ms, so that the object neither steps nor stops between
// two frames.
// Thread: any, one at a time.
TAC_API bool tac_live_set_pose(tac_live *live, int32_t object, tac_dpose T_world_object);

// Shows or hides an object. A hidden one cannot be touched and costs nothing. Where the tool is in an object
// that is to be shown, the object stays hidden until the tool has left it (tac_snapshot_live.waits). With two
// tools each waits for itself.
// Thread: any, one at a time.
TAC_API bool tac_live_show(tac_live *live, int32_t object, bool show);

// Changes the properties of a material of the world for all that is made of it; the index is that of the
// scene, and the number of the scene's materials stands for the default material. `smooth` and `crease_rad`
// stay as they were built; the name is ignored.
// Thread: any, one at a time.
TAC_API bool tac_live_set_material(tac_live *live, int32_t material, const tac_material *properties);

// Makes all surfaces of an object of another material of the world. An object that is drilled has the
// materials of its inside and is refused.
// Thread: any, one at a time.
TAC_API bool tac_live_use_material(tac_live *live, int32_t object, int32_t material);

// The same for one surface of an object, which has the number of its mesh: that of contacts and events, or
// what tac_world_find_surface finds for a name.
// Thread: any, one at a time.
TAC_API bool tac_live_use_surface_material(tac_live *live, int32_t object, int32_t surface, int32_t material);

// Changes the mapping of a tool within `over_ns`, and no faster than max_speed_m_per_s lets the tool move. It
// replaces what the clutch has moved. While the clutch is held it waits.
// Thread: any, one at a time.
TAC_API bool tac_live_set_mapping(tac_live *live, int32_t tool, const tac_scene_mapping *mapping,
				  int64_t over_ns);

// Multiplies all contact forces of a tool by `gain`, 0 … 1; it goes there at 10 per second.
// Thread: any, one at a time.
TAC_API bool tac_live_set_gain(tac_live *live, int32_t tool, double gain);

// Sets effect `effect` of a tool, as tac_servo_set_effect does for a world that does not change.
// Thread: any, one at a time.
TAC_API bool tac_live_set_effect(tac_live *live, int32_t tool, int32_t effect, const tac_effect *values);

// Switches an effect of a tool on or off, one of the first world's scene or one that was set; on begins the
// envelope of a vibration anew.
// Thread: any, one at a time.
TAC_API bool tac_live_switch_effect(tac_live *live, int32_t tool, int32_t effect, bool on);

// Hands over another world, which takes the place of the present one between two ticks. Its tools have the
// same number, `axes` and `turn_arm_m` as those of the first world, and its engine is the same; limits,
// damping, mapping and effects stay as they are. Neither world has a drillable object or tissue. Each tool
// stays where it is if it is free there; otherwise its force fades out until it is. All commands that follow
// are for the new world, whose objects are where its scene has them. The test whether the tools are free
// takes a tick for each 20,000 triangles of closed meshes, times the shapes of the tool, during which the old
// world stays.
//
// The world belongs to the live until tac_live_returned gives it back. Allocates and prepares the new world's
// movers, which may take milliseconds; the loop goes on meanwhile. Also false with a log line if `world` is
// NULL, if it or TAC_LIVE_WORLDS others have not been given back, or without memory. Thread: setup, one at a
// time.
TAC_API bool tac_live_exchange(tac_live *live, tac_world *world);

// A world that is no longer in use, for the caller to destroy; NULL: none. *out_number (may be NULL) is its
// number: 0 for the first, then 1, 2, … in the order of the exchanges. Snapshots that are read afterwards are
// of a later world. When the servos are destroyed, no world is in use, and all of them are given back.
// Thread: setup, one at a time.
TAC_API tac_world *tac_live_returned(tac_live *live, int32_t *out_number);

// Sends a recorded command, except for an exchange, which needs its world.
// Thread: any, one at a time.
TAC_API bool tac_live_send(tac_live *live, const tac_live_command *command);

// Takes commands from a list, each in its tick, as if they were sent then: what they did in the run that was
// recorded they do again, to the bit, if the device does the same at the same times. (Forces also follow what
// the loop measured; tac_render_def.samples repeats that, too.) `worlds` are
// those of the exchanges, in their order; they stay the caller's and outlive the live, as `records` does.
// TAC_ERROR_ARGUMENT (a command that would be refused, ticks that fall, too few worlds) or TAC_ERROR_MEMORY
// with one log line. Thread: setup, once, after the servos were created and joined and before their first
// step.
TAC_API tac_result tac_live_replay(tac_live *live, const tac_live_record *records, size_t count,
				   tac_world *const *worlds, int32_t world_count);

#define TAC_LIVE_COMMAND_BYTES (16 + 8 * TAC_LIVE_VALUES)

// A command as bytes, for a recording (docs/recording.md), and back. Returns the number of bytes; decoding
// returns false if they are no command. Thread: any.
TAC_API size_t tac_live_command_encode(const tac_live_command *command, uint8_t out[TAC_LIVE_COMMAND_BYTES]);
TAC_API bool tac_live_command_decode(const uint8_t *bytes, size_t size, tac_live_command *out_command);

// Commands that were refused because too many waited.
// Thread: any.
TAC_API uint64_t tac_live_refused(const tac_live *live);

#ifdef __cplusplus
}
#endif

#endif
