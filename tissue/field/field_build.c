// The field of a closed mesh. The sign of a node is the winding number of the mesh about it, counted along
// columns of nodes; the distance is that to the nearest triangle, exact within FIELD_FAR voxels. Deeper nodes
// take the nearest triangle of a neighbour, for their depth alone, on which labels may depend.
#include "tissue/field/bricks.h"

#include "base/log.h"
#include "collision/closest.h"
#include "collision/mesh_query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Empty voxels around the mesh: more than FIELD_FAR, so that the border of the grid is outside.
#define PADDING 3

// All nodes of the grid, while the field is built.
typedef struct grid {
	const tac_field_def *def;
	double h;
	tac_dvec3 origin;
	int32_t nodes[3], bricks[3];
	int64_t count;
	int8_t *winding;
	float *distance;   // without sign; HUGE_VALF: not known
	int32_t *triangle; // the nearest one known; -1: none
	int64_t *queue;
} grid;

static int64_t index_of(const grid *g, int32_t i, int32_t j, int32_t k)
{
	return ((int64_t)i * g->nodes[1] + j) * g->nodes[2] + k;
}

static tac_dvec3 place(const grid *g, int32_t i, int32_t j, int32_t k)
{
	return tac_dvec3_add_scaled(g->origin, g->h, tac_dvec3_make(i, j, k));
}

static tac_dvec3 place_of_index(const grid *g, int64_t index)
{
	const int64_t layer = (int64_t)g->nodes[1] * g->nodes[2];
	return place(g, (int32_t)(index / layer), (int32_t)(index % layer / g->nodes[2]),
		     (int32_t)(index % g->nodes[2]));
}

// The nodes within `margin` voxels of a triangle's box.
static void box_of(const grid *g, int32_t triangle, double margin, int32_t from[3], int32_t to[3])
{
	double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
	for (int c = 0; c < 3; c++) {
		const tac_dvec3 v = tac_dvec3_scale(
			tac_dvec3_sub(tac_mesh_corner(g->def->mesh, triangle, c), g->origin), 1 / g->h);
		const double x[3] = {v.x, v.y, v.z};
		for (int k = 0; k < 3; k++) {
			low[k] = fmin(low[k], x[k]);
			high[k] = fmax(high[k], x[k]);
		}
	}
	for (int k = 0; k < 3; k++) {
		from[k] = (int32_t)fmax(floor(low[k] - margin), 0);
		to[k] = (int32_t)fmin(ceil(high[k] + margin), g->nodes[k] - 1);
	}
}

// Adds a triangle to the winding numbers of the nodes below it. A node at the bottom of its column tells
// whether the triangle is above the column; those that follow it are below the triangle up to the first that
// is not.
static void add_winding(grid *g, int32_t triangle)
{
	int32_t from[3], to[3];
	box_of(g, triangle, 0, from, to);
	for (int32_t i = from[0]; i <= to[0]; i++) {
		for (int32_t j = from[1]; j <= to[1]; j++) {
			for (int32_t k = 0; k <= to[2]; k++) {
				const tac_dvec3 p = place(g, i, j, k);
				int32_t winding = 0;
				tac_mesh_winding_add(g->def->mesh, triangle, triangle + 1, &p, 1, &winding);
				if (winding == 0)
					break;
				g->winding[index_of(g, i, j, k)] += (int8_t)winding;
			}
		}
	}
}

static double distance_to(const grid *g, int32_t triangle, tac_dvec3 p, tac_dvec3 *out_nearest)
{
	const tac_dvec3 corners[3] = {tac_mesh_corner(g->def->mesh, triangle, 0),
				      tac_mesh_corner(g->def->mesh, triangle, 1),
				      tac_mesh_corner(g->def->mesh, triangle, 2)};
	int region;
	*out_nearest = tac_closest_on_triangle(p, corners, &region);
	return tac_dvec3_length(tac_dvec3_sub(p, *out_nearest));
}

static void add_distance(grid *g, int32_t triangle)
{
	const double reach = (FIELD_FAR + 0.01) * g->h;
	const tac_dvec3 normal = tac_mesh_triangle_normal(g->def->mesh, triangle);
	const tac_dvec3 corner = tac_mesh_corner(g->def->mesh, triangle, 0);
	int32_t from[3], to[3];
	box_of(g, triangle, FIELD_FAR, from, to);
	for (int32_t i = from[0]; i <= to[0]; i++) {
		for (int32_t j = from[1]; j <= to[1]; j++) {
			for (int32_t k = from[2]; k <= to[2]; k++) {
				const tac_dvec3 p = place(g, i, j, k);
				if (fabs(tac_dvec3_dot(normal, tac_dvec3_sub(p, corner))) > reach)
					continue;
				tac_dvec3 nearest;
				const double d = distance_to(g, triangle, p, &nearest);
				const int64_t n = index_of(g, i, j, k);
				if (d < (double)g->distance[n]) {
					g->distance[n] = (float)d;
					g->triangle[n] = triangle;
				}
			}
		}
	}
}

// Gives the nodes inside their depth: from the surface inwards, each takes the triangle of a neighbour.
static void add_depths(grid *g)
{
	const int64_t step[6] = {1,
				 -1,
				 g->nodes[2],
				 -g->nodes[2],
				 (int64_t)g->nodes[1] * g->nodes[2],
				 -(int64_t)g->nodes[1] * g->nodes[2]};
	int64_t begin = 0, end = 0;
	for (int64_t n = 0; n < g->count; n++) {
		if (g->winding[n] > 0 && g->triangle[n] >= 0)
			g->queue[end++] = n;
	}
	for (; begin < end; begin++) {
		const int64_t n = g->queue[begin];
		for (int s = 0; s < 6;
		     s++) { // the grid's border is outside: every node inside has neighbours
			const int64_t m = n + step[s];
			if (g->winding[m] <= 0)
				continue;
			tac_dvec3 nearest;
			const double d = distance_to(g, g->triangle[n], place_of_index(g, m), &nearest);
			if (g->triangle[m] < 0)
				g->queue[end++] = m;
			if (d < (double)g->distance[m]) {
				g->distance[m] = (float)d;
				g->triangle[m] = g->triangle[n];
			}
		}
	}
}

// The outward direction at a node, from the nearest point of the surface.
static tac_dvec3 direction(const grid *g, int64_t n, tac_dvec3 p)
{
	tac_dvec3 nearest;
	const double d = distance_to(g, g->triangle[n], p, &nearest);
	if (d < 1e-6 * g->h)
		return tac_mesh_triangle_normal(g->def->mesh, g->triangle[n]);
	return tac_dvec3_scale(tac_dvec3_sub(p, nearest), (g->winding[n] > 0 ? -1 : 1) / d);
}

// ---- bricks ----

typedef struct brick_kind {
	bool surface, inside, mixed; // a node within FIELD_FAR; a node inside; labels that differ
	uint8_t label;
} brick_kind;

static uint8_t label_at(const grid *g, int64_t n, tac_dvec3 p)
{
	if (!g->def->label)
		return 0;
	const double d = g->triangle[n] >= 0 ? (double)g->distance[n] : HUGE_VAL;
	const uint8_t label = g->def->label(g->def->label_user, p, g->winding[n] > 0 ? d : -d);
	return label < TAC_FIELD_LABELS ? label : 0;
}

static void fill_brick(const grid *g, const int32_t at[3], tac_field_brick *out, brick_kind *kind)
{
	const double far = FIELD_FAR * g->h;
	*kind = (brick_kind){0};
	for (int node = 0; node < FIELD_BRICK_NODES; node++) {
		const int32_t i = at[0] * FIELD_BRICK + (node >> 6),
			      j = at[1] * FIELD_BRICK + (node >> 3 & 7), k = at[2] * FIELD_BRICK + (node & 7);
		const int64_t n = index_of(g, i, j, k);
		const tac_dvec3 p = place(g, i, j, k);
		const bool inside = g->winding[n] > 0, near = (double)g->distance[n] < far;
		const double d = fmin((double)g->distance[n], far);
		out->distance[node] = (float)(inside ? -d : d);
		const tac_dvec3 normal = near ? direction(g, n, p) : tac_dvec3_zero();
		out->normal[0][node] = (int8_t)lrint(127 * normal.x);
		out->normal[1][node] = (int8_t)lrint(127 * normal.y);
		out->normal[2][node] = (int8_t)lrint(127 * normal.z);
		out->label[node] = label_at(g, n, p);
		kind->surface |= near;
		kind->mixed |= kind->inside && inside && out->label[node] != kind->label;
		kind->label = inside ? out->label[node] : kind->label;
		kind->inside |= inside;
	}
}

// The volume of each material in a brick, in voxels.
static void add_volume(const tac_field_brick *b, double h, double sum[TAC_FIELD_LABELS])
{
	for (int n = 0; n < FIELD_BRICK_NODES; n++)
		sum[b->label[n]] += fmin(fmax(0.5 - (double)b->distance[n] / h, 0), 1);
}

// Bricks from each brick to the nearest that is not outside: passes over the grid until nothing changes.
static void measure_clearance(tac_field *f)
{
	for (int32_t b = 0; b < f->brick_count; b++)
		f->clearance[b] = f->table[b] == FIELD_OUTSIDE ? UINT8_MAX : 0;
	for (bool changed = true; changed;) {
		changed = false;
		for (int32_t b = 0; b < f->brick_count; b++) {
			const int32_t at[3] = {b / (f->bricks[1] * f->bricks[2]),
					       b / f->bricks[2] % f->bricks[1], b % f->bricks[2]};
			int least = f->clearance[b];
			for (int c = 0; c < 27; c++) {
				const int32_t i = at[0] + c / 9 - 1, j = at[1] + c / 3 % 3 - 1,
					      k = at[2] + c % 3 - 1;
				if (i < 0 || j < 0 || k < 0 || i >= f->bricks[0] || j >= f->bricks[1] ||
				    k >= f->bricks[2])
					continue;
				const int other = f->clearance[tac_field_brick_index(f, i, j, k)] + 1;
				least = other < least ? other : least;
			}
			changed |= least != f->clearance[b];
			f->clearance[b] = (uint8_t)least;
		}
	}
}

// Counts the bricks that must be stored at once, and those that hold material at all; or stores the former.
static tac_result visit_bricks(const grid *g, tac_field *f, int32_t *out_at_once, int32_t *out_all)
{
	double sum[TAC_FIELD_LABELS] = {0};
	tac_field_brick *b = malloc(sizeof *b);
	if (!b)
		return TAC_ERROR_MEMORY;
	*out_at_once = *out_all = 0;
	for (int32_t brick = 0; brick < g->bricks[0] * g->bricks[1] * g->bricks[2]; brick++) {
		const int32_t at[3] = {brick / (g->bricks[1] * g->bricks[2]),
				       brick / g->bricks[2] % g->bricks[1], brick % g->bricks[2]};
		brick_kind kind;
		fill_brick(g, at, b, &kind);
		*out_at_once += kind.surface || kind.mixed;
		*out_all += kind.surface || kind.inside;
		if (!f)
			continue;
		if (kind.surface || kind.mixed) {
			*tac_field_store(f, brick) = *b;
			tac_field_find_rows(f, f->table[brick]);
		} else if (kind.inside) {
			f->table[brick] = FIELD_SOLID - kind.label;
		}
		f->dirty[brick] = kind.surface;
		add_volume(b, g->h, sum);
	}
	free(b);
	for (int label = 0; f && label < TAC_FIELD_LABELS; label++)
		f->volume_m3[label] = sum[label] * g->h * g->h * g->h;
	return TAC_OK;
}

static tac_result store_bricks(const grid *g, tac_field **out_field)
{
	const tac_field_def *def = g->def;
	int32_t at_once, all;
	if (visit_bricks(g, NULL, &at_once, &all) < TAC_OK)
		return TAC_ERROR_MEMORY;
	const int32_t capacity = def->max_bricks > 0 && def->max_bricks < all ? def->max_bricks : all;
	if (at_once > capacity) {
		tac_log(TAC_LOG_ERROR,
			"%s: expected room for the %d bricks of its surface, found max_bricks %d", def->name,
			(int)at_once, (int)def->max_bricks);
		return TAC_ERROR_ARGUMENT;
	}
	tac_field *f = tac_field_alloc(g->h, g->origin, g->bricks, capacity);
	if (!f || visit_bricks(g, f, &at_once, &all) < TAC_OK) {
		tac_field_destroy(&f);
		return TAC_ERROR_MEMORY;
	}
	f->mesh_min_m = tac_dvec3_from_vec3(def->mesh->bounds_min);
	f->mesh_max_m = tac_dvec3_from_vec3(def->mesh->bounds_max);
	f->never_full = capacity == all;
	measure_clearance(f);
	*out_field = f;
	return TAC_OK;
}

// ---- build ----

static bool alloc_grid(grid *g)
{
	const size_t n = (size_t)g->count;
	g->winding = calloc(n, 1);
	g->distance = malloc(n * sizeof *g->distance);
	g->triangle = malloc(n * sizeof *g->triangle);
	g->queue = g->def->label ? malloc(n * sizeof *g->queue) : NULL;
	if (!g->winding || !g->distance || !g->triangle || (g->def->label && !g->queue))
		return false;
	for (size_t i = 0; i < n; i++) {
		g->distance[i] = HUGE_VALF;
		g->triangle[i] = -1;
	}
	return true;
}

static void free_grid(grid *g)
{
	free(g->winding);
	free(g->distance);
	free(g->triangle);
	free(g->queue);
}

static tac_result build(grid *g, tac_field **out_field)
{
	const tac_mesh *mesh = g->def->mesh;
	if (!alloc_grid(g))
		return TAC_ERROR_MEMORY;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		add_winding(g, t);
		add_distance(g, t);
	}
	for (int64_t n = 0; n < g->count; n++) {
		if (g->winding[n] != 0 && g->winding[n] != 1) {
			const tac_dvec3 p = place_of_index(g, n);
			tac_log(TAC_LOG_ERROR,
				"%s: expected shapes that do not overlap, as a body that is drilled needs; "
				"found the point (%g, %g, %g) m inside %d of them",
				g->def->name, p.x, p.y, p.z, g->winding[n]);
			return TAC_ERROR_ARGUMENT;
		}
	}
	if (g->def->label)
		add_depths(g);
	return store_bricks(g, out_field);
}

// Chooses the grid. False if it would have too many nodes.
static bool choose_grid(grid *g)
{
	const tac_mesh *mesh = g->def->mesh;
	const tac_dvec3 low = tac_dvec3_from_vec3(mesh->bounds_min),
			size = tac_dvec3_sub(tac_dvec3_from_vec3(mesh->bounds_max), low);
	const double extent[3] = {size.x, size.y, size.z};
	const double pad = PADDING * g->h;
	double nodes = 1;
	g->origin = tac_dvec3_sub(low, tac_dvec3_make(pad, pad, pad));
	for (int k = 0; k < 3; k++) {
		const double bricks = ceil((extent[k] / g->h + 2 * PADDING + 1) / FIELD_BRICK);
		nodes *= bricks * FIELD_BRICK;
		if (!(nodes <= (double)TAC_FIELD_NODES_MAX))
			return false;
		g->bricks[k] = (int32_t)bricks;
		g->nodes[k] = g->bricks[k] * FIELD_BRICK;
	}
	g->count = (int64_t)nodes;
	return true;
}

tac_result tac_field_build(const tac_field_def *def, tac_field **out_field)
{
	grid g = {.def = def, .h = def->voxel_m};
	*out_field = NULL;
	if (!tac_mesh_is_watertight(def->mesh) || !(tac_mesh_volume(def->mesh) > 0)) {
		tac_log(TAC_LOG_ERROR,
			"%s: expected a closed mesh with its triangles counter-clockwise seen from outside, "
			"as a body that is drilled needs; found %d open, %d non-manifold and %d flipped "
			"edges",
			def->name, (int)def->mesh->open_edges, (int)def->mesh->non_manifold_edges,
			(int)def->mesh->flipped_edges);
		return TAC_ERROR_ARGUMENT;
	}
	if (!(def->voxel_m > 0) || !choose_grid(&g)) {
		tac_log(TAC_LOG_ERROR,
			"%s: expected voxels that fill its box with at most %lld nodes, found voxel_m %g",
			def->name, (long long)TAC_FIELD_NODES_MAX, def->voxel_m);
		return TAC_ERROR_ARGUMENT;
	}
	const tac_result result = build(&g, out_field);
	free_grid(&g);
	if (result == TAC_ERROR_MEMORY)
		tac_log(TAC_LOG_ERROR, "%s: no memory for a field of %lld nodes", def->name,
			(long long)g.count);
	return result;
}
