// CHAI3D from C: the haptic device handler of CHAI3D 3.3, and as much of its world as its finger proxy needs,
// to compare it with our renderer. CHAI3D is C++; this interface is plain C. A plugin
// (devices/chai3d/chai3d_plugin.cpp), built where CHAI3D is found and loaded at run time, implements it, so
// that Tactus itself links no C++. docs/chai3d.md explains how to build it.
//
// Everything is called through the table that tac_chai3d_load returns:
//	const tac_chai3d_api *chai3d;
//	if (tac_chai3d_load(&chai3d, reason, sizeof reason) == TAC_OK)
//		chai3d->handler_create(&handler);
//
// Results: TAC_OK; TAC_ERROR_ARGUMENT (a NULL, an index out of range, numbers that are not finite);
// TAC_ERROR_IO (CHAI3D or the device failed); TAC_ERROR_MEMORY; TAC_ERROR_SYSTEM (an exception). No exception
// leaves the plugin. After an error message() returns what happened, for the calling thread.
//
// Units are SI. Device quantities are in CHAI3D's device frame: x towards the user, y to the right, z up.
// World quantities are in the frame of the caller's vertices; rotations are 3x3, by rows. `out_` arrays are
// filled only if the result is TAC_OK.
//
// Threads: as for CHAI3D, two threads may call at once only for different devices. Nothing here is for the
// real-time thread: CHAI3D allocates.
#ifndef TAC_DEVICES_CHAI3D_INTERFACE_H
#define TAC_DEVICES_CHAI3D_INTERFACE_H

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

// cHapticDeviceInfo. Longer texts are truncated.
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

// The haptic properties of cMaterial. A value of 0 has no effect.
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

// The result of a step of the tool.
typedef struct tac_chai3d_contact {
	double proxy_m[3];
	double force_N[3]; // on the tool
	int contacts;      // collision events of the proxy
} tac_chai3d_contact;

typedef struct tac_chai3d_api {
	int version; // TAC_CHAI3D_API_VERSION

	// The last error on this thread; "" if there was none. Valid until the next call.
	const char *(*message)(void);

	// ---- devices ----

	// Scans for devices. The caller destroys it, after all its devices.
	tac_result (*handler_create)(tac_chai3d_handler **out_handler);
	void (*handler_destroy)(tac_chai3d_handler **handler); // nulls the pointer; NULL in it is allowed
	tac_result (*handler_rescan)(tac_chai3d_handler *handler);
	int (*handler_count)(tac_chai3d_handler *handler);
	tac_result (*handler_info)(tac_chai3d_handler *handler, int index, tac_chai3d_info *out_info);

	// Opens device `index` and switches its forces off. For an index out of range CHAI3D returns a dummy;
	// here it is an error.
	tac_result (*device_open)(tac_chai3d_handler *handler, int index, tac_chai3d_device **out_device);
	void (*device_close)(tac_chai3d_device **device); // forces off first; nulls the pointer
	// `force`: also if the device is calibrated already. The device may move by itself.
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
	// The same from a file: OBJ, 3DS, STL or TRI, by its extension.
	tac_result (*mesh_load)(tac_chai3d_world *world, const char *path, double radius_m,
				tac_chai3d_object **out_object);
	tac_result (*object_pose)(tac_chai3d_object *object, const double position_m[3],
				  const double rows[9]);
	tac_result (*object_material)(tac_chai3d_object *object, const tac_chai3d_material *material);
	tac_result (*object_effect)(tac_chai3d_object *object, tac_chai3d_effect effect);
	void (*object_destroy)(
		tac_chai3d_object **object); // optional: its world destroys it, too; nulls the pointer

	// A cursor with a finger proxy. `moving_objects`: the proxy follows objects that are moved (slower).
	tac_result (*tool_create)(tac_chai3d_world *world, double radius_m, bool moving_objects,
				  tac_chai3d_tool **out_tool);
	// Places tool and proxy, without collision.
	tac_result (*tool_place)(tac_chai3d_tool *tool, const double position_m[3]);
	// Moves the tool; the proxy follows. No device is involved.
	tac_result (*tool_step)(tac_chai3d_tool *tool, const double position_m[3],
				const double velocity_m_per_s[3], tac_chai3d_contact *out_contact);
	// CHAI3D's own loop with a device: start it, then drive it once a tick (read, compute forces, write).
	tac_result (*tool_start)(tac_chai3d_tool *tool, tac_chai3d_device *device);
	tac_result (*tool_drive)(tac_chai3d_tool *tool, tac_chai3d_contact *out_contact);
	void (*tool_stop)(tac_chai3d_tool *tool); // switches forces off and releases the device
} tac_chai3d_api;

// Loads the plugin on the first call. TAC_ERROR_UNSUPPORTED if there is none or its version differs;
// `out_reason` then has a sentence. Logs nothing.
//
// The plugin is the file that TACTUS_CHAI3D_PLUGIN names, the one in lib/tactus/ beside the folder of the
// running program (also in the build tree), or the installed one. A privileged process loads
// the installed one only (base/helper.h). Thread: setup.
tac_result tac_chai3d_load(const tac_chai3d_api **out_api, char *out_reason, size_t reason_size);

#ifdef __cplusplus
}
#endif

#endif
