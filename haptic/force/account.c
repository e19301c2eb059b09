#include "haptic/force/account.h"

#include <math.h>

// Share of what the springs hold that may be put in first and given back later. A shaded direction that
// errs now this way, now that way costs nothing within it.
#define CREDIT 0.05
// A deficit is taken back within this time, if the drag suffices.
#define REPAY_S 0.05
// The drag, at most: this share of the force, and this damping, in units of the stiffness times a second.
// The hand notices friction from about a tenth of the load on.
#define DRAG_SHARE   0.1
#define DRAG_DAMPING 0.02
// Power that springs may give without having got it, while the drag takes it back. It bounds how fast the
// force rises on a surface that the device has reached unnoticed, as behind a mover that has spent its work.
#define POWER_W 0.05
// No hand moves faster, m/s: a device that jumps has not been moved by its hand.
#define JUMP_M_PER_S 10
// Share of the previous value in the filtered velocity, per ms.
#define VELOCITY_POLE 0.8

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

static double held(const tac_wrench *w, const tac_coupling *coupling, double arm_m)
{
	return 0.5 * tac_dvec3_length_squared(w->force_N) / coupling->stiffness_N_per_m +
	       (arm_m > 0 && coupling->turn_stiffness_Nm_per_rad > 0
			? 0.5 * tac_dvec3_length_squared(w->torque_Nm) / coupling->turn_stiffness_Nm_per_rad
			: 0);
}

static double work(const tac_wrench *w, const twist *t)
{
	return tac_dvec3_dot(w->force_N, t->move_m) + tac_dvec3_dot(w->torque_Nm, t->turn_rad);
}

// The drag that takes the deficit back.
static tac_wrench drag(const tac_account *a, const tac_account_contact *c)
{
	const tac_dvec3 v = a->velocity_m_per_s, w = a->velocity_rad_per_s;
	const double arm2 = c->arm_m * c->arm_m;
	const double speed = sqrt(tac_dvec3_length_squared(v) + arm2 * tac_dvec3_length_squared(w));
	const double deficit = fmax(-a->balance_J, 0);
	if (!(deficit > 0) || !(speed > 0))
		return (tac_wrench){tac_dvec3_zero(), tac_dvec3_zero()};
	const double K = c->coupling->stiffness_N_per_m;
	const double most = fmin(DRAG_SHARE * tac_dvec3_length(c->spring.force_N), DRAG_DAMPING * K * speed);
	const double force = fmin(deficit / (REPAY_S * speed), most);
	return (tac_wrench){tac_dvec3_scale(v, -force / speed), tac_dvec3_scale(w, -force * arm2 / speed)};
}

// The largest share of the spring's wrench, up to 1, with which the springs gain no more energy in this tick
// than the hand puts in, the balance and POWER_W have: the positive root of
// share^2 held + share work / 2 = most.
static double share_of(const tac_account *a, const tac_account_contact *c, const twist *moved,
		       double before_J, double held_J, double elapsed_s)
{
	const double half = 0.5 * work(&c->spring, moved);
	const double most =
		before_J - 0.5 * work(&a->wrench, moved) + fmax(a->balance_J, 0) + POWER_W * elapsed_s;
	if (!(held_J > 0) || held_J + half <= most)
		return 1;
	const double root = 0.25 * half * half + held_J * fmax(most, 0);
	return fmin(fmax((sqrt(root) - 0.5 * half) / held_J, 0), 1);
}

// Enters the motion of the tick; returns what is added to the spring's wrench.
static tac_wrench enter(tac_account *a, const tac_account_contact *c, const twist *moved, double *held_J,
			double elapsed_s)
{
	const double K = c->coupling->stiffness_N_per_m, arm2 = c->arm_m * c->arm_m;
	const bool touches = c->object >= 0;
	// A stiffness that follows rate and delay is no energy of the contact's.
	const bool derated = c->material_N_per_m == a->material_N_per_m && a->stiffness_N_per_m > 0;
	const double before_J = a->held_J * (derated ? K / a->stiffness_N_per_m : 1);
	const double share = share_of(a, c, moved, before_J, *held_J, elapsed_s);
	*held_J *= share * share;
	a->balance_J -=
		0.5 * (work(&a->wrench, moved) + share * work(&c->spring, moved)) + *held_J - before_J;
	// Where a contact begins or ends between two ticks, the trapezoidal rule errs by this.
	if (touches != a->touching)
		a->balance_J += 0.125 * K *
				(tac_dvec3_length_squared(moved->move_m) +
				 arm2 * tac_dvec3_length_squared(moved->turn_rad));
	a->balance_J = fmin(a->balance_J, CREDIT * *held_J);
	const double keep = pow(VELOCITY_POLE, elapsed_s * 1e3);
	a->velocity_m_per_s =
		tac_dvec3_lerp(tac_dvec3_scale(moved->move_m, 1 / elapsed_s), a->velocity_m_per_s, keep);
	a->velocity_rad_per_s =
		tac_dvec3_lerp(tac_dvec3_scale(moved->turn_rad, 1 / elapsed_s), a->velocity_rad_per_s, keep);
	tac_wrench added = drag(a, c);
	a->balance_J -= 0.5 * work(&added, moved);
	added.force_N = tac_dvec3_add_scaled(added.force_N, share - 1, c->spring.force_N);
	added.torque_Nm = tac_dvec3_add_scaled(added.torque_Nm, share - 1, c->spring.torque_Nm);
	return added;
}

tac_wrench tac_account_step(tac_account *account, const tac_account_contact *contact, double elapsed_s)
{
	tac_account *a = account;
	const tac_account_contact *c = contact;
	const bool touches = c->object >= 0;
	const int32_t object = touches ? c->object : a->object;
	const tac_dpose T_object_device =
		tac_dpose_compose(tac_dpose_inverse(c->T_world_object), c->T_world_device);
	double held_J = touches ? held(&c->spring, c->coupling, c->arm_m) : 0;
	tac_wrench added = {tac_dvec3_zero(), tac_dvec3_zero()};
	if (a->seen && elapsed_s > 0) {
		const twist moved = motion_of(a, c, T_object_device);
		a->jumped |= tac_dvec3_length(moved.move_m) > JUMP_M_PER_S * elapsed_s;
		if (!a->jumped)
			added = enter(a, c, &moved, &held_J, elapsed_s);
	}
	if (touches) // what the springs hold at the first contact after a jump is given
		a->jumped = false;
	a->held_J = held_J;
	a->object = object;
	a->touching = touches;
	a->seen = true;
	a->material_N_per_m = c->material_N_per_m;
	a->stiffness_N_per_m = c->coupling->stiffness_N_per_m;
	a->wrench = (tac_wrench){tac_dvec3_add(c->spring.force_N, added.force_N),
				 tac_dvec3_add(c->spring.torque_Nm, added.torque_Nm)};
	a->T_object_device = T_object_device;
	a->T_world_device = c->T_world_device;
	return added;
}
