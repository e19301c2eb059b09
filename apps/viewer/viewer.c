#include "apps/viewer/viewer.h"

#include "apps/viewer/picture.h"
#include "apps/viewer/state.h"
#include "base/log.h"
#include "rt/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_NS (3 * TAC_NS_PER_S)
#define SLOW_S     0.04F // above this time between pictures, they are drawn with one sample a pixel

// ---- set-up ----

static bool open_window(viewer *v)
{
	const char *reason = NULL;
	if (!glfwInit()) {
		glfwGetError(&reason);
		tac_log(TAC_LOG_WARNING, "viewer: expected a display, found none (%s)",
			reason ? reason : "no reason given");
		return false;
	}
	glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
	glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
	glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
	glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
	glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
	v->window = glfwCreateWindow(v->def.width, v->def.height, v->def.title, NULL, NULL);
	if (!v->window) {
		glfwGetError(&reason);
		tac_log(TAC_LOG_WARNING, "viewer: expected a window with OpenGL 3.3, found: %s",
			reason ? reason : "no reason given");
		glfwTerminate();
		return false;
	}
	glfwMakeContextCurrent(v->window);
	glfwSwapInterval(1);
	viewer_input_init(v);
	return true;
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
	v->first = def->world;
	v->panels = true;
	v->layers = (viewer_layers){true, true, true, true, false};
	viewer_trail_init(&v->trail);
	tac_result result = TAC_OK;
	for (int i = 0; i < def->world->scene->tool_count && result == TAC_OK; i++)
		result = viewer_history_init(&v->tools[i]);
	if (result == TAC_OK && !open_window(v))
		result = TAC_ERROR_UNSUPPORTED;
	if (result == TAC_OK)
		result = viewer_render_init(&v->render);
	if (result == TAC_OK)
		result = viewer_flat_init(&v->flat);
	if (result == TAC_OK)
		result = viewer_stage_init(&v->stage, def->world, def->surface, v->render.depth);
	if (result == TAC_OK) {
		v->camera = viewer_stage_camera(&v->stage, 0);
		*out_viewer = v;
	} else {
		v->def.screenshot_path = NULL;
		viewer_close(&v);
	}
	return result;
}

// ---- pictures ----

static void add_snapshot(viewer *v, int tool, const tac_snapshot *s)
{
	if (viewer_history_add(&v->tools[tool], s) && tool == 0)
		viewer_trail_force(&v->trail, s->time_ns, (float)tac_dvec3_length(s->sent.force_N));
}

static const tac_snapshot *choose_snapshot(viewer *v, int tool, int64_t now_ns)
{
	viewer_history *h = &v->tools[tool];
	return v->paused ? viewer_history_back(h, v->back)
			 : viewer_history_at(h, now_ns - (int64_t)(v->frame_s * 1e9F));
}

static void measure_rate(viewer *v)
{
	const tac_snapshot *newest = viewer_history_newest(&v->tools[0]);
	if (!newest)
		return;
	const int64_t elapsed_ns = newest->time_ns - v->rate_ns;
	if (v->rate_ns != 0 && elapsed_ns < TAC_NS_PER_S / 2 && v->rate_Hz > 0)
		return;
	if (v->rate_ns != 0 && elapsed_ns > 0)
		v->rate_Hz = (float)((double)(newest->tick - v->rate_tick) * 1e9 / (double)elapsed_ns);
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

static viewer_panel make_panel(viewer *v, const viewer_frame *frame, const tac_snapshot *const *snapshots,
			       int width, int height)
{
	viewer_panel panel = {
		.def = &v->def,
		.frame = frame,
		.shown = snapshots[0],
		.trail = &v->trail,
		.width = width,
		.height = height,
		.rate_Hz = v->rate_Hz,
		.frames_per_s = v->frame_s > 0 ? 1 / v->frame_s : 0,
		.m_per_pixel = viewer_camera_height(&v->camera) / (float)height,
		.size_m = v->stage.size,
		.help = v->help,
		.paused = v->paused,
		.back = v->back,
		.message = tac_clock_now_ns() < v->message_end_ns ? v->message : NULL,
	};
	float scale_x, scale_y;
	glfwGetWindowContentScale(v->window, &scale_x, &scale_y);
	panel.scale = fmaxf(scale_x, 0.5F);
	if (v->layers.labels)
		panel.label_count =
			viewer_stage_labels(&v->stage, snapshots, &v->camera, width, height, panel.labels);
	return panel;
}

static tac_result write_picture(viewer *v, const char *path)
{
	return viewer_picture_write(path, v->render.resolved, v->render.width, v->render.height);
}

static void write_numbered_picture(viewer *v)
{
	char path[64];
	int number = 1;
	do
		snprintf(path, sizeof path, "tactus-%03d.png", number++);
	while (access(path, F_OK) == 0 && number < 1000);
	const bool written = write_picture(v, path) == TAC_OK;
	snprintf(v->message, sizeof v->message, "%s %s", written ? "wrote picture" : "could not write", path);
	v->message_end_ns = tac_clock_now_ns() + MESSAGE_NS;
}

// Puts the world of a snapshot on the stage.
static void follow_world(viewer *v, const tac_snapshot *shown)
{
	const int32_t number = shown ? shown->live.world : v->world_number;
	if (number == v->world_number || number > v->def.later_count)
		return;
	viewer_stage_fini(&v->stage);
	v->def.world = number == 0 ? v->first : v->def.later_worlds[number - 1];
	v->world_number = number;
	// A world that is drilled is not exchanged. What is missing without memory is not drawn.
	viewer_stage_init(&v->stage, v->def.world, number == 0 ? v->def.surface : NULL, v->render.depth);
}

static void draw(viewer *v, const viewer_frame *shown, bool fine)
{
	viewer_frame copy = *shown, *frame = &copy;
	int width, height;
	glfwGetFramebufferSize(v->window, &width, &height);
	if (width <= 0 || height <= 0) // minimised
		return;
	const tac_snapshot *snapshots[TAC_SCENE_TOOLS];
	for (int i = 0; i < TAC_SCENE_TOOLS; i++)
		snapshots[i] = choose_snapshot(v, i, frame->now_ns);
	follow_world(v, snapshots[0]);
	for (int i = 0; i < TAC_SCENE_TOOLS; i++) { // objects have other numbers in another world
		if (snapshots[i] && snapshots[i]->live.world != v->world_number)
			snapshots[i] = NULL;
	}
	if (v->world_number != 0)
		frame->surroundings = NULL; // the companion's world is the first
	const viewer_picture picture = viewer_stage_compose(&v->stage, snapshots, &v->layers, &v->camera);
	const viewer_panel panel = make_panel(v, frame, snapshots, width, height);
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
		// The viewer lives until viewer_close: the monitor's thread may still call viewer_tick.
		glfwHideWindow(v->window);
		glfwPollEvents();
		return false;
	}
	for (int i = 0; i < TAC_SCENE_TOOLS; i++) {
		if (!v->paused || v->steps > 0 || v->tools[i].added == 0)
			add_snapshot(v, i, frame->snapshots[i]);
	}
	// A live run that is paused goes on to be drilled: its picture stays as it is.
	const tac_snapshot *newest = viewer_history_newest(&v->tools[0]);
	if (!newest || !frame->snapshots[0] || newest->tick == frame->snapshots[0]->tick)
		viewer_patches_take(&v->stage.patches);
	measure_rate(v);
	// Without a graphics processor one sample a pixel must do, except for pictures that are kept.
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
			viewer_patches_settle(&v->stage.patches);
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
		viewer_history_fini(&v->tools[i]);
	free(v);
	*pointer = NULL;
	return result;
}
