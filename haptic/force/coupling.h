// Coupling: the spring and damper between the device and the SCO, in six axes (J. E. Colgate, M. C. Stanley
// and J. M. Brown, "Issues in the haptic display of tool use", IROS 1995). The wrench acts on the device and
// draws it to the SCO. Damping acts on the motion of the two against each other, so it is zero where they
// move as one: in free motion and along a surface there is no drag. Two laws:
//  - full: stiffness times offset plus damping times relative motion, in every direction.
//  - constraint: as the god-object's force (C. Zilles and K. Salisbury, "A constraint-based god-object method
//  for
//    haptic display", IROS 1995) only along the offset; the damper neither acts across it nor ever pulls the
//    device into the surface.
// Pure functions of their arguments.
#ifndef TAC_HAPTIC_COUPLING_H
#define TAC_HAPTIC_COUPLING_H

#include "devices/device.h"

#include <stdint.h>

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

// Where something is and how it moves, in the world frame.
typedef struct tac_coupling_body {
	tac_dpose T_world_body;
	tac_dvec3 velocity_m_per_s; // of the body's origin
	tac_dvec3 angular_velocity_rad_per_s;
} tac_coupling_body;

// Force and torque on the device, about its origin, in the world frame. The turn between the two is taken by
// the short way round; at exactly half a turn by one of the two.
// Thread: RT.
tac_wrench tac_coupling_wrench(const tac_coupling *coupling, const tac_coupling_body *device,
			       const tac_coupling_body *sco);

// What the springs hold: 1/2 k |offset|^2 + 1/2 kt |turn|^2.
// Thread: RT.
double tac_coupling_energy_J(const tac_coupling *coupling, tac_dpose T_world_device, tac_dpose T_world_sco);

// One contact's share in the stiffness.
typedef struct tac_coupling_share {
	double stiffness_N_per_m; // of the material there
	double weight;            // its load, 0 or more
} tac_coupling_share;

// The mean of the contacts' stiffnesses by weight, by equal weights where all are 0, and `otherwise_N_per_m`
// without a contact; at most `allowed_N_per_m` (haptic/derate.h).
// Thread: RT.
double tac_coupling_stiffness(const tac_coupling_share *shares, uint32_t count, double otherwise_N_per_m,
			      double allowed_N_per_m);

// `coupling` softened to the linear stiffness `stiffness_N_per_m`, where it is lower: dampings by the same
// factor, so that time constants stay, and the turn's stiffness, so that the two give way together. Thread:
// RT.
tac_coupling tac_coupling_soften(tac_coupling coupling, double stiffness_N_per_m);

#ifdef __cplusplus
}
#endif

#endif
