// Share words: what `tactus share` and `tactus console` tell the programs that they become: words of the form
// name=value.
#ifndef TAC_APPS_COMMANDS_SHARE_WORDS_H
#define TAC_APPS_COMMANDS_SHARE_WORDS_H

#include "apps/session/options.h"

#include <stdbool.h>
#include <stdint.h>

#define SHARE_WORDS 64
#define SHARE_WORD  4352 // a path and a name

typedef struct share_words {
	char *items[SHARE_WORDS + 1]; // ended by NULL
	int count;
	bool too_long;
} share_words;

// How to take part in the network, whatever the role.
typedef struct share_network {
	int64_t domain;
	const char *interface, *peers, *security; // NULL: not given
} share_network;

// Rows of an option_def table that fill the share_network `n`.
// clang-format off
#define SHARE_NETWORK_OPTIONS(n) \
	{"domain", OPTION_INTEGER, &(n).domain, 0, 230, NULL, "N", "DDS domain"}, \
	{"interface", OPTION_TEXT, &(n).interface, 0, 0, NULL, "NAME", \
	 "network interface, such as eth0 or lo (default: DDS chooses)"}, \
	{"peers", OPTION_TEXT, &(n).peers, 0, 0, NULL, "HOST,HOST", "hosts that multicast does not reach"}, \
	{"security", OPTION_TEXT, &(n).security, 0, 0, NULL, "FOLDER", \
	 "take part with these credentials; whoever has none of the same authority is neither seen nor heard"}
// clang-format on

// Whether its options can be used. Returns an exit code: 0, or 2 after one line of `command`.
int share_network_check(const share_network *n, const char *command);

// One word of two parts.
void share_words_add(share_words *w, const char *before, const char *after);

// `name` ends with =. A value of NULL is left out.
void share_words_text(share_words *w, const char *name, const char *value);
void share_words_number(share_words *w, const char *name, double value);

void share_words_network(share_words *w, const share_network *n);

// Becomes `program`, which lies beside this one. Returns an exit code only if that fails, after one line that
// says that `program` is built where `needs` is.
int share_words_become(share_words *w, const char *command, const char *program, const char *needs);

#endif
