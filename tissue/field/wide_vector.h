// Wide vector: eight vectors at a time, for the kernels of tissue/field/bricks.h.
#ifndef TAC_TISSUE_FIELD_WIDE_VECTOR_H
#define TAC_TISSUE_FIELD_WIDE_VECTOR_H

#include "base/simd/wide.h"
#include "tissue/field/bricks.h"

// A call that the compiler declined to inline would pass wide values through memory.
#define INLINE      static inline __attribute__((always_inline))
#define f8          tac_f32x8
#define splat(x)    tac_f32x8_splat(x)
#define add(a, b)   tac_f32x8_add(a, b)
#define sub(a, b)   tac_f32x8_sub(a, b)
#define mul(a, b)   tac_f32x8_mul(a, b)
#define least(a, b) tac_f32x8_min(a, b)
#define most(a, b)  tac_f32x8_max(a, b)

// A length whose inverse is finite.
#define SHORTEST 1e-12F

typedef struct v8 {
	f8 x, y, z;
} v8;

INLINE f8 dot8(v8 a, v8 b)
{
	return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z));
}

INLINE v8 splat3(const float v[3])
{
	return (v8){splat(v[0]), splat(v[1]), splat(v[2])};
}

// a - s b
INLINE v8 sub_scaled(v8 a, f8 s, v8 b)
{
	return (v8){sub(a.x, mul(s, b.x)), sub(a.y, mul(s, b.y)), sub(a.z, mul(s, b.z))};
}

// From the nearest point of the segment.
INLINE v8 from_core(const tac_field_cut *cut, v8 p)
{
	const v8 axis = splat3(cut->axis);
	const f8 t = mul(dot8(p, axis), splat(cut->inverse_square));
	return sub_scaled(p, least(most(t, splat(0)), splat(1)), axis);
}

#endif
