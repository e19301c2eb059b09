#include "haptic/mover/controllers.h"

#include "haptic/mover/constants.h"

#include <math.h>

double tac_sco_trust_begin(const tac_sco_trust *trust)
{
	return fmin(trust->radius_m, trust->cap_m);
}

void tac_sco_trust_observe(tac_sco_trust *trust, const tac_sco_def *def, tac_sco_trust_event event,
			   double length_m)
{
	// The new radius, in old ones and in lengths.
	static const struct {
		double radii, lengths;
	} rules[] = {
		[SCO_TRUST_LIMITED] = {SCO_GROWTH, 0}, // grows
		[SCO_TRUST_SHORTENED] = {0, 1},
		[SCO_TRUST_BLOCKED] = {SCO_SHRINK, 0}, // shrinks, and the cap with it
		[SCO_TRUST_UNPROVED] = {0, SCO_SHRINK},
		[SCO_TRUST_STEP_DONE] = {0, SCO_GROWTH}, // follows the hand
	};
	const double radius = rules[event].radii * trust->radius_m + rules[event].lengths * length_m;
	trust->radius_m = fmin(fmax(radius, def->trust_min_m), def->trust_max_m);
	if (event == SCO_TRUST_BLOCKED)
		trust->cap_m = fmin(trust->cap_m, trust->radius_m);
}

void tac_sco_trust_observe_query(tac_sco_trust *trust, const tac_sco_def *def, double wanted_m,
				 double covered_m, double pairs, double share, bool short_of_work)
{
	double cap = trust->cap_m;
	// The number of pairs grows at least in proportion to the margin, so the margin that would have taken
	// exactly its share caps the next query.
	if (!short_of_work)
		cap = pairs > share ? wanted_m * share / pairs : 2 * cap;
	if (!short_of_work && covered_m < wanted_m)
		cap = fmin(cap, covered_m);
	trust->cap_m = fmin(fmax(cap, def->hold_gap_m), def->trust_max_m);
}

void tac_sco_pace_observe(tac_sco_pace *pace, const tac_sco_def *def, double length_m, double limit_m,
			  double cost, bool spent)
{
	pace->cost = fmax(spent ? 1 : cost, SCO_PACE_MEMORY * pace->cost);
	const double growth = fmin(fmax(SCO_PACE_COST / pace->cost, 1), SCO_GROWTH),
		     half = SCO_SHRINK * fmin(limit_m, def->trust_max_m);
	pace->max_m = spent ? fmax(SCO_PACE_SHRINK * length_m, fmax(half, def->hold_gap_m))
			    : fmax(pace->max_m, growth * length_m);
}

void tac_sco_flight_observe(tac_sco_flight *flight, bool out_of_work)
{
	const double share = out_of_work ? 0.5 * flight->work_share : 2 * flight->work_share;
	flight->work_share = fmax(fmin(share, SCO_MAX_FLIGHT_SHARE), SCO_MIN_FLIGHT_SHARE);
}

int64_t tac_sco_starvation_begin(const tac_sco_starvation *s, const tac_sco_def *def)
{
	const int64_t most = (int64_t)(SCO_WORK_MAX * fmin(1, def->period_s / SCO_USUAL_PERIOD_S)),
		      more = SCO_STARVED_FACTOR * def->work_units;
	if (s->steps < SCO_STARVED_STEPS || def->work_units >= most)
		return def->work_units;
	return more < most ? more : most;
}

void tac_sco_starvation_observe(tac_sco_starvation *s, bool starved)
{
	s->steps = starved ? s->steps + 1 : 0;
}
