// World tissue: the compliance of a body that yields, from its mesh, its materials and what holds it.
#ifndef TAC_HAPTIC_SCENE_WORLD_TISSUE_H
#define TAC_HAPTIC_SCENE_WORLD_TISSUE_H

#include "haptic/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes body->compliance of the object whose mesh is built. TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with one
// log line.
// Thread: setup.
tac_result tac_world_build_tissue(const tac_world *world, const tac_scene_object *object,
				  tac_world_body *body);

#ifdef __cplusplus
}
#endif

#endif
