// Surface detection in the layout of its paper's Tables 1 to 6 (M. Figueiredo, "Surface collision detection
// for virtual prototyping"), on the three generated assemblies: each part comes along its path and is asked
// against every part that is already in place; the steps that intersect count. Times are microseconds a step,
// the mean over the steps of the least of some repetitions. The paper's own times are of another machine and
// other models; compare the ratios of a column. Table 3 and 4 put the other engines beside it.
#include "collision/scd.h"
#include "collision/assembly.h"
#include "collision/collider.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS    60
#define REPEATS  7
#define MOST     4096 // intersecting steps of an assembly
#define CAPACITY 65536

typedef struct job {
	int32_t fixed, moving;
	tac_dmat3 rotation;
	tac_dvec3 translation;
	tac_motion motion;
} job;

typedef struct scene {
	tac_assembly assembly;
	tac_scd *scds[2][TAC_ASSEMBLY_PARTS]; // packed, inserted
	job *jobs;
	int count;
} scene;

static tac_scd_hit hits[CAPACITY];
static int32_t scratch[CAPACITY];

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

static void make(tac_assembly_kind kind, scene *s)
{
	s->jobs = malloc(MOST * sizeof *s->jobs);
	s->count = 0;
	if (s->jobs == NULL || tac_assembly_build(kind, &s->assembly) < 0)
		fail();
	for (int32_t i = 0; i < s->assembly.part_count; i++) {
		if (tac_scd_build(s->assembly.parts[i].mesh, TAC_RTREE_PACK, &s->scds[0][i]) < 0 ||
		    tac_scd_build(s->assembly.parts[i].mesh, TAC_RTREE_INSERT, &s->scds[1][i]) < 0)
			fail();
	}
	for (int32_t moving = 1; moving < s->assembly.part_count; moving++) {
		for (int32_t fixed = 0; fixed < moving; fixed++) {
			for (int step = 0; step <= STEPS && s->count < MOST; step++) {
				job *j = &s->jobs[s->count];
				j->fixed = fixed;
				j->moving = moving;
				tac_assembly_relative(&s->assembly, fixed, moving, (double)step / STEPS,
						      &j->rotation, &j->translation);
				j->motion.rotation = tac_mat3_from_dmat3(j->rotation);
				j->motion.translation = tac_vec3_from_dvec3(j->translation);
				j->rotation = tac_dmat3_from_mat3(j->motion.rotation); // what the engines see
				j->translation = tac_dvec3_from_vec3(j->motion.translation);
				tac_scd_query q = query_for(TAC_SCD_FIRST, false);
				s->count += tac_scd_collide(s->scds[0][fixed], s->scds[0][moving],
							    &j->rotation, j->translation, &q);
			}
		}
	}
}

static void release(scene *s)
{
	for (int32_t i = 0; i < s->assembly.part_count; i++) {
		tac_scd_destroy(&s->scds[0][i]);
		tac_scd_destroy(&s->scds[1][i]);
	}
	tac_assembly_fini(&s->assembly);
	free(s->jobs);
}

// Mean microseconds a step; the counters of all steps are added to *out, if it is not NULL.
static double time_scd(const scene *s, int method, tac_scd_mode mode, bool without, tac_scd_counters *out)
{
	double total = 0;
	for (int i = 0; i < s->count; i++) {
		const job *j = &s->jobs[i];
		int64_t best = INT64_MAX;
		for (int r = 0; r < REPEATS; r++) {
			tac_scd_query q = query_for(mode, without);
			int64_t start = tac_clock_now_ns();
			tac_scd_collide(s->scds[method][j->fixed], s->scds[method][j->moving], &j->rotation,
					j->translation, &q);
			int64_t ns = tac_clock_now_ns() - start;
			best = ns < best ? ns : best;
			if (r == 0 && out != NULL) {
				out->aabb_tests += q.counters.aabb_tests;
				out->cover_updates += q.counters.cover_updates + q.counters.optimal_updates;
			}
		}
		total += (double)best;
	}
	return total / s->count * 1e-3;
}

static double time_engine(const scene *s, const tac_collider *engine, tac_context *context,
			  tac_query_mode mode)
{
	tac_shape *shapes[TAC_ASSEMBLY_PARTS];
	for (int32_t i = 0; i < s->assembly.part_count; i++) {
		if (tac_shape_build(engine, s->assembly.parts[i].mesh, &shapes[i]) < 0)
			fail();
	}
	double total = 0;
	for (int i = 0; i < s->count; i++) {
		const job *j = &s->jobs[i];
		int64_t best = INT64_MAX;
		for (int r = 0; r < REPEATS; r++) {
			context->coherent =
				false; // no engine may remember the answer from the repetition before
			int64_t start = tac_clock_now_ns();
			tac_contact contact =
				tac_collider_query(engine, context, shapes[j->moving], shapes[j->fixed],
						   &j->motion, mode, (tac_budget){0});
			int64_t ns = tac_clock_now_ns() - start;
			best = ns < best ? ns : best;
			if (contact != TAC_CONTACT_HIT)
				fail();
		}
		total += (double)best;
	}
	for (int32_t i = 0; i < s->assembly.part_count; i++)
		tac_shape_destroy(&shapes[i]);
	return total / s->count * 1e-3;
}

static void print_row(const char *name, const double value[3])
{
	printf("  %-44s %10.2f %10.2f %10.2f\n", name, value[0], value[1], value[2]);
}

// Rows of Tables 2 and 5.
static void print_modes(const scene scenes[3], int method, bool without)
{
	static const char *const names[3] = {"first", "all surfaces", "all surfaces and triangles"};
	for (int mode = 0; mode < 3; mode++) {
		double us[3];
		for (int k = 0; k < 3; k++)
			us[k] = time_scd(&scenes[k], method, (tac_scd_mode)mode, without, NULL);
		print_row(names[mode], us);
	}
}

int main(void)
{
	static scene scenes[TAC_ASSEMBLY_KINDS];
	tac_context_def def = tac_context_def_default();
	tac_context *context;
	if (tac_context_create(&def, &context) < 0)
		fail();
	double row[3];
	for (int k = 0; k < TAC_ASSEMBLY_KINDS; k++)
		make((tac_assembly_kind)k, &scenes[k]);

	printf("%-46s %10s %10s %10s\nTable 1\n", "", scenes[0].assembly.name, scenes[1].assembly.name,
	       scenes[2].assembly.name);
	static const char *const sizes[4] = {"parts", "surfaces", "triangles", "intersecting steps"};
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 3; k++) {
			const tac_assembly *a = &scenes[k].assembly;
			const int32_t numbers[4] = {a->part_count, a->surface_count, a->triangle_count,
						    scenes[k].count};
			row[k] = numbers[i];
		}
		printf("  %-44s %10.0f %10.0f %10.0f\n", sizes[i], row[0], row[1], row[2]);
	}

	printf("Table 2, us a step\n");
	print_modes(scenes, 0, false);
	printf("Table 2 with trees built by insertion\n");
	print_modes(scenes, 1, false);

	for (int table = 3; table <= 4; table++) {
		printf("Table %d, us a step: %s\n", table,
		       table == 3 ? "first pair of triangles" : "all pairs of triangles");
		for (int e = 0; tac_collider_at(e) != NULL; e++) {
			for (int k = 0; k < 3; k++)
				row[k] = time_engine(&scenes[k], tac_collider_at(e), context,
						     table == 3 ? TAC_QUERY_FIRST : TAC_QUERY_PAIRS);
			print_row(tac_collider_at(e)->name, row);
		}
	}

	printf("Table 5, without OAABB, us a step\n");
	print_modes(scenes, 0, true);

	printf("Table 6, operations a step in mode first\n");
	for (int without = 0; without < 2; without++) {
		double tests[3], updates[3];
		for (int k = 0; k < 3; k++) {
			tac_scd_counters c = {0};
			time_scd(&scenes[k], 0, TAC_SCD_FIRST, without, &c);
			tests[k] = (double)c.aabb_tests / scenes[k].count;
			updates[k] = (double)c.cover_updates / scenes[k].count;
		}
		print_row(without ? "box tests without OAABB" : "box tests with OAABB", tests);
		print_row(without ? "box updates without OAABB" : "box updates with OAABB", updates);
	}
	for (int k = 0; k < 3; k++)
		release(&scenes[k]);
	tac_context_destroy(&context);
	return EXIT_SUCCESS;
}
