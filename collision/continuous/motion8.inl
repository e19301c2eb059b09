// Private to the kernels of collision/continuous/pairs.h: a motion in float, and vectors of eight.
#ifndef TAC_COLLISION_CONTINUOUS_MOTION8_INL
#define TAC_COLLISION_CONTINUOUS_MOTION8_INL

#include "base/simd/wide.h"
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

static inline tac_f32x8 mad(tac_f32x8 sum, tac_f32x8 a, tac_f32x8 b)
{
	return tac_f32x8_add(sum, tac_f32x8_mul(a, b));
}

static inline tac_f32x8 dot(const tac_f32x8 a[3], const tac_f32x8 b[3])
{
	return mad(mad(tac_f32x8_mul(a[0], b[0]), a[1], b[1]), a[2], b[2]);
}

static inline void cross3(const tac_f32x8 a[3], const tac_f32x8 b[3], tac_f32x8 out[3])
{
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3, k = (i + 2) % 3;
		out[i] = tac_f32x8_sub(tac_f32x8_mul(a[j], b[k]), tac_f32x8_mul(a[k], b[j]));
	}
}

// Component i of m x.
static inline tac_f32x8 row(const float m[3][3], int i, const tac_f32x8 x[3])
{
	tac_f32x8 p = tac_f32x8_mul(tac_f32x8_splat(m[i][0]), x[0]);
	return mad(mad(p, tac_f32x8_splat(m[i][1]), x[1]), tac_f32x8_splat(m[i][2]), x[2]);
}

#endif
