// DHD: devices of Force Dimension (omega, delta, sigma, lambda) through the maker's library libdhd, or
// libdrd, which contains it, where that is installed. Only what a device needs of it is used. The device's
// own watchdog and force limit are set when it is opened; it compensates its own weight.
//
// TACTUS_DHD_LIBRARY names the library's file where it is not in the loader's path.
#ifndef TAC_DEVICES_DHD_H
#define TAC_DEVICES_DHD_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which`: the device's number from 0; "": the first. TAC_PARTIAL with a log
// line where the device refuses its watchdog.
// Thread: setup.
void tac_dhd_list(tac_driver_report *out_report);
tac_result tac_dhd_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
