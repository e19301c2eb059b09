// Points around a burr from what was found of each brick before. To find the points of the edges takes
// several times as long as all the rest, and a tool that does not cut meets the same bricks again and again.
#include "base/log.h"
#include "tissue/field/bricks.h"

#include <stdlib.h>

// Pages are filled one after the other, and the oldest is forgotten. All but one hold more than the points
// around the largest burr.
#define PAGES 4
// The work of a brick that is known, and how many of its points make a unit, in nodes examined.
#define KNOWN_WORK     2
#define KNOWN_PER_UNIT 8
#define UNKNOWN_WORK   8

// The points of a brick, from `first` on.
typedef struct brick_run {
	uint64_t page;    // the number of pages begun before it, and 1; 0: none
	uint64_t version; // of the field, for which it holds
	int32_t first, count;
} brick_run;

struct tac_field_cache {
	uint64_t page;   // the number of pages begun
	brick_run *runs; // of each brick of the field's pool
	tac_field_points pages[PAGES];
	int32_t index[TAC_FIELD_POINTS];
};

tac_result tac_field_cache_create(const tac_field *field, tac_field_cache **out_cache)
{
	tac_field_cache *c = calloc(1, sizeof *c);
	*out_cache = c;
	if (c)
		c->runs = calloc((size_t)field->capacity + 1, sizeof *c->runs);
	if (c && c->runs)
		return TAC_OK;
	tac_field_cache_destroy(out_cache);
	tac_log(TAC_LOG_ERROR, "field: no memory for the points of %d bricks", (int)field->capacity);
	return TAC_ERROR_MEMORY;
}

void tac_field_cache_destroy(tac_field_cache **cache)
{
	if (*cache)
		free((*cache)->runs);
	free(*cache);
	*cache = NULL;
}

static tac_field_points *page_of(tac_field_cache *c, uint64_t number)
{
	return &c->pages[number % PAGES];
}

static void begin_page(tac_field_cache *c)
{
	tac_field_points *page = page_of(c, ++c->page);
	page->count = 0;
	page->complete = true;
}

// The version in which a brick or one of its neighbours changed last: edges have points of both.
static uint64_t changed_around(const tac_field *f, const int32_t at[3])
{
	uint64_t last = 0;
	for (int32_t i = at[0] - 1; i <= at[0] + 1; i++) {
		for (int32_t j = at[1] - 1; j <= at[1] + 1; j++) {
			for (int32_t k = at[2] - 1; k <= at[2] + 1; k++) {
				if (i < 0 || j < 0 || k < 0 || i >= f->bricks[0] || j >= f->bricks[1] ||
				    k >= f->bricks[2])
					continue;
				const int32_t entry = f->table[tac_field_brick_index(f, i, j, k)];
				last = entry >= 0 && f->changed[entry] > last ? f->changed[entry] : last;
			}
		}
	}
	return last;
}

static bool is_known(const tac_field *f, const tac_field_cache *c, const int32_t at[3], brick_run *run)
{
	if (run->page == 0 || run->page + PAGES <= c->page)
		return false;
	if (run->version != f->version && changed_around(f, at) > run->version)
		return false;
	run->version = f->version;
	return true;
}

// Finds the points of a brick. False if they do not fit a page.
static bool find_run(const tac_field *f, tac_field_cache *c, const int32_t at[3], brick_run *run,
		     int64_t *examined)
{
	for (int i = 0; i < 2; i++) { // in this page, or in the next
		tac_field_points *page = page_of(c, c->page);
		const int32_t first = page->count;
		page->examined = 0;
		const int32_t count = tac_field_find_points(f, at, page);
		*examined += page->examined;
		if (page->complete) {
			*run = (brick_run){c->page, f->version, first, count};
			return true;
		}
		begin_page(c);
	}
	return false;
}

// Adds the points of a brick that are within reach of the core of the region.
static void add_run(const tac_field *f, tac_field_cache *c, const tac_field_region *r, const float base[3],
		    float reach, const brick_run *run, tac_field_points *out)
{
	const tac_field_points *page = page_of(c, run->page);
	const int32_t at = run->first, near = f->select(&r->cut, page->x + at, page->y + at, page->z + at,
							run->count, base, reach, c->index);
	for (int32_t n = 0; n < near; n++) {
		const int32_t i = at + c->index[n], k = out->count;
		if (k == TAC_FIELD_POINTS) {
			out->complete = false;
			return;
		}
		out->x[k] = base[0] + page->x[i];
		out->y[k] = base[1] + page->y[i];
		out->z[k] = base[2] + page->z[i];
		out->up_x[k] = page->up_x[i];
		out->up_y[k] = page->up_y[i];
		out->up_z[k] = page->up_z[i];
		out->label[k] = page->label[i];
		out->node[k] = page->node[i];
		out->count++;
	}
	out->examined += KNOWN_WORK + near / KNOWN_PER_UNIT;
}

void tac_field_gather(const tac_field *field, tac_field_cache *cache, const tac_burr *burr, double reach_m,
		      int64_t limit, tac_field_points *out_points)
{
	const tac_field *f = field;
	tac_field_cache *c = cache;
	tac_field_points *out = out_points;
	const double core = burr->radius + reach_m, reach = core + (double)FIELD_EDGE_FAR * f->voxel_m;
	const tac_field_region r = tac_field_region_of(f, burr->a, burr->b, burr->radius, reach);
	tac_field_points_begin(out, burr);
	if (c->page == 0)
		begin_page(c);
	for (int32_t i = r.from[0]; i <= r.to[0]; i++) {
		for (int32_t j = r.from[1]; j <= r.to[1]; j++) {
			for (int32_t k = r.from[2]; k <= r.to[2]; k++) {
				const int32_t at[3] = {i, j, k};
				const int32_t entry = f->table[tac_field_brick_index(f, i, j, k)];
				float base[3];
				if (entry < 0 || f->rows[entry].near == 0 ||
				    !tac_field_region_brick(f, &r, at, reach, base))
					continue;
				brick_run *run = &c->runs[entry];
				if (!is_known(f, c, at, run)) {
					out->examined += UNKNOWN_WORK;
					if (out->examined > limit ||
					    !find_run(f, c, at, run, &out->examined)) {
						out->complete = false;
						return;
					}
				}
				add_run(f, c, &r, base, (float)core + 4e-9F, run, out);
			}
		}
	}
}
