// DHD: devices of Force Dimension (omega, delta, sigma, lambda) through the vendor's library libdhd, or
// libdrd, which contains it, if it is installed. Only the functions that a device needs are used. The
// device's own watchdog and force limit are set when it is opened; the device compensates its own weight.
//
// TACTUS_DHD_LIBRARY names the library's file if it is not in a system folder (library.h).
#ifndef TAC_DEVICES_VENDOR_DHD_H
#define TAC_DEVICES_VENDOR_DHD_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions of its tac_driver. `which` is the device's number from 0; "" is the first. TAC_PARTIAL with a
// log line if the device refuses its watchdog. Thread: setup.
void tac_dhd_list(tac_driver_report *out_report);
tac_result tac_dhd_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
