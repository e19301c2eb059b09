#include "tests/base/wide_kernel.h"

#include "base/simd/wide.h"

static void floats(const wide_in *in, wide_out *out)
{
	tac_f32x8 a = tac_f32x8_load(in->a), b = tac_f32x8_load(in->b);
	tac_f64x4 c = tac_f64x4_load(in->c), d = tac_f64x4_load(in->d);
	tac_i32x8 i = tac_i32x8_load(in->i);
	tac_i32x8 index = tac_i32x8_loadu(in->index);
	tac_m32x8 m = tac_m32x8_from_bits(in->bits);
	tac_f32x8_storeu(out->f32_rounded[F32_ADD], tac_f32x8_add(a, b));
	tac_f32x8_storeu(out->f32_rounded[F32_SUB], tac_f32x8_sub(a, b));
	tac_f32x8_storeu(out->f32_rounded[F32_MUL], tac_f32x8_mul(a, b));
	tac_f32x8_storeu(out->f32_rounded[F32_DIV], tac_f32x8_div(a, b));
	tac_f32x8_storeu(out->f32_rounded[F32_SQRT], tac_f32x8_sqrt(a));
	tac_f32x8_storeu(out->f32_rounded[F32_FROM_F64], tac_f32x8_from_f64(c, d));
	tac_f32x8_storeu(out->f32_moved[F32_MIN], tac_f32x8_min(a, b));
	tac_f32x8_storeu(out->f32_moved[F32_MAX], tac_f32x8_max(a, b));
	tac_f32x8_storeu(out->f32_moved[F32_ABS], tac_f32x8_abs(a));
	tac_f32x8_storeu(out->f32_moved[F32_NEG], tac_f32x8_neg(a));
	tac_f32x8_storeu(out->f32_moved[F32_SELECT], tac_f32x8_select(m, a, b));
	tac_f32x8_storeu(out->f32_moved[F32_GATHER], tac_f32x8_gather(in->f32_table, index));
	tac_f32x8_storeu(out->f32_moved[F32_GATHER24],
			 tac_f32x8_gather24(in->table_24, tac_i32x8_loadu(in->index_24)));
	const float *from[8];
	tac_f32x8 four[4];
	for (int k = 0; k < 8; k++)
		from[k] = &in->f32_table[in->index[k] % 13];
	tac_f32x8_gather4(from, four);
	for (int k = 0; k < 4; k++)
		tac_f32x8_storeu(out->f32_moved[F32_GATHER4 + k], four[k]);
	const wide_in16 w = wide_in16_make(in);
	tac_f32x8 twelve[12];
	tac_f32x8_gather_rows(in->f32_table, 2, w.index, 2, 12, twelve);
	for (int k = 0; k < 12; k++)
		tac_f32x8_storeu(out->f32_moved[F32_GATHER12 + k], twelve[k]);
	tac_f32x8_storeu(out->f32_moved[F32_PERMUTE], tac_f32x8_permute(a, i));
	tac_f32x8_storeu(out->f32_moved[F32_SPLAT], tac_f32x8_splat(in->f32_table[3]));
	tac_f32x8_storeu(out->f32_moved[F32_LOADU], tac_f32x8_loadu(in->f32_table + 1));
	tac_f32x8_storeu(out->f32_moved[F32_SET], tac_f32x8_set(a, 5, in->b[0]));
	tac_f32x8_storeu(out->f32_moved[F32_BITS], tac_f32x8_from_bits(i));
	tac_f32x8_storeu(out->f32_moved[F32_FROM_I32], tac_f32x8_from_i32(i));
	out->f32_hmin = tac_f32x8_hmin(a);
	out->f32_hmax = tac_f32x8_hmax(a);
	out->f32_hsum = tac_f32x8_hsum(a);
}

static void doubles(const wide_in *in, wide_out *out)
{
	tac_f32x8 a = tac_f32x8_load(in->a);
	tac_f64x4 c = tac_f64x4_load(in->c), d = tac_f64x4_load(in->d);
	tac_m64x4 p = tac_m64x4_from_bits(in->bits);
	tac_f64x4_storeu(out->f64_rounded[F64_ADD], tac_f64x4_add(c, d));
	tac_f64x4_storeu(out->f64_rounded[F64_SUB], tac_f64x4_sub(c, d));
	tac_f64x4_storeu(out->f64_rounded[F64_MUL], tac_f64x4_mul(c, d));
	tac_f64x4_storeu(out->f64_rounded[F64_DIV], tac_f64x4_div(c, d));
	tac_f64x4_storeu(out->f64_rounded[F64_SQRT], tac_f64x4_sqrt(c));
	tac_f64x4_storeu(out->f64_rounded[F64_LOW], tac_f64x4_from_f32_low(a));
	tac_f64x4_storeu(out->f64_rounded[F64_HIGH], tac_f64x4_from_f32_high(a));
	tac_f64x4_storeu(out->f64_moved[F64_MIN], tac_f64x4_min(c, d));
	tac_f64x4_storeu(out->f64_moved[F64_MAX], tac_f64x4_max(c, d));
	tac_f64x4_storeu(out->f64_moved[F64_ABS], tac_f64x4_abs(c));
	tac_f64x4_storeu(out->f64_moved[F64_NEG], tac_f64x4_neg(c));
	tac_f64x4_storeu(out->f64_moved[F64_SELECT], tac_f64x4_select(p, c, d));
	tac_f64x4_storeu(out->f64_moved[F64_GATHER], tac_f64x4_gather(in->f64_table, in->index));
	tac_f64x4_storeu(out->f64_moved[F64_SPLAT], tac_f64x4_splat(in->f64_table[3]));
	tac_f64x4_storeu(out->f64_moved[F64_LOADU], tac_f64x4_loadu(in->f64_table + 1));
	tac_f64x4_storeu(out->f64_moved[F64_SET], tac_f64x4_set(c, 2, in->d[0]));
	out->f64_hmin = tac_f64x4_hmin(c);
	out->f64_hmax = tac_f64x4_hmax(c);
	out->f64_hsum = tac_f64x4_hsum(c);
}

static void integers(const wide_in *in, wide_out *out)
{
	tac_f32x8 a = tac_f32x8_load(in->a);
	tac_i32x8 i = tac_i32x8_load(in->i), j = tac_i32x8_load(in->j);
	tac_i32x8 index = tac_i32x8_loadu(in->index);
	tac_m32x8 m = tac_m32x8_from_bits(in->bits);
	tac_i32x8_storeu(out->i32[I32_ADD], tac_i32x8_add(i, j));
	tac_i32x8_storeu(out->i32[I32_SUB], tac_i32x8_sub(i, j));
	tac_i32x8_storeu(out->i32[I32_MIN], tac_i32x8_min(i, j));
	tac_i32x8_storeu(out->i32[I32_MAX], tac_i32x8_max(i, j));
	tac_i32x8_storeu(out->i32[I32_AND], tac_i32x8_and(i, j));
	tac_i32x8_storeu(out->i32[I32_OR], tac_i32x8_or(i, j));
	tac_i32x8_storeu(out->i32[I32_XOR], tac_i32x8_xor(i, j));
	tac_i32x8_storeu(out->i32[I32_ANDNOT], tac_i32x8_andnot(i, j));
	tac_i32x8_storeu(out->i32[I32_SHL], tac_i32x8_shl(i, in->shift));
	tac_i32x8_storeu(out->i32[I32_SHR], tac_i32x8_shr(i, in->shift));
	tac_i32x8_storeu(out->i32[I32_SELECT], tac_i32x8_select(m, i, j));
	tac_i32x8_storeu(out->i32[I32_GATHER], tac_i32x8_gather(in->i32_table, index));
	tac_i32x8_storeu(out->i32[I32_PERMUTE], tac_i32x8_permute(i, j));
	tac_i32x8_storeu(out->i32[I32_COMPRESS], tac_i32x8_compress(i, (unsigned)in->j[0] & 0xFF));
	tac_i32x8_storeu(out->i32[I32_SPLAT], tac_i32x8_splat(in->i32_table[3]));
	tac_i32x8_storeu(out->i32[I32_LOADU], tac_i32x8_loadu(in->i32_table + 1));
	tac_i32x8_storeu(out->i32[I32_SET], tac_i32x8_set(i, 5, in->j[0]));
	tac_i32x8_storeu(out->i32[I32_FROM_F32], tac_i32x8_from_f32(a));
	tac_i32x8_storeu(out->i32[I32_BITS], tac_f32x8_to_bits(a));
}

static void masks(const wide_in *in, wide_out *out)
{
	tac_f32x8 a = tac_f32x8_load(in->a), b = tac_f32x8_load(in->b);
	tac_f64x4 c = tac_f64x4_load(in->c), d = tac_f64x4_load(in->d);
	tac_i32x8 i = tac_i32x8_load(in->i), j = tac_i32x8_load(in->j);
	tac_m32x8 m = tac_m32x8_from_bits(in->bits), n = tac_m32x8_from_bits(in->more_bits);
	tac_m64x4 p = tac_m64x4_from_bits(in->bits), q = tac_m64x4_from_bits(in->more_bits);
	out->mask[MASK_F32_LT] = tac_m32x8_movemask(tac_f32x8_lt(a, b));
	out->mask[MASK_F32_LE] = tac_m32x8_movemask(tac_f32x8_le(a, b));
	out->mask[MASK_F32_GT] = tac_m32x8_movemask(tac_f32x8_gt(a, b));
	out->mask[MASK_F32_GE] = tac_m32x8_movemask(tac_f32x8_ge(a, b));
	out->mask[MASK_F32_EQ] = tac_m32x8_movemask(tac_f32x8_eq(a, b));
	out->mask[MASK_F32_NE] = tac_m32x8_movemask(tac_f32x8_ne(a, b));
	out->mask[MASK_F64_LT] = tac_m64x4_movemask(tac_f64x4_lt(c, d));
	out->mask[MASK_F64_LE] = tac_m64x4_movemask(tac_f64x4_le(c, d));
	out->mask[MASK_F64_GT] = tac_m64x4_movemask(tac_f64x4_gt(c, d));
	out->mask[MASK_F64_GE] = tac_m64x4_movemask(tac_f64x4_ge(c, d));
	out->mask[MASK_F64_EQ] = tac_m64x4_movemask(tac_f64x4_eq(c, d));
	out->mask[MASK_F64_NE] = tac_m64x4_movemask(tac_f64x4_ne(c, d));
	out->mask[MASK_I32_LT] = tac_m32x8_movemask(tac_i32x8_lt(i, j));
	out->mask[MASK_I32_GT] = tac_m32x8_movemask(tac_i32x8_gt(i, j));
	out->mask[MASK_I32_EQ] = tac_m32x8_movemask(tac_i32x8_eq(i, j));
	out->mask[MASK_AND] = tac_m32x8_movemask(tac_m32x8_and(m, n));
	out->mask[MASK_OR] = tac_m32x8_movemask(tac_m32x8_or(m, n));
	out->mask[MASK_XOR] = tac_m32x8_movemask(tac_m32x8_xor(m, n));
	out->mask[MASK_ANDNOT] = tac_m32x8_movemask(tac_m32x8_andnot(m, n));
	out->mask[MASK_NOT] = tac_m32x8_movemask(tac_m32x8_not(m));
	out->mask[MASK_ANY] = tac_m32x8_any(m);
	out->mask[MASK_ALL] = tac_m32x8_all(m);
	out->mask[MASK64_AND] = tac_m64x4_movemask(tac_m64x4_and(p, q));
	out->mask[MASK64_OR] = tac_m64x4_movemask(tac_m64x4_or(p, q));
	out->mask[MASK64_XOR] = tac_m64x4_movemask(tac_m64x4_xor(p, q));
	out->mask[MASK64_ANDNOT] = tac_m64x4_movemask(tac_m64x4_andnot(p, q));
	out->mask[MASK64_NOT] = tac_m64x4_movemask(tac_m64x4_not(p));
	out->mask[MASK64_ANY] = tac_m64x4_any(p);
	out->mask[MASK64_ALL] = tac_m64x4_all(p);
}

static void aligned_stores_and_single_lanes(const wide_in *in, wide_out *out)
{
	tac_f32x8 a = tac_f32x8_load(in->a);
	tac_f64x4 c = tac_f64x4_load(in->c);
	tac_i32x8 i = tac_i32x8_load(in->i);
	_Alignas(32) float f32[8];
	_Alignas(32) double f64[4];
	_Alignas(32) int32_t i32[8];
	tac_f32x8_store(f32, a);
	tac_f64x4_store(f64, c);
	tac_i32x8_store(i32, i);
	for (int k = 0; k < 8; k++) {
		out->f32_get[k] = k & 1 ? f32[k] : tac_f32x8_get(a, k);
		out->i32_get[k] = k & 1 ? i32[k] : tac_i32x8_get(i, k);
	}
	for (int k = 0; k < 4; k++)
		out->f64_get[k] = k & 1 ? f64[k] : tac_f64x4_get(c, k);
}

// The lanes from `at` on of the types of the machine's width. Returns how many lanes were packed.
static int machine_width(const wide_in *in, const wide_in16 *w, int at, int packed, wide_out *out)
{
	tac_f32w a = tac_f32w_load(&w->a[at]), b = tac_f32w_loadu(&w->b[at]), twelve[12];
	tac_i32w i = tac_i32w_loadu(&w->i[at]), j = tac_i32w_loadu(&w->j[at]);
	const unsigned all = (1u << TAC_WIDE_LANES) - 1;
	tac_m32w m = tac_m32w_from_bits(w->bits >> at & all),
		 n = tac_m32w_from_bits(w->more_bits >> at & all);
	tac_f32w_storeu(&out->w_rounded[W_ADD][at], tac_f32w_add(a, b));
	tac_f32w_storeu(&out->w_rounded[W_SUB][at], tac_f32w_sub(a, b));
	tac_f32w_storeu(&out->w_rounded[W_MUL][at], tac_f32w_mul(a, b));
	tac_f32w_storeu(&out->w_rounded[W_DIV][at], tac_f32w_div(a, b));
	tac_f32w_storeu(&out->w_rounded[W_SQRT][at], tac_f32w_sqrt(a));
	tac_f32w_storeu(&out->w_moved[W_MIN][at], tac_f32w_min(a, b));
	tac_f32w_storeu(&out->w_moved[W_MAX][at], tac_f32w_max(a, b));
	tac_f32w_storeu(&out->w_moved[W_ABS][at], tac_f32w_abs(a));
	tac_f32w_storeu(&out->w_moved[W_NEG][at], tac_f32w_neg(a));
	tac_f32w_storeu(&out->w_moved[W_SELECT][at], tac_f32w_select(m, a, b));
	tac_f32w_storeu(&out->w_moved[W_SPLAT][at], tac_f32w_splat(in->f32_table[3]));
	_Alignas(64) float e[TAC_WIDE_LANES];
	tac_f32w_store(e, a);
	memcpy(&out->w_moved[W_LOAD][at], e, sizeof e);
	tac_f32w_gather_rows(in->f32_table, 2, &w->index[2 * at], 2, 12, twelve);
	for (int k = 0; k < 12; k++)
		tac_f32w_storeu(&out->w_moved[W_GATHER12 + k][at], twelve[k]);
	tac_i32w_storeu(&out->w_i32[W_AND][at], tac_i32w_and(i, j));
	tac_i32w_storeu(&out->w_i32[W_OR][at], tac_i32w_or(i, j));
	tac_i32w_storeu(&out->w_i32[W_SHL][at], tac_i32w_shl(i, in->shift));
	tac_i32w_storeu(&out->w_i32[W_SHR][at], tac_i32w_shr(i, in->shift));
	tac_i32w_storeu(&out->w_i32[W_SELECT_I32][at], tac_i32w_select(m, i, j));
	tac_i32w_storeu(&out->w_i32[W_SPLAT_I32][at], tac_i32w_splat(in->i32_table[3]));
	tac_i32w_storeu(&out->w_i32[W_BITS][at], tac_f32w_to_bits(a));
	out->w_mask[W_MASK_LT] |= tac_m32w_movemask(tac_f32w_lt(a, b)) << at;
	out->w_mask[W_MASK_LE] |= tac_m32w_movemask(tac_f32w_le(a, b)) << at;
	out->w_mask[W_MASK_EQ] |= tac_m32w_movemask(tac_i32w_eq(i, j)) << at;
	out->w_mask[W_MASK_AND] |= tac_m32w_movemask(tac_m32w_and(m, n)) << at;
	out->w_mask[W_MASK_OR] |= tac_m32w_movemask(tac_m32w_or(m, n)) << at;
	out->w_mask[W_MASK_NOT] |= tac_m32w_movemask(tac_m32w_not(m)) << at;
	out->w_mask[W_MASK_ANY] |= tac_m32w_any(m);
	float to[TAC_WIDE_LANES];
	tac_f32w_pack(to, tac_m32w_order(m), a);
	for (int k = 0; k < __builtin_popcount(tac_m32w_movemask(m)); k++)
		out->w_moved[W_PACK][packed++] = to[k];
	return packed;
}

const char *TAC_SIMD_NAME(wide_kernel)(const wide_in *in, wide_out *out)
{
	floats(in, out);
	doubles(in, out);
	integers(in, out);
	masks(in, out);
	aligned_stores_and_single_lanes(in, out);
	const wide_in16 w = wide_in16_make(in);
	memset(out->w_mask, 0, sizeof out->w_mask);
	memset(out->w_moved[W_PACK], 0, sizeof out->w_moved[W_PACK]);
	for (int at = 0, packed = 0; at < 16; at += TAC_WIDE_LANES)
		packed = machine_width(in, &w, at, packed, out);
	return TAC_WIDE_NAME;
}
