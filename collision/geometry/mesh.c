#include "collision/mesh.h"

#include "base/assert.h"
#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The error of a normal from float vertices, rad: coplanar triangles stay one surface at a crease angle of 0.
#define CREASE_SLACK_RAD 1e-6
// Buckets up to this size are sorted by insertion: a vertex has six edges on average.
#define INSERTION_LIMIT 24
#define PI              3.14159265358979323846

// Working memory of the build, freed as a whole.
typedef struct scratch {
	int32_t *remap; // input vertex to welded vertex
	int32_t *table; // hash table of welded vertices
	struct item *items, *sorted;
	int32_t *starts; // index of each bucket's first item
	int32_t *parent; // union-find over triangles
	tac_dvec3 *normals;
} scratch;

// Sorted by (bucket, a, b, payload).
typedef struct item {
	int32_t bucket, a, b;
	int32_t payload;
} item;

static void *allocate(int64_t count, size_t size)
{
	return calloc(count > 0 ? (size_t)count : 1, size);
}

static bool is_degenerate(const tac_mesh *mesh, int32_t triangle)
{
	double longest_squared = 0;
	for (int k = 0; k < 3; k++) {
		const tac_dvec3 edge = tac_dvec3_sub(tac_mesh_corner(mesh, triangle, k),
						     tac_mesh_corner(mesh, triangle, (k + 1) % 3));
		longest_squared = fmax(longest_squared, tac_dvec3_length_squared(edge));
	}
	return tac_dvec3_length(tac_mesh_triangle_cross(mesh, triangle)) <=
	       TAC_MESH_DEGENERATE * longest_squared;
}

static tac_result check(const tac_mesh_def *def)
{
	const char *name = def->name ? def->name : "mesh";
	if (def->vertex_count < 0 || def->vertex_count > TAC_MESH_MAX || def->triangle_count < 0 ||
	    def->triangle_count > TAC_MESH_MAX) {
		tac_log(TAC_LOG_ERROR, "%s: %d vertices and %d triangles, expected 0 to %d of each", name,
			def->vertex_count, def->triangle_count, TAC_MESH_MAX);
		return TAC_ERROR_ARGUMENT;
	}
	if (!(def->crease_angle_rad >= 0 && def->crease_angle_rad <= PI)) {
		tac_log(TAC_LOG_ERROR, "%s: crease angle %g rad, expected 0 to pi", name,
			def->crease_angle_rad);
		return TAC_ERROR_ARGUMENT;
	}
	for (int32_t i = 0; i < def->vertex_count; i++) {
		const tac_vec3 v = def->vertices[i];
		if (!tac_vec3_finite(v)) {
			tac_log(TAC_LOG_ERROR, "%s: vertex %d is (%g, %g, %g), expected finite coordinates",
				name, i, (double)v.x, (double)v.y, (double)v.z);
			return TAC_ERROR_FORMAT;
		}
	}
	for (int32_t t = 0; t < def->triangle_count; t++) {
		for (int k = 0; k < 3; k++) {
			const int32_t v = def->triangles[t].vertex[k];
			if (v < 0 || v >= def->vertex_count) {
				tac_log(TAC_LOG_ERROR, "%s: triangle %d uses vertex %d, expected 0 to %d",
					name, t, v, def->vertex_count - 1);
				return TAC_ERROR_FORMAT;
			}
		}
		if (def->triangle_surface &&
		    (def->triangle_surface[t] < 0 || def->triangle_surface[t] >= def->surface_count)) {
			tac_log(TAC_LOG_ERROR, "%s: triangle %d is of surface %d, expected 0 to %d", name, t,
				def->triangle_surface[t], def->surface_count - 1);
			return TAC_ERROR_FORMAT;
		}
	}
	return TAC_OK;
}

static uint64_t hash(tac_vec3 v, uint64_t seed)
{
	uint32_t bits[3];
	memcpy(bits, &v, sizeof bits);
	uint64_t h = seed;
	for (int k = 0; k < 3; k++) {
		// The finaliser of splitmix64: every input bit affects the low bits, which index the table.
		h ^= bits[k];
		h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
		h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
		h ^= h >> 31;
	}
	return h;
}

// Fills mesh->vertices with the distinct positions in order of appearance, and s->remap.
static bool weld(const tac_mesh_def *def, tac_mesh *mesh, scratch *s)
{
	uint64_t size = 16;
	while (size < 2 * (uint64_t)def->vertex_count)
		size *= 2;
	mesh->vertices = allocate(def->vertex_count, sizeof *mesh->vertices);
	s->remap = allocate(def->vertex_count, sizeof *s->remap);
	s->table = allocate((int64_t)size, sizeof *s->table); // 0: free, otherwise vertex + 1
	if (!mesh->vertices || !s->remap || !s->table)
		return false;
	// An address is unpredictable, so no file can be prepared whose positions all hash to one slot. The
	// mesh does not depend on the seed.
	const uint64_t seed = (uint64_t)(uintptr_t)s->table;
	for (int32_t i = 0; i < def->vertex_count; i++) {
		tac_vec3 v = def->vertices[i];
		v.x += 0.0f; // -0 becomes +0, so that equal positions have equal bits
		v.y += 0.0f;
		v.z += 0.0f;
		uint64_t slot = hash(v, seed) & (size - 1);
		while (s->table[slot] != 0 && memcmp(&mesh->vertices[s->table[slot] - 1], &v, sizeof v) != 0)
			slot = (slot + 1) & (size - 1);
		if (s->table[slot] == 0) {
			mesh->vertices[mesh->vertex_count] = v;
			s->table[slot] = ++mesh->vertex_count;
		}
		s->remap[i] = s->table[slot] - 1;
	}
	mesh->welded_vertices = def->vertex_count - mesh->vertex_count;
	free(s->table);
	s->table = NULL;
	return true;
}

static bool keep_triangles(const tac_mesh_def *def, tac_mesh *mesh, const scratch *s)
{
	mesh->triangles = allocate(def->triangle_count, sizeof *mesh->triangles);
	mesh->triangle_surface = allocate(def->triangle_count, sizeof *mesh->triangle_surface);
	if (!mesh->triangles || !mesh->triangle_surface)
		return false;
	for (int32_t i = 0; i < def->triangle_count; i++) {
		const int32_t t = mesh->triangle_count;
		for (int k = 0; k < 3; k++)
			mesh->triangles[t].vertex[k] = s->remap[def->triangles[i].vertex[k]];
		if (is_degenerate(mesh, t)) {
			mesh->degenerate_triangles++;
			continue;
		}
		mesh->triangle_surface[t] = def->triangle_surface ? def->triangle_surface[i] : 0;
		mesh->triangle_count++;
	}
	return true;
}

static void drop_unused_vertices(tac_mesh *mesh, scratch *s)
{
	int32_t *target = s->remap; // no longer needed, and at least vertex_count long
	for (int32_t v = 0; v < mesh->vertex_count; v++)
		target[v] = -1;
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		for (int k = 0; k < 3; k++)
			target[mesh->triangles[t].vertex[k]] = 0;
	int32_t kept = 0;
	for (int32_t v = 0; v < mesh->vertex_count; v++) {
		if (target[v] < 0)
			continue;
		mesh->vertices[kept] = mesh->vertices[v];
		target[v] = kept++;
	}
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		for (int k = 0; k < 3; k++)
			mesh->triangles[t].vertex[k] = target[mesh->triangles[t].vertex[k]];
	mesh->unused_vertices = mesh->vertex_count - kept;
	mesh->vertex_count = kept;
}

static void find_bounds(tac_mesh *mesh)
{
	if (mesh->vertex_count == 0)
		return;
	tac_vec3 low = mesh->vertices[0], high = low;
	for (int32_t i = 1; i < mesh->vertex_count; i++) {
		const tac_vec3 v = mesh->vertices[i];
		low = tac_vec3_min(low, v);
		high = tac_vec3_max(high, v);
	}
	mesh->bounds_min = low;
	mesh->bounds_max = high;
}

static int compare_items(const void *left, const void *right)
{
	const item *l = left, *r = right;
	if (l->a != r->a)
		return l->a < r->a ? -1 : 1;
	if (l->b != r->b)
		return l->b < r->b ? -1 : 1;
	return (l->payload > r->payload) - (l->payload < r->payload);
}

static void sort_bucket(item *items, int32_t count)
{
	if (count > INSERTION_LIMIT) {
		qsort(items, (size_t)count, sizeof *items, compare_items);
		return;
	}
	for (int32_t i = 1; i < count; i++) {
		const item inserted = items[i];
		int32_t j = i;
		for (; j > 0 && compare_items(&items[j - 1], &inserted) > 0; j--)
			items[j] = items[j - 1];
		items[j] = inserted;
	}
}

// Sorts s->items into s->sorted: a counting sort into the buckets (vertices), then a sort of each bucket. A
// bucket holds a handful of items unless its vertex is the centre of a fan. There is no hash that a prepared
// file could slow down.
static void sort_items(const tac_mesh *mesh, scratch *s, int32_t count)
{
	memset(s->starts, 0, ((size_t)mesh->vertex_count + 1) * sizeof *s->starts);
	for (int32_t i = 0; i < count; i++)
		s->starts[s->items[i].bucket + 1]++;
	for (int32_t v = 0; v < mesh->vertex_count; v++)
		s->starts[v + 1] += s->starts[v];
	for (int32_t i = 0; i < count; i++)
		s->sorted[s->starts[s->items[i].bucket]++] = s->items[i];
	int32_t begin = 0;
	for (int32_t v = 0; v < mesh->vertex_count; v++) {
		const int32_t end = s->starts[v];
		sort_bucket(s->sorted + begin, end - begin);
		begin = end;
	}
}

static bool same_key(const item *l, const item *r)
{
	return l->bucket == r->bucket && l->a == r->a && l->b == r->b;
}

static bool find_edges(tac_mesh *mesh, scratch *s)
{
	const int32_t count = 3 * mesh->triangle_count;
	s->items = allocate(count, sizeof *s->items);
	s->sorted = allocate(count, sizeof *s->sorted);
	s->starts = allocate((int64_t)mesh->vertex_count + 1, sizeof *s->starts);
	mesh->triangle_edges = allocate(mesh->triangle_count, sizeof *mesh->triangle_edges);
	if (!s->items || !s->sorted || !s->starts || !mesh->triangle_edges)
		return false;
	for (int32_t i = 0; i < count; i++) {
		const int32_t p = mesh->triangles[i / 3].vertex[i % 3];
		const int32_t q = mesh->triangles[i / 3].vertex[(i + 1) % 3];
		s->items[i] = (item){.bucket = p < q ? p : q, .a = p < q ? q : p, .payload = i};
	}
	sort_items(mesh, s, count);
	for (int32_t i = 0; i < count; i++)
		if (i == 0 || !same_key(&s->sorted[i - 1], &s->sorted[i]))
			mesh->edge_count++;
	mesh->edges = allocate(mesh->edge_count, sizeof *mesh->edges);
	if (!mesh->edges)
		return false;

	int32_t edge = -1;
	for (int32_t i = 0; i < count; i++) {
		const item *it = &s->sorted[i];
		const int32_t triangle = it->payload / 3;
		if (i == 0 || !same_key(it - 1, it))
			mesh->edges[++edge] = (tac_mesh_edge){{it->bucket, it->a}, {triangle, -1}, 0};
		tac_mesh_edge *e = &mesh->edges[edge];
		if (++e->triangle_count == 2)
			e->triangle[1] = triangle;
		mesh->triangle_edges[triangle].vertex[it->payload % 3] = edge;
	}
	return true;
}

// Whether `triangle` traverses its edge `e` from the lower vertex to the higher.
static bool runs_upward(const tac_mesh *mesh, int32_t triangle, int32_t e)
{
	const tac_mesh_triangle t = mesh->triangles[triangle], edges = mesh->triangle_edges[triangle];
	const int k = edges.vertex[0] == e ? 0 : edges.vertex[1] == e ? 1 : 2;
	return t.vertex[k] < t.vertex[(k + 1) % 3];
}

static bool is_flipped(const tac_mesh *mesh, int32_t e)
{
	const tac_mesh_edge *edge = &mesh->edges[e];
	return edge->triangle_count == 2 &&
	       runs_upward(mesh, edge->triangle[0], e) == runs_upward(mesh, edge->triangle[1], e);
}

static void count_edges(tac_mesh *mesh)
{
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		mesh->open_edges += mesh->edges[e].triangle_count == 1;
		mesh->non_manifold_edges += mesh->edges[e].triangle_count > 2;
		mesh->flipped_edges += is_flipped(mesh, e);
	}
}

// Uses the scratch memory that find_edges allocated.
static void count_duplicates(tac_mesh *mesh, scratch *s)
{
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		const int32_t *v = mesh->triangles[i].vertex;
		const int32_t low = v[0] < v[1] ? (v[0] < v[2] ? v[0] : v[2]) : (v[1] < v[2] ? v[1] : v[2]);
		const int32_t high = v[0] > v[1] ? (v[0] > v[2] ? v[0] : v[2]) : (v[1] > v[2] ? v[1] : v[2]);
		const int32_t middle = v[0] ^ v[1] ^ v[2] ^ low ^ high;
		s->items[i] = (item){.bucket = low, .a = middle, .b = high, .payload = i};
	}
	sort_items(mesh, s, mesh->triangle_count);
	for (int32_t i = 1; i < mesh->triangle_count; i++)
		mesh->duplicate_triangles += same_key(&s->sorted[i - 1], &s->sorted[i]);
}

static int32_t find_root(int32_t *parent, int32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

// Joins triangles across smooth edges. The root of a set is its first triangle, so surfaces are numbered in
// the order of their first triangles.
static bool divide_by_crease(tac_mesh *mesh, scratch *s, double crease_rad)
{
	s->parent = allocate(mesh->triangle_count, sizeof *s->parent);
	s->normals = allocate(mesh->triangle_count, sizeof *s->normals);
	if (!s->parent || !s->normals)
		return false;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		s->normals[t] = tac_mesh_triangle_normal(mesh, t);
		s->parent[t] = t;
	}
	const double least_cosine = cos(fmin(crease_rad + CREASE_SLACK_RAD, PI));
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		const tac_mesh_edge *edge = &mesh->edges[e];
		if (edge->triangle_count != 2 || is_flipped(mesh, e) ||
		    tac_dvec3_dot(s->normals[edge->triangle[0]], s->normals[edge->triangle[1]]) <
			    least_cosine)
			continue;
		const int32_t a = find_root(s->parent, edge->triangle[0]);
		const int32_t b = find_root(s->parent, edge->triangle[1]);
		s->parent[a > b ? a : b] = a > b ? b : a;
	}
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		const int32_t root = find_root(s->parent, t);
		mesh->triangle_surface[t] = root == t ? mesh->surface_count++ : mesh->triangle_surface[root];
	}
	return true;
}

static bool name_surfaces(const tac_mesh_def *def, tac_mesh *mesh)
{
	const bool named = def->triangle_surface && def->surface_names;
	if (def->triangle_surface)
		mesh->surface_count = def->surface_count;
	size_t bytes = 1; // the name "", shared by all surfaces without one
	for (int32_t i = 0; named && i < mesh->surface_count; i++)
		bytes += strlen(def->surface_names[i]) + 1;
	mesh->surfaces = allocate(mesh->surface_count, sizeof *mesh->surfaces);
	mesh->names = allocate((int64_t)bytes, 1);
	if (!mesh->surfaces || !mesh->names)
		return false;
	char *end = mesh->names + 1;
	for (int32_t i = 0; i < mesh->surface_count; i++) {
		mesh->surfaces[i].name = mesh->names;
		if (!named)
			continue;
		const size_t length = strlen(def->surface_names[i]) + 1;
		memcpy(end, def->surface_names[i], length);
		mesh->surfaces[i].name = end;
		end += length;
	}
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		mesh->surfaces[mesh->triangle_surface[t]].triangle_count++;
	return true;
}

static bool build(const tac_mesh_def *def, tac_mesh *mesh, scratch *s)
{
	if (!weld(def, mesh, s) || !keep_triangles(def, mesh, s))
		return false;
	drop_unused_vertices(mesh, s);
	find_bounds(mesh);
	if (!find_edges(mesh, s))
		return false;
	count_edges(mesh);
	count_duplicates(mesh, s);
	if (!def->triangle_surface && !divide_by_crease(mesh, s, def->crease_angle_rad))
		return false;
	return name_surfaces(def, mesh);
}

tac_mesh_def tac_mesh_def_default(void)
{
	return (tac_mesh_def){.crease_angle_rad = PI / 6};
}

tac_result tac_mesh_build(const tac_mesh_def *def, tac_mesh **out_mesh)
{
	TAC_ASSERT(def && out_mesh);
	TAC_ASSERT(def->vertices || def->vertex_count <= 0);
	TAC_ASSERT(def->triangles || def->triangle_count <= 0);
	TAC_ASSERT(!def->triangle_surface || def->surface_count >= 0);
	*out_mesh = NULL;
	const tac_result checked = check(def);
	if (checked < 0)
		return checked;

	tac_mesh *mesh = calloc(1, sizeof *mesh);
	scratch s = {0};
	if (mesh && build(def, mesh, &s))
		*out_mesh = mesh;
	else
		tac_mesh_destroy(&mesh);
	free(s.remap);
	free(s.table);
	free(s.items);
	free(s.sorted);
	free(s.starts);
	free(s.parent);
	free(s.normals);
	if (*out_mesh)
		return TAC_OK;
	tac_log(TAC_LOG_ERROR, "%s: no memory for a mesh of %d vertices and %d triangles",
		def->name ? def->name : "mesh", def->vertex_count, def->triangle_count);
	return TAC_ERROR_MEMORY;
}

void tac_mesh_destroy(tac_mesh **mesh)
{
	tac_mesh *m = *mesh;
	*mesh = NULL;
	if (!m)
		return;
	free(m->vertices);
	free(m->triangles);
	free(m->triangle_surface);
	free(m->triangle_edges);
	free(m->surfaces);
	free(m->edges);
	free(m->names);
	free(m);
}

bool tac_mesh_is_watertight(const tac_mesh *mesh)
{
	return mesh->triangle_count > 0 && mesh->open_edges == 0 && mesh->non_manifold_edges == 0 &&
	       mesh->flipped_edges == 0;
}

double tac_mesh_area(const tac_mesh *mesh)
{
	double twice = 0;
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		twice += tac_dvec3_length(tac_mesh_triangle_cross(mesh, t));
	return twice / 2;
}

double tac_mesh_size(const tac_mesh *mesh)
{
	const tac_dvec3 low = tac_dvec3_from_vec3(mesh->bounds_min),
			high = tac_dvec3_from_vec3(mesh->bounds_max);
	return tac_dvec3_max_component(tac_dvec3_sub(high, low));
}

double tac_mesh_radius(const tac_mesh *mesh)
{
	double most = 0;
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		most = fmax(most, tac_dvec3_length(tac_dvec3_from_vec3(mesh->vertices[i])));
	return most;
}

double tac_mesh_plausible_scale(double size_m)
{
	static const double scales[] = {1, 1e-3, 1e3};
	for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
		if (size_m * scales[i] >= 1e-3 && size_m * scales[i] <= 1)
			return scales[i];
	}
	return size_m > 0 && isfinite(size_m) ? 0.1 / size_m : 1;
}

double tac_mesh_volume(const tac_mesh *mesh)
{
	// Tetrahedra from a corner of the bounds, not from the origin: a small mesh far from the origin keeps
	// its digits.
	const tac_dvec3 apex = tac_dvec3_from_vec3(mesh->bounds_min);
	double six_times = 0;
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		six_times += tac_dvec3_dot(tac_mesh_triangle_cross(mesh, t),
					   tac_dvec3_sub(tac_mesh_corner(mesh, t, 0), apex));
	return six_times / 6;
}
