// Words: what `tactus share` and `tactus console` pass to their programs, name=value, in the arguments. Words
// after
// "--" are options of a run.
#ifndef TAC_SHARE_BRIDGE_WORDS_H
#define TAC_SHARE_BRIDGE_WORDS_H

#include "share/bridge/wire.h"

// The value of the word `name`=…; NULL: there is none.
const char *word_value(char **words, const char *name);
double word_number(char **words, const char *name, double otherwise);

// The words after "--", ended by NULL.
char *const *word_rest(char **words);

// The words about the network.
wire_def word_wire(char **words);

#endif
