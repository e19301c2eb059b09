// Scene builder: a scene from code. Each function adds an element with the defaults of a scene file and
// returns it, so that the caller sets only what differs; all other fields are plain data. A scene that was
// read from a file can be changed in the same way before its world is built. What a scene from code contains
// is the same, to the bit, as that of a file with the same keys.
//
//     tac_scene_create("a block", &scene);
//     tac_scene_tool *tool = tac_scene_add_tool(scene, "ball");
//     tac_scene_tool_add_shape(tool, TAC_SCENE_SPHERE)->radius_m = 0.005;
//     tac_scene_object *block = tac_scene_add_object(scene, "block");
//     tac_scene_object_add_shape(block, TAC_SCENE_BOX)->size_m = tac_dvec3_make(0.1, 0.1, 0.02);
//     TAC_SCENE_SET(block->material, "wood");
//
// A function that adds returns NULL, with one log line, if there is no room for another element. Values are
// checked by tac_scene_check, which tac_world_build calls.
#ifndef TAC_HAPTIC_SCENE_BUILDER_H
#define TAC_HAPTIC_SCENE_BUILDER_H

#include "base/result.h"
#include "collision/mesh.h"
#include "haptic/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// An empty scene. TAC_ERROR_ARGUMENT (a name that is empty or too long) or TAC_ERROR_MEMORY with one log
// line; *out_scene is NULL then. The caller owns it: tac_scene_destroy. Thread: setup.
TAC_API tac_result tac_scene_create(const char *name, tac_scene **out_scene);

// Adds an element of that name, with all defaults. NULL, with one log line: there are as many as a scene may
// have, or the name is empty, too long or, for a material, taken. The pointer is valid as long as the scene.
// Thread: setup.
TAC_API tac_material *tac_scene_add_material(tac_scene *scene, const char *name);
TAC_API tac_scene_tool *tac_scene_add_tool(tac_scene *scene, const char *name);
TAC_API tac_scene_object *tac_scene_add_object(tac_scene *scene, const char *name);
TAC_API tac_scene_camera *tac_scene_add_camera(tac_scene *scene, const char *name);
TAC_API tac_effect *tac_scene_add_effect(tac_scene *scene, tac_effect_kind kind, const char *name);

// Adds a part to a body. A part of kind TAC_SCENE_MESH needs its `file`, one of kind TAC_SCENE_SOLIDS its
// `solids`; see tac_scene_tool_add_mesh for meshes in memory. NULL as above, or for an unknown kind.
// Thread: setup.
TAC_API tac_scene_shape *tac_scene_tool_add_shape(tac_scene_tool *tool, tac_scene_shape_kind kind);
TAC_API tac_scene_shape *tac_scene_object_add_shape(tac_scene_object *object, tac_scene_shape_kind kind);

// Adds a part that is a mesh in memory, in metres, of kind TAC_SCENE_MEMORY. The mesh stays the caller's and
// must exist until tac_world_build has returned, which copies it. From arrays: tac_mesh_build makes the mesh.
// In a scene that is written as YAML only `name` stands for the mesh; after reading it back
// tac_scene_shape_set_mesh gives it a mesh again. NULL as above.
// Thread: setup.
TAC_API tac_scene_shape *tac_scene_tool_add_mesh(tac_scene_tool *tool, const char *name,
						 const tac_mesh *mesh);
TAC_API tac_scene_shape *tac_scene_object_add_mesh(tac_scene_object *object, const char *name,
						   const tac_mesh *mesh);

// Gives a part of kind TAC_SCENE_MEMORY, which was read from a file, its mesh.
// Thread: setup.
TAC_API void tac_scene_shape_set_mesh(tac_scene_shape *shape, const tac_mesh *mesh);

// Adds a point to the path of an object, or to that of a tool's simulated hand. False, with one log line, if
// there is no room.
// Thread: setup.
TAC_API bool tac_scene_object_add_point(tac_scene_object *object, tac_scene_point point);
TAC_API bool tac_scene_tool_add_point(tac_scene_tool *tool, tac_scene_point point);

// Gives a surface of an object, by its name in the mesh, a material of its own. False, with one log line, if
// there is no room or a name is empty or too long.
// Thread: setup.
TAC_API bool tac_scene_object_add_surface(tac_scene_object *object, const char *surface,
					  const char *material);

// Copies `text` into a field of `size` bytes and fills the rest with 0. False, with one log line and without
// a change, if it does not fit. Thread: setup.
TAC_API bool tac_scene_set_text(char *field, size_t size, const char *text);
#define TAC_SCENE_SET(field, text) tac_scene_set_text(field, sizeof(field), text)

// Checks all values as the reader of a file does. TAC_ERROR_ARGUMENT with one log line that names the field:
// "scene 'x': objects[1].material: expected the name of a material, found 'wod'; did you mean 'wood'?"
// Thread: setup.
TAC_API tac_result tac_scene_check(const tac_scene *scene);

#ifdef __cplusplus
}
#endif

#endif
