#include "collision/engines/scd.h"

#include "base/rng.h"
#include "base/simd.h"
#include "collision/assembly.h"
#include "collision/chip_collider.h"
#include "collision/engines/bvh8_engine.h"
#include "collision/engines/scd_engine.h"
#include "collision/geometry/tritri.h"
#include "collision/mesh_shapes.h"
#include "tests/support/limits.h"
#include "tests/support/shapes.h"

#include <stdlib.h>
#include <string.h>
#include <unity.h>

enum { POSES = TAC_TEST_SANITIZED ? 20 : 200, VARIATIONS = TAC_TEST_SANITIZED ? 2 : 20 };
enum { SOUPS = TAC_TEST_SANITIZED ? 100 : 1000 };
enum { CAPACITY = 200000, SURFACES = 4096 };

static tac_scd_hit actual[CAPACITY], expected[CAPACITY];
static int32_t scratch[SURFACES];

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_dmat3 turn_z(double angle)
{
	return tac_dmat3_from_axis_angle(tac_dvec3_make(0, 0, 1), angle);
}

#define EIGHTH_TURN 0.78539816339744831 // pi / 4, rad

static void the_cover_of_a_turned_cube_reaches_its_corners(void)
{
	tac_dmat3 r = turn_z(EIGHTH_TURN);
	tac_aabb cube = {{-.5f, -.5f, -.5f}, {.5f, .5f, .5f}},
		 box = tac_scd_cover(&r, tac_dvec3_zero(), &cube);
	const float half[3] = {.707107f, .707107f, .5f};
	for (int k = 0; k < 3; k++) {
		TEST_ASSERT_FLOAT_WITHIN(1e-6f, half[k], box.max[k]);
		TEST_ASSERT_FLOAT_WITHIN(1e-6f, -half[k], box.min[k]);
	}
}

static void the_optimal_box_of_a_turned_triangle_is_smaller_than_the_cover(void)
{
	tac_dmat3 r = turn_z(EIGHTH_TURN);
	tac_tri64 p = {{{0, 0, 0}, {r.m[0][0], r.m[1][0], r.m[2][0]}, {r.m[0][1], r.m[1][1], r.m[2][1]}}};
	tac_aabb flat = {{0, 0, 0}, {1, 1, 0}}, optimal = tac_scd_optimal(&p),
		 cover = tac_scd_cover(&r, tac_dvec3_zero(), &flat);
	TEST_ASSERT_FLOAT_WITHIN(1e-6f, 0, optimal.min[1]);
	TEST_ASSERT_FLOAT_WITHIN(1e-6f, .707107f, optimal.max[1]);
	TEST_ASSERT_FLOAT_WITHIN(1e-6f, 0, cover.min[1]);
	TEST_ASSERT_FLOAT_WITHIN(1e-6f, 1.414214f, cover.max[1]);
}

static void the_common_volume_of_two_boxes_is_their_intersection(void)
{
	tac_aabb a = {{0, 0, 0}, {2, 2, 2}}, b = {{1, 1, 1}, {3, 3, 3}}, c = {{1, 1, 1}, {2, 2, 2}};
	tac_aabb common = tac_scd_intersection(&a, &b);
	TEST_ASSERT_EQUAL_MEMORY(&c, &common, sizeof c);
}

static tac_aabb random_box(tac_rng *rng)
{
	tac_aabb box;
	for (int k = 0; k < 3; k++) {
		box.min[k] = tac_rng_range_f32(rng, 0, 10);
		box.max[k] = box.min[k] + tac_rng_range_f32(rng, .1f, 5);
	}
	return box;
}

static void a_nested_box_overlaps_the_common_volume_exactly_if_it_overlaps_the_other_box(void)
{
	tac_rng rng = tac_rng_seed(1, 0);
	int overlapping = 0;
	for (int i = 0; i < 100000;) {
		tac_aabb a = random_box(&rng), b = random_box(&rng), nested;
		if (!tac_aabb_overlap(&a, &b))
			continue;
		i++;
		for (int k = 0; k < 3; k++) {
			float s = tac_rng_range_f32(&rng, b.min[k], b.max[k]),
			      t = tac_rng_range_f32(&rng, b.min[k], b.max[k]);
			nested.min[k] = s < t ? s : t;
			nested.max[k] = s < t ? t : s;
		}
		tac_aabb common = tac_scd_intersection(&a, &b);
		TEST_ASSERT_EQUAL(tac_aabb_overlap(&nested, &a), tac_aabb_overlap(&nested, &common));
		overlapping += tac_aabb_overlap(&nested, &a);
	}
	TEST_ASSERT_TRUE(overlapping > 10000 && overlapping < 99000);
}

static void points_of_both_boxes_lie_in_the_common_volume_of_either_frame(void)
{
	tac_rng rng = tac_rng_seed(2, 0);
	tac_aabb a = {{-1, -1, -1}, {1, 1, 1}}, b = {{-.7f, -.7f, -.7f}, {.9f, .9f, .9f}};
	int common_points = 0;
	for (int i = 0; i < 200000; i++) {
		tac_dmat3 r = tac_dmat3_from_quat(tac_rng_rotation_f64(&rng)); // of A in B
		tac_dvec3 t = tac_dvec3_make(tac_rng_range_f64(&rng, -1, 1), tac_rng_range_f64(&rng, -1, 1),
					     tac_rng_range_f64(&rng, -1, 1));
		tac_dvec3 x = tac_dvec3_make(tac_rng_range_f64(&rng, -1, 1), tac_rng_range_f64(&rng, -1, 1),
					     tac_rng_range_f64(&rng, -1, 1));
		tac_dvec3 y = tac_dvec3_add(tac_dmat3_apply(r, x), t);
		const double in_b[3] = {y.x, y.y, y.z}, in_a[3] = {x.x, x.y, x.z};
		bool inside = true;
		for (int k = 0; k < 3; k++)
			inside = inside && in_b[k] >= (double)b.min[k] && in_b[k] <= (double)b.max[k];
		if (!inside)
			continue;
		common_points++;
		tac_aabb box = tac_scd_cover(&r, t, &a), common_b = tac_scd_intersection(&box, &b);
		tac_dmat3 inverse = tac_dmat3_transpose(r);
		tac_aabb back =
			tac_scd_cover(&inverse, tac_dvec3_neg(tac_dmat3_apply(inverse, t)), &common_b);
		tac_aabb common_a = tac_scd_intersection(&a, &back);
		for (int k = 0; k < 3; k++) {
			TEST_ASSERT_TRUE(in_a[k] >= (double)common_a.min[k] &&
					 in_a[k] <= (double)common_a.max[k]);
			TEST_ASSERT_TRUE(in_b[k] >= (double)common_b.min[k] &&
					 in_b[k] <= (double)common_b.max[k]);
		}
	}
	TEST_ASSERT_TRUE(common_points > 10000);
}

// ---- whole queries ----

static void moved_triangle(const tac_mesh *mesh, int32_t triangle, const tac_dmat3 *r, tac_dvec3 t,
			   tac_tri64 *out)
{
	const double shift[3] = {t.x, t.y, t.z};
	for (int k = 0; k < 3; k++) {
		tac_vec3 v = mesh->vertices[mesh->triangles[triangle].vertex[k]];
		for (int c = 0; c < 3; c++)
			out->v[k][c] = r->m[c][0] * (double)v.x + r->m[c][1] * (double)v.y +
				       r->m[c][2] * (double)v.z + shift[c];
	}
}

static bool apart(const tac_tri64 *a, const tac_tri64 *b)
{
	for (int c = 0; c < 3; c++) {
		if (fmin(a->v[0][c], fmin(a->v[1][c], a->v[2][c])) >
			    fmax(b->v[0][c], fmax(b->v[1][c], b->v[2][c])) ||
		    fmin(b->v[0][c], fmin(b->v[1][c], b->v[2][c])) >
			    fmax(a->v[0][c], fmax(a->v[1][c], a->v[2][c])))
			return true;
	}
	return false;
}

// Brute force over all pairs of triangles; their boxes are compared first, or it would take minutes.
static int64_t all_pairs(const tac_mesh *a, const tac_mesh *b, const tac_dmat3 *r, tac_dvec3 t,
			 tac_scd_hit *out)
{
	int64_t count = 0;
	tac_dmat3 identity = tac_dmat3_identity();
	for (int32_t j = 0; j < b->triangle_count; j++) {
		tac_tri64 x, y;
		moved_triangle(b, j, r, t, &y);
		for (int32_t i = 0; i < a->triangle_count; i++) {
			moved_triangle(a, i, &identity, tac_dvec3_zero(), &x);
			if (!apart(&x, &y) && tac_tritri_closed(&x, &y)) {
				TEST_ASSERT_TRUE(count < CAPACITY);
				out[count++] =
					(tac_scd_hit){a->triangle_surface[i], b->triangle_surface[j], i, j};
			}
		}
	}
	tac_scd_sort(out, count);
	return count;
}

static tac_scd_query query_for(tac_scd_mode mode)
{
	tac_scd_query q = tac_scd_query_default();
	q.mode = mode;
	q.hits = actual;
	q.capacity = CAPACITY;
	q.scratch = scratch;
	return q;
}

static bool contains(const tac_scd_hit *hits, int64_t count, const tac_scd_hit *hit)
{
	for (int64_t i = 0; i < count; i++) {
		if (memcmp(&hits[i], hit, sizeof *hit) == 0)
			return true;
	}
	return false;
}

// Keeps the first hit of each pair of surfaces.
static int64_t keep_surface_pairs(tac_scd_hit *hits, int64_t count)
{
	int64_t kept = 0;
	for (int64_t i = 0; i < count; i++) {
		if (kept == 0 || hits[kept - 1].surface_a != hits[i].surface_a ||
		    hits[kept - 1].surface_b != hits[i].surface_b)
			hits[kept++] = hits[i];
	}
	return kept;
}

// Checks all three modes at one pose, with and without the common volume, against brute force. Returns the
// number of pairs.
static int64_t check_pose(const tac_scd *a, const tac_scd *b, const tac_dmat3 *r, tac_dvec3 t)
{
	int64_t pairs = all_pairs(tac_scd_mesh(a), tac_scd_mesh(b), r, t, expected);
	for (int without = 0; without < 2; without++) {
		tac_scd_query q = query_for(TAC_SCD_TRIANGLES);
		q.without_oaabb = without;
		TEST_ASSERT_EQUAL(pairs > 0, tac_scd_collide(a, b, r, t, &q));
		TEST_ASSERT_TRUE(q.complete);
		TEST_ASSERT_EQUAL(pairs, q.hit_count);
		tac_scd_sort(actual, pairs);
		if (pairs > 0)
			TEST_ASSERT_EQUAL_MEMORY(expected, actual, (size_t)pairs * sizeof *actual);

		q = query_for(TAC_SCD_FIRST);
		q.without_oaabb = without;
		TEST_ASSERT_EQUAL(pairs > 0, tac_scd_collide(a, b, r, t, &q));
		TEST_ASSERT_EQUAL(pairs > 0, q.hit_count);
		TEST_ASSERT_TRUE(pairs == 0 || contains(expected, pairs, &actual[0]));

		q = query_for(TAC_SCD_SURFACES);
		q.without_oaabb = without;
		TEST_ASSERT_EQUAL(pairs > 0, tac_scd_collide(a, b, r, t, &q));
		for (int64_t i = 0; i < q.hit_count; i++)
			TEST_ASSERT_TRUE(contains(expected, pairs, &actual[i])); // the witnesses
		tac_scd_sort(actual, q.hit_count);
		static tac_scd_hit projected[CAPACITY];
		memcpy(projected, expected, (size_t)pairs * sizeof *projected);
		TEST_ASSERT_EQUAL(keep_surface_pairs(projected, pairs), q.hit_count);
		for (int64_t i = 0; i < q.hit_count; i++) {
			TEST_ASSERT_EQUAL(projected[i].surface_a, actual[i].surface_a);
			TEST_ASSERT_EQUAL(projected[i].surface_b, actual[i].surface_b);
		}
	}
	return pairs;
}

static void two_shifted_cubes_touch_in_six_pairs_of_faces(void)
{
	tac_mesh *cube;
	tac_scd *scd;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1), 1, &cube));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(cube, TAC_RTREE_PACK, &scd));
	tac_dmat3 r = tac_dmat3_identity();
	tac_dvec3 t = tac_dvec3_make(.5, .5, .5);
	TEST_ASSERT_TRUE(check_pose(scd, scd, &r, t) > 0);
	tac_scd_query q = query_for(TAC_SCD_SURFACES);
	tac_scd_collide(scd, scd, &r, t, &q);
	TEST_ASSERT_EQUAL(6, q.hit_count);
	for (int i = 0; i < 6; i++) { // an upper face of the first crosses a lower face of the second
		TEST_ASSERT_EQUAL('+', cube->surfaces[actual[i].surface_a].name[0]);
		TEST_ASSERT_EQUAL('-', cube->surfaces[actual[i].surface_b].name[0]);
		TEST_ASSERT_TRUE(cube->surfaces[actual[i].surface_a].name[1] !=
				 cube->surfaces[actual[i].surface_b].name[1]);
	}
	tac_scd_destroy(&scd);
	tac_mesh_destroy(&cube);
}

static void every_mode_equals_all_pairs_in_random_poses(void)
{
	tac_mesh *meshes[4];
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, .6f, .4f), 4, &meshes[0]));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(.5f, .15f, 20, 10, &meshes[1]));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_capsule(.2f, .8f, 16, 4, &meshes[2]));
	tac_mesh_filter_def filter = tac_mesh_filter_def_default();
	filter.plates = 6;
	filter.side_segments = filter.radial_segments = 2;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_filter(&filter, &meshes[3]));
	tac_scd *scds[4][2];
	for (int i = 0; i < 4; i++) {
		TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(meshes[i], TAC_RTREE_PACK, &scds[i][0]));
		TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(meshes[i], TAC_RTREE_INSERT, &scds[i][1]));
		TEST_ASSERT_TRUE(tac_scd_bytes(scds[i][0]) > 0);
	}
	tac_rng rng = tac_rng_seed(3, 0);
	int hits = 0;
	for (int i = 0; i < POSES; i++) {
		int a = (int)tac_rng_below(&rng, 4), b = (int)tac_rng_below(&rng, 4), method = i % 2;
		tac_dmat3 r = tac_dmat3_from_quat(tac_rng_rotation_f64(&rng));
		tac_dvec3 t = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, 1));
		if (i % 10 == 0) { // coplanar faces
			r = tac_dmat3_identity();
			t = tac_dvec3_make(.5, 0, i % 20 == 0 ? .25 : 0);
		}
		hits += check_pose(scds[a][method], scds[b][method], &r, t) > 0;
	}
	TEST_ASSERT_TRUE(hits > POSES / 5 && hits < POSES);
	for (int i = 0; i < 4; i++) {
		tac_scd_destroy(&scds[i][0]);
		tac_scd_destroy(&scds[i][1]);
		tac_mesh_destroy(&meshes[i]);
	}
}

static void exchanging_the_parts_gives_the_transposed_pairs(void)
{
	tac_mesh *torus, *capsule;
	tac_scd *a, *b;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(.5f, .15f, 20, 10, &torus));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_capsule(.2f, .8f, 16, 4, &capsule));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(torus, TAC_RTREE_PACK, &a));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(capsule, TAC_RTREE_PACK, &b));
	tac_rng rng = tac_rng_seed(4, 0);
	int64_t pairs = 0;
	for (int i = 0; i < POSES; i++) {
		tac_dmat3 r = tac_dmat3_from_quat(tac_rng_rotation_f64(&rng)), back = tac_dmat3_transpose(r);
		tac_dvec3 t = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, .6));
		tac_scd_query q = query_for(TAC_SCD_TRIANGLES);
		tac_scd_collide(b, a, &back, tac_dvec3_neg(tac_dmat3_apply(back, t)), &q);
		int64_t count = q.hit_count;
		for (int64_t k = 0; k < count; k++)
			expected[k] = (tac_scd_hit){actual[k].surface_b, actual[k].surface_a,
						    actual[k].triangle_b, actual[k].triangle_a};
		tac_scd_sort(expected, count);
		tac_scd_collide(a, b, &r, t, &q);
		tac_scd_sort(actual, q.hit_count);
		TEST_ASSERT_EQUAL(count, q.hit_count);
		if (count > 0)
			TEST_ASSERT_EQUAL_MEMORY(expected, actual, (size_t)count * sizeof *actual);
		pairs += count;
	}
	TEST_ASSERT_TRUE(pairs > POSES);
	tac_scd_destroy(&a);
	tac_scd_destroy(&b);
	tac_mesh_destroy(&torus);
	tac_mesh_destroy(&capsule);
}

static void parts_with_disjoint_boxes_cost_one_update_and_one_test(void)
{
	tac_mesh *cube;
	tac_scd *scd;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1), 3, &cube));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(cube, TAC_RTREE_PACK, &scd));
	tac_dmat3 r = tac_dmat3_identity();
	for (int without = 0; without < 2; without++) {
		tac_scd_query q = query_for(TAC_SCD_TRIANGLES);
		q.without_oaabb = without;
		TEST_ASSERT_FALSE(tac_scd_collide(scd, scd, &r, tac_dvec3_make(1.01, 0, 0), &q));
		TEST_ASSERT_EQUAL(1, q.counters.aabb_tests);
		TEST_ASSERT_EQUAL(1, q.counters.cover_updates + q.counters.optimal_updates);
		TEST_ASSERT_EQUAL(0, q.counters.triangle_transforms + q.counters.triangle_tests);
		TEST_ASSERT_TRUE(q.complete);
	}
	tac_scd_destroy(&scd);
	tac_mesh_destroy(&cube);
}

enum { STEPS = 60 };

// Box tests and updates in mode first, summed over all intersecting steps of an assembly; [1]: without the
// common volume.
static void count_operations(tac_assembly_kind kind, uint64_t seed, tac_rtree_method method, int64_t tests[2],
			     int64_t updates[2])
{
	tac_assembly assembly;
	tac_scd *scds[TAC_ASSEMBLY_PARTS];
	TEST_ASSERT_EQUAL(TAC_OK, tac_assembly_build_varied(kind, seed, &assembly));
	for (int32_t i = 0; i < assembly.part_count; i++)
		TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(assembly.parts[i].mesh, method, &scds[i]));
	int64_t hits[2] = {0};
	for (int without = 0; without < 2; without++)
		tests[without] = updates[without] = 0;
	for (int32_t moving = 1; moving < assembly.part_count; moving++) {
		for (int32_t fixed = 0; fixed < moving; fixed++) {
			for (int step = 0; step <= STEPS; step++) {
				tac_dmat3 r;
				tac_dvec3 t;
				tac_assembly_relative(&assembly, fixed, moving, (double)step / STEPS, &r, &t);
				for (int without = 0; without < 2; without++) {
					tac_scd_query q = query_for(TAC_SCD_FIRST);
					q.without_oaabb = without;
					if (!tac_scd_collide(scds[fixed], scds[moving], &r, t, &q))
						continue; // the paper counts the steps that intersect
					hits[without]++;
					tests[without] += q.counters.aabb_tests;
					updates[without] +=
						q.counters.cover_updates + q.counters.optimal_updates;
				}
			}
		}
	}
	TEST_ASSERT_EQUAL(hits[0], hits[1]);
	TEST_ASSERT_TRUE(hits[0] > 0);
	for (int32_t i = 0; i < assembly.part_count; i++)
		tac_scd_destroy(&scds[i]);
	tac_assembly_fini(&assembly);
}

// The comparison of Table 6 in docs/primitives.md. On the assemblies themselves both counts are smaller.
static void the_common_volume_saves_tests_and_updates_on_every_assembly(void)
{
	for (int k = 0; k < TAC_ASSEMBLY_KINDS; k++) {
		for (int method = 0; method < 2; method++) {
			int64_t tests[2], updates[2];
			count_operations((tac_assembly_kind)k, 0, (tac_rtree_method)method, tests, updates);
			TEST_ASSERT_TRUE(tests[0] < tests[1]);
			TEST_ASSERT_TRUE(updates[0] < updates[1]);
		}
	}
}

// On variations of the assemblies updates are always fewer. Box tests are fewer on every variation of the box
// and the plant, but for the digger only in the sum: its parts are so small that the order of the search
// dominates.
static void the_common_volume_saves_updates_on_every_variation_and_tests_on_most(void)
{
	for (int k = 0; k < TAC_ASSEMBLY_KINDS; k++) {
		int64_t sum[2] = {0};
		for (uint64_t seed = 1; seed <= VARIATIONS; seed++) {
			int64_t tests[2], updates[2];
			count_operations((tac_assembly_kind)k, seed, TAC_RTREE_PACK, tests, updates);
			TEST_ASSERT_TRUE(updates[0] < updates[1]);
			TEST_ASSERT_TRUE(k == TAC_ASSEMBLY_DIGGER || tests[0] < tests[1]);
			sum[0] += tests[0];
			sum[1] += tests[1];
		}
		TEST_ASSERT_TRUE(sum[0] < sum[1]);
	}
}

// All SIMD variants give the same hits in the same order, and the same counters.
static void every_variant_gives_the_same_hits(void)
{
	tac_assembly assembly;
	tac_scd *scds[TAC_SIMD_COUNT][2];
	TEST_ASSERT_EQUAL(TAC_OK, tac_assembly_build(TAC_ASSEMBLY_DIGGER, &assembly));
	for (int v = 0; v < TAC_SIMD_COUNT; v++) {
		if (!tac_simd_supported((tac_simd)v))
			continue;
		setenv("TACTUS_SIMD", tac_simd_name((tac_simd)v), 1);
		for (int i = 0; i < 2; i++)
			TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(assembly.parts[i + 2].mesh, TAC_RTREE_PACK,
								&scds[v][i]));
	}
	unsetenv("TACTUS_SIMD");
	int64_t hits = 0, exact = 0;
	for (int step = 0; step <= STEPS; step++) {
		tac_dmat3 r;
		tac_dvec3 t;
		tac_assembly_relative(&assembly, 2, 3, (double)step / STEPS, &r, &t);
		for (int mode = 0; mode < 3; mode++) {
			tac_scd_query reference = query_for((tac_scd_mode)mode);
			reference.hits = expected;
			tac_scd_collide(scds[0][0], scds[0][1], &r, t, &reference);
			hits += reference.hit_count;
			exact += reference.counters.exact_tests;
			for (int v = 1; v < TAC_SIMD_COUNT; v++) {
				if (!tac_simd_supported((tac_simd)v))
					continue;
				tac_scd_query q = query_for((tac_scd_mode)mode);
				tac_scd_collide(scds[v][0], scds[v][1], &r, t, &q);
				TEST_ASSERT_EQUAL(reference.hit_count, q.hit_count);
				TEST_ASSERT_EQUAL_MEMORY(&reference.counters, &q.counters, sizeof q.counters);
				if (q.hit_count > 0)
					TEST_ASSERT_EQUAL_MEMORY(expected, actual,
								 (size_t)q.hit_count * sizeof *actual);
			}
		}
	}
	TEST_ASSERT_TRUE(hits > 100 && exact > 0);
	for (int v = 0; v < TAC_SIMD_COUNT; v++) {
		for (int i = 0; tac_simd_supported((tac_simd)v) && i < 2; i++)
			tac_scd_destroy(&scds[v][i]);
	}
	tac_assembly_fini(&assembly);
}

static bool stop_after(void *user)
{
	int *left = user;
	return (*left)-- == 0;
}

static void a_stopped_query_continues_where_it_stopped(void)
{
	tac_mesh *cube;
	tac_scd *scd;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1), 3, &cube));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(cube, TAC_RTREE_PACK, &scd));
	tac_dmat3 r = tac_dmat3_identity();
	tac_dvec3 t = tac_dvec3_make(.5, .5, .5);
	int64_t all = all_pairs(cube, cube, &r, t, expected), count = 0;
	for (int budget = 0; budget < 3; budget++) {
		int64_t skip = 0;
		int runs = 0;
		tac_scd_query q;
		count = 0;
		do {
			int left = budget;
			q = query_for(TAC_SCD_TRIANGLES);
			q.hits = actual + count;
			q.stop = stop_after;
			q.user = &left;
			q.skip_triangles = skip;
			tac_scd_collide(scd, scd, &r, t, &q);
			TEST_ASSERT_TRUE(q.complete || q.triangles_done == skip + 1 + budget);
			skip = q.triangles_done;
			count += q.hit_count;
			runs++;
		} while (!q.complete);
		TEST_ASSERT_TRUE(runs > 3);
		TEST_ASSERT_EQUAL(all, count);
		tac_scd_sort(actual, count);
		TEST_ASSERT_EQUAL_MEMORY(expected, actual, (size_t)all * sizeof *actual);
	}
	tac_scd_destroy(&scd);
	tac_mesh_destroy(&cube);
}

static void hits_beyond_the_capacity_are_counted(void)
{
	tac_mesh *cube;
	tac_scd *scd;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1), 3, &cube));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(cube, TAC_RTREE_PACK, &scd));
	tac_dmat3 r = tac_dmat3_identity();
	tac_scd_query q = query_for(TAC_SCD_TRIANGLES);
	tac_scd_collide(scd, scd, &r, tac_dvec3_make(.5, .5, .5), &q);
	int64_t all = q.hit_count;
	memset(actual, 0x55, sizeof actual);
	q.capacity = 2;
	tac_scd_collide(scd, scd, &r, tac_dvec3_make(.5, .5, .5), &q);
	TEST_ASSERT_EQUAL(all, q.hit_count);
	TEST_ASSERT_EQUAL(0x55555555, actual[2].surface_a);
	tac_scd_destroy(&scd);
	tac_mesh_destroy(&cube);
}

static void an_empty_part_touches_nothing(void)
{
	tac_mesh_def def = tac_mesh_def_default();
	tac_mesh *empty_mesh, *cube;
	tac_scd *empty_scd, *scd;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &empty_mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1), 1, &cube));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(empty_mesh, TAC_RTREE_PACK, &empty_scd));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(cube, TAC_RTREE_PACK, &scd));
	tac_dmat3 r = tac_dmat3_identity();
	tac_scd_query q = query_for(TAC_SCD_TRIANGLES);
	TEST_ASSERT_FALSE(tac_scd_collide(empty_scd, scd, &r, tac_dvec3_zero(), &q));
	TEST_ASSERT_FALSE(tac_scd_collide(scd, empty_scd, &r, tac_dvec3_zero(), &q));
	TEST_ASSERT_FALSE(tac_scd_collide(empty_scd, empty_scd, &r, tac_dvec3_zero(), &q));
	tac_scd_destroy(&empty_scd);
	tac_scd_destroy(&scd);
	tac_mesh_destroy(&empty_mesh);
	tac_mesh_destroy(&cube);
}

// ---- behind the collider interface ----

static void the_collider_equals_brute_force(void)
{
	tac_context_def def = tac_context_def_default();
	tac_context *context;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
	const tac_collider *scd = tac_collider_find("scd");
	TEST_ASSERT_TRUE(scd == tac_scd_collider());
	tac_rng rng = tac_rng_seed(5, 0);
	for (int i = 0; i < 12; i++) {
		tac_mesh *a = soup(&rng, 1 + (int32_t)tac_rng_below(&rng, 200), 1, 60 + 20 * i);
		tac_mesh *b = soup(&rng, 1 + (int32_t)tac_rng_below(&rng, 200), 1, 300 - 20 * i);
		tac_rigid motion = random_motion(&rng, 1);
		compare_with_brute_force(scd, context, a, b, &motion);
		motion = identity_motion((float)(i % 3) / 1024, 0, .25f);
		compare_with_brute_force(scd, context, a, b, &motion);
		tac_mesh_destroy(&a);
		tac_mesh_destroy(&b);
	}
	for (float size = 1e-6f; size < 2e6f; size *= 100) {
		tac_mesh *a = soup(&rng, 150, size, 200), *b = soup(&rng, 150, size, 200);
		tac_rigid motion = random_motion(&rng, .5f * size);
		compare_with_brute_force(scd, context, a, b, &motion);
		tac_mesh_destroy(&a);
		tac_mesh_destroy(&b);
	}
	tac_mesh *box;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1), 3, &box));
	const float shifts[5][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 1}, {1.0000001f, 0, 0}, {.5f, .25f, 0}};
	// Coincident, face to face, vertex to vertex, apart by one unit in the last place, overlapping.
	for (int i = 0; i < 5; i++) {
		tac_rigid motion = identity_motion(shifts[i][0], shifts[i][1], shifts[i][2]);
		compare_with_brute_force(scd, context, box, box, &motion);
	}
	tac_mesh_destroy(&box);
	tac_context_destroy(&context);
}

// A unit in the last place of float is a hundredth of an edge here, so single precision decides few pairs.
static void parts_far_from_the_origin_equal_brute_force(void)
{
	const tac_vec3 away = tac_vec3_make(30000, -20000, 10000);
	tac_context_def def = tac_context_def_default();
	tac_context *context;
	tac_mesh *near, *far;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1, .3f, 16, 10, &near));
	tac_mesh_def moved = tac_mesh_def_default();
	tac_vec3 *vertices = malloc((size_t)near->vertex_count * sizeof *vertices);
	for (int32_t i = 0; i < near->vertex_count; i++)
		vertices[i] = tac_vec3_add(near->vertices[i], away);
	moved.vertices = vertices;
	moved.vertex_count = near->vertex_count;
	moved.triangles = near->triangles;
	moved.triangle_count = near->triangle_count;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&moved, &far));
	tac_rng rng = tac_rng_seed(6, 0);
	for (int i = 0; i < POSES / 10; i++) {
		tac_rigid motion = random_motion(&rng, 1);
		compare_with_brute_force(tac_scd_collider(), context, near, far,
					 &(tac_rigid){motion.R, tac_vec3_add(motion.t, away)});
		compare_with_brute_force(
			tac_scd_collider(), context, far, near,
			&(tac_rigid){motion.R, tac_vec3_sub(motion.t, tac_mat3_apply(motion.R, away))});
	}
	free(vertices);
	tac_mesh_destroy(&near);
	tac_mesh_destroy(&far);
	tac_context_destroy(&context);
}

static void a_spent_budget_is_unknown_and_the_query_resumes_to_the_same_answer(void)
{
	tac_context_def def = tac_context_def_default();
	tac_context *context;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
	const tac_collider *scd = tac_scd_collider();
	tac_mesh *torus;
	tac_shape *shape;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1, .3f, 16, 9, &torus));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(scd, torus, &shape));
	tac_rigid motion = {tac_mat3_identity(), {.11f, .07f, .05f}};
	const tac_query_mode modes[2] = {TAC_QUERY_PAIRS, TAC_QUERY_SURFACES};
	for (int m = 0; m < 2; m++) {
		TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, tac_collider_query(scd, context, shape, shape, &motion,
								      modes[m], (tac_budget){0}));
		int64_t pairs = context->pair_count;
		tac_overlap answer = tac_collider_query(scd, context, shape, shape, &motion, modes[m],
							(tac_budget){.nodes = 3});
		int steps = 1;
		for (; context->pending; steps++) {
			TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, answer);
			answer = tac_collider_resume(scd, context, (tac_budget){.nodes = 3});
		}
		TEST_ASSERT_TRUE(steps > 10);
		TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, answer);
		TEST_ASSERT_EQUAL(pairs, context->pair_count);
	}
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN,
			  tac_collider_query(scd, context, shape, shape, &motion, TAC_QUERY_PAIRS,
					     (tac_budget){.deadline_ns = 1}));
	TEST_ASSERT_TRUE(context->pending);
	tac_shape_destroy(&shape);
	tac_mesh_destroy(&torus);
	tac_context_destroy(&context);
}

// Long triangles, some of which surround the origin and their neighbours.
static tac_mesh *long_soup(tac_rng *rng)
{
	float size[3];
	for (int k = 0; k < 3; k++)
		size[k] = exp2f(tac_rng_range_f32(rng, -2, 7));
	return stretched_soup(rng, 1 + (int32_t)tac_rng_below(rng, 24), tac_vec3_load(size),
			      64 + (int32_t)tac_rng_below(rng, 960), (int32_t)tac_rng_below(rng, 7));
}

static void a_budget_of_a_few_nodes_finds_every_pair_of_long_triangles_once(void)
{
	tac_context_def def = tac_context_def_default();
	tac_context *context;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
	tac_rng rng = tac_rng_seed(7, 0);
	for (int i = 0; i < SOUPS; i++) {
		tac_mesh *fixed = long_soup(&rng), *moving = long_soup(&rng);
		tac_rigid motion = random_motion(&rng, 1);
		for (int nodes = 0; nodes <= 5; nodes++) // 0: no limit
			compare_in_steps(tac_scd_collider(), context, moving, fixed, &motion,
					 (tac_budget){.nodes = nodes});
		tac_mesh_destroy(&fixed);
		tac_mesh_destroy(&moving);
	}
	tac_context_destroy(&context);
}

// The hits of all steps together; the caller's scratch memory is kept from one step to the next.
static void a_pair_of_surfaces_is_found_once_however_often_the_query_stops(void)
{
	tac_rng rng = tac_rng_seed(8, 0);
	int64_t pairs = 0, steps = 0;
	for (int i = 0; i < SOUPS; i++) {
		tac_mesh *meshes[2] = {long_soup(&rng), long_soup(&rng)};
		tac_scd *scds[2];
		for (int k = 0; k < 2; k++)
			TEST_ASSERT_EQUAL(TAC_OK, tac_scd_build(meshes[k], TAC_RTREE_PACK, &scds[k]));
		tac_dmat3 r = tac_dmat3_from_quat(tac_rng_rotation_f64(&rng));
		tac_dvec3 t = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, 1));
		int64_t count = 0,
			all = keep_surface_pairs(expected, all_pairs(meshes[0], meshes[1], &r, t, expected));
		tac_scd_query q = query_for(TAC_SCD_SURFACES);
		do {
			int left = i % 3;
			q.hits = actual + count;
			q.stop = stop_after;
			q.user = &left;
			q.skip_triangles = q.triangles_done;
			tac_scd_collide(scds[0], scds[1], &r, t, &q);
			count += q.hit_count;
			steps++;
		} while (!q.complete);
		TEST_ASSERT_EQUAL(all, count);
		tac_scd_sort(actual, count);
		for (int64_t k = 0; k < count; k++) {
			TEST_ASSERT_EQUAL(expected[k].surface_a, actual[k].surface_a);
			TEST_ASSERT_EQUAL(expected[k].surface_b, actual[k].surface_b);
		}
		pairs += count;
		for (int k = 0; k < 2; k++) {
			tac_scd_destroy(&scds[k]);
			tac_mesh_destroy(&meshes[k]);
		}
	}
	TEST_ASSERT_TRUE(pairs > SOUPS / 4 && steps > 2 * SOUPS);
}

static int compare_keys(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return a < b ? -1 : a > b;
}

static int64_t sorted_pairs(const tac_collider *collider, tac_context *context, const tac_mesh *fixed,
			    const tac_mesh *moving, const tac_rigid *motion, tac_query_mode mode,
			    int64_t *out)
{
	tac_shape *f, *m;
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, fixed, &f));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, moving, &m));
	tac_collider_query(collider, context, m, f, motion, mode, (tac_budget){0});
	int64_t count = context->pair_count;
	TEST_ASSERT_TRUE(count <= CAPACITY && count <= context->pair_capacity);
	for (int64_t i = 0; i < count; i++)
		out[i] = (int64_t)context->fixed_ids[i] << 32 | context->moving_ids[i];
	qsort(out, (size_t)count, sizeof *out, compare_keys);
	tac_shape_destroy(&f);
	tac_shape_destroy(&m);
	return count;
}

static void scd_agrees_with_the_other_engines_on_the_assemblies(void)
{
	tac_context_def def = tac_context_def_default();
	tac_context *context;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
	static int64_t ours[CAPACITY], theirs[CAPACITY];
	const tac_query_mode modes[2] = {TAC_QUERY_PAIRS, TAC_QUERY_SURFACES};
	for (int k = 0; k < TAC_ASSEMBLY_KINDS; k++) {
		tac_assembly assembly;
		TEST_ASSERT_EQUAL(TAC_OK, tac_assembly_build((tac_assembly_kind)k, &assembly));
		int64_t pairs = 0;
		for (int32_t moving = 1; moving < 4; moving++) {
			for (int step = 8; step <= 10; step++) {
				tac_dmat3 r;
				tac_dvec3 t;
				tac_assembly_relative(&assembly, moving - 1, moving, step / 10.0, &r, &t);
				tac_rigid motion = {tac_mat3_from_dmat3(r), tac_vec3_from_dvec3(t)};
				const tac_mesh *f = assembly.parts[moving - 1].mesh,
					       *m = assembly.parts[moving].mesh;
				for (int mode = 0; mode < 2; mode++) {
					int64_t count = sorted_pairs(tac_scd_collider(), context, f, m,
								     &motion, modes[mode], ours);
					for (int e = 0; tac_collider_at(e); e++) {
						TEST_ASSERT_EQUAL(count, sorted_pairs(tac_collider_at(e),
										      context, f, m, &motion,
										      modes[mode], theirs));
						if (count > 0)
							TEST_ASSERT_EQUAL_MEMORY(
								theirs, ours, (size_t)count * sizeof *ours);
					}
					pairs += count;
				}
			}
		}
		TEST_ASSERT_TRUE(pairs > 10);
		tac_assembly_fini(&assembly);
	}
	tac_context_destroy(&context);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_cover_of_a_turned_cube_reaches_its_corners);
	RUN_TEST(the_optimal_box_of_a_turned_triangle_is_smaller_than_the_cover);
	RUN_TEST(the_common_volume_of_two_boxes_is_their_intersection);
	RUN_TEST(a_nested_box_overlaps_the_common_volume_exactly_if_it_overlaps_the_other_box);
	RUN_TEST(points_of_both_boxes_lie_in_the_common_volume_of_either_frame);
	RUN_TEST(two_shifted_cubes_touch_in_six_pairs_of_faces);
	RUN_TEST(every_mode_equals_all_pairs_in_random_poses);
	RUN_TEST(exchanging_the_parts_gives_the_transposed_pairs);
	RUN_TEST(parts_with_disjoint_boxes_cost_one_update_and_one_test);
	RUN_TEST(the_common_volume_saves_tests_and_updates_on_every_assembly);
	RUN_TEST(the_common_volume_saves_updates_on_every_variation_and_tests_on_most);
	RUN_TEST(every_variant_gives_the_same_hits);
	RUN_TEST(a_stopped_query_continues_where_it_stopped);
	RUN_TEST(hits_beyond_the_capacity_are_counted);
	RUN_TEST(an_empty_part_touches_nothing);
	RUN_TEST(the_collider_equals_brute_force);
	RUN_TEST(parts_far_from_the_origin_equal_brute_force);
	RUN_TEST(a_spent_budget_is_unknown_and_the_query_resumes_to_the_same_answer);
	RUN_TEST(a_budget_of_a_few_nodes_finds_every_pair_of_long_triangles_once);
	RUN_TEST(a_pair_of_surfaces_is_found_once_however_often_the_query_stops);
	RUN_TEST(scd_agrees_with_the_other_engines_on_the_assemblies);
	return UNITY_END();
}
