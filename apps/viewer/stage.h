// Viewer stage: the bodies of a world on the graphics driver, and what of them one picture shows.
#ifndef TAC_APPS_VIEWER_STAGE_H
#define TAC_APPS_VIEWER_STAGE_H

#include "apps/viewer_panel.h"
#include "apps/viewer_render.h"
#include "haptic/snapshot.h"
#include "haptic/world.h"

// Bodies and their ghosts; a contact is a dot and an arrow of two parts, a force an arrow.
#define VIEWER_ITEMS (2 * TAC_SCENE_TOOLS + TAC_SCENE_OBJECTS + TAC_SCENE_TOOLS * (3 * TAC_SCO_CONTACTS + 4))

typedef struct viewer_shows {
	bool ghost, contacts, force, labels;
} viewer_shows;

typedef struct viewer_stage {
	const tac_world *world;
	viewer_mesh tools[TAC_SCENE_TOOLS], objects[TAC_SCENE_OBJECTS];
	viewer_mesh ball, rod, tip; // of unit size: radius 1, height 1 along z
	tac_vec3 centre;            // of the objects
	float radius;
	tac_vec3 corners[8 *
			 TAC_SCENE_OBJECTS]; // of the objects' boxes at the start: the ground lies below them
	int corner_count;
	viewer_item items[VIEWER_ITEMS];
	int item_count;
} viewer_stage;

// TAC_ERROR_MEMORY with a log line. `depth_program` as in viewer_mesh_init. Thread (all): the visual one.
tac_result viewer_stage_init(viewer_stage *s, const tac_world *world, GLuint depth_program);
void viewer_stage_fini(viewer_stage *s);

// Camera `index` of the scene, or one that shows everything where there is none.
viewer_camera viewer_stage_camera(const viewer_stage *s, int index);

// Fills the stage's items from the snapshots (NULL: none) and makes a picture of them.
viewer_picture viewer_stage_compose(viewer_stage *s, const tac_snapshot *const *snapshots,
				    const viewer_shows *shows, const viewer_camera *camera);

// Names of the surfaces that the tools touch, at most VIEWER_LABELS, placed in a picture of that size.
// Returns how many.
int viewer_stage_labels(const viewer_stage *s, const tac_snapshot *const *snapshots,
			const viewer_camera *camera, int width, int height, viewer_label *out_labels);

#endif
