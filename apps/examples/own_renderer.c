// A renderer of your own: the loop runs on its thread, this one looks at the newest snapshot 20 times a
// second and draws it, here with letters: the tool (#), the device behind the surface (o), the force.
#include "devices/registry.h"
#include "haptic/servo.h"
#include "rt/clock.h"
#include "rt/loop.h"
#include "rt/thread.h"

#include <stdio.h>

typedef struct job {
	tac_servo *servo;
	tac_loop *loop;
} job;

static void tick(void *user, tac_tick *t)
{
	tac_servo_step(((job *)user)->servo, t->wake_ns, t);
}

static void *loop_thread(void *user)
{
	const tac_thread_def def = tac_thread_def_default();
	tac_thread_report report;
	if (tac_thread_enter(&def, &report) >= TAC_OK)
		tac_loop_run(((job *)user)->loop, tick, user);
	return NULL;
}

// One line: heights from -5 mm to 30 mm, half a millimetre a letter.
static void draw(const tac_snapshot *s)
{
	char line[] = "..........|............................................................";
	const int device = (int)((s->T_world_device.position.z + 0.005) / 0.0005);
	const int tool = (int)((s->T_world_sco.position.z + 0.005) / 0.0005);
	if (device >= 0 && device < (int)sizeof line - 1)
		line[device] = 'o';
	if (tool >= 0 && tool < (int)sizeof line - 1)
		line[tool] = '#';
	printf("%s %5.2f N, %d contacts, tick %lld\n", line, tac_dvec3_length(s->sent.force_N),
	       s->contact_count, (long long)s->tick);
}

int main(void)
{
	const tac_sim_waypoint path[] = {{.time_ns = 0, .position_m = {0, 0, 0.025}},
					 {.time_ns = 1000000000, .position_m = {0, 0, 0}},
					 {.time_ns = 2000000000, .position_m = {0, 0, 0.025}}};
	const tac_open_def hand = {.sim_path = path, .sim_waypoints = 3};
	tac_scene *scene;
	tac_world *world;
	tac_servo_def def = tac_servo_def_default();
	tac_loop_def loop_def = tac_loop_def_default();
	loop_def.periods = 2000;
	job j;
	if (tac_scene_builtin("sphere", &scene) < TAC_OK ||
	    tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK ||
	    tac_registry_open("sim:omega3", &hand, &def.device) < TAC_OK)
		return 1;
	def.world = world;
	pthread_t thread;
	if (tac_servo_create(&def, &j.servo) < TAC_OK || tac_loop_create(&loop_def, &j.loop) < TAC_OK ||
	    tac_thread_start(&thread, loop_thread, &j) < TAC_OK)
		return 1;
	tac_device_enable(def.device, true);
	for (int picture = 1; picture <= 40; picture++) {
		tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_NS_PER_S / 20);
		const tac_snapshot *s = tac_servo_snapshot(j.servo, 0); // wait-free; the loop never notices
		if (s)
			draw(s);
	}
	pthread_join(thread, NULL);
	tac_loop_destroy(&j.loop);
	tac_servo_destroy(&j.servo);
	tac_device_destroy(&def.device);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}
