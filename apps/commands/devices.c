// tactus devices: lists every driver with the devices it finds, or the reason why it finds none. With
// --calibrate, measures the workspace of a device.
#include "apps/commands/commands.h"
#include "apps/session/json.h"
#include "apps/session/options.h"
#include "devices/calibration.h"
#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_member(const char *name, const char *text)
{
	printf("\"%s\": ", name);
	json_print_string(stdout, text);
}

static void print_json_device(const tac_driver_device *device)
{
	printf("{");
	print_member("select", device->selection);
	printf(", ");
	print_member("what", device->description);
	printf(", ");
	print_member("serial", device->serial);
	printf(", ");
	print_member("state", tac_driver_state_name(device->state));
	printf(", ");
	print_member("reason", device->reason);
	printf("}");
}

static void print_json(const tac_driver *driver, const tac_driver_report *report, bool first)
{
	printf("%s{", first ? "" : ", ");
	print_member("driver", driver->name);
	printf(", ");
	print_member("form", driver->form);
	printf(", ");
	print_member("state", tac_driver_state_name(report->state));
	printf(", ");
	print_member("reason", report->reason);
	printf(", \"devices\": [");
	for (int i = 0; i < report->count; i++) {
		printf("%s", i ? ", " : "");
		print_json_device(&report->devices[i]);
	}
	printf("]}");
}

static void print_text(const tac_driver *driver, const tac_driver_report *report)
{
	printf("%s: %s\n", driver->name, driver->summary);
	if (report->state != TAC_DRIVER_READY)
		printf("  %s: ", tac_driver_state_name(report->state));
	else if (report->reason[0])
		printf("  ");
	if (report->reason[0])
		printf("%s\n", report->reason);
	for (int i = 0; i < report->count; i++) {
		const tac_driver_device *device = &report->devices[i];
		printf("  --device %-16s %s", device->selection, device->description);
		if (device->serial[0])
			printf(", serial %s", device->serial);
		printf("\n");
		if (device->state != TAC_DRIVER_READY)
			printf("    %s: %s\n", tac_driver_state_name(device->state), device->reason);
	}
}

// ---- calibration ----

typedef struct calibrate_settings {
	const char *device;
	const char *firmware;
	double seconds;
	double weight_N; // NAN: unchanged
	int hand;        // 0: unchanged, 1: right, 2: left
} calibrate_settings;

static bool interrupted(void *user)
{
	(void)user;
	return tac_loop_signalled();
}

// Measures the bounding box of all positions that the tool visits. No force is applied.
static bool measure(tac_device *device, double seconds, tac_calibration *out)
{
	const int64_t begin_ns = tac_clock_now_ns();
	const int64_t end_ns = begin_ns + (int64_t)(seconds * 1e9);
	bool first = true;
	while (tac_clock_now_ns() < end_ns && !tac_loop_signalled()) {
		tac_device_state state;
		const int64_t now_ns = tac_clock_now_ns();
		const tac_device_status status = tac_device_read(device, now_ns, &state);
		if (status == TAC_DEVICE_LOST || status == TAC_DEVICE_ENDED) {
			fprintf(stderr,
				"tactus devices: expected to measure for %g s, "
				"found the device %s after %.1f s\n",
				seconds, tac_device_status_name(status), (double)(now_ns - begin_ns) / 1e9);
			return false;
		}
		const tac_dvec3 p = state.T_base_tool.position;
		if (status == TAC_DEVICE_OK) {
			out->workspace_min_m = first ? p : tac_dvec3_min(p, out->workspace_min_m);
			out->workspace_max_m = first ? p : tac_dvec3_max(p, out->workspace_max_m);
			first = false;
		}
		tac_clock_sleep_until_ns(now_ns + TAC_NS_PER_MS);
	}
	if (first || tac_loop_signalled()) {
		fprintf(stderr,
			"tactus devices: expected poses for %g s, found %s; the calibration is unchanged\n",
			seconds, first ? "none" : "Ctrl-C");
		return false;
	}
	return true;
}

static int calibrate(const calibrate_settings *s)
{
	tac_device *device;
	tac_calibration c;
	bool found;
	char path[640];
	tac_loop_stop_on_signals();
	const tac_open_def open = {.firmware = s->firmware, .cancelled = interrupted};
	if (tac_registry_open(s->device, &open, &device) < 0)
		return EXIT_BAD_INPUT;
	tac_calibration_load(&device->info, &c, &found);
	if (!isnan(s->weight_N))
		c.weight_N = s->weight_N;
	if (s->hand > 0)
		c.left_handed = s->hand == 2;
	fprintf(stderr, "%s: move the tool to all limits of its workspace for %g s; no force is applied\n",
		s->device, s->seconds);
	bool good = measure(device, s->seconds, &c) && tac_calibration_save(&device->info, &c) == TAC_OK;
	if (good && tac_calibration_path(&device->info, path, sizeof path)) {
		const tac_dvec3 size = tac_dvec3_sub(c.workspace_max_m, c.workspace_min_m);
		printf("%s: workspace %.1f x %.1f x %.1f mm, weight %g N, %s-handed\n", path, 1e3 * size.x,
		       1e3 * size.y, 1e3 * size.z, c.weight_N, c.left_handed ? "left" : "right");
	}
	tac_device_destroy(&device);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_devices(int argc, char **argv)
{
	static const char *const hands[] = {"same", "right", "left", NULL};
	bool json = false;
	const char *driver_path = NULL;
	calibrate_settings s = {.seconds = 10, .weight_N = NAN};
	const option_def options[] = {
		{"json", OPTION_FLAG, &json, 0, 0, NULL, NULL, "print one JSON object"},
		{"calibrate", OPTION_TEXT, &s.device, 0, 0, NULL, "DEVICE",
		 "measure the workspace of a device and store it under its serial number"},
		{"seconds", OPTION_NUMBER, &s.seconds, 0.1, 3600, NULL, "N",
		 "duration of the measurement in seconds"},
		{"weight", OPTION_NUMBER, &s.weight_N, 0, TAC_CALIBRATION_WEIGHT_MAX_N, NULL, "NEWTON",
		 "weight of the tool in N, which the loop compensates (default: unchanged)"},
		{"hand", OPTION_CHOICE, &s.hand, 0, 0, hands, NULL,
		 "left: mirror the device for the left hand; same: unchanged"},
		{"driver", OPTION_TEXT, &driver_path, 0, 0, NULL, "FILE.so",
		 "load a further driver from a shared library (docs/writing-a-device.md)"},
		{"firmware", OPTION_TEXT, &s.firmware, 0, 0, NULL, "FILE",
		 "firmware to upload to a Novint Falcon"},
		{0},
	};
	const command_line line = {"tactus devices",
				   "list haptic devices, and what is missing for the others", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (driver_path && tac_registry_load(driver_path) < TAC_OK)
		return EXIT_BAD_INPUT;
	if (s.device)
		return calibrate(&s);
	if (json)
		printf("{\"drivers\": [");
	for (int i = 0; tac_registry_driver_at(i); i++) {
		const tac_driver *driver = tac_registry_driver_at(i);
		tac_driver_report report;
		tac_registry_list(driver, &report);
		if (json)
			print_json(driver, &report, i == 0);
		else
			print_text(driver, &report);
	}
	if (json)
		printf("]}\n");
	return EXIT_SUCCESS;
}
