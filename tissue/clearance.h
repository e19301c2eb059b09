// Clearance: how far a round tool is from a closed mesh, in bounded time: the distance to a structure that a
// trainee should keep away from. Outside, the distance of the surfaces is exact: that of the tool's core
// from the nearest triangle, found in a tree of boxes, less the tool's radius. Inside it is negative: the
// depth of the deeper end of the core below the surface, plus the radius. A core that passes through the mesh
// with both ends outside counts as at the surface, so its distance is minus the radius. Of a cylinder, the
// depth is without the radius, or that of the triangles in it.
//
// Whether an end is inside is decided by the winding number of the mesh (collision/mesh_query.h).
#ifndef TAC_TISSUE_CLEARANCE_H
#define TAC_TISSUE_CLEARANCE_H

#include "base/result.h"
#include "collision/mesh.h"
#include "tissue/burr.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_clearance tac_clearance;

// Prepares a mesh, which outlives the clearance. TAC_ERROR_ARGUMENT with one log line, which begins with
// `name`, for a mesh that is not closed or has no triangles; TAC_ERROR_MEMORY with one log line. The caller
// owns *out_clearance; it is NULL on failure.
// Thread: setup.
tac_result tac_clearance_build(const tac_mesh *mesh, const char *name, tac_clearance **out_clearance);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_clearance_destroy(tac_clearance **clearance);

// Boxes and triangles that a search examines in a tick, at most. A unit is some tens of nanoseconds.
#define TAC_CLEARANCE_WORK 4000

// What searches share. Fill it with zeros before the first one. A search begins at the triangle that was
// nearest before, so one that could not finish goes on in the next tick.
typedef struct tac_clearance_search {
	int32_t triangle; // that was nearest
	int64_t work;     // left; the caller sets it, TAC_CLEARANCE_WORK for a tick
	bool unfinished; // the work was spent: the distance is that of a triangle, perhaps not of the nearest
} tac_clearance_search;

// The distance of the tool (in the mesh's frame) from the mesh, m, below 0 inside; `limit_m` if it is not
// less. Sets search->unfinished, and never clears it.
// Thread: RT.
double tac_clearance_measure(const tac_clearance *clearance, const tac_burr *tool, double limit_m,
			     tac_clearance_search *search);

// Whether a point (m, in the mesh's frame) lies inside. False if the work is spent, which is then set in
// *search.
// Thread: RT.
bool tac_clearance_contains(const tac_clearance *clearance, tac_dvec3 point, tac_clearance_search *search);

#ifdef __cplusplus
}
#endif

#endif
