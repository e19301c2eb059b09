// What a test can tell the stand-in for libHD (tests/fake_hd.c), and what it can ask.
#ifndef TAC_TESTS_FAKE_HD_H
#define TAC_TESTS_FAKE_HD_H

#include <stdbool.h>

#define FAKE_HD_DEVICES 2 // "" (the default device) and "Left"

typedef struct fake_hd_device {
	bool open, forces_on;
	double transform[16], velocity[3], turning[3];
	int buttons;
	double force[3], torque[3]; // as set last
	double largest_squared;     // of the forces while they were on
	int frames;
} fake_hd_device;

// The scheduler's thread uses it: between fake_hd_lock(true) and fake_hd_lock(false) it is the test's.
typedef struct fake_hd_state {
	bool connected;
	int output_dof;
	unsigned init_error;  // what hdInitDevice leaves behind
	unsigned start_error; // what hdStartScheduler leaves behind
	unsigned frame_error; // what every frame leaves behind
	unsigned calibration; // what hdCheckCalibration answers
	int calibration_style;

	bool running; // the scheduler
	int schedules, calibrated, misuse;
	fake_hd_device devices[FAKE_HD_DEVICES];
} fake_hd_state;

// Both found by dlsym.
extern fake_hd_state fake_hd;
void fake_hd_lock(bool on);

#endif
