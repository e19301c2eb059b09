// Live state: the memory of a live world. live.c is the application's side; live_tick.c the real-time side;
// exchange.c what both do to exchange worlds.
#ifndef TAC_HAPTIC_SERVO_LIVE_STATE_H
#define TAC_HAPTIC_SERVO_LIVE_STATE_H

#include "haptic/live.h"
#include "haptic/servo/servo_state.h"
#include "rt/ring.h"

#ifdef __cplusplus
extern "C" {
#endif

// A world as the servos use it.
typedef struct tac_live_stage {
	tac_world *world; // the application's
	tac_world view;   // its copy, whose materials change; bodies and meshes are those of `world`
	int32_t *surface_material[TAC_SCENE_OBJECTS]; // of the view's objects
	int32_t number;
	// Movers, needles and figures for the tools: of the new world until the exchange, of the old one
	// after it.
	tac_sco *scos[TAC_SCENE_TOOLS];
	double round_m[TAC_SCENE_TOOLS];
	tac_servo_needle needles[TAC_SCENE_TOOLS];
	tac_task *tasks[TAC_SCENE_TOOLS];
} tac_live_stage;

// The motion of an object that commands move.
typedef struct tac_live_motion {
	bool driven;         // a command has moved it
	tac_dpose pose;      // of the last tick, as far as the tool let it
	tac_dpose commanded; // of this tick
	tac_dpose target;
	int64_t left_ns; // until it is there
} tac_live_motion;

// Commands from a list.
typedef struct tac_live_list {
	const tac_live_record *records;
	size_t count, next;
	tac_live_stage **stages; // of the exchanges; of the worlds that they replaced, once they are done
	int32_t stage_count, next_stage;
} tac_live_list;

struct tac_live {
	tac_live_def def;
	tac_ring *commands; // from the application
	tac_ring *stages;   // from the application: one for each exchange, before its command
	tac_ring *returned; // to the application

	// The application's.
	const tac_world *newest; // the world that commands are for
	int32_t exchanges;
	const tac_world *held[TAC_LIVE_WORLDS + 1]; // that have not been given back
	int32_t held_count;
	int64_t posed_ns[TAC_SCENE_OBJECTS];
	uint32_t effects[TAC_SCENE_TOOLS]; // bit i: the tool has effect i

	// The real-time thread's.
	tac_servo *servos[TAC_SCENE_TOOLS]; // in the order of their steps
	int32_t servo_count;
	tac_live_stage *stage;
	tac_live_stage *next; // to be taken as soon as the tools have been tested in it
	// Replaced in the last tick. They are given back in the next one: whoever finds them given back then
	// reads snapshots of the new world.
	tac_live_stage *old[TAC_LIVE_WORLDS];
	int32_t old_count;
	tac_servo_release tests[TAC_SCENE_TOOLS];
	tac_live_motion motions[TAC_SCENE_OBJECTS];
	uint64_t shown; // bit i: object i is to be shown
	tac_live_list list;
	bool next_is_listed; // `next` came from the list
	uint64_t taken;
};

// A stage for `world`, without movers. NULL, with one log line, if there is no memory.
// Thread: setup.
tac_live_stage *tac_live_stage_create(tac_world *world, int32_t number);

// Frees all but the world; NULL in it is allowed.
// Thread: setup.
void tac_live_stage_destroy(tac_live_stage **stage);

// Adds a servo that is created, removes one that is destroyed (live.c).
// Thread: setup.
void tac_live_add_servo(tac_live *live, tac_servo *servo);
void tac_live_remove_servo(tac_live *live, const tac_servo *servo);

// Sets all objects to what the scene says `time_ns` after the start: where they are, and whether they can be
// touched. Thread: setup, RT.
void tac_live_reset_objects(tac_live *live, int64_t time_ns);

// Pushes a command; false if there is no room (live.c).
// Thread: any, one at a time.
bool tac_live_push(tac_live *live, const tac_live_command *command);

// A stage for `world` with movers for all servos; NULL, with one log line, if the world does not fit or there
// is no memory (exchange.c). Thread: setup.
tac_live_stage *tac_live_prepare(const tac_live *live, const tac_world *before, tac_world *world,
				 int32_t number);

// Whether a command is allowed in `world`; one log line if not (live.c).
// Thread: any.
bool tac_live_allows(const tac_world *world, const tac_live_command *command);

// Gives back the worlds that were replaced before this tick (exchange.c).
// Thread: RT.
void tac_live_give_back(tac_live *live);

// Takes the next world as soon as all tools have been tested in it (exchange.c).
// Thread: RT.
void tac_live_try_exchange(tac_live *live, int64_t now_ns);

#ifdef __cplusplus
}
#endif

#endif
