// The engine `wide`, the fastest and the default: a bounding volume hierarchy with eight children a node.
// Each child is bounded by a box along the axes of its mesh and by a slab across the patch of surface below
// it. A pair of nodes is opened at once: the boxes of either node, brought into the frame of the other, give
// 8×8 tests of two aligned boxes in each frame. Pairs that survive are packed, eight at a time, for the
// slabs. Each slab's normal is split into a component along the other slab's normal, bounded by that slab,
// and a rest, bounded by the box; so nearly parallel patches separate as soon as they are apart. Leaves hold
// up to eight triangles. Their pairs are packed in the same way for a test by signs of determinants (O.
// Devillers and P. Guigue, 2002) in single precision with a proven error bound; pairs that it leaves
// undecided are tested exactly.
#ifndef TAC_COLLISION_ENGINES_BVH8_ENGINE_H
#define TAC_COLLISION_ENGINES_BVH8_ENGINE_H

#include "base/simd.h"
#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

// The engine with the SIMD variant of tac_simd_select.
// Thread: setup.
const tac_collider *tac_bvh8_collider(void);

// The engine with the given variant, which tac_simd_supported must allow; for tests and benches. All variants
// give the same answers, the same pairs in the same order and the same counters.
// Thread: setup.
const tac_collider *tac_bvh8_collider_of(tac_simd simd);

#ifdef __cplusplus
}
#endif

#endif
