#include "share/bridge/bridge_state.h"

#include "haptic/event.h"
#include "rt/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS   (2 * TAC_NS_PER_MS)
#define BLOCK_NS  (20 * TAC_NS_PER_MS)  // a block is published at the latest so long after its first sample
#define INFO_NS   TAC_NS_PER_S          // from one description of the station to the next
#define TRY_NS    (200 * TAC_NS_PER_MS) // from one attempt to reach a run to the next
#define LISTEN_NS (300 * TAC_NS_PER_MS) // before it publishes: is the name taken?
#define NEW_NS    (3 * TAC_NS_PER_S)    // for so long it may still yield to one that began with it
#define BATCH     512                   // records taken in one turn, so that commands do not wait

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

// ---- samples ----

static tactus_Pose pose_of(tac_dpose p)
{
	return (tactus_Pose){.position_m = {p.position.x, p.position.y, p.position.z},
			     .rotation = {p.rotation.x, p.rotation.y, p.rotation.z, p.rotation.w}};
}

static tactus_Wrench wrench_of(const tac_wrench *w)
{
	return (tactus_Wrench){.force_N = {w->force_N.x, w->force_N.y, w->force_N.z},
			       .torque_Nm = {w->torque_Nm.x, w->torque_Nm.y, w->torque_Nm.z}};
}

static tactus_Sample sample_of(const bridge *b, const tac_seam_tick *t)
{
	return (tactus_Sample){
		.number = t->number,
		.tick_no = t->tick,
		.time_ns = t->time_ns + b->clock_offset_ns,
		.compute_ns = t->compute_ns,
		.tool_no = (uint32_t)t->tool,
		.servo_state = (uint32_t)t->state,
		.device_status = (uint32_t)t->status,
		.buttons = t->buttons,
		.limits = t->limits,
		.contacts = (uint32_t)t->contacts,
		.device_pose = pose_of(t->T_world_device),
		.tool_pose = pose_of(t->T_world_sco),
		.wanted = wrench_of(&t->wanted),
		.sent = wrench_of(&t->sent),
		.external = wrench_of(&t->external),
		.gain = t->gain,
		.passivity_J = t->passivity_J,
		.stiffness_N_per_m = t->stiffness_N_per_m,
		.allowed_N_per_m = t->allowed_N_per_m,
		.distance_m = t->distance_m,
		.gripper_m = t->gripper_m,
		.gripper_N = t->gripper_N,
	};
}

static void publish_block(bridge *b)
{
	if (b->sample_count == 0)
		return;
	tactus_Block block = {.run = b->run.run,
			      .refused = b->refused,
			      .samples = {b->sample_count, b->sample_count, b->samples, false}};
	snprintf(block.station, sizeof block.station, "%s", b->def.station);
	if (dds_write(b->ticks, &block) == DDS_RETCODE_OK)
		b->published += b->sample_count;
	else
		b->dropped += b->sample_count;
	b->sample_count = 0;
}

static void take_ticks(bridge *b)
{
	tac_seam_tick tick;
	const int64_t now_ns = tac_clock_now_ns();
	for (int i = 0; i < BATCH && tac_seam_pop_tick(b->seam, &tick); i++) {
		if (tick.tool < 0 || tick.tool >= TAC_SCENE_TOOLS)
			continue;
		if (b->sample_count == 0)
			b->block_ns = now_ns;
		b->samples[b->sample_count++] = sample_of(b, &tick);
		b->refused = tick.refused;
		b->newest[tick.tool] = tick;
		b->fresh[tick.tool] = true;
		if (b->sample_count == BRIDGE_BLOCK)
			publish_block(b);
	}
	if (b->sample_count > 0 && now_ns - b->block_ns >= BLOCK_NS)
		publish_block(b);
}

static void publish_state(bridge *b)
{
	for (int32_t i = 0; i < b->run.tool_count; i++) {
		if (!b->fresh[i])
			continue;
		b->fresh[i] = false;
		tactus_State state = {
			.tool_no = (uint32_t)i, .run = b->run.run, .newest = sample_of(b, &b->newest[i])};
		snprintf(state.station, sizeof state.station, "%s", b->def.station);
		dds_write(b->state, &state);
		if (b->def.ros)
			ros_publish(&b->ros[i], &b->newest[i], b->newest[i].time_ns + b->clock_offset_ns);
	}
}

// ---- notes ----

static void publish_event(bridge *b, const char *kind, const tac_seam_note *note, int64_t time_ns)
{
	tactus_Event event = {.run = b->run.run,
			      .number = b->events++,
			      .time_ns = time_ns,
			      .tool_no = note->tool,
			      .value_no = note->number,
			      .value = note->value};
	snprintf(event.station, sizeof event.station, "%s", b->def.station);
	snprintf(event.kind, sizeof event.kind, "%s", kind);
	snprintf(event.text, sizeof event.text, "%s", note->text);
	dds_write(b->event, &event);
}

void bridge_tell(bridge *b, const char *kind, double value, const char *text)
{
	tac_seam_note note = {.tool = -1, .number = -1, .value = value};
	snprintf(note.text, sizeof note.text, "%s", text);
	publish_event(b, kind, &note, tac_clock_now_ns() + wire_clock_offset_ns());
}

static void publish_totals(bridge *b, const tac_seam_totals *t, bool last)
{
	uint64_t causes[TAC_CAUSE_COUNT];
	for (int i = 0; i < TAC_CAUSE_COUNT; i++)
		causes[i] = (uint64_t)t->misses_by_cause[i];
	tactus_Totals totals = {.run = b->run.run,
				.ended = last,
				.ticks = (uint64_t)t->ticks,
				.misses = (uint64_t)t->misses,
				.skipped = (uint64_t)t->skipped,
				.misses_by_cause = {TAC_CAUSE_COUNT, TAC_CAUSE_COUNT, causes, false},
				.refused = t->refused,
				.published = b->published,
				.dropped = b->dropped};
	snprintf(totals.station, sizeof totals.station, "%s", b->def.station);
	dds_write(b->totals, &totals);
}

static void take_notes(bridge *b)
{
	tac_seam_note note;
	for (int i = 0; i < BATCH && tac_seam_pop_note(b->seam, &note); i++) {
		if (note.kind == TAC_SEAM_EVENT)
			publish_event(b, tac_event_kind_name((tac_event_kind)note.event), &note,
				      note.time_ns + b->clock_offset_ns);
		else
			publish_totals(b, &note.totals, note.kind == TAC_SEAM_ENDED);
	}
}

static void take_figures(bridge *b)
{
	tac_seam_figures taken;
	for (int i = 0; i < TAC_SEAM_FIGURES && tac_seam_pop_figures(b->seam, &taken); i++) {
		tactus_Figure list[TAC_TASK_ROWS];
		for (int32_t k = 0; k < taken.count; k++) {
			const tac_seam_figure *f = &taken.list[k];
			list[k] = (tactus_Figure){.value = f->value,
						  .limit = f->limit,
						  .at_least = f->at_least != 0,
						  .exceeded = f->exceeded != 0,
						  .detail = f->detail != 0};
			snprintf(list[k].name, sizeof list[k].name, "%s", f->name);
			snprintf(list[k].unit, sizeof list[k].unit, "%s", f->unit);
		}
		tactus_Figures figures = {
			.tool_no = (uint32_t)taken.tool,
			.run = b->run.run,
			.ended = taken.ended != 0,
			.passed = taken.passed != 0,
			.list = {(uint32_t)taken.count, (uint32_t)taken.count, list, false}};
		snprintf(figures.station, sizeof figures.station, "%s", b->def.station);
		dds_write(b->figures, &figures);
	}
}

// ---- runs ----

static void publish_scene(bridge *b)
{
	tactus_Body bodies[TAC_OUTLINE_BODIES] = {0};
	tac_outline *o = &b->run.outline;
	for (int32_t i = 0; i < o->body_count; i++) {
		const tac_outline_body *from = &o->bodies[i];
		const uint32_t vertices = 3 * (uint32_t)from->vertex_count,
			       triangles = 3 * (uint32_t)from->triangle_count;
		bodies[i] = (tactus_Body){
			.is_tool = from->is_tool != 0,
			.pose = pose_of(from->T_world),
			.vertices = {vertices, vertices, o->vertices[from->vertex], false},
			.triangles = {triangles, triangles, o->triangles[from->triangle], false}};
		snprintf(bodies[i].name, sizeof bodies[i].name, "%s", from->name);
	}
	tactus_Scene scene = {.run = b->run.run,
			      .text = b->run.text,
			      .bodies = {(uint32_t)o->body_count, (uint32_t)o->body_count, bodies, false}};
	snprintf(scene.station, sizeof scene.station, "%s", b->def.station);
	dds_write(b->scenes, &scene);
}

void bridge_describe(bridge *b)
{
	tactus_Tool tools[TAC_SCENE_TOOLS] = {0};
	tac_seam_info *r = &b->run;
	for (int32_t i = 0; i < r->tool_count; i++)
		tools[i] = (tactus_Tool){r->tools[i], r->devices[i], r->max_force_N[i], r->gripper_max_m[i]};
	tactus_Info info = {.bridge = b->id,
			    .run = r->run,
			    .settled = b->settled,
			    .running = b->running,
			    .commands = b->def.commands,
			    .period_ns = r->period_ns,
			    .recordings = r->record[0] ? (uint32_t)r->tool_count : 0,
			    .version = r->version,
			    .scene = r->scene,
			    .tools = {(uint32_t)r->tool_count, (uint32_t)r->tool_count, tools, false}};
	snprintf(info.station, sizeof info.station, "%s", b->def.station);
	dds_write(b->info, &info);
}

static void begin_run(bridge *b)
{
	b->socket = tac_station_connect(b->def.station, &b->seam);
	if (b->socket < 0)
		return;
	const uint64_t before = b->run.run;
	b->run = *tac_seam_read_info(b->seam);
	b->running = true;
	b->clock_offset_ns = wire_clock_offset_ns();
	if (b->run.run != before)
		b->published = b->dropped = b->refused = 0;
	for (int32_t i = 0; b->def.ros && i < b->run.tool_count; i++)
		ros_open(&b->wire, b->def.station, i, b->run.gripper_max_m[i] > 0, &b->ros[i]);
	bridge_lend(b);
	publish_scene(b);
	bridge_describe(b);
	bridge_tell(b, "begin", 0, b->run.scene);
}

// Publishes all that the run has left behind.
static void end_run(bridge *b)
{
	for (int i = 0; i < 2 * TAC_SEAM_TICKS / BATCH; i++)
		take_ticks(b);
	publish_block(b);
	for (int i = 0; i < 2 * TAC_SEAM_NOTES / BATCH; i++)
		take_notes(b);
	take_figures(b);
	close(b->socket);
	b->socket = -1;
	tac_seam_destroy(&b->seam);
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++)
		ros_close(&b->ros[i]);
	b->running = false;
	bridge_describe(b);
	bridge_tell(b, "end", 0, b->run.scene);
}

// The run closes its end of the socket when it ends, however it ends.
static bool run_has_ended(const bridge *b)
{
	char byte;
	const ssize_t got = recv(b->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void take_external(bridge *b)
{
	for (int32_t i = 0; b->def.ros && i < b->run.tool_count; i++) {
		tac_seam_order order = {.tool = i};
		if (!ros_take(&b->ros[i], &order.wrench))
			continue;
		order.time_ns = tac_clock_now_ns();
		tac_seam_push_order(b->seam, &order);
	}
}

// ---- main loop ----

static void poll_run(bridge *b, int64_t now_ns, int64_t *state_ns)
{
	const bool last = run_has_ended(b); // before the rings are read: what it left is in them
	take_ticks(b);
	take_notes(b);
	take_figures(b);
	take_external(b);
	if (now_ns >= *state_ns) {
		publish_state(b);
		const int64_t period_ns = (int64_t)(1e9 / b->def.rate_Hz);
		// From when it was due, so that the polls do not add up; what was missed is not made up for.
		*state_ns = *state_ns + period_ns > now_ns ? *state_ns + period_ns : now_ns + period_ns;
	}
	if (last)
		end_run(b);
}

// Whether another bridge publishes under this station's name, and this one must yield. One that has not
// published yet yields, and so does one that meets a settled one; of two new ones, the one with the larger
// number does.
static bool name_is_taken(const bridge *b, bool published)
{
	void *samples[1] = {NULL};
	dds_sample_info_t info;
	bool taken = false;
	while (dds_take(b->others, samples, &info, 1, 1) > 0) {
		const tactus_Info *other = samples[0];
		taken |= info.valid_data && info.instance_state == DDS_IST_ALIVE && other->bridge != b->id &&
			 (!published || other->settled || other->bridge < b->id) &&
			 strcmp(other->station, b->def.station) == 0;
		dds_return_loan(b->others, samples, 1);
		samples[0] = NULL;
	}
	if (taken)
		fprintf(stderr,
			"tactus share: expected to be the only bridge of station %s, found another one on "
			"the "
			"network\n",
			b->def.station);
	return taken;
}

// Listens for a while before it publishes anything. False: another bridge has this station's name.
static bool claim_name(bridge *b)
{
	const struct timespec pause = {0, POLL_NS};
	for (const int64_t end_ns = tac_clock_now_ns() + LISTEN_NS; !ended && tac_clock_now_ns() < end_ns;) {
		if (name_is_taken(b, false))
			return false;
		nanosleep(&pause, NULL);
	}
	bridge_describe(b);
	fprintf(stderr, "tactus share: station %s, domain %u%s%s\n", b->def.station, b->def.wire.domain,
		b->def.commands ? ", commands on" : "", b->def.ros ? ", ROS 2" : "");
	return true;
}

// False: another bridge has this station's name.
static bool follow(bridge *b)
{
	int64_t try_ns = 0, state_ns = 0, info_ns = 0;
	const int64_t begin_ns = tac_clock_now_ns();
	const struct timespec pause = {0, b->def.rate_Hz > 500 ? POLL_NS / 4 : POLL_NS};
	while (!ended) {
		const int64_t now_ns = tac_clock_now_ns();
		if (!b->settled && name_is_taken(b, true))
			return false;
		if (!b->settled && now_ns - begin_ns >= NEW_NS) {
			b->settled = true;
			info_ns = 0;
		}
		if (now_ns >= info_ns) {
			bridge_describe(b);
			info_ns = now_ns + INFO_NS;
		}
		if (b->socket < 0 && now_ns >= try_ns) {
			begin_run(b);
			try_ns = now_ns + TRY_NS;
		}
		if (b->socket >= 0)
			poll_run(b, now_ns, &state_ns);
		bridge_take_orders(b);
		bridge_send_pieces(b);
		if (b->launched > 0 && waitpid(b->launched, NULL, WNOHANG) == b->launched)
			b->launched = 0;
		nanosleep(&pause, NULL);
	}
	if (b->socket >= 0)
		end_run(b);
	return true;
}

static bool open_topics(bridge *b)
{
	wire *w = &b->wire;
	return (b->state = wire_writer(w, WIRE_STATE)) >= 0 && (b->ticks = wire_writer(w, WIRE_TICKS)) >= 0 &&
	       (b->event = wire_writer(w, WIRE_EVENT)) >= 0 && (b->info = wire_writer(w, WIRE_INFO)) >= 0 &&
	       (b->scenes = wire_writer(w, WIRE_SCENE)) >= 0 &&
	       (b->totals = wire_writer(w, WIRE_TOTALS)) >= 0 &&
	       (b->figures = wire_writer(w, WIRE_FIGURES)) >= 0 &&
	       (b->chunk = wire_writer(w, WIRE_CHUNK)) >= 0 &&
	       (b->command = wire_reader(w, WIRE_COMMAND)) >= 0 &&
	       (b->want = wire_reader(w, WIRE_WANT)) >= 0 && (b->others = wire_reader(w, WIRE_INFO)) >= 0;
}

int bridge_run(const bridge_def *def)
{
	bridge *b = calloc(1, sizeof *b);
	if (!b) {
		fprintf(stderr, "tactus share: expected %zu bytes, found no memory\n", sizeof *b);
		return EXIT_FAILURE;
	}
	b->def = *def;
	b->socket = -1;
	b->id = wire_random();
	const struct sigaction action = {.sa_handler = end};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	prctl(PR_SET_TIMERSLACK, 100000);
	const bool good = wire_open(&def->wire, &b->wire) && open_topics(b) && claim_name(b) && follow(b);
	wire_close(&b->wire);
	free(b);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
