#include "apps/report/plot.h"

#include "apps/report/plot.css.h"

#include <math.h>
#include <string.h>

#define TICKS_TARGET 5
#define LETTER_WIDTH 6.9  // CSS pixels of a character at 12 px, in a wide typeface
#define WIDE_LETTER  11.7 // of an m or w

static double text_width(const char *text)
{
	double width = 0;
	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) != 0x80) // not the continuation of a UTF-8 character
			width += strchr("mwMW", *text) ? WIDE_LETTER : LETTER_WIDTH;
	}
	return width;
}

plot_def plot_def_default(void)
{
	const plot_axis unit = {.label = "", .unit = "", .min = 0, .max = 1};
	return (plot_def){.width = 720, .height = 300, .x = unit, .y = unit};
}

void plot_write_escaped(FILE *file, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		case '\'':
			fputs("&#39;", file);
			break;
		default:
			fputc(*text, file);
		}
	}
}

const char *plot_format_number(double value, const char *unit, char *out, size_t size)
{
	static const char *const prefixes[] = {"p", "n", "µ", "m", "", "k", "M", "G", "T"};
	value += 0.0; // no -0
	if (!unit || value == 0 || !isfinite(value) || (*unit == '\0' && fabs(value) < 1)) {
		snprintf(out, size, "%.4g%s%s", value, unit && *unit ? " " : "", unit && *unit ? unit : "");
		return out;
	}
	// Rounded to three digits first, so that 999.9 µs becomes 1 ms.
	char rounded[32];
	snprintf(rounded, sizeof rounded, "%.2e", value);
	sscanf(rounded, "%lf", &value);
	int step = (int)floor(log10(fabs(value)) / 3 + 1e-9);
	step = step < -4 ? -4 : step > 4 ? 4 : step;
	const char *prefix = prefixes[step + 4];
	snprintf(out, size, "%.3g%s%s%s", value / pow(1000, step), *prefix || *unit ? " " : "", prefix, unit);
	return out;
}

// ---- axes ----

// 1, 2 or 5 times a power of ten.
static double nice_step(double span)
{
	if (!(span > 0))
		return 1;
	const double raw = span / TICKS_TARGET;
	const double power = pow(10, floor(log10(raw)));
	const double lead = raw / power;
	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

plot_axis plot_axis_fit(const char *label, const char *unit, bool log, const double *values, int count)
{
	double low = HUGE_VAL, high = -HUGE_VAL;
	for (int i = 0; i < count; i++) {
		if (isfinite(values[i]) && (!log || values[i] > 0)) {
			low = fmin(low, values[i]);
			high = fmax(high, values[i]);
		}
	}
	plot_axis axis = {.label = label, .unit = unit, .log = log};
	if (low > high) {
		low = log ? 1 : 0;
		high = log ? 10 : 1;
	}
	if (log) {
		axis.min = pow(10, floor(log10(low) + 1e-9));
		axis.max = pow(10, ceil(log10(high) - 1e-9));
		if (axis.max <= axis.min)
			axis.max = 10 * axis.min;
	} else {
		const double step = nice_step(high > low ? high - low : fabs(high));
		axis.min = step * floor(low / step + 1e-9);
		axis.max = step * ceil(high / step - 1e-9);
		if (axis.max <= axis.min)
			axis.max = axis.min + step;
	}
	return axis;
}

static double position_on(const plot_axis *axis, double value, double begin, double end)
{
	double fraction;
	if (axis->log)
		fraction = value > axis->min ? log(value / axis->min) / log(axis->max / axis->min) : 0;
	else
		fraction = (value - axis->min) / (axis->max - axis->min);
	return begin + fmin(fmax(fraction, 0), 1) * (end - begin);
}

static double to_x(const plot *p, double value)
{
	return position_on(&p->def.x, value, p->left, p->right);
}

static double to_y(const plot *p, double value)
{
	return position_on(&p->def.y, value, p->bottom, p->top);
}

static void text_at(const plot *p, const char *kind, const char *anchor, double x, double y, const char *text)
{
	fprintf(p->file, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", kind, anchor, x, y);
	plot_write_escaped(p->file, text);
	fputs("</text>\n", p->file);
}

static void grid_line(const plot *p, bool horizontal, double at, const char *kind)
{
	if (horizontal)
		fprintf(p->file, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
			kind, p->left, p->right, at, at);
	else
		fprintf(p->file, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
			kind, at, at, p->top, p->bottom);
}

static void tick(const plot *p, bool horizontal, double value, const char *text)
{
	const double at = horizontal ? to_y(p, value) : to_x(p, value);
	grid_line(p, horizontal, at, "grid");
	if (horizontal) {
		text_at(p, "tick", "end", p->left - 7, at + 4, text);
	} else { // a long text at the right end stays inside the picture
		const double half = 0.5 * text_width(text);
		text_at(p, "tick", "middle", fmin(at, p->def.width - half), p->bottom + 17, text);
	}
}

static void log_ticks(const plot *p, bool horizontal, const plot_axis *axis)
{
	const int first = (int)lround(log10(axis->min)), last = (int)lround(log10(axis->max));
	const int every = last - first > 9 ? 2 : 1;
	for (int decade = first; decade <= last; decade++) {
		char text[48];
		if ((decade - first) % every == 0)
			tick(p, horizontal, pow(10, decade),
			     plot_format_number(pow(10, decade), axis->unit, text, sizeof text));
		for (int i = 2; i < 10 && decade < last && last - first <= 5; i++) {
			const double value = i * pow(10, decade);
			grid_line(p, horizontal, horizontal ? to_y(p, value) : to_x(p, value), "minor");
		}
	}
}

static void ticks(const plot *p, bool horizontal, const plot_axis *axis)
{
	char text[48];
	if (axis->names) {
		for (int i = 0; i < axis->name_count; i++)
			tick(p, horizontal, i, axis->names[i]);
	} else if (axis->log) {
		log_ticks(p, horizontal, axis);
	} else {
		const double step = nice_step(axis->max - axis->min);
		const double first = ceil(axis->min / step - 1e-9) + 0.0; // no -0
		for (double i = first; i * step <= axis->max + 1e-9 * step; i++)
			tick(p, horizontal, i * step,
			     plot_format_number(i * step, axis->unit, text, sizeof text));
	}
}

static double left_margin(const plot_axis *y)
{
	char text[48];
	const double step = y->log ? 0 : nice_step(y->max - y->min);
	const double ends[] = {y->min, y->max, y->max - step, y->min + step, y->log ? y->max / 10 : 0};
	double widest = 4 * LETTER_WIDTH;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0] && !y->names; i++)
		widest = fmax(widest, text_width(plot_format_number(ends[i], y->unit, text, sizeof text)));
	for (int i = 0; y->names && i < y->name_count; i++)
		widest = fmax(widest, text_width(y->names[i]));
	return 14 + widest + (*y->label ? 16 : 0);
}

void plot_begin(plot *p, FILE *file, const plot_def *def)
{
	*p = (plot){.file = file, .def = *def};
	p->left = left_margin(&def->y);
	p->right = def->width - 18;
	p->top = (def->title ? 34 : 12) + 20; // a row for the legend
	p->bottom = def->height - 26 - (*def->x.label ? 18 : 0);
	fprintf(file, "<svg class=\"plot\"%s role=\"img\" viewBox=\"0 0 %d %d\"",
		def->standalone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", def->width, def->height);
	if (def->standalone)
		fprintf(file, " width=\"%d\" height=\"%d\"", def->width, def->height);
	if (def->id)
		fprintf(file, " id=\"%s\"", def->id);
	fputs(" aria-label=\"", file);
	plot_write_escaped(file, def->title ? def->title : def->y.label);
	fputs("\">\n", file);
	if (def->standalone) {
		fprintf(file, "<style>%.*s</style>\n", (int)sizeof plot_css, (const char *)plot_css);
		fputs("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", file);
	}
	if (def->title)
		text_at(p, "title", "start", 14, 24, def->title);
	ticks(p, false, &def->x);
	ticks(p, true, &def->y);
	if (*def->x.label)
		text_at(p, "label", "middle", (p->left + p->right) / 2, def->height - 8, def->x.label);
	if (*def->y.label) {
		const double middle = (p->top + p->bottom) / 2;
		fprintf(file,
			"<text class=\"label\" text-anchor=\"middle\" "
			"transform=\"translate(14 %.1f) rotate(-90)\">",
			middle);
		plot_write_escaped(file, def->y.label);
		fputs("</text>\n", file);
	}
}

// One below the other; near the right end of the frame they lie to the left of their lines.
static void label_rules(const plot *p)
{
	for (int i = 0; i < p->rule_count; i++) {
		const double at = p->rules[i].x;
		const bool left = at > (p->left + 3 * p->right) / 4;
		text_at(p, "rule-label", left ? "end" : "start", at + (left ? -4 : 4),
			p->top + 12 + 14 * (i % 4), p->rules[i].label);
	}
}

bool plot_end(plot *p)
{
	label_rules(p);
	fprintf(p->file, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
		p->left, p->top, p->right - p->left, p->bottom - p->top);
	double x = p->left;
	for (int i = 0; i < p->legend_count; i++) {
		fprintf(p->file,
			"<rect class=\"f%d\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"8\" rx=\"2\"/>\n",
			p->legend[i].colour, x, p->top - 17);
		text_at(p, "key", "start", x + 17, p->top - 9, p->legend[i].name);
		x += 34 + text_width(p->legend[i].name);
	}
	fputs("</svg>\n", p->file);
	return !ferror(p->file);
}

// ---- marks ----

static void add_to_legend(plot *p, const char *name, int colour)
{
	if (name && p->legend_count < PLOT_LEGEND_MAX) {
		p->legend[p->legend_count].name = name;
		p->legend[p->legend_count++].colour = colour;
	}
}

void plot_line(plot *p, const char *name, int colour, const double *x, const double *y, int count)
{
	add_to_legend(p, name, colour);
	fprintf(p->file, "<path class=\"line s%d\" d=\"", colour);
	bool pen_down = false;
	for (int i = 0; i < count; i++) {
		const bool valid = isfinite(x[i]) && isfinite(y[i]);
		if (valid)
			fprintf(p->file, "%c%.1f %.1f", pen_down ? 'L' : 'M', to_x(p, x[i]), to_y(p, y[i]));
		pen_down = valid;
	}
	fputs("\"/>\n", p->file);
}

void plot_band(plot *p, const char *name, int colour, const double *x, const double *low, const double *high,
	       int count)
{
	add_to_legend(p, name, colour);
	fprintf(p->file, "<path class=\"band f%d\" d=\"", colour);
	for (int i = 0; i < count; i++)
		fprintf(p->file, "%c%.1f %.1f", i ? 'L' : 'M', to_x(p, x[i]), to_y(p, high[i]));
	for (int i = count - 1; i >= 0; i--)
		fprintf(p->file, "L%.1f %.1f", to_x(p, x[i]), to_y(p, low[i]));
	fputs("Z\"/>\n", p->file);
}

void plot_dots(plot *p, const char *name, int colour, const double *x, const double *y, int count,
	       const char *const *labels)
{
	add_to_legend(p, name, colour);
	for (int i = 0; i < count; i++) {
		if (!isfinite(x[i]) || !isfinite(y[i]))
			continue;
		fprintf(p->file, "<circle class=\"dot f%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\">", colour,
			to_x(p, x[i]), to_y(p, y[i]));
		if (labels && labels[i]) {
			fputs("<title>", p->file);
			plot_write_escaped(p->file, labels[i]);
			fputs("</title>", p->file);
		}
		fputs("</circle>\n", p->file);
	}
}

void plot_histogram(plot *p, const char *name, int colour, const double *edges, const double *heights,
		    int count)
{
	add_to_legend(p, name, colour);
	for (int i = 0; i < count; i++) {
		if (!(heights[i] > 0))
			continue;
		const double x0 = to_x(p, edges[i]), x1 = to_x(p, edges[i + 1]);
		// On a log axis a count of one has height 0; draw at least 2 pixels.
		const double y0 = fmin(to_y(p, heights[i]), p->bottom - 2);
		char low[48], high[48];
		fprintf(p->file,
			"<rect class=\"bar f%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\">"
			"<title>%s to %s: %.10g</title></rect>\n",
			colour, x0, y0, fmax(x1 - x0 - 0.4, 0.6), p->bottom - y0,
			plot_format_number(edges[i], p->def.x.unit, low, sizeof low),
			plot_format_number(edges[i + 1], p->def.x.unit, high, sizeof high), heights[i]);
	}
}

void plot_bar(plot *p, int colour, double y, double offset, double thickness, double x, const char *label)
{
	const double row = (p->bottom - p->top) / (p->def.y.max - p->def.y.min);
	const double middle = to_y(p, y) + offset * row, end = to_x(p, x);
	fprintf(p->file,
		"<rect class=\"bar f%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"/>\n",
		colour, p->left, middle - thickness * row / 2, fmax(end - p->left, 1), thickness * row);
	if (label)
		text_at(p, "key", "start", end + 6, middle + 4, label);
}

void plot_rule_x(plot *p, double x, const char *label)
{
	const double at = to_x(p, x);
	grid_line(p, false, at, "rule");
	if (p->rule_count == PLOT_RULES_MAX)
		return;
	p->rules[p->rule_count].x = at;
	snprintf(p->rules[p->rule_count++].label, sizeof p->rules[0].label, "%s", label);
}

void plot_rule_y(plot *p, double y, const char *label)
{
	const double at = to_y(p, y);
	grid_line(p, true, at, "rule");
	text_at(p, "rule-label", "end", p->right - 4, at - 4, label);
}

void plot_text(plot *p, double x, double y, const char *anchor, const char *text)
{
	text_at(p, "rule-label", anchor, to_x(p, x), to_y(p, y), text);
}
