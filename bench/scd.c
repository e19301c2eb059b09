// Surface detection in the layout of its paper's Tables 1 to 6 (M. Figueiredo, "Surface collision detection
// for virtual prototyping"), on the three generated assemblies: each part moves along its path and is tested
// against every part that is already in place; the intersecting steps count. Times are microseconds a step:
// the mean over the steps of the least of some repetitions, all contenders taking turns. The paper's times
// are of another machine and other models; compare the ratios within a column. Tables 3 and 4 put the other
// engines beside it and, if they were built (ninja bench_peers), public libraries.
//
//	tactus bench scd [REPEATS]
#include "collision/engines/scd.h"
#include "apps/terminal/terminal.h"
#include "base/helper.h"
#include "bench/peer.h"
#include "collision/assembly.h"
#include "collision/chip_collider.h"
#include "collision/collider.h"
#include "rt/clock.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KINDS       TAC_ASSEMBLY_KINDS
#define STEPS_MAX   4096 // intersecting steps of an assembly
#define REPEATS_MAX 1000
#define CONTENDERS  24
#define CAPACITY    65536

// Steps of a path, chosen so that about as many intersect as in the paper's Table 1: 507, 980 and 233.
static const int steps_of[KINDS] = {900, 420, 640};

static const char *const mode_names[3] = {"first", "all surfaces", "all surfaces and triangles"};

// A step of a path at which two parts intersect.
typedef struct path_step {
	int32_t fixed, moving;
	tac_dmat3 rotation;
	tac_dvec3 translation;
	tac_rigid motion;
} path_step;

typedef struct scene {
	tac_assembly assembly;
	tac_scd *scds[2][TAC_ASSEMBLY_PARTS]; // packed, inserted
	path_step *steps;
	int count;
} scene;

// One row of Table 3 or 4: an engine, or a peer.
typedef struct contender {
	const char *name;
	const tac_collider *engine;
	const peer *peer;
	void *fixed[TAC_ASSEMBLY_PARTS], *moving[TAC_ASSEMBLY_PARTS];
	int64_t *least; // ns, for each path_step
	double us[KINDS];
	int missed[KINDS]; // steps at which it found nothing
} contender;

static tac_scd_hit hits[CAPACITY];
static int32_t scratch[CAPACITY];
static scene scenes[KINDS];
static contender contenders[CONTENDERS];
static int contender_count;

static void fail(void)
{
	fprintf(stderr, "bench_scd: set-up failed\n");
	exit(EXIT_FAILURE);
}

static tac_scd_query query_for(tac_scd_mode mode, bool without)
{
	tac_scd_query q = tac_scd_query_default();
	q.mode = mode;
	q.without_oaabb = without;
	q.hits = hits;
	q.capacity = CAPACITY;
	q.scratch = scratch;
	return q;
}

static void make_scene(tac_assembly_kind kind, scene *s)
{
	s->steps = malloc(STEPS_MAX * sizeof *s->steps);
	if (!s->steps || tac_assembly_build(kind, &s->assembly) < 0)
		fail();
	for (int32_t i = 0; i < s->assembly.part_count; i++) {
		if (tac_scd_build(s->assembly.parts[i].mesh, TAC_RTREE_PACK, &s->scds[0][i]) < 0 ||
		    tac_scd_build(s->assembly.parts[i].mesh, TAC_RTREE_INSERT, &s->scds[1][i]) < 0)
			fail();
	}
	for (int32_t moving = 1; moving < s->assembly.part_count; moving++) {
		for (int32_t fixed = 0; fixed < moving; fixed++) {
			for (int step = 0; step <= steps_of[kind] && s->count < STEPS_MAX; step++) {
				path_step *j = &s->steps[s->count];
				j->fixed = fixed;
				j->moving = moving;
				tac_assembly_relative(&s->assembly, fixed, moving,
						      (double)step / steps_of[kind], &j->rotation,
						      &j->translation);
				j->motion.R = tac_mat3_from_dmat3(j->rotation);
				j->motion.t = tac_vec3_from_dvec3(j->translation);
				j->rotation = tac_dmat3_from_mat3(j->motion.R); // rounded as for the engines
				j->translation = tac_dvec3_from_vec3(j->motion.t);
				tac_scd_query q = query_for(TAC_SCD_FIRST, false);
				s->count += tac_scd_collide(s->scds[0][fixed], s->scds[0][moving],
							    &j->rotation, j->translation, &q);
			}
		}
	}
}

static void free_scene(scene *s)
{
	for (int32_t i = 0; i < s->assembly.part_count; i++) {
		tac_scd_destroy(&s->scds[0][i]);
		tac_scd_destroy(&s->scds[1][i]);
	}
	tac_assembly_fini(&s->assembly);
	free(s->steps);
}

static void print_row(const char *name, const double value[KINDS])
{
	printf("  %-44s %10.2f %10.2f %10.2f\n", name, value[0], value[1], value[2]);
}

// ---- Tables 2, 5 and 6: surface detection itself ----

typedef enum method { PACKED, INSERTED, WITHOUT, METHODS } method;

static int64_t least[METHODS][STEPS_MAX];
static double own_us[METHODS][3][KINDS];                              // by mode
static double own_tests[METHODS][KINDS], own_updates[METHODS][KINDS]; // in mode first

static void measure_own(int kind, tac_scd_mode mode, int repeats)
{
	const scene *s = &scenes[kind];
	for (int r = 0; r < repeats; r++) {
		for (int m = 0; m < METHODS; m++) {
			int64_t tests = 0, updates = 0;
			for (int i = 0; i < s->count; i++) {
				const path_step *j = &s->steps[i];
				tac_scd *const *scds = s->scds[m == INSERTED];
				tac_scd_query q = query_for(mode, m == WITHOUT);
				int64_t start = tac_clock_now_ns();
				tac_scd_collide(scds[j->fixed], scds[j->moving], &j->rotation, j->translation,
						&q);
				int64_t ns = tac_clock_now_ns() - start;
				if (r == 0 || ns < least[m][i])
					least[m][i] = ns;
				tests += q.counters.aabb_tests;
				updates += q.counters.cover_updates + q.counters.optimal_updates;
			}
			if (mode == TAC_SCD_FIRST) {
				own_tests[m][kind] = (double)tests / s->count;
				own_updates[m][kind] = (double)updates / s->count;
			}
		}
	}
	for (int m = 0; m < METHODS; m++) {
		double total = 0;
		for (int i = 0; i < s->count; i++)
			total += (double)least[m][i];
		own_us[m][mode][kind] = total / s->count * 1e-3;
	}
}

static void print_modes(const char *title, method m)
{
	printf("%s\n", title);
	for (int mode = 0; mode < 3; mode++)
		print_row(mode_names[mode], own_us[m][mode]);
}

// ---- Tables 3 and 4: other engines and libraries ----

// The peers in the shared library next to this program; NULL if it was not built.
static const peer *const *open_peers(void)
{
	char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
	path[length > 0 ? length : 0] = 0;
	char *slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, "libtactus_peers.so");
	char checked[TAC_HELPER_PATH], reason[256];
	void *library =
		tac_helper_check(path, checked, reason, sizeof reason) ? dlopen(checked, RTLD_NOW) : NULL;
	return library ? (const peer *const *)dlsym(library, "tac_peers") : NULL;
}

static void add_contender(const char *name, const tac_collider *engine, const peer *p)
{
	contender *c = &contenders[contender_count];
	if (contender_count == CONTENDERS)
		return;
	contender_count++;
	*c = (contender){
		.name = name, .engine = engine, .peer = p, .least = malloc(STEPS_MAX * sizeof *c->least)};
	if (!c->least)
		fail();
}

static void build(contender *c, const tac_assembly *a)
{
	for (int32_t i = 0; i < a->part_count; i++) {
		if (c->peer) {
			c->fixed[i] = c->peer->build(a->parts[i].mesh, false);
			c->moving[i] = c->peer->build(a->parts[i].mesh, true);
			continue;
		}
		tac_shape *shape;
		if (tac_shape_build(c->engine, a->parts[i].mesh, &shape) < 0)
			fail();
		c->fixed[i] = c->moving[i] = shape;
	}
}

static void destroy(contender *c, const tac_assembly *a)
{
	for (int32_t i = 0; i < a->part_count; i++) {
		if (c->peer) {
			c->peer->destroy(c->fixed[i]);
			c->peer->destroy(c->moving[i]);
		} else {
			tac_shape *shape = c->fixed[i];
			tac_shape_destroy(&shape);
		}
	}
}

static bool query_step(const contender *c, tac_context *context, const path_step *j, bool first,
		       int64_t *out_ns)
{
	bool hit;
	if (c->peer && c->peer->place)
		c->peer->place(c->moving[j->moving], &j->motion);
	context->coherent = false; // the repetitions must not profit from each other's answers
	int64_t start = tac_clock_now_ns();
	if (c->peer)
		hit = c->peer->query(c->fixed[j->fixed], c->moving[j->moving], &j->motion, first) > 0;
	else
		hit = tac_collider_query(c->engine, context, c->moving[j->moving], c->fixed[j->fixed],
					 &j->motion, first ? TAC_QUERY_FIRST : TAC_QUERY_PAIRS,
					 (tac_budget){0}) == TAC_OVERLAP_HIT;
	*out_ns = tac_clock_now_ns() - start;
	return hit;
}

static void measure_others(int kind, tac_context *context, bool first, int repeats)
{
	const scene *s = &scenes[kind];
	for (int r = 0; r < repeats; r++) {
		for (int k = 0; k < contender_count; k++) {
			contender *c = &contenders[k];
			c->missed[kind] = 0;
			for (int i = 0; i < s->count; i++) {
				int64_t ns;
				c->missed[kind] += !query_step(c, context, &s->steps[i], first, &ns);
				if (r == 0 || ns < c->least[i])
					c->least[i] = ns;
			}
		}
	}
	for (int k = 0; k < contender_count; k++) {
		double total = 0;
		for (int i = 0; i < s->count; i++)
			total += (double)contenders[k].least[i];
		contenders[k].us[kind] = total / s->count * 1e-3;
	}
}

static void print_others(void)
{
	double best[KINDS] = {0}, own[KINDS] = {0}, ratio[KINDS];
	for (int k = 0; k < contender_count; k++) {
		const contender *c = &contenders[k];
		print_row(c->name, c->us);
		for (int i = 0; i < KINDS; i++) {
			if (c->missed[i] > 0)
				printf("    (found nothing at %d of the %d steps of %s)\n", c->missed[i],
				       scenes[i].count, scenes[i].assembly.name);
			if (c->peer && (best[i] == 0 || c->us[i] < best[i]))
				best[i] = c->us[i];
			if (!c->peer && strcmp(c->name, "scd") == 0)
				own[i] = c->us[i];
		}
	}
	for (int i = 0; i < KINDS; i++)
		ratio[i] = best[i] / own[i];
	if (best[0] > 0)
		print_row("best public library / scd", ratio);
}

int main(int argc, char **argv)
{
	char *end = NULL;
	const long repeats = argc > 1 ? strtol(argv[1], &end, 10) : 7;
	if (argc > 2 || (end && *end != '\0') || repeats < 1 || repeats > REPEATS_MAX) {
		fprintf(stderr, "bench_scd: expected at most a number of repeats from 1 to %d, found '%s'\n",
			REPEATS_MAX, argv[argc > 2 ? 2 : 1]);
		return 2;
	}
	tac_context_def def = tac_context_def_default();
	tac_context *context;
	if (tac_context_create(&def, &context) < 0)
		fail();
	for (int k = 0; k < KINDS; k++)
		make_scene((tac_assembly_kind)k, &scenes[k]);

	printf("%-46s %10s %10s %10s\nTable 1\n", "", scenes[0].assembly.name, scenes[1].assembly.name,
	       scenes[2].assembly.name);
	static const char *const sizes[4] = {"parts", "surfaces", "triangles", "intersecting steps"};
	for (int i = 0; i < 4; i++) {
		int32_t number[KINDS];
		for (int k = 0; k < KINDS; k++) {
			const tac_assembly *a = &scenes[k].assembly;
			number[k] = i == 0   ? a->part_count
				    : i == 1 ? a->surface_count
				    : i == 2 ? a->triangle_count
					     : scenes[k].count;
		}
		printf("  %-44s %10d %10d %10d\n", sizes[i], number[0], number[1], number[2]);
	}

	terminal shown = {0};
	for (int k = 0; k < KINDS; k++) {
		for (int mode = 0; mode < 3; mode++) {
			terminal_step(&shown, "measuring", 3 * k + mode + 1, 3 * KINDS,
				      scenes[k].assembly.name);
			measure_own(k, (tac_scd_mode)mode, (int)repeats);
		}
	}
	terminal_clear(&shown);
	print_modes("Table 2, us a step", PACKED);
	print_modes("Table 2 with trees built by insertion", INSERTED);
	fflush(stdout);

	tac_collider_add(tac_chip_collider());
	for (int e = 0; tac_collider_at(e); e++)
		add_contender(tac_collider_at(e)->name, tac_collider_at(e), NULL);
	const peer *const *peers = open_peers();
	for (int p = 0; peers && peers[p]; p++)
		add_contender(peers[p]->name, NULL, peers[p]);
	for (int table = 3; table <= 4; table++) {
		printf("Table %d, us a step: %s%s\n", table,
		       table == 3 ? "first pair of triangles" : "all pairs of triangles",
		       !peers ? " (without public libraries: ninja bench_peers builds them)" : "");
		for (int k = 0; k < KINDS; k++) {
			terminal_step(&shown, "measuring", k + 1, KINDS, scenes[k].assembly.name);
			for (int c = 0; c < contender_count; c++)
				build(&contenders[c], &scenes[k].assembly);
			measure_others(k, context, table == 3, (int)repeats);
			for (int c = 0; c < contender_count; c++)
				destroy(&contenders[c], &scenes[k].assembly);
		}
		terminal_clear(&shown);
		print_others();
		fflush(stdout);
	}

	print_modes("Table 5, without OAABB, us a step", WITHOUT);
	printf("Table 6, operations a step in mode first\n");
	print_row("box tests with OAABB", own_tests[PACKED]);
	print_row("box tests without OAABB", own_tests[WITHOUT]);
	print_row("box updates with OAABB", own_updates[PACKED]);
	print_row("box updates without OAABB", own_updates[WITHOUT]);
	for (int c = 0; c < contender_count; c++)
		free(contenders[c].least);
	for (int k = 0; k < KINDS; k++)
		free_scene(&scenes[k]);
	tac_context_destroy(&context);
	return EXIT_SUCCESS;
}
