// Path: the poses of a device over time, and a device that is at one of them. haptic/render.h runs the servo
// along such paths, off line.
#ifndef TAC_HAPTIC_PATH_H
#define TAC_HAPTIC_PATH_H

#include "base/result.h"
#include "devices/device.h"
#include "haptic/scene.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_path_sample {
	int64_t time_ns;
	tac_dpose T_base_tool;
} tac_path_sample;

#define TAC_PATH_NUMBERS 8 // t_s,x,y,z,qx,qy,qz,qw

// Makes a sample of these numbers: time in s, position in m, rotation as a quaternion, which is normalised.
// `previous` is the sample before it; NULL: none. TAC_ERROR_FORMAT without a log line if a number is not
// finite, the quaternion's length is not about 1 or the time is not after the previous one; out_reason is
// then "expected …, found …".
// Thread: any.
TAC_API tac_result tac_path_sample_make(const double numbers[TAC_PATH_NUMBERS],
					const tac_path_sample *previous, tac_path_sample *out_sample,
					char *out_reason, size_t reason_size);

// Reads a file with a line t_s,x,y,z,qx,qy,qz,qw for each sample. A header line, empty lines, lines that
// begin with # and further columns are ignored, so an exported recording is a path, too. Times must increase.
// The caller frees *out_samples. TAC_ERROR_IO, TAC_ERROR_FORMAT or TAC_ERROR_MEMORY with one log line;
// *out_samples is NULL then.
// Thread: setup.
TAC_API tac_result tac_path_load(const char *path, tac_path_sample **out_samples, size_t *out_count);

// Fills `out_samples` with the scripted hand of `tool`, at the `count` times of `times`.
// Thread: any.
TAC_API void tac_path_from_hand(const tac_scene_tool *tool, const tac_path_sample *times, size_t count,
				tac_path_sample *out_samples);

// The median of the steps in time: the period of the loop that the path was recorded with. Gaps and jitter do
// not affect it: if a rate of a whole number of hertz is within 0.05 %, it is that. *out_period_ns is 0 for a
// path with fewer than two samples. TAC_ERROR_MEMORY with a log line. Thread: setup.
TAC_API tac_result tac_path_period(const tac_path_sample *samples, size_t count, int64_t *out_period_ns);

// A device at sample `index` of a path. It has no mechanics, so nothing is derated or damped, and it accepts
// any force.
typedef struct tac_path_device {
	tac_device base;
	const tac_path_sample *samples;
	size_t index;
} tac_path_device;

// `samples` stays the caller's and outlives the device.
// Thread: any.
TAC_API tac_path_device tac_path_device_make(const tac_path_sample *samples);

#ifdef __cplusplus
}
#endif

#endif
