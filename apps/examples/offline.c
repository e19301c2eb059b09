// Offline: runs the servo without a clock, as fast as the machine allows. A ball is dragged along a table, 1
// mm below its surface, and over the edge; the program prints path and force as CSV. The output is the same
// to the bit on every run.
#include "haptic/servo.h"

#include <stdio.h>

// A device that is wherever the program puts it, and that ignores forces.
typedef struct puppet {
	tac_device base; // first, so that a tac_device * is a puppet *
	tac_dvec3 position_m;
} puppet;

static tac_device_status puppet_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	*out_state = (tac_device_state){
		.time_ns = now_ns,
		.T_base_tool = tac_dpose_make(((puppet *)device)->position_m, tac_dquat_identity()),
	};
	return TAC_DEVICE_OK;
}

static tac_device_status puppet_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)device, (void)now_ns, (void)wrench;
	return TAC_DEVICE_OK;
}

static void puppet_enable(tac_device *device, bool on)
{
	(void)device, (void)on;
}

int main(void)
{
	puppet p = {
		.base = {.info = {.name = "puppet", .position_axes = 3, .force_axes = 3, .max_force_N = 20},
			 .read = puppet_read,
			 .write = puppet_write,
			 .enable = puppet_enable}};
	tac_scene *scene;
	tac_world *world;
	tac_servo *servo;
	tac_servo_def def = tac_servo_def_default();
	def.device = &p.base;
	if (tac_scene_builtin("sphere", &scene) < TAC_OK ||
	    tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK)
		return 1;
	def.world = world;
	if (tac_servo_create(&def, &servo) < TAC_OK)
		return 1;
	printf("t_s,x_m,z_m,sco_x_m,sco_z_m,fx_N,fz_N,contacts\n");
	for (int ms = 1; ms <= 2000; ms++) {
		// Down to 4 mm, where the ball of 5 mm radius is 1 mm too low, then along -x.
		const double z = ms < 200 ? 0.02 - 0.016 * ms / 200 : 0.004;
		const double x = ms < 400 ? -0.05 : -0.05 - 0.08 * (ms - 400) / 1600;
		p.position_m = tac_dvec3_make(x, 0, z);
		tac_servo_step(servo, 1000000 * (int64_t)ms, NULL);
		const tac_snapshot *s = tac_servo_snapshot(servo, 0);
		printf("%.3f,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d\n", ms / 1e3, x, z,
		       s->T_world_sco.position.x, s->T_world_sco.position.z, s->sent.force_N.x,
		       s->sent.force_N.z, s->contact_count);
	}
	tac_servo_destroy(&servo);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}
