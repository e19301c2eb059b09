#include "haptic/servo_private.h"

#include "rt/clock.h"

#include <math.h>
#include <string.h>

#define NODES_MAX 1024
#define COST_NS   50000 // an extra that took longer visits half as many nodes next time
#define CHEAP_NS  10000 // one that took less, and had more to visit, twice as many
#define REACH_M   0.02  // how far proximity is looked for

static tac_motion motion_of(tac_dpose T)
{
	const tac_pose t = tac_pose_from_dpose(T);
	return (tac_motion){tac_mat3_from_quat(t.rotation), t.position};
}

// Which surfaces the device's own pose is in: what the user pushes at, of which the contacts are only what
// holds the tool. As far as its nodes last. False: there was more.
static bool find_surfaces(tac_servo *s)
{
	const tac_world *world = s->def.world;
	const int32_t capacity = (int32_t)(sizeof s->now.surfaces / sizeof *s->now.surfaces);
	int64_t nodes = s->extra_nodes[TAC_SERVO_SURFACES];
	for (int32_t i = 0; i < world->scene->object_count && nodes > 0; i++) {
		const tac_motion motion =
			motion_of(tac_dpose_relative(s->T_world_objects[i], s->T_world_device));
		tac_collider_query(world->collider, s->context, world->tools[s->def.tool].shape,
				   world->objects[i].shape, &motion, TAC_QUERY_SURFACES,
				   (tac_budget){.nodes = nodes});
		nodes = s->context->pending ? 0 : nodes - s->context->counters.nodes;
		for (int64_t k = 0; k < s->context->pair_count && s->now.surface_count < capacity; k++) {
			const int32_t at = s->now.surface_count++;
			s->now.surfaces[at].object = i;
			s->now.surfaces[at].tool_surface = s->context->moving_ids[k];
			s->now.surfaces[at].object_surface = s->context->fixed_ids[k];
		}
	}
	return nodes > 0;
}

// How far the tool is from everything. One object after the other, each over as many ticks as it takes; what
// was found holds for the pose at which the search began, so the tool's motion since is taken off. False:
// there is more to do.
static bool find_proximity(tac_servo *s)
{
	const tac_world *world = s->def.world;
	const int32_t objects = world->scene->object_count;
	const tac_budget budget = {.nodes = s->extra_nodes[TAC_SERVO_PROXIMITY]};
	if (objects == 0)
		return true;
	tac_context *context = s->near_context;
	const int32_t i = s->near_object;
	if (context->pending) {
		tac_distance_nearest_resume(context, budget, &s->nearest);
	} else {
		s->T_object_tool = tac_dpose_relative(s->T_world_objects[i], s->report.T_world_sco);
		const tac_motion motion = motion_of(s->T_object_tool);
		tac_distance_nearest(context, world->tools[s->def.tool].shape, world->objects[i].shape,
				     &motion, REACH_M, budget, &s->nearest);
	}
	if (context->pending)
		return false;
	const tac_dpose now = tac_dpose_relative(s->T_world_objects[i], s->report.T_world_sco);
	const double moved = tac_dvec3_length(tac_dvec3_sub(now.position, s->T_object_tool.position)) +
			     world->tools[s->def.tool].body->radius *
				     tac_dquat_angle(tac_dquat_mul(
					     now.rotation, tac_dquat_conjugate(s->T_object_tool.rotation)));
	s->near_m[i] = fmax(s->nearest.lower_bound - moved, 0);
	s->near_object = (i + 1) % objects;
	s->now.proximity_m = HUGE_VAL;
	for (int32_t k = 0; k < objects; k++)
		s->now.proximity_m = fmin(s->now.proximity_m, s->near_m[k]);
	return true;
}

// Runs one extra, or leaves it out.
static void run(tac_servo *s, tac_servo_extra extra, bool leave_out, int64_t *clock_ns)
{
	int64_t *cost_ns = &s->extra_cost_ns[extra], *nodes = &s->extra_nodes[extra];
	if (leave_out) {
		s->now.dropped |= 1u << extra;
		s->now.dropped_ticks[extra]++;
		*cost_ns -= *cost_ns / 128; // so that it is tried again some time
		return;
	}
	const bool all = extra == TAC_SERVO_SURFACES ? find_surfaces(s) : find_proximity(s);
	if (!clock_ns)
		return;
	const int64_t end_ns = tac_clock_now_ns(), took_ns = end_ns - *clock_ns;
	*clock_ns = end_ns;
	*cost_ns = took_ns > *cost_ns ? took_ns : *cost_ns - (*cost_ns - took_ns) / 16;
	if (took_ns > COST_NS)
		*nodes = *nodes > 1 ? *nodes / 2 : 1;
	else if (took_ns < CHEAP_NS && !all && *nodes < NODES_MAX)
		*nodes *= 2;
}

void tac_servo_extras(tac_servo *servo, tac_tick *tick)
{
	tac_servo *s = servo;
	const bool clock = tick && s->def.budget_ns > 0;
	const bool touches = s->report.contact_count > 0;
	s->now.dropped = 0;
	s->now.surface_count = 0;
	int64_t clock_ns = clock ? tac_clock_now_ns() : 0;
	const int64_t left_ns = clock ? s->def.budget_ns - (clock_ns - tick->wake_ns) : INT64_MAX;
	const int64_t surfaces_ns = touches ? s->extra_cost_ns[TAC_SERVO_SURFACES] : 0;
	const int64_t proximity_ns = s->extra_cost_ns[TAC_SERVO_PROXIMITY];
	// Where not both fit, proximity is left out, and only then the surfaces.
	if (touches)
		run(s, TAC_SERVO_SURFACES, left_ns < surfaces_ns, clock ? &clock_ns : NULL);
	// One engine alone knows distances.
	if (strcmp(s->def.world->collider->name, "wide") == 0)
		run(s, TAC_SERVO_PROXIMITY, left_ns < surfaces_ns + proximity_ns, clock ? &clock_ns : NULL);
}
