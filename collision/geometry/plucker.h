// Plücker coordinates of directed lines, and the side product, whose sign gives the side on which two lines
// pass each other. From J. M. P. van Waveren, "Robust continuous collision detection between arbitrary
// polyhedra using trajectory parameterization of polyhedral features" (2005), section 2.1, with the
// components in the order of that paper.
//
// The side product of the lines a→b and c→d is the determinant of the rows (a,1) (b,1) (c,1) (d,1): six times
// the signed volume of the tetrahedron. A ray that hits the front of a counter-clockwise polygon has a
// positive product with every edge; a ray from behind has negative ones.
//
// Without fused multiply-add, which the build disables, the coordinates of a reversed line are exactly
// negated. A ray through an edge must hit exactly one of its two polygons, also where rounding decides. So
// the product is evaluated with the edge in one direction, and the polygon that traverses the edge in the
// other direction takes the complement: see tac_plucker_front.
//
// Thread: RT, every function.
#ifndef TAC_COLLISION_GEOMETRY_PLUCKER_H
#define TAC_COLLISION_GEOMETRY_PLUCKER_H

#include "base/algebra.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_plucker {
	double p[6];
} tac_plucker;

// The line from `a` through `b`.
static inline tac_plucker tac_plucker_line(tac_dvec3 a, tac_dvec3 b)
{
	tac_plucker l = {{a.x * b.y - b.x * a.y, a.x * b.z - b.x * a.z, a.x - b.x, a.y * b.z - b.y * a.z,
			  a.z - b.z, b.y - a.y}};
	return l;
}

// The line from `a` along `v`: as tac_plucker_line(a, a + v), without the cancellation.
static inline tac_plucker tac_plucker_ray(tac_dvec3 a, tac_dvec3 v)
{
	tac_plucker l = {
		{a.x * v.y - v.x * a.y, a.x * v.z - v.x * a.z, -v.x, a.y * v.z - v.y * a.z, -v.z, v.y}};
	return l;
}

static inline double tac_plucker_side(const tac_plucker *a, const tac_plucker *b)
{
	const double *p = a->p, *q = b->p;
	return p[0] * q[4] + p[1] * q[5] + p[2] * q[3] + p[4] * q[0] + p[5] * q[1] + p[3] * q[2];
}

// Whether the ray passes through the front of a convex polygon. `edges` are its edges, each in a direction
// that both polygons at the edge agree on (for example the lower vertex index first); bit k of `reversed` is
// set if the polygon traverses edge k in the opposite direction.
static inline bool tac_plucker_front(const tac_plucker *ray, const tac_plucker *edges, uint32_t reversed,
				     int edge_count)
{
	for (int k = 0; k < edge_count; k++) {
		bool positive = tac_plucker_side(ray, &edges[k]) > 0;
		if (positive == (bool)(reversed >> k & 1))
			return false;
	}
	return true;
}

// A cache of the signs of a ray's products with the edges of a mesh, one bit each, so that an edge is
// evaluated once for both of its polygons. The caller owns the memory, (edges + 31) / 32 words each, and
// clears `valid` for a new ray.
typedef struct tac_plucker_signs {
	uint32_t *valid, *positive;
	int64_t evaluated; // products computed
} tac_plucker_signs;

// As tac_plucker_front for the edges `ids` of a mesh whose edges have the lines `lines`; `signs` may be NULL.
static inline bool tac_plucker_front_of(const tac_plucker *ray, const tac_plucker *lines, const int32_t *ids,
					uint32_t reversed, int edge_count, tac_plucker_signs *signs)
{
	for (int k = 0; k < edge_count; k++) {
		uint32_t word = (uint32_t)ids[k] / 32, bit = 1u << (uint32_t)ids[k] % 32;
		bool positive;
		if (signs && (signs->valid[word] & bit)) {
			positive = (signs->positive[word] & bit) != 0;
		} else {
			positive = tac_plucker_side(ray, &lines[ids[k]]) > 0;
			if (signs) {
				signs->valid[word] |= bit;
				signs->positive[word] =
					positive ? signs->positive[word] | bit : signs->positive[word] & ~bit;
				signs->evaluated++;
			}
		}
		if (positive == (bool)(reversed >> k & 1))
			return false;
	}
	return true;
}

#ifdef __cplusplus
}
#endif

#endif
