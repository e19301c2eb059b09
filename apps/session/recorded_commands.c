#include "apps/session/recorded_commands.h"

#include <stdio.h>
#include <stdlib.h>

// Copies the commands up to the first exchange.
static bool decode(const char *command, const char *file, const tac_recording *recording,
		   recorded_commands *out)
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
		if (r->command.kind == TAC_LIVE_EXCHANGE) {
			fprintf(stderr,
				"%s: %s: another world takes the place of the first in tick %lld: from there "
				"on its "
				"objects stay as they are\n",
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
	bool good = recording.command_count == 0 || decode(command, file, &recording, out);
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
	return !commands->live ||
	       tac_live_replay(commands->live, commands->records, commands->count, NULL, 0) >= TAC_OK;
}

void recorded_commands_close(recorded_commands *commands)
{
	tac_live_destroy(&commands->live);
	free(commands->records);
	*commands = (recorded_commands){0};
}
