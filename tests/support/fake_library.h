// What stand-ins for makers' libraries and their tests share: the stand-in is a shared library with a
// structure that the test reads and writes, and a lock, because the driver's thread does so, too.
#ifndef TAC_TESTS_FAKE_LIBRARY_H
#define TAC_TESTS_FAKE_LIBRARY_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// ---- in the stand-in ----

// FAKE_LOCK(fake_dhd_lock): the lock, exported by this name, and what FAKE_GUARD needs.
#define FAKE_LOCK(name)                                                                                      \
	void name(bool on)                                                                                   \
	{                                                                                                    \
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;                                     \
		if (on)                                                                                      \
			pthread_mutex_lock(&lock);                                                           \
		else                                                                                         \
			pthread_mutex_unlock(&lock);                                                         \
	}                                                                                                    \
	static void fake_unlock(const int *unused)                                                           \
	{                                                                                                    \
		(void)unused;                                                                                \
		name(false);                                                                                 \
	}

// At the start of each function of the stand-in: one thread at a time.
#define FAKE_GUARD(name)                                                                                     \
	__attribute__((cleanup(fake_unlock))) const int guard = 0;                                           \
	(void)guard;                                                                                         \
	name(true)

// ---- in the test ----

static void (*fake_lock)(bool on) __attribute__((unused));
static double value_double __attribute__((unused));
static int value_int __attribute__((unused));

// A field of the stand-in, taken while the driver's thread waits: FAKE(double, fake->told[0]).
#define FAKE(type, expression)                                                                               \
	(fake_lock(true), value_##type = (type)(expression), fake_lock(false), value_##type)

// The structure NAME of the stand-in in `path`, and its lock NAME_lock as fake_lock; NULL where they are not.
static inline void *fake_load(const char *path, const char *name)
{
	char lock_name[64];
	snprintf(lock_name, sizeof lock_name, "%s_lock", name);
	void *library = dlopen(path, RTLD_NOW);
	void *lock = library ? dlsym(library, lock_name) : NULL;
	memcpy(&fake_lock, &lock, sizeof lock);
	return lock ? dlsym(library, name) : NULL;
}

#endif
