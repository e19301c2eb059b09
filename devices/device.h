// Device: the interface of every haptic device, real, simulated or played back. A driver embeds tac_device as
// its first member, fills the table of functions in its create function and returns the pointer to it (after
// Monado's xrt_device).
//
// Threads: create, enable(true) and destroy belong to set-up. read and write belong to the one real-time
// thread that owns the device. enable(false) may come from any thread at any time: a watchdog or an emergency
// stop calls it.
//
// Base frame, of every driver: x to the right, y up, z towards the user; the origin is the centre of the
// workspace, as far as the driver can determine it.
//
// Failure is data: read and write never block longer than the device's own timeout, never print and never
// abort. They return a status, and out_state is always filled, with the last known sample if there is no new
// one. Forces are off until enable(true). A driver switches forces off when it loses the device, and a device
// that is not written to for info.hold_ns drops its force if the hardware can.
#ifndef TAC_DEVICES_DEVICE_H
#define TAC_DEVICES_DEVICE_H

#include "base/algebra.h"
#include "base/api.h"
#include "base/assert.h"
#include "base/wrench.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The result of a read or a write.
typedef enum tac_device_status {
	TAC_DEVICE_OK,       // read: a new sample; write: the wrench was taken
	TAC_DEVICE_STALE,    // no new sample since the last read; the device may answer again
	TAC_DEVICE_DISABLED, // write: forces are off, nothing was sent; read: not ready, may come back
	TAC_DEVICE_ENDED,    // a recording has ended
	TAC_DEVICE_LOST,     // gone; it never comes back on this handle
	TAC_DEVICE_STATUS_COUNT,
} tac_device_status;

// The maxima of a device without motors, for which forces are computed only to be displayed.
#define TAC_DEVICE_SHOWN_FORCE_N   10
#define TAC_DEVICE_SHOWN_TORQUE_NM 0.5

// Mechanics of the moving part, at the tool: linear (kg, m, N) or angular (kg m^2, rad, N m). 0: unknown, or
// none.
typedef struct tac_device_mechanics {
	double mass;       // kg
	double damping;    // N s/m
	double coulomb;    // N, dry friction
	double resolution; // m, of the position sensor
} tac_device_mechanics;

// 2.2 N in a millisecond for a device of 8.9 N. A wall of 1000 N/m met at 2 m/s, the fastest that the gate
// lets a hand be, needs 2 N; anything faster is a fault.
#define TAC_DEVICE_FULL_FORCE_S 4e-3

typedef struct tac_device_info {
	char name[32];   // as in --device: "sim:falcon"
	char serial[32]; // empty: it has none
	int position_axes;
	int rotation_axes; // sensed; 0: the rotation is always the identity
	int force_axes;
	int torque_axes;
	uint32_t buttons; // number of buttons
	double max_force_N;
	double max_torque_Nm;
	// The shortest time from no force to the maximum that makes sense for the device: what its
	// amplifiers, motors and linkage can follow, and what its walls need. 0: unknown; then
	// TAC_DEVICE_FULL_FORCE_S
	double full_force_s;
	double weight_N;              // of the tool, if the user carries it; 0: none
	double max_stiffness_N_per_m; // recommended by the vendor or by other runtimes; 0: unknown
	double max_damping_N_s_per_m;
	double gripper_max_m;      // widest opening of the gripper; 0: it has none
	double max_gripper_N;      // 0: the gripper has no motor
	tac_dvec3 workspace_min_m; // box in the base frame
	tac_dvec3 workspace_max_m;
	tac_device_mechanics linear;
	tac_device_mechanics angular;
	tac_device_mechanics gripper; // of its fingers, along the opening
	int64_t period_ns; // of its own cycle; reading more often gives TAC_DEVICE_STALE or the same sample
	int64_t delay_ns;  // from write to force; 0: unknown
	int64_t hold_ns;   // how long it holds a force without a new write; 0: forever
} tac_device_info;

typedef struct tac_device_state {
	int64_t time_ns; // of the sample, on the clock of `now_ns`
	tac_dpose T_base_tool;
	tac_dvec3 velocity_m_per_s; // of the tool's origin, in the base frame, as filtered by the driver
	tac_dvec3 angular_velocity_rad_per_s;
	uint32_t buttons;       // bit i: button i is held
	double gripper_m;       // opening between the fingers; 0: closed, or there is no gripper
	double gripper_m_per_s; // positive: it opens
} tac_device_state;

// What else a tick was told, besides its sample.
typedef enum tac_sample_flag {
	TAC_SAMPLE_INVALID = 1, // the read gave no finite sample; `state` is the last valid one
	TAC_SAMPLE_STOPPED = 2, // an emergency stop held the force at zero
	TAC_SAMPLE_OVERRUN = 4, // the application's own effect took longer than its budget
} tac_sample_flag;

// One tick of a loop: all that it took from device and clock, and what it sent. haptic/render.h computes the
// same forces from it again, to the bit.
typedef struct tac_device_sample {
	tac_device_state state;
	tac_wrench wrench;        // sent
	double gripper_N;         // sent
	tac_device_status status; // of the read
	int64_t now_ns;           // of the tick
	int64_t delay_ns; // from read to write, as measured in the tick before; this one reckoned with it
	uint32_t flags;   // of tac_sample_flag
} tac_device_sample;

typedef struct tac_device tac_device;

struct tac_device {
	tac_device_info info; // fixed after create
	tac_device_status (*read)(tac_device *device, int64_t now_ns, tac_device_state *out_state);
	tac_device_status (*write)(tac_device *device, int64_t now_ns, const tac_wrench *wrench);
	void (*enable)(tac_device *device, bool on);
	void (*destroy)(tac_device *device);
	void (*set_gripper)(tac_device *device, double force_N); // NULL: the gripper has no motor
};

// Samples pose, velocity, gripper and buttons at `now_ns` (tac_clock_now_ns, or virtual time that never runs
// backwards).
// Thread: RT, the owner.
static inline tac_device_status tac_device_read(tac_device *device, int64_t now_ns,
						tac_device_state *out_state)
{
	return device->read(device, now_ns, out_state);
}

// Sends the wrench on the tool, in the base frame and about the tool's origin. On a device that a person
// holds, only the gate (haptic/limit.h) decides what is written. All components are finite (asserted) and
// within info.max_force_N and max_torque_Nm; a driver saturates larger ones and never wraps. Thread: RT, the
// owner.
static inline tac_device_status tac_device_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	TAC_ASSERT(tac_dvec3_finite(wrench->force_N) && tac_dvec3_finite(wrench->torque_Nm));
	return device->write(device, now_ns, wrench);
}

// The force on the fingers of the gripper, positive opens, that goes out with the next tac_device_write. It
// is finite (asserted) and within info.max_gripper_N; a driver saturates a larger one. A device without such
// a motor ignores it. Thread: RT, the owner.
static inline void tac_device_set_gripper(tac_device *device, double force_N)
{
	TAC_ASSERT(tac_dvec3_finite(tac_dvec3_make(force_N, 0, 0)));
	if (device->set_gripper)
		device->set_gripper(device, force_N);
}

// Switches all forces on, or off at once.
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

// Shortens force and torque to these maxima (0: to zero) and keeps their directions; true if one was longer.
// Every driver applies it to what is written. Thread: RT.
TAC_API bool tac_wrench_saturate(tac_wrench *wrench, double max_force_N, double max_torque_Nm);

// `force_N` cut to a gripper's maximum. Every driver applies it. Thread: RT.
static inline double tac_gripper_saturate(double force_N, double max_gripper_N)
{
	return force_N > max_gripper_N ? max_gripper_N : force_N < -max_gripper_N ? -max_gripper_N : force_N;
}

// "ok", "stale", …. Never NULL. Thread: any.
TAC_API const char *tac_device_status_name(tac_device_status status);

#ifdef __cplusplus
}
#endif

#endif
