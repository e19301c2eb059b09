// Limits that the build and the user impose on a test.
#ifndef TAC_TESTS_SUPPORT_LIMITS_H
#define TAC_TESTS_SUPPORT_LIMITS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// gcc defines these; clang has __has_feature.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAC_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAC_TEST_SANITIZED 1
#endif
#endif
#ifndef TAC_TEST_SANITIZED
#define TAC_TEST_SANITIZED 0
#endif

// The thread sanitizer's build repeats only what several threads do; the other builds have run the rest.
#if defined(__SANITIZE_THREAD__)
#define TAC_TEST_THREADS_ONLY 1
#else
#define TAC_TEST_THREADS_ONLY 0
#endif

// The sanitizers' runtimes make mlockall a no-op: their shadow memory takes terabytes.
#define TAC_TEST_CAN_LOCK_MEMORY (!TAC_TEST_SANITIZED)

// tests/run --long.
static inline bool test_long(void)
{
	const char *set = getenv("TACTUS_TEST_LONG");
	return set && strcmp(set, "1") == 0;
}

// How often a random test repeats: `all` times in a long run, a quarter of that otherwise, and a quarter
// again under a sanitizer. A threshold for what the rounds have met shrinks with them.
static inline int test_rounds(int all)
{
	int rounds = test_long() ? all : all / 4;
	if (TAC_TEST_SANITIZED)
		rounds /= 4;
	return rounds > 0 ? rounds : 1;
}

// A number for runs by hand, as in TACTUS_SEED=7; `otherwise` when the variable is not set.
static inline int from_environment(const char *name, int otherwise)
{
	const char *text = getenv(name);
	return text ? atoi(text) : otherwise;
}

// Drops the process's capabilities and access to root's files.
static inline void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	memset(data, 0, sizeof data);
	if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
		_exit(99);
	syscall(SYS_capset, &header, data);
}

// The same, and real-time priority and locked memory.
static inline void drop_privileges(void)
{
	const struct rlimit none = {0, 0};
	setrlimit(RLIMIT_RTPRIO, &none);
	setrlimit(RLIMIT_MEMLOCK, &none);
	drop_capabilities();
}

#endif
