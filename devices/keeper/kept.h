// Kept device: a device that another process holds, the keeper (devices/keeper/keep.c). The Falcon and most
// vendor libraries leave the last force in the motors when the process that drives them dies. So the runtime
// never opens such a device itself. It starts tactus-keep, sends it an order per tick through shared memory
// (devices/keeper/channel.h) and takes samples from there. Whatever ends or stops the runtime, the keeper
// notices that orders are missing and commands zero. If keeper and guard are both ended or stopped, the
// runtime starts tactus-keep again to send zero.
//
// Cost for the real-time thread: two copies and one write to an eventfd per tick (bench_keeper).
#ifndef TAC_DEVICES_KEEPER_KEPT_H
#define TAC_DEVICES_KEEPER_KEPT_H

#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// Opens `selection` in a keeper process. The keeper's log lines appear in this process's log. On failure
// *out_device is NULL and one line is logged: the driver's, or TAC_ERROR_UNSUPPORTED if there is no program
// tactus-keep, TAC_ERROR_SYSTEM if it cannot be started. When the keeper dies, the device is LOST and one
// line is logged. Thread: setup.
tac_result tac_kept_open(const char *selection, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
