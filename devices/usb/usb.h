// USB: one device over libusb, for drivers whose real-time thread may neither wait nor allocate. libusb does
// both when a transfer is submitted, so the real-time thread never calls it: all transfers belong to an I/O
// thread of this module. To send, the real-time thread fills one of a fixed set of buffers and wakes that
// thread; what arrives on the IN endpoint, which always has transfers waiting, comes through a ring, one
// transfer an element. Both directions hand over buffers by index (rt/ring.h); no byte is copied.
//
// The first thing that goes wrong (stall, bus error, removal) is kept as the link's trouble and ends every
// later call at once; the way back is to close and to open again, which belongs to a thread that has time.
#ifndef TAC_DEVICES_USB_H
#define TAC_DEVICES_USB_H

#include "base/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_usb tac_usb;

// Most transfers that a direction may have.
#define TAC_USB_TRANSFERS_MAX 16

typedef struct tac_usb_def {
	uint16_t vendor_id, product_id; // not 0
	const char *serial;             // NULL: the first device with these ids
	int interface;                  // claimed; a driver of the kernel's is detached for as long
	uint8_t out_endpoint;           // bulk; 0: none
	uint8_t in_endpoint;            // bulk, with the direction bit (0x81); 0: none
	uint32_t out_bytes;             // size of a buffer to send from
	uint32_t in_bytes;              // size of a buffer to receive in: a multiple of the packet size
	int out_count;                  // buffers to send from, 1 … TAC_USB_TRANSFERS_MAX; default 4
	int in_count;                   // transfers kept waiting; default 4
	int in_backlog;        // received transfers that can wait for the real-time thread; default 8
	uint32_t out_limit_ms; // after this a transfer that the device does not take is trouble; default 100
	bool end_with_short;   // a transfer that fills its last packet is followed by an empty one
	bool clear_halts;      // clear both endpoints when opening, in case they were left stalled
	int priority;          // SCHED_FIFO priority of the I/O thread; 0 (default): ordinary
} tac_usb_def;

// How a transfer went, and what a link's trouble is.
typedef enum tac_usb_status {
	TAC_USB_OK,
	TAC_USB_TIMEOUT,  // nothing by the deadline; as trouble: the device takes no more data
	TAC_USB_FULL,     // no buffer is free: the device is slower than the sender
	TAC_USB_STALL,    // an endpoint is halted
	TAC_USB_OVERFLOW, // more arrived than a buffer holds
	TAC_USB_ERROR,    // a bus error, or libusb refused
	TAC_USB_LOST,     // unplugged
	TAC_USB_STATUS_COUNT,
} tac_usb_status;

// Since the link was opened.
typedef struct tac_usb_counters {
	uint64_t sent, received; // transfers that ended well
	uint64_t dropped;        // of those received: no buffer was left, because nobody read
	uint64_t failed;         // transfers that ended otherwise, those given up by closing not counted
} tac_usb_counters;

// What tac_usb_list finds.
typedef struct tac_usb_found {
	uint16_t vendor_id, product_id;
	uint8_t bus, address;
	bool accessible; // it could be opened
	bool busy;       // another program has its first interface
	char serial[32]; // empty: it has none, or it could not be asked
	char product[64];
} tac_usb_found;

// The udev rule, one line, that lets the user who sits at the machine open devices of these ids. Returns
// `out`. Thread: any.
const char *tac_usb_udev_rule(uint16_t vendor_id, uint16_t product_id, char *out, size_t size);

// 4 buffers each way, a backlog of 8, 100 ms, everything else 0.
// Thread: any.
tac_usb_def tac_usb_def_default(void);

// Fills up to `capacity` entries with the devices of these ids (0: any id) and returns how many there are, or
// a negative tac_result with a log line. Thread: setup.
int tac_usb_list(uint16_t vendor_id, uint16_t product_id, tac_usb_found *out_found, int capacity);

// Waits until a device with the ids of `def` is there, by hot-plug events and by looking again every half
// second (not every system has a udev that sends them). False: not within `timeout_ns`, or `give_up`, which
// may be NULL and is asked every 50 ms, said so. Logs nothing. Thread: setup.
bool tac_usb_wait(const tac_usb_def *def, int64_t timeout_ns, bool (*give_up)(void *user), void *user);

// Opens the device, claims it and starts its I/O thread. On failure *out_usb is NULL and one line is logged;
// where permission is missing, it has the udev rule to install. TAC_ERROR_IO: not there, busy, or not to be
// opened. Thread: setup.
tac_result tac_usb_open(const tac_usb_def *def, tac_usb **out_usb);

// Gives up what is under way, releases the device, frees *usb and nulls the pointer; NULL in it is allowed.
// Thread: setup, when nobody else uses it.
void tac_usb_close(tac_usb **usb);

// A control request. `type` is bmRequestType; `bytes` is read or written, `count` long; it ends after
// `timeout_ms` at the latest (0: never by itself). *out_done (may be NULL) is how many bytes moved. Does not
// touch the link's trouble. Thread: any but RT.
tac_usb_status tac_usb_control(tac_usb *usb, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
			       void *bytes, uint16_t count, uint32_t timeout_ms, uint16_t *out_done);

// A buffer of out_bytes to be filled and given to tac_usb_send, or NULL when all are on their way. Asking
// again before sending gives the same one. Thread: RT, the owner.
void *tac_usb_buffer(tac_usb *usb);

// Sends the first `count` bytes of the buffer that tac_usb_buffer gave. It does not wait: OK means that the
// I/O thread was told. Trouble: nothing was sent. Thread: RT, the owner.
tac_usb_status tac_usb_send(tac_usb *usb, uint32_t count);

// The oldest transfer received and not yet taken, waiting for one until `deadline_ns` (tac_clock_now_ns; one
// that has passed: only looks). The bytes stay until the next call. Transfers that arrived before trouble are
// still given out. Thread: RT, the owner.
tac_usb_status tac_usb_receive(tac_usb *usb, int64_t deadline_ns, const uint8_t **out_bytes,
			       uint32_t *out_count);

// The link's trouble: TAC_USB_OK while there is none.
// Thread: any.
tac_usb_status tac_usb_trouble(const tac_usb *usb);

// Thread: any.
tac_usb_counters tac_usb_counters_read(const tac_usb *usb);

// The serial number of the device that was opened; "" when it has none. Valid until tac_usb_close.
// Thread: any.
const char *tac_usb_serial(const tac_usb *usb);

// "ok", "timeout", …. Never NULL.
// Thread: any.
const char *tac_usb_status_name(tac_usb_status status);

#ifdef __cplusplus
}
#endif

#endif
