// Virtual USB: a USB device that is a program. A model (devices/virtual_board.h, …) says what the device
// does; this module runs it on a thread of its own, queues the host's transfers, cuts them into packets,
// answers the standard requests from the descriptors, and can make all of it fail on purpose. How the
// transfers come here is the transport's matter: tests link a stand-in for the kernel (tests/usb_shim.h),
// `tactus emulate` attaches the device to the running kernel (devices/virtual_vhci.h).
#ifndef TAC_DEVICES_VIRTUAL_USB_H
#define TAC_DEVICES_VIRTUAL_USB_H

#include "base/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a model's functions return instead of a number of bytes.
#define TAC_VIRTUAL_NAK   (-1) // not now
#define TAC_VIRTUAL_STALL (-2) // never: the endpoint halts, a control request is refused

// The largest control transfer.
#define TAC_VIRTUAL_CONTROL_MAX 4096

// The eight bytes of a control request.
typedef struct tac_virtual_setup {
	uint8_t type, request;
	uint16_t value, index, count;
} tac_virtual_setup;

// A device model: a driver of this interface embeds it first. All functions are called on one thread.
typedef struct tac_virtual_model tac_virtual_model;

struct tac_virtual_model {
	const uint8_t *device_descriptor;        // 18 bytes
	const uint8_t *configuration_descriptor; // all of it: wTotalLength bytes
	const char *const *strings;              // ASCII, index 1 first; NULL ends them
	bool high_speed;                         // else full speed

	// Class and vendor requests; NULL: all are refused. With the direction bit in setup->type it fills up
	// to setup->count bytes and returns how many; else it reads setup->count bytes and returns 0. Or
	// STALL.
	int (*control)(tac_virtual_model *model, const tac_virtual_setup *setup, uint8_t *bytes);

	// Data for a bulk OUT endpoint; `end`: a short packet ended it. Returns 0, STALL, or NAK (it will be
	// asked again with the same bytes after the next step).
	int (*out)(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
		   bool end);

	// One packet for a bulk IN endpoint, up to `capacity` bytes, the packet size. Fewer end the transfer.
	// Returns how many, STALL, or NAK (asked again after the next step).
	int (*in)(tac_virtual_model *model, uint8_t endpoint, uint8_t *packet, uint32_t capacity);

	// What the device does by itself; may be NULL. Called whenever transfers have moved and at the time
	// it returns: on the clock of tac_clock_now_ns; a time that has passed: at once, after other
	// transfers had their turn; INT64_MAX: when something moves.
	int64_t (*step)(tac_virtual_model *model, int64_t now_ns);

	// A bus reset, or power: forget everything. May be NULL.
	void (*reset)(tac_virtual_model *model);
};

// Faults that a device can be told to have.
typedef enum tac_virtual_fault {
	TAC_VIRTUAL_WORKS,   // ends SILENT
	TAC_VIRTUAL_STALLS,  // the next transfer is refused, and the endpoint halted until the host clears it
	TAC_VIRTUAL_SILENT,  // nothing moves, for `duration_ns` (0: until WORKS)
	TAC_VIRTUAL_SHORT,   // the next transfer loses its second half; the host sees no error
	TAC_VIRTUAL_GARBAGE, // the next transfer has bits flipped
	TAC_VIRTUAL_BREAKS,  // the next transfer ends with a bus error
	TAC_VIRTUAL_FAULT_COUNT,
} tac_virtual_fault;

// A transfer. The caller's until submitted and again from its completion on.
typedef struct tac_virtual_urb tac_virtual_urb;

struct tac_virtual_urb {
	uint8_t endpoint;                       // with the direction bit; 0 and 0x80 are control requests
	bool zero_packet;                       // OUT: an empty packet follows where the last one is full
	uint8_t setup[8];                       // control
	uint8_t *bytes;                         // data stage
	uint32_t count;                         // its length
	void (*complete)(tac_virtual_urb *urb); // on the device's thread, or on the one that cancels
	void *user;

	uint32_t done; // bytes moved
	int status; // 0, or the negative errno that the kernel would give: -EPIPE, -ENOENT, -ESHUTDOWN, …

	tac_virtual_urb *next; // the device's own
	bool cancelled;
};

typedef struct tac_virtual_usb tac_virtual_usb;

// A device that runs `model`, which stays the caller's and must outlive it. The caller owns *out_device.
// Thread: setup.
tac_result tac_virtual_usb_create(tac_virtual_model *model, tac_virtual_usb **out_device);

// Ends every transfer with -ESHUTDOWN, stops the thread, frees *device and nulls the pointer; NULL in it is
// allowed. Thread: setup, when no transport uses it.
void tac_virtual_usb_destroy(tac_virtual_usb **device);

// Thread: any.
const tac_virtual_model *tac_virtual_usb_model(const tac_virtual_usb *device);

// Queues a transfer; it completes sometime, from inside this call at the earliest.
// Thread: any but RT.
void tac_virtual_usb_submit(tac_virtual_usb *device, tac_virtual_urb *urb);

// Ends a transfer with -ENOENT. False: it has completed, or is about to. Thread: any but RT.
bool tac_virtual_usb_cancel(tac_virtual_usb *device, tac_virtual_urb *urb);

// Ends every transfer with -ESHUTDOWN, and those that come later; with `plugged` true the device works again,
// after a reset. What a transport calls when the device is pulled out and put back. When it returns, no
// transfer is left. Thread: any but RT and the device's own.
void tac_virtual_usb_plug(tac_virtual_usb *device, bool plugged);

// A bus reset: halts are cleared, the model is reset. Transfers stay. Thread: any but RT.
void tac_virtual_usb_reset(tac_virtual_usb *device);

// The host clears a halted endpoint. Thread: any but RT.
void tac_virtual_usb_clear_halt(tac_virtual_usb *device, uint8_t endpoint);

// Plants a fault on an endpoint; a second one takes the place of the first. Thread: any but RT.
void tac_virtual_usb_inject(tac_virtual_usb *device, uint8_t endpoint, tac_virtual_fault fault,
			    int64_t duration_ns);

// How many planted faults have struck, all endpoints together. Thread: any.
uint64_t tac_virtual_usb_struck(const tac_virtual_usb *device);

#ifdef __cplusplus
}
#endif

#endif
