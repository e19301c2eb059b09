// The model of the chip and its gates side by side: the same memory, the same registers, the same query, and
// the comparison of everything that shows.
#ifndef TAC_TESTS_SUPPORT_RTL_FIXTURE_H
#define TAC_TESTS_SUPPORT_RTL_FIXTURE_H

#include "collision/chip/units.h"
#include "collision/chip_host.h"
#include "hardware/rtl.h"
#include "tests/support/chip_fixture.h"

#include <stdio.h>
#include <time.h>
#include <unity.h>

typedef struct twins {
	tac_chip *model;
	const tac_rtl_api *api;
	tac_rtl *rtl;
	unsigned char *memory;
	uint32_t bytes;
	// sums over all queries
	uint64_t queries, hits, clocks, sched, errors;
	double seconds;      // of CPU time for the gates' clocks
	int64_t least_slack; // of the bound of twins_allowance, clocks
	double most_share;   // of the allowance that a query used
	bool any_rows;       // rows of triangles may read what other rows write
	// of the last query: what the model's counters do not tell, and the clocks beyond SCHED and
	// stall_sdram
	uint64_t empty_lists; // whose tumbled siblings are both empty
	uint64_t leaf_scans;  // for a single tumbled leaf
	int64_t beyond;
} twins;

static inline void twins_create(twins *t, uint32_t memory_bytes, uint32_t sram_words, uint32_t hit_capacity)
{
	memset(t, 0, sizeof *t);
	t->least_slack = INT64_MAX;
	t->bytes = memory_bytes;
	t->memory = calloc(1, memory_bytes);
	tac_chip_def def = {.sram_words = sram_words, .hit_capacity = hit_capacity};
	void *storage = aligned_alloc(64, tac_chip_storage_bytes(&def));
	t->model = tac_chip_init(storage, &def);
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_rtl_load(&t->api), "no RTL");
	t->rtl = t->api->create(sram_words, hit_capacity);
	TEST_ASSERT_NOT_NULL(t->rtl);
	tac_chip_attach(t->model, 0, 0, t->memory, memory_bytes);
	t->api->attach(t->rtl, 0, 0, t->memory, memory_bytes);
}

static inline void twins_destroy(twins *t)
{
	t->api->destroy(&t->rtl);
	free(t->model);
	free(t->memory);
}

static inline void twins_write(twins *t, uint32_t offset, uint32_t value)
{
	tac_chip_write(t->model, offset, value);
	t->api->write(t->rtl, offset, value);
}

static inline void twins_put(twins *t, const fix_tree *tree)
{
	memcpy(t->memory + tree->base, tree->words, tree->bytes);
}

// Copies the model's register files.
static inline void twins_copy_registers(twins *t)
{
	for (uint32_t o = TAC_CHIP_MATRIX; o < TAC_CHIP_MATRIX_END; o += 4)
		t->api->write(t->rtl, o, tac_chip_read(t->model, o));
	for (uint32_t o = TAC_CHIP_CORR; o < TAC_CHIP_CORR_END; o += 4)
		t->api->write(t->rtl, o, tac_chip_read(t->model, o));
	t->api->write(t->rtl, TAC_CHIP_AG2_DELAY, tac_chip_read(t->model, TAC_CHIP_AG2_DELAY));
}

static inline uint64_t twins_counter(twins *t, int c)
{
	uint32_t at = TAC_CHIP_COUNTERS + 8 * (uint32_t)c;
	return t->api->read(t->rtl, at) | (uint64_t)t->api->read(t->rtl, at + 4) << 32;
}

// The most clocks beyond SCHED and stall_sdram that the gates may take for the query that the model has run
// (docs/rtl.md, Time), with the 6 stages of the paper or the 23 of an FPGA.
static inline uint64_t twins_allowance(const twins *t, uint32_t coplanar, uint32_t stages)
{
	const uint64_t *c = t->model->counters;
	const uint64_t plane = stages == 6 ? 200 : 400;
	uint64_t direction = stages == 6 ? 46 : 104;
	if (t->any_rows) // each of the 18 rows may wait for the result of the one before
		direction += UINT64_C(18) * stages;
	return 80 + 24 * c[TAC_CHIP_LISTS] + 36 * t->empty_lists + 30 * t->leaf_scans +
	       direction * (c[TAC_CHIP_TRI_TESTS_FWD] + c[TAC_CHIP_TRI_TESTS_REV]) + plane * coplanar;
}

// Runs the model's query to its end, and counts its empty lists and leaf scans. True if it does not end.
static inline bool twins_model_run(twins *t)
{
	const tac_chip_master *master = &t->model->master;
	t->empty_lists = t->leaf_scans = 0;
	while (master->state != TAC_CHIP_IDLE &&
	       t->model->counters[TAC_CHIP_CYCLES_TOTAL] < UINT64_C(4000000000)) {
		const bool loads = master->state == TAC_CHIP_LOAD,
			   looks_for_leaves = master->state == TAC_CHIP_LEAF_SCAN;
		tac_chip_master_step(t->model);
		if (master->state != TAC_CHIP_SCAN)
			continue;
		t->leaf_scans += looks_for_leaves;
		t->empty_lists += loads && master->sibling[0].type == TAC_CHIP_EMPTY &&
				  master->sibling[1].type == TAC_CHIP_EMPTY;
	}
	return master->state != TAC_CHIP_IDLE;
}

static inline double twins_cpu_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Runs the query on both. Returns the number of differences, each of which is printed.
static inline int twins_query(twins *t, uint32_t flags, uint32_t tumbled, uint32_t aligned)
{
	twins_write(t, TAC_CHIP_ROOT_TUMBLED, tumbled);
	twins_write(t, TAC_CHIP_ROOT_ALIGNED, aligned);
	twins_write(t, TAC_CHIP_CTRL, flags | TAC_CHIP_START);
	// The model's schedule is that of 6 stages; a list takes longer by those that the gates have beyond.
	const uint32_t stages = t->api->stages(t->rtl);
	for (int i = 0; i < 2; i++)
		t->model->schedule.sibling[i].results_end += (int)stages - 6;
	int wrong = 0;
	bool endless = twins_model_run(t);
	uint64_t c[TAC_CHIP_COUNTER_COUNT];
	tac_chip_counters_read(t->model, c);
	// In mode EQ5 the bound does not hold, so the limit is far from it.
	double begin = twins_cpu_s();
	if (endless ||
	    t->api->clock(t->rtl, 10 * (c[TAC_CHIP_CYCLES_TOTAL] + twins_allowance(t, 0, stages)) + 100000)) {
		printf("a query does not end\n");
		t->api->write(t->rtl, TAC_CHIP_CTRL, TAC_CHIP_RESET);
		return 1;
	}
	t->seconds += twins_cpu_s() - begin;
	uint32_t status = t->api->read(t->rtl, TAC_CHIP_STATUS),
		 expected = tac_chip_read(t->model, TAC_CHIP_STATUS);
	if (status != expected) {
		printf("status %x, model %x\n", status, expected);
		wrong++;
	}
	for (int i = 0; i < TAC_CHIP_COUNTER_COUNT; i++)
		if (twins_counter(t, i) != c[i]) {
			printf("%s %llu, model %llu\n", tac_chip_counter_name((tac_chip_counter)i),
			       (unsigned long long)twins_counter(t, i), (unsigned long long)c[i]);
			wrong++;
		}
	uint32_t hits = tac_chip_read(t->model, TAC_CHIP_HIT_COUNT);
	if (t->api->read(t->rtl, TAC_CHIP_HIT_COUNT) != hits) {
		printf("%u hits, model %u\n", t->api->read(t->rtl, TAC_CHIP_HIT_COUNT), hits);
		wrong++;
	}
	for (uint32_t h = 0; h < hits; h++) {
		uint32_t a = tac_chip_read(t->model, TAC_CHIP_HIT_A),
			 b = tac_chip_read(t->model, TAC_CHIP_HIT_B);
		uint32_t ra = t->api->read(t->rtl, TAC_CHIP_HIT_A), rb = t->api->read(t->rtl, TAC_CHIP_HIT_B);
		if (ra != a || rb != b) {
			printf("hit %u: %u %u, model %u %u\n", h, ra, rb, a, b);
			wrong++;
			break;
		}
	}
	uint64_t clocks = t->api->clocks(t->rtl);
	t->queries++;
	t->hits += hits;
	t->clocks += clocks;
	t->sched += c[TAC_CHIP_CYCLES_TOTAL];
	t->errors += expected >> TAC_CHIP_ERR_SHIFT != 0;
	if ((flags & TAC_CHIP_SCHED) != 0 && expected >> TAC_CHIP_ERR_SHIFT == 0) {
		const int64_t allowance = (int64_t)twins_allowance(t, t->api->coplanar(t->rtl), stages);
		t->beyond = (int64_t)(clocks - c[TAC_CHIP_CYCLES_TOTAL] - c[TAC_CHIP_STALL_SDRAM]);
		t->least_slack =
			allowance - t->beyond < t->least_slack ? allowance - t->beyond : t->least_slack;
		t->most_share = fmax(t->most_share, (double)t->beyond / (double)allowance);
	}
	return wrong;
}

#endif
