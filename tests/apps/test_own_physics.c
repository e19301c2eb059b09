// The example with physics of its own, in lock-step: a tick of the servo each millisecond and a step of the
// physics each two. Momentum goes from the hand to the blocks and nowhere else; on an inclined plane blocks
// slide, stay and push back as they should; a stack stands, and a tall block tips over where its weight says.
int own_physics_main(int argc, char **argv);
#define main own_physics_main
#include "apps/examples/own_physics.c"
#undef main

#include "tests/support/limits.h"
#include "tests/support/servo_fixture.h"

void setUp(void)
{
}

void tearDown(void)
{
}

#define STEP_TICKS 2

typedef struct bench {
	physics p;
	tac_scene *scene;
	tac_live_def live_def;
	tac_live *live;
	puppet hand;
	tac_servo *servo;
	int64_t now_ns;
	const tac_snapshot *s;
	tac_dvec3 impulse_Ns; // of the tool on the blocks
} bench;

static void bench_build(bench *b, tac_dquat tilt, tac_dvec3 size_m)
{
	b->scene = make_scene(&b->p, tilt, size_m);
	b->live_def = tac_live_def_default();
	TEST_ASSERT_NOT_NULL(b->scene);
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(b->scene, tac_collider_find("wide"), &b->live_def.world));
	TEST_ASSERT_EQUAL(TAC_OK, tac_live_create(&b->live_def, &b->live));
	puppet_init(&b->hand);
	tac_servo_def def = tac_servo_def_default();
	def.live = b->live;
	def.device = &b->hand.base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &b->servo));
	b->now_ns = 0;
	b->s = NULL;
	b->impulse_Ns = tac_dvec3_zero();
}

static void bench_fini(bench *b)
{
	tac_servo_destroy(&b->servo);
	tac_live_destroy(&b->live);
	tac_world_destroy(&b->live_def.world);
	tac_scene_destroy(&b->scene);
	physics_fini(&b->p);
}

// Steps the physics and the two ticks after it, with the hand on its way from where it is to `to`.
static void bench_step(bench *b, tac_dvec3 to, double part)
{
	physics_step(&b->p, b->live, b->s, STEP_TICKS * MS);
	tac_dvec3 *x = &b->hand.state.T_base_tool.position;
	const tac_dvec3 from = *x;
	for (int i = 1; i <= STEP_TICKS; i++) {
		*x = tac_dvec3_lerp(from, to, part * i / STEP_TICKS);
		tac_servo_step(b->servo, b->now_ns, NULL);
		b->now_ns += MS;
		b->s = tac_servo_snapshot(b->servo, 0);
		b->impulse_Ns = tac_dvec3_add_scaled(b->impulse_Ns, -1e-3, b->s->sent.force_N);
		TEST_ASSERT_EQUAL_UINT64(0, b->s->feel.jumps);
		TEST_ASSERT_EQUAL_UINT64(0, b->s->faults);
	}
}

static void bench_go(bench *b, tac_dvec3 to, double seconds)
{
	const int steps = (int)lround(seconds * 1000 / STEP_TICKS);
	for (int i = 0; i < steps; i++)
		bench_step(b, to, 1.0 / (steps - i));
}

static tac_dvec3 velocity(const bench *b, int block)
{
	const dReal *v = dBodyGetLinearVel(b->p.blocks[block]);
	return tac_dvec3_make(v[0], v[1], v[2]);
}

static void add_cube(bench *b, double x, double y, double z)
{
	physics_add(&b->p, tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_identity()),
		    tac_dvec3_make(SIDE_M, SIDE_M, SIDE_M), MASS_KG);
}

static const tac_dvec3 cube = {SIDE_M, SIDE_M, SIDE_M};

// ---- momentum ----

// A push on a frictionless table: the block has the momentum that the hand has given, and a block that it
// then hits has the rest.
static void the_blocks_have_the_momentum_that_the_hand_gives(void)
{
	static const double speeds[] = {0.03, 0.1, 0.3};
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
		bench b;
		physics_init(&b.p, tac_dvec3_make(0, 0, 1), 0);
		add_cube(&b, 0, 0, SIDE_M / 2);
		add_cube(&b, 0.06, 0, SIDE_M / 2);
		bench_build(&b, tac_dquat_identity(), cube);
		b.hand.state.T_base_tool.position = tac_dvec3_make(-0.03, 0, SIDE_M / 2);
		bench_go(&b, tac_dvec3_make(-0.03, 0, SIDE_M / 2), 0.1);
		b.impulse_Ns = tac_dvec3_zero();
		bench_go(&b, tac_dvec3_make(0, 0, SIDE_M / 2), 0.03 / speeds[i]);
		bench_go(&b, tac_dvec3_make(-0.05, 0, SIDE_M / 2), 0.2);
		const double given = b.impulse_Ns.x;
		bench_go(&b, tac_dvec3_make(-0.05, 0, SIDE_M / 2), 0.4);
		const double momentum = MASS_KG * (velocity(&b, 0).x + velocity(&b, 1).x);
		printf("%g m/s: given %.5f N s, momentum %.5f N s, speeds %.4f %.4f m/s\n", speeds[i], given,
		       momentum, velocity(&b, 0).x, velocity(&b, 1).x);
		TEST_ASSERT_TRUE(momentum > 0.8 * MASS_KG * speeds[i]);
		TEST_ASSERT_DOUBLE_WITHIN(0.04 * given, given, momentum);
		TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0, velocity(&b, 0).y);
		// What is felt is where the physics has it.
		TEST_ASSERT_DOUBLE_WITHIN(2e-3, pose_of(b.p.blocks[0]).position.x,
					  b.s->T_world_objects[1].position.x);
		bench_fini(&b);
	}
}

// ---- the inclined plane ----

static void build_slope(bench *b, double angle_rad, double friction)
{
	const tac_dquat tilt = tac_dquat_exp(tac_dvec3_make(0, angle_rad, 0)); // down towards +x
	physics_init(&b->p, tac_dquat_rotate(tilt, tac_dvec3_make(0, 0, 1)), friction);
	const tac_dpose pose = tac_dpose_make(tac_dquat_rotate(tilt, tac_dvec3_make(0, 0, SIDE_M / 2)), tilt);
	physics_add(&b->p, pose, cube, MASS_KG);
	bench_build(b, tilt, cube);
}

static void a_block_on_a_slope_slides_or_stays_as_friction_says(void)
{
	static const double slopes[][2] = {{0.3, 0}, {0.3, 0.15}, {0.5, 0.3}, {0.3, 0.4}};
	for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
		const double angle = slopes[i][0], friction = slopes[i][1], t = 0.3;
		bench b;
		build_slope(&b, angle, friction);
		b.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.1);
		bench_go(&b, tac_dvec3_make(0, 0, 0.1), t);
		const double a = fmax(9.81 * (sin(angle) - friction * cos(angle)), 0);
		const double went =
			(b.s->T_world_objects[1].position.x - SIDE_M / 2 * sin(angle)) / cos(angle);
		printf("slope %g, friction %g: %.3f mm, expected %.3f mm\n", angle, friction, 1e3 * went,
		       1e3 * 0.5 * a * t * t);
		// The pose that is felt is up to two steps of the physics old: a t times 4 ms.
		TEST_ASSERT_DOUBLE_WITHIN(1e-3 + 0.03 * 0.5 * a * t * t + a * t * 4e-3, 0.5 * a * t * t,
					  went);
		bench_fini(&b);
	}
}

// A finger that holds a block at one point balances it: on a steeper slope the block soon turns past it.
static void a_block_on_a_smooth_slope_leans_on_the_tool_with_its_weight(void)
{
	static const double angles[] = {0.1, 0.2, 0.3};
	for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
		const double angle = angles[i];
		bench b;
		build_slope(&b, angle, 0);
		const tac_dquat tilt = tac_dquat_exp(tac_dvec3_make(0, angle, 0));
		const tac_dvec3 below = tac_dquat_rotate(tilt, tac_dvec3_make(0.022, 0, SIDE_M / 2));
		b.hand.state.T_base_tool.position = below;
		bench_go(&b, below, 2.5);
		tac_dvec3 sum = tac_dvec3_zero();
		for (int k = 0; k < 250; k++) {
			bench_step(&b, below, 0);
			sum = tac_dvec3_add_scaled(sum, 1.0 / 250, b.s->sent.force_N);
		}
		const double along = tac_dvec3_dot(sum, tac_dquat_rotate(tilt, tac_dvec3_make(1, 0, 0)));
		printf("slope %g: %.4f N, expected %.4f N\n", angle, along, MASS_KG * 9.81 * sin(angle));
		TEST_ASSERT_DOUBLE_WITHIN(0.02 * MASS_KG * 9.81 * sin(angle), MASS_KG * 9.81 * sin(angle),
					  along);
		TEST_ASSERT_DOUBLE_WITHIN(2e-3, 0, tac_dvec3_length(velocity(&b, 0)));
		bench_fini(&b);
	}
}

// ---- a stack, and a tall block ----

static void a_stack_stands_while_the_tool_presses_on_it(void)
{
	bench b;
	physics_init(&b.p, tac_dvec3_make(0, 0, 1), 0.5);
	for (int i = 0; i < 3; i++)
		add_cube(&b, 0, 0, SIDE_M * (i + 0.5));
	bench_build(&b, tac_dquat_identity(), cube);
	b.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.11);
	bench_go(&b, tac_dvec3_make(0, 0, 0.093), 0.3); // 2 mm into the top
	bench_go(&b, tac_dvec3_make(0, 0, 0.093), 1);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 1, b.s->sent.force_N.z); // 500 N/m
	for (int i = 0; i < 3; i++) {
		const tac_dpose T = pose_of(b.p.blocks[i]);
		assert_near(tac_dvec3_make(0, 0, SIDE_M * (i + 0.5)), T.position, 5e-4);
		TEST_ASSERT_TRUE(tac_dquat_angle(T.rotation) < 0.02);
	}
	bench_fini(&b);
}

// Pushed at its top, it tips when the moment of the push exceeds that of its weight about the edge.
static void a_tall_block_tips_over_at_the_force_of_its_weight(void)
{
	const tac_dvec3 tall = {0.02, 0.02, 0.08};
	const double at_m = 0.07, tips_N = MASS_KG * 9.81 * 0.5 * tall.x / at_m;
	bench b;
	physics_init(&b.p, tac_dvec3_make(0, 0, 1), 1);
	physics_add(&b.p, tac_dpose_make(tac_dvec3_make(0, 0, 0.04), tac_dquat_identity()), tall, MASS_KG);
	bench_build(&b, tac_dquat_identity(), tall);
	b.hand.state.T_base_tool.position = tac_dvec3_make(-0.02, 0, at_m);
	double most_N = 0;
	bench_go(&b, tac_dvec3_make(-0.01501, 0, at_m), 0.3);
	for (int i = 0; i < 600; i++) { // 0.25 N/s
		bench_step(&b, tac_dvec3_make(b.hand.state.T_base_tool.position.x + 1e-6, 0, at_m), 1);
		if (tac_dquat_angle(pose_of(b.p.blocks[0]).rotation) < 0.002)
			most_N = fmax(most_N, -b.s->sent.force_N.x);
	}
	bench_go(&b, tac_dvec3_make(0.03, 0, at_m), 1);
	printf("tips at %.3f N, expected %.3f N\n", most_N, tips_N);
	TEST_ASSERT_DOUBLE_WITHIN(0.1 * tips_N, tips_N, most_N);
	TEST_ASSERT_TRUE(tac_dquat_angle(pose_of(b.p.blocks[0]).rotation) > 1.4); // it lies
	bench_fini(&b);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_blocks_have_the_momentum_that_the_hand_gives);
	RUN_TEST(a_block_on_a_slope_slides_or_stays_as_friction_says);
	RUN_TEST(a_block_on_a_smooth_slope_leans_on_the_tool_with_its_weight);
	RUN_TEST(a_stack_stands_while_the_tool_presses_on_it);
	RUN_TEST(a_tall_block_tips_over_at_the_force_of_its_weight);
	return UNITY_END();
}
