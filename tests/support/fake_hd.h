// The state of the stand-in for libHD (tests/support/fake_hd.c), which the test reads and writes.
#ifndef TAC_TESTS_SUPPORT_FAKE_HD_H
#define TAC_TESTS_SUPPORT_FAKE_HD_H

#include <stdbool.h>

#define FAKE_HD_DEVICES 2 // "" (the default device) and "Left"

typedef struct fake_hd_device {
	bool open, forces_on;
	double transform[16], velocity[3], angular_velocity[3];
	int buttons;
	double force[3], torque[3]; // last command
	double largest_squared;     // of the forces while they were on
	int frames;
} fake_hd_device;

// The scheduler's thread uses it, too: the test accesses it between fake_hd_lock(true) and
// fake_hd_lock(false).
typedef struct fake_hd_state {
	bool connected;
	int output_dof;
	unsigned init_error;  // of hdInitDevice
	unsigned start_error; // of hdStartScheduler
	unsigned frame_error; // of every frame
	unsigned calibration; // result of hdCheckCalibration
	int calibration_style;

	// What the driver has done.
	bool running; // the scheduler
	int schedules, calibrated;
	int misuse; // calls that the library's manual forbids
	fake_hd_device devices[FAKE_HD_DEVICES];
} fake_hd_state;

// Both are found by dlsym.
extern fake_hd_state fake_hd;
void fake_hd_lock(bool on);

#endif
