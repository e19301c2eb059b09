// The built-in scenes under a hand that knows no mercy: slow, fast and jumping. The SCO's pose is checked
// each tick by the static engine in exact mode (SPEC E02), and the engines are held against each other (E06).
// TACTUS_TICKS sets how many ticks each scene gets.
#include "base/rng.h"
#include "tests/allocations.h"
#include "tests/limits.h"
#include "tests/servo_fixture.h"

#include <stdlib.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_motion motion_between(tac_dpose T_world_object, tac_dpose T_world_tool)
{
	const tac_pose T = tac_pose_from_dpose(tac_dpose_relative(T_world_object, T_world_tool));
	return (tac_motion){tac_mat3_from_quat(T.rotation), T.position};
}

// A hand that wanders about the scene's own path, at a speed that changes every 500 ticks, and jumps now and
// then.
static void wander(tac_rng *rng, const tac_scene_tool *tool, int tick, tac_dpose *T, tac_dvec3 *v,
		   tac_dvec3 *w)
{
	static const double speeds[] = {1e-5, 1e-4, 1e-3}; // m a tick: up to 1 m/s
	const double speed = speeds[tick / 500 % 3];
	const tac_scene_point *goal = &tool->hand[(tick / 300) % tool->hand_count];
	*v = tac_dvec3_scale(tac_dvec3_add_scaled(*v, 0.3 * speed, tac_rng_unit_f64(rng)), 0.95);
	*v = tac_dvec3_add_scaled(*v, 2e-3, tac_dvec3_sub(goal->position_m, T->position));
	*w = tac_dvec3_scale(tac_dvec3_add_scaled(*w, 10 * speed, tac_rng_unit_f64(rng)), 0.95);
	T->position = tac_dvec3_add(T->position, *v);
	T->rotation = tac_dquat_normalize(tac_dquat_mul(tac_dquat_exp(*w), T->rotation));
	if (tick % 1000 == 999) { // 20 to 200 mm away at once
		const double far = tac_rng_range_f64(rng, 0.02, 0.2);
		T->position = tac_dvec3_add_scaled(goal->position_m, far, tac_rng_unit_f64(rng));
		T->rotation = tac_rng_rotation_f64(rng);
	}
}

static int torture(const char *name, int ticks)
{
	fixture f;
	memset(&f, 0, sizeof f);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin(name, &f.scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(f.scene, tac_collider_find("wide"), &f.world));
	puppet_init(&f.hand);
	f.scene->tools[0].mapping = (tac_scene_mapping){.workspace_scale = 1, .clutch_button = -1};
	tac_servo_def def = tac_servo_def_default();
	def.budget_ns = 0;
	def.check = false; // the referee is the test's
	def.world = f.world;
	def.device = &f.hand.base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &f.servo));
	tac_context *referee;
	const tac_context_def context = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context, &referee));
	tac_rng rng = tac_rng_seed(11, 3);
	tac_dvec3 v = tac_dvec3_zero(), w = tac_dvec3_zero();
	tac_dpose T = tac_dpose_make(f.scene->tools[0].hand[0].position_m,
				     tac_dquat_exp(f.scene->tools[0].hand[0].rotation_rad));
	int touching = 0;
	for (int i = 0; i < ticks; i++) {
		f.hand.state.T_base_tool.rotation = T.rotation;
		const int before = allocations;
		const tac_snapshot *s = step_to(&f, T.position);
		TEST_ASSERT_EQUAL_INT_MESSAGE(before, allocations, name);
		TEST_ASSERT_TRUE(tac_dpose_finite(s->T_world_sco));
		TEST_ASSERT_TRUE(tac_dvec3_finite(f.hand.wrench.force_N) &&
				 tac_dvec3_finite(f.hand.wrench.torque_Nm));
		TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, s->faults, name);
		touching += s->contact_count > 0;
		for (int32_t k = 0; k < f.scene->object_count; k++) {
			const tac_motion motion = motion_between(s->T_world_objects[k], s->T_world_sco);
			const tac_contact answer = tac_collider_query(
				f.world->collider, referee, f.world->tools[0].shape,
				f.world->objects[k].shape, &motion, TAC_QUERY_FIRST, (tac_budget){0, 0});
			TEST_ASSERT_EQUAL_INT_MESSAGE(TAC_CONTACT_NONE, answer, name);
		}
		wander(&rng, &f.scene->tools[0], i, &T, &v, &w);
	}
	tac_context_destroy(&referee);
	fixture_fini(&f);
	return touching;
}

static void nothing_penetrates_in_any_built_in_scene(void)
{
	const char *set = getenv("TACTUS_TICKS");
	const int ticks = set ? atoi(set) : TAC_TEST_SANITIZED ? 150 : 2000;
	for (int i = 0; tac_scene_builtin_name(i); i++) {
		if (strcmp(tac_scene_builtin_name(i), "hands") == 0)
			continue; // tests/test_hands.c
		const int touching = torture(tac_scene_builtin_name(i), ticks);
		printf("%s: %d ticks, %d in contact, none inside\n", tac_scene_builtin_name(i), ticks,
		       touching);
		TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || touching > ticks / 20);
	}
}

// SPEC E06: the engines and the distance of continuous collision on one scene.
static void all_engines_say_the_same_of_a_scene(void)
{
	static const char *const names[] = {"wide", "doptree", "classic", "scd", "chip"};
	enum { ENGINES = sizeof names / sizeof *names };
	tac_scene *scene;
	tac_world *worlds[ENGINES];
	tac_context *contexts[ENGINES];
	const tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin("groove", &scene));
	for (int e = 0; e < ENGINES; e++) {
		TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find(names[e]), &worlds[e]));
		TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &contexts[e]));
	}
	tac_rng rng = tac_rng_seed(4, 4);
	int hits = 0, poses = TAC_TEST_SANITIZED ? 50 : 1000;
	for (int i = 0; i < poses; i++) {
		const tac_dpose T = tac_dpose_make(tac_dvec3_make(tac_rng_range_f64(&rng, -0.03, 0.03),
								  tac_rng_range_f64(&rng, -0.05, 0.05),
								  tac_rng_range_f64(&rng, 0, 0.05)),
						   tac_rng_rotation_f64(&rng));
		const tac_motion motion = motion_between(tac_world_object_pose(worlds[0], 0, 0), T);
		tac_contact first = TAC_CONTACT_UNKNOWN;
		for (int e = 0; e < ENGINES; e++) {
			const tac_contact answer = tac_collider_query(
				worlds[e]->collider, contexts[e], worlds[e]->tools[0].shape,
				worlds[e]->objects[0].shape, &motion, TAC_QUERY_FIRST, (tac_budget){0, 0});
			TEST_ASSERT_TRUE(answer != TAC_CONTACT_UNKNOWN);
			if (e == 0)
				first = answer;
			TEST_ASSERT_EQUAL_INT_MESSAGE(first, answer, names[e]);
		}
		hits += first == TAC_CONTACT_HIT;
	}
	TEST_ASSERT_TRUE(hits > poses / 10 && hits < poses * 9 / 10);
	for (int e = 0; e < ENGINES; e++) {
		tac_context_destroy(&contexts[e]);
		tac_world_destroy(&worlds[e]);
	}
	tac_scene_destroy(&scene);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(nothing_penetrates_in_any_built_in_scene);
	RUN_TEST(all_engines_say_the_same_of_a_scene);
	return UNITY_END();
}
