// The built-in scenes with a random hand that is slow, fast and jumps, and the default scene for a minute
// with its own hand. Each tick the static engine checks the SCO's pose. On one scene all collision modules
// are compared with a referee in long double. TACTUS_TICKS sets the number of ticks for each scene,
// TACTUS_SEED the random hand: with 1 and 60,000 ticks a tool was once held for good in the scene assembly.
#include "base/rng.h"
#include "collision/chip_collider.h"
#include "collision/geometry/primitives.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tests/support/servo_fixture.h"
#include "tests/support/sweep_referee.h"

#include <stdlib.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_rigid motion_between(tac_dpose T_world_object, tac_dpose T_world_tool)
{
	const tac_pose T = tac_pose_from_dpose(tac_dpose_relative(T_world_object, T_world_tool));
	return (tac_rigid){tac_mat3_from_quat(T.rotation), T.position};
}

// A hand that follows the scene's path with random deviations, at a speed that changes every 500 ticks, and
// jumps every 1000.
static void wander(tac_rng *rng, const tac_scene_tool *tool, int tick, tac_dpose *T, tac_dvec3 *v,
		   tac_dvec3 *w)
{
	static const double speeds[] = {1e-5, 1e-4, 1e-3}; // m per tick: up to 1 m/s
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

// A scene with a puppet, and a referee for its poses.
typedef struct trial {
	fixture f;
	tac_context *referee;
	const char *name;
	int touching;
	int starved_ticks; // in a row: at rest without budget although the device is elsewhere
	tac_dvec3 last_position;
} trial;

static void trial_build(trial *t, const char *name)
{
	memset(t, 0, sizeof *t);
	t->name = name;
	fixture *f = &t->f;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin(name, &f->scene));
	for (int32_t k = 0; k < f->scene->object_count && !test_long(); k++) // prepared within a second
		f->scene->objects[k].tissue.spacing_m *= 2;
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(f->scene, tac_collider_find("wide"), &f->world));
	puppet_init(&f->hand);
	f->scene->tools[0].mapping = (tac_scene_mapping){.workspace_scale = 1, .clutch_button = -1};
	tac_servo_def def = tac_servo_def_default();
	def.check = false; // the test has its referee
	def.world = f->world;
	def.device = &f->hand.base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &f->servo));
	const tac_context_def context = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context, &t->referee));
}

static void trial_fini(trial *t)
{
	tac_context_destroy(&t->referee);
	fixture_fini(&t->f);
}

// One tick: no allocation, no NaN, no fault, no penetration.
static void trial_step(trial *t, tac_dpose T)
{
	fixture *f = &t->f;
	f->hand.state.T_base_tool.rotation = T.rotation;
	const int before = allocations;
	const tac_snapshot *s = step_to(f, T.position);
	TEST_ASSERT_EQUAL_INT_MESSAGE(before, allocations, t->name);
	TEST_ASSERT_TRUE(tac_dpose_finite(s->T_world_sco));
	TEST_ASSERT_TRUE(tac_dvec3_finite(f->hand.wrench.force_N) &&
			 tac_dvec3_finite(f->hand.wrench.torque_Nm));
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, s->faults, t->name);
	t->touching += s->contact_count > 0 || s->tissue.state.loaded > 0;
	if (s->tissue.present) {
		TEST_ASSERT_TRUE(s->tissue.state.smallest_gap_m >= -1e-6);
		TEST_ASSERT_EQUAL_UINT64(0, s->tissue.state.spent_ticks);
	}
	const tac_dvec3 position = s->T_world_sco.position;
	const bool away = tac_dvec3_length(tac_dvec3_sub(position, T.position)) > 1e-3;
	const bool rests = tac_dvec3_length(tac_dvec3_sub(position, t->last_position)) < 1e-9;
	const bool starved = away && rests && s->sco_flags & TAC_SCO_BUDGET_SPENT;
	t->last_position = position;
	t->starved_ticks = starved ? t->starved_ticks + 1 : 0;
	TEST_ASSERT_LESS_THAN_MESSAGE(50, t->starved_ticks, t->name);
	for (int32_t k = 0; k < f->scene->object_count; k++) {
		if (tac_world_passes(f->world, 0, k) || f->world->objects[k].field ||
		    f->world->objects[k].compliance)
			continue; // for what is drilled tests/haptic/test_drill.c has a referee; soft bodies
				  // yield
		const tac_rigid motion = motion_between(s->T_world_objects[k], s->T_world_sco);
		const tac_overlap answer = tac_collider_query(
			f->world->collider, t->referee, f->world->tools[0].shape, f->world->objects[k].shape,
			&motion, TAC_QUERY_FIRST, (tac_budget){0, 0});
		TEST_ASSERT_EQUAL_INT_MESSAGE(TAC_OVERLAP_NONE, answer, t->name);
	}
}

static int run_random_hand(const char *name, int ticks)
{
	trial t;
	trial_build(&t, name);
	const tac_scene_tool *tool = &t.f.scene->tools[0];
	const char *seed = getenv("TACTUS_SEED");
	tac_rng rng = tac_rng_seed(seed ? (uint64_t)atoll(seed) : 11, 3);
	tac_dvec3 v = tac_dvec3_zero(), w = tac_dvec3_zero();
	tac_dpose T = tac_dpose_make(tool->hand[0].position_m, tac_dquat_exp(tool->hand[0].rotation_rad));
	for (int i = 0; i < ticks; i++) {
		trial_step(&t, T);
		wander(&rng, tool, i, &T, &v, &w);
	}
	trial_fini(&t);
	return t.touching;
}

// A sanitizer's tactus-elastic would take a minute for the body of palpation.
static bool bodies_can_be_prepared(void)
{
#ifdef TACTUS_TEST_CACHE
	setenv("TACTUS_CACHE", TACTUS_TEST_CACHE, 1);
	return !TAC_TEST_SANITIZED;
#else
	printf("skipped: palpation (no tactus-elastic: SuperLU was not found)\n");
	return false;
#endif
}

static void nothing_penetrates_in_any_built_in_scene(void)
{
	const char *set = getenv("TACTUS_TICKS");
	const int ticks = set ? atoi(set) : TAC_TEST_SANITIZED ? 150 : 2000;
	for (int i = 0; tac_scene_builtin_name(i); i++) {
		if (strcmp(tac_scene_builtin_name(i), "hands") == 0)
			continue; // tests/haptic/test_hands.c
		if (strcmp(tac_scene_builtin_name(i), "palpation") == 0 && !bodies_can_be_prepared())
			continue;
		const int touching = run_random_hand(tac_scene_builtin_name(i), ticks);
		printf("%s: %d ticks, %d in contact, no penetration\n", tac_scene_builtin_name(i), ticks,
		       touching);
		TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || touching > ticks / 20);
	}
}

static void a_minute_of_the_default_scene_allocates_nothing_and_never_penetrates(void)
{
	const int ticks = TAC_TEST_SANITIZED ? 1000 : 60000;
	trial t;
	trial_build(&t, tac_scene_builtin_name(0));
	const tac_scene_tool *tool = &t.f.scene->tools[0];
	for (int i = 0; i < ticks; i++)
		trial_step(&t, tac_world_path_pose(tool->hand, tool->hand_count, i * MS));
	TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || t.touching > ticks / 3);
	trial_fini(&t);
}

// ---- collision modules compared on one scene ----

typedef struct module {
	const char *name;
	tac_world *world;
	tac_context *context;
} module;

static bool query_engine(const module *m, tac_dpose T_object_tool)
{
	const tac_rigid motion = motion_between(tac_dpose_identity(), T_object_tool);
	const tac_overlap answer =
		tac_collider_query(m->world->collider, m->context, m->world->tools[0].shape,
				   m->world->objects[0].shape, &motion, TAC_QUERY_FIRST, (tac_budget){0, 0});
	TEST_ASSERT_TRUE(answer != TAC_OVERLAP_UNKNOWN);
	return answer == TAC_OVERLAP_HIT;
}

static tac_triangle erit_triangle(const tac_mesh *mesh, int32_t i, tac_dpose T)
{
	const int32_t *v = mesh->triangles[i].vertex;
	return (tac_triangle){tac_dpose_apply_point(T, tac_dvec3_from_vec3(mesh->vertices[v[0]])),
			      tac_dpose_apply_point(T, tac_dvec3_from_vec3(mesh->vertices[v[1]])),
			      tac_dpose_apply_point(T, tac_dvec3_from_vec3(mesh->vertices[v[2]]))};
}

// ERIT's triangle test over all pairs of triangles.
static bool query_erit(const tac_mesh *tool, const tac_mesh *object, tac_dpose T)
{
	const double eps = tac_primitive_eps(0.1);
	for (int32_t i = 0; i < tool->triangle_count; i++) {
		const tac_triangle a = erit_triangle(tool, i, T);
		for (int32_t j = 0; j < object->triangle_count; j++) {
			const tac_triangle b = erit_triangle(object, j, tac_dpose_identity());
			if (tac_triangle_meets_triangle(&a, &b, eps))
				return true;
		}
	}
	return false;
}

// Continuous collision: whether the distance is 0. If so, a sweep from above must stop before the pose.
static bool query_sweep(const tac_world *world, tac_dpose T)
{
	const tac_body *tool = world->tools[0].body, *object = world->objects[0].body;
	const tac_drigid pose = tac_drigid_from_pose(T);
	const bool hit = tac_body_distance(tool, object, &pose, 1e-3, NULL, NULL, NULL) == 0;
	const tac_dvec3 down = tac_dvec3_make(0, 0, -0.2);
	const tac_drigid above = tac_sweep_translated(&pose, down, -1);
	const tac_sweep_options options = tac_sweep_options_default();
	const tac_sweep_result sweep = tac_sweep_translate(tool, object, &above, down, &options, NULL);
	TEST_ASSERT_TRUE(sweep.fraction > 0);
	TEST_ASSERT_FALSE_MESSAGE(hit && sweep.fraction == 1, "a sweep ended inside");
	return hit;
}

// All engines with chip and surface detection, ERIT, and continuous collision. Poses closer to contact than
// single precision resolves are left out.
#define AMBIGUOUS_M 1e-7

static void all_collision_modules_agree_on_a_thousand_poses(void)
{
	module modules[] = {{.name = "wide"},
			    {.name = "doptree"},
			    {.name = "classic"},
			    {.name = "scd"},
			    {.name = "chip"}};
	TEST_ASSERT_EQUAL(TAC_OK, tac_collider_add(tac_chip_collider()));
	enum { MODULES = sizeof modules / sizeof *modules };
	tac_scene *scene;
	const tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin("groove", &scene));
	for (int e = 0; e < MODULES; e++) {
		module *m = &modules[e];
		TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find(m->name), &m->world));
		TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &m->context));
	}
	const tac_world *world = modules[0].world;
	const tac_mesh *tool = world->tools[0].mesh, *object = world->objects[0].mesh;
	tac_rng rng = tac_rng_seed(4, 4);
	int hits = 0, ambiguous = 0, poses = TAC_TEST_SANITIZED ? 50 : 1000;
	for (int i = 0; i < poses; i++) {
		const tac_dpose T = tac_dpose_make(tac_dvec3_make(tac_rng_range_f64(&rng, -0.03, 0.03),
								  tac_rng_range_f64(&rng, -0.05, 0.05),
								  tac_rng_range_f64(&rng, 0, 0.05)),
						   tac_rng_rotation_f64(&rng));
		const tac_drigid pose = tac_drigid_from_pose(T);
		const ref_pose p =
			ref_pose_at(&pose, tac_dvec3_zero(), pose.t, tac_dvec3_make(0, 0, 1), 0, 0);
		const double distance = ref_distance(tool, object, &p, 1e-3);
		const bool truth = distance < 0;
		if (!truth && distance < AMBIGUOUS_M) {
			ambiguous++;
			continue;
		}
		hits += truth;
		for (int e = 0; e < MODULES; e++)
			TEST_ASSERT_EQUAL_INT_MESSAGE(truth, query_engine(&modules[e], T), modules[e].name);
		TEST_ASSERT_EQUAL_INT_MESSAGE(truth, query_erit(tool, object, T), "ERIT");
		TEST_ASSERT_EQUAL_INT_MESSAGE(truth, query_sweep(world, T), "continuous collision");
	}
	TEST_ASSERT_TRUE(hits > poses / 10 && hits < poses * 9 / 10);
	TEST_ASSERT_TRUE(ambiguous <= poses / 100);
	for (int e = 0; e < MODULES; e++) {
		tac_context_destroy(&modules[e].context);
		tac_world_destroy(&modules[e].world);
	}
	tac_scene_destroy(&scene);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(nothing_penetrates_in_any_built_in_scene);
	RUN_TEST(a_minute_of_the_default_scene_allocates_nothing_and_never_penetrates);
	RUN_TEST(all_collision_modules_agree_on_a_thousand_poses);
	return UNITY_END();
}
