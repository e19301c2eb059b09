// The SCO under random devices that glide, rush, teleport, spin and hold still, 1 cm/s to 10 m/s and up to 30
// rad/s, over pairs of tools and scenes, convex and not, closed and open, dense and thin. After every tick
// the referee in long double looks at the pose; on some runs, at poses between. On the reference meshes the
// static engine judges, exactly.
//
//   test_sco_fuzz [TICKS [SEED]]            the generated pairs
//   test_sco_fuzz meshes [TICKS [SEED]]     pairs of the reference meshes
#include "haptic/sco.h"
#include "tests/allocations.h"
#include "tests/ccd_referee.h"
#include "tests/limits.h"
#include "tests/sco_scenes.h"

#include "base/rng.h"
#include "collision/mesh_load.h"

#include <stdio.h>
#include <string.h>

static long wanted_ticks = TAC_TEST_SANITIZED ? 1500 : 12000;
static uint64_t seed = 1;
static bool big;

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_dvec3 anywhere(tac_rng *rng, double size)
{
	double x = tac_rng_range_f64(rng, -size, size), y = tac_rng_range_f64(rng, -size, size);
	return V(x, y, tac_rng_range_f64(rng, -size, size));
}

static double magnitude(tac_rng *rng, double from, double to)
{
	return pow(10, tac_rng_range_f64(rng, from, to));
}

static ref_pose ref_pose_of(tac_dpose T)
{
	tac_ccd_pose P = {tac_dmat3_from_quat(T.rotation), T.position};
	return ref_pose_at(&P, tac_dvec3_zero(), T.position, V(0, 0, 1), 0, 0);
}

typedef struct totals {
	long ticks, intersections, below_floor, samples, samples_bad, holds, restless, faults, spent,
		allocated;
	double least;
	int32_t gathers, certificates, qps;
	int64_t pairs;
	uint64_t hash; // of all poses
} totals;

static uint64_t mix(uint64_t h, tac_dpose T)
{
	uint64_t words[sizeof T / sizeof(uint64_t)];
	memcpy(words, &T, sizeof T);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		h = (h ^ words[i]) * UINT64_C(0x100000001b3);
	return h;
}

static double distance_between(tac_dpose a, tac_dpose b)
{
	tac_dvec3 v = tac_dvec3_sub(b.position, a.position);
	tac_dvec3 w = tac_dquat_log(tac_dquat_mul(b.rotation, tac_dquat_conjugate(a.rotation)));
	return sqrt(tac_dvec3_dot(v, v) + 1e-3 * tac_dvec3_dot(w, w));
}

// A tool over a scene, with the judge of their poses.
typedef struct rig {
	const thing *tool, *scene;
	const tac_collider *collider; // NULL: the referee judges
	tac_shape *tool_shape, *scene_shape;
	tac_context *context;
} rig;

// The distance, up to 20 µm; negative: they intersect.
static double judge(const rig *g, tac_dpose T)
{
	if (!g->collider) {
		ref_pose p = ref_pose_of(T);
		return ref_distance(g->tool->mesh, g->scene->mesh, &p, 2e-5);
	}
	tac_pose P = tac_pose_from_dpose(T);
	tac_motion motion = {tac_mat3_from_quat(P.rotation), P.position};
	tac_contact answer = tac_collider_query(g->collider, g->context, g->tool_shape, g->scene_shape,
						&motion, TAC_QUERY_FIRST, (tac_budget){0, 0});
	return answer == TAC_CONTACT_NONE ? 2e-5 : -1;
}

// With one piece a tick the way between two poses is known: it may not pass through either.
static void judge_way(const rig *g, tac_dpose from, tac_dpose to, const tac_sco_report *r, totals *all)
{
	if (r->sweeps > 0 || r->gathers == 0)
		return;
	tac_dvec3 v = tac_dvec3_sub(to.position, from.position);
	tac_dvec3 w = tac_dquat_log(tac_dquat_mul(to.rotation, tac_dquat_conjugate(from.rotation)));
	for (int i = 1; i <= 2; i++) {
		double s = i / 3.0;
		tac_dpose T = {tac_dvec3_add_scaled(from.position, s, v),
			       tac_dquat_mul(tac_dquat_exp(tac_dvec3_scale(w, s)), from.rotation)};
		all->samples++;
		all->samples_bad += judge(g, T) < 0;
	}
}

// A device that is held: so many ticks later the SCO is still, m a tick, or on its way, the square of its
// distance falling by so much a tick, m^2. (Far from the device that is less than a nanometre of the distance
// itself.)
#define SETTLES 120
#define STILL   1e-7
#define FALLS   1e-13

typedef enum gait { GLIDE, SPIN, TELEPORT, RUSH, HOLD, GLIDE_AGAIN, GAITS } gait;

// One run: a random device around the scene, which is `size` large.
static void run(const rig *g, uint64_t number, double size, totals *all)
{
	tac_rng rng = tac_rng_seed(seed * 1000003 + number, 7);
	tac_sco_object object;
	tac_sco_def def = scene_def(g->tool, g->scene, &object);
	def.slew_m = number & 1 ? 5e-4 : 0;
	def.pairs = number & 2 ? 2000 : 100000;
	def.pieces = number % 5 == 4 ? 1 : 8;
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
	double far = size + g->tool->body->radius;
	tac_dpose device = at(0.9 * far, 0.9 * far, 0.9 * far);
	TEST_ASSERT_TRUE(tac_sco_reset(sco, device, NULL));
	for (int part = 0; part < 12 && all->ticks < wanted_ticks; part++) {
		gait kind = (gait)tac_rng_below(&rng, GAITS);
		int length = kind == HOLD ? 150 : 20 + (int)tac_rng_below(&rng, 100);
		tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), magnitude(&rng, -2, 1));
		tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), magnitude(&rng, -1, 1.5));
		tac_dvec3 target = anywhere(&rng, 0.5 * size);
		if (kind == TELEPORT)
			device = tac_dpose_make(tac_dvec3_add(target, anywhere(&rng, 3 * size)),
						tac_rng_rotation_f64(&rng));
		if (kind == RUSH)
			v = tac_dvec3_scale(tac_dvec3_sub(target, device.position), 1000.0 / length);
		if (kind == SPIN || kind == HOLD || kind == TELEPORT)
			v = tac_dvec3_zero();
		if (kind == HOLD || kind == TELEPORT)
			w = tac_dvec3_zero();
		double last_energy = 0, restless = 0;
		for (int k = 0; k < length; k++) {
			device.position = tac_dvec3_add_scaled(device.position, 1e-3, v);
			device.rotation = tac_dquat_normalize(
				tac_dquat_mul(tac_dquat_exp(tac_dvec3_scale(w, 1e-3)), device.rotation));
			tac_dpose before = tac_sco_pose(sco);
			tac_sco_report r;
			int allocated = allocations;
			tac_sco_step(sco, device, NULL, &r);
			all->allocated += allocations - allocated;
			all->ticks++;
			all->hash = mix(all->hash, r.T_world_sco);
			TEST_ASSERT_TRUE(tac_dpose_finite(r.T_world_sco));
			all->faults += (r.flags & (TAC_SCO_FAULT | TAC_SCO_REFUSED)) != 0;
			all->spent += (r.flags & TAC_SCO_BUDGET_SPENT) != 0;
			all->gathers = r.gathers > all->gathers ? r.gathers : all->gathers;
			all->certificates =
				r.certificates > all->certificates ? r.certificates : all->certificates;
			all->qps = r.qps > all->qps ? r.qps : all->qps;
			all->pairs = r.pairs > all->pairs ? r.pairs : all->pairs;
			double d = judge(g, r.T_world_sco);
			all->least = fmin(all->least, d);
			all->below_floor += d >= 0 && d < 4.9e-6;
			if (d < 0 && all->intersections++ < 5)
				printf("intersection: run %ld, part %d (%d), tick %d\n", (long)number, part,
				       (int)kind, k);
			if (def.pieces == 1)
				judge_way(g, before, r.T_world_sco, &r, all);
			double distance = distance_between(r.T_world_sco, device);
			double energy = distance * distance;
			if (kind == HOLD && k >= SETTLES && energy > last_energy - FALLS)
				restless = fmax(restless, distance_between(before, r.T_world_sco));
			last_energy = energy;
		}
		all->holds += kind == HOLD;
		if (restless > STILL) {
			all->restless++;
			printf("restless: run %ld, part %d, %.3f um a tick\n", (long)number, part,
			       restless * 1e6);
		}
	}
	tac_sco_destroy(&sco);
}

static void print(const char *what, const totals *t)
{
	printf("%s: %ld ticks, %ld intersections, least %.3f um (%ld below the floor), %ld samples of the "
	       "way with %ld bad, "
	       "%ld holds with %ld restless, %ld faults, %ld spent, %ld allocations; most a tick: %d looks, "
	       "%d proofs, %d QPs, "
	       "%ld pairs; hash %016llx\n",
	       what, t->ticks, t->intersections, t->least * 1e6, t->below_floor, t->samples, t->samples_bad,
	       t->holds, t->restless, t->faults, t->spent, t->allocated, (int)t->gathers,
	       (int)t->certificates, (int)t->qps, (long)t->pairs, (unsigned long long)t->hash);
}

static void expect_safe(const totals *t)
{
	TEST_ASSERT_EQUAL(0, t->intersections);
	TEST_ASSERT_EQUAL(0, t->below_floor);
	TEST_ASSERT_EQUAL(0, t->samples_bad);
	TEST_ASSERT_EQUAL(0, t->faults);
	TEST_ASSERT_EQUAL(0, t->allocated);
	TEST_ASSERT_EQUAL(0, t->restless);
	const tac_sco_def def = tac_sco_def_default();
	TEST_ASSERT_TRUE(t->gathers <= def.gathers && t->certificates <= def.certificates &&
			 t->qps <= def.qps + 1);
}

#define TOOLS  7
#define SCENES 8

static tac_mesh *torus_mesh(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.04F, 0.015F, 24, 12, &mesh));
	return mesh;
}

static tac_mesh *needle_mesh(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cone(0.001F, 0.06F, 6, 3, &mesh));
	return mesh;
}

static totals fuzz(void)
{
	thing tools[TOOLS] = {thing_make(box_mesh(0.04, 0.04, 0.04, 1)),
			      thing_make(box_mesh(0.06, 0.03, 0.02, 2)),
			      thing_make(sphere_mesh(0.015, 1)),
			      thing_make(cylinder_mesh(0.006, 0.05, 16)),
			      thing_make(corner_mesh(0.03, 0.008, 1)),
			      thing_make(needle_mesh()),
			      thing_make(plane_mesh(0.02, 2))};
	thing scenes[SCENES] = {thing_make(terrain_mesh(0.1, 20, 0.006)),
				thing_make(corner_mesh(0.12, 0.02, 3)),
				thing_make(box_mesh(0.2, 0.2, 0.001, 2)),
				thing_make(sphere_mesh(0.05, 2)),
				thing_make(box_mesh(0.06, 0.1, 0.08, 3)),
				thing_make(plane_mesh(0.08, 4)),
				thing_make(torus_mesh()),
				thing_make(hole_mesh(0.0062, 0.03, 24, 0.05))};
	totals all = {.least = HUGE_VAL, .hash = UINT64_C(0xcbf29ce484222325)};
	for (uint64_t i = 0; all.ticks < wanted_ticks; i++) {
		uint64_t number = i + (wanted_ticks < 100000 ? 5 * i : 0); // a short fuzz sees all tools, too
		rig g = {.tool = &tools[number % TOOLS], .scene = &scenes[number / TOOLS % SCENES]};
		run(&g, number, 0.12, &all);
	}
	for (int i = 0; i < TOOLS; i++)
		thing_free(&tools[i]);
	for (int i = 0; i < SCENES; i++)
		thing_free(&scenes[i]);
	return all;
}

static void random_devices_never_bring_it_through_and_replay_to_the_bit(void)
{
	totals first = fuzz();
	print("fuzz", &first);
	expect_safe(&first);
	if (wanted_ticks > 100000)
		return;
	totals again = fuzz();
	TEST_ASSERT_EQUAL_HEX64(first.hash, again.hash);
}

static bool load(const char *name, thing *out)
{
	char path[512];
	tac_mesh *mesh;
	snprintf(path, sizeof path, "%s/%s.off", TACTUS_MESHES, name);
	if (tac_mesh_load(path, NULL, &mesh) != TAC_OK)
		return false;
	*out = thing_make(mesh);
	return true;
}

static void reference_meshes_never_pass_through_each_other(void)
{
	static const char *const names[] = {"bunny", "dragon", "buddha", "filter", "cube"};
	thing things[5];
	for (int i = 0; i < 5; i++) {
		if (!load(names[i], &things[i]))
			TEST_IGNORE_MESSAGE("no reference meshes");
	}
	totals all = {.least = HUGE_VAL, .hash = UINT64_C(0xcbf29ce484222325)};
	const tac_collider *wide = tac_collider_find("wide");
	tac_context_def context = tac_context_def_default();
	for (uint64_t i = 0; all.ticks < wanted_ticks; i++) {
		rig g = {.tool = &things[i % 5], .scene = &things[(i / 5) % 5], .collider = wide};
		TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context, &g.context));
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, g.tool->mesh, &g.tool_shape));
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, g.scene->mesh, &g.scene_shape));
		for (uint64_t k = 0; k < 4; k++)
			run(&g, 4 * i + k, 0.6, &all);
		tac_shape_destroy(&g.tool_shape);
		tac_shape_destroy(&g.scene_shape);
		tac_context_destroy(&g.context);
		if (i % 25 == 24)
			print("so far", &all);
	}
	print("meshes", &all);
	for (int i = 0; i < 5; i++)
		thing_free(&things[i]);
	expect_safe(&all);
}

int main(int argc, char **argv)
{
	int next = 1;
	if (next < argc && strcmp(argv[next], "meshes") == 0) {
		big = true;
		next++;
	}
	if (next < argc)
		wanted_ticks = strtol(argv[next++], NULL, 10);
	if (next < argc)
		seed = strtoull(argv[next], NULL, 10);
	setvbuf(stdout, NULL, _IOLBF, 0);
	UNITY_BEGIN();
	if (big)
		RUN_TEST(reference_meshes_never_pass_through_each_other);
	else
		RUN_TEST(random_devices_never_bring_it_through_and_replay_to_the_bit);
	return UNITY_END();
}
