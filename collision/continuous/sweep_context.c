#include "collision/continuous/sweep_context.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/continuous/body_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A cache line; the size of an aligned allocation is a multiple of it.
#define ALIGNMENT 64

tac_result tac_context_allocate(const char *name, size_t bytes, void **out_memory)
{
	// Not calloc, whose pages would be mapped at their first use.
	*out_memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	if (!*out_memory) {
		tac_log(TAC_LOG_ERROR, "%s: expected %zu bytes of memory, found none", name, bytes);
		return TAC_ERROR_MEMORY;
	}
	memset(*out_memory, 0, bytes);
	return TAC_OK;
}

tac_result tac_sweep_context_create(tac_sweep_context **out_context)
{
	TAC_ASSERT(out_context);
	void *memory;
	tac_result result = tac_context_allocate("sweep context", sizeof **out_context, &memory);
	*out_context = memory;
	return result;
}

void tac_sweep_context_destroy(tac_sweep_context **context)
{
	free(*context);
	*context = NULL;
}

void tac_sweep_context_reset(tac_sweep_context *context)
{
	memset(context, 0, offsetof(tac_sweep_context, lists));
	for (int i = 0; i < 3; i++)
		memset(&context->lists[i], 0, offsetof(tac_pair_list, pairs));
	context->descent.top = 0;
}

void tac_sweep_context_set_work_limit(tac_sweep_context *context, int64_t limit)
{
	context->work = 0;
	context->work_limit = limit;
}

void tac_sweep_context_set_enough(tac_sweep_context *context, double reach_m)
{
	context->enough = reach_m;
}

int64_t tac_sweep_context_work(const tac_sweep_context *context)
{
	return context->work;
}

// As if the triangles covered a ball.
static double triangle_size(const tac_body *body)
{
	return body->centre_radius * sqrt(12.0 / body->mesh->triangle_count);
}

void tac_sweep_context_bind(tac_sweep_context *context, const tac_body *moving, const tac_body *fixed)
{
	if (!context || (context->moving == moving && context->fixed == fixed))
		return;
	int64_t work = context->work, limit = context->work_limit;
	double enough = context->enough;
	tac_sweep_context_reset(context);
	context->work = work;
	context->work_limit = limit;
	context->enough = enough;
	context->moving = moving;
	context->fixed = fixed;
	context->triangle_size = triangle_size(moving) + triangle_size(fixed);
}
