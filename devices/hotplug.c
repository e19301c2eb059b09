#include "devices/hotplug.h"

#include "base/log.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_NS   (20 * TAC_NS_PER_MS)   // between two checks for a lost device
#define SEARCH_NS (300 * TAC_NS_PER_MS)  // between two searches for its return
#define RETRY_NS  (2000 * TAC_NS_PER_MS) // after a failed attempt to open it

typedef struct hotplug {
	tac_device base;
	char selection[256];
	tac_open_def def;
	const tac_driver *driver;

	// A device is in one of these places at a time.
	tac_device *active;           // of the real-time thread
	_Atomic(tac_device *) lost;   // from the real-time thread to the supervisor
	_Atomic(tac_device *) opened; // from the supervisor to the real-time thread

	// The device on which any thread can switch forces off. The user of it holds `lock`, and so does the
	// supervisor before it destroys the device; the real-time thread never does.
	_Atomic(tac_device *) visible;
	pthread_mutex_t lock;

	atomic_bool enabled, stop;
	pthread_t thread;
	tac_device_state state; // the last known
} hotplug;

static hotplug *hotplug_of(tac_device *device)
{
	return (hotplug *)device;
}

// ---- the real-time thread ----

static void adopt(hotplug *h)
{
	h->active = atomic_exchange_explicit(&h->opened, NULL, memory_order_acquire);
	if (!h->active)
		return;
	atomic_store_explicit(&h->visible, h->active, memory_order_release);
	// After `visible`: a thread that switches forces off either sees the device, or has cleared `enabled`
	// before it is read here.
	if (atomic_load(&h->enabled))
		h->active->enable(h->active, true);
	if (!atomic_load(&h->enabled))
		h->active->enable(h->active, false);
}

static void drop(hotplug *h)
{
	h->active->enable(h->active, false);
	atomic_store_explicit(&h->visible, NULL, memory_order_release);
	atomic_store_explicit(&h->lost, h->active, memory_order_release);
	h->active = NULL;
}

static tac_device_status hotplug_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	hotplug *h = hotplug_of(device);
	if (!h->active)
		adopt(h);
	tac_device_status status = TAC_DEVICE_LOST;
	if (h->active) {
		tac_device_state state;
		status = h->active->read(h->active, now_ns, &state);
		if (status == TAC_DEVICE_LOST)
			drop(h);
		else
			h->state = state;
	}
	if (status == TAC_DEVICE_LOST) {
		h->state.velocity_m_per_s = tac_dvec3_zero();
		h->state.angular_velocity_rad_per_s = tac_dvec3_zero();
		h->state.gripper_m_per_s = 0;
		status = TAC_DEVICE_DISABLED;
	}
	*out_state = h->state;
	return status;
}

static tac_device_status hotplug_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	hotplug *h = hotplug_of(device);
	if (!h->active)
		return TAC_DEVICE_DISABLED;
	const tac_device_status status = h->active->write(h->active, now_ns, wrench);
	return status == TAC_DEVICE_LOST ? TAC_DEVICE_DISABLED : status; // the next read handles it
}

static void hotplug_set_gripper(tac_device *device, double force_N)
{
	hotplug *h = hotplug_of(device);
	if (h->active)
		tac_device_set_gripper(h->active, force_N);
}

static void hotplug_enable(tac_device *device, bool on)
{
	hotplug *h = hotplug_of(device);
	atomic_store(&h->enabled, on);
	pthread_mutex_lock(&h->lock);
	tac_device *visible = atomic_load_explicit(&h->visible, memory_order_acquire);
	if (visible)
		visible->enable(visible, on);
	pthread_mutex_unlock(&h->lock);
}

// ---- the supervisor ----

static bool stopped(void *user)
{
	const hotplug *h = user;
	return atomic_load_explicit(&h->stop, memory_order_relaxed) ||
	       (h->def.cancelled && h->def.cancelled(h->def.user));
}

// Sleeps in short pieces, so that destroying is not delayed.
static void wait_for(hotplug *h, int64_t duration_ns)
{
	const int64_t end_ns = tac_clock_now_ns() + duration_ns;
	while (tac_clock_now_ns() < end_ns && !stopped(h))
		tac_clock_sleep_until_ns(tac_clock_now_ns() + POLL_NS);
}

// Whether the driver finds the device, without opening it.
static bool is_connected(const hotplug *h)
{
	tac_driver_report report;
	const char *which;
	tac_registry_driver_of(h->selection, &which);
	const size_t length = strcspn(h->selection, ","); // a handle may be named after the device
	if (which[0] == '/') {
		char path[sizeof h->selection];
		snprintf(path, sizeof path, "%.*s", (int)strcspn(which, ","), which);
		return access(path, F_OK) == 0;
	}
	tac_registry_list(h->driver, &report);
	const bool any = !*which;
	for (int i = 0; i < report.count; i++) {
		const tac_driver_device *d = &report.devices[i];
		const bool usable = d->state == TAC_DRIVER_READY || d->state == TAC_DRIVER_NO_FIRMWARE;
		if (usable && (any || (strncmp(d->selection, h->selection, length) == 0 &&
				       d->selection[length] == '\0')))
			return true;
	}
	return false;
}

static void close_lost(hotplug *h, tac_device *lost)
{
	// After this lock no thread that saw the device as visible still uses it.
	pthread_mutex_lock(&h->lock);
	pthread_mutex_unlock(&h->lock);
	lost->destroy(lost);
	tac_log(TAC_LOG_WARNING, "%s: lost; forces are off; plug it in again to continue", h->selection);
}

// Opens the device and hands it over; false, after a wait, if that is not possible yet.
static bool reopen(hotplug *h)
{
	tac_open_def def = h->def;
	def.cancelled = stopped;
	def.user = h;
	tac_device *device = NULL;
	if (!is_connected(h)) {
		wait_for(h, SEARCH_NS);
	} else if (tac_registry_open(h->selection, &def, &device) < 0) {
		wait_for(h, RETRY_NS);
	} else {
		tac_log(TAC_LOG_INFO, "%s: back; forces rise slowly", h->selection);
		atomic_store_explicit(&h->opened, device, memory_order_release);
	}
	return device != NULL;
}

static void *supervise(void *user)
{
	hotplug *h = user;
	bool away = false;
	while (!atomic_load_explicit(&h->stop, memory_order_relaxed)) {
		tac_device *lost = atomic_exchange_explicit(&h->lost, NULL, memory_order_acquire);
		if (lost) {
			close_lost(h, lost);
			away = true;
		}
		if (away && !stopped(h))
			away = !reopen(h);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + POLL_NS);
	}
	return NULL;
}

// ---- set-up ----

static void hotplug_destroy(tac_device *device)
{
	hotplug *h = hotplug_of(device);
	atomic_store_explicit(&h->stop, true, memory_order_relaxed);
	pthread_join(h->thread, NULL);
	tac_device *all[3] = {h->active, atomic_load(&h->lost), atomic_load(&h->opened)};
	for (int i = 0; i < 3; i++)
		tac_device_destroy(&all[i]);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

tac_result tac_hotplug_open(const char *selection, const tac_open_def *def, tac_device **out_device)
{
	tac_device *device;
	const tac_result opened = tac_registry_open(selection, def, &device);
	const char *which;
	const tac_driver *driver = tac_registry_driver_of(selection, &which);
	*out_device = device;
	if (opened < 0 || !driver->hot_pluggable)
		return opened;
	*out_device = NULL;
	hotplug *h = calloc(1, sizeof *h);
	if (!h) {
		tac_log(TAC_LOG_ERROR, "hotplug: expected memory for a device, found none");
		tac_device_destroy(&device);
		return TAC_ERROR_MEMORY;
	}
	snprintf(h->selection, sizeof h->selection, "%s", selection);
	h->def = def ? *def : (tac_open_def){0};
	h->def.sim_path = NULL; // belongs to the caller, and is for simulations only
	h->def.sim_waypoints = 0;
	h->driver = driver;
	h->active = device;
	atomic_store(&h->visible, device);
	h->state.T_base_tool = tac_dpose_identity();
	h->base = (tac_device){device->info,   hotplug_read,    hotplug_write,
			       hotplug_enable, hotplug_destroy, hotplug_set_gripper};
	pthread_mutex_init(&h->lock, NULL);
	const tac_result started = tac_thread_start(&h->thread, supervise, h);
	if (started < 0) {
		tac_device_destroy(&device);
		pthread_mutex_destroy(&h->lock);
		free(h);
		return started;
	}
	*out_device = &h->base;
	return opened;
}
