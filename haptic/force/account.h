// Account: the energy that the hand has put into the springs of its contacts, less what it got back.
//
// The reaction of facets is the gradient of an energy. Shaded it is not quite: normals that are interpolated
// between vertices are continuous, and therefore not those of any surface with the same heights. Between
// materials of different stiffness it is not either, nor where the force law follows a goal that jumped, nor
// where the bristle of the friction is carried over a hop. Along some closed paths the hand would gain
// energy, a few mJ on a scanned mesh. The account sums the work of the contact force, friction included,
// along the motion of the device relative to the touched object, by the trapezoidal rule, in which a spring
// that is sampled gives back what it was given. When the hand has got more than it had put in, a drag against
// its motion takes the difference back: while the springs give energy, in proportion to what they give, so
// that nothing is left of a deficit when they are empty; and if the deficit is large, in every motion.
//
// A drag may not suffice. What the force law sends is therefore limited, too. A spring of stiffness K whose
// end stays gives between two ticks exactly what it holds less afterwards. One of three times the coupling's
// stiffness is within the bound on the force's change (haptic/force/law.h), so there is always a wrench
// within the bound whose spring holds no more than the hand has put in. From there the law goes towards the
// wanted wrench as far as that remains true. Hence closed paths pay nothing, whatever is wanted.
// Where the hand retreats faster than the device's motors can follow such a spring, a softer one takes its
// place: the one that gives as much as the motors do while they fall.
//
// The device gets the gate's gain times the law's wrench, cut to what it can exert and to the gate's slew.
// tac_account_sent enters what was really sent. While the gain is below the one that it rises to, the law's
// wrench is limited to what the full gain would need: a force that comes back has been paid for.
//
// The drag is far below what is felt as friction. It is zero where the force is a gradient, on planes, edges
// and facets, and when the device rests; nor does the limit act there. The port's passivity controller
// (haptic/force/passivity.h) does the same for the whole loop, hold and delay included, but needs the
// device's mass and acts on a deficit of the sampled port only.
#ifndef TAC_HAPTIC_FORCE_ACCOUNT_H
#define TAC_HAPTIC_FORCE_ACCOUNT_H

#include "base/wrench.h"
#include "haptic/force/coupling.h"
#include "haptic/force/law.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What is kept from tick to tick; zero at the start and after the device was moved without the tool.
typedef struct tac_account {
	double balance_J; // put in, less what is held and what was given back; below 0: a deficit
	double held_J;    // by the springs
	double asked_J;   // the same without what the force law has left to take off
	double begin_J;   // put in and not given back when the tick began
	double spare_J;   // put in beyond the least that the wrench which is sent needs; below 0: a debt
	double debt_J;    // what the hand had got without paying when it was last free
	double gain;      // unit of wrenches and energies: the full gain of the gate
	double share;     // of it that the gate has in this tick, at most
	double large_J;   // what they held when the deficit was last a large share of it; 0: it is none
	int32_t object;   // in contact; -1 or no contact yet: none
	double pushed_J;  // work that the object's own motion did on the device in this tick
	double touched_s; // since the contact began
	bool touching;
	bool seen;                 // the poses are of the last tick
	bool jumped;               // the device did, and has not touched anything since
	tac_wrench wrench, before; // that was sent in this tick and in the last one, in units of the gain
	tac_dpose T_object_device, T_world_device;
	tac_dvec3 moved_m, turned_rad;    // of the device relative to the object in this tick, world frame
	tac_dvec3 carried_m, carried_rad; // of the device with the object
	tac_dvec3 velocity_m_per_s, velocity_rad_per_s; // of the device relative to the object, filtered
} tac_account;

// The contact of this tick.
typedef struct tac_account_contact {
	tac_wrench spring; // on the device, about its origin, without the coupling's damper, world frame
	double held_J;     // by the springs that exert it, the bristle of the friction included
	double beyond_J; // of it, since the force is the most that the device gives: less would not lower it
	int32_t object;  // the one that is touched; -1: none, the spring's wrench is zero
	tac_dpose T_world_object, T_world_device;
	double arm_m; // of the coupling's angular stiffness; 0: the tool does not rotate
	double gain;  // of the gate, 0 … 1: the one that it rises to while nothing is wrong
	double share; // of that which it has in this tick, at most
	const tac_coupling *coupling;
} tac_account_contact;

// Enters the tick into the account and returns the drag on the device, about its origin, in the world frame.
// Thread: RT.
tac_wrench tac_account_step(tac_account *account, const tac_account_contact *contact, double elapsed_s);

// Limits the wrench of the force law to what the hand can get back without having put in less, after
// tac_account_step and tac_law_follow, and enters it in place of what was asked for. Two hands have one
// purse: `other` is the account of the other hand; NULL: there is none. `elapsed_s` is above 0. Thread: RT.
void tac_account_settle(tac_account *account, tac_account *other, tac_law *law, const tac_law_rates *rates,
			double arm_m, double elapsed_s);

// Enters what the gate has let pass of the law's wrench, after tac_account_settle, in place of that. `sent`
// is on the device, about its origin, in the world frame. Thread: RT.
void tac_account_sent(tac_account *account, tac_wrench sent);

#ifdef __cplusplus
}
#endif

#endif
