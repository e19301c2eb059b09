// Private to the kernels of continuous collision: the width of a kernel. It has eight lanes, as many as a
// node has children, or TAC_WIDE_LANES where it defines KERNEL_WIDE before it includes anything, because its
// items are independent.
#ifndef TAC_COLLISION_CONTINUOUS_LANES_INL
#define TAC_COLLISION_CONTINUOUS_LANES_INL

#include "base/simd/wide.h"

#ifdef KERNEL_WIDE
#define LANES         TAC_WIDE_LANES
#define FLOATS        tac_f32w
#define FLOATS_(name) tac_f32w_##name
#else
#define LANES         8
#define FLOATS        tac_f32x8
#define FLOATS_(name) tac_f32x8_##name
#endif

#endif
