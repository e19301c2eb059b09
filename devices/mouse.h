// Mouse: a device for those who have none: an ordinary mouse through the kernel's event interface. Its motion
// moves the tool in the plane of x and y, its wheel along z, its buttons are the device's. It exerts no
// force. The pointer on the screen moves with it; nothing is taken away from other programs.
#ifndef TAC_DEVICES_MOUSE_H
#define TAC_DEVICES_MOUSE_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_MOUSE_M_PER_COUNT 0.1e-3 // a hand's width of mouse mat is the workspace
#define TAC_MOUSE_M_PER_NOTCH 2e-3   // of the wheel
#define TAC_MOUSE_REACH_M     0.06   // the workspace: a cube of twice this edge around the start

// The functions of its tac_driver. `which` is the path of a mouse's event file, or of a pipe with
// its events (where REL_Z is a count along z); "": the first mouse that is found and may be opened. The tool
// begins at the start of the simulated hand's path, where there is one. Thread: setup.
void tac_mouse_list(tac_driver_report *out_report);
tac_result tac_mouse_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
