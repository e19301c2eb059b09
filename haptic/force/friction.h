// Friction: static and dynamic dry friction of one contact, by a bristle that bends before it slips (V.
// Hayward and B. Armstrong, "A new computational model of friction applied to haptic rendering", Experimental
// Robotics VI, 2000). It works on positions, so it needs no velocity estimate and does not drift: while it
// sticks, its anchor does not move at all, however the contact shakes. It slips when the bristle pulls with
// more than the static limit, then follows at the dynamic limit until the motion reverses. Along a straight
// path the result does not depend on the sampling rate.
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
} tac_friction;

// The friction force (N) on the body at `position_m`, where the surface has the unit normal `normal` and the
// normal force is `load_N`. It lies in the tangent plane and does not exceed the static coefficient times the
// load. A load of 0 or less ends the contact. Where the normal changes, as on a curved surface, the bristle
// is projected onto the new tangent plane.
// Thread: RT.
tac_dvec3 tac_friction_step(tac_friction *friction, const tac_friction_material *material,
			    tac_dvec3 position_m, tac_dvec3 normal, double load_N);

#ifdef __cplusplus
}
#endif

#endif
