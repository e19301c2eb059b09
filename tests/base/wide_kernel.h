// The kernel of tests/base/test_wide.c: every operation of base/simd/wide.h on one set of operands.
#ifndef TAC_TESTS_BASE_WIDE_KERNEL_H
#define TAC_TESTS_BASE_WIDE_KERNEL_H

#include <stdint.h>

#include "base/simd.h"

typedef struct wide_in {
	_Alignas(32) float a[8], b[8];
	_Alignas(32) double c[4], d[4];
	_Alignas(32) int32_t i[8], j[8];
	_Alignas(32) float table_24[24];
	int32_t index_24[8];
	int32_t index[8]; // into the 16 elements of each table
	const float *f32_table;
	const double *f64_table;
	const int32_t *i32_table;
	unsigned bits, more_bits;
	int shift;
} wide_in;

// Rounded results may be a NaN of any sign and payload; moved ones must keep every bit.
enum { F32_ADD, F32_SUB, F32_MUL, F32_DIV, F32_SQRT, F32_FROM_F64, F32_ROUNDED_COUNT };
enum {
	F32_MIN,
	F32_MAX,
	F32_ABS,
	F32_NEG,
	F32_SELECT,
	F32_GATHER,
	F32_GATHER24,
	F32_GATHER4,
	F32_GATHER4_LAST = F32_GATHER4 + 3,
	F32_GATHER12,
	F32_GATHER12_LAST = F32_GATHER12 + 11,
	F32_PERMUTE,
	F32_SPLAT,
	F32_LOADU,
	F32_SET,
	F32_BITS,
	F32_FROM_I32,
	F32_MOVED_COUNT
};
enum { F64_ADD, F64_SUB, F64_MUL, F64_DIV, F64_SQRT, F64_LOW, F64_HIGH, F64_ROUNDED_COUNT };
enum {
	F64_MIN,
	F64_MAX,
	F64_ABS,
	F64_NEG,
	F64_SELECT,
	F64_GATHER,
	F64_SPLAT,
	F64_LOADU,
	F64_SET,
	F64_MOVED_COUNT
};
enum {
	I32_ADD,
	I32_SUB,
	I32_MIN,
	I32_MAX,
	I32_AND,
	I32_OR,
	I32_XOR,
	I32_ANDNOT,
	I32_SHL,
	I32_SHR,
	I32_SELECT,
	I32_GATHER,
	I32_PERMUTE,
	I32_COMPRESS,
	I32_SPLAT,
	I32_LOADU,
	I32_SET,
	I32_FROM_F32,
	I32_BITS,
	I32_COUNT
};
enum {
	MASK_F32_LT,
	MASK_F32_LE,
	MASK_F32_GT,
	MASK_F32_GE,
	MASK_F32_EQ,
	MASK_F32_NE,
	MASK_F64_LT,
	MASK_F64_LE,
	MASK_F64_GT,
	MASK_F64_GE,
	MASK_F64_EQ,
	MASK_F64_NE,
	MASK_I32_LT,
	MASK_I32_GT,
	MASK_I32_EQ,
	MASK_AND,
	MASK_OR,
	MASK_XOR,
	MASK_ANDNOT,
	MASK_NOT,
	MASK_ANY,
	MASK_ALL,
	MASK64_AND,
	MASK64_OR,
	MASK64_XOR,
	MASK64_ANDNOT,
	MASK64_NOT,
	MASK64_ANY,
	MASK64_ALL,
	MASK_COUNT
};

// Of the types of the machine's width: results of 16 lanes in every variant, in one or two parts.
enum { W_ADD, W_SUB, W_MUL, W_DIV, W_SQRT, W_ROUNDED_COUNT };
enum {
	W_MIN,
	W_MAX,
	W_ABS,
	W_NEG,
	W_SELECT,
	W_SPLAT,
	W_LOAD,
	W_PACK,
	W_GATHER12,
	W_GATHER12_LAST = W_GATHER12 + 11,
	W_MOVED_COUNT
};
enum { W_AND, W_OR, W_SHL, W_SHR, W_SELECT_I32, W_SPLAT_I32, W_BITS, W_I32_COUNT };
enum { W_MASK_LT, W_MASK_LE, W_MASK_EQ, W_MASK_AND, W_MASK_OR, W_MASK_NOT, W_MASK_ANY, W_MASK_COUNT };

typedef struct wide_out {
	float w_rounded[W_ROUNDED_COUNT][16], w_moved[W_MOVED_COUNT][16];
	int32_t w_i32[W_I32_COUNT][16];
	unsigned w_mask[W_MASK_COUNT];
	float f32_rounded[F32_ROUNDED_COUNT][8], f32_moved[F32_MOVED_COUNT][8], f32_hmin, f32_hmax, f32_hsum,
		f32_get[8];
	double f64_rounded[F64_ROUNDED_COUNT][4], f64_moved[F64_MOVED_COUNT][4], f64_hmin, f64_hmax, f64_hsum,
		f64_get[4];
	int32_t i32[I32_COUNT][8], i32_get[8];
	unsigned mask[MASK_COUNT];
} wide_out;

// The operands of the types of the machine's width: those of eight lanes, one after another.
typedef struct wide_in16 {
	_Alignas(64) float a[16], b[16];
	int32_t i[16], j[16];
	int32_t index[32]; // of gather_rows, every second one, with the stride 2
	unsigned bits, more_bits;
} wide_in16;

static inline wide_in16 wide_in16_make(const wide_in *in)
{
	wide_in16 w = {.bits = (in->bits & 0xFF) | (in->more_bits & 0xFF) << 8,
		       .more_bits = (in->more_bits & 0xFF) | (~in->bits & 0xFF) << 8};
	for (int k = 0; k < 8; k++) {
		w.a[k] = w.b[k + 8] = in->a[k];
		w.b[k] = w.a[k + 8] = in->b[k];
		w.i[k] = w.j[k + 8] = in->i[k];
		w.j[k] = w.i[k + 8] = in->j[k];
		w.index[2 * k] = in->index[k] % 3;
		w.index[2 * k + 16] = in->index[7 - k] % 3;
	}
	return w;
}

typedef const char *wide_kernel_fn(const wide_in *in, wide_out *out);
// Fills *out and returns the name of its variant in base/simd/wide.h.
TAC_SIMD_DECLARE(wide_kernel_fn, wide_kernel);

#endif
