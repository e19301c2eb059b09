#include "apps/viewer.h"

#include "apps/viewer_panel.h"
#include "apps/viewer_picture.h"
#include "apps/viewer_stage.h"
#include "base/log.h"
#include "devices/mouse.h"
#include "haptic/mapping.h"
#include "rt/clock.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <linux/input.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HISTORY    400 // snapshots of each tool that can be stepped through while paused
#define MESSAGE_NS (3 * TAC_NS_PER_S)
#define ORBIT_RAD  0.008F // a pixel
#define SLOW_S     0.04F  // a picture that takes longer is drawn with one sample a pixel
#define WHEEL_ZOOM 0.9F   // a notch

// One tool as it is shown.
typedef struct follower {
	tac_snapshot *history; // HISTORY of them, a ring
	int64_t taken;         // so many were put into it
	tac_snapshot shown;    // the newest, with poses of the display's instant
} follower;

struct viewer {
	viewer_def def;
	GLFWwindow *window;
	viewer_render render;
	viewer_flat flat;
	viewer_stage stage;
	viewer_trail trail;
	viewer_camera camera;
	int camera_index;
	viewer_shows shows;
	bool panels, help, paused;
	int behind; // snapshots back, while paused
	int steps;  // asked for beyond the newest
	follower tools[TAC_SCENE_TOOLS];
	double cursor_x, cursor_y;
	tac_dvec3 drag; // counts of the device mouse that are not whole yet
	bool screenshot_wanted;
	char message[160];
	int64_t message_ns;
	int64_t shown_ns;   // when the last picture was shown
	viewer_frame frame; // the last
	float frame_s;      // from picture to picture, smoothed
	int64_t rate_tick, rate_ns;
	float rate_Hz;
};

static void say(viewer *v, const char *text)
{
	snprintf(v->message, sizeof v->message, "%s", text);
	v->message_ns = tac_clock_now_ns() + MESSAGE_NS;
}

// ---- mouse and keys ----

static void send_event(viewer *v, uint16_t type, uint16_t code, int32_t value)
{
	const struct input_event event = {.type = type, .code = code, .value = value};
	// A pipe nobody reads is full some day: what does not fit is lost, as with a mouse.
	if (write(v->def.mouse_fd, &event, sizeof event) < 0)
		return;
}

// Moves the device so that the tool goes so far in the picture: to the right, up, and towards the eye, m.
static void move_device(viewer *v, double right, double up, double out)
{
	const tac_mapping mapping = tac_mapping_make(&v->def.world->scene->tools[0].mapping);
	tac_vec3 x, y;
	viewer_camera_axes(&v->camera, &x, &y);
	const tac_dvec3 axes[3] = {tac_dvec3_from_vec3(x), tac_dvec3_from_vec3(y),
				   tac_dvec3_from_vec3(tac_vec3_cross(x, y))};
	tac_dvec3 way = tac_dvec3_scale(axes[0], right);
	way = tac_dvec3_add_scaled(way, up, axes[1]);
	way = tac_dvec3_add_scaled(way, out, axes[2]);
	way = tac_dquat_rotate(tac_dquat_conjugate(mapping.rotation), way);
	v->drag = tac_dvec3_add_scaled(v->drag, 1 / (mapping.scale * TAC_MOUSE_M_PER_COUNT), way);
	const tac_dvec3 whole = tac_dvec3_make(trunc(v->drag.x), trunc(v->drag.y), trunc(v->drag.z));
	v->drag = tac_dvec3_sub(v->drag, whole);
	if (whole.x != 0)
		send_event(v, EV_REL, REL_X, (int32_t)whole.x);
	if (whole.y != 0)
		send_event(v, EV_REL, REL_Y, -(int32_t)whole.y); // down on the mat is more
	if (whole.z != 0)
		send_event(v, EV_REL, REL_Z, (int32_t)whole.z);
}

static bool held(const viewer *v, int button)
{
	return glfwGetMouseButton(v->window, button) == GLFW_PRESS;
}

static void on_cursor(GLFWwindow *window, double x, double y)
{
	viewer *v = glfwGetWindowUserPointer(window);
	const double dx = x - v->cursor_x, dy = y - v->cursor_y;
	v->cursor_x = x;
	v->cursor_y = y;
	int width, height;
	glfwGetWindowSize(window, &width, &height);
	// The tool follows the pointer: one pixel is as far in the world as it is on the screen.
	const double metres = (double)viewer_camera_height(&v->camera) / fmax(height, 1);
	if (held(v, GLFW_MOUSE_BUTTON_LEFT) && v->def.mouse_fd > 0)
		move_device(v, dx * metres, -dy * metres, 0);
	else if (held(v, GLFW_MOUSE_BUTTON_LEFT) || held(v, GLFW_MOUSE_BUTTON_RIGHT))
		viewer_camera_orbit(&v->camera, -ORBIT_RAD * (float)dx, ORBIT_RAD * (float)dy);
	else if (held(v, GLFW_MOUSE_BUTTON_MIDDLE) && height > 0)
		viewer_camera_pan(&v->camera, -(float)dx / (float)height, (float)dy / (float)height);
}

static void on_scroll(GLFWwindow *window, double x, double y)
{
	(void)x;
	viewer *v = glfwGetWindowUserPointer(window);
	if (v->def.mouse_fd > 0 && held(v, GLFW_MOUSE_BUTTON_LEFT))
		move_device(v, 0, 0, -TAC_MOUSE_M_PER_NOTCH * y); // forwards is away from the user
	else
		viewer_camera_zoom(&v->camera, powf(WHEEL_ZOOM, (float)y));
}

// While paused: back through the history, forth to the newest, and there one step of a replay.
static void step(viewer *v, int by)
{
	v->paused = true;
	const int64_t taken = v->tools[0].taken;
	const int most = (int)(taken < HISTORY ? taken : HISTORY) - 1;
	if (by > 0 && v->behind == 0)
		v->steps++;
	v->behind -= by;
	v->behind = v->behind < 0 ? 0 : v->behind > most ? (most > 0 ? most : 0) : v->behind;
}

static void on_key(GLFWwindow *window, int key, int code, int action, int mods)
{
	(void)code;
	viewer *v = glfwGetWindowUserPointer(window);
	if (action == GLFW_RELEASE)
		return;
	switch (key) {
	case GLFW_KEY_R:
		v->camera = viewer_stage_camera(&v->stage, v->camera_index);
		break;
	case GLFW_KEY_C:
		v->camera = viewer_stage_camera(&v->stage, ++v->camera_index);
		break;
	case GLFW_KEY_SPACE:
		v->paused = !v->paused;
		v->behind = 0;
		break;
	case GLFW_KEY_LEFT:
		step(v, -1);
		break;
	case GLFW_KEY_RIGHT:
		step(v, 1);
		break;
	case GLFW_KEY_O:
		v->panels = !v->panels;
		break;
	case GLFW_KEY_G:
		v->shows.ghost = !v->shows.ghost;
		break;
	case GLFW_KEY_N:
		v->shows.contacts = !v->shows.contacts;
		break;
	case GLFW_KEY_L:
		v->shows.labels = !v->shows.labels;
		break;
	case GLFW_KEY_F:
		v->shows.force = !v->shows.force;
		break;
	case GLFW_KEY_P:
		v->screenshot_wanted = true;
		break;
	case GLFW_KEY_SLASH:
		if (mods & GLFW_MOD_SHIFT)
			v->help = !v->help;
		break;
	case GLFW_KEY_H:
	case GLFW_KEY_F1:
		v->help = !v->help;
		break;
	case GLFW_KEY_Q:
	case GLFW_KEY_ESCAPE:
		glfwSetWindowShouldClose(window, GLFW_TRUE);
		break;
	default:
		break;
	}
}

// ---- set-up ----

static bool open_window(viewer *v)
{
	const char *why = NULL;
	if (!glfwInit()) {
		glfwGetError(&why);
		tac_log(TAC_LOG_WARNING, "viewer: expected a display, found none (%s)",
			why ? why : "no reason given");
		return false;
	}
	glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
	glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
	glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
	glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
	glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
	v->window = glfwCreateWindow(v->def.width, v->def.height, v->def.title, NULL, NULL);
	if (!v->window) {
		glfwGetError(&why);
		tac_log(TAC_LOG_WARNING, "viewer: expected a window with OpenGL 3.3, found %s",
			why ? why : "no reason given");
		glfwTerminate();
		return false;
	}
	glfwMakeContextCurrent(v->window);
	glfwSwapInterval(1);
	glfwSetWindowUserPointer(v->window, v);
	glfwSetCursorPosCallback(v->window, on_cursor);
	glfwSetScrollCallback(v->window, on_scroll);
	glfwSetKeyCallback(v->window, on_key);
	return true;
}

static tac_result make_histories(viewer *v)
{
	for (int i = 0; i < v->def.world->scene->tool_count; i++) {
		v->tools[i].history = calloc(HISTORY, sizeof(tac_snapshot));
		if (!v->tools[i].history) {
			tac_log(TAC_LOG_ERROR, "viewer: expected memory for %d snapshots, found none",
				HISTORY);
			return TAC_ERROR_MEMORY;
		}
	}
	return TAC_OK;
}

tac_result viewer_open(const viewer_def *def, viewer **out_viewer)
{
	*out_viewer = NULL;
	viewer *v = calloc(1, sizeof *v);
	if (!v) {
		tac_log(TAC_LOG_ERROR, "viewer: expected memory, found none");
		return TAC_ERROR_MEMORY;
	}
	v->def = *def;
	v->panels = true;
	v->shows = (viewer_shows){true, true, true, true};
	viewer_trail_init(&v->trail);
	tac_result result = make_histories(v);
	if (result == TAC_OK && !open_window(v))
		result = TAC_ERROR_UNSUPPORTED;
	if (result == TAC_OK)
		result = viewer_render_init(&v->render);
	if (result == TAC_OK)
		result = viewer_flat_init(&v->flat);
	if (result == TAC_OK)
		result = viewer_stage_init(&v->stage, def->world, v->render.depth);
	if (result == TAC_OK) {
		v->camera = viewer_stage_camera(&v->stage, 0);
		*out_viewer = v;
	} else {
		v->def.screenshot_path = NULL;
		viewer_close(&v);
	}
	return result;
}

// ---- what is shown ----

// Takes the snapshot into the history, if it is a new one. `fresh` ones are a copy: the loop's is not kept.
static void take(viewer *v, follower *f, const tac_snapshot *shot)
{
	const tac_snapshot *last = f->taken > 0 ? &f->history[(f->taken - 1) % HISTORY] : NULL;
	if (!shot || (last && last->tick == shot->tick))
		return;
	f->history[f->taken++ % HISTORY] = *shot;
	if (f == &v->tools[0])
		viewer_trail_force(&v->trail, shot->time_ns, (float)tac_dvec3_length(shot->sent.force_N));
}

// The newest snapshot with the poses between it and the one before, for the instant `at_ns`.
static void blend(follower *f, int64_t at_ns)
{
	const tac_snapshot *b = &f->history[(f->taken - 1) % HISTORY];
	f->shown = *b;
	if (f->taken < 2)
		return;
	const tac_snapshot *a = &f->history[(f->taken - 2) % HISTORY];
	if (b->time_ns <= a->time_ns)
		return;
	const double t = fmin(fmax((double)(at_ns - a->time_ns) / (double)(b->time_ns - a->time_ns), 0), 1);
	f->shown.T_world_sco = tac_dpose_interpolate(a->T_world_sco, b->T_world_sco, t);
	f->shown.T_world_device = tac_dpose_interpolate(a->T_world_device, b->T_world_device, t);
	for (int i = 0; i < b->object_count; i++)
		f->shown.T_world_objects[i] =
			tac_dpose_interpolate(a->T_world_objects[i], b->T_world_objects[i], t);
	// Contacts stay where they are on the tool.
	const tac_dpose moved = tac_dpose_compose(f->shown.T_world_sco, tac_dpose_inverse(b->T_world_sco));
	for (int i = 0; i < f->shown.contact_count; i++)
		f->shown.contacts[i].point_m = tac_dpose_apply_point(moved, b->contacts[i].point_m);
}

static const tac_snapshot *choose(viewer *v, follower *f, int64_t now_ns)
{
	if (f->taken == 0)
		return NULL;
	if (v->paused) {
		const int64_t back = v->behind < f->taken ? v->behind : f->taken - 1;
		return &f->history[(f->taken - 1 - back) % HISTORY];
	}
	blend(f, now_ns - (int64_t)(v->frame_s * 1e9F));
	return &f->shown;
}

static void measure_rate(viewer *v)
{
	const follower *f = &v->tools[0];
	if (f->taken == 0)
		return;
	const tac_snapshot *newest = &f->history[(f->taken - 1) % HISTORY];
	const int64_t passed_ns = newest->time_ns - v->rate_ns;
	if (v->rate_ns != 0 && passed_ns < TAC_NS_PER_S / 2 && v->rate_Hz > 0)
		return;
	if (v->rate_ns != 0 && passed_ns > 0)
		v->rate_Hz = (float)((double)(newest->tick - v->rate_tick) * 1e9 / (double)passed_ns);
	v->rate_tick = newest->tick;
	v->rate_ns = newest->time_ns;
}

static void time_frame(viewer *v)
{
	const int64_t now_ns = tac_clock_now_ns();
	if (v->shown_ns != 0) {
		const float last_s = (float)(now_ns - v->shown_ns) / 1e9F;
		v->frame_s = v->frame_s > 0 ? 0.9F * v->frame_s + 0.1F * last_s : last_s;
	}
	v->shown_ns = now_ns;
}

static viewer_panel make_panel(viewer *v, const viewer_frame *frame, const tac_snapshot *const *shots,
			       int width, int height)
{
	viewer_panel panel = {
		.def = &v->def,
		.frame = frame,
		.shown = shots[0],
		.trail = &v->trail,
		.width = width,
		.height = height,
		.rate_Hz = v->rate_Hz,
		.frames_per_s = v->frame_s > 0 ? 1 / v->frame_s : 0,
		.help = v->help,
		.paused = v->paused,
		.behind = v->behind,
		.message = tac_clock_now_ns() < v->message_ns ? v->message : NULL,
	};
	float scale_x, scale_y;
	glfwGetWindowContentScale(v->window, &scale_x, &scale_y);
	panel.scale = fmaxf(scale_x, 0.5F);
	if (v->shows.labels)
		panel.label_count =
			viewer_stage_labels(&v->stage, shots, &v->camera, width, height, panel.labels);
	return panel;
}

static tac_result write_picture(viewer *v, const char *path)
{
	return viewer_picture_write(path, v->render.resolved, v->render.width, v->render.height);
}

static void write_numbered_picture(viewer *v)
{
	char path[64], text[96];
	int number = 1;
	do
		snprintf(path, sizeof path, "tactus-%03d.png", number++);
	while (access(path, F_OK) == 0 && number < 1000);
	snprintf(text, sizeof text, "%s %s",
		 write_picture(v, path) == TAC_OK ? "picture written:" : "picture not written:", path);
	say(v, text);
}

static void draw(viewer *v, const viewer_frame *frame, bool fine)
{
	int width, height;
	glfwGetFramebufferSize(v->window, &width, &height);
	if (width <= 0 || height <= 0) // an icon
		return;
	const tac_snapshot *shots[TAC_SCENE_TOOLS];
	for (int i = 0; i < TAC_SCENE_TOOLS; i++)
		shots[i] = choose(v, &v->tools[i], frame->now_ns);
	const viewer_picture picture = viewer_stage_compose(&v->stage, shots, &v->shows, &v->camera);
	const viewer_panel panel = make_panel(v, frame, shots, width, height);
	if (v->panels)
		viewer_panel_draw(&v->flat, &panel);
	viewer_panel_notice(&v->flat, &panel);
	if (v->help)
		viewer_panel_help(&v->flat, &panel);
	viewer_render_draw(&v->render, &picture, &v->flat, width, height, fine);
}

bool viewer_show(viewer *v, const viewer_frame *frame)
{
	glfwPollEvents();
	if (glfwWindowShouldClose(v->window)) {
		glfwHideWindow(
			v->window); // it lives on until viewer_close: others may still call viewer_tick
		glfwPollEvents();
		return false;
	}
	for (int i = 0; i < TAC_SCENE_TOOLS; i++) {
		if (!v->paused || v->steps > 0 || v->tools[i].taken == 0)
			take(v, &v->tools[i], frame->snapshots[i]);
	}
	measure_rate(v);
	// Without a graphics processor one sample a pixel has to do, but for pictures that are kept.
	draw(v, frame, v->frame_s < SLOW_S || v->screenshot_wanted);
	if (v->screenshot_wanted)
		write_numbered_picture(v);
	v->screenshot_wanted = false;
	v->frame = *frame;
	glfwSwapBuffers(v->window);
	time_frame(v);
	return true;
}

int viewer_steps(viewer *v)
{
	if (!v->paused)
		return -1;
	const int steps = v->steps;
	v->steps = 0;
	return steps;
}

void viewer_tick(viewer *v, const tac_tick *tick)
{
	viewer_trail_tick(&v->trail, tick->planned_ns, (float)tac_tick_compute_ns(tick) / 1e3F,
			  tac_tick_missed(tick));
}

tac_result viewer_close(viewer **pointer)
{
	viewer *v = *pointer;
	if (!v)
		return TAC_OK;
	tac_result result = TAC_OK;
	if (v->window) {
		if (v->def.screenshot_path) {
			draw(v, &v->frame, true);
			result = write_picture(v, v->def.screenshot_path);
		}
		viewer_stage_fini(&v->stage);
		viewer_flat_fini(&v->flat);
		viewer_render_fini(&v->render);
		glfwDestroyWindow(v->window);
		glfwTerminate();
	}
	viewer_trail_fini(&v->trail);
	for (int i = 0; i < TAC_SCENE_TOOLS; i++)
		free(v->tools[i].history);
	free(v);
	*pointer = NULL;
	return result;
}
