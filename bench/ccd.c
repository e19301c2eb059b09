// Continuous collision of 60,000-triangle bodies near contact. Sweeps at a new place each time (cold) and
// again at the same place (warm) are compared with the same motion by the axial BSP, by 64 static steps with
// the same trees, which prove nothing between the steps, and by FCL's conservative advancement where it is
// built in (bench_ccd_fcl). Other columns are the certificate of a combined motion, and the queries of a
// haptic tick: contacts, a certificate, contacts at its end. The tables vary the number of triangles and the
// length of the motion, and use the reference meshes where they are installed. Ratios hold within one run;
// times are means over motions near contact, in CPU time of the thread. The BSP and FCL get every tenth
// motion, and they and the certificate none above 1 cm, because they take long.
//
//   bench_ccd [--meshes FOLDER] [--csv FILE] [triangles|length|meshes|tick …]
//   bench_ccd sweeps     only 1 mm and 1 degree, for counting instructions
#include "base/rng.h"
#include "collision/certificate.h"
#include "collision/contacts.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "collision/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOTIONS     100
#define SLOW_LENGTH 1.1e-2 // the longest motion of the BSP, FCL and the certificate, m
#define SLOW_EVERY  10     // motions for each one of the BSP and FCL
#define WALKS       60
#define TICKS       100 // of each walk
#define STEPS       64
#define DEGREE      (3.14159265358979323846 / 180)
#define NEAR_GAP    1e-4 // the distance at which motions start, m

typedef struct mesh_body {
	tac_mesh *mesh;
	tac_body *body;
} mesh_body;

static mesh_body mesh_body_make(tac_mesh *mesh)
{
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	def.bsp = true;
	mesh_body t = {mesh, NULL};
	if (tac_body_build(&def, &t.body) != TAC_OK)
		exit(1);
	return t;
}

static void mesh_body_free(mesh_body *t)
{
	tac_body_destroy(&t->body);
	tac_mesh_destroy(&t->mesh);
}

typedef struct motion {
	tac_drigid T;
	tac_dvec3 v, axis;
	double angle;
} motion;

// A motion from a pose NEAR_GAP away from the other body, where a translation into it stopped.
static motion motion_near(tac_rng *rng, const mesh_body *a, const mesh_body *b, double length, double angle)
{
	for (;;) {
		tac_dvec3 p = tac_dvec3_scale(tac_rng_unit_f64(rng),
					      1.1 * (tac_body_radius(a->body) + tac_body_radius(b->body)));
		tac_drigid T = tac_drigid_from_pose(tac_dpose_make(p, tac_rng_rotation_f64(rng)));
		tac_sweep_options options = tac_sweep_options_default();
		options.zone = NEAR_GAP;
		tac_dvec3 target = tac_dvec3_scale(tac_rng_unit_f64(rng), 0.3 * tac_body_radius(b->body));
		tac_dvec3 v = tac_dvec3_sub(target, p);
		tac_sweep_result r = tac_sweep_translate(a->body, b->body, &T, v, &options, NULL);
		if (r.fraction == 1 || r.fraction == 0)
			continue;
		motion m = {tac_sweep_translated(&T, v, r.fraction),
			    tac_dvec3_scale(tac_rng_unit_f64(rng), length), tac_rng_unit_f64(rng), angle};
		return m;
	}
}

// Times in us, means over motions of a translation and a rotation; cold unless named warm.
typedef struct cost {
	double translate, rotate, warm_translate, warm_rotate, worst;
	double stepwise, bsp, certificate;
	double fcl;       // 0: not built in
	double reference; // of the sweeps, over the motions of the BSP and FCL
	double stopped, pairs;
} cost;

#ifdef HAVE_FCL
#define FCL true
// bench/ccd_fcl.cpp: the fraction at which a moving mesh touches a fixed one, by conservative advancement.
void *fcl_body(const tac_mesh *mesh);
void fcl_body_free(void *body);
double fcl_sweep(void *fixed, void *moving, const tac_drigid *from, const tac_drigid *to);
#else
#define FCL false
static void *fcl_body(const tac_mesh *mesh)
{
	(void)mesh;
	return NULL;
}
static void fcl_body_free(void *body)
{
	(void)body;
}
static double fcl_sweep(void *fixed, void *moving, const tac_drigid *from, const tac_drigid *to)
{
	(void)fixed;
	(void)moving;
	(void)from;
	(void)to;
	return 0;
}
#endif

// CPU time of the thread: the machine may be shared.
static int64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double us_since(int64_t start)
{
	return (double)(cpu_ns() - start) / 1e3;
}

// The same two motions in static steps, until one intersects.
static void step_through(const mesh_body *a, const mesh_body *b, const motion *m, const tac_drigid *T)
{
	for (int k = 1; k <= STEPS; k++) {
		tac_drigid P = tac_sweep_translated(&m->T, m->v, (double)k / STEPS);
		if (tac_body_distance(a->body, b->body, &P, 1e-9, NULL, NULL, NULL) <= 0)
			break;
	}
	for (int k = 1; k <= STEPS; k++) {
		tac_drigid P = tac_sweep_rotated(T, T->t, m->axis, m->angle, (double)k / STEPS);
		if (tac_body_distance(a->body, b->body, &P, 1e-9, NULL, NULL, NULL) <= 0)
			break;
	}
}

static cost measure(const mesh_body *a, const mesh_body *b, double length, double angle)
{
	tac_rng rng = tac_rng_seed(1, 1);
	tac_sweep_options options = tac_sweep_options_default(), bsp = options;
	bsp.bsp = true;
	tac_certificate_options proof = tac_certificate_options_default();
	cost sum = {0};
	void *fcl_a = fcl_body(a->mesh), *fcl_b = fcl_body(b->mesh);
	for (int i = 0; i < MOTIONS; i++) {
		motion m = motion_near(&rng, a, b, length, angle);
		tac_sweep_result t = {0}, r = {0};
		tac_drigid T = m.T;
		double both = 0;
		for (int warm = 0; warm < 2; warm++) {
			int64_t start = cpu_ns();
			t = tac_sweep_translate(a->body, b->body, &m.T, m.v, &options, NULL);
			double translate = us_since(start);
			T = tac_sweep_translated(&m.T, m.v, t.fraction);
			start = cpu_ns();
			r = tac_sweep_rotate(a->body, b->body, &T, T.t, m.axis, m.angle, &options, NULL);
			double rotate = us_since(start);
			*(warm ? &sum.warm_translate : &sum.translate) += translate / MOTIONS;
			*(warm ? &sum.warm_rotate : &sum.rotate) += rotate / MOTIONS;
			both = warm ? both : translate + rotate;
		}
		sum.worst = fmax(sum.worst, both);
		int64_t start = cpu_ns();
		if (length <= SLOW_LENGTH)
			tac_certificate_check(a->body, b->body, &m.T, m.v,
					      tac_dvec3_scale(m.axis, fmin(m.angle, 1)), &proof, NULL);
		sum.certificate += us_since(start) / MOTIONS;
		if (i % SLOW_EVERY == 0 && length <= SLOW_LENGTH) {
			start = cpu_ns();
			tac_sweep_result tb = tac_sweep_translate(a->body, b->body, &m.T, m.v, &bsp, NULL);
			tac_sweep_result rb =
				tac_sweep_rotate(a->body, b->body, &T, T.t, m.axis, m.angle, &bsp, NULL);
			sum.bsp += us_since(start) * SLOW_EVERY / MOTIONS;
			if (fabs(tb.fraction - t.fraction) > 1e-9 || fabs(rb.fraction - r.fraction) > 1e-9)
				printf("the BSP disagrees: %.17g %.17g, %.17g %.17g\n", t.fraction,
				       tb.fraction, r.fraction, rb.fraction);
			tac_drigid to[2] = {tac_sweep_translated(&m.T, m.v, 1),
					    tac_sweep_rotated(&T, T.t, m.axis, m.angle, 1)};
			start = cpu_ns();
			fcl_sweep(fcl_b, fcl_a, &m.T, &to[0]);
			fcl_sweep(fcl_b, fcl_a, &T, &to[1]);
			sum.fcl += FCL ? us_since(start) * SLOW_EVERY / MOTIONS : 0;
			sum.reference += both * SLOW_EVERY / MOTIONS;
		}
		start = cpu_ns();
		step_through(a, b, &m, &T);
		sum.stepwise += us_since(start) / MOTIONS;
		sum.stopped += ((t.fraction < 1) + (r.fraction < 1)) / (2.0 * MOTIONS);
		sum.pairs += (double)(t.pairs + r.pairs) / (2.0 * MOTIONS);
	}
	fcl_body_free(fcl_a);
	fcl_body_free(fcl_b);
	return sum;
}

static FILE *csv; // NULL: none

static void print_head(const char *what)
{
	printf("\n%-34s %17s %17s %8s %7s %9s %9s %9s %9s %7s\n", "", "cold, us", "again, us", "cold", "64",
	       "with", "", "certif", "", "");
	printf("%-34s %8s %8s %8s %8s %8s %7s %9s %9s %9s %7s %6s\n", what, "transl", "rotate", "transl",
	       "rotate", "worst us", "steps", "the BSP", "FCL", "us", "stopped", "pairs");
}

// `table` and `x` are for the CSV: the name of the variable and its value.
static void print_cost(const char *name, cost c, const char *table, double x)
{
	double both = c.translate + c.rotate;
	char bsp[16] = "-", fcl[16] = "-";
	if (c.bsp > 0)
		snprintf(bsp, sizeof bsp, "%.1fx", c.bsp / c.reference);
	if (c.fcl > 0)
		snprintf(fcl, sizeof fcl, "%.0fx", c.fcl / c.reference);
	printf("%-34s %8.1f %8.1f %8.1f %8.1f %8.1f %6.1fx %9s %9s %9.1f %6.0f%% %6.0f\n", name, c.translate,
	       c.rotate, c.warm_translate, c.warm_rotate, c.worst, c.stepwise / both, bsp, fcl, c.certificate,
	       100 * c.stopped, c.pairs);
	fflush(stdout);
	if (!csv)
		return;
	fprintf(csv, "%s,%g,trees,%.3f\n%s,%g,trees again,%.3f\n", table, x, both, table, x,
		c.warm_translate + c.warm_rotate);
	fprintf(csv, "%s,%g,64 static steps,%.3f\n", table, x, c.stepwise);
	if (c.bsp > 0)
		fprintf(csv, "%s,%g,axial BSP,%.3f\n", table, x, c.bsp);
	if (c.fcl > 0)
		fprintf(csv, "%s,%g,FCL,%.3f\n", table, x, c.fcl);
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

// Walks along the surface: contacts within the margin, a step that avoids them, its certificate, contacts at
// its end. A tick of the SCO makes these queries once or a few times.
static void measure_ticks(const char *name, const mesh_body *a, const mesh_body *b, double step)
{
	static tac_contacts contacts;
	static double us[WALKS * TICKS];
	tac_rng rng = tac_rng_seed(2, 1);
	tac_certificate_options proof = tac_certificate_options_default();
	double margin = 2 * step + 2e-5, sum = 0, listed = 0;
	int n = 0;
	tac_sweep_context *context;
	if (tac_sweep_context_create(&context) != TAC_OK)
		exit(1);
	for (int walk = 0; walk < WALKS; walk++) {
		tac_drigid T = motion_near(&rng, a, b, 0, 0).T;
		tac_dvec3 direction = tac_dvec3_zero();
		tac_sweep_context_reset(context);
		for (int k = 0; k < TICKS; k++) {
			if (k % 10 == 0) // towards the other body and along it
				direction =
					tac_dvec3_add_scaled(tac_dvec3_scale(tac_dvec3_normalize(T.t), -1),
							     1.5, tac_rng_unit_f64(&rng));
			int64_t start = cpu_ns();
			tac_contacts_query(a->body, b->body, &T, margin, context, &contacts);
			double spent = us_since(start);
			tac_dvec3 v = tac_dvec3_scale(tac_dvec3_normalize(direction), step);
			for (int i = 0; i < 4 * contacts.count; i++) {
				const tac_contact_point *c = &contacts.list[i % contacts.count];
				double miss = 1e-5 - c->gap - tac_dvec3_dot(c->normal, v);
				if (miss > 0)
					v = tac_dvec3_add_scaled(v, miss, c->normal);
			}
			tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng),
						      0.3 * step / tac_body_radius(a->body));
			start = cpu_ns();
			tac_certificate c =
				tac_certificate_check(a->body, b->body, &T, v, w, &proof, context);
			tac_drigid P = tac_certificate_pose(&T, v, w, c.fraction);
			tac_contacts_query(a->body, b->body, &P, margin, context, &contacts);
			spent += us_since(start);
			if (contacts.distance > 4e-6)
				T = P;
			us[n++] = spent;
			sum += spent;
			listed += contacts.count;
		}
	}
	tac_sweep_context_destroy(&context);
	qsort(us, (size_t)n, sizeof us[0], compare_doubles);
	printf("%-34s %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f\n", name, sum / n, us[n / 2], us[n * 99 / 100],
	       us[n * 999 / 1000], us[n - 1], listed / n);
	fflush(stdout);
}

static bool load_two(const char *folder, const char *const names[2], mesh_body out[2])
{
	for (int k = 0; k < 2; k++) {
		char path[512];
		tac_mesh *mesh;
		snprintf(path, sizeof path, "%s/%s.off", folder, names[k]);
		if (tac_mesh_load(path, NULL, &mesh) != TAC_OK) {
			if (k == 1)
				mesh_body_free(&out[0]);
			return false;
		}
		out[k] = mesh_body_make(mesh);
	}
	return true;
}

static const char *const references[][2] = {
	{"bunny", "bunny"}, {"bunny", "dragon"}, {"dragon", "filter"}, {"buddha", "buddha"}};
#define REFERENCES ((int)(sizeof references / sizeof references[0]))

static mesh_body ball_60000(void)
{
	tac_mesh *mesh;
	if (tac_mesh_build_uv_sphere(0.15f, 246, 123, &mesh) != TAC_OK)
		exit(1);
	return mesh_body_make(mesh);
}

static mesh_body torus_60000(void)
{
	tac_mesh *mesh;
	if (tac_mesh_build_torus(0.3f, 0.1f, 246, 122, &mesh) != TAC_OK)
		exit(1);
	return mesh_body_make(mesh);
}

static void table_triangles(void)
{
	char name[64];
	print_head("triangles, 1 mm and 1 degree");
	for (int n = 2; n <= 6; n++) {
		tac_mesh *torus, *ball;
		int32_t segments = 16 << (n - 2);
		if (tac_mesh_build_torus(0.3f, 0.1f, 2 * segments, segments, &torus) != TAC_OK ||
		    tac_mesh_build_icosphere(0.15f, n, &ball) != TAC_OK)
			exit(1);
		mesh_body a = mesh_body_make(ball), b = mesh_body_make(torus);
		snprintf(name, sizeof name, "ball %d, torus %d", ball->triangle_count, torus->triangle_count);
		print_cost(name, measure(&a, &b, 1e-3, DEGREE), "triangles", torus->triangle_count);
		mesh_body_free(&a);
		mesh_body_free(&b);
	}
}

static void table_length(void)
{
	char name[64];
	print_head("length of the motion");
	mesh_body a = ball_60000(), b = torus_60000();
	for (int k = 0; k < 7; k++) {
		double length = 1e-4 * pow(10, 0.5 * k), angle = 0.1 * pow(10, 0.5 * k);
		snprintf(name, sizeof name, "60,000 each, %.3g m, %.3g degrees", length, angle);
		print_cost(name, measure(&a, &b, length, angle * DEGREE), "length", length);
	}
	mesh_body_free(&a);
	mesh_body_free(&b);
}

static void table_meshes(const char *folder)
{
	print_head("reference meshes, 1 mm and 1 degree");
	for (int i = 0; i < REFERENCES; i++) {
		mesh_body two[2];
		char name[64];
		if (!load_two(folder, references[i], two))
			continue;
		snprintf(name, sizeof name, "%s, %s", references[i][0], references[i][1]);
		print_cost(name, measure(&two[0], &two[1], 1e-3, DEGREE), "meshes", i);
		mesh_body_free(&two[0]);
		mesh_body_free(&two[1]);
	}
}

static void table_tick(const char *folder)
{
	printf("\n%-34s %9s %9s %9s %9s %9s %9s\n", "two contacts and a certificate, us", "mean", "p50",
	       "p99", "p99.9", "max", "contacts");
	for (int i = -1; i < REFERENCES; i++) {
		mesh_body two[2];
		if (i < 0) {
			two[0] = ball_60000();
			two[1] = torus_60000();
		} else if (!load_two(folder, references[i], two)) {
			continue;
		}
		for (int k = 0; k < 2; k++) {
			char name[64];
			double step = k ? 5e-4 : 1e-4;
			snprintf(name, sizeof name, "%s, %s, %g mm", i < 0 ? "ball" : references[i][0],
				 i < 0 ? "torus" : references[i][1], 1e3 * step);
			measure_ticks(name, &two[0], &two[1], step);
		}
		mesh_body_free(&two[0]);
		mesh_body_free(&two[1]);
	}
}

// valgrind --tool=callgrind --toggle-collect=sweep_short bench_ccd sweeps
__attribute__((noinline)) static int64_t sweep_short(const mesh_body *a, const mesh_body *b, const motion *m)
{
	tac_sweep_options options = tac_sweep_options_default();
	tac_sweep_result t = tac_sweep_translate(a->body, b->body, &m->T, m->v, &options, NULL);
	tac_drigid T = tac_sweep_translated(&m->T, m->v, t.fraction);
	tac_sweep_result r = tac_sweep_rotate(a->body, b->body, &T, T.t, m->axis, m->angle, &options, NULL);
	return t.pairs + r.pairs;
}

static void run_sweeps(void)
{
	mesh_body a = ball_60000(), b = torus_60000();
	tac_rng rng = tac_rng_seed(1, 1);
	int64_t pairs = 0;
	for (int i = 0; i < MOTIONS; i++) {
		motion m = motion_near(&rng, &a, &b, 1e-3, DEGREE);
		pairs += sweep_short(&a, &b, &m);
	}
	printf("%d motions, %lld pairs\n", MOTIONS, (long long)pairs);
	mesh_body_free(&a);
	mesh_body_free(&b);
}

int main(int argc, char **argv)
{
	const char *folder = TACTUS_MESHES;
	bool selected[5] = {false}, any = false;
	static const char *const names[5] = {"triangles", "length", "meshes", "tick", "sweeps"};
	for (int i = 1; i < argc; i++) {
		bool is_table = false;
		for (int k = 0; k < 5; k++) {
			bool same = strcmp(argv[i], names[k]) == 0;
			selected[k] = selected[k] || same;
			is_table = is_table || same;
		}
		any = any || is_table;
		const char *path = i + 1 < argc ? argv[i + 1] : NULL;
		if (strcmp(argv[i], "--meshes") == 0 && path) {
			folder = argv[++i];
		} else if (strcmp(argv[i], "--csv") == 0 && path && !csv) {
			csv = fopen(argv[++i], "w");
			if (!csv) {
				fprintf(stderr, "bench_ccd: expected a file to write, found '%s'\n", path);
				return 1;
			}
			fprintf(csv, "table,x,series,us\n");
		} else if (!is_table) {
			fprintf(stderr,
				"bench_ccd: expected --meshes FOLDER, --csv FILE, triangles, length, meshes, "
				"tick or sweeps, found '%s'\n",
				argv[i]);
			return 2;
		}
	}
	if (selected[0] || !any)
		table_triangles();
	if (selected[1] || !any)
		table_length();
	if (selected[2] || !any)
		table_meshes(folder);
	if (selected[3] || !any)
		table_tick(folder);
	if (selected[4])
		run_sweeps();
	if (csv && fclose(csv) != 0)
		return 1;
	return 0;
}
