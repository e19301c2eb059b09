// tactus sweep A B --motions M: continuous collision queries. Each line of M is a translation of B followed
// by a rotation; the result is the fraction of each that B can move before it touches A.
#include "collision/sweep.h"
#include "apps/commands/commands.h"
#include "apps/session/number_file.h"
#include "apps/session/options.h"
#include "apps/terminal/terminal.h"
#include "base/output.h"
#include "collision/mesh_load.h"
#include "collision/round.h"
#include "collision/solid.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The 12 numbers of the pose, then translation, axis and angle.
#define MOTION_NUMBERS 19

// Segments around a solid that is converted to a mesh, which then lies up to 3e-4 of the radius inside it.
#define SEGMENTS 128

typedef struct settings {
	const char *a, *b, *motions, *csv; // csv: NULL is standard output
	double zone;
} settings;

// One of the two shapes. A moving sphere or capsule is exact; everything else is a mesh.
typedef struct operand {
	tac_mesh *mesh;
	tac_body *body;
	bool is_round;
	tac_round tool; // at the identity
} operand;

typedef struct motion {
	tac_drigid T;
	tac_dvec3 v, axis;
	double angle;
} motion;

// 1: a motion; 0: the end of the file; -1 after one line: bad input.
static int read_motion(number_file *f, motion *out_motion)
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

static const char *kind_name(const tac_sweep_result *r)
{
	static const char *const names[] = {"none", "vertex-face", "face-vertex", "edge-edge"};
	if (r->flags & TAC_SWEEP_REFUSED)
		return "refused";
	if (r->flags & TAC_SWEEP_START_HIT)
		return "start";
	return names[r->kind];
}

static tac_round round_at(const tac_round *tool, const tac_drigid *T)
{
	tac_round moved = {tac_dvec3_add(tac_dmat3_apply(T->R, tool->a), T->t),
			   tac_dvec3_add(tac_dmat3_apply(T->R, tool->b), T->t), tool->radius};
	return moved;
}

static tac_sweep_result translate(const operand *a, const operand *b, const motion *m,
				  const tac_sweep_options *options, tac_sweep_context *context)
{
	if (!b->is_round)
		return tac_sweep_translate(b->body, a->body, &m->T, m->v, options, context);
	tac_round tool = round_at(&b->tool, &m->T);
	return tac_round_translate(&tool, a->body, m->v, options, NULL);
}

static tac_sweep_result rotate(const operand *a, const operand *b, const tac_drigid *T, const motion *m,
			       const tac_sweep_options *options, tac_sweep_context *context)
{
	if (!b->is_round)
		return tac_sweep_rotate(b->body, a->body, T, T->t, m->axis, m->angle, options, context);
	tac_round tool = round_at(&b->tool, T);
	return tac_round_rotate(&tool, a->body, T->t, m->axis, m->angle, options);
}

static void sweep_motion(FILE *out, int index, const operand *a, const operand *b, const motion *m,
			 const tac_sweep_options *options, tac_sweep_context *context)
{
	int64_t start_ns = tac_clock_now_ns();
	tac_sweep_result t = translate(a, b, m, options, context), r = t;
	if (!(t.flags & (TAC_SWEEP_REFUSED | TAC_SWEEP_START_HIT))) {
		tac_drigid T = tac_sweep_translated(&m->T, m->v, t.fraction);
		r = rotate(a, b, &T, m, options, context);
	}
	int64_t ns = tac_clock_now_ns() - start_ns;
	// If the translation was stopped, its contact is the one reported.
	const tac_sweep_result *reported = t.fraction < 1 && !(r.flags & TAC_SWEEP_REFUSED) ? &t : &r;
	fprintf(out, "%d,%.17g,%.17g,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%lld\n", index, t.fraction,
		r.fraction, kind_name(reported), reported->point.x, reported->point.y, reported->point.z,
		reported->normal.x, reported->normal.y, reported->normal.z, (long long)ns);
}

static bool operand_build(const char *text, bool moving, operand *out)
{
	if (tac_solids_is_description(text)) {
		tac_solids solids;
		if (tac_solids_parse(text, &solids) < 0)
			return false;
		const tac_solid *one = &solids.solid[0];
		out->is_round = moving && solids.count == 1 &&
				(one->kind == TAC_SOLID_SPHERE || one->kind == TAC_SOLID_CAPSULE);
		if (out->is_round) {
			double half = one->kind == TAC_SOLID_CAPSULE ? one->height / 2 : 0;
			tac_dvec3 along = tac_dmat3_apply(one->rotation, tac_dvec3_make(0, 0, half));
			out->tool = (tac_round){tac_dvec3_sub(one->position, along),
						tac_dvec3_add(one->position, along), one->radius};
			return true;
		}
		if (tac_solids_build_mesh(&solids, SEGMENTS, &out->mesh) < 0)
			return false;
	} else if (tac_mesh_load(text, NULL, &out->mesh) < 0) {
		return false;
	}
	tac_body_def def = tac_body_def_default();
	def.mesh = out->mesh;
	return tac_body_build(&def, &out->body) >= 0;
}

static void operand_fini(operand *o)
{
	tac_body_destroy(&o->body);
	tac_mesh_destroy(&o->mesh);
}

// Writes a row for each motion. Returns the exit code.
static int sweep_file(number_file *motions, FILE *out, const operand *a, const operand *b, double zone)
{
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = zone;
	tac_sweep_context *context;
	if (tac_sweep_context_create(&context) != TAC_OK)
		return EXIT_FAILURE;
	motion m;
	int read, index = 0;
	fprintf(out, "motion,f_translation,f_rotation,kind,px,py,pz,nx,ny,nz,ns\n");
	while ((read = read_motion(motions, &m)) > 0)
		sweep_motion(out, index++, a, b, &m, &options, context);
	tac_sweep_context_destroy(&context);
	return read < 0 ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

static bool build_operands(const settings *s, operand *a, operand *b)
{
	terminal t = {0};
	terminal_step(&t, "building", 1, 2, s->a);
	bool good = operand_build(s->a, false, a);
	if (good) {
		terminal_step(&t, "building", 2, 2, s->b);
		good = operand_build(s->b, true, b);
	}
	terminal_clear(&t);
	return good;
}

// Sweeps every motion of the file. Returns the exit code.
static int write_table(const settings *s, number_file *motions, const operand *a, const operand *b)
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
	operand a = {0}, b = {0};
	int code = EXIT_BAD_INPUT;
	if (number_file_open(&def, &motions) && build_operands(s, &a, &b))
		code = write_table(s, &motions, &a, &b);
	number_file_close(&motions);
	operand_fini(&a);
	operand_fini(&b);
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
