// Keys: a device for those who have none: the keyboard of the terminal. Arrows move the tool in the plane of
// x and y, w and s (or page up and down) along z, a and d turn it about z, space holds and releases the first
// button, q ends. It exerts no force.
#ifndef TAC_DEVICES_KEYS_H
#define TAC_DEVICES_KEYS_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_KEYS_STEP_M   1e-3 // a stroke
#define TAC_KEYS_STEP_RAD 0.05
#define TAC_KEYS_REACH_M  0.1

// The functions of its tac_driver. `which` is the path of a terminal; "": the one that controls the process.
// It is put into raw mode until the device is destroyed. The tool begins at the start of the simulated hand's
// path, where there is one. Thread: setup.
void tac_keys_list(tac_driver_report *out_report);
tac_result tac_keys_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
