// Failed assertions as jumps: tac_assert_set(catch_assert), then a failed TAC_ASSERT returns to
// setjmp(caught).
#ifndef TAC_TESTS_SUPPORT_CATCH_ASSERT_H
#define TAC_TESTS_SUPPORT_CATCH_ASSERT_H

#include "base/assert.h"

#include <setjmp.h>

static jmp_buf caught;

static inline void catch_assert(const char *condition, const char *file, int line)
{
	(void)condition, (void)file, (void)line;
	longjmp(caught, 1);
}

#endif
