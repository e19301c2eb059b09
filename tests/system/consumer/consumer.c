// The first program of someone who uses Tactus as a library: tests/system/consumer/check builds it in every
// way.
#include "base/result.h"
#include "rt/clock.h"

#include <stdio.h>

int main(void)
{
	printf("%s, %s\n", tac_result_name(TAC_PARTIAL), tac_clock_now_ns() > 0 ? "ticking" : "stopped");
	return 0;
}
