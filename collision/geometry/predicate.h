// Predicates: the exact sign of an orientation determinant of double coordinates. A floating-point filter
// with a proven error bound decides almost every case; the rest is evaluated without rounding as a sum of
// non-overlapping doubles. Source: J. R. Shewchuk, "Adaptive precision floating-point arithmetic and fast
// robust geometric predicates", Discrete and Computational Geometry 18(3), 1997. Exact as long as no
// intermediate product leaves the range of double: coordinates between 1e-60 and 1e60, far beyond the range
// of a mesh.
#ifndef TAC_COLLISION_GEOMETRY_PREDICATE_H
#define TAC_COLLISION_GEOMETRY_PREDICATE_H

#ifdef __cplusplus
extern "C" {
#endif

// -1, 0 or +1: the sign of det[a−d, b−d, c−d]. Positive if a, b, c appear clockwise seen from d, 0 exactly if
// the four points are coplanar.
// Thread: RT.
int tac_predicate_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

// -1, 0 or +1: the sign of det[a−c, b−c]. Positive if a, b, c turn left, 0 exactly if they are collinear.
// Thread: RT.
int tac_predicate_orient2d(const double a[2], const double b[2], const double c[2]);

#ifdef __cplusplus
}
#endif

#endif
