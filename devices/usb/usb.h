// USB: one device over libusb, for drivers whose real-time thread may neither block nor allocate. libusb does
// both when it submits a transfer, so the real-time thread never calls it: an I/O thread owns all transfers.
// To send, the real-time thread fills one of a fixed set of buffers and wakes the I/O thread. The IN endpoint
// always has transfers pending; each one that completes reaches the real-time thread through a ring. Both
// directions pass buffers by index (rt/ring.h); no byte is copied.
//
// The first error of a connection (stall, bus error, unplugged) is kept, and every later call fails with it
// at once. To recover, a thread that may block closes the connection and opens it again.
#ifndef TAC_DEVICES_USB_USB_H
#define TAC_DEVICES_USB_USB_H

#include "base/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_usb tac_usb;

// The most transfers per direction.
#define TAC_USB_TRANSFERS_MAX 16

typedef struct tac_usb_def {
	uint16_t vendor_id, product_id; // not 0
	const char *serial;             // NULL: the first device with these ids
	int interface;                  // claimed; a kernel driver is detached as long as it is open
	uint8_t out_endpoint;           // bulk; 0: none
	uint8_t in_endpoint;            // bulk, with the direction bit (0x81); 0: none
	bool find_endpoints; // use the interface's first bulk endpoints instead, where the device has others
	uint32_t out_bytes;  // size of a buffer to send from
	uint32_t in_bytes;   // size of a buffer to receive in: a multiple of the packet size
	int out_count;       // buffers to send from: 1 … TAC_USB_TRANSFERS_MAX; default 4
	int in_count;        // pending transfers; default 4
	int in_backlog;      // received transfers that the real-time thread has not taken; default 8
	uint32_t out_limit_ms; // a transfer that the device does not take within this fails; default 100
	bool end_with_short;   // a transfer that fills its last packet is followed by an empty one
	bool clear_halts;      // clear both endpoints when opening: they may have been left stalled
	int priority;          // SCHED_FIFO priority of the I/O thread; 0 (default): ordinary
} tac_usb_def;

// The result of a call, and the first error of a connection.
typedef enum tac_usb_status {
	TAC_USB_OK,
	TAC_USB_TIMEOUT,  // nothing by the deadline; as an error: the device takes no more data
	TAC_USB_FULL,     // no buffer is free: the device is slower than the sender
	TAC_USB_STALL,    // an endpoint is halted
	TAC_USB_OVERFLOW, // more arrived than a buffer holds
	TAC_USB_ERROR,    // a bus error, or libusb refused
	TAC_USB_LOST,     // unplugged
	TAC_USB_STATUS_COUNT,
} tac_usb_status;

// Since the connection was opened.
typedef struct tac_usb_counters {
	uint64_t sent, received; // transfers that succeeded
	uint64_t dropped;        // of those received: no buffer was free, because nobody read
	uint64_t failed;         // transfers that failed; those cancelled by closing are not counted
} tac_usb_counters;

// A device on the bus.
typedef struct tac_usb_device {
	uint16_t vendor_id, product_id;
	uint8_t bus, address;
	bool accessible; // it can be opened
	bool busy;       // another program has its first interface
	char serial[32]; // empty: it has none, or it cannot be read
	char product[64];
} tac_usb_device;

// The udev rule, one line, that lets the local user open devices with these ids. Returns `out`. Thread: any.
const char *tac_usb_udev_rule(uint16_t vendor_id, uint16_t product_id, char *out, size_t size);

// 4 buffers each way, a backlog of 8, 100 ms, everything else 0.
// Thread: any.
tac_usb_def tac_usb_def_default(void);

// Fills up to `capacity` entries with the devices of these ids (0: any id). Returns the number of devices,
// which may be larger, or a negative tac_result with a log line. Thread: setup.
int tac_usb_list(uint16_t vendor_id, uint16_t product_id, tac_usb_device *out_devices, int capacity);

// Waits until a device with the ids of `def` is connected. It uses hot-plug events and scans the bus every
// half second, because not every system has a udev that sends them. Returns false after `timeout_ns`, or when
// `give_up` (may be NULL, called every 50 ms) returns true. Logs nothing. Thread: setup.
bool tac_usb_wait(const tac_usb_def *def, int64_t timeout_ns, bool (*give_up)(void *user), void *user);

// Opens the device, claims it and starts its I/O thread. On failure *out_usb is NULL and one line is logged;
// where permission is missing, it contains the udev rule to install. TAC_ERROR_IO: not connected, busy, or
// not accessible. Thread: setup.
tac_result tac_usb_open(const tac_usb_def *def, tac_usb **out_usb);

// Cancels all transfers, releases the device, frees *usb and nulls the pointer; NULL in it is allowed.
// Thread: setup, when nobody else uses it.
void tac_usb_close(tac_usb **usb);

// A control request. `type` is bmRequestType; `bytes`, of length `count`, is read or written. It times out
// after `timeout_ms` (0: never). *out_done (may be NULL) is the number of bytes transferred. A failure does
// not become the connection's first error. Thread: any but RT.
tac_usb_status tac_usb_control(tac_usb *usb, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
			       void *bytes, uint16_t count, uint32_t timeout_ms, uint16_t *out_done);

// A buffer of out_bytes to fill and to pass to tac_usb_send, or NULL when all are in flight. A second call
// before sending returns the same buffer. Thread: RT, the owner.
void *tac_usb_buffer(tac_usb *usb);

// Sends the first `count` bytes of the buffer that tac_usb_buffer returned. It does not wait: OK means that
// the I/O thread was woken. After an error it returns that error and sends nothing. Thread: RT, the owner.
tac_usb_status tac_usb_send(tac_usb *usb, uint32_t count);

// The oldest transfer received and not yet taken. Waits for one until `deadline_ns` (tac_clock_now_ns; a
// deadline in the past: does not wait). The bytes stay valid until the next call. Transfers that arrived
// before an error are still returned. Thread: RT, the owner.
tac_usb_status tac_usb_receive(tac_usb *usb, int64_t deadline_ns, const uint8_t **out_bytes,
			       uint32_t *out_count);

// The first error of this connection; TAC_USB_OK if there was none. Thread: any.
tac_usb_status tac_usb_first_error(const tac_usb *usb);

// Thread: any.
tac_usb_counters tac_usb_counters_read(const tac_usb *usb);

// The serial number of the open device; "" if it has none. Valid until tac_usb_close.
// Thread: any.
const char *tac_usb_serial(const tac_usb *usb);

// "ok", "timeout", …. Never NULL.
// Thread: any.
const char *tac_usb_status_name(tac_usb_status status);

#ifdef __cplusplus
}
#endif

#endif
