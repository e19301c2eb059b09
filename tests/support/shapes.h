// Random meshes and motions for the tests of the collision engines, and the expected result by brute force
// over the exact triangle test, which test_tritri.c checks against integer arithmetic.
#ifndef TAC_TESTS_SUPPORT_SHAPES_H
#define TAC_TESTS_SUPPORT_SHAPES_H

#include "base/rng.h"
#include "collision/collider.h"
#include "collision/geometry/tritri.h"

#include "unity.h"

#include <stdlib.h>

// A soup of random triangles. Every coordinate is a multiple of size / 1024, so that degenerate contacts
// occur. They belong to `surfaces` random surfaces or, if that is 0, to those by the crease angle.
static inline tac_mesh *stretched_soup(tac_rng *rng, int32_t triangles, tac_vec3 size, int32_t triangle_grid,
				       int32_t surfaces)
{
	tac_vec3 *v = malloc((size_t)(3 * triangles + 1) * sizeof *v);
	tac_mesh_triangle *t = malloc((size_t)(triangles + 1) * sizeof *t);
	int32_t *surface = malloc((size_t)(triangles + 1) * sizeof *surface);
	for (int32_t i = 0; i < triangles; i++) {
		float at[3];
		for (int k = 0; k < 3; k++)
			at[k] = (float)(tac_rng_u32(rng) % 1024);
		for (int k = 0; k < 3; k++) {
			float x[3];
			for (int c = 0; c < 3; c++)
				x[c] = (at[c] + (float)(tac_rng_u32(rng) % (uint32_t)triangle_grid) -
					512.0F) *
				       (tac_vec3_get(size, c) / 1024.0F);
			v[3 * i + k] = tac_vec3_make(x[0], x[1], x[2]);
			t[i].vertex[k] = 3 * i + k;
		}
		if (surfaces > 0)
			surface[i] = (int32_t)tac_rng_below(rng, (uint32_t)surfaces);
	}
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = v;
	def.vertex_count = 3 * triangles;
	def.triangles = t;
	def.triangle_count = triangles;
	if (surfaces > 0) {
		def.triangle_surface = surface;
		def.surface_count = surfaces;
	}
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &mesh));
	free(v);
	free(t);
	free(surface);
	return mesh;
}

static inline tac_mesh *soup(tac_rng *rng, int32_t triangles, float size, int32_t triangle_grid)
{
	return stretched_soup(rng, triangles, tac_vec3_make(size, size, size), triangle_grid, 0);
}

static inline float random_symmetric(tac_rng *rng)
{
	return (float)(tac_rng_u32(rng) % 20001) * 1e-4F - 1.0F;
}

static inline tac_rigid identity_motion(float x, float y, float z)
{
	return (tac_rigid){tac_mat3_identity(), tac_vec3_make(x, y, z)};
}

static inline tac_rigid random_motion(tac_rng *rng, float reach)
{
	tac_quat q = tac_quat_make(random_symmetric(rng), random_symmetric(rng), random_symmetric(rng),
				   random_symmetric(rng) + 0.001F);
	tac_rigid motion = {tac_mat3_from_quat(tac_quat_normalize(q)),
			    tac_vec3_make(reach * random_symmetric(rng), reach * random_symmetric(rng),
					  reach * random_symmetric(rng))};
	return motion;
}

static inline tac_tri64 corners(const tac_mesh *mesh, int32_t triangle, const tac_rigid *motion)
{
	tac_tri64 out;
	for (int k = 0; k < 3; k++) {
		tac_vec3 p = mesh->vertices[mesh->triangles[triangle].vertex[k]];
		float x[3] = {p.x, p.y, p.z};
		float t[3] = {0};
		if (motion)
			tac_vec3_store(t, motion->t);
		for (int r = 0; r < 3; r++) {
			if (!motion) {
				out.v[k][r] = (double)x[r];
				continue;
			}
			const float *row = motion->R.m[r];
			out.v[k][r] = (double)row[0] * (double)x[0] + (double)row[1] * (double)x[1] +
				      (double)row[2] * (double)x[2] + (double)t[r];
		}
	}
	return out;
}

// Element fixed * moving->triangle_count + moving is 1 for every pair that meets. The caller frees the array.
static inline unsigned char *brute_force(const tac_mesh *moving, const tac_mesh *fixed,
					 const tac_rigid *motion, int64_t *out_count)
{
	size_t n = (size_t)fixed->triangle_count * (size_t)moving->triangle_count;
	unsigned char *hit = calloc(n + 1, 1);
	*out_count = 0;
	for (int32_t i = 0; i < fixed->triangle_count; i++) {
		tac_tri64 a = corners(fixed, i, NULL);
		for (int32_t j = 0; j < moving->triangle_count; j++) {
			tac_tri64 b = corners(moving, j, motion);
			if (tac_tritri_closed(&a, &b)) {
				hit[(size_t)i * (size_t)moving->triangle_count + (size_t)j] = 1;
				(*out_count)++;
			}
		}
	}
	return hit;
}

// Queries, and resumes with the same budget until the result is complete.
static inline tac_overlap query_in_steps(const tac_collider *collider, tac_context *context,
					 const tac_shape *moving, const tac_shape *fixed,
					 const tac_rigid *motion, tac_query_mode mode, tac_budget budget)
{
	tac_overlap contact = tac_collider_query(collider, context, moving, fixed, motion, mode, budget);
	while (context->pending) {
		TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, contact);
		contact = tac_collider_resume(collider, context, budget);
	}
	return contact;
}

// Queries `collider` in every mode and compares with brute force: the overlap, and the exact set of pairs,
// each once.
static inline void compare_in_steps(const tac_collider *collider, tac_context *context,
				    const tac_mesh *moving, const tac_mesh *fixed, const tac_rigid *motion,
				    tac_budget budget)
{
	tac_shape *m, *f;
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, moving, &m));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, fixed, &f));
	int64_t count;
	unsigned char *hit = brute_force(moving, fixed, motion, &count);
	tac_overlap expected = count > 0 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE;

	TEST_ASSERT_EQUAL(expected, query_in_steps(collider, context, m, f, motion, TAC_QUERY_FIRST, budget));
	TEST_ASSERT_EQUAL(count > 0 ? 1 : 0, context->pair_count);
	if (count > 0)
		TEST_ASSERT_EQUAL(1, hit[(size_t)context->fixed_ids[0] * (size_t)moving->triangle_count +
					 (size_t)context->moving_ids[0]]);

	TEST_ASSERT_EQUAL(expected, query_in_steps(collider, context, m, f, motion, TAC_QUERY_PAIRS, budget));
	TEST_ASSERT_EQUAL(count, context->pair_count);
	for (int64_t k = 0; k < context->pair_count && k < context->pair_capacity; k++) {
		unsigned char *h = &hit[(size_t)context->fixed_ids[k] * (size_t)moving->triangle_count +
					(size_t)context->moving_ids[k]];
		TEST_ASSERT_EQUAL(1, *h); // each pair once
		*h = 2;
	}

	int64_t surfaces = 0;
	unsigned char *met = calloc((size_t)fixed->surface_count * (size_t)moving->surface_count + 1, 1);
	for (int32_t i = 0; i < fixed->triangle_count; i++)
		for (int32_t j = 0; j < moving->triangle_count; j++)
			if (hit[(size_t)i * (size_t)moving->triangle_count + (size_t)j]) {
				unsigned char *s = &met[(size_t)fixed->triangle_surface[i] *
								(size_t)moving->surface_count +
							(size_t)moving->triangle_surface[j]];
				surfaces += !*s;
				*s = 1;
			}
	TEST_ASSERT_EQUAL(expected,
			  query_in_steps(collider, context, m, f, motion, TAC_QUERY_SURFACES, budget));
	TEST_ASSERT_EQUAL(surfaces, context->pair_count);
	for (int64_t k = 0; k < context->pair_count && k < context->pair_capacity; k++) {
		unsigned char *s = &met[(size_t)context->fixed_ids[k] * (size_t)moving->surface_count +
					(size_t)context->moving_ids[k]];
		TEST_ASSERT_EQUAL(1, *s);
		*s = 2;
	}
	free(met);
	free(hit);
	tac_shape_destroy(&m);
	tac_shape_destroy(&f);
}

static inline void compare_with_brute_force(const tac_collider *collider, tac_context *context,
					    const tac_mesh *moving, const tac_mesh *fixed,
					    const tac_rigid *motion)
{
	compare_in_steps(collider, context, moving, fixed, motion, (tac_budget){0});
}

#endif
