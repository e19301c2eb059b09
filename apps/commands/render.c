// tactus render SCENE --input IN.csv --output OUT.csv: the same servo off line, on a path of the device from
// a file, with two hands on two. Nothing depends on the clock but the last column, so the same path gives the
// same bits, on every run and with every instruction set.
#include "apps/commands.h"
#include "apps/options.h"
#include "apps/render_chai3d.h"
#include "apps/session.h"
#include "base/denormal.h"
#include "haptic/mapping.h"
#include "rt/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS 8    // t_s,x,y,z,qx,qy,qz,qw
#define SKEW    1e-2 // what the length of a quaternion may lack to 1: beyond it is a mistake in the file

typedef struct sample {
	int64_t time_ns;
	tac_dpose T;
} sample;

// A device that is where the file says. It has no mechanics, so nothing is derated and nothing brakes, and
// takes any force.
typedef struct path_device {
	tac_device base;
	const sample *samples;
	size_t at;
} path_device;

static tac_device_status path_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	const path_device *d = (const path_device *)device;
	const sample *s = &d->samples[d->at], *before = d->at > 0 ? s - 1 : s;
	*out_state = (tac_device_state){.time_ns = now_ns, .T_base_tool = s->T};
	if (s != before) {
		const double rate = 1e9 / (double)(s->time_ns - before->time_ns);
		out_state->velocity_m_per_s =
			tac_dvec3_scale(tac_dvec3_sub(s->T.position, before->T.position), rate);
		out_state->angular_velocity_rad_per_s = tac_dvec3_scale(
			tac_dquat_log(tac_dquat_mul(s->T.rotation, tac_dquat_conjugate(before->T.rotation))),
			rate);
	}
	return TAC_DEVICE_OK;
}

static tac_device_status path_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)device;
	(void)now_ns;
	(void)wrench;
	return TAC_DEVICE_OK;
}

static void path_enable(tac_device *device, bool on)
{
	(void)device;
	(void)on;
}

// ---- the input ----

// The numbers at the start of a line, at most NUMBERS. What follows them does not count, so that an exported
// recording is a path, too.
static int read_numbers(const char *line, double out[NUMBERS])
{
	for (int n = 0; n < NUMBERS; n++) {
		char *end;
		line += strspn(line, " \t");
		out[n] = strtod(line, &end);
		if (end == line || !isfinite(out[n]))
			return n;
		line = end + strspn(end, " \t\r\n");
		if (n + 1 < NUMBERS && *line != ',')
			return n + 1;
		line += *line == ',';
	}
	return NUMBERS;
}

static int refuse(const char *path, size_t line, const char *expected, const char *found)
{
	fprintf(stderr, "tactus render: %s:%zu: expected %s, found %s\n", path, line, expected, found);
	return EXIT_BAD_INPUT;
}

static int take_line(const char *path, size_t number, const char *line, sample **samples, size_t *count,
		     size_t *capacity)
{
	double x[NUMBERS];
	char found[48];
	const int n = read_numbers(line, x);
	if (n < NUMBERS) {
		snprintf(found, sizeof found, "%d", n);
		return refuse(path, number, "8 numbers (t_s,x,y,z,qx,qy,qz,qw)", found);
	}
	const tac_dquat q = tac_dquat_make(x[4], x[5], x[6], x[7]);
	const double length = sqrt(tac_dquat_dot(q, q));
	if (!(fabs(length - 1) <= SKEW)) {
		snprintf(found, sizeof found, "one of length %g", length);
		return refuse(path, number, "a quaternion of length 1", found);
	}
	if (!(fabs(x[0]) < 1e9)) {
		snprintf(found, sizeof found, "%g", x[0]);
		return refuse(path, number, "a time below 1e9 s", found);
	}
	const sample s = {llround(x[0] * 1e9), tac_dpose_make(tac_dvec3_load(x + 1), tac_dquat_normalize(q))};
	if (*count > 0 && s.time_ns <= (*samples)[*count - 1].time_ns)
		return refuse(path, number, "a time after that of the line before", "an earlier one");
	if (*count == *capacity) {
		*capacity = *capacity ? 2 * *capacity : 4096;
		sample *more = realloc(*samples, *capacity * sizeof *more);
		if (!more) {
			fprintf(stderr, "tactus render: %s: no memory for %zu samples\n", path, *capacity);
			return EXIT_FAILURE;
		}
		*samples = more;
	}
	(*samples)[(*count)++] = s;
	return EXIT_SUCCESS;
}

static int read_path(const char *path, sample **out_samples, size_t *out_count)
{
	*out_samples = NULL;
	*out_count = 0;
	FILE *file = fopen(path, "r");
	if (!file) {
		fprintf(stderr, "tactus render: %s: cannot read the path: %s\n", path, strerror(errno));
		return EXIT_BAD_INPUT;
	}
	char *line = NULL;
	size_t size = 0, number = 0, capacity = 0;
	int code = EXIT_SUCCESS;
	errno = 0;
	while (code == EXIT_SUCCESS && getline(&line, &size, file) >= 0) {
		const char *text = line + strspn(line, " \t\r\n");
		if (++number == 1 && strncmp(text, "t_s", 3) == 0)
			continue;
		if (*text != 0 && *text != '#')
			code = take_line(path, number, text, out_samples, out_count, &capacity);
	}
	if (code == EXIT_SUCCESS && (ferror(file) || errno == EISDIR)) {
		fprintf(stderr, "tactus render: %s: cannot read the path: %s\n", path, strerror(errno));
		code = EXIT_BAD_INPUT;
	} else if (code == EXIT_SUCCESS && *out_count == 0) {
		fprintf(stderr, "tactus render: %s: expected poses, found none\n", path);
		code = EXIT_BAD_INPUT;
	}
	free(line);
	fclose(file);
	return code;
}

// ---- the output ----

static void write_vector(FILE *file, tac_dvec3 v)
{
	fprintf(file, ",%.17g,%.17g,%.17g", v.x, v.y, v.z);
}

static void write_pose(FILE *file, tac_dpose T)
{
	write_vector(file, T.position);
	fprintf(file, ",%.17g,%.17g,%.17g,%.17g", T.rotation.x, T.rotation.y, T.rotation.z, T.rotation.w);
}

static void write_head(FILE *file)
{
	fprintf(file, "t_s,x,y,z,qx,qy,qz,qw,sco_x,sco_y,sco_z,sco_qx,sco_qy,sco_qz,sco_qw,fx,fy,fz,tx,ty,tz,"
		      "contacts,flags,ns\n");
}

// The same path through CHAI3D's finger proxy: where ours has the SCO, it has its proxy; it has no torques,
// no gate and no flags.
static bool render_chai3d(FILE *file, const tac_world *world, path_device *device, size_t count)
{
	chai3d_scene *scene;
	tac_mapping mapping = tac_mapping_make(&world->scene->tools[0].mapping);
	bool good = chai3d_scene_create(world, &scene);
	if (good)
		write_head(file);
	for (device->at = 0; good && device->at < count; device->at++) {
		const sample *s = &device->samples[device->at];
		tac_device_state state;
		path_read(&device->base, s->time_ns, &state);
		const tac_dpose T = tac_mapping_step(&mapping, &state);
		chai3d_answer a;
		good = chai3d_scene_step(scene, s->time_ns - device->samples[0].time_ns, T,
					 tac_mapping_velocity(&mapping, state.velocity_m_per_s), &a);
		if (!good)
			break;
		fprintf(file, "%.9f", (double)s->time_ns / 1e9);
		write_pose(file, s->T);
		write_pose(file, tac_dpose_make(a.proxy_m, T.rotation));
		write_vector(file, a.force_N);
		write_vector(file, tac_dvec3_zero());
		fprintf(file, ",%d,0,%lld\n", a.contacts, (long long)a.ns);
	}
	chai3d_scene_destroy(&scene);
	return good;
}

// ---- the tools ----

static path_device make_device(void)
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
	};
}

// One that no file moves: at the times of the first, along the path that the scene has for its hand.
static sample *follow_scene(const tac_scene_tool *tool, const sample *first, size_t count)
{
	sample *samples = malloc(count * sizeof *samples);
	const tac_mapping mapping = tac_mapping_make(&tool->mapping);
	for (size_t i = 0; samples && i < count; i++) {
		const tac_dpose T = tac_world_path_pose(tool->hand, tool->hand_count,
							first[i].time_ns - first[0].time_ns);
		samples[i] = (sample){first[i].time_ns, tac_mapping_inverse(&mapping, T)};
	}
	return samples;
}

typedef struct job {
	const char *inputs[TAC_SCENE_TOOLS], *outputs[TAC_SCENE_TOOLS]; // NULL: none
	bool chai3d;
	session s;
	size_t count;
	sample *samples[TAC_SCENE_TOOLS];
	path_device devices[TAC_SCENE_TOOLS];
	FILE *files[TAC_SCENE_TOOLS];
} job;

// The paths of all tools after the first, which has been read.
static int read_others(job *j)
{
	const int32_t tools = j->chai3d ? 1 : j->s.scene->tool_count;
	for (int32_t i = 1; i < TAC_SCENE_TOOLS; i++) {
		if (i >= tools && (j->inputs[i] || j->outputs[i])) {
			fprintf(stderr,
				"tactus render: input%d: expected a scene with so many tools, found %d\n",
				(int)i + 1, (int)tools);
			return EXIT_BAD_INPUT;
		}
		if (i >= tools)
			continue;
		if (!j->inputs[i]) {
			j->samples[i] = follow_scene(&j->s.scene->tools[i], j->samples[0], j->count);
			if (!j->samples[i])
				return EXIT_FAILURE;
			continue;
		}
		size_t count, k = 0;
		const int code = read_path(j->inputs[i], &j->samples[i], &count);
		if (code != EXIT_SUCCESS)
			return code;
		while (k < count && k < j->count && j->samples[i][k].time_ns == j->samples[0][k].time_ns)
			k++;
		if (k < count || k < j->count) {
			fprintf(stderr,
				"tactus render: %s: expected the times of %s, found another in pose %zu\n",
				j->inputs[i], j->inputs[0], k + 1);
			return EXIT_BAD_INPUT;
		}
	}
	return EXIT_SUCCESS;
}

static int compare_ns(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

// The loop's period that the path was taken with: the median of its steps, so that gaps and jitter do not
// count. 0: a path of one pose has none, or no memory.
static int64_t median_step_ns(const sample *samples, size_t count)
{
	int64_t *steps = count > 1 ? malloc((count - 1) * sizeof *steps) : NULL;
	if (!steps)
		return 0;
	for (size_t i = 0; i + 1 < count; i++)
		steps[i] = samples[i + 1].time_ns - samples[i].time_ns;
	qsort(steps, count - 1, sizeof *steps, compare_ns);
	const int64_t median = steps[(count - 1) / 2];
	free(steps);
	return median;
}

static int create_servos(job *j, int mover)
{
	const int64_t period_ns = median_step_ns(j->samples[0], j->count);
	j->s.count = j->s.scene->tool_count;
	for (int32_t i = 0; i < j->s.count; i++) {
		tac_servo_def servo = tac_servo_def_default();
		servo.world = j->s.world;
		servo.tool = i;
		servo.device = &j->devices[i].base;
		servo.mover = (tac_sco_mover)mover;
		servo.budget_ns = 0;
		if (period_ns > 0)
			servo.period_ns = period_ns;
		if (tac_servo_create(&servo, &j->s.servos[i]) < TAC_OK)
			return EXIT_FAILURE;
	}
	return j->s.count == 2 && tac_servo_join(j->s.servos[0], j->s.servos[1]) < TAC_OK ? EXIT_FAILURE
											  : EXIT_SUCCESS;
}

static void write_row(FILE *file, const sample *s, const tac_snapshot *n, int64_t ns)
{
	fprintf(file, "%.9f", (double)s->time_ns / 1e9);
	write_pose(file, s->T);
	write_pose(file, n->T_world_sco);
	write_vector(file, n->sent.force_N);
	write_vector(file, n->sent.torque_Nm);
	fprintf(file, ",%d,%u,%lld\n", (int)n->contact_count, n->sco_flags | n->limits << 16, (long long)ns);
}

static void render(job *j)
{
	for (int32_t i = 0; i < j->s.count; i++) {
		if (j->files[i])
			write_head(j->files[i]);
	}
	for (size_t k = 0; k < j->count; k++) {
		for (int32_t i = 0; i < j->s.count; i++) {
			const sample *s = &j->samples[i][k];
			j->devices[i].at = k;
			const int64_t begin_ns = tac_clock_now_ns();
			tac_servo_step(j->s.servos[i], s->time_ns, NULL);
			const int64_t ns = tac_clock_now_ns() - begin_ns;
			if (j->files[i])
				write_row(j->files[i], s, tac_servo_snapshot(j->s.servos[i], 0), ns);
		}
	}
}

static bool open_files(job *j)
{
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		if (!j->outputs[i])
			continue;
		j->files[i] = strcmp(j->outputs[i], "-") == 0 ? stdout : fopen(j->outputs[i], "w");
		if (!j->files[i])
			return false;
	}
	return true;
}

// False when what was written did not all arrive.
static bool close_files(job *j)
{
	bool good = true;
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		FILE *file = j->files[i];
		if (file)
			good = !ferror(file) && (file == stdout ? fflush(file) : fclose(file)) == 0 && good;
	}
	return good;
}

static int write_all(job *j)
{
	int code = EXIT_SUCCESS;
	bool good = open_files(j);
	if (good && j->chai3d) {
		code = render_chai3d(j->files[0], j->s.world, &j->devices[0], j->count) ? EXIT_SUCCESS
											: EXIT_FAILURE;
	} else if (good) {
		tac_denormal_flush(true); // as on the real-time thread
		render(j);
		tac_denormal_flush(false);
	}
	good = close_files(j) && good;
	if (!good) {
		fprintf(stderr, "tactus render: %s: cannot write: %s\n", j->outputs[0], strerror(errno));
		code = EXIT_FAILURE;
	}
	return code;
}

static int run(const session_def *def, job *j)
{
	int code = read_path(j->inputs[0], &j->samples[0], &j->count);
	if (code == EXIT_SUCCESS)
		code = session_open(def, "tactus render", true, &j->s);
	if (code == EXIT_SUCCESS)
		code = read_others(j);
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		j->devices[i] = make_device();
		j->devices[i].samples = j->samples[i];
	}
	if (code == EXIT_SUCCESS && !j->chai3d)
		code = create_servos(j, def->mover);
	if (code == EXIT_SUCCESS)
		code = write_all(j);
	session_close(&j->s);
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++)
		free(j->samples[i]);
	return code;
}

int cmd_render(int argc, char **argv)
{
	static const char *const movers[] = {"continuous", "reactive", NULL};
	session_def def = {.mover = TAC_SCO_CONTINUOUS};
	static const char *const renderers[] = {"tactus", "chai3d", NULL};
	job j = {0};
	int renderer = 0;
	const option_def options[] = {
		{"scene", OPTION_POSITIONAL, &def.scene, 0, 0, NULL, "SCENE",
		 "a built-in scene, a scene file or a mesh file, as `tactus run` takes it"},
		{"input", OPTION_TEXT, &j.inputs[0], 0, 0, NULL, "IN.csv",
		 "the device's path, a line a tick: t_s,x,y,z,qx,qy,qz,qw; more columns do not count"},
		{"output", OPTION_TEXT, &j.outputs[0], 0, 0, NULL, "OUT.csv",
		 "the same with sco_x,…,sco_qw,fx,fy,fz,tx,ty,tz,contacts,flags,ns; - is the standard "
		 "output. flags: "
		 "what the mover met (haptic/sco.h), and from bit 16 on why the gate stepped in "
		 "(haptic/limit.h)"},
		{"input2", OPTION_TEXT, &j.inputs[1], 0, 0, NULL, "IN.csv",
		 "of a second tool, with the same times; without it the tool follows the scene's path of its "
		 "hand"},
		{"output2", OPTION_TEXT, &j.outputs[1], 0, 0, NULL, "OUT.csv", "of a second tool"},
		{"collider", OPTION_TEXT, &def.collider, 0, 0, NULL, "NAME",
		 "wide (the default), doptree, classic, scd, chip or board"},
		{"mover", OPTION_CHOICE, &def.mover, 0, 0, movers, NULL,
		 "proved motion that never penetrates, or place, ask and back off"},
		{"renderer", OPTION_CHOICE, &renderer, 0, 0, renderers, NULL,
		 "who computes the forces; CHAI3D's finger proxy takes spheres as tools (docs/chai3d.md)"},
		{0},
	};
	const command_line line = {"tactus render",
				   "the forces along a path of the device, from file to file", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (!j.inputs[0] || !j.outputs[0]) {
		const char *missing = j.inputs[0] ? "output" : "input";
		fprintf(stderr, "tactus render: %s: expected --%s FILE, found the end of the line\n", missing,
			missing);
		return EXIT_BAD_INPUT;
	}
	j.chai3d = renderer == 1;
	return run(&def, &j);
}
