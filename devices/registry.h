// Registry: every driver by its name, what each finds on this machine, and one function that opens a device
// from the text a person types: "falcon", "falcon:SERIAL", "chai3d:0", "dhd:0", "hd:NAME", "sim:touch",
// "playback:FILE", "mouse". A driver that finds nothing says why, and what to do about it.
//
// A new driver adds one tac_driver to the table in registry.c (docs/writing-a-device.md).
#ifndef TAC_DEVICES_REGISTRY_H
#define TAC_DEVICES_REGISTRY_H

#include "base/result.h"
#include "devices/device.h"
#include "devices/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// What stands between a device and its use.
typedef enum tac_driver_state {
	TAC_DRIVER_READY,         // nothing: it can be opened
	TAC_DRIVER_NOTHING,       // none is connected
	TAC_DRIVER_NO_LIBRARY,    // the maker's library is not installed
	TAC_DRIVER_NO_PERMISSION, // the user may not open it; the reason has the udev rule
	TAC_DRIVER_NO_FIRMWARE,   // the device needs a file that only its maker may give away
	TAC_DRIVER_BUSY,          // another program has it
	TAC_DRIVER_NOT_BUILT,     // this build of Tactus is without the driver
	TAC_DRIVER_FAILED,        // something else, named in the reason
	TAC_DRIVER_STATE_COUNT,
} tac_driver_state;

#define TAC_DRIVER_DEVICES_MAX 16

// A device that was found.
typedef struct tac_driver_device {
	char select[64]; // opens it: "falcon:12345"
	char what[96];   // "Novint Falcon"
	char serial[32]; // empty: it has none
	tac_driver_state state;
	char reason[256]; // where it is not READY: what was found and what helps; else empty
} tac_driver_device;

// What a driver found.
typedef struct tac_driver_report {
	tac_driver_state state; // READY: the driver itself works
	char reason[256];       // where it is not, or nothing is connected; also a hint of a ready one
	int count;
	tac_driver_device devices[TAC_DRIVER_DEVICES_MAX];
} tac_driver_report;

// What an open device may need beyond its name. All zero is a good default.
typedef struct tac_open_def {
	const char *firmware;             // falcon: the image; NULL: tac_falcon_firmware_path
	bool (*cancelled)(void *user);    // asked about 20 times a second while opening waits; may be NULL
	void *user;                       // for `cancelled`
	bool repeat;                      // playback: begin anew at the end
	const char *grip;                 // sim: the hand that holds it; NULL: "stylus"
	const tac_sim_waypoint *sim_path; // sim: where the hand wants to go; none: it holds still
	uint32_t sim_waypoints;
} tac_open_def;

// A driver. `which` is what comes after the colon of a selection, "" where there is none.
typedef struct tac_driver {
	const char *name;
	const char *form;    // "falcon[:SERIAL]"
	const char *summary; // which devices
	bool returns;        // its devices can be pulled out and put back (devices/hotplug.h)
	// Fills a report that was zeroed. Prints and logs nothing, and moves nothing.
	void (*list)(tac_driver_report *out_report);
	// Opens a device; on failure one log line and *out_device NULL.
	tac_result (*open)(const char *which, const tac_open_def *def, tac_device **out_device);
} tac_driver;

// The drivers, in the order of their numbers from 0; NULL after the last.
// Thread: any.
const tac_driver *tac_registry_driver_at(int index);

// What `driver` finds now. May take as long as the maker's library does.
// Thread: setup.
void tac_registry_list(const tac_driver *driver, tac_driver_report *out_report);

// Opens the device that `selection` names; forces are off. `def` may be NULL. TAC_ERROR_ARGUMENT with a line
// that lists the forms where no driver has this name; else what the driver answers, with its line.
// TAC_PARTIAL: open, with something worth noticing. The caller destroys *out_device. Thread: setup.
tac_result tac_registry_open(const char *selection, const tac_open_def *def, tac_device **out_device);

// "ready", "nothing connected", …. Never NULL. Thread: any.
const char *tac_driver_state_name(tac_driver_state state);

// For drivers: appends a device to the report, as far as there is room; `reason` may be NULL.
// Thread: setup.
void tac_driver_report_add(tac_driver_report *report, const char *select, const char *what,
			   const char *serial, tac_driver_state state, const char *reason);

// For drivers whose devices have numbers: 0 for "", the number in `which`, or false with a log line.
// Thread: setup.
bool tac_driver_parse_number(const char *driver, const char *which, int *out_number);

#ifdef __cplusplus
}
#endif

#endif
