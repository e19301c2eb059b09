// Rivals: a thread with a known name keeps a CPU busy.
#include "rt/rivals.h"

#include "rt/clock.h"
#include "rt/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <unity.h>

#define MS TAC_NS_PER_MS

static tac_rivals *rivals;

void setUp(void)
{
	const tac_result result = tac_rivals_create(&rivals);
	if (result == TAC_ERROR_SYSTEM)
		TEST_IGNORE_MESSAGE(strerror(errno));
	TEST_ASSERT_EQUAL(TAC_OK, result);
}

void tearDown(void)
{
	tac_rivals_destroy(&rivals);
	TEST_ASSERT_NULL(rivals);
}

typedef struct busy {
	int cpu;
	sem_t done;
	atomic_bool stop;
	int64_t begin_ns, end_ns; // of its burst
} busy;

static void pin(int cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

// Computes for 30 ms, ahead of all ordinary threads if that is permitted, then waits to be stopped.
static void *compute(void *user)
{
	busy *b = user;
	const struct sched_param first = {.sched_priority = 10}, ordinary = {0};
	pthread_setname_np(pthread_self(), "tac, \"rival\"");
	pin(b->cpu);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	b->begin_ns = tac_clock_now_ns();
	do
		b->end_ns = tac_clock_now_ns();
	while (b->end_ns < b->begin_ns + 30 * MS);
	pthread_setschedparam(pthread_self(), SCHED_OTHER, &ordinary);
	sem_post(&b->done);
	while (!atomic_load(&b->stop))
		tac_clock_sleep_until_ns(tac_clock_now_ns() + MS);
	return NULL;
}

// Runs a burst and looks for who ran, before or after the thread has ended.
static tac_rival rival_of_a_burst(bool ended)
{
	busy b = {.cpu = sched_getcpu()};
	pthread_t thread;
	tac_rival found;
	sem_init(&b.done, 0, 0);
	TEST_ASSERT_EQUAL(TAC_OK, tac_thread_start(&thread, compute, &b));
	sem_wait(&b.done);
	if (!ended)
		tac_rivals_find(rivals, b.cpu, b.begin_ns, b.end_ns, (int32_t)gettid(), &found);
	atomic_store(&b.stop, true);
	pthread_join(thread, NULL);
	if (ended)
		tac_rivals_find(rivals, b.cpu, b.begin_ns, b.end_ns, (int32_t)gettid(), &found);
	TEST_ASSERT_TRUE(found.ran_ns <= b.end_ns - b.begin_ns);
	sem_destroy(&b.done);
	return found;
}

// Without SCHED_FIFO other threads may have the larger part of a burst, so several are tried.
static void the_thread_that_ran_is_named(void)
{
	tac_rival found = {0};
	for (int i = 0; i < 20 && strcmp(found.name, "tac? ?rival?") != 0; i++)
		found = rival_of_a_burst(false);
	TEST_ASSERT_EQUAL_STRING("tac? ?rival?", found.name); // without what breaks CSV and JSON
	TEST_ASSERT_GREATER_THAN_INT64(5 * MS, found.ran_ns);
}

static void a_thread_that_has_ended_has_its_number(void)
{
	tac_rival found = {0};
	for (int i = 0; i < 20 && strncmp(found.name, "thread ", 7) != 0; i++)
		found = rival_of_a_burst(true);
	char expected[32];
	snprintf(expected, sizeof expected, "thread %d", (int)found.tid);
	TEST_ASSERT_EQUAL_STRING(expected, found.name);
}

static void an_interval_without_records_has_no_rival(void)
{
	tac_rival found;
	TEST_ASSERT_FALSE(tac_rivals_find(rivals, 0, 1, 2, 0, &found)); // before the machine was booted
	TEST_ASSERT_FALSE(tac_rivals_find(rivals, -1, 0, INT64_MAX, 0, &found));
	TEST_ASSERT_FALSE(tac_rivals_find(rivals, 1 << 20, 0, INT64_MAX, 0, &found));
	TEST_ASSERT_EQUAL_INT64(0, found.ran_ns);
}

int main(void)
{
	pin(sched_getcpu());
	UNITY_BEGIN();
	RUN_TEST(the_thread_that_ran_is_named);
	RUN_TEST(a_thread_that_has_ended_has_its_number);
	RUN_TEST(an_interval_without_records_has_no_rival);
	return UNITY_END();
}
