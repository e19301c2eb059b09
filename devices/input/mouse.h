// The driver of the mouse (devices/mouse.h).
#ifndef TAC_DEVICES_INPUT_MOUSE_H
#define TAC_DEVICES_INPUT_MOUSE_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which` is the path of a mouse's event file, or of a pipe of its events;
// "" is the first mouse that can be opened. The tool starts at the first waypoint of `def`, if there is one.
// Thread: setup.
void tac_mouse_list(tac_driver_report *out_report);
tac_result tac_mouse_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
