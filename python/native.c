// The part of the Python package that is C: what must not wait for the interpreter (loops over poses and
// samples, and the function that the real-time thread calls), and a log sink that keeps messages for Python.
// The declarations are in native.cdef.
#include "base/log.h"
#include "base/version.h"
#include "collision/chip_collider.h"
#include "collision/collider.h"
#include "collision/mesh_load.h"
#include "collision/solid.h"
#include "collision/sweep_shape.h"
#include "devices/calibration.h"
#include "devices/hotplug.h"
#include "devices/recorder.h"
#include "devices/registry.h"
#include "haptic/live.h"
#include "haptic/mapping.h"
#include "haptic/play.h"
#include "haptic/render.h"
#include "haptic/scene_builder.h"
#include "rt/clock.h"
#include "rt/monitor.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- messages ----

#define MESSAGE_BYTES 1024
#define MESSAGES      64 // kept until Python fetches them; further ones are dropped

typedef struct message {
	tac_log_level level;
	char text[MESSAGE_BYTES];
} message;

static _Thread_local char last_error[MESSAGE_BYTES]; // of a call that failed on this thread
static pthread_mutex_t messages_lock = PTHREAD_MUTEX_INITIALIZER;
static message messages[MESSAGES];
static int message_count;

// An error belongs to the call that fails, on the same thread, and becomes its exception. Everything else
// waits for the package's logger.
static void keep_message(void *user, tac_log_level level, const char *text)
{
	(void)user;
	if (level == TAC_LOG_ERROR)
		snprintf(last_error, sizeof last_error, "%s", text);
	pthread_mutex_lock(&messages_lock);
	if (level != TAC_LOG_ERROR && message_count < MESSAGES) {
		messages[message_count].level = level;
		snprintf(messages[message_count++].text, MESSAGE_BYTES, "%s", text);
	}
	pthread_mutex_unlock(&messages_lock);
}

static void native_init(void)
{
	tac_log_set(keep_message, NULL);
	const char *drivers = secure_getenv("TACTUS_DRIVERS");
	if (drivers && *drivers)
		tac_registry_load_folder(drivers); // what fails is in the log
	if (!tac_collider_find("chip"))
		tac_collider_add(tac_chip_collider());
}

static const char *native_error(void)
{
	return last_error;
}

static void native_error_clear(void)
{
	last_error[0] = 0;
}

// The oldest message that was kept: its level; -1: there is none.
static int native_message(char *out_text, size_t size)
{
	int level = -1;
	pthread_mutex_lock(&messages_lock);
	if (message_count > 0) {
		level = (int)messages[0].level;
		snprintf(out_text, size, "%s", messages[0].text);
		memmove(&messages[0], &messages[1], sizeof *messages * (size_t)--message_count);
	}
	pthread_mutex_unlock(&messages_lock);
	return level;
}

// ---- scenes ----

// The scene as YAML, to be freed by the caller; NULL: no memory.
static char *native_scene_text(const tac_scene *scene)
{
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	if (!file)
		return NULL;
	const bool written = tac_scene_write(scene, file) == TAC_OK;
	if (fclose(file) == 0 && written)
		return text;
	free(text);
	return NULL;
}

// A mesh from rows of three coordinates and of three indices.
static tac_result native_mesh(const char *name, const float *vertices, int32_t vertex_count,
			      const int32_t *triangles, int32_t triangle_count, tac_mesh **out_mesh)
{
	tac_vec3 *points = calloc((size_t)vertex_count + 1, sizeof *points);
	*out_mesh = NULL;
	if (!points) {
		tac_log(TAC_LOG_ERROR, "%s: no memory for the mesh", name);
		return TAC_ERROR_MEMORY;
	}
	for (int32_t i = 0; i < vertex_count; i++)
		points[i] = tac_vec3_load(vertices + 3 * i);
	tac_mesh_def def = tac_mesh_def_default();
	def.name = name;
	def.vertices = points;
	def.vertex_count = vertex_count;
	def.triangles = (const tac_mesh_triangle *)(const void *)triangles;
	def.triangle_count = triangle_count;
	const tac_result result = tac_mesh_build(&def, out_mesh);
	free(points);
	return result;
}

// Gives every shape of kind memory with that name its mesh; returns how many there are.
static int give_mesh(tac_scene_shape *shapes, int32_t count, const char *name, const tac_mesh *mesh)
{
	int given = 0;
	for (int32_t i = 0; i < count; i++) {
		if (shapes[i].kind != TAC_SCENE_MEMORY || strcmp(shapes[i].file, name) != 0)
			continue;
		tac_scene_shape_set_mesh(&shapes[i], mesh);
		given++;
	}
	return given;
}

static int native_scene_give_mesh(tac_scene *scene, const char *name, const tac_mesh *mesh)
{
	int given = 0;
	for (int32_t i = 0; i < scene->tool_count; i++)
		given += give_mesh(scene->tools[i].shapes, scene->tools[i].shape_count, name, mesh);
	for (int32_t i = 0; i < scene->object_count; i++)
		given += give_mesh(scene->objects[i].shapes, scene->objects[i].shape_count, name, mesh);
	return given;
}

// The scene of a recording as YAML, and its folder: `number` 0 for the first, then those that took its place.
// NULL: none.
static const char *native_recorded_scene(const tac_recording *recording, size_t number,
					 const char **out_folder)
{
	const tac_recording_scene *scene = number == 0 ? &recording->scene
					   : number <= recording->later_scene_count
						   ? &recording->later_scenes[number - 1]
						   : NULL;
	*out_folder = scene ? scene->folder : NULL;
	return scene ? scene->text : NULL;
}

// ---- render ----

// A row of `tactus render`, in the order of its columns.
typedef struct render_row {
	double t_s, device[7], sco[7], force_N[3], torque_Nm[3];
	int32_t contacts;
	uint32_t flags;
	int64_t ns;
} render_row;

static void store_pose(double out[7], tac_dpose T)
{
	tac_dvec3_store(out, T.position);
	out[3] = T.rotation.x;
	out[4] = T.rotation.y;
	out[5] = T.rotation.z;
	out[6] = T.rotation.w;
}

// NULL: no memory, or a reason, with the number of the row in *out_bad. The caller frees the path.
static tac_path_sample *native_path(const double *numbers, size_t count, size_t *out_bad, char *out_reason,
				    size_t reason_size)
{
	tac_path_sample *samples = calloc(count, sizeof *samples);
	snprintf(out_reason, reason_size, "no memory for %zu poses", count);
	*out_bad = 0;
	for (size_t i = 0; samples && i < count; i++) {
		if (tac_path_sample_make(numbers + i * TAC_PATH_NUMBERS, i > 0 ? &samples[i - 1] : NULL,
					 &samples[i], out_reason, reason_size) >= TAC_OK)
			continue;
		*out_bad = i;
		free(samples);
		return NULL;
	}
	return samples;
}

static void store_row(render_row *out, const tac_render_row *row, int64_t begin_ns)
{
	out->t_s = (double)(row->time_ns - begin_ns) / 1e9;
	store_pose(out->device, row->T_base_tool);
	store_pose(out->sco, row->T_world_sco);
	tac_dvec3_store(out->force_N, row->sent.force_N);
	tac_dvec3_store(out->torque_Nm, row->sent.torque_Nm);
	out->contacts = row->contacts;
	out->flags = row->flags;
	out->ns = row->ns;
}

// Times count from `begin_ns`.
static tac_result run_render(const tac_render_def *def, int64_t begin_ns, void *rows, void *rows2)
{
	tac_render *render;
	const tac_result result = tac_render_create(def, &render);
	if (result < TAC_OK)
		return result;
	tac_render_row step[TAC_SCENE_TOOLS];
	for (size_t i = 0; tac_render_step(render, step); i++) {
		store_row((render_row *)rows + i, &step[0], begin_ns);
		if (rows2)
			store_row((render_row *)rows2 + i, &step[1], begin_ns);
	}
	tac_render_destroy(&render);
	return result;
}

static tac_result native_render(const tac_world *world, int reactive, const tac_path_sample *path,
				const tac_path_sample *path2, size_t count, void *rows, void *rows2)
{
	tac_render_def def = tac_render_def_default();
	def.world = world;
	def.mover = reactive ? TAC_SCO_REACTIVE : TAC_SCO_CONTINUOUS;
	def.paths[0] = path;
	def.paths[1] = path2;
	def.count = count;
	return run_render(&def, 0, rows, rows2);
}

// The commands of a recording; NULL: no memory, or one is unknown. The caller frees them.
static tac_live_record *recorded_commands(const tac_recording *recording)
{
	tac_live_record *commands = calloc(recording->command_count + 1, sizeof *commands);
	for (size_t i = 0; commands && i < recording->command_count; i++) {
		const tac_recording_command *c = &recording->commands[i];
		commands[i].tick = c->tick;
		if (tac_live_command_decode(c->data, c->bytes, &commands[i].command))
			continue;
		tac_log(TAC_LOG_ERROR, "replay: expected a command, found another in command %zu", i + 1);
		free(commands);
		return NULL;
	}
	return commands;
}

// Before version 4 a recording has neither the device's mechanics nor the times of the ticks: its samples are
// a path.
static tac_path_sample *recorded_path(const tac_recording *recording)
{
	tac_path_sample *path = calloc(recording->count + 1, sizeof *path);
	for (size_t i = 0; path && i < recording->count; i++)
		path[i] = (tac_path_sample){recording->samples[i].state.time_ns,
					    recording->samples[i].state.T_base_tool};
	return path;
}

// Runs one tool or two that were recorded, with the commands of the first, in the recorded worlds: the first,
// and those of its exchanges.
static tac_result native_replay(const tac_recording **recordings, int32_t tools, tac_world **worlds,
				int32_t count, int reactive, void *rows, void *rows2)
{
	const tac_recording *first = recordings[0];
	tac_live_record *commands = recorded_commands(first);
	tac_path_sample *paths[TAC_SCENE_TOOLS] = {NULL};
	tac_render_def def = tac_render_def_default();
	def.world = worlds[0];
	def.mover = reactive ? TAC_SCO_REACTIVE : TAC_SCO_CONTINUOUS;
	def.count = first->count;
	def.commands = commands;
	def.command_count = first->command_count;
	def.worlds = worlds + 1;
	def.world_count = count - 1;
	def.period_ns = first->header.loop_period_ns;
	bool exact = true, memory = commands != NULL;
	for (int32_t i = 0; i < tools; i++)
		exact &= recordings[i]->has_device;
	for (int32_t i = 0; i < tools; i++) {
		def.samples[i] = exact ? recordings[i]->samples : NULL;
		def.devices[i] = &recordings[i]->device;
		def.paths[i] = paths[i] = exact ? NULL : recorded_path(recordings[i]);
		memory &= exact || paths[i];
	}
	const tac_result result =
		memory ? run_render(&def, first->samples[0].now_ns, rows, rows2) : TAC_ERROR_MEMORY;
	for (int32_t i = 0; i < tools; i++)
		free(paths[i]);
	free(commands);
	return result;
}

// ---- query ----

// A row of `tactus query --csv`; the result as a number.
typedef struct query_row {
	int64_t pose, result, pairs, ns, overlap_tests, transforms, nodes, triangle_tests, exact_tests;
} query_row;

typedef struct query_shape {
	tac_mesh *mesh;
	tac_shape *shape;
} query_shape;

static tac_result load_shape(const tac_collider *collider, const char *text, query_shape *out)
{
	tac_result result;
	if (tac_solids_is_description(text)) {
		tac_solids solids;
		result = tac_solids_parse(text, &solids);
		return result < TAC_OK ? result : tac_shape_build_solids(collider, &solids, &out->shape);
	}
	result = tac_mesh_load(text, NULL, &out->mesh);
	return result < TAC_OK ? result : tac_shape_build(collider, out->mesh, &out->shape);
}

static tac_rigid rigid_of(const double x[12])
{
	tac_rigid pose;
	for (int i = 0; i < 9; i++)
		pose.R.m[i / 3][i % 3] = (float)x[i];
	pose.t = tac_vec3_make((float)x[9], (float)x[10], (float)x[11]);
	return pose;
}

static tac_result query_poses(const tac_collider *collider, const query_shape shapes[2], int mode,
			      bool coherent, const double *poses, size_t count, query_row *rows)
{
	tac_context_def def = tac_context_def_default();
	def.pair_capacity = 1 << 20; // these two as `tactus query`, or counters may differ
	def.scratch_bytes = (size_t)64 << 20;
	tac_context *context;
	const tac_result result = tac_context_create(&def, &context);
	if (result < TAC_OK)
		return result;
	context->coherent = coherent;
	for (size_t i = 0; i < count; i++) {
		const tac_rigid pose = rigid_of(poses + 12 * i);
		const int64_t begin_ns = tac_clock_now_ns();
		const tac_overlap overlap =
			tac_collider_query(collider, context, shapes[1].shape, shapes[0].shape, &pose,
					   (tac_query_mode)mode, (tac_budget){0, 0});
		const tac_counters *c = &context->counters;
		rows[i] = (query_row){(int64_t)i,
				      (int64_t)overlap,
				      context->pair_count,
				      tac_clock_now_ns() - begin_ns,
				      c->overlap_tests,
				      c->transforms,
				      c->nodes,
				      c->triangle_tests,
				      c->exact_tests};
	}
	tac_context_destroy(&context);
	return result;
}

static tac_result native_query(const char *a, const char *b, const char *name, int mode, bool coherent,
			       const double *poses, size_t count, void *rows)
{
	const tac_collider *collider = tac_collider_find(name);
	if (!collider->build_solids && (tac_solids_is_description(a) || tac_solids_is_description(b))) {
		tac_log(TAC_LOG_ERROR, "collider: expected solid for '%s' and '%s', found '%s'", a, b, name);
		return TAC_ERROR_ARGUMENT;
	}
	query_shape shapes[2] = {{0}, {0}};
	tac_result result = load_shape(collider, a, &shapes[0]);
	if (result >= TAC_OK)
		result = load_shape(collider, b, &shapes[1]);
	if (result >= TAC_OK)
		result = query_poses(collider, shapes, mode, coherent, poses, count, rows);
	for (int i = 0; i < 2; i++) {
		tac_shape_destroy(&shapes[i].shape);
		tac_mesh_destroy(&shapes[i].mesh);
	}
	return result;
}

// ---- sweep ----

// A row of `tactus sweep`.
typedef struct sweep_row {
	int64_t motion;
	double translation, rotation;
	char kind[16];
	double point[3], normal[3];
	int64_t ns;
} sweep_row;

static void sweep_motions(const tac_sweep_shape *a, const tac_sweep_shape *b,
			  const tac_sweep_options *options, tac_sweep_context *context, const double *motions,
			  size_t count, sweep_row *rows)
{
	for (size_t i = 0; i < count; i++) {
		const double *n = motions + 19 * i;
		const tac_sweep_motion motion = {
			.T = {.R = tac_dmat3_from_rows(tac_dvec3_load(n), tac_dvec3_load(n + 3),
						       tac_dvec3_load(n + 6)),
			      .t = tac_dvec3_load(n + 9)},
			.v = tac_dvec3_load(n + 12),
			.axis = tac_dvec3_load(n + 15),
			.angle = n[18]};
		const int64_t begin_ns = tac_clock_now_ns();
		const tac_sweep_moved moved = tac_sweep_shape_move(a, b, &motion, options, context);
		sweep_row *row = &rows[i];
		*row = (sweep_row){.motion = (int64_t)i,
				   .translation = moved.translation,
				   .rotation = moved.rotation,
				   .ns = tac_clock_now_ns() - begin_ns};
		snprintf(row->kind, sizeof row->kind, "%s", tac_sweep_contact_name(&moved.contact));
		tac_dvec3_store(row->point, moved.contact.point);
		tac_dvec3_store(row->normal, moved.contact.normal);
	}
}

static tac_result native_sweep(const char *a, const char *b, double zone, const double *motions, size_t count,
			       void *rows)
{
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = zone;
	tac_sweep_shape *fixed = NULL, *moving = NULL;
	tac_sweep_context *context = NULL;
	tac_result result = tac_sweep_shape_load(a, false, &fixed);
	if (result >= TAC_OK)
		result = tac_sweep_shape_load(b, true, &moving);
	if (result >= TAC_OK)
		result = tac_sweep_context_create(&context);
	if (result >= TAC_OK) {
		sweep_motions(fixed, moving, &options, context, motions, count, rows);
		tac_sweep_context_destroy(&context);
	}
	tac_sweep_shape_destroy(&fixed);
	tac_sweep_shape_destroy(&moving);
	return result;
}

// ---- recordings ----

// A row of `tactus view --csv`; the status as a number.
typedef struct recording_row {
	double t_s, pose[7], velocity[3], turn[3], force_N[3], torque_Nm[3];
	uint32_t buttons;
	int32_t status;
	double gripper_m, gripper_m_per_s, gripper_N;
} recording_row;

static void native_recording(const tac_recording *recording, void *rows)
{
	for (size_t i = 0; i < recording->count; i++) {
		const tac_device_sample *s = &recording->samples[i];
		recording_row *row = (recording_row *)rows + i;
		// Damaged times may have any value; their difference wraps instead of overflowing.
		row->t_s = (double)(int64_t)((uint64_t)s->state.time_ns -
					     (uint64_t)recording->samples[0].state.time_ns) /
			   1e9;
		store_pose(row->pose, s->state.T_base_tool);
		tac_dvec3_store(row->velocity, s->state.velocity_m_per_s);
		tac_dvec3_store(row->turn, s->state.angular_velocity_rad_per_s);
		tac_dvec3_store(row->force_N, s->wrench.force_N);
		tac_dvec3_store(row->torque_Nm, s->wrench.torque_Nm);
		row->buttons = s->state.buttons;
		row->status = (int32_t)s->status;
		row->gripper_m = s->state.gripper_m;
		row->gripper_m_per_s = s->state.gripper_m_per_s;
		row->gripper_N = s->gripper_N;
	}
}

// ---- sessions ----

typedef struct native_timing {
	int64_t ticks, misses, skipped, unread;
	int64_t by_cause[16];
} native_timing;

_Static_assert((int)TAC_CAUSE_COUNT <= 16, "native_timing has room for every cause");

#define EVENTS 1024 // that wait until Python takes them

typedef struct native_session {
	tac_live *live;
	int32_t count; // of tools
	tac_device *devices[TAC_SCENE_TOOLS];
	tac_recorder *recorders[TAC_SCENE_TOOLS]; // NULL: none
	tac_play *play;
	tac_monitor_stats stats;
} native_session;

static tac_result open_device(const tac_scene_tool *tool, const char *selection, tac_device **out_device)
{
	tac_sim_waypoint path[TAC_SCENE_PATH]; // of the scripted hand, in the device's frame
	const tac_mapping mapping = tac_mapping_make(&tool->mapping);
	for (int32_t i = 0; i < tool->hand_count; i++) {
		const tac_scene_point *p = &tool->hand[i];
		const tac_dpose T = tac_mapping_inverse(
			&mapping, tac_dpose_make(p->position_m, tac_dquat_exp(p->rotation_rad)));
		path[i] = (tac_sim_waypoint){llround(p->time_s * 1e9), T.position, tac_dquat_log(T.rotation),
					     (uint32_t)p->buttons, p->gripper_m};
	}
	const tac_open_def open = {.grip = tool->grip,
				   .sim_path = path,
				   .sim_waypoints = (uint32_t)tool->hand_count,
				   .sim_repeat = true};
	const tac_result result = tac_hotplug_open(selection ? selection : tool->device, &open, out_device);
	if (result < TAC_OK)
		return result;
	tac_calibration calibration;
	bool found;
	tac_calibration_load(&(*out_device)->info, &calibration, &found);
	return tac_calibration_apply(&calibration, out_device);
}

// On the real-time thread.
static void record(void *user, const tac_device_sample *sample)
{
	tac_recorder_write(user, sample); // counts what it cannot take
}

// On the real-time thread.
static void record_command(void *user, int64_t tick, const tac_live_command *command)
{
	uint8_t bytes[TAC_LIVE_COMMAND_BYTES];
	tac_recorder_write_command(user, tick, bytes, tac_live_command_encode(command, bytes));
}

// The scene of `world` for a recording; the caller frees *out_text. False: no memory.
static bool capture_scene(const tac_world *world, char folder[PATH_MAX], char **out_text,
			  tac_recording_scene *out_scene)
{
	*out_text = native_scene_text(world->scene);
	if (!*out_text) {
		tac_log(TAC_LOG_ERROR, "session: no memory for the scene");
		return false;
	}
	if (!realpath(world->scene->folder[0] ? world->scene->folder : ".", folder))
		folder[0] = 0;
	*out_scene = (tac_recording_scene){.name = world->scene->name, .folder = folder, .text = *out_text};
	while (tac_world_file_hash(world, out_scene->mesh_count,
				   &out_scene->mesh_hashes[out_scene->mesh_count], NULL))
		out_scene->mesh_count++;
	return true;
}

// The second tool's recording has another name, as that of `tactus run`. Commands are in the first.
static tac_result create_recorders(native_session *s, const tac_world *world, const char *path,
				   int64_t period_ns)
{
	char folder[PATH_MAX], second[PATH_MAX], *text;
	tac_recording_scene scene;
	if (!capture_scene(world, folder, &text, &scene))
		return TAC_ERROR_MEMORY;
	snprintf(second, sizeof second, "%s.2", path);
	const uint64_t run = tac_recorder_new_run();
	tac_result result = TAC_OK;
	for (int32_t i = 0; i < s->count && result >= TAC_OK; i++) {
		const tac_recorder_def def = {.path = i == 0 ? path : second,
					      .info = &s->devices[i]->info,
					      .run = run,
					      .scene = &scene,
					      .commands = i == 0,
					      .loop_period_ns = period_ns};
		result = tac_recorder_create(&def, &s->recorders[i]);
	}
	free(text);
	return result;
}

static tac_live *native_session_live(native_session *session)
{
	return session->live;
}

// Hands over a world, and adds its scene to the recording.
static bool native_session_exchange(native_session *session, tac_world *world)
{
	char folder[PATH_MAX], *text;
	tac_recording_scene scene;
	if (session->recorders[0]) {
		if (!capture_scene(world, folder, &text, &scene))
			return false;
		const tac_result result = tac_recorder_add_scene(session->recorders[0], &scene);
		free(text);
		if (result < TAC_OK)
			return false;
	}
	return tac_live_exchange(session->live, world);
}

static tac_result native_session_close(native_session **session)
{
	native_session *s = *session;
	*session = NULL;
	if (!s)
		return TAC_OK;
	tac_play_destroy(&s->play);
	tac_live_destroy(&s->live);
	tac_result recorded = TAC_OK;
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		const tac_result result = tac_recorder_destroy(&s->recorders[i]);
		recorded = recorded == TAC_OK ? result : recorded;
		tac_device_destroy(&s->devices[i]);
	}
	free(s);
	return recorded;
}

static tac_result start_loop(native_session *s, tac_world *world, int reactive, int64_t period_ns,
			     int64_t periods)
{
	tac_live_def live = tac_live_def_default();
	live.world = world;
	live.record = s->recorders[0] ? record_command : NULL;
	live.record_user = s->recorders[0];
	const tac_result result = tac_live_create(&live, &s->live);
	if (result < TAC_OK)
		return result;
	tac_servo_def hands[TAC_SCENE_TOOLS];
	tac_loop_def loop = tac_loop_def_default();
	tac_play_def def = tac_play_def_default();
	def.hand_count = s->count;
	for (int32_t i = 0; i < s->count; i++) {
		tac_servo_def *servo = &hands[i];
		*servo = tac_servo_def_default();
		servo->live = s->live;
		servo->tool = i;
		servo->device = s->devices[i];
		servo->mover = reactive ? TAC_SCO_REACTIVE : TAC_SCO_CONTINUOUS;
		servo->period_ns = period_ns;
		servo->events = EVENTS;
		servo->record = s->recorders[i] ? record : NULL;
		servo->record_user = s->recorders[i];
		def.hands[i] = servo;
	}
	loop.period_ns = period_ns;
	loop.periods = periods;
	def.loop = &loop;
	return tac_play_start_hands(&def, &s->play);
}

// `devices`: a name for each tool, or NULL: the scene's.
static tac_result native_session_start(tac_world *world, const tac_scene *scene, const char **devices,
				       int reactive, int64_t period_ns, int64_t periods,
				       const char *recording, native_session **out_session)
{
	*out_session = NULL;
	native_session *s = calloc(1, sizeof *s);
	if (!s) {
		tac_log(TAC_LOG_ERROR, "session: no memory");
		return TAC_ERROR_MEMORY;
	}
	s->count = scene->tool_count;
	tac_result result = TAC_OK;
	for (int32_t i = 0; i < s->count && result >= TAC_OK; i++)
		result = open_device(&scene->tools[i], devices[i], &s->devices[i]);
	if (result >= TAC_OK && recording)
		result = create_recorders(s, world, recording, period_ns);
	if (result >= TAC_OK)
		result = start_loop(s, world, reactive, period_ns, periods);
	if (result < TAC_OK)
		native_session_close(&s);
	*out_session = s;
	return result;
}

static tac_servo *native_session_servo(native_session *session, int32_t tool)
{
	return tac_play_hand(session->play, tool);
}

static void native_session_wait(native_session *session)
{
	tac_play_wait(session->play);
}

static void native_session_timing(native_session *session, native_timing *out_timing)
{
	tac_play_timing(session->play, &session->stats);
	const tac_monitor_stats *s = &session->stats;
	*out_timing =
		(native_timing){s->totals.ticks, s->totals.misses, s->totals.skipped, s->totals.lost, {0}};
	memcpy(out_timing->by_cause, s->misses_by_cause, sizeof s->misses_by_cause);
}

// The line about item `index` of the real-time set-up; the item's state, or -1 after the last.
static int native_session_report(native_session *session, int index, char *out_line, size_t size)
{
	if (index >= TAC_GRANT_COUNT)
		return -1;
	const tac_thread_report *report = tac_play_report(session->play);
	tac_thread_report_line(report, (tac_grant_item)index, out_line, size);
	return (int)report->grants[index].state;
}
