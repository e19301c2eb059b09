// The real-time side of a live world: takes commands, moves objects and mappings, shows and hides objects.
#include "haptic/scene/scene_keys.h"
#include "haptic/servo/live_state.h"

#include <math.h>

// The gain of the force changes by 1 in this time.
#define GAIN_FADE_S 0.1
// After a stall of the loop, commands go on as if it had lasted this many periods.
#define PERIODS_MAX 2
// Triangles examined in a tick to decide whether an object can be shown, for each probe, about 4 ns each.
#define TRIANGLES_PER_TICK 20000
// How far surfaces are compared for that. A tool that moves less while the triangles of a large mesh are
// examined does not make the test begin again.
#define SHOW_REACH_M 2e-3
// What must be left of the distance after that motion.
#define SHOW_GAP_M 1e-6
// How often the step of a mapping is shortened until it is short enough.
#define MAPPING_TRIES 4

static uint64_t bit(int32_t i)
{
	return UINT64_C(1) << i;
}

void tac_live_reset_objects(tac_live *live, int64_t time_ns)
{
	const tac_world *world = &live->stage->view;
	const tac_scene *scene = world->scene;
	live->shown = 0;
	for (int32_t i = 0; i < scene->object_count; i++) {
		// A command of the same tick moves it from there.
		live->motions[i] = (tac_live_motion){.pose = tac_world_object_pose(world, i, time_ns)};
		if (!scene->objects[i].hidden)
			live->shown |= bit(i);
	}
}

// ---- commands ----

static void take_move(tac_live *live, const tac_live_command *c)
{
	tac_live_motion *m = &live->motions[c->index];
	m->target = tac_dpose_make(
		tac_dvec3_load(c->values),
		tac_dquat_normalize((tac_dquat){c->values[3], c->values[4], c->values[5], c->values[6]}));
	m->left_ns = c->over_ns;
	m->driven = true;
}

// A material that the application changes under the tool gives or takes energy on purpose.
static void restart_accounts(tac_live *live)
{
	for (int32_t i = 0; i < live->servo_count; i++)
		live->servos[i]->account.seen = false;
}

// Smooth surfaces were built for the materials as they were.
static void take_material(tac_live *live, const tac_live_command *c)
{
	tac_material *m = &live->stage->view.materials[c->index];
	const bool smooth = m->smooth;
	const double crease = m->crease_rad;
	tac_scene_material_unpack(c->values, m);
	m->smooth = smooth;
	m->crease_rad = crease;
	restart_accounts(live);
}

static void take_use_material(tac_live *live, const tac_live_command *c)
{
	const tac_world_body *body = &live->stage->view.objects[c->index];
	const int32_t surface = (int32_t)c->values[1] - 1; // -1: all of them
	const int32_t first = surface < 0 ? 0 : surface;
	const int32_t end = surface < 0 ? body->mesh->surface_count : surface + 1;
	for (int32_t i = first; i < end; i++)
		body->surface_material[i] = (int32_t)c->values[0];
	restart_accounts(live);
}

static tac_servo *servo_of(tac_live *live, int32_t tool)
{
	for (int32_t i = 0; i < live->servo_count; i++) {
		if (live->servos[i]->def.tool == tool)
			return live->servos[i];
	}
	return NULL;
}

static void take_mapping(tac_live *live, const tac_live_command *c)
{
	tac_servo *s = servo_of(live, c->index);
	if (!s)
		return;
	s->change.mapping = tac_mapping_make(&(tac_scene_mapping){
		.workspace_scale = c->values[0],
		.position_m = tac_dvec3_load(c->values + 1),
		.rotation_rad = tac_dvec3_load(c->values + 4),
		.clutch_button = (int64_t)c->values[7],
	});
	s->change.mapping_left_ns = c->over_ns;
	s->change.maps = true;
}

static void take_gain(tac_live *live, const tac_live_command *c)
{
	tac_servo *s = servo_of(live, c->index);
	if (s)
		s->change.gain = c->values[0];
}

static void take_effect(tac_live *live, const tac_live_command *c)
{
	tac_servo *s = servo_of(live, c->index);
	const int32_t i = (int32_t)c->values[0];
	if (!s)
		return;
	tac_effect_set *set = &s->effects.commanded;
	const bool was_on = set->effects[i].enabled;
	if (c->kind == TAC_LIVE_EFFECT)
		tac_scene_effect_unpack(c->values + 1, &set->effects[i]);
	else
		set->effects[i].enabled = c->values[1] != 0;
	set->switched_on[i] += set->effects[i].enabled && (c->kind == TAC_LIVE_SWITCH || !was_on);
	s->effects.commands = true;
}

static void take(tac_live *live, const tac_live_command *c)
{
	switch ((tac_live_kind)c->kind) {
	case TAC_LIVE_MOVE:
		take_move(live, c);
		break;
	case TAC_LIVE_SHOW:
		live->shown = c->values[0] != 0 ? live->shown | bit(c->index) : live->shown & ~bit(c->index);
		break;
	case TAC_LIVE_MATERIAL:
		take_material(live, c);
		break;
	case TAC_LIVE_USE_MATERIAL:
		take_use_material(live, c);
		break;
	case TAC_LIVE_MAPPING:
		take_mapping(live, c);
		break;
	case TAC_LIVE_GAIN:
		take_gain(live, c);
		break;
	case TAC_LIVE_EFFECT:
	case TAC_LIVE_SWITCH:
		take_effect(live, c);
		break;
	case TAC_LIVE_EXCHANGE:
		if (live->next_is_listed)
			live->next = live->list.stages[live->list.next_stage];
		else
			tac_ring_pop(live->stages, &live->next);
		for (int32_t i = 0; i < live->servo_count; i++)
			live->tests[i].active = false;
		break;
	case TAC_LIVE_KINDS:
		break;
	}
}

// From the list, then from the application.
static bool next_command(tac_live *live, tac_live_command *out_command)
{
	tac_live_list *list = &live->list;
	live->next_is_listed =
		list->next < list->count && list->records[list->next].tick <= live->servos[0]->ticks;
	if (!live->next_is_listed)
		return tac_ring_pop(live->commands, out_command);
	*out_command = list->records[list->next++].command;
	return true;
}

// Takes the commands that wait, up to an exchange: those after it are for the new world.
static void take_commands(tac_live *live, int64_t now_ns)
{
	tac_live_command c;
	for (int i = 0; i < TAC_LIVE_PER_TICK && !live->next && next_command(live, &c); i++) {
		live->taken++;
		if (live->def.record)
			live->def.record(live->def.record_user, live->servos[0]->ticks, &c);
		take(live, &c);
		if (live->next)
			tac_live_try_exchange(live, now_ns);
	}
}

// ---- objects ----

// How far any point within `radius_m` of the origin moves at most.
static double travel(tac_dpose from, tac_dpose to, double radius_m)
{
	return tac_dvec3_length(tac_dvec3_sub(to.position, from.position)) +
	       radius_m * tac_dquat_angle(tac_dquat_mul(to.rotation, tac_dquat_conjugate(from.rotation)));
}

// The part of a motion that is to be made in this tick.
static double part_of(int64_t elapsed_ns, int64_t left_ns)
{
	return elapsed_ns >= left_ns ? 1 : (double)elapsed_ns / (double)left_ns;
}

static tac_dpose next_pose(const tac_live *live, int32_t i, int64_t elapsed_ns)
{
	const tac_live_motion *m = &live->motions[i];
	if (!(live->shown & bit(i)))
		return m->target;
	const double radius = tac_body_radius(live->stage->view.objects[i].body);
	const double left = travel(m->pose, m->target, radius);
	const double most = live->def.max_speed_m_per_s * (double)elapsed_ns / 1e9;
	const double part = part_of(elapsed_ns, m->left_ns);
	if (left * part <= most)
		return part == 1 ? m->target : tac_dpose_interpolate(m->pose, m->target, part);
	return tac_dpose_interpolate(m->pose, m->target, most / left);
}

static void advance_objects(tac_live *live, int64_t elapsed_ns, int64_t time_ns)
{
	const tac_world *world = &live->stage->view;
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		tac_live_motion *m = &live->motions[i];
		m->commanded =
			m->driven ? next_pose(live, i, elapsed_ns) : tac_world_object_pose(world, i, time_ns);
		m->left_ns = m->left_ns > elapsed_ns ? m->left_ns - elapsed_ns : 0;
	}
}

// ---- mapping and gain ----

static tac_mapping blend(const tac_mapping *from, const tac_mapping *to, double part)
{
	const tac_dpose a = tac_dpose_make(from->position_m, from->rotation);
	const tac_dpose b = tac_dpose_make(to->position_m, to->rotation);
	const tac_dpose turned_a = tac_dpose_make(tac_dvec3_zero(), from->turned);
	const tac_dpose turned_b = tac_dpose_make(tac_dvec3_zero(), to->turned);
	const tac_dpose T = tac_dpose_interpolate(a, b, part);
	tac_mapping m = *from;
	m.scale = from->scale + part * (to->scale - from->scale);
	m.position_m = T.position;
	m.rotation = T.rotation;
	m.turned = tac_dpose_interpolate(turned_a, turned_b, part).rotation;
	return m;
}

static tac_dpose tool_pose(tac_mapping mapping, const tac_device_state *state)
{
	mapping.clutch_button = -1;
	return tac_mapping_step(&mapping, state);
}

static void advance_mapping(tac_servo *s, int64_t elapsed_ns)
{
	tac_servo_change *change = &s->change;
	if (!change->maps || s->mapping.clutched)
		return;
	s->mapping.clutch_button = change->mapping.clutch_button;
	const double most = s->def.live->def.max_speed_m_per_s * (double)elapsed_ns / 1e9;
	const tac_dpose before = tool_pose(s->mapping, &s->device_state);
	double part = part_of(elapsed_ns, change->mapping_left_ns);
	tac_mapping after = blend(&s->mapping, &change->mapping, part);
	for (int i = 0; i < MAPPING_TRIES; i++) {
		const double far = travel(before, tool_pose(after, &s->device_state), s->tool->turn_arm_m);
		if (far <= most)
			break;
		part *= i + 1 < MAPPING_TRIES ? (1 - 1e-9) * most / far : 0;
		after = blend(&s->mapping, &change->mapping, part);
	}
	change->maps = part < 1;
	change->mapping_left_ns -=
		elapsed_ns < change->mapping_left_ns ? elapsed_ns : change->mapping_left_ns;
	s->mapping = after;
}

static void advance_gain(tac_servo *s, int64_t elapsed_ns)
{
	const double step = (double)elapsed_ns / 1e9 / GAIN_FADE_S;
	s->gain += fmax(-step, fmin(step, s->change.gain - s->gain));
}

// ---- show and hide ----

// Continues the test whether a hidden object and the tool are outside each other; it begins again if the tool
// has moved too far meanwhile. False as long as *out_done is false.
static bool is_outside(tac_servo *s, tac_servo_show *show, bool *out_done)
{
	const tac_world *world = s->def.world;
	const tac_world_body *bodies[2] = {&world->objects[show->object], &world->tools[s->def.tool]};
	int32_t left = tac_servo_per_tick(s, TRIANGLES_PER_TICK);
	*out_done = false;
	for (; show->side < 2; show->side++, show->winding.triangle = 0) {
		const tac_dpose T =
			show->side == 0 ? show->T_object_tool : tac_dpose_inverse(show->T_object_tool);
		if (!tac_servo_wind(&show->winding, bodies[show->side], bodies[1 - show->side], T, &left))
			return false;
		if (show->winding.inside) {
			*out_done = true;
			return false;
		}
	}
	*out_done = true;
	return true;
}

// Whether the tool is free of a hidden object; it may take several ticks. *out_done: it is decided.
static bool may_show(tac_servo *s, int32_t object, bool *out_done)
{
	tac_servo_show *show = &s->show;
	const tac_dpose T_world_object = s->T_world_objects[object];
	const tac_dpose T = tac_dpose_relative(T_world_object, tac_sco_pose(s->sco));
	*out_done = true;
	if (tac_world_passes(s->def.world, s->def.tool, object))
		return true;
	if (!show->active) {
		*show = (tac_servo_show){.active = true, .object = object, .T_object_tool = T};
		show->clearance_m = tac_sco_clearance(s->sco, object, T_world_object, SHOW_REACH_M);
	}
	const double moved =
		travel(show->T_object_tool, T, tac_body_radius(s->def.world->tools[s->def.tool].body));
	const bool near = !(show->clearance_m > 0) || (moved > 0 && moved + SHOW_GAP_M >= show->clearance_m);
	const bool outside = !near && is_outside(s, show, out_done);
	show->active = !*out_done;
	return outside;
}

// The object after `object` that waits to be shown.
static int32_t next_waiting(uint64_t waits, int32_t object)
{
	do
		object = (object + 1) % TAC_SCENE_OBJECTS;
	while (!(waits & bit(object)));
	return object;
}

static void hide(tac_servo *s, int32_t object)
{
	tac_sco_hide(s->sco, object);
	s->hidden |= bit(object);
	if (s->show.object == object)
		s->show.active = false;
	s->release.active = false;
}

static void show(tac_servo *s, int32_t object)
{
	tac_sco_show(s->sco, object, s->T_world_objects[object]);
	s->hidden &= ~bit(object);
	s->release.active = false; // a test of a waiting tool begins again
}

// Each tick tests one of the objects that wait. A tool that waits itself is tested with all of them later.
static void show_objects(tac_servo *s)
{
	const uint64_t wanted = s->def.live->shown;
	for (int32_t i = 0; i < s->def.world->scene->object_count; i++) {
		if (!(wanted & bit(i)) && !(s->hidden & bit(i)))
			hide(s, i);
		else if (wanted & bit(i) && s->hidden & bit(i) && s->waiting)
			show(s, i);
	}
	const uint64_t waits = wanted & s->hidden;
	if (!waits)
		return;
	if (!s->show.active || !(waits & bit(s->show.object)))
		s->show.active = false;
	const int32_t object = s->show.active ? s->show.object : next_waiting(waits, s->show.object);
	bool done;
	if (may_show(s, object, &done))
		show(s, object);
}

// ---- the tick ----

void tac_servo_take_changes(tac_servo *servo, int64_t now_ns)
{
	tac_servo *s = servo;
	tac_live *live = s->def.live;
	if (!live)
		return;
	const int64_t most_ns = PERIODS_MAX * s->def.period_ns;
	const int64_t elapsed_ns = now_ns - s->last_ns < most_ns ? now_ns - s->last_ns : most_ns;
	if (s == live->servos[0]) {
		tac_live_give_back(live);
		if (live->next)
			tac_live_try_exchange(live, now_ns);
		take_commands(live, now_ns);
		advance_objects(live, elapsed_ns, now_ns - s->begin_ns);
	}
	advance_mapping(s, elapsed_ns);
	advance_gain(s, elapsed_ns);
}

void tac_servo_place_objects(tac_servo *servo, int64_t now_ns)
{
	tac_servo *s = servo;
	tac_live *live = s->def.live;
	for (int32_t i = 0; i < s->def.world->scene->object_count; i++) {
		if (live && s != live->servos[0])
			live->motions[i].commanded = live->motions[i].pose; // as the first tool left it
		s->T_world_objects[i] = live ? live->motions[i].commanded
					     : tac_world_object_pose(s->def.world, i, now_ns - s->begin_ns);
	}
	tac_servo_place_partner(s);
	if (live)
		show_objects(s);
}

void tac_servo_note_changes(tac_servo *servo)
{
	tac_servo *s = servo;
	tac_live *live = s->def.live;
	if (!live) {
		s->snapshot.live.hidden = s->hidden;
		return;
	}
	tac_snapshot_live *n = &s->snapshot.live;
	*n = (tac_snapshot_live){.world = live->stage->number,
				 .exchanging = live->next != NULL,
				 .commands = live->taken,
				 .hidden = s->hidden,
				 .waits = s->hidden & live->shown,
				 .gain = s->gain};
	for (int32_t i = 0; i < s->def.world->scene->object_count; i++) {
		tac_live_motion *m = &live->motions[i];
		if (m->driven && tac_servo_poses_differ(s->T_world_objects[i], m->commanded))
			n->blocked |= bit(i);
		if (m->driven && tac_servo_poses_differ(s->T_world_objects[i], m->target))
			n->moving |= bit(i);
		m->pose = s->T_world_objects[i];
	}
}
