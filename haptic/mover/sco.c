#include "haptic/sco_private.h"

#include "base/assert.h"
#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
// The turn to the device changes its way round when the other one is shorter by this, rad.
#define BRANCH 0.2
// The trust radius at a reset, m.
#define TRUST_FIRST 5e-4
// The trust radius of the next step is so much more than the way of this one.
#define TRUST_MORE 1.5

tac_sco_def tac_sco_def_default(void)
{
	tac_sco_def def = {
		.mover = TAC_SCO_CONTINUOUS,
		.metric_m = 0.0316227766016838,
		.hold_gap_m = 1e-5,
		.trust_min_m = 1e-4,
		.trust_max_m = 2e-3,
		.turn_max_rad = 0.03,
		.slew_m = 5e-4,
		.stop_length_m = 5e-5,
		.pieces = 16,
		.gathers = 32,
		.certificates = 28,
		.qps = 96,
		.pairs = 540,
		.queries = 32,
	};
	return def;
}

// --- motion ---

tac_sco_twist tac_sco_twist_between(const tac_sco *sco, tac_dpose from, tac_dpose to)
{
	tac_sco_twist t = {tac_dvec3_sub(to.position, from.position), {0, 0, 0}};
	if (sco->def.fixed_rotation)
		return t;
	t.w = tac_dquat_log(tac_dquat_mul(to.rotation, tac_dquat_conjugate(from.rotation)));
	double angle = tac_dvec3_length(t.w);
	if (angle > PI - 0.5 * BRANCH && tac_dvec3_dot(t.w, sco->last_turn) < 0)
		t.w = tac_dvec3_scale(t.w, (angle - 2 * PI) / angle);
	return t;
}

tac_dpose tac_sco_pose_after(tac_dpose pose, tac_sco_twist t, double s)
{
	if (tac_dvec3_length_squared(t.w) == 0)
		return tac_dpose_make(tac_dvec3_add_scaled(pose.position, s, t.v), pose.rotation);
	tac_dquat turn = tac_dquat_exp(tac_dvec3_scale(t.w, s));
	return tac_dpose_make(tac_dvec3_add_scaled(pose.position, s, t.v),
			      tac_dquat_mul(turn, pose.rotation));
}

tac_sco_twist tac_sco_twist_scale(tac_sco_twist t, double s)
{
	return (tac_sco_twist){tac_dvec3_scale(t.v, s), tac_dvec3_scale(t.w, s)};
}

double tac_sco_reach(const tac_sco *sco, tac_sco_twist t)
{
	return tac_dvec3_length(t.v) + tac_dvec3_length(t.w) * sco->radius;
}

double tac_sco_energy(const tac_sco *sco, tac_dpose from, tac_dpose to)
{
	tac_sco_twist t = tac_sco_twist_between(sco, from, to);
	double rho = sco->def.metric_m;
	return tac_dvec3_dot(t.v, t.v) + rho * rho * tac_dvec3_dot(t.w, t.w);
}

void tac_sco_widen_trust(tac_sco *sco)
{
	sco->trust = fmin(2 * sco->trust, sco->def.trust_max_m);
}

tac_sco_twist tac_sco_push(const tac_sco_thing *thing)
{
	tac_dquat a = thing->pose.rotation, b = thing->goal.rotation;
	tac_sco_twist t = {tac_dvec3_sub(thing->goal.position, thing->pose.position), {0, 0, 0}};
	if (a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w)
		t.w = tac_dquat_log(tac_dquat_mul(b, tac_dquat_conjugate(a)));
	return t;
}

bool tac_sco_pushing(const tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		if (sco->things[i].moves)
			return true;
	}
	return false;
}

tac_sco_relative tac_sco_relative_motion(const tac_sco *sco, const tac_sco_thing *thing, tac_sco_twist t)
{
	tac_sco_relative r;
	r.start = tac_dpose_relative(thing->pose, sco->pose);
	if (!thing->moves) {
		tac_dquat back = tac_dquat_conjugate(thing->pose.rotation);
		r.twist.v = tac_dquat_rotate(back, t.v);
		r.twist.w = tac_dquat_rotate(back, t.w);
		return r;
	}
	tac_dpose end = tac_dpose_relative(tac_sco_pose_after(thing->pose, thing->push, 1),
					   tac_sco_pose_after(sco->pose, t, 1));
	r.twist.v = tac_dvec3_sub(end.position, r.start.position);
	r.twist.w = tac_dquat_log(tac_dquat_mul(end.rotation, tac_dquat_conjugate(r.start.rotation)));
	return r;
}

tac_dpose tac_sco_thing_after(const tac_sco *sco, const tac_sco_thing *thing, tac_sco_twist t, double s)
{
	if (!thing->moves)
		return thing->pose;
	tac_sco_relative r = tac_sco_relative_motion(sco, thing, t);
	tac_dpose T_object_tool = tac_sco_pose_after(r.start, r.twist, s);
	tac_dpose T =
		tac_dpose_compose(tac_sco_pose_after(sco->pose, t, s), tac_dpose_inverse(T_object_tool));
	T.rotation = tac_dquat_normalize(T.rotation);
	return T;
}

// --- set-up ---

static bool positive(double x)
{
	return x > 0 && x < HUGE_VAL;
}

// What is wrong with the def; NULL: nothing.
static const char *fault_of(const tac_sco_def *def)
{
	bool reactive = def->mover == TAC_SCO_REACTIVE;
	if (def->object_count < 0 || (def->object_count > 0 && !def->objects))
		return "objects";
	if (reactive && (!def->collider || !def->tool_shape))
		return "a collider and the tool's shape for the reactive mover";
	if (!reactive && !def->tool &&
	    (!positive(def->round.radius_m) || !tac_dvec3_finite(def->round.a_m) ||
	     !tac_dvec3_finite(def->round.b_m)))
		return "a tool: a body, or a round one with a radius above 0";
	if (def->collider && def->tool_shape && def->tool_shape->collider != def->collider)
		return "a tool's shape of the def's collider";
	for (int32_t i = 0; i < def->object_count; i++) {
		const tac_sco_object *o = &def->objects[i];
		if (reactive ? !o->shape : !o->body)
			return reactive ? "a shape for every object" : "a body for every object";
		if (def->collider && o->shape && o->shape->collider != def->collider)
			return "objects' shapes of the def's collider";
		if (!tac_dpose_finite(o->T_world_object))
			return "finite poses of the objects";
	}
	if (!positive(def->metric_m) || !positive(def->hold_gap_m) || !positive(def->trust_min_m) ||
	    !positive(def->trust_max_m) || !positive(def->turn_max_rad) || !positive(def->stop_length_m))
		return "lengths above 0";
	if (def->turn_max_rad > 1 || def->trust_max_m < def->trust_min_m || !(def->slew_m >= 0))
		return "turn_max_rad up to 1, trust_min_m <= trust_max_m, slew_m >= 0";
	if (def->pieces < 1 || def->gathers < 1 || def->certificates < 1 || def->qps < 1 || def->pairs < 1 ||
	    def->queries < 1)
		return "limits of 1 or more";
	return NULL;
}

static double radius_of(const tac_sco_def *def)
{
	if (def->tool)
		return def->tool->radius;
	if (def->mover == TAC_SCO_CONTINUOUS)
		return fmax(tac_dvec3_length(def->round.a_m), tac_dvec3_length(def->round.b_m)) +
		       def->round.radius_m;
	const tac_mesh *mesh = def->tool_shape->mesh;
	double most = 0;
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		most = fmax(most, tac_dvec3_length(tac_dvec3_from_vec3(mesh->vertices[i])));
	return most;
}

// A sphere about the reference point may turn as it likes.
static bool is_ball(const tac_sco_def *def)
{
	return !def->tool && def->mover == TAC_SCO_CONTINUOUS &&
	       tac_dvec3_length_squared(def->round.a_m) == 0 && tac_dvec3_length_squared(def->round.b_m) == 0;
}

static tac_result create_things(tac_sco *sco)
{
	const tac_sco_def *def = &sco->def;
	sco->things = calloc((size_t)def->object_count + 1, sizeof *sco->things);
	if (!sco->things)
		return TAC_ERROR_MEMORY;
	for (int32_t i = 0; i < def->object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		thing->body = def->objects[i].body;
		thing->shape = def->objects[i].shape;
		thing->pose = thing->goal = def->objects[i].T_world_object;
		thing->contacts = calloc(1, sizeof *thing->contacts);
		thing->spare = calloc(1, sizeof *thing->spare);
		thing->context = calloc(1, sizeof *thing->context);
		thing->round_context = calloc(1, sizeof *thing->round_context);
		if (!thing->contacts || !thing->spare || !thing->context || !thing->round_context)
			return TAC_ERROR_MEMORY;
	}
	return TAC_OK;
}

static tac_result create_parts(tac_sco *sco)
{
	tac_result result = create_things(sco);
	if (result == TAC_OK && sco->def.collider) {
		tac_context_def context = tac_context_def_default();
		result = tac_context_create(&context, &sco->context);
	}
	if (result == TAC_OK && sco->def.mover == TAC_SCO_REACTIVE)
		result = tac_sco_reactive_create(sco);
	return result;
}

tac_result tac_sco_create(const tac_sco_def *def, tac_sco **out_sco)
{
	TAC_ASSERT(def && out_sco);
	*out_sco = NULL;
	const char *wrong = fault_of(def);
	if (wrong) {
		tac_log(TAC_LOG_ERROR, "sco: expected %s", wrong);
		return TAC_ERROR_ARGUMENT;
	}
	tac_sco *sco = calloc(1, sizeof *sco);
	if (!sco)
		return TAC_ERROR_MEMORY;
	sco->def = *def;
	if (is_ball(def))
		sco->def.fixed_rotation = true; // it has no orientation: it takes the device's
	sco->fault = TAC_SCO_FAULT;
	sco->radius = radius_of(def);
	sco->pose = tac_dpose_identity();
	tac_result result = create_parts(sco);
	if (result != TAC_OK) {
		tac_log(TAC_LOG_ERROR, "sco: no memory for %d objects", (int)def->object_count);
		tac_sco_destroy(&sco);
		return result;
	}
	sco->def.objects = NULL; // what is needed of them is copied
	*out_sco = sco;
	return TAC_OK;
}

void tac_sco_destroy(tac_sco **sco)
{
	TAC_ASSERT(sco);
	if (!*sco)
		return;
	for (int32_t i = 0; (*sco)->things && i < (*sco)->def.object_count; i++) {
		tac_sco_thing *thing = &(*sco)->things[i];
		free(thing->contacts);
		free(thing->spare);
		free(thing->context);
		free(thing->round_context);
	}
	tac_sco_reactive_destroy(*sco);
	tac_context_destroy(&(*sco)->context);
	free((*sco)->things);
	free(*sco);
	*sco = NULL;
}

// --- the step ---

// The collider's word on the SCO's pose: free, or not, or not known.
static tac_contact check(tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		if (!thing->shape)
			continue;
		tac_pose T = tac_pose_from_dpose(tac_dpose_relative(thing->pose, sco->pose));
		tac_motion motion = {tac_mat3_from_quat(T.rotation), T.position};
		tac_contact answer =
			tac_collider_query(sco->def.collider, sco->context, sco->def.tool_shape, thing->shape,
					   &motion, TAC_QUERY_FIRST, (tac_budget){0, 0});
		if (answer != TAC_CONTACT_NONE)
			return answer;
	}
	return TAC_CONTACT_NONE;
}

static bool has_check(const tac_sco *sco)
{
	return sco->def.collider && sco->def.tool_shape;
}

static bool take_goals(tac_sco *sco, const tac_dpose *T_world_objects)
{
	for (int32_t i = 0; T_world_objects && i < sco->def.object_count; i++) {
		if (!tac_dpose_finite(T_world_objects[i]))
			return false;
	}
	for (int32_t i = 0; T_world_objects && i < sco->def.object_count; i++) {
		sco->things[i].goal = T_world_objects[i];
		sco->things[i].goal.rotation = tac_dquat_normalize(T_world_objects[i].rotation);
	}
	return true;
}

bool tac_sco_reset(tac_sco *sco, tac_dpose T_world_tool, const tac_dpose *T_world_objects)
{
	TAC_ASSERT(sco);
	sco->fault = TAC_SCO_FAULT;
	sco->has_last_device = false;
	sco->last_turn = tac_dvec3_zero();
	sco->trust = fmin(fmax(TRUST_FIRST, sco->def.trust_min_m), sco->def.trust_max_m);
	sco->trust_cap = sco->def.trust_max_m;
	sco->stride = 1;
	sco->flight = TAC_SCO_FLIGHT;
	sco->near = false;
	sco->kept_injected = 0;
	sco->kept_bias = 0;
	sco->stuck_steps = 0;
	sco->known = -1;
	sco->distance = HUGE_VAL;
	if (!tac_dpose_finite(T_world_tool) || !take_goals(sco, T_world_objects))
		return false;
	sco->pose = T_world_tool;
	sco->pose.rotation = tac_dquat_normalize(T_world_tool.rotation);
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		thing->pose = thing->goal;
		memset(thing->context, 0, sizeof *thing->context);
		memset(thing->round_context, 0, sizeof *thing->round_context);
	}
	if (sco->def.mover == TAC_SCO_REACTIVE)
		tac_sco_reactive_reset(sco);
	if (has_check(sco) && check(sco) != TAC_CONTACT_NONE)
		return false;
	if (sco->def.mover == TAC_SCO_CONTINUOUS &&
	    !(tac_sco_distance(sco, 2 * TAC_SCO_CLOSEST) > TAC_SCO_CLOSEST))
		return false;
	sco->fault = 0;
	return true;
}

static void keep_device(tac_sco *sco, tac_dpose device)
{
	device.rotation = tac_dquat_normalize(device.rotation);
	sco->tick = (tac_sco_tick){.device = device};
	sco->tick.slew = sco->def.slew_m;
	if (sco->has_last_device) {
		tac_sco_twist way = {
			tac_dvec3_sub(device.position, sco->last_device.position),
			tac_dquat_log(tac_dquat_mul(device.rotation,
						    tac_dquat_conjugate(sco->last_device.rotation)))};
		sco->tick.slew += 2 * tac_sco_reach(sco, way);
	}
	sco->last_device = device;
	sco->has_last_device = true;
	sco->last_turn = tac_sco_twist_between(sco, sco->pose, device).w;
	if (is_ball(&sco->def))
		sco->pose.rotation = device.rotation;
}

// Moves, checks, and takes everything back when the check fails.
static void advance(tac_sco *sco)
{
	tac_dpose before = sco->pose;
	for (int32_t i = 0; i < sco->def.object_count; i++)
		sco->things[i].before = sco->things[i].pose;
	if (sco->def.mover == TAC_SCO_REACTIVE)
		tac_sco_move_reactive(sco);
	else
		tac_sco_move_continuous(sco);
	// A hand moves on as it moved; twice as fast costs one more piece, half as fast is let go by halves.
	double next = fmax(TRUST_MORE * sco->tick.way, 0.5 * sco->trust);
	sco->trust = fmin(fmax(next, sco->def.trust_min_m), sco->def.trust_max_m);
	if (sco->known > 0)
		tac_sco_report_contacts(sco);
	if (sco->def.mover == TAC_SCO_REACTIVE || !has_check(sco))
		return;
	tac_contact answer = check(sco);
	if (answer == TAC_CONTACT_NONE)
		return;
	sco->fault =
		TAC_SCO_FAULT | TAC_SCO_CHECK_HIT | (answer == TAC_CONTACT_UNKNOWN ? TAC_SCO_UNKNOWN : 0);
	sco->pose = before;
	sco->known = -1;
	for (int32_t i = 0; i < sco->def.object_count; i++)
		sco->things[i].pose = sco->things[i].before;
	sco->report->contact_count = 0;
}

// All but the contacts: they are most of it, and those that count are written whole.
static void clear(tac_sco_report *r)
{
	r->T_world_sco = tac_dpose_identity();
	r->flags = 0;
	r->contact_count = 0;
	r->distance_m = HUGE_VAL;
	r->pieces = r->gathers = r->certificates = r->qps = r->queries = r->sweeps = r->injected = 0;
	r->pairs = 0;
}

void tac_sco_step(tac_sco *sco, tac_dpose T_world_device, const tac_dpose *T_world_objects,
		  tac_sco_report *out_report)
{
	TAC_ASSERT(sco && out_report);
	clear(out_report);
	sco->report = out_report;
	if (!tac_dpose_finite(T_world_device) || !take_goals(sco, T_world_objects)) {
		out_report->flags = TAC_SCO_REFUSED;
	} else if (!sco->fault) {
		keep_device(sco, T_world_device);
		advance(sco);
		out_report->distance_m = sco->distance;
	}
	out_report->flags |= sco->fault;
	out_report->T_world_sco = sco->pose;
	sco->report = NULL;
}

tac_dpose tac_sco_pose(const tac_sco *sco)
{
	TAC_ASSERT(sco);
	return sco->pose;
}

tac_dpose tac_sco_object_pose(const tac_sco *sco, int32_t object)
{
	TAC_ASSERT(sco && object >= 0 && object < sco->def.object_count);
	return sco->things[object].pose;
}
