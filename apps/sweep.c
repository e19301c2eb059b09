// tactus sweep A B --motions M: how far B can move before it touches A, a translation and then a rotation a
// line.
#include "apps/commands.h"
#include "apps/options.h"
#include "base/log.h"
#include "collision/ccd.h"
#include "collision/mesh_load.h"
#include "rt/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The 12 numbers of the pose, then translation, axis and angle.
#define MOTION_NUMBERS 19
#define LINE_MAX       4096

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

static void sweep_motion(FILE *out, int index, const tac_ccd_body *a, const tac_ccd_body *b, const motion *m,
			 const tac_ccd_options *options, tac_ccd_context *context)
{
	int64_t start = tac_clock_now_ns();
	tac_ccd_result t = tac_ccd_translate(b, a, &m->T, m->v, options, context), r = t;
	if (!(t.flags & (TAC_CCD_REFUSED | TAC_CCD_START_HIT))) {
		tac_ccd_pose T = tac_ccd_translated(&m->T, m->v, t.fraction);
		r = tac_ccd_rotate(b, a, &T, T.t, m->axis, m->angle, options, context);
	}
	int64_t ns = tac_clock_now_ns() - start;
	// What stopped the translation is named first.
	const tac_ccd_result *named = t.fraction < 1 && !(r.flags & TAC_CCD_REFUSED) ? &t : &r;
	fprintf(out, "%d,%.17g,%.17g,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%lld\n", index, t.fraction,
		r.fraction, kind_name(named), named->point.x, named->point.y, named->point.z, named->normal.x,
		named->normal.y, named->normal.z, (long long)ns);
}

static bool build_body(const char *path, tac_mesh **out_mesh, tac_ccd_body **out_body)
{
	tac_ccd_body_def def = tac_ccd_body_def_default();
	if (tac_mesh_load(path, NULL, out_mesh) < 0)
		return false;
	def.mesh = *out_mesh;
	return tac_ccd_body_build(&def, out_body) >= 0;
}

// The exit code.
static int sweep_file(FILE *motions, const char *path, FILE *out, const tac_ccd_body *a,
		      const tac_ccd_body *b, double zone)
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
		{"A", OPTION_POSITIONAL, &path_a, 0, 0, NULL, "A", "mesh file of the fixed body"},
		{"B", OPTION_POSITIONAL, &path_b, 0, 0, NULL, "B", "mesh file of the moving body"},
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
	tac_mesh *mesh_a = NULL, *mesh_b = NULL;
	tac_ccd_body *a = NULL, *b = NULL;
	FILE *out = NULL;
	exit_code = EXIT_BAD_INPUT;
	if (build_body(path_a, &mesh_a, &a) && build_body(path_b, &mesh_b, &b)) {
		out = path_csv ? fopen(path_csv, "w") : stdout;
		if (out) {
			exit_code = sweep_file(motions, path_motions, out, a, b, zone);
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
	tac_ccd_body_destroy(&a);
	tac_ccd_body_destroy(&b);
	tac_mesh_destroy(&mesh_a);
	tac_mesh_destroy(&mesh_b);
	return exit_code;
}
