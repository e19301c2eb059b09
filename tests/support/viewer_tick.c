// viewer_tick: runs a servo in contact at 1 kHz while the viewer of the same world draws, and prints the
// numbers of ticks, pictures and allocations by the loop's thread. tests/system/view.py runs it on a virtual
// display.
#include "apps/viewer/viewer.h"
#include "devices/registry.h"
#include "haptic/servo.h"
#include "rt/clock.h"
#include "rt/loop.h"
#include "rt/thread.h"
#include "tests/support/allocations.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define TICKS 2500

typedef struct job {
	tac_servo *servo;
	tac_loop *loop;
	atomic_bool ended;
	int ticks, contacts, allocated; // written before `ended`
} job;

static void tick(void *user, tac_tick *t)
{
	job *j = user;
	tac_servo_step(j->servo, t->wake_ns, t);
	j->contacts += tac_servo_snapshot(j->servo, 0)->contact_count > 0;
	j->ticks++;
}

// Volatile: a compiler assumes that malloc changes no variable of the program, but the wrapped one does.
static int count(void)
{
	return *(volatile int *)&allocations;
}

static void *loop_thread(void *user)
{
	job *j = user;
	const tac_thread_def def = tac_thread_def_default();
	tac_thread_report report;
	if (tac_thread_enter(&def, &report) >= TAC_OK) {
		const int before = count();
		tac_loop_run(j->loop, tick, j);
		j->allocated = count() - before;
		void *volatile probe = malloc(1); // proves that allocations are counted
		free(probe);
		if (count() - before != j->allocated + 1)
			j->allocated = -1;
	}
	tac_thread_leave(&report);
	atomic_store(&j->ended, true);
	return NULL;
}

int main(void)
{
	const tac_sim_waypoint path[] = {{.time_ns = 0, .position_m = {0, 0, 0.08}},
					 {.time_ns = 700000000, .position_m = {0, 0, 0.045}},
					 {.time_ns = 3000000000, .position_m = {0.02, 0, 0.042}}};
	const tac_open_def hand = {.sim_path = path, .sim_waypoints = 3};
	tac_scene *scene;
	tac_world *world;
	tac_servo_def def = tac_servo_def_default();
	def.readers = 2;
	tac_loop_def loop = tac_loop_def_default();
	loop.periods = TICKS;
	if (tac_scene_builtin("stylus", &scene) < TAC_OK ||
	    tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK ||
	    tac_registry_open("sim:six", &hand, &def.device) < TAC_OK)
		return EXIT_FAILURE;
	def.world = world;
	const viewer_def window = {.world = world,
				   .title = "viewer_tick",
				   .width = 640,
				   .height = 400,
				   .period_ns = loop.period_ns};
	job j = {0};
	viewer *view;
	pthread_t thread;
	if (viewer_open(&window, &view) < TAC_OK || tac_servo_create(&def, &j.servo) < TAC_OK ||
	    tac_loop_create(&loop, &j.loop) < TAC_OK)
		return EXIT_FAILURE;
	tac_device_enable(def.device, true);
	if (tac_thread_start(&thread, loop_thread, &j) < TAC_OK)
		return EXIT_FAILURE;
	int pictures = 0;
	while (!atomic_load(&j.ended)) {
		const viewer_frame frame = {.snapshots = {tac_servo_snapshot(j.servo, 1)},
					    .now_ns = tac_clock_now_ns()};
		viewer_show(view, &frame);
		pictures++;
	}
	pthread_join(thread, NULL);
	printf("%d ticks, %d in contact, %d pictures, %d allocations\n", j.ticks, j.contacts, pictures,
	       j.allocated);
	viewer_close(&view);
	tac_loop_destroy(&j.loop);
	tac_servo_destroy(&j.servo);
	tac_device_destroy(&def.device);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	return EXIT_SUCCESS;
}
