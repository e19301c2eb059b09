// Falcon: the Novint Falcon, a delta robot with three motors, over libusb and without the vendor's driver.
// devices/falcon/falcon_link.h brings the device to the point where it answers packets,
// devices/falcon/falcon_kinematics.h is its mechanism, and this is the part that runs a thousand times a
// second: one command out, one report in. The real-time thread waits for neither, and allocates nothing.
//
// The device holds its last force until the next command, so a watchdog thread sends zero when nobody has
// written for info.hold_ns or forces were switched off. Invalid reports (impossible encoder values, a jump
// across the workspace) are dropped, and 5 ms after the last valid one the force is zero, because motor
// values are a force at one position only. A device that loses its homing reports TAC_DEVICE_DISABLED and
// gets no force until it is homed again.
#ifndef TAC_DEVICES_FALCON_FALCON_H
#define TAC_DEVICES_FALCON_FALCON_H

#include "devices/falcon/falcon_link.h"
#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_falcon_def {
	tac_falcon_link_def link;
	int64_t home_ns; // time for the user to home it; default 60 s
	uint8_t leds;    // after homing: TAC_FALCON_LED_…
} tac_falcon_def;

// Thread: any.
tac_falcon_def tac_falcon_def_default(void);

// Connects, loads the firmware if needed, asks the user to home the device (a log line) and waits until it is
// homed. TAC_ERROR_IO, _FORMAT, _UNSUPPORTED or _MEMORY with one log line. Thread: setup.
tac_result tac_falcon_create(const tac_falcon_def *def, tac_device **out_device);

typedef struct tac_falcon_counters {
	uint64_t reports;
	uint64_t impossible;    // encoder values that the mechanism cannot have
	uint64_t jumps;         // reports too far from the one before
	uint64_t unhomed;       // reports of a device that is not homed
	uint64_t unsent;        // commands for which no buffer was free
	uint64_t saturated;     // commands beyond the motors' maximum
	uint64_t dropped_bytes; // that belong to no packet
	uint64_t watchdog;      // zeros that the watchdog thread sent
} tac_falcon_counters;

// The counters of a device that tac_falcon_create returned. Thread: RT, the owner.
tac_falcon_counters tac_falcon_read_counters(tac_device *device);

// Sets the lamps from the next command on. Thread: any.
void tac_falcon_set_leds(tac_device *device, uint8_t leds);

// The functions of its tac_driver. `which` is a serial number; "" is the first device. Thread: setup.
void tac_falcon_list(tac_driver_report *out_report);
tac_result tac_falcon_open(const char *which, const tac_open_def *def, tac_device **out_device);
bool tac_falcon_let_go(const char *which);

#ifdef __cplusplus
}
#endif

#endif
