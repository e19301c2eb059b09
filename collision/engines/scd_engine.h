// The engine `scd`: surface detection (collision/scd.h) behind the collider interface. In mode surfaces a
// pair of surfaces is left alone once it is known to touch, which the other engines cannot do.
#ifndef TAC_COLLISION_SCD_COLLIDER_H
#define TAC_COLLISION_SCD_COLLIDER_H

#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

// Counters: overlap_tests are tests of two boxes, transforms are box updates of either kind, nodes are nodes
// of eight boxes. The SIMD variant is that of tac_simd_select. Thread: setup.
const tac_collider *tac_scd_collider(void);

#ifdef __cplusplus
}
#endif

#endif
