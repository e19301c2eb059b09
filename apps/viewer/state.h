// Viewer state: the insides of a viewer, shared by its window (viewer.c) and its mouse and keys (input.c).
#ifndef TAC_APPS_VIEWER_STATE_H
#define TAC_APPS_VIEWER_STATE_H

#include "apps/viewer/history.h"
#include "apps/viewer/panel.h"
#include "apps/viewer/stage.h"
#include "apps/viewer/viewer.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

struct viewer {
	viewer_def def;         // its world is the one on the stage
	const tac_world *first; // that of the def
	int32_t world_number;   // of the world on the stage
	GLFWwindow *window;
	viewer_render render;
	viewer_flat flat;
	viewer_stage stage;
	viewer_trail trail;
	viewer_camera camera;
	int camera_index;
	viewer_layers layers;
	bool panels, help, paused;
	int back;  // snapshots before the newest, while paused
	int steps; // single steps of a replay that are still to be done, while paused
	viewer_history tools[TAC_SCENE_TOOLS];
	double cursor_x, cursor_y;
	tac_dvec3 drag; // fractions of the device mouse's counts, carried to the next event
	bool screenshot_wanted;
	char message[160];
	int64_t message_end_ns;
	int64_t shown_ns;   // time of the last picture
	viewer_frame frame; // of the last picture
	float frame_s;      // time between pictures, smoothed
	int64_t rate_tick, rate_ns;
	float rate_Hz;
};

// Registers the callbacks for mouse and keys. Thread: the visual one.
void viewer_input_init(viewer *v);

#endif
