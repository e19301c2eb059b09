#include "share/bridge/words.h"

#include <stdlib.h>
#include <string.h>

const char *word_value(char **words, const char *name)
{
	const size_t length = strlen(name);
	for (; *words && strcmp(*words, "--") != 0; words++)
		if (strncmp(*words, name, length) == 0 && (*words)[length] == '=')
			return *words + length + 1;
	return NULL;
}

double word_number(char **words, const char *name, double otherwise)
{
	const char *value = word_value(words, name);
	return value ? strtod(value, NULL) : otherwise;
}

char *const *word_rest(char **words)
{
	while (*words && strcmp(*words, "--") != 0)
		words++;
	return *words ? words + 1 : words;
}

wire_def word_wire(char **words)
{
	return (wire_def){
		.domain = (uint32_t)word_number(words, "domain", 0),
		.interface = word_value(words, "interface"),
		.peers = word_value(words, "peers"),
		.security = word_value(words, "security"),
	};
}
