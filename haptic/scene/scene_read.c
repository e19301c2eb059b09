#include "haptic/scene.h"
#include "haptic/scene/scene_check.h"
#include "haptic/scene/scene_keys.h"

#include "base/input.h"
#include "base/log.h"
#include "base/suggest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

// The position of a field's value in the file, for checks after everything has been read.
typedef struct field_mark {
	const void *field;
	yaml_mark_t mark;
} field_mark;

typedef struct reader {
	const char *name; // of the file
	yaml_document_t document;
	tac_scene *scene;
	field_mark *marks;
	size_t mark_count, mark_capacity;
	tac_result result;
} reader;

// ---- messages ----

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
refuse(reader *r, yaml_mark_t mark, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	tac_log(TAC_LOG_ERROR, "%s:%zu:%zu: %s", r->name, mark.line + 1, mark.column + 1, text);
	r->result = TAC_ERROR_FORMAT;
	return false;
}

// A node as a message shows it: printable and short.
static const char *describe_node(const yaml_node_t *node, char out[48])
{
	if (node->type == YAML_MAPPING_NODE)
		return "a mapping";
	if (node->type == YAML_SEQUENCE_NODE)
		return "a list";
	size_t n = 0;
	out[n++] = '\'';
	for (size_t i = 0; i < node->data.scalar.length && n < 40; i++) {
		const unsigned char c = node->data.scalar.value[i];
		out[n++] = c >= 0x20 && c < 0x7f ? (char)c : '?';
	}
	out[n++] = '\'';
	out[n] = 0;
	return out;
}

static bool refuse_node(reader *r, const yaml_node_t *node, const char *what)
{
	char text[48];
	return refuse(r, node->start_mark, "expected %s, found %s", what, describe_node(node, text));
}

// A key that only other kinds of shapes or effects have: lists the keys of this kind.
static bool refuse_foreign_key(reader *r, const yaml_node_t *node, const tac_scene_group *group,
			       const void *base)
{
	char text[48], keys[320] = "";
	for (const tac_scene_key *key = group->keys; key->name; key++) {
		const size_t used = strlen(keys);
		if (tac_scene_key_applies(key, base))
			snprintf(keys + used, sizeof keys - used, "%s%s", used ? ", " : "", key->name);
	}
	return refuse(r, node->start_mark, "expected a key of %s of this kind (%s), found %s", group->noun,
		      keys, describe_node(node, text));
}

static bool refuse_unknown_key(reader *r, const yaml_node_t *node, const tac_scene_group *group,
			       const void *base)
{
	char text[48], found[64] = "";
	if (node->type == YAML_SCALAR_NODE)
		snprintf(found, sizeof found, "%s", (const char *)node->data.scalar.value);
	tac_suggestion suggestion = tac_suggestion_begin(found);
	for (const tac_scene_key *key = group->keys; key->name; key++) {
		if (strcmp(found, key->name) == 0)
			return refuse_foreign_key(r, node, group, base);
		if (tac_scene_key_applies(key, base))
			tac_suggestion_offer(&suggestion, key->name);
	}
	return refuse(r, node->start_mark, "expected a key of %s, found %s%s", group->noun,
		      describe_node(node, text), tac_suggestion_text(&suggestion));
}

// ---- values ----

static bool remember_mark(reader *r, const void *field, yaml_mark_t mark)
{
	if (r->mark_count == r->mark_capacity) {
		const size_t capacity = r->mark_capacity ? 2 * r->mark_capacity : 256;
		field_mark *more = realloc(r->marks, capacity * sizeof *more);
		if (!more) {
			tac_log(TAC_LOG_ERROR, "%s: no memory for the scene", r->name);
			r->result = TAC_ERROR_MEMORY;
			return false;
		}
		r->marks = more;
		r->mark_capacity = capacity;
	}
	r->marks[r->mark_count++] = (field_mark){field, mark};
	return true;
}

// A scalar as a C string; NULL: it is no scalar or contains a NUL.
static const char *scalar_text(const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value;
	return node->type == YAML_SCALAR_NODE && strlen(text) == node->data.scalar.length ? text : NULL;
}

static bool read_number(reader *r, const yaml_node_t *node, const tac_scene_key *key, double *out)
{
	char what[96];
	snprintf(what, sizeof what, "a number from %g to %g", key->min, key->max);
	const char *text = scalar_text(node);
	char *end;
	// strtod also accepts hexadecimals, infinities and NaN; only decimals are numbers here.
	if (!text || *text == 0 || text[strspn(text, "+-.0123456789eE")] != 0)
		return refuse_node(r, node, what);
	const double value = strtod(text, &end);
	if (*end != 0 || !(value >= key->min && value <= key->max))
		return refuse_node(r, node, what);
	*out = value;
	return true;
}

static bool read_integer(reader *r, const yaml_node_t *node, const tac_scene_key *key, int64_t *out)
{
	char what[96];
	snprintf(what, sizeof what, "a whole number from %.0f to %.0f", key->min, key->max);
	const char *text = scalar_text(node);
	char *end;
	if (!text || *text == 0 || text[strspn(text, "+-0123456789")] != 0)
		return refuse_node(r, node, what);
	errno = 0;
	const long long value = strtoll(text, &end, 10);
	if (*end != 0 || errno != 0 || (double)value < key->min || (double)value > key->max)
		return refuse_node(r, node, what);
	*out = value;
	return true;
}

static bool read_text(reader *r, const yaml_node_t *node, const tac_scene_key *key, char *out)
{
	char what[96];
	snprintf(what, sizeof what, "a text of 1 to %zu bytes", key->size - 1);
	const char *text = scalar_text(node);
	if (!text || *text == 0 || strlen(text) >= key->size)
		return refuse_node(r, node, what);
	memset(out, 0, key->size); // so that equal scenes are equal byte by byte
	memcpy(out, text, strlen(text));
	return true;
}

static bool read_choice(reader *r, const yaml_node_t *node, const tac_scene_key *key, int *out)
{
	char what[256] = "";
	const char *text = scalar_text(node);
	for (int i = 0; key->choices[i]; i++) {
		if (text && strcmp(text, key->choices[i]) == 0) {
			*out = i;
			return true;
		}
		const size_t used = strlen(what);
		snprintf(what + used, sizeof what - used, "%s%s", i ? " or " : "", key->choices[i]);
	}
	return refuse_node(r, node, what);
}

static bool read_flag(reader *r, const yaml_node_t *node, bool *out)
{
	const char *text = scalar_text(node);
	*out = text && strcmp(text, "true") == 0;
	return *out || (text && strcmp(text, "false") == 0) || refuse_node(r, node, "true or false");
}

static bool read_vector(reader *r, const yaml_node_t *node, const tac_scene_key *key, tac_dvec3 *out)
{
	if (node->type != YAML_SEQUENCE_NODE ||
	    node->data.sequence.items.top - node->data.sequence.items.start != 3)
		return refuse_node(r, node, "a list of 3 numbers");
	double xyz[3];
	for (int i = 0; i < 3; i++) {
		if (!read_number(r, yaml_document_get_node(&r->document, node->data.sequence.items.start[i]),
				 key, &xyz[i]))
			return false;
	}
	*out = tac_dvec3_load(xyz);
	return true;
}

static bool read_group(reader *r, const yaml_node_t *node, const tac_scene_group *group, void *base);

static bool read_list(reader *r, const yaml_node_t *node, const tac_scene_key *key, void *base)
{
	char what[96];
	snprintf(what, sizeof what, "a list of %g to %g", key->min, key->max);
	const ptrdiff_t count = node->type == YAML_SEQUENCE_NODE
					? node->data.sequence.items.top - node->data.sequence.items.start
					: -1;
	if (count < (ptrdiff_t)key->min || count > (ptrdiff_t)key->max)
		return refuse_node(r, node, what);
	for (ptrdiff_t i = 0; i < count; i++) {
		const yaml_node_t *item =
			yaml_document_get_node(&r->document, node->data.sequence.items.start[i]);
		if (!read_group(r, item, key->group, (char *)base + key->offset + (size_t)i * key->size))
			return false;
	}
	*(int32_t *)((char *)base + key->count_offset) = (int32_t)count;
	return true;
}

static bool read_value(reader *r, const yaml_node_t *node, const tac_scene_key *key, void *base)
{
	void *field = (char *)base + key->offset;
	if (!remember_mark(r, field, node->start_mark))
		return false;
	switch (key->kind) {
	case TAC_KEY_NUMBER:
		return read_number(r, node, key, field);
	case TAC_KEY_INTEGER:
		return read_integer(r, node, key, field);
	case TAC_KEY_FLAG:
		return read_flag(r, node, field);
	case TAC_KEY_TEXT:
		return read_text(r, node, key, field);
	case TAC_KEY_VECTOR:
		return read_vector(r, node, key, field);
	case TAC_KEY_CHOICE:
		return read_choice(r, node, key, field);
	case TAC_KEY_MAP:
		return read_group(r, node, key->group, field);
	case TAC_KEY_LIST:
		return read_list(r, node, key, base);
	}
	return false;
}

// ---- mappings ----

// The pair whose key is `name`; NULL: none.
static const yaml_node_pair_t *find_pair(reader *r, const yaml_node_t *node, const char *name)
{
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		const char *text = scalar_text(yaml_document_get_node(&r->document, pair->key));
		if (text && strcmp(text, name) == 0)
			return pair;
	}
	return NULL;
}

// Checks that every key of the mapping is in the table and occurs once.
static bool check_keys(reader *r, const yaml_node_t *node, const tac_scene_group *group, const void *base)
{
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *name = yaml_document_get_node(&r->document, pair->key);
		const tac_scene_key *key = group->keys;
		while (key->name && !(scalar_text(name) && strcmp(scalar_text(name), key->name) == 0 &&
				      tac_scene_key_applies(key, base)))
			key++;
		if (!key->name)
			return refuse_unknown_key(r, name, group, base);
		if (find_pair(r, node, key->name) != pair)
			return refuse(r, name->start_mark, "expected '%s' once, found it again", key->name);
	}
	return true;
}

static bool read_group(reader *r, const yaml_node_t *node, const tac_scene_group *group, void *base)
{
	if (node->type != YAML_MAPPING_NODE)
		return refuse_node(r, node, group->noun);
	group->fill(base);
	if (!remember_mark(r, base, node->start_mark))
		return false;
	bool checked = false;
	for (const tac_scene_key *key = group->keys; key->name; key++) {
		// The kind of a shape or effect is the first key of its table and decides which others apply.
		if (!checked && (key->kinds != 0 || key != group->keys)) {
			if (!check_keys(r, node, group, base))
				return false;
			checked = true;
		}
		if (!tac_scene_key_applies(key, base))
			continue;
		const yaml_node_pair_t *pair = find_pair(r, node, key->name);
		if (pair) {
			if (!read_value(r, yaml_document_get_node(&r->document, pair->value), key, base))
				return false;
		} else if (key->required) {
			if (!check_keys(r, node, group, base)) // it may be misspelt
				return false;
			return refuse(r, node->start_mark, "expected '%s' in %s, found none", key->name,
				      group->noun);
		}
	}
	return true;
}

// ---- checks across values ----

static yaml_mark_t mark_of(const reader *r, const void *field)
{
	for (size_t i = r->mark_count; i-- > 0;) {
		if (r->marks[i].field == field)
			return r->marks[i].mark;
	}
	return (yaml_mark_t){0, 0, 0};
}

static void refuse_field(void *user, const void *field, const char *message)
{
	refuse(user, mark_of(user, field), "%s", message);
}

// ---- the file ----

static bool set_folder(reader *r)
{
	const char *slash = strrchr(r->name, '/');
	const size_t length = slash ? (size_t)(slash - r->name) : 0;
	if (length >= sizeof r->scene->folder)
		return refuse(r, (yaml_mark_t){0, 0, 0},
			      "expected a folder with a name below %zu bytes, found %zu",
			      sizeof r->scene->folder, length);
	memcpy(r->scene->folder, r->name, length);
	return true;
}

static bool load_document(reader *r, yaml_parser_t *parser, yaml_document_t *document)
{
	return yaml_parser_load(parser, document) ||
	       refuse(r, parser->problem_mark, "expected YAML, found: %s",
		      parser->problem ? parser->problem : "no memory");
}

static bool has_anchor(const yaml_event_t *event)
{
	return (event->type == YAML_SCALAR_EVENT && event->data.scalar.anchor) ||
	       (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.anchor) ||
	       (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor);
}

// Checks depth and anchors of the whole text before anything is built from it. libyaml needs quadratic time
// for deeply nested brackets (80,000 of them took 20 s) and for many anchors (20,000 took 4 s). Errors are
// left to the reader proper.
static bool check_complexity(reader *r, const char *text, size_t bytes)
{
	yaml_parser_t parser;
	if (!yaml_parser_initialize(&parser)) {
		tac_log(TAC_LOG_ERROR, "%s: no memory for the scene", r->name);
		r->result = TAC_ERROR_MEMORY;
		return false;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	int depth = 0, anchors = 0;
	bool good = true, more = true;
	while (good && more) {
		yaml_event_t event;
		if (!yaml_parser_parse(&parser, &event))
			break;
		more = event.type != YAML_STREAM_END_EVENT && event.type != YAML_NO_EVENT;
		if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT)
			depth++;
		if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
			depth--;
		if (depth > TAC_SCENE_DEPTH_MAX)
			good = refuse(r, event.start_mark,
				      "expected at most %d levels of nesting, found more",
				      TAC_SCENE_DEPTH_MAX);
		anchors += has_anchor(&event);
		if (good && anchors > TAC_SCENE_ANCHORS)
			good = refuse(r, event.start_mark, "expected at most %d anchors, found more",
				      TAC_SCENE_ANCHORS);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return good;
}

static bool read_document(reader *r, yaml_parser_t *parser)
{
	if (!load_document(r, parser, &r->document))
		return false;
	const yaml_node_t *root = yaml_document_get_root_node(&r->document);
	bool ok;
	if (root)
		ok = read_group(r, root, tac_scene_root(), r->scene) && set_folder(r) &&
		     tac_scene_check_values(r->scene, refuse_field, r);
	else
		ok = refuse(r, (yaml_mark_t){0, 0, 0}, "expected a scene, found nothing");
	yaml_document_delete(&r->document);
	if (!ok)
		return false;
	yaml_document_t more;
	if (!load_document(r, parser, &more))
		return false;
	const yaml_node_t *second = yaml_document_get_root_node(&more);
	if (second)
		refuse(r, second->start_mark, "expected one document, found another");
	yaml_document_delete(&more);
	return !second;
}

tac_result tac_scene_parse(const char *text, size_t bytes, const char *name, tac_scene **out_scene)
{
	*out_scene = NULL;
	if (bytes > TAC_SCENE_FILE_MAX) {
		tac_log(TAC_LOG_ERROR, "%s: expected at most %d bytes, found %zu", name, TAC_SCENE_FILE_MAX,
			bytes);
		return TAC_ERROR_FORMAT;
	}
	yaml_parser_t parser;
	reader r = {.name = name};
	if (!check_complexity(&r, text, bytes))
		return r.result;
	r.scene = calloc(1, sizeof *r.scene);
	if (!r.scene || !yaml_parser_initialize(&parser)) {
		free(r.scene);
		tac_log(TAC_LOG_ERROR, "%s: no memory for the scene", name);
		return TAC_ERROR_MEMORY;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	if (read_document(&r, &parser))
		*out_scene = r.scene;
	else
		free(r.scene);
	yaml_parser_delete(&parser);
	free(r.marks);
	return r.result;
}

tac_result tac_scene_load(const char *path, tac_scene **out_scene)
{
	*out_scene = NULL;
	FILE *file = tac_input_open(path);
	if (!file) {
		tac_log(TAC_LOG_ERROR, "%s: expected a scene file: %s", path, tac_input_reason(errno));
		return TAC_ERROR_IO;
	}
	// One byte more than allowed, so that tac_scene_parse detects a file that is too long.
	char *text = malloc(TAC_SCENE_FILE_MAX + 1);
	errno = 0;
	const size_t bytes = text ? fread(text, 1, TAC_SCENE_FILE_MAX + 1, file) : 0;
	tac_result result;
	if (!text || ferror(file)) {
		tac_log(TAC_LOG_ERROR, "%s: expected a scene file: %s", path,
			text ? tac_input_reason(errno) : "no memory");
		result = text ? TAC_ERROR_IO : TAC_ERROR_MEMORY;
	} else {
		result = tac_scene_parse(text, bytes, path, out_scene);
	}
	free(text);
	fclose(file);
	return result;
}

void tac_scene_destroy(tac_scene **scene)
{
	free(*scene);
	*scene = NULL;
}
