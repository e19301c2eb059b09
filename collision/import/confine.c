// tactus-confine IMPORTER NAME MEMORY_BYTES CPU_SECONDS PARENT: gives up everything that reading a mesh does
// not need, and becomes the program IMPORTER with the argument NAME. collision/import/importer.h starts it
// with the descriptors of collision/import/sandbox.h. What the kernel may lack (Landlock, namespaces) is
// reported; without the rest the importer does not start.
#include "collision/import/mesh_record.h"
#include "collision/import/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Reports the failure as an importer does.
_Noreturn static void fail(const char *what, int error)
{
	char message[TAC_MESH_RECORD_MESSAGE];
	snprintf(message, sizeof message, "the importer was not started: %s: %s", what, strerror(error));
	char *bytes = calloc(1, tac_mesh_record_failure_size());
	if (bytes) {
		tac_mesh_record_encode_failure(message, bytes);
		if (write(TAC_MESH_RECORD_FD, bytes, tac_mesh_record_failure_size()) < 0)
			_exit(1);
	}
	_exit(bytes ? 0 : 1);
}

static unsigned long long number(const char *text)
{
	char *end;
	errno = 0;
	const unsigned long long value = strtoull(text, &end, 10);
	if (errno || end == text || *end)
		fail(text, EINVAL);
	return value;
}

// Opens the program at a number that it cannot reach itself.
static int open_program(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		fail(path, errno);
	if (fcntl(fd, F_DUPFD_CLOEXEC, TAC_SANDBOX_PROGRAM_FD) != TAC_SANDBOX_PROGRAM_FD)
		fail("expected a limit of more than 64 open files (ulimit -n)", errno);
	close(fd);
	return TAC_SANDBOX_PROGRAM_FD;
}

static void limit(unsigned long long memory_bytes, unsigned long long cpu_seconds)
{
	const struct {
		__rlimit_resource_t resource;
		rlim_t soft, hard;
	} limits[] = {
		{RLIMIT_AS, memory_bytes, memory_bytes},
		{RLIMIT_FSIZE, memory_bytes, memory_bytes},
		{RLIMIT_CPU, cpu_seconds, cpu_seconds + 1}, // soft: SIGXCPU, hard: SIGKILL
		{RLIMIT_NOFILE, TAC_SANDBOX_FILES_MAX, TAC_SANDBOX_FILES_MAX},
		{RLIMIT_NPROC, 0, 0}, // does not bind root; the filter of system calls does
		{RLIMIT_CORE, 0, 0},
		{RLIMIT_MEMLOCK, 0, 0},
		{RLIMIT_MSGQUEUE, 0, 0},
		{RLIMIT_RTPRIO, 0, 0},
		{RLIMIT_NICE, 0, 0},
	};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		// The user's own limits may be lower, and cannot be raised.
		struct rlimit value;
		if (getrlimit(limits[i].resource, &value) != 0)
			fail("limits", errno);
		value.rlim_max = value.rlim_max < limits[i].hard ? value.rlim_max : limits[i].hard;
		value.rlim_cur = value.rlim_max < limits[i].soft ? value.rlim_max : limits[i].soft;
		if (setrlimit(limits[i].resource, &value) != 0)
			fail("limits", errno);
	}
}

static void drop_capabilities(void)
{
	// Refused without CAP_SETPCAP; then there is nothing that the bounding set could grant.
	for (unsigned long capability = 0; capability < 64; capability++)
		prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2];
	memset(none, 0, sizeof none);
	if (syscall(SYS_capset, &header, none) != 0)
		fail("capabilities", errno);
	// Also keeps execution as root from granting capabilities.
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		fail("no_new_privs", errno);
}

// Returns what the kernel grants. Landlock restricts files at less cost than a root folder of its own.
static uint64_t enter_namespaces(void)
{
	const int flags = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
	if (tac_sandbox_has_landlock())
		return unshare(flags) == 0 ? TAC_SANDBOX_NAMESPACES : 0;
	const uid_t user = geteuid();
	const gid_t group = getegid();
	if (unshare(flags | CLONE_NEWNS) != 0)
		return 0;
	return TAC_SANDBOX_NAMESPACES | (tac_sandbox_enter_root(user, group) ? TAC_SANDBOX_ROOT : 0);
}

// The importer dies with its parent, which may be killed while it waits.
static void die_with(unsigned long long parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || (unsigned long long)getppid() != parent)
		_exit(1);
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr,
			"usage: tactus-confine IMPORTER NAME MEMORY_BYTES CPU_SECONDS PARENT\n"
			"It is started by programs that load meshes, with descriptors 3 to 6 open.\n");
		return 2;
	}
	const unsigned long long memory_bytes = number(argv[3]), cpu_seconds = number(argv[4]);
	const unsigned long long parent = number(argv[5]);
	uint64_t grants = TAC_SANDBOX_STARTED;
	const int program = open_program(argv[1]);
	if (fchdir(TAC_SANDBOX_FOLDER_FD) != 0)
		fail("the folder of the mesh", errno);
	grants |= enter_namespaces();
	drop_capabilities();
	if (tac_sandbox_restrict_files(program))
		grants |= TAC_SANDBOX_LANDLOCK;
	die_with(parent);
	limit(memory_bytes, cpu_seconds);
	if (write(TAC_SANDBOX_GRANTS_FD, &grants, sizeof grants) != sizeof grants)
		_exit(1);
	close(TAC_SANDBOX_GRANTS_FD);
	const int error = tac_sandbox_filter_syscalls(TAC_SANDBOX_LAUNCH);
	if (error)
		fail("the filter of system calls (seccomp)", error);
	char name[] = "tactus-import";
	char *const arguments[] = {name, argv[2], NULL};
	char *const environment[] = {NULL};
	syscall(SYS_execveat, program, "", arguments, environment, AT_EMPTY_PATH);
	fail(argv[1], errno);
}
