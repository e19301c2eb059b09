// Standard output: a run prints its summary there. A file named "-" gets it alone, and the summary goes to
// the standard error.
#ifndef TAC_APPS_SESSION_STANDARD_OUTPUT_H
#define TAC_APPS_SESSION_STANDARD_OUTPUT_H

#include <stdbool.h>

// A file that an option names.
typedef struct output_option {
	const char *name; // of the option
	const char *path; // NULL: not asked for
	bool whole;       // written after the run, so that it may be "-"
} output_option;

// Finds out whether a file is "-". False after one line on stderr: it is written during the run, or
// `json` already puts the summary there. Thread: setup.
bool standard_output_wanted(const char *command, const output_option *files, int count, bool json,
			    bool *out_wanted);

// From here on, what is printed to stdout goes to stderr. Returns what standard_output_give_back needs.
// Thread: setup.
int standard_output_lend(void);

// Thread: setup.
void standard_output_give_back(int lent);

#endif
