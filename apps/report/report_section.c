#include "apps/report/report_section.h"

#include "apps/report/plot.h"
#include "collision/solid.h"

#include <math.h>
#include <stdlib.h>

// Cells of a section along its longer side, at most, and the pixels of that side.
#define CELLS  180
#define PIXELS 480

// What a cell shows.
enum {
	OUTSIDE = -1,
	REMAINS = 0,
	REMOVED = TAC_FIELD_LABELS,
	SPARED = 2 * TAC_FIELD_LABELS,
	DAMAGED,
	CLASSES
};

typedef struct plane {
	const report_section *section;
	tac_solids solids[TAC_SCENE_PROTECTED];
	int32_t solids_count;
	tac_dvec3 origin, across; // of the lower left corner, and a unit vector to the right; up is z
	double cell_m;
	int columns, rows;
} plane;

static bool is_protected(const plane *p, tac_dvec3 x)
{
	for (int32_t i = 0; i < p->solids_count; i++) {
		for (int32_t k = 0; k < p->solids[i].count; k++) {
			const tac_solid *s = &p->solids[i].solid[k];
			const tac_dvec3 from = tac_dvec3_sub(x, s->position);
			const tac_dvec3 axis = tac_dmat3_column(s->rotation, 2);
			const double half = s->kind == TAC_SOLID_CAPSULE ? 0.5 * s->height : 0;
			const double along = fmin(fmax(tac_dvec3_dot(from, axis), -half), half);
			if (tac_dvec3_length(tac_dvec3_add_scaled(from, -along, axis)) < s->radius)
				return true;
		}
	}
	for (int32_t i = 0; i < TAC_SCENE_PROTECTED; i++) {
		const tac_clearance *clearance = p->section->body->structures[i].clearance;
		tac_clearance_search search = {.work = INT64_MAX};
		if (clearance && tac_clearance_contains(clearance, x, &search))
			return true;
	}
	return false;
}

static int class_at(const plane *p, int column, int row)
{
	const tac_dvec3 up = tac_dvec3_make(0, 0, (row + 0.5) * p->cell_m);
	const tac_dvec3 x =
		tac_dvec3_add(tac_dvec3_add_scaled(p->origin, (column + 0.5) * p->cell_m, p->across), up);
	const report_section *s = p->section;
	if (!(tac_field_sample(s->before, x) < 0))
		return OUTSIDE;
	const bool remains = tac_field_sample(s->after, x) < 0;
	if (is_protected(p, x))
		return remains ? SPARED : DAMAGED;
	return (remains ? REMAINS : REMOVED) + tac_field_label(s->before, x);
}

// The box of the body, and the middle of what was removed. False: nothing was.
static bool measure(const report_section *s, tac_dvec3 *low, tac_dvec3 *high, tac_dvec3 *middle)
{
	const tac_field_size size = tac_field_size_of(s->before);
	const double step = 2 * size.voxel_m;
	const int count[3] = {4 * size.bricks[0], 4 * size.bricks[1], 4 * size.bricks[2]};
	tac_dvec3 sum = tac_dvec3_zero();
	double removed = 0;
	*low = tac_dvec3_make(HUGE_VAL, HUGE_VAL, HUGE_VAL);
	*high = tac_dvec3_scale(*low, -1);
	for (int i = 0; i < count[0]; i++) {
		for (int j = 0; j < count[1]; j++) {
			for (int k = 0; k < count[2]; k++) {
				const tac_dvec3 x =
					tac_dvec3_add_scaled(size.origin_m, step, tac_dvec3_make(i, j, k));
				if (!(tac_field_sample(s->before, x) < 0))
					continue;
				*low = tac_dvec3_make(fmin(low->x, x.x), fmin(low->y, x.y),
						      fmin(low->z, x.z));
				*high = tac_dvec3_make(fmax(high->x, x.x), fmax(high->y, x.y),
						       fmax(high->z, x.z));
				if (tac_field_sample(s->after, x) < 0)
					continue;
				sum = tac_dvec3_add(sum, x);
				removed++;
			}
		}
	}
	*middle = tac_dvec3_scale(sum, removed > 0 ? 1 / removed : 0);
	return removed > 0;
}

static const char *name_of(const report_section *s, int class, char *out, size_t size)
{
	if (class >= SPARED)
		return class == DAMAGED ? "protected, removed" : "protected";
	const char *material = s->materials[class % TAC_FIELD_LABELS];
	snprintf(out, size, "%s%s", material, class >= REMOVED ? ", removed" : "");
	return out;
}

static void write_style(FILE *f, int class)
{
	static const int colours[TAC_FIELD_LABELS] = {0, 1, 2, 3, 4, 5, 7, 0};
	if (class >= SPARED)
		fprintf(f, "fill=\"var(--c6)\" fill-opacity=\"%s\"", class == DAMAGED ? "1" : "0.5");
	else
		fprintf(f, "fill=\"var(--c%d)\" fill-opacity=\"%s\"", colours[class % TAC_FIELD_LABELS],
			class >= REMOVED ? "0.13" : "0.6");
}

// A path for each class, of the runs of its cells.
static void write_cells(FILE *f, const plane *p, const int8_t *cells, double pixels, bool used[CLASSES])
{
	for (int class = 0; class < CLASSES; class ++) {
		bool any = false;
		for (int row = 0; row < p->rows; row++) {
			for (int column = 0; column < p->columns; column++) {
				const int8_t *line = &cells[row * p->columns];
				if (line[column] != class)
					continue;
				int end = column;
				while (end < p->columns && line[end] == class)
					end++;
				if (!any) {
					fputs("<path ", f);
					write_style(f, class);
					fputs(" d=\"", f);
				}
				any = used[class] = true;
				fprintf(f, "M%.1f %.1fh%.1fv%.1fh-%.1fz", column * pixels,
					(p->rows - 1 - row) * pixels, (end - column) * pixels, pixels + 0.05,
					(end - column) * pixels);
				column = end;
			}
		}
		if (any)
			fputs("\"/>\n", f);
	}
}

static void write_legend(FILE *f, const report_section *s, double top, const bool used[CLASSES])
{
	double x = 0, y = top;
	for (int class = 0; class < CLASSES; class ++) {
		char text[96];
		if (!used[class])
			continue;
		const char *name = name_of(s, class, text, sizeof text);
		fprintf(f, "<rect x=\"%.0f\" y=\"%.0f\" width=\"11\" height=\"11\" ", x, y);
		write_style(f, class);
		fprintf(f, "/><text x=\"%.0f\" y=\"%.0f\">", x + 16, y + 10);
		plot_write_escaped(f, name);
		fputs("</text>\n", f);
		x += 160;
		if (x > PIXELS - 150) {
			x = 0;
			y += 18;
		}
	}
}

static void write_plane(FILE *f, plane *p, const char *title)
{
	bool used[CLASSES] = {false};
	int8_t *cells = malloc((size_t)p->columns * (size_t)p->rows);
	if (!cells)
		return;
	for (int row = 0; row < p->rows; row++) {
		for (int column = 0; column < p->columns; column++)
			cells[row * p->columns + column] = (int8_t)class_at(p, column, row);
	}
	const double pixels = (double)PIXELS / CELLS, height = p->rows * pixels;
	// A bar of 1, 2 or 5 mm times a power of ten, a fifth of the width or less.
	const double fifth_mm = 0.2e3 * CELLS * p->cell_m, power = pow(10, floor(log10(fifth_mm)));
	const double bar_mm = power * (fifth_mm >= 5 * power ? 5 : fifth_mm >= 2 * power ? 2 : 1);
	const double bar = bar_mm / (1e3 * p->cell_m) * pixels;
	fprintf(f,
		"<figure>\n<svg class=\"plot\" viewBox=\"-16 -34 %d %.0f\" role=\"img\" aria-label=\"%s\">\n"
		"<text class=\"title\" x=\"0\" y=\"-14\">%s</text>\n",
		PIXELS + 32, height + 120, title, title);
	write_cells(f, p, cells, pixels, used);
	fprintf(f,
		"<rect x=\"0\" y=\"%.1f\" width=\"%.1f\" height=\"3\" fill=\"currentColor\"/>"
		"<text x=\"%.1f\" y=\"%.1f\">%g mm</text>\n",
		height + 10, bar, bar + 8, height + 16, bar_mm);
	write_legend(f, p->section, height + 30, used);
	fputs("</svg>\n</figure>\n", f);
	free(cells);
}

void report_section_write(FILE *file, const report_section *section)
{
	tac_dvec3 low, high, middle;
	if (!section->before || !section->after || !measure(section, &low, &high, &middle))
		return;
	const double h = 2 * tac_field_size_of(section->before).voxel_m;
	low = tac_dvec3_sub(low, tac_dvec3_make(h, h, h));
	high = tac_dvec3_add(high, tac_dvec3_make(h, h, h));
	plane p = {.section = section};
	for (int32_t i = 0; i < section->object->protect_count; i++) {
		const char *solids = section->object->protect[i].solids;
		p.solids_count += *solids && tac_solids_parse(solids, &p.solids[p.solids_count]) >= TAC_OK;
	}
	fputs("<h3>What was drilled</h3>\n<p>Two sections through the middle of what was removed.</p>\n"
	      "<div class=\"columns\">\n",
	      file);
	const tac_dvec3 size = tac_dvec3_sub(high, low);
	p.cell_m = fmax(fmax(size.x, size.y), size.z) / CELLS;
	p.rows = (int)ceil(size.z / p.cell_m);
	p.origin = tac_dvec3_make(low.x, middle.y, low.z);
	p.across = tac_dvec3_make(1, 0, 0);
	p.columns = (int)ceil(size.x / p.cell_m);
	write_plane(file, &p, "From the front: x to the right, z up");
	p.origin = tac_dvec3_make(middle.x, low.y, low.z);
	p.across = tac_dvec3_make(0, 1, 0);
	p.columns = (int)ceil(size.y / p.cell_m);
	write_plane(file, &p, "From the side: y to the right, z up");
	fputs("</div>\n", file);
}
