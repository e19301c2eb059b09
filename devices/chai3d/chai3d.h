// CHAI3D devices: every device that CHAI3D drives, as a device of Tactus (--device chai3d:0). The plugin
// (devices/chai3d_interface.h) does the work, on the relay's thread: the real-time thread never calls CHAI3D.
#ifndef TAC_DEVICES_CHAI3D_CHAI3D_H
#define TAC_DEVICES_CHAI3D_CHAI3D_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which` is the device's number from 0; "" is the first. Thread: setup.
void tac_chai3d_list(tac_driver_report *out_report);
tac_result tac_chai3d_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
