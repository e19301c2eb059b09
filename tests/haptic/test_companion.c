// The companion: what it finds, against closed forms, and that the loop's thread does nothing for it.
#include "tests/support/servo_fixture.h"

#include "collision/distance.h"
#include "haptic/companion.h"
#include "rt/clock.h"
#include "tests/support/eventually.h"

#include <pthread.h>
#include <stdatomic.h>

// Queries counted by thread: the check of the SCO's pose in each tick is the loop's only one.
static pthread_t loop_thread;
static atomic_int loop_checks, loop_other, companion_queries;

tac_overlap __real_tac_collider_query(const tac_collider *collider, tac_context *context,
				      const tac_shape *moving, const tac_shape *fixed,
				      const tac_rigid *motion, tac_query_mode mode, tac_budget budget);
tac_overlap __wrap_tac_collider_query(const tac_collider *collider, tac_context *context,
				      const tac_shape *moving, const tac_shape *fixed,
				      const tac_rigid *motion, tac_query_mode mode, tac_budget budget);
tac_overlap __wrap_tac_collider_query(const tac_collider *collider, tac_context *context,
				      const tac_shape *moving, const tac_shape *fixed,
				      const tac_rigid *motion, tac_query_mode mode, tac_budget budget)
{
	const bool in_loop = pthread_equal(pthread_self(), loop_thread) != 0;
	atomic_fetch_add(!in_loop                  ? &companion_queries
			 : mode == TAC_QUERY_FIRST ? &loop_checks
						   : &loop_other,
			 1);
	return __real_tac_collider_query(collider, context, moving, fixed, motion, mode, budget);
}

tac_overlap __real_tac_distance_nearest(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
					const tac_rigid *motion, double limit, tac_budget budget,
					tac_nearest *out_nearest);
tac_overlap __wrap_tac_distance_nearest(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
					const tac_rigid *motion, double limit, tac_budget budget,
					tac_nearest *out_nearest);
tac_overlap __wrap_tac_distance_nearest(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
					const tac_rigid *motion, double limit, tac_budget budget,
					tac_nearest *out_nearest)
{
	atomic_fetch_add(pthread_equal(pthread_self(), loop_thread) ? &loop_other : &companion_queries, 1);
	return __real_tac_distance_nearest(context, moving, fixed, motion, limit, budget, out_nearest);
}

// A box of 20 mm over a floor whose top is at z = 0, and a wall whose face is at x = 0.1.
static const char scene[] =
	"scene: t\ntools: [{name: box, shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 2}]}]\n"
	"materials: [{name: m, stiffness_N_per_m: 500}]\n"
	"objects:\n"
	"  - {name: floor, material: m, position_m: [0, 0, -0.05], "
	"shapes: [{kind: box, size_m: [0.4, 0.4, 0.1], segments: 2}]}\n"
	"  - {name: wall, material: m, position_m: [0.15, 0, 0.1], "
	"shapes: [{kind: box, size_m: [0.1, 0.4, 0.1], segments: 2}]}\n";

static fixture f;
static tac_companion *companion;

static void build(const char *collider)
{
	loop_thread = pthread_self();
	tac_servo_def servo = tac_servo_def_default();
	servo.readers = 2;
	fixture_build(&f, scene, collider, servo);
	tac_companion_def def = tac_companion_def_default();
	def.world = f.world;
	def.servo = f.servo;
	def.reader = 1;
	def.pause_ns = TAC_NS_PER_MS;
	TEST_ASSERT_EQUAL(TAC_OK, tac_companion_create(&def, &companion));
}

void setUp(void)
{
}

void tearDown(void)
{
	tac_companion_destroy(&companion);
	fixture_fini(&f);
}

static bool caught_up(const tac_surroundings **out)
{
	*out = tac_companion_read(companion);
	return *out && (*out)->tick == tac_servo_snapshot(f.servo, 0)->tick;
}

// What the companion finds with the hand at rest at `position`.
static const tac_surroundings *found_at(tac_dvec3 position)
{
	const tac_surroundings *s;
	move_to(&f, position, 50);
	EVENTUALLY(caught_up(&s));
	return s;
}

static void the_nearest_object_and_its_distance_are_found(void)
{
	build("wide");
	const tac_surroundings *s = found_at(tac_dvec3_make(0, 0, 0.025));
	TEST_ASSERT_EQUAL_INT(0, s->nearest_object);
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.015, s->distance_m);
	s = found_at(tac_dvec3_make(0.087, 0, 0.1)); // 3 mm from the wall
	TEST_ASSERT_EQUAL_INT(1, s->nearest_object);
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.003, s->distance_m);
	s = found_at(tac_dvec3_make(0, 0, 0.2));
	TEST_ASSERT_EQUAL_INT(-1, s->nearest_object);
	TEST_ASSERT_TRUE(isinf(s->distance_m));
	TEST_ASSERT_EQUAL_INT(0, s->pair_count);
}

static void surfaces_that_the_device_penetrates_are_found(void)
{
	build("wide");
	found_at(tac_dvec3_make(0, 0, 0.03));
	const tac_surroundings *s = found_at(tac_dvec3_make(0, 0, 0.008));
	TEST_ASSERT_DOUBLE_WITHIN(2e-5, 0, s->distance_m);
	TEST_ASSERT_TRUE(s->pair_count > 0);
	for (int32_t i = 0; i < s->pair_count; i++)
		TEST_ASSERT_EQUAL_INT(0, s->pairs[i].object);
}

static void an_engine_without_distances_reports_none(void)
{
	build("doptree");
	found_at(tac_dvec3_make(0, 0, 0.03));
	const tac_surroundings *s = found_at(tac_dvec3_make(0, 0, 0.008));
	TEST_ASSERT_EQUAL_INT(-1, s->nearest_object);
	TEST_ASSERT_TRUE(s->pair_count > 0);
}

static void the_loop_does_nothing_that_is_only_shown(void)
{
	build("wide");
	loop_checks = loop_other = companion_queries = 0;
	const tac_surroundings *s;
	int ticks = 0;
	for (int i = 0; i < 2000; i++) {
		step_to(&f, tac_dvec3_make(0.02 * sin(0.01 * i), 0, 0.03 - fmin(0.022, 1e-4 * i)));
		s = tac_companion_read(companion); // while the companion writes
		ticks += !s || s->tick <= i;
	}
	EVENTUALLY(caught_up(&s));
	TEST_ASSERT_EQUAL_INT(2000, ticks);
	TEST_ASSERT_TRUE(companion_queries > 0);
	TEST_ASSERT_TRUE(loop_checks > 0);
	TEST_ASSERT_EQUAL_INT(0, loop_other);
}

static void bad_definitions_are_refused(void)
{
	build("wide");
	tac_companion_def def = tac_companion_def_default();
	tac_companion *none;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_companion_create(&def, &none));
	TEST_ASSERT_NULL(none);
	def.world = f.world;
	def.servo = f.servo;
	def.tool = 1;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_companion_create(&def, &none));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_nearest_object_and_its_distance_are_found);
	RUN_TEST(surfaces_that_the_device_penetrates_are_found);
	RUN_TEST(an_engine_without_distances_reports_none);
	RUN_TEST(the_loop_does_nothing_that_is_only_shown);
	RUN_TEST(bad_definitions_are_refused);
	return UNITY_END();
}
