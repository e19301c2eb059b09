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
#include "haptic/mapping.h"
#include "haptic/play.h"
#include "haptic/render.h"
#include "rt/clock.h"
#include "rt/monitor.h"

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

static void store_row(render_row *out, const tac_render_row *row)
{
	out->t_s = (double)row->time_ns / 1e9;
	store_pose(out->device, row->T_base_tool);
	store_pose(out->sco, row->T_world_sco);
	tac_dvec3_store(out->force_N, row->sent.force_N);
	tac_dvec3_store(out->torque_Nm, row->sent.torque_Nm);
	out->contacts = row->contacts;
	out->flags = row->flags;
	out->ns = row->ns;
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
	tac_render *render;
	const tac_result result = tac_render_create(&def, &render);
	if (result < TAC_OK)
		return result;
	tac_render_row step[TAC_SCENE_TOOLS];
	for (size_t i = 0; tac_render_step(render, step); i++) {
		store_row((render_row *)rows + i, &step[0]);
		if (rows2)
			store_row((render_row *)rows2 + i, &step[1]);
	}
	tac_render_destroy(&render);
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
		const tac_recording_sample *s = &recording->samples[i];
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

typedef struct native_session {
	tac_device *device;
	tac_recorder *recorder; // NULL: none
	tac_deadline *deadline;
	tac_monitor *monitor;
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
static void record(void *user, const tac_device_state *state, const tac_wrench *wrench, double gripper_N,
		   tac_device_status status)
{
	const tac_recording_sample sample = {*state, *wrench, gripper_N, status};
	tac_recorder_write(user, &sample); // counts what it cannot take
}

static tac_result native_session_close(native_session **session)
{
	native_session *s = *session;
	*session = NULL;
	if (!s)
		return TAC_OK;
	tac_play_destroy(&s->play);
	tac_monitor_destroy(&s->monitor);
	tac_deadline_destroy(&s->deadline);
	const tac_result recorded = tac_recorder_destroy(&s->recorder);
	tac_device_destroy(&s->device);
	free(s);
	return recorded;
}

static tac_result start_loop(native_session *s, const tac_world *world, int reactive, int64_t period_ns,
			     int64_t periods)
{
	tac_deadline_def account = tac_deadline_def_default(period_ns);
	tac_result result = tac_deadline_create(&account, &s->deadline);
	if (result < TAC_OK)
		return result;
	const tac_monitor_def monitor = {.deadline = s->deadline};
	result = tac_monitor_create(&monitor, &s->monitor);
	if (result < TAC_OK)
		return result;
	tac_servo_def servo = tac_servo_def_default();
	servo.world = world;
	servo.device = s->device;
	servo.mover = reactive ? TAC_SCO_REACTIVE : TAC_SCO_CONTINUOUS;
	servo.period_ns = period_ns;
	servo.record = s->recorder ? record : NULL;
	servo.record_user = s->recorder;
	tac_loop_def loop = tac_loop_def_default();
	loop.period_ns = period_ns;
	loop.periods = periods;
	loop.deadline = s->deadline;
	return tac_play_start(&servo, &loop, &s->play);
}

static tac_result native_session_start(const tac_world *world, const tac_scene *scene, const char *device,
				       int reactive, int64_t period_ns, int64_t periods,
				       const char *recording, native_session **out_session)
{
	*out_session = NULL;
	native_session *s = calloc(1, sizeof *s);
	if (!s) {
		tac_log(TAC_LOG_ERROR, "session: no memory");
		return TAC_ERROR_MEMORY;
	}
	tac_result result = open_device(&scene->tools[0], device, &s->device);
	if (result >= TAC_OK && recording) {
		const tac_recorder_def def = {.path = recording, .info = &s->device->info};
		result = tac_recorder_create(&def, &s->recorder);
	}
	if (result >= TAC_OK)
		result = start_loop(s, world, reactive, period_ns, periods);
	if (result < TAC_OK)
		native_session_close(&s);
	*out_session = s;
	return result;
}

static tac_servo *native_session_servo(native_session *session)
{
	return tac_play_servo(session->play);
}

static void native_session_wait(native_session *session)
{
	tac_play_wait(session->play);
}

static void native_session_timing(native_session *session, native_timing *out_timing)
{
	tac_monitor_read(session->monitor, &session->stats);
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
