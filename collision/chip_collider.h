// Chip collider: the model of the CollisionChip as an engine. Its shapes are trees as bytes of hierarchy
// memory; a query gives a chip in the context's scratch memory the two trees and the registers of the motion,
// lets its clock run, and takes the pairs out of its FIFO. The moving shape is the tumbled one. Cycles are
// those of the event schedule.
//
// Triangles are tested by the chip, closed, in single precision: unlike the other engines, it may be wrong
// about triangles that touch or miss by less than about a millionth of the largest coordinate. Every error of
// the chip is unknown.
#ifndef TAC_COLLISION_CHIP_COLLIDER_H
#define TAC_COLLISION_CHIP_COLLIDER_H

#include "collision/chip.h"
#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

// Thread: setup.
const tac_collider *tac_chip_collider(void);

// All counters of the last query of `context`, which must have been one of this engine (asserted).
// Thread: RT.
void tac_chip_collider_counters(const tac_context *context, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT]);

#ifdef __cplusplus
}
#endif

#endif
