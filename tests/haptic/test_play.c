// A servo played on its real-time thread: its ticks reach the device, and forces are enabled only while it
// runs.
#include "haptic/play.h"
#include "rt/clock.h"
#include "tests/support/servo_fixture.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static atomic_bool forces_on;
static atomic_int enable_count;

static void enable(tac_device *device, bool on)
{
	(void)device;
	enable_count += on;
	forces_on = on;
}

static const char text[] =
	"scene: a wall\n"
	"tools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n"
	"objects: [{name: wall, shapes: [{kind: box, size_m: [0.1, 0.1, 0.1]}]}]\n";

// Uses the fixture's scene, world and puppet; its servo stays idle.
static tac_servo_def begin(fixture *f)
{
	fixture_build(f, text, "wide", tac_servo_def_default());
	f->hand.base.enable = enable;
	f->hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.2);
	enable_count = 0;
	forces_on = false;
	tac_servo_def def = tac_servo_def_default();
	def.world = f->world;
	def.device = &f->hand.base;
	return def;
}

static void the_servo_ticks_until_its_periods_are_over(void)
{
	fixture f;
	const tac_servo_def def = begin(&f);
	tac_loop_def loop = tac_loop_def_default();
	tac_play *play;
	loop.periods = 50;
	TEST_ASSERT_EQUAL(TAC_OK, tac_play_start(&def, &loop, &play));
	TEST_ASSERT_EQUAL(1, enable_count);
	tac_play_wait(play);
	TEST_ASSERT_FALSE(forces_on); // disabled by the thread
	const tac_snapshot *s = tac_servo_snapshot(tac_play_servo(play), 0);
	TEST_ASSERT_NOT_NULL(s);
	assert_near(tac_dvec3_make(0, 0, 0.2), s->T_world_sco.position, 1e-9);
	TEST_ASSERT_NOT_EQUAL(TAC_GRANT_NOT_ASKED, tac_play_report(play)->grants[TAC_GRANT_POLICY].state);
	tac_play_destroy(&play);
	TEST_ASSERT_NULL(play);
	TEST_ASSERT_GREATER_THAN_INT64(0, f.hand.writes);
	TEST_ASSERT_LESS_OR_EQUAL_INT64(50, f.hand.writes);
	TEST_ASSERT_EQUAL(1, enable_count);
	fixture_fini(&f);
}

static void the_servo_ticks_until_it_is_destroyed(void)
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

static void a_failed_start_leaves_nothing_running(void)
{
	fixture f;
	const tac_servo_def def = begin(&f);
	tac_loop_def loop = tac_loop_def_default();
	tac_play *play;
	loop.period_ns = 1;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start(&def, &loop, &play));
	TEST_ASSERT_NULL(play);
	TEST_ASSERT_EQUAL(0, enable_count);
	fixture_fini(&f);
}

static void a_snapshot_is_copied_as_far_as_its_reader_knows_it(void)
{
	struct {
		tac_snapshot known;
		unsigned char later[64]; // fields of a newer version
	} out;
	fixture f;
	begin(&f);
	memset(&out, 0xff, sizeof out);
	TEST_ASSERT_FALSE(
		tac_servo_snapshot_read(f.servo, 0, &out.known, sizeof out)); // before the first tick
	for (size_t i = 0; i < sizeof out; i++)
		TEST_ASSERT_EQUAL(0, ((unsigned char *)&out)[i]);
	tac_servo_step(f.servo, 1000000, NULL);
	memset(&out, 0xff, sizeof out);
	TEST_ASSERT_TRUE(tac_servo_snapshot_read(f.servo, 0, &out.known, sizeof out));
	TEST_ASSERT_EQUAL_MEMORY(tac_servo_snapshot(f.servo, 0), &out.known, sizeof out.known);
	for (size_t i = 0; i < sizeof out.later; i++)
		TEST_ASSERT_EQUAL(0, out.later[i]);
	const size_t older = offsetof(tac_snapshot, status);
	memset(&out, 0xff, sizeof out);
	TEST_ASSERT_TRUE(tac_servo_snapshot_read(f.servo, 0, &out.known, older));
	TEST_ASSERT_EQUAL(1000000, out.known.time_ns);
	TEST_ASSERT_EQUAL(0xff, ((unsigned char *)&out)[older]);
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_servo_ticks_until_its_periods_are_over);
	RUN_TEST(the_servo_ticks_until_it_is_destroyed);
	RUN_TEST(a_failed_start_leaves_nothing_running);
	RUN_TEST(a_snapshot_is_copied_as_far_as_its_reader_knows_it);
	return UNITY_END();
}
