// Chip collider: the model of the CollisionChip as an engine. Its shapes are trees in the format of the
// hierarchy memory. A query sets up a chip in the context's scratch memory with the two trees and the
// registers of the motion, runs its clock, and reads the pairs from its FIFO. The moving shape is the tumbled
// one. Cycles are those of the event schedule.
//
// The chip tests closed triangles in single precision. Unlike the other engines, it may be wrong about
// triangles that touch or miss by less than about a millionth of the largest coordinate. Every error of the
// chip is answered as unknown.
#ifndef TAC_COLLISION_CHIP_COLLIDER_H
#define TAC_COLLISION_CHIP_COLLIDER_H

#include "base/api.h"
#include "collision/chip.h"
#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

// The engine, named chip. tac_collider_find returns it after tac_collider_add. Thread: setup.
TAC_API const tac_collider *tac_chip_collider(void);

// All counters of the last query of `context`, which must be of this engine (asserted).
// Thread: RT.
TAC_API void tac_chip_collider_counters(const tac_context *context,
					uint64_t out_counters[TAC_CHIP_COUNTER_COUNT]);

#ifdef __cplusplus
}
#endif

#endif
