// The common part of base/simd/wide_avx2.inl and base/simd/wide_avx512.inl: one 256-bit register per value.
// They add the masks, which are vectors in one and mask registers in the other.

typedef __m256 tac_f32x8;
typedef __m256d tac_f64x4;
typedef __m256i tac_i32x8;

// clang-format off
TAC_WIDE tac_f32x8 tac_f32x8_splat(float x) { return _mm256_set1_ps(x); }
TAC_WIDE tac_f32x8 tac_f32x8_load(const float *p) { return _mm256_load_ps(p); }
TAC_WIDE tac_f32x8 tac_f32x8_loadu(const float *p) { return _mm256_loadu_ps(p); }
TAC_WIDE void tac_f32x8_store(float *p, tac_f32x8 v) { _mm256_store_ps(p, v); }
TAC_WIDE void tac_f32x8_storeu(float *p, tac_f32x8 v) { _mm256_storeu_ps(p, v); }
TAC_WIDE tac_f32x8 tac_f32x8_add(tac_f32x8 a, tac_f32x8 b) { return _mm256_add_ps(a, b); }
TAC_WIDE tac_f32x8 tac_f32x8_sub(tac_f32x8 a, tac_f32x8 b) { return _mm256_sub_ps(a, b); }
TAC_WIDE tac_f32x8 tac_f32x8_mul(tac_f32x8 a, tac_f32x8 b) { return _mm256_mul_ps(a, b); }
TAC_WIDE tac_f32x8 tac_f32x8_div(tac_f32x8 a, tac_f32x8 b) { return _mm256_div_ps(a, b); }
TAC_WIDE tac_f32x8 tac_f32x8_min(tac_f32x8 a, tac_f32x8 b) { return _mm256_min_ps(a, b); }
TAC_WIDE tac_f32x8 tac_f32x8_max(tac_f32x8 a, tac_f32x8 b) { return _mm256_max_ps(a, b); }
TAC_WIDE tac_f32x8 tac_f32x8_sqrt(tac_f32x8 v) { return _mm256_sqrt_ps(v); }
TAC_WIDE tac_f32x8 tac_f32x8_abs(tac_f32x8 v) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v); }
TAC_WIDE tac_f32x8 tac_f32x8_neg(tac_f32x8 v) { return _mm256_xor_ps(_mm256_set1_ps(-0.0f), v); }

TAC_WIDE tac_f64x4 tac_f64x4_splat(double x) { return _mm256_set1_pd(x); }
TAC_WIDE tac_f64x4 tac_f64x4_load(const double *p) { return _mm256_load_pd(p); }
TAC_WIDE tac_f64x4 tac_f64x4_loadu(const double *p) { return _mm256_loadu_pd(p); }
TAC_WIDE void tac_f64x4_store(double *p, tac_f64x4 v) { _mm256_store_pd(p, v); }
TAC_WIDE void tac_f64x4_storeu(double *p, tac_f64x4 v) { _mm256_storeu_pd(p, v); }
TAC_WIDE tac_f64x4 tac_f64x4_add(tac_f64x4 a, tac_f64x4 b) { return _mm256_add_pd(a, b); }
TAC_WIDE tac_f64x4 tac_f64x4_sub(tac_f64x4 a, tac_f64x4 b) { return _mm256_sub_pd(a, b); }
TAC_WIDE tac_f64x4 tac_f64x4_mul(tac_f64x4 a, tac_f64x4 b) { return _mm256_mul_pd(a, b); }
TAC_WIDE tac_f64x4 tac_f64x4_div(tac_f64x4 a, tac_f64x4 b) { return _mm256_div_pd(a, b); }
TAC_WIDE tac_f64x4 tac_f64x4_min(tac_f64x4 a, tac_f64x4 b) { return _mm256_min_pd(a, b); }
TAC_WIDE tac_f64x4 tac_f64x4_max(tac_f64x4 a, tac_f64x4 b) { return _mm256_max_pd(a, b); }
TAC_WIDE tac_f64x4 tac_f64x4_sqrt(tac_f64x4 v) { return _mm256_sqrt_pd(v); }
TAC_WIDE tac_f64x4 tac_f64x4_abs(tac_f64x4 v) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), v); }
TAC_WIDE tac_f64x4 tac_f64x4_neg(tac_f64x4 v) { return _mm256_xor_pd(_mm256_set1_pd(-0.0), v); }

TAC_WIDE tac_i32x8 tac_i32x8_splat(int32_t x) { return _mm256_set1_epi32(x); }
TAC_WIDE tac_i32x8 tac_i32x8_load(const int32_t *p)
	{ return _mm256_load_si256((const __m256i *)(const void *)p); }
TAC_WIDE tac_i32x8 tac_i32x8_loadu(const int32_t *p)
	{ return _mm256_loadu_si256((const __m256i *)(const void *)p); }
TAC_WIDE void tac_i32x8_store(int32_t *p, tac_i32x8 v) { _mm256_store_si256((__m256i *)(void *)p, v); }
TAC_WIDE void tac_i32x8_storeu(int32_t *p, tac_i32x8 v) { _mm256_storeu_si256((__m256i *)(void *)p, v); }
TAC_WIDE tac_i32x8 tac_i32x8_add(tac_i32x8 a, tac_i32x8 b) { return _mm256_add_epi32(a, b); }
TAC_WIDE tac_i32x8 tac_i32x8_sub(tac_i32x8 a, tac_i32x8 b) { return _mm256_sub_epi32(a, b); }
TAC_WIDE tac_i32x8 tac_i32x8_min(tac_i32x8 a, tac_i32x8 b) { return _mm256_min_epi32(a, b); }
TAC_WIDE tac_i32x8 tac_i32x8_max(tac_i32x8 a, tac_i32x8 b) { return _mm256_max_epi32(a, b); }
TAC_WIDE tac_i32x8 tac_i32x8_and(tac_i32x8 a, tac_i32x8 b) { return _mm256_and_si256(a, b); }
TAC_WIDE tac_i32x8 tac_i32x8_or(tac_i32x8 a, tac_i32x8 b) { return _mm256_or_si256(a, b); }
TAC_WIDE tac_i32x8 tac_i32x8_xor(tac_i32x8 a, tac_i32x8 b) { return _mm256_xor_si256(a, b); }
TAC_WIDE tac_i32x8 tac_i32x8_andnot(tac_i32x8 a, tac_i32x8 b) { return _mm256_andnot_si256(b, a); }
TAC_WIDE tac_i32x8 tac_i32x8_shl(tac_i32x8 v, int n) { return _mm256_slli_epi32(v, n); }
TAC_WIDE tac_i32x8 tac_i32x8_shr(tac_i32x8 v, int n) { return _mm256_srli_epi32(v, n); }
TAC_WIDE tac_f32x8 tac_f32x8_from_i32(tac_i32x8 v) { return _mm256_cvtepi32_ps(v); }
TAC_WIDE tac_i32x8 tac_i32x8_from_f32(tac_f32x8 v) { return _mm256_cvttps_epi32(v); }
TAC_WIDE tac_f32x8 tac_f32x8_from_bits(tac_i32x8 v) { return _mm256_castsi256_ps(v); }
TAC_WIDE tac_i32x8 tac_f32x8_to_bits(tac_f32x8 v) { return _mm256_castps_si256(v); }
TAC_WIDE tac_f64x4 tac_f64x4_from_f32_low(tac_f32x8 v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
TAC_WIDE tac_f64x4 tac_f64x4_from_f32_high(tac_f32x8 v)
	{ return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }
TAC_WIDE tac_f32x8 tac_f32x8_gather(const float *base, tac_i32x8 index)
	{ return _mm256_i32gather_ps(base, index, 4); }
TAC_WIDE tac_i32x8 tac_i32x8_gather(const int32_t *base, tac_i32x8 index)
	{ return _mm256_i32gather_epi32(base, index, 4); }
TAC_WIDE tac_f32x8 tac_f32x8_permute(tac_f32x8 v, tac_i32x8 index) { return _mm256_permutevar8x32_ps(v, index); }
TAC_WIDE tac_i32x8 tac_i32x8_permute(tac_i32x8 v, tac_i32x8 index) { return _mm256_permutevar8x32_epi32(v, index); }
// clang-format on

#define TAC_WIDE_GATHER4
TAC_WIDE void tac_f32x8_gather4(const float *const from[8], tac_f32x8 out[4])
{
	__m256 row[4];
	for (int i = 0; i < 4; i++)
		row[i] = _mm256_set_m128(_mm_loadu_ps(from[i + 4]), _mm_loadu_ps(from[i]));
	__m256 xy01 = _mm256_unpacklo_ps(row[0], row[1]), zw01 = _mm256_unpackhi_ps(row[0], row[1]);
	__m256 xy23 = _mm256_unpacklo_ps(row[2], row[3]), zw23 = _mm256_unpackhi_ps(row[2], row[3]);
	out[0] = _mm256_shuffle_ps(xy01, xy23, _MM_SHUFFLE(1, 0, 1, 0));
	out[1] = _mm256_shuffle_ps(xy01, xy23, _MM_SHUFFLE(3, 2, 3, 2));
	out[2] = _mm256_shuffle_ps(zw01, zw23, _MM_SHUFFLE(1, 0, 1, 0));
	out[3] = _mm256_shuffle_ps(zw01, zw23, _MM_SHUFFLE(3, 2, 3, 2));
}

TAC_WIDE tac_f64x4 tac_f64x4_gather(const double *base, const int32_t *index)
{
	return _mm256_i32gather_pd(base, _mm_loadu_si128((const __m128i *)(const void *)index), 8);
}

TAC_WIDE tac_f32x8 tac_f32x8_from_f64(tac_f64x4 low, tac_f64x4 high)
{
	return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

TAC_WIDE float tac_f32x8_hmin(tac_f32x8 v)
{
	__m128 a = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
	__m128 b = _mm_min_ps(a, _mm_movehl_ps(a, a));
	return _mm_cvtss_f32(_mm_min_ss(b, _mm_shuffle_ps(b, b, 1)));
}

TAC_WIDE double tac_f64x4_hmin(tac_f64x4 v)
{
	__m128d a = _mm_min_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
	return _mm_cvtsd_f64(_mm_min_sd(a, _mm_unpackhi_pd(a, a)));
}

TAC_WIDE float tac_f32x8_hmax(tac_f32x8 v)
{
	__m128 a = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
	__m128 b = _mm_max_ps(a, _mm_movehl_ps(a, a));
	return _mm_cvtss_f32(_mm_max_ss(b, _mm_shuffle_ps(b, b, 1)));
}

TAC_WIDE double tac_f64x4_hmax(tac_f64x4 v)
{
	__m128d a = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
	return _mm_cvtsd_f64(_mm_max_sd(a, _mm_unpackhi_pd(a, a)));
}

TAC_WIDE float tac_f32x8_hsum(tac_f32x8 v)
{
	__m128 a = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
	__m128 b = _mm_add_ps(a, _mm_movehl_ps(a, a));
	return _mm_cvtss_f32(_mm_add_ss(b, _mm_shuffle_ps(b, b, 1)));
}

TAC_WIDE double tac_f64x4_hsum(tac_f64x4 v)
{
	__m128d a = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
	return _mm_cvtsd_f64(_mm_add_sd(a, _mm_unpackhi_pd(a, a)));
}
