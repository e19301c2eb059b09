// tactus sweep A B --motions M: how far B can move before it touches A, a translation and then a rotation a
// line.
#include "apps/commands.h"
#include "apps/options.h"
#include "apps/terminal.h"
#include "base/log.h"
#include "collision/ccd.h"
#include "collision/ccd_round.h"
#include "collision/mesh_load.h"
#include "collision/shape.h"
#include "rt/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The 12 numbers of the pose, then translation, axis and angle.
#define MOTION_NUMBERS 19
#define LINE_MAX       4096

// Around a solid that is meshed: its mesh lies inside of it by 3e-4 of its radius.
#define SEGMENTS 128

// A file or solids. A moving sphere or capsule stays what it is; everything else is a mesh.
typedef struct thing {
	tac_mesh *mesh;
	tac_ccd_body *body;
	bool is_round;
	tac_ccd_round tool; // at the identity
} thing;

typedef struct motion {
	tac_ccd_pose T;
	tac_dvec3 v, axis;
	double angle;
} motion;

// 1: a motion, 0: the end, -1: a fault that was reported. Empty lines and lines that begin with # are
// skipped.
static int read_motion(FILE *file, const char *path, int *line, motion *out_motion)
{
	char text[LINE_MAX];
	while (fgets(text, sizeof text, file)) {
		++*line;
		if (!strchr(text, '\n') && !feof(file)) {
			tac_log(TAC_LOG_ERROR, "%s:%d: expected at most %d characters, found more", path,
				*line, LINE_MAX - 2);
			return -1;
		}
		char *at = text + strspn(text, " \t\r\n");
		if (*at == 0 || *at == '#')
			continue;
		double n[MOTION_NUMBERS];
		int count = 0;
		while (*at) {
			char *end;
			double value = strtod(at, &end);
			if (end == at || (*end && !strchr(" \t\r\n,", *end))) {
				tac_log(TAC_LOG_ERROR, "%s:%d: expected %d numbers, found '%.*s' after %d",
					path, *line, MOTION_NUMBERS, (int)strcspn(at, " \t\r\n,"), at, count);
				return -1;
			}
			if (count < MOTION_NUMBERS)
				n[count] = value;
			count++;
			at = end + strspn(end, " \t\r\n,");
		}
		if (count != MOTION_NUMBERS) {
			tac_log(TAC_LOG_ERROR, "%s:%d: expected %d numbers, found %d", path, *line,
				MOTION_NUMBERS, count);
			return -1;
		}
		out_motion->T.R =
			tac_dmat3_from_rows(tac_dvec3_load(n), tac_dvec3_load(n + 3), tac_dvec3_load(n + 6));
		out_motion->T.t = tac_dvec3_load(n + 9);
		out_motion->v = tac_dvec3_load(n + 12);
		out_motion->axis = tac_dvec3_load(n + 15);
		out_motion->angle = n[18];
		return 1;
	}
	return 0;
}

static const char *kind_name(const tac_ccd_result *r)
{
	static const char *const names[] = {"none", "vertex-face", "face-vertex", "edge-edge"};
	if (r->flags & TAC_CCD_REFUSED)
		return "refused";
	if (r->flags & TAC_CCD_START_HIT)
		return "start";
	return names[r->kind];
}

static tac_ccd_round round_at(const tac_ccd_round *tool, const tac_ccd_pose *T)
{
	tac_ccd_round there = {tac_dvec3_add(tac_dmat3_apply(T->R, tool->a), T->t),
			       tac_dvec3_add(tac_dmat3_apply(T->R, tool->b), T->t), tool->radius};
	return there;
}

static tac_ccd_result translate(const thing *a, const thing *b, const motion *m,
				const tac_ccd_options *options, tac_ccd_context *context)
{
	if (!b->is_round)
		return tac_ccd_translate(b->body, a->body, &m->T, m->v, options, context);
	tac_ccd_round tool = round_at(&b->tool, &m->T);
	return tac_ccd_round_translate(&tool, a->body, m->v, options, NULL);
}

static tac_ccd_result rotate(const thing *a, const thing *b, const tac_ccd_pose *T, const motion *m,
			     const tac_ccd_options *options, tac_ccd_context *context)
{
	if (!b->is_round)
		return tac_ccd_rotate(b->body, a->body, T, T->t, m->axis, m->angle, options, context);
	tac_ccd_round tool = round_at(&b->tool, T);
	return tac_ccd_round_rotate(&tool, a->body, T->t, m->axis, m->angle, options);
}

static void sweep_motion(FILE *out, int index, const thing *a, const thing *b, const motion *m,
			 const tac_ccd_options *options, tac_ccd_context *context)
{
	int64_t start = tac_clock_now_ns();
	tac_ccd_result t = translate(a, b, m, options, context), r = t;
	if (!(t.flags & (TAC_CCD_REFUSED | TAC_CCD_START_HIT))) {
		tac_ccd_pose T = tac_ccd_translated(&m->T, m->v, t.fraction);
		r = rotate(a, b, &T, m, options, context);
	}
	int64_t ns = tac_clock_now_ns() - start;
	// What stopped the translation is named first.
	const tac_ccd_result *named = t.fraction < 1 && !(r.flags & TAC_CCD_REFUSED) ? &t : &r;
	fprintf(out, "%d,%.17g,%.17g,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%lld\n", index, t.fraction,
		r.fraction, kind_name(named), named->point.x, named->point.y, named->point.z, named->normal.x,
		named->normal.y, named->normal.z, (long long)ns);
}

static bool thing_build(const char *text, bool moves, thing *out)
{
	if (tac_shape_is_solids(text)) {
		tac_solids solids;
		if (tac_shape_parse(text, &solids) < 0)
			return false;
		const tac_solid *one = &solids.solid[0];
		out->is_round = moves && solids.count == 1 &&
				(one->kind == TAC_SOLID_SPHERE || one->kind == TAC_SOLID_CAPSULE);
		if (out->is_round) {
			double half = one->kind == TAC_SOLID_CAPSULE ? one->height / 2 : 0;
			tac_dvec3 along = tac_dmat3_apply(one->rotation, tac_dvec3_make(0, 0, half));
			out->tool = (tac_ccd_round){tac_dvec3_sub(one->position, along),
						    tac_dvec3_add(one->position, along), one->radius};
			return true;
		}
		if (tac_solids_mesh(&solids, SEGMENTS, &out->mesh) < 0)
			return false;
	} else if (tac_mesh_load(text, NULL, &out->mesh) < 0) {
		return false;
	}
	tac_ccd_body_def def = tac_ccd_body_def_default();
	def.mesh = out->mesh;
	return tac_ccd_body_build(&def, &out->body) >= 0;
}

static void thing_fini(thing *t)
{
	tac_ccd_body_destroy(&t->body);
	tac_mesh_destroy(&t->mesh);
}

// The exit code.
static int sweep_file(FILE *motions, const char *path, FILE *out, const thing *a, const thing *b, double zone)
{
	tac_ccd_options options = tac_ccd_options_default();
	options.zone = zone;
	static tac_ccd_context context; // 170 KB
	motion m;
	int line = 0, found, index = 0;
	fprintf(out, "motion,f_translation,f_rotation,kind,px,py,pz,nx,ny,nz,ns\n");
	while ((found = read_motion(motions, path, &line, &m)) > 0)
		sweep_motion(out, index++, a, b, &m, &options, &context);
	return found < 0 ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

int cmd_sweep(int argc, char **argv)
{
	const char *path_a = NULL, *path_b = NULL, *path_motions = NULL, *path_csv = NULL;
	double zone = TAC_CCD_ZONE;
	const option_def options[] = {
		{"A", OPTION_POSITIONAL, &path_a, 0, 0, NULL, "A",
		 "the fixed body: a mesh file, or solids (sphere:r=0.01; see tactus query)"},
		{"B", OPTION_POSITIONAL, &path_b, 0, 0, NULL, "B",
		 "the moving body, likewise; a sphere or a capsule is taken as it is"},
		{"motions", OPTION_TEXT, &path_motions, 0, 0, NULL, "FILE",
		 "19 numbers a line: B's pose in A (R by rows, then t), translation, axis, angle in rad"},
		{"csv", OPTION_TEXT, &path_csv, 0, 0, NULL, "FILE",
		 "write the table there; else to standard output"},
		{"zone", OPTION_NUMBER, &zone, 0, 1, NULL, "M",
		 "distance in m at which B stops; 0: where it touches"},
		{NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL},
	};
	const command_line line = {
		"tactus sweep",
		"how far B can translate, and then rotate about its origin, before it touches A", options};
	int exit_code = EXIT_SUCCESS;
	if (!options_parse(&line, argc, argv, &exit_code))
		return exit_code;
	if (!path_motions) {
		tac_log(TAC_LOG_ERROR, "sweep: expected --motions FILE, found no motions");
		return EXIT_BAD_INPUT;
	}
	FILE *motions = fopen(path_motions, "r");
	if (!motions) {
		tac_log(TAC_LOG_ERROR, "%s: expected a file of motions: %s", path_motions, strerror(errno));
		return EXIT_BAD_INPUT;
	}
	thing a = {0}, b = {0};
	FILE *out = NULL;
	exit_code = EXIT_BAD_INPUT;
	terminal t = {0};
	terminal_step(&t, "building", 1, 2, path_a);
	bool ready = thing_build(path_a, false, &a);
	if (ready) {
		terminal_step(&t, "building", 2, 2, path_b);
		ready = thing_build(path_b, true, &b);
	}
	terminal_clear(&t);
	if (ready) {
		out = path_csv ? fopen(path_csv, "w") : stdout;
		if (out) {
			exit_code = sweep_file(motions, path_motions, out, &a, &b, zone);
		} else {
			tac_log(TAC_LOG_ERROR, "%s: expected a file that can be written: %s", path_csv,
				strerror(errno));
			exit_code = EXIT_FAILURE;
		}
	}
	if (out && (ferror(out) || (out == stdout ? fflush(out) : fclose(out)) != 0)) {
		tac_log(TAC_LOG_ERROR, "%s: could not be written: %s",
			path_csv ? path_csv : "standard output", strerror(errno));
		exit_code = EXIT_FAILURE;
	}
	fclose(motions);
	thing_fini(&a);
	thing_fini(&b);
	return exit_code;
}
