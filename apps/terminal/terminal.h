// Terminal: the live display on standard error. On a terminal, a panel of a few lines is redrawn in place
// with a single write and without clearing it first, so that it does not flicker; lines are cut to the
// current width of the window. Elsewhere (a file, a pipe, TERM=dumb) the same lines are printed as plain
// text, less often. Thread (all): any except RT.
#ifndef TAC_APPS_TERMINAL_TERMINAL_H
#define TAC_APPS_TERMINAL_TERMINAL_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERMINAL_LINES 8   // of a panel, at most
#define TERMINAL_BYTES 512 // of a line, including its end

// The state of a panel, empty when zero-initialised. A process shows at most one at a time.
typedef struct terminal {
	bool detected;              // the next two are set
	bool live;                  // the output is a terminal that can be redrawn
	bool blocks;                // the character set has block elements
	int64_t next_ns;            // when the next update is due
	int64_t begin_ns;           // of the current work
	const char *work;           // its name; the string stays the caller's
	int decile;                 // plain text: the last tenth that was printed
	int drawn;                  // lines on the screen
	int widths[TERMINAL_LINES]; // columns of each
} terminal;

// Whether an update is due: ten times a second on a terminal, once a second elsewhere. A loop may call it at
// any rate and compute its figures only when they will be shown.
bool terminal_due(terminal *t);

// Milliseconds until the next update is due; 0: now.
int terminal_wait_ms(const terminal *t);

// Replaces the content of the panel by `text`, whose lines are separated by '\n'. Text beyond TERMINAL_LINES
// lines or TERMINAL_BYTES of a line is cut. Elsewhere: appends the lines.
void terminal_show(terminal *t, const char *text);

// Shows the progress of `work`, `fraction` in [0, 1], as a bar with the remaining time. Work that takes less
// than half a second shows nothing, and updates that are not due cost nothing. Elsewhere: a line for each
// tenth, at most one a second. Call it with 1 at the end.
void terminal_progress(terminal *t, const char *work, double fraction);

// Shows, on a terminal only, that step `step` (from 1) of `steps` begins, for steps of unknown duration:
// `building 3 of 7`, a bar and the name. Call terminal_clear after the last.
void terminal_step(terminal *t, const char *work, int step, int steps, const char *name);

// Removes the panel. The next output begins in its place.
void terminal_clear(terminal *t);

// A sink for tac_log_set: prints "tactus: message" on standard error, over the last line of a panel.
void terminal_log(void *user, tac_log_level level, const char *message);

// Formats a bar of `columns` characters (at most 64) with `fraction` of it filled: in eighths of a character
// if the terminal has block elements, otherwise with '#' and '.'. Returns `out`.
const char *terminal_bar(terminal *t, double fraction, int columns, char *out, size_t size);

#endif
