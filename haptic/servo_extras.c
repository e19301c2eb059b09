#include "haptic/servo_private.h"

#include "collision/distance.h"
#include "rt/clock.h"

#include <math.h>
#include <string.h>

// Nodes that one extra may visit in a tick, over all objects: some 50 us. A node of the distance query has
// eight pairs of boxes or triangles to measure, and takes 5 us.
#define NODES      1000
#define NEAR_NODES 12
#define REACH_M    0.02 // how far proximity is looked for

// Which surfaces the device's own pose is in: what the user pushes at, of which the contacts are only what
// holds the tool.
static void find_surfaces(tac_servo *s)
{
	const tac_world *world = s->def.world;
	const int32_t capacity = (int32_t)(sizeof s->now.surfaces / sizeof *s->now.surfaces);
	int64_t nodes = NODES;
	s->now.surface_count = 0;
	for (int32_t i = 0; i < world->scene->object_count && nodes > 0; i++) {
		const tac_pose T =
			tac_pose_from_dpose(tac_dpose_relative(s->T_world_objects[i], s->T_world_device));
		const tac_motion motion = {tac_mat3_from_quat(T.rotation), T.position};
		const tac_contact answer = tac_collider_query(
			world->collider, s->context, world->tools[s->def.tool].shape, world->objects[i].shape,
			&motion, TAC_QUERY_SURFACES, (tac_budget){.nodes = nodes});
		nodes -= s->context->counters.nodes;
		if (answer == TAC_CONTACT_NONE)
			continue;
		for (int64_t k = 0; k < s->context->pair_count && s->now.surface_count < capacity; k++) {
			const int32_t at = s->now.surface_count++;
			s->now.surfaces[at].object = i;
			s->now.surfaces[at].tool_surface = s->context->moving_ids[k];
			s->now.surfaces[at].object_surface = s->context->fixed_ids[k];
		}
	}
}

// How far the tool is from everything, proved: the least of the lower bounds.
static void find_proximity(tac_servo *s)
{
	const tac_world *world = s->def.world;
	int64_t nodes = NEAR_NODES;
	s->now.proximity_m = HUGE_VAL;
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		const tac_pose T =
			tac_pose_from_dpose(tac_dpose_relative(s->T_world_objects[i], s->report.T_world_sco));
		const tac_motion motion = {tac_mat3_from_quat(T.rotation), T.position};
		tac_nearest nearest;
		if (nodes > 0)
			tac_distance_nearest(s->context, world->tools[s->def.tool].shape,
					     world->objects[i].shape, &motion, REACH_M,
					     (tac_budget){.nodes = nodes}, &nearest);
		else
			nearest.lower_bound = 0; // not looked at
		nodes -= s->context->counters.nodes;
		if (nearest.lower_bound < REACH_M)
			s->now.proximity_m = fmin(s->now.proximity_m, nearest.lower_bound);
	}
}

// Runs one extra, or leaves it out where `left_ns` is less than it took lately.
static void run(tac_servo *s, tac_servo_extra extra, bool leave_out, int64_t begin_ns, bool clock)
{
	int64_t *cost_ns = &s->extra_cost_ns[extra];
	if (leave_out) {
		s->now.dropped |= 1u << extra;
		s->now.dropped_ticks[extra]++;
		*cost_ns -= *cost_ns / 128; // so that it is tried again some time
		return;
	}
	if (extra == TAC_SERVO_SURFACES)
		find_surfaces(s);
	else
		find_proximity(s);
	if (clock) {
		const int64_t took_ns = tac_clock_now_ns() - begin_ns;
		*cost_ns = took_ns > *cost_ns ? took_ns : *cost_ns - (*cost_ns - took_ns) / 16;
	}
}

void tac_servo_extras(tac_servo *servo, tac_tick *tick)
{
	tac_servo *s = servo;
	const bool clock = tick && s->def.budget_ns > 0;
	const bool touches = s->report.contact_count > 0;
	s->now.dropped = 0;
	s->now.surface_count = 0;
	s->now.proximity_m = HUGE_VAL;
	const int64_t begin_ns = clock ? tac_clock_now_ns() : 0;
	const int64_t left_ns = clock ? s->def.budget_ns - (begin_ns - tick->wake_ns) : INT64_MAX;
	const int64_t surfaces_ns = touches ? s->extra_cost_ns[TAC_SERVO_SURFACES] : 0;
	const int64_t proximity_ns = s->extra_cost_ns[TAC_SERVO_PROXIMITY];
	// Where not both fit, proximity is left out, and only then the surfaces.
	if (touches)
		run(s, TAC_SERVO_SURFACES, left_ns < surfaces_ns, begin_ns, clock);
	// One engine alone knows distances.
	const bool near_engine = strcmp(s->def.world->collider->name, "wide") == 0;
	if (near_engine)
		run(s, TAC_SERVO_PROXIMITY, left_ns < surfaces_ns + proximity_ns,
		    clock ? tac_clock_now_ns() : 0, clock);
}
