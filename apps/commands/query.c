// tactus query A B --poses P: static queries of two meshes or solids at given poses.
#include "apps/commands.h"
#include "apps/options.h"
#include "apps/session.h"
#include "apps/terminal.h"
#include "collision/collider.h"
#include "collision/mesh_load.h"
#include "collision/shape.h"
#include "rt/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
	const char *mesh[2], *poses, *csv;
	const tac_collider *collider;
	int mode; // tac_query_mode
	int64_t repeat;
	bool fresh;
} settings;

// What the matrix of a pose may lack to a rotation: beyond this it is a mistake in the file.
#define SKEW_MAX 1e-2F

// Reads 12 numbers from a line that ends at `line_end`. Returns how many there were, 13 if something follows,
// or -1 - n when entry n is not a finite number.
static int read_numbers(const char *line, const char *line_end, float out[12])
{
	int n = 0;
	for (;;) {
		line += strspn(line, " \t\r\n,");
		if (line == line_end)
			return n;
		if (n == 12)
			return 13;
		char *end;
		out[n] = strtof(line, &end);
		if (end == line || (*end != '\0' && strchr(" \t\r\n,", *end) == NULL) || !isfinite(out[n]))
			return -1 - n;
		line = end;
		++n;
	}
}

// Exit code 0, or 2 with one line that says what was expected, what was found and where.
static int read_poses(const char *path, tac_motion **out_poses, size_t *out_count)
{
	*out_poses = NULL;
	*out_count = 0;
	FILE *file = fopen(path, "r");
	if (file == NULL) {
		fprintf(stderr, "tactus query: %s: cannot read the poses: %s\n", path, strerror(errno));
		return EXIT_BAD_INPUT;
	}
	size_t capacity = 0, number = 0;
	char *line = NULL;
	size_t size = 0;
	int code = 0;
	errno = 0;
	ssize_t length;
	while (code == 0 && (length = getline(&line, &size, file)) >= 0) {
		++number;
		const char *text = line + strspn(line, " \t\r\n");
		if (text == line + length || *text == '#')
			continue;
		float x[12];
		int n = read_numbers(text, line + length, x);
		if (n != 12) {
			fprintf(stderr,
				"tactus query: %s:%zu: expected 12 numbers (R by rows, then t), found ", path,
				number);
			if (n < 0)
				fprintf(stderr, "no finite number in place %d\n", -n);
			else
				fprintf(stderr, n > 12 ? "more\n" : "%d\n", n);
			code = EXIT_BAD_INPUT;
			break;
		}
		if (*out_count == capacity) {
			capacity = capacity ? 2 * capacity : 256;
			tac_motion *more = realloc(*out_poses, capacity * sizeof *more);
			if (more == NULL) {
				fprintf(stderr, "tactus query: %s: no memory for %zu poses\n", path,
					capacity);
				code = EXIT_FAILURE;
				break;
			}
			*out_poses = more;
		}
		tac_motion *pose = &(*out_poses)[(*out_count)++];
		memcpy(pose->rotation.m, x, 9 * sizeof *x);
		pose->translation = tac_vec3_load(x + 9);
		if (!(tac_motion_skew(pose) <= SKEW_MAX)) {
			fprintf(stderr,
				"tactus query: %s:%zu: expected a rotation, found R^T R off 1 by %.3g\n",
				path, number, (double)tac_motion_skew(pose));
			code = EXIT_BAD_INPUT;
		}
	}
	if (code == 0 && (ferror(file) || errno == EISDIR)) {
		fprintf(stderr, "tactus query: %s: cannot read the poses: %s\n", path, strerror(errno));
		code = EXIT_BAD_INPUT;
	} else if (code == 0 && *out_count == 0) {
		fprintf(stderr, "tactus query: %s: expected poses, found none\n", path);
		code = EXIT_BAD_INPUT;
	}
	free(line);
	fclose(file);
	return code;
}

typedef struct answer {
	tac_contact contact;
	int64_t pairs, ns;
	tac_counters counters;
} answer;

static int write_csv(const char *path, const answer *answers, size_t count)
{
	static const char *const names[] = {"none", "hit", "unknown"};
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
	if (file == NULL) {
		fprintf(stderr, "tactus query: %s: cannot write: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	fprintf(file, "pose,result,pairs,ns,overlap_tests,transforms,nodes,triangle_tests,exact_tests\n");
	for (size_t i = 0; i < count; ++i) {
		const answer *a = &answers[i];
		fprintf(file, "%zu,%s,%lld,%lld,%lld,%lld,%lld,%lld,%lld\n", i, names[a->contact],
			(long long)a->pairs, (long long)a->ns, (long long)a->counters.overlap_tests,
			(long long)a->counters.transforms, (long long)a->counters.nodes,
			(long long)a->counters.triangle_tests, (long long)a->counters.exact_tests);
	}
	bool ok = fflush(file) == 0 && !ferror(file);
	if (file != stdout && fclose(file) != 0)
		ok = false;
	if (!ok)
		fprintf(stderr, "tactus query: %s: cannot write: %s\n", path, strerror(errno));
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void summarize(const settings *s, const answer *answers, size_t count)
{
	FILE *to = s->csv != NULL && strcmp(s->csv, "-") == 0 ? stderr : stdout;
	size_t hits = 0, unknown = 0;
	int64_t pairs = 0, most = 0;
	double sum = 0.0;
	for (size_t i = 0; i < count; ++i) {
		hits += answers[i].contact == TAC_CONTACT_HIT;
		unknown += answers[i].contact == TAC_CONTACT_UNKNOWN;
		pairs += answers[i].pairs;
		sum += (double)answers[i].ns;
		most = answers[i].ns > most ? answers[i].ns : most;
	}
	fprintf(to, "%s (%s): %zu poses, %zu hit, %zu unknown, %lld pairs, mean %.3f us, max %.3f us\n",
		s->collider->name, s->collider->variant, count, hits, unknown, (long long)pairs,
		sum / (double)count * 1e-3, (double)most * 1e-3);
}

// The names of the surfaces that touch, a pair a line; a surface without a name is its number.
static void print_surfaces(const settings *s, const tac_context *context, size_t pose)
{
	FILE *to = s->csv != NULL && strcmp(s->csv, "-") == 0 ? stderr : stdout;
	for (int64_t i = 0; i < context->pair_count && i < context->pair_capacity; i++) {
		const int32_t id[2] = {context->fixed_ids[i], context->moving_ids[i]};
		const tac_mesh *const mesh[2] = {context->fixed->mesh, context->moving->mesh};
		fprintf(to, "pose %zu:", pose);
		for (int k = 0; k < 2; k++) {
			const char *name = mesh[k]->surfaces[id[k]].name;
			if (*name != '\0')
				fprintf(to, "%s%s", k == 0 ? " " : " | ", name);
			else
				fprintf(to, "%s%ld", k == 0 ? " " : " | ", (long)id[k]);
		}
		fputc('\n', to);
	}
}

static int ask(const settings *s, const tac_shape *const shape[2], const tac_motion *poses, size_t count)
{
	tac_context_def def = tac_context_def_default();
	def.pair_capacity = 1 << 20;
	def.scratch_bytes = (size_t)64 << 20;
	tac_context *context;
	if (tac_context_create(&def, &context) < 0)
		return EXIT_FAILURE;
	answer *answers = calloc(count, sizeof *answers);
	if (answers == NULL) {
		tac_context_destroy(&context);
		fprintf(stderr, "tactus query: no memory for %zu answers\n", count);
		return EXIT_FAILURE;
	}
	context->coherent = !s->fresh;
	terminal t = {0};
	size_t done = 0;
	for (int64_t r = 0; r < s->repeat; ++r) {
		tac_context_forget(context); // every round is a first one
		for (size_t i = 0; i < count; ++i) {
			int64_t start = tac_clock_now_ns();
			tac_contact contact =
				tac_collider_query(s->collider, context, shape[1], shape[0], &poses[i],
						   (tac_query_mode)s->mode, (tac_budget){0, 0});
			int64_t ns = tac_clock_now_ns() - start;
			answer *a = &answers[i];
			if (r == 0 || ns < a->ns)
				a->ns = ns;
			a->contact = contact;
			a->pairs = context->pair_count;
			a->counters = context->counters;
			if (s->mode == TAC_QUERY_SURFACES && r + 1 == s->repeat)
				print_surfaces(s, context, i);
			done++;
			terminal_progress(&t, "asking", (double)done / ((double)count * (double)s->repeat));
		}
	}
	summarize(s, answers, count);
	int code = s->csv != NULL ? write_csv(s->csv, answers, count) : 0;
	free(answers);
	tac_context_destroy(&context);
	return code;
}

static int run(const settings *s)
{
	tac_motion *poses;
	size_t count;
	int code = read_poses(s->poses, &poses, &count);
	tac_mesh *mesh[2] = {NULL, NULL};
	tac_shape *shape[2] = {NULL, NULL};
	terminal t = {0};
	for (int i = 0; i < 2 && code == 0; i++) {
		tac_solids solids;
		if (!tac_shape_is_solids(s->mesh[i])) // those take no time
			terminal_step(&t, "building", i + 1, 2, s->mesh[i]);
		if (tac_shape_is_solids(s->mesh[i])) {
			if (tac_shape_parse(s->mesh[i], &solids) < 0)
				code = EXIT_BAD_INPUT;
			else if (tac_shape_build_solids(&solids, &shape[i]) < 0)
				code = EXIT_FAILURE;
		} else if (tac_mesh_load(s->mesh[i], NULL, &mesh[i]) < 0)
			code = EXIT_BAD_INPUT;
		else if (tac_shape_build(s->collider, mesh[i], &shape[i]) < 0)
			code = EXIT_FAILURE;
	}
	terminal_clear(&t);
	if (code == 0)
		code = ask(s, (const tac_shape *const[2]){shape[0], shape[1]}, poses, count);
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
		{"a", OPTION_POSITIONAL, &s.mesh[0], 0, 0, NULL, "A",
		 "the fixed shape: a mesh file, or solids as KIND:NAME=NUMBER,… joined by + (sphere:r=  "
		 "capsule:r=,h=  "
		 "cylinder:r=,h=  cone:rb=,rt=,h=  toroid:R=,r=,z0=,z1=[,concave], each with "
		 "x=,y=,z=,axis=)"},
		{"b", OPTION_POSITIONAL, &s.mesh[1], 0, 0, NULL, "B", "the moving shape"},
		{"poses", OPTION_TEXT, &s.poses, 0, 0, NULL, "FILE",
		 "12 numbers a line: a rotation R by rows, then a translation t; B's vertex v is at R v + t "
		 "in A's "
		 "frame; # begins a comment"},
		{"mode", OPTION_CHOICE, &s.mode, 0, 0, modes, NULL,
		 "the first pair of triangles, all of them, or all pairs of surfaces"},
		{"collider", OPTION_TEXT, &collider, 0, 0, NULL, "NAME",
		 "wide (the default), doptree, classic, scd, chip, board, or solid (the only one for solids, "
		 "and "
		 "their default)"},
		{"repeat", OPTION_INTEGER, &s.repeat, 1, 1e6, NULL, "N",
		 "ask N times in the order of the poses; ns is the least of them"},
		{"csv", OPTION_TEXT, &s.csv, 0, 0, NULL, "FILE",
		 "write pose,result,pairs,ns and the collider's counters; - is the standard output, and the "
		 "summary "
		 "then goes to the standard error"},
		{"fresh", OPTION_FLAG, &s.fresh, 0, 0, NULL, NULL,
		 "use nothing of the poses before (wide: the last contact, the last clearance)"},
		{0},
	};
	const command_line line = {"tactus query", "whether two shapes touch, at the poses of a file",
				   options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (!s.poses) {
		fprintf(stderr, "tactus query: poses: expected --poses FILE, found the end of the line\n");
		return EXIT_BAD_INPUT;
	}
	bool solids = tac_shape_is_solids(s.mesh[0]) || tac_shape_is_solids(s.mesh[1]);
	s.collider = session_collider("tactus query", collider ? collider : solids ? "solid" : "wide");
	if (s.collider && solids && s.collider != tac_solid_collider()) {
		fprintf(stderr, "tactus query: collider: expected solid for '%s' and '%s', found '%s'\n",
			s.mesh[0], s.mesh[1], collider);
		return EXIT_BAD_INPUT;
	}
	return s.collider ? run(&s) : EXIT_BAD_INPUT;
}
