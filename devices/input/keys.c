#include "devices/input/keys.h"

#include "base/log.h"
#include "devices/input/mailbox.h"
#include "rt/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define SMOOTHING_S 0.03 // turns the steps of key repeat into a motion

typedef struct keys {
	tac_device base; // forwards to the mailbox
	tac_device *mailbox;
	int terminal;
	struct termios original;
	pthread_t thread;
	atomic_bool stop;
	// Of the thread.
	tac_dpose T;
	uint32_t buttons;
	int escape; // bytes of ESC [ … read
	int number; // in ESC [ number ~
} keys;

static tac_device_status keys_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	return tac_device_read(((keys *)device)->mailbox, now_ns, out_state);
}

static tac_device_status keys_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	return tac_device_write(((keys *)device)->mailbox, now_ns, wrench);
}

static void keys_enable(tac_device *device, bool on)
{
	tac_device_enable(((keys *)device)->mailbox, on);
}

// ---- the reading thread ----

static void move(keys *k, double x, double y, double z)
{
	const tac_dvec3 to = tac_dvec3_add_scaled(k->T.position, TAC_KEYS_STEP_M, tac_dvec3_make(x, y, z));
	const double r = TAC_KEYS_REACH_M;
	k->T.position =
		tac_dvec3_make(fmin(fmax(to.x, -r), r), fmin(fmax(to.y, -r), r), fmin(fmax(to.z, -r), r));
}

static void turn(keys *k, double steps)
{
	k->T.rotation = tac_dquat_normalize(
		tac_dquat_mul(tac_dquat_exp(tac_dvec3_make(0, 0, steps * TAC_KEYS_STEP_RAD)), k->T.rotation));
}

// The last byte of ESC [ …: arrows are letters, page up and page down are 5~ and 6~.
static void handle_escape_end(keys *k, char c)
{
	k->escape = 0;
	if (c == 'A' || c == 'B')
		move(k, 0, c == 'A' ? 1 : -1, 0);
	else if (c == 'C' || c == 'D')
		move(k, c == 'C' ? 1 : -1, 0, 0);
	else if (c == '~' && (k->number == 5 || k->number == 6))
		move(k, 0, 0, k->number == 5 ? 1 : -1);
}

static void handle_byte(keys *k, char c)
{
	if (c == 27) {
		k->escape = 1;
		k->number = 0;
	} else if (k->escape == 1) {
		k->escape = c == '[' || c == 'O' ? 2 : 0;
	} else if (k->escape == 2 && c >= '0' && c <= '9') {
		k->number = k->number < 100 ? 10 * k->number + (c - '0') : 100;
	} else if (k->escape == 2) {
		handle_escape_end(k, c);
	} else if (c == 'w' || c == 's') {
		move(k, 0, 0, c == 'w' ? 1 : -1);
	} else if (c == 'a' || c == 'd') {
		turn(k, c == 'a' ? 1 : -1);
	} else if (c == ' ') {
		k->buttons ^= 1u;
	} else if (c == 'q') {
		tac_mailbox_end(k->mailbox);
	}
}

static void *keys_thread(void *user)
{
	keys *k = user;
	while (!atomic_load_explicit(&k->stop, memory_order_relaxed)) {
		struct pollfd wait = {.fd = k->terminal, .events = POLLIN};
		char bytes[64];
		if (poll(&wait, 1, 100) <= 0)
			continue;
		const ssize_t got = read(k->terminal, bytes, sizeof bytes);
		if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
			tac_mailbox_end(k->mailbox); // the terminal is gone
			break;
		}
		for (ssize_t i = 0; i < got; i++)
			handle_byte(k, bytes[i]);
		tac_mailbox_set(k->mailbox, k->T, k->buttons);
	}
	return NULL;
}

// ---- set-up ----

static void keys_destroy(tac_device *device)
{
	keys *k = (keys *)device;
	atomic_store_explicit(&k->stop, true, memory_order_relaxed);
	pthread_join(k->thread, NULL);
	tcsetattr(k->terminal, TCSANOW, &k->original);
	close(k->terminal);
	tac_device_destroy(&k->mailbox);
	free(k);
}

void tac_keys_list(tac_driver_report *report)
{
	const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (terminal >= 0) {
		close(terminal);
		tac_driver_report_add(report, "keys", "the keyboard of this terminal", "", TAC_DRIVER_READY,
				      NULL);
	} else {
		report->state = TAC_DRIVER_NOTHING;
		snprintf(report->reason, sizeof report->reason, "not started from a terminal");
	}
}

// Opens the terminal and switches line editing off; signals stay on, so that Ctrl-C ends the run.
static bool open_terminal(keys *k, const char *path)
{
	k->terminal = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (k->terminal < 0 || tcgetattr(k->terminal, &k->original) != 0) {
		tac_log(TAC_LOG_ERROR, "keys: expected a terminal, found %s: %s", path, strerror(errno));
		return false;
	}
	struct termios raw = k->original;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	return tcsetattr(k->terminal, TCSANOW, &raw) == 0;
}

tac_result tac_keys_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	*out_device = NULL;
	keys *k = calloc(1, sizeof *k);
	if (!k) {
		tac_log(TAC_LOG_ERROR, "keys: no memory for the device");
		return TAC_ERROR_MEMORY;
	}
	k->T = tac_dpose_identity();
	if (def->sim_waypoints > 0)
		k->T = tac_dpose_make(def->sim_path[0].position_m,
				      tac_dquat_exp(def->sim_path[0].rotation_rad));
	tac_result result = TAC_ERROR_IO;
	if (open_terminal(k, *which ? which : "/dev/tty"))
		result = tac_mailbox_create("keys", k->T, SMOOTHING_S, &k->mailbox);
	if (result >= TAC_OK) {
		k->base = (tac_device){k->mailbox->info, keys_read,    keys_write,
				       keys_enable,      keys_destroy, NULL};
		result = tac_thread_start(&k->thread, keys_thread, k);
	}
	if (result < TAC_OK) {
		if (k->terminal >= 0) {
			tcsetattr(k->terminal, TCSANOW, &k->original);
			close(k->terminal);
		}
		tac_device_destroy(&k->mailbox);
		free(k);
		return result;
	}
	*out_device = &k->base;
	return TAC_OK;
}
