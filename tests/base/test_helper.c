// Which files are trusted, and where a program is looked for. A privileged process is tested by
// tests/system/hijack.
#include "base/helper.h"

#include <unity.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/tactus_helper_XXXXXX";
static char file[64], found[TAC_HELPER_PATH], reason[2 * TAC_HELPER_PATH];

void setUp(void)
{
	snprintf(file, sizeof file, "%s/program", folder);
	FILE *f = fopen(file, "w");
	TEST_ASSERT_NOT_NULL(f);
	fclose(f);
	TEST_ASSERT_EQUAL_INT(0, chmod(file, 0755));
}

void tearDown(void)
{
	remove(file);
	chmod(folder, 0700);
}

static bool check(const char *path)
{
	reason[0] = 0;
	return tac_helper_check(path, found, reason, sizeof reason);
}

static void a_file_of_the_user_is_trusted(void)
{
	TEST_ASSERT_TRUE_MESSAGE(check(file), reason);
	TEST_ASSERT_EQUAL_STRING(file, found);
	TEST_ASSERT_TRUE_MESSAGE(check("/bin/sh"), reason);
	TEST_ASSERT_FALSE(tac_helper_is_privileged());
}

static void a_file_or_folder_that_all_can_write_is_refused(void)
{
	TEST_ASSERT_EQUAL_INT(0, chmod(file, 0757));
	TEST_ASSERT_FALSE(check(file));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(reason, file), reason);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(reason, "mode 0757"), reason);
	TEST_ASSERT_EQUAL_INT(0, chmod(file, 0755));
	TEST_ASSERT_EQUAL_INT(0, chmod(folder, 0777));
	TEST_ASSERT_FALSE(check(file));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(reason, "mode 0777"), reason);
	TEST_ASSERT_EQUAL_INT(0, chmod(folder, 01777)); // only owners can replace files
	TEST_ASSERT_TRUE_MESSAGE(check(file), reason);
}

static void a_file_or_folder_of_another_user_is_refused(void)
{
	if (geteuid() != 0)
		TEST_IGNORE_MESSAGE("only root can give files away");
	TEST_ASSERT_EQUAL_INT(0, chown(file, 12345, 0));
	TEST_ASSERT_FALSE(check(file));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(reason, "found owner 12345"), reason);
	TEST_ASSERT_EQUAL_INT(0, chown(file, 0, 0));
	TEST_ASSERT_EQUAL_INT(0, chown(folder, 12345, 0));
	TEST_ASSERT_FALSE(check(file));
	TEST_ASSERT_EQUAL_INT(0, chown(folder, 0, 0));
}

static void the_target_of_a_link_is_what_counts(void)
{
	char link[128];
	snprintf(link, sizeof link, "%s/link", folder);
	TEST_ASSERT_EQUAL_INT(0, symlink("program", link));
	TEST_ASSERT_TRUE_MESSAGE(check(link), reason);
	TEST_ASSERT_EQUAL_STRING(file, found);
	TEST_ASSERT_EQUAL_INT(0, chmod(file, 0757));
	TEST_ASSERT_FALSE(check(link));
	remove(link);
	TEST_ASSERT_FALSE(check(link));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(reason, "No such file"), reason);
	TEST_ASSERT_FALSE(check(folder)); // not a regular file
}

// It may be started again after the application has changed its folder.
static void a_relative_path_is_resolved(void)
{
	char before[TAC_HELPER_PATH];
	const tac_helper_def def = {.requested = "./program"};
	TEST_ASSERT_NOT_NULL(getcwd(before, sizeof before));
	TEST_ASSERT_EQUAL_INT(0, chdir(folder));
	const bool is_found = tac_helper_find_program(&def, found, reason, sizeof reason);
	TEST_ASSERT_EQUAL_INT(0, chdir(before));
	TEST_ASSERT_TRUE_MESSAGE(is_found, reason);
	TEST_ASSERT_EQUAL_STRING(file, found);
}

// What a started helper reports with its exit status.
enum { OWN_SESSION = 1, ORDINARY = 2, NOTHING_IGNORED = 4, FDS_ALONE = 8, ALL = 15 };

static int report_as_helper(void)
{
	struct sigaction action;
	sigaction(SIGUSR1, NULL, &action);
	bool alone = fcntl(TAC_HELPER_FIRST_FD, F_GETFD) >= 0;
	for (int fd = TAC_HELPER_FIRST_FD + 1; fd < 64; fd++)
		alone = alone && fcntl(fd, F_GETFD) < 0;
	return (getsid(0) == getpid() ? OWN_SESSION : 0) |
	       (sched_getscheduler(0) == SCHED_OTHER ? ORDINARY : 0) |
	       (action.sa_handler == SIG_DFL ? NOTHING_IGNORED : 0) | (alone ? FDS_ALONE : 0);
}

static void a_started_helper_has_what_it_was_given_and_nothing_of_the_caller(void)
{
	const struct sched_param lowest = {.sched_priority = 1}, ordinary = {0};
	char name[] = "test_helper", role[] = "--report";
	char *const arguments[] = {name, role, NULL}, *const environment[] = {NULL};
	const int fds[] = {fcntl(STDOUT_FILENO, F_DUPFD, 20)}, left_open = fcntl(STDOUT_FILENO, F_DUPFD, 30);
	const tac_helper_start_def def = {"/proc/self/exe", arguments, environment, fds, 1};
	pid_t child;
	int status = -1;
	signal(SIGUSR1, SIG_IGN);
	sched_setscheduler(0, SCHED_FIFO, &lowest); // if permitted
	const int error = tac_helper_start(&def, &child);
	sched_setscheduler(0, SCHED_OTHER, &ordinary);
	signal(SIGUSR1, SIG_DFL);
	close(fds[0]);
	close(left_open);
	TEST_ASSERT_EQUAL_INT(0, error);
	TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
	TEST_ASSERT_TRUE(WIFEXITED(status));
	TEST_ASSERT_EQUAL_HEX(ALL, WEXITSTATUS(status));
	const tac_helper_start_def missing = {"/no/such/program", arguments, environment, NULL, 0};
	TEST_ASSERT_EQUAL_INT(ENOENT, tac_helper_start(&missing, &child));
}

static void a_program_is_the_requested_the_named_a_near_or_the_installed_one(void)
{
	static const char *const nowhere[] = {"../no/such", "no-such", NULL};
	static const char *const near[] = {"no-such", "test_helper", NULL}; // this program
	tac_helper_def def = {
		.requested = file, .variable = "TACTUS_TEST_HELPER", .places = near, .installed = "/bin/sh"};
	setenv("TACTUS_TEST_HELPER", "/bin/cat", 1);
	TEST_ASSERT_TRUE(tac_helper_find_program(&def, found, reason, sizeof reason));
	TEST_ASSERT_EQUAL_STRING(file, found);
	def.requested = NULL;
	TEST_ASSERT_TRUE(tac_helper_find_program(&def, found, reason, sizeof reason));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(found, "/cat"), found);
	unsetenv("TACTUS_TEST_HELPER");
	TEST_ASSERT_TRUE_MESSAGE(tac_helper_find_program(&def, found, reason, sizeof reason), reason);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(found, "/test_helper"), found);
	def.places = nowhere;
	TEST_ASSERT_TRUE(tac_helper_find_program(&def, found, reason, sizeof reason));
	TEST_ASSERT_EQUAL_CHAR('/', found[0]);
	def.installed = "/no/such/program";
	TEST_ASSERT_FALSE(tac_helper_find_program(&def, found, reason, sizeof reason));
	TEST_ASSERT_EQUAL_STRING("expected a program at /no/such/program, found none", reason);
}

static void a_file_that_cannot_be_executed_is_no_program(void)
{
	TEST_ASSERT_EQUAL_INT(0, chmod(file, 0644));
	const tac_helper_def def = {.requested = file};
	TEST_ASSERT_FALSE(tac_helper_find_program(&def, found, reason, sizeof reason));
	TEST_ASSERT_NOT_NULL(strstr(reason, "found none"));
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--report") == 0)
		return report_as_helper();
	if (!mkdtemp(folder))
		return 1;
	UNITY_BEGIN();
	RUN_TEST(a_file_of_the_user_is_trusted);
	RUN_TEST(a_file_or_folder_that_all_can_write_is_refused);
	RUN_TEST(a_file_or_folder_of_another_user_is_refused);
	RUN_TEST(the_target_of_a_link_is_what_counts);
	RUN_TEST(a_program_is_the_requested_the_named_a_near_or_the_installed_one);
	RUN_TEST(a_relative_path_is_resolved);
	RUN_TEST(a_started_helper_has_what_it_was_given_and_nothing_of_the_caller);
	RUN_TEST(a_file_that_cannot_be_executed_is_no_program);
	rmdir(folder);
	return UNITY_END();
}
