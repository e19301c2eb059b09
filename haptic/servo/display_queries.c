#include "haptic/servo/servo_state.h"

#include "rt/clock.h"

#include <math.h>

// A query that took longer than SLOW_NS visits half as many nodes next time. One that took less than FAST_NS
// and was not finished visits twice as many, up to NODES_MAX.
#define NODES_MAX 1024
#define SLOW_NS   50000
#define FAST_NS   10000
// Objects farther away than this do not count for the proximity.
#define PROXIMITY_MAX_M 0.02

// Finds the surfaces that the device's pose penetrates: what the user pushes into, where the contacts are
// only what holds the tool back. False: the nodes ran out first.
static bool find_surfaces(tac_servo *s)
{
	const tac_world *world = s->def.world;
	tac_servo_display *d = &s->display;
	tac_context *context = d->contexts[TAC_DISPLAY_SURFACES];
	int64_t nodes = d->nodes[TAC_DISPLAY_SURFACES];
	for (int32_t i = 0; i < world->scene->object_count && nodes > 0; i++) {
		const tac_rigid motion =
			tac_rigid_from_dpose(tac_dpose_relative(s->T_world_objects[i], s->T_world_device));
		tac_collider_query(world->collider, context, world->tools[s->def.tool].shape,
				   world->objects[i].shape, &motion, TAC_QUERY_SURFACES,
				   (tac_budget){.nodes = nodes});
		nodes = context->pending ? 0 : nodes - context->counters.nodes;
		for (int64_t k = 0; k < context->pair_count && d->surface_count < TAC_SNAPSHOT_SURFACES; k++)
			d->surfaces[d->surface_count++] = (tac_snapshot_surface){
				.object = i,
				.tool_surface = context->moving_ids[k],
				.object_surface = context->fixed_ids[k],
			};
	}
	return nodes > 0;
}

// Computes the distance of the tool to all objects, one object after the other, each over as many ticks as it
// takes. A distance holds for the pose at which its query began; the motion since then is subtracted. False:
// the query of this object goes on in the next tick.
static bool find_proximity(tac_servo *s)
{
	const tac_world *world = s->def.world;
	const tac_world_body *tool = &world->tools[s->def.tool];
	const int32_t objects = world->scene->object_count;
	tac_servo_display *d = &s->display;
	const tac_budget budget = {.nodes = d->nodes[TAC_DISPLAY_PROXIMITY]};
	if (objects == 0)
		return true;
	tac_context *context = d->contexts[TAC_DISPLAY_PROXIMITY];
	const int32_t i = d->object;
	if (context->pending) {
		tac_distance_nearest_resume(context, budget, &d->nearest);
	} else {
		d->T_object_tool = tac_dpose_relative(s->T_world_objects[i], s->report.T_world_sco);
		const tac_rigid motion = tac_rigid_from_dpose(d->T_object_tool);
		tac_distance_nearest(context, tool->shape, world->objects[i].shape, &motion, PROXIMITY_MAX_M,
				     budget, &d->nearest);
	}
	if (context->pending)
		return false;
	const tac_dpose now = tac_dpose_relative(s->T_world_objects[i], s->report.T_world_sco);
	const tac_dquat turn = tac_dquat_mul(now.rotation, tac_dquat_conjugate(d->T_object_tool.rotation));
	const double travel_m = tac_dvec3_length(tac_dvec3_sub(now.position, d->T_object_tool.position)) +
				tac_body_radius(tool->body) * tac_dquat_angle(turn);
	d->distances_m[i] = fmax(d->nearest.lower_bound - travel_m, 0);
	d->object = (i + 1) % objects;
	d->proximity_m = HUGE_VAL;
	for (int32_t k = 0; k < objects; k++)
		d->proximity_m = fmin(d->proximity_m, d->distances_m[k]);
	return true;
}

// Runs one query or skips it. `clock_ns` is the time now and is advanced; NULL: the clock is not read.
static void run_query(tac_servo *s, tac_display_query query, bool skip, int64_t *clock_ns)
{
	int64_t *cost_ns = &s->display.cost_ns[query], *nodes = &s->display.nodes[query];
	if (skip) {
		s->display.skipped |= 1u << query;
		s->totals.skipped_ticks[query]++;
		*cost_ns -= *cost_ns / 128; // so that it is tried again at some time
		return;
	}
	const bool finished = query == TAC_DISPLAY_SURFACES ? find_surfaces(s) : find_proximity(s);
	if (!clock_ns)
		return;
	const int64_t end_ns = tac_clock_now_ns(), took_ns = end_ns - *clock_ns;
	*clock_ns = end_ns;
	*cost_ns = took_ns > *cost_ns ? took_ns : *cost_ns - (*cost_ns - took_ns) / 16;
	if (took_ns > SLOW_NS)
		*nodes = *nodes > 1 ? *nodes / 2 : 1;
	else if (took_ns < FAST_NS && !finished && *nodes < NODES_MAX)
		*nodes *= 2;
}

void tac_servo_run_display_queries(tac_servo *servo, tac_tick *tick)
{
	tac_servo *s = servo;
	const bool timed = tick && s->def.budget_ns > 0;
	const bool touches = s->report.contact_count > 0;
	s->display.skipped = 0;
	s->display.surface_count = 0;
	int64_t clock_ns = timed ? tac_clock_now_ns() : 0;
	const int64_t left_ns = timed ? s->def.budget_ns - (clock_ns - tick->wake_ns) : INT64_MAX;
	const int64_t surfaces_ns = touches ? s->display.cost_ns[TAC_DISPLAY_SURFACES] : 0;
	const int64_t proximity_ns = s->display.cost_ns[TAC_DISPLAY_PROXIMITY];
	// The surfaces go first: where there is time for only one query, proximity is the one skipped.
	if (touches)
		run_query(s, TAC_DISPLAY_SURFACES, left_ns < surfaces_ns, timed ? &clock_ns : NULL);
	if (s->def.world->collider->nearest)
		run_query(s, TAC_DISPLAY_PROXIMITY, left_ns < surfaces_ns + proximity_ns,
			  timed ? &clock_ns : NULL);
}
