#include "devices/falcon/falcon_link.h"

#include "base/log.h"
#include "rt/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONTROL_MS 1000
// While the firmware is loaded, the bridge sends every 16 ms, data or only its status. Half a second of that
// must fit, or a thread that was preempted loses an echo.
#define BACKLOG      32
#define OUT_LIMIT_MS 250 // for which the bridge may hold a command
#define PROBES       3   // packets to find out whether the firmware runs
#define TRANSFERS    64  // taken at once, at most: more than the backlog
#define ECHO_ANSWERS 10  // timeout of an echo, in answer_ns: repeating a load takes longer
#define QUIET_NS     (5 * TAC_NS_PER_MS)
#define FAREWELL_NS  (100 * TAC_NS_PER_MS) // for the last zeros when closing

// Lines of the bridge, for TAC_FALCON_BRIDGE_MODEM.
#define DTR_LOW  0x0100
#define DTR_HIGH 0x0101
#define RTS_LOW  0x0200

#define PURGE_RECEIVED 1
#define PURGE_SENT     2
#define FORMAT_8N1     8

static const uint8_t hello_request[] = {0x0A, 0x43, 0x0D};
static const uint8_t hello_answer[] = {0x0A, 0x44, 0x2C, 0x0D};

tac_falcon_link_def tac_falcon_link_def_default(void)
{
	return (tac_falcon_link_def){.hello_tries = 100, .load_tries = 3, .answer_ns = 60 * TAC_NS_PER_MS};
}

typedef struct session {
	const tac_falcon_link_def *def;
	tac_usb *usb;
	uint8_t *image;
	size_t image_bytes;
	int hellos;       // requests left
	char reason[200]; // of the last failure, for the log
} session;

__attribute__((format(printf, 2, 3))) static bool fail(session *s, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(s->reason, sizeof s->reason, format, arguments);
	va_end(arguments);
	return false;
}

static bool cancelled(const session *s)
{
	return s->def->cancelled && s->def->cancelled(s->def->user);
}

// ---- bytes ----

static bool bridge(session *s, tac_falcon_bridge_request request, uint16_t value)
{
	const tac_usb_status status =
		tac_usb_control(s->usb, 0x40, (uint8_t)request, value, 0, NULL, 0, CONTROL_MS, NULL);
	return status == TAC_USB_OK || fail(s, "expected the USB bridge to take request %d, found %s",
					    (int)request, tac_usb_status_name(status));
}

static bool purge(session *s)
{
	return bridge(s, TAC_FALCON_BRIDGE_RESET, PURGE_RECEIVED) &&
	       bridge(s, TAC_FALCON_BRIDGE_RESET, PURGE_SENT);
}

static bool send_bytes(session *s, const uint8_t *bytes, size_t count)
{
	const int64_t end_ns = tac_clock_now_ns() + s->def->answer_ns;
	void *buffer;
	while (!(buffer = tac_usb_buffer(s->usb)) && tac_clock_now_ns() < end_ns &&
	       tac_usb_first_error(s->usb) == TAC_USB_OK)
		tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_NS_PER_MS);
	if (!buffer)
		return fail(s, "expected the device to take data, found %s",
			    tac_usb_status_name(tac_usb_first_error(s->usb)));
	memcpy(buffer, bytes, count);
	const tac_usb_status status = tac_usb_send(s->usb, (uint32_t)count);
	return status == TAC_USB_OK ||
	       fail(s, "expected the device to take data, found %s", tac_usb_status_name(status));
}

// Receives up to `wanted` bytes of the device, without the bridge's status; fewer after `within_ns`.
static size_t collect(session *s, uint8_t *out, size_t wanted, int64_t within_ns)
{
	const int64_t end_ns = tac_clock_now_ns() + within_ns;
	size_t received = 0;
	while (received < wanted) {
		const uint8_t *bytes;
		uint32_t count;
		if (tac_usb_receive(s->usb, end_ns, &bytes, &count) != TAC_USB_OK)
			break;
		for (uint32_t i = TAC_FALCON_BRIDGE_STATUS_BYTES; i < count && received < wanted; i++)
			out[received++] = bytes[i];
		if (tac_clock_now_ns() >= end_ns) // the bridge never stops sending its status
			break;
	}
	return received;
}

// Discards unread bytes of the device.
static void drain(session *s)
{
	const int64_t end_ns = tac_clock_now_ns() + QUIET_NS;
	const uint8_t *bytes;
	uint32_t count;
	while (tac_clock_now_ns() < end_ns && tac_usb_receive(s->usb, end_ns, &bytes, &count) == TAC_USB_OK) {
	}
}

// ---- packets ----

bool tac_falcon_link_send(tac_usb *usb, const tac_falcon_command *command)
{
	uint8_t *buffer = tac_usb_buffer(usb);
	if (!buffer)
		return false;
	tac_falcon_command_encode(command, buffer);
	return tac_usb_send(usb, TAC_FALCON_PACKET_BYTES) == TAC_USB_OK;
}

// The device takes transfers in order, and each needs a buffer: after one zero more than there are buffers,
// the first has arrived.
bool tac_falcon_link_send_zeros(tac_usb *usb)
{
	const int64_t end_ns = tac_clock_now_ns() + FAREWELL_NS;
	const tac_falcon_command zero = {.home = true};
	int sent = 0;
	while (sent <= TAC_FALCON_BUFFERS && tac_usb_first_error(usb) == TAC_USB_OK &&
	       tac_clock_now_ns() < end_ns) {
		sent += tac_falcon_link_send(usb, &zero);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_NS_PER_MS / 4);
	}
	return sent > TAC_FALCON_BUFFERS;
}

bool tac_falcon_link_receive(tac_usb *usb, tac_falcon_stream *stream, int64_t deadline_ns,
			     tac_falcon_report *out_report)
{
	bool received = false;
	const uint8_t *bytes;
	uint32_t count;
	for (int k = 0; k < TRANSFERS; k++) {
		if (tac_usb_receive(usb, received ? 0 : deadline_ns, &bytes, &count) != TAC_USB_OK)
			break;
		for (uint32_t i = TAC_FALCON_BRIDGE_STATUS_BYTES; i < count; i++) {
			if (tac_falcon_stream_push(stream, bytes[i]))
				received |= tac_falcon_report_decode(stream->bytes, out_report);
		}
	}
	return received;
}

static bool normal_mode(session *s)
{
	return purge(s) && bridge(s, TAC_FALCON_BRIDGE_LATENCY, 1) &&
	       bridge(s, TAC_FALCON_BRIDGE_BAUD, TAC_FALCON_BAUD_RUN) && purge(s);
}

// Whether the device answers a packet.
static bool firmware_runs(session *s)
{
	const tac_falcon_command zero = {.home = true};
	tac_falcon_stream stream = {0};
	tac_falcon_report report;
	for (int i = 0; i < PROBES && !cancelled(s); i++) {
		if (tac_usb_first_error(s->usb) != TAC_USB_OK)
			return false;
		if (tac_falcon_link_send(s->usb, &zero) &&
		    tac_falcon_link_receive(s->usb, &stream, tac_clock_now_ns() + s->def->answer_ns, &report))
			return true;
	}
	return false;
}

// ---- firmware ----

bool tac_falcon_firmware_path(char *out, size_t size)
{
	const char *named = secure_getenv("TACTUS_FALCON_FIRMWARE");
	const char *data = secure_getenv("XDG_DATA_HOME");
	const char *home = secure_getenv("HOME");
	if (named && *named)
		snprintf(out, size, "%s", named);
	else if (data && *data)
		snprintf(out, size, "%s/tactus/falcon.bin", data);
	else
		snprintf(out, size, "%s/.local/share/tactus/falcon.bin", home ? home : "");
	return access(out, R_OK) == 0;
}

// Starts the boot loader, which listens at the low baud rate.
static bool boot_mode(session *s)
{
	return purge(s) && bridge(s, TAC_FALCON_BRIDGE_LATENCY, 16) &&
	       bridge(s, TAC_FALCON_BRIDGE_BAUD, TAC_FALCON_BAUD_HELLO) &&
	       bridge(s, TAC_FALCON_BRIDGE_FORMAT, FORMAT_8N1) && bridge(s, TAC_FALCON_BRIDGE_FLOW, 0) &&
	       bridge(s, TAC_FALCON_BRIDGE_MODEM, RTS_LOW) && bridge(s, TAC_FALCON_BRIDGE_MODEM, DTR_LOW) &&
	       bridge(s, TAC_FALCON_BRIDGE_MODEM, DTR_HIGH);
}

static bool contains(const uint8_t *bytes, size_t count, const uint8_t *wanted, size_t wanted_count)
{
	for (size_t i = 0; i + wanted_count <= count; i++) {
		if (memcmp(bytes + i, wanted, wanted_count) == 0)
			return true;
	}
	return false;
}

static bool hello(session *s)
{
	for (; s->hellos > 0; s->hellos--) {
		uint8_t bytes[sizeof hello_answer + 1]; // a zero may come first
		if (cancelled(s))
			return fail(s, "cancelled");
		drain(s);
		if (!send_bytes(s, hello_request, sizeof hello_request))
			return false;
		size_t count = collect(s, bytes, sizeof hello_answer, s->def->answer_ns);
		if (count == sizeof hello_answer && bytes[0] == 0)
			count += collect(s, bytes + count, 1, s->def->answer_ns);
		if (contains(bytes, count, hello_answer, sizeof hello_answer))
			return true;
	}
	return fail(s,
		    "expected the boot loader to answer, found silence after %d requests; "
		    "unplug the device's power for a moment",
		    s->def->hello_tries);
}

static bool expect_echo(session *s, const uint8_t *bytes, size_t count, size_t at)
{
	uint8_t echo[TAC_FALCON_BLOCK_BYTES];
	if (!send_bytes(s, bytes, count))
		return false;
	const size_t got = collect(s, echo, count, ECHO_ANSWERS * s->def->answer_ns);
	if (got != count)
		return fail(s, "expected an echo of %zu bytes of firmware at byte %zu, found %zu", count, at,
			    got);
	return memcmp(echo, bytes, count) == 0 ||
	       fail(s, "expected the firmware echoed at byte %zu, found other bytes", at);
}

static bool load_once(session *s)
{
	static const uint8_t begin = 0x41;
	if (!boot_mode(s) || !hello(s))
		return false;
	if (!bridge(s, TAC_FALCON_BRIDGE_MODEM, DTR_LOW) ||
	    !bridge(s, TAC_FALCON_BRIDGE_BAUD, TAC_FALCON_BAUD_LOAD))
		return false;
	drain(s);
	if (!expect_echo(s, &begin, 1, 0))
		return false;
	for (size_t at = 0; at < s->image_bytes; at += TAC_FALCON_BLOCK_BYTES) {
		const size_t left = s->image_bytes - at;
		if (cancelled(s))
			return fail(s, "cancelled");
		if (!expect_echo(s, s->image + at,
				 left < TAC_FALCON_BLOCK_BYTES ? left : TAC_FALCON_BLOCK_BYTES, at))
			return false;
	}
	if (!normal_mode(s))
		return false;
	drain(s);
	return firmware_runs(s) || fail(s, "expected the firmware to run, found no answer to packets");
}

// Reads the image. TAC_OK, or a result with a log line.
static tac_result read_image(session *s)
{
	char default_path[512];
	const char *path = s->def->firmware;
	if (!path && !tac_falcon_firmware_path(default_path, sizeof default_path)) {
		tac_log(TAC_LOG_ERROR,
			"falcon: expected a firmware file, found none at %s; the vendor's driver has it "
			"(nvent_firmware.bin); name it with --firmware or TACTUS_FALCON_FIRMWARE",
			default_path);
		return TAC_ERROR_UNSUPPORTED;
	}
	path = path ? path : default_path;
	FILE *file = fopen(path, "rb");
	if (!file) {
		tac_log(TAC_LOG_ERROR, "falcon: expected the firmware file %s, found: %s", path,
			strerror(errno));
		return TAC_ERROR_UNSUPPORTED;
	}
	s->image = malloc(TAC_FALCON_IMAGE_MAX + 1);
	if (!s->image) {
		fclose(file);
		tac_log(TAC_LOG_ERROR, "falcon: expected memory for the firmware, found none");
		return TAC_ERROR_MEMORY;
	}
	s->image_bytes = fread(s->image, 1, TAC_FALCON_IMAGE_MAX + 1, file);
	const bool unreadable = ferror(file) != 0;
	fclose(file);
	if (unreadable || s->image_bytes == 0 || s->image_bytes > TAC_FALCON_IMAGE_MAX) {
		tac_log(TAC_LOG_ERROR, "falcon: expected firmware of 1 to %d bytes in %s, found %s",
			TAC_FALCON_IMAGE_MAX, path,
			unreadable            ? "a file that cannot be read"
			: s->image_bytes == 0 ? "an empty file"
					      : "a longer file");
		return TAC_ERROR_FORMAT;
	}
	return TAC_OK;
}

static tac_result load_firmware(session *s)
{
	const tac_result read = read_image(s);
	if (read < 0)
		return read;
	tac_log(TAC_LOG_INFO, "falcon: loading %zu bytes of firmware", s->image_bytes);
	s->hellos = s->def->hello_tries;
	for (int i = 0; i < s->def->load_tries; i++) {
		if (load_once(s))
			return TAC_OK;
		if (cancelled(s) || s->hellos == 0 || tac_usb_first_error(s->usb) != TAC_USB_OK)
			break;
	}
	tac_log(TAC_LOG_ERROR, "falcon: firmware not loaded: %s", s->reason);
	return TAC_ERROR_IO;
}

// ---- opening ----

static tac_result start(session *s)
{
	if (!normal_mode(s)) {
		tac_log(TAC_LOG_ERROR, "falcon: %s", s->reason);
		return TAC_ERROR_IO;
	}
	drain(s);
	if (firmware_runs(s))
		return TAC_OK;
	if (cancelled(s)) { // a probe that was cut short says nothing about the firmware
		tac_log(TAC_LOG_ERROR, "falcon: expected an answer, found the opening cancelled");
		return TAC_ERROR_IO;
	}
	return load_firmware(s);
}

static tac_usb_def usb_def(const char *serial, int priority)
{
	tac_usb_def usb = tac_usb_def_default();
	usb.vendor_id = TAC_FALCON_VENDOR_ID;
	usb.product_id = TAC_FALCON_PRODUCT_ID;
	usb.serial = serial && *serial ? serial : NULL;
	usb.out_endpoint = TAC_FALCON_ENDPOINT_OUT;
	usb.in_endpoint = TAC_FALCON_ENDPOINT_IN;
	usb.out_bytes = TAC_FALCON_BRIDGE_PACKET_BYTES;
	usb.in_bytes = TAC_FALCON_BRIDGE_PACKET_BYTES; // one packet, which starts with its status
	usb.out_count = TAC_FALCON_BUFFERS;
	usb.in_backlog = BACKLOG;
	usb.out_limit_ms = OUT_LIMIT_MS;
	usb.clear_halts = true;
	usb.priority = priority;
	return usb;
}

tac_result tac_falcon_link_attach(const char *serial, int priority, tac_usb **out_usb)
{
	const tac_usb_def usb = usb_def(serial, priority);
	return tac_usb_open(&usb, out_usb);
}

tac_result tac_falcon_link_open(const tac_falcon_link_def *def, tac_usb **out_usb)
{
	const tac_usb_def usb = usb_def(def->serial, def->priority);
	session s = {.def = def};
	*out_usb = NULL;
	tac_result result = tac_usb_open(&usb, &s.usb);
	if (result < 0)
		return result;
	result = start(&s);
	free(s.image);
	if (result < 0)
		tac_usb_close(&s.usb);
	*out_usb = s.usb;
	return result;
}
