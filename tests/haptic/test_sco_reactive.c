// The reactive mover gives the same bits on every engine and ends where the continuous mover ends. With
// TAC_TEST_GATES: on the gates of the chip, with the clocks of a tick.
#include "collision/chip_collider.h"
#include "haptic/mover/mover.h"
#ifdef TAC_TEST_GATES
#include "hardware/rtl.h"
#endif
#include "tests/support/force_watch.h"
#include "tests/support/limits.h"
#include "tests/support/sco_scenes.h"
#include "tests/support/sweep_referee.h"

#include <stdio.h>
#include <string.h>

#define TICKS (TAC_TEST_SANITIZED ? 150 : 1500)
#define HELD  60 // ticks with the device at rest, at the end
// With few nodes: ticks that the device moves, and after which the tool has arrived at the latest.
#define FEW_NODES_TICKS 700
#define MOST_TICKS      20000

// The test with few nodes: its engine, the nodes of a step, and how many more a step may take. The gates have
// the clocks of a tick of 1 ms.
#ifdef TAC_TEST_GATES
#define GATES        true
#define ADDED_ENGINE tac_rtl_collider()
#define ENGINE       "rtl"
#define ENGINE_NODES 701
#define ENGINE_SLICE 32
#else
#define GATES        false
#define ADDED_ENGINE tac_chip_collider()
#define ENGINE       "wide"
#define ENGINE_NODES 4
#define ENGINE_SLICE 64
#endif

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

// nodes: of a step's queries, among them those of a second object, which the tool never reaches; 0: the
// default, and one object.
static rig rig_make_with(const tac_collider *collider, int64_t nodes, tac_mesh *tool, tac_mesh *scene,
			 tac_dpose start)
{
	rig g = {.tool = scene_body_make(tool), .scene = scene_body_make(scene)};
	tac_sco_object objects[2];
	tac_sco_def def = scene_def(&g.tool, &g.scene, &objects[0]);
	if (collider) {
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, tool, &g.tool_shape));
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, scene, &g.scene_shape));
		def.mover = TAC_SCO_REACTIVE;
		def.collider = collider;
		def.tool_shape = g.tool_shape;
		objects[0].shape = g.scene_shape;
	}
	if (nodes > 0) {
		objects[1] = objects[0];
		objects[1].T_world_object = at(-0.1, -0.1, -0.1);
		def.object_count = 2;
		def.collider_nodes = nodes;
	}
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &g.sco));
	bool is_free = tac_sco_reset(g.sco, start, NULL);
	for (int i = 0; i < 1000 && nodes > 0 && tac_sco_reset_unfinished(g.sco); i++)
		is_free = tac_sco_reset(g.sco, start, NULL);
	TEST_ASSERT_TRUE(is_free);
	return g;
}

static rig rig_make(const tac_collider *collider, tac_mesh *tool, tac_mesh *scene, tac_dpose start)
{
	return rig_make_with(collider, 0, tool, scene, start);
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

static double distance_of(const rig *g, tac_dpose T_world_sco)
{
	tac_drigid T = tac_drigid_from_pose(T_world_sco);
	ref_pose p = ref_pose_at(&T, tac_dvec3_zero(), T.t, vec3(0, 0, 1), 0, 0);
	return ref_distance(g->tool.mesh, g->scene.mesh, &p, 1e-4);
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
			least = fmin(least, distance_of(&g, r.T_world_sco));
		}
		printf("%-16s least distance %.3f um\n", c->name, least * 1e6);
		TEST_ASSERT_TRUE_MESSAGE(least > 0, c->name);
		rig_free(&g);
	}
}

// A block moves into the tool at 0.1 m/s while the device rests. It is where it shall be, or it waits and
// says so.
static void a_moving_block_pushes_the_tool_or_waits(void)
{
	const tac_dpose device = at(0.05, 0.001, 0.002);
	rig g = rig_make(tac_collider_find("wide"), cube(), cube(), device);
	double least = HUGE_VAL;
	int waits = 0;
	tac_sco_report r;
	for (int k = 0; k < 400; k++) {
		const tac_dpose goal = turned(1e-4 * k, 0, 0, vec3(0, 0, 5e-4 * k));
		tac_sco_step(g.sco, device, &goal, &r);
		const tac_dpose there = tac_sco_object_pose(g.sco, 0);
		const double behind = pose_distance(goal, there, METRIC_SQUARED);
		waits += (r.flags & TAC_SCO_OBJECT_WAITS) != 0;
		TEST_ASSERT_TRUE(behind < 1e-9 || (r.flags & TAC_SCO_OBJECT_WAITS) != 0);
		TEST_ASSERT_EQUAL(0, r.flags & TAC_SCO_FAULT);
		least = fmin(least, distance_of(&g, tac_dpose_relative(there, r.T_world_sco)));
	}
	printf("pushed by %.3f mm, least distance %.3f um, %d ticks of waiting\n",
	       1e3 * (r.T_world_sco.position.x - device.position.x), 1e6 * least, waits);
	TEST_ASSERT_TRUE(least > 0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.08, r.T_world_sco.position.x);
	TEST_ASSERT_LESS_THAN(10, waits);
	rig_free(&g);
}

// A step that has few nodes leaves its query unknown and moves nowhere; the next steps go on with that query.
static void walk_with_few_nodes(const test_case *c)
{
	const tac_collider *engine = tac_collider_find(ENGINE);
	rig free = rig_make(tac_collider_find("wide"), c->tool(), c->scene(), c->start);
	rig g = rig_make_with(engine, ENGINE_NODES, c->tool(), c->scene(), c->start),
	    h = rig_make_with(engine, ENGINE_NODES, c->tool(), c->scene(), c->start);
	int spent = 0, in_contact = 0;
	double least = HUGE_VAL, end = HUGE_VAL;
	int k = 0;
	for (; k < FEW_NODES_TICKS + HELD || (k < MOST_TICKS && end > c->tolerance_at_end); k++) {
		const tac_dpose device = c->path(k < FEW_NODES_TICKS ? k : FEW_NODES_TICKS);
		const tac_dpose before = g.sco->pose;
		tac_sco_report r, again, q;
		tac_sco_step(free.sco, device, NULL, &q);
		tac_sco_step(g.sco, device, NULL, &r);
		tac_sco_step(h.sco, device, NULL, &again);
		TEST_ASSERT_EQUAL_MEMORY(&r.T_world_sco, &again.T_world_sco, sizeof r.T_world_sco);
		TEST_ASSERT_EQUAL(0, r.flags & (TAC_SCO_FAULT | TAC_SCO_UNKNOWN));
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(-ENGINE_SLICE, g.sco->tick.work.nodes_left);
		spent += (r.flags & TAC_SCO_BUDGET_SPENT) != 0;
		in_contact += (r.flags & TAC_SCO_CONTACT) != 0;
		if (memcmp(&before, &r.T_world_sco, sizeof before) != 0 && k % 3 == 0)
			least = fmin(least, distance_of(&g, r.T_world_sco));
		end = pose_distance(r.T_world_sco, q.T_world_sco, METRIC_SQUARED);
	}
	printf("%-16s %s, %d nodes a step: spent in %d of %d steps, contact in %d, least distance %.3f um, "
	       "%.2f um from the end without a limit\n",
	       c->name, ENGINE, ENGINE_NODES, spent, k, in_contact, least * 1e6, end * 1e6);
	TEST_ASSERT_GREATER_THAN(2, spent);
	TEST_ASSERT_GREATER_THAN(FEW_NODES_TICKS / 10, in_contact);
	TEST_ASSERT_TRUE_MESSAGE(least > 0, c->name);
	TEST_ASSERT_TRUE_MESSAGE(end <= c->tolerance_at_end, c->name);
	rig_free(&free);
	rig_free(&g);
	rig_free(&h);
}

static void few_nodes_delay_a_step_and_never_let_it_intersect(void)
{
	for (int i = 0; i < CASES; i++)
		walk_with_few_nodes(&cases[i]);
}

int main(void)
{
	UNITY_BEGIN();
	if (tac_collider_add(ADDED_ENGINE) != TAC_OK)
		return 1;
	if (!GATES) {
		RUN_TEST(both_movers_end_at_the_same_pose);
		RUN_TEST(every_engine_gives_the_same_bits);
		RUN_TEST(no_pose_of_the_reactive_mover_intersects);
		RUN_TEST(a_moving_block_pushes_the_tool_or_waits);
	}
	RUN_TEST(few_nodes_delay_a_step_and_never_let_it_intersect);
	return UNITY_END();
}
