// Bodies of base/simd/wide.h for NEON on 64-bit ARM: two 128-bit registers per value.
#define TAC_WIDE_NAME "neon"

typedef float32x4_t tac_half_f32;
typedef float64x2_t tac_half_f64;
typedef int32x4_t tac_half_i32;
typedef uint32x4_t tac_half_m32;
typedef uint64x2_t tac_half_m64;

// clang-format off
TAC_WIDE tac_half_f32 tac_half_f32_splat(float x) { return vdupq_n_f32(x); }
TAC_WIDE tac_half_f32 tac_half_f32_load(const float *p) { return vld1q_f32(p); }
TAC_WIDE tac_half_f32 tac_half_f32_loadu(const float *p) { return vld1q_f32(p); }
TAC_WIDE void tac_half_f32_store(float *p, tac_half_f32 v) { vst1q_f32(p, v); }
TAC_WIDE void tac_half_f32_storeu(float *p, tac_half_f32 v) { vst1q_f32(p, v); }
TAC_WIDE tac_half_f32 tac_half_f32_add(tac_half_f32 a, tac_half_f32 b) { return vaddq_f32(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_sub(tac_half_f32 a, tac_half_f32 b) { return vsubq_f32(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_mul(tac_half_f32 a, tac_half_f32 b) { return vmulq_f32(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_div(tac_half_f32 a, tac_half_f32 b) { return vdivq_f32(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_sqrt(tac_half_f32 v) { return vsqrtq_f32(v); }
TAC_WIDE tac_half_f32 tac_half_f32_abs(tac_half_f32 v) { return vabsq_f32(v); }
TAC_WIDE tac_half_f32 tac_half_f32_neg(tac_half_f32 v) { return vnegq_f32(v); }
TAC_WIDE tac_half_m32 tac_half_f32_lt(tac_half_f32 a, tac_half_f32 b) { return vcltq_f32(a, b); }
TAC_WIDE tac_half_m32 tac_half_f32_le(tac_half_f32 a, tac_half_f32 b) { return vcleq_f32(a, b); }
TAC_WIDE tac_half_m32 tac_half_f32_eq(tac_half_f32 a, tac_half_f32 b) { return vceqq_f32(a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_select(tac_half_m32 m, tac_half_f32 a, tac_half_f32 b)
	{ return vbslq_f32(m, a, b); }
// vminq and vmaxq return NaN where an operand is NaN and order the zeros, unlike the rule of base/simd/wide.h.
TAC_WIDE tac_half_f32 tac_half_f32_min(tac_half_f32 a, tac_half_f32 b)
	{ return vbslq_f32(vcltq_f32(a, b), a, b); }
TAC_WIDE tac_half_f32 tac_half_f32_max(tac_half_f32 a, tac_half_f32 b)
	{ return vbslq_f32(vcgtq_f32(a, b), a, b); }

TAC_WIDE tac_half_f64 tac_half_f64_splat(double x) { return vdupq_n_f64(x); }
TAC_WIDE tac_half_f64 tac_half_f64_load(const double *p) { return vld1q_f64(p); }
TAC_WIDE tac_half_f64 tac_half_f64_loadu(const double *p) { return vld1q_f64(p); }
TAC_WIDE void tac_half_f64_store(double *p, tac_half_f64 v) { vst1q_f64(p, v); }
TAC_WIDE void tac_half_f64_storeu(double *p, tac_half_f64 v) { vst1q_f64(p, v); }
TAC_WIDE tac_half_f64 tac_half_f64_add(tac_half_f64 a, tac_half_f64 b) { return vaddq_f64(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_sub(tac_half_f64 a, tac_half_f64 b) { return vsubq_f64(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_mul(tac_half_f64 a, tac_half_f64 b) { return vmulq_f64(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_div(tac_half_f64 a, tac_half_f64 b) { return vdivq_f64(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_sqrt(tac_half_f64 v) { return vsqrtq_f64(v); }
TAC_WIDE tac_half_f64 tac_half_f64_abs(tac_half_f64 v) { return vabsq_f64(v); }
TAC_WIDE tac_half_f64 tac_half_f64_neg(tac_half_f64 v) { return vnegq_f64(v); }
TAC_WIDE tac_half_m64 tac_half_f64_lt(tac_half_f64 a, tac_half_f64 b) { return vcltq_f64(a, b); }
TAC_WIDE tac_half_m64 tac_half_f64_le(tac_half_f64 a, tac_half_f64 b) { return vcleq_f64(a, b); }
TAC_WIDE tac_half_m64 tac_half_f64_eq(tac_half_f64 a, tac_half_f64 b) { return vceqq_f64(a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_select(tac_half_m64 m, tac_half_f64 a, tac_half_f64 b)
	{ return vbslq_f64(m, a, b); }
// vminq and vmaxq return NaN where an operand is NaN and order the zeros, unlike the rule of base/simd/wide.h.
TAC_WIDE tac_half_f64 tac_half_f64_min(tac_half_f64 a, tac_half_f64 b)
	{ return vbslq_f64(vcltq_f64(a, b), a, b); }
TAC_WIDE tac_half_f64 tac_half_f64_max(tac_half_f64 a, tac_half_f64 b)
	{ return vbslq_f64(vcgtq_f64(a, b), a, b); }

TAC_WIDE tac_half_i32 tac_half_i32_splat(int32_t x) { return vdupq_n_s32(x); }
TAC_WIDE tac_half_i32 tac_half_i32_load(const int32_t *p) { return vld1q_s32(p); }
TAC_WIDE tac_half_i32 tac_half_i32_loadu(const int32_t *p) { return vld1q_s32(p); }
TAC_WIDE void tac_half_i32_store(int32_t *p, tac_half_i32 v) { vst1q_s32(p, v); }
TAC_WIDE void tac_half_i32_storeu(int32_t *p, tac_half_i32 v) { vst1q_s32(p, v); }
TAC_WIDE tac_half_i32 tac_half_i32_add(tac_half_i32 a, tac_half_i32 b) { return vaddq_s32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_sub(tac_half_i32 a, tac_half_i32 b) { return vsubq_s32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_min(tac_half_i32 a, tac_half_i32 b) { return vminq_s32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_max(tac_half_i32 a, tac_half_i32 b) { return vmaxq_s32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_and(tac_half_i32 a, tac_half_i32 b) { return vandq_s32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_xor(tac_half_i32 a, tac_half_i32 b) { return veorq_s32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_or(tac_half_i32 a, tac_half_i32 b) { return vorrq_s32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_andnot(tac_half_i32 a, tac_half_i32 b) { return vbicq_s32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_shl(tac_half_i32 v, int n) { return vshlq_s32(v, vdupq_n_s32(n)); }
TAC_WIDE tac_half_m32 tac_half_i32_lt(tac_half_i32 a, tac_half_i32 b) { return vcltq_s32(a, b); }
TAC_WIDE tac_half_m32 tac_half_i32_eq(tac_half_i32 a, tac_half_i32 b) { return vceqq_s32(a, b); }
TAC_WIDE tac_half_i32 tac_half_i32_select(tac_half_m32 m, tac_half_i32 a, tac_half_i32 b)
	{ return vbslq_s32(m, a, b); }

TAC_WIDE tac_half_m32 tac_half_m32_and(tac_half_m32 a, tac_half_m32 b) { return vandq_u32(a, b); }
TAC_WIDE tac_half_m32 tac_half_m32_or(tac_half_m32 a, tac_half_m32 b) { return vorrq_u32(a, b); }
TAC_WIDE tac_half_m32 tac_half_m32_xor(tac_half_m32 a, tac_half_m32 b) { return veorq_u32(a, b); }
TAC_WIDE tac_half_m32 tac_half_m32_andnot(tac_half_m32 a, tac_half_m32 b) { return vbicq_u32(a, b); }
TAC_WIDE tac_half_m32 tac_half_m32_not(tac_half_m32 m) { return veorq_u32(m, vdupq_n_u32(~(uint32_t)0)); }
TAC_WIDE tac_half_m64 tac_half_m64_and(tac_half_m64 a, tac_half_m64 b) { return vandq_u64(a, b); }
TAC_WIDE tac_half_m64 tac_half_m64_or(tac_half_m64 a, tac_half_m64 b) { return vorrq_u64(a, b); }
TAC_WIDE tac_half_m64 tac_half_m64_xor(tac_half_m64 a, tac_half_m64 b) { return veorq_u64(a, b); }
TAC_WIDE tac_half_m64 tac_half_m64_andnot(tac_half_m64 a, tac_half_m64 b) { return vbicq_u64(a, b); }
TAC_WIDE tac_half_m64 tac_half_m64_not(tac_half_m64 m) { return veorq_u64(m, vdupq_n_u64(~(uint64_t)0)); }

TAC_WIDE tac_half_f32 tac_half_i32_to_f32(tac_half_i32 v) { return vcvtq_f32_s32(v); }
TAC_WIDE tac_half_f32 tac_half_i32_as_f32(tac_half_i32 v) { return vreinterpretq_f32_s32(v); }
TAC_WIDE tac_half_i32 tac_half_f32_as_i32(tac_half_f32 v) { return vreinterpretq_s32_f32(v); }
TAC_WIDE tac_half_f64 tac_half_f32_low_to_f64(tac_half_f32 v) { return vcvt_f64_f32(vget_low_f32(v)); }
TAC_WIDE tac_half_f64 tac_half_f32_high_to_f64(tac_half_f32 v) { return vcvt_high_f64_f32(v); }
TAC_WIDE tac_half_f32 tac_half_f64_to_f32(tac_half_f64 low, tac_half_f64 high)
	{ return vcvt_high_f32_f64(vcvt_f32_f64(low), high); }
// clang-format on

TAC_WIDE tac_half_i32 tac_half_i32_shr(tac_half_i32 v, int n)
{
	return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(v), vdupq_n_s32(-n)));
}

// The instruction saturates and converts NaN to 0, unlike the rule of base/simd/wide.h.
TAC_WIDE tac_half_i32 tac_half_f32_to_i32(tac_half_f32 v)
{
	uint32x4_t fits = vandq_u32(vcgeq_f32(v, vdupq_n_f32(-0x1p31f)), vcltq_f32(v, vdupq_n_f32(0x1p31f)));
	return vbslq_s32(fits, vcvtq_s32_f32(v), vdupq_n_s32(INT32_MIN));
}

TAC_WIDE unsigned tac_half_m32_movemask(tac_half_m32 m)
{
	const uint32_t lane[4] = {1, 2, 4, 8};
	return vaddvq_u32(vandq_u32(m, vld1q_u32(lane)));
}

TAC_WIDE unsigned tac_half_m64_movemask(tac_half_m64 m)
{
	const uint64_t lane[2] = {1, 2};
	return (unsigned)vaddvq_u64(vandq_u64(m, vld1q_u64(lane)));
}

TAC_WIDE tac_half_m32 tac_half_m32_from_bits(unsigned bits)
{
	const uint32_t lane[4] = {1, 2, 4, 8};
	return vtstq_u32(vdupq_n_u32(bits), vld1q_u32(lane));
}

TAC_WIDE tac_half_m64 tac_half_m64_from_bits(unsigned bits)
{
	const uint64_t lane[2] = {1, 2};
	return vtstq_u64(vdupq_n_u64(bits), vld1q_u64(lane));
}

TAC_WIDE float tac_half_f32_hmin(tac_half_f32 v)
{
	float32x4_t a = tac_half_f32_min(v, vextq_f32(v, v, 2));
	return vgetq_lane_f32(tac_half_f32_min(a, vextq_f32(a, a, 1)), 0);
}

TAC_WIDE double tac_half_f64_hmin(tac_half_f64 v)
{
	return vgetq_lane_f64(tac_half_f64_min(v, vextq_f64(v, v, 1)), 0);
}

TAC_WIDE float tac_half_f32_hmax(tac_half_f32 v)
{
	float32x4_t a = tac_half_f32_max(v, vextq_f32(v, v, 2));
	return vgetq_lane_f32(tac_half_f32_max(a, vextq_f32(a, a, 1)), 0);
}

TAC_WIDE double tac_half_f64_hmax(tac_half_f64 v)
{
	return vgetq_lane_f64(tac_half_f64_max(v, vextq_f64(v, v, 1)), 0);
}

TAC_WIDE float tac_half_f32_hsum(tac_half_f32 v)
{
	float32x4_t a = tac_half_f32_add(v, vextq_f32(v, v, 2));
	return vgetq_lane_f32(tac_half_f32_add(a, vextq_f32(a, a, 1)), 0);
}

TAC_WIDE double tac_half_f64_hsum(tac_half_f64 v)
{
	return vgetq_lane_f64(tac_half_f64_add(v, vextq_f64(v, v, 1)), 0);
}

#include "base/simd/wide_pair.inl"
