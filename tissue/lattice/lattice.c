#include "tissue/lattice/lattice.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}; // outward

double tac_lattice_volume6(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d)
{
	return tac_dvec3_dot(tac_dvec3_triangle_cross(a, b, c), tac_dvec3_sub(d, a));
}

tac_lattice_quality tac_lattice_measure(const tac_lattice *lattice)
{
	tac_lattice_quality q = {HUGE_VAL, 0, 0};
	for (int32_t n = 0; n < lattice->tet_count; n++) {
		tac_dvec3 p[4], normal[4];
		for (int k = 0; k < 4; k++)
			p[k] = lattice->vertices[lattice->tets[n].vertex[k]];
		for (int k = 0; k < 4; k++)
			normal[k] = tac_dvec3_triangle_normal(p[faces[k][0]], p[faces[k][1]], p[faces[k][2]]);
		for (int i = 0; i < 4; i++) {
			for (int j = 0; j < i; j++) {
				const double inner = fmin(fmax(-tac_dvec3_dot(normal[i], normal[j]), -1), 1);
				q.least_rad = fmin(q.least_rad, acos(inner));
				q.most_rad = fmax(q.most_rad, acos(inner));
			}
		}
		q.volume_m3 += tac_lattice_volume6(p[0], p[1], p[2], p[3]) / 6;
	}
	return q;
}

static int32_t root_of(int32_t *parent, int32_t v)
{
	while (parent[v] != v) {
		parent[v] = parent[parent[v]];
		v = parent[v];
	}
	return v;
}

// Tips that the spacing is too coarse for may be lost, not more of a body than this.
#define LOST_MAX 0.01

// Keeps the tetrahedra of the largest part that hangs together. *out_lost is what the others had of the
// volume.
static bool keep_largest(tac_lattice *l, double *out_lost)
{
	int32_t *parent = malloc((size_t)l->vertex_count * sizeof *parent);
	double *volume = calloc((size_t)l->vertex_count, sizeof *volume);
	const bool good = parent && volume;
	if (good) {
		for (int32_t v = 0; v < l->vertex_count; v++)
			parent[v] = v;
		for (int32_t n = 0; n < l->tet_count; n++) {
			for (int k = 1; k < 4; k++)
				parent[root_of(parent, l->tets[n].vertex[k])] =
					root_of(parent, l->tets[n].vertex[0]);
		}
		int32_t largest = 0, kept = 0;
		double all = 0;
		for (int32_t n = 0; n < l->tet_count; n++) {
			const int32_t *v = l->tets[n].vertex, root = root_of(parent, v[0]);
			const double own = tac_lattice_volume6(l->vertices[v[0]], l->vertices[v[1]],
							       l->vertices[v[2]], l->vertices[v[3]]);
			volume[root] += own;
			all += own;
			largest = volume[root] > volume[largest] ? root : largest;
		}
		for (int32_t n = 0; n < l->tet_count; n++) {
			if (root_of(parent, l->tets[n].vertex[0]) == largest)
				l->tets[kept++] = l->tets[n];
		}
		l->tet_count = kept;
		*out_lost = all > 0 ? 1 - volume[largest] / all : 0;
	}
	free(parent);
	free(volume);
	return good;
}

// The faces that belong to one tetrahedron alone.
static bool find_surface(tac_lattice *l)
{
	const int32_t count = 4 * l->tet_count;
	lattice_table edges = {0}, table = {0};
	uint8_t *times = calloc((size_t)count + 1, 1);
	int32_t *ids = malloc(((size_t)count + 1) * sizeof *ids);
	bool good = times && ids && tac_lattice_table_init(&edges) && tac_lattice_table_init(&table);
	// A face is known by its lowest two vertices as an edge, and by that edge's number and the third.
	for (int32_t f = 0; good && f < count; f++) {
		const int32_t *t = l->tets[f / 4].vertex;
		int32_t v[3] = {t[faces[f % 4][0]], t[faces[f % 4][1]], t[faces[f % 4][2]]};
		for (int k = 0; k < 3; k++) { // sorts three
			const int a = k == 1 ? 1 : 0;
			if (v[a] > v[a + 1]) {
				const int32_t swap = v[a];
				v[a] = v[a + 1];
				v[a + 1] = swap;
			}
		}
		const int32_t edge =
			tac_lattice_table_add(&edges, ((uint64_t)v[0] << 32 | (uint64_t)v[1]) + 1);
		ids[f] = edge < 0
				 ? -1
				 : tac_lattice_table_add(&table, ((uint64_t)edge << 32 | (uint64_t)v[2]) + 1);
		good = ids[f] >= 0;
		if (good)
			times[ids[f]]++;
	}
	for (int32_t f = 0; good && f < count; f++)
		l->triangle_count += times[ids[f]] == 1;
	l->triangles = good ? malloc(((size_t)l->triangle_count + 1) * sizeof *l->triangles) : NULL;
	good = l->triangles;
	for (int32_t f = 0, n = 0; good && f < count; f++) {
		const int32_t *t = l->tets[f / 4].vertex;
		if (times[ids[f]] == 1)
			l->triangles[n++] = (tac_mesh_triangle){
				{t[faces[f % 4][0]], t[faces[f % 4][1]], t[faces[f % 4][2]]}};
	}
	free(times);
	free(ids);
	tac_lattice_table_fini(&edges);
	tac_lattice_table_fini(&table);
	return good;
}

typedef struct ranked {
	uint64_t rank;
	int32_t vertex;
} ranked;

// 21 bits of x, each followed by two zeros.
static uint64_t spread_bits(uint64_t x)
{
	x = (x | x << 32) & UINT64_C(0x001F00000000FFFF);
	x = (x | x << 16) & UINT64_C(0x001F0000FF0000FF);
	x = (x | x << 8) & UINT64_C(0x100F00F00F00F00F);
	x = (x | x << 4) & UINT64_C(0x10C30C30C30C30C3);
	return (x | x << 2) & UINT64_C(0x1249249249249249);
}

static int by_rank(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

// Drops unused vertices and sorts the rest: those of the surface first, each along a space-filling curve
// (G. M. Morton, 1966), so that what is touched together lies together in memory.
static bool sort_vertices(tac_lattice *l, tac_vec3 low, double size)
{
	uint8_t *use = calloc((size_t)l->vertex_count + 1, 1); // 1: inside, 2: on the surface
	ranked *list = malloc(((size_t)l->vertex_count + 1) * sizeof *list);
	int32_t *number = malloc(((size_t)l->vertex_count + 1) * sizeof *number);
	tac_dvec3 *sorted = malloc(((size_t)l->vertex_count + 1) * sizeof *sorted);
	const bool good = use && list && number && sorted;
	int32_t count = 0;
	if (good) {
		for (int32_t n = 0; n < 4 * l->tet_count; n++)
			use[l->tets[n / 4].vertex[n % 4]] = 1;
		for (int32_t n = 0; n < 3 * l->triangle_count; n++)
			use[l->triangles[n / 3].vertex[n % 3]] = 2;
		for (int32_t v = 0; v < l->vertex_count; v++) {
			if (!use[v])
				continue;
			const tac_dvec3 p = tac_dvec3_scale(
				tac_dvec3_sub(l->vertices[v], tac_dvec3_from_vec3(low)), 1e6 / size);
			list[count++] =
				(ranked){(use[v] == 1 ? UINT64_C(1) << 63 : 0) |
						 (spread_bits((uint64_t)fmin(fmax(p.x, 0), 2e6)) << 2 |
						  spread_bits((uint64_t)fmin(fmax(p.y, 0), 2e6)) << 1 |
						  spread_bits((uint64_t)fmin(fmax(p.z, 0), 2e6))),
					 v};
			l->surface_count += use[v] == 2;
		}
		qsort(list, (size_t)count, sizeof *list, by_rank);
		for (int32_t i = 0; i < count; i++) {
			number[list[i].vertex] = i;
			sorted[i] = l->vertices[list[i].vertex];
		}
		for (int32_t n = 0; n < 4 * l->tet_count; n++)
			l->tets[n / 4].vertex[n % 4] = number[l->tets[n / 4].vertex[n % 4]];
		for (int32_t n = 0; n < 3 * l->triangle_count; n++)
			l->triangles[n / 3].vertex[n % 3] = number[l->triangles[n / 3].vertex[n % 3]];
		free(l->vertices);
		l->vertices = sorted;
		l->vertex_count = count;
	} else {
		free(sorted);
	}
	free(use);
	free(list);
	free(number);
	return good;
}

static tac_result refuse(const tac_lattice_def *def, const char *expected)
{
	tac_log(TAC_LOG_ERROR, "tissue of %s: expected %s, found a spacing of %.3g mm for a body of %.3g mm",
		def->name, expected, def->spacing_m * 1e3, tac_mesh_size(def->mesh) * 1e3);
	return TAC_ERROR_ARGUMENT;
}

static tac_result fill(const tac_lattice_def *def, tac_lattice *l, double *out_lost)
{
	lattice_grid grid = {0};
	lattice_shape shape;
	tac_result result = tac_lattice_shape_init(&shape, def->mesh);
	if (result != TAC_OK)
		return result;
	result = tac_lattice_grid_build(def, &grid);
	if (result == TAC_OK)
		result = tac_lattice_stuff(&grid, &shape, l);
	tac_lattice_grid_release(&grid);
	tac_lattice_shape_fini(&shape);
	if (result != TAC_OK)
		return result;
	if (!keep_largest(l, out_lost) || !find_surface(l) ||
	    !sort_vertices(l, def->mesh->bounds_min, tac_mesh_size(def->mesh)))
		return TAC_ERROR_MEMORY;
	return TAC_OK;
}

tac_result tac_lattice_build(const tac_lattice_def *def, tac_lattice **out_lattice)
{
	*out_lattice = NULL;
	if (!tac_mesh_is_watertight(def->mesh)) {
		tac_log(TAC_LOG_ERROR,
			"tissue of %s: expected a closed mesh, found %d open and %d flipped edges", def->name,
			def->mesh->open_edges, def->mesh->flipped_edges);
		return TAC_ERROR_ARGUMENT;
	}
	if (!(def->spacing_m > 0 && def->spacing_m < tac_mesh_size(def->mesh)))
		return refuse(def, "a spacing below the size of the body");
	tac_lattice *l = calloc(1, sizeof *l);
	double lost = 0;
	tac_result result = l ? fill(def, l, &lost) : TAC_ERROR_MEMORY;
	if (result == TAC_ERROR_ARGUMENT)
		refuse(def, "a spacing of more than a 400th of the body");
	else if (result == TAC_ERROR_MEMORY)
		tac_log(TAC_LOG_ERROR, "tissue of %s: out of memory", def->name);
	else if (l->tet_count == 0)
		result = refuse(def, "a spacing below the thickness of the body");
	else if (lost > LOST_MAX) {
		tac_log(TAC_LOG_ERROR,
			"tissue of %s: expected a body that hangs together, found %.0f %% of its volume "
			"apart from the "
			"rest with a spacing of %.3g mm",
			def->name, 100 * lost, def->spacing_m * 1e3);
		result = TAC_ERROR_ARGUMENT;
	}
	if (result == TAC_OK)
		*out_lattice = l;
	else
		tac_lattice_destroy(&l);
	return result;
}

void tac_lattice_destroy(tac_lattice **lattice)
{
	if (*lattice) {
		free((*lattice)->vertices);
		free((*lattice)->tets);
		free((*lattice)->triangles);
	}
	free(*lattice);
	*lattice = NULL;
}
