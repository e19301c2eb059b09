#include "base/input.h"
#include "base/log.h"
#include "haptic/path.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct path_file {
	const char *path;
	size_t line; // of the line being read, from 1
	tac_path_sample *samples;
	size_t count, capacity;
} path_file;

// Reads up to TAC_PATH_NUMBERS numbers from the start of a line and returns how many there are. Ignores the
// rest.
static int read_numbers(const char *line, double out[TAC_PATH_NUMBERS])
{
	for (int n = 0; n < TAC_PATH_NUMBERS; n++) {
		char *end;
		line += strspn(line, " \t");
		out[n] = strtod(line, &end);
		if (end == line || !isfinite(out[n]))
			return n;
		line = end + strspn(end, " \t\r\n");
		if (n + 1 < TAC_PATH_NUMBERS && *line != ',')
			return n + 1;
		line += *line == ',';
	}
	return TAC_PATH_NUMBERS;
}

static tac_result refuse(const path_file *f, const char *reason)
{
	tac_log(TAC_LOG_ERROR, "%s:%zu: %s", f->path, f->line, reason);
	return TAC_ERROR_FORMAT;
}

static tac_result append(path_file *f, tac_path_sample s)
{
	if (f->count == f->capacity) {
		f->capacity = f->capacity ? 2 * f->capacity : 4096;
		tac_path_sample *grown = realloc(f->samples, f->capacity * sizeof *grown);
		if (!grown) {
			tac_log(TAC_LOG_ERROR, "%s: no memory for %zu samples", f->path, f->capacity);
			return TAC_ERROR_MEMORY;
		}
		f->samples = grown;
	}
	f->samples[f->count++] = s;
	return TAC_OK;
}

static tac_result read_line(path_file *f, const char *line)
{
	double x[TAC_PATH_NUMBERS];
	char reason[128];
	tac_path_sample s;
	const int n = read_numbers(line, x);
	if (n < TAC_PATH_NUMBERS) {
		snprintf(reason, sizeof reason, "expected 8 numbers (t_s,x,y,z,qx,qy,qz,qw), found %d", n);
		return refuse(f, reason);
	}
	const tac_path_sample *previous = f->count > 0 ? &f->samples[f->count - 1] : NULL;
	if (tac_path_sample_make(x, previous, &s, reason, sizeof reason) < TAC_OK)
		return refuse(f, reason);
	return append(f, s);
}

tac_result tac_path_load(const char *path, tac_path_sample **out_samples, size_t *out_count)
{
	path_file f = {.path = path};
	*out_samples = NULL;
	*out_count = 0;
	FILE *file = tac_input_open(path);
	char *line = file ? malloc(TAC_INPUT_LINE_MAX + 1) : NULL;
	long length = line ? 0 : -1;
	tac_result result = TAC_OK;
	while (line && result == TAC_OK && (length = tac_input_line(file, line)) > 0) {
		const char *text = line + strspn(line, " \t\r\n");
		f.line++;
		if (f.line == 1 && strncmp(text, "t_s", 3) == 0)
			continue;
		if (*text != 0 && *text != '#')
			result = read_line(&f, text);
	}
	if (result == TAC_OK && length < 0) {
		tac_log(TAC_LOG_ERROR, "%s: cannot read the path: %s", path, tac_input_reason(errno));
		result = TAC_ERROR_IO;
	} else if (result == TAC_OK && f.count == 0) {
		tac_log(TAC_LOG_ERROR, "%s: expected poses, found none", path);
		result = TAC_ERROR_FORMAT;
	}
	free(line);
	if (file)
		fclose(file);
	if (result < TAC_OK) {
		free(f.samples);
		return result;
	}
	*out_samples = f.samples;
	*out_count = f.count;
	return TAC_OK;
}
