// A stand-in for Force Dimension's libdhd: a shared library with the documented functions that the driver
// uses, and up to two devices behind them. The test controls it through fake_dhd.
#include "tests/support/fake_dhd.h"

#include "tests/support/fake_library.h"
#include "tests/support/mirror.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" // the vendor's header declares them, and it is not here

fake_dhd_state fake_dhd;

FAKE_LOCK(fake_dhd_lock)

// A device with a gripper, if no test in this process can set it up.
__attribute__((constructor(200))) static void set_up(void)
{
	if (!mirror_wanted())
		return;
	fake_dhd.devices = 1;
	fake_dhd.type = 33;
	fake_dhd.gripper = fake_dhd.active_gripper = true;
	for (int i = 0; i < 3; i++)
		fake_dhd.frame[i][i] = 1;
}

static int fail(int error)
{
	fake_dhd.error = error;
	return -1;
}

static bool broken(const char *function)
{
	fake_dhd.calls++;
	return fake_dhd.unplugged || (fake_dhd.failing[0] && strcmp(fake_dhd.failing, function) == 0);
}

#define CHECK()                                                                                              \
	do {                                                                                                 \
		if (broken(__func__))                                                                        \
			return fail(fake_dhd.error_code);                                                    \
	} while (0)

int dhdGetDeviceCount(void)
{
	FAKE_GUARD(fake_dhd_lock);
	CHECK();
	return fake_dhd.devices;
}

int dhdOpenID(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	CHECK();
	if (!mirror_claim())
		return fail(20);
	fake_dhd.open++;
	return id;
}

int dhdClose(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	fake_dhd.open--;
	mirror_release();
	return 0;
}

int dhdStop(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	fake_dhd.forces_on = false;
	fake_dhd.stopped = true;
	mirror_force(false, fake_dhd.commanded);
	return 0;
}

int dhdErrorGetLast(void)
{
	FAKE_GUARD(fake_dhd_lock);
	return fake_dhd.error;
}

const char *dhdErrorGetLastStr(void)
{
	FAKE_GUARD(fake_dhd_lock);
	return fake_dhd.error == 20  ? "device in use"
	       : fake_dhd.error == 4 ? "no driver found"
				     : "some error";
}

int dhdGetSystemType(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	return id == 0 ? fake_dhd.type : 0;
}

const char *dhdGetSystemName(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	return id == 0 ? "omega.7" : "something new";
}

int dhdGetSerialNumber(unsigned short *serial, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	CHECK();
	*serial = (unsigned short)(1234 + id);
	return 0;
}

bool dhdHasWrist(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	return id == 0;
}

bool dhdHasActiveWrist(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	return id == 0 && fake_dhd.active_wrist;
}

bool dhdHasGripper(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	return id == 0 && fake_dhd.gripper;
}

bool dhdHasActiveGripper(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	return id == 0 && fake_dhd.active_gripper;
}

int dhdGetGripperGap(double *metre, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	CHECK();
	*metre = fake_dhd.gap;
	return 0;
}

int dhdGetGripperLinearVelocity(double *metre_per_s, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	CHECK();
	*metre_per_s = fake_dhd.gap_velocity;
	return 0;
}

int dhdSetMaxGripperForce(double newton, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	fake_dhd.max_gripper = newton;
	return 0;
}

int dhdEnableForce(unsigned char on, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	CHECK();
	fake_dhd.forces_on = on != 0;
	mirror_force(fake_dhd.forces_on, fake_dhd.commanded);
	return 0;
}

int dhdGetPositionAndOrientationFrame(double *x, double *y, double *z, double matrix[3][3], char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	CHECK();
	*x = fake_dhd.position[0];
	*y = fake_dhd.position[1];
	*z = fake_dhd.position[2];
	memcpy(matrix, fake_dhd.frame, sizeof fake_dhd.frame);
	return fake_dhd.time_guard;
}

int dhdGetLinearVelocity(double *x, double *y, double *z, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	CHECK();
	*x = fake_dhd.velocity[0];
	*y = fake_dhd.velocity[1];
	*z = fake_dhd.velocity[2];
	return 0;
}

int dhdGetAngularVelocityRad(double *x, double *y, double *z, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	CHECK();
	*x = fake_dhd.angular_velocity[0];
	*y = fake_dhd.angular_velocity[1];
	*z = fake_dhd.angular_velocity[2];
	return 0;
}

unsigned dhdGetButtonMask(char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	return fake_dhd.buttons;
}

int dhdSetForceAndTorqueAndGripperForce(double fx, double fy, double fz, double tx, double ty, double tz,
					double grip, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	CHECK();
	const double commanded[7] = {fx, fy, fz, tx, ty, tz, grip};
	memcpy(fake_dhd.commanded, commanded, sizeof commanded);
	const double with_grip[3] = {fx, fy, fz == 0 ? grip : fz};
	mirror_force(fake_dhd.forces_on, with_grip);
	const double squared = fx * fx + fy * fy + fz * fz;
	if (fake_dhd.forces_on && squared > fake_dhd.largest_squared)
		fake_dhd.largest_squared = squared;
	return 0;
}

int dhdSetGravityCompensation(int on, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	fake_dhd.gravity = on;
	return 0;
}

int dhdSetMaxForce(double newton, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	fake_dhd.max_force = newton;
	return 0;
}

int dhdEnableExpertMode(void)
{
	FAKE_GUARD(fake_dhd_lock);
	fake_dhd.expert = true;
	return 0;
}

int dhdSetWatchdog(unsigned char eighths_ms, char id)
{
	FAKE_GUARD(fake_dhd_lock);
	(void)id;
	CHECK();
	if (!fake_dhd.expert)
		return fail(9);
	fake_dhd.watchdog = eighths_ms;
	return 0;
}
