// Inside and outside of a closed mesh. A point's winding number counts the triangles above it
// (collision/mesh_query.h); sorted by columns, only those over the point are asked.
#include "tissue/lattice/lattice.h"

#include "collision/mesh_query.h"

#include <math.h>
#include <stdlib.h>

#define COLUMNS_MAX 512

static int32_t column_of(const lattice_shape *s, int axis, double x)
{
	const double c = floor((x - s->origin[axis]) / s->column_m);
	return (int32_t)fmin(fmax(c, 0), s->columns[axis] - 1);
}

// The columns that the box around a triangle overlaps.
static void span_of(const lattice_shape *s, int32_t triangle, int32_t from[2], int32_t to[2])
{
	double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
	for (int k = 0; k < 3; k++) {
		const tac_dvec3 v = tac_mesh_corner(s->mesh, triangle, k);
		const double x[2] = {v.x, v.y};
		for (int axis = 0; axis < 2; axis++) {
			low[axis] = fmin(low[axis], x[axis]);
			high[axis] = fmax(high[axis], x[axis]);
		}
	}
	for (int axis = 0; axis < 2; axis++) {
		from[axis] = column_of(s, axis, low[axis]);
		to[axis] = column_of(s, axis, high[axis]);
	}
}

// Counts the triangles of each column in start[column + 1], or, with `fill`, enters them.
static void sort(lattice_shape *s, bool fill)
{
	for (int32_t t = 0; t < s->mesh->triangle_count; t++) {
		int32_t from[2], to[2];
		span_of(s, t, from, to);
		for (int32_t i = from[0]; i <= to[0]; i++) {
			for (int32_t j = from[1]; j <= to[1]; j++) {
				const int32_t column = i * s->columns[1] + j;
				if (fill)
					s->triangle[s->start[column]++] = t;
				else
					s->start[column + 1]++;
			}
		}
	}
}

tac_result tac_lattice_shape_init(lattice_shape *s, const tac_mesh *mesh)
{
	const double size[2] = {(double)(mesh->bounds_max.x - mesh->bounds_min.x),
				(double)(mesh->bounds_max.y - mesh->bounds_min.y)};
	// As many columns as triangles, if they were all seen from above.
	const double side = fmin(fmax(sqrt((double)mesh->triangle_count), 1), COLUMNS_MAX);
	*s = (lattice_shape){.mesh = mesh,
			     .origin = {(double)mesh->bounds_min.x, (double)mesh->bounds_min.y},
			     .column_m = fmax(size[0], size[1]) / side};
	for (int axis = 0; axis < 2; axis++)
		s->columns[axis] = (int32_t)fmin(floor(size[axis] / s->column_m) + 1, COLUMNS_MAX + 1);
	const int32_t count = s->columns[0] * s->columns[1];
	s->start = calloc((size_t)count + 1, sizeof *s->start);
	if (!s->start)
		return TAC_ERROR_MEMORY;
	sort(s, false);
	for (int32_t c = 0; c < count; c++)
		s->start[c + 1] += s->start[c];
	s->triangle = malloc(((size_t)s->start[count] + 1) * sizeof *s->triangle);
	if (!s->triangle) {
		tac_lattice_shape_fini(s);
		return TAC_ERROR_MEMORY;
	}
	sort(s, true);
	for (int32_t c = count; c > 0; c--) // filling has moved each start to its end
		s->start[c] = s->start[c - 1];
	s->start[0] = 0;
	return TAC_OK;
}

void tac_lattice_shape_fini(lattice_shape *shape)
{
	free(shape->start);
	free(shape->triangle);
	*shape = (lattice_shape){0};
}

bool tac_lattice_inside(const lattice_shape *s, tac_dvec3 p)
{
	const int32_t column = column_of(s, 0, p.x) * s->columns[1] + column_of(s, 1, p.y);
	int32_t winding = 0;
	for (int32_t k = s->start[column]; k < s->start[column + 1]; k++)
		tac_mesh_winding_add(s->mesh, s->triangle[k], s->triangle[k] + 1, &p, 1, &winding);
	return winding > 0;
}
