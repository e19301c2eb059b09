#include "devices/haply/inverse3.h"

#include "base/log.h"
#include "devices/haply/inverse3_protocol.h"
#include "devices/serial/serial.h"
#include "devices/vendor/relay.h"
#include "rt/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The arm has the identifiers of every Teensy, so its product name counts, too.
#define ARM_VENDOR     0x16C0
#define ARM_PRODUCT    0x0483
#define ARM_NAME       "inverse3"
#define HANDLE_VENDOR  0x2FE3
#define HANDLE_PRODUCT 0x0100
#define HANDLE_NAME    "haply"

#define PERIOD_NS    (1 * TAC_NS_PER_MS)
#define WRITE_NS     (2 * TAC_NS_PER_MS)   // longest wait for room in the port's buffer
#define ANSWER_NS    (4 * TAC_NS_PER_MS)   // for an answer
#define FAILURES_MAX 125                   // exchanges without an answer in a row, about 0.5 s: it is lost
#define WAKE_NS      (300 * TAC_NS_PER_MS) // between two attempts to wake it; the first is often not answered
#define WAKE_TRIES   20
#define LET_GO_TRIES 50
#define LET_GO_ZEROS 3 // answered ones

// A sample may be this far from the one before, and farther the older that is.
#define JUMP_M             0.002
#define HANDLE_SILENT_NS   (500 * TAC_NS_PER_MS) // then no button counts as held
#define ROTATION_RATE_POLE 0.9

// Estimates on the safe side: neither a continuous force nor a stiffness is published. Find the limits of
// your own device with `tactus bench zwidth` before you rely on them.
#define MAX_FORCE_N       5
#define STIFFNESS_N_PER_M 800
#define DAMPING_N_S_PER_M 5
#define WORKSPACE_M       0.1 // half the edge of a box around the centre

// The centre of the workspace in the device's frame, from the maker's examples.
static const float centre[3] = {0.0186F, -0.153F, 0.151F};

typedef struct inverse3 {
	int arm, handle; // descriptors; -1: there is no handle
	tac_serial_stream arm_stream, handle_stream;
	int failures;
	bool known; // there was a sample
	int64_t sample_ns;
	tac_dvec3 position_m;
	int64_t handle_ns; // of the handle's last answer; 0: none yet
	tac_dquat rotation;
	tac_dvec3 rotation_rate_rad_per_s;
	uint32_t buttons;
} inverse3;

// ---- streams ----

// The newest state in the stream; false: there is none.
static bool newest_state(tac_serial_stream *s, tac_inverse3_state *out_state)
{
	bool found = false;
	for (;;) {
		size_t used;
		const tac_inverse3_kind kind = tac_inverse3_decode(s->bytes, s->size, &used, out_state);
		if (kind == TAC_INVERSE3_INCOMPLETE)
			return found;
		found |= kind == TAC_INVERSE3_STATE;
		tac_serial_stream_drop(s, used);
	}
}

static bool send_force(int fd, tac_dvec3 force_N)
{
	float force[3];
	uint8_t bytes[TAC_INVERSE3_FORCE_BYTES];
	tac_inverse3_vector_to(force_N, force);
	tac_inverse3_force_encode(force, bytes);
	return tac_serial_write(fd, bytes, sizeof bytes, tac_clock_now_ns() + WRITE_NS);
}

// ---- the exchange, on the relay's thread ----

// Takes a state over; false: it is too far from the one before.
static bool accept(inverse3 *d, const tac_inverse3_state *s, tac_device_state *out_state)
{
	const int64_t now_ns = tac_clock_now_ns();
	const tac_dvec3 position_m =
		tac_dvec3_sub(tac_inverse3_vector_from(s->position_m), tac_inverse3_vector_from(centre));
	const double moved_m = tac_dvec3_length(tac_dvec3_sub(position_m, d->position_m));
	const double elapsed_s = (double)(now_ns - d->sample_ns) / 1e9;
	if (d->known && moved_m > JUMP_M + TAC_INVERSE3_SPEED_MAX * elapsed_s)
		return false;
	d->known = true;
	d->sample_ns = now_ns;
	d->position_m = position_m;
	out_state->T_base_tool.position = position_m;
	out_state->velocity_m_per_s = tac_inverse3_vector_from(s->velocity_m_per_s);
	return true;
}

static void turn_to(inverse3 *d, const tac_inverse3_handle *handle, int64_t now_ns)
{
	const tac_dquat rotation = tac_inverse3_rotation_from(handle->rotation);
	if (d->handle_ns > 0 && now_ns > d->handle_ns) {
		const tac_dvec3 turn =
			tac_dquat_log(tac_dquat_mul(rotation, tac_dquat_conjugate(d->rotation)));
		const tac_dvec3 rate = tac_dvec3_scale(turn, 1e9 / (double)(now_ns - d->handle_ns));
		d->rotation_rate_rad_per_s =
			tac_dvec3_lerp(rate, d->rotation_rate_rad_per_s, ROTATION_RATE_POLE);
	}
	d->rotation = rotation;
	d->handle_ns = now_ns;
	d->buttons = handle->buttons;
}

// Asks the handle, takes what it has answered so far, and waits for nothing. A handle that is gone stays
// away.
static void exchange_handle(inverse3 *d)
{
	const int64_t now_ns = tac_clock_now_ns();
	uint8_t request[TAC_INVERSE3_HANDLE_BYTES];
	tac_inverse3_handle_request_encode(request);
	tac_inverse3_handle handle;
	size_t used;
	if (!tac_serial_stream_fill(&d->handle_stream, d->handle, 0)) {
		close(d->handle);
		d->handle = -1;
		return;
	}
	tac_serial_write(d->handle, request, sizeof request, now_ns);
	for (;;) {
		const tac_inverse3_kind kind = tac_inverse3_handle_decode(
			d->handle_stream.bytes, d->handle_stream.size, &used, &handle);
		if (kind == TAC_INVERSE3_INCOMPLETE)
			break;
		if (kind == TAC_INVERSE3_HANDLE)
			turn_to(d, &handle, now_ns);
		tac_serial_stream_drop(&d->handle_stream, used);
	}
}

static tac_device_status inverse3_exchange(void *user, const tac_relay_command *command,
					   tac_device_state *out_state)
{
	inverse3 *d = user;
	bool fresh = false, present = true;
	const bool sent = send_force(d->arm, command->wrench.force_N);
	const int64_t deadline_ns = tac_clock_now_ns() + ANSWER_NS;
	while (!fresh && (present = tac_serial_stream_fill(&d->arm_stream, d->arm, deadline_ns))) {
		tac_inverse3_state state;
		if (newest_state(&d->arm_stream, &state))
			fresh = accept(d, &state, out_state);
		if (tac_clock_now_ns() >= deadline_ns)
			break;
	}
	if (d->handle >= 0)
		exchange_handle(d);
	const bool silent = tac_clock_now_ns() - d->handle_ns > HANDLE_SILENT_NS;
	out_state->T_base_tool.rotation = d->rotation;
	out_state->angular_velocity_rad_per_s = silent ? tac_dvec3_zero() : d->rotation_rate_rad_per_s;
	out_state->buttons = silent ? 0 : d->buttons;
	if (!present)
		return TAC_DEVICE_LOST;
	d->failures = sent && fresh ? 0 : d->failures + 1;
	return fresh ? TAC_DEVICE_OK : d->failures >= FAILURES_MAX ? TAC_DEVICE_LOST : TAC_DEVICE_STALE;
}

static void inverse3_close(void *user)
{
	inverse3 *d = user;
	close(d->arm);
	if (d->handle >= 0)
		close(d->handle);
	free(d);
}

// ---- ports ----

static bool is_named(const tac_serial_port *port, const char *name)
{
	return strcasestr(port->product, name) != NULL;
}

// The port that `wanted` names: a path, a serial number, or "" for the first one that is called `name`.
static bool find_port(uint16_t vendor, uint16_t product, const char *name, const char *wanted,
		      tac_serial_port *out_port)
{
	tac_serial_port ports[TAC_DRIVER_DEVICES_MAX];
	*out_port = (tac_serial_port){0};
	if (wanted[0] == '/') {
		snprintf(out_port->path, sizeof out_port->path, "%s", wanted);
		return true;
	}
	const int count = tac_serial_list(vendor, product, ports, TAC_DRIVER_DEVICES_MAX);
	for (int i = 0; i < count; i++) {
		if (*wanted ? strcmp(ports[i].serial, wanted) == 0 : is_named(&ports[i], name)) {
			*out_port = ports[i];
			return true;
		}
	}
	return false;
}

// `which` as ARM and HANDLE.
static void split(const char *which, char out_arm[256], char out_handle[256])
{
	const size_t length = strcspn(which, ",");
	snprintf(out_arm, 256, "%.*s", (int)length, which);
	snprintf(out_handle, 256, "%s", which[length] ? which + length + 1 : "");
}

void tac_inverse3_list(tac_driver_report *report)
{
	tac_serial_port ports[TAC_DRIVER_DEVICES_MAX];
	const int count = tac_serial_list(ARM_VENDOR, ARM_PRODUCT, ports, TAC_DRIVER_DEVICES_MAX);
	for (int i = 0; i < count; i++) {
		char selection[64], reason[256] = "";
		tac_driver_state state = TAC_DRIVER_READY;
		if (!is_named(&ports[i], ARM_NAME))
			continue;
		snprintf(selection, sizeof selection, "inverse3:%.50s",
			 ports[i].serial[0] ? ports[i].serial : ports[i].path);
		if (access(ports[i].path, R_OK | W_OK) != 0)
			state = tac_serial_failure(errno, ports[i].path, reason, sizeof reason);
		tac_driver_report_add(report, selection, "Haply Inverse3", ports[i].serial, state, reason);
	}
	if (report->count > 0)
		return;
	report->state = TAC_DRIVER_NOTHING;
	snprintf(report->reason, sizeof report->reason,
		 "%s; a port can be named: inverse3:/dev/ttyACM0, a Teensy by its serial number",
		 count > 0 ? "only other devices with a Teensy are connected" : "no Inverse3 is connected");
}

// ---- set-up ----

// Wakes the arm with zero force until it answers.
static bool wake(inverse3 *d, const tac_open_def *def)
{
	uint8_t request[TAC_INVERSE3_WAKE_BYTES];
	tac_inverse3_state state;
	tac_inverse3_wake_encode(request);
	for (int i = 0; i < WAKE_TRIES; i++) {
		const int64_t end_ns = tac_clock_now_ns() + WAKE_NS;
		if (!tac_serial_write(d->arm, request, sizeof request, end_ns) ||
		    !send_force(d->arm, tac_dvec3_zero()))
			return false;
		while (tac_clock_now_ns() < end_ns) {
			if ((def->cancelled && def->cancelled(def->user)) ||
			    !tac_serial_stream_fill(&d->arm_stream, d->arm,
						    tac_clock_now_ns() + 50 * TAC_NS_PER_MS))
				return false;
			if (newest_state(&d->arm_stream, &state))
				return true;
		}
	}
	return false;
}

static tac_device_info describe(const tac_serial_port *arm, bool handle)
{
	tac_device_info info = {
		.name = "inverse3",
		.position_axes = 3,
		.rotation_axes = handle ? 3 : 0,
		.force_axes = 3,
		.buttons = handle ? 8 : 0,
		.max_force_N = MAX_FORCE_N,
		.max_stiffness_N_per_m = STIFFNESS_N_PER_M,
		.max_damping_N_s_per_m = DAMPING_N_S_PER_M,
		.workspace_min_m = tac_dvec3_splat(-WORKSPACE_M),
		.workspace_max_m = tac_dvec3_splat(WORKSPACE_M),
		.period_ns = PERIOD_NS,
		.delay_ns = PERIOD_NS,
		.hold_ns = TAC_RELAY_HOLD_NS,
	};
	snprintf(info.serial, sizeof info.serial, "%s", arm->serial);
	return info;
}

static int open_port(const char *what, const tac_serial_port *port)
{
	char reason[320];
	const int fd = tac_serial_open(port->path);
	if (fd < 0) {
		tac_serial_failure(errno, port->path, reason, sizeof reason);
		tac_log(TAC_LOG_ERROR, "inverse3: expected the port of the %s, found: %s", what, reason);
	}
	return fd;
}

// Opens both ports; false after a log line.
static bool open_ports(inverse3 *d, const char *which, tac_serial_port *out_arm)
{
	char arm[256], handle[256];
	tac_serial_port handle_port;
	split(which, arm, handle);
	if (!find_port(ARM_VENDOR, ARM_PRODUCT, ARM_NAME, arm, out_arm)) {
		tac_log(TAC_LOG_ERROR, "inverse3: expected a Haply Inverse3%s%s on a USB port, found none",
			*arm ? " with the serial number " : "", arm);
		return false;
	}
	if ((d->arm = open_port("arm", out_arm)) < 0)
		return false;
	if (find_port(HANDLE_VENDOR, HANDLE_PRODUCT, HANDLE_NAME, handle, &handle_port)) {
		d->handle = open_port("handle", &handle_port);
		return d->handle >= 0;
	}
	if (*handle)
		tac_log(TAC_LOG_ERROR, "inverse3: expected a handle with the serial number %s, found none",
			handle);
	return !*handle;
}

tac_result tac_inverse3_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	*out_device = NULL;
	inverse3 *d = calloc(1, sizeof *d);
	if (!d) {
		tac_log(TAC_LOG_ERROR, "inverse3: expected memory for a device, found none");
		return TAC_ERROR_MEMORY;
	}
	*d = (inverse3){.arm = -1, .handle = -1, .rotation = tac_dquat_identity()};
	tac_serial_port arm;
	const bool opened = open_ports(d, which, &arm);
	const bool awake = opened && wake(d, def);
	if (opened && !awake)
		tac_log(TAC_LOG_ERROR,
			"inverse3: expected an answer of the arm at %s, found none; is it powered and "
			"calibrated?",
			arm.path);
	if (!awake) {
		inverse3_close(d);
		return TAC_ERROR_IO;
	}
	uint8_t request[TAC_INVERSE3_WAKE_BYTES];
	tac_inverse3_wake_encode(request);
	if (d->handle >= 0)
		tac_serial_write(d->handle, request, sizeof request, tac_clock_now_ns() + WRITE_NS);
	const tac_relay_def relay = {
		.info = describe(&arm, d->handle >= 0),
		.exchange = inverse3_exchange,
		.close = inverse3_close,
		.user = d,
		.thread_name = "tac-inverse3",
	};
	return tac_relay_create(&relay, out_device);
}

bool tac_inverse3_let_go(const char *which)
{
	char arm[256], handle[256];
	tac_serial_port port;
	split(which, arm, handle);
	if (!find_port(ARM_VENDOR, ARM_PRODUCT, ARM_NAME, arm, &port))
		return false;
	const int fd = tac_serial_open(port.path);
	if (fd < 0)
		return false;
	tac_serial_stream s = {.size = 0};
	int answered = 0;
	bool present = true;
	for (int i = 0; i < LET_GO_TRIES && answered < LET_GO_ZEROS && present; i++) {
		tac_inverse3_state state;
		present = send_force(fd, tac_dvec3_zero()) &&
			  tac_serial_stream_fill(&s, fd, tac_clock_now_ns() + ANSWER_NS);
		answered += newest_state(&s, &state);
	}
	close(fd);
	return answered == LET_GO_ZEROS;
}
