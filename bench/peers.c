// bench_peers [FOLDER] [REPEATS] [MESH…]: our engines beside public libraries, on the meshes and poses of
// FOLDER (default: the CMake variable TACTUS_MESHES; dragon, bunny, buddha and filter, or those named), or on
// generated ones if the folder has none. Minimum of REPEATS runs for each pose, mean and maximum over the
// poses; one run, the engines alternating. "wide coherent" uses temporal coherence (tac_context::coherent),
// wide does not. "chip by Equation 5" is the time of the CollisionChip for the same query: 40 cycles of 3.76
// ns a tumbled node and 2.5 cycles an aligned visit, as counted by doptree. The table is printed, and written
// as CSV to bench_peers.csv.
#include "apps/terminal/terminal.h"
#include "bench/peer.h"
#include "bench/poses.h"
#include "collision/chip_host.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "rt/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POSES_MAX   4096
#define SUBJECT_MAX 16
// Subjects whose rounds take longer run three of them only: their minima hardly change.
#define LONG_ROUND_NS 1e9

typedef struct {
	const char *name;
	const tac_collider *collider; // NULL: a peer
	const peer *peer;
	bool coherent;
	bool chip; // no queries: Equation 5 from the counters of the previous subject
	void *fixed, *moving;
	double round_ns, mean, worst;
	long hits, pairs;
} subject;

static tac_rigid poses[POSES_MAX];
static double least[SUBJECT_MAX][POSES_MAX];

// A turn in 90 steps about an oblique axis, at a distance at which some of the poses touch.
static int make_poses(float distance)
{
	for (int i = 0; i < 90; i++) {
		tac_vec3 axis = tac_vec3_normalize(tac_vec3_make(1.0F, 0.7F, 0.3F));
		tac_quat q = tac_quat_from_axis_angle(axis, (float)i * 0.0698F);
		poses[i].R = tac_mat3_from_quat(q);
		poses[i].t = tac_vec3_make(distance, 0.1F * distance, 0.05F * distance);
	}
	return 90;
}

static long query_pairs(const subject *s, tac_context *context, const tac_rigid *motion, bool first)
{
	if (s->peer)
		return s->peer->query(s->fixed, s->moving, motion, first);
	tac_collider_query(s->collider, context, s->moving, s->fixed, motion,
			   first ? TAC_QUERY_FIRST : TAC_QUERY_PAIRS, (tac_budget){0, 0});
	return (long)context->pair_count;
}

// Returns the number of subjects.
static int set_up(subject *subjects, const tac_mesh *mesh)
{
	int n = 0;
	for (int i = 0; tac_collider_at(i); i++) {
		subjects[n++] = (subject){.name = tac_collider_at(i)->name, .collider = tac_collider_at(i)};
		if (strcmp(tac_collider_at(i)->name, "doptree") == 0)
			subjects[n++] = (subject){.name = "chip by Equation 5", .chip = true};
	}
	subjects[n++] =
		(subject){.name = "wide coherent", .collider = tac_collider_find("wide"), .coherent = true};
	for (int i = 0; tac_peers[i]; i++)
		subjects[n++] = (subject){.name = tac_peers[i]->name, .peer = tac_peers[i]};
	for (int i = 0; i < n; i++) {
		subject *s = &subjects[i];
		if (s->chip)
			continue;
		if (s->peer) {
			s->fixed = s->peer->build(mesh, false);
			s->moving = s->peer->build(mesh, true);
			continue;
		}
		tac_shape *shape[2];
		for (int k = 0; k < 2; k++)
			if (tac_shape_build(s->collider, mesh, &shape[k]) < 0)
				exit(1);
		s->fixed = shape[0];
		s->moving = shape[1];
	}
	return n;
}

static void tear_down(subject *subjects, int n)
{
	for (int i = 0; i < n; i++) {
		subject *s = &subjects[i];
		if (s->chip)
			continue;
		if (s->peer) {
			s->peer->destroy(s->fixed);
			s->peer->destroy(s->moving);
			continue;
		}
		tac_shape *shape[2] = {s->fixed, s->moving};
		tac_shape_destroy(&shape[0]);
		tac_shape_destroy(&shape[1]);
	}
}

static double log_ratio[2][4]; // [mode][wide mean, max, coherent mean, max]
static int log_count;

// Queries every pose once and keeps the least times.
static void round_of(subject *s, tac_context *context, int count, bool first, bool fresh, double *ns)
{
	context->coherent = s->coherent;
	tac_context_forget(context);
	s->hits = s->pairs = 0;
	int64_t begin = tac_clock_now_ns();
	for (int p = 0; p < count; p++) {
		if (s->peer && s->peer->place)
			s->peer->place(s->moving, &poses[p]);
		int64_t start = tac_clock_now_ns();
		long found = query_pairs(s, context, &poses[p], first);
		double took = (double)(tac_clock_now_ns() - start);
		ns[p] = fresh ? took : fmin(ns[p], took);
		s->hits += found > 0;
		s->pairs += found > 0 ? found : 0;
	}
	s->round_ns = (double)(tac_clock_now_ns() - begin);
}

// The time of the chip from the counters of `s`, which must be doptree.
static void equation_5(const subject *s, tac_context *context, int count, bool first, double *ns)
{
	for (int p = 0; p < count; p++) {
		query_pairs(s, context, &poses[p], first);
		ns[p] = (40.0 * (double)context->counters.transforms +
			 2.5 * (double)context->counters.overlap_tests) *
			TAC_CHIP_CYCLE_NS;
	}
}

static void measure(FILE *csv, const char *name, subject *subjects, int n, tac_context *context, int count,
		    bool first, int repeats)
{
	// Two rounds of a subject in a row: the first one loads its trees into the caches.
	terminal shown = {0};
	for (int r = 0; r < repeats; r++)
		for (int k = 0; k < 2 * n; k++) {
			int i = k / 2;
			subject *s = &subjects[i];
			if (s->chip || (2 * r + k % 2 >= 3 && s->round_ns > LONG_ROUND_NS))
				continue;
			terminal_step(&shown, name, r * 2 * n + k + 1, repeats * 2 * n, s->name);
			round_of(s, context, count, first, r == 0 && k % 2 == 0, least[i]);
			if (r == 0 && i + 1 < n && subjects[i + 1].chip)
				equation_5(s, context, count, first, least[i + 1]);
		}
	terminal_clear(&shown);
	double best_mean = (double)INFINITY, best_worst = (double)INFINITY;
	const subject *chip = NULL, *coherent = NULL;
	for (int i = 0; i < n; i++) {
		subject *s = &subjects[i];
		s->mean = s->worst = 0.0;
		for (int p = 0; p < count; p++) {
			s->mean += least[i][p] * 1e-3 / count;
			s->worst = fmax(s->worst, least[i][p] * 1e-3);
		}
		chip = s->chip ? s : chip;
		coherent = s->coherent ? s : coherent;
		if (s->peer) {
			best_mean = fmin(best_mean, s->mean);
			best_worst = fmin(best_worst, s->worst);
		}
	}
	printf("\n%s, %s: %d poses; times in us, ratio to the best peer\n", name, first ? "first" : "pairs",
	       count);
	printf("  %-22s %10s %10s %8s %8s %6s %9s\n", "", "mean", "max", "x mean", "x max", "hit", "pairs");
	for (int i = 0; i < n; i++) {
		const subject *s = &subjects[i];
		printf("  %-22s %10.2f %10.2f %8.2f %8.2f %6ld %9ld\n", s->name, s->mean, s->worst,
		       best_mean / s->mean, best_worst / s->worst, s->hits, s->pairs);
		fprintf(csv, "%s,%s,%s,%.4f,%.4f,%.3f,%.3f,%ld,%ld\n", name, first ? "first" : "pairs",
			s->name, s->mean, s->worst, best_mean / s->mean, best_worst / s->worst, s->hits,
			s->pairs);
	}
	if (chip)
		printf("  Equation 5 is %.1f times wide on average, %.1f for the maxima\n",
		       chip->mean / subjects[0].mean, chip->worst / subjects[0].worst);
	if (isfinite(best_mean) && coherent) {
		const double ratio[] = {best_mean / subjects[0].mean, best_worst / subjects[0].worst,
					best_mean / coherent->mean, best_worst / coherent->worst};
		for (int k = 0; k < 4; k++)
			log_ratio[first][k] += log(ratio[k]);
	}
	fflush(stdout);
}

static void run(FILE *csv, const char *name, const tac_mesh *mesh, int count, int repeats)
{
	tac_context_def def = tac_context_def_default();
	def.pair_capacity = 1 << 20;
	def.scratch_bytes = (size_t)64 << 20;
	tac_context *context;
	if (tac_context_create(&def, &context) < 0)
		exit(1);
	subject subjects[SUBJECT_MAX];
	int n = set_up(subjects, mesh);
	measure(csv, name, subjects, n, context, count, true, repeats);
	measure(csv, name, subjects, n, context, count, false, repeats);
	log_count++;
	tear_down(subjects, n);
	tac_context_destroy(&context);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"dragon", "bunny", "buddha", "filter"};
	const char *folder = argc > 1 ? argv[1] : TACTUS_MESHES;
	int repeats = argc > 2 ? atoi(argv[2]) : 9;
	FILE *csv = fopen("bench_peers.csv", "w");
	if (!csv) {
		fprintf(stderr, "bench_peers: cannot write bench_peers.csv\n");
		return 1;
	}
	fprintf(csv, "mesh,mode,engine,mean_us,max_us,ratio_mean,ratio_max,hits,pairs\n");
	for (int i = 0; i < 4; i++) {
		bool wanted = argc <= 3;
		for (int k = 3; k < argc; k++)
			wanted |= strcmp(argv[k], names[i]) == 0;
		if (!wanted)
			continue;
		char path[512];
		snprintf(path, sizeof path, "%s/%s.poses", folder, names[i]);
		int count = bench_load_poses(path, poses, POSES_MAX);
		if (count == 0)
			continue;
		snprintf(path, sizeof path, "%s/%s.off", folder, names[i]);
		tac_mesh *mesh;
		tac_mesh_load_def def = tac_mesh_load_def_default();
		if (tac_mesh_load(path, &def, &mesh) < 0)
			return 1;
		run(csv, names[i], mesh, count, repeats);
		tac_mesh_destroy(&mesh);
	}
	if (log_count == 0) {
		tac_mesh *mesh;
		tac_mesh_filter_def def = tac_mesh_filter_def_default();
		if (tac_mesh_build_torus(1.0F, 0.35F, 256, 96, &mesh) < 0)
			return 1;
		run(csv, "torus", mesh, make_poses(1.6F), repeats);
		tac_mesh_destroy(&mesh);
		if (tac_mesh_build_filter(&def, &mesh) < 0)
			return 1;
		run(csv, "filter", mesh, make_poses(0.55F), repeats);
		tac_mesh_destroy(&mesh);
	}
	printf("\nTime of the best peer over ours, geometric mean over %d meshes:\n", log_count);
	printf("  %-14s %8s %8s %8s %8s %8s %8s\n", "", "first", "max", "pairs", "max", "both", "max");
	for (int k = 0; k < 4; k += 2) {
		printf("  %-14s", k == 0 ? "wide" : "wide coherent");
		for (int mode = 1; mode >= 0; mode--)
			printf(" %8.1f %8.1f", exp(log_ratio[mode][k] / log_count),
			       exp(log_ratio[mode][k + 1] / log_count));
		printf(" %8.1f %8.1f\n", exp((log_ratio[0][k] + log_ratio[1][k]) / (2 * log_count)),
		       exp((log_ratio[0][k + 1] + log_ratio[1][k + 1]) / (2 * log_count)));
	}
	return fclose(csv) == 0 ? 0 : 1;
}
