// An importer that was taken over: it attempts what its first argument names and reports to the memory file
// what happened, so that the test can tell a refusal from an attempt that was never made. The mesh file holds
// what an attacker would know: the parent's process number, an address in the parent, and a folder that is
// not the mesh's. Never sanitized, because it runs under the limits of the importer.
#include "collision/import/mesh_record.h"
#include "collision/import/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char **arguments;
static int parent;
static unsigned long address;
static char outside[200];
static int daemon_pid;

static void report(const char *format, ...)
{
	char line[100];
	va_list list;
	va_start(list, format);
	vsnprintf(line, sizeof line, format, list);
	va_end(list);
	if (write(TAC_MESH_RECORD_FD, line, strlen(line)) < 0)
		_exit(9);
}

// Each attempt returns 0 if it succeeded, or -1 with errno.

static int opens(const char *path, int flags)
{
	char byte;
	const int fd = open(path, flags, 0644);
	if (fd < 0)
		return -1;
	if ((flags & O_ACCMODE) != O_RDONLY)
		return write(fd, "x", 1) == 1 ? 0 : -1;
	return flags & O_DIRECTORY || read(fd, &byte, 1) >= 0 || errno == EIO ? 0 : -1;
}

static int opens_of_parent(const char *file, int flags)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", parent, file);
	const int fd = open(path, flags);
	return fd < 0 ? -1 : 0;
}

static const char *outside_path(const char *name)
{
	static char paths[2][300];
	static int next;
	next = !next;
	snprintf(paths[next], sizeof paths[next], "%s/%s", outside, name);
	return paths[next];
}

static int write_outside(void)
{
	return opens(outside_path("written"), O_WRONLY | O_CREAT);
}

static int write_beside(void)
{
	return opens("planted", O_WRONLY | O_CREAT);
}

static int change_file(void)
{
	return opens(outside_path("victim"), O_RDWR);
}

static int temporary_file(void)
{
	return opens(outside, O_TMPFILE | O_WRONLY);
}

static int read_passwd(void)
{
	return opens("/etc/passwd", O_RDONLY);
}

static int read_outside(void)
{
	return opens(outside_path("victim"), O_RDONLY);
}

static int read_above(void)
{
	return opens("../outside/victim", O_RDONLY);
}

static int read_link(void)
{
	return opens("link", O_RDONLY);
}

static int read_as_root(void) // another user's file, in the mesh's folder
{
	return opens("private", O_RDONLY);
}

static int read_below_descriptor(void)
{
	const int fd = openat(TAC_SANDBOX_FOLDER_FD, "../outside/victim", O_RDONLY);
	return fd < 0 ? -1 : 0;
}

static int list_processes(void)
{
	return opens("/proc", O_RDONLY | O_DIRECTORY);
}

static int read_parent_memory(void)
{
	return opens_of_parent("mem", O_RDONLY);
}

static int write_parent_memory(void)
{
	return opens_of_parent("mem", O_RDWR);
}

static int parent_environment(void)
{
	return opens_of_parent("environ", O_RDONLY);
}

static int parent_descriptors(void)
{
	return opens_of_parent("fd", O_RDONLY | O_DIRECTORY);
}

static int vm_read(void)
{
	char byte;
	const struct iovec here = {&byte, 1}, there = {(void *)address, 1}; // NOLINT: the parent's address
	return process_vm_readv(parent, &here, 1, &there, 1, 0) == 1 ? 0 : -1;
}

static int trace(void)
{
	return (int)ptrace(PTRACE_SEIZE, parent, 0, 0);
}

static int kill_parent(void)
{
	return kill(parent, 0);
}

static int environment(void)
{
	errno = ENOENT;
	return environ && environ[0] ? 0 : -1;
}

static int own_environment(void)
{
	return opens("/proc/self/environ", O_RDONLY);
}

static int socket_internet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? -1 : 0;
}

static int socket_local(void)
{
	return socket(AF_UNIX, SOCK_DGRAM, 0) < 0 ? -1 : 0;
}

static int socket_pair(void)
{
	int ends[2];
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static int fifo(void)
{
	const struct sched_param highest = {.sched_priority = 99};
	return sched_setscheduler(0, SCHED_FIFO, &highest);
}

static int leave_daemon(void)
{
	const pid_t pid = fork();
	if (pid == 0) {
		setsid();
		for (;;)
			pause();
	}
	daemon_pid = (int)pid;
	return pid < 0 ? -1 : 0;
}

static int clone_child(void) // fork() makes another call on some systems
{
	const pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

static void *thread_body(void *unused)
{
	return unused;
}

static int start_thread(void)
{
	pthread_t thread;
	errno = pthread_create(&thread, NULL, thread_body, NULL);
	return errno ? -1 : pthread_join(thread, NULL);
}

static int execute(void)
{
	char name[] = "x", done[] = "executed";
	char *const list[] = {name, done, NULL}, *const none[] = {NULL};
	return execve(arguments[2] ? arguments[2] : "/bin/true", list, none);
}

static int execute_descriptor(void)
{
	char name[] = "x", done[] = "executed";
	char *const list[] = {name, done, NULL}, *const none[] = {NULL};
	return (int)syscall(SYS_execveat, TAC_SANDBOX_PROGRAM_FD, "", list, none, AT_EMPTY_PATH);
}

static int memory(void)
{
	void *p = mmap(NULL, (size_t)1 << 30, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? -1 : 0;
}

static int executable_memory(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? -1 : 0;
}

static int inherited_descriptor(void)
{
	for (int fd = 7; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0 && write(fd, "x", 1) == 1)
			return 0;
	return -1;
}

static int more_files(void)
{
	const struct rlimit more = {64, 64};
	return setrlimit(RLIMIT_NOFILE, &more);
}

static int huge_record(void)
{
	signal(SIGXFSZ, SIG_IGN);
	const off_t end = lseek(TAC_MESH_RECORD_FD, 0, SEEK_CUR);
	const bool grown = lseek(TAC_MESH_RECORD_FD, (off_t)1 << 33, SEEK_SET) > 0 &&
			   write(TAC_MESH_RECORD_FD, "x", 1) == 1;
	const int error = errno;
	lseek(TAC_MESH_RECORD_FD, end, SEEK_SET);
	errno = error;
	return grown ? 0 : -1;
}

static int change_mode(void)
{
	return chmod(outside_path("victim"), 0600);
}

static int make_folder(void)
{
	return mkdir(outside_path("folder"), 0700);
}

static int make_link(void)
{
	return symlink("/", outside_path("made_link"));
}

static int rename_file(void)
{
	return rename(outside_path("victim"), outside_path("victim"));
}

static int delete_file(void)
{
	return unlink(outside_path("expendable"));
}

static int new_user_namespace(void)
{
	return unshare(CLONE_NEWUSER);
}

static int mount_something(void)
{
	return mount("none", outside, "tmpfs", MS_REMOUNT | MS_BIND, NULL) == 0 || errno == EINVAL ? 0 : -1;
}

static int ring(void)
{
	char parameters[120] = {0};
	return syscall(SYS_io_uring_setup, 1, parameters) < 0 ? -1 : 0;
}

static int key(void)
{
	return syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3 /* the session's */, 1) < 0 ? -1 : 0;
}

static int run_forever(void)
{
	volatile int forever = 1;
	while (forever)
		;
	return 0;
}

static int other_architecture(void)
{
#if defined(__x86_64__)
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11"); // getpid
	errno = ENOSYS;
	return result > 0 ? 0 : -1;
#else
	errno = ENOSYS;
	return -1;
#endif
}

static const struct {
	const char *name;
	int (*attempt)(void);
} attempts[] = {
	{"write_outside", write_outside},
	{"write_beside", write_beside},
	{"change_file", change_file},
	{"temporary_file", temporary_file},
	{"read_passwd", read_passwd},
	{"read_outside", read_outside},
	{"read_above", read_above},
	{"read_link", read_link},
	{"read_as_root", read_as_root},
	{"read_below_descriptor", read_below_descriptor},
	{"list_processes", list_processes},
	{"read_parent_memory", read_parent_memory},
	{"write_parent_memory", write_parent_memory},
	{"parent_environment", parent_environment},
	{"parent_descriptors", parent_descriptors},
	{"vm_read", vm_read},
	{"trace", trace},
	{"kill_parent", kill_parent},
	{"environment", environment},
	{"own_environment", own_environment},
	{"socket_internet", socket_internet},
	{"socket_local", socket_local},
	{"socket_pair", socket_pair},
	{"fifo", fifo},
	{"leave_daemon", leave_daemon},
	{"clone_child", clone_child},
	{"start_thread", start_thread},
	{"execute", execute},
	{"execute_descriptor", execute_descriptor},
	{"memory", memory},
	{"executable_memory", executable_memory},
	{"inherited_descriptor", inherited_descriptor},
	{"more_files", more_files},
	{"huge_record", huge_record},
	{"change_mode", change_mode},
	{"make_folder", make_folder},
	{"make_link", make_link},
	{"rename_file", rename_file},
	{"delete_file", delete_file},
	{"new_user_namespace", new_user_namespace},
	{"mount_something", mount_something},
	{"ring", ring},
	{"key", key},
	{"other_architecture", other_architecture},
	{"run_forever", run_forever},
};

// In the launcher's place: what it was given. The arguments are those of tactus-confine.
static int report_start(void)
{
	int descriptors = 0;
	for (int fd = 0; fd < 1024; fd++)
		descriptors += fcntl(fd, F_GETFD) >= 0;
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	report("policy %d, descriptors %d, usr1 blocked %d, session %d, environment %d",
	       sched_getscheduler(0), descriptors, sigismember(&mask, SIGUSR1), getsid(0) == getpid(),
	       environ[0] != NULL);
	return 0;
}

int main(int argc, char **argv)
{
	arguments = argv;
	if (argc == 2 && strcmp(argv[1], "executed") == 0) {
		report("done");
		return 0;
	}
	if (argc == 6)
		return report_start();
	char text[400];
	const ssize_t size = pread(TAC_SANDBOX_FILE_FD, text, sizeof text - 1, 0);
	text[size > 0 ? size : 0] = 0;
	if (argc < 2 || sscanf(text, "%d %lu %199[^\n]", &parent, &address, outside) != 3)
		return 8;
	for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
		if (strcmp(attempts[i].name, argv[1]) != 0)
			continue;
		report("tried, ");
		errno = 0;
		if (attempts[i].attempt() == 0)
			report("done %d", daemon_pid);
		else
			report("refused %d", errno);
		return 0;
	}
	return 7;
}
