#include "devices/usb.h"

#include "base/assert.h"
#include "base/log.h"
#include "rt/clock.h"
#include "rt/ring.h"
#include "rt/thread.h"

#include <errno.h>
#include <libusb.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLLFDS_MAX 16
#define RING_SLOTS  64 // above every count of buffers, and a power of two as rings want it
#define BACKLOG_MAX 32

typedef struct buffer {
	uint8_t *bytes;
	uint32_t count;
} buffer;

typedef struct transfer {
	tac_usb *usb;
	struct libusb_transfer *libusb;
	uint32_t buffer;    // the one it is using
	atomic_bool flying; // submitted, not yet called back
} transfer;

struct tac_usb {
	tac_usb_def def;
	char serial[32];
	libusb_context *context;
	libusb_device_handle *handle;
	libusb_hotplug_callback_handle hotplug;
	pthread_t thread;
	bool thread_runs, claimed, hotplug_set;
	int wake_fd; // eventfd: there is something to send, or to stop

	// Buffers travel by index. Sending: to_fill → real-time thread → to_send → I/O thread → to_fill.
	// Receiving: empty → I/O thread → arrived → real-time thread → empty.
	tac_ring *to_fill, *to_send, *arrived, *empty;
	buffer out[TAC_USB_TRANSFERS_MAX], in[TAC_USB_TRANSFERS_MAX + BACKLOG_MAX];
	transfer senders[TAC_USB_TRANSFERS_MAX], receivers[TAC_USB_TRANSFERS_MAX];

	_Atomic(uint32_t) news; // futex: counts what the real-time thread may be waiting for
	atomic_int trouble;
	atomic_bool stop, closing;
	atomic_uint_fast64_t sent, received, dropped, failed;

	// Of the real-time thread.
	int32_t filling, reading; // buffers in its hands; -1: none
};

tac_usb_def tac_usb_def_default(void)
{
	return (tac_usb_def){.out_count = 4, .in_count = 4, .in_backlog = 8, .out_limit_ms = 100};
}

const char *tac_usb_status_name(tac_usb_status status)
{
	static const char *const names[TAC_USB_STATUS_COUNT] = {
		[TAC_USB_OK] = "ok",       [TAC_USB_TIMEOUT] = "timeout", [TAC_USB_FULL] = "full",
		[TAC_USB_STALL] = "stall", [TAC_USB_LOST] = "lost",       [TAC_USB_OVERFLOW] = "overflow",
		[TAC_USB_ERROR] = "error",
	};
	return status < TAC_USB_STATUS_COUNT ? names[status] : "unknown status";
}

const char *tac_usb_udev_rule(uint16_t vendor_id, uint16_t product_id, char *out, size_t size)
{
	snprintf(out, size,
		 "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"%04x\", ATTR{idProduct}==\"%04x\", "
		 "MODE=\"0660\", TAG+=\"uaccess\"",
		 vendor_id, product_id);
	return out;
}

// ---- finding devices ----

static bool ids_match(const struct libusb_device_descriptor *d, uint16_t vendor_id, uint16_t product_id)
{
	return (vendor_id == 0 || d->idVendor == vendor_id) &&
	       (product_id == 0 || d->idProduct == product_id);
}

static tac_result start_libusb(libusb_context **out_context)
{
	int error = libusb_init(out_context);
	if (error == 0)
		return TAC_OK;
	*out_context = NULL;
	tac_log(TAC_LOG_ERROR, "usb: expected libusb to start, found %s", libusb_error_name(error));
	return TAC_ERROR_SYSTEM;
}

static void read_string(libusb_device_handle *handle, uint8_t index, char *out, size_t size)
{
	int length = index == 0 ? 0
				: libusb_get_string_descriptor_ascii(handle, index, (unsigned char *)out,
								     (int)size - 1);
	out[length > 0 ? length : 0] = 0;
}

int tac_usb_list(uint16_t vendor_id, uint16_t product_id, tac_usb_found *out_found, int capacity)
{
	libusb_context *context;
	tac_result result = start_libusb(&context);
	if (result < 0)
		return result;
	libusb_device **devices = NULL;
	ssize_t count = libusb_get_device_list(context, &devices);
	int found = 0;
	for (ssize_t i = 0; i < count; ++i) {
		struct libusb_device_descriptor d;
		if (libusb_get_device_descriptor(devices[i], &d) != 0 ||
		    !ids_match(&d, vendor_id, product_id))
			continue;
		if (found < capacity) {
			tac_usb_found *f = &out_found[found];
			*f = (tac_usb_found){
				.vendor_id = d.idVendor,
				.product_id = d.idProduct,
				.bus = libusb_get_bus_number(devices[i]),
				.address = libusb_get_device_address(devices[i]),
			};
			libusb_device_handle *handle;
			if (libusb_open(devices[i], &handle) == 0) {
				f->accessible = true;
				read_string(handle, d.iSerialNumber, f->serial, sizeof f->serial);
				read_string(handle, d.iProduct, f->product, sizeof f->product);
				f->busy = libusb_claim_interface(handle, 0) == LIBUSB_ERROR_BUSY &&
					  libusb_kernel_driver_active(handle, 0) != 1;
				libusb_close(handle);
			}
		}
		++found;
	}
	if (count >= 0)
		libusb_free_device_list(devices, 1);
	libusb_exit(context);
	return found;
}

static bool is_there(libusb_context *context, const tac_usb_def *def)
{
	libusb_device **devices;
	ssize_t count = libusb_get_device_list(context, &devices);
	bool there = false;
	for (ssize_t i = 0; i < count && !there; ++i) {
		struct libusb_device_descriptor d;
		there = libusb_get_device_descriptor(devices[i], &d) == 0 &&
			ids_match(&d, def->vendor_id, def->product_id);
	}
	if (count >= 0)
		libusb_free_device_list(devices, 1);
	return there;
}

static int match(uint16_t id)
{
	return id != 0 ? id : LIBUSB_HOTPLUG_MATCH_ANY;
}

static int LIBUSB_CALL note_arrival(libusb_context *context, libusb_device *device,
				    libusb_hotplug_event event, void *user)
{
	(void)context;
	(void)device;
	(void)event;
	*(bool *)user = true;
	return 0;
}

bool tac_usb_wait(const tac_usb_def *def, int64_t timeout_ns, bool (*give_up)(void *user), void *user)
{
	const int64_t look_again_ns = 500 * TAC_NS_PER_MS, ask_ns = 50 * TAC_NS_PER_MS;
	const int64_t end_ns = tac_clock_now_ns() + timeout_ns;
	bool there = false;
	do {
		// A fresh context reads the bus anew, where an old one knows only what udev told it.
		libusb_context *context;
		if (libusb_init(&context) != 0)
			return false;
		there = is_there(context, def);
		libusb_hotplug_callback_handle hotplug;
		bool hears = !there &&
			     libusb_hotplug_register_callback(context, LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED, 0,
							      match(def->vendor_id), match(def->product_id),
							      LIBUSB_HOTPLUG_MATCH_ANY, note_arrival, &there,
							      &hotplug) == LIBUSB_SUCCESS;
		const int64_t again_ns = tac_clock_now_ns() + look_again_ns;
		while (!there && tac_clock_now_ns() < again_ns && tac_clock_now_ns() < end_ns &&
		       (give_up == NULL || !give_up(user))) {
			struct timeval slice = {.tv_usec = ask_ns / TAC_NS_PER_US};
			libusb_handle_events_timeout_completed(context, &slice, NULL);
		}
		if (hears)
			libusb_hotplug_deregister_callback(context, hotplug);
		libusb_exit(context);
	} while (!there && tac_clock_now_ns() < end_ns && (give_up == NULL || !give_up(user)));
	return there;
}

// ---- the I/O thread ----

static void tell(tac_usb *usb)
{
	atomic_fetch_add(&usb->news, 1);
	syscall(SYS_futex, &usb->news, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void raise_trouble(tac_usb *usb, tac_usb_status status)
{
	int none = TAC_USB_OK;
	atomic_compare_exchange_strong(&usb->trouble, &none, (int)status);
	tell(usb);
}

static tac_usb_status status_of(enum libusb_transfer_status status)
{
	switch (status) {
	case LIBUSB_TRANSFER_COMPLETED:
		return TAC_USB_OK;
	case LIBUSB_TRANSFER_TIMED_OUT:
		return TAC_USB_TIMEOUT;
	case LIBUSB_TRANSFER_STALL:
		return TAC_USB_STALL;
	case LIBUSB_TRANSFER_NO_DEVICE:
		return TAC_USB_LOST;
	case LIBUSB_TRANSFER_OVERFLOW:
		return TAC_USB_OVERFLOW;
	case LIBUSB_TRANSFER_ERROR:
	case LIBUSB_TRANSFER_CANCELLED:
		break;
	}
	return TAC_USB_ERROR;
}

static bool submit(transfer *t)
{
	atomic_store(&t->flying, true);
	int error = libusb_submit_transfer(t->libusb);
	if (error == 0)
		return true;
	atomic_store(&t->flying, false);
	atomic_fetch_add(&t->usb->failed, 1);
	raise_trouble(t->usb, error == LIBUSB_ERROR_NO_DEVICE ? TAC_USB_LOST : TAC_USB_ERROR);
	return false;
}

static void give_back(tac_ring *ring, uint32_t index)
{
	bool taken = tac_ring_push(ring, &index);
	TAC_ASSERT(taken); // it has room for all buffers
	(void)taken;
}

static bool failed(tac_usb *usb, const struct libusb_transfer *l)
{
	tac_usb_status status = status_of(l->status);
	if (status == TAC_USB_OK || atomic_load(&usb->closing))
		return status != TAC_USB_OK;
	atomic_fetch_add(&usb->failed, 1);
	raise_trouble(usb, status);
	return true;
}

static void LIBUSB_CALL on_sent(struct libusb_transfer *l)
{
	transfer *t = l->user_data;
	tac_usb *usb = t->usb;
	if (!failed(usb, l)) {
		if (l->actual_length == l->length)
			atomic_fetch_add(&usb->sent, 1);
		else
			raise_trouble(usb, TAC_USB_ERROR);
	}
	give_back(usb->to_fill, t->buffer);
	atomic_store(&t->flying, false);
}

static void LIBUSB_CALL on_received(struct libusb_transfer *l)
{
	transfer *t = l->user_data;
	tac_usb *usb = t->usb;
	uint32_t next;
	// After trouble nothing more is let through: a piece of what was sent may be missing.
	if (failed(usb, l) || atomic_load(&usb->closing) || tac_usb_trouble(usb) != TAC_USB_OK) {
		atomic_store(&t->flying, false);
		return;
	}
	const bool kept = tac_ring_pop(usb->empty, &next);
	// Before `received`, so that who sees a message counted also sees that it was dropped.
	if (!kept)
		atomic_fetch_add(&usb->dropped, 1);
	atomic_fetch_add(&usb->received, 1);
	if (kept) {
		usb->in[t->buffer].count = (uint32_t)l->actual_length;
		give_back(usb->arrived, t->buffer);
		t->buffer = next;
		l->buffer = usb->in[next].bytes;
		tell(usb);
	}
	submit(t);
}

static int LIBUSB_CALL on_left(libusb_context *context, libusb_device *device, libusb_hotplug_event event,
			       void *user)
{
	tac_usb *usb = user;
	(void)context;
	(void)event;
	if (usb->handle != NULL && device == libusb_get_device(usb->handle))
		raise_trouble(usb, TAC_USB_LOST);
	return 0;
}

static transfer *free_sender(tac_usb *usb)
{
	for (int i = 0; i < usb->def.out_count; ++i)
		if (!atomic_load(&usb->senders[i].flying))
			return &usb->senders[i];
	return NULL;
}

// Sends what the real-time thread has left here. There are as many transfers as buffers.
static void send_waiting(tac_usb *usb)
{
	uint32_t index;
	while (tac_ring_pop(usb->to_send, &index)) {
		transfer *t = free_sender(usb);
		TAC_ASSERT(t != NULL);
		t->buffer = index;
		t->libusb->buffer = usb->out[index].bytes;
		t->libusb->length = (int)usb->out[index].count;
		if (atomic_load(&usb->closing) || !submit(t))
			give_back(usb->to_fill, index);
	}
}

static nfds_t list_pollfds(tac_usb *usb, struct pollfd *fds)
{
	nfds_t count = 0;
	fds[count++] = (struct pollfd){.fd = usb->wake_fd, .events = POLLIN};
	const struct libusb_pollfd **theirs = libusb_get_pollfds(usb->context);
	for (int i = 0; theirs != NULL && theirs[i] != NULL && count < POLLFDS_MAX; ++i)
		fds[count++] = (struct pollfd){.fd = theirs[i]->fd, .events = theirs[i]->events};
	libusb_free_pollfds(theirs);
	return count;
}

static void LIBUSB_CALL pollfd_added(int fd, short events, void *user)
{
	(void)fd;
	(void)events;
	*(bool *)user = true;
}

static void LIBUSB_CALL pollfd_removed(int fd, void *user)
{
	(void)fd;
	*(bool *)user = true;
}

static void *io_thread(void *user)
{
	tac_usb *usb = user;
	tac_thread_def def = {.name = "tactus-usb", .policy = TAC_POLICY_OTHER, .cpu = -1};
	if (usb->def.priority > 0) {
		def.policy = TAC_POLICY_FIFO;
		def.priority = usb->def.priority;
	}
	tac_thread_report report;
	if (tac_thread_enter(&def, &report) != TAC_OK)
		tac_log(TAC_LOG_WARNING, "usb: the I/O thread runs without SCHED_FIFO %d: not permitted",
			usb->def.priority);
	// The list changes only on this thread: the device was opened before, and is closed afterwards.
	bool changed = true;
	libusb_set_pollfd_notifiers(usb->context, pollfd_added, pollfd_removed, &changed);
	struct pollfd fds[POLLFDS_MAX];
	nfds_t count = 0;
	const int timeout_ms = libusb_pollfds_handle_timeouts(usb->context) ? -1 : 1;
	while (!atomic_load(&usb->stop)) {
		if (changed) {
			changed = false;
			count = list_pollfds(usb, fds);
		}
		if (poll(fds, count, timeout_ms) < 0)
			continue;
		if (fds[0].revents != 0) {
			uint64_t calls;
			if (read(usb->wake_fd, &calls, sizeof calls) < 0)
				continue;
			send_waiting(usb);
		}
		struct timeval now = {0};
		libusb_handle_events_timeout_completed(usb->context, &now, NULL);
	}
	libusb_set_pollfd_notifiers(usb->context, NULL, NULL, NULL);
	tac_thread_leave(&report);
	return NULL;
}

static void wake(tac_usb *usb)
{
	const uint64_t one = 1;
	ssize_t written = write(usb->wake_fd, &one, sizeof one); // never full: it is a counter
	(void)written;
}

// ---- opening and closing ----

static void log_refusal(const tac_usb_def *def, libusb_device *device, int error)
{
	int bus = libusb_get_bus_number(device), address = libusb_get_device_address(device);
	char rule[128];
	if (error == LIBUSB_ERROR_ACCESS)
		tac_log(TAC_LOG_ERROR,
			"usb: expected access to %04x:%04x (/dev/bus/usb/%03d/%03d), found permission "
			"denied; "
			"put this line into /etc/udev/rules.d/70-tactus.rules and plug it in again: %s",
			def->vendor_id, def->product_id, bus, address,
			tac_usb_udev_rule(def->vendor_id, def->product_id, rule, sizeof rule));
	else if (error == LIBUSB_ERROR_BUSY)
		tac_log(TAC_LOG_ERROR,
			"usb: expected interface %d of %04x:%04x (bus %d, device %d) to be free, found "
			"another "
			"program using it",
			def->interface, def->vendor_id, def->product_id, bus, address);
	else
		tac_log(TAC_LOG_ERROR, "usb: expected to open %04x:%04x (bus %d, device %d), found %s",
			def->vendor_id, def->product_id, bus, address, libusb_error_name(error));
}

// Opens the first device of these ids and this serial number, and claims its interface.
static tac_result open_device(tac_usb *usb)
{
	const tac_usb_def *def = &usb->def;
	libusb_device **devices;
	ssize_t count = libusb_get_device_list(usb->context, &devices);
	tac_result result = TAC_ERROR_IO;
	int candidates = 0;
	bool logged = false;
	for (ssize_t i = 0; i < count && result < 0; ++i) {
		struct libusb_device_descriptor d;
		if (libusb_get_device_descriptor(devices[i], &d) != 0 ||
		    !ids_match(&d, def->vendor_id, def->product_id))
			continue;
		++candidates;
		int error = libusb_open(devices[i], &usb->handle);
		if (error != 0)
			usb->handle = NULL;
		if (error == 0) {
			read_string(usb->handle, d.iSerialNumber, usb->serial, sizeof usb->serial);
			if (def->serial == NULL || strcmp(def->serial, usb->serial) == 0) {
				libusb_set_auto_detach_kernel_driver(usb->handle, 1);
				error = libusb_claim_interface(usb->handle, def->interface);
				result = error == 0 ? TAC_OK : result;
				usb->claimed = error == 0;
			}
			if (result < 0) {
				libusb_close(usb->handle);
				usb->handle = NULL;
			}
		}
		if (error != 0 && !logged) {
			log_refusal(def, devices[i], error);
			logged = true;
		}
	}
	if (count >= 0)
		libusb_free_device_list(devices, 1);
	if (result < 0 && !logged)
		tac_log(TAC_LOG_ERROR,
			"usb: expected a device %04x:%04x%s%s, found %d with these ids among %d USB devices",
			def->vendor_id, def->product_id, def->serial != NULL ? " with serial number " : "",
			def->serial != NULL ? def->serial : "", candidates, count > 0 ? (int)count : 0);
	return result;
}

static bool make_transfer(tac_usb *usb, transfer *t, uint8_t address, libusb_transfer_cb_fn callback,
			  uint32_t timeout_ms)
{
	t->usb = usb;
	t->libusb = libusb_alloc_transfer(0);
	if (t->libusb == NULL)
		return false;
	libusb_fill_bulk_transfer(t->libusb, usb->handle, address, NULL, 0, callback, t, timeout_ms);
	return true;
}

static uint8_t *make_bytes(uint32_t count)
{
	uint8_t *bytes = malloc(count);
	if (bytes != NULL)
		memset(bytes, 0, count); // touched, so that the real-time thread meets no page fault
	return bytes;
}

static tac_result make_buffers(tac_usb *usb)
{
	const tac_usb_def *def = &usb->def;
	bool ok = true;
	tac_ring **rings[] = {&usb->to_fill, &usb->to_send, &usb->arrived, &usb->empty};
	for (int i = 0; i < 4; ++i)
		ok = ok && tac_ring_create(RING_SLOTS, sizeof(uint32_t), rings[i]) == TAC_OK;
	for (uint32_t i = 0; ok && def->out_endpoint != 0 && i < (uint32_t)def->out_count; ++i) {
		usb->out[i].bytes = make_bytes(def->out_bytes);
		ok = usb->out[i].bytes != NULL &&
		     make_transfer(usb, &usb->senders[i], def->out_endpoint, on_sent, def->out_limit_ms);
		if (!ok)
			break;
		if (def->end_with_short)
			usb->senders[i].libusb->flags |= LIBUSB_TRANSFER_ADD_ZERO_PACKET;
		give_back(usb->to_fill, i);
	}
	for (uint32_t i = 0; ok && def->in_endpoint != 0 && i < (uint32_t)(def->in_count + def->in_backlog);
	     ++i) {
		usb->in[i].bytes = make_bytes(def->in_bytes);
		ok = usb->in[i].bytes != NULL;
		if (ok && i < (uint32_t)def->in_count) {
			transfer *t = &usb->receivers[i];
			ok = make_transfer(usb, t, def->in_endpoint, on_received, 0);
			if (!ok)
				break;
			t->buffer = i;
			t->libusb->buffer = usb->in[i].bytes;
			t->libusb->length = (int)def->in_bytes;
		} else if (ok) {
			give_back(usb->empty, i);
		}
	}
	if (!ok)
		tac_log(TAC_LOG_ERROR, "usb: no memory for %d buffers of %u bytes and %d of %u",
			def->out_count, def->out_bytes, def->in_count + def->in_backlog, def->in_bytes);
	return ok ? TAC_OK : TAC_ERROR_MEMORY;
}

static tac_result start(tac_usb *usb)
{
	tac_result result = start_libusb(&usb->context);
	if (result < 0)
		return result;
	usb->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (usb->wake_fd < 0) {
		tac_log(TAC_LOG_ERROR, "usb: eventfd: %s", strerror(errno));
		return TAC_ERROR_SYSTEM;
	}
	result = open_device(usb);
	if (result == TAC_OK)
		result = make_buffers(usb);
	if (result < 0)
		return result;
	if (usb->def.clear_halts) {
		if (usb->def.out_endpoint != 0)
			libusb_clear_halt(usb->handle, usb->def.out_endpoint);
		if (usb->def.in_endpoint != 0)
			libusb_clear_halt(usb->handle, usb->def.in_endpoint);
	}
	// Without hot-plug events a removal still ends the transfers that wait.
	usb->hotplug_set = libusb_hotplug_register_callback(
				   usb->context, LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT, 0,
				   match(usb->def.vendor_id), match(usb->def.product_id),
				   LIBUSB_HOTPLUG_MATCH_ANY, on_left, usb, &usb->hotplug) == LIBUSB_SUCCESS;
	result = tac_thread_start(&usb->thread, io_thread, usb);
	if (result < 0)
		return result;
	usb->thread_runs = true;
	for (int i = 0; usb->def.in_endpoint != 0 && i < usb->def.in_count; ++i)
		if (!submit(&usb->receivers[i])) {
			tac_log(TAC_LOG_ERROR, "usb: expected %04x:%04x to be read from, found it %s",
				usb->def.vendor_id, usb->def.product_id,
				tac_usb_status_name(tac_usb_trouble(usb)));
			return TAC_ERROR_IO;
		}
	return TAC_OK;
}

static bool def_fits(const tac_usb_def *def)
{
	return def->vendor_id != 0 && def->product_id != 0 && (def->out_endpoint & LIBUSB_ENDPOINT_IN) == 0 &&
	       (def->in_endpoint == 0 || (def->in_endpoint & LIBUSB_ENDPOINT_IN) != 0) &&
	       (def->out_endpoint == 0 || (def->out_bytes > 0 && def->out_count > 0)) &&
	       (def->in_endpoint == 0 || (def->in_bytes > 0 && def->in_count > 0)) &&
	       def->out_count <= TAC_USB_TRANSFERS_MAX && def->in_count <= TAC_USB_TRANSFERS_MAX &&
	       def->in_backlog > 0 && def->in_backlog <= BACKLOG_MAX && def->out_bytes <= INT_MAX &&
	       def->in_bytes <= INT_MAX;
}

tac_result tac_usb_open(const tac_usb_def *def, tac_usb **out_usb)
{
	*out_usb = NULL;
	if (!def_fits(def)) {
		tac_log(TAC_LOG_ERROR,
			"usb: expected endpoints with buffers, 1 to %d transfers each way and a backlog of 1 "
			"to "
			"%d, found %d of %u bytes out, %d of %u in, backlog %d",
			TAC_USB_TRANSFERS_MAX, BACKLOG_MAX, def->out_count, def->out_bytes, def->in_count,
			def->in_bytes, def->in_backlog);
		return TAC_ERROR_ARGUMENT;
	}
	tac_usb *usb = calloc(1, sizeof *usb);
	if (usb == NULL) {
		tac_log(TAC_LOG_ERROR, "usb: no memory for a link");
		return TAC_ERROR_MEMORY;
	}
	usb->def = *def;
	usb->wake_fd = -1;
	usb->filling = usb->reading = -1;
	tac_result result = start(usb);
	usb->def.serial = NULL; // the caller's, who may free it
	if (result < 0)
		tac_usb_close(&usb);
	*out_usb = usb;
	return result;
}

// Whether a transfer of ours is still to be called back.
static bool any_flying(tac_usb *usb)
{
	bool any = false;
	for (int i = 0; i < TAC_USB_TRANSFERS_MAX; ++i)
		any = any || atomic_load(&usb->senders[i].flying) || atomic_load(&usb->receivers[i].flying);
	return any;
}

static void free_transfers(transfer *transfers)
{
	for (int i = 0; i < TAC_USB_TRANSFERS_MAX; ++i)
		libusb_free_transfer(transfers[i].libusb); // NULL is allowed
}

void tac_usb_close(tac_usb **usb)
{
	tac_usb *u = *usb;
	if (u == NULL)
		return;
	atomic_store(&u->closing, true);
	if (u->thread_runs) {
		atomic_store(&u->stop, true);
		wake(u);
		pthread_join(u->thread, NULL);
	}
	// From here on this thread handles the events, until every transfer has come back.
	for (int i = 0; u->handle != NULL && i < TAC_USB_TRANSFERS_MAX; ++i) {
		if (atomic_load(&u->senders[i].flying))
			libusb_cancel_transfer(u->senders[i].libusb);
		if (atomic_load(&u->receivers[i].flying))
			libusb_cancel_transfer(u->receivers[i].libusb);
	}
	while (any_flying(u)) {
		struct timeval slice = {.tv_usec = 10000};
		libusb_handle_events_timeout_completed(u->context, &slice, NULL);
	}
	if (u->hotplug_set)
		libusb_hotplug_deregister_callback(u->context, u->hotplug);
	if (u->claimed)
		libusb_release_interface(u->handle, u->def.interface);
	if (u->handle != NULL)
		libusb_close(u->handle);
	free_transfers(u->senders);
	free_transfers(u->receivers);
	if (u->context != NULL)
		libusb_exit(u->context);
	if (u->wake_fd >= 0)
		close(u->wake_fd);
	for (size_t i = 0; i < sizeof u->out / sizeof u->out[0]; ++i)
		free(u->out[i].bytes);
	for (size_t i = 0; i < sizeof u->in / sizeof u->in[0]; ++i)
		free(u->in[i].bytes);
	tac_ring_destroy(&u->to_fill);
	tac_ring_destroy(&u->to_send);
	tac_ring_destroy(&u->arrived);
	tac_ring_destroy(&u->empty);
	free(u);
	*usb = NULL;
}

// ---- control requests ----

static void LIBUSB_CALL on_control(struct libusb_transfer *l)
{
	sem_post(l->user_data);
}

tac_usb_status tac_usb_control(tac_usb *usb, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
			       void *bytes, uint16_t count, uint32_t timeout_ms, uint16_t *out_done)
{
	tac_usb_status status = TAC_USB_ERROR;
	uint16_t done = 0;
	sem_t ended;
	struct libusb_transfer *l = libusb_alloc_transfer(0);
	uint8_t *whole = calloc(1, (size_t)LIBUSB_CONTROL_SETUP_SIZE + count);
	sem_init(&ended, 0, 0);
	if (l != NULL && whole != NULL) {
		const bool in = (type & LIBUSB_ENDPOINT_IN) != 0;
		libusb_fill_control_setup(whole, type, request, value, index, count);
		if (!in && count > 0)
			memcpy(whole + LIBUSB_CONTROL_SETUP_SIZE, bytes, count);
		libusb_fill_control_transfer(l, usb->handle, whole, on_control, &ended, timeout_ms);
		int error = libusb_submit_transfer(l);
		if (error == 0) {
			while (sem_wait(&ended) !=
			       0) // the I/O thread calls back, after timeout_ms at the latest
				;
			status = status_of(l->status);
			done = (uint16_t)l->actual_length;
			if (in && status == TAC_USB_OK && done > 0)
				memcpy(bytes, whole + LIBUSB_CONTROL_SETUP_SIZE, done);
		} else if (error == LIBUSB_ERROR_NO_DEVICE) {
			status = TAC_USB_LOST;
		}
	}
	sem_destroy(&ended);
	libusb_free_transfer(l);
	free(whole);
	if (out_done != NULL)
		*out_done = done;
	return status;
}

// ---- the real-time thread ----

void *tac_usb_buffer(tac_usb *usb)
{
	uint32_t index;
	if (usb->filling < 0 && tac_ring_pop(usb->to_fill, &index))
		usb->filling = (int32_t)index;
	return usb->filling < 0 ? NULL : usb->out[usb->filling].bytes;
}

tac_usb_status tac_usb_send(tac_usb *usb, uint32_t count)
{
	TAC_ASSERT(usb->filling >= 0 && count <= usb->def.out_bytes);
	tac_usb_status trouble = tac_usb_trouble(usb);
	if (trouble != TAC_USB_OK)
		return trouble;
	usb->out[usb->filling].count = count;
	give_back(usb->to_send, (uint32_t)usb->filling);
	usb->filling = -1;
	wake(usb);
	return TAC_USB_OK;
}

// Sleeps until `news` is no longer `seen`, or the deadline.
static void wait_for_news(tac_usb *usb, uint32_t seen, int64_t deadline_ns)
{
	struct timespec until = tac_clock_timespec(deadline_ns);
	syscall(SYS_futex, &usb->news, FUTEX_WAIT_BITSET_PRIVATE, seen, &until, NULL,
		FUTEX_BITSET_MATCH_ANY); // an absolute time on CLOCK_MONOTONIC
}

tac_usb_status tac_usb_receive(tac_usb *usb, int64_t deadline_ns, const uint8_t **out_bytes,
			       uint32_t *out_count)
{
	if (usb->reading >= 0) {
		give_back(usb->empty, (uint32_t)usb->reading);
		usb->reading = -1;
	}
	// Each turn but the last was woken by news: a transfer or trouble, both of which end it. The deadline
	// ends it in any case.
	for (;;) {
		uint32_t seen = atomic_load(&usb->news), index;
		tac_usb_status trouble = tac_usb_trouble(usb);
		if (tac_ring_pop(usb->arrived, &index)) {
			usb->reading = (int32_t)index;
			*out_bytes = usb->in[index].bytes;
			*out_count = usb->in[index].count;
			return TAC_USB_OK;
		}
		if (trouble != TAC_USB_OK)
			return trouble;
		if (tac_clock_now_ns() >= deadline_ns)
			return TAC_USB_TIMEOUT;
		wait_for_news(usb, seen, deadline_ns);
	}
}

tac_usb_status tac_usb_trouble(const tac_usb *usb)
{
	return (tac_usb_status)atomic_load(&usb->trouble);
}

tac_usb_counters tac_usb_counters_read(const tac_usb *usb)
{
	return (tac_usb_counters){
		.sent = atomic_load(&usb->sent),
		.received = atomic_load(&usb->received),
		.dropped = atomic_load(&usb->dropped),
		.failed = atomic_load(&usb->failed),
	};
}

const char *tac_usb_serial(const tac_usb *usb)
{
	return usb->serial;
}
