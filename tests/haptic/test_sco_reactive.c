// The reactive mover gives the same bits on every engine and ends where the continuous mover ends.
#include "collision/chip_collider.h"
#include "haptic/sco.h"
#include "tests/support/force_watch.h"
#include "tests/support/limits.h"
#include "tests/support/sco_scenes.h"
#include "tests/support/sweep_referee.h"

#include <stdio.h>
#include <string.h>

#define TICKS (TAC_TEST_SANITIZED ? 150 : 1500)
#define HELD  60 // ticks with the device at rest, at the end

void setUp(void)
{
}

void tearDown(void)
{
}

typedef struct rig {
	scene_body tool, scene;
	tac_shape *tool_shape, *scene_shape;
	tac_sco *sco;
} rig;

static rig rig_make(const tac_collider *collider, tac_mesh *tool, tac_mesh *scene, tac_dpose start)
{
	rig g = {.tool = scene_body_make(tool), .scene = scene_body_make(scene)};
	tac_sco_object object;
	tac_sco_def def = scene_def(&g.tool, &g.scene, &object);
	if (collider) {
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, tool, &g.tool_shape));
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, scene, &g.scene_shape));
		def.mover = TAC_SCO_REACTIVE;
		def.collider = collider;
		def.tool_shape = g.tool_shape;
		object.shape = g.scene_shape;
	}
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &g.sco));
	TEST_ASSERT_TRUE(tac_sco_reset(g.sco, start, NULL));
	return g;
}

static void rig_free(rig *g)
{
	tac_sco_destroy(&g->sco);
	tac_shape_destroy(&g->tool_shape);
	tac_shape_destroy(&g->scene_shape);
	scene_body_free(&g->tool);
	scene_body_free(&g->scene);
}

typedef struct test_case {
	const char *name;
	tac_mesh *(*tool)(void), *(*scene)(void);
	tac_dpose start;
	tac_dpose (*path)(int tick);
	double tolerance, tolerance_at_end; // between the movers, m in the metric
} test_case;

static tac_mesh *cube(void)
{
	return box_mesh(0.04, 0.04, 0.04, 2);
}

static tac_mesh *ball(void)
{
	return sphere_mesh(0.02, 2);
}

static tac_mesh *floor_of_grid(void)
{
	return plane_mesh(0.2, 12);
}

static tac_mesh *corner(void)
{
	return corner_mesh(0.2, 0.02, 4);
}

static tac_mesh *hills(void)
{
	return terrain_mesh(0.1, 24, 0.002);
}

static tac_dpose drag(int k)
{
	double t = k * 1e-3;
	return turned(-0.04 + 0.04 * t, 0.01 * sin(3 * t), 0.022 - 0.007 * fmin(1, 5 * t),
		      vec3(0.1 * sin(2 * t), 0, 0.2 * t));
}

static tac_dpose into_corner(int k)
{
	double a = fmin(1, k / 600.0);
	return at(0.05 - 0.045 * a, 0.06 - 0.05 * a, 0.055 - 0.048 * a);
}

static tac_dpose roll(int k)
{
	double t = k * 1e-3;
	return at(0.04 * sin(2 * t), 0.03 * sin(1.3 * t), 0.03 - 0.012 * fmin(1, 4 * t));
}

static const test_case cases[] = {
	{"cube on grid", cube, floor_of_grid, {{-0.04, 0, 0.03}, {0, 0, 0, 1}}, drag, 1e-4, 2e-5},
	{"cube in corner", cube, corner, {{0.05, 0.06, 0.055}, {0, 0, 0, 1}}, into_corner, 1e-6, 1e-6},
	{"ball on hills", ball, hills, {{0, 0, 0.035}, {0, 0, 0, 1}}, roll, 1e-3, 2e-5},
};
#define CASES (int)(sizeof cases / sizeof *cases)

static void both_movers_end_at_the_same_pose(void)
{
	for (int i = 0; i < CASES; i++) {
		const test_case *c = &cases[i];
		rig a = rig_make(NULL, c->tool(), c->scene(), c->start);
		rig b = rig_make(tac_collider_find("wide"), c->tool(), c->scene(), c->start);
		double worst = 0, end = 0;
		for (int k = 0; k < TICKS + HELD; k++) {
			tac_sco_report r, q;
			tac_dpose device = c->path(k < TICKS ? k : TICKS);
			tac_sco_step(a.sco, device, NULL, &r);
			tac_sco_step(b.sco, device, NULL, &q);
			end = pose_distance(r.T_world_sco, q.T_world_sco, METRIC_SQUARED);
			worst = fmax(worst, end);
			TEST_ASSERT_EQUAL(0, q.flags & (TAC_SCO_FAULT | TAC_SCO_UNKNOWN));
		}
		printf("%-16s movers differ by %.2f um at most, %.2f um at the end\n", c->name, worst * 1e6,
		       end * 1e6);
		TEST_ASSERT_TRUE_MESSAGE(worst <= c->tolerance, c->name);
		TEST_ASSERT_TRUE_MESSAGE(end <= c->tolerance_at_end, c->name);
		rig_free(&a);
		rig_free(&b);
	}
}

static void every_engine_gives_the_same_bits(void)
{
	static const char *const engines[] = {"wide", "doptree", "classic", "scd", "chip"};
	TEST_ASSERT_EQUAL(TAC_OK, tac_collider_add(tac_chip_collider()));
	for (int i = 0; i < CASES; i++) {
		const test_case *c = &cases[i];
		rig g[5];
		for (int e = 0; e < 5; e++)
			g[e] = rig_make(tac_collider_find(engines[e]), c->tool(), c->scene(), c->start);
		for (int k = 0; k < TICKS; k++) {
			tac_sco_report first, other;
			tac_sco_step(g[0].sco, c->path(k), NULL, &first);
			for (int e = 1; e < 5; e++) {
				tac_sco_step(g[e].sco, c->path(k), NULL, &other);
				TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&first.T_world_sco, &other.T_world_sco,
								 sizeof first.T_world_sco, engines[e]);
				TEST_ASSERT_EQUAL(first.flags, other.flags);
				TEST_ASSERT_EQUAL(first.contact_count, other.contact_count);
			}
		}
		for (int e = 0; e < 5; e++)
			rig_free(&g[e]);
	}
}

static void no_pose_of_the_reactive_mover_intersects(void)
{
	for (int i = 0; i < CASES; i++) {
		const test_case *c = &cases[i];
		rig g = rig_make(tac_collider_find("wide"), c->tool(), c->scene(), c->start);
		double least = HUGE_VAL;
		law_watch force = {0};
		for (int k = 0; k < TICKS; k++) {
			tac_sco_report r;
			tac_sco_step(g.sco, c->path(k), NULL, &r);
			law_watch_step(&force, c->path(k), &r, tac_sco_def_default().metric_m, c->name);
			if (k % 3)
				continue;
			tac_drigid T = tac_drigid_from_pose(r.T_world_sco);
			ref_pose p = ref_pose_at(&T, tac_dvec3_zero(), T.t, vec3(0, 0, 1), 0, 0);
			least = fmin(least, ref_distance(g.tool.mesh, g.scene.mesh, &p, 1e-4));
		}
		printf("%-16s least distance %.3f um\n", c->name, least * 1e6);
		TEST_ASSERT_TRUE_MESSAGE(least > 0, c->name);
		rig_free(&g);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(both_movers_end_at_the_same_pose);
	RUN_TEST(every_engine_gives_the_same_bits);
	RUN_TEST(no_pose_of_the_reactive_mover_intersects);
	return UNITY_END();
}
