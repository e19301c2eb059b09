#include "apps/session/json.h"

void json_print_string(FILE *file, const char *text)
{
	putc('"', file);
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(file, "\\%c", *c);
		else if ((unsigned char)*c < 0x20)
			fprintf(file, "\\u%04x", (unsigned)*c);
		else
			putc(*c, file);
	}
	putc('"', file);
}
