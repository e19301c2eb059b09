// Controllers: what adapts the movers to the meshes and to the hand (tac_sco_adapted). Apart from a reset no
// other code changes it. It decides how much is tried at once and never what is safe.
#include "haptic/mover/mover.h"

#include <math.h>

// --- trust: how far contacts are listed and how far a substep goes ---

static void set_trust(tac_sco *sco, double radius)
{
	// What a starved step tried would take as much work again: each one halves the least radius.
	const double least = sco->def.trust_min_m * fmax(0x1p-6, ldexp(1, -sco->adapted.starved_steps));
	sco->adapted.trust_m = fmin(fmax(radius, least), sco->def.trust_max_m);
}

void tac_sco_observe_substep(tac_sco *sco, tac_sco_trust_event event, double length_m)
{
	// The new radius is the sum of these parts of the old one and of `length_m`.
	static const double rules[][2] = {
		[SCO_TRUST_LIMITED] = {SCO_TRUST_GROWTH, 0},
		[SCO_TRUST_SHORTENED] = {0, 1},
		[SCO_TRUST_BLOCKED] = {SCO_SHRINK, 0}, // the cap, too
		[SCO_TRUST_UNPROVED] = {0, SCO_SHRINK},
	};
	set_trust(sco, rules[event][0] * sco->adapted.trust_m + rules[event][1] * length_m);
	if (event == SCO_TRUST_BLOCKED)
		sco->adapted.trust_cap_m = fmin(sco->adapted.trust_cap_m, sco->adapted.trust_m);
}

void tac_sco_observe_query(tac_sco *sco, double wanted_m, double covered_m, double pairs, double share)
{
	// Pairs grow at least in proportion to the margin: with this one they would have kept to the share.
	const double cap = pairs > share ? wanted_m * share / pairs : 2 * sco->adapted.trust_cap_m;
	sco->adapted.trust_cap_m =
		fmin(fmax(covered_m < wanted_m ? fmin(cap, covered_m) : cap, sco->def.hold_gap_m),
		     sco->def.trust_max_m);
}

// --- pace: how far the work lets the SCO go in a step ---

// Longer ways take more work, and a list of near pairs takes much at once. Where surfaces are dense, a step
// goes no further near contact than its work is likely to pay for, rather than end in the middle.
static void observe_pace(tac_sco *sco)
{
	tac_sco_adapted *a = &sco->adapted;
	const tac_sco_tick *tick = &sco->tick;
	const double length = tick->contact_travel_m,
		     cost = (double)tick->work.units / (double)tick->usual_units,
		     half = SCO_SHRINK * fmin(tick->slew_limit_m, sco->def.trust_max_m);
	a->cost = fmax(tick->work.spent ? 1 : cost, SCO_PACE_MEMORY * a->cost);
	const double growth = fmin(fmax(SCO_PACE_COST / a->cost, 1), SCO_GROWTH);
	a->pace_m = tick->work.spent ? fmax(SCO_PACE_SHRINK * length, fmax(half, sco->def.hold_gap_m))
				     : fmax(a->pace_m, growth * length);
}

void tac_sco_observe_step(tac_sco *sco)
{
	const tac_sco_tick *tick = &sco->tick;
	const bool starved = tick->travel_m == 0 && tick->work.spent && sco->def.mover == TAC_SCO_CONTINUOUS;
	observe_pace(sco);
	sco->adapted.starved_steps = starved ? sco->adapted.starved_steps + 1 : 0;
	if (tick->outcome != TAC_SCO_LIST_ENDS)
		set_trust(sco, SCO_GROWTH * tick->travel_m);
}

void tac_sco_observe_device(tac_sco *sco, double travel_m)
{
	if (travel_m > SCO_GROWTH * sco->adapted.device_travel_m)
		set_trust(sco, fmax(sco->adapted.trust_m, travel_m));
	sco->adapted.device_travel_m = travel_m;
}

// --- flights and starved steps ---

void tac_sco_observe_flight(tac_sco *sco, bool out_of_work)
{
	const double share = (out_of_work ? 0.5 : 2) * sco->adapted.flight_share;
	sco->adapted.flight_share = fmax(fmin(share, SCO_MAX_FLIGHT_SHARE), SCO_MIN_FLIGHT_SHARE);
}

int64_t tac_sco_step_units(const tac_sco *sco)
{
	const double usual = (double)sco->tick.usual_units,
		     most = SCO_WORK_MAX * fmin(1, sco->def.period_s / SCO_USUAL_PERIOD_S);
	return (int64_t)fmin(fmax(1, sco->adapted.starved_steps - 1) * usual, fmax(usual, most));
}
