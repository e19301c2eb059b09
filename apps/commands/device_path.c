#include "apps/commands/device_path.h"

#include "apps/session/options.h"
#include "base/input.h"
#include "haptic/mapping.h"
#include "haptic/world.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS      8    // t_s,x,y,z,qx,qy,qz,qw
#define LENGTH_ERROR 1e-2 // of a quaternion: a greater deviation from 1 is a mistake in the file

// ---- files ----

typedef struct path_file {
	const char *path;
	size_t line; // of the line being read, from 1
	path_sample *samples;
	size_t count, capacity;
} path_file;

// Reads up to COLUMNS numbers from the start of a line and returns how many there are. Ignores the rest.
static int read_numbers(const char *line, double out[COLUMNS])
{
	for (int n = 0; n < COLUMNS; n++) {
		char *end;
		line += strspn(line, " \t");
		out[n] = strtod(line, &end);
		if (end == line || !isfinite(out[n]))
			return n;
		line = end + strspn(end, " \t\r\n");
		if (n + 1 < COLUMNS && *line != ',')
			return n + 1;
		line += *line == ',';
	}
	return COLUMNS;
}

static int refuse(const path_file *f, const char *expected, const char *found)
{
	fprintf(stderr, "tactus render: %s:%zu: expected %s, found %s\n", f->path, f->line, expected, found);
	return EXIT_BAD_INPUT;
}

static int append(path_file *f, path_sample s)
{
	if (f->count == f->capacity) {
		f->capacity = f->capacity ? 2 * f->capacity : 4096;
		path_sample *grown = realloc(f->samples, f->capacity * sizeof *grown);
		if (!grown) {
			fprintf(stderr, "tactus render: %s: no memory for %zu samples\n", f->path,
				f->capacity);
			return EXIT_FAILURE;
		}
		f->samples = grown;
	}
	f->samples[f->count++] = s;
	return EXIT_SUCCESS;
}

static int read_line(path_file *f, const char *line)
{
	double x[COLUMNS];
	char found[48];
	const int n = read_numbers(line, x);
	if (n < COLUMNS) {
		snprintf(found, sizeof found, "%d", n);
		return refuse(f, "8 numbers (t_s,x,y,z,qx,qy,qz,qw)", found);
	}
	const tac_dquat q = tac_dquat_make(x[4], x[5], x[6], x[7]);
	const double length = sqrt(tac_dquat_dot(q, q));
	if (!(fabs(length - 1) <= LENGTH_ERROR)) {
		snprintf(found, sizeof found, "one of length %g", length);
		return refuse(f, "a quaternion of length 1", found);
	}
	if (!(fabs(x[0]) < 1e9)) {
		snprintf(found, sizeof found, "%g", x[0]);
		return refuse(f, "a time below 1e9 s", found);
	}
	const path_sample s = {llround(x[0] * 1e9),
			       tac_dpose_make(tac_dvec3_load(x + 1), tac_dquat_normalize(q))};
	if (f->count > 0 && s.time_ns <= f->samples[f->count - 1].time_ns) {
		snprintf(found, sizeof found, "%.9g s", x[0]);
		return refuse(f, "a time after that of the previous line", found);
	}
	return append(f, s);
}

int device_path_read(const char *path, path_sample **out_samples, size_t *out_count)
{
	path_file f = {.path = path};
	*out_samples = NULL;
	*out_count = 0;
	FILE *file = tac_input_open(path);
	char *line = file ? malloc(TAC_INPUT_LINE_MAX + 1) : NULL;
	long length = line ? 0 : -1;
	int code = EXIT_SUCCESS;
	while (line && code == EXIT_SUCCESS && (length = tac_input_line(file, line)) > 0) {
		const char *text = line + strspn(line, " \t\r\n");
		f.line++;
		if (f.line == 1 && strncmp(text, "t_s", 3) == 0)
			continue;
		if (*text != 0 && *text != '#')
			code = read_line(&f, text);
	}
	if (code == EXIT_SUCCESS && length < 0) {
		fprintf(stderr, "tactus render: %s: cannot read the path: %s\n", path,
			tac_input_reason(errno));
		code = EXIT_BAD_INPUT;
	} else if (code == EXIT_SUCCESS && f.count == 0) {
		fprintf(stderr, "tactus render: %s: expected poses, found none\n", path);
		code = EXIT_BAD_INPUT;
	}
	free(line);
	if (file)
		fclose(file);
	*out_samples = f.samples;
	*out_count = f.count;
	return code;
}

// ---- paths ----

path_sample *device_path_from_scene(const tac_scene_tool *tool, const path_sample *times, size_t count)
{
	path_sample *samples = malloc(count * sizeof *samples);
	if (!samples)
		fprintf(stderr, "tactus render: tool '%s': no memory for %zu samples\n", tool->name, count);
	const tac_mapping mapping = tac_mapping_make(&tool->mapping);
	for (size_t i = 0; samples && i < count; i++) {
		const tac_dpose T = tac_world_path_pose(tool->hand, tool->hand_count,
							times[i].time_ns - times[0].time_ns);
		samples[i] = (path_sample){times[i].time_ns, tac_mapping_inverse(&mapping, T)};
	}
	return samples;
}

static int compare_ns(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

int64_t device_path_period_ns(const path_sample *samples, size_t count)
{
	if (count < 2)
		return 0;
	int64_t *steps = malloc((count - 1) * sizeof *steps);
	if (!steps) {
		fprintf(stderr, "tactus render: no memory for the steps of %zu samples\n", count);
		return -1;
	}
	for (size_t i = 0; i + 1 < count; i++)
		steps[i] = samples[i + 1].time_ns - samples[i].time_ns;
	qsort(steps, count - 1, sizeof *steps, compare_ns);
	const int64_t median = steps[(count - 1) / 2];
	free(steps);
	return median;
}

// ---- the device ----

static tac_device_status path_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	const path_device *d = (const path_device *)device;
	const path_sample *s = &d->samples[d->index], *previous = d->index > 0 ? s - 1 : s;
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

path_device path_device_make(const path_sample *samples)
{
	return (path_device){
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
