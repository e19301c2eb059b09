// The engines `classic` and `doptree`: the traversals of the CollisionChip paper (G. Zachmann and G. Knittel,
// An Architecture for Hierarchical Collision Detection, WSCG 2003, and its extended version) over trees of
// 24-DOPs (collision/trees/doptree.h). `classic` is Algorithm 1, the usual simultaneous descent: every pair
// of nodes transforms its tumbled node. `doptree` is Algorithm 2, completed for leaves at different depths: a
// stack of lists of aligned nodes, in which the 2^m descendants of a tumbled node are transformed once and
// compared with every node of a list. The moving shape is the tumbled one.
#ifndef TAC_COLLISION_ENGINES_DOPTREE_ENGINE_H
#define TAC_COLLISION_ENGINES_DOPTREE_ENGINE_H

#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

// Algorithm 1. Thread: setup.
const tac_collider *tac_classic_collider(void);

// Algorithm 2 with m = 1, sibling pairs, as in the chip. Thread: setup.
const tac_collider *tac_doptree_collider(void);

// Algorithm 2 with m = 0, 1 or 2; the answers do not depend on m.
// Thread: setup.
const tac_collider *tac_doptree_collider_of(int m);

#ifdef __cplusplus
}
#endif

#endif
