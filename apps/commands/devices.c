// tactus devices: every driver, what it found, and why it found nothing.
#include "apps/commands.h"
#include "apps/json.h"
#include "apps/options.h"
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
	print_member("select", device->select);
	printf(", ");
	print_member("what", device->what);
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
		printf("  --device %-16s %s", device->select, device->what);
		if (device->serial[0])
			printf(", serial %s", device->serial);
		printf("\n");
		if (device->state != TAC_DRIVER_READY)
			printf("    %s: %s\n", tac_driver_state_name(device->state), device->reason);
	}
}

// ---- calibration ----

typedef struct wish {
	const char *device;
	const char *firmware;
	double seconds;
	double weight_N; // NAN: as it is
	int hand;        // 0: as it is, 1: right, 2: left
} wish;

static bool interrupted(void *user)
{
	(void)user;
	return tac_loop_signalled();
}

// The box of all places that the tool visits, without any force.
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
				"tactus devices: expected to measure for %g s, found the device %s after "
				"%.1f s\n",
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
		fprintf(stderr, "tactus devices: expected poses for %g s, found %s; nothing is changed\n",
			seconds, first ? "none" : "Ctrl-C");
		return false;
	}
	return true;
}

static int calibrate(const wish *w)
{
	tac_device *device;
	tac_calibration c;
	bool found;
	char path[640];
	tac_loop_stop_on_signals();
	const tac_open_def open = {.firmware = w->firmware, .cancelled = interrupted};
	if (tac_registry_open(w->device, &open, &device) < 0)
		return EXIT_BAD_INPUT;
	tac_calibration_load(&device->info, &c, &found);
	if (!isnan(w->weight_N))
		c.weight_N = w->weight_N;
	if (w->hand > 0)
		c.left_handed = w->hand == 2;
	fprintf(stderr, "%s: move the tool to all ends of its workspace, for %g s; there is no force\n",
		w->device, w->seconds);
	bool good = measure(device, w->seconds, &c) && tac_calibration_save(&device->info, &c) == TAC_OK;
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
	wish w = {.seconds = 10, .weight_N = NAN};
	const option_def options[] = {
		{"json", OPTION_FLAG, &json, 0, 0, NULL, NULL, "print one JSON object"},
		{"calibrate", OPTION_TEXT, &w.device, 0, 0, NULL, "DEVICE",
		 "measure the workspace of a device and keep it by its serial number"},
		{"seconds", OPTION_NUMBER, &w.seconds, 0.1, 3600, NULL, "N", "how long to measure"},
		{"weight", OPTION_NUMBER, &w.weight_N, 0, TAC_CALIBRATION_WEIGHT_MAX_N, NULL, "NEWTON",
		 "of the tool, for the loop to hold up (default: as before)"},
		{"hand", OPTION_CHOICE, &w.hand, 0, 0, hands, NULL, "left: left and right are exchanged"},
		{"firmware", OPTION_TEXT, &w.firmware, 0, 0, NULL, "FILE",
		 "of a Novint Falcon that was switched off"},
		{0},
	};
	const command_line line = {"tactus devices", "which haptic devices are here, and what is missing",
				   options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (w.device)
		return calibrate(&w);
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
