// The time of the needle's tick: solve and commit, over an insertion and withdrawal through the seven layers
// of the scene lumbar with a hand that also tilts. Each tick is timed in several replays, and the least
// counts, so that what interrupts the machine is left out. Rigid and flexible side by side, and their ratio.
#include "tissue/needle.h"
#include "haptic/servo.h"
#include "haptic/world.h"
#include "rt/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TICKS = 28000, REPLAYS = 5 };

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static tac_needle_layer layer_of(const tac_material *m, double thickness_m)
{
	return (tac_needle_layer){thickness_m,
				  m->tip_stiffness_N_per_m,
				  m->tip_stiffening_N_per_m2,
				  m->puncture_N,
				  m->cutting_N,
				  m->shaft_friction_N_per_m,
				  m->shaft_stiffness_N_per_m2,
				  m->shaft_viscosity_N_s_per_m2,
				  m->lateral_stiffness_N_per_m2,
				  m->tip_relaxation_N_per_m,
				  m->tip_relaxation_s,
				  m->needle_turning};
}

static tac_needle *make_needle(const tac_scene *scene, double bending_Nm2)
{
	tac_needle_body body = {
		.normal = {0, 0, 1}, .min_m = {-0.06, -0.08, -0.12}, .max_m = {0.06, 0.08, 0}};
	const tac_scene_layers *layers = &scene->objects[0].layers;
	for (int32_t i = 0; i < layers->list_count; i++)
		body.layers[body.layer_count++] =
			layer_of(&scene->materials[tac_scene_find_material(scene, layers->list[i].material)],
				 layers->list[i].thickness_m);
	const tac_needle_def def = {.radius_m = 4.5e-4,
				    .length_m = 0.09,
				    .bending_stiffness_Nm2 = bending_Nm2,
				    .curvature_per_m = bending_Nm2 > 0 ? 3 : 0,
				    .bodies = &body,
				    .body_count = 1};
	tac_needle *needle;
	return tac_needle_create(&def, &needle) < TAC_OK ? NULL : needle;
}

static tac_dpose hand_at(int tick)
{
	const double t = tick * 1e-3, depth = t < 14 ? 5e-3 * t : 5e-3 * (28 - t);
	return tac_dpose_make(tac_dvec3_make(5e-4 * sin(3 * t), 0, 0.002 - depth),
			      tac_dquat_exp(tac_dvec3_make(0.03 * sin(2 * t), 0, 0)));
}

// The least time of each tick, sorted; the median is returned.
static double measure(const tac_scene *scene, const char *name, double bending_Nm2, int64_t *least_ns)
{
	const tac_needle_coupling coupling = {1200, 1200 * 0.03 * 0.03};
	const tac_dpose body = tac_dpose_identity();
	double mean = 0;
	for (int replay = 0; replay < REPLAYS; replay++) {
		tac_needle *needle = make_needle(scene, bending_Nm2);
		if (!needle)
			exit(1);
		for (int i = 0; i < TICKS; i++) {
			tac_dpose tool;
			const tac_dpose device = hand_at(i);
			const int64_t begin_ns = tac_clock_now_ns();
			tac_needle_solve(needle, device, &body, &coupling, 1e-3, &tool);
			tac_needle_commit(needle, tool);
			const int64_t ns = tac_clock_now_ns() - begin_ns;
			least_ns[i] = replay == 0 || ns < least_ns[i] ? ns : least_ns[i];
		}
		tac_needle_destroy(&needle);
	}
	for (int i = 0; i < TICKS; i++)
		mean += (double)least_ns[i] / TICKS;
	qsort(least_ns, TICKS, sizeof *least_ns, compare);
	printf("%-10s %8.2f %8.2f %8.2f %8.2f %8.2f\n", name, mean / 1e3, (double)least_ns[TICKS / 2] / 1e3,
	       (double)least_ns[TICKS * 99 / 100] / 1e3, (double)least_ns[TICKS * 999 / 1000] / 1e3,
	       (double)least_ns[TICKS - 1] / 1e3);
	return (double)least_ns[TICKS / 2];
}

int main(void)
{
	tac_scene *scene;
	int64_t *least_ns = malloc(TICKS * sizeof *least_ns);
	if (!least_ns || tac_scene_builtin("lumbar", &scene) < TAC_OK)
		return 1;
	printf("needle, us a tick, least of %d replays\n%-10s %8s %8s %8s %8s %8s\n", REPLAYS, "", "mean",
	       "p50", "p99", "p99.9", "max");
	const double rigid = measure(scene, "rigid", 0, least_ns);
	const double flexible = measure(scene, "flexible", 5.2e-3, least_ns);
	printf("flexible / rigid at p50: %.2f\n", flexible / rigid);
	tac_scene_destroy(&scene);
	free(least_ns);
	return 0;
}
