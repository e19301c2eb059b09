#include "apps/session/interrupts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)8 << 20) // a thousand CPUs with hundreds of sources

char *interrupts_read(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	char *text = NULL;
	size_t size = 0, capacity = 0;
	bool whole = file != NULL;
	while (whole && !feof(file)) {
		if (capacity - size < 4096) {
			capacity = 2 * capacity + 16384;
			char *larger = capacity <= BYTES_MAX ? realloc(text, capacity) : NULL;
			whole = larger != NULL;
			text = larger ? larger : text;
			continue;
		}
		size += fread(text + size, 1, capacity - size - 1, file);
		whole = !ferror(file);
	}
	if (file)
		fclose(file);
	if (!whole || size == 0) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}

// The column of `cpu` in the head line, which lists the CPUs that are on line; -1: none.
static int column_of(const char *text, int cpu)
{
	const char *end = strchr(text, '\n');
	int column = 0;
	for (const char *at = text; end && (at = strstr(at, "CPU")) != NULL && at < end; column++) {
		at += 3;
		if (atoi(at) == cpu)
			return column;
	}
	return -1;
}

// A line of the table: "LOC:  12  34  Local timer interrupts", "24:  1  0  IO-APIC  5-edge  eth0".
typedef struct line {
	const char *key, *rest; // rest: the description
	int key_length, rest_length;
	uint64_t count; // of the CPU
} line;

// Reads the line at `at`; false: it has no count in this column.
static bool read_line(const char *at, int column, line *out)
{
	const char *const end = at + strcspn(at, "\n");
	at += strspn(at, " ");
	const size_t length = strcspn(at, ": \n");
	if (length == 0 || at[length] != ':')
		return false;
	*out = (line){.key = at, .key_length = (int)length};
	at += length + 1;
	bool found = false;
	for (int i = 0; at < end; i++) {
		char *after;
		at += strspn(at, " ");
		const uint64_t count = strtoull(at, &after, 10);
		if (after == at || (*after != ' ' && *after != '\n' && *after != '\0'))
			break; // the description begins
		if (i == column) {
			out->count = count;
			found = true;
		}
		at = after;
	}
	// Of "IO-APIC   5-edge      eth0" the last part is the device.
	out->rest = at;
	for (const char *gap = at; gap + 1 < end; gap++) {
		if (gap[0] == ' ' && gap[1] == ' ' && gap + 2 < end && gap[2] != ' ')
			out->rest = gap + 2;
	}
	out->rest_length = end > out->rest ? (int)(end - out->rest) : 0;
	while (out->rest_length > 0 && out->rest[out->rest_length - 1] == ' ')
		out->rest_length--;
	return found;
}

static const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');
	return end && end[1] ? end + 1 : NULL;
}

// The earlier count of the source `key`; 0: it was not there.
static uint64_t count_before(const char *text, int column, const line *key)
{
	line l;
	for (const char *at = text ? next_line(text) : NULL; at; at = next_line(at)) {
		if (read_line(at, column, &l) && l.key_length == key->key_length &&
		    strncmp(l.key, key->key, (size_t)l.key_length) == 0)
			return l.count;
	}
	return 0;
}

static void add(interrupts *out, const line *l, uint64_t count)
{
	int at = out->count < INTERRUPTS_MAX ? out->count : INTERRUPTS_MAX;
	while (at > 0 && out->sources[at - 1].count < count) {
		if (at < INTERRUPTS_MAX)
			out->sources[at] = out->sources[at - 1];
		at--;
	}
	if (at == INTERRUPTS_MAX)
		return;
	interrupt_source *source = &out->sources[at];
	source->count = count;
	snprintf(source->name, sizeof source->name, "%.*s",
		 l->rest_length > 0 ? l->rest_length : l->key_length, l->rest_length > 0 ? l->rest : l->key);
	out->count += out->count < INTERRUPTS_MAX;
}

void interrupts_count(const char *before, const char *after, int cpu, interrupts *out)
{
	*out = (interrupts){.cpu = cpu};
	const int column = after && cpu >= 0 ? column_of(after, cpu) : -1;
	const int column_before = before && cpu >= 0 ? column_of(before, cpu) : -1;
	if (column < 0 || column_before < 0) {
		out->cpu = -1;
		return;
	}
	line l;
	for (const char *at = next_line(after); at; at = next_line(at)) {
		if (!read_line(at, column, &l))
			continue;
		const uint64_t earlier = count_before(before, column_before, &l);
		if (l.count > earlier) { // a CPU that was off line in between starts anew
			out->all += l.count - earlier;
			add(out, &l, l.count - earlier);
		}
	}
}
