// Desk frame: Force Dimension and CHAI3D have x towards the user, y to the right and z up; Tactus has x to
// the right, y up and z towards the user (devices/device.h). Both are right-handed: going over is a cyclic
// exchange.
#ifndef TAC_DEVICES_DESK_FRAME_H
#define TAC_DEVICES_DESK_FRAME_H

#include "base/algebra.h"

#ifdef __cplusplus
extern "C" {
#endif

// A vector of theirs as one of ours. Thread: RT.
static inline tac_dvec3 tac_desk_vector_from(const double theirs[3])
{
	return tac_dvec3_make(theirs[1], theirs[2], theirs[0]);
}

// A vector of ours as one of theirs. Thread: RT.
static inline void tac_desk_vector_to(tac_dvec3 ours, double out_theirs[3])
{
	out_theirs[0] = ours.z;
	out_theirs[1] = ours.x;
	out_theirs[2] = ours.y;
}

// A rotation of theirs as one of ours; the tool's axes are exchanged, too. Thread: RT.
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
