#include "base/assert.h"
#include "base/log.h"
#include "collision/chip_collider.h"
#include "collision/chip_host.h"
#include "hardware/rtl.h"

#include <pthread.h>
#include <stdatomic.h>

// Clocks between two looks at the budget: about 10 us of simulation.
#define SLICE_CLOCKS 32
// The longest that a clock takes, ns: two million a second. Budgets are counts of clocks, so a loop is in
// time on a machine that simulates at least as fast.
#define CLOCK_NS 500
// Queries that can be in progress at the same time; a further one is unknown.
#define UNITS        4
#define SRAM_WORDS   65536
#define HIT_CAPACITY 65536

// A chip, and the query it works on. A context keeps its chip from query to query until another context needs
// one and finds no other.
typedef struct unit {
	tac_rtl *rtl;
	atomic_flag taken; // by the thread that runs it
	atomic_bool pending;
	atomic_uint_fast64_t query; // its number; 0: none yet
	tac_chip_batch batch;
	uint32_t written; // of the batch
} unit;

static const tac_rtl_api *api;
static unit units[UNITS];
static atomic_uint_fast64_t queries;
static pthread_mutex_t set_up = PTHREAD_MUTEX_INITIALIZER;
static tac_chip_space space = TAC_CHIP_SPACE_EMPTY;

// Loads the library and creates the chips, once.
static tac_result create_units(void)
{
	tac_result result = TAC_OK;
	pthread_mutex_lock(&set_up);
	if (!api) {
		const tac_rtl_api *loaded;
		result = tac_rtl_load(&loaded);
		for (int i = 0; result == TAC_OK && i < UNITS; i++) {
			units[i].rtl = loaded->create(SRAM_WORDS, HIT_CAPACITY);
			atomic_flag_clear(&units[i].taken);
			if (!units[i].rtl) {
				tac_log(TAC_LOG_ERROR, "rtl: no memory for a chip");
				result = TAC_ERROR_MEMORY;
			}
		}
		if (result == TAC_OK)
			api = loaded;
		for (int i = 0; result != TAC_OK && i < UNITS; i++)
			if (units[i].rtl)
				loaded->destroy(&units[i].rtl);
	}
	pthread_mutex_unlock(&set_up);
	return result;
}

static void destroy(tac_shape *base)
{
	tac_chip_shape *shape = (tac_chip_shape *)base;
	tac_chip_shape_destroy(&space, &shape);
}

static tac_result build(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	*out_shape = NULL;
	tac_chip_shape *shape;
	tac_result result = create_units();
	if (result == TAC_OK)
		result = tac_chip_shape_build(&space, self, mesh, &shape);
	if (result == TAC_OK)
		*out_shape = &shape->base;
	return result;
}

// ---- which chip ----

// A chip for a new query, of those that are not running: one that no query waits for, else the one whose
// query has waited longest. NULL if all are running.
static unit *take_any(void)
{
	bool refused[UNITS] = {false};
	for (int round = 0; round < UNITS; round++) {
		int best = -1;
		uint64_t best_query = UINT64_MAX;
		for (int i = 0; i < UNITS; i++) {
			const uint64_t query =
				atomic_load(&units[i].pending) ? atomic_load(&units[i].query) : 0;
			if (!refused[i] && query < best_query) {
				best = i;
				best_query = query;
			}
		}
		if (!atomic_flag_test_and_set(&units[best].taken))
			return &units[best];
		refused[best] = true;
	}
	return NULL;
}

static void let_go(unit *u)
{
	atomic_flag_clear(&u->taken);
}

static uint64_t query_of(const tac_context *context)
{
	return (uint32_t)context->resume_state[1] | (uint64_t)(uint32_t)context->resume_state[2] << 32;
}

// The chip that has the context's query, or NULL if another query has taken it since.
static unit *take_again(const tac_context *context)
{
	const uint32_t index = (uint32_t)context->resume_state[0]; // of any engine
	if (index >= UNITS || atomic_flag_test_and_set(&units[index].taken))
		return NULL;
	unit *u = &units[index];
	if (atomic_load(&u->query) == query_of(context))
		return u;
	let_go(u);
	return NULL;
}

// ---- a query ----

static void start(unit *u, tac_context *context)
{
	const tac_chip_shape *moving = (const tac_chip_shape *)context->moving,
			     *fixed = (const tac_chip_shape *)context->fixed;
	api->attach(u->rtl, 0, moving->address, moving->bytes, moving->count);
	api->attach(u->rtl, 1, fixed->address, fixed->bytes, fixed->count);
	tac_chip_query query;
	tac_chip_query_of(context, TAC_CHIP_CLOSED_TRI | TAC_CHIP_SCHED, &query);
	tac_chip_query_encode(&query, &u->batch);
	u->written = 0;
	const uint64_t number = atomic_fetch_add(&queries, 1) + 1;
	atomic_store(&u->query, number);
	context->resume_state[0] = (int32_t)(u - units);
	context->resume_state[1] = (int32_t)(uint32_t)number;
	context->resume_state[2] = (int32_t)(uint32_t)(number >> 32);
}

// Performs the writes of a slice, a clock each, or runs the chip for one. Returns whether there is more to
// do.
static bool work_slice(unit *u)
{
	if (u->written == u->batch.count)
		return api->clock(u->rtl, SLICE_CLOCKS);
	for (uint32_t i = 0; i < SLICE_CLOCKS && u->written < u->batch.count; i++, u->written++)
		api->write(u->rtl, u->batch.writes[u->written].offset, u->batch.writes[u->written].value);
	return true;
}

static void take_hits(tac_context *context, tac_rtl *rtl)
{
	for (uint32_t left = api->read(rtl, TAC_CHIP_HIT_COUNT); left > 0; left--) {
		uint32_t moving = api->read(rtl, TAC_CHIP_HIT_A), fixed = api->read(rtl, TAC_CHIP_HIT_B);
		tac_context_report(context, (int32_t)fixed, (int32_t)moving);
	}
}

static uint64_t read_counter(tac_rtl *rtl, tac_chip_counter counter)
{
	const uint32_t at = TAC_CHIP_COUNTERS + 8 * (uint32_t)counter;
	uint64_t low = api->read(rtl, at);
	return low | (uint64_t)api->read(rtl, at + 4) << 32;
}

// Only those that the engine's counters are made of: every read is a clock.
static void take_counters(tac_context *context, tac_rtl *rtl)
{
	static const tac_chip_counter used[] = {TAC_CHIP_OVERLAP_TESTS, TAC_CHIP_TUMBLED_NODES,
						TAC_CHIP_ALIGNED_NODES, TAC_CHIP_TRI_TESTS_FWD};
	uint64_t c[TAC_CHIP_COUNTER_COUNT] = {0};
	for (size_t i = 0; i < sizeof used / sizeof *used; i++)
		c[used[i]] = read_counter(rtl, used[i]);
	context->counters = tac_chip_counters_of(c);
}

static tac_overlap work(unit *u, tac_context *context)
{
	bool busy;
	do {
		busy = work_slice(u);
		context->nodes_left -= SLICE_CLOCKS;
	} while (busy && !tac_context_budget_spent(context));
	if (u->written == u->batch.count) {
		take_hits(context, u->rtl);
		take_counters(context, u->rtl);
	}
	context->pending = busy;
	atomic_store(&u->pending, busy);
	return busy ? TAC_OVERLAP_UNKNOWN : tac_chip_answer(api->read(u->rtl, TAC_CHIP_STATUS));
}

static tac_overlap run(const tac_collider *self, tac_context *context, bool resume)
{
	(void)self;
	unit *u = take_again(context);
	if (!u && !resume)
		u = take_any();
	if (!u)
		return TAC_OVERLAP_UNKNOWN;
	if (!resume)
		start(u, context);
	tac_overlap answer = work(u, context);
	let_go(u);
	return answer;
}

bool tac_rtl_collider_counters(const tac_context *context, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT],
			       uint64_t *out_clocks)
{
	TAC_ASSERT(context->moving && context->moving->collider == tac_rtl_collider());
	unit *u = take_again(context);
	if (!u)
		return false;
	for (int c = 0; c < TAC_CHIP_COUNTER_COUNT; c++)
		out_counters[c] = read_counter(u->rtl, (tac_chip_counter)c);
	*out_clocks = api->clocks(u->rtl);
	let_go(u);
	return true;
}

const tac_collider *tac_rtl_collider(void)
{
	static const tac_collider collider = {.name = "rtl",
					      .flags = TAC_COLLIDER_TRIANGLES,
					      .variant = "verilator",
					      .build = build,
					      .destroy = destroy,
					      .run = run,
					      .node_ns = CLOCK_NS};
	tac_chip_collider(); // it prepares what tac_chip_query_encode needs
	return &collider;
}
