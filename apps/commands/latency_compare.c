#include "apps/commands/latency_compare.h"

#include "apps/session/options.h"
#include "base/input.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 20)

// ---- reading ----

// The whole file as text, for the caller to free; NULL after one line.
static char *read_text(const char *path)
{
	FILE *file = tac_input_open(path);
	char *text = file ? malloc(BYTES_MAX + 1) : NULL;
	errno = file ? 0 : errno;
	const size_t bytes = text ? fread(text, 1, BYTES_MAX + 1, file) : 0;
	const bool good = text && !ferror(file) && bytes > 0 && bytes <= BYTES_MAX;
	if (!good)
		fprintf(stderr, "tactus latency: %s: expected a summary of at most 1 MiB, found: %s\n", path,
			!file          ? tac_input_reason(errno)
			: !text        ? "no memory"
			: ferror(file) ? tac_input_reason(errno)
			: bytes == 0   ? "it is empty"
				       : "it is longer");
	if (file)
		fclose(file);
	if (!good) {
		free(text);
		return NULL;
	}
	text[bytes] = '\0';
	return text;
}

// The number behind "key": in the object behind "section":, or, without a section, anywhere. Summaries have
// each of these names once.
static bool find_number(const char *text, const char *section, const char *key, double *out)
{
	char name[64];
	const char *end = text + strlen(text);
	if (section) {
		snprintf(name, sizeof name, "\"%s\": {", section);
		text = strstr(text, name);
		if (!text)
			return false;
		end = strchr(text, '}');
	}
	snprintf(name, sizeof name, "\"%s\": ", key);
	const char *at = strstr(text, name);
	if (!at || !end || at > end)
		return false;
	char *number_end;
	*out = strtod(at + strlen(name), &number_end);
	return number_end != at + strlen(name);
}

// ---- the table ----

static const char *const sections[] = {"timer", "wake", "wake_corrected", "compute", "response"};
static const char *const keys[] = {"p50_ns", "p99_ns", "p99_9_ns", "max_ns"};
static const char *const key_names[] = {"p50", "p99", "p99.9", "max"};
#define SECTIONS (sizeof sections / sizeof sections[0])
#define KEYS     (sizeof keys / sizeof keys[0])

static void print_row(const char *name, const char *a, const char *b, const char *section)
{
	printf("%-16s", name);
	for (size_t k = 0; k < KEYS; k++) {
		double x, y;
		if (find_number(a, section, keys[k], &x) && find_number(b, section, keys[k], &y))
			printf(" %9.2f %9.2f %5.2fx", x / 1e3, y / 1e3, x > 0 ? y / x : 0);
		else
			printf(" %9s %9s %6s", "-", "-", "-");
	}
	printf("\n");
}

static bool is_summary(const char *path, const char *text)
{
	double ticks;
	if (find_number(text, "wake", "p50_ns", &ticks) && find_number(text, NULL, "ticks", &ticks))
		return true;
	fprintf(stderr, "tactus latency: %s: expected a summary that --json prints, found other text\n",
		path);
	return false;
}

static void print_count(const char *name, const char *key, const char *a, const char *b)
{
	double x = 0, y = 0;
	find_number(a, NULL, key, &x);
	find_number(b, NULL, key, &y);
	printf("%-16s %9.0f %9.0f\n", name, x, y);
}

int latency_compare(const char *path_a, const char *path_b)
{
	char *a = read_text(path_a), *b = a ? read_text(path_b) : NULL;
	const bool good = a && b && is_summary(path_a, a) && is_summary(path_b, b);
	if (good) {
		printf("A %s\nB %s\n\n%-16s", path_a, path_b, "us");
		for (size_t k = 0; k < KEYS; k++)
			printf(" %7s A %7s B %6s", key_names[k], key_names[k], "B/A");
		printf("\n");
		for (size_t i = 0; i < SECTIONS; i++)
			print_row(sections[i], a, b, sections[i]);
		printf("\n%-16s %9s %9s\n", "", "A", "B");
		print_count("ticks", "ticks", a, b);
		print_count("missed", "misses", a, b);
		print_count("skipped", "skipped", a, b);
		print_count("sustained Hz", "sustained_hz", a, b);
	}
	free(a);
	free(b);
	return good ? EXIT_SUCCESS : EXIT_BAD_INPUT;
}
