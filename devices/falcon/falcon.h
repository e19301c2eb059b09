// Falcon: the Novint Falcon, a delta robot with three motors, over libusb and nobody's driver.
// devices/falcon_link brings it to answer packets, devices/falcon_kinematics knows the mechanism; here is
// what runs a thousand times a second: one command out, one report in, neither waiting for the other. The
// real-time thread allocates and waits for nothing.
//
// The device holds its last force until it is told another, so a second thread watches: where nobody has
// written for info.hold_ns, or forces were switched off, it sends zero itself. Reports that cannot be
// (impossible encoder values, a jump across the workspace) are dropped, and where none that can be has come
// for 5 ms there is no force: motor values are a force at one place only. A device that loses its homing
// reports TAC_DEVICE_DISABLED and gets no force until it has found it again.
#ifndef TAC_DEVICES_FALCON_H
#define TAC_DEVICES_FALCON_H

#include "devices/falcon_link.h"
#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_falcon_def {
	tac_falcon_link_def link;
	int64_t home_ns; // how long the user may take to home it; default 60 s
	uint8_t leds;    // once it is homed: TAC_FALCON_LED_…
} tac_falcon_def;

// Thread: any.
tac_falcon_def tac_falcon_def_default(void);

// Connects, loads the firmware if needed, asks the user to home the device (a line to the log) and waits
// until that has happened. TAC_ERROR_IO, _FORMAT, _UNSUPPORTED, _MEMORY with one log line. Thread: setup.
tac_result tac_falcon_create(const tac_falcon_def *def, tac_device **out_device);

typedef struct tac_falcon_counters {
	uint64_t reports;
	uint64_t impossible;    // encoder values that the mechanism cannot have
	uint64_t jumps;         // reports that were too far from the one before
	uint64_t unhomed;       // reports without homing
	uint64_t late;          // commands that found no free buffer
	uint64_t saturated;     // commands that the motors could not exert in full
	uint64_t dropped_bytes; // that belonged to no packet
	uint64_t rescued;       // zeros that the watching thread had to send
} tac_falcon_counters;

// Of a device that tac_falcon_create made. Thread: RT, the owner.
tac_falcon_counters tac_falcon_read_counters(tac_device *device);

// Lamps, from the next command on. Thread: any.
void tac_falcon_set_leds(tac_device *device, uint8_t leds);

// The functions of its tac_driver. `which`: a serial number; "": the first.
// Thread: setup.
void tac_falcon_list(tac_driver_report *out_report);
tac_result tac_falcon_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
