// Every variant that this CPU supports must give, bit for bit, the results that plain C gives lane by lane in
// this file.
#include "tests/base/wide_kernel.h"

#include "base/denormal.h"
#include "base/rng.h"
#include "base/simd.h"

#include <unity.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static wide_kernel_fn *const kernels[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(wide_kernel);

void setUp(void)
{
}

void tearDown(void)
{
}

static uint32_t bits_of_f32(float x)
{
	uint32_t u;
	memcpy(&u, &x, sizeof u);
	return u;
}

static uint64_t bits_of_f64(double x)
{
	uint64_t u;
	memcpy(&u, &x, sizeof u);
	return u;
}

static float f32_of_bits(uint32_t u)
{
	float x;
	memcpy(&x, &u, sizeof x);
	return x;
}

static double f64_of_bits(uint64_t u)
{
	double x;
	memcpy(&x, &u, sizeof x);
	return x;
}

static float min_f32(float a, float b)
{
	return a < b ? a : b;
}

static float max_f32(float a, float b)
{
	return a > b ? a : b;
}

static double min_f64(double a, double b)
{
	return a < b ? a : b;
}

static double max_f64(double a, double b)
{
	return a > b ? a : b;
}

static int32_t truncated(float x)
{
	return x >= -2147483648.0f && x < 2147483648.0f ? (int32_t)x : INT32_MIN;
}

static int32_t wrapped(int64_t x)
{
	uint32_t u = (uint32_t)x;
	int32_t i;
	memcpy(&i, &u, sizeof i);
	return i;
}

static void expected_f32(const wide_in *in, wide_out *out)
{
	const float *a = in->a, *b = in->b;
	const double *c = in->c, *d = in->d;
	for (int k = 0; k < 8; k++) {
		bool chosen = in->bits >> k & 1;
		unsigned bit = 1u << k;
		out->f32_rounded[F32_ADD][k] = a[k] + b[k];
		out->f32_rounded[F32_SUB][k] = a[k] - b[k];
		out->f32_rounded[F32_MUL][k] = a[k] * b[k];
		out->f32_rounded[F32_DIV][k] = a[k] / b[k];
		out->f32_rounded[F32_SQRT][k] = sqrtf(a[k]);
		out->f32_rounded[F32_FROM_F64][k] = (float)(k < 4 ? c[k] : d[k - 4]);
		out->f32_moved[F32_MIN][k] = min_f32(a[k], b[k]);
		out->f32_moved[F32_MAX][k] = max_f32(a[k], b[k]);
		out->f32_moved[F32_ABS][k] = f32_of_bits(bits_of_f32(a[k]) & 0x7FFFFFFF);
		out->f32_moved[F32_NEG][k] = f32_of_bits(bits_of_f32(a[k]) ^ 0x80000000);
		out->f32_moved[F32_SELECT][k] = chosen ? a[k] : b[k];
		out->f32_moved[F32_GATHER][k] = in->f32_table[in->index[k]];
		out->f32_moved[F32_GATHER24][k] = in->table_24[in->index_24[k]];
		for (int f = 0; f < 4; f++)
			out->f32_moved[F32_GATHER4 + f][k] = in->f32_table[in->index[k] % 13 + f];
		for (int f = 0; f < 12; f++)
			out->f32_moved[F32_GATHER12 + f][k] = in->f32_table[2 * (in->index[k] % 3) + f];
		out->f32_moved[F32_PERMUTE][k] = a[in->i[k] & 7];
		out->f32_moved[F32_SPLAT][k] = in->f32_table[3];
		out->f32_moved[F32_LOADU][k] = in->f32_table[k + 1];
		out->f32_moved[F32_SET][k] = k == 5 ? b[0] : a[k];
		out->f32_moved[F32_BITS][k] = f32_of_bits((uint32_t)in->i[k]);
		out->f32_moved[F32_FROM_I32][k] = (float)in->i[k];
		out->f32_get[k] = a[k];
		out->mask[MASK_F32_LT] |= a[k] < b[k] ? bit : 0;
		out->mask[MASK_F32_LE] |= a[k] <= b[k] ? bit : 0;
		out->mask[MASK_F32_GT] |= a[k] > b[k] ? bit : 0;
		out->mask[MASK_F32_GE] |= a[k] >= b[k] ? bit : 0;
		out->mask[MASK_F32_EQ] |= a[k] == b[k] ? bit : 0;
		out->mask[MASK_F32_NE] |= a[k] != b[k] ? bit : 0;
	}
	out->f32_hmin = min_f32(min_f32(min_f32(a[0], a[4]), min_f32(a[2], a[6])),
				min_f32(min_f32(a[1], a[5]), min_f32(a[3], a[7])));
	out->f32_hmax = max_f32(max_f32(max_f32(a[0], a[4]), max_f32(a[2], a[6])),
				max_f32(max_f32(a[1], a[5]), max_f32(a[3], a[7])));
	out->f32_hsum = ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

static void expected_i32(const wide_in *in, wide_out *out)
{
	const float *a = in->a;
	for (int k = 0; k < 8; k++) {
		bool chosen = in->bits >> k & 1;
		int64_t i = in->i[k], j = in->j[k];
		unsigned bit = 1u << k;
		out->i32[I32_ADD][k] = wrapped(i + j);
		out->i32[I32_SUB][k] = wrapped(i - j);
		out->i32[I32_MIN][k] = wrapped(i < j ? i : j);
		out->i32[I32_MAX][k] = wrapped(i > j ? i : j);
		out->i32[I32_AND][k] = wrapped(i & j);
		out->i32[I32_OR][k] = wrapped(i | j);
		out->i32[I32_XOR][k] = wrapped(i ^ j);
		out->i32[I32_ANDNOT][k] = wrapped(i & ~j);
		out->i32[I32_SHL][k] = wrapped((int64_t)((uint64_t)i << in->shift));
		out->i32[I32_SHR][k] = wrapped((int64_t)((uint32_t)i >> in->shift));
		out->i32[I32_SELECT][k] = wrapped(chosen ? i : j);
		out->i32[I32_GATHER][k] = in->i32_table[in->index[k]];
		out->i32[I32_PERMUTE][k] = in->i[in->j[k] & 7];
		out->i32[I32_COMPRESS][k] = 0;
		out->i32[I32_SPLAT][k] = in->i32_table[3];
		out->i32[I32_LOADU][k] = in->i32_table[k + 1];
		out->i32[I32_SET][k] = k == 5 ? in->j[0] : in->i[k];
		out->i32[I32_FROM_F32][k] = truncated(a[k]);
		out->i32[I32_BITS][k] = wrapped((int64_t)bits_of_f32(a[k]));
		out->i32_get[k] = in->i[k];
		out->mask[MASK_I32_LT] |= i < j ? bit : 0;
		out->mask[MASK_I32_GT] |= i > j ? bit : 0;
		out->mask[MASK_I32_EQ] |= i == j ? bit : 0;
	}
	for (int k = 0, n = 0; k < 8; k++) {
		if ((uint32_t)in->j[0] >> k & 1)
			out->i32[I32_COMPRESS][n++] = in->i[k];
	}
}

static void expected_f64(const wide_in *in, wide_out *out)
{
	const float *a = in->a;
	const double *c = in->c, *d = in->d;
	for (int k = 0; k < 4; k++) {
		unsigned bit = 1u << k;
		out->f64_rounded[F64_ADD][k] = c[k] + d[k];
		out->f64_rounded[F64_SUB][k] = c[k] - d[k];
		out->f64_rounded[F64_MUL][k] = c[k] * d[k];
		out->f64_rounded[F64_DIV][k] = c[k] / d[k];
		out->f64_rounded[F64_SQRT][k] = sqrt(c[k]);
		out->f64_rounded[F64_LOW][k] = (double)a[k];
		out->f64_rounded[F64_HIGH][k] = (double)a[k + 4];
		out->f64_moved[F64_MIN][k] = min_f64(c[k], d[k]);
		out->f64_moved[F64_MAX][k] = max_f64(c[k], d[k]);
		out->f64_moved[F64_ABS][k] = f64_of_bits(bits_of_f64(c[k]) & (UINT64_MAX >> 1));
		out->f64_moved[F64_NEG][k] = f64_of_bits(bits_of_f64(c[k]) ^ UINT64_C(1) << 63);
		out->f64_moved[F64_SELECT][k] = in->bits >> k & 1 ? c[k] : d[k];
		out->f64_moved[F64_GATHER][k] = in->f64_table[in->index[k]];
		out->f64_moved[F64_SPLAT][k] = in->f64_table[3];
		out->f64_moved[F64_LOADU][k] = in->f64_table[k + 1];
		out->f64_moved[F64_SET][k] = k == 2 ? d[0] : c[k];
		out->f64_get[k] = c[k];
		out->mask[MASK_F64_LT] |= c[k] < d[k] ? bit : 0;
		out->mask[MASK_F64_LE] |= c[k] <= d[k] ? bit : 0;
		out->mask[MASK_F64_GT] |= c[k] > d[k] ? bit : 0;
		out->mask[MASK_F64_GE] |= c[k] >= d[k] ? bit : 0;
		out->mask[MASK_F64_EQ] |= c[k] == d[k] ? bit : 0;
		out->mask[MASK_F64_NE] |= c[k] != d[k] ? bit : 0;
	}
	out->f64_hmin = min_f64(min_f64(c[0], c[2]), min_f64(c[1], c[3]));
	out->f64_hmax = max_f64(max_f64(c[0], c[2]), max_f64(c[1], c[3]));
	out->f64_hsum = (c[0] + c[2]) + (c[1] + c[3]);
}

static void expected_machine_width(const wide_in *in, wide_out *out)
{
	const wide_in16 w = wide_in16_make(in);
	for (int k = 0, packed = 0; k < 16; k++) {
		const bool chosen = w.bits >> k & 1;
		const float a = w.a[k], b = w.b[k];
		const int32_t i = w.i[k], j = w.j[k];
		const unsigned bit = 1u << k;
		out->w_rounded[W_ADD][k] = a + b;
		out->w_rounded[W_SUB][k] = a - b;
		out->w_rounded[W_MUL][k] = a * b;
		out->w_rounded[W_DIV][k] = a / b;
		out->w_rounded[W_SQRT][k] = sqrtf(a);
		out->w_moved[W_MIN][k] = min_f32(a, b);
		out->w_moved[W_MAX][k] = max_f32(a, b);
		out->w_moved[W_ABS][k] = f32_of_bits(bits_of_f32(a) & 0x7FFFFFFF);
		out->w_moved[W_NEG][k] = f32_of_bits(bits_of_f32(a) ^ 0x80000000);
		out->w_moved[W_SELECT][k] = chosen ? a : b;
		out->w_moved[W_SPLAT][k] = in->f32_table[3];
		out->w_moved[W_LOAD][k] = a;
		if (chosen)
			out->w_moved[W_PACK][packed++] = a;
		for (int f = 0; f < 12; f++)
			out->w_moved[W_GATHER12 + f][k] = in->f32_table[2 * w.index[2 * k] + f];
		out->w_i32[W_AND][k] = i & j;
		out->w_i32[W_OR][k] = i | j;
		out->w_i32[W_SHL][k] = wrapped((int64_t)((uint64_t)i << in->shift));
		out->w_i32[W_SHR][k] = wrapped((int64_t)((uint32_t)i >> in->shift));
		out->w_i32[W_SELECT_I32][k] = chosen ? i : j;
		out->w_i32[W_SPLAT_I32][k] = in->i32_table[3];
		out->w_i32[W_BITS][k] = wrapped((int64_t)bits_of_f32(a));
		out->w_mask[W_MASK_LT] |= a < b ? bit : 0;
		out->w_mask[W_MASK_LE] |= a <= b ? bit : 0;
		out->w_mask[W_MASK_EQ] |= i == j ? bit : 0;
	}
	out->w_mask[W_MASK_AND] = w.bits & w.more_bits;
	out->w_mask[W_MASK_OR] = w.bits | w.more_bits;
	out->w_mask[W_MASK_NOT] = ~w.bits & 0xFFFF;
	out->w_mask[W_MASK_ANY] = w.bits != 0;
}

// The results that base/simd/wide.h defines.
static void expected(const wide_in *in, wide_out *out)
{
	memset(out, 0, sizeof *out);
	expected_f32(in, out);
	expected_i32(in, out);
	expected_f64(in, out);
	expected_machine_width(in, out);
	unsigned m = in->bits & 0xFF, n = in->more_bits & 0xFF, p = m & 0xF, q = n & 0xF;
	out->mask[MASK_AND] = m & n;
	out->mask[MASK_OR] = m | n;
	out->mask[MASK_XOR] = m ^ n;
	out->mask[MASK_ANDNOT] = m & ~n;
	out->mask[MASK_NOT] = ~m & 0xFF;
	out->mask[MASK_ANY] = m != 0;
	out->mask[MASK_ALL] = m == 0xFF;
	out->mask[MASK64_AND] = p & q;
	out->mask[MASK64_OR] = p | q;
	out->mask[MASK64_XOR] = p ^ q;
	out->mask[MASK64_ANDNOT] = p & ~q;
	out->mask[MASK64_NOT] = ~p & 0xF;
	out->mask[MASK64_ANY] = p != 0;
	out->mask[MASK64_ALL] = p == 0xF;
}

static void fail(const char *variant, const char *what, int operation, int lane, double want, double got)
{
	char message[160];
	snprintf(message, sizeof message, "%s: %s %d, lane %d: expected %a, got %a", variant, what, operation,
		 lane, want, got);
	TEST_FAIL_MESSAGE(message);
}

static void same_f32(const char *variant, const char *what, int operation, int lane, float want, float got,
		     bool any_nan)
{
	if (bits_of_f32(want) != bits_of_f32(got) && !(any_nan && isnan(want) && isnan(got)))
		fail(variant, what, operation, lane, (double)want, (double)got);
}

static void same_f64(const char *variant, const char *what, int operation, int lane, double want, double got,
		     bool any_nan)
{
	if (bits_of_f64(want) != bits_of_f64(got) && !(any_nan && isnan(want) && isnan(got)))
		fail(variant, what, operation, lane, want, got);
}

// With denormals flushed a minimum may keep a denormal or flush it: base/simd/wide.h allows both.
static float settled_f32(float x)
{
	uint32_t u = bits_of_f32(x);
	return tac_denormal_flushed() && (u & 0x7F800000) == 0 ? f32_of_bits(u & 0x80000000) : x;
}

static double settled_f64(double x)
{
	uint64_t u = bits_of_f64(x);
	return tac_denormal_flushed() && (u & UINT64_C(0x7FF0000000000000)) == 0
		       ? f64_of_bits(u & UINT64_C(1) << 63)
		       : x;
}

static void settle(wide_out *out)
{
	for (int o = F32_MIN; o <= F32_MAX; o++)
		for (int k = 0; k < 8; k++)
			out->f32_moved[o][k] = settled_f32(out->f32_moved[o][k]);
	for (int o = W_MIN; o <= W_MAX; o++)
		for (int k = 0; k < 16; k++)
			out->w_moved[o][k] = settled_f32(out->w_moved[o][k]);
	for (int o = F64_MIN; o <= F64_MAX; o++)
		for (int k = 0; k < 4; k++)
			out->f64_moved[o][k] = settled_f64(out->f64_moved[o][k]);
	out->f32_hmin = settled_f32(out->f32_hmin);
	out->f32_hmax = settled_f32(out->f32_hmax);
	out->f64_hmin = settled_f64(out->f64_hmin);
	out->f64_hmax = settled_f64(out->f64_hmax);
}

static void compare(const char *v, const wide_out *want, const wide_out *got)
{
	for (int k = 0; k < 8; k++) {
		for (int o = 0; o < F32_ROUNDED_COUNT; o++)
			same_f32(v, "f32 rounded", o, k, want->f32_rounded[o][k], got->f32_rounded[o][k],
				 true);
		for (int o = 0; o < F32_MOVED_COUNT; o++)
			same_f32(v, "f32 moved", o, k, want->f32_moved[o][k], got->f32_moved[o][k], false);
		same_f32(v, "f32 get", 0, k, want->f32_get[k], got->f32_get[k], false);
	}
	for (int k = 0; k < 4; k++) {
		for (int o = 0; o < F64_ROUNDED_COUNT; o++)
			same_f64(v, "f64 rounded", o, k, want->f64_rounded[o][k], got->f64_rounded[o][k],
				 true);
		for (int o = 0; o < F64_MOVED_COUNT; o++)
			same_f64(v, "f64 moved", o, k, want->f64_moved[o][k], got->f64_moved[o][k], false);
		same_f64(v, "f64 get", 0, k, want->f64_get[k], got->f64_get[k], false);
	}
	same_f32(v, "f32 hmin", 0, 0, want->f32_hmin, got->f32_hmin, false);
	same_f32(v, "f32 hmax", 0, 0, want->f32_hmax, got->f32_hmax, false);
	same_f32(v, "f32 hsum", 0, 0, want->f32_hsum, got->f32_hsum, true);
	same_f64(v, "f64 hmin", 0, 0, want->f64_hmin, got->f64_hmin, false);
	same_f64(v, "f64 hmax", 0, 0, want->f64_hmax, got->f64_hmax, false);
	same_f64(v, "f64 hsum", 0, 0, want->f64_hsum, got->f64_hsum, true);
	for (int o = 0; o < I32_COUNT; o++)
		for (int k = 0; k < 8; k++)
			if (want->i32[o][k] != got->i32[o][k])
				fail(v, "i32", o, k, want->i32[o][k], got->i32[o][k]);
	TEST_ASSERT_EQUAL_INT32_ARRAY_MESSAGE(want->i32_get, got->i32_get, 8, v);
	for (int k = 0; k < 16; k++) {
		for (int o = 0; o < W_ROUNDED_COUNT; o++)
			same_f32(v, "f32w rounded", o, k, want->w_rounded[o][k], got->w_rounded[o][k], true);
		for (int o = 0; o < W_MOVED_COUNT; o++)
			same_f32(v, "f32w moved", o, k, want->w_moved[o][k], got->w_moved[o][k], false);
		for (int o = 0; o < W_I32_COUNT; o++)
			if (want->w_i32[o][k] != got->w_i32[o][k])
				fail(v, "i32w", o, k, want->w_i32[o][k], got->w_i32[o][k]);
	}
	for (int o = 0; o < W_MASK_COUNT; o++)
		if (want->w_mask[o] != got->w_mask[o])
			fail(v, "m32w", o, 0, want->w_mask[o], got->w_mask[o]);
	for (int o = 0; o < MASK_COUNT; o++)
		if (want->mask[o] != got->mask[o])
			fail(v, "mask", o, 0, want->mask[o], got->mask[o]);
}

static void run_everywhere(const wide_in *in)
{
	wide_out want, got;
	expected(in, &want);
	settle(&want);
	for (int simd = 0; simd < TAC_SIMD_COUNT; simd++) {
		if (!kernels[simd] || !tac_simd_supported((tac_simd)simd))
			continue;
		memset(&got, 0xA5, sizeof got);
		const char *name = kernels[simd](in, &got);
		TEST_ASSERT_EQUAL_STRING(tac_simd_name((tac_simd)simd), name);
		settle(&got);
		compare(name, &want, &got);
	}
}

static const float special_f32[] = {
	0.0f,     -0.0f,         1.0f,           -1.0f,         1.5f,     -2.5f,     3e9f,
	-3e9f,    2147483648.0f, -2147483648.0f, 2147483520.0f, FLT_MAX,  -FLT_MAX,  FLT_MIN,
	-FLT_MIN, FLT_MIN / 2,   -FLT_MIN / 8,   FLT_TRUE_MIN,  INFINITY, -INFINITY, NAN,
};
static const double special_f64[] = {
	0.0,
	-0.0,
	1.0,
	-1.0,
	1.5,
	1 + 0x1p-24,
	1 + 0x1p-24 + 0x1p-50,
	1e39,
	-1e39,
	DBL_MAX,
	DBL_MIN,
	-DBL_MIN,
	DBL_MIN / 2,
	DBL_TRUE_MIN,
	1e-40,
	-1e-46,
	(double)INFINITY,
	-(double)INFINITY,
	(double)NAN,
};
static const int32_t special_i32[] = {0,         1,          -1,         2,        INT32_MAX,
				      INT32_MIN, 0x7FC00000, 0x55555555, 16777217, -16777217};

enum {
	F32_SPECIALS = sizeof special_f32 / sizeof special_f32[0],
	F64_SPECIALS = sizeof special_f64 / sizeof special_f64[0],
	I32_SPECIALS = sizeof special_i32 / sizeof special_i32[0],
};

static wide_in operands(const float *f32_table, const double *f64_table, const int32_t *i32_table)
{
	return (wide_in){.f32_table = f32_table, .f64_table = f64_table, .i32_table = i32_table};
}

// A table of 24 numbers and indices into it, from the operands.
static void fill_24(wide_in *in)
{
	for (int k = 0; k < 8; k++) {
		in->table_24[k] = in->a[k];
		in->table_24[8 + k] = in->b[k];
		in->table_24[16 + k] = f32_of_bits((uint32_t)in->i[k]);
		in->index_24[k] = (int32_t)((uint32_t)in->j[k] % 24);
	}
}

static void special_operands_give_the_same_bits_in_every_variant(void)
{
	wide_in in = operands(special_f32, special_f64, NULL);
	int32_t table[16];
	for (int k = 0; k < 16; k++)
		table[k] = special_i32[k % I32_SPECIALS];
	in.i32_table = table;
	// All pairs, in all lanes.
	for (int x = 0; x < F32_SPECIALS * F32_SPECIALS; x++) {
		for (int k = 0; k < 8; k++) {
			in.a[k] = special_f32[(x + k) % F32_SPECIALS];
			in.b[k] = special_f32[(x / F32_SPECIALS + 3 * k) % F32_SPECIALS];
			in.i[k] = special_i32[(x + k) % I32_SPECIALS];
			in.j[k] = special_i32[(x / I32_SPECIALS + 3 * k) % I32_SPECIALS];
			in.index[k] = (x + 5 * k) % 16;
		}
		for (int k = 0; k < 4; k++) {
			in.c[k] = special_f64[(x + k) % F64_SPECIALS];
			in.d[k] = special_f64[(x / F64_SPECIALS + 3 * k) % F64_SPECIALS];
		}
		in.bits = (unsigned)x & 0xFF;
		in.more_bits = (unsigned)x * 37 & 0xFF;
		in.shift = x % 32;
		fill_24(&in);
		run_everywhere(&in);
	}
}

static void random_bits_give_the_same_bits_in_every_variant(void)
{
	tac_rng rng = tac_rng_seed(7, 7);
	float f32_table[16];
	double f64_table[16];
	int32_t i32_table[16];
	wide_in in = operands(f32_table, f64_table, i32_table);
	for (int x = 0; x < 20000; x++) {
		// Arbitrary bits in every fourth round, ordinary numbers in the others.
		bool any_bits = x % 4 == 0;
		for (int k = 0; k < 16; k++) {
			f32_table[k] =
				any_bits ? f32_of_bits(tac_rng_u32(&rng)) : tac_rng_range_f32(&rng, -10, 10);
			f64_table[k] =
				any_bits ? f64_of_bits(tac_rng_u64(&rng)) : tac_rng_range_f64(&rng, -10, 10);
			i32_table[k] = wrapped((int64_t)tac_rng_u32(&rng));
		}
		for (int k = 0; k < 8; k++) {
			in.a[k] =
				any_bits ? f32_of_bits(tac_rng_u32(&rng)) : tac_rng_range_f32(&rng, -10, 10);
			in.b[k] =
				any_bits ? f32_of_bits(tac_rng_u32(&rng)) : tac_rng_range_f32(&rng, -10, 10);
			in.i[k] = wrapped((int64_t)tac_rng_u32(&rng));
			in.j[k] = wrapped((int64_t)tac_rng_u32(&rng));
			in.index[k] = (int32_t)tac_rng_below(&rng, 16);
		}
		for (int k = 0; k < 4; k++) {
			in.c[k] =
				any_bits ? f64_of_bits(tac_rng_u64(&rng)) : tac_rng_range_f64(&rng, -10, 10);
			in.d[k] =
				any_bits ? f64_of_bits(tac_rng_u64(&rng)) : tac_rng_range_f64(&rng, -10, 10);
		}
		in.bits = tac_rng_u32(&rng);
		in.more_bits = tac_rng_u32(&rng);
		in.shift = (int)tac_rng_below(&rng, 32);
		fill_24(&in);
		run_everywhere(&in);
	}
}

static void every_variant_of_the_target_is_in_the_table(void)
{
	int variants = 0;
	for (int simd = 0; simd < TAC_SIMD_COUNT; simd++) {
		// A supported variant without a kernel would be skipped silently above.
		if (tac_simd_supported((tac_simd)simd)) {
			TEST_ASSERT_NOT_NULL(kernels[simd]);
			printf("variant %s\n", tac_simd_name((tac_simd)simd));
			variants++;
		}
	}
	TEST_ASSERT_GREATER_THAN(0, variants);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(every_variant_of_the_target_is_in_the_table);
	for (int flush = 0; flush < 2; flush++) {
		tac_denormal_flush(flush != 0);
		RUN_TEST(special_operands_give_the_same_bits_in_every_variant);
		RUN_TEST(random_bits_give_the_same_bits_in_every_variant);
	}
	tac_denormal_flush(false);
	return UNITY_END();
}
