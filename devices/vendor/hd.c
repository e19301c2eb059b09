#include "devices/vendor/hd.h"

#include "base/log.h"
#include "devices/vendor/library.h"
#include "devices/vendor/relay.h"
#include "rt/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions of the library's C interface (OpenHaptics 3.4, HDAPI) that are used.
typedef unsigned hd_handle;

typedef struct hd_error {
	unsigned code; // older releases have 16 bits here: only those are read
	int internal;
	hd_handle device;
} hd_error;

typedef unsigned (*hd_callback)(void *user);

typedef struct functions {
	hd_handle (*hdInitDevice)(const char *name);
	void (*hdDisableDevice)(hd_handle device);
	void (*hdMakeCurrentDevice)(hd_handle device);
	void (*hdBeginFrame)(hd_handle device);
	void (*hdEndFrame)(hd_handle device);
	hd_error (*hdGetError)(void);
	void (*hdEnable)(unsigned capability);
	void (*hdDisable)(unsigned capability);
	void (*hdGetDoublev)(unsigned parameter, double *values);
	void (*hdGetIntegerv)(unsigned parameter, int *values);
	void (*hdSetDoublev)(unsigned parameter, const double *values);
	const char *(*hdGetString)(unsigned parameter);
	void (*hdStartScheduler)(void);
	void (*hdStopScheduler)(void);
	unsigned long (*hdScheduleAsynchronous)(hd_callback callback, void *user, unsigned short priority);
	void (*hdUnschedule)(unsigned long handle);
	unsigned (*hdCheckCalibration)(void);
	void (*hdUpdateCalibration)(unsigned style);
} functions;

#define NEEDED(name)   TAC_LIBRARY_SYMBOL(functions, name, false)
#define OPTIONAL(name) TAC_LIBRARY_SYMBOL(functions, name, true)

static const tac_library_symbol symbols[] = {
	NEEDED(hdInitDevice),
	NEEDED(hdDisableDevice),
	NEEDED(hdMakeCurrentDevice),
	NEEDED(hdBeginFrame),
	NEEDED(hdEndFrame),
	NEEDED(hdGetError),
	NEEDED(hdEnable),
	NEEDED(hdDisable),
	NEEDED(hdGetDoublev),
	NEEDED(hdGetIntegerv),
	NEEDED(hdSetDoublev),
	NEEDED(hdGetString),
	NEEDED(hdStartScheduler),
	NEEDED(hdStopScheduler),
	NEEDED(hdScheduleAsynchronous),
	NEEDED(hdUnschedule),
	OPTIONAL(hdCheckCalibration),
	OPTIONAL(hdUpdateCalibration),
	{0},
};

// Its constants.
enum {
	HD_CURRENT_BUTTONS = 0x2000,
	HD_CURRENT_VELOCITY = 0x2051,         // mm/s
	HD_CURRENT_TRANSFORM = 0x2052,        // 4x4 by columns, mm
	HD_CURRENT_ANGULAR_VELOCITY = 0x2053, // rad/s
	HD_DEVICE_MODEL_TYPE = 0x2501,
	HD_DEVICE_SERIAL_NUMBER = 0x2504,
	HD_USABLE_WORKSPACE_DIMENSIONS = 0x2551, // mm: smallest x y z, largest x y z
	HD_INPUT_DOF = 0x2553,
	HD_OUTPUT_DOF = 0x2554,
	HD_CALIBRATION_STYLE = 0x2555,
	HD_NOMINAL_MAX_STIFFNESS = 0x2602, // N/mm
	HD_NOMINAL_MAX_FORCE = 0x2603,
	HD_NOMINAL_MAX_DAMPING = 0x2609, // N s/mm
	HD_CURRENT_FORCE = 0x2700,
	HD_CURRENT_TORQUE = 0x2701, // mN m

	HD_FORCE_OUTPUT = 0x4000,

	HD_CALIBRATION_NEEDS_UPDATE = 0x5001,
	HD_CALIBRATION_NEEDS_MANUAL_INPUT = 0x5002,
	HD_CALIBRATION_AUTO = 2,

	HD_CALLBACK_CONTINUE = 1,
	HD_DEFAULT_PRIORITY = 0x7FFF,
};

#define INVALID_HANDLE     0xFFFFFFFFu
#define ERROR_DEVICE_FAULT 0x0300
#define ERROR_ALREADY      0x0301
#define ERROR_FORCES       0x0200 // to 0x02FF: the library has cut forces off
#define ERROR_DEVICE       0x0300 // to 0x03FF: the device is gone

#define PERIOD_NS     INT64_C(1000000)
#define CUT_OFF_NS    INT64_C(500000000) // without an error before forces are switched on again
#define LOST_ERRORS   20                 // in a row, one per tick
#define MAX_TORQUE_NM 0.18 // of the only devices with torques, the Premium 6DOF (data sheet: 188 mN m)

typedef struct hd {
	functions f;
	hd_handle handle;
	tac_device *relay;
	unsigned long schedule;
	bool torques;
	tac_dvec3 centre_m; // of the workspace
	bool forces_on;     // last command to the library
	int64_t cut_until_ns;
	int errors; // of the device, in a row
} hd;

// All devices share one scheduler; `scheduled` counts the open ones.
static pthread_mutex_t scheduler_lock = PTHREAD_MUTEX_INITIALIZER;
static int scheduled;

static const char *error_name(unsigned code)
{
	static const struct {
		unsigned code;
		const char *name;
	} names[] = {
		{0x0100, "invalid enum"},
		{0x0101, "invalid value"},
		{0x0102, "invalid operation"},
		{0x0103, "invalid input type"},
		{0x0104, "bad handle"},
		{0x0200, "warm motors"},
		{0x0201, "exceeded max force"},
		{0x0202, "exceeded max force impulse"},
		{0x0203, "exceeded max velocity"},
		{0x0204, "force error"},
		{ERROR_DEVICE_FAULT, "device fault: not connected, or not set up"},
		{ERROR_ALREADY, "device already initiated"},
		{0x0302, "communication error"},
		{0x0303, "communication configuration error"},
		{0x0304, "timer error"},
		{0x0400, "illegal begin"},
		{0x0401, "illegal end"},
		{0x0402, "frame error"},
		{0x0500, "invalid priority"},
		{0x0501, "scheduler full"},
		{0x0600, "invalid license"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (names[i].code == (code & 0xFFFF))
			return names[i].name;
	}
	return "an error of unknown meaning";
}

// ---- the exchange, on the library's scheduler ----

static void read_sample(const hd *h, tac_device_state *out_state)
{
	double t[16] = {0}, v[3] = {0}, w[3] = {0};
	int buttons = 0;
	h->f.hdGetDoublev(HD_CURRENT_TRANSFORM, t);
	h->f.hdGetDoublev(HD_CURRENT_VELOCITY, v);
	h->f.hdGetDoublev(HD_CURRENT_ANGULAR_VELOCITY, w);
	h->f.hdGetIntegerv(HD_CURRENT_BUTTONS, &buttons);
	const tac_dmat3 rotation =
		tac_dmat3_from_columns(tac_dvec3_load(t), tac_dvec3_load(t + 4), tac_dvec3_load(t + 8));
	const tac_dvec3 position = tac_dvec3_scale(tac_dvec3_load(t + 12), 1e-3);
	out_state->T_base_tool =
		tac_dpose_make(tac_dvec3_sub(position, h->centre_m), tac_dquat_from_mat3(rotation));
	out_state->velocity_m_per_s = tac_dvec3_scale(tac_dvec3_load(v), 1e-3);
	out_state->angular_velocity_rad_per_s = tac_dvec3_load(w);
	out_state->buttons = (uint32_t)buttons;
}

static void send_command(hd *h, const tac_relay_command *command, bool cut_off)
{
	const bool forces_on = command->forces_on && !cut_off;
	if (forces_on != h->forces_on) {
		if (forces_on)
			h->f.hdEnable(HD_FORCE_OUTPUT);
		else
			h->f.hdDisable(HD_FORCE_OUTPUT);
		h->forces_on = forces_on;
	}
	double force[3] = {0}, torque[3] = {0};
	if (forces_on) {
		tac_dvec3_store(force, command->wrench.force_N);
		tac_dvec3_store(torque, tac_dvec3_scale(command->wrench.torque_Nm, 1e3));
	}
	h->f.hdSetDoublev(HD_CURRENT_FORCE, force);
	if (h->torques)
		h->f.hdSetDoublev(HD_CURRENT_TORQUE, torque);
}

static tac_device_status hd_exchange(void *user, const tac_relay_command *command,
				     tac_device_state *out_state)
{
	hd *h = user;
	const int64_t now_ns = tac_clock_now_ns();
	h->f.hdMakeCurrentDevice(h->handle);
	h->f.hdBeginFrame(h->handle);
	read_sample(h, out_state);
	send_command(h, command, now_ns < h->cut_until_ns);
	h->f.hdEndFrame(h->handle);
	const unsigned code = h->f.hdGetError().code & 0xFFFF;
	if ((code & 0xFF00) == ERROR_DEVICE)
		return ++h->errors >= LOST_ERRORS ? TAC_DEVICE_LOST : TAC_DEVICE_STALE;
	h->errors = 0;
	if ((code & 0xFF00) == ERROR_FORCES)
		h->cut_until_ns = now_ns + CUT_OFF_NS;
	return now_ns < h->cut_until_ns ? TAC_DEVICE_DISABLED : TAC_DEVICE_OK;
}

static unsigned on_schedule(void *user)
{
	const hd *h = user;
	tac_relay_exchange(h->relay);
	return HD_CALLBACK_CONTINUE;
}

// Restarts the scheduler if other devices are open.
static void resume_scheduler(const functions *f)
{
	if (scheduled > 0)
		f->hdStartScheduler();
}

static void hd_stop(void *user)
{
	hd *h = user;
	pthread_mutex_lock(&scheduler_lock);
	h->f.hdStopScheduler();
	h->f.hdUnschedule(h->schedule);
	scheduled--;
	pthread_mutex_unlock(&scheduler_lock);
}

static void hd_close(void *user)
{
	hd *h = user;
	h->f.hdMakeCurrentDevice(h->handle);
	h->f.hdDisable(HD_FORCE_OUTPUT);
	h->f.hdDisableDevice(h->handle);
	resume_scheduler(&h->f);
	free(h);
}

// ---- set-up ----

static tac_library_state load(functions *out_functions, char *out_reason, size_t size)
{
	static const char *const names[] = {"libHD.so", "libHD.so.3.4", "libHD.so.3", NULL};
	return tac_library_load("TACTUS_HD_LIBRARY", names, symbols, out_functions, out_reason, size);
}

// The library queues its errors; older ones are discarded.
static void discard_errors(const functions *f)
{
	for (int i = 0; i < 64 && f->hdGetError().code != 0; i++) {
	}
}

// Opens the device and makes it current; INVALID_HANDLE and the error on failure.
static hd_handle init_device(const functions *f, const char *name, unsigned *out_error)
{
	discard_errors(f);
	const hd_handle handle = f->hdInitDevice(*name ? name : NULL);
	*out_error = f->hdGetError().code & 0xFFFF;
	if (*out_error == 0 && handle != INVALID_HANDLE) {
		f->hdMakeCurrentDevice(handle);
		return handle;
	}
	return INVALID_HANDLE;
}

static const char *text_or_nothing(const char *text)
{
	return text ? text : "";
}

void tac_hd_list(tac_driver_report *report)
{
	functions f;
	const tac_library_state state = load(&f, report->reason, sizeof report->reason);
	if (state != TAC_LIBRARY_LOADED) {
		report->state = state == TAC_LIBRARY_MISSING ? TAC_DRIVER_NO_LIBRARY : TAC_DRIVER_FAILED;
		return;
	}
	pthread_mutex_lock(&scheduler_lock);
	unsigned error = 0;
	const bool ours = scheduled > 0; // this program has the devices open
	const hd_handle handle = ours ? INVALID_HANDLE : init_device(&f, "", &error);
	if (handle != INVALID_HANDLE) {
		tac_driver_report_add(report, "hd", text_or_nothing(f.hdGetString(HD_DEVICE_MODEL_TYPE)),
				      text_or_nothing(f.hdGetString(HD_DEVICE_SERIAL_NUMBER)),
				      TAC_DRIVER_READY, NULL);
		f.hdDisableDevice(handle);
	} else if (ours) {
		tac_driver_report_add(report, "hd", "the default device", "", TAC_DRIVER_BUSY,
				      "this program has it open");
	} else {
		report->state = error == ERROR_DEVICE_FAULT ? TAC_DRIVER_NOTHING
				: error == ERROR_ALREADY    ? TAC_DRIVER_BUSY
							    : TAC_DRIVER_FAILED;
		snprintf(report->reason, sizeof report->reason,
			 "the library reports: %s; the vendor's set-up program names and pairs devices",
			 error_name(error));
	}
	pthread_mutex_unlock(&scheduler_lock);
}

static tac_device_info describe(hd *h, const char *name)
{
	const functions *f = &h->f;
	double workspace_mm[6] = {-80, -60, -35, 80, 60, 35}, force = 0, stiffness = 0, damping = 0;
	int input = 3, output = 3;
	f->hdGetDoublev(HD_USABLE_WORKSPACE_DIMENSIONS, workspace_mm);
	f->hdGetDoublev(HD_NOMINAL_MAX_FORCE, &force);
	f->hdGetDoublev(HD_NOMINAL_MAX_STIFFNESS, &stiffness);
	f->hdGetDoublev(HD_NOMINAL_MAX_DAMPING, &damping);
	f->hdGetIntegerv(HD_INPUT_DOF, &input);
	f->hdGetIntegerv(HD_OUTPUT_DOF, &output);
	const tac_dvec3 smallest = tac_dvec3_scale(tac_dvec3_load(workspace_mm), 1e-3);
	const tac_dvec3 largest = tac_dvec3_scale(tac_dvec3_load(workspace_mm + 3), 1e-3);
	h->torques = output >= 6;
	h->centre_m = tac_dvec3_lerp(smallest, largest, 0.5);
	tac_device_info info = {
		.position_axes = 3,
		.rotation_axes = input >= 6 ? 3 : 0,
		.force_axes = 3,
		.torque_axes = h->torques ? 3 : 0,
		.buttons = 4,
		.max_force_N = force,
		.max_torque_Nm = h->torques ? MAX_TORQUE_NM : 0,
		.max_stiffness_N_per_m = stiffness * 1e3,
		.max_damping_N_s_per_m = damping * 1e3,
		.workspace_min_m = tac_dvec3_sub(smallest, h->centre_m),
		.workspace_max_m = tac_dvec3_sub(largest, h->centre_m),
		.period_ns = PERIOD_NS,
		.delay_ns = PERIOD_NS,
		.hold_ns = TAC_RELAY_HOLD_NS,
	};
	snprintf(info.name, sizeof info.name, "hd%s%s", *name ? ":" : "", name);
	snprintf(info.serial, sizeof info.serial, "%s",
		 text_or_nothing(f->hdGetString(HD_DEVICE_SERIAL_NUMBER)));
	discard_errors(f); // older devices lack some parameters
	return info;
}

// Whether the device is calibrated now.
static bool calibrate(const functions *f, const char *name)
{
	const unsigned state = f->hdCheckCalibration ? f->hdCheckCalibration() : 0;
	int style = 0;
	f->hdGetIntegerv(HD_CALIBRATION_STYLE, &style);
	if (state == HD_CALIBRATION_NEEDS_UPDATE && style & HD_CALIBRATION_AUTO && f->hdUpdateCalibration) {
		f->hdUpdateCalibration(HD_CALIBRATION_AUTO);
		return true;
	}
	if (state != HD_CALIBRATION_NEEDS_UPDATE && state != HD_CALIBRATION_NEEDS_MANUAL_INPUT)
		return true;
	tac_log(TAC_LOG_WARNING,
		"%s: expected a calibrated device, found one that is not; put the stylus into its inkwell",
		name);
	return false;
}

static tac_result start(hd *h)
{
	h->schedule = h->f.hdScheduleAsynchronous(on_schedule, h, HD_DEFAULT_PRIORITY);
	scheduled++;
	discard_errors(&h->f);
	h->f.hdStartScheduler();
	const unsigned error = h->f.hdGetError().code & 0xFFFF;
	if (error == 0)
		return TAC_OK;
	tac_log(TAC_LOG_ERROR, "hd: expected the library's scheduler to start, found: %s", error_name(error));
	return TAC_ERROR_SYSTEM;
}

tac_result tac_hd_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	(void)def;
	*out_device = NULL;
	char reason[256];
	functions f;
	if (load(&f, reason, sizeof reason) != TAC_LIBRARY_LOADED) {
		tac_log(TAC_LOG_ERROR, "hd: %s", reason);
		return TAC_ERROR_UNSUPPORTED;
	}
	hd *h = calloc(1, sizeof *h);
	if (!h) {
		tac_log(TAC_LOG_ERROR, "hd: expected memory for a device, found none");
		return TAC_ERROR_MEMORY;
	}
	pthread_mutex_lock(&scheduler_lock);
	unsigned error;
	if (scheduled > 0) // a device is added while the scheduler is stopped
		f.hdStopScheduler();
	*h = (hd){.f = f, .handle = init_device(&f, which, &error)};
	if (h->handle == INVALID_HANDLE) {
		resume_scheduler(&f);
		pthread_mutex_unlock(&scheduler_lock);
		tac_log(TAC_LOG_ERROR, "hd: expected the device %s%.32s, found: %s",
			*which ? "" : "by default", which, error_name(error));
		free(h);
		return TAC_ERROR_IO;
	}
	const tac_relay_def relay = {
		.info = describe(h, which),
		.exchange = hd_exchange,
		.close = hd_close,
		.stop = hd_stop,
		.user = h,
	};
	const bool calibrated = calibrate(&f, relay.info.name);
	f.hdDisable(HD_FORCE_OUTPUT);
	tac_result result = tac_relay_create(&relay, &h->relay);
	if (result == TAC_OK) {
		tac_device *device = h->relay;
		result = start(h);
		pthread_mutex_unlock(&scheduler_lock);
		if (result < 0)
			tac_device_destroy(&device);
		*out_device = device;
	} else {
		pthread_mutex_unlock(&scheduler_lock);
	}
	return result == TAC_OK && !calibrated ? TAC_PARTIAL : result;
}
