#include "base/denormal.h"

#include <unity.h>

#include <float.h>

void setUp(void)
{
	if (TAC_DENORMAL_BITS == 0)
		TEST_IGNORE_MESSAGE("base/denormal.h has no control for this CPU");
}

void tearDown(void)
{
	tac_denormal_flush(false);
}

// Volatile: the compiler must not fold these.
static volatile float f32_min = FLT_MIN, f32_denormal = FLT_TRUE_MIN;
static volatile double f64_min = DBL_MIN, f64_denormal = DBL_TRUE_MIN;

static void denormals_are_kept_unless_flushed(void)
{
	TEST_ASSERT_FALSE(tac_denormal_flushed());
	TEST_ASSERT_TRUE(f32_min / 2 > 0 && f64_min / 2 > 0);
	TEST_ASSERT_TRUE(f32_denormal * 0x1p30f > 0 && f64_denormal * 0x1p60 > 0);
}

static void flushed_denormals_are_zero_as_results_and_as_operands(void)
{
	tac_denormal_flush(true);
	bool flushed = tac_denormal_flushed();
	// Checked after the setting is restored: until then a denormal that was kept compares equal to zero.
	volatile float f32_result = f32_min / 2, f32_operand = f32_denormal * 0x1p30f;
	volatile double f64_result = f64_min / 2, f64_operand = f64_denormal * 0x1p60;
	bool normal = f32_min > 0 && f64_min > 0;
	tac_denormal_flush(false);
	TEST_ASSERT_TRUE(flushed);
	TEST_ASSERT_TRUE(normal);
	TEST_ASSERT_TRUE(f32_result == 0 && f64_result == 0);
	TEST_ASSERT_TRUE(f32_operand == 0 && f64_operand == 0);
	denormals_are_kept_unless_flushed();
}

static void flushing_leaves_the_other_control_bits_alone(void)
{
	uint64_t before = tac_denormal_control();
	tac_denormal_flush(true);
	uint64_t during = tac_denormal_control();
	tac_denormal_flush(false);
	TEST_ASSERT_EQUAL_HEX64(before | TAC_DENORMAL_BITS, during);
	TEST_ASSERT_EQUAL_HEX64(before, tac_denormal_control());
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(denormals_are_kept_unless_flushed);
	RUN_TEST(flushed_denormals_are_zero_as_results_and_as_operands);
	RUN_TEST(flushing_leaves_the_other_control_bits_alone);
	return UNITY_END();
}
