// Task: what a trainee did with a tool, as figures: times, forces, paths, punctures, volumes, distances to
// protected structures, coverage. A pure function of the snapshots of all ticks, so a run and a render along
// the same path give the same figures, and a recording can be judged again. The limits are those of the scene
// (docs/scene.md, key `task`).
//
// Figures describe what happened in the simulation. They are no assessment of a person; docs/tissue.md says
// what is validated and what is not.
#ifndef TAC_HAPTIC_TASK_H
#define TAC_HAPTIC_TASK_H

#include "base/api.h"
#include "base/result.h"
#include "haptic/snapshot.h"
#include "haptic/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_task tac_task;

#define TAC_TASK_PUNCTURES  32
#define TAC_TASK_STRUCTURES 8

// A membrane that was opened.
typedef struct tac_task_puncture {
	double time_s;         // since the start
	double depth_m;        // of the tip along its track
	double force_N;        // that was sent in the tick before, along the needle
	double speed_m_per_s;  // of the tip over the 20 ms before
	int32_t object, layer; // of the scene; of the object
} tac_task_puncture;

// A protected structure.
typedef struct tac_task_structure {
	const char *name; // of the scene
	double warn_m;
	double distance_m;          // in the last tick; below 0 inside; HUGE_VAL before the first
	double least_distance_m;    // ever
	double least_time_s;        // when
	double warned_s;            // time closer than warn_m
	double breached_s;          // time inside
	double warned_force_N;      // the largest while closer than warn_m
	double warned_feed_m_per_s; // the same of a drill's feed
	int32_t warnings, breaches; // how often it came closer, or inside
	// Ticks in which the search in a mesh was not finished (tissue/clearance.h): the distance may be too
	// large.
	int64_t unfinished;
} tac_task_structure;

typedef struct tac_task_figures {
	double time_s;       // from the first tick to the last
	double touch_s;      // time with contact or in tissue
	double max_force_N;  // sent
	double mean_force_N; // over the time of touch
	double force_95_N; // that 95 % of the ticks with touch stay below, in steps of TAC_TASK_FORCE_STEP_N
	double over_s;     // time above the limit of the force
	int32_t overs;     // how often it was exceeded
	double path_m;     // of the tool's origin: the tip of a needle
	double turn_rad;   // how far the tool turned in all
	double max_speed_m_per_s; // of the device, mapped to the world

	// Of a needle.
	int32_t puncture_count; // all; the first TAC_TASK_PUNCTURES are listed
	tac_task_puncture punctures[TAC_TASK_PUNCTURES];
	int32_t insertions, branches; // tac_needle_state
	int32_t bone_contacts;        // how often something rigid was touched
	double bone_s;
	double max_depth_m; // below the skin, along the layers' normal
	bool reached;       // the target layer was entered
	double reached_s;   // when first
	double overshoot_m; // beyond the upper side of the target layer, at most
	double angle_rad;   // to the planned direction, when the skin was last opened; 0 without a plan

	tac_task_structure structures[TAC_TASK_STRUCTURES];
	int32_t structure_count;
	double volume_m3[TAC_SCENE_MATERIALS + 1]; // removed, by material of the world
	double target_m3;      // volume of the materials to be removed, at the start; 0: none
	double removed;        // part of it that was removed, 0 … 1
	double healthy_m3;     // removed of all other materials
	double drill_s, air_s; // that a drill ran, and of that the time without touching
	double full_s;         // and in which it did not cut, because the body's pool was full
	double mean_load;      // of its motor while it cut, 0 … 1
	double coverage;       // part of the target object's area that was touched, 0 … 1

	// Of a body that yields. A mark is a press of button 0 while the tool presses the body.
	double pressed; // part of its area that was pressed with TAC_TASK_PRESS_MIN_N … MAX_N, 0 … 1
	int32_t marks;
	const char *mark_name; // of what is inside, that the last mark was nearest to
	double mark_error_m;   // distance of its centre from the line along which the tool pressed
	double mark_s;         // when

	// Limits of the scene; 0: none.
	double limit_force_N, limit_time_s, limit_path_m;
	double limit_removed; // the least part to be removed
	bool passed; // no limit exceeded, nothing breached, and the target reached or removed if there is one
} tac_task_figures;

#define TAC_TASK_FORCE_STEP_N 0.02
// With less force nothing below the surface is felt, with more the patient feels it.
#define TAC_TASK_PRESS_MIN_N 0.3
#define TAC_TASK_PRESS_MAX_N 2.0

// Prepares the figures of `tool`. The world outlives the task. TAC_ERROR_ARGUMENT (solids of a protected
// structure that are not spheres or capsules, or too many of them) or TAC_ERROR_MEMORY, with one log line;
// *out_task is NULL then. The caller owns *out_task.
// Thread: setup.
TAC_API tac_result tac_task_create(const tac_world *world, int32_t tool, tac_task **out_task);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_task_destroy(tac_task **task);

// Adds a tick.
// Thread: RT.
TAC_API void tac_task_step(tac_task *task, const tac_snapshot *snapshot);

// Adds a volume that was removed from the material `material` of the world.
// Thread: RT.
TAC_API void tac_task_add_volume(tac_task *task, int32_t material, double volume_m3);

// The figures so far. The pointer stays valid until the task is destroyed.
// Thread: that of tac_task_step, or any after the last step.
TAC_API const tac_task_figures *tac_task_read(tac_task *task);

// The unit of a figure that is 1 for yes and 0 for no.
#define TAC_TASK_YES_NO "yes/no"

// One figure by name, for lists, files and comparisons.
typedef struct tac_task_row {
	char name[64];    // "largest force"
	const char *unit; // "N"; "" for counts; TAC_TASK_YES_NO
	double value;
	double limit;  // HUGE_VAL: none
	bool at_least; // the limit is the smallest value allowed, not the largest
	bool exceeded; // the value is beyond its limit
	// Number of the puncture or of the protected structure that it describes, from 1; 0: it describes the
	// whole run.
	int32_t puncture, structure;
} tac_task_row;

#define TAC_TASK_ROWS 96

// All figures that apply to the world's tool, in a fixed order. Returns their number.
// Thread: any.
TAC_API int32_t tac_task_list(const tac_task_figures *figures, const tac_world *world, int32_t tool,
			      tac_task_row out_rows[TAC_TASK_ROWS]);

#ifdef __cplusplus
}
#endif

#endif
