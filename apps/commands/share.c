// tactus share: publishes the run of a station on the network, or takes part as somebody who watches, stores
// or commands. The network is the business of another program, tactus-share, which this one becomes.
#include "apps/commands/commands.h"
#include "apps/commands/share_words.h"
#include "apps/session/options.h"
#include "base/helper.h"
#include "share/station.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEEDS "Cyclone DDS is (Debian: cyclonedds-dev, cyclonedds-tools)"

typedef struct settings {
	const char *station, *store, *tell, *text, *launch, *init_security, *console;
	share_network network;
	int64_t count;
	double rate_Hz, seconds, value;
	int command;
	bool commands, ros, watch;
} settings;

static const char *const command_names[] = {"none", "end", "stop", "gain", "start", "scene", NULL};

static int refuse(const char *found)
{
	fprintf(stderr, "tactus share: expected one of --station, --watch, --store and --tell, found %s\n",
		found);
	return EXIT_BAD_INPUT;
}

static int check_init(const settings *s)
{
	const char *name = s->station ? s->station : s->console;
	if ((s->station != NULL) == (s->console != NULL) || !tac_station_name_valid(name)) {
		fprintf(stderr,
			"tactus share: init-security: expected --station NAME or --console NAME, found %s\n",
			s->station && s->console ? "both"
			: name                   ? name
						 : "none");
		return EXIT_BAD_INPUT;
	}
	return EXIT_SUCCESS;
}

// Whether the options fit together. Returns an exit code: 0, or 2 after one line.
static int check(const settings *s)
{
	if (s->init_security)
		return check_init(s);
	const int roles = (s->station != NULL) + s->watch + (s->store != NULL) + (s->tell != NULL);
	if (roles != 1)
		return refuse(roles == 0 ? "none" : "several");
	const char *name = s->station ? s->station : s->tell;
	if (name && !tac_station_name_valid(name)) {
		fprintf(stderr,
			"tactus share: expected a station's name of 1 to 32 letters, digits, _ or -, with a "
			"letter "
			"first, found '%s'\n",
			name);
		return EXIT_BAD_INPUT;
	}
	if ((s->tell != NULL) != (s->command != 0)) {
		fprintf(stderr, "tactus share: expected --tell and --command together, found one alone\n");
		return EXIT_BAD_INPUT;
	}
	if (s->store && access(s->store, W_OK) != 0) {
		fprintf(stderr, "tactus share: store: expected a folder to write to, found '%s': %s\n",
			s->store, strerror(errno));
		return EXIT_BAD_INPUT;
	}
	return share_network_check(&s->network, "tactus share");
}

static void describe(const settings *s, share_words *w)
{
	share_words_text(w, "role=",
			 s->station ? "station"
			 : s->watch ? "watch"
			 : s->store ? "store"
				    : "tell");
	share_words_text(w, "station=", s->station ? s->station : s->tell);
	share_words_network(w, &s->network);
	share_words_text(w, "folder=", s->store);
	share_words_number(w, "rate=", s->rate_Hz);
	share_words_number(w, "count=", (double)s->count);
	if (!isnan(s->seconds))
		share_words_number(w, "seconds=", s->seconds);
	else if (s->tell)
		share_words_number(w, "seconds=", 5);
	if (s->commands)
		share_words_text(w, "commands=", "on");
	if (s->ros)
		share_words_text(w, "ros=", "on");
	if (s->tell) {
		share_words_text(w, "command=", command_names[s->command]);
		share_words_text(w, "text=", s->text);
		share_words_number(w, "value=", s->value);
	}
	char self[TAC_HELPER_PATH];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	if (s->launch && length > 0) {
		self[length] = 0;
		share_words_text(w, "launch=", self);
	}
	share_words_add(w, "--", "");
	char copy[SHARE_WORD];
	snprintf(copy, sizeof copy, "%s", s->launch ? s->launch : "");
	for (char *rest, *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		share_words_add(w, word, "");
}

int cmd_share(int argc, char **argv)
{
	settings s = {.rate_Hz = 100, .seconds = (double)NAN};
	const option_def options[] = {
		{"station", OPTION_TEXT, &s.station, 0, 0, NULL, "NAME",
		 "publish the runs that are shared as NAME (tactus run --share NAME), until Ctrl-C"},
		{"watch", OPTION_FLAG, &s.watch, 0, 0, NULL, NULL,
		 "listen to all stations, and print an account of each as JSON at the end"},
		{"store", OPTION_TEXT, &s.store, 0, 0, NULL, "FOLDER",
		 "store the recordings of all stations (tactus run --record) in FOLDER"},
		{"tell", OPTION_TEXT, &s.tell, 0, 0, NULL, "NAME", "send a command to the station NAME"},
		{"command", OPTION_CHOICE, &s.command, 0, 0, command_names, NULL,
		 "with --tell: end the run, stop its forces, lower their gain to --value, start a run, "
		 "choose the "
		 "scene --text of the next one"},
		{"value", OPTION_NUMBER, &s.value, 0, 1, NULL, "X", "with --command gain: the gain"},
		{"text", OPTION_TEXT, &s.text, 0, 0, NULL, "SCENE", "with --command scene: its name"},
		{"commands", OPTION_FLAG, &s.commands, 0, 0, NULL, NULL,
		 "with --station: carry out commands from the network"},
		{"launch", OPTION_TEXT, &s.launch, 0, 0, NULL, "OPTIONS",
		 "with --station and --commands: the command start starts a run with these options, such as "
		 "'--device falcon --record last.rec'"},
		{"ros", OPTION_FLAG, &s.ros, 0, 0, NULL, NULL,
		 "with --station: publish as topics of ROS 2, too, and take external wrenches from one"},
		{"rate", OPTION_NUMBER, &s.rate_Hz, 1, 1000, NULL, "HZ", "with --station: rate of the state"},
		SHARE_NETWORK_OPTIONS(s.network),
		{"init-security", OPTION_TEXT, &s.init_security, 0, 0, NULL, "FOLDER",
		 "make credentials in FOLDER/NAME for --station NAME or --console NAME; the first call makes "
		 "the "
		 "authority, too"},
		{"console", OPTION_TEXT, &s.console, 0, 0, NULL, "NAME",
		 "with --init-security: the name of a machine that watches, stores and commands"},
		{"seconds", OPTION_NUMBER, &s.seconds, 0.01, 1e9, NULL, "S",
		 "with --watch: how long to listen (default: until Ctrl-C); with --tell: how long to wait "
		 "for the "
		 "answer (default: 5)"},
		{"count", OPTION_INTEGER, &s.count, 0, 1e6, NULL, "N",
		 "with --store: end after N recordings (0: go on)"},
		{0},
	};
	const command_line line = {"tactus share", "share a run with other machines over DDS", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	code = check(&s);
	if (code != EXIT_SUCCESS)
		return code;
	share_words w = {0};
	if (s.init_security) {
		share_words_add(&w, "tactus-credentials", "");
		share_words_add(&w, s.init_security, "");
		share_words_add(&w, s.station ? s.station : s.console, "");
		share_words_add(&w, s.station ? "station" : "console", "");
		return share_words_become(&w, "tactus share", "tactus-credentials", NEEDS);
	}
	share_words_add(&w, "tactus-share", "");
	describe(&s, &w);
	return share_words_become(&w, "tactus share", "tactus-share", NEEDS);
}
