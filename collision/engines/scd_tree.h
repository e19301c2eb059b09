// Private to collision/engines/scd: a part in memory, and a query in progress.
#ifndef TAC_COLLISION_ENGINES_SCD_TREE_H
#define TAC_COLLISION_ENGINES_SCD_TREE_H

#include "base/simd.h"
#include "collision/engines/scd.h"
#include "collision/trees/leaf8.h"

// The tree of a surface's triangles, among the nodes of the part. The child of a leaf node is a triangle: its
// tac_leaf8 times TAC_RTREE_MAX, plus its lane.
typedef struct tac_scd_surface {
	const tac_rtree_node *nodes;
	int32_t depth;
	tac_aabb box;
} tac_scd_surface;

typedef struct tac_scd_run tac_scd_run;
typedef void tac_scd_visit_fn(tac_scd_run *run);
TAC_SIMD_DECLARE(tac_scd_visit_fn, tac_scd_visit);

struct tac_scd {
	const tac_mesh *mesh;
	tac_rtree surfaces;         // SBV; its items are surfaces
	tac_scd_surface *triangles; // TBV, one a surface
	tac_rtree_node *nodes;      // of all TBV
	tac_leaf8 *leaves;          // of all TBV
	size_t node_count, leaf_count;
	size_t bytes;
	tac_scd_visit_fn *visit;
};

struct tac_scd_run {
	const tac_scd *a, *b;
	const tac_dmat3 *rotation; // of B in A
	tac_dvec3 translation;
	tac_dmat3 inverse_rotation; // of A in B
	tac_dvec3 inverse_translation;
	tac_aabb common_a, common_b; // OAABB in either frame
	tac_scd_query *query;

	// The current triangle of B.
	int32_t surface_b, triangle_b;
	tac_tri64 moved; // in A's frame
	tac_aabb box;    // its box in A's frame, clipped to common_a
};

static inline bool tac_aabb_empty(const tac_aabb *box)
{
	return box->min[0] > box->max[0] || box->min[1] > box->max[1] || box->min[2] > box->max[2];
}

// Makes triangle `child` of a leaf of B the current one and moves it into A's frame.
// Thread: RT.
void tac_scd_load_triangle(tac_scd_run *run, int32_t surface_b, int32_t child);

// Whether triangle `child` of a leaf of A meets the current one, decided exactly.
// Thread: RT.
bool tac_scd_triangles_meet(const tac_scd_run *run, int32_t child);

// Stores or reports the hit; true if it ends the query.
// Thread: RT.
bool tac_scd_report(tac_scd_run *run, int32_t surface_a, int32_t child);

#endif
