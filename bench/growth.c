// bench_growth [LARGEST]: the time of first hit and all pairs against the number of triangles, with build
// time and memory, for each engine: tori of 1,000 to a million triangles in the same 48 poses. Minimum of 5
// runs of each pose, mean and maximum over the poses.
#include "apps/terminal/terminal.h"
#include "collision/chip_collider.h"
#include "collision/collider.h"
#include "collision/mesh_shapes.h"
#include "rt/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POSES 48

static tac_rigid pose(int i)
{
	tac_quat q = tac_quat_from_axis_angle(tac_vec3_normalize(tac_vec3_make(1.0F, 0.7F, 0.3F)),
					      0.131F * (float)i);
	return (tac_rigid){tac_mat3_from_quat(q), tac_vec3_make(1.5F, 0.2F, 0.1F)};
}

int main(int argc, char **argv)
{
	int32_t largest = argc > 1 ? atoi(argv[1]) : 1100000;
	tac_context_def def = tac_context_def_default();
	def.pair_capacity = 1 << 20;
	def.scratch_bytes = (size_t)64 << 20;
	tac_context *context;
	if (tac_context_create(&def, &context) < 0)
		return 1;
	context->coherent = false;
	tac_collider_add(tac_chip_collider());
	printf("%9s %-8s %9s %8s | %9s %9s | %9s %9s %9s\n", "triangles", "engine", "build ms", "B/tri",
	       "first us", "max", "pairs us", "max", "pairs");
	terminal shown = {0};
	int step = 0, steps = 0;
	for (int32_t sides = 16; 2 * sides * 2 * sides <= largest; sides *= 2)
		for (int e = 0; tac_collider_at(e); e++)
			steps++;
	for (int32_t sides = 16; 2 * sides * 2 * sides <= largest; sides *= 2) {
		tac_mesh *mesh;
		if (tac_mesh_build_torus(1.0F, 0.35F, 2 * sides, sides, &mesh) < 0)
			return 1;
		for (int e = 0; tac_collider_at(e); e++) {
			const tac_collider *c = tac_collider_at(e);
			terminal_step(&shown, "measuring", ++step, steps, c->name);
			tac_shape *shape;
			int64_t start = tac_clock_thread_cpu_ns(); // other processes do not count
			if (tac_shape_build(c, mesh, &shape) < 0)
				return 1;
			double build_ms = (double)(tac_clock_thread_cpu_ns() - start) * 1e-6;
			const double bytes = (double)shape->bytes / mesh->triangle_count;
			double mean[2] = {0}, worst[2] = {0};
			int64_t pairs = 0;
			for (int mode = 0; mode < 2; mode++) {
				for (int i = 0; i < POSES; i++) {
					tac_rigid motion = pose(i);
					double us = (double)INFINITY;
					for (int r = 0; r < 5; r++) {
						start = tac_clock_now_ns();
						tac_collider_query(c, context, shape, shape, &motion,
								   mode ? TAC_QUERY_PAIRS : TAC_QUERY_FIRST,
								   (tac_budget){0, 0});
						us = fmin(us, (double)(tac_clock_now_ns() - start) * 1e-3);
					}
					mean[mode] += us / POSES;
					worst[mode] = fmax(worst[mode], us);
					pairs += mode ? context->pair_count : 0;
				}
			}
			terminal_clear(&shown);
			printf("%9d %-8s %9.1f %8.1f | %9.2f %9.2f | %9.2f %9.2f %9lld\n",
			       mesh->triangle_count, c->name, build_ms, bytes, mean[0], worst[0], mean[1],
			       worst[1], (long long)pairs);
			fflush(stdout);
			tac_shape_destroy(&shape);
		}
		tac_mesh_destroy(&mesh);
	}
	tac_context_destroy(&context);
	return 0;
}
