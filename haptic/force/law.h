// Force law: from the pose of the SCO to a wrench that never jumps.
//
// The SCO moves continuously, but the list of its contacts does not: it is empty while the SCO is under way
// from one resting place to the next, it is incomplete when the mover has spent its work, and it changes with
// each facet. A force that is read from the list alone falls to zero and comes back within a tick. The law
// has two parts.
//
// The goal is the offset that the spring should have:
//  - while contacts bear load, their reaction, the sum of the loads along the normals (M. Ortega et al., IEEE
//    VR 2006). It has no part along the surface, so an SCO that lags behind exerts no drag. If the mover has
//    spent its work, its list may be incomplete: the goal follows the reaction within a few ms. So it does
//    where the SCO passes on a long way;
//  - while the SCO is under way with nothing loaded, the offset from the device to the SCO;
//  - while the mover has nothing to report (its work is spent, or it is blocked), the last goal.
// In the last two cases the length follows a plane through the last goal: it grows only as far as the device
// presses on (Y. Adachi, T. Kumano and K. Ogino, "Intermediate representation for stiff virtual objects",
// VRAIS 1995). A lag that the hand has not paid for is therefore not returned as force.
//
// The wrench follows the goal's: it is that of a spring between the device and an end which moves at most
// by slew_m_per_s T + 2 |dx| in a tick of length T in which the device moves by dx. Hence
//
//     |dF| <= K (slew_m_per_s T + 3 |dx|)
//
// whatever the goal does. In six axes |dx| + arm |dturn| takes the place of |dx|, and the torque obeys
//
//     |dM| <= K arm (slew_m_per_s T + 3 (|dx| + arm |dturn|))
//
// Where the goal moves no faster, which includes every contact with a convex object and every slide along a
// surface, the wrench is exactly the goal's. A spring whose end moves towards a shorter offset gives no
// energy to the hand, so the law is as passive as the goal.
#ifndef TAC_HAPTIC_FORCE_LAW_H
#define TAC_HAPTIC_FORCE_LAW_H

#include "base/wrench.h"
#include "haptic/force/coupling.h"
#include "haptic/sco.h"

#ifdef __cplusplus
extern "C" {
#endif

// From the device to the spring's end, world frame.
typedef struct tac_law_offset {
	tac_dvec3 move_m;
	tac_dvec3 turn_rad;
} tac_law_offset;

// What is kept from tick to tick; zero at the start.
typedef struct tac_law {
	bool started;
	tac_dpose T_world_device;
	// What the SCO follows: the device, unless the caller sets another pose after tac_law_move, such as
	// that of a needle which tissue holds back.
	tac_dpose T_world_aim;
	tac_law_offset moved; // of the device in this tick
	tac_law_offset goal;
	tac_wrench wrench, before;     // of this tick and of the last one
	double spring_N_per_m, most_m; // of this tick: the spring's stiffness, and how far its end may move
	double stiffness_N_per_m; // of the last tick; while the wrench follows, the largest since it began to
	bool follows;             // the wrench has not reached its goal yet
	double bound_N;           // of the change of the force in this tick; of the torque: times the arm
} tac_law;

// How fast the wrench may change.
typedef struct tac_law_rates {
	double slew_m_per_s; // of the spring's end
	// Of the limit (haptic/limit.h). A wrench that outran it would go on changing after the device has
	// stopped.
	double force_N_per_s, torque_Nm_per_s;
} tac_law_rates;

// Begins a tick: notes how far the device has moved. With `fixed_rotation` it does not rotate.
// Thread: RT.
void tac_law_move(tac_law *law, tac_dpose T_world_device, bool fixed_rotation);

// Takes the gaps at which the SCO rests above the surfaces out of the loads of `report`, so that they give
// the depth of the device below the surfaces themselves. `arm_m` is the square root of the angular stiffness
// over the linear one; 0: the tool does not rotate. With `partner`, the object that is the other hand's tool,
// the two tools share their gap; -1: there is none. Thread: RT.
void tac_law_remove_gaps(tac_sco_report *report, int32_t partner, double arm_m);

// The goal of this tick, after tac_law_move. `stiffness_N_per_m` is that of the coupling; `arm_m` as above.
// With TAC_COUPLING_FULL the goal is always the SCO.
// Thread: RT.
tac_law_offset tac_law_goal(tac_law *law, const tac_sco_report *report, tac_coupling_law kind,
			    double stiffness_N_per_m, double arm_m, double elapsed_s);

// Moves the wrench towards `wanted`, that of the goal with all that the materials add, and returns it.
// `texture_N_per_m` is what a texture may add to the change of the force, per metre of the device's motion.
// Thread: RT.
tac_wrench tac_law_follow(tac_law *law, tac_wrench wanted, const tac_law_rates *rates,
			  double stiffness_N_per_m, double texture_N_per_m, double arm_m, double elapsed_s);

// Replaces the wrench of this tick, after tac_law_follow, as far as the bound allows.
// Thread: RT.
void tac_law_replace(tac_law *law, tac_wrench wrench, const tac_law_rates *rates, double arm_m,
		     double elapsed_s);

// The elastic energy of a spring with the law's wrench.
// Thread: RT.
double tac_law_energy_J(const tac_law *law, double arm_m);

#ifdef __cplusplus
}
#endif

#endif
