// A tick short of time: display queries are skipped in their order, and nothing else is. The test replaces
// the clock: every reading advances it by 20 us, and reading the device by a time that the test sets.
#include "tests/support/servo_fixture.h"

#include "rt/clock.h"

void setUp(void)
{
}

void tearDown(void)
{
}

#define US INT64_C(1000)

static int64_t clock_ns;

int64_t __wrap_tac_clock_now_ns(void);
int64_t __wrap_tac_clock_now_ns(void)
{
	return clock_ns += 20 * US;
}

// Counts of the tick's collider queries: the check of the SCO's pose uses mode first, the display query mode
// surfaces.
static int checks, surface_queries;

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
	checks += mode == TAC_QUERY_FIRST;
	surface_queries += mode == TAC_QUERY_SURFACES;
	return __real_tac_collider_query(collider, context, moving, fixed, motion, mode, budget);
}

static int64_t injected_ns;

static tac_device_status slow_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	clock_ns += injected_ns;
	return puppet_read(device, now_ns, out_state);
}

static void display_queries_are_skipped_in_order_and_nothing_else_is(void)
{
	fixture f;
	tac_servo_def def = tac_servo_def_default();
	def.budget_ns = 500 * US;
	fixture_build(&f,
		      "scene: t\ntools: [{name: box, "
		      "shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 1}]}]\n"
		      "materials: [{name: m, stiffness_N_per_m: 500}]\n"
		      "objects: [{name: floor, material: m, position_m: [0, 0, -0.05], "
		      "shapes: [{kind: box, size_m: [0.4, 0.4, 0.1], segments: 2}]}]\n",
		      "wide", def);
	f.hand.base.read = slow_read;
	injected_ns = 0;
	f.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.03);
	tac_tick tick = {0};
	int64_t now_ns = 0;
	for (int i = 0; i < 300; i++, now_ns += MS) {
		f.hand.state.T_base_tool.position.z = fmax(0.008, 0.03 - 1e-4 * i);
		tick = (tac_tick){.wake_ns = clock_ns};
		tac_servo_step(f.servo, now_ns, &tick);
	}
	const struct {
		int64_t injected_ns;
		uint32_t skipped;
	} cases[] = {
		{0, 0},
		{340 * US, 0},
		{380 * US, 1u << TAC_DISPLAY_PROXIMITY},
		{400 * US, 1u << TAC_DISPLAY_PROXIMITY | 1u << TAC_DISPLAY_SURFACES},
		{5000 * US, 1u << TAC_DISPLAY_PROXIMITY | 1u << TAC_DISPLAY_SURFACES},
		{0, 0},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		injected_ns = cases[k].injected_ns;
		f.hand.state.T_base_tool.position.x += 1e-4;
		const int64_t writes = f.hand.writes;
		checks = surface_queries = 0;
		tick = (tac_tick){.wake_ns = clock_ns};
		tac_servo_step(f.servo, now_ns += MS, &tick);
		const tac_snapshot *s = tac_servo_snapshot(f.servo, 0);
		TEST_ASSERT_EQUAL_UINT32(cases[k].skipped, s->skipped);
		// The tool is still moved and checked, and the force written: the tool follows the hand.
		TEST_ASSERT_EQUAL_INT(1, checks);
		TEST_ASSERT_EQUAL_INT((cases[k].skipped >> TAC_DISPLAY_SURFACES & 1u) ? 0 : 1,
				      surface_queries);
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, f.hand.state.T_base_tool.position.x,
					  s->T_world_sco.position.x);
		TEST_ASSERT_EQUAL_INT64(writes + 1, f.hand.writes);
		TEST_ASSERT_DOUBLE_WITHIN(0.01, 1.0, f.hand.wrench.force_N.z);
		TEST_ASSERT_TRUE(s->contact_count > 0);
		TEST_ASSERT_EQUAL_UINT64(0, s->faults);
		// Display queries come after the write: they never delay the force.
		TEST_ASSERT_TRUE(tick.phase_end_ns[TAC_PHASE_DEVICE_WRITE] <=
				 tick.phase_end_ns[TAC_PHASE_PUBLISH]);
		if (cases[k].skipped == 0) {
			TEST_ASSERT_TRUE(s->surface_count > 0);
			TEST_ASSERT_TRUE(s->proximity_m < 2e-5);
		}
	}
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(display_queries_are_skipped_in_order_and_nothing_else_is);
	return UNITY_END();
}
