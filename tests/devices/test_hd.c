// The driver for 3D Systems' devices against a stand-in for its library (tests/support/fake_hd.c).
#include "tests/support/eventually.h"
#include "tests/support/fake_hd.h"
#include "tests/support/vendor_fixture.h"

static fake_hd_state *fake;
static tac_device *second;

void setUp(void)
{
	set_up_log();
	setenv("TACTUS_HD_LIBRARY", TACTUS_FAKE_HD, 1);
	*fake = (fake_hd_state){.connected = true, .output_dof = 3, .calibration = 0x5000};
	// By columns: 10, 20, 30 mm, and a quarter turn about y, which takes x to -z.
	const double transform[16] = {0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 10, 20, 30, 1};
	for (int i = 0; i < FAKE_HD_DEVICES; i++)
		memcpy(fake->devices[i].transform, transform, sizeof transform);
}

void tearDown(void)
{
	tac_device_destroy(&second);
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, fake->misuse,
				      "the library was called in a way that its manual forbids");
	TEST_ASSERT_EQUAL_INT(0, fake->schedules);
	TEST_ASSERT_FALSE(fake->running);
	TEST_ASSERT_FALSE(fake->devices[0].open || fake->devices[1].open);
	TEST_ASSERT_FALSE(fake->devices[0].forces_on || fake->devices[1].forces_on);
	tac_log_set(NULL, NULL);
}

static void set_frame_error(unsigned error)
{
	fake_lock(true);
	fake->frame_error = error;
	fake_lock(false);
}

static void missing_or_broken_library_is_reported(void)
{
	setenv("TACTUS_HD_LIBRARY", "/no/such/libHD.so", 1);
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_LIBRARY, report.state);
	assert_refused("", TAC_ERROR_UNSUPPORTED, "TACTUS_HD_LIBRARY");
	setenv("TACTUS_HD_LIBRARY", "libc.so.6", 1);
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	assert_refused("", TAC_ERROR_UNSUPPORTED, "expected the function hdInitDevice");
}

static void default_device_is_listed_and_closed_again(void)
{
	list_devices();
	TEST_ASSERT_EQUAL_INT(1, report.count);
	TEST_ASSERT_EQUAL_STRING("hd", report.devices[0].selection);
	TEST_ASSERT_EQUAL_STRING("Touch", report.devices[0].description);
	TEST_ASSERT_EQUAL_STRING("TS-0042", report.devices[0].serial);
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	list_devices(); // does not disturb the open device
	TEST_ASSERT_EQUAL(TAC_DRIVER_BUSY, report.devices[0].state);
}

static void list_reports_why_the_device_cannot_be_used(void)
{
	fake->connected = false;
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_NOTHING, report.state);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(report.reason, "not connected"), report.reason);
	fake->init_error = 0x0302;
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(report.reason, "communication"), report.reason);
	fake->init_error = 0x0301;
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_BUSY, report.state);
	fake->init_error = 0x7777;
	list_devices();
	TEST_ASSERT_NOT_NULL(strstr(report.reason, "unknown meaning"));
}

static void failures_to_open_get_one_log_line(void)
{
	assert_refused("Right", TAC_ERROR_IO, "expected the device Right, found: device fault");
	fake->connected = false;
	assert_refused("", TAC_ERROR_IO, "by default");
	fake->connected = true;
	fake->init_error = 0x0600;
	assert_refused("", TAC_ERROR_IO, "invalid license");
	fake->init_error = 0;
	fake->start_error = 0x0304;
	assert_refused("", TAC_ERROR_SYSTEM, "timer error");
	fake->start_error = 0;
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	assert_refused("", TAC_ERROR_IO, "already initiated");
	EVENTUALLY(read_is(device, TAC_DEVICE_OK)); // the first still works
}

static void device_is_described_in_metres(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	TEST_ASSERT_EQUAL_STRING("hd", device->info.name);
	TEST_ASSERT_EQUAL_STRING("TS-0042", device->info.serial);
	TEST_ASSERT_EQUAL_DOUBLE(3.3, device->info.max_force_N);
	TEST_ASSERT_EQUAL_DOUBLE(500, device->info.max_stiffness_N_per_m);
	TEST_ASSERT_EQUAL_DOUBLE(3, device->info.max_damping_N_s_per_m);
	TEST_ASSERT_EQUAL_DOUBLE(0.16, device->info.workspace_max_m.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.08, device->info.workspace_max_m.z); // about its centre
	TEST_ASSERT_EQUAL_INT(3, device->info.rotation_axes);
	TEST_ASSERT_EQUAL_INT(0, device->info.torque_axes);
	fake_lock(true);
	fake->devices[0].velocity[1] = 250;
	fake->devices[0].angular_velocity[2] = 1.5;
	fake->devices[0].buttons = 2;
	fake_lock(false);
	EVENTUALLY(read_is(device, TAC_DEVICE_OK) && state.buttons == 2);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, state.T_base_tool.position.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.02, state.T_base_tool.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.02, state.T_base_tool.position.z); // 30 mm - 10 mm
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.25, state.velocity_m_per_s.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.5, state.angular_velocity_rad_per_s.z);
	const tac_dvec3 rotated = tac_dpose_apply_vector(state.T_base_tool, tac_dvec3_make(1, 0, 0));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1, rotated.z);
}

static void forces_are_limited_and_end_when_nobody_writes(void)
{
	fake->output_dof = 6;
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, write_force(device, 1, 0, 0));
	tac_device_enable(device, true);
	EVENTUALLY((write_force(device, 0, 100, 0), FAKE(double, fake->devices[0].force[1]) > 3.29));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 10, FAKE(double, fake->devices[0].torque[0])); // mN m
	EVENTUALLY(FAKE(double, fake->devices[0].force[1]) == 0);
	EVENTUALLY((write_force(device, 1, 0, 0), FAKE(double, fake->devices[0].force[0]) == 1));
	tac_device_enable(device, false);
	EVENTUALLY(FAKE(double, fake->devices[0].force[0]) == 0);
	EVENTUALLY(!FAKE(int, fake->devices[0].forces_on));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 3.3 * 3.3, FAKE(double, fake->devices[0].largest_squared));
}

static void forces_that_the_library_cuts_off_return_after_its_last_error(void)
{
	static const unsigned errors[] = {0x0200, 0x0201, 0x0202, 0x0203, 0x0204};
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	tac_device_enable(device, true);
	EVENTUALLY((write_force(device, 1, 0, 0), FAKE(double, fake->devices[0].force[0]) == 1));
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		set_frame_error(errors[i]);
		EVENTUALLY(read_is(device, TAC_DEVICE_DISABLED));
		TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, write_force(device, 1, 0, 0));
		EVENTUALLY(FAKE(double, fake->devices[0].force[0]) == 0);
		TEST_ASSERT_FALSE(FAKE(int, fake->devices[0].forces_on));
	}
	set_frame_error(0);
	EVENTUALLY(read_is(device, TAC_DEVICE_OK));
	EVENTUALLY((write_force(device, 1, 0, 0), FAKE(double, fake->devices[0].force[0]) == 1));
	TEST_ASSERT_TRUE(FAKE(int, fake->devices[0].forces_on));
}

static void lasting_device_errors_are_a_loss(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	EVENTUALLY(read_is(device, TAC_DEVICE_OK));
	set_frame_error(0x0302);
	EVENTUALLY(read_is(device, TAC_DEVICE_LOST));
	set_frame_error(0);
	TEST_ASSERT_TRUE(read_is(device, TAC_DEVICE_LOST));
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, write_force(device, 1, 0, 0));
}

static void calibration_is_done_or_requested(void)
{
	fake->calibration = 0x5001;
	fake->calibration_style = 2;
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	TEST_ASSERT_EQUAL_INT(2, FAKE(int, fake->calibrated));
	tac_device_destroy(&device);
	fake->calibration_style = 4; // the inkwell
	TEST_ASSERT_EQUAL(TAC_PARTIAL, open_device("", &device));
	TEST_ASSERT_NOT_NULL(strstr(logged, "inkwell"));
	TEST_ASSERT_NOT_NULL(device);
}

static void two_devices_share_the_scheduler(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	TEST_ASSERT_EQUAL(TAC_OK, open_device("Left", &second));
	TEST_ASSERT_EQUAL_STRING("hd:Left", second->info.name);
	tac_device_enable(device, true);
	tac_device_enable(second, true);
	EVENTUALLY((write_force(device, 1, 0, 0), FAKE(double, fake->devices[0].force[0]) == 1));
	EVENTUALLY((write_force(second, 2, 0, 0), FAKE(double, fake->devices[1].force[0]) == 2));
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL_DOUBLE(0, FAKE(double, fake->devices[0].force[0]));
	EVENTUALLY(read_is(second, TAC_DEVICE_OK));
}

int main(void)
{
	fake = load_fake("hd", TACTUS_FAKE_HD);
	if (!fake)
		return 1;
	UNITY_BEGIN();
	RUN_TEST(missing_or_broken_library_is_reported);
	RUN_TEST(default_device_is_listed_and_closed_again);
	RUN_TEST(list_reports_why_the_device_cannot_be_used);
	RUN_TEST(failures_to_open_get_one_log_line);
	RUN_TEST(device_is_described_in_metres);
	RUN_TEST(forces_are_limited_and_end_when_nobody_writes);
	RUN_TEST(forces_that_the_library_cuts_off_return_after_its_last_error);
	RUN_TEST(lasting_device_errors_are_a_loss);
	RUN_TEST(calibration_is_done_or_requested);
	RUN_TEST(two_devices_share_the_scheduler);
	return UNITY_END();
}
