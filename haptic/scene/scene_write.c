#include "haptic/scene.h"
#include "haptic/scene/scene_keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const void *field(const void *base, const tac_scene_key *key)
{
	return (const char *)base + key->offset;
}

// Writes the fewest digits that read back as the same double, without an exponent up to 6 digits: 800, not
// 8e+02.
static void write_number(FILE *file, double value)
{
	char text[32];
	int digits = 1;
	for (double power = 10; power <= fabs(value) && digits < 6; power *= 10)
		digits++;
	for (; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, file);
}

// Decodes the next character of valid UTF-8 and advances `text` past it.
static uint32_t next_character(const char **text)
{
	const unsigned char *c = (const unsigned char *)*text;
	const int more = c[0] < 0x80 ? 0 : c[0] < 0xe0 ? 1 : c[0] < 0xf0 ? 2 : 3;
	uint32_t value = more == 0 ? c[0] : c[0] & (0x3fu >> more);
	for (int i = 1; i <= more && c[i]; i++)
		value = value << 6 | (c[i] & 0x3fu);
	*text += 1;
	for (int i = 0; i < more && **text; i++)
		*text += 1;
	return value;
}

// Writes a double-quoted scalar, which can hold any text. Control characters and everything from U+2000 on
// are escaped: YAML takes some of them for line breaks and forbids others.
static void write_text(FILE *file, const char *text)
{
	fputc('"', file);
	while (*text) {
		const char *from = text;
		const uint32_t c = next_character(&text);
		if (c == '"' || c == '\\')
			fprintf(file, "\\%c", (char)c);
		else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c >= 0x2000)
			fprintf(file, "\\U%08x", (unsigned)c);
		else
			fwrite(from, 1, (size_t)(text - from), file);
	}
	fputc('"', file);
}

static void write_value(FILE *file, const tac_scene_key *key, const void *value)
{
	switch (key->kind) {
	case TAC_KEY_NUMBER:
		write_number(file, *(const double *)value);
		break;
	case TAC_KEY_INTEGER:
		fprintf(file, "%" PRId64, *(const int64_t *)value);
		break;
	case TAC_KEY_FLAG:
		fputs(*(const bool *)value ? "true" : "false", file);
		break;
	case TAC_KEY_TEXT:
		write_text(file, value);
		break;
	case TAC_KEY_CHOICE:
		fputs(key->choices[*(const int *)value], file);
		break;
	case TAC_KEY_VECTOR:
		for (int i = 0; i < 3; i++) {
			fputs(i == 0 ? "[" : ", ", file);
			write_number(file, tac_dvec3_get(*(const tac_dvec3 *)value, i));
		}
		fputc(']', file);
		break;
	case TAC_KEY_MAP:
	case TAC_KEY_LIST:
		break;
	}
}

static bool write_group(FILE *file, const tac_scene_group *group, const void *base, int depth);

// `dash`: the key begins a list element, with "- " in the last two columns of its indentation.
static bool write_key(FILE *file, const tac_scene_key *key, const void *base, int depth, bool dash)
{
	const int indent = 2 * depth;
	fprintf(file, dash ? "%*s- %s:" : "%*s%s:", dash ? indent - 2 : indent, "", key->name);
	const void *value = field(base, key);
	if (key->kind == TAC_KEY_MAP) {
		fputc('\n', file);
		return write_group(file, key->group, value, depth + 1);
	} else if (key->kind == TAC_KEY_LIST) {
		const int32_t count = *(const int32_t *)((const char *)base + key->count_offset);
		fputc('\n', file);
		for (int32_t i = 0; i < count; i++) {
			if (!write_group(file, key->group, (const char *)value + (size_t)i * key->size,
					 -(depth + 1)))
				return false;
		}
	} else {
		fputc(' ', file);
		write_value(file, key, value);
		fputc('\n', file);
	}
	return true;
}

// Required keys, and values that differ from the default.
static bool worth_writing(const tac_scene_key *key, const void *base, const void *defaults)
{
	if (!tac_scene_key_applies(key, base))
		return false;
	if (key->kind == TAC_KEY_LIST)
		return *(const int32_t *)((const char *)base + key->count_offset) > 0;
	if (key->kind == TAC_KEY_TEXT)
		return key->required || strcmp(field(base, key), field(defaults, key)) != 0;
	return key->required || memcmp(field(base, key), field(defaults, key), key->size) != 0;
}

// A negative depth marks an element of a list. False: no memory.
static bool write_group(FILE *file, const tac_scene_group *group, const void *base, int depth)
{
	void *defaults = calloc(1, group->size);
	if (!defaults)
		return false;
	group->fill(defaults);
	bool dash = depth < 0, ok = true;
	for (const tac_scene_key *key = group->keys; ok && key->name; key++) {
		if (worth_writing(key, base, defaults)) {
			ok = write_key(file, key, base, abs(depth), dash);
			dash = false;
		}
	}
	free(defaults);
	return ok;
}

tac_result tac_scene_write(const tac_scene *scene, FILE *file)
{
	fputs("# Lengths are metres, rotations are rotation vectors. "
	      "docs/scene.md says what each key means.\n",
	      file);
	if (!write_group(file, tac_scene_root(), scene, 0))
		return TAC_ERROR_MEMORY;
	return ferror(file) ? TAC_ERROR_IO : TAC_OK;
}
