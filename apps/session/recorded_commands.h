// What an application told its world while it was recorded (haptic/live.h), for a replay: objects move,
// vanish and change as they did then, and other worlds take the place of the first, as far as their scenes
// can be built: a body from the memory of the application that was recorded cannot.
#ifndef TAC_APPS_SESSION_RECORDED_COMMANDS_H
#define TAC_APPS_SESSION_RECORDED_COMMANDS_H

#include "devices/recording.h"
#include "haptic/live.h"

#define RECORDED_WORLDS 64 // of a replay, at most

typedef struct recorded_commands {
	tac_live *live; // for the servos; NULL: the recording has no commands
	tac_live_record *records;
	size_t count;
	tac_world *worlds[RECORDED_WORLDS]; // of the exchanges
	tac_scene *scenes[RECORDED_WORLDS];
	int32_t world_count;
} recorded_commands;

// Reads the commands of a recording and makes `world` changeable. False after one line.
bool recorded_commands_open(const char *command, const char *file, tac_world *world, recorded_commands *out);

// Begins the replay, when the servos are created and joined. False after one line.
bool recorded_commands_start(const recorded_commands *commands);

// When the servos are destroyed.
void recorded_commands_close(recorded_commands *commands);

#endif
