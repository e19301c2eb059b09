// Counts what may make a thread wait for another, and memory that is given back or resized, per thread, for a
// test that is linked with the options of tactus_count_locks (tests/CMakeLists.txt).
#ifndef TAC_TESTS_SUPPORT_LOCKS_H
#define TAC_TESTS_SUPPORT_LOCKS_H

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static _Thread_local int locks; // of the calling thread

#define COUNT_LOCK(type, name, parameters, arguments)                                                        \
	type __real_##name parameters;                                                                       \
	type __wrap_##name parameters;                                                                       \
	type __wrap_##name parameters                                                                        \
	{                                                                                                    \
		locks++;                                                                                     \
		return __real_##name arguments;                                                              \
	}

COUNT_LOCK(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
COUNT_LOCK(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
COUNT_LOCK(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
COUNT_LOCK(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
COUNT_LOCK(int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
COUNT_LOCK(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
COUNT_LOCK(int, sem_wait, (sem_t * semaphore), (semaphore))
COUNT_LOCK(void *, realloc, (void *memory, size_t size), (memory, size))
COUNT_LOCK(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
	locks++;
	__real_free(memory);
}

#endif
