#include "rt/thread.h"

#include "base/assert.h"
#include "base/denormal.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel's struct sched_attr, version 0. Its header conflicts with glibc's <sched.h>.
typedef struct sched_attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns;
	uint64_t deadline_ns;
	uint64_t period_ns;
} sched_attributes;

#define STACK_MARGIN_BYTES ((size_t)16 * 1024) // for the frames of the functions below

// Each of these requests one item and returns 0 or the errno of the refusal.

static int set_policy(const tac_thread_def *def)
{
	// A fair thread's sleep may be stretched by its timer slack, 50 µs unless set.
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);

	sched_attributes attr = {.size = sizeof attr};
	switch (def->policy) {
	case TAC_POLICY_OTHER:
		attr.policy = SCHED_OTHER;
		break;
	case TAC_POLICY_FIFO:
		attr.policy = SCHED_FIFO;
		attr.priority = (uint32_t)def->priority;
		break;
	case TAC_POLICY_DEADLINE:
		attr.policy = SCHED_DEADLINE;
		attr.runtime_ns = (uint64_t)def->runtime_ns;
		attr.deadline_ns = (uint64_t)def->period_ns;
		attr.period_ns = (uint64_t)def->period_ns;
		break;
	}
	return syscall(SYS_sched_setattr, 0, &attr, 0) == 0 ? 0 : errno;
}

static int set_cpu(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static bool has_capability(unsigned capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	return (data[capability / 32].effective >> (capability % 32)) & 1;
}

// Bytes of stack below the caller's frame. SIZE_MAX if the C library cannot find out.
static size_t stack_left(void)
{
	pthread_attr_t attr;
	void *lowest = NULL;
	size_t size = 0;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return SIZE_MAX;
	const bool known = pthread_attr_getstack(&attr, &lowest, &size) == 0;
	pthread_attr_destroy(&attr);
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	return known && here > (uintptr_t)lowest ? here - (uintptr_t)lowest : SIZE_MAX;
}

__attribute__((noinline)) static void touch_stack(size_t bytes)
{
	volatile char *page_by_page = __builtin_alloca(bytes);
	for (size_t i = bytes; i > 4096; i -= 4096) // downwards, as the stack grows
		page_by_page[i - 1] = 0;
}

static int lock_memory(void)
{
	const size_t left = stack_left();
	const bool enough = left >= TAC_THREAD_STACK_BYTES + STACK_MARGIN_BYTES;
	if (enough || left > STACK_MARGIN_BYTES)
		touch_stack(enough ? TAC_THREAD_STACK_BYTES : left - STACK_MARGIN_BYTES);
	// Under a finite limit MCL_FUTURE would make later allocations fail. What is mapped now is enough for
	// a loop that allocates nothing.
	struct rlimit limit;
	bool unlimited = has_capability(CAP_IPC_LOCK) ||
			 (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY);
	if (mlockall(unlimited ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT) != 0)
		return errno;
	return enough ? 0 : EOVERFLOW;
}

static int hold_cpu_awake(int *out_fd)
{
	int fd = open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int32_t latency_us = 0;
	if (write(fd, &latency_us, sizeof latency_us) != (ssize_t)sizeof latency_us) {
		int error = errno;
		close(fd);
		return error;
	}
	*out_fd = fd;
	return 0;
}

static int flush_denormals(void)
{
	tac_denormal_flush(true);
	return tac_denormal_flushed() ? 0 : ENOTSUP;
}

tac_thread_def tac_thread_def_default(void)
{
	return (tac_thread_def){
		.policy = TAC_POLICY_FIFO,
		.priority = 80,
		.cpu = -1,
		.lock_memory = true,
		.hold_cpu_awake = true,
		.flush_denormals = true,
	};
}

static bool def_is_valid(const tac_thread_def *def)
{
	if (def->policy == TAC_POLICY_FIFO && (def->priority < 1 || def->priority > 99)) {
		tac_log(TAC_LOG_ERROR, "thread: expected a FIFO priority from 1 to 99, found %d",
			def->priority);
		return false;
	}
	if (def->policy == TAC_POLICY_DEADLINE &&
	    (def->runtime_ns <= 0 || def->period_ns <= 0 || def->runtime_ns > def->period_ns)) {
		tac_log(TAC_LOG_ERROR,
			"thread: expected a deadline runtime within its period, found %lld ns in %lld ns",
			(long long)def->runtime_ns, (long long)def->period_ns);
		return false;
	}
	if (def->cpu < -1 || def->cpu >= CPU_SETSIZE) {
		tac_log(TAC_LOG_ERROR, "thread: expected a CPU from 0 to %d or -1 for any, found %d",
			CPU_SETSIZE - 1, def->cpu);
		return false;
	}
	return true;
}

static void note(tac_thread_report *report, tac_grant_item item, int error)
{
	report->grants[item] =
		(tac_grant){.state = error == 0 ? TAC_GRANT_GRANTED : TAC_GRANT_REFUSED, .error = error};
}

tac_result tac_thread_enter(const tac_thread_def *def, tac_thread_report *out_report)
{
	*out_report = (tac_thread_report){.asked = *def, .cpu_awake_fd = -1};
	if (!def_is_valid(def))
		return TAC_ERROR_ARGUMENT;

	if (def->name)
		prctl(PR_SET_NAME, def->name, 0UL, 0UL, 0UL);
	// The CPU before the policy: a deadline thread may not be pinned afterwards.
	if (def->cpu >= 0)
		note(out_report, TAC_GRANT_CPU, set_cpu(def->cpu));
	note(out_report, TAC_GRANT_POLICY, set_policy(def));
	if (def->lock_memory)
		note(out_report, TAC_GRANT_MEMORY, lock_memory());
	if (def->hold_cpu_awake)
		note(out_report, TAC_GRANT_CPU_AWAKE, hold_cpu_awake(&out_report->cpu_awake_fd));
	if (def->flush_denormals)
		note(out_report, TAC_GRANT_DENORMALS, flush_denormals());

	for (int i = 0; i < TAC_GRANT_COUNT; i++) {
		if (out_report->grants[i].state == TAC_GRANT_REFUSED)
			return TAC_PARTIAL;
	}
	return TAC_OK;
}

int tac_thread_priority_permitted(int wanted)
{
	struct rlimit limit;
	if (has_capability(CAP_SYS_NICE) || getrlimit(RLIMIT_RTPRIO, &limit) != 0)
		return wanted;
	return limit.rlim_cur > 0 && limit.rlim_cur < (rlim_t)wanted ? (int)limit.rlim_cur : wanted;
}

void tac_thread_leave(tac_thread_report *report)
{
	if (report->cpu_awake_fd >= 0)
		close(report->cpu_awake_fd);
	report->cpu_awake_fd = -1;
}

static void describe_asked(const tac_thread_def *def, tac_grant_item item, char *out, size_t size)
{
	switch (item) {
	case TAC_GRANT_POLICY:
		if (def->policy == TAC_POLICY_FIFO)
			snprintf(out, size, "SCHED_FIFO %d", def->priority);
		else if (def->policy == TAC_POLICY_DEADLINE)
			snprintf(out, size, "SCHED_DEADLINE %lld of %lld us",
				 (long long)def->runtime_ns / 1000, (long long)def->period_ns / 1000);
		else
			snprintf(out, size, "SCHED_OTHER");
		break;
	case TAC_GRANT_CPU:
		if (def->cpu >= 0)
			snprintf(out, size, "CPU %d alone", def->cpu);
		else
			snprintf(out, size, "a dedicated CPU");
		break;
	case TAC_GRANT_MEMORY:
		snprintf(out, size, "memory locked");
		break;
	case TAC_GRANT_CPU_AWAKE:
		snprintf(out, size, "CPU kept out of deep idle");
		break;
	case TAC_GRANT_DENORMALS:
		snprintf(out, size, "denormals flushed to zero");
		break;
	case TAC_GRANT_COUNT:
		break;
	}
}

static const char *remedy(const tac_thread_report *report, tac_grant_item item)
{
	const tac_thread_def *def = &report->asked;
	int error = report->grants[item].error;
	switch (item) {
	case TAC_GRANT_POLICY:
		if (error == EBUSY)
			return "the CPUs have no such bandwidth left: ask for less runtime, "
			       "or end other deadline threads";
		if (def->policy == TAC_POLICY_DEADLINE)
			return def->cpu >= 0 ? "a deadline thread may not be pinned: "
					       "ask for any CPU, or use a cpuset"
					     : "run: sudo setcap cap_sys_nice=ep PROGRAM "
					       "(limits.conf does not cover deadline threads)";
		return "add '@realtime - rtprio 99' to /etc/security/limits.conf, join that group "
		       "and log in again; or run: sudo setcap cap_sys_nice=ep PROGRAM";
	case TAC_GRANT_CPU:
		return "expected a CPU that is online and in the process's cpuset: see "
		       "/sys/devices/system/cpu/online and taskset -p PID";
	case TAC_GRANT_MEMORY:
		if (error == EOVERFLOW)
			return "the memory is locked, but the thread's stack is smaller than 256 KiB: raise "
			       "'ulimit -s', or create the thread with a larger stack";
		return "add '@realtime - memlock unlimited' to /etc/security/limits.conf, join that group "
		       "and log in again; or run: sudo setcap cap_ipc_lock=ep PROGRAM";
	case TAC_GRANT_CPU_AWAKE:
		return error == ENOENT ? "this kernel has no /dev/cpu_dma_latency: "
					 "disable deep idle states in the firmware or with idle=poll"
				       : "add a udev rule: "
					 "KERNEL==\"cpu_dma_latency\", GROUP=\"realtime\", MODE=\"0660\"";
	case TAC_GRANT_DENORMALS:
		return "this processor has no such mode known to Tactus";
	case TAC_GRANT_COUNT:
		break;
	}
	return "";
}

void tac_thread_report_line(const tac_thread_report *report, tac_grant_item item, char *out_line, size_t size)
{
	TAC_ASSERT((unsigned)item < TAC_GRANT_COUNT);
	char asked[64];
	describe_asked(&report->asked, item, asked, sizeof asked);
	const tac_grant *grant = &report->grants[item];
	if (grant->state == TAC_GRANT_REFUSED) {
		const char *name = strerrorname_np(grant->error);
		snprintf(out_line, size, "%s: refused (%s): %s", asked, name ? name : "unknown errno",
			 remedy(report, item));
	} else {
		snprintf(out_line, size, "%s: %s", asked, tac_grant_state_name(grant->state));
	}
}

bool tac_thread_signal_stack(void *stack, size_t size)
{
	stack_t before;
	const stack_t alternate = {.ss_sp = stack, .ss_size = size};
	return sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE) &&
	       sigaltstack(&alternate, NULL) == 0;
}

typedef struct start {
	void *(*body)(void *user);
	void *user;
} start;

static void *start_body(void *user)
{
	const start s = *(start *)user;
	free(user);
	// At the far end of the stack from where it overflows.
	char signal_stack[TAC_THREAD_SIGNAL_STACK_BYTES];
	const bool set = tac_thread_signal_stack(signal_stack, sizeof signal_stack);
	void *result = s.body(s.user);
	if (set)
		sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	return result;
}

static int create_thread(pthread_t *out_thread, start *s)
{
	pthread_attr_t attr;
	size_t stack_bytes = 0;
	sigset_t blocked, before;
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		sigdelset(&blocked, faults[i]);
	pthread_attr_init(&attr);
	if (pthread_attr_getstacksize(&attr, &stack_bytes) == 0 && stack_bytes < TAC_THREAD_STACK_MIN_BYTES)
		pthread_attr_setstacksize(&attr, TAC_THREAD_STACK_MIN_BYTES);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	int error = pthread_create(out_thread, &attr, start_body, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return error;
}

tac_result tac_thread_start(pthread_t *out_thread, void *(*body)(void *user), void *user)
{
	start *s = malloc(sizeof *s);
	if (!s) {
		tac_log(TAC_LOG_ERROR, "thread: expected %zu bytes, found no memory", sizeof *s);
		return TAC_ERROR_MEMORY;
	}
	*s = (start){body, user};
	const int error = create_thread(out_thread, s);
	if (error == 0)
		return TAC_OK;
	free(s);
	// With locked memory the thread's stack counts against the limit at once, so this can be EAGAIN.
	tac_log(TAC_LOG_ERROR, "thread: expected a new thread, found %s", strerror(error));
	return TAC_ERROR_SYSTEM;
}

const char *tac_policy_name(tac_policy policy)
{
	static const char *const names[] = {"other", "fifo", "deadline"};
	return (unsigned)policy <= TAC_POLICY_DEADLINE ? names[policy] : "unknown policy";
}

const char *tac_grant_item_name(tac_grant_item item)
{
	static const char *const names[] = {"scheduling", "affinity", "memory", "idle states", "denormals"};
	return (unsigned)item < TAC_GRANT_COUNT ? names[item] : "unknown item";
}

const char *tac_grant_state_name(tac_grant_state state)
{
	static const char *const names[] = {"not asked", "granted", "refused"};
	return (unsigned)state <= TAC_GRANT_REFUSED ? names[state] : "unknown state";
}
