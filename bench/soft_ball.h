// A soft ball of 60 mm that stands on a fixed base, of linear elements: the body that is prepared and pressed
// in benchmarks.
#ifndef TAC_BENCH_SOFT_BALL_H
#define TAC_BENCH_SOFT_BALL_H

#include "collision/mesh_shapes.h"
#include "tissue/elastic.h"

#define SOFT_BALL_RADIUS_M 0.06
#define SOFT_BALL_LARGE_M  0.00196 // the spacing of about 10,000 touched nodes

// A mesh for the caller to destroy. NULL: no memory.
static inline tac_mesh *soft_ball_mesh(void)
{
	tac_mesh *mesh = NULL;
	tac_mesh_build_icosphere((float)SOFT_BALL_RADIUS_M, 5, &mesh);
	return mesh;
}

static inline tac_elastic_def soft_ball(const tac_mesh *mesh, double spacing_m)
{
	tac_elastic_def def = tac_elastic_def_default();
	def.name = "ball";
	def.mesh = mesh;
	def.spacing_m = spacing_m;
	def.fixed[0] = (tac_elastic_fixed){.low_m = tac_dvec3_splat(-1), .high_m = {1, 1, -0.04}};
	def.fixed_count = 1;
	return def;
}

#endif
