// Scene: the description of what can be touched, with which tools, and how it feels: tools, objects,
// materials, the mapping of the device's workspace to the world, limits, effects, cameras. It is read from
// YAML and written as YAML (docs/scene.md is the schema), or built by code (haptic/scene_builder.h).
// haptic/world.h builds meshes and engines from it.
//
// One table (haptic/scene/scene_keys.c) lists all keys with their ranges. The reader, the writer and the
// error messages use it: file:line:column, what was expected, what was found, and for an unknown key the most
// similar known one. Keys missing in a file have the table's defaults, and defaults are not written, so that
// reading what was written gives the same scene to the bit.
#ifndef TAC_HAPTIC_SCENE_H
#define TAC_HAPTIC_SCENE_H

#include "base/result.h"
#include "collision/mesh.h"
#include "haptic/effect.h"
#include "haptic/material.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_SCENE_NAME      32
#define TAC_SCENE_TEXT      256 // file names, solids
#define TAC_SCENE_FILE_MAX  (256 * 1024)
#define TAC_SCENE_DEPTH_MAX 16 // of nested lists and mappings
#define TAC_SCENE_ANCHORS   256
#define TAC_SCENE_TOOLS     2
#define TAC_SCENE_OBJECTS   32
#define TAC_SCENE_MATERIALS 32
#define TAC_SCENE_SHAPES    8  // of one body
#define TAC_SCENE_SURFACES  16 // of one object whose material is not the object's
#define TAC_SCENE_PATH      64 // points
#define TAC_SCENE_CAMERAS   8
#define TAC_SCENE_SOFT      4 // bodies with tissue
#define TAC_SCENE_INSIDE    7 // other materials inside of a body that is drilled or soft
#define TAC_SCENE_FIXED     4 // parts of a soft body that are held

typedef enum tac_scene_shape_kind {
	TAC_SCENE_MESH,   // a file
	TAC_SCENE_SOLIDS, // primitives in the notation of collision/solid.h
	TAC_SCENE_BOX,
	TAC_SCENE_SPHERE,
	TAC_SCENE_TORUS,
	TAC_SCENE_CYLINDER,
	TAC_SCENE_CONE,
	TAC_SCENE_CAPSULE,
	TAC_SCENE_PEG,
	TAC_SCENE_BLOCK,    // with the hole for the peg
	TAC_SCENE_GROOVE,   // a block with a V-shaped groove along y
	TAC_SCENE_BODY,     // round and bumpy like an organ
	TAC_SCENE_TOOTH,    // a molar's crown
	TAC_SCENE_ASSEMBLY, // a part of a generated machine
	TAC_SCENE_MEMORY,   // a mesh of the application (haptic/scene_builder.h)
	TAC_SCENE_SHAPE_KINDS,
} tac_scene_shape_kind;

// One part of a body. Each kind uses some of the parameters.
typedef struct tac_scene_shape {
	int kind;                  // a tac_scene_shape_kind
	char file[TAC_SCENE_TEXT]; // mesh: path relative to the scene's file; memory: a name
	const tac_mesh *mesh;      // memory: the caller's; not written
	double scale;              // mesh, memory: metres per unit
	char solids[TAC_SCENE_TEXT];
	tac_dvec3 size_m;
	double radius_m;
	double minor_radius_m;
	double height_m;
	double chamfer_m, clearance_m;
	double bump_m; // height of the bumps
	int64_t segments;
	int64_t rings;
	int64_t subdivisions;
	int64_t seed;
	int machine; // assembly: a tac_assembly_kind
	int64_t part;
	tac_dvec3 position_m; // of the shape in the body's frame
	tac_dvec3 rotation_rad;
} tac_scene_shape;

// A point of a path. Rotations are rotation vectors.
typedef struct tac_scene_point {
	double time_s;
	tac_dvec3 position_m;
	tac_dvec3 rotation_rad;
	int64_t buttons;  // bit i: button i is held; only for the path of a hand
	double gripper_m; // where the fingers want the gripper; only for the path of a hand
} tac_scene_point;

#define TAC_SCENE_LAYERS 12 // of one object

// A layer of an object that a needle enters.
typedef struct tac_scene_layer {
	char material[TAC_MATERIAL_NAME];
	double thickness_m;
} tac_scene_layer;

// Layers below the highest point of the object along `normal`, in the object's frame; the last has no end.
typedef struct tac_scene_layers {
	tac_dvec3 normal;
	tac_scene_layer list[TAC_SCENE_LAYERS];
	int32_t list_count; // 0: no needle enters the object
} tac_scene_layers;

#define TAC_SCENE_PROTECTED        4 // structures of one object
#define TAC_SCENE_STRUCTURE_SHAPES 2 // shapes of one structure

// A structure that the tool should keep away from. It is no obstacle.
typedef struct tac_scene_structure {
	char name[TAC_SCENE_NAME];
	// In the object's frame, either spheres and capsules, or closed meshes, generated or from a file.
	char solids[TAC_SCENE_TEXT];
	tac_scene_shape shapes[TAC_SCENE_STRUCTURE_SHAPES];
	int32_t shape_count;
	double warn_m;
} tac_scene_structure;

// What a trainee should do (haptic/task.h). 0 and "": no limit, no target.
typedef struct tac_scene_task_limits {
	double max_force_N;
	double time_s;
	double path_m;
} tac_scene_task_limits;

typedef struct tac_scene_task {
	tac_scene_task_limits limits;
	char target[TAC_SCENE_NAME];          // object whose surface should be covered
	char target_layer[TAC_MATERIAL_NAME]; // material of the layer that a needle should reach
	double removed; // part of the materials marked as `target` in drillable bodies to remove, 0 … 1
	tac_dvec3 plan; // direction of a needle, world frame
} tac_scene_task;

// A needle. Its tip is the origin of the tool's frame and points along -z.
typedef struct tac_scene_needle {
	double radius_m;
	double length_m;              // 0: the tool is no needle
	double bending_stiffness_Nm2; // 0: rigid
	double curvature_per_m;       // of the track of a bevelled tip, towards +x
	double stiffness_N_per_m;     // of the coupling
} tac_scene_needle;

typedef struct tac_scene_surface {
	char name[TAC_SCENE_NAME];
	char material[TAC_MATERIAL_NAME];
} tac_scene_surface;

// A material inside of a body that is drilled: from a depth on, or in solids, or both. Later ones lie in
// earlier ones.
typedef struct tac_scene_inside {
	char material[TAC_MATERIAL_NAME];
	double depth_m;              // below the body's surface
	char solids[TAC_SCENE_TEXT]; // in the body's frame, in the notation of collision/solid.h; "":
				     // everywhere
	bool target; // it should be removed
} tac_scene_inside;

// How a body is drilled.
typedef struct tac_scene_drillable {
	double voxel_m;                   // 0: it is not drilled
	char material[TAC_MATERIAL_NAME]; // "": the object's
	tac_scene_inside inside[TAC_SCENE_INSIDE];
	int32_t inside_count;
} tac_scene_drillable;

// Where a soft body is held: below a height in its own frame.
typedef struct tac_scene_fixed {
	double below_z_m;
} tac_scene_fixed;

// Another material inside of a soft body, in solids of the body's frame. Later ones lie in earlier ones.
typedef struct tac_scene_enclosed {
	char name[TAC_SCENE_NAME];
	char solids[TAC_SCENE_TEXT];
	char material[TAC_MATERIAL_NAME];
} tac_scene_enclosed;

// How a body yields.
typedef struct tac_scene_tissue {
	double spacing_m; // of the points that may be pressed; 0: the body is rigid
	tac_scene_fixed fixed[TAC_SCENE_FIXED];
	int32_t fixed_count;
	tac_scene_enclosed inside[TAC_SCENE_INSIDE];
	int32_t inside_count;
} tac_scene_tissue;

typedef struct tac_scene_object {
	char name[TAC_SCENE_NAME];
	tac_scene_shape shapes[TAC_SCENE_SHAPES];
	int32_t shape_count;
	tac_dvec3 position_m;
	tac_dvec3 rotation_rad;
	char material[TAC_MATERIAL_NAME];
	tac_scene_surface surfaces[TAC_SCENE_SURFACES];
	int32_t surface_count;
	tac_scene_point
		path[TAC_SCENE_PATH]; // in the frame of the pose above; empty: the object does not move
	int32_t path_count;
	tac_scene_layers layers;
	tac_scene_structure protect[TAC_SCENE_PROTECTED];
	int32_t protect_count;
	tac_scene_drillable drillable;
	tac_scene_tissue tissue;
	bool hidden; // at the start: it cannot be touched until the application shows it (haptic/live.h)
} tac_scene_object;

// From the device's frame to the world: world = position + rotation (scale device).
typedef struct tac_scene_mapping {
	double workspace_scale;
	tac_dvec3 position_m;
	tac_dvec3 rotation_rad;
	int64_t clutch_button; // while it is held the tool stays and the device moves alone; -1: none
} tac_scene_mapping;

// 0 stands for the device's own value.
typedef struct tac_scene_limits {
	double max_force_N;
	double max_torque_Nm;
	double max_speed_m_per_s;
	double max_stiffness_N_per_m;
	double slew_m_per_s; // of the force law (haptic/force/law.h); 0: 0.5
	double engage_s;
	int64_t deadman_button; // -1: none
} tac_scene_limits;

// What a device's gripper feels: closed beyond `rest_m`, a spring and a damper push it open.
typedef struct tac_scene_gripper {
	double rest_m;
	double stiffness_N_per_m;
	double damping_N_s_per_m;
} tac_scene_gripper;

// A drill: the tool is its burr.
typedef struct tac_scene_drill {
	double radius_m; // 0: the tool is no drill
	double length_m; // of a cylinder from the tool's origin along z; 0: a ball about the origin
	double speed_rpm;
	double power_W;
	double thrust_ratio; // thrust over tangential force
	double vibration_N;  // amplitude at full load
	int64_t button;      // it turns while this button is held; -1: always
} tac_scene_drill;

typedef struct tac_scene_tool {
	char name[TAC_SCENE_NAME];
	tac_scene_shape shapes[TAC_SCENE_SHAPES];
	int32_t shape_count;         // 0: that of the needle
	char device[TAC_SCENE_NAME]; // as in the option --device
	tac_scene_mapping mapping;
	int64_t axes;             // 3: the tool does not rotate; 6
	double turn_arm_m;        // angular stiffness = stiffness times the square of this
	double damping_N_s_per_m; // of the coupling; angular: times the square of the arm
	int law;                  // a tac_coupling_law
	tac_scene_limits limits;
	tac_scene_gripper gripper;
	tac_scene_needle needle;
	tac_scene_drill drill;
	char grip[TAC_SCENE_NAME];            // of the simulated hand
	tac_scene_point hand[TAC_SCENE_PATH]; // path of the simulated hand, in the world; repeated
	int32_t hand_count;
} tac_scene_tool;

typedef struct tac_scene_camera {
	char name[TAC_SCENE_NAME];
	tac_dvec3 eye_m, target_m, up;
	double field_of_view_rad;
} tac_scene_camera;

typedef struct tac_scene {
	char name[64];
	char folder[TAC_SCENE_TEXT]; // of the scene's file, to which mesh files are relative; not written
	tac_material materials[TAC_SCENE_MATERIALS];
	int32_t material_count;
	tac_scene_tool tools[TAC_SCENE_TOOLS];
	int32_t tool_count;
	tac_scene_object objects[TAC_SCENE_OBJECTS];
	int32_t object_count;
	tac_effect effects[TAC_EFFECT_COUNT];
	int32_t effect_count;
	tac_scene_task task;
	tac_scene_camera cameras[TAC_SCENE_CAMERAS];
	int32_t camera_count;
	// How far the surfaces that a tool which is a mesh touches may be from the meshes, m, where that
	// saves triangles; 0: they are the meshes. Only bodies of TAC_WORLD_DETAIL_TRIANGLES to
	// TAC_WORLD_DETAIL_MOST change.
	double detail_m;
} tac_scene;

// The default of detail_m: half of the hold gap, which the SCO keeps anyway. With all of it, the facets of
// a ball that were too small to be felt are felt again (test_feel).
#define TAC_SCENE_DETAIL_M 5e-6

// Reads a scene file. TAC_ERROR_IO, TAC_ERROR_FORMAT or TAC_ERROR_MEMORY with one log line; *out_scene is
// NULL then. The caller owns *out_scene.
// Thread: setup.
TAC_API tac_result tac_scene_load(const char *path, tac_scene **out_scene);

// Reads a scene from memory; any bytes are safe. `name` is used in messages, and mesh files are relative to
// its folder. Otherwise like tac_scene_load.
// Thread: setup.
TAC_API tac_result tac_scene_parse(const char *text, size_t bytes, const char *name, tac_scene **out_scene);

// Reads a built-in scene, whose meshes are all generated. TAC_ERROR_ARGUMENT for an unknown name, with a log
// line that lists the names; otherwise like tac_scene_load.
// Thread: setup.
TAC_API tac_result tac_scene_builtin(const char *name, tac_scene **out_scene);

// The name of built-in scene `index`; 0 is the default scene. NULL after the last.
// Thread: any.
TAC_API const char *tac_scene_builtin_name(int index);

// Writes YAML that reads back as the same scene. TAC_ERROR_IO (writing to `file` failed) or TAC_ERROR_MEMORY,
// without a log line.
// Thread: setup.
TAC_API tac_result tac_scene_write(const tac_scene *scene, FILE *file);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_scene_destroy(tac_scene **scene);

// The index of the tool, object, material or effect with that name; -1: none has it.
// Thread: any.
TAC_API int32_t tac_scene_find_tool(const tac_scene *scene, const char *name);
TAC_API int32_t tac_scene_find_object(const tac_scene *scene, const char *name);
TAC_API int32_t tac_scene_find_material(const tac_scene *scene, const char *name);
TAC_API int32_t tac_scene_find_effect(const tac_scene *scene, const char *name);

#ifdef __cplusplus
}
#endif

#endif
