#include "base/log.h"

#include "tests/capture.h"

#include <unity.h>

#include <string.h>

static char seen[4096];
static tac_log_level seen_level;
static int calls;

static void keep(void *user, tac_log_level level, const char *message)
{
	strncpy(user, message, sizeof seen - 1);
	seen_level = level;
	calls++;
}

void setUp(void)
{
	memset(seen, 0, sizeof seen);
	calls = 0;
	tac_log_set(keep, seen);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static void sink_gets_user_level_and_the_formatted_line(void)
{
	tac_log(TAC_LOG_ERROR, "expected %d, found %s", 3, "four");
	TEST_ASSERT_EQUAL_STRING("expected 3, found four", seen);
	TEST_ASSERT_EQUAL(TAC_LOG_ERROR, seen_level);
	tac_log(TAC_LOG_INFO, "%s", "");
	TEST_ASSERT_EQUAL(TAC_LOG_INFO, seen_level);
	TEST_ASSERT_EQUAL(2, calls);
}

static void line_is_cut_at_1023_bytes(void)
{
	char line[2000];
	memset(line, 'x', sizeof line);
	for (size_t length = 1022; length <= 1025; length++) {
		line[length] = 0;
		tac_log(TAC_LOG_WARNING, "%s", line);
		TEST_ASSERT_EQUAL_size_t(length < 1023 ? length : 1023, strlen(seen));
		line[length] = 'x';
		memset(seen, 0, sizeof seen);
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
	RUN_TEST(line_is_cut_at_1023_bytes);
	RUN_TEST(null_restores_the_sink_that_writes_to_standard_error);
	return UNITY_END();
}
