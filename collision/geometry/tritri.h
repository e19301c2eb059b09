// Triangle against triangle. Closed mode decides exactly, for double coordinates, whether two triangles share
// a point; touching at a vertex, along an edge or in a plane counts. It combines the test of O. Devillers and
// P. Guigue, "Faster triangle-triangle intersection tests", INRIA RR-4488, 2002, with exact predicates. Paper
// mode is the CollisionChip's test (docs/collisionchip.md): map one triangle to the unit triangle, then apply
// Equation 4 of the paper to each edge of the other. It misses contacts where an edge ends in the other
// plane, and exists for the model of the chip.
#ifndef TAC_COLLISION_GEOMETRY_TRITRI_H
#define TAC_COLLISION_GEOMETRY_TRITRI_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Vertices, then coordinates.
typedef struct tac_tri32 {
	float v[3][3];
} tac_tri32;

typedef struct tac_tri64 {
	double v[3][3];
} tac_tri64;

// Whether the closed triangles a and b have a common point, without rounding error. Either may have collapsed
// to a segment or a point as long as the other has area.
// Thread: RT.
bool tac_tritri_closed(const tac_tri64 *a, const tac_tri64 *b);

// The affine map of a triangle W to (0,0,0), (1,0,0), (0,1,0): rows (m0, m1, m2, −m·W1) of M = [W2−W1, W3−W1,
// n]⁻¹, n the unit normal, so that z is the distance to the plane in the unit of W.
typedef struct tac_unitmap {
	float m[3][4];
} tac_unitmap;

// Fills *out_map. Returns false, with zeros, for a sliver: |e1×e2| ≤ 1e-12 of its longest edge squared.
// Thread: setup.
bool tac_unitmap_build(const tac_tri32 *w, tac_unitmap *out_map);

// Maps a point to unit-triangle coordinates.
// Thread: RT.
void tac_unitmap_apply(const tac_unitmap *map, const float point[3], float out[3]);

// Equation 4: whether the segment p–q, in unit-triangle coordinates, strictly crosses the plane z = 0 inside
// the unit triangle.
// Thread: RT.
bool tac_tritri_pierces(const float p[3], const float q[3]);

// The printed test in one common frame: edges of a against b, then edges of b against a. Each map belongs to
// the triangle of the same name.
// Thread: RT.
bool tac_tritri_paper(const tac_tri32 *a, const tac_unitmap *map_a, const tac_tri32 *b,
		      const tac_unitmap *map_b);

#ifdef __cplusplus
}
#endif

#endif
