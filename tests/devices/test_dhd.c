// The driver for Force Dimension against a stand-in for its library (tests/fake_dhd.c).
#include "devices/dhd.h"

#include "rt/clock.h"
#include "tests/eventually.h"
#include "tests/fake_dhd.h"
#include "tests/fake_library.h"
#include "tests/logged.h"

#include <stdlib.h>
#include <string.h>
#include <unity.h>

static fake_dhd_state *fake;
static tac_device *device;
static tac_driver_report report;
static tac_device_state state;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	setenv("TACTUS_DHD_LIBRARY", TACTUS_FAKE_DHD, 1);
	*fake = (fake_dhd_state){
		.devices = 2,
		.type = 35,
		.error_to_give = 2,
		.position = {0.01, 0.02, 0.03},
		.frame = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	};
	memset(&report, 0, sizeof report);
}

void tearDown(void)
{
	tac_device_destroy(&device);
	tac_log_set(NULL, NULL);
}

static tac_result open_device(const char *which)
{
	static const tac_open_def def;
	return tac_dhd_open(which, &def, &device);
}

static void refused(const char *which, tac_result expected, const char *says)
{
	logged_lines = 0;
	TEST_ASSERT_EQUAL(expected, open_device(which));
	TEST_ASSERT_NULL(device);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, says), logged);
}

static bool read_is(tac_device_status expected)
{
	return tac_device_read(device, tac_clock_now_ns(), &state) == expected;
}

static void write_force(double x, double y, double z)
{
	const tac_wrench wrench = {.force_N = {x, y, z}};
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_write(device, tac_clock_now_ns(), &wrench));
}

static void library_that_is_missing_or_broken_is_said(void)
{
	setenv("TACTUS_DHD_LIBRARY", "/no/such/libdhd.so", 1);
	tac_dhd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_LIBRARY, report.state);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(report.reason, "TACTUS_DHD_LIBRARY"), report.reason);
	refused("0", TAC_ERROR_UNSUPPORTED, "/no/such/libdhd.so");
	setenv("TACTUS_DHD_LIBRARY", "/proc/self/maps", 1);
	tac_dhd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	refused("0", TAC_ERROR_UNSUPPORTED, "/proc/self/maps");
	setenv("TACTUS_DHD_LIBRARY", "libc.so.6", 1);
	tac_dhd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	refused("0", TAC_ERROR_UNSUPPORTED, "expected the function dhdGetDeviceCount in libc.so.6");
	unsetenv("TACTUS_DHD_LIBRARY");
	tac_dhd_list(&report); // whatever is installed on this machine
	TEST_ASSERT_TRUE(report.count > 0 || report.reason[0]);
}

static void devices_are_listed_and_let_go(void)
{
	tac_dhd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_READY, report.state);
	TEST_ASSERT_EQUAL_INT(2, report.count);
	TEST_ASSERT_EQUAL_STRING("dhd:0", report.devices[0].select);
	TEST_ASSERT_EQUAL_STRING("omega.7", report.devices[0].what);
	TEST_ASSERT_EQUAL_STRING("1235", report.devices[1].serial);
	TEST_ASSERT_EQUAL_INT(0, fake->open);
	TEST_ASSERT_FALSE(fake->forces_on);
}

static void list_says_what_keeps_a_device_away(void)
{
	strcpy(fake->failing, "dhdOpenID");
	fake->error_to_give = 20;
	tac_dhd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_BUSY, report.devices[0].state);
	TEST_ASSERT_NOT_NULL(strstr(report.devices[0].reason, "in use"));
	memset(&report, 0, sizeof report);
	fake->error_to_give = 4;
	tac_dhd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_PERMISSION, report.devices[0].state);
	TEST_ASSERT_NOT_NULL(
		strstr(report.devices[0].reason, "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"1451\""));
	memset(&report, 0, sizeof report);
	fake->failing[0] = '\0';
	fake->devices = 0;
	tac_dhd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NOTHING, report.state);
	TEST_ASSERT_NOT_NULL(strstr(report.reason, "plugged in"));
	memset(&report, 0, sizeof report);
	strcpy(fake->failing, "dhdGetDeviceCount");
	tac_dhd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_PERMISSION, report.state);
	memset(&report, 0, sizeof report);
	fake->failing[0] = '\0';
	fake->devices = 1000;
	tac_dhd_list(&report);
	TEST_ASSERT_EQUAL_INT(TAC_DRIVER_DEVICES_MAX, report.count);
}

static void names_that_are_no_device_get_one_line(void)
{
	refused("x", TAC_ERROR_ARGUMENT, "found 'x'");
	refused("-1", TAC_ERROR_ARGUMENT, "found '-1'");
	refused("0x", TAC_ERROR_ARGUMENT, "found '0x'");
	refused("99999999999999999999", TAC_ERROR_ARGUMENT, "found '9999");
	refused("7", TAC_ERROR_IO, "expected device 7, found 2 connected");
	strcpy(fake->failing, "dhdOpenID");
	refused("0", TAC_ERROR_IO, "some error");
	TEST_ASSERT_EQUAL_INT(0, fake->open);
}

static void device_is_described_and_its_own_limits_are_set(void)
{
	fake->type = 104;
	fake->active_wrist = true;
	TEST_ASSERT_EQUAL(TAC_OK, open_device(""));
	TEST_ASSERT_EQUAL_STRING("dhd:0", device->info.name);
	TEST_ASSERT_EQUAL_STRING("1234", device->info.serial);
	TEST_ASSERT_EQUAL_DOUBLE(12, device->info.max_force_N);
	TEST_ASSERT_EQUAL_DOUBLE(0.2, device->info.max_torque_Nm);
	TEST_ASSERT_EQUAL_INT(3, device->info.torque_axes);
	TEST_ASSERT_EQUAL_DOUBLE(12, FAKE(double, fake->max_force));
	TEST_ASSERT_EQUAL_INT(160, FAKE(int, fake->watchdog)); // of 125 us: 20 ms
	TEST_ASSERT_EQUAL_INT(1, FAKE(int, fake->gravity));
	TEST_ASSERT_FALSE(FAKE(int, fake->forces_on));
}

static void device_that_nobody_knows_gets_the_least(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("1"));
	TEST_ASSERT_EQUAL_DOUBLE(8, device->info.max_force_N);
	TEST_ASSERT_EQUAL_INT(0, device->info.rotation_axes);
}

static void missing_watchdog_is_partial(void)
{
	strcpy(fake->failing, "dhdSetWatchdog");
	TEST_ASSERT_EQUAL(TAC_PARTIAL, open_device("0"));
	TEST_ASSERT_NOT_NULL(strstr(logged, "watchdog"));
	TEST_ASSERT_NOT_NULL(device);
}

// Its x is towards the user, y to the right, z up; ours x right, y up, z towards the user.
static void frames_are_turned(void)
{
	fake_lock(true);
	const double quarter_about_its_x[3][3] = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};
	memcpy(fake->frame, quarter_about_its_x, sizeof fake->frame);
	fake->velocity[0] = 1; // towards the user
	fake->turning[2] = 2;  // about up
	fake->buttons = 5;
	fake_lock(false);
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0"));
	EVENTUALLY(read_is(TAC_DEVICE_OK));
	TEST_ASSERT_EQUAL_DOUBLE(0.02, state.T_base_tool.position.x);
	TEST_ASSERT_EQUAL_DOUBLE(0.03, state.T_base_tool.position.y);
	TEST_ASSERT_EQUAL_DOUBLE(0.01, state.T_base_tool.position.z);
	TEST_ASSERT_EQUAL_DOUBLE(1, state.velocity_m_per_s.z);
	TEST_ASSERT_EQUAL_DOUBLE(2, state.angular_velocity_rad_per_s.y);
	TEST_ASSERT_EQUAL_UINT32(5, state.buttons);
	// A quarter about its x, our z: our x goes to our y.
	const tac_dvec3 turned = tac_dpose_apply_vector(state.T_base_tool, tac_dvec3_make(1, 0, 0));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, turned.y);
	tac_device_enable(device, true);
	EVENTUALLY((write_force(1, 2, 3), FAKE(double, fake->told[0]) == 3));
	TEST_ASSERT_EQUAL_DOUBLE(1, FAKE(double, fake->told[1]));
	TEST_ASSERT_EQUAL_DOUBLE(2, FAKE(double, fake->told[2]));
	TEST_ASSERT_TRUE(FAKE(int, fake->forces_on));
}

static void forces_are_shortened_and_end_with_the_writer(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0"));
	const tac_wrench wrench = {.force_N = {0, 1, 0}};
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, tac_device_write(device, 0, &wrench));
	tac_device_enable(device, true);
	EVENTUALLY((write_force(0, 1e9, 0), FAKE(double, fake->told[2]) > 11.9));
	EVENTUALLY(FAKE(double, fake->told[2]) == 0); // 20 ms of silence
	EVENTUALLY((write_force(0, 5, 0), FAKE(double, fake->told[2]) == 5));
	tac_device_enable(device, false);
	EVENTUALLY(FAKE(double, fake->told[2]) == 0);
	EVENTUALLY(!FAKE(int, fake->forces_on));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 144, FAKE(double, fake->largest_squared));
}

static void time_guard_is_stale_and_unplugging_is_lost(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0"));
	EVENTUALLY(read_is(TAC_DEVICE_OK));
	fake_lock(true);
	fake->time_guard = 1;
	fake_lock(false);
	EVENTUALLY(read_is(TAC_DEVICE_STALE) && read_is(TAC_DEVICE_STALE));
	fake_lock(true);
	fake->unplugged = true;
	fake->velocity[0] = 3;
	fake_lock(false);
	EVENTUALLY(read_is(TAC_DEVICE_LOST));
	TEST_ASSERT_EQUAL_DOUBLE(0.02, state.T_base_tool.position.x); // the last one known
	TEST_ASSERT_EQUAL_DOUBLE(0, state.velocity_m_per_s.z);
	const tac_wrench wrench = {.force_N = {0, 1, 0}};
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, tac_device_write(device, 0, &wrench));
	fake_lock(true);
	fake->unplugged = false; // it does not come back on this handle
	fake_lock(false);
	TEST_ASSERT_TRUE(read_is(TAC_DEVICE_LOST));
}

static void a_pose_that_is_no_number_is_not_passed_on(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0"));
	EVENTUALLY(read_is(TAC_DEVICE_OK));
	fake_lock(true);
	fake->position[1] = 0.0 / (fake->position[1] - fake->position[1]);
	fake_lock(false);
	EVENTUALLY(read_is(TAC_DEVICE_STALE) && read_is(TAC_DEVICE_STALE));
	TEST_ASSERT_EQUAL_DOUBLE(0.02, state.T_base_tool.position.x);
}

static void every_function_that_fails_ends_safely(void)
{
	static const char *const names[] = {
		"dhdEnableForce",           "dhdGetPositionAndOrientationFrame",   "dhdGetLinearVelocity",
		"dhdGetAngularVelocityRad", "dhdSetForceAndTorqueAndGripperForce",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		TEST_ASSERT_EQUAL(TAC_OK, open_device("0"));
		tac_device_enable(device, true);
		EVENTUALLY(FAKE(int, fake->forces_on));
		fake_lock(true);
		strcpy(fake->failing, names[i]);
		fake_lock(false);
		tac_device_enable(device, false); // so that dhdEnableForce is called, too
		EVENTUALLY(read_is(TAC_DEVICE_LOST));
		tac_device_destroy(&device);
		TEST_ASSERT_TRUE(fake->stopped);
		TEST_ASSERT_EQUAL_INT(0, fake->open);
		fake->failing[0] = '\0';
		fake->stopped = false;
	}
}

// It takes forces, but says nothing any more: the last thing that it is told is zero.
static void device_that_falls_silent_is_left_without_force(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0"));
	tac_device_enable(device, true);
	EVENTUALLY((write_force(1, 2, 3), FAKE(double, fake->told[0]) == 3));
	fake_lock(true);
	strcpy(fake->failing, "dhdGetLinearVelocity");
	fake_lock(false);
	const tac_wrench wrench = {.force_N = {1, 2, 3}};
	EVENTUALLY(tac_device_write(device, 0, &wrench) == TAC_DEVICE_LOST);
	TEST_ASSERT_EQUAL_DOUBLE(0, FAKE(double, fake->told[0]));
	TEST_ASSERT_FALSE(FAKE(int, fake->forces_on));
}

static void closing_leaves_no_force_behind(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0"));
	tac_device_enable(device, true);
	EVENTUALLY((write_force(1, 2, 3), FAKE(double, fake->told[0]) == 3));
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL_DOUBLE(0, fake->told[0]);
	TEST_ASSERT_FALSE(fake->forces_on);
	TEST_ASSERT_TRUE(fake->stopped);
	TEST_ASSERT_EQUAL_INT(0, fake->open);
}

int main(void)
{
	fake = fake_load(TACTUS_FAKE_DHD, "fake_dhd");
	if (!fake)
		return 1;
	UNITY_BEGIN();
	RUN_TEST(library_that_is_missing_or_broken_is_said);
	RUN_TEST(devices_are_listed_and_let_go);
	RUN_TEST(list_says_what_keeps_a_device_away);
	RUN_TEST(names_that_are_no_device_get_one_line);
	RUN_TEST(device_is_described_and_its_own_limits_are_set);
	RUN_TEST(device_that_nobody_knows_gets_the_least);
	RUN_TEST(missing_watchdog_is_partial);
	RUN_TEST(frames_are_turned);
	RUN_TEST(forces_are_shortened_and_end_with_the_writer);
	RUN_TEST(time_guard_is_stale_and_unplugging_is_lost);
	RUN_TEST(a_pose_that_is_no_number_is_not_passed_on);
	RUN_TEST(every_function_that_fails_ends_safely);
	RUN_TEST(device_that_falls_silent_is_left_without_force);
	RUN_TEST(closing_leaves_no_force_behind);
	return UNITY_END();
}
