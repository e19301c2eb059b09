// The cost of one step of the SCO in contact, against the size of the meshes, and in overload. The device
// presses a few millimetres into the scene while it slides and turns at the speed of a hand. To exclude the
// load of a shared machine, times are CPU times of the thread, and the least of several replays for each
// tick: a replay repeats every tick to the bit.
//
// Where its plugin is installed, CHAI3D's finger proxy follows the same path as the tool with three degrees
// of freedom (docs/chai3d.md).
//
//   bench_tick [DETAILum] [COUNTunits] [ROW]
//
// DETAILum: with bodies simplified within so many micrometres, for tools that are meshes; COUNTunits: with so
// many work units a step, for the same tools; ROW: the row of this name alone.
#include "base/denormal.h"
#include "base/rng.h"
#include "collision/continuous/body_tree.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "collision/round.h"
#include "collision/sweep.h"
#include "devices/chai3d_interface.h"
#include "haptic/sco.h"
#include "rt/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICKS   1500
#define REPLAYS 3
#define SIZE    0.2 // m, the diagonal of every mesh

typedef struct scene_body {
	tac_mesh *mesh;
	tac_body *body;
} scene_body;

static double detail_m; // of the bodies that are made
static int64_t units;   // of work in a step; 0: the default

static scene_body scene_body_make(tac_mesh *mesh)
{
	tac_body_def def = tac_body_def_default();
	def.flat_m = TAC_BODY_FLAT;
	def.detail_m = detail_m;
	def.mesh = mesh;
	def.solid = tac_mesh_is_watertight(mesh);
	scene_body t = {mesh, NULL};
	if (tac_body_build(&def, &t.body) != TAC_OK)
		exit(1);
	return t;
}

static void scene_body_free(scene_body *t)
{
	tac_body_destroy(&t->body);
	tac_mesh_destroy(&t->mesh);
}

// The mesh, scaled so that the diagonal of its bounding box is SIZE.
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
	tac_dvec3 centre, axis, across, along;
	double depth, speed;
} hand;

static tac_dpose hand_at(const hand *h, double t)
{
	double amplitude = 0.02, rate = h->speed / amplitude;
	tac_dvec3 p = tac_dvec3_add_scaled(h->centre, h->depth * (1 - exp(-5 * t)), h->axis);
	p = tac_dvec3_add_scaled(p, amplitude * sin(rate * t), h->across);
	p = tac_dvec3_add_scaled(p, amplitude * sin(0.7 * rate * t), h->along);
	tac_dvec3 w =
		tac_dvec3_make(0.2 * sin(0.6 * rate * t), 0.15 * sin(0.8 * rate * t), 0.1 * sin(rate * t));
	return tac_dpose_make(p, tac_dquat_exp(w));
}

static void print_head(const char *what)
{
	printf("\n%-30s %8s %8s %8s %8s %8s %9s | %7s %8s %7s %7s %6s %7s %9s\n", what, "mean us", "p50",
	       "p99", "p99.9", "max", "triangles", "contact", "substeps", "queries", "work", "spent",
	       "limited", "behind mm");
}

// Sums over the ticks of a row.
typedef struct sums {
	double substeps, queries, work_units;
	double behind; // distance from the device, m
	int contact, spent, limited;
} sums;

// One replay: lowers each tick's time to this one's where it is less.
static bool replay(const tac_sco_def *def, tac_dpose start, const hand *h, double us[TICKS], sums *out)
{
	tac_sco *sco;
	if (tac_sco_create(def, &sco) != TAC_OK)
		return false;
	bool started = tac_sco_reset(sco, start, NULL);
	tac_sco_report r;
	*out = (sums){0};
	for (int k = 0; started && k < TICKS; k++) {
		tac_dpose device = hand_at(h, k * 1e-3);
		int64_t from = cpu_ns();
		tac_sco_step(sco, device, NULL, &r);
		us[k] = fmin(us[k], (double)(cpu_ns() - from) * 1e-3);
		out->contact += (r.flags & TAC_SCO_CONTACT) != 0;
		out->spent += (r.flags & TAC_SCO_BUDGET_SPENT) != 0;
		out->limited += (r.flags & TAC_SCO_LIMITED) != 0;
		out->behind += tac_dvec3_length(tac_dvec3_sub(r.T_world_sco.position, device.position));
		out->substeps += r.substeps;
		out->queries += r.contact_queries + r.certificates;
		out->work_units += (double)r.work_units;
	}
	tac_sco_destroy(&sco);
	return started;
}

static void run(const char *name, const tac_sco_def *def, tac_dpose start, const hand *h, int32_t triangles)
{
	static double us[TICKS];
	sums total;
	for (int k = 0; k < TICKS; k++)
		us[k] = HUGE_VAL;
	for (int i = 0; i < REPLAYS; i++) {
		if (!replay(def, start, h, us, &total)) {
			printf("%-30s does not start free\n", name);
			return;
		}
	}
	double sum = 0;
	for (int k = 0; k < TICKS; k++)
		sum += us[k];
	qsort(us, TICKS, sizeof *us, by_size);
	printf("%-30s %8.1f %8.1f %8.1f %8.1f %8.1f %9d | %6.1f%% %8.2f %7.2f %7.0f %6d %7d %9.3f\n", name,
	       sum / TICKS, us[TICKS / 2], us[TICKS * 99 / 100], us[TICKS * 999 / 1000], us[TICKS - 1],
	       triangles, 100.0 * total.contact / TICKS, total.substeps / TICKS, total.queries / TICKS,
	       total.work_units / TICKS, total.spent, total.limited, total.behind / TICKS * 1e3);
}

// The name of the only row to measure; NULL: all.
static const char *only;

// Presses `tool` into `scene` from its +x side.
static void press(const char *name, const scene_body *tool, const scene_body *scene, double speed)
{
	if (only && strcmp(only, name) != 0)
		return;
	tac_sco_object object = {.body = scene->body, .T_world_object = tac_dpose_identity()};
	tac_sco_def def = tac_sco_def_default();
	def.tool = tool->body;
	def.objects = &object;
	def.object_count = 1;
	if (units > 0)
		def.work_units = units;
	tac_dvec3 from =
		tac_dvec3_make(1.2 * (tac_body_radius(tool->body) + tac_body_radius(scene->body)), 0, 0);
	tac_drigid T = tac_drigid_from_pose(tac_dpose_make(from, tac_dquat_identity()));
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = 1e-4 + tac_body_detail(tool->body) + tac_body_detail(scene->body);
	tac_sweep_result r =
		tac_sweep_translate(tool->body, scene->body, &T, tac_dvec3_neg(from), &options, NULL);
	hand h = {tac_dvec3_scale(from, 1 - r.fraction), {-1, 0, 0}, {0, 1, 0}, {0, 0, 1}, 3e-2, speed};
	run(name, &def, tac_dpose_make(h.centre, tac_dquat_identity()), &h,
	    tool->mesh->triangle_count + scene->mesh->triangle_count);
}

// --- three degrees of freedom ---

#define RADIUS  2e-3 // m, of the sphere
#define REPEATS 15

static tac_dvec3 device_path[TICKS];
static double least_us[TICKS];

static void print_touch_head(const char *what)
{
	printf("\n%-30s %8s %8s %8s %8s %8s %8s | %7s %8s %7s %6s %7s\n", what, "mean us", "p50", "p99",
	       "p99.9", "max", "triangles", "contact", "substeps", "queries", "work", "limited");
}

static void keep_least(int k, int64_t from_ns)
{
	least_us[k] = fmin(least_us[k], (double)(tac_clock_now_ns() - from_ns) * 1e-3);
}

static void print_touch(const char *name, int32_t triangles)
{
	double sum = 0;
	for (int k = 0; k < TICKS; k++)
		sum += least_us[k];
	qsort(least_us, TICKS, sizeof *least_us, by_size);
	printf("%-30s %8.2f %8.2f %8.2f %8.2f %8.2f %8d |", name, sum / TICKS, least_us[TICKS / 2],
	       least_us[TICKS * 99 / 100], least_us[TICKS * 999 / 1000], least_us[TICKS - 1], triangles);
	for (int k = 0; k < TICKS; k++)
		least_us[k] = HUGE_VAL;
}

static void touch_with_chai3d(const scene_body *scene)
{
	char reason[256];
	const tac_chai3d_api *api;
	tac_chai3d_world *world;
	tac_chai3d_object *object;
	tac_chai3d_tool *tool;
	if (tac_chai3d_load(&api, reason, sizeof reason) != TAC_OK)
		return;
	const tac_mesh *mesh = scene->mesh;
	size_t vertices = (size_t)mesh->vertex_count;
	double *positions = malloc(3 * vertices * sizeof *positions);
	if (!positions || api->world_create(&world) != TAC_OK)
		exit(1);
	for (size_t i = 0; i < vertices; i++)
		tac_dvec3_store(positions + 3 * i, tac_dvec3_from_vec3(mesh->vertices[i]));
	const tac_chai3d_material material = {.stiffness_N_per_m = 1000};
	if (api->mesh_create(world, positions, vertices, (const uint32_t *)mesh->triangles,
			     (size_t)mesh->triangle_count, RADIUS, &object) != TAC_OK ||
	    api->object_material(object, &material) != TAC_OK ||
	    api->tool_create(world, RADIUS, false, &tool) != TAC_OK)
		exit(1);
	int contact = 0;
	for (int n = 0; n < REPEATS; n++) {
		double at[3], velocity[3] = {0, 0, 0};
		tac_dvec3_store(at, device_path[0]);
		api->tool_place(tool, at);
		for (int k = 0; k < TICKS; k++) {
			tac_chai3d_contact result;
			tac_dvec3_store(at, device_path[k]);
			int64_t from = tac_clock_now_ns();
			api->tool_step(tool, at, velocity, &result);
			keep_least(k, from);
			contact += result.contacts > 0;
		}
	}
	print_touch("  CHAI3D's proxy", mesh->triangle_count);
	printf(" %6.1f%%\n", 100.0 * contact / TICKS / REPEATS);
	free(positions);
	api->world_destroy(&world);
}

// The device's pose at a tick; it turns if the tool is a capsule.
static tac_dpose device_at(int k, double half)
{
	double t = half > 0 ? 1e-3 * k : 0;
	return tac_dpose_make(device_path[k], tac_dquat_exp(tac_dvec3_make(0.5 * sin(5 * t), 0.3 * sin(4 * t),
									   0.4 * sin(3 * t))));
}

// Moves the sphere, or a capsule of half length `half`, along the path.
static void touch(const char *name, const scene_body *scene, double half)
{
	tac_sco_object object = {.body = scene->body, .T_world_object = tac_dpose_identity()};
	tac_sco_def def = tac_sco_def_default();
	def.round = (tac_round){{0, 0, -half}, {0, 0, half}, RADIUS};
	def.objects = &object;
	def.object_count = 1;
	tac_sco *sco;
	if (tac_sco_create(&def, &sco) != TAC_OK)
		exit(1);
	double substeps = 0, queries = 0, work_units = 0;
	int contact = 0, limited = 0;
	for (int k = 0; k < TICKS; k++)
		least_us[k] = HUGE_VAL;
	for (int n = 0; n < REPEATS; n++) {
		tac_dpose start = device_at(0, half);
		start.position.x += 4 * half;
		if (!tac_sco_reset(sco, start, NULL))
			exit(1);
		for (int k = 0; k < TICKS; k++) {
			tac_sco_report r;
			tac_dpose device = device_at(k, half);
			int64_t from = tac_clock_now_ns();
			tac_sco_step(sco, device, NULL, &r);
			keep_least(k, from);
			contact += (r.flags & TAC_SCO_CONTACT) != 0;
			limited += (r.flags & TAC_SCO_LIMITED) != 0;
			substeps += r.substeps;
			queries += r.contact_queries + r.certificates + r.sweeps;
			work_units += (double)r.work_units;
		}
	}
	double all = (double)TICKS * REPEATS;
	print_touch(name, scene->mesh->triangle_count);
	printf(" %6.1f%% %8.2f %7.2f %6.1f %7d\n", 100 * contact / all, substeps / all, queries / all,
	       work_units / all, limited / REPEATS);
	tac_sco_destroy(&sco);
	if (half == 0)
		touch_with_chai3d(scene);
}

// The device moves from +x into the scene and on through most of it, as in `press`. Half of the path is
// flight, and while the device is deep, the sphere slides faster than the hand.
static void touch_deep(const char *name, const scene_body *scene, double speed)
{
	if (only && strcmp(only, name) != 0)
		return;
	hand h = {{1.1 * tac_body_radius(scene->body), 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, 0, 1}, 0, speed};
	h.depth = 0.9 * tac_body_radius(scene->body);
	for (int k = 0; k < TICKS; k++)
		device_path[k] = hand_at(&h, k * 1e-3).position;
	touch(name, scene, 0);
}

// The device moves along the +x side of the scene, 3 mm deep, at `speed` m/s, in contact from the first ticks
// on. It follows a point of the surface that a ray from outside meets.
static void touch_along(const char *name, const scene_body *scene, double speed, double half)
{
	if (only && strcmp(only, name) != 0)
		return;
	tac_dvec3 middle = tac_dvec3_from_vec3(scene->body->centre), device = middle;
	for (int k = 0; k < TICKS; k++) {
		double t = speed * k * 1e-3;
		tac_dvec3 out = tac_dquat_rotate(
			tac_dquat_exp(tac_dvec3_make(0, 0.6 * sin(17 * t), 0.6 * sin(23 * t))),
			tac_dvec3_make(1.2 * scene->body->centre_radius, 0, 0));
		tac_round ball = {tac_dvec3_add(middle, out), tac_dvec3_add(middle, out), RADIUS};
		tac_sweep_options options = tac_sweep_options_default();
		tac_sweep_result r =
			tac_round_translate(&ball, scene->body, tac_dvec3_neg(out), &options, NULL);
		double depth = k == 0 ? 0 : 3e-3;
		tac_dvec3 there =
			tac_dvec3_add_scaled(middle, 1 - r.fraction - depth / tac_dvec3_length(out), out);
		tac_dvec3 step = tac_dvec3_sub(there, device);
		double length = tac_dvec3_length(step);
		device = k == 0 || length < speed * 1e-3
				 ? there
				 : tac_dvec3_add_scaled(device, speed * 1e-3 / length, step);
		device_path[k] = device;
	}
	touch(name, scene, half);
}

static bool load(const char *folder, const char *name, scene_body *out)
{
	char path[512];
	tac_mesh *mesh;
	snprintf(path, sizeof path, "%s/%s.off", folder, name);
	if (tac_mesh_load(path, NULL, &mesh) != TAC_OK)
		return false;
	*out = scene_body_make(resized(mesh));
	return true;
}

// A ball on a torus; each increment of `n` quadruples the triangles.
static void press_ball(const char *name, int n)
{
	tac_mesh *torus, *ball;
	int32_t segments = 16 << (n - 2);
	if (only && strcmp(only, name) != 0)
		return;
	if (tac_mesh_build_torus(0.3f, 0.1f, 2 * segments, segments, &torus) != TAC_OK ||
	    tac_mesh_build_icosphere(0.15f, n, &ball) != TAC_OK)
		exit(1);
	scene_body a = scene_body_make(resized(ball)), b = scene_body_make(resized(torus));
	press(name, &a, &b, 0.1);
	scene_body_free(&a);
	scene_body_free(&b);
}

int main(int argc, char **argv)
{
	tac_denormal_flush(true);
	setvbuf(stdout, NULL, _IOLBF, 0);
	const char *folder = TACTUS_MESHES;
	for (int i = 1; i < argc; i++) {
		if (strstr(argv[i], "um"))
			detail_m = 1e-6 * atof(argv[i]);
		else if (strstr(argv[i], "units"))
			units = atoll(argv[i]);
		else
			only = argv[i];
	}
	print_head("6-DOF in contact, 0.1 m/s");
	for (int n = 3; n <= 6; n++)
		press_ball("ball on torus", n);
	press_ball("ten times too big", 7);
	scene_body bunny, dragon, buddha;
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
		print_touch_head("3-DOF, a sphere of 2 mm, 0.1 m/s");
		touch_along("sphere along bunny", &bunny, 0.1, 0);
		touch_along("sphere along buddha", &buddha, 0.1, 0);
		touch_deep("sphere on bunny", &bunny, 0.1);
		touch_deep("sphere on buddha", &buddha, 0.1);
		touch_along("capsule along bunny, turning", &bunny, 0.1, 1e-2);
		print_touch_head("the same at 0.5 m/s");
		touch_along("sphere along bunny, fast", &bunny, 0.5, 0);
		touch_along("sphere along buddha, fast", &buddha, 0.5, 0);
		scene_body_free(&bunny);
		scene_body_free(&dragon);
		scene_body_free(&buddha);
	}
	return 0;
}
