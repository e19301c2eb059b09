// The lattice before it is cut: cells of several sizes, of which neighbours, also across an edge or a corner,
// differ by a factor of two at most. Every cell has its middle as a vertex. Two cells of one size with a
// common face share four tetrahedra, one for each edge of the face: from an edge to the two middles. An edge
// that has a vertex at its middle, because a cell beside it is divided, halves its tetrahedra. Where a face
// meets a larger cell, the tetrahedra end at the face, which is divided into two triangles.
#include "tissue/lattice/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Cells of one size around the surface, in cells from it: all tetrahedra that are moved or cut are of one
// size, and what a dent strains is resolved. With 1.9 a point force on a half-space is 7 % too stiff,
// with 2.9 it is within 3 % (tests/tissue/test_elastic.c).
#define SURFACE_CELLS 2.9
// Cells of one size before the next follows, away from the ball that is touched.
#define TOUCH_CELLS 4.0
// Cells at the surface, across the thinnest side of the body.
#define SURFACE_PARTS 3
// The size of a finest cell by the spacing of the surface's vertices: measured (tests/tissue/test_lattice.c).
#define CELL_BY_SPACING 1.41

typedef struct octree {
	const tac_lattice_def *def;
	double cell_m; // finest
	tac_dvec3 origin_m;
	int levels;
	int surface_levels; // of cells at the surface
	int32_t cells[LATTICE_LEVELS][3];
	uint8_t *split[LATTICE_LEVELS]; // whether a cell of the level is divided
	lattice_grid *grid;
	bool failed; // out of memory, or too many tetrahedra
} octree;

static bool is_in(const octree *o, int level, const int32_t c[3])
{
	for (int k = 0; k < 3; k++) {
		if (c[k] < 0 || c[k] >= o->cells[level][k])
			return false;
	}
	return true;
}

static size_t index_of(const octree *o, int level, const int32_t c[3])
{
	return ((size_t)c[0] * (size_t)o->cells[level][1] + (size_t)c[1]) * (size_t)o->cells[level][2] +
	       (size_t)c[2];
}

static bool is_split(const octree *o, int level, const int32_t c[3])
{
	return is_in(o, level, c) && o->split[level][index_of(o, level, c)];
}

// Whether the cell is there, divided or not.
static bool exists(const octree *o, int level, const int32_t c[3])
{
	const int32_t parent[3] = {c[0] >> 1, c[1] >> 1, c[2] >> 1};
	return is_in(o, level, c) && (level == o->levels - 1 || is_split(o, level + 1, parent));
}

static void split_parent(octree *o, int level, const int32_t c[3])
{
	const int32_t parent[3] = {c[0] >> 1, c[1] >> 1, c[2] >> 1};
	if (level + 1 < o->levels && is_in(o, level + 1, parent))
		o->split[level + 1][index_of(o, level + 1, parent)] = 1;
}

// The largest level that the surface may have at a point.
static int surface_level(const octree *o, tac_dvec3 p)
{
	if (o->def->touch_radius_m <= 0)
		return 0;
	double away = tac_dvec3_length(tac_dvec3_sub(p, o->def->touch_centre_m)) - o->def->touch_radius_m;
	int level = 0;
	for (double cell = o->cell_m; away > 0 && level < o->surface_levels - 1; cell *= 2, level++) {
		away -= TOUCH_CELLS * cell;
		if (away <= 0)
			break;
	}
	return level;
}

// Divides the cells above those of `level` that are near a triangle and must be as small as that.
static void refine_at_triangle(octree *o, int level, const tac_mesh *mesh, int32_t triangle)
{
	const double cell = ldexp(o->cell_m, level), reach = SURFACE_CELLS * cell;
	const tac_dvec3 normal = tac_mesh_triangle_normal(mesh, triangle);
	const tac_dvec3 corner = tac_mesh_corner(mesh, triangle, 0);
	const tac_dvec3 b = tac_mesh_corner(mesh, triangle, 1), c = tac_mesh_corner(mesh, triangle, 2);
	int32_t from[3], to[3];
	for (int k = 0; k < 3; k++) {
		const double origin = tac_dvec3_get(o->origin_m, k), x = tac_dvec3_get(corner, k);
		const double y = tac_dvec3_get(b, k), z = tac_dvec3_get(c, k);
		from[k] = (int32_t)fmax(floor((fmin(x, fmin(y, z)) - reach - origin) / cell), 0);
		to[k] = (int32_t)fmin(floor((fmax(x, fmax(y, z)) + reach - origin) / cell),
				      o->cells[level][k] - 1);
	}
	int32_t at[3];
	for (at[0] = from[0]; at[0] <= to[0]; at[0]++) {
		for (at[1] = from[1]; at[1] <= to[1]; at[1]++) {
			for (at[2] = from[2]; at[2] <= to[2]; at[2]++) {
				const tac_dvec3 middle = tac_dvec3_add_scaled(
					o->origin_m, cell,
					tac_dvec3_make(at[0] + 0.5, at[1] + 0.5, at[2] + 0.5));
				if (fabs(tac_dvec3_dot(normal, tac_dvec3_sub(middle, corner))) <= reach &&
				    surface_level(o, middle) <= level)
					split_parent(o, level, at);
			}
		}
	}
}

// Divides what lies above the neighbours of the divided cells of a level, so that sizes differ by two.
static void balance(octree *o, int level)
{
	int32_t c[3];
	for (c[0] = 0; c[0] < o->cells[level][0]; c[0]++) {
		for (c[1] = 0; c[1] < o->cells[level][1]; c[1]++) {
			for (c[2] = 0; c[2] < o->cells[level][2]; c[2]++) {
				if (!is_split(o, level, c))
					continue;
				for (int n = 0; n < 27; n++) {
					const int32_t near[3] = {c[0] + n % 3 - 1, c[1] + n / 3 % 3 - 1,
								 c[2] + n / 9 - 1};
					if (is_in(o, level, near))
						split_parent(o, level, near);
				}
			}
		}
	}
}

static int32_t vertex_at(octree *o, const int32_t place[3])
{
	const uint64_t key = ((uint64_t)place[0] << 42 | (uint64_t)place[1] << 21 | (uint64_t)place[2]) + 1;
	lattice_grid *g = o->grid;
	const int32_t before = g->numbers.count, n = tac_lattice_table_add(&g->numbers, key);
	if (n == before) {
		if ((n & (n - 1)) == 0) { // at powers of two the room doubles
			void *more = realloc(g->place, (size_t)(n ? 2 * n : 1) * sizeof *g->place);
			if (!more) {
				o->failed = true;
				return 0;
			}
			g->place = more;
		}
		memcpy(g->place[n], place, sizeof g->place[n]);
		g->vertex_count = n + 1;
	}
	o->failed = o->failed || n < 0;
	return n < 0 ? 0 : n;
}

static void add_tet(octree *o, const int32_t a[3], const int32_t b[3], const int32_t c[3], const int32_t d[3])
{
	lattice_grid *g = o->grid;
	if (g->tet_count == g->tet_capacity) {
		const int32_t capacity = g->tet_capacity ? 2 * g->tet_capacity : 4096;
		void *more = capacity <= LATTICE_TETS_MAX
				     ? realloc(g->tets, (size_t)capacity * sizeof *g->tets)
				     : NULL;
		if (!more) {
			o->failed = true;
			return;
		}
		g->tets = more;
		g->tet_capacity = capacity;
	}
	int64_t e[3][3];
	for (int k = 0; k < 3; k++) {
		e[0][k] = b[k] - a[k];
		e[1][k] = c[k] - a[k];
		e[2][k] = d[k] - a[k];
	}
	const int64_t volume6 = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
				e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
				e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
	const int32_t *third = volume6 > 0 ? c : d, *fourth = volume6 > 0 ? d : c;
	const int32_t tet[4] = {vertex_at(o, a), vertex_at(o, b), vertex_at(o, third), vertex_at(o, fourth)};
	memcpy(g->tets[g->tet_count++].vertex, tet, sizeof tet);
}

// The corners of a cell's face with the normal +axis or -axis, in order around it.
static void face_of(int level, const int32_t c[3], int axis, int up, int32_t out[4][3])
{
	static const int around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
	const int u = (axis + 1) % 3, v = (axis + 2) % 3;
	for (int k = 0; k < 4; k++) {
		out[k][axis] = (c[axis] + up) * (2 << level);
		out[k][u] = (c[u] + around[k][0]) * (2 << level);
		out[k][v] = (c[v] + around[k][1]) * (2 << level);
	}
}

static void middle_of(int level, const int32_t c[3], int32_t out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = (2 * c[k] + 1) * (1 << level);
}

// Whether one of the four cells around an edge of a cell of this level is divided.
static bool is_halved(const octree *o, int level, const int32_t a[3], const int32_t b[3])
{
	int along = 0;
	while (a[along] == b[along])
		along++;
	const int u = (along + 1) % 3, v = (along + 2) % 3, size = 2 << level;
	for (int n = 0; n < 4; n++) {
		int32_t c[3];
		c[along] = (a[along] < b[along] ? a[along] : b[along]) / size;
		c[u] = a[u] / size - (n & 1);
		c[v] = a[v] / size - (n >> 1);
		if (is_split(o, level, c))
			return true;
	}
	return false;
}

static void join_equal(octree *o, int level, const int32_t c[3], const int32_t next[3], int axis)
{
	int32_t face[4][3], mine[3], other[3];
	face_of(level, c, axis, 1, face);
	middle_of(level, c, mine);
	middle_of(level, next, other);
	for (int k = 0; k < 4; k++) {
		const int32_t *a = face[k], *b = face[(k + 1) % 4];
		if (is_halved(o, level, a, b)) {
			const int32_t half[3] = {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2};
			add_tet(o, mine, other, a, half);
			add_tet(o, mine, other, half, b);
		} else {
			add_tet(o, mine, other, a, b);
		}
	}
}

// The face of a cell that is a quarter of a larger cell's face. Its diagonal goes through the middle of the
// larger face, as in the paper.
static void join_larger(octree *o, int level, const int32_t c[3], const int32_t next[3], int axis, int up)
{
	const int32_t parent[3] = {next[0] >> 1, next[1] >> 1, next[2] >> 1};
	int32_t face[4][3], mine[3], other[3];
	face_of(level, c, axis, up, face);
	middle_of(level, c, mine);
	middle_of(level + 1, parent, other);
	int hub = 0; // the corner at the middle of the larger face
	for (int k = 0; k < 4; k++) {
		const int u = (axis + 1) % 3, v = (axis + 2) % 3;
		if (face[k][u] == other[u] && face[k][v] == other[v])
			hub = k;
	}
	for (int k = 1; k < 3; k++) {
		add_tet(o, mine, face[hub], face[(hub + k) % 4], face[(hub + k + 1) % 4]);
		add_tet(o, other, face[hub], face[(hub + k) % 4], face[(hub + k + 1) % 4]);
	}
}

static void fill_level(octree *o, int level)
{
	int32_t c[3];
	for (c[0] = 0; c[0] < o->cells[level][0]; c[0]++) {
		for (c[1] = 0; c[1] < o->cells[level][1]; c[1]++) {
			for (c[2] = 0; c[2] < o->cells[level][2]; c[2]++) {
				if (!exists(o, level, c) || is_split(o, level, c))
					continue;
				for (int side = 0; side < 6 && !o->failed; side++) {
					const int axis = side / 2, up = side % 2;
					int32_t next[3] = {c[0], c[1], c[2]};
					next[axis] += up ? 1 : -1;
					if (!is_in(o, level, next))
						continue;
					if (!exists(o, level, next))
						join_larger(o, level, c, next, axis, up);
					else if (up && !is_split(o, level, next))
						join_equal(o, level, c, next, axis);
				}
			}
		}
	}
}

static bool allocate(octree *o, const tac_mesh *mesh)
{
	int32_t most = 0;
	double cells = 1, size[3], thinnest = HUGE_VAL;
	for (int k = 0; k < 3; k++) {
		size[k] = (double)tac_vec3_get(tac_vec3_sub(mesh->bounds_max, mesh->bounds_min), k);
		cells *= ceil(size[k] / o->cell_m) + 8;
		thinnest = fmin(thinnest, size[k]);
	}
	if (!(cells < (double)LATTICE_CELLS_MAX))
		return false;
	// As many levels as the body has room for: four of the largest cells along its longest side.
	for (int k = 0; k < 3; k++)
		most = (int32_t)fmax(most, ceil(size[k] / o->cell_m));
	o->levels = 1;
	while (o->levels < LATTICE_LEVELS && most >> (o->levels + 1) > 0)
		o->levels++;
	o->surface_levels = 1;
	while (o->surface_levels < o->levels &&
	       ldexp(o->cell_m, o->surface_levels) * SURFACE_PARTS <= thinnest)
		o->surface_levels++;
	const int32_t largest = 1 << (o->levels - 1);
	double middle[3];
	for (int k = 0; k < 3; k++) {
		const int32_t n = (int32_t)ceil(size[k] / o->cell_m) + 4;
		const int32_t whole = (n + largest - 1) / largest * largest;
		middle[k] =
			(double)(tac_vec3_get(mesh->bounds_max, k) + tac_vec3_get(mesh->bounds_min, k)) / 2 -
			whole * o->cell_m / 2;
		for (int level = 0; level < o->levels; level++)
			o->cells[level][k] = whole >> level;
	}
	o->origin_m = tac_dvec3_make(middle[0], middle[1], middle[2]);
	for (int level = 0; level < o->levels; level++) {
		o->split[level] = calloc((size_t)o->cells[level][0] * (size_t)o->cells[level][1] *
						 (size_t)o->cells[level][2],
					 1);
		o->failed = o->failed || !o->split[level];
	}
	return true;
}

tac_result tac_lattice_grid_build(const tac_lattice_def *def, lattice_grid *out)
{
	octree o = {.def = def, .cell_m = CELL_BY_SPACING * def->spacing_m, .grid = out};
	*out = (lattice_grid){0};
	if (!allocate(&o, def->mesh))
		return TAC_ERROR_ARGUMENT;
	out->origin_m = o.origin_m;
	out->unit_m = o.cell_m / 2;
	o.failed = !tac_lattice_table_init(&out->numbers) || o.failed;
	for (int level = 0; !o.failed && level + 1 < o.levels; level++) {
		balance(&o, level);
		for (int32_t t = 0; t < def->mesh->triangle_count; t++)
			refine_at_triangle(&o, level, def->mesh, t);
		for (int32_t k = 0; level == 0 && k < def->fine_count; k++) {
			for (int32_t t = 0; t < def->fine[k]->triangle_count; t++)
				refine_at_triangle(&o, level, def->fine[k], t);
		}
	}
	for (int level = 0; !o.failed && level < o.levels; level++)
		fill_level(&o, level);
	for (int level = 0; level < o.levels; level++)
		free(o.split[level]);
	if (!o.failed)
		return TAC_OK;
	tac_lattice_grid_release(out);
	return TAC_ERROR_MEMORY;
}

void tac_lattice_grid_release(lattice_grid *grid)
{
	free(grid->place);
	free(grid->tets);
	tac_lattice_table_fini(&grid->numbers);
	*grid = (lattice_grid){0};
}
