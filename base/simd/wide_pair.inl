// The common part of base/simd/wide_sse2.inl and base/simd/wide_neon.inl: a value is two 128-bit halves, and
// each operation applies tac_half_… to both.

typedef struct tac_f32x8 {
	tac_half_f32 low, high;
} tac_f32x8;

typedef struct tac_f64x4 {
	tac_half_f64 low, high;
} tac_f64x4;

typedef struct tac_i32x8 {
	tac_half_i32 low, high;
} tac_i32x8;

typedef struct tac_m32x8 {
	tac_half_m32 low, high; // each lane all ones or all zeros
} tac_m32x8;

typedef struct tac_m64x4 {
	tac_half_m64 low, high;
} tac_m64x4;

// clang-format off
TAC_WIDE tac_f32x8 tac_pair_f32(tac_half_f32 low, tac_half_f32 high) { tac_f32x8 r = {low, high}; return r; }
TAC_WIDE tac_f64x4 tac_pair_f64(tac_half_f64 low, tac_half_f64 high) { tac_f64x4 r = {low, high}; return r; }
TAC_WIDE tac_i32x8 tac_pair_i32(tac_half_i32 low, tac_half_i32 high) { tac_i32x8 r = {low, high}; return r; }
TAC_WIDE tac_m32x8 tac_pair_m32(tac_half_m32 low, tac_half_m32 high) { tac_m32x8 r = {low, high}; return r; }
TAC_WIDE tac_m64x4 tac_pair_m64(tac_half_m64 low, tac_half_m64 high) { tac_m64x4 r = {low, high}; return r; }

TAC_WIDE tac_f32x8 tac_f32x8_splat(float x)
	{ return tac_pair_f32(tac_half_f32_splat(x), tac_half_f32_splat(x)); }
TAC_WIDE tac_f32x8 tac_f32x8_load(const float *p)
	{ return tac_pair_f32(tac_half_f32_load(p), tac_half_f32_load(p + 4)); }
TAC_WIDE tac_f32x8 tac_f32x8_loadu(const float *p)
	{ return tac_pair_f32(tac_half_f32_loadu(p), tac_half_f32_loadu(p + 4)); }
TAC_WIDE void tac_f32x8_store(float *p, tac_f32x8 v)
	{ tac_half_f32_store(p, v.low); tac_half_f32_store(p + 4, v.high); }
TAC_WIDE void tac_f32x8_storeu(float *p, tac_f32x8 v)
	{ tac_half_f32_storeu(p, v.low); tac_half_f32_storeu(p + 4, v.high); }
TAC_WIDE tac_f32x8 tac_f32x8_sqrt(tac_f32x8 v)
	{ return tac_pair_f32(tac_half_f32_sqrt(v.low), tac_half_f32_sqrt(v.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_abs(tac_f32x8 v)
	{ return tac_pair_f32(tac_half_f32_abs(v.low), tac_half_f32_abs(v.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_neg(tac_f32x8 v)
	{ return tac_pair_f32(tac_half_f32_neg(v.low), tac_half_f32_neg(v.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_add(tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_f32(tac_half_f32_add(a.low, b.low), tac_half_f32_add(a.high, b.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_sub(tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_f32(tac_half_f32_sub(a.low, b.low), tac_half_f32_sub(a.high, b.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_mul(tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_f32(tac_half_f32_mul(a.low, b.low), tac_half_f32_mul(a.high, b.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_div(tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_f32(tac_half_f32_div(a.low, b.low), tac_half_f32_div(a.high, b.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_min(tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_f32(tac_half_f32_min(a.low, b.low), tac_half_f32_min(a.high, b.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_max(tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_f32(tac_half_f32_max(a.low, b.low), tac_half_f32_max(a.high, b.high)); }
TAC_WIDE tac_m32x8 tac_f32x8_lt(tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_m32(tac_half_f32_lt(a.low, b.low), tac_half_f32_lt(a.high, b.high)); }
TAC_WIDE tac_m32x8 tac_f32x8_le(tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_m32(tac_half_f32_le(a.low, b.low), tac_half_f32_le(a.high, b.high)); }
TAC_WIDE tac_m32x8 tac_f32x8_eq(tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_m32(tac_half_f32_eq(a.low, b.low), tac_half_f32_eq(a.high, b.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_select(tac_m32x8 m, tac_f32x8 a, tac_f32x8 b)
	{ return tac_pair_f32(tac_half_f32_select(m.low, a.low, b.low),
			      tac_half_f32_select(m.high, a.high, b.high)); }

TAC_WIDE tac_f64x4 tac_f64x4_splat(double x)
	{ return tac_pair_f64(tac_half_f64_splat(x), tac_half_f64_splat(x)); }
TAC_WIDE tac_f64x4 tac_f64x4_load(const double *p)
	{ return tac_pair_f64(tac_half_f64_load(p), tac_half_f64_load(p + 2)); }
TAC_WIDE tac_f64x4 tac_f64x4_loadu(const double *p)
	{ return tac_pair_f64(tac_half_f64_loadu(p), tac_half_f64_loadu(p + 2)); }
TAC_WIDE void tac_f64x4_store(double *p, tac_f64x4 v)
	{ tac_half_f64_store(p, v.low); tac_half_f64_store(p + 2, v.high); }
TAC_WIDE void tac_f64x4_storeu(double *p, tac_f64x4 v)
	{ tac_half_f64_storeu(p, v.low); tac_half_f64_storeu(p + 2, v.high); }
TAC_WIDE tac_f64x4 tac_f64x4_sqrt(tac_f64x4 v)
	{ return tac_pair_f64(tac_half_f64_sqrt(v.low), tac_half_f64_sqrt(v.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_abs(tac_f64x4 v)
	{ return tac_pair_f64(tac_half_f64_abs(v.low), tac_half_f64_abs(v.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_neg(tac_f64x4 v)
	{ return tac_pair_f64(tac_half_f64_neg(v.low), tac_half_f64_neg(v.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_add(tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_f64(tac_half_f64_add(a.low, b.low), tac_half_f64_add(a.high, b.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_sub(tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_f64(tac_half_f64_sub(a.low, b.low), tac_half_f64_sub(a.high, b.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_mul(tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_f64(tac_half_f64_mul(a.low, b.low), tac_half_f64_mul(a.high, b.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_div(tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_f64(tac_half_f64_div(a.low, b.low), tac_half_f64_div(a.high, b.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_min(tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_f64(tac_half_f64_min(a.low, b.low), tac_half_f64_min(a.high, b.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_max(tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_f64(tac_half_f64_max(a.low, b.low), tac_half_f64_max(a.high, b.high)); }
TAC_WIDE tac_m64x4 tac_f64x4_lt(tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_m64(tac_half_f64_lt(a.low, b.low), tac_half_f64_lt(a.high, b.high)); }
TAC_WIDE tac_m64x4 tac_f64x4_le(tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_m64(tac_half_f64_le(a.low, b.low), tac_half_f64_le(a.high, b.high)); }
TAC_WIDE tac_m64x4 tac_f64x4_eq(tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_m64(tac_half_f64_eq(a.low, b.low), tac_half_f64_eq(a.high, b.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_select(tac_m64x4 m, tac_f64x4 a, tac_f64x4 b)
	{ return tac_pair_f64(tac_half_f64_select(m.low, a.low, b.low),
			      tac_half_f64_select(m.high, a.high, b.high)); }

TAC_WIDE tac_i32x8 tac_i32x8_splat(int32_t x)
	{ return tac_pair_i32(tac_half_i32_splat(x), tac_half_i32_splat(x)); }
TAC_WIDE tac_i32x8 tac_i32x8_load(const int32_t *p)
	{ return tac_pair_i32(tac_half_i32_load(p), tac_half_i32_load(p + 4)); }
TAC_WIDE tac_i32x8 tac_i32x8_loadu(const int32_t *p)
	{ return tac_pair_i32(tac_half_i32_loadu(p), tac_half_i32_loadu(p + 4)); }
TAC_WIDE void tac_i32x8_store(int32_t *p, tac_i32x8 v)
	{ tac_half_i32_store(p, v.low); tac_half_i32_store(p + 4, v.high); }
TAC_WIDE void tac_i32x8_storeu(int32_t *p, tac_i32x8 v)
	{ tac_half_i32_storeu(p, v.low); tac_half_i32_storeu(p + 4, v.high); }
TAC_WIDE tac_i32x8 tac_i32x8_shl(tac_i32x8 v, int n)
	{ return tac_pair_i32(tac_half_i32_shl(v.low, n), tac_half_i32_shl(v.high, n)); }
TAC_WIDE tac_i32x8 tac_i32x8_shr(tac_i32x8 v, int n)
	{ return tac_pair_i32(tac_half_i32_shr(v.low, n), tac_half_i32_shr(v.high, n)); }
TAC_WIDE tac_i32x8 tac_i32x8_add(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_i32(tac_half_i32_add(a.low, b.low), tac_half_i32_add(a.high, b.high)); }
TAC_WIDE tac_i32x8 tac_i32x8_sub(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_i32(tac_half_i32_sub(a.low, b.low), tac_half_i32_sub(a.high, b.high)); }
TAC_WIDE tac_i32x8 tac_i32x8_min(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_i32(tac_half_i32_min(a.low, b.low), tac_half_i32_min(a.high, b.high)); }
TAC_WIDE tac_i32x8 tac_i32x8_max(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_i32(tac_half_i32_max(a.low, b.low), tac_half_i32_max(a.high, b.high)); }
TAC_WIDE tac_i32x8 tac_i32x8_and(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_i32(tac_half_i32_and(a.low, b.low), tac_half_i32_and(a.high, b.high)); }
TAC_WIDE tac_i32x8 tac_i32x8_or(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_i32(tac_half_i32_or(a.low, b.low), tac_half_i32_or(a.high, b.high)); }
TAC_WIDE tac_i32x8 tac_i32x8_xor(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_i32(tac_half_i32_xor(a.low, b.low), tac_half_i32_xor(a.high, b.high)); }
TAC_WIDE tac_i32x8 tac_i32x8_andnot(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_i32(tac_half_i32_andnot(a.low, b.low), tac_half_i32_andnot(a.high, b.high)); }
TAC_WIDE tac_m32x8 tac_i32x8_lt(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_m32(tac_half_i32_lt(a.low, b.low), tac_half_i32_lt(a.high, b.high)); }
TAC_WIDE tac_m32x8 tac_i32x8_eq(tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_m32(tac_half_i32_eq(a.low, b.low), tac_half_i32_eq(a.high, b.high)); }
TAC_WIDE tac_i32x8 tac_i32x8_select(tac_m32x8 m, tac_i32x8 a, tac_i32x8 b)
	{ return tac_pair_i32(tac_half_i32_select(m.low, a.low, b.low),
			      tac_half_i32_select(m.high, a.high, b.high)); }

TAC_WIDE tac_m32x8 tac_m32x8_not(tac_m32x8 v)
	{ return tac_pair_m32(tac_half_m32_not(v.low), tac_half_m32_not(v.high)); }
TAC_WIDE tac_m32x8 tac_m32x8_and(tac_m32x8 a, tac_m32x8 b)
	{ return tac_pair_m32(tac_half_m32_and(a.low, b.low), tac_half_m32_and(a.high, b.high)); }
TAC_WIDE tac_m32x8 tac_m32x8_or(tac_m32x8 a, tac_m32x8 b)
	{ return tac_pair_m32(tac_half_m32_or(a.low, b.low), tac_half_m32_or(a.high, b.high)); }
TAC_WIDE tac_m32x8 tac_m32x8_xor(tac_m32x8 a, tac_m32x8 b)
	{ return tac_pair_m32(tac_half_m32_xor(a.low, b.low), tac_half_m32_xor(a.high, b.high)); }
TAC_WIDE tac_m32x8 tac_m32x8_andnot(tac_m32x8 a, tac_m32x8 b)
	{ return tac_pair_m32(tac_half_m32_andnot(a.low, b.low), tac_half_m32_andnot(a.high, b.high)); }
TAC_WIDE unsigned tac_m32x8_movemask(tac_m32x8 m)
	{ return tac_half_m32_movemask(m.low) | tac_half_m32_movemask(m.high) << 4; }
TAC_WIDE tac_m32x8 tac_m32x8_from_bits(unsigned bits)
	{ return tac_pair_m32(tac_half_m32_from_bits(bits), tac_half_m32_from_bits(bits >> 4)); }

TAC_WIDE tac_m64x4 tac_m64x4_not(tac_m64x4 v)
	{ return tac_pair_m64(tac_half_m64_not(v.low), tac_half_m64_not(v.high)); }
TAC_WIDE tac_m64x4 tac_m64x4_and(tac_m64x4 a, tac_m64x4 b)
	{ return tac_pair_m64(tac_half_m64_and(a.low, b.low), tac_half_m64_and(a.high, b.high)); }
TAC_WIDE tac_m64x4 tac_m64x4_or(tac_m64x4 a, tac_m64x4 b)
	{ return tac_pair_m64(tac_half_m64_or(a.low, b.low), tac_half_m64_or(a.high, b.high)); }
TAC_WIDE tac_m64x4 tac_m64x4_xor(tac_m64x4 a, tac_m64x4 b)
	{ return tac_pair_m64(tac_half_m64_xor(a.low, b.low), tac_half_m64_xor(a.high, b.high)); }
TAC_WIDE tac_m64x4 tac_m64x4_andnot(tac_m64x4 a, tac_m64x4 b)
	{ return tac_pair_m64(tac_half_m64_andnot(a.low, b.low), tac_half_m64_andnot(a.high, b.high)); }
TAC_WIDE unsigned tac_m64x4_movemask(tac_m64x4 m)
	{ return tac_half_m64_movemask(m.low) | tac_half_m64_movemask(m.high) << 2; }
TAC_WIDE tac_m64x4 tac_m64x4_from_bits(unsigned bits)
	{ return tac_pair_m64(tac_half_m64_from_bits(bits), tac_half_m64_from_bits(bits >> 2)); }

TAC_WIDE tac_f32x8 tac_f32x8_from_i32(tac_i32x8 v)
	{ return tac_pair_f32(tac_half_i32_to_f32(v.low), tac_half_i32_to_f32(v.high)); }
TAC_WIDE tac_i32x8 tac_i32x8_from_f32(tac_f32x8 v)
	{ return tac_pair_i32(tac_half_f32_to_i32(v.low), tac_half_f32_to_i32(v.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_from_bits(tac_i32x8 v)
	{ return tac_pair_f32(tac_half_i32_as_f32(v.low), tac_half_i32_as_f32(v.high)); }
TAC_WIDE tac_i32x8 tac_f32x8_to_bits(tac_f32x8 v)
	{ return tac_pair_i32(tac_half_f32_as_i32(v.low), tac_half_f32_as_i32(v.high)); }
TAC_WIDE tac_f64x4 tac_f64x4_from_f32_low(tac_f32x8 v)
	{ return tac_pair_f64(tac_half_f32_low_to_f64(v.low), tac_half_f32_high_to_f64(v.low)); }
TAC_WIDE tac_f64x4 tac_f64x4_from_f32_high(tac_f32x8 v)
	{ return tac_pair_f64(tac_half_f32_low_to_f64(v.high), tac_half_f32_high_to_f64(v.high)); }
TAC_WIDE tac_f32x8 tac_f32x8_from_f64(tac_f64x4 low, tac_f64x4 high)
	{ return tac_pair_f32(tac_half_f64_to_f32(low.low, low.high),
			      tac_half_f64_to_f32(high.low, high.high)); }
TAC_WIDE float tac_f32x8_hmin(tac_f32x8 v) { return tac_half_f32_hmin(tac_half_f32_min(v.low, v.high)); }
TAC_WIDE double tac_f64x4_hmin(tac_f64x4 v) { return tac_half_f64_hmin(tac_half_f64_min(v.low, v.high)); }
TAC_WIDE float tac_f32x8_hmax(tac_f32x8 v) { return tac_half_f32_hmax(tac_half_f32_max(v.low, v.high)); }
TAC_WIDE double tac_f64x4_hmax(tac_f64x4 v) { return tac_half_f64_hmax(tac_half_f64_max(v.low, v.high)); }
TAC_WIDE float tac_f32x8_hsum(tac_f32x8 v) { return tac_half_f32_hsum(tac_half_f32_add(v.low, v.high)); }
TAC_WIDE double tac_f64x4_hsum(tac_f64x4 v) { return tac_half_f64_hsum(tac_half_f64_add(v.low, v.high)); }
// clang-format on

// Neither instruction set has a gather: eight loads.
TAC_WIDE tac_f32x8 tac_f32x8_gather(const float *base, tac_i32x8 index)
{
	int32_t i[8];
	tac_i32x8_storeu(i, index);
	float e[8] = {base[i[0]], base[i[1]], base[i[2]], base[i[3]],
		      base[i[4]], base[i[5]], base[i[6]], base[i[7]]};
	return tac_f32x8_loadu(e);
}

TAC_WIDE tac_i32x8 tac_i32x8_gather(const int32_t *base, tac_i32x8 index)
{
	int32_t i[8];
	tac_i32x8_storeu(i, index);
	int32_t e[8] = {base[i[0]], base[i[1]], base[i[2]], base[i[3]],
			base[i[4]], base[i[5]], base[i[6]], base[i[7]]};
	return tac_i32x8_loadu(e);
}

TAC_WIDE tac_f32x8 tac_f32x8_permute(tac_f32x8 v, tac_i32x8 index)
{
	float e[8];
	tac_f32x8_storeu(e, v);
	return tac_f32x8_gather(e, tac_i32x8_and(index, tac_i32x8_splat(7)));
}

TAC_WIDE tac_i32x8 tac_i32x8_permute(tac_i32x8 v, tac_i32x8 index)
{
	int32_t e[8];
	tac_i32x8_storeu(e, v);
	return tac_i32x8_gather(e, tac_i32x8_and(index, tac_i32x8_splat(7)));
}

TAC_WIDE tac_f32x8 tac_f32x8_gather24(const float *base, tac_i32x8 index)
{
	return tac_f32x8_gather(base, index);
}

TAC_WIDE tac_f64x4 tac_f64x4_gather(const double *base, const int32_t *index)
{
	double e[4] = {base[index[0]], base[index[1]], base[index[2]], base[index[3]]};
	return tac_f64x4_loadu(e);
}
