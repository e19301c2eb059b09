// Falcon kinematics: the Novint Falcon is a delta mechanism; three motors turn three thighs, and shins in the
// form of parallelograms join them to a grip that can move but not turn. After R. E. Stamper, "A three degree
// of freedom parallel manipulator with only translational degrees of freedom", University of Maryland, PhD
// 97-4, with the lengths that libnifalcon measured. All pure, all in double.
//
// Frame: x to the right, y up, z from the device towards the user; metres. The origin is that of the
// mechanism: the grip moves around z = TAC_FALCON_CENTRE_Z_M. In the frame of a leg (u outwards, v across, w
// along z; it is turned by the leg's angle about z and moved by r, s) the thigh turns by t1 in the plane of u
// and w, the shin by t2 in the same plane and by t3 against v:
//	u + c = a cos t1 + (d + e + b sin t3) cos t2
//	v + f = b cos t3
//	w     = a sin t1 + (d + e + b sin t3) sin t2
// With n = (cos t2 sin t3, cos t3, sin t2 sin t3), the direction of the shin, n . P' = a sin t3 sin(t2 - t1)
// t1'.
#ifndef TAC_DEVICES_FALCON_KINEMATICS_H
#define TAC_DEVICES_FALCON_KINEMATICS_H

#include "base/algebra.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_FALCON_CENTRE_Z_M    0.12 // the middle of the workspace
#define TAC_FALCON_REACH_M       0.05 // the workspace: a cube of twice this edge around the centre
#define TAC_FALCON_RAW_PER_NM    1e4  // motor value a torque of 1 N m, of the opposite sign
#define TAC_FALCON_FORWARD_STEPS 32   // Newton steps of the forward kinematics; 4 to 7 are usual
#define TAC_FALCON_DETERMINANT   0.02 // of the three shins' directions; below it forces are not controlled

// The angles of one leg, rad.
typedef struct tac_falcon_leg {
	double thigh, shin, across; // t1, t2, t3
} tac_falcon_leg;

// Encoder counts to thigh angles in rad, and to the nearest count (saturated at 16 bits).
// Thread: RT.
tac_dvec3 tac_falcon_angles(const int16_t encoder[3]);
void tac_falcon_counts(tac_dvec3 thighs_rad, int16_t out_encoder[3]);

// The legs of a grip at `position_m`; false, and nothing stored, where a leg does not reach.
// Thread: RT.
bool tac_falcon_inverse(tac_dvec3 position_m, tac_falcon_leg out_legs[3]);

// The position at which the thighs have these angles. False, and nothing stored, for angles that the
// mechanism cannot have: it cannot be put together, it would be folded the other way, or it stands in a
// singularity. What is stored is right to 1e-12 m. Thread: RT.
bool tac_falcon_forward(tac_dvec3 thighs_rad, tac_dvec3 *out_position_m);

// J with P' = J t1'; so torques are J^T F and power is the same on both sides. False, and nothing stored,
// where the shins' directions are so close to one plane (TAC_FALCON_DETERMINANT) that the motors do not hold
// the grip in every direction. Thread: RT.
bool tac_falcon_jacobian(const tac_falcon_leg legs[3], tac_dmat3 *out_jacobian);

// Motor values for a force on the grip. What would be beyond TAC_FALCON_MOTOR_MAX is scaled down on all three
// motors together, which keeps the direction; true then. A force that is not finite gives zeros.
// Thread: RT.
bool tac_falcon_motors(tac_dmat3 jacobian, tac_dvec3 force_N, int16_t out_motor[3]);

// The force that motor values exert: the other way round, for the simulated device.
// Thread: RT.
tac_dvec3 tac_falcon_force(const tac_falcon_leg legs[3], const int16_t motor[3]);

#ifdef __cplusplus
}
#endif

#endif
