// A servo played on its real-time thread: its ticks reach the device, and forces are enabled only while it
// runs.
#include "haptic/play.h"
#include "rt/clock.h"
#include "tests/support/servo_fixture.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
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
	tac_servo_def def = begin(&f);
	tac_loop_def loop = tac_loop_def_default();
	tac_play *play;
	loop.period_ns = def.period_ns = 20 * MS; // below 100 Hz
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start(&def, &loop, &play));
	TEST_ASSERT_NULL(play);
	loop.period_ns = 10 * MS; // each is possible, but not together
	def.period_ns = MS;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start(&def, &loop, &play));
	TEST_ASSERT_NULL(play);
	def.period_ns = 10 * MS;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start(&def, NULL, &play)); // 1 kHz
	TEST_ASSERT_NULL(play);
	TEST_ASSERT_EQUAL(0, enable_count);
	fixture_fini(&f);
}

// Moves towards the middle by 0.1 mm in each read, until it is 9 mm away.
static tac_device_status approaching_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	puppet *p = (puppet *)device;
	double *x = &p->state.T_base_tool.position.x;
	if (fabs(*x) > 0.009)
		*x -= copysign(1e-4, *x);
	return puppet_read(device, now_ns, out_state);
}

static const char two_balls[] = "scene: two balls\n"
				"tools: [{name: left, axes: 3, shapes: [{kind: sphere, radius_m: 0.01}]},\n"
				"        {name: right, axes: 3, shapes: [{kind: sphere, radius_m: 0.01}]}]\n";

// Two hands that press their balls against each other feel opposite forces, and every tick is accounted for.
static void two_hands_feel_each_other_and_have_an_account(void)
{
	fixture f;
	fixture_build(&f, two_balls, "wide", tac_servo_def_default());
	puppet hands[2];
	tac_servo_def servos[2];
	tac_play_def def = tac_play_def_default();
	def.hand_count = 2;
	for (int i = 0; i < 2; i++) {
		puppet_init(&hands[i]);
		hands[i].base.enable = enable;
		hands[i].state.T_base_tool.position = tac_dvec3_make(i == 0 ? -0.02 : 0.02, 0, 0);
		hands[i].base.read = approaching_read;
		servos[i] = tac_servo_def_default();
		servos[i].world = f.world;
		servos[i].tool = i;
		servos[i].device = &hands[i].base;
		def.hands[i] = &servos[i];
	}
	enable_count = 0;
	tac_play *play;
	servos[1].device = servos[0].device; // each tool would take half of the other's samples
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start_hands(&def, &play));
	TEST_ASSERT_NULL(play);
	servos[1].device = &hands[1].base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_play_start_hands(&def, &play));
	TEST_ASSERT_EQUAL(2, enable_count);
	// The force rises within half a second of undisturbed ticks.
	const tac_snapshot *left = NULL, *right = NULL;
	for (int i = 0;
	     i < 20000 && !(left && right && left->sent.force_N.x < -0.9 && right->sent.force_N.x > 0.9);
	     i++) {
		tac_clock_sleep_until_ns(tac_clock_now_ns() + MS);
		left = tac_servo_snapshot(tac_play_servo(play), 0);
		right = tac_servo_snapshot(tac_play_hand(play, 1), 0);
	}
	TEST_ASSERT_TRUE(left->sent.force_N.x < -0.9 && right->sent.force_N.x > 0.9);
	TEST_ASSERT_EQUAL_INT(0, left->tool);
	TEST_ASSERT_EQUAL_INT(1, right->tool);
	tac_monitor_stats *stats = calloc(1, sizeof *stats);
	TEST_ASSERT_TRUE(tac_play_timing(play, stats));
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(left->tick, stats->totals.ticks);
	tac_play_destroy(&play);
	TEST_ASSERT_FALSE(forces_on);
	TEST_ASSERT_LESS_OR_EQUAL_INT64(hands[0].reads, stats->totals.ticks);
	TEST_ASSERT_EQUAL_INT64(hands[0].reads, hands[1].reads);
	TEST_ASSERT_TRUE(stats->phases[TAC_PHASE_FORCE].count > 0);
	free(stats);
	fixture_fini(&f);
}

static void a_callers_own_account_is_used_and_bad_hands_are_refused(void)
{
	fixture f;
	tac_play_def def = tac_play_def_default();
	const tac_servo_def servo = begin(&f);
	tac_loop_def loop = tac_loop_def_default();
	def.hands[0] = &servo;
	def.loop = &loop;
	tac_deadline_def account = tac_deadline_def_default(loop.period_ns);
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&account, &loop.deadline));
	loop.periods = 5;
	tac_play *play;
	TEST_ASSERT_EQUAL(TAC_OK, tac_play_start_hands(&def, &play));
	tac_play_wait(play);
	TEST_ASSERT_FALSE(tac_play_timing(play, NULL));
	TEST_ASSERT_TRUE(tac_deadline_read_totals(loop.deadline).ticks > 0);
	tac_play_destroy(&play);
	tac_deadline_destroy(&loop.deadline);
	def.hand_count = 3;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start_hands(&def, &play));
	TEST_ASSERT_NULL(play);
	def.hand_count = 2;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start_hands(&def, &play)); // no second def
	def.hands[1] = def.hands[0];                                              // the same tool twice
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start_hands(&def, &play));
	TEST_ASSERT_NULL(play);
	tac_servo_def bad = servo;
	def.hand_count = 1;
	def.hands[0] = &bad;
	bad.mover = (tac_sco_mover)2;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start_hands(&def, &play));
	bad = servo;
	bad.callback.budget_ns = -1;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start_hands(&def, &play));
	bad = servo;
	bad.callback.slew_N_per_s = NAN;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start_hands(&def, &play));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_play_start_hands(NULL, &play));
	TEST_ASSERT_NULL(play);
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

// ---- defs of other versions ----

// A def as a program of another version would have it: shorter, or with fields that are not known here.
static void a_def_is_read_as_far_as_both_know_it(void)
{
	struct {
		tac_servo_def known;
		unsigned char later[16];
	} def;
	fixture f;
	begin(&f);
	tac_servo *servo;
	tac_servo_def_init(&def.known, sizeof def);
	TEST_ASSERT_EQUAL(sizeof def, def.known.struct_bytes);
	def.known.world = f.world;
	def.known.device = &f.hand.base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def.known, &servo)); // newer, but nothing new is set
	tac_servo_destroy(&servo);
	def.later[3] = 1;
	TEST_ASSERT_EQUAL(TAC_ERROR_UNSUPPORTED, tac_servo_create(&def.known, &servo));
	TEST_ASSERT_NULL(servo);

	// An older program knows nothing of `readers`; whatever lies there is not read.
	memset(&def, 0xff, sizeof def);
	const size_t older = offsetof(tac_servo_def, readers);
	tac_servo_def_init(&def.known, older);
	TEST_ASSERT_EQUAL(-1, def.known.readers);
	def.known.world = f.world;
	def.known.device = &f.hand.base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def.known, &servo));
	tac_servo_destroy(&servo);

	def.known.struct_bytes = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_servo_create(&def.known, &servo));
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_servo_ticks_until_its_periods_are_over);
	RUN_TEST(the_servo_ticks_until_it_is_destroyed);
	RUN_TEST(a_failed_start_leaves_nothing_running);
	RUN_TEST(two_hands_feel_each_other_and_have_an_account);
	RUN_TEST(a_callers_own_account_is_used_and_bad_hands_are_refused);
	RUN_TEST(a_snapshot_is_copied_as_far_as_its_reader_knows_it);
	RUN_TEST(a_def_is_read_as_far_as_both_know_it);
	return UNITY_END();
}
