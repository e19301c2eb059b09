// Traverse: the engines of the CollisionChip paper over 24-DOP trees (Zachmann and Knittel; SPEC.md A.4).
// `classic` is Algorithm 1, the traditional simultaneous descent: every pair of nodes transforms its tumbled
// node. `doptree` is the complete Algorithm 2: a stack of lists of aligned nodes, with the 2^m descendants of
// a tumbled node transformed once and compared with every node of a list. The moving shape is the tumbled
// one.
#ifndef TAC_COLLISION_TRAVERSE_H
#define TAC_COLLISION_TRAVERSE_H

#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

// Algorithm 1. Thread: setup.
const tac_collider *tac_classic_collider(void);

// Algorithm 2 with m = 1, sibling pairs, as the chip does it. Thread: setup.
const tac_collider *tac_doptree_collider(void);

// Algorithm 2 with m = 0, 1 or 2: the answers do not depend on it.
// Thread: setup.
const tac_collider *tac_doptree_collider_of(int m);

#ifdef __cplusplus
}
#endif

#endif
