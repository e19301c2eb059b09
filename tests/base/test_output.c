// Oracles: what the file holds after each failure, read back through the system.
#include "base/output.h"

#include "tests/support/logged.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unity.h>

static char folder[64], path[128], other[128];
static tac_output *output;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	snprintf(folder, sizeof folder, "/tmp/tactus output-XXXXXX");
	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/a file", folder);
	snprintf(other, sizeof other, "%s/another", folder);
}

static int entries(void)
{
	int count = 0;
	DIR *open = opendir(folder);
	for (const struct dirent *entry; (entry = readdir(open));)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(open);
	return count;
}

void tearDown(void)
{
	tac_output_discard(&output);
	unlink(path);
	unlink(other);
	TEST_ASSERT_EQUAL_INT(0, entries()); // nothing temporary is left
	rmdir(folder);
	tac_log_set(NULL, NULL);
}

static const char *contents(const char *of)
{
	static char text[256];
	FILE *file = fopen(of, "r");
	if (!file)
		return NULL;
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void write_old(void)
{
	FILE *file = fopen(path, "w");
	fputs("old", file);
	fclose(file);
}

static tac_result write_new(const char *to)
{
	const tac_result result = tac_output_create(to, "test", &output);
	if (result < TAC_OK)
		return result;
	fputs("new", tac_output_file(output));
	return tac_output_commit(&output);
}

static void a_file_appears_with_the_commit(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_output_create(path, "test", &output));
	fputs("new", tac_output_file(output));
	fflush(tac_output_file(output));
	TEST_ASSERT_NULL(contents(path));
	TEST_ASSERT_EQUAL(TAC_OK, tac_output_commit(&output));
	TEST_ASSERT_NULL(output);
	TEST_ASSERT_EQUAL_STRING("new", contents(path));
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
}

static void an_older_file_stays_until_the_commit_and_after_a_discard(void)
{
	write_old();
	TEST_ASSERT_EQUAL(TAC_OK, tac_output_create(path, "test", &output));
	fputs("new", tac_output_file(output));
	fflush(tac_output_file(output));
	TEST_ASSERT_EQUAL_STRING("old", contents(path));
	tac_output_discard(&output);
	TEST_ASSERT_EQUAL_STRING("old", contents(path));
	TEST_ASSERT_EQUAL(TAC_OK, write_new(path));
	TEST_ASSERT_EQUAL_STRING("new", contents(path));
}

static void permissions_are_kept_and_new_files_follow_the_umask(void)
{
	const mode_t before = umask(027);
	struct stat status;
	TEST_ASSERT_EQUAL(TAC_OK, write_new(path));
	TEST_ASSERT_EQUAL(0, stat(path, &status));
	TEST_ASSERT_EQUAL_HEX32(0640, status.st_mode & 07777);
	TEST_ASSERT_EQUAL(0, chmod(path, 0604));
	TEST_ASSERT_EQUAL(TAC_OK, write_new(path));
	TEST_ASSERT_EQUAL(0, stat(path, &status));
	TEST_ASSERT_EQUAL_HEX32(0604, status.st_mode & 07777);
	umask(before);
}

// To a target that exists, and to one that does not; relative and absolute.
static void a_symbolic_link_stays_and_its_target_is_replaced(void)
{
	const char *const targets[] = {"a file", path};
	for (int i = 0; i < 4; i++) {
		if (i >= 2)
			write_old();
		TEST_ASSERT_EQUAL(0, symlink(targets[i % 2], other));
		TEST_ASSERT_EQUAL(TAC_OK, write_new(other));
		struct stat status;
		TEST_ASSERT_TRUE(lstat(other, &status) == 0 && S_ISLNK(status.st_mode));
		TEST_ASSERT_EQUAL_STRING("new", contents(path));
		unlink(other);
		unlink(path);
	}
	TEST_ASSERT_EQUAL(0, symlink("another", other)); // to itself
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, write_new(other));
	TEST_ASSERT_NOT_NULL(strstr(logged, strerror(ELOOP)));
}

static void what_cannot_be_created_is_refused_with_one_line(void)
{
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, write_new("/no/such/folder/file"));
	TEST_ASSERT_NOT_NULL(strstr(logged, strerror(ENOENT)));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, write_new(folder));
	TEST_ASSERT_NOT_NULL(strstr(logged, strerror(EISDIR)));
	char name[5000];
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, write_new(name));
	TEST_ASSERT_EQUAL_INT(3, logged_lines);
}

// /dev/full, and a limit on the size of files that stands for a full disk.
static void a_full_disk_gives_one_line_and_leaves_the_older_file(void)
{
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, write_new("/dev/full"));
	TEST_ASSERT_NOT_NULL(strstr(logged, strerror(ENOSPC)));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	write_old();
	struct rlimit before, small = {10000, 10000};
	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	TEST_ASSERT_EQUAL(TAC_OK, tac_output_create(path, "test", &output));
	for (int i = 0; i < 100000; i++)
		fputs("new", tac_output_file(output));
	errno = 0; // what was set since the failed write does not matter
	const tac_result result = tac_output_commit(&output);
	setrlimit(RLIMIT_FSIZE, &before);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, result);
	TEST_ASSERT_EQUAL_INT(2, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, strerror(EFBIG)));
	TEST_ASSERT_EQUAL_STRING("old", contents(path));
}

static void a_full_file_system_leaves_the_older_file(void)
{
	if (mount("none", folder, "tmpfs", 0, "size=64k") != 0)
		TEST_IGNORE_MESSAGE("needs the right to mount a file system");
	write_old();
	TEST_ASSERT_EQUAL(TAC_OK, tac_output_create(path, "test", &output));
	for (int i = 0; i < 100000; i++)
		fputs("new", tac_output_file(output));
	const tac_result result = tac_output_commit(&output);
	const bool kept = strcmp(contents(path), "old") == 0;
	const int left = entries();
	umount(folder);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, result);
	TEST_ASSERT_TRUE(kept);
	TEST_ASSERT_EQUAL_INT(1, left);
	TEST_ASSERT_NOT_NULL(strstr(logged, strerror(ENOSPC)));
}

static void a_killed_writer_leaves_the_older_file_and_nothing_else(void)
{
	write_old();
	int ends[2];
	TEST_ASSERT_EQUAL(0, pipe(ends));
	const pid_t child = fork();
	if (child == 0) {
		tac_output_create(path, "test", &output);
		fputs("new", tac_output_file(output));
		fflush(tac_output_file(output));
		_exit(write(ends[1], "x", 1) == 1 && pause() == 0);
	}
	char ready;
	TEST_ASSERT_EQUAL(1, read(ends[0], &ready, 1));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	TEST_ASSERT_EQUAL_STRING("old", contents(path));
	const int nameless = open(folder, O_WRONLY | O_TMPFILE, 0600);
	if (nameless < 0) { // on such a file system the temporary file has a name
		char command[128];
		snprintf(command, sizeof command, "rm -f '%s'/.tactus-*", folder);
		TEST_ASSERT_EQUAL(0, system(command));
	} else {
		close(nameless);
	}
	TEST_ASSERT_EQUAL_INT(1, entries());
}

static void streams_are_written_directly(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, write_new("/dev/null"));
	// A pipe with a reader, without one, and with one that goes away.
	TEST_ASSERT_EQUAL(0, mkfifo(path, 0600));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, write_new(path));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	const int reader = open(path, O_RDONLY | O_NONBLOCK);
	TEST_ASSERT_EQUAL(TAC_OK, write_new(path));
	char text[4] = "";
	TEST_ASSERT_EQUAL(3, read(reader, text, 3));
	TEST_ASSERT_EQUAL_STRING("new", text);
	TEST_ASSERT_EQUAL(TAC_OK, tac_output_create(path, "test", &output));
	close(reader);
	fputs("new", tac_output_file(output));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_output_commit(&output)); // and no SIGPIPE
	TEST_ASSERT_NOT_NULL(strstr(logged, strerror(EPIPE)));
	struct stat status;
	TEST_ASSERT_TRUE(stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
	unlink(path);
	// A regular file behind /dev/fd is the stream of whoever opened it, not a name.
	const int file = open(path, O_RDWR | O_CREAT, 0600);
	char name[32];
	snprintf(name, sizeof name, "/dev/fd/%d", file);
	struct stat before, after;
	fstat(file, &before);
	TEST_ASSERT_EQUAL(TAC_OK, write_new(name));
	TEST_ASSERT_EQUAL_STRING("new", contents(path));
	stat(path, &after);
	TEST_ASSERT_EQUAL_UINT64(before.st_ino, after.st_ino);
	close(file);
}

static void the_same_file_is_recognised_in_all_its_names(void)
{
	write_old();
	char spelled[160];
	snprintf(spelled, sizeof spelled, "%s/../%s/./a file", folder, strrchr(folder, '/') + 1);
	TEST_ASSERT_TRUE(tac_output_same_file(path, spelled));
	TEST_ASSERT_FALSE(tac_output_same_file(path, other));
	TEST_ASSERT_EQUAL(0, link(path, other));
	TEST_ASSERT_TRUE(tac_output_same_file(path, other));
	unlink(other);
	TEST_ASSERT_EQUAL(0, symlink("a file", other));
	TEST_ASSERT_TRUE(tac_output_same_file(other, path));
	TEST_ASSERT_FALSE(tac_output_same_file("/dev/null", "/dev/null"));
	TEST_ASSERT_FALSE(tac_output_same_file("-", "-"));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_file_appears_with_the_commit);
	RUN_TEST(an_older_file_stays_until_the_commit_and_after_a_discard);
	RUN_TEST(permissions_are_kept_and_new_files_follow_the_umask);
	RUN_TEST(a_symbolic_link_stays_and_its_target_is_replaced);
	RUN_TEST(what_cannot_be_created_is_refused_with_one_line);
	RUN_TEST(a_full_disk_gives_one_line_and_leaves_the_older_file);
	RUN_TEST(a_full_file_system_leaves_the_older_file);
	RUN_TEST(a_killed_writer_leaves_the_older_file_and_nothing_else);
	RUN_TEST(streams_are_written_directly);
	RUN_TEST(the_same_file_is_recognised_in_all_its_names);
	return UNITY_END();
}
