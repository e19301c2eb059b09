#include "tissue/elastic/elastic.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH       8 // touched vertices whose columns are solved together
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

// The forces of a unit force on a vertex along an axis.
static void load(const work *w, int32_t vertex, int axis, double *b)
{
	const elastic_surface *s = w->surface;
	for (int32_t k = s->start[vertex]; k < s->start[vertex + 1]; k++) {
		const int32_t unknown = tac_elastic_factor_unknown(w->factor, s->node[k]);
		if (unknown >= 0)
			b[unknown + axis] += s->weight[k];
	}
}

// The displacement of a vertex.
static void observe(const work *w, int32_t vertex, const double *x, double out[3])
{
	const elastic_surface *s = w->surface;
	out[0] = out[1] = out[2] = 0;
	for (int32_t k = s->start[vertex]; k < s->start[vertex + 1]; k++) {
		const int32_t unknown = tac_elastic_factor_unknown(w->factor, s->node[k]);
		for (int axis = 0; unknown >= 0 && axis < 3; axis++)
			out[axis] += s->weight[k] * x[unknown + axis];
	}
}

static bool solve_batch(work *w, int32_t first, int32_t count, double *b)
{
	const size_t size = (size_t)tac_elastic_factor_size(w->factor), all = (size_t)w->surface->count;
	memset(b, 0, 3 * (size_t)count * size * sizeof *b);
	for (int32_t k = 0; k < 3 * count; k++)
		load(w, first + k / 3, k % 3, b + (size_t)k * size);
	if (tac_elastic_factor_solve(w->factor, b, 3 * count) != TAC_OK)
		return false;
	for (int32_t k = 0; k < 3 * count; k++) {
		const size_t j = (size_t)(first + k / 3);
		for (size_t i = j; i < all; i++) {
			double u[3];
			observe(w, (int32_t)i, b + (size_t)k * size, u);
			for (int row = 0; row < 3; row++)
				w->out[9 * (i * all + j) + (size_t)(3 * row + k % 3)] = (float)u[row];
		}
	}
	return true;
}

static void *run(void *user)
{
	work *w = user;
	double *b = malloc(3 * BATCH * (size_t)tac_elastic_factor_size(w->factor) * sizeof *b);
	bool good = b;
	while (good && !atomic_load(&w->failed)) {
		const int32_t first = atomic_fetch_add(&w->next, BATCH);
		if (first >= w->surface->count)
			break;
		const int32_t left = w->surface->count - first, count = left < BATCH ? left : BATCH;
		good = solve_batch(w, first, count, b);
		atomic_fetch_add(&w->done, count);
	}
	free(b);
	if (!good)
		atomic_store(&w->failed, true);
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
