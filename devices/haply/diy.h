// 2DIY: the Haply 2DIY, a pantograph with two motors on a hAPI board, over its serial port. It is a planar
// device: x and z of the tool move, y is 0, and a force along y is not felt. Like the Inverse3 it reports in
// answer to a command only, so a relay exchanges torques for angles; a keeper holds it, because how long it
// holds a torque is not published.
//
// Boards have no USB identity of their own: the port has to be named, best by its path below
// /dev/serial/by-id, which contains the serial number and stays the same when the board is plugged in again.
#ifndef TAC_DEVICES_HAPLY_DIY_H
#define TAC_DEVICES_HAPLY_DIY_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which` is the path of a port. The arms must be at their stops when it is
// opened. Thread: setup.
void tac_diy_list(tac_driver_report *out_report);
tac_result tac_diy_open(const char *which, const tac_open_def *def, tac_device **out_device);
bool tac_diy_let_go(const char *which);

#ifdef __cplusplus
}
#endif

#endif
