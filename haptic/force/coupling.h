// Coupling: the virtual coupling, a spring and damper between the device and the SCO in six axes (J. E.
// Colgate, M. C. Stanley and J. M. Brown, "Issues in the haptic display of tool use", IROS 1995). The wrench
// acts on the device and pulls it towards the SCO. Damping acts on the relative velocity of the two, so there
// is no drag where they move together: in free motion and along a surface. Two laws:
//  - full: stiffness times offset plus damping times relative velocity, in every direction.
//  - constraint: the god-object's force, along the offset only (C. Zilles and K. Salisbury, "A
//  constraint-based
//    god-object method for haptic display", IROS 1995). The damper does not act across the offset and never
//    pulls the device into the surface.
// Pure functions of their arguments.
#ifndef TAC_HAPTIC_FORCE_COUPLING_H
#define TAC_HAPTIC_FORCE_COUPLING_H

#include "base/wrench.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_coupling_law {
	TAC_COUPLING_FULL,
	TAC_COUPLING_CONSTRAINT,
} tac_coupling_law;

// All 0 or more.
typedef struct tac_coupling {
	double stiffness_N_per_m;
	double damping_N_s_per_m;
	double turn_stiffness_Nm_per_rad;
	double turn_damping_Nm_s_per_rad;
	tac_coupling_law law;
} tac_coupling;

// Pose and velocity of a body in the world frame.
typedef struct tac_coupling_body {
	tac_dpose T_world_body;
	tac_dvec3 velocity_m_per_s; // of the body's origin
	tac_dvec3 angular_velocity_rad_per_s;
} tac_coupling_body;

// The wrench on the device, about its origin, in the world frame. The rotation between the two bodies is the
// shorter one; at exactly half a turn it is either.
// Thread: RT.
tac_wrench tac_coupling_wrench(const tac_coupling *coupling, const tac_coupling_body *device,
			       const tac_coupling_body *sco);

// The elastic energy of the springs: 1/2 k |offset|^2 + 1/2 kt |turn|^2.
// Thread: RT.
double tac_coupling_energy_J(const tac_coupling *coupling, tac_dpose T_world_device, tac_dpose T_world_sco);

#ifdef __cplusplus
}
#endif

#endif
