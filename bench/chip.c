// The CollisionChip: Table 1 of the paper computed from its counts, the same columns measured by the model on
// our meshes with the software engines beside it, and the speed of the model itself.
//
//	bench_chip [FOLDER]
//
// FOLDER contains NAME.off with NAME.poses (12 numbers a line); without them meshes are generated.
//
// A time of the chip is Equation 5 with the counts of the query, as in the paper; it does not include
// triangle tests and the stack. The column SCHED is the event schedule with triangles. Software times are the
// minimum of three runs of each query in one thread of this machine; first hit, poses in order.
#include "apps/terminal/terminal.h"
#include "bench/paper.h"
#include "bench/poses.h"
#include "collision/chip_host.h"
#include "collision/engines/bvh8_engine.h"
#include "collision/engines/doptree_engine.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "collision/trees/doptree.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { POSES_MAX = 5000, RUNS = 3 };

// The sum and the maximum over the poses.
typedef struct {
	double sum, most;
} column;

static void add(column *c, double value)
{
	c->sum += value;
	c->most = value > c->most ? value : c->most;
}

// A turn in `count` steps about an oblique axis, with the copy at `distance` along x.
static int turn_poses(int count, float distance, tac_rigid *out)
{
	tac_vec3 axis = tac_vec3_normalize(tac_vec3_make(0.4F, 0.3F, 0.86F));
	for (int i = 0; i < count; i++)
		out[i] = (tac_rigid){tac_mat3_from_axis_angle(axis, 6.2831853F * (float)i / (float)count),
				     tac_vec3_make(distance, 0, 0)};
	return count;
}

// The mean time of an engine, us.
static double engine_us(const tac_collider *engine, tac_context *context, const tac_mesh *mesh,
			const tac_rigid *poses, int count)
{
	tac_shape *shape;
	if (tac_shape_build(engine, mesh, &shape) < 0)
		exit(1);
	double sum = 0;
	context->coherent = false;
	for (int i = 0; i < count; i++) {
		int64_t best = INT64_MAX;
		for (int run = 0; run < RUNS; run++) {
			int64_t begin = tac_clock_now_ns();
			tac_collider_query(engine, context, shape, shape, &poses[i], TAC_QUERY_FIRST,
					   (tac_budget){0});
			int64_t ns = tac_clock_now_ns() - begin;
			best = ns < best ? ns : best;
		}
		sum += (double)best * 1e-3;
	}
	tac_shape_destroy(&shape);
	return sum / count;
}

// A chip with the tree of a mesh at address 0 of its memory.
static tac_chip *load_chip(const tac_doptree *tree)
{
	tac_chip *chip;
	tac_chip_def def = tac_chip_def_default();
	uint32_t bytes = def.memory_bytes = tac_chip_tree_bytes(tree);
	void *encoded = malloc(bytes);
	if (!encoded || tac_chip_create(&def, &chip) < 0)
		exit(1);
	tac_chip_tree_encode(tree, 0, encoded);
	tac_chip_memory_write(chip, 0, encoded, bytes);
	free(encoded);
	return chip;
}

// Runs a query, and returns the least time that the model takes, us.
static double model_us(tac_chip *chip, const tac_chip_query *query)
{
	int64_t best = INT64_MAX;
	for (int run = 0; run < RUNS; run++) {
		int64_t begin = tac_clock_now_ns();
		tac_chip_batch batch;
		tac_chip_query_encode(query, &batch);
		tac_chip_apply(chip, &batch);
		tac_chip_clock(chip, UINT64_MAX);
		int64_t ns = tac_clock_now_ns() - begin;
		best = ns < best ? ns : best;
	}
	return (double)best * 1e-3;
}

// The three queries of a pose.
typedef enum { FIRST_EQ5, FIRST_SCHED, PAIRS_SCHED, MODES } mode;

typedef struct {
	column aligned, tumbled, checks, eq5_us, sched_us; // of the chip
	column first_us, pairs_us;                         // of the model
	double pairs_cycles, stall_cycles, late_pairs;     // late: pairs behind the first two of a list
	int touching;
} chip_result;

static void add_query(chip_result *r, mode m, const uint64_t c[TAC_CHIP_COUNTER_COUNT], tac_overlap answer,
		      double us)
{
	const double chip_us = (double)c[TAC_CHIP_CYCLES_TOTAL] * TAC_CHIP_CYCLE_NS * 1e-3;
	if (m == FIRST_EQ5) {
		r->touching += answer == TAC_OVERLAP_HIT;
		add(&r->aligned, (double)c[TAC_CHIP_OVERLAP_TESTS]);
		add(&r->tumbled, (double)c[TAC_CHIP_TUMBLED_NODES]);
		add(&r->checks, (double)c[TAC_CHIP_TRI_TESTS_FWD]);
		add(&r->eq5_us, chip_us);
		add(&r->first_us, us);
	} else if (m == FIRST_SCHED) {
		add(&r->sched_us, chip_us);
	} else {
		add(&r->pairs_us, us);
		r->pairs_cycles += (double)c[TAC_CHIP_CYCLES_TOTAL];
		r->stall_cycles += (double)c[TAC_CHIP_STALL_SDRAM];
		r->late_pairs += (double)c[TAC_CHIP_ALIGNED_PAIRS] - 2 * (double)c[TAC_CHIP_LISTS];
	}
}

static chip_result measure_chip(const char *name, const tac_mesh *mesh, const tac_rigid *poses, int count)
{
	tac_doptree *tree;
	if (tac_doptree_build(mesh, TAC_DOPTREE_R, &tree) < 0)
		exit(1);
	tac_chip *chip = load_chip(tree);
	chip_result result = {0};
	for (int i = 0; i < count; i++) {
		for (mode m = FIRST_EQ5; m < MODES; m++) {
			tac_chip_query query = {
				.extent = tree->extent,
				.flags = TAC_CHIP_LAYOUT_R | TAC_CHIP_CLOSED_TRI |
					 (m != FIRST_EQ5 ? TAC_CHIP_SCHED : 0) |
					 (m == PAIRS_SCHED ? TAC_CHIP_ALL_HITS : 0),
				.motion = poses[i],
			};
			double us = model_us(chip, &query);
			uint32_t status = tac_chip_read(chip, TAC_CHIP_STATUS);
			tac_overlap answer = tac_chip_answer(status);
			if (answer == TAC_OVERLAP_UNKNOWN) {
				fprintf(stderr, "bench_chip: %s, pose %d: status %#x\n", name, i, status);
				exit(1);
			}
			uint64_t counters[TAC_CHIP_COUNTER_COUNT];
			tac_chip_counters_read(chip, counters);
			add_query(&result, m, counters, answer, us);
		}
	}
	tac_chip_destroy(&chip);
	tac_doptree_destroy(&tree);
	return result;
}

static void measure(const char *name, const tac_mesh *mesh, const tac_rigid *poses, int count)
{
	tac_context *context;
	tac_context_def def = tac_context_def_default();
	if (tac_context_create(&def, &context) < 0)
		exit(1);
	terminal shown = {0};
	terminal_step(&shown, name, 1, 4, "the model");
	chip_result r = measure_chip(name, mesh, poses, count);
	terminal_step(&shown, name, 2, 4, "classic");
	double classic = engine_us(tac_classic_collider(), context, mesh, poses, count);
	terminal_step(&shown, name, 3, 4, "doptree");
	double doptree = engine_us(tac_doptree_collider(), context, mesh, poses, count);
	terminal_step(&shown, name, 4, 4, "wide");
	double wide = engine_us(tac_bvh8_collider(), context, mesh, poses, count);
	terminal_clear(&shown);
	tac_context_destroy(&context);
	double eq5_us = r.eq5_us.sum / count;
	printf("%-8s %8d | %8.0f %8.0f %7.0f %8.2f %8.2f | %8.0f %8.0f %8.1f %8.1f | "
	       "%8.2f %8.2f %7.2f | %5.1f %5.1f\n",
	       name, mesh->triangle_count, r.aligned.sum / count, r.tumbled.sum / count, r.checks.sum / count,
	       eq5_us, r.sched_us.sum / count, r.aligned.most, r.tumbled.most, r.eq5_us.most, r.sched_us.most,
	       classic, doptree, wide, classic / eq5_us, wide / eq5_us);
	printf("%-8s %d of %d poses in contact; model: first hit %.1f µs on average, %.0f at most; "
	       "all pairs %.1f and %.0f; %.0f million cycles a second; bank waits %.2f cycles a pair\n",
	       "", r.touching, count, r.first_us.sum / count, r.first_us.most, r.pairs_us.sum / count,
	       r.pairs_us.most, r.pairs_cycles / r.pairs_us.sum,
	       r.late_pairs > 0 ? r.stall_cycles / r.late_pairs : 0.0);
}

int main(int argc, char **argv)
{
	static tac_rigid poses[POSES_MAX];
	static const char *const names[] = {"filter", "dragon", "bunny", "buddha"};
	const char *folder = argc > 1 ? argv[1] : TACTUS_MESHES;
	bench_paper_table1();
	printf("The same columns by the model (µs); engines: this machine; "
	       "the last two: engine / chip by Equation 5\n");
	printf("%-8s %8s | %8s %8s %7s %8s %8s | %8s %8s %8s %8s | %8s %8s %7s | %5s %5s\n", "mesh",
	       "polygons", "aligned", "tumbled", "checks", "EQ5", "SCHED", "aligned", "tumbled", "EQ5",
	       "SCHED", "classic", "doptree", "wide", "cl/ch", "w/ch");
	int found = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s.poses", folder, names[i]);
		int count = bench_load_poses(path, poses, POSES_MAX);
		if (count == 0)
			continue;
		tac_mesh *mesh;
		snprintf(path, sizeof path, "%s/%s.off", folder, names[i]);
		if (tac_mesh_load(path, NULL, &mesh) < 0)
			continue;
		measure(names[i], mesh, poses, count);
		tac_mesh_destroy(&mesh);
		found++;
	}
	if (found == 0) {
		tac_mesh_filter_def filter = tac_mesh_filter_def_default();
		tac_mesh *mesh;
		if (tac_mesh_build_filter(&filter, &mesh) < 0)
			return 1;
		measure("filter*", mesh, poses, turn_poses(360, 0.6F, poses));
		tac_mesh_destroy(&mesh);
		if (tac_mesh_build_torus(0.35F, 0.15F, 300, 100, &mesh) < 0)
			return 1;
		measure("torus*", mesh, poses, turn_poses(360, 0.9F, poses));
		tac_mesh_destroy(&mesh);
		printf("* generated: no meshes in %s\n", folder);
	}
	return 0;
}
