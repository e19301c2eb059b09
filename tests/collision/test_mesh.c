// Meshes built from arrays, against brute force and known answers.
#include "base/rng.h"
#include "collision/mesh.h"
#include "collision/mesh_shapes.h"
#include "tests/support/logged.h"

#include "unity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static tac_rng rng;

void setUp(void)
{
	logged_lines = 0;
	logged[0] = 0;
	rng = tac_rng_seed(1, 1);
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static tac_mesh_def def_of(const tac_vec3 *vertices, int32_t vertex_count, const tac_mesh_triangle *triangles,
			   int32_t triangle_count)
{
	tac_mesh_def def = tac_mesh_def_default();
	def.name = "sample";
	def.vertices = vertices;
	def.vertex_count = vertex_count;
	def.triangles = triangles;
	def.triangle_count = triangle_count;
	return def;
}

static tac_mesh *build(const tac_mesh_def *def)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(def, &mesh));
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
	return mesh;
}

static void expect_refused(const tac_mesh_def *def, tac_result expected, const char *words)
{
	tac_mesh *mesh = (tac_mesh *)&mesh;
	logged_lines = 0;
	TEST_ASSERT_EQUAL(expected, tac_mesh_build(def, &mesh));
	TEST_ASSERT_NULL(mesh);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, words), logged);
}

static void equal_positions_are_welded_and_near_ones_are_not(void)
{
	const float next = nextafterf(1, 2);
	const tac_vec3 vertices[] = {{0, 0, 0},     {1, 0, 0}, {0, 1, 0},   {-0.0f, 0, -0.0f},
				     {0, 1, -0.0f}, {0, 0, 1}, {next, 0, 0}};
	const tac_mesh_triangle triangles[] = {{{0, 1, 2}}, {{3, 4, 5}}, {{0, 6, 5}}};
	const tac_mesh_def def = def_of(vertices, 7, triangles, 3);
	tac_mesh *mesh = build(&def);
	TEST_ASSERT_EQUAL_INT(5, mesh->vertex_count);
	TEST_ASSERT_EQUAL_INT(2, mesh->welded_vertices);
	TEST_ASSERT_EQUAL_INT(0, mesh->triangles[1].vertex[0]);
	TEST_ASSERT_EQUAL_INT(2, mesh->triangles[1].vertex[1]);
	TEST_ASSERT_TRUE(mesh->triangles[2].vertex[1] != mesh->triangles[0].vertex[1]);
	TEST_ASSERT_FALSE(signbit(mesh->vertices[0].x));
	tac_mesh_destroy(&mesh);
}

static void a_negative_zero_that_comes_first_is_stored_as_zero(void)
{
	const tac_vec3 vertices[] = {{-0.0f, -0.0f, -0.0f}, {1, -0.0f, 0}, {0, 1, 0}};
	const tac_mesh_triangle triangles[] = {{{0, 1, 2}}};
	const tac_mesh_def def = def_of(vertices, 3, triangles, 1);
	tac_mesh *mesh = build(&def);
	for (int32_t i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			TEST_ASSERT_FALSE(signbit(tac_vec3_get(mesh->vertices[i], k)));
	tac_mesh_destroy(&mesh);
}

static void coordinates_that_are_not_finite_are_refused_with_the_vertex_named(void)
{
	const float bad[] = {NAN, INFINITY, -INFINITY};
	for (int i = 0; i < 3; i++) {
		for (int component = 0; component < 3; component++) {
			float v[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
			v[3 + component] = bad[i];
			tac_vec3 vertices[3];
			memcpy(vertices, v, sizeof v);
			const tac_mesh_triangle triangles[] = {{{0, 1, 2}}};
			const tac_mesh_def def = def_of(vertices, 3, triangles, 1);
			expect_refused(&def, TAC_ERROR_FORMAT, "sample: vertex 1 is (");
		}
	}
}

static void indices_out_of_range_are_refused_with_the_triangle_named(void)
{
	const tac_vec3 vertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
	const int32_t bad[] = {3, -1, INT32_MAX, INT32_MIN};
	for (int i = 0; i < 4; i++) {
		const tac_mesh_triangle triangles[] = {{{0, 1, 2}}, {{0, 1, bad[i]}}};
		const tac_mesh_def def = def_of(vertices, 3, triangles, 2);
		expect_refused(&def, TAC_ERROR_FORMAT, "sample: triangle 1 uses vertex");
	}
	const tac_mesh_triangle triangles[] = {{{0, 1, 2}}, {{2, 1, 0}}};
	for (int i = 0; i < 4; i++) {
		const int32_t surface[] = {0, bad[i]};
		tac_mesh_def def = def_of(vertices, 3, triangles, 2);
		def.triangle_surface = surface;
		def.surface_count = 3;
		expect_refused(&def, TAC_ERROR_FORMAT, "sample: triangle 1 is of surface");
	}
}

static void counts_and_angles_out_of_range_are_refused(void)
{
	const tac_vec3 vertex = {0, 0, 0};
	const tac_mesh_triangle triangle = {{0, 0, 0}};
	const int32_t counts[][2] = {{-1, 1}, {1, -1}, {TAC_MESH_MAX + 1, 1}, {1, TAC_MESH_MAX + 1}};
	for (int i = 0; i < 4; i++) {
		const tac_mesh_def def = def_of(&vertex, counts[i][0], &triangle, counts[i][1]);
		expect_refused(&def, TAC_ERROR_ARGUMENT, "expected 0 to 500000000");
	}
	const double angles[] = {-0.1, 3.2, (double)NAN, (double)INFINITY};
	for (int i = 0; i < 4; i++) {
		tac_mesh_def def = def_of(&vertex, 1, &triangle, 1);
		def.crease_angle_rad = angles[i];
		expect_refused(&def, TAC_ERROR_ARGUMENT, "crease angle");
	}
}

static void triangles_without_area_are_dropped_at_the_stated_limit(void)
{
	// e1 x e2 = h and the longest edge is 1, so the limit lies at h = 1e-12. At any scale: powers of two
	// change no digit.
	for (int exponent = -40; exponent <= 40; exponent += 20) {
		const float s = ldexpf(1, exponent);
		const tac_vec3 vertices[] = {{0, 0, 0},
					     {s, 0, 0},
					     {0.5f * s, 1.01e-12f * s, 0},
					     {0.5f * s, 0.99e-12f * s, 0},
					     {0.25f * s, 0, 0},
					     {0, s, 0}};
		const tac_mesh_triangle triangles[] = {
			{{0, 1, 2}}, // kept
			{{0, 1, 3}}, // a needle
			{{1, 3, 0}}, // the same needle from another corner
			{{0, 1, 4}}, // on a line
			{{0, 0, 1}}, // an index twice
			{{5, 5, 5}}, // a point
			{{0, 1, 5}}, // kept
		};
		const tac_mesh_def def = def_of(vertices, 6, triangles, 7);
		tac_mesh *mesh = build(&def);
		TEST_ASSERT_EQUAL_INT(2, mesh->triangle_count);
		TEST_ASSERT_EQUAL_INT(5, mesh->degenerate_triangles);
		TEST_ASSERT_EQUAL_INT(4, mesh->vertex_count);
		TEST_ASSERT_EQUAL_INT(2, mesh->unused_vertices);
		tac_mesh_destroy(&mesh);
	}
}

static void unused_vertices_do_not_count_in_the_bounds(void)
{
	const tac_vec3 vertices[] = {{100, 100, 100}, {1, 2, 3}, {4, 2, 3}, {1, 5, 3}, {-100, 0, 0}};
	const tac_mesh_triangle triangles[] = {{{1, 2, 3}}};
	const tac_mesh_def def = def_of(vertices, 5, triangles, 1);
	tac_mesh *mesh = build(&def);
	TEST_ASSERT_EQUAL_INT(3, mesh->vertex_count);
	TEST_ASSERT_EQUAL_INT(2, mesh->unused_vertices);
	TEST_ASSERT_EQUAL_FLOAT(1, mesh->bounds_min.x);
	TEST_ASSERT_EQUAL_FLOAT(4, mesh->bounds_max.x);
	TEST_ASSERT_EQUAL_FLOAT(3, mesh->bounds_min.z);
	TEST_ASSERT_EQUAL_FLOAT(3, mesh->bounds_max.z);
	TEST_ASSERT_EQUAL_DOUBLE(4.5, tac_mesh_area(mesh));
	tac_mesh_destroy(&mesh);
}

static void an_empty_mesh_is_a_mesh(void)
{
	const tac_mesh_def def = tac_mesh_def_default();
	tac_mesh *mesh = build(&def);
	TEST_ASSERT_EQUAL_INT(0, mesh->triangle_count);
	TEST_ASSERT_EQUAL_INT(0, mesh->edge_count);
	TEST_ASSERT_EQUAL_INT(0, mesh->surface_count);
	TEST_ASSERT_FALSE(tac_mesh_is_watertight(mesh));
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_mesh_area(mesh));
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_mesh_volume(mesh));
	tac_mesh_destroy(&mesh);
	TEST_ASSERT_NULL(mesh);
	tac_mesh_destroy(&mesh);
}

// How often triangle t traverses the edge from vertex p to vertex q.
static int traversals(const tac_mesh *mesh, int32_t t, int32_t p, int32_t q)
{
	int count = 0;
	for (int k = 0; k < 3; k++)
		count += mesh->triangles[t].vertex[k] == p && mesh->triangles[t].vertex[(k + 1) % 3] == q;
	return count;
}

static bool same_vertices(tac_mesh_triangle a, tac_mesh_triangle b)
{
	for (int i = 0; i < 3; i++)
		if (a.vertex[i] != b.vertex[0] && a.vertex[i] != b.vertex[1] && a.vertex[i] != b.vertex[2])
			return false;
	return true;
}

// Compares the edges with those of all pairs of vertices in all triangles.
static void expect_edges_by_brute_force(const tac_mesh *mesh)
{
	int32_t edge = 0, open = 0, non_manifold = 0, flipped = 0, duplicates = 0;
	for (int32_t p = 0; p < mesh->vertex_count; p++) {
		for (int32_t q = p + 1; q < mesh->vertex_count; q++) {
			int up = 0, down = 0;
			int32_t first = -1, second = -1;
			for (int32_t t = 0; t < mesh->triangle_count; t++) {
				const int u = traversals(mesh, t, p, q), d = traversals(mesh, t, q, p);
				up += u;
				down += d;
				if (u + d > 0 && first < 0)
					first = t;
				else if (u + d > 0 && second < 0)
					second = t;
			}
			if (up + down == 0)
				continue;
			TEST_ASSERT_TRUE(edge < mesh->edge_count);
			const tac_mesh_edge *e = &mesh->edges[edge];
			TEST_ASSERT_EQUAL_INT(p, e->vertex[0]);
			TEST_ASSERT_EQUAL_INT(q, e->vertex[1]);
			TEST_ASSERT_EQUAL_INT(first, e->triangle[0]);
			TEST_ASSERT_EQUAL_INT(second, e->triangle[1]);
			TEST_ASSERT_EQUAL_INT(up + down, e->triangle_count);
			open += up + down == 1;
			non_manifold += up + down > 2;
			flipped += up + down == 2 && up != 1;
			edge++;
		}
	}
	TEST_ASSERT_EQUAL_INT(edge, mesh->edge_count);
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		for (int k = 0; k < 3; k++) {
			const tac_mesh_edge *e = &mesh->edges[mesh->triangle_edges[t].vertex[k]];
			const int32_t p = mesh->triangles[t].vertex[k],
				      q = mesh->triangles[t].vertex[(k + 1) % 3];
			TEST_ASSERT_EQUAL_INT(p < q ? p : q, e->vertex[0]);
			TEST_ASSERT_EQUAL_INT(p < q ? q : p, e->vertex[1]);
		}
		bool repeated = false;
		for (int32_t s = 0; s < t && !repeated; s++)
			repeated = same_vertices(mesh->triangles[s], mesh->triangles[t]);
		duplicates += repeated;
	}
	TEST_ASSERT_EQUAL_INT(open, mesh->open_edges);
	TEST_ASSERT_EQUAL_INT(non_manifold, mesh->non_manifold_edges);
	TEST_ASSERT_EQUAL_INT(flipped, mesh->flipped_edges);
	TEST_ASSERT_EQUAL_INT(duplicates, mesh->duplicate_triangles);
}

static void edges_of_random_soups_equal_brute_force(void)
{
	int seen_open = 0, seen_non_manifold = 0, seen_flipped = 0, seen_duplicate = 0;
	for (int round = 0; round < 300; round++) {
		enum { VERTICES = 12, TRIANGLES = 40 };
		tac_vec3 vertices[VERTICES];
		tac_mesh_triangle triangles[TRIANGLES];
		for (int i = 0; i < VERTICES; i++) // a small grid: equal and collinear positions are common
			vertices[i] =
				tac_vec3_make((float)tac_rng_below(&rng, 3), (float)tac_rng_below(&rng, 3),
					      (float)tac_rng_below(&rng, 3));
		const int32_t count = (int32_t)tac_rng_below(&rng, TRIANGLES + 1);
		for (int32_t i = 0; i < count; i++)
			for (int k = 0; k < 3; k++)
				triangles[i].vertex[k] = (int32_t)tac_rng_below(&rng, VERTICES);
		const tac_mesh_def def = def_of(vertices, VERTICES, triangles, count);
		tac_mesh *mesh = build(&def);
		TEST_ASSERT_EQUAL_INT(count, mesh->triangle_count + mesh->degenerate_triangles);
		TEST_ASSERT_EQUAL_INT(VERTICES,
				      mesh->vertex_count + mesh->welded_vertices + mesh->unused_vertices);
		expect_edges_by_brute_force(mesh);
		seen_open += mesh->open_edges > 0;
		seen_non_manifold += mesh->non_manifold_edges > 0;
		seen_flipped += mesh->flipped_edges > 0;
		seen_duplicate += mesh->duplicate_triangles > 0;
		tac_mesh_destroy(&mesh);
	}
	TEST_ASSERT_GREATER_THAN(30, seen_open);
	TEST_ASSERT_GREATER_THAN(30, seen_non_manifold);
	TEST_ASSERT_GREATER_THAN(30, seen_flipped);
	TEST_ASSERT_GREATER_THAN(30, seen_duplicate);
}

static void vertices_of_random_soups_equal_the_input_position_by_position(void)
{
	for (int round = 0; round < 100; round++) {
		enum { VERTICES = 200, TRIANGLES = 150 };
		static tac_vec3 vertices[VERTICES];
		static tac_mesh_triangle triangles[TRIANGLES];
		for (int i = 0; i < VERTICES; i++)
			vertices[i] = tac_vec3_make((float)tac_rng_below(&rng, 7) - 3,
						    (float)tac_rng_below(&rng, 7) - 3,
						    (float)tac_rng_below(&rng, 7) - 3);
		for (int i = 0; i < TRIANGLES; i++)
			for (int k = 0; k < 3; k++)
				triangles[i].vertex[k] = (int32_t)tac_rng_below(&rng, VERTICES);
		const tac_mesh_def def = def_of(vertices, VERTICES, triangles, TRIANGLES);
		tac_mesh *mesh = build(&def);
		int32_t t = 0;
		for (int i = 0; i < TRIANGLES; i++) {
			const tac_vec3 a = vertices[triangles[i].vertex[0]];
			const tac_vec3 n = tac_vec3_cross(tac_vec3_sub(vertices[triangles[i].vertex[1]], a),
							  tac_vec3_sub(vertices[triangles[i].vertex[2]], a));
			if (n.x == 0 && n.y == 0 && n.z == 0) // exact: small integers
				continue;
			for (int k = 0; k < 3; k++) {
				const tac_vec3 in = vertices[triangles[i].vertex[k]];
				const tac_vec3 out = mesh->vertices[mesh->triangles[t].vertex[k]];
				TEST_ASSERT_TRUE(in.x == out.x && in.y == out.y && in.z == out.z);
			}
			t++;
		}
		TEST_ASSERT_EQUAL_INT(t, mesh->triangle_count);
		for (int32_t i = 0; i < mesh->vertex_count; i++)
			for (int32_t j = 0; j < i; j++)
				TEST_ASSERT_TRUE(memcmp(&mesh->vertices[i], &mesh->vertices[j],
							sizeof(tac_vec3)) != 0);
		tac_mesh_destroy(&mesh);
	}
}

// Rebuilds the mesh with surfaces by the crease angle.
static tac_mesh *divide(tac_mesh *mesh, double degrees)
{
	tac_mesh_def def = def_of(mesh->vertices, mesh->vertex_count, mesh->triangles, mesh->triangle_count);
	def.crease_angle_rad = degrees * PI / 180;
	tac_mesh *divided = build(&def);
	tac_mesh_destroy(&mesh);
	return divided;
}

static void expect_surfaces(tac_mesh *mesh, double degrees, int32_t expected)
{
	mesh = divide(mesh, degrees);
	TEST_ASSERT_EQUAL_INT(expected, mesh->surface_count);
	int32_t next = 0, triangles = 0;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		TEST_ASSERT_TRUE(mesh->triangle_surface[t] <= next); // numbered by first triangle
		next += mesh->triangle_surface[t] == next;
	}
	for (int32_t i = 0; i < expected; i++) {
		TEST_ASSERT_EQUAL_STRING("", mesh->surfaces[i].name);
		triangles += mesh->surfaces[i].triangle_count;
	}
	TEST_ASSERT_EQUAL_INT(mesh->triangle_count, triangles);
	tac_mesh_destroy(&mesh);
}

static void expect_dvec3(double x, double y, double z, tac_dvec3 v)
{
	TEST_ASSERT_EQUAL_DOUBLE(x, v.x);
	TEST_ASSERT_EQUAL_DOUBLE(y, v.y);
	TEST_ASSERT_EQUAL_DOUBLE(z, v.z);
}

static void corners_normals_and_third_vertices_are_those_of_the_triangle(void)
{
	const tac_vec3 vertices[] = {{0, 0, 5}, {3, 0, 5}, {0, 4, 5}, {3, 4, 6}};
	const tac_mesh_triangle triangles[] = {{{0, 1, 2}}, {{2, 1, 3}}};
	const tac_mesh_def def = def_of(vertices, 4, triangles, 2);
	tac_mesh *mesh = build(&def);
	expect_dvec3(3, 0, 5, tac_mesh_corner(mesh, 0, 1));
	expect_dvec3(0, 0, 12, tac_mesh_triangle_cross(mesh, 0));
	expect_dvec3(0, 0, 1, tac_mesh_triangle_normal(mesh, 0));
	for (int32_t t = 0; t < 2; t++)
		for (int k = 0; k < 3; k++) {
			const tac_mesh_edge *edge = &mesh->edges[mesh->triangle_edges[t].vertex[k]];
			TEST_ASSERT_EQUAL_INT(mesh->triangles[t].vertex[(k + 2) % 3],
					      tac_mesh_third_vertex(mesh, t, edge));
		}
	tac_mesh_destroy(&mesh);
}

static tac_mesh *cylinder(int segments)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(1, 1, segments, 3, &mesh));
	return mesh;
}

static tac_mesh *box(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 2, 3), 4, &mesh));
	return mesh;
}

static void creases_divide_a_mesh_into_surfaces(void)
{
	expect_surfaces(box(), 0, 6);
	expect_surfaces(box(), 30, 6);
	expect_surfaces(box(), 89.9, 6);
	expect_surfaces(box(), 90, 1);
	expect_surfaces(cylinder(24), 30, 3); // facets meet at 15 degrees
	expect_surfaces(cylinder(12), 30, 3); // at 30
	expect_surfaces(cylinder(8), 30, 10); // at 45
	expect_surfaces(cylinder(24), 14, 26);
	expect_surfaces(cylinder(24), 180, 1);
	tac_mesh *torus;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1, 0.3f, 30, 30, &torus));
	expect_surfaces(torus, 30, 1);
}

static void flipped_and_non_manifold_edges_divide_surfaces(void)
{
	const tac_vec3 vertices[] = {{0, 0, 0}, {1, 0, 0},       {0, 1, 0},
				     {1, 1, 0}, {0.5f, 0.5f, 1}, {0.25f, 0.25f, 0}};
	const tac_mesh_triangle agree[] = {{{0, 1, 2}}, {{1, 3, 2}}};
	const tac_mesh_triangle flip[] = {{{0, 1, 2}}, {{1, 2, 3}}};
	const tac_mesh_triangle fold[] = {{{0, 1, 2}}, {{1, 2, 5}}}; // flipped, with equal normals
	const tac_mesh_triangle book[] = {{{0, 1, 2}}, {{1, 3, 2}}, {{1, 2, 4}}};
	const tac_mesh_def defs[] = {def_of(vertices, 6, agree, 2), def_of(vertices, 6, flip, 2),
				     def_of(vertices, 6, book, 3), def_of(vertices, 6, fold, 2)};
	const int32_t surfaces[] = {1, 2, 3, 2};
	for (int i = 0; i < 4; i++) {
		tac_mesh *mesh = build(&defs[i]);
		TEST_ASSERT_EQUAL_INT(surfaces[i], mesh->surface_count);
		tac_mesh_destroy(&mesh);
	}
}

static void given_surfaces_are_kept_with_their_names_even_if_empty(void)
{
	const tac_vec3 vertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	const tac_mesh_triangle triangles[] = {{{0, 1, 2}}, {{0, 1, 1}}, {{0, 1, 3}}, {{0, 2, 3}}};
	const int32_t surface[] = {2, 1, 0, 2};
	char names[3][8] = {"first", "", "last"};
	const char *const pointers[] = {names[0], names[1], names[2]};
	tac_mesh_def def = def_of(vertices, 4, triangles, 4);
	def.triangle_surface = surface;
	def.surface_names = pointers;
	def.surface_count = 3;
	tac_mesh *mesh = build(&def);
	memset(names, 'x', sizeof names); // the mesh has its own copy
	TEST_ASSERT_EQUAL_INT(3, mesh->surface_count);
	TEST_ASSERT_EQUAL_STRING("first", mesh->surfaces[0].name);
	TEST_ASSERT_EQUAL_STRING("", mesh->surfaces[1].name);
	TEST_ASSERT_EQUAL_STRING("last", mesh->surfaces[2].name);
	TEST_ASSERT_EQUAL_INT(1, mesh->surfaces[0].triangle_count);
	TEST_ASSERT_EQUAL_INT(0, mesh->surfaces[1].triangle_count); // its only triangle had no area
	TEST_ASSERT_EQUAL_INT(2, mesh->surfaces[2].triangle_count);
	const int32_t kept[] = {2, 0, 2};
	TEST_ASSERT_EQUAL_INT32_ARRAY(kept, mesh->triangle_surface, 3);
	tac_mesh_destroy(&mesh);
}

static void a_fan_of_all_triangles_around_one_vertex_builds(void)
{
	enum { N = 200000 };
	tac_vec3 *vertices = calloc(N + 1, sizeof *vertices);
	tac_mesh_triangle *triangles = calloc(N, sizeof *triangles);
	TEST_ASSERT_TRUE(vertices && triangles);
	for (int32_t i = 0; i < N; i++) {
		vertices[i + 1] = tac_vec3_make((float)i, 1, (float)(i % 2));
		triangles[i] = (tac_mesh_triangle){{0, i + 1, (i + 1) % N + 1}};
	}
	const tac_mesh_def def = def_of(vertices, N + 1, triangles, N);
	tac_mesh *mesh = build(&def);
	TEST_ASSERT_EQUAL_INT(N, mesh->triangle_count);
	TEST_ASSERT_EQUAL_INT(2 * N, mesh->edge_count);
	TEST_ASSERT_EQUAL_INT(N, mesh->open_edges);
	tac_mesh_destroy(&mesh);
	free(vertices);
	free(triangles);
}

static void volume_is_accurate_far_from_the_origin_and_negative_if_inside_out(void)
{
	const float far = 4096; // the corners are exact in float
	tac_vec3 vertices[] = {
		{far, far, far}, {far + 1, far, far}, {far, far + 1, far}, {far, far, far + 1}};
	const tac_mesh_triangle triangles[] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};
	const tac_mesh_triangle inside_out[] = {{{0, 1, 2}}, {{0, 3, 1}}, {{0, 2, 3}}, {{1, 3, 2}}};
	const tac_mesh_def def = def_of(vertices, 4, triangles, 4),
			   reversed = def_of(vertices, 4, inside_out, 4);
	tac_mesh *mesh = build(&def);
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(mesh));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0 / 6, tac_mesh_volume(mesh));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.5 + sqrt(3.0) / 2, tac_mesh_area(mesh));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, sqrt(2 * 4096.0 * 4096 + 4097.0 * 4097), tac_mesh_radius(mesh));
	tac_mesh_destroy(&mesh);
	mesh = build(&reversed);
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(mesh));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1.0 / 6, tac_mesh_volume(mesh));
	tac_mesh_destroy(&mesh);
}

static void extreme_but_finite_coordinates_build(void)
{
	const float huge = 3.4e38f, tiny = 1e-45f;
	const tac_vec3 vertices[] = {{-huge, -huge, -huge}, {huge, -huge, -huge}, {0, huge, huge}, {0, 0, 0},
				     {tiny, 0, 0},          {0, tiny, 0}};
	const tac_mesh_triangle triangles[] = {{{0, 1, 2}}, {{3, 4, 5}}};
	const tac_mesh_def def = def_of(vertices, 6, triangles, 2);
	tac_mesh *mesh = build(&def);
	TEST_ASSERT_EQUAL_INT(2, mesh->triangle_count);
	TEST_ASSERT_TRUE(isfinite(tac_mesh_area(mesh)));
	tac_mesh_destroy(&mesh);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(equal_positions_are_welded_and_near_ones_are_not);
	RUN_TEST(a_negative_zero_that_comes_first_is_stored_as_zero);
	RUN_TEST(coordinates_that_are_not_finite_are_refused_with_the_vertex_named);
	RUN_TEST(indices_out_of_range_are_refused_with_the_triangle_named);
	RUN_TEST(counts_and_angles_out_of_range_are_refused);
	RUN_TEST(triangles_without_area_are_dropped_at_the_stated_limit);
	RUN_TEST(unused_vertices_do_not_count_in_the_bounds);
	RUN_TEST(an_empty_mesh_is_a_mesh);
	RUN_TEST(edges_of_random_soups_equal_brute_force);
	RUN_TEST(vertices_of_random_soups_equal_the_input_position_by_position);
	RUN_TEST(creases_divide_a_mesh_into_surfaces);
	RUN_TEST(flipped_and_non_manifold_edges_divide_surfaces);
	RUN_TEST(given_surfaces_are_kept_with_their_names_even_if_empty);
	RUN_TEST(a_fan_of_all_triangles_around_one_vertex_builds);
	RUN_TEST(volume_is_accurate_far_from_the_origin_and_negative_if_inside_out);
	RUN_TEST(extreme_but_finite_coordinates_build);
	RUN_TEST(corners_normals_and_third_vertices_are_those_of_the_triangle);
	return UNITY_END();
}
