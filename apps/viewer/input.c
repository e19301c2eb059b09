#include "apps/viewer/state.h"
#include "devices/mouse.h"
#include "haptic/mapping.h"

#include <linux/input.h>
#include <math.h>
#include <unistd.h>

#define ORBIT_RAD  0.008F // per pixel
#define WHEEL_ZOOM 0.9F   // per notch

static void send_event(viewer *v, uint16_t type, uint16_t code, int32_t value)
{
	const struct input_event event = {.type = type, .code = code, .value = value};
	// If nobody reads the pipe it fills up, and further events are lost, as with a mouse.
	if (write(v->def.mouse_fd, &event, sizeof event) < 0)
		return;
}

// Moves the device so that the tool moves by these distances in the picture, in m; `out` is towards the eye.
static void move_device(viewer *v, double right, double up, double out)
{
	const tac_mapping mapping = tac_mapping_make(&v->def.world->scene->tools[0].mapping);
	tac_vec3 x, y;
	viewer_camera_axes(&v->camera, &x, &y);
	const tac_dvec3 axes[3] = {tac_dvec3_from_vec3(x), tac_dvec3_from_vec3(y),
				   tac_dvec3_from_vec3(tac_vec3_cross(x, y))};
	tac_dvec3 motion = tac_dvec3_scale(axes[0], right);
	motion = tac_dvec3_add_scaled(motion, up, axes[1]);
	motion = tac_dvec3_add_scaled(motion, out, axes[2]);
	motion = tac_dquat_rotate(tac_dquat_conjugate(mapping.rotation), motion);
	v->drag = tac_dvec3_add_scaled(v->drag, 1 / (mapping.scale * TAC_MOUSE_M_PER_COUNT), motion);
	const tac_dvec3 whole = tac_dvec3_make(trunc(v->drag.x), trunc(v->drag.y), trunc(v->drag.z));
	v->drag = tac_dvec3_sub(v->drag, whole);
	if (whole.x != 0)
		send_event(v, EV_REL, REL_X, (int32_t)whole.x);
	if (whole.y != 0)
		send_event(v, EV_REL, REL_Y, -(int32_t)whole.y); // a mouse counts downwards
	if (whole.z != 0)
		send_event(v, EV_REL, REL_Z, (int32_t)whole.z);
}

static bool is_pressed(const viewer *v, int button)
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
	// The tool follows the pointer: a pixel is as long in the world as in the picture, at the target.
	const double metres = (double)viewer_camera_height(&v->camera) / fmax(height, 1);
	if (is_pressed(v, GLFW_MOUSE_BUTTON_LEFT) && v->def.mouse_fd > 0)
		move_device(v, dx * metres, -dy * metres, 0);
	else if (is_pressed(v, GLFW_MOUSE_BUTTON_LEFT) || is_pressed(v, GLFW_MOUSE_BUTTON_RIGHT))
		viewer_camera_orbit(&v->camera, -ORBIT_RAD * (float)dx, ORBIT_RAD * (float)dy);
	else if (is_pressed(v, GLFW_MOUSE_BUTTON_MIDDLE) && height > 0)
		viewer_camera_pan(&v->camera, -(float)dx / (float)height, (float)dy / (float)height);
}

static void on_scroll(GLFWwindow *window, double x, double y)
{
	(void)x;
	viewer *v = glfwGetWindowUserPointer(window);
	if (v->def.mouse_fd > 0 && is_pressed(v, GLFW_MOUSE_BUTTON_LEFT))
		move_device(v, 0, 0, -TAC_MOUSE_M_PER_NOTCH * y); // forwards is away from the user
	else
		viewer_camera_zoom(&v->camera, powf(WHEEL_ZOOM, (float)y));
}

// Pauses and moves through the history. Forward of the newest snapshot, a replay does a single step.
static void step(viewer *v, int by)
{
	v->paused = true;
	const int depth = viewer_history_depth(&v->tools[0]);
	if (by > 0 && v->back == 0)
		v->steps++;
	v->back -= by;
	v->back = v->back < 0 ? 0 : v->back > depth ? depth : v->back;
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
		v->back = 0;
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
		v->layers.ghost = !v->layers.ghost;
		break;
	case GLFW_KEY_N:
		v->layers.contacts = !v->layers.contacts;
		break;
	case GLFW_KEY_L:
		v->layers.labels = !v->layers.labels;
		break;
	case GLFW_KEY_F:
		v->layers.force = !v->layers.force;
		break;
	case GLFW_KEY_S:
		v->layers.structures = !v->layers.structures;
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

void viewer_input_init(viewer *v)
{
	glfwSetWindowUserPointer(v->window, v);
	glfwSetCursorPosCallback(v->window, on_cursor);
	glfwSetScrollCallback(v->window, on_scroll);
	glfwSetKeyCallback(v->window, on_key);
}
