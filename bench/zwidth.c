// bench_zwidth: the largest stiffness of a virtual wall as a function of its damping (the Z-width of J. E.
// Colgate and J. M. Brown, 1994), as CSV: the exact limit of haptic/stability.h, and the stiffness at which
// the oscillation of a simulated device begins to grow, found by bisection. The device has 0.1 kg and 1 N
// s/m, at 1 kHz.
#include "apps/terminal/terminal.h"
#include "devices/sim.h"
#include "haptic/stability.h"

#include <math.h>
#include <stdio.h>

#define MASS_KG   0.1
#define DAMPING   1.0 // N s/m
#define PERIOD_NS INT64_C(1000000)

// Whether the amplitude of the device at a bilateral wall k, b is larger at the end of the run than at its
// start.
static bool diverges(double k, double b, int64_t delay_ns)
{
	enum { TICKS = 6000, WINDOW = 300 };
	tac_sim_def def = {0};
	tac_device *device;
	if (tac_sim_def_preset("six", "stylus", &def) < TAC_OK)
		return true;
	def.linear = (tac_device_mechanics){.mass = MASS_KG, .damping = DAMPING};
	def.delay_ns = delay_ns;
	def.max_force_N = 1e9;
	def.hand = (tac_sim_hand){0};
	def.start_m = tac_dvec3_make(1e-3, 0, 0);
	if (tac_sim_create(&def, &device) < TAC_OK)
		return true;
	tac_device_enable(device, true);
	double before = 1e-3, early = 0, late = 0;
	for (int i = 0; i < TICKS; i++) {
		tac_device_state state;
		const int64_t now_ns = (i + 1) * PERIOD_NS;
		tac_device_read(device, now_ns, &state);
		const double x = state.T_base_tool.position.x, v = (x - before) / 1e-3;
		if (!(fabs(x) < 1)) { // a thousand times the initial amplitude
			late = HUGE_VAL;
			break;
		}
		const tac_wrench wrench = {.force_N = {-k * x - b * v, 0, 0}};
		tac_device_write(device, now_ns, &wrench);
		if (i >= WINDOW && i < 2 * WINDOW)
			early = fmax(early, fabs(x));
		if (i >= TICKS - WINDOW)
			late = fmax(late, fabs(x));
		before = x;
	}
	tac_device_destroy(&device);
	return !(late <= early);
}

static double measure_limit(double b, int64_t delay_ns)
{
	double low = 0, high = 1e5;
	for (int i = 0; i < 24; i++) {
		const double middle = 0.5 * (low + high);
		if (diverges(middle, b, delay_ns))
			high = middle;
		else
			low = middle;
	}
	return low;
}

int main(void)
{
	const tac_device_mechanics device = {.mass = MASS_KG, .damping = DAMPING};
	const tac_stability_hand alone = {0};
	printf("series,damping_N_s_per_m,stiffness_N_per_m\n");
	terminal shown = {0};
	for (int delay = 0; delay <= 1; delay++) {
		for (int b = 0; b <= 100; b += 2) {
			const tac_stability_loop loop = {
				.period_s = 1e-3, .delay_s = 1e-3 * delay, .damping_N_s_per_m = b};
			printf("exact: delay %d ms,%d,%.3f\n", delay, b,
			       tac_stability_critical(&device, &alone, &loop));
		}
		for (int b = 0; b <= 100; b += 10) {
			terminal_step(&shown, "simulating", delay * 11 + b / 10 + 1, 22, "a wall");
			const double k = measure_limit(b, delay * PERIOD_NS);
			terminal_clear(&shown);
			printf("simulated: delay %d ms,%d,%.3f\n", delay, b, k);
		}
	}
	return 0;
}
