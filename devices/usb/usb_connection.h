// USB connection: the state that the files of this folder share. usb_connection.c opens and closes it,
// usb_io.c is its I/O thread, usb_realtime.c the side of the real-time thread, and usb_discovery.c finds
// devices.
#ifndef TAC_DEVICES_USB_USB_CONNECTION_H
#define TAC_DEVICES_USB_USB_CONNECTION_H

#include "devices/usb/usb.h"
#include "rt/ring.h"

#include <libusb.h>
#include <pthread.h>
#include <stdatomic.h>

#define TAC_USB_BACKLOG_MAX 32
#define TAC_USB_RING_SLOTS  64 // above every number of buffers, and a power of two

typedef struct tac_usb_data {
	uint8_t *bytes;
	uint32_t count;
} tac_usb_data;

typedef struct tac_usb_transfer {
	tac_usb *usb;
	struct libusb_transfer *libusb;
	uint32_t buffer;       // index of the buffer in use
	atomic_bool in_flight; // submitted, and its callback has not run yet
} tac_usb_transfer;

struct tac_usb {
	tac_usb_def def;
	char serial[32];
	libusb_context *context;
	libusb_device_handle *handle;
	libusb_hotplug_callback_handle hotplug;
	pthread_t thread;
	bool thread_runs, claimed, hotplug_set;
	int wake_fd; // eventfd: a buffer waits to be sent, or the thread is to stop

	// Buffers travel by index. Sending: to_fill → real-time thread → to_send → I/O thread → to_fill.
	// Receiving: empty → I/O thread → arrived → real-time thread → empty.
	tac_ring *to_fill, *to_send, *arrived, *empty;
	tac_usb_data out[TAC_USB_TRANSFERS_MAX], in[TAC_USB_TRANSFERS_MAX + TAC_USB_BACKLOG_MAX];
	tac_usb_transfer senders[TAC_USB_TRANSFERS_MAX], receivers[TAC_USB_TRANSFERS_MAX];

	_Atomic(uint32_t) rx_signal; // futex: counts arrivals and errors, which end a wait to receive
	atomic_int first_error;      // a tac_usb_status
	atomic_bool stop, closing;
	atomic_uint_fast64_t sent, received, dropped, failed;

	// Of the real-time thread.
	int32_t filling, reading; // buffers that it holds; -1: none
};

// ---- discovery ----

// Starts a libusb context; TAC_ERROR_SYSTEM with a log line. Thread: setup.
tac_result tac_usb_libusb_init(libusb_context **out_context);

// Whether a descriptor has these ids; an id of 0 matches any. Thread: any.
bool tac_usb_ids_match(const struct libusb_device_descriptor *d, uint16_t vendor_id, uint16_t product_id);

// The id as libusb's hot-plug filter takes it. Thread: any.
int tac_usb_hotplug_id(uint16_t id);

// Reads string descriptor `index` as ASCII; "" for index 0 or on failure. Thread: setup.
void tac_usb_read_string(libusb_device_handle *handle, uint8_t index, char *out, size_t size);

// ---- I/O ----

// The I/O thread's function; `user` is the tac_usb.
void *tac_usb_io_thread(void *user);

// Wakes the I/O thread. Thread: any.
void tac_usb_io_wake(tac_usb *usb);

// Submits a transfer; false, counted and kept as the first error on failure. Thread: the I/O thread, or
// setup.
bool tac_usb_io_submit(tac_usb_transfer *transfer);

// Callbacks of libusb: an OUT transfer ended, an IN transfer ended, a device with these ids was unplugged.
void LIBUSB_CALL tac_usb_io_on_sent(struct libusb_transfer *libusb);
void LIBUSB_CALL tac_usb_io_on_received(struct libusb_transfer *libusb);
int LIBUSB_CALL tac_usb_io_on_unplugged(libusb_context *context, libusb_device *device,
					libusb_hotplug_event event, void *user);

// Hands buffer `index` over. Thread: the producer of `ring`.
void tac_usb_pass(tac_ring *ring, uint32_t index);

#endif
