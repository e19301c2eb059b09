#include "haptic/force/feel.h"

#include <math.h>

// Rounding of a sum of forces, relative to the forces and absolute.
#define ROUNDING   1e-9
#define ROUNDING_N 1e-9

static void watch_dropouts(tac_feel *m, double force_N)
{
	if (force_N > TAC_FEEL_STRONG_N) {
		m->feel.dropouts += m->vanished && m->since_strong < TAC_FEEL_WINDOW;
		m->since_strong = 0;
		m->vanished = false;
		return;
	}
	if (m->since_strong <= TAC_FEEL_WINDOW)
		m->since_strong++;
	m->vanished |= force_N == 0;
}

void tac_feel_step(tac_feel *monitor, tac_dvec3 force_N, double bound_N, bool saturated)
{
	tac_feel *m = monitor;
	tac_snapshot_feel *feel = &m->feel;
	const double length_N = tac_dvec3_length(force_N);
	if (!m->started)
		m->since_strong = TAC_FEEL_WINDOW + 1;
	feel->step_N = m->started ? tac_dvec3_length(tac_dvec3_sub(force_N, m->force_N)) : 0;
	feel->bound_N = bound_N;
	feel->jumps += feel->step_N > bound_N + ROUNDING * length_N + ROUNDING_N;
	if (feel->step_N > feel->largest_step_N) {
		feel->largest_step_N = feel->step_N;
		feel->largest_bound_N = bound_N;
	}
	feel->saturated_ticks += saturated;
	watch_dropouts(m, length_N);
	m->force_N = force_N;
	m->started = true;
}
