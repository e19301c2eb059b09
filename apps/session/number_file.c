#include "apps/session/number_file.h"

#include "base/input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS " \t\r\n,"

static int refuse(const number_file *f)
{
	fprintf(stderr, "%s: %s: cannot read the %s: %s\n", f->def.command, f->def.path, f->def.content,
		tac_input_reason(errno));
	return -1;
}

bool number_file_open(const number_file_def *def, number_file *out_file)
{
	*out_file = (number_file){.def = *def, .file = tac_input_open(def->path)};
	out_file->text = out_file->file ? malloc(TAC_INPUT_LINE_MAX + 1) : NULL;
	if (!out_file->text)
		refuse(out_file);
	return out_file->text != NULL;
}

// Parses the line from `at` to `end`. False after one line on stderr.
static bool parse_line(const number_file *f, const char *at, const char *end, double *out_numbers)
{
	const number_file_def *def = &f->def;
	char found[64] = "more";
	int n = 0;
	for (; n <= def->count; n++) {
		at += strspn(at, SEPARATORS);
		if (at == end || n == def->count)
			break;
		char *number_end;
		out_numbers[n] =
			def->single_precision ? (double)strtof(at, &number_end) : strtod(at, &number_end);
		if (number_end == at || (*number_end && !strchr(SEPARATORS, *number_end)) ||
		    (def->finite && !isfinite(out_numbers[n]))) {
			snprintf(found, sizeof found, "'%.*s' in place %d", (int)strcspn(at, SEPARATORS), at,
				 n + 1);
			break;
		}
		at = number_end;
	}
	if (at == end && n == def->count)
		return true;
	if (at == end)
		snprintf(found, sizeof found, "%d", n);
	fprintf(stderr, "%s: %s:%zu: expected %s, found %s\n", def->command, def->path, f->line, def->form,
		found);
	return false;
}

int number_file_next(number_file *f, double *out_numbers)
{
	long length;
	while ((length = tac_input_line(f->file, f->text)) > 0) {
		const char *begin = f->text + strspn(f->text, " \t\r\n"), *end = f->text + length;
		f->line++;
		if (begin == end || *begin == '#')
			continue;
		f->rows++;
		return parse_line(f, begin, end, out_numbers) ? 1 : -1;
	}
	if (length < 0)
		return refuse(f);
	if (f->rows > 0)
		return 0;
	fprintf(stderr, "%s: %s: expected %s, found none\n", f->def.command, f->def.path, f->def.content);
	return -1;
}

void number_file_close(number_file *f)
{
	if (f->file)
		fclose(f->file);
	free(f->text);
	*f = (number_file){0};
}
