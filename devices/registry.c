#include "devices/registry.h"

#include "base/helper.h"
#include "base/log.h"
#include "base/suggest.h"
#include "devices/chai3d/chai3d.h"
#include "devices/falcon/falcon.h"
#include "devices/haply/diy.h"
#include "devices/haply/inverse3.h"
#include "devices/input/keys.h"
#include "devices/input/mouse.h"
#include "devices/keeper/kept.h"
#include "devices/recording/playback.h"
#include "devices/sim.h"
#include "devices/sim/sim_driver.h"
#include "devices/vendor/dhd.h"
#include "devices/vendor/hd.h"
#include "devices/wooden/wooden.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Every driver. To add the driver NAME (docs/writing-a-device.md):
//  1. write devices/NAME/NAME.c and NAME.h, which declares tac_NAME_list and tac_NAME_open;
//  2. include NAME.h above and add a row here;
//  3. add NAME/NAME.c to devices/CMakeLists.txt, and devices/NAME to `private_devices` in tests/layers.
// `tactus devices` lists the drivers in this order.
static const tac_driver drivers[] = {
	{
		.name = "falcon",
		.form = "falcon[:SERIAL]",
		.summary = "Novint Falcon",
		.hot_pluggable = true,
		.by_serial = true,
		.needs_keeper = true,
		.list = tac_falcon_list,
		.open = tac_falcon_open,
		.let_go = tac_falcon_let_go,
	},
	{
		.name = "chai3d",
		.form = "chai3d[:NUMBER]",
		.summary = "devices that CHAI3D drives",
		.hot_pluggable = true,
		.needs_keeper = true,
		.list = tac_chai3d_list,
		.open = tac_chai3d_open,
	},
	{
		.name = "dhd",
		.form = "dhd[:NUMBER]",
		.summary = "Force Dimension omega, delta, sigma, lambda",
		.hot_pluggable = true,
		.needs_keeper = true,
		.list = tac_dhd_list,
		.open = tac_dhd_open,
	},
	{
		.name = "hd",
		.form = "hd[:NAME]",
		.summary = "3D Systems Touch, Touch X, Premium",
		.hot_pluggable = true,
		.needs_keeper = true,
		.list = tac_hd_list,
		.open = tac_hd_open,
	},
	{
		.name = "inverse3",
		.form = "inverse3[:ARM[,HANDLE]]",
		.summary = "Haply Inverse3 and VerseGrip",
		.hot_pluggable = true,
		.by_serial = true,
		.needs_keeper = true,
		.list = tac_inverse3_list,
		.open = tac_inverse3_open,
		.let_go = tac_inverse3_let_go,
	},
	{
		.name = "diy",
		.form = "diy:PORT",
		.summary = "Haply 2DIY, a planar device",
		.hot_pluggable = true,
		.needs_keeper = true,
		.list = tac_diy_list,
		.open = tac_diy_open,
		.let_go = tac_diy_let_go,
	},
	{
		.name = "wooden",
		.form = "wooden[:FILE]",
		.summary = "WoodenHaptics",
		.hot_pluggable = true,
		.needs_keeper = true,
		.list = tac_wooden_list,
		.open = tac_wooden_open,
	},
	{
		.name = "polhem",
		.form = "polhem[:FILE]",
		.summary = "Polhem, version 1",
		.hot_pluggable = true,
		.needs_keeper = true,
		.list = tac_polhem_list,
		.open = tac_polhem_open,
	},
	{
		.name = "keys",
		.form = "keys",
		.summary = "the keyboard of the terminal; moves the tool, exerts no force",
		.list = tac_keys_list,
		.open = tac_keys_open,
	},
	{
		.name = "mouse",
		.form = "mouse[:FILE]",
		.summary = "a mouse; moves the tool, exerts no force",
		.hot_pluggable = true,
		.list = tac_mouse_list,
		.open = tac_mouse_open,
	},
	{
		.name = "sim",
		.form = "sim[:DEVICE[:GRIP]]",
		.summary = "simulated devices in a simulated hand",
		.list = tac_sim_list,
		.open = tac_sim_open,
	},
	{
		.name = "playback",
		.form = "playback:FILE",
		.summary = "a recording, played back",
		.list = tac_playback_list,
		.open = tac_playback_open,
	},
};

#define DRIVERS (int)(sizeof drivers / sizeof *drivers)

static const tac_driver *added[TAC_REGISTRY_ADDED_MAX];
static int added_count;

const tac_driver *tac_registry_driver_at(int index)
{
	if (index < 0 || index >= DRIVERS + added_count)
		return NULL;
	return index < DRIVERS ? &drivers[index] : added[index - DRIVERS];
}

tac_result tac_registry_add(const tac_driver *driver)
{
	const char *which;
	const char *fault = !driver->name || !*driver->name || strchr(driver->name, ':') || !driver->form ||
					    !driver->summary || !driver->list || !driver->open
				    ? "a name, form, summary, list and open"
			    : driver->needs_keeper                         ? "a driver that needs no keeper"
			    : added_count == TAC_REGISTRY_ADDED_MAX        ? "at most 8 added drivers"
			    : tac_registry_driver_of(driver->name, &which) ? "a name that no other driver has"
									   : NULL;
	if (fault) {
		tac_log(TAC_LOG_ERROR, "device: expected %s, found the driver '%.32s'", fault,
			driver->name ? driver->name : "");
		return TAC_ERROR_ARGUMENT;
	}
	added[added_count++] = driver;
	return TAC_OK;
}

tac_result tac_registry_load(const char *path)
{
	char trusted[TAC_HELPER_PATH], reason[2 * TAC_HELPER_PATH];
	if (!tac_helper_check(path, trusted, reason, sizeof reason)) {
		tac_log(TAC_LOG_ERROR, "driver: %s", reason);
		return TAC_ERROR_IO;
	}
	void *library = dlopen(trusted, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		tac_log(TAC_LOG_ERROR, "driver: %s: expected a shared library: %s", path, dlerror());
		return TAC_ERROR_IO;
	}
	const tac_driver *(*plugin)(void) = NULL;
	void *symbol = dlsym(library, TAC_DRIVER_PLUGIN);
	memcpy(&plugin, &symbol,
	       sizeof plugin); // ISO C has no conversion from an object to a function pointer
	const uint32_t *abi = dlsym(library, TAC_DRIVER_PLUGIN_ABI);
	const bool fits = plugin && abi && *abi == TAC_DRIVER_ABI;
	const tac_driver *driver = fits ? plugin() : NULL;
	if (!plugin || (fits && !driver))
		tac_log(TAC_LOG_ERROR, "driver: %s: expected the function " TAC_DRIVER_PLUGIN ", found none",
			path);
	else if (!fits)
		tac_log(TAC_LOG_ERROR,
			"driver: %s: expected " TAC_DRIVER_PLUGIN_ABI " to be %d, found %s%.0u", path,
			TAC_DRIVER_ABI, abi ? "" : "none", abi ? (unsigned)*abi : 0);
	const tac_result result = driver ? tac_registry_add(driver) : TAC_ERROR_FORMAT;
	if (result < TAC_OK)
		dlclose(library);
	return result;
}

static int is_library(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);
	return length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

tac_result tac_registry_load_folder(const char *folder)
{
	struct dirent **entries;
	const int count = scandir(folder, &entries, is_library, alphasort);
	if (count < 0) {
		tac_log(TAC_LOG_ERROR, "driver: expected a folder of drivers, found %s: %s", folder,
			strerror(errno));
		return TAC_ERROR_IO;
	}
	tac_result result = TAC_OK;
	for (int i = 0; i < count; i++) {
		char path[TAC_HELPER_PATH];
		const int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
		if (length >= (int)sizeof path || tac_registry_load(path) < TAC_OK)
			result = TAC_PARTIAL;
		free(entries[i]);
	}
	free(entries);
	return result;
}

void tac_registry_list(const tac_driver *driver, tac_driver_report *out_report)
{
	memset(out_report, 0, sizeof *out_report);
	driver->list(out_report);
}

static tac_result refuse(const char *selection)
{
	char forms[512] = "", name[64];
	snprintf(name, sizeof name, "%.*s", (int)strcspn(selection, ":"), selection);
	tac_suggestion suggestion = tac_suggestion_begin(name);
	for (int i = 0; tac_registry_driver_at(i); i++) {
		const tac_driver *driver = tac_registry_driver_at(i);
		const size_t used = strlen(forms);
		snprintf(forms + used, sizeof forms - used, "%s%s", i ? ", " : "", driver->form);
		tac_suggestion_offer(&suggestion, driver->name);
	}
	// The name of a simulated device alone.
	char simulated[TAC_SUGGEST_TEXT] = "";
	for (int i = 0; tac_sim_preset_at(i); i++) {
		if (strcmp(name, tac_sim_preset_at(i)->name) == 0)
			snprintf(simulated, sizeof simulated, "; did you mean 'sim:%s'?", name);
	}
	tac_log(TAC_LOG_ERROR, "device: expected one of %s, found '%.64s'%s", forms, selection,
		*simulated ? simulated : tac_suggestion_text(&suggestion));
	return TAC_ERROR_ARGUMENT;
}

const tac_driver *tac_registry_driver_of(const char *selection, const char **out_which)
{
	const size_t length = strcspn(selection, ":");
	*out_which = selection[length] == ':' ? selection + length + 1 : "";
	for (int i = 0; tac_registry_driver_at(i); i++) {
		const tac_driver *driver = tac_registry_driver_at(i);
		if (strlen(driver->name) == length && strncmp(driver->name, selection, length) == 0)
			return driver;
	}
	return NULL;
}

tac_result tac_registry_open(const char *selection, const tac_open_def *def, tac_device **out_device)
{
	static const tac_open_def all_default;
	const tac_open_def *open = def ? def : &all_default;
	const char *which;
	const tac_driver *driver = tac_registry_driver_of(selection, &which);
	*out_device = NULL;
	if (!driver)
		return refuse(selection);
	if (driver->needs_keeper && !open->in_process)
		return tac_kept_open(selection, open, out_device);
	return driver->open(which, open, out_device);
}

const char *tac_driver_state_name(tac_driver_state state)
{
	static const char *const names[TAC_DRIVER_STATE_COUNT] = {
		[TAC_DRIVER_READY] = "ready",
		[TAC_DRIVER_NOTHING] = "nothing connected",
		[TAC_DRIVER_NO_LIBRARY] = "library missing",
		[TAC_DRIVER_NO_PERMISSION] = "permission missing",
		[TAC_DRIVER_NO_FIRMWARE] = "firmware missing",
		[TAC_DRIVER_BUSY] = "busy",
		[TAC_DRIVER_NOT_BUILT] = "not in this build",
		[TAC_DRIVER_FAILED] = "failed",
	};
	return state < TAC_DRIVER_STATE_COUNT ? names[state] : "unknown state";
}

void tac_driver_report_add(tac_driver_report *report, const char *selection, const char *description,
			   const char *serial, tac_driver_state state, const char *reason)
{
	if (report->count == TAC_DRIVER_DEVICES_MAX)
		return;
	tac_driver_device *device = &report->devices[report->count++];
	snprintf(device->selection, sizeof device->selection, "%s", selection);
	snprintf(device->description, sizeof device->description, "%s", description);
	snprintf(device->serial, sizeof device->serial, "%s", serial ? serial : "");
	snprintf(device->reason, sizeof device->reason, "%s", reason ? reason : "");
	device->state = state;
}

bool tac_driver_parse_number(const char *driver, const char *which, int *out_number)
{
	char *end;
	const long number = strtol(which, &end, 10);
	const bool fits = end != which && *end == '\0' && number >= 0 && number < TAC_DRIVER_DEVICES_MAX;
	*out_number = fits ? (int)number : 0;
	if (fits || !*which)
		return true;
	tac_log(TAC_LOG_ERROR, "%s: expected a device number from 0 to %d, found '%.32s'", driver,
		TAC_DRIVER_DEVICES_MAX - 1, which);
	return false;
}
