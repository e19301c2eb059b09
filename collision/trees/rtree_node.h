// The overlap test of a node's eight boxes, for rtree.c and the kernels of surface collision detection.
#ifndef TAC_COLLISION_TREES_RTREE_NODE_H
#define TAC_COLLISION_TREES_RTREE_NODE_H

#include "base/simd/wide.h"
#include "collision/trees/rtree.h"

#include <math.h>

// Makes a lane without a child: it overlaps no box with finite bounds. Finite inverted bounds would not do: a
// box that contains both would overlap the lane, and a child that does not exist would be visited.
static inline void node_clear_lane(tac_rtree_node *node, int lane)
{
	for (int k = 0; k < 3; k++) {
		node->min[k][lane] = INFINITY;
		node->max[k][lane] = -INFINITY;
	}
	node->child[lane] = -1;
}

static inline unsigned node_overlap(const tac_rtree_node *node, const tac_aabb *box)
{
	tac_m32x8 hit = tac_f32x8_le(tac_f32x8_loadu(node->min[0]), tac_f32x8_splat(box->max[0]));
	hit = tac_m32x8_and(hit, tac_f32x8_le(tac_f32x8_splat(box->min[0]), tac_f32x8_loadu(node->max[0])));
	hit = tac_m32x8_and(hit, tac_f32x8_le(tac_f32x8_loadu(node->min[1]), tac_f32x8_splat(box->max[1])));
	hit = tac_m32x8_and(hit, tac_f32x8_le(tac_f32x8_splat(box->min[1]), tac_f32x8_loadu(node->max[1])));
	hit = tac_m32x8_and(hit, tac_f32x8_le(tac_f32x8_loadu(node->min[2]), tac_f32x8_splat(box->max[2])));
	hit = tac_m32x8_and(hit, tac_f32x8_le(tac_f32x8_splat(box->min[2]), tac_f32x8_loadu(node->max[2])));
	return (unsigned)tac_m32x8_movemask(hit);
}

#endif
