// The state of the stand-in for CHAI3D (chai3d.h beside it), which the test reads and writes. The plugin
// built against the stand-in exports both by these names.
#ifndef TAC_TESTS_SUPPORT_FAKE_CHAI3D_FAKE_CHAI3D_H
#define TAC_TESTS_SUPPORT_FAKE_CHAI3D_FAKE_CHAI3D_H

#include <stdbool.h>

// What the stand-in throws.
typedef enum fake_chai3d_throw {
	FAKE_CHAI3D_QUIET,
	FAKE_CHAI3D_RUNTIME_ERROR,
	FAKE_CHAI3D_BAD_ALLOC,
	FAKE_CHAI3D_INT,
} fake_chai3d_throw;

// The driver's thread uses it, too: the test accesses it between fake_chai3d_lock(true) and
// fake_chai3d_lock(false).
typedef struct fake_chai3d_state {
	int devices;
	bool null_device;           // getDevice returns true without a device
	fake_chai3d_throw throwing; // in every method
	char failing[64];           // the method that returns false
	bool unplugged;             // all methods return false
	double position[3], rotation[9], velocity[3], angular_velocity[3], gripper, gripper_velocity;
	unsigned switches;

	// What the plugin has done.
	int scans, open, calibrations, objects;
	bool forces_on;
	double commanded[7];
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
