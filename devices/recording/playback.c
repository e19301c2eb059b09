#include "devices/recording/playback.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

typedef struct playback {
	tac_device base;
	bool repeat;
	bool started;
	int64_t origin_ns; // the clock at the first sample
	int64_t length_ns; // from the first sample to the end, or to the repetition
	int64_t shown_ns;  // due time of the last sample read
	atomic_bool enabled;
	int lock; // the file, locked against recorders; -1: the recording came from memory
	size_t count;
	tac_device_sample samples[]; // times start at 0
} playback;

static playback *playback_of(tac_device *device)
{
	return (playback *)device;
}

// The last sample that is due at `time_ns` ≥ 0.
static size_t due_at(const playback *p, int64_t time_ns)
{
	size_t low = 0, high = p->count;
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		if (p->samples[middle].state.time_ns <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static tac_device_status playback_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	playback *p = playback_of(device);
	const bool first = !p->started;
	if (first) {
		p->started = true;
		p->origin_ns = now_ns;
	}
	int64_t time_ns = now_ns > p->origin_ns ? now_ns - p->origin_ns : 0;
	int64_t begin_ns = p->origin_ns;
	const bool ended = !p->repeat && time_ns >= p->length_ns;
	if (p->repeat) {
		begin_ns += time_ns / p->length_ns * p->length_ns;
		time_ns %= p->length_ns;
	}
	const size_t due = due_at(p, time_ns);
	const int64_t due_ns = begin_ns + p->samples[due].state.time_ns;
	const bool fresh = first || due_ns > p->shown_ns;
	p->shown_ns = due_ns;
	*out_state = p->samples[due].state;
	out_state->time_ns = due_ns;
	if (ended)
		return TAC_DEVICE_ENDED;
	return fresh ? p->samples[due].status : TAC_DEVICE_STALE;
}

static tac_device_status playback_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)now_ns;
	(void)wrench;
	return atomic_load_explicit(&playback_of(device)->enabled, memory_order_relaxed)
		       ? TAC_DEVICE_OK
		       : TAC_DEVICE_DISABLED;
}

static void playback_enable(tac_device *device, bool on)
{
	atomic_store_explicit(&playback_of(device)->enabled, on, memory_order_relaxed);
}

static void playback_destroy(tac_device *device)
{
	playback *p = playback_of(device);
	if (p->lock >= 0)
		close(p->lock); // unlocks it
	free(p);
}

// A century. Later times are damage; sums of two times up to this do not overflow.
#define TIME_MAX_NS INT64_C(3000000000000000000)

static bool usable(const tac_device_sample *sample, int64_t after_ns)
{
	const tac_device_state *state = &sample->state;
	const double length = tac_dquat_dot(state->T_base_tool.rotation, state->T_base_tool.rotation);
	return state->time_ns > after_ns && state->time_ns < TIME_MAX_NS &&
	       tac_dpose_finite(state->T_base_tool) && length > 0.99 && length < 1.01 &&
	       tac_dvec3_finite(state->velocity_m_per_s) &&
	       tac_dvec3_finite(state->angular_velocity_rad_per_s) && isfinite(state->gripper_m) &&
	       isfinite(state->gripper_m_per_s);
}

tac_result tac_playback_create(const tac_recording *recording, bool repeat, tac_device **out_device)
{
	*out_device = NULL;
	playback *p = calloc(1, sizeof *p + recording->count * sizeof p->samples[0]);
	if (!p) {
		tac_log(TAC_LOG_ERROR, "playback: expected memory for %zu samples, found none",
			recording->count);
		return TAC_ERROR_MEMORY;
	}
	int64_t after_ns = -TIME_MAX_NS, first_ns = 0;
	const tac_recording_header *header = &recording->header;
	tac_device_info info = {
		.position_axes = 3,
		.rotation_axes = 3,
		.force_axes = header->max_force_N > 0 ? 3 : 0,
		.torque_axes = header->max_torque_Nm > 0 ? 3 : 0,
		.max_force_N =
			header->max_force_N > 0 ? (double)header->max_force_N : TAC_DEVICE_SHOWN_FORCE_N,
		.max_torque_Nm = header->max_torque_Nm > 0 ? (double)header->max_torque_Nm
							   : TAC_DEVICE_SHOWN_TORQUE_NM,
		.gripper_max_m = (double)header->gripper_max_m,
		.max_gripper_N = (double)header->max_gripper_N,
		.buttons = 32,
	};
	for (size_t i = 0; i < recording->count; i++) {
		const tac_device_sample *sample = &recording->samples[i];
		if (!usable(sample, after_ns))
			continue;
		const tac_dvec3 position = sample->state.T_base_tool.position;
		if (p->count == 0) {
			first_ns = sample->state.time_ns;
			info.workspace_min_m = info.workspace_max_m = position;
		}
		after_ns = sample->state.time_ns;
		info.workspace_min_m = tac_dvec3_min(position, info.workspace_min_m);
		info.workspace_max_m = tac_dvec3_max(position, info.workspace_max_m);
		p->samples[p->count] = *sample;
		p->samples[p->count++].state.time_ns -= first_ns;
	}
	if (p->count == 0) {
		tac_log(TAC_LOG_ERROR, "playback: expected samples, found none usable of %zu",
			recording->count);
		free(p);
		return TAC_ERROR_FORMAT;
	}
	// A sample was taken in each tick of the loop.
	const int64_t period_ns = recording->header.loop_period_ns > 0 ? recording->header.loop_period_ns
								       : recording->header.period_ns;
	info.period_ns = period_ns > 0 && period_ns < TIME_MAX_NS ? period_ns : 1000000;
	snprintf(info.name, sizeof info.name, "playback:%.20s", recording->header.name);
	memcpy(info.serial, recording->header.serial, sizeof info.serial);
	p->base = (tac_device){info, playback_read, playback_write, playback_enable, playback_destroy, NULL};
	p->repeat = repeat;
	p->lock = -1;
	p->length_ns = p->samples[p->count - 1].state.time_ns + info.period_ns;
	*out_device = &p->base;
	if (p->count < recording->count) {
		tac_log(TAC_LOG_WARNING, "playback: omitted %zu of %zu samples with an invalid time or pose",
			recording->count - p->count, recording->count);
		return TAC_PARTIAL;
	}
	return TAC_OK;
}

// ---- the driver ----

void tac_playback_list(tac_driver_report *report)
{
	snprintf(report->reason, sizeof report->reason, "any recording: --device playback:FILE");
}

// Locks the file, so that nobody records over it while it is played back. What else is wrong with it shows
// when it is read. False after a log line: it is being recorded.
static bool lock_file(const char *path, int *out_lock)
{
	*out_lock = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*out_lock < 0 || flock(*out_lock, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return true;
	tac_log(TAC_LOG_ERROR, "playback %s: expected a finished recording, found one that is being written",
		path);
	close(*out_lock);
	return false;
}

tac_result tac_playback_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	if (!*which) {
		tac_log(TAC_LOG_ERROR, "playback: expected a recording as in playback:FILE, found no name");
		return TAC_ERROR_ARGUMENT;
	}
	int lock;
	if (!lock_file(which, &lock))
		return TAC_ERROR_IO;
	tac_recording recording;
	const tac_result loaded = tac_recording_load(which, &recording);
	tac_result result = loaded;
	if (loaded >= TAC_OK)
		result = tac_playback_create(&recording, def->repeat, out_device);
	tac_recording_fini(&recording);
	if (result >= TAC_OK)
		playback_of(*out_device)->lock = lock;
	else if (lock >= 0)
		close(lock);
	return result == TAC_OK ? loaded : result;
}
