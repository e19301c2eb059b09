#include "devices/wooden/wooden.h"

#include "base/log.h"
#include "devices/serial/serial.h"
#include "devices/vendor/desk_frame.h"
#include "devices/vendor/relay.h"
#include "devices/wooden/wooden_protocol.h"
#include "rt/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define HID_ID        "HID_ID=0003:00001234:00000006" // bus, vendor and product: the mbed's own
#define PERIOD_NS     (1 * TAC_NS_PER_MS)
#define WRITE_NS      (2 * TAC_NS_PER_MS)
#define ANSWER_NS     (4 * TAC_NS_PER_MS)
#define FIRST_NS      (500 * TAC_NS_PER_MS) // for the first report
#define FAILURES_MAX  125                   // exchanges without a report in a row, about 0.5 s: it is lost
#define JUMP_COUNTS   20.0                  // a report may be this far from the one before,
#define COUNTS_PER_S  1e5                   // and farther the older that is: about 6 m/s
#define VELOCITY_POLE 0.9

typedef struct wooden {
	const tac_wooden_model *model;
	int fd;
	int failures;
	tac_wooden_report last;
	int64_t sample_ns;
	int32_t counts[3]; // the reports' 16 bits wrap; WoodenHaptics': since it was opened
	bool calibrating;  // the encoders are about to be set
	tac_dquat rotation;
	double jacobian[3][3];
	tac_dvec3 position_m, velocity_m_per_s;
} wooden;

// ---- the exchange, on the relay's thread ----

static bool send_currents(const wooden *w, const double current_mA[3])
{
	uint8_t bytes[TAC_WOODEN_COMMAND_MAX];
	const size_t size = w->calibrating ? tac_wooden_calibration_encode(w->model, bytes)
					   : tac_wooden_command_encode(w->model, current_mA, bytes);
	return tac_serial_write(w->fd, bytes, size, tac_clock_now_ns() + WRITE_NS);
}

// The newest report until the deadline. 1: there is one, 0: none, -1: the device is gone.
static int newest_report(const wooden *w, int64_t deadline_ns, tac_wooden_report *out_report)
{
	uint8_t bytes[64];
	int found = 0, size;
	while ((size = tac_serial_read(w->fd, bytes, sizeof bytes, found ? 0 : deadline_ns)) > 0)
		found |= tac_wooden_report_decode(w->model, bytes, (size_t)size, out_report);
	return size < 0 ? -1 : found;
}

static void locate(wooden *w, int64_t now_ns)
{
	double rad[3], desk[3];
	tac_wooden_angles(w->model, w->counts, rad);
	tac_wooden_forward(w->model, rad, desk, w->jacobian);
	if (w->model->turns) {
		double rows[3][3];
		tac_wooden_rotation(rad, &w->last, rows);
		w->rotation = tac_desk_rotation_from(rows);
	}
	const tac_dvec3 position_m = tac_desk_vector_from(desk);
	const double elapsed_s = (double)(now_ns - w->sample_ns) / 1e9;
	if (w->sample_ns > 0 && elapsed_s > 0) {
		const tac_dvec3 speed = tac_dvec3_div(tac_dvec3_sub(position_m, w->position_m), elapsed_s);
		w->velocity_m_per_s = tac_dvec3_lerp(speed, w->velocity_m_per_s, VELOCITY_POLE);
	}
	w->position_m = position_m;
	w->sample_ns = now_ns;
}

// A Polhem's encoders count from its calibration.
static void begin(wooden *w, const tac_wooden_report *report)
{
	w->last = *report;
	for (int i = 0; w->model->turns && i < 3; i++)
		w->counts[i] = report->encoder[i];
	w->velocity_m_per_s = tac_dvec3_zero();
	w->sample_ns = 0; // no speed from the position before
	locate(w, tac_clock_now_ns());
}

// Takes a report over; false: it is an old one, or too far from the one before.
static bool accept(wooden *w, const tac_wooden_report *report)
{
	// From the press of the calibration button until the encoders are set, no report has a position.
	const bool calibrated = w->calibrating && !report->calibrate;
	w->calibrating = report->calibrate;
	if (calibrated)
		begin(w, report);
	if (w->calibrating || calibrated)
		return calibrated;
	const int64_t now_ns = tac_clock_now_ns();
	const double reach = JUMP_COUNTS + COUNTS_PER_S * (double)(now_ns - w->sample_ns) / 1e9;
	int32_t moved[3];
	for (int i = 0; i < 3; i++) {
		moved[i] = (int16_t)(report->encoder[i] - w->last.encoder[i]);
		if (fabs((double)moved[i]) > reach)
			return false;
	}
	if (!w->model->turns && report->counter == w->last.counter)
		return false;
	for (int i = 0; i < 3; i++)
		w->counts[i] += moved[i];
	w->last = *report;
	locate(w, now_ns);
	return true;
}

static tac_device_status wooden_exchange(void *user, const tac_relay_command *command,
					 tac_device_state *out_state)
{
	wooden *w = user;
	double force[3], current_mA[3] = {0, 0, 0};
	tac_desk_vector_to(command->wrench.force_N, force);
	// Currents are a force at one pose only: without a recent report there are none.
	if (tac_clock_now_ns() - w->sample_ns < TAC_RELAY_HOLD_NS)
		tac_wooden_currents(w->model, force, (const double(*)[3])w->jacobian, current_mA);
	const bool sent = send_currents(w, current_mA);
	tac_wooden_report report;
	const int found = newest_report(w, tac_clock_now_ns() + ANSWER_NS, &report);
	if (found < 0)
		return TAC_DEVICE_LOST;
	const bool fresh = found > 0 && accept(w, &report);
	out_state->T_base_tool = tac_dpose_make(w->position_m, w->rotation);
	out_state->buttons = w->last.button;
	out_state->velocity_m_per_s = w->velocity_m_per_s;
	w->failures = sent && fresh ? 0 : w->failures + 1;
	return fresh ? TAC_DEVICE_OK : w->failures >= FAILURES_MAX ? TAC_DEVICE_LOST : TAC_DEVICE_STALE;
}

static void wooden_close(void *user)
{
	wooden *w = user;
	close(w->fd);
	free(w);
}

// ---- set-up ----

// Limits from the device's own host library; its workspace is a sphere of 0.1 m.
static tac_device_info describe(const tac_wooden_model *model)
{
	tac_device_info info = {
		.position_axes = 3,
		.rotation_axes = model->turns ? 3 : 0,
		.buttons = model->turns,
		.force_axes = 3,
		.max_force_N = 5,
		.max_stiffness_N_per_m = model->max_stiffness_N_per_m,
		.max_damping_N_s_per_m = 8,
		.workspace_min_m = {-0.1, -0.1, -0.1},
		.workspace_max_m = {0.1, 0.1, 0.1},
		.linear = {.resolution = 5e-5},
		.period_ns = PERIOD_NS,
		.delay_ns = PERIOD_NS,
		.hold_ns = TAC_RELAY_HOLD_NS,
	};
	snprintf(info.name, sizeof info.name, "%s", model->name);
	return info;
}

tac_result tac_wooden_create(const tac_wooden_model *model, int fd, tac_device **out_device)
{
	static const double zero[3] = {0, 0, 0};
	*out_device = NULL;
	wooden *w = calloc(1, sizeof *w);
	if (!w) {
		close(fd);
		tac_log(TAC_LOG_ERROR, "%s: expected memory for a device, found none", model->name);
		return TAC_ERROR_MEMORY;
	}
	w->model = model;
	w->fd = fd;
	w->rotation = tac_dquat_identity();
	tac_wooden_report first;
	// It sends its first report after the first command.
	if (!send_currents(w, zero) || newest_report(w, tac_clock_now_ns() + FIRST_NS, &first) <= 0) {
		tac_log(TAC_LOG_ERROR, "%s: expected a report of the device, found none; is it powered?",
			model->name);
		wooden_close(w);
		return TAC_ERROR_IO;
	}
	begin(w, &first);
	w->calibrating = first.calibrate;
	const tac_relay_def relay = {
		.info = describe(model),
		.exchange = wooden_exchange,
		.close = wooden_close,
		.user = w,
		.thread_name = "tac-wooden",
	};
	return tac_relay_create(&relay, out_device);
}

// Whether /sys/class/hidraw/NAME is such a device: both have the same identifiers, but reports of another
// size.
static bool is_model(const tac_wooden_model *model, const char *name)
{
	char path[320], line[256];
	uint8_t descriptor[256];
	bool found = false;
	snprintf(path, sizeof path, "/sys/class/hidraw/%s/device/uevent", name);
	FILE *file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof line, file))
		found = strncmp(line, HID_ID, strlen(HID_ID)) == 0;
	if (file)
		fclose(file);
	snprintf(path, sizeof path, "/sys/class/hidraw/%s/device/report_descriptor", name);
	file = found ? fopen(path, "re") : NULL;
	const size_t size = file ? fread(descriptor, 1, sizeof descriptor, file) : 0;
	if (file)
		fclose(file);
	return found && tac_wooden_descriptor_bytes(descriptor, size) == model->report_bytes;
}

static void list(const tac_wooden_model *model, tac_driver_report *report)
{
	DIR *folder = opendir("/sys/class/hidraw");
	for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
		char path[32], selection[48], reason[256] = "";
		tac_driver_state state = TAC_DRIVER_READY;
		if (entry->d_name[0] == '.' || !is_model(model, entry->d_name))
			continue;
		snprintf(path, sizeof path, "/dev/%.24s", entry->d_name);
		snprintf(selection, sizeof selection, "%s:%s", model->name, path);
		if (access(path, R_OK | W_OK) != 0)
			state = tac_serial_failure(errno, path, reason, sizeof reason);
		tac_driver_report_add(report, selection, model->product, "", state, reason);
	}
	if (folder)
		closedir(folder);
	if (report->count > 0)
		return;
	report->state = TAC_DRIVER_NOTHING;
	snprintf(report->reason, sizeof report->reason,
		 "no HID device 1234:0006 with reports of %zu bytes is connected", model->report_bytes);
}

static tac_result open_model(const tac_wooden_model *model, const char *which, tac_device **out_device)
{
	tac_driver_report found = {0};
	const char *path = which;
	*out_device = NULL;
	if (!*which) {
		list(model, &found);
		if (found.count == 0) {
			tac_log(TAC_LOG_ERROR, "%s: expected a %s on a USB port, found none", model->name,
				model->product);
			return TAC_ERROR_IO;
		}
		path = strchr(found.devices[0].selection, ':') + 1;
	}
	const int fd = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
		char reason[320];
		tac_serial_failure(errno == EWOULDBLOCK ? EBUSY : errno, path, reason, sizeof reason);
		if (fd >= 0)
			close(fd);
		tac_log(TAC_LOG_ERROR, "%s: expected the file of the device, found: %s", model->name, reason);
		return TAC_ERROR_IO;
	}
	return tac_wooden_create(model, fd, out_device);
}

void tac_wooden_list(tac_driver_report *report)
{
	list(&tac_wooden_haptics, report);
}

tac_result tac_wooden_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	(void)def;
	return open_model(&tac_wooden_haptics, which, out_device);
}

void tac_polhem_list(tac_driver_report *report)
{
	list(&tac_wooden_polhem, report);
}

tac_result tac_polhem_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	(void)def;
	return open_model(&tac_wooden_polhem, which, out_device);
}
