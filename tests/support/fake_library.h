// For the stand-ins of vendor libraries. A stand-in is a shared library with a structure that the test reads
// and writes, and a lock, because the driver's thread uses it, too. tests/support/vendor_fixture.h is the
// test's side.
#ifndef TAC_TESTS_SUPPORT_FAKE_LIBRARY_H
#define TAC_TESTS_SUPPORT_FAKE_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>

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

#endif
