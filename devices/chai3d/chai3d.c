#include "devices/chai3d/chai3d.h"

#include "base/log.h"
#include "devices/chai3d_interface.h"
#include "devices/sim.h"
#include "devices/vendor/desk_frame.h"
#include "devices/vendor/library.h"
#include "devices/vendor/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_NS    INT64_C(250000)
#define FAILURES_MAX 100 // in a row, 25 ms: then the device is lost

// CHAI3D has the angle of a gripper and the force at its fingers; the opening is the angle times this arm,
// about that of an omega.7.
#define GRIPPER_ARM_M 0.05

// ---- the plugin ----

typedef struct plugin {
	const tac_chai3d_api *(*tac_chai3d_plugin)(void);
} plugin;

static tac_library_state load(const tac_chai3d_api **out_api, char *out_reason, size_t reason_size)
{
	static const tac_library_symbol symbols[] = {TAC_LIBRARY_SYMBOL(plugin, tac_chai3d_plugin, false),
						     {0}};
	// The first from bin/ or apps/, the second from libexec/tactus/.
	static const char *const names[] = {"../" TAC_CHAI3D_FILE, "../../" TAC_CHAI3D_FILE,
					    TAC_CHAI3D_INSTALLED, NULL};
	plugin p;
	const tac_library_state state =
		tac_library_load("TACTUS_CHAI3D_PLUGIN", names, symbols, &p, out_reason, reason_size);
	*out_api = NULL;
	if (state == TAC_LIBRARY_MISSING) {
		snprintf(out_reason, reason_size,
			 "expected the CHAI3D plugin, found none; build Tactus with -DCHAI3D_ROOT=… "
			 "(docs/chai3d.md), or name its file in TACTUS_CHAI3D_PLUGIN");
		return state;
	}
	if (state != TAC_LIBRARY_LOADED)
		return state;
	const tac_chai3d_api *api = p.tac_chai3d_plugin();
	if (api->version != TAC_CHAI3D_API_VERSION) {
		snprintf(out_reason, reason_size, "expected version %d of the CHAI3D plugin, found %d",
			 TAC_CHAI3D_API_VERSION, api->version);
		return TAC_LIBRARY_BROKEN;
	}
	*out_api = api;
	return state;
}

tac_result tac_chai3d_load(const tac_chai3d_api **out_api, char *out_reason, size_t reason_size)
{
	return load(out_api, out_reason, reason_size) == TAC_LIBRARY_LOADED ? TAC_OK : TAC_ERROR_UNSUPPORTED;
}

// ---- the exchange, on the relay's thread ----

typedef struct chai3d {
	const tac_chai3d_api *api;
	tac_chai3d_handler *handler;
	tac_chai3d_device *device;
	bool rotation, gripper;
	bool forces_on;
	int failures; // in a row
} chai3d;

static bool read_sample(chai3d *c, tac_device_state *out_state)
{
	double v[3], rows[3][3];
	if (c->api->device_position(c->device, v) != TAC_OK)
		return false;
	tac_dquat rotation = tac_dquat_identity();
	const tac_dvec3 position = tac_desk_vector_from(v);
	if (c->api->device_velocity(c->device, v) != TAC_OK)
		return false;
	out_state->velocity_m_per_s = tac_desk_vector_from(v);
	if (c->rotation) {
		if (c->api->device_rotation(c->device, rows) != TAC_OK ||
		    c->api->device_angular_velocity(c->device, v) != TAC_OK)
			return false;
		rotation = tac_desk_rotation_from(rows);
		out_state->angular_velocity_rad_per_s = tac_desk_vector_from(v);
	}
	out_state->T_base_tool = tac_dpose_make(position, rotation);
	if (c->gripper) {
		if (c->api->device_gripper(c->device, &v[0], &v[1]) != TAC_OK)
			return false;
		out_state->gripper_m = v[0] * GRIPPER_ARM_M;
		out_state->gripper_m_per_s = v[1] * GRIPPER_ARM_M;
	}
	return c->api->device_switches(c->device, &out_state->buttons) == TAC_OK;
}

static bool send_command(chai3d *c, const tac_relay_command *command)
{
	if (command->forces_on != c->forces_on) {
		if (c->api->device_enable(c->device, command->forces_on) != TAC_OK)
			return false;
		c->forces_on = command->forces_on;
	}
	double force[3], torque[3];
	tac_desk_vector_to(command->wrench.force_N, force);
	tac_desk_vector_to(command->wrench.torque_Nm, torque);
	return c->api->device_write(c->device, force, torque, command->gripper_N) == TAC_OK;
}

static tac_device_status chai3d_exchange(void *user, const tac_relay_command *command,
					 tac_device_state *out_state)
{
	chai3d *c = user;
	const bool sent = send_command(c, command); // also if reading fails: zero must get through
	if (read_sample(c, out_state) && sent) {
		c->failures = 0;
		return TAC_DEVICE_OK;
	}
	return ++c->failures >= FAILURES_MAX ? TAC_DEVICE_LOST : TAC_DEVICE_STALE;
}

static void chai3d_close(void *user)
{
	chai3d *c = user;
	c->api->device_close(&c->device);
	c->api->handler_destroy(&c->handler);
	free(c);
}

// ---- set-up ----

void tac_chai3d_list(tac_driver_report *report)
{
	const tac_chai3d_api *api;
	const tac_library_state state = load(&api, report->reason, sizeof report->reason);
	if (state != TAC_LIBRARY_LOADED) {
		report->state = state == TAC_LIBRARY_MISSING ? TAC_DRIVER_NOT_BUILT : TAC_DRIVER_FAILED;
		return;
	}
	tac_chai3d_handler *handler;
	if (api->handler_create(&handler) != TAC_OK) {
		report->state = TAC_DRIVER_FAILED;
		snprintf(report->reason, sizeof report->reason, "%s", api->message());
		return;
	}
	const int count = api->handler_count(handler);
	for (int i = 0; i < count; i++) {
		char selection[24], model[140] = "";
		tac_chai3d_info info;
		snprintf(selection, sizeof selection, "chai3d:%d", i);
		const bool described = api->handler_info(handler, i, &info) == TAC_OK;
		if (described)
			snprintf(model, sizeof model, "%s %s", info.manufacturer, info.model);
		tac_driver_report_add(report, selection, model, "",
				      described ? TAC_DRIVER_READY : TAC_DRIVER_FAILED,
				      described ? NULL : api->message());
	}
	api->handler_destroy(&handler);
	if (report->count > 0)
		return;
	report->state = TAC_DRIVER_NOTHING;
	snprintf(report->reason, sizeof report->reason, "CHAI3D finds no device");
}

static tac_device_info describe(const tac_chai3d_info *from, int index)
{
	tac_device_info info = {
		.position_axes = from->sensed_position ? 3 : 0,
		.rotation_axes = from->sensed_rotation ? 3 : 0,
		.force_axes = from->actuated_position ? 3 : 0,
		.torque_axes = from->actuated_rotation ? 3 : 0,
		.buttons = 32,
		.max_force_N = from->actuated_position ? from->max_force_N : 0,
		.max_torque_Nm = from->actuated_rotation ? from->max_torque_Nm : 0,
		.max_stiffness_N_per_m = from->max_stiffness_N_per_m,
		.max_damping_N_s_per_m = from->max_damping_N_s_per_m,
		.gripper_max_m = from->sensed_gripper ? from->gripper_max_angle_rad * GRIPPER_ARM_M : 0,
		.max_gripper_N =
			from->sensed_gripper && from->actuated_gripper ? from->max_gripper_force_N : 0,
		.gripper = from->sensed_gripper && from->actuated_gripper ? tac_sim_gripper_estimate()
									  : (tac_device_mechanics){0},
		.workspace_min_m = tac_dvec3_splat(-from->workspace_radius_m),
		.workspace_max_m = tac_dvec3_splat(from->workspace_radius_m),
		.period_ns = PERIOD_NS,
		.delay_ns = PERIOD_NS,
		.hold_ns = TAC_RELAY_HOLD_NS,
	};
	snprintf(info.name, sizeof info.name, "chai3d:%d", index);
	return info;
}

// Opens handler and device into `c`; on failure chai3d_close releases them.
static tac_result open_device(chai3d *c, int index, tac_chai3d_info *out_info)
{
	const tac_chai3d_api *api = c->api;
	tac_result result = api->handler_create(&c->handler);
	if (result == TAC_OK && index >= api->handler_count(c->handler)) {
		tac_log(TAC_LOG_ERROR, "chai3d: expected device %d, found %d connected", index,
			api->handler_count(c->handler));
		return TAC_ERROR_IO;
	}
	if (result == TAC_OK)
		result = api->device_open(c->handler, index, &c->device);
	if (result == TAC_OK)
		result = api->device_calibrate(c->device, false);
	if (result == TAC_OK)
		result = api->device_info(c->device, out_info);
	if (result != TAC_OK)
		tac_log(TAC_LOG_ERROR, "chai3d: device %d: %s", index, api->message());
	return result;
}

tac_result tac_chai3d_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	(void)def;
	*out_device = NULL;
	int index;
	if (!tac_driver_parse_number("chai3d", which, &index))
		return TAC_ERROR_ARGUMENT;
	char reason[256];
	const tac_chai3d_api *api;
	if (tac_chai3d_load(&api, reason, sizeof reason) != TAC_OK) {
		tac_log(TAC_LOG_ERROR, "chai3d: %s", reason);
		return TAC_ERROR_UNSUPPORTED;
	}
	chai3d *c = calloc(1, sizeof *c);
	if (!c) {
		tac_log(TAC_LOG_ERROR, "chai3d: expected memory for a device, found none");
		return TAC_ERROR_MEMORY;
	}
	c->api = api;
	tac_chai3d_info info;
	const tac_result result = open_device(c, index, &info);
	if (result != TAC_OK) {
		chai3d_close(c);
		return result;
	}
	c->rotation = info.sensed_rotation;
	c->gripper = info.sensed_gripper;
	const tac_relay_def relay = {
		.info = describe(&info, index),
		.exchange = chai3d_exchange,
		.close = chai3d_close,
		.user = c,
		.thread_name = "tac-chai3d",
	};
	return tac_relay_create(&relay, out_device);
}
