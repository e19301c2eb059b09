// The CollisionChip: Table 1 of the paper from its counts, the same columns measured by the model on our
// meshes with the software engines beside it, and the speed of the model itself.
//
//	bench_chip [FOLDER]
//
// FOLDER has NAME.off with NAME.poses (12 numbers a line); without them meshes are generated.
//
// A time of the chip is Equation 5 on the counts of the query, as in the paper: triangle tests and stack are
// not in it. The column SCHED has the event schedule with triangles. Software times are the minimum of three
// runs of each query in one thread of this machine; first hit, poses in order.
#include "apps/terminal.h"
#include "base/rng.h"
#include "bench/paper.h"
#include "collision/chip_host.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "collision/traverse.h"
#include "collision/wide.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSES_MAX = 5000, RUNS = 3 };

typedef struct {
	double sum, most;
} column;

static void add(column *c, double value)
{
	c->sum += value;
	c->most = value > c->most ? value : c->most;
}

static int load_poses(const char *path, tac_motion *out)
{
	FILE *file = fopen(path, "r");
	int count = 0;
	while (file != NULL && count < POSES_MAX) {
		tac_motion *m = &out[count];
		float t[3];
		int read = 0;
		for (int i = 0; i < 9; ++i)
			read += fscanf(file, "%f", &m->rotation.m[i / 3][i % 3]) == 1;
		for (int i = 0; i < 3; ++i)
			read += fscanf(file, "%f", &t[i]) == 1;
		if (read != 12)
			break;
		m->translation = tac_vec3_load(t);
		++count;
	}
	if (file != NULL)
		fclose(file);
	return count;
}

// A turn in `count` steps about an oblique axis, the copy at `distance` along x.
static int turn_poses(int count, float distance, tac_motion *out)
{
	tac_vec3 axis = tac_vec3_normalize(tac_vec3_make(0.4F, 0.3F, 0.86F));
	for (int i = 0; i < count; ++i)
		out[i] = (tac_motion){tac_mat3_from_axis_angle(axis, 6.2831853F * (float)i / (float)count),
				      tac_vec3_make(distance, 0, 0)};
	return count;
}

static double engine_us(const tac_collider *engine, tac_context *context, const tac_mesh *mesh,
			const tac_motion *poses, int count)
{
	tac_shape *shape;
	if (tac_shape_build(engine, mesh, &shape) < 0)
		exit(1);
	double sum = 0;
	context->coherent = false;
	for (int i = 0; i < count; ++i) {
		int64_t best = INT64_MAX;
		for (int run = 0; run < RUNS; ++run) {
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

static void measure(const char *name, const tac_mesh *mesh, const tac_motion *poses, int count)
{
	tac_doptree *tree;
	tac_chip *chip;
	tac_chip_def def = tac_chip_def_default();
	if (tac_doptree_build(mesh, TAC_DOPTREE_R, &tree) < 0)
		exit(1);
	uint32_t bytes = tac_chip_tree_bytes(tree);
	def.memory_bytes = bytes;
	if (tac_chip_create(&def, &chip) < 0)
		exit(1);
	void *encoded = malloc(bytes);
	if (encoded == NULL)
		exit(1);
	tac_chip_tree_encode(tree, 0, encoded);
	tac_chip_memory_write(chip, 0, encoded, bytes);
	free(encoded);

	column aligned = {0}, tumbled = {0}, checks = {0}, eq5 = {0}, sched = {0}, wall = {0},
	       pairs_wall = {0};
	double cycles = 0, stall = 0, late_pairs = 0;
	int touching = 0;
	terminal shown = {0};
	terminal_step(&shown, name, 1, 4, "the model");
	for (int i = 0; i < count; ++i) {
		uint64_t c[TAC_CHIP_COUNTER_COUNT];
		for (int mode = 0; mode < 3; ++mode) { // Equation 5; schedule; schedule with all pairs
			tac_chip_query query = {
				.extent = tree->extent,
				.flags = TAC_CHIP_LAYOUT_R | TAC_CHIP_CLOSED_TRI |
					 (mode > 0 ? TAC_CHIP_SCHED : 0) | (mode > 1 ? TAC_CHIP_ALL_HITS : 0),
				.motion = poses[i],
			};
			int64_t best = INT64_MAX;
			for (int run = 0; run < RUNS; ++run) {
				int64_t begin = tac_clock_now_ns();
				tac_chip_batch batch;
				tac_chip_query_encode(&query, &batch);
				tac_chip_apply(chip, &batch);
				tac_chip_clock(chip, UINT64_MAX);
				int64_t ns = tac_clock_now_ns() - begin;
				best = ns < best ? ns : best;
			}
			tac_contact contact = tac_chip_answer(tac_chip_read(chip, TAC_CHIP_STATUS));
			if (contact == TAC_CONTACT_UNKNOWN) {
				fprintf(stderr, "bench_chip: %s, pose %d: status %#x\n", name, i,
					tac_chip_read(chip, TAC_CHIP_STATUS));
				exit(1);
			}
			tac_chip_counters_read(chip, c);
			if (mode == 0) {
				touching += contact == TAC_CONTACT_HIT;
				add(&aligned, (double)c[TAC_CHIP_OVERLAP_TESTS]);
				add(&tumbled, (double)c[TAC_CHIP_TUMBLED_NODES]);
				add(&checks, (double)c[TAC_CHIP_TRI_TESTS_FWD]);
				add(&eq5, (double)c[TAC_CHIP_CYCLES_TOTAL] * TAC_CHIP_CYCLE_NS * 1e-3);
				add(&wall, (double)best * 1e-3);
			} else if (mode == 1) {
				add(&sched, (double)c[TAC_CHIP_CYCLES_TOTAL] * TAC_CHIP_CYCLE_NS * 1e-3);
			} else {
				add(&pairs_wall, (double)best * 1e-3);
				cycles += (double)c[TAC_CHIP_CYCLES_TOTAL];
				stall += (double)c[TAC_CHIP_STALL_SDRAM];
				late_pairs +=
					(double)c[TAC_CHIP_ALIGNED_PAIRS] - 2 * (double)c[TAC_CHIP_LISTS];
			}
		}
	}
	tac_context *context;
	tac_context_def context_def = tac_context_def_default();
	if (tac_context_create(&context_def, &context) < 0)
		exit(1);
	terminal_step(&shown, name, 2, 4, "classic");
	double classic = engine_us(tac_classic_collider(), context, mesh, poses, count);
	terminal_step(&shown, name, 3, 4, "doptree");
	double doptree = engine_us(tac_doptree_collider(), context, mesh, poses, count);
	terminal_step(&shown, name, 4, 4, "wide");
	double wide = engine_us(tac_wide_collider(), context, mesh, poses, count);
	terminal_clear(&shown);
	printf("%-8s %8d | %8.0f %8.0f %7.0f %8.2f %8.2f | %8.0f %8.0f %8.1f %8.1f | %8.2f %8.2f %7.2f | "
	       "%5.1f %5.1f\n",
	       name, mesh->triangle_count, aligned.sum / count, tumbled.sum / count, checks.sum / count,
	       eq5.sum / count, sched.sum / count, aligned.most, tumbled.most, eq5.most, sched.most, classic,
	       doptree, wide, classic / (eq5.sum / count), wide / (eq5.sum / count));
	printf("%-8s %d of %d poses in contact; model: first hit %.1f µs on average, %.0f at most; all pairs "
	       "%.1f and %.0f; "
	       "%.0f million cycles a second; bank waits %.2f cycles a pair\n",
	       "", touching, count, wall.sum / count, wall.most, pairs_wall.sum / count, pairs_wall.most,
	       cycles / pairs_wall.sum, late_pairs > 0 ? stall / late_pairs : 0.0);
	tac_context_destroy(&context);
	tac_chip_destroy(&chip);
	tac_doptree_destroy(&tree);
}

int main(int argc, char **argv)
{
	static tac_motion poses[POSES_MAX];
	static const char *const names[] = {"filter", "dragon", "bunny", "buddha"};
	const char *folder = argc > 1 ? argv[1] : TACTUS_MESHES;
	bench_paper_table1();
	printf("The same columns by the model (µs); engines: this machine; the last two: engine / chip by "
	       "Equation 5\n");
	printf("%-8s %8s | %8s %8s %7s %8s %8s | %8s %8s %8s %8s | %8s %8s %7s | %5s %5s\n", "mesh",
	       "polygons", "aligned", "tumbled", "checks", "EQ5", "SCHED", "aligned", "tumbled", "EQ5",
	       "SCHED", "classic", "doptree", "wide", "cl/ch", "w/ch");
	int found = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s.poses", folder, names[i]);
		int count = load_poses(path, poses);
		if (count == 0)
			continue;
		tac_mesh *mesh;
		snprintf(path, sizeof path, "%s/%s.off", folder, names[i]);
		if (tac_mesh_load(path, NULL, &mesh) < 0)
			continue;
		measure(names[i], mesh, poses, count);
		tac_mesh_destroy(&mesh);
		++found;
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
