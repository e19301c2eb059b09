// DOP: 24-DOPs, the bounding volumes of the CollisionChip (docs/collisionchip.md): the intersection of 24
// half-spaces with fixed directions, stored as its support values. A DOP that tumbles relative to another
// frame is bounded there by another DOP, each of whose values is a linear combination of three of the old
// ones plus a constant. The combination depends only on the motion, so it is computed once per query.
// Rounding is always outwards: a bound never misses a point.
#ifndef TAC_COLLISION_TREES_DOP_H
#define TAC_COLLISION_TREES_DOP_H

#include "base/algebra.h"
#include "base/result.h"
#include "base/simd.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_DOP_SIZE  24
#define TAC_DOP_FACES 44 // triangles of the convex hull of the directions

// The first 12 unit directions; direction i + 12 is opposite to direction i.
extern const double tac_dop_directions[TAC_DOP_SIZE / 2][3];

// d[i] = max direction_i · x over the bounded points.
typedef struct tac_dop {
	float d[TAC_DOP_SIZE] __attribute__((aligned(32)));
} tac_dop;

// A triangle of the hull, and the inverse of the matrix whose columns are its three directions.
typedef struct tac_dop_face {
	int32_t direction[3];
	double inverse[3][3];
} tac_dop_face;

// The transformation of a DOP to the fixed frame (C, j and c of the paper), lane by lane: bound i is Σ_k
// weight[k][i] d[index[k][i]] + offset[i].
typedef struct tac_dop_motion {
	float weight[3][TAC_DOP_SIZE] __attribute__((aligned(32)));
	int32_t index[3][TAC_DOP_SIZE];
	float offset[TAC_DOP_SIZE];
} tac_dop_motion;

// The 44 triangles of the directions' convex hull; opposite triangles are 22 apart. The first call computes
// them.
// Thread: setup for the first call (every engine over DOPs makes it when it is selected), then RT.
const tac_dop_face *tac_dop_faces(void);

// An empty DOP: every support value is -FLT_MAX.
// Thread: any.
tac_dop tac_dop_empty(void);

// Extends the DOP to contain the point, rounding up.
// Thread: any.
void tac_dop_add_point(tac_dop *dop, tac_vec3 point);

// Extends the DOP to contain another.
// Thread: any.
void tac_dop_add_dop(tac_dop *dop, const tac_dop *other);

// The transformation for `motion`. `extent` is the largest |d| that will be transformed: the offsets are
// widened by more than all rounding errors up to that size. 0 leaves the offsets unwidened.
// Thread: RT, after the first call of tac_dop_faces; otherwise setup.
void tac_dop_motion_init(tac_dop_motion *out_rows, const tac_rigid *motion, float extent);

// The DOP in the fixed frame that bounds a DOP of the moving frame.
// Thread: any.
tac_dop tac_dop_transform(const tac_dop_motion *rows, const tac_dop *dop);

// Whether one of the 12 slabs separates two DOPs of one frame; sharing a plane is overlap.
// Thread: any.
bool tac_dop_disjoint(const tac_dop *a, const tac_dop *b);

// The chip's comparator: an unsigned key in the order of the floats, -0 equal to +0. Returns false for NaN
// (the chip's ERR_NAN).
// Thread: any.
bool tac_dop_key(float value, uint32_t *out_key);

// The kernel that finds the face of the hull that each of 12 unit directions (lane by lane) pierces.
typedef void tac_dop_locate_fn(const float inverse[9 * 24], const float direction[3 * 12],
			       int32_t out_face[12]);
TAC_SIMD_DECLARE(tac_dop_locate_fn, tac_dop_locate);

#ifdef __cplusplus
}
#endif

#endif
