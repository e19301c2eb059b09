// Counts allocations per thread, for a test that is linked with --wrap=malloc and --wrap=calloc
// (tactus_count_allocations in tests/CMakeLists.txt).
#ifndef TAC_TESTS_SUPPORT_ALLOCATIONS_H
#define TAC_TESTS_SUPPORT_ALLOCATIONS_H

#include <stddef.h>

static _Thread_local int allocations; // of the calling thread

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	allocations++;
	return __real_calloc(count, size);
}

#endif
