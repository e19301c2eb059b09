// Mailbox: a device whose pose another thread sets: a viewer that converts mouse motion, a keyboard, a
// script. Poses may arrive at any rate, perhaps 60 times a second; the device moves towards the newest with a
// time constant, so that the loop gets a smooth motion instead of steps. Forces are accepted and ignored.
#ifndef TAC_DEVICES_INPUT_MAILBOX_H
#define TAC_DEVICES_INPUT_MAILBOX_H

#include "base/result.h"
#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// A device at rest at `T_base_tool` until a pose is set, which it follows with the time constant
// `smoothing_s` (0: at once). Its name is copied. TAC_ERROR_MEMORY with a log line. Thread: setup.
tac_result tac_mailbox_create(const char *name, tac_dpose T_base_tool, double smoothing_s,
			      tac_device **out_device);

// Sets the target pose and the buttons. A pose that is not finite is ignored.
// Thread: any, one writer; wait-free.
void tac_mailbox_set(tac_device *device, tac_dpose T_base_tool, uint32_t buttons);

// From now on reads return TAC_DEVICE_ENDED. Thread: any.
void tac_mailbox_end(tac_device *device);

#ifdef __cplusplus
}
#endif

#endif
