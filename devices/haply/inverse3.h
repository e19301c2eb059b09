// Inverse3: the Haply Inverse3, an arm with three motors, and its handle (VerseGrip), over USB serial ports
// and without the maker's service. The arm reports its position only in answer to a force, so reading is
// writing: a relay (devices/vendor/relay.h) exchanges one force for one position each millisecond on a thread
// of its own. It sends zero when the loop is silent or forces are off. How long the arm holds a force is not
// published, so a keeper holds the device.
//
// Answers have no checksum: one that the mechanism cannot give, or that is farther from the one before than a
// hand moves, is dropped. The handle is optional: without it, or while it sleeps, the rotation is the last
// known and no button is held.
#ifndef TAC_DEVICES_HAPLY_INVERSE3_H
#define TAC_DEVICES_HAPLY_INVERSE3_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which` is ARM[,HANDLE]: each a USB serial number or the path of a port;
// "" is the first arm, and the handle that is connected. Thread: setup.
void tac_inverse3_list(tac_driver_report *out_report);
tac_result tac_inverse3_open(const char *which, const tac_open_def *def, tac_device **out_device);
bool tac_inverse3_let_go(const char *which);

#ifdef __cplusplus
}
#endif

#endif
