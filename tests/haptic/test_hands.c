// Two tools in one scene: they never enter each other, and each hand feels what the other presses with.
#include "base/rng.h"
#include "tests/limits.h"
#include "tests/servo_fixture.h"

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
	const tac_snapshot *seen[2];
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
		def.budget_ns = 0;
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
	for (int i = 0; i < 2; i++)
		tac_servo_step(p->servos[i], p->now_ns, NULL);
	for (int i = 0; i < 2; i++)
		p->seen[i] = tac_servo_snapshot(p->servos[i], 0);
	p->now_ns += MS;
}

// Whether two bodies have a point in common, by the exact static engine.
static bool meet(pair *p, const tac_world_body *a, tac_dpose T_world_a, const tac_world_body *b,
		 tac_dpose T_world_b)
{
	const tac_pose T = tac_pose_from_dpose(tac_dpose_relative(T_world_a, T_world_b));
	const tac_motion motion = {tac_mat3_from_quat(T.rotation), T.position};
	return tac_collider_query(p->world->collider, p->context, b->shape, a->shape, &motion,
				  TAC_QUERY_FIRST, (tac_budget){0, 0}) != TAC_CONTACT_NONE;
}

static bool crossed(pair *p)
{
	return meet(p, &p->world->tools[0], p->seen[0]->T_world_sco, &p->world->tools[1],
		    p->seen[1]->T_world_sco);
}

// Whether tool k is in an object, where its servo shows that.
static bool inside(pair *p, int k)
{
	for (int32_t i = 0; i < p->scene->object_count; i++) {
		if (meet(p, &p->world->objects[i], p->seen[k]->T_world_objects[i], &p->world->tools[k],
			 p->seen[k]->T_world_sco))
			return true;
	}
	return false;
}

#define TWO                                                                                                  \
	"scene: t\ntools:\n- {name: a, axes: 3, shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: " \
	"2}]}\n"                                                                                             \
	"- {name: b, axes: 3, shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 3}]}\n"

static void hands_that_press_on_each_other_feel_equal_and_opposite_forces(void)
{
	pair p;
	pair_build(&p, TWO);
	for (int i = 0; i < 1500; i++) {
		const double x = fmax(0.008, 0.03 - 5e-5 * i); // each goes 2 mm into the other
		pair_step(&p, tac_dvec3_make(-x, 0, 0), tac_dvec3_make(x, 0, 0));
		TEST_ASSERT_FALSE(crossed(&p));
	}
	const tac_dvec3 left = p.hands[0].wrench.force_N, right = p.hands[1].wrench.force_N;
	// Where they meet, they stand: between them the two springs hold 4 mm and the gap, at 1000 N/m each.
	TEST_ASSERT_DOUBLE_WITHIN(0.02, -4.01, left.x);
	assert_near(tac_dvec3_neg(left), right, 0.02);
	const double apart = p.seen[1]->T_world_sco.position.x - p.seen[0]->T_world_sco.position.x;
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.02 + 1e-5, apart);
	pair_fini(&p);
}

static void one_hand_feels_the_other_even_where_it_does_not_press_itself(void)
{
	pair p;
	pair_build(&p, TWO);
	for (int i = 0; i < 800; i++)
		pair_step(&p, tac_dvec3_make(-0.01, 0, 0),
			  tac_dvec3_make(fmax(0.007, 0.03 - 5e-5 * i), 0, 0));
	TEST_ASSERT_DOUBLE_WITHIN(0.02, 3.01, p.hands[1].wrench.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(0.02, -3.01, p.hands[0].wrench.force_N.x);
	pair_fini(&p);
}

static void tools_that_wrestle_never_enter_each_other_or_the_table(void)
{
	pair p;
	pair_build(
		&p,
		"scene: t\ntools:\n- {name: a, shapes: [{kind: capsule, radius_m: 0.006, height_m: 0.02, "
		"segments: 12, "
		"rings: 3}]}\n- {name: b, shapes: [{kind: box, size_m: [0.02, 0.016, 0.012], segments: 2}]}\n"
		"objects: [{name: floor, position_m: [0, 0, -0.05], shapes: [{kind: box, segments: 3}]}]\n");
	tac_rng rng = tac_rng_seed(9, 1);
	tac_dvec3 v[2] = {{0, 0, 0}, {0, 0, 0}}, w[2] = {{0, 0, 0}, {0, 0, 0}};
	tac_dvec3 at[2] = {{-0.03, 0, 0.03}, {0.03, 0, 0.03}};
	const int ticks = getenv("TACTUS_TICKS") ? atoi(getenv("TACTUS_TICKS"))
			  : TAC_TEST_SANITIZED   ? 500
						 : 4000;
	int touched = 0;
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
		TEST_ASSERT_FALSE_MESSAGE(crossed(&p), "the tools cross");
		for (int k = 0; k < 2; k++) {
			TEST_ASSERT_EQUAL_UINT64(0, p.seen[k]->faults);
			TEST_ASSERT_TRUE(tac_dvec3_finite(p.hands[k].wrench.force_N));
			TEST_ASSERT_FALSE_MESSAGE(inside(&p, k), "in the table");
			for (int32_t c = 0; c < p.seen[k]->contact_count; c++)
				touched += p.seen[k]->contacts[c].object == 1;
		}
	}
	TEST_ASSERT_TRUE(touched > 0);
	pair_fini(&p);
}

// The built-in scene: a table, a ram that goes to and fro, two hands that wander about its paths, slowly and
// at 1 m/s, and jump.
static void in_the_scene_for_two_hands_nothing_enters_anything(void)
{
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin("hands", &scene));
	pair p;
	pair_build_scene(&p, scene);
	tac_rng rng = tac_rng_seed(5, 2);
	tac_dvec3 v[2] = {{0, 0, 0}, {0, 0, 0}}, w[2] = {{0, 0, 0}, {0, 0, 0}}, at[2];
	for (int k = 0; k < 2; k++)
		at[k] = scene->tools[k].hand[0].position_m;
	const int ticks = getenv("TACTUS_TICKS") ? atoi(getenv("TACTUS_TICKS"))
			  : TAC_TEST_SANITIZED   ? 300
						 : 10000;
	static const double speeds[] = {1e-5, 1e-4, 1e-3};
	int touched[3] = {0}, waits = 0;
	for (int i = 0; i < ticks; i++) {
		for (int k = 0; k < 2; k++) {
			const double speed = speeds[i / 500 % 3];
			const tac_dpose ram = tac_world_object_pose(p.world, 1, p.now_ns);
			const tac_scene_point *hand = scene->tools[k].hand;
			// To a place of its path, or against the ram.
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
			TEST_ASSERT_EQUAL_UINT64(0, p.seen[k]->faults);
			TEST_ASSERT_EQUAL(TAC_SERVO_RUNNING, p.seen[k]->state);
			TEST_ASSERT_FALSE_MESSAGE(inside(&p, k), "in an object");
			waits += (p.seen[k]->sco_flags & TAC_SCO_OBJECT_WAITS) != 0;
			for (int32_t c = 0; c < p.seen[k]->contact_count; c++)
				touched[p.seen[k]->contacts[c].object]++;
		}
		TEST_ASSERT_FALSE_MESSAGE(crossed(&p), "the tools cross");
	}
	printf("contacts with table %d, ram %d, the other tool %d; an object waited in %d ticks\n",
	       touched[0], touched[1], touched[2], waits);
	TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || (touched[0] > 100 && touched[1] > 100 && touched[2] > 100));
	pair_fini(&p);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(hands_that_press_on_each_other_feel_equal_and_opposite_forces);
	RUN_TEST(one_hand_feels_the_other_even_where_it_does_not_press_itself);
	RUN_TEST(tools_that_wrestle_never_enter_each_other_or_the_table);
	RUN_TEST(in_the_scene_for_two_hands_nothing_enters_anything);
	return UNITY_END();
}
