#include "devices/input/mouse.h"

#include "base/log.h"
#include "devices/mouse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENT_FILES 64   // /dev/input/event0 … that are tried
#define READ_EVENTS 64   // most per read; the rest waits for the next tick
#define SMOOTHING_S 0.03 // turns the steps of a mouse, or of a window's frames, into a motion

typedef struct mouse {
	tac_device base;
	int file;
	bool lost;
	int64_t read_ns;
	tac_dvec3 start, target; // the workspace is around the start; the tool follows the target
	tac_device_state state;
	atomic_bool enabled;
} mouse;

static mouse *mouse_of(tac_device *device)
{
	return (mouse *)device;
}

static void take_event(mouse *m, const struct input_event *event)
{
	if (event->type == EV_REL) {
		if (event->code == REL_X)
			m->target.x += TAC_MOUSE_M_PER_COUNT * event->value;
		else if (event->code == REL_Y)
			m->target.y -= TAC_MOUSE_M_PER_COUNT * event->value; // towards the user is down
		else if (event->code == REL_Z)
			m->target.z += TAC_MOUSE_M_PER_COUNT * event->value;
		else if (event->code == REL_WHEEL)
			m->target.z -= TAC_MOUSE_M_PER_NOTCH * event->value; // forwards is away from the user
	} else if (event->type == EV_KEY && event->code >= BTN_LEFT && event->code <= BTN_MIDDLE) {
		const uint32_t bit = 1u << (event->code - BTN_LEFT);
		m->state.buttons = event->value ? m->state.buttons | bit : m->state.buttons & ~bit;
	}
}

static double clamp(double x, double start)
{
	return fmin(fmax(x, start - TAC_MOUSE_REACH_M), start + TAC_MOUSE_REACH_M);
}

static tac_device_status mouse_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	mouse *m = mouse_of(device);
	struct input_event events[READ_EVENTS];
	const ssize_t got = m->lost ? 0 : read(m->file, events, sizeof events);
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		m->lost = true;
	for (ssize_t i = 0; i < got / (ssize_t)sizeof events[0]; i++)
		take_event(m, &events[i]);
	m->target = tac_dvec3_make(clamp(m->target.x, m->start.x), clamp(m->target.y, m->start.y),
				   clamp(m->target.z, m->start.z));
	m->state.velocity_m_per_s = tac_dvec3_zero();
	if (m->read_ns != 0 && now_ns > m->read_ns && !m->lost) {
		const double elapsed_s = (double)(now_ns - m->read_ns) / 1e9;
		tac_dvec3 *position = &m->state.T_base_tool.position;
		const tac_dvec3 step = tac_dvec3_scale(tac_dvec3_sub(m->target, *position),
						       -expm1(-elapsed_s / SMOOTHING_S));
		*position = tac_dvec3_add(*position, step);
		m->state.velocity_m_per_s = tac_dvec3_div(step, elapsed_s);
	}
	m->state.time_ns = m->read_ns = now_ns;
	*out_state = m->state;
	return m->lost ? TAC_DEVICE_LOST : TAC_DEVICE_OK;
}

static tac_device_status mouse_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)now_ns;
	(void)wrench;
	const mouse *m = mouse_of(device);
	if (m->lost)
		return TAC_DEVICE_LOST;
	return atomic_load_explicit(&m->enabled, memory_order_relaxed) ? TAC_DEVICE_OK : TAC_DEVICE_DISABLED;
}

static void mouse_enable(tac_device *device, bool on)
{
	atomic_store_explicit(&mouse_of(device)->enabled, on, memory_order_relaxed);
}

static void mouse_destroy(tac_device *device)
{
	close(mouse_of(device)->file);
	free(device);
}

// ---- set-up ----

static bool has_bit(const unsigned char *bits, int bit)
{
	return (bits[bit / 8] >> bit % 8 & 1) != 0;
}

// Whether the open event file belongs to a mouse.
static bool is_mouse(int file)
{
	unsigned char moves[REL_MAX / 8 + 1] = {0}, keys[KEY_MAX / 8 + 1] = {0};
	return ioctl(file, EVIOCGBIT(EV_REL, sizeof moves), moves) >= 0 &&
	       ioctl(file, EVIOCGBIT(EV_KEY, sizeof keys), keys) >= 0 && has_bit(moves, REL_X) &&
	       has_bit(moves, REL_Y) && has_bit(keys, BTN_LEFT);
}

static const char permission_help[] =
	"join the group that may read it: sudo usermod -aG input $USER, then log in again";

void tac_mouse_list(tac_driver_report *report)
{
	bool refused = false;
	for (int i = 0; i < EVENT_FILES; i++) {
		char path[32];
		snprintf(path, sizeof path, "/dev/input/event%d", i);
		const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		refused |= file < 0 && errno == EACCES;
		if (file < 0)
			continue;
		if (is_mouse(file)) {
			char selection[64], name[64] = "mouse";
			snprintf(selection, sizeof selection, "mouse:%s", path);
			ioctl(file, EVIOCGNAME(sizeof name - 1), name);
			tac_driver_report_add(report, selection, name, "", TAC_DRIVER_READY, NULL);
		}
		close(file);
	}
	if (report->count > 0)
		return;
	report->state = refused ? TAC_DRIVER_NO_PERMISSION : TAC_DRIVER_NOTHING;
	snprintf(report->reason, sizeof report->reason, "%s",
		 refused ? permission_help : "no event file of a mouse in /dev/input");
}

tac_result tac_mouse_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	*out_device = NULL;
	tac_driver_report report = {0};
	const char *path = which;
	if (!*which) {
		tac_mouse_list(&report);
		if (report.count == 0) {
			tac_log(TAC_LOG_ERROR, "mouse: expected a mouse, found none: %s", report.reason);
			return TAC_ERROR_IO;
		}
		path = report.devices[0].selection + strlen("mouse:");
	}
	const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (file < 0) {
		const int error = errno;
		tac_log(TAC_LOG_ERROR, "mouse: expected to open %s, found: %s%s%s", path, strerror(error),
			error == EACCES ? "; " : "", error == EACCES ? permission_help : "");
		return TAC_ERROR_IO;
	}
	struct stat about;
	if (fstat(file, &about) != 0 || !(S_ISFIFO(about.st_mode) || is_mouse(file))) {
		close(file);
		tac_log(TAC_LOG_ERROR, "mouse: expected the event file of a mouse, found %s", path);
		return TAC_ERROR_FORMAT;
	}
	mouse *m = calloc(1, sizeof *m);
	if (!m) {
		close(file);
		tac_log(TAC_LOG_ERROR, "mouse: expected memory for a device, found none");
		return TAC_ERROR_MEMORY;
	}
	const tac_dvec3 reach = tac_dvec3_splat(TAC_MOUSE_REACH_M);
	if (def->sim_waypoints > 0)
		m->start = def->sim_path[0].position_m;
	m->base = (tac_device){
		.info = {.name = "mouse",
			 .position_axes = 3,
			 .buttons = 3,
			 .max_force_N = TAC_DEVICE_SHOWN_FORCE_N,
			 .max_torque_Nm = TAC_DEVICE_SHOWN_TORQUE_NM,
			 .workspace_min_m = tac_dvec3_sub(m->start, reach),
			 .workspace_max_m = tac_dvec3_add(m->start, reach),
			 .linear = {.resolution = TAC_MOUSE_M_PER_COUNT},
			 .period_ns = 1000000},
		.read = mouse_read,
		.write = mouse_write,
		.enable = mouse_enable,
		.destroy = mouse_destroy,
	};
	m->file = file;
	m->target = m->start;
	m->state.T_base_tool = tac_dpose_make(m->start, tac_dquat_identity());
	*out_device = &m->base;
	return TAC_OK;
}
