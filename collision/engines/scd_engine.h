// The engine `scd`: surface detection (collision/engines/scd.h) behind the collider interface. Unlike the
// other engines, in mode surfaces it tests no more triangles of a pair of surfaces once the pair is found to
// touch.
#ifndef TAC_COLLISION_ENGINES_SCD_ENGINE_H
#define TAC_COLLISION_ENGINES_SCD_ENGINE_H

#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

// Counters: overlap_tests are tests of two boxes, transforms are box updates of both kinds, nodes are nodes
// of eight boxes. The SIMD variant is that of tac_simd_select. Thread: setup.
const tac_collider *tac_scd_collider(void);

#ifdef __cplusplus
}
#endif

#endif
