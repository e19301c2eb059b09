#include "devices/haply/diy.h"

#include "base/log.h"
#include "devices/haply/diy_protocol.h"
#include "devices/serial/serial.h"
#include "devices/vendor/relay.h"
#include "rt/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PERIOD_NS    (1 * TAC_NS_PER_MS)
#define WRITE_NS     (2 * TAC_NS_PER_MS)
#define ANSWER_NS    (4 * TAC_NS_PER_MS)
#define FAILURES_MAX 125 // exchanges without an answer in a row, about 0.5 s: it is lost
#define WAKE_NS      (300 * TAC_NS_PER_MS)
#define WAKE_TRIES   10
#define LET_GO_TRIES 50
#define LET_GO_ZEROS 3 // answered ones

#define JUMP_DEG      1.0    // a sample may be this far from the one before,
#define SPEED_DEG_S   3000.0 // and farther the older that is
#define VELOCITY_POLE 0.9    // 10 ms at 1 kHz: a count of the encoders is 0.1 mm

// Estimates: 0.123 N m at an arm of about 80 mm; half the workspace around its centre, in the mechanism's
// plane.
#define MAX_FORCE_N       1.5
#define STIFFNESS_N_PER_M 300
#define CENTRE_X_M        0.019
#define CENTRE_Y_M        0.1
#define WORKSPACE_M       0.05

typedef struct diy {
	int port;
	tac_serial_stream stream;
	int failures;
	bool known; // there was a sample
	int64_t sample_ns;
	double degrees[2];
	double jacobian[2][2];
	tac_dvec3 position_m, velocity_m_per_s;
} diy;

// The mechanism's y points to the user and its x to the left.
static tac_dvec3 from_plane(const double p[2])
{
	return tac_dvec3_make(CENTRE_X_M - p[0], 0, p[1] - CENTRE_Y_M);
}

// ---- the exchange, on the relay's thread ----

static bool send_torques(int port, const float torque_Nm[2])
{
	uint8_t bytes[TAC_DIY_TORQUE_BYTES];
	tac_diy_torque_encode(torque_Nm, bytes);
	return tac_serial_write(port, bytes, sizeof bytes, tac_clock_now_ns() + WRITE_NS);
}

// The newest angles in the stream; false: there are none.
static bool newest_angles(tac_serial_stream *s, float out_degrees[2])
{
	bool found = false;
	for (;;) {
		size_t used;
		const tac_diy_kind kind = tac_diy_decode(s->bytes, s->size, &used, out_degrees);
		if (kind == TAC_DIY_INCOMPLETE)
			return found;
		found |= kind == TAC_DIY_ANGLES;
		tac_serial_stream_drop(s, used);
	}
}

// Takes angles over; false: they are too far from those before.
static bool accept(diy *d, const float degrees[2])
{
	const int64_t now_ns = tac_clock_now_ns();
	const double elapsed_s = (double)(now_ns - d->sample_ns) / 1e9;
	const double now[2] = {(double)degrees[0], (double)degrees[1]};
	double position[2], jacobian[2][2];
	for (int i = 0; i < 2 && d->known; i++) {
		if (fabs(now[i] - d->degrees[i]) > JUMP_DEG + SPEED_DEG_S * elapsed_s)
			return false;
	}
	if (!tac_diy_forward(now, position, jacobian))
		return false;
	const tac_dvec3 position_m = from_plane(position);
	if (d->known && elapsed_s > 0) {
		const tac_dvec3 speed = tac_dvec3_div(tac_dvec3_sub(position_m, d->position_m), elapsed_s);
		d->velocity_m_per_s = tac_dvec3_lerp(speed, d->velocity_m_per_s, VELOCITY_POLE);
	}
	d->known = true;
	d->sample_ns = now_ns;
	d->position_m = position_m;
	for (int i = 0; i < 2; i++) {
		d->degrees[i] = now[i];
		for (int k = 0; k < 2; k++)
			d->jacobian[i][k] = jacobian[i][k];
	}
	return true;
}

static tac_device_status diy_exchange(void *user, const tac_relay_command *command,
				      tac_device_state *out_state)
{
	diy *d = user;
	const double force[2] = {-command->wrench.force_N.x, command->wrench.force_N.z};
	float torque[2] = {0, 0}, degrees[2];
	bool fresh = false, present = true;
	// Torques are a force at one pose only: without a recent sample there are none.
	if (d->known && tac_clock_now_ns() - d->sample_ns < TAC_RELAY_HOLD_NS)
		tac_diy_torques(force, (const double(*)[2])d->jacobian, torque);
	const bool sent = send_torques(d->port, torque);
	const int64_t deadline_ns = tac_clock_now_ns() + ANSWER_NS;
	while (!fresh && (present = tac_serial_stream_fill(&d->stream, d->port, deadline_ns))) {
		if (newest_angles(&d->stream, degrees))
			fresh = accept(d, degrees);
		if (tac_clock_now_ns() >= deadline_ns)
			break;
	}
	if (!present)
		return TAC_DEVICE_LOST;
	out_state->T_base_tool.position = d->position_m;
	out_state->velocity_m_per_s = d->velocity_m_per_s;
	d->failures = sent && fresh ? 0 : d->failures + 1;
	return fresh ? TAC_DEVICE_OK : d->failures >= FAILURES_MAX ? TAC_DEVICE_LOST : TAC_DEVICE_STALE;
}

static void diy_close(void *user)
{
	diy *d = user;
	if (d->port >= 0)
		close(d->port);
	free(d);
}

// ---- set-up ----

void tac_diy_list(tac_driver_report *report)
{
	report->state = TAC_DRIVER_NOTHING;
	snprintf(report->reason, sizeof report->reason,
		 "boards cannot be told from others; name the port: diy:/dev/serial/by-id/…");
}

// Sets the board up and sends zero until it answers.
static bool set_up(diy *d, const tac_open_def *def)
{
	static const float zero[2] = {0, 0};
	uint8_t bytes[TAC_DIY_SETUP_BYTES];
	float degrees[2];
	tac_diy_setup_encode(bytes);
	for (int i = 0; i < WAKE_TRIES; i++) {
		const int64_t end_ns = tac_clock_now_ns() + WAKE_NS;
		if (!tac_serial_write(d->port, bytes, sizeof bytes, end_ns))
			return false;
		while (tac_clock_now_ns() < end_ns) {
			if ((def->cancelled && def->cancelled(def->user)) || !send_torques(d->port, zero) ||
			    !tac_serial_stream_fill(&d->stream, d->port,
						    tac_clock_now_ns() + 50 * TAC_NS_PER_MS))
				return false;
			if (newest_angles(&d->stream, degrees))
				return true;
		}
	}
	return false;
}

static tac_device_info describe(void)
{
	return (tac_device_info){
		.name = "diy",
		.position_axes = 2,
		.force_axes = 2,
		.max_force_N = MAX_FORCE_N,
		.max_stiffness_N_per_m = STIFFNESS_N_PER_M,
		.workspace_min_m = {-WORKSPACE_M, 0, -WORKSPACE_M},
		.workspace_max_m = {WORKSPACE_M, 0, WORKSPACE_M},
		.linear = {.resolution = 1e-4},
		.period_ns = PERIOD_NS,
		.delay_ns = PERIOD_NS,
		.hold_ns = TAC_RELAY_HOLD_NS,
	};
}

tac_result tac_diy_open(const char *which, const tac_open_def *def, tac_device **out_device)
{
	*out_device = NULL;
	if (which[0] != '/') {
		tac_log(TAC_LOG_ERROR,
			"diy: expected the path of a port as in diy:/dev/ttyACM0, found '%.64s'", which);
		return TAC_ERROR_ARGUMENT;
	}
	diy *d = calloc(1, sizeof *d);
	if (!d) {
		tac_log(TAC_LOG_ERROR, "diy: expected memory for a device, found none");
		return TAC_ERROR_MEMORY;
	}
	d->port = tac_serial_open(which);
	if (d->port < 0) {
		char reason[320];
		tac_serial_failure(errno, which, reason, sizeof reason);
		tac_log(TAC_LOG_ERROR, "diy: expected the port of a board, found: %s", reason);
	} else if (!set_up(d, def)) {
		tac_log(TAC_LOG_ERROR,
			"diy: expected the answer of a board at %s, found none; is it powered, and were both "
			"arms at "
			"their stops?",
			which);
	} else {
		const tac_relay_def relay = {
			.info = describe(),
			.exchange = diy_exchange,
			.close = diy_close,
			.user = d,
			.thread_name = "tac-diy",
		};
		return tac_relay_create(&relay, out_device);
	}
	diy_close(d);
	return TAC_ERROR_IO;
}

bool tac_diy_let_go(const char *which)
{
	static const float zero[2] = {0, 0};
	const int fd = which[0] == '/' ? tac_serial_open(which) : -1;
	if (fd < 0)
		return false;
	tac_serial_stream stream = {.size = 0};
	int answered = 0;
	bool present = true;
	for (int i = 0; i < LET_GO_TRIES && answered < LET_GO_ZEROS && present; i++) {
		float degrees[2];
		present = send_torques(fd, zero) &&
			  tac_serial_stream_fill(&stream, fd, tac_clock_now_ns() + ANSWER_NS);
		answered += newest_angles(&stream, degrees);
	}
	close(fd);
	return answered == LET_GO_ZEROS;
}
