// Nested: a sphere face of one body inside one of the other, of nearly the same radius (a ball in a socket).
// The distance between the two centres bounds the distance of all their triangles from below, so queries
// leave the pairs of these triangles out (tac_swept_motion.without). The bound is at most the thickness of
// both faces too small: a contact is where the spheres touch, not where their facets do.
//
// Let d lead from the outer centre to the inner one, rho be the inner radius of the outer face and r the
// outer radius of the inner one. A point of the outer face in the direction u is at least sqrt(rho^2 - 2 rho
// u.d + |d|^2) away from the inner centre. The least of that, over the directions in which both faces are,
// less r, is the gap. As a function of the inner centre its slope is at most 1.
#ifndef TAC_COLLISION_CONTINUOUS_NESTED_H
#define TAC_COLLISION_CONTINUOUS_NESTED_H

#include "collision/continuous/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

// The bit of face i of the moving body and face j of the fixed one in tac_swept_motion.without.
static inline uint16_t tac_nested_bit(int32_t i, int32_t j)
{
	return (uint16_t)(1u << (i * TAC_SPHERE_FACES_MAX + j));
}

// The pairs of faces that are nested during all of a motion, with a gap above 0.2 µm at its start. It does
// not depend on `without`. Thread: RT.
uint16_t tac_nested_find(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep);

// A half-space in which the centre of the inner face must stay relative to the outer one: the ball in which
// it may be is the intersection of many.
typedef struct tac_nested_plane {
	double gap;              // how far the centre may still go against the normal, m
	tac_dvec3 normal, point; // as in tac_contact_point
	// The place on each face: unit vectors from their centres, in the frames of their bodies.
	tac_dvec3 on_moving, on_fixed;
} tac_nested_plane;

// The most planes of a pair. With one alone a mover would overshoot: the radius of that ball is the
// clearance, often less than a step.
#define TAC_NESTED_PLANES 19

// Writes the planes of face i of the moving body and face j of the fixed one at the pose T with gaps below
// `margin` (m), the closest one first. Returns their number. Thread: RT.
int32_t tac_nested_planes_at(const tac_body *moving, int32_t i, const tac_body *fixed, int32_t j,
			     const tac_drigid *T, double margin, tac_nested_plane out[TAC_NESTED_PLANES]);

// A motion: its pose at the fraction s, its turn (rad) and the longest path of the moving face's centre, m.
typedef struct tac_nested_motion {
	tac_drigid (*pose)(const void *user, double s);
	const void *user;
	double turn, path;
} tac_nested_motion;

// The fraction of a motion during which the gap is proved to be at least `threshold` (m). Counts its work in
// the context, which may be NULL. Thread: RT.
double tac_nested_prove(const tac_body *moving, int32_t i, const tac_body *fixed, int32_t j,
			const tac_nested_motion *motion, double threshold, tac_sweep_context *context);

#ifdef __cplusplus
}
#endif

#endif
