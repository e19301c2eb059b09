// The surface for the eyes: closed and manifold for any field, within half a voxel of the exact shape of what
// was drilled (D10), and made from a copy that has the bits of the drill's field (D09).
#include "base/rng.h"
#include "collision/mesh_shapes.h"
#include "rt/clock.h"
#include "tests/support/limits.h"
#include "tissue/surface.h"
#include "tissue/surface/nets.h"
#include "unity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MM 1e-3

void setUp(void)
{
}

void tearDown(void)
{
}

// ---- what is extracted ----

static tac_nets extract(const tac_field *field)
{
	tac_nets_table *table = malloc(sizeof *table);
	tac_nets_table_init(table);
	tac_nets nets = {0};
	for (int32_t i = 0; i < field->brick_count; i++)
		TEST_ASSERT_TRUE(tac_nets_add(&nets, table, field, i));
	free(table);
	return nets;
}

typedef struct half_edge {
	uint32_t from, to;
} half_edge;

static int compare_edges(const void *a, const void *b)
{
	const half_edge *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

// The directed edges by the vertices' keys, sorted.
static half_edge *edges_of(const tac_nets *nets)
{
	half_edge *edges = malloc(((size_t)nets->index_count + 1) * sizeof *edges);
	for (int32_t p = 0; p < nets->patch_count; p++) {
		const tac_surface_patch *patch = &nets->patches[p];
		for (int32_t i = 0; i < patch->index_count; i++) {
			const int32_t next = i % 3 == 2 ? i - 2 : i + 1;
			const uint16_t *index = nets->indices + patch->first_index;
			const tac_surface_vertex *vertex = nets->vertices + patch->first_vertex;
			edges[patch->first_index + i] =
				(half_edge){vertex[index[i]].key, vertex[index[next]].key};
		}
	}
	qsort(edges, (size_t)nets->index_count, sizeof *edges, compare_edges);
	return edges;
}

// Every edge has one triangle on each side, and the triangles about every vertex are one fan.
static void assert_closed_and_manifold(const tac_nets *nets)
{
	half_edge *edges = edges_of(nets);
	const int32_t n = nets->index_count;
	for (int32_t i = 0; i < n; i++) {
		TEST_ASSERT_NOT_EQUAL(edges[i].from, edges[i].to);
		if (i + 1 < n)
			TEST_ASSERT_NOT_EQUAL(0, compare_edges(&edges[i], &edges[i + 1]));
		const half_edge back = {edges[i].to, edges[i].from};
		TEST_ASSERT_NOT_NULL(bsearch(&back, edges, (size_t)n, sizeof back, compare_edges));
	}
	// Euler's characteristic of a closed surface is even. A vertex of two fans would count once too few.
	int32_t vertices = 0;
	for (int32_t i = 0; i < n; i++)
		vertices += i == 0 || edges[i].from != edges[i - 1].from;
	TEST_ASSERT_EQUAL(0, (vertices - n / 2 + n / 3) % 2);
	free(edges);
}

// The keys of the triangles about each vertex: going around from one edge must meet all of them.
static void assert_single_fans(const tac_nets *nets)
{
	// next[v -> w] = u of the triangle (v, w, u); the fan of v goes w, u, … and returns to w.
	half_edge *edges = edges_of(nets);
	const int32_t n = nets->index_count;
	uint32_t *third = malloc(((size_t)n + 1) * sizeof *third);
	for (int32_t p = 0; p < nets->patch_count; p++) {
		const tac_surface_patch *patch = &nets->patches[p];
		const tac_surface_vertex *vertex = nets->vertices + patch->first_vertex;
		for (int32_t i = 0; i < patch->index_count; i++) {
			const uint16_t *t = nets->indices + patch->first_index + i / 3 * 3;
			const half_edge e = {vertex[t[i % 3]].key, vertex[t[(i + 1) % 3]].key};
			const half_edge *found = bsearch(&e, edges, (size_t)n, sizeof e, compare_edges);
			third[found - edges] = vertex[t[(i + 2) % 3]].key;
		}
	}
	for (int32_t i = 0; i < n;) {
		int32_t end = i;
		while (end < n && edges[end].from == edges[i].from)
			end++;
		int32_t met = 0, at = i;
		do {
			const half_edge next = {edges[i].from, third[at]};
			const half_edge *found = bsearch(&next, edges, (size_t)n, sizeof next, compare_edges);
			TEST_ASSERT_NOT_NULL(found);
			at = (int32_t)(found - edges);
			met++;
		} while (at != i && met <= end - i);
		TEST_ASSERT_EQUAL(end - i, met);
		i = end;
	}
	free(third);
	free(edges);
}

// ---- any field ----

// Nodes of random sign and size, with no material at the border: every case of a cell beside every other.
static tac_field *noise(tac_rng *rng, double material)
{
	const int32_t bricks[3] = {2, 3, 2};
	tac_field *f = tac_field_alloc(1e-4, tac_dvec3_zero(), bricks, 12);
	TEST_ASSERT_NOT_NULL(f);
	for (int32_t b = 0; b < 12; b++) {
		tac_field_brick *brick = tac_field_store(f, b);
		const int32_t first[3] = {8 * (b / 6), 8 * (b / 2 % 3), 8 * (b % 2)};
		for (int i = 0; i < FIELD_BRICK_NODES; i++) {
			const int32_t at[3] = {first[0] + (i >> 6), first[1] + (i >> 3 & 7),
					       first[2] + (i & 7)};
			bool border = false;
			for (int k = 0; k < 3; k++)
				border |= at[k] == 0 || at[k] == 8 * bricks[k] - 1;
			const double size = tac_rng_range_f64(rng, 0, 1e-4);
			const bool inside = !border && tac_rng_range_f64(rng, 0, 1) < material;
			brick->distance[i] = (float)(inside ? -size - 1e-9 : size);
		}
	}
	return f;
}

static void surface_of_any_field_is_closed_and_manifold(void)
{
	tac_rng rng = tac_rng_seed(20, 1);
	const int rounds = test_rounds(200);
	for (int i = 0; i < rounds; i++) {
		tac_field *f = noise(&rng, 0.05 + 0.9 * (i % 16) / 15);
		tac_nets nets = extract(f);
		TEST_ASSERT_TRUE(nets.index_count > 0);
		assert_closed_and_manifold(&nets);
		assert_single_fans(&nets);
		tac_nets_fini(&nets);
		tac_field_destroy(&f);
	}
}

static void sheets_of_a_cell_cross_at_most_one_face_twice(void)
{
	tac_nets_table table;
	tac_nets_table_init(&table);
	int twice = 0;
	for (int i = 0; i < 256; i++) {
		const tac_nets_case *c = &table.cases[i];
		int crossed = 0, sheets[2] = {0, 0};
		for (int e = 0; e < NETS_EDGES; e++) {
			TEST_ASSERT_EQUAL(c->sheet[0][e] < 0, c->sheet[1][e] < 0);
			crossed += c->sheet[0][e] >= 0;
			for (int way = 0; way < 2; way++)
				sheets[way] =
					c->sheet[way][e] >= sheets[way] ? c->sheet[way][e] + 1 : sheets[way];
		}
		TEST_ASSERT_EQUAL(i == 0 || i == 255, crossed == 0);
		TEST_ASSERT_TRUE(sheets[0] <= 4 && sheets[1] <= 4);
		TEST_ASSERT_EQUAL(sheets[0] + (c->twice >= 0), sheets[1]);
		twice += c->twice >= 0;
	}
	TEST_ASSERT_TRUE(twice > 0);
}

// ---- a block that was drilled ----

typedef struct drilled {
	tac_dvec3 half_m;
	tac_field_edit edits[60];
	int count;
} drilled;

// The exact distance function of block and removed sweeps: its zero is the surface. *out_normal is the
// gradient.
static double exact(const drilled *d, tac_dvec3 p, tac_dvec3 *out_normal)
{
	const double x[3] = {p.x, p.y, p.z}, half[3] = {d->half_m.x, d->half_m.y, d->half_m.z};
	double most = -HUGE_VAL, n[3] = {0, 0, 0};
	for (int k = 0; k < 3; k++) {
		if (fabs(x[k]) - half[k] > most) {
			most = fabs(x[k]) - half[k];
			n[0] = n[1] = n[2] = 0;
			n[k] = x[k] < 0 ? -1 : 1;
		}
	}
	*out_normal = tac_dvec3_make(n[0], n[1], n[2]);
	for (int i = 0; i < d->count; i++) {
		const tac_field_edit *e = &d->edits[i];
		const tac_burr sweep = {TAC_BURR_ROUND,
					{(double)e->a[0], (double)e->a[1], (double)e->a[2]},
					{(double)e->b[0], (double)e->b[1], (double)e->b[2]},
					(double)e->radius};
		tac_dvec3 normal;
		const double distance = -tac_burr_distance(&sweep, p, &normal);
		if (distance > most) {
			most = distance;
			*out_normal = tac_dvec3_scale(normal, -1);
		}
	}
	return most;
}

// A place on the surface near `p`, by going along the gradient. False: it does not end, as in a groove.
static bool project(const drilled *d, tac_dvec3 *p)
{
	for (int i = 0; i < 60; i++) {
		tac_dvec3 normal;
		const double distance = exact(d, *p, &normal);
		if (fabs(distance) < 1e-10)
			return true;
		*p = tac_dvec3_add_scaled(*p, -distance, normal);
	}
	return false;
}

// An upper bound of the distance from `p` to the surface: of the feet that the gradient leads to, and of the
// places where the function changes its sign along a ray.
static double distance_bound(const drilled *d, tac_dvec3 p, double most)
{
	tac_dvec3 foot = p, any;
	double least = project(d, &foot) ? tac_dvec3_length(tac_dvec3_sub(foot, p)) : HUGE_VAL;
	const bool inside = exact(d, p, &any) < 0;
	for (int i = 0; i < 27 && least > most; i++) {
		const tac_dvec3 way = tac_dvec3_make(i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1);
		const double length = tac_dvec3_length(way);
		for (int k = 1; k <= 20 && length > 0; k++) {
			const double reach = most * k / 20;
			if ((exact(d, tac_dvec3_add_scaled(p, reach / length, way), &any) < 0) != inside)
				least = fmin(least, reach);
		}
	}
	return least;
}

// Whether a ball of radius h fits into the material near a place of the surface. The nodes can miss what is
// thinner than a voxel.
static bool is_thick(const drilled *d, tac_dvec3 p, double h)
{
	tac_dvec3 any;
	for (int i = 0; i < 27; i++) {
		const tac_dvec3 way = tac_dvec3_make(i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1);
		const double length = fmax(tac_dvec3_length(way), 1);
		if (exact(d, tac_dvec3_add_scaled(p, 1.4 * h / length, way), &any) < -h)
			return true;
	}
	return false;
}

static void drill_at_random(tac_field *field, drilled *d, uint64_t seed, tac_ring *ring)
{
	tac_rng rng = tac_rng_seed(seed, 4);
	tac_dvec3 at = tac_dvec3_make(0, 0, d->half_m.z);
	const double radius = 0.7 * MM;
	tac_field_removed removed = {0};
	for (d->count = 0; d->count < 60; d->count++) {
		const tac_dvec3 to =
			d->count % 12 == 11
				? tac_dvec3_make(tac_rng_range_f64(&rng, -1.2 * MM, 1.2 * MM),
						 tac_rng_range_f64(&rng, -1.2 * MM, 1.2 * MM), d->half_m.z)
				: tac_dvec3_add_scaled(at, tac_rng_range_f64(&rng, 0.02, 0.3) * MM,
						       tac_rng_unit_f64(&rng));
		const tac_burr sweep = {TAC_BURR_ROUND, d->count % 12 == 11 ? to : at, to, radius};
		d->edits[d->count] = tac_field_edit_make(&sweep);
		TEST_ASSERT_TRUE(tac_field_carve(field, &d->edits[d->count], &removed));
		if (ring)
			TEST_ASSERT_TRUE(tac_ring_push(ring, &d->edits[d->count]));
		at = to;
	}
}

static tac_field *block_of(drilled *d, double voxel_m)
{
	tac_mesh *mesh;
	tac_field *field;
	d->half_m = tac_dvec3_make(2 * MM, 1.9 * MM, 1.6 * MM);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(4e-3F, 3.8e-3F, 3.2e-3F), 1, &mesh));
	const tac_field_def def = {.name = "block", .mesh = mesh, .voxel_m = voxel_m};
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_build(&def, &field));
	tac_mesh_destroy(&mesh);
	return field;
}

static double distance_to_triangle(tac_dvec3 p, const tac_mesh *m, int32_t t)
{
	const int32_t *v = m->triangles[t].vertex;
	const tac_dvec3 a = tac_dvec3_from_vec3(m->vertices[v[0]]),
			b = tac_dvec3_from_vec3(m->vertices[v[1]]),
			c = tac_dvec3_from_vec3(m->vertices[v[2]]);
	// The least of points on a fine grid of the triangle: an upper bound, as the test needs it.
	double least = HUGE_VAL;
	for (int i = 0; i <= 4; i++) {
		for (int k = 0; k + i <= 4; k++) {
			const tac_dvec3 q =
				tac_dvec3_add_scaled(tac_dvec3_add_scaled(a, 0.25 * i, tac_dvec3_sub(b, a)),
						     0.25 * k, tac_dvec3_sub(c, a));
			least = fmin(least, tac_dvec3_length(tac_dvec3_sub(p, q)));
		}
	}
	return least;
}

// D10
static void surface_of_a_drilled_block_is_within_half_a_voxel_of_the_exact_one(void)
{
	const double h = 0.12 * MM;
	for (uint64_t seed = 0; seed < (uint64_t)test_rounds(8); seed++) {
		drilled d = {0};
		tac_field *field = block_of(&d, h);
		const double whole_m3 = tac_field_volume_m3(field, 0);
		drill_at_random(field, &d, seed, NULL);
		TEST_ASSERT_TRUE(tac_field_volume_m3(field, 0) < whole_m3 - 1e-9);
		tac_nets nets = extract(field);
		assert_closed_and_manifold(&nets);
		assert_single_fans(&nets);
		int32_t outwards = 0, beyond = 0;
		double worst = 0;
		for (int32_t i = 0; i < nets.vertex_count; i++) {
			const float *v = nets.vertices[i].position_m;
			const tac_dvec3 p = tac_dvec3_make((double)v[0], (double)v[1], (double)v[2]);
			tac_dvec3 any;
			const double bound = distance_bound(&d, p, 0.5 * h);
			worst = fmax(worst, bound);
			beyond += bound > 0.5 * h;
			const tac_dvec3 own = tac_dvec3_make((double)nets.vertices[i].normal[0],
							     (double)nets.vertices[i].normal[1],
							     (double)nets.vertices[i].normal[2]);
			outwards += exact(&d, tac_dvec3_add_scaled(p, 0.7 * h, own), &any) >
				    exact(&d, tac_dvec3_add_scaled(p, -0.7 * h, own), &any);
		}
		// The others are in grooves and on ridges.
		TEST_ASSERT_TRUE(outwards > nets.vertex_count * 99 / 100);
		// Beyond half a voxel are only a few on ridges thinner than the voxels.
		TEST_ASSERT_TRUE(worst < 0.6 * h && beyond <= nets.vertex_count / 2000);
		// And nothing of the exact surface is left out.
		tac_mesh *mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_surface_mesh(field, &mesh));
		TEST_ASSERT_EQUAL(0, mesh->open_edges + mesh->non_manifold_edges);
		// Counter-clockwise seen from outside: the volume is not below zero. Edges are sharp: it is
		// the field's.
		const double volume_m3 = tac_field_volume_m3(field, 0);
		TEST_ASSERT_DOUBLE_WITHIN(0.01 * volume_m3, volume_m3, tac_mesh_volume(mesh));
		tac_rng rng = tac_rng_seed(seed, 9);
		for (int i = 0; i < test_rounds(200); i++) {
			tac_dvec3 p = tac_dvec3_make(tac_rng_range_f64(&rng, -2.2 * MM, 2.2 * MM),
						     tac_rng_range_f64(&rng, -2.2 * MM, 2.2 * MM),
						     tac_rng_range_f64(&rng, -1.8 * MM, 1.8 * MM));
			if (!project(&d, &p) || !is_thick(&d, p, h))
				continue;
			double least = HUGE_VAL;
			for (int32_t t = 0; t < mesh->triangle_count; t++) {
				const tac_vec3 corner = mesh->vertices[mesh->triangles[t].vertex[0]];
				if (tac_dvec3_length(tac_dvec3_sub(p, tac_dvec3_from_vec3(corner))) < 3 * h)
					least = fmin(least, distance_to_triangle(p, mesh, t));
			}
			TEST_ASSERT_TRUE(least < 0.5 * h);
		}
		tac_mesh_destroy(&mesh);
		tac_nets_fini(&nets);
		tac_field_destroy(&field);
	}
}

// ---- the worker ----

// What a reader of the updates has: the newest patch of each brick.
typedef struct picture {
	int32_t bricks;
	tac_nets *of; // one patch, or none
} picture;

static void take_updates(tac_surface *surface, picture *p, int *updates)
{
	const tac_surface_update *u;
	while ((u = tac_surface_read(surface))) {
		++*updates;
		TEST_ASSERT_EQUAL_UINT64(0, u->lost);
		for (int32_t i = 0; i < u->patch_count; i++) {
			const tac_surface_patch *patch = &u->patches[i];
			TEST_ASSERT_TRUE(patch->brick >= 0 && patch->brick < p->bricks);
			tac_nets *n = &p->of[patch->brick];
			tac_nets_fini(n);
			n->vertex_count = patch->vertex_count;
			n->index_count = patch->index_count;
			const size_t vertices = (size_t)n->vertex_count * sizeof *n->vertices;
			const size_t indices = (size_t)n->index_count * sizeof *n->indices;
			n->vertices = malloc(vertices + 1);
			n->indices = malloc(indices + 1);
			memcpy(n->vertices, u->vertices + patch->first_vertex, vertices);
			memcpy(n->indices, u->indices + patch->first_index, indices);
		}
	}
}

// D09, and what was not remade is still right.
static void worker_has_the_bits_of_the_drills_field_and_all_patches_of_it(void)
{
	drilled d = {0};
	tac_field *field = block_of(&d, 0.12 * MM);
	tac_surface_def def = tac_surface_def_default();
	def.field = field;
	def.pause_ns = 1000000;
	tac_surface *surface;
	TEST_ASSERT_EQUAL(TAC_OK, tac_surface_create(&def, &surface));
	picture p = {.bricks = field->brick_count, .of = calloc((size_t)field->brick_count, sizeof *p.of)};
	int updates = 0;
	for (uint64_t seed = 0; seed < 6; seed++) {
		drill_at_random(field, &d, seed, tac_surface_edits(surface));
		while (seed % 2 == 0 && !tac_surface_settled(surface)) {
			take_updates(surface, &p, &updates);
			tac_clock_sleep_until_ns(tac_clock_now_ns() + 200000);
		}
	}
	while (!tac_surface_settled(surface)) {
		take_updates(surface, &p, &updates);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + 200000);
	}
	TEST_ASSERT_TRUE(updates >= 3);
	TEST_ASSERT_EQUAL_HEX64(tac_field_hash(field), tac_field_hash(tac_surface_field(surface)));
	tac_nets whole = extract(field);
	for (int32_t b = 0; b < p.bricks; b++) {
		const tac_surface_patch *patch = &whole.patches[b];
		TEST_ASSERT_EQUAL(patch->vertex_count, p.of[b].vertex_count);
		TEST_ASSERT_EQUAL(patch->index_count, p.of[b].index_count);
		for (int32_t i = 0; i < patch->vertex_count; i++) {
			// What hides the sky may have been removed since, so `open` is left out.
			tac_surface_vertex v = whole.vertices[patch->first_vertex + i],
					   w = p.of[b].vertices[i];
			v.open = w.open = 1;
			TEST_ASSERT_EQUAL_MEMORY(&v, &w, sizeof v);
		}
		if (patch->index_count > 0)
			TEST_ASSERT_EQUAL_MEMORY(whole.indices + patch->first_index, p.of[b].indices,
						 (size_t)patch->index_count * sizeof *whole.indices);
		tac_nets_fini(&p.of[b]);
	}
	tac_nets_fini(&whole);
	free(p.of);
	tac_surface_destroy(&surface);
	tac_field_destroy(&field);
}

static void updates_that_nobody_reads_do_not_stop_the_worker(void)
{
	drilled d = {0};
	tac_field *field = block_of(&d, 0.12 * MM);
	tac_surface_def def = tac_surface_def_default();
	def.field = field;
	def.pause_ns = 100000;
	tac_surface *surface;
	TEST_ASSERT_EQUAL(TAC_OK, tac_surface_create(&def, &surface));
	const int rounds = 12;
	for (int i = 0; i < rounds; i++) {
		drill_at_random(field, &d, (uint64_t)i, tac_surface_edits(surface));
		while (tac_ring_count(tac_surface_edits(surface)) > 0)
			tac_clock_sleep_until_ns(tac_clock_now_ns() + 200000);
	}
	const tac_surface_update *u;
	uint64_t edits = 0;
	while (!tac_surface_settled(surface)) {
		while ((u = tac_surface_read(surface)))
			edits = u->edits;
		tac_clock_sleep_until_ns(tac_clock_now_ns() + 200000);
	}
	TEST_ASSERT_EQUAL_UINT64((uint64_t)rounds * 60, edits);
	TEST_ASSERT_EQUAL_HEX64(tac_field_hash(field), tac_field_hash(tac_surface_field(surface)));
	tac_surface_destroy(&surface);
	tac_field_destroy(&field);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(worker_has_the_bits_of_the_drills_field_and_all_patches_of_it);
	RUN_TEST(updates_that_nobody_reads_do_not_stop_the_worker);
	if (TAC_TEST_THREADS_ONLY)
		return UNITY_END();
	RUN_TEST(sheets_of_a_cell_cross_at_most_one_face_twice);
	RUN_TEST(surface_of_any_field_is_closed_and_manifold);
	RUN_TEST(surface_of_a_drilled_block_is_within_half_a_voxel_of_the_exact_one);
	return UNITY_END();
}
