// Your own renderer: the haptic loop has its own thread, and this one draws the newest snapshot 20 times a
// second. Here a picture is a line of text with half a millimetre per letter: the tool (#), the device behind
// the surface (o), and the force.
#include "devices/registry.h"
#include "haptic/play.h"
#include "rt/clock.h"

#include <stdio.h>

int main(void)
{
	// The simulated hand moves down from 25 mm to 6 mm below the table in 1.5 s.
	const tac_sim_waypoint path[] = {{.position_m = {0, 0, 0.025}},
					 {.time_ns = 1500000000, .position_m = {0, 0, -0.006}}};
	const tac_open_def hand = {.sim_path = path, .sim_waypoints = 2};
	tac_servo_def def = tac_servo_def_default();
	tac_scene *scene;
	tac_world *world;
	tac_play *play;
	if (tac_scene_builtin("sphere", &scene) < TAC_OK ||
	    tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK ||
	    tac_registry_open("sim:omega3", &hand, &def.device) < TAC_OK)
		return 1;
	def.world = world;
	if (tac_play_start(&def, NULL, &play) < TAC_OK)
		return 1;
	for (int picture = 0; picture < 40; picture++) {
		tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_NS_PER_S / 20);
		const tac_snapshot *s = tac_servo_snapshot(tac_play_servo(play), 0); // never blocks the loop
		if (!s)
			continue;
		const int tool = (int)(s->T_world_sco.position.z * 2000);
		const int device = (int)(s->T_world_device.position.z * 2000);
		printf("|%*c%*c %.2f N, %d contacts, tick %lld\n", device, 'o', tool - device, '#',
		       tac_dvec3_length(s->sent.force_N), (int)s->contact_count, (long long)s->tick);
	}
	tac_play_destroy(&play);
	tac_device_destroy(&def.device);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}
