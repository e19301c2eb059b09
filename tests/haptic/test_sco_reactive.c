// The reactive mover: on every engine, the same to the bit, and where the continuous one goes.
#include "haptic/sco.h"
#include "tests/ccd_referee.h"
#include "tests/limits.h"
#include "tests/sco_scenes.h"

#include <stdio.h>
#include <string.h>

#define TICKS (TAC_TEST_SANITIZED ? 150 : 1500)
#define HELD  60 // ticks with a still device at the end

void setUp(void)
{
}

void tearDown(void)
{
}

typedef struct rig {
	thing tool, scene;
	tac_shape *tool_shape, *scene_shape;
	tac_sco *sco;
} rig;

static rig rig_make(const tac_collider *collider, tac_mesh *tool, tac_mesh *scene, tac_dpose start)
{
	rig g = {.tool = thing_make(tool), .scene = thing_make(scene)};
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
	thing_free(&g->tool);
	thing_free(&g->scene);
}

typedef struct case_ {
	const char *name;
	tac_mesh *(*tool)(void), *(*scene)(void);
	tac_dpose start;
	tac_dpose (*path)(int tick);
	double on_the_way, at_the_end; // allowed between the movers, m in the metric
} case_;

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
		      V(0.1 * sin(2 * t), 0, 0.2 * t));
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

static const case_ cases[] = {
	{"cube on grid", cube, floor_of_grid, {{-0.04, 0, 0.03}, {0, 0, 0, 1}}, drag, 1e-4, 2e-5},
	{"cube in corner", cube, corner, {{0.05, 0.06, 0.055}, {0, 0, 0, 1}}, into_corner, 1e-6, 1e-6},
	{"ball on hills", ball, hills, {{0, 0, 0.035}, {0, 0, 0, 1}}, roll, 1e-3, 2e-5},
};
#define CASES (int)(sizeof cases / sizeof *cases)

static double apart(tac_dpose a, tac_dpose b)
{
	tac_dvec3 v = tac_dvec3_sub(b.position, a.position);
	tac_dvec3 w = tac_dquat_log(tac_dquat_mul(b.rotation, tac_dquat_conjugate(a.rotation)));
	return sqrt(tac_dvec3_dot(v, v) + 1e-3 * tac_dvec3_dot(w, w));
}

static void both_movers_end_at_the_same_pose(void)
{
	for (int i = 0; i < CASES; i++) {
		const case_ *c = &cases[i];
		rig a = rig_make(NULL, c->tool(), c->scene(), c->start);
		rig b = rig_make(tac_collider_find("wide"), c->tool(), c->scene(), c->start);
		double worst = 0, end = 0;
		for (int k = 0; k < TICKS + HELD; k++) {
			tac_sco_report r, q;
			tac_dpose device = c->path(k < TICKS ? k : TICKS);
			tac_sco_step(a.sco, device, NULL, &r);
			tac_sco_step(b.sco, device, NULL, &q);
			end = apart(r.T_world_sco, q.T_world_sco);
			worst = fmax(worst, end);
			TEST_ASSERT_EQUAL(0, q.flags & (TAC_SCO_FAULT | TAC_SCO_UNKNOWN));
		}
		printf("%-16s movers apart: %.2f um on the way, %.2f um at the end\n", c->name, worst * 1e6,
		       end * 1e6);
		TEST_ASSERT_TRUE_MESSAGE(worst <= c->on_the_way, c->name);
		TEST_ASSERT_TRUE_MESSAGE(end <= c->at_the_end, c->name);
		rig_free(&a);
		rig_free(&b);
	}
}

static void every_engine_gives_the_same_bits(void)
{
	static const char *const engines[] = {"wide", "doptree", "classic", "scd", "chip"};
	for (int i = 0; i < CASES; i++) {
		const case_ *c = &cases[i];
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

static void no_place_of_the_reactive_mover_intersects(void)
{
	for (int i = 0; i < CASES; i++) {
		const case_ *c = &cases[i];
		rig g = rig_make(tac_collider_find("wide"), c->tool(), c->scene(), c->start);
		double least = HUGE_VAL;
		for (int k = 0; k < TICKS; k++) {
			tac_sco_report r;
			tac_sco_step(g.sco, c->path(k), NULL, &r);
			if (k % 3)
				continue;
			tac_ccd_pose T = tac_ccd_pose_from_dpose(r.T_world_sco);
			ref_pose p = ref_pose_at(&T, tac_dvec3_zero(), T.t, V(0, 0, 1), 0, 0);
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
	RUN_TEST(no_place_of_the_reactive_mover_intersects);
	return UNITY_END();
}
