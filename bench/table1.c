// bench_table1 [FOLDER] [STEPS]: Table 1 of the CollisionChip paper from its counts, and the same columns on
// our meshes by the paper's procedure. Two copies of a mesh, each scaled to fit the cube [-1, 1]^3, are
// placed at a distance between the centres of their boxes. One tumbles by a full turn about z and x in STEPS
// steps (5000), with a first-hit query at each step; then the distance is decreased. Prints averages and
// maxima over the turn for each engine and for the chip's model. The last two columns are the chip's time by
// Equation 5 (40 N_t + 2.5 N_a cycles of 3.76 ns); `us` is the time on this machine. Below them are the ratio
// of tumbled nodes that classic and doptree transform, the ratio of nodes that they fetch, and Equation 5
// over the time of wide. Where the chip's gates are built (docs/rtl.md), a line has their clocks for every
// 50th step beside Equation 5 and the event schedule. "coherent" is wide with temporal coherence
// (tac_context::coherent).
#include "apps/terminal/terminal.h"
#include "bench/paper.h"
#include "collision/chip_collider.h"
#include "collision/chip_host.h"
#include "collision/collider.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "hardware/rtl.h"
#include "rt/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TURNS 3 // of which the least time of each step counts
enum { CHIP, CLASSIC, DOPTREE, WIDE, COHERENT, ROWS };
static const char *const engines[ROWS] = {"chip", "classic", "doptree", "wide", "wide"};
static const char *const labels[ROWS] = {"chip", "classic", "doptree", "wide", "coherent"};
static const float distances[] = {2.2F, 1.8F, 1.4F, 1.0F};

#define RTL_STRIDE 50
static bool has_gates; // whether libtactus_rtl.so is there

typedef struct {
	double tests, transforms, nodes, triangles, us, chip_us;
} work;

static void add(work *mean, work *most, const tac_counters *c, double us, int steps)
{
	const work w = {(double)c->overlap_tests,
			(double)c->transforms,
			(double)c->nodes,
			(double)c->triangle_tests,
			us,
			tac_chip_equation_5((double)c->overlap_tests, (double)c->transforms) *
				TAC_CHIP_CYCLE_NS * 1e-3};
	const double *from = &w.tests;
	double *s = &mean->tests, *m = &most->tests;
	for (size_t i = 0; i < sizeof w / sizeof w.tests; i++) {
		s[i] += from[i] / steps;
		m[i] = fmax(m[i], from[i]);
	}
}

static tac_rigid tumble(int step, int steps, float distance)
{
	float angle = 6.2831853F * (float)step / (float)steps;
	tac_quat z = tac_quat_from_axis_angle(tac_vec3_make(0, 0, 1), angle);
	tac_quat x = tac_quat_from_axis_angle(tac_vec3_make(1, 0, 0), angle);
	return (tac_rigid){tac_mat3_from_quat(tac_quat_mul(z, x)), tac_vec3_make(distance, 0, 0)};
}

// The chip's time for the same queries three times: by Equation 5, by the schedule of events, and in clocks
// of its gates. Simulating gates is slow, so some steps of the turn stand for all.
static void print_clocks(const tac_mesh *mesh, tac_context *context, int steps, float distance)
{
	tac_shape *shape;
	if (!has_gates || tac_shape_build(tac_rtl_collider(), mesh, &shape) < 0)
		return;
	double equation_5 = 0, sched = 0, clocks = 0;
	int count = 0;
	for (int i = 0; i < steps; i += RTL_STRIDE, count++) {
		tac_rigid motion = tumble(i, steps, distance);
		tac_collider_query(tac_rtl_collider(), context, shape, shape, &motion, TAC_QUERY_FIRST,
				   (tac_budget){0, 0});
		uint64_t c[TAC_CHIP_COUNTER_COUNT], taken;
		if (!tac_rtl_collider_counters(context, c, &taken))
			break;
		equation_5 += tac_chip_equation_5((double)c[TAC_CHIP_OVERLAP_TESTS],
						  (double)c[TAC_CHIP_TUMBLED_NODES]);
		sched += (double)c[TAC_CHIP_CYCLES_TOTAL];
		clocks += (double)taken;
	}
	printf("       chip cycles, mean of %d steps: Equation 5 %.0f, schedule %.0f, gates %.0f\n", count,
	       equation_5 / count, sched / count, clocks / count);
	tac_shape_destroy(&shape);
}

static void run(const char *name, tac_mesh *mesh, tac_context *context, int steps)
{
	// Scale the mesh in place, before its trees are built.
	tac_vec3 centre = tac_vec3_scale(tac_vec3_add(mesh->bounds_min, mesh->bounds_max), 0.5F);
	float half = tac_vec3_max_component(
		tac_vec3_scale(tac_vec3_sub(mesh->bounds_max, mesh->bounds_min), 0.5F));
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		mesh->vertices[i] = tac_vec3_div(tac_vec3_sub(mesh->vertices[i], centre), half);

	printf("\n%s, %d triangles, %d steps a turn\n", name, mesh->triangle_count, steps);
	printf("  %4s %-8s | %9s %9s %9s %9s %9s | %9s %9s %9s %9s | %9s %9s\n", "d", "avg", "tests",
	       "transf.", "nodes", "triangles", "us", "max tests", "transf.", "triangles", "us", "chip avg",
	       "chip max");
	tac_shape *shapes[ROWS];
	double *us = malloc((size_t)steps * sizeof *us);
	for (int e = 0; e < ROWS; e++)
		if (!us || tac_shape_build(tac_collider_find(engines[e]), mesh, &shapes[e]) < 0)
			exit(1);
	terminal shown = {0};
	for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
		work mean[ROWS] = {0}, most[ROWS] = {0};
		for (int e = 0; e < ROWS; e++) {
			const tac_collider *c = tac_collider_find(engines[e]);
			context->coherent = e == COHERENT;
			terminal_step(&shown, name, (int)d * ROWS + e + 1,
				      (int)(sizeof distances / sizeof *distances) * ROWS, labels[e]);
			// Whole turns, so that each step follows the previous one. The time of the model is
			// not that of the chip, so one turn is enough for it.
			const int turns = e == CHIP ? 1 : TURNS;
			for (int turn = 0; turn < turns; turn++)
				for (int i = 0; i < steps; i++) {
					tac_rigid motion = tumble(i, steps, distances[d]);
					int64_t start = tac_clock_now_ns();
					tac_collider_query(c, context, shapes[e], shapes[e], &motion,
							   TAC_QUERY_FIRST, (tac_budget){0, 0});
					double took = (double)(tac_clock_now_ns() - start) * 1e-3;
					us[i] = turn == 0 ? took : fmin(us[i], took);
					if (turn == turns - 1)
						add(&mean[e], &most[e], &context->counters, us[i], steps);
				}
			terminal_clear(&shown);
			printf("  %4.1f %-8s | %9.1f %9.1f %9.1f %9.1f %9.2f | %9.0f %9.0f %9.0f %9.2f |",
			       (double)distances[d], labels[e], mean[e].tests, mean[e].transforms,
			       mean[e].nodes, mean[e].triangles, mean[e].us, most[e].tests,
			       most[e].transforms, most[e].triangles, most[e].us);
			if (e == CHIP)
				printf(" %9.2f %9.2f", mean[e].chip_us, most[e].chip_us);
			printf("\n");
		}
		printf("       classic over doptree: transforms %.2f, nodes %.2f; "
		       "Equation 5 over wide: mean %.1f, max %.1f\n",
		       mean[CLASSIC].transforms / mean[DOPTREE].transforms,
		       mean[CLASSIC].nodes / mean[DOPTREE].nodes, mean[CHIP].chip_us / mean[WIDE].us,
		       most[CHIP].chip_us / most[WIDE].us);
		print_clocks(mesh, context, steps, distances[d]);
		fflush(stdout);
	}
	for (int e = 0; e < ROWS; e++)
		tac_shape_destroy(&shapes[e]);
	free(us);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"filter", "dragon", "bunny", "buddha"};
	const char *folder = argc > 1 ? argv[1] : TACTUS_MESHES;
	int steps = argc > 2 ? atoi(argv[2]) : 5000;
	tac_context_def def = tac_context_def_default();
	def.scratch_bytes = (size_t)64 << 20;
	tac_context *context;
	if (steps < 1 || tac_context_create(&def, &context) < 0)
		return 1;
	tac_collider_add(tac_chip_collider());
	const tac_rtl_api *gates;
	has_gates = tac_rtl_load(&gates) == TAC_OK;
	bench_paper_table1();
	printf("The same columns on our meshes\n");
	for (int i = 0; i < 4; i++) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s.off", folder, names[i]);
		FILE *file = fopen(path, "r");
		if (!file)
			continue;
		fclose(file);
		tac_mesh *mesh;
		tac_mesh_load_def load = tac_mesh_load_def_default();
		if (tac_mesh_load(path, &load, &mesh) < 0)
			return 1;
		run(names[i], mesh, context, steps);
		tac_mesh_destroy(&mesh);
	}
	tac_mesh *torus;
	if (tac_mesh_build_torus(1.0F, 0.35F, 250, 124, &torus) < 0)
		return 1;
	run("torus", torus, context, steps);
	tac_mesh_destroy(&torus);
	tac_context_destroy(&context);
	return 0;
}
