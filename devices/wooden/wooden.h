// WoodenHaptics and Polhem: the open-hardware devices with their USB boards, through the kernel's hidraw,
// without a library. A relay (devices/vendor/relay.h) sends currents and takes the newest report each
// millisecond. The firmware cuts the motors 0.5 s after the last report; a keeper holds the device, so that
// it is zero sooner.
//
// Reports are framed and checked by USB. One that jumps farther than a hand moves is dropped.
#ifndef TAC_DEVICES_WOODEN_WOODEN_H
#define TAC_DEVICES_WOODEN_WOODEN_H

#include "devices/registry.h"
#include "devices/wooden/wooden_protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

// A device over an open descriptor that reads and writes whole reports: hidraw, or a socket in tests. It owns
// the descriptor, also on failure. TAC_ERROR_IO (no report came), TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM with a
// log line. Thread: setup.
tac_result tac_wooden_create(const tac_wooden_model *model, int fd, tac_device **out_device);

// The functions of their tac_drivers. `which` is the path of a hidraw file; "" is the first device. A
// WoodenHaptics must be in its starting pose when it is opened (devices/wooden/wooden_protocol.h); a Polhem
// is told of it by its calibration button, at any time. Thread: setup.
void tac_wooden_list(tac_driver_report *out_report);
tac_result tac_wooden_open(const char *which, const tac_open_def *def, tac_device **out_device);
void tac_polhem_list(tac_driver_report *out_report);
tac_result tac_polhem_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
