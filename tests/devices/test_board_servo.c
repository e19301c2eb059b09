// The whole haptic tick with the chip as the collision engine: as a model, and on a board over libusb. Both
// give the same motion to the bit. At 1 kHz, a board that is unplugged holds the tool and lowers the force,
// and it recovers.
#include "tests/support/servo_fixture.h"

#include "rt/loop.h"
#include "tests/support/board_fixture.h"

#define TICKS 150

static const char scene[] =
	"scene: t\n"
	"tools: [{name: brick, shapes: [{kind: box, size_m: [0.03, 0.02, 0.01], segments: 2}]}]\n"
	"materials: [{name: m, stiffness_N_per_m: 500}]\n"
	"objects: [{name: floor, material: m, position_m: [0, 0, -0.05], shapes: [{kind: box, size_m: [0.4, "
	"0.4, 0.1], segments: 6}]}]\n";

static fixture f;
static tac_servo_def servo_def;

void setUp(void)
{
	tac_virtual_board_def virtual_def = tac_virtual_board_def_default();
	virtual_def.memory_bytes = UINT32_C(4) << 20;
	tac_board_def def = tac_board_def_default();
	def.connect_ns = PATIENCE_NS;
	set_up_board(&virtual_def, &def);
	TEST_ASSERT_EQUAL(TAC_OK, tac_collider_add(engine));
	servo_def = tac_servo_def_default();
	servo_def.mover = TAC_SCO_REACTIVE;
}

void tearDown(void)
{
	fixture_fini(&f);
	tac_collider_remove(engine);
	tear_down_board();
}

// Down onto the floor, into it, and along it.
static tac_dvec3 path(int tick)
{
	double t = (double)tick / TICKS;
	return tac_dvec3_make(0.02 * t, 0.01 * sin(6 * t),
			      t < 0.4 ? 0.03 - 0.06 * t : 0.006 - 0.004 * (t - 0.4));
}

static void a_servo_on_the_board_moves_as_one_on_the_model(void)
{
	static tac_snapshot by_chip[TICKS];
	int touching = 0;
	fixture_build(&f, scene, "chip", servo_def);
	for (int i = 0; i < TICKS; i++) {
		by_chip[i] = *step_to(&f, path(i));
		touching += by_chip[i].contact_count > 0;
	}
	TEST_ASSERT_GREATER_THAN(TICKS / 3, touching);
	fixture_fini(&f);
	fixture_build(&f, scene, "board", servo_def);
	for (int i = 0; i < TICKS; i++) {
		const tac_snapshot *s = step_to(&f, path(i));
		TEST_ASSERT_EQUAL_UINT64(0, s->unknown_ticks);
		TEST_ASSERT_EQUAL_MEMORY(&by_chip[i].T_world_sco, &s->T_world_sco, sizeof s->T_world_sco);
		TEST_ASSERT_EQUAL_MEMORY(&by_chip[i].sent, &s->sent, sizeof s->sent);
		TEST_ASSERT_EQUAL(by_chip[i].contact_count, s->contact_count);
	}
	TEST_ASSERT_GREATER_THAN(TICKS, outcome_count(TAC_BOARD_ANSWERED));
}

#define UNPLUG_TICK 300
#define PLUG_TICK   500
#define END_TICK    1000
static uint64_t unknown_while_unplugged, ticks;

static void tick(void *user, tac_tick *t)
{
	// Counted in ticks that ran: a busy machine skips many.
	if (ticks == UNPLUG_TICK)
		unplug();
	if (ticks == PLUG_TICK)
		plug();
	if (ticks == END_TICK)
		tac_loop_stop(user);
	const uint64_t phase = ticks % 200;
	const int i = phase < 100 ? (int)phase : 200 - (int)phase; // down and up again
	f.hand.state.T_base_tool.position = path(i);
	tac_servo_step(f.servo, t->wake_ns, t);
	const tac_snapshot *s = tac_servo_snapshot(f.servo, 0);
	TEST_ASSERT_TRUE(tac_dvec3_finite(s->sent.force_N));
	// It never enters the floor: its centre stays half of the brick's height above it.
	TEST_ASSERT_TRUE(s->T_world_sco.position.z > 0.005 - 1e-6);
	if (!plugged)
		unknown_while_unplugged = s->unknown_ticks;
	ticks++;
}

static void a_loop_at_1_kHz_survives_the_board(void)
{
	fixture_build(&f, scene, "board", servo_def);
	tac_loop_def def = tac_loop_def_default();
	def.spin_ns = 0;
	tac_loop *loop;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&def, &loop));
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_run(loop, tick, loop));
	tac_loop_destroy(&loop);
	// After the board is plugged in again, there are eventually 20 ticks without an unknown answer.
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	uint64_t before;
	const tac_snapshot *s;
	f.now_ns = tac_clock_now_ns();
	do {
		before = tac_servo_snapshot(f.servo, 0)->unknown_ticks;
		move_to(&f, tac_dvec3_make(0, 0, 0.02), 10);
		s = move_to(&f, tac_dvec3_make(0, 0, 0.03), 10);
		TEST_ASSERT_TRUE(tac_clock_now_ns() < end_ns);
	} while (s->unknown_ticks != before);
	printf("%llu ticks, %llu unknown while the board was unplugged, %llu connections\n",
	       (unsigned long long)ticks, (unsigned long long)unknown_while_unplugged,
	       (unsigned long long)tac_board_report_read(board).connections);
	TEST_ASSERT_GREATER_THAN(10, unknown_while_unplugged);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_servo_on_the_board_moves_as_one_on_the_model);
	RUN_TEST(a_loop_at_1_kHz_survives_the_board);
	return UNITY_END();
}
