#include "haptic/mover/mover.h"

#include "base/assert.h"
#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

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
		.substeps = 16,
		.contact_queries = 32,
		.certificates = 28,
		.qp_solves = 96,
		.work_units = 540,
		.collider_queries = 32,
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
	if (angle > PI - 0.5 * SCO_TURN_HYSTERESIS_RAD && tac_dvec3_dot(t.w, sco->last_turn) < 0)
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

double tac_sco_max_travel(const tac_sco *sco, tac_sco_twist t)
{
	return tac_dvec3_length(t.v) + tac_dvec3_length(t.w) * sco->radius_m;
}

double tac_sco_energy(const tac_sco *sco, tac_dpose from, tac_dpose to)
{
	tac_sco_twist t = tac_sco_twist_between(sco, from, to);
	double rho = sco->def.metric_m;
	return tac_dvec3_dot(t.v, t.v) + rho * rho * tac_dvec3_dot(t.w, t.w);
}

void tac_sco_widen_trust(tac_sco *sco)
{
	sco->trust_m = fmin(SCO_TRUST_WIDENING * sco->trust_m, sco->def.trust_max_m);
}

tac_sco_twist tac_sco_remaining_motion(const tac_sco_obstacle *obstacle)
{
	tac_dquat a = obstacle->pose.rotation, b = obstacle->goal.rotation;
	tac_sco_twist t = {tac_dvec3_sub(obstacle->goal.position, obstacle->pose.position), {0, 0, 0}};
	if (a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w)
		t.w = tac_dquat_log(tac_dquat_mul(b, tac_dquat_conjugate(a)));
	return t;
}

bool tac_sco_any_obstacle_moves(const tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		if (sco->obstacles[i].moves)
			return true;
	}
	return false;
}

tac_sco_relative tac_sco_relative_motion(const tac_sco *sco, const tac_sco_obstacle *obstacle,
					 tac_sco_twist t)
{
	tac_sco_relative r;
	r.start = tac_dpose_relative(obstacle->pose, sco->pose);
	if (!obstacle->moves) {
		tac_dquat R_object_world = tac_dquat_conjugate(obstacle->pose.rotation);
		r.twist.v = tac_dquat_rotate(R_object_world, t.v);
		r.twist.w = tac_dquat_rotate(R_object_world, t.w);
		return r;
	}
	tac_dpose end = tac_dpose_relative(tac_sco_pose_after(obstacle->pose, obstacle->twist, 1),
					   tac_sco_pose_after(sco->pose, t, 1));
	r.twist.v = tac_dvec3_sub(end.position, r.start.position);
	r.twist.w = tac_dquat_log(tac_dquat_mul(end.rotation, tac_dquat_conjugate(r.start.rotation)));
	return r;
}

tac_dpose tac_sco_obstacle_pose_after(const tac_sco *sco, const tac_sco_obstacle *obstacle, tac_sco_twist t,
				      double s)
{
	if (!obstacle->moves)
		return obstacle->pose;
	tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, t);
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

// What was expected of the def where it is invalid; NULL if it is valid.
static const char *expectation_not_met(const tac_sco_def *def)
{
	bool reactive = def->mover == TAC_SCO_REACTIVE;
	if (def->object_count < 0 || (def->object_count > 0 && !def->objects))
		return "an array of object_count objects";
	if (reactive && (!def->collider || !def->tool_shape))
		return "a collider and the tool's shape for the reactive mover";
	if (!reactive && !def->tool &&
	    (!positive(def->round.radius) || !tac_dvec3_finite(def->round.a) ||
	     !tac_dvec3_finite(def->round.b)))
		return "a tool: a body, or a round one with a radius above 0";
	if (def->collider && def->tool_shape && def->tool_shape->collider != def->collider)
		return "a tool_shape that the def's collider built";
	for (int32_t i = 0; i < def->object_count; i++) {
		const tac_sco_object *o = &def->objects[i];
		if (reactive ? !o->shape : !o->body)
			return reactive ? "a shape for every object" : "a body for every object";
		if (def->collider && o->shape && o->shape->collider != def->collider)
			return "objects' shapes that the def's collider built";
		if (!tac_dpose_finite(o->T_world_object))
			return "finite poses of the objects";
	}
	if (!positive(def->metric_m) || !positive(def->hold_gap_m) || !positive(def->trust_min_m) ||
	    !positive(def->trust_max_m) || !positive(def->turn_max_rad) || !positive(def->stop_length_m))
		return "lengths above 0";
	if (def->turn_max_rad > 1 || def->trust_max_m < def->trust_min_m || !(def->slew_m >= 0))
		return "turn_max_rad up to 1, trust_min_m <= trust_max_m, slew_m >= 0";
	if (def->substeps < 1 || def->contact_queries < 1 || def->certificates < 1 || def->qp_solves < 1 ||
	    def->work_units < 1 || def->collider_queries < 1)
		return "limits of 1 or more";
	return NULL;
}

static double radius_of(const tac_sco_def *def)
{
	if (def->tool)
		return tac_body_radius(def->tool);
	if (def->mover == TAC_SCO_CONTINUOUS)
		return fmax(tac_dvec3_length(def->round.a), tac_dvec3_length(def->round.b)) +
		       def->round.radius;
	const tac_mesh *mesh = def->tool_shape->mesh;
	double most = 0;
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		most = fmax(most, tac_dvec3_length(tac_dvec3_from_vec3(mesh->vertices[i])));
	return most;
}

// A sphere about the reference point has no orientation.
static bool is_ball(const tac_sco_def *def)
{
	return !def->tool && def->mover == TAC_SCO_CONTINUOUS &&
	       tac_dvec3_length_squared(def->round.a) == 0 && tac_dvec3_length_squared(def->round.b) == 0;
}

static tac_result create_obstacles(tac_sco *sco)
{
	const tac_sco_def *def = &sco->def;
	sco->obstacles = calloc((size_t)def->object_count + 1, sizeof *sco->obstacles);
	if (!sco->obstacles)
		return TAC_ERROR_MEMORY;
	for (int32_t i = 0; i < def->object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		obstacle->body = def->objects[i].body;
		obstacle->shape = def->objects[i].shape;
		obstacle->pose = obstacle->goal = def->objects[i].T_world_object;
		obstacle->contacts = calloc(1, sizeof *obstacle->contacts);
		obstacle->spare = calloc(1, sizeof *obstacle->spare);
		if (!obstacle->contacts || !obstacle->spare ||
		    tac_sweep_context_create(&obstacle->context) != TAC_OK ||
		    tac_round_context_create(&obstacle->round_context) != TAC_OK)
			return TAC_ERROR_MEMORY;
	}
	return TAC_OK;
}

static tac_result create_members(tac_sco *sco)
{
	tac_result result = create_obstacles(sco);
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
	const char *expected = expectation_not_met(def);
	if (expected) {
		tac_log(TAC_LOG_ERROR, "sco: expected %s", expected);
		return TAC_ERROR_ARGUMENT;
	}
	tac_sco *sco = calloc(1, sizeof *sco);
	if (!sco)
		return TAC_ERROR_MEMORY;
	sco->def = *def;
	if (is_ball(def))
		sco->def.fixed_rotation = true; // the step gives it the device's orientation
	sco->fault_flags = TAC_SCO_FAULT;
	sco->radius_m = radius_of(def);
	sco->pose = tac_dpose_identity();
	tac_result result = create_members(sco);
	if (result != TAC_OK) {
		tac_log(TAC_LOG_ERROR, "sco: no memory for %d objects", (int)def->object_count);
		tac_sco_destroy(&sco);
		return result;
	}
	sco->def.objects = NULL; // the obstacles hold copies
	*out_sco = sco;
	return TAC_OK;
}

void tac_sco_destroy(tac_sco **sco)
{
	TAC_ASSERT(sco);
	if (!*sco)
		return;
	for (int32_t i = 0; (*sco)->obstacles && i < (*sco)->def.object_count; i++) {
		tac_sco_obstacle *obstacle = &(*sco)->obstacles[i];
		free(obstacle->contacts);
		free(obstacle->spare);
		tac_sweep_context_destroy(&obstacle->context);
		tac_round_context_destroy(&obstacle->round_context);
	}
	tac_sco_reactive_destroy(*sco);
	tac_context_destroy(&(*sco)->context);
	free((*sco)->obstacles);
	free(*sco);
	*sco = NULL;
}

// --- the step ---

// Queries the collider at the SCO's pose.
static tac_overlap check(tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		if (!obstacle->shape)
			continue;
		tac_rigid motion = tac_rigid_from_dpose(tac_dpose_relative(obstacle->pose, sco->pose));
		tac_overlap answer =
			tac_collider_query(sco->def.collider, sco->context, sco->def.tool_shape,
					   obstacle->shape, &motion, TAC_QUERY_FIRST, (tac_budget){0, 0});
		if (answer != TAC_OVERLAP_NONE)
			return answer;
	}
	return TAC_OVERLAP_NONE;
}

static bool has_check(const tac_sco *sco)
{
	return sco->def.collider && sco->def.tool_shape;
}

// False, with nothing set, if a pose is not finite.
static bool set_goals(tac_sco *sco, const tac_dpose *T_world_objects)
{
	for (int32_t i = 0; T_world_objects && i < sco->def.object_count; i++) {
		if (!tac_dpose_finite(T_world_objects[i]))
			return false;
	}
	for (int32_t i = 0; T_world_objects && i < sco->def.object_count; i++) {
		sco->obstacles[i].goal = T_world_objects[i];
		sco->obstacles[i].goal.rotation = tac_dquat_normalize(T_world_objects[i].rotation);
	}
	return true;
}

bool tac_sco_reset(tac_sco *sco, tac_dpose T_world_tool, const tac_dpose *T_world_objects)
{
	TAC_ASSERT(sco);
	sco->fault_flags = TAC_SCO_FAULT;
	sco->has_last_device = false;
	sco->last_turn = tac_dvec3_zero();
	sco->trust_m = fmin(fmax(SCO_TRUST_INITIAL_M, sco->def.trust_min_m), sco->def.trust_max_m);
	sco->trust_cap_m = sco->def.trust_max_m;
	sco->stride = 1;
	sco->max_flight_m = SCO_MAX_FLIGHT_M;
	sco->near_contact = false;
	sco->kept_injected = 0;
	sco->kept_bias_m = 0;
	sco->starved_steps = 0;
	sco->listed_margin_m = -1;
	sco->distance_m = HUGE_VAL;
	if (!tac_dpose_finite(T_world_tool) || !set_goals(sco, T_world_objects))
		return false;
	sco->pose = T_world_tool;
	sco->pose.rotation = tac_dquat_normalize(T_world_tool.rotation);
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		obstacle->pose = obstacle->goal;
		tac_sweep_context_reset(obstacle->context);
		tac_round_context_reset(obstacle->round_context);
	}
	if (sco->def.mover == TAC_SCO_REACTIVE)
		tac_sco_reactive_reset(sco);
	if (has_check(sco) && check(sco) != TAC_OVERLAP_NONE)
		return false;
	if (sco->def.mover == TAC_SCO_CONTINUOUS &&
	    !(tac_sco_distance(sco, 2 * SCO_MIN_GAP_M) > SCO_MIN_GAP_M))
		return false;
	sco->fault_flags = 0;
	return true;
}

static void begin_tick(tac_sco *sco, tac_dpose device)
{
	device.rotation = tac_dquat_normalize(device.rotation);
	sco->tick = (tac_sco_tick){.device = device};
	sco->tick.slew_limit_m = sco->def.slew_m;
	if (sco->has_last_device) {
		tac_sco_twist moved = {
			tac_dvec3_sub(device.position, sco->last_device.position),
			tac_dquat_log(tac_dquat_mul(device.rotation,
						    tac_dquat_conjugate(sco->last_device.rotation)))};
		sco->tick.slew_limit_m += SCO_SLEW_DEVICE_FACTOR * tac_sco_max_travel(sco, moved);
	}
	sco->last_device = device;
	sco->has_last_device = true;
	sco->last_turn = tac_sco_twist_between(sco, sco->pose, device).w;
	if (is_ball(&sco->def))
		sco->pose.rotation = device.rotation;
}

// Moves, checks, and restores all poses if the check fails.
static void advance(tac_sco *sco)
{
	tac_dpose before = sco->pose;
	for (int32_t i = 0; i < sco->def.object_count; i++)
		sco->obstacles[i].before = sco->obstacles[i].pose;
	if (sco->def.mover == TAC_SCO_REACTIVE)
		tac_sco_move_reactive(sco);
	else
		tac_sco_move_continuous(sco);
	double next = fmax(SCO_TRUST_GROWTH * sco->tick.travel_m, SCO_TRUST_DECAY * sco->trust_m);
	sco->trust_m = fmin(fmax(next, sco->def.trust_min_m), sco->def.trust_max_m);
	if (sco->listed_margin_m > 0)
		tac_sco_report_contacts(sco);
	if (sco->def.mover == TAC_SCO_REACTIVE || !has_check(sco))
		return;
	tac_overlap answer = check(sco);
	if (answer == TAC_OVERLAP_NONE)
		return;
	sco->fault_flags =
		TAC_SCO_FAULT | TAC_SCO_CHECK_HIT | (answer == TAC_OVERLAP_UNKNOWN ? TAC_SCO_UNKNOWN : 0);
	sco->pose = before;
	sco->listed_margin_m = -1;
	for (int32_t i = 0; i < sco->def.object_count; i++)
		sco->obstacles[i].pose = sco->obstacles[i].before;
	sco->report->contact_count = 0;
}

// Clears all but the contacts: they are most of the report, and contact_count is the number of valid ones.
static void clear_report(tac_sco_report *r)
{
	r->T_world_sco = tac_dpose_identity();
	r->flags = 0;
	r->contact_count = 0;
	r->distance_m = HUGE_VAL;
	r->substeps = r->contact_queries = r->certificates = r->qp_solves = r->collider_queries = r->sweeps =
		r->injections = 0;
	r->work_units = 0;
}

void tac_sco_step(tac_sco *sco, tac_dpose T_world_device, const tac_dpose *T_world_objects,
		  tac_sco_report *out_report)
{
	TAC_ASSERT(sco && out_report);
	clear_report(out_report);
	sco->report = out_report;
	if (!tac_dpose_finite(T_world_device) || !set_goals(sco, T_world_objects)) {
		out_report->flags = TAC_SCO_REFUSED;
	} else if (!sco->fault_flags) {
		begin_tick(sco, T_world_device);
		advance(sco);
		out_report->distance_m = sco->distance_m;
	}
	out_report->flags |= sco->fault_flags;
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
	return sco->obstacles[object].pose;
}
