// Bodies of base/simd/wide.h for AVX-512 (F, VL, DQ): 256-bit registers for the types of eight lanes, twice
// as many as in AVX2, 512-bit registers for those of the machine's width, and mask registers.
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

#define TAC_WIDE_LANES 16

typedef __m512 tac_f32w;
typedef __m512i tac_i32w;
typedef __mmask16 tac_m32w; // bit i is lane i

// clang-format off
TAC_WIDE tac_f32w tac_f32w_splat(float x) { return _mm512_set1_ps(x); }
TAC_WIDE tac_f32w tac_f32w_load(const float *p) { return _mm512_load_ps(p); }
TAC_WIDE tac_f32w tac_f32w_loadu(const float *p) { return _mm512_loadu_ps(p); }
TAC_WIDE void tac_f32w_store(float *p, tac_f32w v) { _mm512_store_ps(p, v); }
TAC_WIDE void tac_f32w_storeu(float *p, tac_f32w v) { _mm512_storeu_ps(p, v); }
TAC_WIDE tac_f32w tac_f32w_add(tac_f32w a, tac_f32w b) { return _mm512_add_ps(a, b); }
TAC_WIDE tac_f32w tac_f32w_sub(tac_f32w a, tac_f32w b) { return _mm512_sub_ps(a, b); }
TAC_WIDE tac_f32w tac_f32w_mul(tac_f32w a, tac_f32w b) { return _mm512_mul_ps(a, b); }
TAC_WIDE tac_f32w tac_f32w_div(tac_f32w a, tac_f32w b) { return _mm512_div_ps(a, b); }
TAC_WIDE tac_f32w tac_f32w_min(tac_f32w a, tac_f32w b) { return _mm512_min_ps(a, b); }
TAC_WIDE tac_f32w tac_f32w_max(tac_f32w a, tac_f32w b) { return _mm512_max_ps(a, b); }
TAC_WIDE tac_f32w tac_f32w_sqrt(tac_f32w v) { return _mm512_sqrt_ps(v); }
TAC_WIDE tac_f32w tac_f32w_abs(tac_f32w v) { return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), v); }
TAC_WIDE tac_f32w tac_f32w_neg(tac_f32w v) { return _mm512_xor_ps(_mm512_set1_ps(-0.0f), v); }
TAC_WIDE tac_m32w tac_f32w_lt(tac_f32w a, tac_f32w b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TAC_WIDE tac_m32w tac_f32w_le(tac_f32w a, tac_f32w b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
TAC_WIDE tac_f32w tac_f32w_select(tac_m32w m, tac_f32w a, tac_f32w b) { return _mm512_mask_blend_ps(m, b, a); }
TAC_WIDE tac_i32w tac_f32w_to_bits(tac_f32w v) { return _mm512_castps_si512(v); }

TAC_WIDE tac_i32w tac_i32w_splat(int32_t x) { return _mm512_set1_epi32(x); }
TAC_WIDE tac_i32w tac_i32w_loadu(const int32_t *p) { return _mm512_loadu_si512(p); }
TAC_WIDE void tac_i32w_storeu(int32_t *p, tac_i32w v) { _mm512_storeu_si512(p, v); }
TAC_WIDE tac_i32w tac_i32w_and(tac_i32w a, tac_i32w b) { return _mm512_and_si512(a, b); }
TAC_WIDE tac_i32w tac_i32w_or(tac_i32w a, tac_i32w b) { return _mm512_or_si512(a, b); }
TAC_WIDE tac_i32w tac_i32w_shl(tac_i32w v, int n) { return _mm512_slli_epi32(v, (unsigned)n); }
TAC_WIDE tac_i32w tac_i32w_shr(tac_i32w v, int n) { return _mm512_srli_epi32(v, (unsigned)n); }
TAC_WIDE tac_m32w tac_i32w_eq(tac_i32w a, tac_i32w b) { return _mm512_cmpeq_epi32_mask(a, b); }
TAC_WIDE tac_i32w tac_i32w_select(tac_m32w m, tac_i32w a, tac_i32w b) { return _mm512_mask_blend_epi32(m, b, a); }

TAC_WIDE tac_m32w tac_m32w_and(tac_m32w a, tac_m32w b) { return (tac_m32w)(a & b); }
TAC_WIDE tac_m32w tac_m32w_or(tac_m32w a, tac_m32w b) { return (tac_m32w)(a | b); }
TAC_WIDE tac_m32w tac_m32w_not(tac_m32w m) { return (tac_m32w)~m; }
TAC_WIDE unsigned tac_m32w_movemask(tac_m32w m) { return m; }
TAC_WIDE tac_m32w tac_m32w_from_bits(unsigned bits) { return (tac_m32w)bits; }

typedef tac_m32w tac_orderw;

TAC_WIDE tac_orderw tac_m32w_order(tac_m32w m) { return m; }
// The store is not masked: compressing to memory takes several times as long on some processors.
TAC_WIDE void tac_f32w_pack(float *to, tac_orderw order, tac_f32w v)
	{ _mm512_storeu_ps(to, _mm512_maskz_compress_ps(order, v)); }
// clang-format on

TAC_WIDE void tac_f32w_transpose4(const __m512 row[4], tac_f32w out[4])
{
	__m512 xy01 = _mm512_unpacklo_ps(row[0], row[1]), zw01 = _mm512_unpackhi_ps(row[0], row[1]);
	__m512 xy23 = _mm512_unpacklo_ps(row[2], row[3]), zw23 = _mm512_unpackhi_ps(row[2], row[3]);
	out[0] = _mm512_shuffle_ps(xy01, xy23, _MM_SHUFFLE(1, 0, 1, 0));
	out[1] = _mm512_shuffle_ps(xy01, xy23, _MM_SHUFFLE(3, 2, 3, 2));
	out[2] = _mm512_shuffle_ps(zw01, zw23, _MM_SHUFFLE(1, 0, 1, 0));
	out[3] = _mm512_shuffle_ps(zw01, zw23, _MM_SHUFFLE(3, 2, 3, 2));
}

// Masked loads need no port that shuffles. Each address is used up before the next ones are made: there are
// not enough registers for 16.
TAC_WIDE void tac_f32w_gather_rows(const float *base, int stride, const int32_t *index, int step, int count,
				   tac_f32w *out)
{
	__m512 row[4][4];
	for (int i = 0; i < 4; i++) {
		const float *from[4];
		for (int n = 0; n < 4; n++)
			from[n] = base + (ptrdiff_t)stride * index[step * (i + 4 * n)];
		for (int k = 0; k < count / 4; k++) {
			__m512 v = _mm512_castps128_ps512(_mm_loadu_ps(from[0] + 4 * k));
			v = _mm512_mask_broadcast_f32x4(v, 0x00F0, _mm_loadu_ps(from[1] + 4 * k));
			v = _mm512_mask_broadcast_f32x4(v, 0x0F00, _mm_loadu_ps(from[2] + 4 * k));
			row[k][i] = _mm512_mask_broadcast_f32x4(v, 0xF000, _mm_loadu_ps(from[3] + 4 * k));
		}
	}
	for (int k = 0; k < count / 4; k++)
		tac_f32w_transpose4(row[k], &out[4 * k]);
}
