// A spring in 30 lines: opens a device by its name and pulls it back to where it was, for five seconds.
#include "base/log.h"
#include "devices/registry.h"
#include "haptic/limit.h"
#include "rt/clock.h"

int main(int argc, char **argv)
{
	tac_device *device;
	tac_limit *limit;
	if (tac_registry_open(argc > 1 ? argv[1] : "sim:falcon", NULL, &device) < 0)
		return 1; // the log has the reason
	tac_limit_def def = tac_limit_def_default(&device->info);
	if (tac_limit_create(&def, &limit) < 0)
		return 1;
	tac_limit_input in = {.in_contact = true};
	tac_dvec3 home = {0, 0, 0};
	tac_device_enable(device, true);
	for (int64_t tick = 0, start_ns = tac_clock_now_ns(); tick < 5000; tick++) {
		tac_clock_sleep_until_ns(start_ns + tick * TAC_NS_PER_MS);
		in.now_ns = tac_clock_now_ns();
		in.status = tac_device_read(device, in.now_ns, &in.state);
		home = tick == 0 ? in.state.T_base_tool.position : home;
		tac_dvec3 stretch = tac_dvec3_sub(home, in.state.T_base_tool.position);
		in.wrench.force_N = tac_dvec3_scale(stretch, 200); // N/m
		tac_limit_output out = tac_limit_step(limit, &in); // every force passes the gate
		tac_device_write(device, in.now_ns, &out.wrench);
	}
	tac_limit_destroy(&limit);
	tac_device_destroy(&device); // forces off
}
