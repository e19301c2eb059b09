#include "collision/import/mesh_record.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC UINT64_C(0x3130484D43415407) // changes with the layout

typedef struct header {
	uint64_t magic;
	uint64_t checksum; // of everything after the header
	uint64_t total_bytes;
	uint64_t name_bytes; // surface_count strings, each with its 0
	int32_t vertex_count, triangle_count, surface_count;
	int32_t failed; // 1: no mesh, see the message
	char message[TAC_MESH_RECORD_MESSAGE];
} header;

_Static_assert(sizeof(header) % 8 == 0, "the arrays after it are aligned");
_Static_assert(sizeof(tac_vec3) == 12 && sizeof(tac_mesh_triangle) == 12, "arrays without padding");

// FNV-1a. It detects truncation and damage, not forgery.
static uint64_t checksum(const void *bytes, size_t size)
{
	const unsigned char *b = bytes;
	uint64_t h = UINT64_C(0xCBF29CE484222325);
	for (size_t i = 0; i < size; i++)
		h = (h ^ b[i]) * UINT64_C(0x100000001B3);
	return h;
}

// Counts are at most TAC_MESH_MAX, so nothing overflows.
static uint64_t array_bytes(const header *h)
{
	return 12 * (uint64_t)h->vertex_count + 16 * (uint64_t)h->triangle_count;
}

static header header_of(const tac_mesh_def *def)
{
	TAC_ASSERT(def->triangle_surface && def->surface_names);
	header h = {.magic = MAGIC,
		    .vertex_count = def->vertex_count,
		    .triangle_count = def->triangle_count,
		    .surface_count = def->surface_count};
	for (int32_t i = 0; i < def->surface_count; i++)
		h.name_bytes += strlen(def->surface_names[i]) + 1;
	h.total_bytes = sizeof h + array_bytes(&h) + h.name_bytes;
	return h;
}

size_t tac_mesh_record_size(const tac_mesh_def *def)
{
	return (size_t)header_of(def).total_bytes;
}

void tac_mesh_record_encode(const tac_mesh_def *def, void *bytes)
{
	header h = header_of(def);
	char *at = (char *)bytes + sizeof h;
	const size_t vertices = 12 * (size_t)def->vertex_count, triangles = 12 * (size_t)def->triangle_count;
	memcpy(at, def->vertices, vertices);
	memcpy(at + vertices, def->triangles, triangles);
	memcpy(at + vertices + triangles, def->triangle_surface, triangles / 3);
	char *name = at + array_bytes(&h);
	for (int32_t i = 0; i < def->surface_count; i++) {
		const size_t length = strlen(def->surface_names[i]) + 1;
		memcpy(name, def->surface_names[i], length);
		name += length;
	}
	h.checksum = checksum(at, (size_t)h.total_bytes - sizeof h);
	memcpy(bytes, &h, sizeof h);
}

size_t tac_mesh_record_failure_size(void)
{
	return sizeof(header);
}

void tac_mesh_record_encode_failure(const char *message, void *bytes)
{
	header h = {.magic = MAGIC, .checksum = checksum(bytes, 0), .total_bytes = sizeof h, .failed = 1};
	snprintf(h.message, sizeof h.message, "%s", message);
	memcpy(bytes, &h, sizeof h);
}

// Characters that show nothing but change how the text around them looks: zero widths, line ends, writing
// directions, tags.
static bool is_invisible(uint32_t code)
{
	return (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
	       (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
	       (code >= 0xE0000 && code <= 0xE007F);
}

// The length of the valid UTF-8 sequence of a printable character at `s`, 0 if there is none. Control
// characters (C0, DEL, C1) and invisible ones are not printable: names and messages go to terminals.
static int printable_length(const unsigned char *s)
{
	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7F;
	const int length = s[0] >= 0xC2 && s[0] < 0xE0   ? 2
			   : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
			   : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
							 : 0;
	uint32_t code = s[0] & (0x7Fu >> length);
	for (int i = 1; i < length; i++) {
		if ((s[i] & 0xC0) != 0x80) // also stops at the final 0
			return 0;
		code = code << 6 | (s[i] & 0x3Fu);
	}
	const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
	const bool surrogate = code >= 0xD800 && code < 0xE000;
	const bool valid = code >= 0xA0 && code <= 0x10FFFF && !overlong && !surrogate;
	return valid && !is_invisible(code) ? length : 0;
}

// Replaces everything that is not printable by '?'.
static void clean(char *text)
{
	unsigned char *s = (unsigned char *)text;
	while (*s) {
		const int length = printable_length(s);
		if (length == 0)
			*s = '?';
		s += length > 0 ? length : 1;
	}
}

static tac_result refuse(tac_mesh_record *out, tac_result result, const char *message)
{
	snprintf(out->message, sizeof out->message, "%s", message);
	clean(out->message);
	return result;
}

size_t tac_mesh_record_readable_size(const void *bytes, size_t available, size_t size)
{
	header h;
	if (available < sizeof h)
		return available;
	memcpy(&h, bytes, sizeof h);
	return h.magic == MAGIC && h.total_bytes == size ? size : sizeof h;
}

tac_result tac_mesh_record_decode(const void *bytes, size_t size, tac_mesh_record *out_record)
{
	*out_record = (tac_mesh_record){.def = tac_mesh_def_default()};
	TAC_ASSERT((uintptr_t)bytes % 8 == 0);
	header h;
	if (size < sizeof h)
		return refuse(out_record, TAC_ERROR_FORMAT, "the importer returned less than a header");
	memcpy(&h, bytes, sizeof h);
	if (h.magic != MAGIC)
		return refuse(out_record, TAC_ERROR_FORMAT, "the importer is not of this version");
	h.message[sizeof h.message - 1] = 0;
	if (h.failed != 0)
		return refuse(out_record, TAC_ERROR_IO, h.message);
	if (h.vertex_count < 0 || h.vertex_count > TAC_MESH_MAX || h.triangle_count < 0 ||
	    h.triangle_count > TAC_MESH_MAX || h.surface_count < 0 || h.surface_count > TAC_MESH_MAX)
		return refuse(out_record, TAC_ERROR_FORMAT, "the importer returned counts out of range");
	const uint64_t arrays = array_bytes(&h);
	if (h.total_bytes != size || size - sizeof h < arrays || size - sizeof h - arrays != h.name_bytes)
		return refuse(out_record, TAC_ERROR_FORMAT,
			      "the importer returned counts that do not fit the size of its record");
	const char *at = (const char *)bytes + sizeof h;
	if (checksum(at, size - sizeof h) != h.checksum)
		return refuse(out_record, TAC_ERROR_FORMAT, "the importer's record fails its checksum");

	const char *names = at + arrays;
	const size_t name_bytes = (size_t)h.name_bytes;
	int32_t strings = 0;
	for (size_t i = 0; i < name_bytes && strings <= h.surface_count; i++)
		strings += names[i] == 0;
	if (strings != h.surface_count || (name_bytes > 0 && names[name_bytes - 1] != 0))
		return refuse(out_record, TAC_ERROR_FORMAT, "the importer returned surfaces without names");

	out_record->names = malloc(name_bytes + 1);
	out_record->surface_names = malloc(((size_t)h.surface_count + 1) * sizeof *out_record->surface_names);
	if (!out_record->names || !out_record->surface_names) {
		tac_mesh_record_release(out_record);
		return refuse(out_record, TAC_ERROR_MEMORY, "no memory for the names of the surfaces");
	}
	memcpy(out_record->names, names, name_bytes);
	char *name = out_record->names;
	for (int32_t i = 0; i < h.surface_count; i++) {
		out_record->surface_names[i] = name;
		clean(name);
		name += strlen(name) + 1;
	}
	tac_mesh_def *def = &out_record->def;
	def->vertices = (const void *)at;
	def->vertex_count = h.vertex_count;
	def->triangles = (const void *)(at + 12 * (size_t)h.vertex_count);
	def->triangle_count = h.triangle_count;
	def->triangle_surface = (const void *)(at + 12 * ((size_t)h.vertex_count + (size_t)h.triangle_count));
	def->surface_count = h.surface_count;
	def->surface_names = out_record->surface_names;
	return TAC_OK;
}

void tac_mesh_record_release(tac_mesh_record *record)
{
	free(record->names);
	free(record->surface_names);
	record->names = NULL;
	record->surface_names = NULL;
}
