// Objects that move around the SCO. One that is far away changes nothing, to the bit; one that passes by does
// not wait for a tool that rests closer than the hold gap to another. Random objects that glide, jitter,
// jump, turn and close in on random devices never enter the tool: a referee in long double judges every pair
// after every tick.
//
//   test_sco_moving [TICKS [SEED]]
#include "haptic/sco.h"
#include "tests/support/limits.h"
#include "tests/support/sco_scenes.h"
#include "tests/support/sweep_referee.h"

#include "base/rng.h"

#include <stdio.h>
#include <string.h>

static long wanted_ticks;
static uint64_t seed = 1;

void setUp(void)
{
}

void tearDown(void)
{
}

// The tool is a mesh, or round where it has none.
typedef struct test_tool {
	scene_body mesh;
	tac_round round;
} test_tool;

static test_tool tool_of_mesh(tac_mesh *mesh)
{
	return (test_tool){.mesh = scene_body_make(mesh)};
}

static void tool_free(test_tool *t)
{
	if (t->mesh.body)
		scene_body_free(&t->mesh);
}

// The distance, up to 20 µm; not above 0 if they intersect.
static double distance_of(const test_tool *tool, const scene_body *object, tac_dpose T_world_tool,
			  tac_dpose T_world_object)
{
	const tac_dpose T = tac_dpose_relative(T_world_object, T_world_tool);
	if (!tool->mesh.body) {
		const tac_dvec3 a = tac_dpose_apply_point(T, tool->round.a),
				b = tac_dpose_apply_point(T, tool->round.b);
		return fmin(2e-5, ref_segment_distance(object->mesh, a, b) - tool->round.radius);
	}
	const tac_drigid P = tac_drigid_from_pose(T);
	const ref_pose p = ref_pose_at(&P, tac_dvec3_zero(), P.t, vec3(0, 0, 1), 0, 0);
	return ref_distance(tool->mesh.mesh, object->mesh, &p, 2e-5);
}

static tac_sco *make(const test_tool *tool, const tac_sco_object *objects, int32_t count, tac_dpose start)
{
	tac_sco_def def = tac_sco_def_default();
	def.tool = tool->mesh.body;
	def.round = tool->round;
	def.objects = objects;
	def.object_count = count;
	def.work_units = 200; // as at 10 kHz
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
	TEST_ASSERT_TRUE(tac_sco_reset(sco, start, NULL));
	return sco;
}

static tac_dvec3 in_ball(tac_rng *rng, double radius)
{
	return tac_dvec3_scale(tac_rng_unit_f64(rng), radius * tac_rng_f64(rng));
}

// A device that trembles presses the tool into a groove, while a ball trembles 50 mm away. The same device
// over the groove alone gives the same poses for the same work.
static void an_object_that_moves_far_away_changes_nothing(void)
{
	scene_body groove = scene_body_make(groove_mesh(0.04, 0.02, 0.01, 4)),
		   ball = scene_body_make(sphere_mesh(0.0005, 3));
	test_tool tools[2] = {{.round.radius = 0.0005}, tool_of_mesh(box_mesh(0.004, 0.003, 0.002, 2))};
	const tac_sco_object objects[2] = {{.body = groove.body, .T_world_object = tac_dpose_identity()},
					   {.body = ball.body, .T_world_object = at(0.03, 0, 0.05)}};
	for (int kind = 0; kind < 2; kind++) {
		const tac_dpose start = at(0, 0, 0.01);
		tac_sco *alone = make(&tools[kind], objects, 1, start),
			*both = make(&tools[kind], objects, 2, start);
		tac_rng rng = tac_rng_seed(3, (uint64_t)kind);
		int contacts = 0;
		for (int k = 0; k < 600; k++) {
			tac_dpose device = at(1e-5 * k, 0.002, fmax(-0.015, 0.01 - 1e-4 * k));
			device.position = tac_dvec3_add(device.position, in_ball(&rng, 2e-4));
			tac_dpose goals[2] = {tac_dpose_identity(), at(0.03, 0, 0.05)};
			goals[1].position = tac_dvec3_add(goals[1].position, in_ball(&rng, 1e-3));
			goals[1].rotation = tac_rng_rotation_f64(&rng);
			tac_sco_report r, expected;
			tac_sco_step(alone, device, goals, &expected);
			tac_sco_step(both, device, goals, &r);
			TEST_ASSERT_EQUAL_MEMORY(&expected.T_world_sco, &r.T_world_sco, sizeof r.T_world_sco);
			TEST_ASSERT_EQUAL_HEX32(expected.flags, r.flags);
			TEST_ASSERT_EQUAL(expected.work_units, r.work_units);
			const tac_dvec3 there = tac_sco_object_pose(both, 1).position;
			TEST_ASSERT_EQUAL_MEMORY(&goals[1].position, &there, sizeof there);
			contacts += r.contact_count > 0;
		}
		TEST_ASSERT_TRUE(contacts > 300);
		tac_sco_destroy(&alone);
		tac_sco_destroy(&both);
	}
	scene_body_free(&groove);
	scene_body_free(&ball);
	tool_free(&tools[1]);
}

// The tool rests 5 µm above the floor, half a hold gap. A block that slides past, 50 µm beside it, is where
// it shall be after every tick, and so is the floor, which slides below the tool and then sinks.
static void an_object_that_comes_no_closer_need_not_push(void)
{
	scene_body box = scene_body_make(box_mesh(0.02, 0.02, 0.02, 1)),
		   floor = scene_body_make(box_mesh(0.2, 0.2, 0.02, 2));
	test_tool cube = tool_of_mesh(box_mesh(0.02, 0.02, 0.02, 1));
	const double gap = 5e-6, beside = 5e-5;
	tac_sco_object objects[2] = {{.body = floor.body, .T_world_object = at(0, 0, -0.02 - gap)},
				     {.body = box.body, .T_world_object = at(0.02 + beside, -0.01, 0.002)}};
	const tac_dpose rest = at(0, 0, 0);
	for (int moves = 0; moves < 2; moves++) {
		tac_sco *sco = make(&cube, objects, 2, rest);
		tac_sco_report r;
		for (int k = 0; k < 100; k++) {
			tac_dpose goals[2] = {objects[0].T_world_object, objects[1].T_world_object};
			if (moves == 0)
				goals[1].position.y += 1e-4 * k;
			else
				goals[0].position = vec3(1e-4 * k, 0, -0.02 - gap - (k > 50 ? 1e-6 * k : 0));
			tac_sco_step(sco, rest, goals, &r);
			const tac_dpose there = tac_sco_object_pose(sco, 1 - moves);
			TEST_ASSERT_EQUAL(0, r.flags & (TAC_SCO_OBJECT_WAITS | TAC_SCO_FAULT));
			TEST_ASSERT_EQUAL(0, r.substeps);
			TEST_ASSERT_EQUAL_MEMORY(&goals[1 - moves].position, &there.position,
						 sizeof there.position);
			TEST_ASSERT_EQUAL_MEMORY(&rest, &r.T_world_sco, sizeof rest);
		}
		// One that comes closer pushes the tool out of its way.
		tac_dpose goals[2] = {objects[0].T_world_object, objects[1].T_world_object};
		for (int k = 0; k < 100; k++) {
			goals[moves == 0].position =
				tac_dvec3_lerp(goals[moves == 0].position,
					       moves == 0 ? vec3(0.018, 0, 0.002) : vec3(0, 0, -0.018), 0.05);
			tac_sco_step(sco, rest, goals, &r);
			TEST_ASSERT_TRUE(distance_of(&cube, &floor, r.T_world_sco,
						     tac_sco_object_pose(sco, 0)) > 4.9e-6);
			TEST_ASSERT_TRUE(distance_of(&cube, &box, r.T_world_sco,
						     tac_sco_object_pose(sco, 1)) > 4.9e-6);
		}
		TEST_ASSERT_TRUE(tac_dvec3_length(r.T_world_sco.position) > 1.5e-3);
		tac_sco_destroy(&sco);
	}
	scene_body_free(&box);
	scene_body_free(&floor);
	tool_free(&cube);
}

// A plate that shall be on the other side of the tool in one tick does not pass through it: it pushes the
// tool along, or waits.
static void an_object_does_not_jump_through_the_tool(void)
{
	scene_body plate = scene_body_make(box_mesh(0.002, 0.1, 0.1, 1));
	test_tool tools[2] = {{.round.radius = 0.005}, tool_of_mesh(box_mesh(0.01, 0.01, 0.01, 1))};
	for (int kind = 0; kind < 2; kind++) {
		const tac_sco_object object = {.body = plate.body, .T_world_object = at(-0.03, 0, 0)};
		const tac_dpose goal = at(0.03, 0, 0);
		tac_sco *sco = make(&tools[kind], &object, 1, at(0, 0, 0));
		for (int k = 0; k < 100; k++) {
			tac_sco_report r;
			tac_sco_step(sco, at(0, 0, 0), &goal, &r);
			const double x = tac_sco_object_pose(sco, 0).position.x;
			TEST_ASSERT_TRUE(r.T_world_sco.position.x - x > 0.006 + 4.9e-6);
		}
		tac_sco_destroy(&sco);
	}
	scene_body_free(&plate);
	tool_free(&tools[1]);
}

// The floor rises by 0.9 nm in a tick, 9 µm in all, below a tool that rests 6 µm above it: less than the
// mover takes for a motion, and yet the tool yields.
static void a_floor_that_creeps_lifts_the_tool(void)
{
	scene_body floor = scene_body_make(box_mesh(0.1, 0.1, 0.02, 1));
	test_tool tools[2] = {{.round.radius = 0.005}, tool_of_mesh(box_mesh(0.01, 0.01, 0.01, 1))};
	for (int kind = 0; kind < 2; kind++) {
		const tac_sco_object object = {.body = floor.body, .T_world_object = at(0, 0, -0.015 - 6e-6)};
		tac_sco *sco = make(&tools[kind], &object, 1, at(0, 0, 0));
		for (int k = 1; k <= 10000; k++) {
			const tac_dpose goal = at(0, 0, -0.015 - 6e-6 + 9e-10 * k);
			tac_sco_report r;
			tac_sco_step(sco, at(0, 0, 0), &goal, &r);
			const double z = tac_sco_object_pose(sco, 0).position.z;
			TEST_ASSERT_TRUE(r.T_world_sco.position.z - z - 0.015 > 4.9e-6);
		}
		tac_sco_destroy(&sco);
	}
	scene_body_free(&floor);
	tool_free(&tools[1]);
}

// A block goes ahead of the tool, out of its reach, and in one tick comes so close that the device's next
// motion, which was free, ends inside the block.
static void a_block_that_comes_close_stops_the_tool_in_the_same_tick(void)
{
	scene_body block = scene_body_make(box_mesh(0.02, 0.02, 0.02, 1));
	test_tool cube = tool_of_mesh(box_mesh(0.02, 0.02, 0.02, 1));
	const double speed = 5e-4; // m in a tick
	for (double gap = 2e-5; gap < 2e-4; gap += 2e-5) {
		const tac_sco_object object = {.body = block.body, .T_world_object = at(0.022, 0, 0)};
		tac_sco *sco = make(&cube, &object, 1, at(0, 0, 0));
		tac_sco_report r;
		for (int k = 1; k <= 20; k++) {
			const tac_dpose goal = at(0.022 + speed * k, 0, 0);
			tac_sco_step(sco, at(speed * k, 0, 0), &goal, &r);
		}
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, speed * 20, r.T_world_sco.position.x);
		const tac_dpose goal = at(0.02 + speed * 20 + gap, 0, 0);
		for (int k = 0; k < 5; k++) {
			tac_sco_step(sco, at(speed * 20 + 2.2e-4, 0, 0), &goal, &r);
			const tac_dpose there = tac_sco_object_pose(sco, 0);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, goal.position.x, there.position.x);
			TEST_ASSERT_TRUE(distance_of(&cube, &block, r.T_world_sco, there) > 4.9e-6);
		}
		TEST_ASSERT_TRUE(r.contact_count > 0);
		tac_sco_destroy(&sco);
	}
	scene_body_free(&block);
	tool_free(&cube);
}

// --- random objects ---

#define OBJECTS 3
#define TOOLS   7
#define BODIES  6

typedef enum gait { STILL, GLIDE, JITTER, CHASE, JUMP, GAITS } gait;

typedef struct traveller {
	gait gait;
	tac_dpose T, shown; // its path; where it shall be
	tac_dvec3 v, w;     // in a tick
	double noise_m;
} traveller;

static void traveller_choose(traveller *t, tac_rng *rng)
{
	t->gait = (gait)tac_rng_below(rng, GAITS);
	t->v = tac_dvec3_scale(tac_rng_unit_f64(rng), pow(10, tac_rng_range_f64(rng, -6.5, -3)));
	t->w = tac_dvec3_scale(tac_rng_unit_f64(rng), pow(10, tac_rng_range_f64(rng, -5, -2)));
	t->noise_m = pow(10, tac_rng_range_f64(rng, -7, -3.5));
	if (t->gait == JUMP)
		t->T = tac_dpose_make(in_ball(rng, 0.08), tac_rng_rotation_f64(rng));
}

static void traveller_step(traveller *t, tac_rng *rng, tac_dvec3 tool)
{
	if (t->gait == CHASE)
		t->v = tac_dvec3_scale(tac_dvec3_normalize(tac_dvec3_sub(tool, t->T.position)),
				       tac_dvec3_length(t->v));
	if (t->gait == GLIDE || t->gait == CHASE) {
		t->T.position = tac_dvec3_add(t->T.position, t->v);
		t->T.rotation = tac_dquat_normalize(tac_dquat_mul(tac_dquat_exp(t->w), t->T.rotation));
	}
	t->shown = t->T;
	if (t->gait == JITTER)
		t->shown.position = tac_dvec3_add(t->T.position, in_ball(rng, t->noise_m));
}

typedef struct totals {
	long ticks, touching, waits, spent;
	double least_m;
} totals;

static void run(const test_tool *tool, const scene_body *const *bodies, uint64_t number, totals *all)
{
	tac_rng rng = tac_rng_seed(seed * 1000003 + number, 21);
	tac_sco_object objects[OBJECTS];
	traveller travellers[OBJECTS];
	for (int i = 0; i < OBJECTS; i++) {
		travellers[i] = (traveller){.T = at(0.08 * cos(2.1 * i), 0.08 * sin(2.1 * i), 0)};
		objects[i] = (tac_sco_object){bodies[i]->body, .T_world_object = travellers[i].T};
	}
	tac_sco_def def = tac_sco_def_default();
	def.tool = tool->mesh.body;
	def.round = tool->round;
	def.objects = objects;
	def.object_count = OBJECTS;
	def.slew_m_per_s = number & 1 ? 0.5 : 0;
	def.work_units = number & 2 ? 540 : 200;
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
	tac_dpose device = tac_dpose_identity();
	TEST_ASSERT_TRUE(tac_sco_reset(sco, device, NULL));
	tac_dvec3 v = tac_dvec3_zero(), w = v;
	for (int k = 0; k < 600; k++) {
		if (k % 50 == 0) {
			const bool rests = tac_rng_below(&rng, 3) == 0;
			const tac_dvec3 to =
				tac_sco_object_pose(sco, (int32_t)tac_rng_below(&rng, OBJECTS)).position;
			v = rests ? tac_dvec3_zero()
				  : tac_dvec3_scale(tac_dvec3_sub(to, device.position), 0.015);
			w = rests ? tac_dvec3_zero() : tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.01);
		}
		device.position = tac_dvec3_add(device.position, v);
		device.rotation = tac_dquat_normalize(tac_dquat_mul(tac_dquat_exp(w), device.rotation));
		tac_dpose goals[OBJECTS];
		for (int i = 0; i < OBJECTS; i++) {
			if (tac_rng_below(&rng, 60) == 0)
				traveller_choose(&travellers[i], &rng);
			traveller_step(&travellers[i], &rng, tac_sco_pose(sco).position);
			goals[i] = travellers[i].shown;
		}
		tac_sco_report r;
		tac_sco_step(sco, device, goals, &r);
		all->ticks++;
		all->touching += r.contact_count > 0;
		all->waits += (r.flags & TAC_SCO_OBJECT_WAITS) != 0;
		all->spent += (r.flags & TAC_SCO_BUDGET_SPENT) != 0;
		TEST_ASSERT_EQUAL(0, r.flags & (TAC_SCO_FAULT | TAC_SCO_REFUSED));
		for (int i = 0; i < OBJECTS; i++) {
			const double d =
				distance_of(tool, bodies[i], r.T_world_sco, tac_sco_object_pose(sco, i));
			all->least_m = fmin(all->least_m, d);
			if (!(d >= 4.9e-6))
				printf("run %ld, tick %d, object %d: %.4f um\n", (long)number, k, i, d * 1e6);
			TEST_ASSERT_TRUE(d >= 4.9e-6);
		}
	}
	tac_sco_destroy(&sco);
}

static void random_objects_never_enter_the_tool(void)
{
	test_tool tools[TOOLS] = {tool_of_mesh(box_mesh(0.02, 0.015, 0.01, 1)),
				  {.round.radius = 0.005},
				  tool_of_mesh(sphere_mesh(0.008, 1)),
				  {.round = {{-0.008, -0.003, -0.002}, {0.008, 0.003, 0.002}, 0.003}},
				  tool_of_mesh(cylinder_mesh(0.004, 0.03, 8)),
				  {.round.radius = 0.0005},
				  tool_of_mesh(corner_mesh(0.02, 0.006, 1))};
	scene_body bodies[BODIES] = {scene_body_make(box_mesh(0.05, 0.04, 0.03, 1)),
				     scene_body_make(sphere_mesh(0.02, 1)),
				     scene_body_make(corner_mesh(0.03, 0.01, 1)),
				     scene_body_make(sphere_mesh(0.0005, 1)),
				     scene_body_make(plane_mesh(0.03, 2)),
				     scene_body_make(cylinder_mesh(0.01, 0.06, 8))};
	totals all = {.least_m = HUGE_VAL};
	for (uint64_t number = 0; all.ticks < wanted_ticks; number++) {
		tac_rng rng = tac_rng_seed(seed * 7919 + number, 22);
		const scene_body *three[OBJECTS];
		for (int i = 0; i < OBJECTS; i++)
			three[i] = &bodies[tac_rng_below(&rng, BODIES)];
		run(&tools[number % TOOLS], three, number, &all);
	}
	printf("%ld ticks, %ld in contact, an object waits in %ld, %ld spent; least %.3f um\n", all.ticks,
	       all.touching, all.waits, all.spent, all.least_m * 1e6);
	TEST_ASSERT_TRUE(all.touching > all.ticks / 20);
	for (int i = 0; i < TOOLS; i++)
		tool_free(&tools[i]);
	for (int i = 0; i < BODIES; i++)
		scene_body_free(&bodies[i]);
}

int main(int argc, char **argv)
{
	wanted_ticks = argc > 1 ? strtol(argv[1], NULL, 10) : test_rounds(14400);
	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
	UNITY_BEGIN();
	RUN_TEST(an_object_that_moves_far_away_changes_nothing);
	RUN_TEST(an_object_that_comes_no_closer_need_not_push);
	RUN_TEST(an_object_does_not_jump_through_the_tool);
	RUN_TEST(a_floor_that_creeps_lifts_the_tool);
	RUN_TEST(a_block_that_comes_close_stops_the_tool_in_the_same_tick);
	RUN_TEST(random_objects_never_enter_the_tool);
	return UNITY_END();
}
