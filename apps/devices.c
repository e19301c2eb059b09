// tactus devices: every driver, what it found, and why it found nothing.
#include "apps/commands.h"
#include "apps/json.h"
#include "apps/options.h"
#include "devices/registry.h"

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

int cmd_devices(int argc, char **argv)
{
	bool json = false;
	const option_def options[] = {
		{"json", OPTION_FLAG, &json, 0, 0, NULL, NULL, "print one JSON object"},
		{0},
	};
	const command_line line = {"tactus devices", "which haptic devices are here, and what is missing",
				   options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
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
