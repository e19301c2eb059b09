// The behaviour that all engines share: the answers of brute force on hostile input, budgets and resumption,
// no allocation in queries, and re-entrancy.
#include "tests/support/limits.h"
#include "tests/support/shapes.h"

#include "base/simd.h"
#include "collision/chip_collider.h"
#include "collision/engines/bvh8_engine.h"
#include "collision/engines/doptree_engine.h"
#include "collision/mesh_shapes.h"
#include "tests/support/allocations.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static tac_context *context;

void setUp(void)
{
	tac_context_def def = tac_context_def_default();
	def.pair_capacity = 200000;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
}

void tearDown(void)
{
	tac_context_destroy(&context);
}

// All engines that answer exactly, and every variant of wide. test_chip_collider.c tests the chip.
static const tac_collider *engine(int i)
{
	int n = 0;
	for (int k = 0; tac_collider_at(k); k++)
		if (n++ == i)
			return tac_collider_at(k);
	for (int m = 0; m <= 2; m += 2)
		if (n++ == i)
			return tac_doptree_collider_of(m);
	for (int s = 0; s < TAC_SIMD_COUNT; s++)
		if (tac_simd_supported((tac_simd)s) && n++ == i)
			return tac_bvh8_collider_of((tac_simd)s);
	return NULL;
}

static void compare_all(const tac_mesh *moving, const tac_mesh *fixed, const tac_rigid *motion)
{
	for (int i = 0; engine(i); i++)
		compare_with_brute_force(engine(i), context, moving, fixed, motion);
}

static void random_soups_equal_brute_force(void)
{
	tac_rng rng = tac_rng_seed(1, 1);
	for (int i = 0; i < 12; i++) {
		tac_mesh *a = soup(&rng, 1 + (int32_t)(tac_rng_u32(&rng) % 200), 1.0F, 60 + 20 * i);
		tac_mesh *b = soup(&rng, 1 + (int32_t)(tac_rng_u32(&rng) % 200), 1.0F, 300 - 20 * i);
		tac_rigid motion = random_motion(&rng, 1.0F);
		compare_all(a, b, &motion);
		motion = identity_motion((float)(i % 3) / 1024.0F, 0.0F, 0.25F);
		compare_all(a, b, &motion);
		tac_mesh_destroy(&a);
		tac_mesh_destroy(&b);
	}
}

static void coplanar_grids_equal_brute_force(void)
{
	tac_mesh *grid;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1.0F, 1.0F, 8, 8, &grid));
	const float shifts[][3] = {{0, 0, 0}, {0.125F, 0, 0}, {0.0625F, 0.03F, 0}, {1, 0, 0},
				   {1, 1, 0}, {0, 0, 1e-7F},  {1.0000001F, 0, 0}};
	for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
		tac_rigid motion = identity_motion(shifts[i][0], shifts[i][1], shifts[i][2]);
		compare_all(grid, grid, &motion);
	}
	// A turn in the plane by an exact matrix: quarter turns are exact, a 3-4-5 triangle is not.
	tac_rigid quarter = {{{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}}, {0, 0, 0}};
	compare_all(grid, grid, &quarter);
	tac_mesh_destroy(&grid);
}

static void a_mesh_against_itself_at_identity_equals_brute_force(void)
{
	tac_mesh *torus, *box;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1.0F, 0.3F, 16, 9, &torus));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box((tac_vec3){1, 1, 1}, 3, &box));
	tac_rigid motion = identity_motion(0, 0, 0);
	compare_all(torus, torus, &motion);
	compare_all(box, box, &motion);
	motion = identity_motion(1, 0, 0); // face to face
	compare_all(box, box, &motion);
	motion = identity_motion(1, 1, 1); // vertex to vertex
	compare_all(box, box, &motion);
	motion = identity_motion(1.0000001F, 0, 0); // apart by one unit in the last place of float
	compare_all(box, box, &motion);
	tac_mesh_destroy(&torus);
	tac_mesh_destroy(&box);
}

static void every_scale_from_a_micrometre_to_a_thousand_kilometres_equals_brute_force(void)
{
	tac_rng rng = tac_rng_seed(2, 1);
	for (float size = 1e-6F; size < 2e6F; size *= 100.0F) {
		tac_mesh *a = soup(&rng, 150, size, 200);
		tac_mesh *b = soup(&rng, 150, size, 200);
		tac_rigid motion = random_motion(&rng, 0.5F * size);
		compare_all(a, b, &motion);
		tac_mesh_destroy(&a);
		tac_mesh_destroy(&b);
	}
}

static void shapes_far_from_their_origin_equal_brute_force(void)
{
	tac_rng rng = tac_rng_seed(3, 1);
	tac_mesh *a = soup(&rng, 120, 1.0F, 200);
	tac_mesh *b = soup(&rng, 120, 1.0F, 200);
	for (int32_t i = 0; i < a->vertex_count; i++)
		a->vertices[i].x += 4096.0F; // exact: the grid is 2^-10
	tac_rigid motion = identity_motion(-4096.25F, 0.125F, 0);
	compare_all(a, b, &motion);
	tac_mesh_destroy(&a);
	tac_mesh_destroy(&b);
}

static void one_triangle_against_one_equals_brute_force(void)
{
	tac_rng rng = tac_rng_seed(4, 1);
	for (int i = 0; i < 200; i++) {
		tac_mesh *a = soup(&rng, 1, 1.0F, 1000), *b = soup(&rng, 1, 1.0F, 1000);
		tac_rigid motion = identity_motion(random_symmetric(&rng), 0, 0);
		compare_all(a, b, &motion);
		tac_mesh_destroy(&a);
		tac_mesh_destroy(&b);
	}
}

static tac_mesh *one_triangle(tac_vec3 a, tac_vec3 b, tac_vec3 c)
{
	const tac_vec3 v[3] = {a, b, c};
	const tac_mesh_triangle t = {{0, 1, 2}};
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = v;
	def.vertex_count = 3;
	def.triangles = &t;
	def.triangle_count = 1;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &mesh));
	return mesh;
}

static void contacts_that_graze_by_a_few_units_in_the_last_place_equal_brute_force(void)
{
	tac_rng rng = tac_rng_seed(11, 1);
	// A small triangle far from the origin of its frame: a moved vertex loses nearly all its digits in
	// float.
	tac_mesh *floor = one_triangle((tac_vec3){-1, -1, 0}, (tac_vec3){1, -1, 0}, (tac_vec3){0, 1, 0});
	tac_mesh *tip = one_triangle((tac_vec3){100.0F, 80.0F, 60.0F}, (tac_vec3){100.1F, 80.2F, 60.0F},
				     (tac_vec3){100.0F, 80.1F, 60.2F});
	int hits = 0, misses = 0;
	for (int i = 0; i < 300; i++) {
		tac_rigid motion = random_motion(&rng, 0.5F);
		// The lowest vertex is placed on the floor, up to rounding.
		double at[3], low = 1e9;
		for (int k = 2; k >= 0; k--) { // leaves the first vertex in at[0] and at[1]
			tac_vec3 p = tip->vertices[k];
			for (int r = 0; r < 3; r++) {
				const float *row = motion.R.m[r];
				at[r] = (double)row[0] * (double)p.x + (double)row[1] * (double)p.y +
					(double)row[2] * (double)p.z;
			}
			low = fmin(low, at[2]);
		}
		motion.t = tac_vec3_make((float)-at[0], (float)-at[1], (float)(-low + (i % 5 - 2) * 2e-6));
		int64_t count;
		free(brute_force(tip, floor, &motion, &count));
		hits += count > 0;
		misses += count == 0;
		compare_all(tip, floor, &motion);
	}
	TEST_ASSERT_GREATER_THAN(50, hits);
	TEST_ASSERT_GREATER_THAN(50, misses);
	tac_mesh_destroy(&floor);
	tac_mesh_destroy(&tip);
}

static void an_empty_mesh_touches_nothing(void)
{
	tac_rng rng = tac_rng_seed(5, 1);
	tac_mesh *empty = soup(&rng, 0, 1.0F, 10), *other = soup(&rng, 10, 1.0F, 100);
	tac_rigid motion = identity_motion(0, 0, 0);
	compare_all(empty, other, &motion);
	compare_all(other, empty, &motion);
	compare_all(empty, empty, &motion);
	tac_mesh_destroy(&empty);
	tac_mesh_destroy(&other);
}

static void a_matrix_that_is_no_rotation_only_widens_the_bounds(void)
{
	tac_rng rng = tac_rng_seed(6, 1);
	tac_mesh *a = soup(&rng, 100, 1.0F, 200), *b = soup(&rng, 100, 1.0F, 200);
	tac_rigid motion = random_motion(&rng, 0.3F);
	for (int k = 0; k < 9; k++)
		motion.R.m[k / 3][k % 3] *= 1.01F + 0.003F * (float)k;
	compare_all(a, b, &motion);
	tac_mesh_destroy(&a);
	tac_mesh_destroy(&b);
}

typedef struct {
	tac_mesh *mesh;
	tac_shape *shape;
} shape_of_mesh;

// Two links of a chain: they are apart, but their bounds overlap down to the tube.
static const tac_rigid chain_links = {{{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}}, {0.62F, 0, 0}};

static shape_of_mesh torus(const tac_collider *collider)
{
	shape_of_mesh b;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1.0F, 0.3F, 48, 24, &b.mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, b.mesh, &b.shape));
	return b;
}

static void release(shape_of_mesh *b)
{
	tac_shape_destroy(&b->shape);
	tac_mesh_destroy(&b->mesh);
}

static void a_spent_budget_is_unknown_and_the_query_resumes_to_the_same_answer(void)
{
	for (int i = 0; engine(i); i++) {
		const tac_collider *c = engine(i);
		shape_of_mesh b = torus(c);
		tac_rigid motion = {tac_mat3_identity(), {0.11F, 0.07F, 0.05F}};
		tac_overlap answer = tac_collider_query(c, context, b.shape, b.shape, &motion,
							TAC_QUERY_PAIRS, (tac_budget){0});
		int64_t pairs = context->pair_count;
		tac_counters counters = context->counters;
		TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, answer);

		answer = tac_collider_query(c, context, b.shape, b.shape, &motion, TAC_QUERY_PAIRS,
					    (tac_budget){.nodes = 3});
		int steps = 1;
		while (context->pending) {
			TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, answer);
			answer = tac_collider_resume(c, context, (tac_budget){.nodes = 3});
			steps++;
		}
		TEST_ASSERT_GREATER_THAN(10, steps);
		TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, answer);
		TEST_ASSERT_EQUAL(pairs, context->pair_count);
		TEST_ASSERT_EQUAL(counters.triangle_tests, context->counters.triangle_tests);

		// Apart but close: the answer is not "none" before that is proved.
		motion = chain_links;
		TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN,
				  tac_collider_query(c, context, b.shape, b.shape, &motion, TAC_QUERY_FIRST,
						     (tac_budget){.nodes = 1}));
		TEST_ASSERT_EQUAL(TAC_OVERLAP_NONE, tac_collider_resume(c, context, (tac_budget){0}));
		release(&b);
	}
}

static void a_deadline_in_the_past_is_unknown(void)
{
	for (int i = 0; engine(i); i++) {
		shape_of_mesh b = torus(engine(i));
		tac_rigid motion = {tac_mat3_identity(), {0.11F, 0.07F, 0.05F}};
		TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN,
				  tac_collider_query(engine(i), context, b.shape, b.shape, &motion,
						     TAC_QUERY_PAIRS, (tac_budget){.deadline_ns = 1}));
		TEST_ASSERT_TRUE(context->pending);
		release(&b);
	}
}

static void scratch_memory_that_is_too_small_is_unknown_never_none(void)
{
	tac_context_def def = {.pair_capacity = 1000, .scratch_bytes = 4096};
	tac_context *small;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &small));
	for (int i = 0; engine(i); i++) {
		shape_of_mesh b = torus(engine(i));
		tac_rigid motion = identity_motion(0.001F, 0.0F, 0.0F);
		tac_overlap answer = tac_collider_query(engine(i), small, b.shape, b.shape, &motion,
							TAC_QUERY_PAIRS, (tac_budget){0});
		TEST_ASSERT_NOT_EQUAL(TAC_OVERLAP_NONE, answer);
		if (strcmp(engine(i)->name, "wide") == 0) // for the others 4096 bytes may be enough
			TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, answer);
		TEST_ASSERT_FALSE(small->pending);
		release(&b);
	}
	tac_context_destroy(&small);
}

static void pairs_beyond_the_capacity_are_counted_not_stored(void)
{
	tac_context_def def = {.pair_capacity = 5, .scratch_bytes = (size_t)4 << 20};
	tac_context *small;
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &small));
	for (int i = 0; engine(i); i++) {
		shape_of_mesh b = torus(engine(i));
		tac_rigid motion = {tac_mat3_identity(), {0.11F, 0.07F, 0.05F}};
		tac_collider_query(engine(i), context, b.shape, b.shape, &motion, TAC_QUERY_PAIRS,
				   (tac_budget){0});
		tac_collider_query(engine(i), small, b.shape, b.shape, &motion, TAC_QUERY_PAIRS,
				   (tac_budget){0});
		TEST_ASSERT_EQUAL(context->pair_count, small->pair_count);
		TEST_ASSERT_GREATER_THAN(5, small->pair_count);
		release(&b);
	}
	tac_context_destroy(&small);
}

static tac_context *context_without_coherence(void)
{
	tac_context *plain;
	tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &plain));
	plain->coherent = false;
	return plain;
}

static void the_last_witness_changes_no_answer(void)
{
	const tac_collider *wide = tac_bvh8_collider();
	shape_of_mesh b = torus(wide);
	tac_context *plain = context_without_coherence();
	tac_rng rng = tac_rng_seed(7, 1);
	int hits = 0, skipped = 0;
	for (int i = 0; i < 300; i++) {
		tac_rigid motion = random_motion(&rng, 1.6F);
		for (int k = 0; k < 3; k++) {
			motion.t.x += 0.01F;
			tac_overlap with = tac_collider_query(wide, context, b.shape, b.shape, &motion,
							      TAC_QUERY_FIRST, (tac_budget){0});
			tac_overlap without = tac_collider_query(wide, plain, b.shape, b.shape, &motion,
								 TAC_QUERY_FIRST, (tac_budget){0});
			TEST_ASSERT_EQUAL(without, with);
			hits += with == TAC_OVERLAP_HIT;
			skipped += with == TAC_OVERLAP_HIT && context->counters.nodes == 0;
		}
	}
	TEST_ASSERT_GREATER_THAN(100, hits);
	TEST_ASSERT_GREATER_THAN(20, skipped);
	tac_context_destroy(&plain);
	release(&b);
}

static void the_last_clearance_changes_no_answer(void)
{
	const tac_collider *wide = tac_bvh8_collider();
	shape_of_mesh b = torus(wide);
	tac_context *plain = context_without_coherence();
	tac_rng rng = tac_rng_seed(8, 1);
	int none = 0, hits = 0, skipped = 0;
	for (int path = 0; path < test_rounds(60); path++) {
		// Towards the other torus, or past it, while turning; every third path has a stretched
		// matrix.
		tac_rigid at = random_motion(&rng, 2.2F);
		tac_vec3 step = tac_vec3_scale(at.t, path % 2 ? -0.003F : 0.001F);
		tac_mat3 turn =
			tac_mat3_from_quat(tac_quat_from_axis_angle(tac_vec3_make(0.6F, 0, 0.8F), 0.002F));
		float stretch = path % 3 == 0 ? 1.004F : 1.0F;
		for (int i = 0; i < 300; i++) {
			at.t = tac_vec3_add(at.t, step);
			at.R = tac_mat3_mul(turn, at.R);
			tac_rigid motion = at;
			for (int k = 0; k < 9; k++)
				motion.R.m[k / 3][k % 3] *= stretch;
			tac_query_mode mode = i % 4 == 3 ? TAC_QUERY_PAIRS : TAC_QUERY_FIRST;
			tac_overlap with = tac_collider_query(wide, context, b.shape, b.shape, &motion, mode,
							      (tac_budget){0});
			int64_t pairs = context->pair_count;
			TEST_ASSERT_EQUAL(with, tac_collider_query(wide, plain, b.shape, b.shape, &motion,
								   mode, (tac_budget){0}));
			TEST_ASSERT_EQUAL(plain->pair_count, pairs);
			hits += with == TAC_OVERLAP_HIT;
			none += with == TAC_OVERLAP_NONE;
			skipped += context->counters.overlap_tests == 0 && with == TAC_OVERLAP_NONE;
		}
	}
	printf("%d none, of them %d by the last clearance; %d hits\n", none, skipped, hits);
	TEST_ASSERT_GREATER_THAN(test_rounds(1000), hits);
	TEST_ASSERT_GREATER_THAN(test_rounds(1000), none);
	TEST_ASSERT_GREATER_THAN(none / 4, skipped);
	tac_context_destroy(&plain);
	release(&b);
}

static void a_clearance_holds_up_to_its_length_and_no_further(void)
{
	const tac_collider *wide = tac_bvh8_collider();
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1.0F, 1.0F, 1.0F), 1, &mesh));
	tac_shape *box;
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, mesh, &box));
	// Face to face, so that the distance equals the clearance.
	for (int i = 0; i <= 120; i++) {
		tac_rigid motion = identity_motion(0.0F, 0.0F, 1.25F);
		TEST_ASSERT_EQUAL(TAC_OVERLAP_NONE, tac_collider_query(wide, context, box, box, &motion,
								       TAC_QUERY_FIRST, (tac_budget){0}));
		motion.t.z -= (float)i / 100.0F * 0.25F;
		TEST_ASSERT_EQUAL(i < 100 ? TAC_OVERLAP_NONE : TAC_OVERLAP_HIT,
				  tac_collider_query(wide, context, box, box, &motion, TAC_QUERY_FIRST,
						     (tac_budget){0}));
		if (i <= 95)
			TEST_ASSERT_EQUAL(0, context->counters.overlap_tests);
	}
	tac_shape_destroy(&box);
	tac_mesh_destroy(&mesh);
}

static void a_context_uses_no_clearance_of_destroyed_shapes(void)
{
	const tac_collider *wide = tac_bvh8_collider();
	tac_mesh *small, *large;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.1F, 1, &small));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(1.0F, 4, &large));
	tac_rigid motion = identity_motion(1.5F, 0.0F, 0.0F);
	// The allocator reuses freed memory, so some of these shapes have the address of a destroyed one.
	for (int i = 0; i < 8; i++) {
		tac_mesh *mesh = i % 2 ? large : small;
		tac_shape *shape;
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, mesh, &shape));
		tac_overlap answer = tac_collider_query(wide, context, shape, shape, &motion, TAC_QUERY_FIRST,
							(tac_budget){0});
		TEST_ASSERT_EQUAL(i % 2 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE, answer);
		tac_shape_destroy(&shape);
	}
	tac_mesh_destroy(&small);
	tac_mesh_destroy(&large);
}

static void a_motion_that_is_not_finite_is_unknown_and_a_huge_one_none(void)
{
	for (int i = 0; engine(i); i++) {
		shape_of_mesh b = torus(engine(i));
		for (int entry = 0; entry < 12; entry++)
			for (int kind = 0; kind < 3; kind++) {
				tac_rigid motion = identity_motion(0.0F, 0.0F, 0.0F);
				float bad = kind == 0 ? NAN : kind == 1 ? INFINITY : -INFINITY;
				float t[3] = {0};
				if (entry < 9)
					motion.R.m[entry / 3][entry % 3] = bad;
				else
					t[entry - 9] = bad;
				motion.t = tac_vec3_load(t);
				TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN,
						  tac_collider_query(engine(i), context, b.shape, b.shape,
								     &motion, TAC_QUERY_FIRST,
								     (tac_budget){0}));
				TEST_ASSERT_FALSE(context->pending);
			}
		for (float far = 1e6F; far < 1e38F; far *= 1e4F) {
			tac_rigid motion = random_motion(&(tac_rng){0}, 0.0F);
			motion.t = tac_vec3_make(far, -far, 0.5F * far);
			TEST_ASSERT_EQUAL(TAC_OVERLAP_NONE,
					  tac_collider_query(engine(i), context, b.shape, b.shape, &motion,
							     TAC_QUERY_PAIRS, (tac_budget){0}));
		}
		release(&b);
	}
}

static void variants_of_wide_agree_in_pairs_order_and_counters(void)
{
	tac_rng rng = tac_rng_seed(8, 1);
	const tac_collider *scalar = tac_bvh8_collider_of(TAC_SIMD_SCALAR);
	shape_of_mesh reference = torus(scalar);
	tac_context *other;
	tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &other));
	for (int s = 1; s < TAC_SIMD_COUNT; s++) {
		if (!tac_simd_supported((tac_simd)s))
			continue;
		const tac_collider *c = tac_bvh8_collider_of((tac_simd)s);
		shape_of_mesh b = torus(c);
		for (int i = 0; i < 60; i++) {
			tac_rigid motion = random_motion(&rng, 1.0F);
			tac_query_mode mode = i % 2 ? TAC_QUERY_PAIRS : TAC_QUERY_FIRST;
			tac_overlap x = tac_collider_query(scalar, context, reference.shape, reference.shape,
							   &motion, mode, (tac_budget){0});
			tac_overlap y = tac_collider_query(c, other, b.shape, b.shape, &motion, mode,
							   (tac_budget){0});
			TEST_ASSERT_EQUAL(x, y);
			TEST_ASSERT_EQUAL(context->pair_count, other->pair_count);
			TEST_ASSERT_EQUAL_MEMORY(&context->counters, &other->counters,
						 sizeof context->counters);
			size_t bytes = (size_t)context->pair_count * sizeof(int32_t);
			if (bytes > 0) {
				TEST_ASSERT_EQUAL_MEMORY(context->fixed_ids, other->fixed_ids, bytes);
				TEST_ASSERT_EQUAL_MEMORY(context->moving_ids, other->moving_ids, bytes);
			}
		}
		release(&b);
	}
	tac_context_destroy(&other);
	release(&reference);
}

static void queries_do_not_allocate(void)
{
	for (int i = 0; engine(i); i++) {
		shape_of_mesh b = torus(engine(i));
		tac_rng rng = tac_rng_seed(9, 1);
		const int before = allocations;
		for (int k = 0; k < 50; k++) {
			tac_rigid motion = random_motion(&rng, 1.0F);
			tac_collider_query(engine(i), context, b.shape, b.shape, &motion,
					   (tac_query_mode)(k % 3), (tac_budget){0});
		}
		TEST_ASSERT_EQUAL(before, allocations);
		release(&b);
	}
}

typedef struct {
	const tac_collider *collider;
	const tac_shape *shape;
	int64_t expected[20];
	int64_t wrong;
} worker;

static void *query_many(void *argument)
{
	worker *w = argument;
	tac_context *own;
	tac_context_def def = tac_context_def_default();
	if (tac_context_create(&def, &own) < 0)
		return NULL;
	for (int round = 0; round < (TAC_TEST_SANITIZED ? 2 : 5); round++) {
		tac_rng rng = tac_rng_seed(10, 1);
		for (int k = 0; k < 20; k++) {
			tac_rigid motion = random_motion(&rng, 1.0F);
			tac_collider_query(w->collider, own, w->shape, w->shape, &motion, TAC_QUERY_PAIRS,
					   (tac_budget){0});
			w->wrong += own->pair_count != w->expected[k];
		}
	}
	tac_context_destroy(&own);
	return NULL;
}

static void queries_from_many_threads_do_not_disturb_each_other(void)
{
	for (int i = 0; engine(i); i++) {
		shape_of_mesh b = torus(engine(i));
		worker workers[4];
		memset(workers, 0, sizeof workers);
		tac_rng rng = tac_rng_seed(10, 1);
		for (int k = 0; k < 20; k++) {
			tac_rigid motion = random_motion(&rng, 1.0F);
			tac_collider_query(engine(i), context, b.shape, b.shape, &motion, TAC_QUERY_PAIRS,
					   (tac_budget){0});
			for (int t = 0; t < 4; t++)
				workers[t].expected[k] = context->pair_count;
		}
		pthread_t threads[4];
		for (int t = 0; t < 4; t++) {
			workers[t].collider = engine(i);
			workers[t].shape = b.shape;
		}
		for (int t = 0; t < 4; t++)
			TEST_ASSERT_EQUAL(0, pthread_create(&threads[t], NULL, query_many, &workers[t]));
		for (int t = 0; t < 4; t++) {
			pthread_join(threads[t], NULL);
			TEST_ASSERT_EQUAL(0, workers[t].wrong);
		}
		release(&b);
	}
}

static void a_context_without_room_is_refused(void)
{
	tac_context_def def = {.pair_capacity = 0, .scratch_bytes = 1 << 20};
	tac_context *none;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_context_create(&def, &none));
	TEST_ASSERT_NULL(none);
	TEST_ASSERT_NULL(tac_collider_find("fastest"));
	TEST_ASSERT_NOT_NULL(tac_collider_find("wide"));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(queries_from_many_threads_do_not_disturb_each_other);
	if (TAC_TEST_THREADS_ONLY)
		return UNITY_END();
	RUN_TEST(random_soups_equal_brute_force);
	RUN_TEST(coplanar_grids_equal_brute_force);
	RUN_TEST(a_mesh_against_itself_at_identity_equals_brute_force);
	RUN_TEST(every_scale_from_a_micrometre_to_a_thousand_kilometres_equals_brute_force);
	RUN_TEST(shapes_far_from_their_origin_equal_brute_force);
	RUN_TEST(one_triangle_against_one_equals_brute_force);
	RUN_TEST(contacts_that_graze_by_a_few_units_in_the_last_place_equal_brute_force);
	RUN_TEST(an_empty_mesh_touches_nothing);
	RUN_TEST(a_matrix_that_is_no_rotation_only_widens_the_bounds);
	RUN_TEST(a_spent_budget_is_unknown_and_the_query_resumes_to_the_same_answer);
	RUN_TEST(a_deadline_in_the_past_is_unknown);
	RUN_TEST(scratch_memory_that_is_too_small_is_unknown_never_none);
	RUN_TEST(pairs_beyond_the_capacity_are_counted_not_stored);
	RUN_TEST(the_last_witness_changes_no_answer);
	RUN_TEST(the_last_clearance_changes_no_answer);
	RUN_TEST(a_clearance_holds_up_to_its_length_and_no_further);
	RUN_TEST(a_context_uses_no_clearance_of_destroyed_shapes);
	RUN_TEST(a_motion_that_is_not_finite_is_unknown_and_a_huge_one_none);
	RUN_TEST(variants_of_wide_agree_in_pairs_order_and_counters);
	RUN_TEST(queries_do_not_allocate);
	RUN_TEST(a_context_without_room_is_refused);
	return UNITY_END();
}
