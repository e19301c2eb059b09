// Predicates: the sign of an orientation determinant, exactly, for double coordinates. A floating-point
// filter with a proven bound answers almost always; what it cannot decide is evaluated without rounding as a
// sum of non-overlapping doubles. Source: J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic and
// Fast Robust Geometric Predicates (1997). Exact as long as no intermediate product leaves the range of
// double: coordinates between 1e-60 and 1e60, far outside what the meshes may hold.
#ifndef TAC_COLLISION_PREDICATE_H
#define TAC_COLLISION_PREDICATE_H

#ifdef __cplusplus
extern "C" {
#endif

// -1, 0 or +1: the sign of det[a−d, b−d, c−d]. Positive when d sees a, b, c clockwise, 0 exactly when the
// four points lie in a plane. Thread: RT.
int tac_predicate_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

// -1, 0 or +1: the sign of det[a−c, b−c]. Positive when a, b, c turn left, 0 exactly when they lie on a line.
// Thread: RT.
int tac_predicate_orient2d(const double a[2], const double b[2], const double c[2]);

#ifdef __cplusplus
}
#endif

#endif
