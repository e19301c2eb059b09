// A stand-in for 3D Systems' libHD: a shared library with the documented functions that the driver uses, a
// scheduler thread at 1 kHz, and two devices. The test controls it through fake_hd.
#include "tests/support/fake_hd.h"

#include "tests/support/fake_library.h"
#include "tests/support/mirror.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" // the vendor's header declares them, and it is not here

fake_hd_state fake_hd;

#define SCHEDULES_MAX 4
#define INVALID       0xFFFFFFFFu

typedef unsigned (*callback)(void *user);

typedef struct error_info {
	unsigned code;
	int internal;
	unsigned device;
} error_info;

static pthread_t thread;
static struct {
	callback fn;
	void *user;
} schedule[SCHEDULES_MAX];
static unsigned pending; // the error that hdGetError returns next
static unsigned current = INVALID;
static bool in_frame;

FAKE_LOCK(fake_hd_lock)

// A Touch, if no test in this process can set it up.
__attribute__((constructor(200))) static void set_up(void)
{
	if (!mirror_wanted())
		return;
	fake_hd.connected = true;
	fake_hd.output_dof = 3;
	for (int i = 0; i < 4; i++)
		fake_hd.devices[0].transform[5 * i] = 1;
}

static fake_hd_device *device(void)
{
	static fake_hd_device nothing;
	if (current < FAKE_HD_DEVICES && fake_hd.devices[current].open)
		return &fake_hd.devices[current];
	fake_hd.misuse++;
	return &nothing;
}

unsigned hdInitDevice(const char *name)
{
	FAKE_GUARD(fake_hd_lock);
	fake_hd.misuse += fake_hd.running;
	const unsigned handle = !name ? 0 : strcmp(name, "Left") == 0 ? 1 : INVALID;
	pending = fake_hd.init_error;
	if (pending == 0 && (!fake_hd.connected || handle == INVALID))
		pending = 0x0300;
	if (pending == 0 && fake_hd.devices[handle].open)
		pending = 0x0301;
	if (pending == 0 && !mirror_claim())
		pending = 0x0301;
	if (pending != 0)
		return INVALID;
	fake_hd.devices[handle].open = true;
	current = handle;
	return handle;
}

void hdDisableDevice(unsigned handle)
{
	FAKE_GUARD(fake_hd_lock);
	fake_hd.misuse += handle >= FAKE_HD_DEVICES || !fake_hd.devices[handle].open || fake_hd.running;
	fake_hd.devices[handle].open = false;
	mirror_release();
}

void hdMakeCurrentDevice(unsigned handle)
{
	FAKE_GUARD(fake_hd_lock);
	current = handle;
}

void hdBeginFrame(unsigned handle)
{
	FAKE_GUARD(fake_hd_lock);
	fake_hd.misuse += in_frame || handle != current;
	in_frame = true;
}

void hdEndFrame(unsigned handle)
{
	FAKE_GUARD(fake_hd_lock);
	fake_hd.misuse += !in_frame || handle != current;
	in_frame = false;
	fake_hd_device *d = device();
	d->frames++;
	mirror_force(d->forces_on, d->force);
	const double squared =
		d->force[0] * d->force[0] + d->force[1] * d->force[1] + d->force[2] * d->force[2];
	if (d->forces_on && squared > d->largest_squared)
		d->largest_squared = squared;
	if (fake_hd.frame_error)
		pending = fake_hd.frame_error;
	if ((fake_hd.frame_error & 0xFF00) == 0x0200)
		d->forces_on = false;
}

error_info hdGetError(void)
{
	FAKE_GUARD(fake_hd_lock);
	const error_info error = {pending, 0, current};
	pending = 0;
	return error;
}

void hdEnable(unsigned capability)
{
	FAKE_GUARD(fake_hd_lock);
	if (capability == 0x4000)
		device()->forces_on = true;
}

void hdDisable(unsigned capability)
{
	FAKE_GUARD(fake_hd_lock);
	if (capability != 0x4000)
		return;
	device()->forces_on = false;
	mirror_force(false, device()->force);
}

void hdGetDoublev(unsigned parameter, double *values)
{
	FAKE_GUARD(fake_hd_lock);
	static const double workspace[6] = {-160, -120, -70, 160, 120, 90};
	const fake_hd_device *d = device();
	switch (parameter) {
	case 0x2052:
		memcpy(values, d->transform, sizeof d->transform);
		break;
	case 0x2051:
		memcpy(values, d->velocity, sizeof d->velocity);
		break;
	case 0x2053:
		memcpy(values, d->angular_velocity, sizeof d->angular_velocity);
		break;
	case 0x2551:
		memcpy(values, workspace, sizeof workspace);
		break;
	case 0x2602:
		*values = 0.5;
		break;
	case 0x2603:
		*values = 3.3;
		break;
	case 0x2609:
		*values = 0.003;
		break;
	default:
		pending = 0x0100;
	}
}

void hdGetIntegerv(unsigned parameter, int *values)
{
	FAKE_GUARD(fake_hd_lock);
	switch (parameter) {
	case 0x2000:
		*values = device()->buttons;
		break;
	case 0x2553:
		*values = 6;
		break;
	case 0x2554:
		*values = fake_hd.output_dof;
		break;
	case 0x2555:
		*values = fake_hd.calibration_style;
		break;
	default:
		pending = 0x0100;
	}
}

void hdSetDoublev(unsigned parameter, const double *values)
{
	FAKE_GUARD(fake_hd_lock);
	fake_hd.misuse += !in_frame;
	if (parameter == 0x2700)
		memcpy(device()->force, values, sizeof device()->force);
	else if (parameter == 0x2701)
		memcpy(device()->torque, values, sizeof device()->torque);
	else
		pending = 0x0100;
}

const char *hdGetString(unsigned parameter)
{
	return parameter == 0x2501 ? "Touch" : parameter == 0x2504 ? "TS-0042" : NULL;
}

static void *scheduler(void *unused)
{
	for (;;) {
		fake_hd_lock(true);
		const bool running = fake_hd.running;
		fake_hd_lock(false);
		if (!running)
			return unused;
		for (int i = 0; i < SCHEDULES_MAX; i++) {
			if (schedule[i].fn)
				schedule[i].fn(schedule[i].user);
		}
		usleep(1000);
	}
}

void hdStartScheduler(void)
{
	FAKE_GUARD(fake_hd_lock);
	fake_hd.misuse += fake_hd.running;
	pending = fake_hd.start_error;
	if (pending != 0)
		return;
	fake_hd.running = true;
	pthread_create(&thread, NULL, scheduler, NULL);
}

void hdStopScheduler(void)
{
	fake_hd_lock(true);
	const bool running = fake_hd.running;
	fake_hd.running = false;
	fake_hd_lock(false);
	if (running)
		pthread_join(thread, NULL);
}

unsigned long hdScheduleAsynchronous(callback fn, void *user, unsigned short priority)
{
	FAKE_GUARD(fake_hd_lock);
	(void)priority;
	fake_hd.misuse += fake_hd.running;
	for (unsigned i = 0; i < SCHEDULES_MAX; i++) {
		if (!schedule[i].fn) {
			schedule[i].fn = fn;
			schedule[i].user = user;
			fake_hd.schedules++;
			return i;
		}
	}
	pending = 0x0501;
	return INVALID;
}

void hdUnschedule(unsigned long handle)
{
	FAKE_GUARD(fake_hd_lock);
	fake_hd.misuse += fake_hd.running || handle >= SCHEDULES_MAX;
	schedule[handle].fn = NULL;
	fake_hd.schedules--;
}

unsigned hdCheckCalibration(void)
{
	FAKE_GUARD(fake_hd_lock);
	return fake_hd.calibration;
}

void hdUpdateCalibration(unsigned style)
{
	FAKE_GUARD(fake_hd_lock);
	fake_hd.calibrated = (int)style;
}
