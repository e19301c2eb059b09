// tactus-share: the program behind `tactus share`, which has checked the options and passes them as words of
// the form name=value. It is the only program of Tactus that speaks to a network.
#include "share/bridge/bridge.h"
#include "share/bridge/clients.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The value of the word `name`=…; NULL: there is none. Words after "--" are options of the run to start.
static const char *value_of(char **words, const char *name)
{
	const size_t length = strlen(name);
	for (; *words && strcmp(*words, "--") != 0; words++)
		if (strncmp(*words, name, length) == 0 && (*words)[length] == '=')
			return *words + length + 1;
	return NULL;
}

static double number_of(char **words, const char *name, double otherwise)
{
	const char *value = value_of(words, name);
	return value ? strtod(value, NULL) : otherwise;
}

static char *const *options_of(char **words)
{
	while (*words && strcmp(*words, "--") != 0)
		words++;
	return *words ? words + 1 : words;
}

int main(int argc, char **argv)
{
	(void)argc;
	char **words = argv + 1;
	const wire_def network = {
		.domain = (uint32_t)number_of(words, "domain", 0),
		.interface = value_of(words, "interface"),
		.peers = value_of(words, "peers"),
		.security = value_of(words, "security"),
	};
	const double seconds = number_of(words, "seconds", (double)INFINITY);
	const char *role = value_of(words, "role");
	if (!role)
		fprintf(stderr, "tactus-share: expected to be started by `tactus share`\n");
	else if (strcmp(role, "watch") == 0)
		return watch_run(&network, seconds);
	else if (strcmp(role, "store") == 0)
		return store_run(&network, value_of(words, "folder"), (int)number_of(words, "count", 0));
	else if (strcmp(role, "tell") == 0)
		return tell_run(&network,
				&(tell_def){.station = value_of(words, "station"),
					    .kind = value_of(words, "command"),
					    .text = value_of(words, "text"),
					    .value = number_of(words, "value", 0)},
				seconds);
	else if (strcmp(role, "station") == 0)
		return bridge_run(&(bridge_def){.wire = network,
						.station = value_of(words, "station"),
						.rate_Hz = number_of(words, "rate", 100),
						.commands = value_of(words, "commands") != NULL,
						.ros = value_of(words, "ros") != NULL,
						.launch = value_of(words, "launch"),
						.options = options_of(words)});
	return 2;
}
