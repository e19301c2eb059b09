// tactus query A B --poses P: static collision queries between two meshes or solids at given poses.
#include "apps/commands/commands.h"
#include "apps/session/number_file.h"
#include "apps/session/options.h"
#include "apps/session/session.h"
#include "apps/terminal/terminal.h"
#include "base/output.h"
#include "collision/collider.h"
#include "collision/mesh_load.h"
#include "collision/solid.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
	const char *shapes[2], *poses, *csv; // shapes: mesh files, or descriptions of solids
	const tac_collider *collider;
	int mode; // a tac_query_mode
	int64_t repeat;
	bool fresh; // without temporal coherence
} settings;

// A greater deviation of a pose's matrix from a rotation is a mistake in the file.
#define SKEW_MAX 1e-2F

static int append_pose(const number_file *f, const double x[12], tac_rigid **poses, size_t *count,
		       size_t *capacity)
{
	if (*count == *capacity) {
		*capacity = *capacity ? 2 * *capacity : 256;
		tac_rigid *grown = realloc(*poses, *capacity * sizeof *grown);
		if (!grown) {
			fprintf(stderr, "tactus query: %s: no memory for %zu poses\n", f->def.path,
				*capacity);
			return EXIT_FAILURE;
		}
		*poses = grown;
	}
	tac_rigid *pose = &(*poses)[(*count)++];
	for (int i = 0; i < 9; i++)
		pose->R.m[i / 3][i % 3] = (float)x[i];
	pose->t = tac_vec3_make((float)x[9], (float)x[10], (float)x[11]);
	const float skew = tac_rigid_skew(pose);
	if (skew <= SKEW_MAX)
		return EXIT_SUCCESS;
	fprintf(stderr, "tactus query: %s:%zu: expected a rotation, found R^T R off 1 by %.3g\n", f->def.path,
		f->line, (double)skew);
	return EXIT_BAD_INPUT;
}

// Returns an exit code: 0, or 1 or 2 after one line on stderr. The caller frees *out_poses in either case.
static int read_poses(const char *path, tac_rigid **out_poses, size_t *out_count)
{
	const number_file_def def = {
		.command = "tactus query",
		.path = path,
		.content = "poses",
		.form = "12 numbers (R by rows, then t)",
		.count = 12,
		.single_precision = true,
		.finite = true,
	};
	number_file f;
	size_t capacity = 0;
	double x[12];
	*out_poses = NULL;
	*out_count = 0;
	int code = number_file_open(&def, &f) ? EXIT_SUCCESS : EXIT_BAD_INPUT;
	int read = 0;
	while (code == EXIT_SUCCESS && (read = number_file_next(&f, x)) > 0)
		code = append_pose(&f, x, out_poses, out_count, &capacity);
	if (read < 0)
		code = EXIT_BAD_INPUT;
	number_file_close(&f);
	return code;
}

typedef struct query_result {
	tac_overlap overlap;
	int64_t pairs, ns;
	tac_counters counters;
} query_result;

static int write_csv(const char *path, const query_result *results, size_t count)
{
	static const char *const names[] = {"none", "hit", "unknown"};
	tac_output *output;
	if (tac_output_create(path, "tactus query", &output) < TAC_OK)
		return EXIT_FAILURE;
	FILE *file = tac_output_file(output);
	fprintf(file, "pose,result,pairs,ns,overlap_tests,transforms,nodes,triangle_tests,exact_tests\n");
	for (size_t i = 0; i < count; i++) {
		const query_result *r = &results[i];
		fprintf(file, "%zu,%s,%lld,%lld,%lld,%lld,%lld,%lld,%lld\n", i, names[r->overlap],
			(long long)r->pairs, (long long)r->ns, (long long)r->counters.overlap_tests,
			(long long)r->counters.transforms, (long long)r->counters.nodes,
			(long long)r->counters.triangle_tests, (long long)r->counters.exact_tests);
	}
	return tac_output_commit(&output) < TAC_OK ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void print_summary(const settings *s, const query_result *results, size_t count)
{
	FILE *to = s->csv && strcmp(s->csv, "-") == 0 ? stderr : stdout;
	size_t hits = 0, unknown = 0;
	int64_t pairs = 0, max_ns = 0;
	double sum_ns = 0.0;
	for (size_t i = 0; i < count; i++) {
		hits += results[i].overlap == TAC_OVERLAP_HIT;
		unknown += results[i].overlap == TAC_OVERLAP_UNKNOWN;
		pairs += results[i].pairs;
		sum_ns += (double)results[i].ns;
		max_ns = results[i].ns > max_ns ? results[i].ns : max_ns;
	}
	fprintf(to, "%s (%s): %zu poses, %zu hit, %zu unknown, %lld pairs, mean %.3f us, max %.3f us\n",
		s->collider->name, s->collider->variant, count, hits, unknown, (long long)pairs,
		sum_ns / (double)count * 1e-3, (double)max_ns * 1e-3);
}

// Prints the names of the surfaces that touch, one pair a line. A surface without a name has its number.
static void print_surfaces(const settings *s, const tac_context *context, size_t pose)
{
	FILE *to = s->csv && strcmp(s->csv, "-") == 0 ? stderr : stdout;
	for (int64_t i = 0; i < context->pair_count && i < context->pair_capacity; i++) {
		const int32_t id[2] = {context->fixed_ids[i], context->moving_ids[i]};
		const tac_mesh *const mesh[2] = {context->fixed->mesh, context->moving->mesh};
		fprintf(to, "pose %zu:", pose);
		for (int k = 0; k < 2; k++) {
			const char *name = mesh[k]->surfaces[id[k]].name;
			if (*name)
				fprintf(to, "%s%s", k == 0 ? " " : " | ", name);
			else
				fprintf(to, "%s%ld", k == 0 ? " " : " | ", (long)id[k]);
		}
		fputc('\n', to);
	}
}

static int run_queries(const settings *s, const tac_shape *const shape[2], const tac_rigid *poses,
		       size_t count)
{
	tac_context_def def = tac_context_def_default();
	def.pair_capacity = 1 << 20;
	def.scratch_bytes = (size_t)64 << 20;
	tac_context *context;
	if (tac_context_create(&def, &context) < 0)
		return EXIT_FAILURE;
	query_result *results = calloc(count, sizeof *results);
	if (!results) {
		tac_context_destroy(&context);
		fprintf(stderr, "tactus query: no memory for %zu results\n", count);
		return EXIT_FAILURE;
	}
	context->coherent = !s->fresh;
	terminal t = {0};
	size_t done = 0;
	for (int64_t round = 0; round < s->repeat; round++) {
		tac_context_forget(context); // no coherence from round to round
		for (size_t i = 0; i < count; i++) {
			int64_t start_ns = tac_clock_now_ns();
			tac_overlap overlap =
				tac_collider_query(s->collider, context, shape[1], shape[0], &poses[i],
						   (tac_query_mode)s->mode, (tac_budget){0, 0});
			int64_t ns = tac_clock_now_ns() - start_ns;
			query_result *r = &results[i];
			if (round == 0 || ns < r->ns)
				r->ns = ns;
			r->overlap = overlap;
			r->pairs = context->pair_count;
			r->counters = context->counters;
			if (s->mode == TAC_QUERY_SURFACES && round + 1 == s->repeat)
				print_surfaces(s, context, i);
			done++;
			terminal_progress(&t, "querying", (double)done / ((double)count * (double)s->repeat));
		}
	}
	print_summary(s, results, count);
	int code = s->csv ? write_csv(s->csv, results, count) : 0;
	free(results);
	tac_context_destroy(&context);
	return code;
}

static int run(const settings *s)
{
	tac_rigid *poses;
	size_t count;
	int code = read_poses(s->poses, &poses, &count);
	tac_mesh *mesh[2] = {NULL, NULL};
	tac_shape *shape[2] = {NULL, NULL};
	terminal t = {0};
	for (int i = 0; i < 2 && code == 0; i++) {
		tac_solids solids;
		if (!tac_solids_is_description(s->shapes[i])) // solids take no time
			terminal_step(&t, "building", i + 1, 2, s->shapes[i]);
		if (tac_solids_is_description(s->shapes[i])) {
			if (tac_solids_parse(s->shapes[i], &solids) < 0)
				code = EXIT_BAD_INPUT;
			else if (tac_shape_build_solids(s->collider, &solids, &shape[i]) < 0)
				code = EXIT_FAILURE;
		} else if (tac_mesh_load(s->shapes[i], NULL, &mesh[i]) < 0)
			code = EXIT_BAD_INPUT;
		else if (tac_shape_build(s->collider, mesh[i], &shape[i]) < 0)
			code = EXIT_FAILURE;
	}
	terminal_clear(&t);
	if (code == 0)
		code = run_queries(s, (const tac_shape *const[2]){shape[0], shape[1]}, poses, count);
	for (int i = 0; i < 2; i++) {
		tac_shape_destroy(&shape[i]);
		tac_mesh_destroy(&mesh[i]);
	}
	free(poses);
	return code;
}

int cmd_query(int argc, char **argv)
{
	static const char *const modes[] = {"first", "pairs", "surfaces", NULL};
	settings s = {.repeat = 1, .mode = TAC_QUERY_FIRST};
	const char *collider = NULL;
	const option_def options[] = {
		{"a", OPTION_POSITIONAL, &s.shapes[0], 0, 0, NULL, "A",
		 "the fixed shape: a mesh file, or solids as KIND:NAME=NUMBER,… joined by + (sphere:r=; "
		 "capsule:r=,h=; cylinder:r=,h=; cone:rb=,rt=,h=; toroid:R=,r=,z0=,z1=[,concave]; "
		 "each with x=,y=,z=,axis=)"},
		{"b", OPTION_POSITIONAL, &s.shapes[1], 0, 0, NULL, "B", "the moving shape"},
		{"poses", OPTION_TEXT, &s.poses, 0, 0, NULL, "FILE",
		 "12 numbers a line: a rotation R by rows, then a translation t. B's vertex v is at "
		 "R v + t in A's frame. Lines that begin with # are comments"},
		{"mode", OPTION_CHOICE, &s.mode, 0, 0, modes, NULL,
		 "find the first pair of triangles, all pairs of triangles, or all pairs of surfaces"},
		{"collider", OPTION_TEXT, &collider, 0, 0, NULL, "NAME",
		 "wide (the default), doptree, classic, scd, chip, board, rtl; or solid, the default and "
		 "only choice for solids"},
		{"repeat", OPTION_INTEGER, &s.repeat, 1, 1e6, NULL, "N",
		 "repeat all poses N times; ns is the minimum over the repeats"},
		{"csv", OPTION_TEXT, &s.csv, 0, 0, NULL, "FILE",
		 "write pose,result,pairs,ns and the collider's counters; - is standard output, and the "
		 "summary then goes to standard error"},
		{"fresh", OPTION_FLAG, &s.fresh, 0, 0, NULL, NULL,
		 "disable temporal coherence: use nothing from earlier poses"},
		{0},
	};
	const command_line line = {"tactus query", "test whether two shapes touch at given poses", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (!s.poses) {
		fprintf(stderr, "tactus query: poses: expected --poses FILE, found nothing\n");
		return EXIT_BAD_INPUT;
	}
	bool solids = tac_solids_is_description(s.shapes[0]) || tac_solids_is_description(s.shapes[1]);
	s.collider = session_collider("tactus query", collider ? collider : solids ? "solid" : "wide");
	if (s.collider && solids && !s.collider->build_solids) {
		fprintf(stderr, "tactus query: collider: expected solid for '%s' and '%s', found '%s'\n",
			s.shapes[0], s.shapes[1], collider);
		return EXIT_BAD_INPUT;
	}
	return s.collider ? run(&s) : EXIT_BAD_INPUT;
}
