#include "devices/registry.h"

#include "base/log.h"
#include "devices/chai3d.h"
#include "devices/dhd.h"
#include "devices/falcon.h"
#include "devices/hd.h"
#include "devices/keys.h"
#include "devices/mouse.h"
#include "devices/playback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the drivers that need no hardware ----

#define SIM_DEFAULT_PRESET "falcon"
#define SIM_DEFAULT_GRIP   "stylus"

static void sim_list(tac_driver_report *report)
{
	for (int i = 0; tac_sim_preset_at(i); i++) {
		const tac_sim_preset *preset = tac_sim_preset_at(i);
		char select[64];
		snprintf(select, sizeof select, "sim:%s", preset->name);
		tac_driver_report_add(report, select, preset->device, "", TAC_DRIVER_READY, NULL);
	}
}

// PRESET[:GRIP]
static tac_result sim_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	char preset[64];
	snprintf(preset, sizeof preset, "%s", *which ? which : SIM_DEFAULT_PRESET);
	const char *grip = def->grip ? def->grip : SIM_DEFAULT_GRIP;
	char *colon = strchr(preset, ':');
	if (colon) {
		*colon = '\0';
		grip = colon + 1;
	}
	tac_sim_def sim;
	const tac_result result = tac_sim_def_preset(preset, grip, &sim);
	if (result < 0)
		return result;
	sim.path = def->sim_path;
	sim.waypoints = def->sim_waypoints;
	if (def->sim_waypoints > 0)
		sim.start_m = def->sim_path[0].position_m;
	return tac_sim_create(&sim, out_device);
}

static void playback_list(tac_driver_report *report)
{
	snprintf(report->reason, sizeof report->reason, "any recording: --device playback:FILE");
}

static tac_result playback_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	if (!*which) {
		tac_log(TAC_LOG_ERROR, "playback: expected a recording as in playback:FILE, found no name");
		return TAC_ERROR_ARGUMENT;
	}
	tac_recording recording;
	const tac_result loaded = tac_recording_load(which, &recording);
	if (loaded < 0)
		return loaded;
	const tac_result created = tac_playback_create(&recording, def->repeat, out_device);
	tac_recording_fini(&recording);
	return created == TAC_OK ? loaded : created;
}

// ---- the table ----

static const tac_driver drivers[] = {
	{"falcon", "falcon[:SERIAL]", "Novint Falcon", true, tac_falcon_list, tac_falcon_open},
	{"chai3d", "chai3d[:NUMBER]", "what CHAI3D drives", true, tac_chai3d_list, tac_chai3d_open},
	{"dhd", "dhd[:NUMBER]", "Force Dimension omega, delta, sigma, lambda", true, tac_dhd_list,
	 tac_dhd_open},
	{"hd", "hd[:NAME]", "3D Systems Touch, Touch X, Premium", true, tac_hd_list, tac_hd_open},
	{"keys", "keys", "the keyboard of the terminal: moves, feels nothing", false, tac_keys_list,
	 tac_keys_open},
	{"mouse", "mouse[:FILE]", "a mouse: moves, feels nothing", true, tac_mouse_list, tac_mouse_open},
	{"sim", "sim[:DEVICE[:GRIP]]", "simulated devices in a simulated hand", false, sim_list, sim_open},
	{"playback", "playback:FILE", "what a device did when it was recorded", false, playback_list,
	 playback_open},
};

#define DRIVERS (int)(sizeof drivers / sizeof *drivers)

const tac_driver *tac_registry_driver_at(int index)
{
	return index >= 0 && index < DRIVERS ? &drivers[index] : NULL;
}

void tac_registry_list(const tac_driver *driver, tac_driver_report *out_report)
{
	memset(out_report, 0, sizeof *out_report);
	driver->list(out_report);
}

static tac_result refuse(const char *selection)
{
	char forms[512] = "";
	for (int i = 0; i < DRIVERS; i++) {
		const size_t used = strlen(forms);
		snprintf(forms + used, sizeof forms - used, "%s%s", i ? ", " : "", drivers[i].form);
	}
	tac_log(TAC_LOG_ERROR, "device: expected one of %s, found '%.64s'", forms, selection);
	return TAC_ERROR_ARGUMENT;
}

tac_result tac_registry_open(const char *selection, const tac_open_def *def, tac_device **out_device)
{
	static const tac_open_def all_default;
	*out_device = NULL;
	const size_t length = strcspn(selection, ":");
	const char *which = selection[length] == ':' ? selection + length + 1 : "";
	for (int i = 0; i < DRIVERS; i++) {
		if (strlen(drivers[i].name) == length && strncmp(drivers[i].name, selection, length) == 0)
			return drivers[i].open(which, def ? def : &all_default, out_device);
	}
	return refuse(selection);
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

void tac_driver_report_add(tac_driver_report *report, const char *select, const char *what,
			   const char *serial, tac_driver_state state, const char *reason)
{
	if (report->count == TAC_DRIVER_DEVICES_MAX)
		return;
	tac_driver_device *device = &report->devices[report->count++];
	snprintf(device->select, sizeof device->select, "%s", select);
	snprintf(device->what, sizeof device->what, "%s", what);
	snprintf(device->serial, sizeof device->serial, "%s", serial);
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
