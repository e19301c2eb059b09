// Private to collision/engines: how a traversal polls the budget of its query.
#ifndef TAC_COLLISION_ENGINES_BUDGET_H
#define TAC_COLLISION_ENGINES_BUDGET_H

#include "collision/collider.h"

// Whether the budget is spent after another step. The node count is checked at every step, the clock only at
// every `interval`th, because reading it costs as much as a step. `until_clock` starts at `interval`.
static inline bool tac_budget_poll(const tac_context *context, int *until_clock, int interval)
{
	bool read_clock = --*until_clock == 0;
	if (read_clock)
		*until_clock = interval;
	return (read_clock || context->nodes_left <= 0) && tac_context_budget_spent(context);
}

#endif
