// Round8: a sphere or a capsule against the triangles of a leaf, eight at once in single precision. What it
// says is proved: a hit by two points of the two that are near enough, a miss by a plane between them; it
// says which lanes it leaves to the test in double precision. Every SIMD variant says the same.
#ifndef TAC_COLLISION_ROUND8_H
#define TAC_COLLISION_ROUND8_H

#include "base/algebra.h"
#include "base/simd.h"
#include "collision/leaf8.h"

#ifdef __cplusplus
extern "C" {
#endif

// All points within `radius` of the segment; a sphere's has no length. In the frame of the triangles, m.
typedef struct tac_round {
	float from[3], along[3]; // its beginning, and from there to its end
	float radius;
	float error; // of coordinates and distances in single precision, tolerances included
	bool sphere;
} tac_round;

// The round solid around the segment between a and b, for triangles whose coordinates are at most `extent`.
// Distances to it that differ from its radius by no more than a few eps are left open.
// Thread: RT.
tac_round tac_round_make(tac_dvec3 a, tac_dvec3 b, double radius, double extent, double eps);

// Those of the lanes that meet it for sure; *out_open: those that it does not decide.
// Thread: RT.
typedef unsigned tac_round8_fn(const tac_round *round, const tac_leaf8 *leaf, unsigned lanes,
			       unsigned *out_open);
TAC_SIMD_DECLARE(tac_round8_fn, tac_round8_meets);

// The variant of an instruction set; NULL where it is not built.
// Thread: setup.
tac_round8_fn *tac_round8_of(tac_simd simd);

#ifdef __cplusplus
}
#endif

#endif
