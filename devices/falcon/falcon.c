#include "devices/falcon/falcon.h"

#include "base/log.h"
#include "devices/falcon/falcon_kinematics.h"
#include "devices/keeper/messages.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_NS    (20 * TAC_NS_PER_MS)  // without a write: the watchdog sends zero
#define WATCH_NS   (5 * TAC_NS_PER_MS)   // period of the watchdog
#define STALL_NS   (3 * TAC_NS_PER_MS)   // between two reads: the loop was stalled
#define POSE_NS    (5 * TAC_NS_PER_MS)   // an older pose gets no force
#define SILENT_NS  (500 * TAC_NS_PER_MS) // without a report: the device is lost, even if USB reports no error
#define HELD_UP_NS (20 * TAC_NS_PER_MS)  // what one read adds to that, at most
#define ANSWER_NS  (50 * TAC_NS_PER_MS)  // of a device that another process has left
#define SPEED_TAU  3e-3                  // s, of the velocity's low-pass filter
#define JUMP_M     0.02                  // impossible between two reports: 20 m/s at 1 kHz

typedef struct falcon {
	tac_device base;
	tac_usb *usb;

	atomic_bool taken; // one thread uses the connection
	atomic_bool enabled;
	atomic_bool stop;
	atomic_bool lost;
	_Atomic uint8_t leds;
	_Atomic int64_t written_ns; // the last write of the real-time thread
	_Atomic uint64_t watchdog_zeros;
	pthread_t watchdog;

	// Of the thread that has taken the connection.
	tac_falcon_stream stream;
	bool commanded; // since the last read
	bool has_force; // the last command was not zero
	bool homed;
	bool started;       // there was a valid report
	int64_t silent_ns;  // since the last report
	int64_t read_ns;    // time of the last read
	int64_t pose_ns;    // time of the last valid report
	tac_dvec3 position; // of the last valid report, in the mechanism's frame
	bool jumped;        // the last report was a jump, to `jump_to`
	tac_dvec3 jump_to;
	bool controlled; // the Jacobian is good
	tac_dmat3 jacobian;
	tac_device_state state;
	tac_falcon_counters counters;
} falcon;

static falcon *falcon_of(tac_device *device)
{
	return (falcon *)device;
}

// Taking and releasing the connection. Neither side waits: without it, the real-time thread or the watchdog
// skips its turn.
static bool take(falcon *f)
{
	return !atomic_exchange_explicit(&f->taken, true, memory_order_acquire);
}

static void release(falcon *f)
{
	atomic_store_explicit(&f->taken, false, memory_order_release);
}

static bool flag(const atomic_bool *b)
{
	return atomic_load_explicit(b, memory_order_relaxed);
}

// False: no buffer was free, or the connection has failed.
static bool command(falcon *f, const int16_t motor[3])
{
	tac_falcon_command c = {.leds = atomic_load_explicit(&f->leds, memory_order_relaxed), .home = true};
	if (motor)
		memcpy(c.motor, motor, sizeof c.motor);
	const bool zero = c.motor[0] == 0 && c.motor[1] == 0 && c.motor[2] == 0;
	const bool sent = tac_falcon_link_send(f->usb, &c);
	if (sent)
		f->has_force = !zero;
	f->commanded = true;
	return sent;
}

// ---- reading ----

// Whether the grip can have moved here since the last report. A second report of the same place is accepted.
static bool plausible(falcon *f, tac_dvec3 position)
{
	const bool jump = f->started && tac_dvec3_length(tac_dvec3_sub(position, f->position)) > JUMP_M;
	const bool again = f->jumped && tac_dvec3_length(tac_dvec3_sub(position, f->jump_to)) <= JUMP_M;
	f->jumped = jump && !again;
	f->jump_to = position;
	return !f->jumped;
}

// Makes a sample of a report; false if the report is not valid.
static bool take_report(falcon *f, const tac_falcon_report *report, int64_t now_ns)
{
	f->counters.reports++;
	f->homed = report->homed == TAC_FALCON_HOMED_ALL;
	if (!f->homed) {
		f->counters.unhomed++;
		return false;
	}
	tac_dvec3 position;
	tac_falcon_leg legs[3];
	if (!tac_falcon_forward(tac_falcon_angles(report->encoder), &position) ||
	    !tac_falcon_inverse(position, legs)) {
		f->counters.impossible++;
		return false;
	}
	if (!plausible(f, position)) {
		f->counters.jumps++;
		return false;
	}
	f->controlled = tac_falcon_jacobian(legs, &f->jacobian);
	const int64_t since_ns = now_ns - f->state.time_ns;
	if (f->started && since_ns > 0) {
		const double dt_s = (double)since_ns / 1e9;
		const tac_dvec3 speed = tac_dvec3_div(tac_dvec3_sub(position, f->position), dt_s);
		f->state.velocity_m_per_s =
			tac_dvec3_lerp(speed, f->state.velocity_m_per_s, SPEED_TAU / (SPEED_TAU + dt_s));
	}
	f->started = true;
	f->position = position;
	f->state.time_ns = now_ns;
	f->state.buttons = report->buttons;
	f->state.T_base_tool.position = tac_dvec3_sub(position, tac_dvec3_make(0, 0, TAC_FALCON_CENTRE_Z_M));
	return true;
}

// How much longer the device has been silent when it has still not answered after `since_ns`. A process that
// was held up itself, and whose thread for USB was too, has not given it the time to answer.
static int64_t silence(int64_t since_ns)
{
	return since_ns < HELD_UP_NS ? since_ns : HELD_UP_NS;
}

static tac_device_status read_report(falcon *f, int64_t now_ns)
{
	// Timeouts use the real clock; the caller's `now_ns` may be virtual time.
	const int64_t clock_ns = tac_clock_now_ns();
	tac_falcon_report report;
	const bool arrived = tac_falcon_link_receive(f->usb, &f->stream, 0, &report);
	// The first read may come long after homing, and no command has asked for a report since.
	f->silent_ns = arrived || f->read_ns == 0 ? 0 : f->silent_ns + silence(clock_ns - f->read_ns);
	// Reports that queued up while the loop was stalled are out of date.
	const bool late = clock_ns - f->read_ns > STALL_NS;
	f->read_ns = clock_ns;
	if (!f->commanded) // the device reports only in answer to a command
		f->counters.unsent += !command(f, NULL);
	f->commanded = false;
	if (tac_usb_first_error(f->usb) != TAC_USB_OK || f->silent_ns > SILENT_NS) {
		command(f, NULL); // a device that does not answer may still obey
		atomic_store_explicit(&f->lost, true, memory_order_relaxed);
		return TAC_DEVICE_LOST;
	}
	const bool fresh = arrived && !late && take_report(f, &report, now_ns);
	if (fresh)
		f->pose_ns = clock_ns;
	if (!f->homed)
		return TAC_DEVICE_DISABLED;
	return fresh ? TAC_DEVICE_OK : TAC_DEVICE_STALE;
}

static tac_device_status falcon_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	falcon *f = falcon_of(device);
	tac_device_status status = flag(&f->lost) ? TAC_DEVICE_LOST : TAC_DEVICE_STALE;
	if (take(f)) {
		status = flag(&f->lost) ? TAC_DEVICE_LOST : read_report(f, now_ns);
		if (flag(&f->lost))
			f->state.velocity_m_per_s = tac_dvec3_zero();
		release(f);
	}
	*out_state = f->state;
	return status;
}

// ---- writing ----

static tac_device_status falcon_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)now_ns;
	falcon *f = falcon_of(device);
	atomic_store_explicit(&f->written_ns, tac_clock_now_ns(), memory_order_relaxed);
	if (!take(f)) // the watchdog has it
		return flag(&f->lost) ? TAC_DEVICE_LOST : TAC_DEVICE_STALE;
	tac_device_status status = TAC_DEVICE_OK;
	if (flag(&f->lost)) {
		status = TAC_DEVICE_LOST;
	} else if (!flag(&f->enabled) || !f->homed) {
		f->counters.unsent += !command(f, NULL);
		status = TAC_DEVICE_DISABLED;
	} else {
		int16_t motor[3] = {0};
		tac_wrench limited = *wrench;
		tac_wrench_saturate(&limited, device->info.max_force_N, 0);
		// Motor values are a force at one position only, and the grip may have left it.
		if (f->controlled && tac_clock_now_ns() - f->pose_ns <= POSE_NS)
			f->counters.saturated += tac_falcon_motors(f->jacobian, limited.force_N, motor);
		f->counters.unsent += !command(f, motor);
	}
	release(f);
	return status;
}

static void falcon_enable(tac_device *device, bool on)
{
	atomic_store_explicit(&falcon_of(device)->enabled, on, memory_order_relaxed);
}

// ---- the watchdog ----

static void *run_watchdog(void *user)
{
	falcon *f = user;
	while (!flag(&f->stop)) {
		tac_clock_sleep_until_ns(tac_clock_now_ns() + WATCH_NS);
		const int64_t silent_ns =
			tac_clock_now_ns() - atomic_load_explicit(&f->written_ns, memory_order_relaxed);
		if (silent_ns <= HOLD_NS && flag(&f->enabled) && !flag(&f->lost))
			continue;
		if (!take(f))
			continue;
		if (f->has_force && command(f, NULL))
			atomic_fetch_add_explicit(&f->watchdog_zeros, 1, memory_order_relaxed);
		release(f);
	}
	return NULL;
}

static void falcon_destroy(tac_device *device)
{
	falcon *f = falcon_of(device);
	atomic_store_explicit(&f->stop, true, memory_order_relaxed);
	pthread_join(f->watchdog, NULL);
	tac_falcon_link_send_zeros(f->usb); // leaves no force behind
	tac_usb_close(&f->usb);
	free(f);
}

tac_falcon_counters tac_falcon_read_counters(tac_device *device)
{
	const falcon *f = falcon_of(device);
	tac_falcon_counters counters = f->counters;
	counters.dropped_bytes = f->stream.dropped;
	counters.watchdog = atomic_load_explicit(&f->watchdog_zeros, memory_order_relaxed);
	return counters;
}

void tac_falcon_set_leds(tac_device *device, uint8_t leds)
{
	atomic_store_explicit(&falcon_of(device)->leds, leds, memory_order_relaxed);
}

// ---- set-up ----

tac_falcon_def tac_falcon_def_default(void)
{
	tac_falcon_def def = {.link = tac_falcon_link_def_default(),
			      .home_ns = 60 * TAC_NS_PER_S,
			      .leds = TAC_FALCON_LED_B};
	def.link.priority = TAC_KEEPER_PRIORITY; // its thread serves the keeper's
	return def;
}

// Waits until all axes are homed.
static tac_result home(falcon *f, const tac_falcon_def *def)
{
	const int64_t begin_ns = tac_clock_now_ns();
	int64_t silent_ns = 0, polled_ns = begin_ns;
	const tac_falcon_command poll = {.leds = TAC_FALCON_LED_A, .home = true};
	bool logged = false;
	for (;;) {
		tac_falcon_report report;
		tac_falcon_link_send(f->usb, &poll);
		const int64_t now_ns = tac_clock_now_ns();
		silent_ns += silence(now_ns - polled_ns);
		polled_ns = now_ns;
		if (tac_falcon_link_receive(f->usb, &f->stream, now_ns + 10 * TAC_NS_PER_MS, &report)) {
			silent_ns = 0;
			if (report.homed == TAC_FALCON_HOMED_ALL)
				return TAC_OK;
		}
		if (tac_usb_first_error(f->usb) != TAC_USB_OK || silent_ns > SILENT_NS) {
			tac_log(TAC_LOG_ERROR, "falcon: expected reports while homing, found %s",
				tac_usb_first_error(f->usb) != TAC_USB_OK
					? tac_usb_status_name(tac_usb_first_error(f->usb))
					: "silence");
			return TAC_ERROR_IO;
		}
		if (def->link.cancelled && def->link.cancelled(def->link.user)) {
			tac_log(TAC_LOG_ERROR, "falcon: expected homing, found it cancelled");
			return TAC_ERROR_IO;
		}
		if (now_ns - begin_ns > def->home_ns) {
			tac_log(TAC_LOG_ERROR,
				"falcon: expected all three axes homed within %lld s, found some that are "
				"not",
				(long long)(def->home_ns / TAC_NS_PER_S));
			return TAC_ERROR_IO;
		}
		if (!logged)
			tac_log(TAC_LOG_INFO,
				"falcon: pull the grip all the way out and push it in once to home it");
		logged = true;
		tac_clock_sleep_until_ns(now_ns + TAC_NS_PER_MS);
	}
}

static tac_device_info describe(const tac_usb *usb)
{
	const tac_dvec3 reach = tac_dvec3_splat(TAC_FALCON_REACH_M);
	tac_device_info info = {
		.position_axes = 3,
		.force_axes = 3,
		.buttons = TAC_FALCON_BUTTONS,
		.max_force_N = 8, // recommended by other runtimes; 9 N are 2,259 of 4,096 in the middle
		.max_stiffness_N_per_m = 3000,
		.max_damping_N_s_per_m = 20,
		.workspace_min_m = tac_dvec3_neg(reach),
		.workspace_max_m = reach,
		.linear = {.resolution = 46e-6},
		.period_ns = TAC_NS_PER_MS,
		.delay_ns = TAC_NS_PER_MS,
		.hold_ns = HOLD_NS,
	};
	// Mass, damping and friction of the simulated device.
	for (int i = 0; tac_sim_preset_at(i); i++) {
		const tac_sim_preset *preset = tac_sim_preset_at(i);
		if (strcmp(preset->name, "falcon") != 0)
			continue;
		info.linear.mass = preset->def.linear.mass;
		info.linear.damping = preset->def.linear.damping;
		info.linear.coulomb = preset->def.linear.coulomb;
	}
	snprintf(info.name, sizeof info.name, "falcon");
	snprintf(info.serial, sizeof info.serial, "%s", tac_usb_serial(usb));
	return info;
}

tac_result tac_falcon_create(const tac_falcon_def *def, tac_device **out_device)
{
	*out_device = NULL;
	falcon *f = calloc(1, sizeof *f);
	if (!f) {
		tac_log(TAC_LOG_ERROR, "falcon: expected memory for a device, found none");
		return TAC_ERROR_MEMORY;
	}
	tac_result result = tac_falcon_link_open(&def->link, &f->usb);
	if (result == TAC_OK)
		result = home(f, def);
	if (result == TAC_OK) {
		f->base = (tac_device){describe(f->usb), falcon_read,    falcon_write,
				       falcon_enable,    falcon_destroy, NULL};
		f->state.T_base_tool = tac_dpose_identity();
		f->homed = true;
		atomic_store(&f->leds, def->leds);
		result = tac_thread_start(&f->watchdog, run_watchdog, f);
	}
	if (result < 0) {
		tac_usb_close(&f->usb);
		free(f);
		return result;
	}
	*out_device = &f->base;
	return TAC_OK;
}

// ---- the driver ----

void tac_falcon_list(tac_driver_report *report)
{
	tac_usb_device devices[TAC_DRIVER_DEVICES_MAX];
	const int count =
		tac_usb_list(TAC_FALCON_VENDOR_ID, TAC_FALCON_PRODUCT_ID, devices, TAC_DRIVER_DEVICES_MAX);
	char image[256], reason[256];
	const bool firmware = tac_falcon_firmware_path(image, sizeof image);
	for (int i = 0; i < count && i < TAC_DRIVER_DEVICES_MAX; i++) {
		char selection[48], rule[128];
		snprintf(selection, sizeof selection, "falcon%s%s", devices[i].serial[0] ? ":" : "",
			 devices[i].serial);
		tac_driver_state state = TAC_DRIVER_READY;
		reason[0] = '\0';
		if (!devices[i].accessible) {
			state = TAC_DRIVER_NO_PERMISSION;
			snprintf(reason, sizeof reason,
				 "put this line into /etc/udev/rules.d/70-tactus.rules "
				 "and plug it in again: %s",
				 tac_usb_udev_rule(TAC_FALCON_VENDOR_ID, TAC_FALCON_PRODUCT_ID, rule,
						   sizeof rule));
		} else if (devices[i].busy) {
			state = TAC_DRIVER_BUSY;
			snprintf(reason, sizeof reason, "another program has it open");
		} else if (!firmware) {
			state = TAC_DRIVER_NO_FIRMWARE;
			snprintf(reason, sizeof reason,
				 "unless it was loaded since power-on, name the vendor's nvent_firmware.bin "
				 "with --firmware or TACTUS_FALCON_FIRMWARE");
		}
		tac_driver_report_add(report, selection, "Novint Falcon", devices[i].serial, state, reason);
	}
	if (report->count > 0)
		return;
	report->state = count < 0 ? TAC_DRIVER_FAILED : TAC_DRIVER_NOTHING;
	snprintf(report->reason, sizeof report->reason, "%s",
		 count < 0 ? "libusb does not start"
			   : "no USB device 0403:cb48; are its power and its cable plugged in?");
}

tac_result tac_falcon_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	tac_falcon_def falcon_def = tac_falcon_def_default();
	falcon_def.link.serial = which;
	falcon_def.link.firmware = def->firmware;
	falcon_def.link.cancelled = def->cancelled;
	falcon_def.link.user = def->user;
	return tac_falcon_create(&falcon_def, out_device);
}

bool tac_falcon_let_go(const char *which)
{
	tac_usb *usb;
	if (tac_falcon_link_attach(which, TAC_KEEPER_PRIORITY, &usb) < 0)
		return false;
	// It answers what it has obeyed.
	tac_falcon_stream stream = {0};
	tac_falcon_report report;
	const bool obeyed = tac_falcon_link_send_zeros(usb) &&
			    tac_falcon_link_receive(usb, &stream, tac_clock_now_ns() + ANSWER_NS, &report);
	tac_usb_close(&usb);
	return obeyed;
}
