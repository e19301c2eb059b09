#include "haptic/sco_private.h"

#include <math.h>

// Nearer than so many hold gaps the tool is at work, not in flight.
#define NEAR 5
// Rounds of injection at one pose, tries of a commit, and how many of them may end no closer to the device.
#define ROUNDS       6
#define TRIES        6
#define TRIES_UPHILL 3
// A piece must bring the device closer by this, m^2 in the metric, else the step has converged: less is
// chatter. What is left is about its root.
#define CLOSER 2.5e-13
// Contacts are looked for so far, as a part of the trust radius; a list that reaches almost as far is not
// made anew.
#define LOOK       0.4
#define LOOK_AGAIN 0.6
// Shorter pieces are none, m; and shorter ones after the first of a step, as a part of the stop length.
#define PIECE_MIN 1e-9
#define SETTLED   0.1
// What cannot be proved in time is tried again with this part of the way.
#define CAP_AGAIN 0.5
// The largest turn of one sweep, rad.
#define SPIN_MAX 2.5
// Bounds after a blocked piece: the first, then twice as much each time up to this part of the hold gap.
#define BIAS_FIRST 2e-6
#define BIAS_MAX   0.8
// Above this part of a limit, the limit counts as reached.
#define AT_LIMIT 0.98
// After so many steps that ended for want of pairs before they moved, the next ones have so many times more,
// but no more than this, 0.6 ms, unless the def gives them.
#define STUCK            3
#define STUCK_PAIRS      3
#define STUCK_PAIRS_MOST 2000
// A piece that rolls over an edge or a vertex ends no closer than this part of the hold gap: more than its
// way may dip, so what a tool larger than the gap would pass on the way is too near at the end, too.
#define ROLLED 0.9
// What stops a roll is given a wider berth: the next one goes this part of the way to it.
#define ROLL_AGAIN 0.8
// Where trust is capped, the stride grows after a piece whose proof held, and shrinks after one that failed
// or took more than this part of a step's pairs.
#define STRIDE_MORE 1.5
#define STRIDE_LESS 0.5
#define STRIDE_MAX  8
#define STRIDE_COST 0.15
// That of a round tool, whose sweeps are cheap and end exactly where something is met.
#define ROUND_STRIDE 4
// Another piece is begun with this part of the pairs that the last one took, or more.
#define ENOUGH 0.75

typedef enum verdict { GO_ON, DONE, PROVE } verdict;

static const tac_sco_twist still = {{0, 0, 0}, {0, 0, 0}};

// Moves the SCO, and the objects that move in this piece, by `s` of it.
static void move(tac_sco *sco, tac_sco_twist t, double s)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		if (thing->moves)
			thing->pose = tac_sco_thing_after(sco, thing, t, s);
	}
	sco->pose = tac_sco_pose_after(sco->pose, t, s);
	sco->pose.rotation = tac_dquat_normalize(sco->pose.rotation);
}

static double floor_from(const tac_sco *sco, double distance)
{
	if (sco->tick.rolls)
		return ROLLED * sco->def.hold_gap_m;
	double half = 0.5 * sco->def.hold_gap_m;
	if (distance >= half)
		return half;
	return distance > TAC_SCO_CLOSEST ? fmax(TAC_SCO_CLOSEST, 0.98 * distance) : distance;
}

// Moves by the proved fraction `f` of the piece, or less, to a pose above the floor and closer to the device.
// Answers the fraction; 0 when there is none, -1 when it would come no closer.
static double commit(tac_sco *sco, tac_sco_twist t, double f, double from_distance, double margin)
{
	bool must_come_closer = from_distance >= 0.5 * sco->def.hold_gap_m && !tac_sco_pushing(sco);
	double floor = floor_from(sco, from_distance), energy = 0;
	if (must_come_closer)
		energy = tac_sco_energy(sco, sco->pose, sco->tick.device);
	int uphill = 0;
	int tries = sco->tick.rolls ? 1 : TRIES; // halfway round it is close
	for (int k = 0; k < tries && f > 0; k++, f *= 0.5) {
		double distance, known = margin;
		if (must_come_closer) {
			tac_dpose there = tac_sco_pose_after(sco->pose, t, f);
			if (tac_sco_energy(sco, there, sco->tick.device) > energy - CLOSER) {
				if (++uphill > TRIES_UPHILL)
					return -1;
				continue;
			}
		}
		if (!tac_sco_gather(sco, t, f, &known, &distance))
			return 0;
		if (distance < floor)
			continue;
		move(sco, t, f);
		tac_sco_swap(sco);
		sco->known = known;
		sco->distance = distance;
		return f;
	}
	return uphill ? -1 : 0;
}

// A long way from any contact: the sweep of the translation, then of the rotation. True when it moved.
static bool fly(tac_sco *sco, tac_sco_twist t0)
{
	double zone = 2 * sco->def.hold_gap_m, shortest = sco->def.trust_max_m, f;
	sco->flight = fmax(sco->flight, 2 * shortest);
	if (tac_sco_reach(sco, t0) > sco->flight)
		t0 = tac_sco_twist_scale(t0, sco->flight / tac_sco_reach(sco, t0));
	double way = tac_dvec3_length(t0.v), turn = tac_dvec3_length(t0.w);
	if (!tac_sco_fly(sco, (tac_sco_twist){t0.v, still.w}, &f) || (f < 1 && f * way <= shortest))
		return false;
	bool moved = false;
	if (way > 0) {
		double got = commit(sco, (tac_sco_twist){t0.v, still.w}, f, HUGE_VAL, zone);
		moved = got > 0;
		if (got != 1)
			return moved;
	}
	if (turn > 0) {
		tac_dvec3 w = tac_dvec3_scale(t0.w, fmin(turn, SPIN_MAX) / turn);
		if (!tac_sco_fly(sco, (tac_sco_twist){still.v, w}, &f) ||
		    (f < 1 && f * tac_dvec3_length(w) <= sco->def.turn_max_rad))
			return moved;
		if (f == 0 || commit(sco, (tac_sco_twist){still.v, w}, f, HUGE_VAL, zone) <= 0)
			return moved;
	}
	sco->flight = fmin(2 * sco->flight, TAC_SCO_FLIGHT);
	return true;
}

// Contacts within `margin` of the SCO's pose.
static bool look(tac_sco *sco, double margin)
{
	if (sco->known >= margin)
		return true;
	double distance;
	if (!tac_sco_gather(sco, still, 0, &margin, &distance))
		return false;
	tac_sco_swap(sco);
	sco->known = margin;
	sco->distance = distance;
	return true;
}

static void blocked(tac_sco *sco)
{
	sco->report->flags |= TAC_SCO_BLOCKED;
	sco->trust = fmax(0.25 * sco->trust, sco->def.trust_min_m);
	sco->trust_cap = fmin(sco->trust_cap, sco->trust);
	double bias = sco->tick.bias > 0 ? 2 * sco->tick.bias : BIAS_FIRST;
	sco->tick.bias = fmin(bias, BIAS_MAX * sco->def.hold_gap_m);
}

static void wait_for_tool(tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		if (sco->things[i].moves)
			sco->report->flags |= TAC_SCO_OBJECT_WAITS;
		sco->things[i].moves = false;
	}
}

// What the objects still have to go, as far as one piece may take them. The largest way of their points near
// the tool.
static double set_pushes(tac_sco *sco, double reach)
{
	double most = 0;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		if (!thing->moves)
			continue;
		tac_dpose there = thing->goal;
		thing->push = tac_sco_push(thing);
		double arm = tac_dvec3_length(tac_dvec3_sub(sco->pose.position, thing->pose.position)) +
			     sco->radius;
		double angle = tac_dvec3_length(thing->push.w),
		       way = tac_dvec3_length(thing->push.v) + angle * arm;
		double s = 1;
		if (way > 0.5 * reach)
			s = 0.5 * reach / way;
		if (angle * s > sco->def.turn_max_rad)
			s = sco->def.turn_max_rad / angle;
		if (s >= 1 && way < PIECE_MIN) {
			thing->pose = there;
			thing->moves = false;
			continue;
		}
		thing->push = tac_sco_twist_scale(thing->push, s);
		most = fmax(most, way * s);
	}
	return most;
}

// Moves each object that has a new pose while the SCO stands, if that is free all the way. The others have to
// push.
static void advance_objects(tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++)
		sco->things[i].moves = false;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		thing->push = tac_sco_push(thing);
		if (tac_dvec3_length_squared(thing->push.v) == 0 &&
		    tac_dvec3_length_squared(thing->push.w) == 0)
			continue;
		tac_sco_proof proof = {0, -1, -1, -1};
		thing->moves = true;
		double distance, margin = 2 * sco->def.hold_gap_m;
		if (tac_sco_certify(sco, still, &proof) && proof.fraction == 1 &&
		    tac_sco_gather(sco, still, 1, &margin, &distance) && distance >= sco->def.hold_gap_m) {
			thing->pose = thing->goal;
			thing->moves = false;
		}
		sco->known = -1;
	}
}

static void adapt_stride(tac_sco *sco, bool held, double cost, bool too_short)
{
	if (!held || cost > STRIDE_COST)
		sco->stride = fmax(1, STRIDE_LESS * sco->stride);
	else if (too_short && cost < 0.5 * STRIDE_COST)
		sco->stride = fmin(STRIDE_MAX, STRIDE_MORE * sco->stride);
}

// Something else is behind the curve that a piece would have gone round: the next goes so far at most.
static verdict roll_less(tac_sco *sco, double way)
{
	sco->tick.roll = way;
	return GO_ON;
}

// A piece of motion near contact.
typedef struct piece {
	tac_sco_twist t;
	double way;     // m
	double trust;   // m
	bool push;      // an object moves in it
	bool limited;   // it would have gone further
	bool too_short; // because looks are dear
} piece;

// Contacts and QP: where to go. PROVE: *out is to be proved and made; else there is none, or it is made.
static verdict plan(tac_sco *sco, tac_sco_twist t0, piece *out)
{
	tac_sco_tick *tick = &sco->tick;
	double all = tac_sco_reach(sco, t0), hold = sco->def.hold_gap_m;
	double trust = fmin(sco->trust, sco->trust_cap);
	double stride = sco->def.tool ? sco->stride : ROUND_STRIDE;
	double reach = fmin(1.05 * all, fmin(stride * trust, sco->def.trust_max_m));
	bool slewed = false;
	if (sco->def.slew_m > 0 && tick->near) {
		double left = tick->slew - tick->moved + 1e-6;
		slewed = left < reach;
		reach = fmin(reach, left);
		tick->roll = fmin(tick->roll, left);
	}
	bool push = tac_sco_pushing(sco);
	if (push)
		reach = trust;
	double shove = push ? set_pushes(sco, reach) : 0;
	push = push && tac_sco_pushing(sco);
	// Not as far as the piece may go: surfaces that slide close their gaps slowly, and what is missed the
	// proof finds.
	double margin = LOOK * trust + shove + 2 * hold;
	if (sco->known > 0 && sco->known < margin && sco->known >= LOOK_AGAIN * margin)
		margin = sco->known;
	if (!look(sco, margin))
		return DONE;
	tick->near = sco->distance < NEAR * hold;
	tac_sco_twist t = t0;
	if (sco->distance < margin && !tac_sco_solve(sco, t0, reach, &t)) {
		if (!push || sco->report->qps >= sco->def.qps)
			return DONE;
		wait_for_tool(sco);
		return GO_ON;
	}
	if (tick->rolls)
		reach = fmax(reach, tick->roll);
	double s = tac_sco_limit(sco, t, reach);
	if (s < 1) {
		t = tac_sco_twist_scale(t, s);
		for (int32_t i = 0; i < sco->def.object_count; i++)
			sco->things[i].push = tac_sco_twist_scale(sco->things[i].push, s);
	}
	double way = tac_sco_reach(sco, t);
	bool limited = s < 1 || (way > AT_LIMIT * reach && reach < 1.05 * all) ||
		       tac_dvec3_length(t.w) > AT_LIMIT * sco->def.turn_max_rad;
	if (limited)
		tac_sco_widen_trust(sco);
	if (limited && slewed)
		sco->report->flags |= TAC_SCO_SLEWED;
	if (way < PIECE_MIN && !push && sco->distance < margin)
		return DONE;                        // it stands, and what it stands on stays known
	if (!push && sco->distance >= way + hold) { // nothing can be reached
		move(sco, t, 1);
		sco->known = -1;
		sco->distance -= way;
		tick->way += way;
		tick->moved += tick->near ? way : 0;
		return limited ? GO_ON : DONE;
	}
	// After a first piece the rest can wait for the next step, where it costs nothing extra.
	bool settled = way < (tick->way > 0 ? SETTLED * sco->def.stop_length_m : PIECE_MIN);
	if (settled && !limited && !push)
		return DONE;
	*out = (piece){t, way, trust, push, limited, limited && sco->trust_cap < sco->trust};
	return PROVE;
}

// Certificate and commit.
static verdict prove_and_commit(tac_sco *sco, const piece *p)
{
	tac_sco_tick *tick = &sco->tick;
	double way = p->way;
	tac_sco_proof proof;
	int64_t before = sco->report->pairs;
	if (!tac_sco_certify(sco, p->t, &proof)) {
		// A proof of less may be had in time.
		sco->trust_cap = fmin(sco->trust_cap, CAP_AGAIN * way);
		sco->stride = 1;
		return DONE;
	}
	double cost = (double)(sco->report->pairs - before) / (double)sco->def.pairs;
	if (tick->rolls && proof.fraction < 1)
		return roll_less(sco, ROLL_AGAIN * proof.fraction * way);
	if (proof.fraction < 0.25 && tick->rounds < ROUNDS && tac_sco_inject(sco, &proof, p->t)) {
		tick->rounds++;
		adapt_stride(sco, false, cost, p->too_short);
		sco->report->injected++;
		sco->report->pieces--; // the same piece, better informed
		return GO_ON;
	}
	tick->rounds = 0;
	double got =
		commit(sco, p->t, proof.fraction, sco->distance, LOOK * p->trust + 2 * sco->def.hold_gap_m);
	if (tick->rolls && got <= 0)
		return roll_less(sco, 0);
	tick->roll = sco->def.trust_max_m;
	if (got < 0)
		return DONE;
	sco->injected_count = 0;
	adapt_stride(sco, proof.fraction == 1 && got == 1, cost, p->too_short);
	if (got == 0) {
		if (p->push)
			wait_for_tool(sco);
		blocked(sco);
		tac_sco_inject_blocker(sco, &proof);
		return GO_ON;
	}
	tick->bias = 0;
	if (got < 1)
		sco->trust = fmax(got * way, sco->def.trust_min_m);
	tick->moved += got * way;
	tick->way += got * way;
	bool arrived = !p->limited && got >= 1 && way < sco->def.stop_length_m && !p->push;
	return arrived ? DONE : GO_ON;
}

static verdict work(tac_sco *sco, tac_sco_twist t0)
{
	piece p;
	verdict v = plan(sco, t0, &p);
	return v == PROVE ? prove_and_commit(sco, &p) : v;
}

void tac_sco_move_continuous(tac_sco *sco)
{
	tac_sco_tick *tick = &sco->tick;
	tick->near = sco->near;
	tick->roll = sco->def.trust_max_m;
	tick->pairs = sco->def.pairs;
	if (sco->stuck_steps >= STUCK && tick->pairs < STUCK_PAIRS_MOST) {
		tick->pairs *= STUCK_PAIRS;
		if (tick->pairs > STUCK_PAIRS_MOST)
			tick->pairs = STUCK_PAIRS_MOST;
	}
	advance_objects(sco);
	// Where the last step ended for want of pairs before it could leave, this one goes on.
	bool go_on = sco->known > 0 && !tac_sco_pushing(sco);
	sco->injected_count = go_on ? sco->kept_injected : 0;
	tick->bias = go_on ? sco->kept_bias : 0;
	verdict v = GO_ON;
	int64_t begun = 0; // pairs, when the last piece did
	while (v == GO_ON && sco->report->pieces < sco->def.pieces) {
		int64_t cost = sco->report->pairs - begun;
		begun = sco->report->pairs;
		if (tick->way > 0 && (double)(tick->pairs - begun) < ENOUGH * (double)cost) {
			sco->report->flags |= TAC_SCO_BUDGET_SPENT;
			break;
		}
		tac_sco_twist t0 = tac_sco_twist_between(sco, sco->pose, tick->device);
		double way = tac_sco_reach(sco, t0);
		if (way < 1e-12 && !tac_sco_pushing(sco))
			break;
		sco->report->pieces++;
		tick->rolls = false;
		bool far = way > sco->def.trust_max_m || tac_dvec3_length(t0.w) > sco->def.turn_max_rad;
		if (far && !tick->near && !tac_sco_pushing(sco)) {
			if (fly(sco, t0)) {
				tick->near = sco->distance < 2 * sco->def.hold_gap_m;
				continue;
			}
			tick->near = true;
		}
		if (sco->def.slew_m > 0 && tick->moved >= AT_LIMIT * tick->slew && tick->near &&
		    !tac_sco_pushing(sco)) {
			sco->report->flags |= TAC_SCO_SLEWED | TAC_SCO_LIMITED;
			break;
		}
		v = work(sco, t0);
	}
	wait_for_tool(sco);
	if (v == GO_ON && sco->report->pieces >= sco->def.pieces)
		sco->report->flags |= TAC_SCO_LIMITED;
	sco->near = tick->near;
	bool stuck = tick->way == 0 && sco->report->flags & TAC_SCO_BUDGET_SPENT;
	sco->kept_injected = stuck ? sco->injected_count : 0;
	sco->kept_bias = stuck ? tick->bias : 0;
	sco->stuck_steps = stuck ? sco->stuck_steps + 1 : 0;
}
