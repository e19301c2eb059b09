// Private to collision/primitives: what its files share.
#ifndef TAC_COLLISION_PRIMITIVES_PRIVATE_H
#define TAC_COLLISION_PRIMITIVES_PRIVATE_H

#include "collision/primitives.h"

#include <stddef.h>

static inline double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

static inline tac_dvec3 along(tac_dvec3 a, tac_dvec3 b, double t)
{
	return tac_dvec3_add_scaled(a, t, tac_dvec3_sub(b, a));
}

// The part [t0, t1] of 0 … 1 in which za + t (zb - za) lies within eps of [low, high]; false: none.
bool tac_primitive_clip(double za, double zb, double low, double high, double eps, double *t0, double *t1);

// The point at t, moved into the slab by the eps that the clipping allowed.
static inline tac_dvec3 clipped(const tac_segment *s, double t, double low, double high)
{
	tac_dvec3 x = along(s->a, s->b, t);
	x.z = clamp(x.z, low, high);
	return x;
}

// The triangle cut to within eps of the slab and moved into it: a polygon of up to 5 vertices; returns their
// number, 0 if nothing is left. A polygon may have collapsed to a segment or point.
int tac_primitive_clip_triangle(const tac_triangle *triangle, double low, double high, double eps,
				tac_dvec3 out[5]);

// Whether the z axis passes through the polygon, its edges aside.
bool tac_primitive_axis_inside(const tac_dvec3 *polygon, int count);

// Whether |x, y| <= radius somewhere between a and b, where the radius goes linearly from ra to rb (both >=
// 0).
bool tac_primitive_round_segment(tac_dvec3 a, tac_dvec3 b, double ra, double rb, double *out_t);

// Fills out, if it is not NULL.
static inline bool witness_at(tac_witness *out, tac_dvec3 point, double t)
{
	if (out != NULL) {
		out->point = point;
		out->t = t;
		out->depth = 0;
	}
	return true;
}

#endif
