// Wide: the fastest engine. A tree of eight children a node; each child is bounded by a box along the axes of
// its mesh and by a slab across the patch of surface below it. A pair of nodes is opened at once: the boxes
// of either node, brought into the frame of the other, give 8×8 tests of two aligned boxes in each frame;
// pairs that survive are packed, eight at a time, for the slabs (with the part of an axis along the other
// slab taken from that slab, so that nearly parallel patches separate as soon as they are apart). Leaves hold
// up to eight triangles; their pairs are packed in the same way for a test by signs of determinants (O.
// Devillers and P. Guigue, 2002) in single precision with a proven error bound, and what it cannot decide is
// decided exactly.
#ifndef TAC_COLLISION_WIDE_H
#define TAC_COLLISION_WIDE_H

#include "base/simd.h"
#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

// The engine with the SIMD variant of tac_simd_select.
// Thread: setup.
const tac_collider *tac_wide_collider(void);

// The engine with one variant (which tac_simd_supported must allow): for tests and benches. All of them give
// the same answers, pairs in the same order and the same counters.
// Thread: setup.
const tac_collider *tac_wide_collider_of(tac_simd simd);

#ifdef __cplusplus
}
#endif

#endif
