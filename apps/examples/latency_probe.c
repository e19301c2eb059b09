// Latency probe: measures an existing loop with the rt library alone. Your loop stays unchanged and records
// for each tick when it was planned, when it began and when it ended. The monitor's thread builds the
// histograms and finds the cause of each miss.
#include "rt/clock.h"
#include "rt/deadline.h"
#include "rt/monitor.h"

#include <stdio.h>
#include <stdlib.h>

#define PERIOD_NS TAC_NS_PER_MS

static void work(int index)
{
	// Your work goes here. One tick in 200 takes too long, so that there are misses to explain.
	const int64_t end_ns = tac_clock_now_ns() + (index % 200 == 199 ? 3 * PERIOD_NS / 2 : PERIOD_NS / 20);
	while (tac_clock_now_ns() < end_ns) {
	}
}

int main(void)
{
	// The deadline account takes the records of the loop, the monitor reads them on its own thread.
	const tac_deadline_def def = tac_deadline_def_default(PERIOD_NS);
	tac_deadline *deadline;
	if (tac_deadline_create(&def, &deadline) < TAC_OK)
		return 1;
	const tac_monitor_def monitor_def = {.deadline = deadline};
	tac_monitor *monitor;
	if (tac_monitor_create(&monitor_def, &monitor) < TAC_OK)
		return 1;

	tac_deadline_attach(deadline); // on the loop's own thread
	int64_t next_ns = tac_clock_now_ns() + PERIOD_NS;
	for (int i = 0; i < 1000; i++) {
		tac_tick tick = {.index = i, .cause_phase = TAC_PHASE_NONE};
		tick.planned_ns = tick.timer_ns = next_ns;
		tick.deadline_ns = next_ns + PERIOD_NS;
		tac_clock_sleep_until_ns(next_ns); // or however your loop wakes up
		tick.fired_ns = tick.wake_ns = tac_clock_now_ns();
		work(i);
		tac_tick_phase_end(&tick, TAC_PHASE_FORCE);
		tick.end_ns = tac_clock_now_ns();
		tac_deadline_record(deadline, &tick, 1); // the loop slept once in this tick
		// A late tick skips the periods that have passed: catching up would come in a burst.
		next_ns += PERIOD_NS * (1 + (tick.end_ns - next_ns) / PERIOD_NS);
	}
	tac_deadline_detach(deadline);

	tac_monitor_stats *stats = malloc(sizeof *stats);
	if (!stats)
		return 1;
	tac_monitor_drain(monitor); // wait until every record has been read
	tac_monitor_read(monitor, stats);
	printf("wake p99 %.1f us, compute p50 %.1f us, %lld of %lld ticks missed\n",
	       (double)tac_histogram_percentile(&stats->wake, 99) / 1e3,
	       (double)tac_histogram_percentile(&stats->compute, 50) / 1e3, (long long)stats->totals.misses,
	       (long long)stats->totals.ticks);
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++)
		printf("%4lld %s\n", (long long)stats->misses_by_cause[i], tac_cause_name((tac_cause)i));
	free(stats);
	tac_monitor_destroy(&monitor);
	tac_deadline_destroy(&deadline);
}
