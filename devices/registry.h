// Registry: every driver by its name, the devices that each finds on this machine, and one function that
// opens a device from what the user types: "falcon", "falcon:SERIAL", "inverse3", "chai3d:0", "dhd:0",
// "hd:NAME", "sim:touch", "playback:FILE", "mouse". A driver that finds nothing reports why, and what the
// user can do.
//
// A new driver is one row in the table of registry.c, or a shared library that an installed program loads
// (docs/writing-a-device.md).
#ifndef TAC_DEVICES_REGISTRY_H
#define TAC_DEVICES_REGISTRY_H

#include "base/result.h"
#include "devices/device.h"
#include "devices/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether a device can be used, and what prevents it.
typedef enum tac_driver_state {
	TAC_DRIVER_READY,         // it can be opened
	TAC_DRIVER_NOTHING,       // no device is connected
	TAC_DRIVER_NO_LIBRARY,    // the vendor's library is not installed
	TAC_DRIVER_NO_PERMISSION, // the user may not open it; the reason has the udev rule
	TAC_DRIVER_NO_FIRMWARE,   // the device needs a file that only its vendor may distribute
	TAC_DRIVER_BUSY,          // another program has it open
	TAC_DRIVER_NOT_BUILT,     // this build of Tactus lacks the driver
	TAC_DRIVER_FAILED,        // another failure, named in the reason
	TAC_DRIVER_STATE_COUNT,
} tac_driver_state;

#define TAC_DRIVER_DEVICES_MAX 16

// A device that a driver found.
typedef struct tac_driver_device {
	char selection[64];   // opens it: "falcon:12345"
	char description[96]; // "Novint Falcon"
	char serial[32];      // empty: it has none
	tac_driver_state state;
	char reason[256]; // if it is not READY: what was found and what helps; otherwise empty
} tac_driver_device;

// What a driver finds.
typedef struct tac_driver_report {
	tac_driver_state state; // READY: the driver itself works
	char reason[256];       // if it does not, or no device is connected; a ready driver may give a hint
	int count;
	tac_driver_device devices[TAC_DRIVER_DEVICES_MAX];
} tac_driver_report;

// What opening a device may need beyond its name. All zero is the default.
typedef struct tac_open_def {
	const char *firmware;             // falcon: the image; NULL: tac_falcon_firmware_path
	bool (*cancelled)(void *user);    // called about 20 times a second while opening waits; may be NULL
	void *user;                       // for `cancelled`
	bool repeat;                      // playback: start again at the end
	const char *grip;                 // sim: the grip of the hand; NULL: "stylus"
	const tac_sim_waypoint *sim_path; // sim: the hand's path; none: it holds still
	uint32_t sim_waypoints;
	bool sim_repeat;    // sim: the path begins again after its end
	bool in_process;    // open the device in this process even if its driver needs a keeper; for tests
	const char *keeper; // path of tactus-keep; NULL: TACTUS_KEEPER, beside libtactus.so or the program,
			    // installed
} tac_open_def;

// A driver. `which` is the part of a selection after the colon, "" if there is none.
typedef struct tac_driver {
	const char *name;
	const char *form;    // "falcon[:SERIAL]"
	const char *summary; // the devices that it drives
	bool hot_pluggable;  // its devices can be unplugged and plugged in again (devices/hotplug.h)
	bool by_serial;      // what follows the colon is a serial number
	bool needs_keeper;   // its hardware may hold a force after this process has died: a keeper opens it
	// Fills a zeroed report. It prints, logs and moves nothing.
	void (*list)(tac_driver_report *out_report);
	// Opens a device; on failure it logs one line and *out_device is NULL.
	tac_result (*open)(const char *which, const tac_open_def *def, tac_device **out_device);
	// Connects to a device that another process has left, sends zero and disconnects, as fast as
	// possible, without homing or loading anything. True: zero was sent. NULL: opening and closing the
	// device does it.
	bool (*let_go)(const char *which);
} tac_driver;

#define TAC_REGISTRY_ADDED_MAX 8

// Adds a driver, which must outlive all use of the registry, after the built-in ones. TAC_ERROR_ARGUMENT with
// a log line if its name is taken or a function is missing, if it needs a keeper (the keeper process does not
// know it), or if TAC_REGISTRY_ADDED_MAX have been added.
// Thread: setup, before devices are opened.
TAC_API tac_result tac_registry_add(const tac_driver *driver);

// Raised whenever tac_device, tac_driver or what they contain changes.
#define TAC_DRIVER_ABI 3

// A shared library that contains a driver defines one function and one number:
//	const tac_driver *tac_driver_plugin(void) { static const tac_driver pen = {…}; return &pen; }
//	const uint32_t tac_driver_abi = TAC_DRIVER_ABI;
#define TAC_DRIVER_PLUGIN     "tac_driver_plugin"
#define TAC_DRIVER_PLUGIN_ABI "tac_driver_abi"

// Loads the library `path` and adds its driver. It stays loaded. TAC_ERROR_IO (it cannot be loaded, or other
// users can change it), TAC_ERROR_FORMAT (it has no driver, or one for another TAC_DRIVER_ABI) or the result
// of tac_registry_add, with a log line. Thread: setup, before devices are opened.
TAC_API tac_result tac_registry_load(const char *path);

// Loads every file NAME.so of a folder, in the order of their names, for programs that read the environment
// variable TACTUS_DRIVERS. Those that fail are left out, each with its log line: TAC_PARTIAL. TAC_ERROR_IO
// with a log line if there is no such folder. Thread: setup, before devices are opened.
TAC_API tac_result tac_registry_load_folder(const char *folder);

// Driver `index`, from 0; NULL after the last.
// Thread: any.
TAC_API const tac_driver *tac_registry_driver_at(int index);

// Lists the devices that `driver` finds now. A vendor's library may take long. Thread: setup.
TAC_API void tac_registry_list(const tac_driver *driver, tac_driver_report *out_report);

// The driver that `selection` names, and what follows the colon in *out_which ("": nothing). NULL: none.
// Thread: any.
TAC_API const tac_driver *tac_registry_driver_of(const char *selection, const char **out_which);

// Opens the device that `selection` names, in a keeper process if its driver needs one
// (docs/writing-a-device.md); forces are off. `def` may be NULL. TAC_ERROR_ARGUMENT with a line
// that lists the forms if no driver has this name; otherwise the driver's result, with its line. TAC_PARTIAL:
// open, with a warning. The caller destroys *out_device. Thread: setup.
TAC_API tac_result tac_registry_open(const char *selection, const tac_open_def *def, tac_device **out_device);

// "ready", "nothing connected", …. Never NULL. Thread: any.
TAC_API const char *tac_driver_state_name(tac_driver_state state);

// For drivers: appends a device to the report if there is room; `serial` and `reason` may be
// NULL.
// Thread: setup.
TAC_API void tac_driver_report_add(tac_driver_report *report, const char *selection, const char *description,
				   const char *serial, tac_driver_state state, const char *reason);

// For drivers whose devices have numbers: the number in `which`, 0 for "". False with a log line if it is
// none. Thread: setup.
TAC_API bool tac_driver_parse_number(const char *driver, const char *which, int *out_number);

#ifdef __cplusplus
}
#endif

#endif
