// Task file: the figures of a task (haptic/task.h) as JSON, or as CSV where the file's name ends with .csv.
// `tactus run` and `tactus render` write it, `tactus task` reads and compares the JSON.
#ifndef TAC_APPS_SESSION_TASK_FILE_H
#define TAC_APPS_SESSION_TASK_FILE_H

#include "base/output.h"
#include "haptic/task.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct task_file {
	const char *path;   // NULL: none
	tac_output *output; // NULL: none, or it is written
} task_file;

// Prepares the file; `path` NULL: none is written. False after one log line. Call task_file_close in either
// case. Thread: setup.
bool task_file_open(const char *path, task_file *out_file);

// Writes the figures of the first `count` tools of the world, and completes the file. False after one log
// line. Thread: setup.
bool task_file_write(task_file *file, const tac_world *world, const tac_task_figures *const *figures,
		     int32_t count);

// Leaves no file behind that was not completed. Thread: setup.
void task_file_close(task_file *file);

#endif
