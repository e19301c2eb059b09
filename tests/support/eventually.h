// Waits for another thread or process: the condition, tested about every millisecond, must become true. The
// limit of 2 min says only that it never will: a busy machine may take a hundred times as long as a quiet
// one.
#ifndef TAC_TESTS_SUPPORT_EVENTUALLY_H
#define TAC_TESTS_SUPPORT_EVENTUALLY_H

#include <stdbool.h>
#include <time.h>
#include <unity.h>

#define EVENTUALLY_S 120

static inline time_t eventually_now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

#define EVENTUALLY(condition)                                                                                \
	do {                                                                                                 \
		const time_t eventually_end_s = eventually_now_s() + EVENTUALLY_S;                           \
		bool eventually_met;                                                                         \
		while (!(eventually_met = (condition)) && eventually_now_s() < eventually_end_s) {           \
			const struct timespec eventually_wait = {0, 1000000};                                \
			nanosleep(&eventually_wait, NULL);                                                   \
		}                                                                                            \
		TEST_ASSERT_TRUE_MESSAGE(eventually_met, "never: " #condition);                              \
	} while (0)

#endif
