#include "collision/import/mesh_record.h"
#include "collision/import/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0 // the table below was not checked for it: nothing is loaded
#endif

// From kernel 5.13 on; the number is the same on every architecture.
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule       445
#define __NR_landlock_restrict_self  446
#endif
#ifndef __NR_rseq
#define __NR_rseq 334
#endif

// System calls from this number on are newer than the table. C libraries try new calls and do without them,
// so these fail instead of killing; they are not carried out either way.
#define FIRST_UNKNOWN 447

#define SELF UINT32_MAX // as a value: the number of this process

// The first rule that matches decides: (argument & mask) == value, on the low 32 bits of the argument.
// The kernel uses no more of descriptors, flags, protections and commands.
typedef struct rule {
	uint32_t syscall, argument, mask, value;
	uint32_t action;
} rule;

#define ALLOW(name)                                                                                          \
	{                                                                                                    \
		__NR_##name, 0, 0, 0, SECCOMP_RET_ALLOW                                                      \
	}
#define ALLOW_IF(name, argument, expected)                                                                   \
	{                                                                                                    \
		__NR_##name, argument, UINT32_MAX, expected, SECCOMP_RET_ALLOW                               \
	}
#define ALLOW_MASKED(name, argument, mask, expected)                                                         \
	{                                                                                                    \
		__NR_##name, argument, mask, expected, SECCOMP_RET_ALLOW                                     \
	}
#define FAIL(name, error)                                                                                    \
	{                                                                                                    \
		__NR_##name, 0, 0, 0, SECCOMP_RET_ERRNO | (error)                                            \
	}

// Opening for writing, creating and truncating. __O_TMPFILE without its O_DIRECTORY, which is harmless alone.
#define OPEN_CHANGES (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY))

// Both stages. Frequent calls come first.
static const rule common[] = {
	ALLOW(read),
	ALLOW(readv),
	ALLOW(pread64),
	ALLOW(lseek),
	ALLOW_IF(write, 0, TAC_MESH_RECORD_FD),
	ALLOW_IF(write, 0, STDOUT_FILENO),
	ALLOW_IF(write, 0, STDERR_FILENO),
	ALLOW_IF(writev, 0, STDERR_FILENO),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(brk),
	ALLOW_MASKED(mprotect, 2, PROT_EXEC, 0),
	ALLOW(madvise),
	ALLOW(futex),
	ALLOW(close),
	ALLOW(fstat),
	ALLOW(newfstatat),
	ALLOW(getdents64),
	ALLOW(getcwd),
	ALLOW_MASKED(openat, 2, OPEN_CHANGES, 0),
	ALLOW(getrandom),
	ALLOW(clock_gettime),
	ALLOW(clock_getres),
	ALLOW(gettimeofday),
	ALLOW(exit),
	ALLOW(exit_group),
	ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(sigaltstack),
	ALLOW(getpid),
	ALLOW(gettid),
	ALLOW_IF(tgkill, 0, SELF), // abort()
	ALLOW_IF(tkill, 0, SELF),
	ALLOW(uname),
	ALLOW(sysinfo),
	ALLOW(sched_yield),
	ALLOW(sched_getaffinity),
	ALLOW(getcpu),
	ALLOW(getuid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getegid),
	ALLOW_IF(prlimit64, 0, 0),
	ALLOW_IF(fcntl, 1, F_GETFD),
	ALLOW_IF(fcntl, 1, F_SETFD),
	ALLOW_IF(fcntl, 1, F_GETFL),
	// Calls that the C library tries and can do without.
	FAIL(ioctl, ENOTTY),
	FAIL(prctl, EINVAL),
	FAIL(readlinkat, EACCES),
	FAIL(statx, ENOSYS),
#ifdef __NR_readlink
	FAIL(readlink, EACCES),
#endif
	ALLOW(faccessat),
	ALLOW(faccessat2),
#ifdef __NR_access
	ALLOW(access),
#endif
#ifdef __NR_time
	ALLOW(time),
#endif
};

static const rule launch[] = {
	ALLOW_IF(execveat, 0, TAC_SANDBOX_PROGRAM_FD),
	// The dynamic loader maps code from files; no memory is writable and executable.
	ALLOW_MASKED(mmap, 2, PROT_EXEC | PROT_WRITE, 0),
	ALLOW_MASKED(mmap, 2, PROT_EXEC | PROT_WRITE, PROT_EXEC),
	ALLOW_MASKED(mmap, 2, PROT_EXEC | PROT_WRITE, PROT_WRITE),
	ALLOW(set_tid_address),
	ALLOW(set_robust_list),
	ALLOW(rseq),
	// The next stage, which can only restrict further.
	ALLOW_IF(seccomp, 0, SECCOMP_SET_MODE_FILTER),
	ALLOW(landlock_create_ruleset),
	ALLOW(landlock_add_rule),
	ALLOW(landlock_restrict_self),
#ifdef __NR_arch_prctl
	ALLOW(arch_prctl),
#endif
};

static const rule parse[] = {
	ALLOW_MASKED(mmap, 2, PROT_EXEC, 0),
};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define INSTRUCTIONS (7 + 6 * (COUNT(common) + COUNT(launch)))

static const struct sock_filter load_syscall =
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));

// Appends: if this call and its argument match, return the action; otherwise go on behind.
static size_t add_rule(struct sock_filter *program, size_t n, const rule *r)
{
	const bool tests_argument = r->mask != 0;
	const uint32_t value = r->value == SELF ? (uint32_t)getpid() : r->value;
	const uint32_t low_word = (uint32_t)(offsetof(struct seccomp_data, args) + 8 * r->argument);
	program[n++] = load_syscall;
	program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r->syscall, 0,
						    tests_argument ? 4 : 1);
	if (tests_argument) {
		program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low_word);
		program[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->mask);
		program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	}
	program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, r->action);
	return n;
}

int tac_sandbox_filter_syscalls(tac_sandbox_stage stage)
{
	if (ARCHITECTURE == 0)
		return ENOTSUP;
	static struct sock_filter program[INSTRUCTIONS];
	size_t n = 0;
	program[n++] =
		(struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < COUNT(common); i++)
		n = add_rule(program, n, &common[i]);
	for (size_t i = 0; stage == TAC_SANDBOX_LAUNCH && i < COUNT(launch); i++)
		n = add_rule(program, n, &launch[i]);
	for (size_t i = 0; stage == TAC_SANDBOX_PARSE && i < COUNT(parse); i++)
		n = add_rule(program, n, &parse[i]);
	program[n++] = load_syscall;
	program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN, 0, 1);
	program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	const struct sock_fprog filter = {(unsigned short)n, program};
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0 ? 0 : errno;
}
