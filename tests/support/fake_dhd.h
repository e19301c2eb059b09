// The state of the stand-in for libdhd (tests/support/fake_dhd.c), which the test reads and writes.
#ifndef TAC_TESTS_SUPPORT_FAKE_DHD_H
#define TAC_TESTS_SUPPORT_FAKE_DHD_H

#include <stdbool.h>

// The driver's thread uses it, too: the test accesses it between fake_dhd_lock(true) and
// fake_dhd_lock(false).
typedef struct fake_dhd_state {
	int devices, type;
	bool active_wrist, gripper, active_gripper;
	bool unplugged;
	char failing[64]; // the function that fails
	int error_code;   // of dhdErrorGetLast after a failure
	int time_guard;
	double position[3], frame[3][3], velocity[3], angular_velocity[3];
	double gap, gap_velocity; // of the gripper
	unsigned buttons;

	// What the driver has done.
	int error, open, calls, gravity, watchdog;
	bool expert, stopped;
	bool forces_on;
	double max_force, max_gripper, largest_squared;
	double commanded[7];
} fake_dhd_state;

// Both are found by dlsym.
extern fake_dhd_state fake_dhd;
void fake_dhd_lock(bool on);

#endif
