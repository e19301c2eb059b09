// Hot-plug: a device that may be pulled out and put back while the loop runs. It wraps what the registry
// opens. When that is lost, the wrapper answers TAC_DEVICE_DISABLED with the last pose and no speed, so the
// loop goes on without force; a thread lets go of the lost device, waits until one is there again, opens it
// (firmware and homing included) and hands it over. The gate (haptic/limit.h) then brings the force up
// slowly, as at the start.
//
// The real-time thread takes no lock: devices change hands by atomic exchange.
#ifndef TAC_DEVICES_HOTPLUG_H
#define TAC_DEVICES_HOTPLUG_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// Opens `selection` as tac_registry_open does, and wraps it where its driver has `returns`. The strings of
// `def` must outlive the device. Loss, failed attempts and return get a log line each. Thread: setup.
tac_result tac_hotplug_open(const char *selection, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
