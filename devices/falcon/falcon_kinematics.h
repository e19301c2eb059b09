// Falcon kinematics: the Novint Falcon is a delta mechanism. Three motors turn three thighs; shins in the
// form of parallelograms join them to a grip that translates but does not rotate. After R. E. Stamper, "A
// three degree of freedom parallel manipulator with only translational degrees of freedom", University of
// Maryland, PhD 97-4, with the lengths that libnifalcon measured. All functions are pure, in double
// precision.
//
// Frame: x to the right, y up, z from the device towards the user; metres. The origin is that of the
// mechanism: the grip moves around z = TAC_FALCON_CENTRE_Z_M. In the frame of a leg (u outwards, v across, w
// along z; rotated by the leg's angle about z and translated by r, s) the thigh turns by t1 in the plane of u
// and w, the shin by t2 in the same plane and by t3 against v:
//	u + c = a cos t1 + (d + e + b sin t3) cos t2
//	v + f = b cos t3
//	w     = a sin t1 + (d + e + b sin t3) sin t2
// With the direction of the shin n = (cos t2 sin t3, cos t3, sin t2 sin t3), velocities obey
//	n . P' = a sin t3 sin(t2 - t1) t1'.
#ifndef TAC_DEVICES_FALCON_FALCON_KINEMATICS_H
#define TAC_DEVICES_FALCON_FALCON_KINEMATICS_H

#include "base/algebra.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_FALCON_CENTRE_Z_M    0.12 // centre of the workspace
#define TAC_FALCON_REACH_M       0.05 // half the edge of the workspace, a cube around the centre
#define TAC_FALCON_RAW_PER_NM    1e4  // motor value per torque, of the opposite sign
#define TAC_FALCON_FORWARD_STEPS 32   // most Newton steps of the forward kinematics; 4 to 7 are usual
#define TAC_FALCON_DETERMINANT   0.02 // of the shins' directions: below it is a singularity

// The angles of one leg, rad.
typedef struct tac_falcon_leg {
	double thigh, shin, across; // t1, t2, t3
} tac_falcon_leg;

// Encoder counts to thigh angles in rad, and back to the nearest count (saturated at 16 bits).
// Thread: RT.
tac_dvec3 tac_falcon_angles(const int16_t encoder[3]);
void tac_falcon_counts(tac_dvec3 thighs_rad, int16_t out_encoder[3]);

// The legs for a grip at `position_m`; false, and nothing stored, if a leg does not reach.
// Thread: RT.
bool tac_falcon_inverse(tac_dvec3 position_m, tac_falcon_leg out_legs[3]);

// The position at which the thighs have these angles, exact to 1e-12 m. False, and nothing stored, for
// impossible angles: the legs do not close, would be folded the other way, or are in a singularity. Thread:
// RT.
bool tac_falcon_forward(tac_dvec3 thighs_rad, tac_dvec3 *out_position_m);

// J with P' = J t1', so torques are J^T F and power is the same on both sides. False, and nothing stored,
// near a singularity: the shins' directions are almost in one plane (TAC_FALCON_DETERMINANT), so the motors
// do not control the grip in every direction. Thread: RT.
bool tac_falcon_jacobian(const tac_falcon_leg legs[3], tac_dmat3 *out_jacobian);

// Motor values for a force on the grip. Values beyond TAC_FALCON_MOTOR_MAX are scaled down on all three
// motors together, which keeps the direction; then it returns true. A force that is not finite gives zeros.
// Thread: RT.
bool tac_falcon_motors(tac_dmat3 jacobian, tac_dvec3 force_N, int16_t out_motor[3]);

// The force that motor values exert: the inverse, for the simulated device. Thread: RT.
tac_dvec3 tac_falcon_force(const tac_falcon_leg legs[3], const int16_t motor[3]);

#ifdef __cplusplus
}
#endif

#endif
