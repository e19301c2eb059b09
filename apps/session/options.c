#include "apps/session/options.h"

#include "base/output.h"
#include "base/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HELP_COLUMNS 80

static void print_choices(FILE *file, const char *const *choices)
{
	for (int i = 0; choices[i]; i++)
		fprintf(file, "%s%s", i ? "|" : "", choices[i]);
}

static void print_value(FILE *file, const option_def *option)
{
	if (option->kind == OPTION_CHOICE)
		print_choices(file, option->choices);
	else if (option->kind != OPTION_FLAG)
		fputs(option->value_name, file);
}

static void format_default(const option_def *option, char *out, size_t size)
{
	out[0] = '\0';
	switch (option->kind) {
	case OPTION_INTEGER:
		snprintf(out, size, " (default %lld)", (long long)*(const int64_t *)option->out);
		break;
	case OPTION_NUMBER:
		if (!isnan(*(const double *)option->out))
			snprintf(out, size, " (default %g)", *(const double *)option->out);
		break;
	case OPTION_CHOICE:
		snprintf(out, size, " (default %s)", option->choices[*(const int *)option->out]);
		break;
	case OPTION_FLAG:
	case OPTION_TEXT:
	case OPTION_POSITIONAL:
	case OPTION_OPTIONAL:
	case OPTION_MORE:
		break;
	}
}

// Prints the words of `text`, indented and broken into lines of HELP_COLUMNS.
static void print_indented(const char *text)
{
	size_t column = 0;
	while (*text) {
		const size_t length = strcspn(text, " ");
		if (column > 0 && column + 1 + length > HELP_COLUMNS) {
			printf("\n");
			column = 0;
		}
		column += (size_t)printf("%s%.*s", column > 0 ? " " : "        ", (int)length, text);
		text += length + (text[length] == ' ');
	}
	printf("\n");
}

static bool positional(const option_def *option)
{
	return option->kind == OPTION_POSITIONAL || option->kind == OPTION_OPTIONAL ||
	       option->kind == OPTION_MORE;
}

static void print_help(const command_line *line)
{
	printf("%s: %s\n\nusage: %s", line->command, line->summary, line->command);
	for (const option_def *o = line->options; o->name; o++) {
		if (o->kind == OPTION_POSITIONAL)
			printf(" %s", o->value_name);
		else if (o->kind == OPTION_OPTIONAL)
			printf(" [%s]", o->value_name);
		else if (o->kind == OPTION_MORE)
			printf(" [%s …]", o->value_name);
	}
	printf(" [options]\n\n");
	for (const option_def *o = line->options; o->name; o++) {
		char text[1024], value[64];
		format_default(o, value, sizeof value);
		snprintf(text, sizeof text, "%s%s", o->help, value);
		printf(positional(o) ? "  " : "  --%s", o->name);
		printf(positional(o) || o->kind == OPTION_FLAG ? "" : " ");
		print_value(stdout, o);
		printf("\n");
		print_indented(text);
	}
	printf("  --help\n");
	print_indented("print this help");
}

// `found` NULL: the command line ended.
static bool refuse(const command_line *line, const char *name, const char *expected, const char *found)
{
	if (found)
		fprintf(stderr, "%s: %s: expected %s, found '%s'\n", line->command, name, expected, found);
	else
		fprintf(stderr, "%s: %s: expected %s, found nothing\n", line->command, name, expected);
	return false;
}

static bool refuse_range(const command_line *line, const option_def *option, const char *noun,
			 const char *found)
{
	char expected[128];
	if (isinf(option->max))
		snprintf(expected, sizeof expected, "%s of at least %.10g", noun, option->min);
	else
		snprintf(expected, sizeof expected, "%s from %.10g to %.10g", noun, option->min, option->max);
	return refuse(line, option->name, expected, found);
}

static bool parse_integer(const command_line *line, const option_def *option, const char *text)
{
	char *end;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || (double)value < option->min ||
	    (double)value > option->max)
		return refuse_range(line, option, "a whole number", text);
	*(int64_t *)option->out = value;
	return true;
}

static bool parse_number(const command_line *line, const option_def *option, const char *text)
{
	char *end;
	double value = strtod(text, &end);
	// This form refuses NaN.
	if (end == text || *end != '\0' || !(value >= option->min && value <= option->max))
		return refuse_range(line, option, "a number", text);
	*(double *)option->out = value;
	return true;
}

static bool parse_choice(const command_line *line, const option_def *option, const char *text)
{
	char expected[256] = "";
	tac_suggestion suggestion = tac_suggestion_begin(text);
	for (int i = 0; option->choices[i]; i++) {
		tac_suggestion_offer(&suggestion, option->choices[i]);
		if (strcmp(option->choices[i], text) == 0) {
			*(int *)option->out = i;
			return true;
		}
		size_t used = strlen(expected);
		snprintf(expected + used, sizeof expected - used, "%s%s", i ? " or " : "",
			 option->choices[i]);
	}
	fprintf(stderr, "%s: %s: expected %s, found '%s'%s\n", line->command, option->name, expected, text,
		tac_suggestion_text(&suggestion));
	return false;
}

static bool parse_more(const command_line *line, const option_def *option, const char *text)
{
	option_list *list = option->out;
	char expected[64];
	if (list->count >= (int)option->max) {
		snprintf(expected, sizeof expected, "at most %d further arguments", (int)option->max);
		return refuse(line, option->value_name, expected, text);
	}
	list->items[list->count++] = text;
	return true;
}

static bool parse_value(const command_line *line, const option_def *option, const char *text)
{
	switch (option->kind) {
	case OPTION_INTEGER:
		return parse_integer(line, option, text);
	case OPTION_NUMBER:
		return parse_number(line, option, text);
	case OPTION_CHOICE:
		return parse_choice(line, option, text);
	case OPTION_TEXT:
	case OPTION_POSITIONAL:
	case OPTION_OPTIONAL:
		if (*text == '\0')
			return refuse(line, option->name, option->value_name, text);
		*(const char **)option->out = text;
		return true;
	case OPTION_MORE:
		return parse_more(line, option, text);
	case OPTION_FLAG:
		*(bool *)option->out = true;
		return true;
	}
	return false;
}

static const option_def *find_option(const command_line *line, const char *name, size_t length)
{
	for (const option_def *o = line->options; o->name; o++) {
		if (!positional(o) && strlen(o->name) == length && strncmp(o->name, name, length) == 0)
			return o;
	}
	return NULL;
}

// `argument` begins with two dashes and a name of `length` characters that no option has.
static bool refuse_unknown(const command_line *line, const char *argument, size_t length)
{
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
		 argument + 2);
	tac_suggestion suggestion = tac_suggestion_begin(name);
	for (const option_def *o = line->options; o->name; o++) {
		if (!positional(o))
			tac_suggestion_offer(&suggestion, o->name);
	}
	tac_suggestion_offer(&suggestion, "help");
	fprintf(stderr, "%s: option: expected one listed by --help, found '%s'", line->command, argument);
	if (suggestion.nearest)
		fprintf(stderr, "; did you mean '--%s'?", suggestion.nearest);
	fprintf(stderr, "\n");
	return false;
}

// --name, --name value or --name=value at argv[*i]; moves *i past the value.
static bool parse_option(const command_line *line, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2;
	size_t length = strcspn(name, "=");
	const char *value = name[length] == '=' ? name + length + 1 : NULL;
	const option_def *option = find_option(line, name, length);
	if (!option)
		return refuse_unknown(line, argv[*i], length);
	if (option->kind == OPTION_FLAG)
		return value ? refuse(line, option->name, "no value", value) : parse_value(line, option, "");
	if (!value && *i + 1 < argc)
		value = argv[++*i];
	if (!value)
		return refuse(line, option->name, option->value_name ? option->value_name : "a value", NULL);
	return parse_value(line, option, value);
}

static const option_def *next_positional(const option_def *from)
{
	while (from->name && !positional(from))
		from++;
	return from;
}

bool options_parse(const command_line *line, int argc, char **argv, int *out_exit)
{
	*out_exit = EXIT_BAD_INPUT;
	const option_def *next = next_positional(line->options);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			print_help(line);
			*out_exit = EXIT_SUCCESS;
			return false;
		}
		if (strncmp(argv[i], "--", 2) == 0) {
			if (!parse_option(line, argc, argv, &i))
				return false;
		} else if (next->name) {
			if (!parse_value(line, next, argv[i]))
				return false;
			if (next->kind != OPTION_MORE)
				next = next_positional(next + 1);
		} else {
			return refuse(line, "arguments", "no further argument", argv[i]);
		}
	}
	if (next->name && next->kind == OPTION_POSITIONAL)
		return refuse(line, next->value_name, "an argument", NULL);
	return true;
}

static bool same_file(const char *a, const char *b)
{
	struct stat status;
	const bool a_new = stat(a, &status) != 0, b_new = stat(b, &status) != 0;
	return a_new && b_new ? strcmp(a, b) == 0 : tac_output_same_file(a, b);
}

static bool is_stream(const char *path)
{
	return strcmp(path, "-") == 0;
}

bool options_files_differ(const char *command, const char *const *paths, int count)
{
	for (int i = 0; i < count; i++) {
		for (int k = 0; k < i; k++) {
			if (!paths[i] || !paths[k] || is_stream(paths[i]) != is_stream(paths[k]) ||
			    !same_file(paths[i], paths[k]))
				continue;
			fprintf(stderr,
				"%s: expected a file of its own for each input and output, found "
				"'%s' twice\n",
				command, paths[i]);
			return false;
		}
	}
	return true;
}
