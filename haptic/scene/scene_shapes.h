// Scene shapes: from the description of a shape to its mesh. The generated kinds that are not in
// collision/mesh_shapes.h are made here: grooves, bumpy bodies, teeth.
#ifndef TAC_HAPTIC_SCENE_SCENE_SHAPES_H
#define TAC_HAPTIC_SCENE_SCENE_SHAPES_H

#include "collision/mesh.h"
#include "haptic/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// Loads or generates the mesh of `shape`. A mesh file is neither scaled nor placed; every other kind is made
// in metres about its own origin. The caller owns *out_mesh; it is NULL on failure. TAC_ERROR_IO or
// TAC_ERROR_FORMAT (a mesh file), TAC_ERROR_ARGUMENT (parameters that do not make a shape) or
// TAC_ERROR_MEMORY with one log line.
// Thread: setup.
tac_result tac_scene_shape_mesh(const tac_scene *scene, const tac_scene_shape *shape, tac_mesh **out_mesh);

// Writes the path of the file of a shape of kind mesh, relative to the working directory.
// Thread: any.
void tac_scene_mesh_path(const tac_scene *scene, const tac_scene_shape *shape, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
