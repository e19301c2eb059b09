// Render: runs the servos of a world off line, one tick for each sample of the paths of their devices, or for
// each recorded tick of a run. No result depends on a clock, so the same paths give the same bits on every
// run and with every instruction set, and a recorded run gives its own forces again.
#ifndef TAC_HAPTIC_RENDER_H
#define TAC_HAPTIC_RENDER_H

#include "haptic/path.h"
#include "haptic/servo.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_render tac_render;

typedef struct tac_render_def {
	uint32_t struct_bytes;  // set by tac_render_def_default (base/def.h)
	const tac_world *world; // outlives the render
	tac_sco_mover mover;
	// One path for each tool, all with the same times; they outlive the render. NULL, except for the
	// first tool: the scene's scripted hand.
	const tac_path_sample *paths[TAC_SCENE_TOOLS];
	size_t count; // of samples in each path
	// What an application told the world while the paths were recorded, in the samples of their ticks
	// (haptic/live.h); NULL: nothing. `worlds` are those of its exchanges. All outlive the render.
	const tac_live_record *commands;
	size_t command_count;
	tac_world *const *worlds;
	int32_t world_count;
	double max_speed_m_per_s; // of the recorded live world; default 1
	// Of the loop that the paths were recorded with, tac_servo_def.period_ns; 0: tac_path_period. The
	// median of measured times is some nanoseconds off, which moves an object differently after a late
	// tick.
	int64_t period_ns;
	// A run that is repeated, instead of paths: what the devices of all tools delivered, tick by tick
	// (tac_servo_def.record, tac_recording.samples). `paths` are not used then. With the run's commands,
	// period, devices and functions the forces are those of the run, to the bit. All outlive the render.
	const tac_device_sample *samples[TAC_SCENE_TOOLS];
	const tac_device_info *devices[TAC_SCENE_TOOLS]; // NULL: one without limits and mechanics
	tac_effect_callback callbacks[TAC_SCENE_TOOLS];  // as in tac_servo_def
} tac_render_def;

// The outcome of one tick for one tool: a line of `tactus render`.
typedef struct tac_render_row {
	int64_t time_ns;
	tac_dpose T_base_tool; // of the device
	tac_dpose T_world_sco;
	tac_wrench sent; // on the tool, after the gate
	int32_t contacts;
	uint32_t flags;     // tac_sco_flag, and from bit 16 on the reasons of the gate (haptic/limit.h)
	int64_t ns;         // computing time of the tick
	tac_wrench written; // to the device, in its frame, with the support of its weight
	double gripper_N;   // to its gripper
} tac_render_row;

// Fills a def of `bytes` with the defaults.
// Thread: any.
TAC_API void tac_render_def_init(tac_render_def *out_def, size_t bytes);

// Continuous mover.
// Thread: any.
static inline tac_render_def tac_render_def_default(void)
{
	tac_render_def def;
	tac_render_def_init(&def, sizeof def);
	return def;
}

// Creates devices and servos. TAC_ERROR_ARGUMENT (no samples, no path for the first tool, times that differ
// or fall, or what tac_live_replay refuses) or TAC_ERROR_MEMORY, with one log line; *out_render is NULL then.
// Thread: setup.
TAC_API tac_result tac_render_create(const tac_render_def *def, tac_render **out_render);

// Runs the next sample of all tools, and fills a row for each tool of the scene. False, without a change,
// after the last sample. Thread: any, one at a time.
TAC_API bool tac_render_step(tac_render *render, tac_render_row out_rows[TAC_SCENE_TOOLS]);

// What was done with tool `tool` so far (haptic/task.h).
// Thread: that of tac_render_step.
TAC_API const tac_task_figures *tac_render_task(tac_render *render, int32_t tool);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_render_destroy(tac_render **render);

#ifdef __cplusplus
}
#endif

#endif
