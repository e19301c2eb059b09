// Input: files that hang, never end or are no files.
#include "base/input.h"
#include "tests/support/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <unity.h>

static char folder[] = "/tmp/tactus-input-XXXXXX";
static char path[64];

void setUp(void)
{
	snprintf(path, sizeof path, "%s/file", folder);
}

void tearDown(void)
{
	unlink(path);
}

static void write_file(const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");
	TEST_ASSERT_NOT_NULL(file);
	TEST_ASSERT_EQUAL_size_t(size, fwrite(bytes, 1, size, file));
	fclose(file);
}

static void lines_come_with_their_ends_and_nul_bytes(void)
{
	static const char text[] = "one\n\ntwo\0x\nlast";
	char line[TAC_INPUT_LINE_MAX + 1];
	write_file(text, sizeof text - 1);
	FILE *file = tac_input_open(path);
	TEST_ASSERT_NOT_NULL(file);
	static const struct {
		const char *text;
		long length;
	} expected[] = {{"one\n", 4}, {"\n", 1}, {"two\0x\n", 6}, {"last", 4}, {"", 0}, {"", 0}};
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		TEST_ASSERT_EQUAL_INT64(expected[i].length, tac_input_line(file, line));
		TEST_ASSERT_EQUAL_MEMORY(expected[i].text, line, (size_t)expected[i].length + 1);
	}
	fclose(file);
}

static void a_line_has_a_limit(void)
{
	static char text[TAC_INPUT_LINE_MAX + 2], line[TAC_INPUT_LINE_MAX + 1];
	memset(text, 'x', sizeof text);
	text[TAC_INPUT_LINE_MAX - 1] = '\n';
	write_file(text, TAC_INPUT_LINE_MAX);
	FILE *file = tac_input_open(path);
	TEST_ASSERT_EQUAL_INT64(TAC_INPUT_LINE_MAX, tac_input_line(file, line));
	fclose(file);
	text[TAC_INPUT_LINE_MAX - 1] = 'x';
	text[TAC_INPUT_LINE_MAX] = '\n';
	write_file(text, TAC_INPUT_LINE_MAX + 1);
	file = tac_input_open(path);
	TEST_ASSERT_EQUAL_INT64(-1, tac_input_line(file, line));
	TEST_ASSERT_EQUAL_STRING("a line is longer than 65536 bytes", tac_input_reason(errno));
	fclose(file);
}

static void what_is_no_file_is_refused_with_a_reason(void)
{
	static const struct {
		const char *path, *reason;
	} cases[] = {{"/tmp", "it is a folder"},
		     {"/dev/zero", "it is a device"},
		     {"/dev/null", "it is a device"},
		     {"/no/such/file", "No such file or directory"}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		TEST_ASSERT_NULL(tac_input_open(cases[i].path));
		TEST_ASSERT_EQUAL_STRING(cases[i].reason, tac_input_reason(errno));
	}
}

static void *feed(void *user)
{
	const int fd = open(user, O_WRONLY);
	if (fd >= 0 && write(fd, "late\n", 5) == 5)
		close(fd);
	return NULL;
}

static void a_pipe_with_a_writer_is_read_to_its_end(void)
{
	char line[TAC_INPUT_LINE_MAX + 1];
	pthread_t writer;
	TEST_ASSERT_EQUAL_INT(0, mkfifo(path, 0600));
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&writer, NULL, feed, path));
	FILE *file = tac_input_open(path);
	TEST_ASSERT_NOT_NULL(file);
	TEST_ASSERT_EQUAL_INT64(5, tac_input_line(file, line));
	TEST_ASSERT_EQUAL_STRING("late\n", line);
	pthread_join(writer, NULL);
	TEST_ASSERT_EQUAL_INT64(0, tac_input_line(file, line));
	fclose(file);
}

// A pipe whose writer says nothing.
static void *open_silent(void *user)
{
	(void)user;
	FILE *file = tac_input_open(path);
	return (void *)(size_t)(file ? 0 : errno);
}

static void silence_ends_after_some_seconds(void)
{
	TEST_ASSERT_EQUAL_INT(0, mkfifo(path, 0600));
	const int keep = open(path, O_RDWR);
	pthread_t silent;
	struct timespec begin, end;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&silent, NULL, open_silent, NULL));
	void *error;
	pthread_join(silent, &error);
	clock_gettime(CLOCK_MONOTONIC, &end);
	TEST_ASSERT_EQUAL_INT(ETIMEDOUT, (int)(size_t)error);
	TEST_ASSERT_EQUAL_STRING("no data came for 5 s", tac_input_reason(ETIMEDOUT));
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(TAC_INPUT_WAIT_S - 1, end.tv_sec - begin.tv_sec);
	close(keep);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	UNITY_BEGIN();
	RUN_TEST(lines_come_with_their_ends_and_nul_bytes);
	RUN_TEST(a_line_has_a_limit);
	RUN_TEST(what_is_no_file_is_refused_with_a_reason);
	RUN_TEST(a_pipe_with_a_writer_is_read_to_its_end);
	if (test_long()) // it waits for 5 s
		RUN_TEST(silence_ends_after_some_seconds);
	rmdir(folder);
	return UNITY_END();
}
