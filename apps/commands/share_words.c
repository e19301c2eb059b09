#include "apps/commands/share_words.h"

#include "base/helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void share_words_add(share_words *w, const char *before, const char *after)
{
	char *word = w->count < SHARE_WORDS ? malloc(SHARE_WORD) : NULL;
	if (!word)
		return;
	snprintf(word, SHARE_WORD, "%s%s", before, after);
	w->items[w->count++] = word;
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

int share_words_become(share_words *w, const char *command, const char *program, const char *needs)
{
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
