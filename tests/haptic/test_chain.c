// The force path from read to write in three and six axes: coupling, friction, passivity, limit, against
// surfaces whose nearest point is known in closed form. The oracle is the energy that the simulated device
// accounts for exactly. The allocator is wrapped at link time.
#include "base/rng.h"
#include "devices/sim.h"
#include "haptic/force/coupling.h"
#include "haptic/force/friction.h"
#include "haptic/force/passivity.h"
#include "haptic/limit.h"
#include "tests/support/allocations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unity.h>

#define MS INT64_C(1000000)

// ---- the chain ----

// The nearest point of the surface to a tool that penetrates it; false: the tool is free.
typedef bool (*surface_fn)(tac_dvec3 tool, tac_dvec3 *out_nearest, tac_dvec3 *out_normal);

typedef struct chain {
	surface_fn surface;
	tac_coupling coupling;
	tac_friction_material friction; // stiffness 0: none
	double damping_max;             // of the controllers; 0: they only observe
	tac_device *device;
	tac_limit *limit;
	tac_passivity axis[6];
	tac_friction contact;
	tac_dquat rotation; // last read
	tac_dvec3 turned;   // sum of the rotations since
	// Results of the run.
	double motion_J[6]; // largest |force times motion of a tick|, for each axis
	double force_N;     // largest sent
	tac_dvec3 last_N;   // sent in the last tick
	bool touched;
} chain;

static void chain_init(chain *c, const tac_sim_def *def)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(def, &c->device));
	tac_device_enable(c->device, true);
	const tac_limit_def limit_def = tac_limit_def_default(&c->device->info);
	TEST_ASSERT_EQUAL(TAC_OK, tac_limit_create(&limit_def, &c->limit));
	for (int i = 0; i < 6; i++) {
		tac_passivity_def passivity_def = tac_passivity_def_default(MS, 0.1);
		passivity_def.delay_ns = def->delay_ns;
		// For the angular axes: 0.2 inertia / period.
		passivity_def.damping_max_N_s_per_m = i < 3 ? c->damping_max : c->damping_max > 0 ? 0.04 : 0;
		tac_passivity_init(&c->axis[i], &passivity_def);
	}
}

static void chain_fini(chain *c)
{
	tac_limit_destroy(&c->limit);
	tac_device_destroy(&c->device);
}

static void chain_tick(chain *c, int64_t now_ns)
{
	tac_limit_input input = {.now_ns = now_ns};
	input.status = tac_device_read(c->device, now_ns, &input.state);
	const tac_coupling_body device = {input.state.T_base_tool, input.state.velocity_m_per_s,
					  input.state.angular_velocity_rad_per_s};
	tac_coupling_body sco = device;
	tac_dvec3 normal = tac_dvec3_zero();
	input.in_contact = c->surface(device.T_world_body.position, &sco.T_world_body.position, &normal);
	if (input.in_contact) {
		c->touched = true;
		// In contact the SCO slides along with the device and does not rotate.
		sco.velocity_m_per_s = tac_dvec3_add_scaled(
			device.velocity_m_per_s, -tac_dvec3_dot(device.velocity_m_per_s, normal), normal);
		sco.T_world_body.rotation = tac_dquat_identity();
		sco.angular_velocity_rad_per_s = tac_dvec3_zero();
	}
	tac_wrench wanted = tac_coupling_wrench(&c->coupling, &device, &sco);
	if (c->friction.stiffness_N_per_m > 0)
		wanted.force_N =
			tac_dvec3_add(wanted.force_N,
				      tac_friction_step(&c->contact, &c->friction, sco.T_world_body.position,
							normal, tac_dvec3_dot(wanted.force_N, normal)));

	double force[6], x[6], v[6];
	tac_dvec3_store(force, wanted.force_N);
	tac_dvec3_store(force + 3, wanted.torque_Nm);
	tac_dvec3_store(x, device.T_world_body.position);
	if (c->axis[3].started)
		c->turned = tac_dvec3_add(c->turned,
					  tac_dquat_log(tac_dquat_mul(device.T_world_body.rotation,
								      tac_dquat_conjugate(c->rotation))));
	c->rotation = device.T_world_body.rotation;
	tac_dvec3_store(x + 3, c->turned);
	tac_dvec3_store(v, device.velocity_m_per_s);
	tac_dvec3_store(v + 3, device.angular_velocity_rad_per_s);
	for (int i = 0; i < 6; i++) {
		const double before = c->axis[i].x;
		force[i] = tac_passivity_step(&c->axis[i], now_ns, x[i], v[i], force[i], input.in_contact);
		// The motion of this tick times any force that may have acted in it.
		if (c->axis[i].sent_count > 0) {
			for (uint32_t back = 1; back <= 3 && back <= c->axis[i].sent_count; back++) {
				const double sent = c->axis[i].sent_N[(c->axis[i].sent_count - back) %
								      TAC_PASSIVITY_HISTORY];
				c->motion_J[i] = fmax(c->motion_J[i], fabs(sent * (x[i] - before)));
			}
		}
	}
	input.wrench = (tac_wrench){tac_dvec3_load(force), tac_dvec3_load(force + 3)};
	const tac_limit_output out = tac_limit_step(c->limit, &input);
	tac_dvec3_store(force, out.wrench.force_N);
	tac_dvec3_store(force + 3, out.wrench.torque_Nm);
	for (int i = 0; i < 6; i++)
		tac_passivity_sent(&c->axis[i], force[i]);
	c->force_N = fmax(c->force_N, tac_dvec3_length(out.wrench.force_N));
	c->last_N = out.wrench.force_N;
	tac_device_write(c->device, now_ns, &out.wrench);
}

void setUp(void)
{
}

void tearDown(void)
{
}

// ---- surfaces ----

#define BALL_M 0.03

static bool ball(tac_dvec3 tool, tac_dvec3 *out_nearest, tac_dvec3 *out_normal)
{
	if (tac_dvec3_length(tool) >= BALL_M)
		return false;
	*out_normal = tac_dvec3_normalize(tool);
	*out_nearest = tac_dvec3_scale(*out_normal, BALL_M);
	return true;
}

static bool floor_below(tac_dvec3 tool, tac_dvec3 *out_nearest, tac_dvec3 *out_normal)
{
	if (tool.z >= 0)
		return false;
	*out_normal = tac_dvec3_make(0, 0, 1);
	*out_nearest = tac_dvec3_make(tool.x, tool.y, 0);
	return true;
}

// The inside of a right angle: x >= 0 and z >= 0 are free.
static bool groove(tac_dvec3 tool, tac_dvec3 *out_nearest, tac_dvec3 *out_normal)
{
	if (tool.x >= 0 && tool.z >= 0)
		return false;
	*out_nearest = tac_dvec3_make(fmax(tool.x, 0), tool.y, fmax(tool.z, 0));
	*out_normal = tac_dvec3_normalize(tac_dvec3_sub(*out_nearest, tool));
	return true;
}

// ---- tests ----

static tac_sim_def pressing(const tac_sim_waypoint *path, uint32_t waypoints)
{
	return (tac_sim_def){.name = "pressing",
			     .linear = {0.1, 0.5, 0, 0},
			     .hand = {0.1, 2, 300},
			     .max_force_N = 8.9,
			     .max_torque_Nm = 0.5,
			     .delay_ns = MS,
			     .start_m = path[0].position_m,
			     .path = path,
			     .waypoints = waypoints};
}

static void run(chain *c, int ticks)
{
	for (int64_t k = 0; k < ticks; k++)
		chain_tick(c, k * MS);
	TEST_ASSERT_TRUE(c->touched);
	TEST_ASSERT_TRUE(c->force_N <= c->device->info.max_force_N);
}

// A curved surface with 1.8 times the critical stiffness for this hand, pressed from the side.
static double ball_deficit(double damping_max, chain *c)
{
	const tac_sim_waypoint path[2] = {
		{.position_m = {-0.04, 0.012, 0.006}},
		{.time_ns = 150 * MS, .position_m = {-0.02, 0.01, -0.002}},
	};
	const tac_sim_def def = pressing(path, 2);
	*c = (chain){.surface = ball, .coupling = {.stiffness_N_per_m = 3000}, .damping_max = damping_max};
	chain_init(c, &def);
	double least = 0, gained = 0;
	for (int64_t k = 0; k < 1500; k++) {
		chain_tick(c, k * MS);
		// As in the observers, absorbed energy no longer counts once the tool is free.
		const double absorbed = tac_sim_read_truth(c->device).absorbed_J - gained;
		least = fmin(least, absorbed);
		if (tac_dvec3_length(tac_sim_read_truth(c->device).position_m) >= BALL_M && absorbed > 0)
			gained += absorbed;
	}
	TEST_ASSERT_TRUE(c->touched);
	TEST_ASSERT_TRUE(c->force_N <= def.max_force_N);
	chain_fini(c);
	return least;
}

static void a_ball_too_stiff_for_the_rate_generates_little_energy_with_the_controllers(void)
{
	chain c;
	const double without = ball_deficit(0, &c), with = ball_deficit(20, &c);
	// Each axis may lag by three ticks.
	const double bound = 3 * (c.motion_J[0] + c.motion_J[1] + c.motion_J[2]);
	printf("ball: least energy %.2f mJ without, %.2f mJ with the controllers, bound %.2f mJ\n",
	       1e3 * without, 1e3 * with, -1e3 * bound);
	TEST_ASSERT_TRUE(without < -20e-3);
	TEST_ASSERT_TRUE(with >= -bound);
	TEST_ASSERT_TRUE(with > 0.1 * without);
}

static void at_rest_on_the_floor_the_force_is_that_of_two_springs(void)
{
	// The hand's target is 10 mm below the floor; 300 N/m against 600 N/m meet at a third of it.
	const tac_sim_waypoint path[2] = {{.position_m = {0, 0, 0.01}},
					  {.time_ns = 200 * MS, .position_m = {0, 0, -0.01}}};
	const tac_sim_def def = pressing(path, 2);
	chain c = {.surface = floor_below, .coupling = {.stiffness_N_per_m = 600}};
	chain_init(&c, &def);
	run(&c, 4000);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 300 * 600 * 0.01 / 900, c.last_N.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -0.01 / 3, tac_sim_read_truth(c.device).position_m.z);
	chain_fini(&c);
}

static void in_a_groove_both_walls_carry_load_and_motion_along_it_is_free(void)
{
	const tac_sim_waypoint path[3] = {{.position_m = {0.01, 0, 0.01}},
					  {.time_ns = 200 * MS, .position_m = {-0.006, 0, -0.003}},
					  {.time_ns = 1200 * MS, .position_m = {-0.006, 0.05, -0.003}}};
	const tac_sim_def def = pressing(path, 3);
	chain c = {.surface = groove, .coupling = {.stiffness_N_per_m = 600, .damping_N_s_per_m = 1}};
	chain_init(&c, &def);
	run(&c, 4000);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 200 * 0.006, c.last_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 200 * 0.003, c.last_N.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, c.last_N.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.05, tac_sim_read_truth(c.device).position_m.y);
	chain_fini(&c);
}

static void sliding_over_the_floor_is_resisted_by_dynamic_friction(void)
{
	const tac_sim_waypoint path[3] = {{.position_m = {0, 0, 0.005}},
					  {.time_ns = 200 * MS, .position_m = {0, 0, -0.01}},
					  {.time_ns = 3200 * MS, .position_m = {0.15, 0, -0.01}}};
	const tac_sim_def def = pressing(path, 3);
	chain c = {
		.surface = floor_below, .coupling = {.stiffness_N_per_m = 600}, .friction = {0.4, 0.3, 400}};
	chain_init(&c, &def);
	run(&c, 3000);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2, c.last_N.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, -0.3 * 2, c.last_N.x);
	chain_fini(&c);
}

// Six axes, a high angular stiffness and delay: the hand twists while the surface holds the SCO upright.
static void a_twisted_tool_is_held_and_stays_within_its_energy_bound(void)
{
	const tac_sim_waypoint path[3] = {
		{.position_m = {0, 0, 0.005}},
		{.time_ns = 150 * MS, .position_m = {0, 0, -0.005}},
		{.time_ns = 350 * MS, .position_m = {0, 0, -0.005}, .rotation_rad = {0.3, -0.2, 0.4}}};
	double least[2];
	for (int with = 0; with < 2; with++) {
		tac_sim_def def = pressing(path, 3);
		def.angular = (tac_device_mechanics){2e-4, 5e-4, 0, 0};
		def.hand_angular = (tac_sim_hand){5e-5, 1e-3, 0.3};
		chain c = {.surface = floor_below,
			   .coupling = {.stiffness_N_per_m = 500, .turn_stiffness_Nm_per_rad = 3},
			   .damping_max = with ? 20 : 0};
		chain_init(&c, &def);
		least[with] = 0;
		for (int64_t k = 0; k < 1500; k++) {
			chain_tick(&c, k * MS);
			least[with] = fmin(least[with], tac_sim_read_truth(c.device).absorbed_J);
			TEST_ASSERT_TRUE(tac_dvec3_finite(tac_sim_read_truth(c.device).rotation_rad));
		}
		double bound = 0;
		for (int i = 0; i < 6; i++)
			bound += 3 * c.motion_J[i];
		if (with)
			TEST_ASSERT_TRUE(least[1] >= -bound);
		chain_fini(&c);
	}
	printf("twist: least energy %.2f mJ without, %.2f mJ with the controllers\n", 1e3 * least[0],
	       1e3 * least[1]);
	TEST_ASSERT_TRUE(least[0] < -10e-3);
	TEST_ASSERT_TRUE(least[1] > 0.2 * least[0]);
}

// A loop that stalls, loses samples and is stopped: every force is finite and within the device's maximum.
static void stalls_and_losses_never_send_too_much_force(void)
{
	const tac_sim_waypoint path[2] = {{.position_m = {0, 0, 0.005}},
					  {.time_ns = 100 * MS, .position_m = {0, 0, -0.02}}};
	const tac_sim_def def = pressing(path, 2);
	chain c = {.surface = floor_below,
		   .coupling = {.stiffness_N_per_m = 1e5},
		   .friction = {2, 1, 1e5},
		   .damping_max = 20};
	chain_init(&c, &def);
	tac_rng rng = tac_rng_seed(7, 1);
	int64_t now_ns = 0;
	for (int k = 0; k < 20000; k++) {
		if (tac_rng_below(&rng, 300) == 0)
			now_ns += tac_rng_below(&rng, 300000000);
		else
			now_ns += tac_rng_below(&rng, 2000000);
		if (k == 15000)
			tac_limit_stop(c.limit);
		if (k == 17000)
			tac_limit_reset(c.limit);
		if (k == 19000)
			tac_sim_unplug(c.device);
		chain_tick(&c, now_ns);
		TEST_ASSERT_TRUE(tac_dvec3_finite(c.last_N));
		if (k >= 15000 && k < 17000)
			TEST_ASSERT_TRUE(tac_dvec3_length(c.last_N) == 0);
	}
	TEST_ASSERT_TRUE(c.force_N <= def.max_force_N);
	TEST_ASSERT_TRUE(tac_dvec3_length(c.last_N) == 0);
	TEST_ASSERT_EQUAL_UINT64(2000, tac_limit_count(c.limit, TAC_LIMIT_STOPPED));
	TEST_ASSERT_EQUAL_UINT64(1000, tac_limit_count(c.limit, TAC_LIMIT_LOST));
	TEST_ASSERT_EQUAL_UINT64(0, tac_sim_read_truth(c.device).saturated);
	chain_fini(&c);
}

static void no_tick_allocates(void)
{
	tac_sim_def def;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset("six", "stylus", &def));
	const tac_sim_waypoint path[2] = {
		{.position_m = {0, 0, 0.005}},
		{.time_ns = 100 * MS, .position_m = {0.01, 0, -0.02}, .rotation_rad = {0.1, 0, 0}}};
	def.path = path;
	def.waypoints = 2;
	allocations = 0;
	chain c = {.surface = floor_below,
		   .coupling = {.stiffness_N_per_m = 1000, .turn_stiffness_Nm_per_rad = 1},
		   .friction = {0.4, 0.3, 400},
		   .damping_max = 20};
	chain_init(&c, &def);
	TEST_ASSERT_EQUAL_INT(2, allocations); // device and limit: proves that allocations are counted
	run(&c, 2000);
	TEST_ASSERT_EQUAL_INT(2, allocations);
	chain_fini(&c);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_ball_too_stiff_for_the_rate_generates_little_energy_with_the_controllers);
	RUN_TEST(at_rest_on_the_floor_the_force_is_that_of_two_springs);
	RUN_TEST(in_a_groove_both_walls_carry_load_and_motion_along_it_is_free);
	RUN_TEST(sliding_over_the_floor_is_resisted_by_dynamic_friction);
	RUN_TEST(a_twisted_tool_is_held_and_stays_within_its_energy_bound);
	RUN_TEST(stalls_and_losses_never_send_too_much_force);
	RUN_TEST(no_tick_allocates);
	return UNITY_END();
}
