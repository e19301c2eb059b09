#include "haptic/force/law.h"

#include "base/cholesky.h"

#include <math.h>

// Loaded contacts whose gaps are taken out: the QP's rows are at most six.
#define GAP_CONTACTS 6
// Weight added to the diagonal of their Gram matrix, so that contacts with nearly the same row share a gap.
#define GAP_RIDGE 0.02
// The largest correction of a load, in gaps. Two walls of a groove need 1 / (1 - cos angle).
#define GAP_MOST 4

// Time constant with which a goal follows the reaction to a list that may be incomplete.
#define STARVED_S 0.005
// A reaction that differs from the last goal by no more than this share is that of the same contacts.
#define SAME 0.1

// The reaction to contacts of an SCO at its slew limit is one of a place where it will not rest, if it is so
// many times as long as the offset that is felt.
#define HOP 2

// A longer turn would wrap when it becomes a rotation.
#define TURN_MOST_RAD 3

static const tac_law_offset no_offset = {{0, 0, 0}, {0, 0, 0}};

static tac_law_offset offset_between(tac_dpose from, tac_dpose to, bool fixed_rotation)
{
	return (tac_law_offset){tac_dvec3_sub(to.position, from.position),
				fixed_rotation ? tac_dvec3_zero()
					       : tac_dquat_log(tac_dquat_mul(
							 to.rotation, tac_dquat_conjugate(from.rotation)))};
}

static double dot(tac_law_offset a, tac_law_offset b, double arm_m)
{
	return tac_dvec3_dot(a.move_m, b.move_m) + arm_m * arm_m * tac_dvec3_dot(a.turn_rad, b.turn_rad);
}

static tac_law_offset scale(tac_law_offset a, double s)
{
	return (tac_law_offset){tac_dvec3_scale(a.move_m, s), tac_dvec3_scale(a.turn_rad, s)};
}

// How far a point at the arm's end moves at most.
static double travel(tac_law_offset a, double arm_m)
{
	return tac_dvec3_length(a.move_m) + arm_m * tac_dvec3_length(a.turn_rad);
}

void tac_law_move(tac_law *law, tac_dpose T_world_device, bool fixed_rotation)
{
	law->moved = law->started ? offset_between(law->T_world_device, T_world_device, fixed_rotation)
				  : no_offset;
	law->T_world_device = law->T_world_aim = T_world_device;
	law->started = true;
}

// ---- gaps ----

void tac_law_remove_gaps(tac_sco_report *report, int32_t partner, double arm_m)
{
	tac_sco_contact *loaded[GAP_CONTACTS];
	tac_law_offset rows[GAP_CONTACTS];
	double gram[GAP_CONTACTS][GAP_CONTACTS], gaps[GAP_CONTACTS], shares[GAP_CONTACTS];
	int n = 0;
	for (int32_t i = 0; i < report->contact_count && n < GAP_CONTACTS; i++) {
		tac_sco_contact *c = &report->contacts[i];
		if (!(c->load_m > 0))
			break; // the rest bears none: they are sorted
		const tac_dvec3 arm = tac_dvec3_sub(c->point_m, report->T_world_sco.position);
		// In units of the metric, in which a turn counts as the travel of the arm's end.
		rows[n] = (tac_law_offset){
			c->normal,
			arm_m > 0 ? tac_dvec3_scale(tac_dvec3_cross(arm, c->normal), 1 / (arm_m * arm_m))
				  : tac_dvec3_zero()};
		gaps[n] = shares[n] = fmax(c->rest_gap_m, 0) * (c->object == partner ? 0.5 : 1);
		loaded[n++] = c;
	}
	for (int i = 0; i < n; i++) {
		for (int k = 0; k <= i; k++)
			gram[i][k] = dot(rows[i], rows[k], arm_m);
		// The ridge; for a single contact the share stays exact.
		gram[i][i] *= 1 + GAP_RIDGE;
		shares[i] *= 1 + GAP_RIDGE;
	}
	tac_cholesky_solve(&gram[0][0], GAP_CONTACTS, shares, n);
	for (int i = 0; i < n; i++) {
		const double share = fmin(fmax(shares[i], 0), GAP_MOST * gaps[i]);
		loaded[i]->load_m = fmax(loaded[i]->load_m - share, 0);
	}
}

// ---- the goal ----

// The loads along the normals, as an offset.
static tac_law_offset reaction(const tac_sco_report *r, double arm_m)
{
	tac_law_offset sum = no_offset;
	for (int32_t i = 0; i < r->contact_count; i++) {
		const tac_sco_contact *c = &r->contacts[i];
		const tac_dvec3 arm = tac_dvec3_sub(c->point_m, r->T_world_sco.position);
		sum.move_m = tac_dvec3_add_scaled(sum.move_m, c->load_m, c->normal);
		sum.turn_rad = tac_dvec3_add_scaled(sum.turn_rad, c->load_m, tac_dvec3_cross(arm, c->normal));
	}
	sum.turn_rad = arm_m > 0 ? tac_dvec3_scale(sum.turn_rad, 1 / (arm_m * arm_m)) : tac_dvec3_zero();
	const double turn = tac_dvec3_length(sum.turn_rad);
	if (turn > TURN_MOST_RAD)
		sum.turn_rad = tac_dvec3_scale(sum.turn_rad, TURN_MOST_RAD / turn);
	return sum;
}

static double length_of(tac_law_offset a, double arm_m)
{
	return sqrt(dot(a, a, arm_m));
}

// The length of the last goal as it goes on in front of a plane.
static double carried_length(const tac_law *law, double stiffness_N_per_m, double arm_m)
{
	const double last = length_of(law->goal, arm_m);
	if (!(last > 0))
		return 0;
	const tac_law_offset felt = {
		tac_dvec3_scale(law->wrench.force_N, 1 / stiffness_N_per_m),
		arm_m > 0 ? tac_dvec3_scale(law->wrench.torque_Nm, 1 / (stiffness_N_per_m * arm_m * arm_m))
			  : tac_dvec3_zero()};
	const double pressed = -dot(law->goal, law->moved, arm_m) / last;
	return fmax(fmin(last, length_of(felt, arm_m)) + pressed, 0);
}

// Nothing bears load: the last goal goes on, and not beyond the SCO.
static tac_law_offset carry_on(const tac_law *law, const tac_sco_report *report, double stiffness_N_per_m,
			       double arm_m)
{
	const tac_law_offset to_sco = offset_between(law->T_world_aim, report->T_world_sco, arm_m == 0);
	const double lag = length_of(to_sco, arm_m), last = length_of(law->goal, arm_m);
	if (!(lag > 0) || !(last > 0))
		return no_offset;
	const double length = carried_length(law, stiffness_N_per_m, arm_m);
	const bool no_answer = report->contact_count == 0 &&
			       (report->flags & (TAC_SCO_BUDGET_SPENT | TAC_SCO_BLOCKED | TAC_SCO_REFUSED |
						 TAC_SCO_FAULT | TAC_SCO_UNKNOWN));
	return no_answer ? scale(law->goal, fmin(length, lag) / last)
			 : scale(to_sco, fmin(length, lag) / lag);
}

// The reaction of a mover that has spent its work: its list may lack contacts, and those that it has change
// from tick to tick. The goal goes on and follows the reaction.
static tac_law_offset follow_reaction(const tac_law *law, tac_law_offset to, double stiffness_N_per_m,
				      double arm_m, double elapsed_s)
{
	const double last = length_of(law->goal, arm_m);
	const double length = carried_length(law, stiffness_N_per_m, arm_m);
	if (!(last > 0) || !(length > 0))
		return to;
	const tac_law_offset from = scale(law->goal, length / last);
	const tac_law_offset way = {tac_dvec3_sub(to.move_m, from.move_m),
				    tac_dvec3_sub(to.turn_rad, from.turn_rad)};
	if (length_of(way, arm_m) <= SAME * length)
		return to;
	const double keep = exp(-elapsed_s / STARVED_S);
	return (tac_law_offset){tac_dvec3_lerp(to.move_m, from.move_m, keep),
				tac_dvec3_lerp(to.turn_rad, from.turn_rad, keep)};
}

tac_law_offset tac_law_goal(tac_law *law, const tac_sco_report *report, tac_coupling_law kind,
			    double stiffness_N_per_m, double arm_m, double elapsed_s)
{
	bool loaded = false;
	for (int32_t i = 0; i < report->contact_count; i++)
		loaded |= report->contacts[i].load_m > 0;
	const tac_law_offset loads = reaction(report, arm_m);
	// On its way round an object the SCO touches now here, now there, far from where it will rest.
	const bool hops = report->flags & TAC_SCO_SLEWED &&
			  length_of(loads, arm_m) > HOP * carried_length(law, stiffness_N_per_m, arm_m);
	const bool starved = hops || (report->flags & (TAC_SCO_BUDGET_SPENT | TAC_SCO_BLOCKED)) != 0;
	if (kind == TAC_COUPLING_FULL)
		law->goal = offset_between(law->T_world_aim, report->T_world_sco, arm_m == 0);
	else if (loaded && starved)
		law->goal = follow_reaction(law, loads, stiffness_N_per_m, arm_m, elapsed_s);
	else if (loaded)
		law->goal = loads;
	else
		law->goal = carry_on(law, report, stiffness_N_per_m, arm_m);
	return law->goal;
}

// ---- the wrench ----

// `to`, or as far from `from` towards it as the change `most` allows.
static tac_dvec3 approach(tac_dvec3 from, tac_dvec3 to, double most)
{
	const tac_dvec3 way = tac_dvec3_sub(to, from);
	const double length = tac_dvec3_length(way);
	return length > most ? tac_dvec3_add_scaled(from, most / length, way) : to;
}

// `wanted`, or as far towards it as the spring's end may move in this tick.
static tac_wrench within_bound(const tac_law *law, tac_wrench wanted, const tac_law_rates *rates,
			       double arm_m, double elapsed_s)
{
	const double K = law->spring_N_per_m, arm2 = arm_m * arm_m;
	if (!(elapsed_s > 0))
		return law->before;
	// The wrench of a spring whose end stays where it is, and from there to the wanted one.
	const tac_wrench still = {
		tac_dvec3_add_scaled(law->before.force_N, -K, law->moved.move_m),
		tac_dvec3_add_scaled(law->before.torque_Nm, -K * arm2, law->moved.turn_rad)};
	const tac_dvec3 force = tac_dvec3_sub(wanted.force_N, still.force_N);
	const tac_dvec3 torque = tac_dvec3_sub(wanted.torque_Nm, still.torque_Nm);
	const double needed =
		tac_dvec3_length(force) / K + (arm_m > 0 ? tac_dvec3_length(torque) / (K * arm_m) : 0);
	const bool follows = needed > law->most_m;
	const double s = law->most_m / needed;
	const tac_wrench next = follows ? (tac_wrench){tac_dvec3_add_scaled(still.force_N, s, force),
						       tac_dvec3_add_scaled(still.torque_Nm, s, torque)}
					: wanted;
	// Each kind of motor at its own rate, as in the limit: a torque that falls slowly must not hold up
	// the force.
	return (tac_wrench){
		approach(law->before.force_N, next.force_N, rates->force_N_per_s * elapsed_s),
		approach(law->before.torque_Nm, next.torque_Nm, rates->torque_Nm_per_s * elapsed_s)};
}

static bool differ(tac_wrench a, tac_wrench b)
{
	return tac_dvec3_length_squared(tac_dvec3_sub(a.force_N, b.force_N)) > 0 ||
	       tac_dvec3_length_squared(tac_dvec3_sub(a.torque_Nm, b.torque_Nm)) > 0;
}

tac_wrench tac_law_follow(tac_law *law, tac_wrench wanted, const tac_law_rates *rates,
			  double stiffness_N_per_m, double texture_N_per_m, double arm_m, double elapsed_s)
{
	// A force that arose on a stiff material leaves at the rate of that material.
	const double K = fmax(stiffness_N_per_m, law->stiffness_N_per_m);
	const double moved = travel(law->moved, arm_m);
	law->spring_N_per_m = K;
	law->most_m = rates->slew_m_per_s * elapsed_s + 2 * moved + texture_N_per_m / K * moved;
	law->bound_N = K * (law->most_m + moved);
	law->before = law->wrench;
	law->wrench = within_bound(law, wanted, rates, arm_m, elapsed_s);
	law->follows = differ(law->wrench, wanted);
	law->stiffness_N_per_m = law->follows ? K : stiffness_N_per_m;
	return law->wrench;
}

void tac_law_replace(tac_law *law, tac_wrench wrench, const tac_law_rates *rates, double arm_m,
		     double elapsed_s)
{
	law->follows = true;
	law->stiffness_N_per_m = law->spring_N_per_m;
	law->wrench = within_bound(law, wrench, rates, arm_m, elapsed_s);
}

double tac_law_energy_J(const tac_law *law, double arm_m)
{
	const double K = law->stiffness_N_per_m;
	if (!(K > 0))
		return 0;
	return 0.5 * tac_dvec3_length_squared(law->wrench.force_N) / K +
	       (arm_m > 0 ? 0.5 * tac_dvec3_length_squared(law->wrench.torque_Nm) / (K * arm_m * arm_m) : 0);
}
