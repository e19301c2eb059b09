// The continuous mover. A step first advances the objects that move, then makes substeps: it flies where
// nothing is near; near contact it lists the contacts, solves for the best twist, proves it and commits it.
// tac_sco_outcome (haptic/sco.h) has every reason for which a substep is refused or ends the step; move_once
// returns it, and the report and the snapshot have it. The trust radius and the other values that adapt are
// in controllers.c.
#include "haptic/mover/mover.h"

#include <math.h>

#define NEXT_STAGE TAC_SCO_NO_SUBSTEP // the substep goes on

static bool goes_on(tac_sco_outcome o)
{
	return o < TAC_SCO_ARRIVED;
}

static bool is_refusal(tac_sco_outcome o)
{
	return o >= TAC_SCO_UNPROVED && o != TAC_SCO_ARRIVED && o != TAC_SCO_CONVERGED;
}

static const tac_sco_twist no_motion = {{0, 0, 0}, {0, 0, 0}};

// A substep near contact.
typedef struct substep {
	tac_sco_twist to_device, twist;
	double max_reach; // m, to the device
	double trust;     // m
	double reach;     // m: how far it may go
	double margin;    // m, within which contacts are listed
	double travel;    // m
	bool push;        // an obstacle moves in it
	bool slewed;      // the slew limit cut its reach
	bool limited;     // trust radius, turn or slew limit cut it short
	tac_sco_proof proof;
} substep;

// --- advance objects ---

// Moves each obstacle that has a new pose while the SCO rests, if all of its motion is free. The others keep
// `moves` set and push the tool. True if any of them is near the tool.
static bool advance_obstacles(tac_sco *sco)
{
	bool near = false;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		obstacle->moves = tac_sco_aim_obstacle(obstacle);
		if (!obstacle->moves)
			continue;
		if (tac_sco_advance_far_obstacle(sco, obstacle)) {
			obstacle->moves = false;
			continue;
		}
		near = true;
		obstacle->moves = !tac_sco_advance_obstacle(sco, obstacle);
	}
	return near;
}

// Sets the obstacles' motions in a substep of at most `reach`. Returns the largest travel of their points
// near the tool.
static double plan_obstacle_motions(tac_sco *sco, double reach)
{
	double most = 0, max_travel = SCO_OBSTACLE_TRAVEL * reach;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		if (!obstacle->moves)
			continue;
		tac_sco_aim_obstacle(obstacle);
		double arm = tac_dvec3_length(tac_dvec3_sub(sco->pose.position, obstacle->pose.position)) +
			     sco->radius_m;
		double angle = tac_dvec3_length(obstacle->twist.w);
		double travel = tac_dvec3_length(obstacle->twist.v) + angle * arm;
		double s = 1;
		if (travel > max_travel)
			s = max_travel / travel;
		if (angle * s > sco->def.turn_max_rad)
			s = sco->def.turn_max_rad / angle;
		if (s >= 1 && travel < SCO_MIN_TRAVEL_M) {
			obstacle->pose = obstacle->goal;
			obstacle->moves = false;
			sco->listed_margin_m = -1;
			continue;
		}
		obstacle->twist = tac_sco_twist_scale(obstacle->twist, s);
		most = fmax(most, travel * s);
	}
	return most;
}

// --- commit ---

// The smallest distance at which a substep from a pose with this distance may end.
static double floor_from(const tac_sco *sco, double distance)
{
	if (sco->tick.rolling)
		return (1 - SCO_ROUND_SLACK_GAPS) * sco->def.hold_gap_m;
	return fmin(distance, SCO_FLOOR_GAPS * sco->def.hold_gap_m);
}

// Moves by the proved fraction `f` of a substep, or by less, to a pose above the floor and closer to the
// device. *out_fraction is what was made of it.
static tac_sco_outcome settle(tac_sco *sco, tac_sco_twist t, double f, double from_distance, double margin,
			      double *out_fraction)
{
	bool must_come_closer =
		from_distance >= SCO_FLOOR_GAPS * sco->def.hold_gap_m && !tac_sco_any_obstacle_moves(sco);
	double floor = floor_from(sco, from_distance), energy = 0;
	if (must_come_closer)
		energy = tac_sco_energy(sco, sco->pose, sco->tick.device);
	const int tries = sco->tick.rolling ? 1 : SCO_COMMIT_TRIES; // half a roll ends in the dip
	tac_sco_outcome refusal = f > 0 ? TAC_SCO_TOO_CLOSE : TAC_SCO_UNPROVED;
	*out_fraction = 0;
	for (int k = 0; k < tries && f > 0; k++, f *= 0.5) {
		double distance, listed_margin = margin;
		if (must_come_closer) {
			tac_dpose there = tac_sco_pose_after(sco->pose, t, f);
			if (tac_sco_energy(sco, there, sco->tick.device) > energy - SCO_MIN_PROGRESS_M2) {
				refusal = TAC_SCO_CONVERGED; // not closer to the device
				continue;
			}
		}
		if (!tac_sco_query_contacts(sco, t, f, &listed_margin, &distance))
			return TAC_SCO_END_UNLISTED;
		if (distance < floor)
			continue; // too close to an obstacle
		tac_sco_move(sco, t, f);
		tac_sco_accept_contacts(sco, listed_margin, distance);
		*out_fraction = f;
		return TAC_SCO_MOVED;
	}
	return refusal;
}

// Another obstacle is in the path of a roll: the next substep rolls at most this far. The roll alone is
// refused, so neither the trust radius nor the bounds change.
static tac_sco_outcome retry_roll(tac_sco *sco, double travel)
{
	sco->tick.roll_limit_m = travel;
	return TAC_SCO_ROLL_STOPPED;
}

// What the next substep does differently: it is shorter and has the pair that ended the proof as a row.
static void recover_from_blocked(tac_sco *sco, const substep *p)
{
	if (p->push)
		tac_sco_stop_obstacles(sco);
	sco->tick.flags |= TAC_SCO_BLOCKED;
	tac_sco_trust_observe(&sco->trust, &sco->def, SCO_TRUST_BLOCKED, 0);
	tac_sco_inject_blocker(sco, &p->proof);
}

static tac_sco_outcome commit(tac_sco *sco, const substep *p)
{
	tac_sco_tick *tick = &sco->tick;
	double made, margin = tac_sco_list_margin(sco, p->trust);
	tac_sco_outcome o = settle(sco, p->twist, p->proof.fraction, sco->distance_m, margin, &made);
	if (tick->rolling && o != TAC_SCO_MOVED)
		return retry_roll(sco, 0);
	tick->roll_limit_m = sco->def.trust_max_m;
	if (o == TAC_SCO_CONVERGED)
		return o;
	sco->injected_count = 0;
	if (o != TAC_SCO_MOVED) {
		recover_from_blocked(sco, p);
		return o;
	}
	if (made < 1)
		tac_sco_trust_observe(&sco->trust, &sco->def, SCO_TRUST_SHORTENED, made * p->travel);
	tick->contact_travel_m += made * p->travel;
	tick->travel_m += made * p->travel;
	bool arrived = !p->limited && made >= 1 && p->travel < sco->def.stop_length_m && !p->push;
	return arrived ? TAC_SCO_ARRIVED : TAC_SCO_MOVED;
}

// --- fly ---

// Sweeps the translation to the device, then the rotation. True if the SCO moved.
static bool fly(tac_sco *sco, tac_sco_twist to_device)
{
	double zone = SCO_LIST_GAPS * sco->def.hold_gap_m, f, made;
	double travel = tac_sco_max_travel(sco, to_device), shortest = sco->def.trust_max_m;
	if (travel > SCO_MAX_FLIGHT_M)
		to_device = tac_sco_twist_scale(to_device, SCO_MAX_FLIGHT_M / travel);
	double length = tac_dvec3_length(to_device.v), turn = tac_dvec3_length(to_device.w);
	tac_sco_twist translation = {to_device.v, no_motion.w};
	if (!tac_sco_sweep(sco, translation, &f) || (f < 1 && f * length <= shortest))
		return false;
	bool moved = false;
	if (length > 0) {
		moved = settle(sco, translation, f, HUGE_VAL, zone, &made) == TAC_SCO_MOVED;
		if (!moved || made != 1)
			return moved;
	}
	if (turn > 0) {
		tac_sco_twist rotation = {no_motion.v, to_device.w};
		if (!tac_sco_sweep(sco, rotation, &f) || (f < 1 && f * turn <= sco->def.turn_max_rad) ||
		    settle(sco, rotation, f, HUGE_VAL, zone, &made) != TAC_SCO_MOVED)
			return moved;
	}
	tac_sco_flight_observe(&sco->flight, false);
	return true;
}

// --- list ---

// Sets how far the substep may go and lists the contacts within its margin, unless the present list covers
// it.
static tac_sco_outcome list(tac_sco *sco, substep *p)
{
	tac_sco_tick *tick = &sco->tick;
	p->max_reach = tac_sco_max_travel(sco, p->to_device);
	p->trust = tac_sco_trust_begin(&sco->trust);
	p->reach = fmin(p->max_reach, fmin(sco->geometry->stride * sco->trust.radius_m, sco->stride.max_m));
	if (sco->def.slew_m_per_s > 0 && sco->near_contact) {
		double left = fmax(0, tick->slew_limit_m - tick->contact_travel_m);
		p->slewed = left < p->reach;
		p->reach = fmin(p->reach, left);
		tick->roll_limit_m = fmin(tick->roll_limit_m, left);
	}
	double obstacle_travel = 0;
	if (tac_sco_any_obstacle_moves(sco)) {
		p->reach = p->trust;
		obstacle_travel = plan_obstacle_motions(sco, p->reach);
		p->push = tac_sco_any_obstacle_moves(sco);
	}
	p->margin = tac_sco_list_margin(sco, p->trust) + obstacle_travel;
	if (sco->listed_margin_m > 0 && sco->listed_margin_m < p->margin &&
	    sco->listed_margin_m >= SCO_REUSE_MARGIN * p->margin)
		p->margin = sco->listed_margin_m;
	if (sco->listed_margin_m < p->margin) {
		double distance, covered = p->margin;
		if (!tac_sco_query_contacts(sco, no_motion, 0, &covered, &distance))
			return TAC_SCO_NO_LIST;
		tac_sco_accept_contacts(sco, covered, distance);
	}
	sco->near_contact = sco->distance_m < SCO_NEAR_CONTACT_GAPS * sco->def.hold_gap_m;
	return NEXT_STAGE;
}

// --- solve ---

// Solves for the twist and limits it. A twist that no obstacle can be reached by is made at once.
static tac_sco_outcome solve(tac_sco *sco, substep *p)
{
	tac_sco_tick *tick = &sco->tick;
	p->twist = p->to_device;
	if (sco->distance_m < p->margin && !tac_sco_solve(sco, p->to_device, p->reach, &p->twist)) {
		if (!p->push || !tac_sco_work_allows(&tick->work, SCO_QP_SOLVE))
			return TAC_SCO_NO_SOLUTION;
		tac_sco_stop_obstacles(sco);
		return TAC_SCO_OBJECTS_STOPPED;
	}
	if (tick->rolling)
		p->reach = fmax(p->reach, tick->roll_limit_m);
	double s = tac_sco_limit_factor(sco, p->twist, p->reach);
	if (s < 1) {
		p->twist = tac_sco_twist_scale(p->twist, s);
		tac_sco_scale_obstacles(sco, s);
	}
	p->travel = tac_sco_max_travel(sco, p->twist);
	p->limited = s < 1 || (p->travel > SCO_AT_LIMIT * p->reach && p->reach < p->max_reach) ||
		     tac_dvec3_length(p->twist.w) > SCO_AT_LIMIT * sco->def.turn_max_rad;
	if (p->limited)
		tac_sco_trust_observe(&sco->trust, &sco->def, SCO_TRUST_LIMITED, 0);
	if (p->limited && p->slewed)
		tick->flags |= TAC_SCO_SLEWED;
	if (p->travel < SCO_MIN_TRAVEL_M && !p->push && sco->distance_m < p->margin)
		return TAC_SCO_CONVERGED; // the SCO rests, and the list stays valid
	if (!p->push && sco->distance_m >= p->travel + sco->def.hold_gap_m) {
		tac_sco_move(sco, p->twist, 1);
		sco->listed_margin_m = -1;
		sco->distance_m -= p->travel;
		tick->travel_m += p->travel;
		tick->contact_travel_m += sco->near_contact ? p->travel : 0;
		return p->limited ? TAC_SCO_MOVED : TAC_SCO_ARRIVED;
	}
	// After the first substep a short rest is left to the next step, where it costs no extra proof.
	double rest = tick->travel_m > 0 ? SCO_SETTLED_FRACTION * sco->def.stop_length_m : SCO_MIN_TRAVEL_M;
	return p->travel < rest && !p->limited && !p->push ? TAC_SCO_ARRIVED : NEXT_STAGE;
}

// --- prove ---

static tac_sco_outcome prove(tac_sco *sco, substep *p)
{
	tac_sco_tick *tick = &sco->tick;
	int64_t before = tick->work.units;
	if (!tac_sco_certify(sco, p->twist, &p->proof)) {
		// A shorter motion may be proved within the budget.
		tac_sco_trust_observe(&sco->trust, &sco->def, SCO_TRUST_UNPROVED, p->travel);
		tac_sco_stride_observe(&sco->stride, &sco->def, p->travel, 1);
		return TAC_SCO_NO_PROOF;
	}
	double cost = (double)(tick->work.units - before) / (double)sco->def.work_units;
	tac_sco_stride_observe(&sco->stride, &sco->def, p->travel, cost);
	if (tick->rolling && p->proof.fraction < 1)
		return retry_roll(sco, SCO_SHRINK * p->proof.fraction * p->travel);
	if (p->proof.fraction < SCO_MIN_PROVED && tac_sco_inject(sco, &p->proof, p->twist)) {
		tick->injections++;
		tick->work.count[SCO_SUBSTEP]--; // the same substep is solved again
		return TAC_SCO_INJECTED;
	}
	return NEXT_STAGE;
}

// --- the step ---

// One substep of a step.
static tac_sco_outcome move_once(tac_sco *sco)
{
	tac_sco_tick *tick = &sco->tick;
	substep p = {.to_device = tac_sco_twist_between(sco, sco->pose, tick->device)};
	double travel = tac_sco_max_travel(sco, p.to_device);
	bool push = tac_sco_any_obstacle_moves(sco);
	if (travel < SCO_MIN_TRAVEL_M && !push)
		return TAC_SCO_ARRIVED;
	tick->work.count[SCO_SUBSTEP]++;
	tick->rolling = false;
	bool far = travel > sco->def.trust_max_m || tac_dvec3_length(p.to_device.w) > sco->def.turn_max_rad;
	if (far && !sco->near_contact && !push) {
		bool moved = fly(sco, p.to_device);
		sco->near_contact = !moved || sco->distance_m < SCO_LIST_GAPS * sco->def.hold_gap_m;
		if (moved)
			return TAC_SCO_MOVED;
	}
	if (sco->def.slew_m_per_s > 0 && tick->contact_travel_m >= SCO_AT_LIMIT * tick->slew_limit_m &&
	    sco->near_contact && !push) {
		tick->flags |= TAC_SCO_SLEWED | TAC_SCO_LIMITED;
		return TAC_SCO_SLEW_SPENT;
	}
	tac_sco_outcome o = list(sco, &p);
	if (o == NEXT_STAGE)
		o = solve(sco, &p);
	if (o == NEXT_STAGE)
		o = prove(sco, &p);
	return o == NEXT_STAGE ? commit(sco, &p) : o;
}

// Whether enough work is left for another substep that costs as much as the last one.
static bool affords_another(tac_sco *sco, int64_t last_cost)
{
	tac_sco_work *work = &sco->tick.work;
	if (sco->tick.travel_m == 0 ||
	    (double)(work->limit - work->units) >= SCO_MIN_BUDGET_FRACTION * (double)last_cost)
		return true;
	work->spent = true;
	return false;
}

void tac_sco_move_continuous(tac_sco *sco)
{
	tac_sco_tick *tick = &sco->tick;
	tick->roll_limit_m = sco->def.trust_max_m;
	bool near_motion = advance_obstacles(sco);
	// Continue where a starved step ended.
	bool resume = sco->listed_margin_m > 0 && !near_motion;
	sco->injected_count = resume ? sco->starvation.injected : 0;
	tac_sco_outcome o = TAC_SCO_MOVED;
	int64_t before = 0; // work units at the start of the last substep; 0: of the obstacles' advance
	while (goes_on(o) && tick->work.count[SCO_SUBSTEP] < sco->def.substeps) {
		int64_t last_cost = tick->work.units - before;
		before = tick->work.units;
		if (!affords_another(sco, last_cost))
			break;
		tick->outcome = o = move_once(sco);
		if (is_refusal(o))
			tick->refused = o;
	}
	tac_sco_stop_obstacles(sco);
	tac_sco_prepare(sco);
	if (goes_on(o) && tick->work.count[SCO_SUBSTEP] >= sco->def.substeps)
		tick->flags |= TAC_SCO_LIMITED;
	bool starved = tick->travel_m == 0 && tick->work.spent;
	tac_sco_starvation_observe(&sco->starvation, starved, sco->injected_count);
	tac_sco_trust_observe(&sco->trust, &sco->def, SCO_TRUST_STEP_DONE, tick->travel_m);
}
