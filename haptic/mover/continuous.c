#include "haptic/mover/mover.h"

#include <math.h>

// How a substep ended: the step goes on, the step is done, or a planned substep is to be proved.
typedef enum verdict { GO_ON, DONE, PROVE } verdict;

static const tac_sco_twist no_motion = {{0, 0, 0}, {0, 0, 0}};

// Moves the SCO, and the obstacles that move in this substep, by the fraction `s` of it.
static void move(tac_sco *sco, tac_sco_twist t, double s)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		if (obstacle->moves)
			obstacle->pose = tac_sco_obstacle_pose_after(sco, obstacle, t, s);
	}
	sco->pose = tac_sco_pose_after(sco->pose, t, s);
	sco->pose.rotation = tac_dquat_normalize(sco->pose.rotation);
}

// The smallest distance at which a substep from a pose with this distance may end.
static double floor_from(const tac_sco *sco, double distance)
{
	if (sco->tick.rolling)
		return SCO_ROLL_END_GAPS * sco->def.hold_gap_m;
	double floor = SCO_FLOOR_GAPS * sco->def.hold_gap_m;
	if (distance >= floor)
		return floor;
	return distance > SCO_MIN_GAP_M ? fmax(SCO_MIN_GAP_M, SCO_FLOOR_FRACTION * distance) : distance;
}

// Moves by the proved fraction `f` of a substep, or by less, to a pose above the floor and closer to the
// device. Returns the fraction; 0 if no such pose was found, -1 if none comes closer to the device.
static double commit(tac_sco *sco, tac_sco_twist t, double f, double from_distance, double margin)
{
	bool must_come_closer =
		from_distance >= SCO_FLOOR_GAPS * sco->def.hold_gap_m && !tac_sco_any_obstacle_moves(sco);
	double floor = floor_from(sco, from_distance), energy = 0;
	if (must_come_closer)
		energy = tac_sco_energy(sco, sco->pose, sco->tick.device);
	int uphill = 0;
	int tries = sco->tick.rolling ? 1 : SCO_MAX_COMMIT_TRIES; // half a roll ends in the dip
	for (int k = 0; k < tries && f > 0; k++, f *= 0.5) {
		double distance, listed_margin = margin;
		if (must_come_closer) {
			tac_dpose there = tac_sco_pose_after(sco->pose, t, f);
			if (tac_sco_energy(sco, there, sco->tick.device) > energy - SCO_MIN_PROGRESS_M2) {
				if (++uphill > SCO_MAX_UPHILL_TRIES)
					return -1;
				continue;
			}
		}
		if (!tac_sco_query_contacts(sco, t, f, &listed_margin, &distance))
			return 0;
		if (distance < floor)
			continue;
		move(sco, t, f);
		tac_sco_swap_contacts(sco);
		sco->listed_margin_m = listed_margin;
		sco->distance_m = distance;
		return f;
	}
	return uphill ? -1 : 0;
}

// Far from contact: sweeps the translation, then the rotation. True if the SCO moved.
static bool fly(tac_sco *sco, tac_sco_twist to_device)
{
	double zone = SCO_FLIGHT_GAPS * sco->def.hold_gap_m, shortest = sco->def.trust_max_m, f;
	sco->max_flight_m = fmax(sco->max_flight_m, 2 * shortest);
	if (tac_sco_max_travel(sco, to_device) > sco->max_flight_m)
		to_device = tac_sco_twist_scale(to_device,
						sco->max_flight_m / tac_sco_max_travel(sco, to_device));
	double length = tac_dvec3_length(to_device.v), turn = tac_dvec3_length(to_device.w);
	tac_sco_twist translation = {to_device.v, no_motion.w};
	if (!tac_sco_sweep(sco, translation, &f) || (f < 1 && f * length <= shortest))
		return false;
	bool moved = false;
	if (length > 0) {
		double committed = commit(sco, translation, f, HUGE_VAL, zone);
		moved = committed > 0;
		if (committed != 1)
			return moved;
	}
	if (turn > 0) {
		tac_dvec3 w = tac_dvec3_scale(to_device.w, fmin(turn, SCO_MAX_SPIN_RAD) / turn);
		tac_sco_twist rotation = {no_motion.v, w};
		if (!tac_sco_sweep(sco, rotation, &f) ||
		    (f < 1 && f * tac_dvec3_length(w) <= sco->def.turn_max_rad))
			return moved;
		if (f == 0 || commit(sco, rotation, f, HUGE_VAL, zone) <= 0)
			return moved;
	}
	sco->max_flight_m = fmin(2 * sco->max_flight_m, SCO_MAX_FLIGHT_M);
	return true;
}

// Lists the contacts within `margin` at the SCO's pose, unless the present list covers it.
static bool list_contacts(tac_sco *sco, double margin)
{
	if (sco->listed_margin_m >= margin)
		return true;
	double distance;
	if (!tac_sco_query_contacts(sco, no_motion, 0, &margin, &distance))
		return false;
	tac_sco_swap_contacts(sco);
	sco->listed_margin_m = margin;
	sco->distance_m = distance;
	return true;
}

static void recover_from_blocked(tac_sco *sco)
{
	sco->report->flags |= TAC_SCO_BLOCKED;
	sco->trust_m = fmax(SCO_TRUST_BLOCKED * sco->trust_m, sco->def.trust_min_m);
	sco->trust_cap_m = fmin(sco->trust_cap_m, sco->trust_m);
	double bias = sco->tick.bias_m > 0 ? 2 * sco->tick.bias_m : SCO_BIAS_INITIAL_M;
	sco->tick.bias_m = fmin(bias, SCO_BIAS_MAX * sco->def.hold_gap_m);
}

// The obstacles that still move wait for the tool.
static void stop_obstacles(tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		if (sco->obstacles[i].moves)
			sco->report->flags |= TAC_SCO_OBJECT_WAITS;
		sco->obstacles[i].moves = false;
	}
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
		obstacle->twist = tac_sco_remaining_motion(obstacle);
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
			continue;
		}
		obstacle->twist = tac_sco_twist_scale(obstacle->twist, s);
		most = fmax(most, travel * s);
	}
	return most;
}

// Moves each obstacle that has a new pose while the SCO rests, if all of its motion is free. The others keep
// `moves` set and push the tool.
static void advance_obstacles(tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++)
		sco->obstacles[i].moves = false;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		obstacle->twist = tac_sco_remaining_motion(obstacle);
		if (tac_dvec3_length_squared(obstacle->twist.v) == 0 &&
		    tac_dvec3_length_squared(obstacle->twist.w) == 0)
			continue;
		tac_sco_proof proof = {0, -1, -1, -1};
		obstacle->moves = true;
		double distance, margin = SCO_REPORT_GAPS * sco->def.hold_gap_m;
		if (tac_sco_certify(sco, no_motion, &proof) && proof.fraction == 1 &&
		    tac_sco_query_contacts(sco, no_motion, 1, &margin, &distance) &&
		    distance >= sco->def.hold_gap_m) {
			obstacle->pose = obstacle->goal;
			obstacle->moves = false;
		}
		sco->listed_margin_m = -1;
	}
}

// `cost`: of the proof, as a fraction of the step's work units.
static void adapt_stride(tac_sco *sco, bool proof_held, double cost, bool too_short)
{
	if (!proof_held || cost > SCO_STRIDE_MAX_COST)
		sco->stride = fmax(1, SCO_STRIDE_SHRINK * sco->stride);
	else if (too_short && cost < 0.5 * SCO_STRIDE_MAX_COST)
		sco->stride = fmin(SCO_STRIDE_MAX, SCO_STRIDE_GROWTH * sco->stride);
}

// Another obstacle is in the path of a roll: the next substep rolls at most this far.
static verdict limit_roll(tac_sco *sco, double travel)
{
	sco->tick.roll_limit_m = travel;
	return GO_ON;
}

// A substep near contact.
typedef struct substep {
	tac_sco_twist t;
	double travel;  // m
	double trust;   // m
	bool push;      // an obstacle moves in it
	bool limited;   // trust radius, turn or slew limit cut it short
	bool too_short; // the trust cap did: contact queries are expensive here
} substep;

// Lists contacts and solves the QP. PROVE: *out is to be proved and committed. Otherwise there is no motion
// to prove, or it is made already.
static verdict plan(tac_sco *sco, tac_sco_twist to_device, substep *out)
{
	tac_sco_tick *tick = &sco->tick;
	double max_reach = SCO_TRAVEL_SLACK * tac_sco_max_travel(sco, to_device), hold = sco->def.hold_gap_m;
	double trust = fmin(sco->trust_m, sco->trust_cap_m);
	double stride = sco->def.tool ? sco->stride : SCO_STRIDE_ROUND;
	double reach = fmin(max_reach, fmin(stride * trust, sco->def.trust_max_m));
	bool slewed = false;
	if (sco->def.slew_m > 0 && tick->near_contact) {
		double left = tick->slew_limit_m - tick->contact_travel_m + SCO_SLEW_SLACK_M;
		slewed = left < reach;
		reach = fmin(reach, left);
		tick->roll_limit_m = fmin(tick->roll_limit_m, left);
	}
	bool push = tac_sco_any_obstacle_moves(sco);
	if (push)
		reach = trust;
	double obstacle_travel = push ? plan_obstacle_motions(sco, reach) : 0;
	push = push && tac_sco_any_obstacle_moves(sco);
	double margin = SCO_CONTACT_MARGIN * trust + obstacle_travel + 2 * hold;
	if (sco->listed_margin_m > 0 && sco->listed_margin_m < margin &&
	    sco->listed_margin_m >= SCO_REUSE_MARGIN * margin)
		margin = sco->listed_margin_m;
	if (!list_contacts(sco, margin))
		return DONE;
	tick->near_contact = sco->distance_m < SCO_NEAR_CONTACT_GAPS * hold;
	tac_sco_twist t = to_device;
	if (sco->distance_m < margin && !tac_sco_solve(sco, to_device, reach, &t)) {
		if (!push || sco->report->qp_solves >= sco->def.qp_solves)
			return DONE;
		stop_obstacles(sco);
		return GO_ON;
	}
	if (tick->rolling)
		reach = fmax(reach, tick->roll_limit_m);
	double s = tac_sco_limit_factor(sco, t, reach);
	if (s < 1) {
		t = tac_sco_twist_scale(t, s);
		for (int32_t i = 0; i < sco->def.object_count; i++)
			sco->obstacles[i].twist = tac_sco_twist_scale(sco->obstacles[i].twist, s);
	}
	double travel = tac_sco_max_travel(sco, t);
	bool limited = s < 1 || (travel > SCO_AT_LIMIT * reach && reach < max_reach) ||
		       tac_dvec3_length(t.w) > SCO_AT_LIMIT * sco->def.turn_max_rad;
	if (limited)
		tac_sco_widen_trust(sco);
	if (limited && slewed)
		sco->report->flags |= TAC_SCO_SLEWED;
	if (travel < SCO_MIN_TRAVEL_M && !push && sco->distance_m < margin)
		return DONE;                             // the SCO rests, and the list stays valid
	if (!push && sco->distance_m >= travel + hold) { // no obstacle within reach
		move(sco, t, 1);
		sco->listed_margin_m = -1;
		sco->distance_m -= travel;
		tick->travel_m += travel;
		tick->contact_travel_m += tick->near_contact ? travel : 0;
		return limited ? GO_ON : DONE;
	}
	// After the first substep a short rest is left to the next step, where it costs no extra proof.
	bool settled = travel < (tick->travel_m > 0 ? SCO_SETTLED_FRACTION * sco->def.stop_length_m
						    : SCO_MIN_TRAVEL_M);
	if (settled && !limited && !push)
		return DONE;
	*out = (substep){t, travel, trust, push, limited, limited && sco->trust_cap_m < sco->trust_m};
	return PROVE;
}

static verdict prove_and_commit(tac_sco *sco, const substep *p)
{
	tac_sco_tick *tick = &sco->tick;
	double travel = p->travel;
	tac_sco_proof proof;
	int64_t before = sco->report->work_units;
	if (!tac_sco_certify(sco, p->t, &proof)) {
		// A shorter motion may be proved within the budget.
		sco->trust_cap_m = fmin(sco->trust_cap_m, SCO_UNPROVED_TRUST * travel);
		sco->stride = 1;
		return DONE;
	}
	double cost = (double)(sco->report->work_units - before) / (double)sco->def.work_units;
	if (tick->rolling && proof.fraction < 1)
		return limit_roll(sco, SCO_ROLL_RETRY * proof.fraction * travel);
	if (proof.fraction < SCO_MIN_PROVED && tick->injection_rounds < SCO_MAX_INJECTION_ROUNDS &&
	    tac_sco_inject(sco, &proof, p->t)) {
		tick->injection_rounds++;
		adapt_stride(sco, false, cost, p->too_short);
		sco->report->injections++;
		sco->report->substeps--; // the same substep is solved again
		return GO_ON;
	}
	tick->injection_rounds = 0;
	double committed = commit(sco, p->t, proof.fraction, sco->distance_m,
				  SCO_CONTACT_MARGIN * p->trust + 2 * sco->def.hold_gap_m);
	if (tick->rolling && committed <= 0)
		return limit_roll(sco, 0);
	tick->roll_limit_m = sco->def.trust_max_m;
	if (committed < 0)
		return DONE;
	sco->injected_count = 0;
	adapt_stride(sco, proof.fraction == 1 && committed == 1, cost, p->too_short);
	if (committed == 0) {
		if (p->push)
			stop_obstacles(sco);
		recover_from_blocked(sco);
		tac_sco_inject_blocker(sco, &proof);
		return GO_ON;
	}
	tick->bias_m = 0;
	if (committed < 1)
		sco->trust_m = fmax(committed * travel, sco->def.trust_min_m);
	tick->contact_travel_m += committed * travel;
	tick->travel_m += committed * travel;
	bool arrived = !p->limited && committed >= 1 && travel < sco->def.stop_length_m && !p->push;
	return arrived ? DONE : GO_ON;
}

static verdict move_near_contact(tac_sco *sco, tac_sco_twist to_device)
{
	substep p;
	verdict v = plan(sco, to_device, &p);
	return v == PROVE ? prove_and_commit(sco, &p) : v;
}

void tac_sco_move_continuous(tac_sco *sco)
{
	tac_sco_tick *tick = &sco->tick;
	tick->near_contact = sco->near_contact;
	tick->roll_limit_m = sco->def.trust_max_m;
	tick->work_limit = sco->def.work_units;
	if (sco->starved_steps >= SCO_STARVED_STEPS && tick->work_limit < SCO_STARVED_WORK_MAX) {
		tick->work_limit *= SCO_STARVED_FACTOR;
		if (tick->work_limit > SCO_STARVED_WORK_MAX)
			tick->work_limit = SCO_STARVED_WORK_MAX;
	}
	advance_obstacles(sco);
	// Continue where a starved step ended.
	bool resume = sco->listed_margin_m > 0 && !tac_sco_any_obstacle_moves(sco);
	sco->injected_count = resume ? sco->kept_injected : 0;
	tick->bias_m = resume ? sco->kept_bias_m : 0;
	verdict v = GO_ON;
	int64_t work_at_start = 0; // of the last substep
	while (v == GO_ON && sco->report->substeps < sco->def.substeps) {
		int64_t cost = sco->report->work_units - work_at_start;
		work_at_start = sco->report->work_units;
		if (tick->travel_m > 0 &&
		    (double)(tick->work_limit - work_at_start) < SCO_MIN_BUDGET_FRACTION * (double)cost) {
			sco->report->flags |= TAC_SCO_BUDGET_SPENT;
			break;
		}
		tac_sco_twist to_device = tac_sco_twist_between(sco, sco->pose, tick->device);
		double travel = tac_sco_max_travel(sco, to_device);
		if (travel < SCO_ARRIVED_M && !tac_sco_any_obstacle_moves(sco))
			break;
		sco->report->substeps++;
		tick->rolling = false;
		bool far = travel > sco->def.trust_max_m ||
			   tac_dvec3_length(to_device.w) > sco->def.turn_max_rad;
		if (far && !tick->near_contact && !tac_sco_any_obstacle_moves(sco)) {
			if (fly(sco, to_device)) {
				tick->near_contact = sco->distance_m < SCO_FLIGHT_GAPS * sco->def.hold_gap_m;
				continue;
			}
			tick->near_contact = true;
		}
		if (sco->def.slew_m > 0 && tick->contact_travel_m >= SCO_AT_LIMIT * tick->slew_limit_m &&
		    tick->near_contact && !tac_sco_any_obstacle_moves(sco)) {
			sco->report->flags |= TAC_SCO_SLEWED | TAC_SCO_LIMITED;
			break;
		}
		v = move_near_contact(sco, to_device);
	}
	stop_obstacles(sco);
	if (v == GO_ON && sco->report->substeps >= sco->def.substeps)
		sco->report->flags |= TAC_SCO_LIMITED;
	sco->near_contact = tick->near_contact;
	bool starved = tick->travel_m == 0 && sco->report->flags & TAC_SCO_BUDGET_SPENT;
	sco->kept_injected = starved ? sco->injected_count : 0;
	sco->kept_bias_m = starved ? tick->bias_m : 0;
	sco->starved_steps = starved ? sco->starved_steps + 1 : 0;
}
