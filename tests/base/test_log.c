#include "base/log.h"

#include "tests/support/capture.h"

#include <unity.h>

#include <string.h>

static char last_line[4096];
static tac_log_level last_level;
static int calls;

static void keep(void *user, tac_log_level level, const char *message)
{
	strncpy(user, message, sizeof last_line - 1);
	last_level = level;
	calls++;
}

void setUp(void)
{
	memset(last_line, 0, sizeof last_line);
	calls = 0;
	tac_log_set(keep, last_line);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static void sink_gets_user_level_and_the_formatted_line(void)
{
	tac_log(TAC_LOG_ERROR, "expected %d, found %s", 3, "four");
	TEST_ASSERT_EQUAL_STRING("expected 3, found four", last_line);
	TEST_ASSERT_EQUAL(TAC_LOG_ERROR, last_level);
	tac_log(TAC_LOG_INFO, "%s", "");
	TEST_ASSERT_EQUAL(TAC_LOG_INFO, last_level);
	TEST_ASSERT_EQUAL(2, calls);
}

static void line_is_truncated_at_1023_bytes(void)
{
	char line[2000];
	memset(line, 'x', sizeof line);
	for (size_t length = 1022; length <= 1025; length++) {
		line[length] = 0;
		tac_log(TAC_LOG_WARNING, "%s", line);
		TEST_ASSERT_EQUAL_size_t(length < 1023 ? length : 1023, strlen(last_line));
		line[length] = 'x';
		memset(last_line, 0, sizeof last_line);
	}
}

static void log_by_default_sink(void)
{
	tac_log_set(NULL, NULL);
	tac_log(TAC_LOG_WARNING, "disk %d%% full", 90);
}

static void null_restores_the_sink_that_writes_to_standard_error(void)
{
	char text[256];
	TEST_ASSERT_EQUAL(0, capture_stderr(log_by_default_sink, text, sizeof text));
	TEST_ASSERT_EQUAL_STRING("tactus: disk 90% full\n", text);
	TEST_ASSERT_EQUAL(0, calls);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(sink_gets_user_level_and_the_formatted_line);
	RUN_TEST(line_is_truncated_at_1023_bytes);
	RUN_TEST(null_restores_the_sink_that_writes_to_standard_error);
	return UNITY_END();
}
