#include "apps/session/session.h"

#include "apps/session/options.h"
#include "apps/session/recorded_scene.h"
#include "apps/terminal/terminal.h"
#include "base/suggest.h"
#include "devices/calibration.h"
#include "devices/hotplug.h"
#include "haptic/mapping.h"
#include "tissue/elastic.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const session_movers[] = {"continuous", "reactive", NULL};
const char session_mover_help[] = "continuous: proved motion that never penetrates; reactive: place the "
				  "tool, query the collider, back off";

const char session_any_scene_help[] = "play back a recording in a scene other than its own";

// ---- scene ----

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_scene_file(const char *name)
{
	return ends_with(name, ".yaml") || ends_with(name, ".yml");
}

// Neither a built-in scene nor a file: a name that looks like a file's is a missing file, another one is
// probably a mistyped scene.
static void refuse_scene(const char *name)
{
	if (strpbrk(name, "./")) {
		fprintf(stderr, "tactus: %s: expected a scene file (.yaml) or a mesh file, found: %s\n", name,
			strerror(ENOENT));
		return;
	}
	tac_suggestion suggestion = tac_suggestion_begin(name);
	fprintf(stderr, "tactus: scene: expected ");
	for (int i = 0; tac_scene_builtin_name(i); i++) {
		fprintf(stderr, "%s, ", tac_scene_builtin_name(i));
		tac_suggestion_offer(&suggestion, tac_scene_builtin_name(i));
	}
	fprintf(stderr, "a scene file (.yaml) or a mesh file, found '%s'%s\n", name,
		tac_suggestion_text(&suggestion));
}

// The options that only a mesh file as scene has. False after one line: one of them was given.
static bool check_mesh_options(const session_def *def, const char *name)
{
	const char *option = def->more_count > 0       ? def->more_meshes[0]
			     : def->tool_mesh          ? "--tool"
			     : def->mesh_scale > 0     ? "--units or --scale"
			     : def->mesh_scales[0] > 0 ? "a unit after '@'"
						       : NULL;
	if (option)
		fprintf(stderr, "tactus: scene: expected a mesh file together with %s, found '%s'%s\n",
			option, name,
			def->mesh_scale > 0 || def->mesh_scales[0] > 0
				? "; in a scene file, each mesh has the key 'scale'"
				: "");
	return !option;
}

static int mesh_scene(const session_def *def, char out_note[MESH_SCENE_NOTE], tac_scene **out_scene)
{
	const bool own_tool = def->tool_scale > 0;
	mesh_scene_def meshes = {.file_count = def->more_count + 1,
				 .tool = def->tool_mesh,
				 .tool_scale = own_tool ? def->tool_scale : def->mesh_scale};
	for (int32_t i = 0; i < meshes.file_count; i++) {
		const bool own = def->mesh_scales[i] > 0;
		meshes.files[i] = i == 0 ? def->scene : def->more_meshes[i - 1];
		meshes.scales[i] = own ? def->mesh_scales[i] : def->mesh_scale;
	}
	return mesh_scene_build(&meshes, out_note, out_scene);
}

int session_scene(const session_def *def, char out_note[MESH_SCENE_NOTE], tac_scene **out_scene)
{
	const char *name = def->scene ? def->scene : tac_scene_builtin_name(0);
	bool builtin = false;
	*out_scene = NULL;
	out_note[0] = '\0';
	for (int i = 0; tac_scene_builtin_name(i); i++)
		builtin |= strcmp(name, tac_scene_builtin_name(i)) == 0;
	if (!builtin && ends_with(name, ".rec") && access(name, F_OK) == 0) {
		fprintf(stderr,
			"tactus: %s: expected a scene or a mesh file, found a recording; `tactus view` shows "
			"it, "
			"--device playback:%s runs it again\n",
			name, name);
		return EXIT_BAD_INPUT;
	}
	if (!builtin && !is_scene_file(name)) {
		if (access(name, F_OK) == 0)
			return mesh_scene(def, out_note, out_scene);
		refuse_scene(name);
		return EXIT_BAD_INPUT;
	}
	if (!check_mesh_options(def, name))
		return EXIT_BAD_INPUT;
	const tac_result result =
		builtin ? tac_scene_builtin(name, out_scene) : tac_scene_load(name, out_scene);
	return result < TAC_OK ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

const tac_collider *session_collider(const char *command, const char *name)
{
	const tac_collider *collider = tac_collider_find(name ? name : "wide");
	if (collider)
		return collider;
	tac_suggestion suggestion = tac_suggestion_begin(name);
	fprintf(stderr, "%s: collider: expected ", command);
	for (int i = 0; tac_collider_at(i); i++) {
		fprintf(stderr, "%s%s", i ? " or " : "", tac_collider_at(i)->name);
		tac_suggestion_offer(&suggestion, tac_collider_at(i)->name);
	}
	fprintf(stderr, ", found '%s'%s\n", name, tac_suggestion_text(&suggestion));
	return NULL;
}

// ---- devices ----

// The scripted hand's path in the device's frame, which the simulated device repeats.
static void hand_path(const tac_scene_tool *tool, tac_sim_waypoint out_path[TAC_SCENE_PATH])
{
	const tac_mapping mapping = tac_mapping_make(&tool->mapping);
	for (int32_t i = 0; i < tool->hand_count; i++) {
		const tac_scene_point *p = &tool->hand[i];
		const tac_dpose T = tac_mapping_inverse(
			&mapping, tac_dpose_make(p->position_m, tac_dquat_exp(p->rotation_rad)));
		out_path[i] =
			(tac_sim_waypoint){llround(p->time_s * 1e9), T.position, tac_dquat_log(T.rotation),
					   (uint32_t)p->buttons, p->gripper_m};
	}
}

static int open_device(const session_def *def, session *s, int32_t i)
{
	const tac_scene_tool *tool = &s->scene->tools[i];
	tac_sim_waypoint path[TAC_SCENE_PATH];
	const tac_open_def open = {.grip = tool->grip,
				   .firmware = def->firmware,
				   .sim_path = path,
				   .sim_waypoints = (uint32_t)tool->hand_count,
				   .sim_repeat = true};
	hand_path(tool, path);
	const tac_result result =
		tac_hotplug_open(def->devices[i] ? def->devices[i] : tool->device, &open, &s->devices[i]);
	if (result < TAC_OK)
		return EXIT_BAD_INPUT;
	s->incomplete |= result == TAC_PARTIAL && recorded_scene_file(def->devices[i]);
	tac_calibration calibration;
	bool found;
	tac_calibration_load(&s->devices[i]->info, &calibration, &found);
	return tac_calibration_apply(&calibration, &s->devices[i]) < TAC_OK ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void record(void *user, const tac_device_sample *sample)
{
	tac_recorder_write(user, sample); // counts the samples it cannot take
}

// Of the loop that is run, or of the one that was recorded.
static int64_t loop_period_ns(const session_def *def, const session *s)
{
	if (def->period_ns > 0)
		return def->period_ns;
	return s->recorded_file && s->recorded.header.loop_period_ns > 0 ? s->recorded.header.loop_period_ns
									 : tac_servo_def_default().period_ns;
}

// One recording a tool, all of the same run.
static int open_recorders(const session_def *def, session *s)
{
	tac_recording_scene scene;
	char *memory;
	bool good =
		recorded_scene_capture(s->world, def->scene ? def->scene : s->scene->name, &scene, &memory);
	const uint64_t run = tac_recorder_new_run();
	for (int32_t i = 0; i < s->scene->tool_count && good; i++) {
		char path[4096];
		snprintf(path, sizeof path, i == 0 ? "%s" : "%s.%d", def->record, (int)i + 1);
		const tac_recorder_def recorder = {.path = path,
						   .info = &s->devices[i]->info,
						   .run = run,
						   .scene = &scene,
						   .loop_period_ns = loop_period_ns(def, s)};
		good = tac_recorder_create(&recorder, &s->recorders[i]) >= TAC_OK;
	}
	free(memory);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
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

// What remains of a body that is drilled, for the viewer.
static tac_result open_surface(const session_def *def, session *s)
{
	tac_surface_def surface = tac_surface_def_default();
	for (int32_t i = 0; i < s->scene->object_count && def->companions; i++)
		surface.field = s->world->objects[i].field ? s->world->objects[i].field : surface.field;
	const tac_result result = surface.field ? tac_surface_create(&surface, &s->surface) : TAC_OK;
	for (int32_t i = 0; s->surface && i < s->count; i++)
		tac_servo_tell_edits(s->servos[i], tac_surface_edits(s->surface));
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
	for (int32_t i = 0; i < s->scene->tool_count && code == EXIT_SUCCESS; i++)
		code = open_device(def, s, i);
	// Last of what may be refused, because it replaces an older file.
	if (code == EXIT_SUCCESS && def->record)
		code = open_recorders(def, s);
	for (int32_t i = 0; i < s->scene->tool_count && code == EXIT_SUCCESS; i++) {
		tac_servo_def servo = tac_servo_def_default();
		servo.world = s->world;
		servo.live = s->commands.live;
		servo.tool = i;
		servo.device = s->devices[i];
		servo.mover = (tac_sco_mover)def->mover;
		servo.readers = def->readers + (def->companions ? 1 : 0);
		servo.period_ns = loop_period_ns(def, s);
		servo.record = s->recorders[i] ? record : NULL;
		servo.record_user = s->recorders[i];
		servo.events = def->events;
		servo.callback = def->callbacks[i];
		if (tac_servo_create(&servo, &s->servos[i]) < TAC_OK)
			code = EXIT_FAILURE;
		s->count = i + 1;
	}
	if (code == EXIT_SUCCESS && s->count == 2 && tac_servo_join(s->servos[0], s->servos[1]) < TAC_OK)
		code = EXIT_FAILURE;
	if (code == EXIT_SUCCESS && !recorded_commands_start(&s->commands))
		code = EXIT_FAILURE;
	if (code == EXIT_SUCCESS && (open_companions(def, s) < TAC_OK || open_surface(def, s) < TAC_OK))
		code = EXIT_FAILURE;
	return code;
}

#define MANY_TRIANGLES 1000000 // building this many takes seconds

typedef struct build_progress {
	terminal t;
	const char *work;
} build_progress;

static void show_build_step(void *user, int32_t step, int32_t steps, const char *name)
{
	build_progress *p = user;
	terminal_step(&p->t, p->work, step, steps, name);
}

static void show_preparation(void *user, const char *name, double part)
{
	(void)name; // one bar for all soft bodies, each from its beginning
	build_progress *p = user;
	terminal_progress(&p->t, "preparing soft tissue", part);
}

static int build_world(const tac_collider *collider, session *s)
{
	const int64_t triangles = tac_scene_triangles(s->scene);
	if (triangles > MANY_TRIANGLES)
		fprintf(stderr, "tactus: building about %.2g million triangles, which takes a while\n",
			(double)triangles / 1e6);
	const bool uploads = (collider->flags & TAC_COLLIDER_UPLOADS) != 0;
	build_progress p = {.work = uploads ? "building and uploading" : "building"};
	tac_elastic_set_progress(show_preparation, &p);
	const tac_result result =
		tac_world_build_with_progress(s->scene, collider, show_build_step, &p, &s->world);
	tac_elastic_set_progress(NULL, NULL);
	terminal_clear(&p.t);
	return result < TAC_OK ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

// Reads the heads of the recordings that are played back: all of the same run.
static int load_recorded(const session_def *def, const char *command, session *s)
{
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		const char *file = recorded_scene_file(def->devices[i]);
		if (!file)
			continue;
		tac_recording head;
		if (tac_recording_load_scene(file, &head) < TAC_OK)
			return EXIT_BAD_INPUT;
		const bool foreign = s->recorded_file && head.header.run != s->recorded.header.run;
		if (s->recorded_file) {
			tac_recording_fini(&head);
		} else {
			s->recorded = head;
			s->recorded_file = file;
		}
		if (foreign && !def->any_scene) {
			fprintf(stderr,
				"%s: %s: expected a recording of the same run as %s, found one of another "
				"run (--any-scene replays it all the same)\n",
				command, file, s->recorded_file);
			return EXIT_BAD_INPUT;
		}
	}
	return EXIT_SUCCESS;
}

// The scene that was named, or that of the recording that is played back, which must be the same.
static int open_scene(const session_def *def, const char *command, session *s)
{
	int code = load_recorded(def, command, s);
	if (code != EXIT_SUCCESS)
		return code;
	if (s->recorded_file && !def->scene)
		return recorded_scene_load(command, s->recorded_file, &s->recorded, &s->scene);
	code = session_scene(def, s->note, &s->scene);
	if (code == EXIT_SUCCESS && s->recorded_file && !def->any_scene &&
	    !recorded_scene_matches(command, s->recorded_file, &s->recorded, def->scene, s->scene))
		code = EXIT_BAD_INPUT;
	return code;
}

int session_open(const session_def *def, const char *command, bool bare, session *out_session)
{
	session *s = out_session;
	*s = (session){0};
	const tac_collider *collider = session_collider(command, def->collider);
	if (!collider)
		return EXIT_BAD_INPUT;
	int code = open_scene(def, command, s);
	if (code == EXIT_SUCCESS)
		code = build_world(collider, s);
	if (code == EXIT_SUCCESS && s->recorded.scene.text && !def->any_scene &&
	    !recorded_scene_has_meshes(command, s->recorded_file, &s->recorded.scene, s->world))
		code = EXIT_BAD_INPUT;
	if (code == EXIT_SUCCESS && !bare && s->recorded_file && s->recorded.scene.text && !def->any_scene &&
	    !recorded_commands_open(command, s->recorded_file, s->world, &s->commands))
		code = EXIT_BAD_INPUT;
	if (code == EXIT_SUCCESS && !bare)
		code = open_tools(def, command, s);
	return code;
}

bool session_close(session *s)
{
	bool complete = !s->incomplete;
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		tac_companion_destroy(&s->companions[i]);
		tac_servo_destroy(&s->servos[i]);
		complete &= tac_recorder_destroy(&s->recorders[i]) == TAC_OK;
		tac_device_destroy(&s->devices[i]);
	}
	tac_surface_destroy(&s->surface);
	recorded_commands_close(&s->commands);
	tac_world_destroy(&s->world);
	tac_scene_destroy(&s->scene);
	tac_recording_fini(&s->recorded);
	return complete;
}

const tac_surroundings *session_surroundings(session *s, int32_t i)
{
	return s->companions[i] ? tac_companion_read(s->companions[i]) : NULL;
}

void session_step(session *s, int64_t now_ns, tac_tick *tick)
{
	tac_servo_step_all(s->servos, s->count, now_ns, tick);
}

bool session_has_task(const tac_scene *scene)
{
	const tac_scene_task *t = &scene->task;
	bool has = t->limits.max_force_N > 0 || t->limits.time_s > 0 || t->limits.path_m > 0 || *t->target ||
		   *t->target_layer;
	for (int32_t i = 0; i < scene->tool_count; i++)
		has = has || scene->tools[i].needle.length_m > 0;
	for (int32_t i = 0; i < scene->object_count; i++)
		has = has || scene->objects[i].protect_count > 0 || scene->objects[i].tissue.inside_count > 0;
	return has;
}
