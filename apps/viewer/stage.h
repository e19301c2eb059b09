// Viewer stage: the bodies of a world on the graphics driver, and the items of one picture.
#ifndef TAC_APPS_VIEWER_STAGE_H
#define TAC_APPS_VIEWER_STAGE_H

#include "apps/viewer/chips.h"
#include "apps/viewer/dent.h"
#include "apps/viewer/panel.h"
#include "apps/viewer/patches.h"
#include "apps/viewer/render.h"
#include "haptic/snapshot.h"
#include "haptic/world.h"

// Bodies, their layers, protected structures and ghosts; for each contact a dot and an arrow of two items,
// for each force an arrow, for each needle its track and shape; chips.
#define VIEWER_TOOL_ITEMS (3 * TAC_SCO_CONTACTS + 4 + TAC_SNAPSHOT_TRACK + TAC_NEEDLE_NODES)
#define VIEWER_ITEMS                                                                                         \
	(2 * TAC_SCENE_TOOLS + TAC_SCENE_OBJECTS * (TAC_SCENE_LAYERS + TAC_SCENE_PROTECTED) +                \
	 TAC_SCENE_TOOLS * (VIEWER_TOOL_ITEMS + VIEWER_CHIPS))

// What is shown besides the bodies.
typedef struct viewer_layers {
	bool ghost, contacts, force, labels, structures;
} viewer_layers;

typedef struct viewer_stage {
	const tac_world *world;
	viewer_mesh tools[TAC_SCENE_TOOLS], objects[TAC_SCENE_OBJECTS];
	viewer_mesh structures[TAC_SCENE_OBJECTS][TAC_SCENE_PROTECTED];
	viewer_patches patches;            // of the object that is drilled, instead of its mesh
	viewer_dent dents[TAC_SCENE_SOFT]; // of the objects that yield
	int dent_count;
	viewer_chips chips[TAC_SCENE_TOOLS];
	viewer_mesh ball, rod, tip; // of unit size: radius 1, height 1 along z
	viewer_mesh cube;           // side 1
	tac_vec3 centre;            // of the objects
	float radius;
	float size; // their largest extent
	// Corners of the objects' bounding boxes at the start; the ground lies below them.
	tac_vec3 corners[8 * TAC_SCENE_OBJECTS];
	int corner_count;
	viewer_item items[VIEWER_ITEMS];
	int item_count;
} viewer_stage;

// `surface` is that of the body that is drilled, NULL: none. TAC_ERROR_MEMORY with a log line.
// `depth_program` as in viewer_mesh_init. Thread (all): the visual one.
tac_result viewer_stage_init(viewer_stage *s, const tac_world *world, tac_surface *surface,
			     GLuint depth_program);
void viewer_stage_fini(viewer_stage *s);

// Camera `index` of the scene; if the scene has none, one that shows everything.
viewer_camera viewer_stage_camera(const viewer_stage *s, int index);

// Builds the items of a picture from the snapshots; an entry may be NULL.
viewer_picture viewer_stage_compose(viewer_stage *s, const tac_snapshot *const *snapshots,
				    const viewer_layers *layers, const viewer_camera *camera);

// The names of the surfaces that the tools touch, placed in a picture of that size. Returns their count, at
// most VIEWER_LABELS.
int viewer_stage_labels(const viewer_stage *s, const tac_snapshot *const *snapshots,
			const viewer_camera *camera, int width, int height, viewer_label *out_labels);

#endif
