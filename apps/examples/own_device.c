// Your own device: embed tac_device as the first member, fill in its functions, and pass it to a servo. This
// one is a hand on a vertical rail that moves down and up once a second. It keeps the last force it receives.
#include "haptic/servo.h"

#include <math.h>
#include <stdio.h>

typedef struct rail {
	tac_device base; // first, so that a tac_device * is a rail *
	double force_N;  // of the last write, upwards
} rail;

static tac_device_status rail_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	(void)device;
	const double angle = 2 * 3.14159265358979 * 1e-9 * (double)now_ns; // one revolution a second
	*out_state = (tac_device_state){
		.time_ns = now_ns,
		.T_base_tool = tac_dpose_make(tac_dvec3_make(0, 0, 0.009 + 0.008 * cos(angle)),
					      tac_dquat_identity()),
		.velocity_m_per_s = tac_dvec3_make(0, 0, -0.008 * 2 * 3.14159265358979 * sin(angle)),
	};
	return TAC_DEVICE_OK;
}

static tac_device_status rail_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)now_ns;
	((rail *)device)->force_N = wrench->force_N.z;
	return TAC_DEVICE_OK;
}

static void rail_enable(tac_device *device, bool on)
{
	(void)device, (void)on; // a real device switches its motors here
}

int main(void)
{
	rail r = {.base = {.info = {.name = "rail", .position_axes = 3, .force_axes = 3, .max_force_N = 20},
			   .read = rail_read,
			   .write = rail_write,
			   .enable = rail_enable}};
	tac_scene *scene;
	tac_world *world;
	tac_servo *servo;
	tac_servo_def def = tac_servo_def_default();
	def.device = &r.base;
	if (tac_scene_builtin("sphere", &scene) < TAC_OK ||
	    tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK)
		return 1;
	def.world = world;
	if (tac_servo_create(&def, &servo) < TAC_OK)
		return 1;
	for (int ms = 0; ms <= 1000; ms++) {
		tac_servo_step(servo, 1000000 * (int64_t)(ms + 1), NULL);
		const tac_snapshot *s = tac_servo_snapshot(servo, 0);
		if (ms % 100 == 0)
			printf("%4d ms  device %5.1f mm  tool %5.1f mm  %5.2f N\n", ms,
			       1e3 * s->T_world_device.position.z, 1e3 * s->T_world_sco.position.z,
			       r.force_N);
	}
	tac_servo_destroy(&servo);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}
