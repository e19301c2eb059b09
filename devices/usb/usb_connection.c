#include "devices/usb/usb_connection.h"

#include "base/log.h"
#include "rt/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

// ---- opening ----

static void log_refusal(const tac_usb_def *def, libusb_device *device, int error)
{
	int bus = libusb_get_bus_number(device), address = libusb_get_device_address(device);
	char rule[128];
	if (error == LIBUSB_ERROR_ACCESS)
		tac_log(TAC_LOG_ERROR,
			"usb: expected access to %04x:%04x (/dev/bus/usb/%03d/%03d), "
			"found permission denied; "
			"put this line into /etc/udev/rules.d/70-tactus.rules and plug it in again: %s",
			def->vendor_id, def->product_id, bus, address,
			tac_usb_udev_rule(def->vendor_id, def->product_id, rule, sizeof rule));
	else if (error == LIBUSB_ERROR_BUSY)
		tac_log(TAC_LOG_ERROR,
			"usb: expected interface %d of %04x:%04x (bus %d, device %d) to be free, "
			"found another program using it",
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
	for (ssize_t i = 0; i < count && result < 0; i++) {
		struct libusb_device_descriptor d;
		if (libusb_get_device_descriptor(devices[i], &d) != 0 ||
		    !tac_usb_ids_match(&d, def->vendor_id, def->product_id))
			continue;
		candidates++;
		int error = libusb_open(devices[i], &usb->handle);
		if (error != 0)
			usb->handle = NULL;
		if (error == 0) {
			tac_usb_read_string(usb->handle, d.iSerialNumber, usb->serial, sizeof usb->serial);
			if (!def->serial || strcmp(def->serial, usb->serial) == 0) {
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
			def->vendor_id, def->product_id, def->serial ? " with serial number " : "",
			def->serial ? def->serial : "", candidates, count > 0 ? (int)count : 0);
	return result;
}

static bool make_transfer(tac_usb *usb, tac_usb_transfer *t, uint8_t address, libusb_transfer_cb_fn callback,
			  uint32_t timeout_ms)
{
	t->usb = usb;
	t->libusb = libusb_alloc_transfer(0);
	if (!t->libusb)
		return false;
	libusb_fill_bulk_transfer(t->libusb, usb->handle, address, NULL, 0, callback, t, timeout_ms);
	return true;
}

static uint8_t *make_bytes(uint32_t count)
{
	uint8_t *bytes = malloc(count);
	if (bytes)
		memset(bytes, 0, count); // touches the pages: no page fault on the real-time thread
	return bytes;
}

static bool make_senders(tac_usb *usb)
{
	const tac_usb_def *def = &usb->def;
	for (uint32_t i = 0; i < (uint32_t)def->out_count; i++) {
		usb->out[i].bytes = make_bytes(def->out_bytes);
		if (!usb->out[i].bytes || !make_transfer(usb, &usb->senders[i], def->out_endpoint,
							 tac_usb_io_on_sent, def->out_limit_ms))
			return false;
		if (def->end_with_short)
			usb->senders[i].libusb->flags |= LIBUSB_TRANSFER_ADD_ZERO_PACKET;
		tac_usb_pass(usb->to_fill, i);
	}
	return true;
}

static bool make_receivers(tac_usb *usb)
{
	const tac_usb_def *def = &usb->def;
	for (uint32_t i = 0; i < (uint32_t)(def->in_count + def->in_backlog); i++) {
		usb->in[i].bytes = make_bytes(def->in_bytes);
		if (!usb->in[i].bytes)
			return false;
		if (i >= (uint32_t)def->in_count) {
			tac_usb_pass(usb->empty, i);
			continue;
		}
		tac_usb_transfer *t = &usb->receivers[i];
		if (!make_transfer(usb, t, def->in_endpoint, tac_usb_io_on_received, 0))
			return false;
		t->buffer = i;
		t->libusb->buffer = usb->in[i].bytes;
		t->libusb->length = (int)def->in_bytes;
	}
	return true;
}

// Takes the first bulk endpoint of each direction from the interface's descriptor; a direction that it does
// not have keeps its number.
static void find_endpoints(tac_usb *usb)
{
	struct libusb_config_descriptor *config;
	if (libusb_get_active_config_descriptor(libusb_get_device(usb->handle), &config) < 0)
		return;
	for (int i = 0; i < config->bNumInterfaces; i++) {
		const struct libusb_interface_descriptor *interface = config->interface[i].altsetting;
		if (config->interface[i].num_altsetting < 1 ||
		    interface->bInterfaceNumber != usb->def.interface)
			continue;
		for (int e = interface->bNumEndpoints - 1; e >= 0; e--) {
			const struct libusb_endpoint_descriptor *endpoint = &interface->endpoint[e];
			if ((endpoint->bmAttributes & LIBUSB_TRANSFER_TYPE_MASK) != LIBUSB_TRANSFER_TYPE_BULK)
				continue;
			if ((endpoint->bEndpointAddress & LIBUSB_ENDPOINT_IN) != 0)
				usb->def.in_endpoint = endpoint->bEndpointAddress;
			else
				usb->def.out_endpoint = endpoint->bEndpointAddress;
		}
	}
	libusb_free_config_descriptor(config);
}

static tac_result make_buffers(tac_usb *usb)
{
	const tac_usb_def *def = &usb->def;
	bool ok = true;
	tac_ring **rings[] = {&usb->to_fill, &usb->to_send, &usb->arrived, &usb->empty};
	for (int i = 0; i < 4; i++)
		ok = ok && tac_ring_create(TAC_USB_RING_SLOTS, sizeof(uint32_t), rings[i]) == TAC_OK;
	ok = ok && (def->out_endpoint == 0 || make_senders(usb));
	ok = ok && (def->in_endpoint == 0 || make_receivers(usb));
	if (!ok)
		tac_log(TAC_LOG_ERROR, "usb: no memory for %d buffers of %u bytes and %d of %u",
			def->out_count, def->out_bytes, def->in_count + def->in_backlog, def->in_bytes);
	return ok ? TAC_OK : TAC_ERROR_MEMORY;
}

static tac_result start(tac_usb *usb)
{
	tac_result result = tac_usb_libusb_init(&usb->context);
	if (result < 0)
		return result;
	usb->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (usb->wake_fd < 0) {
		tac_log(TAC_LOG_ERROR, "usb: eventfd: %s", strerror(errno));
		return TAC_ERROR_SYSTEM;
	}
	result = open_device(usb);
	if (result == TAC_OK && usb->def.find_endpoints)
		find_endpoints(usb);
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
	// Where hot-plug events are missing, unplugging still ends the pending transfers.
	usb->hotplug_set = libusb_hotplug_register_callback(usb->context, LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT, 0,
							    tac_usb_hotplug_id(usb->def.vendor_id),
							    tac_usb_hotplug_id(usb->def.product_id),
							    LIBUSB_HOTPLUG_MATCH_ANY, tac_usb_io_on_unplugged,
							    usb, &usb->hotplug) == LIBUSB_SUCCESS;
	result = tac_thread_start(&usb->thread, tac_usb_io_thread, usb);
	if (result < 0)
		return result;
	usb->thread_runs = true;
	for (int i = 0; usb->def.in_endpoint != 0 && i < usb->def.in_count; i++)
		if (!tac_usb_io_submit(&usb->receivers[i])) {
			tac_log(TAC_LOG_ERROR, "usb: expected %04x:%04x to be readable, found it %s",
				usb->def.vendor_id, usb->def.product_id,
				tac_usb_status_name(tac_usb_first_error(usb)));
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
	       def->in_backlog > 0 && def->in_backlog <= TAC_USB_BACKLOG_MAX && def->out_bytes <= INT_MAX &&
	       def->in_bytes <= INT_MAX;
}

tac_result tac_usb_open(const tac_usb_def *def, tac_usb **out_usb)
{
	*out_usb = NULL;
	if (!def_fits(def)) {
		tac_log(TAC_LOG_ERROR,
			"usb: expected endpoints with buffers, 1 to %d transfers each way and a backlog of "
			"1 to %d, found %d of %u bytes out, %d of %u in, backlog %d",
			TAC_USB_TRANSFERS_MAX, TAC_USB_BACKLOG_MAX, def->out_count, def->out_bytes,
			def->in_count, def->in_bytes, def->in_backlog);
		return TAC_ERROR_ARGUMENT;
	}
	tac_usb *usb = calloc(1, sizeof *usb);
	if (!usb) {
		tac_log(TAC_LOG_ERROR, "usb: no memory for a connection");
		return TAC_ERROR_MEMORY;
	}
	usb->def = *def;
	usb->wake_fd = -1;
	usb->filling = usb->reading = -1;
	tac_result result = start(usb);
	usb->def.serial = NULL; // belongs to the caller, who may free it
	if (result < 0)
		tac_usb_close(&usb);
	*out_usb = usb;
	return result;
}

// ---- closing ----

static bool any_in_flight(tac_usb *usb)
{
	bool any = false;
	for (int i = 0; i < TAC_USB_TRANSFERS_MAX; i++)
		any = any || atomic_load(&usb->senders[i].in_flight) ||
		      atomic_load(&usb->receivers[i].in_flight);
	return any;
}

static void free_transfers(tac_usb_transfer *transfers)
{
	for (int i = 0; i < TAC_USB_TRANSFERS_MAX; i++)
		libusb_free_transfer(transfers[i].libusb); // NULL is allowed
}

void tac_usb_close(tac_usb **usb)
{
	tac_usb *u = *usb;
	if (!u)
		return;
	atomic_store(&u->closing, true);
	if (u->thread_runs) {
		atomic_store(&u->stop, true);
		tac_usb_io_wake(u);
		pthread_join(u->thread, NULL);
	}
	// From here on this thread handles the events, until no transfer is in flight.
	for (int i = 0; u->handle && i < TAC_USB_TRANSFERS_MAX; i++) {
		if (atomic_load(&u->senders[i].in_flight))
			libusb_cancel_transfer(u->senders[i].libusb);
		if (atomic_load(&u->receivers[i].in_flight))
			libusb_cancel_transfer(u->receivers[i].libusb);
	}
	while (any_in_flight(u)) {
		struct timeval slice = {.tv_usec = 10000};
		libusb_handle_events_timeout_completed(u->context, &slice, NULL);
	}
	if (u->hotplug_set)
		libusb_hotplug_deregister_callback(u->context, u->hotplug);
	if (u->claimed)
		libusb_release_interface(u->handle, u->def.interface);
	if (u->handle)
		libusb_close(u->handle);
	free_transfers(u->senders);
	free_transfers(u->receivers);
	if (u->context)
		libusb_exit(u->context);
	if (u->wake_fd >= 0)
		close(u->wake_fd);
	for (size_t i = 0; i < sizeof u->out / sizeof u->out[0]; i++)
		free(u->out[i].bytes);
	for (size_t i = 0; i < sizeof u->in / sizeof u->in[0]; i++)
		free(u->in[i].bytes);
	tac_ring_destroy(&u->to_fill);
	tac_ring_destroy(&u->to_send);
	tac_ring_destroy(&u->arrived);
	tac_ring_destroy(&u->empty);
	free(u);
	*usb = NULL;
}

const char *tac_usb_serial(const tac_usb *usb)
{
	return usb->serial;
}
