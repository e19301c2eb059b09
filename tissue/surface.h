// Surface: what remains of a field (tissue/field.h) as triangles, for the eyes. A worker thread replays the
// edits of the drill on a copy of its own, so the tick does no more for it than append an edit to a ring.
// Equal edits give equal bits, so the copy is what the tool touches. At the rate of a display the worker
// makes the patches of the bricks that changed and hands them over through a second ring.
//
// The triangles are dual to marching cubes (Nielson 2004): each cell of eight nodes that the surface crosses
// has a vertex for each sheet of it, nearest to the planes that the nodes know, so that edges stay sharp, and
// each edge of the grid that the surface crosses has a quadrilateral. Where two cells meet in a face that a
// sheet crosses twice, the crossings are joined the other way (Wenger 2013), so all patches together are
// closed and manifold. A vertex is within half a voxel of the exact shape, 0.6 on ridges that are thinner
// than a voxel.
#ifndef TAC_TISSUE_SURFACE_H
#define TAC_TISSUE_SURFACE_H

#include "base/api.h"
#include "base/result.h"
#include "collision/mesh.h"
#include "rt/ring.h"
#include "tissue/field.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_surface tac_surface;

// Lengths in metres, in the mesh's frame.
typedef struct tac_surface_vertex {
	float position_m[3];
	float normal[3]; // unit, outwards
	float open;      // the part of the directions outwards that nothing hides nearby, 0 to 1
	int32_t label;   // of the material below
	uint32_t key;    // equal for a vertex that several patches have
} tac_surface_vertex;

// The triangles of one brick. Patches that meet have the same vertices where they do, to the bit.
typedef struct tac_surface_patch {
	int32_t brick; // of the grid, below the product of tac_field_size.bricks
	int32_t first_vertex, vertex_count;
	int32_t first_index, index_count; // three for a triangle; 0: the brick has no surface now
} tac_surface_patch;

// Patches that replace earlier ones of the same bricks. The first update has all bricks with a surface.
typedef struct tac_surface_update {
	const tac_surface_patch *patches;
	const tac_surface_vertex *vertices;
	const uint16_t *indices; // from the patch's first vertex, counter-clockwise seen from outside
	int32_t patch_count, vertex_count, index_count;
	uint64_t edits; // that this update and those before it contain
	uint64_t lost;  // edits that found no room in the ring: the picture lacks them
} tac_surface_update;

typedef struct tac_surface_def {
	const tac_field *field; // as it is when the edits begin; copied
	uint32_t edits;         // that may wait for the worker, a power of two
	int64_t pause_ns;       // between two updates
} tac_surface_def;

// 65,536 edits, a minute of drilling, and 20 ms. Thread: any.
TAC_API tac_surface_def tac_surface_def_default(void);

// Copies the field and starts the worker. TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM with one log line;
// *out_surface is NULL then. Thread: setup.
TAC_API tac_result tac_surface_create(const tac_surface_def *def, tac_surface **out_surface);

// Stops the worker. Nulls the pointer; NULL in it is allowed.
// Thread: setup, after the last edit.
TAC_API void tac_surface_destroy(tac_surface **surface);

// Where the drill puts its edits (tac_drill_def.edits).
// Thread: any.
TAC_API tac_ring *tac_surface_edits(tac_surface *surface);

// The next update, unchanged until the next call; NULL: there is none yet. Wait-free but for the memory of
// the update before, which it frees. Thread: any, one.
TAC_API const tac_surface_update *tac_surface_read(tac_surface *surface);

// Whether the reader has all updates of the edits that were appended before the call.
// Thread: that of tac_surface_read.
TAC_API bool tac_surface_settled(const tac_surface *surface);

// The worker's copy of the field, to be read while no edit comes and the surface is settled.
// Thread: any.
TAC_API const tac_field *tac_surface_field(const tac_surface *surface);

// The whole surface of a field as a mesh, for colliders and files. TAC_ERROR_MEMORY with one log line.
// Thread: setup.
TAC_API tac_result tac_surface_mesh(const tac_field *field, tac_mesh **out_mesh);

#ifdef __cplusplus
}
#endif

#endif
