// The driver of the simulated devices (devices/sim.h): the presets by name, for the registry.
#ifndef TAC_DEVICES_SIM_SIM_DRIVER_H
#define TAC_DEVICES_SIM_SIM_DRIVER_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which` is PRESET[:GRIP]; an empty preset is "falcon", without a grip it
// is the one of `def`, or "stylus". Thread: setup.
void tac_sim_list(tac_driver_report *out_report);
tac_result tac_sim_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
