#include "share/bridge/bridge_state.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool seen_before(bridge *b, uint64_t number)
{
	for (uint32_t i = 0; i < BRIDGE_ANSWERS; i++)
		if (b->seen[i] == number)
			return true;
	b->seen[b->seen_count++ % BRIDGE_ANSWERS] = number;
	return false;
}

// A scene from the network is a name, never a path.
static bool scene_valid(const char *scene)
{
	return scene[0] && scene[0] != '-' && scene[0] != '.' &&
	       strspn(scene, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
		       strlen(scene);
}

// Starts a run, which shares itself under this station's name.
static const char *start(bridge *b)
{
	if (!b->def.launch)
		return "refused: this bridge was not told what to start (--launch)";
	if (b->socket >= 0 || b->launched > 0)
		return "refused: a run is on";
	static char program[] = "tactus", command[] = "run", share[] = "--share";
	char *arguments[64] = {program, command};
	size_t count = 2;
	if (b->scene[0])
		arguments[count++] = b->scene;
	char station[TAC_STATION_NAME];
	snprintf(station, sizeof station, "%s", b->def.station);
	arguments[count++] = share;
	arguments[count++] = station;
	for (char *const *option = b->def.options; *option && count < 63; option++)
		arguments[count++] = *option;
	const pid_t child = fork();
	if (child == 0) {
		execv(b->def.launch, arguments);
		_exit(127);
	}
	if (child < 0)
		return "refused: no process can be started";
	b->launched = child;
	return "start";
}

// Passes a command on to the run, whose answer comes later.
static const char *pass_on(bridge *b, tac_station_command_kind kind, const tactus_Command *c)
{
	if (b->socket < 0)
		return "refused: no run is on";
	const tac_station_command command = {.kind = (int32_t)kind, .number = c->number, .value = c->value};
	if (send(b->socket, &command, sizeof command, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof command)
		return "refused: the run does not listen";
	return NULL;
}

// Carries a command out. NULL: the run will answer.
static const char *obey(bridge *b, const tactus_Command *c)
{
	if (!b->def.commands)
		return "refused: this bridge takes no commands (--commands)";
	if (strcmp(c->kind, "end") == 0)
		return pass_on(b, TAC_STATION_END, c);
	if (strcmp(c->kind, "stop") == 0)
		return pass_on(b, TAC_STATION_STOP, c);
	if (strcmp(c->kind, "gain") == 0)
		return pass_on(b, TAC_STATION_GAIN, c);
	if (strcmp(c->kind, "start") == 0)
		return start(b);
	if (strcmp(c->kind, "scene") != 0)
		return "refused: no such command";
	if (!scene_valid(c->text))
		return "refused: expected the name of a scene";
	snprintf(b->scene, sizeof b->scene, "%s", c->text);
	return "scene";
}

// The event says what became of a command; its number, in hexadecimal, says of which.
static void answer(bridge *b, uint64_t number, const char *text)
{
	char line[96];
	snprintf(line, sizeof line, "%016llx %s", (unsigned long long)number, text);
	bridge_tell(b, "command", 0, line);
}

void bridge_take_orders(bridge *b)
{
	void *samples[1] = {NULL};
	dds_sample_info_t info;
	while (dds_take(b->command, samples, &info, 1, 1) > 0) {
		const tactus_Command *c = samples[0];
		if (info.valid_data && strcmp(c->station, b->def.station) == 0 &&
		    !seen_before(b, c->number)) {
			const char *done = obey(b, c);
			if (done)
				answer(b, c->number, done);
		}
		dds_return_loan(b->command, samples, 1);
		samples[0] = NULL;
	}
	static const char *const kinds[] = {"end", "stop", "gain"};
	tac_station_answer a;
	while (b->socket >= 0 && recv(b->socket, &a, sizeof a, MSG_DONTWAIT) == (ssize_t)sizeof a)
		answer(b, a.number,
		       a.done && a.kind >= 0 && a.kind < TAC_STATION_COMMAND_COUNT ? kinds[a.kind]
										   : "refused by the run");
}
