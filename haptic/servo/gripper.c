// The force on the fingers of the device's gripper: a spring and a damper that push it open, as stiff as
// rate, delay and mechanics allow, and passive. The axis exchanges no energy with the others, so it has an
// observer of its own.
#include "haptic/servo/servo_state.h"

#include <math.h>

// Fingers that hold the gripper lightly: less damping than those of the simulated device, so that the limit
// holds for them, too. An estimate.
static const tac_stability_hand light_fingers = {0.003, 1, 100};

static double limited_damping(const tac_servo *s)
{
	const tac_servo_gripper *g = &s->gripper;
	return fmin(s->tool->gripper.damping_N_s_per_m,
		    tac_servo_most_damping(&g->derate, &s->def.device->info.gripper));
}

void tac_servo_init_gripper(tac_servo *servo)
{
	tac_servo_gripper *g = &servo->gripper;
	const tac_device_info *info = &servo->def.device->info;
	tac_derate_def def = tac_derate_def_default(info, servo->def.period_ns);
	def.device = info->gripper;
	def.max_stiffness_N_per_m = 0; // recommended for the tool, not for its fingers
	def.hand = light_fingers;
	def.velocity_pole = TAC_SERVO_VELOCITY_POLE;
	tac_derate_init(&g->derate, &def);
	def.damping_N_s_per_m = limited_damping(servo);
	tac_derate_init(&g->derate, &def);
}

double tac_servo_step_gripper(tac_servo *servo, int64_t now_ns, int64_t elapsed_ns)
{
	tac_servo_gripper *g = &servo->gripper;
	const tac_scene_gripper *wanted = &servo->tool->gripper;
	const tac_device_info *info = &servo->def.device->info;
	const double opening_m = servo->device_state.gripper_m;
	if (info->max_gripper_N == 0)
		return 0;
	// The speed that the stability limit is computed for, whatever filter the driver has.
	if (servo->ticks > 0 && elapsed_ns > 0)
		g->speed_m_per_s = TAC_SERVO_VELOCITY_POLE * g->speed_m_per_s +
				   (1 - TAC_SERVO_VELOCITY_POLE) * (opening_m - g->opening_m) /
					   ((double)elapsed_ns / 1e9);
	g->opening_m = opening_m;
	const int64_t delay_ns = servo->write_delay_ns + info->delay_ns;
	const double stiffness =
		fmin(wanted->stiffness_N_per_m, tac_derate_step(&g->derate, elapsed_ns, delay_ns));
	const double closed_m = wanted->rest_m - opening_m;
	double force_N = 0;
	if (closed_m > 0)
		force_N = fmax(0, stiffness * closed_m - limited_damping(servo) * g->speed_m_per_s);
	tac_passivity_set_delay(&g->passivity, delay_ns);
	return tac_passivity_step(&g->passivity, now_ns, opening_m, servo->device_state.gripper_m_per_s,
				  force_N, closed_m > 0);
}
