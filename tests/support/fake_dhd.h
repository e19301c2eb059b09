// What a test can tell the stand-in for libdhd (tests/fake_dhd.c), and what it can ask.
#ifndef TAC_TESTS_FAKE_DHD_H
#define TAC_TESTS_FAKE_DHD_H

#include <stdbool.h>

// The driver's thread uses it: between fake_dhd_lock(true) and fake_dhd_lock(false) it is the test's.
typedef struct fake_dhd_state {
	int devices, type;
	bool active_wrist;
	bool unplugged;
	char failing[64];  // the function that fails
	int error_to_give; // what dhdErrorGetLast says then
	int time_guard;
	double position[3], frame[3][3], velocity[3], turning[3];
	unsigned buttons;

	int error, open, calls, gravity, watchdog;
	bool expert, stopped;
	bool forces_on;
	double max_force, largest_squared;
	double told[7];
} fake_dhd_state;

// Both found by dlsym.
extern fake_dhd_state fake_dhd;
void fake_dhd_lock(bool on);

#endif
