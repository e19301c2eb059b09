// BSP: an axial partition of a body's triangles by the planes of their boxes, the broad phase of J. M. P. van
// Waveren (2005), section 4. A node cuts space at a coordinate that is a side of one of its triangles' boxes;
// what lies wholly on one side goes there, what straddles stays with the node, so every triangle is met once.
// The trees of collision/ccd_body.h find fewer pairs in less time (bench/ccd.c shows both); this one is kept
// to compare with, and finds the same contacts. Read-only once built.
#ifndef TAC_COLLISION_BSP_H
#define TAC_COLLISION_BSP_H

#include "base/result.h"
#include "collision/ccd_body.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Cuts of space, one within the other, at most.
#define TAC_BSP_DEPTH 40

typedef struct tac_bsp_node {
	float lo[3], hi[3];   // box of all triangles at and below the node
	float cut;            // a coordinate along `axis`
	int32_t axis;         // -1: a leaf
	int32_t first, count; // of the triangles that are kept here: positions in `items`
	int32_t child[2];     // below and above the cut; -1: nothing there
} tac_bsp_node;

typedef struct tac_bsp {
	tac_bsp_node *nodes;
	int32_t node_count;
	int32_t *items; // positions in the body's triangle array
} tac_bsp;

// Builds the partition of a body's triangles. The caller owns *out_bsp, NULL on failure (TAC_ERROR_MEMORY,
// with one log line). Thread: setup.
tac_result tac_bsp_build(const tac_ccd_body *body, tac_bsp **out_bsp);

// Frees *bsp and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_bsp_destroy(tac_bsp **bsp);

// Called with a position in the body's triangle array. False ends the query.
typedef bool (*tac_bsp_visit)(void *user, int32_t triangle);

// Visits the triangles whose boxes meet the box lo … hi (m). True when the visitor has not ended it.
// Thread: RT.
bool tac_bsp_query(const tac_bsp *bsp, const tac_ccd_body *body, const double lo[3], const double hi[3],
		   tac_bsp_visit visit, void *user);

#ifdef __cplusplus
}
#endif

#endif
