// World field: the field of a body that is drilled, from its mesh and the materials that the scene puts in
// it.
#ifndef TAC_HAPTIC_SCENE_WORLD_FIELD_H
#define TAC_HAPTIC_SCENE_WORLD_FIELD_H

#include "haptic/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Builds body->field of the object whose mesh is built. TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with one log
// line.
// Thread: setup.
tac_result tac_world_build_field(const tac_world *world, const tac_scene_object *object,
				 tac_world_body *body);

#ifdef __cplusplus
}
#endif

#endif
