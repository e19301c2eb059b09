// CHAI3D devices: whatever CHAI3D drives, as a device of Tactus: --device chai3d:0. The plugin does the work
// (devices/tac_chai3d.h), on the relay's thread; CHAI3D's calls never reach the real-time thread.
#ifndef TAC_DEVICES_CHAI3D_H
#define TAC_DEVICES_CHAI3D_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which`: the device's number from 0; "": the first.
// Thread: setup.
void tac_chai3d_list(tac_driver_report *out_report);
tac_result tac_chai3d_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
