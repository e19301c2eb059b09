// Options: the command line of a subcommand as a table. The table drives parsing, range checks, --help and
// the error line for bad input.
#ifndef TAC_APPS_SESSION_OPTIONS_H
#define TAC_APPS_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

// Exit codes of the command.
#define EXIT_BAD_INPUT 2

typedef enum option_kind {
	OPTION_FLAG,       // bool *
	OPTION_INTEGER,    // int64_t *, in [min, max]
	OPTION_NUMBER,     // double *, in [min, max]; a default of NAN is described by the help text
	OPTION_TEXT,       // const char **, not empty
	OPTION_CHOICE,     // int *, the index of the word in `choices`
	OPTION_POSITIONAL, // const char **, in the order of the table; required
	OPTION_OPTIONAL,   // the same, but optional; after the required ones
	OPTION_MORE,       // option_list *, all further arguments, at most `max`; the last of the table's
} option_kind;

typedef struct option_list {
	const char **items; // room for option_def.max
	int count;
} option_list;

typedef struct option_def {
	const char *name; // without dashes
	option_kind kind;
	void *out; // holds the default until the option is parsed
	double min, max;
	const char *const *choices; // ends with NULL
	const char *value_name;     // as --help shows it: "HZ", "FILE"
	const char *help;
} option_def;

typedef struct command_line {
	const char *command;       // "tactus latency"
	const char *summary;       // one line
	const option_def *options; // ends with a NULL name
} command_line;

// Parses argv[1 … argc-1]. False: exit with *out_exit, which is 0 after --help, or EXIT_BAD_INPUT after one
// line on stderr that states what was expected and what was found.
bool options_parse(const command_line *line, int argc, char **argv, int *out_exit);

// Whether no two of `count` paths name the same file, so that no output replaces an input or another output.
// NULL, - and devices are allowed. False after one line on stderr.
bool options_files_differ(const char *command, const char *const *paths, int count);

#endif
