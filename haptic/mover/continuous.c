// The substeps of a step. It first advances the objects that move. A substep of the continuous mover then has
// up to five stages: fly, list, solve, prove, commit. The stage that ends it returns why (tac_sco_outcome).
#include "haptic/mover/mover.h"

#include <math.h>
#include <string.h>

#define NEXT_STAGE TAC_SCO_NO_SUBSTEP // the substep goes on

// What the stages of a substep hand on.
typedef struct substep {
	tac_dtwist to_device;
	double device_travel; // m, of a motion to the device
	bool push;            // an obstacle moves in it
	// list
	double reach;      // m: how far it may go
	double margin;     // m, within which contacts are listed
	double end_margin; // m, within which they are listed at its end
	bool slewed;       // the slew limit cut its reach
	// solve
	tac_dtwist twist;
	double travel; // m, of the twist
	bool limited;  // trust radius, turn or slew limit cut it short
	// prove
	tac_sco_proof proof;
} substep;

// --- advance objects ---

// The obstacles that still move wait for the tool. False if there are none.
static bool stop_obstacles(tac_sco *sco)
{
	const bool any = tac_sco_any_obstacle_moves(sco);
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		o->moves = false;
	sco->tick.flags |= any ? TAC_SCO_OBJECT_WAITS : 0;
	return any;
}

// Moves each obstacle that has a new pose while the SCO rests, if all of its motion is free. The others keep
// `moves` set and push the tool, as all of them do with the reactive mover.
static void advance_obstacles(tac_sco *sco)
{
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++) {
		o->moves = memcmp(&o->pose, &o->goal, sizeof o->pose) != 0;
		if (!o->moves)
			continue;
		o->twist = tac_dtwist_between(o->pose, o->goal);
		if (sco->def.mover == TAC_SCO_CONTINUOUS)
			o->moves = !tac_sco_advance_obstacle(sco, o);
	}
}

// Sets the obstacles' motions in a substep of at most `reach`; one that is left with less than
// SCO_MIN_TRAVEL_M is at its goal. Returns how far their points near the tool go.
static double plan_obstacle_motions(tac_sco *sco, double reach)
{
	double most = 0;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++) {
		if (!o->moves)
			continue;
		o->twist = tac_dtwist_between(o->pose, o->goal); // what is left
		const double arm =
			tac_dvec3_length(tac_dvec3_sub(sco->pose.position, o->pose.position)) + sco->radius_m;
		const double travel = tac_dtwist_travel(o->twist, arm),
			     s = tac_sco_limit_factor(sco, o->twist, arm, SCO_OBSTACLE_TRAVEL * reach);
		if (s >= 1 && travel < SCO_MIN_TRAVEL_M) {
			o->pose = o->goal;
			o->moves = false;
			sco->listed.margin_m = -1;
			continue;
		}
		o->twist = tac_dtwist_scale(o->twist, s);
		most = fmax(most, travel * s);
	}
	return most;
}

// --- the stages of a substep ---

// Lists the contacts after the fraction `f` of a proved motion. They may overdraw the work: without them the
// proof is in vain, and the next step would repeat it.
static bool list_end(tac_sco *sco, tac_dtwist t, double f, double margin)
{
	tac_sco_work *work = &sco->tick.work;
	const int64_t limit = work->limit, share = (int64_t)(SCO_END_SHARE * (double)sco->tick.usual_units);
	if (work->units + share > limit)
		work->limit = (work->units < limit ? work->units : limit) + share;
	const bool listed = tac_sco_query_contacts(sco, sco->obstacles, sco->obstacles_end, t, f, margin);
	work->limit = limit;
	return listed;
}

// Moves by the proved fraction *f, or by a half, a quarter, … of it: the first that ends above the floor and
// closer to the device. Sets *f to what was made. It counts as converged if one of them led no closer.
static tac_sco_outcome settle(tac_sco *sco, tac_dtwist t, double *f, double from_distance, double margin)
{
	const double hold = sco->def.hold_gap_m;
	const double floor = sco->tick.rolling ? (1 - SCO_ROUND_SLACK_GAPS) * hold
					       : fmin(from_distance, SCO_FLOOR_GAPS * hold);
	const bool must_come_closer =
		from_distance >= SCO_FLOOR_GAPS * hold && !tac_sco_any_obstacle_moves(sco);
	const int tries = sco->tick.rolling ? 1 : SCO_COMMIT_TRIES; // half a roll ends inside the hold gap
	tac_sco_outcome refusal = *f > 0 ? TAC_SCO_TOO_CLOSE : TAC_SCO_UNPROVED;
	for (int k = 0; *f > 0 && k < tries; k++, *f *= 0.5) {
		if (must_come_closer && !tac_sco_leads_closer(sco, t, *f)) {
			refusal = TAC_SCO_CONVERGED;
			continue;
		}
		if (!list_end(sco, t, *f, margin))
			return TAC_SCO_END_UNLISTED;
		if (sco->spare.distance_m < floor)
			continue;
		tac_sco_move(sco, t, *f);
		tac_sco_accept_contacts(sco);
		return TAC_SCO_MOVED;
	}
	return refusal;
}

// A tool far from contact and device flies: the longer of translation and turn first, then the other.
static tac_sco_outcome fly(tac_sco *sco, substep *p)
{
	const double length = tac_dvec3_length(p->to_device.v), turn = tac_dvec3_length(p->to_device.w),
		     least = SCO_LIST_GAPS * sco->def.hold_gap_m;
	const bool far = p->device_travel > sco->def.trust_max_m || turn > sco->def.turn_max_rad;
	if (!far || sco->near_contact || p->push)
		return NEXT_STAGE;
	tac_dtwist way = tac_dtwist_zero();
	if (length >= turn * sco->radius_m)
		way.v = tac_dvec3_scale(p->to_device.v, fmin(1, SCO_MAX_FLIGHT_M / length));
	else
		way.w = p->to_device.w;
	double f;
	const bool moved =
		tac_sco_sweep(sco, way, &f) &&
		(f == 1 || f * length > sco->def.trust_max_m || f * turn > sco->def.turn_max_rad) &&
		settle(sco, way, &f, HUGE_VAL, least) == TAC_SCO_MOVED;
	if (moved && f == 1)
		tac_sco_observe_flight(sco, false);
	sco->near_contact = !moved || sco->listed.distance_m < least;
	return moved ? TAC_SCO_MOVED : NEXT_STAGE;
}

// Sets how far the substep may go and lists the contacts within its margin, unless they are listed.
static tac_sco_outcome list(tac_sco *sco, substep *p)
{
	tac_sco_tick *tick = &sco->tick;
	p->reach = sco->geometry->stride * sco->adapted.trust_m;
	if (sco->near_contact) {
		const double at_limit = tick->work.units < SCO_LATE_UNITS ? SCO_AT_LIMIT : SCO_LATE_LIMIT;
		if (!p->push && tick->contact_travel_m >= at_limit * tick->slew_limit_m) {
			tick->flags |= TAC_SCO_SLEWED;
			return TAC_SCO_SLEW_SPENT;
		}
		double left = fmax(0, tick->slew_limit_m - tick->contact_travel_m);
		p->slewed = left < fmin(p->reach, p->device_travel);
		p->reach = fmin(p->reach, left);
		tick->roll_limit_m = fmin(tick->roll_limit_m, left);
	}
	p->margin = p->end_margin = tac_sco_list_margin(sco);
	if (p->push) {
		p->reach = tac_sco_trust(sco);
		p->margin += plan_obstacle_motions(sco, p->reach);
		p->push = tac_sco_any_obstacle_moves(sco);
	}
	if (sco->listed.margin_m >= SCO_REUSE_MARGIN * p->margin)
		p->margin = fmin(p->margin, sco->listed.margin_m);
	if (sco->listed.margin_m < p->margin && !tac_sco_list_contacts(sco, p->margin))
		return TAC_SCO_NO_LIST;
	sco->near_contact = sco->listed.distance_m < SCO_NEAR_CONTACT_GAPS * sco->def.hold_gap_m;
	return NEXT_STAGE;
}

// Scales a solution down to the reach and the largest turn.
static void limit(tac_sco *sco, substep *p)
{
	if (sco->tick.rolling)
		p->reach = fmax(p->reach, sco->tick.roll_limit_m);
	double s = tac_sco_limit_factor(sco, p->twist, sco->radius_m, p->reach);
	p->twist = tac_dtwist_scale(p->twist, s);
	tac_sco_scale_obstacles(sco, s);
	p->travel = tac_dtwist_travel(p->twist, sco->radius_m);
	p->limited = s < 1 || (p->travel > SCO_AT_LIMIT * p->reach && p->reach < p->device_travel) ||
		     tac_dvec3_length(p->twist.w) > SCO_AT_LIMIT * sco->def.turn_max_rad;
	if (p->limited && p->slewed)
		sco->tick.flags |= TAC_SCO_SLEWED;
}

// Solves for the twist. One that cannot reach any obstacle is made at once.
static tac_sco_outcome solve(tac_sco *sco, substep *p)
{
	tac_sco_tick *tick = &sco->tick;
	p->twist = p->to_device;
	if (sco->listed.distance_m < p->margin && !tac_sco_solve(sco, p->to_device, p->reach, &p->twist)) {
		if (!p->push || !tac_sco_work_allows(&tick->work, SCO_QP_SOLVE))
			return TAC_SCO_NO_SOLUTION;
		stop_obstacles(sco);
		return TAC_SCO_OBJECTS_STOPPED;
	}
	limit(sco, p);
	if (p->push)
		return NEXT_STAGE;
	if (p->travel < SCO_MIN_TRAVEL_M && sco->listed.distance_m < p->margin)
		return TAC_SCO_CONVERGED; // the SCO rests, and the list stays valid
	if (sco->listed.distance_m >= p->travel + sco->def.hold_gap_m) {
		tac_sco_move(sco, p->twist, 1);
		if (p->limited)
			tac_sco_observe_substep(sco, SCO_TRUST_LIMITED, 0);
		sco->listed.margin_m = -1;
		sco->listed.distance_m -= p->travel;
		tick->travel_m += p->travel;
		tick->contact_travel_m += sco->near_contact ? p->travel : 0;
		return p->limited ? TAC_SCO_MOVED : TAC_SCO_ARRIVED;
	}
	// After the first substep a short rest is left to the next step, where it costs no extra proof.
	const bool late = tick->work.units >= SCO_LATE_UNITS;
	const double fraction = late ? SCO_LATE_FRACTION : SCO_SETTLED_FRACTION;
	double rest = SCO_MIN_TRAVEL_M;
	if (tick->travel_m > 0 && (late || !tick->shortened))
		rest = fmax(fraction * sco->def.stop_length_m, SCO_SETTLED_SHARE * tick->travel_m);
	return p->travel < rest && !p->limited ? TAC_SCO_ARRIVED : NEXT_STAGE;
}

// Adds what ended a proof to the contacts of the next solution. False if it is there already or does not fit.
static bool inject(tac_sco *sco, const tac_sco_proof *proof)
{
	if (!proof->blocked || sco->injected_count >= SCO_MAX_INJECTED)
		return false;
	for (int32_t i = 0; i < sco->injected_count; i++) {
		if (sco->injected[i].obstacle == proof->obstacle &&
		    tac_contacts_same_features(&sco->injected[i].contact, &proof->contact))
			return false;
	}
	sco->injected[sco->injected_count++] = (tac_sco_injected){proof->contact, proof->obstacle};
	return true;
}

static tac_sco_outcome prove(tac_sco *sco, substep *p)
{
	tac_sco_tick *tick = &sco->tick;
	if (!tac_sco_certify(sco, p->twist, &p->proof)) {
		// A shorter motion may be proved within the budget.
		tac_sco_observe_substep(sco, SCO_TRUST_UNPROVED, p->travel);
		return TAC_SCO_NO_PROOF;
	}
	if (tick->rolling && p->proof.fraction < 1) {
		// Something is in its path. The roll alone is refused, so the trust radius does not change.
		tick->roll_limit_m = SCO_SHRINK * p->proof.fraction * p->travel;
		return TAC_SCO_ROLL_STOPPED;
	}
	if (p->proof.fraction < SCO_MIN_PROVED && inject(sco, &p->proof)) {
		tick->injections++;
		tick->work.count[SCO_SUBSTEP]--; // the same substep is solved again
		return TAC_SCO_INJECTED;
	}
	return NEXT_STAGE;
}

// Moves by what is proved. After a blocked substep the next one is shorter.
static tac_sco_outcome commit(tac_sco *sco, substep *p)
{
	tac_sco_tick *tick = &sco->tick;
	// Where a proof ends at a contact, the bodies nearly touch: the floor is about a hold gap back.
	double f = p->proof.fraction;
	if (f < 1 && !tick->rolling && !p->proof.unfinished)
		f = fmax(0.5 * f, f - sco->def.hold_gap_m / p->travel);
	tac_sco_outcome o = settle(sco, p->twist, &f, sco->listed.distance_m, p->end_margin);
	const bool stops_roll = tick->rolling && o != TAC_SCO_MOVED;
	tick->roll_limit_m = stops_roll ? 0 : sco->def.trust_max_m;
	if (stops_roll)
		return TAC_SCO_ROLL_STOPPED;
	if (o == TAC_SCO_CONVERGED)
		return p->proof.unfinished && tick->work.spent ? TAC_SCO_NO_PROOF : o;
	sco->injected_count = 0;
	if (o != TAC_SCO_MOVED) {
		tick->flags |= TAC_SCO_BLOCKED;
		tac_sco_observe_substep(sco, SCO_TRUST_BLOCKED, 0);
		stop_obstacles(sco);
		return o;
	}
	const double travel = f * p->travel;
	tick->contact_travel_m += travel;
	tick->travel_m += travel;
	if (p->proof.unfinished && !tick->work.spent)
		return TAC_SCO_LIST_ENDS;
	if (f < 1 || p->limited)
		tac_sco_observe_substep(sco, f < 1 ? SCO_TRUST_SHORTENED : SCO_TRUST_LIMITED, travel);
	tick->shortened |= f < 1;
	bool arrived = !p->limited && f >= 1 && p->travel < sco->def.stop_length_m && !p->push;
	return arrived ? TAC_SCO_ARRIVED : TAC_SCO_MOVED;
}

// --- the step ---

static tac_sco_outcome move_once(tac_sco *sco)
{
	tac_sco_tick *tick = &sco->tick;
	substep p = {.to_device = tac_sco_to_device(sco, sco->pose), .push = tac_sco_any_obstacle_moves(sco)};
	p.device_travel = tac_dtwist_travel(p.to_device, sco->radius_m);
	if (p.device_travel < SCO_MIN_TRAVEL_M && !p.push)
		return TAC_SCO_ARRIVED;
	tick->work.count[SCO_SUBSTEP]++;
	tick->rolling = false;
	if (sco->def.mover == TAC_SCO_REACTIVE) {
		const tac_sco_outcome o = tac_sco_reactive_substep(sco, p.to_device, p.push);
		return stop_obstacles(sco) ? TAC_SCO_OBJECTS_STOPPED : o;
	}
	static tac_sco_outcome (*const stages[])(tac_sco *, substep *) = {fly, list, solve, prove, commit};
	tac_sco_outcome o = NEXT_STAGE;
	for (int i = 0; o == NEXT_STAGE; i++)
		o = stages[i](sco, &p);
	return o;
}

void tac_sco_make_substeps(tac_sco *sco)
{
	tac_sco_tick *tick = &sco->tick;
	tick->roll_limit_m = sco->def.trust_max_m;
	sco->injected_count = 0;
	advance_obstacles(sco);
	tac_sco_outcome o = TAC_SCO_MOVED;
	while (o < TAC_SCO_ARRIVED && tick->work.count[SCO_SUBSTEP] < sco->def.substeps) {
		tick->outcome = o = move_once(sco);
		if ((o >= TAC_SCO_UNPROVED && o < TAC_SCO_ARRIVED) || o >= TAC_SCO_NO_LIST)
			tick->refused = o;
	}
	stop_obstacles(sco);
	if (sco->def.mover == TAC_SCO_REACTIVE)
		tac_sco_reactive_list(sco, sco->adapted.trust_m + SCO_LIST_GAPS * sco->def.hold_gap_m, false);
	if (tick->work.units < SCO_AHEAD_UNITS)
		tac_sco_prepare(sco);
	if (o < TAC_SCO_ARRIVED || o == TAC_SCO_SLEW_SPENT || o == TAC_SCO_LIST_ENDS)
		tick->flags |= TAC_SCO_LIMITED; // the next step goes on
	tac_sco_observe_step(sco);
}
