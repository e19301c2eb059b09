// tactus task A.json [B.json]: prints the figures of a task that `tactus run --task` or `tactus render
// --task` has written, or compares two runs, such as an instructor's and a trainee's.
#include "haptic/task.h"
#include "apps/commands/commands.h"
#include "apps/session/options.h"
#include "base/input.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FIGURES    256
#define FILE_BYTES (1024 * 1024)

typedef struct figure {
	char tool[64], name[96], unit[16];
	double value; // NAN: not known
	double limit; // NAN: none
	bool at_least, exceeded;
} figure;

typedef struct task_figures {
	char scene[96];
	bool passed;
	figure list[FIGURES];
	int count;
} task_figures;

// ---- reading ----

// JSON is YAML: the parser of the scenes reads it.
static const yaml_node_t *member(yaml_document_t *d, const yaml_node_t *map, const char *name)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *key = yaml_document_get_node(d, p->key);
		if (key->type == YAML_SCALAR_NODE && strcmp((const char *)key->data.scalar.value, name) == 0)
			return yaml_document_get_node(d, p->value);
	}
	return NULL;
}

static const char *text_of(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static double number_of(const yaml_node_t *node)
{
	const char *text = text_of(node);
	char *end;
	const double value = text ? strtod(text, &end) : (double)NAN;
	return text && end != text && *end == 0 ? value : (double)NAN;
}

static bool read_figure(yaml_document_t *d, const yaml_node_t *node, const char *tool, task_figures *out)
{
	const char *name = text_of(member(d, node, "name")), *unit = text_of(member(d, node, "unit"));
	const char *exceeded = text_of(member(d, node, "exceeded"));
	const char *at_least = text_of(member(d, node, "at_least"));
	if (!name || !unit || !exceeded || !at_least || out->count == FIGURES)
		return false;
	figure *f = &out->list[out->count++];
	*f = (figure){.value = number_of(member(d, node, "value")),
		      .limit = number_of(member(d, node, "limit")),
		      .at_least = strcmp(at_least, "true") == 0,
		      .exceeded = strcmp(exceeded, "true") == 0};
	snprintf(f->tool, sizeof f->tool, "%s", tool);
	snprintf(f->name, sizeof f->name, "%s", name);
	snprintf(f->unit, sizeof f->unit, "%s", unit);
	return true;
}

static bool read_tool(yaml_document_t *d, const yaml_node_t *node, task_figures *out)
{
	const char *name = text_of(member(d, node, "name")), *passed = text_of(member(d, node, "passed"));
	const yaml_node_t *figures = member(d, node, "figures");
	if (!name || !passed || !figures || figures->type != YAML_SEQUENCE_NODE)
		return false;
	out->passed = out->passed && strcmp(passed, "true") == 0;
	for (const yaml_node_item_t *i = figures->data.sequence.items.start;
	     i < figures->data.sequence.items.top; i++) {
		if (!read_figure(d, yaml_document_get_node(d, *i), name, out))
			return false;
	}
	return true;
}

static bool read_document(yaml_document_t *d, task_figures *out)
{
	const yaml_node_t *root = yaml_document_get_root_node(d);
	const char *scene = text_of(member(d, root, "scene"));
	const yaml_node_t *tools = member(d, root, "tools");
	if (!scene || !tools || tools->type != YAML_SEQUENCE_NODE)
		return false;
	snprintf(out->scene, sizeof out->scene, "%s", scene);
	out->passed = true;
	for (const yaml_node_item_t *i = tools->data.sequence.items.start; i < tools->data.sequence.items.top;
	     i++) {
		if (!read_tool(d, yaml_document_get_node(d, *i), out))
			return false;
	}
	return out->count > 0;
}

static bool parse(const char *text, size_t bytes, task_figures *out)
{
	yaml_parser_t parser;
	yaml_document_t document;
	// The files are written with few levels; deep brackets would take libyaml quadratic time.
	int depth = 0;
	for (size_t i = 0; i < bytes; i++) {
		depth += text[i] == '{' || text[i] == '[';
		depth -= text[i] == '}' || text[i] == ']';
		if (depth > 16)
			return false;
	}
	if (!yaml_parser_initialize(&parser))
		return false;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	bool good = yaml_parser_load(&parser, &document);
	if (good) {
		good = read_document(&document, out);
		yaml_document_delete(&document);
	}
	yaml_parser_delete(&parser);
	return good;
}

// Exit code.
static int read_file(const char *path, task_figures *out)
{
	FILE *file = tac_input_open(path);
	if (!file) {
		fprintf(stderr, "tactus task: %s: expected a file of figures: %s\n", path,
			tac_input_reason(errno));
		return EXIT_BAD_INPUT;
	}
	char *text = malloc(FILE_BYTES + 1);
	const size_t bytes = text ? fread(text, 1, FILE_BYTES + 1, file) : 0;
	const bool good = text && bytes <= FILE_BYTES && parse(text, bytes, out);
	if (!good)
		fprintf(stderr,
			"tactus task: %s: expected the figures of `tactus run --task FILE.json`, found "
			"something else\n",
			path);
	free(text);
	fclose(file);
	return good ? EXIT_SUCCESS : EXIT_BAD_INPUT;
}

// ---- printing ----

static const figure *find(const task_figures *t, const figure *like)
{
	for (int i = 0; i < t->count; i++) {
		if (strcmp(t->list[i].tool, like->tool) == 0 && strcmp(t->list[i].name, like->name) == 0)
			return &t->list[i];
	}
	return NULL;
}

static bool is_yes_no(const figure *f)
{
	return strcmp(f->unit, TAC_TASK_YES_NO) == 0;
}

static const char *unit_of(const figure *f)
{
	return is_yes_no(f) ? "" : f->unit;
}

static const char *format(const figure *f, char out[32])
{
	if (!f || isnan(f->value))
		return "-";
	if (is_yes_no(f))
		snprintf(out, 32, "%s%s", f->value > 0 ? "yes" : "no", f->exceeded ? " !" : "");
	else
		snprintf(out, 32, "%.4g%s", f->value, f->exceeded ? " !" : "");
	return out;
}

static const char *format_limit(const figure *f, char out[32])
{
	if (!f || isnan(f->limit))
		return "";
	if (is_yes_no(f))
		return f->limit > 0 ? "yes" : "no";
	snprintf(out, 32, "%s %.4g", f->at_least ? ">=" : "<=", f->limit);
	return out;
}

static void print_one(const task_figures *a)
{
	char value[32], most[32];
	printf("%s: %s\n", a->scene, a->passed ? "passed" : "not passed");
	printf("%-44s %5s %12s %10s\n", "", "", "value", "limit");
	for (int i = 0; i < a->count; i++)
		printf("%-44s %5s %12s %10s\n", a->list[i].name, unit_of(&a->list[i]),
		       format(&a->list[i], value), format_limit(&a->list[i], most));
}

static void print_row(const figure *a, const figure *b)
{
	const figure *any = a ? a : b;
	char left[32], right[32], most[32], difference[32] = "";
	if (a && b && !is_yes_no(any) && !isnan(a->value) && !isnan(b->value))
		snprintf(difference, sizeof difference, "%+.4g", b->value - a->value);
	printf("%-44s %5s %12s %12s %12s %10s\n", any->name, unit_of(any), format(a, left), format(b, right),
	       difference, format_limit(any, most));
}

static void print_both(const task_figures *a, const task_figures *b)
{
	printf("%s: %s\n%s: %s\n", a->scene, a->passed ? "passed" : "not passed", b->scene,
	       b->passed ? "passed" : "not passed");
	printf("%-44s %5s %12s %12s %12s %10s\n", "", "", "A", "B", "B - A", "limit");
	for (int i = 0; i < a->count; i++)
		print_row(&a->list[i], find(b, &a->list[i]));
	for (int i = 0; i < b->count; i++) {
		if (!find(a, &b->list[i]))
			print_row(NULL, &b->list[i]);
	}
}

int cmd_task(int argc, char **argv)
{
	const char *paths[2] = {NULL, NULL};
	const option_def options[] = {
		{"a", OPTION_POSITIONAL, &paths[0], 0, 0, NULL, "A.json",
		 "figures that `tactus run --task` or `tactus render --task` has written"},
		{"b", OPTION_OPTIONAL, &paths[1], 0, 0, NULL, "B.json", "figures to compare with"},
		{0},
	};
	const command_line line = {"tactus task", "print the figures of a task, or compare two runs of it",
				   options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	task_figures *both = calloc(2, sizeof *both);
	if (!both) {
		fprintf(stderr, "tactus task: no memory\n");
		return EXIT_FAILURE;
	}
	code = read_file(paths[0], &both[0]);
	if (code == EXIT_SUCCESS && paths[1])
		code = read_file(paths[1], &both[1]);
	if (code == EXIT_SUCCESS && paths[1] && strcmp(both[0].scene, both[1].scene) != 0) {
		fprintf(stderr, "tactus task: %s: expected figures of '%s' as in %s, found those of '%s'\n",
			paths[1], both[0].scene, paths[0], both[1].scene);
		code = EXIT_BAD_INPUT;
	}
	if (code == EXIT_SUCCESS && paths[1])
		print_both(&both[0], &both[1]);
	else if (code == EXIT_SUCCESS)
		print_one(&both[0]);
	free(both);
	return code;
}
