// Private to the kernels of collision/continuous/pairs.h: a motion in float, and vectors of a lane for each
// item.
#ifndef TAC_COLLISION_CONTINUOUS_MOTION8_INL
#define TAC_COLLISION_CONTINUOUS_MOTION8_INL

#include "collision/continuous/lanes.inl"
#include "collision/continuous/pairs.h"

// How much boxes grow, relative to the coordinates: about ten roundings of float.
#define ROUNDING 1e-6

// A tac_swept_motion in float.
typedef struct motion {
	float R0[3][3], R1[3][3], t0[3], t1[3];
	float spread[3][3];
	float bend, turn;
} motion;

static inline motion motion_make(const tac_swept_motion *s)
{
	motion m;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			m.R0[i][j] = (float)s->start.R.m[i][j];
			m.R1[i][j] = (float)s->end.R.m[i][j];
			m.spread[i][j] = (float)s->spread.m[i][j];
		}
		m.t0[i] = (float)tac_dvec3_get(s->start.t, i);
		m.t1[i] = (float)tac_dvec3_get(s->end.t, i);
	}
	m.bend = (float)s->bend;
	m.turn = (float)s->turn;
	return m;
}

// A bound of the sum of all coordinates of a query, m.
static inline double sweep_size(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep)
{
	return moving->radius + fixed->radius + tac_dvec3_length(sweep->start.t) +
	       tac_dvec3_length(sweep->end.t);
}

static inline FLOATS mad(FLOATS sum, FLOATS a, FLOATS b)
{
	return FLOATS_(add)(sum, FLOATS_(mul)(a, b));
}

static inline FLOATS dot(const FLOATS a[3], const FLOATS b[3])
{
	return mad(mad(FLOATS_(mul)(a[0], b[0]), a[1], b[1]), a[2], b[2]);
}

static inline void cross3(const FLOATS a[3], const FLOATS b[3], FLOATS out[3])
{
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3, k = (i + 2) % 3;
		out[i] = FLOATS_(sub)(FLOATS_(mul)(a[j], b[k]), FLOATS_(mul)(a[k], b[j]));
	}
}

// Component i of m x.
static inline FLOATS row(const float m[3][3], int i, const FLOATS x[3])
{
	FLOATS p = FLOATS_(mul)(FLOATS_(splat)(m[i][0]), x[0]);
	return mad(mad(p, FLOATS_(splat)(m[i][1]), x[1]), FLOATS_(splat)(m[i][2]), x[2]);
}

#endif
