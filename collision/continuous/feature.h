// Features in motion: when a moving vertex meets a fixed plane and a moving edge a fixed edge, for
// translations and rotations, and where to stop in front of them. From J. M. P. van Waveren (2005),
// sections 2.2 to 2.5 and 3.1 to 3.5, with these corrections: the fraction of 2.2 is -alpha/beta; positive
// angles are clockwise seen from +z; the single root of a = 0 is -c/(2b); in section 3.1 the sign of the
// fraction; in 3.3 a vertex on its way out of the zone is not stopped; in 3.4 a root is judged by the motion
// at the contact.
//
// The expel zone is a layer of thickness e in front of every polygon and edge, wider than all rounding. What
// reaches it stops; what starts inside may move along and outwards, never deeper.
//
// Rotations are about the z axis through the origin: transform the features first. They turn by -theta in the
// usual sense; a rotation by +theta about an axis is one with z along its opposite. Angles are below pi.
//
// Thread: RT, every function.
#ifndef TAC_COLLISION_CCD_FEATURE_H
#define TAC_COLLISION_CCD_FEATURE_H

#include "base/algebra.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// g(theta) = v2 cos theta + v1 sin theta + (start - v2): the distance of a rotating vertex from a plane, or
// the side product of a rotating edge and a fixed one. `start` = g(0) is kept, not the constant term, because
// it is the small number near contact.
typedef struct tac_ccd_arc {
	double start, v1, v2;
} tac_ccd_arc;

// The zeros of an arc as r = tan(theta / 2), which rises with theta on [0, pi): comparing r needs no arc
// tangent. Infinite: at pi. Negative: beyond pi.
typedef struct tac_ccd_roots {
	bool exist;
	double enter; // where g falls
	double leave; // where g rises
} tac_ccd_roots;

// The vertex `a` and the plane normal·x + offset = 0, unit normal. `start` is the distance of a from it,
// better computed by the caller from differences. For a fixed vertex and a rotating plane negate v1.
tac_ccd_arc tac_ccd_arc_vertex(tac_dvec3 a, tac_dvec3 normal, double start);

// The rotating edge a→b and the fixed edge c→d.
tac_ccd_arc tac_ccd_arc_edge(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d);

tac_ccd_roots tac_ccd_arc_roots(tac_ccd_arc arc);

// The point turned by theta = 2 atan(r), clockwise; and its direction of motion there, by radian.
static inline tac_dvec3 tac_ccd_turn(tac_dvec3 a, double r)
{
	double k = 1 / (1 + r * r), c = (1 - r * r) * k, s = 2 * r * k;
	return tac_dvec3_make(a.x * c + a.y * s, a.y * c - a.x * s, a.z);
}

static inline tac_dvec3 tac_ccd_tangent(tac_dvec3 x)
{
	return tac_dvec3_make(x.y, -x.x, 0);
}

// The fraction of the translation `v` after which the lines a→b (moving) and c→d meet: -infinity to infinity;
// NaN when v, b - a and d - c are linearly dependent, which is no collision of edges.
double tac_ccd_translate_edges(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 v);

// --- the expel zone; each answers the safe fraction of the motion, in [0, 1] ---

// 3.1: a vertex at the distance `alpha` in front of a plane, moving along its normal by `beta`. Behind the
// plane it is not this polygon's: 1.
double tac_ccd_zone_translate_vertex(double alpha, double beta, double zone);

// 3.2: `line` and `offset` are the fractions to the fixed edge and to its offset line.
double tac_ccd_zone_translate_edge(double line, double offset);

// 3.3: a rotation by `angle` in (0, pi).
double tac_ccd_zone_rotate_vertex(tac_ccd_arc arc, double zone, double angle);

// 3.4: the edge a→b rotating by `angle` towards the fixed edge c→d with the offset vector w. *out_point is
// the contact on the offset line; unset when the answer is 1.
double tac_ccd_zone_rotate_edge(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 w, double angle,
				tac_dvec3 *out_point);

// The offset of the line of an edge between polygons with the unit normals n1 and n2: on both offset planes,
// but, at a sharp edge, no longer than twice the zone.
tac_dvec3 tac_ccd_zone_offset(tac_dvec3 n1, tac_dvec3 n2, double zone);

// The same at an edge of one polygon: outwards in its plane. `along` is the counter-clockwise unit direction.
tac_dvec3 tac_ccd_zone_offset_dangling(tac_dvec3 along, tac_dvec3 normal, double zone);

#ifdef __cplusplus
}
#endif

#endif
