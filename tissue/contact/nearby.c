#include "tissue/contact/nearby.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The side of a cell, in spacings.
#define CELL 2.0
// Cells along an axis, at most.
#define SIDE_MAX 128

static int32_t cell_along(const tac_nearby *n, double x, double origin, int axis)
{
	const double at = floor((x - origin) / n->cell_m);
	return at < 0 ? 0 : at >= n->size[axis] ? n->size[axis] - 1 : (int32_t)at;
}

static int32_t cell_of(const tac_nearby *n, tac_dvec3 p)
{
	return (cell_along(n, p.z, n->origin_m.z, 2) * n->size[1] + cell_along(n, p.y, n->origin_m.y, 1)) *
		       n->size[0] +
	       cell_along(n, p.x, n->origin_m.x, 0);
}

static void sort_into_cells(tac_nearby *n, const tac_compliance *c, int32_t cells)
{
	for (int32_t i = 0; i < n->count; i++)
		n->start[cell_of(n, tac_dvec3_from_vec3(c->points[n->first + i])) + 1]++;
	for (int32_t k = 0; k < cells; k++)
		n->start[k + 1] += n->start[k];
	for (int32_t i = n->count - 1; i >= 0; i--) {
		const int32_t cell = cell_of(n, tac_dvec3_from_vec3(c->points[n->first + i]));
		// Each end moves down to its beginning; afterwards they are shifted back by one place.
		n->points[--n->start[cell + 1]] = n->first + i;
	}
	memmove(n->start, n->start + 1, (size_t)cells * sizeof *n->start);
	n->start[cells] = n->count;
}

tac_result tac_nearby_init(tac_nearby *nearby, const tac_compliance *compliance, int32_t level)
{
	tac_nearby *n = nearby;
	const tac_compliance *c = compliance;
	*n = (tac_nearby){.first = c->level_start[level],
			  .count = c->level_start[level + 1] - c->level_start[level]};
	tac_dvec3 low = tac_dvec3_splat(HUGE_VAL), high = tac_dvec3_splat(-HUGE_VAL);
	for (int32_t i = 0; i < n->count; i++) {
		const tac_dvec3 p = tac_dvec3_from_vec3(c->points[n->first + i]);
		low = tac_dvec3_min(low, p);
		high = tac_dvec3_max(high, p);
	}
	const tac_dvec3 extent = n->count > 0 ? tac_dvec3_sub(high, low) : tac_dvec3_zero();
	n->origin_m = n->count > 0 ? low : tac_dvec3_zero();
	n->cell_m = fmax(CELL * c->spacing_m[level], tac_dvec3_max_component(extent) / (SIDE_MAX - 1));
	n->cell_m = fmax(n->cell_m, 1e-9);
	n->size[0] = (int32_t)(extent.x / n->cell_m) + 1;
	n->size[1] = (int32_t)(extent.y / n->cell_m) + 1;
	n->size[2] = (int32_t)(extent.z / n->cell_m) + 1;
	const int32_t cells = n->size[0] * n->size[1] * n->size[2];
	const size_t count = (size_t)n->count + 1;
	n->start = calloc((size_t)cells + 1, sizeof *n->start);
	n->points = calloc(count, sizeof *n->points);
	if (!n->start || !n->points) {
		tac_nearby_fini(n);
		tac_log(TAC_LOG_ERROR, "tissue: no memory");
		return TAC_ERROR_MEMORY;
	}
	sort_into_cells(n, c, cells);
	return TAC_OK;
}

void tac_nearby_fini(tac_nearby *nearby)
{
	free(nearby->start);
	free(nearby->points);
	*nearby = (tac_nearby){0};
}

int32_t tac_nearby_in_box(const tac_nearby *nearby, tac_dvec3 min, tac_dvec3 max, int32_t capacity,
			  int32_t *out_points)
{
	const tac_nearby *n = nearby;
	const int32_t x0 = cell_along(n, min.x, n->origin_m.x, 0),
		      x1 = cell_along(n, max.x, n->origin_m.x, 0);
	const int32_t y0 = cell_along(n, min.y, n->origin_m.y, 1),
		      y1 = cell_along(n, max.y, n->origin_m.y, 1);
	const int32_t z0 = cell_along(n, min.z, n->origin_m.z, 2),
		      z1 = cell_along(n, max.z, n->origin_m.z, 2);
	int32_t count = 0;
	for (int32_t z = z0; z <= z1; z++) {
		for (int32_t y = y0; y <= y1; y++) {
			const int32_t row = (z * n->size[1] + y) * n->size[0];
			for (int32_t k = n->start[row + x0]; k < n->start[row + x1 + 1]; k++) {
				if (count == capacity)
					return count;
				out_points[count++] = n->points[k];
			}
		}
	}
	return count;
}
