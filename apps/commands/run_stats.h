// Run stats: what `tactus run` accumulates for one tool over the whole run, and prints at its end.
#ifndef TAC_APPS_COMMANDS_RUN_STATS_H
#define TAC_APPS_COMMANDS_RUN_STATS_H

#include "haptic/servo.h"

#include <stdint.h>

typedef struct run_stats {
	int64_t ticks, derated_ticks;
	int32_t max_contacts;
	double max_force_N, max_torque_Nm;
	double max_effects_N;                      // force of the effects
	double min_spring_scale, min_damper_scale; // of the effects
	double contact_force_sum_N;                // over the ticks in contact
	double max_depth_m;                        // greatest distance between device and SCO
	double min_distance_m; // lowest bound of the distance to the nearest object; 0: none was known
	double min_energy_J;   // of the passivity controller
	double max_damping_N_s_per_m;
	double min_allowed_N_per_m;   // the lowest stiffness limit
	tac_derate_reason derated_by; // what set that limit
} run_stats;

// Distance between device and SCO, m.
double run_stats_depth(const tac_snapshot *snapshot);

// Adds a tick. Thread: RT.
void run_stats_add(run_stats *stats, const tac_snapshot *snapshot);

// A paragraph on standard output, after the run. `servo` is the tool's. Thread: setup.
void run_stats_print(const run_stats *stats, const char *tool, tac_servo *servo);

// Members of a JSON object, the first one preceded by a comma. Thread: setup.
void run_stats_print_json(const run_stats *stats, tac_servo *servo);

#endif
