// Wide: SIMD values of a fixed logical width, under the same names on every machine. A kernel is written once
// and compiled once for each instruction set (cmake/TactusSimd.cmake); this header selects the bodies by the
// compile flags of the including file: AVX-512, AVX2, SSE2, NEON (64-bit ARM), otherwise plain C.
// TAC_NO_SIMD forces plain C.
//
//   tac_f32x8, tac_i32x8    eight floats, eight int32_t            tac_m32x8    a mask for either
//   tac_f64x4               four doubles                           tac_m64x4    a mask for it
//   tac_f32w, tac_i32w      TAC_WIDE_LANES floats and int32_t      tac_m32w     a mask for either
//
// 32 bytes each (masks may be smaller): one AVX register, two SSE2 or NEON registers, or an array. Only the
// last ones are as wide as the machine's registers: 16 lanes with AVX-512, otherwise eight. They are for
// kernels whose items are independent, so that it does not matter how many are taken at once. Lane i is
// element i in memory. Wide values are for the locals of a kernel: their alignment and calling convention
// differ between variants, so data that outlives the kernel is stored as plain arrays, and no wide value may
// pass between files of different variants.
//
// Results are the same to the last bit in every variant: each operation rounds once, there is no fused
// multiply-add and no approximate reciprocal. Where IEEE 754 leaves a choice, these rules hold:
//
//   min(a, b) = a < b ? a : b, max(a, b) = a > b ? a : b: the second operand where either is NaN or both are
//   zero. hmin, hmax, hsum combine lane i with i + 4, then i + 2, then i + 1, lower lane first.
//   abs and neg change only the sign bit, also of NaN. select, gather and moves keep every bit.
//   Comparisons with NaN are false, ne is true.
//   Where arithmetic produces or propagates a NaN, its sign and payload are unspecified.
//   Denormals obey the thread's flush-to-zero and denormals-are-zero bits as in scalar code. With those set,
//   a denormal and zero compare equal in min and max, so the second operand is returned, possibly flushed.
//   Conversion of a float to int32_t truncates; NaN and values out of range become INT32_MIN.
//   Integer arithmetic wraps.
//
// Thread: RT, every function.
#ifndef TAC_BASE_SIMD_WIDE_H
#define TAC_BASE_SIMD_WIDE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(TAC_NO_SIMD)
#define TAC_WIDE_BODIES "base/simd/wide_scalar.inl"
#elif defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define TAC_WIDE_BODIES "base/simd/wide_avx512.inl"
#elif defined(__AVX2__)
#include <immintrin.h>
#define TAC_WIDE_BODIES "base/simd/wide_avx2.inl"
#elif defined(__SSE2__)
#include <emmintrin.h>
#define TAC_WIDE_BODIES "base/simd/wide_sse2.inl"
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define TAC_WIDE_BODIES "base/simd/wide_neon.inl"
#else
#define TAC_WIDE_BODIES "base/simd/wide_scalar.inl"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// A call that the compiler declined to inline in a large kernel would pass its operands through memory.
#define TAC_WIDE static inline __attribute__((always_inline))

// clang-format off
// The bodies define, for T one of f32x8, f64x4, i32x8 with elements E and M its mask (i32x8: where it applies):
//
//   T_splat(E)   T_load(const E *)   T_store(E *, T)      32-byte aligned memory; loadu, storeu: any
//   T_add sub mul div min max(T, T)   T_sqrt abs neg(T)   i32x8: add sub min max and or xor andnot(T, T)
//   i32x8_shl, i32x8_shr(T, int)                          by 0 … 31 bits; shr shifts zeros in
//   T_lt le eq(T, T)                                      a mask; i32x8: lt eq
//   T_select(M, if_true, if_false)
//   T_gather(const E *base, index)                        base[index[i]]; index: i32x8, or 4 in memory for f64x4
//   T_hmin hmax hsum(T)                                   one element; not for i32x8
//   M_and or xor(M, M)   M_andnot(a, b)   M_not(M)        andnot: a and not b
//   M_movemask(M)   M_from_bits(unsigned)                 to and from bits; bit i is lane i
//   f32x8_from_i32   i32x8_from_f32   f32x8_from_f64(low, high)   f64x4_from_f32_low, high
//   f32x8_from_bits   f32x8_to_bits                       the same bits as i32x8
//   f32x8_gather24(const float *base, index)              gather from 24 floats, 32-byte aligned: by permutes
//   f32x8_gather4(const float *const from[8], T out[4])   lane i of out[k] is from[i][k]: loads and shuffles
//   f32x8_gather_rows(const float *base, int stride, const int32_t *index, int step, int count, T *out)
//                                                         lane i of out[k] is base[stride index[step i] + k],
//                                                         for k up to a count of 4, 8, 12 or 16
//   f32x8_permute, i32x8_permute(v, index)                lane i is lane index[i] & 7 of v
//   i32x8_compress(v, bits)                               the lanes whose bits are set come first, then zeros
//
// Of these, f32w, i32w and m32w have what kernels need; memory of load and store is aligned to the type. And:
//
//   m32w_order(m32w)                                      an orderw: the chosen lanes, for
//   f32w_pack(float *to, orderw, f32w)                    stores them one after another, and then anything in
//                                                         the rest of TAC_WIDE_LANES elements
// clang-format on
#include TAC_WIDE_BODIES
#ifndef TAC_WIDE_LANES
#include "base/simd/wide_8.inl"
#endif

// The same in every variant.

// clang-format off
TAC_WIDE tac_m32x8 tac_f32x8_gt(tac_f32x8 a, tac_f32x8 b) { return tac_f32x8_lt(b, a); }
TAC_WIDE tac_m32x8 tac_f32x8_ge(tac_f32x8 a, tac_f32x8 b) { return tac_f32x8_le(b, a); }
TAC_WIDE tac_m32x8 tac_f32x8_ne(tac_f32x8 a, tac_f32x8 b) { return tac_m32x8_not(tac_f32x8_eq(a, b)); }
TAC_WIDE tac_m64x4 tac_f64x4_gt(tac_f64x4 a, tac_f64x4 b) { return tac_f64x4_lt(b, a); }
TAC_WIDE tac_m64x4 tac_f64x4_ge(tac_f64x4 a, tac_f64x4 b) { return tac_f64x4_le(b, a); }
TAC_WIDE tac_m64x4 tac_f64x4_ne(tac_f64x4 a, tac_f64x4 b) { return tac_m64x4_not(tac_f64x4_eq(a, b)); }
TAC_WIDE tac_m32x8 tac_i32x8_gt(tac_i32x8 a, tac_i32x8 b) { return tac_i32x8_lt(b, a); }

TAC_WIDE bool tac_m32x8_any(tac_m32x8 m) { return tac_m32x8_movemask(m) != 0; }
TAC_WIDE bool tac_m32x8_all(tac_m32x8 m) { return tac_m32x8_movemask(m) == 0xFF; }
TAC_WIDE bool tac_m32w_any(tac_m32w m) { return tac_m32w_movemask(m) != 0; }
TAC_WIDE bool tac_m64x4_any(tac_m64x4 m) { return tac_m64x4_movemask(m) != 0; }
TAC_WIDE bool tac_m64x4_all(tac_m64x4 m) { return tac_m64x4_movemask(m) == 0xF; }

// One lane at a time, through memory: for set-up and tests.
TAC_WIDE float tac_f32x8_get(tac_f32x8 v, int i) { float e[8]; tac_f32x8_storeu(e, v); return e[i]; }
TAC_WIDE double tac_f64x4_get(tac_f64x4 v, int i) { double e[4]; tac_f64x4_storeu(e, v); return e[i]; }
TAC_WIDE int32_t tac_i32x8_get(tac_i32x8 v, int i) { int32_t e[8]; tac_i32x8_storeu(e, v); return e[i]; }
// clang-format on

TAC_WIDE tac_f32x8 tac_f32x8_set(tac_f32x8 v, int i, float x)
{
	float e[8];
	tac_f32x8_storeu(e, v);
	e[i] = x;
	return tac_f32x8_loadu(e);
}

TAC_WIDE tac_f64x4 tac_f64x4_set(tac_f64x4 v, int i, double x)
{
	double e[4];
	tac_f64x4_storeu(e, v);
	e[i] = x;
	return tac_f64x4_loadu(e);
}

TAC_WIDE tac_i32x8 tac_i32x8_set(tac_i32x8 v, int i, int32_t x)
{
	int32_t e[8];
	tac_i32x8_storeu(e, v);
	e[i] = x;
	return tac_i32x8_loadu(e);
}

#ifndef TAC_WIDE_GATHER4
TAC_WIDE void tac_f32x8_gather4(const float *const from[8], tac_f32x8 out[4])
{
	for (int k = 0; k < 4; k++) {
		float e[8] = {from[0][k], from[1][k], from[2][k], from[3][k],
			      from[4][k], from[5][k], from[6][k], from[7][k]};
		out[k] = tac_f32x8_loadu(e);
	}
}
#endif

#ifndef TAC_WIDE_COMPRESS
TAC_WIDE tac_i32x8 tac_i32x8_compress(tac_i32x8 v, unsigned bits)
{
	int32_t e[8], out[9] = {0};
	tac_i32x8_storeu(e, v);
	for (int i = 0, n = 0; i < 8; i++) {
		out[n] = bits >> i & 1 ? e[i] : 0;
		n += (int)(bits >> i & 1);
	}
	return tac_i32x8_loadu(out);
}
#endif

TAC_WIDE void tac_f32x8_gather_rows(const float *base, int stride, const int32_t *index, int step, int count,
				    tac_f32x8 *out)
{
	for (int k = 0; k < count; k += 4) {
		const float *from[8];
		for (int i = 0; i < 8; i++)
			from[i] = base + (ptrdiff_t)stride * index[step * i] + k;
		tac_f32x8_gather4(from, &out[k]);
	}
}

#undef TAC_WIDE
#undef TAC_WIDE_BODIES

#ifdef __cplusplus
}
#endif

#endif
