#include "rt/watchdog.h"

#include "base/log.h"
#include "rt/clock.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SLEEPS 4 // of the watchdog within its limit

struct tac_watchdog {
	tac_watchdog_def def;
	pthread_t thread;
	sem_t entered; // the thread's set-up is done and `setup` is filled
	tac_result setup;
	atomic_bool stop;
	_Atomic uint64_t stalls;
};

tac_watchdog_def tac_watchdog_def_default(const tac_loop *loop)
{
	return (tac_watchdog_def){
		.loop = loop,
		.periods = 10,
		.thread = {.name = "tac-watchdog", .policy = TAC_POLICY_FIFO, .priority = 90, .cpu = -1},
	};
}

static void watch(tac_watchdog *watchdog)
{
	const tac_watchdog_def *def = &watchdog->def;
	const int64_t limit_ns = def->periods * tac_loop_period_ns(def->loop);
	uint64_t beats = tac_loop_beats(def->loop);
	// Sleeps without a tick, rather than time: a process that was stopped (Ctrl-Z) and goes on has missed
	// none.
	int quiet = 0;
	while (!atomic_load_explicit(&watchdog->stop, memory_order_relaxed)) {
		// A stall is noticed between 1 and 1.25 times the limit after the last tick.
		tac_clock_sleep_until_ns(tac_clock_now_ns() + limit_ns / SLEEPS);
		uint64_t beats_now = tac_loop_beats(def->loop);
		if (beats_now != beats || !tac_loop_running(def->loop)) {
			beats = beats_now;
			quiet = 0;
		} else if (quiet < SLEEPS && ++quiet == SLEEPS) {
			atomic_fetch_add_explicit(&watchdog->stalls, 1, memory_order_relaxed);
			if (def->on_stall)
				def->on_stall(def->user);
		}
	}
}

static void *watchdog_thread(void *user)
{
	tac_watchdog *watchdog = user;
	tac_thread_report report;
	watchdog->setup = tac_thread_enter(&watchdog->def.thread, &report);
	for (int i = 0; i < TAC_GRANT_COUNT; i++) {
		if (report.grants[i].state != TAC_GRANT_REFUSED)
			continue;
		char line[320];
		tac_thread_report_line(&report, (tac_grant_item)i, line, sizeof line);
		tac_log(TAC_LOG_WARNING, "watchdog: %s", line);
	}
	sem_post(&watchdog->entered);
	if (watchdog->setup >= TAC_OK)
		watch(watchdog);
	tac_thread_leave(&report);
	return NULL;
}

tac_result tac_watchdog_create(const tac_watchdog_def *def, tac_watchdog **out_watchdog)
{
	*out_watchdog = NULL;
	if (def->periods < 2) {
		tac_log(TAC_LOG_ERROR, "watchdog: expected 2 or more periods, found %d", def->periods);
		return TAC_ERROR_ARGUMENT;
	}
	tac_watchdog *watchdog = calloc(1, sizeof *watchdog);
	if (!watchdog) {
		tac_log(TAC_LOG_ERROR, "watchdog: expected %zu bytes, found no memory", sizeof *watchdog);
		return TAC_ERROR_MEMORY;
	}
	watchdog->def = *def;
	sem_init(&watchdog->entered, 0, 0);
	tac_result result = tac_thread_start(&watchdog->thread, watchdog_thread, watchdog);
	if (result != TAC_OK) {
		sem_destroy(&watchdog->entered);
		free(watchdog);
		return result;
	}
	while (sem_wait(&watchdog->entered) != 0) { // interrupted by a signal
	}
	result = watchdog->setup;
	if (result < TAC_OK)
		tac_watchdog_destroy(&watchdog);
	*out_watchdog = watchdog;
	return result;
}

void tac_watchdog_destroy(tac_watchdog **watchdog)
{
	if (!*watchdog)
		return;
	atomic_store_explicit(&(*watchdog)->stop, true, memory_order_relaxed);
	pthread_join((*watchdog)->thread, NULL);
	sem_destroy(&(*watchdog)->entered);
	free(*watchdog);
	*watchdog = NULL;
}

uint64_t tac_watchdog_stalls(const tac_watchdog *watchdog)
{
	return atomic_load_explicit(&watchdog->stalls, memory_order_relaxed);
}
