#include "base/rng.h"
#include "collision/trees/dop.h"
#include "tests/support/shapes.h"

#include "unity.h"

#include <math.h>
#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_dvec3 direction(int i)
{
	tac_dvec3 d = tac_dvec3_load(tac_dop_directions[i % 12]);
	return i < 12 ? d : tac_dvec3_neg(d);
}

static void the_hull_of_the_directions_has_24_vertices_44_triangles_and_66_edges(void)
{
	const tac_dop_face *faces = tac_dop_faces();
	bool vertex[24] = {false}, edge[24][24] = {{false}};
	for (int f = 0; f < TAC_DOP_FACES; f++)
		for (int k = 0; k < 3; k++) {
			int a = faces[f].direction[k], b = faces[f].direction[(k + 1) % 3];
			TEST_ASSERT_NOT_EQUAL(a, b);
			vertex[a] = true;
			edge[a < b ? a : b][a < b ? b : a] = true;
		}
	int vertices = 0, edges = 0;
	for (int a = 0; a < 24; a++) {
		vertices += vertex[a];
		for (int b = 0; b < 24; b++)
			edges += edge[a][b];
	}
	TEST_ASSERT_EQUAL(24, vertices);
	TEST_ASSERT_EQUAL(66, edges);
	TEST_ASSERT_EQUAL(2, vertices - edges + TAC_DOP_FACES); // Euler
}

static double weights(tac_dvec3 b, double out[3])
{
	// The motion whose first row is b: in the tumbled frame direction 0 is b.
	tac_rigid motion = {tac_mat3_identity(), {0, 0, 0}};
	tac_vec3 f = tac_vec3_from_dvec3(b);
	motion.R.m[0][0] = f.x;
	motion.R.m[0][1] = f.y;
	motion.R.m[0][2] = f.z;
	tac_dop_motion rows;
	tac_dop_motion_init(&rows, &motion, 0.0F);
	for (int k = 0; k < 3; k++)
		out[k] = (double)rows.weight[k][0];
	return out[0] + out[1] + out[2];
}

static void the_missing_diagonal_has_the_largest_weight(void)
{
	double r = 1.0 / sqrt(3.0), w[3];
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, sqrt(6.0) / 2.0, weights(tac_dvec3_make(r, r, r), w));
}

static void weights_are_positive_and_between_1_and_the_largest(void)
{
	tac_rng rng = tac_rng_seed(1, 2);
	for (int i = 0; i < 100000; i++) {
		tac_dvec3 b = tac_dvec3_normalize(tac_dvec3_make((double)random_symmetric(&rng),
								 (double)random_symmetric(&rng),
								 (double)random_symmetric(&rng) + 1e-5));
		double w[3], sum = weights(b, w);
		TEST_ASSERT_TRUE(sum > 1.0 - 1e-6 && sum < 1.22475);
		TEST_ASSERT_TRUE(w[0] >= 0.0 && w[1] >= 0.0 && w[2] >= 0.0);
	}
}

static tac_dop unit_cube(void)
{
	tac_dop dop = tac_dop_empty();
	for (int i = 0; i < 8; i++)
		tac_dop_add_point(&dop, tac_vec3_make((float)(i & 1), (float)(i >> 1 & 1), (float)(i >> 2)));
	return dop;
}

static void the_dop_of_the_unit_cube_has_its_known_supports(void)
{
	tac_dop dop = unit_cube();
	TEST_ASSERT_EQUAL_FLOAT(1.0F, dop.d[0]);
	TEST_ASSERT_FLOAT_WITHIN(1e-6F, 1.414214F, dop.d[3]);
	TEST_ASSERT_FLOAT_WITHIN(1e-6F, 1.154701F, dop.d[11]);
	TEST_ASSERT_FLOAT_WITHIN(1e-6F, 0.577350F, dop.d[23]);
	TEST_ASSERT_EQUAL_FLOAT(0.0F, dop.d[12]);
}

static void the_identity_has_unit_rows(void)
{
	tac_rigid motion = {tac_mat3_identity(), {0, 0, 0}};
	tac_dop_motion rows;
	tac_dop dop = unit_cube();
	tac_dop_motion_init(&rows, &motion, 2.0F);
	tac_dop moved = tac_dop_transform(&rows, &dop);
	for (int i = 0; i < 24; i++) {
		int ones = 0;
		for (int k = 0; k < 3; k++) {
			TEST_ASSERT_TRUE(rows.weight[k][i] < 1e-7F ||
					 fabsf(rows.weight[k][i] - 1.0F) < 1e-7F);
			if (rows.weight[k][i] > 0.5F) {
				TEST_ASSERT_EQUAL(i, rows.index[k][i]);
				ones++;
			}
		}
		TEST_ASSERT_EQUAL(1, ones);
		TEST_ASSERT_TRUE(moved.d[i] >= dop.d[i] && moved.d[i] - dop.d[i] <= 3e-6F);
	}
}

static void a_translation_is_the_offset(void)
{
	tac_rigid motion = {tac_mat3_identity(), {1, 2, 3}};
	tac_dop_motion rows;
	tac_dop_motion_init(&rows, &motion, 0.0F);
	TEST_ASSERT_EQUAL_FLOAT(1.0F, rows.offset[0]);
	TEST_ASSERT_EQUAL_FLOAT(2.0F, rows.offset[1]);
	TEST_ASSERT_EQUAL_FLOAT(3.0F, rows.offset[2]);
	TEST_ASSERT_EQUAL_FLOAT(-1.0F, rows.offset[12]);
}

static void no_point_ever_leaves_its_moved_dop(void)
{
	tac_rng rng = tac_rng_seed(2, 2);
	for (int i = 0; i < 100000; i++) {
		tac_vec3 points[4];
		tac_dop dop = tac_dop_empty();
		float extent = 0.0F;
		for (int k = 0; k < 4; k++) {
			points[k] = tac_vec3_make(random_symmetric(&rng), random_symmetric(&rng),
						  random_symmetric(&rng));
			tac_dop_add_point(&dop, points[k]);
		}
		for (int k = 0; k < 24; k++)
			extent = fmaxf(extent, fabsf(dop.d[k]));
		tac_rigid motion = random_motion(&rng, 2.0F);
		if (i % 4 == 0) // near identity, where plain evaluation breaks the bound
			motion.R = tac_mat3_identity();
		if (i % 8 == 0)
			motion.R.m[0][1] = 1e-7F;
		tac_dop_motion rows;
		tac_dop_motion_init(&rows, &motion, extent);
		tac_dop moved = tac_dop_transform(&rows, &dop);
		for (int k = 0; k < 4; k++) {
			tac_dvec3 x = tac_dvec3_add(tac_dmat3_apply(tac_dmat3_from_mat3(motion.R),
								    tac_dvec3_from_vec3(points[k])),
						    tac_dvec3_from_vec3(motion.t));
			for (int d = 0; d < 24; d++)
				TEST_ASSERT_TRUE((double)moved.d[d] >= tac_dvec3_dot(direction(d), x));
		}
	}
}

static void opposite_rows_use_opposite_directions(void)
{
	tac_rng rng = tac_rng_seed(3, 2);
	for (int i = 0; i < 500; i++) {
		tac_rigid motion = random_motion(&rng, 1.0F);
		tac_dop_motion rows;
		tac_dop_motion_init(&rows, &motion, 1.0F);
		for (int k = 0; k < 3; k++)
			for (int d = 0; d < 12; d++) {
				TEST_ASSERT_EQUAL((rows.index[k][d] + 12) % 24, rows.index[k][d + 12]);
				TEST_ASSERT_EQUAL_FLOAT(rows.weight[k][d], rows.weight[k][d + 12]);
			}
	}
}

static void a_ball_is_bounded_by_the_sum_of_the_weights(void)
{
	tac_dop ball;
	for (int d = 0; d < 24; d++)
		ball.d[d] = 1.0F;
	tac_rng rng = tac_rng_seed(4, 2);
	for (int i = 0; i < 500; i++) {
		tac_rigid motion = random_motion(&rng, 0.0F);
		tac_dop_motion rows;
		tac_dop_motion_init(&rows, &motion, 1.0F);
		tac_dop moved = tac_dop_transform(&rows, &ball);
		for (int d = 0; d < 24; d++)
			TEST_ASSERT_FLOAT_WITHIN(
				2e-6F, rows.weight[0][d] + rows.weight[1][d] + rows.weight[2][d], moved.d[d]);
	}
}

static void slabs_that_share_a_plane_overlap(void)
{
	tac_dop a = unit_cube(), b = tac_dop_empty();
	for (int i = 0; i < 8; i++)
		tac_dop_add_point(&b,
				  tac_vec3_make(1.0F + (float)(i & 1), (float)(i >> 1 & 1), (float)(i >> 2)));
	TEST_ASSERT_FALSE(tac_dop_disjoint(&a, &b));
	b.d[12] = -1.0000001F;
	TEST_ASSERT_TRUE(tac_dop_disjoint(&a, &b));
	TEST_ASSERT_TRUE(tac_dop_disjoint(&b, &a));
}

static void integer_keys_order_like_floats(void)
{
	tac_rng rng = tac_rng_seed(5, 2);
	static const uint32_t special[] = {0,          0x80000000, 1,          0x80000001,
					   0x7F800000, 0xFF800000, 0x3F800000, 0x007FFFFF};
	for (int i = 0; i < 1000000; i++) {
		uint32_t bits[2] = {tac_rng_u32(&rng), tac_rng_u32(&rng)};
		for (int k = 0; k < 2; k++)
			if (tac_rng_u32(&rng) % 4 == 0)
				bits[k] = special[tac_rng_u32(&rng) % 8];
		float x, y;
		memcpy(&x, &bits[0], 4);
		memcpy(&y, &bits[1], 4);
		uint32_t p = 0, q = 0;
		bool ok_x = tac_dop_key(x, &p), ok_y = tac_dop_key(y, &q);
		TEST_ASSERT_EQUAL(!isnan(x), ok_x);
		TEST_ASSERT_EQUAL(!isnan(y), ok_y);
		if (ok_x && ok_y)
			TEST_ASSERT_EQUAL(x < y, p < q);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_hull_of_the_directions_has_24_vertices_44_triangles_and_66_edges);
	RUN_TEST(the_missing_diagonal_has_the_largest_weight);
	RUN_TEST(weights_are_positive_and_between_1_and_the_largest);
	RUN_TEST(the_dop_of_the_unit_cube_has_its_known_supports);
	RUN_TEST(the_identity_has_unit_rows);
	RUN_TEST(a_translation_is_the_offset);
	RUN_TEST(no_point_ever_leaves_its_moved_dop);
	RUN_TEST(opposite_rows_use_opposite_directions);
	RUN_TEST(a_ball_is_bounded_by_the_sum_of_the_weights);
	RUN_TEST(slabs_that_share_a_plane_overlap);
	RUN_TEST(integer_keys_order_like_floats);
	return UNITY_END();
}
