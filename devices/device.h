// Device: what every haptic device is to Tactus, real, simulated or played back. A driver embeds tac_device
// as its first member, fills the table of functions in its create function and hands out the pointer to it
// (the way of Monado's xrt_device).
//
// Threads: create, enable(true) and destroy belong to set-up. read and write belong to the one real-time
// thread that owns the device. enable(false) may come from any thread at any time: it is what a watchdog or
// an emergency stop calls.
//
// Base frame, of every driver: x to the right, y up, z towards the user; the origin in the middle of the
// workspace as far as the device knows it.
//
// Failure is data: read and write never block longer than the device's own time-out, never print and never
// abort. They answer with a status, and out_state is filled whatever the status, with the last sample known.
// Forces are off until enable(true). A driver puts forces off by itself when it loses the device, and a
// device that is not written to for info.hold_ns lets go by itself where the hardware can.
#ifndef TAC_DEVICES_DEVICE_H
#define TAC_DEVICES_DEVICE_H

#include "base/algebra.h"
#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a read or a write went.
typedef enum tac_device_status {
	TAC_DEVICE_OK,       // a new sample; the wrench was taken
	TAC_DEVICE_STALE,    // nothing new since the last read; the device may answer again
	TAC_DEVICE_DISABLED, // write: forces are off, nothing was sent; read: away or not ready, may come
			     // back
	TAC_DEVICE_ENDED,    // a recording is over
	TAC_DEVICE_LOST,     // gone; it never comes back on this handle
	TAC_DEVICE_STATUS_COUNT,
} tac_device_status;

// The maxima of a device that exerts nothing, so that what a person would feel is computed and shown.
#define TAC_DEVICE_SHOWN_FORCE_N   10
#define TAC_DEVICE_SHOWN_TORQUE_NM 0.5

// Mechanics of the moving part, seen at the tool: linear (kg, m, N) or angular (kg m^2, rad, N m). 0: not
// known, or none.
typedef struct tac_device_mechanics {
	double mass;       // kg
	double damping;    // N s/m
	double coulomb;    // N, dry friction
	double resolution; // m, of the position sensor
} tac_device_mechanics;

typedef struct tac_device_info {
	char name[32];   // as in --device: "sim:falcon"
	char serial[32]; // empty: it has none
	int position_axes;
	int rotation_axes; // sensed; 0: the rotation is always the identity
	int force_axes;
	int torque_axes;
	uint32_t buttons; // how many
	double max_force_N;
	double max_torque_Nm;
	double weight_N;              // of the tool, that the user would have to carry; 0: none
	double max_stiffness_N_per_m; // recommended by the maker or by other runtimes; 0: not known
	double max_damping_N_s_per_m;
	tac_dvec3 workspace_min_m; // box in the base frame
	tac_dvec3 workspace_max_m;
	tac_device_mechanics linear;
	tac_device_mechanics angular;
	int64_t period_ns; // its own cycle; reading more often gives TAC_DEVICE_STALE or the same sample
	int64_t delay_ns;  // from write to force, as far as known
	int64_t hold_ns;   // how long it holds a force without a new write; 0: for ever
} tac_device_info;

typedef struct tac_device_state {
	int64_t time_ns; // when it was sampled, on the clock of `now_ns`
	tac_dpose T_base_tool;
	tac_dvec3 velocity_m_per_s; // of the tool's origin, in the base frame, as filtered by the driver
	tac_dvec3 angular_velocity_rad_per_s;
	uint32_t buttons; // bit i: button i is held
} tac_device_state;

// Force and torque on the tool, in the base frame; the torque is about the tool's origin.
typedef struct tac_wrench {
	tac_dvec3 force_N;
	tac_dvec3 torque_Nm;
} tac_wrench;

typedef struct tac_device tac_device;

struct tac_device {
	tac_device_info info; // fixed after create
	tac_device_status (*read)(tac_device *device, int64_t now_ns, tac_device_state *out_state);
	tac_device_status (*write)(tac_device *device, int64_t now_ns, const tac_wrench *wrench);
	void (*enable)(tac_device *device, bool on);
	void (*destroy)(tac_device *device);
};

// Samples pose, velocity and buttons at `now_ns` (tac_clock_now_ns, or virtual time that never runs
// backwards).
// Thread: RT, the owner.
static inline tac_device_status tac_device_read(tac_device *device, int64_t now_ns,
						tac_device_state *out_state)
{
	return device->read(device, now_ns, out_state);
}

// Sends force and torque. Only haptic/limit may decide what is written to a device in somebody's hand: all
// components are finite (asserted) and within info.max_force_N and max_torque_Nm; a driver saturates what is
// not, it never wraps.
// Thread: RT, the owner.
static inline tac_device_status tac_device_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	TAC_ASSERT(tac_dvec3_finite(wrench->force_N) && tac_dvec3_finite(wrench->torque_Nm));
	return device->write(device, now_ns, wrench);
}

// Switches all forces on (set-up) or, at once, off.
// Thread: setup to switch on, any to switch off.
static inline void tac_device_enable(tac_device *device, bool on)
{
	device->enable(device, on);
}

// Switches forces off, frees the device and nulls the pointer; NULL in it is allowed.
// Thread: setup, when nobody reads or writes.
static inline void tac_device_destroy(tac_device **device)
{
	if (!*device)
		return;
	(*device)->enable(*device, false);
	(*device)->destroy(*device);
	*device = NULL;
}

static inline tac_wrench tac_wrench_zero(void)
{
	tac_wrench wrench = {tac_dvec3_zero(), tac_dvec3_zero()};
	return wrench;
}

// Shortens force and torque to these maxima, direction kept (0: none); true if anything was longer. What
// every driver does to what it is given. Thread: RT.
bool tac_wrench_saturate(tac_wrench *wrench, double max_force_N, double max_torque_Nm);

// "ok", "stale", …. Never NULL. Thread: any.
const char *tac_device_status_name(tac_device_status status);

#ifdef __cplusplus
}
#endif

#endif
