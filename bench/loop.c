// The cost of the loop: first its parts in a tight loop, then paired differences of whole cycles against a
// bare clock_nanosleep loop.
//
// A reference thread (FIFO 91) and the thread under test (FIFO 90) share a CPU and a deadline. In each cycle
// the reference wakes first and records the time; the thread under test then runs its whole cycle, up to the
// moment it goes back to sleep. Completion minus reference wake is free of timer and hypervisor jitter, which
// affect both equally. Each figure is the median over 1 s blocks of the block's median. The kinds alternate
// block by block, so that slow changes of the machine affect all of them.
#include "rt/loop.h"
#include "rt/clock.h"
#include "rt/deadline.h"
#include "rt/latest.h"
#include "rt/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define PERIOD_NS TAC_NS_PER_MS
#define CYCLES    1000 // in a block
#define BLOCKS    11

// About the size of what a servo publishes.
typedef struct payload {
	double words[32];
} payload;

typedef enum kind { BARE, LOOP, LOOP_DEADLINE, LOOP_ALL, KIND_COUNT } kind;

static const char *const kind_names[] = {"bare clock_nanosleep", "tac_loop", "  + deadline account",
					 "  + five phases and publish"};

static int64_t reference_ns[CYCLES]; // when the reference woke, by cycle
static int64_t completed_ns[CYCLES]; // when the thread under test went to sleep again
static int64_t first_ns;             // planned time of cycle 0
static tac_latest *latest;
static tac_deadline *deadline;

// ---- the hook: the linker wraps tac_timer_wait; a call of it ends a cycle ----

static int64_t current_cycle = -1;
uint32_t __real_tac_timer_wait(tac_timer *timer, int64_t until_ns);
uint32_t __wrap_tac_timer_wait(tac_timer *timer, int64_t until_ns);

static void complete_cycle(void)
{
	if (current_cycle >= 0 && current_cycle < CYCLES)
		completed_ns[current_cycle] = tac_clock_now_ns();
}

uint32_t __wrap_tac_timer_wait(tac_timer *timer, int64_t until_ns)
{
	complete_cycle();
	return __real_tac_timer_wait(timer, until_ns);
}

static void tick_nothing(void *user, tac_tick *tick)
{
	(void)user;
	current_cycle = tick->index;
}

static void tick_all(void *user, tac_tick *tick)
{
	tick_nothing(user, tick);
	for (int i = 0; i < TAC_PHASE_PUBLISH; i++)
		tac_tick_phase_end(tick, (tac_phase)i);
	payload *p = tac_latest_begin(latest);
	p->words[0] = (double)tick->index;
	tac_latest_publish(latest);
	tac_tick_phase_end(tick, TAC_PHASE_PUBLISH);
}

static void run_bare(void)
{
	for (int64_t i = 0; i < CYCLES; i++) {
		tac_clock_sleep_until_ns(first_ns + i * PERIOD_NS);
		completed_ns[i] = tac_clock_now_ns();
	}
}

static void run_loop(kind k)
{
	tac_loop_def def = tac_loop_def_default();
	def.spin_ns = 0;
	def.first_ns = first_ns;
	def.periods = CYCLES;
	def.deadline = k >= LOOP_DEADLINE ? deadline : NULL;
	tac_loop *loop;
	if (tac_loop_create(&def, &loop) != TAC_OK)
		exit(EXIT_FAILURE);
	current_cycle = -1;
	tac_loop_run(loop, k == LOOP_ALL ? tick_all : tick_nothing, NULL);
	complete_cycle();
	tac_loop_destroy(&loop);
	tac_tick tick;
	while (tac_deadline_read(deadline, &tick)) {
	}
}

static void *reference_thread(void *user)
{
	const tac_thread_def def = {.policy = TAC_POLICY_FIFO, .priority = 91, .cpu = *(const int *)user};
	tac_thread_report report;
	if (tac_thread_enter(&def, &report) != TAC_OK)
		return user;
	for (int64_t i = 0; i < CYCLES; i++) {
		tac_clock_sleep_until_ns(first_ns + i * PERIOD_NS);
		reference_ns[i] = tac_clock_now_ns();
	}
	return NULL;
}

typedef struct under_test {
	kind kind;
	int cpu;
} under_test;

static void *test_thread(void *user)
{
	const under_test *t = user;
	const tac_thread_def def = {.policy = TAC_POLICY_FIFO, .priority = 90, .cpu = t->cpu};
	tac_thread_report report;
	if (tac_thread_enter(&def, &report) != TAC_OK)
		return user;
	if (t->kind == BARE)
		run_bare();
	else
		run_loop(t->kind);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, compare);
	return values[count / 2];
}

// The block's median of completion minus reference wake, ns; negative if it could not run.
static double run_block(kind k, int cpu)
{
	for (int i = 0; i < CYCLES; i++)
		reference_ns[i] = completed_ns[i] = 0;
	first_ns = (tac_clock_now_ns() / PERIOD_NS + 20) * PERIOD_NS;
	under_test t = {k, cpu};
	pthread_t reference, test;
	void *refused[2];
	if (tac_thread_start(&reference, reference_thread, &cpu) != TAC_OK ||
	    tac_thread_start(&test, test_thread, &t) != TAC_OK)
		exit(EXIT_FAILURE);
	pthread_join(reference, &refused[0]);
	pthread_join(test, &refused[1]);
	if (refused[0] || refused[1])
		return -1;
	static double differences[CYCLES];
	int count = 0;
	for (int i = 0; i < CYCLES; i++) {
		if (reference_ns[i] && completed_ns[i])
			differences[count++] = (double)(completed_ns[i] - reference_ns[i]);
	}
	return count > CYCLES / 2 ? median(differences, count) : -1;
}

// ---- the parts, back to back with warm caches: the cost of their instructions and system calls ----

typedef struct part {
	const char *name;
	void (*run)(tac_tick *tick);
} part;

static void part_phases(tac_tick *tick)
{
	for (int i = 0; i < TAC_PHASE_COUNT; i++)
		tac_tick_phase_end(tick, (tac_phase)i);
}

static void part_record(tac_tick *tick)
{
	tac_deadline_record(deadline, tick, 1);
	tac_tick taken;
	// In a program the slow thread does this; here it keeps the ring empty.
	tac_deadline_read(deadline, &taken);
}

static void part_publish(tac_tick *tick)
{
	payload *p = tac_latest_begin(latest);
	p->words[0] = (double)tick->index;
	tac_latest_publish(latest);
}

static void part_all(tac_tick *tick)
{
	part_phases(tick);
	part_record(tick);
	part_publish(tick);
}

static bool make_deadline(void)
{
	const tac_deadline_def def = tac_deadline_def_default(PERIOD_NS);
	return tac_deadline_create(&def, &deadline) == TAC_OK;
}

static bool print_parts(void)
{
	const part parts[] = {
		{"five phase marks", part_phases},
		{"deadline account", part_record},
		{"publish 256 bytes", part_publish},
		{"monitor and publish together", part_all},
	};
	enum { ROUNDS = 51, TICKS = 1000 };
	printf("%-42s %12s\n", "parts, ns a tick (median of 51 rounds)", "");
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (!make_deadline())
			return false;
		tac_deadline_attach(deadline);
		static double rounds[ROUNDS];
		for (int r = 0; r < ROUNDS; r++) {
			int64_t begin_ns = tac_clock_now_ns();
			for (int t = 0; t < TICKS; t++) {
				tac_tick tick = {.index = t, .deadline_ns = begin_ns};
				parts[i].run(&tick);
			}
			rounds[r] = (double)(tac_clock_now_ns() - begin_ns) / TICKS;
		}
		printf("%-42s %12.0f\n", parts[i].name, median(rounds, ROUNDS));
		tac_deadline_destroy(&deadline);
	}
	printf("\n");
	return true;
}

int main(void)
{
	if (tac_latest_create(sizeof(payload), &latest) != TAC_OK || !print_parts() || !make_deadline())
		return EXIT_FAILURE;
	const int cpu = 0;
	static double blocks[KIND_COUNT][BLOCKS];
	for (int b = 0; b < BLOCKS; b++) {
		for (int k = 0; k < KIND_COUNT; k++) {
			blocks[k][b] = run_block((kind)k, cpu);
			if (blocks[k][b] < 0) {
				fprintf(stderr,
					"bench_loop: expected SCHED_FIFO 91 on CPU %d "
					"and a cycle in every period, found them refused; run as root\n",
					cpu);
				return EXIT_FAILURE;
			}
		}
		fprintf(stderr, "\rblock %d of %d", b + 1, BLOCKS);
	}
	fprintf(stderr, "\r\033[K");
	printf("%-30s %14s %14s\n", "whole cycle, us", "after reference", "over bare");
	double bare = median(blocks[BARE], BLOCKS);
	for (int k = 0; k < KIND_COUNT; k++) {
		double value = median(blocks[k], BLOCKS);
		printf("%-30s %14.2f %14.2f\n", kind_names[k], value / 1e3, (value - bare) / 1e3);
	}
	tac_latest_destroy(&latest);
	tac_deadline_destroy(&deadline);
	return EXIT_SUCCESS;
}
