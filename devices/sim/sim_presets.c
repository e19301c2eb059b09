#include "devices/sim.h"

#include "base/log.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

#define GRIPPER                                                                                              \
	{                                                                                                    \
		0.04, 0.5, 0.05, 6e-6                                                                        \
	}

// Maximum force and recommended stiffness and damping are from CHAI3D 3.3's device table; moving mass,
// friction and resolution of the Touch and the Premium are from their data sheets. Values without a
// measurement are estimates, and `source` names them: identify them on your own device before you rely on a
// stability margin.
static const tac_sim_preset presets[] = {
	{"falcon",
	 "Novint Falcon",
	 "resolution 400 dpi and 8.9 N: H3D; mass, damping, friction: estimates",
	 {.name = "falcon",
	  .linear = {0.25, 1.5, 0.4, 63.5e-6},
	  .max_force_N = 8.9,
	  .max_stiffness_N_per_m = 3000,
	  .max_damping_N_s_per_m = 20,
	  .workspace_m = 0.1,
	  .period_ns = 1000000}},
	{"omega3",
	 "Force Dimension omega.3",
	 "resolution: data sheet; mass, damping, friction: estimates",
	 {.name = "omega3",
	  .linear = {0.2, 0.5, 0.1, 10e-6},
	  .max_force_N = 12,
	  .max_stiffness_N_per_m = 5000,
	  .max_damping_N_s_per_m = 30,
	  .workspace_m = 0.11,
	  .period_ns = 250000}},
	{"omega7",
	 "Force Dimension omega.7, rotation sensed, gripper",
	 "resolution, gripper force: data sheet; mass, damping, friction, all of the rotation, the "
	 "gripper's mechanics: estimates",
	 {.name = "omega7",
	  .linear = {0.3, 0.5, 0.15, 10e-6},
	  .angular = {2e-4, 2e-4, 2e-3, 1.6e-3},
	  .gripper = GRIPPER,
	  .gripper_max_m = 0.027,
	  .max_gripper_N = 8,
	  .max_force_N = 12,
	  .max_stiffness_N_per_m = 5000,
	  .max_damping_N_s_per_m = 30,
	  .workspace_m = 0.11,
	  .period_ns = 250000}},
	{"touch",
	 "3D Systems Touch, rotation sensed",
	 "mass 45 g, friction below 0.26 N, resolution 0.055 mm: data sheet; damping and the rotation: "
	 "estimates",
	 {.name = "touch",
	  .linear = {0.045, 0.1, 0.2, 55e-6},
	  .angular = {2e-5, 5e-5, 1e-3, 1.5e-3},
	  .max_force_N = 3.3,
	  .max_stiffness_N_per_m = 400,
	  .max_damping_N_s_per_m = 4,
	  .workspace_m = 0.12,
	  .period_ns = 1000000}},
	{"premium",
	 "3D Systems Premium 1.5",
	 "mass 75 g, friction 0.04 N, resolution 860 dpi: data sheet; damping: an estimate",
	 {.name = "premium",
	  .linear = {0.075, 0.05, 0.04, 30e-6},
	  .max_force_N = 8.5,
	  .max_stiffness_N_per_m = 800,
	  .max_damping_N_s_per_m = 5,
	  .workspace_m = 0.19,
	  .period_ns = 1000000}},
	{"six",
	 "a fictional device with forces and torques in all six axes",
	 "chosen here",
	 {.name = "six",
	  .linear = {0.15, 1, 0.05, 10e-6},
	  .angular = {2e-4, 1e-3, 1e-3, 1e-4},
	  .max_force_N = 10,
	  .max_torque_Nm = 0.5,
	  .max_stiffness_N_per_m = 2000,
	  .max_damping_N_s_per_m = 10,
	  .workspace_m = 0.2,
	  .period_ns = 1000000}},
};

// Ranges in the literature: stylus 0.02 … 0.1 kg, 1 … 5 N s/m, 100 … 1000 N/m; wrist 0.1 … 0.3, 3 … 15,
// 200 … 1500; arm 0.5 … 2, 5 … 40, 30 … 500. Damping and stiffness grow with the grip force (Hasser and
// Cutkosky 2002).
static const tac_sim_grip grips[] = {
	{"none", {0, 0, 0}},       {"light", {0.03, 1.5, 100}}, {"stylus", {0.05, 2, 300}},
	{"wrist", {0.15, 5, 500}}, {"firm", {0.3, 15, 1500}},   {"arm", {1, 10, 50}},
};

#define PRESETS (int)(sizeof presets / sizeof *presets)
#define GRIPS   (int)(sizeof grips / sizeof *grips)

// Thumb and index finger on a gripper: the middle of the ranges of Hasser and Cutkosky (2002).
static const tac_sim_hand fingers = {0.006, 3, 250};

// The fingers hold the tool at this distance from its centre: the lever of the hand against rotations.
#define GRIP_RADIUS_M 0.03

const tac_sim_preset *tac_sim_preset_at(int index)
{
	return index >= 0 && index < PRESETS ? &presets[index] : NULL;
}

const tac_sim_grip *tac_sim_grip_at(int index)
{
	return index >= 0 && index < GRIPS ? &grips[index] : NULL;
}

tac_device_mechanics tac_sim_gripper_estimate(void)
{
	return (tac_device_mechanics)GRIPPER;
}

static void add_name(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);
	snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

tac_result tac_sim_def_preset(const char *preset, const char *grip, tac_sim_def *out_def)
{
	char names[256] = "";
	tac_suggestion near_preset = tac_suggestion_begin(preset), near_grip = tac_suggestion_begin(grip);
	const tac_sim_preset *p = NULL;
	for (int i = 0; i < PRESETS; i++) {
		add_name(names, sizeof names, presets[i].name);
		tac_suggestion_offer(&near_preset, presets[i].name);
		if (strcmp(preset, presets[i].name) == 0)
			p = &presets[i];
	}
	if (!p) {
		tac_log(TAC_LOG_ERROR, "sim: expected a device of %s, found \"%s\"%s", names, preset,
			tac_suggestion_text(&near_preset));
		return TAC_ERROR_ARGUMENT;
	}
	names[0] = '\0';
	const tac_sim_grip *g = NULL;
	for (int i = 0; i < GRIPS; i++) {
		add_name(names, sizeof names, grips[i].name);
		tac_suggestion_offer(&near_grip, grips[i].name);
		if (strcmp(grip, grips[i].name) == 0)
			g = &grips[i];
	}
	if (!g) {
		tac_log(TAC_LOG_ERROR, "sim: expected a grip of %s, found \"%s\"%s", names, grip,
			tac_suggestion_text(&near_grip));
		return TAC_ERROR_ARGUMENT;
	}
	const double lever = GRIP_RADIUS_M * GRIP_RADIUS_M;
	*out_def = p->def;
	out_def->hand = g->hand;
	out_def->hand_angular =
		(tac_sim_hand){g->hand.mass * lever, g->hand.damping * lever, g->hand.stiffness * lever};
	if (g->hand.mass > 0)
		out_def->fingers = fingers;
	return TAC_OK;
}
