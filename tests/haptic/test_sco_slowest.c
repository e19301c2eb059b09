// A search for the slowest step of the SCO: scenes and paths that took the most counted work are changed at
// random and kept where they take more. Dense and tiny meshes, where every feature is near every other;
// coincident objects that move and turn; round tools; both movers; devices that rush, spin and teleport. No
// step may take more than a fixed multiple of its budget, and no reset either.
//
//   test_sco_slowest [ROUNDS [SEED]]
#include "haptic/sco.h"
#include "tests/support/limits.h"
#include "tests/support/sco_scenes.h"

#include "base/rng.h"

#include <stdio.h>
#include <time.h>

#define TOOLS   6
#define SCENES  7
#define OBJECTS 4
#define TICKS   80
#define KEPT    6
// The most units that a starved step, a step of the reactive mover and a reset have (docs/sco.md).
#define WORK_MAX 1500
// What a step may take, in budgets. A query that begins within the budget ends at twice what is left of it; a
// QP of all rows and the QP of the report come on top.
#define BUDGETS 2.5

static int rounds;
static uint64_t seed = 1;

void setUp(void)
{
	rounds = rounds > 0 ? rounds : test_rounds(1000);
}

void tearDown(void)
{
}

static scene_body tools[TOOLS], scenes[SCENES];
static tac_shape *tool_shapes[TOOLS], *scene_shapes[SCENES];

// A scene and a device.
typedef struct genome {
	uint64_t path; // seed of the device's and the objects' motions
	uint32_t tool, scene[OBJECTS], objects, work_units;
	double spread_m;          // of the objects
	double reach_m;           // of the device about the middle of the scene
	double speed, spin, push; // of the device and of the objects, m/s, rad/s, m/s
	bool round, reactive, fixed_rotation;
	double cost, us_per_unit; // found
} genome;

static double power_of_ten(tac_rng *rng, double from, double to)
{
	return pow(10, tac_rng_range_f64(rng, from, to));
}

static genome genome_random(tac_rng *rng)
{
	static const uint32_t budgets[] = {20, 54, 200, 540, 1500};
	genome g = {.path = tac_rng_below(rng, 1u << 30),
		    .tool = tac_rng_below(rng, TOOLS),
		    .objects = 1 + tac_rng_below(rng, OBJECTS),
		    .work_units = budgets[tac_rng_below(rng, 5)],
		    .spread_m = power_of_ten(rng, -6, -2),
		    .reach_m = power_of_ten(rng, -4, -1),
		    .speed = power_of_ten(rng, -2, 2),
		    .spin = power_of_ten(rng, -1, 2),
		    .push = tac_rng_below(rng, 2) ? 0 : power_of_ten(rng, -2, 3),
		    .round = tac_rng_below(rng, 5) == 0,
		    .reactive = tac_rng_below(rng, 5) == 0,
		    .fixed_rotation = tac_rng_below(rng, 3) == 0};
	for (int i = 0; i < OBJECTS; i++)
		g.scene[i] = tac_rng_below(rng, SCENES);
	return g;
}

// One property is that of another genome, or a little different.
static genome mutate(const genome *from, tac_rng *rng)
{
	genome g = *from, other = genome_random(rng);
	switch (tac_rng_below(rng, 9)) {
	case 0:
		g.path = other.path;
		break;
	case 1:
		g.tool = other.tool;
		g.round = other.round;
		break;
	case 2:
		g.scene[tac_rng_below(rng, OBJECTS)] = other.scene[0];
		break;
	case 3:
		g.objects = other.objects;
		break;
	case 4:
		g.work_units = other.work_units;
		break;
	case 5:
		g.spread_m *= power_of_ten(rng, -0.5, 0.5);
		break;
	case 6:
		g.reach_m *= power_of_ten(rng, -0.5, 0.5);
		break;
	case 7:
		g.speed *= power_of_ten(rng, -0.5, 0.5);
		g.spin *= power_of_ten(rng, -0.5, 0.5);
		break;
	default:
		g.push = other.push;
		g.fixed_rotation = other.fixed_rotation;
	}
	return g;
}

static tac_dvec3 random_vector(tac_rng *rng, double length)
{
	return tac_dvec3_scale(tac_rng_unit_f64(rng), length * tac_rng_range_f64(rng, 0, 1));
}

static double thread_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

// Sets the cost of a genome: the most units of a step, in budgets.
static void evaluate(genome *g)
{
	tac_rng rng = tac_rng_seed(g->path, 3);
	tac_sco_object objects[OBJECTS];
	tac_dpose poses[OBJECTS];
	for (uint32_t i = 0; i < g->objects; i++) {
		poses[i] = tac_dpose_make(random_vector(&rng, g->spread_m), tac_rng_rotation_f64(&rng));
		objects[i] = (tac_sco_object){.body = scenes[g->scene[i]].body,
					      .shape = scene_shapes[g->scene[i]],
					      .T_world_object = poses[i]};
	}
	tac_sco_def def = tac_sco_def_default();
	def.mover = g->reactive ? TAC_SCO_REACTIVE : TAC_SCO_CONTINUOUS;
	def.tool = g->round && !g->reactive ? NULL : tools[g->tool].body;
	def.round = (tac_round){vec3(0, 0, 0), vec3(0, 0, g->fixed_rotation ? 0 : 0.01), 0.002};
	def.tool_shape = def.tool ? tool_shapes[g->tool] : NULL;
	def.collider = def.tool ? tac_collider_find("wide") : NULL;
	def.objects = objects;
	def.object_count = (int32_t)g->objects;
	def.fixed_rotation = g->fixed_rotation;
	def.work_units = g->work_units;
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
	const double limit = g->reactive ? WORK_MAX : fmax(WORK_MAX, g->work_units);
	tac_dpose device = tac_dpose_make(vec3(0.3, 0.3, 0.3), tac_dquat_identity());
	if (!tac_sco_reset(sco, device, poses))
		device.position = vec3(3, 3, 3);
	g->cost = 0;
	tac_sco_reset(sco, device, poses);
	for (int k = 0; k < TICKS; k++) {
		tac_dvec3 target = random_vector(&rng, g->reach_m);
		tac_dvec3 way = tac_dvec3_sub(target, device.position);
		double most = 1e-3 * g->speed, length = tac_dvec3_length(way);
		device.position = k == 20 || length < most
					  ? target
					  : tac_dvec3_add_scaled(device.position, most / length, way);
		tac_dvec3 w = random_vector(&rng, 1e-3 * g->spin);
		device.rotation = tac_dquat_normalize(tac_dquat_mul(tac_dquat_exp(w), device.rotation));
		for (uint32_t i = 0; i < g->objects; i++)
			poses[i].position =
				tac_dvec3_add(poses[i].position, random_vector(&rng, 1e-3 * g->push));
		tac_sco_report r;
		double before = thread_us();
		tac_sco_step(sco, device, poses, &r);
		double us = thread_us() - before, cost = (double)r.work_units / limit;
		TEST_ASSERT_TRUE(tac_dpose_finite(r.T_world_sco));
		if (cost > g->cost) {
			g->cost = cost;
			g->us_per_unit = us / (double)r.work_units;
		}
	}
	tac_sco_destroy(&sco);
}

static tac_mesh *ring(double radius, int segments)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus((float)radius, (float)(0.4 * radius), segments,
						       segments / 2, &mesh));
	return mesh;
}

static void build(void)
{
	const tac_collider *wide = tac_collider_find("wide");
	tools[0] = scene_body_make(sphere_mesh(0.015, 3));
	tools[1] = scene_body_make(sphere_mesh(1e-4, 3));
	tools[2] = scene_body_make(box_mesh(0.04, 0.04, 0.04, 1));
	tools[3] = scene_body_make(corner_mesh(0.03, 0.008, 1));
	tools[4] = scene_body_make(sphere_mesh(1, 3));
	tools[5] = scene_body_make(ring(2e-4, 32));
	scenes[0] = scene_body_make(terrain_mesh(0.05, 24, 0.003));
	scenes[1] = scene_body_make(ring(0.03, 48));
	scenes[2] = scene_body_make(ring(2e-4, 48));
	scenes[3] = scene_body_make(sphere_mesh(1.02e-4, 3));
	scenes[4] = scene_body_make(box_mesh(0.2, 0.2, 0.001, 1));
	scenes[5] = scene_body_make(cylinder_mesh(0.001, 0.05, 64));
	scenes[6] = scene_body_make(plane_mesh(0.05, 20));
	for (int i = 0; i < TOOLS; i++)
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, tools[i].mesh, &tool_shapes[i]));
	for (int i = 0; i < SCENES; i++)
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, scenes[i].mesh, &scene_shapes[i]));
}

static void release(void)
{
	for (int i = 0; i < TOOLS; i++) {
		tac_shape_destroy(&tool_shapes[i]);
		scene_body_free(&tools[i]);
	}
	for (int i = 0; i < SCENES; i++) {
		tac_shape_destroy(&scene_shapes[i]);
		scene_body_free(&scenes[i]);
	}
}

static void no_step_takes_much_more_than_its_budget(void)
{
	build();
	tac_rng rng = tac_rng_seed(seed, 11);
	genome best[KEPT] = {0};
	for (int k = 0; k < rounds; k++) {
		genome g =
			k < rounds / 4 ? genome_random(&rng) : mutate(&best[tac_rng_below(&rng, KEPT)], &rng);
		evaluate(&g);
		int at = KEPT;
		while (at > 0 && best[at - 1].cost < g.cost)
			at--;
		for (int i = KEPT - 1; i > at; i--)
			best[i] = best[i - 1];
		if (at < KEPT)
			best[at] = g;
	}
	for (int i = 0; i < KEPT; i++) {
		const genome *g = &best[i];
		printf("%.2f budgets at %.2f us a unit: tool %u%s, %u objects (%u ...), spread %.1e m, reach "
		       "%.1e m, %.2f m/s, %.1f rad/s, pushed %.2f m/s, %u units%s%s\n",
		       g->cost, g->us_per_unit, g->tool, g->round ? " (round)" : "", g->objects, g->scene[0],
		       g->spread_m, g->reach_m, g->speed, g->spin, g->push, g->work_units,
		       g->reactive ? ", reactive" : "", g->fixed_rotation ? ", 3 axes" : "");
	}
	release();
	TEST_ASSERT_TRUE(best[KEPT - 1].cost > 0.5); // the search has found its way
	TEST_ASSERT_TRUE(best[0].cost <= BUDGETS);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = (int)strtol(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	UNITY_BEGIN();
	RUN_TEST(no_step_takes_much_more_than_its_budget);
	return UNITY_END();
}
