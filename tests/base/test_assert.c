// Assertions are enabled here also in a build without them.
#undef TAC_NO_ASSERT
#include "base/assert.h"

#include "tests/support/capture.h"

#include <unity.h>

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

static jmp_buf after_failure;
static const char *condition, *file;
static int line;

static void leave(const char *c, const char *f, int l)
{
	condition = c;
	file = f;
	line = l;
	longjmp(after_failure, 1);
}

void setUp(void)
{
}

void tearDown(void)
{
	tac_assert_set(NULL);
}

static void hook_gets_the_condition_and_its_location_and_may_leave(void)
{
	volatile bool left = false;
	tac_assert_set(leave);
	volatile int here = __LINE__ + 2;
	if (setjmp(after_failure) == 0)
		TAC_ASSERT(1 + 1 == 3);
	else
		left = true;
	TEST_ASSERT_TRUE(left);
	TEST_ASSERT_EQUAL_STRING("1 + 1 == 3", condition);
	TEST_ASSERT_EQUAL_STRING(__FILE__, file);
	TEST_ASSERT_EQUAL(here, line);
}

static void true_condition_is_evaluated_once_and_passes(void)
{
	int evaluated = 0;
	TAC_ASSERT(++evaluated == 1);
	TEST_ASSERT_EQUAL(1, evaluated);
}

static void stay(const char *c, const char *f, int l)
{
	(void)c;
	(void)f;
	(void)l;
}

static void fail_with_a_hook_that_returns(void)
{
	tac_assert_set(stay);
	TAC_ASSERT(0);
}

static void fail_with_the_default_hook(void)
{
	tac_assert_set(stay);
	tac_assert_set(NULL);
	volatile bool safe = false;
	TAC_ASSERT(safe);
}

static void process_aborts_if_the_hook_returns(void)
{
	char text[256];
	int status = capture_stderr(fail_with_a_hook_that_returns, text, sizeof text);
	TEST_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void default_hook_prints_the_location_and_aborts(void)
{
	char text[512];
	int status = capture_stderr(fail_with_the_default_hook, text, sizeof text);
	TEST_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	TEST_ASSERT_NOT_NULL(strstr(text, "tactus: assertion failed: safe ("));
	TEST_ASSERT_NOT_NULL(strstr(text, "test_assert.c:"));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(hook_gets_the_condition_and_its_location_and_may_leave);
	RUN_TEST(true_condition_is_evaluated_once_and_passes);
	RUN_TEST(process_aborts_if_the_hook_returns);
	RUN_TEST(default_hook_prints_the_location_and_aborts);
	return UNITY_END();
}
