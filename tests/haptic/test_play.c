// A servo that is played on a thread of its own: its ticks reach the device, and forces are on only
// meanwhile.
#include "haptic/play.h"
#include "rt/clock.h"
#include "tests/servo_fixture.h"

#include <stdatomic.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static atomic_bool forces_on;
static atomic_int switched_on;

static void enable(tac_device *device, bool on)
{
	(void)device;
	switched_on += on;
	forces_on = on;
}

static const char text[] =
	"scene: a wall\n"
	"tools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n"
	"objects: [{name: wall, shapes: [{kind: box, size_m: [0.1, 0.1, 0.1]}]}]\n";

// The fixture's own servo stays idle: the scene, the world and the puppet are what is used of it.
static tac_servo_def begin(fixture *f)
{
	fixture_build(f, text, "wide", tac_servo_def_default());
	f->hand.base.enable = enable;
	f->hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.2);
	switched_on = 0;
	forces_on = false;
	tac_servo_def def = tac_servo_def_default();
	def.world = f->world;
	def.device = &f->hand.base;
	return def;
}

static void test_it_ticks_until_its_periods_are_over(void)
{
	fixture f;
	const tac_servo_def def = begin(&f);
	tac_loop_def loop = tac_loop_def_default();
	tac_play *play;
	loop.periods = 50;
	TEST_ASSERT_EQUAL(TAC_OK, tac_play_start(&def, &loop, &play));
	TEST_ASSERT_EQUAL(1, switched_on);
	tac_play_wait(play);
	TEST_ASSERT_FALSE(forces_on); // the thread switches them off by itself
	const tac_snapshot *s = tac_servo_snapshot(tac_play_servo(play), 0);
	TEST_ASSERT_NOT_NULL(s);
	assert_near(tac_dvec3_make(0, 0, 0.2), s->T_world_sco.position, 1e-9);
	TEST_ASSERT_NOT_EQUAL(TAC_GRANT_NOT_ASKED, tac_play_report(play)->grants[TAC_GRANT_POLICY].state);
	tac_play_destroy(&play);
	TEST_ASSERT_NULL(play);
	TEST_ASSERT_GREATER_THAN_INT64(0, f.hand.writes);
	TEST_ASSERT_LESS_OR_EQUAL_INT64(50, f.hand.writes);
	TEST_ASSERT_EQUAL(1, switched_on);
	fixture_fini(&f);
}

static void test_it_ticks_until_it_is_told_to_stop(void)
{
	fixture f;
	const tac_servo_def def = begin(&f);
	tac_play *play;
	TEST_ASSERT_EQUAL(TAC_OK, tac_play_start(&def, NULL, &play));
	for (int i = 0; i < 10000 && !tac_servo_snapshot(tac_play_servo(play), 0); i++)
		tac_clock_sleep_until_ns(tac_clock_now_ns() + MS);
	TEST_ASSERT_TRUE(forces_on);
	tac_play_destroy(&play);
	TEST_ASSERT_FALSE(forces_on);
	const int64_t writes = f.hand.writes;
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 5 * MS);
	TEST_ASSERT_EQUAL_INT64(writes, f.hand.writes);
	tac_play_destroy(&play); // allowed
	fixture_fini(&f);
}

static void test_what_cannot_be_leaves_nothing_behind(void)
{
	fixture f;
	const tac_servo_def def = begin(&f);
	tac_loop_def loop = tac_loop_def_default();
	tac_play *play;
	loop.period_ns = 1;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start(&def, &loop, &play));
	TEST_ASSERT_NULL(play);
	TEST_ASSERT_EQUAL(0, switched_on);
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_it_ticks_until_its_periods_are_over);
	RUN_TEST(test_it_ticks_until_it_is_told_to_stop);
	RUN_TEST(test_what_cannot_be_leaves_nothing_behind);
	return UNITY_END();
}
