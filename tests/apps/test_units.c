// Lengths and forces as text.
#include "apps/session/units.h"

#include <math.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static void lengths_have_the_unit_that_fits(void)
{
	char text[UNITS_TEXT];
	TEST_ASSERT_EQUAL_STRING("64 mm", units_length(0.064, text));
	TEST_ASSERT_EQUAL_STRING("1.25 m", units_length(1.25, text));
	TEST_ASSERT_EQUAL_STRING("-20 um", units_length(-2e-5, text));
	TEST_ASSERT_EQUAL_STRING("0 m", units_length(0, text));
}

static void a_force_that_was_let_go_has_no_bound(void)
{
	char text[UNITS_TEXT];
	TEST_ASSERT_EQUAL_STRING("bound 0.61 N", units_bound(0.614, text));
	TEST_ASSERT_EQUAL_STRING("cut on purpose", units_bound(HUGE_VAL, text));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(lengths_have_the_unit_that_fits);
	RUN_TEST(a_force_that_was_let_go_has_no_bound);
	return UNITY_END();
}
