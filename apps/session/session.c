#include "apps/session/session.h"

#include "apps/session/options.h"
#include "apps/terminal/terminal.h"
#include "collision/mesh_load.h"
#include "devices/calibration.h"
#include "devices/hotplug.h"
#include "haptic/mapping.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const session_movers[] = {"continuous", "reactive", NULL};
const char session_mover_help[] = "continuous: proved motion that never penetrates; reactive: place the "
				  "tool, query the collider, back off";

// ---- scene ----

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

// A scene around a single mesh: scaled to 100 mm, touched by a ball whose scripted hand strokes its top.
static int mesh_scene(const char *path, tac_scene **out_scene)
{
	tac_mesh *mesh;
	if (tac_mesh_load(path, NULL, &mesh) < TAC_OK)
		return EXIT_BAD_INPUT;
	const tac_dvec3 low = tac_dvec3_from_vec3(mesh->bounds_min),
			high = tac_dvec3_from_vec3(mesh->bounds_max);
	const tac_dvec3 size = tac_dvec3_sub(high, low);
	const double scale = 0.1 / fmax(tac_dvec3_max_component(size), 1e-9);
	const tac_dvec3 middle = tac_dvec3_scale(tac_dvec3_add(low, high), -0.5 * scale);
	const double top = 0.5 * scale * size.z, side = 0.3 * scale * fmin(size.x, size.y);
	tac_mesh_destroy(&mesh);
	if (strlen(path) >= TAC_SCENE_TEXT || strpbrk(path, "\"\\\n")) {
		fprintf(stderr,
			"tactus: %s: expected a mesh file whose path has fewer than %d characters, without "
			"quotes, backslashes and line breaks\n",
			path, TAC_SCENE_TEXT);
		return EXIT_BAD_INPUT;
	}
	char text[4096];
	const int bytes = snprintf(
		text, sizeof text,
		"scene: a mesh\n"
		"materials:\n- {name: plain, stiffness_N_per_m: 800, static_friction: 0.2,\n"
		"   dynamic_friction: 0.15, smooth: true}\n"
		"tools:\n- name: ball\n  axes: 3\n  shapes: [{kind: solids, solids: \"sphere:r=0.003\"}]\n"
		"  hand:\n"
		"  - {time_s: 0, position_m: [0, 0, %.6f]}\n  - {time_s: 1, position_m: [0, 0, %.6f]}\n"
		"  - {time_s: 2, position_m: [0, 0, %.6f]}\n  - {time_s: 4, position_m: [%.6f, 0, %.6f]}\n"
		"  - {time_s: 6, position_m: [0, %.6f, %.6f]}\n  - {time_s: 8, position_m: [%.6f, 0, %.6f]}\n"
		"  - {time_s: 9, position_m: [0, 0, %.6f]}\n"
		"objects:\n- name: mesh\n  material: plain\n"
		"  shapes: [{kind: mesh, file: \"%s\", scale: %.17g, position_m: [%.17g, %.17g, %.17g]}]\n"
		"cameras: [{name: front, eye_m: [0.05, -0.2, 0.12]}]\n",
		top + 0.03, top + 0.005, top - 0.008, side, top - 0.012, side, top - 0.012, -side,
		top - 0.012, top + 0.03, path, scale, middle.x, middle.y, middle.z);
	return tac_scene_parse(text, (size_t)bytes, "mesh", out_scene) < TAC_OK ? EXIT_BAD_INPUT
										: EXIT_SUCCESS;
}

int session_scene(const char *name, tac_scene **out_scene)
{
	*out_scene = NULL;
	if (!name)
		name = tac_scene_builtin_name(0);
	for (int i = 0; tac_scene_builtin_name(i); i++) {
		if (strcmp(name, tac_scene_builtin_name(i)) == 0)
			return tac_scene_builtin(name, out_scene) < TAC_OK ? EXIT_BAD_INPUT : EXIT_SUCCESS;
	}
	if (ends_with(name, ".yaml") || ends_with(name, ".yml"))
		return tac_scene_load(name, out_scene) < TAC_OK ? EXIT_BAD_INPUT : EXIT_SUCCESS;
	if (access(name, F_OK) == 0)
		return mesh_scene(name, out_scene);
	fprintf(stderr, "tactus: scene: expected ");
	for (int i = 0; tac_scene_builtin_name(i); i++)
		fprintf(stderr, "%s, ", tac_scene_builtin_name(i));
	fprintf(stderr, "a scene file (.yaml) or a mesh file, found '%s'\n", name);
	return EXIT_BAD_INPUT;
}

const tac_collider *session_collider(const char *command, const char *name)
{
	const tac_collider *collider = tac_collider_find(name ? name : "wide");
	if (collider)
		return collider;
	fprintf(stderr, "%s: collider: expected ", command);
	for (int i = 0; tac_collider_at(i); i++)
		fprintf(stderr, "%s%s", i ? " or " : "", tac_collider_at(i)->name);
	fprintf(stderr, ", found '%s'\n", name);
	return NULL;
}

// ---- devices ----

// The scripted hand's path in the device's frame, repeated for `seconds`. NULL: no path, or no memory.
static tac_sim_waypoint *hand_path(const tac_scene_tool *tool, double seconds, uint32_t *out_count)
{
	*out_count = 0;
	if (tool->hand_count == 0)
		return NULL;
	const double lap_s = tool->hand[tool->hand_count - 1].time_s;
	const double laps = lap_s > 0 ? fmin(ceil(seconds / lap_s) + 1, 10000) : 1;
	tac_sim_waypoint *path = calloc((size_t)laps * (size_t)tool->hand_count, sizeof *path);
	const tac_mapping mapping = tac_mapping_make(&tool->mapping);
	for (int lap = 0; path && lap < (int)laps; lap++) {
		for (int32_t i = 0; i < tool->hand_count; i++) {
			const tac_scene_point *p = &tool->hand[i];
			const int64_t time_ns = llround((lap * lap_s + p->time_s) * 1e9);
			if (*out_count > 0 && time_ns <= path[*out_count - 1].time_ns)
				continue; // the first point of a lap equals the last of the previous lap
			const tac_dpose T = tac_mapping_inverse(
				&mapping, tac_dpose_make(p->position_m, tac_dquat_exp(p->rotation_rad)));
			path[(*out_count)++] = (tac_sim_waypoint){
				time_ns, T.position, tac_dquat_log(T.rotation), (uint32_t)p->buttons};
		}
	}
	return path;
}

static int open_device(const session_def *def, session *s, int32_t i)
{
	const tac_scene_tool *tool = &s->scene->tools[i];
	tac_open_def open = {.grip = tool->grip, .firmware = def->firmware};
	tac_sim_waypoint *path = hand_path(tool, def->seconds, &open.sim_waypoints);
	open.sim_path = path;
	const tac_result result =
		tac_hotplug_open(def->devices[i] ? def->devices[i] : tool->device, &open, &s->devices[i]);
	free(path);
	if (result < TAC_OK)
		return EXIT_BAD_INPUT;
	tac_calibration calibration;
	bool found;
	tac_calibration_load(&s->devices[i]->info, &calibration, &found);
	return tac_calibration_apply(&calibration, &s->devices[i]) < TAC_OK ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void record(void *user, const tac_device_state *state, const tac_wrench *wrench,
		   tac_device_status status)
{
	const tac_recording_sample sample = {*state, *wrench, status};
	tac_recorder_write(user, &sample); // counts the samples it cannot take
}

static int open_recorder(const session_def *def, session *s, int32_t i)
{
	char path[4096];
	snprintf(path, sizeof path, i == 0 ? "%s" : "%s.%d", def->record, (int)i + 1);
	return tac_recorder_create(path, &s->devices[i]->info, &s->recorders[i]) < TAC_OK ? EXIT_FAILURE
											  : EXIT_SUCCESS;
}

// ---- session ----

static tac_result open_companions(const session_def *def, session *s)
{
	tac_result result = TAC_OK;
	for (int32_t i = 0; def->companions && i < s->count && result >= TAC_OK; i++) {
		tac_companion_def companion = tac_companion_def_default();
		companion.world = s->world;
		companion.servo = s->servos[i];
		companion.tool = i;
		companion.reader = def->readers;
		result = tac_companion_create(&companion, &s->companions[i]);
	}
	return result;
}

static int open_tools(const session_def *def, const char *command, session *s)
{
	int code = EXIT_SUCCESS;
	for (int32_t i = s->scene->tool_count; i < TAC_SCENE_TOOLS; i++) {
		if (def->devices[i]) {
			fprintf(stderr, "%s: device '%s': expected a scene with %d tools, found %d in '%s'\n",
				command, def->devices[i], (int)i + 1, (int)s->scene->tool_count,
				s->scene->name);
			return EXIT_BAD_INPUT;
		}
	}
	for (int32_t i = 0; i < s->scene->tool_count && code == EXIT_SUCCESS; i++) {
		code = open_device(def, s, i);
		if (code == EXIT_SUCCESS && def->record)
			code = open_recorder(def, s, i);
		if (code != EXIT_SUCCESS)
			break;
		tac_servo_def servo = tac_servo_def_default();
		servo.world = s->world;
		servo.tool = i;
		servo.device = s->devices[i];
		servo.mover = (tac_sco_mover)def->mover;
		servo.readers = def->readers + (def->companions ? 1 : 0);
		if (def->period_ns > 0)
			servo.period_ns = def->period_ns;
		servo.record = s->recorders[i] ? record : NULL;
		servo.record_user = s->recorders[i];
		if (tac_servo_create(&servo, &s->servos[i]) < TAC_OK)
			code = EXIT_FAILURE;
		s->count = i + 1;
	}
	if (code == EXIT_SUCCESS && s->count == 2 && tac_servo_join(s->servos[0], s->servos[1]) < TAC_OK)
		code = EXIT_FAILURE;
	if (code == EXIT_SUCCESS && open_companions(def, s) < TAC_OK)
		code = EXIT_FAILURE;
	return code;
}

typedef struct build_progress {
	terminal t;
	const char *work;
} build_progress;

static void show_build_step(void *user, int32_t step, int32_t steps, const char *name)
{
	build_progress *p = user;
	terminal_step(&p->t, p->work, step, steps, name);
}

static int build_world(const tac_collider *collider, session *s)
{
	const bool uploads = (collider->flags & TAC_COLLIDER_UPLOADS) != 0;
	build_progress p = {.work = uploads ? "building and uploading" : "building"};
	const tac_result result =
		tac_world_build_with_progress(s->scene, collider, show_build_step, &p, &s->world);
	terminal_clear(&p.t);
	return result < TAC_OK ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

int session_open(const session_def *def, const char *command, bool bare, session *out_session)
{
	session *s = out_session;
	*s = (session){0};
	const tac_collider *collider = session_collider(command, def->collider);
	if (!collider)
		return EXIT_BAD_INPUT;
	int code = session_scene(def->scene, &s->scene);
	if (code == EXIT_SUCCESS)
		code = build_world(collider, s);
	if (code == EXIT_SUCCESS && !bare)
		code = open_tools(def, command, s);
	return code;
}

bool session_close(session *s)
{
	bool complete = true;
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		tac_companion_destroy(&s->companions[i]);
		tac_servo_destroy(&s->servos[i]);
		complete &= tac_recorder_destroy(&s->recorders[i]) == TAC_OK;
		tac_device_destroy(&s->devices[i]);
	}
	tac_world_destroy(&s->world);
	tac_scene_destroy(&s->scene);
	return complete;
}

const tac_surroundings *session_surroundings(session *s, int32_t i)
{
	return s->companions[i] ? tac_companion_read(s->companions[i]) : NULL;
}

// Adds the phases of a second tool to those of the first, so that one tick reports the sum of each phase.
static void merge_phases(tac_tick *into, const tac_tick *other)
{
	int64_t ends_ns = into->wake_ns, phases_ns[TAC_PHASE_COUNT];
	for (int p = 0; p < TAC_PHASE_COUNT; p++)
		phases_ns[p] = tac_tick_phase_ns(into, (tac_phase)p) + tac_tick_phase_ns(other, (tac_phase)p);
	for (int p = 0; p < TAC_PHASE_COUNT; p++)
		into->phase_end_ns[p] = ends_ns += phases_ns[p];
}

void session_step(session *s, int64_t now_ns, tac_tick *tick)
{
	tac_servo_step(s->servos[0], now_ns, tick);
	for (int32_t i = 1; i < s->count; i++) {
		if (!tick) {
			tac_servo_step(s->servos[i], now_ns, NULL);
			continue;
		}
		tac_tick other = *tick;
		for (int p = 0; p < TAC_PHASE_COUNT; p++)
			other.phase_end_ns[p] = 0;
		other.wake_ns = tick->phase_end_ns[TAC_PHASE_PUBLISH];
		tac_servo_step(s->servos[i], now_ns, &other);
		merge_phases(tick, &other);
	}
}
