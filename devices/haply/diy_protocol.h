// 2DIY protocol and mechanism: the bytes between a Haply 2DIY (or another pantograph on a hAPI board) and the
// host, after the maker's public host library, and the pantograph's kinematics. Pure.
//
//	request                                      answer
//	01 id, masks, directions, offsets, counts    none: sets motors and encoders up
//	02 id, f32 torque in N m for each port       id, f32 angle in degrees for each port
//
// Numbers are little-endian; there is neither a length nor a checksum. Actuator 1 and its encoder are on port
// 2, actuator 2 on port 1. Encoders count from where the arms are at set-up, so the arms must be at their
// stops then.
//
// The mechanism is two arms of 70 mm, whose motors are 38 mm apart, and two links of 90 mm that meet at the
// tool (the version of plastic). Its plane has x from motor 1 to motor 2 and y towards the tool.
#ifndef TAC_DEVICES_HAPLY_DIY_PROTOCOL_H
#define TAC_DEVICES_HAPLY_DIY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_DIY_SETUP_BYTES  (2 + 3 + 3 + 2 + 4 * 4)
#define TAC_DIY_TORQUE_BYTES (2 + 2 * 4)
#define TAC_DIY_ANGLES_BYTES (1 + 2 * 4)
#define TAC_DIY_TORQUE_MAX   0.123 // N m, of a motor

typedef enum tac_diy_kind {
	TAC_DIY_INCOMPLETE, // more bytes are needed
	TAC_DIY_NOISE,      // one byte that fits nothing
	TAC_DIY_ANGLES,
} tac_diy_kind;

// Fill TAC_DIY_…_BYTES at `out`. Torques are finite, of actuators 1 and 2. Thread: any.
void tac_diy_setup_encode(uint8_t *out);
void tac_diy_torque_encode(const float torque_Nm[2], uint8_t *out);

// Decodes what `size` bytes of the stream begin with; *out_used of them belong to it (0: incomplete). Angles
// are those of actuators 1 and 2; they are written only for TAC_DIY_ANGLES, and the mechanism can have them.
// Any bytes are allowed. Thread: any.
tac_diy_kind tac_diy_decode(const uint8_t *bytes, size_t size, size_t *out_used, float out_degrees[2]);

// What a board answers, for tests: fills TAC_DIY_ANGLES_BYTES at `out`. Thread: any.
void tac_diy_angles_encode(const float degrees[2], uint8_t *out);

// The position of the tool in the mechanism's plane, and the derivatives out_jacobian[axis][actuator] in
// m/rad. False: the links cannot meet, or the mechanism is stretched or folded, where it has no Jacobian.
// Thread: any.
bool tac_diy_forward(const double degrees[2], double out_m[2], double out_jacobian[2][2]);

// The torques for a force in the plane, both scaled down where one is above TAC_DIY_TORQUE_MAX. Thread: any.
void tac_diy_torques(const double force_N[2], const double jacobian[2][2], float out_torque_Nm[2]);

#ifdef __cplusplus
}
#endif

#endif
