// A loop with its account, its publication and its slow thread allocates nothing and causes no page fault
// between its first and its last tick. The allocator's functions are defined here, in front of the C
// library's, and count the calls of the watched thread.
#include "rt/clock.h"
#include "rt/latest.h"
#include "rt/loop.h"
#include "rt/monitor.h"
#include "rt/thread.h"
#include "unity.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

// glibc's own names of the replaced functions.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static _Thread_local bool watched;
static int calls; // by the watched thread alone

static void note_call(void)
{
	if (watched)
		calls++;
}

void *malloc(size_t size)
{
	note_call();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	note_call();
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	note_call();
	return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	note_call();
	return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
	note_call();
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	note_call();
	*out = __libc_memalign(alignment, size);
	return *out ? 0 : ENOMEM;
}

void free(void *memory)
{
	note_call();
	__libc_free(memory);
}

void setUp(void)
{
	calls = 0;
}

void tearDown(void)
{
}

#define LAST_TICK 2000

typedef struct session {
	tac_loop *loop;
	tac_latest *latest;
	void (*planted)(void); // called once, in tick 100
	long faults_at_start;
	long faults;
} session;

static long page_faults(void)
{
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void tick(void *user, tac_tick *t)
{
	session *s = user;
	if (!watched) {
		watched = true;
		s->faults_at_start = page_faults();
	}
	if (t->index >= 100 && s->planted) {
		s->planted();
		s->planted = NULL;
	}
	for (int i = 0; i < TAC_PHASE_COUNT; i++)
		tac_tick_phase_end(t, (tac_phase)i);
	tac_latest_write(s->latest, t);
	s->faults = page_faults() - s->faults_at_start;
	if (t->index >= LAST_TICK - 1)
		tac_loop_stop(s->loop);
}

static void *run_session(void *user)
{
	session *s = user;
	tac_thread_report report;
	const tac_thread_def def = tac_thread_def_default();
	if (tac_thread_enter(&def, &report) < TAC_OK)
		return user;
	tac_loop_run(s->loop, tick, s);
	watched = false;
	tac_thread_leave(&report);
	return NULL;
}

// A loop as an application has it. A planted late tick makes it gather evidence, too.
static session run_with(void (*planted)(void))
{
	const tac_deadline_def deadline_def = tac_deadline_def_default(TAC_NS_PER_MS);
	tac_deadline *deadline;
	TEST_ASSERT_EQUAL(TAC_OK, tac_deadline_create(&deadline_def, &deadline));
	const tac_monitor_def monitor_def = {.deadline = deadline};
	tac_monitor *monitor;
	TEST_ASSERT_EQUAL(TAC_OK, tac_monitor_create(&monitor_def, &monitor));
	session s = {.planted = planted};
	tac_loop_def loop_def = tac_loop_def_default();
	loop_def.deadline = deadline;
	TEST_ASSERT_EQUAL(TAC_OK, tac_loop_create(&loop_def, &s.loop));
	TEST_ASSERT_EQUAL(TAC_OK, tac_latest_create(sizeof(tac_tick), &s.latest));

	pthread_t thread;
	void *failed;
	TEST_ASSERT_EQUAL(TAC_OK, tac_thread_start(&thread, run_session, &s));
	TEST_ASSERT_EQUAL(0, pthread_join(thread, &failed));
	TEST_ASSERT_NULL(failed);

	tac_monitor_destroy(&monitor);
	tac_latest_destroy(&s.latest);
	tac_loop_destroy(&s.loop);
	tac_deadline_destroy(&deadline);
	return s;
}

static void be_late(void)
{
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 3 * TAC_NS_PER_MS);
}

static void a_running_loop_allocates_nothing_and_causes_no_page_fault(void)
{
	session s = run_with(be_late);
	TEST_ASSERT_NULL(s.planted);
	TEST_ASSERT_EQUAL(0, calls);
	TEST_ASSERT_EQUAL(0, s.faults);
}

static void allocate(void)
{
	// volatile, or the compiler removes the two calls.
	void *volatile memory = malloc(100);
	free(memory);
}

static void a_planted_malloc_is_caught(void)
{
	run_with(allocate);
	TEST_ASSERT_EQUAL(2, calls);
}

static void touch_a_fresh_page(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munlock(page, 4096); // mmap has already made a locked page resident
	madvise(page, 4096, MADV_DONTNEED);
	*(volatile char *)page = 1;
	munmap(page, 4096);
}

static void a_planted_page_fault_is_caught(void)
{
	TEST_ASSERT_GREATER_OR_EQUAL(1, run_with(touch_a_fresh_page).faults);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_running_loop_allocates_nothing_and_causes_no_page_fault);
	RUN_TEST(a_planted_malloc_is_caught);
	RUN_TEST(a_planted_page_fault_is_caught);
	return UNITY_END();
}
