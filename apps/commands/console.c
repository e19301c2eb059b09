// tactus console: the instructor's page, in a browser. The network is the business of another program,
// tactus-console, which this one becomes.
#include "apps/commands/commands.h"
#include "apps/commands/share_words.h"
#include "apps/session/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct settings {
	const char *host, *certificate, *key, *token, *store;
	share_network network;
	int64_t port;
} settings;

static bool is_loopback(const char *host)
{
	return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0;
}

static bool readable(const char *name, const char *path)
{
	if (!path || access(path, R_OK) == 0)
		return true;
	fprintf(stderr, "tactus console: %s: expected a file to read, found '%s': %s\n", name, path,
		strerror(errno));
	return false;
}

// Whether the options fit together. Returns an exit code: 0, or 2 after one line.
static int check(const settings *s)
{
	if ((s->certificate != NULL) != (s->key != NULL)) {
		fprintf(stderr,
			"tactus console: expected --certificate and --key together, found one alone\n");
		return EXIT_BAD_INPUT;
	}
	if (!is_loopback(s->host) && !s->certificate) {
		fprintf(stderr,
			"tactus console: host: expected --certificate and --key for an address that others "
			"reach, "
			"found '%s' without\n",
			s->host);
		return EXIT_BAD_INPUT;
	}
	if (s->token && strlen(s->token) < 16) {
		fprintf(stderr, "tactus console: token: expected at least 16 characters, found %zu\n",
			strlen(s->token));
		return EXIT_BAD_INPUT;
	}
	if (!readable("certificate", s->certificate) || !readable("key", s->key))
		return EXIT_BAD_INPUT;
	return share_network_check(&s->network, "tactus console");
}

int cmd_console(int argc, char **argv)
{
	settings s = {.host = "127.0.0.1", .port = 8765};
	const option_def options[] = {
		{"port", OPTION_INTEGER, &s.port, 1, 65535, NULL, "P", "port of the page"},
		{"host", OPTION_TEXT, &s.host, 0, 0, NULL, "ADDRESS",
		 "address of this machine at which to listen (default: 127.0.0.1); others need "
		 "--certificate"},
		{"certificate", OPTION_TEXT, &s.certificate, 0, 0, NULL, "FILE.pem",
		 "encrypt with this certificate; a token is then needed, too"},
		{"key", OPTION_TEXT, &s.key, 0, 0, NULL, "FILE.pem", "the certificate's private key"},
		{"token", OPTION_TEXT, &s.token, 0, 0, NULL, "TEXT",
		 "what a browser must know to connect (default with --certificate: a random one, printed)"},
		{"store", OPTION_TEXT, &s.store, 0, 0, NULL, "FOLDER",
		 "where `tactus share --store` stores recordings, to show which have arrived"},
		SHARE_NETWORK_OPTIONS(s.network),
		{0},
	};
	const command_line line = {"tactus console", "show all stations in a browser", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	code = check(&s);
	if (code != EXIT_SUCCESS)
		return code;
	share_words w = {0};
	share_words_add(&w, "tactus-console", "");
	share_words_text(&w, "host=", s.host);
	share_words_number(&w, "port=", (double)s.port);
	share_words_text(&w, "certificate=", s.certificate);
	share_words_text(&w, "key=", s.key);
	share_words_text(&w, "token=", s.token);
	share_words_text(&w, "folder=", s.store);
	share_words_network(&w, &s.network);
	return share_words_become(
		&w, line.command, "tactus-console",
		"Cyclone DDS and libwebsockets are (Debian: cyclonedds-dev, cyclonedds-tools, "
		"libwebsockets-dev)");
}
