// bench_counted QUERY [ENGINE]: runs one of three fixed queries once, so that its instructions can be
// counted:
//
//	valgrind --tool=callgrind --toggle-collect=tac_collider_query bench_counted 0|1|2
//
// 0: first hit, 1: no hit, 2: all pairs; two tori of 24,576 triangles; TACTUS_SIMD selects the variant.
// bench/count counts them all; bench/results/callgrind.csv has the latest counts.
#include "collision/collider.h"
#include "collision/mesh_shapes.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int query = argc > 1 ? atoi(argv[1]) : 0;
	const char *name = argc > 2 ? argv[2] : "wide";
	const tac_collider *c = tac_collider_find(name);
	tac_context_def def = tac_context_def_default();
	tac_context *context;
	tac_mesh *mesh;
	tac_shape *shape;
	if (!c || query < 0 || query > 2 || tac_context_create(&def, &context) < 0 ||
	    tac_mesh_build_torus(1.0F, 0.35F, 128, 96, &mesh) < 0 || tac_shape_build(c, mesh, &shape) < 0)
		return 1;
	tac_quat q = tac_quat_from_axis_angle(tac_vec3_normalize(tac_vec3_make(1.0F, 0.7F, 0.3F)), 1.1F);
	tac_rigid motion = {tac_mat3_from_quat(q), {1.3F, 0.2F, 0.1F}};
	if (query == 1) // two links of a chain
		motion = (tac_rigid){{{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}}, {0.75F, 0, 0}};
	tac_overlap answer =
		tac_collider_query(c, context, shape, shape, &motion,
				   query == 2 ? TAC_QUERY_PAIRS : TAC_QUERY_FIRST, (tac_budget){0, 0});
	printf("%s %s query %d: contact %d, %lld pairs\n", c->name, c->variant, query, (int)answer,
	       (long long)context->pair_count);
	return 0;
}
