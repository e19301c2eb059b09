// What a test may expect of the build and the user it runs as.
#ifndef TAC_TESTS_LIMITS_H
#define TAC_TESTS_LIMITS_H

#include <linux/capability.h>
#include <stdbool.h>
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

// The sanitizers' runtimes turn mlockall into nothing: their shadow memory is terabytes.
#define TAC_TEST_CAN_LOCK_MEMORY (!TAC_TEST_SANITIZED)

// Leaves the process with no capabilities, no real-time priority, no locked memory and no root's files.
static inline void drop_privileges(void)
{
	const struct rlimit none = {0, 0};
	setrlimit(RLIMIT_RTPRIO, &none);
	setrlimit(RLIMIT_MEMLOCK, &none);
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	memset(data, 0, sizeof data);
	if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
		_exit(99);
	syscall(SYS_capset, &header, data);
}

#endif
