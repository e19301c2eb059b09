// Round8: a sphere or a capsule against the triangles of a leaf, eight at a time in single precision. Its
// decisions are proved: a hit by a point of each that are near enough, a miss by a plane between the two.
// Lanes that it leaves undecided are for the test in double precision. All SIMD variants decide alike.
#ifndef TAC_COLLISION_ENGINES_ROUND8_H
#define TAC_COLLISION_ENGINES_ROUND8_H

#include "base/algebra.h"
#include "base/simd.h"
#include "collision/trees/leaf8.h"

#ifdef __cplusplus
extern "C" {
#endif

// All points within `radius` of a segment, which has no length for a sphere. In the triangles' frame, m.
typedef struct tac_round8 {
	float start[3], axis[3]; // of the segment: one end, and from there to the other
	float radius;
	float error; // of coordinates and distances in single precision, including tolerances
	bool is_sphere;
} tac_round8;

// The round solid around the segment from a to b, for triangles whose |coordinates| are at most `extent`.
// Triangles whose distance differs from the radius by a few eps or less are left undecided. Metres.
// Thread: RT.
tac_round8 tac_round8_make(tac_dvec3 a, tac_dvec3 b, double radius, double extent, double eps);

// Returns those of the lanes that certainly meet it; *out_undecided are the undecided ones.
// Thread: RT.
typedef unsigned tac_round8_fn(const tac_round8 *round, const tac_leaf8 *leaf, unsigned lanes,
			       unsigned *out_undecided);
TAC_SIMD_DECLARE(tac_round8_fn, tac_round8_meets);

// The variant for an instruction set; NULL if it was not built.
// Thread: setup.
tac_round8_fn *tac_round8_of(tac_simd simd);

#ifdef __cplusplus
}
#endif

#endif
