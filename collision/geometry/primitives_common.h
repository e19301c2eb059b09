// Common helpers of the files of collision/geometry/primitives.h.
#ifndef TAC_COLLISION_GEOMETRY_PRIMITIVES_COMMON_H
#define TAC_COLLISION_GEOMETRY_PRIMITIVES_COMMON_H

#include "collision/geometry/primitives.h"

#include <stddef.h>

static inline double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

// a + t (b - a).
static inline tac_dvec3 point_at(tac_dvec3 a, tac_dvec3 b, double t)
{
	return tac_dvec3_add_scaled(a, t, tac_dvec3_sub(b, a));
}

static inline tac_dvec3 cross_of(const tac_triangle *t)
{
	return tac_dvec3_triangle_cross(t->a, t->b, t->c);
}

static inline tac_segment edge_of(const tac_triangle *t, int k)
{
	return k == 0   ? (tac_segment){t->a, t->b}
	       : k == 1 ? (tac_segment){t->b, t->c}
			: (tac_segment){t->c, t->a};
}

// The interval [t0, t1] of 0 … 1 in which za + t (zb - za) lies within eps of [low, high]; false if it is
// empty.
bool tac_primitive_clip(double za, double zb, double low, double high, double eps, double *t0, double *t1);

// The point at t, moved into the slab by the eps that clipping allowed.
static inline tac_dvec3 clipped_point(const tac_segment *s, double t, double low, double high)
{
	tac_dvec3 x = point_at(s->a, s->b, t);
	x.z = clamp(x.z, low, high);
	return x;
}

// The triangle clipped to within eps of the slab and moved into it: a polygon of up to 5 vertices. Returns
// their number, 0 if nothing is left. The polygon may have collapsed to a segment or point.
int tac_primitive_clip_triangle(const tac_triangle *triangle, double low, double high, double eps,
				tac_dvec3 out[5]);

// Whether the z axis passes through the polygon's interior.
bool tac_primitive_axis_inside(const tac_dvec3 *polygon, int count);

// Whether |x, y| <= radius somewhere on the segment a b, where the radius varies linearly from ra to rb (both
// >= 0). *out_t is a parameter where that holds.
bool tac_primitive_segment_in_radius(tac_dvec3 a, tac_dvec3 b, double ra, double rb, double *out_t);

// Fills `out` unless it is NULL; returns true.
static inline bool witness_at(tac_witness *out, tac_dvec3 point, double t)
{
	if (out)
		*out = (tac_witness){point, t, 0};
	return true;
}

// The same in a test of a sphere.
static inline bool sphere_witness(tac_witness *out, const tac_sphere *sphere, tac_dvec3 point, double t)
{
	if (out) {
		double distance = tac_dvec3_length(tac_dvec3_sub(point, sphere->centre));
		*out = (tac_witness){point, t, sphere->radius - distance};
	}
	return true;
}

#endif
