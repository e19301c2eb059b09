// Device path: the poses of a device over time, read from a CSV file, and a device that replays them off
// line.
#ifndef TAC_APPS_COMMANDS_DEVICE_PATH_H
#define TAC_APPS_COMMANDS_DEVICE_PATH_H

#include "devices/device.h"
#include "haptic/scene.h"

#include <stddef.h>
#include <stdint.h>

typedef struct path_sample {
	int64_t time_ns;
	tac_dpose T_base_tool;
} path_sample;

// Reads a file with a line t_s,x,y,z,qx,qy,qz,qw for each sample. A header line, empty lines, lines that
// begin with # and further columns are ignored, so an exported recording is a path, too. Times must increase.
// Returns an exit code: 0, or 1 or 2 after one line on stderr. The caller frees *out_samples in either case.
int device_path_read(const char *path, path_sample **out_samples, size_t *out_count);

// The scripted hand of the scene for `tool`, sampled at the `count` times of `times`. The caller frees it.
// NULL after one line: no memory.
path_sample *device_path_from_scene(const tac_scene_tool *tool, const path_sample *times, size_t count);

// The median of the steps in time: the period of the loop that the path was recorded with. Gaps and jitter do
// not affect it. 0: a path with one sample has none. -1 after one line: no memory.
int64_t device_path_period_ns(const path_sample *samples, size_t count);

// A device at sample `index` of a path. It has no mechanics, so nothing is derated or damped, and it accepts
// any force.
typedef struct path_device {
	tac_device base;
	const path_sample *samples;
	size_t index;
} path_device;

// `samples` stays the caller's and outlives the device.
path_device path_device_make(const path_sample *samples);

#endif
