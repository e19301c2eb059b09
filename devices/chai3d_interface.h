// CHAI3D from C: the haptic device handler of CHAI3D 3.3 wholly, and as much of its haptic world as it takes
// to run its finger proxy beside our own renderer. CHAI3D is C++; what is declared here is plain C,
// implemented by a plugin (devices/chai3d_plugin.cpp) that is built where CHAI3D is found and loaded at run
// time, so that Tactus itself links no C++. docs/chai3d.md says how to build it.
//
// Everything is called through the table that tac_chai3d_load gives:
//	const tac_chai3d_api *chai3d;
//	if (tac_chai3d_load(&chai3d, reason, sizeof reason) == TAC_OK)
//		chai3d->handler_create(&handler);
//
// Answers: TAC_OK; TAC_ERROR_ARGUMENT (a NULL, an index out of range, numbers that are not finite);
// TAC_ERROR_IO (CHAI3D said no, or the device is none); TAC_ERROR_MEMORY; TAC_ERROR_SYSTEM (an exception). No
// exception leaves the plugin. message() then says what happened, for the calling thread.
//
// Units are SI. Device quantities are in CHAI3D's device frame: x towards the user, y to the right, z up.
// World quantities are in whatever frame the caller gives vertices in; rotations are 3x3, by rows. `out_`
// arrays are filled only where the answer is TAC_OK.
//
// Threads: as CHAI3D's: none of it may be called from two threads at once, except on different devices.
// Nothing here is for the real-time thread: CHAI3D allocates.
#ifndef TAC_DEVICES_TAC_CHAI3D_H
#define TAC_DEVICES_TAC_CHAI3D_H

#include "base/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_CHAI3D_API_VERSION 1

typedef struct tac_chai3d_handler tac_chai3d_handler; // cHapticDeviceHandler
typedef struct tac_chai3d_device tac_chai3d_device;   // cGenericHapticDevice
typedef struct tac_chai3d_world tac_chai3d_world;     // cWorld, owner of its objects and tools
typedef struct tac_chai3d_object tac_chai3d_object;   // cMesh or cMultiMesh
typedef struct tac_chai3d_tool tac_chai3d_tool;       // cToolCursor

// cHapticDeviceInfo. Texts are cut.
typedef struct tac_chai3d_info {
	char model[64], manufacturer[64];
	double max_force_N, max_torque_Nm, max_gripper_force_N;
	double max_stiffness_N_per_m, max_angular_stiffness_Nm_per_rad, max_gripper_stiffness_N_per_m;
	double max_damping_N_s_per_m, max_angular_damping_Nm_s_per_rad, max_gripper_damping_N_s_per_rad;
	double workspace_radius_m, gripper_max_angle_rad;
	bool sensed_position, sensed_rotation, sensed_gripper;
	bool actuated_position, actuated_rotation, actuated_gripper;
	bool left_hand, right_hand;
} tac_chai3d_info;

// cMaterial, the haptic part. What is 0 has no effect.
typedef struct tac_chai3d_material {
	double stiffness_N_per_m;
	double damping_N_s_per_m;
	double static_friction, dynamic_friction;
	double viscosity_N_s_per_m;
	double magnet_force_N, magnet_distance_m;
	double stick_slip_force_N, stick_slip_stiffness_N_per_m;
	double vibration_Hz, vibration_N;
	double texture_level;
	bool shading; // normals interpolated over the surface
} tac_chai3d_material;

typedef enum tac_chai3d_effect {
	TAC_CHAI3D_SURFACE,
	TAC_CHAI3D_MAGNET,
	TAC_CHAI3D_STICK_SLIP,
	TAC_CHAI3D_VIBRATION,
	TAC_CHAI3D_VISCOSITY,
	TAC_CHAI3D_EFFECT_COUNT,
} tac_chai3d_effect;

// What the tool did in a step.
typedef struct tac_chai3d_contact {
	double proxy_m[3];
	double force_N[3]; // on the tool
	int contacts;      // collision events of the proxy
} tac_chai3d_contact;

typedef struct tac_chai3d_api {
	int version; // TAC_CHAI3D_API_VERSION

	// What went wrong last on this thread; "" before anything did. Valid until the next call.
	const char *(*message)(void);

	// ---- devices ----

	// Scans for devices. The caller destroys it, after all devices of it.
	tac_result (*handler_create)(tac_chai3d_handler **out_handler);
	void (*handler_destroy)(tac_chai3d_handler **handler); // nulls the pointer; NULL in it is allowed
	tac_result (*handler_rescan)(tac_chai3d_handler *handler);
	int (*handler_count)(tac_chai3d_handler *handler);
	tac_result (*handler_info)(tac_chai3d_handler *handler, int index, tac_chai3d_info *out_info);

	// Opens device `index`. CHAI3D hands out a dummy for an index out of range: here that is an error.
	// Forces are as the device starts; device_enable(false) is called first.
	tac_result (*device_open)(tac_chai3d_handler *handler, int index, tac_chai3d_device **out_device);
	void (*device_close)(tac_chai3d_device **device); // forces off first; nulls the pointer
	// `force`: also where it says that it is calibrated. The device may move by itself.
	tac_result (*device_calibrate)(tac_chai3d_device *device, bool force);
	tac_result (*device_info)(tac_chai3d_device *device, tac_chai3d_info *out_info);
	tac_result (*device_position)(tac_chai3d_device *device, double out_m[3]);
	tac_result (*device_rotation)(tac_chai3d_device *device, double out_rows[3][3]);
	tac_result (*device_velocity)(tac_chai3d_device *device, double out_m_per_s[3]);
	tac_result (*device_angular_velocity)(tac_chai3d_device *device, double out_rad_per_s[3]);
	tac_result (*device_gripper)(tac_chai3d_device *device, double *out_rad, double *out_rad_per_s);
	tac_result (*device_switches)(tac_chai3d_device *device, uint32_t *out_bits);
	tac_result (*device_write)(tac_chai3d_device *device, const double force_N[3],
				   const double torque_Nm[3], double gripper_N);
	tac_result (*device_enable)(tac_chai3d_device *device, bool on);

	// ---- world ----

	tac_result (*world_create)(tac_chai3d_world **out_world);
	void (*world_destroy)(tac_chai3d_world **world); // with its objects and tools; nulls the pointer

	// A mesh of `vertex_count` points of three numbers and `triangle_count` triangles of three indices,
	// with a collision tree for a proxy of `radius_m`.
	tac_result (*mesh_create)(tac_chai3d_world *world, const double *vertices_m, size_t vertex_count,
				  const uint32_t *triangles, size_t triangle_count, double radius_m,
				  tac_chai3d_object **out_object);
	// The same from a file: OBJ, 3DS, STL or TRI, by its name's end.
	tac_result (*mesh_load)(tac_chai3d_world *world, const char *path, double radius_m,
				tac_chai3d_object **out_object);
	tac_result (*object_pose)(tac_chai3d_object *object, const double position_m[3],
				  const double rows[9]);
	tac_result (*object_material)(tac_chai3d_object *object, const tac_chai3d_material *material);
	tac_result (*object_effect)(tac_chai3d_object *object, tac_chai3d_effect effect);
	void (*object_destroy)(tac_chai3d_object **object); // before its world, or with it; nulls the pointer

	// A cursor with a finger proxy. `moving_objects`: the proxy follows objects that are moved (slower).
	tac_result (*tool_create)(tac_chai3d_world *world, double radius_m, bool moving_objects,
				  tac_chai3d_tool **out_tool);
	// Puts tool and proxy there, through whatever is between.
	tac_result (*tool_place)(tac_chai3d_tool *tool, const double position_m[3]);
	// Moves the tool and lets the proxy follow; no device is involved.
	tac_result (*tool_step)(tac_chai3d_tool *tool, const double position_m[3],
				const double velocity_m_per_s[3], tac_chai3d_contact *out_contact);
	// CHAI3D's own loop with a device: start, then drive once a tick: read, forces, write.
	tac_result (*tool_start)(tac_chai3d_tool *tool, tac_chai3d_device *device);
	tac_result (*tool_drive)(tac_chai3d_tool *tool, tac_chai3d_contact *out_contact);
	void (*tool_stop)(tac_chai3d_tool *tool); // forces off, the device is let go
} tac_chai3d_api;

// The plugin, loaded when it is first asked for. TAC_ERROR_UNSUPPORTED where there is none or it is of
// another version; `out_reason` then has a sentence. Logs nothing.
//
// It is looked for in TACTUS_CHAI3D_PLUGIN, where it was built or installed, and in the loader's path.
// Thread: setup.
tac_result tac_chai3d_load(const tac_chai3d_api **out_api, char *out_reason, size_t reason_size);

#ifdef __cplusplus
}
#endif

#endif
