#include "base/simd.h"

#include "base/log.h"

#include <unity.h>

#include <stdlib.h>
#include <string.h>

static int lines;
static char last[1024];

static void count_line(void *user, tac_log_level level, const char *message)
{
	(void)user;
	TEST_ASSERT_EQUAL(TAC_LOG_WARNING, level);
	lines++;
	strncpy(last, message, sizeof last - 1);
}

void setUp(void)
{
	lines = 0;
	last[0] = 0;
	tac_log_set(count_line, NULL);
	unsetenv("TACTUS_SIMD");
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static void names_are_those_of_the_environment_variable(void)
{
	TEST_ASSERT_EQUAL_STRING("scalar", tac_simd_name(TAC_SIMD_SCALAR));
	TEST_ASSERT_EQUAL_STRING("sse2", tac_simd_name(TAC_SIMD_SSE2));
	TEST_ASSERT_EQUAL_STRING("avx2", tac_simd_name(TAC_SIMD_AVX2));
	TEST_ASSERT_EQUAL_STRING("avx512", tac_simd_name(TAC_SIMD_AVX512));
	TEST_ASSERT_EQUAL_STRING("neon", tac_simd_name(TAC_SIMD_NEON));
	TEST_ASSERT_EQUAL_STRING("unknown", tac_simd_name(TAC_SIMD_COUNT));
	TEST_ASSERT_EQUAL_STRING("unknown", tac_simd_name((tac_simd)-1));
}

static void scalar_is_always_supported_and_x86_never_has_neon(void)
{
	TEST_ASSERT_TRUE(tac_simd_supported(TAC_SIMD_SCALAR));
	TEST_ASSERT_FALSE(tac_simd_supported(TAC_SIMD_NEON) && tac_simd_supported(TAC_SIMD_SSE2));
	TEST_ASSERT_FALSE(tac_simd_supported(TAC_SIMD_COUNT));
	TEST_ASSERT_TRUE(tac_simd_supported(tac_simd_best()));
}

static void best_is_the_widest_that_is_supported(void)
{
	tac_simd want = tac_simd_supported(TAC_SIMD_AVX512) ? TAC_SIMD_AVX512
			: tac_simd_supported(TAC_SIMD_AVX2) ? TAC_SIMD_AVX2
			: tac_simd_supported(TAC_SIMD_NEON) ? TAC_SIMD_NEON
			: tac_simd_supported(TAC_SIMD_SSE2) ? TAC_SIMD_SSE2
							    : TAC_SIMD_SCALAR;
	TEST_ASSERT_EQUAL(want, tac_simd_best());
	TEST_ASSERT_EQUAL(want, tac_simd_select());
	setenv("TACTUS_SIMD", "", 1);
	TEST_ASSERT_EQUAL(want, tac_simd_select());
	TEST_ASSERT_EQUAL(0, lines);
}

static void the_environment_selects_a_supported_variant(void)
{
	for (int simd = 0; simd < TAC_SIMD_COUNT; simd++) {
		if (!tac_simd_supported((tac_simd)simd))
			continue;
		setenv("TACTUS_SIMD", tac_simd_name((tac_simd)simd), 1);
		TEST_ASSERT_EQUAL(simd, tac_simd_select());
	}
	TEST_ASSERT_EQUAL(0, lines);
}

static void an_unsupported_request_gives_the_best_and_one_warning(void)
{
	setenv("TACTUS_SIMD", "AVX9000", 1);
	TEST_ASSERT_EQUAL(tac_simd_best(), tac_simd_select());
	TEST_ASSERT_EQUAL(1, lines);
	TEST_ASSERT_NOT_NULL(strstr(last, "TACTUS_SIMD=AVX9000"));
	TEST_ASSERT_NOT_NULL(strstr(last, tac_simd_name(tac_simd_best())));
	// No machine has both of these.
	setenv("TACTUS_SIMD", tac_simd_supported(TAC_SIMD_NEON) ? "sse2" : "neon", 1);
	TEST_ASSERT_EQUAL(tac_simd_best(), tac_simd_select());
	TEST_ASSERT_EQUAL(1, lines);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(names_are_those_of_the_environment_variable);
	RUN_TEST(scalar_is_always_supported_and_x86_never_has_neon);
	RUN_TEST(best_is_the_widest_that_is_supported);
	RUN_TEST(the_environment_selects_a_supported_variant);
	RUN_TEST(an_unsupported_request_gives_the_best_and_one_warning);
	return UNITY_END();
}
