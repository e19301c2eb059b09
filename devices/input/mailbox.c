#include "devices/input/mailbox.h"

#include "base/log.h"
#include "rt/latest.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct target {
	tac_dpose T_base_tool;
	uint32_t buttons;
} target;

typedef struct mailbox {
	tac_device base;
	tac_latest *targets;
	double smoothing_s;
	int64_t read_ns;
	bool started;
	tac_device_state state;
	atomic_bool enabled, ended;
} mailbox;

static tac_device_status mailbox_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	mailbox *m = (mailbox *)device;
	const target *newest = tac_latest_read(m->targets, NULL);
	const double elapsed_s = m->started ? (double)(now_ns - m->read_ns) / 1e9 : 0;
	const tac_dpose before = m->state.T_base_tool;
	m->state.velocity_m_per_s = m->state.angular_velocity_rad_per_s = tac_dvec3_zero();
	if (newest && elapsed_s > 0) {
		const double fraction = m->smoothing_s > 0 ? -expm1(-elapsed_s / m->smoothing_s) : 1;
		tac_dpose *T = &m->state.T_base_tool;
		*T = tac_dpose_interpolate(before, newest->T_base_tool, fraction);
		T->rotation = tac_dquat_normalize(T->rotation);
		m->state.velocity_m_per_s =
			tac_dvec3_div(tac_dvec3_sub(T->position, before.position), elapsed_s);
		m->state.angular_velocity_rad_per_s = tac_dvec3_div(
			tac_dquat_log(tac_dquat_mul(T->rotation, tac_dquat_conjugate(before.rotation))),
			elapsed_s);
		m->state.buttons = newest->buttons;
	}
	m->started = true;
	m->state.time_ns = m->read_ns = now_ns;
	*out_state = m->state;
	return atomic_load_explicit(&m->ended, memory_order_relaxed) ? TAC_DEVICE_ENDED : TAC_DEVICE_OK;
}

static tac_device_status mailbox_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)now_ns;
	(void)wrench;
	mailbox *m = (mailbox *)device;
	return atomic_load_explicit(&m->enabled, memory_order_relaxed) ? TAC_DEVICE_OK : TAC_DEVICE_DISABLED;
}

static void mailbox_enable(tac_device *device, bool on)
{
	atomic_store_explicit(&((mailbox *)device)->enabled, on, memory_order_relaxed);
}

static void mailbox_destroy(tac_device *device)
{
	mailbox *m = (mailbox *)device;
	tac_latest_destroy(&m->targets);
	free(m);
}

tac_result tac_mailbox_create(const char *name, tac_dpose T_base_tool, double smoothing_s,
			      tac_device **out_device)
{
	*out_device = NULL;
	mailbox *m = calloc(1, sizeof *m);
	if (!m || tac_latest_create(sizeof(target), &m->targets) < TAC_OK) {
		free(m);
		tac_log(TAC_LOG_ERROR, "%s: no memory for the device", name);
		return TAC_ERROR_MEMORY;
	}
	m->base = (tac_device){
		.info = {.position_axes = 3,
			 .rotation_axes = 3,
			 .buttons = 32,
			 .max_force_N = TAC_DEVICE_SHOWN_FORCE_N,
			 .max_torque_Nm = TAC_DEVICE_SHOWN_TORQUE_NM,
			 .workspace_min_m = {-0.1, -0.1, -0.1},
			 .workspace_max_m = {0.1, 0.1, 0.1},
			 .period_ns = 1000000},
		.read = mailbox_read,
		.write = mailbox_write,
		.enable = mailbox_enable,
		.destroy = mailbox_destroy,
	};
	snprintf(m->base.info.name, sizeof m->base.info.name, "%s", name);
	m->smoothing_s = smoothing_s;
	m->state.T_base_tool = T_base_tool;
	*out_device = &m->base;
	return TAC_OK;
}

void tac_mailbox_set(tac_device *device, tac_dpose T_base_tool, uint32_t buttons)
{
	const target t = {T_base_tool, buttons};
	if (tac_dpose_finite(T_base_tool))
		tac_latest_write(((mailbox *)device)->targets, &t);
}

void tac_mailbox_end(tac_device *device)
{
	atomic_store_explicit(&((mailbox *)device)->ended, true, memory_order_relaxed);
}
