// Bodies of base/simd/wide.h for AVX2: masks are vectors, each lane all ones or all zeros.
#define TAC_WIDE_NAME "avx2"

#include "base/simd/wide_256.inl"

typedef __m256i tac_m32x8;
typedef __m256i tac_m64x4;

// clang-format off
TAC_WIDE tac_m32x8 tac_f32x8_lt(tac_f32x8 a, tac_f32x8 b)
	{ return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
TAC_WIDE tac_m32x8 tac_f32x8_le(tac_f32x8 a, tac_f32x8 b)
	{ return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LE_OQ)); }
TAC_WIDE tac_m32x8 tac_f32x8_eq(tac_f32x8 a, tac_f32x8 b)
	{ return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)); }
TAC_WIDE tac_m64x4 tac_f64x4_lt(tac_f64x4 a, tac_f64x4 b)
	{ return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_LT_OQ)); }
TAC_WIDE tac_m64x4 tac_f64x4_le(tac_f64x4 a, tac_f64x4 b)
	{ return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_LE_OQ)); }
TAC_WIDE tac_m64x4 tac_f64x4_eq(tac_f64x4 a, tac_f64x4 b)
	{ return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)); }
TAC_WIDE tac_m32x8 tac_i32x8_lt(tac_i32x8 a, tac_i32x8 b) { return _mm256_cmpgt_epi32(b, a); }
TAC_WIDE tac_m32x8 tac_i32x8_eq(tac_i32x8 a, tac_i32x8 b) { return _mm256_cmpeq_epi32(a, b); }

TAC_WIDE tac_m32x8 tac_m32x8_and(tac_m32x8 a, tac_m32x8 b) { return _mm256_and_si256(a, b); }
TAC_WIDE tac_m32x8 tac_m32x8_or(tac_m32x8 a, tac_m32x8 b) { return _mm256_or_si256(a, b); }
TAC_WIDE tac_m32x8 tac_m32x8_xor(tac_m32x8 a, tac_m32x8 b) { return _mm256_xor_si256(a, b); }
TAC_WIDE tac_m32x8 tac_m32x8_andnot(tac_m32x8 a, tac_m32x8 b) { return _mm256_andnot_si256(b, a); }
TAC_WIDE tac_m32x8 tac_m32x8_not(tac_m32x8 m) { return _mm256_xor_si256(m, _mm256_set1_epi32(-1)); }
TAC_WIDE unsigned tac_m32x8_movemask(tac_m32x8 m)
	{ return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(m)); }
TAC_WIDE tac_m64x4 tac_m64x4_and(tac_m64x4 a, tac_m64x4 b) { return _mm256_and_si256(a, b); }
TAC_WIDE tac_m64x4 tac_m64x4_or(tac_m64x4 a, tac_m64x4 b) { return _mm256_or_si256(a, b); }
TAC_WIDE tac_m64x4 tac_m64x4_xor(tac_m64x4 a, tac_m64x4 b) { return _mm256_xor_si256(a, b); }
TAC_WIDE tac_m64x4 tac_m64x4_andnot(tac_m64x4 a, tac_m64x4 b) { return _mm256_andnot_si256(b, a); }
TAC_WIDE tac_m64x4 tac_m64x4_not(tac_m64x4 m) { return _mm256_xor_si256(m, _mm256_set1_epi32(-1)); }
TAC_WIDE unsigned tac_m64x4_movemask(tac_m64x4 m)
	{ return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(m)); }

TAC_WIDE tac_f32x8 tac_f32x8_select(tac_m32x8 m, tac_f32x8 a, tac_f32x8 b)
	{ return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(m)); }
TAC_WIDE tac_f64x4 tac_f64x4_select(tac_m64x4 m, tac_f64x4 a, tac_f64x4 b)
	{ return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(m)); }
TAC_WIDE tac_i32x8 tac_i32x8_select(tac_m32x8 m, tac_i32x8 a, tac_i32x8 b)
	{ return _mm256_blendv_epi8(b, a, m); }
// clang-format on

// A permute reads the low three bits of the index; a blend reads its sign bit, so bits 3 and 4 are shifted
// there.
TAC_WIDE tac_f32x8 tac_f32x8_gather24(const float *base, tac_i32x8 index)
{
	__m256 a = _mm256_permutevar8x32_ps(_mm256_load_ps(base), index);
	__m256 b = _mm256_permutevar8x32_ps(_mm256_load_ps(base + 8), index);
	__m256 c = _mm256_permutevar8x32_ps(_mm256_load_ps(base + 16), index);
	a = _mm256_blendv_ps(a, b, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
	return _mm256_blendv_ps(a, c, _mm256_castsi256_ps(_mm256_slli_epi32(index, 27)));
}

TAC_WIDE tac_m32x8 tac_m32x8_from_bits(unsigned bits)
{
	__m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
	return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), lane), lane);
}

TAC_WIDE tac_m64x4 tac_m64x4_from_bits(unsigned bits)
{
	__m256i lane = _mm256_setr_epi64x(1, 2, 4, 8);
	return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x((int)bits), lane), lane);
}

#define TAC_WIDE_PACK
typedef __m256i tac_orderw; // the lanes that are chosen, and then any

TAC_WIDE tac_orderw tac_m32w_order(tac_m32x8 m)
{
	unsigned bits = tac_m32x8_movemask(m);
	int32_t lanes[8] = {0};
	for (int i = 0, n = 0; i < 8; i++) {
		lanes[n] = i;
		n += (int)(bits >> i & 1);
	}
	return tac_i32x8_loadu(lanes);
}

TAC_WIDE void tac_f32w_pack(float *to, tac_orderw order, tac_f32x8 v)
{
	tac_f32x8_storeu(to, tac_f32x8_permute(v, order));
}
