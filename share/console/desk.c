#include "share/console/desk.h"

#include "haptic/limit.h"
#include "haptic/snapshot.h"
#include "rt/tick.h"
#include "share/console/picture.h"
#include "share/console/text.h"
#include "share/station.h"

#include <idl/tactus.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STOPS 3 // times that a stop is sent; the station carries it out once

typedef struct kept {
	char *bytes;
	size_t size;
	int64_t time_ns;
} kept;

typedef struct seat {
	char station[33];
	uint64_t run;
	uint32_t recordings;
	bool stored; // its recording has been seen here
	char *info;  // the part of DESK_INFO that comes from the station
	bool there;
	uint64_t figures_run;
	char *figures[TAC_SCENE_TOOLS]; // JSON of each tool's
	kept last[DESK_EVENT];          // of the kinds before DESK_EVENT
	kept events[DESK_EVENTS];
	uint32_t event_count;
	uint64_t picture_run;
} seat;

struct desk {
	wire wire;
	dds_entity_t info, scene, state, event, totals, figures, command;
	const char *store;
	desk_message_fn *on_message;
	void *user;
	seat seats[DESK_STATIONS];
	uint32_t count;
	char topic[64];
};

#define HEADER_SCHEMA                                                                                        \
	"================================================================================\n"                 \
	"MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
#define VECTOR_SCHEMA                                                                                        \
	"================================================================================\n"                 \
	"MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
static const char pose_schema[] =
	"std_msgs/Header header\ngeometry_msgs/Pose pose\n" HEADER_SCHEMA
	"================================================================================\n"
	"MSG: geometry_msgs/Pose\ngeometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n"
	"================================================================================\n"
	"MSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n"
	"================================================================================\n"
	"MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n";
static const char wrench_schema[] =
	"std_msgs/Header header\ngeometry_msgs/Wrench wrench\n" HEADER_SCHEMA
	"================================================================================\n"
	"MSG: geometry_msgs/Wrench\ngeometry_msgs/Vector3 force\ngeometry_msgs/Vector3 "
	"torque\n" VECTOR_SCHEMA;
static const char any_schema[] = "{\"type\":\"object\"}";

static const struct {
	const char *name, *schema_name;
	const char *schema; // NULL: JSON of any form
} kinds[DESK_KINDS] = {
	[DESK_INFO] = {"info", "tactus.Info", NULL},
	[DESK_TOTALS] = {"totals", "tactus.Totals", NULL},
	[DESK_FIGURES] = {"figures", "tactus.Figures", NULL},
	[DESK_SCENE] = {"scene", "tactus.Scene", NULL},
	[DESK_EVENT] = {"event", "tactus.Event", NULL},
	[DESK_STATE] = {"state", "tactus.State", NULL},
	[DESK_POSE] = {"tool_pose", "geometry_msgs/msg/PoseStamped", pose_schema},
	[DESK_WRENCH] = {"wrench", "geometry_msgs/msg/WrenchStamped", wrench_schema},
};

static int64_t realtime_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void keep(kept *k, const void *bytes, size_t size, int64_t time_ns)
{
	char *copy = malloc(size);
	if (!copy)
		return;
	memcpy(copy, bytes, size);
	free(k->bytes);
	*k = (kept){copy, size, time_ns};
}

static void send(desk *d, seat *s, desk_kind kind, const void *bytes, size_t size)
{
	const int64_t now_ns = realtime_ns();
	if (kind < DESK_EVENT)
		keep(&s->last[kind], bytes, size, now_ns);
	else if (kind == DESK_EVENT)
		keep(&s->events[s->event_count++ % DESK_EVENTS], bytes, size, now_ns);
	d->on_message(d->user, (uint32_t)(s - d->seats) * DESK_KINDS + (uint32_t)kind, now_ns, bytes, size);
}

// Ends a text and sends it.
static void send_text(desk *d, seat *s, desk_kind kind, text *t)
{
	if (!text_end(t))
		return;
	send(d, s, kind, t->bytes, t->size);
	free(t->bytes);
}

// NULL: there is no room.
static seat *find(desk *d, const char *station)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (strcmp(d->seats[i].station, station) == 0)
			return &d->seats[i];
	if (d->count == DESK_STATIONS || !tac_station_name_valid(station))
		return NULL;
	seat *s = &d->seats[d->count++];
	snprintf(s->station, sizeof s->station, "%s", station);
	return s;
}

// ---- info and scene ----

static const char *stored_state(const desk *d, const seat *s)
{
	char path[PATH_MAX];
	if (!d->store || s->recordings == 0)
		return "unknown";
	snprintf(path, sizeof path, "%s/%s-%016llx.rec", d->store, s->station, (unsigned long long)s->run);
	if (access(path, F_OK) == 0)
		return "here";
	snprintf(path, sizeof path, "%s/%s-%016llx.rec.part", d->store, s->station,
		 (unsigned long long)s->run);
	return access(path, F_OK) == 0 ? "arriving" : "not here";
}

static void send_info(desk *d, seat *s)
{
	text t;
	if (!s->info || !text_begin(&t))
		return;
	const char *stored = stored_state(d, s);
	s->stored = strcmp(stored, "here") == 0;
	fprintf(t.file, "{\"there\":%s,\"stored\":\"%s\",%s}", s->there ? "true" : "false", stored, s->info);
	send_text(d, s, DESK_INFO, &t);
}

static void hear_info(seat *s, const tactus_Info *i)
{
	text t;
	if (!text_begin(&t))
		return;
	fprintf(t.file, "\"run\":\"%016llx\",\"running\":%s,\"commands\":%s,\"recordings\":%u,\"rate_Hz\":",
		(unsigned long long)i->run, i->running ? "true" : "false", i->commands ? "true" : "false",
		i->recordings);
	text_number(&t, i->period_ns > 0 ? 1e9 / (double)i->period_ns : 0);
	fprintf(t.file, ",\"version\":");
	text_string(&t, i->version);
	fprintf(t.file, ",\"scene\":");
	text_string(&t, i->scene);
	fprintf(t.file, ",\"tools\":[");
	for (uint32_t k = 0; k < i->tools._length; k++) {
		const tactus_Tool *tool = &i->tools._buffer[k];
		fprintf(t.file, "%s{\"name\":", k ? "," : "");
		text_string(&t, tool->name);
		fprintf(t.file, ",\"device\":");
		text_string(&t, tool->device);
		fprintf(t.file, ",\"max_force_N\":");
		text_number(&t, tool->max_force_N);
		fprintf(t.file, "}");
	}
	fprintf(t.file, "]");
	if (!text_end(&t))
		return;
	free(s->info);
	s->info = t.bytes;
	s->run = i->run;
	s->recordings = i->recordings;
}

static void hear_scene(desk *d, seat *s, const tactus_Scene *scene)
{
	text t;
	if (s->picture_run == scene->run || !text_begin(&t))
		return;
	s->picture_run = scene->run;
	picture_write(scene, &t);
	send_text(d, s, DESK_SCENE, &t);
}

// ---- the rest ----

static void hear_totals(desk *d, seat *s, const tactus_Totals *o)
{
	text t;
	if (!text_begin(&t))
		return;
	fprintf(t.file,
		"{\"ticks\":%llu,\"misses\":%llu,\"skipped\":%llu,\"refused\":%llu,\"published\":%llu,"
		"\"dropped\":%llu,\"ended\":%s,\"causes\":{",
		(unsigned long long)o->ticks, (unsigned long long)o->misses, (unsigned long long)o->skipped,
		(unsigned long long)o->refused, (unsigned long long)o->published,
		(unsigned long long)o->dropped, o->ended ? "true" : "false");
	bool any = false;
	for (uint32_t i = 1; i < o->misses_by_cause._length && i < TAC_CAUSE_COUNT; i++) {
		if (o->misses_by_cause._buffer[i] == 0)
			continue;
		fputs(any ? "," : "", t.file);
		text_string(&t, tac_cause_name((tac_cause)i));
		fprintf(t.file, ":%llu", (unsigned long long)o->misses_by_cause._buffer[i]);
		any = true;
	}
	fprintf(t.file, "}}");
	send_text(d, s, DESK_TOTALS, &t);
}

static char *figures_text(const tactus_Figures *f)
{
	text t;
	if (!text_begin(&t))
		return NULL;
	fprintf(t.file, "{\"tool\":%u,\"ended\":%s,\"passed\":%s,\"list\":[", f->tool_no,
		f->ended ? "true" : "false", f->passed ? "true" : "false");
	for (uint32_t i = 0; i < f->list._length; i++) {
		const tactus_Figure *row = &f->list._buffer[i];
		fprintf(t.file, "%s{\"name\":", i ? "," : "");
		text_string(&t, row->name);
		fprintf(t.file, ",\"unit\":");
		text_string(&t, row->unit);
		fprintf(t.file, ",\"value\":");
		text_number(&t, row->value);
		fprintf(t.file, ",\"limit\":");
		text_number(&t, row->limit);
		fprintf(t.file, ",\"at_least\":%s,\"exceeded\":%s,\"detail\":%s}",
			row->at_least ? "true" : "false", row->exceeded ? "true" : "false",
			row->detail ? "true" : "false");
	}
	fprintf(t.file, "]}");
	return text_end(&t) ? t.bytes : NULL;
}

static void forget_figures(seat *s)
{
	for (int i = 0; i < TAC_SCENE_TOOLS; i++) {
		free(s->figures[i]);
		s->figures[i] = NULL;
	}
}

static void hear_figures(desk *d, seat *s, const tactus_Figures *f)
{
	if (f->tool_no >= TAC_SCENE_TOOLS)
		return;
	if (s->figures_run != f->run)
		forget_figures(s);
	s->figures_run = f->run;
	free(s->figures[f->tool_no]);
	s->figures[f->tool_no] = figures_text(f);
	text t;
	if (!text_begin(&t))
		return;
	fprintf(t.file, "{\"run\":\"%016llx\",\"tools\":[", (unsigned long long)f->run);
	bool any = false;
	for (int i = 0; i < TAC_SCENE_TOOLS; i++) {
		if (s->figures[i])
			fprintf(t.file, "%s%s", any ? "," : "", s->figures[i]);
		any |= s->figures[i] != NULL;
	}
	fprintf(t.file, "]}");
	send_text(d, s, DESK_FIGURES, &t);
}

static void hear_event(desk *d, seat *s, const tactus_Event *e)
{
	text t;
	if (!text_begin(&t))
		return;
	fprintf(t.file,
		"{\"number\":%llu,\"time_ns\":%lld,\"tool\":%d,\"kind\":", (unsigned long long)e->number,
		(long long)e->time_ns, e->tool_no);
	text_string(&t, e->kind);
	fprintf(t.file, ",\"value\":");
	text_number(&t, e->value);
	fprintf(t.file, ",\"text\":");
	text_string(&t, e->text);
	fprintf(t.file, "}");
	send_text(d, s, DESK_EVENT, &t);
}

static void write_list(text *t, const char *name, const double *values, size_t count)
{
	fprintf(t->file, ",\"%s\":", name);
	for (size_t i = 0; i < count; i++) {
		fputc(i ? ',' : '[', t->file);
		text_number(t, values[i]);
	}
	fputc(']', t->file);
}

// As ROS 2 has them: position and quaternion; force and torque.
static void flatten_pose(const tactus_Pose *p, double out[7])
{
	const double values[] = {p->position_m.x, p->position_m.y, p->position_m.z, p->rotation[0],
				 p->rotation[1],  p->rotation[2],  p->rotation[3]};
	memcpy(out, values, sizeof values);
}

static void flatten_wrench(const tactus_Wrench *w, double out[6])
{
	const double values[] = {w->force_N.x,   w->force_N.y,   w->force_N.z,
				 w->torque_Nm.x, w->torque_Nm.y, w->torque_Nm.z};
	memcpy(out, values, sizeof values);
}

// CDR of ROS 2: the encapsulation, a header with the frame "world", then doubles at multiples of eight.
static void send_cdr(desk *d, seat *s, desk_kind kind, int64_t time_ns, const double *values, size_t count)
{
	unsigned char bytes[4 + 24 + 7 * 8] = {0, 1};
	const int32_t sec = (int32_t)(time_ns / 1000000000);
	const uint32_t nanosec = (uint32_t)(time_ns % 1000000000), length = 6;
	memcpy(bytes + 4, &sec, 4);
	memcpy(bytes + 8, &nanosec, 4);
	memcpy(bytes + 12, &length, 4);
	memcpy(bytes + 16, "world", 6);
	memcpy(bytes + 28, values, count * sizeof *values);
	send(d, s, kind, bytes, 28 + count * sizeof *values);
}

static void hear_state(desk *d, seat *s, const tactus_State *state)
{
	const tactus_Sample *n = &state->newest;
	text t;
	if (!text_begin(&t))
		return;
	fprintf(t.file,
		"{\"tool\":%u,\"tick\":%lld,\"time_ns\":%lld,\"compute_us\":%.3f,\"state\":\"%s\","
		"\"contacts\":%u,"
		"\"limits\":%u,\"buttons\":%u,\"gain\":",
		n->tool_no, (long long)n->tick_no, (long long)n->time_ns, 1e-3 * (double)n->compute_ns,
		n->servo_state < TAC_SERVO_STATE_COUNT ? tac_servo_state_name((tac_servo_state)n->servo_state)
						       : "",
		n->contacts, n->limits, n->buttons);
	text_number(&t, n->gain);
	double device[7], pose[7], wrench[6];
	flatten_pose(&n->device_pose, device);
	flatten_pose(&n->tool_pose, pose);
	flatten_wrench(&n->sent, wrench);
	write_list(&t, "device", device, 7);
	write_list(&t, "pose", pose, 7);
	write_list(&t, "force", wrench, 3);
	write_list(&t, "torque", wrench + 3, 3);
	fprintf(t.file, ",\"stopped\":%s}", n->limits >> TAC_LIMIT_STOPPED & 1u ? "true" : "false");
	send_text(d, s, DESK_STATE, &t);
	if (n->tool_no != 0)
		return;
	send_cdr(d, s, DESK_POSE, n->time_ns, pose, 7);
	send_cdr(d, s, DESK_WRENCH, n->time_ns, wrench, 6);
}

// ---- polling ----

// Takes all that a reader has. The station is the first member of every type.
static void take(desk *d, dds_entity_t reader)
{
	void *samples[16] = {NULL};
	dds_sample_info_t infos[16];
	int32_t got;
	while ((got = dds_take(reader, samples, infos, 16, 16)) > 0) {
		for (int32_t i = 0; i < got; i++) {
			seat *s = find(d, samples[i]);
			if (!s)
				continue;
			if (reader == d->info) {
				s->there = infos[i].instance_state == DDS_IST_ALIVE;
				if (infos[i].valid_data)
					hear_info(s, samples[i]);
				send_info(d, s);
			} else if (!infos[i].valid_data) {
				continue;
			} else if (reader == d->scene) {
				hear_scene(d, s, samples[i]);
			} else if (reader == d->totals) {
				hear_totals(d, s, samples[i]);
			} else if (reader == d->figures) {
				hear_figures(d, s, samples[i]);
			} else if (reader == d->event) {
				hear_event(d, s, samples[i]);
			} else {
				hear_state(d, s, samples[i]);
			}
		}
		dds_return_loan(reader, samples, got);
		samples[0] = NULL;
	}
}

uint32_t desk_poll(desk *d)
{
	take(d, d->info);
	take(d, d->scene);
	take(d, d->totals);
	take(d, d->figures);
	take(d, d->event);
	take(d, d->state);
	for (uint32_t i = 0; i < d->count; i++) {
		seat *s = &d->seats[i];
		if (!s->stored && strcmp(stored_state(d, s), "here") == 0)
			send_info(d, s);
	}
	return d->count;
}

desk_channel desk_describe(desk *d, uint32_t channel)
{
	const uint32_t kind = channel % DESK_KINDS;
	const bool cdr = kinds[kind].schema != NULL;
	snprintf(d->topic, sizeof d->topic, "/%s/%s", d->seats[channel / DESK_KINDS].station,
		 kinds[kind].name);
	return (desk_channel){.topic = d->topic,
			      .encoding = cdr ? "cdr" : "json",
			      .schema_name = kinds[kind].schema_name,
			      .schema = cdr ? kinds[kind].schema : any_schema,
			      .schema_encoding = cdr ? "ros2msg" : "jsonschema"};
}

void desk_repeat(desk *d, uint32_t channel, desk_message_fn *on_message, void *user)
{
	const seat *s = &d->seats[channel / DESK_KINDS];
	const uint32_t kind = channel % DESK_KINDS;
	if (kind < DESK_EVENT && s->last[kind].bytes)
		on_message(user, channel, s->last[kind].time_ns, s->last[kind].bytes, s->last[kind].size);
	for (uint32_t i = 0; kind == DESK_EVENT && i < DESK_EVENTS; i++) {
		const kept *k = &s->events[(s->event_count + i) % DESK_EVENTS];
		if (k->bytes)
			on_message(user, channel, k->time_ns, k->bytes, k->size);
	}
}

void desk_command(desk *d, const request *r)
{
	tactus_Command command = {.number = wire_random(), .value = r->value};
	snprintf(command.station, sizeof command.station, "%s", r->station);
	snprintf(command.kind, sizeof command.kind, "%s", r->kind);
	snprintf(command.text, sizeof command.text, "%s", r->text);
	for (int i = 0; i < (strcmp(command.kind, "stop") == 0 ? STOPS : 1); i++)
		dds_write(d->command, &command);
}

desk *desk_open(const wire_def *def, const char *store, desk_message_fn *on_message, void *user)
{
	desk *d = calloc(1, sizeof *d);
	if (!d || !wire_open(def, &d->wire)) {
		free(d);
		return NULL;
	}
	d->store = store;
	d->on_message = on_message;
	d->user = user;
	if ((d->info = wire_reader(&d->wire, WIRE_INFO)) < 0 ||
	    (d->state = wire_reader(&d->wire, WIRE_STATE)) < 0 ||
	    (d->event = wire_reader(&d->wire, WIRE_EVENT)) < 0 ||
	    (d->scene = wire_reader(&d->wire, WIRE_SCENE)) < 0 ||
	    (d->totals = wire_reader(&d->wire, WIRE_TOTALS)) < 0 ||
	    (d->figures = wire_reader(&d->wire, WIRE_FIGURES)) < 0 ||
	    (d->command = wire_writer(&d->wire, WIRE_COMMAND)) < 0)
		desk_close(&d);
	return d;
}

void desk_close(desk **d)
{
	if (!*d)
		return;
	wire_close(&(*d)->wire);
	for (uint32_t i = 0; i < (*d)->count; i++) {
		seat *s = &(*d)->seats[i];
		forget_figures(s);
		free(s->info);
		for (int k = 0; k < DESK_EVENT; k++)
			free(s->last[k].bytes);
		for (int k = 0; k < DESK_EVENTS; k++)
			free(s->events[k].bytes);
	}
	free(*d);
	*d = NULL;
}
