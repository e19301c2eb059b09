// The distance from points to a mesh by brute force in long double, and random points of a mesh.
#ifndef TAC_TESTS_SUPPORT_SURFACE_DISTANCE_H
#define TAC_TESTS_SUPPORT_SURFACE_DISTANCE_H

#include "base/rng.h"
#include "collision/mesh.h"
#include "tests/support/sweep_referee.h"

#include <math.h>
#include <unity.h>

static inline ref_vec ref_point(tac_dvec3 p)
{
	return (ref_vec){p.x, p.y, p.z};
}

static inline double distance_to_triangle(tac_dvec3 p, const tac_mesh *mesh, int32_t t)
{
	ref_vec v[3], at = ref_point(p);
	for (int k = 0; k < 3; k++)
		v[k] = ref_point(tac_mesh_corner(mesh, t, k));
	real least = ref_point_face(at, v);
	for (int k = 0; k < 3; k++)
		least = ref_min(least, ref_point_segment(at, v[k], v[(k + 1) % 3]));
	return (double)sqrtl(least);
}

static inline double distance_to(tac_dvec3 p, const tac_mesh *mesh, double reach)
{
	double least = reach;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		tac_dvec3 a = tac_mesh_corner(mesh, t, 0), b = tac_mesh_corner(mesh, t, 1),
			  c = tac_mesh_corner(mesh, t, 2);
		tac_dvec3 lo = tac_dvec3_min(a, tac_dvec3_min(b, c)),
			  hi = tac_dvec3_max(a, tac_dvec3_max(b, c));
		if (p.x >= lo.x - least && p.x <= hi.x + least && p.y >= lo.y - least &&
		    p.y <= hi.y + least && p.z >= lo.z - least && p.z <= hi.z + least)
			least = fmin(least, distance_to_triangle(p, mesh, t));
	}
	return least;
}

static inline tac_dvec3 random_on(const tac_mesh *mesh, int32_t t, tac_rng *rng)
{
	double u = tac_rng_f64(rng), v = tac_rng_f64(rng);
	if (u + v > 1) {
		u = 1 - u;
		v = 1 - v;
	}
	if (tac_rng_below(rng, 4) == 0) // on an edge
		v = 0;
	tac_dvec3 a = tac_mesh_corner(mesh, t, 0);
	tac_dvec3 p = tac_dvec3_add_scaled(a, u, tac_dvec3_sub(tac_mesh_corner(mesh, t, 1), a));
	return tac_dvec3_add_scaled(p, v, tac_dvec3_sub(tac_mesh_corner(mesh, t, 2), a));
}

// Random points of one surface are within `reach` of the other.
static inline void assert_within(const tac_mesh *from, const tac_mesh *to, double reach, int samples,
				 tac_rng *rng)
{
	for (int i = 0; i < samples; i++) {
		int32_t t = (int32_t)tac_rng_below(rng, (uint32_t)from->triangle_count);
		tac_dvec3 p = i % 2 ? random_on(from, t, rng) : tac_mesh_corner(from, t, i % 3);
		TEST_ASSERT_TRUE(distance_to(p, to, 10 * reach) <= reach);
	}
}

#endif
