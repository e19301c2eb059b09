#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void tac_assert_print(const char *condition, const char *file, int line)
{
	fprintf(stderr, "tactus: assertion failed: %s (%s:%d)\n", condition, file, line);
}

static tac_assert_fn hook = tac_assert_print;

void tac_assert_set(tac_assert_fn fn)
{
	hook = fn ? fn : tac_assert_print;
}

void tac_assert_fail(const char *condition, const char *file, int line)
{
	hook(condition, file, line);
	abort();
}
