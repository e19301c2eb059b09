// The Falcon's driver over the real libusb against a virtual Falcon in this process
// (tests/support/usb_shim.h). The oracle is the simulated mechanism: the true position of its grip, and the
// force that its motors exert.
//
// A loop that comes late gets no pose and no force from the driver, and a busy machine may make every tick
// late. So an opened device runs on a clock that the ticks move (tests/support/ticked_clock.h); only the
// chaos at the end runs in real time.
#include "devices/falcon/falcon.h"

#include "base/crc32.h"
#include "base/rng.h"
#include "devices/falcon/falcon_kinematics.h"
#include "devices/virtual_falcon.h"
#include "haptic/limit.h"
#include "rt/clock.h"
#include "tests/support/allocations.h"
#include "tests/support/eventually.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "tests/support/ticked_clock.h"
#include "tests/support/usb_shim.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unity.h>

#define MS          TAC_NS_PER_MS
#define IMAGE_BYTES 8492 // as the vendor's
#define MAX_N       8.0
// The force is computed for a pose up to 5 ms old; over 5 mm the same motor values give up to 11.5 % more
// (2,000,000 random positions, directions and steps).
#define POSE_ERROR 1.15

static tac_virtual_falcon_def model;
static tac_virtual_falcon *virtual_falcon;
static tac_virtual_usb *usb;
static bool plugged;
static tac_falcon_def def;
static tac_device *device;
static tac_limit *limit;
static tac_device_state state;
static bool answers_are_awaited; // by every read
static char image_path[64];
static uint8_t image[IMAGE_BYTES];

// Out, in, and to the centre: homes it in 0.3 s.
static const tac_sim_waypoint home_path[] = {
	{.time_ns = 0},
	{.time_ns = 100 * MS, .position_m = {0, 0, 0.03}},
	{.time_ns = 250 * MS, .position_m = {0, 0, -0.03}},
	{.time_ns = 300 * MS, .position_m = {0.01, 0.005, -0.01}, .buttons = 5},
};

static void write_image(const void *bytes, size_t count)
{
	FILE *file = fopen(image_path, "wb");
	TEST_ASSERT_NOT_NULL(file);
	TEST_ASSERT_EQUAL(count, fwrite(bytes, 1, count, file));
	fclose(file);
}

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	tac_rng rng = tac_rng_seed(7, 7);
	for (size_t i = 0; i < sizeof image; i++)
		image[i] = (uint8_t)tac_rng_u32(&rng);
	snprintf(image_path, sizeof image_path, "/tmp/tactus-falcon-%d.bin", (int)getpid());
	write_image(image, sizeof image);
	model = tac_virtual_falcon_def_default();
	model.serial = "F1";
	model.image_bytes = sizeof image;
	model.image_crc = tac_crc32(0, image, sizeof image);
	model.sim.path = home_path;
	model.sim.waypoints = sizeof home_path / sizeof *home_path;
	def = tac_falcon_def_default();
	def.link.firmware = image_path;
	def.link.priority = 0;
	def.home_ns = 20 * TAC_NS_PER_S;
}

static void plug(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_falcon_create(&model, &virtual_falcon));
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_usb_create(tac_virtual_falcon_model(virtual_falcon), &usb));
	usb_shim_plug(usb);
	plugged = true;
}

void tearDown(void)
{
	tac_device_destroy(&device);
	tac_limit_destroy(&limit);
	answers_are_awaited = false;
	use_real_clock();
	if (plugged)
		usb_shim_unplug(usb);
	plugged = false;
	tac_virtual_usb_destroy(&usb);
	tac_virtual_falcon_destroy(&virtual_falcon);
	usb_shim_deny(false);
	unlink(image_path);
	tac_log_set(NULL, NULL);
}

static tac_virtual_falcon_state truth(void)
{
	return tac_virtual_falcon_read(virtual_falcon);
}

// Opening a device has limits that libusb and the kernel keep, so it takes real time.
static void open_ok(void)
{
	use_real_clock();
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_falcon_create(&def, &device), logged);
	TEST_ASSERT_NOT_NULL(device);
	tick_clock(true);
}

static void assert_refused(tac_result expected, const char *text)
{
	use_real_clock();
	TEST_ASSERT_EQUAL_MESSAGE(expected, tac_falcon_create(&def, &device), logged);
	TEST_ASSERT_NULL(device);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, text), logged);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "falcon: "), logged);
}

// One tick of a 1 kHz loop that writes `force`.
static tac_device_status tick(tac_dvec3 force)
{
	const int64_t now_ns = tac_clock_now_ns();
	const tac_device_status status = tac_device_read(device, now_ns, &state);
	const tac_wrench wrench = {.force_N = force};
	tac_device_write(device, now_ns, &wrench);
	tac_clock_sleep_until_ns(now_ns + MS);
	return status;
}

// ---- firmware ----

static void firmware_is_loaded_verified_and_the_device_homed(void)
{
	plug();
	open_ok();
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "pull the grip all the way out"), logged);
	TEST_ASSERT_EQUAL_INT(2, logged_lines); // loading, and the request to home it
	TEST_ASSERT_TRUE(truth().running);
	TEST_ASSERT_EQUAL_UINT64(1, truth().attempts);
	TEST_ASSERT_EQUAL_UINT8(7, truth().homed);
	TEST_ASSERT_EQUAL_STRING("F1", device->info.serial);
	TEST_ASSERT_EQUAL_STRING("falcon", device->info.name);
}

static void firmware_that_runs_is_not_loaded_again(void)
{
	model.loaded = true;
	def.link.firmware = "/no/such/file";
	plug();
	open_ok();
	TEST_ASSERT_EQUAL_UINT64(0, truth().attempts);
	tac_device_destroy(&device);
	logged_lines = 0;
	open_ok(); // and it is still homed
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
}

static void wrong_echoes_are_noticed_and_the_load_repeated(void)
{
	model.wrong_echoes = 2;
	plug();
	open_ok();
	TEST_ASSERT_EQUAL_UINT64(3, truth().attempts);
	TEST_ASSERT_TRUE(truth().running);
}

static void load_that_always_fails_ends_with_one_log_line(void)
{
	model.wrong_echoes = 100;
	plug();
	assert_refused(TAC_ERROR_IO, "expected the firmware echoed at byte 992, found other bytes");
	TEST_ASSERT_EQUAL_UINT64(3, truth().attempts);
	TEST_ASSERT_EQUAL_INT(2, logged_lines); // "loading", and the error
}

static void silent_boot_loader_ends_with_one_log_line(void)
{
	model.mute = true;
	def.link.hello_tries = 4;
	def.link.answer_ns = 20 * MS;
	plug();
	assert_refused(TAC_ERROR_IO, "expected the boot loader to answer, found silence after 4 requests");
}

static void wrong_image_does_not_run(void)
{
	plug();
	image[4000] ^= 1;
	write_image(image, sizeof image);
	assert_refused(TAC_ERROR_IO, "expected the firmware to run, found no answer to packets");
	write_image(image, 100);
	assert_refused(TAC_ERROR_IO, "expected the firmware to run");
}

static void invalid_firmware_file_gets_one_log_line(void)
{
	plug();
	def.link.firmware = "/no/such/file";
	logged_lines = 0;
	assert_refused(TAC_ERROR_UNSUPPORTED, "/no/such/file");
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	def.link.firmware = "/tmp";
	assert_refused(TAC_ERROR_FORMAT, "/tmp");
	def.link.firmware = image_path;
	write_image("", 0);
	assert_refused(TAC_ERROR_FORMAT, "an empty file");
	static const uint8_t huge[TAC_FALCON_IMAGE_MAX + 1];
	write_image(huge, sizeof huge);
	assert_refused(TAC_ERROR_FORMAT, "a longer file");
	def.link.firmware = NULL;
	setenv("TACTUS_FALCON_FIRMWARE", "/no/such/image", 1);
	assert_refused(TAC_ERROR_UNSUPPORTED, "nvent_firmware.bin");
	setenv("TACTUS_FALCON_FIRMWARE", image_path, 1);
	write_image(image, sizeof image);
	open_ok();
	unsetenv("TACTUS_FALCON_FIRMWARE");
}

// ---- homing ----

static int cancel_calls;

static bool cancel_after_20(void *user)
{
	(void)user;
	return ++cancel_calls > 20;
}

static void device_that_is_not_homed_ends_with_one_log_line(void)
{
	model.loaded = true;
	model.sim.waypoints = 1; // the hand does nothing
	def.home_ns = 200 * MS;
	plug();
	assert_refused(TAC_ERROR_IO, "expected all three axes homed");
	def.home_ns = 1000 * TAC_NS_PER_S;
	def.link.cancelled = cancel_after_20;
	cancel_calls = 0;
	assert_refused(TAC_ERROR_IO, "cancelled");
}

static void bus_error_while_homing_ends_with_one_log_line(void)
{
	model.loaded = true;
	model.sim.waypoints = 1;
	plug();
	tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_IN, TAC_VIRTUAL_FAULT_BUS_ERROR, 0);
	assert_refused(TAC_ERROR_IO, "falcon");
}

static void without_a_device_or_permission_there_is_one_log_line(void)
{
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_falcon_create(&def, &device));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	plug();
	usb_shim_deny(true);
	logged_lines = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_falcon_create(&def, &device));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, "70-tactus.rules"));
	usb_shim_deny(false);
	def.link.serial = "another";
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_falcon_create(&def, &device));
	TEST_ASSERT_NOT_NULL(strstr(logged, "another"));
}

static void list_reports_what_is_missing(void)
{
	tac_driver_report report = {0};
	setenv("TACTUS_FALCON_FIRMWARE", "/no/such/image", 1);
	tac_falcon_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NOTHING, report.state);
	plug();
	memset(&report, 0, sizeof report);
	tac_falcon_list(&report);
	TEST_ASSERT_EQUAL_INT(1, report.count);
	TEST_ASSERT_EQUAL_STRING("falcon:F1", report.devices[0].selection);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_FIRMWARE, report.devices[0].state);
	setenv("TACTUS_FALCON_FIRMWARE", image_path, 1);
	memset(&report, 0, sizeof report);
	tac_falcon_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_READY, report.devices[0].state);
	usb_shim_deny(true);
	memset(&report, 0, sizeof report);
	tac_falcon_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_PERMISSION, report.devices[0].state);
	TEST_ASSERT_NOT_NULL(strstr(report.devices[0].reason, "ATTR{idProduct}==\"cb48\""));
	unsetenv("TACTUS_FALCON_FIRMWARE");
}

// ---- running ----

static void pose_buttons_and_lamps_are_those_of_the_mechanism(void)
{
	model.loaded = true;
	plug();
	open_ok();
	// Until the hand, and with it the pose, has reached its last waypoint.
	EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK && state.buttons == 5 &&
		   tac_dvec3_length(state.velocity_m_per_s) < 1e-3 &&
		   fabs(state.T_base_tool.position.x - 0.01) < 2e-3);
	const tac_dvec3 off = tac_dvec3_sub(state.T_base_tool.position, truth().position_m);
	TEST_ASSERT_DOUBLE_WITHIN(2e-4, 0, tac_dvec3_length(off)); // a few counts
	TEST_ASSERT_EQUAL_DOUBLE(1, state.T_base_tool.rotation.w);
	EVENTUALLY((tick(tac_dvec3_zero()), truth().leds == TAC_FALCON_LED_B));
	tac_falcon_set_leds(device, TAC_FALCON_LED_A | TAC_FALCON_LED_C);
	EVENTUALLY((tick(tac_dvec3_zero()), truth().leds == (TAC_FALCON_LED_A | TAC_FALCON_LED_C)));
}

static void forces_arrive_in_their_direction_and_are_limited(void)
{
	model.loaded = true;
	plug();
	open_ok();
	EVENTUALLY(tick(tac_dvec3_make(1, 2, 3)) == TAC_DEVICE_OK);
	TEST_ASSERT_EQUAL_INT(0, truth().largest_motor); // not enabled
	tac_device_enable(device, true);
	const tac_dvec3 wanted[4] = {{1, 2, 0.5}, {0, -3, 0}, {2, 0, 0}, {0, 0, -1}};
	for (int i = 0; i < 4; i++)
		EVENTUALLY((tick(wanted[i]),
			    tac_dvec3_length(tac_dvec3_sub(truth().force_N, wanted[i])) < 0.15));
	EVENTUALLY((tick(tac_dvec3_make(0, 1e6, 0)), truth().force_N.y > 0.95 * MAX_N));
	TEST_ASSERT_TRUE(truth().largest_N < MAX_N * POSE_ERROR);
	TEST_ASSERT_TRUE(truth().largest_motor <= TAC_FALCON_MOTOR_MAX);
}

static bool motors_are_off(void)
{
	return truth().motor[0] == 0 && truth().motor[1] == 0 && truth().motor[2] == 0;
}

static void device_that_nobody_writes_to_drops_its_force(void)
{
	model.loaded = true;
	plug();
	open_ok();
	tac_device_enable(device, true);
	EVENTUALLY((tick(tac_dvec3_make(0, 2, 0)), truth().force_N.y > 1));
	tac_clock_sleep_until_ns(tac_clock_now_ns() + device->info.hold_ns); // the loop has stopped
	EVENTUALLY(motors_are_off());
	EVENTUALLY(tac_falcon_read_counters(device).watchdog > 0);          // it counts after it has written
	EVENTUALLY((tick(tac_dvec3_make(0, 2, 0)), truth().force_N.y > 1)); // the loop continues
	tac_device_enable(device, false);                                   // as from another thread
	EVENTUALLY(motors_are_off());
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED,
			  tac_device_write(device, 0, &(tac_wrench){.force_N = {1, 1, 1}}));
}

static void closing_leaves_no_force_behind(void)
{
	model.loaded = true;
	plug();
	open_ok();
	tac_device_enable(device, true);
	EVENTUALLY((tick(tac_dvec3_make(0, 2, 0)), truth().force_N.y > 1));
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL_INT(0, truth().motor[0] | truth().motor[1] | truth().motor[2]);
}

static void unplugged_device_is_lost_and_can_be_opened_again(void)
{
	model.loaded = true;
	plug();
	open_ok();
	tac_device_enable(device, true);
	EVENTUALLY((tick(tac_dvec3_make(0, 2, 0)), truth().force_N.y > 1));
	usb_shim_unplug(usb);
	EVENTUALLY(tick(tac_dvec3_make(0, 2, 0)) == TAC_DEVICE_LOST);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(state.velocity_m_per_s));
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, tac_device_write(device, 0, &(tac_wrench){.force_N = {1, 1, 1}}));
	tac_device_destroy(&device);
	use_real_clock();
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_falcon_create(&def, &device)); // unplugged
	usb_shim_plug(usb);
	open_ok(); // homes again
	EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK);
}

static void silence_corruption_and_lost_packets_are_survived(void)
{
	static const tac_virtual_fault faults[] = {TAC_VIRTUAL_FAULT_SHORT, TAC_VIRTUAL_FAULT_CORRUPT,
						   TAC_VIRTUAL_FAULT_SILENCE};
	model.loaded = true;
	plug();
	open_ok();
	tac_device_enable(device, true);
	EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK);
	for (int round = 0; round < 12; round++) {
		const tac_virtual_fault fault = faults[round % 3];
		const uint64_t faults_before = tac_virtual_usb_fault_count(usb);
		tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_IN, fault, 30 * MS);
		EVENTUALLY((tick(tac_dvec3_make(0, 1, 0)), tac_virtual_usb_fault_count(usb) > faults_before));
		EVENTUALLY(tick(tac_dvec3_make(0, 1, 0)) == TAC_DEVICE_OK);
		TEST_ASSERT_DOUBLE_WITHIN(5e-3, truth().position_m.y, state.T_base_tool.position.y);
	}
	TEST_ASSERT_TRUE(truth().largest_N < MAX_N * POSE_ERROR);
}

static void stall_and_bus_error_are_a_loss_and_a_new_open_recovers(void)
{
	static const tac_virtual_fault faults[] = {TAC_VIRTUAL_FAULT_STALL, TAC_VIRTUAL_FAULT_BUS_ERROR};
	static const uint8_t endpoints[] = {TAC_FALCON_ENDPOINT_IN, TAC_FALCON_ENDPOINT_OUT};
	model.loaded = true;
	plug();
	for (int i = 0; i < 4; i++) {
		open_ok();
		tac_device_enable(device, true);
		EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK);
		tac_virtual_usb_inject(usb, endpoints[i / 2], faults[i % 2], 0);
		EVENTUALLY(tick(tac_dvec3_make(0, 1, 0)) == TAC_DEVICE_LOST);
		tac_device_destroy(&device);
	}
	open_ok();
}

static void a_device_that_falls_silent_is_lost(void)
{
	model.loaded = true;
	plug();
	open_ok();
	tac_device_enable(device, true);
	EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK);
	EVENTUALLY((tick(tac_dvec3_make(0, 1, 0)), truth().force_N.y > 0.5));
	tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_IN, TAC_VIRTUAL_FAULT_SILENCE, 0);
	EVENTUALLY(tick(tac_dvec3_make(0, 1, 0)) == TAC_DEVICE_LOST);
	EVENTUALLY(motors_are_off()); // the motors still obey
	tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_IN, TAC_VIRTUAL_FAULT_NONE, 0);
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, tick(tac_dvec3_zero())); // the handle stays lost
}

// As by a keeper that locks its memory on a busy machine before it starts.
static void first_read_long_after_opening_is_no_loss(void)
{
	model.loaded = true;
	plug();
	open_ok();
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 600 * MS); // longer than the silence of a lost device
	TEST_ASSERT_NOT_EQUAL(TAC_DEVICE_LOST, tick(tac_dvec3_zero()));
	EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK);
}

// As on a machine that holds up the whole process, with its thread for USB: the device had no time to answer.
static void a_process_that_was_held_up_has_not_lost_its_device(void)
{
	model.loaded = true;
	plug();
	open_ok();
	EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK);
	tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_IN, TAC_VIRTUAL_FAULT_SILENCE, 0);
	for (int i = 0; i < 4; i++) // what was on its way
		tick(tac_dvec3_zero());
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 600 * MS); // longer than the silence of a lost device
	TEST_ASSERT_NOT_EQUAL(TAC_DEVICE_LOST, tick(tac_dvec3_zero()));
	tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_IN, TAC_VIRTUAL_FAULT_NONE, 0);
	EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK);
}

// ---- the closed loop ----

#define WALL_N_PER_M 800.0
#define HAND_DOWN_M  0.03

bool __real_tac_falcon_link_receive(tac_usb *link, tac_falcon_stream *stream, int64_t deadline_ns,
				    tac_falcon_report *out_report);
bool __wrap_tac_falcon_link_receive(tac_usb *link, tac_falcon_stream *stream, int64_t deadline_ns,
				    tac_falcon_report *out_report);

// While the clock stands between two ticks, the threads of USB and of the device take as long as they need.
bool __wrap_tac_falcon_link_receive(tac_usb *link, tac_falcon_stream *stream, int64_t deadline_ns,
				    tac_falcon_report *out_report)
{
	const time_t end_s = eventually_now_s() + EVENTUALLY_S;
	bool received;
	while (!(received = __real_tac_falcon_link_receive(link, stream, deadline_ns, out_report)) &&
	       answers_are_awaited && tac_usb_first_error(link) == TAC_USB_OK && eventually_now_s() < end_s)
		usleep(20);
	return received;
}

// A wall at y = 0 under a hand that pushes below it; every force passes the gate. Returns the largest force
// that left the gate.
static double press_wall(int ticks)
{
	double largest_N = 0;
	int64_t next_ns = tac_clock_now_ns();
	const int before = allocations;
	for (int k = 0; k < ticks; k++) {
		const int64_t now_ns = tac_clock_now_ns();
		tac_limit_input input = {.now_ns = now_ns};
		input.status = tac_device_read(device, now_ns, &input.state);
		const double y = input.state.T_base_tool.position.y;
		input.in_contact = y < 0;
		input.wrench.force_N.y = y < 0 ? -WALL_N_PER_M * y - 2 * input.state.velocity_m_per_s.y : 0;
		const tac_limit_output output = tac_limit_step(limit, &input);
		tac_device_write(device, now_ns, &output.wrench);
		largest_N = fmax(largest_N, output.wrench.force_N.y);
		if (answers_are_awaited)
			TEST_ASSERT_EQUAL(TAC_DEVICE_OK, input.status);
		next_ns += MS;
		tac_clock_sleep_until_ns(next_ns);
	}
	TEST_ASSERT_EQUAL_INT_MESSAGE(before, allocations, "the real-time thread allocates");
	return largest_N;
}

// A loop that keeps its kilohertz exactly, and then one at the machine's own pace: late ticks have less force
// or none there, so that only its limits are asserted.
static void wall_is_rendered_through_libusb_at_a_kilohertz(void)
{
	const char *longer = getenv("TACTUS_FALCON_SECONDS");
	const int ticks = longer ? (int)(1000 * atof(longer)) : test_long() ? 10000 : 2000;
	const tac_sim_waypoint press[] = {
		home_path[0],
		home_path[1],
		home_path[2],
		{.time_ns = 300 * MS, .position_m = {0, 0.01, 0}},
		{.time_ns = 1000 * MS, .position_m = {0, -HAND_DOWN_M, 0}},
	};
	model.sim.path = press;
	model.sim.waypoints = sizeof press / sizeof *press;
	plug();
	open_ok();
	const tac_limit_def limits = tac_limit_def_default(&device->info);
	TEST_ASSERT_EQUAL(TAC_OK, tac_limit_create(&limits, &limit));
	tac_device_enable(device, true);
	EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK); // and leaves a command to answer
	const uint64_t commands = truth().commands;
	answers_are_awaited = true;
	ticks_wait = false;
	const double largest_N = press_wall(ticks);
	const double settled = -truth().position_m.y;
	answers_are_awaited = false;
	// The hand's spring against the wall's; the tolerance covers dry friction and damping.
	const double hand = model.sim.hand.stiffness;
	const double depth = hand * HAND_DOWN_M / (hand + WALL_N_PER_M);
	const double tolerance = model.sim.linear.coulomb / (hand + WALL_N_PER_M) + 3e-4;
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, depth, settled);
	TEST_ASSERT_GREATER_OR_EQUAL_UINT64(commands + (uint64_t)ticks - 1, truth().commands);
	TEST_ASSERT_EQUAL_UINT64(0, tac_limit_count(limit, TAC_LIMIT_STALE));
	TEST_ASSERT_EQUAL_UINT64(0, tac_limit_count(limit, TAC_LIMIT_STALL));
	TEST_ASSERT_TRUE(largest_N <= MAX_N);
	TEST_ASSERT_TRUE(truth().largest_N > 0.8 * WALL_N_PER_M * depth);

	use_real_clock();
	press_wall(300);
	TEST_ASSERT_TRUE(truth().largest_N < MAX_N * POSE_ERROR);
	if (longer)
		printf("%d ticks, settled %.3f mm (springs: %.3f mm)\n", ticks, 1e3 * settled, 1e3 * depth);
}

// ---- chaos ----

static atomic_bool chaos_ends;
static uint64_t chaos_seed;

// Injects every fault but bits flipped towards the device, which USB's own CRC detects.
static void *inject_faults(void *user)
{
	(void)user;
	tac_rng rng = tac_rng_seed(chaos_seed, 9);
	bool is_plugged = true;
	while (!atomic_load(&chaos_ends)) {
		const uint32_t what = tac_rng_below(&rng, 10);
		const uint8_t endpoint =
			tac_rng_below(&rng, 2) ? TAC_FALCON_ENDPOINT_IN : TAC_FALCON_ENDPOINT_OUT;
		const int64_t lasts_ns = (int64_t)tac_rng_below(&rng, 40) * MS + MS;
		if (what < 3)
			tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_IN, TAC_VIRTUAL_FAULT_CORRUPT, 0);
		else if (what < 5)
			tac_virtual_usb_inject(usb, endpoint, TAC_VIRTUAL_FAULT_SHORT, 0);
		else if (what < 7)
			tac_virtual_usb_inject(usb, endpoint, TAC_VIRTUAL_FAULT_SILENCE, lasts_ns);
		else if (what == 7)
			tac_virtual_usb_inject(usb, tac_rng_below(&rng, 2) ? endpoint : 0,
					       TAC_VIRTUAL_FAULT_STALL, 0);
		else if (what == 8)
			tac_virtual_usb_inject(usb, endpoint, TAC_VIRTUAL_FAULT_BUS_ERROR, 0);
		else {
			is_plugged = !is_plugged;
			if (is_plugged)
				usb_shim_plug(usb);
			else
				usb_shim_unplug(usb);
		}
		usleep(5000 + tac_rng_below(&rng, 30000));
	}
	if (!is_plugged)
		usb_shim_plug(usb);
	return NULL;
}

static void random_faults_never_exceed_the_force_limit_and_the_device_recovers(void)
{
	const char *longer = getenv("TACTUS_FALCON_CHAOS");
	const int64_t lasts_ns = longer ? atoll(longer) * TAC_NS_PER_S : 3 * TAC_NS_PER_S;
	chaos_seed = longer ? (uint64_t)tac_clock_now_ns() : 11;
	model.wrong_echoes = 2; // fewer than the attempts of a load
	def.link.answer_ns = 20 * MS;
	def.link.hello_tries = 20;
	def.home_ns = 2 * TAC_NS_PER_S;
	plug();
	pthread_t injector;
	atomic_store(&chaos_ends, false);
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&injector, NULL, inject_faults, NULL));
	const int64_t end_ns = tac_clock_now_ns() + lasts_ns;
	int opened = 0, failed = 0;
	uint64_t ticks = 0;
	while (tac_clock_now_ns() < end_ns) {
		logged_lines = 0;
		if (tac_falcon_create(&def, &device) < 0) {
			TEST_ASSERT_NULL(device);
			TEST_ASSERT_TRUE(logged_lines >= 1 && logged_lines <= 3);
			failed++;
			continue;
		}
		opened++;
		const tac_limit_def limits = tac_limit_def_default(&device->info);
		TEST_ASSERT_EQUAL(TAC_OK, tac_limit_create(&limits, &limit));
		tac_device_enable(device, true);
		tac_limit_input input = {0};
		while (tac_clock_now_ns() < end_ns) {
			input.now_ns = tac_clock_now_ns();
			input.status = tac_device_read(device, input.now_ns, &input.state);
			if (input.status == TAC_DEVICE_LOST)
				break;
			TEST_ASSERT_TRUE(tac_dpose_finite(input.state.T_base_tool));
			input.wrench.force_N = tac_dvec3_make(0, 100, -50); // above its maximum
			input.in_contact = true;
			const tac_limit_output output = tac_limit_step(limit, &input);
			tac_device_write(device, input.now_ns, &output.wrench);
			tac_clock_sleep_until_ns(input.now_ns + MS);
			ticks++;
		}
		tac_limit_destroy(&limit);
		tac_device_destroy(&device);
	}
	atomic_store(&chaos_ends, true);
	pthread_join(injector, NULL);
	TEST_ASSERT_TRUE(truth().largest_motor <= TAC_FALCON_MOTOR_MAX);
	TEST_ASSERT_TRUE_MESSAGE(truth().largest_N < MAX_N * POSE_ERROR, "a force above the limit");
	tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_IN, TAC_VIRTUAL_FAULT_NONE, 0);
	tac_virtual_usb_inject(usb, TAC_FALCON_ENDPOINT_OUT, TAC_VIRTUAL_FAULT_NONE, 0);
	tac_virtual_usb_inject(usb, 0, TAC_VIRTUAL_FAULT_NONE, 0);
	def.link = tac_falcon_def_default().link;
	def.link.firmware = image_path;
	def.link.priority = 0;
	def.home_ns = 20 * TAC_NS_PER_S;
	open_ok(); // without faults it works again
	EVENTUALLY(tick(tac_dvec3_zero()) == TAC_DEVICE_OK);
	if (longer)
		printf("chaos: %d opens, %d refusals, %llu ticks, largest force %.3f N\n", opened, failed,
		       (unsigned long long)ticks, truth().largest_N);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(firmware_is_loaded_verified_and_the_device_homed);
	RUN_TEST(firmware_that_runs_is_not_loaded_again);
	RUN_TEST(wrong_echoes_are_noticed_and_the_load_repeated);
	RUN_TEST(load_that_always_fails_ends_with_one_log_line);
	RUN_TEST(silent_boot_loader_ends_with_one_log_line);
	RUN_TEST(wrong_image_does_not_run);
	RUN_TEST(invalid_firmware_file_gets_one_log_line);
	RUN_TEST(device_that_is_not_homed_ends_with_one_log_line);
	RUN_TEST(bus_error_while_homing_ends_with_one_log_line);
	RUN_TEST(without_a_device_or_permission_there_is_one_log_line);
	RUN_TEST(list_reports_what_is_missing);
	RUN_TEST(pose_buttons_and_lamps_are_those_of_the_mechanism);
	RUN_TEST(forces_arrive_in_their_direction_and_are_limited);
	RUN_TEST(device_that_nobody_writes_to_drops_its_force);
	RUN_TEST(closing_leaves_no_force_behind);
	RUN_TEST(unplugged_device_is_lost_and_can_be_opened_again);
	RUN_TEST(silence_corruption_and_lost_packets_are_survived);
	RUN_TEST(stall_and_bus_error_are_a_loss_and_a_new_open_recovers);
	RUN_TEST(a_device_that_falls_silent_is_lost);
	RUN_TEST(first_read_long_after_opening_is_no_loss);
	RUN_TEST(a_process_that_was_held_up_has_not_lost_its_device);
	RUN_TEST(wall_is_rendered_through_libusb_at_a_kilohertz);
	RUN_TEST(random_faults_never_exceed_the_force_limit_and_the_device_recovers);
	return UNITY_END();
}
