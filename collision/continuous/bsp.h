// BSP: an axial partition of a body's triangles by the planes of their boxes, the broad phase of J. M. P. van
// Waveren (2005), section 4. A node cuts space at a side of one of its triangles' boxes. Triangles on one
// side of the cut go to a child; those that straddle it stay with the node, so a query visits every triangle
// once. The tree of collision/continuous/body_tree.h finds fewer pairs in less time (bench/ccd.c); the BSP is
// kept for comparison and finds the same contacts. It is read-only once built.
#ifndef TAC_COLLISION_CONTINUOUS_BSP_H
#define TAC_COLLISION_CONTINUOUS_BSP_H

#include "base/result.h"
#include "collision/body.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The largest number of nested cuts.
#define TAC_BSP_DEPTH 40

typedef struct tac_bsp_node {
	float lo[3], hi[3];   // box of all triangles at and below the node
	float cut;            // a coordinate along `axis`
	int32_t axis;         // -1: a leaf
	int32_t first, count; // of the triangles that stay here: positions in `items`
	int32_t child[2];     // below and above the cut; -1: none
} tac_bsp_node;

typedef struct tac_bsp {
	tac_bsp_node *nodes;
	int32_t node_count;
	int32_t *items; // positions in the body's triangle array
} tac_bsp;

// Builds the partition of a body's triangles. The caller owns *out_bsp, NULL on failure (TAC_ERROR_MEMORY,
// with one log line). Thread: setup.
tac_result tac_bsp_build(const tac_body *body, tac_bsp **out_bsp);

// Frees *bsp and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_bsp_destroy(tac_bsp **bsp);

// Called with a position in the body's triangle array. False ends the query.
typedef bool (*tac_bsp_visitor)(void *user, int32_t triangle);

// Visits the triangles whose boxes meet the box from lo to hi (m). True unless the visitor ended it.
// Thread: RT.
bool tac_bsp_query(const tac_bsp *bsp, const tac_body *body, const double lo[3], const double hi[3],
		   tac_bsp_visitor visit, void *user);

#ifdef __cplusplus
}
#endif

#endif
