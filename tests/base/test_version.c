#include "base/version.h"

#include <unity.h>

#include <stdio.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static void version_is_the_one_that_cmake_was_configured_with(void)
{
	TEST_ASSERT_EQUAL_STRING(TACTUS_CONFIGURED_VERSION, tac_version());
}

static void version_has_three_numbers(void)
{
	unsigned major, minor, patch;
	char rest;
	TEST_ASSERT_EQUAL_INT(3, sscanf(tac_version(), "%u.%u.%u%c", &major, &minor, &patch, &rest));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(version_is_the_one_that_cmake_was_configured_with);
	RUN_TEST(version_has_three_numbers);
	return UNITY_END();
}
