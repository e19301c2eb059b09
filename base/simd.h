// SIMD: selection of the instruction set that a kernel runs with. A kernel is one source file, written with
// base/simd/wide.h and compiled once for each variant of the target (tactus_simd_variants of
// cmake/TactusSimd.cmake).
//
// In a private header, declare sum_scalar, sum_avx2, …:
//   typedef void sum_fn(const float *in, float *out);
//   TAC_SIMD_DECLARE(sum_fn, sum);
//
// In the kernel:
//   void TAC_SIMD_NAME(sum)(const float *in, float *out) { … }
//
// In the module that uses it, select once at set-up:
//   static sum_fn *const sums[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(sum);
//   sum_fn *sum = sums[tac_simd_select()];
#ifndef TAC_BASE_SIMD_H
#define TAC_BASE_SIMD_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_simd {
	TAC_SIMD_SCALAR, // plain C, available on every machine: the reference
	TAC_SIMD_SSE2,
	TAC_SIMD_AVX2,
	TAC_SIMD_AVX512, // F, VL and DQ
	TAC_SIMD_NEON,   // 64-bit ARM
	TAC_SIMD_COUNT,
} tac_simd;

// The most floats that a kernel of any variant takes at once (TAC_WIDE_LANES of base/simd/wide.h).
#define TAC_SIMD_LANES_MAX 16

// Whether this build contains the variant and this CPU and operating system run it. Scalar is always
// supported.
// Thread: any.
bool tac_simd_supported(tac_simd simd);

// The fastest supported variant.
// Thread: any.
tac_simd tac_simd_best(void);

// The variant to use: the one that the environment variable TACTUS_SIMD names (scalar, sse2, avx2, avx512 or
// neon), or the best if it is unset. An unknown or unsupported name also selects the best and logs one
// warning per process: a stale variable should be noticed but must not keep a device from starting.
// Thread: setup.
tac_simd tac_simd_select(void);

// "scalar", "sse2", "avx2", "avx512", "neon". Never NULL.
// Thread: any.
const char *tac_simd_name(tac_simd simd);

// The build sets TAC_SIMD_SUFFIX for each compilation of a kernel: _scalar, _sse2, _avx2, _avx512 or _neon.
#define TAC_SIMD_JOIN_(name, suffix) name##suffix
#define TAC_SIMD_JOIN(name, suffix)  TAC_SIMD_JOIN_(name, suffix)
#define TAC_SIMD_NAME(name)          TAC_SIMD_JOIN(name, TAC_SIMD_SUFFIX)

// The variants of the target, under the same conditions as in cmake/TactusSimd.cmake.
#if defined(TAC_NO_SIMD)
#define TAC_SIMD_DECLARE(fn_type, name) fn_type name##_scalar
#define TAC_SIMD_TABLE(name)                                                                                 \
	{                                                                                                    \
		[TAC_SIMD_SCALAR] = name##_scalar                                                            \
	}
#elif defined(__x86_64__)
#define TAC_SIMD_DECLARE(fn_type, name) fn_type name##_scalar, name##_sse2, name##_avx2, name##_avx512
#define TAC_SIMD_TABLE(name)                                                                                 \
	{                                                                                                    \
		[TAC_SIMD_SCALAR] = name##_scalar, [TAC_SIMD_SSE2] = name##_sse2,                            \
		[TAC_SIMD_AVX2] = name##_avx2, [TAC_SIMD_AVX512] = name##_avx512                             \
	}
#elif defined(__aarch64__)
#define TAC_SIMD_DECLARE(fn_type, name) fn_type name##_scalar, name##_neon
#define TAC_SIMD_TABLE(name)                                                                                 \
	{                                                                                                    \
		[TAC_SIMD_SCALAR] = name##_scalar, [TAC_SIMD_NEON] = name##_neon                             \
	}
#else
#define TAC_SIMD_DECLARE(fn_type, name) fn_type name##_scalar
#define TAC_SIMD_TABLE(name)                                                                                 \
	{                                                                                                    \
		[TAC_SIMD_SCALAR] = name##_scalar                                                            \
	}
#endif

#ifdef __cplusplus
}
#endif

#endif
