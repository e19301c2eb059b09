// Mailbox: a device whose pose another thread sets, for those who have no hardware: a viewer that turns a
// mouse into motion, a keyboard, a script. Poses come when they come, perhaps 60 times a second; the device
// moves towards the newest with a time constant of its own, so that the loop sees a hand and not a staircase.
// Forces are taken and go nowhere.
#ifndef TAC_DEVICES_MAILBOX_H
#define TAC_DEVICES_MAILBOX_H

#include "base/result.h"
#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// A device that stands at `T_base_tool` until it is told otherwise, and follows within `smoothing_s` (0: at
// once). Its name is copied. TAC_ERROR_MEMORY with a log line.
// Thread: setup.
tac_result tac_mailbox_create(const char *name, tac_dpose T_base_tool, double smoothing_s,
			      tac_device **out_device);

// Where the tool is to be, and which buttons are held. A pose that is not finite is left out.
// Thread: any, one writer; wait-free.
void tac_mailbox_set(tac_device *device, tac_dpose T_base_tool, uint32_t buttons);

// From now on reads answer TAC_DEVICE_ENDED. Thread: any.
void tac_mailbox_end(tac_device *device);

#ifdef __cplusplus
}
#endif

#endif
