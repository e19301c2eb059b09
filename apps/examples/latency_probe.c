// Latency probe: measures an existing loop with the rt library alone. Your loop stays unchanged but for two
// calls in each tick. The meter's thread builds the histograms and finds the cause of each miss.
#include "rt/clock.h"
#include "rt/meter.h"

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
	const tac_meter_def def = {.period_ns = PERIOD_NS};
	tac_monitor_stats *stats = malloc(sizeof *stats);
	tac_meter *meter;
	if (!stats || tac_meter_create(&def, &meter) < TAC_OK)
		return 1;

	int64_t next_ns = tac_clock_now_ns() + PERIOD_NS;
	for (int i = 0; i < 1000; i++) {
		tac_clock_sleep_until_ns(next_ns); // or however your loop wakes up
		tac_meter_begin(meter, next_ns);
		work(i);
		tac_meter_end(meter);
		// A late tick skips the periods that have passed: catching up would come in a burst.
		next_ns += PERIOD_NS * (1 + (tac_clock_now_ns() - next_ns) / PERIOD_NS);
	}

	tac_meter_destroy(&meter, stats); // waits until every tick has been counted
	printf("wake p99 %.1f us, compute p50 %.1f us, %lld of %lld ticks missed\n",
	       (double)tac_histogram_percentile(&stats->wake, 99) / 1e3,
	       (double)tac_histogram_percentile(&stats->compute, 50) / 1e3, (long long)stats->totals.misses,
	       (long long)stats->totals.ticks);
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++)
		printf("%4lld %s\n", (long long)stats->misses_by_cause[i], tac_cause_name((tac_cause)i));
	free(stats);
}
