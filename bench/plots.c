// plots RESULTS DOCS: draws the figures of docs/ from the tables in bench/results. If a table is missing, its
// figure stays unchanged, with a message. `ninja -C build/release figures` runs this on the source folder;
// bench/results/README.md describes how each table was made.
#include "apps/report/plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 16
#define ROWS    8192
#define WORD    48

typedef struct table {
	int columns, rows;
	char names[COLUMNS][WORD];
	char (*cells)[COLUMNS][WORD];
} table;

static void split(char *line, char out[COLUMNS][WORD], int *out_count)
{
	*out_count = 0;
	line[strcspn(line, "\r\n")] = '\0';
	for (char *at = line; at && *out_count < COLUMNS; (*out_count)++) {
		char *end = strchr(at, ',');
		if (end)
			*end = '\0';
		snprintf(out[*out_count], WORD, "%s", at);
		at = end ? end + 1 : NULL;
	}
}

static bool load(const char *folder, const char *name, table *t)
{
	char path[1024], line[1024];
	snprintf(path, sizeof path, "%s/%s.csv", folder, name);
	FILE *file = fopen(path, "r");
	*t = (table){0};
	if (!file) {
		printf("%s: missing, its figure is unchanged\n", path);
		return false;
	}
	t->cells = calloc(ROWS, sizeof *t->cells);
	if (fgets(line, sizeof line, file))
		split(line, t->names, &t->columns);
	int cells;
	while (t->cells && t->rows < ROWS && fgets(line, sizeof line, file))
		split(line, t->cells[t->rows++], &cells);
	fclose(file);
	return t->cells && t->rows > 0;
}

// The index of a column; -1 after one line on stderr: there is none.
static int column(const table *t, const char *name)
{
	for (int i = 0; i < t->columns; i++)
		if (strcmp(t->names[i], name) == 0)
			return i;
	fprintf(stderr, "plots: expected a column %s, found none\n", name);
	return -1;
}

// How a figure is drawn from its table.
typedef struct figure {
	const char *file;       // in docs/, without extension
	const char *table;      // in bench/results, without extension
	const char *x, *y;      // columns
	double x_unit, y_unit;  // units of the columns, in units of the axes
	const char *series;     // column
	const char *where, *is; // rows whose column `where` is `is`; NULL: all
	bool x_log, y_log, dots;
	const char *title, *x_label, *x_axis_unit, *y_label, *y_axis_unit;
} figure;

static const figure figures[] = {
	{"growth", "growth", "triangles", "first_us", 1, 1e-6, "engine", NULL, NULL, true, true, true,
	 "First hit between two tori, mean of 48 poses", "triangles of each torus", "", "", "s"},
	{"growth-pairs", "growth", "triangles", "pairs_us", 1, 1e-6, "engine", NULL, NULL, true, true, true,
	 "All pairs between two tori, mean of 48 poses", "triangles of each torus", "", "", "s"},
	{"table1", "table1", "distance", "mean_us", 1, 1e-6, "engine", "mesh", "bunny", false, true, true,
	 "Tumbling bunny against another: mean time of a first hit by distance",
	 "distance of the centres in half sizes", NULL, "", "s"},
	{"ccd-triangles", "ccd", "x", "us", 1, 1e-6, "series", "table", "triangles", true, true, true,
	 "Ball against torus: translation of 1 mm and rotation of 1 degree, mean", "triangles of the torus",
	 "", "", "s"},
	{"ccd-length", "ccd", "x", "us", 1, 1e-6, "series", "table", "length", true, true, true,
	 "Ball against torus, 60,000 triangles each: 1 degree of rotation per mm",
	 "length of the translation", "m", "", "s"},
	{"zwidth", "zwidth", "damping_N_s_per_m", "stiffness_N_per_m", 1, 1, "series", NULL, NULL, false,
	 false, false, "Stiffest stable wall: a device of 0.1 kg at 1 kHz", "damping of the wall, N s/m",
	 NULL, "", "N/m"},
	{"peg", "peg", "device_mm", "beside_mm", 1, 1, "clearance_mm", NULL, NULL, false, false, false,
	 "Peg in hole: offset from the axis, by clearance in mm", "depth of the device, mm", NULL,
	 "offset from the axis, mm", NULL},
	{"peg-depth", "peg", "device_mm", "depth_mm", 1, 1, "clearance_mm", NULL, NULL, false, false, false,
	 "Peg in hole: depth of the peg, by clearance in mm", "depth of the device, mm", NULL,
	 "depth of the peg, mm", NULL},
	{"peg-force", "peg", "device_mm", "side_N", 1, 1, "clearance_mm", NULL, NULL, false, false, false,
	 "Peg in hole: force towards the axis, by clearance in mm", "depth of the device, mm", NULL, "", "N"},
	{"peg-axial", "peg", "device_mm", "axial_N", 1, 1, "clearance_mm", NULL, NULL, false, false, false,
	 "Peg in hole: force along the axis, by clearance in mm", "depth of the device, mm", NULL, "", "N"},
	{"peg-torque", "peg", "device_mm", "torque_Nm", 1, 1e3, "clearance_mm", NULL, NULL, false, false,
	 false, "Peg in hole: righting torque, by clearance in mm", "depth of the device, mm", NULL,
	 "torque, mNm", NULL},
	{"latency", "latency", "longer_than_ns", "part", 1e-9, 1, "series", NULL, NULL, true, true, false,
	 "Fraction of ticks that took longer: tactus latency, 1 kHz", "time", "s", "fraction of ticks", ""},
	{"viewer-cost", "viewer", "second", "p50_us", 1, 1e-6, "series", NULL, NULL, false, false, true,
	 "p50 of the tick in blocks of 1 s; the viewer draws in every second block", "block", NULL, "", "s"},
};

static bool is_selected(const table *t, const figure *f, int row)
{
	const int where = f->where ? column(t, f->where) : -1;
	return where < 0 || strcmp(t->cells[row][where], f->is) == 0;
}

// Lists the names of the series in order of appearance. Returns their count, at most PLOT_LEGEND_MAX.
static int list_series(const table *t, const figure *f, int series, const char **out)
{
	int count = 0;
	for (int row = 0; row < t->rows; row++) {
		bool listed = !is_selected(t, f, row);
		for (int i = 0; i < count; i++)
			listed |= strcmp(out[i], t->cells[row][series]) == 0;
		if (!listed && count < PLOT_LEGEND_MAX)
			out[count++] = t->cells[row][series];
	}
	return count;
}

// Copies x and y of the figure's rows, all of them or those of one series. Returns their count.
static int collect(const table *t, const figure *f, const char *series, double *xs, double *ys)
{
	const int x = column(t, f->x), y = column(t, f->y), s = column(t, f->series);
	int count = 0;
	for (int row = 0; row < t->rows; row++) {
		if (!is_selected(t, f, row) || (series && strcmp(t->cells[row][s], series) != 0))
			continue;
		xs[count] = f->x_unit * strtod(t->cells[row][x], NULL);
		ys[count++] = f->y_unit * strtod(t->cells[row][y], NULL);
	}
	return count;
}

static bool draw_lines(FILE *file, const table *t, const figure *f, double *xs, double *ys)
{
	int count = collect(t, f, NULL, xs, ys);
	plot_def def = plot_def_default();
	def.standalone = true;
	def.height = 340;
	def.title = f->title;
	def.x = plot_axis_fit(f->x_label, f->x_axis_unit, f->x_log, xs, count);
	def.y = plot_axis_fit(f->y_label, f->y_axis_unit, f->y_log, ys, count);
	const char *names[PLOT_LEGEND_MAX];
	const int name_count = list_series(t, f, column(t, f->series), names);
	plot p;
	plot_begin(&p, file, &def);
	for (int i = 0; i < name_count; i++) {
		count = collect(t, f, names[i], xs, ys);
		plot_line(&p, names[i], i, xs, ys, count);
		if (f->dots)
			plot_dots(&p, NULL, i, xs, ys, count, NULL);
	}
	return plot_end(&p);
}

static bool draw(const table *t, const figure *f, const char *folder)
{
	const bool columns = column(t, f->x) >= 0 && column(t, f->y) >= 0 && column(t, f->series) >= 0;
	double *xs = calloc(ROWS, sizeof *xs), *ys = calloc(ROWS, sizeof *ys);
	char path[1024];
	snprintf(path, sizeof path, "%s/%s.svg", folder, f->file);
	FILE *file = columns && xs && ys ? fopen(path, "w") : NULL;
	bool drawn = false;
	if (file) {
		drawn = draw_lines(file, t, f, xs, ys);
		drawn &= fclose(file) == 0;
	}
	free(xs);
	free(ys);
	printf("%s: %s\n", path, drawn ? "drawn" : "not drawn");
	return drawn;
}

// A row for each mesh, a dot for each engine.
static bool draw_peers(const table *t, const char *mode, const char *folder)
{
	const int mesh = column(t, "mesh"), engine = column(t, "engine"), mean = column(t, "mean_us"),
		  kind = column(t, "mode");
	if (mesh < 0 || engine < 0 || mean < 0 || kind < 0)
		return false;
	const figure rows = {.where = "mode", .is = mode};
	const char *meshes[PLOT_LEGEND_MAX], *engines[PLOT_LEGEND_MAX];
	const int mesh_count = list_series(t, &rows, mesh, meshes),
		  engine_count = list_series(t, &rows, engine, engines);
	double values[ROWS];
	int count = 0;
	for (int row = 0; row < t->rows; row++)
		if (is_selected(t, &rows, row))
			values[count++] = 1e-6 * strtod(t->cells[row][mean], NULL);
	char path[1024], title[96];
	snprintf(path, sizeof path, "%s/peers-%s.svg", folder, mode);
	snprintf(title, sizeof title, "Mesh against mesh, mean of 100 poses: %s",
		 strcmp(mode, "first") == 0 ? "first hit" : "all pairs of triangles");
	FILE *file = fopen(path, "w");
	if (!file)
		return false;
	plot_def def = plot_def_default();
	def.standalone = true;
	def.height = 110 + 44 * mesh_count;
	def.title = title;
	def.x = plot_axis_fit("time per query", "s", true, values, count);
	def.y = (plot_axis){
		.label = "", .names = meshes, .name_count = mesh_count, .min = -0.5, .max = mesh_count - 0.5};
	plot p;
	plot_begin(&p, file, &def);
	for (int e = 0; e < engine_count; e++) {
		double xs[PLOT_LEGEND_MAX], ys[PLOT_LEGEND_MAX];
		int n = 0;
		for (int row = 0; row < t->rows; row++) {
			if (!is_selected(t, &rows, row) || strcmp(t->cells[row][engine], engines[e]) != 0)
				continue;
			for (int m = 0; m < mesh_count && n < PLOT_LEGEND_MAX; m++) {
				if (strcmp(t->cells[row][mesh], meshes[m]) == 0) {
					xs[n] = 1e-6 * strtod(t->cells[row][mean], NULL);
					ys[n++] = m;
				}
			}
		}
		plot_dots(&p, engines[e], e, xs, ys, n, NULL);
	}
	bool drawn = plot_end(&p);
	drawn &= fclose(file) == 0;
	printf("%s: %s\n", path, drawn ? "drawn" : "not drawn");
	return drawn;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr,
			"plots: expected a folder of tables and a folder for figures, found %d arguments\n",
			argc - 1);
		return 2;
	}
	bool good = true;
	table t;
	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
		if (load(argv[1], figures[i].table, &t))
			good &= draw(&t, &figures[i], argv[2]);
		free(t.cells);
	}
	if (load(argv[1], "peers", &t)) {
		good &= draw_peers(&t, "first", argv[2]);
		good &= draw_peers(&t, "pairs", argv[2]);
	}
	free(t.cells);
	return good ? 0 : 1;
}
