// tactus sweep A B --motions M: continuous collision queries. Each line of M is a translation of B followed
// by a rotation; the result is the fraction of each that B can move before it touches A.
#include "apps/commands/commands.h"
#include "apps/session/number_file.h"
#include "apps/session/options.h"
#include "apps/terminal/terminal.h"
#include "base/output.h"
#include "collision/sweep_shape.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The 12 numbers of the pose, then translation, axis and angle.
#define MOTION_NUMBERS 19

typedef struct settings {
	const char *a, *b, *motions, *csv; // csv: NULL is standard output
	double zone;
} settings;

// 1: a motion; 0: the end of the file; -1 after one line: bad input.
static int read_motion(number_file *f, tac_sweep_motion *out_motion)
{
	double n[MOTION_NUMBERS];
	const int read = number_file_next(f, n);
	if (read > 0) {
		out_motion->T.R =
			tac_dmat3_from_rows(tac_dvec3_load(n), tac_dvec3_load(n + 3), tac_dvec3_load(n + 6));
		out_motion->T.t = tac_dvec3_load(n + 9);
		out_motion->v = tac_dvec3_load(n + 12);
		out_motion->axis = tac_dvec3_load(n + 15);
		out_motion->angle = n[18];
	}
	return read;
}

static void sweep_motion(FILE *out, int index, const tac_sweep_shape *a, const tac_sweep_shape *b,
			 const tac_sweep_motion *m, const tac_sweep_options *options,
			 tac_sweep_context *context)
{
	const int64_t start_ns = tac_clock_now_ns();
	const tac_sweep_moved moved = tac_sweep_shape_move(a, b, m, options, context);
	const int64_t ns = tac_clock_now_ns() - start_ns;
	const tac_sweep_result *c = &moved.contact;
	fprintf(out, "%d,%.17g,%.17g,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%lld\n", index, moved.translation,
		moved.rotation, tac_sweep_contact_name(c), c->point.x, c->point.y, c->point.z, c->normal.x,
		c->normal.y, c->normal.z, (long long)ns);
}

// Writes a row for each motion. Returns the exit code.
static int sweep_file(number_file *motions, FILE *out, const tac_sweep_shape *a, const tac_sweep_shape *b,
		      double zone)
{
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = zone;
	tac_sweep_context *context;
	if (tac_sweep_context_create(&context) != TAC_OK)
		return EXIT_FAILURE;
	tac_sweep_motion m;
	int read, index = 0;
	fprintf(out, "motion,f_translation,f_rotation,kind,px,py,pz,nx,ny,nz,ns\n");
	while ((read = read_motion(motions, &m)) > 0)
		sweep_motion(out, index++, a, b, &m, &options, context);
	tac_sweep_context_destroy(&context);
	return read < 0 ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

static bool load_shapes(const settings *s, tac_sweep_shape **a, tac_sweep_shape **b)
{
	terminal t = {0};
	terminal_step(&t, "building", 1, 2, s->a);
	bool good = tac_sweep_shape_load(s->a, false, a) >= TAC_OK;
	if (good) {
		terminal_step(&t, "building", 2, 2, s->b);
		good = tac_sweep_shape_load(s->b, true, b) >= TAC_OK;
	}
	terminal_clear(&t);
	return good;
}

// Sweeps every motion of the file. Returns the exit code.
static int write_table(const settings *s, number_file *motions, const tac_sweep_shape *a,
		       const tac_sweep_shape *b)
{
	tac_output *output;
	if (tac_output_create(s->csv ? s->csv : "-", "tactus sweep", &output) < TAC_OK)
		return EXIT_FAILURE;
	int code = sweep_file(motions, tac_output_file(output), a, b, s->zone);
	if (code == EXIT_SUCCESS && tac_output_commit(&output) < TAC_OK)
		code = EXIT_FAILURE;
	tac_output_discard(&output);
	return code;
}

static int run(const settings *s)
{
	const number_file_def def = {
		.command = "tactus sweep",
		.path = s->motions,
		.content = "motions",
		.form = "19 numbers",
		.count = MOTION_NUMBERS,
	};
	number_file motions;
	tac_sweep_shape *a = NULL, *b = NULL;
	int code = EXIT_BAD_INPUT;
	if (number_file_open(&def, &motions) && load_shapes(s, &a, &b))
		code = write_table(s, &motions, a, b);
	number_file_close(&motions);
	tac_sweep_shape_destroy(&a);
	tac_sweep_shape_destroy(&b);
	return code;
}

int cmd_sweep(int argc, char **argv)
{
	settings s = {.zone = TAC_SWEEP_ZONE};
	const option_def options[] = {
		{"A", OPTION_POSITIONAL, &s.a, 0, 0, NULL, "A",
		 "the fixed body: a mesh file, or solids such as sphere:r=0.01 (see `tactus query`)"},
		{"B", OPTION_POSITIONAL, &s.b, 0, 0, NULL, "B",
		 "the moving body, in the same form; spheres and capsules are exact, other solids are "
		 "meshed"},
		{"motions", OPTION_TEXT, &s.motions, 0, 0, NULL, "FILE",
		 "19 numbers a line: B's pose in A (R by rows, then t), translation, axis, angle in rad"},
		{"csv", OPTION_TEXT, &s.csv, 0, 0, NULL, "FILE",
		 "write the table to this file (default: standard output)"},
		{"zone", OPTION_NUMBER, &s.zone, 0, 1, NULL, "M",
		 "distance from A in m at which B stops; 0: at the first touch"},
		{0},
	};
	const command_line line = {
		"tactus sweep",
		"compute how far B can translate, and then rotate about its origin, before "
		"it touches A",
		options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (!s.motions) {
		fprintf(stderr, "tactus sweep: motions: expected --motions FILE, found nothing\n");
		return EXIT_BAD_INPUT;
	}
	return run(&s);
}
