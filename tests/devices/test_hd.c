// The driver for 3D Systems' devices against a stand-in for its library (tests/fake_hd.c).
#include "devices/hd.h"

#include "rt/clock.h"
#include "tests/eventually.h"
#include "tests/fake_hd.h"
#include "tests/fake_library.h"
#include "tests/logged.h"

#include <stdlib.h>
#include <string.h>
#include <unity.h>

static fake_hd_state *fake;
static tac_device *device, *second;
static tac_driver_report report;
static tac_device_state state;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	setenv("TACTUS_HD_LIBRARY", TACTUS_FAKE_HD, 1);
	*fake = (fake_hd_state){.connected = true, .output_dof = 3, .calibration = 0x5000};
	// 10, 20, 30 mm; a quarter turn about y: x goes to -z. By columns.
	const double transform[16] = {0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 10, 20, 30, 1};
	for (int i = 0; i < FAKE_HD_DEVICES; i++)
		memcpy(fake->devices[i].transform, transform, sizeof transform);
	memset(&report, 0, sizeof report);
}

void tearDown(void)
{
	tac_device_destroy(&second);
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, fake->misuse, "the library was called in a way its manual forbids");
	TEST_ASSERT_EQUAL_INT(0, fake->schedules);
	TEST_ASSERT_FALSE(fake->running);
	TEST_ASSERT_FALSE(fake->devices[0].open || fake->devices[1].open);
	TEST_ASSERT_FALSE(fake->devices[0].forces_on || fake->devices[1].forces_on);
	tac_log_set(NULL, NULL);
}

static tac_result open_device(const char *which, tac_device **out)
{
	static const tac_open_def def;
	return tac_hd_open(which, &def, out);
}

static void refused(const char *which, tac_result expected, const char *says)
{
	logged_lines = 0;
	tac_device *none = (tac_device *)&logged_lines;
	TEST_ASSERT_EQUAL(expected, open_device(which, &none));
	TEST_ASSERT_NULL(none);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, says), logged);
}

static void set_frame_error(unsigned error)
{
	fake_lock(true);
	fake->frame_error = error;
	fake_lock(false);
}

static bool read_is(tac_device *d, tac_device_status expected)
{
	return tac_device_read(d, tac_clock_now_ns(), &state) == expected;
}

static tac_device_status write_force(tac_device *d, double x, double y, double z)
{
	const tac_wrench wrench = {.force_N = {x, y, z}, .torque_Nm = {0.01, 0, 0}};
	return tac_device_write(d, tac_clock_now_ns(), &wrench);
}

static void library_that_is_missing_or_broken_is_said(void)
{
	setenv("TACTUS_HD_LIBRARY", "/no/such/libHD.so", 1);
	tac_hd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NO_LIBRARY, report.state);
	refused("", TAC_ERROR_UNSUPPORTED, "TACTUS_HD_LIBRARY");
	setenv("TACTUS_HD_LIBRARY", "libc.so.6", 1);
	tac_hd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	refused("", TAC_ERROR_UNSUPPORTED, "expected the function hdInitDevice");
}

static void default_device_is_listed_and_let_go(void)
{
	tac_hd_list(&report);
	TEST_ASSERT_EQUAL_INT(1, report.count);
	TEST_ASSERT_EQUAL_STRING("hd", report.devices[0].select);
	TEST_ASSERT_EQUAL_STRING("Touch", report.devices[0].what);
	TEST_ASSERT_EQUAL_STRING("TS-0042", report.devices[0].serial);
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	memset(&report, 0, sizeof report);
	tac_hd_list(&report); // does not disturb the one that is open
	TEST_ASSERT_EQUAL(TAC_DRIVER_BUSY, report.devices[0].state);
}

static void list_says_what_keeps_the_device_away(void)
{
	fake->connected = false;
	tac_hd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NOTHING, report.state);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(report.reason, "not connected"), report.reason);
	memset(&report, 0, sizeof report);
	fake->init_error = 0x0302;
	tac_hd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(report.reason, "communication"), report.reason);
	memset(&report, 0, sizeof report);
	fake->init_error = 0x0301;
	tac_hd_list(&report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_BUSY, report.state);
	memset(&report, 0, sizeof report);
	fake->init_error = 0x7777;
	tac_hd_list(&report);
	TEST_ASSERT_NOT_NULL(strstr(report.reason, "unknown meaning"));
}

static void failures_to_open_get_one_line(void)
{
	refused("Right", TAC_ERROR_IO, "expected the device Right, found: device fault");
	fake->connected = false;
	refused("", TAC_ERROR_IO, "by default");
	fake->connected = true;
	fake->init_error = 0x0600;
	refused("", TAC_ERROR_IO, "invalid license");
	fake->init_error = 0;
	fake->start_error = 0x0304;
	refused("", TAC_ERROR_SYSTEM, "timer error");
	fake->start_error = 0;
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	refused("", TAC_ERROR_IO, "already initiated");
	EVENTUALLY(read_is(device, TAC_DEVICE_OK)); // the first goes on
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
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.08, device->info.workspace_max_m.z); // around its middle
	TEST_ASSERT_EQUAL_INT(3, device->info.rotation_axes);
	TEST_ASSERT_EQUAL_INT(0, device->info.torque_axes);
	fake_lock(true);
	fake->devices[0].velocity[1] = 250;
	fake->devices[0].turning[2] = 1.5;
	fake->devices[0].buttons = 2;
	fake_lock(false);
	EVENTUALLY(read_is(device, TAC_DEVICE_OK) && state.buttons == 2);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, state.T_base_tool.position.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.02, state.T_base_tool.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.02, state.T_base_tool.position.z); // 30 mm - 10 mm
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.25, state.velocity_m_per_s.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.5, state.angular_velocity_rad_per_s.z);
	const tac_dvec3 turned = tac_dpose_apply_vector(state.T_base_tool, tac_dvec3_make(1, 0, 0));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1, turned.z);
}

static void forces_are_shortened_and_end_with_the_writer(void)
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

static void forces_that_the_library_cuts_off_come_back_when_it_is_quiet(void)
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

static void device_errors_are_a_loss_if_they_last(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	EVENTUALLY(read_is(device, TAC_DEVICE_OK));
	set_frame_error(0x0302);
	EVENTUALLY(read_is(device, TAC_DEVICE_LOST));
	set_frame_error(0);
	TEST_ASSERT_TRUE(read_is(device, TAC_DEVICE_LOST));
	TEST_ASSERT_EQUAL(TAC_DEVICE_LOST, write_force(device, 1, 0, 0));
}

static void calibration_is_done_or_asked_for(void)
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
	fake = fake_load(TACTUS_FAKE_HD, "fake_hd");
	if (!fake)
		return 1;
	UNITY_BEGIN();
	RUN_TEST(library_that_is_missing_or_broken_is_said);
	RUN_TEST(default_device_is_listed_and_let_go);
	RUN_TEST(list_says_what_keeps_the_device_away);
	RUN_TEST(failures_to_open_get_one_line);
	RUN_TEST(device_is_described_in_metres);
	RUN_TEST(forces_are_shortened_and_end_with_the_writer);
	RUN_TEST(forces_that_the_library_cuts_off_come_back_when_it_is_quiet);
	RUN_TEST(device_errors_are_a_loss_if_they_last);
	RUN_TEST(calibration_is_done_or_asked_for);
	RUN_TEST(two_devices_share_the_scheduler);
	return UNITY_END();
}
