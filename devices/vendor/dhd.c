#include "devices/vendor/dhd.h"

#include "base/log.h"
#include "devices/sim.h"
#include "devices/vendor/desk_frame.h"
#include "devices/vendor/library.h"
#include "devices/vendor/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions of the library's C interface (SDK 3.17) that are used. An ID of -1, the last device opened,
// is never passed.
typedef struct functions {
	int (*dhdGetDeviceCount)(void);
	int (*dhdOpenID)(char id);
	int (*dhdClose)(char id);
	int (*dhdStop)(char id);
	int (*dhdErrorGetLast)(void);
	const char *(*dhdErrorGetLastStr)(void);
	int (*dhdGetSystemType)(char id);
	const char *(*dhdGetSystemName)(char id);
	int (*dhdGetSerialNumber)(unsigned short *serial, char id);
	bool (*dhdHasWrist)(char id);
	bool (*dhdHasActiveWrist)(char id);
	int (*dhdEnableForce)(unsigned char on, char id);
	int (*dhdGetPositionAndOrientationFrame)(double *x, double *y, double *z, double matrix[3][3],
						 char id);
	int (*dhdGetLinearVelocity)(double *x, double *y, double *z, char id);
	int (*dhdGetAngularVelocityRad)(double *x, double *y, double *z, char id);
	unsigned (*dhdGetButtonMask)(char id);
	int (*dhdSetForceAndTorqueAndGripperForce)(double fx, double fy, double fz, double tx, double ty,
						   double tz, double grip, char id);
	bool (*dhdHasGripper)(char id);
	bool (*dhdHasActiveGripper)(char id);
	int (*dhdGetGripperGap)(double *metre, char id);
	int (*dhdGetGripperLinearVelocity)(double *metre_per_s, char id);
	int (*dhdSetMaxGripperForce)(double newton, char id);
	int (*dhdSetGravityCompensation)(int on, char id);
	int (*dhdSetMaxForce)(double newton, char id);
	int (*dhdSetMaxTorque)(double newton_metre, char id);
	int (*dhdEnableExpertMode)(void);
	int (*dhdSetWatchdog)(unsigned char eighths_ms, char id);
} functions;

#define NEEDED(name)   TAC_LIBRARY_SYMBOL(functions, name, false)
#define OPTIONAL(name) TAC_LIBRARY_SYMBOL(functions, name, true)

static const tac_library_symbol symbols[] = {
	NEEDED(dhdGetDeviceCount),
	NEEDED(dhdOpenID),
	NEEDED(dhdClose),
	NEEDED(dhdStop),
	NEEDED(dhdErrorGetLast),
	NEEDED(dhdErrorGetLastStr),
	NEEDED(dhdGetSystemType),
	NEEDED(dhdGetSystemName),
	NEEDED(dhdGetSerialNumber),
	NEEDED(dhdHasWrist),
	OPTIONAL(dhdHasActiveWrist),
	NEEDED(dhdEnableForce),
	NEEDED(dhdGetPositionAndOrientationFrame),
	NEEDED(dhdGetLinearVelocity),
	OPTIONAL(dhdGetAngularVelocityRad),
	NEEDED(dhdGetButtonMask),
	NEEDED(dhdSetForceAndTorqueAndGripperForce),
	OPTIONAL(dhdHasGripper),
	OPTIONAL(dhdHasActiveGripper),
	OPTIONAL(dhdGetGripperGap),
	OPTIONAL(dhdGetGripperLinearVelocity),
	OPTIONAL(dhdSetMaxGripperForce),
	NEEDED(dhdSetGravityCompensation),
	NEEDED(dhdSetMaxForce),
	OPTIONAL(dhdSetMaxTorque),
	OPTIONAL(dhdEnableExpertMode),
	OPTIONAL(dhdSetWatchdog),
	{0},
};

// Its functions return 0 or more on success; 1 from a reading function means that there is no new sample yet.
#define TIME_GUARD 1

// Of dhdErrorGetLast.
#define ERROR_CONTROLLER_BUSY 3
#define ERROR_NO_DRIVER       4
#define ERROR_IN_USE          20

#define WATCHDOG_EIGHTHS_MS (TAC_RELAY_HOLD_NS / 125000) // its unit is 125 us
#define IDS_MAX             TAC_DRIVER_DEVICES_MAX
#define PERIOD_NS           INT64_C(250000) // of the relay; the devices themselves run at 4 kHz
#define FAILURES_MAX        100             // in a row, 25 ms: then the device is lost

// The limits of each kind of device; forces and stiffnesses are those of CHAI3D 3.3, workspaces are spheres.
typedef struct kind {
	int type; // of dhdGetSystemType
	double max_force_N, max_torque_Nm, stiffness_N_per_m, damping_N_s_per_m, radius_m;
} kind;

static const kind kinds[] = {
	{63, 20, 0, 5000, 30, 0.15},                                        // delta.3
	{33, 12, 0, 5000, 30, 0.075},                                       // omega.3
	{34, 12, 0, 5000, 30, 0.075},     {36, 12, 0, 5000, 30, 0.075},     // omega.6
	{35, 12, 0, 5000, 30, 0.075},     {37, 12, 0, 5000, 30, 0.075},     // omega.7
	{206, 12, 0, 4000, 30, 0.075},                                      // sigma.3
	{104, 12, 0.2, 4000, 30, 0.075},  {105, 12, 0.2, 4000, 30, 0.075},  // sigma.7
	{203, 12, 0, 8000, 30, 0.1125},                                     // lambda.3
	{131, 12, 0, 8000, 30, 0.1125},   {132, 12, 0, 8000, 30, 0.1125},   // lambda.6
	{108, 12, 0.2, 8000, 30, 0.1125}, {109, 12, 0.2, 8000, 30, 0.1125}, // lambda.7
	{60, 8, 0, 3000, 20, 0.04},                                         // Falcon
};

// Of omega.7, sigma.7 and lambda.7, which alone have a gripper: the force is that of CHAI3D 3.3, the opening
// is a little above that of the data sheets.
#define GRIPPER_N 8
#define GRIPPER_M 0.03

// A device that is not in the list gets the lowest limits.
static const kind unknown_kind = {0, 8, 0, 3000, 20, 0.04};

typedef struct dhd {
	functions f;
	char id;
	bool wrist, gripper;
	bool forces_on;
	int failures; // in a row
} dhd;

// ---- the exchange, on the relay's thread ----

static bool read_sample(dhd *d, tac_device_state *out_state, bool *out_fresh)
{
	const functions *f = &d->f;
	double v[3], matrix[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	const int pose = f->dhdGetPositionAndOrientationFrame(&v[0], &v[1], &v[2], matrix, d->id);
	if (pose < 0)
		return false;
	out_state->T_base_tool = tac_dpose_make(
		tac_desk_vector_from(v), d->wrist ? tac_desk_rotation_from(matrix) : tac_dquat_identity());
	if (f->dhdGetLinearVelocity(&v[0], &v[1], &v[2], d->id) < 0)
		return false;
	out_state->velocity_m_per_s = tac_desk_vector_from(v);
	if (d->wrist && f->dhdGetAngularVelocityRad) {
		if (f->dhdGetAngularVelocityRad(&v[0], &v[1], &v[2], d->id) < 0)
			return false;
		out_state->angular_velocity_rad_per_s = tac_desk_vector_from(v);
	}
	if (d->gripper && (f->dhdGetGripperGap(&out_state->gripper_m, d->id) < 0 ||
			   f->dhdGetGripperLinearVelocity(&out_state->gripper_m_per_s, d->id) < 0))
		return false;
	out_state->buttons = f->dhdGetButtonMask(d->id);
	*out_fresh = pose != TIME_GUARD;
	return true;
}

static bool send_command(dhd *d, const tac_relay_command *command)
{
	const functions *f = &d->f;
	if (command->forces_on != d->forces_on) {
		if (f->dhdEnableForce(command->forces_on, d->id) < 0)
			return false;
		d->forces_on = command->forces_on;
	}
	double force[3], torque[3];
	tac_desk_vector_to(command->wrench.force_N, force);
	tac_desk_vector_to(command->wrench.torque_Nm, torque);
	return f->dhdSetForceAndTorqueAndGripperForce(force[0], force[1], force[2], torque[0], torque[1],
						      torque[2], command->gripper_N, d->id) >= 0;
}

static tac_device_status dhd_exchange(void *user, const tac_relay_command *command,
				      tac_device_state *out_state)
{
	dhd *d = user;
	bool fresh = false;
	const bool sent = send_command(d, command); // also if reading fails: zero must get through
	const bool read = read_sample(d, out_state, &fresh);
	if (!sent || !read)
		return ++d->failures >= FAILURES_MAX ? TAC_DEVICE_LOST : TAC_DEVICE_STALE;
	d->failures = 0;
	return fresh ? TAC_DEVICE_OK : TAC_DEVICE_STALE;
}

static void dhd_close(void *user)
{
	dhd *d = user;
	d->f.dhdStop(d->id); // motors off, brakes on
	d->f.dhdClose(d->id);
	free(d);
}

// ---- set-up ----

static tac_library_state load(functions *out_functions, char *out_reason, size_t size)
{
	static const char *const names[] = {"libdhd.so.3", "libdhd.so", "libdrd.so.3", "libdrd.so", NULL};
	return tac_library_load("TACTUS_DHD_LIBRARY", names, symbols, out_functions, out_reason, size);
}

static const char udev_rule[] =
	"SUBSYSTEM==\"usb\", ATTR{idVendor}==\"1451\", MODE=\"0660\", TAG+=\"uaccess\"";

// The reason why the last call failed.
static tac_driver_state failure_reason(const functions *f, char *out_reason, size_t size)
{
	const int error = f->dhdErrorGetLast();
	const char *text = f->dhdErrorGetLastStr();
	if (error == ERROR_NO_DRIVER) {
		snprintf(out_reason, size, "%s; as root: echo '%s' > /etc/udev/rules.d/60-tactus-dhd.rules",
			 text, udev_rule);
		return TAC_DRIVER_NO_PERMISSION;
	}
	snprintf(out_reason, size, "the library reports: %s", text);
	return error == ERROR_IN_USE || error == ERROR_CONTROLLER_BUSY ? TAC_DRIVER_BUSY : TAC_DRIVER_FAILED;
}

void tac_dhd_list(tac_driver_report *report)
{
	functions f;
	const tac_library_state state = load(&f, report->reason, sizeof report->reason);
	if (state != TAC_LIBRARY_LOADED) {
		report->state = state == TAC_LIBRARY_MISSING ? TAC_DRIVER_NO_LIBRARY : TAC_DRIVER_FAILED;
		return;
	}
	const int count = f.dhdGetDeviceCount();
	for (int id = 0; id < count && id < IDS_MAX; id++) {
		char selection[16], serial[16] = "", reason[256] = "";
		const char *description = "a device of Force Dimension";
		tac_driver_state device_state = TAC_DRIVER_READY;
		snprintf(selection, sizeof selection, "dhd:%d", id);
		const bool open = f.dhdOpenID((char)id) >= 0;
		if (open) {
			unsigned short number;
			description = f.dhdGetSystemName((char)id);
			if (f.dhdGetSerialNumber(&number, (char)id) >= 0)
				snprintf(serial, sizeof serial, "%u", number);
		} else {
			device_state = failure_reason(&f, reason, sizeof reason);
		}
		tac_driver_report_add(report, selection, description ? description : "", serial, device_state,
				      reason);
		if (open)
			f.dhdClose((char)id);
	}
	if (report->count > 0)
		return;
	report->state = TAC_DRIVER_NOTHING;
	if (count < 0)
		report->state = failure_reason(&f, report->reason, sizeof report->reason);
	else
		snprintf(report->reason, sizeof report->reason,
			 "the library finds no device; is it switched on and plugged in?");
}

static tac_device_info describe(const functions *f, char id)
{
	const int type = f->dhdGetSystemType(id);
	const kind *k = &unknown_kind;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (kinds[i].type == type)
			k = &kinds[i];
	}
	const bool wrist = f->dhdHasWrist(id);
	const bool active = wrist && f->dhdHasActiveWrist && f->dhdHasActiveWrist(id);
	const bool gripper = f->dhdHasGripper && f->dhdGetGripperGap && f->dhdGetGripperLinearVelocity &&
			     f->dhdHasGripper(id);
	const bool gripper_motor = gripper && f->dhdHasActiveGripper && f->dhdHasActiveGripper(id);
	tac_device_info info = {
		.position_axes = 3,
		.rotation_axes = wrist ? 3 : 0,
		.force_axes = 3,
		.torque_axes = active ? 3 : 0,
		.buttons = 16,
		.max_force_N = k->max_force_N,
		.max_torque_Nm = active ? k->max_torque_Nm : 0,
		.max_stiffness_N_per_m = k->stiffness_N_per_m,
		.max_damping_N_s_per_m = k->damping_N_s_per_m,
		.gripper_max_m = gripper ? GRIPPER_M : 0,
		.max_gripper_N = gripper_motor ? GRIPPER_N : 0,
		.gripper = gripper_motor ? tac_sim_gripper_estimate() : (tac_device_mechanics){0},
		.workspace_min_m = tac_dvec3_splat(-k->radius_m),
		.workspace_max_m = tac_dvec3_splat(k->radius_m),
		.period_ns = PERIOD_NS,
		.delay_ns = PERIOD_NS,
		.hold_ns = TAC_RELAY_HOLD_NS,
	};
	snprintf(info.name, sizeof info.name, "dhd:%d", id);
	unsigned short number;
	if (f->dhdGetSerialNumber(&number, id) >= 0)
		snprintf(info.serial, sizeof info.serial, "%u", number);
	return info;
}

// Sets the limits in the device itself. False, with a log line, if it refuses its watchdog.
static bool set_limits(const functions *f, char id, const tac_device_info *info)
{
	f->dhdSetGravityCompensation(1, id);
	f->dhdSetMaxForce(info->max_force_N, id);
	if (info->max_torque_Nm > 0 && f->dhdSetMaxTorque)
		f->dhdSetMaxTorque(info->max_torque_Nm, id);
	if (info->max_gripper_N > 0 && f->dhdSetMaxGripperForce)
		f->dhdSetMaxGripperForce(info->max_gripper_N, id);
	if (f->dhdSetWatchdog && f->dhdEnableExpertMode && f->dhdEnableExpertMode() >= 0 &&
	    f->dhdSetWatchdog(WATCHDOG_EIGHTHS_MS, id) >= 0)
		return true;
	tac_log(TAC_LOG_WARNING,
		"%s: expected a watchdog in the device, found none: %s; the one of Tactus remains",
		info->name, f->dhdErrorGetLastStr());
	return false;
}

tac_result tac_dhd_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	(void)def;
	*out_device = NULL;
	int id;
	if (!tac_driver_parse_number("dhd", which, &id))
		return TAC_ERROR_ARGUMENT;
	char reason[256];
	functions f;
	if (load(&f, reason, sizeof reason) != TAC_LIBRARY_LOADED) {
		tac_log(TAC_LOG_ERROR, "dhd: %s", reason);
		return TAC_ERROR_UNSUPPORTED;
	}
	const int count = f.dhdGetDeviceCount();
	if (id >= count) {
		tac_log(TAC_LOG_ERROR, "dhd: expected device %d, found %d connected", id,
			count < 0 ? 0 : count);
		return TAC_ERROR_IO;
	}
	if (f.dhdOpenID((char)id) < 0) {
		failure_reason(&f, reason, sizeof reason);
		tac_log(TAC_LOG_ERROR, "dhd: expected to open device %d, found: %s", id, reason);
		return TAC_ERROR_IO;
	}
	dhd *d = calloc(1, sizeof *d);
	if (!d) {
		f.dhdClose((char)id);
		tac_log(TAC_LOG_ERROR, "dhd: expected memory for a device, found none");
		return TAC_ERROR_MEMORY;
	}
	const tac_relay_def relay = {
		.info = describe(&f, (char)id),
		.exchange = dhd_exchange,
		.close = dhd_close,
		.user = d,
		.thread_name = "tac-dhd",
	};
	*d = (dhd){.f = f,
		   .id = (char)id,
		   .wrist = relay.info.rotation_axes > 0,
		   .gripper = relay.info.gripper_max_m > 0};
	f.dhdEnableForce(0, (char)id);
	const bool limited = set_limits(&f, (char)id, &relay.info);
	const tac_result result = tac_relay_create(&relay, out_device);
	return result == TAC_OK && !limited ? TAC_PARTIAL : result;
}
