// The tick of the SCO: what one step costs in contact, against the size of the meshes, and in overload. CPU
// time of the thread, so that a shared machine does not count; the ticks are those of a device that presses a
// few millimetres into the scene while it slides and turns at the speed of a hand.
#include "base/denormal.h"
#include "base/rng.h"
#include "collision/ccd.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "haptic/sco.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICKS 1500
#define SIZE  0.2 // m, the diagonal of every mesh

typedef struct thing {
	tac_mesh *mesh;
	tac_ccd_body *body;
} thing;

static thing thing_make(tac_mesh *mesh)
{
	tac_ccd_body_def def = tac_ccd_body_def_default();
	def.mesh = mesh;
	def.solid = tac_mesh_is_watertight(mesh);
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

// The mesh with its box's diagonal SIZE long.
static tac_mesh *resized(tac_mesh *mesh)
{
	tac_vec3 d = tac_vec3_sub(mesh->bounds_max, mesh->bounds_min);
	float factor = (float)SIZE / tac_vec3_length(d);
	tac_vec3 *v = malloc((size_t)mesh->vertex_count * sizeof *v);
	if (!v)
		exit(1);
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		v[i] = tac_vec3_scale(mesh->vertices[i], factor);
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = v;
	def.vertex_count = mesh->vertex_count;
	def.triangles = mesh->triangles;
	def.triangle_count = mesh->triangle_count;
	tac_mesh *out;
	if (tac_mesh_build(&def, &out) != TAC_OK)
		exit(1);
	free(v);
	tac_mesh_destroy(&mesh);
	return out;
}

static int64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

// A device that presses by `depth` and slides at up to `speed` m/s, turning by about 6 rad a metre.
typedef struct hand {
	tac_dvec3 center, axis, across, along;
	double depth, speed;
} hand;

static tac_dpose hand_at(const hand *h, double t)
{
	double amplitude = 0.02, rate = h->speed / amplitude;
	tac_dvec3 p = tac_dvec3_add_scaled(h->center, h->depth * (1 - exp(-5 * t)), h->axis);
	p = tac_dvec3_add_scaled(p, amplitude * sin(rate * t), h->across);
	p = tac_dvec3_add_scaled(p, amplitude * sin(0.7 * rate * t), h->along);
	tac_dvec3 w =
		tac_dvec3_make(0.2 * sin(0.6 * rate * t), 0.15 * sin(0.8 * rate * t), 0.1 * sin(rate * t));
	return tac_dpose_make(p, tac_dquat_exp(w));
}

static void print_head(const char *what)
{
	printf("\n%-30s %8s %8s %8s %8s %8s %8s | %7s %6s %6s %7s %6s %6s\n", what, "mean us", "p50", "p99",
	       "p99.9", "max", "triangles", "contact", "pieces", "looks", "pairs", "spent", "late");
}

static void run(const char *name, const tac_sco_def *def, tac_dpose start, const hand *h, int32_t triangles)
{
	tac_sco *sco;
	static double us[TICKS];
	if (tac_sco_create(def, &sco) != TAC_OK || !tac_sco_reset(sco, start, NULL)) {
		printf("%-30s does not start free\n", name);
		return;
	}
	double sum = 0, pieces = 0, looks = 0, pairs = 0;
	int contact = 0, spent = 0, limited = 0;
	tac_sco_report r;
	for (int k = 0; k < TICKS; k++) {
		tac_dpose device = hand_at(h, k * 1e-3);
		int64_t from = cpu_ns();
		tac_sco_step(sco, device, NULL, &r);
		us[k] = (double)(cpu_ns() - from) * 1e-3;
		sum += us[k];
		contact += (r.flags & TAC_SCO_CONTACT) != 0;
		spent += (r.flags & TAC_SCO_BUDGET_SPENT) != 0;
		limited += (r.flags & TAC_SCO_LIMITED) != 0;
		pieces += r.pieces;
		looks += r.gathers + r.certificates;
		pairs += (double)r.pairs;
	}
	qsort(us, TICKS, sizeof *us, by_size);
	printf("%-30s %8.1f %8.1f %8.1f %8.1f %8.1f %8d | %6.1f%% %6.2f %6.2f %7.0f %6d %6d\n", name,
	       sum / TICKS, us[TICKS / 2], us[TICKS * 99 / 100], us[TICKS * 999 / 1000], us[TICKS - 1],
	       triangles, 100.0 * contact / TICKS, pieces / TICKS, looks / TICKS, pairs / TICKS, spent,
	       limited);
	tac_sco_destroy(&sco);
}

// The name of the one row to measure, the first argument; NULL: all.
static const char *only;

// Presses `tool` into `scene` from +x of it.
static void press(const char *name, const thing *tool, const thing *scene, double speed)
{
	if (only && strcmp(only, name) != 0)
		return;
	tac_sco_object object = {scene->body, NULL, tac_dpose_identity()};
	tac_sco_def def = tac_sco_def_default();
	def.tool = tool->body;
	def.objects = &object;
	def.object_count = 1;
	tac_dvec3 from = tac_dvec3_make(1.2 * (tool->body->radius + scene->body->radius), 0, 0);
	tac_ccd_pose T = tac_ccd_pose_from_dpose(tac_dpose_make(from, tac_dquat_identity()));
	tac_ccd_options options = tac_ccd_options_default();
	options.zone = 1e-4;
	tac_ccd_result r =
		tac_ccd_translate(tool->body, scene->body, &T, tac_dvec3_neg(from), &options, NULL);
	hand h = {tac_dvec3_scale(from, 1 - r.fraction), {-1, 0, 0}, {0, 1, 0}, {0, 0, 1}, 3e-2, speed};
	run(name, &def, tac_dpose_make(h.center, tac_dquat_identity()), &h,
	    tool->mesh->triangle_count + scene->mesh->triangle_count);
}

// A sphere of 2 mm radius, three degrees of freedom, pressed into the scene.
static void touch(const char *name, const thing *scene, double speed)
{
	if (only && strcmp(only, name) != 0)
		return;
	tac_sco_object object = {scene->body, NULL, tac_dpose_identity()};
	tac_sco_def def = tac_sco_def_default();
	def.round.radius_m = 2e-3;
	def.objects = &object;
	def.object_count = 1;
	hand h = {{1.1 * scene->body->radius, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, 0, 1}, 0, speed};
	h.depth = 0.9 * scene->body->radius;
	run(name, &def, tac_dpose_make(h.center, tac_dquat_identity()), &h, scene->mesh->triangle_count);
}

static bool load(const char *folder, const char *name, thing *out)
{
	char path[512];
	tac_mesh *mesh;
	snprintf(path, sizeof path, "%s/%s.off", folder, name);
	if (tac_mesh_load(path, NULL, &mesh) != TAC_OK)
		return false;
	*out = thing_make(resized(mesh));
	return true;
}

int main(int argc, char **argv)
{
	tac_denormal_flush(true);
	setvbuf(stdout, NULL, _IOLBF, 0);
	const char *folder = TACTUS_MESHES;
	only = argc > 1 ? argv[1] : NULL;
	print_head("6-DOF in contact, 0.1 m/s");
	for (int n = 3; n <= 6; n++) {
		tac_mesh *torus, *ball;
		int32_t segments = 16 << (n - 2);
		if (tac_mesh_build_torus(0.3f, 0.1f, 2 * segments, segments, &torus) != TAC_OK ||
		    tac_mesh_build_icosphere(0.15f, n, &ball) != TAC_OK)
			return 1;
		thing a = thing_make(resized(ball)), b = thing_make(resized(torus));
		press("ball on torus", &a, &b, 0.1);
		thing_free(&a);
		thing_free(&b);
	}
	thing bunny, dragon, buddha;
	if (load(folder, "bunny", &bunny) && load(folder, "dragon", &dragon) &&
	    load(folder, "buddha", &buddha)) {
		press("bunny on bunny", &bunny, &bunny, 0.1);
		press("dragon on dragon", &dragon, &dragon, 0.1);
		press("dragon on bunny", &dragon, &bunny, 0.1);
		press("bunny on buddha", &bunny, &buddha, 0.1);
		press("buddha on buddha", &buddha, &buddha, 0.1);
		print_head("the same at 0.5 m/s");
		press("bunny on bunny", &bunny, &bunny, 0.5);
		press("dragon on bunny", &dragon, &bunny, 0.5);
		press("buddha on buddha", &buddha, &buddha, 0.5);
		print_head("3-DOF, a sphere of 2 mm");
		touch("sphere on bunny", &bunny, 0.1);
		touch("sphere on buddha", &buddha, 0.1);
		thing_free(&bunny);
		thing_free(&dragon);
		thing_free(&buddha);
	}
	return 0;
}
