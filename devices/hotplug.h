// Hot-plug: a device that may be unplugged and plugged in again while the loop runs. It wraps the device that
// the registry opens. When that is lost, the wrapper returns TAC_DEVICE_DISABLED with the last pose and zero
// velocity, so the loop continues without force. A supervisor thread closes the lost device, waits until it
// is connected again, opens it (firmware and homing included) and hands it over. The gate (haptic/limit.h)
// then raises the force slowly, as at the start.
//
// The real-time thread takes no lock: devices are handed over by atomic exchange.
#ifndef TAC_DEVICES_HOTPLUG_H
#define TAC_DEVICES_HOTPLUG_H

#include "base/api.h"
#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// Opens `selection` as tac_registry_open does, and wraps it if its driver is hot_pluggable. The strings of
// `def` must outlive the device. Loss, failed attempts and return are logged, one line each. Thread: setup.
TAC_API tac_result tac_hotplug_open(const char *selection, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
