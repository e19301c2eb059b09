// Bodies of base/simd/wide.h in plain C: the reference for every variant.
#define TAC_WIDE_NAME "scalar"

typedef struct tac_f32x8 {
	float e[8];
} tac_f32x8;

typedef struct tac_f64x4 {
	double e[4];
} tac_f64x4;

typedef struct tac_i32x8 {
	int32_t e[8];
} tac_i32x8;

typedef struct tac_m32x8 {
	uint32_t e[8]; // all ones or all zeros
} tac_m32x8;

typedef struct tac_m64x4 {
	uint64_t e[4];
} tac_m64x4;

TAC_WIDE unsigned tac_m32x8_movemask(tac_m32x8 m)
{
	unsigned bits = 0;
	for (int i = 0; i < 8; i++)
		bits |= (unsigned)(m.e[i] & 1) << i;
	return bits;
}

TAC_WIDE unsigned tac_m64x4_movemask(tac_m64x4 m)
{
	unsigned bits = 0;
	for (int i = 0; i < 4; i++)
		bits |= (unsigned)(m.e[i] & 1) << i;
	return bits;
}

TAC_WIDE float tac_f32x8_hmin(tac_f32x8 v)
{
	float *a = v.e;
	for (int n = 4; n > 0; n /= 2)
		for (int i = 0; i < n; i++)
			a[i] = a[i] < a[i + n] ? a[i] : a[i + n];
	return a[0];
}

TAC_WIDE double tac_f64x4_hmin(tac_f64x4 v)
{
	double *a = v.e;
	for (int n = 2; n > 0; n /= 2)
		for (int i = 0; i < n; i++)
			a[i] = a[i] < a[i + n] ? a[i] : a[i + n];
	return a[0];
}

TAC_WIDE float tac_f32x8_hmax(tac_f32x8 v)
{
	float *a = v.e;
	for (int n = 4; n > 0; n /= 2)
		for (int i = 0; i < n; i++)
			a[i] = a[i] > a[i + n] ? a[i] : a[i + n];
	return a[0];
}

TAC_WIDE double tac_f64x4_hmax(tac_f64x4 v)
{
	double *a = v.e;
	for (int n = 2; n > 0; n /= 2)
		for (int i = 0; i < n; i++)
			a[i] = a[i] > a[i + n] ? a[i] : a[i + n];
	return a[0];
}

TAC_WIDE float tac_f32x8_hsum(tac_f32x8 v)
{
	float *a = v.e;
	for (int n = 4; n > 0; n /= 2)
		for (int i = 0; i < n; i++)
			a[i] = a[i] + a[i + n];
	return a[0];
}

TAC_WIDE double tac_f64x4_hsum(tac_f64x4 v)
{
	double *a = v.e;
	for (int n = 2; n > 0; n /= 2)
		for (int i = 0; i < n; i++)
			a[i] = a[i] + a[i + n];
	return a[0];
}

// The body of a function that returns a T whose lane i is `value`.
#define TAC_LANES(T, value)                                                                                  \
	{                                                                                                    \
		T r;                                                                                         \
		for (int i = 0; i < (int)(sizeof r.e / sizeof r.e[0]); i++)                                  \
			r.e[i] = value;                                                                      \
		return r;                                                                                    \
	}

// clang-format off
TAC_WIDE tac_f32x8 tac_f32x8_splat(float x) TAC_LANES(tac_f32x8, x)
TAC_WIDE tac_f32x8 tac_f32x8_load(const float *p) TAC_LANES(tac_f32x8, p[i])
TAC_WIDE tac_f32x8 tac_f32x8_loadu(const float *p) TAC_LANES(tac_f32x8, p[i])
TAC_WIDE void tac_f32x8_store(float *p, tac_f32x8 v) { memcpy(p, v.e, sizeof v.e); }
TAC_WIDE void tac_f32x8_storeu(float *p, tac_f32x8 v) { memcpy(p, v.e, sizeof v.e); }
TAC_WIDE tac_f32x8 tac_f32x8_add(tac_f32x8 a, tac_f32x8 b) TAC_LANES(tac_f32x8, a.e[i] + b.e[i])
TAC_WIDE tac_f32x8 tac_f32x8_sub(tac_f32x8 a, tac_f32x8 b) TAC_LANES(tac_f32x8, a.e[i] - b.e[i])
TAC_WIDE tac_f32x8 tac_f32x8_mul(tac_f32x8 a, tac_f32x8 b) TAC_LANES(tac_f32x8, a.e[i] * b.e[i])
TAC_WIDE tac_f32x8 tac_f32x8_div(tac_f32x8 a, tac_f32x8 b) TAC_LANES(tac_f32x8, a.e[i] / b.e[i])
TAC_WIDE tac_f32x8 tac_f32x8_min(tac_f32x8 a, tac_f32x8 b)
	TAC_LANES(tac_f32x8, a.e[i] < b.e[i] ? a.e[i] : b.e[i])
TAC_WIDE tac_f32x8 tac_f32x8_max(tac_f32x8 a, tac_f32x8 b)
	TAC_LANES(tac_f32x8, a.e[i] > b.e[i] ? a.e[i] : b.e[i])
TAC_WIDE tac_f32x8 tac_f32x8_sqrt(tac_f32x8 v) TAC_LANES(tac_f32x8, sqrtf(v.e[i]))
TAC_WIDE tac_f32x8 tac_f32x8_abs(tac_f32x8 v) TAC_LANES(tac_f32x8, fabsf(v.e[i]))
TAC_WIDE tac_f32x8 tac_f32x8_neg(tac_f32x8 v) TAC_LANES(tac_f32x8, -v.e[i])
TAC_WIDE tac_m32x8 tac_f32x8_lt(tac_f32x8 a, tac_f32x8 b) TAC_LANES(tac_m32x8, -(uint32_t)(a.e[i] < b.e[i]))
TAC_WIDE tac_m32x8 tac_f32x8_le(tac_f32x8 a, tac_f32x8 b) TAC_LANES(tac_m32x8, -(uint32_t)(a.e[i] <= b.e[i]))
TAC_WIDE tac_m32x8 tac_f32x8_eq(tac_f32x8 a, tac_f32x8 b) TAC_LANES(tac_m32x8, -(uint32_t)(a.e[i] == b.e[i]))
TAC_WIDE tac_f32x8 tac_f32x8_select(tac_m32x8 m, tac_f32x8 a, tac_f32x8 b)
	TAC_LANES(tac_f32x8, m.e[i] ? a.e[i] : b.e[i])

TAC_WIDE tac_f64x4 tac_f64x4_splat(double x) TAC_LANES(tac_f64x4, x)
TAC_WIDE tac_f64x4 tac_f64x4_load(const double *p) TAC_LANES(tac_f64x4, p[i])
TAC_WIDE tac_f64x4 tac_f64x4_loadu(const double *p) TAC_LANES(tac_f64x4, p[i])
TAC_WIDE void tac_f64x4_store(double *p, tac_f64x4 v) { memcpy(p, v.e, sizeof v.e); }
TAC_WIDE void tac_f64x4_storeu(double *p, tac_f64x4 v) { memcpy(p, v.e, sizeof v.e); }
TAC_WIDE tac_f64x4 tac_f64x4_add(tac_f64x4 a, tac_f64x4 b) TAC_LANES(tac_f64x4, a.e[i] + b.e[i])
TAC_WIDE tac_f64x4 tac_f64x4_sub(tac_f64x4 a, tac_f64x4 b) TAC_LANES(tac_f64x4, a.e[i] - b.e[i])
TAC_WIDE tac_f64x4 tac_f64x4_mul(tac_f64x4 a, tac_f64x4 b) TAC_LANES(tac_f64x4, a.e[i] * b.e[i])
TAC_WIDE tac_f64x4 tac_f64x4_div(tac_f64x4 a, tac_f64x4 b) TAC_LANES(tac_f64x4, a.e[i] / b.e[i])
TAC_WIDE tac_f64x4 tac_f64x4_min(tac_f64x4 a, tac_f64x4 b)
	TAC_LANES(tac_f64x4, a.e[i] < b.e[i] ? a.e[i] : b.e[i])
TAC_WIDE tac_f64x4 tac_f64x4_max(tac_f64x4 a, tac_f64x4 b)
	TAC_LANES(tac_f64x4, a.e[i] > b.e[i] ? a.e[i] : b.e[i])
TAC_WIDE tac_f64x4 tac_f64x4_sqrt(tac_f64x4 v) TAC_LANES(tac_f64x4, sqrt(v.e[i]))
TAC_WIDE tac_f64x4 tac_f64x4_abs(tac_f64x4 v) TAC_LANES(tac_f64x4, fabs(v.e[i]))
TAC_WIDE tac_f64x4 tac_f64x4_neg(tac_f64x4 v) TAC_LANES(tac_f64x4, -v.e[i])
TAC_WIDE tac_m64x4 tac_f64x4_lt(tac_f64x4 a, tac_f64x4 b) TAC_LANES(tac_m64x4, -(uint64_t)(a.e[i] < b.e[i]))
TAC_WIDE tac_m64x4 tac_f64x4_le(tac_f64x4 a, tac_f64x4 b) TAC_LANES(tac_m64x4, -(uint64_t)(a.e[i] <= b.e[i]))
TAC_WIDE tac_m64x4 tac_f64x4_eq(tac_f64x4 a, tac_f64x4 b) TAC_LANES(tac_m64x4, -(uint64_t)(a.e[i] == b.e[i]))
TAC_WIDE tac_f64x4 tac_f64x4_select(tac_m64x4 m, tac_f64x4 a, tac_f64x4 b)
	TAC_LANES(tac_f64x4, m.e[i] ? a.e[i] : b.e[i])

TAC_WIDE tac_i32x8 tac_i32x8_splat(int32_t x) TAC_LANES(tac_i32x8, x)
TAC_WIDE tac_i32x8 tac_i32x8_load(const int32_t *p) TAC_LANES(tac_i32x8, p[i])
TAC_WIDE tac_i32x8 tac_i32x8_loadu(const int32_t *p) TAC_LANES(tac_i32x8, p[i])
TAC_WIDE void tac_i32x8_store(int32_t *p, tac_i32x8 v) { memcpy(p, v.e, sizeof v.e); }
TAC_WIDE void tac_i32x8_storeu(int32_t *p, tac_i32x8 v) { memcpy(p, v.e, sizeof v.e); }
TAC_WIDE tac_i32x8 tac_i32x8_add(tac_i32x8 a, tac_i32x8 b)
	TAC_LANES(tac_i32x8, (int32_t)((uint32_t)a.e[i] + (uint32_t)b.e[i]))
TAC_WIDE tac_i32x8 tac_i32x8_sub(tac_i32x8 a, tac_i32x8 b)
	TAC_LANES(tac_i32x8, (int32_t)((uint32_t)a.e[i] - (uint32_t)b.e[i]))
TAC_WIDE tac_i32x8 tac_i32x8_min(tac_i32x8 a, tac_i32x8 b)
	TAC_LANES(tac_i32x8, a.e[i] < b.e[i] ? a.e[i] : b.e[i])
TAC_WIDE tac_i32x8 tac_i32x8_max(tac_i32x8 a, tac_i32x8 b)
	TAC_LANES(tac_i32x8, a.e[i] > b.e[i] ? a.e[i] : b.e[i])
TAC_WIDE tac_i32x8 tac_i32x8_and(tac_i32x8 a, tac_i32x8 b) TAC_LANES(tac_i32x8, a.e[i] & b.e[i])
TAC_WIDE tac_i32x8 tac_i32x8_or(tac_i32x8 a, tac_i32x8 b) TAC_LANES(tac_i32x8, a.e[i] | b.e[i])
TAC_WIDE tac_i32x8 tac_i32x8_xor(tac_i32x8 a, tac_i32x8 b) TAC_LANES(tac_i32x8, a.e[i] ^ b.e[i])
TAC_WIDE tac_i32x8 tac_i32x8_andnot(tac_i32x8 a, tac_i32x8 b) TAC_LANES(tac_i32x8, a.e[i] & ~b.e[i])
TAC_WIDE tac_i32x8 tac_i32x8_shl(tac_i32x8 v, int n) TAC_LANES(tac_i32x8, (int32_t)((uint32_t)v.e[i] << n))
TAC_WIDE tac_i32x8 tac_i32x8_shr(tac_i32x8 v, int n) TAC_LANES(tac_i32x8, (int32_t)((uint32_t)v.e[i] >> n))
TAC_WIDE tac_m32x8 tac_i32x8_lt(tac_i32x8 a, tac_i32x8 b) TAC_LANES(tac_m32x8, -(uint32_t)(a.e[i] < b.e[i]))
TAC_WIDE tac_m32x8 tac_i32x8_eq(tac_i32x8 a, tac_i32x8 b) TAC_LANES(tac_m32x8, -(uint32_t)(a.e[i] == b.e[i]))
TAC_WIDE tac_i32x8 tac_i32x8_select(tac_m32x8 m, tac_i32x8 a, tac_i32x8 b)
	TAC_LANES(tac_i32x8, m.e[i] ? a.e[i] : b.e[i])

TAC_WIDE tac_m32x8 tac_m32x8_and(tac_m32x8 a, tac_m32x8 b) TAC_LANES(tac_m32x8, a.e[i] & b.e[i])
TAC_WIDE tac_m32x8 tac_m32x8_or(tac_m32x8 a, tac_m32x8 b) TAC_LANES(tac_m32x8, a.e[i] | b.e[i])
TAC_WIDE tac_m32x8 tac_m32x8_xor(tac_m32x8 a, tac_m32x8 b) TAC_LANES(tac_m32x8, a.e[i] ^ b.e[i])
TAC_WIDE tac_m32x8 tac_m32x8_andnot(tac_m32x8 a, tac_m32x8 b) TAC_LANES(tac_m32x8, a.e[i] & ~b.e[i])
TAC_WIDE tac_m32x8 tac_m32x8_not(tac_m32x8 m) TAC_LANES(tac_m32x8, ~m.e[i])
TAC_WIDE tac_m32x8 tac_m32x8_from_bits(unsigned bits) TAC_LANES(tac_m32x8, -(uint32_t)(bits >> i & 1))
TAC_WIDE tac_m64x4 tac_m64x4_and(tac_m64x4 a, tac_m64x4 b) TAC_LANES(tac_m64x4, a.e[i] & b.e[i])
TAC_WIDE tac_m64x4 tac_m64x4_or(tac_m64x4 a, tac_m64x4 b) TAC_LANES(tac_m64x4, a.e[i] | b.e[i])
TAC_WIDE tac_m64x4 tac_m64x4_xor(tac_m64x4 a, tac_m64x4 b) TAC_LANES(tac_m64x4, a.e[i] ^ b.e[i])
TAC_WIDE tac_m64x4 tac_m64x4_andnot(tac_m64x4 a, tac_m64x4 b) TAC_LANES(tac_m64x4, a.e[i] & ~b.e[i])
TAC_WIDE tac_m64x4 tac_m64x4_not(tac_m64x4 m) TAC_LANES(tac_m64x4, ~m.e[i])
TAC_WIDE tac_m64x4 tac_m64x4_from_bits(unsigned bits) TAC_LANES(tac_m64x4, -(uint64_t)(bits >> i & 1))

TAC_WIDE tac_f32x8 tac_f32x8_from_i32(tac_i32x8 v) TAC_LANES(tac_f32x8, (float)v.e[i])
TAC_WIDE tac_i32x8 tac_i32x8_from_f32(tac_f32x8 v)
	TAC_LANES(tac_i32x8, v.e[i] >= -0x1p31f && v.e[i] < 0x1p31f ? (int32_t)v.e[i] : INT32_MIN)
TAC_WIDE tac_f64x4 tac_f64x4_from_f32_low(tac_f32x8 v) TAC_LANES(tac_f64x4, (double)v.e[i])
TAC_WIDE tac_f64x4 tac_f64x4_from_f32_high(tac_f32x8 v) TAC_LANES(tac_f64x4, (double)v.e[i + 4])
TAC_WIDE tac_f32x8 tac_f32x8_from_f64(tac_f64x4 low, tac_f64x4 high)
	TAC_LANES(tac_f32x8, (float)(i < 4 ? low.e[i] : high.e[i - 4]))
TAC_WIDE tac_f32x8 tac_f32x8_from_bits(tac_i32x8 v) { tac_f32x8 r; memcpy(&r, &v, sizeof r); return r; }
TAC_WIDE tac_i32x8 tac_f32x8_to_bits(tac_f32x8 v) { tac_i32x8 r; memcpy(&r, &v, sizeof r); return r; }
TAC_WIDE tac_f32x8 tac_f32x8_gather(const float *base, tac_i32x8 index) TAC_LANES(tac_f32x8, base[index.e[i]])
TAC_WIDE tac_i32x8 tac_i32x8_gather(const int32_t *base, tac_i32x8 index)
	TAC_LANES(tac_i32x8, base[index.e[i]])
TAC_WIDE tac_f32x8 tac_f32x8_permute(tac_f32x8 v, tac_i32x8 index) TAC_LANES(tac_f32x8, v.e[index.e[i] & 7])
TAC_WIDE tac_i32x8 tac_i32x8_permute(tac_i32x8 v, tac_i32x8 index) TAC_LANES(tac_i32x8, v.e[index.e[i] & 7])
TAC_WIDE tac_f32x8 tac_f32x8_gather24(const float *base, tac_i32x8 index) TAC_LANES(tac_f32x8, base[index.e[i]])
TAC_WIDE tac_f64x4 tac_f64x4_gather(const double *base, const int32_t *index)
	TAC_LANES(tac_f64x4, base[index[i]])
// clang-format on

#undef TAC_LANES
