// tactus-share: the program behind `tactus share`, which has checked the options and passes them as words of
// the form name=value.
#include "share/bridge/bridge.h"
#include "share/bridge/clients.h"
#include "share/bridge/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	(void)argc;
	char **words = argv + 1;
	const wire_def network = word_wire(words);
	const double seconds = word_number(words, "seconds", (double)INFINITY);
	const char *role = word_value(words, "role");
	if (!role)
		fprintf(stderr, "tactus-share: expected to be started by `tactus share`\n");
	else if (strcmp(role, "watch") == 0)
		return watch_run(&network, seconds);
	else if (strcmp(role, "store") == 0)
		return store_run(&network, word_value(words, "folder"), (int)word_number(words, "count", 0));
	else if (strcmp(role, "tell") == 0)
		return tell_run(&network,
				&(tell_def){.station = word_value(words, "station"),
					    .kind = word_value(words, "command"),
					    .text = word_value(words, "text"),
					    .value = word_number(words, "value", 0)},
				seconds);
	else if (strcmp(role, "station") == 0)
		return bridge_run(&(bridge_def){.wire = network,
						.station = word_value(words, "station"),
						.rate_Hz = word_number(words, "rate", 100),
						.commands = word_value(words, "commands") != NULL,
						.ros = word_value(words, "ros") != NULL,
						.launch = word_value(words, "launch"),
						.options = word_rest(words)});
	return 2;
}
