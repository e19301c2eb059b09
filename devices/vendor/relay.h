// Relay: the half of a driver that is the same for every maker's library. Such libraries wait, lock and
// allocate, so the real-time thread never calls them: one other thread, the relay's own or the library's
// scheduler, exchanges samples against wrenches with the device, and the real-time thread reads and writes
// through wait-free buffers (rt/latest.h). The price is up to one of the device's periods of delay.
//
// Safe by itself: while forces are off, or when nobody has written for info.hold_ns, the device is told zero;
// a wrench beyond the device's maximum is shortened; a lost device stays lost.
#ifndef TAC_DEVICES_RELAY_H
#define TAC_DEVICES_RELAY_H

#include "base/result.h"
#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_RELAY_HOLD_NS INT64_C(20000000) // for info.hold_ns: 20 ms without a new wrench are zero force

// What the device is told.
typedef struct tac_relay_order {
	tac_wrench wrench;
	bool forces; // whether they are on; where not, the wrench is zero
} tac_relay_order;

typedef struct tac_relay_def {
	tac_device_info info; // period_ns and hold_ns above 0
	// Tells the device `order` and fills a new sample; all but its time. OK; STALE: no sample this time;
	// DISABLED: a sample, but the device has cut its forces off by itself; LOST: gone;
	// called once more, with zero, and never again. Always called from one thread.
	tac_device_status (*exchange)(void *user, const tac_relay_order *order, tac_device_state *out_state);
	// Lets go of the device and frees `user`. After the last exchange, on the thread that destroys.
	void (*close)(void *user);
	// Ends the calls of tac_relay_turn, for a relay without a thread of its own; else NULL.
	void (*stop)(void *user);
	void *user;
	const char *thread_name; // of its own thread; NULL: the library calls tac_relay_turn
	int priority;            // of its own thread, SCHED_FIFO where that is granted
} tac_relay_def;

// A device over the relay; `def->user` belongs to it from now on, also where it fails (then it is closed).
// TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM with a log line.
// Thread: setup.
tac_result tac_relay_create(const tac_relay_def *def, tac_device **out_device);

// One exchange now, from the library's scheduler.
// Thread: the library's, always the same one.
void tac_relay_turn(tac_device *device);

#ifdef __cplusplus
}
#endif

#endif
