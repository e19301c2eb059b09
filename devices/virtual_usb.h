// Virtual USB: a USB device in software. A model (devices/virtual_board.h, devices/virtual_falcon.h) defines
// what the device does. This module runs it on a thread, queues the host's transfers, splits them into
// packets, answers the standard requests from the descriptors, and injects faults. A transport delivers the
// transfers: tests link a stand-in for the kernel (tests/support/usb_shim.h), `tactus emulate` attaches the
// device to the running kernel (devices/virtual_vhci.h).
#ifndef TAC_DEVICES_VIRTUAL_USB_H
#define TAC_DEVICES_VIRTUAL_USB_H

#include "base/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Return values of a model's functions that are not a number of bytes.
#define TAC_VIRTUAL_NAK   (-1) // not now: call again later
#define TAC_VIRTUAL_STALL (-2) // the endpoint halts; a control request is refused

// The largest control transfer.
#define TAC_VIRTUAL_CONTROL_MAX 4096

// The eight bytes of a control request.
typedef struct tac_virtual_setup {
	uint8_t type, request;
	uint16_t value, index, count;
} tac_virtual_setup;

// A device model, which an implementation embeds as its first member. All functions are called on one thread.
typedef struct tac_virtual_model tac_virtual_model;

struct tac_virtual_model {
	const uint8_t *device_descriptor;        // 18 bytes
	const uint8_t *configuration_descriptor; // all of it: wTotalLength bytes
	const char *const *strings;              // ASCII, index 1 first; NULL ends them
	bool high_speed;                         // otherwise full speed

	// Class and vendor requests; NULL: all are refused. With the direction bit in setup->type it fills up
	// to setup->count bytes and returns their number; otherwise it reads setup->count bytes and returns
	// 0. Or STALL.
	int (*control)(tac_virtual_model *model, const tac_virtual_setup *setup, uint8_t *bytes);

	// Data for a bulk OUT endpoint; `end`: a short packet ended it. Returns 0, STALL, or NAK (called
	// again with the same bytes after the next step).
	int (*out)(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
		   bool end);

	// One packet for a bulk IN endpoint, up to `capacity` bytes, the packet size. Fewer end the transfer.
	// Returns their number, STALL, or NAK (called again after the next step).
	int (*in)(tac_virtual_model *model, uint8_t endpoint, uint8_t *packet, uint32_t capacity);

	// What the device does by itself; may be NULL. Called after transfers have moved, and at the time
	// that it returns (tac_clock_now_ns): a time in the past means at once, after the pending transfers;
	// INT64_MAX means when a transfer moves.
	int64_t (*step)(tac_virtual_model *model, int64_t now_ns);

	// A bus reset or power-on: clears all state. May be NULL.
	void (*reset)(tac_virtual_model *model);
};

// Faults that can be injected.
typedef enum tac_virtual_fault {
	TAC_VIRTUAL_FAULT_NONE,    // ends SILENCE
	TAC_VIRTUAL_FAULT_STALL,   // the next transfer fails, and the endpoint halts until the host clears it
	TAC_VIRTUAL_FAULT_SILENCE, // no transfer moves, for `duration_ns` (0: until NONE)
	TAC_VIRTUAL_FAULT_SHORT,   // the next transfer loses its second half; the host sees no error
	TAC_VIRTUAL_FAULT_CORRUPT, // the next transfer has bits flipped
	TAC_VIRTUAL_FAULT_BUS_ERROR, // the next transfer ends with a bus error
	TAC_VIRTUAL_FAULT_COUNT,
} tac_virtual_fault;

// A transfer. It belongs to the caller before it is submitted and from its completion on.
typedef struct tac_virtual_urb tac_virtual_urb;

struct tac_virtual_urb {
	uint8_t endpoint;                       // with the direction bit; 0 and 0x80 are control requests
	bool zero_packet;                       // OUT: an empty packet follows if the last one is full
	uint8_t setup[8];                       // control
	uint8_t *bytes;                         // data stage
	uint32_t count;                         // its length
	void (*complete)(tac_virtual_urb *urb); // on the device's thread, or on the one that cancels
	void *user;

	uint32_t done; // bytes moved
	int status;    // 0, or the kernel's negative errno: -EPIPE, -ENOENT, -ESHUTDOWN, …

	tac_virtual_urb *next; // of the device
	bool cancelled;
};

typedef struct tac_virtual_usb tac_virtual_usb;

// A device that runs `model`, which the caller keeps and which must outlive it. The caller owns *out_device.
// TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM with a log line.
// Thread: setup.
tac_result tac_virtual_usb_create(tac_virtual_model *model, tac_virtual_usb **out_device);

// Ends every transfer with -ESHUTDOWN, stops the thread, frees *device and nulls the pointer; NULL in it is
// allowed. Thread: setup, when no transport uses it.
void tac_virtual_usb_destroy(tac_virtual_usb **device);

// Thread: any.
const tac_virtual_model *tac_virtual_usb_model(const tac_virtual_usb *device);

// Queues a transfer. It completes later, or already inside this call.
// Thread: any but RT.
void tac_virtual_usb_submit(tac_virtual_usb *device, tac_virtual_urb *urb);

// Ends a transfer that the device cannot take with -ENOENT; waits until its thread has tried, so that a
// process that was held up does not see a device that was slow. False: it has completed, or is completing.
// Thread: any but RT and the device's own.
bool tac_virtual_usb_cancel(tac_virtual_usb *device, tac_virtual_urb *urb);

// A transport calls it when the device is unplugged or plugged in. Unplugged, every transfer ends with
// -ESHUTDOWN, also those submitted later, and none is left when the call returns. Plugged in, the device
// works again, after a reset. Thread: any but RT and the device's own.
void tac_virtual_usb_plug(tac_virtual_usb *device, bool plugged);

// A bus reset: clears halts and resets the model. Transfers stay queued. Thread: any but RT.
void tac_virtual_usb_reset(tac_virtual_usb *device);

// Clears the halt of an endpoint, on behalf of the host. Thread: any but RT.
void tac_virtual_usb_clear_halt(tac_virtual_usb *device, uint8_t endpoint);

// Injects a fault on an endpoint; it replaces one that has not occurred yet. Thread: any but RT.
void tac_virtual_usb_inject(tac_virtual_usb *device, uint8_t endpoint, tac_virtual_fault fault,
			    int64_t duration_ns);

// The number of injected faults that have occurred, on all endpoints. Thread: any.
uint64_t tac_virtual_usb_fault_count(const tac_virtual_usb *device);

#ifdef __cplusplus
}
#endif

#endif
