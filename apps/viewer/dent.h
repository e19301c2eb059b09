// Viewer dent: the shape of a body that yields. Each picture multiplies the forces that the tools publish by
// the body's compliance, as the loop does, moves the vertices by it and finds their normals anew. So the dent
// is seen where it is felt. The work of a picture is bounded: of many forces the largest count.
#ifndef TAC_APPS_VIEWER_DENT_H
#define TAC_APPS_VIEWER_DENT_H

#include "apps/viewer/mesh.h"
#include "haptic/snapshot.h"
#include "haptic/world.h"

#define VIEWER_DENT_FORCES 96

typedef struct viewer_dent {
	const tac_compliance *compliance; // NULL: nothing yields
	int32_t object;
	viewer_vertex *rest, *vertices; // of the mesh on the driver
	int32_t *source;                // of each of them: the vertex of the body's mesh
	uint32_t *indices;
	int count, index_count;
	tac_vec3 *moved; // of the vertices of the compliance
	bool dented;     // what the driver has is not the shape at rest
} viewer_dent;

// Prepares the body of `world` that yields, if there is one; `mesh` is its mesh on the driver.
// TAC_ERROR_MEMORY with a log line. Thread: the visual one.
tac_result viewer_dent_init(viewer_dent *d, const tac_world *world, int32_t object, const viewer_mesh *mesh);
void viewer_dent_fini(viewer_dent *d);

// Moves the mesh on the driver to the shape of the snapshots; an entry may be NULL. Thread: the visual one.
void viewer_dent_update(viewer_dent *d, const viewer_mesh *mesh, const tac_snapshot *const *snapshots);

// The displacements of the compliance's vertices by at most VIEWER_DENT_FORCES forces, m. Thread: any.
void viewer_dent_displace(const tac_compliance *c, const tac_tissue_force *forces, int count,
			  tac_vec3 *out_moved);

#endif
