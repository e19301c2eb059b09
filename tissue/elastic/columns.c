#include "tissue/elastic/elastic.h"
#include "tissue/elastic/lower.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH       (ELASTIC_WIDTH / 3) // touched vertices whose columns are solved together
#define THREADS_MAX 64
#define LOOK_NS     50000000 // how often progress is reported

typedef struct work {
	const elastic_factor *factor;
	const elastic_surface *surface;
	float *out;
	atomic_int next; // vertex whose batch nobody has taken yet
	atomic_int done; // vertices that are finished
	atomic_bool failed;
} work;

// Adds a unit force on a vertex along an axis, as right-hand side k.
static void load(const work *w, int32_t vertex, int axis, int32_t k, double *x)
{
	const elastic_surface *s = w->surface;
	for (int32_t n = s->start[vertex]; n < s->start[vertex + 1]; n++) {
		const int32_t unknown = tac_elastic_factor_unknown(w->factor, s->node[n]);
		if (unknown >= 0)
			x[(size_t)(unknown + axis) * ELASTIC_WIDTH + (size_t)k] += s->weight[n];
	}
}

// Enters the displacements of vertex i under the forces on the vertices from `first` on.
static void observe(const work *w, int32_t i, int32_t first, int32_t count, const double *x)
{
	const elastic_surface *s = w->surface;
	double u[3][ELASTIC_WIDTH] = {{0}};
	for (int32_t n = s->start[i]; n < s->start[i + 1]; n++) {
		const int32_t unknown = tac_elastic_factor_unknown(w->factor, s->node[n]);
		for (int axis = 0; unknown >= 0 && axis < 3; axis++) {
			const double *row = x + (size_t)(unknown + axis) * ELASTIC_WIDTH;
			for (int k = 0; k < ELASTIC_WIDTH; k++)
				u[axis][k] += s->weight[n] * row[k];
		}
	}
	for (int32_t k = 0; k < 3 * count && first + k / 3 <= i; k++) {
		float *block = w->out + 9 * ((size_t)i * (size_t)s->count + (size_t)(first + k / 3));
		for (int axis = 0; axis < 3; axis++)
			block[3 * axis + k % 3] = (float)u[axis][k];
	}
}

static void solve_batch(work *w, int32_t first, int32_t count, double *x)
{
	memset(x, 0, (size_t)tac_elastic_factor_size(w->factor) * ELASTIC_WIDTH * sizeof *x);
	for (int32_t k = 0; k < 3 * count; k++)
		load(w, first + k / 3, k % 3, k, x);
	tac_elastic_factor_solve(w->factor, x);
	for (int32_t i = first; i < w->surface->count; i++)
		observe(w, i, first, count, x);
}

static void *run(void *user)
{
	work *w = user;
	const size_t rows = (size_t)tac_elastic_factor_size(w->factor);
	double *x = aligned_alloc(64, rows * ELASTIC_WIDTH * sizeof *x);
	if (!x)
		atomic_store(&w->failed, true);
	while (!atomic_load(&w->failed)) {
		const int32_t first = atomic_fetch_add(&w->next, BATCH);
		if (first >= w->surface->count)
			break;
		const int32_t left = w->surface->count - first, count = left < BATCH ? left : BATCH;
		solve_batch(w, first, count, x);
		atomic_fetch_add(&w->done, count);
	}
	free(x);
	return NULL;
}

tac_result tac_elastic_columns(const elastic_factor *factor, const elastic_surface *surface, int threads,
			       elastic_progress progress, void *user, float *out)
{
	work w = {.factor = factor, .surface = surface, .out = out};
	pthread_t id[THREADS_MAX];
	int started = 0;
	while (started < threads && started < THREADS_MAX && pthread_create(&id[started], NULL, run, &w) == 0)
		started++;
	if (started == 0)
		return TAC_ERROR_MEMORY;
	while (progress && !atomic_load(&w.failed) && atomic_load(&w.done) < surface->count) {
		const struct timespec nap = {0, LOOK_NS};
		nanosleep(&nap, NULL);
		progress(user, (double)atomic_load(&w.done) / surface->count);
	}
	for (int k = 0; k < started; k++)
		pthread_join(id[k], NULL);
	return atomic_load(&w.failed) ? TAC_ERROR_MEMORY : TAC_OK;
}
