// Private to collision/rtree and scd: the test of eight boxes, and what fills a node up to eight.
#ifndef TAC_COLLISION_RTREE_PRIVATE_H
#define TAC_COLLISION_RTREE_PRIVATE_H

#include "base/wide.h"
#include "collision/rtree.h"

#include <math.h>

// A lane without a child: it overlaps no box of finite numbers. With finite bounds, however far out, a box
// that reaches around both would be taken to overlap it, and a child be visited that is not there.
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
