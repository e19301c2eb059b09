// The I/O thread: it submits every bulk transfer and runs libusb's callbacks. Control requests wait for it,
// too.
#include "base/assert.h"
#include "base/log.h"
#include "devices/usb/usb_connection.h"
#include "rt/thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLLFDS_MAX 16

// ---- transfers ----

static void signal_rx(tac_usb *usb)
{
	atomic_fetch_add(&usb->rx_signal, 1);
	syscall(SYS_futex, &usb->rx_signal, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void keep_error(tac_usb *usb, tac_usb_status status)
{
	int none = TAC_USB_OK;
	atomic_compare_exchange_strong(&usb->first_error, &none, (int)status);
	signal_rx(usb);
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

bool tac_usb_io_submit(tac_usb_transfer *t)
{
	atomic_store(&t->in_flight, true);
	int error = libusb_submit_transfer(t->libusb);
	if (error == 0)
		return true;
	atomic_store(&t->in_flight, false);
	atomic_fetch_add(&t->usb->failed, 1);
	keep_error(t->usb, error == LIBUSB_ERROR_NO_DEVICE ? TAC_USB_LOST : TAC_USB_ERROR);
	return false;
}

void tac_usb_pass(tac_ring *ring, uint32_t index)
{
	bool taken = tac_ring_push(ring, &index);
	TAC_ASSERT(taken); // it has room for all buffers
	(void)taken;
}

// Whether the transfer failed; a failure is counted and kept unless the connection is being closed.
static bool failed(tac_usb *usb, const struct libusb_transfer *l)
{
	tac_usb_status status = status_of(l->status);
	if (status == TAC_USB_OK || atomic_load(&usb->closing))
		return status != TAC_USB_OK;
	atomic_fetch_add(&usb->failed, 1);
	keep_error(usb, status);
	return true;
}

void LIBUSB_CALL tac_usb_io_on_sent(struct libusb_transfer *l)
{
	tac_usb_transfer *t = l->user_data;
	tac_usb *usb = t->usb;
	if (!failed(usb, l)) {
		if (l->actual_length == l->length)
			atomic_fetch_add(&usb->sent, 1);
		else
			keep_error(usb, TAC_USB_ERROR);
	}
	tac_usb_pass(usb->to_fill, t->buffer);
	atomic_store(&t->in_flight, false);
}

void LIBUSB_CALL tac_usb_io_on_received(struct libusb_transfer *l)
{
	tac_usb_transfer *t = l->user_data;
	tac_usb *usb = t->usb;
	uint32_t next;
	// After an error nothing more is passed on: part of the stream may be missing.
	if (failed(usb, l) || atomic_load(&usb->closing) || tac_usb_first_error(usb) != TAC_USB_OK) {
		atomic_store(&t->in_flight, false);
		return;
	}
	const bool kept = tac_ring_pop(usb->empty, &next);
	// Before `received`, so that a reader who sees a message counted also sees whether it was dropped.
	if (!kept)
		atomic_fetch_add(&usb->dropped, 1);
	atomic_fetch_add(&usb->received, 1);
	if (kept) {
		usb->in[t->buffer].count = (uint32_t)l->actual_length;
		tac_usb_pass(usb->arrived, t->buffer);
		t->buffer = next;
		l->buffer = usb->in[next].bytes;
		signal_rx(usb);
	}
	tac_usb_io_submit(t);
}

int LIBUSB_CALL tac_usb_io_on_unplugged(libusb_context *context, libusb_device *device,
					libusb_hotplug_event event, void *user)
{
	tac_usb *usb = user;
	(void)context;
	(void)event;
	if (usb->handle && device == libusb_get_device(usb->handle))
		keep_error(usb, TAC_USB_LOST);
	return 0;
}

// ---- the thread ----

static tac_usb_transfer *free_sender(tac_usb *usb)
{
	for (int i = 0; i < usb->def.out_count; i++)
		if (!atomic_load(&usb->senders[i].in_flight))
			return &usb->senders[i];
	return NULL;
}

// Submits the buffers that the real-time thread has filled. There are as many transfers as buffers.
static void send_filled(tac_usb *usb)
{
	uint32_t index;
	while (tac_ring_pop(usb->to_send, &index)) {
		tac_usb_transfer *t = free_sender(usb);
		TAC_ASSERT(t);
		t->buffer = index;
		t->libusb->buffer = usb->out[index].bytes;
		t->libusb->length = (int)usb->out[index].count;
		if (atomic_load(&usb->closing) || !tac_usb_io_submit(t))
			tac_usb_pass(usb->to_fill, index);
	}
}

static nfds_t list_pollfds(tac_usb *usb, struct pollfd *fds)
{
	nfds_t count = 0;
	fds[count++] = (struct pollfd){.fd = usb->wake_fd, .events = POLLIN};
	const struct libusb_pollfd **libusb_fds = libusb_get_pollfds(usb->context);
	for (int i = 0; libusb_fds && libusb_fds[i] && count < POLLFDS_MAX; i++)
		fds[count++] = (struct pollfd){.fd = libusb_fds[i]->fd, .events = libusb_fds[i]->events};
	libusb_free_pollfds(libusb_fds);
	return count;
}

static void LIBUSB_CALL on_pollfd_added(int fd, short events, void *user)
{
	(void)fd;
	(void)events;
	*(bool *)user = true;
}

static void LIBUSB_CALL on_pollfd_removed(int fd, void *user)
{
	(void)fd;
	*(bool *)user = true;
}

void *tac_usb_io_thread(void *user)
{
	tac_usb *usb = user;
	tac_thread_def def = {.name = "tactus-usb", .policy = TAC_POLICY_OTHER, .cpu = -1};
	if (usb->def.priority > 0) {
		def.policy = TAC_POLICY_FIFO;
		def.priority = tac_thread_priority_permitted(usb->def.priority);
	}
	tac_thread_report report;
	if (tac_thread_enter(&def, &report) != TAC_OK)
		tac_log(TAC_LOG_WARNING, "usb: the I/O thread runs without SCHED_FIFO %d: not permitted",
			def.priority);
	// The list changes only on this thread: the device was opened before it starts and is closed after it
	// ends.
	bool changed = true;
	libusb_set_pollfd_notifiers(usb->context, on_pollfd_added, on_pollfd_removed, &changed);
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
			send_filled(usb);
		}
		struct timeval now = {0};
		libusb_handle_events_timeout_completed(usb->context, &now, NULL);
	}
	libusb_set_pollfd_notifiers(usb->context, NULL, NULL, NULL);
	tac_thread_leave(&report);
	return NULL;
}

void tac_usb_io_wake(tac_usb *usb)
{
	const uint64_t one = 1;
	ssize_t written = write(usb->wake_fd, &one, sizeof one); // a counter, which never fills up
	(void)written;
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
	uint8_t *message = calloc(1, (size_t)LIBUSB_CONTROL_SETUP_SIZE + count);
	sem_init(&ended, 0, 0);
	if (l && message) {
		const bool in = (type & LIBUSB_ENDPOINT_IN) != 0;
		libusb_fill_control_setup(message, type, request, value, index, count);
		if (!in && count > 0)
			memcpy(message + LIBUSB_CONTROL_SETUP_SIZE, bytes, count);
		libusb_fill_control_transfer(l, usb->handle, message, on_control, &ended, timeout_ms);
		int error = libusb_submit_transfer(l);
		if (error == 0) {
			// The I/O thread runs the callback, after timeout_ms at the latest.
			while (sem_wait(&ended) != 0)
				;
			status = status_of(l->status);
			done = (uint16_t)l->actual_length;
			if (in && status == TAC_USB_OK && done > 0)
				memcpy(bytes, message + LIBUSB_CONTROL_SETUP_SIZE, done);
		} else if (error == LIBUSB_ERROR_NO_DEVICE) {
			status = TAC_USB_LOST;
		}
	}
	sem_destroy(&ended);
	libusb_free_transfer(l);
	free(message);
	if (out_done)
		*out_done = done;
	return status;
}
