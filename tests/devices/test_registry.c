// Every driver opens a device, or logs one line with what it expected and what it found.
#include "devices/registry.h"

#include "devices/recorder.h"
#include "tests/support/logged.h"

#include <fcntl.h>
#include <linux/input.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unity.h>

#define MS INT64_C(1000000)

static tac_device *device;
static char path[64];

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	snprintf(path, sizeof path, "/tmp/tactus-registry-%d", (int)getpid());
}

void tearDown(void)
{
	tac_device_destroy(&device);
	unlink(path);
	tac_log_set(NULL, NULL);
}

static void open_ok(const char *selection, const tac_open_def *def)
{
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_registry_open(selection, def, &device), logged);
	TEST_ASSERT_NOT_NULL(device);
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
}

static void open_refused(const char *selection, tac_result expected, const char *text)
{
	logged_lines = 0;
	device = (tac_device *)&device;
	const tac_result result = tac_registry_open(selection, NULL, &device);
	TEST_ASSERT_NULL(device);
	TEST_ASSERT_EQUAL_MESSAGE(expected, result, selection);
	TEST_ASSERT_EQUAL_INT_MESSAGE(1, logged_lines, selection);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, text), logged);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "expected"), logged);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "found"), logged);
}

static void every_driver_reports_and_is_named_in_the_error_line(void)
{
	tac_registry_open("no such device", NULL, &device);
	for (int i = 0; tac_registry_driver_at(i); i++) {
		const tac_driver *driver = tac_registry_driver_at(i);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, driver->form), driver->name);
		TEST_ASSERT_EQUAL_INT(0, strncmp(driver->form, driver->name, strlen(driver->name)));
		tac_driver_report report;
		memset(&report, 0xAA, sizeof report);
		tac_registry_list(driver, &report);
		TEST_ASSERT_LESS_OR_EQUAL_INT(TAC_DRIVER_DEVICES_MAX, report.count);
		// A driver without devices gives a reason.
		if (report.count == 0)
			TEST_ASSERT_GREATER_THAN_INT_MESSAGE(10, (int)strlen(report.reason), driver->name);
		for (int k = 0; k < report.count; k++) {
			const tac_driver_device *d = &report.devices[k];
			TEST_ASSERT_EQUAL_INT(0, strncmp(d->selection, driver->name, strlen(driver->name)));
			TEST_ASSERT_TRUE((d->state == TAC_DRIVER_READY) == (d->reason[0] == '\0'));
		}
	}
	TEST_ASSERT_NULL(tac_registry_driver_at(-1));
}

static void every_listed_simulation_opens_by_its_name(void)
{
	int opened = 0;
	for (int i = 0; tac_registry_driver_at(i); i++) {
		const tac_driver *driver = tac_registry_driver_at(i);
		tac_driver_report report;
		tac_registry_list(driver, &report);
		for (int k = 0; strcmp(driver->name, "sim") == 0 && k < report.count; k++) {
			open_ok(report.devices[k].selection, NULL);
			TEST_ASSERT_EQUAL_STRING(report.devices[k].selection, device->info.name);
			tac_device_destroy(&device);
			opened++;
		}
	}
	TEST_ASSERT_GREATER_THAN_INT(3, opened);
}

static void simulation_follows_the_path_of_the_caller(void)
{
	const tac_sim_waypoint waypoints[2] = {{.position_m = {0.01, 0.02, 0.03}},
					       {.time_ns = 500 * MS, .position_m = {-0.03, 0, 0}}};
	open_ok("sim:touch:firm", &(tac_open_def){.sim_path = waypoints, .sim_waypoints = 2});
	tac_device_state state;
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 0, &state));
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0.03, state.T_base_tool.position.z);
	for (int k = 1; k <= 1000; k++)
		tac_device_read(device, k * MS, &state);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, -0.03, state.T_base_tool.position.x);
}

static void invalid_selections_get_one_log_line(void)
{
	open_refused("", TAC_ERROR_ARGUMENT, "found ''");
	open_refused("simm", TAC_ERROR_ARGUMENT, "found 'simm'");
	open_refused("si", TAC_ERROR_ARGUMENT, "found 'si'");
	open_refused(":", TAC_ERROR_ARGUMENT, "found ':'");
	open_refused("sim:nosuch", TAC_ERROR_ARGUMENT, "nosuch");
	open_refused("sim:touch:tentacle", TAC_ERROR_ARGUMENT, "tentacle");
	open_refused("sim::", TAC_ERROR_ARGUMENT, "sim: expected");
	open_refused("playback", TAC_ERROR_ARGUMENT, "playback:FILE");
	open_refused("playback:", TAC_ERROR_ARGUMENT, "playback:FILE");
	open_refused("mouse:/no/such/file", TAC_ERROR_IO, "No such file");
	open_refused("mouse:/dev/null", TAC_ERROR_FORMAT, "/dev/null");
	char longest[4096];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	open_refused(longest, TAC_ERROR_ARGUMENT, "found 'xxxx");
	memcpy(longest, "sim:", 4);
	open_refused(longest, TAC_ERROR_ARGUMENT, "sim: expected");
	logged_lines = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open("playback:/no/such/file", NULL, &device));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	logged_lines = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_registry_open("playback:/proc/self/exe", NULL, &device));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
}

static void playback_opens_a_recording(void)
{
	open_ok("sim:touch", NULL);
	tac_recorder *recorder;
	TEST_ASSERT_EQUAL(
		TAC_OK,
		tac_recorder_create(&(tac_recorder_def){.path = path, .info = &device->info}, &recorder));
	tac_device_sample sample = {0};
	for (int k = 0; k < 100; k++) {
		sample.status = tac_device_read(device, k * MS, &sample.state);
		TEST_ASSERT_TRUE(tac_recorder_write(recorder, &sample));
	}
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&recorder));
	tac_device_destroy(&device);
	char selection[128];
	snprintf(selection, sizeof selection, "playback:%s", path);
	open_ok(selection, NULL);
	tac_device_state state;
	for (int k = 0; k < 100; k++)
		TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, k * MS, &state));
	TEST_ASSERT_EQUAL(TAC_DEVICE_ENDED, tac_device_read(device, 200 * MS, &state));
	tac_device_destroy(&device);
	open_ok(selection, &(tac_open_def){.repeat = true});
	tac_device_read(device, 0, &state);
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 130 * MS, &state));
}

static void send_event(int file, uint16_t type, uint16_t code, int32_t value)
{
	const struct input_event event = {.type = type, .code = code, .value = value};
	TEST_ASSERT_EQUAL_INT((int)sizeof event, (int)write(file, &event, sizeof event));
}

static void mouse_moves_the_tool(void)
{
	TEST_ASSERT_EQUAL_INT(0, mkfifo(path, 0600));
	char selection[128];
	snprintf(selection, sizeof selection, "mouse:%s", path);
	// The tool starts at the first waypoint of the scene's hand: the origin of the world may be inside an
	// object.
	const tac_sim_waypoint begin = {.position_m = {0.01, 0, 0.08}};
	open_ok(selection, &(tac_open_def){.sim_path = &begin, .sim_waypoints = 1});
	TEST_ASSERT_TRUE(device->info.max_force_N > 0);
	const int events = open(path, O_WRONLY);
	tac_device_state state;
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 1 * MS, &state));
	TEST_ASSERT_EQUAL_DOUBLE(0.01, state.T_base_tool.position.x);
	TEST_ASSERT_EQUAL_DOUBLE(0.08, state.T_base_tool.position.z);
	send_event(events, EV_REL, REL_X, 30);
	send_event(events, EV_REL, REL_Y, 10);
	send_event(events, EV_REL, REL_Z, 5);
	send_event(events, EV_REL, REL_WHEEL, -1);
	send_event(events, EV_KEY, BTN_RIGHT, 1);
	send_event(events, EV_SYN, SYN_REPORT, 0);
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 2 * MS, &state));
	TEST_ASSERT_EQUAL_UINT32(2, state.buttons);
	// A step is smoothed over 30 ms; unsmoothed it would be 3 m/s.
	const double fraction = 1 - exp(-1 / 30.0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01 + fraction * 3e-3, state.T_base_tool.position.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, fraction * 3, state.velocity_m_per_s.x);
	for (int i = 3; i < 1000; i++)
		tac_device_read(device, i * MS, &state);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.013, state.T_base_tool.position.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -1e-3, state.T_base_tool.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0825, state.T_base_tool.position.z);
	send_event(events, EV_KEY, BTN_RIGHT, 0);
	send_event(events, EV_REL, REL_X, INT32_MAX);
	for (int i = 1000; i < 2000; i++)
		tac_device_read(device, i * MS, &state);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.07, state.T_base_tool.position.x);
	TEST_ASSERT_TRUE(state.T_base_tool.position.x <= 0.07);
	TEST_ASSERT_EQUAL_UINT32(0, state.buttons);
	const tac_wrench wrench = {.force_N = {1, 0, 0}};
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, tac_device_write(device, 3 * MS, &wrench));
	tac_device_enable(device, true);
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_write(device, 3 * MS, &wrench));
	close(events);
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 2001 * MS, &state));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(every_driver_reports_and_is_named_in_the_error_line);
	RUN_TEST(every_listed_simulation_opens_by_its_name);
	RUN_TEST(simulation_follows_the_path_of_the_caller);
	RUN_TEST(invalid_selections_get_one_log_line);
	RUN_TEST(playback_opens_a_recording);
	RUN_TEST(mouse_moves_the_tool);
	return UNITY_END();
}
