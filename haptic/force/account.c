#include "haptic/force/account.h"

#include <math.h>

// Share of what the springs hold that may be put in first and given back later. A shaded direction that
// errs now this way, now that way costs nothing within it.
#define CREDIT 0.05
// A larger share of what the springs hold is a large deficit. Less than that is taken back while they give
// energy, since a drag along the surface would be felt.
#define LARGE 0.1
// A deficit that was large is one until it is taken back, or until the springs hold so much more.
#define OUTGROWN 1.5
// Share of the energy that the springs give which is withheld, in units of the deficit's share of what they
// hold. With 1 the last of the deficit would be taken back with the last of what they hold.
#define WITHHELD 2
// Sine of the angle to the surface below which a motion is one along it: the filtered velocity lags behind.
#define ALONG 0.02
// A large deficit is taken back within this time, if the drag suffices.
#define REPAY_S 0.05
// The drag, at most: this share of the force where the springs do not give, and this damping, in units of the
// stiffness times a second. The hand notices friction from about a tenth of the load on.
#define DRAG_SHARE   0.1
#define DRAG_DAMPING 0.02
// Power that springs may give without having got it, while the drag takes it back. It bounds how fast the
// force rises on a surface that the device has reached unnoticed, as behind a mover that has spent its work.
#define POWER_W 0.05
// They give it to a device that rests, up to the speed RESTS_M_PER_S, or after the contact has lasted: a
// device that passes by gets nothing.
#define RESTS_M_PER_S 0.02
#define LASTS_S       0.01
// No hand moves faster, m/s: a device that jumps has not been moved by its hand.
#define JUMP_M_PER_S 10
// Share of the previous value in the filtered velocity, per ms, against the steps of the position sensor. It
// is half of that where the device moves at VELOCITY_FAST, and less where it is faster.
#define VELOCITY_POLE         0.8
#define VELOCITY_FAST_M_PER_S 0.1

// A hand that has got more than this in earlier contacts without paying is given nothing more until it has
// paid. It is the work of lifting 50 g by 10 mm.
#define DEBT_MOST_J 0.005
// A gain of the gate below this counts as this.
#define GAIN_LEAST 1e-3

// How much stiffer the spring may be by which the hand that retreats gets back what it has put in. STEEP fits
// into the bound on the force's change at every speed.
#define STEEP    3
#define STEEPEST 30

typedef struct twist {
	tac_dvec3 move_m, turn_rad;
} twist;

// How the device has moved relative to the object since the last tick, world frame. An object that has just
// been touched counts as one at rest.
static twist motion_of(const tac_account *a, const tac_account_contact *c, tac_dpose T_object_device)
{
	const bool same = c->object < 0 || c->object == a->object;
	const tac_dpose from = same ? a->T_object_device : a->T_world_device;
	const tac_dpose to = same ? T_object_device : c->T_world_device;
	const tac_dquat frame = same ? c->T_world_object.rotation : tac_dquat_identity();
	const tac_dquat turn = tac_dquat_mul(to.rotation, tac_dquat_conjugate(from.rotation));
	return (twist){tac_dquat_rotate(frame, tac_dvec3_sub(to.position, from.position)),
		       c->arm_m > 0 ? tac_dquat_rotate(frame, tac_dquat_log(turn)) : tac_dvec3_zero()};
}

static double work(const tac_wrench *w, const twist *t)
{
	return tac_dvec3_dot(w->force_N, t->move_m) + tac_dvec3_dot(w->torque_Nm, t->turn_rad);
}

// Scalar product in which half the square of a wrench over the stiffness is its spring's energy.
static double dot(tac_wrench a, tac_wrench b, double arm_m)
{
	return tac_dvec3_dot(a.force_N, b.force_N) +
	       (arm_m > 0 ? tac_dvec3_dot(a.torque_Nm, b.torque_Nm) / (arm_m * arm_m) : 0);
}

static tac_wrench add_scaled(tac_wrench a, double s, tac_wrench b)
{
	return (tac_wrench){tac_dvec3_add_scaled(a.force_N, s, b.force_N),
			    tac_dvec3_add_scaled(a.torque_Nm, s, b.torque_Nm)};
}

// The drag that takes the deficit back from springs that hold `held_J`.
static tac_wrench drag(const tac_account *a, const tac_account_contact *c, double held_J)
{
	const tac_dvec3 v = a->velocity_m_per_s, w = a->velocity_rad_per_s;
	const double arm2 = c->arm_m * c->arm_m;
	const double speed = sqrt(tac_dvec3_length_squared(v) + arm2 * tac_dvec3_length_squared(w));
	const double deficit = fmax(-a->balance_J, 0);
	if (!(deficit > 0) || !(speed > 0) || !(held_J > 0))
		return tac_wrench_zero();
	const double given =
		(tac_dvec3_dot(c->spring.force_N, v) + tac_dvec3_dot(c->spring.torque_Nm, w)) / speed;
	const double beside = ALONG * tac_dvec3_length(c->spring.force_N);
	const double withheld = fmax(given - beside, 0) * fmin(WITHHELD * deficit / held_J, 1);
	const double everywhere = a->large_J > 0 ? fmin(deficit / (REPAY_S * speed),
							DRAG_SHARE * tac_dvec3_length(c->spring.force_N))
						 : 0;
	const double force =
		fmin(fmax(withheld, everywhere), DRAG_DAMPING * c->coupling->stiffness_N_per_m * speed);
	return (tac_wrench){tac_dvec3_scale(v, -force / speed), tac_dvec3_scale(w, -force * arm2 / speed)};
}

// What springs may gain in this tick without having got it, on a device that rests to the degree `rests`.
static double gift_J(const tac_account *a, double rests, double elapsed_s)
{
	return a->gain * a->debt_J < DEBT_MOST_J ? rests * POWER_W * elapsed_s / a->gain : 0;
}

// The largest share of the spring's wrench, up to 1, with which the springs gain no more energy in this tick
// than the hand puts in, the balance and POWER_W have: the positive root of
// share^2 held + share work / 2 = most. *held_J becomes what they hold then. The energy that they hold beyond
// the device's maximum is left out first.
static double share_of(const tac_account *a, const tac_account_contact *c, const twist *moved, double *held_J,
		       double elapsed_s)
{
	const double half = 0.5 * work(&c->spring, moved);
	const double speed =
		fmax(tac_dvec3_length(a->velocity_m_per_s), tac_dvec3_length(moved->move_m) / elapsed_s);
	const double settled = fmin(fmax(1 - speed / RESTS_M_PER_S, a->touched_s / LASTS_S), 1);
	const double most = a->asked_J - 0.5 * work(&a->wrench, moved) + fmax(a->balance_J, 0) +
			    gift_J(a, settled, elapsed_s);
	if (!(*held_J > 0) || *held_J + half <= most)
		return 1;
	const double full_J = *held_J - c->beyond_J;
	if (full_J + half <= most) {
		*held_J = most - half;
		return 1;
	}
	const double root = 0.25 * half * half + full_J * fmax(most, 0);
	const double share = fmin(fmax((sqrt(root) - 0.5 * half) / full_J, 0), 1);
	*held_J = full_J * share * share;
	return share;
}

// Whether the deficit is large beside what the springs hold.
static void judge_deficit(tac_account *a, double held_J)
{
	if (-a->balance_J > LARGE * held_J)
		a->large_J = held_J;
	else if (a->balance_J >= 0 || held_J > OUTGROWN * a->large_J)
		a->large_J = 0;
}

// The motion of the device with the object.
static twist carried_by(const tac_account *a, const tac_account_contact *c, const twist *moved)
{
	const tac_dquat turn =
		tac_dquat_mul(c->T_world_device.rotation, tac_dquat_conjugate(a->T_world_device.rotation));
	return (twist){tac_dvec3_sub(tac_dvec3_sub(c->T_world_device.position, a->T_world_device.position),
				     moved->move_m),
		       c->arm_m > 0 ? tac_dvec3_sub(tac_dquat_log(turn), moved->turn_rad) : tac_dvec3_zero()};
}

// What the hand has put in after a tick that began with the wrench `before` and ends with `next`. An object
// that moves puts in energy, too, or takes it away, but no more than there is.
static double put_in(const tac_account *a, const tac_wrench *before, const tac_wrench *next)
{
	const twist object = {a->carried_m, a->carried_rad};
	const twist device = {tac_dvec3_add(a->moved_m, a->carried_m),
			      tac_dvec3_add(a->turned_rad, a->carried_rad)};
	const double put_J = a->begin_J - 0.5 * (work(before, &device) + work(next, &device));
	const double pushed_J = 0.5 * (work(before, &object) + work(next, &object));
	return put_J + fmax(pushed_J, -fmax(put_J, 0));
}

// Enters the motion of the tick; returns what is added to the spring's wrench.
static tac_wrench enter(tac_account *a, const tac_account_contact *c, const twist *moved, double *held_J,
			double elapsed_s)
{
	const double K = c->coupling->stiffness_N_per_m, arm2 = c->arm_m * c->arm_m;
	const bool touches = c->object >= 0;
	const double share = share_of(a, c, moved, held_J, elapsed_s);
	a->begin_J = a->balance_J + a->held_J;
	// Where a contact begins or ends between two ticks, the trapezoidal rule errs by this.
	if (touches != a->touching)
		a->begin_J += 0.125 * K *
			      (tac_dvec3_length_squared(moved->move_m) +
			       arm2 * tac_dvec3_length_squared(moved->turn_rad));
	const tac_wrench spring = add_scaled(tac_wrench_zero(), share, c->spring);
	a->balance_J = fmin(put_in(a, &a->wrench, &spring) - *held_J, CREDIT * *held_J);
	const double speed = tac_dvec3_length(moved->move_m) / elapsed_s;
	const double keep = pow(VELOCITY_POLE, elapsed_s * 1e3) / (1 + speed / VELOCITY_FAST_M_PER_S);
	a->velocity_m_per_s =
		tac_dvec3_lerp(tac_dvec3_scale(moved->move_m, 1 / elapsed_s), a->velocity_m_per_s, keep);
	a->velocity_rad_per_s =
		tac_dvec3_lerp(tac_dvec3_scale(moved->turn_rad, 1 / elapsed_s), a->velocity_rad_per_s, keep);
	judge_deficit(a, *held_J);
	tac_wrench added = drag(a, c, *held_J);
	a->balance_J -= 0.5 * work(&added, moved);
	added.force_N = tac_dvec3_add_scaled(added.force_N, share - 1, c->spring.force_N);
	added.torque_Nm = tac_dvec3_add_scaled(added.torque_Nm, share - 1, c->spring.torque_Nm);
	return added;
}

// Goes over to the gate's full gain of this tick. What the springs hold is in units of it, what the hand has
// put in was sent with the old one.
static void take_gain(tac_account *a, const tac_account_contact *c)
{
	const double old = a->gain;
	a->gain = fmax(c->gain, GAIN_LEAST);
	a->share = c->share;
	if (!a->seen || a->gain == old)
		return;
	const double put_J = a->balance_J + a->held_J, factor = old / a->gain;
	a->balance_J = fmin(factor * put_J - a->held_J, CREDIT * a->held_J);
	a->spare_J += a->balance_J + a->held_J - put_J;
	a->debt_J *= factor;
	a->wrench = add_scaled(tac_wrench_zero(), factor, a->wrench);
}

tac_wrench tac_account_step(tac_account *account, const tac_account_contact *contact, double elapsed_s)
{
	tac_account *a = account;
	const tac_account_contact *c = contact;
	const bool touches = c->object >= 0;
	const int32_t object = touches ? c->object : a->object;
	const tac_dpose T_object_device =
		tac_dpose_compose(tac_dpose_inverse(c->T_world_object), c->T_world_device);
	double held_J = touches ? c->held_J : 0;
	tac_wrench added = tac_wrench_zero();
	take_gain(a, c);
	a->moved_m = a->turned_rad = a->carried_m = a->carried_rad = tac_dvec3_zero();
	a->pushed_J = 0;
	a->begin_J = a->balance_J + held_J; // unless the tick is entered: see jumped
	if (a->seen && elapsed_s > 0) {
		const twist moved = motion_of(a, c, T_object_device);
		a->jumped |= tac_dvec3_length(moved.move_m) > JUMP_M_PER_S * elapsed_s;
		if (!a->jumped) {
			const twist carried = carried_by(a, c, &moved);
			a->pushed_J = 0.5 * (work(&a->wrench, &carried) + work(&c->spring, &carried));
			a->moved_m = moved.move_m;
			a->turned_rad = moved.turn_rad;
			a->carried_m = carried.move_m;
			a->carried_rad = carried.turn_rad;
			added = enter(a, c, &moved, &held_J, elapsed_s);
		}
	}
	if (touches) // what the springs hold at the first contact after a jump is given
		a->jumped = false;
	a->held_J = a->asked_J = held_J;
	a->touched_s = touches ? a->touched_s + elapsed_s : 0;
	a->object = object;
	a->touching = touches;
	a->seen = true;
	a->before = a->wrench;
	a->wrench = (tac_wrench){tac_dvec3_add(c->spring.force_N, added.force_N),
				 tac_dvec3_add(c->spring.torque_Nm, added.torque_Nm)};
	a->T_object_device = T_object_device;
	a->T_world_device = c->T_world_device;
	return added;
}

// ---- what is sent ----

// The wrenches of the force law, as those of springs of one stiffness.
typedef struct wish {
	tac_wrench before, next; // in the last tick and in this one
	double stiffness_N_per_m, arm_m;
} wish;

// What springs of the stiffness K hold that exert `w`.
static double stored_J(tac_wrench w, double arm_m, double K)
{
	return 0.5 * dot(w, w, arm_m) / K;
}

// The wrench of a spring of the stiffness K whose end has stayed. It does not pull: where the hand has moved
// beyond the end, the contact is over.
static tac_wrench still(const wish *w, const twist *moved, double K)
{
	const tac_wrench moves = {moved->move_m, tac_dvec3_scale(moved->turn_rad, w->arm_m * w->arm_m)};
	const tac_wrench at = add_scaled(w->before, -K, moves);
	const double along = dot(at, w->before, w->arm_m);
	return along < 0 ? add_scaled(at, -along / dot(w->before, w->before, w->arm_m), w->before) : at;
}

// What the hand has left when the wrench of this tick is `from` and s times `way`, less what springs of
// stiffness K hold that exert it: c0 - c1 s - c2 s^2.
typedef struct left {
	double c0, c1, c2;
} left;

static left left_on_way(const tac_account *a, double put_J, const tac_wrench *from, const tac_wrench *way,
			double arm_m, double K)
{
	const twist moved = {a->moved_m, a->turned_rad};
	return (left){put_J - 0.5 * (work(&a->before, &moved) + a->share * work(from, &moved)) -
			      stored_J(*from, arm_m, K),
		      0.5 * a->share * work(way, &moved) + dot(*from, *way, arm_m) / K,
		      stored_J(*way, arm_m, K)};
}

// The largest s up to 1 with which anything is left.
static double farthest(left l)
{
	if (l.c0 - l.c1 - l.c2 >= 0 || !(l.c2 > 0))
		return 1;
	const double root = sqrt(fmax(l.c1 * l.c1 + 4 * l.c2 * fmax(l.c0, 0), 0));
	return fmin(fmax((root - l.c1) / (2 * l.c2), 0), 1);
}

// The stiffness of a spring that gives as much as the device does while its motors go from the wrench `w` to
// zero at their slew, and the hand goes on at its velocity; HUGE_VAL where that gives nothing. A steeper
// spring would hold less than the hand is going to get.
static double motor_stiffness(const tac_account *a, const wish *w, const tac_law_rates *rates)
{
	const tac_dvec3 F = w->before.force_N, M = w->before.torque_Nm;
	const double fall_s = tac_dvec3_length(F) / rates->force_N_per_s,
		     torque_fall_s = tac_dvec3_length(M) / rates->torque_Nm_per_s;
	const double twice_J = fall_s * tac_dvec3_dot(F, a->velocity_m_per_s) +
			       torque_fall_s * tac_dvec3_dot(M, a->velocity_rad_per_s);
	return twice_J > 0 ? dot(w->before, w->before, w->arm_m) / twice_J : HUGE_VAL;
}

// Lowers w->next so that the hand cannot get back more than `put_J`, which it has put in. Between two ticks a
// spring whose end stays gives exactly what it holds less; one of STEEP times the stiffness is within the
// bound on the force's change. From its wrench, w->next is approached as far as the energy allows. Energy
// that is owed already, because the force could not fall fast enough or was a gift, allows no more than that;
// but as long as the gate's gain is not full, the wrench falls to what the hand has put in. A hand that
// retreats so fast that the motors cannot follow gets a wrench that begins to fall earlier.
// Returns whether w->next is lower.
static bool lower(const tac_account *a, wish *w, double put_J, const tac_law_rates *rates, double elapsed_s)
{
	const twist moved = {a->moved_m, a->turned_rad};
	const double arm = w->arm_m, held_J = stored_J(w->before, arm, w->stiffness_N_per_m);
	const double travel = tac_dvec3_length(moved.move_m) + arm * tac_dvec3_length(moved.turn_rad);
	double steep = STEEP, given_J = 0;
	if (work(&w->before, &moved) > 0) { // the hand retreats
		// The bound on the force's change allows the slew beyond STEEP.
		const double most = fmin(STEEP + rates->slew_m_per_s * elapsed_s / travel, STEEPEST);
		steep = put_J > 0 ? fmin(fmax(held_J / put_J, STEEP), most) : most;
		steep = fmin(steep, motor_stiffness(a, w, rates) / w->stiffness_N_per_m);
	} else {
		given_J = gift_J(a, fmax(1 - travel / (RESTS_M_PER_S * elapsed_s), 0), elapsed_s) / STEEP;
	}
	const double K = steep * w->stiffness_N_per_m;
	const double owed_J = a->share < 1 ? 0 : fmax(held_J / steep - put_J, 0);
	const tac_wrench from = still(w, &moved, a->share * K), way = add_scaled(w->next, -1, from);
	const left l = left_on_way(a, put_J + owed_J + given_J, &from, &way, arm, K);
	const double s = farthest(l);
	if (!(s < 1))
		return false;
	w->next = add_scaled(from, s, way);
	if (l.c0 < 0 && a->share < 1) {
		const tac_wrench zero = tac_wrench_zero();
		const left all = left_on_way(a, put_J + given_J, &zero, &from, arm, K);
		w->next = add_scaled(zero, farthest(all), from);
	}
	return true;
}

void tac_account_settle(tac_account *account, tac_account *other, tac_law *law, const tac_law_rates *rates,
			double arm_m, double elapsed_s)
{
	tac_account *a = account;
	wish w = {law->before, law->wrench, law->spring_N_per_m, arm_m};
	// The other hand's energy was sent with a gain of its own.
	const double units = other ? other->gain / a->gain : 1;
	if (lower(a, &w, a->begin_J + (other ? units * other->spare_J : 0), rates, elapsed_s))
		tac_law_replace(law, w.next, rates, arm_m, elapsed_s);
	const double put_J = put_in(a, &a->before, &law->wrench);
	// A wrench that has not risen yet to what was asked for will: the springs count as holding that.
	a->held_J = fmax(a->asked_J, stored_J(law->wrench, arm_m, w.stiffness_N_per_m));
	a->balance_J = fmin(put_J - a->held_J, CREDIT * a->held_J);
	a->spare_J = a->balance_J + a->held_J - stored_J(law->wrench, arm_m, STEEP * w.stiffness_N_per_m);
	a->wrench = law->wrench;
	if (other) { // what no spring holds has gone to the other hand, as far as that lacks it
		const double passed_J =
			fmin((put_J - a->held_J - a->balance_J) / units, fmax(-other->balance_J, 0));
		other->balance_J += passed_J;
		other->spare_J += passed_J;
	}
}

void tac_account_sent(tac_account *account, tac_wrench sent)
{
	tac_account *a = account;
	const twist moved = {a->moved_m, a->turned_rad};
	const tac_wrench next = add_scaled(tac_wrench_zero(), 1 / a->gain, sent),
			 more = add_scaled(next, -1, a->wrench);
	const double got_J = 0.5 * work(&more, &moved);
	a->balance_J = fmin(a->balance_J - got_J, CREDIT * a->held_J);
	a->spare_J -= got_J;
	a->wrench = next;
	const bool free = dot(next, next, 1) == 0 && a->held_J == 0;
	const double debt_J = fmax(-a->balance_J, 0);
	a->debt_J = free ? debt_J : fmin(a->debt_J, debt_J);
}
