// A virtual wall on a simulated device, in the order of stages of the reference trajectories in
// tests/data/stability: read, force, passivity, clamp, write.
#ifndef TAC_TESTS_SUPPORT_WALL_H
#define TAC_TESTS_SUPPORT_WALL_H

#include "devices/sim.h"
#include "haptic/force/passivity.h"

#include <math.h>
#include <unity.h>

typedef enum wall_controller {
	WALL_OBSERVER_NONE = 0,
	WALL_CONTROLLER_CLASSIC = 1, // force times velocity of the same tick, for comparison
	WALL_CONTROLLER = 2,
	WALL_OBSERVER = 4, // without damping
} wall_controller;

// The names are those in the first line of the reference files.
typedef struct wall {
	double m, b, fc, Delta, Fmax, T, td, K, B, a, xw, bilateral, nonsticky, mh, bh, kh, F0, xi0, si,
		tstop, x0, v0, N, pc, amax, veps, E0, reset;
	double damper_W; // the controller's damper_power_W; 0: not observed, as in the reference
} wall;

typedef struct wall_row {
	double x, v, x_meas, u_cmd, E_port, E_obs, alpha;
} wall_row;

static inline int64_t wall_ns(double seconds)
{
	return (int64_t)llround(seconds * 1e9);
}

static inline tac_device *wall_device(const wall *w)
{
	const tac_sim_waypoint path[2] = {
		{.position_m = {w->xi0, 0, 0}},
		{.time_ns = wall_ns(w->tstop), .position_m = {w->xi0 + w->si * w->tstop, 0, 0}},
	};
	const tac_sim_def def = {
		.name = "wall",
		.linear = {w->m, w->b, w->fc, w->Delta},
		.hand = {w->mh, w->bh, w->kh},
		.max_force_N = 1e9,
		.delay_ns = wall_ns(w->td),
		.velocity_pole = w->a,
		.start_m = {w->x0, 0, 0},
		.start_m_per_s = {w->v0, 0, 0},
		.preload_N = {w->F0, 0, 0},
		.waypoints = w->tstop > 0 ? 2 : 1,
		.path = path,
	};
	tac_device *device;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&def, &device));
	tac_device_enable(device, true);
	return device;
}

// Runs w->N ticks and fills one row for each, with the state before the tick's motion. `rows` may be NULL.
static inline void wall_run(const wall *w, wall_row *rows)
{
	const int64_t period_ns = wall_ns(w->T);
	tac_device *device = wall_device(w);
	const tac_passivity_def def = {
		.period_ns = period_ns,
		.delay_ns = wall_ns(w->td),
		.damping_max_N_s_per_m = w->pc == WALL_CONTROLLER ? w->amax : 0,
		.speed_min_m_per_s = w->veps,
		.credit_J = w->E0,
		.damper_power_W = w->damper_W > 0 ? w->damper_W : HUGE_VAL,
		.forget = w->reset != 0,
	};
	tac_passivity passivity;
	tac_passivity_init(&passivity, &def);
	double classic = w->E0 / w->T, classic_repaid = 0;
	for (int k = 0; k < (int)w->N; k++) {
		const int64_t now_ns = k * period_ns;
		tac_device_state state;
		TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, now_ns, &state));
		const double x = state.T_base_tool.position.x, v = state.velocity_m_per_s.x;
		const double depth = x - w->xw;
		const bool contact = w->bilateral != 0 || depth > 0;
		double f = contact ? w->K * depth + w->B * v : 0;
		if (w->nonsticky != 0 && w->bilateral == 0)
			f = fmax(f, 0);
		double u = tac_passivity_step(&passivity, now_ns, x, v, -f, contact);
		wall_row row = {.E_obs = passivity.energy_J, .alpha = passivity.damping_N_s_per_m};
		if (w->pc == WALL_CONTROLLER_CLASSIC) {
			classic += f * v + classic_repaid;
			row.E_obs = classic * w->T;
			row.alpha = classic < 0 && v != 0 ? fmin(-classic / (v * v), w->amax) : 0;
			classic_repaid = row.alpha * v * v;
			u = -f - row.alpha * v;
		}
		if (w->Fmax > 0)
			u = fmin(fmax(u, -w->Fmax), w->Fmax);
		tac_passivity_sent(&passivity, u);
		const tac_wrench wrench = {.force_N = {u, 0, 0}};
		tac_device_write(device, now_ns, &wrench);
		const tac_sim_truth truth = tac_sim_read_truth(device);
		row.x = truth.position_m.x;
		row.v = truth.velocity_m_per_s.x;
		row.x_meas = x;
		row.u_cmd = u;
		row.E_port = truth.absorbed_J;
		if (rows)
			rows[k] = row;
	}
	tac_device_destroy(&device);
}

#endif
