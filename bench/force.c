// The cost of the force path's stages. The stages run in turn; each row gives minimum and median in ns per
// call over all rounds, and the median's share of the whole path. The path is a 6-DOF tick without the SCO:
// sim read, coupling, friction, six passivity observers, limit, sim write. Below it is what does not run
// every tick: the stability limits that derating computes when the measured delay or rate has changed.
#include "devices/sim.h"
#include "haptic/derate.h"
#include "haptic/force/coupling.h"
#include "haptic/force/friction.h"
#include "haptic/force/passivity.h"
#include "haptic/limit.h"
#include "rt/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 31, CALLS = 2000, SLOW_CALLS = 100 };
#define PERIOD_NS INT64_C(1000000)

static tac_device *device;
static tac_limit *limit;
static tac_passivity port[6];
static tac_friction contact;
static tac_derate derate;
static tac_device_state state;
static tac_wrench wrench;
static tac_limit_output sent;
static int64_t now_ns;
static volatile double sink;

static const tac_coupling coupling = {1000, 2, 1, 0.01, TAC_COUPLING_CONSTRAINT};

static void sim_read(void)
{
	now_ns += PERIOD_NS;
	tac_device_read(device, now_ns, &state);
}

static void couple(void)
{
	const tac_coupling_body tool = {state.T_base_tool, state.velocity_m_per_s,
					state.angular_velocity_rad_per_s};
	tac_coupling_body sco = tool;
	sco.T_world_body.position.z = fmax(0, sco.T_world_body.position.z);
	sco.T_world_body.rotation = tac_dquat_identity();
	wrench = tac_coupling_wrench(&coupling, &tool, &sco);
}

static void add_friction(void)
{
	static const tac_friction_material material = {0.4, 0.3, 400};
	wrench.force_N = tac_dvec3_add(wrench.force_N,
				       tac_friction_step(&contact, &material, state.T_base_tool.position,
							 tac_dvec3_make(0, 0, 1), wrench.force_N.z));
}

static void observe(void)
{
	double force[6], x[6], v[6];
	tac_dvec3_store(force, wrench.force_N);
	tac_dvec3_store(force + 3, wrench.torque_Nm);
	tac_dvec3_store(x, state.T_base_tool.position);
	tac_dvec3_store(x + 3, tac_dquat_log(state.T_base_tool.rotation));
	tac_dvec3_store(v, state.velocity_m_per_s);
	tac_dvec3_store(v + 3, state.angular_velocity_rad_per_s);
	for (int i = 0; i < 6; i++) {
		force[i] = tac_passivity_step(&port[i], now_ns, x[i], v[i], force[i], true);
		tac_passivity_sent(&port[i], force[i]);
	}
	wrench = (tac_wrench){tac_dvec3_load(force), tac_dvec3_load(force + 3)};
}

static void limit_wrench(void)
{
	const tac_limit_input input = {now_ns, wrench, TAC_DEVICE_OK, state, true, false, 0};
	sent = tac_limit_step(limit, &input);
}

static void sim_write(void)
{
	tac_device_write(device, now_ns, &sent.wrench);
}

static void step_derate(void)
{
	sink = tac_derate_step(&derate, PERIOD_NS, PERIOD_NS);
}

static void critical(void)
{
	static const tac_device_mechanics falcon = {0.25, 1.5, 0.4, 63.5e-6};
	static const tac_stability_hand hand = {0.05, 2, 300};
	const tac_stability_loop loop = {1e-3, 1.35e-3, 2, 0.5};
	sink = tac_stability_critical(&falcon, &hand, &loop);
}

static void passive(void)
{
	const tac_stability_loop loop = {1e-3, 1.35e-3, 0.2, 0};
	sink = tac_stability_passive(1.5, &loop);
}

typedef struct stage {
	const char *name;
	void (*call)(void);
	bool in_path;
	int64_t ns[ROUNDS]; // sum over the calls of a round
} stage;

static stage stages[] = {
	{.name = "sim read, exact, 6 axes", .call = sim_read, .in_path = true},
	{.name = "coupling", .call = couple, .in_path = true},
	{.name = "friction", .call = add_friction, .in_path = true},
	{.name = "passivity, 6 ports", .call = observe, .in_path = true},
	{.name = "limit", .call = limit_wrench, .in_path = true},
	{.name = "sim write", .call = sim_write, .in_path = true},
	{.name = "derate, steady", .call = step_derate},
	{.name = "critical stiffness", .call = critical},
	{.name = "passive stiffness", .call = passive},
};
#define STAGES (sizeof stages / sizeof *stages)

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int calls_of(const stage *s)
{
	return s->in_path ? CALLS : SLOW_CALLS;
}

int main(void)
{
	const tac_sim_waypoint path[2] = {
		{.position_m = {0, 0, 0.005}},
		{.time_ns = 100 * PERIOD_NS, .position_m = {0.02, 0, -0.01}, .rotation_rad = {0.1, 0.2, 0}}};
	tac_sim_def def;
	if (tac_sim_def_preset("six", "stylus", &def) != TAC_OK)
		return 1;
	def.path = path;
	def.waypoints = 2;
	def.delay_ns = PERIOD_NS;
	if (tac_sim_create(&def, &device) != TAC_OK)
		return 1;
	tac_device_enable(device, true);
	const tac_limit_def limit_def = tac_limit_def_default(&device->info);
	if (tac_limit_create(&limit_def, &limit) != TAC_OK)
		return 1;
	tac_passivity_def passivity_def = tac_passivity_def_default(PERIOD_NS, 0.15);
	passivity_def.delay_ns = PERIOD_NS;
	for (int i = 0; i < 6; i++)
		tac_passivity_init(&port[i], &passivity_def);
	const tac_derate_def derate_def = tac_derate_def_default(&device->info, PERIOD_NS);
	tac_derate_init(&derate, &derate_def);

	// The cost of reading the clock is subtracted: it is comparable to the small stages.
	int64_t clock_ns = INT64_MAX;
	for (int i = 0; i < 1000; i++) {
		const int64_t begin_ns = tac_clock_now_ns(), took_ns = tac_clock_now_ns() - begin_ns;
		clock_ns = took_ns < clock_ns ? took_ns : clock_ns;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < CALLS; i++) {
			for (size_t s = 0; s < STAGES; s++) {
				if (i >= calls_of(&stages[s]))
					continue;
				const int64_t begin_ns = tac_clock_now_ns();
				stages[s].call();
				stages[s].ns[round] += tac_clock_now_ns() - begin_ns - clock_ns;
			}
		}
	}
	double whole = 0;
	for (size_t s = 0; s < STAGES; s++) {
		qsort(stages[s].ns, ROUNDS, sizeof stages[s].ns[0], compare);
		if (stages[s].in_path)
			whole += (double)stages[s].ns[ROUNDS / 2] / calls_of(&stages[s]);
	}
	printf("%-26s %9s %9s %7s\n", "stage", "min ns", "median", "share");
	for (size_t s = 0; s < STAGES; s++) {
		const double calls = calls_of(&stages[s]), median = (double)stages[s].ns[ROUNDS / 2] / calls;
		printf("%-26s %9.0f %9.0f %6.0f%%\n", stages[s].name, (double)stages[s].ns[0] / calls, median,
		       100 * median / whole);
	}
	printf("%-26s %9s %9.0f %6.0f%%\n", "path without the SCO", "", whole, 100.0);
	tac_limit_destroy(&limit);
	tac_device_destroy(&device);
	return 0;
}
