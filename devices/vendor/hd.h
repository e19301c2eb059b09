// HD: devices of 3D Systems (Touch, Touch X, Premium) through the maker's OpenHaptics library libHD, where
// that is installed. Only what a device needs of it is used. The library runs a scheduler thread of its own
// at 1 kHz; the exchange happens there.
//
// The library cuts forces off by itself when the device moves too fast, pushes too hard or its motors are
// warm. The driver then reports TAC_DEVICE_DISABLED and switches them on again after half a second without
// complaint; the engage ramp (haptic/limit.h) does the rest.
//
// TACTUS_HD_LIBRARY names the library's file where it is not in the loader's path.
#ifndef TAC_DEVICES_HD_H
#define TAC_DEVICES_HD_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which`: the name that the maker's set-up program gave to the device; "":
// its default device. TAC_PARTIAL with a log line where the device asks to be calibrated and cannot do it by
// itself. Thread: setup.
void tac_hd_list(tac_driver_report *out_report);
tac_result tac_hd_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
