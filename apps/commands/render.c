// tactus render SCENE --input IN.csv --output OUT.csv: runs the servos off line (haptic/render.h) along
// device paths from files, one path for each tool, or repeats recorded runs. Only the last column depends on
// the clock.
#include "haptic/render.h"
#include "apps/commands/commands.h"
#include "apps/commands/render_chai3d.h"
#include "apps/session/options.h"
#include "apps/session/session.h"
#include "apps/session/task_file.h"
#include "base/output.h"
#include "devices/recording.h"
#include "haptic/mapping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct render_job {
	const char *inputs[TAC_SCENE_TOOLS], *outputs[TAC_SCENE_TOOLS]; // NULL: none
	const char *task_path;                                          // NULL: none
	task_file task;
	bool chai3d;
	session session;
	size_t count;                              // of samples in each path
	tac_path_sample *samples[TAC_SCENE_TOOLS]; // NULL: the scene's scripted hand
	bool recorded;                             // the inputs are recordings, in place of paths
	tac_recording recordings[TAC_SCENE_TOOLS];
	tac_output *files[TAC_SCENE_TOOLS]; // NULL: none
} render_job;

// ---- output ----

static void write_vector(FILE *file, tac_dvec3 v)
{
	fprintf(file, ",%.17g,%.17g,%.17g", v.x, v.y, v.z);
}

static void write_pose(FILE *file, tac_dpose T)
{
	write_vector(file, T.position);
	fprintf(file, ",%.17g,%.17g,%.17g,%.17g", T.rotation.x, T.rotation.y, T.rotation.z, T.rotation.w);
}

static void write_header(FILE *file)
{
	fprintf(file, "t_s,x,y,z,qx,qy,qz,qw,sco_x,sco_y,sco_z,sco_qx,sco_qy,sco_qz,sco_qw,fx,fy,fz,tx,ty,tz,"
		      "contacts,flags,ns\n");
}

// Runs the path through CHAI3D's finger proxy, whose position takes the SCO's columns. Torques and flags are
// zero.
static bool render_chai3d(FILE *file, const tac_world *world, const tac_path_sample *samples, size_t count)
{
	chai3d_scene *scene;
	tac_path_device device = tac_path_device_make(samples);
	tac_mapping mapping = tac_mapping_make(&world->scene->tools[0].mapping);
	bool good = chai3d_scene_create(world, &scene);
	if (good)
		write_header(file);
	for (; good && device.index < count; device.index++) {
		const tac_path_sample *s = &samples[device.index];
		tac_device_state state;
		tac_device_read(&device.base, s->time_ns, &state);
		const tac_dpose T = tac_mapping_step(&mapping, &state);
		chai3d_result r;
		good = chai3d_scene_step(scene, s->time_ns - samples[0].time_ns, T,
					 tac_mapping_velocity(&mapping, state.velocity_m_per_s), &r);
		if (!good)
			break;
		fprintf(file, "%.9f", (double)s->time_ns / 1e9);
		write_pose(file, s->T_base_tool);
		write_pose(file, tac_dpose_make(r.proxy_m, T.rotation));
		write_vector(file, r.force_N);
		write_vector(file, tac_dvec3_zero());
		fprintf(file, ",%d,0,%lld\n", r.contacts, (long long)r.ns);
	}
	chai3d_scene_destroy(&scene);
	return good;
}

// ---- tools ----

static bool is_recording(const char *path)
{
	static const char begin[] = "\x89TACREC\n";
	char bytes[sizeof begin - 1] = {0};
	FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
	const bool same = file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes &&
			  memcmp(bytes, begin, sizeof bytes) == 0;
	if (file)
		fclose(file);
	return same;
}

// Reads the recordings of all tools; false after one line.
static bool read_recordings(render_job *j)
{
	for (int32_t i = 0; i < j->session.scene->tool_count; i++) {
		tac_recording *r = &j->recordings[i];
		if (!j->inputs[i] || !is_recording(j->inputs[i])) {
			fprintf(stderr,
				"tactus render: input%d: expected a recording, as of the first tool, "
				"found %s\n",
				(int)i + 1, j->inputs[i] ? "a path" : "none");
			return false;
		}
		if (tac_recording_load(j->inputs[i], r) < TAC_OK)
			return false;
		if (r->command_count > 0) {
			fprintf(stderr,
				"tactus render: %s: expected a run of `tactus run`, found one of an "
				"application with %zu commands\n",
				j->inputs[i], r->command_count);
			return false;
		}
		j->count = i == 0 || r->count < j->count ? r->count : j->count;
	}
	return true;
}

static int read_path(const char *path, tac_path_sample **out_samples, size_t *out_count)
{
	const tac_result result = tac_path_load(path, out_samples, out_count);
	return result >= TAC_OK ? EXIT_SUCCESS : result == TAC_ERROR_MEMORY ? EXIT_FAILURE : EXIT_BAD_INPUT;
}

// Reads the paths of the tools after the first.
static int read_other_paths(render_job *j)
{
	const int32_t tools = j->chai3d ? 1 : j->session.scene->tool_count;
	for (int32_t i = 1; i < TAC_SCENE_TOOLS; i++) {
		if (i >= tools && (j->inputs[i] || j->outputs[i])) {
			fprintf(stderr, "tactus render: input%d: expected a scene with %d tools, found %d\n",
				(int)i + 1, (int)i + 1, (int)tools);
			return EXIT_BAD_INPUT;
		}
		if (!j->inputs[i])
			continue;
		size_t count, k = 0;
		const int code = read_path(j->inputs[i], &j->samples[i], &count);
		if (code != EXIT_SUCCESS)
			return code;
		while (k < count && k < j->count && j->samples[i][k].time_ns == j->samples[0][k].time_ns)
			k++;
		if (k < count || k < j->count) {
			fprintf(stderr,
				"tactus render: %s: expected the times of %s, "
				"found a different one in pose %zu\n",
				j->inputs[i], j->inputs[0], k + 1);
			return EXIT_BAD_INPUT;
		}
	}
	return EXIT_SUCCESS;
}

static void write_row(FILE *file, const tac_render_row *row)
{
	fprintf(file, "%.9f", (double)row->time_ns / 1e9);
	write_pose(file, row->T_base_tool);
	write_pose(file, row->T_world_sco);
	write_vector(file, row->sent.force_N);
	write_vector(file, row->sent.torque_Nm);
	fprintf(file, ",%d,%u,%lld\n", (int)row->contacts, row->flags, (long long)row->ns);
}

static void write_rows(render_job *j, tac_render *render)
{
	tac_render_row rows[TAC_SCENE_TOOLS];
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		if (j->files[i])
			write_header(tac_output_file(j->files[i]));
	}
	while (tac_render_step(render, rows)) {
		for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
			if (j->files[i])
				write_row(tac_output_file(j->files[i]), &rows[i]);
		}
	}
}

static bool open_files(render_job *j)
{
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		if (j->outputs[i] && tac_output_create(j->outputs[i], "tactus render", &j->files[i]) < TAC_OK)
			return false;
	}
	return true;
}

static bool commit_files(render_job *j)
{
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		if (j->files[i] && tac_output_commit(&j->files[i]) < TAC_OK)
			return false;
	}
	return true;
}

static bool write_task(render_job *j, tac_render *servos)
{
	const tac_task_figures *figures[TAC_SCENE_TOOLS];
	const int32_t count = servos ? j->session.scene->tool_count : 0;
	for (int32_t i = 0; i < count; i++)
		figures[i] = tac_render_task(servos, i);
	return task_file_write(&j->task, j->session.world, figures, count);
}

static int write_all(render_job *j, tac_render *servos)
{
	bool good = open_files(j) && task_file_open(j->task_path, &j->task);
	if (good && j->chai3d) {
		good = render_chai3d(tac_output_file(j->files[0]), j->session.world, j->samples[0], j->count);
	} else if (good) {
		write_rows(j, servos);
	}
	good = good && write_task(j, servos) && commit_files(j);
	task_file_close(&j->task);
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++)
		tac_output_discard(&j->files[i]);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int read_inputs(const session_def *def, render_job *j)
{
	j->recorded = is_recording(j->inputs[0]);
	if (j->recorded && j->chai3d) {
		fprintf(stderr, "tactus render: input: expected a path for CHAI3D, found a recording\n");
		return EXIT_BAD_INPUT;
	}
	int code = j->recorded ? EXIT_SUCCESS : read_path(j->inputs[0], &j->samples[0], &j->count);
	if (code == EXIT_SUCCESS)
		code = session_open(def, "tactus render", true, &j->session);
	if (code == EXIT_SUCCESS && j->recorded)
		code = read_recordings(j) ? EXIT_SUCCESS : EXIT_BAD_INPUT;
	else if (code == EXIT_SUCCESS)
		code = read_other_paths(j);
	return code;
}

static int run(const session_def *def, render_job *j)
{
	tac_render *servos = NULL;
	int code = read_inputs(def, j);
	if (code == EXIT_SUCCESS && !j->chai3d) {
		tac_render_def render = tac_render_def_default();
		render.world = j->session.world;
		render.mover = (tac_sco_mover)def->mover;
		render.count = j->count;
		render.period_ns = j->recordings[0].header.loop_period_ns;
		for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
			const tac_recording *r = &j->recordings[i];
			render.paths[i] = j->samples[i];
			render.samples[i] = r->samples;
			render.devices[i] = r->has_device ? &r->device : NULL;
		}
		code = tac_render_create(&render, &servos) < TAC_OK ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	if (code == EXIT_SUCCESS)
		code = write_all(j, servos);
	tac_render_destroy(&servos);
	session_close(&j->session);
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		free(j->samples[i]);
		tac_recording_fini(&j->recordings[i]);
	}
	return code;
}

int cmd_render(int argc, char **argv)
{
	session_def def = {.mover = TAC_SCO_CONTINUOUS};
	static const char *const renderers[] = {"tactus", "chai3d", NULL};
	render_job j = {0};
	int renderer = 0;
	const option_def options[] = {
		{"scene", OPTION_POSITIONAL, &def.scene, 0, 0, NULL, "SCENE",
		 "a built-in scene, a scene file or a mesh file, as for `tactus run`"},
		{"input", OPTION_TEXT, &j.inputs[0], 0, 0, NULL, "IN.csv",
		 "the device's path, a line for each tick: t_s,x,y,z,qx,qy,qz,qw; further columns are "
		 "ignored. Or a recording: the forces are then those of the run, to the bit"},
		{"output", OPTION_TEXT, &j.outputs[0], 0, 0, NULL, "OUT.csv",
		 "the same, with sco_x,…,sco_qw,fx,fy,fz,tx,ty,tz,contacts,flags,ns added; - is standard "
		 "output. flags: the mover's flags (haptic/sco.h), and from bit 16 on the reasons of the "
		 "force gate (haptic/limit.h)"},
		{"input2", OPTION_TEXT, &j.inputs[1], 0, 0, NULL, "IN.csv",
		 "the path of a second tool's device, with the same times (default: the scene's scripted "
		 "hand)"},
		{"output2", OPTION_TEXT, &j.outputs[1], 0, 0, NULL, "OUT.csv",
		 "the output for a second tool"},
		{"task", OPTION_TEXT, &j.task_path, 0, 0, NULL, "FILE.json",
		 "write what was done along the path: forces, path, times, punctures, distances, limits; "
		 "FILE.csv: "
		 "as a table"},
		{"collider", OPTION_TEXT, &def.collider, 0, 0, NULL, "NAME",
		 "wide (the default), doptree, classic, scd, chip, board or rtl"},
		{"mover", OPTION_CHOICE, &def.mover, 0, 0, session_movers, NULL, session_mover_help},
		{"renderer", OPTION_CHOICE, &renderer, 0, 0, renderers, NULL,
		 "what computes the forces; CHAI3D's finger proxy needs a sphere as tool (docs/chai3d.md)"},
		{0},
	};
	const command_line line = {"tactus render",
				   "compute the forces along a recorded device path, off line", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (!j.inputs[0] || !j.outputs[0]) {
		const char *missing = j.inputs[0] ? "output" : "input";
		fprintf(stderr, "tactus render: %s: expected --%s FILE, found nothing\n", missing, missing);
		return EXIT_BAD_INPUT;
	}
	j.chai3d = renderer == 1;
	return run(&def, &j);
}
