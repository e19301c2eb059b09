// Keys: the terminal's keyboard as a device, for users without hardware. Arrows move the tool in x and y, w
// and s (or page up and page down) along z, a and d rotate it about z, space toggles the first button, q
// ends. It exerts no force.
#ifndef TAC_DEVICES_INPUT_KEYS_H
#define TAC_DEVICES_INPUT_KEYS_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_KEYS_STEP_M   1e-3 // per key press
#define TAC_KEYS_STEP_RAD 0.05
#define TAC_KEYS_REACH_M  0.1 // in each direction

// The functions of its tac_driver. `which` is the path of a terminal; "" is the controlling one. It is in raw
// mode until the device is destroyed. The tool starts at the first waypoint of `def`, if there is one.
// Thread: setup.
void tac_keys_list(tac_driver_report *out_report);
tac_result tac_keys_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
