#include "base/result.h"

#include <unity.h>

#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static const tac_result all[] = {
	TAC_OK,           TAC_PARTIAL,  TAC_ERROR_ARGUMENT, TAC_ERROR_MEMORY,
	TAC_ERROR_SYSTEM, TAC_ERROR_IO, TAC_ERROR_FORMAT,   TAC_ERROR_UNSUPPORTED,
};

enum { COUNT = sizeof all / sizeof all[0] };

static void zero_is_success_positive_is_restricted_negative_is_an_error(void)
{
	TEST_ASSERT_EQUAL(0, TAC_OK);
	TEST_ASSERT_GREATER_THAN(0, TAC_PARTIAL);
	for (int i = 2; i < COUNT; i++)
		TEST_ASSERT_LESS_THAN(0, all[i]);
}

static void every_result_has_a_distinct_name(void)
{
	for (int i = 0; i < COUNT; i++) {
		TEST_ASSERT_NOT_EQUAL(0, strcmp(tac_result_name(all[i]), "unknown result"));
		for (int j = 0; j < i; j++)
			TEST_ASSERT_NOT_EQUAL(0, strcmp(tac_result_name(all[i]), tac_result_name(all[j])));
	}
	TEST_ASSERT_EQUAL_STRING("ok", tac_result_name(TAC_OK));
	TEST_ASSERT_EQUAL_STRING("unknown result", tac_result_name((tac_result)-7));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(zero_is_success_positive_is_restricted_negative_is_an_error);
	RUN_TEST(every_result_has_a_distinct_name);
	return UNITY_END();
}
