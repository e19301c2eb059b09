// The time of a tick on soft tissue: solve and commit of a ball that is pressed up to 7 mm into a patch of
// 2,025 nodes 1.5 mm apart, at up to 0.1 m/s. Each tick is timed in several replays in CPU time of the
// thread, and the least counts, so that what interrupts the machine is left out. Then cold ticks: at a place
// where the tool is put down, with nothing of it in the caches, the least of three replays. With --large also
// 8,100 nodes with creep, and a finite-element body of about 10,000 nodes, which `tactus bench prepare
// --large` leaves in the cache; otherwise it is prepared first, which takes minutes.
#include "base/rng.h"
#include "bench/soft_ball.h"
#include "bench/tissue_patch.h"
#include "tissue/contact.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TICKS = 20000, REPLAYS = 5, COLD = 200, COLD_REPLAYS = 3, SIDE = 45, SIDE_LARGE = 90 };

#define R       0.01
#define R_WIDE  0.016      // on wider points
#define FLUSH   (64 << 20) // bytes: more than the caches hold
#define CELL_M  0.0015
#define CREEP   0.4
#define CREEP_S 0.8

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void print(const char *name, int64_t *ns, int count)
{
	double mean = 0;
	if (count == 0)
		return;
	for (int i = 0; i < count; i++)
		mean += (double)ns[i] / count;
	qsort(ns, (size_t)count, sizeof *ns, compare);
	printf("%-22s %7d %8.1f %8.1f %8.1f %8.1f %8.1f\n", name, count, mean / 1e3,
	       (double)ns[count / 2] / 1e3, (double)ns[(int64_t)count * 99 / 100] / 1e3,
	       (double)ns[(int64_t)count * 999 / 1000] / 1e3, (double)ns[count - 1] / 1e3);
}

static tac_dpose at(double x, double y, double z)
{
	return tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_identity());
}

// What is pressed: a plane at z = 0, or a ball around the origin.
typedef struct ground {
	const char *name;
	const tac_compliance *compliance;
	double radius_m; // 0: a plane
	double tool_m;   // radius of the tool
} ground;

// Where the tool is pressed by a depth at a place on the ground, x and y along its surface.
static tac_dpose press(const ground *g, double x, double y, double depth_m)
{
	if (g->radius_m == 0)
		return at(x, y, g->tool_m - depth_m);
	const double a = x / g->radius_m, b = y / g->radius_m, away = g->radius_m + g->tool_m - depth_m;
	return at(away * sin(a), away * cos(a) * sin(b), away * cos(a) * cos(b));
}

typedef struct run {
	int64_t least_ns[TICKS];
	int32_t rows[TICKS];
	int32_t most_factorisations;
	double force_N;
} run;

static bool step(tac_tissue *t, tac_dpose *tool, tac_dpose device, int64_t *out_ns)
{
	const tac_tissue_input in = {
		.T_body_tool = *tool, .T_body_device = device, .stiffness_N_per_m = 1000, .elapsed_s = 1e-3};
	const int64_t begin_ns = now_ns();
	tac_tissue_solve(t, &in, tool);
	tac_tissue_commit(t, *tool);
	*out_ns = now_ns() - begin_ns;
	return tac_tissue_state_of(t)->loaded > 0;
}

static tac_tissue_def tissue_of(const ground *g)
{
	return (tac_tissue_def){g->name, g->compliance, {.radius_m = g->tool_m}, true};
}

static void measure(const ground *g, run *r)
{
	const tac_tissue_def def = tissue_of(g);
	for (int replay = 0; replay < REPLAYS; replay++) {
		tac_tissue *t;
		if (tac_tissue_create(&def, &t) < TAC_OK)
			exit(1);
		const tac_tissue_state *s = tac_tissue_state_of(t);
		tac_dpose tool = press(g, 0, 0, -1e-3);
		for (int i = 0; i < TICKS; i++) {
			const double time = i * 1e-3;
			int64_t ns;
			step(t, &tool,
			     press(g, 0.018 * sin(2.0 * time), 0.015 * sin(1.3 * time + 1),
				   0.004 + 0.003 * sin(3 * time)),
			     &ns);
			r->least_ns[i] = replay == 0 || ns < r->least_ns[i] ? ns : r->least_ns[i];
			r->rows[i] = s->rows;
			r->force_N = fmax(r->force_N, s->load_N);
			if (s->factorisations > r->most_factorisations)
				r->most_factorisations = s->factorisations;
		}
		tac_tissue_destroy(&t);
	}
}

static void measure_cold(const ground *g, int64_t *least_ns)
{
	const tac_tissue_def def = tissue_of(g);
	tac_tissue *t;
	char *junk = malloc(FLUSH);
	if (!junk || tac_tissue_create(&def, &t) < TAC_OK)
		exit(1);
	for (int replay = 0; replay < COLD_REPLAYS; replay++) {
		tac_rng rng = tac_rng_seed(1, 1);
		for (int i = 0; i < COLD; i++) {
			int64_t ns;
			tac_tissue_reset(t);
			memset(junk, i, FLUSH);
			const double x = tac_rng_range_f64(&rng, -0.02, 0.02);
			const double y = tac_rng_range_f64(&rng, -0.02, 0.02);
			tac_dpose tool = press(g, x, y, -1e-4), device = press(g, x, y, 0.0025);
			step(t, &tool, device, &ns);
			least_ns[i] = replay == 0 || ns < least_ns[i] ? ns : least_ns[i];
		}
	}
	tac_tissue_destroy(&t);
	free(junk);
}

static void report(const ground *g)
{
	static run r;
	static int64_t part[TICKS];
	memset(&r, 0, sizeof r);
	measure(g, &r);
	printf("tissue, %s%s, us a tick, least of %d replays; %d nodes, %.0f MB\n%-22s %7s %8s %8s %8s %8s "
	       "%8s\n",
	       g->name, g->compliance->material.creep > 0 ? " with creep" : "", REPLAYS,
	       (int)g->compliance->node_count, (double)g->compliance->image_bytes / 1e6, "rows", "ticks",
	       "mean", "p50", "p99", "p99.9", "max");
	for (int low = 1; low <= 81; low += 16) {
		int count = 0;
		char name[32];
		for (int i = 0; i < TICKS; i++) {
			if (r.rows[i] >= low && r.rows[i] < low + 16)
				part[count++] = r.least_ns[i];
		}
		snprintf(name, sizeof name, "%d to %d", low, low + 15);
		print(name, part, count);
	}
	print("all", r.least_ns, TICKS);
	measure_cold(g, part);
	print("cold", part, COLD);
	printf("largest force %.3f N, at most %d factorisations a tick\n\n", r.force_N,
	       (int)r.most_factorisations);
	fflush(stdout);
}

static bool report_patch(int side, bool creep)
{
	tissue_patch p = {10e3, 0.45, CELL_M, side, creep ? CREEP : 0, CREEP_S, 0, NULL, NULL};
	tac_compliance *c = tissue_patch_make(&p);
	if (!c)
		return false;
	report(&(ground){"patch", c, 0, R});
	tac_compliance_destroy(&c);
	return true;
}

static bool report_ball(void)
{
	tac_mesh *mesh = soft_ball_mesh();
	if (!mesh)
		return false;
	const tac_elastic_def def = soft_ball(mesh, SOFT_BALL_LARGE_M);
	tac_compliance *c;
	const tac_result result = tac_elastic_prepare(&def, &c);
	tac_mesh_destroy(&mesh);
	if (result < TAC_OK)
		return false;
	report(&(ground){"ball of finite elements", c, SOFT_BALL_RADIUS_M, R_WIDE});
	tac_compliance creeping = *c; // the same numbers, of another material
	creeping.material.creep = CREEP;
	creeping.material.creep_time_s = CREEP_S;
	report(&(ground){"ball of finite elements", &creeping, SOFT_BALL_RADIUS_M, R_WIDE});
	tac_compliance_destroy(&c);
	return true;
}

int main(int argc, char **argv)
{
	const bool large = argc > 1 && strcmp(argv[1], "--large") == 0;
	bool good = report_patch(SIDE, false) && report_patch(SIDE, true);
	if (large)
		good = good && report_patch(SIDE_LARGE, true) && report_ball();
	return good ? 0 : 1;
}
