// The types of the machine's width in base/simd/wide.h where that is eight lanes: other names of those of
// eight.
#define TAC_WIDE_LANES 8

#define tac_f32w tac_f32x8
#define tac_i32w tac_i32x8
#define tac_m32w tac_m32x8

#define tac_f32w_splat       tac_f32x8_splat
#define tac_f32w_load        tac_f32x8_load
#define tac_f32w_loadu       tac_f32x8_loadu
#define tac_f32w_store       tac_f32x8_store
#define tac_f32w_storeu      tac_f32x8_storeu
#define tac_f32w_add         tac_f32x8_add
#define tac_f32w_sub         tac_f32x8_sub
#define tac_f32w_mul         tac_f32x8_mul
#define tac_f32w_div         tac_f32x8_div
#define tac_f32w_min         tac_f32x8_min
#define tac_f32w_max         tac_f32x8_max
#define tac_f32w_sqrt        tac_f32x8_sqrt
#define tac_f32w_abs         tac_f32x8_abs
#define tac_f32w_neg         tac_f32x8_neg
#define tac_f32w_lt          tac_f32x8_lt
#define tac_f32w_le          tac_f32x8_le
#define tac_f32w_select      tac_f32x8_select
#define tac_f32w_to_bits     tac_f32x8_to_bits
#define tac_f32w_gather_rows tac_f32x8_gather_rows

#define tac_i32w_splat  tac_i32x8_splat
#define tac_i32w_loadu  tac_i32x8_loadu
#define tac_i32w_storeu tac_i32x8_storeu
#define tac_i32w_and    tac_i32x8_and
#define tac_i32w_or     tac_i32x8_or
#define tac_i32w_shl    tac_i32x8_shl
#define tac_i32w_shr    tac_i32x8_shr
#define tac_i32w_eq     tac_i32x8_eq
#define tac_i32w_select tac_i32x8_select

#define tac_m32w_and       tac_m32x8_and
#define tac_m32w_or        tac_m32x8_or
#define tac_m32w_not       tac_m32x8_not
#define tac_m32w_movemask  tac_m32x8_movemask
#define tac_m32w_from_bits tac_m32x8_from_bits

#ifndef TAC_WIDE_PACK
typedef unsigned tac_orderw; // bit i: lane i is chosen

TAC_WIDE tac_orderw tac_m32w_order(tac_m32w m)
{
	return tac_m32w_movemask(m);
}

// Without a branch: a lane that is not chosen is overwritten by the next one.
TAC_WIDE void tac_f32w_pack(float *to, tac_orderw order, tac_f32w v)
{
	float e[8];
	tac_f32w_storeu(e, v);
	for (int i = 0; i < 8; i++) {
		*to = e[i];
		to += order >> i & 1;
	}
}
#endif
