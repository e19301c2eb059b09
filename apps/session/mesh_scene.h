// Mesh scene: the scene that `tactus run part.stl` touches. The files keep their positions relative to each
// other, centred at the origin; a ball or a mesh is the tool. The scripted hand is aimed: it strokes points
// of the surface that were found by looking down on the meshes.
#ifndef TAC_APPS_SESSION_MESH_SCENE_H
#define TAC_APPS_SESSION_MESH_SCENE_H

#include "haptic/scene.h"

#include <stddef.h>
#include <stdint.h>

#define MESH_SCENE_NOTE 256

typedef struct mesh_scene_def {
	const char *files[TAC_SCENE_OBJECTS]; // what is touched
	int32_t file_count;
	const char *tool;                 // a mesh file; NULL: a ball
	double scales[TAC_SCENE_OBJECTS]; // metres per unit of each file; 0: the size of all such files
					  // decides
	double tool_scale;                // the same of the tool
} mesh_scene_def;

// Loads the meshes and builds the scene. `out_note` receives one line about size and scale. Returns an exit
// code: 0, or 2 after one line.
int mesh_scene_build(const mesh_scene_def *def, char out_note[MESH_SCENE_NOTE], tac_scene **out_scene);

#endif
