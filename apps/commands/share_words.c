#include "apps/commands/share_words.h"

#include "base/helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void share_words_add(share_words *w, const char *before, const char *after)
{
	static char memory[SHARE_WORDS][SHARE_WORD]; // of the one command line that a process has
	if (w->count == SHARE_WORDS || strlen(before) + strlen(after) >= SHARE_WORD) {
		w->too_long = true; // a word that is left out might be the one about security
		return;
	}
	stpcpy(stpcpy(memory[w->count], before), after);
	w->items[w->count] = memory[w->count];
	w->count++;
}

void share_words_text(share_words *w, const char *name, const char *value)
{
	if (value)
		share_words_add(w, name, value);
}

void share_words_number(share_words *w, const char *name, double value)
{
	char text[64];
	snprintf(text, sizeof text, "%.17g", value);
	share_words_add(w, name, text);
}

void share_words_network(share_words *w, const share_network *n)
{
	share_words_number(w, "domain=", (double)n->domain);
	share_words_text(w, "interface=", n->interface);
	share_words_text(w, "peers=", n->peers);
	share_words_text(w, "security=", n->security);
}

int share_network_check(const share_network *n, const char *command)
{
	char key[SHARE_WORD];
	snprintf(key, sizeof key, "%s/key.pem", n->security ? n->security : "");
	if (!n->security || access(key, R_OK) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr,
		"%s: security: expected credentials made by `tactus share --init-security`, found '%s': %s\n",
		command, n->security, strerror(errno));
	return EXIT_BAD_INPUT;
}

int share_words_become(share_words *w, const char *command, const char *program, const char *needs)
{
	if (w->too_long) {
		fprintf(stderr,
			"%s: expected fewer or shorter options, found more than %d, or one of %d "
			"characters\n",
			command, SHARE_WORDS, SHARE_WORD);
		return EXIT_BAD_INPUT;
	}
	char beside[256], installed[TAC_HELPER_PATH], path[TAC_HELPER_PATH], reason[2 * TAC_HELPER_PATH];
	snprintf(beside, sizeof beside, "../libexec/tactus/%s", program);
	snprintf(installed, sizeof installed, "%s/%s", TACTUS_SHARE_INSTALLED, program);
	const char *const places[] = {beside, NULL};
	const tac_helper_def def = {
		.variable = "TACTUS_SHARE_PROGRAM", .places = places, .installed = installed};
	if (!tac_helper_find_program(&def, path, reason, sizeof reason)) {
		fprintf(stderr, "%s: expected the program %s, found none: it is built where %s\n", command,
			program, needs);
		return EXIT_FAILURE;
	}
	fflush(NULL);
	execv(path, w->items);
	fprintf(stderr, "%s: %s: expected to start it, found: %s\n", command, path, strerror(errno));
	return EXIT_FAILURE;
}
