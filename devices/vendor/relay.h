// Relay: the part of a driver that is the same for every vendor library. Such libraries block, lock and
// allocate, so the real-time thread never calls them. One other thread, the relay's own or the library's
// scheduler, exchanges wrenches for samples with the device; the real-time thread reads and writes wait-free
// buffers (rt/latest.h). This adds a delay of up to one period of the device.
//
// The relay makes a driver safe: while forces are off, or when nobody has written for info.hold_ns, it
// commands zero; it shortens a wrench to the device's maximum; a device whose library does not return, or
// that is lost, stays lost.
#ifndef TAC_DEVICES_VENDOR_RELAY_H
#define TAC_DEVICES_VENDOR_RELAY_H

#include "base/result.h"
#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_RELAY_HOLD_NS INT64_C(20000000) // for info.hold_ns: zero force after 20 ms without a new wrench

// The command to the device.
typedef struct tac_relay_command {
	tac_wrench wrench;
	double gripper_N; // positive opens
	bool forces_on;   // if false, wrench and gripper_N are zero
} tac_relay_command;

typedef struct tac_relay_def {
	tac_device_info info; // period_ns and hold_ns above 0
	// Sends `command` to the device and fills a new sample, all but its time. Returns OK; STALE: no
	// sample this time; DISABLED: a sample, but the device has cut its forces off; LOST: gone, and after
	// this the function is called once more, with zero, and never again. Always called from one thread.
	tac_device_status (*exchange)(void *user, const tac_relay_command *command,
				      tac_device_state *out_state);
	// Closes the device and frees `user`. Called after the last exchange, on the thread that destroys.
	void (*close)(void *user);
	// Ends the calls of tac_relay_exchange, for a relay without its own thread; otherwise NULL.
	void (*stop)(void *user);
	void *user;
	const char *thread_name; // of its own thread, with the keeper's priority; NULL: the library calls
				 // tac_relay_exchange
} tac_relay_def;

// Creates a device over the relay. It owns `def->user` from now on, also on failure (which closes it).
// TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM with a log line. Thread: setup.
tac_result tac_relay_create(const tac_relay_def *def, tac_device **out_device);

// Runs one exchange. Thread: the library's scheduler, always the same thread.
void tac_relay_exchange(tac_device *device);

#ifdef __cplusplus
}
#endif

#endif
