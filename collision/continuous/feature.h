// Features in motion: when a moving vertex meets a fixed plane, when a moving edge meets a fixed edge, and
// where to stop in front of them, for translations and rotations. From J. M. P. van Waveren (2005), sections
// 2.2 to 2.5 and 3.1 to 3.5, with these corrections: the fraction of 2.2 is -alpha/beta; positive angles are
// clockwise seen from +z; the single root of a = 0 is -c/(2b); the sign of the fraction in 3.1; in 3.3 a
// vertex that leaves the zone is not stopped; in 3.4 the motion at the contact decides whether a root counts.
//
// The expel zone is a layer in front of every polygon and edge, thicker than all rounding. A feature that
// reaches it stops; one that starts inside may move along it and outwards, never deeper.
//
// Rotations are about the z axis through the origin: transform the features first. They are clockwise seen
// from +z, so a right-handed rotation about an axis needs z against that axis. Angles are below pi.
//
// Thread: RT, every function.
#ifndef TAC_COLLISION_CONTINUOUS_FEATURE_H
#define TAC_COLLISION_CONTINUOUS_FEATURE_H

#include "base/algebra.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// g(theta) = v2 cos theta + v1 sin theta + (start - v2): the distance of a rotating vertex from a plane, or
// the side product of a rotating edge and a fixed one. `start` = g(0) is stored instead of the constant term,
// because it is the small number near contact.
typedef struct tac_feature_arc {
	double start, v1, v2;
} tac_feature_arc;

// The zeros of an arc as r = tan(theta / 2), which increases with theta on [0, pi), so that they are compared
// without an arc tangent. Infinite: at pi. Negative: beyond pi.
typedef struct tac_feature_roots {
	bool exist;
	double enter; // where g falls
	double leave; // where g rises
} tac_feature_roots;

// The vertex `a` and a plane with the unit normal. `start` is the distance of a from the plane, which the
// caller computes from differences. For a fixed vertex and a rotating plane, negate v1 of the result.
tac_feature_arc tac_feature_arc_vertex(tac_dvec3 a, tac_dvec3 normal, double start);

// The rotating edge a→b and the fixed edge c→d.
tac_feature_arc tac_feature_arc_edge(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d);

tac_feature_roots tac_feature_arc_roots(tac_feature_arc arc);

// The point rotated by theta = 2 atan(r), clockwise.
static inline tac_dvec3 tac_feature_turn(tac_dvec3 a, double r)
{
	double k = 1 / (1 + r * r), c = (1 - r * r) * k, s = 2 * r * k;
	return tac_dvec3_make(a.x * c + a.y * s, a.y * c - a.x * s, a.z);
}

// The velocity of the rotating point x, per radian.
static inline tac_dvec3 tac_feature_tangent(tac_dvec3 x)
{
	return tac_dvec3_make(x.y, -x.x, 0);
}

// The fraction of the translation `v` after which the lines a→b (moving) and c→d meet, which may be outside
// of [0, 1]; NaN when v, b - a and d - c are linearly dependent, which is no collision of edges.
double tac_feature_translate_edges(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 v);

// --- the expel zone; each function returns the safe fraction of the motion, in [0, 1] ---

// 3.1: a vertex at the distance `alpha` in front of a plane moves along its normal by `beta`. 1 when it is
// behind the plane.
double tac_zone_translate_vertex(double alpha, double beta, double zone);

// 3.2: `line` and `offset` are the fractions to the fixed edge and to its offset line.
double tac_zone_translate_edge(double line, double offset);

// 3.3: a rotation by `angle` in (0, pi).
double tac_zone_rotate_vertex(tac_feature_arc arc, double zone, double angle);

// 3.4: the edge a→b rotates by `angle` towards the fixed edge c→d with the offset vector w. *out_point is the
// contact on the offset line; not set when the result is 1.
double tac_zone_rotate_edge(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 w, double angle,
			    tac_dvec3 *out_point);

// The offset of the line of an edge between polygons with the unit normals n1 and n2. It lies on both offset
// planes, but at a sharp edge it is at most twice the zone long.
tac_dvec3 tac_zone_offset(tac_dvec3 n1, tac_dvec3 n2, double zone);

// The same for an edge of one polygon: outwards in its plane. `along` is the counter-clockwise unit
// direction.
tac_dvec3 tac_zone_offset_dangling(tac_dvec3 along, tac_dvec3 normal, double zone);

#ifdef __cplusplus
}
#endif

#endif
