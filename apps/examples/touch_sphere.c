// Touch a sphere: a simulated hand presses a ball onto a sphere of 1000 N/m at 1 kHz for a second, and the
// program says what the hand feels.
#include "devices/registry.h"
#include "haptic/servo.h"
#include "rt/loop.h"
#include "rt/thread.h"

#include <stdio.h>

static const char text[] =
	"scene: a sphere\n"
	"materials: [{name: rubber, stiffness_N_per_m: 1000}]\n"
	"tools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n"
	"objects: [{name: sphere, material: rubber, shapes: [{kind: sphere, radius_m: 0.03}]}]\n";

static void tick(void *servo, tac_tick *t)
{
	tac_servo_step(servo, t->wake_ns, t);
}

int main(void)
{
	// The hand: from above the sphere down to 3 mm below where the ball touches it.
	const tac_sim_waypoint path[] = {{.time_ns = 0, .position_m = {0, 0, 0.045}},
					 {.time_ns = 500000000, .position_m = {0, 0, 0.032}},
					 {.time_ns = 1000000000, .position_m = {0, 0, 0.032}}};
	const tac_open_def hand = {.sim_path = path, .sim_waypoints = 3};
	tac_scene *scene = NULL;
	tac_world *world = NULL;
	tac_servo_def def = tac_servo_def_default();
	tac_servo *servo = NULL;
	tac_loop_def loop_def = tac_loop_def_default();
	tac_loop *loop = NULL;
	loop_def.periods = 1000;
	if (tac_scene_parse(text, sizeof text - 1, "sphere", &scene) < TAC_OK ||
	    tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK ||
	    tac_registry_open("sim:omega3", &hand, &def.device) < TAC_OK)
		return 1;
	def.world = world;
	if (tac_servo_create(&def, &servo) < TAC_OK || tac_loop_create(&loop_def, &loop) < TAC_OK)
		return 1;
	const tac_thread_def thread = tac_thread_def_default();
	tac_thread_report report;
	if (tac_thread_enter(&thread, &report) != TAC_OK)
		fprintf(stderr, "not all that real time needs was granted: see tac_thread_report_line()\n");
	tac_device_enable(def.device, true);
	tac_loop_run(loop, tick, servo);

	const tac_snapshot *s = tac_servo_snapshot(servo, 0);
	printf("force %.3f N, device %.3f mm behind the surface, %d contact\n", s->sent.force_N.z,
	       1e3 * (s->T_world_sco.position.z - s->T_world_device.position.z), s->contact_count);
	tac_loop_destroy(&loop);
	tac_servo_destroy(&servo);
	tac_device_destroy(&def.device);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}
