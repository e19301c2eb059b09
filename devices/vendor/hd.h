// HD: devices of 3D Systems (Touch, Touch X, Premium) through the vendor's OpenHaptics library libHD, if it
// is installed. Only the functions that a device needs are used. The library runs a scheduler thread at 1
// kHz; the exchange happens there.
//
// The library cuts forces off when the device moves too fast, pushes too hard or its motors are warm. The
// driver then reports TAC_DEVICE_DISABLED and switches them on again after half a second without an error;
// the gate (haptic/limit.h) raises them slowly.
//
// TACTUS_HD_LIBRARY names the library's file if it is not in a system folder (library.h).
#ifndef TAC_DEVICES_VENDOR_HD_H
#define TAC_DEVICES_VENDOR_HD_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which` is the name that the vendor's set-up program gave the device; ""
// is its default device. TAC_PARTIAL with a log line if the device needs a calibration that it cannot do by
// itself. Thread: setup.
void tac_hd_list(tac_driver_report *out_report);
tac_result tac_hd_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
