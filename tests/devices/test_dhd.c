// The driver for Force Dimension against a stand-in for its library (tests/support/fake_dhd.c).
#include "tests/support/eventually.h"
#include "tests/support/fake_dhd.h"
#include "tests/support/vendor_fixture.h"

static fake_dhd_state *fake;

void setUp(void)
{
	set_up_log();
	setenv("TACTUS_DHD_LIBRARY", TACTUS_FAKE_DHD, 1);
	*fake = (fake_dhd_state){
		.devices = 2,
		.type = 35,
		.error_code = 2,
		.position = {0.01, 0.02, 0.03},
		.frame = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	};
}

void tearDown(void)
{
	tac_device_destroy(&device);
	tac_log_set(NULL, NULL);
}

static void missing_or_broken_library_is_reported(void)
{
	setenv("TACTUS_DHD_LIBRARY", "/no/such/libdhd.so", 1);
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_LIBRARY, report.state);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(report.reason, "TACTUS_DHD_LIBRARY"), report.reason);
	assert_refused("0", TAC_ERROR_UNSUPPORTED, "/no/such/libdhd.so");
	setenv("TACTUS_DHD_LIBRARY", "/proc/self/maps", 1);
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	assert_refused("0", TAC_ERROR_UNSUPPORTED, "/proc/self/maps");
	setenv("TACTUS_DHD_LIBRARY", "libc.so.6", 1);
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	assert_refused("0", TAC_ERROR_UNSUPPORTED, "expected the function dhdGetDeviceCount in /");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "/libc.so.6, found none"), logged);
	unsetenv("TACTUS_DHD_LIBRARY");
	list_devices(); // the result depends on what this machine has installed
	TEST_ASSERT_TRUE(report.count > 0 || report.reason[0]);
}

static void devices_are_listed_and_closed_again(void)
{
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_READY, report.state);
	TEST_ASSERT_EQUAL_INT(2, report.count);
	TEST_ASSERT_EQUAL_STRING("dhd:0", report.devices[0].selection);
	TEST_ASSERT_EQUAL_STRING("omega.7", report.devices[0].description);
	TEST_ASSERT_EQUAL_STRING("1235", report.devices[1].serial);
	TEST_ASSERT_EQUAL_INT(0, fake->open);
	TEST_ASSERT_FALSE(fake->forces_on);
}

static void list_reports_why_a_device_cannot_be_used(void)
{
	strcpy(fake->failing, "dhdOpenID");
	fake->error_code = 20;
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_BUSY, report.devices[0].state);
	TEST_ASSERT_NOT_NULL(strstr(report.devices[0].reason, "in use"));
	fake->error_code = 4;
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_PERMISSION, report.devices[0].state);
	TEST_ASSERT_NOT_NULL(
		strstr(report.devices[0].reason, "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"1451\""));
	fake->failing[0] = '\0';
	fake->devices = 0;
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_NOTHING, report.state);
	TEST_ASSERT_NOT_NULL(strstr(report.reason, "plugged in"));
	strcpy(fake->failing, "dhdGetDeviceCount");
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_PERMISSION, report.state);
	fake->failing[0] = '\0';
	fake->devices = 1000;
	list_devices();
	TEST_ASSERT_EQUAL_INT(TAC_DRIVER_DEVICES_MAX, report.count);
}

static void invalid_device_names_get_one_log_line(void)
{
	assert_refused("x", TAC_ERROR_ARGUMENT, "found 'x'");
	assert_refused("-1", TAC_ERROR_ARGUMENT, "found '-1'");
	assert_refused("0x", TAC_ERROR_ARGUMENT, "found '0x'");
	assert_refused("99999999999999999999", TAC_ERROR_ARGUMENT, "found '9999");
	assert_refused("7", TAC_ERROR_IO, "expected device 7, found 2 connected");
	strcpy(fake->failing, "dhdOpenID");
	assert_refused("0", TAC_ERROR_IO, "some error");
	TEST_ASSERT_EQUAL_INT(0, fake->open);
}

static void device_is_described_and_its_own_limits_are_set(void)
{
	fake->type = 104;
	fake->active_wrist = true;
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
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

static void unknown_device_gets_the_lowest_limits(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("1", &device));
	TEST_ASSERT_EQUAL_DOUBLE(8, device->info.max_force_N);
	TEST_ASSERT_EQUAL_INT(0, device->info.rotation_axes);
}

static void missing_watchdog_is_partial(void)
{
	strcpy(fake->failing, "dhdSetWatchdog");
	TEST_ASSERT_EQUAL(TAC_PARTIAL, open_device("0", &device));
	TEST_ASSERT_NOT_NULL(strstr(logged, "watchdog"));
	TEST_ASSERT_NOT_NULL(device);
}

// Its x is towards the user, y to the right, z up; ours x right, y up, z towards the user.
static void frames_are_converted(void)
{
	fake_lock(true);
	const double quarter_turn_about_x[3][3] = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};
	memcpy(fake->frame, quarter_turn_about_x, sizeof fake->frame);
	fake->velocity[0] = 1;         // towards the user
	fake->angular_velocity[2] = 2; // about up
	fake->buttons = 5;
	fake_lock(false);
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0", &device));
	EVENTUALLY(read_is(device, TAC_DEVICE_OK));
	TEST_ASSERT_EQUAL_DOUBLE(0.02, state.T_base_tool.position.x);
	TEST_ASSERT_EQUAL_DOUBLE(0.03, state.T_base_tool.position.y);
	TEST_ASSERT_EQUAL_DOUBLE(0.01, state.T_base_tool.position.z);
	TEST_ASSERT_EQUAL_DOUBLE(1, state.velocity_m_per_s.z);
	TEST_ASSERT_EQUAL_DOUBLE(2, state.angular_velocity_rad_per_s.y);
	TEST_ASSERT_EQUAL_UINT32(5, state.buttons);
	// A quarter turn about its x, which is our z, takes our x to our y.
	const tac_dvec3 rotated = tac_dpose_apply_vector(state.T_base_tool, tac_dvec3_make(1, 0, 0));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, rotated.y);
	tac_device_enable(device, true);
	EVENTUALLY(write_accepted(device, 1, 2, 3) && FAKE(double, fake->commanded[0]) == 3);
	TEST_ASSERT_EQUAL_DOUBLE(1, FAKE(double, fake->commanded[1]));
	TEST_ASSERT_EQUAL_DOUBLE(2, FAKE(double, fake->commanded[2]));
	TEST_ASSERT_TRUE(FAKE(int, fake->forces_on));
}

static void forces_are_limited_and_end_when_nobody_writes(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0", &device));
	const tac_wrench wrench = {.force_N = {0, 1, 0}};
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, tac_device_write(device, 0, &wrench));
	tac_device_enable(device, true);
	EVENTUALLY(write_accepted(device, 0, 1e9, 0) && FAKE(double, fake->commanded[2]) > 11.9);
	EVENTUALLY(FAKE(double, fake->commanded[2]) == 0); // 20 ms of silence
	EVENTUALLY(write_accepted(device, 0, 5, 0) && FAKE(double, fake->commanded[2]) == 5);
	tac_device_enable(device, false);
	EVENTUALLY(FAKE(double, fake->commanded[2]) == 0);
	EVENTUALLY(!FAKE(int, fake->forces_on));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 144, FAKE(double, fake->largest_squared));
}

static void the_gripper_is_sensed_and_forced(void)
{
	fake->gripper = fake->active_gripper = true;
	fake->gap = 0.012;
	fake->gap_velocity = -0.05;
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0", &device));
	TEST_ASSERT_EQUAL_DOUBLE(8, device->info.max_gripper_N);
	TEST_ASSERT_EQUAL_DOUBLE(8, FAKE(double, fake->max_gripper));
	TEST_ASSERT_TRUE(device->info.gripper_max_m > 0.012);
	EVENTUALLY(read_is(device, TAC_DEVICE_OK));
	TEST_ASSERT_EQUAL_DOUBLE(0.012, state.gripper_m);
	TEST_ASSERT_EQUAL_DOUBLE(-0.05, state.gripper_m_per_s);
	tac_device_enable(device, true);
	tac_device_set_gripper(device, 3);
	EVENTUALLY(write_accepted(device, 1, 0, 0) && FAKE(double, fake->commanded[6]) == 3);
	tac_device_set_gripper(device, -1e9);
	EVENTUALLY(write_accepted(device, 1, 0, 0) && FAKE(double, fake->commanded[6]) == -8);
	EVENTUALLY(FAKE(double, fake->commanded[6]) == 0); // 20 ms of silence
	fake_lock(true);
	strcpy(fake->failing, "dhdGetGripperGap");
	fake_lock(false);
	EVENTUALLY(read_is(device, TAC_DEVICE_LOST));
	TEST_ASSERT_EQUAL_DOUBLE(0.012, state.gripper_m);
	TEST_ASSERT_EQUAL_DOUBLE(0, state.gripper_m_per_s);
}

static void a_passive_gripper_gets_no_force(void)
{
	fake->gripper = true;
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0", &device));
	TEST_ASSERT_TRUE(device->info.gripper_max_m > 0);
	TEST_ASSERT_EQUAL_DOUBLE(0, device->info.max_gripper_N);
	tac_device_enable(device, true);
	tac_device_set_gripper(device, 3);
	EVENTUALLY(write_accepted(device, 1, 0, 0) && FAKE(double, fake->commanded[1]) == 1);
	TEST_ASSERT_EQUAL_DOUBLE(0, FAKE(double, fake->commanded[6]));
}

static void time_guard_is_stale_and_unplugging_is_lost(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0", &device));
	EVENTUALLY(read_is(device, TAC_DEVICE_OK));
	fake_lock(true);
	fake->time_guard = 1;
	fake_lock(false);
	EVENTUALLY(read_is(device, TAC_DEVICE_STALE) && read_is(device, TAC_DEVICE_STALE));
	fake_lock(true);
	fake->unplugged = true;
	fake->velocity[0] = 3;
	fake_lock(false);
	EVENTUALLY(read_is(device, TAC_DEVICE_LOST));
	TEST_ASSERT_EQUAL_DOUBLE(0.02, state.T_base_tool.position.x); // the last known pose
	TEST_ASSERT_EQUAL_DOUBLE(0, state.velocity_m_per_s.z);
	const tac_wrench wrench = {.force_N = {0, 1, 0}};
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, tac_device_write(device, 0, &wrench));
	fake_lock(true);
	fake->unplugged = false; // the handle stays lost
	fake_lock(false);
	TEST_ASSERT_TRUE(read_is(device, TAC_DEVICE_LOST));
}

static void pose_that_is_not_finite_is_dropped(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0", &device));
	EVENTUALLY(read_is(device, TAC_DEVICE_OK));
	fake_lock(true);
	fake->position[1] = 0.0 / (fake->position[1] - fake->position[1]);
	fake_lock(false);
	EVENTUALLY(read_is(device, TAC_DEVICE_STALE) && read_is(device, TAC_DEVICE_STALE));
	TEST_ASSERT_EQUAL_DOUBLE(0.02, state.T_base_tool.position.x);
}

static void every_function_that_fails_ends_safely(void)
{
	static const char *const names[] = {
		"dhdEnableForce",           "dhdGetPositionAndOrientationFrame",   "dhdGetLinearVelocity",
		"dhdGetAngularVelocityRad", "dhdSetForceAndTorqueAndGripperForce",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		TEST_ASSERT_EQUAL(TAC_OK, open_device("0", &device));
		tac_device_enable(device, true);
		EVENTUALLY(FAKE(int, fake->forces_on));
		fake_lock(true);
		strcpy(fake->failing, names[i]);
		fake_lock(false);
		tac_device_enable(device, false); // calls dhdEnableForce, too
		EVENTUALLY(read_is(device, TAC_DEVICE_LOST));
		tac_device_destroy(&device);
		TEST_ASSERT_TRUE(fake->stopped);
		TEST_ASSERT_EQUAL_INT(0, fake->open);
		fake->failing[0] = '\0';
		fake->stopped = false;
	}
}

// The device still takes forces but no longer answers: its last command is zero.
static void device_that_falls_silent_is_left_without_force(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0", &device));
	tac_device_enable(device, true);
	EVENTUALLY(write_accepted(device, 1, 2, 3) && FAKE(double, fake->commanded[0]) == 3);
	fake_lock(true);
	strcpy(fake->failing, "dhdGetLinearVelocity");
	fake_lock(false);
	const tac_wrench wrench = {.force_N = {1, 2, 3}};
	EVENTUALLY(tac_device_write(device, 0, &wrench) == TAC_DEVICE_LOST);
	TEST_ASSERT_EQUAL_DOUBLE(0, FAKE(double, fake->commanded[0]));
	TEST_ASSERT_FALSE(FAKE(int, fake->forces_on));
}

static void closing_leaves_no_force_behind(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("0", &device));
	tac_device_enable(device, true);
	EVENTUALLY(write_accepted(device, 1, 2, 3) && FAKE(double, fake->commanded[0]) == 3);
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL_DOUBLE(0, fake->commanded[0]);
	TEST_ASSERT_FALSE(fake->forces_on);
	TEST_ASSERT_TRUE(fake->stopped);
	TEST_ASSERT_EQUAL_INT(0, fake->open);
}

int main(void)
{
	fake = load_fake("dhd", TACTUS_FAKE_DHD);
	if (!fake)
		return 1;
	UNITY_BEGIN();
	RUN_TEST(missing_or_broken_library_is_reported);
	RUN_TEST(devices_are_listed_and_closed_again);
	RUN_TEST(list_reports_why_a_device_cannot_be_used);
	RUN_TEST(invalid_device_names_get_one_log_line);
	RUN_TEST(device_is_described_and_its_own_limits_are_set);
	RUN_TEST(unknown_device_gets_the_lowest_limits);
	RUN_TEST(missing_watchdog_is_partial);
	RUN_TEST(frames_are_converted);
	RUN_TEST(forces_are_limited_and_end_when_nobody_writes);
	RUN_TEST(the_gripper_is_sensed_and_forced);
	RUN_TEST(a_passive_gripper_gets_no_force);
	RUN_TEST(time_guard_is_stale_and_unplugging_is_lost);
	RUN_TEST(pose_that_is_not_finite_is_dropped);
	RUN_TEST(every_function_that_fails_ends_safely);
	RUN_TEST(device_that_falls_silent_is_left_without_force);
	RUN_TEST(closing_leaves_no_force_behind);
	return UNITY_END();
}
