#include "collision/distance.h"

#include "base/assert.h"

#include <stddef.h>

static void set_query(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
		      const tac_rigid *motion)
{
	context->moving = moving;
	context->fixed = fixed;
	context->motion = *motion;
	context->pair_count = 0;
	context->counters = (tac_counters){0};
}

static void set_budget(tac_context *context, tac_budget budget)
{
	context->budget = budget;
	context->nodes_left = budget.nodes > 0 ? budget.nodes : INT64_MAX;
	context->pending = false;
}

static bool is_empty(const tac_shape *shape)
{
	return shape->mesh->triangle_count == 0;
}

tac_overlap tac_distance_within(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
				const tac_rigid *motion, float distance, tac_budget budget)
{
	const tac_collider *collider = fixed->collider;
	TAC_ASSERT(distance > 0.0F && moving->collider == collider);
	TAC_ASSERT((collider->flags & TAC_COLLIDER_WITHIN) != 0);
	set_query(context, moving, fixed, motion);
	set_budget(context, budget);
	context->mode = TAC_QUERY_PAIRS;
	context->within_m = distance;
	if (!tac_rigid_finite(motion))
		return TAC_OVERLAP_UNKNOWN;
	if (is_empty(moving) || is_empty(fixed))
		return TAC_OVERLAP_NONE;
	return collider->run(collider, context, false);
}

tac_overlap tac_distance_nearest(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
				 const tac_rigid *motion, double limit, tac_budget budget,
				 tac_nearest *out_nearest)
{
	const tac_collider *collider = fixed->collider;
	TAC_ASSERT(moving->collider == collider && collider->nearest);
	*out_nearest = (tac_nearest){.distance = limit, .fixed_triangle = -1, .moving_triangle = -1};
	set_query(context, moving, fixed, motion);
	set_budget(context, budget);
	if (!tac_rigid_finite(motion))
		return TAC_OVERLAP_UNKNOWN;
	if (is_empty(moving) || is_empty(fixed)) {
		out_nearest->lower_bound = limit;
		return TAC_OVERLAP_NONE;
	}
	return collider->nearest(collider, context, out_nearest, false);
}

tac_overlap tac_distance_nearest_resume(tac_context *context, tac_budget budget, tac_nearest *nearest)
{
	TAC_ASSERT(context->pending);
	const tac_collider *collider = context->fixed->collider;
	set_budget(context, budget);
	return collider->nearest(collider, context, nearest, true);
}
