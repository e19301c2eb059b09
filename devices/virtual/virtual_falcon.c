#include "devices/virtual_falcon.h"

#include "base/crc32.h"
#include "base/log.h"
#include "devices/falcon/falcon_kinematics.h"
#include "devices/falcon/falcon_protocol.h"
#include "rt/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HOME_MARK   (-300) // count that an axis must pass to be homed: near the middle
#define QUEUE_BYTES 4096   // to the host; the excess is lost, as in the real bridge
#define MOTIONS     900    // of the default hand, 4 s each: an hour
#define WAYPOINTS   (4 + 2 * MOTIONS)
#define DTR_HIGH    0x0101
#define LATENCY_MIN 1                    // ms
#define SLICE_NS    (5 * TAC_NS_PER_MS)  // the homing marks are looked at this often, at least
#define GAP_MAX_NS  (50 * TAC_NS_PER_MS) // a process that was held up longer has held up the hand as well

// clang-format off
static const uint8_t device_descriptor[18] = {
	18, 1, 0x00, 0x02, 0, 0, 0, 64, // USB 2.0, full speed
	TAC_FALCON_VENDOR_ID & 0xFF, TAC_FALCON_VENDOR_ID >> 8,
	TAC_FALCON_PRODUCT_ID & 0xFF, TAC_FALCON_PRODUCT_ID >> 8,
	0x00, 0x04, 1, 2, 3, 1,         // three strings, one configuration
};

static const uint8_t configuration_descriptor[32] = {
	9, 2, 32, 0, 1, 1, 0, 0x80, 50,                                       // configuration
	9, 4, 0, 0, 2, 0xFF, 0xFF, 0xFF, 0,                                   // interface
	7, 5, TAC_FALCON_ENDPOINT_IN, 2, TAC_FALCON_BRIDGE_PACKET_BYTES, 0, 0,  // bulk IN
	7, 5, TAC_FALCON_ENDPOINT_OUT, 2, TAC_FALCON_BRIDGE_PACKET_BYTES, 0, 0, // bulk OUT
};
// clang-format on

// The state of the boot loader.
typedef enum loading {
	IDLE,
	GREETED, // it has answered the host
	TAKING,  // it echoes and keeps every byte
} loading;

struct tac_virtual_falcon {
	tac_virtual_model base;
	tac_virtual_falcon_def def;
	const char *strings[4];
	tac_sim_waypoint *path; // copied

	pthread_mutex_t lock; // of everything below: tests read it from other threads
	tac_virtual_falcon_state state;

	// The bridge.
	uint16_t baud;
	uint16_t latency_ms;
	int64_t sent_ns; // the last packet to the host
	uint8_t queue[QUEUE_BYTES];
	uint32_t queue_first, queue_count;

	// The boot loader.
	loading loading;
	uint8_t hello[3]; // the last bytes of the host
	uint8_t *image;
	uint32_t image_count;
	int wrong_echoes; // left

	// The mechanism.
	tac_device *sim;
	bool begun;       // a packet has arrived: the hand is on its path
	int64_t clock_ns; // when the mechanism was last advanced
	int64_t sim_ns;   // its time then: the clock without the gaps
	bool homing;      // the last command allows it
	tac_falcon_stream stream;
	tac_falcon_leg legs[3];
	int16_t counts[3], zero[3]; // encoder counts; counts when it was switched on
	bool below[3], above[3];    // has been below and above HOME_MARK
};

tac_virtual_falcon *tac_virtual_falcon_of(tac_virtual_model *model)
{
	return (tac_virtual_falcon *)model;
}

// ---- to the host ----

static void reply(tac_virtual_falcon *f, const uint8_t *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count && f->queue_count < QUEUE_BYTES; i++)
		f->queue[(f->queue_first + f->queue_count++) % QUEUE_BYTES] = bytes[i];
}

// ---- the mechanism ----

static void update_homing(tac_virtual_falcon *f)
{
	for (int i = 0; i < 3; i++) {
		f->below[i] |= f->counts[i] < HOME_MARK;
		f->above[i] |= f->counts[i] > HOME_MARK;
		if (f->below[i] && f->above[i])
			f->state.homed |= (uint8_t)(1u << i);
	}
}

// The legs stay where they are while the grip is out of their reach.
static void advance_slice(tac_virtual_falcon *f, int64_t sim_ns)
{
	tac_device_state state;
	tac_device_read(f->sim, sim_ns, &state);
	f->sim_ns = sim_ns;
	const tac_dvec3 centre = tac_dvec3_make(0, 0, TAC_FALCON_CENTRE_Z_M);
	tac_falcon_leg legs[3];
	f->state.position_m = tac_sim_read_truth(f->sim).position_m;
	if (tac_falcon_inverse(tac_dvec3_add(f->state.position_m, centre), legs)) {
		memcpy(f->legs, legs, sizeof legs);
		tac_falcon_counts(tac_dvec3_make(legs[0].thigh, legs[1].thigh, legs[2].thigh), f->counts);
	}
	if (f->homing)
		update_homing(f);
}

// Advances the simulation to now, in slices, so that the grip passes no mark unseen. It stands until the
// first packet: a host that comes late still finds the hand at the start of its path.
static void advance(tac_virtual_falcon *f, int64_t now_ns)
{
	int64_t since_ns = f->begun && now_ns > f->clock_ns ? now_ns - f->clock_ns : 0;
	if (since_ns > GAP_MAX_NS)
		since_ns = GAP_MAX_NS;
	const int64_t end_ns = f->sim_ns + since_ns;
	f->clock_ns = now_ns;
	while (end_ns - f->sim_ns > SLICE_NS)
		advance_slice(f, f->sim_ns + SLICE_NS);
	advance_slice(f, end_ns);
}

static void obey(tac_virtual_falcon *f, const tac_falcon_command *command, int64_t now_ns)
{
	f->homing = command->home;
	if (!f->homing)
		f->state.homed = 0;
	advance(f, now_ns);
	memcpy(f->state.motor, command->motor, sizeof f->state.motor);
	f->state.leds = command->leds;
	f->state.commands++;
	f->state.force_N = tac_falcon_force(f->legs, command->motor);
	const double force = tac_dvec3_length(f->state.force_N);
	f->state.largest_N = force > f->state.largest_N ? force : f->state.largest_N;
	for (int i = 0; i < 3; i++) {
		const int size = abs(command->motor[i]);
		f->state.largest_motor = size > f->state.largest_motor ? size : f->state.largest_motor;
	}
	const tac_wrench wrench = {.force_N = f->state.force_N};
	tac_device_write(f->sim, f->sim_ns, &wrench);
}

static void answer_command(tac_virtual_falcon *f, int64_t now_ns)
{
	tac_falcon_command command;
	if (!tac_falcon_command_decode(f->stream.bytes, &command))
		return;
	obey(f, &command, now_ns);
	f->begun = true;
	tac_device_state state;
	tac_device_read(f->sim, f->sim_ns, &state);
	tac_falcon_report report = {.buttons = (uint8_t)state.buttons, .homed = f->state.homed};
	for (int i = 0; i < 3; i++) {
		const bool homed = (f->state.homed >> i & 1) != 0;
		report.encoder[i] = (int16_t)(homed ? f->counts[i] : f->counts[i] - f->zero[i]);
	}
	uint8_t bytes[TAC_FALCON_PACKET_BYTES];
	tac_falcon_report_encode(&report, bytes);
	reply(f, bytes, sizeof bytes);
}

// Starts the firmware: no axis is homed, and the hand repeats its path from the start.
static tac_result start_firmware(tac_virtual_falcon *f)
{
	tac_device *sim;
	const tac_result result = tac_sim_create(&f->def.sim, &sim);
	if (result < 0)
		return result; // without memory the present simulation continues
	tac_device_destroy(&f->sim);
	f->sim = sim;
	tac_device_enable(f->sim, true);
	f->state.homed = 0;
	f->stream = (tac_falcon_stream){0};
	memset(f->below, 0, sizeof f->below);
	memset(f->above, 0, sizeof f->above);
	f->begun = f->homing = false;
	f->sim_ns = 0;
	advance(f, tac_clock_now_ns());
	memcpy(f->zero, f->counts, sizeof f->zero);
	return TAC_OK;
}

// ---- the boot loader ----

static void boot_byte(tac_virtual_falcon *f, uint8_t byte)
{
	static const uint8_t request[3] = {0x0A, 0x43, 0x0D}, answer[4] = {0x0A, 0x44, 0x2C, 0x0D};
	if (f->baud == TAC_FALCON_BAUD_HELLO) {
		memmove(f->hello, f->hello + 1, 2);
		f->hello[2] = byte;
		if (memcmp(f->hello, request, sizeof request) == 0 && !f->def.mute) {
			reply(f, answer, sizeof answer);
			f->loading = GREETED;
		}
	} else if (f->baud == TAC_FALCON_BAUD_LOAD && f->loading == GREETED && byte == 0x41) {
		reply(f, &byte, 1);
		f->loading = TAKING;
		f->image_count = 0;
		f->state.attempts++;
	} else if (f->baud == TAC_FALCON_BAUD_LOAD && f->loading == TAKING &&
		   f->image_count < TAC_VIRTUAL_FALCON_IMAGE_MAX) {
		f->image[f->image_count++] = byte;
		// One wrong echo in the middle of the image, in the attempts that are to fail.
		const bool wrong = f->wrong_echoes > 0 && f->image_count == 1000;
		f->wrong_echoes -= wrong;
		const uint8_t echo = wrong ? (uint8_t)(byte ^ 0x10) : byte;
		reply(f, &echo, 1);
	}
}

// Starts the firmware when the host returns to the fast baud rate, if the image is the expected one.
static void start_loaded(tac_virtual_falcon *f)
{
	if (f->loading != TAKING || f->baud != TAC_FALCON_BAUD_RUN)
		return;
	f->loading = IDLE;
	const bool length =
		f->def.image_bytes == 0 ? f->image_count > 0 : f->image_count == f->def.image_bytes;
	f->state.running = length && (f->def.image_crc == 0 ||
				      tac_crc32(0, f->image, f->image_count) == f->def.image_crc);
	if (f->state.running)
		start_firmware(f);
}

// ---- the model's functions ----

static int falcon_control(tac_virtual_model *model, const tac_virtual_setup *setup, uint8_t *bytes)
{
	(void)bytes;
	tac_virtual_falcon *f = tac_virtual_falcon_of(model);
	if (setup->type != 0x40 || setup->count != 0)
		return TAC_VIRTUAL_STALL;
	pthread_mutex_lock(&f->lock);
	switch (setup->request) {
	case TAC_FALCON_BRIDGE_RESET:
		if (setup->value != 2) // purges what it has for the host
			f->queue_count = 0;
		break;
	case TAC_FALCON_BRIDGE_MODEM:
		if (setup->value == DTR_HIGH) { // the processor starts again, in its boot loader
			f->state.running = false;
			f->loading = IDLE;
		}
		break;
	case TAC_FALCON_BRIDGE_BAUD:
		f->baud = setup->value;
		start_loaded(f);
		break;
	case TAC_FALCON_BRIDGE_LATENCY:
		f->latency_ms = setup->value;
		break;
	default: // flow control and format do not matter to the model
		break;
	}
	pthread_mutex_unlock(&f->lock);
	return 0;
}

static int falcon_out(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
		      bool end)
{
	(void)end;
	tac_virtual_falcon *f = tac_virtual_falcon_of(model);
	if (endpoint != TAC_FALCON_ENDPOINT_OUT)
		return TAC_VIRTUAL_STALL;
	const int64_t now_ns = tac_clock_now_ns();
	pthread_mutex_lock(&f->lock);
	for (uint32_t i = 0; i < count; i++) {
		if (!f->state.running)
			boot_byte(f, bytes[i]);
		else if (f->baud == TAC_FALCON_BAUD_RUN && tac_falcon_stream_push(&f->stream, bytes[i]))
			answer_command(f, now_ns);
	}
	pthread_mutex_unlock(&f->lock);
	return 0;
}

// When the bridge sends a status packet although it has no data.
static int64_t latency_end_ns(const tac_virtual_falcon *f)
{
	const int64_t ms = f->latency_ms < LATENCY_MIN ? LATENCY_MIN : f->latency_ms;
	return f->sent_ns + ms * TAC_NS_PER_MS;
}

static int falcon_in(tac_virtual_model *model, uint8_t endpoint, uint8_t *packet, uint32_t capacity)
{
	tac_virtual_falcon *f = tac_virtual_falcon_of(model);
	if (endpoint != TAC_FALCON_ENDPOINT_IN || capacity < TAC_FALCON_BRIDGE_STATUS_BYTES)
		return TAC_VIRTUAL_STALL;
	const int64_t now_ns = tac_clock_now_ns();
	pthread_mutex_lock(&f->lock);
	int count = TAC_VIRTUAL_NAK;
	if (f->queue_count > 0 || now_ns >= latency_end_ns(f)) {
		packet[0] = 0x01; // status of the bridge's lines
		packet[1] = 0x60;
		count = TAC_FALCON_BRIDGE_STATUS_BYTES;
		for (; f->queue_count > 0 && (uint32_t)count < capacity; count++) {
			packet[count] = f->queue[f->queue_first];
			f->queue_first = (f->queue_first + 1) % QUEUE_BYTES;
			f->queue_count--;
		}
		f->sent_ns = now_ns;
	}
	pthread_mutex_unlock(&f->lock);
	return count;
}

static int64_t falcon_step(tac_virtual_model *model, int64_t now_ns)
{
	tac_virtual_falcon *f = tac_virtual_falcon_of(model);
	pthread_mutex_lock(&f->lock);
	advance(f, now_ns);
	const int64_t next_ns = latency_end_ns(f);
	pthread_mutex_unlock(&f->lock);
	return next_ns > now_ns ? next_ns : now_ns + TAC_NS_PER_MS;
}

// Power-on clears all state; the statistics of `state` stay.
static tac_result power_on(tac_virtual_falcon *f)
{
	f->state = (tac_virtual_falcon_state){.running = f->def.loaded,
					      .commands = f->state.commands,
					      .attempts = f->state.attempts,
					      .largest_motor = f->state.largest_motor,
					      .largest_N = f->state.largest_N};
	f->baud = 0;
	f->latency_ms = 16;
	f->queue_count = 0;
	f->loading = IDLE;
	return start_firmware(f);
}

static void falcon_reset(tac_virtual_model *model)
{
	tac_virtual_falcon *f = tac_virtual_falcon_of(model);
	pthread_mutex_lock(&f->lock);
	power_on(f);
	pthread_mutex_unlock(&f->lock);
}

// ---- set-up ----

tac_virtual_falcon_def tac_virtual_falcon_def_default(void)
{
	static tac_sim_waypoint path[WAYPOINTS];
	tac_virtual_falcon_def def = {.serial = "VF000001"};
	tac_sim_def_preset("falcon", "stylus", &def.sim); // both are in the tables
	// Out, in, and to the middle; then down and up.
	const tac_sim_waypoint start[4] = {
		{.time_ns = 0},
		{.time_ns = 500 * TAC_NS_PER_MS, .position_m = {0, 0, 0.03}},
		{.time_ns = 1500 * TAC_NS_PER_MS, .position_m = {0, 0, -0.03}},
		{.time_ns = 2000 * TAC_NS_PER_MS},
	};
	memcpy(path, start, sizeof start);
	for (int i = 0; i < 2 * MOTIONS; i++)
		path[4 + i] = (tac_sim_waypoint){
			.time_ns = (2000 + 2000 * (i + 1)) * TAC_NS_PER_MS,
			.position_m = {0, i % 2 ? 0.03 : -0.03, 0},
		};
	def.sim.path = path;
	def.sim.waypoints = WAYPOINTS;
	return def;
}

tac_result tac_virtual_falcon_create(const tac_virtual_falcon_def *def, tac_virtual_falcon **out_falcon)
{
	*out_falcon = NULL;
	tac_virtual_falcon *f = calloc(1, sizeof *f);
	const size_t points = def->sim.waypoints;
	if (f) {
		f->image = malloc(TAC_VIRTUAL_FALCON_IMAGE_MAX);
		f->path = calloc(points > 0 ? points : 1, sizeof *f->path);
	}
	if (!f || !f->image || !f->path) {
		tac_log(TAC_LOG_ERROR, "virtual falcon: expected memory, found none");
		if (f) {
			free(f->image);
			free(f->path);
		}
		free(f);
		return TAC_ERROR_MEMORY;
	}
	f->def = *def;
	if (points > 0)
		memcpy(f->path, def->sim.path, points * sizeof *f->path);
	f->def.sim.path = points > 0 ? f->path : NULL;
	f->strings[0] = "Tactus";
	f->strings[1] = "Falcon (virtual)";
	f->strings[2] = def->serial;
	f->wrong_echoes = def->wrong_echoes;
	f->base = (tac_virtual_model){
		.device_descriptor = device_descriptor,
		.configuration_descriptor = configuration_descriptor,
		.strings = f->strings,
		.control = falcon_control,
		.out = falcon_out,
		.in = falcon_in,
		.step = falcon_step,
		.reset = falcon_reset,
	};
	pthread_mutex_init(&f->lock, NULL);
	const tac_result result = power_on(f);
	if (result < 0)
		tac_virtual_falcon_destroy(&f);
	*out_falcon = f;
	return result;
}

void tac_virtual_falcon_destroy(tac_virtual_falcon **falcon)
{
	if (!*falcon)
		return;
	tac_device_destroy(&(*falcon)->sim);
	pthread_mutex_destroy(&(*falcon)->lock);
	free((*falcon)->image);
	free((*falcon)->path);
	free(*falcon);
	*falcon = NULL;
}

tac_virtual_model *tac_virtual_falcon_model(tac_virtual_falcon *falcon)
{
	return &falcon->base;
}

tac_virtual_falcon_state tac_virtual_falcon_read(tac_virtual_falcon *falcon)
{
	pthread_mutex_lock(&falcon->lock);
	const tac_virtual_falcon_state state = falcon->state;
	pthread_mutex_unlock(&falcon->lock);
	return state;
}
