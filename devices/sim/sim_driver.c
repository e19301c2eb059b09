#include "devices/sim/sim_driver.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_PRESET "falcon"
#define DEFAULT_GRIP   "stylus"

void tac_sim_list(tac_driver_report *report)
{
	for (int i = 0; tac_sim_preset_at(i); i++) {
		const tac_sim_preset *preset = tac_sim_preset_at(i);
		char selection[64];
		snprintf(selection, sizeof selection, "sim:%s", preset->name);
		tac_driver_report_add(report, selection, preset->device, "", TAC_DRIVER_READY, NULL);
	}
}

tac_result tac_sim_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	char preset[64];
	snprintf(preset, sizeof preset, "%s", *which ? which : DEFAULT_PRESET);
	const char *grip = def->grip ? def->grip : DEFAULT_GRIP;
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
	sim.repeat = def->sim_repeat;
	if (def->sim_waypoints > 0 && !def->sim_path) {
		tac_log(TAC_LOG_ERROR, "sim: expected a path with %u waypoints, found none",
			(unsigned)def->sim_waypoints);
		return TAC_ERROR_ARGUMENT;
	}
	if (def->sim_waypoints > 0)
		sim.start_m = def->sim_path[0].position_m;
	return tac_sim_create(&sim, out_device);
}
