// A servo on a world that changes, with a device whose pose the test sets. Every tick is checked: the force
// is continuous, and the exact engine finds no intersection of the tool with an object that can be touched.
#ifndef TAC_TESTS_SUPPORT_LIVE_FIXTURE_H
#define TAC_TESTS_SUPPORT_LIVE_FIXTURE_H

#include "haptic/live.h"
#include "tests/support/servo_fixture.h"

typedef struct live_fixture {
	fixture f; // its world is the one in use, for the watch
	tac_live *live;
	tac_context *context;
	tac_dpose objects_before[TAC_SNAPSHOT_OBJECTS];
	double largest_travel_m; // of an object's origin in a tick
} live_fixture;

static inline tac_world *live_world(const char *text)
{
	tac_scene *scene;
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "test", &scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	return world;
}

static inline void live_world_destroy(tac_world *world)
{
	tac_scene *scene = (tac_scene *)(uintptr_t)world->scene;
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}

static inline void live_build_def(live_fixture *l, tac_live_def def, tac_sco_mover mover)
{
	memset(l, 0, sizeof *l);
	l->f.world = def.world;
	TEST_ASSERT_EQUAL(TAC_OK, tac_live_create(&def, &l->live));
	puppet_init(&l->f.hand);
	tac_servo_def servo = tac_servo_def_default();
	servo.live = l->live;
	servo.mover = mover;
	servo.device = &l->f.hand.base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&servo, &l->f.servo));
	const tac_context_def context = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context, &l->context));
}

static inline void live_build(live_fixture *l, const char *text)
{
	tac_live_def def = tac_live_def_default();
	def.world = live_world(text);
	live_build_def(l, def, TAC_SCO_CONTINUOUS);
}

static inline void live_fini(live_fixture *l)
{
	tac_context_destroy(&l->context);
	tac_servo_destroy(&l->f.servo);
	for (tac_world *old; (old = tac_live_returned(l->live, NULL));)
		live_world_destroy(old);
	tac_live_destroy(&l->live);
}

// Whether the tool intersects an object that it can touch, by the exact engine.
static inline bool live_intersects(live_fixture *l, const tac_world *world, const tac_snapshot *s)
{
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		if (s->live.hidden >> i & 1u || s->state == TAC_SERVO_WAITING ||
		    tac_world_passes(world, s->tool, i))
			continue;
		const tac_rigid motion =
			tac_rigid_from_dpose(tac_dpose_relative(s->T_world_objects[i], s->T_world_sco));
		if (tac_collider_query(world->collider, l->context, world->tools[s->tool].shape,
				       world->objects[i].shape, &motion, TAC_QUERY_FIRST,
				       (tac_budget){0, 0}) != TAC_OVERLAP_NONE)
			return true;
	}
	return false;
}

static inline const tac_snapshot *live_step(live_fixture *l, tac_dvec3 position)
{
	const tac_snapshot *s = step_to(&l->f, position);
	TEST_ASSERT_FALSE(live_intersects(l, l->f.world, s));
	for (int32_t i = 0; i < s->object_count; i++) {
		const double travel = tac_dvec3_length(
			tac_dvec3_sub(s->T_world_objects[i].position, l->objects_before[i].position));
		if (s->tick > 0)
			l->largest_travel_m = fmax(l->largest_travel_m, travel);
		l->objects_before[i] = s->T_world_objects[i];
	}
	TEST_ASSERT_EQUAL(0, s->faults);
	return s;
}

// Moves the hand along a straight line; `ticks` 1: it is there at once.
static inline const tac_snapshot *live_move_to(live_fixture *l, tac_dvec3 to, int ticks)
{
	const tac_dvec3 from = l->f.hand.state.T_base_tool.position;
	const tac_snapshot *s = NULL;
	for (int i = 1; i <= ticks; i++)
		s = live_step(l, tac_dvec3_lerp(from, to, (double)i / ticks));
	return s;
}

static inline const tac_snapshot *live_rest(live_fixture *l, int ticks)
{
	return live_move_to(l, l->f.hand.state.T_base_tool.position, ticks);
}

#endif
