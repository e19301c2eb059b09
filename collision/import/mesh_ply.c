#include "collision/import/mesh_ply.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMENTS   64
#define MAX_PROPERTIES 256 // of all elements together
#define MAX_LINE       1024

typedef enum encoding { ENCODING_NONE, ENCODING_TEXT, ENCODING_LITTLE, ENCODING_BIG } encoding;

typedef struct property {
	int element;
	size_t count_size; // bytes of the count in front of a list; 0: not a list
	bool count_signed;
	size_t size; // bytes of the value, or of each value in the list
} property;

typedef struct header {
	encoding encoding;
	uint64_t counts[MAX_ELEMENTS];
	int element_count;
	property properties[MAX_PROPERTIES];
	int property_count;
} header;

typedef struct reader {
	const char *bytes;
	size_t size, at;
} reader;

static size_t type_size(const char *name)
{
	static const struct {
		const char *name;
		size_t size;
	} types[] = {
		{"char", 1},  {"uchar", 1},  {"short", 2},   {"ushort", 2},  {"int", 4},   {"uint", 4},
		{"float", 4}, {"double", 8}, {"int8", 1},    {"uint8", 1},   {"int16", 2}, {"uint16", 2},
		{"int32", 4}, {"uint32", 4}, {"float32", 4}, {"float64", 8},
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].size;
	return 0;
}

// The next line without its end (LF, CR LF or CR), truncated at MAX_LINE; false at the end of the bytes.
static bool next_line(reader *r, char line[MAX_LINE])
{
	if (r->at >= r->size)
		return false;
	size_t length = 0;
	while (r->at < r->size && r->bytes[r->at] != '\n' && r->bytes[r->at] != '\r') {
		if (length < MAX_LINE - 1)
			line[length++] = r->bytes[r->at];
		r->at++;
	}
	line[length] = 0;
	if (r->at + 1 < r->size && r->bytes[r->at] == '\r' && r->bytes[r->at + 1] == '\n')
		r->at++;
	if (r->at < r->size)
		r->at++;
	return true;
}

static const char *read_element(header *h, char *words[5])
{
	char *end;
	const char *count = words[2] ? words[2] : "";
	if (h->element_count == MAX_ELEMENTS)
		return "PLY: more than 64 kinds of elements";
	const unsigned long long value = strtoull(count, &end, 10);
	if (count[0] < '0' || count[0] > '9' || *end != 0 || value > UINT32_MAX)
		return "PLY: a count of elements is not a number below 2^32";
	h->counts[h->element_count++] = value;
	return NULL;
}

static const char *read_property(header *h, char *words[5])
{
	if (h->element_count == 0 || h->property_count == MAX_PROPERTIES)
		return "PLY: a property without an element, or more than 256 of them";
	property *p = &h->properties[h->property_count++];
	const bool list = words[1] && strcmp(words[1], "list") == 0;
	const char *value = words[list ? 3 : 1], *count = list && words[2] ? words[2] : "";
	p->element = h->element_count - 1;
	p->size = value ? type_size(value) : 0;
	p->count_size = type_size(count);
	p->count_signed = count[0] != 'u';
	if (p->size == 0 || (list && (p->count_size == 0 || p->count_size > 4 || count[0] == 'f')))
		return "PLY: a property of unknown type";
	return NULL;
}

static const char *read_header(reader *r, header *h)
{
	char line[MAX_LINE];
	while (next_line(r, line)) {
		char *words[5] = {0}, *rest = line;
		for (int i = 0; i < 5; i++)
			words[i] = strtok_r(rest, " \t", &rest);
		const char *error = NULL;
		if (!words[0])
			continue;
		if (strcmp(words[0], "end_header") == 0)
			return h->encoding == ENCODING_NONE ? "PLY: the header names no format" : NULL;
		if (strcmp(words[0], "format") == 0 && words[1])
			h->encoding = strcmp(words[1], "ascii") == 0                  ? ENCODING_TEXT
				      : strcmp(words[1], "binary_little_endian") == 0 ? ENCODING_LITTLE
				      : strcmp(words[1], "binary_big_endian") == 0    ? ENCODING_BIG
										      : ENCODING_NONE;
		else if (strcmp(words[0], "element") == 0)
			error = read_element(h, words);
		else if (strcmp(words[0], "property") == 0)
			error = read_property(h, words);
		if (error)
			return error;
	}
	return "PLY: the header has no end";
}

// One line per element.
static const char *check_text(reader *r, const header *h)
{
	uint64_t expected = 0, lines = 0;
	for (int i = 0; i < h->element_count; i++)
		expected += h->counts[i];
	char line[MAX_LINE];
	while (lines < expected && next_line(r, line))
		lines += line[strspn(line, " \t")] != 0;
	return lines < expected ? "PLY: fewer lines than the header declares" : NULL;
}

static bool skip(reader *r, uint64_t bytes)
{
	if (bytes > r->size - r->at)
		return false;
	r->at += (size_t)bytes;
	return true;
}

// Reads the count in front of a list. False if it is negative or beyond the end.
static bool read_count(reader *r, const header *h, const property *p, uint64_t *out_count)
{
	const size_t start = r->at;
	if (!skip(r, p->count_size))
		return false;
	*out_count = 0;
	for (size_t i = 0; i < p->count_size; i++) {
		const size_t from = h->encoding == ENCODING_BIG ? i : p->count_size - 1 - i;
		*out_count = *out_count << 8 | (unsigned char)r->bytes[start + from];
	}
	return !(p->count_signed && *out_count >> (8 * p->count_size - 1));
}

static const char *check_binary(reader *r, const header *h)
{
	static const char truncated[] = "PLY: fewer bytes than the header declares, or a negative count";
	for (int e = 0; e < h->element_count; e++) {
		uint64_t fixed = 0;
		bool lists = false;
		for (int i = 0; i < h->property_count; i++) {
			if (h->properties[i].element != e)
				continue;
			lists = lists || h->properties[i].count_size > 0;
			fixed += h->properties[i].size;
		}
		if (!lists) {
			if (!skip(r, fixed * h->counts[e]))
				return truncated;
			continue;
		}
		// Each pass consumes at least one byte, so the number of bytes bounds the loop, not the
		// count.
		for (uint64_t n = 0; n < h->counts[e]; n++) {
			for (int i = 0; i < h->property_count; i++) {
				const property *p = &h->properties[i];
				uint64_t values = 1;
				if (p->element != e)
					continue;
				if ((p->count_size > 0 && !read_count(r, h, p, &values)) ||
				    !skip(r, values * p->size))
					return truncated;
			}
		}
	}
	return NULL;
}

const char *tac_mesh_ply_check(const char *bytes, size_t size)
{
	reader r = {.bytes = bytes, .size = size};
	char line[MAX_LINE];
	if (size < 4 || (memcmp(bytes, "ply", 3) != 0 && memcmp(bytes, "PLY", 3) != 0) ||
	    !next_line(&r, line) || line[3 + strspn(line + 3, " \t")] != 0)
		return NULL;
	header h = {0};
	const char *error = read_header(&r, &h);
	if (error)
		return error;
	return h.encoding == ENCODING_TEXT ? check_text(&r, &h) : check_binary(&r, &h);
}
