#include "base/simd.h"

#include "base/log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TAC_SIMD_COUNT] = {"scalar", "sse2", "avx2", "avx512", "neon"};

#if defined(TAC_NO_SIMD)
static bool cpu_has(tac_simd simd)
{
	(void)simd;
	return false;
}
#elif defined(__x86_64__)
static bool cpu_has(tac_simd simd)
{
	// The builtin also checks (XGETBV) that the operating system saves the AVX registers.
	switch (simd) {
	case TAC_SIMD_SSE2:
		return true;
	case TAC_SIMD_AVX2:
		return __builtin_cpu_supports("avx2");
	case TAC_SIMD_AVX512:
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512dq");
	default:
		return false;
	}
}
#elif defined(__aarch64__)
static bool cpu_has(tac_simd simd)
{
	return simd == TAC_SIMD_NEON;
}
#else
static bool cpu_has(tac_simd simd)
{
	(void)simd;
	return false;
}
#endif

bool tac_simd_supported(tac_simd simd)
{
	return simd == TAC_SIMD_SCALAR || cpu_has(simd);
}

tac_simd tac_simd_best(void)
{
	static const tac_simd fastest_first[] = {TAC_SIMD_AVX512, TAC_SIMD_AVX2, TAC_SIMD_NEON,
						 TAC_SIMD_SSE2};
	for (size_t i = 0; i < sizeof fastest_first / sizeof fastest_first[0]; i++)
		if (tac_simd_supported(fastest_first[i]))
			return fastest_first[i];
	return TAC_SIMD_SCALAR;
}

tac_simd tac_simd_select(void)
{
	static atomic_flag warned = ATOMIC_FLAG_INIT;
	const char *requested = secure_getenv("TACTUS_SIMD");
	tac_simd best = tac_simd_best();
	if (!requested || !*requested)
		return best;
	const char *problem = "expected scalar, sse2, avx2, avx512 or neon";
	for (int simd = 0; simd < TAC_SIMD_COUNT; simd++) {
		if (strcmp(requested, names[simd]) != 0)
			continue;
		if (tac_simd_supported((tac_simd)simd))
			return (tac_simd)simd;
		problem = "not in this build or not on this CPU";
	}
	if (!atomic_flag_test_and_set(&warned))
		tac_log(TAC_LOG_WARNING, "TACTUS_SIMD=%s: %s; using %s", requested, problem, names[best]);
	return best;
}

const char *tac_simd_name(tac_simd simd)
{
	return (unsigned)simd < TAC_SIMD_COUNT ? names[simd] : "unknown";
}
