// Recorded scene: a recording contains the scene that was touched (devices/recording.h). A replay uses it,
// and refuses another one: the same motion of a device in another scene is another session.
#ifndef TAC_APPS_SESSION_RECORDED_SCENE_H
#define TAC_APPS_SESSION_RECORDED_SCENE_H

#include "devices/recording.h"
#include "haptic/world.h"

#include <stdbool.h>

// The file of the device "playback:FILE"; NULL: it is another device, or `device` is NULL.
const char *recorded_scene_file(const char *device);

// Fills *out_scene for a recorder. `name` is the scene as the user named it. *out_memory holds its texts; the
// caller frees it. False after one line.
bool recorded_scene_capture(const tac_world *world, const char *name, tac_recording_scene *out_scene,
			    char **out_memory);

// Reads a scene of the recording in `file`, with its mesh files where they are now. False after one line.
bool recorded_scene_parse(const char *file, const tac_recording_scene *recorded, tac_scene **out_scene);

// Reads the first scene of the recording in `file`. Returns an exit code: 0, or 2 after one line, also if the
// recording has no scene.
int recorded_scene_load(const char *command, const char *file, const tac_recording *recording,
			tac_scene **out_scene);

// Whether `scene`, which the user called `name`, is the recording's. False after one line.
bool recorded_scene_matches(const char *command, const char *file, const tac_recording *recording,
			    const char *name, const tac_scene *scene);

// Whether the world's mesh files have the same contents as when its scene was recorded. False after one line.
bool recorded_scene_has_meshes(const char *command, const char *file, const tac_recording_scene *recorded,
			       const tac_world *world);

#endif
