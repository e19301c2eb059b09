// A world that changes while it is felt: poses, visibility, materials, mapping, gain, whole worlds. What the
// hand feels is compared with closed forms; live_fixture.h checks every tick for intersections and jumps.
#include "haptic/scene_builder.h"
#include "tests/support/live_fixture.h"
#include "tests/support/logged.h"

#include <stdlib.h>

void setUp(void)
{
	logged[0] = 0;
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

#define RADIUS 0.005
#define TOOL   "tools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n"
#define LIFT                                                                                                 \
	"{name: lift, position_m: [0, 0, -0.05], shapes: [{kind: box, size_m: [0.1, 0.1, 0.1], segments: "   \
	"4}]}"

static const char lift[] = "scene: a lift\n" TOOL "objects: [" LIFT "]\n";

static tac_dpose at(double x, double y, double z)
{
	return tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_identity());
}

// ---- poses ----

// The top of the box rises from z = 0 to 8 mm under a hand that stays at 10 mm: the ball is lifted by 3 mm.
static void an_object_that_is_moved_pushes_the_tool(void)
{
	live_fixture l;
	live_build(&l, lift);
	l.f.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.01);
	live_rest(&l, 10);
	TEST_ASSERT_TRUE(tac_live_move(l.live, 0, at(0, 0, -0.042), 200 * MS));
	const tac_snapshot *s = live_rest(&l, 100);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -0.046, s->T_world_objects[0].position.z); // half of the time
	TEST_ASSERT_EQUAL_UINT64(1, s->live.moving);
	TEST_ASSERT_EQUAL_UINT64(1, s->live.commands);
	s = live_rest(&l, 100);
	TEST_ASSERT_EQUAL_DOUBLE(-0.042, s->T_world_objects[0].position.z);
	TEST_ASSERT_EQUAL_UINT64(0, s->live.moving | s->live.blocked);
	s = live_rest(&l, 20);
	assert_near(tac_dvec3_make(0, 0, 0.008 + RADIUS + HOLD_GAP_M), s->T_world_sco.position, 1e-7);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1000 * 0.003, l.f.hand.wrench.force_N.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.008 / 200, l.largest_travel_m);
	live_fini(&l);
}

// An animation of 60 frames per second, some of them up to 6 ms late: the object moves in every tick, and in
// none by more than twice the animation's speed.
static void an_animation_of_60_hz_does_not_step(void)
{
	live_fixture l;
	live_build(&l, lift);
	l.f.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.1);
	live_rest(&l, 10);
	const double speed = 0.06; // m/s
	const int late[] = {0, 2, 0, 3, 0, 0, 4, 0, 1, 0};
	double last = -0.05;
	int still = 0;
	for (int frame = 0, tick = 0; frame < 60; frame++) {
		const int due = frame * 50 / 3 + late[frame % 10];
		for (; tick < due; tick++) {
			const tac_snapshot *s = live_rest(&l, 1);
			const double step = s->T_world_objects[0].position.x - last;
			last = s->T_world_objects[0].position.x;
			if (frame > 3) {
				TEST_ASSERT_TRUE(step >= -1e-15);
				TEST_ASSERT_TRUE(step < 2 * speed * 1e-3);
				still += step < 0.25 * speed * 1e-3;
			}
		}
		TEST_ASSERT_TRUE(tac_live_move(l.live, 0, at(speed * frame / 60.0, 0, -0.05),
					       (int64_t)(1.25 * MS * 50 / 3)));
		last = frame == 0 ? 0 : last;
	}
	TEST_ASSERT_EQUAL(0, still);
	live_fini(&l);
}

// Sent a long way at once, no point of the box goes faster than the bound, and it arrives.
static void no_point_of_an_object_exceeds_the_speed(void)
{
	live_fixture l;
	live_build(&l, lift);
	l.f.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 1);
	live_rest(&l, 5);
	const tac_dpose to =
		tac_dpose_make(tac_dvec3_make(0.03, 0.04, -0.05), tac_dquat_exp(tac_dvec3_make(0, 0, 1.2)));
	TEST_ASSERT_TRUE(tac_live_move(l.live, 0, to, 0));
	tac_dvec3 corners[8], before[8];
	double most = 0;
	int ticks = 0;
	for (bool moving = true; moving && ticks < 1000; ticks++) {
		const tac_snapshot *s = live_rest(&l, 1);
		for (int k = 0; k < 8; k++) {
			const tac_dvec3 corner = tac_dvec3_make(k & 1 ? 0.05 : -0.05, k & 2 ? 0.05 : -0.05,
								k & 4 ? 0.05 : -0.05);
			corners[k] = tac_dpose_apply_point(s->T_world_objects[0], corner);
			if (ticks > 0)
				most = fmax(most, tac_dvec3_length(tac_dvec3_sub(corners[k], before[k])));
			before[k] = corners[k];
		}
		moving = s->live.moving != 0;
	}
	// 50 mm and 1.2 rad at 86.6 mm take 154 ticks at 1 mm.
	TEST_ASSERT_INT_WITHIN(2, 154, ticks);
	TEST_ASSERT_TRUE(most <= 1e-3 * (1 + 1e-9) && most > 0.5e-3);
	assert_near(to.position, l.objects_before[0].position, 0);
	live_fini(&l);
}

// The ball is held between a wall and the block that comes: the block stops at it and goes on when the hand
// has left.
static void an_object_stops_where_the_tool_cannot_yield(void)
{
	live_fixture l;
	live_build(&l, "scene: a press\n" TOOL "objects:\n"
		       "- {name: wall, position_m: [0, 0, -0.05], shapes: [{kind: box, segments: 4}]}\n"
		       "- {name: ram, position_m: [0, 0, 0.1], shapes: [{kind: box, segments: 4}]}\n");
	live_move_to(&l, tac_dvec3_make(0, 0, 0.02), 1);
	live_rest(&l, 5);
	// Its lower face would come to z = 6 mm; the ball needs 10 mm.
	TEST_ASSERT_TRUE(tac_live_move(l.live, 1, at(0, 0, 0.056), 300 * MS));
	const tac_snapshot *s = live_rest(&l, 600);
	TEST_ASSERT_EQUAL_UINT64(2, s->live.blocked);
	TEST_ASSERT_EQUAL_UINT64(2, s->live.moving);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0.01, s->T_world_objects[1].position.z - 0.05);
	TEST_ASSERT_TRUE(s->T_world_objects[1].position.z - 0.05 > 0.01);
	s = live_move_to(&l, tac_dvec3_make(0.2, 0, 0.005), 400);
	s = live_rest(&l, 10);
	TEST_ASSERT_EQUAL_UINT64(0, s->live.blocked | s->live.moving);
	TEST_ASSERT_EQUAL_DOUBLE(0.056, s->T_world_objects[1].position.z);
	TEST_ASSERT_TRUE(l.largest_travel_m <= 1e-3 * (1 + 1e-9)); // also when the way became free
	live_fini(&l);
}

// ---- show and hide ----

static void a_hidden_object_is_passed_and_comes_back_when_the_tool_has_left_it(void)
{
	live_fixture l;
	live_build(&l, lift);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.02), 1);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.003), 100);
	const tac_snapshot *s = live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2, l.f.hand.wrench.force_N.z);
	TEST_ASSERT_TRUE(tac_live_show(l.live, 0, false));
	s = live_rest(&l, 50);
	TEST_ASSERT_EQUAL_UINT64(1, s->live.hidden);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(l.f.hand.wrench.force_N));
	assert_near(tac_dvec3_make(0, 0, 0.003), s->T_world_sco.position, 1e-12);
	s = live_move_to(&l, tac_dvec3_make(0, 0, -0.05), 200); // wholly inside
	TEST_ASSERT_TRUE(tac_live_show(l.live, 0, true));
	s = live_rest(&l, 50);
	TEST_ASSERT_EQUAL_UINT64(1, s->live.waits);
	TEST_ASSERT_EQUAL_UINT64(1, s->live.hidden);
	s = live_move_to(&l, tac_dvec3_make(0, 0, 0.003), 200); // through the surface
	TEST_ASSERT_EQUAL_UINT64(1, s->live.waits);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(l.f.hand.wrench.force_N));
	s = live_move_to(&l, tac_dvec3_make(0, 0, 0.0052), 20);
	TEST_ASSERT_EQUAL_UINT64(0, s->live.waits | s->live.hidden);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.004), 50);
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, l.f.hand.wrench.force_N.z);
	live_fini(&l);
}

// An object that is wholly inside the tool must not be shown, either: the tool could never leave it.
static void an_object_inside_the_tool_waits(void)
{
	live_fixture l;
	live_build(&l, "scene: t\ntools: [{name: block, axes: 3, shapes: [{kind: box, segments: 2}]}]\n"
		       "objects: [{name: seed, hidden: true, shapes: [{kind: sphere, radius_m: 0.003, "
		       "subdivisions: 2}]}]\n");
	const tac_snapshot *s = live_rest(&l, 5);
	TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, s->state);
	tac_live_show(l.live, 0, true);
	s = live_rest(&l, 20);
	TEST_ASSERT_EQUAL_UINT64(1, s->live.waits);
	s = live_move_to(&l, tac_dvec3_make(0.06, 0, 0), 100);
	TEST_ASSERT_EQUAL_UINT64(0, s->live.waits | s->live.hidden);
	s = live_move_to(&l, tac_dvec3_make(0.05, 0, 0), 50);
	TEST_ASSERT_GREATER_THAN(0, s->contact_count);
	live_fini(&l);
}

// A world with a hidden object computes the same as one without it, in the same number of steps.
static void a_hidden_object_costs_nothing(void)
{
	live_fixture with, without;
	live_build(&with, "scene: t\n" TOOL "objects: [" LIFT
			  ", {name: more, hidden: true, shapes: [{kind: sphere, radius_m: 0.03}]}]\n");
	live_build(&without, lift);
	for (int i = 0; i < 600; i++) {
		const tac_dvec3 x = tac_dvec3_make(0.02 * sin(0.01 * i), 0, 0.01 * cos(0.013 * i));
		const tac_snapshot *a = live_step(&with, x), *b = live_step(&without, x);
		TEST_ASSERT_EQUAL_MEMORY(&a->T_world_sco, &b->T_world_sco, sizeof a->T_world_sco);
		TEST_ASSERT_EQUAL_MEMORY(&a->sent, &b->sent, sizeof a->sent);
		TEST_ASSERT_EQUAL_INT64(b->work_units, a->work_units);
		TEST_ASSERT_EQUAL_UINT64(2, a->live.hidden);
	}
	TEST_ASSERT_GREATER_THAN_UINT64(50, tac_servo_snapshot(with.f.servo, 0)->contact_ticks);
	live_fini(&with);
	live_fini(&without);
}

// The reactive mover asks a static engine; the same holds for it.
static void the_reactive_mover_passes_hidden_objects(void)
{
	live_fixture l;
	tac_live_def def = tac_live_def_default();
	def.world = live_world(lift);
	live_build_def(&l, def, TAC_SCO_REACTIVE);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.02), 1);
	const tac_snapshot *s = live_move_to(&l, tac_dvec3_make(0, 0, 0.003), 100);
	TEST_ASSERT_TRUE(l.f.hand.wrench.force_N.z > 1);
	tac_live_show(l.live, 0, false);
	s = live_move_to(&l, tac_dvec3_make(0, 0, -0.05), 100);
	TEST_ASSERT_EQUAL_DOUBLE(0, l.f.hand.wrench.force_N.z);
	tac_live_show(l.live, 0, true);
	s = live_rest(&l, 20);
	TEST_ASSERT_EQUAL_UINT64(1, s->live.waits);
	s = live_move_to(&l, tac_dvec3_make(0, 0, 0.006), 100);
	TEST_ASSERT_EQUAL_UINT64(0, s->live.waits);
	live_fini(&l);
}

// ---- materials ----

static const char materials[] =
	"scene: t\n"
	"materials: [{name: soft, stiffness_N_per_m: 400}, {name: hard, stiffness_N_per_m: 2000}]\n" TOOL
	"objects: [{name: lift, material: soft, position_m: [0, 0, -0.05], shapes: [{kind: box, segments: "
	"4}]}]\n";

static void materials_change_while_they_are_touched(void)
{
	live_fixture l;
	live_build(&l, materials);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.02), 1);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.003), 100);
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 400 * 0.002, l.f.hand.wrench.force_N.z);
	tac_material m = l.f.world->materials[0];
	m.stiffness_N_per_m = 1200;
	m.static_friction = m.dynamic_friction = 0.5;
	TEST_ASSERT_TRUE(tac_live_set_material(l.live, 0, &m));
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1200 * 0.002, l.f.hand.wrench.force_N.z);
	// Dragged along, the hand feels half of that as friction.
	live_move_to(&l, tac_dvec3_make(0.02, 0, 0.003), 400);
	TEST_ASSERT_DOUBLE_WITHIN(1e-2, -0.5 * 1200 * 0.002, l.f.hand.wrench.force_N.x);
	TEST_ASSERT_TRUE(tac_live_use_material(l.live, 0, 1));
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2000 * 0.002, l.f.hand.wrench.force_N.z);
	TEST_ASSERT_EQUAL_DOUBLE(400, l.f.world->materials[0].stiffness_N_per_m); // the caller's world
	live_fini(&l);
}

// A box of 12 triangles whose top has a name of its own.
static tac_world *named_world(void)
{
	const tac_vec3 corners[8] = {{-0.05f, -0.05f, -0.1f}, {0.05f, -0.05f, -0.1f}, {0.05f, 0.05f, -0.1f},
				     {-0.05f, 0.05f, -0.1f},  {-0.05f, -0.05f, 0},    {0.05f, -0.05f, 0},
				     {0.05f, 0.05f, 0},       {-0.05f, 0.05f, 0}};
	const tac_mesh_triangle triangles[12] = {{{4, 5, 6}}, {{4, 6, 7}}, {{0, 2, 1}}, {{0, 3, 2}},
						 {{0, 1, 5}}, {{0, 5, 4}}, {{1, 2, 6}}, {{1, 6, 5}},
						 {{2, 3, 7}}, {{2, 7, 6}}, {{3, 0, 4}}, {{3, 4, 7}}};
	const int32_t surface[12] = {1, 1, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2};
	const char *const names[3] = {"side", "top", "side"};
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = corners;
	def.vertex_count = 8;
	def.triangles = triangles;
	def.triangle_count = 12;
	def.triangle_surface = surface;
	def.surface_names = names;
	def.surface_count = 3;
	tac_mesh *box;
	tac_scene *scene;
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &box));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_create("named", &scene));
	tac_scene_add_material(scene, "soft")->stiffness_N_per_m = 400;
	tac_scene_add_material(scene, "hard")->stiffness_N_per_m = 2000;
	tac_scene_tool *ball = tac_scene_add_tool(scene, "ball");
	ball->axes = 3;
	tac_scene_tool_add_shape(ball, TAC_SCENE_SPHERE)->radius_m = RADIUS;
	tac_scene_object *o = tac_scene_add_object(scene, "box");
	tac_scene_object_add_mesh(o, "box", box);
	TAC_SCENE_SET(o->material, "soft");
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	tac_mesh_destroy(&box);
	return world;
}

static void a_single_surface_gets_another_material(void)
{
	live_fixture l;
	tac_live_def def = tac_live_def_default();
	def.world = named_world();
	const int32_t top = tac_world_find_surface(def.world, 0, "top", -1);
	const int32_t side = tac_world_find_surface(def.world, 0, "side", -1);
	TEST_ASSERT_EQUAL(1, top);
	TEST_ASSERT_EQUAL(0, side);
	TEST_ASSERT_EQUAL(2, tac_world_find_surface(def.world, 0, "side", side));
	TEST_ASSERT_EQUAL(-1, tac_world_find_surface(def.world, 0, "side", 2));
	TEST_ASSERT_EQUAL(-1, tac_world_find_surface(def.world, 0, "tops", -1));
	live_build_def(&l, def, TAC_SCO_CONTINUOUS);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.02), 1);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.003), 100);
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 400 * 0.002, l.f.hand.wrench.force_N.z);
	TEST_ASSERT_TRUE(
		tac_live_use_surface_material(l.live, 0, side, 1)); // another surface: nothing changes
	TEST_ASSERT_TRUE(tac_live_use_surface_material(l.live, 0, 2, 1));
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 400 * 0.002, l.f.hand.wrench.force_N.z);
	TEST_ASSERT_TRUE(tac_live_use_surface_material(l.live, 0, top, 1));
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2000 * 0.002, l.f.hand.wrench.force_N.z);
	TEST_ASSERT_EQUAL(0, def.world->objects[0].surface_material[top]); // the caller's world
	TEST_ASSERT_TRUE(tac_live_use_material(l.live, 0, 2));             // all: the default one
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1000 * 0.002, l.f.hand.wrench.force_N.z);
	live_fini(&l);
}

// ---- mapping and gain ----

static void the_mapping_moves_the_tool_no_faster_than_the_bound(void)
{
	live_fixture l;
	live_build(&l, lift);
	const tac_snapshot *s = live_move_to(&l, tac_dvec3_make(0.01, 0, 0.03), 1);
	s = live_rest(&l, 5);
	const tac_scene_mapping mapping = {
		.workspace_scale = 2, .position_m = {0.05, 0, 0.01}, .clutch_button = -1};
	TEST_ASSERT_TRUE(tac_live_set_mapping(l.live, 0, &mapping, 0));
	double most = 0;
	for (int i = 0; i < 200; i++) {
		const tac_dvec3 before = s->T_world_device.position;
		s = live_rest(&l, 1);
		most = fmax(most, tac_dvec3_length(tac_dvec3_sub(s->T_world_device.position, before)));
	}
	TEST_ASSERT_TRUE(most <= 1e-3 * (1 + 1e-9));
	assert_near(tac_dvec3_make(0.07, 0, 0.07), s->T_world_device.position, 1e-12);
	// With time: half of the way in half of the time.
	const tac_scene_mapping back = {.workspace_scale = 1, .clutch_button = -1};
	TEST_ASSERT_TRUE(tac_live_set_mapping(l.live, 0, &back, 400 * MS));
	s = live_rest(&l, 200);
	assert_near(tac_dvec3_make(0.04, 0, 0.05), s->T_world_device.position, 1e-9);
	s = live_rest(&l, 200);
	assert_near(tac_dvec3_make(0.01, 0, 0.03), s->T_world_device.position, 1e-12);
	live_fini(&l);
}

static void the_gain_scales_the_force(void)
{
	live_fixture l;
	live_build(&l, lift);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.02), 1);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.001), 100);
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 4, l.f.hand.wrench.force_N.z);
	TEST_ASSERT_TRUE(tac_live_set_gain(l.live, 0, 0.25));
	const tac_snapshot *s = live_rest(&l, 30);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 4 * 0.7, l.f.hand.wrench.force_N.z); // 0.3 in 30 ms
	s = live_rest(&l, 70);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, l.f.hand.wrench.force_N.z);
	TEST_ASSERT_EQUAL_DOUBLE(0.25, s->live.gain);
	live_fini(&l);
}

// ---- exchange ----

// The new world has the same floor and more: the ball stays, and the force does not change.
static void a_world_is_exchanged_under_a_resting_tool(void)
{
	live_fixture l;
	live_build(&l, lift);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.02), 1);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.003), 100);
	const tac_snapshot *s = live_rest(&l, 50);
	const tac_dvec3 sco = s->T_world_sco.position;
	tac_world *second =
		live_world("scene: second\n" TOOL "objects: [" LIFT
			   ", {name: post, position_m: [0.03, 0, 0.02], shapes: [{kind: cylinder, "
			   "height_m: 0.04}]}]\n");
	TEST_ASSERT_TRUE(tac_live_exchange(l.live, second));
	tac_world *const first = l.f.world;
	l.f.world = second;
	for (int i = 0; i < 30; i++) {
		s = live_rest(&l, 1);
		TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, s->state);
		assert_near(sco, s->T_world_sco.position, 1e-9);
		TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2, l.f.hand.wrench.force_N.z);
	}
	TEST_ASSERT_EQUAL(1, s->live.world);
	TEST_ASSERT_EQUAL(2, s->object_count);
	int32_t number = -1;
	TEST_ASSERT_EQUAL_PTR(first, tac_live_returned(l.live, &number));
	TEST_ASSERT_EQUAL(0, number);
	TEST_ASSERT_NULL(tac_live_returned(l.live, &number));
	live_world_destroy(first);
	// The post is there: the ball slides to it and stops.
	s = live_move_to(&l, tac_dvec3_make(0.03, 0, 0.003), 200);
	s = live_rest(&l, 50);
	TEST_ASSERT_TRUE(s->T_world_sco.position.x < 0.03 - 0.01 - 0.004);
	// Commands are for the new world now.
	TEST_ASSERT_TRUE(tac_live_show(l.live, 1, false));
	s = live_rest(&l, 50);
	assert_near(tac_dvec3_make(0.03, 0, RADIUS + HOLD_GAP_M), s->T_world_sco.position, 1e-6);
	live_fini(&l);
}

// Presses the ball 2 mm into the floor of `text`, drags it along, and exchanges the world for that of `next`.
static void exchange_after_a_drag(live_fixture *l, const char *text, const char *next)
{
	live_build(l, text);
	live_move_to(l, tac_dvec3_make(0, 0, 0.02), 1);
	live_move_to(l, tac_dvec3_make(0, 0, 0.003), 100);
	live_move_to(l, tac_dvec3_make(0.01, 0, 0.003), 200);
	live_rest(l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2, l->f.hand.wrench.force_N.z);
	tac_world *second = live_world(next);
	TEST_ASSERT_TRUE(tac_live_exchange(l->live, second));
	tac_world *first = l->f.world;
	l->f.world = second;
	TEST_ASSERT_EQUAL(1, live_rest(l, 2)->live.world);
	TEST_ASSERT_EQUAL_PTR(first, tac_live_returned(l->live, NULL));
	live_world_destroy(first);
}

// The second floor has its top where the first had it and its origin 4 mm lower, so in the frame of the
// object the resting hand is 4 mm higher. An account that went on would take these 4 mm for a motion, 8 mJ at
// 2 N, and brake it with up to a tenth of the force.
static void an_exchange_restarts_the_account_of_energy(void)
{
	live_fixture l;
	exchange_after_a_drag(&l, lift,
			      "scene: thick\n" TOOL "objects: [{name: lift, position_m: [0, 0, -0.054], "
			      "shapes: [{kind: box, size_m: [0.1, 0.1, 0.108], segments: 4}]}]\n");
	for (int i = 0; i < 60; i++) {
		TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2, l.f.hand.wrench.force_N.z);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, l.f.hand.wrench.force_N.x);
		live_rest(&l, 1);
	}
	live_move_to(&l, tac_dvec3_make(0.02, 0, 0.003), 100); // nothing to repay, so nothing drags
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, l.f.hand.wrench.force_N.x);
	live_fini(&l);
}

#define ROUGH                                                                                                \
	"materials: [{name: rough, static_friction: 0.5, dynamic_friction: 0.5}]\n" TOOL                     \
	"objects: [{name: lift, material: rough, position_m: [0, 0, -0.05], shapes: [{kind: box, size_m: "   \
	"[0.1, 0.1, 0.1], segments: 4}]}]\n"

// The bristle that the drag has bent belongs to the surface that is gone: on the new one the resting hand
// feels no friction, and 1 N again as soon as it is dragged on.
static void friction_begins_anew_in_another_world(void)
{
	live_fixture l;
	exchange_after_a_drag(&l, "scene: rough\n" ROUGH, "scene: rough, too\n" ROUGH);
	const tac_snapshot *s = live_rest(&l, 40);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2, l.f.hand.wrench.force_N.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, l.f.hand.wrench.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, tac_dvec3_length(s->friction.force_N));
	live_move_to(&l, tac_dvec3_make(0.02, 0, 0.003), 200);
	TEST_ASSERT_DOUBLE_WITHIN(1e-2, -1, l.f.hand.wrench.force_N.x);
	live_fini(&l);
}

// A command that comes in the tick of the exchange, or before the first tick, moves an object from where the
// scene has it.
static void an_object_is_moved_in_the_tick_in_which_its_world_begins(void)
{
	live_fixture l;
	live_build(&l, lift);
	l.f.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.02);
	TEST_ASSERT_TRUE(tac_live_move(l.live, 0, at(0.003, 0, -0.05), 0));
	for (int i = 1; i <= 5; i++) // 1 mm in a tick; in the first no time has passed
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1e-3 * fmin(i - 1, 3),
					  live_rest(&l, 1)->T_world_objects[0].position.x);
	tac_world *second =
		live_world("scene: low\n" TOOL "objects: [{name: lift, position_m: [0, 0, -0.06], "
			   "shapes: [{kind: box, size_m: [0.1, 0.1, 0.1], segments: 4}]}]\n");
	TEST_ASSERT_TRUE(tac_live_exchange(l.live, second));
	TEST_ASSERT_TRUE(tac_live_move(l.live, 0, at(0, 0, -0.05), 20 * MS));
	tac_world *first = l.f.world;
	l.f.world = second;
	for (int i = 1; i <= 25; i++) {
		const tac_snapshot *s = live_rest(&l, 1);
		TEST_ASSERT_EQUAL(1, s->live.world);
		assert_near(tac_dvec3_make(0, 0, -0.06 + 0.0005 * fmin(i, 20)),
			    s->T_world_objects[0].position, 1e-9);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, s->T_world_objects[0].rotation.w);
	}
	TEST_ASSERT_EQUAL_PTR(first, tac_live_returned(l.live, NULL));
	live_world_destroy(first);
	live_fini(&l);
}

static void in_a_world_where_it_is_not_free_the_tool_waits(void)
{
	live_fixture l;
	live_build(&l, lift);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.02), 1);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.003), 100);
	live_rest(&l, 50);
	tac_world *second = live_world(
		"scene: high\n" TOOL
		"objects: [{name: high, position_m: [0, 0, -0.03], shapes: [{kind: box, segments: 4}]}]\n");
	TEST_ASSERT_TRUE(tac_live_exchange(l.live, second));
	tac_world *first = l.f.world;
	l.f.world = second;
	const tac_snapshot *s = live_rest(&l, 20); // the watch allows no jump
	TEST_ASSERT_EQUAL(TAC_SERVO_WAITING, s->state);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(l.f.hand.wrench.force_N));
	TEST_ASSERT_EQUAL_PTR(first, tac_live_returned(l.live, NULL));
	live_world_destroy(first);
	s = live_move_to(&l, tac_dvec3_make(0, 0, 0.03), 100);
	TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, s->state);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.024), 100);
	live_rest(&l, 20);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, l.f.hand.wrench.force_N.z);
	live_fini(&l);
}

// The new world's meshes are so large that the test takes several ticks; the hand moves meanwhile.
static void a_large_world_is_taken_while_the_hand_moves(void)
{
	live_fixture l;
	live_build(&l, lift);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.02), 1);
	live_move_to(&l, tac_dvec3_make(0, 0, 0.004), 100);
	tac_world *second = live_world(
		"scene: fine\n" TOOL "objects:\n- " LIFT
		"\n- {name: ball, position_m: [0, 0, 0.2], shapes: [{kind: sphere, radius_m: 0.02, "
		"subdivisions: 6}]}\n");
	TEST_ASSERT_TRUE(second->triangles > 80000);
	TEST_ASSERT_TRUE(tac_live_exchange(l.live, second));
	int waited = 0;
	tac_world *first = l.f.world;
	for (int i = 0; i < 60; i++) {
		const tac_snapshot *s = live_step(&l, tac_dvec3_make(1e-4 * i, 0, 0.004));
		TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, s->state);
		waited += s->live.exchanging;
		l.f.world = s->live.world == 1 ? second : first;
		TEST_ASSERT_TRUE(s->sent.force_N.z > 0.9);
	}
	TEST_ASSERT_INT_WITHIN(2, 4, waited); // 81,920 triangles and the floor, 20,000 in a tick
	TEST_ASSERT_EQUAL_PTR(first, tac_live_returned(l.live, NULL));
	live_world_destroy(first);
	live_fini(&l);
}

// A tool of four parts, each of which is tested: four times as many ticks, none of them longer.
static void the_test_of_a_tool_of_several_parts_takes_more_ticks(void)
{
	static const char small[] =
		"scene: small\ntools: [{name: comb, axes: 3, shapes: [{kind: box, size_m: [0.002, 0.01, "
		"0.01], "
		"segments: 1}, {kind: box, size_m: [0.002, 0.01, 0.01], segments: 1, position_m: [0.004, 0, "
		"0]}, "
		"{kind: box, size_m: [0.002, 0.01, 0.01], segments: 1, position_m: [0.008, 0, 0]}, {kind: "
		"box, "
		"size_m: [0.002, 0.01, 0.01], segments: 1, position_m: [0.012, 0, 0]}]}]\n"
		"objects: [{name: ball, position_m: [0, 0, 0.2], shapes: [{kind: sphere, radius_m: 0.02, "
		"subdivisions: 2}]}]\n";
	char fine[sizeof small];
	memcpy(fine, small, sizeof small);
	*strstr(fine, "2}]}]") = '5';
	live_fixture l;
	live_build(&l, small);
	live_rest(&l, 5);
	tac_world *second = live_world(fine);
	TEST_ASSERT_EQUAL(20480, second->objects[0].mesh->triangle_count);
	TEST_ASSERT_TRUE(tac_live_exchange(l.live, second));
	tac_world *first = l.f.world;
	int waited = 0;
	for (int i = 0; i < 30; i++) {
		const tac_snapshot *s = live_rest(&l, 1);
		waited += s->live.exchanging;
		l.f.world = s->live.world == 1 ? second : first;
	}
	TEST_ASSERT_INT_WITHIN(1, 4 * 20480 / 20000, waited);
	TEST_ASSERT_EQUAL_PTR(first, tac_live_returned(l.live, NULL));
	live_world_destroy(first);
	live_fini(&l);
}

// ---- two hands ----

// A plate moves sideways between two balls; both hands feel it, and the second cannot be passed by it either.
static void both_hands_feel_an_object_that_moves(void)
{
	tac_live_def def = tac_live_def_default();
	def.world = live_world(
		"scene: t\ntools:\n"
		"- {name: a, axes: 3, shapes: [{kind: sphere, radius_m: 0.005, subdivisions: 2}]}\n"
		"- {name: b, axes: 3, shapes: [{kind: sphere, radius_m: 0.005, subdivisions: 2}]}\n"
		"objects: [{name: plate, shapes: [{kind: box, size_m: [0.01, 0.1, 0.1], segments: 4}]}]\n");
	puppet hands[2];
	tac_servo *servos[2];
	force_watch watches[2] = {{0}, {0}};
	tac_live *live;
	TEST_ASSERT_EQUAL(TAC_OK, tac_live_create(&def, &live));
	for (int i = 0; i < 2; i++) {
		tac_servo_def servo = tac_servo_def_default();
		puppet_init(&hands[i]);
		hands[i].state.T_base_tool.position.x = i ? 0.011 : -0.011;
		servo.live = live;
		servo.tool = i;
		servo.device = &hands[i].base;
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&servo, &servos[i]));
	}
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_join(servos[0], servos[1]));
	const tac_snapshot *s[2] = {NULL, NULL};
	for (int tick = 0; tick < 600; tick++) {
		if (tick == 100)
			TEST_ASSERT_TRUE(tac_live_move(live, 0, at(-0.003, 0, 0), 100 * MS));
		if (tick == 300)
			TEST_ASSERT_TRUE(tac_live_move(live, 0, at(0.003, 0, 0), 100 * MS));
		if (tick == 500)
			TEST_ASSERT_TRUE(tac_live_set_gain(live, 1, 0));
		for (int i = 0; i < 2; i++)
			tac_servo_step(servos[i], tick * MS, NULL);
		for (int i = 0; i < 2; i++) {
			s[i] = tac_servo_snapshot(servos[i], 0);
			force_watch_step(&watches[i], def.world, s[i]);
		}
		assert_near(s[0]->T_world_objects[0].position, s[1]->T_world_objects[0].position, 0);
		if (tick == 299) { // the plate's side is at x = -8 mm: it has pushed the left ball by 2 mm
			TEST_ASSERT_DOUBLE_WITHIN(0.02, -2, hands[0].wrench.force_N.x);
			TEST_ASSERT_EQUAL_DOUBLE(0, hands[1].wrench.force_N.x);
		}
		if (tick == 499)
			TEST_ASSERT_DOUBLE_WITHIN(0.02, 2, hands[1].wrench.force_N.x);
	}
	TEST_ASSERT_EQUAL_DOUBLE(0, hands[1].wrench.force_N.x);
	TEST_ASSERT_EQUAL_DOUBLE(1, s[0]->live.gain);

	// Another world for both.
	tac_world *second = live_world(
		"scene: u\ntools:\n"
		"- {name: a, axes: 3, shapes: [{kind: sphere, radius_m: 0.005, subdivisions: 2}]}\n"
		"- {name: b, axes: 3, shapes: [{kind: sphere, radius_m: 0.005, subdivisions: 2}]}\n"
		"objects: [{name: plate, position_m: [0.003, 0, 0], shapes: [{kind: box, size_m: [0.01, 0.1, "
		"0.1], segments: 4}]}, {name: far, position_m: [0, 0, 1], shapes: [{kind: sphere}]}]\n");
	TEST_ASSERT_TRUE(tac_live_exchange(live, second));
	for (int tick = 600; tick < 700; tick++) {
		for (int i = 0; i < 2; i++) {
			tac_servo_step(servos[i], tick * MS, NULL);
			s[i] = tac_servo_snapshot(servos[i], 0);
			force_watch_step(&watches[i], def.world, s[i]);
			TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, s[i]->state);
			TEST_ASSERT_EQUAL(1, s[i]->live.world);
			TEST_ASSERT_EQUAL(3, s[i]->object_count);
		}
	}
	TEST_ASSERT_EQUAL_PTR(def.world, tac_live_returned(live, NULL));
	for (int i = 0; i < 2; i++)
		tac_servo_destroy(&servos[i]);
	live_world_destroy(def.world);
	TEST_ASSERT_EQUAL_PTR(second, tac_live_returned(live, NULL)); // no servo uses it
	TEST_ASSERT_NULL(tac_live_returned(live, NULL));
	live_world_destroy(second);
	tac_live_destroy(&live);
}

// ---- refusals ----

static void expect_line(bool sent, const char *line)
{
	TEST_ASSERT_FALSE(sent);
	TEST_ASSERT_EQUAL_STRING(line, logged);
	TEST_ASSERT_EQUAL(1, logged_lines);
	logged_lines = 0;
}

static const char drillable[] =
	"scene: t\nmaterials: [{name: m, cutting_energy_J_per_m3: 1.0e7}]\n" TOOL
	"objects: [{name: o, material: m, position_m: [0, 0, -0.05], shapes: [{kind: box, size_m: [0.01, "
	"0.01, 0.01]}], drillable: {voxel_m: 0.001, material: m}}]\n";

static void wrong_commands_are_refused_with_a_line(void)
{
	live_fixture l;
	live_build(&l, lift);
	logged_lines = 0;
	tac_dpose bad = at(0, 0, NAN);
	expect_line(tac_live_move(l.live, 0, bad, 0),
		    "live: expected coordinates from -1000 to 1000 m, found nan");
	bad = at(0, 0, 0);
	bad.rotation.w = 2;
	expect_line(tac_live_move(l.live, 0, bad, 0), "live: expected a quaternion of length 1, found 2");
	expect_line(tac_live_move(l.live, 1, at(0, 0, 0), 0),
		    "live: expected an object of the world, found 1");
	expect_line(tac_live_move(l.live, 0, at(0, 0, 0), -1),
		    "live: expected a time from 0 to an hour, found -1e-09");
	expect_line(tac_live_set_pose(l.live, -1, at(0, 0, 0)),
		    "live: expected an object of the world, found -1");
	expect_line(tac_live_use_material(l.live, 0, 1), "live: expected a material of the world, found 1");
	expect_line(tac_live_use_surface_material(l.live, 0, -1, 0),
		    "live: expected a surface of the object, found -1");
	expect_line(tac_live_use_surface_material(l.live, 0, 6, 0),
		    "live: expected a surface of the object, found 6");
	const tac_live_command part = {.kind = TAC_LIVE_USE_MATERIAL, .values = {0, 1.5}};
	expect_line(tac_live_send(l.live, &part), "live: expected a surface of the object, found 0.5");
	expect_line(tac_live_set_gain(l.live, 0, 1.5), "live: expected a gain from 0 to 1, found 1.5");
	expect_line(tac_live_set_gain(l.live, 1, 1), "live: expected a tool of the world, found 1");
	tac_material m = tac_material_default();
	m.dynamic_friction = 0.5;
	expect_line(tac_live_set_material(l.live, 0, &m),
		    "material: dynamic_friction: expected at most the static friction (0), found '0.5'");
	m = tac_material_default();
	m.stiffness_N_per_m = NAN;
	expect_line(tac_live_set_material(l.live, 0, &m),
		    "material: stiffness_N_per_m: expected a number from 1 to 1e+06, found 'nan'");
	const tac_scene_mapping mapping = {.workspace_scale = 0};
	expect_line(tac_live_set_mapping(l.live, 0, &mapping, 0),
		    "live: expected a workspace scale from 0.001 to 1000, found 0");
	const tac_live_command exchange = {.kind = TAC_LIVE_EXCHANGE};
	expect_line(tac_live_send(l.live, &exchange), "live: expected a kind of command, found 6");
	tac_world *other = live_world(
		"scene: t\ntools: [{name: ball, shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n");
	expect_line(tac_live_exchange(l.live, other),
		    "live: expected a world with the same engine and as many tools, with the same axes and "
		    "turn_arm_m, found another");
	live_world_destroy(other);
	tac_world *drilled = live_world(drillable);
	expect_line(tac_live_exchange(l.live, drilled),
		    "live: expected worlds without a drillable object, found one");
	live_world_destroy(drilled);
	expect_line(tac_live_switch_effect(l.live, 0, 7, true),
		    "live: expected an effect of the tool, found 7");
	tac_effect added = tac_effect_default(TAC_EFFECT_POINT);
	strcpy(added.name, "added");
	TEST_ASSERT_TRUE(tac_live_set_effect(l.live, 0, 7, &added));
	TEST_ASSERT_TRUE(tac_live_switch_effect(l.live, 0, 7, false));
	tac_servo_def again = tac_servo_def_default();
	tac_servo *servo;
	again.live = l.live;
	again.device = &l.f.hand.base;
	expect_line(tac_servo_create(&again, &servo) == TAC_OK,
		    "servo: expected one servo for each tool of a live, found another for the same tool");
	expect_line(tac_live_exchange(l.live, NULL), "live: expected a world that is not in use, found none");
	TEST_ASSERT_EQUAL_UINT64(0, tac_live_refused(l.live));
	live_fini(&l);
}

// It would be given back, and destroyed, twice.
static void a_world_that_was_not_given_back_is_refused(void)
{
	static const char in_use[] = "live: expected a world that is not in use, found one that has not been "
				     "given back";
	live_fixture l;
	live_build(&l, lift);
	tac_world *first = l.f.world, *second = live_world(lift);
	l.f.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.1);
	live_rest(&l, 5);
	logged_lines = 0;
	expect_line(tac_live_exchange(l.live, first), in_use);
	TEST_ASSERT_TRUE(tac_live_exchange(l.live, second));
	expect_line(tac_live_exchange(l.live, second), in_use);
	for (int i = 0; i < 20; i++) {
		l.f.world = tac_servo_snapshot(l.f.servo, 0)->live.world == 0 ? first : second;
		live_rest(&l, 1);
	}
	TEST_ASSERT_EQUAL_PTR(first, tac_live_returned(l.live, NULL));
	TEST_ASSERT_NULL(tac_live_returned(l.live, NULL));
	TEST_ASSERT_TRUE(tac_live_exchange(l.live, first)); // it is the application's again
	tac_servo_destroy(&l.f.servo);
	tac_world *last = tac_live_returned(l.live, NULL), *other = tac_live_returned(l.live, NULL);
	TEST_ASSERT_TRUE((last == first && other == second) || (last == second && other == first));
	TEST_ASSERT_NULL(tac_live_returned(l.live, NULL));
	tac_servo_def servo = tac_servo_def_default();
	servo.live = l.live;
	servo.device = &l.f.hand.base;
	logged_lines = 0;
	expect_line(tac_servo_create(&servo, &l.f.servo) == TAC_OK,
		    "servo: expected a live that has a world, found one whose worlds were given back");
	live_world_destroy(first);
	live_world_destroy(second);
	live_fini(&l);
}

// What was drilled could not follow into another world; nor has a drilled body surfaces that change.
static void a_drilled_world_is_not_exchanged(void)
{
	live_fixture l;
	live_build(&l, drillable);
	l.f.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.1);
	live_rest(&l, 5);
	logged_lines = 0;
	tac_world *other = live_world(lift);
	expect_line(tac_live_exchange(l.live, other),
		    "live: expected worlds without a drillable object, found one");
	expect_line(tac_live_use_material(l.live, 0, 1),
		    "live: expected an object that is not drilled, found 0");
	TEST_ASSERT_EQUAL(0, live_rest(&l, 5)->live.world);
	TEST_ASSERT_NULL(tac_live_returned(l.live, NULL));
	live_world_destroy(other);
	live_fini(&l);
}

static void a_full_queue_refuses_and_counts(void)
{
	live_fixture l;
	tac_live_def def = tac_live_def_default();
	def.world = live_world(lift);
	def.capacity = 128;
	live_build_def(&l, def, TAC_SCO_CONTINUOUS);
	l.f.hand.state.T_base_tool.position.z = 0.1;
	for (int i = 0; i < 130; i++)
		TEST_ASSERT_EQUAL(i < 128, tac_live_move(l.live, 0, at(1e-6 * i, 0, -0.05), 0));
	tac_world *second = live_world(lift);
	TEST_ASSERT_FALSE(tac_live_exchange(l.live, second));
	TEST_ASSERT_EQUAL_UINT64(3, tac_live_refused(l.live));
	TEST_ASSERT_EQUAL_UINT64(TAC_LIVE_PER_TICK, live_rest(&l, 1)->live.commands); // a tick takes so many
	TEST_ASSERT_EQUAL_UINT64(128, live_rest(&l, 1)->live.commands);
	TEST_ASSERT_TRUE(tac_live_exchange(l.live, second));
	tac_world *worlds[TAC_LIVE_WORLDS + 1];
	for (int i = 1; i <= TAC_LIVE_WORLDS; i++) {
		worlds[i] = live_world(lift);
		TEST_ASSERT_EQUAL(i < TAC_LIVE_WORLDS, tac_live_exchange(l.live, worlds[i]));
	}
	live_world_destroy(worlds[TAC_LIVE_WORLDS]);
	tac_world *first = l.f.world;
	for (int i = 0; i < 20; i++) {
		const tac_snapshot *s = tac_servo_snapshot(l.f.servo, 0);
		l.f.world = s->live.world == 0   ? first
			    : s->live.world == 1 ? second
						 : worlds[s->live.world - 1];
		step_to(&l.f, tac_dvec3_make(0, 0, 0.1));
	}
	l.f.world = worlds[TAC_LIVE_WORLDS - 1];
	TEST_ASSERT_EQUAL(TAC_LIVE_WORLDS, tac_servo_snapshot(l.f.servo, 0)->live.world);
	live_fini(&l);
	tac_live *none;
	def.capacity = 3;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_live_create(&def, &none));
	TEST_ASSERT_NULL(none);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(an_object_that_is_moved_pushes_the_tool);
	RUN_TEST(an_animation_of_60_hz_does_not_step);
	RUN_TEST(no_point_of_an_object_exceeds_the_speed);
	RUN_TEST(an_object_stops_where_the_tool_cannot_yield);
	RUN_TEST(a_hidden_object_is_passed_and_comes_back_when_the_tool_has_left_it);
	RUN_TEST(an_object_inside_the_tool_waits);
	RUN_TEST(a_hidden_object_costs_nothing);
	RUN_TEST(the_reactive_mover_passes_hidden_objects);
	RUN_TEST(materials_change_while_they_are_touched);
	RUN_TEST(a_single_surface_gets_another_material);
	RUN_TEST(the_mapping_moves_the_tool_no_faster_than_the_bound);
	RUN_TEST(the_gain_scales_the_force);
	RUN_TEST(a_world_is_exchanged_under_a_resting_tool);
	RUN_TEST(an_exchange_restarts_the_account_of_energy);
	RUN_TEST(friction_begins_anew_in_another_world);
	RUN_TEST(an_object_is_moved_in_the_tick_in_which_its_world_begins);
	RUN_TEST(in_a_world_where_it_is_not_free_the_tool_waits);
	RUN_TEST(a_large_world_is_taken_while_the_hand_moves);
	RUN_TEST(the_test_of_a_tool_of_several_parts_takes_more_ticks);
	RUN_TEST(both_hands_feel_an_object_that_moves);
	RUN_TEST(wrong_commands_are_refused_with_a_line);
	RUN_TEST(a_world_that_was_not_given_back_is_refused);
	RUN_TEST(a_drilled_world_is_not_exchanged);
	RUN_TEST(a_full_queue_refuses_and_counts);
	return UNITY_END();
}
