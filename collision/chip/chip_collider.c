#include "collision/chip_collider.h"

#include "base/assert.h"
#include "collision/chip_host.h"
#include "collision/trees/doptree.h"

// Cycles between two polls of the budget: 4 us of the chip's time, and about as long in the model. Every hit
// takes at least 61 cycles in the schedule, so the FIFO holds all hits of a slice.
#define SLICE_CYCLES 1000
#define HIT_CAPACITY 256
#define SRAM_WORDS   65536

static tac_chip_space space = TAC_CHIP_SPACE_EMPTY;

static void destroy(tac_shape *base)
{
	tac_chip_shape *shape = (tac_chip_shape *)base;
	tac_chip_shape_destroy(&space, &shape);
}

static tac_result build(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	tac_chip_shape *shape;
	tac_result result = tac_chip_shape_build(&space, self, mesh, &shape);
	*out_shape = result < 0 ? NULL : &shape->base;
	return result;
}

static void start(tac_context *context, tac_chip *chip)
{
	const tac_chip_shape *moving = (const tac_chip_shape *)context->moving,
			     *fixed = (const tac_chip_shape *)context->fixed;
	tac_chip_attach(chip, 0, moving->address, moving->bytes, moving->count);
	tac_chip_attach(chip, 1, fixed->address, fixed->bytes, fixed->count);
	tac_chip_query query;
	tac_chip_batch batch;
	tac_chip_query_of(context, TAC_CHIP_CLOSED_TRI | TAC_CHIP_SCHED, &query);
	tac_chip_query_encode(&query, &batch);
	tac_chip_apply(chip, &batch);
}

static void take_hits(tac_context *context, tac_chip *chip)
{
	for (uint32_t left = tac_chip_read(chip, TAC_CHIP_HIT_COUNT); left > 0; left--) {
		uint32_t moving = tac_chip_read(chip, TAC_CHIP_HIT_A),
			 fixed = tac_chip_read(chip, TAC_CHIP_HIT_B);
		tac_context_report(context, (int32_t)fixed, (int32_t)moving);
	}
}

static void take_counters(tac_context *context, tac_chip *chip)
{
	uint64_t c[TAC_CHIP_COUNTER_COUNT];
	tac_chip_counters_read(chip, c);
	context->nodes_left -= (int64_t)c[TAC_CHIP_OVERLAP_TESTS] - context->counters.overlap_tests;
	context->counters = tac_chip_counters_of(c);
}

static tac_overlap run(const tac_collider *self, tac_context *context, bool resume)
{
	(void)self;
	tac_chip_def def = {.hit_capacity = HIT_CAPACITY};
	size_t bytes_without_sram = tac_chip_storage_bytes(&def);
	if (context->scratch_bytes < bytes_without_sram)
		return TAC_OVERLAP_UNKNOWN;
	size_t words = (context->scratch_bytes - bytes_without_sram) / sizeof(uint32_t);
	def.sram_words = words < SRAM_WORDS ? (uint32_t)words : SRAM_WORDS;
	tac_chip *chip = context->scratch;
	if (!resume)
		start(context, tac_chip_init(context->scratch, &def));
	for (;;) {
		bool busy = tac_chip_clock(chip, SLICE_CYCLES);
		take_hits(context, chip);
		take_counters(context, chip);
		if (!busy)
			return tac_chip_answer(tac_chip_read(chip, TAC_CHIP_STATUS));
		if (tac_context_budget_spent(context)) {
			context->pending = true;
			return TAC_OVERLAP_UNKNOWN;
		}
	}
}

void tac_chip_collider_counters(const tac_context *context, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT])
{
	TAC_ASSERT(context->moving && context->moving->collider == tac_chip_collider());
	tac_chip_counters_read(context->scratch, out_counters);
}

const tac_collider *tac_chip_collider(void)
{
	static const tac_collider collider = {.name = "chip",
					      .flags = TAC_COLLIDER_TRIANGLES,
					      .variant = "model",
					      .build = build,
					      .destroy = destroy,
					      .run = run};
	tac_dop_faces();
	return &collider;
}
