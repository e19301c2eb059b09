#include "share/console/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool text_begin(text *t)
{
	*t = (text){0};
	t->file = open_memstream(&t->bytes, &t->size);
	return t->file != NULL;
}

bool text_end(text *t)
{
	const bool closed = t->file && fclose(t->file) == 0 && t->bytes;
	t->file = NULL;
	if (!closed) {
		free(t->bytes);
		t->bytes = NULL;
	}
	return closed;
}

void text_string(text *t, const char *value)
{
	FILE *file = t->file;
	fputc('"', file);
	for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(file, "\\%c", *c);
		else if (*c < 0x20 || *c == 0x7f)
			fprintf(file, "\\u%04x", *c);
		else
			fputc(*c, file);
	}
	fputc('"', file);
}

void text_number(text *t, double value)
{
	FILE *file = t->file;
	if (isfinite(value))
		fprintf(file, "%.9g", value);
	else
		fputs("null", file);
}
