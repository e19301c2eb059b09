// Degenerate and awkward meshes for the tests of continuous collision, and a mesh with its body.
#ifndef TAC_TESTS_SUPPORT_SWEEP_SHAPES_H
#define TAC_TESTS_SUPPORT_SWEEP_SHAPES_H

#include "base/rng.h"
#include "collision/body.h"
#include "collision/mesh.h"
#include "tests/support/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unity.h>

typedef struct mesh_body {
	tac_mesh *mesh;
	tac_body *body;
} mesh_body;

// Takes the mesh over.
static inline mesh_body mesh_body_make(tac_mesh *mesh, bool solid)
{
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	def.solid = solid;
	mesh_body b = {mesh, NULL};
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &b.body));
	return b;
}

static inline void mesh_body_free(mesh_body *b)
{
	tac_body_destroy(&b->body);
	tac_mesh_destroy(&b->mesh);
}

static inline tac_mesh *mesh_of(const tac_vec3 *vertices, int vertex_count,
				const tac_mesh_triangle *triangles, int triangle_count)
{
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = vertices;
	def.vertex_count = vertex_count;
	def.triangles = triangles;
	def.triangle_count = triangle_count;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &mesh));
	return mesh;
}

// The mesh, scaled and shifted; the original is freed.
static inline tac_mesh *transformed(tac_mesh *mesh, float scale, float shift)
{
	tac_vec3 *v = malloc((size_t)mesh->vertex_count * sizeof *v);
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		v[i] = tac_vec3_add(tac_vec3_scale(mesh->vertices[i], scale), tac_vec3_splat(shift));
	tac_mesh *out = mesh_of(v, mesh->vertex_count, mesh->triangles, mesh->triangle_count);
	tac_mesh_destroy(&mesh);
	free(v);
	return out;
}

// Triangles without neighbours in a ball of radius 1; `thin`: needles, a thousand times longer than wide.
static inline tac_mesh *loose_soup(tac_rng *rng, int count, bool thin)
{
	tac_vec3 *v = malloc(3 * (size_t)count * sizeof *v);
	tac_mesh_triangle *t = malloc((size_t)count * sizeof *t);
	for (int i = 0; i < count; i++) {
		tac_dvec3 at = tac_dvec3_scale(tac_rng_unit_f64(rng), cbrt(tac_rng_f64(rng)));
		tac_dvec3 a = tac_dvec3_scale(tac_rng_unit_f64(rng), 0.3),
			  b = tac_dvec3_scale(tac_rng_unit_f64(rng), thin ? 3e-4 : 0.2);
		v[3 * i] = tac_vec3_from_dvec3(at);
		v[3 * i + 1] = tac_vec3_from_dvec3(tac_dvec3_add(at, a));
		v[3 * i + 2] = tac_vec3_from_dvec3(tac_dvec3_add(at, b));
		t[i] = (tac_mesh_triangle){{3 * i, 3 * i + 1, 3 * i + 2}};
	}
	tac_mesh *out = mesh_of(v, 3 * count, t, count);
	free(v);
	free(t);
	return out;
}

// Up to 16 triangles that share an edge, like the pages of a book.
static inline tac_mesh *book(int pages)
{
	tac_vec3 v[2 + 16];
	tac_mesh_triangle t[16];
	v[0] = tac_vec3_make(0, 0, -0.7f);
	v[1] = tac_vec3_make(0, 0, 0.7f);
	for (int i = 0; i < pages; i++) {
		double a = 6.283185307 * i / pages;
		v[2 + i] = tac_vec3_make((float)cos(a), (float)sin(a), 0.1f * (float)(i % 3));
		t[i] = (tac_mesh_triangle){{0, 1, 2 + i}};
	}
	return mesh_of(v, 2 + pages, t, pages);
}

// Every triangle twice, the second time with the opposite orientation; the original is freed.
static inline tac_mesh *doubled(tac_mesh *mesh)
{
	int32_t n = mesh->triangle_count;
	tac_mesh_triangle *t = malloc(2 * (size_t)n * sizeof *t);
	for (int32_t i = 0; i < n; i++) {
		const int32_t *v = mesh->triangles[i].vertex;
		t[2 * i] = mesh->triangles[i];
		t[2 * i + 1] = (tac_mesh_triangle){{v[0], v[2], v[1]}};
	}
	tac_mesh *out = mesh_of(mesh->vertices, mesh->vertex_count, t, 2 * n);
	tac_mesh_destroy(&mesh);
	free(t);
	return out;
}

#endif
