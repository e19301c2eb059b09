// Share words: what `tactus share` and `tactus console` tell the programs that they become: words of the form
// name=value.
#ifndef TAC_APPS_COMMANDS_SHARE_WORDS_H
#define TAC_APPS_COMMANDS_SHARE_WORDS_H

#include <stdbool.h>

#define SHARE_WORDS 64
#define SHARE_WORD  4352 // a path and a name

typedef struct share_words {
	char *items[SHARE_WORDS + 1]; // ended by NULL
	int count;
	bool too_long;
} share_words;

// One word of two parts.
void share_words_add(share_words *w, const char *before, const char *after);

// `name` ends with =. A value of NULL is left out.
void share_words_text(share_words *w, const char *name, const char *value);
void share_words_number(share_words *w, const char *name, double value);

// Becomes `program`, which lies beside this one. Returns an exit code only if that fails, after one line that
// says that `program` is built where `needs` is.
int share_words_become(share_words *w, const char *command, const char *program, const char *needs);

#endif
