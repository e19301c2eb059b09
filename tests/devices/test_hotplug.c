// A Falcon that is unplugged and plugged in again while the loop runs, over the real libusb and the virtual
// device.
//
// The loop runs on a clock that its ticks move (tests/support/ticked_clock.h): it keeps its rate on a machine
// that makes every tick late. The supervisor, USB and the device keep the real clock.
#include "devices/hotplug.h"

#include "base/log.h"
#include "devices/falcon/falcon_protocol.h"
#include "devices/virtual_falcon.h"
#include "haptic/limit.h"
#include "rt/clock.h"
#include "tests/support/allocations.h"
#include "tests/support/eventually.h"
#include "tests/support/ticked_clock.h"
#include "tests/support/usb_shim.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unity.h>

#define MS TAC_NS_PER_MS

static tac_virtual_falcon *virtual_falcon;
static tac_virtual_usb *usb;
static tac_device *device;
static tac_limit *limit;
static tac_limit_output output;
static tac_limit_input input;
static int64_t off_ns; // the last tick without the device

// All lines that the library logged.
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[8192];

static void keep_all(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	pthread_mutex_lock(&log_lock);
	const size_t used = strlen(log_text);
	snprintf(log_text + used, sizeof log_text - used, "%s\n", message);
	pthread_mutex_unlock(&log_lock);
}

#define LOST "falcon: lost; forces are off"

static int lines_with(const char *text)
{
	int count = 0;
	pthread_mutex_lock(&log_lock);
	for (const char *at = log_text; (at = strstr(at, text)) != NULL; at++)
		count++;
	pthread_mutex_unlock(&log_lock);
	return count;
}

static const tac_sim_waypoint path[] = {
	{.time_ns = 0},
	{.time_ns = 100 * MS, .position_m = {0, 0, 0.03}},
	{.time_ns = 250 * MS, .position_m = {0, 0, -0.03}},
	{.time_ns = 300 * MS, .position_m = {0, -0.01, 0}},
};

void setUp(void)
{
	log_text[0] = '\0';
	tac_log_set(keep_all, NULL);
	tac_virtual_falcon_def model = tac_virtual_falcon_def_default();
	model.loaded = true;
	model.sim.path = path;
	model.sim.waypoints = sizeof path / sizeof *path;
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_falcon_create(&model, &virtual_falcon));
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_usb_create(tac_virtual_falcon_model(virtual_falcon), &usb));
	usb_shim_plug(usb);
}

void tearDown(void)
{
	use_real_clock();
	tac_device_destroy(&device);
	tac_limit_destroy(&limit);
	usb_shim_unplug(usb);
	tac_virtual_usb_destroy(&usb);
	tac_virtual_falcon_destroy(&virtual_falcon);
	tac_log_set(NULL, NULL);
}

static void open_ok(const char *selection)
{
	static const tac_open_def def = {.in_process = true};
	use_real_clock();
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_hotplug_open(selection, &def, &device), log_text);
	tac_limit_destroy(&limit);
	tac_limit_def limits = tac_limit_def_default(&device->info);
	limits.stale_ns = TAC_NS_PER_S; // the device's answers take the time they need
	TEST_ASSERT_EQUAL(TAC_OK, tac_limit_create(&limits, &limit));
	tac_device_enable(device, true);
	input = (tac_limit_input){0};
	tick_clock(false);
}

// One tick: a force of 2 N upwards through the gate.
static tac_device_status tick(void)
{
	input.now_ns = tac_clock_now_ns();
	input.status = tac_device_read(device, input.now_ns, &input.state);
	if (input.status == TAC_DEVICE_DISABLED)
		off_ns = input.now_ns;
	input.wrench.force_N = tac_dvec3_make(0, 2, 0);
	input.in_contact = true;
	output = tac_limit_step(limit, &input);
	tac_device_write(device, input.now_ns, &output.wrench);
	tac_clock_sleep_until_ns(input.now_ns + MS);
	return input.status;
}

// Full force takes `engage_s`: after the first tick with the device, that tick's share.
static void check_force_rises_slowly(void)
{
	const double share = 1e-3 / tac_limit_def_default(&device->info).engage_s;
	TEST_ASSERT_EQUAL_INT64(MS, input.now_ns - off_ns);
	TEST_ASSERT_TRUE(output.gain <= share + 1e-9);
	TEST_ASSERT_NOT_EQUAL(0, output.reasons & 1u << TAC_LIMIT_ENGAGE);
}

static tac_virtual_falcon_state truth(void)
{
	return tac_virtual_falcon_read(virtual_falcon);
}

static void unplugged_device_comes_back_and_forces_rise_slowly(void)
{
	open_ok("falcon");
	const int before = allocations;
	for (int round = 1; round <= 3; round++) {
		EVENTUALLY((tick(), output.gain == 1 && truth().force_N.y > 1.5));
		const tac_dvec3 here = input.state.T_base_tool.position;
		const int lost = lines_with(LOST);
		usb_shim_unplug(usb);
		EVENTUALLY(tick() == TAC_DEVICE_DISABLED);
		TEST_ASSERT_EQUAL_DOUBLE(0, output.gain);
		TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(input.state.velocity_m_per_s));
		TEST_ASSERT_DOUBLE_WITHIN(0.02, here.y,
					  input.state.T_base_tool.position.y); // the last pose
		EVENTUALLY((tick(), lines_with(LOST) > lost));
		for (int k = 0; k < 30; k++)
			TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, tick());
		usb_shim_plug(usb);
		EVENTUALLY(tick() != TAC_DEVICE_DISABLED);
		check_force_rises_slowly();
	}
	TEST_ASSERT_EQUAL_INT_MESSAGE(before, allocations, "the real-time thread allocates");
	EVENTUALLY((tick(), output.gain == 1 && truth().force_N.y > 1.5));
	TEST_ASSERT_GREATER_OR_EQUAL_INT(3, lines_with(LOST));
	TEST_ASSERT_EQUAL_INT(lines_with(LOST), lines_with("falcon: back"));
	TEST_ASSERT_TRUE(truth().largest_N < 8.4);
}

static void bus_errors_and_stalls_are_recovered_in_the_same_way(void)
{
	static const tac_virtual_fault faults[] = {TAC_VIRTUAL_FAULT_STALL, TAC_VIRTUAL_FAULT_BUS_ERROR};
	open_ok("falcon:VF000001");
	for (int i = 0; i < 2; i++) {
		EVENTUALLY(tick() == TAC_DEVICE_OK && output.gain == 1);
		tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_OUT, faults[i], 0);
		EVENTUALLY(tick() == TAC_DEVICE_DISABLED);
		EVENTUALLY(tick() != TAC_DEVICE_DISABLED);
		check_force_rises_slowly();
	}
}

static void forces_that_were_switched_off_stay_off_over_a_loss(void)
{
	open_ok("falcon");
	EVENTUALLY((tick(), truth().force_N.y > 1.5));
	tac_device_enable(device, false);
	EVENTUALLY((tick(), truth().motor[0] == 0 && truth().motor[1] == 0 && truth().motor[2] == 0));
	usb_shim_unplug(usb);
	EVENTUALLY(tick() == TAC_DEVICE_DISABLED);
	usb_shim_plug(usb);
	EVENTUALLY(tick() == TAC_DEVICE_OK);
	for (int k = 0; k < 300; k++) {
		tick();
		TEST_ASSERT_EQUAL_INT(0, truth().motor[0] | truth().motor[1] | truth().motor[2]);
	}
	tac_device_enable(device, true);
	EVENTUALLY((tick(), truth().force_N.y > 1.5));
}

static void closing_while_it_is_unplugged_does_not_hang(void)
{
	open_ok("falcon");
	EVENTUALLY(tick() == TAC_DEVICE_OK);
	usb_shim_unplug(usb);
	EVENTUALLY(tick() == TAC_DEVICE_DISABLED);
	tac_device_destroy(&device);
	usb_shim_plug(usb);
	open_ok("falcon"); // the same while it is being homed again
	usb_shim_unplug(usb);
	EVENTUALLY(tick() == TAC_DEVICE_DISABLED);
	usb_shim_plug(usb);
	EVENTUALLY((tick(), lines_with("pull the grip") >= 3));
	tac_device_destroy(&device);
}

static void devices_that_are_not_hot_pluggable_are_not_wrapped(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_hotplug_open("sim:touch", NULL, &device));
	TEST_ASSERT_EQUAL_STRING("sim:touch", device->info.name);
	tac_sim_unplug(device); // the simulated device itself
	tac_device_state state;
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, tac_device_read(device, 0, &state));
	tac_device *none;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_hotplug_open("nothing", NULL, &none));
	TEST_ASSERT_NULL(none);
	usb_shim_unplug(usb);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO,
			  tac_hotplug_open("falcon", &(tac_open_def){.in_process = true}, &none));
	TEST_ASSERT_NULL(none);
	usb_shim_plug(usb);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(unplugged_device_comes_back_and_forces_rise_slowly);
	RUN_TEST(bus_errors_and_stalls_are_recovered_in_the_same_way);
	RUN_TEST(forces_that_were_switched_off_stay_off_over_a_loss);
	RUN_TEST(closing_while_it_is_unplugged_does_not_hang);
	RUN_TEST(devices_that_are_not_hot_pluggable_are_not_wrapped);
	return UNITY_END();
}
