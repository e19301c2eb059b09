#include "devices/vendor/relay.h"

#include "base/log.h"
#include "devices/keeper/messages.h"
#include "rt/clock.h"
#include "rt/latest.h"
#include "rt/thread.h"

#include <stdatomic.h>
#include <stdlib.h>

#define SILENT_READS 1000 // without an exchange that returned: the library hangs, the device is lost

// The payloads of the two buffers.
typedef struct sample {
	tac_device_state state;
	tac_device_status status;
} sample;

typedef struct timed_wrench {
	tac_wrench wrench;
	double gripper_N;
	int64_t time_ns; // when it was written
} timed_wrench;

typedef struct relay {
	tac_device base;
	tac_relay_def def;
	tac_latest *samples;  // to the real-time thread
	tac_latest *wrenches; // from it
	atomic_bool enabled;
	atomic_bool lost;
	atomic_bool stop;
	_Atomic uint32_t exchanges; // that returned
	pthread_t thread;

	// Of the real-time thread.
	tac_device_state last;
	tac_device_status status;
	uint32_t exchanges_seen;
	double gripper_N; // of the next write
	int silent_reads; // since `exchanges` changed
} relay;

static relay *relay_of(tac_device *device)
{
	return (relay *)device;
}

static bool flag(const atomic_bool *f)
{
	return atomic_load_explicit(f, memory_order_relaxed);
}

// ---- the device's side ----

static tac_relay_command current_command(relay *r, int64_t now_ns, bool stopping)
{
	const timed_wrench *newest = tac_latest_read(r->wrenches, NULL);
	tac_relay_command c = {.wrench = tac_wrench_zero(), .forces_on = flag(&r->enabled) && !stopping};
	if (c.forces_on && newest && now_ns - newest->time_ns <= r->base.info.hold_ns) {
		c.wrench = newest->wrench;
		c.gripper_N = newest->gripper_N;
	}
	return c;
}

static void exchange(relay *r, bool stopping)
{
	if (flag(&r->lost))
		return;
	const int64_t now_ns = tac_clock_now_ns();
	const tac_relay_command command = current_command(r, now_ns, stopping);
	sample s = {.state = {.T_base_tool = tac_dpose_identity()}};
	s.status = r->def.exchange(r->def.user, &command, &s.state);
	atomic_fetch_add_explicit(&r->exchanges, 1, memory_order_relaxed);
	s.state.time_ns = now_ns;
	if (s.status == TAC_DEVICE_LOST) {
		// A device that does not answer may still obey: its last command is zero.
		const tac_relay_command zero = {.wrench = tac_wrench_zero()};
		r->def.exchange(r->def.user, &zero, &s.state);
		atomic_store_explicit(&r->lost, true, memory_order_relaxed);
	} else if (s.status != TAC_DEVICE_STALE && tac_dpose_finite(s.state.T_base_tool)) {
		tac_latest_write(r->samples, &s);
	}
}

void tac_relay_exchange(tac_device *device)
{
	exchange(relay_of(device), false);
}

static void *relay_thread(void *user)
{
	relay *r = user;
	// As the keeper's: it sends the zeros that the keeper orders.
	const tac_thread_def def = {.name = r->def.thread_name,
				    .policy = TAC_POLICY_FIFO,
				    .priority = tac_thread_priority_permitted(TAC_KEEPER_PRIORITY),
				    .cpu = -1};
	tac_thread_report report;
	// A refused priority is not logged here: the loop logs its own, and the remedy is the same.
	const tac_result entered = tac_thread_enter(&def, &report);
	int64_t next_ns = tac_clock_now_ns();
	while (!flag(&r->stop) && !flag(&r->lost)) {
		exchange(r, false);
		const int64_t now_ns = tac_clock_now_ns();
		next_ns += r->base.info.period_ns;
		if (next_ns < now_ns) // no burst of calls after a slow one
			next_ns = now_ns;
		tac_clock_sleep_until_ns(next_ns);
	}
	exchange(r, true); // leaves no force behind
	if (entered >= TAC_OK)
		tac_thread_leave(&report);
	return NULL;
}

// ---- the real-time thread's side ----

// A library that does not return holds the device at its last force.
static void notice_silence(relay *r)
{
	const uint32_t exchanges = atomic_load_explicit(&r->exchanges, memory_order_relaxed);
	r->silent_reads = exchanges == r->exchanges_seen ? r->silent_reads + 1 : 0;
	r->exchanges_seen = exchanges;
	if (r->silent_reads >= SILENT_READS)
		atomic_store_explicit(&r->lost, true, memory_order_relaxed);
}

static tac_device_status relay_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	(void)now_ns;
	relay *r = relay_of(device);
	bool fresh;
	const sample *s = tac_latest_read(r->samples, &fresh);
	if (s && fresh) {
		r->last = s->state;
		r->status = s->status;
	}
	notice_silence(r);
	const bool lost = flag(&r->lost);
	if (lost) {
		r->last.velocity_m_per_s = tac_dvec3_zero();
		r->last.angular_velocity_rad_per_s = tac_dvec3_zero();
		r->last.gripper_m_per_s = 0;
	}
	*out_state = r->last;
	if (lost)
		return TAC_DEVICE_LOST;
	return s && fresh ? r->status : TAC_DEVICE_STALE;
}

static tac_device_status relay_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)now_ns;
	relay *r = relay_of(device);
	if (flag(&r->lost))
		return TAC_DEVICE_LOST;
	if (!flag(&r->enabled))
		return TAC_DEVICE_DISABLED;
	timed_wrench w = {.wrench = *wrench, .time_ns = tac_clock_now_ns()};
	tac_wrench_saturate(&w.wrench, device->info.max_force_N, device->info.max_torque_Nm);
	w.gripper_N = tac_gripper_saturate(r->gripper_N, device->info.max_gripper_N);
	tac_latest_write(r->wrenches, &w);
	return r->status == TAC_DEVICE_DISABLED ? TAC_DEVICE_DISABLED : TAC_DEVICE_OK;
}

static void relay_set_gripper(tac_device *device, double force_N)
{
	relay_of(device)->gripper_N = force_N;
}

static void relay_enable(tac_device *device, bool on)
{
	atomic_store_explicit(&relay_of(device)->enabled, on, memory_order_relaxed);
}

// ---- set-up ----

static void free_relay(relay *r)
{
	r->def.close(r->def.user);
	tac_latest_destroy(&r->samples);
	tac_latest_destroy(&r->wrenches);
	free(r);
}

static void relay_destroy(tac_device *device)
{
	relay *r = relay_of(device);
	atomic_store_explicit(&r->stop, true, memory_order_relaxed);
	if (r->def.thread_name) {
		pthread_join(r->thread, NULL);
	} else {
		r->def.stop(r->def.user);
		exchange(r, true);
	}
	free_relay(r);
}

tac_result tac_relay_create(const tac_relay_def *def, tac_device **out_device)
{
	*out_device = NULL;
	TAC_ASSERT(def->info.period_ns > 0 && def->info.hold_ns > 0 && (def->thread_name || def->stop));
	relay *r = calloc(1, sizeof *r);
	if (!r || tac_latest_create(sizeof(sample), &r->samples) != TAC_OK ||
	    tac_latest_create(sizeof(timed_wrench), &r->wrenches) != TAC_OK) {
		tac_log(TAC_LOG_ERROR, "%s: expected memory for a device, found none", def->info.name);
		def->close(def->user);
		if (r) {
			tac_latest_destroy(&r->samples);
			tac_latest_destroy(&r->wrenches);
		}
		free(r);
		return TAC_ERROR_MEMORY;
	}
	r->base = (tac_device){def->info,    relay_read,    relay_write,
			       relay_enable, relay_destroy, relay_set_gripper};
	r->def = *def;
	r->last.T_base_tool = tac_dpose_identity();
	if (def->thread_name) {
		const tac_result started = tac_thread_start(&r->thread, relay_thread, r);
		if (started != TAC_OK) {
			free_relay(r);
			return started;
		}
	}
	*out_device = &r->base;
	return TAC_OK;
}
