// A latency probe in somebody else's loop, with rt/ alone: your loop stays as it is and tells the account
// when each tick was to begin, began and ended. A slow thread does the rest: histograms, and a cause for each
// miss.
#include "rt/clock.h"
#include "rt/deadline.h"
#include "rt/monitor.h"

#include <stdio.h>
#include <stdlib.h>

#define PERIOD_NS TAC_NS_PER_MS

static void work(int index)
{
	// Yours. One tick in 200 takes too long here, so that there is something to explain.
	const int64_t end_ns = tac_clock_now_ns() + (index % 200 == 199 ? 3 * PERIOD_NS / 2 : PERIOD_NS / 20);
	while (tac_clock_now_ns() < end_ns) {
	}
}

int main(void)
{
	const tac_deadline_def def = tac_deadline_def_default(PERIOD_NS);
	tac_deadline *account;
	if (tac_deadline_create(&def, &account) < TAC_OK)
		return 1;
	const tac_monitor_def monitor_def = {.deadline = account};
	tac_monitor *monitor;
	if (tac_monitor_create(&monitor_def, &monitor) < TAC_OK)
		return 1;

	tac_deadline_attach(account); // on the loop's own thread
	int64_t next_ns = tac_clock_now_ns() + PERIOD_NS;
	for (int i = 0; i < 1000; i++) {
		tac_tick tick = {.index = i, .cause_phase = TAC_PHASE_NONE};
		tick.planned_ns = tick.timer_ns = next_ns;
		tick.deadline_ns = next_ns + PERIOD_NS;
		tac_clock_sleep_until_ns(next_ns); // or whatever wakes your loop
		tick.fired_ns = tick.wake_ns = tac_clock_now_ns();
		work(i);
		tac_tick_phase_end(&tick, TAC_PHASE_FORCE);
		tick.end_ns = tac_clock_now_ns();
		tac_deadline_record(account, &tick, 1);                           // it slept once
		next_ns += PERIOD_NS * (1 + (tick.end_ns - next_ns) / PERIOD_NS); // skip what is past
	}
	tac_deadline_detach(account);

	tac_monitor_stats *stats = malloc(sizeof *stats);
	if (!stats)
		return 1;
	tac_monitor_drain(monitor);
	tac_monitor_read(monitor, stats);
	printf("wake p99 %.1f us, compute p50 %.1f us, %lld of %lld ticks missed\n",
	       (double)tac_histogram_percentile(&stats->wake, 99) / 1e3,
	       (double)tac_histogram_percentile(&stats->compute, 50) / 1e3, (long long)stats->totals.misses,
	       (long long)stats->totals.ticks);
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++)
		printf("%4lld %s\n", (long long)stats->misses_by_cause[i], tac_cause_name((tac_cause)i));
	free(stats);
	tac_monitor_destroy(&monitor);
	tac_deadline_destroy(&account);
}
