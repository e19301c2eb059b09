// Scene check: what must hold between the values of a scene, beyond the range of each key. The reader words
// the position of an error as file, line and column; tac_scene_check words it as the path of the key.
#ifndef TAC_HAPTIC_SCENE_SCENE_CHECK_H
#define TAC_HAPTIC_SCENE_SCENE_CHECK_H

#include "haptic/scene.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Called with the field of the scene that is wrong, and with "expected …, found …".
typedef void tac_scene_refuse(void *user, const void *field, const char *message);

// False after the first error, which `refuse` has been told.
// Thread: setup.
bool tac_scene_check_values(const tac_scene *scene, tac_scene_refuse *refuse, void *user);

// Checks one material, as tac_scene_check does. TAC_ERROR_ARGUMENT with one log line.
// Thread: setup.
tac_result tac_scene_check_material(const tac_material *material);

#ifdef __cplusplus
}
#endif

#endif
