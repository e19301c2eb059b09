// Continuous collision: what a sweep costs, beside the same motion looked at in 64 static steps with the same
// trees (which proves nothing between its steps), and the certificate of a combined motion; against the
// number of triangles, against the length of the motion, and on the reference meshes where they are. Ratios
// hold in one run; times are means over motions near contact.
#include "collision/ccd.h"
#include "base/rng.h"
#include "collision/certificate.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOTIONS  200
#define STEPS    64
#define DEGREE   (3.14159265358979323846 / 180)
#define NEAR_GAP 1e-4

typedef struct thing {
	tac_mesh *mesh;
	tac_ccd_body *body;
} thing;

static thing thing_make(tac_mesh *mesh)
{
	tac_ccd_body_def def = tac_ccd_body_def_default();
	def.mesh = mesh;
	thing t = {mesh, NULL};
	if (tac_ccd_body_build(&def, &t.body) != TAC_OK)
		exit(1);
	return t;
}

static void thing_free(thing *t)
{
	tac_ccd_body_destroy(&t->body);
	tac_mesh_destroy(&t->mesh);
}

typedef struct motion {
	tac_ccd_pose T;
	tac_dvec3 v, axis;
	double angle;
} motion;

// A flight into the other body that stops NEAR_GAP before it, then a short motion from there.
static motion motion_near(tac_rng *rng, const thing *a, const thing *b, double length, double angle)
{
	for (;;) {
		tac_dvec3 p =
			tac_dvec3_scale(tac_rng_unit_f64(rng), 1.1 * (a->body->radius + b->body->radius));
		tac_ccd_pose T = tac_ccd_pose_from_dpose(tac_dpose_make(p, tac_rng_rotation_f64(rng)));
		tac_ccd_options options = tac_ccd_options_default();
		options.zone = NEAR_GAP;
		tac_dvec3 target = tac_dvec3_scale(tac_rng_unit_f64(rng), 0.3 * b->body->radius);
		tac_dvec3 v = tac_dvec3_sub(target, p);
		tac_ccd_result r = tac_ccd_translate(a->body, b->body, &T, v, &options, NULL);
		if (r.fraction == 1 || r.fraction == 0)
			continue;
		motion m = {tac_ccd_translated(&T, v, r.fraction),
			    tac_dvec3_scale(tac_rng_unit_f64(rng), length), tac_rng_unit_f64(rng), angle};
		return m;
	}
}

typedef struct cost {
	double translate_us, rotate_us, stepwise_us, certificate_us, worst_us;
	double stopped, pairs;
} cost;

// CPU time of this thread: a shared machine takes the rest.
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

static tac_ccd_context planes;

static cost measure(const thing *a, const thing *b, double length, double angle)
{
	tac_rng rng = tac_rng_seed(1, 1);
	tac_ccd_options options = tac_ccd_options_default();
	tac_certificate_options proof = tac_certificate_options_default();
	cost sum = {0};
	for (int i = 0; i < MOTIONS; i++) {
		motion m = motion_near(&rng, a, b, length, angle);
		int64_t start = cpu_ns();
		tac_ccd_result t = tac_ccd_translate(a->body, b->body, &m.T, m.v, &options, NULL);
		double translate = us_since(start);
		tac_ccd_pose T = tac_ccd_translated(&m.T, m.v, t.fraction);
		start = cpu_ns();
		tac_ccd_result r = tac_ccd_rotate(a->body, b->body, &T, T.t, m.axis, m.angle, &options, NULL);
		double rotate = us_since(start);
		start = cpu_ns();
		tac_certificate_check(a->body, b->body, &m.T, m.v, tac_dvec3_scale(m.axis, fmin(m.angle, 1)),
				      &proof, &planes);
		sum.certificate_us += us_since(start);
		// The same two motions in static steps, until one is hit.
		start = cpu_ns();
		for (int k = 1; k <= STEPS; k++) {
			tac_ccd_pose P = tac_ccd_translated(&m.T, m.v, (double)k / STEPS);
			if (tac_ccd_distance(a->body, b->body, &P, 1e-9, NULL, NULL, NULL) <= 0)
				break;
		}
		for (int k = 1; k <= STEPS; k++) {
			tac_ccd_pose P = tac_ccd_rotated(&T, T.t, m.axis, m.angle, (double)k / STEPS);
			if (tac_ccd_distance(a->body, b->body, &P, 1e-9, NULL, NULL, NULL) <= 0)
				break;
		}
		sum.stepwise_us += us_since(start);
		sum.translate_us += translate;
		sum.rotate_us += rotate;
		sum.worst_us = fmax(sum.worst_us, translate + rotate);
		sum.stopped += (t.fraction < 1) + (r.fraction < 1);
		sum.pairs += (double)(t.pairs + r.pairs);
	}
	sum.translate_us /= MOTIONS;
	sum.rotate_us /= MOTIONS;
	sum.stepwise_us /= MOTIONS;
	sum.certificate_us /= MOTIONS;
	sum.stopped /= 2 * MOTIONS;
	sum.pairs /= 2 * MOTIONS;
	return sum;
}

static void print_head(const char *what)
{
	printf("\n%-34s %9s %9s %9s %9s %9s %7s %8s\n", what, "transl us", "rotate us", "worst us",
	       "64 steps", "certif us", "stopped", "pairs");
}

static void print_cost(const char *name, cost c)
{
	printf("%-34s %9.1f %9.1f %9.1f %8.1fx %9.1f %6.0f%% %8.0f\n", name, c.translate_us, c.rotate_us,
	       c.worst_us, c.stepwise_us / (c.translate_us + c.rotate_us), c.certificate_us, 100 * c.stopped,
	       c.pairs);
}

static void measure_files(const char *folder, const char *first, const char *second)
{
	char path[512], name[128];
	tac_mesh *a, *b;
	snprintf(path, sizeof path, "%s/%s.off", folder, first);
	if (tac_mesh_load(path, NULL, &a) != TAC_OK)
		return;
	snprintf(path, sizeof path, "%s/%s.off", folder, second);
	if (tac_mesh_load(path, NULL, &b) != TAC_OK) {
		tac_mesh_destroy(&a);
		return;
	}
	thing moving = thing_make(a), fixed = thing_make(b);
	snprintf(name, sizeof name, "%s, %s", first, second);
	print_cost(name, measure(&moving, &fixed, 1e-3, DEGREE));
	thing_free(&moving);
	thing_free(&fixed);
}

int main(int argc, char **argv)
{
	char name[64];
	print_head("triangles, 1 mm and 1 degree");
	for (int n = 2; n <= 6; n++) {
		tac_mesh *torus, *ball;
		int32_t segments = 16 << (n - 2);
		if (tac_mesh_build_torus(0.3f, 0.1f, 2 * segments, segments, &torus) != TAC_OK ||
		    tac_mesh_build_icosphere(0.15f, n, &ball) != TAC_OK)
			return 1;
		thing a = thing_make(ball), b = thing_make(torus);
		snprintf(name, sizeof name, "ball %d, torus %d", ball->triangle_count, torus->triangle_count);
		print_cost(name, measure(&a, &b, 1e-3, DEGREE));
		thing_free(&a);
		thing_free(&b);
	}
	print_head("length of the motion");
	tac_mesh *torus, *ball;
	if (tac_mesh_build_torus(0.3f, 0.1f, 246, 122, &torus) != TAC_OK ||
	    tac_mesh_build_uv_sphere(0.15f, 246, 123, &ball) != TAC_OK)
		return 1;
	thing a = thing_make(ball), b = thing_make(torus);
	for (int k = 0; k < 5; k++) {
		double length = 1e-4 * pow(10, k), angle = fmin(0.1 * pow(10, k), 150);
		snprintf(name, sizeof name, "60,000 each, %g m, %g degrees", length, angle);
		print_cost(name, measure(&a, &b, length, angle * DEGREE));
	}
	thing_free(&a);
	thing_free(&b);
	print_head("reference meshes, 1 mm and 1 degree");
	const char *folder = argc > 1 ? argv[1] : TACTUS_MESHES;
	measure_files(folder, "bunny", "bunny");
	measure_files(folder, "bunny", "dragon");
	measure_files(folder, "dragon", "filter");
	return 0;
}
