#include "rt/tick.h"

#include "base/assert.h"
#include "rt/clock.h"
#include "rt/probe.h"

void tac_tick_phase_end(tac_tick *tick, tac_phase phase)
{
	TAC_ASSERT((unsigned)phase < TAC_PHASE_COUNT);
	tick->phase_end_ns[phase] = tac_clock_now_ns();
	TAC_PROBE_PHASE_END(tick->index, phase);
}

int64_t tac_tick_phase_begin_ns(const tac_tick *tick, tac_phase phase)
{
	for (int before = (int)phase - 1; before >= 0; before--) {
		if (tick->phase_end_ns[before] != 0)
			return tick->phase_end_ns[before];
	}
	return tick->wake_ns;
}

int64_t tac_tick_phase_ns(const tac_tick *tick, tac_phase phase)
{
	if (phase >= TAC_PHASE_COUNT || tick->phase_end_ns[phase] == 0)
		return 0;
	return tick->phase_end_ns[phase] - tac_tick_phase_begin_ns(tick, phase);
}

const char *tac_phase_name(tac_phase phase)
{
	static const char *const names[] = {"device read",  "sco",  "effects", "force",
					    "device write", "work", "publish", "outside"};
	return (unsigned)phase <= TAC_PHASE_COUNT ? names[phase] : "unknown phase";
}

const char *tac_cause_name(tac_cause cause)
{
	static const char *const names[] = {"none",       "late wake",    "stolen",   "preempted",
					    "page fault", "long compute", "blocked",  "device I/O",
					    "effect",     "stopped",      "undecided"};
	return (unsigned)cause < TAC_CAUSE_COUNT ? names[cause] : "unknown cause";
}
