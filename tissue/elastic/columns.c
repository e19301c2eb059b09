#include "tissue/elastic/elastic.h"
#include "tissue/elastic/lower.h"

#include <stdlib.h>
#include <string.h>

#define BATCH (ELASTIC_WIDTH / 3) // points whose columns are solved together

_Static_assert(TAC_COMPLIANCE_CLUSTER % BATCH == 0, "full clusters leave no column idle");

bool tac_elastic_columns_init(elastic_columns *out, const elastic_factor *factor,
			      const elastic_surface *surface)
{
	*out = (elastic_columns){
		.factor = factor,
		.surface = surface,
		.needed = tac_elastic_factor_needed(factor, surface->node, surface->start[surface->count]),
		.order = malloc((size_t)surface->count * sizeof *out->order)};
	if (!out->needed || !out->order) {
		tac_elastic_columns_fini(out);
		return false;
	}
	for (int32_t i = 0; i < surface->count; i++) {
		int32_t first = tac_elastic_factor_size(factor);
		for (int32_t n = surface->start[i]; n < surface->start[i + 1]; n++) {
			const int32_t unknown = tac_elastic_factor_unknown(factor, surface->node[n]);
			first = unknown >= 0 && unknown < first ? unknown : first;
		}
		out->order[i] = first;
	}
	return true;
}

void tac_elastic_columns_fini(elastic_columns *columns)
{
	free(columns->needed);
	free(columns->order);
	*columns = (elastic_columns){0};
}

// Adds a force on a vertex along each axis, as the right-hand sides from k on.
static void load(const elastic_columns *c, int32_t vertex, double weight, int32_t k, double *x)
{
	const elastic_surface *s = c->surface;
	for (int32_t n = s->start[vertex]; n < s->start[vertex + 1]; n++) {
		const int32_t unknown = tac_elastic_factor_unknown(c->factor, s->node[n]);
		for (int axis = 0; unknown >= 0 && axis < 3; axis++)
			x[(size_t)(unknown + axis) * ELASTIC_WIDTH + (size_t)(k + axis)] +=
				weight * s->weight[n];
	}
}

// The displacements of vertex i, as blocks for each of `count` points.
static void observe(const elastic_columns *c, int32_t i, int32_t count, const double *x, float *out)
{
	const elastic_surface *s = c->surface;
	double u[3][ELASTIC_WIDTH] = {{0}};
	for (int32_t n = s->start[i]; n < s->start[i + 1]; n++) {
		const int32_t unknown = tac_elastic_factor_unknown(c->factor, s->node[n]);
		for (int axis = 0; unknown >= 0 && axis < 3; axis++) {
			const double *row = x + (size_t)(unknown + axis) * ELASTIC_WIDTH;
			for (int k = 0; k < ELASTIC_WIDTH; k++)
				u[axis][k] += s->weight[n] * row[k];
		}
	}
	for (int32_t k = 0; k < 3 * count; k++) {
		for (int axis = 0; axis < 3; axis++)
			out[9 * (k / 3) + 3 * axis + k % 3] = (float)u[axis][k];
	}
}

bool tac_elastic_columns_solve(const void *user, const compliance_levels *levels, const int32_t *points,
			       int32_t count, int32_t from, float *out)
{
	const elastic_columns *c = user;
	const size_t bytes = (size_t)tac_elastic_factor_size(c->factor) * ELASTIC_WIDTH * sizeof(double);
	double *x = aligned_alloc(64, bytes);
	for (int32_t first = 0; x && first < count; first += BATCH) {
		const int32_t some = count - first < BATCH ? count - first : BATCH;
		memset(x, 0, bytes);
		for (int32_t k = 0; k < some; k++) {
			const int32_t point = points[first + k];
			for (int32_t n = levels->spread_start[point]; n < levels->spread_start[point + 1];
			     n++)
				load(c, levels->spread_node[n], (double)levels->spread_weight[n], 3 * k, x);
		}
		tac_elastic_factor_solve(c->factor, c->needed, from, x);
		for (int32_t i = 0; i < c->surface->count; i++) {
			if (c->order[i] >= from)
				observe(c, i, some, x, out + 9 * ((size_t)i * (size_t)count + (size_t)first));
		}
	}
	free(x);
	return x != NULL;
}
