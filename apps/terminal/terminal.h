// Terminal: what a person sees while the program works, on standard error. On a terminal a panel of a few
// lines is redrawn in place with one write, without clearing first, so nothing flickers; the lines are cut to
// the window, whatever its size is at the moment. Elsewhere (a file, a pipe, TERM=dumb) the same lines appear
// as plain text, more seldom. Nothing here may be called from the real-time thread.
#ifndef TAC_APPS_TERMINAL_H
#define TAC_APPS_TERMINAL_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERMINAL_LINES 8   // a panel has at most so many
#define TERMINAL_BYTES 512 // of a line, the end included

// The state of one panel; zero-initialised it is an empty one. One a process makes sense.
typedef struct terminal {
	bool opened;
	bool live;                  // a terminal that can be redrawn
	bool blocks;                // its character set has block elements
	int64_t next_ns;            // when the next update is due
	int64_t begin_ns;           // of the progress under way
	const char *work;           // what that is; the text stays the caller's
	int decile;                 // plain: the last tenth of it that was told
	int drawn;                  // lines on the screen
	int widths[TERMINAL_LINES]; // columns of each
} terminal;

// Whether an update is due: ten times a second on a terminal, once a second elsewhere. So a loop may ask at
// any rate, and gather its figures only when they will be seen.
bool terminal_due(terminal *t);

// Milliseconds until the next update is due, for whoever waits; 0: now.
int terminal_wait_ms(const terminal *t);

// Shows `text`, lines separated by '\n', in the place of what the panel showed. At most TERMINAL_LINES lines
// of TERMINAL_BYTES; the rest is cut. Elsewhere: appends the lines.
void terminal_show(terminal *t, const char *text);

// Shows how far `work` is, `fraction` in [0, 1], as a bar with the time that is left. Nothing is shown of
// work that is done within half a second, and updates that are not due cost nothing. Elsewhere: a line for
// each tenth, at most one a second. Call it with 1 at the end.
void terminal_progress(terminal *t, const char *work, double fraction);

// Shows, on a terminal only, that `step` (from 1) of `steps` of `work` begins, of which nobody knows how long
// it takes: `building 3 of 7`, a bar, its name. Remove it with terminal_clear when the last is done.
void terminal_step(terminal *t, const char *work, int step, int steps, const char *name);

// Removes the panel; what is printed next begins where it stood.
void terminal_clear(terminal *t);

// A sink for tac_log_set: "tactus: message" on standard error, in the place of the line where a panel ends.
void terminal_log(void *user, tac_log_level level, const char *message);

// A bar of `columns` characters (at most 64), `fraction` of them filled, ended by 0: eighths of a character
// where the terminal has block elements, '#' and '.' elsewhere. Returns `out`.
const char *terminal_bar(terminal *t, double fraction, int columns, char *out, size_t size);

#endif
