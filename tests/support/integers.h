// Integer vectors: exact arithmetic for oracles on grids, as long as every product fits 64 bits.
#ifndef TAC_TESTS_SUPPORT_INTEGERS_H
#define TAC_TESTS_SUPPORT_INTEGERS_H

#include <stdint.h>

typedef struct ivec {
	int64_t x, y, z;
} ivec;

static inline ivec isub(ivec a, ivec b)
{
	return (ivec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline ivec icross(ivec a, ivec b)
{
	return (ivec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline int64_t idot(ivec a, ivec b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

#endif
