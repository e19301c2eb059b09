// Outline: the bodies of a world as few triangles, for pictures elsewhere. Whoever draws a station has
// neither its mesh files nor a reason to trust its scene, so the run says what its bodies look like.
#ifndef TAC_SHARE_OUTLINE_H
#define TAC_SHARE_OUTLINE_H

#include "haptic/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_OUTLINE_BODIES    (TAC_SCENE_TOOLS + TAC_SCENE_OBJECTS)
#define TAC_OUTLINE_VERTICES  8192 // of all bodies
#define TAC_OUTLINE_TRIANGLES 12288
#define TAC_OUTLINE_NAME      64

typedef struct tac_outline_body {
	char name[TAC_OUTLINE_NAME];
	int32_t is_tool;                  // otherwise an object
	int32_t vertex, vertex_count;     // the first, in the outline's vertices
	int32_t triangle, triangle_count; // the first; its numbers count from the body's first vertex
	tac_dpose T_world;                // at the start; of an object
} tac_outline_body;

typedef struct tac_outline {
	int32_t body_count; // tools before objects
	tac_outline_body bodies[TAC_OUTLINE_BODIES];
	float vertices[TAC_OUTLINE_VERTICES][3]; // metres, in the body's frame
	uint16_t triangles[TAC_OUTLINE_TRIANGLES][3];
} tac_outline;

// Describes the bodies of `world`. Each body is exact if it is small enough for its part of the room.
// Otherwise vertices that share a cell of a grid become one, at their mean, and triangles that lie in fewer
// than three cells are left out; the grid is the finest of 64, 48, 32, … cells along the longest side that
// fits. TAC_ERROR_MEMORY with a log line; the outline has no bodies then.
// Thread: setup.
tac_result tac_outline_make(const tac_world *world, tac_outline *out_outline);

// Whether every number in an outline of foreign origin is in range, every name ends, and every length is
// finite. Thread: any.
bool tac_outline_valid(const tac_outline *outline);

#ifdef __cplusplus
}
#endif

#endif
