// Touch a sphere: for one second, at 1 kHz, a simulated hand presses a ball onto a sphere with a stiffness of
// 1000 N/m, towards a point 3 mm below the first touch. The program prints the force that the hand feels.
#include "devices/registry.h"
#include "haptic/play.h"

#include <stdio.h>

static const char text[] =
	"scene: a sphere\n"
	"materials: [{name: rubber, stiffness_N_per_m: 1000}]\n"
	"tools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n"
	"objects: [{name: sphere, material: rubber, shapes: [{kind: sphere, radius_m: 0.03}]}]\n";

int main(void)
{
	// The hand moves from 45 mm to 32 mm in half a second; the ball touches at 35 mm.
	const tac_sim_waypoint path[] = {{.position_m = {0, 0, 0.045}},
					 {.time_ns = 500000000, .position_m = {0, 0, 0.032}}};
	const tac_open_def hand = {.sim_path = path, .sim_waypoints = 2};
	tac_servo_def def = tac_servo_def_default();
	tac_loop_def loop = tac_loop_def_default();
	tac_scene *scene;
	tac_world *world;
	tac_play *play;
	loop.periods = 1000;
	if (tac_scene_parse(text, sizeof text - 1, "sphere", &scene) < TAC_OK ||
	    tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK ||
	    tac_registry_open("sim:omega3", &hand, &def.device) < TAC_OK)
		return 1;
	def.world = world;
	if (tac_play_start(&def, &loop, &play) < TAC_OK)
		return 1;
	tac_play_wait(play);
	const tac_snapshot *s = tac_servo_snapshot(tac_play_servo(play), 0);
	printf("force %.3f N, device %.3f mm behind the surface, %d contact\n", s->sent.force_N.z,
	       1e3 * (s->T_world_sco.position.z - s->T_world_device.position.z), s->contact_count);
	tac_play_destroy(&play);
	tac_device_destroy(&def.device);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}
