// Finding devices: the list, the wait for an arrival, and the udev rule for those that may not be opened.
#include "base/log.h"
#include "devices/usb/usb_connection.h"
#include "rt/clock.h"

#include <stdio.h>

#define RESCAN_NS (500 * TAC_NS_PER_MS) // while waiting for an arrival
#define POLL_NS   (50 * TAC_NS_PER_MS)  // between two calls of `give_up`

const char *tac_usb_udev_rule(uint16_t vendor_id, uint16_t product_id, char *out, size_t size)
{
	snprintf(out, size,
		 "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"%04x\", ATTR{idProduct}==\"%04x\", "
		 "MODE=\"0660\", TAG+=\"uaccess\"",
		 vendor_id, product_id);
	return out;
}

bool tac_usb_ids_match(const struct libusb_device_descriptor *d, uint16_t vendor_id, uint16_t product_id)
{
	return (vendor_id == 0 || d->idVendor == vendor_id) &&
	       (product_id == 0 || d->idProduct == product_id);
}

tac_result tac_usb_libusb_init(libusb_context **out_context)
{
	int error = libusb_init(out_context);
	if (error == 0)
		return TAC_OK;
	*out_context = NULL;
	tac_log(TAC_LOG_ERROR, "usb: expected libusb to start, found %s", libusb_error_name(error));
	return TAC_ERROR_SYSTEM;
}

void tac_usb_read_string(libusb_device_handle *handle, uint8_t index, char *out, size_t size)
{
	int length = 0;
	if (index != 0)
		length = libusb_get_string_descriptor_ascii(handle, index, (unsigned char *)out,
							    (int)size - 1);
	out[length > 0 ? length : 0] = 0;
}

static tac_usb_device describe(libusb_device *device, const struct libusb_device_descriptor *d)
{
	tac_usb_device out = {
		.vendor_id = d->idVendor,
		.product_id = d->idProduct,
		.bus = libusb_get_bus_number(device),
		.address = libusb_get_device_address(device),
	};
	libusb_device_handle *handle;
	if (libusb_open(device, &handle) != 0)
		return out;
	out.accessible = true;
	tac_usb_read_string(handle, d->iSerialNumber, out.serial, sizeof out.serial);
	tac_usb_read_string(handle, d->iProduct, out.product, sizeof out.product);
	out.busy = libusb_claim_interface(handle, 0) == LIBUSB_ERROR_BUSY &&
		   libusb_kernel_driver_active(handle, 0) != 1;
	libusb_close(handle);
	return out;
}

int tac_usb_list(uint16_t vendor_id, uint16_t product_id, tac_usb_device *out_devices, int capacity)
{
	libusb_context *context;
	tac_result result = tac_usb_libusb_init(&context);
	if (result < 0)
		return result;
	libusb_device **devices = NULL;
	ssize_t count = libusb_get_device_list(context, &devices);
	int matches = 0;
	for (ssize_t i = 0; i < count; i++) {
		struct libusb_device_descriptor d;
		if (libusb_get_device_descriptor(devices[i], &d) != 0 ||
		    !tac_usb_ids_match(&d, vendor_id, product_id))
			continue;
		if (matches < capacity)
			out_devices[matches] = describe(devices[i], &d);
		matches++;
	}
	if (count >= 0)
		libusb_free_device_list(devices, 1);
	libusb_exit(context);
	return matches;
}

static bool is_connected(libusb_context *context, const tac_usb_def *def)
{
	libusb_device **devices;
	ssize_t count = libusb_get_device_list(context, &devices);
	bool connected = false;
	for (ssize_t i = 0; i < count && !connected; i++) {
		struct libusb_device_descriptor d;
		connected = libusb_get_device_descriptor(devices[i], &d) == 0 &&
			    tac_usb_ids_match(&d, def->vendor_id, def->product_id);
	}
	if (count >= 0)
		libusb_free_device_list(devices, 1);
	return connected;
}

int tac_usb_hotplug_id(uint16_t id)
{
	return id != 0 ? id : LIBUSB_HOTPLUG_MATCH_ANY;
}

static int LIBUSB_CALL on_arrival(libusb_context *context, libusb_device *device, libusb_hotplug_event event,
				  void *user)
{
	(void)context;
	(void)device;
	(void)event;
	*(bool *)user = true;
	return 0;
}

bool tac_usb_wait(const tac_usb_def *def, int64_t timeout_ns, bool (*give_up)(void *user), void *user)
{
	const int64_t end_ns = tac_clock_now_ns() + timeout_ns;
	bool connected = false;
	do {
		// A fresh context scans the bus; an old one has only the events that udev sent.
		libusb_context *context;
		if (libusb_init(&context) != 0)
			return false;
		connected = is_connected(context, def);
		libusb_hotplug_callback_handle hotplug;
		bool registered =
			!connected &&
			libusb_hotplug_register_callback(
				context, LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED, 0,
				tac_usb_hotplug_id(def->vendor_id), tac_usb_hotplug_id(def->product_id),
				LIBUSB_HOTPLUG_MATCH_ANY, on_arrival, &connected, &hotplug) == LIBUSB_SUCCESS;
		const int64_t rescan_ns = tac_clock_now_ns() + RESCAN_NS;
		while (!connected && tac_clock_now_ns() < rescan_ns && tac_clock_now_ns() < end_ns &&
		       (!give_up || !give_up(user))) {
			struct timeval slice = {.tv_usec = POLL_NS / TAC_NS_PER_US};
			libusb_handle_events_timeout_completed(context, &slice, NULL);
		}
		if (registered)
			libusb_hotplug_deregister_callback(context, hotplug);
		libusb_exit(context);
	} while (!connected && tac_clock_now_ns() < end_ns && (!give_up || !give_up(user)));
	return connected;
}
