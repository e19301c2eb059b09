// Waits for another thread: the condition, tested every millisecond, must become true within 10 s.
#ifndef TAC_TESTS_SUPPORT_EVENTUALLY_H
#define TAC_TESTS_SUPPORT_EVENTUALLY_H

#include <time.h>
#include <unity.h>

#define EVENTUALLY(condition)                                                                                \
	do {                                                                                                 \
		int eventually_ms = 0;                                                                       \
		while (!(condition) && eventually_ms < 10000) {                                              \
			const struct timespec eventually_wait = {0, 1000000};                                \
			nanosleep(&eventually_wait, NULL);                                                   \
			eventually_ms++;                                                                     \
		}                                                                                            \
		TEST_ASSERT_TRUE_MESSAGE(eventually_ms < 10000, "never: " #condition);                       \
	} while (0)

#endif
