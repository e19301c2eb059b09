#include "haptic/servo/events.h"

#include "base/log.h"
#include "haptic/servo/servo_state.h"

#include <string.h>

// ---- set-up, reading ----

tac_result tac_servo_init_events(tac_servo *servo)
{
	const uint32_t capacity = servo->def.events;
	if (capacity == 0)
		return TAC_OK;
	if (capacity > TAC_RING_CAPACITY_MAX || (capacity & (capacity - 1)) != 0) {
		tac_log(TAC_LOG_ERROR, "servo: expected a power of two as number of events, found %u",
			capacity);
		return TAC_ERROR_ARGUMENT;
	}
	return tac_ring_create(capacity, sizeof(tac_event), &servo->events.ring);
}

bool tac_servo_next_event(tac_servo *servo, tac_event *out_event)
{
	return servo->events.ring && tac_ring_pop(servo->events.ring, out_event);
}

uint64_t tac_servo_events_lost(const tac_servo *servo)
{
	return servo->events.ring ? tac_ring_refused(servo->events.ring) : 0;
}

const char *tac_event_kind_name(tac_event_kind kind)
{
	static const char *const names[TAC_EVENT_KIND_COUNT] = {
		[TAC_EVENT_TOUCH] = "touch", [TAC_EVENT_RELEASE] = "release",   [TAC_EVENT_ENTER] = "enter",
		[TAC_EVENT_LEAVE] = "leave", [TAC_EVENT_SLIP] = "slip",         [TAC_EVENT_STICK] = "stick",
		[TAC_EVENT_PRESS] = "press", [TAC_EVENT_LET_GO] = "let go",     [TAC_EVENT_FAULT] = "fault",
		[TAC_EVENT_LIMIT] = "limit", [TAC_EVENT_NO_LIMIT] = "no limit", [TAC_EVENT_LOST] = "lost",
		[TAC_EVENT_BACK] = "back",
	};
	return kind >= 0 && kind < TAC_EVENT_KIND_COUNT ? names[kind] : "unknown event";
}

// ---- telling ----

static tac_event make_event(const tac_servo *s, tac_event_kind kind)
{
	const tac_snapshot *n = &s->snapshot;
	tac_event e;
	memset(&e, 0, sizeof e);
	e.tick = n->tick;
	e.time_ns = n->time_ns;
	e.kind = kind;
	e.tool = n->tool;
	e.object = e.surface = e.number = -1;
	return e;
}

static void push(tac_servo *s, tac_event *e)
{
	e->lost = s->events.lost;
	s->events.lost = tac_ring_push(s->events.ring, e) ? 0 : s->events.lost + 1;
}

static void tell(tac_servo *s, tac_event_kind kind, int32_t number)
{
	tac_event e = make_event(s, kind);
	e.number = number;
	push(s, &e);
}

// One event for each bit that differs.
static void tell_bits(tac_servo *s, uint32_t before, uint32_t after, tac_event_kind set,
		      tac_event_kind cleared)
{
	for (int32_t i = 0; i < 32 && before != after; i++) {
		if ((before ^ after) >> i & 1u)
			tell(s, after >> i & 1u ? set : cleared, i);
	}
}

static void tell_touched(tac_servo *s, const tac_servo_touched *t, tac_event_kind kind)
{
	const bool surface = kind == TAC_EVENT_ENTER || kind == TAC_EVENT_LEAVE;
	const bool begins = kind == TAC_EVENT_TOUCH || kind == TAC_EVENT_ENTER;
	tac_event e = make_event(s, kind);
	e.object = t->object;
	memcpy(e.object_name, t->object_name, sizeof e.object_name);
	if (surface) {
		e.surface = t->surface;
		memcpy(e.surface_name, t->surface_name, sizeof e.surface_name);
	}
	if (begins) {
		e.point_m = t->point_m;
		e.force_N = t->force_N;
	}
	push(s, &e);
}

// ---- touched surfaces ----

static void copy_name(char *out, const char *name)
{
	const size_t length = strnlen(name, TAC_EVENT_NAME - 1);
	memset(out, 0, TAC_EVENT_NAME);
	memcpy(out, name, length);
}

static void name_touched(const tac_servo *s, tac_servo_touched *t)
{
	const tac_world *world = s->def.world;
	const tac_world_body *body = t->object < world->scene->object_count ? &world->objects[t->object]
									    : &world->tools[1 - s->def.tool];
	copy_name(t->object_name, body->name);
	copy_name(t->surface_name, t->surface >= 0 && t->surface < body->mesh->surface_count
					   ? body->mesh->surfaces[t->surface].name
					   : "");
}

static bool same(const tac_servo_touched *a, const tac_servo_touched *b)
{
	return a->object == b->object && a->surface == b->surface &&
	       memcmp(a->object_name, b->object_name, sizeof a->object_name) == 0 &&
	       memcmp(a->surface_name, b->surface_name, sizeof a->surface_name) == 0;
}

static bool same_object(const tac_servo_touched *a, const tac_servo_touched *b)
{
	return a->object == b->object && memcmp(a->object_name, b->object_name, sizeof a->object_name) == 0;
}

typedef bool equal_fn(const tac_servo_touched *a, const tac_servo_touched *b);

static bool contains(const tac_servo_touched *list, int32_t count, const tac_servo_touched *t,
		     equal_fn *equal)
{
	for (int32_t i = 0; i < count; i++) {
		if (equal(&list[i], t))
			return true;
	}
	return false;
}

// The surfaces that the snapshot's contacts touch, each once; returns their number.
static int32_t list_touched(const tac_servo *s, tac_servo_touched *out)
{
	int32_t count = 0;
	for (int32_t i = 0; i < s->snapshot.contact_count; i++) {
		const tac_snapshot_contact *c = &s->snapshot.contacts[i];
		int32_t k = 0;
		while (k < count && !(out[k].object == c->object && out[k].surface == c->object_surface))
			k++;
		if (k == count) {
			out[count] = (tac_servo_touched){
				.object = c->object, .surface = c->object_surface, .point_m = c->point_m};
			name_touched(s, &out[count++]);
		}
		out[k].force_N = tac_dvec3_add(out[k].force_N, c->force_N);
	}
	return count;
}

// Tells each element of `list` that `other` lacks, once.
static void tell_missing(tac_servo *s, const tac_servo_touched *list, int32_t count,
			 const tac_servo_touched *other, int32_t other_count, tac_event_kind kind,
			 equal_fn *equal)
{
	for (int32_t i = 0; i < count; i++) {
		const tac_servo_touched *t = &list[i];
		if (equal == same && t->surface < 0) // the round tool of another hand has no surfaces
			continue;
		if (!contains(other, other_count, t, equal) && !contains(list, i, t, equal))
			tell_touched(s, t, kind);
	}
}

static void tell_contacts(tac_servo *s)
{
	tac_servo_events *ev = &s->events;
	tac_servo_touched now[TAC_SCO_CONTACTS];
	const int32_t count = list_touched(s, now), before = ev->touched_count;
	tell_missing(s, ev->touched, before, now, count, TAC_EVENT_LEAVE, same);
	tell_missing(s, ev->touched, before, now, count, TAC_EVENT_RELEASE, same_object);
	tell_missing(s, now, count, ev->touched, before, TAC_EVENT_TOUCH, same_object);
	tell_missing(s, now, count, ev->touched, before, TAC_EVENT_ENTER, same);
	memcpy(ev->touched, now, (size_t)count * sizeof *now);
	ev->touched_count = count;
}

static void tell_friction(tac_servo *s)
{
	const tac_snapshot *n = &s->snapshot;
	const bool slipping = n->friction.touching && n->friction.slipping;
	// A tool that leaves the surface while it slides does not stick.
	if (slipping != s->events.slipping && (slipping || n->friction.touching)) {
		tac_event e = make_event(s, slipping ? TAC_EVENT_SLIP : TAC_EVENT_STICK);
		e.point_m = n->friction.point_m;
		e.force_N = n->friction.force_N;
		if (s->events.touched_count > 0) {
			e.object = s->events.touched[0].object;
			memcpy(e.object_name, s->events.touched[0].object_name, sizeof e.object_name);
		}
		push(s, &e);
	}
	s->events.slipping = slipping;
}

void tac_servo_tell_events(tac_servo *servo)
{
	tac_servo *s = servo;
	tac_servo_events *ev = &s->events;
	const tac_snapshot *n = &s->snapshot;
	if (!ev->ring)
		return;
	const bool lost = n->state == TAC_SERVO_LOST;
	if (lost != ev->device_lost)
		tell(s, lost ? TAC_EVENT_LOST : TAC_EVENT_BACK, -1);
	tell_bits(s, ev->buttons, n->buttons, TAC_EVENT_PRESS, TAC_EVENT_LET_GO);
	if (n->faults != ev->faults)
		tell(s, TAC_EVENT_FAULT, -1);
	tell_bits(s, ev->limits, n->limits, TAC_EVENT_LIMIT, TAC_EVENT_NO_LIMIT);
	tell_contacts(s);
	tell_friction(s);
	ev->device_lost = lost;
	ev->buttons = n->buttons;
	ev->faults = n->faults;
	ev->limits = n->limits;
}
