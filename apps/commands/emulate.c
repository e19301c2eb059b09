// tactus emulate: attaches a virtual USB device to the running kernel, so that drivers can be tried without
// hardware.
#include "apps/commands/commands.h"
#include "apps/session/options.h"
#include "base/suggest.h"
#include "devices/virtual_board.h"
#include "devices/virtual_falcon.h"
#include "devices/virtual_vhci.h"
#include "rt/clock.h"
#include "rt/loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tac_result create_board(const char *serial, tac_virtual_model **out_model)
{
	tac_virtual_board_def def = tac_virtual_board_def_default();
	if (serial)
		def.serial = serial;
	return tac_virtual_board_create(&def, out_model);
}

static tac_result create_falcon(const char *serial, tac_virtual_model **out_model)
{
	tac_virtual_falcon_def def = tac_virtual_falcon_def_default();
	tac_virtual_falcon *falcon;
	if (serial)
		def.serial = serial;
	const tac_result result = tac_virtual_falcon_create(&def, &falcon);
	*out_model = falcon ? tac_virtual_falcon_model(falcon) : NULL;
	return result;
}

static void destroy_falcon(tac_virtual_model **model)
{
	tac_virtual_falcon *falcon = tac_virtual_falcon_of(*model);
	tac_virtual_falcon_destroy(&falcon);
	*model = NULL;
}

// `serial` may be NULL.
static const struct {
	const char *name;
	const char *product;
	tac_result (*create)(const char *serial, tac_virtual_model **out_model);
	void (*destroy)(tac_virtual_model **model);
} devices[] = {
	{"board", "CollisionChip board", create_board, tac_virtual_board_destroy},
	{"falcon", "Novint Falcon", create_falcon, destroy_falcon},
};

#define DEVICE_COUNT (sizeof devices / sizeof devices[0])

static void run(tac_virtual_vhci *vhci, double seconds)
{
	const int64_t end_ns = isnan(seconds) ? INT64_MAX : tac_clock_now_ns() + (int64_t)(seconds * 1e9);
	while (!tac_loop_signalled() && tac_virtual_vhci_attached(vhci) && tac_clock_now_ns() < end_ns)
		tac_clock_sleep_until_ns(tac_clock_now_ns() + 20 * TAC_NS_PER_MS);
}

static int emulate(size_t index, const char *serial, double seconds)
{
	tac_virtual_model *model = NULL;
	tac_virtual_usb *device = NULL;
	tac_virtual_vhci *vhci = NULL;
	tac_result result = devices[index].create(serial, &model);
	if (result == TAC_OK)
		result = tac_virtual_usb_create(model, &device);
	if (result == TAC_OK)
		result = tac_virtual_vhci_attach(device, &vhci);
	if (result == TAC_OK) {
		const uint8_t *d = model->device_descriptor;
		printf("%s %02x%02x:%02x%02x, serial number %s, on port %d of vhci_hcd; Ctrl-C detaches it\n",
		       devices[index].product, d[9], d[8], d[11], d[10], model->strings[2],
		       tac_virtual_vhci_port(vhci));
		fflush(stdout);
		run(vhci, seconds);
		if (!tac_virtual_vhci_attached(vhci))
			printf("the kernel detached the device\n");
	}
	tac_virtual_vhci_detach(&vhci);
	tac_virtual_usb_destroy(&device);
	if (model)
		devices[index].destroy(&model);
	return result == TAC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_emulate(int argc, char **argv)
{
	const char *name = NULL, *serial = NULL;
	double seconds = NAN;
	const option_def options[] = {
		{"DEVICE", OPTION_POSITIONAL, &name, 0, 0, NULL, "DEVICE", "board or falcon"},
		{"serial", OPTION_TEXT, &serial, 0, 0, NULL, "TEXT", "serial number of the device"},
		{"seconds", OPTION_NUMBER, &seconds, 0.01, 1e9, NULL, "N",
		 "detach after N seconds (default: at Ctrl-C)"},
		{0},
	};
	const command_line line = {"tactus emulate",
				   "attach a virtual USB device to this kernel through vhci_hcd (needs root)",
				   options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	for (size_t i = 0; i < DEVICE_COUNT; i++) {
		if (strcmp(name, devices[i].name) == 0) {
			tac_loop_stop_on_signals();
			return emulate(i, serial, seconds);
		}
	}
	tac_suggestion suggestion = tac_suggestion_begin(name);
	fprintf(stderr, "tactus emulate: DEVICE: expected ");
	for (size_t i = 0; i < DEVICE_COUNT; i++) {
		fprintf(stderr, "%s%s", i ? " or " : "", devices[i].name);
		tac_suggestion_offer(&suggestion, devices[i].name);
	}
	fprintf(stderr, ", found '%s'%s\n", name, tac_suggestion_text(&suggestion));
	return EXIT_BAD_INPUT;
}
