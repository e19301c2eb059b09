// Friction: dry friction at one contact, static and dynamic, by a bristle that bends before it slips (V.
// Hayward and B. Armstrong, "A new computational model of friction applied to haptic rendering", Experimental
// Robotics VI, 2000). It works on positions, not on velocities, so it needs no velocity estimate, sticks
// truly still and does not drift: while it sticks, the point it holds does not move at all, however the
// contact shakes. It slips when the bristle pulls with more than the static limit, then follows at the
// dynamic one until the motion turns back. The answer does not depend on the rate at which it is asked along
// a straight way.
#ifndef TAC_HAPTIC_FRICTION_H
#define TAC_HAPTIC_FRICTION_H

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

// The memory of one contact. A zeroed struct is a contact that begins. The positions are in one frame, that
// of the touched object where it moves.
typedef struct tac_friction {
	bool touching;
	bool slipping;
	tac_dvec3 anchor_m; // the point the bristle stands on
} tac_friction;

// The friction force (N) on whatever is at `position_m`, with the surface's unit normal `normal` and the
// normal force `load_N` there. It lies in the tangent plane and is never longer than the static coefficient
// times the load; a load of 0 or less ends the contact. Where the normal turns, as on a curved surface, the
// bristle is laid into the new plane.
// Thread: RT.
tac_dvec3 tac_friction_step(tac_friction *friction, const tac_friction_material *material,
			    tac_dvec3 position_m, tac_dvec3 normal, double load_N);

#ifdef __cplusplus
}
#endif

#endif
