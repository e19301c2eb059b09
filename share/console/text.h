// Text: JSON that is written into memory.
#ifndef TAC_SHARE_CONSOLE_TEXT_H
#define TAC_SHARE_CONSOLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct text {
	FILE *file;  // until text_end
	char *bytes; // of the caller after text_end, who frees it; NULL: no memory
	size_t size;
} text;

// False: there is no memory. Until text_end, `file` can be written to; `t` must stay where it is.
bool text_begin(text *t);
// False: there was no memory; nothing is left to free.
bool text_end(text *t);

// A string with quotes, and a number, which is null if it is not finite.
void text_string(text *t, const char *value);
void text_number(text *t, double value);

#endif
