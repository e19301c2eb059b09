#include "haptic/mover/mover.h"

#include "base/assert.h"
#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tac_sco_def tac_sco_def_default(void)
{
	return (tac_sco_def){
		.mover = TAC_SCO_CONTINUOUS,
		.metric_m = 0.0316227766016838,
		.hold_gap_m = 1e-5,
		.trust_min_m = 1e-4,
		.trust_max_m = 2e-3,
		.turn_max_rad = 0.03,
		.period_s = 1e-3,
		.slew_m_per_s = 0.5,
		.stop_length_m = 5e-5,
		.substeps = 16,
		.contact_queries = 32,
		.certificates = 28,
		.qp_solves = 96,
		.work_units = 280,
		.collider_queries = 32,
	};
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
		if (!tac_dpose_finite(o->T_world_object))
			return "finite poses of the objects";
		if (def->passable && def->passable[i])
			continue;
		if (o->field && (reactive || o->shape))
			return "the continuous mover, and no shape, for an object that is drilled";
		if (o->field && !def->burr && def->tool)
			return "a round tool, or one with a burr, where an object is drilled";
		if (!o->field && (reactive ? !o->shape : !o->body))
			return reactive ? "a shape for every object" : "a body for every object";
		if (def->collider && o->shape && o->shape->collider != def->collider)
			return "objects' shapes that the def's collider built";
	}
	if (!positive(def->metric_m) || !positive(def->hold_gap_m) || !positive(def->trust_min_m) ||
	    !positive(def->trust_max_m) || !positive(def->turn_max_rad) || !positive(def->stop_length_m) ||
	    !positive(def->period_s))
		return "lengths and a period above 0";
	if (def->turn_max_rad > 1 || def->trust_max_m < def->trust_min_m || !(def->slew_m_per_s >= 0))
		return "turn_max_rad up to 1, trust_min_m <= trust_max_m, slew_m_per_s >= 0";
	if (def->substeps < 1 || def->contact_queries < 1 || def->certificates < 1 || def->qp_solves < 1 ||
	    def->work_units < 1 || (def->sparse_triangles > 0 && def->sparse_work_units < 1) ||
	    def->collider_queries < 1 || def->collider_nodes < 0)
		return "limits of 1 or more";
	return NULL;
}

// Of a body, and of the simplified one with its tolerance.
static double body_radius(const tac_body *body, const tac_body *detail)
{
	const double radius = tac_body_radius(body);
	return detail ? fmax(radius, tac_body_radius(detail) + tac_body_detail(detail)) : radius;
}

// A sphere about the reference point has no orientation.
static bool is_ball(const tac_burr *b)
{
	return b->kind == TAC_BURR_ROUND && tac_dvec3_length_squared(b->a) == 0 &&
	       tac_dvec3_length_squared(b->b) == 0;
}

static void measure_tool(tac_sco *sco)
{
	const tac_sco_def *def = &sco->def;
	const tac_burr round = {TAC_BURR_ROUND, def->round.a, def->round.b, def->round.radius};
	const bool is_round = !def->tool && def->mover == TAC_SCO_CONTINUOUS;
	sco->is_ball = is_round && is_ball(&round) && (!def->burr || is_ball(def->burr));
	sco->radius_m = is_round    ? tac_burr_reach(&round)
			: def->tool ? body_radius(def->tool, def->tool_detail)
				    : tac_mesh_radius(def->tool_shape->mesh);
	if (def->burr)
		sco->radius_m = fmax(sco->radius_m, tac_burr_reach(def->burr));
}

static tac_result create_members(tac_sco *sco, const tac_sco_def *def)
{
	sco->def = *def;
	sco->drilled = -1;
	sco->fault_flags = TAC_SCO_FAULT;
	sco->pose = tac_dpose_identity();
	sco->geometry = def->mover == TAC_SCO_REACTIVE ? &tac_sco_geometry_reactive
			: def->tool                    ? &tac_sco_geometry_mesh
						       : &tac_sco_geometry_round;
	measure_tool(sco);
	sco->def.fixed_rotation |= sco->is_ball; // the step gives it the device's orientation
	sco->obstacles = calloc((size_t)def->object_count + 1, sizeof *sco->obstacles);
	if (!sco->obstacles)
		return TAC_ERROR_MEMORY;
	sco->obstacles_end = sco->obstacles + def->object_count;
	for (int32_t i = 0; i < def->object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		const tac_sco_object *object = &def->objects[i];
		obstacle->pose = obstacle->goal = object->T_world_object;
		obstacle->contacts = &obstacle->lists[0];
		obstacle->spare = &obstacle->lists[1];
		obstacle->hidden = def->passable && def->passable[i];
		if (obstacle->hidden)
			continue;
		const tac_sco_geometry *geometry = object->field ? &tac_sco_geometry_field : sco->geometry;
		obstacle->geometry = geometry;
		if (object->field && sco->drilled < 0)
			sco->drilled = i;
		obstacle->shape = def->collider && def->tool_shape ? object->shape : NULL;
		obstacle->ask_within_m = HUGE_VAL;
		if (obstacle->shape && def->collider->node_ns != 0) // other engines are always asked
			obstacle->ask_within_m = SCO_SPHERE_SLACK * (tac_mesh_radius(def->tool_shape->mesh) +
								     tac_mesh_radius(object->shape->mesh));
		obstacle->radius_m =
			object->field || !object->body ? HUGE_VAL : body_radius(object->body, object->detail);
		obstacle->triangles = object->body ? tac_body_mesh(object->body)->triangle_count : 0;
		obstacle->memory = calloc(1, geometry->memory_size);
		if (!obstacle->memory ||
		    (geometry->create && geometry->create(obstacle->memory, def, object) != TAC_OK))
			return TAC_ERROR_MEMORY;
	}
	const tac_context_def context = tac_context_def_default();
	return def->collider ? tac_context_create(&context, &sco->context) : TAC_OK;
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
	const tac_result result = sco ? create_members(sco, def) : TAC_ERROR_MEMORY;
	if (result != TAC_OK) {
		tac_log(TAC_LOG_ERROR, "sco: no memory for %d objects", (int)def->object_count);
		tac_sco_destroy(&sco);
		return result;
	}
	sco->def.objects = NULL; // the obstacles hold copies
	sco->def.burr = NULL;
	sco->def.passable = NULL;
	*out_sco = sco;
	return TAC_OK;
}

void tac_sco_destroy(tac_sco **sco)
{
	TAC_ASSERT(sco);
	if (!*sco)
		return;
	for (tac_sco_obstacle *o = (*sco)->obstacles; o < (*sco)->obstacles_end; o++) {
		if (o->memory && o->geometry->destroy)
			o->geometry->destroy(o->memory);
		free(o->memory);
	}
	tac_context_destroy(&(*sco)->context);
	free((*sco)->obstacles);
	free(*sco);
	*sco = NULL;
}

// --- the step ---

// The work of a step, or of a reset; `nodes` of the collider at 1 kHz or less, unless the def has a limit.
static tac_sco_work begin_work(const tac_sco_def *def, int64_t units, double nodes)
{
	nodes *= fmin(1, def->period_s / SCO_USUAL_PERIOD_S);
	return (tac_sco_work){
		.limit = units,
		.nodes_left = def->collider_nodes > 0 ? def->collider_nodes : (int64_t)nodes,
		.most = {[SCO_CONTACT_QUERY] = def->contact_queries,
			 [SCO_CERTIFICATE] = def->certificates,
			 [SCO_QP_SOLVE] = def->qp_solves,
			 [SCO_SWEEP] = 2 * def->substeps,
			 [SCO_COLLIDER_QUERY] = def->collider_queries},
	};
}

// Asks the collider whether the SCO is free at its pose, or goes on with a check that is unfinished for lack
// of nodes. With `goes_on`, an object that the last check found free at the same relative pose is not asked
// about again. Otherwise a new check asks about all, also where nothing has moved: an engine may be lost.
static tac_overlap check(tac_sco *sco, bool goes_on)
{
	tac_overlap answer = TAC_OVERLAP_NONE;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++) {
		if (!o->shape || o->hidden)
			continue;
		const tac_dpose T = tac_dpose_relative(o->pose, sco->pose);
		if (!sco->check_unfinished) {
			o->was_free = goes_on && o->was_free && memcmp(&o->checked_at, &T, sizeof T) == 0;
			o->checked_at = T;
		}
		if (o->was_free || answer != TAC_OVERLAP_NONE)
			continue;
		answer = tac_sco_collide(sco, o, o->checked_at, TAC_QUERY_FIRST);
		o->was_free = answer == TAC_OVERLAP_NONE;
	}
	sco->check_unfinished = answer == TAC_OVERLAP_UNKNOWN && sco->tick.work.nodes_left <= 0;
	return answer;
}

// False, with nothing set, if a pose is not finite.
static bool set_goals(tac_sco *sco, const tac_dpose *T_world_objects)
{
	for (int32_t i = 0; T_world_objects && i < sco->def.object_count; i++) {
		if (!tac_dpose_finite(T_world_objects[i]))
			return false;
	}
	for (int32_t i = 0; T_world_objects && i < sco->def.object_count; i++) {
		tac_sco_obstacle *o = &sco->obstacles[i];
		o->goal = tac_dpose_normalize(T_world_objects[i]);
		o->pose = o->hidden ? o->goal : o->pose;
	}
	return true;
}

// Nothing that was listed, proved or checked before counts any more.
static void forget_lists(tac_sco *sco)
{
	sco->listed.margin_m = -1;
	sco->lists_version++;
	sco->check_unfinished = false; // its poses are those before
	sco->attempt.unfinished = false;
}

// Puts an obstacle at its goal and forgets its contacts.
static void begin_obstacle(tac_sco_obstacle *obstacle)
{
	obstacle->pose = obstacle->goal;
	obstacle->contacts->count = 0;
	if (obstacle->geometry)
		obstacle->geometry->reset(obstacle->memory);
}

// The distance to an obstacle at a pose of its own, up to `reach`; 0 if it is not known.
static double distance_of(tac_sco *sco, tac_sco_obstacle *o, tac_dpose T_world_object, double reach)
{
	tac_sco_work *work = &sco->tick.work;
	o->geometry->list(o->memory, tac_dpose_relative(T_world_object, sco->pose), reach, work, o->spare);
	return tac_sco_work_overdrawn(work) ? 0 : fmin(reach, o->spare->distance);
}

bool tac_sco_reset(tac_sco *sco, tac_dpose T_world_tool, const tac_dpose *T_world_objects)
{
	TAC_ASSERT(sco);
	const bool goes_on = sco->reset_unfinished;
	sco->fault_flags = TAC_SCO_FAULT;
	sco->reset_unfinished = false;
	forget_lists(sco);
	sco->has_last_device = false;
	sco->last_turn = tac_dvec3_zero();
	sco->adapted = (tac_sco_adapted){.trust_m = sco->def.trust_min_m,
					 .trust_cap_m = sco->def.trust_max_m,
					 .pace_m = HUGE_VAL,
					 .flight_share = SCO_MAX_FLIGHT_SHARE};
	sco->near_contact = false;
	sco->listed.distance_m = HUGE_VAL;
	sco->bearing_count = 0;
	sco->trail_count = 0;
	if (!tac_dpose_finite(T_world_tool) || !set_goals(sco, T_world_objects))
		return false;
	sco->pose = tac_dpose_normalize(T_world_tool);
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		begin_obstacle(o);
	sco->tick.work = begin_work(&sco->def, SCO_WORK_MAX, SCO_RESET_NODES);
	if (check(sco, goes_on) != TAC_OVERLAP_NONE) {
		sco->reset_unfinished = sco->check_unfinished;
		return false;
	}
	double distance = 2 * SCO_MIN_GAP_M;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end && distance > 0; o++) {
		if (!o->hidden && sco->def.mover == TAC_SCO_CONTINUOUS)
			distance = distance_of(sco, o, o->pose, distance);
	}
	if (distance <= SCO_MIN_GAP_M) {
		sco->reset_unfinished = sco->tick.work.spent;
		return false;
	}
	sco->fault_flags = 0;
	for (int i = 0; i < SCO_RESET_PARTS; i++) // the first step is no slower than the others
		tac_sco_prepare(sco);
	return true;
}

bool tac_sco_reset_unfinished(const tac_sco *sco)
{
	return sco->reset_unfinished;
}

// --- hidden objects ---

void tac_sco_hide(tac_sco *sco, int32_t object)
{
	TAC_ASSERT(sco && object >= 0 && object < sco->def.object_count);
	sco->obstacles[object].hidden = true;
	begin_obstacle(&sco->obstacles[object]);
	forget_lists(sco);
}

void tac_sco_show(tac_sco *sco, int32_t object, tac_dpose T_world_object)
{
	TAC_ASSERT(sco && object >= 0 && object < sco->def.object_count);
	tac_sco_obstacle *obstacle = &sco->obstacles[object];
	obstacle->hidden = !obstacle->geometry;
	obstacle->goal = tac_dpose_normalize(T_world_object);
	begin_obstacle(obstacle);
	forget_lists(sco);
}

double tac_sco_clearance(tac_sco *sco, int32_t object, tac_dpose T_world_object, double reach_m)
{
	TAC_ASSERT(sco && object >= 0 && object < sco->def.object_count && reach_m > SCO_MIN_GAP_M);
	tac_sco_obstacle *obstacle = &sco->obstacles[object];
	sco->tick.work = begin_work(&sco->def, SCO_WORK_MAX, SCO_RESET_NODES);
	if (!tac_dpose_finite(T_world_object))
		return 0;
	if (!obstacle->geometry)
		return reach_m;
	if (obstacle->shape && tac_sco_collide(sco, obstacle, tac_dpose_relative(T_world_object, sco->pose),
					       TAC_QUERY_FIRST) != TAC_OVERLAP_NONE)
		return 0;
	if (sco->def.mover == TAC_SCO_REACTIVE)
		return SCO_MIN_GAP_M; // all that a static query proves
	const double distance = distance_of(sco, obstacle, T_world_object, reach_m);
	return distance > SCO_MIN_GAP_M ? distance : 0;
}

static void begin_tick(tac_sco *sco, tac_dpose device)
{
	device = tac_dpose_normalize(device);
	sco->tick.device = device;
	const bool is_sparse =
		sco->def.sparse_triangles > 0 && tac_sco_near_triangles(sco) < sco->def.sparse_triangles;
	sco->tick.usual_units = is_sparse ? sco->def.sparse_work_units : sco->def.work_units;
	sco->tick.work = sco->def.mover == TAC_SCO_REACTIVE
				 ? begin_work(&sco->def, SCO_WORK_MAX, SCO_REACTIVE_NODES)
				 : begin_work(&sco->def, tac_sco_step_units(sco), SCO_CHECK_NODES);
	double slew = sco->def.slew_m_per_s * sco->def.period_s;
	double travel = HUGE_VAL; // of the device
	if (sco->has_last_device) {
		travel = tac_dtwist_travel(tac_dtwist_between(sco->last_device, device), sco->radius_m);
		slew += SCO_SLEW_DEVICE_FACTOR * travel;
		tac_sco_observe_device(sco, travel);
	}
	if (!is_sparse || !sco->def.tool)
		slew = fmin(slew, sco->adapted.pace_m);
	// A def without a slew limit has no pace, either: where a contact vanishes the tool snaps.
	sco->tick.slew_limit_m = sco->def.slew_m_per_s > 0 ? slew : HUGE_VAL;
	// A device that stands still makes no noise: the longer it does, the less a turn beyond pi is kept.
	if (travel > 0)
		sco->turn_hysteresis_rad = SCO_TURN_HYSTERESIS_RAD;
	else
		sco->turn_hysteresis_rad *=
			SCO_TURN_HYSTERESIS_TIME_S / (SCO_TURN_HYSTERESIS_TIME_S + sco->def.period_s);
	sco->last_device = device;
	sco->has_last_device = true;
	sco->last_turn = tac_sco_to_device(sco, sco->pose).w;
	if (sco->is_ball)
		sco->pose.rotation = device.rotation;
	if (!sco->check_unfinished)
		sco->check_before = sco->pose;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++) {
		if (!sco->check_unfinished)
			o->check_before = o->pose;
		if (!o->hidden && o->geometry->changed && o->geometry->changed(o->memory))
			sco->listed.margin_m = -1;
	}
	tac_sco_note_trail(sco);
}

// Checks the pose at the end of a step. Without nodes this goes on in the next one, with the same pose; it is
// proved all the same. If it is not free, all poses become those before the step that it was reached in.
static void check_and_restore(tac_sco *sco, tac_sco_report *out_report)
{
	const tac_overlap answer = check(sco, false);
	if (answer == TAC_OVERLAP_NONE || sco->check_unfinished)
		return;
	sco->fault_flags =
		TAC_SCO_FAULT | TAC_SCO_CHECK_HIT | (answer == TAC_OVERLAP_UNKNOWN ? TAC_SCO_UNKNOWN : 0);
	sco->pose = sco->check_before;
	sco->trail_count = 0;
	sco->listed.margin_m = -1;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		o->pose = o->check_before;
	out_report->contact_count = 0;
}

// Writes all but the contacts and the distance.
static void write_report(const tac_sco *sco, tac_sco_report *r)
{
	const tac_sco_tick *tick = &sco->tick;
	r->T_world_sco = sco->pose;
	r->flags = tick->flags | sco->fault_flags | (tick->work.spent ? TAC_SCO_BUDGET_SPENT : 0);
	r->outcome = tick->outcome;
	r->refused = tick->refused;
	r->substeps = tick->work.count[SCO_SUBSTEP];
	r->contact_queries = tick->work.count[SCO_CONTACT_QUERY];
	r->certificates = tick->work.count[SCO_CERTIFICATE];
	r->qp_solves = tick->work.count[SCO_QP_SOLVE];
	r->collider_queries = tick->work.count[SCO_COLLIDER_QUERY];
	r->sweeps = tick->work.count[SCO_SWEEP];
	r->injections = tick->injections;
	r->work_units = tick->work.units;
}

void tac_sco_step(tac_sco *sco, tac_dpose T_world_device, const tac_dpose *T_world_objects,
		  tac_sco_report *out_report)
{
	TAC_ASSERT(sco && out_report);
	out_report->contact_count = 0;
	out_report->distance_m = HUGE_VAL;
	sco->tick = (tac_sco_tick){0};
	sco->trail_count = 0;
	if (!tac_dpose_finite(T_world_device) || !set_goals(sco, T_world_objects)) {
		sco->tick.flags = TAC_SCO_REFUSED;
	} else if (!sco->fault_flags) {
		begin_tick(sco, T_world_device);
		tac_sco_make_substeps(sco);
		// A step with nothing in reach needs no list; the SCO may rest on a surface all the same.
		if (sco->listed.margin_m <= 0 &&
		    sco->listed.distance_m <= SCO_LIST_GAPS * sco->def.hold_gap_m)
			tac_sco_list_contacts(sco, tac_sco_list_margin(sco));
		if (sco->listed.margin_m > 0)
			tac_sco_report_contacts(sco, out_report);
		if (sco->def.mover == TAC_SCO_CONTINUOUS)
			check_and_restore(sco, out_report);
		out_report->distance_m = sco->listed.distance_m;
	}
	write_report(sco, out_report);
}

const char *tac_sco_outcome_name(tac_sco_outcome outcome)
{
	static const char *const names[TAC_SCO_OUTCOME_COUNT] = {
		"none",      "moved",        "injected",     "objects stopped", "unproved",
		"too close", "end unlisted", "roll stopped", "arrived",         "slew spent",
		"list ends", "converged",    "no list",      "no solution",     "no proof"};
	return outcome >= 0 && outcome < TAC_SCO_OUTCOME_COUNT ? names[outcome] : "unknown outcome";
}

int32_t tac_sco_trail(const tac_sco *sco, const tac_dpose **out_poses)
{
	TAC_ASSERT(sco && out_poses);
	*out_poses = sco->trail;
	return sco->trail_count;
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
