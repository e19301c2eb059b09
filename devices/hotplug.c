#include "devices/hotplug.h"

#include "base/log.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS     (20 * TAC_NS_PER_MS)   // how often the thread looks whether something was lost
#define SEARCH_NS   (300 * TAC_NS_PER_MS)  // how often it looks for the device's return
#define PATIENCE_NS (2000 * TAC_NS_PER_MS) // after an attempt that failed

typedef struct hotplug {
	tac_device base;
	char selection[256];
	tac_open_def def;
	const tac_driver *driver;

	// A device is in one of these places at a time.
	tac_device *mine;              // the real-time thread's
	_Atomic(tac_device *) gone;    // lost: from the real-time thread to the other
	_Atomic(tac_device *) arrived; // opened: from the other thread to the real-time thread

	// The one that forces can be switched off on, from any thread. `lock` is held while it is used, and
	// by who is about to destroy it; never by the real-time thread.
	_Atomic(tac_device *) visible;
	pthread_mutex_t lock;

	atomic_bool enabled, stop;
	pthread_t thread;
	tac_device_state state; // last known
} hotplug;

static hotplug *hotplug_of(tac_device *device)
{
	return (hotplug *)device;
}

// ---- the real-time thread ----

static void welcome(hotplug *h)
{
	h->mine = atomic_exchange_explicit(&h->arrived, NULL, memory_order_acquire);
	if (!h->mine)
		return;
	atomic_store_explicit(&h->visible, h->mine, memory_order_release);
	// After `visible`: who switches off in between either sees the device, or was here before and is
	// seen.
	if (atomic_load(&h->enabled))
		h->mine->enable(h->mine, true);
	if (!atomic_load(&h->enabled))
		h->mine->enable(h->mine, false);
}

static void dismiss(hotplug *h)
{
	h->mine->enable(h->mine, false);
	atomic_store_explicit(&h->visible, NULL, memory_order_release);
	atomic_store_explicit(&h->gone, h->mine, memory_order_release);
	h->mine = NULL;
}

static tac_device_status hotplug_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	hotplug *h = hotplug_of(device);
	if (!h->mine)
		welcome(h);
	tac_device_status status = TAC_DEVICE_LOST;
	if (h->mine) {
		tac_device_state state;
		status = h->mine->read(h->mine, now_ns, &state);
		if (status == TAC_DEVICE_LOST)
			dismiss(h);
		else
			h->state = state;
	}
	if (status == TAC_DEVICE_LOST) {
		h->state.velocity_m_per_s = tac_dvec3_zero();
		h->state.angular_velocity_rad_per_s = tac_dvec3_zero();
		status = TAC_DEVICE_DISABLED;
	}
	*out_state = h->state;
	return status;
}

static tac_device_status hotplug_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	hotplug *h = hotplug_of(device);
	if (!h->mine)
		return TAC_DEVICE_DISABLED;
	const tac_device_status status = h->mine->write(h->mine, now_ns, wrench);
	return status == TAC_DEVICE_LOST ? TAC_DEVICE_DISABLED : status; // the next read sees to it
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

// ---- the thread that waits ----

static bool stopped(void *user)
{
	const hotplug *h = user;
	return atomic_load_explicit(&h->stop, memory_order_relaxed) ||
	       (h->def.cancelled && h->def.cancelled(h->def.user));
}

// Sleeps in pieces, so that destroying does not wait.
static void wait_for(hotplug *h, int64_t duration_ns)
{
	const int64_t end_ns = tac_clock_now_ns() + duration_ns;
	while (tac_clock_now_ns() < end_ns && !stopped(h))
		tac_clock_sleep_until_ns(tac_clock_now_ns() + LOOK_NS);
}

// Whether the device is there, as far as its driver can tell without opening it.
static bool is_back(const hotplug *h)
{
	tac_driver_report report;
	tac_registry_list(h->driver, &report);
	const bool any = strchr(h->selection, ':') == NULL;
	for (int i = 0; i < report.count; i++) {
		const tac_driver_device *d = &report.devices[i];
		const bool usable = d->state == TAC_DRIVER_READY || d->state == TAC_DRIVER_NO_FIRMWARE;
		if (usable && (any || strcmp(d->select, h->selection) == 0))
			return true;
	}
	return false;
}

static void let_go(hotplug *h, tac_device *lost)
{
	// Who saw it as visible has finished with it once this lock was ours.
	pthread_mutex_lock(&h->lock);
	pthread_mutex_unlock(&h->lock);
	lost->destroy(lost);
	tac_log(TAC_LOG_WARNING, "%s: lost; forces are off; put it back to go on", h->selection);
}

// Whether the device is back and handed over; else it waits a while.
static bool bring_back(hotplug *h)
{
	tac_open_def def = h->def;
	def.cancelled = stopped;
	def.user = h;
	tac_device *device = NULL;
	if (!is_back(h)) {
		wait_for(h, SEARCH_NS);
	} else if (tac_registry_open(h->selection, &def, &device) < 0) {
		wait_for(h, PATIENCE_NS);
	} else {
		tac_log(TAC_LOG_INFO, "%s: back; forces come up slowly", h->selection);
		atomic_store_explicit(&h->arrived, device, memory_order_release);
	}
	return device != NULL;
}

static void *supervise(void *user)
{
	hotplug *h = user;
	bool away = false;
	while (!atomic_load_explicit(&h->stop, memory_order_relaxed)) {
		tac_device *lost = atomic_exchange_explicit(&h->gone, NULL, memory_order_acquire);
		if (lost) {
			let_go(h, lost);
			away = true;
		}
		if (away && !stopped(h))
			away = !bring_back(h);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + LOOK_NS);
	}
	return NULL;
}

// ---- set-up ----

static void hotplug_destroy(tac_device *device)
{
	hotplug *h = hotplug_of(device);
	atomic_store_explicit(&h->stop, true, memory_order_relaxed);
	pthread_join(h->thread, NULL);
	tac_device *all[3] = {h->mine, atomic_load(&h->gone), atomic_load(&h->arrived)};
	for (int i = 0; i < 3; i++)
		tac_device_destroy(&all[i]);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static const tac_driver *driver_of(const char *selection)
{
	const size_t length = strcspn(selection, ":");
	for (int i = 0; tac_registry_driver_at(i); i++) {
		const tac_driver *driver = tac_registry_driver_at(i);
		if (strlen(driver->name) == length && strncmp(driver->name, selection, length) == 0)
			return driver;
	}
	return NULL;
}

tac_result tac_hotplug_open(const char *selection, const tac_open_def *def, tac_device **out_device)
{
	tac_device *device;
	const tac_result opened = tac_registry_open(selection, def, &device);
	const tac_driver *driver = driver_of(selection);
	*out_device = device;
	if (opened < 0 || !driver->returns)
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
	h->def.sim_path = NULL; // the caller's, and for simulations only
	h->def.sim_waypoints = 0;
	h->driver = driver;
	h->mine = device;
	atomic_store(&h->visible, device);
	h->state.T_base_tool = tac_dpose_identity();
	h->base = (tac_device){device->info, hotplug_read, hotplug_write, hotplug_enable, hotplug_destroy};
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
