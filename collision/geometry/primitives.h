// Primitives: intersection tests between triangles, segments and solids of revolution (sphere, cylinder,
// frustum of a cone, convex and concave toroid). Source: M. Held, "ERIT: a collection of efficient and
// reliable intersection tests", Journal of Graphics Tools 2(4), 1997, with its misprints corrected. The
// comment of each function names its routine in Table 1 of the paper. Solids are filled and all sets are
// closed: a segment inside a solid hits, and touching counts as a hit.
//
// Upright solids have their axis along z; tac_upright transforms any other into that position. Lengths are
// metres, in any frame that both arguments share.
//
// Tolerance. Every test takes `eps` >= 0, a length. Arguments with a common point hit; arguments more than a
// few eps apart do not; in between either result is possible. This makes grazing contact reliable in rounded
// coordinates. With 0 the comparisons are plain and closed. tac_primitive_eps gives the usual value for the
// size of the scene. Multiplying every length, including eps, by a power of two changes no result.
//
// Degenerate arguments are well defined, and none causes a division by zero: a segment of length 0 is a
// point, a solid of radius 0 is its axis, a triangle without area is its longest edge, a cylinder whose ends
// coincide is the sphere of its radius, an upright solid of height 0 is a disc. Lengths other than 0 must lie
// between 1e-50 and 1e50 m.
//
// Thread: RT, every function. None allocates; the longest loop is that of tac_polynomial_roots.
#ifndef TAC_COLLISION_GEOMETRY_PRIMITIVES_H
#define TAC_COLLISION_GEOMETRY_PRIMITIVES_H

#include "base/algebra.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// ZERO of the paper: a triangle with |e1 x e2| <= this times its longest edge squared has no area. The same
// bound as TAC_MESH_DEGENERATE, below which mesh building drops a triangle.
#define TAC_PRIMITIVE_ZERO 1e-12

typedef struct tac_point2 {
	double x, y;
} tac_point2;

typedef struct tac_segment {
	tac_dvec3 a, b;
} tac_segment;

typedef struct tac_triangle {
	tac_dvec3 a, b, c;
} tac_triangle;

typedef struct tac_sphere {
	tac_dvec3 centre;
	double radius;
} tac_sphere;

// All points between the end planes through p and q and within `radius` of the axis pq.
typedef struct tac_cylinder {
	tac_dvec3 p, q;
	double radius;
} tac_cylinder;

// 0 <= z <= height, within `radius` of the z axis.
typedef struct tac_upright_cylinder {
	double radius, height;
} tac_upright_cylinder;

// 0 <= z <= height; the radius goes linearly from `bottom` at z = 0 to `top` at z = height. Either may be 0.
typedef struct tac_cone {
	double bottom, top, height;
} tac_cone;

// z_min <= z <= z_max (both within +-minor), within a radius of the z axis that depends on z: major +
// sqrt(minor^2 - z^2) if convex, major - sqrt(minor^2 - z^2) if concave. Concave needs major >= minor, or the
// radius would be negative (it counts as 0 there).
typedef struct tac_toroid {
	double major, minor, z_min, z_max;
	bool concave;
} tac_toroid;

// A common point of two primitives. Written only on a hit.
typedef struct tac_witness {
	// Common to both within a few eps. In tests of a sphere: the other primitive's point nearest to its
	// centre.
	tac_dvec3 point;
	double t;     // tests of a segment: point = a + t (b - a), 0 <= t <= 1
	double depth; // tests of a sphere: how far the sphere extends beyond `point`; >= -eps
} tac_witness;

// The paper's comparisons of x with zero: le and ge are both true in [-eps, eps].
static inline bool tac_lt(double x, double eps)
{
	return x < -eps;
}

static inline bool tac_le(double x, double eps)
{
	return x <= eps;
}

static inline bool tac_gt(double x, double eps)
{
	return !tac_le(x, eps);
}

static inline bool tac_ge(double x, double eps)
{
	return !tac_lt(x, eps);
}

static inline bool tac_eq(double x, double eps)
{
	return tac_le(x, eps) && tac_ge(x, eps);
}

// EPS of the paper for coordinates up to `extent` in magnitude: 1e-9 of it.
double tac_primitive_eps(double extent);

// ---- triangles and segments ----

// Twice the signed area of a, b, p: positive when p lies left of the line from a to b.
double tac_point2_det(tac_point2 a, tac_point2 b, tac_point2 p);

// TriPnt2D. The triangle must be counter-clockwise.
bool tac_triangle2_contains(tac_point2 a, tac_point2 b, tac_point2 c, tac_point2 p, double eps);

// TriEdge2D. The triangle must be counter-clockwise and have area. With eps = 0 it is exact where the
// products of coordinate differences are exact (small integers).
bool tac_triangle2_meets_segment(tac_point2 a, tac_point2 b, tac_point2 c, tac_point2 p, tac_point2 q,
				 double eps);

// The circle and segment test in the plane.
bool tac_circle2_meets_segment(tac_point2 centre, double radius, tac_point2 a, tac_point2 b, double eps);

// TriEdge3D. With eps = 0 it is exact where its determinants are exact (small integers). `out` may be NULL,
// here and below.
bool tac_triangle_meets_segment(const tac_triangle *triangle, const tac_segment *segment, double eps,
				tac_witness *out);

// TriTri3D.
bool tac_triangle_meets_triangle(const tac_triangle *s, const tac_triangle *t, double eps);

// The point of the segment, or of the triangle, that is nearest to p. A triangle without area counts as its
// three edges. `out_t` may be NULL.
tac_dvec3 tac_segment_nearest(const tac_segment *segment, tac_dvec3 p, double *out_t);
tac_dvec3 tac_triangle_nearest(const tac_triangle *triangle, tac_dvec3 p);

// The square of the distance between two segments, m^2.
double tac_segment_distance_squared(const tac_segment *s, const tac_segment *t);

// ---- spheres ----

// SphEdge3D.
bool tac_sphere_meets_segment(const tac_sphere *sphere, const tac_segment *segment, double eps,
			      tac_witness *out);

// SphTri3D.
bool tac_sphere_meets_triangle(const tac_sphere *sphere, const tac_triangle *triangle, double eps,
			       tac_witness *out);

// SphSph3D. The witness is the point of t nearest to the centre of s; its depth is the sum of the radii minus
// the distance of the centres.
bool tac_sphere_meets_sphere(const tac_sphere *s, const tac_sphere *t, double eps, tac_witness *out);

// ---- upright position ----

// A rotation and a translation that map p to the origin and q to (0, 0, height), right-handed also if q lies
// below p. For p = q the rotation is the identity.
typedef struct tac_upright {
	tac_dmat3 rotation;
	tac_dvec3 origin;
	double height;
} tac_upright;

tac_upright tac_upright_make(tac_dvec3 p, tac_dvec3 q);

tac_dvec3 tac_upright_apply(const tac_upright *upright, tac_dvec3 x);

// CylTriPrepro, with tac_upright_make.
tac_triangle tac_upright_apply_triangle(const tac_upright *upright, const tac_triangle *triangle);

// ---- cylinders ----

// UpCylEdge3D.
bool tac_upright_cylinder_meets_segment(const tac_upright_cylinder *cylinder, const tac_segment *segment,
					double eps, tac_witness *out);

// CylEdge3D, by the components perpendicular to the axis: the printed formulas divide by the sine of the
// angle between segment and axis and lose digits where it is small.
bool tac_cylinder_meets_segment(const tac_cylinder *cylinder, const tac_segment *segment, double eps,
				tac_witness *out);

// UpCylTri3D.
bool tac_upright_cylinder_meets_triangle(const tac_upright_cylinder *cylinder, const tac_triangle *triangle,
					 double eps, tac_witness *out);

// CylTri3D.
bool tac_cylinder_meets_triangle(const tac_cylinder *cylinder, const tac_triangle *triangle, double eps,
				 tac_witness *out);

// UpCylSph3D.
bool tac_upright_cylinder_meets_sphere(const tac_upright_cylinder *cylinder, const tac_sphere *sphere,
				       double eps, tac_witness *out);

// CylSph3D.
bool tac_cylinder_meets_sphere(const tac_cylinder *cylinder, const tac_sphere *sphere, double eps,
			       tac_witness *out);

// ---- cones ----

// UpConEdge3D, by a quadratic without division.
bool tac_cone_meets_segment(const tac_cone *cone, const tac_segment *segment, double eps, tac_witness *out);

// UpConTri3D.
bool tac_cone_meets_triangle(const tac_cone *cone, const tac_triangle *triangle, double eps,
			     tac_witness *out);

// ---- toroids ----

// UpCvxTorEdge3D and UpCveTorEdge3D.
bool tac_toroid_meets_segment(const tac_toroid *toroid, const tac_segment *segment, double eps,
			      tac_witness *out);

// UpCvxTorTri3D and UpCveTorTri3D.
bool tac_toroid_meets_triangle(const tac_toroid *toroid, const tac_triangle *triangle, double eps,
			       tac_witness *out);

// The radius at height z.
double tac_toroid_radius(const tac_toroid *toroid, double z);

// The coefficients of the torus's implicit equation along the segment: its roots in [0, 1] are where the
// segment crosses the whole torus of these radii. out[k] is the coefficient of t^k.
void tac_toroid_quartic(const tac_toroid *toroid, const tac_segment *segment, double out[5]);

// The real roots in [0, 1] of c[0] + c[1] t + … + c[degree] t^degree, ascending, each once; degree <= 4. They
// are isolated by the roots of the derivatives, then refined within their interval; a double root is reported
// where a critical value is below 1e-14 of the sum of |c|. Returns their number. Takes at most 64 steps per
// root.
int tac_polynomial_roots(const double *c, int degree, double out[4]);

#ifdef __cplusplus
}
#endif

#endif
