// Bodies of base/simd/wide.h for SSE2: two 128-bit registers per value.
#define TAC_WIDE_NAME "sse2"

typedef __m128 tac_half_f32;
typedef __m128d tac_half_f64;
typedef __m128i tac_half_i32;
typedef __m128i tac_half_m32;
typedef __m128i tac_half_m64;

// clang-format off
TAC_WIDE tac_half_f32 tac_half_f32_splat(float x) { return _mm_set1_ps(x); }
TAC_WIDE tac_half_f32 tac_half_f32_load(const float *p) { return _mm_load_ps(p); }
TAC_WIDE tac_half_f32 tac_half_f32_loadu(const float *p) { return _mm_loadu_ps(p); }
TAC_WIDE void tac_half_f32_store(float *p, tac_half_f32 v) { _mm_store_ps(p, v); }
TAC_WIDE void tac_half_f32_storeu(float *p, tac_half_f32 v) { _mm_storeu_ps(p, v); }
TAC_WIDE tac_half_f32 tac_half_f32_add(tac_half_f32 a, tac_half_f32 b) { return _mm_add_ps(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_sub(tac_half_f32 a, tac_half_f32 b) { return _mm_sub_ps(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_mul(tac_half_f32 a, tac_half_f32 b) { return _mm_mul_ps(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_div(tac_half_f32 a, tac_half_f32 b) { return _mm_div_ps(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_min(tac_half_f32 a, tac_half_f32 b) { return _mm_min_ps(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_max(tac_half_f32 a, tac_half_f32 b) { return _mm_max_ps(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_sqrt(tac_half_f32 v) { return _mm_sqrt_ps(v); }
TAC_WIDE tac_half_f32 tac_half_f32_abs(tac_half_f32 v) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), v); }
TAC_WIDE tac_half_f32 tac_half_f32_neg(tac_half_f32 v) { return _mm_xor_ps(_mm_set1_ps(-0.0f), v); }
TAC_WIDE tac_half_m32 tac_half_f32_lt(tac_half_f32 a, tac_half_f32 b)
	{ return _mm_castps_si128(_mm_cmplt_ps(a, b)); }
TAC_WIDE tac_half_m32 tac_half_f32_le(tac_half_f32 a, tac_half_f32 b)
	{ return _mm_castps_si128(_mm_cmple_ps(a, b)); }
TAC_WIDE tac_half_m32 tac_half_f32_eq(tac_half_f32 a, tac_half_f32 b)
	{ return _mm_castps_si128(_mm_cmpeq_ps(a, b)); }

TAC_WIDE tac_half_f64 tac_half_f64_splat(double x) { return _mm_set1_pd(x); }
TAC_WIDE tac_half_f64 tac_half_f64_load(const double *p) { return _mm_load_pd(p); }
TAC_WIDE tac_half_f64 tac_half_f64_loadu(const double *p) { return _mm_loadu_pd(p); }
TAC_WIDE void tac_half_f64_store(double *p, tac_half_f64 v) { _mm_store_pd(p, v); }
TAC_WIDE void tac_half_f64_storeu(double *p, tac_half_f64 v) { _mm_storeu_pd(p, v); }
TAC_WIDE tac_half_f64 tac_half_f64_add(tac_half_f64 a, tac_half_f64 b) { return _mm_add_pd(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_sub(tac_half_f64 a, tac_half_f64 b) { return _mm_sub_pd(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_mul(tac_half_f64 a, tac_half_f64 b) { return _mm_mul_pd(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_div(tac_half_f64 a, tac_half_f64 b) { return _mm_div_pd(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_min(tac_half_f64 a, tac_half_f64 b) { return _mm_min_pd(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_max(tac_half_f64 a, tac_half_f64 b) { return _mm_max_pd(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_sqrt(tac_half_f64 v) { return _mm_sqrt_pd(v); }
TAC_WIDE tac_half_f64 tac_half_f64_abs(tac_half_f64 v) { return _mm_andnot_pd(_mm_set1_pd(-0.0), v); }
TAC_WIDE tac_half_f64 tac_half_f64_neg(tac_half_f64 v) { return _mm_xor_pd(_mm_set1_pd(-0.0), v); }
TAC_WIDE tac_half_m64 tac_half_f64_lt(tac_half_f64 a, tac_half_f64 b)
	{ return _mm_castpd_si128(_mm_cmplt_pd(a, b)); }
TAC_WIDE tac_half_m64 tac_half_f64_le(tac_half_f64 a, tac_half_f64 b)
	{ return _mm_castpd_si128(_mm_cmple_pd(a, b)); }
TAC_WIDE tac_half_m64 tac_half_f64_eq(tac_half_f64 a, tac_half_f64 b)
	{ return _mm_castpd_si128(_mm_cmpeq_pd(a, b)); }

TAC_WIDE tac_half_i32 tac_half_i32_splat(int32_t x) { return _mm_set1_epi32(x); }
TAC_WIDE tac_half_i32 tac_half_i32_load(const int32_t *p)
	{ return _mm_load_si128((const __m128i *)(const void *)p); }
TAC_WIDE tac_half_i32 tac_half_i32_loadu(const int32_t *p)
	{ return _mm_loadu_si128((const __m128i *)(const void *)p); }
TAC_WIDE void tac_half_i32_store(int32_t *p, tac_half_i32 v) { _mm_store_si128((__m128i *)(void *)p, v); }
TAC_WIDE void tac_half_i32_storeu(int32_t *p, tac_half_i32 v) { _mm_storeu_si128((__m128i *)(void *)p, v); }
TAC_WIDE tac_half_i32 tac_half_i32_add(tac_half_i32 a, tac_half_i32 b) { return _mm_add_epi32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_sub(tac_half_i32 a, tac_half_i32 b) { return _mm_sub_epi32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_and(tac_half_i32 a, tac_half_i32 b) { return _mm_and_si128(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_or(tac_half_i32 a, tac_half_i32 b) { return _mm_or_si128(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_xor(tac_half_i32 a, tac_half_i32 b) { return _mm_xor_si128(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_andnot(tac_half_i32 a, tac_half_i32 b) { return _mm_andnot_si128(b, a); }
TAC_WIDE tac_half_i32 tac_half_i32_shl(tac_half_i32 v, int n) { return _mm_slli_epi32(v, n); }
TAC_WIDE tac_half_i32 tac_half_i32_shr(tac_half_i32 v, int n) { return _mm_srli_epi32(v, n); }
TAC_WIDE tac_half_m32 tac_half_i32_lt(tac_half_i32 a, tac_half_i32 b) { return _mm_cmplt_epi32(a, b); }
TAC_WIDE tac_half_m32 tac_half_i32_eq(tac_half_i32 a, tac_half_i32 b) { return _mm_cmpeq_epi32(a, b); }

TAC_WIDE tac_half_m32 tac_half_m32_and(tac_half_m32 a, tac_half_m32 b) { return _mm_and_si128(a, b); }
TAC_WIDE tac_half_m32 tac_half_m32_or(tac_half_m32 a, tac_half_m32 b) { return _mm_or_si128(a, b); }
TAC_WIDE tac_half_m32 tac_half_m32_xor(tac_half_m32 a, tac_half_m32 b) { return _mm_xor_si128(a, b); }
TAC_WIDE tac_half_m32 tac_half_m32_andnot(tac_half_m32 a, tac_half_m32 b) { return _mm_andnot_si128(b, a); }
TAC_WIDE tac_half_m32 tac_half_m32_not(tac_half_m32 m) { return _mm_xor_si128(m, _mm_set1_epi32(-1)); }
TAC_WIDE unsigned tac_half_m32_movemask(tac_half_m32 m)
	{ return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(m)); }
TAC_WIDE tac_half_m64 tac_half_m64_and(tac_half_m64 a, tac_half_m64 b) { return _mm_and_si128(a, b); }
TAC_WIDE tac_half_m64 tac_half_m64_or(tac_half_m64 a, tac_half_m64 b) { return _mm_or_si128(a, b); }
TAC_WIDE tac_half_m64 tac_half_m64_xor(tac_half_m64 a, tac_half_m64 b) { return _mm_xor_si128(a, b); }
TAC_WIDE tac_half_m64 tac_half_m64_andnot(tac_half_m64 a, tac_half_m64 b) { return _mm_andnot_si128(b, a); }
TAC_WIDE tac_half_m64 tac_half_m64_not(tac_half_m64 m) { return _mm_xor_si128(m, _mm_set1_epi32(-1)); }
TAC_WIDE unsigned tac_half_m64_movemask(tac_half_m64 m)
	{ return (unsigned)_mm_movemask_pd(_mm_castsi128_pd(m)); }

TAC_WIDE tac_half_f32 tac_half_i32_to_f32(tac_half_i32 v) { return _mm_cvtepi32_ps(v); }
TAC_WIDE tac_half_i32 tac_half_f32_to_i32(tac_half_f32 v) { return _mm_cvttps_epi32(v); }
TAC_WIDE tac_half_f32 tac_half_i32_as_f32(tac_half_i32 v) { return _mm_castsi128_ps(v); }
TAC_WIDE tac_half_i32 tac_half_f32_as_i32(tac_half_f32 v) { return _mm_castps_si128(v); }
TAC_WIDE tac_half_f64 tac_half_f32_low_to_f64(tac_half_f32 v) { return _mm_cvtps_pd(v); }
TAC_WIDE tac_half_f64 tac_half_f32_high_to_f64(tac_half_f32 v) { return _mm_cvtps_pd(_mm_movehl_ps(v, v)); }
TAC_WIDE tac_half_f32 tac_half_f64_to_f32(tac_half_f64 low, tac_half_f64 high)
	{ return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high)); }
// clang-format on

// SSE2 has no blend: (m and a) or (b and not m).
TAC_WIDE tac_half_i32 tac_half_i32_select(tac_half_m32 m, tac_half_i32 a, tac_half_i32 b)
{
	return _mm_or_si128(_mm_and_si128(m, a), _mm_andnot_si128(m, b));
}

TAC_WIDE tac_half_f32 tac_half_f32_select(tac_half_m32 m, tac_half_f32 a, tac_half_f32 b)
{
	return _mm_castsi128_ps(tac_half_i32_select(m, _mm_castps_si128(a), _mm_castps_si128(b)));
}

TAC_WIDE tac_half_f64 tac_half_f64_select(tac_half_m64 m, tac_half_f64 a, tac_half_f64 b)
{
	return _mm_castsi128_pd(tac_half_i32_select(m, _mm_castpd_si128(a), _mm_castpd_si128(b)));
}

// SSE2 has no 32-bit minimum.
TAC_WIDE tac_half_i32 tac_half_i32_min(tac_half_i32 a, tac_half_i32 b)
{
	return tac_half_i32_select(_mm_cmplt_epi32(a, b), a, b);
}

TAC_WIDE tac_half_i32 tac_half_i32_max(tac_half_i32 a, tac_half_i32 b)
{
	return tac_half_i32_select(_mm_cmpgt_epi32(a, b), a, b);
}

TAC_WIDE tac_half_m32 tac_half_m32_from_bits(unsigned bits)
{
	__m128i lane = _mm_setr_epi32(1, 2, 4, 8);
	return _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)bits), lane), lane);
}

// SSE2 has no 64-bit comparison: each half of a lane tests the same bit.
TAC_WIDE tac_half_m64 tac_half_m64_from_bits(unsigned bits)
{
	__m128i lane = _mm_setr_epi32(1, 1, 2, 2);
	return _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)bits), lane), lane);
}

TAC_WIDE float tac_half_f32_hmin(tac_half_f32 v)
{
	__m128 a = _mm_min_ps(v, _mm_movehl_ps(v, v));
	return _mm_cvtss_f32(_mm_min_ss(a, _mm_shuffle_ps(a, a, 1)));
}

TAC_WIDE double tac_half_f64_hmin(tac_half_f64 v)
{
	return _mm_cvtsd_f64(_mm_min_sd(v, _mm_unpackhi_pd(v, v)));
}

TAC_WIDE float tac_half_f32_hmax(tac_half_f32 v)
{
	__m128 a = _mm_max_ps(v, _mm_movehl_ps(v, v));
	return _mm_cvtss_f32(_mm_max_ss(a, _mm_shuffle_ps(a, a, 1)));
}

TAC_WIDE double tac_half_f64_hmax(tac_half_f64 v)
{
	return _mm_cvtsd_f64(_mm_max_sd(v, _mm_unpackhi_pd(v, v)));
}

TAC_WIDE float tac_half_f32_hsum(tac_half_f32 v)
{
	__m128 a = _mm_add_ps(v, _mm_movehl_ps(v, v));
	return _mm_cvtss_f32(_mm_add_ss(a, _mm_shuffle_ps(a, a, 1)));
}

TAC_WIDE double tac_half_f64_hsum(tac_half_f64 v)
{
	return _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v)));
}

#include "base/simd/wide_pair.inl"
