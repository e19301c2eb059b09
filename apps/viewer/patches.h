// Viewer patches: what remains of a body that is drilled (tissue/surface.h), on the graphics driver. All
// patches lie in one buffer of vertices and one of indices, each in a place with some room to grow.
#ifndef TAC_APPS_VIEWER_PATCHES_H
#define TAC_APPS_VIEWER_PATCHES_H

#include "apps/viewer/mesh.h"
#include "tissue/surface.h"

#include <stdbool.h>
#include <stdint.h>

// The place of a brick's patch, counted in vertices and indices.
typedef struct viewer_patch {
	int32_t vertex, vertex_room, vertex_count;
	int32_t index, index_room, index_count;
} viewer_patch;

typedef struct viewer_patches {
	tac_surface *surface; // NULL: nothing is drilled
	viewer_mesh mesh;
	viewer_patch *bricks;
	int32_t brick_count;
	int32_t vertex_end, vertex_room, index_end, index_room;
	uint64_t lost; // edits that the picture lacks
} viewer_patches;

// `surface` may be NULL. TAC_ERROR_MEMORY with a log line. Thread (all): the visual one.
tac_result viewer_patches_init(viewer_patches *p, tac_surface *surface);
void viewer_patches_fini(viewer_patches *p);

// Uploads the updates that have come.
void viewer_patches_take(viewer_patches *p);

// Takes updates until they contain all edits up to now, or for two seconds.
void viewer_patches_settle(viewer_patches *p);

#endif
