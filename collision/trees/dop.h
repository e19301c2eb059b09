// DOP: 24-DOPs, the bounding volumes of the CollisionChip paper: the intersection of 24 half-spaces with
// fixed directions, stored as its support values (SPEC.md A.1, D-A1 and D-A2). A DOP that tumbles in another
// frame is bounded there by another DOP, each of whose values is a combination of three of the old ones and a
// constant; the combination depends on the motion alone, so it is found once a query (A.2). Everything that
// is rounded is rounded outwards (D-A3): a bound never misses a point.
#ifndef TAC_COLLISION_DOP_H
#define TAC_COLLISION_DOP_H

#include "base/simd.h"
#include "collision/collider.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_DOP_SIZE  24
#define TAC_DOP_FACES 44 // triangles on the hull of the directions

// The first 12 unit directions; direction i + 12 is the opposite of i.
extern const double tac_dop_directions[TAC_DOP_SIZE / 2][3];

// d[i] = max direction_i · x over the points bounded.
typedef struct tac_dop {
	float d[TAC_DOP_SIZE] __attribute__((aligned(32)));
} tac_dop;

// A triangle of the hull, and the inverse of the matrix whose columns are its three directions.
typedef struct tac_dop_face {
	int32_t direction[3];
	double inverse[3][3];
} tac_dop_face;

// The rows of the transformation (C, j and c of the paper), lane by lane: bound i in the fixed frame is
// Σ_k weight[k][i] d[index[k][i]] + offset[i].
typedef struct tac_dop_motion {
	float weight[3][TAC_DOP_SIZE] __attribute__((aligned(32)));
	int32_t index[3][TAC_DOP_SIZE];
	float offset[TAC_DOP_SIZE];
} tac_dop_motion;

// The 44 triangles of the boundary of the directions' hull; opposite triangles are 22 apart.
// Thread: RT, after any engine over DOPs was found, or setup.
const tac_dop_face *tac_dop_faces(void);

// A DOP that contains nothing: every support is -FLT_MAX.
// Thread: any.
tac_dop tac_dop_empty(void);

// Extends the DOP to the point, rounding up. Thread: any.
void tac_dop_add_point(tac_dop *dop, tac_vec3 point);

// Extends the DOP to another. Thread: any.
void tac_dop_add_dop(tac_dop *dop, const tac_dop *other);

// The rows for `motion`. `extent` is the largest |d| that will be transformed: with it the offsets are
// widened by more than all roundings. 0 leaves the offsets as they are. Thread: RT, after any engine over
// DOPs was found, or setup.
void tac_dop_motion_init(tac_dop_motion *out_rows, const tac_motion *motion, float extent);

// The DOP in the fixed frame around a DOP of the moving one.
// Thread: any.
tac_dop tac_dop_transform(const tac_dop_motion *rows, const tac_dop *dop);

// Whether one of the 12 slabs separates two DOPs of one frame; sharing a plane is overlap.
// Thread: any.
bool tac_dop_disjoint(const tac_dop *a, const tac_dop *b);

// The comparator of the chip: an unsigned key whose order is the order of floats, -0 equal to +0. Returns
// false for NaN, the chip's ERR_NAN. Thread: any.
bool tac_dop_key(float value, uint32_t *out_key);

// Private to collision/: finds the face of the hull that each of 12 unit directions (lane by lane) pierces.
typedef void tac_dop_locate_fn(const float inverse[9 * 24], const float direction[3 * 12],
			       int32_t out_face[12]);
TAC_SIMD_DECLARE(tac_dop_locate_fn, tac_dop_locate);

#ifdef __cplusplus
}
#endif

#endif
