#include "collision/engines/bvh8_distance.h"
#include "collision/engines/bvh8_engine.h"
#include "collision/mesh_shapes.h"
#include "tests/support/shapes.h"

#include "unity.h"

#include <math.h>

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

static void known_distances_of_triangles(void)
{
	const tac_tri64 a = {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
	const struct {
		tac_tri64 b;
		double distance;
	} cases[] = {
		{{{{1, 1, 2}, {1, 1, 5}, {2, 1, 5}}}, 2.0},       // vertex over the face
		{{{{-3, 1, 0}, {-3, 2, 1}, {-5, 2, 0}}}, 3.0},    // beside an edge
		{{{{-3, -4, 0}, {-6, -4, 0}, {-3, -8, 0}}}, 5.0}, // vertex to vertex
		{{{{1, -1, 1}, {1, -1, -1}, {1, -9, 0}}}, 1.0},   // edge to edge
		{{{{1, 1, -1}, {1, 1, 1}, {2, 1, 1}}}, 0.0},      // piercing
		{{{{1, 1, 0}, {1.5, 1, 0}, {1, 1.5, 0}}}, 0.0},   // inside, in the plane
		{{{{4, 0, 0}, {6, 0, 0}, {6, 0, 1}}}, 0.0},       // touching a vertex
		{{{{-10, 1, 3}, {10, 1, 3}, {0, 1, 9}}}, 3.0},    // an edge above the face
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tac_dvec3 p, q;
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, cases[i].distance,
					  tac_distance_triangles(&a, &cases[i].b, &p, &q));
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, cases[i].distance,
					  tac_distance_triangles(&cases[i].b, &a, &q, &p));
		if (cases[i].distance > 0.0)
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, cases[i].distance,
						  tac_dvec3_length(tac_dvec3_sub(p, q)));
	}
}

static void no_pair_of_sampled_points_is_nearer_than_the_triangles(void)
{
	tac_rng rng = tac_rng_seed(1, 5);
	for (int i = 0; i < 2000; i++) {
		tac_tri64 t[2];
		for (int k = 0; k < 18; k++)
			t[k / 9].v[k % 9 / 3][k % 3] = (double)random_symmetric(&rng) + (k < 9 ? 0.0 : 0.8);
		tac_dvec3 p, q;
		double distance = tac_distance_triangles(&t[0], &t[1], &p, &q), least = (double)INFINITY;
		for (int k = 0; k < 300; k++) {
			tac_dvec3 x[2];
			for (int s = 0; s < 2; s++) {
				double u = 0.5 + 0.5 * (double)random_symmetric(&rng),
				       v = 0.5 + 0.5 * (double)random_symmetric(&rng);
				if (u + v > 1.0) {
					u = 1.0 - u;
					v = 1.0 - v;
				}
				x[s] = tac_dvec3_zero();
				x[s] = tac_dvec3_add_scaled(x[s], 1.0 - u - v, tac_dvec3_load(t[s].v[0]));
				x[s] = tac_dvec3_add_scaled(x[s], u, tac_dvec3_load(t[s].v[1]));
				x[s] = tac_dvec3_add_scaled(x[s], v, tac_dvec3_load(t[s].v[2]));
			}
			least = fmin(least, tac_dvec3_length(tac_dvec3_sub(x[0], x[1])));
		}
		TEST_ASSERT_TRUE(distance <= least + 1e-12);
	}
}

typedef struct {
	tac_mesh *moving, *fixed;
	tac_shape *moving_shape, *fixed_shape;
} scene;

static scene soups(tac_rng *rng)
{
	scene s = {soup(rng, 1 + (int32_t)(tac_rng_u32(rng) % 150), 1.0F, 120),
		   soup(rng, 1 + (int32_t)(tac_rng_u32(rng) % 150), 1.0F, 120), NULL, NULL};
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(tac_bvh8_collider(), s.moving, &s.moving_shape));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(tac_bvh8_collider(), s.fixed, &s.fixed_shape));
	return s;
}

static void release(scene *s)
{
	tac_shape_destroy(&s->moving_shape);
	tac_shape_destroy(&s->fixed_shape);
	tac_mesh_destroy(&s->moving);
	tac_mesh_destroy(&s->fixed);
}

static double brute_distance(const scene *s, const tac_rigid *motion, double within, int64_t *out_count)
{
	double least = (double)INFINITY;
	*out_count = 0;
	for (int32_t i = 0; i < s->fixed->triangle_count; i++)
		for (int32_t j = 0; j < s->moving->triangle_count; j++) {
			tac_tri64 a = corners(s->fixed, i, NULL), b = corners(s->moving, j, motion);
			tac_dvec3 p, q;
			double d = tac_distance_triangles(&a, &b, &p, &q);
			least = fmin(least, d);
			*out_count += d <= within;
		}
	return least;
}

static void pairs_within_a_distance_equal_brute_force(void)
{
	tac_rng rng = tac_rng_seed(2, 5);
	for (int i = 0; i < 30; i++) {
		scene s = soups(&rng);
		tac_rigid motion = random_motion(&rng, 1.5F);
		const float distances[] = {1e-3F, 0.03F, 0.2F};
		for (int k = 0; k < 3; k++) {
			int64_t count;
			brute_distance(&s, &motion, (double)distances[k], &count);
			tac_overlap answer = tac_distance_within(context, s.moving_shape, s.fixed_shape,
								 &motion, distances[k], (tac_budget){0});
			TEST_ASSERT_EQUAL(count > 0 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE, answer);
			TEST_ASSERT_EQUAL(count, context->pair_count);
			answer = tac_distance_within(context, s.moving_shape, s.fixed_shape, &motion,
						     distances[k], (tac_budget){.nodes = 1});
			while (context->pending) {
				TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, answer);
				answer = tac_collider_resume(tac_bvh8_collider(), context,
							     (tac_budget){.nodes = 1});
			}
			TEST_ASSERT_EQUAL(count, context->pair_count);
		}
		release(&s);
	}
}

static void the_nearest_points_equal_brute_force(void)
{
	tac_rng rng = tac_rng_seed(3, 5);
	int apart = 0;
	for (int i = 0; i < 40; i++) {
		scene s = soups(&rng);
		tac_rigid motion = random_motion(&rng, 3.0F);
		int64_t count;
		double least = brute_distance(&s, &motion, 0.0, &count);
		tac_nearest n;
		tac_overlap answer = tac_distance_nearest(context, s.moving_shape, s.fixed_shape, &motion,
							  (double)INFINITY, (tac_budget){0}, &n);
		TEST_ASSERT_EQUAL(count > 0 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE, answer);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, least, n.distance);
		TEST_ASSERT_EQUAL_DOUBLE(n.distance, n.lower_bound);
		if (least > 0.0) {
			apart++;
			TEST_ASSERT_DOUBLE_WITHIN(
				1e-12, least, tac_dvec3_length(tac_dvec3_sub(n.fixed_point, n.moving_point)));
			// A limit below the distance: nothing is nearer.
			answer = tac_distance_nearest(context, s.moving_shape, s.fixed_shape, &motion,
						      0.5 * least, (tac_budget){0}, &n);
			TEST_ASSERT_EQUAL(TAC_OVERLAP_NONE, answer);
			TEST_ASSERT_EQUAL(-1, n.fixed_triangle);
		}
		// In single steps: the bounds hold at each one, and the final answer is the same.
		answer = tac_distance_nearest(context, s.moving_shape, s.fixed_shape, &motion,
					      (double)INFINITY, (tac_budget){.nodes = 1}, &n);
		while (context->pending) {
			TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, answer);
			TEST_ASSERT_TRUE(n.lower_bound <= least + 1e-12 && n.distance >= least - 1e-12);
			answer = tac_distance_nearest_resume(context, (tac_budget){.nodes = 1}, &n);
		}
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, least, n.distance);
		release(&s);
	}
	TEST_ASSERT_GREATER_THAN(10, apart);
}

static void two_spheres_are_apart_by_the_gap_between_them(void)
{
	tac_mesh *sphere;
	tac_shape *shape;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(1.0F, 4, &sphere));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(tac_bvh8_collider(), sphere, &shape));
	tac_rigid motion = identity_motion(0.0F, 0.0F, 3.0F);
	tac_nearest n;
	TEST_ASSERT_EQUAL(TAC_OVERLAP_NONE, tac_distance_nearest(context, shape, shape, &motion,
								 (double)INFINITY, (tac_budget){0}, &n));
	// The mesh lies inside the sphere, by less than 1 - cos of half an edge's angle.
	TEST_ASSERT_TRUE(n.distance >= 1.0 && n.distance < 1.01);
	TEST_ASSERT_LESS_THAN(200, context->counters.nodes);
	tac_shape_destroy(&shape);
	tac_mesh_destroy(&sphere);
}

static void a_motion_that_is_not_finite_is_unknown_and_a_huge_distance_finds_all_pairs(void)
{
	tac_mesh *sphere;
	tac_shape *shape;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(1.0F, 1, &sphere));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(tac_bvh8_collider(), sphere, &shape));
	tac_nearest n;
	tac_rigid bad = identity_motion(NAN, 0.0F, 0.0F), good = identity_motion(5.0F, 0.0F, 0.0F);
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, tac_distance_nearest(context, shape, shape, &bad,
								    (double)INFINITY, (tac_budget){0}, &n));
	TEST_ASSERT_FALSE(context->pending);
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN,
			  tac_distance_within(context, shape, shape, &bad, 1.0F, (tac_budget){0}));
	TEST_ASSERT_FALSE(context->pending);
	for (float distance = 10.0F; distance < 1e38F; distance *= 1e6F) {
		TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, tac_distance_within(context, shape, shape, &good, distance,
								       (tac_budget){0}));
		TEST_ASSERT_EQUAL((int64_t)sphere->triangle_count * sphere->triangle_count,
				  context->pair_count);
	}
	tac_shape_destroy(&shape);
	tac_mesh_destroy(&sphere);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(known_distances_of_triangles);
	RUN_TEST(no_pair_of_sampled_points_is_nearer_than_the_triangles);
	RUN_TEST(pairs_within_a_distance_equal_brute_force);
	RUN_TEST(the_nearest_points_equal_brute_force);
	RUN_TEST(two_spheres_are_apart_by_the_gap_between_them);
	RUN_TEST(a_motion_that_is_not_finite_is_unknown_and_a_huge_distance_finds_all_pairs);
	return UNITY_END();
}
