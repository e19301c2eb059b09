#include "haptic/path.h"

#include "base/log.h"
#include "haptic/mapping.h"
#include "haptic/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH_ERROR 1e-2 // of a quaternion: a greater deviation from 1 is a mistake in the data
#define TIME_MAX_S   1e9
// A period is taken as that of a whole number of hertz if it differs by less than this part of it.
#define WHOLE_HERTZ 2000

// ---- samples ----

tac_result tac_path_sample_make(const double numbers[TAC_PATH_NUMBERS], const tac_path_sample *previous,
				tac_path_sample *out_sample, char *out_reason, size_t reason_size)
{
	const tac_dquat q = tac_dquat_make(numbers[4], numbers[5], numbers[6], numbers[7]);
	const double length = sqrt(tac_dquat_dot(q, q));
	for (int i = 1; i < 4; i++) {
		if (isfinite(numbers[i]))
			continue;
		snprintf(out_reason, reason_size, "expected a finite position, found %g", numbers[i]);
		return TAC_ERROR_FORMAT;
	}
	if (!(fabs(length - 1) <= LENGTH_ERROR)) {
		snprintf(out_reason, reason_size, "expected a quaternion of length 1, found one of length %g",
			 length);
		return TAC_ERROR_FORMAT;
	}
	if (!(fabs(numbers[0]) < TIME_MAX_S)) {
		snprintf(out_reason, reason_size, "expected a time below 1e9 s, found %g", numbers[0]);
		return TAC_ERROR_FORMAT;
	}
	const tac_path_sample s = {llround(numbers[0] * 1e9),
				   tac_dpose_make(tac_dvec3_load(numbers + 1), tac_dquat_normalize(q))};
	if (previous && s.time_ns <= previous->time_ns) {
		snprintf(out_reason, reason_size,
			 "expected a time after that of the previous line, found %.9g s", numbers[0]);
		return TAC_ERROR_FORMAT;
	}
	*out_sample = s;
	return TAC_OK;
}

void tac_path_from_hand(const tac_scene_tool *tool, const tac_path_sample *times, size_t count,
			tac_path_sample *out_samples)
{
	const tac_mapping mapping = tac_mapping_make(&tool->mapping);
	for (size_t i = 0; i < count; i++) {
		const tac_dpose T = tac_world_path_pose(tool->hand, tool->hand_count,
							times[i].time_ns - times[0].time_ns);
		out_samples[i] = (tac_path_sample){times[i].time_ns, tac_mapping_inverse(&mapping, T)};
	}
}

static int compare_ns(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

tac_result tac_path_period(const tac_path_sample *samples, size_t count, int64_t *out_period_ns)
{
	*out_period_ns = 0;
	if (count < 2)
		return TAC_OK;
	int64_t *steps = malloc((count - 1) * sizeof *steps);
	if (!steps) {
		tac_log(TAC_LOG_ERROR, "path: no memory for %zu steps", count - 1);
		return TAC_ERROR_MEMORY;
	}
	for (size_t i = 0; i + 1 < count; i++)
		steps[i] = samples[i + 1].time_ns - samples[i].time_ns;
	qsort(steps, count - 1, sizeof *steps, compare_ns);
	const int64_t median_ns = steps[(count - 1) / 2];
	free(steps);
	*out_period_ns = median_ns;
	// The times of a run vary by its wake-ups; its rate is a whole number of hertz.
	if (median_ns > 0 && median_ns <= 1000000000) {
		const int64_t nominal_ns = llround(1e9 / (double)llround(1e9 / (double)median_ns));
		if (llabs(nominal_ns - median_ns) <= median_ns / WHOLE_HERTZ)
			*out_period_ns = nominal_ns;
	}
	return TAC_OK;
}

// ---- the device ----

static tac_device_status path_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	const tac_path_device *d = (const tac_path_device *)device;
	const tac_path_sample *s = &d->samples[d->index], *previous = d->index > 0 ? s - 1 : s;
	const tac_dpose T = s->T_base_tool, T_previous = previous->T_base_tool;
	*out_state = (tac_device_state){.time_ns = now_ns, .T_base_tool = T};
	if (s != previous) {
		const double rate = 1e9 / (double)(s->time_ns - previous->time_ns);
		out_state->velocity_m_per_s =
			tac_dvec3_scale(tac_dvec3_sub(T.position, T_previous.position), rate);
		out_state->angular_velocity_rad_per_s = tac_dvec3_scale(
			tac_dquat_log(tac_dquat_mul(T.rotation, tac_dquat_conjugate(T_previous.rotation))),
			rate);
	}
	return TAC_DEVICE_OK;
}

static tac_device_status path_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)device, (void)now_ns, (void)wrench;
	return TAC_DEVICE_OK;
}

static void path_enable(tac_device *device, bool on)
{
	(void)device, (void)on;
}

tac_path_device tac_path_device_make(const tac_path_sample *samples)
{
	return (tac_path_device){
		.base = {.info = {.name = "path",
				  .position_axes = 3,
				  .rotation_axes = 3,
				  .force_axes = 3,
				  .torque_axes = 3,
				  .max_force_N = 1e3,
				  .max_torque_Nm = 1e3},
			 .read = path_read,
			 .write = path_write,
			 .enable = path_enable},
		.samples = samples,
	};
}
