// Bodies of base/simd/wide.h for AVX-512 (F, VL, DQ): 256-bit registers, twice as many as in AVX2, and mask
// registers. 512-bit registers would gain nothing: nodes have eight children.
#define TAC_WIDE_NAME "avx512"

#include "base/simd/wide_256.inl"

typedef __mmask8 tac_m32x8; // bit i is lane i
typedef struct tac_m64x4 {
	__mmask8 bits; // the upper four are unused
} tac_m64x4;

// clang-format off
TAC_WIDE tac_m64x4 tac_mask_64(unsigned bits) { tac_m64x4 m = {(__mmask8)bits}; return m; }

TAC_WIDE tac_m32x8 tac_f32x8_lt(tac_f32x8 a, tac_f32x8 b) { return _mm256_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TAC_WIDE tac_m32x8 tac_f32x8_le(tac_f32x8 a, tac_f32x8 b) { return _mm256_cmp_ps_mask(a, b, _CMP_LE_OQ); }
TAC_WIDE tac_m32x8 tac_f32x8_eq(tac_f32x8 a, tac_f32x8 b) { return _mm256_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
TAC_WIDE tac_m64x4 tac_f64x4_lt(tac_f64x4 a, tac_f64x4 b)
	{ return tac_mask_64(_mm256_cmp_pd_mask(a, b, _CMP_LT_OQ)); }
TAC_WIDE tac_m64x4 tac_f64x4_le(tac_f64x4 a, tac_f64x4 b)
	{ return tac_mask_64(_mm256_cmp_pd_mask(a, b, _CMP_LE_OQ)); }
TAC_WIDE tac_m64x4 tac_f64x4_eq(tac_f64x4 a, tac_f64x4 b)
	{ return tac_mask_64(_mm256_cmp_pd_mask(a, b, _CMP_EQ_OQ)); }
TAC_WIDE tac_m32x8 tac_i32x8_lt(tac_i32x8 a, tac_i32x8 b) { return _mm256_cmplt_epi32_mask(a, b); }
TAC_WIDE tac_m32x8 tac_i32x8_eq(tac_i32x8 a, tac_i32x8 b) { return _mm256_cmpeq_epi32_mask(a, b); }

TAC_WIDE tac_m32x8 tac_m32x8_and(tac_m32x8 a, tac_m32x8 b) { return (tac_m32x8)(a & b); }
TAC_WIDE tac_m32x8 tac_m32x8_or(tac_m32x8 a, tac_m32x8 b) { return (tac_m32x8)(a | b); }
TAC_WIDE tac_m32x8 tac_m32x8_xor(tac_m32x8 a, tac_m32x8 b) { return (tac_m32x8)(a ^ b); }
TAC_WIDE tac_m32x8 tac_m32x8_andnot(tac_m32x8 a, tac_m32x8 b) { return (tac_m32x8)(a & ~b); }
TAC_WIDE tac_m32x8 tac_m32x8_not(tac_m32x8 m) { return (tac_m32x8)~m; }
TAC_WIDE unsigned tac_m32x8_movemask(tac_m32x8 m) { return m; }
TAC_WIDE tac_m32x8 tac_m32x8_from_bits(unsigned bits) { return (tac_m32x8)bits; }
TAC_WIDE tac_m64x4 tac_m64x4_and(tac_m64x4 a, tac_m64x4 b) { return tac_mask_64(a.bits & b.bits); }
TAC_WIDE tac_m64x4 tac_m64x4_or(tac_m64x4 a, tac_m64x4 b) { return tac_mask_64(a.bits | b.bits); }
TAC_WIDE tac_m64x4 tac_m64x4_xor(tac_m64x4 a, tac_m64x4 b) { return tac_mask_64(a.bits ^ b.bits); }
TAC_WIDE tac_m64x4 tac_m64x4_andnot(tac_m64x4 a, tac_m64x4 b) { return tac_mask_64(a.bits & ~(unsigned)b.bits); }
TAC_WIDE tac_m64x4 tac_m64x4_not(tac_m64x4 m) { return tac_mask_64(~(unsigned)m.bits & 0xF); }
TAC_WIDE unsigned tac_m64x4_movemask(tac_m64x4 m) { return m.bits; }
TAC_WIDE tac_m64x4 tac_m64x4_from_bits(unsigned bits) { return tac_mask_64(bits & 0xF); }

TAC_WIDE tac_f32x8 tac_f32x8_select(tac_m32x8 m, tac_f32x8 a, tac_f32x8 b) { return _mm256_mask_blend_ps(m, b, a); }
TAC_WIDE tac_f64x4 tac_f64x4_select(tac_m64x4 m, tac_f64x4 a, tac_f64x4 b)
	{ return _mm256_mask_blend_pd(m.bits, b, a); }
TAC_WIDE tac_i32x8 tac_i32x8_select(tac_m32x8 m, tac_i32x8 a, tac_i32x8 b)
	{ return _mm256_mask_blend_epi32(m, b, a); }
// clang-format on

#define TAC_WIDE_COMPRESS
TAC_WIDE tac_i32x8 tac_i32x8_compress(tac_i32x8 v, unsigned bits)
{
	return _mm256_maskz_compress_epi32((__mmask8)bits, v);
}

// Two registers form one table of 16; the third supplies the lanes whose index has bit 4.
TAC_WIDE tac_f32x8 tac_f32x8_gather24(const float *base, tac_i32x8 index)
{
	__m256 low = _mm256_permutex2var_ps(_mm256_load_ps(base), index, _mm256_load_ps(base + 8));
	__mmask8 above = _mm256_test_epi32_mask(index, _mm256_set1_epi32(16));
	return _mm256_mask_permutexvar_ps(low, above, index, _mm256_load_ps(base + 16));
}
