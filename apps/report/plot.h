// Plot: diagrams as SVG, written to a file as they are drawn. Reports embed them; the pages in docs/ link
// them as files. Colours are CSS variables (apps/report/plot.css), so that the same drawing serves the light
// theme, the dark theme and paper.
//
// A plot begins with its axes; then marks are added in data units. Values outside the axes are clamped to the
// frame; values that are not finite leave a gap. On a logarithmic axis, values below the minimum are drawn at
// the minimum.
#ifndef TAC_APPS_REPORT_PLOT_H
#define TAC_APPS_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PLOT_COLOURS    8 // series colours, 0 … 7
#define PLOT_LEGEND_MAX 8
#define PLOT_RULES_MAX  8

typedef struct plot_axis {
	const char *label;
	const char *unit; // of the ticks' numbers, with an SI prefix: "s" gives 10 µs; NULL: no prefix
	double min, max;
	bool log;
	const char *const *names; // categories at 0, 1, … instead of numbers; NULL: numbers
	int name_count;
} plot_axis;

typedef struct plot_def {
	const char *title; // also for screen readers; NULL: none is drawn
	const char *id;    // of the svg element; NULL: none
	int width, height; // in CSS pixels
	plot_axis x, y;
	bool standalone; // an SVG file, with its style inside
} plot_def;

typedef struct plot {
	FILE *file;
	plot_def def;
	double left, right, top, bottom; // the frame
	struct {
		const char *name; // stays the caller's until plot_end
		int colour;
	} legend[PLOT_LEGEND_MAX];
	int legend_count;
	struct {
		double x; // of the line, in pixels
		char label[64];
	} rules[PLOT_RULES_MAX]; // vertical ones
	int rule_count;
} plot;

// 720 x 300, both axes linear from 0 to 1.
plot_def plot_def_default(void);

// An axis from the minimum to the maximum of `values`, widened to whole ticks (linear) or decades (log).
// Ignores values that are not finite and, on a log axis, values that are not positive.
plot_axis plot_axis_fit(const char *label, const char *unit, bool log, const double *values, int count);

// Writes the frame, the grid and the labels.
void plot_begin(plot *p, FILE *file, const plot_def *def);

// Writes the legend, the labels of vertical rules over all lines, and closes the svg element. False: the file
// has an error.
bool plot_end(plot *p);

// A line through the points. `name` is used until plot_end; NULL: not in the legend.
void plot_line(plot *p, const char *name, int colour, const double *x, const double *y, int count);

// The area between two lines.
void plot_band(plot *p, const char *name, int colour, const double *x, const double *low, const double *high,
	       int count);

// A dot for each point. `labels` (may be NULL) appear when the mouse is over a dot.
void plot_dots(plot *p, const char *name, int colour, const double *x, const double *y, int count,
	       const char *const *labels);

// Vertical bars of the given heights between edge i and edge i + 1 (count + 1 edges). Skips height 0.
void plot_histogram(plot *p, const char *name, int colour, const double *edges, const double *heights,
		    int count);

// A bar from the left axis to x along category y, `offset` and `thickness` as fractions of a category's
// height, with `label` (may be NULL) at its end.
void plot_bar(plot *p, int colour, double y, double offset, double thickness, double x, const char *label);

// A dashed line across the frame at x or y, with a label; of those at x the first PLOT_RULES_MAX have one.
void plot_rule_x(plot *p, double x, const char *label);
void plot_rule_y(plot *p, double y, const char *label);

// A text at a point; `anchor` is "start", "middle" or "end".
void plot_text(plot *p, double x, double y, const char *anchor, const char *text);

// "12 µs", "1.5 ms", "340": three significant digits with an SI prefix.
const char *plot_format_number(double value, const char *unit, char *out, size_t size);

// Writes text for HTML, XML and attribute values: & < > " ' are escaped.
void plot_write_escaped(FILE *file, const char *text);

#endif
