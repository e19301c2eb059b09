#include "apps/terminal/terminal.h"

#include "rt/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LIVE_NS  (TAC_NS_PER_S / 10)
#define PLAIN_NS TAC_NS_PER_S
#define QUIET_NS (TAC_NS_PER_S / 2) // shorter work shows no bar

static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value = secure_getenv(names[i]);
		if (value && *value)
			return strstr(value, "UTF-8") || strstr(value, "utf8");
	}
	return false;
}

static void detect_once(terminal *t)
{
	if (t->detected)
		return;
	const char *term = secure_getenv("TERM");
	t->live = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
	t->blocks = t->live && locale_is_utf8();
	t->decile = -1;
	t->detected = true;
}

static int columns_now(void)
{
	struct winsize size;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

// Errors are ignored: a closed terminal or a full disk must not stop the measurement.
static void write_all(const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(STDERR_FILENO, bytes, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		bytes += written;
		size -= (size_t)written;
	}
}

bool terminal_due(terminal *t)
{
	detect_once(t);
	const int64_t now_ns = tac_clock_now_ns();
	if (t->next_ns == 0) // the first update comes after one interval, so short work shows nothing
		t->next_ns = now_ns + (t->live ? LIVE_NS : PLAIN_NS);
	if (now_ns < t->next_ns)
		return false;
	// Counted from now: after a stopped process continues, it does not print the lines it missed.
	t->next_ns = now_ns + (t->live ? LIVE_NS : PLAIN_NS);
	return true;
}

int terminal_wait_ms(const terminal *t)
{
	const int64_t left_ns = t->next_ns - tac_clock_now_ns();
	return left_ns > 0 ? (int)(left_ns / TAC_NS_PER_MS) + 1 : 0;
}

// Returns how many bytes of `line` fit into `columns`, and the columns they take. Every character counts as
// one column.
static size_t fit(const char *line, size_t length, int columns, int *out_width)
{
	int width = 0;
	size_t used = 0;
	while (used < length) {
		size_t end = used + 1;
		while (end < length && ((unsigned char)line[end] & 0xc0) == 0x80)
			end++;
		if (width == columns || end >= TERMINAL_BYTES)
			break;
		used = end;
		width++;
	}
	*out_width = width;
	return used;
}

// Moves the cursor to the first row of the panel. If the window has become narrower, lines were wrapped.
static size_t move_home(const terminal *t, int columns, char *out, size_t size)
{
	int rows = 0;
	for (int i = 0; i < t->drawn; i++)
		rows += t->widths[i] > columns ? (t->widths[i] + columns - 1) / columns : 1;
	if (rows > 1)
		return (size_t)snprintf(out, size, "\r\033[%dA", rows - 1);
	return (size_t)snprintf(out, size, "\r");
}

static void draw(terminal *t, const char *text)
{
	char out[TERMINAL_LINES * (TERMINAL_BYTES + 16) + 64];
	const int columns = columns_now();
	// The last column stays free: after a full row, terminals differ in where the cursor is.
	const int usable = columns > 1 ? columns - 1 : 1;
	size_t used = move_home(t, columns, out, sizeof out);
	int line = 0;
	while (line < TERMINAL_LINES && (*text || line == 0)) {
		const size_t length = strcspn(text, "\n");
		const size_t kept = fit(text, length, usable, &t->widths[line]);
		if (line > 0)
			out[used++] = '\n';
		memcpy(out + used, text, kept);
		used += kept;
		used += (size_t)snprintf(out + used, sizeof out - used, "\033[K");
		text += length + (text[length] == '\n');
		line++;
	}
	used += (size_t)snprintf(out + used, sizeof out - used,
				 "\033[J"); // erases old lines below
	t->drawn = line;
	write_all(out, used);
}

void terminal_show(terminal *t, const char *text)
{
	detect_once(t);
	if (t->live) {
		draw(t, text);
		return;
	}
	write_all(text, strlen(text));
	write_all("\n", 1);
}

void terminal_clear(terminal *t)
{
	if (t->drawn == 0)
		return;
	char out[64];
	size_t used = move_home(t, columns_now(), out, sizeof out);
	used += (size_t)snprintf(out + used, sizeof out - used, "\033[J");
	write_all(out, used);
	t->drawn = 0;
}

void terminal_log(void *user, tac_log_level level, const char *message)
{
	(void)user;
	terminal t = {0};
	detect_once(&t);
	fprintf(stderr, "%stactus: %s%s\n", t.live ? "\r\033[K" : "",
		level == TAC_LOG_WARNING ? "warning: " : "", message);
}

const char *terminal_bar(terminal *t, double fraction, int columns, char *out, size_t size)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
	detect_once(t);
	if (columns > 64)
		columns = 64;
	const int filled = (int)lround(fmin(fmax(fraction, 0), 1) * columns * 8); // in eighths; NaN: empty
	size_t used = 0;
	out[0] = '\0';
	for (int i = 0; i < columns; i++) {
		const int part = filled - 8 * i > 8 ? 8 : filled - 8 * i;
		const char *cell = part >= 4 ? "#" : ".";
		if (t->blocks)
			cell = part > 0 ? eighths[part] : " ";
		if (used + strlen(cell) + 1 > size)
			break;
		memcpy(out + used, cell, strlen(cell) + 1);
		used += strlen(cell);
	}
	return out;
}

void terminal_step(terminal *t, const char *work, int step, int steps, const char *name)
{
	char bar[256], line[TERMINAL_BYTES];
	detect_once(t);
	if (!t->live)
		return;
	snprintf(line, sizeof line, "%s %d of %d  %s%s%s  %s", work, step, steps, t->blocks ? "▕" : "[",
		 terminal_bar(t, (double)(step - 1) / steps, 20, bar, sizeof bar), t->blocks ? "▏" : "]",
		 name);
	terminal_show(t, line);
}

static void progress_line(terminal *t, double fraction, double elapsed_s)
{
	char bar[256], line[TERMINAL_BYTES];
	const double left_s = fraction > 0 ? elapsed_s * (1 - fraction) / fraction : HUGE_VAL;
	int used = snprintf(line, sizeof line, "%s  %s%s%s %3.0f %%", t->work, t->blocks ? "▕" : "[",
			    terminal_bar(t, fraction, 30, bar, sizeof bar), t->blocks ? "▏" : "]",
			    100 * fraction);
	if (left_s < 360000)
		snprintf(line + used, sizeof line - (size_t)used, "  %.0f s left", left_s);
	terminal_show(t, line);
}

void terminal_progress(terminal *t, const char *work, double fraction)
{
	const int64_t now_ns = tac_clock_now_ns();
	if (t->work != work) {
		t->work = work;
		t->begin_ns = now_ns;
		t->decile = -1;
		t->next_ns = now_ns + QUIET_NS;
	}
	if (fraction >= 1) {
		terminal_clear(t);
		t->work = NULL;
		t->next_ns = 0;
		return;
	}
	if (!terminal_due(t))
		return;
	const int decile = (int)(fraction * 10);
	if (!t->live && decile == t->decile)
		return;
	t->decile = decile;
	progress_line(t, fraction, (double)(now_ns - t->begin_ns) / 1e9);
}
