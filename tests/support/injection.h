// Injection: the nth allocation, or the nth system call that writes a file, fails. A test that includes this
// is set up by tactus_inject (tests/CMakeLists.txt). Without a sanitizer, the allocations of libraries fail,
// too, because the test defines malloc itself; a sanitizer has its own, and there --wrap reaches the calls of
// our code alone.
#ifndef TAC_TESTS_SUPPORT_INJECTION_H
#define TAC_TESTS_SUPPORT_INJECTION_H

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef enum injection_kind {
	INJECT_NOTHING,
	INJECT_MEMORY,
	INJECT_FILES,
} injection_kind;

static struct {
	_Atomic injection_kind kind;
	_Atomic long left;    // calls until the one that fails
	_Atomic bool lasting; // all calls after it fail, too
	_Atomic long calls, failed;
} injection;

// Arms the nth call, counted from 1; 0: none fails, and they are counted.
static inline void inject(injection_kind kind, long nth, bool lasting)
{
	injection.left = nth;
	injection.lasting = lasting;
	injection.calls = injection.failed = 0;
	injection.kind = kind;
}

static inline void inject_stop(void)
{
	injection.kind = INJECT_NOTHING;
}

static bool fails(injection_kind kind)
{
	if (injection.kind != kind)
		return false;
	injection.calls++;
	const long left = injection.left > 0 ? atomic_fetch_sub(&injection.left, 1) : 0;
	if (left == 1 || (injection.lasting && injection.failed > 0)) {
		injection.failed++;
		return true;
	}
	return false;
}

static bool no_memory(void)
{
	if (!fails(INJECT_MEMORY))
		return false;
	errno = ENOMEM;
	return true;
}

static bool no_file(int error)
{
	if (!fails(INJECT_FILES))
		return false;
	errno = error;
	return true;
}

// ---- memory ----

#ifdef TACTUS_INJECT_WRAP
#define INJECTED(name) __wrap_##name
#define ORIGINAL(name) __real_##name
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);

char *__wrap_strdup(const char *text)
{
	return no_memory() ? NULL : __real_strdup(text);
}

static void *align(size_t alignment, size_t size)
{
	return __real_aligned_alloc(alignment, size);
}
#else
#define INJECTED(name) name
#define ORIGINAL(name) __libc_##name
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void *align(size_t alignment, size_t size)
{
	return __libc_memalign(alignment, size);
}
#endif

void *INJECTED(malloc)(size_t size)
{
	return no_memory() ? NULL : ORIGINAL(malloc)(size);
}

void *INJECTED(calloc)(size_t count, size_t size)
{
	return no_memory() ? NULL : ORIGINAL(calloc)(count, size);
}

void *INJECTED(realloc)(void *old, size_t size)
{
	return no_memory() ? NULL : ORIGINAL(realloc)(old, size);
}

void *INJECTED(aligned_alloc)(size_t alignment, size_t size)
{
	return no_memory() ? NULL : align(alignment, size);
}

// ---- files ----

#define INJECT_CALL(type, name, error, parameters, ...)                                                      \
	type __real_##name parameters;                                                                       \
	type __wrap_##name parameters;                                                                       \
	type __wrap_##name parameters                                                                        \
	{                                                                                                    \
		return no_file(error) ? -1 : __real_##name(__VA_ARGS__);                                     \
	}

INJECT_CALL(int, fsync, EIO, (int fd), fd)
INJECT_CALL(int, fdatasync, EIO, (int fd), fd)
INJECT_CALL(int, ftruncate, EIO, (int fd, off_t size), fd, size)
INJECT_CALL(int, rename, EACCES, (const char *from, const char *to), from, to)
INJECT_CALL(int, linkat, EACCES, (int a, const char *from, int b, const char *to, int flags), a, from, b, to,
	    flags)
INJECT_CALL(int, flock, ENOLCK, (int fd, int operation), fd, operation)

ssize_t __real_write(int fd, const void *bytes, size_t count);
ssize_t __wrap_write(int fd, const void *bytes, size_t count);
int __real_close(int fd);
int __wrap_close(int fd);

// A disk that becomes full takes the first half, and the rest fails with the next call.
ssize_t __wrap_write(int fd, const void *bytes, size_t count)
{
	static _Thread_local bool half;
	if (half || !fails(INJECT_FILES))
		return half ? (half = false, errno = ENOSPC, -1) : __real_write(fd, bytes, count);
	half = count > 1;
	if (half)
		return __real_write(fd, bytes, count / 2);
	errno = ENOSPC;
	return -1;
}

// The descriptor is closed all the same, as in Linux.
int __wrap_close(int fd)
{
	const bool failing = no_file(EIO);
	const int error = errno, result = __real_close(fd);
	if (failing)
		errno = error;
	return failing ? -1 : result;
}

#endif
