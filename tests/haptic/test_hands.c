// Two tools in one scene: they never enter each other, and each hand feels the contact forces of the other.
#include "base/rng.h"
#include "tests/support/limits.h"
#include "tests/support/servo_fixture.h"

#include <stdlib.h>

void setUp(void)
{
}

void tearDown(void)
{
}

typedef struct pair {
	tac_scene *scene;
	tac_world *world;
	puppet hands[2];
	tac_servo *servos[2];
	const tac_snapshot *snapshots[2];
	force_watch watches[2];
	int refused[2]; // ticks that show a refusal of this tool
	int64_t now_ns;
	tac_context *context;
} pair;

static void pair_build_scene(pair *p, tac_scene *scene)
{
	memset(p, 0, sizeof *p);
	p->scene = scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(p->scene, tac_collider_find("wide"), &p->world));
	for (int i = 0; i < 2; i++) {
		tac_servo_def def = tac_servo_def_default();
		def.world = p->world;
		def.tool = i;
		puppet_init(&p->hands[i]);
		def.device = &p->hands[i].base;
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &p->servos[i]));
	}
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_join(p->servos[0], p->servos[1]));
	const tac_context_def context = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context, &p->context));
}

static void pair_build(pair *p, const char *text)
{
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "test", &scene));
	pair_build_scene(p, scene);
}

static void pair_fini(pair *p)
{
	tac_context_destroy(&p->context);
	for (int i = 0; i < 2; i++)
		tac_servo_destroy(&p->servos[i]);
	tac_world_destroy(&p->world);
	tac_scene_destroy(&p->scene);
}

static void pair_step(pair *p, tac_dvec3 left, tac_dvec3 right)
{
	p->hands[0].state.T_base_tool.position = left;
	p->hands[1].state.T_base_tool.position = right;
	tac_tick tick = {0};
	tac_servo_step_all(p->servos, 2, p->now_ns, &tick);
	for (int i = 0; i < 2; i++) {
		p->snapshots[i] = tac_servo_snapshot(p->servos[i], 0);
		force_watch_step(&p->watches[i], p->world, p->snapshots[i]);
	}
	// The tick has the outcome of the first tool, unless the second alone was refused something.
	const int shown = p->snapshots[0]->sco_refused == 0 && p->snapshots[1]->sco_refused != 0;
	TEST_ASSERT_EQUAL(p->snapshots[shown]->sco_outcome, tick.sco_outcome);
	TEST_ASSERT_EQUAL(p->snapshots[shown]->sco_refused, tick.sco_refused);
	p->refused[shown] += tick.sco_refused != 0;
	p->now_ns += MS;
}

// Whether two bodies intersect, by the static engine in exact mode.
static bool intersect(pair *p, const tac_world_body *a, tac_dpose T_world_a, const tac_world_body *b,
		      tac_dpose T_world_b)
{
	const tac_pose T = tac_pose_from_dpose(tac_dpose_relative(T_world_a, T_world_b));
	const tac_rigid motion = {tac_mat3_from_quat(T.rotation), T.position};
	return tac_collider_query(p->world->collider, p->context, b->shape, a->shape, &motion,
				  TAC_QUERY_FIRST, (tac_budget){0, 0}) != TAC_OVERLAP_NONE;
}

static bool tools_intersect(pair *p)
{
	return intersect(p, &p->world->tools[0], p->snapshots[0]->T_world_sco, &p->world->tools[1],
			 p->snapshots[1]->T_world_sco);
}

// Whether tool k intersects an object at the pose that its servo publishes.
static bool tool_in_object(pair *p, int k)
{
	for (int32_t i = 0; i < p->scene->object_count; i++) {
		if (intersect(p, &p->world->objects[i], p->snapshots[k]->T_world_objects[i],
			      &p->world->tools[k], p->snapshots[k]->T_world_sco))
			return true;
	}
	return false;
}

#define TWO                                                                                                  \
	"scene: t\ntools:\n"                                                                                 \
	"- {name: a, axes: 3, shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 2}]}\n"             \
	"- {name: b, axes: 3, shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 3}]}\n"

static void hands_that_press_against_each_other_feel_equal_and_opposite_forces(void)
{
	pair p;
	pair_build(&p, TWO);
	for (int i = 0; i < 1500; i++) {
		const double x = fmax(0.008, 0.03 - 5e-5 * i); // each hand goes 2 mm past the contact
		pair_step(&p, tac_dvec3_make(-x, 0, 0), tac_dvec3_make(x, 0, 0));
		TEST_ASSERT_FALSE(tools_intersect(&p));
	}
	const tac_dvec3 left = p.hands[0].wrench.force_N, right = p.hands[1].wrench.force_N;
	// The tools rest against each other: the two springs, 1000 N/m each, are stretched by 4 mm in all.
	TEST_ASSERT_DOUBLE_WITHIN(0.002, -4, left.x);
	assert_near(tac_dvec3_neg(left), right, 0.002);
	const double spacing =
		p.snapshots[1]->T_world_sco.position.x - p.snapshots[0]->T_world_sco.position.x;
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.02 + HOLD_GAP_M, spacing);
	pair_fini(&p);
}

static void a_hand_feels_the_other_even_when_it_does_not_press_itself(void)
{
	pair p;
	pair_build(&p, TWO);
	for (int i = 0; i < 800; i++)
		pair_step(&p, tac_dvec3_make(-0.01, 0, 0),
			  tac_dvec3_make(fmax(0.007, 0.03 - 5e-5 * i), 0, 0));
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 3, p.hands[1].wrench.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, -3, p.hands[0].wrench.force_N.x);
	pair_fini(&p);
}

// The left hand pushes the right one along for 0.2 m. The work that the right hand gets is the left one's:
// the force goes on as it was.
static void a_hand_may_push_the_other_as_far_as_it_likes(void)
{
	pair p;
	pair_build(&p, TWO);
	const tac_dvec3 left = tac_dvec3_make(-0.010, 0, 0),
			right = tac_dvec3_make(0.007, 0, 0); // 3 mm too near
	for (int i = 0; i <= 400; i++)
		pair_step(&p, tac_dvec3_make(fmin(-0.02 + 5e-5 * i, left.x), 0, 0), right);
	const double force = p.hands[1].wrench.force_N.x, force_left = p.hands[0].wrench.force_N.x;
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 3, force);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, -3, force_left);
	for (int i = 0; i <= 2000; i++) {
		const tac_dvec3 along = tac_dvec3_make(1e-4 * i, 0, 0);
		pair_step(&p, tac_dvec3_add(left, along), tac_dvec3_add(right, along));
		// One servo's tick is after the other's: 0.1 mm.
		TEST_ASSERT_DOUBLE_WITHIN(0.11, force, p.hands[1].wrench.force_N.x);
		TEST_ASSERT_DOUBLE_WITHIN(0.11, force_left, p.hands[0].wrench.force_N.x);
	}
	pair_fini(&p);
}

// A capsule alone would be exact for the mover, but the partner avoids its mesh: with two hands both must be
// meshes.
static void wrestle(const char *capsule, int refused[2])
{
	char text[1024];
	snprintf(text, sizeof text,
		 "scene: t\ntools:\n"
		 "- {name: a, shapes: [%s]}\n"
		 "- {name: b, shapes: [{kind: box, size_m: [0.02, 0.016, 0.012], segments: 2}]}\n"
		 "objects: [{name: floor, position_m: [0, 0, -0.05], shapes: [{kind: box, segments: 3}]}]\n",
		 capsule);
	pair p;
	pair_build(&p, text);
	tac_rng rng = tac_rng_seed(9, 1);
	tac_dvec3 v[2] = {{0, 0, 0}, {0, 0, 0}}, w[2] = {{0, 0, 0}, {0, 0, 0}};
	tac_dvec3 at[2] = {{-0.03, 0, 0.03}, {0.03, 0, 0.03}};
	const int ticks = getenv("TACTUS_TICKS") ? atoi(getenv("TACTUS_TICKS")) : test_rounds(4000);
	int contacts = 0;
	for (int i = 0; i < ticks; i++) {
		for (int k = 0; k < 2; k++) {
			tac_dpose *T = &p.hands[k].state.T_base_tool;
			v[k] = tac_dvec3_scale(tac_dvec3_add_scaled(v[k], 1e-4, tac_rng_unit_f64(&rng)),
					       0.97);
			v[k] = tac_dvec3_add_scaled(v[k], -2e-3,
						    tac_dvec3_sub(at[k], tac_dvec3_make(0, 0, 0.006)));
			w[k] = tac_dvec3_scale(tac_dvec3_add_scaled(w[k], 3e-3, tac_rng_unit_f64(&rng)),
					       0.97);
			at[k] = tac_dvec3_add(at[k], v[k]);
			T->rotation = tac_dquat_normalize(tac_dquat_mul(tac_dquat_exp(w[k]), T->rotation));
		}
		pair_step(&p, at[0], at[1]);
		TEST_ASSERT_FALSE_MESSAGE(tools_intersect(&p), "the tools intersect");
		for (int k = 0; k < 2; k++) {
			TEST_ASSERT_EQUAL_UINT64(0, p.snapshots[k]->faults);
			TEST_ASSERT_TRUE(tac_dvec3_finite(p.hands[k].wrench.force_N));
			TEST_ASSERT_FALSE_MESSAGE(tool_in_object(&p, k), "a tool intersects the floor");
			for (int32_t c = 0; c < p.snapshots[k]->contact_count; c++)
				contacts += p.snapshots[k]->contacts[c].object == 1;
		}
	}
	TEST_ASSERT_TRUE(contacts > 0);
	for (int k = 0; k < 2; k++)
		refused[k] += p.refused[k];
	pair_fini(&p);
}

static void tools_that_wrestle_never_enter_each_other_or_the_floor(void)
{
	int refused[2] = {0, 0};
	wrestle("{kind: capsule, radius_m: 0.006, height_m: 0.02, segments: 12, rings: 3}", refused);
	wrestle("{kind: solids, solids: \"capsule:r=0.006,h=0.02\", segments: 12}", refused);
	printf("substeps were refused in %d and %d ticks\n", refused[0], refused[1]);
	TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || (refused[0] > 0 && refused[1] > 0));
}

// The built-in scene: a table, a ram that moves to and fro, and two hands that follow the scene's paths with
// random deviations, slowly and at 1 m/s, and jump.
static void in_the_built_in_scene_for_two_hands_nothing_intersects(void)
{
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin("hands", &scene));
	pair p;
	pair_build_scene(&p, scene);
	tac_rng rng = tac_rng_seed(5, 2);
	tac_dvec3 v[2] = {{0, 0, 0}, {0, 0, 0}}, w[2] = {{0, 0, 0}, {0, 0, 0}}, at[2];
	for (int k = 0; k < 2; k++)
		at[k] = scene->tools[k].hand[0].position_m;
	const int ticks = getenv("TACTUS_TICKS") ? atoi(getenv("TACTUS_TICKS")) : test_rounds(10000);
	static const double speeds[] = {1e-5, 1e-4, 1e-3};
	int contacts[3] = {0}, blocked_ticks = 0;
	for (int i = 0; i < ticks; i++) {
		for (int k = 0; k < 2; k++) {
			const double speed = speeds[i / 500 % 3];
			const tac_dpose ram = tac_world_object_pose(p.world, 1, p.now_ns);
			const tac_scene_point *hand = scene->tools[k].hand;
			// Towards a point of its path, or towards the ram.
			const tac_dvec3 goal =
				i / 300 % 3 == k ? ram.position
						 : hand[i / 300 % 8 % scene->tools[k].hand_count].position_m;
			v[k] = tac_dvec3_scale(
				tac_dvec3_add_scaled(v[k], 0.3 * speed, tac_rng_unit_f64(&rng)), 0.95);
			v[k] = tac_dvec3_add_scaled(v[k], 2e-3, tac_dvec3_sub(goal, at[k]));
			w[k] = tac_dvec3_scale(tac_dvec3_add_scaled(w[k], 10 * speed, tac_rng_unit_f64(&rng)),
					       0.95);
			at[k] = tac_dvec3_add(at[k], v[k]);
			tac_dquat *q = &p.hands[k].state.T_base_tool.rotation;
			*q = tac_dquat_normalize(tac_dquat_mul(tac_dquat_exp(w[k]), *q));
			if (i % 1000 == 999)
				at[k] = tac_dvec3_add_scaled(goal, tac_rng_range_f64(&rng, 0.02, 0.2),
							     tac_rng_unit_f64(&rng));
		}
		pair_step(&p, at[0], at[1]);
		for (int k = 0; k < 2; k++) {
			TEST_ASSERT_EQUAL_UINT64(0, p.snapshots[k]->faults);
			TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, p.snapshots[k]->state);
			TEST_ASSERT_FALSE_MESSAGE(tool_in_object(&p, k), "a tool intersects an object");
			blocked_ticks += (p.snapshots[k]->sco_flags & TAC_SCO_OBJECT_WAITS) != 0;
			for (int32_t c = 0; c < p.snapshots[k]->contact_count; c++)
				contacts[p.snapshots[k]->contacts[c].object]++;
		}
		TEST_ASSERT_FALSE_MESSAGE(tools_intersect(&p), "the tools intersect");
	}
	printf("contacts with table %d, ram %d, the other tool %d; an object was blocked in %d ticks\n",
	       contacts[0], contacts[1], contacts[2], blocked_ticks);
	TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || (contacts[0] > 100 && contacts[1] > 100 && contacts[2] > 100));
	pair_fini(&p);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(hands_that_press_against_each_other_feel_equal_and_opposite_forces);
	RUN_TEST(a_hand_feels_the_other_even_when_it_does_not_press_itself);
	RUN_TEST(a_hand_may_push_the_other_as_far_as_it_likes);
	RUN_TEST(tools_that_wrestle_never_enter_each_other_or_the_floor);
	RUN_TEST(in_the_built_in_scene_for_two_hands_nothing_intersects);
	return UNITY_END();
}
