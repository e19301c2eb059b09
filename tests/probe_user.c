// A program with each probe once, as the loop uses them; tests/probes.cmake looks for them in its ELF notes.
// Run with a number of ticks it fires them, one tick a millisecond, for attaching perf or bpftrace by hand.
#include <stdlib.h>

#include "rt/clock.h"
#include "rt/probe.h"
#include "rt/tick.h"

int main(int argc, char **argv)
{
	const int64_t ticks = argc > 1 ? atoll(argv[1]) : 0;
	int64_t planned_ns = tac_clock_now_ns();
	for (int64_t index = 0; index < ticks; index++) {
		planned_ns += TAC_NS_PER_MS;
		tac_clock_sleep_until_ns(planned_ns);
		TAC_PROBE_TICK_START(index, planned_ns);
		for (tac_phase phase = TAC_PHASE_DEVICE_READ; phase < TAC_PHASE_COUNT; phase++)
			TAC_PROBE_PHASE_END(index, phase);
		const tac_cause cause = TAC_CAUSE_LATE_WAKE;
		const int64_t late_ns = -1 - index;
		if (index % 10 == 9)
			TAC_PROBE_MISS(index, cause, TAC_PHASE_NONE, late_ns);
	}
	return 0;
}
