#include "base/rng.h"
#include "collision/geometry/plucker.h"
#include "collision/mesh_shapes.h"

#include <stdlib.h>
#include <string.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static int64_t integer(tac_rng *rng)
{
	return (int64_t)tac_rng_below(rng, 201) - 100;
}

// The determinant of the rows (a,1) (b,1) (c,1) (d,1) by cofactors, in integers.
static int64_t det3(const int64_t m[3][3])
{
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
	       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
	       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

static int64_t det4(const int64_t p[4][3])
{
	int64_t sum = 0;
	for (int row = 0; row < 4; row++) {
		int64_t minor[3][3];
		for (int i = 0, r = 0; i < 4; i++) {
			if (i == row)
				continue;
			for (int k = 0; k < 3; k++)
				minor[r][k] = p[i][k];
			r++;
		}
		sum += (row % 2 ? 1 : -1) * det3((const int64_t(*)[3])minor);
	}
	return sum;
}

static tac_dvec3 point(const int64_t p[3])
{
	return tac_dvec3_make((double)p[0], (double)p[1], (double)p[2]);
}

static void side_product_is_the_determinant_and_coordinates_lie_on_the_klein_quadric(void)
{
	tac_rng rng = tac_rng_seed(1, 1);
	for (int i = 0; i < 10000; i++) {
		int64_t p[4][3];
		for (int k = 0; k < 12; k++)
			p[k / 3][k % 3] = integer(&rng);
		tac_plucker l = tac_plucker_line(point(p[0]), point(p[1]));
		tac_plucker m = tac_plucker_line(point(p[2]), point(p[3]));
		TEST_ASSERT_EQUAL_INT64(det4((const int64_t(*)[3])p), (int64_t)tac_plucker_side(&l, &m));
		TEST_ASSERT_EQUAL_INT64(0, (int64_t)(l.p[0] * l.p[4] + l.p[1] * l.p[5] + l.p[2] * l.p[3]));
		tac_plucker ray = tac_plucker_ray(point(p[0]), tac_dvec3_sub(point(p[1]), point(p[0])));
		for (int k = 0; k < 6; k++)
			TEST_ASSERT_EQUAL_INT64((int64_t)l.p[k], (int64_t)ray.p[k]);
	}
}

static void coordinates_of_a_reversed_line_are_exactly_negated(void)
{
	tac_rng rng = tac_rng_seed(2, 1);
	for (int i = 0; i < 10000; i++) {
		tac_dvec3 a = tac_rng_unit_f64(&rng), b = tac_rng_unit_f64(&rng);
		tac_plucker l = tac_plucker_line(a, b), m = tac_plucker_line(b, a);
		for (int k = 0; k < 6; k++)
			TEST_ASSERT_TRUE(l.p[k] == -m.p[k]);
	}
}

static void ray_through_the_front_of_a_square_is_positive_with_every_edge(void)
{
	tac_dvec3 square[4] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}};
	tac_plucker down = tac_plucker_ray(tac_dvec3_make(1, 1, 1), tac_dvec3_make(0, 0, -1));
	tac_plucker up = tac_plucker_ray(tac_dvec3_make(1, 1, -1), tac_dvec3_make(0, 0, 1));
	for (int k = 0; k < 4; k++) {
		tac_plucker edge = tac_plucker_line(square[k], square[(k + 1) % 4]);
		TEST_ASSERT_TRUE(tac_plucker_side(&down, &edge) == 2);
		TEST_ASSERT_TRUE(tac_plucker_side(&up, &edge) == -2);
	}
}

static void ray_through_a_shared_edge_is_taken_by_exactly_one_of_two_polygons(void)
{
	tac_rng rng = tac_rng_seed(3, 1);
	int on_edge = 0;
	for (int i = 0; i < 100000; i++) {
		// Two quads side by side in a random plane, the shared edge from p to q.
		tac_dquat turn = tac_rng_rotation_f64(&rng);
		tac_dvec3 at = tac_rng_unit_f64(&rng);
		tac_dvec3 v[6] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {0, 1, 0}};
		for (int k = 0; k < 6; k++)
			v[k] = tac_dvec3_add(at, tac_dquat_rotate(turn, v[k]));
		double t = tac_rng_range_f64(&rng, 0.01, 0.99);
		tac_dvec3 x = tac_dvec3_lerp(v[1], v[4], t);
		tac_dvec3 from = tac_dvec3_make(tac_rng_range_f64(&rng, -0.9, 0.9),
						tac_rng_range_f64(&rng, -0.9, 0.9), 1);
		tac_dvec3 along = tac_dvec3_neg(tac_dquat_rotate(turn, from));
		tac_plucker ray = tac_plucker_ray(tac_dvec3_sub(x, along), along);
		tac_plucker shared = tac_plucker_line(v[1], v[4]);
		tac_plucker left[4] = {tac_plucker_line(v[0], v[1]), shared, tac_plucker_line(v[4], v[5]),
				       tac_plucker_line(v[5], v[0])};
		tac_plucker right[4] = {tac_plucker_line(v[1], v[2]), tac_plucker_line(v[2], v[3]),
					tac_plucker_line(v[3], v[4]), shared};
		int taken = tac_plucker_front(&ray, left, 0, 4) + tac_plucker_front(&ray, right, 1u << 3, 4);
		TEST_ASSERT_EQUAL_INT(1, taken);
		on_edge += tac_plucker_side(&ray, &shared) == 0;
	}
	TEST_ASSERT_GREATER_THAN(1000, on_edge); // the rule for zero was needed
}

// With the cache each edge of the mesh is evaluated at most once per ray.
static void cached_signs_find_the_same_faces_with_fewer_products(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 24, 16, &mesh));
	size_t words = (size_t)(mesh->edge_count + 31) / 32;
	tac_plucker *lines = malloc((size_t)mesh->edge_count * sizeof *lines);
	tac_plucker_signs signs = {calloc(words, 4), calloc(words, 4), 0};
	for (int32_t e = 0; e < mesh->edge_count; e++)
		lines[e] = tac_plucker_line(tac_dvec3_from_vec3(mesh->vertices[mesh->edges[e].vertex[0]]),
					    tac_dvec3_from_vec3(mesh->vertices[mesh->edges[e].vertex[1]]));
	tac_rng rng = tac_rng_seed(4, 1);
	int hits = 0;
	for (int i = 0; i < 400; i++) {
		tac_dvec3 from = tac_rng_unit_f64(&rng), to = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.3);
		tac_plucker ray = tac_plucker_ray(from, tac_dvec3_sub(to, from));
		memset(signs.valid, 0, 4 * words);
		for (int32_t t = 0; t < mesh->triangle_count; t++) {
			const int32_t *ids = mesh->triangle_edges[t].vertex;
			uint32_t reversed = 0;
			for (int k = 0; k < 3; k++)
				reversed |= (uint32_t)(mesh->triangles[t].vertex[k] !=
						       mesh->edges[ids[k]].vertex[0])
					    << k;
			bool plain = tac_plucker_front_of(&ray, lines, ids, reversed, 3, NULL);
			TEST_ASSERT_EQUAL(plain, tac_plucker_front_of(&ray, lines, ids, reversed, 3, &signs));
			hits += plain;
		}
	}
	TEST_ASSERT_GREATER_THAN(200, hits);
	// Without the cache every face takes up to three products, and each edge belongs to two faces.
	TEST_ASSERT_LESS_OR_EQUAL((int64_t)400 * mesh->edge_count, signs.evaluated);
	free(lines);
	free(signs.valid);
	free(signs.positive);
	tac_mesh_destroy(&mesh);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(side_product_is_the_determinant_and_coordinates_lie_on_the_klein_quadric);
	RUN_TEST(coordinates_of_a_reversed_line_are_exactly_negated);
	RUN_TEST(ray_through_the_front_of_a_square_is_positive_with_every_edge);
	RUN_TEST(ray_through_a_shared_edge_is_taken_by_exactly_one_of_two_polygons);
	RUN_TEST(cached_signs_find_the_same_faces_with_fewer_products);
	return UNITY_END();
}
