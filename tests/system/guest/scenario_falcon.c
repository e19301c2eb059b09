// In the guest: the Falcon on a real kernel. `tactus emulate falcon` plugs it into a port of vhci_hcd. The
// driver loads its firmware, homes it and runs the loop at 1 kHz with a wall under the hand. The device is
// killed and started again; it must come back by itself, and the force must rise slowly.
#include "devices/hotplug.h"
#include "haptic/limit.h"
#include "rt/clock.h"
#include "tests/system/guest/scenario.h"

#include <math.h>
#include <string.h>

#define PATIENCE_NS  (40 * TAC_NS_PER_S)
#define WALL_N_PER_M 400.0
#define HAND_N_PER_M 300.0                  // of the grip "stylus"
#define HAND_DOWN_M  0.03                   // target of the emulated hand
#define LAP_NS       (4500 * TAC_NS_PER_MS) // more than one motion down and up

static tac_device *device;
static tac_limit *limit;
static tac_limit_input input;
static tac_limit_output output;
static bool wall; // rendered
static int ticks, fresh;

static pid_t plug_in(void)
{
	char *const emulate[] = {(char[]){"/bin/tactus"}, (char[]){"emulate"}, (char[]){"falcon"},
				 (char[]){"--serial"},    (char[]){"G2"},      NULL};
	return start(emulate);
}

// A tick: a wall at y = 0, through the gate.
static tac_device_status tick(void)
{
	input.now_ns = tac_clock_now_ns();
	input.status = tac_device_read(device, input.now_ns, &input.state);
	const double y = input.state.T_base_tool.position.y;
	input.in_contact = true; // so that the gate always raises the force slowly
	input.wrench.force_N.y = wall && y < 0 ? -WALL_N_PER_M * y : 0;
	output = tac_limit_step(limit, &input);
	tac_device_write(device, input.now_ns, &output.wrench);
	ticks++;
	fresh += input.status == TAC_DEVICE_OK;
	tac_clock_sleep_until_ns(input.now_ns + TAC_NS_PER_MS);
	return input.status;
}

// The depth of the hand below y = 0 in a lap, m: the median, which tolerates stalls of an emulated machine.
static double depth_of_a_lap(void)
{
	static int counts[64]; // histogram, 1 mm per bin
	const int64_t end_ns = tac_clock_now_ns() + LAP_NS;
	int total = 0, below = 0, mm = 0;
	memset(counts, 0, sizeof counts);
	ticks = fresh = 0;
	while (tac_clock_now_ns() < end_ns) {
		const tac_device_status status = tick();
		const double y = input.state.T_base_tool.position.y;
		if (status == TAC_DEVICE_OK && output.gain == 1 && y < 0 && y > -0.063) {
			counts[(int)(-1e3 * y)]++;
			total++;
		}
	}
	while (mm < 63 && 2 * (below += counts[mm]) < total)
		mm++;
	return total > 0 ? 1e-3 * (mm + 0.5) : 0;
}

// Runs laps until the median depth is as expected: half of the deepest, since the hand moves at constant
// speed.
static void expect_depth(double deepest_m, const char *what)
{
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	const double expected_m = 0.5 * deepest_m;
	double depth_m;
	while (fabs((depth_m = depth_of_a_lap()) - expected_m) > 0.25 * expected_m)
		require(tac_clock_now_ns() < end_ns, "%s to let the hand down to %.1f mm, not to %.1f", what,
			1e3 * expected_m, 1e3 * depth_m);
	print_line("%s lets the hand down to %.1f mm (springs: %.1f), %d ticks, %d with a new report", what,
		   1e3 * depth_m, 1e3 * expected_m, ticks, fresh);
}

static void wait_until(tac_device_status status, const char *what)
{
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	while (tick() != status)
		require(tac_clock_now_ns() < end_ns, "a device that is %s", what);
}

static void wait_for_driver_to_list_it(void)
{
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	tac_driver_report report;
	do {
		tac_registry_list(tac_registry_driver_at(0), &report);
		require(tac_clock_now_ns() < end_ns, "a Falcon on the bus");
	} while (report.count == 0);
	require(strcmp(report.devices[0].selection, "falcon:G2") == 0, "falcon:G2, not %s",
		report.devices[0].selection);
}

// The hand's spring against the wall's.
static void expect_wall(void)
{
	expect_depth(HAND_N_PER_M * HAND_DOWN_M / (HAND_N_PER_M + WALL_N_PER_M), "the wall");
}

int main(void)
{
	pid_t falcon = plug_in();
	write_image("/falcon.bin");
	wait_for_driver_to_list_it();
	const tac_open_def def = {.firmware = "/falcon.bin"};
	require(tac_hotplug_open("falcon:G2", &def, &device) == TAC_OK, "the device");
	tac_limit_def limits = tac_limit_def_default(&device->info);
	limits.stall_ns = limits.stale_ns = TAC_NS_PER_S; // an emulated machine is slow
	require(tac_limit_create(&limits, &limit) == TAC_OK, "a limit");
	tac_device_enable(device, true);
	wall = true;
	wait_until(TAC_DEVICE_OK, "there");
	print_line("firmware loaded, homed");
	expect_wall();

	kill_later(falcon, 50); // the kernel sees the socket close: unplugged
	wait_until(TAC_DEVICE_DISABLED, "gone");
	require(output.gain == 0, "no force without a device");
	stop(falcon);
	falcon = plug_in(); // without firmware and not homed
	wait_until(TAC_DEVICE_OK, "back");
	require(output.gain < 0.5, "forces that rise slowly, not a gain of %g", output.gain);
	print_line("killed, started again, loaded and homed again");
	expect_wall();

	wall = false;
	expect_depth(HAND_DOWN_M, "no wall");
	tac_device_destroy(&device);
	tac_limit_destroy(&limit);
	stop(falcon);
	return 0;
}
