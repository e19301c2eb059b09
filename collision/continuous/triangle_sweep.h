// Two triangles in motion: when a moving triangle first touches a fixed one, by the trajectories of their
// features (collision/continuous/feature.h): vertex against face, face against vertex, edge against edge.
//
// A time is the fraction of a translation, or r = tan(angle / 2) of a rotation.
//
// Thread: RT, every function.
#ifndef TAC_COLLISION_CONTINUOUS_TRIANGLE_SWEEP_H
#define TAC_COLLISION_CONTINUOUS_TRIANGLE_SWEEP_H

#include "base/algebra.h"
#include "collision/closest.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Which features of a pair to examine, a bit each.
typedef struct tac_feature_masks {
	uint8_t moving_vertices, fixed_vertices, moving_edges, fixed_edges;
} tac_feature_masks;

// A pair of triangles with their unit normals, which are zero for triangles without area.
typedef struct tac_sweep_triangles {
	const tac_dvec3 *moving, *fixed; // three vertices each
	tac_dvec3 moving_normal, fixed_normal;
	tac_feature_masks features;
	double slack; // features that pass each other this closely touch, m
	bool front;   // only what enters a face from its front counts
} tac_sweep_triangles;

typedef struct tac_sweep_contact {
	double time;
	tac_feature_pair kind;
} tac_sweep_contact;

// Sets *contact to the first contact of the translation `v` (m), if there is one before contact->time.
void tac_sweep_triangles_translate(const tac_sweep_triangles *pair, tac_dvec3 v, tac_sweep_contact *contact);

// The same for a rotation about the z axis, clockwise seen from +z.
void tac_sweep_triangles_rotate(const tac_sweep_triangles *pair, tac_sweep_contact *contact);

#ifdef __cplusplus
}
#endif

#endif
