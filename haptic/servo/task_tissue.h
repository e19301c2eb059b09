// Task on tissue: how much of a body that yields was pressed, and how well the trainee found what is inside.
#ifndef TAC_HAPTIC_SERVO_TASK_TISSUE_H
#define TAC_HAPTIC_SERVO_TASK_TISSUE_H

#include "haptic/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_task_tissue_body {
	const tac_compliance *compliance;
	int32_t object;
	bool *pressed;                       // of each node
	tac_dvec3 centres[TAC_SCENE_INSIDE]; // of what is inside
	const char *names[TAC_SCENE_INSIDE];
	int32_t count;
} tac_task_tissue_body;

// Zero: nothing yields.
typedef struct tac_task_tissue {
	tac_task_tissue_body bodies[TAC_SCENE_SOFT];
	int32_t count;
	double area_m2, pressed_m2; // of all of them
	bool held;                  // the button
} tac_task_tissue;

// TAC_ERROR_MEMORY with one log line.
// Thread: setup.
tac_result tac_task_tissue_init(tac_task_tissue *tissue, const tac_world *world);

// Thread: setup.
void tac_task_tissue_fini(tac_task_tissue *tissue);

// Adds a tick to the figures.
// Thread: RT.
void tac_task_tissue_step(tac_task_tissue *tissue, const tac_snapshot *snapshot, double time_s,
			  tac_task_figures *figures);

#ifdef __cplusplus
}
#endif

#endif
