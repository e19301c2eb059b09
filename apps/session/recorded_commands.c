#include "apps/session/recorded_commands.h"

#include "apps/session/recorded_scene.h"

#include <stdio.h>
#include <stdlib.h>

// Builds the world of the next exchange. False: it cannot be.
static bool add_world(const char *command, const char *file, const tac_recording *recording,
		      const tac_world *first, recorded_commands *out)
{
	const int32_t number = out->world_count;
	if (number == RECORDED_WORLDS || (size_t)number >= recording->later_scene_count)
		return false;
	const tac_recording_scene *recorded = &recording->later_scenes[number];
	tac_scene *scene = NULL;
	tac_world *world = NULL;
	if (recorded_scene_parse(file, recorded, &scene) &&
	    tac_world_build(scene, first->collider, &world) >= TAC_OK &&
	    recorded_scene_has_meshes(command, file, recorded, world)) {
		out->scenes[number] = scene;
		out->worlds[number] = world;
		out->world_count++;
		return true;
	}
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	return false;
}

// Copies the commands up to the first exchange for a world that cannot be built.
static bool decode(const char *command, const char *file, const tac_recording *recording,
		   const tac_world *first, recorded_commands *out)
{
	out->records = calloc(recording->command_count, sizeof *out->records);
	if (!out->records) {
		fprintf(stderr, "%s: %s: expected memory for its commands, found none\n", command, file);
		return false;
	}
	for (size_t i = 0; i < recording->command_count; i++) {
		const tac_recording_command *c = &recording->commands[i];
		tac_live_record *r = &out->records[out->count];
		r->tick = c->tick;
		if (!tac_live_command_decode(c->data, c->bytes, &r->command)) {
			fprintf(stderr, "%s: %s: expected a command, found another in command %zu\n", command,
				file, i + 1);
			return false;
		}
		if (r->command.kind == TAC_LIVE_EXCHANGE &&
		    !add_world(command, file, recording, first, out)) {
			fprintf(stderr,
				"%s: %s: expected a scene that can be built for the world that follows in "
				"tick "
				"%lld, found none: from there on objects stay as they are\n",
				command, file, (long long)r->tick);
			break;
		}
		out->count++;
	}
	return true;
}

bool recorded_commands_open(const char *command, const char *file, tac_world *world, recorded_commands *out)
{
	*out = (recorded_commands){0};
	tac_recording recording;
	if (tac_recording_load_quietly(file, &recording) < TAC_OK)
		return false;
	bool good = recording.command_count == 0 || decode(command, file, &recording, world, out);
	tac_recording_fini(&recording);
	if (good && out->count > 0) {
		tac_live_def def = tac_live_def_default();
		def.world = world;
		good = tac_live_create(&def, &out->live) >= TAC_OK;
	}
	return good;
}

bool recorded_commands_start(const recorded_commands *commands)
{
	return !commands->live || tac_live_replay(commands->live, commands->records, commands->count,
						  commands->worlds, commands->world_count) >= TAC_OK;
}

void recorded_commands_close(recorded_commands *commands)
{
	tac_live_destroy(&commands->live);
	for (int32_t i = 0; i < commands->world_count; i++) {
		tac_world_destroy(&commands->worlds[i]);
		tac_scene_destroy(&commands->scenes[i]);
	}
	free(commands->records);
	*commands = (recorded_commands){0};
}
