// The time of a tick in which another world takes the place of the present one, and of the ticks before it in
// which the tool is tested in the new world, beside ordinary ticks of the same run. The hand presses its tool
// on a floor. Each tick is timed in several runs by the thread's own processor time, and the least counts, so
// that what interrupts the machine is left out. Caches are as cold as they are in use: each run builds its
// worlds. Memory is locked as in the loop; if that is refused, the first touch of each page counts, too.
#include "haptic/live.h"
#include "haptic/path.h"
#include "haptic/scene_builder.h"
#include "haptic/servo.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TICKS = 400, EXCHANGE = 200, RUNS = 5 };

// A ball, or a mesh of eight parts, on a floor; far away a sphere of 20 4^subdivisions triangles.
static tac_world *make_world(int parts, int subdivisions, tac_scene **out_scene)
{
	tac_world *world = NULL;
	tac_scene *scene = NULL;
	if (tac_scene_create("bench", &scene) < TAC_OK)
		return NULL;
	tac_scene_tool *tool = tac_scene_add_tool(scene, "tool");
	tool->axes = parts == 1 ? 3 : 6;
	for (int i = 0; i < parts; i++) {
		tac_scene_shape *shape =
			tac_scene_tool_add_shape(tool, parts == 1 ? TAC_SCENE_SPHERE : TAC_SCENE_BOX);
		shape->radius_m = 0.005;
		shape->size_m = tac_dvec3_make(0.002, 0.01, 0.01);
		shape->position_m.x = 0.0021 * (i - 0.5 * (parts - 1));
	}
	tac_scene_object *floor = tac_scene_add_object(scene, "floor");
	tac_scene_object_add_shape(floor, TAC_SCENE_BOX)->size_m = tac_dvec3_make(0.1, 0.1, 0.1);
	floor->position_m.z = -0.05;
	tac_scene_object *ball = tac_scene_add_object(scene, "ball");
	ball->position_m.z = 0.2;
	tac_scene_shape *sphere = tac_scene_object_add_shape(ball, TAC_SCENE_SPHERE);
	sphere->radius_m = 0.05;
	sphere->subdivisions = subdivisions;
	*out_scene = scene;
	return tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK ? NULL : world;
}

// One run; keeps the least time of each tick. *out_ticks is the number of ticks that the exchange took.
static bool run(int parts, int subdivisions, const tac_path_sample *path, int64_t *least_ns, int *out_ticks)
{
	tac_scene *scenes[2] = {NULL, NULL};
	tac_world *next = make_world(parts, subdivisions, &scenes[1]);
	tac_path_device device = tac_path_device_make(path);
	tac_live_def live_def = tac_live_def_default();
	tac_servo_def def = tac_servo_def_default();
	tac_servo *servo = NULL;
	live_def.world = make_world(parts, subdivisions, &scenes[0]);
	def.device = &device.base;
	if (!next || !live_def.world || tac_live_create(&live_def, &def.live) < TAC_OK ||
	    tac_servo_create(&def, &servo) < TAC_OK)
		return false;
	*out_ticks = 0;
	for (int i = 0; i < TICKS; i++) {
		if (i == EXCHANGE && !tac_live_exchange(def.live, next))
			return false;
		device.index = (size_t)i;
		const int64_t begin = tac_clock_thread_cpu_ns();
		tac_servo_step(servo, path[i].time_ns, NULL);
		const int64_t ns = tac_clock_thread_cpu_ns() - begin;
		least_ns[i] = least_ns[i] == 0 || ns < least_ns[i] ? ns : least_ns[i];
		const tac_snapshot *s = tac_servo_snapshot(servo, 0);
		*out_ticks += i >= EXCHANGE && s->live.world == 0;
		if (s->state != TAC_SERVO_RUNNING && i > EXCHANGE / 2)
			return false;
	}
	const bool exchanged = tac_servo_snapshot(servo, 0)->live.world == 1;
	++*out_ticks; // the one that exchanged
	tac_servo_destroy(&servo);
	tac_live_destroy(&def.live);
	tac_world_destroy(&next);
	tac_world_destroy(&live_def.world);
	tac_scene_destroy(&scenes[0]);
	tac_scene_destroy(&scenes[1]);
	return exchanged;
}

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int64_t largest(const int64_t *ns, int count)
{
	int64_t most = 0;
	for (int i = 0; i < count; i++)
		most = ns[i] > most ? ns[i] : most;
	return most;
}

int main(void)
{
	static const int parts[] = {1, 8}, subdivisions[] = {3, 5, 6};
	static int64_t least_ns[TICKS], ordinary_ns[EXCHANGE];
	static tac_path_sample path[TICKS];
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		perror("mlockall");
	for (int i = 0; i < TICKS; i++) // 2 mm into the floor, and along
		path[i] = (tac_path_sample){
			i * INT64_C(1000000),
			tac_dpose_make(tac_dvec3_make(2e-5 * i, 0, 0.02 - 0.017 * (i < 100 ? i / 100.0 : 1)),
				       tac_dquat_identity())};
	printf("%-14s %10s   %8s %8s   %9s %9s %9s   %6s\n", "tool", "triangles", "p50, us", "max", "tests",
	       "exchange", "next", "ticks");
	for (int p = 0; p < 2; p++) {
		for (int k = 0; k < 3; k++) {
			int ticks = 0;
			memset(least_ns, 0, sizeof least_ns);
			for (int i = 0; i < RUNS; i++) {
				if (!run(parts[p], subdivisions[k], path, least_ns, &ticks))
					return EXIT_FAILURE;
			}
			memcpy(ordinary_ns, least_ns + 100, 100 * sizeof *ordinary_ns);
			qsort(ordinary_ns, 100, sizeof *ordinary_ns, compare);
			const int last = EXCHANGE + ticks - 1;
			printf("%-14s %10d   %8.1f %8.1f   %9.1f %9.1f %9.1f   %6d\n",
			       parts[p] == 1 ? "ball" : "8 boxes", 20 << 2 * subdivisions[k],
			       (double)ordinary_ns[50] / 1e3, (double)ordinary_ns[99] / 1e3,
			       (double)largest(least_ns + EXCHANGE, ticks - 1) / 1e3,
			       (double)least_ns[last] / 1e3, (double)largest(least_ns + last + 1, 10) / 1e3,
			       ticks);
		}
	}
	return EXIT_SUCCESS;
}
