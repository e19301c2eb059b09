// The exact compliance of an elastic half-space whose surface is the plane z = 0, as closed forms: J.
// Boussinesq 1885 and V. Cerruti 1882, in K. L. Johnson, "Contact Mechanics", 1985, 3.2 and 3.6. The material
// is below the plane.
#ifndef TAC_BENCH_HALF_SPACE_H
#define TAC_BENCH_HALF_SPACE_H

#include "base/algebra.h"

#include <math.h>
#include <stdint.h>

typedef struct half_space {
	double young_Pa, poisson;
	const tac_vec3 *places; // of the nodes, in the plane
	double cell_m;          // side of the square over which a node's force is spread
} half_space;

// The displacement at (x, y) under a unit force at the origin, m/N.
static inline tac_dmat3 half_space_point(double E, double nu, double x, double y)
{
	const double pi = 3.14159265358979323846, r2 = x * x + y * y, r = sqrt(r2);
	const double k = (1 + nu) / (pi * E);
	const double normal = -(1 - 2 * nu) / (2 * r2);
	const tac_dmat3 c = {
		{{k * ((1 - nu) / r + nu * x * x / (r * r2)), k * nu * x * y / (r * r2), -k * normal * x},
		 {k * nu * x * y / (r * r2), k * ((1 - nu) / r + nu * y * y / (r * r2)), -k * normal * y},
		 {k * normal * x, k * normal * y, k * (1 - nu) / r}}};
	return c;
}

// Under a node's own force, spread evenly over its cell: A. E. H. Love 1929, in the cell's middle. Along the
// plane the mean over directions of the point force.
static inline tac_dmat3 half_space_own(double E, double nu, double cell_m)
{
	const double pi = 3.14159265358979323846;
	const double mean_1_r = 4 * log(1 + sqrt(2)) / cell_m; // integral of 1 / r over the cell, per area
	const double k = (1 + nu) / (pi * E) * mean_1_r;
	const tac_dmat3 c = {
		{{k * (1 - nu + nu / 2), 0, 0}, {0, k * (1 - nu + nu / 2), 0}, {0, 0, k * (1 - nu)}}};
	return c;
}

// For tac_compliance_def.block.
static inline tac_dmat3 half_space_block(const void *user, int32_t i, int32_t j)
{
	const half_space *h = (const half_space *)user;
	if (i == j)
		return half_space_own(h->young_Pa, h->poisson, h->cell_m);
	return half_space_point(h->young_Pa, h->poisson, (double)h->places[i].x - (double)h->places[j].x,
				(double)h->places[i].y - (double)h->places[j].y);
}

#endif
