// Desk frame: Force Dimension and CHAI3D have x towards the user, y to the right and z up; Tactus has x to
// the right, y up and z towards the user (devices/device.h). Both are right-handed, so the conversion is a
// cyclic permutation of the axes.
#ifndef TAC_DEVICES_VENDOR_DESK_FRAME_H
#define TAC_DEVICES_VENDOR_DESK_FRAME_H

#include "base/algebra.h"

#ifdef __cplusplus
extern "C" {
#endif

// Converts a vector from the desk frame. Thread: RT.
static inline tac_dvec3 tac_desk_vector_from(const double desk[3])
{
	return tac_dvec3_make(desk[1], desk[2], desk[0]);
}

// Converts a vector to the desk frame. Thread: RT.
static inline void tac_desk_vector_to(tac_dvec3 v, double out_desk[3])
{
	out_desk[0] = v.z;
	out_desk[1] = v.x;
	out_desk[2] = v.y;
}

// Converts a rotation from the desk frame; the tool's axes are permuted, too. Thread: RT.
static inline tac_dquat tac_desk_rotation_from(double rows[3][3])
{
	tac_dmat3 m;
	for (int row = 0; row < 3; row++)
		for (int column = 0; column < 3; column++)
			m.m[row][column] = rows[(row + 1) % 3][(column + 1) % 3];
	return tac_dquat_normalize(tac_dquat_from_mat3(m));
}

#ifdef __cplusplus
}
#endif

#endif
