// The importer process is confined, whatever program it is: tests/support/mesh_attack.c in its place attempts
// what a taken-over importer would, one attempt a run. Every attempt must be refused under confinement, and
// must succeed without it, or it would prove nothing. The attempts are repeated as an ordinary user, and
// where the kernel lacks Landlock, or Landlock and namespaces: a filter in front of the launcher makes them
// unavailable.
#include "collision/import/importer.h"
#include "collision/import/mesh_record.h"
#include "collision/import/sandbox.h"
#include "collision/mesh_load.h"
#include "tests/support/logged.h"

#include "unity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILLED     (-1) // by SIGSYS
#define UNSEEN     (-2) // the file is out of view: EACCES from Landlock, ENOENT from a root folder of its own
#define INHERITED  20   // the number of a descriptor that must not reach the importer
#define LAUNCHER   TACTUS_LIBEXEC "/tactus-confine"
#define NOBODY     65534
#define MEMORY_MAX (UINT64_C(256) << 20)

// How each attempt is refused: KILLED, UNSEEN or an errno. `privileged`: ordinary users, some kernels and
// their security modules refuse it even to a program that is not confined.
static const struct {
	const char *name;
	int refusal;
	bool privileged;
} attacks[] = {
	{"write_outside", KILLED, false},
	{"write_beside", KILLED, false},
	{"change_file", KILLED, false},
	{"temporary_file", KILLED, false},
	{"change_mode", KILLED, false},
	{"make_folder", KILLED, false},
	{"make_link", KILLED, false},
	{"rename_file", KILLED, false},
	{"delete_file", KILLED, false},
	{"read_passwd", UNSEEN, false},
	{"read_outside", UNSEEN, false},
	{"read_above", UNSEEN, false},
	{"read_link", UNSEEN, false},
	{"read_below_descriptor", UNSEEN, false},
	{"read_as_root", EACCES, true},
	{"list_processes", UNSEEN, false},
	{"read_parent_memory", UNSEEN, true},
	{"write_parent_memory", KILLED, true},
	{"parent_environment", UNSEEN, true},
	{"parent_descriptors", UNSEEN, true},
	{"vm_read", KILLED, true},
	{"trace", KILLED, true},
	{"kill_parent", KILLED, false},
	{"environment", ENOENT, false},
	{"own_environment", UNSEEN, false},
	{"socket_internet", KILLED, false},
	{"socket_local", KILLED, false},
	{"socket_pair", KILLED, false},
	{"fifo", KILLED, true},
	{"leave_daemon", KILLED, false},
	{"clone_child", KILLED, false},
	{"start_thread", KILLED, false},
	{"execute", KILLED, false},
	{"execute_descriptor", EBADF, false},
	{"memory", ENOMEM, false},
	{"executable_memory", KILLED, true},
	{"inherited_descriptor", EBADF, false},
	{"more_files", EPERM, false},
	{"huge_record", EFBIG, false},
	{"new_user_namespace", KILLED, true},
	{"mount_something", KILLED, true},
	{"ring", KILLED, true},
	{"key", KILLED, true},
	{"other_architecture", KILLED, true},
};

#define ATTACKS (sizeof attacks / sizeof *attacks)

// What one run left.
typedef struct outcome {
	tac_importer_end end;
	char text[200]; // of the memory file
} outcome;

static char base[] = "/tmp/tactus_importer_XXXXXX";
static char mesh_folder[64], outside[64], mesh[96];
static const char secret = 'S';

void setUp(void)
{
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	TEST_ASSERT_NOT_NULL(f);
	fputs(text, f);
	fclose(f);
}

static bool exists(const char *folder, const char *name)
{
	char path[200];
	struct stat status;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return lstat(path, &status) == 0;
}

// The mesh's folder, whose name has a space, and the files outside that the attacks aim at.
static void make_files(void)
{
	TEST_ASSERT_NOT_NULL(mkdtemp(base));
	snprintf(mesh_folder, sizeof mesh_folder, "%s/mesh folder", base);
	snprintf(outside, sizeof outside, "%s/outside", base);
	snprintf(mesh, sizeof mesh, "%s/mesh", mesh_folder);
	TEST_ASSERT_EQUAL_INT(0, chmod(base, 0755));
	TEST_ASSERT_EQUAL_INT(0, mkdir(mesh_folder, 0755));
	TEST_ASSERT_EQUAL_INT(0, mkdir(outside, 0755));
	char text[300], link[200];
	snprintf(text, sizeof text, "%d %lu %s\n", (int)getpid(), (unsigned long)(uintptr_t)&secret, outside);
	write_file(mesh_folder, "mesh", text);
	write_file(outside, "victim", "v");
	write_file(outside, "expendable", "e");
	snprintf(link, sizeof link, "%s/link", mesh_folder);
	TEST_ASSERT_EQUAL_INT(0, symlink("../outside/victim", link));
	write_file(mesh_folder, "private", "p");
	snprintf(link, sizeof link, "%s/private", mesh_folder);
	TEST_ASSERT_EQUAL_INT(0, chmod(link, 0));
	if (geteuid() == 0)
		TEST_ASSERT_EQUAL_INT(0, chown(link, NOBODY, NOBODY));
}

static void remove_files(void)
{
	char command[200];
	snprintf(command, sizeof command, "rm -rf '%s'", base);
	if (system(command) != 0)
		printf("%s was not removed\n", base);
}

static void read_outcome(int record, outcome *out)
{
	const ssize_t size = pread(record, out->text, sizeof out->text - 1, 0);
	out->text[size > 0 ? size : 0] = 0;
}

static outcome run_confined(const char *launcher, const char *name, double time_limit_s)
{
	const int record = memfd_create("record", MFD_CLOEXEC), file = open(mesh, O_RDONLY | O_CLOEXEC);
	const int folder = open(mesh_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	TEST_ASSERT_TRUE(record >= 0 && file >= 0 && folder >= 0);
	const tac_importer_def def = {.launcher = launcher,
				      .program = TACTUS_MESH_ATTACK,
				      .name = name,
				      .record_fd = record,
				      .file_fd = file,
				      .folder_fd = folder,
				      .memory_limit_bytes = MEMORY_MAX,
				      .time_limit_s = time_limit_s};
	outcome out = {0};
	TEST_ASSERT_EQUAL_INT(0, tac_importer_run(&def, &out.end));
	read_outcome(record, &out);
	close(record);
	close(file);
	close(folder);
	return out;
}

// The same program, with the same descriptors and the parent's environment.
static outcome run_free(const char *name)
{
	const int record = memfd_create("record", MFD_CLOEXEC);
	const int program = open(TACTUS_MESH_ATTACK, O_RDONLY | O_CLOEXEC);
	posix_spawn_file_actions_t files;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, program, TAC_SANDBOX_PROGRAM_FD);
	posix_spawn_file_actions_adddup2(&files, record, TAC_MESH_RECORD_FD);
	posix_spawn_file_actions_addopen(&files, TAC_SANDBOX_FILE_FD, mesh, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, TAC_SANDBOX_FOLDER_FD, mesh_folder, O_RDONLY, 0);
	posix_spawn_file_actions_addfchdir_np(&files, TAC_SANDBOX_FOLDER_FD);
	char attack[64], program_path[] = TACTUS_MESH_ATTACK, variable[] = "SECRET=1";
	snprintf(attack, sizeof attack, "%s", name);
	char *const arguments[] = {program_path, attack, program_path, NULL};
	char *const environment[] = {variable, NULL};
	pid_t pid;
	outcome out = {0};
	TEST_ASSERT_EQUAL_INT(0, posix_spawn(&pid, TACTUS_MESH_ATTACK, &files, NULL, arguments, environment));
	posix_spawn_file_actions_destroy(&files);
	TEST_ASSERT_EQUAL_INT(pid, waitpid(pid, &out.end.status, 0));
	read_outcome(record, &out);
	close(record);
	close(program);
	return out;
}

static bool was_killed_by_filter(const outcome *o)
{
	return WIFSIGNALED(o->end.status) && WTERMSIG(o->end.status) == SIGSYS;
}

// A file that stays open across exec, as in a careless program.
static int open_inherited(void)
{
	char path[200];
	snprintf(path, sizeof path, "%s/inherited", outside);
	const int fd = open(path, O_RDWR | O_CREAT, 0644);
	TEST_ASSERT_EQUAL_INT(INHERITED, dup2(fd, INHERITED));
	close(fd);
	return INHERITED;
}

static void expect_nothing_changed(void)
{
	char path[200];
	struct stat status;
	TEST_ASSERT_FALSE(exists(outside, "written") || exists(mesh_folder, "planted"));
	TEST_ASSERT_FALSE(exists(outside, "folder") || exists(outside, "made_link"));
	TEST_ASSERT_TRUE(exists(outside, "expendable"));
	snprintf(path, sizeof path, "%s/victim", outside);
	TEST_ASSERT_EQUAL_INT(0, stat(path, &status));
	TEST_ASSERT_EQUAL_INT(0644, status.st_mode & 0777);
	TEST_ASSERT_EQUAL_INT(1, status.st_size);
	snprintf(path, sizeof path, "%s/inherited", outside);
	TEST_ASSERT_EQUAL_INT(0, stat(path, &status));
	TEST_ASSERT_EQUAL_INT(0, status.st_size);
	TEST_ASSERT_EQUAL_INT(-1, waitpid(-1, NULL, WNOHANG)); // no process is left
	TEST_ASSERT_EQUAL_INT(ECHILD, errno);
}

static uint64_t expected_grants;

static void every_attack_is_refused(void)
{
	umask(022);
	const int inherited = open_inherited();
	const bool unseen = expected_grants & (TAC_SANDBOX_LANDLOCK | TAC_SANDBOX_ROOT);
	int refused = 0;
	for (size_t i = 0; i < ATTACKS; i++) {
		if (attacks[i].refusal == UNSEEN && !unseen)
			continue; // what is not promised without Landlock and namespaces
		const outcome o = run_confined(LAUNCHER, attacks[i].name, 60);
		char message[400];
		snprintf(message, sizeof message, "%s: '%s', status %#x", attacks[i].name, o.text,
			 (unsigned)o.end.status);
		TEST_ASSERT_EQUAL_UINT64_MESSAGE(expected_grants, o.end.grants, message);
		int error = 0;
		if (attacks[i].refusal == KILLED) {
			TEST_ASSERT_EQUAL_STRING_MESSAGE("tried, ", o.text, message);
			TEST_ASSERT_TRUE_MESSAGE(was_killed_by_filter(&o), message);
		} else {
			TEST_ASSERT_EQUAL_INT_MESSAGE(1, sscanf(o.text, "tried, refused %d", &error),
						      message);
			TEST_ASSERT_TRUE_MESSAGE(attacks[i].refusal == UNSEEN
							 ? error == EACCES || error == ENOENT
							 : error == attacks[i].refusal,
						 message);
		}
		refused++;
	}
	close(inherited);
	expect_nothing_changed();
	TEST_ASSERT_GREATER_THAN_INT(unseen ? 40 : 30, refused);
}

static void the_same_attacks_succeed_without_confinement(void)
{
	open_inherited();
	int succeeded = 0;
	for (size_t i = 0; i < ATTACKS; i++) {
		const outcome o = run_free(attacks[i].name);
		int daemon = 0;
		if (sscanf(o.text, "tried, done %d", &daemon) == 1 || strcmp(o.text, "tried, done") == 0) {
			if (daemon > 0) {
				TEST_ASSERT_EQUAL_INT(0, kill(daemon, 0)); // it outlived its parent
				kill(daemon, SIGKILL);
				TEST_ASSERT_EQUAL_INT(daemon, waitpid(daemon, NULL, 0));
			}
			succeeded++;
			continue;
		}
		if (!attacks[i].privileged)
			TEST_FAIL_MESSAGE(attacks[i].name);
		printf("%s: refused by this system also without confinement\n", attacks[i].name);
	}
	close(INHERITED);
	TEST_ASSERT_GREATER_THAN_INT(28, succeeded);
}

static void an_importer_without_end_is_stopped(void)
{
	const outcome o = run_confined(LAUNCHER, "run_forever", 0.3);
	TEST_ASSERT_EQUAL_STRING("tried, ", o.text);
	TEST_ASSERT_TRUE(o.end.timed_out || (WIFSIGNALED(o.end.status) && WTERMSIG(o.end.status) == SIGXCPU));
	TEST_ASSERT_EQUAL_INT(-1, waitpid(-1, NULL, WNOHANG));
}

// A process whose parent is `parent`; 0 if there is none.
static pid_t find_child(pid_t parent)
{
	DIR *processes = opendir("/proc");
	pid_t found = 0;
	for (struct dirent *entry; processes && !found && (entry = readdir(processes));) {
		char path[300];
		int pid, above;
		snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
		FILE *f = fopen(path, "r");
		if (f && fscanf(f, "%d (%*[^)]) %*c %d", &pid, &above) == 2 && above == parent)
			found = pid;
		if (f)
			fclose(f);
	}
	closedir(processes);
	return found;
}

// Whether the process has become the importer; until then it is the launcher.
static bool is_importer(pid_t pid)
{
	char path[64], name[32] = "";
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	FILE *f = fopen(path, "r");
	if (f && !fgets(name, sizeof name, f))
		name[0] = 0;
	if (f)
		fclose(f);
	return strcmp(name, "tactus-import") == 0;
}

static void an_importer_dies_with_the_program_that_started_it(void)
{
	fflush(stdout);
	const pid_t runtime = fork();
	if (runtime == 0) {
		run_confined(LAUNCHER, "run_forever", 600);
		_exit(0);
	}
	pid_t importer = 0;
	while ((!importer || !is_importer(importer)) && waitpid(runtime, NULL, WNOHANG) == 0) {
		usleep(1000);
		importer = find_child(runtime);
	}
	TEST_ASSERT_GREATER_THAN_INT(0, importer);
	kill(runtime, SIGKILL);
	TEST_ASSERT_EQUAL_INT(runtime, waitpid(runtime, NULL, 0));
	int status; // the importer is now a child of this process, and has minutes of CPU time left
	TEST_ASSERT_EQUAL_INT(importer, waitpid(importer, &status, 0));
	TEST_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void lower_limits_of_the_user_are_respected(void)
{
	struct rlimit before, low = {MEMORY_MAX / 4, MEMORY_MAX / 4};
	fflush(stdout);
	const pid_t pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setuid(NOBODY) != 0)
			_exit(2);
		outcome o = {0};
		if (getrlimit(RLIMIT_FSIZE, &before) != 0 || setrlimit(RLIMIT_FSIZE, &low) != 0)
			_exit(3);
		o = run_confined(LAUNCHER, "memory", 60);
		_exit(strcmp(o.text, "tried, refused 12") == 0 ? 0 : 4); // ENOMEM
	}
	int status;
	TEST_ASSERT_EQUAL_INT(pid, waitpid(pid, &status, 0));
	TEST_ASSERT_EQUAL_HEX(0, status);
}

// The launcher, before it restricts anything, has no more than this.
static void the_launcher_inherits_no_descriptor_no_mask_and_no_real_time_priority(void)
{
	sigset_t mask, old;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, &old);
	const struct sched_param fifo = {.sched_priority = 1}, other = {0};
	// Without the privilege this is refused, and there is no priority to inherit.
	sched_setscheduler(0, SCHED_FIFO, &fifo);
	open_inherited();
	const outcome o = run_confined(TACTUS_MESH_ATTACK, "x", 60);
	close(INHERITED);
	sched_setscheduler(0, SCHED_OTHER, &other);
	sigprocmask(SIG_SETMASK, &old, NULL);
	TEST_ASSERT_EQUAL_STRING("policy 0, descriptors 7, usr1 blocked 0, session 1, environment 0", o.text);
}

static void a_forbidden_system_call_is_reported_in_one_line(void)
{
	char path[200], text[300];
	snprintf(text, sizeof text, "%d 0 %s\n", (int)getpid(), outside);
	write_file(mesh_folder, "socket_local", text);
	snprintf(path, sizeof path, "%s/socket_local", mesh_folder);
	tac_mesh_load_def def = tac_mesh_load_def_default();
	def.importer = TACTUS_MESH_ATTACK;
	tac_mesh *loaded;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_mesh_load(path, &def, &loaded));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "it made a system call that"), logged);
}

static void a_mesh_still_loads_and_the_confinement_is_stated(void)
{
	char path[200], line[200];
	write_file(mesh_folder, "part.obj",
		   "mtllib part.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n");
	write_file(mesh_folder, "part.mtl", "newmtl red\nKd 1 0 0\nmap_Kd missing.png\n");
	snprintf(path, sizeof path, "%s/part.obj", mesh_folder);
	tac_mesh *loaded;
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_mesh_load(path, NULL, &loaded), logged);
	TEST_ASSERT_EQUAL_INT(1, loaded->triangle_count);
	tac_mesh_destroy(&loaded);
	tac_mesh_load_confinement(line, sizeof line);
	const char *files = expected_grants & TAC_SANDBOX_LANDLOCK ? "(Landlock)"
			    : expected_grants & TAC_SANDBOX_ROOT   ? "(mount namespace)"
								   : "neither Landlock nor namespaces";
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, files), line);
	TEST_ASSERT_EQUAL_MESSAGE((expected_grants & TAC_SANDBOX_NAMESPACES) != 0,
				  strstr(line, "seccomp, namespace)") != NULL, line);
}

// ---- systems that lack something ----

static bool can_unshare(void)
{
	const pid_t pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0);
	int status;
	return waitpid(pid, &status, 0) == pid && status == 0;
}

// Makes a system call unavailable to this process and all that it starts.
static void take_away(uint32_t number, uint32_t error)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof program / sizeof *program, program};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		exit(98);
}

static void find_expected_grants(void)
{
	const bool landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U) > 0;
	const bool namespaces = can_unshare();
	expected_grants = TAC_SANDBOX_STARTED | (landlock ? TAC_SANDBOX_LANDLOCK : 0) |
			  (namespaces ? TAC_SANDBOX_NAMESPACES : 0) |
			  (namespaces && !landlock ? TAC_SANDBOX_ROOT : 0);
}

// Runs the attacks in a program of its own: `system` holds u (ordinary user), l (no Landlock), n (no
// namespaces).
static void expect_refused_on(const char *system)
{
	fflush(stdout);
	const pid_t pid = fork();
	if (pid == 0) {
		if (strchr(system, 'u') && geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
			_exit(99);
		execl("/proc/self/exe", "test_importer", system, (char *)NULL);
		_exit(errno == EACCES ? 77 : 97);
	}
	int status;
	TEST_ASSERT_EQUAL_INT(pid, waitpid(pid, &status, 0));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		TEST_IGNORE_MESSAGE("an ordinary user cannot read the build folder");
	TEST_ASSERT_EQUAL_HEX(0, status);
}

static void an_ordinary_user_is_protected(void)
{
	expect_refused_on("u");
}

static void without_landlock_a_root_folder_limits_the_view(void)
{
	expect_refused_on("ul");
}

static void without_landlock_and_namespaces_the_rest_holds(void)
{
	expect_refused_on("uln");
}

static void without_namespaces_the_rest_holds(void)
{
	expect_refused_on("n");
}

static int run_on(const char *system)
{
	if (access(TACTUS_MESH_ATTACK, X_OK) != 0)
		return 77;
	if (strchr(system, 'l'))
		take_away(SYS_landlock_create_ruleset, ENOSYS);
	if (strchr(system, 'n'))
		take_away(SYS_unshare, EPERM);
	UNITY_BEGIN();
	find_expected_grants();
	make_files();
	RUN_TEST(every_attack_is_refused);
	RUN_TEST(a_mesh_still_loads_and_the_confinement_is_stated);
	RUN_TEST(the_same_attacks_succeed_without_confinement);
	remove_files();
	return UNITY_END();
}

int main(int argc, char **argv)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0,
	      0); // whatever outlives its parent becomes a child of this process
	if (argc == 2)
		return run_on(argv[1]);
	UNITY_BEGIN();
	find_expected_grants();
	make_files();
	RUN_TEST(every_attack_is_refused);
	RUN_TEST(the_launcher_inherits_no_descriptor_no_mask_and_no_real_time_priority);
	RUN_TEST(an_importer_without_end_is_stopped);
	RUN_TEST(an_importer_dies_with_the_program_that_started_it);
	RUN_TEST(lower_limits_of_the_user_are_respected);
	RUN_TEST(a_forbidden_system_call_is_reported_in_one_line);
	RUN_TEST(a_mesh_still_loads_and_the_confinement_is_stated);
	RUN_TEST(the_same_attacks_succeed_without_confinement);
	RUN_TEST(an_ordinary_user_is_protected);
	RUN_TEST(without_landlock_a_root_folder_limits_the_view);
	RUN_TEST(without_namespaces_the_rest_holds);
	RUN_TEST(without_landlock_and_namespaces_the_rest_holds);
	remove_files();
	return UNITY_END();
}
