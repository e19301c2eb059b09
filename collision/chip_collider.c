#include "collision/chip_collider.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/chip_host.h"

#include <stdatomic.h>
#include <stdlib.h>

// Between two looks at the budget: 15 us of the chip's time, some 40 us of the model's. Every hit takes at
// least 61 cycles in the schedule, so what a slice can find fits the FIFO.
#define SLICE_CYCLES 4000
#define HIT_CAPACITY 256
#define SRAM_WORDS   65536

typedef struct shape {
	tac_shape base;
	void *bytes; // of hierarchy memory
	uint32_t address, count;
	float extent;
	struct shape *next; // by rising address
} shape;

// All shapes have their places in one address space of 32 bits, as on a board, so that any two can meet.
// Set-up only.
static shape *first;
static atomic_flag places = ATOMIC_FLAG_INIT;

static void lock_places(void)
{
	while (atomic_flag_test_and_set_explicit(&places, memory_order_acquire))
		;
}

static void unlock_places(void)
{
	atomic_flag_clear_explicit(&places, memory_order_release);
}

// The first gap that is large enough. Thread: setup.
static bool take_place(shape *s)
{
	lock_places();
	uint64_t begin = 0;
	shape **link = &first;
	while (*link != NULL && (*link)->address < begin + s->count) {
		begin = (uint64_t)(*link)->address + (*link)->count;
		link = &(*link)->next;
	}
	bool fits = begin + s->count <= (UINT64_C(1) << 32);
	if (fits) {
		s->address = (uint32_t)begin;
		s->next = *link;
		*link = s;
	}
	unlock_places();
	return fits;
}

static void leave_place(shape *s)
{
	lock_places();
	for (shape **link = &first; *link != NULL; link = &(*link)->next)
		if (*link == s) {
			*link = s->next;
			break;
		}
	unlock_places();
}

static void destroy(tac_shape *base)
{
	shape *s = (shape *)base;
	leave_place(s);
	free(s->bytes);
	free(s);
}

static tac_result fill(shape *s, const tac_mesh *mesh)
{
	tac_doptree *tree;
	tac_result result = tac_doptree_build(mesh, TAC_DOPTREE_R, &tree);
	if (result < 0)
		return result;
	s->count = tac_chip_tree_bytes(tree);
	s->extent = tree->extent;
	s->bytes = aligned_alloc(256, s->count);
	if (s->bytes == NULL || !take_place(s)) {
		tac_log(TAC_LOG_ERROR, "chip: no room for the %u bytes of a tree of %d triangles", s->count,
			mesh->triangle_count);
		result = TAC_ERROR_MEMORY;
	} else {
		tac_chip_tree_encode(tree, s->address, s->bytes);
		s->base.bytes = sizeof *s + s->count;
	}
	tac_doptree_destroy(&tree);
	return result;
}

static tac_result build(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	shape *s = calloc(1, sizeof *s);
	if (s == NULL) {
		tac_log(TAC_LOG_ERROR, "chip: no memory for a shape");
		return TAC_ERROR_MEMORY;
	}
	s->base = (tac_shape){.collider = self, .mesh = mesh, .bytes = sizeof *s};
	tac_result result = mesh->triangle_count > 0 ? fill(s, mesh) : TAC_OK;
	if (result < 0) {
		destroy(&s->base);
		return result;
	}
	*out_shape = &s->base;
	return TAC_OK;
}

static void start(tac_context *context, tac_chip *chip)
{
	const shape *moving = (const shape *)context->moving, *fixed = (const shape *)context->fixed;
	tac_chip_attach(chip, 0, moving->address, moving->bytes, moving->count);
	tac_chip_attach(chip, 1, fixed->address, fixed->bytes, fixed->count);
	tac_chip_query query = {
		.root_tumbled = moving->address,
		.root_aligned = fixed->address,
		.extent = moving->extent,
		.flags = TAC_CHIP_LAYOUT_R | TAC_CHIP_CLOSED_TRI | TAC_CHIP_SCHED,
		.motion = context->motion,
	};
	if (context->mode != TAC_QUERY_FIRST)
		query.flags |= TAC_CHIP_ALL_HITS;
	tac_chip_batch batch;
	tac_chip_query_encode(&query, &batch);
	tac_chip_apply(chip, &batch);
}

static void take_hits(tac_context *context, tac_chip *chip)
{
	for (uint32_t left = tac_chip_read(chip, TAC_CHIP_HIT_COUNT); left > 0; --left) {
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
	context->counters = (tac_counters){
		.overlap_tests = (int64_t)c[TAC_CHIP_OVERLAP_TESTS],
		.transforms = (int64_t)c[TAC_CHIP_TUMBLED_NODES],
		.nodes = (int64_t)(c[TAC_CHIP_ALIGNED_NODES] + c[TAC_CHIP_TUMBLED_NODES]),
		.triangle_tests = (int64_t)c[TAC_CHIP_TRI_TESTS_FWD],
	};
}

static tac_contact run(const tac_collider *self, tac_context *context, bool resume)
{
	(void)self;
	tac_chip_def def = {.hit_capacity = HIT_CAPACITY};
	size_t fixed_bytes = tac_chip_storage_bytes(&def);
	if (context->scratch_bytes < fixed_bytes)
		return TAC_CONTACT_UNKNOWN;
	size_t words = (context->scratch_bytes - fixed_bytes) / sizeof(uint32_t);
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
		if (tac_context_spent(context)) {
			context->pending = true;
			return TAC_CONTACT_UNKNOWN;
		}
	}
}

void tac_chip_collider_counters(const tac_context *context, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT])
{
	TAC_ASSERT(context->moving != NULL && context->moving->collider == tac_chip_collider());
	tac_chip_counters_read(context->scratch, out_counters);
}

const tac_collider *tac_chip_collider(void)
{
	static const tac_collider collider = {
		.name = "chip", .variant = "model", .build = build, .destroy = destroy, .run = run};
	tac_dop_faces();
	return &collider;
}
