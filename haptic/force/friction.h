// Friction: static and dynamic dry friction of one contact, by a bristle that bends before it slips (V.
// Hayward and B. Armstrong, "A new computational model of friction applied to haptic rendering", Experimental
// Robotics VI, 2000). It works on positions, so it needs no velocity estimate and does not drift: while it
// sticks, its anchor does not move at all, however the contact shakes. It slips when the bristle pulls with
// more than the static limit, then follows at the dynamic limit until the motion reverses. Along a straight
// path the result does not depend on the sampling rate.
//
// A contact with an extent also resists being turned about its normal (R. D. Howe and M. R. Cutkosky,
// "Practical force-motion models for sliding manipulation", Int. J. Robotics Research 15(6), 1996): the
// bristle twists as well, and force and torque over radius together stay within one limit, so that a patch
// which slides resists turning less, and the reverse.
#ifndef TAC_HAPTIC_FORCE_FRICTION_H
#define TAC_HAPTIC_FORCE_FRICTION_H

#include "base/algebra.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_friction_material {
	double static_coefficient;  // 0 or more
	double dynamic_coefficient; // 0 … static_coefficient
	double stiffness_N_per_m;   // of the bristle, above 0
} tac_friction_material;

// The memory of one contact; zero at its start. All positions are in one frame, which is the object's if the
// object moves.
typedef struct tac_friction {
	bool touching;
	bool slipping;
	tac_dvec3 anchor_m; // where the bristle is attached
	double anchor_rad;  // and at which angle about the normal
} tac_friction;

// How a patch lies on the body.
typedef struct tac_friction_patch {
	tac_dvec3 position_m; // as in tac_friction_step
	double turn_rad;      // sum of the body's rotations about the normal
	double radius_m;  // mean distance of the load from the patch's centre; 0: no resistance to turning
	tac_dvec3 normal; // unit
} tac_friction_patch;

typedef struct tac_friction_result {
	tac_dvec3 force_N; // in the tangent plane
	double torque_Nm;  // about the normal
} tac_friction_result;

// The friction force (N) on the body at `position_m`, where the surface has the unit normal `normal` and the
// normal force is `load_N`. It lies in the tangent plane and does not exceed the static coefficient times the
// load. A load of 0 or less ends the contact; without a coefficient there is none: a smooth surface neither
// sticks nor slips. Where the normal changes, as on a curved surface, the bristle
// is projected onto the new tangent plane.
// Thread: RT.
tac_dvec3 tac_friction_step(tac_friction *friction, const tac_friction_material *material,
			    tac_dvec3 position_m, tac_dvec3 normal, double load_N);

// As tac_friction_step, for a contact with an extent.
// Thread: RT.
tac_friction_result tac_friction_step_patch(tac_friction *friction, const tac_friction_material *material,
					    const tac_friction_patch *patch, double load_N);

#ifdef __cplusplus
}
#endif

#endif
