// What a test can tell the stand-in for CHAI3D (chai3d.h beside it), and what it can ask. The plugin built
// against the stand-in exports both by these names.
#ifndef TAC_TESTS_FAKE_CHAI3D_H
#define TAC_TESTS_FAKE_CHAI3D_H

#include <stdbool.h>

// Where the stand-in throws, and what.
typedef enum fake_chai3d_throw {
	FAKE_CHAI3D_QUIET,
	FAKE_CHAI3D_RUNTIME_ERROR,
	FAKE_CHAI3D_BAD_ALLOC,
	FAKE_CHAI3D_INT,
} fake_chai3d_throw;

// The driver's thread uses it: between fake_chai3d_lock(true) and fake_chai3d_lock(false) it is the test's.
typedef struct fake_chai3d_state {
	int devices;
	bool null_device;           // getDevice hands out nothing, and says that all is well
	fake_chai3d_throw throwing; // in every function of the classes
	char failing[64];           // the method that answers false
	bool unplugged;             // all of them do
	double position[3], rotation[9], velocity[3], turning[3], gripper, gripper_velocity;
	unsigned switches;

	int scans, open, calibrations, objects;
	bool forces_on;
	double told[7];
	double largest_squared; // of the forces while they were on
	int effects[5];
	double stiffness, friction;
} fake_chai3d_state;

#ifdef __cplusplus
extern "C" {
#endif

extern fake_chai3d_state fake_chai3d;
void fake_chai3d_lock(bool on);

#ifdef __cplusplus
}
#endif

#endif
